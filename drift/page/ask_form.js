/**
 * The form: question, project, depth; Enter asks.
 */
import { byId } from "./elements.js";
import { chips, showChips } from "./filter_chips.js";
import { choose, chosen } from "./project.js";
import { word } from "./words.js";

/** @typedef {import("./address.js").Asked} Asked */

const form = () => /** @type {HTMLFormElement} */ (byId("ask"));
const question = () => /** @type {HTMLTextAreaElement} */ (byId("question"));

/** @returns {Asked} */
export function written() {
  return { question: question().value.trim(), project: chosen(), depth: depth(), chips };
}

function depth() {
  return /** @type {HTMLInputElement | null} */ (form().querySelector("[name=depth]:checked"))?.value ?? "auto";
}

/**
 * Write a question into the form.
 * @param {Partial<Asked>} asked what is left out stays as it is
 */
export function write(asked) {
  if (asked.question !== undefined) question().value = asked.question;
  if (asked.project) choose(asked.project);
  if (asked.chips) showChips(asked.chips);
  const wanted = form().querySelector(`[name=depth][value="${CSS.escape(asked.depth ?? "")}"]`);
  if (wanted) /** @type {HTMLInputElement} */ (wanted).checked = true;
  fit();
  hint();
}

/**
 * @param {{ ask: () => void, stop: () => void, projectChanged: () => void }} ways
 */
export function prepareForm(ways) {
  form().addEventListener("submit", (event) => {
    event.preventDefault();
    if (written().question) ways.ask();
    else question().focus();
  });
  question().addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form().requestSubmit();
  });
  question().addEventListener("input", fit);
  form().addEventListener("change", (event) => {
    const { id, name } = /** @type {HTMLInputElement} */ (event.target);
    if (name === "depth") hint();
    if (id === "project") choose(/** @type {HTMLSelectElement} */ (event.target).value);
    if (id === "project" || id === "other-project") ways.projectChanged();
  });
  byId("stop").addEventListener("click", ways.stop);
  hint();
}

/** @param {boolean} busy */
export function setBusy(busy) {
  byId("send").hidden = busy;
  byId("stop").hidden = !busy;
  fit();
  if (busy) byId("stop").focus();
}

export function focusQuestion() {
  question().focus();
}

export function hint() {
  const isAlone = depth() === "nodes" && !document.body.classList.contains("is-empty");
  byId("depth-hint").textContent = word(isAlone ? "depth.nodes.alone" : `depth.${depth()}.hint`);
}

/** Give the question as many lines as it has. */
function fit() {
  const place = question();
  const least = document.body.classList.contains("is-empty") ? 2 : 1;
  place.rows = least;
  while (place.rows < 10 && place.scrollHeight > place.clientHeight) place.rows += 1;
}
