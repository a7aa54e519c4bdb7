// Colourings: the results of `color/` for each row, read from columns; a measured colouring has values and a ramp.

import { inBounds } from "./strings.js";

export const ROW_KINDS = ["kind.scope", "kind.op", "kind.series", "kind.fold", "kind.function"];
const MAX_LEGEND_ROWS = 10; // of a legend
const UNKNOWN_LABEL = "unknown"; // label in the legend of costs
const SECOND_LINE_ROLES = new Set(["second", "count"]); // texts of a colouring on a closed box, and on the title bar of an open box
const SECOND_LINE_MARGIN_PX = 18; // least room beside a second line
const SIGNED_SCALE_TICKS = [-1, -0.25, 0, 0.25, 1]; // ticks as shares of the largest difference

/** The words for a value of each kind of colouring. @type {Record<string, (value: number) => string>} */
const VALUE_FORMATS = {
  micros: layout.format_micros,
  bytes: layout.format_bytes,
  flops: layout.format_flops,
  parameters: layout.format_parameters,
};

/** A painter, as the drawing code takes it, for one colouring in one theme. */
export class Colouring {
  /** @param {Graph} graph @param {string} scheme @param {any} head @param {Int32Array} columns */
  constructor(graph, scheme, head, columns) {
    this.graph = graph;
    this.scheme = scheme;
    this.head = head;
    const count = graph.count;
    const column = (/** @type {number} */ at) => columns.subarray(at * count, (at + 1) * count);
    this.measured = !!head.measured;
    /** @type {any} fills of a group and of an op without a measurement, by theme */
    this.unknown = null;
    /** @type {Map<string, number>} */
    this.insideIndexes = new Map();
    this.greatestValue = 0;
    const none = new Int32Array(0);
    this.fillIndexes = none;
    this.secondWords = none;
    this.accountWords = none;
    this.entryStarts = none;
    this.entries = none;
    this.columns = columns;
    /** @type {any[][]} fills by theme */
    this.fills = [[], []];
    for (const pair of head.fills) pair.forEach((/** @type {any[]} */ values, /** @type {number} */ at) => this.fills[at].push(new layout.Fill(...values)));
    if (this.measured) {
      this.unknown = [0, 1].map((at) => head.unknown.map((/** @type {any[][]} */ pair) => new layout.Fill(...pair[at])));
      this.insideIndexes = new Map(head.inside.map((/** @type {string} */ key, /** @type {number} */ at) => [key, count + at]));
    } else {
      this.fillIndexes = column(0);
      this.secondWords = column(1);
      this.accountWords = column(2);
      this.entryStarts = columns.subarray(3 * count, 4 * count + 1);
      this.entries = columns.subarray(4 * count + 1);
    }
    /** @type {() => Colouring[]} colourings of all steps */
    this.stepColourings = () => [this];
    /** @type {Path[]} the path of each box shown */
    this.boxPaths = [];
    this.setTheme("light");
  }

  /** @param {string} name */
  setTheme(name) {
    this.theme = layout.THEMES.get(name);
    this.themeIndex = name === "dark" ? 1 : 0;
  }

  /** The position of the measured value of a path. @param {Path} path */
  valueIndex(path) {
    return (path.length > 1 ? this.insideIndexes?.get(path.join(".")) : undefined) ?? path[path.length - 1];
  }

  /** A measured value; null for none. @param {number} at @returns {number | null} */
  value(at) {
    const value = this.head.values[at];
    return this.head.signed || value >= 0 ? value : null;
  }

  /** @param {number} at */
  measuredFill(at) {
    const value = this.value(at);
    const row = at < this.graph.count ? at : 0;
    return value === null ? this.unknown[this.themeIndex][this.graph.isDrawnAsOp(row) ? 1 : 0] : this.fillOfValue(value);
  }

  /** The colour of a value: along the ramp by the square root of its share of the largest value. @param {number} value */
  fillOfValue(value) {
    const fills = this.fills[this.themeIndex];
    const share = this.greatestValue > 0 ? Math.sqrt(Math.min(1, Math.abs(value) / this.greatestValue)) : 0;
    const zero = this.head.signed ? (fills.length - 1) / 2 : 0;
    return fills[zero + Math.sign(value) * Math.round(share * (fills.length - 1 - zero))];
  }

  /** @param {number} row */
  fill(row) {
    return this.measured ? this.measuredFill(row) : this.fills[this.themeIndex][this.fillIndexes[row]];
  }

  /** @param {Path} path */
  fillOfPath(path) {
    return this.measured ? this.measuredFill(this.valueIndex(path)) : this.fill(path[path.length - 1]);
  }

  /** The colour of a line; fainter if it leads to a box without a known value. @param {any} line @returns {any} */
  lineTint(line) {
    const { faint } = this.head;
    if (!faint || line.kind === "shortcut" || line.source === undefined) return null;
    const hidden = [line.source, line.target].some((at) => at >= 0 && this.value(this.valueIndex(this.boxPaths[at])) === null);
    return hidden ? new layout.Tint(faint[line.kind][this.themeIndex], [], "", true) : null;
  }

