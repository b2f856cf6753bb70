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
/** Elements of HTML that are made, without attributes, those of which the words alone are, and those left out; others are blocks. */
const [MADE, WORDS, LEFT_OUT] = ["p blockquote pre code em strong b i u s del ins sub sup ul ol li dl dt dd table thead tbody tfoot tr th td caption br hr small kbd samp var cite q",
  "span font label abbr time data mark dfn bdi bdo big tt acronym ruby rt picture center",
  "head script style template iframe frame object embed svg math input select textarea button audio video canvas noscript noembed noframes dialog map"].map((names) => new Set(names.split(" ")));

/**
 * Return a document of a kind (a media type, or an ending), and whether the words are marked in it.
 * @typedef {{ quote: string, passage: string }} At words to mark, and the passage around them
 * @param {string} kind @param {string} text @param {At} at
 */
export function textView(kind, text, at) {
  const isMarkdown = /markdown/.test(kind);
  if (/csv|tab-separated/.test(kind)) return table(text, at) ?? lines(text, at, false);
  if (!isMarkdown && !/html/.test(kind)) return lines(text, at, kind !== "text/plain");
  const formed = (/** @type {string} */ one) => {
    // the headings of the document stand below one of the page
    const made = element("div", { class: "answer", dir: "auto" }, element("h3", { class: "for-readers" }, word("source.document")));
    if (isMarkdown) showBlocks(made, blocks(one.replace(/[\ue000\ue001]/g, "\ufffd")), () => made);
    else within(inertDocument(one).body, made);
    return made;
  };
  const view = formed(text), quote = formed(at.quote);
  quote.firstChild?.remove();
  return { view, isFound: markWords(view, isMarkdown ? quote.textContent ?? "" : at.quote, at.passage) };
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
  const tag = heading ? `h${Math.min(6, Number(heading[1]) + 3)}` : MADE.has(name) ? name : WORDS.has(name) ? "" : "div";
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
  const to = Math.min(rows.length, from + MOST_ROWS), isPart = from > 1 || to < rows.length;
  const body = element("tbody", {}, ...Array.from({ length: to - from }, (_, index) => row(from + index, "td")));
  const view = element("div", { class: "answer" }, isPart && element("p", { class: "facts" }, word("source.rows", { first: from, last: to - 1, all: rows.length - 1 })),
    element("div", { class: "table", tabindex: "0" }, element("table", {}, element("thead", {}, row(0, "th")), body)));
  return { view, isFound: first > 0 };
}

/** Return the rows of delimited text, or null where a quotation in it does not end. @param {string} text */
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
  const place = placeOf(text, at.quote)[0] || placeOf(text, at.passage)[0], to = place + AROUND;
  const from = Math.max(text.lastIndexOf("\n", place - AROUND) + 1, place - 2 * AROUND, 0), before = text.slice(0, from).split("\n").length;
  const made = element("pre", { class: isNumbered ? "lines is-numbered" : "lines", tabindex: "0", dir: isNumbered ? "ltr" : "auto" },
    ...text.slice(from, to).split("\n").flatMap((line, index) => [element("span", { "data-line": before + index }, seen(line)), "\n"]));
  const isPart = from > 0 || to < text.length, isFound = markWords(made, at.quote, at.passage);
  return { view: element("div", {}, isPart && element("p", { class: "facts" }, word("source.part")), made), isFound };
}
