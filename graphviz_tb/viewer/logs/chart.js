// Lines on a canvas, the crosshair, and the gestures that change the range they show.

/**
 * @typedef {{run: LogRun, tag?: string, colour: string, dashes: number[], x: ArrayLike<number>, y: ArrayLike<number>, raw: ArrayLike<number>, step: ArrayLike<number>, wall: ArrayLike<number>, superseded: ArrayLike<number> | undefined, start: number, n: number}} ChartLine
 * @typedef {{axis: string, logX: boolean, logY: boolean, outliers: boolean, restarts: boolean}} ChartLook
 */

const FAINT = 0.25;
const DENSE = 12; // times the width of the chart: a line longer than that, with points in each pixel column, is a band of noise

class LineChart extends Plot {
  /** @param {HTMLElement} place @param {{hover: (x: number | null, from: LineChart) => void, zoomed: (chart: LineChart) => void, told: (rows: any[] | null, at: {x: number, y: number}) => void}} hooks */
  constructor(place, hooks) {
    super(place);
    this.hooks = hooks;
    /** @type {ChartLine[]} */
    this.lines = [];
    /** @type {ChartLook} */
    this.look = { axis: "step", logX: false, logY: false, outliers: true, restarts: true };
    /** @type {Extent | null} the range across that the reader chose */
    this.zoom = null;
    /** @type {number | null} where the crosshair is, in values of the axis across */
    this.cross = null;
    /** @type {{from: number, to: number, pan: boolean, range: Extent} | null} */
    this.drag = null;
    this.hidden = 0;
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.move(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => this.press(event));
    this.canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => this.release(event));
    this.canvas.addEventListener("dblclick", () => this.fit());
    this.canvas.addEventListener("wheel", (/** @type {WheelEvent} */ event) => this.wheel(event), { passive: false });
  }

  /** @param {ChartLine[]} lines @param {ChartLook} look */
  set(lines, look) {
    if (look.axis !== this.look.axis || look.logX !== this.look.logX) this.zoom = null;
    this.lines = lines;
    this.look = look;
    this.axis = look.axis;
    this.range();
    this.draw();
  }

  /** Fit the axes to the lines and to the reader's range. */
  range() {
    const { logX, logY, outliers } = this.look;
    /** @type {number[]} */
    const xs = [];
    /** @type {number[]} */
    const ys = [];
    this.hidden = 0;
    for (const line of this.lines) {
      for (let at = 0; at < line.x.length; at++) {
        if (line.superseded?.[at] && !this.look.restarts) continue;
        xs.push(line.x[at]);
        if ((logY && line.raw[at] <= 0) || (logX && line.x[at] <= 0)) this.hidden++;
        if (!this.zoom || (line.x[at] >= this.zoom.low && line.x[at] <= this.zoom.high)) ys.push(line.y[at]);
      }
    }
    for (const one of this.more()) ys.push(one);
    this.whole = rangeOf(xs, logX);
    this.x = this.zoom ?? this.whole;
    this.y = paddedRange(rangeOf(ys, logY, outliers));
  }

  /** Values that the axis upwards shows beside those of the lines. @returns {number[]} */
  more() {
    return [];
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  inside(g, colours) {
    for (const line of this.lines) this.faint(g, line);
    for (const line of this.lines) this.clear(g, line);
    this.crosshair(g, colours);
  }

  /** What is replaced, and what smoothing hides. @param {CanvasRenderingContext2D} g @param {ChartLine} line */
  faint(g, line) {
    g.globalAlpha = FAINT;
    g.strokeStyle = line.colour;
    if (this.look.restarts) this.outline(g, line, line.raw, (at) => !!line.superseded?.[at]);
    if (line.raw !== line.y) this.outline(g, line, line.raw, (at) => !line.superseded?.[at]);
    g.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} g @param {ChartLine} line */
  clear(g, line) {
    g.strokeStyle = g.fillStyle = line.colour;
    this.outline(g, line, line.y, (at) => !line.superseded?.[at], line.dashes);
    g.setLineDash([]);
    for (let at = 0; at < line.x.length; at++) if (!Number.isFinite(line.raw[at]) && !line.superseded?.[at]) this.triangle(g, line.x[at], line.raw[at] > 0);
  }

  /** A line through the points that count, broken where a value cannot be shown. @param {CanvasRenderingContext2D} g @param {ChartLine} line @param {ArrayLike<number>} y @param {(at: number) => boolean} counts @param {number[]} [dashes] */
  outline(g, line, y, counts, dashes = []) {
    const parts = this.parts(line, y, counts);
    const points = parts.reduce((sum, part) => sum + part.length / 2, 0);
    // Strokes of a dense line, its joins and dashes, lie on each other and take hundreds of times as long as the band that they make.
    if (points > this.inner.width && lengthOf(parts) > DENSE * this.inner.width) return this.band(g, parts);
    g.lineWidth = 1.5;
    g.setLineDash(dashes);
    g.beginPath();
    for (const part of parts) {
      if (part.length === 2) g.rect(part[0] - 1, part[1] - 1, 2, 2);
      for (let at = 0; at < part.length; at += 2) at ? g.lineTo(part[at], part[at + 1]) : g.moveTo(part[0], part[1]);
    }
    g.stroke();
  }

  /** Pixels of the points that count, x and y in turns, without a gap in each part. @param {ChartLine} line @param {ArrayLike<number>} y @param {(at: number) => boolean} counts */
  parts(line, y, counts) {
    const parts = /** @type {number[][]} */ ([]);
    let part = /** @type {number[]} */ ([]);
    for (let at = 0; at < line.x.length; at++) {
      if (!counts(at)) continue;
      const good = Number.isFinite(y[at]) && Number.isFinite(line.x[at]) && !(this.y.log && y[at] <= 0) && !(this.x.log && line.x[at] <= 0);
      if (!good) part = [];
      else if (part.push(this.left(line.x[at]), this.top(y[at])) === 2) parts.push(part);
    }
    return parts;
  }

  /** What a dense line covers of each pixel column: from its least to its greatest point. @param {CanvasRenderingContext2D} g @param {number[][]} parts */
  band(g, parts) {
    const [from, count] = [Math.floor(PLOT.left), Math.ceil(this.inner.width) + 1];
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
        // Where the line goes from one column to the next, both reach that place.
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
      const more = Math.max(0, 1.5 - high[column] + low[column]) / 2; // a line is that thick where it does not rise
      g.moveTo(from + column + 0.5, low[column] - more);
      g.lineTo(from + column + 0.5, high[column] + more);
    }
    g.stroke();
  }

  /** @param {CanvasRenderingContext2D} g @param {number} value @param {boolean} up */
  triangle(g, value, up) {
    const x = this.left(value);
    const tip = up ? PLOT.top - TRIANGLE : PLOT.top + this.inner.height + TRIANGLE;
    const base = tip + (up ? 2 : -2) * TRIANGLE;
    g.beginPath();
    g.moveTo(x, tip);
    g.lineTo(x - TRIANGLE, base);
    g.lineTo(x + TRIANGLE, base);
    g.fill();
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  crosshair(g, colours) {
    if (this.drag && !this.drag.pan) {
      g.fillStyle = colours.strong;
      g.globalAlpha = 0.1;
      g.fillRect(Math.min(this.drag.from, this.drag.to), PLOT.top, Math.abs(this.drag.to - this.drag.from), this.inner.height);
      g.globalAlpha = 1;
    }
    if (this.cross === null || this.drag) return;
    const x = Math.trunc(this.left(this.cross)) + 0.5;
    g.strokeStyle = colours.text;
    g.lineWidth = 1;
    g.globalAlpha = 0.5;
    g.beginPath();
    g.moveTo(x, PLOT.top);
    g.lineTo(x, PLOT.top + this.inner.height);
    g.stroke();
    g.globalAlpha = 1;
    for (const { line, at } of this.near(this.cross)) {
      if (!Number.isFinite(line.y[at])) continue;
      g.fillStyle = line.colour;
      g.beginPath();
      g.arc(this.left(line.x[at]), this.top(line.y[at]), 3, 0, 7);
      g.fill();
    }
  }

  /** The point of each line that is nearest to a place across. @param {number} x @returns {{line: ChartLine, at: number}[]} */
  near(x) {
    const out = [];
    for (const line of this.lines) {
      let best = -1;
      for (let at = 0; at < line.x.length; at++) {
        if (line.superseded?.[at]) continue;
        if (best < 0 || Math.abs(line.x[at] - x) <= Math.abs(line.x[best] - x)) best = at;
      }
      if (best >= 0) out.push({ line, at: best });
    }
    return out;
  }

  /** @param {PointerEvent} event */
  spot(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: Math.min(Math.max(event.clientX - box.left, PLOT.left), PLOT.left + this.inner.width), y: event.clientY - box.top };
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { x, y } = this.spot(event);
    if (this.drag) {
      if (this.drag.pan) this.pan(x - this.drag.from, this.drag.range);
      else this.drag.to = x;
      return this.draw();
    }
    const value = valueAt(this.x, (x - PLOT.left) / this.inner.width);
    this.hooks.hover(value, this);
    const rows = this.near(value).map(({ line, at }) => ({ line, at, far: Math.abs(this.top(line.y[at]) - y) || 0 }));
    this.hooks.told(rows.sort((a, b) => a.far - b.far), { x: event.clientX, y: event.clientY });
  }

  leave() {
    if (this.drag) return;
    this.hooks.hover(null, this);
    this.hooks.told(null, { x: 0, y: 0 });
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.button) return;
    const { x } = this.spot(event);
    this.drag = { from: x, to: x, pan: event.shiftKey, range: this.x };
    this.canvas.setPointerCapture(event.pointerId);
    this.hooks.told(null, { x: 0, y: 0 });
  }

  /** @param {PointerEvent} event */
  release(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    this.canvas.releasePointerCapture(event.pointerId);
    const [from, to] = [drag.from, drag.to].sort((a, b) => a - b);
    if (drag.pan) this.hooks.zoomed(this);
    else if (to - from > 4) {
      const share = (/** @type {number} */ x) => (x - PLOT.left) / this.inner.width;
      this.setZoom({ low: valueAt(this.x, share(from)), high: valueAt(this.x, share(to)), log: this.x.log });
    } else this.draw();
  }

  /** @param {number} by pixels @param {Extent} range */
  pan(by, range) {
    const share = by / this.inner.width;
    this.zoom = { low: valueAt(range, -share), high: valueAt(range, 1 - share), log: range.log };
    this.range();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) return;
    event.preventDefault();
    const share = (this.spot(/** @type {any} */ (event)).x - PLOT.left) / this.inner.width;
    const by = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
    this.setZoom({ low: valueAt(this.x, share - share * by), high: valueAt(this.x, share + (1 - share) * by), log: this.x.log });
  }

  /** @param {Extent | null} range */
  setZoom(range) {
    this.zoom = range;
    this.range();
    this.draw();
    this.hooks.zoomed(this);
  }

  fit() {
    this.setZoom(null);
  }
}

/** Pixels that lines are long. @param {number[][]} parts x and y in turns */
function lengthOf(parts) {
  let sum = 0;
  for (const part of parts) for (let at = 2; at < part.length; at += 2) sum += Math.abs(part[at] - part[at - 2]) + Math.abs(part[at + 1] - part[at - 1]);
  return sum;
}
