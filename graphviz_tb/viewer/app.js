// The page: what is open, chosen and coloured, and what a reader does with it.

const MOST_GRAPHS = 500; // functions that the chooser lists

class App {
  /** @param {Graph} graph @param {Head} head */
  constructor(graph, head) {
    this.graph = graph;
    this.head = head;
    this.title = head.title || "graph";
    this.facts = new Facts(graph);
    this.views = new Views(graph);
    /** @type {Map<string, Path>} the open groups, without the root */
    this.open = new Map();
    /** @type {Path | null} */
    this.selected = null;
    /** @type {Map<string, Colouring>} */
    this.colourings = new Map();
    this.scheme = head.options.color_by;
    this.themeChoice = "system";
    /** the step whose measurements are shown, all together at -1 */
    this.at = -1;
    /** @type {Record<string, any>} */
    this.extra = {};
    /** @type {{path: Path, way: string, hops: number, rows: Set<number>} | null} */
    this.traced = null;
    /** @type {Set<number>} */
    this.marked = new Set();
    /** @type {any} */
    this.scene = null;
    /** @type {Map<string, Path>} */
    this.places = new Map([["", [0]]]);
    this.moves = new Moves();
    /** @type {string[]} */
    this.past = [];
    /** @type {string[]} */
    this.future = [];
    /** @type {string | null | undefined} the address of the box under the pointer */
    this.hovered = null;
    /** @type {any} the ring around what is chosen */
    this.circle = null;
    /** @type {any} */
    this.defs = null;
    /** @type {any} */
    this.paint = null;
    this.touched = false;
    this.looked = false;
    /** whether what comes next is a view of its own, to which the browser goes back */
    this.stepped = false;
    /** @type {boolean | null} whether the reader opened or closed the legend */
    this.legendOpen = null;
    this.written = "";
    /** @type {any} */
    this.writing = 0;
    /** @type {any} */
    this.toasting = 0;
    this.busy = Promise.resolve();
    this.svg = byId("picture");
    this.picture = new Picture(byId("stage"), this.svg);
    this.camera = new Camera(byId("stage"), this.picture, () => this.moved());
    /** @type {any} what is chosen, traced and found, as the picture shows it */
    this.light = { chosen: null, row: -1, trace: null, marks: null };
    this.picture.dress = (item, element) => {
      this.dress(item, element);
      this.shed(item, element);
    };
    this.card = new Card(this);
    this.find = new Find(this);
    this.outline = new Outline(this);
    this.minimap = new Minimap(this);
    this.tracing = new Tracing(this);
    this.changes = head.changes ? new ChangeList(this) : null;
    byId("changes-button").hidden = !this.changes;
  }

  // state

  /** Do one thing after another. @param {() => Promise<any>} run @returns {Promise<any>} */
  queue(run) {
    const next = this.busy.then(run);
    this.busy = next.catch(() => undefined); // who asked is told
    return next;
  }

