/**
 * Where the things of a picture stand: forces of d3-force, a few steps a frame. Loaded when a
 * picture is opened.
 */

/**
 * @typedef {object} Thing
 * @property {string} id
 * @property {"passage" | "entity" | "community" | "around"} kind
 * @property {string} name
 * @property {string} [mark] a number that stands in it
 * @property {number} size its radius
 * @property {boolean} [isUsed] whether the search itself used it
 * @property {() => void} open
 *
 * @typedef {Thing & { x: number, y: number }} Placed
 * @typedef {{ source: string, target: string }} Edge
 * @typedef {{ source: Placed, target: Placed }} PlacedEdge
 * @typedef {{ things: Thing[], edges: Edge[] }} Graph
 */

/** Scripts that put themselves into `d3`, each behind those that it needs. */
const LIBRARIES = [["d3-dispatch", "d3-quadtree", "d3-timer"], ["d3-force"]];
const MOST_STEPS = 240;
const BUDGET_MS = 5;

/** Load the library; a second time it is there already. */
export async function loadForces() {
  for (const names of LIBRARIES) {
    await Promise.all(names.map((name) => import(new URL(`vendor/${name}/${name}.min.js`, import.meta.url).href)));
  }
}

export class Layout {
  /** @param {Graph} graph */
  constructor(graph) {
    const { d3 } = /** @type {any} */ (globalThis);
    /** @type {Placed[]} */
    this.things = graph.things.map((one) => ({ ...one, x: NaN, y: NaN }));
    const known = new Map(this.things.map((one) => [one.id, one]));
    /** @type {PlacedEdge[]} */
    this.edges = graph.edges.flatMap(({ source, target }) => {
      const from = known.get(source), to = known.get(target);
      return from && to && from !== to ? [{ source: from, target: to }] : [];
    });
    this.steps = 0;
    this.forces = d3.forceSimulation(this.things).stop().alphaDecay(0.028)
      .force("link", d3.forceLink(this.edges).distance((/** @type {PlacedEdge} */ one) => 46 + one.source.size + one.target.size))
      .force("apart", d3.forceManyBody().strength((/** @type {Placed} */ one) => -110 - one.size * 10).distanceMax(500))
      .force("across", d3.forceX().strength(0.05)).force("along", d3.forceY().strength(0.09))
      .force("room", d3.forceCollide((/** @type {Placed} */ one) => one.size + 4).iterations(2));
  }

  get isSettled() {
    return this.steps >= MOST_STEPS || this.forces.alpha() < this.forces.alphaMin();
  }

  /** Go on for a part of a frame. @param {number} most steps at once */
  step(most) {
    const began = performance.now();
    for (let done = 0; done < most && !this.isSettled; done += 1) {
      const spent = performance.now() - began;
      if (done && spent + spent / done > BUDGET_MS) break;
      this.forces.tick();
      this.steps += 1;
    }
  }
}
