/**
 * Server-sent events out of the bytes of an answer: `EventSource` can neither post nor send a key.
 */

/**
 * @typedef {{ name: string, data: any }} StreamEvent
 */

/** Silence after which a stream counts as cut; the server says every 15 seconds that it is alive. */
const SILENCE_MS = 50_000;

/**
 * Yield the events of a stream, to its end.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<StreamEvent>}
 */
export async function* eventsOf(body) {
  const decoder = /** @type {ReadableWritablePair<string, Uint8Array>} */ (/** @type {unknown} */ (new TextDecoderStream()));
  const reader = body.pipeThrough(decoder).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read());
      if (done) return;
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventIn(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * @param {string} block
 * @returns {StreamEvent | null} null for a beat
 */
export function eventIn(block) {
  let name = "message";
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}

/**
 * @template Value
 * @param {Promise<Value>} reading
 * @returns {Promise<Value>}
 */
async function withinSilence(reading) {
  let timer;
  const silence = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error("silent")), SILENCE_MS);
  });
  try {
    return /** @type {Value} */ (await Promise.race([reading, silence]));
  } finally {
    clearTimeout(timer);
  }
}
