/**
 * An answer as it is written: only its last block is shown anew when more of it comes.
 */
import { blocks, showBlocks } from "./markdown.js";

/** @typedef {import("./markdown.js").Mark} Mark */

/** Blocks that are shown in one go; the rest waits for the next frame. */
const MOST_AT_ONCE = 60;

/** With one way to end a line, as it is read. @param {string} text */
const lines = (text) => text.replaceAll("\r\n", "\n");

export class AnswerText {
  /**
   * @param {HTMLElement} place
   * @param {Mark} mark
   */
  constructor(place, mark) {
    this.place = place;
    this.mark = mark;
    this.whole = "";
    this.shown = 0;
    this.frame = 0;
    /** @type {HTMLElement | null} the last block, which may still grow */
    this.last = null;
  }

  /** @param {string} text what comes next */
  append(text) {
    this.whole = lines(this.whole + text);
    this.soon();
  }

  /** @param {string} text all of it, in place of what was told */
  replace(text) {
    text = lines(text);
    if (text.startsWith(this.whole)) return this.append(text.slice(this.whole.length));
    this.whole = text;
    this.shown = 0;
    this.last = null;
    this.place.replaceChildren();
    this.soon();
  }

  soon() {
    this.frame ||= requestAnimationFrame(() => this.grow());
  }

  /** Show no more of it: something else takes its place. */
  end() {
    cancelAnimationFrame(this.frame);
    this.place.replaceChildren();
  }

  /** Show what is new: blocks that have ended, and the last one, which may still grow. */
  grow() {
    cancelAnimationFrame(this.frame); // what is shown now would be shown anew, and lose the focus
    this.frame = 0;
    const found = blocks(this.whole.slice(this.shown));
    const now = found.slice(0, MOST_AT_ONCE);
    const isAll = now.length === found.length;
    const ended = isAll ? now.slice(0, -1) : now;
    this.last?.remove();
    this.last = null;
    showBlocks(this.place, ended, this.mark);
    this.shown += ended.reduce((sum, one) => sum + one.raw.length, 0);
    if (!isAll) return this.soon();

    const last = now.at(-1);
    if (!last) return undefined;
    const growing = document.createElement("div");
    showBlocks(growing, [last], this.mark);
    this.last = growing;
    this.place.append(growing);
    return undefined;
  }
}
