// Lines with bands: the spread of a group of runs, or margins defined by the training.

import { LineChart } from "./chart.js";

const BAND_ALPHA = 0.2; // opacity of a band

/** @typedef {{colour: string, x: ArrayLike<number>, low: ArrayLike<number>, high: ArrayLike<number>}} ChartBand */

export class BandedChart extends LineChart {
  /** @type {ChartBand[]} */
  bands = [];

  /** @param {ChartLine[]} lines @param {ChartLook} look @param {ChartBand[]} [bands] */
  setLines(lines, look, bands = this.bands) {
    this.bands = bands;
    super.setLines(lines, look);
  }

  /** @returns {number[]} */
  extraValues() {
    return (this.bands ?? []).flatMap(({ low, high }) => [...Array.from(low), ...Array.from(high)]);
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawInside(g, colours) {
    g.globalAlpha = BAND_ALPHA;
    for (const band of this.bands) this.drawBand(g, band);
    g.globalAlpha = 1;
    super.drawInside(g, colours);
  }

  /** @param {CanvasRenderingContext2D} g @param {ChartBand} band */
  drawBand(g, { colour, x, low, high }) {
    const shown = Array.from(x, (_, at) => at).filter((at) => Number.isFinite(low[at]) && Number.isFinite(high[at]) && !(this.y.log && low[at] <= 0) && !(this.x.log && x[at] <= 0));
    g.fillStyle = colour;
    g.beginPath();
    shown.forEach((at, nth) => (nth ? g.lineTo(this.xPosition(x[at]), this.yPosition(high[at])) : g.moveTo(this.xPosition(x[at]), this.yPosition(high[at]))));
    for (const at of shown.reverse()) g.lineTo(this.xPosition(x[at]), this.yPosition(low[at]));
    g.fill();
  }
}
