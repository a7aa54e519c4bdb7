// Series to be drawn: smoothed, with axes. Ticks and number texts are translated from Python; smoothing and
// percentiles, which Python computes with NumPy for a million points, are written by hand and compared with Python by
// a test.

export const POINTS_PER_PIXEL = 4;
const MAX_SMOOTHING_WEIGHT = 0.999;
const MIN_WEIGHT_POWER = 2 ** -54; // 1 less than that is 1
const OUTLIER_FACTOR = 8; // times the average distance of points from their neighbours
const MIN_POINTS_FOR_OUTLIERS = 10; // points

/** @typedef {{low: number, high: number, log: boolean}} Extent */

/** A range with room beyond its ends. @type {(range: Extent, share?: number) => Extent} */
export const paddedRange = layout.pad_axis;
/** A number in few letters. @type {(value: number, digits?: number) => string} */
export const shortNumber = layout.format_number;
/** A time since the beginning of a run. @type {(seconds: number) => string} */
export const durationWord = layout.format_duration;
/** Round values on a range, ascending. @param {Extent} range @param {number} [most] @param {boolean} [time] in seconds @returns {number[]} */
export const ticksOf = (range, most = 5, time = false) => (time ? layout.axis_time_ticks : layout.axis_ticks)(range, most);

/**
 * An exponential moving average without bias; values that are not finite stay and do not count.
 * @param {ArrayLike<number>} values @param {number} weight @returns {Float64Array}
 */
export function smoothSeries(values, weight) {
  const out = new Float64Array(values);
  const w = Math.min(Math.max(weight, 0), MAX_SMOOTHING_WEIGHT);
  if (!w) return out;
  let [last, power, first, varies, begun] = [0, 1, NaN, false, false];
  for (let at = 0; at < out.length; at++) {
    const value = out[at];
    if (!Number.isFinite(value)) continue;
    if (!begun) first = value;
    begun = true;
    varies ||= value !== first;
    last = last * w + (1 - w) * value;
    power = power > MIN_WEIGHT_POWER ? power * w : 0;
    out[at] = power ? last / (1 - power) : last;
  }
  return varies ? out : new Float64Array(values);
}

/** @type {WeakMap<object, number[]>} by values */
const NON_FINITE_PLACES = new WeakMap();

/** The positions of the values that are not finite; cached. @param {ArrayLike<number>} values @returns {number[]} */
export function nonFinitePlaces(values) {
  let places = NON_FINITE_PLACES.get(values);
  if (places) return places;
  places = [];
  for (let at = 0; at < values.length; at++) if (!Number.isFinite(values[at])) places.push(at);
  NON_FINITE_PLACES.set(values, places);
  return places;
}

/**
 * The outliers among the points that count. Each is compared with the median of five points: in a smoothed line, an outlier
 * would make outliers of the points after it.
 * @param {ArrayLike<number>} values @param {ArrayLike<number>} [superseded] @returns {number[]}
 */
export function outliersOf(values, superseded) {
  const places = Array.from(values, (_, at) => at).filter((at) => Number.isFinite(values[at]) && !superseded?.[at]);
  if (places.length < MIN_POINTS_FOR_OUTLIERS) return [];
  const far = places.map((at, nth) => {
    const half = Math.min(2, nth, places.length - 1 - nth);
    const near = places.slice(nth - half, nth + half + 1).map((place) => values[place]).sort((a, b) => a - b);
    return Math.abs(values[at] - near[half]);
  });
  const most = (OUTLIER_FACTOR * far.reduce((sum, distance) => sum + distance, 0)) / far.length;
  return places.filter((_, nth) => far[nth] > most);
}

/**
 * The range that shows all finite values; without outliers from the 5th to the 95th percentile.
 * @param {ArrayLike<number>} values @param {boolean} log @param {boolean} [outliers] @returns {Extent}
 */
export function rangeOf(values, log, outliers = true) {
  const [low, high] = outliers ? extremes(values, log) : middlePercentiles(values, log);
  return layout.axis_between(low, high, log);
}

/** The least and the greatest of the finite values. @param {ArrayLike<number>} values @param {boolean} log */
function extremes(values, log) {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (!Number.isFinite(value) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** The 5th and the 95th percentile of the finite values. @param {ArrayLike<number>} values @param {boolean} log */
function middlePercentiles(values, log) {
  const finite = new Float64Array(values).filter((value) => Number.isFinite(value) && (!log || value > 0)).sort();
  const last = finite.length - 1;
  const first = Math.ceil(0.05 * last);
  return last < 0 ? [Infinity, -Infinity] : [finite[first], finite[Math.max(first, Math.floor(0.95 * last))]];
}

/** The position of a value in a range: 0 at the low end, 1 at the high one. @param {Extent} range @param {number} value */
export function shareOf({ low, high, log }, value) {
  return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}

/** The value at a share of a range. @param {Extent} range @param {number} share */
export function valueAt({ low, high, log }, share) {
  return log ? low * (high / low) ** share : low + (high - low) * share;
}

/** A 32-bit float with the fewest digits that identify it. @param {number} value */
export function floatWord(value) {
  if (!Number.isFinite(value) || Math.fround(value) !== value) return String(value);
  for (let digits = 1; digits < 10; digits++) {
    const word = Number(value.toPrecision(digits));
    if (Math.fround(word) === value) return String(word);
  }
  return String(value);
}

/** A wall time, as precise as a span of that many seconds needs. @param {number} seconds @param {number} span */
export function momentWord(seconds, span) {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return "?";
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (span <= 86400) return `${clock}:${two(at.getSeconds())}`;
  return span <= 86400 * 60 ? `${day} ${clock}` : `${at.getFullYear()}-${day}`;
}

/** A wall time in full. @param {number | string} seconds */
export function isoTime(seconds) {
  const at = new Date(Number(seconds) * 1000);
  return Number.isNaN(at.getTime()) ? "?" : at.toISOString();
}