  get theme() {
    if (this.themeChoice !== "system") return this.themeChoice;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  /** The state as plain values: what the hash holds. */
  state() {
    /** @type {Record<string, any>} */
    const out = { ...this.extra };
    const inner = [...this.open.values()].filter((path) => ![...this.open.values()].some((other) => other !== path && this.graph.within(other, path)));
    if (this.touched) out.open = inner.map((path) => this.graph.address(path));
    if (out.open && !out.open.length) out.open = [""];
    if (this.selected) out.select = this.graph.address(this.selected);
    if (this.scheme !== this.head.options.color_by) out.colour = this.scheme;
    if (this.at >= 0) out.step = this.head.steps[this.at];
    if (this.themeChoice !== "system") out.theme = this.themeChoice;
    for (const side of /** @type {("aux" | "main")[]} */ (["aux", "main"])) {
      if (this.moves[side].size) out[side] = [...this.moves[side].values()].map((path) => this.graph.address(path));
    }
    const apart = [...this.graph.apart.values()].flatMap((level) => this.graph.seriesOf(level));
    if (apart.length) out.ungroup = apart.map((path) => this.graph.address(path));
    if (this.traced) out.trace = `${this.traced.way}${reachWord(this.traced.hops)}:${this.graph.address(this.traced.path)}`;
    if (this.looked) out.at = `${num(this.camera.x)},${num(this.camera.y)},${Number(this.camera.k.toFixed(4))}`;
    return out;
  }

  /** Put the state into the address. */
  remember() {
    clearTimeout(this.writing);
    const hash = hashOf(this.state());
    if (hash === this.written) return;
    this.written = hash;
    try {
      const address = hash ? `#${hash}` : location.pathname + location.search;
      if (this.stepped && parent === window) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
      this.stepped = false;
    } catch {
      // a frame without an address of its own
    }
    this.emit("state", this.state());
  }

  /** The same soon, for what goes on many times a second. */
  rememberSoon() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.remember(), 250);
  }

  /** @param {string} name @param {any} detail */
  emit(name, detail) {
    this.svg.dispatchEvent(new CustomEvent(`tbgraph:${name}`, { bubbles: true, detail }));
  }

  /** Take a state over: what it names and is not here is told. @param {Record<string, any>} state */
  async restore(state) {
    const { open, select, colour, theme, trace, at, aux, main, step, ungroup, ...rest } = state;
    this.extra = rest;
    const lost = [];
    const wanted = new Map();
    if (open === undefined) for (const path of this.head.open) wanted.set(this.graph.key(path), path);
    for (const name of open ?? []) {
      const path = this.graph.find(name);
      if (!path || (name && !this.graph.opens(path[path.length - 1]))) lost.push(name);
      else if (name) for (const one of [...this.graph.ancestors(path), path]) if (one.length > 1 || one[0] !== 0) wanted.set(this.graph.key(one), one);
    }
    this.graph.apart = new Map();
    for (const name of ungroup ?? []) {
      const path = this.graph.find(name);
      const level = path && this.graph.comesApart(path);
      if (!level) lost.push(name);
      else this.graph.apart.set(this.graph.key(level), level);
      if (level && !open) for (const one of [...this.graph.ancestors(level), level]) if (one[0] !== 0) wanted.set(this.graph.key(one), one);
    }
    this.open = wanted;
    this.touched = open !== undefined;
    if (theme === undefined || theme === "light" || theme === "dark") this.themeChoice = theme ?? "system";
    else lost.push(theme);
    this.at = step === undefined ? -1 : this.head.steps.indexOf(step);
    if (step !== undefined && this.at < 0) lost.push(step);
    const scheme = colour ?? this.head.options.color_by;
    if (this.head.schemes.includes(scheme)) this.scheme = scheme;
    else lost.push(scheme);
    const path = select ? this.graph.find(select) : null;
    if (select && !path) lost.push(select);
    this.selected = path;
    this.traced = null;
    this.tracing.draw();
    this.moves = new Moves();
    for (const [side, names] of [[this.moves.aux, aux ?? []], [this.moves.main, main ?? []]]) {
      for (const name of names) {
        const moved = this.graph.find(name);
        if (moved) side.set(this.graph.key(moved), moved);
        else lost.push(name);
      }
    }
    this.dressPage();
    await this.redraw(null, false);
    const asked = trace ? traceOf(trace) : null;
    const from = asked && this.graph.find(asked.name);
    if (from) await this.traceNow(from, asked.way, asked.hops);
    else if (trace) lost.push(trace);
    const place = at?.split(",").map(Number);
    if (place?.length === 3 && place.every(Number.isFinite)) {
      this.looked = true;
      this.camera.set(place[0], place[1], place[2]);
      this.camera.settle();
    } else this.fit(false);
    this.legend();
    if (path) await this.selectNow(path);
    if (lost.length) this.toast(t("missing", { names: lost.slice(0, 5).map((one) => brief(one, 60)).join(", ") }));
    this.remember();
  }

  // pictures

  /** Make the scene of what is open, and show it. @param {Path | null} anchor stays where it is @param {boolean} moving @param {Path | null} was what stood there before */
  async redraw(anchor, moving = true, was = anchor) {
    const { graph } = this;
    await graph.prepare([[0], ...this.open.values()]).catch(() => this.damaged());
    const painter = await this.painter();
    const before = this.scene;
    this.hovered = null; // what was under the pointer may have gone from there
    byId("tip").hidden = true;
    const old = this.picture.byKey;
    const view = this.views.build(this.open, (path) => painter.second(path), this.head.options.max_annotations, this.moves);
    if (!view) return;
    const scene = layout.place(view, this.head.options);
    this.places = this.views.places;
    this.scene = scene;
    const paint = painter.paint(scene, this.places);
    this.paint = paint;
    const shift = anchor && before ? this.shift(before, scene, graph.address(was ?? anchor), graph.address(anchor)) : null;
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
        const [sx, sy] = [(was.rect[2] - was.rect[0]) / (item.rect[2] - item.rect[0]), (was.rect[3] - was.rect[1]) / (item.rect[3] - item.rect[1])];
        const [ox, oy] = [item.rect[0], item.rect[1]];
        element.animate([{ transform: `translate(${ox + x}px, ${oy + y}px) scale(${sx}, ${sy}) translate(${-ox}px, ${-oy}px)` }, { transform: "none" }], timing);
      } else if (Math.abs(x) > 0.5 || Math.abs(y) > 0.5) {
        element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], timing);
      }
    }
  }

  /** The painter of the colouring that is chosen. */
  async painter() {
    const apart = `${this.scheme}@${this.at}`;
    const name = this.graph.blocks.has(`colour/${apart}`) ? apart : this.scheme;
    let found = this.colourings.get(name);
    if (!found) {
      found = await colouring(this.graph, name);
      this.colourings.set(name, found);
    }
    found.setTheme(this.theme);
    return found;
  }

  /** What machines and readers of the picture are told of an element. @param {any} item @param {any} element */
  dress(item, element) {
    if (item.box >= 0 && item.layer !== "titles") {
      const box = this.scene?.boxes[item.box] ?? this.picture.scene.boxes[item.box];
      const name = safe(box.address);
      const path = this.places.get(box.address) ?? this.views.places.get(box.address);
      fill(element, {
        id: `n-${path ? this.graph.key(path) : box.row}`,
        class: `node ${box.open ? "frame" : "closed"}`,
        "data-name": name,
        "data-kind": box.kind,
        role: "treeitem",
        "aria-level": box.depth + 1,
        "aria-expanded": box.openable ? String(box.open) : null,
        "aria-selected": String(this.selected !== null && this.graph.address(this.selected) === box.address),
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
    const names = [this.selected ? this.graph.address(this.selected) : null, this.hovered];
    this.picture.highlight(new Set(names.filter((one) => one !== undefined && one !== null)));
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
      chosen: this.selected ? graph.address(this.selected) : null,
      row: this.selected ? this.selected[this.selected.length - 1] : -1,
      trace: this.traced ? this.counts(this.traced.rows) : null,
      marks: this.marked.size ? this.counts(this.marked) : null,
    };
    for (const item of picture.items) if (item.element) this.shed(item, item.element);
    this.ring();
    fill(this.svg, { "aria-activedescendant": this.selected ? `n-${graph.key(this.selected)}` : null });
  }

  /** The same for one item. @param {any} item @param {any} element */
  shed(item, element) {
    const { chosen, row, trace, marks } = this.light;
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
      classList.toggle("faded", !!trace && !seen(item.box));
    } else if (item.route) {
      const { source, target, frame } = item.route;
      classList.toggle("faded", !!trace && !(seen(source) && seen(target) && (source < 0 || target < 0 ? seen(frame) : true)));
    } else if (item.stub) {
      classList.toggle("twin", row >= 0 && item.stub.other === row);
      classList.toggle("faded", !!trace && !(seen(item.stub.box) && (item.stub.other < 0 || lives(trace, item.stub.other))));
    } else if (item.layer === "free" || item.layer === "ports") classList.toggle("faded", !!trace);
  }

  /** How many of some rows there are up to each row. @param {Set<number>} rows */
  counts(rows) {
    const sums = new Int32Array(this.graph.count + 1);
    for (const row of rows) sums[row + 1] = 1;
    for (let at = 1; at < sums.length; at++) sums[at] += sums[at - 1];
    return sums;
  }

  /** The ring around what is chosen. */
  ring() {
    const box = this.selected ? this.picture.scene?.boxes[this.picture.boxOf.get(this.graph.address(this.selected)) ?? -1] : null;
    this.circle ??= svgEl("rect", { class: "ring", fill: "none" });
    if (!box) return this.circle.remove();
    const radius = layout.is_pill(box) && !box.open ? Math.min(15, box.height / 2 + 3) : 8;
    fill(this.circle, { x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6, rx: radius, stroke: this.paint.theme.selected });
    this.picture.world.append(this.circle);
  }

  /** Functions of the file by themselves, each to be gone to. */
  graphs() {
    const { graph, head } = this;
    const shown = head.functions.slice(0, MOST_GRAPHS);
    return [["0", this.title], ...shown.map((/** @type {number} */ row) => [String(row), brief(graph.name(row), 60)])];
  }

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

  legend() {
    const shapes = layout.shapes(layout.legend(this.picture.scene, this.paint));
    const found = shapes.filter((/** @type {any} */ one) => one.width <= 340).pop() ?? shapes[0];
    const panel = byId("legend");
    empty(panel);
    if (!found || !this.head.options.legend) return;
    const [wide, tall] = [found.width + 4, found.height + 4];
    const details = el("details", { open: this.legendOpen ?? (innerWidth >= 700 && !this.covered(wide + 40, tall + 60)) }, el("summary", {}, t("legend")));
    details.firstChild.addEventListener("click", () => (this.legendOpen = !details.open));
    const svg = svgEl("svg", { width: wide, height: tall, viewBox: `-2 0 ${wide} ${tall}`, role: "group" });
    hatchPattern(svg, this.paint.theme);
    for (const group of layout.drawn(found, this.paint.theme)) grouped(group, svg);
    details.append(svg);
    panel.append(details);
  }

  /** Whether a panel at the lower left would lie on a box. @param {number} wide @param {number} tall */
  covered(wide, tall) {
    const { camera } = this;
    const [left, top] = [camera.free()[0][0], camera.size[1] - tall];
    return this.scene.boxes.some((/** @type {any} */ box) => {
      if (box.open && box.parent < 0 && box.width * camera.k > wide) return false;
      const [x, y] = [box.x * camera.k + camera.x, box.y * camera.k + camera.y];
      return !box.open && x < left + wide && y + box.height * camera.k > top && x + box.width * camera.k > left;
    });
  }

  moved() {
    this.minimap.moved();
    this.looked = true;
    this.rememberSoon();
  }

  // what a reader does

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
        if (!level || room < 0) break;
        room -= level.metagraph.children.length;
        if (one.length > 1 || one[0] !== 0) this.open.set(graph.key(one), one);
        for (const row of level.metagraph.children) {
          const child = graph.child(one, row);
          if (graph.opens(row) && !this.again(child)) todo.push(child);
        }
      }
      this.touched = true;
      await this.redraw(path);
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
    if (path) this.card.show(path);
    else this.card.hide();
    this.lit();
    this.outline.draw();
    this.remember();
    this.emit("select", { name: path ? this.graph.address(path) : null });
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

  /** @param {any} box */
  bring(box) {
    const { camera } = this;
    const [across, along] = camera.free();
    const rect = [box.x, box.y, box.x + box.width, box.y + box.height];
    const [left, top, right, bottom] = rect.map((value, at) => value * camera.k + (at % 2 ? camera.y : camera.x));
    const inside = left >= across[0] + 8 && right <= across[1] - 8 && top >= along[0] + 8 && bottom <= along[1] - 8;
    if (inside && camera.k >= NEAR) return Promise.resolve();
    const k = Math.max(Math.min(camera.k, 1.5), 0.8);
    const whole = camera.fitting(rect, k, 40);
    return camera.glide(whole);
  }

  fit(moving = true) {
    const { scene, camera } = this;
    const room = this.stageRoom();
    const whole = [0, 0, scene.width, scene.height];
    const [wide, tall] = camera.size;
    const most = Math.max(1.25, Math.min(wide / 1200, tall / 700)); // a large screen is looked at from further away
    let to = camera.fitting(whole, most, room);
    if (this.underCorner(to)) {
      const corner = byId("corner").getBoundingClientRect();
      const aside = [Math.max(camera.free()[0][0] + room, corner.left - room - scene.width * to[2]), to[1], to[2]];
      const higher = camera.fitting(whole, most, room, corner.height);
      if (!this.underCorner(aside)) to = aside;
      else if (higher[2] > 0.7 * to[2]) to = higher;
    }
    if (moving) return camera.glide(to);
    camera.set(to[0], to[1], to[2]);
    camera.settle();
    return Promise.resolve();
  }

  /** Whether the minimap would lie on a box. @param {number[]} place of the camera */
  underCorner([x, y, k]) {
    const home = byId("corner").getBoundingClientRect();
    const stage = byId("stage").getBoundingClientRect();
    const [left, top] = [home.left - stage.left, home.top - stage.top];
    return this.scene.boxes.some((/** @type {any} */ box) => (box.x + box.width) * k + x > left && (box.y + box.height) * k + y > top);
  }

  stageRoom() {
    return innerWidth < 700 ? 12 : 32;
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

  /** Note a view, to come back to it. */
  step() {
    this.stepped = true;
    this.past.push(hashOf(this.state()));
    this.future = [];
    if (this.past.length > 200) this.past.shift();
  }

  /** @param {string[]} from @param {string[]} to */
  walk(from, to) {
    return this.queue(async () => {
      const hash = from.pop();
      if (hash === undefined) return;
      to.push(hashOf(this.state()));
      await this.restore(stateOf(hash));
    });
  }

  focus() {
    this.svg.focus({ preventScroll: true });
  }

  /** The last word of a path's name. @param {Path} path */
  leaf(path) {
    const around = this.graph.around(path);
    const held = around && this.graph.level(around);
    const at = held ? held.metagraph.children.indexOf(path[path.length - 1]) : -1;
    return at >= 0 ? safe(held.faces[at].label) : brief(this.graph.name(path[path.length - 1]), 80);
  }

  // the page around the picture

  /** @param {string} text */
  toast(text) {
    byId("toast").textContent = text;
    byId("toast").classList.add("shown");
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => byId("toast").classList.remove("shown"), 3500);
  }

  damaged() {
    this.toast(t("damaged", { names: this.graph.blocks.damaged.join(", ") }));
  }

  /** Words and colours of the page. */
  dressPage() {
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = this.theme;
    document.title = `${safe(this.title)} · tbgraph`;
    byId("title").textContent = safe(this.title);
    byId("title").title = safe(this.title);
    for (const one of document.querySelectorAll("[data-t]")) one.textContent = t(/** @type {any} */ (one).dataset.t);
    for (const one of document.querySelectorAll("[data-t-label]")) {
      one.setAttribute("aria-label", t(/** @type {any} */ (one).dataset.tLabel));
      if (one.matches(".icon, summary")) one.setAttribute("title", t(/** @type {any} */ (one).dataset.tLabel));
    }
    for (const one of document.querySelectorAll("[data-t-hint]")) one.setAttribute("placeholder", t(/** @type {any} */ (one).dataset.tHint));
    const options = (/** @type {string} */ id, /** @type {[string, string][]} */ pairs, /** @type {string} */ value) => {
      byId(id).replaceChildren(...pairs.map(([key, word]) => el("option", { value: key }, word)));
      byId(id).value = value;
    };
    options("scheme", this.head.schemes.map((/** @type {string} */ one) => [one, t(`scheme.${one}`)]), this.scheme);
    byId("graph").hidden = !this.head.functions.length;
    options("graph", /** @type {any} */ (this.graphs()), byId("graph").value || "0");
    byId("step").hidden = this.head.steps.length < 2;
    options("step", [["-1", t("allSteps")], ...this.head.steps.map((/** @type {string} */ one, /** @type {number} */ at) => /** @type {[string, string]} */ ([String(at), brief(one.split("/").pop(), 60)]))], String(this.at));
    options("theme", ["system", "light", "dark"].map((one) => [one, t(one)]), this.themeChoice);
    options("language", Object.keys(STRINGS).map((one) => [one, STRINGS[one].languageName]), language);
    this.tracing.draw();
    this.svg.setAttribute("aria-label", t("picture", { name: safe(this.title) }));
    if (!this.defs) this.defs = hatchPattern(this.svg, layout.THEMES.get(this.theme));
    this.defs.querySelector("path").setAttribute("stroke", layout.THEMES.get(this.theme).stroke);
  }
}
