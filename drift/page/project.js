/**
 * The projects that the caller may ask, and what the chosen one holds.
 */
import { Problem, read } from "./api.js";
import { byId, element, foreign, plain } from "./elements.js";
import { counted, dateTime, word } from "./words.js";

const OTHER = "\u0000other";
const SAMPLE = "python-reference";
const SAMPLE_QUESTIONS = ["sample.1", "sample.2", "sample.3"];
const MOST_PAGES = 5;

const list = () => /** @type {HTMLSelectElement} */ (byId("project"));
const other = () => /** @type {HTMLInputElement} */ (byId("other-project"));

/** Return the id of the chosen project, "" where the caller names none. */
export function chosen() {
  return list().value === OTHER ? other().value : list().value;
}

/**
 * Choose a project, whether it is in the list or not.
 * @param {string} id
 */
export function choose(id) {
  if ([...list().options].some((one) => one.value === id)) list().value = id;
  else if (id) {
    list().value = OTHER;
    other().value = id;
  }
  other().hidden = list().value !== OTHER;
}

/**
 * List the caller's projects; the rest may be named.
 * @param {string} wanted the project to choose, "" for the first
 */
export async function listProjects(wanted) {
  const ids = [];
  let cursor = null;
  for (let page = 0; page < MOST_PAGES && (page === 0 || cursor); page += 1) {
    const found = await read("projects", { limit: 200, cursor });
    ids.push(...found.projects.map((/** @type {any} */ one) => String(one.id)));
    cursor = found.next;
  }
  const options = ids.map((id) => element("option", { value: id }, plain(id)));
  list().replaceChildren(...options, element("option", { value: OTHER }, word("ask.another")));
  choose(wanted || ids[0] || "");
  if (!ids.length) choose(wanted || SAMPLE);
  return ids;
}

/**
 * Show what the chosen project holds, and questions to begin with.
 * @param {(question: string) => void} ask
 * @param {AbortSignal} signal
 */
export async function showProject(ask, signal) {
  const id = chosen(), place = byId("about-project");
  if (!id) {
    place.hidden = true;
    return;
  }
  const path = `projects/${encodeURIComponent(id)}`;
  try {
    const [held, documents] = await Promise.all([read(path, {}, signal), read(`${path}/documents`, { limit: 4 }, signal)]);
    if (signal.aborted) return;
    byId("project-facts").replaceChildren(...facts(held));
    byId("examples").replaceChildren(...examples(id, documents.documents ?? []).map((one) =>
      element("li", {}, element("button", { type: "button", class: "example", onclick: () => ask(one) }, foreign(one)))));
    byId("show-communities").hidden = !held.communities;
    byId("examples-title").textContent = held.chunks ? word("examples.title") : word("examples.empty");
    place.hidden = false;
  } catch (error) {
    if (signal.aborted) return;
    place.hidden = true;
    if (!(error instanceof Problem)) throw error;
  }
}

/** @param {any} held */
function facts(held) {
  if (!held.chunks) return [word("project.empty")];
  const counts = ["documents", "chunks", "entities", "communities"].map((name) => counted(`project.${name}`, held[name]));
  const written = held.written_at ? [` · ${word("project.written", { when: dateTime(Date.parse(held.written_at)) })}`] : [];
  return [foreign(held.id), `: ${counts.join(", ")}`, ...written];
}

/** @param {string} id @param {any[]} documents @returns {string[]} */
function examples(id, documents) {
  if (!documents.length) return [];
  if (id === SAMPLE) return SAMPLE_QUESTIONS.map((key) => word(key));
  return documents.slice(0, 3).map((one, index) => word(`examples.${index + 1}`, { document: one.name }));
}
