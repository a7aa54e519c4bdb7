// Move nodes by hand between the main graph and the auxiliary area. Nothing is laid out here: extracted nodes are left
// out of the drawing order, restored ones get their place in the second order that Python computed for the level.

/** The nodes that a reader moved, by their keys. */
export class Moves {
  constructor() {
    /** @type {Map<string, Path>} */
    this.aux = new Map();
    /** @type {Map<string, Path>} */
    this.main = new Map();
  }

  get isEmpty() {
    return !this.aux.size && !this.main.size;
  }

  /** The level after the moves; unchanged if none of its nodes moved.
   * @param {Graph} graph @param {Path} path @param {any} level @param {any} around the level around it, and the position of this level in it */
  movedLevel(graph, path, level, around) {
    if (this.isEmpty || !level) return level;
    const keys = level.metagraph.children.map((/** @type {number} */ row) => graph.key(graph.child(path, row)));
    const positions = (/** @type {Map<string, Path>} */ moved) => keys.flatMap((/** @type {string} */ key, /** @type {number} */ at) => (moved.has(key) ? [at] : []));
    const [out, back] = [positions(this.aux), positions(this.main)];
    const visibleNeighbours = around ? neighboursDrawnAround(around.metagraph, around.at) : null;
    const lost = visibleNeighbours && level.metagraph.bridges.some((/** @type {any} */ bridge) => bridge.drawable && !visibleNeighbours.has(`${bridge.other} ${bridge.inbound}`));
    if (!out.length && !back.length && !lost) return level;
    const source = (back.length && graph.withoutAuxiliary(path)) || level;
    return rearrangedLevel(level, source, out, new Set(back), visibleNeighbours);
  }
}

/** The neighbours of a child whose lines are drawn around it, each with its direction. @param {any} metagraph @param {number} at */
function neighboursDrawnAround(metagraph, at) {
  const neighbours = new Set();
  const { mask, edges, bridges, children } = metagraph;
  const away = mask.extracted_children;
  edges.forEach((/** @type {any} */ edge, /** @type {number} */ index) => {
    if (mask.stubbed.has(index) || away.has(edge.source) || away.has(edge.target)) return;
    if (edge.target === at) neighbours.add(`${children[edge.source]} true`);
    if (edge.source === at) neighbours.add(`${children[edge.target]} false`);
  });
  if (!away.has(at)) for (const bridge of bridges) if (bridge.child === at && bridge.drawable) neighbours.add(`${bridge.other} ${bridge.inbound}`);
  return neighbours;
}

/** A level with some children out of the main graph and others back in it.
 * @param {any} level @param {any} source the drawing order from which nodes are left out @param {number[]} out @param {Set<number>} back @param {Set<string> | null} visibleNeighbours */
function rearrangedLevel(level, source, out, back, visibleNeighbours) {
  const { metagraph } = level;
  const { edges, children } = metagraph;
  const [into, outOf] = [[...metagraph.mask.in_extract], [...metagraph.mask.out_extract]].map((list) => list.filter((at) => !back.has(at)));
  const known = new Set([...into, ...outOf]);
  const more = new Map(out.map((at) => [at, 0])); // number of edges that begin at a child, minus those that end at it
  for (const edge of edges) {
    if (more.has(edge.source)) more.set(edge.source, more.get(edge.source) + 1);
    if (more.has(edge.target)) more.set(edge.target, more.get(edge.target) - 1);
  }
  for (const at of out) if (!known.has(at)) (more.get(at) > 0 ? outOf : into).push(at);
  const away = new Set([...into, ...outOf]);
  const stubbed = new Set(source.metagraph.mask.stubbed);
  edges.forEach((/** @type {any} */ edge, /** @type {number} */ index) => {
    if (away.has(edge.source) || away.has(edge.target)) stubbed.add(index);
  });
  const bridges = source.metagraph.bridges.map((/** @type {any} */ bridge) => {
    const drawable = bridge.drawable && !away.has(bridge.child) && (!visibleNeighbours || visibleNeighbours.has(`${bridge.other} ${bridge.inbound}`));
    return Object.assign(Object.create(layout.Bridge.prototype), bridge, { drawable });
  });
  const marks = metagraph.annotations.filter((/** @type {any} */ stub) => stub.kind !== "shortcut");
  const changed = Object.assign(Object.create(layout.Metagraph.prototype), metagraph, {
    bridges,
    mask: new layout.Mask(into, outOf, stubbed),
    annotations: stubsOf(marks, edges, stubbed, bridges, children),
  });
  const stays = (/** @type {any} */ wire) => (wire.bridge >= 0 ? bridges[wire.bridge].drawable : !stubbed.has(wire.edge));
  return { ...level, metagraph: changed, skeleton: skeletonWithout(source.skeleton, changed, stays, away) };
}

