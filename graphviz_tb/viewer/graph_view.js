// The drawn graph: build the scene of the open groups, paint it, animate it from the previous one, and emphasise
// selected, traced and found boxes.

import { EASE_MS } from "./camera.js";
import { byId, prefersReducedMotion, setAttributes, shortText, svgEl, visibleText } from "./dom.js";
import { FOLD, SERIES } from "./levels.js";
import { Picture } from "./picture.js";
import { loadStoredColouring } from "./stored_colouring.js";
import { opsWord, t } from "./strings.js";
import { Views } from "./views.js";

export class GraphView {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.svg = byId("picture");
    /** @type {any} the hatching that boxes may be filled with */
    this.pattern = null;
    /** @type {number[][]} for each box its position among its siblings, and their number */
    this.siblings = [];
    /** @type {any} the selected, traced and found items that the picture shows */
    this.emphasis = { chosen: null, row: -1, trace: null, marks: null, over: null, only: null };
    /** @type {any} the ring around the selected box */
    this.ringElement = null;
    /** @type {Colouring | null} the colouring of the boxes */
    this.painter = null;
    /** @type {Set<() => void>} called after each drawing */
    this.drawListeners = new Set();
    this.hoveredKey = ""; // the row of the legend under the pointer
    this.keptKey = ""; // the row of the legend whose boxes keep their colour while all others fade
    /** @type {any} */
    this.minimapTimer = 0;
    this.picture = new Picture(byId("stage"), this.svg);
    this.picture.onElement = (item, element) => {
      this.describeElement(item, element);
      this.emphasizeElement(item, element);
    };
  }

  /** Forget the drawing of another graph. */
  reset() {
    this.views = new Views(this.app.state.graph);
    this.frameCache = new layout.FrameCache();
    /** @type {Map<string, Colouring>} */
    this.colourings = new Map();
    /** @type {any} */
    this.scene = null;
    /** @type {Map<string, Path>} */
    this.places = new Map([["", [0]]]);
    /** @type {string | null | undefined} the address of the box under the pointer */
    this.hovered = null;
    /** @type {any} */
    this.paint = null;
  }

  /** Whether a node is in the auxiliary area. @param {Path} path */
  isAuxiliary(path) {
    const box = this.boxAt(path);
    return !!box && (box.area === "in_extract" || box.area === "out_extract");
  }

  /** Whether a node can be moved: it is shown, and is not a function outside of calls. @param {Path} path */
  canMove(path) {
    const box = this.boxAt(path);
    const around = this.app.state.graph.enclosingGroup(path);
    return !!box && box.area !== "functions" && !!around && this.app.state.graph.kind[around[around.length - 1]] !== SERIES && this.app.state.graph.kind[around[around.length - 1]] !== FOLD;
  }

  /** Emphasise the boxes of a row of the legend; "": none. @param {string} label */
  emphasizeLegendRow(label) {
    this.keptKey = label;
    for (const row of byId("legend").querySelectorAll(".key-row")) row.setAttribute("aria-pressed", String(/** @type {any} */ (row).dataset.key === label && !!label));
    this.updateEmphasis();
  }

  /** Build and show the scene of the open groups. @param {Path | null} anchor a box that stays where it is @param {boolean} moving @param {Path | null} was the path of the box that was in its place before */
  async redraw(anchor, moving = true, was = anchor) {
    const { graph } = this.app.state;
    await graph.loadLevels([[0], ...this.app.state.open.values()]).catch((error) => this.app.frame.reportDamage(error));
    const painter = (this.painter = await this.loadPainter());
    const before = this.scene;
    this.hovered = null; // another item may be under the pointer now
    byId("tip").hidden = true;
    const old = this.picture.byKey;
    const view = this.views.buildView(this.app.state.open, (path) => painter.longestSecondLine(path), this.app.state.head.options.max_annotations, this.app.state.moves);
    if (!view) return;
    const scene = layout.place(view, this.app.state.head.options, this.frameCache);
    this.places = this.views.places;
    this.scene = scene;
    painter.writeSecondLines(scene, this.places);
    const paint = painter.paint(scene, this.places);
    this.paint = paint;
    const shift = anchor && before ? this.anchorShift(before, scene, graph.address(was ?? anchor), graph.address(anchor)) : null;
    this.setTreeOrder(scene);
    this.picture.setScene(scene, paint, this.places);
    if (shift) {
      this.app.viewport.camera.motionId++;
      this.app.viewport.camera.set(this.app.viewport.camera.x + shift[0], this.app.viewport.camera.y + shift[1], this.app.viewport.camera.k);
      this.app.viewport.camera.settle();
    }
    if (moving && before && !prefersReducedMotion()) this.animateFrom(old, shift ?? [0, 0]);
    this.updateEmphasis();
    this.app.legend.draw();
    this.app.minimap.draw(scene, paint);
    this.app.outline.draw();
    if (this.app.state.selected) this.app.card.refreshActions(this.app.state.selected);
    const shown = scene.boxes.filter((/** @type {any} */ box) => !box.open).length;
    const left = this.app.state.head.left ? ` · ${t("left", { n: this.app.state.head.left })}` : "";
    byId("facts").textContent = `${opsWord(this.app.state.head.opsThrough)} · ${t("shown", { n: shown })}${left}`;
    for (const dress of this.drawListeners) dress();
  }

  /** Set the order of boxes for screen readers, since elements are in layers and only those in view exist.
   * @param {any} scene */
  setTreeOrder(scene) {
    /** @type {number[][]} */
    const inside = Array.from({ length: scene.boxes.length + 1 }, () => []);
    for (const [at, box] of scene.boxes.entries()) inside[box.parent + 1].push(at);
    this.siblings = scene.boxes.map(() => [1, 1]);
    const order = [];
    const todo = inside[0].slice().reverse();
    for (const list of inside) list.forEach((at, place) => (this.siblings[at] = [place + 1, list.length]));
    while (todo.length) {
      const at = /** @type {number} */ (todo.pop());
      order.push(this.elementId(scene.boxes[at]));
      todo.push(...inside[at + 1].slice().reverse());
    }
    setAttributes(this.svg, { "aria-owns": order.join(" ") });
  }

  /** The element of a box. @param {any} box */
  elementId(box) {
    const path = this.places.get(box.address) ?? this.views.places.get(box.address);
    return `n-${path ? this.app.state.graph.key(path) : box.row}`;
  }

  /** Show the same picture in other colours; nothing moves if every second line fits into its box. */
  async recolour() {
    const painter = (this.painter = await this.loadPainter());
    if (!this.scene || this.paint.scheme.split("@")[0] !== painter.scheme.split("@")[0] || !painter.writeSecondLines(this.scene, this.places)) return this.redraw(this.app.state.selected, false);
    this.paint = painter.paint(this.scene, this.places);
    this.picture.recolour(this.paint);
    this.app.legend.draw();
    clearTimeout(this.minimapTimer); // minimap and outline follow when the slider rests
    this.minimapTimer = setTimeout(() => {
      this.app.minimap.draw(this.scene, this.paint);
      this.app.outline.draw();
    }, 150);
    for (const dress of this.drawListeners) dress();
  }

  /** The shift of the camera that puts a box where it, or another box, was before. @param {any} before @param {any} after @param {string} was @param {string} is */
  anchorShift(before, after, was, is) {
    const of = (/** @type {any} */ scene, /** @type {string} */ name) => scene.boxes.find((/** @type {any} */ box) => box.address === name);
    const [start, two] = [of(before, was), of(after, is)];
    if (!start || !two) return null;
    const [from, to] = [layout.mark_place(start), layout.mark_place(two)];
    return [(from[0] - to[0]) * this.app.viewport.camera.k, (from[1] - to[1]) * this.app.viewport.camera.k];
  }

  /** Animate items from their previous positions. @param {Map<string, any>} old @param {number[]} shift */
  animateFrom(old, shift) {
    const drift = [-shift[0] / this.app.viewport.camera.k, -shift[1] / this.app.viewport.camera.k];
    const timing = { duration: EASE_MS, easing: "cubic-bezier(.2,.7,.3,1)" };
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
  async loadPainter() {
    const other = this.app.state.extraColourings.get(this.app.state.scheme);
    const painter = await (other ? other() : this.loadColouring(this.app.state.scheme));
    painter.setTheme(this.app.state.theme);
    return painter;
  }

  /** A colouring of the data, at the shown step if it has steps. @param {string} scheme @returns {Promise<Colouring>} */
  async loadColouring(scheme) {
    const { blocks } = this.app.state.graph;
    const names = [scheme, ...this.app.state.head.steps.map((/** @type {string} */ _, /** @type {number} */ at) => `${scheme}@${at}`).filter((/** @type {string} */ name) => blocks.has(`colour/${name}`))];
    const wanted = names.includes(`${scheme}@${this.app.state.stepIndex}`) ? `${scheme}@${this.app.state.stepIndex}` : scheme;
    // Boxes are wide enough for their words of every step.
    for (const name of names) await this.cachedColouring(name, names);
    return this.cachedColouring(wanted, names);
  }

  /** A colouring, made once. @param {string} name @param {string[]} names of this colouring and of those of other steps @returns {Promise<Colouring>} */
  async cachedColouring(name, names) {
    let colouring = this.colourings.get(name);
    if (!colouring) {
      colouring = await loadStoredColouring(this.app.state.graph, name);
      colouring.stepColourings = () => names.map((step) => this.colourings.get(step)).filter(Boolean);
      this.colourings.set(name, colouring);
    }
    return colouring;
  }

  /** Set the attributes of an element for scripts and screen readers. @param {any} item @param {any} element */
  describeElement(item, element) {
    if (item.box >= 0 && item.layer !== "titles") {
      const box = this.scene?.boxes[item.box] ?? this.picture.scene.boxes[item.box];
      const name = visibleText(box.address);
      const [place, count] = this.siblings[item.box] ?? [1, 1];
      setAttributes(element, {
        id: this.elementId(box),
        class: `node ${box.open ? "frame" : "closed"}`,
        "data-name": name,
        "data-kind": box.kind,
        role: "treeitem",
        "aria-level": box.depth + 1,
        "aria-posinset": place,
        "aria-setsize": count,
        "aria-expanded": box.openable ? String(box.open) : null,
        "aria-selected": String(this.app.state.hostPath !== null && this.app.state.graph.address(this.app.state.hostPath) === box.address),
        "aria-label": shortText(item.tip || box.title || box.address),
      });
      return;
    }
    setAttributes(element, { role: "none" });
    if (item.route) {
      setAttributes(element, { class: "line", "data-from": visibleText(item.route.identity.source), "data-to": visibleText(item.route.identity.target), "data-edge": item.route.kind });
    } else if (item.stub) {
      const stub = item.stub;
      const host = this.picture.scene.boxes[stub.box].address;
      const other = stub.other >= 0 ? stub.identities[0] : null;
      const name = other ? (other.source === host ? other.target : other.source) : "";
      setAttributes(element, { class: `stub ${stub.kind}`, "data-stub": visibleText(name), "data-of": visibleText(host) });
    } else if (item.box >= 0) {
      setAttributes(element, { class: "head", "aria-hidden": "true" });
    }
  }

  /** Bring the lines of the selected box and of the one under the pointer to the front. */
  highlightLines() {
    const names = [this.app.state.hostPath ? this.app.state.graph.address(this.app.state.hostPath) : null, this.hovered];
    this.picture.highlight(new Set(names.filter((address) => address !== undefined && address !== null)), (line) => this.isOnTrace(line.identity));
  }

  /** Mark the selected, traced and found boxes in the picture. */
  updateEmphasis() {
    const { picture } = this;
    const { graph } = this.app.state;
    this.highlightLines();
    if (picture.isTraced !== !!this.app.state.traced) {
      picture.isTraced = !!this.app.state.traced;
      if (picture.scene) picture.refresh(false);
    }
    this.emphasis = {
      chosen: this.app.state.hostPath ? graph.address(this.app.state.hostPath) : null,
      row: this.app.state.selected ? this.app.state.selected[this.app.state.selected.length - 1] : -1,
      trace: this.app.state.traced ? this.app.state.rowPrefixSums(this.app.state.traced.rows) : null,
      marks: this.app.state.marked.size ? this.app.state.rowPrefixSums(this.app.state.marked) : null,
      over: this.boxesOfLegendRow(this.hoveredKey),
      only: this.boxesOfLegendRow(this.keptKey),
    };
    for (const item of picture.items) if (item.element) this.emphasizeElement(item, item.element);
    this.drawRing();
    setAttributes(this.svg, { "aria-activedescendant": this.app.state.hostPath ? `n-${graph.key(this.app.state.hostPath)}` : null });
  }

  /** The closed boxes of a row of the legend; null for none. @param {string} label @returns {Set<number> | null} */
  boxesOfLegendRow(label) {
    if (!label || !this.painter || !this.scene) return null;
    const indexes = new Set();
    this.scene.boxes.forEach((/** @type {any} */ box, /** @type {number} */ at) => {
      if (!box.open && this.painter?.isInLegendRow(label, this.places.get(box.address) ?? [box.row])) indexes.add(at);
    });
    return indexes;
  }

  /** Emphasise or fade one item. @param {any} item @param {any} element */
  emphasizeElement(item, element) {
    const { chosen, row, trace, marks, over, only } = this.emphasis;
    const { boxes } = this.picture.scene;
    const { classList } = element;
    const lives = (/** @type {Int32Array} */ sums, /** @type {number} */ at) => sums[this.app.state.graph.end[at]] - sums[at] > 0;
    const seen = (/** @type {number} */ box) => !trace || box < 0 || lives(trace, boxes[box].row);
    if (item.box >= 0) {
      const box = boxes[item.box];
      const isChosen = box.address === chosen;
      if (item.layer !== "titles") element.setAttribute("aria-selected", String(isChosen));
      classList.toggle("selected", isChosen);
      classList.toggle("found", !!marks && !box.open && lives(marks, box.row));
      classList.toggle("keyed", !!over && over.has(item.box));
      classList.toggle("faded", (!!trace && !seen(item.box)) || (!!only && !box.open && !only.has(item.box)));
    } else if (item.route) {
      classList.toggle("faded", !this.isOnTrace(item.route.identity) || (!!only && !(only.has(item.route.source) && only.has(item.route.target))));
    } else if (item.stub) {
      const { other, identities } = item.stub;
      classList.toggle("twin", row >= 0 && other === row);
      classList.toggle("found", !!marks && other >= 0 && lives(marks, other) && this.app.state.graph.mark[other] > 0);
      classList.toggle("faded", identities.length > 0 && !identities.some((/** @type {any} */ identity) => this.isOnTrace(identity)));
    } else if (item.layer === "free" || item.layer === "ports") classList.toggle("faded", !!trace || !!only);
  }

  /** Whether the trace goes along a line; true without a trace. @param {any} identity */
  isOnTrace({ source, target }) {
    if (!this.app.state.traced) return true;
    const { graph } = this.app.state;
    const ends = [source, target].map((name) => this.places.get(name) ?? graph.pathOfAddress(name));
    if (!ends[0] || !ends[1]) return false;
    const [from, to] = ends.map((path) => /** @type {Path} */ (path)[/** @type {Path} */ (path).length - 1]);
    return this.app.state.traced.edges.hasBetween(from, graph.end[from], to, graph.end[to]);
  }

  /** The box of a path, if it is shown. @param {Path} path @returns {any} */
  boxAt(path) {
    return this.scene?.boxes[this.picture.boxOf.get(this.app.state.graph.address(path)) ?? -1];
  }

  /** Draw the ring around the selected box. */
  drawRing() {
    const box = this.app.state.hostPath && this.picture.scene ? this.boxAt(this.app.state.hostPath) : null;
    this.ringElement ??= svgEl("rect", { class: "ring", fill: "none" });
    if (!box) return this.ringElement.remove();
    const radius = layout.is_pill(box) && !box.open ? Math.min(15, box.height / 2 + 3) : 8;
    setAttributes(this.ringElement, { x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6, rx: radius, stroke: this.paint.theme.selected });
    this.picture.world.append(this.ringElement);
  }
}
