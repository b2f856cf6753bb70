/**
 * The caller's key: which header carries it, and where it is kept, which is this tab alone.
 */
const KEPT = "drift.key";
const HEADERS = /** @type {Record<string, string>} */ ({
  function: "x-functions-key",
  keys: "x-api-key",
  easyauth: "authorization",
});

/** How the function tells callers apart: `function`, `keys` or `easyauth`. */
export const MODE = document.documentElement.dataset.authMode ?? "function";

let unkept = "";

/** Return the key of this tab, or "". */
export function key() {
  try {
    return sessionStorage.getItem(KEPT) ?? unkept;
  } catch {
    return unkept;
  }
}

/**
 * Use a key from now on, "" for none.
 * @param {string} value
 */
export function useKey(value) {
  unkept = value;
  try {
    if (value) sessionStorage.setItem(KEPT, value);
    else sessionStorage.removeItem(KEPT);
  } catch {
    // a browser that keeps nothing: the key lasts until the page is left
  }
}

/**
 * Tell whether a header can carry a key: visible characters of ASCII.
 * @param {string} value
 */
export function canBeSent(value) {
  return /^[\x21-\x7e]+$/.test(value);
}

/** Return the headers that show who asks. */
export function credential() {
  const value = key();
  if (!value) return {};
  return { [HEADERS[MODE] ?? HEADERS.function]: MODE === "easyauth" ? `Bearer ${value}` : value };
}
