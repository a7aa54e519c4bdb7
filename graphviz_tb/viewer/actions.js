// Actions of a reader on the graph: select, trace, open, close, group, move, colour. They run one after another.

import { TimeSlices, byId, shortText } from "./dom.js";
import { t } from "./strings.js";

const MAX_OPENED_BOXES = 400; // boxes on the screen after one click that opens everything

export class Actions {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.pending = Promise.resolve();
    this.forgetCard();
  }

  /** Forget another graph. */
  forgetCard() {
    this.cardReady = Promise.resolve(); // resolves when the card is complete
  }

  /** Show the whole graph, or one function of the library. @param {number} row */
  async showFunction(row) {
    if (!row) {
      await this.select(null);
      return this.app.viewport.fit();
    }
    await this.queue(() => this.openNow([row]));
    await this.select([row]);
    const box = this.app.view.boxAt([row]);
    return box && this.app.viewport.camera.glideTo(this.app.viewport.placeShowing(box, 1.5, 40));
  }

  /** @param {Path} path */
  toggle(path) {
    return this.queue(() => (this.app.state.open.has(this.app.state.graph.key(path)) ? this.closeNow(path) : this.openNow(path)));
  }

  /** Ungroup the series of a level, or group them again. @param {Path} path one of the series */
  toggleGrouping(path) {
    return this.queue(async () => {
      const { graph } = this.app.state;
      const level = graph.ungroupableLevel(path);
      if (!level) return;
      this.app.history.beginEntry();
      const key = graph.key(level);
      const [whole, first] = [path, [path[0] + 1]];
      const together = graph.ungroupedLevels.delete(key);
      if (!together) {
        graph.ungroupedLevels.set(key, level);
        for (const group of [...graph.ancestors(level), level]) if (group[0] !== 0) this.app.state.open.set(graph.key(group), group);
        for (const series of graph.seriesOf(level)) this.app.state.open.delete(graph.key(series));
      }
      this.app.state.isOpenChosen = true;
      await this.app.view.redraw(together ? whole : first, true, together ? first : whole);
      if (this.app.state.selected) await this.selectNow(this.app.state.selected);
      const [row] = path.slice(-1);
      /** @type {number[]} */
      const members = [];
      if (!together) graph.parent.forEach((/** @type {number} */ parent, /** @type {number} */ at) => parent === row && members.push(at));
      this.markRows(members);
      this.app.history.writeAddress();
    });
  }

  /** Open a group and all around it. @param {Path} path @param {boolean} [moving] */
  async openNow(path, moving = true) {
    const { graph } = this.app.state;
    if (!graph.isOpenable(path[path.length - 1])) return;
    if (!graph.hasLevel(path)) return this.app.frame.toast(t("notHeld", { name: shortText(graph.address(path), 80) }));
    this.app.history.beginEntry("opening");
    const around = graph.ancestors(path);
    const closed = around.find((group) => !(group.length === 1 && group[0] === 0) && !this.app.state.open.has(graph.key(group)));
    const opening = [...around, path, ...graph.pathsOpenedWith(path, this.app.state.open)].filter((group) => group.length > 1 || group[0] !== 0);
    graph.closeOtherMembers(opening, this.app.state.open);
    for (const group of opening) this.app.state.open.set(graph.key(group), group);
    this.app.state.isOpenChosen = true;
    await this.app.view.redraw(graph.framePath(closed ?? path), moving);
    this.app.history.writeAddress();
    this.app.emit("open", { name: graph.address(path), open: true });
  }

  /** Show another member of a stack. @param {Path} path the chosen node @param {Path} member */
  showMember(path, member) {
    return this.queue(async () => {
      const { graph } = this.app.state;
      await this.openNow(member);
      await this.selectNow(graph.stackOf(path) ? member : path);
    });
  }

  /** List the members of the stack that a path names or is shown in. @param {Path} path */
  listMembers(path) {
    const { graph } = this.app.state;
    const stack = /** @type {Path} */ (graph.stackIn(path) ?? graph.stackOf(path));
    return this.queue(() => this.closeNow(/** @type {Path} */ (graph.memberOf(stack, this.app.state.open))));
  }

  /** List the members of every open stack, as long as there is room. */
  listAllMembers() {
    const { graph } = this.app.state;
    let room = MAX_OPENED_BOXES - this.app.view.scene.boxes.length;
    for (const openPath of [...this.app.state.open.values()]) {
      const stack = graph.stackOf(openPath);
      room -= stack ? graph.members(stack).length : 0;
      if (!stack || room < 0) continue;
      for (const [key, inner] of [...this.app.state.open]) if (graph.isWithin(inner, openPath)) this.app.state.open.delete(key);
    }
  }

  /** @param {Path} path @param {boolean} [moving] */
  async closeNow(path, moving = true) {
    const { graph } = this.app.state;
    this.app.history.beginEntry();
    for (const [key, openPath] of [...this.app.state.open]) if (graph.isWithin(openPath, path)) this.app.state.open.delete(key);
    this.app.state.isOpenChosen = true;
    if (this.app.state.selected && graph.isWithin(this.app.state.selected, path) && graph.key(this.app.state.selected) !== graph.key(path)) await this.selectNow(path);
    await this.app.view.redraw(graph.framePath(path), moving);
    this.app.history.writeAddress();
    this.app.emit("open", { name: graph.address(path), open: false });
  }

  /** Open everything inside a group, nearest levels first, while there is room. @param {Path} path */
  openAll(path) {
    return this.queue(async () => {
      const { graph } = this.app.state;
      this.app.history.beginEntry();
      let room = MAX_OPENED_BOXES - this.app.view.scene.boxes.length;
      const todo = [path];
      for (const group of todo) {
        if (!graph.hasLevel(group)) continue;
        await graph.loadLevels([group]);
        const level = graph.level(group);
        if (!level || room < 0) {
          if (level) this.app.frame.toast(t("notAll"));
          break;
        }
        room -= level.metagraph.children.length;
        if (group.length > 1 || group[0] !== 0) this.app.state.open.set(graph.key(group), group);
        const alone = graph.stacks.has(group[group.length - 1]) && (graph.memberOf(group, this.app.state.open) ?? graph.pathsOpenedWith(group, this.app.state.open).pop());
        const inside = alone ? [alone] : level.metagraph.children.map((/** @type {number} */ row) => graph.child(group, row));
        for (const child of inside) if (graph.isOpenable(child[child.length - 1]) && !this.app.state.isRecursive(child)) todo.push(child);
      }
      this.app.state.isOpenChosen = true;
      await this.app.view.redraw(path);
      const box = this.app.view.boxAt(path);
      if (box) await this.app.viewport.bringIntoView(box);
      this.app.history.writeAddress();
    });
  }

  /** @param {Path} path */
  closeAll(path) {
    return this.queue(async () => {
      this.app.history.beginEntry();
      const { graph } = this.app.state;
      const stack = graph.stackIn(path);
      const member = stack && graph.memberOf(stack, this.app.state.open);
      const kept = new Set(graph.joinedScopes(path, this.app.state.open).map((group) => graph.key(group)));
      for (const [key, group] of [...this.app.state.open]) if (graph.isWithin(group, path) && !kept.has(key)) this.app.state.open.delete(key);
      if (member) for (const group of [...graph.ancestors(member), member]) if (graph.isWithin(group, path)) this.app.state.open.set(graph.key(group), group);
      this.app.state.isOpenChosen = true;
      await this.app.view.redraw(path);
      this.app.history.writeAddress();
    });
  }

  /** Move a node to the auxiliary area, or back. @param {Path} path */
  toggleAuxiliary(path) {
    return this.queue(async () => {
      if (!this.app.view.canMove(path)) return;
      this.app.history.beginEntry();
      const key = this.app.state.graph.key(path);
      const { aux, main } = this.app.state.moves;
      if (this.app.view.isAuxiliary(path)) {
        if (!aux.delete(key)) main.set(key, path);
      } else if (!main.delete(key)) aux.set(key, path);
      await this.app.view.redraw(null);
      if (this.app.state.selected) await this.selectNow(this.app.state.selected);
      await this.app.viewport.uncoverPath(path);
      this.app.history.writeAddress();
    });
  }

  /** Select a node, open the groups around it and bring it into view. @param {Path} path @param {boolean} [focus] @param {boolean} [moving] */
  reveal(path, focus = true, moving = true) {
    return this.queue(async () => {
      const { graph } = this.app.state;
      this.app.history.beginEntry("choice");
      const stack = graph.stackOf(path);
      const shown = stack ? path : await this.hostOf(path);
      const closed = graph.ancestors(shown).filter((group) => !(group.length === 1 && group[0] === 0) && !this.app.state.open.has(graph.key(group)));
      // Opening a member makes its stack show it.
      if (stack && !this.app.state.open.has(graph.key(path)) && (closed.length || graph.memberOf(stack, this.app.state.open))) await this.openNow(path, moving);
      else if (closed.length) await this.openNow(closed[closed.length - 1], moving);
      await this.selectNow(path);
      await this.cardReady; // wait for the card, which may cover the box
      const box = this.app.view.boxAt(shown) ?? this.app.view.boxAt(graph.framePath(shown));
      if (box) await this.app.viewport.bringIntoView(box);
      if (focus) this.app.frame.focusPicture();
    });
  }

  /** @param {string} scheme */
  setScheme(scheme) {
    return this.queue(async () => {
      this.app.history.beginEntry();
      if (scheme === "logged" && this.app.state.scheme !== scheme) this.listAllMembers(); // so that layers can be compared
      this.app.state.scheme = scheme;
      this.app.state.awaitedScheme = "";
      byId("scheme").value = scheme;
      await this.app.view.redraw(this.app.state.selected, false);
      this.app.history.writeAddress();
    });
  }

  /** Show the measurements of one step, or of all steps at -1. @param {number} at */
  setStep(at) {
    return this.queue(async () => {
      this.app.history.beginEntry();
      this.app.state.stepIndex = at;
      const { scheme } = this.app.state;
      if (!(await this.app.view.loadPainter()).measured) this.app.state.scheme = this.app.state.head.schemes.find((/** @type {string} */ word) => this.app.state.graph.blocks.has(`colour/${word}@0`));
      if (this.app.state.scheme === scheme) byId("step").value = String(at);
      else this.app.frame.update();
      await this.app.view.recolour();
      if (this.app.state.selected) this.cardReady = this.app.card.show(this.app.state.selected); // the card shows the numbers of the step
      this.app.history.writeAddress();
    });
  }

  /** Show the step before or after; the initial colours come after the last step. @param {number} way */
  goStep(way) {
    const last = this.app.state.head.steps.length - 1;
    const from = this.app.state.stepIndex < 0 ? last + (way < 0 ? 1 : 0) : this.app.state.stepIndex;
    return this.setStep(Math.max(0, Math.min(last, from + way)));
  }

  /** @param {string} choice */
  setTheme(choice) {
    return this.queue(async () => {
      this.app.history.beginEntry();
      this.app.state.themeChoice = choice;
      this.app.frame.update();
      await this.app.view.redraw(null, false);
      this.app.history.writeAddress();
    });
  }

  /** @param {Path | null} path */
  select(path) {
    return this.queue(() => {
      this.app.history.beginEntry("choice");
      return this.selectNow(path);
    });
  }

  /** @param {Path | null} path */
  async selectNow(path) {
    this.app.state.selected = path;
    this.app.state.hostPath = path && (await this.hostOf(path));
    if (path) this.cardReady = this.app.card.show(path);
    else this.app.card.hide();
    this.app.view.updateEmphasis();
    this.app.outline.draw();
    this.app.history.writeAddress();
    this.app.emit("select", { name: path ? this.app.state.graph.address(path) : null });
  }

  /** Select the box under the pointer, and keep it in view: its card may cover it. @param {Path} path */
  selectBox(path) {
    return this.queue(async () => {
      this.app.history.beginEntry("choice");
      await this.selectNow(path);
      await this.app.viewport.uncoverPath(path);
    });
  }

  /** The box that shows a path: its own box, or for a constant or weight the box of the op next to it. @param {Path} path @returns {Promise<Path>} */
  async hostOf(path) {
    if (this.app.state.graph.isUngrouped(path)) return [path[0] + 1];
    const row = path[path.length - 1];
    if (!this.app.state.graph.mark[row]) return this.app.view.boxAt(path) ? path : this.app.state.graph.framePath(path);
    const stub = this.app.view.scene.stubs.find((/** @type {any} */ stub) => stub.other === row);
    const seen = stub && this.app.view.places.get(this.app.view.scene.boxes[stub.box].address);
    if (seen) return seen;
    const host = await this.app.state.facts.hostRow(row);
    return host < 0 ? (this.app.state.graph.enclosingGroup(path) ?? path) : [...path.slice(0, -1), host];
  }

  /** @param {Path} path @param {string} way @param {number} hops */
  trace(path, way, hops) {
    return this.queue(async () => {
      this.app.history.beginEntry();
      await this.traceNow(path, way, hops);
      await this.app.viewport.uncoverTrace();
    });
  }

  /** Trace one hop, or extend the trace by a hop. @param {Path} path @param {string} way */
  traceFurther(path, way) {
    const { traced, graph } = this.app.state;
    const same = traced?.way === way && graph.key(traced.path) === graph.key(path);
    return this.trace(path, way, same ? traced.hops + 1 : 1);
  }

  /** @param {Path} path @param {string} way @param {number} hops */
  async traceNow(path, way, hops) {
    this.app.state.traced = { path, way, hops, ...(await this.app.state.facts.traceFrom(path[path.length - 1], way === "in", hops)) };
    this.app.view.updateEmphasis();
    this.app.tracing.draw();
    this.app.history.writeAddress();
  }

  endTrace() {
    this.app.history.beginEntry();
    this.app.state.traced = null;
    this.app.view.updateEmphasis();
    this.app.tracing.draw();
    this.app.history.writeAddress();
  }

  /** Draw rings around results; for a constant or a weight, also around the op next to it. @param {number[]} rows */
  async markRows(rows) {
    const marked = new Set(rows);
    const turns = new TimeSlices();
    this.app.state.marked = marked;
    for (const row of rows) {
      if (this.app.state.graph.mark[row]) marked.add(await this.app.state.facts.hostRow(row));
      if (turns.isOver) await turns.nextSlice();
      if (this.app.state.marked !== marked) return; // superseded by another search
    }
    marked.delete(-1);
    if (this.app.state.marked === marked) this.app.view.updateEmphasis();
  }

  /** Run actions one after another. A failure does not block the next action; it rejects the promise of its caller.
   * @param {() => Promise<any>} run @returns {Promise<any>} */
  async queue(run) {
    const next = this.pending.then(run).finally(() => (this.app.history.nextKind = ""));
    this.pending = next.catch(() => undefined);
    return next;
  }
}
