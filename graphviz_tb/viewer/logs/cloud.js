// A cloud of points that can be rotated, moved and marked: its canvas, its labels, and its gestures.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { PixelPainter, createCloudPainter } from "./cloud_paint.js";
import { CloudView } from "./cloud_view.js";

const MAX_CLICK_PX = 4; // px that the pointer may move during a click
export const MAX_CLOUD_LABELS = 80; // labels of points at once
const RADIANS_PER_PX = 0.008; // radians a pixel

/**
 * @typedef {{hover: (row: number, x: number, y: number) => void, pick: (row: number, add: boolean) => void, lasso: (rows: number[], add: boolean) => void, label: (row: number) => string}} CloudHooks
 */

export class Cloud {
  /** @param {CloudHooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.view = new CloudView();
    /** the effect of a drag: "turn", "lasso" or "box" */
    this.tool = "turn";
    this.points = el("canvas", { class: "cloud-points" });
    this.overlay = el("canvas", { class: "cloud-over" });
    this.root = el("div", { class: "cloud", tabindex: "0", role: "application", "aria-label": t("log.page.projector") }, this.points, this.overlay);
    /** @type {GlPainter | PixelPainter} */
    this.painter = this.createPainter();
    /** @type {number[]} rows with a label, the most important first */
    this.labelled = [];
    this.hovered = -1;
    /** @type {number[][]} */
    this.outline = [];
    /** @type {Map<number, {x: number, y: number}>} */
    this.fingers = new Map();
    this.movedPx = 0;
    /** number of drawn frames, for tests */
    this.frameCount = 0;
    new ResizeObserver(() => this.resize()).observe(this.root);
    this.connectGestures();
  }

  /** Create a painter on the graphics card, else one of pixels. @returns {GlPainter | PixelPainter} */
  createPainter() {
    this.points.addEventListener("webglcontextlost", () => this.fallBack());
    try {
      return createCloudPainter(this.points);
    } catch {
      return this.createPixelPainter();
    }
  }

  /** Create a painter of pixels on a new canvas: one used by WebGL has no other context. */
  createPixelPainter() {
    const canvas = el("canvas", { class: "cloud-points" });
    this.points.replaceWith(canvas);
    this.points = canvas;
    return new PixelPainter(canvas);
  }

  /** The graphics card was lost: draw without it. */
  fallBack() {
    const { look } = this.painter;
    this.painter = this.createPixelPainter();
    if (look) this.painter.setLook(look);
    this.resize();
  }

  connectGestures() {
    const { root } = this;
    root.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.onPress(event));
    root.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.onMove(event));
    root.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => this.onRelease(event));
    root.addEventListener("pointercancel", (/** @type {PointerEvent} */ event) => this.onRelease(event));
    root.addEventListener("pointerleave", () => this.setHovered(-1, 0, 0));
    root.addEventListener("contextmenu", (/** @type {Event} */ event) => event.preventDefault());
    root.addEventListener("wheel", (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      const { x, y } = this.canvasPosition(event);
      this.view.zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), x, y);
      this.draw();
    }, { passive: false });
    root.addEventListener("dblclick", () => this.fit());
  }

  /** @param {MouseEvent} event */
  canvasPosition(event) {
    const box = this.root.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.root;
    if (!width || !height) return;
    this.ratio = Math.min(2, devicePixelRatio || 1);
    for (const canvas of [this.points, this.overlay]) Object.assign(canvas, { width: Math.round(width * this.ratio), height: Math.round(height * this.ratio) });
    this.view.resize(width, height);
    this.draw();
  }

  /** @param {CloudPlaces} places @param {boolean} flat @param {Uint8Array | null} there */
  setPlaces(places, flat, there) {
    this.view.shownPoints = there;
    this.view.setPlaces(places, flat);
    this.painter.setPlaces(places);
    this.draw();
  }

  /** @param {CloudLook} look @param {number[]} labelled */
  setLook(look, labelled) {
    this.labelled = labelled;
    this.painter.setLook(look);
    this.draw();
  }

  /** Show all points, or some. @param {number[]} [rows] */
  fit(rows) {
    this.view.reset();
    if (rows?.length) this.view.fit(rows);
    this.draw();
  }

  /** Draw in the next frame, once for all requests before it. */
  draw() {
    if (this.isDrawPending) return;
    this.isDrawPending = true;
    requestAnimationFrame(() => {
      this.isDrawPending = false;
      if (!this.ratio) return;
      this.frameCount++;
      this.painter.paint(this.view, this.ratio);
      this.drawOver();
    });
  }

  /** Draw labels of points, none over another, and the outline. */
  drawOver() {
    const pen = this.overlay.getContext("2d");
    const look = getComputedStyle(this.root);
    const [text, ground, accent] = ["--text", "--ground", "--accent"].map((name) => look.getPropertyValue(name));
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.clearRect(0, 0, this.view.width, this.view.height);
    pen.font = `12px ${look.fontFamily}`;
    pen.lineJoin = "round";
    /** @type {number[][]} */
    const taken = [];
    const rows = [...new Set(this.hovered >= 0 ? [this.hovered, ...this.labelled] : this.labelled)].slice(0, MAX_CLOUD_LABELS);
    for (const row of rows) {
      const [x, y] = this.view.screenPosition(row);
      const word = shortText(this.hooks.label(row), 60);
      if (!(x > 0 && y > 0 && x < this.view.width && y < this.view.height) || !word) continue;
      const wide = pen.measureText(word).width;
      const left = x + 9 + wide > this.view.width ? x - 9 - wide : x + 9;
      const box = [left - 2, y - 9, left + wide + 2, y + 8];
      if (taken.some((taken) => box[0] < taken[2] && box[2] > taken[0] && box[1] < taken[3] && box[3] > taken[1])) continue;
      taken.push(box);
      Object.assign(pen, { strokeStyle: ground, lineWidth: 4, fillStyle: row === this.hovered ? accent : text });
      pen.strokeText(word, left, y + 4);
      pen.fillText(word, left, y + 4);
    }
    if (this.outline.length < 2) return;
    pen.beginPath();
    for (const [x, y] of this.outline) pen.lineTo(x, y);
    pen.closePath();
    Object.assign(pen, { strokeStyle: accent, lineWidth: 1.5, fillStyle: accent, globalAlpha: 0.12 });
    pen.fill();
    pen.globalAlpha = 1;
    pen.stroke();
  }

  // gestures

  /** @param {PointerEvent} event */
  onPress(event) {
    this.root.focus({ preventScroll: true });
    this.root.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, this.canvasPosition(event));
    this.movedPx = 0;
    this.isPanning = event.button === 1 || event.button === 2 || event.altKey;
    this.isMarking = !this.isPanning && event.button === 0 && (this.tool !== "turn" || event.shiftKey);
    this.outline = [];
    this.pressedPoint = this.canvasPosition(event);
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const now = this.canvasPosition(event);
    const before = this.fingers.get(event.pointerId);
    if (!before) {
      const row = this.view.pointNear(now.x, now.y, this.pickRadius());
      return this.setHovered(row, now.x, now.y);
    }
    const others = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, finger]) => finger);
    this.fingers.set(event.pointerId, now);
    this.movedPx += Math.hypot(now.x - before.x, now.y - before.y);
    const [dx, dy] = [now.x - before.x, now.y - before.y];
    if (others.length) {
      const [other] = others;
      const far = (/** @type {{x: number, y: number}} */ finger) => Math.max(1, Math.hypot(finger.x - other.x, finger.y - other.y));
      this.view.zoomBy(far(now) / far(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      this.view.panBy(dx / 2, dy / 2);
    } else if (this.isMarking) {
      if (this.movedPx < MAX_CLICK_PX) return;
      const { x, y } = this.pressedPoint;
      if (this.tool === "box") this.outline = [[x, y], [now.x, y], [now.x, now.y], [x, now.y]];
      else this.outline.push([now.x, now.y]);
    } else if (this.isPanning || this.view.isFlat) this.view.panBy(dx, dy);
    else this.view.orbit(dx * RADIANS_PER_PX, dy * RADIANS_PER_PX);
    this.draw();
  }

  /** @param {PointerEvent} event */
  onRelease(event) {
    if (!this.fingers.delete(event.pointerId) || this.fingers.size) return;
    const { outline } = this;
    this.outline = [];
    this.draw();
    if (event.type === "pointercancel") return;
    const add = event.shiftKey || event.ctrlKey || event.metaKey;
    if (outline.length > 2) return this.hooks.lasso(this.view.pointsInside(outline), add && this.tool !== "turn");
    if (this.movedPx >= MAX_CLICK_PX || event.button !== 0) return;
    const { x, y } = this.canvasPosition(event);
    this.hooks.pick(this.view.pointNear(x, y, this.pickRadius()), add);
  }

  /** The radius in px within which the pointer picks a point. */
  pickRadius() {
    return Math.max(9, (this.painter.look?.size ?? 0) * 0.75);
  }

  /** @param {number} row @param {number} x @param {number} y */
  setHovered(row, x, y) {
    if (row !== this.hovered) {
      this.hovered = row;
      this.root.style.cursor = row >= 0 ? "pointer" : "";
      this.draw();
    }
    this.hooks.hover(row, x, y);
  }

  /** Apply a key to the view; return whether it has an action. @param {KeyboardEvent} event */
  handleKey(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step && (this.view.isFlat || event.shiftKey)) this.view.panBy(-40 * step[0], -40 * step[1]);
    else if (step) this.view.orbit(step[0] * 0.12, step[1] * 0.12);
    else if (event.key === "+" || event.key === "=") this.view.zoomBy(1.25);
    else if (event.key === "-") this.view.zoomBy(0.8);
    else if (event.key === "0") this.view.reset();
    else return false;
    this.draw();
    return true;
  }
}
