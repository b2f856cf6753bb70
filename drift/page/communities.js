/**
 * A project as a whole, for who has just filled it: its communities from the widest to the
 * narrowest, with their sizes and summaries.
 */
import { read } from "./api.js";
import { add, element, foreign, seen } from "./elements.js";
import { picturePlace } from "./picture_place.js";
import { counted, number, word } from "./words.js";

/**
 * @typedef {{ id: string, level: number, title: string, summary: string, members: number, parents: string[] }} Community
 * @typedef {{ community: Community, below: Nested[] }} Nested
 */

const MOST_PAGES = 10;
const MOST_LEVELS = 8;
/** So many have room for their names. */
const MOST_DRAWN = 24;
const MOST_FOUND = 30;

/** What the panel shows of a project. @param {string} project @param {AbortSignal} signal */
export async function communitiesOf(project, signal) {
  return view(await all(project, signal));
}

/** @param {string} project @param {AbortSignal} signal */
async function all(project, signal) {
  /** @type {Community[]} */
  const communities = [];
  let cursor = null, page = 0;
  do {
    const found = await read(`projects/${encodeURIComponent(project)}/communities`, { limit: 100, cursor }, signal);
    communities.push(...found.communities.map(asCommunity));
    cursor = found.next;
    page += 1;
  } while (cursor && page < MOST_PAGES);
  return { communities, isAll: !cursor };
}

/** @param {any} one @returns {Community} */
function asCommunity(one) {
  return {
    id: String(one.id), level: Number(one.level ?? 0), title: String(one.title || one.id), summary: String(one.summary ?? ""),
    members: Number(one.members) || 0, parents: (one.parents ?? []).map(String),
  };
}

/**
 * Pure: the communities below those that they are in, the largest first; what is in none that is
 * known, or in itself, stands at the top.
 * @param {Community[]} communities
 * @returns {Nested[]}
 */
export function nested(communities) {
  const known = new Map(communities.map((one) => [one.id, { community: one, below: /** @type {Nested[]} */ ([]) }]));
  /** @type {Nested[]} */
  const top = [];
  for (const one of known.values()) {
    const parent = one.community.parents.map((id) => known.get(id)).find((other) => other && other.community.level > one.community.level);
    (parent?.below ?? top).push(one);
  }
  for (const list of [top, ...[...known.values()].map((one) => one.below)]) {
    list.sort((a, b) => b.community.level - a.community.level || b.community.members - a.community.members);
  }
  return top;
}

/** @param {{ communities: Community[], isAll: boolean }} found */
function view({ communities, isAll }) {
  const made = element("div", { class: "passage" });
  if (!communities.length) return element("p", {}, word("communities.none"));
  const most = communities.reduce((sum, one) => Math.max(sum, one.members), 1);
  /** @type {Map<string, HTMLDetailsElement>} */
  const rows = new Map();
  const list = element("ul", { class: "communities" }, ...nested(communities).map((one) => row(one, most, 0, rows)));
  add(made, element("p", { class: "facts" }, word("communities.about")),
    communities.length > 1 && picturePlace(word("picture.project"), async () => drawn(communities, most, rows)),
    communities.length > MOST_DRAWN && finder(communities, rows), list,
    !isAll && element("p", { class: "facts" }, word("communities.more", { count: communities.length })));
  return made;
}

/**
 * The communities as a picture, each as large as what is in it, and next to what it is in: of many
 * the first of the hierarchy, so that it can be read.
 * @param {Community[]} communities
 * @param {number} most
 * @param {Map<string, HTMLDetailsElement>} rows where each one is read
 */
async function drawn(communities, most, rows) {
  const { picture } = await import("./picture.js"), shown = first(communities, MOST_DRAWN), top = shown[0].level;
  const things = shown.map((one) => ({
    id: one.id, kind: /** @type {const} */ ("community"), name: one.title, isUsed: top > 0 && one.level === top,
    size: 4 + 18 * Math.sqrt(one.members / most), open: () => show(rows, one.id),
  }));
  const edges = shown.flatMap((one) => one.parents.map((parent) => ({ source: one.id, target: parent })));
  const made = await picture({ things, edges }, { hasList: false });
  if (shown.length === communities.length) return made;
  return element("div", {}, made, element("p", { class: "facts" }, word("communities.drawn", { count: number(shown.length), all: number(communities.length) })));
}

/**
 * Pure: the first communities of the hierarchy, the widest level first and the largest of each.
 * @param {Community[]} communities
 * @param {number} most
 */
export function first(communities, most) {
  return [...communities].sort((a, b) => b.level - a.level || b.members - a.members).slice(0, most);
}

/**
 * A field that finds communities by words of their title or summary; what is found opens in the list.
 * @param {Community[]} communities
 * @param {Map<string, HTMLDetailsElement>} rows
 */
function finder(communities, rows) {
  const words = communities.map((one) => ({ one, text: `${one.title}\n${one.summary}`.toLocaleLowerCase() }));
  const found = element("ul", { class: "found" }), count = element("p", { class: "facts", role: "status" });
  const look = (/** @type {Event} */ event) => {
    const wanted = /** @type {HTMLInputElement} */ (event.target).value.trim().toLocaleLowerCase();
    const hits = wanted ? words.filter(({ text }) => text.includes(wanted)) : [];
    hits.sort((a, b) => Number(b.one.title.toLocaleLowerCase().includes(wanted)) - Number(a.one.title.toLocaleLowerCase().includes(wanted)) || b.one.members - a.one.members);
    count.textContent = wanted ? counted("communities.found", hits.length) : "";
    found.replaceChildren(...hits.slice(0, MOST_FOUND).map(({ one }) =>
      element("li", {}, element("button", { type: "button", class: "row", onclick: () => show(rows, one.id) }, foreign(one.title)))));
  };
  return element("div", { class: "finder" }, element("label", {}, element("span", { class: "for-readers" }, word("communities.find")),
    element("input", { type: "search", placeholder: word("communities.find"), dir: "auto", oninput: look })), count, found);
}

/** Open a community in the list, and go there. @param {Map<string, HTMLDetailsElement>} rows @param {string} id */
function show(rows, id) {
  const found = rows.get(id);
  for (let at = found?.parentElement; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
  if (!found) return;
  found.open = true;
  const summary = found.querySelector("summary");
  summary?.focus({ preventScroll: true });
  summary?.scrollIntoView({ block: "center" });
}

/** @param {Nested} one @param {number} most @param {number} level @param {Map<string, HTMLDetailsElement>} rows */
function row({ community, below }, most, level, rows) {
  const bar = element("i", { class: "size", "aria-hidden": "true" });
  bar.style.inlineSize = `${Math.max(2, Math.round(community.members / most * 100))}%`;
  const made = element("details", {}, element("summary", {}, element("span", {}, foreign(community.title)),
    element("span", { class: "facts" }, counted("communities.members", community.members)), bar),
  element("div", { class: "text", dir: "auto" }, seen(community.summary)));
  if (below.length && level < MOST_LEVELS) add(made, element("ul", { class: "communities" }, ...below.map((other) => row(other, most, level + 1, rows))));
  rows.set(community.id, made);
  return element("li", {}, made);
}
