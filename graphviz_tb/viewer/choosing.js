// What a reader looks at: a node is chosen, brought into view, traced; what was found is ringed.

class Choosing extends Shown {
  /** @param {Path | null} path */
  select(path) {
    return this.queue(() => {
      this.step("choice");
      return this.selectNow(path);
    });
  }

  /** @param {Path | null} path */
  async selectNow(path) {
    this.selected = path;
    this.shownAs = path && (await this.host(path));
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
      this.step("choice");
      await this.selectNow(path);
      await this.uncoverNow(path);
    });
  }

  /** @param {Path} path */
  async uncoverNow(path) {
    await this.told;
    const box = this.boxAt(await this.host(path));
    if (box) await this.uncover(box);
  }

  /** Fit a box into the window; the whole where it is not shown. @param {Path} path */
  async fitBox(path) {
    const box = this.boxAt(await this.host(path));
    return box ? this.camera.glide(this.clear(box, 2, 60)) : this.fit();
  }

  /** The box that shows a path: its own, or that of the op beside which a constant or a weight stands. @param {Path} path @returns {Promise<Path>} */
  async host(path) {
    if (this.graph.isApart(path)) return [path[0] + 1];
    const row = path[path.length - 1];
    if (!this.graph.mark[row]) return this.boxAt(path) ? path : this.graph.frame(path);
    const stub = this.scene.stubs.find((/** @type {any} */ one) => one.other === row);
    const seen = stub && this.places.get(this.scene.boxes[stub.box].address);
    if (seen) return seen;
    const host = await this.facts.host(row);
    return host < 0 ? (this.graph.around(path) ?? path) : [...path.slice(0, -1), host];
  }

  /** @param {Path} path @param {string} way @param {number} hops */
  trace(path, way, hops) {
    return this.queue(async () => {
      this.step();
      await this.traceNow(path, way, hops);
      await this.uncoverTrace();
    });
  }

  /** Trace a hop, or a hop further than before. @param {Path} path @param {string} way */
  traceOn(path, way) {
    const { traced, graph } = this;
    const same = traced?.way === way && graph.key(traced.path) === graph.key(path);
    return this.trace(path, way, same ? traced.hops + 1 : 1);
  }

  /** @param {Path} path @param {string} way @param {number} hops */
  async traceNow(path, way, hops) {
    this.traced = { path, way, hops, ...(await this.facts.reach(path[path.length - 1], way === "in", hops)) };
    this.lit();
    this.tracing.draw();
    this.remember();
  }

  /** Bring what the trace reached out from under its bar and the card, as far as it was in view. */
  async uncoverTrace() {
    await this.told;
    const { camera, traced, graph } = this;
    if (!traced) return; // it was ended meanwhile
    const sums = this.counts(traced.rows);
    const [wide, tall] = camera.size;
    const lit = this.scene.boxes.filter((/** @type {any} */ box) => !box.open && sums[graph.end[box.row]] > sums[box.row]);
    const seen = lit.map((/** @type {any} */ box) => this.onStage(box)).filter((/** @type {number[]} */ rect) => meet(rect, [0, 0, wide, tall]));
    if (!seen.length) return;
    const rect = [Math.min, Math.min, Math.max, Math.max].map((most, side) => most(...seen.map((/** @type {number[]} */ one) => one[side])));
    const [across, along] = camera.free();
    const [top, bottom] = [camera.y, camera.y + this.scene.height * camera.k];
    if (top >= 0 && bottom <= tall) [rect[1], rect[3]] = [Math.min(rect[1], top), Math.max(rect[3], bottom)]; // all of it was seen, and is
    if (rect[2] - rect[0] < across[1] - across[0] - 24 && rect[3] - rect[1] < along[1] - along[0] - 24) return this.unhide(rect);
    const world = rect.map((value, side) => (value - (side % 2 ? camera.y : camera.x)) / camera.k);
    const whole = camera.fitting(world, camera.k, 16);
    if (whole[2] > 0.6 * camera.k) return camera.glide(whole);
    return this.uncoverNow(traced.path);
  }

  endTrace() {
    this.step();
    this.traced = null;
    this.lit();
    this.tracing.draw();
    this.remember();
  }

  /** Ring what was found: a constant or a weight, and the op beside which it stands. @param {number[]} rows */
  async mark(rows) {
    const marked = new Set(rows);
    const turns = new Turns();
    this.marked = marked;
    for (const row of rows) {
      if (this.graph.mark[row]) marked.add(await this.facts.host(row));
      if (turns.over) await turns.next();
      if (this.marked !== marked) return; // something else was looked for meanwhile
    }
    marked.delete(-1);
    if (this.marked === marked) this.lit();
  }
}
