// The menu of groups of runs: the grouping key, the line of each group, its spread, its members.

import { el } from "../dom.js";
import { t } from "../strings.js";
import { GROUP_LINES, GROUP_SPREADS, HPARAM_PREFIX } from "./run_groups.js";

export class GroupMenu {
  /** @param {Logs} logs @param {() => void} changed */
  constructor(logs, changed) {
    this.logs = logs;
    this.onChange = changed;
    const list = (/** @type {string} */ label, /** @type {string} */ key, /** @type {string[]} */ words) => el("select", { "aria-label": label, onchange: (/** @type {any} */ event) => this.changeGrouping({ [key]: event.target.value }) }, ...words.map((word) => el("option", { value: word }, t(`log.group.${word}`))));
    this.by = el("select", { "aria-label": t("log.groupRuns"), onchange: () => this.changeGrouping({ by: this.by.value }) });
    this.pattern = el("input", { class: "filter", "aria-label": t("log.group.patternOf"), placeholder: t("log.group.patternOf"), spellcheck: "false", autocomplete: "off", oninput: () => this.changeGrouping({ pattern: this.pattern.value }) });
    this.line = list(t("log.group.line"), "line", GROUP_LINES);
    this.spread = list(t("log.group.spread"), "spread", GROUP_SPREADS);
    this.members = el("input", { type: "checkbox", onchange: () => this.changeGrouping({ members: this.members.checked }) });
    this.head = el("summary", {}, t("log.groupRuns"));
    const row = (/** @type {string} */ word, /** @type {any} */ field) => el("label", { class: "pick" }, el("span", {}, word), field);
    this.root = el("details", { class: "menu group-menu" }, this.head, el("div", { class: "pop" }, row(t("log.groupRuns"), this.by), this.pattern, row(t("log.group.line"), this.line), row(t("log.group.spread"), this.spread), el("label", { class: "check" }, this.members, t("log.group.members"))));
    this.update();
  }

  /** @param {Partial<Grouping>} change */
  changeGrouping(change) {
    Object.assign(this.logs.grouping, change);
    this.update();
    this.onChange();
  }

  /** Show the chosen grouping and the known hyperparameters. */
  update() {
    const { grouping, runs } = this.logs;
    const hparams = runs.trials.columns.filter((column) => column.kind === "hparam");
    const options = [["", t("log.group.none")], ["differs", t("log.group.differs")], ["pattern", t("log.group.pattern")], ...hparams.map((column) => [`${HPARAM_PREFIX}${column.name}`, column.title || column.name])];
    this.by.replaceChildren(...options.map(([value, word]) => el("option", { value, selected: value === grouping.by }, word)));
    this.pattern.hidden = grouping.by !== "pattern";
    if (this.pattern.value !== grouping.pattern) this.pattern.value = grouping.pattern;
    this.line.value = grouping.line;
    this.spread.value = grouping.spread;
    this.members.checked = grouping.members;
    this.root.classList.toggle("on", !!grouping.by);
  }
}
