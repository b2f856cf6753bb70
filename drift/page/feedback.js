/**
 * What the reader says of an answer: right or wrong, which sentence, and why.
 */
import { Problem, give } from "./api.js";
import { button, element, plain } from "./elements.js";
import { hasWord, word } from "./words.js";

/**
 * @typedef {import("./thread_store.js").Kept} Kept
 * @typedef {import("./thread_store.js").Mark} Mark
 */

const REASONS = ["wrong", "missing", "unsupported", "old", "other"];
const LONGEST = 90;
/** As long as the service takes a comment. */
const LONGEST_COMMENT = 2000;

/**
 * Ways to mark an answer; null where there is nothing that could be marked.
 * @param {Kept} kept gets the mark
 * @param {boolean} isNew whether it was answered just now, so that the service should know it
 * @param {() => void} keep
 */
export function feedbackView(kept, isNew, keep) {
  if (!kept.id || kept.depth === "nodes") return null;
  const state = element("span", { class: "facts", role: "status" });
  const facts = (kept.result?.key_facts ?? []).map((/** @type {any} */ one) => plain(one.fact).slice(0, LONGEST));
  const sentence = element("select", {}, element("option", { value: "" }, word("feedback.whole")),
    ...facts.map((/** @type {string} */ one, /** @type {number} */ at) => element("option", { value: at + 1 }, one)));
  const comment = element("textarea", { rows: 2, maxlength: LONGEST_COMMENT, dir: "auto" });
  const said = () => comment.value.replace(/\0|\p{Surrogate}/gu, "").trim(); // what no request may carry
  const reasons = REASONS.map((reason) => button(word(`feedback.${reason}`), () => void send({
    score: -1, reason, ...(sentence.value ? { fact: Number(sentence.value) } : {}), ...(said() ? { comment: said() } : {}),
  })));
  const why = element("div", { class: "why", hidden: true },
    facts.length > 0 && element("label", {}, word("feedback.sentence"), " ", sentence),
    element("label", {}, word("feedback.comment"), comment),
    element("p", { class: "buttons", role: "group", "aria-label": word("feedback.why") }, ...reasons));
  const ways = /** @type {const} */ ([[1, "feedback.right"], [-1, "feedback.isWrong"]]).map(([score, text]) => /** @type {const} */ (
    [score, button(word(text), () => void send({ score }))]));
  const show = () => {
    for (const [score, one] of ways) one.setAttribute("aria-pressed", String(kept.mark?.score === score));
    why.hidden = kept.mark?.score !== -1 || kept.mark.reason !== undefined;
  };
  /** @param {Mark} mark */
  async function send(mark) {
    try {
      await give("POST", "feedback", { retrieval_id: kept.id, ...mark });
      kept.mark = mark;
      keep();
      show();
      why.scrollIntoView({ block: "nearest" }); // the box may stand before it
      state.textContent = word(mark.score < 0 && !mark.reason ? "feedback.notedWhy" : "feedback.noted");
    } catch (error) {
      const { code } = error instanceof Problem ? error : new Problem("page");
      // the service keeps none: nothing is offered until the page is loaded anew
      if (isNew && ["not_found", "not_configured"].includes(code)) document.documentElement.classList.add("without-marks");
      state.textContent = code === "not_found" ? word("feedback.gone") : word(hasWord(`problem.${code}`) ? `problem.${code}` : "problem.unavailable");
    }
  }
  show();
  if (kept.mark) why.hidden = true; // it was said before
  return element("div", { class: "marks" },
    element("p", { class: "buttons" }, ...ways.map(([, one]) => one), state), why);
}
