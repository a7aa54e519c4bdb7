// The picture: made of what is open, painted, moved to from what was there before, and lit by what is chosen.

class Shown extends Framed {
  /** Make the scene of what is open, and show it. @param {Path | null} anchor stays where it is @param {boolean} moving @param {Path | null} was what stood there before */
  async redraw(anchor, moving = true, was = anchor) {
    const { graph } = this;
    await graph.prepare([[0], ...this.open.values()]).catch((error) => this.damaged(error));
    const painter = (this.brush = await this.painter());
    const before = this.scene;
    this.hovered = null; // what was under the pointer may have gone from there
    byId("tip").hidden = true;
    const old = this.picture.byKey;
    const view = this.views.build(this.open, (path) => painter.room(path), this.head.options.max_annotations, this.moves);
    if (!view) return;
    const scene = layout.place(view, this.head.options, this.frames);
    this.places = this.views.places;
    this.scene = scene;
    painter.write(scene, this.places);
    const paint = painter.paint(scene, this.places);
    this.paint = paint;
    const shift = anchor && before ? this.shift(before, scene, graph.address(was ?? anchor), graph.address(anchor)) : null;
    this.ordered(scene);
    this.picture.set(scene, paint, this.places);
    if (shift) {
      this.camera.run++;
      this.camera.set(this.camera.x + shift[0], this.camera.y + shift[1], this.camera.k);
      this.camera.settle();
    }
    if (moving && before && !calm()) this.animate(old, shift ?? [0, 0]);
    this.lit();
    this.legend();
    this.minimap.draw(scene, paint);
    this.outline.draw();
    if (this.selected) this.card.refresh(this.selected);
    const shown = scene.boxes.filter((/** @type {any} */ box) => !box.open).length;
    const left = this.head.left ? ` · ${t("left", { n: this.head.left })}` : "";
    byId("facts").textContent = `${opsWord(this.head.opsThrough)} · ${t("shown", { n: shown })}${left}`;
    for (const dress of this.dressers) dress();
  }

  /** Tell readers of the tree in which order boxes are: elements lie in layers, and those out of view are not there.
   * @param {any} scene */
  ordered(scene) {
    /** @type {number[][]} */
    const inside = Array.from({ length: scene.boxes.length + 1 }, () => []);
    for (const [at, box] of scene.boxes.entries()) inside[box.parent + 1].push(at);
    this.siblings = scene.boxes.map(() => [1, 1]);
    const order = [];
    const todo = inside[0].slice().reverse();
    for (const list of inside) list.forEach((at, place) => (this.siblings[at] = [place + 1, list.length]));
    while (todo.length) {
      const at = /** @type {number} */ (todo.pop());
      order.push(this.idOf(scene.boxes[at]));
      todo.push(...inside[at + 1].slice().reverse());
    }
    fill(this.svg, { "aria-owns": order.join(" ") });
  }

  /** The element of a box. @param {any} box */
  idOf(box) {
    const path = this.places.get(box.address) ?? this.views.places.get(box.address);
    return `n-${path ? this.graph.key(path) : box.row}`;
  }

  /** Show the same picture in other colours: nothing moves, as long as every box that says something has room for it. */
  async recolour() {
    const painter = (this.brush = await this.painter());
    if (!this.scene || this.paint.scheme.split("@")[0] !== painter.scheme.split("@")[0] || !painter.write(this.scene, this.places)) return this.redraw(this.selected, false);
    this.paint = painter.paint(this.scene, this.places);
    this.picture.recolour(this.paint);
    this.legend();
    clearTimeout(this.mapping); // map and outline follow when the steps have come to rest
    this.mapping = setTimeout(() => {
      this.minimap.draw(this.scene, this.paint);
      this.outline.draw();
    }, 150);
    for (const dress of this.dressers) dress();
  }

  /** How far the camera must go so that a box stands where it, or another, stood. @param {any} before @param {any} after @param {string} was @param {string} is */
  shift(before, after, was, is) {
    const of = (/** @type {any} */ scene, /** @type {string} */ name) => scene.boxes.find((/** @type {any} */ box) => box.address === name);
    const [one, two] = [of(before, was), of(after, is)];
    if (!one || !two) return null;
    const [from, to] = [layout.mark_place(one), layout.mark_place(two)];
    return [(from[0] - to[0]) * this.camera.k, (from[1] - to[1]) * this.camera.k];
  }

