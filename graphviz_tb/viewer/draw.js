// The picture: primitives become elements, those in view only, coarser ones where it is seen from afar.

const LAYERS = ["frames", "rules", "edges", "chosen", "stubs", "nodes", "titles", "ports", "free"];
const MARGIN = 300; // pixels around the window that are drawn ahead of a pan
const NEAR = 0.5; // below this scale a label of 12 would be under 6 pixels: names are written large instead
const FAR = 0.2; // below this one boxes are specks: whole groups are named
const READABLE = 7; // pixels

/** A number with at most one decimal. @param {number} value */
const num = (value) => String(Math.round(value * 10) / 10);

/** Path data of steps. @param {[string, number[]][]} steps */
function pathData(steps) {
  return steps
    .map(([command, at]) => (command === "A" ? `A${num(at[0])} ${num(at[0])} 0 0 1 ${num(at[1])} ${num(at[2])}` : command + at.map(num).join(" ")))
    .join("");
}

/** @param {any} pen */
function stroke(pen) {
  if (!pen) return {};
  return {
    stroke: pen.colour,
    "stroke-width": pen.width === 1 ? null : num(pen.width),
    "stroke-dasharray": pen.dashes.map(num).join(" ") || null,
    "stroke-linecap": pen.cap === "butt" ? null : pen.cap,
    "stroke-linejoin": pen.join === "miter" ? null : pen.join,
  };
}

/** One primitive as an element. @param {any} one @param {Element} parent */
function shape(one, parent) {
  if (one instanceof layout.Rect || one instanceof layout.Hatch) {
    const hatch = one instanceof layout.Hatch;
    const size = { x: num(one.x), y: num(one.y), width: num(one.width), height: num(one.height), rx: one.radius ? num(one.radius) : null };
    return svgEl("rect", { ...size, fill: hatch ? "url(#hatch)" : (one.fill ?? "none"), ...stroke(one.pen) }, parent);
  }
  if (one instanceof layout.Disc) return svgEl("circle", { cx: num(one.x), cy: num(one.y), r: num(one.radius), fill: one.fill, ...stroke(one.pen) }, parent);
  if (one instanceof layout.Curve) {
    const moved = one.at[0] || one.at[1] || one.scale !== 1 ? `translate(${one.at[0]} ${one.at[1]}) scale(${one.scale})` : null;
    return svgEl("path", { d: pathData(one.steps), fill: one.fill ?? "none", ...stroke(one.pen), transform: moved }, parent);
  }
  return written(one, parent);
}

/** A text, held to its measured width. @param {any} one @param {Element} parent */
function written(one, parent) {
  const halo = one.halo ? { stroke: one.halo, "stroke-width": 6, "stroke-linejoin": "round", "paint-order": "stroke" } : {};
  const found = svgEl(
    "text",
    {
      x: num(one.x),
      y: num(one.y),
      "font-size": one.size,
      "font-weight": one.semibold ? 600 : null,
      "text-anchor": one.anchor === "start" ? null : one.anchor,
      textLength: one.width,
      lengthAdjust: "spacingAndGlyphs",
      fill: one.colour,
      ...halo,
    },
    parent,
  );
  const spaced = /^ | $| {2}/.test(one.content) ? one.content.replaceAll(" ", "\u00a0") : one.content;
  found.textContent = safe(spaced);
  return found;
}

/** A group of primitives. @param {any} group @param {Element} [parent] */
function grouped(group, parent) {
  const at = group.at[0] || group.at[1] ? `translate(${group.at[0]} ${group.at[1]})` : null;
  const found = svgEl("g", { transform: at }, parent);
  for (const one of group.shapes) shape(one, found);
  return found;
}

/**
 * One thing of a scene that is drawn by itself.
 * @typedef {{key: string, layer: string, rect: number[], make: (far: number) => any, tip: string, box: number, route: any, stub: any,
 *   element: any, far: number}} Item
 */

