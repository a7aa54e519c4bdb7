// Filter runs by a hyperparameter or by the last, least or greatest value of a tag: `lr<0.1`, `min(loss)<=0.5`.

import { el } from "../dom.js";
import { t } from "../strings.js";
import { tagMeasures } from "./run_measures.js";

const VALUE_TEST = /^\s*(?:(last|min|max)\((.+)\)|(.+?))\s*(<=|>=|!=|==|=|<|>)\s*(.+?)\s*$/;
const MEASURE_OF = /** @type {Record<string, "last" | "least" | "greatest">} */ ({ last: "last", min: "least", max: "greatest" });
/** @type {Record<string, (one: any, other: any) => boolean>} */
const VALUE_SIGNS = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b, "==": (a, b) => a === b, "!=": (a, b) => a !== b };

export class RunValueFilter {
  /** @param {Logs} logs @param {() => void} changed */
  constructor(logs, changed) {
    this.logs = logs;
    this.onChange = changed;
    this.text = "";
    this.turn = 0;
    /** @type {((run: number) => boolean) | null} whether a run passes */
    this.test = null;
    this.field = el("input", { type: "search", class: "filter", "aria-label": t("log.filterValue"), placeholder: t("log.filterValue"), spellcheck: "false", autocomplete: "off", oninput: () => this.setTest(this.field.value) });
    this.statusElement = el("div", { class: "said", role: "status" });
    this.root = el("div", { class: "run-values" }, this.field, this.statusElement);
  }

  /** Apply new hyperparameters. @param {{columns: TrialColumn[], rows: Trial[]}} trials */
  onTrials(trials) {
    if (this.text && trials.columns.length) this.setTest(this.text);
  }

  /** @param {string} text of the address */
  restore(text) {
    this.field.value = text;
    this.setTest(text);
  }

  /** @param {string} text */
  async setTest(text) {
    const turn = ++this.turn;
    this.text = text.trim();
    const test = this.text ? await this.parseTest(this.text).catch(() => null) : null;
    if (turn !== this.turn) return;
    const bad = !!this.text && !test;
    this.statusElement.textContent = bad ? t("log.badFilter") : "";
    this.field.toggleAttribute("aria-invalid", bad);
    if (bad) return; // keep the last valid filter
    this.test = test;
    this.onChange();
  }

  /** @param {string} text @returns {Promise<((run: number) => boolean) | null>} */
  async parseTest(text) {
    const [, measure, measured, plain, sign, word] = VALUE_TEST.exec(text) ?? [];
    if (!sign) return null;
    const values = await this.valuesOf(measured ?? plain, measure);
    if (!values) return null;
    const wanted = word === "" || Number.isNaN(Number(word)) ? word : Number(word);
    const holds = VALUE_SIGNS[sign];
    return (run) => {
      const value = values.get(run);
      return value !== undefined && value !== null && holds(typeof wanted === "number" && typeof value === "number" ? value : String(value), typeof wanted === "number" && typeof value === "number" ? wanted : String(word));
    };
  }

  /** The values of a name by the id of the run: a column of trials, else a tag. @param {string} name @param {string | undefined} measure */
  async valuesOf(name, measure) {
    const { columns, rows } = this.logs.runs.trials;
    const column = columns.findIndex((candidate) => candidate.name === name || candidate.title === name);
    if (column >= 0 && !measure) return new Map(rows.map((row) => [row.run, row.values[column]]));
    const tag = (await this.logs.feed.tags("scalar")).find((candidate) => candidate.name === name);
    if (!tag) return null;
    return new Map([...(await tagMeasures(this.logs.feed, tag))].map(([run, measures]) => [run, measures[MEASURE_OF[measure ?? "last"]]]));
  }
}
