// A card of scalars: the lines of the selected runs.

import { shortText } from "../dom.js";
import { encodeRows } from "../rows_table.js";
import { download } from "../save.js";
import { t } from "../strings.js";
import { BandedChart } from "./banded_chart.js";
import { TagCard } from "./card.js";
import { POINTS_PER_PIXEL, isoTime, nonFinitePlaces, shortNumber, smoothSeries } from "./curves.js";
import { exactNumber } from "./feed.js";
import { mergeLines, runGroups } from "./run_groups.js";
import { RUN_MEASURES } from "./runs.js";
import { COMBINED_ID } from "./together.js";

const MEMBER_DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]]; // distinguish the tags of one run
const MAX_REQUEST_PX = 16384; // limit of a server; the points of a file are not thinned further

export class ScalarCard extends TagCard {
  static isChart = true;
  chart = /** @type {LineChart} */ (null);
  /** @type {ChartBand[]} the spread of each group */
  bands = [];

  /** @param {ScalarPage} page @param {CardEntry} entry */
  constructor(page, entry) {
    super(page, entry);
    this.scalars = page;
    /** @type {Map<number, Points>} by series */
    this.points = new Map();
    /** @type {ChartLine[]} as they were drawn last */
    this.drawnLines = [];
    this.chart = this.createChart({ onHover: (x, from) => page.moveCrosshair(x, from), onZoom: () => this.onZoom(), onPoints: (rows, at) => page.showPointTip(this, rows, at.x) });
  }

  /** @param {ChartHooks} hooks */
  createChart(hooks) {
    return new BandedChart(this.plot, hooks);
  }

  /** The tags whose lines are drawn. @returns {LogTag[]} */
  chartTags() {
    return /** @type {any} */ (this.tag).members ?? [this.tag];
  }

  /** @returns {[string, () => void][]} */
  menuActions() {
    const { runs } = this.page.logs;
    const sorts = /** @type {[string, () => void][]} */ (RUN_MEASURES.map((measure) => [`log.sortBy.${measure}`, () => runs.sortByTag(this.chartTags()[0], measure)]));
    const apart = /** @type {[string, () => void][]} */ (this.isCombined() ? [["log.apart", () => this.scalars.separateTags(this.tag.name)]] : []);
    return [...super.menuActions(), ["log.wideCsv", () => this.saveWide()], ["fit", () => this.chart.resetZoom()], ...apart, ...sorts];
  }

  /** Request as many points as the chart can show. @param {AbortSignal} signal */
  async fetchData(signal) {
    const some = this.shownSeries();
    const { axis: across, smooth } = this.scalars.look;
    const axis = across === "start" ? "step" : across;
    const px = Math.max(100, Math.round(this.chart.innerSize.width));
    const zoom = across === "start" ? null : this.chart.zoom; // runs begin at different steps
    const ask = (/** @type {number[][]} */ which, /** @type {number | undefined} */ weight) =>
      which.length ? this.page.logs.feed.series(which.map((entry) => entry[1]), { axis, px, smooth: weight, from: zoom?.low, to: zoom?.high }, signal) : Promise.resolve(new Map());
    // A complete series is smoothed here, so that the slider needs no request.
    const [small, large] = [some.filter((entry) => entry[2] <= POINTS_PER_PIXEL * px && !zoom), some.filter((entry) => entry[2] > POINTS_PER_PIXEL * px || zoom)];
    const answers = await Promise.all([ask(small, undefined), ask(large, smooth || undefined)]);
    return () => {
      this.points = new Map();
      for (const answer of answers) for (const [, series] of some) if (answer.has(series)) this.points.set(series, answer.get(series));
    };
  }

  /** The lines of the runs that are chosen, or of their groups, as they are shown. @returns {ChartLine[]} */
  lines() {
    const { logs } = this.scalars;
    const each = this.runLines();
    this.bands = [];
    if (!logs.grouping.by) return each;
    const groups = runGroups(logs.runs.runs, logs.grouping, logs.runs.trials);
    /** @type {Map<string, ChartLine[]>} */
    const linesByGroup = new Map();
    for (const line of each) {
      const key = `${groups.get(line.run.id) ?? line.run.name}\n${line.tag}`;
      linesByGroup.set(key, [...(linesByGroup.get(key) ?? []), line]);
    }
    const merged = [...linesByGroup].map(([key, members]) => this.groupLine(key.split("\n")[0], members));
    const members = logs.grouping.members ? [...linesByGroup.values()].filter((some) => some.length > 1).flat() : [];
    return [...merged, ...members.map((line) => ({ ...line, faint: true }))];
  }

