/**
 * The page from top to bottom: a key out of the address, words, projects, then questions.
 */
import { asked, keepProject, takeKey } from "./address.js";
import { Problem, read } from "./api.js";
import { focusQuestion, hint, prepareForm, setBusy, write, written } from "./ask_form.js";
import { openCommunities } from "./communities.js";
import { isShown, showAsLastTime, showConfidence } from "./confidence.js";
import { canBeSent, key, useKey } from "./credential.js";
import { TAKES, prepareDocuments } from "./documents.js";
import { button, byId, element } from "./elements.js";
import { historyView, remember } from "./history.js";
import { openKeyDialog, prepareKeyDialog } from "./key_dialog.js";
import { closePanel, openPanel, preparePanel } from "./panel.js";
import { problemView } from "./problems.js";
import { chosen, listProjects, showProject } from "./project.js";
import { Turn } from "./turn.js";
import { keepLanguage, speak, wantedLanguage, word } from "./words.js";

/** @typedef {import("./address.js").Asked} Asked */

const inAddress = takeKey(); // before anything else: it stands in no history and no screenshot
if (inAddress.key && canBeSent(inAddress.key)) useKey(inAddress.key);

const wanted = asked();
/** So many answers stay on the page. */
const MOST_TURNS = 30;
/** Whose questions they are; nobody's until that is known. @type {string | null} */
let caller = null;
/** Questions whose caller is not known yet. @type {Omit<import("./history.js").Entry, "caller">[]} */
let unkept = [];
/** @type {Turn | null} */
let running = null;
let looking = new AbortController();

/** Ask what the form says; a question at a time. */
async function ask() {
  running?.stop();
  closePanel();
  const what = written();
  const turn = new Turn(what, { again: askAgain, askKey: (/** @type {boolean} */ isSameCaller) => openKeyDialog("", isSameCaller) });
  running = turn;
  document.body.classList.remove("is-empty");
  byId("notices").replaceChildren();
  byId("about-project").hidden = true;
  for (const one of byId("turns").querySelectorAll(".turn > details[open]")) one.removeAttribute("open");
  byId("turns").prepend(turn.view);
  byId("turns").children[MOST_TURNS]?.remove();
  setBusy(true);
  unkept.push({ ...what, when: Date.now() });
  keepQuestions();
  await turn.run();
  if (running !== turn) return;
  running = null;
  setBusy(false);
  if (document.activeElement === document.body) turn.view.querySelector("h2")?.focus({ preventScroll: true });
}

function keepQuestions() {
  if (caller === null) return;
  for (const one of unkept) remember({ ...one, caller });
  unkept = [];
}

/** @param {Partial<Asked>} what */
function askAgain(what) {
  fill(what);
  void ask();
  byId("turns").firstElementChild?.scrollIntoView({ block: "nearest" });
}

/** Write into the form; another project may take documents or not. @param {Partial<Asked>} what */
function fill(what) {
  const before = chosen();
  write(what);
  if (chosen() !== before) anotherProject();
}

function anotherProject() {
  keepProject(chosen());
  void projectChanged();
}

/** @param {string} question */
function begin(question) {
  askAgain({ question });
}

async function projectChanged() {
  looking.abort();
  looking = new AbortController();
  if (TAKES || document.body.classList.contains("is-empty")) await showProject(begin, looking.signal, () => void enter());
}

/** The project holds more, or is there now. */
async function documentsAdded() {
  keepProject(chosen());
  await listProjects().catch(() => {});
  await projectChanged();
}

/** Learn what the caller may ask; who is not known is asked for a key. */
async function enter() {
  byId("notices").querySelector(".problem")?.remove();
  try {
    await listProjects();
    caller = String((await read("usage")).caller ?? "");
    keepQuestions();
    await projectChanged();
  } catch (error) {
    const ways = { again: () => void enter(), askKey: (/** @type {boolean} */ isSameCaller) => openKeyDialog("", isSameCaller) };
    byId("notices").append(problemView(error, ways));
    if (error instanceof Problem && error.code === "unauthenticated") {
      openKeyDialog(key() ? word("key.unknown") : "", true);
    }
  }
}

function showNotices() {
  const notices = byId("notices");
  if (inAddress.key) notices.append(note(word(`key.taken.${inAddress.from}`)));
  if (wanted.question) notices.append(note(word("ask.fromLink")));
}

/** @param {string} text */
function note(text) {
  const made = element("p", { class: "note", role: "status" }, text, " ", button(word("panel.close"), () => made.remove()));
  return made;
}

function prepareTools() {
  const language = /** @type {HTMLSelectElement} */ (byId("language"));
  language.addEventListener("change", async () => {
    await speak(language.value).then(() => keepLanguage(language.value), () => {
      language.value = document.documentElement.lang;
    });
    hint();
    await projectChanged();
  });
  byId("show-communities").addEventListener("click", () => void openCommunities(chosen()));
  byId("show-history").addEventListener("click", () => void openPanel({
    title: word("history.title"),
    load: async () => {
      const made = historyView(caller, (entry) => {
        closePanel();
        fill(entry);
        focusQuestion();
      });
      const shown = element("input", { type: "checkbox", id: "confidence", onchange: (event) => showConfidence(event.target.checked) });
      shown.checked = isShown();
      made.append(element("p", { class: "setting" }, element("label", {}, shown, " ", word("confidence.show"))));
      return made;
    },
  }));
}

showAsLastTime();
const language = wantedLanguage();
/** @type {HTMLSelectElement} */ (byId("language")).value = language;
await speak(language).catch(() => speak("en"));
preparePanel();
prepareKeyDialog();
prepareTools();
prepareForm({ ask: () => void ask(), stop: () => running?.stop(), projectChanged: anotherProject });
prepareDocuments(() => void documentsAdded());
write(wanted);
showNotices();
await enter();
document.documentElement.dataset.ready = "true";
