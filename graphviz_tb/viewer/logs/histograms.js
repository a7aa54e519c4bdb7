// The pages of histograms: the frequency of values at each step, and percentiles over the steps.

import { el } from "../dom.js";
import { t } from "../strings.js";
import { BAND_COUNT, BandChart, PERCENTILES } from "./bands.js";
import { TagCard } from "./card.js";
import { isoTime, shortNumber } from "./curves.js";
import { exactNumber } from "./feed.js";
import { RidgeChart } from "./ridges.js";
import { AXES, axisChooser } from "./scalars.js";
import { TagPage } from "./tag_page.js";

/** @type {HistogramColumns} */
const NO_HISTOGRAMS = { n: 0, step: [], wall: [], borders: [], count: [], bands: [] };

class HistogramCard extends TagCard {
  static isChart = true;
  chart = /** @type {RidgeChart | BandChart} */ (null);

  /** @param {TagPage} page @param {CardEntry} entry */
  constructor(page, entry) {
    super(page, entry);
    this.data = NO_HISTOGRAMS;
    this.chart = this.createChart();
  }

  /** @returns {RidgeChart | BandChart} */
  createChart() {
    return new RidgeChart(this.plot, (ridge, x) => this.showRidgeTip(ridge, x));
  }

  /** @returns {"ridges" | "bands"} */
  get dataKind() {
    return "ridges";
  }

  /** @param {AbortSignal} signal */
  async fetchData(signal) {
    const [entry] = this.shownSeries();
    const data = entry ? await this.page.logs.feed.histograms(entry[1], this.dataKind, signal) : NO_HISTOGRAMS;
    return () => {
      this.data = data;
    };
  }

  /** The position of each histogram on the chosen axis. @returns {ArrayLike<number>} */
  stepPositions() {
    const { axis } = this.page.logs.look;
    const { step, wall } = this.data;
    if (axis === "start") return Float64Array.from(step, (value) => value - (step[0] ?? 0));
    const start = this.shownSeries()[0]?.[5] ?? wall[0] ?? 0;
    return axis === "step" ? step : axis === "wall" ? wall : Float64Array.from(wall, (time) => time - start);
  }

  showData() {
    const { look, overlay } = this.page.logs;
    this.chart.setData(this.data, this.stepPositions(), { axis: look.axis, overlay, colour: this.page.logs.runColour(/** @type {LogRun} */ (this.run)) });
    const [shown, all] = [this.data.step.length, this.data.n];
    this.note.textContent = shown < all ? t("log.someSteps", { n: shown, all }) : "";
    super.showData();
  }

  onDrawn() {
    this.fitPlot();
  }

  summary() {
    const { step, borders } = this.data;
    if (!step.length) return this.accessibleName();
    return `${this.accessibleName()}: ${t("log.steps", { n: step.length })}, ${t("log.range", { low: shortNumber(borders[0]), high: shortNumber(borders[borders.length - 1]) })}`;
  }

  /** @param {{at: number, bin: number} | null} ridge @param {number} x */
  showRidgeTip(ridge, x) {
    const { step, wall, borders, count } = this.data;
    const cells = ridge ? [`${shortNumber(borders[ridge.bin])} … ${shortNumber(borders[ridge.bin + 1])}`, shortNumber(count[ridge.at * (borders.length - 1) + ridge.bin], 6), String(step[ridge.at]), isoTime(wall[ridge.at])] : [];
    this.page.showTip(this, ["log.bin", "log.count", "step", "log.wall"].map((key) => t(key)), ridge ? [el("tr", {}, ...cells.map((cell) => el("td", {}, cell)))] : [], x);
  }

