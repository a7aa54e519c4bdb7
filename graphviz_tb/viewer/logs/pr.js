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
  range() {
    this.hidden = 0;
    this.whole = { low: 0, high: 1, log: false };
    this.x = this.zoom ?? this.whole;
    this.y = { low: 0, high: 1.02, log: false };
  }
}

export class CurveCard extends StepCard {
  static charted = true;
  chart = /** @type {CurveChart} */ (null);

  /** @param {StepPage} page @param {CardEntry} entry */
  constructor(page, entry) {
    super(page, entry);
    this.chart = new CurveChart(this.plot, { hover: (x) => this.hover(x), zoomed: () => undefined, told: (rows, at) => this.tell(rows ?? [], at.x) });
  }

  /** @returns {[string, () => void][]} */
  actions() {
    return [...super.actions(), ["fit", () => this.chart.fitAll()]];
  }

  /** The curves of the chosen runs. @returns {[LogRun, Curve][]} */
  curves() {
    const { runs } = this.page.logs;
    return runs.listedRuns().filter((run) => runs.chosen.has(run.name) && this.answers.has(run.id)).map((run) => [run, this.answers.get(run.id)]);
  }

  show() {
    const lines = this.curves().map(([run, curve]) => {
      const [x, y] = [curve.recall.map(Number), curve.precision.map(Number)];
      return { run, colour: this.page.logs.runColour(run), dashes: this.page.logs.looks.lookOf(run).dashes, x, y, raw: y, step: curve.thresholds, wall: [], superseded: undefined, start: 0, n: x.length };
    });
    this.chart.set(lines, { axis: "value", logX: false, logY: false, outliers: true, restarts: false });
    super.show();
  }

  onDrawn() {
    this.fitPlot();
  }

  remarkWords() {
    return `${t("log.recall")} → · ${t("log.precision")} ↑`;
  }

  summaryWords() {
    return `${super.summaryWords()}, ${t("log.runCount", { n: this.curves().length })}`;
  }

  /** @param {number | null} x */
  hover(x) {
    this.chart.cross = x;
    this.chart.draw();
  }

  /** @param {{line: ChartLine, at: number}[]} points @param {number} x */
  tell(points, x) {
    const rows = points.map(({ line, at }) => {
      const curve = /** @type {Curve} */ (this.answers.get(line.run.id));
      const cells = [curve.thresholds[at], line.y[at], line.x[at]].map((value) => (value === undefined ? "" : shortNumber(value)));
      return el("tr", {}, runCell(this.page.logs.runs, line.run, line.colour), ...[...cells, ...[curve.tp, curve.fp, curve.tn, curve.fn].map((column) => String(column[at]))].map((cell) => el("td", {}, cell)));
    });
    this.page.showTip(this, [t("run"), t("log.threshold"), t("log.precision"), t("log.recall"), "TP", "FP", "TN", "FN"], rows, x);
  }

  rows() {
    return this.curves().flatMap(([run, curve]) =>
      curve.recall.map((_, at) => ({ run: run.name, tag: this.tag.name, step: curve.step, threshold: curve.thresholds[at] ?? "", precision: Number(curve.precision[at]), recall: Number(curve.recall[at]), tp: Number(curve.tp[at]), fp: Number(curve.fp[at]), tn: Number(curve.tn[at]), fn: Number(curve.fn[at]) })),
    );
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  columns() {
    const keys = ["run", "threshold", "precision", "recall", "tp", "fp", "tn", "fn"];
    const heads = [t("run"), t("log.threshold"), t("log.precision"), t("log.recall"), "TP", "FP", "TN", "FN"];
    return keys.map((key, at) => [heads[at], (row) => shortText(String(row[key]), 80)]);
  }
}

export class CurvePage extends StepPage {
  /** One card a tag. @param {LogTag} tag @returns {CardEntry[]} */
  entries(tag) {
    return [{ key: tag.name, tag, run: null }];
  }

  runsChanged() {
    for (const card of this.every()) {
      const lacks = card.series().some(([run, series]) => !card.answers.has(run) && !card.lists.has(series));
      if (lacks || !card.near) card.noteChange();
      else card.show();
    }
  }
}
