// Queries: find the rows that match. The language is that of graphviz_tb/search/language.py, translated to
// `layout.parse_query`. Rows are searched in short turns as blocks of the page arrive, so the search is written by
// hand; a test compares its results with Python's.

import { TimeSlices } from "./dom.js";
import { NODES_PER_BLOCK } from "./facts.js";
import { WILDCARDS, patternTest } from "./patterns.js";
import { t } from "./strings.js";

const SCHEME_OF_QUANTITY = new Map([["activation_bytes", "activations"], ["weight_bytes", "weights"], ["time", "compute-time"]]); // quantities whose colouring has another name
const SIZE_SEPARATORS = /(?<=[0-9?])[x,](?=[0-9?])|, /g;
const ROWS_PER_CHECK = 256; // rows between two checks of the clock

/**
 * @typedef {{field: string, text: string, regex: boolean}} TextTerm a text in one field, or in all ("")
 * @typedef {{quantity: string, sign: string, limit: number}} NumberTerm a quantity compared with a number
 * @typedef {TextTerm | NumberTerm | {every: boolean, queries: Query[]} | {query: Query}} Query the last one negated
 */

/** A query that cannot be read; the message is for people. */
export class QueryError extends Error {}

/** Parse a query. Throws `QueryError`. @param {string} text @returns {Query} */
export function parseQuery(text) {
  /** @type {Query} */
  let query;
  try {
    query = layout.parse_query(text);
  } catch (/** @type {any} */ error) {
    const { kind, word } = error;
    if (!kind) throw error;
    throw new QueryError(t(kind === "nothing" ? "fields" : `query.${kind}`, { n: Number(word), name: word, unit: word, word }));
  }
  for (const term of termsOf(query)) if ("field" in term && term.regex) compiledRegex(term.text);
  return query;
}

/** @param {string} text perhaps with `(?i)` before it */
function compiledRegex(text) {
  try {
    return text.startsWith("(?i)") ? new RegExp(text.slice(4), "iu") : new RegExp(text, "u");
  } catch {
    throw new QueryError(t("regexError"));
  }
}

/** All terms of a query. @param {Query} query @returns {(TextTerm | NumberTerm)[]} */
function termsOf(query) {
  if ("query" in query) return termsOf(query.query);
  return "queries" in query ? query.queries.flatMap(termsOf) : [query];
}

/** Whether part of a query must not hold. @param {Query} query @returns {boolean} */
export const isNegated = (query) => "query" in query || ("queries" in query && query.queries.some(isNegated));

/** Searches the rows of one graph, in short turns. */
export class RowSearch {
  /** @param {App} app @param {() => boolean} still whether it is still wanted */
  constructor(app, still) {
    this.app = app;
    this.isCurrent = still;
    this.turns = new TimeSlices();
    this.graph = app.state.graph;
    /** @type {Map<TextTerm | NumberTerm, Uint8Array>} the rows that fit each term, as far as they are known */
    this.masks = new Map();
  }

  /** Whether the search is still wanted, after a pause if one is due. */
  async shouldContinue() {
    if (this.turns.isOver) await this.turns.nextSlice();
    return this.isCurrent();
  }

  /** Search names, op types and devices, which need no block. @param {Query} query */
  async searchNames(query) {
    for (const term of termsOf(query)) {
      const marked = new Uint8Array(this.graph.count);
      this.masks.set(term, marked);
      if ("field" in term) await this.markByName(term, marked);
    }
  }

  /** Search what needs a block of the page: attributes, tensors, numbers. Throws `QueryError`. @param {Query} query */
  async searchBlocks(query) {
    for (const term of termsOf(query)) {
      const marked = /** @type {Uint8Array} */ (this.masks.get(term));
      if (!("field" in term)) await this.markByQuantity(term, marked);
      else if (!term.field || term.field === "attr" || term.field === "source") await this.markByAttribute(term, marked);
      else if (term.field === "shape" || term.field === "dtype") await this.markByTensor(term, marked);
      if (!(await this.shouldContinue())) return;
    }
  }

  /** The rows for which a query holds, in order. @param {Query} query @returns {number[]} */
  matchingRows(query) {
    const marked = this.matchMask(query);
    const rows = [];
    for (let row = 1; row < marked.length; row++) if (marked[row]) rows.push(row);
    return rows;
  }

  /** @param {Query} query @returns {Uint8Array} */
  matchMask(query) {
    if ("query" in query) return this.matchMask(query.query).map((bit) => 1 - bit);
    if (!("queries" in query)) return /** @type {Uint8Array} */ (this.masks.get(query));
    const [first, ...others] = query.queries.map((part) => this.matchMask(part));
    const mask = first.slice();
    for (const part of others) for (let row = 0; row < mask.length; row++) mask[row] = query.every ? mask[row] & part[row] : mask[row] | part[row];
    return mask;
  }

