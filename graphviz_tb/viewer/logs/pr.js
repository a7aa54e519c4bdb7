// The page of precision and recall: a card per tag with the curve of each selected run at one step.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { LineChart } from "./chart.js";
import { shortNumber } from "./curves.js";
import { runCell } from "./scalars.js";
import { StepCard, StepPage } from "./steps.js";

/** @typedef {{step: number, thresholds: number[], precision: any[], recall: any[], tp: any[], fp: any[], tn: any[], fn: any[]}} Curve */

class CurveChart extends LineChart {
  /** Both axes go from 0 to 1. */
  fitAxes() {
    this.hiddenCount = 0;
    this.wholeRange = { low: 0, high: 1, log: false };
    this.x = this.zoom ?? this.wholeRange;
    this.y = { low: 0, high: 1.02, log: false };
  }
}

export class CurveCard extends StepCard {
  static isChart = true;
  chart = /** @type {CurveChart} */ (null);

  /** @param {StepPage} page @param {CardEntry} entry */
  constructor(page, entry) {
    super(page, entry);
    this.chart = new CurveChart(this.plot, { onHover: (x) => this.moveCrosshair(x), onZoom: () => undefined, onPoints: (rows, at) => this.showPointTip(rows ?? [], at.x) });
  }

  /** @returns {[string, () => void][]} */
  menuActions() {
    return [...super.menuActions(), ["fit", () => this.chart.resetZoom()]];
  }

  /** The curves of the chosen runs. @returns {[LogRun, Curve][]} */
  curves() {
    const { runs } = this.page.logs;
    return runs.listedRuns().filter((run) => runs.chosen.has(run.name) && this.answers.has(run.id)).map((run) => [run, this.answers.get(run.id)]);
  }

  showData() {
    const lines = this.curves().map(([run, curve]) => {
      const [x, y] = [curve.recall.map(Number), curve.precision.map(Number)];
      return { run, colour: this.page.logs.runColour(run), dashes: this.page.logs.looks.lookOf(run).dashes, x, y, raw: y, step: curve.thresholds, wall: [], superseded: undefined, start: 0, n: x.length };
    });
    this.chart.setLines(lines, { axis: "value", logX: false, logY: false, outliers: true, restarts: false });
    super.showData();
  }

  onDrawn() {
    this.fitPlot();
  }

  remark() {
    return `${t("log.recall")} → · ${t("log.precision")} ↑`;
  }

  summary() {
    return `${super.summary()}, ${t("log.runCount", { n: this.curves().length })}`;
  }

  /** @param {number | null} x */
  moveCrosshair(x) {
    this.chart.crosshairValue = x;
    this.chart.draw();
  }

  /** @param {{line: ChartLine, at: number}[]} points @param {number} x */
  showPointTip(points, x) {
    const rows = points.map(({ line, at }) => {
      const curve = /** @type {Curve} */ (this.answers.get(line.run.id));
      const cells = [curve.thresholds[at], line.y[at], line.x[at]].map((value) => (value === undefined ? "" : shortNumber(value)));
      return el("tr", {}, runCell(this.page.logs.runs, line.run, line.colour), ...[...cells, ...[curve.tp, curve.fp, curve.tn, curve.fn].map((column) => String(column[at]))].map((cell) => el("td", {}, cell)));
    });
    this.page.showTip(this, [t("run"), t("log.threshold"), t("log.precision"), t("log.recall"), "TP", "FP", "TN", "FN"], rows, x);
  }

  tableRows() {
    return this.curves().flatMap(([run, curve]) =>
      curve.recall.map((_, at) => ({ run: run.name, tag: this.tag.name, step: curve.step, threshold: curve.thresholds[at] ?? "", precision: Number(curve.precision[at]), recall: Number(curve.recall[at]), tp: Number(curve.tp[at]), fp: Number(curve.fp[at]), tn: Number(curve.tn[at]), fn: Number(curve.fn[at]) })),
    );
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    const keys = ["run", "threshold", "precision", "recall", "tp", "fp", "tn", "fn"];
    const heads = [t("run"), t("log.threshold"), t("log.precision"), t("log.recall"), "TP", "FP", "TN", "FN"];
    return keys.map((key, at) => [heads[at], (row) => shortText(String(row[key]), 80)]);
  }
}

export class CurvePage extends StepPage {
  /** One card per tag. @param {LogTag} tag @returns {CardEntry[]} */
  entries(tag) {
    return [{ key: tag.name, tag, run: null }];
  }

  runsChanged() {
    for (const card of this.allCards()) {
      const lacks = card.shownSeries().some(([run, series]) => !card.answers.has(run) && !card.lists.has(series));
      if (lacks || !card.isNear) card.noteChange();
      else card.showData();
    }
  }
}
