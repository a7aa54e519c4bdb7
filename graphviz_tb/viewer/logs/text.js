// The page of logged texts, rendered as Markdown.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { markdown } from "./markdown.js";
import { StepCard } from "./steps.js";

const MAX_DRAWN_LENGTH = 50_000; // letters of a cell until the reader asks for all

export class TextCard extends StepCard {
  /** @returns {[string, () => void][]} */
  menuActions() {
    return [["log.plain", () => this.togglePlain()], ...super.menuActions()];
  }

  togglePlain() {
    this.isPlain = !this.isPlain;
    this.paintedAnswers = null;
    this.showData();
  }

  makeContent() {
    const { shape = [], cells = [] } = this.answer ?? {};
    if (!shape.length) return [el("div", { class: "markdown", tabindex: "0" }, ...cells.map((/** @type {string} */ cell) => this.textElement(cell)))];
    // As many columns as the last dimension has; a list is one column.
    const wide = shape.length > 1 ? Math.max(1, shape[shape.length - 1]) : 1;
    const rows = Array.from({ length: Math.ceil(cells.length / wide) }, (_, row) => cells.slice(row * wide, row * wide + wide));
    return [el("div", { class: "markdown", tabindex: "0" }, el("table", {}, el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((/** @type {string} */ cell) => el("td", {}, this.textElement(cell))))))))];
  }

  /** @param {string} text @returns {HTMLElement} */
  textElement(text) {
    const draw = (/** @type {string} */ some) => (this.isPlain ? [el("pre", {}, some)] : markdown(some));
    const out = el("div", { dir: "auto" }, ...draw(text.slice(0, MAX_DRAWN_LENGTH)));
    if (text.length > MAX_DRAWN_LENGTH) out.append(el("button", { onclick: () => out.replaceChildren(...draw(text)) }, t("log.showAll", { n: text.length })));
    return out;
  }

  remark() {
    return this.answer?.cut ? t("log.cut") : "";
  }

  tableRows() {
    return (this.answer?.cells ?? []).map((/** @type {string} */ text, /** @type {number} */ cell) => ({ ...this.leadingColumns(), cell, text }));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    return [["", (row) => String(row.cell)], [t("log.page.text"), (row) => shortText(String(row.text), 2000)]];
  }
}
