/**
 * Where a key is typed once, for this tab.
 */
import { addressOf, asked, goTo } from "./address.js";
import { written } from "./ask_form.js";
import { byId, element } from "./elements.js";
import { MODE, canBeSent, key, useKey } from "./credential.js";
import { word } from "./words.js";

let keepsQuestion = false;

const dialog = () => /** @type {HTMLDialogElement} */ (byId("key-dialog"));
const field = () => /** @type {HTMLInputElement} */ (byId("key"));

export function prepareKeyDialog() {
  byId("show-key").addEventListener("click", () => openKeyDialog());
  byId("key-cancel").addEventListener("click", () => dialog().close());
  byId("key-forget").addEventListener("click", () => begin(""));
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const value = field().value.trim();
    if (canBeSent(value)) begin(value);
    else complain(word("key.unusable"));
  });
}

/**
 * What was shown belongs to the caller before, so the page begins anew; the question of a caller
 * whose key is not known any more stays.
 * @param {string} value
 */
function begin(value) {
  field().value = "";
  useKey(value);
  const { question } = written();
  if (!value || !keepsQuestion) goTo("", "", false);
  else if (question) history.replaceState(null, "", addressOf(written(), asked().thread));
  location.reload();
}

/**
 * @param {string} [problem] why it is asked for
 * @param {boolean} [isSameCaller] whether it takes the place of a key that is not known any more
 */
export function openKeyDialog(problem = "", isSameCaller = false) {
  keepsQuestion = isSameCaller;
  byId("key-about").textContent = word(`key.about.${MODE}`);
  byId("key-label").textContent = word(MODE === "easyauth" ? "key.token" : "key.label");
  byId("key-forget").hidden = !key();
  const signIn = byId("sign-in");
  signIn.hidden = MODE !== "easyauth";
  if (MODE === "easyauth") signIn.replaceChildren(signInLink());
  complain(problem);
  if (!dialog().open) dialog().showModal();
  field().focus();
}

/** @param {string} text */
function complain(text) {
  const place = byId("key-problem");
  place.hidden = !text;
  place.textContent = text;
}

/** The platform's own page to sign in with Entra ID, which comes back here. */
function signInLink() {
  const made = element("a", {}, word("key.signIn"));
  const address = new URL("/.auth/login/aad", location.origin);
  address.searchParams.set("post_login_redirect_uri", location.pathname + location.search);
  made.href = address.href;
  return made;
}
