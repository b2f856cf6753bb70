/**
 * Where words stand in a document: letter by letter, whatever its white space, its signs and the
 * forms of its letters are.
 */
import { element } from "./elements.js";

/** Letters of a beginning or an end that tell where words stand whose rest is told otherwise. */
const SOME = 48;
/** What the page itself puts between the words of others. */
const OURS = ".control, .host";

/** @param {string} text */
export function letters(text) {
  return text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/**
 * Return where words begin and end among letters, or null: all of them, else their beginning, else
 * their end; behind the beginning of their passage rather than before.
 * @param {string} all letters
 * @param {string} words
 * @param {string} [passage]
 * @returns {[number, number] | null}
 */
export function placeAmong(all, words, passage = "") {
  const wanted = letters(words), from = Math.max(0, all.indexOf(letters(passage).slice(0, SOME)));
  for (const one of [wanted, wanted.slice(0, SOME), wanted.slice(-SOME)]) {
    const behind = one ? all.indexOf(one, from) : -1, at = behind < 0 && one ? all.indexOf(one) : behind;
    if (at >= 0) return [at, at + one.length];
  }
  return null;
}

/**
 * Mark words in a tree, and tell whether they are there.
 * @param {Node} root
 * @param {string} words
 * @param {string} [passage]
 */
export function markWords(root, words, passage = "") {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const parts = /** @type {{ node: Text, from: number, to: number }[]} */ ([]);
  let all = "";
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode), from = all.length;
    if (!node.parentElement?.closest(OURS)) all += letters(node.data);
    if (all.length > from) parts.push({ node, from, to: all.length });
  }
  const [begin, end] = placeAmong(all, words, passage) ?? [0, 0];
  for (const { node, from, to } of parts) {
    if (from < end && to > begin) mark(node, begin - from, end - from);
  }
  return end > begin;
}

/** @param {Text} node @param {number} from letters of it @param {number} to */
function mark(node, from, to) {
  const range = document.createRange();
  let count = 0, at = 0, isInside = false;
  for (const one of node.data) {
    const before = count;
    count += letters(one).length;
    if (!isInside && count > Math.max(0, from)) range.setStart(node, at);
    isInside ||= count > Math.max(0, from);
    at += one.length;
    if (isInside && before < to && count > before) range.setEnd(node, at);
    if (count >= to) break;
  }
  range.surroundContents(element("mark"));
}
