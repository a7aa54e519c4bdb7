// The picture: draw primitives as elements, only those in view, with less detail at a small scale.

import { removeChildren, setAttributes, shortText, svgEl, visibleText } from "./dom.js";
import { bundlePath, groupElement, outlinePath, pointDistance, rectAround } from "./shapes.js";

export const LAYERS = ["frames", "rules", "edges", "chosen", "stubs", "nodes", "titles", "ports", "free"];
export const DRAWN_MARGIN_PX = 300; // pixels around the window that are drawn in advance
export const READABLE_SCALE = 0.5; // below this scale a label of 12 would be under 6 pixels: names are written large instead
const DISTANT_SCALE = 0.2; // below this scale boxes are specks: only groups have names
const LINES_PER_BUNDLE = 64; // lines that share an element at a small scale

/**
 * An item of a scene that is drawn separately.
 * @typedef {{key: string, layer: string, rect: number[], make: (far: number) => any, tip: string, box: number, route: any, stub: any,
 *   bundle: boolean, blank: boolean, element: any, far: number, look: string, at: number}} Item
 */

/** @type {WeakMap<any, string>} */
const FILL_KEYS = new WeakMap();

/** A fill as a text key; many boxes share a fill. @param {any} fill */
function fillKey(fill) {
  if (!fill) return "";
  let key = FILL_KEYS.get(fill);
  if (key === undefined) FILL_KEYS.set(fill, (key = JSON.stringify(fill)));
  return key;
}

export class Picture {
  /** @param {HTMLElement} stage @param {any} svg */
  constructor(stage, svg) {
    this.stage = stage;
    this.svg = svg;
    this.world = svgEl("g", { id: "world", role: "none" }, svg);
    /** @type {Record<string, any>} */
    this.layers = {};
    for (const name of LAYERS) this.layers[name] = svgEl("g", { class: name, role: "none" }, this.world);
    /** @type {any} */
    this.scene = null;
    /** @type {Item[]} */
    this.items = [];
    /** @type {Map<string, Item>} */
    this.byKey = new Map();
    /** @type {Map<string, number>} */
    this.boxOf = new Map();
    /** @type {Map<number, any[]>} the texts in each box */
    this.textsByBox = new Map();
    this.far = 0;
    this.scale = 1;
    this.stamp = 0;
    /** @type {any} */
    this.paint = null;
    /** @type {Map<string, Path>} */
    this.places = new Map();
    this.view = [0, 0, 0, 0];
    this.chosen = new Set();
    /** @type {(route: any) => boolean} whether a line may be brought to the front */
    this.mayHighlight = () => true;
    /** whether lines are drawn separately at any scale */
    this.isTraced = false;
    /** @type {Set<number> | null} */
    this.lit = null;
    /** @type {(item: Item, element: any) => void} */
    this.onElement = () => {};
  }

