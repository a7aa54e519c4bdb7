// Filters of trials: ranges of numbers and selected values of each column, as in TensorBoard.

import { escapeValue, unescapeValue } from "../address.js";
import { el, shortText } from "../dom.js";
import { naturalOrder } from "../rows_table.js";
import { t } from "../strings.js";

const MAX_CHECKED_VALUES = 12; // a column with more distinct numbers has a range

/** @typedef {{low?: number, high?: number, out?: string[]}} TrialFilter a range, or values that are left out */

/** Whether a value passes. @param {TrialFilter | undefined} filter @param {any} value */
export function passesFilter(filter, value) {
  if (!filter) return true;
  if (filter.out?.includes(trialText(value))) return false;
  if (filter.low === undefined && filter.high === undefined) return true;
  return typeof value === "number" && value >= (filter.low ?? -Infinity) && value <= (filter.high ?? Infinity);
}

/** A value as text for a filter; "" if missing. @param {any} value */
const trialText = (value) => (value === null || value === undefined ? "" : String(value));

/** Filters as text for an address. @param {Map<string, TrialFilter>} filters */
export const filtersText = (filters) => [...filters].map(([name, { low, high, out }]) => [name, low ?? "", high ?? "", ...(out ?? [])].map((part) => escapeValue(String(part))).join(",")).map(escapeValue).join(",");

/** @param {string} text @returns {Map<string, TrialFilter>} */
export function parseFilters(text) {
  const pairs = text.split(",").filter(Boolean).map(unescapeValue).map((entry) => {
    const [name, low, high, ...out] = entry.split(",").map(unescapeValue);
    const number = (/** @type {string} */ word) => (word && Number.isFinite(Number(word)) ? Number(word) : undefined);
    return /** @type {[string, TrialFilter]} */ ([name, { low: number(low), high: number(high), out }]);
  });
  return new Map(pairs);
}

/** The controls of one column. @param {TrialColumn} column @param {any[]} values @param {TrialFilter} filter @param {(filter: TrialFilter | null) => void} set */
export function filterControls(column, values, filter, set) {
  const title = shortText(column.title || column.name, 60);
  const words = [...new Set(values.map(trialText))].sort(naturalOrder);
  let now = filter;
  const change = (/** @type {TrialFilter} */ part) => {
    now = { ...now, ...part };
    set(now.low === undefined && now.high === undefined && !now.out?.length ? null : now);
  };
  if (column.type !== "float64" || words.length <= MAX_CHECKED_VALUES) {
    const out = new Set(filter.out ?? []);
    const boxes = words.slice(0, 100).map((word) => {
      const box = el("input", { type: "checkbox", onchange: () => (box.checked ? out.delete(word) : out.add(word), change({ out: [...out] })) });
      box.checked = !out.has(word);
      return el("label", { class: "check" }, box, word === "" ? t("log.missing") : shortText(word, 40));
    });
    return el("fieldset", {}, el("legend", {}, title), ...boxes);
  }
  const field = (/** @type {"low" | "high"} */ side) => {
    const box = el("input", { type: "number", step: "any", value: filter[side] ?? null, "aria-label": `${title}: ${t(side === "low" ? "log.least" : "log.greatest")}`, placeholder: t(side === "low" ? "log.least" : "log.greatest"), onchange: () => change({ [side]: box.value === "" ? undefined : Number(box.value) }) });
    return box;
  };
  return el("fieldset", {}, el("legend", {}, title), field("low"), field("high"));
}
