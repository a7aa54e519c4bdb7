// The state of the page of a graph: open, selected, moved and coloured nodes. It has no reference to elements of the
// page.

import { shortText, visibleText } from "./dom.js";
import { Facts } from "./facts.js";
import { Moves } from "./moves.js";

export class ViewState {
  /** Colourings that a page may load later, after an address requests them. @type {Set<string>} */
  static laterSchemes = new Set();

  constructor() {
    this.themeChoice = "system";
    /** the language that the reader chose, or "" */
    this.chosenLanguage = "";
    /** @type {Record<string, any>} entries of the address that belong to other parts of the page */
    this.otherValues = {};
    /** @type {Map<string, () => Promise<Colouring>>} colourings that are not in the data of a graph */
    this.extraColourings = new Map();
    this.awaitedScheme = ""; // a requested colouring that is not loaded yet
  }

  /** Begin with another graph: nothing of it is open or selected. @param {Graph} graph @param {Head} head */
  showGraph(graph, head) {
    this.graph = graph;
    this.head = head;
    this.title = head.title || "graph";
    this.facts = new Facts(graph);
    /** @type {Map<string, Path>} the open groups, without the root */
    this.open = new Map();
    /** @type {Path | null} */
    this.selected = null;
    /** @type {Path | null} the path whose box shows the selected node: the node, or for a constant or weight the op next to it */
    this.hostPath = null;
    this.scheme = head.options.color_by;
    /** the step whose measurements are shown; -1 for all steps */
    this.stepIndex = -1;
    /** @type {{path: Path, way: string, hops: number, rows: Set<number>, edges: TracedEdges} | null} */
    this.traced = null;
    /** @type {Set<number>} rows that the search found */
    this.marked = new Set();
    this.moves = new Moves();
    this.isOpenChosen = false; // whether the reader, or the address, opened or closed anything
    this.isCameraMoved = false;
  }

  /** The series that a path names or represents, if it can be grouped or ungrouped. @param {Path} path @returns {Path | null} */
  groupableSeries(path) {
    const { graph } = this;
    const up = [graph.parent[path[0]]];
    const series = path.length === 1 && up[0] >= 0 && graph.isUngrouped(up) ? up : path;
    return graph.ungroupableLevel(series) ? series : null;
  }

  /** The members of the stack that a path names or is shown in, and the index of the shown member.
   * @param {Path} path @returns {{members: Path[], at: number} | null} */
  stackMembers(path) {
    const { graph } = this;
    const stack = graph.stackIn(path) ?? graph.stackOf(path);
    const member = stack && graph.memberOf(stack, this.open);
    if (!stack || !member) return null;
    const members = graph.members(stack);
    return { members, at: members.findIndex((candidate) => graph.key(candidate) === graph.key(member)) };
  }

  /** Whether a call is inside itself. @param {Path} path */
  isRecursive(path) {
    return new Set(path).size < path.length;
  }

  /** Open the groups around a node if a link names only the node. @param {Path} path @param {Map<string, Path>} wanted */
  openAround(path, wanted) {
    const inner = this.graph.stackOf(path) ? [path] : []; // opening a member makes its stack show it
    const around = [...this.graph.ancestors(path), ...inner].filter((group) => group.length > 1 || group[0] !== 0);
    this.graph.closeOtherMembers(around, wanted);
    for (const group of around) wanted.set(this.graph.key(group), group);
  }

  /** Make open stacks show their usual member, as in pictures by Python; those in `listed` list all members.
   * @param {Map<string, Path>} wanted @param {Set<string>} listed addresses */
  openUsualMembers(wanted, listed) {
    const { graph } = this;
    for (const path of [...wanted.values()]) {
      const stack = graph.stackIn(path);
      if (stack && listed.has(graph.address(stack))) continue;
      for (const opened of graph.pathsOpenedWith(path, wanted)) wanted.set(graph.key(opened), opened);
    }
  }

  /** The open stacks that list their members. @returns {Path[]} */
  listedStacks() {
    const { graph, open } = this;
    return [...open.values()].filter((path) => graph.stacks.has(path[path.length - 1]) && graph.stackIn(path) && !graph.memberOf(path, open));
  }

  /** The group of a name, or the nearest existing group around it. @param {string} name @returns {Path | null} */
  nearestGroup(name) {
    for (let at = name; at; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      const path = this.graph.pathOfAddress(at);
      if (path && this.graph.isOpenable(path[path.length - 1])) return path;
    }
    return null;
  }

  /** The count of given rows up to each row. @param {Set<number>} rows */
  rowPrefixSums(rows) {
    const sums = new Int32Array(this.graph.count + 1);
    for (const row of rows) sums[row + 1] = 1;
    for (let at = 1; at < sums.length; at++) sums[at] += sums[at - 1];
    return sums;
  }


  /** The words of all colourings. @returns {string[]} */
  get schemes() {
    return [...new Set([...this.head.schemes, ...this.extraColourings.keys()])];
  }


  get theme() {
    if (this.themeChoice !== "system") return this.themeChoice;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  /** The open groups without an open group inside. @returns {Path[]} */
  innermostOpen() {
    const { graph, open } = this;
    const around = new Set();
    for (const path of open.values()) {
      for (let at = graph.enclosingGroup(path); at && !around.has(graph.key(at)); at = graph.enclosingGroup(at)) around.add(graph.key(at));
    }
    return [...open].filter(([key]) => !around.has(key)).map(([, path]) => path);
  }

  /** The series whose members are on their level. @returns {Path[]} */
  ungroupedSeries() {
    return [...this.graph.ungroupedLevels.values()].flatMap((level) => this.graph.seriesOf(level));
  }

  /** The label of a path's box: its name, or more informative words. @param {Path} path */
  boxLabel(path) {
    return this.nodeLabel(path)?.label ?? shortText(this.graph.name(path[path.length - 1]), 80);
  }

  /** The last segment of a path's name, without the words that may come before it on its box. @param {Path} path */
  leafName(path) {
    const label = this.nodeLabel(path);
    return label ? layout.name_on_box(label) : this.boxLabel(path);
  }

  /** The texts of a path's box; null for a path in no level of the data. @param {Path} path */
  nodeLabel(path) {
    const around = this.graph.enclosingGroup(path);
    const level = around && this.graph.level(around);
    const at = level ? level.metagraph.children.indexOf(path[path.length - 1]) : -1;
    if (at < 0) return null;
    const { label, second, semibold } = level.node_labels[at];
    return { label: visibleText(label), second: visibleText(second), semibold };
  }
}