  /** Show a scene in its colours. @param {any} scene @param {any} paint @param {Map<string, Path>} places */
  setScene(scene, paint, places) {
    this.scene = scene;
    this.paint = paint;
    this.places = places;
    this.items = [];
    const { theme } = paint; // only the theme: the colours of boxes may change, and are read when a box is drawn
    /** @type {Map<number, any[]>} */
    const inside = new Map();
    this.textsByBox = inside;
    for (const text of scene.texts) {
      const box = text.inside ? text.box : -1;
      if (!inside.has(box)) inside.set(box, []);
      inside.get(box).push(text);
    }
    const none = new Set();
    const nameOf = (/** @type {number} */ at) => scene.boxes[at].address;
    scene.boxes.forEach((/** @type {any} */ box, /** @type {number} */ at) => {
      const rect = [box.x - 6, box.y - 6, box.x + box.width + 6, box.y + box.height + 6];
      if (box.open) {
        this.addItem("frames", `b:${box.address}`, rect, (far) => outlinePath(layout.node(scene, at, this.paint, [], none), far), box.title, { box: at });
        this.addItem("titles", `t:${box.address}`, rect, (far) => (far ? this.distantTitle(box, at) : layout.titles(box, inside.get(at) ?? [], theme)), box.title, { box: at });
      } else {
        this.addItem("nodes", `b:${box.address}`, rect, (far) => (far ? this.distantBox(box, at, far) : layout.node(scene, at, this.paint, inside.get(at) ?? [], none)), "", { box: at });
      }
    });
    for (const rule of scene.rules) this.addItem("rules", "", [rule.x1, rule.y1, rule.x2, rule.y2], () => layout.rule(rule, theme), "", {});
    for (const web of scene.webs)
      for (const group of layout.web(web, scene, theme)) this.addItem("edges", "", [0, 0, scene.width, scene.height], () => group, "", {});
    for (const at of layout.in_front_last(scene, paint)) {
      const route = scene.routes[at];
      this.addItem("edges", this.lineKey(route, at), rectAround(route.points, 8), () => layout.route(route, theme, false, paint.tints.routes[at]), route.title, { route: route });
    }
    for (let at = 0; at < scene.routes.length; at += LINES_PER_BUNDLE) {
      const some = scene.routes.slice(at, at + LINES_PER_BUNDLE);
      this.addItem("edges", "", rectAround(some.flatMap((/** @type {any} */ route) => route.points), 8), () => bundlePath(some, at, paint), "", { bundle: true });
    }
    scene.stubs.forEach((/** @type {any} */ stub, /** @type {number} */ at) => {
      const rect = rectAround([...stub.points, [stub.x, stub.y], [stub.x + stub.width, stub.y + stub.height]], 8);
      const key = `s:${nameOf(stub.box)}:${stub.side}:${stub.other}:${stub.kind}`;
      this.addItem("stubs", key, rect, () => layout.stub(theme, stub, this.paint.stubs[at], paint.tints.stubs[at]), stub.title, { stub: stub, at });
    });
    scene.ports.forEach((/** @type {any} */ port) => {
      this.addItem("ports", `p:${port.group}:${port.slot}`, [port.x - 4, port.y - 4, port.x + 4, port.y + 4], () => layout.port(port, theme), port.title, {});
    });
    for (const text of inside.get(-1) ?? []) {
      const left = text.anchor === "start" ? text.x : text.anchor === "end" ? text.x - text.width : text.x - text.width / 2;
      this.addItem("free", `x:${text.role}:${text.box < 0 ? "" : nameOf(text.box)}:${text.full}`, [left - 4, text.y - 14, left + text.width + 4, text.y + 6],
        () => layout.free(text, scene, theme), text.full === text.content ? "" : text.full, {});
    }
    this.byKey = new Map(this.items.map((item) => [item.key, item]));
    this.boxOf = new Map(scene.boxes.map((/** @type {any} */ box, /** @type {number} */ at) => [box.address, at]));
    for (const layer of Object.values(this.layers)) removeChildren(layer);
    this.refresh(true);
  }

  /** Paint the same scene in other colours; items that look the same are left alone. @param {any} paint of the same scene and theme */
  recolour(paint) {
    const { boxes } = this.paint;
    this.paint = paint;
    for (const item of this.items) {
      if (!item.element || (item.box < 0 && !item.stub)) continue;
      const look = this.paintKey(item);
      if (look === item.look) continue;
      if (item.layer === "nodes" && item.far === this.far && item.element.parentNode && this.recolourElement(item, boxes[item.box])) item.look = look;
      else if (item.element.parentNode) this.buildElement(item);
      else item.far = -1; // created again when it comes into view
    }
  }

  /** Change the colours and the second line of a closed box's element in place; return whether that was enough. @param {Item} item @param {any} old its fill before */
  recolourElement(item, old) {
    const now = this.paint.boxes[item.box];
    if (!old.hued || !now.hued || old.badge !== now.badge || old.hatch || now.hatch || old.bands.length || now.bands.length) return false;
    const words = this.far ? [] : (this.textsByBox.get(item.box) ?? []);
    const children = [...item.element.children];
    const texts = children.filter((child) => child.tagName === "text").slice(-Math.max(1, words.length));
    if (words.length && texts.length !== words.length) return false;
    for (const child of children) {
      if (child.tagName === "text") continue;
      for (const side of ["fill", "stroke"]) {
        const colour = child.getAttribute(side);
        if (colour === old.fill) child.setAttribute(side, now.fill);
        else if (colour === old.stroke) child.setAttribute(side, now.stroke);
      }
    }
    texts.forEach((element, at) => {
      const word = words[at];
      element.setAttribute("fill", word?.role === "second" ? now.second : now.text);
      if (word?.role !== "second") return;
      element.setAttribute("textLength", word.width);
      element.textContent = visibleText(word.content);
    });
    const box = this.scene.boxes[item.box];
    item.tip = [box.title, this.paint.accounts[item.box]].filter(Boolean).join(" · ");
    item.element.setAttribute("aria-label", shortText(item.tip));
    return true;
  }

