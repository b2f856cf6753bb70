/**
 * What a project holds, document by document: to find, to read, to ask alone, and to change.
 */
import { Problem, addDocument, give, read } from "./api.js";
import { MOST_BYTES, TAKES, endUndo, reasonOf, sending } from "./documents.js";
import { add, button, byId, element, foreign, plain, say } from "./elements.js";
import { addChip, chips, filterOf, hasChip, removeChip } from "./filter_chips.js";
import { openPassage } from "./passage.js";
import { problemView } from "./problems.js";
import { moreButton, twice } from "./threads.js";
import { counted, dateTime, word } from "./words.js";

/** @typedef {{ id: string, name: string, chunk_count: number, source_uri: string | null, tags?: string[], updated_at?: string, media_type?: string, source?: string, off?: boolean }} Listed */

const AT_ONCE = 50, TYPING_MS = 250;
/** The source of what came over HTTP, and can go that way; that of a graph that was imported whole. */
const OURS = "api", IMPORTED = "graphrag";

/**
 * @param {string} project @param {{ said: string }} words what is looked for, there again on the way back from a document
 * @param {AbortSignal} signal @param {() => void} changed is called when the project holds something else
 */
export async function documentList(project, words, signal, changed) {
  const list = new DocumentList(project, await read(`projects/${encodeURIComponent(project)}`, {}, signal), signal, changed);
  void list.find(words.said);
  return list.view(words);
}

class DocumentList {
  /** @param {string} project @param {any} held @param {AbortSignal} signal @param {() => void} changed */
  constructor(project, held, signal, changed) {
    this.project = project;
    this.signal = signal;
    this.changed = changed;
    this.mayWrite = TAKES && held.rights.includes("write");
    /** Without them the graph is of other tools, and its documents cannot be filtered. @type {any[]} */
    this.keys = held.filter_keys;
    this.rows = element("ul", { class: "documents" });
    this.about = element("div", { class: "facts", role: "status" });
    this.more = button(word("list.more"), () => void this.next());
    this.wanted = this.filter = this.cursor = "";
    this.turn = 0;
  }

  /** @param {{ said: string }} words */
  view(words) {
    let timer = 0;
    const find = () => void this.find(words.said);
    const look = (/** @type {Event} */ event) => {
      words.said = /** @type {HTMLInputElement} */ (event.target).value;
      clearTimeout(timer);
      timer = setTimeout(find, TYPING_MS);
    };
    const finder = element("input", { type: "search", maxlength: 200, dir: "auto", value: words.said, placeholder: word("list.find"), "aria-label": word("list.find"), oninput: look });
    byId("chips").addEventListener("change", () => this.shownFilter() === this.filter ? this.mark() : find(), { signal: this.signal });
    return element("div", { class: "passage finder" }, finder, this.keys.length ? this.chooser() : null, this.about, this.rows, element("p", {}, this.more));
  }

  /** What narrows the list as it narrows questions: all but single documents. */
  shownFilter() {
    const filter = filterOf(chips.filter(({ key }) => key !== "document_id"));
    return filter && this.keys.length ? JSON.stringify(filter) : "";
  }

  /** Show those that are called so from the first on. @param {string} words */
  find(words) {
    this.wanted = words.trim();
    this.filter = this.shownFilter();
    this.cursor = "";
    return this.next(true);
  }

  async next(isNew = false) {
    const mine = (this.turn += 1), path = `projects/${encodeURIComponent(this.project)}/documents`;
    const asked = { limit: AT_ONCE, cursor: this.cursor || null, q: this.wanted || null, filter: this.filter || null };
    const found = await read(path, asked, this.signal).catch((error) => ({ error }));
    if (mine !== this.turn || this.signal.aborted) return; // other words were typed meanwhile
    if (found.error) return this.about.replaceChildren(problemView(found.error, { again: () => void this.next(isNew) }));
    if (isNew) this.rows.replaceChildren();
    const rows = found.documents.map((/** @type {Listed} */ one) => this.row(one));
    this.rows.append(...rows);
    this.cursor = found.next ?? "";
    this.more.hidden = !this.cursor;
    const count = this.rows.children.length;
    this.about.textContent = count ? counted("list.shown", count) : word(this.wanted || this.filter ? "list.notFound" : "project.empty");
    if (!isNew) rows[0]?.querySelector("button")?.focus();
  }

  mark() {
    const boxes = /** @type {NodeListOf<HTMLInputElement>} */ (this.rows.querySelectorAll("input[type=checkbox]"));
    for (const one of boxes) one.checked = hasChip({ key: "document_id", value: one.value, name: "" });
  }

  /** @param {Listed} one */
  row(one) {
    const name = one.name || one.id, chip = { key: "document_id", value: one.id, name };
    const state = element("span", { class: "state", role: "status", dir: "auto" });
    const alone = element("input", { type: "checkbox", value: one.id, "aria-label": word("list.askOnly", { name }), checked: hasChip(chip), onchange: () => {
      if (!alone.checked) removeChip(chip);
      else if (!addChip(chip)) state.textContent = word("filter.full");
      this.mark();
    } });
    const made = element("li", { class: one.off ? "is-off" : null }, this.keys.length ? alone : null,
      element("button", { type: "button", class: "row", onclick: () => void this.doing(made, one, () => this.open(one)) }, foreign(name)),
      element("span", { class: "facts" }, factsOf(one), ...(one.tags ?? []).flatMap((tag) => [" · ", foreign(tag)])), state);
    if (this.mayWrite) add(made, moreButton(made, name, () => this.does(made, one)));
    return made;
  }

