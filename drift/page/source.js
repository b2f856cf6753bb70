/**
 * The document of a passage beside the answer: itself where the service keeps it, at the words that
 * are cited, else its passages; with a way to what else the answer cites.
 */
import { Problem, read, receive } from "./api.js";
import { add, button, element, foreign, plain, seen } from "./elements.js";
import { download } from "./export.js";
import { problemView } from "./problems.js";
import { pdfView, Unshown } from "./source_pdf.js";
import { placeIn } from "./references.js";
import { textView } from "./source_text.js";
import { word } from "./words.js";

/** Longer texts are shown by their passages. */
const MOST_BYTES = 2 ** 21;
const IS_TEXT = /^text\/|[/+-](json|ndjson|xml|yaml|toml|javascript|typescript|sql|sh|stream)$/;
/** What endings say of a text whose media type says no more than that it is one. */
const ENDINGS = /** @type {Record<string, string>} */ ({ md: "text/markdown", markdown: "text/markdown", html: "text/html", htm: "text/html", csv: "text/csv", tsv: "text/csv", txt: "text/plain", "": "text/plain" });

/**
 * @typedef {import("./references.js").Reference} Reference
 * @typedef {{ chunk: any, project: string, cited: Partial<Reference>, among: Reference[], goOn: (other: Reference) => void }} Opened
 *   a passage, the references of its answer, and how another of them is shown in its place
 */

/** @param {Opened} opened @param {Node} asRead the passage as it was read @param {AbortSignal} signal */
export async function sourceView(opened, asRead, signal) {
  const { chunk, project, cited } = opened, path = `documents/${encodeURIComponent(chunk.document.id)}`;
  const ways = element("div", { class: "buttons" }), made = element("div", { class: "source" }, ways, others(opened, ways));
  try {
    const { content } = await read(path, { project_id: project || null, limit: 1 }, signal);
    if (!content) throw new Unshown("source.notKept");
    add(ways, downloadButton(`${path}/content`, project, chunk.document));
    const { view, isFound } = await original(content, opened, `${path}/content`, signal);
    if (!isFound && cited.quote) add(made, element("p", { class: "note" }, word("source.notFound")));
    add(made, view, element("details", { open: !isFound }, element("summary", {}, word("source.asRead")), asRead));
  } catch (error) {
    if (signal.aborted) throw error;
    add(made, element("p", { class: "facts", role: "status" }, why(error)), asRead);
  }
  return made;
}

/** @param {any} content @param {Opened} opened @param {string} path @param {AbortSignal} signal */
async function original(content, { chunk, project, cited }, path, signal) {
  const passage = String(chunk.text), quote = cited.quote || passage, type = String(content.type).split(";")[0];
  if (type === "application/pdf") {
    const [number, all] = /^(\d+) of (\d+)$/.exec(chunk.place ?? "")?.slice(1) ?? [1, 1];
    return pdfView(path, project || null, { quote, page: Number(cited.page) || 0, share: Number(number) / Number(all) }, signal);
  }
  if (!IS_TEXT.test(type)) throw new Unshown("source.kind");
  if (content.size > MOST_BYTES) throw new Unshown("source.tooLarge");
  const ending = /\.(\w{1,10})$/.exec(chunk.document.id)?.[1].toLowerCase() ?? "";
  const bytes = await (await receive(path, { project_id: project || null }, signal)).arrayBuffer(), [first, second] = new Uint8Array(bytes);
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  const text = new TextDecoder(encoding).decode(bytes).replace(/\r\n?/g, "\n");
  if (text.includes("\0")) throw new Unshown("source.kind");
  return textView(/plain|stream/.test(type) ? ENDINGS[ending] ?? ending : type, text, { quote, passage });
}

/** Why the passages stand in the place of the document. @param {unknown} error */
function why(error) {
  if (error instanceof Problem) return word({ content_not_kept: "source.notKept", not_found: "source.gone" }[error.code] ?? "source.unreachable");
  if (!(error instanceof Unshown)) console.info("The document cannot be shown.", error);
  return word(error instanceof Unshown ? error.message : "source.broken");
}

/** Ways to what else the answer cites, and what of it is of this document. @param {Opened} opened @param {HTMLElement} ways */
function others({ cited, among, goOn }, ways) {
  const passages = among.filter((one) => one.kind === "chunk"), at = passages.findIndex((one) => one === cited);
  if (at < 0 || passages.length < 2) return null;
  const way = (/** @type {string} */ key, /** @type {Reference | undefined} */ to) =>
    element("button", { type: "button", class: "quiet", disabled: !to, onclick: () => to && goOn(to) }, word(key));
  add(ways, way("source.before", passages[at - 1]), element("span", { class: "facts" }, word("passage.of", { number: at + 1, all: passages.length })), way("source.after", passages[at + 1]));
  const here = passages.filter((one) => one.document === cited.document);
  return here.length > 1 && element("details", {}, element("summary", {}, word("source.here", { count: here.length })),
    element("ul", { class: "rows" }, ...here.map((one) => element("li", {},
      element("button", { type: "button", class: "row", "aria-current": one === cited && "true", onclick: () => goOn(one) }, `${one.number} · `, foreign(placeIn(one))),
      element("p", { class: "facts", dir: "auto" }, seen(one.quote.slice(0, 120)))))));
}

/** @param {string} path @param {string} project @param {{ id: string, name: string }} about */
function downloadButton(path, project, { id, name }) {
  return button(word("source.download"), async (event) => {
    const way = /** @type {HTMLButtonElement} */ (event.currentTarget), file = /\.\w{1,10}$/.test(id) ? id.split("/").at(-1) : name;
    try {
      const reply = await receive(path, { project_id: project || null, download: "true" });
      download(plain(file).slice(-120), await reply.arrayBuffer(), reply.headers.get("content-type") ?? "");
    } catch (error) {
      way.after(problemView(error, {}));
    }
  });
}
