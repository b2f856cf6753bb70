/**
 * Elements of the page, made without markup: every text becomes a text node.
 */

/** Characters that change how others are shown, or that nobody sees; joiners and marks stay. */
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes
 */

/**
 * Make an element. An attribute `onclick` takes a function; true is an empty attribute; false, null
 * and undefined leave it out. Addresses are given to `link` alone.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "href" || key === "src" || key === "style") throw new Error(`${key} is not set here`);
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  add(made, ...children);
  return made;
}

/**
 * Put children behind those that an element has.
 * @param {Node} parent
 * @param {...Child} children
 */
export function add(parent, ...children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/**
 * A text that others wrote, as nodes: what nobody sees is shown by its number.
 * @param {unknown} value
 * @returns {DocumentFragment}
 */
export function seen(value) {
  const text = lined(value), nodes = document.createDocumentFragment();
  let done = 0;
  for (const found of text.matchAll(UNSEEN)) {
    add(nodes, text.slice(done, found.index), control(found[0]));
    done = found.index + found[0].length;
  }
  add(nodes, text.slice(done));
  return nodes;
}

/**
 * A text as long as it was, in which the end of a page ends a line.
 * @param {unknown} value
 */
export function lined(value) {
  return String(value ?? "").replaceAll("\f", "\n");
}

/** @param {string} character */
function control(character) {
  const number = /** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase();
  return element("span", { class: "control" }, `U+${number.padStart(4, "0")}`);
}

/**
 * A text that others wrote, apart from what stands around it, whatever its direction.
 * @param {unknown} value
 */
export function foreign(value) {
  return element("bdi", {}, seen(value));
}

/**
 * The same as plain text, where no element can stand: titles, labels, options.
 * @param {unknown} value
 */
export function plain(value) {
  return lined(value).replace(UNSEEN, (character) =>
    `⟨U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/**
 * Return an address that may be followed, or null: of the web, and without a name or password in it.
 * @param {unknown} value
 */
export function webAddress(value) {
  if (typeof value !== "string" || !/^https?:\/\//i.test(value.trim())) return null;
  try {
    const address = new URL(value.trim());
    return address.username || address.password ? null : address;
  } catch {
    return null;
  }
}

/**
 * A way to a page of elsewhere that says where it leads, unless its text is an address there; without
 * one that may be followed, its text alone.
 * @param {unknown} href
 * @param {Node} text
 */
export function link(href, text) {
  const address = webAddress(href);
  if (!address) return element("span", { class: "no-link" }, text);
  const made = element("a", { rel: "noopener noreferrer", target: "_blank" }, text);
  made.href = address.href;
  const said = made.textContent ?? "";
  if ((webAddress(said) ?? webAddress(`https://${said}`))?.host === address.host) return made;
  return element("span", {}, made, element("span", { class: "host" }, ` (${plain(address.host)})`));
}

/**
 * A button of words.
 * @param {string} text
 * @param {(event: MouseEvent) => void} onclick
 * @param {string} [kind]
 */
export function button(text, onclick, kind = "quiet") {
  return element("button", { type: "button", class: kind, onclick }, text);
}

/**
 * What is told to readers of the screen alone.
 * @param {string} text
 */
export function forReaders(text) {
  return element("span", { class: "for-readers" }, text);
}

/**
 * Return the element of an id, which the page has.
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @returns {Kind}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}`);
  return /** @type {Kind} */ (found);
}

/**
 * Tell readers of the screen one thing, in place of the last.
 * @param {string} text
 */
export function say(text) {
  byId("status").textContent = text;
}
