/**
 * Ends of lines that a page made and no author: sentences go on over them, and so do words.
 */
import { lined } from "./elements.js";

/** Shorter lines were ended by their author, unless their paragraph is as narrow. */
const WRAPPED = 40, NARROW = 16;
/** Letters are not equally wide. */
const NEARLY = 0.9;
/** A word goes on behind its hyphen, but for one that stands for more ("Vor- und Nachteile"). */
const PARTED = /(?<=\p{Ll}{2})[-\u2010\u00ad][ \t]*\n\s*(?=\p{Ll}{2})(?!(?:and|bis|bzw|oder|or|ou|sowie|to|und)\b)/gu;
/** A hyphen that is not shown, in a text that stays as long as it was. */
const GONE = "\u00ad\n";

/**
 * Prose whose lines were wrapped for a narrower page, as whole lines: letter for letter as long, so
 * that places in it stay. Code between fences, lists, tables and headings keep their
 * lines.
 * @param {string} text
 */
export function unwrapped(text) {
  const lines = lined(text).split("\n");
  let isCode = false, whole = lines[0], width = widthFrom(lines, 0);
  for (let at = 1; at < lines.length; at += 1) {
    const before = lines[at - 1], next = lines[at];
    if (/^\s*(```|~~~)/.test(before)) isCode = !isCode;
    if (!before.trim()) width = widthFrom(lines, at);
    if (isCode || !goesOn(before, next, width)) whole += `\n${next}`;
    else if (`${before}\n${next}`.search(PARTED) === before.length - 1) whole = `${whole.slice(0, -1)}${GONE}${next}`;
    else whole += ` ${next}`;
  }
  return whole;
}

/**
 * How wide the paragraph is that begins at a line; endless where it is code, or no sentence goes on.
 * @param {string[]} lines @param {number} at
 */
function widthFrom(lines, at) {
  let width = 0, isProse = false;
  for (at += lines[at].trim() ? 0 : 1; at < lines.length && lines[at].trim(); at += 1) {
    isProse ||= width > 0 && /^\p{Ll}/u.test(lines[at]);
    width = /[;{}=<>|]|\w\(/.test(lines[at]) ? Infinity : Math.max(width, lines[at].length);
  }
  return isProse ? width * NEARLY : Infinity;
}

/**
 * Whether a line goes on in the next one: it is long, or the next word had no room in it.
 * @param {string} before @param {string} next @param {number} width of their paragraph
 */
function goesOn(before, next, width) {
  if (before.length >= WRAPPED) return /^[\p{L}\p{Pi}("]/u.test(next);
  return before.length >= NARROW && /^[\p{L}\p{Pi}\d("]/u.test(next) && before.length + 1 + next.split(" ", 1)[0].length > width;
}

/** What is seen of a text, or of a part of one, with its words whole. @param {string} text */
export function shown(text) {
  return text.replaceAll(GONE, "");
}

/** A quotation on one line, with its words whole. @param {unknown} text */
export function onOneLine(text) {
  return lined(text).replace(PARTED, "").replace(/\s+/g, " ").trim();
}
