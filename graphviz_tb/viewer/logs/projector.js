// The page of embeddings: a cloud of projected points that can be coloured, searched and selected.

import { el, shortText } from "../dom.js";
import { isTyping } from "../page_keys.js";
import { countWord, t } from "../strings.js";
import { Cloud, MAX_CLOUD_LABELS } from "./cloud.js";
import { CloudCard } from "./cloud_card.js";
import { MAX_COLOURED_CATEGORIES, cloudColouring, cloudSearch, mixedRgb, rgbOf } from "./cloud_colours.js";
import { cloudPlaces } from "./cloud_view.js";
import { SheetWithoutCards } from "./sheet_without_cards.js";

const LAYOUT_POLL_MS = 500; // milliseconds between two polls of a running layout
const POINT_PX = 6; // px across
const PICTURE_SIDE_PX = [12, 22]; // least and greatest side of a picture
const DEFAULT_NEIGHBOURS = { tsne: 30, umap: 15 }; // perplexity, and neighbours
const MAX_LAID_OUT_POINTS = 10_000; // points that t-SNE and UMAP lay out
const MAX_SPRITE_PIXELS = 64e6; // of a sprite that is decoded

/**
 * @typedef {{id: number, folder: string, name: string, title: string, points: number, dims: number, sprite: number[] | null, step: number | null}} EmbeddingInfo
 * @typedef {{method: string, axes: number, near?: number}} LayoutRequest
 */

