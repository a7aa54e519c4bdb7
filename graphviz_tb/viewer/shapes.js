// Create the elements of drawing primitives.

import { svgEl, visibleText } from "./dom.js";

/** A number with at most one decimal. @param {number} value */
export const numberText = (value) => String(Math.round(value * 10) / 10);

/** A number with at most two decimals. @param {number} value */
export const coordinateText = (value) => String(Math.round(value * 100) / 100);

/** Path data of steps, moved and scaled. @param {[string, number[]][]} steps @param {number} x @param {number} y @param {number} scale */
function pathData(steps, x, y, scale) {
  const write = scale === 1 ? numberText : coordinateText;
  const place = (/** @type {number[]} */ at, first = 0) => at.map((value, axis) => write(value * scale + ((axis + first) % 2 ? y : x))).join(" ");
  return steps
    .map(([command, at]) => (command === "A" ? `A${write(at[0] * scale)} ${write(at[0] * scale)} 0 0 1 ${place(at.slice(1))}` : command + place(at, command === "V" ? 1 : 0)))
    .join("");
}

/** @param {any} pen @param {number} [scale] */
function strokeAttributes(pen, scale = 1) {
  if (!pen) return {};
  return {
    stroke: pen.colour,
    "stroke-width": pen.width * scale === 1 ? null : coordinateText(pen.width * scale),
    "stroke-dasharray": pen.dashes.map(numberText).join(" ") || null,
    "stroke-linecap": pen.cap === "butt" ? null : pen.cap,
    "stroke-linejoin": pen.join === "miter" ? null : pen.join,
  };
}

/** One primitive as an element, moved by `dx` and `dy`, because a transform per element would cost time in each frame.
 * @param {any} shape @param {Element} parent @param {number} dx @param {number} dy */
function shapeElement(shape, parent, dx, dy) {
  if (shape instanceof layout.Rectangle || shape instanceof layout.Hatch) {
    const hatch = shape instanceof layout.Hatch;
    const size = { x: numberText(shape.x + dx), y: numberText(shape.y + dy), width: numberText(shape.width), height: numberText(shape.height), rx: shape.radius ? numberText(shape.radius) : null };
    return svgEl("rect", { ...size, fill: hatch ? "url(#hatch)" : (shape.fill ?? "none"), ...strokeAttributes(shape.pen) }, parent);
  }
  if (shape instanceof layout.Disc) return svgEl("circle", { cx: numberText(shape.x + dx), cy: numberText(shape.y + dy), r: numberText(shape.radius), fill: shape.fill, ...strokeAttributes(shape.pen) }, parent);
  if (shape instanceof layout.Curve) {
    const d = pathData(shape.steps, shape.at[0] + dx, shape.at[1] + dy, shape.scale);
    return svgEl("path", { d, fill: shape.fill ?? "none", ...strokeAttributes(shape.pen, shape.scale) }, parent);
  }
  return textElement(shape, parent, dx, dy);
}

/** A text drawn at its measured width. @param {any} label @param {Element} parent @param {number} dx @param {number} dy */
function textElement(label, parent, dx, dy) {
  const halo = label.halo ? { stroke: label.halo, "stroke-width": 6, "stroke-linejoin": "round", "paint-order": "stroke" } : {};
  const element = svgEl(
    "text",
    {
      x: numberText(label.x + dx),
      y: numberText(label.y + dy),
      "font-size": label.size,
      "font-weight": label.semibold ? 600 : null,
      "text-anchor": label.anchor === "start" ? null : label.anchor,
      textLength: label.width,
      lengthAdjust: "spacingAndGlyphs",
      fill: label.colour,
      ...halo,
    },
    parent,
  );
  const spaced = /^ | $| {2}/.test(label.content) ? label.content.replaceAll(" ", "\u00a0") : label.content;
  element.textContent = visibleText(spaced);
  return element;
}

/** A group of primitives. @param {any} group @param {Element} [parent] */
export function groupElement(group, parent) {
  const element = svgEl("g", {}, parent);
  for (const shape of group.shapes) shapeElement(shape, element, group.at[0], group.at[1]);
  return element;
}

/** A frame at a small scale: only its outline. @param {any} group @param {number} far */
export const outlinePath = (group, far) => (far === 2 ? Object.assign(new layout.Group(group.shapes.slice(0, 1)), { tooltip: group.tooltip }) : group);

/** Many lines at a small scale: one path for each pen, without arrow heads. @param {any[]} routes @param {number} first @param {any} paint */
export function bundlePath(routes, first, paint) {
  const curves = new Map();
  routes.forEach((route, at) => {
    for (const shape of layout.route(route, paint.theme, false, paint.tints.routes[first + at]).shapes) {
      if (!(shape instanceof layout.Curve) || !shape.pen || shape.fill || shape.scale !== 1) continue;
      const key = JSON.stringify(shape.pen);
      if (!curves.has(key)) curves.set(key, new layout.Curve([], null, shape.pen));
      curves.get(key).steps.push(...shape.steps);
    }
  });
  return new layout.Group([...curves.values()]);
}

/** The rectangle around points. @param {number[][]} points @param {number} room */
export function rectAround(points, room) {
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  return [Math.min(...xs) - room, Math.min(...ys) - room, Math.max(...xs) + room, Math.max(...ys) + room];
}

/** The distance of a point from a segment. @param {number} x @param {number} y @param {number[]} a @param {number[]} b */
export function pointDistance(x, y, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const long = dx * dx + dy * dy;
  const share = long ? Math.max(0, Math.min(1, ((x - a[0]) * dx + (y - a[1]) * dy) / long)) : 0;
  return Math.hypot(x - a[0] - share * dx, y - a[1] - share * dy);
}