  /** The line of a group, whose band is added to those of the chart. @param {string} name @param {ChartLine[]} members @returns {ChartLine} */
  groupLine(name, members) {
    if (members.length < 2) return members[0];
    const { line: kind, spread } = this.scalars.logs.grouping;
    const counted = (/** @type {ChartLine} */ line, /** @type {ArrayLike<number>} */ y) => ({ x: line.x, y: line.superseded ? Float64Array.from(y, (value, at) => (line.superseded[at] ? NaN : value)) : y });
    const smooth = mergeLines(members.map((line) => counted(line, line.y)), kind, spread);
    const plain = members.every((line) => line.y === line.raw);
    const raw = plain ? smooth : mergeLines(members.map((line) => counted(line, line.raw)), kind, spread);
    const [first] = members;
    const tag = this.chartTags().length > 1 ? ` · ${first.tag}` : "";
    this.bands.push({ colour: first.colour, x: smooth.x, low: smooth.low, high: smooth.high });
    return {
      ...first, run: { ...first.run, name: t("log.group.size", { name: `${name}${tag}`, n: members.length }) }, dashes: this.chartTags().length > 1 ? first.dashes : [],
      x: smooth.x, y: smooth.value, raw: raw.value, step: smooth.x, wall: [], superseded: undefined, n: smooth.x.length, group: { ...raw, size: members.length },
    };
  }

  /** The lines of the runs that are chosen, each alone. @returns {ChartLine[]} */
  runLines() {
    const { logs } = this.scalars;
    const members = this.chartTags();
    const out = [];
    for (const run of logs.runs.shownRuns()) {
      members.forEach((tag, nth) => {
        const series = tag.runs.find(([id]) => id === run.id);
        const points = series && this.points.get(series[1]);
        if (!points) return;
        const start = (this.scalars.look.axis === "start" ? Number(series[3] ?? points.step[0]) : series[5] ?? points.wall[0]) || 0;
        const named = members.length > 1 ? { ...run, name: `${run.name} · ${tag.name}` } : run;
        const dashes = members.length > 1 ? MEMBER_DASHES[nth % MEMBER_DASHES.length] : logs.looks.lookOf(run).dashes;
        const x = this.scalars.look.axis === "step" ? points.step : Float64Array.from(points.wall, (_, at) => this.axisValue(points, at, start));
        out.push({ run: named, tag: tag.name, colour: logs.runColour(run), dashes, x, y: this.smoothedValues(points), raw: points.value, step: points.step, wall: points.wall, superseded: points.superseded, start: series[5] ?? points.wall[0] ?? 0, n: points.n });
      });
    }
    return out;
  }

  /** The position of a point on the horizontal axis. @param {Points} points @param {number} at @param {number} start */
  axisValue(points, at, start) {
    const { axis } = this.scalars.look;
    if (axis === "start") return points.step[at] - start;
    return axis === "step" ? points.step[at] : points.wall[at] - (axis === "wall" ? 0 : start);
  }

  /** @param {Points} points @returns {ArrayLike<number>} */
  smoothedValues(points) {
    const { smooth } = this.scalars.look;
    if (!smooth) return points.value;
    if (points.smoothed) return points.smoothed;
    if (!points.superseded) return smoothSeries(points.value, smooth);
    const counts = Array.from(points.value, (_, at) => at).filter((at) => !points.superseded?.[at]);
    const some = smoothSeries(counts.map((at) => points.value[at]), smooth);
    const out = Float64Array.from(points.value);
    counts.forEach((at, nth) => (out[at] = some[nth]));
    return out;
  }

  onDrawn() {
    if (!this.chart.width) this.fitPlot(); // later changes of size are observed, since measuring forces a layout of the page
  }

  showData() {
    const lines = (this.drawnLines = this.lines());
    this.drawLines(lines);
    const odd = lines.reduce((sum, line) => sum + nonFinitePlaces(line.raw).length, 0);
    const [shown, all] = [lines.reduce((sum, line) => sum + line.x.length, 0), lines.reduce((sum, line) => sum + line.n, 0)];
    const notes = [shown < all && !this.chart.zoom && t("log.thinned", { n: shown, all }), odd && t("log.odd", { n: odd }), this.chart.hiddenCount && t("log.hidden", { n: this.chart.hiddenCount })].filter(Boolean);
    const words = lines.length ? notes.join(" · ") : t("log.nothing");
    if (this.note.textContent !== words) this.note.textContent = words;
    super.showData();
  }

  /** Whether the reader combined several tags on this card. */
  isCombined() {
    return this.tag.id === COMBINED_ID;
  }

  /** @param {ChartLine[]} lines */
  drawLines(lines) {
    /** @type {BandedChart} */ (this.chart).setLines(lines, this.scalars.look, this.bands);
  }

