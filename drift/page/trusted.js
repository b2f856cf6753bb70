/**
 * The one place where a text may become more than text: a document of others that nothing runs in,
 * and the worker that reads PDF. The policy of these two is made once, and nobody else has it.
 */
const WORKER = new URL("./vendor/pdfjs-dist/pdf.worker.min.mjs", import.meta.url).href;
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("drift-source", {
  createHTML: (/** @type {string} */ text) => text, createScriptURL: () => WORKER,
});

/**
 * HTML as a tree apart from the page: it loads nothing, and its scripts never run. Their names are
 * taken away before, because the browser complains of each that it refuses. @param {string} text
 */
export function inertDocument(text) {
  const calm = text.replace(/<(\/?)(?:script|style)\b/gi, "<$1noembed")
    .replace(/<[a-z][^<>]*>/gi, (tag) => tag.replace(/([\s/"'])(?:on[a-z]+|style)(?=\s*=)/gi, "$1off"));
  return new DOMParser().parseFromString(policy?.createHTML(calm) ?? calm, "text/html");
}

/** Start the worker of the library that reads PDF. */
export function pdfWorker() {
  return new Worker(policy?.createScriptURL("") ?? WORKER, { type: "module" });
}