class Picture {
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
    this.far = 0;
    this.scale = 1;
    this.stamp = 0;
    /** @type {any} */
    this.paint = null;
    /** @type {Map<string, Path>} */
    this.places = new Map();
    this.view = [0, 0, 0, 0];
    this.chosen = new Set();
    /** @type {Set<number> | null} */
    this.lit = null;
    /** @type {(item: Item, element: any) => void} */
    this.dress = () => {};
  }

  /** Show a scene in its colours. @param {any} scene @param {any} paint @param {Map<string, Path>} places */
  set(scene, paint, places) {
    this.scene = scene;
    this.paint = paint;
    this.places = places;
    this.items = [];
    const { theme } = paint;
    /** @type {Map<number, any[]>} */
    const inside = new Map();
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
        this.add("frames", `b:${box.address}`, rect, (far) => layout.node(scene, at, paint, [], none), box.title, { box: at });
        this.add("titles", `t:${box.address}`, rect, (far) => (far ? this.title(box) : layout.titles(box, inside.get(at) ?? [], theme)), box.title, { box: at });
      } else {
        this.add("nodes", `b:${box.address}`, rect, (far) => (far ? this.distant(box, at, far) : layout.node(scene, at, paint, inside.get(at) ?? [], none)), "", { box: at });
      }
    });
    for (const rule of scene.rules) this.add("rules", "", [rule.x1, rule.y1, rule.x2, rule.y2], () => layout.rule(rule, theme), "", {});
    scene.routes.forEach((/** @type {any} */ one, /** @type {number} */ at) => {
      this.add("edges", this.lineKey(one, at), around(one.points, 8), () => layout.route(one, theme, false, paint.tints.routes[at]), one.title, { route: one });
    });
    scene.stubs.forEach((/** @type {any} */ one, /** @type {number} */ at) => {
      const rect = around([...one.points, [one.x, one.y], [one.x + one.width, one.y + one.height]], 8);
      const key = `s:${nameOf(one.box)}:${one.side}:${one.other}:${one.kind}`;
      this.add("stubs", key, rect, () => layout.stub(theme, one, paint.stubs[at], paint.tints.stubs[at]), one.title, { stub: one });
    });
    scene.ports.forEach((/** @type {any} */ one) => {
      this.add("ports", `p:${one.group}:${one.slot}`, [one.x - 4, one.y - 4, one.x + 4, one.y + 4], () => layout.port(one, theme), one.title, {});
    });
    for (const text of inside.get(-1) ?? []) {
      const left = text.anchor === "start" ? text.x : text.anchor === "end" ? text.x - text.width : text.x - text.width / 2;
      this.add("free", `x:${text.role}:${text.box < 0 ? "" : nameOf(text.box)}:${text.full}`, [left - 4, text.y - 14, left + text.width + 4, text.y + 6],
        () => layout.free(text, scene, theme), text.full === text.content ? "" : text.full, {});
    }
    this.byKey = new Map(this.items.map((item) => [item.key, item]));
    this.boxOf = new Map(scene.boxes.map((/** @type {any} */ box, /** @type {number} */ at) => [box.address, at]));
    for (const layer of Object.values(this.layers)) empty(layer);
    this.refresh(true);
  }

  /** @param {any} one @param {number} at */
  lineKey(one, at) {
    const { group, kind, index } = one.identity;
    return index >= 0 ? `e:${group}:${kind}:${index}` : `e:${at}`;
  }

  /** @param {string} layer @param {string} key @param {number[]} rect @param {(far: number) => any} make @param {string} tip @param {any} more */
  add(layer, key, rect, make, tip, more) {
    this.items.push({ layer, key, rect, make, tip, box: -1, route: null, stub: null, element: null, far: -1, ...more });
  }

  /** A closed box as it is seen from afar: its outline and its name as large as it fits. @param {any} box @param {number} at @param {number} far */
  distant(box, at, far) {
    const fill = this.paint.boxes[at];
    const [x, y, width, height] = layout.front(box);
    const radius = layout.is_pill(box) ? Math.min(12, height / 2) : 6;
    const shapes = [new layout.Rect(x + 0.5, y + 0.5, width - 1, height - 1, radius, fill.fill, { colour: fill.stroke, width: 1, dashes: [], cap: "butt", join: "miter" })];
    if (far === 1) {
      const text = this.label(box);
      const size = Math.min(height * 0.62, (12 * (width - 8)) / Math.max(1, layout.width(text, 12)));
      if (size >= 12) shapes.push(new layout.Label(text, x + width / 2, y + height / 2 + size * 0.34, Math.round(size * 10) / 10, Math.round((layout.width(text, 12) * size) / 12), fill.text, "middle"));
    }
    return new layout.Group(shapes, box.address, box.title);
  }

  /** The name of an open group as it is seen from afar. @param {any} box */
  title(box) {
    const text = this.label(box);
    const { scale } = this;
    const wide = layout.width(text, 12, true);
    const size = Math.round(Math.min(11 / scale, (12 * (box.width - 12)) / Math.max(1, wide), box.height * 0.5, 240));
    if (size * scale < 5 || !text) return new layout.Group([]);
    const { theme } = this.paint;
    const ground = theme.frame(box.depth + 1);
    return new layout.Group([new layout.Label(text, box.x + 6, box.y + size, size, Math.round((wide * size) / 12), theme.text, "start", true, ground)]);
  }

  /** The word that a box bears. @param {any} box */
  label(box) {
    const leaf = box.address.split("::").pop() ?? "";
    return layout.elide(safe(leaf.slice(leaf.lastIndexOf("/", leaf.length - 2) + 1)), 240, 12);
  }

  /** The part of the world that is drawn, and how far away it is. @param {number[]} view @param {number} scale */
  look(view, scale) {
    const far = scale >= NEAR ? 0 : scale >= FAR ? 1 : 2;
    const other = far !== this.far || (far > 0 && Math.abs(Math.log2(scale / this.scale)) > 0.25);
    this.view = view;
    if (other || far === 0) this.scale = scale;
    if (other) {
      this.far = far;
      for (const item of this.items) if (item.layer === "nodes" || item.layer === "titles") item.far = -1;
    }
    this.refresh(false);
  }

  /** Whether an item is drawn at this distance. @param {Item} item */
  wanted(item) {
    const [left, top, right, bottom] = this.view;
    const { rect } = item;
    if (rect[0] > right || rect[2] < left || rect[1] > bottom || rect[3] < top) return false;
    if (this.far && (item.layer === "free" || item.layer === "ports")) return false;
    if (this.far === 2 && item.layer === "stubs") return false;
    if (this.far === 2 && item.box >= 0 && (item.layer === "nodes" || item.layer === "frames")) {
      const box = this.scene.boxes[item.box];
      return Math.max(box.width, box.height) * this.scale > 2.5;
    }
    return true;
  }

  /** Draw what is in view and was not, take away what is not. @param {boolean} all */
  refresh(all) {
    /** @type {Record<string, any>} */
    const next = {};
    for (const name of LAYERS) next[name] = this.layers[name].firstChild;
    this.stamp++;
    const seen = this.items.filter((item) => this.wanted(item));
    for (const item of seen) {
      if (!item.element || item.far !== this.far) this.build(item);
      item.element.stamp = this.stamp;
    }
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
  }

  /** Make the element of an item. @param {Item} item */
  build(item) {
    const before = item.element;
    const group = item.make(this.far);
    item.element = grouped(group);
    item.element.item = item;
    if (item.box >= 0 && item.layer === "nodes") item.tip = group.tooltip;
    item.far = this.far;
    this.dress(item, item.element);
    if (before?.parentNode) before.replaceWith(item.element);
  }

  /** Bring lines to the front: those that touch one of these boxes. @param {Set<string>} addresses */
  highlight(addresses) {
    this.chosen = addresses;
    empty(this.layers.chosen);
    if (!this.scene) return;
    const numbers = new Set([...addresses].map((name) => this.boxOf.get(name)).filter((at) => at !== undefined));
    for (const one of this.scene.routes) {
      const mine = numbers.has(one.source) || numbers.has(one.target) || addresses.has(one.identity.source) || addresses.has(one.identity.target);
      if (mine) this.layers.chosen.append(grouped(layout.route(one, this.paint.theme, true, null)));
    }
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
        const away = distance(x, y, points[at - 1], points[at]);
        if (away < least) [best, least] = [item, away];
      }
    }
    return best;
  }
}

/** The rectangle around points. @param {number[][]} points @param {number} room */
function around(points, room) {
  const xs = points.map((one) => one[0]);
  const ys = points.map((one) => one[1]);
  return [Math.min(...xs) - room, Math.min(...ys) - room, Math.max(...xs) + room, Math.max(...ys) + room];
}

/** How far a point lies from a run. @param {number} x @param {number} y @param {number[]} a @param {number[]} b */
function distance(x, y, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const long = dx * dx + dy * dy;
  const share = long ? Math.max(0, Math.min(1, ((x - a[0]) * dx + (y - a[1]) * dy) / long)) : 0;
  return Math.hypot(x - a[0] - share * dx, y - a[1] - share * dy);
}