  /** Every colour of one scene, as the drawing code takes it. @param {any} scene @param {Map<string, Path>} places */
  paint(scene, places) {
    this.setScale(scene, places);
    const own = (/** @type {any} */ box) => !box.surplus || this.scheme === "diff"; // as `resolve_paint`
    const shown = [...scene.boxes.filter(own).map((/** @type {any} */ box) => box.row), ...scene.stubs.map((/** @type {any} */ stub) => stub.other).filter((/** @type {number} */ row) => row >= 0)];
    const tint = (/** @type {any} */ line) => this.lineTint(line);
    const boxes = scene.boxes.map((/** @type {any} */ box) => (own(box) ? this.fillOfPath(places.get(box.address) ?? [box.row]) : layout.surplus_fill(this.theme)));
    const lettered = new Set(boxes.filter((/** @type {any} */ _, /** @type {number} */ at) => !scene.boxes[at].open).map((/** @type {any} */ fill) => fill.badge));
    return Object.assign(Object.create(layout.Paint.prototype), {
      theme: this.theme,
      scheme: this.scheme,
      heading: this.head.heading,
      boxes,
      accounts: scene.boxes.map((/** @type {any} */ box) => (own(box) ? this.accountText(box.row) : "")),
      stubs: scene.stubs.map((/** @type {any} */ stub) => (stub.other >= 0 ? this.fill(stub.other) : null)),
      tints: { routes: scene.routes.map(tint), stubs: scene.stubs.map(tint) },
      ...this.legendRows([...new Set(shown)], lettered),
    });
  }

  /** The rows of the legend, and all rows if the legend only counts the last ones; with the letters on boxes.
   * @param {number[]} rows @param {Set<string>} lettered */
  legendRows(rows, lettered) {
    const legend = this.legend(rows);
    const cut = !this.measured && legend.some((/** @type {any} */ row) => row.shape === "rest");
    const changed = (/** @type {any} */ original, /** @type {any} */ more) => Object.assign(Object.create(Object.getPrototypeOf(original)), original, more);
    const fitted = (/** @type {any} */ row) => (lettered.has(row.fill.badge) ? row : changed(row, { fill: changed(row.fill, { badge: "" }) }));
    return { legend: legend.map(fitted), every: cut ? this.legend(rows, Infinity).map(fitted) : null };
  }

  /** The second line of a box; null keeps the default. @param {Path} path */
  secondLine(path) {
    if (!this.measured) {
      const word = this.secondWords[path[path.length - 1]];
      return word ? this.graph.words[word - 1] : null;
    }
    return this.graph.words[this.columns[this.valueIndex(path)]] || null;
  }

  /** The second line of a box, if there is room for it. @param {Path} path @returns {string | null} */
  longestSecondLine(path) {
    let longest = this.secondLine(path);
    if (longest === null) return null;
    for (const step of this.stepColourings()) {
      const second = step.secondLine(path);
      if (second !== null && layout.width(second, 10) > layout.width(longest, 10)) longest = second;
    }
    return longest;
  }

  /** Write the second lines into a scene that was laid out with other second lines; return whether all of them fit.
   * @param {any} scene @param {Map<string, Path>} places */
  writeSecondLines(scene, places) {
    const written = new Set();
    for (const text of scene.texts) {
      if (!text.inside || text.box < 0 || !SECOND_LINE_ROLES.has(text.role)) continue;
      const box = scene.boxes[text.box];
      const path = places.get(box.address) ?? [box.row];
      const second = this.secondLine(path);
      if (!text.around) {
        const room = this.longestSecondLine(path);
        if (second === null || room === null) continue;
        const parts = text.content.split(room);
        text.around = parts.length === 2 ? parts : ["", ""];
        text.most = Math.max(text.width, text.role === "second" ? box.width - 2 * SECOND_LINE_MARGIN_PX : 0);
        box.around = box.title.split(room);
      }
      if (second === null) return false;
      written.add(text.box);
      const whole = text.around.join(second);
      if (whole === text.whole) continue;
      text.whole = text.content = text.full = whole;
      text.width = layout.width(whole, text.size);
      if (text.width > text.most) {
        text.content = text.full = layout.elide(whole, text.most, text.size);
        text.width = layout.width(text.content, text.size);
      }
      box.title = box.around.join(second);
    }
    return scene.boxes.every((/** @type {any} */ box, /** @type {number} */ at) => box.open || written.has(at) || this.secondLine(places.get(box.address) ?? [box.row]) === null);
  }

  /** The number of a path in words; null for none. @param {Path} path */
  valueText(path) {
    if (!this.measured) return this.secondLine(path);
    const value = this.value(this.valueIndex(path));
    return value === null || (this.head.whole && !value) ? null : this.formatValue(value).replace(/ (parameters?|FLOPs)$/, "");
  }

  /** The number of a path with the word for its bound, which Python computed; null if there is none. @param {Path} path @returns {string | null} */
  boundedValueText(path) {
    const text = this.valueText(path);
    return text && this.measured ? inBounds(this.bound(path), text) : text;
  }

