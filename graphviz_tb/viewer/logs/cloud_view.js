// Screen positions of the points of a cloud: an orbiting camera, and a grid that finds points near a position.

const CELL_PX = 24; // px: a side of a cell of the grid
const EYE_DISTANCE_RADII = 3; // how far the eye is from the centre, in radii of the cloud
const FITTED_RADIUS = 0.44; // radius of the fitted cloud, as a share of the shorter side
const ZOOM_LIMITS = [0.2, 400];

/** @typedef {{x: Float32Array, y: Float32Array, z: Float32Array, n: number}} CloudPlaces in a sphere of radius 1; NaN for a point that is not shown */

export class CloudView {
  constructor() {
    this.width = this.height = 1;
    this.isFlat = true;
    /** @type {CloudPlaces} */
    this.places = { x: new Float32Array(0), y: new Float32Array(0), z: new Float32Array(0), n: 0 };
    /** @type {Uint8Array | null} which points are shown; null: all */
    this.shownPoints = null;
    this.reset();
  }

  /** Reset the view to show everything. */
  reset() {
    this.rotation = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    if (!this.isFlat) this.orbit(0.5, 0.35);
    this.zoom = 1;
    this.pan = [0, 0];
    this.centre = [0, 0, 0];
    this.isStale = true;
  }

  /** @param {CloudPlaces} places @param {boolean} flat */
  setPlaces(places, flat) {
    const before = this.isFlat;
    this.places = places;
    this.isFlat = flat;
    if (before !== flat) this.reset();
    this.isStale = true;
  }

  /** @param {number} width @param {number} height in px */
  resize(width, height) {
    Object.assign(this, { width, height, isStale: true });
  }

  /** Turn the cloud. @param {number} across @param {number} down in radians */
  orbit(across, down) {
    const [c, s, d, e] = [Math.cos(across), Math.sin(across), Math.cos(down), Math.sin(down)];
    const by = [c, 0, s, e * s, d, -e * c, -d * s, e, d * c];
    const m = this.rotation;
    this.rotation = by.map((_, at) => [0, 1, 2].reduce((sum, k) => sum + by[3 * Math.floor(at / 3) + k] * m[3 * k + (at % 3)], 0));
    this.isStale = true;
  }

  /** @param {number} x @param {number} y in px */
  panBy(x, y) {
    this.pan = [this.pan[0] + x, this.pan[1] + y];
    this.isStale = true;
  }

  /** Zoom about a position of the screen, which stays fixed. @param {number} by @param {number} x @param {number} y */
  zoomBy(by, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.max(ZOOM_LIMITS[0], Math.min(ZOOM_LIMITS[1], this.zoom * by));
    const real = zoom / this.zoom;
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    this.pan = [dx - (dx - this.pan[0]) * real, dy - (dy - this.pan[1]) * real];
    this.zoom = zoom;
    this.isStale = true;
  }

  /** Fit some points into the view. @param {number[]} rows */
  fit(rows) {
    const { x, y, z } = this.places;
    const there = rows.filter((row) => x[row] === x[row]);
    if (!there.length) return;
    const ends = [x, y, z].map((axis) => [Math.min(...there.map((row) => axis[row])), Math.max(...there.map((row) => axis[row]))]);
    this.centre = ends.map(([low, high]) => (low + high) / 2);
    const radius = Math.max(0.02, Math.hypot(...ends.map(([low, high]) => (high - low) / 2)));
    this.zoom = Math.max(ZOOM_LIMITS[0], Math.min(ZOOM_LIMITS[1], 1 / radius));
    this.pan = [0, 0];
    this.isStale = true;
  }

  /** Pixels of a radius. */
  get radiusPx() {
    return FITTED_RADIUS * Math.min(this.width, this.height) * this.zoom;
  }

  /** The screen position of a point: x, y and its depth. @param {number} row @returns {[number, number, number]} */
  screenPosition(row) {
    const { x, y, z } = this.places;
    const [m, c] = [this.rotation, this.centre];
    const [a, b, d] = [x[row] - c[0], y[row] - c[1], z[row] - c[2]];
    const depth = m[6] * a + m[7] * b + m[8] * d;
    const k = (this.radiusPx * EYE_DISTANCE_RADII) / Math.max(0.3, EYE_DISTANCE_RADII - depth);
    return [this.width / 2 + this.pan[0] + k * (m[0] * a + m[1] * b + m[2] * d), this.height / 2 + this.pan[1] - k * (m[3] * a + m[4] * b + m[5] * d), depth];
  }

  /** Sort all points into the cells of a grid, once per view. */
  sortIntoCells() {
    if (!this.isStale && this.screen) return;
    this.isStale = false;
    const { n } = this.places;
    if (this.screen?.length !== 2 * n) {
      this.screen = new Float32Array(2 * n);
      this.depth = new Float32Array(n);
      this.cellOf = new Int32Array(n);
      this.pointsByCell = new Int32Array(n);
    }
    this.columns = Math.max(1, Math.ceil(this.width / CELL_PX));
    this.cellRows = Math.max(1, Math.ceil(this.height / CELL_PX));
    const starts = new Int32Array(this.columns * this.cellRows + 1);
    this.projectPoints(starts);
    for (let cell = 1; cell < starts.length; cell++) starts[cell] += starts[cell - 1];
    this.cellStarts = starts;
    const next = starts.slice(0, -1);
    for (let row = 0; row < n; row++) if (this.cellOf[row] >= 0) this.pointsByCell[next[this.cellOf[row]]++] = row;
  }

