// Read levels from runs of whole numbers, in the order in which `page/levels.py` writes them.

const KINDS = ["scope", "op", "series", "fold", "call", "function"];
const SIGNS = ["", "+", "×"];
const SIDES = ["in", "out"];
const STUBS = ["shortcut", "constant", "summary", "weight"];

/** Reads a run of numbers as Python wrote it. */
export class Reader {
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
      const values = [];
      for (let column = 0; column < width; column++) values.push(this.numbers[this.at + column * count + row]);
      out.push(values);
    }
    this.at += count * width;
    return out;
  }
}

/** The copies of a page. @param {Reader} from @returns {MemberCopy[]} */
export function readCopies(from) {
  const copies = [];
  while (from.at < from.numbers.length) {
    const [member, usual, count] = [from.next(), from.next(), from.next()];
    const marks = new Map(Array.from({ length: count }, () => [from.next(), from.next()]));
    copies.push({ member, usual, marks });
  }
  return copies;
}

/** A level as Python wrote it, with renumbered rows. @param {string[]} words @param {Reader} from @param {(row: number) => number} name */
export function readLevel(words, from, name) {
  const word = (/** @type {number} */ at) => words[at];
  const row = name(from.next());
  const children = from.list().map(name);
  const functions = from.list();
  const nodeLabels = [];
  for (let at = 0; at < children.length + functions.length; at++) {
    const [label, second, badge, about, first, flags] = Array.from({ length: 6 }, () => from.next());
    nodeLabels.push({
      label: word(label),
      second: word(second),
      badge: word(badge),
      about: word(about),
      first: word(first),
      openable: !!(flags & 1),
      connected: !!(flags & 2),
      kind: KINDS[(flags >> 2) & 7],
      member: KINDS[(flags >> 5) & 7],
      sign: SIGNS[(flags >> 8) & 3],
      semibold: !!(flags & 1024),
      layers: !!(flags & 2048),
      surplus: !!(flags & 4096),
      shared: !!(flags & 8192),
    });
  }
  const withWords = (/** @type {any} */ line, /** @type {number[]} */ [label, bits, tooltip]) =>
    Object.assign(line, { label: word(label), thickness: bits >> 1, indexing: !!(bits & 1), tooltip: word(tooltip) });
  const edges = from.rows(9).map(([source, target, tensors, control, reference, back, ...rest]) =>
    withWords(Object.assign(new layout.Metaedge(source, target, tensors, control, reference), { back: !!(back & 1), training: back >> 1 }), rest),
  );
  const bridges = from.rows(11).map(([child, other, seen, tensors, control, reference, some, members, ...rest]) =>
    withWords(Object.assign(new layout.Bridge(child, name(other), !!(seen & 1), tensors, control, reference, !!(seen & 2)), { members: [some, members], training: !!(seen & 4) }), rest),
  );
  const surplus = nodeLabels.findIndex((label) => label.surplus); // lines of the surplus are not on a main path
  for (const line of [...edges, ...bridges]) if (surplus >= 0 && [line.source, line.target, line.child].includes(surplus)) line.beside = true;
  const masks = [0, 1].map(() => new layout.Mask(from.list(), from.list(), new Set(from.list())));
  const notes = from
    .rows(4)
    .map(([child, other, flags, count]) => new layout.Annotation(child, SIDES[flags & 1], name(other), STUBS[flags >> 3], count, !!(flags & 2), !!(flags & 4)));
  const loops = from.rows(2);
  const training = from.list();
  const metagraph = new layout.Metagraph(row, children, [], edges, bridges, masks[0], masks[1], notes, functions, loops, training);
  return { metagraph, skeleton: readSkeleton(from, children.length, name), node_labels: nodeLabels };
}

/** A drawing order. @param {Reader} from @param {number} children @param {(row: number) => number} name */
function readSkeleton(from, children, name) {
  const ports = [];
  for (let left = from.next(); left > 0; left--) {
    ports.push(new layout.PortSlot(!!from.next(), from.rows(2).map(([row, inbound]) => [name(row), !!inbound])));
  }
  const wires = from.rows(3).map(([edge, bridge, turned]) => new layout.Wire(edge, bridge, [], !!turned));
  for (const wire of wires) wire.chain = from.list();
  const waypoint = from.list();
  const lists = () => Array.from({ length: from.next() }, () => from.list());
  const parts = Array.from({ length: from.next() }, lists);
  const shelves = lists();
  const port_part = from.next();
  const main_path = from.list();
  const breaks = lists();
  const plain = !!from.next();
  const falling = from.list();
  return Object.assign(Object.create(layout.Skeleton.prototype), { children, ports, wires, waypoint, parts, shelves, port_part, main_path, breaks, plain, falling });
}
