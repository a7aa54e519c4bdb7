// The list of runs at the left of the pages of a log: selection, colour and progress of each.

import { el, shortText, visibleText } from "../dom.js";
import { narrowScreen } from "../input.js";
import { t } from "../strings.js";
import { RunDifferences } from "./run_differences.js";
import { RunValueFilter } from "./run_filter.js";
import { tagMeasures } from "./run_measures.js";
import { compareRunNames, shortNames } from "./run_names.js";
import { compareTrialValues } from "./trials.js";

const RUN_ROW_PX = 28; // height of a row; rows out of view are not created
const [ROW_REST_PX, NARROW_ROW_REST_PX] = [80, 96]; // px of a row besides its name and its step; larger on a phone, for a finger
const STEP_DIGIT_PX = 7; // px
const MIN_NAME_LENGTH = 12; // of a name
const LETTER_WIDTH_SPREAD = 1.12; // factor by which the letters of one name may be wider than the average
const LETTER_RULER = document.createElement("canvas").getContext("2d"); // measures them
const RUNS_SORTS = ["name", "time", "step"];
const TRIAL_SORT_PREFIX = "trial:"; // prefix of the name of a column by which runs are sorted
const TAG_SORT_PREFIX = "tag:"; // prefix of the measure and the tag by which runs are sorted
export const RUN_MEASURES = ["last", "least", "greatest"];
const MAX_INITIAL_RUNS = 40; // runs chosen until the reader chooses

