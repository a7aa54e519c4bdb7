// Read and write the fragment of the address (after `#`): pairs of the current view. Unknown pairs are kept.

const KEY_ORDER = ["open", "members", "select", "colour", "step", "theme", "language", "aux", "main", "ungroup", "trace", "table", "rows", "at"];
const LIST_KEYS = new Set(["open", "members", "aux", "main", "ungroup"]);

/** Encode a value for an address; names stay readable. @param {string} text */
export const escapeValue = (text) =>
  encodeURIComponent(text).replace(/%(2F|3A|5B|5D|40|28|29)/gi, (word) => decodeURIComponent(word));

/** @param {Record<string, any>} state */
export function hashOf(state) {
  const keys = [...KEY_ORDER.filter((key) => key in state), ...Object.keys(state).filter((key) => !KEY_ORDER.includes(key))];
  return keys
    .filter((key) => state[key] != null && state[key] !== "")
    .map((key) => `${escapeValue(key)}=${LIST_KEYS.has(key) ? state[key].map(escapeValue).join(",") : key === "at" ? state[key] : escapeValue(String(state[key]))}`)
    .join("&");
}

/** @param {string} hash @returns {Record<string, any>} */
export function stateOf(hash) {
  /** @type {Record<string, any>} */
  const out = {};
  for (const pair of hash.replace(/^#/, "").split("&")) {
    if (!pair) continue;
    const cut = pair.indexOf("=");
    const key = unescapeValue(cut < 0 ? pair : pair.slice(0, cut));
    const value = cut < 0 ? "" : pair.slice(cut + 1);
    out[key] = LIST_KEYS.has(key) ? value.split(",").filter(Boolean).map(unescapeValue) : key === "at" ? value : unescapeValue(value);
  }
  return out;
}

/** @param {string} text */
export function unescapeValue(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
