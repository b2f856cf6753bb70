/**
 * A failure in words, with what to do next.
 */
import { Problem } from "./api.js";
import { button, element, foreign } from "./elements.js";
import { hasWord, word } from "./words.js";

/**
 * @typedef {{ again?: () => void, askKey?: (isSameCaller: boolean) => void }} Ways
 *   what the reader may do next
 */

/** What a key may mend. */
const WANTS_KEY = ["unauthenticated", "forbidden"];
/** What does not become better by asking again at once. */
const LASTS = ["unauthenticated", "forbidden", "invalid_request", "not_found", "too_large", "graph_misconfigured", "model_misconfigured"];

/**
 * @param {unknown} error
 * @param {Ways} ways
 */
export function problemView(error, ways) {
  const problem = error instanceof Problem ? error : new Problem("page");
  if (!(error instanceof Problem)) console.error(error);
  const known = hasWord(`problem.${problem.code}`) ? problem.code : "unavailable";
  const box = element("div", { class: "problem", role: problem.code === "stopped" ? null : "alert" },
    element("p", { class: "what" }, word(`problem.${known}`)),
    element("p", {}, word(`problem.${known}.next`)));
  if (problem.detail) box.append(element("p", { class: "detail", dir: "auto" }, foreign(problem.detail)));
  for (const { field, message } of problem.fields) {
    box.append(element("p", { class: "detail" }, foreign(field), ": ", foreign(message)));
  }
  if (problem.id) box.append(element("p", { class: "facts" }, word("problem.id"), " ", element("code", {}, foreign(problem.id))));
  box.append(buttons(problem, ways));
  return box;
}

/** @param {Problem} problem @param {Ways} ways */
function buttons(problem, ways) {
  const row = element("p", { class: "buttons" });
  if (WANTS_KEY.includes(problem.code) && ways.askKey) row.append(button(word("problem.key"), () => ways.askKey?.(problem.code === "unauthenticated"), ""));
  if (ways.again && !LASTS.includes(problem.code)) row.append(againButton(problem.retryAfter, ways.again));
  return row;
}

/**
 * A button that can be used when the server takes questions again.
 * @param {number} wait seconds
 * @param {() => void} again
 */
function againButton(wait, again) {
  const made = button(word("problem.again"), again, "");
  if (!wait) return made;
  const until = Date.now() + wait * 1000;
  made.disabled = true;
  const count = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    made.disabled = left > 0;
    made.textContent = left > 0 ? word("problem.wait", { seconds: left }) : word("problem.again");
    if (left <= 0 || !made.isConnected) clearInterval(timer);
  };
  const timer = setInterval(count, 1000);
  made.textContent = word("problem.wait", { seconds: wait });
  return made;
}
