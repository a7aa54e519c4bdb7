// The page of scalars: a card per tag with the lines of all selected runs, and a crosshair common to all cards.

import { el } from "../dom.js";
import { t } from "../strings.js";
import { durationWord, floatWord, shortNumber } from "./curves.js";
import { GroupMenu } from "./group_menu.js";
import { ScalarCard } from "./scalar_card.js";
import { StepValues } from "./step_values.js";
import { TIP_ROWS, TagPage } from "./tag_page.js";
import { COMBINED_ID, combinedTags, compileTagPattern, patternMatching } from "./together.js";

export const AXES = ["step", "relative", "wall", "start"];

const TAG_DRAG_TYPE = "application/x-tbgraph-tag"; // data type of a dragged card

const SLIDER_REST_MS = 150; // delay after the last move of a slider

export class ScalarPage extends TagPage {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs, "scalar");
    this.maxGroupCards = Infinity; // a tag is one card for all its runs
    this.look = logs.look;
    this.createControls();
  }

  createControls() {
    const look = this.look;
    this.smooth = el("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: look.smooth, "aria-label": t("log.smoothing"), oninput: () => this.setLook({ smooth: Number(this.smooth.value) }, true) });
    this.smoothWord = el("output", {}, String(look.smooth));
    this.axis = axisChooser((axis) => this.setLook({ axis }));
    const check = (/** @type {"logX" | "logY" | "outliers" | "restarts"} */ key) => {
      const box = el("input", { type: "checkbox", onchange: () => this.setLook({ [key]: box.checked }) });
      box.checked = look[key];
      return [box, el("label", { class: "check", title: t(`log.about.${key}`) }, box, t(`log.${key}`))];
    };
    const [logX, labelX] = check("logX");
    const [logY, labelY] = check("logY");
    const [outliers, labelOut] = check("outliers");
    const [restarts, labelRe] = check("restarts");
    this.checks = { logX, logY, outliers, restarts };
    this.bar.append(el("label", { class: "check" }, t("log.smoothing"), this.smooth, this.smoothWord), this.axis, labelX, labelY, labelOut, labelRe);
    this.groupMenu = new GroupMenu(this.logs, () => this.onGrouping());
    this.stepTable = new StepValues(this);
    this.bar.append(this.groupMenu.root, this.combineMenu(), this.stepTable.field);
    this.groups.before(this.stepTable.root);
  }

  /** The menu that combines tags by a pattern. */
  combineMenu() {
    const field = el("input", { class: "filter", "aria-label": t("log.togetherHint"), placeholder: t("log.togetherHint"), spellcheck: "false", autocomplete: "off", onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && add() });
    const add = () => {
      if (!compileTagPattern(field.value)) return field.setAttribute("aria-invalid", "true");
      field.removeAttribute("aria-invalid");
      this.combineTags(field.value);
      menu.open = false;
    };
    const menu = el("details", { class: "menu" }, el("summary", {}, t("log.together")), el("div", { class: "pop" }, field, el("button", { onclick: add }, t("log.together"))));
    return menu;
  }

  /** Show the tags of a pattern in one chart. @param {string} pattern */
  combineTags(pattern) {
    const { combinedPatterns: together } = this.logs;
    if (!together.includes(pattern)) together.push(pattern);
    this.setTags(this.loggedTags ?? []);
    this.logs.writeAddress();
  }

  /** @param {string} pattern */
  separateTags(pattern) {
    this.logs.combinedPatterns = this.logs.combinedPatterns.filter((combined) => combined !== pattern);
    this.setTags(this.loggedTags ?? []);
    this.logs.writeAddress();
  }

  /** @param {LogTag[]} tags */
  setTags(tags) {
    /** @type {LogTag[]} */
    this.loggedTags = tags;
    super.setTags(this.withCombinedTags(tags));
    for (const [key, card] of this.cards) if (card.tag.id === COMBINED_ID && !this.logs.combinedPatterns.includes(card.tag.name)) this.dropCard(key, card);
    this.stepTable?.loadValues();
  }

  /** The combined tags of the reader, then all tags. @param {LogTag[]} tags */
  withCombinedTags(tags) {
    return [...combinedTags(this.logs.combinedPatterns, tags, t("log.together")), ...tags];
  }

  /** Draw the cards and the table after a change of the grouping. */
  onGrouping() {
    for (const card of this.allCards()) if (card.isNear) this.frames.add(card, () => card.showData());
    this.stepTable.loadValues();
    this.logs.writeAddress();
  }

  /** All cards. */
  allCards() {
    return /** @type {ScalarCard[]} */ ([...this.cards.values()]);
  }

  /** @param {LogTag} tag @returns {CardEntry[]} */
  entries(tag) {
    return [{ key: tag.name, tag, run: null }];
  }

  /** @param {CardEntry} entry */
  createCard(entry) {
    const card = new ScalarCard(this, entry);
    this.makeDraggable(card);
    return card;
  }

  /** Let a card be dragged onto another: both tags are shown in one chart. @param {ScalarCard} card */
  makeDraggable(card) {
    const head = card.root.querySelector(".card-head h3");
    head.draggable = true;
    head.addEventListener("dragstart", (/** @type {DragEvent} */ event) => event.dataTransfer.setData(TAG_DRAG_TYPE, card.key));
    card.root.addEventListener("dragover", (/** @type {DragEvent} */ event) => event.dataTransfer.types.includes(TAG_DRAG_TYPE) && (event.preventDefault(), card.root.classList.add("drop")));
    for (const name of ["dragleave", "drop"]) card.root.addEventListener(name, () => card.root.classList.remove("drop"));
    card.root.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      const other = /** @type {ScalarCard | undefined} */ (this.cards.get(event.dataTransfer.getData(TAG_DRAG_TYPE)));
      if (!other || other === card) return;
      event.preventDefault();
      const names = [...new Set([card, other].flatMap((source) => source.chartTags().map((tag) => tag.name)))];
      for (const source of [card, other]) if (source.isCombined()) this.logs.combinedPatterns = this.logs.combinedPatterns.filter((pattern) => pattern !== source.tag.name);
      this.combineTags(patternMatching(names));
    });
  }

  onRestore() {
    super.onRestore();
    this.groupMenu.update();
    this.stepTable.restore();
    if (this.loggedTags) this.setTags(this.loggedTags);
    this.setLook({ ...this.look });
  }

  /** Change how all charts look. @param {Partial<LogLook>} change @param {boolean} [light] whether the loaded points suffice */
  setLook(change, light = false) {
    Object.assign(this.look, change);
    this.axis.value = this.look.axis;
    this.smooth.value = String(this.look.smooth);
    this.smoothWord.textContent = this.look.smooth.toFixed(2);
    for (const [key, box] of Object.entries(this.checks)) box.checked = this.look[/** @type {"logX"} */ (key)];
    const asks = "axis" in change || "smooth" in change;
    for (const card of this.allCards()) {
      const sampled = [...card.points.values()].some((points) => points.smoothed || points.step.length < points.n);
      if (asks && (!light || sampled)) card.onZoom();
      if (card.isNear) light ? this.showQuickly(card) : card.showData();
    }
    if (light) this.logs.writeAddressSoon();
    else this.logs.writeAddress();
  }

  /** Draw a card while a slider moves: its lines in one of the next frames, everything when the slider rests. @param {ScalarCard} card */
  showQuickly(card) {
    this.frames.add(card, () => {
      card.chart.isQuick = true;
      card.showData();
      card.chart.isQuick = false;
    });
    clearTimeout(this.restTimer);
    this.restTimer = setTimeout(() => this.allCards().forEach((each) => each.isNear && this.frames.add(each, () => each.showData())), SLIDER_REST_MS);
  }

  runsChanged() {
    this.groupMenu.update();
    this.stepTable.loadValues();
    for (const card of this.allCards()) {
      if (card.shownSeries().some(([, series]) => !card.points.has(series))) card.load();
      else if (card.isNear) this.frames.add(card, () => card.showData());
      else card.isStale = true;
    }
  }

  /** @param {number | null} x @param {LineChart} from */
  moveCrosshair(x, from) {
    for (const card of this.allCards()) {
      if (!card.isNear || card.isTable || (card.chart.crosshairValue === null && x === null)) continue;
      card.chart.crosshairValue = x;
      card.chart.drawCross();
    }
  }

  /** The points at the crosshair. @param {ScalarCard} card @param {any[] | null} rows @param {number} x */
  showPointTip(card, rows, x) {
    const cell = (/** @type {string} */ text) => el("td", {}, text);
    const body = (rows ?? []).slice(0, TIP_ROWS).map(({ line, at: nth }, order) => {
      if (line.group) {
        const { low, high, count, size } = line.group;
        return el("tr", { class: order ? null : "nearest" }, runCell(this.logs.runs, line.run, line.colour), ...(line.raw === line.y ? [] : [cell(shortNumber(line.y[nth], 5))]), cell(floatWord(line.raw[nth])), cell(String(line.step[nth])), cell(`${shortNumber(low[nth], 5)} – ${shortNumber(high[nth], 5)}`), cell(`${count[nth]} / ${size}`));
      }
      const when = [String(line.step[nth]), new Date(line.wall[nth] * 1000).toLocaleTimeString(), durationWord(line.wall[nth] - line.start)];
      const smooth = line.raw === line.y ? [] : [cell(shortNumber(line.y[nth], 5))];
      return el("tr", { class: order ? null : "nearest" }, runCell(this.logs.runs, line.run, line.colour), ...smooth, cell(floatWord(line.raw[nth])), ...when.map(cell));
    });
    this.showTip(card, ["run", ...(this.look.smooth ? ["log.smoothed"] : []), "log.value", "step", "log.wall", "log.axis.relative"].map((key) => t(key)), body, x, (rows ?? []).length);
  }

  /** @returns {Record<string, () => void>} */
  pageKeys() {
    return {
      s: () => this.smooth.focus(), x: () => this.setLook({ axis: AXES[(AXES.indexOf(this.look.axis) + 1) % AXES.length] }),
      y: () => this.setLook({ logY: !this.look.logY }),
    };
  }

  /** The points that a card draws, for scripts. @param {string} tag */
  async drawnPoints(tag) {
    const named = this.tags.find((candidate) => candidate.name === tag);
    if (!named) throw new Error(`no tag ${JSON.stringify(tag)}`);
    const card = /** @type {ScalarCard} */ (this.cardOfEntry(this.entries(named)[0]));
    if (card.isStale || !card.points.size) (await card.fetchData(new AbortController().signal))();
    return card.lines().map((line) => ({ run: line.run.name, steps: Array.from(line.step), values: Array.from(line.raw) }));
  }
}

/** A list of the axes that a chart may have across. @param {(axis: string) => void} choose */
export function axisChooser(choose) {
  const list = el("select", { "aria-label": t("log.axis"), onchange: () => choose(list.value) }, ...AXES.map((axis) => el("option", { value: axis }, t(`log.axis.${axis}`))));
  return list;
}

/** A run in its colour, as a cell of a table. @param {RunList} runs @param {LogRun} run @param {string} colour */
export function runCell(runs, run, colour) {
  const swatch = el("span", { class: "swatch" });
  swatch.style.background = colour;
  return el("td", {}, swatch, runs.shownName(run.name, 60));
}
