// The folded graph: rows by columns, levels by path, and the pictures that `place.js` makes of a set of open groups.
//
// A path is a list of rows: the calls around a node, then its own row; as a key it is joined by dots.

const KINDS = ["scope", "op", "series", "fold", "call", "function"];
const SIDES = ["in", "out"];
const STUBS = ["shortcut", "constant", "summary", "weight"];
const MOST_LISTED = 12; // functions beside the graph, as in Python
const SCOPE = 0;
const OP = 1;
const SERIES = 2;
const FOLD = 3;
const FUNCTION = 4;

/** @typedef {number[]} Path */

/** Reads a run of numbers as Python wrote it. */
class Reader {
  /** @param {Int32Array} numbers @param {number} at */
  constructor(numbers, at) {
    this.numbers = numbers;
    this.at = at;
  }
  next() {
    return this.numbers[this.at++];
  }
  /** @returns {number[]} */
  list() {
    const count = this.next();
    const out = Array.from(this.numbers.subarray(this.at, this.at + count));
    this.at += count;
    return out;
  }
  /** Rows that were written column by column. @param {number} width @returns {number[][]} */
  rows(width) {
    const count = this.next();
    const out = [];
    for (let row = 0; row < count; row++) {
      const one = [];
      for (let column = 0; column < width; column++) one.push(this.numbers[this.at + column * count + row]);
      out.push(one);
    }
    this.at += count * width;
    return out;
  }
}

class Graph {
  /** @param {Head} head @param {Blocks} blocks @param {string[]} words @param {Int32Array} columns */
  constructor(head, blocks, words, columns) {
    this.head = head;
    this.blocks = blocks;
    this.words = words;
    const count = head.rows;
    const column = (/** @type {number} */ at) => columns.subarray(at * count, (at + 1) * count);
    this.count = count;
    this.kind = column(0);
    this.parent = column(1);
    this.end = column(2);
    this.nameOf = column(3);
    this.ops = column(4);
    this.op = column(5);
    this.device = column(6);
    this.mark = column(7);
    this.node = column(8);
    this.template = column(9);
    /** @type {Map<number, [string, number][]>} */
    this.calls = new Map(head.calls);
    /** @type {Map<number, string>} */
    this.labels = new Map(head.labels.map((/** @type {number[]} */ [row, word]) => [row, words[word]]));
    /** @type {Map<number, string>} */
    this.names = new Map();
    /** @type {Map<string, any>} */
    this.levels = new Map();
    /** @type {Map<string, Promise<any>>} */
    this.waiting = new Map();
    /** @type {Map<string, Path> | null} */
    this.known = null;
    /** @type {Map<string, Path>} levels whose series are apart: their members stand on the level itself */
    this.apart = new Map();
  }

  // names and paths

  /** The whole name of a row. @param {number} row @returns {string} */
  name(row) {
    const known = this.names.get(row);
    if (known !== undefined) return known;
    const parts = [];
    let at = row;
    for (;;) {
      const word = this.nameOf[at];
      parts.push(this.words[word >> 1]);
      if (!(word & 1)) break;
      do at = this.parent[at];
      while (this.kind[at] !== SCOPE);
    }
    const found = parts.reverse().join("/");
    this.names.set(row, found);
    return found;
  }

  /** @param {Path} path */
  key(path) {
    return path.join(".");
  }

  /** @param {Path} path @param {number} row @returns {Path} */
  child(path, row) {
    return this.calls.has(path[path.length - 1]) ? [...path, row] : [...path.slice(0, -1), row];
  }

  /** The group around a path; null for the root, and for a function shown by itself. @param {Path} path @returns {Path | null} */
  around(path) {
    const row = path[path.length - 1];
    const parent = this.parent[row];
    if (path.length === 1) return parent < 0 ? null : this.isApart([parent]) ? [this.parent[parent]] : [parent];
    if (this.kind[row] === FUNCTION) return path.slice(0, -1);
    if (parent >= 0 && this.kind[parent] !== FUNCTION) return [...path.slice(0, -1), parent];
    const bodies = this.calls.get(path[path.length - 2]) ?? [];
    return bodies.length === 1 ? path.slice(0, -1) : [...path.slice(0, -1), parent];
  }

  /** The groups around a path, the outermost first. @param {Path} path @returns {Path[]} */
  ancestors(path) {
    const found = [];
    let at = this.around(path);
    while (at) {
      found.unshift(at);
      at = this.around(at);
    }
    return found;
  }

