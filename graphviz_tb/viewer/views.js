// Build the views that `place.js` lays out from a set of open groups.

const MAX_LISTED_FUNCTIONS = 12; // functions beside the graph, as in Python

/** Return a label with the second line of a colouring, if it has one; then the name of the node comes first.
 * @param {any} label @param {string | null} line */
function withSecondLine(label, line) {
  if (line === null) return label;
  return { ...label, label: layout.name_on_box(label), second: line, semibold: false };
}

/** The tree of open groups that `place` lays out; unchanged groups keep their objects. */
export class Views {
  /** @param {Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** @type {Map<string, Path>} the path of each box of the last picture, by its address */
    this.places = new Map();
    /** @type {Map<string, any>} the views of the last picture, by the key of their group */
    this.last = new Map();
  }

  /**
   * @param {Map<string, Path>} open the open groups by key, without the root
   * @param {(path: Path) => string | null} second the second line of a colouring
   * @param {number} stubs the number of stubs on a side of a box
   * @param {Moves | null} moves the moves of the reader
   */
  buildView(open, second, stubs, moves = null) {
    const graph = this.graph;
    this.places = new Map();
    const names = { get: (/** @type {number} */ row) => graph.name(row) };
    /** @type {{path: Path, at: number, up: any}[]} */
    const todo = [{ path: [0], at: -1, up: null }];
    let top = null;
    const views = new Map();
    for (let next = 0; next < todo.length; next++) {
      const { path, at, up } = todo[next];
      const stored = graph.level(path);
      if (!stored) continue;
      const around = up && at < up.metagraph.children.length ? { metagraph: up.metagraph, at } : null;
      const level = moves ? moves.movedLevel(graph, path, stored, around) : stored;
      const count = level.metagraph.children.length;
      const listed = path.length === 1 && path[0] === 0 ? this.listedFunctions(open) : [];
      const nodeLabel = (/** @type {Path} */ child, /** @type {any} */ stored) => {
        const row = child[child.length - 1];
        const address = graph.address(child);
        this.places.set(address, child);
        return Object.assign(Object.create(layout.NodeLabel.prototype), stored.surplus ? stored : withSecondLine(stored, second(child)), { row, address, full: graph.name(row) });
      };
      const paths = level.metagraph.children.map((/** @type {number} */ row) => graph.child(path, row));
      const nodeLabels = paths.map((/** @type {Path} */ child, /** @type {number} */ number) => {
        const label = nodeLabel(child, level.node_labels[number]);
        const content = open.has(graph.key(child)) ? graph.shownPath(child, open) : child;
        if (content === child || !graph.level(content)) return label;
        const stack = graph.stackIn(child);
        return stack ? this.stackLabel(label, second, stack, content, child) : this.joinedFrameLabel(label, second, graph.joinedScopes(child, open));
      });
      const functions = listed.map((row) => nodeLabel([row], level.node_labels[count + level.metagraph.functions.indexOf(row)]));
      /** @type {any} */
      const view = Object.assign(Object.create(layout.View.prototype), {
        address: graph.address(path),
        path,
        metagraph: level.metagraph,
        skeleton: level.skeleton,
        node_labels: nodeLabels,
        opened: new Map(),
        names,
        labels: graph.labels,
        addresses: this.rowAddresses(path, level.metagraph),
        functions,
        paths: [...paths, ...listed.map((row) => [row])],
      });
      views.set(graph.key(path), view);
      if (up) up.opened.set(at, view);
      else top = view;
      view.paths.forEach((/** @type {Path} */ child, /** @type {number} */ number) => {
        if (!open.has(graph.key(child))) return;
        const content = graph.shownPath(child, open);
        if (graph.level(content)) todo.push({ path: content, at: number, up: view });
      });
    }
    for (const [key, view] of views) if (!this.reuseLabels(view, this.last.get(key))) view.words = layout.words_of(view, stubs);
    this.last = views;
    return top;
  }

  /** Reuse the labels and words of the last picture if they are equal. @param {any} view @param {any} last */
  reuseLabels(view, last) {
    const same = (/** @type {string} */ field) => view[field].length === last[field].length && view[field].every((/** @type {any} */ label, /** @type {number} */ at) => areLabelsEqual(label, last[field][at]));
    if (!last || view.metagraph !== last.metagraph || view.skeleton !== last.skeleton || view.opened.size !== last.opened.size) return false;
    for (const at of view.opened.keys()) if (!last.opened.has(at)) return false;
    if (!same("node_labels") || !same("functions")) return false;
    for (const field of ["node_labels", "functions", "words"]) view[field] = last[field];
    return true;
  }

  /** The label of a stack that shows the content of a member. @param {any} label @param {(path: Path) => string | null} second @param {Path} stack @param {Path} member @param {Path} box */
  stackLabel(label, second, stack, member, box) {
    const { metagraph, node_labels: labels } = this.graph.level(stack);
    const at = metagraph.children.indexOf(member[member.length - 1]);
    const shown = withSecondLine(labels[at], second(member));
    const boxed = this.graph.level(member).node_labels.some((/** @type {any} */ inner) => inner.surplus);
    return layout.as_stack(label, second(box), shown, at, metagraph.children.length, boxed);
  }

  /** The label of a frame of scopes that contain only each other. @param {any} label @param {(path: Path) => string | null} second @param {Path[]} chain */
  joinedFrameLabel(label, second, chain) {
    const labels = chain.slice(1).map((path, at) => {
      const label = this.graph.level(chain[at]).node_labels[0];
      return { ...withSecondLine(label, second(path)), full: this.graph.name(path[path.length - 1]) };
    });
    return layout.as_one_frame([label, ...labels]);
  }

  /** The addresses of the rows named by the lines of a level. @param {Path} path @param {any} metagraph */
  rowAddresses(path, metagraph) {
    const outside = new Set(metagraph.bridges.map((/** @type {any} */ bridge) => bridge.other));
    return { get: (/** @type {number} */ row) => this.graph.address(this.graph.neighbour(path, row, !outside.has(row))) };
  }

  /** Functions next to the graph: the largest uncalled functions, and functions opened outside of calls.
   * @param {Map<string, Path>} open @returns {number[]} */
  listedFunctions(open) {
    const { graph } = this;
    const size = (/** @type {number} */ row) => (graph.ops[row] < 0 ? Infinity : graph.ops[row]);
    let uncalled = [...graph.head.uncalled];
    if (uncalled.length > MAX_LISTED_FUNCTIONS) uncalled.sort((a, b) => size(b) - size(a) || a - b);
    uncalled = uncalled.slice(0, MAX_LISTED_FUNCTIONS);
    const own = graph.head.functions.filter((/** @type {number} */ row) => open.has(String(row)));
    return [...new Set([...own, ...uncalled])].sort((a, b) => a - b);
  }
}

/** Whether two labels of a box are equal. @param {any} one @param {any} other */
function areLabelsEqual(one, other) {
  for (const field in one) if (one[field] !== other[field]) return false;
  return true;
}
