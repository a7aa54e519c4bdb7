// Colours of points: one per category, or a ramp from the least number to the greatest.

import { naturalOrder } from "../rows_table.js";
import { t } from "../strings.js";
import { shortNumber } from "./curves.js";

export const MAX_COLOURED_CATEGORIES = 24; // categories with a colour; rarer ones share one
const MAX_INTEGER_CATEGORIES = 12; // distinct integers that still count as categories
const RAMP_COLOURS = { light: ["#e07b00", "#c0338f", "#1b1b7f"], dark: ["#5566e0", "#e0609f", "#ffe08a"] };

/**
 * @typedef {{name: string, numeric: boolean, texts: string[], at: ArrayLike<number>}} CloudColumn texts, and for each point the index of its text
 * @typedef {{word: string, colour: string, count: number, rows: (row: number) => boolean}} CloudEntry of a legend
 * @typedef {{entries: CloudEntry[], ramp: {low: string, high: string, colours: string[]} | null, colourOfRow: (row: number) => number}} CloudColouring the colour of a row, as 0xRRGGBB
 */

/** @param {string} colour such as #0969da or #fff */
export function rgbOf(colour) {
  const word = colour.trim().slice(1, 7);
  return Number.parseInt(word.length < 6 ? word.replace(/./g, "$&$&") : word, 16);
}

/** @param {number} one @param {number} other both 0xRRGGBB @param {number} share of the second */
export function mixedRgb(one, other, share) {
  const part = (/** @type {number} */ shift) => Math.round(((one >> shift) & 255) * (1 - share) + ((other >> shift) & 255) * share) << shift;
  return part(16) | part(8) | part(0);
}

/** @param {number} colour */
export const hexOf = (colour) => `#${colour.toString(16).padStart(6, "0")}`;

/** @param {CloudColumn | undefined} column @param {number} n points @param {string[]} hues @param {"light" | "dark"} theme @param {number} plain @param {number} ground @returns {CloudColouring} */
export function cloudColouring(column, n, hues, theme, plain, ground) {
  if (!column) return { entries: [], ramp: null, colourOfRow: () => plain };
  const counts = new Uint32Array(column.texts.length);
  for (let row = 0; row < n; row++) counts[column.at[row]]++;
  const whole = column.texts.every((text) => Number.isInteger(Number(text)));
  const categories = !column.numeric || (whole && column.texts.length <= MAX_INTEGER_CATEGORIES);
  if (!categories) return cloudRamp(column, RAMP_COLOURS[theme], plain);
  const order = [...counts.keys()].sort((a, b) => counts[b] - counts[a] || naturalOrder(column.texts[a], column.texts[b]));
  const some = order.length > MAX_COLOURED_CATEGORIES ? order.slice(0, MAX_COLOURED_CATEGORIES - 1) : order;
  some.sort((a, b) => naturalOrder(column.texts[a], column.texts[b]));
  const colours = new Int32Array(counts.length).fill(plain);
  // Twelve hues, then the same hues mixed with the background.
  some.forEach((text, at) => (colours[text] = at < hues.length ? rgbOf(hues[at]) : mixedRgb(rgbOf(hues[at % hues.length]), ground, 0.45)));
  const entries = some.map((text) => ({ word: column.texts[text], colour: hexOf(colours[text]), count: counts[text], rows: (/** @type {number} */ row) => column.at[row] === text }));
  const left = n - some.reduce((sum, text) => sum + counts[text], 0);
  const shown = new Set(some);
  if (left) entries.push({ word: t("log.cloud.others", { n: order.length - some.length }), colour: hexOf(plain), count: left, rows: (row) => !shown.has(column.at[row]) });
  return { entries, ramp: null, colourOfRow: (row) => colours[column.at[row]] };
}

/** @param {CloudColumn} column @param {string[]} ramp @param {number} plain @returns {CloudColouring} */
function cloudRamp(column, ramp, plain) {
  const numbers = column.texts.map((text) => (text.trim() === "" ? NaN : Number(text)));
  const there = numbers.filter(Number.isFinite);
  const low = there.reduce((a, b) => Math.min(a, b), Infinity);
  const high = there.reduce((a, b) => Math.max(a, b), -Infinity);
  const colours = numbers.map((value) => {
    if (!Number.isFinite(value)) return plain;
    const at = (high > low ? (value - low) / (high - low) : 0.5) * (ramp.length - 1);
    const first = Math.min(ramp.length - 2, Math.floor(at));
    return mixedRgb(rgbOf(ramp[first]), rgbOf(ramp[first + 1]), at - first);
  });
  return { entries: [], ramp: { low: shortNumber(low, 4), high: shortNumber(high, 4), colours: ramp }, colourOfRow: (row) => colours[column.at[row]] };
}

/** The texts of a column that match a search, a part or a /regex/; null for an invalid pattern. @param {CloudColumn} column @param {string} text @returns {Uint8Array | null} */
export function cloudSearch(column, text) {
  const regex = /^\/(.*)\/$/.exec(text);
  let test = (/** @type {string} */ candidate) => candidate.toLowerCase().includes(text.toLowerCase());
  if (regex) {
    try {
      const pattern = new RegExp(regex[1], "iu");
      test = (candidate) => pattern.test(candidate);
    } catch {
      return null;
    }
  }
  return Uint8Array.from(column.texts, (candidate) => Number(test(candidate)));
}
