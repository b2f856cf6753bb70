/**
 * The page's address: what a link may hold, and what is taken out of it at once.
 */
const DEPTHS = ["nodes", "quick", "auto", "drift"];
/** Names under which people put keys into addresses, small; the platform's own is `code`. */
const SECRET = ["key", "code", "api_key", "apikey", "x-api-key", "x-functions-key", "token", "access_token"];

/**
 * @typedef {object} Asked
 * @property {string} question
 * @property {string} project
 * @property {string} depth
 * @property {number} [passages] how many a search takes
 * @property {import("./thread_store.js").Message[]} [history] the conversation before it
 * @property {import("./filter_chips.js").Chip[]} [chips] the documents that it may use, all without any
 */

/**
 * Take every key out of the address, before anything else is done with it.
 * @returns {{ key: string, from: "fragment" | "query" | "" }} the key that it held
 */
export function takeKey() {
  const address = new URL(location.href);
  const inFragment = taken(new URLSearchParams(address.hash.slice(1)));
  const inQuery = taken(address.searchParams);
  if (!inFragment.key && !inQuery.key) return { key: "", from: "" };

  if (inFragment.key) address.hash = inFragment.rest.toString();
  history.replaceState(null, "", address);
  return inFragment.key ? { key: inFragment.key, from: "fragment" } : { key: inQuery.key, from: "query" };
}

/** @param {URLSearchParams} parameters they lose what is secret */
function taken(parameters) {
  let key = "";
  for (const [name, value] of [...parameters]) {
    if (!SECRET.includes(name.toLowerCase())) continue;
    key ||= value.trim();
    parameters.delete(name);
  }
  return { key, rest: parameters };
}

/**
 * Return what the address asks.
 * @returns {Asked & { thread: string }}
 */
export function asked() {
  const parameters = new URLSearchParams(location.search);
  const depth = parameters.get("depth") ?? "";
  return {
    question: (parameters.get("q") ?? "").slice(0, 4000),
    project: (parameters.get("project") ?? "").slice(0, 128),
    depth: DEPTHS.includes(depth) ? depth : "",
    thread: (parameters.get("thread") ?? "").slice(0, 64),
  };
}

/**
 * Return the address of a question: never a key, never an answer.
 * @param {Asked} what
 * @param {string} [thread] where this browser has its answer
 */
export function addressOf(what, thread = "") {
  const address = new URL(location.pathname, location.origin);
  address.searchParams.set("q", what.question);
  if (what.project) address.searchParams.set("project", what.project);
  address.searchParams.set("depth", what.depth);
  if (thread) address.searchParams.set("thread", thread);
  return address.href;
}

/** Keep the chosen project in the address, for who loads the page again. @param {string} id */
export function keepProject(id) {
  const address = new URL(location.href);
  if (id) address.searchParams.set("project", id);
  else address.searchParams.delete("project");
  history.replaceState(history.state, "", address);
}

/**
 * Name a thread in the address, "" for a new one.
 * @param {string} project
 * @param {string} thread
 * @param {boolean} isStep whether Back leads to what was there before
 */
export function goTo(project, thread, isStep) {
  const address = new URL(location.pathname, location.origin);
  if (project) address.searchParams.set("project", project);
  if (thread) address.searchParams.set("thread", thread);
  if (isStep) history.pushState(null, "", address);
  else history.replaceState(history.state, "", address);
}