export class RunList {
  /** @param {Logs} logs @param {HTMLElement} place */
  constructor(logs, place) {
    this.logs = logs;
    /** @type {LogRun[]} */
    this.runs = [];
    /** @type {Set<string>} names of the chosen runs */
    this.chosen = new Set();
    /** whether the reader chose; until then new runs are chosen as they come */
    this.isChosenByReader = false;
    this.sort = "name";
    /** @type {{columns: TrialColumn[], rows: Trial[]}} */
    this.trials = { columns: [], rows: [] };
    this.pattern = "";
    this.nameTest = /(?:)/;
    this.anchor = -1;
    /** @type {Map<number, Map<string, string>>} shortened names by the number of letters that fit */
    this.shortenedNames = new Map();
    this.filter = el("input", { type: "search", class: "filter", role: "searchbox", "aria-label": t("log.filterRuns"), placeholder: t("log.filterRuns"), spellcheck: "false", autocomplete: "off", oninput: () => this.setPattern(this.filter.value) });
    this.statusElement = el("div", { class: "said", role: "status" });
    /** @type {{key: string, word: string, values: Map<number, number>, down: boolean} | null} */
    this.tagSort = null;
    this.values = new RunValueFilter(logs, () => {
      this.draw();
      logs.runsChanged();
    });
    this.order = el("select", { "aria-label": t("log.sortRuns"), onchange: () => this.setSort(this.order.value) }, ...RUNS_SORTS.map((order) => el("option", { value: order }, t(`log.sort.${order}`))));
    this.all = el("input", { type: "checkbox", "aria-label": t("log.allRuns"), onchange: () => this.chooseAll(this.all.checked) });
    this.list = el("div", { class: "run-list", role: "group", "aria-label": t("log.runs"), onscroll: () => this.draw() });
    place.append(el("div", { class: "run-head" }, el("label", {}, this.all, el("b", {}, t("log.runs"))), this.order), this.filter, this.statusElement, this.values.root, this.list, new RunDifferences(logs).root);
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  /** @param {LogRun[]} runs */
  setRuns(runs) {
    const known = new Set(this.runs.map((run) => run.name));
    if (runs.length !== this.runs.length || runs.some((run) => !known.has(run.name))) this.shortenedNames.clear();
    this.runs = runs;
    if (!this.isChosenByReader) for (const run of runs) if (!known.has(run.name) && this.chosen.size < MAX_INITIAL_RUNS) this.chosen.add(run.name);
    this.draw();
  }

  /** Hyperparameters and metrics of runs, by which they may be sorted. @param {TrialColumn[]} columns @param {Trial[]} rows */
  setTrials(columns, rows) {
    this.trials = { columns, rows };
    this.fillSorts();
    this.values.onTrials(this.trials);
    this.draw();
  }

  /** Fill the list of orders: by name, time and step, by a column of trials, and by the tag that was sorted by last. */
  fillSorts() {
    const words = this.trials.columns.map((column) => /** @type {[string, string]} */ ([`${TRIAL_SORT_PREFIX}${column.name}`, shortText(column.title || column.name, 60)]));
    const tag = /** @type {[string, string][]} */ (this.tagSort ? [[this.tagSort.key, this.tagSort.word]] : []);
    this.order.replaceChildren(...[...RUNS_SORTS.map((order) => [order, t(`log.sort.${order}`)]), ...words, ...tag].map(([value, word]) => el("option", { value, selected: value === this.sort }, word)));
  }

  /** The runs that match the filter, in the chosen order. @returns {LogRun[]} */
  listedRuns() {
    const out = this.runs.filter((run) => this.passesFilters(run));
    if (this.tagSort && this.sort === this.tagSort.key) {
      const { values, down } = this.tagSort;
      return out.sort((a, b) => compareTrialValues(values.get(a.id), values.get(b.id), down) || compareRunNames(a.name, b.name));
    }
    const by = { name: () => 0, time: (/** @type {LogRun} */ a, /** @type {LogRun} */ b) => (b.last ?? 0) - (a.last ?? 0), step: (/** @type {LogRun} */ a, /** @type {LogRun} */ b) => Number(b.lastStep ?? -1) - Number(a.lastStep ?? -1) };
    const column = this.trials.columns.findIndex((candidate) => `${TRIAL_SORT_PREFIX}${candidate.name}` === this.sort);
    if (column < 0) return out.sort((a, b) => (by[/** @type {keyof typeof by} */ (this.sort)] ?? by.name)(a, b) || compareRunNames(a.name, b.name));
    const values = new Map(this.trials.rows.map((row) => [row.run, row.values[column]]));
    return out.sort((a, b) => compareTrialValues(values.get(a.id), values.get(b.id)) || compareRunNames(a.name, b.name));
  }

  /** The runs that charts show, in their order: chosen and not filtered out. */
  shownRuns() {
    return this.listedRuns().filter((run) => this.chosen.has(run.name));
  }

  /** The ids of the runs that charts show. */
  chosenIds() {
    return new Set(this.runs.filter((run) => this.chosen.has(run.name) && this.passesFilters(run)).map((run) => run.id));
  }

  /** Whether a run passes both filters. @param {LogRun} run */
  passesFilters(run) {
    return this.nameTest.test(run.name) && (!this.values.test || this.values.test(run.id));
  }

  /** Sort runs by the last, least or greatest value of a tag. @param {LogTag} tag @param {string} measure */
  async sortByTag(tag, measure) {
    const values = await tagMeasures(this.logs.feed, tag);
    this.tagSort = { key: `${TAG_SORT_PREFIX}${measure}:${tag.name}`, word: t(`log.sort.${measure}`, { tag: shortText(tag.title || tag.name, 40) }), values: new Map([...values].map(([id, measures]) => [id, measures[measure]])), down: measure === "greatest" };
    this.fillSorts();
    this.setSort(this.tagSort.key);
  }

  /** @param {string} text */
  setPattern(text) {
    this.pattern = text;
    try {
      this.nameTest = new RegExp(text, "i");
      this.statusElement.textContent = "";
      this.filter.removeAttribute("aria-invalid");
    } catch {
      this.statusElement.textContent = t("log.badPattern");
      this.filter.setAttribute("aria-invalid", "true");
    }
    if (this.filter.value !== text) this.filter.value = text;
    this.draw();
    this.logs.runsChanged();
  }

  /** @param {string} by */
  setSort(by) {
    this.sort = by;
    this.draw();
    this.logs.sheet?.runsChanged();
  }

  /** @param {boolean} isChosen */
  chooseAll(isChosen) {
    this.isChosenByReader = true;
    for (const run of this.listedRuns()) isChosen ? this.chosen.add(run.name) : this.chosen.delete(run.name);
    this.draw();
    this.logs.runsChanged();
  }

  /** @param {string} name @param {boolean} isChosen @param {boolean} range from the last chosen run to this one */
  choose(name, isChosen, range) {
    this.isChosenByReader = true;
    const shown = this.listedRuns();
    const at = shown.findIndex((run) => run.name === name);
    const [from, to] = range && this.anchor >= 0 ? [Math.min(at, this.anchor), Math.max(at, this.anchor)] : [at, at];
    for (const run of shown.slice(from, to + 1)) isChosen ? this.chosen.add(run.name) : this.chosen.delete(run.name);
    this.anchor = at;
    this.draw();
    this.logs.runsChanged();
  }

  /** @param {string} name */
  chooseOnly(name) {
    this.isChosenByReader = true;
    this.chosen = new Set([name]);
    this.draw();
    this.logs.runsChanged();
  }

  /** Let the reader pick the colour of a run. @param {LogRun} run */
  pickColour(run) {
    const input = el("input", { type: "color", class: "away", value: hexColour(this.logs.runColour(run)), "aria-label": t("log.pickColourOf", { name: shortText(run.name, 80) }) });
    input.addEventListener("input", () => {
      this.logs.looks.setColour(run.name, input.value);
      this.draw();
      this.logs.runsChanged();
    });
    input.addEventListener("change", () => input.remove());
    this.list.after(input);
    input.showPicker?.();
    input.focus();
  }

  /** A name of a run in at most so many letters, so that no two runs look the same. @param {string} name @param {number} most */
  shownName(name, most) {
    if (name.length <= most) return visibleText(name);
    let shortened = this.shortenedNames.get(most);
    if (!shortened) this.shortenedNames.set(most, (shortened = shortNames(this.runs.map((run) => run.name), most)));
    return shortened.has(name) ? visibleText(shortened.get(name)) : shortText(name, most);
  }

  /** The length of a name that fits into a row. @param {LogRun[]} shown */
  maxNameLength(shown) {
    const look = getComputedStyle(this.list);
    LETTER_RULER.font = `${look.fontSize} ${look.fontFamily}`;
    const some = shown.slice(0, 100).map((run) => run.name).filter((name) => name.length > MIN_NAME_LENGTH).join("") || "x";
    const steps = Math.max(0, ...shown.map((run) => String(run.lastStep ?? "").length));
    const room = (this.list.clientWidth || 240) - (narrowScreen.matches ? NARROW_ROW_REST_PX : ROW_REST_PX) - STEP_DIGIT_PX * steps;
    return Math.max(MIN_NAME_LENGTH, Math.floor((room * some.length) / (LETTER_WIDTH_SPREAD * LETTER_RULER.measureText(some).width)));
  }

  /** Create the rows in view. */
  draw() {
    const shown = this.listedRuns();
    this.nameLength = this.maxNameLength(shown);
    const chosenCount = shown.filter((run) => this.chosen.has(run.name)).length;
    this.all.checked = chosenCount > 0 && chosenCount === shown.length;
    this.all.indeterminate = chosenCount > 0 && chosenCount < shown.length;
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.run;
    const first = Math.max(0, Math.floor(this.list.scrollTop / RUN_ROW_PX) - 5);
    const some = shown.slice(first, first + Math.ceil((this.list.clientHeight || 600) / RUN_ROW_PX) + 10);
    const holder = el("div", { class: "run-rows" });
    holder.style.height = `${shown.length * RUN_ROW_PX}px`;
    some.forEach((run, at) => holder.append(this.rowElement(run, first + at)));
    this.list.replaceChildren(holder);
    if (focused !== undefined) this.list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if (!shown.length && this.runs.length) holder.append(el("p", { class: "quiet" }, t("log.noRuns")));
  }

  /** @param {LogRun} run @param {number} at */
  rowElement(run, at) {
    const colour = this.logs.runColour(run);
    const swatch = el("button", { class: "swatch-button", type: "button", "data-colour-of": run.name, title: t("log.pickColour"), "aria-label": t("log.pickColourOf", { name: shortText(run.name, 80) }), onclick: (/** @type {Event} */ event) => (event.preventDefault(), this.pickColour(run)) }, el("span", { class: "swatch" }));
    /** @type {any} */ (swatch.firstChild).style.background = colour;
    if (this.logs.looks.lookOf(run).dashes.length) /** @type {any} */ (swatch.firstChild).classList.add("dashed");
    const box = el("input", { type: "checkbox", "data-run": run.name, onclick: (/** @type {MouseEvent} */ event) => this.choose(run.name, box.checked, event.shiftKey) });
    box.checked = this.chosen.has(run.name);
    const state = run.state === "ready" ? "" : t(`log.state.${run.state}`);
    const step = run.lastStep == null ? "" : `${run.lastStep}`;
    const row = el("label", { class: `run ${run.state}`, title: shortText(run.name), ondblclick: (/** @type {Event} */ event) => (event.preventDefault(), this.chooseOnly(run.name)) }, box, swatch, el("span", { class: "run-name" }, this.shownName(run.name, this.nameLength)), el("span", { class: "run-step", title: t("log.lastStep") }, state || step));
    row.style.top = `${at * RUN_ROW_PX}px`;
    return row;
  }
}

/** A colour of the palette as a colour field takes it. @param {string} colour */
const hexColour = (colour) => (/^#[0-9a-f]{3}$/i.test(colour) ? colour.replace(/[0-9a-f]/gi, "$&$&") : colour).toLowerCase();
