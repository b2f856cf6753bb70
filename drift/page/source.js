/**
 * The document of a passage beside the answer: itself where the service keeps it, at the words that
 * are cited, else its passages; with a way to what else the answer cites.
 */
import { Problem, read, receive } from "./api.js";
import { add, button, element, foreign, plain, seen } from "./elements.js";
import { download } from "./export.js";
import { problemView } from "./problems.js";
import { pdfView, Unshown } from "./source_pdf.js";
import { textView } from "./source_text.js";
import { number, word } from "./words.js";

/** Larger texts are shown by their passages. */
const MOST_BYTES = 2 ** 21;
/** Media types of text, and endings of it where no type is known. */
const IS_TEXT = /^text\/|json|xml|yaml|toml|javascript|typescript|html|markdown|csv/;
const ENDINGS = /** @type {Record<string, string>} */ ({ md: "text/markdown", markdown: "text/markdown", html: "text/html", htm: "text/html", csv: "text/csv", tsv: "text/tab-separated-values", txt: "text/plain", "": "text/plain" });

/**
 * @typedef {import("./references.js").Reference} Reference
 * @typedef {object} Opened
 * @property {any} chunk
 * @property {string} project
 * @property {Partial<Reference>} cited
 * @property {Reference[]} among the references of the answer
 * @property {(other: Reference) => void} goOn shows another in its place
 */

/**
 * @param {Opened} opened
 * @param {Node} asRead the passage as it was read
 * @param {AbortSignal} signal
 */
export async function sourceView(opened, asRead, signal) {
  const { chunk, project } = opened, path = `documents/${encodeURIComponent(chunk.document.id)}`;
  const made = element("div", { class: "source" }, ...others(opened));
  try {
    const told = await read(path, { project_id: project || null, limit: 1 }, signal);
    if (!told.content) throw new Unshown("source.notKept");
    add(made, downloadButton(`${path}/content`, project, chunk.document));
    const { view, isFound } = await original(told, opened, `${path}/content`, signal);
    if (!isFound && opened.cited.quote) add(made, element("p", { class: "note" }, word("source.notFound")));
    add(made, view, element("details", { open: !isFound }, element("summary", {}, word("source.asRead")), asRead));
  } catch (error) {
    if (signal.aborted) throw error;
    add(made, element("p", { class: "facts", role: "status" }, why(error)), asRead);
  }
  return made;
}

/** @param {any} told the document @param {Opened} opened @param {string} path @param {AbortSignal} signal */
async function original({ id, content }, { chunk, project, cited }, path, signal) {
  const quote = cited.quote || String(chunk.text), ending = /\.(\w{1,10})$/.exec(id)?.[1].toLowerCase() ?? "";
  const type = String(content.type).split(";")[0];
  if (type === "application/pdf") {
    const [, at, all] = /^(\d+) of (\d+)$/.exec(chunk.place ?? "") ?? [0, 1, 1];
    return pdfView(path, project || null, { quote, page: Number(cited.page) || 0, share: Number(at) / Number(all) }, signal);
  }
  const kind = type === "text/plain" || !IS_TEXT.test(type) ? ENDINGS[ending] ?? (IS_TEXT.test(type) ? ending : "") : type;
  if (!kind) throw new Unshown("source.kind");
  if (content.size > MOST_BYTES) throw new Unshown("source.tooLarge");
  const bytes = await (await receive(path, { project_id: project || null }, signal)).arrayBuffer();
  return textView(kind, decoded(bytes), { quote, passage: String(chunk.text), line: Number.parseInt(cited.lines ?? "") || 1 });
}

/** @param {ArrayBuffer} bytes */
function decoded(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes).replace(/\r\n?/g, "\n");
}

/** Why the passages stand in the place of the document. @param {unknown} error */
function why(error) {
  if (error instanceof Unshown) return word(error.message, { size: number(MOST_BYTES / 2 ** 20) });
  if (!(error instanceof Problem)) console.info("The document cannot be shown.", error);
  if (!(error instanceof Problem)) return word("source.broken");
  if (error.code === "content_not_kept") return word("source.notKept");
  return error.code === "not_found" ? word("source.gone") : word("source.unreachable");
}

/** Ways to what else the answer cites. @param {Opened} opened */
function others({ cited, among, goOn }) {
  const passages = among.filter((one) => one.kind === "chunk"), at = passages.findIndex((one) => one === cited);
  if (at < 0 || passages.length < 2) return [];
  const way = (/** @type {string} */ key, /** @type {number} */ to) => {
    const made = button(word(key), () => goOn(passages[to]));
    made.disabled = !passages[to];
    return made;
  };
  const place = element("span", { class: "facts" }, word("passage.of", { number: at + 1, all: passages.length }));
  const here = passages.filter((one) => one.title === cited.title && one.address === cited.address);
  const list = here.length > 1 && element("details", {}, element("summary", {}, word("source.here", { count: here.length })),
    element("ul", { class: "rows" }, ...here.map((one) => element("li", {},
      element("button", { type: "button", class: "row", "aria-current": one === cited ? "true" : null, onclick: () => goOn(one) }, `${one.number} `, foreign(one.where)),
      element("p", { class: "facts", dir: "auto" }, seen(one.quote.slice(0, 120)))))));
  return [element("div", { class: "buttons" }, way("source.before", at - 1), place, way("source.after", at + 1)), ...(list ? [list] : [])];
}

/** @param {string} path @param {string} project @param {{ id: string, name: string }} about */
function downloadButton(path, project, { id, name }) {
  const file = plain(/[^/]\.\w{1,10}$/.test(id) ? id.split("/").at(-1) : name).slice(-120);
  const made = element("p", {}, button(word("source.download"), async (event) => {
    const way = /** @type {HTMLButtonElement} */ (event.currentTarget);
    way.disabled = true;
    try {
      const reply = await receive(path, { project_id: project || null, download: "true" });
      download(file, await reply.arrayBuffer(), reply.headers.get("content-type") ?? "");
    } catch (error) {
      way.after(problemView(error, {}));
    }
    way.disabled = false;
  }));
  return made;
}
