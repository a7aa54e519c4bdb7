// One chart on a canvas: lines, axes, the crosshair, and the gestures that change the range it shows.

/**
 * @typedef {{run: LogRun, colour: string, dashes: number[], x: ArrayLike<number>, y: ArrayLike<number>, raw: ArrayLike<number>, step: ArrayLike<number>, wall: ArrayLike<number>, superseded: ArrayLike<number> | undefined, start: number, n: number}} ChartLine
 * @typedef {{axis: string, logX: boolean, logY: boolean, outliers: boolean, restarts: boolean}} ChartLook
 */

const PLOT = { left: 52, top: 10, right: 12, bottom: 24 };
const FAINT = 0.25;
const TRIANGLE = 4;

class LineChart {
  /** @param {HTMLElement} place @param {{hover: (x: number | null, from: LineChart) => void, zoomed: (chart: LineChart) => void, told: (rows: any[] | null, at: {x: number, y: number}) => void}} hooks */
  constructor(place, hooks) {
    this.hooks = hooks;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    place.append(this.canvas);
    /** @type {ChartLine[]} */
    this.lines = [];
    /** @type {ChartLook} */
    this.look = { axis: "step", logX: false, logY: false, outliers: true, restarts: true };
    /** @type {Extent} */
    this.x = { low: 0, high: 1, log: false };
    /** @type {Extent} */
    this.y = { low: 0, high: 1, log: false };
    /** @type {Extent | null} the range across that the reader chose */
    this.zoom = null;
    /** @type {number | null} where the crosshair is, in values of the axis across */
    this.cross = null;
    /** @type {{from: number, to: number, pan: boolean, range: Extent} | null} */
    this.drag = null;
    this.hidden = 0;
    this.width = this.height = 0;
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
    this.whole = rangeOf(xs, logX);
    this.x = this.zoom ?? this.whole;
    this.y = paddedRange(rangeOf(ys, logY, outliers));
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.draw();
  }

  get inner() {
    return { width: Math.max(1, this.width - PLOT.left - PLOT.right), height: Math.max(1, this.height - PLOT.top - PLOT.bottom) };
  }

  /** @param {number} value */
  left(value) {
    return PLOT.left + shareOf(this.x, value) * this.inner.width;
  }

  /** @param {number} value */
  top(value) {
    return PLOT.top + (1 - Math.min(1.02, Math.max(-0.02, shareOf(this.y, value)))) * this.inner.height;
  }

  draw() {
    if (!this.width || !this.height) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    const g = this.canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint(g);
  }

  /** Draw everything with a pen: that of the canvas, or one that writes SVG. @param {CanvasRenderingContext2D} g */
  paint(g) {
    const look = getComputedStyle(this.canvas);
    const colours = { line: look.getPropertyValue("--line"), text: look.getPropertyValue("--secondary"), strong: look.getPropertyValue("--text") };
    g.font = `10px ${look.fontFamily}`;
    this.grid(g, colours);
    g.save();
    g.beginPath();
    g.rect(PLOT.left, PLOT.top - TRIANGLE, this.inner.width, this.inner.height + 2 * TRIANGLE);
    g.clip();
    g.lineJoin = "round";
    for (const line of this.lines) this.faint(g, line);
    for (const line of this.lines) this.clear(g, line);
    this.crosshair(g, colours);
    g.restore();
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  grid(g, colours) {
    const foot = PLOT.top + this.inner.height;
    const end = PLOT.left + this.inner.width;
    g.strokeStyle = colours.line;
    g.fillStyle = colours.text;
    g.lineWidth = 1;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const value of ticksOf(this.y, this.inner.height < 140 ? 3 : 5)) {
      const y = Math.trunc(this.top(value)) + 0.5;
      g.beginPath();
      g.moveTo(PLOT.left, y);
      g.lineTo(end, y);
      g.stroke();
      g.fillText(shortNumber(value), PLOT.left - 6, y);
    }
    g.textAlign = "center";
    g.textBaseline = "top";
    let free = -Infinity;
    for (const value of ticksOf(this.x, Math.max(2, Math.floor(this.inner.width / 70)), this.look.axis !== "step" && !this.look.logX)) {
      const x = Math.trunc(this.left(value)) + 0.5;
      const word = this.word(value);
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

  /** A value of the axis across, in words. @param {number} value */
  word(value) {
    if (this.look.axis === "relative") return durationWord(value);
    return this.look.axis === "wall" ? momentWord(value, this.x.high - this.x.low) : shortNumber(value);
  }

  /** What is replaced, and what smoothing hides. @param {CanvasRenderingContext2D} g @param {ChartLine} line */
  faint(g, line) {
    g.globalAlpha = FAINT;
    g.strokeStyle = line.colour;
    g.lineWidth = 1.5;
    g.setLineDash([]);
    if (this.look.restarts) this.outline(g, line, line.raw, (at) => !!line.superseded?.[at]);
    if (line.raw !== line.y) this.outline(g, line, line.raw, (at) => !line.superseded?.[at]);
    g.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} g @param {ChartLine} line */
  clear(g, line) {
    g.strokeStyle = g.fillStyle = line.colour;
    g.lineWidth = 1.5;
    g.setLineDash(line.dashes);
    this.outline(g, line, line.y, (at) => !line.superseded?.[at]);
    g.setLineDash([]);
    for (let at = 0; at < line.x.length; at++) if (!Number.isFinite(line.raw[at]) && !line.superseded?.[at]) this.triangle(g, line.x[at], line.raw[at] > 0);
  }

  /** A line through the points that count, broken where a value cannot be shown. @param {CanvasRenderingContext2D} g @param {ChartLine} line @param {ArrayLike<number>} y @param {(at: number) => boolean} counts */
  outline(g, line, y, counts) {
    g.beginPath();
    let points = 0;
    let last = [0, 0];
    const dot = () => points === 1 && g.rect(last[0] - 1, last[1] - 1, 2, 2);
    for (let at = 0; at < line.x.length; at++) {
      if (!counts(at)) continue;
      const good = Number.isFinite(y[at]) && Number.isFinite(line.x[at]) && !(this.y.log && y[at] <= 0) && !(this.x.log && line.x[at] <= 0);
      if (!good) {
        dot();
        points = 0;
        continue;
      }
      last = [this.left(line.x[at]), this.top(y[at])];
      points ? g.lineTo(last[0], last[1]) : g.moveTo(last[0], last[1]);
      points++;
    }
    dot();
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
