/**
 * What a reference opens: a passage in its document, with its words marked and its neighbours; an
 * entity with its relations and passages; the text of any other node.
 */
import { read } from "./api.js";
import { add, button, element, foreign, link, seen, webAddress } from "./elements.js";
import { shown, unwrapped } from "./line_ends.js";
import { openPanel } from "./panel.js";
import { place, word } from "./words.js";

/** @typedef {import("./references.js").Reference} Reference */

/**
 * @param {Reference} reference
 * @param {string} project
 * @param {Reference[]} [among] the references of its answer
 * @param {boolean} [isInstead]
 */
export function openReference(reference, project, among = [], isInstead = false) {
  if (reference.kind === "chunk") return openPassage(reference, project, among, isInstead);
  if (reference.kind === "entity") return openEntity(reference.id, project, reference.title);
  return openPanel({ title: reference.title, load: async () => element("div", { class: "passage" },
    element("p", { class: "facts" }, foreign(reference.where)),
    element("div", { class: "text", dir: "auto" }, seen(reference.quote))) });
}

/**
 * @param {Partial<Reference> & { id: string }} cited
 * @param {string} project
 * @param {Reference[]} [among]
 * @param {boolean} [isInstead]
 */
export function openPassage(cited, project, among = [], isInstead = false) {
  return openPanel({ title: cited.title || word("passage.title"), load: async (signal) => {
    const chunk = await read(`chunks/${encodeURIComponent(cited.id)}`, { project_id: project || null }, signal);
    const where = [chunk.heading, chunk.place && word("passage.place", { place: place(chunk.place) })].filter(Boolean);
    const made = element("div", { class: "passage" }, element("p", { class: "facts" }, ...where.flatMap((one, index) => [index ? " · " : "", foreign(one)])),
      webAddress(cited.address) && element("p", { class: "facts" }, link(cited.address, document.createTextNode(word("passage.source")))));
    const asRead = passage(chunk, project, cited.quote ?? ""), goOn = (/** @type {Reference} */ other) => void openReference(other, project, among, true);
    add(made, chunk.document ? await (await import("./source.js")).sourceView({ chunk, project, cited, among, goOn }, asRead, signal) : asRead);
    return made;
  } }, isInstead);
}

/** @param {any} chunk @param {string} project @param {string} quote */
function passage(chunk, project, quote) {
  const made = element("div", { class: "passage" }), marked = markedText(String(chunk.text), quote);
  add(made, neighbour(chunk.before, project, "passage.before"));
  if (quote && !marked.found) add(made, element("p", { class: "note" }, word("passage.changed")));
  add(made, element("div", { class: "text here", dir: "auto" }, marked.nodes));
  add(made, neighbour(chunk.after, project, "passage.after"));
  return made;
}

/** @param {any} chunk @param {string} project @param {string} key */
function neighbour(chunk, project, key) {
  if (!chunk) return null;
  const open = button(word(key), () => void openPassage({ id: chunk.id, title: chunk.heading ?? "" }, project));
  return element("section", { class: "beside" }, open, element("div", { class: "text", dir: "auto", tabindex: "0" }, seen(shown(unwrapped(String(chunk.text))))));
}

/**
 * A text with a quote of it marked: letter by letter, else whatever its white space is.
 * @param {string} text
 * @param {string} quote
 */
export function markedText(text, quote) {
  const nodes = document.createDocumentFragment();
  const [from, to] = placeOf(text, quote);
  text = unwrapped(text);
  add(nodes, seen(shown(text.slice(0, from))));
  if (to > from) add(nodes, element("mark", {}, seen(shown(text.slice(from, to)))));
  add(nodes, seen(shown(text.slice(to))));
  return { nodes, found: to > from };
}

/** @param {string} text @param {string} quote @returns {[number, number]} */
export function placeOf(text, quote) {
  if (!quote.trim()) return [0, 0];
  const exact = text.indexOf(quote);
  if (exact >= 0) return [exact, exact + quote.length];
  const wanted = quote.trim().replace(/\s+/g, " "), at = text.replace(/\s+/g, " ").indexOf(wanted);
  return at < 0 ? [0, 0] : [spread(text, at), spread(text, at + wanted.length - 1) + 1];
}

/** Where a letter stands in a text, by its place where all white space is one space. @param {string} text @param {number} at */
function spread(text, at) {
  let more = 0;
  for (const { 0: space, index } of text.matchAll(/\s{2,}/g)) {
    if (index - more > at) break;
    more += space.length - 1;
  }
  return at + more;
}

/** @param {string} id @param {string} project @param {string} title */
export function openEntity(id, project, title) {
  return openPanel({ title, load: async (signal) => {
    const found = await read(`entities/${encodeURIComponent(id)}`, { project_id: project || null }, signal);
    return entity(found, project);
  } });
}

/** @param {any} found @param {string} project */
function entity(found, project) {
  const made = element("div", { class: "passage" }, element("p", { dir: "auto" }, seen(found.description)));
  if (found.relations.length) {
    add(made, element("h3", {}, word("entity.relations")), element("ul", { class: "rows" }, ...found.relations.map((/** @type {any} */ one) =>
      element("li", {}, element("button", { type: "button", class: "row", onclick: () => void openEntity(one.entity_id, project, one.title) },
        element("span", { "aria-hidden": "true" }, one.direction === "out" ? "→ " : "← "), foreign(one.title)),
      one.description && element("p", { class: "facts", dir: "auto" }, seen(one.description))))));
  }
  if (found.more_relations) add(made, element("p", { class: "facts" }, word("entity.more")));
  add(made, element("h3", {}, word("entity.passages")), element("ul", { class: "rows" }, ...found.chunks.map((/** @type {any} */ one) =>
    element("li", {}, element("button", { type: "button", class: "row", onclick: () => void openPassage({ id: one.id, title: one.document_name }, project) },
      foreign(one.document_name), one.place && ` · ${word("passage.place", { place: place(one.place) })}`),
    element("p", { class: "facts", dir: "auto" }, seen(one.beginning))))));
  return made;
}