  /** The colours and texts of an item under the colouring, as a text key. @param {Item} item */
  paintKey(item) {
    if (item.stub) return fillKey(this.paint.stubs[item.at]);
    const texts = this.textsByBox.get(item.box) ?? [];
    return `${fillKey(this.paint.boxes[item.box])}${this.paint.accounts[item.box]}\n${texts.map((/** @type {any} */ text) => text.content).join("\n")}`;
  }

  /** @param {any} route @param {number} at */
  lineKey(route, at) {
    const { path, kind, index } = route.identity;
    return index >= 0 ? `e:${path.join(".")}:${kind}:${index}` : `e:${at}`;
  }

  /** @param {string} layer @param {string} key @param {number[]} rect @param {(far: number) => any} make @param {string} tip @param {any} more */
  addItem(layer, key, rect, make, tip, more) {
    this.items.push({ layer, key, rect, make, tip, box: -1, route: null, stub: null, bundle: false, blank: false, element: null, far: -1, look: "", at: -1, ...more });
  }

  /** A closed box at a small scale: its outline, and its name as large as it fits. @param {any} box @param {number} at @param {number} far */
  distantBox(box, at, far) {
    const fill = this.paint.boxes[at];
    const [x, y, width, height] = layout.front(box);
    const radius = layout.is_pill(box) ? Math.min(12, height / 2) : 6;
    const shapes = [new layout.Rectangle(x + 0.5, y + 0.5, width - 1, height - 1, radius, fill.fill, { colour: fill.stroke, width: 1, dashes: [], cap: "butt", join: "miter" })];
    if (far === 1) {
      const text = this.boxLabel(at);
      const size = Math.min(height * 0.62, (12 * (width - 8)) / Math.max(1, layout.width(text, 12)));
      if (size >= 12) shapes.push(new layout.Label(text, x + width / 2, y + height / 2 + size * 0.34, Math.round(size * 10) / 10, Math.round((layout.width(text, 12) * size) / 12), fill.text, "middle"));
    }
    return new layout.Group(shapes, box.address, box.title);
  }

  /** The name of an open group at a small scale. @param {any} box @param {number} at */
  distantTitle(box, at) {
    const text = this.boxLabel(at);
    const { scale } = this;
    const wide = layout.width(text, 12, true);
    const size = Math.round(Math.min(11 / scale, (12 * (box.width - 12)) / Math.max(1, wide), box.height * 0.5, 240));
    if (size * scale < 5 || !text) return new layout.Group([]);
    const { theme } = this.paint;
    const ground = theme.frame_fill(box.depth + 1);
    return new layout.Group([new layout.Label(text, box.x + 6, box.y + size, size, Math.round((wide * size) / 12), theme.text, "start", true, ground)]);
  }

  /** The name on a box, at any scale. @param {number} at */
  boxLabel(at) {
    return this.textsByBox.get(at)?.find((text) => text.role === "label" || text.role === "title")?.content ?? "";
  }

  /** Set the drawn part of the world and its scale; return whether all of it is drawn.
   * @param {number[]} view @param {number} scale @param {number} patience milliseconds that it may take */
  drawView(view, scale, patience = Infinity) {
    const far = scale >= READABLE_SCALE ? 0 : scale >= DISTANT_SCALE ? 1 : 2;
    const other = far !== this.far || (far > 0 && Math.abs(Math.log2(scale / this.scale)) > 0.25);
    this.view = view;
    if (other || far === 0) this.scale = scale;
    if (other) {
      this.far = far;
      for (const item of this.items) if (item.layer === "nodes" || item.layer === "titles") item.far = -1;
    }
    return this.refresh(false, patience);
  }

