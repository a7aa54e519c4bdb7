// Histograms of one series on a canvas: each at its step, the last in front, or all above each other.

const RIDGE = { high: 0.45, far: 0.42, right: 52 }; // the greatest count and the room above the first step, as shares of the height
const OLDEST = 0.35; // how much of the run's colour the first histogram has

class RidgeChart extends Plot {
  /** @param {HTMLElement} place @param {(ridge: {at: number, bin: number} | null, x: number) => void} told */
  constructor(place, told) {
    super(place);
    this.told = told;
    this.axis = "value";
    /** @type {HistogramColumns} */
    this.data = { step: [], wall: [], borders: [], count: [], bands: [] };
    /** @type {ArrayLike<number>} where each lies on the axis of steps or times */
    this.when = [];
    this.whenAxis = "step";
    this.overlay = false;
    this.colour = "#000";
    this.most = 1;
    this.pointed = -1; // the histogram below the pointer
    this.canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.move(event));
    this.canvas.addEventListener("pointerleave", () => this.point(null, 0));
  }

  /** @param {HistogramColumns} data @param {ArrayLike<number>} when @param {{axis: string, overlay: boolean, colour: string}} look */
  set(data, when, { axis, overlay, colour }) {
    Object.assign(this, { data, when, overlay, colour, whenAxis: axis });
    const { borders } = data;
    this.bins = Math.max(0, borders.length - 1);
    this.x = borders.length ? { low: borders[0], high: borders[borders.length - 1], log: false } : { low: 0, high: 1, log: false };
    this.most = 0;
    for (let at = 0; at < data.count.length; at++) this.most = Math.max(this.most, data.count[at]);
    this.most ||= 1;
    this.y = overlay ? { low: 0, high: this.most * 1.05, log: false } : whole(when);
    this.right = overlay ? PLOT.right : RIDGE.right;
    this.draw();
  }

  /** The baseline of a histogram. @param {number} at */
  base(at) {
    const foot = PLOT.top + this.inner.height;
    if (this.overlay || this.when.length < 2) return foot;
    return foot - (1 - shareOf(this.y, this.when[at])) * RIDGE.far * this.inner.height;
  }

  /** How far above its baseline a count is. @param {number} count */
  rise(count) {
    const share = this.overlay || this.when.length < 2 ? 1 / 1.05 : RIDGE.high + (1 - RIDGE.far - RIDGE.high) * 0.9;
    return (count / this.most) * share * this.inner.height;
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  upGrid(g, colours) {
    if (this.overlay) return super.upGrid(g, colours);
    const end = PLOT.left + this.inner.width;
    g.fillStyle = colours.text;
    g.textAlign = "left";
    g.textBaseline = "middle";
    let free = -Infinity;
    for (const at of stepsUp(this.when)) {
      const y = this.base(at);
      if (Math.abs(y - free) < 12) continue;
      free = y;
      g.fillText(this.stepWord(this.when[at]), end + 6, y);
    }
  }

  /** A step or a time in words. @param {number} value */
  stepWord(value) {
    if (this.whenAxis === "relative") return durationWord(value);
    return this.whenAxis === "wall" ? momentWord(value, this.y.high - this.y.low) : shortNumber(value);
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  inside(g, colours) {
    const last = this.when.length - 1;
    for (let at = 0; at <= last; at++) {
      const share = last ? OLDEST + (1 - OLDEST) * (at / last) : 1;
      const pointed = at === this.pointed;
      if (!this.overlay) {
        g.strokeStyle = colours.line;
        g.lineWidth = 1;
        g.beginPath();
        g.moveTo(PLOT.left, Math.trunc(this.base(at)) + 0.5);
        g.lineTo(PLOT.left + this.inner.width, Math.trunc(this.base(at)) + 0.5);
        g.stroke();
        this.trace(g, at);
        g.fillStyle = mixed(this.colour, colours.ground, share);
        g.fill();
      }
      this.trace(g, at);
      g.lineWidth = pointed ? 2 : 1;
      g.strokeStyle = pointed ? colours.strong : this.overlay ? mixed(this.colour, colours.ground, share) : colours.ground;
      g.stroke();
    }
  }

  /** The outline of a histogram: its counts at the middles of the bins. @param {CanvasRenderingContext2D} g @param {number} at */
  trace(g, at) {
    const { borders, count } = this.data;
    const base = this.base(at);
    g.beginPath();
    g.moveTo(this.left(borders[0]), base);
    for (let bin = 0; bin < this.bins; bin++) g.lineTo(this.left((borders[bin] + borders[bin + 1]) / 2), base - this.rise(count[at * this.bins + bin]));
    g.lineTo(this.left(borders[this.bins]), base);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const bin = Math.floor(((x - PLOT.left) / this.inner.width) * this.bins);
    if (bin < 0 || bin >= this.bins) return this.point(null, 0);
    let best = -1;
    let least = Infinity;
    for (let at = 0; at < this.when.length; at++) {
      const base = this.base(at);
      const top = base - this.rise(this.data.count[at * this.bins + bin]);
      // The front one of those whose area is below the pointer, else the nearest outline.
      const far = !this.overlay && y >= top && y <= base ? -1 : Math.abs(top - y);
      if (far <= least) [best, least] = [at, far];
    }
    this.point(best < 0 ? null : { at: best, bin }, event.clientX);
  }

  /** @param {{at: number, bin: number} | null} ridge @param {number} x */
  point(ridge, x) {
    const at = ridge ? ridge.at : -1;
    if (at !== this.pointed) {
      this.pointed = at;
      this.draw();
    }
    this.told(ridge, x);
  }
}

/** The numbers of steps to be labelled, the last first. @param {ArrayLike<number>} when */
const stepsUp = (when) => Array.from(when, (_, at) => when.length - 1 - at);

/** The range of all values, of some width. @param {ArrayLike<number>} values @returns {Extent} */
const whole = (values) => rangeOf(Array.from(values), false);

/** A share of one colour over another, both as #rrggbb or #rgb. @param {string} colour @param {string} ground @param {number} share */
function mixed(colour, ground, share) {
  const [one, other] = [colour, ground].map((text) => {
    const hexes = text.trim().slice(1);
    return hexes.length < 6 ? [...hexes].map((letter) => parseInt(letter + letter, 16)) : [0, 2, 4].map((from) => parseInt(hexes.slice(from, from + 2), 16));
  });
  return `#${one.map((part, at) => Math.round(part * share + other[at] * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
}
