// A card on a page of a log: its title, its buttons, and a chart or its table.

import { SVG, el, setAttributes, shortText, svgEl, visibleText } from "../dom.js";
import { iconElement } from "../icons.js";
import { encodeRows } from "../rows_table.js";
import { FONTS, download } from "../save.js";
import { t } from "../strings.js";
import { markdown } from "./markdown.js";
import { SvgPen } from "./svg_pen.js";

const MAX_TABLE_ROWS = 500; // rows that a table shows at first
const MAX_DESCRIPTION_LENGTH = 5000; // letters of the description of a tag

/**
 * @typedef {{key: string, tag: LogTag, run: LogRun | null}} CardEntry a tag, of one run or of all chosen runs
 * @typedef {Record<string, string | number>} CardRow a row of a card's table: values by their names in a file
 */

export class TagCard {
  /** Whether its content is a chart. */
  static isChart = false;

  /** @param {TagPage} page @param {CardEntry} entry */
  constructor(page, entry) {
    this.page = page;
    this.key = entry.key;
    this.tag = entry.tag;
    this.run = entry.run;
    this.isWide = false;
    this.isTable = false;
    this.maxTableRows = MAX_TABLE_ROWS;
    this.isNear = false; // whether it is in view, or nearly
    this.isStale = true;
    /** @type {AbortController | null} */
    this.request = null;
    this.note = el("span", { class: "note" });
    this.pin = el("button", { class: "icon", "aria-pressed": "false", title: t("log.pin"), "aria-label": t("log.pin"), onclick: () => page.togglePin(this.key) }, iconElement("log.pin"));
    this.plot = el("div", { class: "plot" });
    /** @type {Plot | null} null for a card without a chart */
    this.chart = null;
    this.foot = el("div", { class: "card-foot" });
    this.menu = el("details", { class: "menu" }, el("summary", { class: "icon", "aria-label": t("log.more"), title: t("log.more") }, iconElement("log.more")), el("div", { class: "pop" }, ...this.menuActions().map(([key, run]) => el("button", { onclick: () => ((this.menu.open = false), run()) }, t(key)))));
    this.link = el("button", { class: "icon", hidden: true, onclick: () => page.cardLink(this)?.[1]() }, iconElement("log.inGraph"));
    const title = el("h3", { title: shortText(this.tag.name) }, shortText(this.tag.title || this.tag.name, 160));
    const { about } = this.tag;
    const words = about && el("details", { class: "menu" }, el("summary", { class: "icon", "aria-label": t("log.about"), title: t("log.about") }, iconElement("log.about")), el("div", { class: "pop markdown" }, ...markdown(about.slice(0, MAX_DESCRIPTION_LENGTH))));
    const head = el("div", { class: "card-head" }, el("div", { class: "card-title" }, title, this.run && this.runBadge()), words, this.link, this.pin, el("button", { class: "icon", title: t("log.wide"), "aria-label": t("log.wide"), onclick: () => this.toggleWide() }, iconElement("log.wide")), this.menu);
    this.root = el("section", { class: "chart-card far", role: "figure", tabindex: "0", "aria-label": this.accessibleName(), "data-tag": this.key }, head, this.plot, this.foot, this.note);
  }

  /** Show the link to another view of its tag, if there is one. */
  updateLink() {
    const [word] = this.page.cardLink(this) ?? [""];
    this.link.hidden = !word;
    if (word) setAttributes(this.link, { title: t(word), "aria-label": t(word) });
  }

  /** The run that the card is of, in its colour. */
  runBadge() {
    this.swatch = el("span", { class: "swatch", "aria-hidden": "true" });
    return el("div", { class: "card-run" }, this.swatch, this.page.logs.runs.shownName(/** @type {LogRun} */ (this.run).name, 48));
  }

  /** The name for screen readers. */
  accessibleName() {
    return shortText(this.run ? `${this.tag.name}, ${this.run.name}` : this.tag.name);
  }

  /** The menu: keys of words and their actions. @returns {[string, () => void][]} */
  menuActions() {
    /** @type {[string, () => void][]} */
    const pictures = /** @type {typeof TagCard} */ (this.constructor).isChart ? [["saveSvg", () => this.savePicture("svg")], ["savePng", () => this.savePicture("png")]] : [];
    return [["log.table", () => this.toggleTable()], ["log.copy", () => this.copyTable()], ["log.csv", () => this.saveRows("csv")], ["log.json", () => this.saveRows("json")], ...pictures];
  }

  /** The runs that the card shows: [run, series, number of points, …]. @returns {number[][]} */
  shownSeries() {
    if (this.run) return this.tag.runs.filter(([run]) => run === this.run?.id);
    const chosen = this.page.logs.runs.chosenIds();
    return this.tag.runs.filter(([run]) => chosen.has(run));
  }

  /** Enter or leave the view; a card out of view cancels its requests and frees its pixels. @param {boolean} near */
  setNear(near) {
    this.isNear = near;
    if (near) {
      if (this.isStale) this.load();
    } else {
      this.request?.abort();
      this.onHide();
    }
  }

