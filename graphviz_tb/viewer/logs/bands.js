// Percentiles of a series of histograms on a canvas: nested bands around the median.

import { paddedRange } from "./curves.js";
import { PLOT, Plot } from "./plot.js";
import { wholeRange } from "./ridges.js";

const BAND_SHADES = [0.14, 0.2, 0.28, 0.38]; // from the outer band, least to greatest, to the inner one
export const BAND_COUNT = 9; // percentiles of a step, as `graphviz_tb/chart/series.py` makes them
export const PERCENTILES = ["min", "6.68 %", "15.87 %", "30.85 %", "50 %", "69.15 %", "84.13 %", "93.32 %", "max"];

export class BandChart extends Plot {
  /** @param {HTMLElement} place @param {(at: number, x: number) => void} onPoint */
  constructor(place, onPoint) {
    super(place);
    this.onPoint = onPoint;
    /** @type {HistogramColumns} */
    this.data = { n: 0, step: [], wall: [], borders: [], count: [], bands: [] };
    /** @type {ArrayLike<number>} */
    this.stepPositions = [];
    this.colour = "#000";
    this.pointedStep = -1; // the step at the pointer
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.onMove(event));
    this.canvas.addEventListener("pointerleave", () => this.pointAt(-1, 0));
  }

  /** @param {HistogramColumns} data @param {ArrayLike<number>} when @param {{axis: string, colour: string}} look */
  setData(data, when, { axis, colour }) {
    Object.assign(this, { data, stepPositions: when, axis, colour });
    this.x = wholeRange(when);
    this.y = paddedRange(wholeRange(data.bands));
    this.draw();
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawInside(g, colours) {
    const count = this.stepPositions.length;
    if (!count) return;
    const at = (/** @type {number} */ step, /** @type {number} */ band) => this.yPosition(this.data.bands[step * BAND_COUNT + band]);
    // A single step has no width: draw it 8 px wide.
    const xs = count > 1 ? Array.from(this.stepPositions, (value) => this.xPosition(value)) : [-4, 4].map((more) => this.xPosition(this.stepPositions[0]) + more);
    const step = (/** @type {number} */ nth) => Math.min(nth, count - 1);
    g.fillStyle = this.colour;
    BAND_SHADES.forEach((shade, band) => {
      g.globalAlpha = shade;
      g.beginPath();
      xs.forEach((x, nth) => (nth ? g.lineTo(x, at(step(nth), band)) : g.moveTo(x, at(step(nth), band))));
      for (let nth = xs.length - 1; nth >= 0; nth--) g.lineTo(xs[nth], at(step(nth), BAND_COUNT - 1 - band));
      g.fill();
    });
    g.globalAlpha = 1;
    g.strokeStyle = this.colour;
    g.lineWidth = 1.5;
    g.beginPath();
    xs.forEach((x, nth) => (nth ? g.lineTo(x, at(step(nth), 4)) : g.moveTo(x, at(step(nth), 4))));
    g.stroke();
    if (this.pointedStep < 0) return;
    const x = Math.trunc(this.xPosition(this.stepPositions[this.pointedStep])) + 0.5;
    g.strokeStyle = colours.text;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, PLOT.top);
    g.lineTo(x, PLOT.top + this.innerSize.height);
    g.stroke();
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    let best = -1;
    for (let at = 0; at < this.stepPositions.length; at++) if (best < 0 || Math.abs(this.xPosition(this.stepPositions[at]) - x) < Math.abs(this.xPosition(this.stepPositions[best]) - x)) best = at;
    this.pointAt(best, event.clientX);
  }

  /** @param {number} at @param {number} x */
  pointAt(at, x) {
    if (at !== this.pointedStep) {
      this.pointedStep = at;
      this.draw();
    }
    this.onPoint(at, x);
  }
}
