// What a reader does to the picture: opens, closes, groups, moves, colours. One thing is done after another.

const ROOM = 400; // boxes: as many as one click opens

class Acting extends Choosing {
  /** Show the whole graph, or one function of the library. @param {number} row */
  async show(row) {
    if (!row) {
      await this.select(null);
      return this.fit();
    }
    await this.queue(() => this.openNow([row]));
    await this.select([row]);
    const box = this.boxAt([row]);
    return box && this.camera.glide(this.clear(box, 1.5, 40));
  }

  /** @param {Path} path */
  toggle(path) {
    return this.queue(() => (this.open.has(this.graph.key(path)) ? this.closeNow(path) : this.openNow(path)));
  }

  /** Put the members of the series of a level onto the level itself, or make them series again. @param {Path} path one of the series */
  regroup(path) {
    return this.queue(async () => {
      const { graph } = this;
      const level = graph.comesApart(path);
      if (!level) return;
      this.step();
      const key = graph.key(level);
      const [whole, first] = [path, [path[0] + 1]];
      const together = graph.apart.delete(key);
      if (!together) {
        graph.apart.set(key, level);
        for (const one of [...graph.ancestors(level), level]) if (one[0] !== 0) this.open.set(graph.key(one), one);
        for (const one of graph.seriesOf(level)) this.open.delete(graph.key(one));
      }
      this.touched = true;
      await this.redraw(together ? whole : first, true, together ? first : whole);
      if (this.selected) await this.selectNow(this.selected);
      const [row] = path.slice(-1);
      /** @type {number[]} */
      const members = [];
      if (!together) graph.parent.forEach((/** @type {number} */ one, /** @type {number} */ at) => one === row && members.push(at));
      this.mark(members);
      this.remember();
    });
  }

  /** The series that a path is or stands in for, where it can be grouped or ungrouped. @param {Path} path @returns {Path | null} */
  series(path) {
    const { graph } = this;
    const up = [graph.parent[path[0]]];
    const found = path.length === 1 && up[0] >= 0 && graph.isApart(up) ? up : path;
    return graph.comesApart(found) ? found : null;
  }

  /** Open a group and all around it. @param {Path} path @param {boolean} [moving] */
  async openNow(path, moving = true) {
    const { graph } = this;
    if (!graph.opens(path[path.length - 1])) return;
    if (!graph.holds(path)) return this.toast(t("notHeld", { name: brief(graph.address(path), 80) }));
    this.step("opening");
    const around = graph.ancestors(path);
    const closed = around.find((one) => !(one.length === 1 && one[0] === 0) && !this.open.has(graph.key(one)));
    const opening = [...around, path, ...graph.opensWith(path, this.open)].filter((one) => one.length > 1 || one[0] !== 0);
    graph.showAlone(opening, this.open);
    for (const one of opening) this.open.set(graph.key(one), one);
    this.touched = true;
    await this.redraw(graph.frame(closed ?? path), moving);
    this.remember();
    this.emit("open", { name: graph.address(path), open: true });
  }

  /** The members of the stack that a path is, or that it is shown in, with the place of the one shown.
   * @param {Path} path @returns {{members: Path[], at: number} | null} */
  walkable(path) {
    const { graph } = this;
    const stack = graph.stackIn(path) ?? graph.stackOf(path);
    const member = stack && graph.memberOf(stack, this.open);
    if (!stack || !member) return null;
    const members = graph.members(stack);
    return { members, at: members.findIndex((one) => graph.key(one) === graph.key(member)) };
  }

  /** Let a stack show another member. @param {Path} path what is chosen @param {Path} member */
  showMember(path, member) {
    return this.queue(async () => {
      const { graph } = this;
      await this.openNow(member);
      await this.selectNow(graph.stackOf(path) ? member : path);
    });
  }

  /** List the members of the stack that a path is, or that it is shown in. @param {Path} path */
  listMembers(path) {
    const { graph } = this;
    const stack = /** @type {Path} */ (graph.stackIn(path) ?? graph.stackOf(path));
    return this.queue(() => this.closeNow(/** @type {Path} */ (graph.memberOf(stack, this.open))));
  }

  /** List the members of every open stack, as long as there is room. */
  listAll() {
    const { graph } = this;
    let room = ROOM - this.scene.boxes.length;
    for (const one of [...this.open.values()]) {
      const stack = graph.stackOf(one);
      room -= stack ? graph.members(stack).length : 0;
      if (!stack || room < 0) continue;
      for (const [key, inner] of [...this.open]) if (graph.within(inner, one)) this.open.delete(key);
    }
  }

  /** @param {Path} path @param {boolean} [moving] */
  async closeNow(path, moving = true) {
    const { graph } = this;
    this.step();
    for (const [key, one] of [...this.open]) if (graph.within(one, path)) this.open.delete(key);
    this.touched = true;
    if (this.selected && graph.within(this.selected, path) && graph.key(this.selected) !== graph.key(path)) await this.selectNow(path);
    await this.redraw(graph.frame(path), moving);
    this.remember();
    this.emit("open", { name: graph.address(path), open: false });
  }

