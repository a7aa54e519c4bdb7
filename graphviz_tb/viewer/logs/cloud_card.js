// The panel next to a cloud: one point with its metadata and neighbours, or a table of points.

import { el, shortText } from "../dom.js";
import { encodeRows } from "../rows_table.js";
import { download } from "../save.js";
import { countWord, t } from "../strings.js";
import { hexOf } from "./cloud_colours.js";
import { shortNumber } from "./curves.js";

const MAX_SELECTION_ROWS = 200; // rows of the table of a selection
const MAX_NEIGHBOURS = 100; // neighbours that can be requested

export class CloudCard {
  /** @param {ProjectorPage} page */
  constructor(page) {
    this.page = page;
    this.k = 10;
    this.metric = "cosine";
    this.root = el("aside", { class: "cloud-card", role: "region", "aria-label": t("log.cloud.selection"), hidden: true });
    this.slider = el("input", { type: "range", min: 1, max: MAX_NEIGHBOURS, step: 1, value: this.k, "aria-label": t("log.cloud.neighbours"), oninput: () => this.changeNeighbours(Number(this.slider.value), this.metric) });
    this.measure = el("select", { "aria-label": t("log.cloud.distance"), onchange: () => this.changeNeighbours(this.k, this.measure.value) }, ...["cosine", "euclidean"].map((metric) => el("option", { value: metric }, t(`log.cloud.${metric}`))));
    this.kWord = el("output", {}, String(this.k));
    this.list = el("ol", { class: "cloud-near" });
    this.statusElement = el("p", { class: "cloud-said" });
  }

  /** @param {number} k @param {string} metric */
  changeNeighbours(k, metric) {
    Object.assign(this, { k, metric });
    this.kWord.textContent = String(k);
    this.page.askNeighbours();
  }

  /** Show the selected points; hide if there are none. */
  draw() {
    const { page } = this;
    const rows = page.selected;
    this.root.hidden = !rows.length;
    if (!rows.length) return;
    const act = (/** @type {string} */ key, /** @type {() => void} */ run, off = false) => el("button", { onclick: run, disabled: off || null }, t(key));
    const acts = el("div", { class: "cloud-acts" }, act("log.cloud.isolate", () => page.isolate(page.highlightedRows()), page.highlightedRows().length < 2), page.shownPoints && act("log.cloud.showAll", () => page.isolate(null)), act("fit", () => page.cloud.fit(page.highlightedRows())), act("log.cloud.clear", () => page.select([])));
    const head = el("h2", {}, rows.length === 1 ? shortText(page.pointLabel(rows[0]), 120) : t("log.cloud.points", { n: countWord(rows.length) }));
    this.root.replaceChildren(head, acts, ...(rows.length === 1 ? this.pointContent(rows[0]) : this.selectionContent(rows)));
  }

  /** @param {number} row @returns {(Node | null)[]} */
  pointContent(row) {
    const { page } = this;
    const facts = page.columns.map((column) => el("tr", {}, el("th", { scope: "row" }, shortText(column.name, 60)), el("td", {}, shortText(column.texts[column.at[row]] ?? "", 500))));
    const table = el("table", { class: "cloud-facts" }, el("caption", { class: "away" }, t("log.cloud.metadata")), el("tbody", {}, el("tr", {}, el("th", { scope: "row" }, t("log.cloud.number")), el("td", {}, countWord(row))), ...facts));
    const near = page.hasNeighbours
      ? [el("div", { class: "cloud-k" }, el("b", {}, t("log.cloud.neighbours")), this.slider, this.kWord, this.measure), this.statusElement, this.list]
      : [el("p", { class: "quiet" }, t("log.cloud.noNeighbours"))];
    return [this.pointPicture(row), table, ...near].filter(Boolean);
  }

  /** The thumbnail of a point. @param {number} row */
  pointPicture(row) {
    const { sprite } = this.page;
    if (!sprite) return null;
    const { width, height, columns, image } = sprite;
    const canvas = el("canvas", { class: "cloud-picture", width, height, role: "img", "aria-label": shortText(this.page.pointLabel(row), 120) });
    canvas.getContext("2d").drawImage(image, (row % columns) * width, Math.floor(row / columns) * height, width, height, 0, 0, width, height);
    return canvas;
  }

