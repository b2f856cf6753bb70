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
    byId("project-facts").replaceChildren(...facts(held));
    const questions = id === SAMPLE && held.chunks ? SAMPLE_QUESTIONS : held.questions ?? [];
    showQuestions(questions, ask);
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
 * Show a few of the questions, and others of them behind the button, round and round.
 * @param {string[]} questions
 * @param {(question: string) => void} ask
 */
function showQuestions(questions, ask) {
  const shown = questions.slice(0, MOST_EXAMPLES), others = questions.slice(MOST_EXAMPLES);
  byId("examples").replaceChildren(...shown.map((one) =>
    element("li", {}, element("button", { type: "button", class: "example", onclick: () => ask(one) }, foreign(one)))));
  byId("more-examples").hidden = !others.length;
  byId("more-examples").onclick = () => showQuestions([...others, ...shown], ask);
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
