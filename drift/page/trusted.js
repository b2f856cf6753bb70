/**
 * The one place where a text may become more than text: a document of others that nothing runs in,
 * and the worker that reads PDF. The policy of these two is made once, and nobody else has it.
 */
const WORKER = new URL("./vendor/pdfjs-dist/pdf.worker.min.mjs", import.meta.url).href;
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("drift-source", {
  createHTML: (/** @type {string} */ text) => text, createScriptURL: () => WORKER,
});

/**
 * Return HTML as a tree apart from the page: it loads nothing, and its scripts never run.
 * @param {string} text
 */
export function inertDocument(text) {
  return new DOMParser().parseFromString(policy?.createHTML(text) ?? text, "text/html");
}

/** Start the worker of the library that reads PDF. */
export function pdfWorker() {
  return new Worker(policy?.createScriptURL("") ?? WORKER, { type: "module" });
}
