// The common parts of all charts: a canvas, two axes, and drawing to the screen or to a file.

import { el } from "../dom.js";
import { durationWord, momentWord, shareOf, shortNumber, ticksOf } from "./curves.js";

export const PLOT = { left: 52, top: 10, right: 12, bottom: 24 };
export const TRIANGLE_PX = 4; // height of the sign of a value that is not finite
const TIME_AXES = ["relative", "wall"];

export class Plot {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    place.append(this.canvas);
    /** @type {Extent} */
    this.x = { low: 0, high: 1, log: false };
    /** @type {Extent} */
    this.y = { low: 0, high: 1, log: false };
    this.axis = "step"; // the horizontal axis: a step, a time, or "value"
    this.width = this.height = 0;
    this.rightMargin = PLOT.right;
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.draw();
  }

  get innerSize() {
    return { width: this.innerWidth, height: this.innerHeight };
  }

  get innerWidth() {
    return Math.max(1, this.width - PLOT.left - this.rightMargin);
  }

  get innerHeight() {
    return Math.max(1, this.height - PLOT.top - PLOT.bottom);
  }

  /** @param {number} value */
  xPosition(value) {
    return PLOT.left + shareOf(this.x, value) * this.innerWidth;
  }

  /** @param {number} value */
  yPosition(value) {
    return PLOT.top + (1 - Math.min(1.02, Math.max(-0.02, shareOf(this.y, value)))) * this.innerHeight;
  }

  /** Free the pixels. */
  releasePixels() {
    this.canvas.width = this.canvas.height = this.width = 0;
  }

  draw() {
    if (!this.width || !this.height) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    const g = this.canvas.getContext("2d");
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (width !== this.canvas.width || height !== this.canvas.height) {
      Object.assign(this.canvas, { width, height });
      Object.assign(this.canvas.style, { width: `${this.width}px`, height: `${this.height}px` });
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    this.paint(g);
  }

  /** Draw everything with a pen: that of the canvas, or one that writes SVG. @param {CanvasRenderingContext2D} g */
  paint(g) {
    const look = getComputedStyle(this.canvas);
    const colours = { line: look.getPropertyValue("--line"), text: look.getPropertyValue("--secondary"), strong: look.getPropertyValue("--text"), ground: look.getPropertyValue("--ground") };
    g.font = `10px ${look.fontFamily}`;
    this.drawUpGrid(g, colours);
    this.drawAcrossGrid(g, colours);
    g.save();
    g.beginPath();
    g.rect(PLOT.left, PLOT.top - TRIANGLE_PX, this.innerSize.width, this.innerSize.height + 2 * TRIANGLE_PX);
    g.clip();
    g.lineJoin = "round";
    this.drawInside(g, colours);
    g.restore();
  }

  /** Draw inside the axes. @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawInside(g, colours) {}

  /** Ticks and lines of the vertical axis. @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawUpGrid(g, colours) {
    const end = PLOT.left + this.innerSize.width;
    g.strokeStyle = colours.line;
    g.fillStyle = colours.text;
    g.lineWidth = 1;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const value of ticksOf(this.y, this.innerSize.height < 140 ? 3 : 5)) {
      const y = Math.trunc(this.yPosition(value)) + 0.5;
      g.beginPath();
      g.moveTo(PLOT.left, y);
      g.lineTo(end, y);
      g.stroke();
      g.fillText(shortNumber(value), PLOT.left - 6, y);
    }
  }

  /** Ticks of the horizontal axis. @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawAcrossGrid(g, colours) {
    const foot = PLOT.top + this.innerSize.height;
    g.strokeStyle = colours.line;
    g.fillStyle = colours.text;
    g.lineWidth = 1;
    g.textAlign = "center";
    g.textBaseline = "top";
    let free = -Infinity;
    for (const value of ticksOf(this.x, Math.max(2, Math.floor(this.innerSize.width / 70)), TIME_AXES.includes(this.axis) && !this.x.log)) {
      const x = Math.trunc(this.xPosition(value)) + 0.5;
      const word = this.tickWord(value);
      const half = g.measureText(word).width / 2;
      if (x - half < free || x + half > this.width) continue;
      free = x + half + 8;
      g.beginPath();
      g.moveTo(x, foot);
      g.lineTo(x, foot + 4);
      g.stroke();
      g.fillText(word, x, foot + 8);
    }
  }

  /** A value of the horizontal axis, in words. @param {number} value */
  tickWord(value) {
    if (this.axis === "relative") return durationWord(value);
    return this.axis === "wall" ? momentWord(value, this.x.high - this.x.low) : shortNumber(value);
  }
}
