/**
 * The projects that the caller may ask, and what the chosen one holds.
 */
import { Problem, read } from "./api.js";
import { offerDocuments } from "./documents.js";
import { button, byId, element, foreign, plain } from "./elements.js";
import { counted, dateTime, word } from "./words.js";

const OTHER = "\u0000other";
const SAMPLE = "python-reference";
/** In the language of the manual, whatever the page speaks: one look answers each of them. */
const SAMPLE_QUESTIONS = [
  "How are default parameter values evaluated?",
  "What does the with statement guarantee about calling __exit__?",
  "What does else do on a loop?",
];
const MOST_EXAMPLES = 3;
/** A name of letters and numbers, which can stand in a question. */
const TOPIC = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} '’_./-]{1,59}$/u;
/** The commands that fill a graph with the sample: of a clone, and of what was installed. */
const FILL = ["make demo", "drift ingest --sample"];
const FILL_OWN = "drift ingest FOLDER --project NAME";
const THIS_MACHINE = ["localhost", "127.0.0.1", "[::1]"];
const MOST_PAGES = 5;

const list = () => /** @type {HTMLSelectElement} */ (byId("project"));
const other = () => /** @type {HTMLInputElement} */ (byId("other-project"));

const hasTurns = () => !document.body.classList.contains("is-empty");
/** The project that was looked at last. */
let shown = "";

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
  // a project that has come into an empty graph is the one to ask
  const isFirst = list().options.length === 1 && wanted === SAMPLE && !ids.includes(wanted);
  const options = ids.map((id) => element("option", { value: id }, plain(id)));
  list().replaceChildren(...options, element("option", { value: OTHER }, word("ask.another")));
  choose((!isFirst && wanted) || ids[0] || "");
  if (!ids.length) choose(wanted || SAMPLE);
  return ids;
}

/**
 * Show what the chosen project holds, and questions to begin with.
 * @param {(question: string) => void} ask
 * @param {AbortSignal} signal
 * @param {() => void} again looks once more, behind the commands that fill an empty project
 */
export async function showProject(ask, signal, again) {
  const id = chosen(), place = byId("about-project");
  if (id !== shown) offerDocuments("", []);
  shown = id;
  if (!id) {
    place.hidden = true;
    return;
  }
  const path = `projects/${encodeURIComponent(id)}`;
  try {
    const held = await read(path, {}, signal);
    if (signal.aborted) return;
    offerDocuments(id, held.rights);
    if (hasTurns()) return;
    const topics = id === SAMPLE || !held.chunks ? [] : await topicsOf(path, held, signal);
    if (signal.aborted) return;
    byId("project-facts").replaceChildren(...facts(held));
    const questions = id === SAMPLE && held.chunks ? SAMPLE_QUESTIONS : topics.map((topic) => word("examples.topic", { topic }));
    byId("examples").replaceChildren(...questions.map((one) =>
      element("li", {}, element("button", { type: "button", class: "example", onclick: () => ask(one) }, foreign(one)))));
    byId("show-communities").hidden = !held.communities;
    byId("examples-title").textContent = held.chunks ? word("examples.title") : word("examples.empty");
    byId("examples-title").hidden = Boolean(held.chunks) && !questions.length;
    showHowToFill(held.chunks ? null : again);
    place.hidden = hasTurns();
  } catch (error) {
    if (signal.aborted) return;
    place.hidden = true;
    offerDocuments("", []);
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

/**
 * What the project is most about: the first name of its largest communities, else of documents. A
 * question about one of these finds the passages that the name stands in.
 * @param {string} path
 * @param {any} held
 * @param {AbortSignal} signal
 */
async function topicsOf(path, held, signal) {
  const [kind, most] = held.communities ? ["communities", 100] : ["documents", 10];
  const found = (await read(`${path}/${kind}`, { limit: most }, signal))[kind] ?? [];
  return topics(found.map((/** @type {any} */ one) => ({ name: String(one.title ?? one.name ?? "").split(", ")[0], size: Number(one.members) || 0 })));
}

/** Pure: the names of the largest that can stand in a question, each once. @param {{ name: string, size: number }[]} named */
export function topics(named) {
  const names = [...named].sort((a, b) => b.size - a.size).map(({ name }) => name.trim()).filter((name) => TOPIC.test(name));
  const small = names.map((name) => name.toLowerCase());
  return names.filter((_, at) => small.indexOf(small[at]) === at).slice(0, MOST_EXAMPLES);
}

/** Say which commands fill an empty project; on this machine, those of the sample too. @param {(() => void) | null} again */
function showHowToFill(again) {
  const place = byId("fill");
  place.hidden = !again;
  if (!again) return;
  const command = (/** @type {string} */ text) => element("pre", { tabindex: "0", dir: "ltr" }, element("code", {}, text));
  const sample = THIS_MACHINE.includes(location.hostname) ? [element("p", {}, word("empty.sample")), ...FILL.map(command)] : [];
  place.replaceChildren(...sample, element("p", {}, word("empty.own")), command(FILL_OWN),
    element("p", { class: "buttons" }, button(word("empty.again"), again, "")));
}
