/**
 * The part of the graph that an answer stands on: its passages, the entities that they mention,
 * the communities of these, and what is around them. At most twelve reads, a few at a time; what
 * cannot be read is left out and counted.
 */
import { read } from "./api.js";
import { element, foreign, seen } from "./elements.js";
import { openPanel } from "./panel.js";
import { openEntity, openReference } from "./passage.js";
import { word } from "./words.js";

/** @typedef {import("./references.js").Reference} Reference */
/** @typedef {import("./graph_layout.js").Graph} Graph */
/** @typedef {import("./graph_layout.js").Thing} Thing */
/** @typedef {{ id: string, title: string, summary: string, level: number | null, parents?: any[] }} Community */

const MOST_PASSAGES = 8, MOST_ENTITIES_READ = 3, AT_ONCE = 3;
const MOST_ENTITIES = 40, MOST_COMMUNITIES = 12, MOST_AROUND = 6;

/**
 * @param {Reference[]} items
 * @param {any[]} used ids of communities that the search used
 * @param {string} project
 * @returns {Promise<{ graph: Graph, missing: number }>}
 */
export async function graphOf(items, used, project) {
  const cited = items.filter((one, at) => one.kind === "chunk" && items.findIndex((other) => other.id === one.id) === at).slice(0, MOST_PASSAGES);
  const of = project ? { project_id: project } : {};
  const chunks = await few(cited.map((one) => () => read(`chunks/${encodeURIComponent(one.id)}`, of)));
  const named = items.filter((one) => one.kind === "entity").map((one) => ({ id: one.id, title: one.title, communities: [] }));
  const mentioned = ranked([named, ...chunks.map((one) => one?.entities ?? [])]);
  const entities = await few(mentioned.slice(0, MOST_ENTITIES_READ).map(({ id }) => () => read(`entities/${encodeURIComponent(id)}`, { ...of, limit: 20 })));
  const listed = used.length && project ? await few([() => read(`projects/${encodeURIComponent(project)}/communities`, { limit: 100 })]) : [];
  const made = new Drawn(project, used);
  made.passages(cited, chunks);
  made.entities(mentioned, chunks, cited);
  made.around(entities);
  made.communities(items, chunks, listed[0]?.communities ?? [], mentioned);
  return { graph: { things: [...made.things.values()], edges: made.edges }, missing: [...chunks, ...entities, ...listed].filter((one) => !one).length };
}

/** Run reads a few at a time; one that fails gives null. @param {(() => Promise<any>)[]} reads */
async function few(reads) {
  /** @type {any[]} */
  const found = new Array(reads.length).fill(null);
  let next = 0;
  const line = async () => {
    for (let at = next++; at < reads.length; at = next++) found[at] = await reads[at]().catch(() => null);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, reads.length) }, line));
  return found;
}

/**
 * Pure: entities of several lists, those of most lists first.
 * @param {any[][]} lists
 * @returns {{ id: string, title: string, communities: any[], count: number }[]}
 */
export function ranked(lists) {
  const known = new Map();
  for (const one of lists.flat()) {
    const id = String(one.id), before = known.get(id);
    if (before) before.count += 1;
    else known.set(id, { id, title: String(one.title || one.id), communities: one.communities ?? [], count: 1 });
  }
  return [...known.values()].sort((a, b) => b.count - a.count || b.communities.length - a.communities.length).slice(0, MOST_ENTITIES);
}

class Drawn {
  /** @param {string} project @param {any[]} used */
  constructor(project, used) {
    this.project = project;
    this.used = new Set(used.map(String));
    /** @type {Map<string, Thing>} */
    this.things = new Map();
    /** @type {Graph["edges"]} */
    this.edges = [];
    this.joined = new Set();
  }

  /** @param {string} source @param {string} target */
  join(source, target) {
    const name = [source, target].sort().join("\n");
    if (source === target || this.joined.has(name) || !this.things.has(source) || !this.things.has(target)) return;
    this.joined.add(name);
    this.edges.push({ source, target });
  }