  /** Whether an item is drawn at this distance. @param {Item} item */
  isItemVisible(item) {
    const [left, top, right, bottom] = this.view;
    const { rect } = item;
    if (rect[0] > right || rect[2] < left || rect[1] > bottom || rect[3] < top) return false;
    if (this.far && (item.layer === "free" || item.layer === "ports")) return false;
    if (this.far === 2 && item.layer === "stubs") return false;
    if (item.bundle || item.route) return item.bundle === (this.far === 2 && !this.isTraced);
    if (this.far === 2 && item.box >= 0 && (item.layer === "nodes" || item.layer === "frames")) {
      const box = this.scene.boxes[item.box];
      return Math.max(box.width, box.height) * this.scale > 2.5;
    }
    return true;
  }

  /** Draw items that come into view, remove those that left it; return whether there was time for all.
   * @param {boolean} all @param {number} patience milliseconds */
  refresh(all, patience = Infinity) {
    const end = performance.now() + patience;
    /** @type {Record<string, any>} */
    const next = {};
    for (const name of LAYERS) next[name] = this.layers[name].firstChild;
    this.stamp++;
    let seen = this.items.filter((item) => this.isItemVisible(item));
    let left = 0;
    for (const item of seen) {
      if (item.blank && item.far === this.far) continue;
      if (!item.element || item.far !== this.far) {
        if (left || performance.now() > end) {
          left++;
          continue;
        }
        this.buildElement(item);
        if (item.blank) continue;
      }
      item.element.stamp = this.stamp;
    }
    seen = seen.filter((item) => item.element?.stamp === this.stamp);
    for (const item of seen) {
      const layer = this.layers[item.layer];
      let cursor = next[item.layer];
      while (cursor && cursor.stamp !== this.stamp) {
        const after = cursor.nextSibling;
        cursor.remove();
        cursor = after;
      }
      if (cursor === item.element) cursor = cursor.nextSibling;
      else layer.insertBefore(item.element, cursor);
      next[item.layer] = cursor;
    }
    for (const name of LAYERS) {
      if (name === "chosen") continue;
      let cursor = next[name];
      while (cursor) {
        const after = cursor.nextSibling;
        cursor.remove();
        cursor = after;
      }
    }
    if (all) this.highlight(this.chosen);
    return !left;
  }

  /** Make the element of an item. @param {Item} item */
  buildElement(item) {
    const before = item.element;
    const group = item.make(this.far);
    item.far = this.far;
    if (item.box >= 0 || item.stub) item.look = this.paintKey(item);
    item.blank = !group.shapes.length;
    if (item.blank) return;
    item.element = groupElement(group);
    item.element.item = item;
    item.element.stamp = before?.stamp;
    if (item.box >= 0 && item.layer === "nodes") item.tip = group.tooltip;
    this.onElement(item, item.element);
    if (before?.parentNode) before.replaceWith(item.element);
  }

  /** Bring lines to the front: those that touch one of these boxes. @param {Set<string>} addresses @param {(route: any) => boolean} shown */
  highlight(addresses, shown = this.mayHighlight) {
    this.chosen = addresses;
    this.mayHighlight = shown;
    removeChildren(this.layers.chosen);
    if (!this.scene) return;
    const numbers = new Set([...addresses].map((name) => this.boxOf.get(name)).filter((at) => at !== undefined));
    this.scene.routes.forEach((/** @type {any} */ route, /** @type {number} */ at) => {
      const touches = numbers.has(route.source) || numbers.has(route.target) || addresses.has(route.identity.source) || addresses.has(route.identity.target);
      if (!touches || !shown(route)) return;
      const tint = this.paint.tints.routes[at];
      const changeTint = tint?.sign ? tint : null; // keep the colour of a changed line in front too
      const line = groupElement(layout.route(route, this.paint.theme, true, changeTint), this.layers.chosen);
      setAttributes(line, { class: changeTint && "told", "data-from": visibleText(route.identity.source), "data-to": visibleText(route.identity.target) });
    });
  }

  /** The lines near a point of the world. @param {number} x @param {number} y @param {number} reach */
  lineAt(x, y, reach) {
    let best = null;
    let least = reach;
    for (const item of this.items) {
      if (!item.route || item.element?.stamp !== this.stamp) continue;
      const { rect } = item;
      if (x < rect[0] || x > rect[2] || y < rect[1] || y > rect[3]) continue;
      const { points } = item.route;
      for (let at = 1; at < points.length; at++) {
        const away = pointDistance(x, y, points[at - 1], points[at]);
        if (away < least) [best, least] = [item, away];
      }
    }
    return best;
  }
}
