// Queries: what a text asks for, and for which rows it holds. The twin of graphviz_tb/search, which says what the language is.

import { TimeSlices } from "./dom.js";
import { NODES_A_BLOCK } from "./facts.js";
import { WILD, patternTest } from "./patterns.js";
import { t } from "./strings.js";

const QUERY_FIELDS = "name|op|device|attr|key|shape|dtype|source";
const QUANTITY = new Map(Object.entries({
  parameters: "parameters", params: "parameters", param: "parameters", flops: "flops", activations: "activations",
  activation_bytes: "activations", memory: "memory", time: "compute-time",
  macs: "macs", weights: "weights", weight_bytes: "weights", size: "weights",
})); // the colouring whose numbers are those of a quantity
const QUERY_TIMES = new Map([["ns", 1e-3], ["us", 1], ["µs", 1], ["ms", 1e3], ["s", 1e6]]); // microseconds
const QUERY_REGEX = /^\/(.+)\/([a-z]*)$/s;
const QUERY_FIELD = new RegExp(`^(${QUERY_FIELDS}):(.*)$`, "is");
const QUERY_NO_FIELD = /^([a-z_]+):(?!:|[0-9]+$)/i; // `dense:0` and `aten::add` are names
const QUERY_NUMBER = /^([a-z_]+)(>=|<=|==|!=|>|<|=)([0-9]+(?:\.[0-9]+)?)([a-zµ]*)$/i;
const QUERY_UNIT = /^([kmgt]?)(i?)b?$/i;
const SPACED_FIELD = new RegExp(`(^|[\\s(])(${QUERY_FIELDS}):[ \\t]+(?=\\S)`, "gi");
const SPACED_SIGN = new RegExp(`\\b(${[...QUANTITY.keys()].join("|")})\\s*(>=|<=|==|!=|>|<|=)\\s*(?=[0-9]|$)`, "gi");
const COMPARED_QUANTITY = new RegExp(`^(${[...QUANTITY.keys()].join("|")})(>=|<=|==|!=|>|<)`, "i"); // but not `size=SAME`: an attribute
const QUERY_WORD = /\(|(?:[^\s"]|"[^"]*"?)+/g;
const JOINING = new Set(["and", "or", "not", "(", ")"]);
const SIZES_BETWEEN = /(?<=[0-9?])[x,](?=[0-9?])|, /g;
const MOST_WORDS = 100; // of one query
const SOME = 256; // rows between two looks at the clock

/**
 * @typedef {{field: string, text: string, regex: RegExp | null}} TextTerm a text in one field, or ("") in all
 * @typedef {{name: string, scheme: string, sign: string, limit: number}} NumberTerm a quantity beside a number
 * @typedef {{text: TextTerm} | {number: NumberTerm} | {every: boolean, queries: Query[]} | {not: Query}} Query
 */

/** A query that cannot be read; the message is for people. */
export class QueryError extends Error {}

/** What a text asks for. Throws `QueryError`. @param {string} text @returns {Query} */
export function parseQuery(text) {
  const words = splitQuery(text);
  if (!words.length) throw new QueryError(t("fields"));
  if (words.length > MOST_WORDS) throw new QueryError(t("query.long", { n: MOST_WORDS }));
  const rest = words.slice().reverse();
  const query = queryAny(rest);
  if (rest.length) throw new QueryError(t("query.closes"));
  if (words.length < 2 || !words.every(isPlain)) return query;
  return { every: false, queries: [query, { text: { field: "", text: text.trim(), regex: null } }] };
}

/** Whether a word has no field, sign, quotes or meaning of its own. @param {string} word */
const isPlain = (word) => !JOINING.has(word) && !word.includes('"') && !QUERY_FIELD.test(word) && !QUERY_REGEX.test(word) && (!QUERY_NUMBER.test(word) || "text" in queryTerm(word));

/** The words of a text; parentheses around words apart, quotes as they are. @param {string} text @returns {string[]} */
function splitQuery(text) {
  if (QUERY_REGEX.test(text.trim())) return [text.trim()];
  const joined = text.replace(SPACED_FIELD, "$1$2:").replace(SPACED_SIGN, "$1$2");
  const count = (/** @type {string} */ word, /** @type {string} */ letter) => word.split(letter).length - 1;
  return [...joined.matchAll(QUERY_WORD)].flatMap(([found]) => {
    let word = found;
    let closing = 0;
    while (word.endsWith(")") && count(word, ")") > count(word, "(")) (word = word.slice(0, -1)), closing++;
    const known = JOINING.has(word.toLowerCase()) ? word.toLowerCase() : word;
    return [...(known ? [known] : []), ...Array(closing).fill(")")];
  });
}

/** Queries with `or` between them. @param {string[]} rest the words that are left, the next one last @returns {Query} */
function queryAny(rest) {
  const queries = [queryAll(rest)];
  while (rest.at(-1) === "or") rest.pop(), queries.push(queryAll(rest));
  return queries.length === 1 ? queries[0] : { every: false, queries };
}

/** Queries one after the other, with or without `and`. @param {string[]} rest @returns {Query} */
function queryAll(rest) {
  const queries = [queryOne(rest)];
  while (rest.length && rest.at(-1) !== "or" && rest.at(-1) !== ")") {
    if (rest.at(-1) === "and") rest.pop();
    queries.push(queryOne(rest));
  }
  return queries.length === 1 ? queries[0] : { every: true, queries };
}

/** A term, what is in parentheses, or one of these negated. @param {string[]} rest @returns {Query} */
function queryOne(rest) {
  let negated = false;
  while (rest.at(-1) === "not") rest.pop(), (negated = !negated);
  const word = rest.pop();
  if (word === undefined || word === "and" || word === "or" || word === ")") throw new QueryError(t("query.missing"));
  const query = word === "(" ? queryAny(rest) : queryTerm(word);
  if (word === "(" && rest.pop() !== ")") throw new QueryError(t("query.open"));
  return negated ? { not: query } : query;
}

/** One word: a text or a comparison. @param {string} word @returns {Query} */
function queryTerm(word) {
  const compared = QUERY_NUMBER.exec(word);
  if (compared) {
    const [, name, sign, number, unit] = compared;
    const scheme = QUANTITY.get(name.toLowerCase());
    if (scheme) {
      // 15 digits are exact: 1.001K is 1001, though the product of the two numbers is a little less.
      const limit = Number((Number(number) * queryScale(scheme, unit)).toPrecision(15));
      return { number: { name, scheme, sign: sign === "=" ? "==" : sign, limit } };
    }
    if (!"==".includes(sign)) throw new QueryError(t("query.quantity", { name }));
    return { text: { field: "", text: word, regex: null } };
  }
  const sign = COMPARED_QUANTITY.exec(word);
  if (sign) throw new QueryError(t("query.number", { word: sign[0] }));
  const known = QUERY_FIELD.exec(word);
  const misspelt = known ? null : QUERY_NO_FIELD.exec(word);
  if (misspelt) throw new QueryError(t("query.field", { name: misspelt[1] }));
  if (known && !known[2].replaceAll('"', "")) throw new QueryError(t("query.empty", { name: known[1] }));
  const [, named, rest] = known ?? [word, "", word];
  const field = named.toLowerCase().replace("key", "attr");
  const regex = QUERY_REGEX.exec(rest);
  if (!regex) return { text: { field, text: rest.replaceAll('"', ""), regex: null } };
  try {
    return { text: { field, text: rest, regex: new RegExp(regex[1], regex[2].includes("i") ? "iu" : "u") } };
  } catch {
    throw new QueryError(t("regexError"));
  }
}

/** How many of a quantity's own units a unit is. @param {string} scheme @param {string} unit */
function queryScale(scheme, unit) {
  const time = scheme === "compute-time";
  if (time && QUERY_TIMES.has(unit.toLowerCase())) return /** @type {number} */ (QUERY_TIMES.get(unit.toLowerCase()));
  const found = QUERY_UNIT.exec(unit);
  if (!found || (time && unit)) throw new QueryError(t("query.unit", { unit }));
  return (found[2] ? 1024 : 1000) ** (found[1] ? "kmgt".indexOf(found[1].toLowerCase()) + 1 : 0);
}

/** All terms of a query. @param {Query} query @returns {(TextTerm | NumberTerm)[]} */
function termsOf(query) {
  if ("not" in query) return termsOf(query.not);
  if ("queries" in query) return query.queries.flatMap(termsOf);
  return ["text" in query ? query.text : query.number];
}

/** Whether part of a query must not hold. @param {Query} query @returns {boolean} */
export const isNegated = (query) => "not" in query || ("queries" in query && query.queries.some(isNegated));

/** Searches the rows of one graph, in short turns. */
export class QueryRows {
  /** @param {App} app @param {() => boolean} still whether it is asked for yet */
  constructor(app, still) {
    this.app = app;
    this.still = still;
    this.turns = new TimeSlices();
    this.graph = app.state.graph;
    /** @type {Map<TextTerm | NumberTerm, Uint8Array>} the rows that fit each term, as far as they are known */
    this.known = new Map();
  }

  /** Whether to go on, after a pause where one is due. */
  async on() {
    if (this.turns.isOver) await this.turns.nextSlice();
    return this.still();
  }

  /** Rows of names, op types and devices: what can be said at once. @param {Query} query */
  async begin(query) {
    for (const term of termsOf(query)) {
      const marked = new Uint8Array(this.graph.count);
      this.known.set(term, marked);
      if ("field" in term) await this.atOnce(term, marked);
    }
  }

  /** What takes a block of the page: attributes, tensors, numbers. Throws `QueryError`. @param {Query} query */
  async finish(query) {
    for (const term of termsOf(query)) {
      const marked = /** @type {Uint8Array} */ (this.known.get(term));
      if (!("field" in term)) await this.compare(term, marked);
      else if (!term.field || term.field === "attr" || term.field === "source") await this.attributes(term, marked);
      else if (term.field === "shape" || term.field === "dtype") await this.tensors(term, marked);
      if (!(await this.on())) return;
    }
  }

  /** The rows for which a query holds, in order. @param {Query} query @returns {number[]} */
  rows(query) {
    const marked = this.holds(query);
    const found = [];
    for (let row = 1; row < marked.length; row++) if (marked[row]) found.push(row);
    return found;
  }

  /** @param {Query} query @returns {Uint8Array} */
  holds(query) {
    if ("not" in query) return this.holds(query.not).map((one) => 1 - one);
    if (!("queries" in query)) return /** @type {Uint8Array} */ (this.known.get("text" in query ? query.text : query.number));
    const [first, ...others] = query.queries.map((one) => this.holds(one));
    const held = first.slice();
    for (const part of others) for (let row = 0; row < held.length; row++) held[row] = query.every ? held[row] & part[row] : held[row] | part[row];
    return held;
  }

  /** @param {TextTerm} term @param {Uint8Array} marked */
  async atOnce(term, marked) {
    const { graph } = this;
    if (!term.text) return;
    for (const [field, column] of /** @type {[string, Int32Array][]} */ ([["op", graph.op], ["device", graph.device]])) {
      if (term.field && term.field !== field) continue;
      const used = [...new Set(column)].filter((word) => word > 0);
      const test = testOf(term, field, used.map((word) => graph.words[word]));
      const fitting = new Set(used.filter((word) => test(graph.words[word])));
      if (fitting.size) column.forEach((word, row) => fitting.has(word) && (marked[row] = 1));
    }
    if (term.field && term.field !== "name") return;
    const test = testOf(term, "name", []);
    for (let row = 1; row < graph.count; row++) {
      if (!marked[row] && test(term.regex ? graph.name(row) : graph.lower(row))) marked[row] = 1;
      if (row % SOME === 0 && !(await this.on())) return;
    }
    for (const [row, text] of graph.labels) if (test(text)) marked[row] = 1;
  }

  /** @param {TextTerm} term @param {Uint8Array} marked */
  async attributes(term, marked) {
    const { graph } = this;
    if (!term.text) return;
    const rows = new Map();
    for (let row = 0; row < graph.count; row++) if (graph.node[row] >= 0) rows.set(graph.node[row], row);
    /** @type {[number, string][]} */
    const pairs = [];
    for (let at = 0; graph.blocks.has(`attributes/${at}`); at++) {
      const block = await graph.blocks.get(`attributes/${at}`).catch(() => []);
      if (!(await this.on())) return;
      block.forEach((/** @type {any[][]} */ one, /** @type {number} */ index) => {
        const row = rows.get(at * NODES_A_BLOCK + index);
        if (row === undefined) return;
        for (const [name, value] of one) {
          if (term.field !== "source") pairs.push([row, `${name}=${value}`]);
          // The place alone too, so that `model.py:4` is not `model.py:41`.
          else if (name === "source") for (const line of String(value).split(" › ")) pairs.push([row, line], [row, line.split(" ")[0]]);
        }
      });
    }
    await this.fit(term, term.field || "attr", pairs, marked);
  }

  /** Shapes and types of the outputs that an edge takes. @param {TextTerm} term @param {Uint8Array} marked */
  async tensors(term, marked) {
    const { words } = this.graph;
    const edges = await this.app.state.facts.edges().catch(() => null);
    if (!edges) return;
    /** @type {[number, string][]} */
    const pairs = [];
    for (let edge = 0; edge < edges.source.length; edge++) {
      if (edges.flags[edge] & 1) continue;
      const told = words[edges.tensor[edge]];
      const space = told.lastIndexOf(" ");
      const text = term.field === "shape" ? told.slice(0, Math.max(space, 0)) : told.slice(space + 1);
      if (text && text !== "unknown rank") pairs.push([edges.source[edge], text]);
      if (edge % SOME === 0 && !(await this.on())) return;
    }
    await this.fit(term, term.field, pairs, marked);
  }

  /** @param {TextTerm} term @param {string} field @param {[number, string][]} pairs @param {Uint8Array} marked */
  async fit(term, field, pairs, marked) {
    const test = testOf(term, field, term.field ? pairs.map(([, text]) => text) : []);
    for (const [at, [row, text]] of pairs.entries()) {
      if (!marked[row] && test(text)) marked[row] = 1;
      if (at % SOME === 0 && !(await this.on())) return;
    }
  }

  /** @param {NumberTerm} term @param {Uint8Array} marked */
  async compare({ name, scheme, sign, limit }, marked) {
    const told = this.graph.blocks.has(`colour/${scheme}`) ? await this.graph.blocks.get(`colour/${scheme}`).catch(() => null) : null;
    if (!told?.values || told.signed) throw new QueryError(t("query.unknown", { quantity: name }));
    const measured = scheme === "compute-time" || scheme === "memory";
    const holds = COMPARISONS[sign];
    for (let row = 1; row < marked.length; row++) {
      const value = told.values[row];
      if (value === null || (value < 0 && measured)) continue;
      if (holds(Math.max(value, 0), limit)) marked[row] = 1;
    }
  }
}

/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARISONS = { ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "==": (a, b) => a === b, "!=": (a, b) => a !== b, ">": (a, b) => a > b, "<": (a, b) => a < b };

/** The test of a term; `texts` are all of its field, of which one that is there whole means itself alone.
 * @param {TextTerm} term @param {string} field @param {string[]} texts @returns {(text: string) => boolean} */
function testOf(term, field, texts) {
  const { regex } = term;
  if (regex) return (text) => regex.test(text);
  const wanted = field === "shape" ? term.text.toLowerCase().replace(SIZES_BETWEEN, "×") : term.text.toLowerCase();
  if (term.field && texts.some((text) => text.toLowerCase() === wanted)) return (text) => text.toLowerCase() === wanted;
  if (wanted.search(WILD) >= 0 && field !== "shape") {
    const test = patternTest(field === "name" ? wanted : wanted.replaceAll("*", "**"));
    return (text) => test(text.toLowerCase());
  }
  return (text) => text.toLowerCase().includes(wanted);
}

/** All rows for which a query holds, in the order of the file. Throws `QueryError`. @param {App} app @param {string} text @param {() => boolean} still */
export async function rowsOf(app, text, still) {
  const query = parseQuery(text);
  const rows = new QueryRows(app, still);
  await rows.begin(query);
  await rows.finish(query);
  return rows.rows(query);
}

/** Rows in the order in which they are worth looking at: names that are the text, then that begin with it, shallow ones first.
 * @param {Graph} graph @param {number[]} rows @param {Query} query @param {QueryRows} search @returns {Promise<number[]>} */
export async function rankedRows(graph, rows, query, search) {
  const term = termsOf(query).find((one) => "field" in one && !one.regex && (!one.field || one.field === "name"));
  const wanted = term && "field" in term ? term.text.toLowerCase() : "";
  const keys = new Float64Array(rows.length);
  for (const [at, row] of rows.entries()) {
    const name = graph.lower(row);
    const segment = name.lastIndexOf("/") + 1;
    const likeness = !wanted ? 0 : name === wanted ? 0 : !name.startsWith(wanted, segment) ? 3 : name.length === segment + wanted.length ? 1 : 2;
    let depth = 1;
    for (let slash = name.indexOf("/"); slash >= 0 && depth < 9999; slash = name.indexOf("/", slash + 1)) depth++;
    keys[at] = (likeness * 1e4 + depth) * graph.count + row;
    if (at % SOME === 0 && !(await search.on())) return [];
  }
  return Array.from(keys.sort(), (key) => key % graph.count);
}
