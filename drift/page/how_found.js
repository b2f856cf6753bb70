/**
 * How an answer was found, beyond what it tells itself: what was read and what was not, and at which
 * step a passage was lost. For that the question is searched for once more, when somebody asks for it.
 */
import { Problem, ask, give, read } from "./api.js";
import { add, button, element, foreign } from "./elements.js";
import { openPassage } from "./passage.js";
import { answerPicture } from "./picture_place.js";
import { problemView } from "./problems.js";
import { duration, hasWord, number, word } from "./words.js";

/** What may become of a passage, the farthest first. */
const FATES = ["cited", "noted", "shown", "budget", "place", "unread", "duplicate", "pool"];
/** A passage says a text when it has so many of its words. */
const NEARLY = 0.8;
const SLOWEST = 5, MOST_NEAR = 20, LONGEST_ID = 300;

/** @param {import("./address.js").Asked} asked @param {import("./references.js").Reference[]} items @param {any} result @param {AbortSignal} signal leaving ends a search */
export function howFound(asked, items, result, signal) {
  const drawn = items.length ? [answerPicture(items, result, asked.project)] : [];
  if (asked.depth === "nodes") return drawn;
  /** @type {Promise<any> | null} */
  let looked = null;
  const lookOnce = () => (looked ??= explained(asked, signal).catch((error) => { looked = null; throw error; }));
  return [...drawn, evidence(lookOnce, asked.project, signal), finder(lookOnce, asked.project, signal)];
}

/** Search for the question once more, and return what explains the answer. @param {import("./address.js").Asked} asked @param {AbortSignal} signal */
async function explained(asked, signal) {
  let told = null;
  for await (const { name, data } of ask(asked, signal, ["explain"])) if (name === "result") told = data.explain;
  if (!told) throw new Problem("unavailable");
  return told;
}

/** What was read and what was not, behind a button. @param {() => Promise<any>} look @param {string} project @param {AbortSignal} signal */
function evidence(look, project, signal) {
  const inside = element("div", {}), load = () => void fill(inside, signal, async () => told(await look(), project));
  add(inside, element("p", { class: "facts" }, word("explain.costs")), element("p", { class: "buttons" }, button(word("explain.look"), load, "")));
  return element("section", {}, element("h3", {}, word("explain.read")), inside);
}

/** Show what is made when it is there, or what went wrong. @param {HTMLElement} place @param {AbortSignal} signal @param {() => Promise<HTMLElement[]>} make */
async function fill(place, signal, make) {
  place.replaceChildren(element("p", { class: "busy", role: "status" }, word("explain.begins")));
  try {
    place.replaceChildren(...await make());
  } catch (error) {
    if (!signal.aborted) place.replaceChildren(problemView(error, { again: () => void fill(place, signal, make) }));
  }
}

/** @param {any} explain @param {string} project @returns {HTMLElement[]} */
function told({ seconds, calls, looks, dropped, lost }, project) {
  const slowest = [...calls].sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST).map((one) =>
    line([one.kind, one.name, one.model].filter(Boolean).join(" "), [duration(one.seconds), one.error].filter(Boolean).join(" ")));
  const bad = [
    ...lost.map((/** @type {string} */ one) => line(word("explain.lost"), one)),
    ...dropped.map((/** @type {any} */ one) => line(word("explain.dropped"), `${one.span} (${one.reason})`)),
  ];
  return [
    ...looks.map((/** @type {any} */ one) => search(one, project)),
    fold(word("explain.calls", { time: duration(seconds) }), () => element("ol", { class: "facts" }, ...slowest)),
    ...(bad.length ? [fold(word("explain.less"), () => element("ol", { class: "facts" }, ...bad))] : []),
  ];
}

/** One search with its passages, which are written when it is opened. @param {any} one @param {string} project */
function search({ question, passages }, project) {
  const read = passages.filter((/** @type {any} */ one) => FATES.indexOf(one.fate) < 3).length;
  return fold(question, () => element("ol", { class: "looked" }, ...passages.map((/** @type {any} */ one) => passage(one, project))),
    word("explain.counts", { read: number(read), found: number(passages.length) }));
}

