/**
 * The references of an answer, numbered, whatever the server tells of them: its own
 * `references`, else the facts with their citations, else the nodes that the answer names.
 */
import { lined } from "./elements.js";
import { OPEN, SHUT } from "./markdown.js";
import { hasWord, place, told, word } from "./words.js";

/**
 * @typedef {object} Reference
 * @property {number} number
 * @property {"chunk" | "entity" | "community" | "node"} kind
 * @property {string} id
 * @property {string} document the document's id, or else its name; "" for other nodes
 * @property {string} title the document's file, or else its name; the node's title
 * @property {string} quote the words that bear the statement out
 * @property {string} heading
 * @property {string} where page, or what kind of node
 * @property {string} lines
 * @property {unknown} page of a document that has pages
 * @property {string} place which of the document's passages
 * @property {unknown} address where the document is from
 * @property {number | null} match 0 to 1
 * @property {number | null} confidence 0 to 1
 * @property {Record<string, number | null>} signals
 *
 * @typedef {object} Referred
 * @property {string} text the answer, with numbers between OPEN and SHUT
 * @property {Reference[]} items
 * @property {number | null} confidence
 * @property {string[]} limits what the answer cannot be held to
 * @property {Reference[]} near what stands near, where the documents do not answer
 */

/** They stand behind the number of a sentence. */
const STOPS = ".!?:\u2026\u3002\uff01\uff1f\uff1a\u0964\u061f";
/** How the server calls what a project knows of itself, in its own language. */
const WHOLE = "About this project";
const NODES = /\[Node (\d{1,4})\]/g;

/**
 * @param {any} result the document of an answer
 * @returns {Referred}
 */
export function referred(result) {
  if (Array.isArray(result.sources)) return byNodes(result.answer, result.sources);
  if (result.verdict?.verdict === "not_found") return withoutAnswer(result.verdict.near ?? []);
  return byFacts(result, result.key_facts ?? []);
}

/** @param {any[]} near @returns {Referred} */
function withoutAnswer(near) {
  const passages = near.map((one, index) => fromCitation(one, index + 1));
  tellApart(passages);
  return { text: word("verdict.not_found"), items: [], confidence: null, limits: [], near: passages };
}

/**
 * The references as the server numbers them, else in the order of the facts.
 * @param {any} result
 * @param {any[]} facts
 * @returns {Referred}
 */
function byFacts({ final_answer, references }, facts) {
  const located = new Map(citations(facts).map((one) => [key(one), one]));
  const items = (references?.items ?? [...located.values()]).map((/** @type {any} */ one, /** @type {number} */ index) =>
    fromCitation({ ...located.get(key(one)), ...one }, one.number ?? index + 1));
  const numbers = new Map(items.map((/** @type {Reference} */ one) => [`${one.id}\n${one.quote}`, one.number]));
  tellApart(items);
  const text = numbered(clean(final_answer), facts, (fact) => citations([fact]).map((one) => numbers.get(key(one))));
  return { text, items, confidence: share(references?.confidence), limits: (references?.limits ?? []).map(told), near: [] };
}

/** @param {any} one a citation */
function key(one) {
  return `${one.chunk_id}\n${one.span ?? ""}`;
}

/** @param {string} text "3" or "3-5" */
function linesInWords(text) {
  return word(text.includes("-") ? "references.lines" : "references.line", { lines: text });
}

/**
 * Put numbers behind the sentences of facts, which stand in the text in their order.
 * @param {string} text
 * @param {any[]} facts
 * @param {(fact: any) => number[]} numbersOf
 */
