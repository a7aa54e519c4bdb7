// What a reader does: opens, closes, groups, moves, chooses, traces, colours. One thing is done after another.

class Acting extends Shown {
  /** Show the whole graph, or one function of the library. @param {number} row */
  async show(row) {
    if (!row) {
      await this.select(null);
      return this.fit();
    }
    await this.queue(() => this.openNow([row]));
    await this.select([row]);
    const box = this.scene.boxes[this.picture.boxOf.get(this.graph.address([row])) ?? -1];
    return box && this.camera.glide(this.camera.fitting([box.x, box.y, box.x + box.width, box.y + box.height], 1.5, 40));
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
    this.step();
    const around = graph.ancestors(path);
    const closed = around.find((one) => !(one.length === 1 && one[0] === 0) && !this.open.has(graph.key(one)));
    for (const one of [...around, path]) if (one.length > 1 || one[0] !== 0) this.open.set(graph.key(one), one);
    this.touched = true;
    await this.redraw(closed ?? path, moving);
    this.remember();
    this.emit("open", { name: graph.address(path), open: true });
  }

  /** @param {Path} path */
  async closeNow(path) {
    const { graph } = this;
    this.step();
    for (const [key, one] of [...this.open]) if (graph.within(one, path)) this.open.delete(key);
    this.touched = true;
    if (this.selected && graph.within(this.selected, path) && graph.key(this.selected) !== graph.key(path)) await this.selectNow(path);
    await this.redraw(path);
    this.remember();
    this.emit("open", { name: graph.address(path), open: false });
  }

  /** Open everything inside a group, nearest levels first, while there is room. @param {Path} path */
  openAll(path) {
    return this.queue(async () => {
      const { graph } = this;
      this.step();
      let room = 400 - this.scene.boxes.length;
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
        for (const row of level.metagraph.children) {
          const child = graph.child(one, row);
          if (graph.opens(row) && !this.again(child)) todo.push(child);
        }
      }
      this.touched = true;
      await this.redraw(path);
      const box = this.scene.boxes[this.picture.boxOf.get(graph.address(path)) ?? -1];
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
      for (const [key, one] of [...this.open]) if (this.graph.within(one, path) && key !== this.graph.key(path)) this.open.delete(key);
      this.touched = true;
      await this.redraw(path);
      this.remember();
    });
  }

  /** Whether a node stands in the auxiliary area. @param {Path} path */
  away(path) {
    const box = this.scene?.boxes[this.picture.boxOf.get(this.graph.address(path)) ?? -1];
    return !!box && (box.area === "in_extract" || box.area === "out_extract");
  }

  /** Whether a node can be moved: it is shown, and no function that stands by itself. @param {Path} path */
  moves_(path) {
    const box = this.scene?.boxes[this.picture.boxOf.get(this.graph.address(path)) ?? -1];
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

  /** @param {Path | null} path */
  select(path) {
    return this.queue(() => this.selectNow(path));
  }

  /** @param {Path | null} path */
  async selectNow(path) {
    this.selected = path;
    if (path) this.told = this.card.show(path);
    else this.card.hide();
    this.lit();
    this.outline.draw();
    this.remember();
    this.emit("select", { name: path ? this.graph.address(path) : null });
  }

  /** Choose what is under the pointer, and keep it in view: the card may come to lie over it. @param {Path} path */
  pick(path) {
    return this.queue(async () => {
      await this.selectNow(path);
      await this.uncoverNow(path);
    });
  }

  /** @param {Path} path */
  async uncoverNow(path) {
    await this.told;
    const box = this.scene.boxes[this.picture.boxOf.get(this.graph.address(path)) ?? -1];
    if (box) await this.uncover(box);
  }

  /** Choose a node, open what is around it and bring it into view. @param {Path} path @param {boolean} [focus] */
  reveal(path, focus = true) {
    return this.queue(async () => {
      const { graph } = this;
      const shown = this.host(path);
      const closed = graph.ancestors(shown).filter((one) => !(one.length === 1 && one[0] === 0) && !this.open.has(graph.key(one)));
      if (closed.length) await this.openNow(closed[closed.length - 1]);
      await this.selectNow(path);
      const box = this.scene.boxes[this.picture.boxOf.get(graph.address(shown)) ?? -1];
      if (box) await this.bring(box);
      if (focus) this.focus();
    });
  }

  /** The box that shows a path: its own, or that of the group around a constant. @param {Path} path @returns {Path} */
  host(path) {
    if (this.graph.isApart(path)) return [path[0] + 1];
    if (!this.graph.mark[path[path.length - 1]]) return path;
    const stub = this.scene.stubs.find((/** @type {any} */ one) => one.other === path[path.length - 1]);
    if (stub) return this.places.get(this.scene.boxes[stub.box].address) ?? path;
    return this.graph.around(path) ?? path;
  }

  /** @param {Path} path @param {string} way @param {number} hops */
  trace(path, way, hops) {
    return this.queue(() => this.traceNow(path, way, hops));
  }

  /** Trace a hop, or a hop further than before. @param {Path} path @param {string} way */
  traceOn(path, way) {
    const { traced, graph } = this;
    const same = traced?.way === way && graph.key(traced.path) === graph.key(path);
    return this.trace(path, way, same ? traced.hops + 1 : 1);
  }

  /** @param {Path} path @param {string} way @param {number} hops */
  async traceNow(path, way, hops) {
    const rows = await this.facts.reach(path[path.length - 1], way === "in", hops);
    this.traced = { path, way, hops, rows };
    this.lit();
    this.tracing.draw();
    this.remember();
  }

  endTrace() {
    this.traced = null;
    this.lit();
    this.tracing.draw();
    this.remember();
  }

  /** Ring what was found. @param {number[]} rows */
  mark(rows) {
    this.marked = new Set(rows);
    this.lit();
  }

  /** @param {string} scheme */
  colour(scheme) {
    return this.queue(async () => {
      this.scheme = scheme;
      byId("scheme").value = scheme;
      await this.redraw(this.selected, false);
      this.remember();
    });
  }

  /** Show what one step measured, all together at -1. @param {number} at */
  setStep(at) {
    return this.queue(async () => {
      this.at = at;
      if (!(await this.painter()).measured) this.scheme = this.head.schemes.find((/** @type {string} */ one) => this.graph.blocks.has(`colour/${one}@0`));
      this.dressPage();
      await this.redraw(this.selected, false);
      this.remember();
    });
  }

  /** @param {string} choice */
  setTheme(choice) {
    return this.queue(async () => {
      this.themeChoice = choice;
      this.dressPage();
      await this.redraw(null, false);
      this.remember();
    });
  }
}
