// Histograms of a series on a canvas: offset by step with the last in front, or overlaid.

import { durationWord, momentWord, rangeOf, shareOf, shortNumber } from "./curves.js";
import { PLOT, Plot } from "./plot.js";

const RIDGE_LAYOUT = { high: 0.45, far: 0.42, right: 52 }; // the greatest count and the room above the first step, as shares of the height
const OLDEST_SHARE = 0.35; // share of the run's colour in the first histogram

export class RidgeChart extends Plot {
  /** @param {HTMLElement} place @param {(ridge: {at: number, bin: number} | null, x: number) => void} onPoint */
  constructor(place, onPoint) {
    super(place);
    this.onPoint = onPoint;
    this.axis = "value";
    /** @type {HistogramColumns} */
    this.data = { n: 0, step: [], wall: [], borders: [], count: [], bands: [] };
    /** @type {ArrayLike<number>} the position of each histogram on the axis of steps or times */
    this.stepPositions = [];
    this.stepAxis = "step";
    this.overlay = false;
    this.colour = "#000";
    this.greatestCount = 1;
    this.pointedRidge = -1; // the histogram under the pointer
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.onMove(event));
    this.canvas.addEventListener("pointerleave", () => this.pointAt(null, 0));
  }

  /** @param {HistogramColumns} data @param {ArrayLike<number>} when @param {{axis: string, overlay: boolean, colour: string}} look */
  setData(data, when, { axis, overlay, colour }) {
    Object.assign(this, { data, stepPositions: when, overlay, colour, stepAxis: axis });
    const { borders } = data;
    this.binCount = Math.max(0, borders.length - 1);
    this.x = borders.length ? { low: borders[0], high: borders[borders.length - 1], log: false } : { low: 0, high: 1, log: false };
    this.greatestCount = 0;
    for (let at = 0; at < data.count.length; at++) this.greatestCount = Math.max(this.greatestCount, data.count[at]);
    this.greatestCount ||= 1;
    this.y = overlay ? { low: 0, high: this.greatestCount * 1.05, log: false } : wholeRange(when);
    this.rightMargin = overlay ? PLOT.right : RIDGE_LAYOUT.right;
    this.draw();
  }

  /** The baseline of a histogram. @param {number} at */
  baseLine(at) {
    const foot = PLOT.top + this.innerSize.height;
    if (this.overlay || this.stepPositions.length < 2) return foot;
    return foot - (1 - shareOf(this.y, this.stepPositions[at])) * RIDGE_LAYOUT.far * this.innerSize.height;
  }

  /** The height of a count above the baseline. @param {number} count */
  countHeight(count) {
    const share = this.overlay || this.stepPositions.length < 2 ? 1 / 1.05 : RIDGE_LAYOUT.high + (1 - RIDGE_LAYOUT.far - RIDGE_LAYOUT.high) * 0.9;
    return (count / this.greatestCount) * share * this.innerSize.height;
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawUpGrid(g, colours) {
    if (this.overlay) return super.drawUpGrid(g, colours);
    const end = PLOT.left + this.innerSize.width;
    g.fillStyle = colours.text;
    g.textAlign = "left";
    g.textBaseline = "middle";
    let free = -Infinity;
    for (const at of labelledSteps(this.stepPositions)) {
      const y = this.baseLine(at);
      if (Math.abs(y - free) < 12) continue;
      free = y;
      g.fillText(this.stepWord(this.stepPositions[at]), end + 6, y);
    }
  }

  /** A step or a time in words. @param {number} value */
  stepWord(value) {
    if (this.stepAxis === "relative") return durationWord(value);
    return this.stepAxis === "wall" ? momentWord(value, this.y.high - this.y.low) : shortNumber(value);
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawInside(g, colours) {
    const last = this.stepPositions.length - 1;
    for (let at = 0; at <= last; at++) {
      const share = last ? OLDEST_SHARE + (1 - OLDEST_SHARE) * (at / last) : 1;
      const pointed = at === this.pointedRidge;
      if (!this.overlay) {
        g.strokeStyle = colours.line;
        g.lineWidth = 1;
        g.beginPath();
        g.moveTo(PLOT.left, Math.trunc(this.baseLine(at)) + 0.5);
        g.lineTo(PLOT.left + this.innerSize.width, Math.trunc(this.baseLine(at)) + 0.5);
        g.stroke();
        this.traceRidge(g, at);
        g.fillStyle = mixedColour(this.colour, colours.ground, share);
        g.fill();
      }
      this.traceRidge(g, at);
      g.lineWidth = pointed ? 2 : 1;
      g.strokeStyle = pointed ? colours.strong : this.overlay ? mixedColour(this.colour, colours.ground, share) : colours.ground;
      g.stroke();
    }
  }

  /** The outline of a histogram: its counts at the middles of the bins. @param {CanvasRenderingContext2D} g @param {number} at */
  traceRidge(g, at) {
    const { borders, count } = this.data;
    const base = this.baseLine(at);
    g.beginPath();
    g.moveTo(this.xPosition(borders[0]), base);
    for (let bin = 0; bin < this.binCount; bin++) g.lineTo(this.xPosition((borders[bin] + borders[bin + 1]) / 2), base - this.countHeight(count[at * this.binCount + bin]));
    g.lineTo(this.xPosition(borders[this.binCount]), base);
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const bin = Math.floor(((x - PLOT.left) / this.innerSize.width) * this.binCount);
    if (bin < 0 || bin >= this.binCount) return this.pointAt(null, 0);
    let best = -1;
    let least = Infinity;
    for (let at = 0; at < this.stepPositions.length; at++) {
      const base = this.baseLine(at);
      const top = base - this.countHeight(this.data.count[at * this.binCount + bin]);
      // The foremost histogram whose area is under the pointer, else the nearest outline.
      const far = !this.overlay && y >= top && y <= base ? -1 : Math.abs(top - y);
      if (far <= least) [best, least] = [at, far];
    }
    this.pointAt(best < 0 ? null : { at: best, bin }, event.clientX);
  }

  /** @param {{at: number, bin: number} | null} ridge @param {number} x */
  pointAt(ridge, x) {
    const at = ridge ? ridge.at : -1;
    if (at !== this.pointedRidge) {
      this.pointedRidge = at;
      this.draw();
    }
    this.onPoint(ridge, x);
  }
}

/** The numbers of steps to be labelled, the last first. @param {ArrayLike<number>} when */
const labelledSteps = (when) => Array.from(when, (_, at) => when.length - 1 - at);

/** The range of all values, never of zero width. @param {ArrayLike<number>} values @returns {Extent} */
export const wholeRange = (values) => rangeOf(values, false);

/** A share of one colour over another, both as #rrggbb or #rgb. @param {string} colour @param {string} ground @param {number} share */
export function mixedColour(colour, ground, share) {
  const [one, other] = [colour, ground].map((text) => {
    const hexes = text.trim().slice(1);
    return hexes.length < 6 ? [...hexes].map((letter) => parseInt(letter + letter, 16)) : [0, 2, 4].map((from) => parseInt(hexes.slice(from, from + 2), 16));
  });
  return `#${one.map((part, at) => Math.round(part * share + other[at] * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
}
