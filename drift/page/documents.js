/**
 * Documents that a reader adds: files dropped on the page or chosen, sent one at a time, in order.
 */
import { Problem, addDocument, give } from "./api.js";
import { button, byId, element, foreign } from "./elements.js";
import { bytes, counted, hasWord, word } from "./words.js";

/** What the function takes as documents: "files" of many kinds, "text" alone, or "nothing". */
const KINDS = document.documentElement.dataset.takesDocuments ?? "";
/** Whether it takes documents at all. */
export const TAKES = KINDS === "files" || KINDS === "text";
/** What the server takes of one document. */
export const MOST_BYTES = Number(document.documentElement.dataset.mostBytes);
const MOST_TRIES = 5;
/** A quota that is free again tomorrow is not waited for. */
const LONGEST_WAIT_S = 90;
/** Browsers tell every 350 ms at least that something is held over the page, and not always that it has left. */
const DRAG_ENDS_MS = 900;

/**
 * @typedef {{ file: File, project: string, isWaiting: boolean, tries: number, view: HTMLElement, state: () => string, undo: (() => void) | null, isOver: boolean }} Sent `undo` takes out what was new, unless the document is over: replaced, or removed
 */

/** The project that documents go into, "" where none are taken. */
let offered = "";
/** @type {Sent[]} */
let sent = [];
let isSending = false;
let wake = () => {};
let left = 0;
let whenAdded = () => {};

/** @param {() => void} added is called when a project holds more than before */
export function prepareDocuments(added) {
  whenAdded = added;
  const files = /** @type {HTMLInputElement} */ (byId("files"));
  byId("choose-documents").addEventListener("click", () => files.click());
  if (KINDS === "text") files.accept = ".md,.markdown,.rst,.txt,text/plain,text/markdown";
  files.addEventListener("change", () => {
    take([...(files.files ?? [])].map((file) => ({ file, isFolder: false })));
    files.value = ""; // so that the same file can be chosen again
  });
  byId("stop-documents").addEventListener("click", stop);
  byId("clear-documents").addEventListener("click", clear);
  for (const kind of /** @type {const} */ (["dragenter", "dragover", "drop"])) addEventListener(kind, dragged);
}

/**
 * Offer to add documents to a project, where its caller may write it; in the page's language.
 * @param {string} project
 * @param {unknown} rights of the caller on it
 */
export function offerDocuments(project, rights) {
  offered = TAKES && Array.isArray(rights) && rights.includes("write") ? project : "";
  byId("documents-offer").hidden = !offered;
  byId("documents-about").textContent = word(KINDS === "files" ? "documents.about.files" : "documents.about.text", { project: offered, size: bytes(MOST_BYTES) });
  byId("drop-words").textContent = word("documents.drop", { project: offered });
  for (const one of sent) tell(one, one.state, one.view.className);
  showButtons();
}

/** Show where to drop files, and never leave the page for one. @param {DragEvent} event */
function dragged(event) {
  const carried = event.dataTransfer;
  if (!carried?.types.includes("Files")) return;
  event.preventDefault();
  const isTaken = Boolean(offered) && !document.querySelector("dialog:modal");
  carried.dropEffect = isTaken ? "copy" : "none";
  byId("drop").hidden = !isTaken || event.type === "drop";
  clearTimeout(left);
  left = setTimeout(() => {
    byId("drop").hidden = true;
  }, DRAG_ENDS_MS);
  if (event.type === "drop" && isTaken) take([...carried.items].flatMap((item) => {
    const file = item.getAsFile();
    return file ? [{ file, isFolder: Boolean(item.webkitGetAsEntry()?.isDirectory) }] : [];
  }));
}

/** @param {{ file: File, isFolder: boolean }[]} given */
function take(given) {
  for (const { file, isFolder } of given) {
    const why = isFolder ? "folder" : file.size > MOST_BYTES ? "too_large" : "";
    const view = element("li", { "aria-atomic": "true" }, foreign(file.name), " ", element("span", { class: "state", dir: "auto" }));
    /** @type {Sent} */
    const one = { file, project: offered, isWaiting: !why, tries: 0, view, state: () => word("documents.waiting", { project: one.project }), undo: null, isOver: false };
    sent.push(one);
    if (why) refuse(one, new Problem(why));
    else tell(one, one.state);
    byId("sent").append(view);
  }
  void send();
}

/** Send what waits; what is dropped meanwhile follows behind it. */
async function send() {
  if (isSending) return;
  isSending = true;
  let hasMore = false;
  for (let one; (one = sent.find(({ isWaiting }) => isWaiting)); ) hasMore = (await attempt(one)) || hasMore;
  isSending = false;
  showButtons();
  if (hasMore) whenAdded();
}

