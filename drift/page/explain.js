/**
 * Why an answer is as it is: what the search found, what became of it, and where the time went. It is
 * searched for once more, when somebody opens it.
 */
import { ask } from "./api.js";
import { add, element, foreign } from "./elements.js";
import { problemView } from "./problems.js";
import { duration, hasWord, number, word } from "./words.js";

/**
 * What is folded below an answer.
 * @param {import("./address.js").Asked} asked
 * @param {AbortSignal} signal leaving ends the search
 */
export function explainView(asked, signal) {
  const inside = element("div", { class: "inside" });
  const view = element("details", { class: "work" }, element("summary", {}, word("explain.title")), inside);
  const load = async () => {
    inside.replaceChildren(element("p", { class: "facts" }, word("explain.begins")));
    try {
      for await (const { name, data } of ask(asked, signal, ["explain"])) {
        if (name === "result") inside.replaceChildren(...told(data.explain));
      }
    } catch (error) {
      if (!signal.aborted) inside.replaceChildren(problemView(error, { again: () => void load() }));
    }
  };
  view.addEventListener("toggle", () => void load(), { once: true });
  return view;
}

/** @param {any} explain @returns {HTMLElement[]} */
function told({ seconds, phases, calls, looks, dropped, lost }) {
  const times = Object.entries(phases).map(([phase, spent]) => line(named("phase", phase), duration(Number(spent))));
  const slowest = [...calls].sort((one, other) => other.seconds - one.seconds).slice(0, 5).map((one) =>
    line(`${one.kind} ${one.name} ${one.model ?? ""}`, `${duration(one.seconds)} ${one.error ?? ""}`));
  const bad = [
    ...lost.map((/** @type {string} */ one) => line(word("explain.lost"), one)),
    ...dropped.map((/** @type {any} */ one) => line(word("explain.dropped"), `${one.span} (${one.reason})`)),
  ];
  return [
    part(word("explain.seconds", { time: duration(seconds) }), times),
    part(word("explain.calls"), slowest),
    ...(bad.length ? [part(word("explain.less"), bad)] : []),
    ...looks.slice(0, 12).map((/** @type {any} */ look) => part(look.question, look.passages.slice(0, 12).map(passage))),
  ];
}

/** @param {any} one */
function passage(one) {
  const ways = one.ways.map((/** @type {any} */ way) => `${way.way} ${number(way.rank)}`).join(", ");
  return line(one.document_name, `${named("explain.fate", one.fate)} (${ways})`);
}

/** @param {string} kind @param {string} name */
function named(kind, name) {
  return hasWord(`${kind}.${name}`) ? word(`${kind}.${name}`) : name;
}

/** @param {string} title @param {HTMLElement[]} lines */
function part(title, lines) {
  const made = element("section", {}, element("h3", { dir: "auto" }, foreign(title)));
  add(made, element("ol", { class: "facts" }, ...lines));
  return made;
}

/** @param {string} what @param {string} said */
function line(what, said) {
  return element("li", {}, foreign(what), ": ", foreign(said));
}
