// Groups of runs: the members of each group, and its line with the spread.

export const GROUP_LINES = ["mean", "median"];
export const GROUP_SPREADS = ["deviation", "range", "quartiles"];
export const HPARAM_PREFIX = "hp:"; // prefix of the name of the hyperparameter that the runs of a group share
const MAX_MERGED_PLACES = 2000; // positions of one merged line
const NAME_PARTS = /[^/_\-. ,;]+(?:\.\d+)*|[/_\-. ,;]+/g;

/**
 * @typedef {{by: string, pattern: string, line: string, spread: string, members: boolean}} Grouping `by`: "", "differs", "pattern" or `hp:NAME`
 * @typedef {{x: Float64Array, value: Float64Array, low: Float64Array, high: Float64Array, count: Int32Array}} MergedLine
 */

/** @returns {Grouping} */
export const noGrouping = () => ({ by: "", pattern: "", line: "mean", spread: "deviation", members: false });

/** A grouping as the address holds it. @param {Grouping} grouping */
export function groupingText({ by, line, spread, members }) {
  return by ? [line, spread, ...(members ? ["members"] : []), by].join(",") : "";
}

/** @param {string} word @param {string} pattern @returns {Grouping} */
export function parseGrouping(word, pattern) {
  const [line, spread, ...rest] = word.split(",");
  const members = rest[0] === "members" && rest.length > 1;
  const by = rest.slice(Number(members)).join(",");
  if (!by || !GROUP_LINES.includes(line) || !GROUP_SPREADS.includes(spread)) return { ...noGrouping(), pattern };
  return { by, pattern, line, spread, members };
}

/** The group of each run by the run's id: a name that its members share.
 * @param {LogRun[]} runs @param {Grouping} grouping @param {{columns: TrialColumn[], rows: Trial[]}} trials @returns {Map<number, string>} */
export function runGroups(runs, grouping, trials) {
  if (grouping.by === "differs") return new Map([...groupsByNames(runs.map((run) => run.name))].map(([name, group], at) => [runs[at].id, group]));
  if (grouping.by.startsWith(HPARAM_PREFIX)) {
    const name = grouping.by.slice(HPARAM_PREFIX.length);
    const column = trials.columns.findIndex((candidate) => candidate.name === name);
    const values = new Map(trials.rows.map((row) => [row.run, row.values[column]]));
    return new Map(runs.map((run) => [run.id, values.get(run.id) == null ? run.name : `${name}=${values.get(run.id)}`]));
  }
  const test = compilePattern(grouping.pattern);
  return new Map(runs.map((run) => [run.id, (test && groupByPattern(run.name, test)) || run.name]));
}

/** @param {string} text @returns {RegExp | null} */
function compilePattern(text) {
  try {
    return text ? new RegExp(text) : null;
  } catch {
    return null;
  }
}

/** The groups of a pattern in a name, or the whole match. @param {string} name @param {RegExp} test */
function groupByPattern(name, test) {
  const match = test.exec(name);
  if (!match) return "";
  return match.length > 1 ? match.slice(1).filter(Boolean).join(" ") : match[0];
}

/**
 * Group names by the part with the most distinct values, the last of several such parts: `model_A/seed*` for seeds of two
 * models. Names with another number of parts are grouped separately.
 * @param {string[]} names @returns {Map<string, string>} in the order of the names
 */
function groupsByNames(names) {
  const parts = names.map((name) => name.match(NAME_PARTS) ?? [name]);
  /** @type {Map<number, Map<number, Set<string>>>} values by the number of parts and the part */
  const values = new Map();
  for (const some of parts) {
    const inner = values.get(some.length) ?? new Map();
    values.set(some.length, inner);
    some.forEach((part, at) => inner.set(at, (inner.get(at) ?? new Set()).add(part)));
  }
  const repeated = new Map([...values].map(([length, inner]) => [length, [...inner].reduce((best, part) => (part[1].size > 1 && part[1].size >= (best?.[1].size ?? 0) ? part : best), /** @type {any} */ (null))?.[0]]));
  return new Map(parts.map((some, at) => {
    const place = repeated.get(some.length);
    const group = place === undefined ? names[at] : some.map((part, nth) => (nth === place ? `${part.replace(/[\d.]+$/, "") === part ? "" : part.replace(/[\d.]+$/, "")}*` : part)).join("");
    return [names[at], group];
  }));
}

