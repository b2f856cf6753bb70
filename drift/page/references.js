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
 * @property {string} title the document's name, or the node's title
 * @property {string} quote the words that bear the statement out
 * @property {string} where heading, page and place
 * @property {string} lines
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

const NUMBERS = /\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\](?![(:[])/g;
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
  if (Array.isArray(result.references?.items)) return byServer(result.references, result);
  return byFacts(clean(result.final_answer), result.key_facts ?? []);
}

/** @param {any[]} near @returns {Referred} */
function withoutAnswer(near) {
  const passages = near.map((one, index) => fromCitation(one, index + 1));
  return { text: word("verdict.not_found"), items: [], confidence: null, limits: [], near: passages };
}

/** @param {any} references @param {any} result @returns {Referred} */
function byServer(references, result) {
  const located = new Map(citations(result.key_facts ?? []).map((one) => [`${one.chunk_id}\n${one.span}`, one]));
  const items = references.items.map((/** @type {any} */ one) =>
    ({ ...fromCitation({ ...located.get(`${one.chunk_id}\n${one.span}`), ...one }, one.number),
      lines: lines(one), match: share(one.match), confidence: share(one.confidence), signals: one.signals ?? {} }));
  const known = new Set(items.map((/** @type {Reference} */ one) => one.number));
  const text = clean(answerAlone(references, result)).replace(NUMBERS, (whole, list) => {
    const numbers = list.split(",").map(Number);
    return numbers.every((/** @type {number} */ one) => known.has(one)) ? marked(numbers) : whole;
  });
  return { text, items, confidence: share(references.confidence), limits: (references.limits ?? []).map(told), near: [] };
}

/**
 * The answer without the lines that follow it: references and limits have places of their own here.
 * @param {any} references @param {any} result
 */
function answerAlone(references, result) {
  let text = String(references.answer ?? result.final_answer ?? "");
  for (const [heading, listed] of [["Limits", references.limits], ["References", references.items]]) {
    const at = listed?.length ? text.lastIndexOf(`\n\n${heading}:\n`) : -1;
    if (at >= 0) text = text.slice(0, at);
  }
  return text;
}

/** @param {string} text "3" or "3-5" */
export function linesInWords(text) {
  return word(text.includes("-") ? "references.lines" : "references.line", { lines: text });
}

/**
 * Number the citations, and put the numbers behind the sentences of the answer.
 * @param {string} text
 * @param {any[]} facts
 * @returns {Referred}
 */
function byFacts(text, facts) {
  /** @type {Map<string, Reference>} */
  const items = new Map();
  let from = 0;
  for (const fact of facts) {
    const numbers = citations([fact]).map((one) => {
      const name = `${one.chunk_id}\n${one.span}`;
      const known = items.get(name) ?? fromCitation(one, items.size + 1);
      items.set(name, known);
      return known.number;
    });
    const sentence = clean(fact.fact).trim();
    const at = sentence ? text.indexOf(sentence, from) : -1;
    if (at < 0 || !numbers.length) continue;
    const end = at + sentence.length, mark = marked([...new Set(numbers)]);
    text = text.slice(0, end) + mark + text.slice(end);
    from = end + mark.length;
  }
  return { text, items: [...items.values()], confidence: null, limits: [], near: [] };
}

/** @param {string} answer @param {any[]} sources @returns {Referred} */
function byNodes(answer, sources) {
  const items = sources.map((one, index) => ({
    number: index + 1, kind: kindOf(one.node_type), id: String(one.node_id), title: String(one.title),
    quote: String(one.text ?? ""), where: nameOf(String(one.node_type)), lines: "", address: null,
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
  return {
    number, kind: "chunk", id: String(one.chunk_id), title: one.document_name === WHOLE ? word("passage.whole") : String(one.document_name ?? one.label ?? ""),
    quote: String(one.span ?? ""), where: [below(one), page, one.place && place(one.place)].filter(Boolean).join(" · "),
    lines: "", address: one.source_uri, match: null, confidence: null, signals: {},
  };
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
 * Without the characters that stand around numbers here.
 * @param {unknown} text
 */
function clean(text) {
  return String(text ?? "").replace(/[\ue000\ue001]/g, "\ufffd");
}