  /** A row a step: its count in each bin. */
  tableRows() {
    const { step, wall, borders, count } = this.data;
    const bins = borders.length - 1;
    return Array.from(step, (_, at) => ({ run: /** @type {LogRun} */ (this.run).name, tag: this.tag.name, step: exactNumber(step, at), wall_time: wall[at], ...Object.fromEntries(Array.from({ length: Math.max(0, bins) }, (_, bin) => [`from ${borders[bin]}`, count[at * bins + bin]])) }));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    const bins = Array.from(this.data.borders).slice(0, -1);
    return [...stepColumns(), ...bins.map((border) => /** @type {[string, (row: CardRow) => string]} */ ([`≥ ${shortNumber(border)}`, (row) => shortNumber(Number(row[`from ${border}`]), 6)]))];
  }
}

class DistributionCard extends HistogramCard {
  createChart() {
    return new BandChart(this.plot, (at, x) => this.showBandTip(at, x));
  }

  /** @returns {"ridges" | "bands"} */
  get dataKind() {
    return "bands";
  }

  summary() {
    const { step, bands } = this.data;
    if (!step.length) return this.accessibleName();
    return `${this.accessibleName()}: ${t("log.steps", { n: step.length })}, ${t("log.median", { value: shortNumber(bands[(step.length - 1) * BAND_COUNT + 4]) })}`;
  }

  /** @param {number} at @param {number} x */
  showBandTip(at, x) {
    const { step, wall, bands } = this.data;
    const head = [t("step"), String(step[at])];
    const rows = at < 0 ? [] : PERCENTILES.map((word, band) => el("tr", {}, el("td", {}, word), el("td", {}, shortNumber(bands[at * BAND_COUNT + band], 6)))).reverse();
    this.page.showTip(this, head, rows.length ? [...rows, el("tr", {}, el("td", {}, t("log.wall")), el("td", {}, isoTime(wall[at])))] : [], x);
  }

  tableRows() {
    const { step, wall, bands } = this.data;
    return Array.from(step, (_, at) => ({ run: /** @type {LogRun} */ (this.run).name, tag: this.tag.name, step: exactNumber(step, at), wall_time: wall[at], ...Object.fromEntries(PERCENTILES.map((word, band) => [word, bands[at * BAND_COUNT + band]])) }));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    return [...stepColumns(), ...PERCENTILES.map((word) => /** @type {[string, (row: CardRow) => string]} */ ([word, (row) => String(row[word])]))];
  }
}

/** Step and time, as columns of a table. @returns {[string, (row: CardRow) => string][]} */
const stepColumns = () => [[t("step"), (row) => String(row.step)], [t("log.wall"), (row) => isoTime(row.wall_time)]];

export class DistributionPage extends TagPage {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs, "histogram");
    this.axis = axisChooser((axis) => this.setAxis(axis));
    this.bar.append(this.axis);
  }

  /** @param {CardEntry} entry @returns {TagCard} */
  createCard(entry) {
    return new DistributionCard(this, entry);
  }

  onRestore() {
    super.onRestore();
    this.axis.value = this.logs.look.axis;
  }

  onFilter() {
    super.onFilter();
    this.axis.value = this.logs.look.axis;
  }

  /** @param {string} axis */
  setAxis(axis) {
    this.logs.look.axis = this.axis.value = axis;
    this.onTheme();
    this.logs.writeAddress();
  }

  /** @returns {Record<string, () => void>} */
  pageKeys() {
    return { x: () => this.setAxis(AXES[(AXES.indexOf(this.logs.look.axis) + 1) % AXES.length]) };
  }
}

export class HistogramPage extends DistributionPage {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs);
    this.mode = el("select", { "aria-label": t("log.mode"), onchange: () => this.setOverlay(this.mode.value === "overlay") }, ...["offset", "overlay"].map((mode) => el("option", { value: mode }, t(`log.${mode}`))));
    this.bar.append(this.mode);
  }

  /** @param {CardEntry} entry @returns {TagCard} */
  createCard(entry) {
    return new HistogramCard(this, entry);
  }

  onRestore() {
    super.onRestore();
    this.mode.value = this.logs.overlay ? "overlay" : "offset";
  }

  /** @param {boolean} overlay */
  setOverlay(overlay) {
    this.logs.overlay = overlay;
    this.onTheme();
    this.logs.writeAddress();
  }
}
