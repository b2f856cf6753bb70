/**
 * What was chosen last in this browser: how far to look, in which project, how many passages a search
 * takes, and the page's colours, which `theme.js` shows first of all.
 */
import { byId } from "./elements.js";

const KEPT = "drift.settings";

/** @typedef {{ depth: string, project: string, passages: string, theme: string }} Chosen */

/** @returns {Chosen} "" for what was never chosen */
export function lastTime() {
  try {
    const { depth, project, passages, theme } = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return { depth: String(depth ?? ""), project: String(project ?? ""), passages: String(passages ?? ""), theme: String(theme ?? "") };
  } catch {
    return { depth: "", project: "", passages: "", theme: "" }; // a browser that keeps nothing, or another page's words
  }
}

/** @param {Partial<Chosen>} chosen what is left out stays as it is */
export function keepForNextTime(chosen) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...lastTime(), ...chosen }));
    localStorage.removeItem("drift.history"); // questions of pages before there were threads
  } catch {
    // then it is chosen anew next time
  }
}

/** How many passages a search takes, undefined for as many as is usual. */
export function passages() {
  return Number(/** @type {HTMLSelectElement} */ (byId("passages")).value) || undefined;
}

/** Show what was chosen last, and keep what is chosen. */
export function prepareSettings() {
  for (const name of /** @type {const} */ (["passages", "theme"])) {
    const place = /** @type {HTMLSelectElement} */ (byId(name)), { [name]: last } = lastTime();
    if ([...place.options].some((one) => one.value === last)) place.value = last;
    place.addEventListener("change", () => {
      keepForNextTime({ [name]: place.value });
      if (name === "theme") showTheme(place.value);
    });
  }
}

/** @param {string} theme "" for that of the system */
function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new Event("recolour")); // drawings have colours of their own
}
