// What is known of nodes beside the structure: the edges of the file, attributes, twins. Unpacked when a card asks.

const NODES_A_BLOCK = 2000;

class Facts {
  /** @param {Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {Promise<any> | null} */
    this.columns = null;
  }

  /** The edges by column, and where those of a source and of a target begin. */
  edges() {
    this.columns ??= this.graph.blocks.get("edges").then((/** @type {Int32Array} */ all) => {
      const count = all.length / 6;
      const column = (/** @type {number} */ at) => all.subarray(at * count, (at + 1) * count);
      const [source, target, key, slot, flags, tensor] = [0, 1, 2, 3, 4, 5].map(column);
      const into = starts(target, this.graph.count);
      const out = starts(source, this.graph.count);
      return { source, target, key, slot, flags, tensor, into, out };
    });
    return this.columns;
  }

  /** Names and values of a node's attributes. @param {number} row @returns {Promise<any[][]>} */
  async attributes(row) {
    const node = this.graph.node[row];
    if (node < 0) return [];
    const block = await this.graph.blocks.get(`attributes/${Math.floor(node / NODES_A_BLOCK)}`);
    return block[node % NODES_A_BLOCK];
  }

  /** Edges into a row, by input. @param {any} edges @param {number} row */
  into(edges, row) {
    return Array.from(edges.into.order.subarray(edges.into.start[row], edges.into.start[row + 1]));
  }

  /** @param {any} edges @param {number} row */
  out(edges, row) {
    return Array.from(edges.out.order.subarray(edges.out.start[row], edges.out.start[row + 1]));
  }

  /** What crosses the border of a group: by the row outside, how many tensors and control edges.
   * @param {any} edges @param {number} row @param {boolean} inward */
  crossing(edges, row, inward) {
    const end = this.graph.end[row];
    const [mine, other, index] = inward ? [edges.target, edges.source, edges.into] : [edges.source, edges.target, edges.out];
    const found = new Map();
    for (let at = index.start[row]; at < index.start[end]; at++) {
      const edge = index.order[at];
      const outside = other[edge];
      if (outside >= row && outside < end) continue;
      const one = found.get(outside) ?? { tensors: 0, control: 0, told: "", inside: mine[edge] };
      if (edges.flags[edge] & 1) one.control++;
      else {
        one.tensors++;
        one.told ||= this.graph.words[edges.tensor[edge]];
      }
      found.set(outside, one);
    }
    return found;
  }

  /** How many ops of each type lie under a row, the most first. @param {number} row @returns {[string, number][]} */
  types(row) {
    const { graph } = this;
    const found = new Map();
    for (let at = row; at < graph.end[row]; at++) {
      if (graph.kind[at] === OP && !graph.mark[at]) found.set(graph.op[at], (found.get(graph.op[at]) ?? 0) + 1);
    }
    return [...found].map(([word, count]) => /** @type {[string, number]} */ ([graph.words[word], count])).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  /** Other groups of the same structure. @param {number} row */
  twins(row) {
    const { graph } = this;
    const mine = graph.template[row];
    const found = [];
    if (mine >= 0) for (let at = 1; at < graph.count; at++) if (graph.template[at] === mine && at !== row && graph.kind[at] === graph.kind[row]) found.push(at);
    return found;
  }

  /** All rows that lead to one, or that it leads to, in at most `hops` steps. @param {number} row @param {boolean} inward @param {number} hops */
  async reach(row, inward, hops) {
    const edges = await this.edges();
    const [index, other] = inward ? [edges.into, edges.source] : [edges.out, edges.target];
    const found = new Set();
    let front = [];
    for (let at = row; at < this.graph.end[row]; at++) {
      found.add(at);
      front.push(at);
    }
    for (let hop = 0; hop < hops && front.length; hop++) {
      const next = [];
      for (const one of front) {
        for (let at = index.start[one]; at < index.start[one + 1]; at++) {
          const reached = other[index.order[at]];
          if (!found.has(reached)) {
            found.add(reached);
            next.push(reached);
          }
        }
      }
      front = next;
    }
    return found;
  }

  /** A path of a row: inside the first call that leads to it, by itself where none does. @param {number} row @returns {Path} */
  path(row) {
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

/** Where the edges of each row begin when they are ordered by that row. @param {Int32Array} column @param {number} rows */
function starts(column, rows) {
  const start = new Int32Array(rows + 2);
  for (const row of column) start[row + 2]++;
  for (let at = 2; at < start.length; at++) start[at] += start[at - 1];
  const order = new Int32Array(column.length);
  for (let edge = 0; edge < column.length; edge++) order[start[column[edge] + 1]++] = edge;
  return { start, order };
}