  /** Show the loaded neighbours. */
  drawNeighbours() {
    const { page } = this;
    const column = page.colourColumn();
    const value = (/** @type {number} */ row) => (column ? (column.texts[column.at[row]] ?? "") : "");
    const labels = page.labelColumn();
    const repeated = labels && labels.texts.length < labels.at.length;
    const apart = column && column !== labels;
    this.list.replaceChildren(
      ...page.neighbours.map(({ row, distance }) => {
        const swatch = el("span", { class: "cloud-swatch", "aria-hidden": "true" });
        swatch.style.background = hexOf(page.colouring.colourOfRow(row));
        return el("li", {}, el("button", { class: "link", onclick: () => page.select([row]) }, swatch, shortText(page.pointLabel(row), 80), repeated && el("span", { class: "quiet" }, ` #${row}`), apart && el("span", { class: "quiet" }, ` ${shortText(value(row), 40)}`)), el("span", { class: "quiet" }, shortNumber(distance, 3)));
      }),
    );
    this.statusElement.textContent = this.agreementText(column, value);
  }

  /** Whether the neighbours of a point are of its category: a point among those of other categories may be labelled wrongly.
   * @param {CloudColumn | undefined} column @param {(row: number) => string} value */
  agreementText(column, value) {
    const { neighbours, selected, colouring } = this.page;
    if (!column || !colouring.entries.length || !neighbours.length) return "";
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const { row } of neighbours) counts.set(value(row), (counts.get(value(row)) ?? 0) + 1);
    const [word, most] = [...counts].sort((a, b) => b[1] - a[1])[0];
    const own = value(selected[0]);
    const words = { n: most, all: neighbours.length, word: shortText(word, 60) || "∅", column: shortText(column.name, 40), own: shortText(own, 60) || "∅" };
    return word === own ? t("log.cloud.agree", words) : t("log.cloud.differ", words);
  }

  /** @param {number[]} rows */
  selectionContent(rows) {
    const { page } = this;
    const some = rows.slice(0, MAX_SELECTION_ROWS);
    const [first] = page.columns;
    const columns = page.columns.slice(0, 6);
    const cell = (/** @type {number} */ row) => columns.map((column) => (column === first ? null : el("td", {}, shortText(column.texts[column.at[row]] ?? "", 80)))).filter(Boolean);
    const body = some.map((row) => el("tr", {}, el("th", { scope: "row" }, el("button", { class: "link", onclick: () => page.select([row]) }, shortText(first ? (first.texts[first.at[row]] ?? "") : page.pointLabel(row), 80) || countWord(row))), ...cell(row)));
    const heads = first ? columns.map((column) => el("th", { scope: "col" }, shortText(column.name, 40))) : [el("th", { scope: "col" }, t("log.cloud.number"))];
    const table = el("table", {}, el("caption", { class: "away" }, t("log.cloud.selection")), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body));
    const more = rows.length > some.length && el("p", { class: "quiet" }, t("and", { n: countWord(rows.length - some.length) }));
    const save = el("button", { onclick: () => this.saveRows(rows) }, t("log.csv"));
    return [this.categoryShares(rows), el("div", { class: "table", tabindex: "0" }, table), more, save].filter(Boolean);
  }

  /** The categories of the selected points with their counts. @param {number[]} rows */
  categoryShares(rows) {
    const { entries } = this.page.colouring;
    if (!entries.length) return null;
    const counts = entries.map((entry) => rows.filter(entry.rows).length);
    const shares = entries.map((entry, at) => ({ entry, count: counts[at] })).filter(({ count }) => count).sort((a, b) => b.count - a.count);
    const item = (/** @type {{entry: CloudEntry, count: number}} */ { entry, count }) => {
      const swatch = el("span", { class: "cloud-swatch", "aria-hidden": "true" });
      swatch.style.background = entry.colour;
      return el("li", {}, swatch, shortText(entry.word, 40) || "∅", el("span", { class: "quiet" }, ` ${countWord(count)}`));
    };
    return el("ul", { class: "cloud-shares" }, ...shares.slice(0, 12).map(item));
  }

  /** @param {number[]} rows */
  saveRows(rows) {
    const { columns } = this.page;
    const records = rows.map((row) => Object.fromEntries([["index", row], ...columns.map((column) => [column.name, column.texts[column.at[row]] ?? ""])]));
    download(new Blob([encodeRows(records, "csv")]), "points.csv");
  }
}
