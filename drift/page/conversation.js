/**
 * The thread that the page shows: its newest turns, and what of them goes with a follow-up.
 */
import { byId } from "./elements.js";
import { chipsIn } from "./filter_chips.js";
import { append, newId, settle, threadOf, turnsOf } from "./thread_store.js";
import { Turn } from "./turn.js";

/** @typedef {import("./thread_store.js").Message} Message */

/** So many turns of a kept thread are shown at once, and so many stay. */
const AT_ONCE = 10, MOST_TURNS = 30;
/** What goes with a follow-up: the service takes 20 messages and 16,000 characters. */
const MOST_MESSAGES = 20, MOST_CHARACTERS = 16_000, MOST_OF_ONE = 3_000;

let id = newId();
/** Those that are shown, the oldest first. @type {Turn[]} */
let turns = [];
/** Whose answer is being written, in this thread or another. @type {Turn | null} */
let live = null;
/** @type {import("./turn.js").Ways} */
let ways;

const place = () => byId("turns");

/** @param {import("./turn.js").Ways} given */
export function prepareThread(given) {
  ways = given;
  byId("earlier").addEventListener("click", () => void showEarlier());
}

/** The id of the thread, which need not be kept yet. */
export function current() {
  return id;
}

/** The project of the thread, "" where nothing was asked in it. */
export function projectOfThread() {
  return turns.at(-1)?.asked.project ?? "";
}

/** The documents that its last question could use. */
export function chipsOfThread() {
  return turns.at(-1)?.asked.chips ?? [];
}

/** Show a question at the end of the thread, and keep it. @param {Turn} turn */
export function begin(turn) {
  turns.push(turn);
  turn.view.classList.add("is-new");
  place().append(turn.view);
  while (place().children.length > MOST_TURNS) place().firstElementChild?.remove();
  turns = turns.slice(-MOST_TURNS);
  live = turn;
  turn.kept.thread = id;
  showWhatThereIs();
  return append(turn.kept).then(showWhatThereIs);
}

/** Keep what has become of a question. @param {Turn} turn */
export function end(turn) {
  if (live === turn) live = null;
  return settle(turn.kept);
}

/**
 * Show a thread of this browser; without one of this id, an empty one.
 * @param {string} wanted "" for an empty one
 * @param {string} question the one to go to
 * @returns {Promise<boolean>} whether the question is there with its answer
 */
export async function openThread(wanted, question = "") {
  const mine = (id = wanted || newId());
  const isHere = wanted !== "" && Boolean(await threadOf(wanted));
  const found = isHere ? await turnsOf(wanted, Infinity, AT_ONCE) : [];
  if (id !== mine) return false; // another one was chosen meanwhile
  if (!isHere) id = newId();
  turns = found.map(turnOf);
  place().replaceChildren(...turns.map((one) => one.view));
  showWhatThereIs();
  const asked = turns.findLast((one) => question !== "" && one.asked.question === question);
  asked?.view.scrollIntoView();
  return Boolean(asked?.kept.result);
}

/** @param {import("./thread_store.js").Kept} kept */
function turnOf(kept) {
  if (live && live.kept.thread === kept.thread && live.kept.at === kept.at) return live;
  const turn = new Turn({ question: kept.question, project: kept.project, depth: kept.depth, passages: kept.passages, history: kept.history, chips: chipsIn(kept.chips) }, ways);
  turn.restore(kept);
  return turn;
}

async function showEarlier() {
  const mine = id, made = (await turnsOf(id, turns[0]?.kept.at ?? 0, AT_ONCE)).map(turnOf);
  if (id !== mine) return;
  turns.unshift(...made);
  place().prepend(...made.map((one) => one.view));
  showWhatThereIs();
  made.at(-1)?.view.querySelector("h2")?.focus();
}

function showWhatThereIs() {
  document.body.classList.toggle("is-empty", !turns.length);
  byId("earlier").hidden = !(turns[0]?.kept.at > 0);
}

/** What goes with a follow-up: the newest answers of a project with their questions. @param {string} project */
export function messages(project) {
  /** @type {Message[]} */
  const found = [];
  let room = MOST_CHARACTERS;
  for (const { kept } of turns.slice().reverse()) {
    const question = sendable(kept.question), answer = sendable(kept.result?.final_answer ?? kept.result?.answer);
    if (!question || !answer || kept.project !== project) continue;
    room -= question.length + answer.length;
    if (room < 0 || found.length + 2 > MOST_MESSAGES) break;
    found.unshift({ role: "user", content: question }, { role: "assistant", content: answer });
  }
  return found;
}

/** Without what no request may carry. @param {unknown} text */
function sendable(text) {
  return String(text ?? "").slice(0, MOST_OF_ONE).replace(/\0|\p{Surrogate}/gu, "").trim();
}
