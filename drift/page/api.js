/**
 * The function's routes: questions as streams, reading as JSON, and every failure as a Problem.
 */
import { credential } from "./credential.js";
import { eventsOf } from "./event_stream.js";
import { filterOf } from "./filter_chips.js";

/** What is asked for beside the answer; the one place of this list. */
const INCLUDE = ["usage", "trace", "verdict", "locations", "references"];

/** Codes of what never reached the function's own words, by status. */
const CODES = /** @type {Record<number, string>} */ ({
  401: "unauthenticated", 403: "forbidden", 404: "not_found", 413: "too_large", 429: "busy",
});

/** What went wrong, by the function's stable code or one of the page's own. */
export class Problem extends Error {
  /**
   * @param {string} code
   * @param {{ detail?: string, status?: number, retryAfter?: number, id?: string, fields?: {field: string, message: string}[] }} [about]
   */
  constructor(code, about = {}) {
    super(about.detail ?? code);
    this.code = code;
    this.detail = about.detail ?? "";
    this.status = about.status ?? 0;
    this.retryAfter = about.retryAfter ?? 0;
    this.id = about.id ?? "";
    this.fields = about.fields ?? [];
  }
}

/**
 * Fetch what a route gives.
 * @param {string} path segments are encoded already
 * @param {Record<string, string | number | null | undefined>} [parameters]
 * @param {AbortSignal} [signal]
 * @param {Record<string, string>} [headers]
 */
export function receive(path, parameters = {}, signal, headers = {}) {
  return sent(addressOf(path, parameters), { signal, headers });
}

/**
 * Read a route that tells JSON.
 * @param {Parameters<typeof receive>} asked
 * @returns {Promise<any>}
 */
export async function read(...asked) {
  const reply = await receive(...asked);
  try {
    return await reply.json();
  } catch (error) {
    throw asProblem(error, asked[2]);
  }
}

/** @param {string} path @param {Record<string, string | number | null | undefined>} [parameters] */
function addressOf(path, parameters = {}) {
  const address = new URL(path, document.baseURI);
  address.search = "";
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined) address.searchParams.set(name, String(value));
  }
  return address;
}

/**
 * Ask a question, and yield `begun` with its `retrieval_id`, then the events of its answer; the last
 * one is `result`. The nearest nodes answer without what was said before.
 * @param {import("./address.js").Asked} asked
 * @param {AbortSignal} signal leaving ends the search at the server
 * @param {string[]} [include] what is asked for beside the answer
 */
export async function* ask(asked, signal, include = INCLUDE) {
  const nodes = asked.depth === "nodes";
  const filter = filterOf(asked.chips ?? []);
  const of = { ...(asked.project ? { project_id: asked.project } : {}), ...(filter ? { filter } : {}) };
  const body = nodes
    ? { question: asked.question, ...of }
    : { query: asked.question, depth: asked.depth, top_k: asked.passages, ...of, ...before(asked.history ?? [], include) };
  const reply = await sent(addressOf(nodes ? "api/rag/query" : "retrieve"), {
    method: "POST", body: JSON.stringify(body), signal,
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  if (!reply.body || !isStream(reply)) throw new Problem("cut");

  yield { name: "begun", data: { id: reply.headers.get("x-retrieval-id") ?? "" } };
  let isWhole = false;
  try {
    // to the end of the stream: leaving after the result would look like leaving the search
    for await (const event of eventsOf(reply.body)) {
      if (event.name === "error") throw problemIn(event.data, reply);
      yield event;
      isWhole ||= event.name === "result";
    }
  } catch (error) {
    if (!isWhole) throw asProblem(error, signal, "cut");
  }
  if (!isWhole) throw new Problem("cut");
}

/**
 * The conversation before a question, with how it was searched for then.
 * @param {import("./thread_store.js").Message[]} history
 * @param {string[]} include
 */
function before(history, include) {
  return history.length ? { history, include: [...include, "query"] } : { include };
}

/**
 * Send something to a route, and return its reply.
 * @param {"POST" | "PATCH" | "DELETE"} method @param {string} path @param {object | null} body
 * @param {Record<string, string>} [parameters] @param {AbortSignal} [signal]
 */
export async function give(method, path, body, parameters, signal) {
  const about = body ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {};
  return sent(addressOf(path, parameters), { method, signal, ...about });
}

/**
 * Have a project hold a document; the server reads by the ending of its id what it is.
 * @param {string} project @param {string} id @param {File} file @param {(bytes: number) => void} told how many have been sent
 * @returns {Promise<{ outcome: string, chunks: number }>}
 */
export async function addDocument(project, id, file, told) {
  await file.slice(0, 1).arrayBuffer().catch(() => { throw new Problem("unreadable"); });
  const request = new XMLHttpRequest(); // `fetch` tells in no browser how much has been sent
  request.open("POST", addressOf("documents", { project_id: project, id }));
  for (const [name, value] of Object.entries({ ...credential(), "content-type": "application/octet-stream" })) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded }) => told(loaded);
  await new Promise((resolve, reject) => {
    request.onload = resolve;
    request.onerror = () => reject(asProblem(null));
    request.send(file);
  });
  const body = await new Response(request.responseText).json().catch(() => null);
  if (request.status !== 200 || !body) throw problemIn(body ?? {}, { status: request.status, headers: { get: (name) => request.getResponseHeader(name) } });
  return body;
}

/** @param {Response} reply */
function isStream(reply) {
  return (reply.headers.get("content-type") ?? "").startsWith("text/event-stream");
}

/**
 * @param {URL} address
 * @param {RequestInit} options
 */
async function sent(address, options) {
  address.hash = "";
  let reply;
  try {
    reply = await fetch(address, {
      ...options, headers: { ...options.headers, ...credential() },
      cache: "no-store", credentials: "same-origin", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch (error) {
    throw asProblem(error, options.signal ?? undefined);
  }
  if (reply.ok) return reply;
  throw problemIn(await reply.json().catch(() => ({})), reply);
}

/**
 * @param {any} body
 * @param {{ status: number, headers: { get: (name: string) => string | null } }} reply
 */
function problemIn(body, reply) {
  const status = Number(body.status) || reply.status;
  const code = typeof body.code === "string" ? body.code : CODES[status] ?? "unavailable";
  return new Problem(code, {
    detail: typeof body.detail === "string" ? body.detail : "", status,
    retryAfter: seconds(reply.headers.get("retry-after")),
    id: typeof body.retrieval_id === "string" ? body.retrieval_id : "",
    fields: Array.isArray(body.errors) ? body.errors : [],
  });
}

/** @param {string | null} value a number of seconds, or a date */
function seconds(value) {
  if (!value) return 0;
  const given = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(given) ? Math.max(0, Math.ceil(given)) : 0;
}

/**
 * @param {unknown} error
 * @param {AbortSignal} [signal]
 * @param {string} [otherwise]
 */
function asProblem(error, signal, otherwise = "unreachable") {
  if (error instanceof Problem) return error;
  if (signal?.aborted) return new Problem("stopped");
  return new Problem(navigator.onLine ? otherwise : "offline");
}
