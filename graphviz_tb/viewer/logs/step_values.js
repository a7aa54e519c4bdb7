// Values of all visible runs at a step that the reader enters: as a table, and as a line in the charts.

import { el, shortText } from "../dom.js";
import { encodeRows } from "../rows_table.js";
import { download } from "../save.js";
import { t } from "../strings.js";
import { floatWord } from "./curves.js";
import { compareTrialValues } from "./trials.js";

const MAX_TAG_COLUMNS = 12; // tags that the table shows; the file has all
const SAMPLED_PX = 100;

/** @typedef {{run: LogRun, values: ({step: number, value: number} | null)[]}} StepRow */

export class StepValues {
  /** @param {ScalarPage} page */
  constructor(page) {
    this.page = page;
    this.turn = 0;
    this.sort = -1;
    this.down = false;
    this.input = el("input", { type: "number", step: "any", class: "filter step-field", "aria-label": t("log.typedStep"), placeholder: t("step"), onchange: () => this.setStep(this.input.value) });
    this.field = el("label", { class: "check" }, t("log.typedStep"), this.input);
    this.root = el("section", { class: "step-values", hidden: true });
  }

  /** @param {string} text */
  setStep(text) {
    const { logs } = this.page;
    logs.typedStep = text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text);
    this.showStep();
    logs.writeAddress();
  }

  /** Show the step of the address. */
  restore() {
    const { typedStep } = this.page.logs;
    this.input.value = typedStep === null ? "" : String(typedStep);
    this.showStep();
  }

  showStep() {
    for (const card of this.page.allCards()) {
      card.chart.markedStep = this.page.logs.typedStep;
      if (card.isNear) card.showData();
    }
    this.loadValues();
  }

  /** Request the values, and list them. */
  async loadValues() {
    const { logs } = this.page;
    const step = logs.typedStep;
    const turn = ++this.turn;
    this.root.hidden = step === null;
    if (step === null || !this.page.loggedTags) return this.root.replaceChildren();
    const tags = this.page.loggedTags.filter((tag) => this.page.tagTest.test(tag.name));
    const some = tags.slice(0, MAX_TAG_COLUMNS);
    const runs = logs.runs.shownRuns();
    const ids = new Set(runs.map((run) => run.id));
    const series = some.flatMap((tag) => tag.runs.filter(([run]) => ids.has(run)).map(([, id]) => id));
    const points = await logs.feed.series(series, { axis: "step", px: SAMPLED_PX, from: step, to: step }).catch(() => new Map());
    if (turn !== this.turn) return;
    /** @type {StepRow[]} */
    this.rows = runs.map((run) => ({ run, values: some.map((tag) => lastPointUntil(points.get(tag.runs.find(([id]) => id === run.id)?.[1] ?? -1), step)) }));
    this.draw(some, tags.length, step);
  }

  /** @param {LogTag[]} tags @param {number} all @param {number} step */
  draw(tags, all, step) {
    const rows = this.sort < 0 ? this.rows : [...this.rows].sort((a, b) => compareTrialValues(a.values[this.sort]?.value, b.values[this.sort]?.value, this.down));
    const head = (/** @type {LogTag} */ tag, /** @type {number} */ at) => {
      const order = this.sort === at ? (this.down ? "descending" : "ascending") : "none";
      return el("th", { scope: "col", "aria-sort": order }, el("button", { class: "sort", title: shortText(tag.name), onclick: () => this.sortBy(at, tags, all, step) }, shortText(tag.title || tag.name, 40), el("span", { "aria-hidden": "true" }, order === "none" ? "" : this.down ? " ▼" : " ▲")));
    };
    const cell = (/** @type {{step: number, value: number} | null} */ point) => el("td", { title: point && point.step !== step ? `${t("log.exactStep")} ${point.step}` : null }, point ? floatWord(point.value) : "", point && point.step !== step ? el("small", { class: "quiet" }, ` @${point.step}`) : null);
    const name = (/** @type {LogRun} */ run) => {
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = this.page.logs.runColour(run);
      return el("th", { scope: "row" }, swatch, ` ${this.page.logs.runs.shownName(run.name, 80)}`);
    };
    const body = rows.map((row) => el("tr", {}, name(row.run), ...row.values.map(cell)));
    const left = all - tags.length;
    const table = el("table", {}, el("caption", {}, `${t("log.typedStep")} ${step}`), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("run")), ...tags.map(head))), el("tbody", {}, ...body));
    const save = el("button", { onclick: () => this.saveValues(tags, step) }, t("log.csv"));
    this.root.replaceChildren(el("div", { class: "trials", tabindex: "0" }, table), el("p", { class: "quiet" }, save, left > 0 ? ` ${t("log.moreTags", { n: left })}` : ""));
  }

  /** @param {number} at @param {LogTag[]} tags @param {number} all @param {number} step */
  sortBy(at, tags, all, step) {
    this.down = this.sort === at && !this.down;
    this.sort = at;
    this.draw(tags, all, step);
  }

  /** @param {LogTag[]} tags @param {number} step */
  saveValues(tags, step) {
    const rows = this.rows.map(({ run, values }) => Object.fromEntries([["run", run.name], ...tags.map((tag, at) => [tag.name, values[at]?.value ?? ""])]));
    download(new Blob([encodeRows(rows, "csv")]), `step_${step}.csv`);
  }
}

/** The last point at a step or before it. @param {Points | undefined} points @param {number} step */
function lastPointUntil(points, step) {
  if (!points) return null;
  for (let at = points.step.length - 1; at >= 0; at--) {
    if (points.step[at] <= step && !points.superseded?.[at]) return { step: points.step[at], value: points.value[at] };
  }
  return null;
}