function numbered(text, facts, numbersOf) {
  let made = "", from = 0;
  for (const fact of facts) {
    const numbers = [...new Set(numbersOf(fact))].filter(Boolean).sort((one, other) => one - other);
    const end = numbers.length ? endOf(clean(fact.fact).trim(), text, from) : -1;
    if (end < 0) continue;
    const words = text.slice(from, end), isCode = /\n[ \t]*(```+|~~~+)$/.test(words);
    made += words + (isCode ? "\n\n" : "") + marked(numbers);
    from = end;
  }
  return made + text.slice(from);
}

/**
 * Where the number of a sentence stands: before its stop, and inside the last cell of a row, whose
 * sentence is its cells; -1 where it is not in the text.
 * @param {string} sentence
 * @param {string} text
 * @param {number} from
 */
function endOf(sentence, text, from) {
  const at = sentence ? text.indexOf(sentence, from) : -1;
  if (at >= 0) {
    let end = at + sentence.length;
    while (end > at && STOPS.includes(text[end - 1])) end -= 1;
    return end;
  }
  for (const line of text.slice(from).split("\n")) {
    const row = line.trimEnd(), cells = row.split("|").map((one) => one.trim()).filter(Boolean);
    if (sentence && cells.join(", ") === sentence) return from + (row.endsWith("|") ? row.slice(0, -1).trimEnd() : row).length;
    from += line.length + 1;
  }
  return -1;
}

/** @param {string} answer @param {any[]} sources @returns {Referred} */
function byNodes(answer, sources) {
  const items = sources.map((one, index) => ({
    number: index + 1, kind: kindOf(one.node_type), id: String(one.node_id), document: "", title: String(one.title),
    quote: String(one.text ?? ""), heading: "", where: nameOf(String(one.node_type)), lines: "", page: null, place: "", address: null,
    match: share(one.score), confidence: null, signals: {},
  }));
  const text = clean(answer).replace(NODES, (whole, number) => (items[number - 1] ? marked([Number(number)]) : whole));
  return { text, items, confidence: null, limits: [], near: [] };
}

/** @param {string} type */
function nameOf(type) {
  return hasWord(`node.${type}`) ? word(`node.${type}`) : type;
}

/** @param {any} type @returns {Reference["kind"]} */
function kindOf(type) {
  return ({ Chunk: "chunk", Entity: "entity", Community: "community" })[String(type)] ?? /** @type {any} */ ("node");
}

/** @param {any[]} facts @returns {any[]} */
function citations(facts) {
  return facts.flatMap((fact) => fact.citations ?? []).map((one) =>
    typeof one === "string" ? { chunk_id: one, span: "", document_name: "" } : { ...one, span: lined(one.span) });
}

/** @param {any} one @param {number} number @returns {Reference} */
function fromCitation(one, number) {
  const page = one.page === undefined || one.page === null ? "" : word("passage.page", { page: one.page });
  const name = String(one.document_name ?? one.label ?? "");
  return {
    number, kind: "chunk", id: String(one.chunk_id), document: String(one.document_id ?? name),
    title: name === WHOLE ? word("passage.whole") : fileOf(one.document_id) || name,
    quote: String(one.span ?? ""), heading: below(one), where: page, lines: lines(one), page: one.page, place: one.place === "1 of 1" ? "" : place(one.place),
    address: one.source_uri, match: share(one.match), confidence: share(one.confidence), signals: one.signals ?? {},
  };
}

/** The name of a file, where an id is one's path. @param {unknown} id */
function fileOf(id) {
  return /^(?!\w+:\/\/)(?:.*\/)?([^/]*\w\.[a-z\d]{1,8})$/is.exec(String(id ?? ""))?.[1] ?? "";
}

/** Files of one name have their paths. @param {Reference[]} items */
function tellApart(items) {
  const ids = new Map(items.map((one) => [one.document, one.title])), titles = [...ids.values()];
  for (const one of items) {
    if (titles.indexOf(one.title) !== titles.lastIndexOf(one.title)) ids.set(one.document, one.document);
  }
  for (const one of items) one.title = ids.get(one.document) ?? one.title;
}

/**
 * The references of each document together, by the first of them.
 * @param {Reference[]} items
 * @returns {Reference[][]}
 */
export function byDocument(items) {
  const found = new Map();
  for (const one of items) {
    const document = one.kind === "chunk" ? one.document : `\n${one.number}`;
    found.set(document, [...found.get(document) ?? [], one]);
  }
  return [...found.values()];
}

/**
 * Where a reference stands in its document, without the heading of the one before it.
 * @param {Reference} one
 * @param {Reference} [before]
 */
export function placeIn(one, before) {
  const heading = one.heading === before?.heading ? "" : one.heading;
  return [one.where, one.lines && linesInWords(one.lines), heading].filter(Boolean).join(" · ") || one.place;
}

/**
 * The headings above a passage, without the document's own name in front of them.
 * @param {any} one
 */
function below(one) {
  const heading = String(one.heading ?? ""), name = String(one.document_name ?? "");
  return heading === name ? "" : heading.startsWith(`${name} > `) ? heading.slice(name.length + 3) : heading;
}

/** @param {any} one */
function lines(one) {
  if (!one.first_line) return "";
  return one.last_line && one.last_line !== one.first_line ? `${one.first_line}-${one.last_line}` : String(one.first_line);
}

/** @param {unknown} value */
function share(value) {
  return typeof value === "number" && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : null;
}

/** @param {number[]} numbers */
function marked(numbers) {
  return `${OPEN}${numbers.join(",")}${SHUT}`;
}

/**
 * Without the characters that stand around numbers here, and with one way to end a line.
 * @param {unknown} text
 */
function clean(text) {
  return lined(text).replace(/[\ue000\ue001]/g, "\ufffd").replaceAll("\r\n", "\n");
}
