/**
 * A picture of a part of the graph, with the list of the same things beside it. Loaded when it is
 * opened, with the library that finds the places.
 */
import { add, button, element, foreign } from "./elements.js";
import { GraphCanvas } from "./graph_canvas.js";
import { hearGestures } from "./graph_gestures.js";
import { Layout, loadForces } from "./graph_layout.js";
import { counted, word } from "./words.js";

/** @typedef {import("./graph_layout.js").Graph} Graph */
/** @typedef {import("./graph_layout.js").Placed} Placed */
/** @typedef {import("./graph_layout.js").Thing} Thing */

const KINDS = /** @type {const} */ (["passage", "entity", "community", "around"]);
const ZOOM_STEP = 1.4;
const STEPS_A_FRAME = 2, STEPS_UNSEEN = 100;

/**
 * Return a picture, which begins to find its places when it stands in the page.
 * @param {Graph} graph
 * @param {{ hasList: boolean }} options without a list, the page has the same things elsewhere
 */
export async function picture(graph, { hasList }) {
  await loadForces();
  return new Picture(graph, hasList).view;
}

class Picture {
  /** @param {Graph} graph @param {boolean} hasList */
  constructor(graph, hasList) {
    const counts = KINDS.map((kind) => ({ kind, count: graph.things.filter((one) => one.kind === kind).length })).filter(({ count }) => count);
    const told = counts.map(({ kind, count }) => counted(`picture.count.${kind}`, count)).join(", ");
    this.canvas = element("canvas", { role: "img", "aria-label": word("picture.label", { things: told }) });
    this.layout = new Layout(graph);
    /** @type {Map<string, HTMLElement>} */
    this.rows = new Map();
    this.isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.wasMoved = false;
    this.frame = 0;
    const tools = element("div", { class: "picture-tools" },
      this.tool("+", "picture.nearer", () => this.drawing.zoomBy(ZOOM_STEP)),
      this.tool("−", "picture.farther", () => this.drawing.zoomBy(1 / ZOOM_STEP)),
      this.tool("⤢", "picture.whole", () => this.drawing.fit()));
    const frame = element("div", { class: "picture-frame" }, this.canvas, tools);
    this.view = element("div", { class: hasList ? "picture-view has-list" : "picture-view" }, frame);
    if (hasList) add(this.view, this.list(counts.map(({ kind }) => kind)));
    this.drawing = new GraphCanvas(this.canvas, this.layout.things, this.layout.edges);
    this.watch();
  }

  /** @param {string} sign @param {string} name @param {() => void} change */
  tool(sign, name, change) {
    const made = button(sign, () => {
      this.wasMoved = name !== "picture.whole";
      change();
      this.ask();
    }, "small");
    made.setAttribute("aria-label", word(name));
    made.title = word(name);
    return made;
  }

  /** @param {Thing["kind"][]} kinds */
  list(kinds) {
    const made = element("div", { class: "picture-list" });
    for (const kind of kinds) {
      const things = this.layout.things.filter((one) => one.kind === kind);
      add(made, element("h3", {}, element("i", { class: `shape is-${kind}`, "aria-hidden": "true" }), word(`picture.kind.${kind}`)),
        element("ul", {}, ...things.map((one) => element("li", {}, this.row(one)))));
    }
    return made;
  }

  /** @param {Placed} one */
  row(one) {
    const look = (/** @type {Placed | null} */ near) => () => this.look(near);
    const made = element("button", { type: "button", class: "row", onclick: one.open, onfocus: look(one), onblur: look(null), onpointerenter: look(one), onpointerleave: look(null) },
      one.mark && element("span", { class: "facts" }, `${one.mark} · `), foreign(one.name),
      one.isUsed && element("span", { class: "facts" }, ` · ${word("picture.used")}`));
    this.rows.set(one.id, made);
    return made;
  }

  watch() {
    hearGestures(this.canvas, {
      move: (across, down) => this.moved(() => this.drawing.move(across, down)),
      zoom: (factor, x, y) => this.moved(() => this.drawing.zoomBy(factor, x, y)),
      press: (x, y) => this.press(this.drawing.at(x, y)),
      pass: (x, y) => this.look(this.drawing.at(x, y)),
      leave: () => this.look(null),
    });
    new ResizeObserver(() => {
      this.drawing.resize();
      this.ask();
    }).observe(this.canvas);
    const gone = new AbortController();
    for (const teller of [matchMedia("(prefers-color-scheme: dark)"), document]) {
      teller.addEventListener(teller === document ? "recolour" : "change", () => {
        if (!this.canvas.isConnected) return gone.abort();
        this.drawing.recolour();
        return this.ask();
      }, { signal: gone.signal });
    }
  }

  /** @param {() => void} change */
  moved(change) {
    this.wasMoved = true;
    change();
    this.ask();
  }

  /** @param {Placed | null} thing */
  look(thing) {
    if (this.drawing.near === thing) return;
    this.drawing.near = thing;
    this.canvas.classList.toggle("is-over", thing !== null);
    this.ask();
  }

  /** What is opened is left to its row in the list, where there is one. @param {Placed | null} thing */
  press(thing) {
    if (!thing) return;
    this.rows.get(thing.id)?.focus({ preventScroll: true });
    thing.open();
  }

  ask() {
    this.frame ||= requestAnimationFrame(() => this.show());
  }

  /** A frame: some steps towards the places, then the picture; for who wants calm the end alone. */
  show() {
    this.frame = 0;
    if (!this.canvas.isConnected || !this.canvas.clientWidth) return;
    const { layout, drawing } = this;
    if (!layout.isSettled) {
      this.ask();
      layout.step(this.isCalm ? STEPS_UNSEEN : STEPS_A_FRAME);
      if (this.isCalm && !layout.isSettled) return;
    }
    if (!this.wasMoved) drawing.fit();
    drawing.draw();
    this.canvas.dataset.settled = String(layout.isSettled);
  }
}