  /** Open everything inside a group, nearest levels first, while there is room. @param {Path} path */
  openAll(path) {
    return this.queue(async () => {
      const { graph } = this;
      this.step();
      let room = ROOM - this.scene.boxes.length;
      const todo = [path];
      for (const one of todo) {
        if (!graph.holds(one)) continue;
        await graph.prepare([one]);
        const level = graph.level(one);
        if (!level || room < 0) {
          if (level) this.toast(t("notAll"));
          break;
        }
        room -= level.metagraph.children.length;
        if (one.length > 1 || one[0] !== 0) this.open.set(graph.key(one), one);
        const alone = graph.stacks.has(one[one.length - 1]) && (graph.memberOf(one, this.open) ?? graph.opensWith(one, this.open).pop());
        const inside = alone ? [alone] : level.metagraph.children.map((/** @type {number} */ row) => graph.child(one, row));
        for (const child of inside) if (graph.opens(child[child.length - 1]) && !this.again(child)) todo.push(child);
      }
      this.touched = true;
      await this.redraw(path);
      const box = this.boxAt(path);
      if (box) await this.bring(box);
      this.remember();
    });
  }

  /** Whether a call lies in itself. @param {Path} path */
  again(path) {
    return new Set(path).size < path.length;
  }

  /** @param {Path} path */
  closeAll(path) {
    return this.queue(async () => {
      this.step();
      const { graph } = this;
      const stack = graph.stackIn(path);
      const member = stack && graph.memberOf(stack, this.open);
      for (const [key, one] of [...this.open]) if (graph.within(one, path) && key !== graph.key(path)) this.open.delete(key);
      if (member) for (const one of [...graph.ancestors(member), member]) if (graph.within(one, path)) this.open.set(graph.key(one), one);
      this.touched = true;
      await this.redraw(path);
      this.remember();
    });
  }

  /** Whether a node stands in the auxiliary area. @param {Path} path */
  away(path) {
    const box = this.boxAt(path);
    return !!box && (box.area === "in_extract" || box.area === "out_extract");
  }

  /** Whether a node can be moved: it is shown, and no function that stands by itself. @param {Path} path */
  moves_(path) {
    const box = this.boxAt(path);
    const around = this.graph.around(path);
    return !!box && box.area !== "functions" && !!around && this.graph.kind[around[around.length - 1]] !== SERIES && this.graph.kind[around[around.length - 1]] !== FOLD;
  }

  /** To the auxiliary area, or back. @param {Path} path */
  move(path) {
    return this.queue(async () => {
      if (!this.moves_(path)) return;
      this.step();
      const key = this.graph.key(path);
      const { aux, main } = this.moves;
      if (this.away(path)) {
        if (!aux.delete(key)) main.set(key, path);
      } else if (!main.delete(key)) aux.set(key, path);
      await this.redraw(null);
      if (this.selected) await this.selectNow(this.selected);
      await this.uncoverNow(path);
      this.remember();
    });
  }

  /** Choose a node, open what is around it and bring it into view. @param {Path} path @param {boolean} [focus] @param {boolean} [moving] */
  reveal(path, focus = true, moving = true) {
    return this.queue(async () => {
      const { graph } = this;
      this.step("choice");
      const stack = graph.stackOf(path);
      const shown = stack ? path : await this.host(path);
      const closed = graph.ancestors(shown).filter((one) => !(one.length === 1 && one[0] === 0) && !this.open.has(graph.key(one)));
      // A member that its stack does not show is opened: then it does.
      if (stack && !this.open.has(graph.key(path)) && (closed.length || graph.memberOf(stack, this.open))) await this.openNow(path, moving);
      else if (closed.length) await this.openNow(closed[closed.length - 1], moving);
      await this.selectNow(path);
      await this.told; // the card may come to lie over it
      const box = this.boxAt(shown) ?? this.boxAt(graph.frame(shown));
      if (box) await this.bring(box);
      if (focus) this.focus();
    });
  }

  /** @param {string} scheme */
  colour(scheme) {
    return this.queue(async () => {
      this.step();
      if (scheme === "logged" && this.scheme !== scheme) this.listAll(); // layers are compared with one another
      this.scheme = scheme;
      this.wanted = "";
      byId("scheme").value = scheme;
      await this.redraw(this.selected, false);
      this.remember();
    });
  }

  /** Show what one step measured, all together at -1. @param {number} at */
  setStep(at) {
    return this.queue(async () => {
      this.step();
      this.at = at;
      const { scheme } = this;
      if (!(await this.painter()).measured) this.scheme = this.head.schemes.find((/** @type {string} */ one) => this.graph.blocks.has(`colour/${one}@0`));
      if (this.scheme === scheme) byId("step").value = String(at);
      else this.dressPage();
      await this.recolour();
      if (this.selected) this.told = this.card.show(this.selected); // its figures are those of the step
      this.remember();
    });
  }

  /** Show the step before or after; what is shown at first is behind the last. @param {number} way */
  goStep(way) {
    const last = this.head.steps.length - 1;
    const from = this.at < 0 ? last + (way < 0 ? 1 : 0) : this.at;
    return this.setStep(Math.max(0, Math.min(last, from + way)));
  }

  /** @param {string} choice */
  setTheme(choice) {
    return this.queue(async () => {
      this.step();
      this.themeChoice = choice;
      this.dressPage();
      await this.redraw(null, false);
      this.remember();
    });
  }
}
