/**
 * A search at work: its phases with their time, its follow-ups as they grow; at its end how it was found.
 */
import { add, button, element, foreign, forReaders, say } from "./elements.js";
import { meter } from "./confidence.js";
import { fromMessage, fromTrace, kindOf, tree } from "./followups.js";
import { problemView } from "./problems.js";
import { counted, duration, hasWord, number, word } from "./words.js";

/** @typedef {import("./followups.js").Branch} Branch */

const LAST = ["completed", "error"];
/** So many follow-ups are drawn at once. */
const MOST_AT_ONCE = 60;

export class Work {
  constructor() {
    this.began = performance.now();
    /** @type {Map<string, { from: number, to: number | null, row: HTMLElement }>} */
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
    this.grown = element("div", { class: "followups", hidden: true }, element("h3", { tabindex: "-1" }, word("work.followups")), this.branches);
    this.costs = element("p", { class: "facts" });
    this.more = element("div", { class: "more" });
    /** Names of documents by the passages of theirs that are cited. @type {Map<string, string>} */
    this.names = new Map();
    /** What is loaded when it is opened behind the end. @type {(() => Promise<Node[]>) | null} */
    this.load = null;
    this.view = element("details", { class: "work", open: true, ontoggle: () => void this.unfold() },
      element("summary", {}, this.now, this.clock), this.bar,
      element("div", { class: "inside" }, this.list, this.grown, this.costs, this.more));
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
    const name = this.row(phase);
    this.now.replaceChildren(foreign(name));
    say(name);
  }

  /** @param {string} phase @returns its name */
  row(phase) {
    const name = hasWord(`phase.${phase}`) ? word(`phase.${phase}`) : phase;
    const row = element("li", {}, element("span", { class: "name" }, foreign(name)), element("span", { class: "time" }), element("p", { class: "facts thought" }));
    this.phases.set(phase, { from: performance.now(), to: null, row });
    this.list.append(row);
    return name;
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

  draw(most = MOST_AT_ONCE) {
    this.frame = 0;
    const all = [...this.followups.values()], roots = tree(all.slice(0, most));
    this.grown.hidden = !roots.length;
    this.branches.replaceChildren(...roots.map((one) => branchView(one, this.names)));
    if (all.length <= most) return;
    const rest = button(word("references.all", { count: number(all.length) }), () => {
      this.draw(Infinity);
      this.grown.querySelector("h3")?.focus();
    });
    this.branches.append(element("li", {}, rest));
  }

  /** Load what belongs to it, once, when it is opened behind the end. */
  async unfold() {
    const { load } = this;
    if (!load || !this.view.open) return;
    this.load = null;
    try {
      this.more.replaceChildren(...await load());
    } catch (error) {
      this.more.replaceChildren(problemView(error, { again: () => { this.load = load; void this.unfold(); } }));
    }
  }

  /** Each phase with its seconds, as the service measured them, and a bar. @param {Record<string, { seconds: number }>} told */
  steps(told) {
    for (const phase of Object.keys(told)) if (!this.phases.has(phase)) this.row(phase);
    const steps = [...this.phases].map(([phase, { from, to, row }]) =>
      ({ row, seconds: Number(told[phase]?.seconds ?? ((to ?? performance.now()) - from) / 1000) }));
    const most = Math.max(...steps.map((one) => one.seconds), 0.001);
    for (const { row, seconds } of steps) {
      const bar = element("i", { class: "size" });
      bar.style.width = `${Math.max(1, Math.round(seconds / most * 100))}%`;
      this.time(row, 0, seconds * 1000);
      add(row, element("span", { class: "bar", "aria-hidden": "true" }, bar));
      row.classList.add("done");
    }
  }

  /**
   * Show how the search ended; `result` is the document of the answer, or null.
   * @param {any} result
   * @param {() => Promise<Node[]>} [more] what is loaded when it is opened
   */
  end(result, more) {
    clearInterval(this.timer);
    this.steps(result?.usage?.phases ?? {});
    const seconds = (performance.now() - this.began) / 1000;
    this.bar.hidden = true;
    if (!result) return;
    const nodes = result.trace?.followups ?? [];
    for (const fact of result.key_facts ?? []) for (const one of fact.citations ?? []) this.names.set(String(one.chunk_id), String(one.document_name ?? ""));
    this.followups = new Map(nodes.map((/** @type {any} */ node) => [String(node.id), fromTrace(node)]));
    this.draw();
    this.clock.textContent = "";
    const facts = [word("explain.title"), word("work.took", { time: duration(seconds) })];
    if (nodes.length) facts.push(counted("work.asked", nodes.length));
    this.now.replaceChildren([...facts, ...spent(result.usage, false)].join(" · "));
    this.costs.textContent = spent(result.usage, true).join(" · ");
    this.view.open = false;
    this.load = more ?? null;
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

/** @param {Branch} branch @param {Map<string, string>} names @returns {HTMLElement} */
function branchView(branch, names) {
  const { state, verdict, question, confidence, read, seconds } = branch.followup, { kind, reason } = kindOf(state);
  const shown = kind === "answered" && verdict && verdict !== "answered" ? verdict : kind;
  const why = [`reason.${reason}`, `problem.${reason}`].find(hasWord), cited = new Set(read.map((id) => names.get(id)).filter(Boolean));
  const name = [
    hasWord(`state.${shown}`) ? word(`state.${shown}`) + (reason && `: ${why ? word(why) : reason}`) : state,
    read.length && counted("work.read", read.length) + (cited.size ? ` (${[...cited].slice(0, 3).join(", ")})` : ""),
    seconds > 0 && duration(seconds),
  ].filter(Boolean).join(" · ");
  const line = element("div", { class: `followup is-${/^[a-z_]+$/.test(shown) ? shown : "other"}` },
    element("span", { class: "dot", "aria-hidden": "true" }),
    element("span", { class: "question", dir: "auto" }, foreign(question)),
    element("span", { class: "facts" }, forReaders(": "), foreign(name)), meter(confidence));
  const made = element("li", {}, line);
  if (branch.below.length) add(made, element("ul", {}, ...branch.below.map((one) => branchView(one, names))));
  return made;
}
