/**
 * The threads of this browser, in IndexedDB: each is shown to the caller who asked in it, and to no
 * other. Where the browser keeps nothing, everything here finds nothing, and that is told once.
 */
const NAME = "drift.threads", VERSION = 1;
/** Every turn of a thread, and those before a number. @param {string} id @param {number} [before] */
const range = (id, before = Infinity) => IDBKeyRange.bound([id], [id, before], false, true);

/**
 * @typedef {{ id: string, caller: string, name: string, project: string, when: number, count: number }} Thread
 * @typedef {{ role: "user" | "assistant", content: string }} Message
 * @typedef {{ score: 1 | -1, fact?: number, reason?: string, comment?: string }} Mark
 *
 * @typedef {object} Kept a question with its answer
 * @property {string} thread
 * @property {number} at its number in the thread; -1 while it is not kept
 * @property {string} question
 * @property {string} project
 * @property {string} depth
 * @property {number} when
 * @property {number} [passages] how many a search took
 * @property {Message[]} history what went with it
 * @property {import("./filter_chips.js").Chip[]} [chips] the documents that it could use; older pages kept none
 * @property {any} result the document of the answer, null without one
 * @property {string} id the answer's `retrieval_id`
 * @property {number} seconds
 * @property {Mark | null} mark
 */

/** Threads of other tabs. */
const others = typeof BroadcastChannel === "function" ? new BroadcastChannel(NAME) : null;
/** @type {Promise<IDBDatabase> | null} */
let opened = null;
/** @type {string | null} */
let caller = null;
let isRefused = false;
let becomeKnown = () => {};
/** @type {Promise<void>} */
const known = new Promise((resolve) => { becomeKnown = resolve; });
/** @type {{ changed: () => void, refused: () => void }} */
let hear = { changed: () => {}, refused: () => {} };

/** Hear of what changed, here or in another tab, and once that nothing is kept. @param {typeof hear} ways */
export function listen(ways) {
  hear = ways;
  if (others) others.onmessage = () => hear.changed();
}

/** Keep from now on what was asked, and show what this caller asked. @param {string} name */
export function useCaller(name) {
  caller = name;
  becomeKnown();
  hear.changed();
}

/** Without https there is no `randomUUID`. */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (one) => one.toString(16).padStart(2, "0")).join("");
}

/** @returns {Promise<IDBDatabase>} */
function database() {
  return (opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("threads", { keyPath: "id" }).createIndex("caller", "caller");
      request.result.createObjectStore("turns", { keyPath: ["thread", "at"] });
    };
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const found = request.result;
      const leave = () => { opened = null; };
      found.onclose = leave;
      found.onversionchange = () => { found.close(); leave(); }; // another tab removes it, or has a newer page
      resolve(found);
    };
  }));
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Read or write in one transaction; undefined where the browser keeps nothing.
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(threads: IDBObjectStore, turns: IDBObjectStore) => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
async function within(mode, work) {
  try {
    const change = (await database()).transaction(["threads", "turns"], mode);
    const ended = new Promise((resolve, reject) => {
      change.oncomplete = resolve;
      change.onabort = () => reject(change.error ?? new Error("aborted"));
    });
    const [found] = await Promise.all([work(change.objectStore("threads"), change.objectStore("turns")), ended]);
    if (mode === "readwrite") tell();
    return found;
  } catch (error) {
    console.info("Threads are not kept.", error);
    if (!isRefused) hear.refused();
    isRefused = true;
    return undefined;
  }
}

function tell() {
  hear.changed();
  others?.postMessage("changed");
}

/** @param {any} one @returns {one is Thread} */
function isThread(one) {
  return ["id", "name", "project", "caller"].every((name) => typeof one?.[name] === "string") && Number.isFinite(one.when);
}

/** @param {any} one @returns {one is Kept} */
function isKept(one) {
  return ["question", "project", "depth"].every((name) => typeof one?.[name] === "string") && Number.isFinite(one.when);
}

/** The caller's threads, the one that was used last first. @returns {Promise<Thread[]>} */
export async function threads() {
  if (caller === null) return [];
  const found = (await within("readonly", (all) => done(all.index("caller").getAll(caller)))) ?? [];
  return found.filter(isThread).sort((one, other) => other.when - one.when);
}

/** A thread of the caller's, or undefined. @param {string} id @returns {Promise<Thread | undefined>} */
export async function threadOf(id) {
  const found = await within("readonly", (all) => done(all.get(id)));
  return isThread(found) && found.caller === caller ? found : undefined;
}

/**
 * The newest turns of a thread that stand before a number, the oldest first.
 * @param {string} id
 * @param {number} [before]
 * @param {number} [most]
 * @returns {Promise<Kept[]>}
 */
export async function turnsOf(id, before = Infinity, most = Infinity) {
  const found = await within("readonly", async (_, turns) => {
    const keys = await done(turns.getAllKeys(range(id, before)));
    const first = keys.at(-most) ?? keys[0];
    return first ? done(turns.getAll(IDBKeyRange.bound(first, [id, before], false, true))) : [];
  });
  return (found ?? []).filter(isKept);
}

/**
 * The ids of threads in whose questions and answers words stand, whoever asked.
 * @param {string} words small ones
 * @param {AbortSignal} signal
 * @returns {Promise<Set<string>>}
 */
export async function threadsWith(words, signal) {
  /** @type {Set<string>} */
  const found = new Set();
  if (words) {
    await within("readonly", (_, turns) => new Promise((resolve, reject) => {
      const request = turns.openCursor();
      request.onerror = () => reject(request.error);
      request.onsuccess = () => {
        const at = request.result;
        if (!at || signal.aborted) return resolve(found);
        const { thread, question, result } = at.value;
        const fits = `${question}\n${result?.final_answer ?? result?.answer ?? ""}`.toLowerCase().includes(words);
        if (!fits) return at.continue();
        found.add(thread);
        return at.continue([thread, []]); // none of its turns stands behind that
      };
    }));
  }
  return found;
}

/** Put a turn at the end of its thread, which begins with it, as soon as it is known who asks. @param {Kept} kept */
export async function append(kept) {
  await known;
  const at = await within("readwrite", async (threads, turns) => {
    // another tab may have asked in it, or removed it
    const found = await done(threads.get(kept.thread)), end = found?.count ?? 0;
    const thread = found ?? { id: kept.thread, caller, name: kept.question.slice(0, 200), project: kept.project };
    await done(threads.put({ ...thread, when: kept.when, count: end + 1 }));
    await done(turns.put({ ...kept, at: end }));
    return end;
  });
  kept.at = at ?? -1;
}

/** Keep what has become of a turn, unless it was removed meanwhile. @param {Kept} kept */
export async function settle(kept) {
  if (kept.at < 0) return;
  await within("readwrite", async (_, turns) => {
    if (await done(turns.getKey([kept.thread, kept.at]))) await done(turns.put(kept));
  });
}

/** @param {Thread} thread @param {string} name */
export async function rename(thread, name) {
  await within("readwrite", async (threads) => {
    const found = await done(threads.get(thread.id));
    if (found) await done(threads.put({ ...found, name }));
  });
}

/** @param {Thread[]} gone */
export async function remove(gone) {
  await within("readwrite", async (threads, turns) => {
    for (const { id } of gone) {
      await done(threads.delete(id));
      await done(turns.delete(IDBKeyRange.bound([id], [id, []])));
    }
  });
}
