/**
 * The page's words, one file a language; numbers and times as the language writes them.
 */
import { plain } from "./elements.js";

const LANGUAGES = ["en", "de"];
const KEPT = "drift.language";

/** @type {Record<string, string>} */
let words = {};
/** Sentences that the server writes, in English, by their keys; none where the page speaks it. @type {[string, RegExp][]} */
let toldInEnglish = [];
let language = "en";
/** The words that were asked for last. @type {ReturnType<typeof load>} */
let wanted;

/** Return the language that was chosen here, else the first of the browser's that the page has. */
export function wantedLanguage() {
  const wanted = [kept(), ...navigator.languages].map((code) => (code ?? "").slice(0, 2).toLowerCase());
  return wanted.find((code) => LANGUAGES.includes(code)) ?? "en";
}

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // a browser that keeps nothing
  }
}

/**
 * Show the page in a language from now on.
 * @param {string} code
 */
export async function speak(code) {
  const mine = (wanted = load(code)), [said, english] = await Promise.all([mine, code === "en" ? {} : load("en")]);
  if (mine !== wanted) return; // another language was chosen meanwhile
  words = said;
  toldInEnglish = Object.entries(english).filter(([key]) => key.startsWith("told.")).map(([key, text]) => [key, pattern(text)]);
  language = code;
  document.documentElement.lang = code;
  show(document);
}

/** @param {string} code @returns {Promise<Record<string, string>>} */
async function load(code) {
  const reply = await fetch(new URL(`words/${code}.json`, import.meta.url));
  if (!reply.ok) throw new Error(`no words in ${code}`);
  return reply.json();
}

/** What a sentence with places for values looks like when they are filled. @param {string} text */
function pattern(text) {
  const parts = text.split(/\{(\w+)\}/), escaped = (/** @type {string} */ part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(parts.map((part, at) => (at % 2 ? `(?<${part}>[^\n]{1,120}?)` : escaped(part))).join(""), "g");
}

/**
 * A text of the server's in the page's language, as far as its sentences are known: the words of a
 * model between them stay as they are.
 * @param {unknown} text
 */
export function told(text) {
  return toldInEnglish.reduce((said, [key, sentence]) => said.replace(sentence, (...found) => {
    const values = found.at(-1);
    return word(key, typeof values === "object" ? values : {});
  }), String(text ?? ""));
}

/**
 * Remember a language in this browser.
 * @param {string} code
 */
export function keepLanguage(code) {
  try {
    localStorage.setItem(KEPT, code);
  } catch {
    // then it is chosen anew next time
  }
}

/**
 * Return a text of the page; `{name}` in it stands for a value.
 * @param {string} key
 * @param {Record<string, unknown>} [values]
 */
export function word(key, values = {}) {
  const text = words[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? plain(values[name]) : whole));
}

/** @param {string} key */
export function hasWord(key) {
  return key in words;
}

/**
 * Return the text for a number of things: `key.one` or `key.other`.
 * @param {string} key
 * @param {number} count
 */
export function counted(key, count) {
  const form = new Intl.PluralRules(language).select(count) === "one" ? "one" : "other";
  return word(`${key}.${form}`, { count: number(count) });
}

/**
 * @param {number} value
 * @param {Intl.NumberFormatOptions} [options]
 */
export function number(value, options) {
  return new Intl.NumberFormat(language, options).format(value);
}

/** @param {number} size in bytes */
export function bytes(size) {
  const isSmall = size < 1024 * 1024, count = size / 1024 / (isSmall ? 1 : 1024);
  return `${number(count, { maximumFractionDigits: count < 10 ? 1 : 0 })} ${isSmall ? "KiB" : "MiB"}`;
}

/** @param {number} share between 0 and 1 */
export function percent(share) {
  return number(share, { style: "percent" });
}

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return word("time.seconds", { count: number(seconds, { maximumFractionDigits: seconds < 10 ? 1 : 0 }) });
  return word("time.minutes", { minutes: Math.floor(whole / 60), seconds: whole % 60 });
}

/**
 * Where a passage stands in its document, which the server writes as "12 of 42".
 * @param {unknown} value
 */
export function place(value) {
  const found = /^(\d+) of (\d+)$/.exec(String(value ?? ""));
  return found ? word("passage.of", { number: found[1], all: found[2] }) : String(value ?? "");
}

/** @param {number} when milliseconds since 1970 */
export function dateTime(when) {
  const local = navigator.languages.find((one) => one.startsWith(language)) ?? language;
  return new Intl.DateTimeFormat(local, { dateStyle: "medium", timeStyle: "short" }).format(when);
}

/** @param {ParentNode} root */
function show(root) {
  for (const one of root.querySelectorAll("[data-word]")) {
    one.textContent = word(/** @type {HTMLElement} */ (one).dataset.word ?? "");
  }
  for (const one of root.querySelectorAll("[data-word-placeholder]")) {
    one.setAttribute("placeholder", word(/** @type {HTMLElement} */ (one).dataset.wordPlaceholder ?? ""));
  }
  for (const one of root.querySelectorAll("[data-word-label]")) {
    one.setAttribute("aria-label", word(/** @type {HTMLElement} */ (one).dataset.wordLabel ?? ""));
  }
}
