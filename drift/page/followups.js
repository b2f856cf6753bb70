/**
 * Pure: the follow-ups of a search as a tree, from what the stream tells and what the trace says.
 */

/**
 * @typedef {object} Followup
 * @property {string} name what tells it from others: the id, or its words while none is known
 * @property {string | null} parent
 * @property {string} question
 * @property {string} state `asked`, `answered`, `no_evidence`, `skipped: …`, `failed: …`, `merged`
 * @property {string | null} verdict
 * @property {number | null} confidence
 * @property {number} seconds
 * @property {string[]} read ids of the passages that were read for it
 *
 * @typedef {{ followup: Followup, below: Branch[] }} Branch
 */

const ASKED = "Looking into: ", ANSWERED = "Answered: ";

/**
 * Return a follow-up as the trace, or the event `followup`, tells it.
 * @param {any} node
 * @returns {Followup}
 */
export function fromTrace(node) {
  return {
    name: String(node.id),
    parent: node.parent === null || node.parent === undefined ? null : String(node.parent),
    question: String(node.question), state: String(node.state),
    verdict: node.verdict ?? null, confidence: node.confidence ?? null, seconds: node.seconds ?? 0,
    read: (node.chunk_ids ?? []).map(String),
  };
}

/**
 * Return what a progress message tells of a follow-up, which has no id there; null where nothing.
 * @param {any} message
 * @returns {Followup | null}
 */
export function fromMessage(message) {
  const said = String(message.thought_summary ?? "");
  const state = said.startsWith(ASKED) ? "asked" : said.startsWith(ANSWERED) ? "answered" : "";
  if (message.phase !== "executing_followup" || !state) return null;
  const question = said.slice(state === "asked" ? ASKED.length : ANSWERED.length);
  return { name: `words:${question}`, parent: null, question, state, verdict: null, confidence: null, seconds: 0, read: [] };
}

/**
 * Return the follow-ups as a tree, in the order in which they came; what has an unknown parent, or
 * stands in a ring, is a root.
 * @param {Iterable<Followup>} followups
 * @returns {Branch[]}
 */
export function tree(followups) {
  const branches = new Map([...followups].map((one) => [one.name, { followup: one, below: /** @type {Branch[]} */ ([]) }]));
  /** @type {Branch[]} */
  const roots = [];
  for (const [name, branch] of branches) {
    const parent = branch.followup.parent === null ? undefined : branches.get(branch.followup.parent);
    if (parent && !isBelow(name, branch.followup.parent, branches)) parent.below.push(branch);
    else roots.push(branch);
  }
  return roots;
}

/**
 * @param {string} name
 * @param {string | null} from
 * @param {Map<string, Branch>} branches
 */
function isBelow(name, from, branches) {
  const passed = new Set();
  for (let at = from; at !== null && at !== undefined && !passed.has(at); at = branches.get(at)?.followup.parent ?? null) {
    if (at === name) return true;
    passed.add(at);
  }
  return false;
}

/** The kind of a state, and why it is one: `skipped: budget`. @param {string} state */
export function kindOf(state) {
  const [kind, reason = ""] = state.split(":", 2).map((one) => one.trim());
  return { kind, reason };
}
