/**
 * Which documents a question may use: chips above its box, which go with it as the filter.
 */
import { button, byId, element, foreign, plain } from "./elements.js";
import { word } from "./words.js";

/** @typedef {{ key: string, value: string, name: string }} Chip a key of the filter, what is asked of it, and how that is called */

/** So many the service takes of each; chips of one key are any of these, those of different keys all of them. */
const MOST = /** @type {Record<string, number>} */ ({ document_id: 100, tag: 100, path: 10, updated_at: 1 });

/** Those that the next question goes with. @type {Chip[]} */
export let chips = [];

/** @param {Chip} one */
export function hasChip({ key, value }) {
  return chips.some((other) => other.key === key && other.value === value);
}

/** Let questions use these alone; whoever shows documents hears of it. @param {Chip[]} given */
export function showChips(given) {
  chips = given;
  byId("chips").hidden = !chips.length;
  byId("chips").replaceChildren(...chips.map((one) => element("li", { class: "chip" }, ...called(one), button("×", () => takeOut(one)))));
  for (const [at, made] of [...byId("chips").querySelectorAll("button")].entries()) made.setAttribute("aria-label", word("filter.takeOut", chips[at]));
  byId("chips").dispatchEvent(new Event("change"));
}

/** @param {Chip} one @returns {boolean} whether there was room for it */
export function addChip(one) {
  const others = one.key === "updated_at" ? chips.filter(({ key }) => key !== one.key) : chips;
  if (hasChip(one) || others.filter(({ key }) => key === one.key).length >= MOST[one.key]) return hasChip(one);
  showChips([...others, one]);
  return true;
}

/** @param {Chip} gone */
export function removeChip(gone) {
  showChips(chips.filter((one) => one.key !== gone.key || one.value !== gone.value));
}

/** @param {Chip} one */
function takeOut(one) {
  const at = chips.indexOf(one);
  removeChip(one);
  const left = byId("chips").querySelectorAll("button");
  (left[Math.min(at, left.length - 1)] ?? byId("question")).focus();
}

/** @param {Chip} one */
function called({ key, name }) {
  return [element("span", { class: "facts" }, word(`filter.${key}`)), " ", element("span", { class: "value", title: plain(name) }, foreign(name))];
}

/** What an answer was restricted to, in a line; nothing where it was not. @param {Chip[]} of */
export function restriction(of) {
  return of.length ? element("p", { class: "facts restricted" }, word("filter.used"), ...of.flatMap((one, at) => [at ? ", " : " ", ...called(one)])) : null;
}

/** Chips that a browser kept, as far as they are any. @param {unknown} kept @returns {Chip[]} */
export function chipsIn(kept) {
  return Array.isArray(kept) ? kept.filter((one) => one && Object.hasOwn(MOST, one.key) && typeof one.value === "string" && typeof one.name === "string") : [];
}

/** Pure: the filter of the service; null where all documents may be used. @param {Chip[]} of */
export function filterOf(of) {
  const values = (/** @type {string} */ key) => of.filter((one) => one.key === key).map((one) => one.value);
  const paths = values("path").map((value) => ({ type: "prefix", key: "path", value }));
  const filters = [
    ...["document_id", "tag"].filter((key) => values(key).length).map((key) => ({ type: "in", key, value: values(key) })),
    ...(paths.length > 1 ? [{ type: "or", filters: paths }] : paths),
    ...values("updated_at").map((value) => ({ type: "gte", key: "updated_at", value })),
  ];
  return filters.length > 1 ? { type: "and", filters } : filters[0] ?? null;
}
