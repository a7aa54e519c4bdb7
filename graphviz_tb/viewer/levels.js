// The folded graph: rows by columns, levels by path.
//
// A path is a list of rows: the calls around a node, then its own row; as a key it is joined by dots.

import { Reader, readCopies, readLevel } from "./reader.js";

const SCOPE = 0;
export const OP = 1;
export const SERIES = 2;
export const FOLD = 3;
const FUNCTION = 4;
export const CALL_SEPARATOR = /(?<!:)::(?!:)/; // between a call and its content in an address
const ONLY_BACKSLASHES = /^\\*$/; // a single name that is escaped: empty, or all backslashes
export const SUMMARY = 2; // a mark: 1 is a constant, 3 a weight

/** @typedef {number[]} Path */
/** @typedef {{member: number, usual: number, marks: Map<number, number>}} MemberCopy a member of a stack with the content of the usual member: its rows are shifted by the distance of the two members, and its marks are given by pairs */

export class Graph {
  /** @param {Head} head @param {Blocks} blocks @param {string[]} words @param {Int32Array} columns @param {Int32Array} copies */
  constructor(head, blocks, words, columns, copies) {
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
    /** @type {string[]} */
    this.lowerCaseNames = new Array(count);
    /** @type {Map<string, any>} */
    this.levels = new Map();
    /** @type {Map<string, Promise<any>>} */
    this.waiting = new Map();
    /** @type {Map<string, Path> | null} */
    this.pathsByAddress = null;
    /** @type {Set<number> | null} */
    this.shadowedRows = null;
    /** @type {Map<string, Path>} levels whose series are ungrouped: their members are on the level itself */
    this.ungroupedLevels = new Map();
    /** @type {Map<number, number>} stacks that show one member, each with its usual member */
    this.stacks = new Map(head.stacks);
    /** @type {Map<number, number>} groups that contain only a stack, each with its stack */
    this.stackInGroup = new Map(head.boxes);
    /** @type {Map<number, number>} scopes that contain only one scope, each with that scope */
    this.innerScopes = new Map(head.inner);
    /** @type {Map<number, MemberCopy>} members of stacks that share the levels of another member */
    this.copies = new Map(readCopies(new Reader(copies, 0)).map((copy) => [copy.member, copy]));
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
    const name = parts.reverse().join("/");
    this.names.set(row, name);
    return name;
  }

  /** The name in lower case, for searches. @param {number} row */
  lowerCaseName(row) {
    return (this.lowerCaseNames[row] ??= this.name(row).toLowerCase());
  }

  /** @param {Path} path */
  key(path) {
    return path.join(".");
  }

  /** @param {Path} path @param {number} row @returns {Path} */
  child(path, row) {
    return this.calls.has(path[path.length - 1]) ? [...path, row] : [...path.slice(0, -1), row];
  }

  /** The group around a path; null for the root, and for a function outside of calls. @param {Path} path @returns {Path | null} */
  enclosingGroup(path) {
    const row = path[path.length - 1];
    const parent = this.parent[row];
    if (path.length === 1) return parent < 0 ? null : this.isUngrouped([parent]) ? [this.parent[parent]] : [parent];
    if (this.kind[row] === FUNCTION) return path.slice(0, -1);
    if (parent >= 0 && this.kind[parent] !== FUNCTION) return [...path.slice(0, -1), parent];
    const bodies = this.calls.get(path[path.length - 2]) ?? [];
    return bodies.length === 1 ? path.slice(0, -1) : [...path.slice(0, -1), parent];
  }

  /** The groups around a path, the outermost first. @param {Path} path @returns {Path[]} */
  ancestors(path) {
    const groups = [];
    let at = this.enclosingGroup(path);
    while (at) {
      groups.unshift(at);
      at = this.enclosingGroup(at);
    }
    return groups;
  }