  /** The root or the function that a row lies in. @param {number} row */
  functionOf(row) {
    let found = 0;
    for (const one of this.head.functions) if (one <= row) found = one;
    return found;
  }

  /** The path as text. @param {Path} path @returns {string} */
  address(path) {
    const words = [];
    const twice = (/** @type {string} */ name) => name.replaceAll("::", "::::");
    const around = this.functionOf(path[0]);
    if (around && around !== path[0]) words.push(twice(this.name(around)));
    path.forEach((row, at) => {
      let name = twice(this.name(row));
      const bodies = at ? (this.calls.get(path[at - 1]) ?? []) : [];
      if (bodies.length > 1) {
        const body = this.functionOf(row);
        const attr = bodies.find((one) => one[1] === body)?.[0] ?? "";
        name = row === body ? attr : `${attr}/${name}`;
      }
      words.push(name);
    });
    return words.join("::");
  }

  /** The path of a row that the lines of an open group speak of. @param {Path} path @param {number} row @param {boolean} inside */
  neighbour(path, row, inside) {
    const home = this.functionOf(row);
    const last = path[path.length - 1];
    if (inside && (this.calls.get(last) ?? []).some(([, body]) => body === home)) return [...path, row];
    for (let at = path.length - 1; at >= 0; at--) if (this.functionOf(path[at]) === home) return [...path.slice(0, at), row];
    return [row];
  }

  /** The path that an address means; null where there is none. @param {string} address @returns {Path | null} */
  find(address) {
    if (address === "") return [0];
    if (!this.known) {
      this.known = new Map();
      for (let row = this.count - 1; row > 0; row--) this.known.set(this.address([row]), [row]);
    }
    const direct = this.known.get(address);
    if (direct) return direct;
    return this.inside(address);
  }

  /** The same inside calls, name by name. @param {string} address @returns {Path | null} */
  inside(address) {
    const parts = address.split(/(?<!:)::(?!:)|(?<=::::)::(?!:)/);
    let path = /** @type {Map<string, Path>} */ (this.known).get(parts[0]);
    for (const part of parts.slice(1)) {
      if (!path) return null;
      const around = /** @type {Path} */ (path);
      path = undefined;
      for (const [, body] of this.calls.get(around[around.length - 1]) ?? []) {
        for (let row = body; row < this.end[body] && !path; row++) {
          const here = [...around, row];
          if (this.address(here).endsWith(`::${part}`) && this.address(here) === `${this.address(around)}::${part}`) path = here;
        }
        if (path) break;
      }
    }
    return path ?? null;
  }

  /** Whether a row is drawn like an op: an op, or a stack whose members are ops. @param {number} row */
  ofOps(row) {
    let at = row;
    while ((this.kind[at] === SERIES || this.kind[at] === FOLD) && this.end[at] > at + 1) at++;
    return this.kind[at] === OP;
  }

  /** @param {number} row */
  opens(row) {
    return this.kind[row] !== OP || this.calls.has(row);
  }

  /** Whether one path is, or lies below, another. @param {Path} path @param {Path} group */
  within(path, group) {
    const depth = group.length - 1;
    if (path.length <= depth) return false;
    for (let at = 0; at < depth; at++) if (path[at] !== group[at]) return false;
    const row = path[depth];
    const top = group[depth];
    return row === top || (row > top && row < this.end[top] && path.length >= group.length);
  }

  // levels

  // series apart

  /** Whether a path is a series that came apart. @param {Path} path */
  isApart(path) {
    return path.length === 1 && this.kind[path[0]] === SERIES && this.apart.has(String(this.parent[path[0]]));
  }

  /** The level that a series stands on, if it can come apart there. @param {Path} path @returns {Path | null} */
  comesApart(path) {
    const [row] = path;
    const level = this.parent[row];
    return path.length === 1 && this.kind[row] === SERIES && String(level) in this.head.apart ? [level] : null;
  }

  /** The series of a level. @param {Path} path @returns {Path[]} */
  seriesOf([level]) {
    const found = [];
    for (let row = level + 1; row < this.end[level]; row = this.end[row]) if (this.kind[row] === SERIES) found.push([row]);
    return found;
  }

  /** What the key of a level ends with where series on it or around it are apart: the ranks of these, as bits. @param {Path} path */
  ranks(path) {
    let bits = 0;
    for (let row = path[0]; row >= 0; row = this.parent[row]) if (this.apart.has(String(row))) bits |= 1 << this.head.apart[row];
    return bits ? `~${bits}` : "";
  }

