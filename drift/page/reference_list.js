/**
 * The numbers in an answer, and the list of references below it.
 */
import { add, element, foreign, forReaders, link, plain, seen, webAddress } from "./elements.js";
import { meter } from "./confidence.js";
import { onOneLine } from "./line_ends.js";
import { openReference } from "./passage.js";
import { byDocument, placeIn } from "./references.js";
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
  const rows = (/** @type {Reference[]} */ some) => byDocument(some).map((one) => row(one, project, items));
  const list = element("ul", { class: "references" }, ...rows(items.slice(0, MOST_AT_ONCE)));
  const made = element("section", { class: "sources" }, element("h3", {}, word(title), " ", element("span", { class: "count" }, String(items.length))), list);
  if (items.length > MOST_AT_ONCE) {
    add(made, element("button", { type: "button", class: "quiet", onclick: (event) => {
      list.replaceChildren(...rows(items));
      event.currentTarget.remove();
      /** @type {HTMLElement | null} */ (list.querySelector(`[data-number="${items[MOST_AT_ONCE].number}"]`))?.focus();
    } }, word("references.all", { count: items.length })));
  }
  return made;
}

/** A document with its places below it. @param {Reference[]} of @param {string} project @param {Reference[]} items */
function row(of, project, items) {
  const [{ title, id, address }] = of;
  return element("li", {},
    element("p", {}, element("span", { class: "title" }, foreign(title || id)),
      webAddress(address) && element("span", { class: "facts" }, " · ", link(address, document.createTextNode(word("passage.source"))))),
    element("ol", { class: "places" }, ...of.map((one, at) => placeRow(one, of[at - 1], project, items))));
}

/** @param {Reference} one @param {Reference | undefined} before @param {string} project @param {Reference[]} items */
function placeRow(one, before, project, items) {
  const open = element("button", {
    type: "button", class: "open", "data-number": one.number, title: word("references.open", { number: one.number, document: one.title }), onclick: () => void openReference(one, project, items),
  }, element("span", { class: "number", "aria-hidden": "true" }, String(one.number)), forReaders(`${one.number}. `),
  element("span", { class: "where" }, foreign(placeIn(one, before))));
  const made = element("li", {}, open);
  if (one.quote) add(made, element("blockquote", { dir: "auto" }, seen(cut(onOneLine(one.quote)))));
  const sure = element("p", { class: "facts" });
  if (one.match !== null) add(sure, element("span", { class: "confidence" }, word("references.match", { match: percent(one.match) }), " "));
  add(sure, meter(one.confidence));
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
