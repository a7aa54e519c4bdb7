// Names of runs: their order, and the shortened form of long ones.

import { naturalOrder } from "../rows_table.js";

const DECIMALS = /(?<![\d.])(?:0\.\d+(?:e[+-]?\d+)?|\d+(?:\.\d+)?e[+-]?\d+)(?![\d.])/gi;

/** Natural order: `version_2` before `version_10`, `lr0.001` before `lr0.01`. @param {string} one @param {string} other */
export function compareRunNames(one, other) {
  const [texts, others] = [one.split(DECIMALS), other.split(DECIMALS)];
  const [numbers, theirs] = [one.match(DECIMALS) ?? [], other.match(DECIMALS) ?? []];
  for (let at = 0; at < Math.min(texts.length, others.length); at++) {
    const by = naturalOrder(texts[at], others[at]);
    if (by) return by;
    const [a, b] = [Number(numbers[at]), Number(theirs[at])];
    if (a !== b && Number.isFinite(a) && Number.isFinite(b)) return a - b;
  }
  return naturalOrder(one, other);
}

const NAME_WORDS = /[_\-/\s,;:=]*[^_\-/\s,;:=]+/g; // words of a name, each with the separators before it

/**
 * Shorten long names so that different names stay different: words that a whole family has are left out,
 * `…lr0.1…version_2`; if that is not enough, letters near the middle are.
 * @param {string[]} names @param {number} most letters @returns {Map<string, string>}
 */
export function shortNames(names, most) {
  /** @type {Map<string, string>} */
  const out = new Map();
  const long = [...new Set(names)].filter((name) => name.length > most);
  const taken = new Set(names.filter((name) => name.length <= most));
  const distinguishing = distinguishingWords([...new Set(names)], most);
  const give = (/** @type {string[]} */ left, /** @type {(name: string) => string} */ cut) => {
    const count = new Map();
    for (const name of left) count.set(cut(name), (count.get(cut(name)) ?? 0) + 1);
    const unique = left.filter((name) => cut(name).length <= most && count.get(cut(name)) === 1 && !taken.has(cut(name)));
    for (const name of unique) out.set(name, cut(name)), taken.add(cut(name));
    return left.filter((name) => !out.has(name));
  };
  let left = give(long, (name) => distinguishing.get(name) ?? name);
  const kept = most - 1; // letters besides the ellipsis
  for (const base of [distinguishing, new Map()]) {
    const whole = (/** @type {string} */ name) => base.get(name) ?? name;
    for (const head of Array.from({ length: kept + 1 }, (_, at) => at).sort((a, b) => Math.abs(a - kept / 2) - Math.abs(b - kept / 2))) {
      if (left.length) left = give(left, (name) => (whole(name).length <= most ? whole(name) : `${whole(name).slice(0, head)}…${whole(name).slice(whole(name).length - kept + head)}`));
    }
  }
  for (const name of left) out.set(name, distinguishing.get(name) ?? name); // as long as necessary
  return out;
}

/** Long names without the words that all names of their family have. A family begins with the same word, and includes short names. @param {string[]} names @param {number} most @returns {Map<string, string>} */
function distinguishingWords(names, most) {
  /** @type {Map<string, string[][]>} */
  const families = new Map();
  for (const name of names) {
    const pieces = name.match(NAME_WORDS) ?? [name];
    families.set(pieces[0], [...(families.get(pieces[0]) ?? []), pieces]);
  }
  const out = new Map();
  for (const family of families.values()) {
    const long = family.filter((pieces) => pieces.join("").length > most);
    const count = new Map();
    for (const pieces of family) for (const piece of new Set(pieces)) count.set(piece, (count.get(piece) ?? 0) + 1);
    const own = long.map((pieces) => new Set([...pieces.keys()].filter((at) => count.get(pieces[at]) < family.length)));
    if (family.length < 2 || !long.length || own.some((kept) => !kept.size)) continue;
    // If there is room, add the word before the one that differs, then the start of the name; for all names or none.
    const wanted = new Set([...own.flatMap((kept) => [...kept].map((at) => at - 1)).sort((a, b) => b - a), ...long[0].keys()]);
    for (const at of wanted) {
      const more = own.map((kept, nth) => (at >= 0 && at < long[nth].length ? new Set(kept).add(at) : kept));
      if (more.every((kept, nth) => joinedWords(long[nth], kept).length <= most)) own.splice(0, own.length, ...more);
    }
    long.forEach((pieces, nth) => out.set(pieces.join(""), joinedWords(pieces, own[nth])));
  }
  return out;
}

/** Some words of a name, with a sign in place of the others. @param {string[]} pieces @param {Set<number>} kept */
function joinedWords(pieces, kept) {
  const words = pieces.map((piece, at) => (kept.has(at) ? (at && !kept.has(at - 1) ? piece.replace(/^[_\-/\s,;:=]+/, "") : piece) : "\0"));
  return words.join("").replace(/\0+/g, "…");
}