  /** Where a level lies: a function in itself too often is drawn as one of the last that the file holds.
   * @param {Path} path @returns {[string, number[]] | null} */
  place(path) {
    let at = path;
    const other = this.apart.size ? this.key(path) + this.ranks(path) : "";
    if (other in this.head.levels) return [other, this.head.levels[other]];
    for (;;) {
      const key = this.key(at);
      const found = this.head.levels[key];
      if (found) return [key, found];
      const cut = shortcut(at);
      if (!cut) return null;
      at = cut;
    }
  }

  /** Whether the file holds what a group holds. @param {Path} path */
  holds(path) {
    return this.place(path) !== null;
  }

  /** Make levels ready to be drawn. @param {Path[]} paths */
  async prepare(paths) {
    const names = new Set();
    for (const path of paths) {
      const found = this.place(path);
      if (!found || this.levels.has(found[0])) continue;
      names.add(`levels/${found[1][0]}`);
      const second = this.head.levels[`${found[0]}+`];
      if (second) names.add(`levels/${second[0]}`);
    }
    /** @type {Map<string, Int32Array>} */
    const blocks = new Map();
    await Promise.all([...names].map(async (name) => blocks.set(name, await this.blocks.get(name))));
    for (const path of paths) {
      const found = this.place(path);
      if (!found || this.levels.has(found[0])) continue;
      const [block, start] = found[1];
      this.levels.set(found[0], this.read(new Reader(blocks.get(`levels/${block}`), start)));
      const second = this.head.levels[`${found[0]}+`];
      if (second) this.levels.set(`${found[0]}+`, this.read(new Reader(blocks.get(`levels/${second[0]}`), second[1])));
    }
  }

  /** The same level with everything in the main graph, where it has an auxiliary area. @param {Path} path */
  second(path) {
    const found = this.place(path);
    return found && this.levels.get(`${found[0]}+`);
  }

  /** A level that was made ready. @param {Path} path */
  level(path) {
    const found = this.place(path);
    return found && this.levels.get(found[0]);
  }

  /** @param {Reader} from */
  read(from) {
    const word = (/** @type {number} */ at) => this.words[at];
    const row = from.next();
    const children = from.list();
    const functions = from.list();
    const faces = [];
    for (let at = 0; at < children.length + functions.length; at++) {
      const [label, second, badge, about, flags] = Array.from({ length: 5 }, () => from.next());
      faces.push({
        label: word(label),
        second: word(second),
        badge: word(badge),
        about: word(about),
        openable: !!(flags & 1),
        connected: !!(flags & 2),
        kind: KINDS[(flags >> 2) & 7],
        member: KINDS[flags >> 5],
      });
    }
    const said = (/** @type {any} */ line, /** @type {number[]} */ [label, thickness, told]) =>
      Object.assign(line, { label: word(label), thickness, told: word(told) });
    const edges = from.rows(9).map(([source, target, tensors, control, reference, back, ...rest]) =>
      said(Object.assign(new layout.Metaedge(source, target, tensors, control, reference), { back: !!back }), rest),
    );
    const bridges = from.rows(9).map(([child, other, seen, tensors, control, reference, ...rest]) =>
      said(new layout.Bridge(child, other, !!(seen & 1), tensors, control, reference, !!(seen & 2)), rest),
    );
    const masks = [0, 1].map(() => new layout.Mask(from.list(), from.list(), new Set(from.list())));
    const notes = from
      .rows(4)
      .map(([child, other, flags, count]) => new layout.Annotation(child, SIDES[flags & 1], other, STUBS[flags >> 2], count, !!(flags & 2)));
    const loops = from.rows(2);
    const metagraph = new layout.Metagraph(row, children, [], edges, bridges, masks[0], masks[1], notes, functions, loops);
    return { metagraph, skeleton: this.skeleton(from, children.length), faces };
  }

  /** @param {Reader} from @param {number} children */
  skeleton(from, children) {
    const ports = [];
    for (let left = from.next(); left > 0; left--) {
      ports.push(new layout.PortSlot(!!from.next(), from.rows(2).map(([row, inbound]) => [row, !!inbound])));
    }
    const wires = from.rows(3).map(([edge, bridge, turned]) => new layout.Wire(edge, bridge, [], !!turned));
    for (const wire of wires) wire.chain = from.list();
    const waypoint = from.list();
    const lists = () => Array.from({ length: from.next() }, () => from.list());
    const parts = Array.from({ length: from.next() }, lists);
    const shelves = lists();
    const main = from.next();
    const spine = from.list();
    const breaks = lists();
    const plain = !!from.next();
    return Object.assign(Object.create(layout.Skeleton.prototype), { children, ports, wires, waypoint, parts, shelves, main, spine, breaks, plain });
  }
}