  /** @param {Reference[]} cited @param {any[]} chunks */
  passages(cited, chunks) {
    cited.forEach((one, at) => {
      const names = [one.title || chunks[at]?.document?.name || one.id, String(chunks[at]?.heading ?? "").split(" > ").at(-1)];
      this.things.set(`p ${one.id}`, {
        id: `p ${one.id}`, kind: "passage", name: [...new Set(names)].filter(Boolean).join(" · "), mark: String(one.number), size: 11,
        open: () => void openReference(one, this.project),
      });
    });
  }

  /** @param {ReturnType<typeof ranked>} mentioned @param {any[]} chunks @param {Reference[]} cited */
  entities(mentioned, chunks, cited) {
    for (const { id, title, count } of mentioned) this.entity(id, title, "entity", 5 + Math.min(7, count * 1.5));
    chunks.forEach((chunk, at) => {
      for (const one of chunk?.entities ?? []) this.join(`p ${cited[at].id}`, `e ${one.id}`);
    });
  }

  /** @param {string} id @param {string} title @param {Thing["kind"]} kind @param {number} size */
  entity(id, title, kind, size) {
    this.things.set(`e ${id}`, { id: `e ${id}`, kind, name: title || id, size, open: () => void openEntity(id, this.project, title || id) });
  }

  /** What the entities that were read are related to. @param {any[]} entities */
  around(entities) {
    for (const one of entities.filter(Boolean)) {
      let fresh = 0;
      for (const relation of one.relations ?? []) {
        const name = `e ${relation.entity_id}`;
        if (!this.things.has(name) && fresh++ < MOST_AROUND) this.entity(String(relation.entity_id), String(relation.title ?? ""), "around", 4);
        this.join(`e ${one.id}`, name);
      }
    }
  }

  /** @param {Reference[]} items @param {any[]} chunks @param {any[]} listed @param {ReturnType<typeof ranked>} mentioned */
  communities(items, chunks, listed, mentioned) {
    /** @type {Map<string, Community>} */
    const known = new Map();
    for (const one of items) if (one.kind === "community") known.set(one.id, { id: one.id, title: one.title, summary: one.quote, level: null });
    for (const one of listed) if (this.used.has(String(one.id))) known.set(String(one.id), one);
    for (const one of chunks.flatMap((chunk) => chunk?.communities ?? [])) if (!known.has(String(one.id))) known.set(String(one.id), one);
    const parents = new Map(listed.map((one) => [String(one.id), (one.parents ?? []).map(String)]));
    const first = [...known.values()].sort((a, b) => Number(this.used.has(String(b.id))) - Number(this.used.has(String(a.id)))).slice(0, MOST_COMMUNITIES);
    for (const one of first) this.community(one);
    for (const one of mentioned) for (const id of one.communities) this.join(`e ${one.id}`, `c ${id}`);
    for (const one of first) for (const parent of parents.get(String(one.id)) ?? []) this.join(`c ${one.id}`, `c ${parent}`);
    chunks.forEach((chunk) => {
      const inside = new Set((chunk?.entities ?? []).flatMap((/** @type {any} */ one) => one.communities.map(String)));
      for (const one of chunk?.communities ?? []) if (!inside.has(String(one.id))) this.join(`p ${chunk.id}`, `c ${one.id}`);
    });
  }

  /** @param {Community} one */
  community(one) {
    const id = String(one.id), title = String(one.title || String(one.summary ?? "").slice(0, 60) || `${word("picture.community")} ${id}`);
    this.things.set(`c ${id}`, {
      id: `c ${id}`, kind: "community", name: title, size: 9 + 2 * Math.min(3, Number(one.level) || 0), isUsed: this.used.has(id),
      open: () => void openPanel({ title, load: async () => element("div", { class: "passage" },
        element("p", { class: "facts" }, word("picture.community")), element("div", { class: "text", dir: "auto" }, one.summary ? seen(one.summary) : foreign(title))) }),
    });
  }
}

