/**
 * The panel beside the answer: what is read there, with a way back, and the focus where it was.
 */
import { byId, element, plain } from "./elements.js";
import { word } from "./words.js";
import { problemView } from "./problems.js";

/** @typedef {{ title: string, load: (signal: AbortSignal) => Promise<Node> }} Shown */

/** @type {Shown[]} */
let opened = [];
/** @type {HTMLElement | null} */
let cameFrom = null;
let loading = new AbortController();

const panel = () => /** @type {HTMLDialogElement} */ (byId("panel"));

export function preparePanel() {
  byId("panel-close").addEventListener("click", closePanel);
  byId("panel-back").addEventListener("click", () => {
    opened.pop();
    void show();
  });
  panel().addEventListener("close", closed);
  // a dialog beside the page does not hear Escape by itself
  panel().addEventListener("keydown", (event) => {
    if (event.key === "Escape") closePanel();
  });
}

function closed() {
  // told a little later: it may be open again by then
  if (panel().open) return;
  loading.abort();
  opened = [];
  document.body.classList.remove("has-panel");
  byId("panel-body").replaceChildren();
  if (cameFrom?.isConnected) cameFrom.focus();
  cameFrom = null;
}

/**
 * Open the panel with something, or go on to it from what is open.
 * @param {Shown} shown
 * @param {boolean} [isInstead] whether it takes the place of what is open
 */
export async function openPanel(shown, isInstead = false) {
  // not every browser gives the focus to a button that is clicked
  const pressed = window.event?.currentTarget, at = pressed instanceof HTMLButtonElement ? pressed : document.activeElement;
  if (!panel().contains(at)) {
    opened = [];
    cameFrom = at instanceof HTMLElement ? at : null;
  }
  if (isInstead) opened.pop();
  opened.push(shown);
  if (!panel().open) {
    // on a narrow screen it covers the page, so nothing behind it can be reached
    if (matchMedia("(max-width: 60rem)").matches) panel().showModal();
    else panel().show();
    document.body.classList.add("has-panel");
  }
  await show();
}

export function closePanel() {
  if (!panel().open) return;
  panel().close();
  // now, not with the event: by then the reader may have gone on to something else
  closed();
}

async function show() {
  const shown = opened.at(-1);
  if (!shown) return closePanel();
  loading.abort();
  loading = new AbortController();
  const { signal } = loading, body = byId("panel-body");
  byId("panel-back").hidden = opened.length < 2;
  byId("panel-title").textContent = plain(shown.title);
  body.replaceChildren(element("p", { class: "busy" }, word("panel.loading")));
  byId("panel-title").focus();
  try {
    const content = await shown.load(signal);
    if (signal.aborted) return undefined;
    body.replaceChildren(content);
    body.scrollTop = 0;
    body.querySelector("mark")?.scrollIntoView({ block: "center" });
  } catch (error) {
    if (!signal.aborted) body.replaceChildren(problemView(error, { again: () => void show() }));
  }
  return undefined;
}