  /** Whether the number of a path is exact (0), a lower bound (1), an upper bound (2), or approximate (3). @param {Path} path @returns {number} */
  bound(path) {
    return this.head.bounds?.[path[path.length - 1]] ?? 0;
  }

  /** The things not counted in the number of a path: their kind, and how many. @param {Path} path @returns {[string, number][]} */
  missingCounts(path) {
    const row = path[path.length - 1];
    const counts = Object.entries(this.head.lacks ?? {}).map(([kind, column]) => /** @type {[string, number]} */ ([kind, column[row]]));
    return counts.filter(([, count]) => count > 0);
  }

  /** A value with its unit; a difference also with its sign. @param {number} value */
  formatValue(value) {
    const text = VALUE_FORMATS[this.head.measured](Math.abs(value));
    return this.head.signed ? (value > 0 ? "+" : value < 0 ? "−" : "±") + text : text;
  }

  /** @param {number} row */
  accountText(row) {
    const { accounts } = this.head;
    return this.measured ? (accounts ? this.graph.words[accounts[row]] : "") : this.graph.words[this.accountWords[row]];
  }

  /** Set the scale of a measured colouring by the closed boxes. @param {any} scene @param {Map<string, Path>} places */
  setScale(scene, places) {
    this.boxPaths = scene.boxes.map((/** @type {any} */ box) => places.get(box.address) ?? [box.row]);
    if (!this.measured) return;
    this.greatestValue = 0;
    for (const box of scene.boxes) {
      if (!box.open && !box.surplus) this.greatestValue = Math.max(this.greatestValue, Math.abs(this.value(this.valueIndex(places.get(box.address) ?? [box.row])) ?? 0));
    }
  }

  /** @param {number[]} rows @param {number} [most] */
  legend(rows, most = MAX_LEGEND_ROWS) {
    return this.measured ? this.scaleLegend(rows) : this.categoryLegend(rows, most);
  }

  /** The numbers of the legend rows of a row. @param {number} row @returns {Iterable<number>} */
  legendEntries(row) {
    return this.entries.subarray(this.entryStarts[row], this.entryStarts[row + 1]);
  }

  /** @param {number[]} rows @param {number} most */
  categoryLegend(rows, most) {
    const entryNumbers = new Set();
    for (const row of rows) for (const entry of this.legendEntries(row)) entryNumbers.add(entry);
    const shown = [...entryNumbers].sort((a, b) => this.head.order[a] - this.head.order[b]).map((at) => {
      const [label, fill, kind] = this.head.legend[at];
      return new layout.LegendRow(label, this.fills[this.themeIndex][fill], "box", "", kind);
    });
    const plain = shown.filter((row) => !row.fill.hued); // rows without a category or value are never left out
    const hued = shown.filter((row) => row.fill.hued);
    const rest = hued.length > most ? [new layout.LegendRow(`+${hued.length - most} more`, hued[0].fill, "rest")] : [];
    return [...hued.slice(0, most), ...rest, ...plain];
  }

  /** The distinct values that a ramp labels. */
  ticks() {
    const { signed, whole } = this.head;
    const ticks = signed ? SIGNED_SCALE_TICKS.map((tick) => this.greatestValue * tick) : layout.round_ticks(this.greatestValue, this.head.measured === "bytes");
    return [...new Set(whole ? ticks.map(Math.round) : ticks.map((tick) => tick + 0))]; // -0 is 0
  }

  /** Whether a row of the legend belongs to a path: it has one of the path's colours, or that of the nearest labelled value.
   * @param {string} label @param {Path} path */
  isInLegendRow(label, path) {
    if (!this.measured) return [...this.legendEntries(path[path.length - 1])].some((entry) => this.head.legend[entry][0] === label);
    const value = this.value(this.valueIndex(path));
    if (value === null) return label === this.head.missing || label === UNKNOWN_LABEL;
    const root = (/** @type {number} */ number) => Math.sign(number) * Math.sqrt(Math.abs(number)); // the scale of the ramp
    const ticks = this.ticks().sort((a, b) => Math.abs(root(a) - root(value)) - Math.abs(root(b) - root(value)));
    return this.formatValue(ticks[0]) === label;
  }

  /** @param {number[]} rows */
  scaleLegend(rows) {
    const lacking = rows.filter((row) => this.value(row) === null && this.missingCounts([row]).some(([kind]) => kind !== "guessed"));
    const ticks = this.greatestValue || lacking.length < rows.length ? this.ticks() : [];
    const out = ticks.map((value) => new layout.LegendRow(this.formatValue(value), this.fillOfValue(value)));
    const unknown = this.unknown[this.themeIndex][0];
    if (lacking.length) out.push(new layout.LegendRow(UNKNOWN_LABEL, unknown)); // as in the legend of a picture
    const { missing, rest } = this.head;
    if (missing && rows.some((row) => this.value(row) === null)) out.push(new layout.LegendRow(missing, unknown));
    for (const word of rest) out.push(new layout.LegendRow(word, unknown, "rest"));
    return out;
  }
}
