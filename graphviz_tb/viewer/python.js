// Functions of Python that JavaScript lacks, for the generated `place.js`. Only those that it uses.

/** @param {any} value @returns {boolean} */
function py_truth(value) {
  if (value == null || value === 0 || value === "" || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map || value instanceof Set || value instanceof TupleMap || value instanceof TupleSet) return value.size > 0;
  return true;
}
/** @param {any} value @param {() => any} other */
const py_or = (value, other) => (py_truth(value) ? value : other());
/** @param {any} value @param {() => any} other */
const py_and = (value, other) => (py_truth(value) ? other() : value);
/** @param {any} value */
const py_len = (value) => (typeof value === "string" ? py_letters(value) : value.length ?? value.size);
/** The number of characters, counting surrogate pairs once. @param {string} text */
function py_letters(text) {
  let count = text.length;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) count--;
  return count;
}
/** @param {string} text @param {number} start @param {number} [stop] */
function py_slice(text, start, stop) {
  return py_letters(text) === text.length ? text.slice(start, stop) : [...text].slice(start, stop).join("");
}
/** @param {string} text @param {number} at */
const py_char = (text, at) => (py_letters(text) === text.length ? text.at(at) : [...text].at(at));
/** The position of an index that may count from the end. @param {any[]} items @param {number} at */
const py_position = (items, at) => (at < 0 ? items.length + at : at);
/** @param {any} one @param {Iterable<any>} items */
function py_in(one, items) {
  for (const item of items) if (py_equal(one, item)) return true;
  return false;
}
/** @param {number} a @param {number} b */
const py_mod = (a, b) => a - b * Math.floor(a / b);
/** @param {any[]} items @param {number} times */
function py_repeat(items, times) {
  if (items.length === 1) return new Array(Math.max(times, 0)).fill(items[0]);
  /** @type {any[]} */
  const out = [];
  for (let at = 0; at < times; at++) py_extend(out, items);
  return out;
}
/** @param {Iterable<any>} items */
const py_reversed = (items) => [...items].reverse();
/** @param {any[]} items @param {Iterable<any>} more */
function py_extend(items, more) {
  for (const one of Array.isArray(more) && more === items ? [...more] : more) items.push(one);
}
/** @param {any[]} items @param {number} at @param {any} one */
const py_insert = (items, at, one) => items.splice(at, 0, one);
/** @param {any[]} items @param {number} [at] */
const py_pop = (items, at) => (at === undefined ? items.pop() : items.splice(at, 1)[0]);
/** @param {any[]} items @param {any} one */
const py_index = (items, one) => items.findIndex((item) => py_equal(item, one));
/** @param {{key?: (one: any) => any, reverse?: boolean}} how */
function py_order({ key, reverse } = {}) {
  const sign = reverse ? -1 : 1;
  if (key === undefined) return (/** @type {any} */ a, /** @type {any} */ b) => sign * py_compare(a, b);
  return (/** @type {any} */ a, /** @type {any} */ b) => sign * py_compare(a[0], b[0]);
}
/** @param {any[]} items @param {any} how */
function py_sort(items, how = {}) {
  const found = py_sorted(items, how);
  for (let at = 0; at < found.length; at++) items[at] = found[at];
}
/** @param {Iterable<any>} items @param {any} how @returns {any[]} */
function py_sorted(items, how = {}) {
  const order = py_order(how);
  if (how.key === undefined) return [...items].sort(order);
  return Array.from(items, (item) => [how.key(item), item]).sort(order).map((pair) => pair[1]);
}
/** @param {Iterable<any>} items @param {any} how @param {number} sign */
function py_extreme(items, how, sign) {
  /** @type {any} */
  let best;
  /** @type {any} */
  let rank;
  let none = true;
  for (const item of items) {
    const mine = how.key === undefined ? item : how.key(item);
    if (none || sign * py_compare(mine, rank) > 0) [best, rank, none] = [item, mine, false];
  }
  if (!none) return best;
  if (!("default" in how)) throw new Error("nothing to choose from");
  return how.default;
}
/** @param {Iterable<any>} items @param {any} how */
const py_max = (items, how = {}) => py_extreme(items, how, 1);
/** @param {Iterable<any>} items @param {any} how */
const py_min = (items, how = {}) => py_extreme(items, how, -1);
/** @param {Iterable<any>} items @param {number} start */
function py_sum(items, start = 0) {
  for (const item of items) start += Number(item);
  return start;
}
/** @param {Iterable<any>} items */
function py_any(items) {
  for (const item of items) if (py_truth(item)) return true;
  return false;
}
/** @param {number} start @param {number} [stop] @param {number} step */
function py_range(start, stop, step = 1) {
  if (stop === undefined) [start, stop] = [0, start];
  const out = [];
  if (step > 0) for (let at = start; at < stop; at += step) out.push(at);
  else for (let at = start; at > stop; at += step) out.push(at);
  return out;
}
/** @param {Iterable<any>} items @param {number} start */
function* py_enumerate(items, start = 0) {
  for (const item of items) yield [start++, item];
}
/** @param {...any} lists */
function py_zip(...lists) {
  const rows = lists.filter((one) => one === null || typeof one !== "object" || Symbol.iterator in one);
  const arrays = rows.map((one) => (Array.isArray(one) ? one : [...one]));
  const count = Math.min(...arrays.map((one) => one.length));
  const out = [];
  for (let at = 0; at < count; at++) out.push(arrays.map((one) => one[at]));
  return out;
}
/** @param {Iterable<any>} items */
function py_pairwise(items) {
  const all = Array.isArray(items) ? items : [...items];
  const out = [];
  for (let at = 1; at < all.length; at++) out.push([all[at - 1], all[at]]);
  return out;
}
/** @param {((...items: any[]) => any) | null} run @param {...Iterable<any>} lists */
const py_map = (run, ...lists) => py_zip(...lists).map((row) => /** @type {any} */ (run)(...row));
/** @param {Iterable<any>} items */
const py_iter = (items) => items[Symbol.iterator]();
/** @param {any} items @param {any} [other] */
function py_next(items, other = null) {
  const found = items.next();
  return found.done ? other : found.value;
}
/** @param {any} map @param {any} key @param {any} other */
function py_get(map, key, other = null) {
  const found = map.get(key);
  return found === undefined ? other : found;
}
/** @param {any} map @param {any} key @param {any} other */
function py_setdefault(map, key, other = null) {
  if (!map.has(key)) map.set(key, other);
  return map.get(key);
}
/** @param {any} map @param {Iterable<any>} more */
function py_update(map, more) {
  for (const [key, value] of more) map.set(key, value);
}
/** @param {any} set @param {...Iterable<any>} lists */
function py_add_all(set, ...lists) {
  for (const list of lists) for (const item of list) set.add(item);
}
/** @param {any} kind @param {Iterable<any>} keys @param {any} value */
function py_fromkeys(kind, keys, value = null) {
  const out = new kind();
  for (const key of keys) out.set(key, value);
  return out;
}
/** @param {any} one @param {...any} others */
function py_union(one, ...others) {
  const out = new one.constructor(one);
  for (const other of others) {
    if (typeof out.add === "function") py_add_all(out, other);
    else py_update(out, other);
  }
  return out;
}
/** @param {any} one @param {any} other */
function py_intersection(one, other) {
  const few = (other.size ?? other.length) < one.size; // iterate over the smaller
  return new one.constructor(few ? [...other].filter((item) => one.has(item)) : [...one].filter(py_held(one, other)));
}
/** A test of membership in a set or a list. @param {any} one @param {any} other */
function py_held(one, other) {
  const set = typeof other.has === "function" ? other : new one.constructor(other);
  return (/** @type {any} */ item) => set.has(item);
}
/** A value with some fields changed. @param {any} one @param {any} changes */
const py_replace = (one, changes) => Object.assign(Object.create(Object.getPrototypeOf(one)), one, changes);
/** @param {string} glue @param {Iterable<any>} items */
const py_join = (glue, items) => [...items].join(glue);
/** @param {string} text @param {string} by @param {number} most */
function py_rsplit(text, by, most) {
  const parts = text.split(by);
  return parts.length <= most + 1 ? parts : [parts.slice(0, -most).join(by), ...parts.slice(-most)];
}
/** @param {string} text @param {string} first */
const py_removeprefix = (text, first) => (text.startsWith(first) ? text.slice(first.length) : text);
/** @param {RegExp} pattern @param {string} text */
const py_search = (pattern, text) => pattern.exec(text);
/** @param {RegExpExecArray} found @param {number} at */
const py_group = (found, at = 0) => found[at];
/** @param {any[]} items @param {any} one */
function py_bisect_right(items, one) {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (py_compare(one, items[middle]) < 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
/** The integer square root. @param {number} square */
function py_isqrt(square) {
  let root = Math.floor(Math.sqrt(square));
  while (root * root > square) root--;
  while ((root + 1) * (root + 1) <= square) root++;
  return root;
}
/** The greatest common divisor. @param {number} one @param {number} other */
function py_gcd(one, other) {
  while (other) [one, other] = [other, one % other];
  return Math.abs(one);
}
const py_sqrt = Math.sqrt;
const py_floor = Math.floor;
const py_ceil = Math.ceil;
const py_log10 = Math.log10;
const py_log2 = Math.log2;
const py_isfinite = Number.isFinite;
const py_float = Number;
/** @param {Iterable<any>} items */
function py_all(items) {
  for (const item of items) if (!py_truth(item)) return false;
  return true;
}
/** @param {string} text @param {string[]} ends */
const py_endswith_any = (text, ends) => ends.some((end) => text.endsWith(end));
/** @param {string} text @param {string} [letters] */
function py_strip(text, letters) {
  if (letters === undefined) return text.trim();
  let start = 0;
  while (start < text.length && letters.includes(text[start])) start++;
  return py_rstrip(text.slice(start), letters);
}
/** @param {string} text @param {string} letters */
function py_rstrip(text, letters) {
  let end = text.length;
  while (end && letters.includes(text[end - 1])) end--;
  return text.slice(0, end);
}
/** @param {string} text @param {string} by */
function py_partition(text, by) {
  const at = text.indexOf(by);
  return at < 0 ? [text, "", ""] : [text.slice(0, at), by, text.slice(at + by.length)];
}
/** @param {string} text @param {string} part */
const py_count_text = (text, part) => text.split(part).length - 1;
/** The digits of a number rounded to so many, and its power of ten. Halves go to the even digit, as in Python.
 * @param {number} value finite @param {number} digits @returns {[string, number]} */
function py_digits(value, digits) {
  const [mantissa, power] = Math.abs(value).toExponential(digits - 1).split("e");
  const exact = Math.abs(value).toExponential(100).replace(".", "");
  const down = exact.slice(0, digits);
  const half = /^50*e/.test(exact.slice(digits)) && "02468".includes(down[digits - 1]);
  return half ? [down, Number(exact.split("e")[1])] : [mantissa.replace(".", ""), Number(power)];
}
/** As `f"{value:.{digits}g}"`. @param {number} value @param {number} digits */
function py_format_g(value, digits) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [all, power] = py_digits(value, digits);
  const some = py_rstrip(all, "0") || "0";
  if (power < -4 || power >= digits) {
    const whole = some.length > 1 ? `${some[0]}.${some.slice(1)}` : some;
    return `${sign}${whole}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${some}`;
  return `${sign}${some.slice(0, power + 1).padEnd(power + 1, "0")}${some.length > power + 1 ? `.${some.slice(power + 1)}` : ""}`;
}
/** As `f"{value:.{digits}f}"`, for a value that is already rounded to fewer digits. @param {number} value @param {number} digits */
const py_format_f = (value, digits) => (Math.abs(value) < 1e21 ? value.toFixed(digits) : `${BigInt(value)}.${"0".repeat(digits)}`);
/** An integer without `digits`. @param {number} value @param {number} [digits] */
function py_round(value, digits = 0) {
  const text = value.toFixed(Math.min(digits, 100));
  const half = Math.abs(Number(text) - value) * 10 ** digits === 0.5 && Number(text) % (2 / 10 ** digits) !== 0;
  return half ? Number(text) - Math.sign(value) / 10 ** digits : Number(text);
}
/** Variants of regular expressions, by the original and the flag "g" or "whole".
 * @type {Map<string, RegExp>} */
const py_patterns = new Map();
/** @param {RegExp} pattern @param {string} kind */
function py_pattern(pattern, kind) {
  const key = `${kind} ${pattern}`;
  let found = py_patterns.get(key);
  if (!found) py_patterns.set(key, (found = kind === "g" ? new RegExp(pattern.source, `${pattern.flags}g`) : new RegExp(`^(?:${pattern.source})$`, pattern.flags)));
  return found;
}
/** @param {RegExp} pattern @param {string} text */
const py_fullmatch = (pattern, text) => py_pattern(pattern, "whole").exec(text);
/** @param {RegExp} pattern @param {string} text */
const py_finditer = (pattern, text) => text.matchAll(py_pattern(pattern, "g"));
/** @param {RegExp} pattern @param {string} by @param {string} text */
const py_sub = (pattern, by, text) => text.replace(py_pattern(pattern, "g"), by.replaceAll("$", "$$$$").replace(/\\([0-9])/g, "$$$1"));
