/**
 * One question with its answer: the search at work, the answer as it is written, its references.
 */
import { ask, Problem } from "./api.js";
import { addressOf } from "./address.js";
import { AnswerText } from "./answer_text.js";
import { isShown, meter } from "./confidence.js";
import { add, button, element, foreign, say, seen } from "./elements.js";
import { asMail, asMarkdown, download, fileName, withNumbers } from "./export.js";
import { feedbackView } from "./feedback.js";
import { restriction } from "./filter_chips.js";
import { problemView } from "./problems.js";
import { marks, referenceList } from "./reference_list.js";
import { referred } from "./references.js";
import { counted, hasWord, told, word } from "./words.js";
import { Work } from "./work.js";

/**
 * @typedef {import("./address.js").Asked} Asked
 * @typedef {{ again: (asked: Asked) => void, askKey: (isSameCaller: boolean) => void, keep: (kept: Kept) => void }} Ways
 * @typedef {import("./thread_store.js").Kept} Kept
 */

export class Turn {
  /**
   * @param {Asked} asked
   * @param {Ways} ways
   */
  constructor(asked, ways) {
    this.asked = asked;
    this.ways = ways;
    this.leaving = new AbortController();
    this.work = new Work();
    /** @type {Kept} */
    this.kept = {
      thread: "", at: -1, question: asked.question, project: asked.project, depth: asked.depth, passages: asked.passages, when: Date.now(),
      history: asked.history ?? [], chips: asked.chips ?? [], result: null, id: "", seconds: 0, mark: null,
    };
    this.isNew = true;
    this.text = element("div", { class: "answer", "aria-busy": "true" });
    this.answer = new AnswerText(this.text, (number) => document.createTextNode(`[${number}]`));
    this.below = element("div", { class: "below" });
    this.view = element("article", { class: "turn" },
      element("h2", { class: "asked", dir: "auto", tabindex: "-1" }, seen(asked.question)), this.work.view, this.text);
    add(this.view, restriction(asked.chips ?? []), this.below);
  }

  stop() {
    this.leaving.abort();
  }

  /** Ask, and follow the answer to its end, however it ends. */
  async run() {
    try {
      for await (const { name, data } of ask(this.asked, this.leaving.signal)) this.hear(name, data);
    } catch (error) {
      this.failed(error);
    }
    this.text.removeAttribute("aria-busy");
  }

  /** Show an answer that this browser kept, as it was told. @param {Kept} kept */
  restore(kept) {
    this.kept = { ...this.kept, ...kept };
    this.isNew = false;
    this.work.began -= (kept.seconds || 0) * 1000;
    try {
      if (kept.result) this.finished(kept.result);
    } catch (error) {
      console.info("What was kept cannot be shown.", error);
      this.kept.result = null; // another version's
    }
    if (!this.kept.result) this.unkept();
    this.text.removeAttribute("aria-busy");
  }

  unkept() {
    this.work.end(null);
    this.work.view.hidden = true;
    this.answer.end();
    this.below.replaceChildren(element("div", { class: "nothing" }, element("p", {}, word("answer.unkept")),
      element("p", { class: "buttons" }, button(word("answer.again"), () => this.ways.again(this.asked), ""))));
  }

  /** @param {string} name @param {any} data */
  hear(name, data) {
    if (name === "begun") this.kept.id = String(data.id);
    else if (name === "progress") this.work.progress(data);
    else if (name === "followup") this.work.followup(data);
    else if (name === "answer_delta") this.answer.append(String(data.text));
    else if (name === "answer_replaced") this.answer.replace(String(data.text));
    else if (name === "result") this.finished(data);
  }

  /** @param {any} result */
  finished(result) {
    this.kept.seconds = (performance.now() - this.work.began) / 1000;
    this.kept.result = result;
    const found = referred(result), { when } = this.kept;
    this.work.end(result, async () => (await import("./how_found.js")).howFound(this.asked, found.items, result, this.leaving.signal));
    result = { ...result, residual_uncertainty: told(result.residual_uncertainty) };
    this.rewritten(result.query);
    if (isStandIn()) add(this.below, element("p", { class: "facts" }, word("answer.standIn")));
    const isEmpty = result.no_data_found || !found.text.trim();
    if (isEmpty) {
      this.answer.end();
      this.below.append(this.nothing(result));
      this.say(word("answer.nothing"));
      return;
    }
    if (result.verdict?.verdict === "not_found") {
      this.unanswered(result, found, when);
      return;
    }
    // with the numbers of its references in it
    this.answer.end();
    this.answer = new AnswerText(this.text, marks(found.items, this.asked.project));
    this.answer.append(found.text);
    this.answer.grow(); // with what stands below it, not a frame later
    add(this.below, this.verdict(result, found), this.uncertain(result, found));
    if (found.items.length) add(this.below, referenceList(found.items, this.asked.project));
    add(this.below, this.open(result), this.actions(result, found, when), this.marks());
    this.say(counted("answer.ready", found.items.length));
  }

  /** Tell readers of the screen what is new. @param {string} text */
  say(text) {
    if (this.isNew) say(text);
  }

  /** Show what a follow-up was searched for, where it did not stand alone. @param {any} query */
  rewritten(query) {
    if (!query?.rewritten) return;
    this.work.view.before(element("p", { class: "facts searched", dir: "auto" }, word("answer.searched"), " ", foreign(query.searched)));
  }

