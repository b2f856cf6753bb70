/**
 * What callers said of a project's answers, for who may write it, and a test of it for `drift eval`.
 */
import { Problem, read } from "./api.js";
import { add, button, element, foreign, seen } from "./elements.js";
import { download, fileName } from "./export.js";
import { counted, dateTime, hasWord, word } from "./words.js";

const AT_ONCE = 50, READS_AT_ONCE = 3;
/** What it means here that the list cannot be read. */
const REFUSED = /** @type {Record<string, string>} */ ({ not_found: "marks.off", not_configured: "marks.off", forbidden: "marks.part" });

/** @param {string} project @param {AbortSignal} signal */
export async function marks(project, signal) {
  /** @type {any[]} */
  const all = [];
  const list = element("ol", { class: "rows" }), state = element("p", { class: "facts", role: "status" });
  const more = button(word("marks.more"), () => void tell(page), "");
  const test = button(word("marks.test"), () => void tell(save), "");
  let cursor = "", isBusy = false;
  /** @param {() => Promise<void>} work */
  const tell = async (work) => {
    if (isBusy) return;
    isBusy = true;
    state.textContent = word("panel.loading");
    try {
      await work();
    } catch (error) {
      const code = error instanceof Problem ? error.code : "page";
      more.hidden = code in REFUSED;
      state.textContent = word(REFUSED[code] ?? (hasWord(`problem.${code}`) ? `problem.${code}` : "problem.unavailable"));
    }
    test.hidden = !all.length;
    if (more.hidden) test.focus();
    isBusy = false;
  };
  const page = async () => {
    const found = await read(`projects/${encodeURIComponent(project)}/feedback`, { limit: AT_ONCE, cursor: cursor || null }, signal);
    all.push(...found.feedback);
    add(list, ...found.feedback.map(row));
    cursor = found.next ?? "";
    more.hidden = !cursor;
    state.textContent = all.length ? counted("marks.shown", all.length) : word("marks.none");
  };
  // the newest mark on each question, as `drift eval from-feedback` makes a test of it
  const save = async () => {
    const newest = new Map();
    for (const one of all) if (!newest.has(one.question)) newest.set(one.question, one);
    const said = [...newest.values()], chunks = await chunksOf(said, project, signal);
    const lines = said.map((one) => questionOf(one, chunks)).filter(Boolean), left = said.length - lines.length;
    if (lines.length) download(fileName(project, "jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""), "application/jsonl");
    state.textContent = [counted("marks.questions", lines.length), left && counted("marks.left", left)].filter(Boolean).join(" ");
  };
  await tell(page);
  return element("div", { class: "passage" }, element("p", { class: "facts" }, word("marks.about")), list, element("p", { class: "buttons" }, more, test), state);
}

/** @param {any} one */
function row(one) {
  const about = one.fact ? one.facts[one.fact - 1]?.fact : "";
  const facts = [word(one.score > 0 ? "feedback.right" : "feedback.isWrong"), one.reason && word(`feedback.${one.reason}`), dateTime(Date.parse(one.given_at))];
  return element("li", {}, element("p", { dir: "auto" }, element("strong", {}, foreign(one.question))),
    element("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    about && element("blockquote", { dir: "auto" }, seen(about)),
    one.comment && element("p", { dir: "auto" }, seen(one.comment)));
}

/** The chunks that marks name, a few at a time. @param {any[]} said @param {string} project @param {AbortSignal} signal */
async function chunksOf(said, project, signal) {
  const ids = said.flatMap((one) => [...one.expected, ...one.facts.flatMap((/** @type {any} */ fact) => fact.chunk_ids)]);
  const waiting = [...new Set(ids)], found = new Map();
  const reader = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      try {
        found.set(id, await read(`chunks/${encodeURIComponent(id)}`, { project_id: project }, signal));
      } catch (error) { // a text, or removed since
        if (!(error instanceof Problem && ["not_found", "invalid_request"].includes(error.code))) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, reader));
  return found;
}

/** A mark as a question with what its answer is to show; null where it does not say what. @param {any} said @param {Map<string, any>} chunks */
function questionOf(said, chunks) {
  if (said.stands_alone === false) return null;
  const asked = { id: said.retrieval_id, question: said.question, type: "feedback" };
  let held = said.expected.filter((/** @type {string} */ one) => chunks.has(one));
  let statements = said.expected.filter((/** @type {string} */ one) => !chunks.has(one));
  const spans = held.map((/** @type {string} */ one) => chunks.get(one).text);
  if (said.score === 1 && !said.expected.length) {
    const facts = said.fact ? said.facts.slice(said.fact - 1, said.fact) : said.facts;
    if (!facts.length) return { ...asked, unanswerable: true };
    held = facts.flatMap((/** @type {any} */ fact) => fact.chunk_ids).filter((/** @type {string} */ id) => chunks.has(id));
    statements = said.fact ? [facts[0].fact] : [];
  }
  const documents = [...new Set(held.map((/** @type {string} */ id) => chunks.get(id).document?.id).filter((/** @type {unknown} */ id) => id !== undefined).map(String))];
  const expected = Object.entries({ spans, documents, statements }).filter(([, texts]) => texts.length);
  return expected.length ? { ...asked, ...Object.fromEntries(expected) } : null;
}
