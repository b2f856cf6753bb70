/**
 * The page from top to bottom: a key out of the address, words, projects, then questions.
 */
import { asked, goTo, keepProject, takeKey } from "./address.js";
import { Problem, read } from "./api.js";
import { focusQuestion, prepareForm, setBusy, write, written } from "./ask_form.js";
import { isShown, showAsLastTime, showConfidence } from "./confidence.js";
import { begin, chipsOfThread, current, end, messages, openThread, prepareThread, projectOfThread } from "./conversation.js";
import { canBeSent, key, useKey } from "./credential.js";
import { TAKES, prepareDocuments } from "./documents.js";
import { button, byId, element } from "./elements.js";
import { openKeyDialog, prepareKeyDialog } from "./key_dialog.js";
import { closePanel, openPanel, preparePanel } from "./panel.js";
import { problemView } from "./problems.js";
import { chosen, listProjects, showProject } from "./project.js";
import { keepForNextTime, lastTime, passages, prepareSettings } from "./settings.js";
import { settle, useCaller } from "./thread_store.js";
import { drawThreads, prepareThreads } from "./threads.js";
import { Turn } from "./turn.js";
import { keepLanguage, speak, wantedLanguage, word } from "./words.js";

/** @typedef {import("./address.js").Asked} Asked */

const inAddress = takeKey(); // before anything else: it stands in no history and no screenshot
if (inAddress.key && canBeSent(inAddress.key)) useKey(inAddress.key);

const wanted = asked();
/** @type {Turn | null} */
let running = null;
let looking = new AbortController();

/** @type {import("./turn.js").Ways} */
const ways = { again: askAgain, askKey: (isSameCaller) => openKeyDialog("", isSameCaller), keep: (kept) => void settle(kept) };

/** Ask what the form says, a question at a time, after what was said in the thread. @param {Asked["history"]} [history] */
async function ask(history) {
  running?.stop();
  closePanel();
  const what = { ...written(), passages: passages(), history: history ?? messages(chosen()) };
  const turn = new Turn(what, ways);
  running = turn;
  byId("notices").replaceChildren();
  byId("about-project").hidden = true;
  for (const one of byId("turns").querySelectorAll(".turn > details[open]")) one.removeAttribute("open");
  keepForNextTime({ depth: what.depth, project: what.project });
  write({ question: "" });
  const isKept = begin(turn);
  goTo(what.project, current(), asked().thread !== current());
  turn.view.scrollIntoView();
  setBusy(true);
  await turn.run();
  void isKept.then(() => end(turn));
  if (running !== turn) return;
  running = null;
  setBusy(false);
  if (!turn.kept.result && !written().question && turn.view.isConnected) write({ question: what.question });
  if (document.activeElement === document.body) turn.view.querySelector("h2")?.focus({ preventScroll: true });
}

/** @param {Partial<Asked>} what */
function askAgain(what) {
  write(what);
  void ask(what.history);
}

/** A thread is of one project: another begins another. */
function anotherProject() {
  if (projectOfThread()) return startNew();
  closePanel();
  write({ chips: [] }); // they are of the other one
  keepProject(chosen());
  return void projectChanged();
}

function startNew() {
  goTo(chosen(), "", true);
  void show("");
}

/**
 * Show a thread, at its end or where the reader was.
 * @param {string} thread "" for a new one
 * @param {string} [question] the one to go to
 */
async function show(thread, question = "") {
  const place = history.state?.place;
  closePanel();
  const isThere = await openThread(thread, question);
  if (question && !isThere) byId("notices").append(note(word("ask.fromLink")));
  write({ question: isThere ? "" : question || written().question, project: projectOfThread() || asked().project, chips: chipsOfThread() });
  if (asked().thread !== (projectOfThread() && current()) || isThere) goTo(chosen(), projectOfThread() && current(), false);
  byId("about-project").hidden = true;
  void drawThreads();
  if (place !== undefined) scrollTo(0, place);
  else if (!isThere) scrollTo(0, projectOfThread() ? document.body.scrollHeight : 0);
  await projectChanged();
}

/** Keep the reader's place for who comes back to it. */
function keepPlace() {
  let timer = 0;
  history.scrollRestoration = "manual";
  addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(() => history.replaceState({ place: scrollY }, ""), 150);
  });
}