/**
 * Merge several lines: at each position the mean or the median of the lines that reach it, linearly interpolated; values
 * that are not finite do not count.
 * @param {{x: ArrayLike<number>, y: ArrayLike<number>}[]} lines each ascending @param {string} kind @param {string} spread @returns {MergedLine}
 */
export function mergeLines(lines, kind, spread) {
  const x = commonPlaces(lines);
  const each = lines.map((line) => valuesAt(line, x));
  const [value, low, high] = [new Float64Array(x.length), new Float64Array(x.length), new Float64Array(x.length)];
  const count = new Int32Array(x.length);
  const here = new Float64Array(lines.length);
  for (let at = 0; at < x.length; at++) {
    let size = 0;
    for (const lineValues of each) if (Number.isFinite(lineValues[at])) here[size++] = lineValues[at];
    count[at] = size;
    const some = here.subarray(0, size);
    let sum = 0;
    for (let nth = 0; nth < size; nth++) sum += here[nth];
    const mean = sum / size;
    if (kind === "median" || spread !== "deviation") some.sort();
    value[at] = kind === "median" ? quantile(some, 0.5) : mean;
    if (spread === "deviation") {
      let squares = 0;
      for (let nth = 0; nth < size; nth++) squares += (here[nth] - mean) ** 2;
      const around = Math.sqrt(squares / Math.max(1, size - 1));
      [low[at], high[at]] = [value[at] - around, value[at] + around];
    } else [low[at], high[at]] = spread === "range" ? [some[0], some[size - 1]] : [quantile(some, 0.25), quantile(some, 0.75)];
  }
  return { x, value, low, high, count };
}

/** The positions of the points of all lines, ascending; a sample if very many. @param {{x: ArrayLike<number>}[]} lines */
function commonPlaces(lines) {
  const [first] = lines;
  if (lines.every(({ x }) => isSameAscending(x, first.x))) return Float64Array.from(first.x);
  const all = new Set();
  for (const { x } of lines) for (let at = 0; at < x.length; at++) if (Number.isFinite(x[at])) all.add(x[at]);
  const places = Float64Array.from(all).sort();
  if (places.length <= MAX_MERGED_PLACES) return places;
  return Float64Array.from({ length: MAX_MERGED_PLACES }, (_, at) => places[Math.round((at * (places.length - 1)) / (MAX_MERGED_PLACES - 1))]);
}

/** Whether the positions equal those of another line, and ascend. @param {ArrayLike<number>} x @param {ArrayLike<number>} other */
function isSameAscending(x, other) {
  if (x.length !== other.length || x.length > MAX_MERGED_PLACES) return false;
  for (let at = 0; at < x.length; at++) if (x[at] !== other[at] || (at && !(x[at] > x[at - 1]))) return false;
  return true;
}

/** The values of a line at some positions; NaN beyond its ends. @param {{x: ArrayLike<number>, y: ArrayLike<number>}} line @param {Float64Array} places */
function valuesAt({ x, y }, places) {
  if (x.length === places.length && isSameAscending(x, places)) return Float64Array.from(y);
  const out = new Float64Array(places.length).fill(NaN);
  let [before, after] = [-1, 0];
  const next = (/** @type {number} */ from) => {
    let at = from;
    while (at < x.length && !(Number.isFinite(y[at]) && Number.isFinite(x[at]))) at++;
    return at;
  };
  after = next(0);
  for (let at = 0; at < places.length; at++) {
    while (after < x.length && x[after] <= places[at]) [before, after] = [after, next(after + 1)];
    if (before < 0) continue;
    if (x[before] === places[at]) out[at] = y[before];
    else if (after < x.length) out[at] = y[before] + ((y[after] - y[before]) * (places[at] - x[before])) / (x[after] - x[before]);
  }
  return out;
}

/** @param {Float64Array} sorted @param {number} share */
function quantile(sorted, share) {
  if (!sorted.length) return NaN;
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
}
