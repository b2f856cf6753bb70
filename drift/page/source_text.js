/**
 * Documents that are text: Markdown and HTML with their form, tables as tables, all others as lines.
 */
import { add, element, link, seen } from "./elements.js";
import { letters, markWords } from "./found_words.js";
import { blocks, showBlocks } from "./markdown.js";
import { placeOf } from "./passage.js";
import { inertDocument } from "./trusted.js";
import { word } from "./words.js";

/** Characters before and behind a passage, and rows of a table, that are shown at most. */
const AROUND = 40_000, MOST_ROWS = 400;
/** Elements of HTML that are made here, without attributes; of all others what is in them is shown. */
const MADE = new Set(("p div blockquote pre code em strong b i u s del ins sub sup ul ol li dl dt dd table thead tbody tfoot tr th td " +
  "caption br hr small kbd samp var cite q figure figcaption").split(" "));
const BLOCKS = new Set("article aside details fieldset footer form header main nav section summary address legend".split(" "));
const LEFT_OUT = new Set(("head script style template iframe frame object embed svg math input select textarea button audio video canvas " +
  "noscript noembed noframes dialog map").split(" "));

/** @typedef {{ quote: string, passage: string, line: number }} At where to look: words, the passage around them, or a line */

/**
 * Return a document of a kind, and whether the words are marked in it.
 * @param {string} kind its media type, or its ending
 * @param {string} text
 * @param {At} at
 */
export function textView(kind, text, at) {
  if (/csv|tab-separated/.test(kind)) return table(text, at) ?? lines(text, at, false);
  // the headings of the document stand below one of the page
  const made = element("div", { class: "answer", dir: "auto" }, element("h3", { class: "for-readers" }, word("source.document")));
  if (/markdown/.test(kind)) showBlocks(made, blocks(text.replace(/[\ue000\ue001]/g, "\ufffd")), (number) => document.createTextNode(`[${number}]`));
  else if (/html/.test(kind)) within(inertDocument(text).body, made);
  else return lines(text, at, kind !== "text/plain");
  // the signs of Markdown are no words of it
  const asShown = /markdown/.test(kind) ? shown(at.quote) : at.quote;
  return { view: made, isFound: markWords(made, asShown, at.passage) };
}

/** @param {string} quote */
function shown(quote) {
  const made = element("div");
  showBlocks(made, blocks(quote), () => document.createTextNode(""));
  return made.textContent ?? "";
}

/** @param {Node} from @param {Node} to */
function within(from, to) {
  for (const one of from.childNodes) {
    if (one instanceof Text) add(to, seen(one.data));
    else if (one instanceof Element) fromHtml(one, to);
  }
}

/** @param {Element} one of a document of others @param {Node} to */
function fromHtml(one, to) {
  const name = one.localName, heading = /^h([1-6])$/.exec(name);
  if (LEFT_OUT.has(name)) return;
  if (name === "img") return add(to, seen(one.getAttribute("alt")));
  if (name === "a") {
    const words = document.createDocumentFragment();
    within(one, words);
    return add(to, link(one.getAttribute("href"), words));
  }
  const tag = heading ? `h${Math.min(6, Number(heading[1]) + 3)}` : BLOCKS.has(name) ? "div" : MADE.has(name) ? name : "";
  if (!tag) return within(one, to);
  const span = (/** @type {string} */ key) => (Number(one.getAttribute(key)) > 1 ? Math.min(100, Math.trunc(Number(one.getAttribute(key)))) : null);
  const made = element(/** @type {"div"} */ (tag), { tabindex: tag === "pre" ? "0" : null, colspan: span("colspan"), rowspan: span("rowspan") });
  within(one, made);
  add(to, tag === "table" ? element("div", { class: "table", tabindex: "0" }, made) : made);
}

/** @param {string} text @param {At} at */
function table(text, at) {
  const rows = rowsOf(text);
  if (!rows || rows.length < 2) return null;
  const wanted = letters(at.quote), told = rows.map((row) => row.map(letters));
  // a passage of a table tells its cells with the names of their columns
  const isIn = (/** @type {string[]} */ row) => row.join("").length > 3 && (row.every((cell) => wanted.includes(cell)) || (wanted && row.some((cell) => cell.includes(wanted))));
  const first = Math.max(0, told.findIndex((row, index) => index && isIn(row))), from = Math.max(1, first - MOST_ROWS / 2);
  const row = (/** @type {number} */ index, /** @type {"th" | "td"} */ kind) => element("tr", {}, ...rows[index].map((cell) =>
    element(kind, { dir: "auto", scope: kind === "th" ? "col" : null }, first && index && isIn(told[index]) ? element("mark", {}, seen(cell)) : seen(cell))));
  const to = Math.min(rows.length, from + MOST_ROWS);
  const body = element("tbody", {}, ...Array.from({ length: to - from }, (_, index) => row(from + index, "td")));
  const made = element("div", { class: "answer" }, cut(from > 1 || to < rows.length ? word("source.rows", { first: from, last: to - 1, all: rows.length - 1 }) : ""),
    element("div", { class: "table", tabindex: "0" }, element("table", {}, element("thead", {}, row(0, "th")), body)));
  return { view: made, isFound: first > 0 };
}

/**
 * Return the rows of delimited text, or null where a quotation in it does not end.
 * @param {string} text
 */
function rowsOf(text) {
  const head = text.split("\n", 1)[0], sign = [",", ";", "\t", "|"].reduce((best, one) => (head.split(one).length > head.split(best).length ? one : best));
  const cell = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^${sign}"\\r\\n][^${sign}\\r\\n]*)?)(${sign === "|" ? "\\|" : sign}|\\r?\\n|\\r|$)`, "gy");
  const rows = /** @type {string[][]} */ ([[]]);
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (!found) return null;
    rows[rows.length - 1].push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    if (found[3] !== sign) rows.push([]);
  }
  return rows.filter((row) => row.some(Boolean));
}

/** @param {string} text @param {At} at @param {boolean} isNumbered */
function lines(text, at, isNumbered) {
  const [place] = [placeOf(text, at.quote), placeOf(text, at.passage)].find(([begin, end]) => end > begin) ?? [beginOf(text, at.line)];
  const from = Math.max(text.lastIndexOf("\n", place - AROUND) + 1, place - 2 * AROUND, 0), to = place + AROUND;
  let number = text.slice(0, from).split("\n").length;
  const made = element("pre", { class: isNumbered ? "lines is-numbered" : "lines", tabindex: "0", dir: isNumbered ? "ltr" : "auto" });
  for (const line of text.slice(from, to).split("\n")) {
    add(made, element("span", { "data-line": number }, seen(line)), "\n");
    number += 1;
  }
  const isFound = markWords(made, at.quote, at.passage);
  return { view: element("div", {}, cut(from > 0 || to < text.length ? word("source.part") : ""), made), isFound };
}

/** @param {string} text @param {number} line from 1 */
function beginOf(text, line) {
  let at = 0;
  for (let count = 1; count < line && at >= 0; count += 1) at = text.indexOf("\n", at) + 1 || -1;
  return Math.max(0, at);
}

/** What is said of a document that is not shown whole. @param {string} text */
function cut(text) {
  return text && element("p", { class: "facts" }, text);
}
