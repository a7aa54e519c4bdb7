// The page of embeddings: a cloud of projected points that can be coloured, searched and selected.

import { el, shortText } from "../dom.js";
import { isTyping } from "../page_keys.js";
import { countWord, t } from "../strings.js";
import { CLOUD_LABELS, Cloud } from "./cloud.js";
import { CloudCard } from "./cloud_card.js";
import { CLOUD_CATEGORIES, cloudColouring, cloudSearch, mixedRgb, rgbOf } from "./cloud_colours.js";
import { cloudPlaces } from "./cloud_view.js";
import { SheetWithoutCards } from "./sheet_without_cards.js";

const CLOUD_WAIT = 500; // milliseconds between two looks at a layout that is worked out
const CLOUD_DOT = 6; // px across
const CLOUD_PICTURE = [12, 22]; // px: the least and the most of a side
const CLOUD_USUAL = { tsne: 30, umap: 15 }; // perplexity, and neighbours
const MOST_LAID_OUT = 10_000; // points that t-SNE and UMAP are given
const CLOUD_PIXELS = 64e6; // of a sprite that is decoded

/**
 * @typedef {{id: number, folder: string, name: string, title: string, points: number, dims: number, sprite: number[] | null, step: number | null}} EmbeddingTold
 * @typedef {{method: string, axes: number, near?: number}} LayoutWanted
 */