  /** What can be done with a document. @param {HTMLElement} made @param {Listed} one */
  does(made, one) {
    const switched = () => this.doing(made, one, async () => {
      await give("PATCH", `documents/${encodeURIComponent(one.id)}`, { off: !one.off }, { project_id: this.project });
      this.put(made, { ...one, off: !one.off });
    });
    const remove = () => this.doing(made, one, async () => {
      endUndo(this.project, one.id);
      await give("DELETE", `documents/${encodeURIComponent(one.id)}`, null, { project_id: this.project });
      this.gone(made, one, word("list.removed", { name: one.name || one.id }));
      this.changed();
    });
    const buttons = element("p", { class: "buttons does" }, button(word(one.off ? "list.on" : "list.off"), () => void switched()));
    if (one.source === IMPORTED) buttons.replaceChildren();
    if (one.source !== OURS) add(buttons, element("span", { class: "facts" }, word("list.foreign")));
    else add(buttons, ...this.replacing(made, one), twice("list.remove", () => void remove()), Boolean(one.tags?.length) && element("span", { class: "facts" }, word("list.keepsTags")));
    return buttons;
  }

  /** A button that has a file chosen in a document's place, with its field. @param {HTMLElement} made @param {Listed} one */
  replacing(made, one) {
    const ending = endingOf(one.id);
    const field = element("input", { type: "file", hidden: true, accept: ending && `.${ending}`, onchange: () => {
      const file = field.files?.[0];
      if (file) void this.doing(made, one, () => this.replace(made, one, file));
    } });
    return [button(word("list.replace"), () => field.click()), field];
  }

  /** @param {HTMLElement} made @param {Listed} one @param {File} file */
  async replace(made, one, file) {
    if (endingOf(file.name) !== endingOf(one.id)) throw new Problem("other_ending");
    if (file.size > MOST_BYTES) throw new Problem("too_large");
    endUndo(this.project, one.id);
    const progress = sending(file);
    made.append(progress.view);
    const { outcome } = await addDocument(this.project, one.id, file, progress.told).finally(() => progress.view.remove());
    this.put(made, await this.held(one), word(`documents.${outcome}`, { project: this.project }));
  }

  /** @param {Listed} one @returns {Promise<any>} the document with its first passage */
  held({ id }) {
    return read(`documents/${encodeURIComponent(id)}`, { project_id: this.project, limit: 1 }, this.signal);
  }

  /** @param {Listed} one */
  async open(one) {
    const { chunks: [first] } = await this.held(one);
    if (!first) throw new Problem("no_passage");
    await openPassage({ id: first.id, title: one.name, address: one.source_uri }, this.project);
  }

  /** Do something with a document, and say in its row why it failed; one that is not there goes. @param {HTMLElement} made @param {Listed} one @param {() => Promise<void>} work */
  async doing(made, one, work) {
    const state = /** @type {HTMLElement} */ (made.querySelector(".state"));
    state.textContent = word("list.doing");
    try {
      await work();
      state.textContent = "";
    } catch (error) {
      if (this.signal.aborted) return;
      const problem = error instanceof Problem ? error : new Problem("page");
      if (problem.code === "not_found") this.gone(made, one, `${plain(one.name || one.id)}: ${word("list.gone")}`);
      else state.textContent = reasonOf(problem);
    }
  }

  /** Show a document as it is now. @param {HTMLElement} made @param {Listed} one @param {string} [said] */
  put(made, one, said = "") {
    this.changed();
    if (this.signal.aborted) return;
    const fresh = this.row(one);
    made.replaceWith(fresh);
    /** @type {HTMLElement | null} */ (fresh.querySelector(".more"))?.focus();
    /** @type {HTMLElement} */ (fresh.querySelector(".state")).textContent = said;
    say(said || word(one.off ? "list.isOff" : "list.isOn"));
  }

  /** @param {HTMLElement} made @param {Listed} one @param {string} said */
  gone(made, one, said) {
    removeChip({ key: "document_id", value: one.id, name: "" });
    const next = made.nextElementSibling ?? made.previousElementSibling;
    made.remove();
    this.about.textContent = said;
    next?.querySelector("button")?.focus();
  }

  /** What questions may use besides single documents. */
  chooser() {
    /** @type {any[]} */
    const tags = this.keys.find(({ key }) => key === "tag")?.values ?? [];
    const key = element("select", { "aria-label": word("filter.by"), onchange: () => {
      value.type = key.value === "updated_at" ? "date" : "text";
      value.setAttribute("list", key.value === "tag" ? "known-tags" : "");
      value.value = "";
    } },
      ...["tag", "path", "updated_at"].map((one) => element("option", { value: one }, word(`filter.${one}`))));
    const value = element("input", { type: "text", required: true, maxlength: 1000, dir: "auto", list: "known-tags", "aria-label": word("filter.value") });
    const known = element("datalist", { id: "known-tags" }, ...tags.map(({ value: tag }) => element("option", { value: String(tag) })));
    return element("form", { class: "chooser", onsubmit: (event) => {
      event.preventDefault();
      const text = value.value.trim();
      if (text && !addChip({ key: key.value, value: text, name: text })) this.about.textContent = word("filter.full");
      value.value = "";
    } }, key, value, known, element("button", { type: "submit" }, word("filter.add")));
  }
}

/** @param {string} name */
function endingOf(name) {
  return /\.([\p{L}\p{N}]{1,10})$/u.exec(name)?.[1].toLowerCase() ?? "";
}

/** Kind, passages, when it changed, and whether it is off; how large its file was the graph does not know. @param {Listed} one */
function factsOf(one) {
  const changed = Date.parse(one.updated_at ?? ""), kind = endingOf(one.id).toUpperCase() || one.media_type;
  return [kind, counted("project.chunks", one.chunk_count), changed && word("list.changed", { when: dateTime(changed) }), one.off && word("list.isOff")].filter(Boolean).join(" · ");
}
