// The runs of a log, at the left of its pages: which are chosen, in which colour, and how far they are.

const RUN_ROW = 28; // px: rows out of sight are not made
const RUNS_SORTS = ["name", "time", "step"];
const OF_TRIALS = "trial:"; // before the name of a column by which runs are sorted
const ALL_AT_FIRST = 40; // runs chosen while the reader has not chosen any

class RunList {
  /** @param {Logs} logs @param {HTMLElement} place */
  constructor(logs, place) {
    this.logs = logs;
    /** @type {LogRun[]} */
    this.runs = [];
    /** @type {Set<string>} names of the chosen runs */
    this.chosen = new Set();
    /** whether the reader chose; until then new runs are chosen as they come */
    this.touched = false;
    this.sort = "name";
    /** @type {{columns: TrialColumn[], rows: Trial[]}} */
    this.trials = { columns: [], rows: [] };
    this.pattern = "";
    this.good = /(?:)/;
    this.anchor = -1;
    this.filter = el("input", { type: "search", class: "filter", role: "searchbox", "aria-label": t("log.filterRuns"), placeholder: t("log.filterRuns"), spellcheck: "false", autocomplete: "off", oninput: () => this.setPattern(this.filter.value) });
    this.said = el("div", { class: "said", role: "status" });
    this.order = el("select", { "aria-label": t("log.sortRuns"), onchange: () => this.setSort(this.order.value) }, ...RUNS_SORTS.map((one) => el("option", { value: one }, t(`log.sort.${one}`))));
    this.all = el("input", { type: "checkbox", "aria-label": t("log.allRuns"), onchange: () => this.chooseAll(this.all.checked) });
    this.list = el("div", { class: "run-list", role: "group", "aria-label": t("log.runs"), onscroll: () => this.draw() });
    place.append(el("div", { class: "run-head" }, el("label", {}, this.all, el("b", {}, t("log.runs"))), this.order), this.filter, this.said, this.list);
    new ResizeObserver(() => this.draw()).observe(this.list);
  }

  /** @param {LogRun[]} runs */
  set(runs) {
    const known = new Set(this.runs.map((run) => run.name));
    this.runs = runs;
    if (!this.touched) for (const run of runs) if (!known.has(run.name) && this.chosen.size < ALL_AT_FIRST) this.chosen.add(run.name);
    this.draw();
  }

  /** Hyperparameters and metrics of runs, by which they may be sorted. @param {TrialColumn[]} columns @param {Trial[]} rows */
  setTrials(columns, rows) {
    this.trials = { columns, rows };
    const words = columns.map((one) => /** @type {[string, string]} */ ([`${OF_TRIALS}${one.name}`, brief(one.title || one.name, 60)]));
    this.order.replaceChildren(...[...RUNS_SORTS.map((one) => [one, t(`log.sort.${one}`)]), ...words].map(([value, word]) => el("option", { value, selected: value === this.sort }, word)));
    this.draw();
  }

  /** The runs that match the filter, in the chosen order. @returns {LogRun[]} */
  shown() {
    const out = this.runs.filter((run) => this.good.test(run.name));
    const by = { name: () => 0, time: (/** @type {LogRun} */ a, /** @type {LogRun} */ b) => (b.last ?? 0) - (a.last ?? 0), step: (/** @type {LogRun} */ a, /** @type {LogRun} */ b) => Number(b.lastStep ?? -1) - Number(a.lastStep ?? -1) };
    const column = this.trials.columns.findIndex((one) => `${OF_TRIALS}${one.name}` === this.sort);
    if (column < 0) return out.sort((a, b) => (by[/** @type {keyof typeof by} */ (this.sort)] ?? by.name)(a, b) || naturalOrder(a.name, b.name));
    const values = new Map(this.trials.rows.map((row) => [row.run, row.values[column]]));
    return out.sort((a, b) => trialOrder(values.get(a.id), values.get(b.id)) || naturalOrder(a.name, b.name));
  }

  /** The ids of the runs that charts show: chosen and not filtered out. */
  ids() {
    return new Set(this.runs.filter((run) => this.chosen.has(run.name) && this.good.test(run.name)).map((run) => run.id));
  }

  /** @param {string} text */
  setPattern(text) {
    this.pattern = text;
    try {
      this.good = new RegExp(text, "i");
      this.said.textContent = "";
      this.filter.removeAttribute("aria-invalid");
    } catch {
      this.said.textContent = t("log.badPattern");
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

  /** @param {boolean} on */
  chooseAll(on) {
    this.touched = true;
    for (const run of this.shown()) on ? this.chosen.add(run.name) : this.chosen.delete(run.name);
    this.draw();
    this.logs.runsChanged();
  }

  /** @param {string} name @param {boolean} on @param {boolean} range from the one that was chosen last */
  choose(name, on, range) {
    this.touched = true;
    const shown = this.shown();
    const at = shown.findIndex((run) => run.name === name);
    const [from, to] = range && this.anchor >= 0 ? [Math.min(at, this.anchor), Math.max(at, this.anchor)] : [at, at];
    for (const run of shown.slice(from, to + 1)) on ? this.chosen.add(run.name) : this.chosen.delete(run.name);
    this.anchor = at;
    this.draw();
    this.logs.runsChanged();
  }

  /** @param {string} name */
  only(name) {
    this.touched = true;
    this.chosen = new Set([name]);
    this.draw();
    this.logs.runsChanged();
  }

  /** Make the rows that are in sight. */
  draw() {
    const shown = this.shown();
    const on = shown.filter((run) => this.chosen.has(run.name)).length;
    this.all.checked = on > 0 && on === shown.length;
    this.all.indeterminate = on > 0 && on < shown.length;
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.run;
    const first = Math.max(0, Math.floor(this.list.scrollTop / RUN_ROW) - 5);
    const some = shown.slice(first, first + Math.ceil((this.list.clientHeight || 600) / RUN_ROW) + 10);
    const holder = el("div", { class: "run-rows" });
    holder.style.height = `${shown.length * RUN_ROW}px`;
    some.forEach((run, at) => holder.append(this.row(run, first + at)));
    this.list.replaceChildren(holder);
    if (focused !== undefined) this.list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if (!shown.length && this.runs.length) holder.append(el("p", { class: "quiet" }, t("log.noRuns")));
  }

  /** @param {LogRun} run @param {number} at */
  row(run, at) {
    const swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = this.logs.colour(run);
    if (run.style[1].length) swatch.classList.add("dashed");
    const box = el("input", { type: "checkbox", "data-run": run.name, onclick: (/** @type {MouseEvent} */ event) => this.choose(run.name, box.checked, event.shiftKey) });
    box.checked = this.chosen.has(run.name);
    const state = run.state === "ready" ? "" : t(`log.state.${run.state}`);
    const step = run.lastStep == null ? "" : `${run.lastStep}`;
    const row = el("label", { class: `run ${run.state}`, title: brief(run.name), ondblclick: (/** @type {Event} */ event) => (event.preventDefault(), this.only(run.name)) }, box, swatch, el("span", { class: "run-name" }, brief(run.name, 120)), el("span", { class: "run-step", title: t("log.lastStep") }, state || step));
    row.style.top = `${at * RUN_ROW}px`;
    return row;
  }
}
