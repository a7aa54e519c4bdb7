// The page of scalars: a card per tag with the lines of all selected runs, and a crosshair common to all cards.

import { el } from "../dom.js";
import { t } from "../strings.js";
import { durationWord, floatWord, shortNumber } from "./curves.js";
import { GroupMenu } from "./group_menu.js";
import { ScalarCard } from "./scalar_card.js";
import { StepValues } from "./step_values.js";
import { TIP_ROWS, TagPage } from "./tag_page.js";
import { TOGETHER_ID, patternOfNames, testOfPattern, togetherTags } from "./together.js";

export const AXES = ["step", "relative", "wall", "start"];

const DRAGGED = "application/x-tbgraph-tag"; // the kind of what is dragged from a card

const RESTING_MS = 150; // after which a slider stands still

export class ScalarPage extends TagPage {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs, "scalar");
    this.most = Infinity; // a tag is one card, however many runs have it
    this.look = logs.look;
    this.controls();
  }

  controls() {
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
    this.groupMenu = new GroupMenu(this.logs, () => this.regroup());
    this.stepTable = new StepValues(this);
    this.bar.append(this.groupMenu.root, this.togetherMenu(), this.stepTable.field);
    this.groups.before(this.stepTable.root);
  }

  /** Tags that are put into one chart by a pattern. */
  togetherMenu() {
    const field = el("input", { class: "filter", "aria-label": t("log.togetherHint"), placeholder: t("log.togetherHint"), spellcheck: "false", autocomplete: "off", onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && add() });
    const add = () => {
      if (!testOfPattern(field.value)) return field.setAttribute("aria-invalid", "true");
      field.removeAttribute("aria-invalid");
      this.putTogether(field.value);
      menu.open = false;
    };
    const menu = el("details", { class: "menu" }, el("summary", {}, t("log.together")), el("div", { class: "pop" }, field, el("button", { onclick: add }, t("log.together"))));
    return menu;
  }

  /** Show the tags of a pattern in one chart. @param {string} pattern */
  putTogether(pattern) {
    const { together } = this.logs;
    if (!together.includes(pattern)) together.push(pattern);
    this.set(this.own ?? []);
    this.logs.remember();
  }

  /** @param {string} pattern */
  takeApart(pattern) {
    this.logs.together = this.logs.together.filter((one) => one !== pattern);
    this.set(this.own ?? []);
    this.logs.remember();
  }

  /** @param {LogTag[]} tags */
  set(tags) {
    /** @type {LogTag[]} */
    this.own = tags;
    super.set(this.withTogether(tags));
    for (const [key, card] of this.cards) if (card.tag.id === TOGETHER_ID && !this.logs.together.includes(card.tag.name)) this.dropCard(key, card);
    this.stepTable?.fill();
  }

  /** The tags, behind those that the reader put together. @param {LogTag[]} tags */
  withTogether(tags) {
    return [...togetherTags(this.logs.together, tags, t("log.together")), ...tags];
  }

  /** Runs are grouped in another way. */
  regroup() {
    for (const card of this.every()) if (card.near) this.frames.add(card, () => card.show());
    this.stepTable.fill();
    this.logs.remember();
  }

  /** All cards. */
  every() {
    return /** @type {ScalarCard[]} */ ([...this.cards.values()]);
  }

  /** @param {LogTag} tag @returns {CardEntry[]} */
  entries(tag) {
    return [{ key: tag.name, tag, run: null }];
  }

  /** @param {CardEntry} entry */
  make(entry) {
    const card = new ScalarCard(this, entry);
    this.letDrag(card);
    return card;
  }

  /** Let a card be dragged onto another: both tags are shown in one chart. @param {ScalarCard} card */
  letDrag(card) {
    const head = card.root.querySelector(".card-head h3");
    head.draggable = true;
    head.addEventListener("dragstart", (/** @type {DragEvent} */ event) => event.dataTransfer.setData(DRAGGED, card.key));
    card.root.addEventListener("dragover", (/** @type {DragEvent} */ event) => event.dataTransfer.types.includes(DRAGGED) && (event.preventDefault(), card.root.classList.add("drop")));
    for (const name of ["dragleave", "drop"]) card.root.addEventListener(name, () => card.root.classList.remove("drop"));
    card.root.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      const other = /** @type {ScalarCard | undefined} */ (this.cards.get(event.dataTransfer.getData(DRAGGED)));
      if (!other || other === card) return;
      event.preventDefault();
      const names = [...new Set([card, other].flatMap((one) => one.chartTags().map((tag) => tag.name)))];
      for (const one of [card, other]) if (one.isTogether()) this.logs.together = this.logs.together.filter((pattern) => pattern !== one.tag.name);
      this.putTogether(patternOfNames(names));
    });
  }

  onRestore() {
    super.onRestore();
    this.groupMenu.update();
    this.stepTable.restore();
    if (this.own) this.set(this.own);
    this.setLook({ ...this.look });
  }

  /** Change how all charts look. @param {Partial<LogLook>} change @param {boolean} [light] whether points that are here may do */
  setLook(change, light = false) {
    Object.assign(this.look, change);
    this.axis.value = this.look.axis;
    this.smooth.value = String(this.look.smooth);
    this.smoothWord.textContent = this.look.smooth.toFixed(2);
    for (const [key, box] of Object.entries(this.checks)) box.checked = this.look[/** @type {"logX"} */ (key)];
    const asks = "axis" in change || "smooth" in change;
    for (const card of this.every()) {
      const sampled = [...card.points.values()].some((one) => one.smoothed || one.step.length < one.n);
      if (asks && (!light || sampled)) card.onZoom();
      if (card.near) light ? this.showQuickly(card) : card.show();
    }
    if (light) this.logs.rememberSoon();
    else this.logs.remember();
  }

  /** Draw a card while a slider moves: its lines in one of the next frames, all of it when the slider stands still. @param {ScalarCard} card */
  showQuickly(card) {
    this.frames.add(card, () => {
      card.chart.isQuick = true;
      card.show();
      card.chart.isQuick = false;
    });
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.every().forEach((one) => one.near && this.frames.add(one, () => one.show())), RESTING_MS);
  }

  runsChanged() {
    this.groupMenu.update();
    this.stepTable.fill();
    for (const card of this.every()) {
      if (card.series().some(([, series]) => !card.points.has(series))) card.load();
      else if (card.near) this.frames.add(card, () => card.show());
      else card.stale = true;
    }
  }

  /** @param {number | null} x @param {LineChart} from */
  hover(x, from) {
    for (const card of this.every()) {
      if (!card.near || card.table || (card.chart.cross === null && x === null)) continue;
      card.chart.cross = x;
      card.chart.drawCross();
    }
  }

  /** The points at the crosshair. @param {ScalarCard} card @param {any[] | null} rows @param {number} x */
  tellPoints(card, rows, x) {
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
  async drawn(tag) {
    const named = this.tags.find((one) => one.name === tag);
    if (!named) throw new Error(`no tag ${JSON.stringify(tag)}`);
    const card = /** @type {ScalarCard} */ (this.card(this.entries(named)[0]));
    if (card.stale || !card.points.size) (await card.fetchData(new AbortController().signal))();
    return card.lines().map((line) => ({ run: line.run.name, steps: Array.from(line.step), values: Array.from(line.raw) }));
  }
}

/** A list of the axes that a chart may have across. @param {(axis: string) => void} choose */
export function axisChooser(choose) {
  const list = el("select", { "aria-label": t("log.axis"), onchange: () => choose(list.value) }, ...AXES.map((one) => el("option", { value: one }, t(`log.axis.${one}`))));
  return list;
}

/** A run in its colour, as a cell of a table. @param {RunList} runs @param {LogRun} run @param {string} colour */
export function runCell(runs, run, colour) {
  const swatch = el("span", { class: "swatch" });
  swatch.style.background = colour;
  return el("td", {}, swatch, runs.shownName(run.name, 60));
}