export class ProjectorPage extends SheetWithoutCards {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs);
    /** @type {EmbeddingInfo[]} */
    this.tensors = [];
    /** @type {{name: string, title: string, missing: string}[]} */
    this.methods = [];
    /** @type {{text: string}[]} about all embeddings, and about the metadata of this one */
    this.notices = [];
    /** @type {{text: string}[]} */
    this.embeddingNotices = [];
    /** @type {CloudColumn[]} */
    this.columns = [];
    /** @type {number[]} rows, in the order in which they were chosen */
    this.selected = [];
    /** @type {{row: number, distance: number}[]} */
    this.neighbours = [];
    /** @type {Uint8Array | null} points that are shown, others hidden */
    this.shownPoints = null;
    /** @type {Uint8Array | null} points that a search finds */
    this.searchHits = null;
    /** @type {CloudSprite | null} */
    this.sprite = null;
    this.hasNeighbours = true; // whether neighbours can be requested
    this.method = "pca";
    this.isFlat = false;
    this.axes = [0, 1, 2];
    this.requested = { cloud: "", by: "", point: "" }; // names from the address
    /** @type {any} */
    this.head = null;
    /** @type {ArrayLike<number>[]} */
    this.allAxes = [];
    /** @type {EmbeddingInfo | null} */
    this.embedding = null;
    this.colouring = cloudColouring(undefined, 0, [], "light", 0, 0);
    this.cloud = new Cloud({
      hover: (row, x, y) => this.onHover(row, x, y),
      pick: (row, add) => (row < 0 ? !add && this.select([]) : this.select(add ? rowsToggled(this.selected, row) : [row])),
      lasso: (rows, add) => this.select(add ? [...new Set([...this.selected, ...rows])] : rows),
      label: (row) => this.pointLabel(row),
    });
    this.card = new CloudCard(this);
    this.createControls();
    this.restore(logs.cloudState);
  }

  createControls() {
    const select = (/** @type {string} */ key, /** @type {() => void} */ run) => el("select", { "aria-label": t(key), onchange: run });
    this.chooser = select("log.cloud.tensor", () => this.showEmbedding(Number(this.chooser.value)));
    this.methodChooser = select("log.cloud.method", () => this.setMethod(this.methodChooser.value));
    this.axisLists = [0, 1, 2].map((at) => select(`log.cloud.axis${at}`, () => this.setAxis(at)));
    this.dimensionButton = el("button", { onclick: () => this.setFlat(!this.isFlat) });
    this.by = select("log.colourBy", () => (this.recolour(), this.logs.writeAddress()));
    this.labels = select("log.cloud.labelBy", () => (this.search(), this.redraw()));
    this.find = el("input", { type: "search", role: "searchbox", class: "filter", "aria-label": t("log.cloud.search"), placeholder: t("log.cloud.search"), spellcheck: "false", autocomplete: "off", oninput: () => this.search(), onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.selectHits() });
    this.count = el("span", { class: "quiet", role: "status" });
    this.images = el("input", { type: "checkbox", onchange: () => this.redraw() });
    this.imagesLabel = el("label", { class: "check", hidden: true }, this.images, t("log.cloud.images"));
    const tool = (/** @type {string} */ name) => el("button", { "data-tool": name, "aria-pressed": String(name === this.cloud.tool), onclick: () => this.setTool(name) }, t(`log.cloud.${name}`));
    this.tools = el("div", { class: "cloud-tools", role: "group", "aria-label": t("log.cloud.tools") }, ...["turn", "lasso", "box"].map(tool), el("button", { onclick: () => this.cloud.fit() }, t("fit")));
    this.nearBy = el("input", { type: "number", min: 2, max: 500, value: 30, "aria-label": t("log.cloud.perplexity") });
    this.run = el("button", { onclick: () => this.runLayout() }, t("log.cloud.run"));
    this.toGraph = el("button", { hidden: true, onclick: () => this.embedding && this.logs.joins.showCloud(this.embedding.id) }, t("log.inGraph"));
    this.progress = el("progress", { max: 1, hidden: true, "aria-label": t("log.cloud.progress") });
    this.layoutStatus = el("span", { class: "quiet", role: "status" });
    this.layoutControls = el("span", { class: "cloud-laying", hidden: true }, el("label", { class: "check" }, (this.nearLabel = el("span", {})), this.nearBy), this.run, this.progress, this.layoutStatus);
    this.note = el("p", { class: "cloud-note", role: "status" });
    const check = (/** @type {string} */ key, /** @type {Node} */ field) => el("label", { class: "check" }, t(key), field);
    this.bar = el("div", { class: "log-bar", role: "toolbar", "aria-label": t("log.page.projector") }, this.chooser, this.toGraph, this.methodChooser, this.layoutControls, ...this.axisLists, this.dimensionButton, check("log.colourBy", this.by), check("log.cloud.labelBy", this.labels), this.imagesLabel, this.find, this.count);
    this.legend = el("div", { class: "cloud-legend", role: "region", "aria-label": t("legend") });
    this.tip = el("div", { class: "chart-tip", role: "tooltip", hidden: true });
    this.place = el("div", { class: "cloud-place" }, this.cloud.root, this.tools, this.legend, this.note);
    this.root = el("div", { class: "log-sheet projector", hidden: true }, this.bar, el("div", { class: "cloud-area" }, this.place, this.card.root), this.tip);
    this.drawAxisControls();
  }

  async load() {
    if (!this.isDirty) return;
    this.isDirty = false;
    try {
      const listing = await this.logs.feed.embeddings();
      const before = JSON.stringify(this.embedding);
      Object.assign(this, { tensors: listing.tensors, methods: listing.methods, notices: listing.notices });
      this.chooser.replaceChildren(...this.tensors.map((embedding) => el("option", { value: embedding.id }, embeddingTitle(embedding))));
      this.methodChooser.replaceChildren(...this.methods.map((method) => el("option", { value: method.name }, method.title)));
      this.methodChooser.hidden = this.methods.length < 2;
      const same = this.tensors.find((embedding) => JSON.stringify(embedding) === before);
      const asked = this.tensors.find((embedding) => embeddingKey(embedding) === this.requested.cloud);
      if (same) this.chooser.value = String(same.id);
      else if (this.tensors.length) await this.showEmbedding((asked ?? this.tensors.find((embedding) => embedding.name === this.embedding?.name) ?? this.tensors[0]).id);
      else this.showStatus(this.notices, true);
    } catch (error) {
      this.isDirty = true;
      throw error;
    }
  }

  /** Show an embedding, on its principal components. @param {number} id */
  async showEmbedding(id) {
    const embedding = this.tensors.find((each) => each.id === id);
    if (!embedding) return;
    if (this.embedding) this.stopLayout();
    this.chooser.value = String(id);
    this.neighbourRequest = {}; // ignore the answer for the previous embedding
    Object.assign(this, { embedding: embedding, selected: [], neighbours: [], shownPoints: null, searchHits: null, sprite: null, method: "pca", head: null });
    this.methodChooser.value = "pca";
    this.layoutControls.hidden = true;
    this.imagesLabel.hidden = true;
    this.onFilter();
    this.showStatus([]);
    const { feed } = this.logs;
    try {
      const [points, metadata] = await Promise.all([feed.cloud(id, { method: "pca", axes: 3 }), feed.cloudColumns(id)]);
      if (this.embedding !== embedding) return;
      this.columns = metadata.columns;
      this.embeddingNotices = [...this.notices, ...metadata.notices];
      this.hasNeighbours = feed.hasNeighbours(id);
      this.setPoints(points);
      this.fillColumns();
      this.card.draw();
      if (embedding.sprite) this.loadSprite(embedding).catch(() => this.showStatus([{ text: t("log.cloud.noSprite") }]));
      const row = Number(this.requested.point);
      if (this.requested.point !== "" && row < embedding.points) this.select([row]);
      this.requested.point = "";
    } catch (error) {
      this.allAxes = [];
      this.showStatus([{ text: shortText(/** @type {Error} */ (error).message, 400) }], true);
    }
    this.logs.writeAddress();
  }

  /** Show the loaded points. @param {{head: any, blocks: Map<string, ArrayLike<number>>}} points */
  setPoints({ head, blocks }) {
    this.head = head;
    this.allAxes = [...blocks].filter(([name]) => name.startsWith("axis.")).map(([, values]) => values);
    const most = this.allAxes.length;
    if (most < 3) this.isFlat = true;
    this.axes = [0, 1, 2].map((at) => (this.axes[at] < most ? this.axes[at] : Math.min(at, most - 1)));
    if (head.method !== "pca") this.axes = [0, 1, Math.min(2, most - 1)];
    this.drawAxisControls();
    this.showStatus([...head.notices, ...this.embeddingNotices]);
    this.placePoints();
    this.cloud.fit();
  }

  /** Place the points on the chosen axes. */
  placePoints() {
    if (!this.allAxes.length) return;
    const axes = (this.isFlat ? this.axes.slice(0, 2) : this.axes).map((at) => this.allAxes[at]);
    if (axes.length === 1) axes.push(new Float32Array(axes[0].length));
    this.cloud.setPlaces(cloudPlaces(axes, this.shownPoints), this.isFlat, this.shownPoints);
    this.recolour();
  }

  fillColumns() {
    const options = (/** @type {any} */ list, /** @type {string} */ none, /** @type {number} */ usual) => {
      list.replaceChildren(el("option", { value: -1 }, none), ...this.columns.map((column, at) => el("option", { value: at }, shortText(column.name, 40))));
      list.value = String(usual);
    };
    const named = this.columns.findIndex((column) => column.name === this.requested.by);
    // A column with few distinct texts is best as colours, one with many as labels.
    const few = this.columns.findIndex((column) => column.texts.length > 1 && column.texts.length <= MAX_COLOURED_CATEGORIES);
    const numeric = this.columns.findIndex((column) => column.numeric && column.texts.length > 1);
    options(this.by, t("log.cloud.plain"), named >= 0 ? named : few >= 0 ? few : numeric);
    options(this.labels, t("log.cloud.number"), this.columns.length ? 0 : -1);
    for (const list of [this.by, this.labels]) list.parentElement.hidden = !this.columns.length;
    this.search();
    this.recolour();
  }

  colourColumn() {
    return this.columns[Number(this.by.value)];
  }

  labelColumn() {
    return this.columns[Number(this.labels.value)];
  }

  /** The label of a point. @param {number} row */
  pointLabel(row) {
    const column = this.labelColumn();
    return (column && column.texts[column.at[row]]) || `#${row}`;
  }

  /** The pictures of points. @param {EmbeddingInfo} embedding */
  async loadSprite(embedding) {
    const image = new Image();
    image.src = await this.logs.feed.cloudSprite(embedding.id);
    await image.decode();
    if (this.embedding !== embedding) return;
    const [width, height] = /** @type {number[]} */ (embedding.sprite);
    const sprite = { image, width, height, columns: Math.max(1, Math.floor(image.naturalWidth / width)) };
    const room = sprite.columns * Math.floor(image.naturalHeight / height);
    if (room < embedding.points || image.naturalWidth * image.naturalHeight > MAX_SPRITE_PIXELS || !this.cloud.painter.canDrawSprite(sprite)) throw new Error();
    this.sprite = sprite;
    this.imagesLabel.hidden = false;
    this.images.checked = true;
    this.redraw();
    this.card.draw();
    if (this.selected.length === 1) this.card.drawNeighbours();
  }

  // colours

  /** Colour all points by the chosen column. */
  recolour() {
    const n = this.allAxes[0]?.length ?? 0;
    const theme = this.logs.hooks.theme() === "dark" ? "dark" : "light";
    const look = getComputedStyle(document.documentElement);
    this.groundColour = rgbOf(look.getPropertyValue("--ground"));
    this.textColour = rgbOf(look.getPropertyValue("--text"));
    const plain = mixedRgb(rgbOf(look.getPropertyValue("--secondary")), this.groundColour, 0.25);
    const hues = this.logs.state.hues[theme] ?? this.logs.state.hues.light;
    this.colouring = cloudColouring(this.colourColumn(), n, hues, theme, this.colourColumn() ? plain : rgbOf(look.getPropertyValue("--accent")), this.groundColour);
    this.drawLegend();
    this.redraw();
    if (this.selected.length) this.card.draw();
    if (this.selected.length === 1) this.card.drawNeighbours();
  }

  /** Draw points in their colours: selected, near and found points are highlighted, the others faded. */
  redraw() {
    const n = this.allAxes[0]?.length ?? 0;
    const looks = new Float32Array(n).fill(1);
    const strong = this.selected.length ? [...this.selected, ...this.neighbours.map(({ row }) => row)] : [];
    for (const row of strong) looks[row] = 2;
    if (this.selected.length === 1) looks[this.selected[0]] = 3;
    if (!strong.length && this.searchHits) for (let row = 0; row < n; row++) if (this.searchHits[row]) looks[row] = 2;
    const back = strong.length > 0 || this.searchHits !== null;
    const colours = new Uint8Array(4 * n);
    for (let row = 0; row < n; row++) {
      const own = this.colouring.colourOfRow(row);
      if (back && looks[row] < 2) looks[row] = 0;
      const colour = looks[row] ? own : mixedRgb(own, this.groundColour, 0.72);
      colours[4 * row] = colour >> 16;
      colours[4 * row + 1] = (colour >> 8) & 255;
      colours[4 * row + 2] = colour & 255;
      colours[4 * row + 3] = this.shownPoints && !this.shownPoints[row] ? 0 : 255;
    }
    const sprite = this.sprite && this.images.checked ? this.sprite : null;
    const { width, height } = this.cloud.view;
    const side = Math.max(PICTURE_SIDE_PX[0], Math.min(PICTURE_SIDE_PX[1], Math.min(width, height) / 28));
    const dot = n > 20_000 ? 0.6 : n > 3000 ? 0.8 : 1;
    const edge = [16, 8, 0].map((shift) => ((this.textColour >> shift) & 255) / 255);
    const hits = this.searchHits;
    const labelled = strong.length ? strong : hits ? [...hits.keys()].filter((row) => hits[row]).slice(0, 4 * MAX_CLOUD_LABELS) : [];
    this.cloud.setLook({ colours, looks, size: sprite ? side : POINT_PX * dot, edge: [...edge, 1], sprite }, labelled);
    const { name = "" } = this.embedding ?? {};
    this.cloud.root.setAttribute("aria-label", t("log.cloud.words", { n: countWord(n), name: shortText(name, 80), chosen: countWord(this.selected.length) }));
  }

  drawLegend() {
    const { entries, ramp } = this.colouring;
    const column = this.colourColumn();
    this.legend.hidden = !column;
    if (!column) return;
    const head = el("h2", {}, shortText(column.name, 60));
    if (ramp) {
      const strip = el("div", { class: "cloud-ramp", "aria-hidden": "true" });
      strip.style.background = `linear-gradient(90deg, ${ramp.colours.join(", ")})`;
      return this.legend.replaceChildren(head, strip, el("div", { class: "cloud-ends" }, el("span", {}, ramp.low), el("span", {}, ramp.high)));
    }
    const rows = entries.map((entry) => {
      const swatch = el("span", { class: "cloud-swatch", "aria-hidden": "true" });
      swatch.style.background = entry.colour;
      return el("button", { title: t("log.cloud.chooseAll"), onclick: () => this.select([...Array(this.allAxes[0].length).keys()].filter((row) => entry.rows(row) && !(this.shownPoints && !this.shownPoints[row]))) }, swatch, el("span", { class: "cloud-word" }, shortText(entry.word, 40) || "∅"), el("span", { class: "quiet" }, countWord(entry.count)));
    });
    this.legend.replaceChildren(head, ...rows);
  }

  // selection

  /** @param {number[]} rows */
  select(rows) {
    this.selected = rows;
    this.neighbours = [];
    this.redraw();
    this.card.draw();
    this.askNeighbours();
    this.logs.writeAddress();
  }

  /** The selected rows and the neighbours of the selected one. */
  highlightedRows() {
    return [...this.selected, ...this.neighbours.map(({ row }) => row)];
  }

  /** Request the neighbours of the only selected point. */
  async askNeighbours() {
    const [row] = this.selected;
    if (this.selected.length !== 1 || !this.hasNeighbours) return;
    const { k, metric } = this.card;
    const asking = (this.neighbourRequest = {});
    try {
      const { rows, distances } = await this.logs.feed.cloudNeighbours(/** @type {EmbeddingInfo} */ (this.embedding).id, row, k, metric);
      if (this.neighbourRequest !== asking || this.selected.length !== 1 || this.selected[0] !== row) return;
      this.neighbours = rows.map((/** @type {number} */ neighbour, /** @type {number} */ at) => ({ row: neighbour, distance: distances[at] }));
      this.redraw();
      this.card.draw();
      this.card.drawNeighbours();
    } catch (error) {
      if (this.neighbourRequest === asking) this.card.statusElement.textContent = shortText(/** @type {Error} */ (error).message);
    }
  }

  /** Show only some points, or all again. @param {number[] | null} rows */
  isolate(rows) {
    const n = this.allAxes[0].length;
    this.shownPoints = rows && new Uint8Array(n);
    for (const row of rows ?? []) this.shownPoints[row] = 1;
    this.placePoints();
    this.cloud.fit();
    this.drawCount();
    this.card.draw();
    if (this.selected.length === 1) this.card.drawNeighbours();
  }

  search() {
    const text = this.find.value;
    const column = this.labelColumn();
    const hits = text && column ? cloudSearch(column, text) : null;
    this.isPatternBad = Boolean(text && column && !hits);
    if (this.isPatternBad) this.find.setAttribute("aria-invalid", "true");
    else this.find.removeAttribute("aria-invalid");
    if (!this.isPatternBad) this.searchHits = hits && Uint8Array.from(column.at, (index) => hits[index]);
    this.drawCount();
    this.redraw();
  }

  drawCount() {
    const n = this.searchHits ? this.searchHits.reduce((sum, flag) => sum + flag, 0) : 0;
    const there = this.shownPoints && t("log.cloud.isolated", { n: countWord(this.shownPoints.reduce((sum, flag) => sum + flag, 0)) });
    const hitsText = this.isPatternBad ? t("log.badPattern") : this.searchHits ? (n === 1 ? t("oneHit") : n ? t("hits", { n: countWord(n) }) : t("noHits")) : "";
    this.count.textContent = [hitsText, there].filter(Boolean).join(" · ");
  }

  /** Select the points that the search finds. */
  selectHits() {
    const { searchHits: hits } = this;
    if (hits) this.select([...hits.keys()].filter((row) => hits[row] && !(this.shownPoints && !this.shownPoints[row])));
  }

  /** @param {number} row @param {number} x @param {number} y */
  onHover(row, x, y) {
    this.tip.hidden = row < 0;
    if (row < 0) return;
    const some = this.columns.slice(0, 8);
    const rows = some.map((column) => el("tr", {}, el("th", { scope: "row" }, shortText(column.name, 40)), el("td", {}, shortText(column.texts[column.at[row]] ?? "", 80))));
    this.tip.replaceChildren(el("b", {}, shortText(this.pointLabel(row), 80)), ...(some.length > 1 ? [el("table", {}, el("tbody", {}, ...rows))] : []));
    const box = this.cloud.root.getBoundingClientRect();
    const own = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(8, Math.min(box.left + x + 14, innerWidth - own.width - 8))}px`;
    this.tip.style.top = `${box.top + y + 16 + own.height < innerHeight ? box.top + y + 16 : Math.max(8, box.top + y - own.height - 12)}px`;
  }

  // axes and methods

  drawAxisControls() {
    this.dimensionButton.textContent = this.isFlat ? "2D" : "3D";
    this.dimensionButton.setAttribute("aria-pressed", String(!this.isFlat));
    this.dimensionButton.setAttribute("aria-label", t("log.cloud.threeAxes"));
    this.dimensionButton.disabled = this.method === "pca" && this.allAxes.length < 3;
    const share = (/** @type {number} */ at) => (this.head?.variance?.[at] === undefined ? "" : ` ${(100 * this.head.variance[at]).toFixed(1)}%`);
    const pca = this.method === "pca";
    this.axisLists.forEach((list, at) => {
      list.replaceChildren(...this.allAxes.map((_, axis) => el("option", { value: axis }, `${t("log.cloud.component", { n: axis + 1 })}${share(axis)}`)));
      list.value = String(this.axes[at]);
      list.hidden = !pca || (at === 2 && this.isFlat);
    });
  }

  /** @param {number} at */
  setAxis(at) {
    const axes = [...this.axes];
    const other = axes.indexOf(Number(this.axisLists[at].value));
    if (other >= 0) axes[other] = axes[at];
    axes[at] = Number(this.axisLists[at].value);
    this.axes = axes;
    this.drawAxisControls();
    this.placePoints();
    this.refreshStatus();
    this.logs.writeAddress();
  }

  /** @param {boolean} flat */
  setFlat(flat) {
    this.isFlat = flat;
    if (this.method !== "pca") return void this.setMethod(this.method);
    this.drawAxisControls();
    this.placePoints();
    this.refreshStatus();
    this.logs.writeAddress();
  }

  /** Update the status line with the share of explained variance. */
  refreshStatus() {
    this.showStatus([...(this.head?.notices ?? []), ...this.embeddingNotices]);
  }

  /** @param {string} method */
  async setMethod(method) {
    this.stopLayout();
    if (method !== "pca" && method !== this.method) this.nearBy.value = String(DEFAULT_NEIGHBOURS[/** @type {keyof typeof DEFAULT_NEIGHBOURS} */ (method)]);
    this.method = method;
    this.layoutControls.hidden = method === "pca";
    const info = this.methods.find((candidate) => candidate.name === method);
    if (method === "pca") {
      this.axes = [0, 1, 2];
      const embedding = /** @type {EmbeddingInfo} */ (this.embedding);
      const points = await this.logs.feed.cloud(embedding.id, { method: "pca", axes: 3 });
      return this.embedding === embedding && this.method === "pca" ? this.setPoints(points) : undefined;
    }
    this.nearLabel.textContent = t(method === "tsne" ? "log.cloud.perplexity" : "log.cloud.nearBy");
    this.nearBy.setAttribute("aria-label", this.nearLabel.textContent);
    this.run.disabled = Boolean(info?.missing);
    this.drawAxisControls();
    if (info?.missing) this.showStatus([{ text: info.missing }], true);
    else this.refreshStatus();
  }

  /** Start or cancel the chosen layout. */
  async runLayout() {
    if (this.layoutRun) return this.stopLayout();
    const { id } = /** @type {EmbeddingInfo} */ (this.embedding);
    const wanted = { method: this.method, axes: this.isFlat ? 2 : 3, near: Number(this.nearBy.value) };
    const working = (this.layoutRun = {});
    this.run.textContent = t("cancel");
    this.progress.hidden = false;
    this.progress.removeAttribute("value");
    this.refreshStatus();
    const begun = performance.now();
    try {
      await this.logs.feed.layOut(id, wanted);
      while (this.layoutRun === working) {
        const points = await this.logs.feed.cloud(id, wanted).catch((/** @type {any} */ error) => {
          if (error.answer?.state !== "working") throw error;
          const { done, total } = error.answer;
          if (total) this.progress.value = done / total;
          this.layoutStatus.textContent = `${total ? `${Math.round((100 * done) / total)} % · ` : ""}${Math.round((performance.now() - begun) / 1000)} s`;
        });
        if (this.layoutRun !== working) return;
        if (points) {
          this.endLayout();
          return this.setPoints(points);
        }
        await new Promise((done) => setTimeout(done, LAYOUT_POLL_MS));
      }
    } catch (error) {
      if (this.layoutRun === working) {
        this.endLayout();
        this.showStatus([{ text: shortText(/** @type {Error} */ (error).message, 400) }], true);
      }
    }
  }

  stopLayout() {
    if (!this.layoutRun) return;
    this.endLayout();
    this.logs.feed.cancelLayout(/** @type {EmbeddingInfo} */ (this.embedding).id).catch(() => undefined);
  }

  endLayout() {
    this.layoutRun = null;
    this.run.textContent = t("log.cloud.run");
    this.progress.hidden = true;
    this.layoutStatus.textContent = "";
    if (this.head) this.refreshStatus();
  }

  /** Describe the picture: points, method, variance, notices. @param {{text: string}[]} notices @param {boolean} [bad] */
  showStatus(notices, bad = false) {
    const { variance } = this.head ?? {};
    const shown = this.isFlat ? this.axes.slice(0, 2) : this.axes;
    const sum = variance?.length && !bad && this.head.method === "pca" ? shown.reduce((all, at) => all + (variance[at] ?? 0), 0) : null;
    const texts = this.embedding && !bad ? [t("log.cloud.of", { n: countWord(this.embedding.points), dims: countWord(this.embedding.dims) })] : [];
    if (this.head && !bad) texts.push(this.methodText());
    if (sum !== null) texts.push(t("log.cloud.explained", { share: (100 * sum).toFixed(1) }));
    if (this.embedding && !bad && this.head && this.method !== this.head.method) texts.push(this.pendingText());
    if (this.embedding?.step != null && !bad) texts.push(`${t("step")} ${this.embedding.step}`);
    this.note.replaceChildren(...[...texts, ...notices.map((notice) => notice.text)].flatMap((word, at) => [at ? " · " : "", shortText(word, 300)]));
    this.note.classList.toggle("bad", bad);
  }

  /** The method of the shown layout, with its settings. */
  methodText() {
    const { method, settings = {} } = this.head;
    const near = settings.perplexity ?? settings.n_neighbors;
    const word = near === undefined ? "" : ` (${t(method === "tsne" ? "log.cloud.perplexity" : "log.cloud.nearBy")} ${near})`;
    return `${this.methodTitle(method)}${word}`;
  }

  /** @param {string} method */
  methodTitle(method) {
    return this.methods.find((candidate) => candidate.name === method)?.title ?? method.toUpperCase();
  }

  /** Describe the layout that is running or can be run. */
  pendingText() {
    const { points } = /** @type {EmbeddingInfo} */ (this.embedding);
    const words = { method: this.methodTitle(this.method), now: this.methodTitle(this.head.method), n: countWord(Math.min(points, MAX_LAID_OUT_POINTS)), all: countWord(points), run: t("log.cloud.run") };
    return this.layoutRun ? t("log.cloud.running", words) : t("log.cloud.willRun", words);
  }

  /** @param {string} name */
  setTool(name) {
    this.cloud.tool = name;
    for (const button of this.tools.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.dataset.tool === name));
  }

  /** Return the entries of the address. */
  addressValues() {
    const [first] = this.tensors;
    const { embedding: tensor } = this;
    return {
      cloud: tensor && tensor !== first ? embeddingKey(tensor) : "",
      cloudby: this.colourColumn()?.name ?? "",
      cloudaxes: this.axes.join("") === "012" && !this.isFlat ? "" : (this.isFlat ? this.axes.slice(0, 2) : this.axes).join(","),
      point: this.selected.length === 1 ? String(this.selected[0]) : "",
    };
  }

  /** @param {Record<string, any>} state of the address */
  restore({ cloud = "", cloudby = "", cloudaxes = "", point = "" }) {
    this.requested = { cloud: String(cloud), by: String(cloudby), point: String(point) };
    const axes = String(cloudaxes).split(",").filter((word) => /^\d$/.test(word)).map(Number);
    if (axes.length > 1) {
      this.isFlat = axes.length === 2;
      this.axes = [axes[0], axes[1], axes[2] ?? [0, 1, 2].find((axis) => !axes.includes(axis))];
    }
  }

  /** Show the embedding with this id, if there is one. @param {number} id */
  async showEmbeddingById(id) {
    await this.load();
    if (this.embedding?.id !== id) await this.showEmbedding(id);
  }

  /** Show the link to the graph once the joins are known. */
  onFilter() {
    this.toGraph.hidden = !this.logs.joins.clouds.some((cloud) => cloud.id === this.embedding?.id);
  }

  onTheme() {
    this.recolour();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = (/** @type {number} */ by) => {
      const hits = this.searchHits;
      const rows = hits ? [...hits.keys()].filter((row) => hits[row]) : null;
      const n = this.allAxes[0]?.length ?? 0;
      const at = rows ? rows.indexOf(this.selected[0]) : (this.selected[0] ?? (by > 0 ? -1 : 0));
      const to = (at + by + (rows?.length ?? n)) % (rows?.length || n || 1);
      this.select([rows ? rows[to] : to]);
    };
    /** @type {Record<string, () => void>} */
    const keys = {
      "/": () => this.find.focus(), Escape: () => this.select([]), ".": () => next(1), ",": () => next(-1),
      v: () => this.setTool("turn"), l: () => this.setTool("lasso"), b: () => this.setTool("box"), d: () => !this.dimensionButton.disabled && this.setFlat(!this.isFlat),
    };
    const inCloud = this.cloud.root.contains(/** @type {Node} */ (event.target));
    if (inCloud && this.cloud.handleKey(event)) return event.preventDefault();
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }
}

/** The name of an embedding in an address. @param {EmbeddingInfo} embedding */
const embeddingKey = (embedding) => `${embedding.folder}:${embedding.name}`;

/** An embedding in the list. @param {EmbeddingInfo} embedding */
function embeddingTitle(embedding) {
  const name = embedding.title || embedding.name.replace(/\/\.ATTRIBUTES\/VARIABLE_VALUE$/, "");
  return `${embedding.folder === "." ? "" : `${shortText(embedding.folder, 60)}: `}${shortText(name, 80)}`;
}

/** @param {number[]} rows @param {number} row */
const rowsToggled = (rows, row) => (rows.includes(row) ? rows.filter((selected) => selected !== row) : [...rows, row]);
