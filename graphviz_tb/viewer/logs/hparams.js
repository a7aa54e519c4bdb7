// The page of trials: hyperparameters and metrics in a table that can be sorted and coloured, and in two charts.

import { el, shortText } from "../dom.js";
import { isTyping } from "../page_keys.js";
import { encodeRows, naturalOrder } from "../rows_table.js";
import { download } from "../save.js";
import { STRINGS, language, t } from "../strings.js";
import { shortNumber } from "./curves.js";
import { mixedColour } from "./ridges.js";
import { SheetWithoutCards } from "./sheet_without_cards.js";
import { filterControls, passesFilter } from "./trial_filters.js";
import { compareTrialValues, parallelChart, scatterChart, trialAxis } from "./trials.js";

const MAX_LISTED_TRIALS = 500; // rows of the table until the reader requests all

export class HparamsPage extends SheetWithoutCards {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs);
    /** @type {TrialColumn[]} */
    this.columns = [];
    /** @type {Trial[]} */
    this.rows = [];
    /** @type {Set<string>} names of columns that are not shown */
    this.hidden = new Set();
    this.showsAll = false;
    this.by = el("select", { "aria-label": t("log.colourBy"), onchange: () => this.changeTrials({ by: this.by.value }) });
    this.across = el("select", { "aria-label": t("log.across"), onchange: () => this.draw() });
    this.up = el("select", { "aria-label": t("log.up"), onchange: () => this.draw() });
    this.chooser = el("div", { class: "pop" });
    this.statusElement = el("span", { class: "quiet", role: "status" });
    const act = (/** @type {string} */ key, /** @type {string} */ format) => el("button", { onclick: () => this.saveTrials(format) }, t(key));
    const choose = el("details", { class: "menu" }, el("summary", {}, t("log.columns")), this.chooser);
    this.filterPanel = el("div", { class: "pop trial-filters" });
    this.filterSummary = el("summary", {}, t("log.filters"));
    const sieve = el("details", { class: "menu" }, this.filterSummary, this.filterPanel);
    this.bar = el("div", { class: "log-bar", role: "toolbar", "aria-label": t("log.page.hparams") }, el("label", { class: "check" }, t("log.colourBy"), this.by), choose, sieve, act("log.csv", "csv"), act("log.json", "json"), this.statusElement);
    this.list = el("div", { class: "trials", tabindex: "0" });
    this.lines = el("div", { class: "trial-place" });
    this.dots = el("div", { class: "trial-place" });
    const charts = el("div", { class: "trial-charts" }, el("section", {}, el("h2", {}, t("log.parallel")), this.lines), el("section", {}, el("h2", {}, t("log.scatter"), " ", this.across, this.up), this.dots));
    this.root = el("div", { class: "log-sheet", hidden: true }, this.bar, this.list, charts);
    new ResizeObserver(() => this.drawCharts()).observe(this.lines);
    this.root.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => this.highlightTrial(/** @type {Element} */ (event.target).closest("[data-trial]")?.getAttribute("data-trial")));
  }

  async load() {
    if (!this.isDirty) return;
    this.isDirty = false;
    try {
      const { columns, rows } = await this.logs.feed.trials();
      Object.assign(this, { columns, rows });
      this.logs.runs.setTrials(columns, rows);
    } catch (error) {
      this.isDirty = true;
      throw error;
    }
    this.fillColumnLists();
    this.draw();
  }

  /** Fill the lists of columns. */
  fillColumnLists() {
    const options = (/** @type {any} */ list, /** @type {string} */ value, /** @type {[string, string][]} */ first) => {
      list.replaceChildren(...[...first, ...this.columns.map((column) => [column.name, shortText(column.title || column.name, 60)])].map(([key, word]) => el("option", { value: key }, word)));
      list.value = value;
      if (list.selectedIndex < 0) list.selectedIndex = 0;
    };
    const metric = this.columns.findIndex((column) => column.kind === "metric");
    options(this.by, this.logs.trials.by, [["", t("run")]]);
    options(this.across, this.across.value || this.columns[0]?.name, []);
    options(this.up, this.up.value || this.columns[metric]?.name, []);
    this.fillFilters();
    this.chooser.replaceChildren(
      ...this.columns.map((column) => {
        const box = el("input", { type: "checkbox", onchange: () => (box.checked ? this.hidden.delete(column.name) : this.hidden.add(column.name), this.draw()) });
        box.checked = !this.hidden.has(column.name);
        return el("label", { class: "check" }, box, shortText(column.title || column.name, 60));
      }),
    );
  }

  /** Fill the list of filters. */
  fillFilters() {
    const { filters } = this.logs.trials;
    this.filterSummary.textContent = filters.size ? `${t("log.filters")} · ${filters.size}` : t("log.filters");
    const set = (/** @type {string} */ name, /** @type {TrialFilter | null} */ filter) => {
      filter ? filters.set(name, filter) : filters.delete(name);
      this.filterSummary.textContent = filters.size ? `${t("log.filters")} · ${filters.size}` : t("log.filters");
      this.changeTrials({});
    };
    const clear = el("button", { onclick: () => (filters.clear(), this.fillFilters(), this.changeTrials({})) }, t("log.noFilters"));
    this.filterPanel.replaceChildren(clear, ...this.columns.map((column, at) => filterControls(column, this.rows.map((row) => row.values[at]), filters.get(column.name) ?? {}, (filter) => set(column.name, filter))));
  }

  /** @param {Partial<{sort: string, by: string}>} change */
  changeTrials(change) {
    Object.assign(this.logs.trials, change);
    this.draw();
    this.logs.writeAddress();
  }

  /** The ids of the runs whose sessions are listed; null, which means all, until the reader chooses or filters runs. Charts
   * show few runs at first, but the best session may be in any run. */
  listedRuns() {
    const { runs } = this.logs;
    if (runs.isChosenByReader) return runs.chosenIds();
    return runs.pattern ? new Set(runs.listedRuns().map((run) => run.id)) : null;
  }

  /** The sessions in the chosen order: a column's name, after "-" for the greatest first. */
  sortedTrials() {
    const { trials } = this.logs;
    const chosen = this.listedRuns();
    const rows = this.rows.filter((row) => (!chosen || chosen.has(row.run)) && this.columns.every((column, at) => passesFilter(trials.filters.get(column.name), row.values[at])));
    const down = trials.sort.startsWith("-");
    const at = this.columns.findIndex((column) => column.name === trials.sort.slice(Number(down)));
    const key = (/** @type {Trial} */ row) => (at < 0 ? row.session : row.values[at]);
    return rows.sort((a, b) => compareTrialValues(key(a), key(b), down) || naturalOrder(a.session, b.session));
  }

  /** The numbers of the columns that are shown. */
  visibleColumns() {
    return this.columns.map((_, at) => at).filter((at) => !this.hidden.has(this.columns[at].name));
  }

  /** The colour of a session: of its run, or by a column, from low to high. @param {Trial[]} rows @returns {(row: Trial) => string} */
  trialColours(rows) {
    const run = new Map(this.logs.runs.runs.map((logRun) => [logRun.id, logRun]));
    const at = this.columns.findIndex((column) => column.name === this.logs.trials.by);
    const look = getComputedStyle(this.root);
    const plain = look.getPropertyValue("--secondary").trim();
    if (at < 0) return (row) => (run.has(row.run) ? this.logs.runColour(/** @type {LogRun} */ (run.get(row.run))) : plain);
    const axis = trialAxis(this.columns[at], rows.map((row) => row.values[at]));
    const [low, high] = [look.getPropertyValue("--bad"), look.getPropertyValue("--accent")];
    return (row) => {
      const share = axis.share(row.values[at]);
      return share === null ? plain : mixedColour(high, low, share);
    };
  }

  draw() {
    const rows = this.sortedTrials();
    const colour = this.trialColours(rows);
    const shown = this.visibleColumns();
    const { sort } = this.logs.trials;
    const head = (/** @type {string} */ name, /** @type {string} */ word, /** @type {string} */ about) => {
      const [up, down] = [sort === name, sort === `-${name}`];
      return el("th", { scope: "col", "aria-sort": up ? "ascending" : down ? "descending" : "none" }, el("button", { class: "sort", title: about, onclick: () => this.changeTrials({ sort: up ? `-${name}` : name }) }, shortText(word, 60), el("span", { "aria-hidden": "true" }, up ? " ▲" : down ? " ▼" : "")));
    };
    const heads = [head("", t("log.session"), ""), el("th", { scope: "col" }, t("log.status")), ...shown.map((at) => head(this.columns[at].name, this.columns[at].title || this.columns[at].name, t(`log.${this.columns[at].kind}`)))];
    const some = this.showsAll ? rows : rows.slice(0, MAX_LISTED_TRIALS);
    const body = some.map((row) => this.trialRow(row, shown, colour(row)));
    const more = some.length < rows.length && el("button", { onclick: () => ((this.showsAll = true), this.draw()) }, t("log.showAll", { n: rows.length }));
    const table = el("table", {}, el("caption", { class: "away" }, t("log.page.hparams")), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body));
    const parts = [rows.length < this.rows.length && t("log.ofSessions", { n: rows.length, all: this.rows.length }), this.listedRuns() && t("log.chosenOnly")];
    this.statusElement.textContent = this.rows.length ? parts.filter(Boolean).join(" · ") || t("log.ofSessions", { n: rows.length, all: rows.length }) : "";
    this.list.replaceChildren(table, ...(more ? [more] : []), ...(rows.length ? [] : [el("p", { class: "quiet" }, t("log.nothing"))]));
    this.drawCharts(rows, colour);
  }

  /** @param {Trial} row @param {number[]} shown @param {string} colour */
  trialRow(row, shown, colour) {
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = colour;
    const value = (/** @type {any} */ cell) => el("td", { title: cell === null ? null : shortText(String(cell), 200) }, cell === null ? "" : typeof cell === "number" ? shortNumber(cell, 5) : shortText(String(cell), 80));
    const status = STRINGS[language][`log.status.${row.status}`] ?? row.status;
    return el("tr", { "data-trial": row.session }, el("th", { scope: "row" }, swatch, ` ${shortText(row.session, 80)}`), el("td", {}, shortText(status, 40)), ...shown.map((at) => value(row.values[at])));
  }

  /** @param {Trial[]} [rows] @param {(row: Trial) => string} [colour] */
  drawCharts(rows = this.sortedTrials(), colour = this.trialColours(rows)) {
    const width = this.lines.clientWidth;
    if (!width || !this.columns.length) return;
    this.lines.replaceChildren(parallelChart(this.columns, this.visibleColumns(), rows, colour, width));
    const pair = [this.across, this.up].map((list) => this.columns.findIndex((column) => column.name === list.value));
    if (Math.min(...pair) >= 0) this.dots.replaceChildren(scatterChart(this.columns, /** @type {[number, number]} */ (pair), rows, colour, this.dots.clientWidth));
  }

  /** Show the same session in table and charts. @param {string | null | undefined} session */
  highlightTrial(session) {
    for (const element of this.root.querySelectorAll(".pointed")) element.classList.remove("pointed");
    if (session != null) for (const element of this.root.querySelectorAll(`[data-trial="${CSS.escape(session)}"]`)) element.classList.add("pointed");
  }

  /** @param {string} format */
  saveTrials(format) {
    const rows = this.sortedTrials().map((row) => ({ session: row.session, group: row.group, status: row.status, ...Object.fromEntries(this.columns.map((column, at) => [column.name, row.values[at] ?? ""])) }));
    download(new Blob([encodeRows(rows, format)]), `hparams.${format}`);
  }

  onRestore() {
    this.fillColumnLists();
    this.draw();
  }

  runsChanged() {
    this.draw();
  }

  onTheme() {
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || event.key !== "r") return;
    event.preventDefault();
    this.logs.runs.filter.focus();
  }
}