/** Every stub of a level, once for each child, side and other end. @param {any[]} marks @param {any[]} edges @param {Set<number>} stubbed @param {any[]} bridges @param {number[]} rows */
function stubsOf(marks, edges, stubbed, bridges, rows) {
  const stubs = new Map(marks.map((mark) => [`${mark.child} ${mark.side} ${mark.other}`, mark]));
  const push = (/** @type {number} */ child, /** @type {string} */ side, /** @type {number} */ other, /** @type {number} */ count, /** @type {boolean} */ control, /** @type {boolean} */ training = false) => {
    const key = `${child} ${side} ${other}`;
    const old = stubs.get(key);
    const [kind, more, all, trains] = old
      ? [old.kind, old.edges, old.control && control, old.training && training]
      : ["shortcut", 0, control, training];
    stubs.set(key, new layout.Annotation(child, side, other, kind, more + count, all, trains));
  };
  for (const index of [...stubbed].sort((a, b) => a - b)) {
    const edge = edges[index];
    const [count, control] = [edge.tensors + edge.control, !edge.tensors];
    const implied = !!(edge.training & layout.IMPLIED_LINE);
    push(edge.source, "out", rows[edge.target], count, control, implied);
    push(edge.target, "in", rows[edge.source], count, control, implied);
  }
  for (const bridge of bridges) if (!bridge.drawable) push(bridge.child, bridge.inbound ? "in" : "out", bridge.other, bridge.tensors + bridge.control, !bridge.tensors, bridge.training);
  return [...stubs.values()];
}

/** The thickness of a line of data, negative if it carries only indices, sizes and masks; 0 if it carries no data or also
 * references, or belongs to the surplus of a stack's member. @param {any} line */
function signedThickness(line) {
  if (line.kind !== "data" || line.training || line.beside) return 0;
  return line.indexing ? -line.thickness : line.thickness;
}

/** A drawing order without some wires and children, and without waypoints and ports that no wire uses any more.
 * @param {any} skeleton @param {any} metagraph @param {(wire: any) => boolean} stays @param {Set<number>} removed */
function skeletonWithout(skeleton, metagraph, stays, removed) {
  const { children, ports } = skeleton;
  const first = children + ports.length;
  const kept = skeleton.wires.map((/** @type {any} */ wire, /** @type {number} */ at) => ({ wire, at })).filter((/** @type {any} */ numbered) => stays(numbered.wire));
  const used = new Set(kept.flatMap((/** @type {any} */ numbered) => numbered.wire.chain));
  const name = new Map();
  for (let at = 0; at < children; at++) if (!removed.has(at)) name.set(at, at);
  const slots = ports.filter((/** @type {any} */ _, /** @type {number} */ at) => used.has(children + at));
  let slot = 0;
  ports.forEach((/** @type {any} */ _, /** @type {number} */ at) => used.has(children + at) && name.set(children + at, children + slot++));
  const points = [];
  kept.forEach((/** @type {any} */ numbered, /** @type {number} */ number) => {
    for (const item of numbered.wire.chain) {
      if (item < first || name.has(item)) continue;
      name.set(item, children + slots.length + points.length);
      points.push(number);
    }
  });
  const wires = kept.map(({ wire }) => new layout.Wire(wire.edge, wire.bridge, wire.chain.map((/** @type {number} */ item) => name.get(item)), wire.turned));
  const row = (/** @type {number[]} */ items) => items.filter((item) => name.has(item) && (item < children || used.has(item))).map((item) => name.get(item));
  const parts = skeleton.parts.map((/** @type {number[][]} */ part) => part.map(row).filter((items) => items.length));
  const numbers = new Map();
  parts.forEach((/** @type {number[][]} */ part, /** @type {number} */ at) => part.length && numbers.set(at, numbers.size));
  const shelves = skeleton.shelves.map((/** @type {number[]} */ shelf) => shelf.filter((part) => numbers.has(part)).map((part) => numbers.get(part)));
  const moved = Object.assign(Object.create(layout.Skeleton.prototype), {
    children,
    ports: slots,
    wires,
    waypoint: points,
    parts: parts.filter((/** @type {number[][]} */ part) => part.length),
    shelves: shelves.filter((/** @type {number[]} */ shelf) => shelf.length),
    port_part: numbers.get(skeleton.port_part) ?? -1,
    plain: skeleton.plain,
    falling: skeleton.falling,
    breaks: [],
    main_path: [],
  });
  const thick = kept.map(({ wire }) => signedThickness(wire.bridge >= 0 ? metagraph.bridges[wire.bridge] : metagraph.edges[wire.edge]));
  return Object.assign(moved, { main_path: layout.main_paths(moved, thick), breaks: layout.kept(skeleton, moved) });
}