/** @param {string} question */
function beginWith(question) {
  askAgain({ question });
}

async function projectChanged() {
  looking.abort();
  looking = new AbortController();
  if (TAKES || document.body.classList.contains("is-empty")) await showProject(beginWith, looking.signal, () => void enter());
}

/** What draws them loads with the first look at them. */
function openCommunities() {
  const project = chosen();
  return openPanel({ title: project, load: async (signal) => (await import("./communities.js")).communitiesOf(project, signal) });
}

function openDocuments() {
  const project = chosen(), words = { said: "" };
  return openPanel({ title: word("list.title", { project }), load: async (signal) =>
    (await import("./document_list.js")).documentList(project, words, signal, () => void projectChanged()) });
}

function openMarks() {
  const project = chosen();
  return openPanel({ title: word("marks.title"), load: async (signal) => (await import("./marks.js")).marks(project, signal) });
}

/** The project holds more, or is there now. */
async function documentsAdded() {
  keepProject(chosen());
  await listProjects().catch(() => {});
  await projectChanged();
}

/** Learn what the caller may ask; who is not known is asked for a key. */
async function enter() {
  byId("notices").querySelector(".problem")?.remove();
  try {
    await listProjects();
    useCaller(String((await read("usage")).caller ?? ""));
    if (asked().thread === current()) await projectChanged(); // asked meanwhile, and on the page
    else await show(asked().thread, asked().question);
  } catch (error) {
    document.body.classList.toggle("is-empty", !projectOfThread());
    byId("notices").append(problemView(error, { ...ways, again: () => void enter() }));
    if (error instanceof Problem && error.code === "unauthenticated") {
      openKeyDialog(key() ? word("key.unknown") : "", true);
    }
  }
}

function showNotices() {
  const notices = byId("notices");
  if (inAddress.key) notices.append(note(word(`key.taken.${inAddress.from}`)));
}

/** @param {string} text */
function note(text) {
  const made = element("p", { class: "note", role: "status" }, text, " ", button(word("panel.close"), () => made.remove()));
  return made;
}

function prepareTools() {
  const language = /** @type {HTMLSelectElement} */ (byId("language"));
  language.addEventListener("change", async () => {
    await speak(language.value).then(() => keepLanguage(language.value), () => {
      language.value = document.documentElement.lang;
    });
    write({ chips: written().chips });
    await drawThreads();
    await projectChanged();
  });
  byId("show-documents").addEventListener("click", () => void openDocuments());
  byId("show-communities").addEventListener("click", () => void openCommunities());
  byId("show-marks").addEventListener("click", () => void openMarks());
  const confidence = /** @type {HTMLInputElement} */ (byId("confidence"));
  confidence.checked = isShown();
  confidence.addEventListener("change", () => showConfidence(confidence.checked));
  byId("new-thread").addEventListener("click", () => {
    closeDrawer();
    startNew();
    focusQuestion();
  });
  addEventListener("popstate", () => {
    const { thread } = asked(); // the way to the question is a step too
    if (thread !== (projectOfThread() && current())) void show(thread);
  });
  keepPlace();
}

/** On a phone the list covers the page. */
function closeDrawer() {
  const drawer = byId("threads");
  if (drawer.matches(":popover-open")) drawer.hidePopover();
}

showAsLastTime();
const language = wantedLanguage();
/** @type {HTMLSelectElement} */ (byId("language")).value = language;
await speak(language).catch(() => speak("en"));
preparePanel();
prepareKeyDialog();
prepareTools();
prepareSettings();
prepareThread(ways);
prepareThreads({
  open: (thread) => {
    closeDrawer();
    goTo(thread.project, thread.id, true);
    void show(thread.id);
  },
  removed: (ids) => {
    if (ids.includes(current())) startNew();
  },
  refused: () => byId("notices").append(note(word("threads.refused"))),
});
prepareForm({ ask: () => void ask(), stop: () => running?.stop(), projectChanged: anotherProject });
prepareDocuments(() => void documentsAdded());
write({ ...wanted, depth: wanted.depth || lastTime().depth });
if (wanted.thread) document.body.classList.remove("is-empty"); // what is kept is read when it is known who asks
showNotices();
await enter();
document.documentElement.dataset.ready = "true";