  /** @param {TextTerm} term @param {Uint8Array} marked */
  async markByName(term, marked) {
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
      if (!marked[row] && test(term.regex ? graph.name(row) : graph.lowerCaseName(row))) marked[row] = 1;
      if (row % ROWS_PER_CHECK === 0 && !(await this.shouldContinue())) return;
    }
    for (const [row, text] of graph.labels) if (test(text)) marked[row] = 1;
  }

  /** @param {TextTerm} term @param {Uint8Array} marked */
  async markByAttribute(term, marked) {
    const { graph } = this;
    if (!term.text) return;
    const rows = new Map();
    for (let row = 0; row < graph.count; row++) if (graph.node[row] >= 0) rows.set(graph.node[row], row);
    /** @type {[number, string][]} */
    const pairs = [];
    for (let at = 0; graph.blocks.has(`attributes/${at}`); at++) {
      const block = await graph.blocks.get(`attributes/${at}`).catch(() => []);
      if (!(await this.shouldContinue())) return;
      block.forEach((/** @type {any[][]} */ attributes, /** @type {number} */ index) => {
        const row = rows.get(at * NODES_PER_BLOCK + index);
        if (row === undefined) return;
        for (const [name, value] of attributes) {
          if (term.field !== "source") pairs.push([row, `${name}=${value}`]);
          // The file and line alone too, so that `model.py:4` does not match `model.py:41`.
          else if (name === "source") for (const line of String(value).split(" › ")) pairs.push([row, line], [row, line.split(" ")[0]]);
        }
      });
    }
    await this.markByText(term, term.field || "attr", pairs, marked);
  }

  /** Search shapes and types of the outputs that edges carry. @param {TextTerm} term @param {Uint8Array} marked */
  async markByTensor(term, marked) {
    const { words } = this.graph;
    const edges = await this.app.state.facts.edges().catch(() => null);
    if (!edges) return;
    /** @type {[number, string][]} */
    const pairs = [];
    for (let edge = 0; edge < edges.source.length; edge++) {
      if (edges.flags[edge] & 1) continue;
      const tensor = words[edges.tensor[edge]];
      const space = tensor.lastIndexOf(" ");
      const text = term.field === "shape" ? tensor.slice(0, Math.max(space, 0)) : tensor.slice(space + 1);
      if (text && text !== "unknown rank") pairs.push([edges.source[edge], text]);
      if (edge % ROWS_PER_CHECK === 0 && !(await this.shouldContinue())) return;
    }
    await this.markByText(term, term.field, pairs, marked);
  }

  /** @param {TextTerm} term @param {string} field @param {[number, string][]} pairs @param {Uint8Array} marked */
  async markByText(term, field, pairs, marked) {
    const test = testOf(term, field, term.field ? pairs.map(([, text]) => text) : []);
    for (const [at, [row, text]] of pairs.entries()) {
      if (!marked[row] && test(text)) marked[row] = 1;
      if (at % ROWS_PER_CHECK === 0 && !(await this.shouldContinue())) return;
    }
  }

  /** @param {NumberTerm} term @param {Uint8Array} marked */
  async markByQuantity({ quantity, sign, limit }, marked) {
    const scheme = SCHEME_OF_QUANTITY.get(quantity) ?? quantity;
    const colouring = this.graph.blocks.has(`colour/${scheme}`) ? await this.graph.blocks.get(`colour/${scheme}`).catch(() => null) : null;
    if (!colouring?.values || colouring.signed) throw new QueryError(t("query.unknown", { quantity: quantity.replaceAll("_", " ") }));
    const measured = scheme === "compute-time" || scheme === "memory";
    const holds = COMPARISONS[sign];
    for (let row = 1; row < marked.length; row++) {
      const value = colouring.values[row];
      if (value === null || (value < 0 && measured)) continue;
      if (holds(Math.max(value, 0), limit)) marked[row] = 1;
    }
  }
}

/** @type {Record<string, (a: number, b: number) => boolean>} */
const COMPARISONS = { ">=": (a, b) => a >= b, "<=": (a, b) => a <= b, "==": (a, b) => a === b, "!=": (a, b) => a !== b, ">": (a, b) => a > b, "<": (a, b) => a < b };

/** The test of a term. If its text equals one of `texts`, all texts of its field, only equal texts match.
 * @param {TextTerm} term @param {string} field @param {string[]} texts @returns {(text: string) => boolean} */
function testOf(term, field, texts) {
  if (term.regex) {
    const regex = compiledRegex(term.text);
    return (text) => regex.test(text);
  }
  const wanted = field === "shape" ? term.text.toLowerCase().replace(SIZE_SEPARATORS, "×") : term.text.toLowerCase();
  if (term.field && texts.some((text) => text.toLowerCase() === wanted)) return (text) => text.toLowerCase() === wanted;
  if (wanted.search(WILDCARDS) >= 0 && field !== "shape") {
    const test = patternTest(field === "name" ? wanted : wanted.replaceAll("*", "**"));
    return (text) => test(text.toLowerCase());
  }
  return (text) => text.toLowerCase().includes(wanted);
}

/** All rows for which a query holds, in the order of the file. Throws `QueryError`. @param {App} app @param {string} text @param {() => boolean} still */
export async function findRows(app, text, still) {
  const query = parseQuery(text);
  const rows = new RowSearch(app, still);
  await rows.searchNames(query);
  await rows.searchBlocks(query);
  return rows.matchingRows(query);
}

/** Rows by relevance: names that equal the text, then names that begin with it, shallow ones first.
 * @param {Graph} graph @param {number[]} rows @param {Query} query @param {RowSearch} search @returns {Promise<number[]>} */
export async function rankedRows(graph, rows, query, search) {
  const term = termsOf(query).find((candidate) => "field" in candidate && !candidate.regex && (!candidate.field || candidate.field === "name"));
  const wanted = term && "field" in term ? term.text.toLowerCase() : "";
  const keys = new Float64Array(rows.length);
  for (const [at, row] of rows.entries()) {
    const name = graph.lowerCaseName(row);
    const segment = name.lastIndexOf("/") + 1;
    const likeness = !wanted ? 0 : name === wanted ? 0 : !name.startsWith(wanted, segment) ? 3 : name.length === segment + wanted.length ? 1 : 2;
    let depth = 1;
    for (let slash = name.indexOf("/"); slash >= 0 && depth < 9999; slash = name.indexOf("/", slash + 1)) depth++;
    keys[at] = (likeness * 1e4 + depth) * graph.count + row;
    if (at % ROWS_PER_CHECK === 0 && !(await search.shouldContinue())) return [];
  }
  return Array.from(keys.sort(), (key) => key % graph.count);
}
