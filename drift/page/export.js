/**
 * An answer as Markdown, with its references.
 */
import { blocks, MARK } from "./markdown.js";
import { plain, webAddress } from "./elements.js";
import { chipsIn } from "./filter_chips.js";
import { linesInWords, referred } from "./references.js";
import { dateTime, percent, told, word } from "./words.js";

/** @typedef {import("./references.js").Reference} Reference */

/**
 * @param {{ question: string, project: string, depth: string, chips?: unknown }} asked
 * @param {import("./references.js").Referred} answer
 * @param {string} uncertain
 * @param {number} when
 * @param {boolean} confidence whether it is told
 */
export function asMarkdown(asked, answer, uncertain, when, confidence) {
  const parts = [`# ${oneLine(asked.question)}`, withNumbers(inert(answer.text.trim()))];
  if (uncertain) parts.push(`**${word("answer.uncertain")}:** ${escaped(plain(uncertain))}`);
  for (const limit of answer.limits) parts.push(`- ${oneLine(limit)}`);
  for (const [title, items] of /** @type {const} */ ([["references.title", answer.items], ["references.near", answer.near]])) {
    if (items.length) parts.push(`## ${word(title)}`, items.map((one) => reference(one, confidence)).join("\n\n"));
  }
  const only = chipsIn(asked.chips).map(({ key, name }) => ` ${word(`filter.${key}`)} ${oneLine(name)}`).join(",");
  parts.push(`${word("ask.project")}: ${oneLine(asked.project)} · ${word(`depth.${asked.depth}`)} · ${dateTime(when)}${only && ` · ${word("filter.used")}${only}`}`);
  return `${parts.join("\n\n")}\n`;
}

/**
 * The answers of a thread, one after another.
 * @param {import("./thread_store.js").Kept[]} turns
 * @param {boolean} confidence whether it is told
 */
export function threadAsMarkdown(turns, confidence) {
  return turns.map((one) => {
    const answer = one.result && referred(one.result);
    const found = answer?.text.trim() ? answer : { text: word(one.result ? "answer.nothing" : "answer.unkept"), items: [], near: [], limits: [], confidence: null };
    return asMarkdown(one, found, told(one.result?.residual_uncertainty), one.when, confidence);
  }).join("\n---\n\n");
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/!(?=\[)/g, "&#33;").replace(/<(?=[a-z/!?])/gi, "&lt;");
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

/** @param {string} text */
export function withNumbers(text) {
  return text.replace(MARK, (_, numbers) => ` [${numbers.split(",").join(", ")}]`);
}

/** @param {Reference} one @param {boolean} confidence */
function reference(one, confidence) {
  const facts = [oneLine(one.title), oneLine(one.where), one.lines && linesInWords(one.lines),
    one.match !== null && confidence && word("references.match", { match: percent(one.match) }),
    webAddress(one.address)?.href].filter(Boolean);
  const quote = inert(plain(one.quote).trim()).split("\n").map((line) => `> ${line}`).join("\n");
  return `[${one.number}] ${facts.join(" · ")}${one.quote ? `\n\n${quote}` : ""}`;
}

/** @param {string} text of a graph, which could hold Markdown */
function oneLine(text) {
  return plain(text).replace(/\s+/g, " ").trim().replace(/([\\`*_[\]<>#|])/g, "\\$1");
}

/**
 * Hand a text, or what a document holds, to the reader as a file.
 * @param {string} name
 * @param {string | ArrayBuffer} text
 * @param {string} [type]
 */
export function download(name, text, type = "text/markdown") {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
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
