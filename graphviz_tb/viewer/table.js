// The table of a graph: its ops, layers or groups as rows, with their costs. A row leads to its box, and a box to its
// row.

import { byId, el, setAttributes, shortText } from "./dom.js";
import { OP } from "./levels.js";
import { QueryError, RowSearch, parseQuery } from "./query.js";
import { RowsTable, encodeRows, nameWithLeaf, percentText, shareBar } from "./rows_table.js";
import { download, fileName } from "./save.js";
import { BOUND_SIGNS, inBounds, language, opsCount, opsWord, t } from "./strings.js";

const ROW_LISTS = ["ops", "layers", "groups"];
const QUANTITIES = ["compute-time", "memory", "flops", "parameters", "activations"]; // in the order of the columns
const SELF_TIME = "self"; // the time of the ops directly in a group

export class GraphTable {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.panel = byId("table");
    this.button = byId("table-button");
    this.by = "ops";
    this.text = "";
    this.turn = 0;
    /** @type {any} the inputs of the table, which is rebuilt when they change */
    this.builtFrom = [];
    /** @type {Map<string, Colouring>} */
    this.measures = new Map();
    /** @type {number[]} */
    this.listedRowNumbers = [];
    this.rowsReady = /** @type {Promise<any>} */ (Promise.resolve());
    this.list = new RowsTable({ label: t("table"), name: (row) => this.address(row), onSorted: () => this.onSorted(), onChosen: (row) => this.app.actions.reveal(this.app.state.facts.pathOfRow(row), false), choosesOnClick: true });
    this.button.addEventListener("click", () => this.toggle());
    app.view.svg.addEventListener("tbgraph:select", () => this.markSelected());
    app.view.drawListeners.add(() => this.rebuildIfChanged());
  }

  get isShown() {
    return !this.panel.hidden;
  }

  toggle(show = this.panel.hidden) {
    this.show(show);
    this.app.history.writeAddress();
    if (show) this.rowsReady.then(() => this.list.table.focus({ preventScroll: true }));
    else this.app.frame.focusPicture();
  }

  /** Show or hide the panel. @param {boolean} show */
  show(show) {
    if (show === this.isShown) return;
    this.panel.hidden = !show;
    document.body.classList.toggle("tabled", show);
    this.button.setAttribute("aria-pressed", String(show));
    this.app.viewport.resize();
    if (show) this.rebuildIfChanged();
  }

  /** Return its entries of the address. */
  addressValues() {
    const sort = this.list.sort === this.defaultSort() ? "" : this.list.sort;
    return this.isShown ? { table: [this.by, ...(sort ? [sort] : [])].join(":"), rows: this.text } : {};
  }

  /** @param {string | undefined} value @param {string} text */
  restore(value, text) {
    const [by, sort] = (value ?? "").split(":");
    const known = [this.by, this.list.sort, this.text].join("\n");
    if (value !== undefined) {
      this.by = ROW_LISTS.includes(by) ? by : "ops";
      this.list.sort = sort ?? "";
      this.text = text;
    }
    if (known !== [this.by, this.list.sort, this.text].join("\n")) this.builtFrom = [];
    this.show(value !== undefined);
  }

  /** Rebuild the table after a change of graph, step or language. */
  rebuildIfChanged() {
    const { graph, stepIndex: at } = this.app.state;
    const now = [graph, at, language];
    if (!this.isShown || now.every((value, place) => value === this.builtFrom[place])) return;
    this.builtFrom = now;
    this.buildBar();
    this.rowsReady = this.fillRows();
  }

  /** The bar above the rows. */
  buildBar() {
    const kinds = ROW_LISTS.filter((kind) => kind !== "layers" || this.app.state.head.layers.length);
    const pick = el("select", { "aria-label": t("table.by"), onchange: () => this.changeList({ by: pick.value }) }, ...kinds.map((kind) => el("option", { value: kind }, t(`table.${kind}`))));
    if (!kinds.includes(this.by)) this.by = "ops";
    pick.value = this.by;
    this.filter = el("input", { class: "filter", type: "search", placeholder: t("findHint"), "aria-label": t("table.filter"), title: t("fields"), spellcheck: "false", oninput: () => this.changeList({ text: this.filter.value }) });
    this.filter.value = this.text;
    this.filter.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onFilterKey(event));
    this.statusElement = el("span", { class: "quiet", role: "status" });
    const save = el("button", { onclick: () => this.save() }, t("table.csv"));
    const close = el("button", { class: "icon", "aria-label": t("table.close"), title: t("table.close"), onclick: () => this.toggle(false) }, "×");
    this.panel.replaceChildren(el("div", { class: "table-bar" }, pick, this.filter, this.statusElement, save, close), this.list.root);
    setAttributes(this.list.table, { "aria-label": t("table") });
  }

  /** List other rows. @param {{by?: string, text?: string}} change */
  changeList(change) {
    if (change.by && (this.list.sort.slice(1) === SELF_TIME || change.by !== "groups")) this.list.sort = this.list.sort.replace(SELF_TIME, "compute-time");
    Object.assign(this, change);
    this.rowsReady = this.fillRows();
    this.app.history.writeAddressSoon();
  }

  /** Find the rows, and list them. */
  async fillRows() {
    const { app } = this;
    const turn = ++this.turn;
    const quantities = QUANTITIES.filter((quantity) => (app.state.head.measured ?? []).includes(quantity));
    const measures = await Promise.all(quantities.map((quantity) => app.view.loadColouring(quantity)));
    const shapes = await this.outputShapes();
    const rows = await this.matchingRows(() => turn === this.turn);
    if (turn !== this.turn || !rows) return;
    this.measures = new Map(quantities.map((quantity, at) => [quantity, measures[at]]));
    this.tensorWords = shapes;
    this.listedRowNumbers = rows;
    this.list.sort ||= this.defaultSort();
    this.selfTimesByRow = this.by === "groups" ? this.selfTimes() : null;
    this.list.setRows(rows, this.columns());
    this.updateStatus();
    this.markSelected();
  }

  /** The rows for which the filter holds; null for an invalid filter. @param {() => boolean} still @returns {Promise<number[] | null>} */
  async matchingRows(still) {
    const rows = this.listedRows();
    if (!this.text.trim()) return rows;
    try {
      const query = parseQuery(this.text);
      const search = new RowSearch(this.app, still);
      await search.searchNames(query);
      await search.searchBlocks(query);
      const holds = search.matchMask(query);
      return rows.filter((row) => holds[row]);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      if (still()) this.statusElement.textContent = error.message;
      return null;
    }
  }

  /** All rows of the kind that is listed. @returns {number[]} */
  listedRows() {
    const { graph, head } = this.app.state;
    if (this.by === "layers") return head.layers;
    const rows = [];
    for (let row = 1; row < graph.count; row++) if ((graph.kind[row] === OP) === (this.by === "ops")) rows.push(row);
    return rows;
  }

  /** The type and shape of the first output of each op, as the number of its text. @returns {Promise<Int32Array>} */
  async outputShapes() {
    const { graph, facts } = this.app.state;
    const tensors = new Int32Array(graph.count).fill(-1);
    const edges = await facts.edges().catch(() => null);
    if (!edges) return tensors;
    for (let edge = 0; edge < edges.source.length; edge++) {
      const source = edges.source[edge];
      if (edges.flags[edge] & 1) continue;
      if (tensors[source] < 0 || graph.words[edges.key[edge]] === "0") tensors[source] = edges.tensor[edge];
    }
    return tensors;
  }

  /** The time of the ops directly in each group. @returns {Float64Array | null} */
  selfTimes() {
    const { graph } = this.app.state;
    const times = this.measures.get("compute-time");
    if (!times) return null;
    const directTimes = new Float64Array(graph.count);
    for (let row = 0; row < graph.count; row++) {
      const time = times.value(row) ?? 0;
      directTimes[row] += time;
      if (graph.kind[row] !== OP && graph.parent[row] >= 0) directTimes[graph.parent[row]] -= time;
    }
    return directTimes.map((time) => (times.head.signed || time > 5e-4 ? time : 0)); // times are rounded to a thousandth
  }

  /** The column of the initial order: the first quantity. */
  defaultSort() {
    const [first] = this.measures.keys();
    return first ? `-${first}` : "";
  }

  /** The quantity whose shares are shown: the sorting column, else the first. */
  quantity() {
    const sort = this.list.sort.replace(/^-/, "").replace(SELF_TIME, "compute-time");
    return this.measures.has(sort) ? sort : [...this.measures.keys()][0];
  }

  /** The value of a quantity for a row; null if unknown. @param {string} quantity @param {number} row @returns {number | null} */
  value(quantity, row) {
    if (quantity === SELF_TIME) return this.selfTimesByRow?.[row] ?? null;
    return /** @type {Colouring} */ (this.measures.get(quantity)).value(row);
  }

  /** The value in words, with its bound if it is incomplete. @param {string} quantity @param {number} row */
  valueWords(quantity, row) {
    const measure = /** @type {Colouring} */ (this.measures.get(quantity));
    const [text, lacks] = [measure.valueText([row]), measure.missingCounts([row])];
    const lacking = lacks.some(([kind]) => kind !== "guessed");
    if (!text) return lacking ? t("unknown") : "";
    const [bound, whole] = [measure.bound([row]), measure.boundedValueText([row])];
    return bound ? el("span", { title: whole, "aria-label": whole }, `${BOUND_SIGNS[bound]} ${text}`) : text;
  }

  /** @returns {TableColumn[]} */
  columns() {
    const { graph } = this.app.state;
    const word = (/** @type {number} */ at) => graph.words[at] ?? "";
    const type = (/** @type {number} */ row) => word(graph.op[row]) || opsWord(graph.ops[row]);
    const text = (/** @type {string} */ key, /** @type {number} */ width, /** @type {(row: number) => string} */ textOf) => ({ key, word: t(key), width, text: true, value: textOf, cell: (/** @type {number} */ row) => shortText(textOf(row), 120) });
    const shares = this.quantity();
    const device = (/** @type {number} */ row) => word(graph.device[row]);
    return [
      { key: "name", word: t("name"), width: 300, text: true, value: (row) => this.address(row), cell: (row) => this.name(row) },
      ...(this.by === "groups" ? [{ key: "count", word: t("table.ops"), width: 72, value: (/** @type {number} */ row) => graph.ops[row], cell: (/** @type {number} */ row) => opsCount(graph.ops[row]) }] : [text("op", 140, type)]),
      ...[...this.measures.keys()].flatMap((quantity) => [
        ...(quantity === "compute-time" && this.selfTimesByRow ? [{ key: SELF_TIME, word: t("table.self"), width: 110, value: (/** @type {number} */ row) => this.value(SELF_TIME, row), cell: (/** @type {number} */ row) => this.measures.get(quantity)?.formatValue(this.selfTimesByRow?.[row] ?? 0) }] : []),
        { key: quantity, word: quantity === "compute-time" ? t("table.time") : t(`scheme.${quantity}`), width: 112, value: (/** @type {number} */ row) => this.value(quantity, row), cell: (/** @type {number} */ row) => this.valueWords(quantity, row) },
        ...(quantity === shares ? this.shareColumns(quantity) : []),
      ]),
      ...(this.by !== "groups" && this.listedRowNumbers.some((row) => this.tensorWords[row] >= 0) ? [{ key: "shape", word: t("table.shape"), width: 150, fixed: true, value: (/** @type {number} */ row) => elementCount(this.shape(row)), cell: (/** @type {number} */ row) => el("span", { title: this.shape(row) }, this.shape(row)) }] : []),
      ...(this.listedRowNumbers.some(device) ? [text("device", 150, device)] : []),
    ];
  }

  /** The column of shares of a quantity: of the whole graph, unless it is a difference. @param {string} quantity @returns {TableColumn[]} */
  shareColumns(quantity) {
    const measure = /** @type {Colouring} */ (this.measures.get(quantity));
    const whole = measure.head.signed ? null : measure.value(0);
    if (!whole) return [];
    const most = this.listedRowNumbers.reduce((least, row) => Math.max(least, measure.value(row) ?? 0), 1e-9);
    const cell = (/** @type {number} */ row) => {
      const value = measure.value(row);
      return value === null ? "" : shareBar(value, most, percentText(value, whole));
    };
    return [{ key: "share", word: t("table.share"), width: 132, fixed: true, sort: quantity, value: (row) => measure.value(row), cell }];
  }

  /** @param {number} row */
  shape(row) {
    const tensor = this.app.state.graph.words[this.tensorWords[row]] ?? "";
    const words = tensor.split(",")[0];
    return words.startsWith("unknown") ? "" : words.replace(/ float32$/, "");
  }

  /** @param {number} row */
  address(row) {
    return this.app.state.graph.address(this.app.state.facts.pathOfRow(row));
  }

  /** @param {number} row */
  name(row) {
    const address = this.address(row);
    return el("div", { class: "named", title: shortText(address, 600) }, ...nameWithLeaf(shortText(address, 300)));
  }

  /** Show the shares of the column that now sorts. */
  onSorted() {
    this.list.setRows(this.listedRowNumbers, this.columns());
    this.updateStatus();
    this.markSelected();
    this.app.history.writeAddressSoon();
  }

  /** Show the count of rows and their sum, counting nested rows once. */
  updateStatus() {
    const rows = t(this.listedRowNumbers.length === 1 ? "table.oneRow" : "table.rows", { n: this.listedRowNumbers.length });
    const quantity = this.quantity();
    const measure = quantity && this.measures.get(quantity);
    if (!measure) return void (this.statusElement.textContent = rows);
    const { sum, bound } = this.sumRows(measure);
    const whole = measure.value(0);
    const word = (/** @type {number} */ value, /** @type {number} */ bound) => inBounds(bound, measure.formatValue(value));
    const all = whole === null ? "" : t("table.of", { all: word(whole, measure.bound([0])), share: measure.head.signed ? "" : ` (${percentText(sum, whole)})` });
    this.statusElement.textContent = `${rows} · ${t(`scheme.${quantity}`)}: ${word(sum, bound)}${all}`;
  }

  /** The sum of a measure over the rows, and which bound it is. @param {Colouring} measure */
  sumRows(measure) {
    const { graph } = this.app.state;
    const whole = measure.value(0);
    if (whole !== null && !this.text.trim() && this.by !== "layers") return { sum: whole, bound: measure.bound([0]) };
    let [sum, end, bound] = [0, 0, 0];
    for (const row of this.listedRowNumbers) {
      if (graph.functionOf(row)) bound |= 1; // a function runs once per call
      else if (row >= end) {
        sum += measure.value(row) ?? 0;
        bound |= measure.bound([row]);
        end = graph.end[row];
      }
    }
    return { sum, bound };
  }

  /** Mark the row of the selected node. */
  markSelected() {
    const { selected } = this.app.state;
    if (!this.isShown) return;
    const at = selected ? this.list.rows.indexOf(selected[selected.length - 1]) : -1;
    if (at !== this.list.at) this.list.markRow(at);
  }

  /** @param {KeyboardEvent} event */
  onFilterKey(event) {
    if (event.key === "Escape" && this.filter.value) {
      this.filter.value = "";
      this.changeList({ text: "" });
    } else if (event.key === "ArrowDown" || event.key === "Escape" || event.key === "Enter") {
      this.list.table.focus();
      if (this.list.at < 0 && event.key !== "Escape") this.list.markRow(this.list.rows.length ? 0 : -1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Save the rows that are listed, in their order, numbers in units that every program reads. */
  save() {
    const { graph } = this.app.state;
    const units = /** @type {Record<string, string>} */ ({ micros: "us", bytes: "bytes" });
    const rows = this.list.rows.map((row) => ({
      name: this.address(row),
      type: graph.words[graph.op[row]] || ["scope", "op", "series", "fold", "function"][graph.kind[row]],
      ops: graph.kind[row] === OP ? 1 : graph.ops[row],
      ...(this.selfTimesByRow && { self_time_us: this.selfTimesByRow[row] }),
      ...Object.fromEntries([...this.measures].map(([quantity, measure]) => [[quantity.replace("-", "_"), units[measure.head.measured]].filter(Boolean).join("_"), measure.value(row) ?? ""])),
      ...(this.by !== "groups" && { shape: this.shape(row) }),
      device: graph.words[graph.device[row]] ?? "",
    }));
    download(new Blob([encodeRows(rows, "csv")], { type: "text/csv" }), `${fileName(this.app)}-${this.by}.csv`);
  }
}

/** The element count of a shape in words, unknown sizes as one; null if nothing is known. @param {string} words */
function elementCount(words) {
  if (!words) return null;
  const shape = words.includes(" ") ? words.slice(0, words.indexOf(" ")) : words;
  return shape.split("×").reduce((size, length) => size * (Number(length.replace(/\D/g, "")) || 1), 1);
}
