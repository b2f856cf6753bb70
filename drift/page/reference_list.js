/**
 * The numbers in an answer, and the list of references below it.
 */
import { add, element, foreign, forReaders, link, plain, seen, webAddress } from "./elements.js";
import { meter } from "./confidence.js";
import { openReference } from "./passage.js";
import { linesInWords } from "./references.js";
import { percent, word } from "./words.js";

/** @typedef {import("./references.js").Reference} Reference */

const MOST_AT_ONCE = 12;
const EXCERPT = 260;

/**
 * Return what makes the number of a reference in a text, which opens its passage.
 * @param {Reference[]} items
 * @param {string} project
 */
export function marks(items, project) {
  const known = new Map(items.map((one) => [one.number, one]));
  return (/** @type {number} */ number) => {
    const reference = known.get(number);
    if (!reference) return document.createTextNode(`[${number}]`);
    return element("button", {
      type: "button", class: "cite", "aria-label": word("references.open", { number, document: reference.title }),
      title: plain(reference.title), onclick: () => void openReference(reference, project, items),
    }, String(number));
  };
}

/**
 * @param {Reference[]} items
 * @param {string} project
 * @param {string} [title] the word for its heading
 */
export function referenceList(items, project, title = "references.title") {
  const list = element("ol", { class: "references" }, ...items.slice(0, MOST_AT_ONCE).map((one) => row(one, project, items)));
  const made = element("section", { class: "sources" }, element("h3", {}, word(title), " ", element("span", { class: "count" }, String(items.length))), list);
  if (items.length > MOST_AT_ONCE) {
    add(made, element("button", { type: "button", class: "quiet", onclick: (event) => {
      const first = row(items[MOST_AT_ONCE], project, items);
      add(list, first, ...items.slice(MOST_AT_ONCE + 1).map((one) => row(one, project, items)));
      event.currentTarget.remove();
      first.querySelector("button")?.focus();
    } }, word("references.all", { count: items.length })));
  }
  return made;
}

/** @param {Reference} one @param {string} project @param {Reference[]} items */
function row(one, project, items) {
  const facts = element("span", { class: "facts" }, foreign(one.where), one.lines && ` · ${linesInWords(one.lines)}`);
  const open = element("button", { type: "button", class: "open", onclick: () => void openReference(one, project, items) },
    element("span", { class: "number", "aria-hidden": "true" }, String(one.number)), forReaders(`${one.number}. `),
    element("span", { class: "title" }, foreign(one.title || one.id)));
  const made = element("li", {}, open, facts);
  if (one.quote) add(made, element("blockquote", { dir: "auto" }, seen(cut(one.quote))));
  const sure = element("p", { class: "facts" });
  if (one.match !== null) add(sure, element("span", { class: "confidence" }, word("references.match", { match: percent(one.match) }), " "));
  add(sure, meter(one.confidence));
  if (webAddress(one.address)) add(sure, " ", link(one.address, document.createTextNode(word("passage.source"))));
  if (sure.childNodes.length) add(made, sure, signals(one));
  return made;
}

/** @param {Reference} one */
function signals(one) {
  const told = Object.entries(one.signals).filter(([, value]) => typeof value === "number");
  if (!told.length) return null;
  const words = told.map(([name, value]) => `${word(`signal.${name}`)} ${percent(/** @type {number} */ (value))}`);
  return element("details", { class: "confidence" }, element("summary", {}, word("references.why")), element("p", { class: "facts" }, words.join(" · ")));
}

/** @param {string} text */
function cut(text) {
  return text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT).trimEnd()}…`;
}