  /** Let what was there before come from where it was. @param {Map<string, any>} old @param {number[]} shift */
  animate(old, shift) {
    const drift = [-shift[0] / this.camera.k, -shift[1] / this.camera.k];
    const timing = { duration: EASE, easing: "cubic-bezier(.2,.7,.3,1)" };
    let count = 0;
    for (const item of this.picture.items) {
      const { element } = item;
      if (!element?.isConnected || ++count > 1500) continue;
      const was = old.get(item.key);
      if (!was || item.layer === "edges") {
        element.animate([{ opacity: 0 }, { opacity: 0, offset: 0.4 }, { opacity: 1 }], timing);
        continue;
      }
      const [x, y] = [was.rect[0] - item.rect[0] + drift[0], was.rect[1] - item.rect[1] + drift[1]];
      if (item.layer === "frames" || was.layer !== item.layer) {
        const grown = (/** @type {number} */ side) => (was.rect[side + 2] - was.rect[side]) / (item.rect[side + 2] - item.rect[side] || Infinity) || 1; // a straight line has no width
        const [sx, sy] = [grown(0), grown(1)];
        const [ox, oy] = [item.rect[0], item.rect[1]];
        element.animate([{ transform: `translate(${ox + x}px, ${oy + y}px) scale(${sx}, ${sy}) translate(${-ox}px, ${-oy}px)` }, { transform: "none" }], timing);
      } else if (Math.abs(x) > 0.5 || Math.abs(y) > 0.5) {
        element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], timing);
      }
    }
  }

  /** The painter of the colouring that is chosen. */
  async painter() {
    const other = this.others.get(this.scheme);
    const found = await (other ? other() : this.colouringOf(this.scheme));
    found.setTheme(this.theme);
    return found;
  }

  /** A colouring that lies in the data, of the step that is shown where it has steps. @param {string} scheme @returns {Promise<Colouring>} */
  async colouringOf(scheme) {
    const { blocks } = this.graph;
    const names = [scheme, ...this.head.steps.map((/** @type {string} */ _, /** @type {number} */ at) => `${scheme}@${at}`).filter((/** @type {string} */ name) => blocks.has(`colour/${name}`))];
    const wanted = names.includes(`${scheme}@${this.at}`) ? `${scheme}@${this.at}` : scheme;
    // A box has room for its words of any step.
    for (const name of names) await this.kept(name, names);
    return this.kept(wanted, names);
  }

  /** A colouring, made once. @param {string} name @param {string[]} names its own, and those of other steps @returns {Promise<Colouring>} */
  async kept(name, names) {
    let found = this.colourings.get(name);
    if (!found) {
      found = await colouring(this.graph, name);
      found.steps = () => names.map((one) => this.colourings.get(one)).filter(Boolean);
      this.colourings.set(name, found);
    }
    return found;
  }

  /** What machines and readers of the picture are told of an element. @param {any} item @param {any} element */
  dress(item, element) {
    if (item.box >= 0 && item.layer !== "titles") {
      const box = this.scene?.boxes[item.box] ?? this.picture.scene.boxes[item.box];
      const name = safe(box.address);
      const [place, count] = this.siblings[item.box] ?? [1, 1];
      fill(element, {
        id: this.idOf(box),
        class: `node ${box.open ? "frame" : "closed"}`,
        "data-name": name,
        "data-kind": box.kind,
        role: "treeitem",
        "aria-level": box.depth + 1,
        "aria-posinset": place,
        "aria-setsize": count,
        "aria-expanded": box.openable ? String(box.open) : null,
        "aria-selected": String(this.shownAs !== null && this.graph.address(this.shownAs) === box.address),
        "aria-label": brief(item.tip || box.title || box.address),
      });
      return;
    }
    fill(element, { role: "none" });
    if (item.route) {
      fill(element, { class: "line", "data-from": safe(item.route.identity.source), "data-to": safe(item.route.identity.target), "data-edge": item.route.kind });
    } else if (item.stub) {
      const one = item.stub;
      const host = this.picture.scene.boxes[one.box].address;
      const other = one.other >= 0 ? one.identities[0] : null;
      const name = other ? (other.source === host ? other.target : other.source) : "";
      fill(element, { class: `stub ${one.kind}`, "data-stub": safe(name), "data-of": safe(host) });
    } else if (item.box >= 0) {
      fill(element, { class: "head", "aria-hidden": "true" });
    }
  }

  /** Bring the lines of what is chosen and of what is under the pointer to the front. */
  glow() {
    const names = [this.shownAs ? this.graph.address(this.shownAs) : null, this.hovered];
    this.picture.highlight(new Set(names.filter((one) => one !== undefined && one !== null)), (one) => this.onTrace(one.identity));
  }

  /** Show what is chosen, traced and found in the picture. */
  lit() {
    const { picture, graph } = this;
    this.glow();
    if (picture.apart !== !!this.traced) {
      picture.apart = !!this.traced;
      if (picture.scene) picture.refresh(false);
    }
    this.light = {
      chosen: this.shownAs ? graph.address(this.shownAs) : null,
      row: this.selected ? this.selected[this.selected.length - 1] : -1,
      trace: this.traced ? this.counts(this.traced.rows) : null,
      marks: this.marked.size ? this.counts(this.marked) : null,
      over: this.spokenOf(this.overKey),
      only: this.spokenOf(this.onlyKey),
    };
    for (const item of picture.items) if (item.element) this.shed(item, item.element);
    this.ring();
    fill(this.svg, { "aria-activedescendant": this.shownAs ? `n-${graph.key(this.shownAs)}` : null });
  }

  /** The closed boxes of which a row of the legend speaks; null where there is none. @param {string} label @returns {Set<number> | null} */
  spokenOf(label) {
    if (!label || !this.brush || !this.scene) return null;
    const found = new Set();
    this.scene.boxes.forEach((/** @type {any} */ box, /** @type {number} */ at) => {
      if (!box.open && this.brush?.speaks(label, this.places.get(box.address) ?? [box.row])) found.add(at);
    });
    return found;
  }

  /** The same for one item. @param {any} item @param {any} element */
  shed(item, element) {
    const { chosen, row, trace, marks, over, only } = this.light;
    const { boxes } = this.picture.scene;
    const { classList } = element;
    const lives = (/** @type {Int32Array} */ sums, /** @type {number} */ at) => sums[this.graph.end[at]] - sums[at] > 0;
    const seen = (/** @type {number} */ box) => !trace || box < 0 || lives(trace, boxes[box].row);
    if (item.box >= 0) {
      const box = boxes[item.box];
      const mine = box.address === chosen;
      if (item.layer !== "titles") element.setAttribute("aria-selected", String(mine));
      classList.toggle("selected", mine);
      classList.toggle("found", !!marks && !box.open && lives(marks, box.row));
      classList.toggle("keyed", !!over && over.has(item.box));
      classList.toggle("faded", (!!trace && !seen(item.box)) || (!!only && !box.open && !only.has(item.box)));
    } else if (item.route) {
      classList.toggle("faded", !this.onTrace(item.route.identity) || (!!only && !(only.has(item.route.source) && only.has(item.route.target))));
    } else if (item.stub) {
      const { other, identities } = item.stub;
      classList.toggle("twin", row >= 0 && other === row);
      classList.toggle("found", !!marks && other >= 0 && lives(marks, other) && this.graph.mark[other] > 0);
      classList.toggle("faded", identities.length > 0 && !identities.some((/** @type {any} */ one) => this.onTrace(one)));
    } else if (item.layer === "free" || item.layer === "ports") classList.toggle("faded", !!trace || !!only);
  }

  /** Whether a line is one that the trace goes along; each is where there is none. @param {any} identity */
  onTrace({ source, target }) {
    if (!this.traced) return true;
    const { graph } = this;
    const ends = [source, target].map((name) => this.places.get(name) ?? graph.find(name));
    if (!ends[0] || !ends[1]) return false;
    const [from, to] = ends.map((path) => /** @type {Path} */ (path)[/** @type {Path} */ (path).length - 1]);
    return this.traced.edges.between(from, graph.end[from], to, graph.end[to]);
  }

  /** How many of some rows there are up to each row. @param {Set<number>} rows */
  counts(rows) {
    const sums = new Int32Array(this.graph.count + 1);
    for (const row of rows) sums[row + 1] = 1;
    for (let at = 1; at < sums.length; at++) sums[at] += sums[at - 1];
    return sums;
  }

  /** The box of a path, if it is shown. @param {Path} path @returns {any} */
  boxAt(path) {
    return this.scene?.boxes[this.picture.boxOf.get(this.graph.address(path)) ?? -1];
  }

  /** The ring around what is chosen. */
  ring() {
    const box = this.shownAs && this.picture.scene ? this.boxAt(this.shownAs) : null;
    this.circle ??= svgEl("rect", { class: "ring", fill: "none" });
    if (!box) return this.circle.remove();
    const radius = layout.is_pill(box) && !box.open ? Math.min(15, box.height / 2 + 3) : 8;
    fill(this.circle, { x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6, rx: radius, stroke: this.paint.theme.selected });
    this.picture.world.append(this.circle);
  }
}
