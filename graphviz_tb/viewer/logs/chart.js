// Lines on a canvas, the crosshair, and the gestures that change the visible range.

import { nonFinitePlaces, outliersOf, paddedRange, rangeOf, valueAt } from "./curves.js";
import { PLOT, Plot, TRIANGLE_PX } from "./plot.js";

/**
 * @typedef {{run: LogRun, tag?: string, colour: string, dashes: number[], x: ArrayLike<number>, y: ArrayLike<number>, raw: ArrayLike<number>, step: ArrayLike<number>, wall: ArrayLike<number>, superseded: ArrayLike<number> | undefined, start: number, n: number, faint?: boolean, group?: any}} ChartLine
 * @typedef {{axis: string, logX: boolean, logY: boolean, outliers: boolean, restarts: boolean}} ChartLook
 * @typedef {{onHover: (x: number | null, from: LineChart) => void, onZoom: (chart: LineChart) => void, onPoints: (rows: any[] | null, at: {x: number, y: number}) => void}} ChartHooks
 */

const FAINT_ALPHA = 0.25;
const OUTLIER_RADIUS_PX = 2.5; // radius of the sign of a point that smoothing hides
const ODD_VALUE_ROWS = 5; // rows of signs at an edge, one for each line
const LINE_PX = 1.5; // thickness of a line
const MAX_THICK_POINTS = 6000; // points of all lines: a stroke thicker than a screen pixel takes twenty times as long
const MAX_QUICK_POINTS = 12000; // points of all lines that are drawn while a slider moves; others are skipped
const DENSE_LINE_WIDTHS = 12; // widths of the chart: a longer line with points in each pixel column is drawn as a band

