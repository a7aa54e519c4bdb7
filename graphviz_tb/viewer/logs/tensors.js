// The page of tensors: dtype, shape and the first values.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { shortNumber } from "./curves.js";
import { StepCard } from "./steps.js";

export class TensorCard extends StepCard {
  makeContent() {
    const { shape = [], values = [] } = this.answer ?? {};
    const wide = shape.length > 1 ? Math.max(1, shape[shape.length - 1]) : 1;
    const rows = Array.from({ length: Math.ceil(values.length / wide) }, (_, row) => values.slice(row * wide, row * wide + wide));
    const cell = (/** @type {any} */ value) => el("td", { title: shortText(String(value), 100) }, typeof value === "number" ? shortNumber(value, 6) : shortText(String(value), 200));
    const body = rows.map((row, at) => el("tr", {}, el("th", { scope: "row" }, tensorPlace(shape, at)), ...row.map(cell)));
    return [el("div", { class: "table values", tabindex: "0" }, el("table", {}, el("caption", { class: "away" }, shortText(this.tag.name)), el("tbody", {}, ...body)))];
  }

  remark() {
    if (!this.answer) return "";
    const { dtype, shape, values, cut } = this.answer;
    return [`${dtype} [${shape.join(", ")}]`, cut && t("log.firstValues", { n: values.length })].filter(Boolean).join(" · ");
  }

  summary() {
    return `${super.summary()}, ${this.remark()}`;
  }

  tableRows() {
    return (this.answer?.values ?? []).map((/** @type {any} */ value, /** @type {number} */ at) => ({ ...this.leadingColumns(), index: at, value }));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    return [["", (row) => String(row.index)], [t("log.value"), (row) => shortText(String(row.value), 2000)]];
  }
}

/** The indices of a row of a tensor, without the last dimension. @param {number[]} shape @param {number} row */
function tensorPlace(shape, row) {
  const sizes = shape.length > 1 ? shape.slice(0, -1) : shape;
  const out = [];
  for (let at = sizes.length - 1; at >= 0; at--) {
    out.unshift(row % Math.max(1, sizes[at]));
    row = Math.floor(row / Math.max(1, sizes[at]));
  }
  return `[${out.join(", ")}]`;
}
