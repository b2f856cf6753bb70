/**
 * A picture of things and edges on a canvas: drawn from colours of the style sheet, moved and
 * zoomed. It has no words for readers of the screen; a list beside it has the same things.
 */
import { plain } from "./elements.js";

/** @typedef {import("./graph_layout.js").Placed} Placed */
/** @typedef {import("./graph_layout.js").PlacedEdge} PlacedEdge */

const COLOURS = ["card", "ink", "soft", "line", "edge", "green", "on-green", "pale", "amber", "amber-pale"];
/** Edges by what they lead to, in their order of drawing. */
const GROUPS = [["entity", "edge"], ["community", "amber"], ["passage", "green"]];
const MARGIN = 36;
const LEAST_ZOOM = 0.08, MOST_ZOOM = 5;
const LONGEST_NAME = 26, MOST_TRIED = 90, ROOM_OF_A_NAME = 6500;
const MOST_FITTED = 2;
const SMALLEST = 2.5;
const RIGHTWARDS = /[\u0591-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

export class GraphCanvas {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Placed[]} things
   * @param {PlacedEdge[]} edges
   */
  constructor(canvas, things, edges) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.things = things;
    this.edges = edges;
    this.groups = GROUPS.map(([kind, colour]) => ({ colour, edges: edges.filter((one) => kindOf(one) === kind) }));
    this.bySize = [...things].sort((a, b) => Number(b.isUsed ?? false) - Number(a.isUsed ?? false) || b.size - a.size);
    this.names = new Map(things.map((one) => [one, cut(plain(one.name))]));
    /** @type {Map<Placed, number>} */
    this.widths = new Map();
    /** @type {Placed | null} */
    this.near = null;
    this.zoom = 1;
    this.x = 0;
    this.y = 0;
    this.width = 0;
    this.height = 0;
    /** @type {Record<string, string>} */
    this.colours = {};
    this.font = "sans-serif";
  }

  /** Take the colours that the page has now. */
  recolour() {
    const style = getComputedStyle(this.canvas); // which says what a colour is now, where it is one of something
    this.colours = Object.fromEntries(COLOURS.map((name) => {
      this.canvas.style.color = `var(--${name})`;
      return [name, style.color];
    }));
    this.font = style.fontFamily;
  }

  /** Take the size and the colours that the page gives. */
  resize() {
    this.recolour();
    const { width, height } = this.canvas.getBoundingClientRect(), sharp = Math.min(3, devicePixelRatio || 1);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * sharp);
    this.canvas.height = Math.round(height * sharp);
    this.pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  }

  /** Show all of it. */
  fit() {
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (const { x, y, size } of this.things) {
      left = Math.min(left, x - size);
      right = Math.max(right, x + size);
      top = Math.min(top, y - size);
      bottom = Math.max(bottom, y + size);
    }
    if (!(right >= left)) return;
    const zoom = Math.min((this.width - 2 * MARGIN) / (right - left), (this.height - 2 * MARGIN) / (bottom - top), MOST_FITTED);
    this.zoom = Math.max(LEAST_ZOOM, zoom);
    this.x = this.width / 2 - (left + right) / 2 * this.zoom;
    this.y = this.height / 2 - (top + bottom) / 2 * this.zoom;
  }

  /** @param {number} across @param {number} down pixels */
  move(across, down) {
    this.x += across;
    this.y += down;
  }

  /** Zoom around a point that stays where it is. @param {number} factor @param {number} [x] @param {number} [y] */
  zoomBy(factor, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, this.zoom * factor)), change = zoom / this.zoom;
    this.x = x - (x - this.x) * change;
    this.y = y - (y - this.y) * change;
    this.zoom = zoom;
  }

  /** Return what is under a point, the nearest of several. @param {number} x @param {number} y */
  at(x, y) {
    let found = null, least = Infinity;
    for (const one of this.things) {
      const distance = Math.hypot(one.x * this.zoom + this.x - x, one.y * this.zoom + this.y - y);
      if (distance < Math.max(11, this.radius(one) + 3) && distance < least) [found, least] = [one, distance];
    }
    return found;
  }

  /** Where a thing stands on the canvas, and its radius there. @param {Placed} one */
  place(one) {
    return { x: one.x * this.zoom + this.x, y: one.y * this.zoom + this.y, radius: this.radius(one) };
  }

  /** @param {Placed} one */
  radius(one) {
    return Math.max(SMALLEST, one.size * Math.min(1.4, this.zoom));
  }

  draw() {
    this.pen.clearRect(0, 0, this.width, this.height);
    const beside = this.beside();
    this.pen.globalAlpha = this.near ? 0.25 : 0.5;
    for (const { edges, colour } of this.groups) this.drawEdges(edges, colour, 1);
    this.pen.globalAlpha = 1;
    if (this.near) this.drawEdges(this.edges.filter((one) => one.source === this.near || one.target === this.near), "green", 1.6);
    for (const one of this.things) this.drawThing(one, !this.near || beside.has(one));
    this.pen.globalAlpha = 1;
    this.drawNames(beside);
  }

  /** Return the thing that is looked at, and what it has an edge to. */
  beside() {
    const found = new Set(this.near ? [this.near] : []);
    for (const { source, target } of this.near ? this.edges : []) {
      if (source === this.near) found.add(target);
      if (target === this.near) found.add(source);
    }
    return found;
  }

  /** @param {PlacedEdge[]} edges @param {string} colour @param {number} width */
  drawEdges(edges, colour, width) {
    const { pen, zoom, x, y } = this;
    pen.beginPath();
    for (const { source, target } of edges) {
      pen.moveTo(source.x * zoom + x, source.y * zoom + y);
      pen.lineTo(target.x * zoom + x, target.y * zoom + y);
    }
    pen.strokeStyle = this.colours[colour];
    pen.lineWidth = width;
    pen.stroke();
  }

  /** @param {Placed} one @param {boolean} isClear */
  drawThing(one, isClear) {
    const { pen, colours } = this, { x, y, radius } = this.place(one);
    if (x < -radius || y < -radius || x > this.width + radius || y > this.height + radius) return;
    pen.globalAlpha = isClear ? 1 : 0.3;
    pen.beginPath();
    if (one.kind === "passage") pen.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, radius * 0.45);
    else pen.arc(x, y, radius, 0, 2 * Math.PI);
    const [inside, around] = look(one);
    pen.fillStyle = colours[inside];
    pen.fill();
    pen.strokeStyle = colours[one === this.near ? "ink" : around];
    pen.lineWidth = one === this.near ? 2.5 : one.isUsed ? 2 : 1.2;
    pen.stroke();
    if (!one.mark || radius < 6) return;
    pen.fillStyle = colours["on-green"];
    pen.font = `600 ${Math.min(12, radius * 1.1)}px ${this.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(one.mark, x, y + 0.5);
  }

  /**
   * Write the names of the largest that have room, beside other names and over no other thing; that
   * of what is looked at always.
   * @param {Set<Placed>} beside
   */
  drawNames(beside) {
    const { pen } = this;
    pen.font = `12px ${this.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    pen.lineJoin = "round";
    /** @type {[number, number, number, number][]} */
    const taken = [];
    const wanted = this.near ? [this.near, ...[...beside].filter((one) => one !== this.near)] : this.bySize;
    const most = this.width * this.height / ROOM_OF_A_NAME, places = this.things.map((one) => ({ one, ...this.place(one) }));
    for (const one of wanted.slice(0, MOST_TRIED)) {
      if (taken.length >= most) break;
      const { x, y, radius } = this.place(one), name = this.names.get(one) ?? "", half = this.wide(one, name) / 2 + 3;
      if (x < -radius || x > this.width + radius || y < -radius || y > this.height + radius) continue;
      const middle = Math.min(Math.max(x, half), this.width - half);
      // below it, else above it
      const top = [y + radius + 2, y - radius - 16].find((up) => up >= 0 && up + 15 <= this.height && taken.every((other) =>
        middle + half < other[0] || middle - half > other[2] || up + 15 < other[1] || up > other[3]) && places.every((other) => other.one === one
        || middle + half < other.x - other.radius || middle - half > other.x + other.radius || up + 13 < other.y - other.radius || up + 1 > other.y + other.radius));
      if (top === undefined && one !== this.near) continue;
      const place = top ?? Math.min(y + radius + 2, this.height - 15);
      taken.push([middle - half, place, middle + half, place + 15]);
      this.write(one, name, middle, place);
    }
  }

  /** @param {Placed} one @param {string} name @param {number} x @param {number} y */
  write(one, name, x, y) {
    const { pen, colours } = this;
    pen.direction = RIGHTWARDS.test(name) ? "rtl" : "ltr";
    pen.strokeStyle = colours.card;
    pen.lineWidth = 3.5;
    pen.strokeText(name, x, y);
    pen.fillStyle = colours[one.kind === "around" && one !== this.near ? "soft" : "ink"];
    pen.fillText(name, x, y);
  }

  /** @param {Placed} one @param {string} name */
  wide(one, name) {
    const known = this.widths.get(one) ?? this.pen.measureText(name).width;
    this.widths.set(one, known);
    return known;
  }
}

/** What an edge leads to. @param {PlacedEdge} edge */
function kindOf({ source, target }) {
  if (source.kind === "community" || target.kind === "community") return "community";
  return source.kind === "passage" || target.kind === "passage" ? "passage" : "entity";
}

/** The colours inside and around a thing. @param {Placed} one @returns {[string, string]} */
function look(one) {
  if (one.kind === "passage") return ["green", "green"];
  if (one.kind === "community") return [one.isUsed ? "amber" : "amber-pale", "amber"];
  return one.kind === "entity" ? ["pale", "green"] : ["card", "edge"];
}

/** @param {string} name */
function cut(name) {
  const letters = [...name.slice(0, 4 * LONGEST_NAME).replace(/\s+/g, " ")];
  return letters.length <= LONGEST_NAME ? letters.join("") : `${letters.slice(0, LONGEST_NAME - 1).join("").trimEnd()}…`;
}