/** @param {any} one @param {string} project */
function passage(one, project) {
  const ways = one.ways.map((/** @type {any} */ { way, rank, score }) => `${called("explain.way", way)} ${number(rank)}${typeof score === "number" ? ` (${number(score)})` : ""}`);
  const others = one.via.filter((/** @type {string} */ via) => !one.ways.some((/** @type {any} */ way) => way.way === via)).map((/** @type {string} */ via) => called("explain.way", via));
  return element("li", { class: FATES.indexOf(one.fate) < 3 ? "is-read" : "" },
    element("button", { type: "button", class: "row", onclick: () => void openPassage({ id: one.chunk_id, title: one.document_name }, project) }, foreign(one.document_name || one.chunk_id)),
    element("span", { class: "facts" }, ` ${[called("explain.fate", one.fate), ...ways, ...others].join(" · ")}`));
}

/** @param {string} title @param {() => HTMLElement} content @param {string} [said] */
function fold(title, content, said = "") {
  const made = element("details", { ontoggle: () => {
    if (made.open && made.children.length === 1) made.append(content());
  } }, element("summary", { dir: "auto" }, foreign(title), said && element("span", { class: "facts" }, ` · ${said}`)));
  return made;
}

/** @param {string} what @param {string} said */
function line(what, said) {
  return element("li", {}, foreign(what), ": ", foreign(said));
}

/** @param {string} kind @param {string} name */
function called(kind, name) {
  return hasWord(`${kind}.${name}`) ? word(`${kind}.${name}`) : name;
}

/** Where a passage is looked up that should have been found. @param {() => Promise<any>} look @param {string} project @param {AbortSignal} signal */
function finder(look, project, signal) {
  const wanted = element("input", { type: "search", maxlength: 1000, dir: "auto", required: true });
  const said = element("div", { role: "status" });
  const find = async () => {
    const ids = await held(wanted.value.trim(), project, signal);
    const [key, values] = ids.size ? stepOf(await look(), ids) : ["explain.step.absent", {}];
    return [element("p", {}, word(key, values))];
  };
  return element("section", {}, element("h3", {}, word("explain.missing")),
    element("form", { class: "finder", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      if (wanted.value.trim()) void fill(said, signal, find);
    } }, element("label", {}, element("span", { class: "facts" }, word("explain.missing.about")), wanted),
    element("p", { class: "buttons" }, element("button", { type: "submit" }, word("explain.missing.find")))), said);
}

/** The ids of a project's passages that are meant: by the id itself, or by words of theirs. @param {string} said @param {string} project @param {AbortSignal} signal */
async function held(said, project, signal) {
  const of = project ? { project_id: project } : {};
  if (said.length <= LONGEST_ID) {
    try {
      return new Set([String((await read(`chunks/${encodeURIComponent(said)}`, of, signal)).id)]);
    } catch (error) { // words are no id
      if (!(error instanceof Problem && ["not_found", "invalid_request"].includes(error.code))) throw error;
    }
  }
  const reply = await give("POST", "retrieve", { query: said, answer: false, top_k: MOST_NEAR, ...of }, {}, signal);
  const { evidence: near } = await reply.json(), words = [...wordsOf(said)];
  return new Set(near.filter((/** @type {any} */ one) => {
    const its = wordsOf(one.text);
    return words.length && words.filter((each) => its.has(each)).length >= NEARLY * words.length;
  }).map((/** @type {any} */ one) => String(one.chunk_id)));
}

/** @param {string} text */
function wordsOf(text) {
  return new Set(text.normalize("NFKC").toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
}

/** Pure: the word for the step that lost the best of these passages, with its values. @param {any} explain @param {Set<string>} ids @returns {[string, Record<string, unknown>]} */
export function stepOf({ looks, dropped, bounds }, ids) {
  const found = looks.flatMap((/** @type {any} */ look) => look.passages).filter((/** @type {any} */ one) => ids.has(String(one.chunk_id)));
  if (!found.length) return ["explain.step.search", {}];
  const [best] = found.sort((/** @type {any} */ one, /** @type {any} */ other) => FATES.indexOf(one.fate) - FATES.indexOf(other.fate));
  const refused = best.fate === "shown" && dropped.find((/** @type {any} */ one) => ids.has(String(one.chunk_id)));
  if (refused) return ["explain.step.refused", { document: best.document_name, reason: refused.reason }];
  return [`explain.step.${best.fate}`, { document: best.document_name, rank: number(best.rank ?? 0), most: number(bounds.max_chunks_for_prompt) }];
}
