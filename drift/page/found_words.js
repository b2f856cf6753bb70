/**
 * Where words stand in a document: letter by letter, whatever its white space, its signs and the
 * forms of its letters are.
 */
import { element } from "./elements.js";

/** Letters of a beginning or an end that tell where words stand whose rest is told otherwise. */
const SOME = 48;

/** @param {string} text */
export function letters(text) {
  return text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

/**
 * Where words begin and end among letters, or null: all of them, else their beginning, else their
 * end; behind the beginning of their passage rather than before it.
 * @param {string} all letters @param {string} words @param {string} [passage]
 */
export function placeAmong(all, words, passage = "") {
  const wanted = letters(words), from = Math.max(0, all.indexOf(letters(passage).slice(0, SOME)));
  for (const one of [wanted, wanted.slice(0, SOME), wanted.slice(-SOME)].filter(Boolean)) {
    const behind = all.indexOf(one, from), at = behind < 0 ? all.indexOf(one) : behind;
    if (at >= 0) return [at, at + one.length];
  }
  return null;
}

/**
 * Mark words in a tree, and tell whether they are there. What the page itself puts between is none.
 * @param {Node} root @param {string} words @param {string} [passage]
 */
export function markWords(root, words, passage = "") {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), parts = /** @type {[Text, number][]} */ ([]);
  let all = "";
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.parentElement?.closest(".control, .host")) continue;
    parts.push([node, all.length]);
    all += letters(node.data);
  }
  const place = placeAmong(all, words, passage);
  if (place) for (const [node, from] of parts) mark(node, place[0] - from, place[1] - from);
  return place !== null;
}

/** @param {Text} node @param {number} from letters of it @param {number} to */
function mark(node, from, to) {
  const isHere = to > 0 && from < node.data.length;
  let count = 0, at = 0, begin = -1, end = 0;
  for (const one of isHere ? node.data : "") {
    const more = letters(one).length;
    if (more && count >= from && count < to) [begin, end] = [begin < 0 ? at : begin, at + one.length];
    count += more;
    at += one.length;
  }
  if (begin < 0) return;
  const range = document.createRange(); // one for each node would slow every change of the page
  range.setStart(node, begin);
  range.setEnd(node, end);
  range.surroundContents(element("mark"));
}
