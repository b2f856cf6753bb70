/**
 * A search at work: its phases with their time, and the follow-ups as they grow.
 */
import { add, element, foreign, forReaders, say } from "./elements.js";
import { meter } from "./confidence.js";
import { fromMessage, fromTrace, kindOf, tree } from "./followups.js";
import { counted, duration, hasWord, number, word } from "./words.js";

/** @typedef {import("./followups.js").Branch} Branch */

const LAST = ["completed", "error"];

export class Work {
  constructor() {
    this.began = performance.now();
    /** @type {Map<string, { from: number, to: number | null, row: HTMLElement, thought: string }>} */
    this.phases = new Map();
    /** @type {Map<string, import("./followups.js").Followup>} */
    this.followups = new Map();
    this.knowsIds = false;
    this.frame = 0;
    this.bar = element("progress", { max: 100, value: 0, "aria-label": word("work.progress") });
    this.now = element("span", { class: "now" }, word("work.begins"));
    this.clock = element("span", { class: "clock", "aria-hidden": "true" });
    this.list = element("ol", { class: "phases" });
    this.branches = element("ul", { class: "tree" });
    this.grown = element("div", { class: "followups", hidden: true }, element("h3", {}, word("work.followups")), this.branches);
    this.costs = element("p", { class: "facts" });
    this.view = element("details", { class: "work", open: true },
      element("summary", {}, this.now, this.clock), this.bar,
      element("div", { class: "inside" }, this.list, this.grown, this.costs));
    this.timer = setInterval(() => this.tick(), 200);
  }

  tick() {
    this.clock.textContent = duration((performance.now() - this.began) / 1000);
    for (const { from, to, row } of this.phases.values()) {
      if (to === null) this.time(row, from, performance.now());
    }
  }

  /** @param {HTMLElement} row @param {number} from @param {number} to */
  time(row, from, to) {
    const place = row.querySelector(".time");
    if (place) place.textContent = duration((to - from) / 1000);
  }

  /** @param {any} message one progress message */
  progress(message) {
    if (LAST.includes(message.phase)) return;
    this.bar.value = Number(message.progress_pct) || 0;
    this.enter(String(message.phase));
    const said = fromMessage(message);
    if (said && !this.knowsIds) this.hear(said);
    else if (!said) this.think(String(message.phase), message);
  }

  /** @param {string} phase */
  enter(phase) {
    if (this.phases.has(phase)) return;
    const now = performance.now();
    for (const one of this.phases.values()) {
      if (one.to !== null) continue;
      one.to = now;
      one.row.classList.add("done");
      this.time(one.row, one.from, now);
    }
    const name = hasWord(`phase.${phase}`) ? word(`phase.${phase}`) : phase;
    const row = element("li", {}, element("span", { class: "name" }, foreign(name)), element("span", { class: "time" }), element("p", { class: "facts thought" }));
    this.phases.set(phase, { from: now, to: null, row, thought: "" });
    this.list.append(row);
    this.now.replaceChildren(foreign(name));
    say(name);
  }

  /** @param {string} phase @param {any} message what it says beside its name */
  think(phase, message) {
    const one = this.phases.get(phase), details = String(message.details_md ?? "");
    if (!one || phase !== "retrieving_communities" || !details) return;
    const titles = details.split("\n").map((line) => line.replace(/^- /, "").replace(/\\([\\`*_[\]<>|~&#+.)-])/g, "$1"));
    const place = one.row.querySelector(".thought");
    place?.replaceChildren(foreign(titles.slice(0, 3).join(" · ")), titles.length > 3 ? ` · ${counted("work.more", titles.length - 3)}` : "");
  }

  /** @param {any} node a follow-up as the stream tells it */
  followup(node) {
    if (!this.knowsIds) this.followups.clear();
    this.knowsIds = true;
    this.hear(fromTrace(node));
  }

  /** @param {import("./followups.js").Followup} one */
  hear(one) {
    this.followups.set(one.name, one);
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = 0;
    const roots = tree(this.followups.values());
    this.grown.hidden = !roots.length;
    this.branches.replaceChildren(...roots.map(branchView));
  }

  /**
   * Show how the search ended; `result` is the document of the answer, or null.
   * @param {any} result
   */
  end(result) {
    clearInterval(this.timer);
    for (const one of this.phases.values()) {
      this.time(one.row, one.from, (one.to ??= performance.now()));
      one.row.classList.add("done");
    }
    const seconds = (performance.now() - this.began) / 1000;
    this.bar.hidden = true;
    if (!result) return;
    const nodes = result.trace?.followups ?? [];
    this.followups = new Map(nodes.map((/** @type {any} */ node) => [String(node.id), fromTrace(node)]));
    this.draw();
    this.clock.textContent = "";
    const facts = [word("work.took", { time: duration(seconds) })];
    if (nodes.length) facts.push(counted("work.asked", nodes.length));
    this.now.replaceChildren([...facts, ...spent(result.usage, false)].join(" · "));
    this.costs.textContent = spent(result.usage, true).join(" · ");
    this.view.open = false;
  }
}

/** @param {any} usage @param {boolean} all @returns {string[]} */
function spent(usage, all) {
  if (!usage) return [];
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  const facts = [counted("work.tokens", tokens)];
  if (all) {
    facts.push(word("work.parts", { prompt: number(usage.prompt_tokens), completion: number(usage.completion_tokens) }),
      counted("work.calls", usage.chat_calls), counted("work.trips", usage.graph_round_trips));
  }
  const cost = usage.cost;
  if (cost) facts.push(money(cost, all));
  return facts;
}

/** @param {any} cost @param {boolean} dated */
function money(cost, dated) {
  const amount = `${number(cost.amount, { maximumSignificantDigits: 2 })} ${cost.currency}`;
  return dated ? word("work.cost", { amount, date: cost.prices }) : amount;
}

/** @param {Branch} branch @returns {HTMLElement} */
function branchView(branch) {
  const { state, verdict, question, confidence } = branch.followup, kind = kindOf(state);
  const shown = kind === "answered" && verdict && verdict !== "answered" ? verdict : kind;
  const name = hasWord(`state.${shown}`) ? word(`state.${shown}`) : state;
  const line = element("div", { class: `followup is-${/^[a-z_]+$/.test(shown) ? shown : "other"}` },
    element("span", { class: "dot", "aria-hidden": "true" }),
    element("span", { class: "question", dir: "auto" }, foreign(question)),
    element("span", { class: "facts" }, forReaders(": "), foreign(name)), meter(confidence));
  const made = element("li", {}, line);
  if (branch.below.length) add(made, element("ul", {}, ...branch.below.map(branchView)));
  return made;
}
