// Facts of nodes besides the structure: edges of the file, attributes, twins. Unpacked when a card needs them.

import { OP, SUMMARY } from "./levels.js";

export const NODES_PER_BLOCK = 2000;
const WRITE_OPS = /^Assign|Apply|Scatter|Save|Restore/; // ops that set a variable; the variable is drawn next to them too
const GRADIENT_SCOPE = /(^|\/)(gradients(_\d+)?|gradient_tape)\//; // scopes of the backward pass

export class Facts {
  /** @param {Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {Promise<any> | null} */
    this.edgeColumns = null;
  }

  /** The columns of the edges, and the start of the edges of each source and of each target. */
  edges() {
    const { blocks } = this.graph;
    const became = () => (blocks.has("changes/edges") ? blocks.get("changes/edges").catch(() => null) : null);
    this.edgeColumns ??= Promise.all([blocks.get("edges"), became()]).then(([all, states]) => {
      const count = all.length / 6;
      const column = (/** @type {number} */ at) => all.subarray(at * count, (at + 1) * count);
      const [source, target, key, slot, flags, tensor] = [0, 1, 2, 3, 4, 5].map(column);
      const into = edgesByRow(target, this.graph.count);
      const out = edgesByRow(source, this.graph.count);
      return { source, target, key, slot, flags, tensor, states, into, out };
    });
    return this.edgeColumns;
  }

  /** Names and values of a node's attributes. @param {number} row @returns {Promise<any[][]>} */
  async attributes(row) {
    const node = this.graph.node[row];
    if (node < 0) return [];
    const block = await this.graph.blocks.get(`attributes/${Math.floor(node / NODES_PER_BLOCK)}`);
    return block[node % NODES_PER_BLOCK];
  }

  /** The class and the configuration of a row's Keras layer; null if it is not a layer. @param {number} row @returns {Promise<[string, any[][]] | null>} */
  async layerConfig(row) {
    const { blocks } = this.graph;
    return blocks.has("layers") ? ((await blocks.get("layers"))[row] ?? null) : null;
  }

  /** The line of the program that called a group, null for none, and the lines inside with their ops; null if the file
   * does not state them. @param {number} row @returns {Promise<[string | null, [string, number][]] | null>} */
  async programLines(row) {
    const { blocks } = this.graph;
    if (!blocks.has("program")) return null;
    const { lines, rows } = await blocks.get("program");
    const [call, inside] = rows[row] ?? [];
    return inside ? [lines[call] ?? null, inside.map(([line, ops]) => [lines[line], ops])] : null;
  }

  /** Explanations of op types, layers and attributes; null if the page lacks them. @returns {Promise<any>} */
  async meanings() {
    const { blocks } = this.graph;
    return blocks.has("meanings") ? blocks.get("meanings") : null;
  }

  /** The content of a constant, or of the constant that a row forwards; null for other rows. @param {number} row @returns {Promise<any[] | null>} */
  async constantContent(row) {
    const { blocks, node } = this.graph;
    const name = `contents/${Math.floor(node[row] / NODES_PER_BLOCK)}`;
    return node[row] >= 0 && blocks.has(name) ? ((await blocks.get(name))[node[row] % NODES_PER_BLOCK] ?? null) : null;
  }

  /** Edges into a row, by input. @param {any} edges @param {number} row */
  inputsOf(edges, row) {
    return Array.from(edges.into.order.subarray(edges.into.start[row], edges.into.start[row + 1]));
  }

  /** @param {any} edges @param {number} row */
  outputsOf(edges, row) {
    return Array.from(edges.out.order.subarray(edges.out.start[row], edges.out.start[row + 1]));
  }

  /** The edges across the border of a group by the row outside, with counts of tensors and control edges.
   * @param {any} edges @param {number} row @param {boolean} inward */
  crossingEdges(edges, row, inward) {
    const end = this.graph.end[row];
    const [near, other, index] = inward ? [edges.target, edges.source, edges.into] : [edges.source, edges.target, edges.out];
    const crossings = new Map();
    for (let at = index.start[row]; at < index.start[end]; at++) {
      const edge = index.order[at];
      const outside = other[edge];
      if (outside >= row && outside < end) continue;
      const crossing = crossings.get(outside) ?? { tensors: 0, control: 0, tensor: "", inside: near[edge], edges: [] };
      crossing.edges.push(edge);
      if (edges.flags[edge] & 1) crossing.control++;
      else {
        crossing.tensors++;
        crossing.tensor ||= this.graph.words[edges.tensor[edge]];
      }
      crossings.set(outside, crossing);
    }
    return crossings;
  }

  /** Op types below a row with their counts, the most frequent first. @param {number} row @returns {[string, number][]} */
  typeCounts(row) {
    const { graph } = this;
    const counts = new Map();
    for (let at = row; at < graph.end[row]; at++) {
      if (graph.kind[at] === OP && !graph.mark[at]) counts.set(graph.op[at], (counts.get(graph.op[at]) ?? 0) + 1);
    }
    return [...counts].map(([word, count]) => /** @type {[string, number]} */ ([graph.words[word], count])).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  /** Other groups of the same structure. @param {number} row */
  twinRows(row) {
    const { graph } = this;
    const template = graph.template[row];
    const rows = [];
    if (template >= 0) for (let at = 1; at < graph.count; at++) if (graph.template[at] === template && at !== row && graph.kind[at] === graph.kind[row]) rows.push(at);
    return rows;
  }

  /** The op next to which a constant, summary or weight is drawn, -1 for none. Of several ops, those that
   * write the variable or compute gradients come last, and those in its own scope after others. @param {number} row */
  async hostRow(row) {
    const { graph } = this;
    const edges = await this.edges().catch(() => null);
    if (!edges) return -1;
    const summary = graph.mark[row] === SUMMARY;
    const near = (/** @type {number} */ at) => (summary ? this.inputsOf(edges, at).map((edge) => edges.source[edge]) : this.outputsOf(edges, at).map((edge) => edges.target[edge]));
    const marks = new Set([row]); // a variable and the ops that forward it
    const hosts = new Set();
    for (const at of marks) for (const next of near(at)) {
      if (!graph.mark[next]) hosts.add(next);
      else if ((graph.mark[next] === SUMMARY) === summary) marks.add(next);
    }
    const segments = graph.name(row).split("/");
    const shared = (/** @type {string[]} */ other) => (segments.findIndex((word, at) => word !== other[at]) + segments.length + 1) % (segments.length + 1);
    const last = (/** @type {number} */ at) => 1000 * Number(WRITE_OPS.test(graph.words[graph.op[at]]) || GRADIENT_SCOPE.test(graph.name(at))) + shared(graph.name(at).split("/"));
    return [...hosts].sort((a, b) => last(a) - last(b) || a - b)[0] ?? -1;
  }

  /** All rows that lead to a row, or to which it leads, in at most `hops` steps, and the edges between them. @param {number} row @param {boolean} inward @param {number} hops */
  async traceFrom(row, inward, hops) {
    const edges = await this.edges();
    const [index, other] = inward ? [edges.into, edges.source] : [edges.out, edges.target];
    const rows = new Set();
    const passed = [];
    let front = [];
    for (let at = row; at < this.graph.end[row]; at++) {
      rows.add(at);
      front.push(at);
    }
    for (let hop = 0; hop < hops && front.length; hop++) {
      const next = [];
      for (const reachedRow of front) {
        for (let at = index.start[reachedRow]; at < index.start[reachedRow + 1]; at++) {
          const reached = other[index.order[at]];
          passed.push(index.order[at]);
          if (!rows.has(reached)) {
            rows.add(reached);
            next.push(reached);
          }
        }
      }
      front = next;
    }
    return { rows: rows, edges: new TracedEdges(edges, passed) };
  }

  /** A path of a row: inside the first call that leads to it, or outside of calls if there is none. @param {number} row @returns {Path} */
  pathOfRow(row) {
    const { graph } = this;
    if (!this.callers) {
      this.callers = new Map();
      for (const [call, bodies] of graph.calls) for (const [, body] of bodies) if (!this.callers.has(body) && graph.functionOf(call) !== body) this.callers.set(body, call);
    }
    const path = [row];
    const seen = new Set();
    for (;;) {
      const home = graph.functionOf(path[0]);
      const call = home && path[0] !== home ? this.callers.get(home) : undefined;
      if (call === undefined || seen.has(home)) return path;
      seen.add(home);
      path.unshift(call);
    }
  }
}