/** A path without its last repetition of a call; null where nothing repeats. @param {Path} path @returns {Path | null} */
function shortcut(path) {
  for (let end = path.length - 1; end > 0; end--) {
    const start = path.lastIndexOf(path[end], end - 1);
    if (start >= 0) return [...path.slice(0, start), ...path.slice(end)];
  }
  return null;
}

/** The tree of open groups that `place` takes, groups that did not change kept as they were. */
class Views {
  /** @param {Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {Map<string, Path>} where each box of the last picture is, by its address */
    this.places = new Map();
  }

  /**
   * @param {Map<string, Path>} open the open groups by key, without the root
   * @param {(path: Path) => string | null} second what a colouring says on the second line
   * @param {number} stubs how many stubs a side of a box shows
   * @param {Moves | null} moves what the reader moved
   */
  build(open, second, stubs, moves = null) {
    const graph = this.graph;
    this.places = new Map();
    const names = { get: (/** @type {number} */ row) => graph.name(row) };
    /** @type {{path: Path, at: number, up: any}[]} */
    const todo = [{ path: [0], at: -1, up: null }];
    let top = null;
    const views = [];
    for (let next = 0; next < todo.length; next++) {
      const { path, at, up } = todo[next];
      const held = graph.level(path);
      if (!held) continue;
      const around = up && at < up.metagraph.children.length ? { metagraph: up.metagraph, at } : null;
      const level = moves ? moves.level(graph, path, held, around) : held;
      const count = level.metagraph.children.length;
      const listed = path.length === 1 && path[0] === 0 ? this.listed(open) : [];
      const face = (/** @type {Path} */ one, /** @type {any} */ told) => {
        const row = one[one.length - 1];
        const address = graph.address(one);
        this.places.set(address, one);
        return Object.assign(Object.create(layout.Face.prototype), told, { row, address, full: graph.name(row), second: second(one) ?? told.second });
      };
      const paths = level.metagraph.children.map((/** @type {number} */ row) => graph.child(path, row));
      const faces = paths.map((/** @type {Path} */ one, /** @type {number} */ number) => face(one, level.faces[number]));
      const functions = listed.map((row) => face([row], level.faces[count + level.metagraph.functions.indexOf(row)]));
      /** @type {any} */
      const view = Object.assign(Object.create(layout.View.prototype), {
        address: graph.address(path),
        row: path[path.length - 1],
        metagraph: level.metagraph,
        skeleton: level.skeleton,
        faces,
        opened: new Map(),
        names,
        labels: graph.labels,
        addresses: this.addresses(path, level.metagraph),
        functions,
        paths: [...paths, ...listed.map((row) => [row])],
      });
      views.push(view);
      if (up) up.opened.set(at, view);
      else top = view;
      view.paths.forEach((/** @type {Path} */ one, /** @type {number} */ number) => {
        if (open.has(graph.key(one)) && graph.level(one)) todo.push({ path: one, at: number, up: view });
      });
    }
    for (const view of views) view.words = layout.words_of(view, stubs);
    return top;
  }

  /** Where the rows are that the lines of a level speak of. @param {Path} path @param {any} metagraph */
  addresses(path, metagraph) {
    const outside = new Set(metagraph.bridges.map((/** @type {any} */ one) => one.other));
    return { get: (/** @type {number} */ row) => this.graph.address(this.graph.neighbour(path, row, !outside.has(row))) };
  }

  /** Functions that stand beside the graph: the largest that nothing calls, and those that were opened by themselves.
   * @param {Map<string, Path>} open @returns {number[]} */
  listed(open) {
    const { graph } = this;
    const size = (/** @type {number} */ row) => (graph.ops[row] < 0 ? Infinity : graph.ops[row]);
    let uncalled = [...graph.head.uncalled];
    if (uncalled.length > MOST_LISTED) uncalled.sort((a, b) => size(b) - size(a) || a - b);
    uncalled = uncalled.slice(0, MOST_LISTED);
    const own = graph.head.functions.filter((/** @type {number} */ row) => open.has(String(row)));
    return [...new Set([...own, ...uncalled])].sort((a, b) => a - b);
  }
}