export class LineChart extends Plot {
  /** @param {HTMLElement} place @param {ChartHooks} hooks */
  constructor(place, hooks) {
    super(place);
    this.hooks = hooks;
    /** @type {ChartLine[]} */
    this.lines = [];
    /** @type {ChartLook} */
    this.look = { axis: "step", logX: false, logY: false, outliers: true, restarts: true };
    /** @type {Extent | null} the horizontal range that the reader chose */
    this.zoom = null;
    /** @type {number | null} the position of the crosshair on the horizontal axis */
    this.crosshairValue = null;
    /** @type {{from: number, to: number, pan: boolean, range: Extent} | null} */
    this.drag = null;
    this.hiddenCount = 0;
    this.oddLines = 0; // number of drawn lines with values that are not finite
    this.isKept = false; // whether the last drawing was kept
    this.thinPx = 0; // thickness of strokes when lines have very many points, else 0
    this.isQuick = false; // whether less is drawn because a slider is moving
    /** @type {HTMLCanvasElement | null} the last drawing, without the crosshair */
    this.keptCanvas = null;
    /** @type {WeakMap<ChartLine, number[]>} */
    this.pointsByLine = new WeakMap();
    /** @type {WeakMap<object, number[]>} by values of a line */
    this.outliersByValues = new WeakMap();
    /** @type {number | null} the step that the reader typed */
    this.markedStep = null;
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.onMove(event));
    this.canvas.addEventListener("pointerleave", () => this.onLeave());
    this.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.onPress(event));
    this.canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => this.onRelease(event));
    this.canvas.addEventListener("dblclick", () => this.resetZoom());
    this.canvas.addEventListener("wheel", (/** @type {WheelEvent} */ event) => this.onWheel(event), { passive: false });
  }

  /** @param {ChartLine[]} lines @param {ChartLook} look */
  setLines(lines, look) {
    if (look.axis !== this.look.axis || look.logX !== this.look.logX) this.zoom = null;
    this.lines = lines;
    this.look = look;
    this.axis = look.axis;
    this.fitAxes();
    this.draw();
  }

  /** Fit the axes to the lines and to the reader's range. */
  fitAxes() {
    const { logX, logY, outliers } = this.look;
    const extra = this.extraValues();
    const most = this.pointCount();
    const [xs, ys] = [bufferFor(0, most), bufferFor(1, most + extra.length)];
    let [across, up] = [0, 0];
    this.hiddenCount = 0;
    for (const { x, y, raw, superseded } of this.lines) {
      for (let at = 0; at < x.length; at++) {
        if (superseded?.[at] && !this.look.restarts) continue;
        xs[across++] = x[at];
        if ((logY && raw[at] <= 0) || (logX && x[at] <= 0)) this.hiddenCount++;
        if (!this.zoom || (x[at] >= this.zoom.low && x[at] <= this.zoom.high)) ys[up++] = y[at];
      }
    }
    ys.set(extra, up);
    this.wholeRange = rangeOf(xs.subarray(0, across), logX);
    this.x = this.zoom ?? this.wholeRange;
    this.y = paddedRange(rangeOf(ys.subarray(0, up + extra.length), logY, outliers));
  }

  /** The count of points of all lines. */
  pointCount() {
    return this.lines.reduce((sum, line) => sum + line.x.length, 0);
  }

  /** Further values that the vertical axis must show. @returns {number[]} */
  extraValues() {
    return [];
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawInside(g, colours) {
    this.thinPx = this.pointCount() > MAX_THICK_POINTS && g instanceof CanvasRenderingContext2D ? this.width / this.canvas.width : 0;
    if (!this.isQuick) for (const line of this.lines) this.drawFaint(g, line);
    this.oddLines = 0;
    for (const line of this.lines) this.drawLine(g, line);
    this.drawMarkedStep(g, colours);
  }

  /** Draw the chart, then the crosshair over it. A move of the pointer draws the crosshair alone. */
  draw() {
    super.draw();
    this.isKept = false;
    if (this.canvas.width && this.width && (this.crosshairValue !== null || this.drag)) this.drawCross();
  }

  /** Keep a copy of the drawing once a crosshair is drawn over it, since copying waits for the canvas. */
  keepDrawn() {
    this.keptCanvas ??= document.createElement("canvas");
    this.keptCanvas.width = this.canvas.width;
    this.keptCanvas.height = this.canvas.height;
    this.keptCanvas.getContext("2d").drawImage(this.canvas, 0, 0);
    this.isKept = true;
  }

  /** Draw the crosshair over the last drawing. */
  drawCross() {
    if (!this.canvas.width || !this.width) return this.draw();
    if (!this.isKept) this.keepDrawn();
    const g = this.canvas.getContext("2d");
    const ratio = this.canvas.width / this.width;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    g.drawImage(this.keptCanvas, 0, 0);
    if (this.crosshairValue === null && !this.drag) return;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    const look = getComputedStyle(this.canvas);
    g.save();
    g.beginPath();
    g.rect(PLOT.left, PLOT.top - TRIANGLE_PX, this.innerSize.width, this.innerSize.height + 2 * TRIANGLE_PX);
    g.clip();
    this.paintCrosshair(g, { text: look.getPropertyValue("--secondary"), strong: look.getPropertyValue("--text") });
    g.restore();
  }

  releasePixels() {
    if (this.keptCanvas) this.keptCanvas.width = this.keptCanvas.height = 0;
    super.releasePixels();
  }

  /** A line at the step that the reader typed. @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  drawMarkedStep(g, colours) {
    if (this.markedStep === null || this.look.axis !== "step" || (this.x.log && this.markedStep <= 0)) return;
    const x = Math.trunc(this.xPosition(this.markedStep)) + 0.5;
    g.strokeStyle = colours.strong;
    g.lineWidth = 1;
    g.setLineDash([4, 3]);
    g.beginPath();
    g.moveTo(x, PLOT.top);
    g.lineTo(x, PLOT.top + this.innerSize.height);
    g.stroke();
    g.setLineDash([]);
  }

  /** Draw superseded points, and the raw values behind a smoothed line. @param {CanvasRenderingContext2D} g @param {ChartLine} line */
  drawFaint(g, line) {
    g.globalAlpha = FAINT_ALPHA;
    g.strokeStyle = line.colour;
    if (line.faint) {
      this.strokeLine(g, line, line.y, (at) => !line.superseded?.[at]);
      g.globalAlpha = 1;
      return;
    }
    if (this.look.restarts) this.strokeLine(g, line, line.raw, (at) => !!line.superseded?.[at]);
    if (line.raw !== line.y) this.strokeLine(g, line, line.raw, (at) => !line.superseded?.[at]);
    g.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} g @param {ChartLine} line */
  drawLine(g, line) {
    if (line.faint) return;
    g.strokeStyle = g.fillStyle = line.colour;
    this.strokeLine(g, line, line.y, (at) => !line.superseded?.[at], line.dashes);
    g.setLineDash([]);
    for (const at of this.isQuick ? [] : this.hiddenOutliers(line)) {
      const y = Math.min(Math.max(this.yPosition(line.raw[at]), PLOT.top + OUTLIER_RADIUS_PX), PLOT.top + this.innerSize.height - OUTLIER_RADIUS_PX); // clamped to the edge
      g.beginPath();
      g.arc(this.xPosition(line.x[at]), y, OUTLIER_RADIUS_PX, 0, 7);
      g.fill();
    }
    const odd = nonFinitePlaces(line.raw).filter((at) => !line.superseded?.[at]);
    for (const at of odd) this.drawTriangle(g, line.x[at], line.raw[at] > 0, this.oddLines);
    if (odd.length) this.oddLines++;
  }

  /** A line through the points that count, broken where a value cannot be shown. @param {CanvasRenderingContext2D} g @param {ChartLine} line @param {ArrayLike<number>} y @param {(at: number) => boolean} counts @param {number[]} [dashes] */
  strokeLine(g, line, y, counts, dashes = []) {
    const parts = this.pixelRuns(line, y, counts);
    const points = parts.reduce((sum, part) => sum + part.length / 2, 0);
    // The strokes, joins and dashes of a dense line overlap, and take hundreds of times as long as the band that results.
    if (points > this.innerSize.width && lengthOf(parts) > DENSE_LINE_WIDTHS * this.innerSize.width) return this.drawDenseLine(g, parts);
    g.setLineDash(this.isQuick ? [] : dashes);
    const strokes = this.thinPx && !this.isQuick ? Math.round(LINE_PX / this.thinPx) : 1; // several shifted thin strokes make a thick one
    g.lineWidth = this.thinPx || LINE_PX;
    for (let nth = 0; nth < strokes; nth++) {
      const by = strokes > 1 ? (nth / (strokes - 1) - 0.5) * (LINE_PX - this.thinPx) : 0;
      g.beginPath();
      for (const part of parts) {
        if (part.length === 2) g.rect(part[0] - 1, part[1] - 1, 2, 2);
        for (let at = 0; at < part.length; at += 2) at ? g.lineTo(part[at] + by, part[at + 1] + by) : g.moveTo(part[0] + by, part[1] + by);
      }
      g.stroke();
    }
  }

  /** Pixels of the points that count, x and y alternating, in parts without gaps. @param {ChartLine} line @param {ArrayLike<number>} y @param {(at: number) => boolean} counts */
  pixelRuns(line, y, counts) {
    const parts = /** @type {number[][]} */ ([]);
    let part = /** @type {number[]} */ ([]);
    const every = this.isQuick ? this.quickStride(line) : 1;
    for (let at = 0; at < line.x.length; at += every) {
      if (!counts(at)) continue;
      const good = Number.isFinite(y[at]) && Number.isFinite(line.x[at]) && !(this.y.log && y[at] <= 0) && !(this.x.log && line.x[at] <= 0);
      if (!good) part = [];
      else if (part.push(this.xPosition(line.x[at]), this.yPosition(y[at])) === 2) parts.push(part);
    }
    return parts;
  }

  /** The stride between the points drawn while a slider moves: one point per pixel, fewer for very many lines. @param {ChartLine} line */
  quickStride(line) {
    return Math.max(1, Math.floor(line.x.length / this.innerWidth), Math.ceil(this.pointCount() / MAX_QUICK_POINTS));
  }

  /** Draw a dense line as a band: in each pixel column from its least to its greatest point. @param {CanvasRenderingContext2D} g @param {number[][]} parts */
  drawDenseLine(g, parts) {
    const [from, count] = [Math.floor(PLOT.left), Math.ceil(this.innerSize.width) + 1];
    const low = new Float64Array(count).fill(Infinity);
    const high = new Float64Array(count).fill(-Infinity);
    const cover = (/** @type {number} */ column, /** @type {number} */ y) => {
      if (y < low[column]) low[column] = y;
      if (y > high[column]) high[column] = y;
    };
    for (const part of parts) {
      for (let at = 0; at < part.length; at += 2) {
        const column = Math.floor(part[at]) - from;
        cover(column, part[at + 1]);
        if (!at) continue;
        const [before, step] = [Math.floor(part[at - 2]) - from, (part[at + 1] - part[at - 1]) / (part[at] - part[at - 2])];
        // At the edge between two columns, both columns contain the crossing point.
        for (let edge = Math.max(0, before + 1); edge <= Math.min(column, count - 1); edge++) {
          const y = part[at - 1] + step * (from + edge - part[at - 2]);
          cover(edge, y);
          cover(edge - 1, y);
        }
      }
    }
    g.setLineDash([]);
    g.lineWidth = 1;
    g.beginPath();
    for (let column = 0; column < count; column++) {
      if (low[column] > high[column]) continue;
      const more = Math.max(0, 1.5 - high[column] + low[column]) / 2; // least height: the thickness of a line
      g.moveTo(from + column + 0.5, low[column] - more);
      g.lineTo(from + column + 0.5, high[column] + more);
    }
    g.stroke();
  }

  /** A triangle for a value that is not finite, in a separate row for each such line. @param {CanvasRenderingContext2D} g @param {number} value @param {boolean} up @param {number} [row] */
  drawTriangle(g, value, up, row = 0) {
    const x = this.xPosition(value);
    const inward = (row % ODD_VALUE_ROWS) * 2 * TRIANGLE_PX;
    const tip = up ? PLOT.top - TRIANGLE_PX + inward : PLOT.top + this.innerSize.height + TRIANGLE_PX - inward;
    const base = tip + (up ? 2 : -2) * TRIANGLE_PX;
    g.beginPath();
    g.moveTo(x, tip);
    g.lineTo(x - TRIANGLE_PX, base);
    g.lineTo(x + TRIANGLE_PX, base);
    g.fill();
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  paintCrosshair(g, colours) {
    if (this.drag && !this.drag.pan) {
      g.fillStyle = colours.strong;
      g.globalAlpha = 0.1;
      g.fillRect(Math.min(this.drag.from, this.drag.to), PLOT.top, Math.abs(this.drag.to - this.drag.from), this.innerSize.height);
      g.globalAlpha = 1;
    }
    if (this.crosshairValue === null || this.drag) return;
    const x = Math.trunc(this.xPosition(this.crosshairValue)) + 0.5;
    g.strokeStyle = colours.text;
    g.lineWidth = 1;
    g.globalAlpha = 0.5;
    g.beginPath();
    g.moveTo(x, PLOT.top);
    g.lineTo(x, PLOT.top + this.innerSize.height);
    g.stroke();
    g.globalAlpha = 1;
    /** @type {Map<string, [number, number][]>} */
    const dots = new Map();
    for (const { line, at } of this.nearestPoints(this.crosshairValue)) {
      if (!Number.isFinite(line.y[at])) continue;
      const same = dots.get(line.colour) ?? [];
      dots.set(line.colour, same);
      same.push([this.xPosition(line.x[at]), this.yPosition(line.y[at])]);
    }
    // One path per colour, since a thousand separate dots take longer than a frame.
    for (const [colour, places] of dots) {
      g.fillStyle = colour;
      g.beginPath();
      for (const [x, y] of places) {
        g.moveTo(x + 3, y);
        g.arc(x, y, 3, 0, 7);
      }
      g.fill();
    }
  }

  /** The point of each line that is nearest to a horizontal position. @param {number} x @returns {{line: ChartLine, at: number}[]} */
  nearestPoints(x) {
    const out = [];
    for (const line of this.lines) {
      const places = line.faint ? [] : this.livePoints(line);
      if (!places.length) continue;
      let [low, high] = [0, places.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (line.x[places[middle]] < x) low = middle + 1;
        else high = middle;
      }
      while (low + 1 < places.length && line.x[places[low + 1]] === line.x[places[low]]) low++;
      const before = places[Math.max(0, low - 1)];
      const after = places[Math.min(low, places.length - 1)];
      out.push({ line, at: Math.abs(line.x[after] - x) <= Math.abs(line.x[before] - x) ? after : before });
    }
    return out;
  }

  /** The points that smoothing hides; cached. @param {ChartLine} line @returns {number[]} */
  hiddenOutliers(line) {
    if (line.raw === line.y || line.group) return [];
    let outliers = this.outliersByValues.get(line.raw);
    if (!outliers) this.outliersByValues.set(line.raw, (outliers = outliersOf(line.raw, line.superseded)));
    return outliers;
  }

  /** The points of a line that count, ascending along the axis; cached. @param {ChartLine} line @returns {number[]} */
  livePoints(line) {
    let points = this.pointsByLine.get(line);
    if (!points) {
      points = Array.from(line.x, (_, at) => at).filter((at) => !line.superseded?.[at] && Number.isFinite(line.x[at]));
      if (points.some((at, nth) => nth && line.x[at] < line.x[points[nth - 1]])) points.sort((a, b) => line.x[a] - line.x[b]);
      this.pointsByLine.set(line, points);
    }
    return points;
  }

  /** @param {PointerEvent} event */
  plotPosition(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: Math.min(Math.max(event.clientX - box.left, PLOT.left), PLOT.left + this.innerSize.width), y: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const { x, y } = this.plotPosition(event);
    if (this.drag) {
      if (this.drag.pan) this.panBy(x - this.drag.from, this.drag.range);
      else {
        this.drag.to = x;
        return this.drawCross();
      }
      return this.draw();
    }
    const value = valueAt(this.x, (x - PLOT.left) / this.innerSize.width);
    this.hooks.onHover(value, this);
    const rows = this.nearestPoints(value).map(({ line, at }) => ({ line, at, far: Math.abs(this.yPosition(line.y[at]) - y) || 0 }));
    this.hooks.onPoints(rows.sort((a, b) => a.far - b.far), { x: event.clientX, y: event.clientY });
  }

  onLeave() {
    if (this.drag) return;
    this.hooks.onHover(null, this);
    this.hooks.onPoints(null, { x: 0, y: 0 });
  }

  /** @param {PointerEvent} event */
  onPress(event) {
    if (event.button) return;
    const { x } = this.plotPosition(event);
    this.drag = { from: x, to: x, pan: event.shiftKey, range: this.x };
    this.canvas.setPointerCapture(event.pointerId);
    this.hooks.onPoints(null, { x: 0, y: 0 });
  }

  /** @param {PointerEvent} event */
  onRelease(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    this.canvas.releasePointerCapture(event.pointerId);
    const [from, to] = [drag.from, drag.to].sort((a, b) => a - b);
    if (drag.pan) this.hooks.onZoom(this);
    else if (to - from > 4) {
      const share = (/** @type {number} */ x) => (x - PLOT.left) / this.innerSize.width;
      this.setZoom({ low: valueAt(this.x, share(from)), high: valueAt(this.x, share(to)), log: this.x.log });
    } else this.draw();
  }

  /** @param {number} by pixels @param {Extent} range */
  panBy(by, range) {
    const share = by / this.innerSize.width;
    this.zoom = { low: valueAt(range, -share), high: valueAt(range, 1 - share), log: range.log };
    this.fitAxes();
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) return;
    event.preventDefault();
    const share = (this.plotPosition(/** @type {any} */ (event)).x - PLOT.left) / this.innerSize.width;
    const by = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
    this.setZoom({ low: valueAt(this.x, share - share * by), high: valueAt(this.x, share + (1 - share) * by), log: this.x.log });
  }

  /** @param {Extent | null} range */
  setZoom(range) {
    this.zoom = range;
    this.fitAxes();
    this.draw();
    this.hooks.onZoom(this);
  }

  resetZoom() {
    this.setZoom(null);
  }
}

const BUFFERS = [new Float64Array(0), new Float64Array(0)]; // shared by all charts

/** A buffer for `most` numbers, with any content. @param {number} which @param {number} most */
function bufferFor(which, most) {
  if (BUFFERS[which].length < most) BUFFERS[which] = new Float64Array(most);
  return BUFFERS[which];
}

/** The length of lines in pixels. @param {number[][]} parts x and y alternating */
function lengthOf(parts) {
  let sum = 0;
  for (const part of parts) for (let at = 2; at < part.length; at += 2) sum += Math.abs(part[at] - part[at - 2]) + Math.abs(part[at + 1] - part[at - 1]);
  return sum;
}