  /** Compute the screen position and the cell of every point; count the cells in `starts`, shifted by one. Plain loops, because it runs for every point of every view. @param {Int32Array} starts */
  projectPoints(starts) {
    const { screen, depth, cellOf, shownPoints: there, width, height, columns } = this;
    const { x, y, z, n } = this.places;
    const [m0, m1, m2, m3, m4, m5, m6, m7, m8] = this.rotation;
    const [cx, cy, cz] = this.centre;
    const [left, top, unit] = [width / 2 + this.pan[0], height / 2 + this.pan[1], this.radiusPx * EYE_DISTANCE_RADII];
    for (let row = 0; row < n; row++) {
      const a = x[row] - cx;
      const b = y[row] - cy;
      const c = z[row] - cz;
      const near = m6 * a + m7 * b + m8 * c;
      const k = unit / Math.max(0.3, EYE_DISTANCE_RADII - near);
      const sx = left + k * (m0 * a + m1 * b + m2 * c);
      const sy = top - k * (m3 * a + m4 * b + m5 * c);
      screen[2 * row] = sx;
      screen[2 * row + 1] = sy;
      depth[row] = near;
      const isVisible = sx >= 0 && sy >= 0 && sx < width && sy < height && (there === null || there[row] > 0);
      const cell = isVisible ? Math.floor(sy / CELL_PX) * columns + Math.floor(sx / CELL_PX) : -1;
      cellOf[row] = cell;
      if (isVisible) starts[cell + 1]++;
    }
  }

  /** The point at a position of the screen, in front if several are about equally near; −1 for none.
   * @param {number} x @param {number} y @param {number} reach in px */
  pointNear(x, y, reach) {
    this.sortIntoCells();
    let [best, nearest] = [reach * reach, -1];
    const [column, line] = [Math.floor(x / CELL_PX), Math.floor(y / CELL_PX)];
    const wide = Math.ceil(reach / CELL_PX);
    for (let row = Math.max(0, line - wide); row <= Math.min(this.cellRows - 1, line + wide); row++) {
      for (let cell = Math.max(0, column - wide); cell <= Math.min(this.columns - 1, column + wide); cell++) {
        const own = row * this.columns + cell;
        for (let at = this.cellStarts[own]; at < this.cellStarts[own + 1]; at++) {
          const point = this.pointsByCell[at];
          const far = (this.screen[2 * point] - x) ** 2 + (this.screen[2 * point + 1] - y) ** 2;
          if (far < best || (far < best + 4 && nearest >= 0 && this.depth[point] > this.depth[nearest])) {
            best = Math.min(best, far);
            nearest = point;
          }
        }
      }
    }
    return nearest;
  }

  /** The points inside an outline. @param {number[][]} outline corners in px @returns {number[]} */
  pointsInside(outline) {
    this.sortIntoCells();
    const [xs, ys] = [outline.map(([x]) => x), outline.map(([, y]) => y)];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const out = [];
    for (let row = 0; row < this.places.n; row++) {
      if (this.cellOf[row] < 0) continue;
      const [x, y] = [this.screen[2 * row], this.screen[2 * row + 1]];
      if (x < left || x > right || y < top || y > bottom) continue;
      let odd = false;
      for (let at = 0, last = outline.length - 1; at < outline.length; last = at++) {
        if (ys[at] > y !== ys[last] > y && x < ((xs[last] - xs[at]) * (y - ys[at])) / (ys[last] - ys[at]) + xs[at]) odd = !odd;
      }
      if (odd) out.push(row);
    }
    return out;
  }
}

/** Points on three axes, scaled into a sphere of radius 1 around their centre; NaN if not shown or not finite.
 * @param {ArrayLike<number>[]} axes two or three @param {Uint8Array | null} there @returns {CloudPlaces} */
export function cloudPlaces(axes, there) {
  const n = axes[0].length;
  const [x, y, z] = [0, 1, 2].map(() => new Float32Array(n));
  const flat = axes.length < 3;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let row = 0; row < n; row++) {
    const bad = (there && !there[row]) || axes.some((axis) => !Number.isFinite(axis[row]));
    x[row] = bad ? NaN : axes[0][row];
    y[row] = bad ? NaN : axes[1][row];
    z[row] = bad ? NaN : flat ? 0 : axes[2][row];
    if (!bad) {
      [x[row], y[row], z[row]].forEach((value, at) => {
        if (value < low[at]) low[at] = value;
        if (value > high[at]) high[at] = value;
      });
    }
  }
  const middle = low.map((least, at) => (Number.isFinite(least) ? (least + high[at]) / 2 : 0));
  let most = 0;
  for (let row = 0; row < n; row++) if (x[row] === x[row]) most = Math.max(most, (x[row] - middle[0]) ** 2 + (y[row] - middle[1]) ** 2 + (z[row] - middle[2]) ** 2);
  const by = most > 0 ? 1 / Math.sqrt(most) : 1;
  for (let row = 0; row < n; row++) {
    x[row] = (x[row] - middle[0]) * by;
    y[row] = (y[row] - middle[1]) * by;
    z[row] = (z[row] - middle[2]) * by;
  }
  return { x, y, z, n };
}
