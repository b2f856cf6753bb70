/**
 * The projects that the caller may ask, and what the chosen one holds.
 */
import { asked } from "./address.js";
import { Problem, read } from "./api.js";
import { offerDocuments } from "./documents.js";
import { button, byId, element, foreign, plain } from "./elements.js";
import { lastTime } from "./settings.js";
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
/** Lines of a summary that code writes, of names alone. */
const LISTED = /^(About|Documents): /;
/** What stands in code, markup and addresses, and in no sentence about them. */
const CODE = /[{}<>=|\\]|;\s*$|\w\(|::|->|:\/\//;
const LEAST_WORDS = 6;
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

/** Return the id of the chosen project, before there is a list that of the address; "" for none. */
export function chosen() {
  if (!list().options.length) return asked().project;
  return list().value === OTHER ? other().value.trim() : list().value;
}

/**
 * Choose a project, whether it is in the list or not.
 * @param {string} id
 */
export function choose(id) {
  if ([...list().options].some((one) => one.value === id)) list().value = id;
  else {
    list().value = OTHER;
    other().value = id;
  }
  other().hidden = list().value !== OTHER;
}

/**
 * List the caller's projects; the rest may be named. The chosen one stays, where there is none the
 * first is chosen.
 */
export async function listProjects() {
  const ids = [];
  let cursor = null;
  for (let page = 0; page < MOST_PAGES && (page === 0 || cursor); page += 1) {
    const found = await read("projects", { limit: 200, cursor });
    ids.push(...found.projects.map((/** @type {any} */ one) => String(one.id)));
    cursor = found.next;
  }
  // chosen while the list was read, perhaps
  const isNaming = list().value === OTHER, wanted = chosen();
  // a project that has come into an empty graph is the one to ask
  const isFirst = list().options.length === 1 && wanted === SAMPLE && !ids.includes(wanted);
  const options = ids.map((id) => element("option", { value: id }, plain(id)));
  list().replaceChildren(...options, element("option", { value: OTHER }, word("ask.another")));
  const usual = ids.find((id) => id === lastTime().project) ?? ids[0] ?? SAMPLE;
  choose(isFirst || !(wanted || isNaming) ? usual : wanted);
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
    const topics = id === SAMPLE || !held.chunks ? [] : await topicsOf(path, held, signal).catch(() => []);
    if (signal.aborted) return;
    byId("project-facts").replaceChildren(...facts(held));
    const questions = id === SAMPLE && held.chunks ? SAMPLE_QUESTIONS : topics.map((topic) => word("examples.topic", { topic }));
    byId("examples").replaceChildren(...questions.map((one) =>
      element("li", {}, element("button", { type: "button", class: "example", onclick: () => ask(one) }, foreign(one)))));
    byId("show-communities").hidden = !held.communities;
    byId("show-marks").hidden = !held.rights?.includes("write");
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
 * What the project is most about, as far as its passages say something of it: names of its largest
 * communities, where it has none yet of documents. It costs a few reads and no model.
 * @param {string} path
 * @param {any} held
 * @param {AbortSignal} signal
 */
async function topicsOf(path, held, signal) {
  if (!held.communities) return topics(await documentsOf(path, held.id, signal));
  const { communities } = await read(`${path}/communities`, { limit: 100 }, signal);
  return topics(communities.map((/** @type {any} */ one) => ({ title: String(one.title ?? ""), summary: String(one.summary ?? ""), size: Number(one.members) || 0 })));
}

/** The first documents, each with its first passage. @param {string} path @param {string} project @param {AbortSignal} signal */
async function documentsOf(path, project, signal) {
  const { documents } = await read(`${path}/documents`, { limit: 10 }, signal), of = { project_id: project };
  const named = documents.filter((/** @type {any} */ one) => TOPIC.test(String(one.name))).slice(0, MOST_EXAMPLES);
  return Promise.all(named.map(async (/** @type {any} */ one) => {
    const { chunks } = await read(`documents/${encodeURIComponent(one.id)}`, { ...of, limit: 1 }, signal);
    const first = chunks.length ? await read(`chunks/${encodeURIComponent(chunks[0].id)}`, of, signal) : {};
    return { title: String(one.name), summary: String(first.text ?? ""), size: 0 };
  }));
}

/**
 * Pure: the names of the largest, each once, that can stand in a question and of which a sentence of
 * the summary tells. Such sentences are passages' own, or a model's; words of menus, markup and code
 * are in none.
 * @param {{ title: string, summary: string, size: number }[]} communities
 */
export function topics(communities) {
  const found = new Map();
  for (const { title, summary } of [...communities].sort((a, b) => b.size - a.size)) {
    const told = summary.split(/\n|(?<=[.!?])\s+|(?<=[。！？])/u).filter(isTold).map(small);
    const name = title.split(", ").map((one) => one.trim())
      .find((one) => TOPIC.test(one) && !found.has(small(one)) && told.some((sentence) => tellsOf(sentence, small(one))));
    if (name) found.set(small(name), name);
  }
  return [...found.values()].slice(0, MOST_EXAMPLES);
}

/** @param {string} text */
const small = (text) => text.normalize("NFKC").toLowerCase();

/** Pure: whether it is a sentence that tells something, as people write it. @param {string} line */
function isTold(line) {
  const text = line.trim();
  if (LISTED.test(text) || CODE.test(text) || !/[.!?。！？]["”’»)\]]?$/u.test(text)) return false;
  return text.split(/\s+/).length >= LEAST_WORDS || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]{8}/u.test(text);
}

/** Pure: whether a name stands in a sentence, not inside of another word. @param {string} sentence @param {string} name */
function tellsOf(sentence, name) {
  const inside = /[\p{L}\p{M}\p{N}_]/u, spaceless = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(name);
  for (let at = sentence.indexOf(name); at >= 0; at = sentence.indexOf(name, at + 1)) {
    const [before, after] = [sentence[at - 1] ?? " ", sentence[at + name.length] ?? " "];
    if (spaceless || !(inside.test(before) || inside.test(after))) return true;
  }
  return false;
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
