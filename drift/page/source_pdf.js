/**
 * A PDF at a page of it, as pdf.js draws it, with the words marked. Only what a page needs is
 * fetched. Its scripts, forms and links are left alone: nothing of it runs.
 */
import { Problem, receive } from "./api.js";
import { button, byId, element } from "./elements.js";
import { letters, markWords, placeAmong } from "./found_words.js";
import { problemView } from "./problems.js";
import { pdfWorker } from "./trusted.js";
import { word } from "./words.js";

const LIBRARY = new URL("./vendor/pdfjs-dist/pdf.min.mjs", import.meta.url).href;
/** Bytes of a request, and requests for a whole file: one that lists its pages one by one takes them all. */
const PIECE = 2 ** 18, MOST_PIECES = 48;
/** Pages beside the one where words should stand that are looked at, and dots of a drawing. */
const MOST_AWAY = 12, MOST_DOTS = 2 ** 24;

/** @typedef {{ quote: string, page: number, share: number }} At words, their page (0: unknown), and how far into the document they are */

/** Why a document is not shown; its message is the key of the sentence. */
export class Unshown extends Error {}

/** @param {string} path of the file @param {string | null} project @param {At} at @param {AbortSignal} signal */
export async function pdfView(path, project, at, signal) {
  const get = (/** @type {string} */ range) => receive(path, { project_id: project }, signal, { range });
  const [lib, begun] = await Promise.all([import(LIBRARY), get(`bytes=0-${PIECE - 1}`)]);
  const bytes = new Uint8Array(await begun.arrayBuffer());
  if (!new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).includes("%PDF-")) throw new Unshown("source.broken");

  let fail = (/** @type {unknown} */ _) => {};
  const broken = new Promise((_, reject) => { fail = reject; }), orBroken = (/** @type {Promise<any>} */ one) => Promise.race([one, broken]);
  broken.catch(() => {});
  const port = pdfWorker(), worker = new lib.PDFWorker({ port, verbosity: 0 });
  port.addEventListener("error", () => fail(new Unshown("source.broken")));
  signal.addEventListener("abort", () => [fail(new Problem("stopped")), worker.destroy(), port.terminate()]);
  const task = lib.getDocument({
    ...file(lib, begun, bytes, get, (error) => fail(error)), worker, disableAutoFetch: true, disableStream: true,
    disableWorkerRendering: true, enableXfa: false, useWasm: false, maxImageSize: MOST_DOTS, verbosity: 0,
  });
  const pdf = await orBroken(task.promise.catch((/** @type {Error} */ error) => {
    throw new Unshown(error.name === "PasswordException" ? "source.encrypted" : "source.broken");
  }));
  return pages(lib, pdf, at.quote, await orBroken(pageOf(pdf, at)), orBroken);
}

/**
 * How the library gets the bytes: in ranges where the server gives them, else all at once.
 * @param {any} lib @param {Response} begun @param {Uint8Array} bytes @param {(range: string) => Promise<Response>} get @param {(error: unknown) => void} failed
 */
function file(lib, begun, bytes, get, failed) {
  const size = Number(/\/(\d+)$/.exec(begun.headers.get("content-range") ?? "")?.[1]), tag = begun.headers.get("etag");
  if (begun.status !== 206 || !(size > bytes.length)) return { data: bytes };
  const range = new lib.PDFDataRangeTransport(size, bytes);
  range.requestDataRange = (/** @type {number} */ begin, /** @type {number} */ end) => get(`bytes=${begin}-${end - 1}`).then(async (reply) => {
    if (reply.status !== 206 || reply.headers.get("etag") !== tag) throw new Problem("not_found"); // another file by now
    range.onDataRange(begin, new Uint8Array(await reply.arrayBuffer()));
  }).catch(failed);
  return { range, rangeChunkSize: PIECE * Math.ceil(size / PIECE / MOST_PIECES) };
}

/** The page on which words stand, near where they should be. @param {any} pdf @param {At} at */
async function pageOf(pdf, at) {
  const first = Math.min(pdf.numPages, Math.max(1, at.page || Math.round(at.share * pdf.numPages)));
  for (let away = 0; away <= MOST_AWAY; away += 1) {
    for (const number of new Set([first + away, first - away])) {
      if (number < 1 || number > pdf.numPages) continue;
      const { items } = await (await pdf.getPage(number)).getTextContent();
      if (placeAmong(letters(items.map((/** @type {any} */ one) => one.str ?? "").join("")), at.quote)) return number;
    }
  }
  return first;
}

/**
 * One page after the other, as wide as the panel.
 * @param {any} lib @param {any} pdf @param {string} quote @param {number} number @param {(one: Promise<any>) => Promise<any>} orBroken
 */
async function pages(lib, pdf, quote, number, orBroken) {
  let turns = 0, width = 0;
  const sheet = element("div", { class: "sheet", role: "region" }), where = element("span", { class: "facts", role: "status" });
  const turn = (/** @type {string} */ key, /** @type {number} */ by) => button(word(key), () => {
    number += by;
    void draw().catch((error) => sheet.replaceChildren(problemView(error, {})));
  });
  const before = turn("source.pageBefore", -1), after = turn("source.pageAfter", 1);
  // the letters over the drawing are as large as its own
  const fit = () => sheet.style.setProperty("--total-scale-factor", String(sheet.clientWidth / width));
  async function draw() {
    const mine = (turns += 1);
    sheet.setAttribute("aria-label", (where.textContent = word("source.page", { page: number, all: pdf.numPages })));
    before.disabled = number <= 1;
    after.disabled = number >= pdf.numPages;
    const page = await orBroken(pdf.getPage(number)), plain = page.getViewport({ scale: 1 });
    const dots = (sheet.clientWidth || byId("panel-body").clientWidth) * Math.min(2, devicePixelRatio);
    const viewport = page.getViewport({ scale: Math.min(dots / plain.width, Math.sqrt(MOST_DOTS / (plain.width * plain.height))) });
    const canvas = element("canvas", { "aria-hidden": "true", width: Math.ceil(viewport.width), height: Math.ceil(viewport.height) });
    const text = element("div", { class: "page-text" }), textContentSource = await orBroken(page.getTextContent());
    await orBroken(Promise.all([page.render({ canvas, viewport }).promise, new lib.TextLayer({ textContentSource, container: text, viewport: plain }).render()]));
    if (mine !== turns) return false;
    width = plain.width;
    fit();
    sheet.replaceChildren(canvas, text);
    return markWords(text, quote);
  }
  const isFound = await draw();
  new ResizeObserver(fit).observe(sheet);
  return { view: element("div", { class: "pdf" }, element("div", { class: "buttons" }, before, where, after), sheet), isFound };
}