  /** Request the data of the card. */
  async load() {
    if (!this.isNear) return void (this.isStale = true);
    this.request?.abort();
    const asking = (this.request = new AbortController());
    this.isStale = false;
    try {
      const take = await this.fetchData(asking.signal);
      if (asking.signal.aborted) return void (this.isStale ||= this.request === asking);
      take();
      this.showData();
    } catch (error) {
      if (asking.signal.aborted) return void (this.isStale ||= this.request === asking);
      this.isStale = true;
      this.note.textContent = t("log.lost", { error: shortText(/** @type {Error} */ (error).message) });
    }
  }

  /** Note that the data has changed. */
  noteChange() {
    if (this.isNear) this.load();
    else this.isStale = true;
  }

  /** Show the loaded data. */
  showData() {
    if (this.swatch && this.run) this.swatch.style.background = this.page.logs.runColour(this.run);
    this.root.setAttribute("aria-label", this.summary());
    if (this.isTable) this.drawTable();
    else this.onDrawn();
  }

  // methods that differ between kinds of cards

  /** Request data; the returned function applies it if it is still wanted. @param {AbortSignal} signal @returns {Promise<() => void>} */
  async fetchData(signal) {
    return () => undefined;
  }

  /** Draw the content. */
  onDrawn() {}

  /** Resize the chart to its place. @param {number} [width] @param {number} [height] */
  fitPlot(width = this.plot.clientWidth, height = this.plot.clientHeight) {
    if (!this.isTable && this.isNear) this.chart?.resize(width, height);
  }

  /** Release what a card out of view does not need. */
  onHide() {
    this.chart?.releasePixels();
  }

  /** The description for screen readers. */
  summary() {
    return this.accessibleName();
  }

  /** @returns {CardRow[]} */
  tableRows() {
    return [];
  }

  /** The table's columns: a heading, and a cell of a row. @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    return [];
  }

  // methods common to all cards

  toggleWide() {
    this.isWide = !this.isWide;
    this.root.classList.toggle("wide", this.isWide);
  }

  toggleTable() {
    this.isTable = !this.isTable;
    this.root.classList.toggle("as-table", this.isTable);
    if (this.isTable) return this.drawTable();
    this.plot.replaceChildren(...this.makeContent());
    this.onDrawn();
    this.fitPlot();
  }

  /** The content in place of the table. @returns {Node[]} */
  makeContent() {
    return this.chart ? [this.chart.canvas] : [];
  }

  drawTable() {
    const [rows, columns] = [this.tableRows(), this.tableColumns()];
    const body = rows.slice(-this.maxTableRows).map((row) => el("tr", {}, ...columns.map(([, cell]) => el("td", {}, cell(row)))));
    const left = rows.length - body.length;
    const further = el("button", { class: "link", onclick: () => ((this.maxTableRows *= 4), this.drawTable()) }, t("log.moreRows", { n: Math.min(left, 3 * this.maxTableRows) }));
    const more = left > 0 ? el("p", { class: "quiet" }, t("log.lastRows", { n: body.length, all: rows.length }), " · ", further) : null;
    this.plot.replaceChildren(el("div", { class: "table", tabindex: "0" }, more, el("table", {}, el("caption", { class: "away" }, shortText(this.tag.name)), el("thead", {}, el("tr", {}, ...columns.map(([head]) => el("th", { scope: "col" }, head)))), el("tbody", {}, ...body))));
  }

  async copyTable() {
    const rows = this.tableRows().map(({ tag, superseded, ...row }) => row);
    await navigator.clipboard?.writeText([Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((row) => row.join("\t")).join("\n"));
    this.page.logs.toast(t("log.copied"));
  }

  /** The name of a file of this card. @param {string} ending */
  fileName(ending) {
    return `${safeFileName(this.run ? `${this.tag.name}_${this.run.name}` : this.tag.name)}.${ending}`;
  }

  /** Save the rows of the table. @param {string} format */
  saveRows(format) {
    download(new Blob([encodeRows(this.tableRows(), format)]), this.fileName(format));
  }

  /** Save the chart. @param {string} format */
  savePicture(format) {
    const chart = /** @type {Plot} */ (this.chart);
    if (format === "png") return chart.canvas.toBlob((/** @type {Blob} */ blob) => download(blob, this.fileName("png")));
    download(new Blob([chartSvg(chart, this.run ? `${this.tag.name} · ${this.run.name}` : this.tag.name)], { type: "image/svg+xml" }), this.fileName("svg"));
  }
}

/** A name that is safe for a file. @param {string} tag */
export const safeFileName = (tag) => tag.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 100) || "chart";

/** A chart as an SVG document. @param {Plot} chart @param {string} title */
function chartSvg(chart, title) {
  const { width, height } = chart;
  const look = getComputedStyle(chart.canvas);
  const root = svgEl("svg", { xmlns: SVG, width, height: height + 24, viewBox: `0 -24 ${width} ${height + 24}`, "font-family": FONTS, "font-size": 10 });
  svgEl("title", {}, root).textContent = visibleText(title);
  svgEl("rect", { y: -24, width, height: height + 24, fill: getComputedStyle(document.documentElement).getPropertyValue("--ground") }, root);
  svgEl("text", { x: 8, y: -8, "font-size": 13, "font-weight": 600, fill: look.getPropertyValue("--text") }, root).textContent = visibleText(title);
  chart.paint(/** @type {any} */ (new SvgPen(root)));
  return new XMLSerializer().serializeToString(root);
}
