// Patterns of names with wildcards, and the groups that one matches: the syntax of the option `--open`.

import { CALL_SEPARATOR } from "./levels.js";

export const WILDCARDS = /\*\*+|\*|\?/g;
const MAX_CALLED_PLACES = 50_000; // places inside calls that are searched
const MAX_OPENED_BY_PATTERN = 5000; // boxes in the groups that one pattern opens

/**
 * Return a test whether a text matches a pattern: `**` is any text, `*` any within one segment (up to a slash or the `::` of a call), `?` one letter.
 * Python's `NamePattern` uses atomic groups and wide integers, which JavaScript lacks; a test compares both.
 * @param {string} pattern @returns {(text: string) => boolean}
 */
export function patternTest(pattern) {
  /** @type {string[]} letters and wild cards one by one */
  const tokens = [];
  let last = 0;
  for (const wildcard of pattern.matchAll(WILDCARDS)) {
    tokens.push(...pattern.slice(last, wildcard.index), wildcard[0].slice(0, 2));
    last = wildcard.index + wildcard[0].length;
  }
  tokens.push(...pattern.slice(last));
  return (text) => {
    const letters = [...text];
    const ending = letters.map((letter, at) => letter === "/" || (letter === ":" && letters[at + 1] === ":" && letters[at - 1] !== ":" && letters[at + 2] !== ":"));
    let ends = new Uint8Array(letters.length + 1); // 1 at each position where the tokens so far may end
    ends[0] = 1;
    for (const token of tokens) {
      const next = new Uint8Array(letters.length + 1);
      const star = token === "**" || token === "*";
      for (let at = 0; at <= letters.length; at++) {
        if (star) next[at] = ends[at] || (at > 0 && next[at - 1] && (token === "**" || !ending[at - 1])) ? 1 : 0;
        else if (at > 0 && ends[at - 1]) next[at] = (token === "?" ? letters[at - 1] !== "/" : letters[at - 1] === token) ? 1 : 0;
      }
      ends = next;
    }
    return ends[letters.length] === 1;
  };
}

/** The groups that match a pattern, those of the main graph first, and whether there are more than may be opened.
 * @param {Graph} graph @param {string} pattern @returns {{paths: Path[], more: boolean}} */
export function matchingGroups(graph, pattern) {
  const groups = pattern.includes("**") ? groupsAnywhere(graph, patternTest(pattern)) : groupsByParts(graph, pattern.split(CALL_SEPARATOR));
  let room = MAX_OPENED_BY_PATTERN;
  const end = groups.findIndex((path) => (room -= childCount(graph, path)) < 0);
  const paths = end < 0 ? groups : groups.slice(0, Math.max(1, end));
  return { paths, more: paths.length < groups.length };
}

/** The groups whose whole address matches a pattern, call by call. @param {Graph} graph @param {(text: string) => boolean} test */
function groupsAnywhere(graph, test) {
  const places = groupsInside(graph, null);
  for (const path of places) if (graph.calls.has(path[path.length - 1]) && places.length < MAX_CALLED_PLACES) places.push(...groupsInside(graph, path, true));
  return places.filter((path) => test(graph.address(path)));
}

/** The groups that match a pattern part by part: in the main graph, then in the calls found there, and so on. @param {Graph} graph @param {string[]} parts */
function groupsByParts(graph, parts) {
  const inside = (/** @type {Path | null} */ around, /** @type {string} */ part) => {
    const test = patternTest(part);
    return groupsInside(graph, around).filter((path) => test(graph.address(path).split(CALL_SEPARATOR).pop() ?? ""));
  };
  return parts.slice(1).reduce((paths, part) => paths.flatMap((path) => (graph.calls.has(path[path.length - 1]) ? inside(path, part) : [])), inside(null, parts[0]));
}

/** The groups of the main graph, or of the functions of a call; `once` leaves out a function that is around the call already.
 * @param {Graph} graph @param {Path | null} call @param {boolean} [once] @returns {Path[]} */
function groupsInside(graph, call, once = false) {
  const bodies = call ? (graph.calls.get(call[call.length - 1]) ?? []).map(([, body]) => body) : [0];
  const around = new Set(once ? (call ?? []).map((row) => graph.functionOf(row)) : []);
  const out = [];
  for (const body of bodies.filter((candidate) => !call || !around.has(candidate))) {
    for (let row = body + Number(bodies.length < 2); row < graph.end[body]; row++) if (graph.isOpenable(row)) out.push([...(call ?? []), row]);
  }
  return out;
}

/** The least number of boxes that an open group shows. @param {Graph} graph @param {Path} path */
function childCount(graph, path) {
  const own = path[path.length - 1];
  const bodies = (graph.calls.get(own) ?? []).map(([, body]) => body);
  let count = 0;
  for (const row of bodies.length ? bodies : [own]) for (let at = row + 1; at < graph.end[row]; at = graph.end[at]) count++;
  return count;
}
