// A table of any number of rows: sortable by column, usable by keyboard; only visible rows are drawn.

import { el, setAttributes, visibleText } from "./dom.js";

const ROW_HEIGHT_PX = 28; // px, as in style.css
const EXTRA_ROWS = 12; // rows drawn above and below the view

/**
 * @typedef {{key: string, word: string, width: number, text?: boolean, fixed?: boolean, sort?: string, value: (row: any) => number | string | null, cell: (row: any) => any}} TableColumn `sort`: the column by which this one sorts; `fixed`: its cells are not numbers to be aligned
 * @typedef {{label: string, name: (row: any) => string, onSorted: () => void, onChosen: (row: any) => void, choosesOnClick: boolean}} TableHooks `choosesOnClick`: whether a click on a row chooses it, as Enter does
 */

export class RowsTable {
  /** @param {TableHooks} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.sort = ""; // the key of a column, after "-" for the greatest first
    /** @type {any[]} as they are listed */
    this.rows = [];
    /** @type {TableColumn[]} */
    this.columns = [];
    this.at = -1; // the marked row
    this.frameRequest = 0;
    this.widths = el("colgroup");
    this.heads = el("tr", { "aria-rowindex": 1 });
    this.body = el("tbody");
    this.table = el("table", { role: "grid", tabindex: "0", "aria-label": hooks.label }, this.widths, el("thead", {}, this.heads), this.body);
    this.root = el("div", { class: "rows-table" }, this.table);
    this.root.addEventListener("scroll", () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(this.root);
    this.table.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event));
    this.body.addEventListener("click", (/** @type {MouseEvent} */ event) => this.onClick(event));
  }

  /** List rows. @param {any[]} rows in the order of equal rows @param {TableColumn[]} columns */
  setRows(rows, columns) {
    this.columns = columns;
    this.unsortedRows = rows;
    this.sortRows();
  }

  /** Sort the rows, and list them from the first. */
  sortRows() {
    const column = this.columns.find((column) => column.key === this.sort.replace(/^-/, ""));
    this.rows = column ? sortedRows(this.unsortedRows, column, this.sort.startsWith("-")) : this.unsortedRows;
    this.at = -1;
    this.root.scrollTop = 0;
    setAttributes(this.table, { "aria-rowcount": this.rows.length + 1 });
    this.table.style.minWidth = `${this.columns.reduce((sum, column) => sum + column.width, 0)}px`;
    this.widths.replaceChildren(...this.columns.map((column, at) => {
      const col = el("col");
      if (at) col.style.width = `${column.width}px`; // the first column takes the rest
      return col;
    }));
    this.heads.replaceChildren(...this.columns.map((column) => this.headCell(column)));
    this.draw();
  }

  /** @param {TableColumn} column */
  headCell(column) {
    const sort = column.sort ?? column.key;
    const sortsItself = sort === column.key;
    const [up, down] = [sortsItself && this.sort === sort, sortsItself && this.sort === `-${sort}`];
    const next = () => {
      this.sort = down || (!up && column.text) ? sort : `-${sort}`;
      this.sortRows();
      this.hooks.onSorted();
    };
    const button = el("button", { class: "sort", title: column.word, onclick: next }, column.word, el("span", { "aria-hidden": "true" }, up ? " ▲" : down ? " ▼" : ""));
    return el("th", { scope: "col", class: column.text || column.fixed ? null : "number", "aria-sort": up ? "ascending" : down ? "descending" : "none" }, button);
  }

  drawSoon() {
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = requestAnimationFrame(() => this.draw());
  }

  /** Draw the rows in view, with empty space for the others. */
  draw() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW_HEIGHT_PX) - EXTRA_ROWS);
    const last = Math.min(this.rows.length, Math.ceil((this.root.scrollTop + this.root.clientHeight) / ROW_HEIGHT_PX) + EXTRA_ROWS);
    const gap = (/** @type {number} */ rows) => {
      const cell = el("td", { colspan: Math.max(1, this.columns.length) });
      cell.style.height = `${rows * ROW_HEIGHT_PX}px`;
      return rows > 0 ? [el("tr", { role: "none", class: "gap" }, cell)] : [];
    };
    const shown = this.rows.slice(first, last).map((row, at) => this.rowElement(row, first + at));
    this.body.replaceChildren(...gap(first), ...shown, ...gap(this.rows.length - last));
  }

  /** @param {any} row @param {number} at */
  rowElement(row, at) {
    const [first, ...others] = this.columns;
    const cell = (/** @type {TableColumn} */ column) => {
      const content = column.cell(row);
      return el("td", { class: column.text || column.fixed ? null : "number", title: column.text && typeof content === "string" && content ? content : null }, content);
    };
    return el("tr", { id: `row-${at}`, "data-name": visibleText(this.hooks.name(row)), "aria-rowindex": at + 2, "aria-selected": String(at === this.at) }, el("th", { scope: "row" }, first.cell(row)), ...others.map(cell));
  }

  /** Mark a row, and bring it into view; -1 for none. @param {number} at */
  markRow(at) {
    this.at = at;
    setAttributes(this.table, { "aria-activedescendant": at < 0 ? "" : `row-${at}` });
    if (at >= 0) {
      const { root } = this;
      const least = (at + 2) * ROW_HEIGHT_PX - root.clientHeight; // the header covers the first row
      root.scrollTop = Math.min(at * ROW_HEIGHT_PX, Math.max(root.scrollTop, least));
    }
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.target !== this.table || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.root.clientHeight / ROW_HEIGHT_PX) - 2);
    const last = this.rows.length - 1;
    const moves = /** @type {Record<string, number>} */ ({ ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: last });
    if (event.key in moves && last >= 0) this.markRow(Math.max(0, Math.min(last, moves[event.key])));
    else if ((event.key === "Enter" || event.key === " ") && this.rows[this.at] !== undefined) this.hooks.onChosen(this.rows[this.at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const target = /** @type {Element} */ (event.target);
    const row = target.closest("tr[id]");
    if (!row || target.closest("button")) return;
    this.markRow(Number(row.id.slice(4)));
    if (this.hooks.choosesOnClick) this.hooks.onChosen(this.rows[this.at]);
  }
}

