/**
 * Markdown as elements: `marked` reads it, and each of its tokens becomes nodes here. HTML in it is
 * text, pictures are their words, and links of other schemes are not links.
 */
import { Lexer, Tokenizer } from "./vendor/marked/marked.esm.js";
import { add, element, link, plain, seen } from "./elements.js";

/** Around the numbers of references in a text, in place of characters that it cannot hold. */
export const OPEN = "\ue000", SHUT = "\ue001";
export const MARK = /\ue000([\d,]+)\ue001/g;

/** Longer texts are shown without their form. */
const MOST_CHARACTERS = 120_000;
/** Lists and quotes further in are shown as they were written, so that the page stays as wide as it is. */
const MOST_LEVELS = 8;
/** Paragraphs with more signs of emphasis are shown without their form: to pair them takes long. */
const MOST_SIGNS = 300;
/** What no blank parts from words: letters of some scripts, and marks. */
const SPACELESS = "[\ue000\ue001\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}]";
const IS_SPACELESS = new RegExp(`^${SPACELESS}`, "u");
const BEHIND_EMPHASIS = new RegExp(`(?<=[^\\P{P}*_~][*_~]{1,3})${SPACELESS}`, "gu");
/** A name such as __init__ is not bold. */
const NAME = /^__\w+__$/;

/**
 * @typedef {any} Token one of marked's
 * @typedef {(number: number) => Node} Mark makes what stands for a reference
 */

/** What would take long to read stays as it is. */
class Reader extends Lexer {
  /** @param {string} src @param {Token[]} [tokens] @returns {Token[]} */
  inlineTokens(src, tokens = []) {
    if (src.split(/[*_]/, MOST_SIGNS + 2).length < MOST_SIGNS + 2) return super.inlineTokens(src, tokens);
    tokens.push({ type: "unread", raw: src });
    return tokens;
  }
}

/** Spans beside the numbers of references, and beside letters that no blank parts. */
class Spans extends Tokenizer {
  /** The mark of a reference ends an address. @param {string} src @returns {Token} */
  url(src) {
    const found = super.url(src);
    return found?.raw.includes(OPEN) ? super.url(src.slice(0, src.indexOf(OPEN))) : found;
  }

  /**
   * Emphasis begins and ends beside what no blank parts from words, as if it were punctuation.
   * @param {string} src @param {string} masked @param {string} before @returns {Token}
   */
  emStrong(src, masked, before) {
    return super.emStrong(src, masked, IS_SPACELESS.test(before) ? "。" : before);
  }
}
const hooks = { emStrongMask: (/** @type {string} */ text) => text.replace(BEHIND_EMPHASIS, (one) => "。".repeat(one.length)) };

/**
 * Return the blocks of a text: `raw` of all of them together is the text.
 * @param {string} text
 * @returns {Token[]}
 */
export function blocks(text) {
  if (text.length > MOST_CHARACTERS) return [{ type: "unread", raw: text }];
  try {
    return new Reader({ gfm: true, async: false, tokenizer: new Spans(), hooks }).lex(text);
  } catch {
    return [{ type: "unread", raw: text }];
  }
}

/**
 * Put blocks into an element.
 * @param {Node} parent
 * @param {Token[]} tokens
 * @param {Mark} mark
 * @param {number} [level]
 */
export function showBlocks(parent, tokens, mark, level = 0) {
  for (const token of tokens) {
    if (level > MOST_LEVELS) add(parent, text(token.raw, mark));
    else add(parent, block(token, mark, level));
  }
}

/**
 * @param {Token} token
 * @param {Mark} mark
 * @param {number} level
 * @returns {Node | null}
 */
