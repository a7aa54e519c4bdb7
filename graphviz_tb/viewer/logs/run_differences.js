// Differences between the visible runs: the rows of their hyperparameters that are not equal in all.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { floatWord } from "./curves.js";

const MAX_COMPARED_RUNS = 12; // columns

export class RunDifferences {
  /** @param {Logs} logs */
  constructor(logs) {
    this.logs = logs;
    this.root = el("button", { class: "differences-button", onclick: () => this.open() }, t("log.differences"));
  }

  open() {
    const dialog = el("dialog", { class: "differences", "aria-label": t("log.differences") });
    dialog.append(...this.dialogContent(), el("button", { onclick: () => dialog.close() }, t("close")));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  /** @returns {Node[]} */
  dialogContent() {
    const { logs } = this;
    const shown = logs.runs.shownRuns();
    const known = new Set(logs.runs.trials.rows.map((row) => row.run));
    const runs = shown.some((run) => known.has(run.id)) ? shown.filter((run) => known.has(run.id)) : shown; // runs without hyperparameters have nothing to compare
    const some = runs.slice(0, MAX_COMPARED_RUNS);
    const rows = differingRows(runs, logs.runs.trials);
    const head = el("tr", {}, el("th", { scope: "col" }, ""), ...some.map((run) => el("th", { scope: "col", title: shortText(run.name) }, this.logs.runs.shownName(run.name, 40))));
    const body = rows.map(([name, values]) => el("tr", {}, el("th", { scope: "row" }, shortText(name, 60)), ...values.slice(0, MAX_COMPARED_RUNS).map((value) => el("td", {}, value === null || value === undefined ? "" : typeof value === "number" ? floatWord(value) : shortText(String(value), 60)))));
    const table = rows.length ? el("div", { class: "trials", tabindex: "0" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...body))) : el("p", { class: "quiet" }, t("log.noDifference"));
    const left = runs.length - some.length;
    const graphs = this.graphsToCompare(runs);
    return [el("h2", {}, t("log.differencesOf", { n: runs.length })), table, ...(left > 0 && rows.length ? [el("p", { class: "quiet" }, t("and", { n: left }))] : []), ...(graphs ? [el("button", { class: "main", onclick: () => this.compareGraphs(graphs) }, t("log.compareGraphs"))] : [])];
  }

  /** The server's name for the pair of graphs of the first two runs that have one; null without a pair. @param {LogRun[]} runs @returns {string | null} */
  graphsToCompare(runs) {
    const { graphs } = this.logs.state;
    const pair = runs.map((run) => graphs.find((/** @type {any} */ graph) => graph.run === run.name && graph.kind === "op") ?? graphs.find((/** @type {any} */ graph) => graph.run === run.name)).filter(Boolean);
    return pair.length > 1 && pair[0].kind === pair[1].kind ? `${pair[0].id}-${pair[1].id}` : null;
  }

  /** @param {string} graphs */
  async compareGraphs(graphs) {
    /** @type {any} */ (document.querySelector("dialog.differences"))?.close();
    await this.logs.show("graph");
    await this.logs.hooks.chooseGraph(graphs);
  }
}

/** Rows of hyperparameters and metrics that are not the same in all runs. @param {LogRun[]} runs @param {{columns: TrialColumn[], rows: Trial[]}} trials @returns {[string, any[]][]} */
function differingRows(runs, { columns, rows }) {
  const of = new Map(rows.map((row) => [row.run, row.values]));
  const all = columns.map((column, at) => /** @type {[string, any[]]} */ ([column.title || column.name, runs.map((run) => of.get(run.id)?.[at] ?? null)]));
  return all.filter(([, values]) => new Set(values).size > 1);
}