/** Rows in the order of a column; those without a value last. @param {any[]} rows @param {TableColumn} column @param {boolean} down */
function sortedRows(rows, column, down) {
  const rowValues = rows.map(column.value);
  /** @type {(number | string | null)[]} */
  let values = rowValues;
  if (column.text) {
    const keys = new Map([...new Set(rowValues)].map((text) => [text, naturalKey(String(text ?? ""))]));
    const order = new Map([...keys].sort(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([text], rank) => [text, rank]));
    values = rowValues.map((text) => (text === null || text === "" ? null : /** @type {number} */ (order.get(text))));
  }
  const sign = down ? -1 : 1;
  const places = rows.map((_, at) => at);
  places.sort((a, b) => {
    const [one, other] = /** @type {[number | null, number | null]} */ ([values[a], values[b]]);
    if (one === null || other === null) return Number(one === null) - Number(other === null) || a - b;
    return sign * (one - other) || a - b;
  });
  return places.map((at) => rows[at]);
}

/** A sort key that orders numbers in a text by value; `naturalOrder` takes too long for 100,000 rows. @param {string} text */
const naturalKey = (text) => text.toLowerCase().replace(/\d+/g, (digits) => String.fromCharCode(47 + Math.min(digits.length, 9)) + digits);

/** A bar, scaled to the longest, and a text beside it. @param {number} part @param {number} most @param {string} word */
export function shareBar(part, most, word) {
  const bar = el("span", { class: "share", "aria-hidden": "true" });
  bar.style.width = `${Math.max(1, (56 * Math.max(0, part)) / most)}px`;
  return el("span", {}, bar, ` ${word}`);
}

/** A name whose last segment is always visible. @param {string} name */
export function nameWithLeaf(name) {
  const cut = name.lastIndexOf("/", name.length - 2) + 1;
  return [el("span", { class: "scope" }, name.slice(0, cut)), el("span", { class: "own" }, name.slice(cut))];
}

/** A share in words. @param {number} part @param {number} whole */
export const percentText = (part, whole) => (whole > 0 ? `${Number(((100 * part) / whole).toPrecision(3))} %` : "–");

/** Compare names, with numbers by value: `a2` before `a10`. @param {string} a @param {string} b */
export const naturalOrder = (a, b) => NATURAL.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
const NATURAL = new Intl.Collator("en", { numeric: true });

/** Rows as a file of a format, CSV or JSON. @param {Record<string, any>[]} rows @param {string} format */
export function encodeRows(rows, format) {
  const word = (/** @type {number} */ value) => (Number.isNaN(value) ? "NaN" : String(value));
  const whole = rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, typeof value === "number" && !Number.isFinite(value) ? word(value) : value])));
  if (format === "json") return JSON.stringify(whole);
  const quoted = (/** @type {any} */ text) => (/[",\r\n]/.test(String(text)) ? `"${String(text).replaceAll('"', '""')}"` : String(text));
  const line = (/** @type {any[]} */ cells) => `${cells.map(quoted).join(",")}\r\n`;
  return [Object.keys(whole[0] ?? {}), ...whole.map(Object.values)].map(line).join("");
}
