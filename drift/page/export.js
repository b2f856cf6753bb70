/**
 * An answer to take elsewhere: as Markdown with footnotes, and as plain text for an e-mail.
 */
import { blocks, MARK } from "./markdown.js";
import { plain, webAddress } from "./elements.js";
import { chipsIn } from "./filter_chips.js";
import { onOneLine } from "./line_ends.js";
import { byDocument, placeIn, referred } from "./references.js";
import { dateTime, percent, told, word } from "./words.js";

/** @typedef {import("./references.js").Reference} Reference */
/** @typedef {import("./references.js").Referred} Referred */
/**
 * @typedef {object} About
 * @property {{ question: string, project: string, depth: string, chips?: unknown }} asked
 * @property {string} uncertain
 * @property {number} when
 * @property {boolean} confidence whether it is told
 * @property {string} [prefix] of its footnotes, where others stand in the same text
 */

/** @param {Referred} answer @param {About} about */
export function asMarkdown(answer, { asked, uncertain, when, confidence, prefix = "" }) {
  const parts = [`# ${safe(asked.question)}`,
    withNumbers(inert(answer.text.trim()), (numbers) => numbers.map((one) => `[^${prefix}${one}]`).join(""))];
  if (uncertain) parts.push(`**${word("answer.uncertain")}:** ${safe(uncertain)}`);
  if (answer.limits.length) parts.push(answer.limits.map((one) => `- ${safe(one)}`).join("\n"));
  if (answer.near.length) parts.push(`## ${word("references.near")}`, byDocument(answer.near).map(nearby).join("\n"));
  parts.push(`${word("ask.project")}: ${safe(asked.project)} · ${word(`depth.${asked.depth}`)} · ${dateTime(when)}${restricted(asked, safe)}`);
  if (answer.items.length) parts.push(answer.items.map((one) => `[^${prefix}${one.number}]: ${footnote(one, confidence)}`).join("\n"));
  return `${parts.join("\n\n")}\n`;
}

/** Of which documents alone it was asked. @param {About["asked"]} asked @param {(name: string) => string} written */
function restricted({ chips }, written) {
  const only = chipsIn(chips).map(({ key, name }) => ` ${word(`filter.${key}`)} ${written(name)}`);
  return only.length ? ` · ${word("filter.used")}${only.join(",")}` : "";
}

/**
 * An answer as people write to each other, its references below it.
 * @param {Referred} answer
 * @param {About} about
 */
export function asMail(answer, { asked, uncertain, when }) {
  const parts = [onOneLine(plain(asked.question)), withNumbers(plain(answer.text.trim()))];
  const unsure = [uncertain, ...answer.limits].filter(Boolean).map((one) => onOneLine(plain(one)));
  if (unsure.length) parts.push(`${word("answer.uncertain")}: ${unsure.join(" ")}`);
  for (const [title, items] of /** @type {const} */ ([["references.title", answer.items], ["references.near", answer.near]])) {
    if (items.length) parts.push(word(title), byDocument(items).map(inMail).join("\n\n"));
  }
  parts.push(`${word("ask.project")}: ${onOneLine(plain(asked.project))} · ${dateTime(when)}${restricted(asked, (name) => onOneLine(plain(name)))}`);
  return `${parts.join("\n\n")}\n`;
}

/** @param {Reference[]} of a document */
function inMail(of) {
  const address = webAddress(of[0].address)?.href;
  const places = of.map((one, at) => `[${one.number}] ${onOneLine(plain(placeAndQuote(one, of[at - 1])))}`);
  return [onOneLine(plain(of[0].title)), ...places, ...(address ? [address] : [])].join("\n");
}

/** @param {Reference[]} of a document */
function nearby(of) {
  return [`- ${safe(of[0].title)}`, ...of.map((one, at) => `  - ${safe(placeAndQuote(one, of[at - 1]))}`)].join("\n");
}