  summary() {
    const lines = this.drawnLines;
    const last = lines.slice(0, 5).map((line) => `${shortText(line.run.name, 60)} ${shortNumber(lastValue(line))}`);
    return `${shortText(this.tag.name)}: ${t("log.runCount", { n: lines.length })}${last.length ? `, ${t("log.lastValues")} ${last.join(", ")}` : ""}`;
  }

  onZoom() {
    this.isStale = true;
    clearTimeout(this.zoomTimer);
    this.zoomTimer = setTimeout(() => this.load(), 120);
  }

  /** The exact values. */
  tableRows() {
    const lines = this.lines();
    if (this.page.logs.grouping.by) return lines.filter((line) => !line.faint).flatMap(groupRows);
    return lines.flatMap((line) => Array.from(line.step, (_, at) => ({ run: line.run.name, tag: line.tag ?? this.tag.name, step: exactNumber(line.step, at), wall_time: line.wall[at], value: line.raw[at], superseded: line.superseded?.[at] ? 1 : 0 })));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    const spread = /** @type {[string, (row: CardRow) => string][]} */ (this.page.logs.grouping.by ? [[t("log.least"), (row) => String(row.low)], [t("log.greatest"), (row) => String(row.high)], [t("log.runs"), (row) => String(row.runs)]] : []);
    if (spread.length) return [[t("run"), (row) => shortText(String(row.run), 80)], [t("step"), (row) => String(row.step)], [t("log.value"), (row) => String(row.value)], ...spread];
    return [[t("run"), (row) => shortText(String(row.run), 80)], [t("step"), (row) => String(row.step)], [t("log.value"), (row) => String(row.value)], [t("log.wall"), (row) => isoTime(row.wall_time)]];
  }

  /** Save all points if there is a server, else the loaded points. @param {string} format */
  saveRows(format) {
    const address = this.page.logs.feed.exportAddress(format, this.chartTags().map((tag) => tag.id));
    if (address && !this.page.logs.grouping.by) location.assign(address);
    else super.saveRows(format);
  }

  /** Save a row for each step, a column for each run or group. */
  async saveWide() {
    const { feed, grouping } = this.page.logs;
    const [first] = this.chartTags();
    if (grouping.by) return download(new Blob([wideCsv(this.lines().filter((line) => !line.faint))]), this.fileName("csv"));
    const series = this.shownSeries();
    const points = await feed.series(series.map((entry) => entry[1]), { axis: "step", px: MAX_REQUEST_PX });
    const left = [...points.values()].filter((line) => line.step.length < line.n).length;
    const lines = this.page.logs.runs.shownRuns().flatMap((run) => this.chartTags().flatMap((tag) => tag.runs.filter(([id]) => id === run.id).map(([, id]) => ({ name: tag === first && this.chartTags().length === 1 ? run.name : `${run.name} · ${tag.name}`, points: points.get(id) }))));
    download(new Blob([wideCsv(lines.filter((line) => line.points).map(({ name, points }) => ({ run: /** @type {any} */ ({ name }), step: points.step, raw: points.value, superseded: points.superseded })))]), this.fileName("csv"));
    if (left) this.page.logs.toast(t("log.wideThinned", { n: left }));
  }
}

/** The last point that counts. @param {ChartLine} line */
function lastValue(line) {
  for (let at = line.raw.length - 1; at >= 0; at--) if (!line.superseded?.[at]) return line.raw[at];
  return NaN;
}

/** A row of the table for each place of a group's line. @param {ChartLine} line @returns {CardRow[]} */
function groupRows(line) {
  const { group } = line;
  return Array.from(line.step, (_, at) => ({ run: line.run.name, tag: line.tag ?? "", step: exactNumber(line.step, at), value: line.raw[at], low: group ? group.low[at] : line.raw[at], high: group ? group.high[at] : line.raw[at], runs: group ? group.count[at] : 1 }));
}

/** A row for each step, a column for each line. @param {{run: LogRun, step: ArrayLike<number>, raw: ArrayLike<number>, superseded?: ArrayLike<number>}[]} lines */
function wideCsv(lines) {
  const each = lines.map((line) => new Map(Array.from(line.step, (step, at) => at).filter((at) => !line.superseded?.[at]).map((at) => [line.step[at], line.raw[at]])));
  const steps = [...new Set(each.flatMap((valuesByStep) => [...valuesByStep.keys()]))].sort((a, b) => a - b);
  return encodeRows(steps.map((step) => Object.fromEntries([["step", step], ...lines.map((line, nth) => [line.run.name, each[nth].get(step) ?? ""])])), "csv");
}
