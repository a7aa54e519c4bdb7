// Compare by value as Python does: order and equality of tuples, and maps, sets and counters with tuples as keys.

/** Order of numbers, texts and arrays, as in Python. @param {any} a @param {any} b @returns {number} */
function py_compare(a, b) {
  if (Array.isArray(a)) {
    const shared = Math.min(a.length, b.length);
    for (let at = 0; at < shared; at++) {
      const found = py_compare(a[at], b[at]);
      if (found !== 0) return found;
    }
    return a.length - b.length;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Equality by value. @param {any} a @param {any} b @returns {boolean} */
function py_equal(a, b) {
  if (a === b) return true;
  if (a == null || b == null || typeof a !== "object" || typeof b !== "object") return a == null && b == null;
  if (Array.isArray(a)) return a.length === b.length && a.every((one, at) => py_equal(one, b[at]));
  if (a instanceof Map || a instanceof TupleMap) return a.size === b.size && [...a].every(([key, value]) => b.has(key) && py_equal(value, b.get(key)));
  if (a instanceof Set || a instanceof TupleSet) return a.size === b.size && [...a].every((one) => b.has(one));
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => py_equal(a[key], b[key]));
}

/** A map whose keys are tuples. */
class TupleMap {
  /** @param {Iterable<[any[], any]>} [entries] */
  constructor(entries = []) {
    /** @type {Map<string, [any[], any]>} */
    this.held = new Map();
    for (const [key, value] of entries) this.set(key, value);
  }
  get size() {
    return this.held.size;
  }
  /** @param {any[]} key */
  has(key) {
    return this.held.has(key.join());
  }
  /** @param {any[]} key */
  get(key) {
    const found = this.held.get(key.join());
    return found === undefined ? undefined : found[1];
  }
  /** @param {any[]} key @param {any} value */
  set(key, value) {
    const word = key.join();
    const found = this.held.get(word);
    if (found === undefined) this.held.set(word, [key, value]);
    else found[1] = value;
    return this;
  }
  /** @param {any[]} key */
  delete(key) {
    return this.held.delete(key.join());
  }
  *keys() {
    for (const pair of this.held.values()) yield pair[0];
  }
  *values() {
    for (const pair of this.held.values()) yield pair[1];
  }
  entries() {
    return this.held.values();
  }
  [Symbol.iterator]() {
    return this.held.values();
  }
}

/** A set of tuples. */
class TupleSet {
  /** @param {Iterable<any[]>} [items] */
  constructor(items = []) {
    this.held = new Map();
    for (const item of items) this.add(item);
  }
  get size() {
    return this.held.size;
  }
  /** @param {any[]} item */
  has(item) {
    return this.held.has(item.join());
  }
  /** @param {any[]} item */
  add(item) {
    const word = item.join();
    if (!this.held.has(word)) this.held.set(word, item);
    return this;
  }
  /** @param {any[]} item */
  delete(item) {
    return this.held.delete(item.join());
  }
  [Symbol.iterator]() {
    return this.held.values();
  }
}

/** How often each thing occurs. */
class Counter extends Map {
  /** @param {Iterable<any>} [items] */
  constructor(items = []) {
    super();
    for (const item of items) this.set(item, this.get(item) + 1);
  }
  /** @param {any} key */
  get(key) {
    return super.get(key) ?? 0;
  }
}

