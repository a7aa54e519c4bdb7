// What the reader sees, as the part of the address behind `#`: readable pairs, unknown ones kept.

const ORDER = ["open", "select", "colour", "step", "theme", "language", "aux", "main", "ungroup", "trace", "table", "rows", "at"];
const LISTS = new Set(["open", "aux", "main", "ungroup"]);

/** A value that may stand in an address, names still readable. @param {string} text */
const escaped = (text) =>
  encodeURIComponent(text).replace(/%(2F|3A|5B|5D|40|28|29)/gi, (word) => decodeURIComponent(word));

/** @param {Record<string, any>} state */
function hashOf(state) {
  const keys = [...ORDER.filter((key) => key in state), ...Object.keys(state).filter((key) => !ORDER.includes(key))];
  return keys
    .filter((key) => state[key] != null && state[key] !== "")
    .map((key) => `${escaped(key)}=${LISTS.has(key) ? state[key].map(escaped).join(",") : key === "at" ? state[key] : escaped(String(state[key]))}`)
    .join("&");
}

/** @param {string} hash @returns {Record<string, any>} */
function stateOf(hash) {
  /** @type {Record<string, any>} */
  const out = {};
  for (const pair of hash.replace(/^#/, "").split("&")) {
    if (!pair) continue;
    const cut = pair.indexOf("=");
    const key = unescaped(cut < 0 ? pair : pair.slice(0, cut));
    const value = cut < 0 ? "" : pair.slice(cut + 1);
    out[key] = LISTS.has(key) ? value.split(",").filter(Boolean).map(unescaped) : key === "at" ? value : unescaped(value);
  }
  return out;
}

/** @param {string} text */
function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