export class ProjectorPage extends SheetWithoutCards {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs);
    /** @type {EmbeddingTold[]} */
    this.tensors = [];
    /** @type {{name: string, title: string, missing: string}[]} */
    this.methods = [];
    /** @type {{text: string}[]} about all embeddings, and about the metadata of this one */
    this.notices = [];
    /** @type {{text: string}[]} */
    this.more = [];
    /** @type {CloudColumn[]} */
    this.columns = [];
    /** @type {number[]} rows, in the order in which they were chosen */
    this.selected = [];
    /** @type {{row: number, distance: number}[]} */
    this.neighbours = [];
    /** @type {Uint8Array | null} points that are alone shown */
    this.there = null;
    /** @type {Uint8Array | null} points that a search finds */
    this.found = null;
    /** @type {CloudSprite | null} */
    this.sprite = null;
    this.near = true; // whether neighbours can be asked for
    this.method = "pca";
    this.flat = false;
    this.axes = [0, 1, 2];
    this.wanted = { cloud: "", by: "", point: "" }; // by the address
    /** @type {any} */
    this.head = null;
    /** @type {ArrayLike<number>[]} */
    this.every = [];
    /** @type {EmbeddingTold | null} */
    this.tensor = null;
    this.colouring = cloudColouring(undefined, 0, [], "light", 0, 0);
    this.cloud = new Cloud({
      hover: (row, x, y) => this.onHover(row, x, y),
      pick: (row, add) => (row < 0 ? !add && this.select([]) : this.select(add ? toggledSet(this.selected, row) : [row])),
      lasso: (rows, add) => this.select(add ? [...new Set([...this.selected, ...rows])] : rows),
      label: (row) => this.label(row),
    });
    this.card = new CloudCard(this);
    this.make();
    this.restore(logs.cloudState);
  }

  make() {
    const select = (/** @type {string} */ key, /** @type {() => void} */ run) => el("select", { "aria-label": t(key), onchange: run });
    this.chooser = select("log.cloud.tensor", () => this.open(Number(this.chooser.value)));
    this.way = select("log.cloud.method", () => this.setMethod(this.way.value));
    this.axisLists = [0, 1, 2].map((at) => select(`log.cloud.axis${at}`, () => this.setAxis(at)));
    this.dims = el("button", { onclick: () => this.setFlat(!this.flat) });
    this.by = select("log.colourBy", () => (this.recolour(), this.logs.remember()));
    this.labels = select("log.cloud.labelBy", () => (this.search(), this.redraw()));
    this.find = el("input", { type: "search", role: "searchbox", class: "filter", "aria-label": t("log.cloud.search"), placeholder: t("log.cloud.search"), spellcheck: "false", autocomplete: "off", oninput: () => this.search(), onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.chooseFound() });
    this.count = el("span", { class: "quiet", role: "status" });
    this.images = el("input", { type: "checkbox", onchange: () => this.redraw() });
    this.imagesLabel = el("label", { class: "check", hidden: true }, this.images, t("log.cloud.images"));
    const tool = (/** @type {string} */ name) => el("button", { "data-tool": name, "aria-pressed": String(name === this.cloud.tool), onclick: () => this.setTool(name) }, t(`log.cloud.${name}`));
    this.tools = el("div", { class: "cloud-tools", role: "group", "aria-label": t("log.cloud.tools") }, ...["turn", "lasso", "box"].map(tool), el("button", { onclick: () => this.cloud.fit() }, t("fit")));
    this.nearBy = el("input", { type: "number", min: 2, max: 500, value: 30, "aria-label": t("log.cloud.perplexity") });
    this.run = el("button", { onclick: () => this.runLayout() }, t("log.cloud.run"));
    this.toGraph = el("button", { hidden: true, onclick: () => this.tensor && this.logs.joined.showCloud(this.tensor.id) }, t("log.inGraph"));
    this.progress = el("progress", { max: 1, hidden: true, "aria-label": t("log.cloud.progress") });
    this.laidWord = el("span", { class: "quiet", role: "status" });
    this.laying = el("span", { class: "cloud-laying", hidden: true }, el("label", { class: "check" }, (this.nearWord = el("span", {})), this.nearBy), this.run, this.progress, this.laidWord);
    this.note = el("p", { class: "cloud-note", role: "status" });
    const check = (/** @type {string} */ key, /** @type {Node} */ field) => el("label", { class: "check" }, t(key), field);
    this.bar = el("div", { class: "log-bar", role: "toolbar", "aria-label": t("log.page.projector") }, this.chooser, this.toGraph, this.way, this.laying, ...this.axisLists, this.dims, check("log.colourBy", this.by), check("log.cloud.labelBy", this.labels), this.imagesLabel, this.find, this.count);
    this.legend = el("div", { class: "cloud-legend", role: "region", "aria-label": t("legend") });
    this.tip = el("div", { class: "chart-tip", role: "tooltip", hidden: true });
    this.place = el("div", { class: "cloud-place" }, this.cloud.root, this.tools, this.legend, this.note);
    this.root = el("div", { class: "log-sheet projector", hidden: true }, this.bar, el("div", { class: "cloud-area" }, this.place, this.card.root), this.tip);
    this.drawDims();
  }

  async load() {
    if (!this.dirty) return;
    this.dirty = false;
    try {
      const told = await this.logs.feed.embeddings();
      const before = JSON.stringify(this.tensor);
      Object.assign(this, { tensors: told.tensors, methods: told.methods, notices: told.notices });
      this.chooser.replaceChildren(...this.tensors.map((one) => el("option", { value: one.id }, embeddingWord(one))));
      this.way.replaceChildren(...this.methods.map((one) => el("option", { value: one.name }, one.title)));
      this.way.hidden = this.methods.length < 2;
      const same = this.tensors.find((one) => JSON.stringify(one) === before);
      const asked = this.tensors.find((one) => embeddingKey(one) === this.wanted.cloud);
      if (same) this.chooser.value = String(same.id);
      else if (this.tensors.length) await this.open((asked ?? this.tensors.find((one) => one.name === this.tensor?.name) ?? this.tensors[0]).id);
      else this.showStatus(this.notices, true);
    } catch (error) {
      this.dirty = true;
      throw error;
    }
  }

  /** Show an embedding, on its principal components. @param {number} id */
  async open(id) {
    const one = this.tensors.find((each) => each.id === id);
    if (!one) return;
    if (this.tensor) this.stopLayout();
    this.chooser.value = String(id);
    this.asking = {}; // what was asked of the one before is not waited for
    Object.assign(this, { tensor: one, selected: [], neighbours: [], there: null, found: null, sprite: null, method: "pca", head: null });
    this.way.value = "pca";
    this.laying.hidden = true;
    this.imagesLabel.hidden = true;
    this.onFilter();
    this.showStatus([]);
    const { feed } = this.logs;
    try {
      const [points, told] = await Promise.all([feed.cloud(id, { method: "pca", axes: 3 }), feed.cloudColumns(id)]);
      if (this.tensor !== one) return;
      this.columns = told.columns;
      this.more = [...this.notices, ...told.notices];
      this.near = feed.hasNeighbours(id);
      this.takePoints(points);
      this.fillColumns();
      this.card.draw();
      if (one.sprite) this.loadSprite(one).catch(() => this.showStatus([{ text: t("log.cloud.noSprite") }]));
      const row = Number(this.wanted.point);
      if (this.wanted.point !== "" && row < one.points) this.select([row]);
      this.wanted.point = "";
    } catch (error) {
      this.every = [];
      this.showStatus([{ text: shortText(/** @type {Error} */ (error).message, 400) }], true);
    }
    this.logs.remember();
  }

  /** Points on axes came. @param {{head: any, blocks: Map<string, ArrayLike<number>>}} points */
  takePoints({ head, blocks }) {
    this.head = head;
    this.every = [...blocks].filter(([name]) => name.startsWith("axis.")).map(([, values]) => values);
    const most = this.every.length;
    if (most < 3) this.flat = true;
    this.axes = [0, 1, 2].map((at) => (this.axes[at] < most ? this.axes[at] : Math.min(at, most - 1)));
    if (head.method !== "pca") this.axes = [0, 1, Math.min(2, most - 1)];
    this.drawDims();
    this.showStatus([...head.notices, ...this.more]);
    this.replace();
    this.cloud.fit();
  }

  /** Put the points at their places. */
  replace() {
    if (!this.every.length) return;
    const axes = (this.flat ? this.axes.slice(0, 2) : this.axes).map((at) => this.every[at]);
    if (axes.length === 1) axes.push(new Float32Array(axes[0].length));
    this.cloud.setPlaces(cloudPlaces(axes, this.there), this.flat, this.there);
    this.recolour();
  }

  fillColumns() {
    const options = (/** @type {any} */ list, /** @type {string} */ none, /** @type {number} */ usual) => {
      list.replaceChildren(el("option", { value: -1 }, none), ...this.columns.map((one, at) => el("option", { value: at }, shortText(one.name, 40))));
      list.value = String(usual);
    };
    const named = this.columns.findIndex((one) => one.name === this.wanted.by);
    // What has few different texts shows most as a colour; what has many says most as a label.
    const few = this.columns.findIndex((one) => one.texts.length > 1 && one.texts.length <= CLOUD_CATEGORIES);
    const numeric = this.columns.findIndex((one) => one.numeric && one.texts.length > 1);
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

  /** What a point is called. @param {number} row */
  label(row) {
    const column = this.labelColumn();
    return (column && column.texts[column.at[row]]) || `#${row}`;
  }

  /** The pictures of points. @param {EmbeddingTold} one */
  async loadSprite(one) {
    const image = new Image();
    image.src = await this.logs.feed.cloudSprite(one.id);
    await image.decode();
    if (this.tensor !== one) return;
    const [width, height] = /** @type {number[]} */ (one.sprite);
    const sprite = { image, width, height, columns: Math.max(1, Math.floor(image.naturalWidth / width)) };
    const room = sprite.columns * Math.floor(image.naturalHeight / height);
    if (room < one.points || image.naturalWidth * image.naturalHeight > CLOUD_PIXELS || !this.cloud.painter.takes(sprite)) throw new Error();
    this.sprite = sprite;
    this.imagesLabel.hidden = false;
    this.images.checked = true;
    this.redraw();
    this.card.draw();
    if (this.selected.length === 1) this.card.drawNear();
  }

  // colours

  /** Colour all points by the chosen column. */
  recolour() {
    const n = this.every[0]?.length ?? 0;
    const theme = this.logs.hooks.theme() === "dark" ? "dark" : "light";
    const look = getComputedStyle(document.documentElement);
    this.ground = rgbOf(look.getPropertyValue("--ground"));
    this.strong = rgbOf(look.getPropertyValue("--text"));
    const plain = mixedRgb(rgbOf(look.getPropertyValue("--secondary")), this.ground, 0.25);
    const hues = this.logs.state.hues[theme] ?? this.logs.state.hues.light;
    this.colouring = cloudColouring(this.colourColumn(), n, hues, theme, this.colourColumn() ? plain : rgbOf(look.getPropertyValue("--accent")), this.ground);
    this.drawLegend();
    this.redraw();
    if (this.selected.length) this.card.draw();
    if (this.selected.length === 1) this.card.drawNear();
  }

  /** Draw points in their colours: what is chosen, near or found stands out, the others step back. */
  redraw() {
    const n = this.every[0]?.length ?? 0;
    const looks = new Float32Array(n).fill(1);
    const strong = this.selected.length ? [...this.selected, ...this.neighbours.map(({ row }) => row)] : [];
    for (const row of strong) looks[row] = 2;
    if (this.selected.length === 1) looks[this.selected[0]] = 3;
    if (!strong.length && this.found) for (let row = 0; row < n; row++) if (this.found[row]) looks[row] = 2;
    const back = strong.length > 0 || this.found !== null;
    const colours = new Uint8Array(4 * n);
    for (let row = 0; row < n; row++) {
      const own = this.colouring.of(row);
      if (back && looks[row] < 2) looks[row] = 0;
      const colour = looks[row] ? own : mixedRgb(own, this.ground, 0.72);
      colours[4 * row] = colour >> 16;
      colours[4 * row + 1] = (colour >> 8) & 255;
      colours[4 * row + 2] = colour & 255;
      colours[4 * row + 3] = this.there && !this.there[row] ? 0 : 255;
    }
    const sprite = this.sprite && this.images.checked ? this.sprite : null;
    const { width, height } = this.cloud.view;
    const side = Math.max(CLOUD_PICTURE[0], Math.min(CLOUD_PICTURE[1], Math.min(width, height) / 28));
    const dot = n > 20_000 ? 0.6 : n > 3000 ? 0.8 : 1;
    const edge = [16, 8, 0].map((shift) => ((this.strong >> shift) & 255) / 255);
    const found = this.found;
    const labelled = strong.length ? strong : found ? [...found.keys()].filter((row) => found[row]).slice(0, 4 * CLOUD_LABELS) : [];
    this.cloud.setLook({ colours, looks, size: sprite ? side : CLOUD_DOT * dot, edge: [...edge, 1], sprite }, labelled);
    const { name = "" } = this.tensor ?? {};
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
      return el("button", { title: t("log.cloud.chooseAll"), onclick: () => this.select([...Array(this.every[0].length).keys()].filter((row) => entry.rows(row) && !(this.there && !this.there[row]))) }, swatch, el("span", { class: "cloud-word" }, shortText(entry.word, 40) || "∅"), el("span", { class: "quiet" }, countWord(entry.count)));
    });
    this.legend.replaceChildren(head, ...rows);
  }

  // choosing

  /** @param {number[]} rows */
  select(rows) {
    this.selected = rows;
    this.neighbours = [];
    this.redraw();
    this.card.draw();
    this.askNeighbours();
    this.logs.remember();
  }

  /** The chosen point with its neighbours, or all that are chosen. */
  onPick() {
    return [...this.selected, ...this.neighbours.map(({ row }) => row)];
  }

  /** Ask for the nearest of the one chosen point. */
  async askNeighbours() {
    const [row] = this.selected;
    if (this.selected.length !== 1 || !this.near) return;
    const { k, metric } = this.card;
    const asking = (this.asking = {});
    try {
      const { rows, distances } = await this.logs.feed.cloudNeighbours(/** @type {EmbeddingTold} */ (this.tensor).id, row, k, metric);
      if (this.asking !== asking || this.selected.length !== 1 || this.selected[0] !== row) return;
      this.neighbours = rows.map((/** @type {number} */ one, /** @type {number} */ at) => ({ row: one, distance: distances[at] }));
      this.redraw();
      this.card.draw();
      this.card.drawNear();
    } catch (error) {
      if (this.asking === asking) this.card.said.textContent = shortText(/** @type {Error} */ (error).message);
    }
  }

  /** Show some points alone, or all again. @param {number[] | null} rows */
  isolate(rows) {
    const n = this.every[0].length;
    this.there = rows && new Uint8Array(n);
    for (const row of rows ?? []) this.there[row] = 1;
    this.replace();
    this.cloud.fit();
    this.drawCount();
    this.card.draw();
    if (this.selected.length === 1) this.card.drawNear();
  }

  search() {
    const text = this.find.value;
    const column = this.labelColumn();
    const hits = text && column ? cloudSearch(column, text) : null;
    this.bad = Boolean(text && column && !hits);
    if (this.bad) this.find.setAttribute("aria-invalid", "true");
    else this.find.removeAttribute("aria-invalid");
    if (!this.bad) this.found = hits && Uint8Array.from(column.at, (one) => hits[one]);
    this.drawCount();
    this.redraw();
  }

  drawCount() {
    const n = this.found ? this.found.reduce((sum, one) => sum + one, 0) : 0;
    const there = this.there && t("log.cloud.isolated", { n: countWord(this.there.reduce((sum, one) => sum + one, 0)) });
    const found = this.bad ? t("log.badPattern") : this.found ? (n === 1 ? t("oneHit") : n ? t("hits", { n: countWord(n) }) : t("noHits")) : "";
    this.count.textContent = [found, there].filter(Boolean).join(" · ");
  }

  /** Choose what the search finds. */
  chooseFound() {
    const { found } = this;
    if (found) this.select([...found.keys()].filter((row) => found[row] && !(this.there && !this.there[row])));
  }

  /** @param {number} row @param {number} x @param {number} y */
  onHover(row, x, y) {
    this.tip.hidden = row < 0;
    if (row < 0) return;
    const some = this.columns.slice(0, 8);
    const rows = some.map((one) => el("tr", {}, el("th", { scope: "row" }, shortText(one.name, 40)), el("td", {}, shortText(one.texts[one.at[row]] ?? "", 80))));
    this.tip.replaceChildren(el("b", {}, shortText(this.label(row), 80)), ...(some.length > 1 ? [el("table", {}, el("tbody", {}, ...rows))] : []));
    const box = this.cloud.root.getBoundingClientRect();
    const own = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(8, Math.min(box.left + x + 14, innerWidth - own.width - 8))}px`;
    this.tip.style.top = `${box.top + y + 16 + own.height < innerHeight ? box.top + y + 16 : Math.max(8, box.top + y - own.height - 12)}px`;
  }

  // axes and methods

  drawDims() {
    this.dims.textContent = this.flat ? "2D" : "3D";
    this.dims.setAttribute("aria-pressed", String(!this.flat));
    this.dims.setAttribute("aria-label", t("log.cloud.threeAxes"));
    this.dims.disabled = this.method === "pca" && this.every.length < 3;
    const share = (/** @type {number} */ at) => (this.head?.variance?.[at] === undefined ? "" : ` ${(100 * this.head.variance[at]).toFixed(1)}%`);
    const pca = this.method === "pca";
    this.axisLists.forEach((list, at) => {
      list.replaceChildren(...this.every.map((_, one) => el("option", { value: one }, `${t("log.cloud.component", { n: one + 1 })}${share(one)}`)));
      list.value = String(this.axes[at]);
      list.hidden = !pca || (at === 2 && this.flat);
    });
  }

  /** @param {number} at */
  setAxis(at) {
    const axes = [...this.axes];
    const other = axes.indexOf(Number(this.axisLists[at].value));
    if (other >= 0) axes[other] = axes[at];
    axes[at] = Number(this.axisLists[at].value);
    this.axes = axes;
    this.drawDims();
    this.replace();
    this.explainedWord();
    this.logs.remember();
  }

  /** @param {boolean} flat */
  setFlat(flat) {
    this.flat = flat;
    if (this.method !== "pca") return void this.setMethod(this.method);
    this.drawDims();
    this.replace();
    this.explainedWord();
    this.logs.remember();
  }

  /** How much of the variance the shown axes explain. */
  explainedWord() {
    this.showStatus([...(this.head?.notices ?? []), ...this.more]);
  }

  /** @param {string} method */
  async setMethod(method) {
    this.stopLayout();
    if (method !== "pca" && method !== this.method) this.nearBy.value = String(CLOUD_USUAL[/** @type {keyof typeof CLOUD_USUAL} */ (method)]);
    this.method = method;
    this.laying.hidden = method === "pca";
    const told = this.methods.find((one) => one.name === method);
    if (method === "pca") {
      this.axes = [0, 1, 2];
      const one = /** @type {EmbeddingTold} */ (this.tensor);
      const points = await this.logs.feed.cloud(one.id, { method: "pca", axes: 3 });
      return this.tensor === one && this.method === "pca" ? this.takePoints(points) : undefined;
    }
    this.nearWord.textContent = t(method === "tsne" ? "log.cloud.perplexity" : "log.cloud.nearBy");
    this.nearBy.setAttribute("aria-label", this.nearWord.textContent);
    this.run.disabled = Boolean(told?.missing);
    this.drawDims();
    if (told?.missing) this.showStatus([{ text: told.missing }], true);
    else this.explainedWord();
  }

  /** Begin or cancel the layout that is chosen. */
  async runLayout() {
    if (this.working) return this.stopLayout();
    const { id } = /** @type {EmbeddingTold} */ (this.tensor);
    const wanted = { method: this.method, axes: this.flat ? 2 : 3, near: Number(this.nearBy.value) };
    const working = (this.working = {});
    this.run.textContent = t("cancel");
    this.progress.hidden = false;
    this.progress.removeAttribute("value");
    this.explainedWord();
    const begun = performance.now();
    try {
      await this.logs.feed.layOut(id, wanted);
      while (this.working === working) {
        const points = await this.logs.feed.cloud(id, wanted).catch((/** @type {any} */ error) => {
          if (error.told?.state !== "working") throw error;
          const { done, total } = error.told;
          if (total) this.progress.value = done / total;
          this.laidWord.textContent = `${total ? `${Math.round((100 * done) / total)} % · ` : ""}${Math.round((performance.now() - begun) / 1000)} s`;
        });
        if (this.working !== working) return;
        if (points) {
          this.endLayout();
          return this.takePoints(points);
        }
        await new Promise((done) => setTimeout(done, CLOUD_WAIT));
      }
    } catch (error) {
      if (this.working === working) {
        this.endLayout();
        this.showStatus([{ text: shortText(/** @type {Error} */ (error).message, 400) }], true);
      }
    }
  }

  stopLayout() {
    if (!this.working) return;
    this.endLayout();
    this.logs.feed.cancelLayout(/** @type {EmbeddingTold} */ (this.tensor).id).catch(() => undefined);
  }

  endLayout() {
    this.working = null;
    this.run.textContent = t("log.cloud.run");
    this.progress.hidden = true;
    this.laidWord.textContent = "";
    if (this.head) this.explainedWord();
  }

  /** What is to be known of the picture. @param {{text: string}[]} notices @param {boolean} [bad] */
  showStatus(notices, bad = false) {
    const { variance } = this.head ?? {};
    const shown = this.flat ? this.axes.slice(0, 2) : this.axes;
    const sum = variance?.length && !bad && this.head.method === "pca" ? shown.reduce((all, at) => all + (variance[at] ?? 0), 0) : null;
    const told = this.tensor && !bad ? [t("log.cloud.of", { n: countWord(this.tensor.points), dims: countWord(this.tensor.dims) })] : [];
    if (this.head && !bad) told.push(this.pictureWord());
    if (sum !== null) told.push(t("log.cloud.explained", { share: (100 * sum).toFixed(1) }));
    if (this.tensor && !bad && this.head && this.method !== this.head.method) told.push(this.coming());
    if (this.tensor?.step != null && !bad) told.push(`${t("step")} ${this.tensor.step}`);
    this.note.replaceChildren(...[...told, ...notices.map((one) => one.text)].flatMap((word, at) => [at ? " · " : "", shortText(word, 300)]));
    this.note.classList.toggle("bad", bad);
  }

  /** By which method the points that are shown lie there. */
  pictureWord() {
    const { method, settings = {} } = this.head;
    const near = settings.perplexity ?? settings.n_neighbors;
    const word = near === undefined ? "" : ` (${t(method === "tsne" ? "log.cloud.perplexity" : "log.cloud.nearBy")} ${near})`;
    return `${this.methodTitle(method)}${word}`;
  }

  /** @param {string} method */
  methodTitle(method) {
    return this.methods.find((one) => one.name === method)?.title ?? method.toUpperCase();
  }

  /** What will be shown when the method that is chosen has run. */
  coming() {
    const { points } = /** @type {EmbeddingTold} */ (this.tensor);
    const words = { method: this.methodTitle(this.method), now: this.methodTitle(this.head.method), n: countWord(Math.min(points, MOST_LAID_OUT)), all: countWord(points), run: t("log.cloud.run") };
    return this.working ? t("log.cloud.running", words) : t("log.cloud.willRun", words);
  }

  /** @param {string} name */
  setTool(name) {
    this.cloud.tool = name;
    for (const one of this.tools.querySelectorAll("[data-tool]")) one.setAttribute("aria-pressed", String(one.dataset.tool === name));
  }

  /** What the address holds. */
  addressValues() {
    const [first] = this.tensors;
    const { tensor } = this;
    return {
      cloud: tensor && tensor !== first ? embeddingKey(tensor) : "",
      cloudby: this.colourColumn()?.name ?? "",
      cloudaxes: this.axes.join("") === "012" && !this.flat ? "" : (this.flat ? this.axes.slice(0, 2) : this.axes).join(","),
      point: this.selected.length === 1 ? String(this.selected[0]) : "",
    };
  }

  /** @param {Record<string, any>} state of the address */
  restore({ cloud = "", cloudby = "", cloudaxes = "", point = "" }) {
    this.wanted = { cloud: String(cloud), by: String(cloudby), point: String(point) };
    const axes = String(cloudaxes).split(",").filter((word) => /^\d$/.test(word)).map(Number);
    if (axes.length > 1) {
      this.flat = axes.length === 2;
      this.axes = [axes[0], axes[1], axes[2] ?? [0, 1, 2].find((one) => !axes.includes(one))];
    }
  }

  /** Show one embedding, where there is one of this id. @param {number} id */
  async openById(id) {
    await this.load();
    if (this.tensor?.id !== id) await this.open(id);
  }

  /** Where embeddings belong may be known now. */
  onFilter() {
    this.toGraph.hidden = !this.logs.joined.clouds.some((one) => one.id === this.tensor?.id);
  }

  onTheme() {
    this.recolour();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = (/** @type {number} */ by) => {
      const found = this.found;
      const rows = found ? [...found.keys()].filter((row) => found[row]) : null;
      const n = this.every[0]?.length ?? 0;
      const at = rows ? rows.indexOf(this.selected[0]) : (this.selected[0] ?? (by > 0 ? -1 : 0));
      const to = (at + by + (rows?.length ?? n)) % (rows?.length || n || 1);
      this.select([rows ? rows[to] : to]);
    };
    /** @type {Record<string, () => void>} */
    const keys = {
      "/": () => this.find.focus(), Escape: () => this.select([]), ".": () => next(1), ",": () => next(-1),
      v: () => this.setTool("turn"), l: () => this.setTool("lasso"), b: () => this.setTool("box"), d: () => !this.dims.disabled && this.setFlat(!this.flat),
    };
    const inCloud = this.cloud.root.contains(/** @type {Node} */ (event.target));
    if (inCloud && this.cloud.key(event)) return event.preventDefault();
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }
}

/** What an embedding is called in an address. @param {EmbeddingTold} one */
const embeddingKey = (one) => `${one.folder}:${one.name}`;

/** An embedding in the list. @param {EmbeddingTold} one */
function embeddingWord(one) {
  const name = one.title || one.name.replace(/\/\.ATTRIBUTES\/VARIABLE_VALUE$/, "");
  return `${one.folder === "." ? "" : `${shortText(one.folder, 60)}: `}${shortText(name, 80)}`;
}

/** @param {number[]} rows @param {number} row */
const toggledSet = (rows, row) => (rows.includes(row) ? rows.filter((one) => one !== row) : [...rows, row]);
