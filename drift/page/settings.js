/**
 * What was chosen last in this browser: how far to look, and in which project.
 */
const KEPT = "drift.settings";

/** @returns {{ depth: string, project: string }} "" for what was never chosen */
export function lastTime() {
  try {
    const { depth, project } = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return { depth: String(depth ?? ""), project: String(project ?? "") };
  } catch {
    return { depth: "", project: "" }; // a browser that keeps nothing, or another page's words
  }
}

/** @param {{ depth: string, project: string }} chosen */
export function keepForNextTime({ depth, project }) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ depth, project }));
    localStorage.removeItem("drift.history"); // questions of pages before there were threads
  } catch {
    // then it is chosen anew next time
  }
}
