/**
 * The questions of this browser: question, project, depth and time, never an answer or a key. Each
 * is shown to the caller who asked it, and to no other.
 */
import { button, element, foreign } from "./elements.js";
import { dateTime, word } from "./words.js";

const KEPT = "drift.history";
const MOST = 60;

/** @typedef {{ question: string, project: string, depth: string, when: number, caller: string }} Entry */

/** @returns {Entry[]} newest first */
function all() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isEntry) : [];
  } catch {
    return [];
  }
}

/** @param {any} value @returns {value is Entry} */
function isEntry(value) {
  return ["question", "project", "depth", "caller"].every((name) => typeof value?.[name] === "string") && Number.isFinite(value.when);
}

/** @param {Entry[]} entries */
function keep(entries) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(entries.slice(0, MOST)));
  } catch {
    // full, or forbidden: the page works without
  }
}

/** @param {string | null} caller */
export function entriesOf(caller) {
  return all().filter((one) => one.caller === caller);
}

/** @param {Entry} entry */
export function remember(entry) {
  // read anew: another tab may have written meanwhile
  const others = all().filter((one) => !isSame(one, entry));
  keep([entry, ...others]);
}

/** @param {Entry} one @param {Entry} other */
function isSame(one, other) {
  return ["question", "project", "depth", "caller"].every((name) => /** @type {any} */ (one)[name] === /** @type {any} */ (other)[name]);
}

/**
 * The list, with a way to ask again and ways to forget.
 * @param {string | null} caller null where that is not known
 * @param {(entry: Entry) => void} choose
 */
export function historyView(caller, choose) {
  const place = element("div", { class: "history" });
  const draw = () => {
    const entries = entriesOf(caller);
    const forget = (/** @type {Entry} */ entry) => () => {
      keep(all().filter((one) => !isSame(one, entry)));
      draw();
    };
    const rows = entries.map((entry) => element("li", {},
      element("button", { type: "button", class: "entry", onclick: () => choose(entry) },
        element("span", { class: "asked", dir: "auto" }, foreign(entry.question)),
        element("span", { class: "facts" }, foreign(entry.project), ` · ${word(`depth.${entry.depth}`)} · ${dateTime(entry.when)}`)),
      element("button", { type: "button", class: "quiet small", "aria-label": word("history.forget", { question: entry.question }), onclick: forget(entry) }, "×")));
    place.replaceChildren(
      element("p", { class: "facts" }, word("history.about")),
      entries.length ? element("ul", {}, ...rows) : element("p", {}, word("history.none")),
      ...(entries.length ? [button(word("history.clear"), () => {
        keep(all().filter((one) => one.caller !== caller));
        draw();
      })] : []));
  };
  draw();
  // another tab has asked or forgotten
  const again = (/** @type {StorageEvent} */ event) => {
    if (!place.isConnected) removeEventListener("storage", again);
    else if (event.key === KEPT || event.key === null) draw();
  };
  addEventListener("storage", again);
  return place;
}