  /** The root or the function that contains a row. @param {number} row */
  functionOf(row) {
    // Rows of functions ascend, and follow the main graph.
    const rows = this.head.functions;
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle] <= row) low = middle + 1;
      else high = middle;
    }
    return low ? rows[low - 1] : 0;
  }

  /** The path as text. @param {Path} path @returns {string} */
  address(path) {
    if (path.length === 1 && path[0] === 0) return "";
    const words = [];
    const around = this.functionOf(path[0]);
    if (around && around !== path[0]) words.push(this.name(around));
    path.forEach((row, at) => {
      let name = this.name(row);
      const bodies = at ? (this.calls.get(path[at - 1]) ?? []) : [];
      if (bodies.length > 1) {
        const body = this.functionOf(row);
        const attr = bodies.find((pair) => pair[1] === body)?.[0] ?? "";
        name = row === body ? attr : `${attr}/${name}`;
      }
      words.push(name);
    });
    return around && this.shadowedFunctions().has(around) ? `::${words.map(layout.escape_address_part).join("::")}` : layout.join_address(words);
  }

  /** The rows of functions that share their name with a row of the main graph, or have no name. @returns {Set<number>} */
  shadowedFunctions() {
    if (!this.shadowedRows) {
      const rows = new Map(this.head.functions.map((/** @type {number} */ row) => [this.name(row), row]));
      this.shadowedRows = new Set();
      for (let row = 0; rows.size && row < this.end[0]; row++) if (rows.has(this.name(row))) this.shadowedRows.add(rows.get(this.name(row)));
    }
    return this.shadowedRows;
  }

  /** The path of a row at the end of a line of an open group. @param {Path} path @param {number} row @param {boolean} inside */
  neighbour(path, row, inside) {
    const home = this.functionOf(row);
    const last = path[path.length - 1];
    if (inside && (this.calls.get(last) ?? []).some(([, body]) => body === home)) return [...path, row];
    for (let at = path.length - 1; at >= 0; at--) if (this.functionOf(path[at]) === home) return [...path.slice(0, at), row];
    return [row];
  }

  /** The path of an address; null if there is none. @param {string} address @returns {Path | null} */
  pathOfAddress(address) {
    if (!this.pathsByAddress) {
      this.pathsByAddress = new Map();
      for (let row = this.count - 1; row > 0; row--) this.pathsByAddress.set(this.address([row]), [row]);
    }
    const direct = address === "" ? [0] : this.pathsByAddress.get(address);
    if (direct) return direct;
    const path = this.pathInCalls(address);
    if (path) this.pathsByAddress.set(address, path);
    return path;
  }

  /** The path of an address inside calls, name by name. @param {string} address @returns {Path | null} */
  pathInCalls(address) {
    const known = /** @type {Map<string, Path>} */ (this.pathsByAddress);
    const parts = address.split(CALL_SEPARATOR);
    let path = known.get(ONLY_BACKSLASHES.test(parts[0]) ? parts[0] : parts[0].replace(/^\\/, "").replace(/\\$/, ""));
    let from = 1;
    // In a function that is shown outside of calls, the name after the function's is one of its rows.
    if (parts[0] === "" && parts.length > 3) path = known.get(parts.slice(0, (from = 3)).join("::"));
    else if (path && this.head.functions.includes(path[0])) path = known.get(parts.slice(0, (from = 2)).join("::"));
    for (const part of parts.slice(from)) {
      if (!path) return null;
      const around = /** @type {Path} */ (path);
      path = undefined;
      for (const [, body] of this.calls.get(around[around.length - 1]) ?? []) {
        for (let row = body; row < this.end[body] && !path; row++) {
          const here = [...around, row];
          if (this.address(here).split(CALL_SEPARATOR).pop() === part) path = here;
        }
        if (path) break;
      }
    }
    return path ?? null;
  }

  /** Whether a row is drawn like an op: an op, or a stack whose members are ops. @param {number} row */
  isDrawnAsOp(row) {
    let at = row;
    while ((this.kind[at] === SERIES || this.kind[at] === FOLD) && this.end[at] > at + 1) at++;
    return this.kind[at] === OP;
  }

  /** @param {number} row */
  isOpenable(row) {
    return this.kind[row] !== OP || this.calls.has(row);
  }

  /** Whether one path equals another or is inside it. @param {Path} path @param {Path} group */
  isWithin(path, group) {
    const depth = group.length - 1;
    if (path.length <= depth) return false;
    for (let at = 0; at < depth; at++) if (path[at] !== group[at]) return false;
    const row = path[depth];
    const top = group[depth];
    return row === top || (row > top && row < this.end[top] && path.length >= group.length);
  }

  // stacks that show one member

  /** The stack that a group is, or that is its only content. @param {Path} path @returns {Path | null} */
  stackIn(path) {
    const row = path[path.length - 1];
    const stack = this.stacks.has(row) ? row : this.stackInGroup.get(row);
    if (stack === undefined) return null;
    const stackPath = [...path.slice(0, -1), stack];
    return this.isUngrouped(stackPath) ? null : stackPath;
  }

  /** The stack of which a path is a member. @param {Path} path @returns {Path | null} */
  stackOf(path) {
    const parent = this.parent[path[path.length - 1]];
    return this.stacks.has(parent) ? this.stackIn([...path.slice(0, -1), parent]) : null;
  }

  /** The members of a stack whose level is loaded. @param {Path} stack @returns {Path[]} */
  members(stack) {
    return (this.level(stack)?.metagraph.children ?? []).map((/** @type {number} */ row) => this.child(stack, row));
  }

  /** The member that an open stack shows; null if it lists all members. @param {Path} stack @param {Map<string, Path>} open @returns {Path | null} */
  memberOf(stack, open) {
    if (!open.has(this.key(stack))) return null;
    for (const path of open.values()) {
      const own = this.stackOf(path);
      if (own && this.key(own) === this.key(stack)) return path;
    }
    return null;
  }

  /** The scope that is the only content of a scope. @param {Path} path @returns {Path | null} */
  innerOf(path) {
    const inner = this.innerScopes.get(path[path.length - 1]);
    return inner === undefined ? null : [...path.slice(0, -1), inner];
  }

  /** The open scopes that share a frame: a scope, its only inner scope, and so on. @param {Path} path @param {Map<string, Path>} open @returns {Path[]} */
  joinedScopes(path, open) {
    const scopes = [path];
    for (let at = this.innerOf(path); at && open.has(this.key(at)); at = this.innerOf(at)) scopes.push(at);
    return scopes;
  }

  /** The path whose content an open group shows: itself, a member of its stack, or the innermost scope of its frame. @param {Path} path @param {Map<string, Path>} open @returns {Path} */
  shownPath(path, open) {
    const stack = this.stackIn(path);
    return stack ? this.memberOf(stack, open) || path : /** @type {Path} */ (this.joinedScopes(path, open).pop());
  }

  /** The group whose box shows a path: the stack for its shown member, the outermost scope for scopes that contain only each other. @param {Path} path @returns {Path} */
  framePath(path) {
    let frame = this.stackOf(path) ?? path;
    for (let at = this.enclosingGroup(frame); at && this.innerScopes.get(at[at.length - 1]) === frame[frame.length - 1]; at = this.enclosingGroup(frame)) frame = at;
    const stack = this.stackIn(frame);
    for (let at = stack && this.enclosingGroup(frame); at && at[0] !== 0; at = this.enclosingGroup(at)) {
      const own = this.stackIn(at);
      if (!own || !stack || this.key(own) !== this.key(stack) || this.stackOf(at)) break;
      frame = at;
    }
    return frame;
  }

  /** The groups to open together with a group: the stack in it and its default member, unless one is open; a scope that is its only child. @param {Path} path @param {Map<string, Path>} open @returns {Path[]} */
  pathsOpenedWith(path, open) {
    const stack = this.stackIn(path);
    if (!stack) {
      const scopes = [];
      for (let at = this.innerOf(path); at; at = this.innerOf(at)) scopes.push(at);
      return scopes;
    }
    if (this.memberOf(stack, open)) return [];
    const usual = [...stack.slice(0, -1), /** @type {number} */ (this.stacks.get(stack[stack.length - 1]))];
    return [...this.ancestors(stack).filter((group) => this.isWithin(group, path)), stack, usual];
  }

  /** Close the other members of the stacks that contain these paths. @param {Path[]} paths @param {Map<string, Path>} open */
  closeOtherMembers(paths, open) {
    for (const path of paths) {
      const stack = this.stackOf(path);
      if (!stack) continue;
      for (const [key, openPath] of [...open]) {
        if (this.isWithin(openPath, stack) && !this.isWithin(openPath, path) && key !== this.key(stack)) open.delete(key);
      }
    }
  }

  // levels and ungrouped series

  /** Whether a path is an ungrouped series. @param {Path} path */
  isUngrouped(path) {
    return path.length === 1 && this.kind[path[0]] === SERIES && this.ungroupedLevels.has(String(this.parent[path[0]]));
  }

  /** The level of a series, if it can be ungrouped there. @param {Path} path @returns {Path | null} */
  ungroupableLevel(path) {
    const [row] = path;
    const level = this.parent[row];
    return path.length === 1 && this.kind[row] === SERIES && String(level) in this.head.apart ? [level] : null;
  }

  /** The series of a level. @param {Path} path @returns {Path[]} */
  seriesOf([level]) {
    const series = [];
    for (let row = level + 1; row < this.end[level]; row = this.end[row]) if (this.kind[row] === SERIES) series.push([row]);
    return series;
  }

  /** The suffix of the key of a level with ungrouped series on it or around it: their ranks as bits. @param {Path} path */
  ungroupedSuffix(path) {
    let bits = 0;
    for (let row = path[0]; row >= 0; row = this.parent[row]) if (this.ungroupedLevels.has(String(row))) bits |= 1 << this.head.apart[row];
    return bits ? `~${bits}` : "";
  }

  /** The copies around a path, the outermost first; in a stack, those of the usual member.
   * @param {Path} path @returns {MemberCopy[]} */
  copiesOf(path) {
    if (path.length > 1 || !this.copies.size) return [];
    for (let row = path[0]; row > 0; row = this.parent[row]) {
      const copy = this.copies.get(row);
      if (copy) return [copy, ...this.copiesOf([path[0] + copy.usual - copy.member])];
    }
    return [];
  }

  /** The position of a level in the data. A member of a stack may be a copy of another, and a function nested too often in
   * itself is drawn as its last level in the file. `key` is the key of the level, `written` that of the stored level.
   * @param {Path} path @returns {{key: string, written: string, at: number[], copies: MemberCopy[]} | null} */
  levelPlace(path) {
    const copies = this.copiesOf(path);
    for (const ranks of this.ungroupedLevels.size ? [this.ungroupedSuffix(path), ""] : [""]) {
      for (let row = path[0], depth = 0; depth <= copies.length; depth++) {
        const written = this.key([row, ...path.slice(1)]) + ranks;
        const at = this.head.levels[written];
        if (at) return { key: this.key(path) + ranks, written, at, copies: copies.slice(0, depth) };
        if (depth < copies.length) row += copies[depth].usual - copies[depth].member;
      }
    }
    const cut = withoutLastRepetition(path);
    return cut && this.levelPlace(cut);
  }

  /** Whether the content of a group is in the file. @param {Path} path */
  hasLevel(path) {
    return this.levelPlace(path) !== null;
  }

  /** Load levels, to be drawn. @param {Path[]} paths */
  async loadLevels(paths) {
    const wanted = new Map();
    for (const path of paths) {
      const place = this.levelPlace(path);
      if (!place) continue;
      for (const end of ["", "+"]) {
        const at = this.head.levels[place.written + end];
        if (at && !this.levels.has(place.key + end)) wanted.set(place.key + end, { at, copies: place.copies });
      }
    }
    const names = new Set([...wanted.values()].map(({ at }) => `levels/${at[0]}`));
    /** @type {Map<string, Int32Array>} */
    const blocks = new Map();
    await Promise.all([...names].map(async (name) => blocks.set(name, await this.blocks.get(name))));
    for (const [key, { at, copies }] of wanted) {
      const from = new Reader(blocks.get(`levels/${at[0]}`), at[1]);
      this.levels.set(key, readLevel(this.words, from, this.copyRowMap(copies)));
    }
  }

  /** Map the rows of the stored level to those of a copy. @param {MemberCopy[]} copies @returns {(row: number) => number} */
  copyRowMap(copies) {
    const steps = [...copies].reverse();
    return (row) => steps.reduce((at, copy) => (at >= copy.usual && at < this.end[copy.usual] ? at + copy.member - copy.usual : (copy.marks.get(at) ?? at)), row);
  }

  /** The level with all children in the main graph; none if it has no auxiliary area. @param {Path} path */
  withoutAuxiliary(path) {
    const place = this.levelPlace(path);
    return place && this.levels.get(`${place.key}+`);
  }

  /** A loaded level. @param {Path} path */
  level(path) {
    const place = this.levelPlace(path);
    return place && this.levels.get(place.key);
  }
}

/** A path without its last repetition of a call; null if nothing repeats. @param {Path} path @returns {Path | null} */
function withoutLastRepetition(path) {
  for (let end = path.length - 1; end > 0; end--) {
    const start = path.lastIndexOf(path[end], end - 1);
    if (start >= 0) return [...path.slice(0, start), ...path.slice(end)];
  }
  return null;
}