/** @param {Reference} one @param {boolean} confidence */
function footnote(one, confidence) {
  const address = webAddress(one.address)?.href;
  const facts = [one.title, placeAndQuote(one), confidence && one.match !== null && word("references.match", { match: percent(one.match) })];
  return [...facts.filter(Boolean).map(safe), address && `<${address}>`].filter(Boolean).join(" · ");
}

/** @param {Reference} one @param {Reference} [before] */
function placeAndQuote(one, before) {
  return [placeIn(one, before), one.quote && word("references.quoted", { words: onOneLine(one.quote) })].filter(Boolean).join(": ");
}

/**
 * The answers of a thread, one after another.
 * @param {import("./thread_store.js").Kept[]} turns
 * @param {boolean} confidence whether it is told
 */
export function threadAsMarkdown(turns, confidence) {
  return turns.map((one, at) => {
    const answer = one.result && referred(one.result);
    const found = answer?.text.trim() ? answer : { text: word(one.result ? "answer.nothing" : "answer.unkept"), items: [], near: [], limits: [], confidence: null };
    return asMarkdown(found, { asked: one, uncertain: told(one.result?.residual_uncertainty), when: one.when, confidence, prefix: turns.length > 1 ? `${at + 1}-` : "" });
  }).join("\n---\n\n");
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/!(?=\[)/g, "&#33;").replace(/\[(?=\^)/g, "&#91;").replace(/<(?=[a-z/!?])/gi, "&lt;");
}

/**
 * Return a text of others whose pictures and markup load nothing where it is opened; code stays as
 * it is, where what is made is read as it was.
 * @param {string} text
 */
function inert(text) {
  const made = besideCode(text);
  return besideCode(made) === made ? made : escaped(text);
}

/** @param {string} text */
function besideCode(text) {
  let made = "", done = 0, from = 0;
  for (const { type, raw } of leaves(blocks(text))) {
    for (const line of raw.split("\n")) { // in a list or a quote, something stands before each
      const at = text.indexOf(line, from);
      if (at < 0) return made + escaped(text.slice(done));
      from = at + line.length;
      if (type !== "code" && type !== "codespan") continue;
      made += escaped(text.slice(done, at)) + line;
      done = from;
    }
  }
  return made + escaped(text.slice(done));
}

/** @param {any[]} tokens @returns {{ type: string, raw: string }[]} */
function leaves(tokens) {
  return tokens.flatMap((one) => {
    const inside = one.tokens ?? one.items ?? (one.rows && [one.header, ...one.rows].flat());
    return inside?.length ? leaves(inside) : one.raw ? [one] : [];
  });
}

/**
 * @param {string} text
 * @param {(numbers: string[]) => string} written
 */
export function withNumbers(text, written = (numbers) => ` [${numbers.join(", ")}]`) {
  return text.replace(MARK, (_, numbers) => written(numbers.split(",")));
}

/**
 * A text of a graph or a reader on one line of Markdown, in which it makes nothing: no link, form or
 * footnote.
 * @param {unknown} text
 */
function safe(text) {
  return onOneLine(plain(text)).replace(/[\\`*_{}[\]<>#|~&!$^@]/g, "\\$&")
    .replace(/:(?=\/\/)|(?<=\bwww)\./gi, "\\$&").replace(/^(?:[-+=]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
}

/**
 * Hand a text, or what a document holds, to the reader as a file.
 * @param {string} name
 * @param {string | ArrayBuffer} text
 * @param {string} [type]
 */
export function download(name, text, type = "text/markdown;charset=utf-8") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const way = document.createElement("a");
  way.href = address;
  way.download = name;
  way.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** @param {string} question @param {string} [ending] */
export function fileName(question, ending = "md") {
  const words = question.toLowerCase().normalize("NFKD").match(/[\p{L}\p{N}]+/gu) ?? [];
  return `${words.join("-").slice(0, 60) || "answer"}.${ending}`;
}
