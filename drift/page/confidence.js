/**
 * How sure an answer and its references are, which a reader may hide.
 */
import { element } from "./elements.js";
import { percent, word } from "./words.js";

const KEPT = "drift.confidence";

/** @param {boolean} shown */
export function showConfidence(shown) {
  document.documentElement.classList.toggle("without-confidence", !shown);
  try {
    localStorage.setItem(KEPT, shown ? "shown" : "hidden");
  } catch {
    // then it is shown next time
  }
}

export function isShown() {
  return !document.documentElement.classList.contains("without-confidence");
}

export function showAsLastTime() {
  let kept = null;
  try {
    kept = localStorage.getItem(KEPT);
  } catch {
    // a browser that keeps nothing
  }
  document.documentElement.classList.toggle("without-confidence", kept === "hidden");
}

/**
 * @param {number | null} share
 * @param {string} [label]
 */
export function meter(share, label = "confidence.label") {
  if (share === null) return null;
  const steps = Math.round(share * 5);
  const bars = [1, 2, 3, 4, 5].map((step) => element("i", { class: step <= steps ? "on" : "" }));
  return element("span", { class: "meter confidence", title: word(label) },
    element("span", { class: "bars", "aria-hidden": "true" }, ...bars),
    element("span", { class: "for-readers" }, `${word(label)}: `), percent(share));
}