/** The edges of a trace. */
class TracedEdges {
  /** @param {any} edges all of the file @param {number[]} numbers of those on the way */
  constructor(edges, numbers) {
    const pairs = (/** @type {Int32Array} */ near, /** @type {Int32Array} */ far) => numbers.map((at) => [near[at], far[at]]).sort((a, b) => a[0] - b[0]);
    this.out = pairs(edges.source, edges.target);
    this.into = pairs(edges.target, edges.source);
  }

  /** Whether an edge of the trace leads from the rows `source … sourceEnd-1` to the rows `target … targetEnd-1`.
   * @param {number} source @param {number} sourceEnd @param {number} target @param {number} targetEnd */
  hasBetween(source, sourceEnd, target, targetEnd) {
    const begin = (/** @type {number[][]} */ pairs, /** @type {number} */ row) => {
      let [low, high] = [0, pairs.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (pairs[middle][0] < row) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    const run = (/** @type {number[][]} */ pairs, /** @type {number} */ first, /** @type {number} */ end) => [begin(pairs, first), begin(pairs, end)];
    const [out, into] = [run(this.out, source, sourceEnd), run(this.into, target, targetEnd)];
    const fewer = out[1] - out[0] <= into[1] - into[0]; // iterate over the smaller side
    const [pairs, [from, to], first, end] = fewer ? [this.out, out, target, targetEnd] : [this.into, into, source, sourceEnd];
    for (let at = from; at < to; at++) if (pairs[at][1] >= first && pairs[at][1] < end) return true;
    return false;
  }
}

/** Edges sorted by row, and the start of the edges of each row. @param {Int32Array} column @param {number} rows */
function edgesByRow(column, rows) {
  const start = new Int32Array(rows + 2);
  for (const row of column) start[row + 2]++;
  for (let at = 2; at < start.length; at++) start[at] += start[at - 1];
  const order = new Int32Array(column.length);
  for (let edge = 0; edge < column.length; edge++) order[start[column[edge] + 1]++] = edge;
  return { start, order };
}
