// Names of runs: their order, and what is shown of a long one.

import { naturalOrder } from "../rows_table.js";

const DECIMALS = /(?<![\d.])(?:0\.\d+(?:e[+-]?\d+)?|\d+(?:\.\d+)?e[+-]?\d+)(?![\d.])/gi;

/** The order of people: `version_2` before `version_10`, `lr0.001` before `lr0.01`. @param {string} one @param {string} other */
export function runOrder(one, other) {
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

/**
 * Cut long names so that no two that differ look the same: `exp_…_lr0.1`. The cut is as near to the middle as it can be.
 * @param {string[]} names @param {number} most letters @returns {Map<string, string>}
 */
export function shortNames(names, most) {
  /** @type {Map<string, string>} */
  const out = new Map();
  let left = [...new Set(names)].filter((name) => name.length > most);
  const kept = most - 1; // letters beside the sign of the cut
  const heads = Array.from({ length: kept + 1 }, (_, head) => head).sort((a, b) => Math.abs(a - kept / 2) - Math.abs(b - kept / 2));
  const taken = new Set(names.filter((name) => name.length <= most));
  for (const head of heads) {
    if (!left.length) break;
    const cut = (/** @type {string} */ name) => `${name.slice(0, head)}…${name.slice(name.length - kept + head)}`;
    const count = new Map();
    for (const name of left) count.set(cut(name), (count.get(cut(name)) ?? 0) + 1);
    const unique = left.filter((name) => count.get(cut(name)) === 1 && !taken.has(cut(name)));
    for (const name of unique) out.set(name, cut(name)), taken.add(cut(name));
    left = left.filter((name) => !out.has(name));
  }
  const shared = sharedHead(left);
  for (const name of left) out.set(name, shared > most / 2 ? `…${name.slice(shared - 2)}` : name); // as much as it takes
  return out;
}

/** How many letters names begin with alike. @param {string[]} names */
function sharedHead([first = "", ...rest]) {
  let head = 0;
  while (head < first.length && rest.every((name) => name[head] === first[head])) head++;
  return rest.length ? head : 0;
}