/** Send one, or wait as long as the server says. @param {Sent} one @returns whether its project has changed */
async function attempt(one) {
  one.isWaiting = false;
  one.tries += 1;
  endUndo(one.project, one.file.name);
  one.isOver = false;
  tell(one, () => word("documents.indexing", { project: one.project }));
  showButtons();
  const progress = sending(one.file);
  one.view.append(progress.view);
  try {
    const { outcome, chunks } = await addDocument(one.project, one.file.name, one.file, progress.told).finally(() => progress.view.remove());
    if (outcome === "added") one.undo = () => void undo(one);
    tell(one, () => `${word(`documents.${outcome}`, { project: one.project })}, ${counted("project.chunks", chunks)}`, "is-done");
    return outcome !== "unchanged";
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem("unreadable"), seconds = problem.retryAfter;
    if (!seconds || seconds > LONGEST_WAIT_S || one.tries === MOST_TRIES) refuse(one, problem);
    else {
      one.isWaiting = true;
      tell(one, () => word("documents.again", { reason: reasonOf(problem), seconds }), "is-held");
      showButtons();
      await new Promise((resolve) => {
        wake = () => resolve(null);
        setTimeout(wake, seconds * 1000);
      });
    }
    return false;
  }
}

/** A document is replaced or removed: to undo what was sent before would take out another edition. @param {string} project @param {string} id */
export function endUndo(project, id) {
  for (const one of sent.filter((other) => other.file.name === id && other.project === project)) {
    one.isOver = true;
    tell(one, one.state, one.view.className);
  }
}

/** How much of a file has been sent; readers of the screen ask for it when they want. @param {File} file */
export function sending(file) {
  const bar = element("progress", { max: file.size || 1, value: 0, "aria-label": word("documents.sending", { name: file.name }) });
  const said = element("span", { class: "facts", "aria-hidden": "true" });
  return { view: element("span", { class: "sending" }, bar, said), told: (/** @type {number} */ done) => {
    bar.value = done;
    said.textContent = word("documents.sent", { done: bytes(Math.min(done, file.size)), all: bytes(file.size) });
  } };
}

/** Take a document out that was new; what it replaced could not be brought back. @param {Sent} one */
async function undo(one) {
  one.undo = null;
  tell(one, () => word("documents.undoing", { project: one.project }));
  byId(offered ? "choose-documents" : "question").focus();
  try {
    await give("DELETE", `documents/${encodeURIComponent(one.file.name)}`, null, { project_id: one.project });
    tell(one, () => word("documents.undone", { project: one.project }));
    whenAdded();
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem("page");
    if (problem.code !== "not_found") one.undo = () => void undo(one);
    tell(one, () => word("documents.notUndone", { reason: problem.code === "not_found" ? word("list.gone") : reasonOf(problem) }), "is-refused");
  }
}

/** @param {Sent} one @param {Problem} problem */
function refuse(one, problem) {
  tell(one, () => word("documents.refused", { reason: reasonOf(problem) }), "is-refused");
}

/** Why a document is not there: in the page's words, with what the server says of it. @param {Problem} problem */
export function reasonOf(problem) {
  const { code, detail, fields } = problem, own = `documents.refused.${code}`;
  if (hasWord(own)) return [word(own, { size: bytes(MOST_BYTES) }), ...fields.map(({ message }) => message)].join(" ");
  return [word(hasWord(`problem.${code}`) ? `problem.${code}` : "problem.unavailable"), detail].join(" ").trim();
}

/** @param {Sent} one @param {() => string} state in the language of the moment @param {string} [kind] */
function tell(one, state, kind = "") {
  one.state = state;
  one.view.className = kind;
  const place = one.view.querySelector(".state"), text = state();
  if (place?.textContent !== text) place?.replaceChildren(text); // a screen reader tells what is written anew
  one.view.querySelector(".undo")?.remove();
  if (one.undo && !one.isOver) one.view.append(element("span", { class: "undo" }, button(word("documents.undo"), one.undo)));
}

function stop() {
  for (const one of sent.filter(({ isWaiting }) => isWaiting)) {
    one.isWaiting = false;
    tell(one, () => word("documents.notSent"));
  }
  wake();
  showButtons();
  byId(offered ? "choose-documents" : "question").focus();
}

function clear() {
  sent = [];
  byId("sent").replaceChildren();
  showButtons();
  byId(offered ? "choose-documents" : "question").focus();
}

function showButtons() {
  byId("documents").hidden = !offered && !sent.length;
  byId("stop-documents").hidden = !sent.some(({ isWaiting }) => isWaiting);
  byId("clear-documents").hidden = isSending || !sent.length;
}
