// Charts of trials: parallel coordinates with an axis per column, and scatter plots of two columns.

import { shortText, svgEl, visibleText } from "../dom.js";
import { naturalOrder } from "../rows_table.js";
import { numberText } from "../shapes.js";
import { t } from "../strings.js";
import { rangeOf, shareOf, shortNumber, ticksOf } from "./curves.js";

const MAX_DRAWN_TRIALS = 1000; // sessions in a chart
const MAX_DRAWN_AXES = 12; // largest number of columns
const LOG_RATIO = 100; // positive numbers with a greater ratio are on a logarithmic axis
const TRIAL_CHART = { height: 260, top: 34, bottom: 22, side: 56 };

/**
 * @typedef {{name: string, title: string, kind: string, type: string}} TrialColumn
 * @typedef {{session: string, run: number, group: string, status: string, values: any[]}} Trial
 * @typedef {{label: string, share: (value: any) => number | null, ticks: [number, string][], log: boolean}} TrialAxis `share`: the position of a value, from 0 to 1
 */

/** The axis of a column: a range for numbers, else a place for each value. @param {TrialColumn} column @param {any[]} values @returns {TrialAxis} */
export function trialAxis(column, values) {
  const label = shortText(column.title || column.name, 40);
  const there = values.filter((value) => value !== null && value !== undefined);
  const numbers = there.filter((value) => typeof value === "number");
  if (numbers.length && column.type === "float64") {
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const log = column.kind === "hparam" && low > 0 && high / low >= LOG_RATIO;
    const range = rangeOf(numbers, log);
    const share = (/** @type {any} */ value) => (typeof value === "number" ? shareOf(range, value) : null);
    return { label, share, log, ticks: ticksOf(range, 4).map((value) => [shareOf(range, value), shortNumber(value)]) };
  }
  const words = [...new Set(there.map(String))].sort(naturalOrder);
  const share = (/** @type {any} */ value) => (value === null || value === undefined ? null : words.length < 2 ? 0.5 : words.indexOf(String(value)) / (words.length - 1));
  const every = Math.ceil(words.length / 12);
  return { label, share, log: false, ticks: words.filter((_, at) => at % every === 0).map((word) => [/** @type {number} */ (share(word)), shortText(word, 24)]) };
}

/** A chart of some width. @param {string} name @param {number} width */
const trialChart = (name, width) => svgEl("svg", { role: "img", "aria-label": name, class: "trial-chart", width, height: TRIAL_CHART.height, viewBox: `0 0 ${width} ${TRIAL_CHART.height}` });

/** @param {Element} root @param {number} x @param {number} y @param {string} anchor @param {string} text */
function appendTrialText(root, x, y, anchor, text) {
  svgEl("text", { x: numberText(x), y: numberText(y), "text-anchor": anchor }, root).textContent = visibleText(text);
}

/** The y position of a share. @param {number} share */
const shareTop = (share) => TRIAL_CHART.top + (1 - share) * (TRIAL_CHART.height - TRIAL_CHART.top - TRIAL_CHART.bottom);

/**
 * A line for each session through all columns, broken where a value is missing.
 * @param {TrialColumn[]} columns @param {number[]} shown @param {Trial[]} rows @param {(row: Trial) => string} colour @param {number} width
 */
export function parallelChart(columns, shown, rows, colour, width) {
  const root = trialChart(t("log.parallel"), width);
  const some = shown.slice(0, MAX_DRAWN_AXES);
  const x = (/** @type {number} */ at) => TRIAL_CHART.side + (some.length > 1 ? (at * (width - 2 * TRIAL_CHART.side)) / (some.length - 1) : 0);
  const axes = some.map((at) => trialAxis(columns[at], rows.map((row) => row.values[at])));
  const room = Math.max(8, Math.floor((2 * (x(1) - x(0))) / 7)); // letters of a name; every second name is one line lower
  for (const row of rows.slice(0, MAX_DRAWN_TRIALS)) {
    let path = "";
    let open = false;
    some.forEach((column, at) => {
      const share = axes[at].share(row.values[column]);
      path += share === null ? "" : `${open ? "L" : "M"}${numberText(x(at))} ${numberText(shareTop(share))}`;
      open = share !== null;
    });
    const line = svgEl("path", { d: path, fill: "none", stroke: colour(row), "data-trial": row.session }, root);
    svgEl("title", {}, line).textContent = visibleText(row.session);
  }
  axes.forEach((axis, at) => {
    svgEl("path", { d: `M${numberText(x(at))} ${TRIAL_CHART.top}V${TRIAL_CHART.height - TRIAL_CHART.bottom}`, class: "axis" }, root);
    appendTrialText(root, x(at), 14 + (at % 2) * 12, at && at === some.length - 1 ? "end" : at ? "middle" : "start", shortText(axis.log ? `${axis.label} (log)` : axis.label, room));
    for (const [share, word] of axis.ticks) appendTrialText(root, x(at) - 5, shareTop(share) + 3, "end", word);
  });
  return root;
}

/**
 * A dot for each session.
 * @param {TrialColumn[]} columns @param {[number, number]} shown across and up @param {Trial[]} rows @param {(row: Trial) => string} colour @param {number} width
 */
export function scatterChart(columns, shown, rows, colour, width) {
  const root = trialChart(t("log.scatter"), width);
  const [across, up] = shown.map((at) => trialAxis(columns[at], rows.map((row) => row.values[at])));
  const x = (/** @type {number} */ share) => TRIAL_CHART.side + share * (width - TRIAL_CHART.side - 24);
  const foot = TRIAL_CHART.height - TRIAL_CHART.bottom;
  svgEl("path", { d: `M${TRIAL_CHART.side} ${TRIAL_CHART.top}V${foot}H${width - 24}`, class: "axis", fill: "none" }, root);
  for (const [share, word] of up.ticks) appendTrialText(root, TRIAL_CHART.side - 6, shareTop(share) + 3, "end", word);
  for (const [share, word] of across.ticks) appendTrialText(root, x(share), foot + 16, "middle", word);
  appendTrialText(root, TRIAL_CHART.side, 16, "start", `${up.label} ↑`);
  appendTrialText(root, width - 24, 16, "end", `${across.label} →`);
  for (const row of rows.slice(0, MAX_DRAWN_TRIALS)) {
    const [one, other] = [across.share(row.values[shown[0]]), up.share(row.values[shown[1]])];
    if (one === null || other === null) continue;
    const dot = svgEl("circle", { cx: numberText(x(one)), cy: numberText(shareTop(other)), r: 4, fill: colour(row), "data-trial": row.session }, root);
    svgEl("title", {}, dot).textContent = visibleText(`${row.session}: ${row.values[shown[0]]}, ${row.values[shown[1]]}`);
  }
  return root;
}

/** Compare values: numbers, then texts; missing values are last in either direction. @param {any} one @param {any} other @param {boolean} [down] */
export function compareTrialValues(one, other, down = false) {
  const rank = (/** @type {any} */ value) => (value === null || value === undefined ? 2 : typeof value === "number" ? 0 : 1);
  if (rank(one) !== rank(other)) return rank(one) - rank(other);
  const by = rank(one) === 0 ? one - other : rank(one) === 1 ? naturalOrder(String(one), String(other)) : 0;
  return down ? -by : by;
}