  marks() {
    return feedbackView(this.kept, this.isNew, () => this.ways.keep(this.kept));
  }

  /** @param {any} result @param {import("./references.js").Referred} found */
  verdict(result, found) {
    const { verdict } = result;
    if (!verdict || !hasWord(`verdict.${verdict.verdict}`)) return null;
    return element("p", { class: `verdict is-${verdict.verdict}` },
      element("strong", {}, word(`verdict.${verdict.verdict}`)), " ", meter(found.confidence ?? verdict.confidence));
  }

  /** @param {any} result @param {import("./references.js").Referred} found */
  uncertain(result, found) {
    const said = [result.residual_uncertainty, ...found.limits].filter((one) => typeof one === "string" && one.trim());
    if (!said.length) return null;
    // one line, which opens to all of it
    return element("details", { class: "uncertain" },
      element("summary", {}, element("strong", {}, word("answer.uncertain")), " ", element("span", { class: "first", dir: "auto" }, seen(said[0]))),
      ...said.map((one) => element("p", { dir: "auto" }, seen(one))));
  }

  /** Questions of the search that stayed open, as what to ask next. @param {any} result */
  open(result) {
    const left = (result.trace?.followups ?? []).filter((/** @type {any} */ one) => one.state.startsWith("skipped") || one.verdict === "not_found" || one.verdict === "partly");
    const questions = [...new Set(left.map((/** @type {any} */ one) => String(one.question)))]
      .filter((one) => !one.startsWith(this.asked.question)).slice(0, 4);
    if (!questions.length) return null;
    const ask = (/** @type {string} */ question) => () => this.ways.again({ ...this.asked, question, history: [] });
    return element("section", { class: "open-questions" }, element("h3", {}, word("answer.open")),
      element("ul", { class: "examples" }, ...questions.map((one) =>
        element("li", {}, element("button", { type: "button", class: "example", onclick: ask(one) }, foreign(one))))));
  }

  /** No answer, but what stands near one. @param {any} result @param {import("./references.js").Referred} found @param {number} when */
  unanswered(result, found, when) {
    this.answer.end();
    add(this.below, this.nothing(result, "verdict.not_found"));
    if (found.near.length) add(this.below, referenceList(found.near, this.asked.project, "references.near"));
    add(this.below, this.open(result), this.actions(result, found, when), this.marks());
    this.say(word("verdict.not_found"));
  }

  /** @param {any} result @param {string} [what] the word for what is missing */
  nothing(result, what = "answer.nothing") {
    const next = this.asked.depth === "quick" || this.asked.depth === "nodes" ? "answer.nothing.deeper" : "answer.nothing.next";
    const made = element("div", { class: "nothing" }, element("p", { class: "what" }, word(what)), element("p", {}, word(next)));
    if (result.residual_uncertainty) add(made, element("p", { class: "detail", dir: "auto" }, seen(result.residual_uncertainty)));
    if (next.endsWith("deeper")) {
      add(made, element("p", { class: "buttons" }, button(word("answer.deeper"), () => this.ways.again({ ...this.asked, depth: "drift" }), "")));
    }
    return made;
  }

  /** @param {any} result @param {import("./references.js").Referred} found @param {number} when */
  actions(result, found, when) {
    const about = () => ({ asked: this.asked, uncertain: result.residual_uncertainty ?? "", when, confidence: isShown() });
    const markdown = () => asMarkdown(found, about());
    return element("p", { class: "buttons actions" },
      button(word("answer.copy"), (event) => void copy(event, withNumbers(found.text))),
      button(word("answer.copyMarkdown"), (event) => void copy(event, markdown())),
      button(word("answer.copyMail"), (event) => void copy(event, asMail(found, about()))),
      button(word("answer.download"), () => download(fileName(this.asked.question), markdown())),
      button(word("answer.share"), (event) => void copy(event, addressOf(this.asked, this.kept.thread))),
      button(word("answer.again"), () => this.ways.again(this.asked)));
  }

  /** @param {unknown} error */
  failed(error) {
    this.work.end(null);
    this.work.view.hidden = this.work.phases.size === 0;
    const code = error instanceof Problem ? error.code : "page";
    const told = this.answer.whole.trim() !== "";
    if (told && code !== "stopped") this.text.before(element("p", { class: "note" }, word("answer.incomplete")));
    if (told) this.text.classList.add("is-incomplete");
    this.work.now.replaceChildren(word(code === "stopped" ? "work.stopped" : "work.failed"));
    this.below.append(problemView(error, { again: () => this.ways.again(this.asked), askKey: this.ways.askKey }));
    if (code === "stopped") say(word("work.stopped"));
  }
}

/** Whether no language model stands behind the page. */
function isStandIn() {
  return document.documentElement.dataset.standIn === "true";
}

/** @param {MouseEvent} event @param {string} text */
async function copy(event, text) {
  const place = /** @type {HTMLElement} */ (event.currentTarget), before = (place.dataset.before ??= place.textContent ?? "");
  // without https there is no clipboard
  const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  const said = (place.textContent = word(done ? "answer.copied" : "answer.notCopied"));
  say(said);
  setTimeout(() => { place.textContent = before; }, 2000);
}