function block(token, mark, level) {
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      // The page has headings of its own above these.
      return spans(element(`h${/** @type {4} */ (Math.min(6, token.depth + 3))}`, { dir: "auto" }), token, mark);
    case "hr":
      return element("hr");
    case "code":
      return element("pre", { dir: "ltr", tabindex: "0" }, element("code", {}, seen(unmarked(token.text))));
    case "blockquote": {
      const quote = element("blockquote", { dir: "auto" });
      showBlocks(quote, token.tokens, mark, level + 1);
      return quote;
    }
    case "list":
      return list(token, mark, level);
    case "table":
      return table(token, mark);
    case "paragraph":
      return spans(element("p", { dir: "auto" }), token, mark);
    case "text":
      return token.tokens ? spans(element("p", { dir: "auto" }), token, mark)
        : element("p", { dir: "auto" }, text(token.text, mark));
    default: // HTML, definitions of links, what was not read, and what a later version may find
      return element("p", { dir: "auto" }, text(token.raw, mark));
  }
}

/** @param {Token} token @param {Mark} mark @param {number} level */
function list(token, mark, level) {
  const start = token.ordered && token.start !== 1 ? token.start : null;
  const made = element(token.ordered ? "ol" : "ul", { dir: "auto", start });
  for (const item of token.items) {
    const line = element("li", {});
    if (item.task) add(line, item.checked ? "☑ " : "☐ ");
    const parts = item.tokens.filter((/** @type {Token} */ one) => one.type !== "checkbox");
    for (const part of parts) {
      if (part.type === "text" && !item.loose) add(line, spans(document.createDocumentFragment(), part, mark));
      else showBlocks(line, [part], mark, level + 1);
    }
    add(made, line);
  }
  return made;
}

/** @param {Token} token @param {Mark} mark */
function table(token, mark) {
  const row = (/** @type {Token[]} */ cells, /** @type {"th" | "td"} */ kind) =>
    element("tr", {}, ...cells.map((cell) => spans(element(kind, { dir: "auto", scope: kind === "th" ? "col" : null }), cell, mark)));
  const body = element("tbody", {}, ...token.rows.map((/** @type {Token[]} */ cells) => row(cells, "td")));
  const made = element("table", {}, element("thead", {}, row(token.header, "th")), body);
  return element("div", { class: "table", tabindex: "0" }, made);
}

/**
 * @template {Node} Kind
 * @param {Kind} parent
 * @param {Token} token
 * @param {Mark} mark
 */
function spans(parent, token, mark) {
  for (const one of token.tokens ?? []) add(parent, span(one, mark));
  return parent;
}

/** @param {Token} token @param {Mark} mark @returns {Node} */
function span(token, mark) {
  switch (token.type) {
    case "strong":
      if (NAME.test(token.raw)) return text(token.raw, mark);
      return spans(element("strong"), token, mark);
    case "em":
      return spans(element("em"), token, mark);
    case "del":
      return spans(element("del"), token, mark);
    case "codespan":
      return element("code", {}, seen(unmarked(token.text)));
    case "br":
      return element("br");
    case "link": {
      const inner = document.createDocumentFragment();
      return link(token.href, spans(inner, token, mark));
    }
    case "image": // nothing is loaded from elsewhere
      return link(token.href, text(token.text || plain(token.href), mark));
    case "escape":
      return text(token.text, mark);
    case "text":
      return token.tokens ? spans(document.createDocumentFragment(), token, mark) : text(token.raw, mark);
    default:
      return text(token.raw, mark);
  }
}

/**
 * A text with what stands for its references.
 * @param {string} value
 * @param {Mark} mark
 */
function text(value, mark) {
  const nodes = document.createDocumentFragment();
  let done = 0;
  for (const found of value.matchAll(MARK)) {
    add(nodes, seen(entities(value.slice(done, found.index))), ...found[1].split(",").map((one) => mark(Number(one))));
    done = found.index + found[0].length;
  }
  add(nodes, seen(entities(value.slice(done))));
  return nodes;
}

/** @param {string} value */
function unmarked(value) {
  return value.replace(MARK, (_, numbers) => `[${numbers}]`);
}

const ENTITIES = /** @type {Record<string, string>} */ ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" });

/**
 * The few entities that models write; any other stays as it was written.
 * @param {string} value
 */
function entities(value) {
  return value.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name) => ENTITIES[name]);
}
