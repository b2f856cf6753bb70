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
const PIECE = 2 ** 16;
/** Pages beside the one where words should stand that are looked at, and dots of a drawing. */
const MOST_AWAY = 12, MOST_DOTS = 2 ** 24;
/** Milliseconds after which a file that cannot be opened is given up. */
const PATIENCE = 30_000;
const CLOSER = 1.6;

/** @typedef {{ quote: string, page: number, share: number }} At words, their page (0: unknown), and how far into the document they are */

/** Why a document is not shown; `word` names the sentence. */
export class Unshown extends Error {}

/**
 * @param {string} path of the file
 * @param {string | null} project
 * @param {At} at
 * @param {AbortSignal} signal
 */
export async function pdfView(path, project, at, signal) {
  const get = (/** @type {string} */ range) => receive(path, { project_id: project }, signal, { range });
  const [lib, begun] = await Promise.all([import(LIBRARY), get(`bytes=0-${PIECE - 1}`)]);
  const bytes = new Uint8Array(await begun.arrayBuffer());
  if (!new TextDecoder("latin1").decode(bytes.subarray(0, 1024)).includes("%PDF-")) throw new Unshown("source.broken");

  let reject = (/** @type {unknown} */ _) => {};
  const broken = new Promise((_, no) => { reject = no; });
  broken.catch(() => {});
  const port = pdfWorker(), worker = new lib.PDFWorker({ port, verbosity: 0 });
  port.addEventListener("error", () => reject(new Unshown("source.broken")));
  const patience = setTimeout(() => reject(new Unshown("source.slow")), PATIENCE);
  signal.addEventListener("abort", () => {
    clearTimeout(patience);
    reject(new Problem("stopped"));
    worker.destroy();
    port.terminate();
  });
  const task = lib.getDocument({
    ...file(lib, begun, bytes, get, reject), worker, rangeChunkSize: PIECE, disableAutoFetch: true, disableStream: true,
    disableWorkerRendering: true, enableXfa: false, useWasm: false, maxImageSize: MOST_DOTS, verbosity: 0,
  });
  task.onPassword = () => reject(new Unshown("source.encrypted"));
  const orBroken = (/** @type {Promise<any>} */ one) => Promise.race([one, broken]);
  try {
    const pdf = await orBroken(task.promise.catch((/** @type {Error} */ error) => {
      throw new Unshown(error.name === "PasswordException" ? "source.encrypted" : "source.broken");
    }));
    return await pages(lib, pdf, at.quote, await orBroken(pageOf(pdf, at)), orBroken);
  } finally {
    clearTimeout(patience);
  }
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
  return { range };
}

/**
 * The page on which words stand, near where they should be.
 * @param {any} pdf
 * @param {At} at
 */
async function pageOf(pdf, at) {
  const first = Math.min(pdf.numPages, Math.max(1, at.page || Math.round(at.share * pdf.numPages)));
  for (let away = 0; at.quote && away <= MOST_AWAY; away += 1) {
    for (const number of away ? [first + away, first - away] : [first]) {
      if (number < 1 || number > pdf.numPages) continue;
      const { items } = await (await pdf.getPage(number)).getTextContent();
      if (placeAmong(letters(items.map((/** @type {any} */ one) => one.str ?? "").join("")), at.quote)) return number;
    }
  }
  return first;
}

/**
 * One page after the other.
 * @param {any} lib @param {any} pdf @param {string} quote @param {number} number @param {(one: Promise<any>) => Promise<any>} orBroken
 */
async function pages(lib, pdf, quote, number, orBroken) {
  let zoom = 1, turns = 0, width = 0, isFound = false;
  const turn = (/** @type {string} */ key, /** @type {() => void} */ change) => button(word(key), () => {
    change();
    void draw().catch((error) => sheet.replaceChildren(problemView(error, { again: () => void draw() })));
  });
  const before = turn("source.pageBefore", () => { number -= 1; }), after = turn("source.pageAfter", () => { number += 1; });
  const closer = turn("source.closer", () => { zoom *= CLOSER; }), wide = turn("source.wide", () => { zoom = 1; });
  const where = element("span", { class: "facts", role: "status" }), sheet = element("div", { class: "sheet", role: "region", tabindex: "0" });
  // the letters over the drawing are as large as its own
  const fit = () => {
    const paper = /** @type {HTMLElement | null} */ (sheet.querySelector(".paper"));
    paper?.style.setProperty("width", `${100 * zoom}%`);
    paper?.style.setProperty("--total-scale-factor", String(sheet.clientWidth * zoom / width));
  };
  new ResizeObserver(fit).observe(sheet);
  async function draw() {
    const mine = (turns += 1);
    where.textContent = word("source.page", { page: number, all: pdf.numPages });
    sheet.setAttribute("aria-label", where.textContent);
    before.disabled = number <= 1;
    after.disabled = number >= pdf.numPages;
    closer.disabled = zoom > CLOSER;
    wide.disabled = zoom === 1;
    const page = await orBroken(pdf.getPage(number)), plain = page.getViewport({ scale: 1 });
    const dots = (sheet.clientWidth || byId("panel-body").clientWidth) * zoom * Math.min(2, devicePixelRatio);
    const viewport = page.getViewport({ scale: Math.min(dots / plain.width, Math.sqrt(MOST_DOTS / (plain.width * plain.height))) });
    const canvas = element("canvas", { "aria-hidden": "true", width: Math.ceil(viewport.width), height: Math.ceil(viewport.height) });
    const text = element("div", { class: "page-text" }), textContentSource = await orBroken(page.getTextContent());
    await orBroken(Promise.all([page.render({ canvas, viewport }).promise, new lib.TextLayer({ textContentSource, container: text, viewport: plain }).render()]));
    if (mine !== turns) return;
    isFound = markWords(text, quote);
    width = plain.width;
    sheet.replaceChildren(element("div", { class: "paper" }, canvas, text));
    fit();
    sheet.querySelector("mark")?.scrollIntoView({ block: "center" });
  }
  await draw();
  return { view: element("div", { class: "pdf" }, element("div", { class: "buttons" }, before, where, after, closer, wide), sheet), isFound };
}
