/**
 * The list of threads: to open, to find, to name, to save and to forget them.
 */
import { current } from "./conversation.js";
import { isShown } from "./confidence.js";
import { add, button, byId, element, foreign, plain, say } from "./elements.js";
import { download, fileName, threadAsMarkdown } from "./export.js";
import { listen, remove, rename, threads, threadsWith, turnsOf } from "./thread_store.js";
import { dateTime, number, word } from "./words.js";

/** @typedef {import("./thread_store.js").Thread} Thread */

/** So many stand in the list; the rest is found by name. */
const MOST = 100;
const LONGEST_NAME = 200, TYPING_MS = 250;

const list = () => byId("thread-list");
const finder = () => /** @type {HTMLInputElement} */ (byId("find-thread"));
/** @type {{ open: (thread: Thread) => void, removed: (ids: string[]) => void, refused: () => void }} */
let ways;
let search = new AbortController(), typed = 0;

/** @param {typeof ways} given */
export function prepareThreads(given) {
  ways = given;
  finder().addEventListener("input", () => {
    search.abort(); // it reads every turn, for words that are not wanted any more
    clearTimeout(typed);
    typed = setTimeout(() => void drawThreads(), TYPING_MS);
  });
  byId("forget-threads").append(twice("threads.clear", async () => forget(await threads())));
  listen({ changed: () => void drawThreads(), refused: () => {
    byId("threads-about").textContent = word("threads.refused");
    ways.refused();
  } });
}

/** Draw the list anew; a name that is being written is not disturbed. */
export async function drawThreads() {
  search.abort();
  const { signal } = (search = new AbortController()), wanted = finder().value.trim().toLowerCase();
  const [found, said] = await Promise.all([threads(), threadsWith(wanted, signal)]);
  if (signal.aborted) return; // it is drawn again
  const fitting = found.filter((one) => one.name.toLowerCase().includes(wanted) || said.has(one.id));
  if (list().querySelector("form")) return;
  const at = document.activeElement, focused = list().contains(at) ? at?.closest("li")?.id : "";
  list().replaceChildren(...fitting.slice(0, MOST).map(row));
  const none = wanted ? "threads.notFound" : "threads.none", left = fitting.length - MOST;
  byId("threads-none").textContent = fitting.length ? left > 0 ? word("threads.more", { count: number(left) }) : "" : word(none);
  byId("forget-threads").hidden = !found.length;
  finder().hidden = !found.length;
  if (focused) (/** @type {HTMLElement | null} */ (list().querySelector(`#${CSS.escape(focused)} .entry`)) ?? finder()).focus();
}

/** @param {Thread} thread */
function row(thread) {
  const open = element("button", { type: "button", class: "entry", "aria-current": thread.id === current() && "true", onclick: () => ways.open(thread) },
    element("span", { class: "asked", dir: "auto" }, foreign(thread.name)),
    element("span", { class: "facts" }, foreign(thread.project), ` · ${dateTime(thread.when)}`));
  const made = element("li", { id: `thread-${thread.id}` }, open);
  add(made, moreButton(made, thread.name, () => does(thread, open)));
  return made;
}

/** A button that shows and hides what can be done with a thing of a list. @param {HTMLElement} made @param {string} name @param {() => HTMLElement} does */
export function moreButton(made, name, does) {
  const more = element("button", { type: "button", class: "quiet small more", "aria-label": word("threads.aboutOne", { name }), "aria-expanded": "false", onclick: () => {
    const shown = made.querySelector(".does");
    more.setAttribute("aria-expanded", String(!shown));
    if (shown) shown.remove();
    else add(made, does());
  } }, "⋯");
  return more;
}

/** What can be done with a thread. @param {Thread} thread @param {HTMLElement} open */
function does(thread, open) {
  return element("p", { class: "buttons does" },
    button(word("threads.rename"), () => naming(thread, open)),
    button(word("threads.saveMarkdown"), () => void save(thread, "md")),
    button(word("threads.saveJson"), () => void save(thread, "json")),
    twice("threads.delete", () => forget([thread])));
}

/** Have a name written in place of the one that is there. @param {Thread} thread @param {HTMLElement} open */
function naming(thread, open) {
  const name = element("input", { maxlength: LONGEST_NAME, dir: "auto", "aria-label": word("threads.name") });
  name.value = thread.name;
  let isOver = false; // what takes the focus away ends it too, while it is taken out
  const end = async (/** @type {boolean} */ isMeant) => {
    if (isOver) return;
    isOver = true;
    form.replaceWith(open); // before it is drawn: what is written there is not disturbed
    open.focus();
    if (isMeant && name.value.trim()) await rename(thread, name.value.trim());
    await drawThreads();
  };
  const form = element("form", { onsubmit: (event) => {
    event.preventDefault();
    void end(true);
  }, onfocusout: () => void end(true), onkeydown: (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    void end(false);
  } }, name);
  open.replaceWith(form);
  name.select();
}

/** @param {Thread} thread @param {"md" | "json"} ending */
async function save(thread, ending) {
  const turns = await turnsOf(thread.id), { name, project } = thread;
  const text = ending === "md" ? threadAsMarkdown(turns, isShown()) : JSON.stringify({ name, project, turns }, null, 1);
  download(fileName(name, ending), text, ending === "md" ? "text/markdown;charset=utf-8" : "application/json");
}

/** @param {Thread[]} gone */
async function forget(gone) {
  await remove(gone);
  ways.removed(gone.map((one) => one.id));
  byId("new-thread").focus();
}

/** A button that wants a second click, for what cannot be taken back. @param {string} key @param {() => void} act */
export function twice(key, act) {
  const calm = () => {
    made.classList.remove("is-sure");
    made.textContent = word(key);
  };
  const made = element("button", { type: "button", class: "quiet", "data-word": key, onclick: () => {
    if (made.classList.contains("is-sure")) {
      calm();
      return act();
    }
    made.classList.add("is-sure");
    made.textContent = word("threads.sure");
    return say(plain(word("threads.sure")));
  } }, word(key));
  made.addEventListener("blur", calm);
  return made;
}
