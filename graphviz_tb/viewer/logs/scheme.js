// Colours of the graph by logged values on a page with a server: tags, measure, run and step.

import { Colouring } from "../colours.js";
import { byId, el, shortText } from "../dom.js";
import { loadStoredColouring } from "../stored_colouring.js";
import { t } from "../strings.js";
import { Stepper } from "./stepper.js";

const MAX_KEPT_COLOURINGS = 200; // colourings that are kept
export const LOGGED = "logged"; // the name of this colouring
const LONGEST_LAYER_WORD = "exploded since step "; // longest second line of a layer, except for a number

/** @typedef {{fills: any[], plain: any[], legend: any[], order: number[], heading: string, texts: string[], at: number | string, steps: (number | string)[], measure: string, measures: string[]}} LoggedHead */

/** Colours of one step; rows without logged values are plain. */
class LoggedColouring extends Colouring {
  /** @param {Graph} graph @param {LoggedHead} head @param {Map<string, ArrayLike<number>>} blocks */
  constructor(graph, head, blocks) {
    super(graph, LOGGED, { ...head, fills: [...head.fills, ...head.plain] }, new Int32Array(0));
    this.plainFillStart = head.fills.length;
    const column = (/** @type {string} */ name) => /** @type {Int32Array} */ (blocks.get(name));
    [this.fillIndexes, this.secondWords, this.accountWords, this.entryStarts, this.entries] = ["fill", "second", "account", "start", "entries"].map(column);
    this.layers = column("n");
    this.positionsByRow = new Map(Array.from(column("row"), (row, at) => /** @type {[number, number]} */ ([row, at])));
  }

  /** @param {number} row */
  fill(row) {
    const at = this.positionsByRow.get(row);
    return this.fills[this.themeIndex][at === undefined ? this.plainFillStart + Number(this.graph.isDrawnAsOp(row)) : this.fillIndexes[at]];
  }

  /** @param {Path} path */
  secondLine(path) {
    const at = this.positionsByRow.get(path[path.length - 1]);
    const word = at === undefined ? 0 : this.secondWords[at];
    return word ? this.head.texts[word - 1] : null;
  }

  /** @param {number} row */
  accountText(row) {
    const at = this.positionsByRow.get(row);
    return at === undefined ? "" : this.head.texts[this.accountWords[at]];
  }

  /** @param {number} row */
  legendEntries(row) {
    const at = this.positionsByRow.get(row);
    return at === undefined ? [] : this.entries.subarray(this.entryStarts[at], this.entryStarts[at + 1]);
  }

  /** A second line as long as that of any step, so that a box has the same width at every step. @param {Path} path */
  longestSecondLine(path) {
    const second = this.secondLine(path);
    if (second === null) return null;
    const layers = this.layers[/** @type {number} */ (this.positionsByRow.get(path[path.length - 1]))];
    const longest = `${layers > 1 ? `${layers} of ${layers} ` : ""}${LONGEST_LAYER_WORD}${this.head.steps[this.head.steps.length - 1]}`;
    return layout.width(longest, 10) > layout.width(second, 10) ? longest : second;
  }
}

export class LoggedScheme {
  /** @param {Logs} logs */
  constructor(logs) {
    this.logs = logs;
    this.request = { logged: "", measure: "", run: "", against: "" }; // "": the default
    /** @type {Map<string, Promise<LoggedColouring>>} */
    this.colouringCache = new Map();
    /** @type {LoggedColouring | null} */
    this.lastColouring = null;
    this.pattern = el("input", { type: "search", role: "searchbox", class: "filter", "aria-label": t("log.taggedLike"), placeholder: t("log.taggedLike"), list: "logged-groups", spellcheck: "false", autocomplete: "off", onchange: () => this.askColouring({ logged: this.pattern.value.trim() }) });
    this.groups = el("datalist", { id: "logged-groups" });
    const list = (/** @type {string} */ word, /** @type {"measure" | "run" | "against"} */ key) => el("select", { "aria-label": t(word), title: t(word), onchange: (/** @type {any} */ event) => this.askColouring({ [key]: event.target.value }) });
    this.lists = { measure: list("log.measure", "measure"), run: list("run", "run"), against: list("against", "against") };
    this.statusElement = el("span", { class: "said", role: "status" });
    this.stepper = new Stepper({ steps: () => this.stops(), at: () => this.shownStop(), go: (at) => this.showStop(at) });
    this.choices = el("div", { class: "logged-choices" }, this.pattern, this.groups, ...Object.values(this.lists));
    this.root = el("div", { id: "logged-bar", role: "group", "aria-label": t("log.logged"), hidden: true }, this.choices, this.stepper.root, this.statusElement);
    byId("tracing").before(this.root);
    this.onDraw = () => this.draw();
  }

  get app() {
    return this.logs.hooks.app();
  }

  /** Whether the page has a server; a file has only the colours that it was made with. */
  get isServed() {
    return !!this.logs.feed.colours;
  }

  /** Refresh the choices after a change of tags or of the graph. */
  async refreshChoices() {
    const { app } = this;
    if (!app) return;
    app.stepper = this.stepper;
    app.view.drawListeners.add(this.onDraw);
    if (!this.isServed) return this.draw();
    await this.logs.joins.load();
    this.colouringCache.clear();
    const runs = this.loggedRuns();
    if (runs.length) app.state.extraColourings.set(LOGGED, () => this.currentPainter());
    else app.state.extraColourings.delete(LOGGED);
    app.frame.update();
    if (app.state.awaitedScheme === LOGGED && runs.length) await app.actions.setScheme(LOGGED);
    else if (app.state.scheme === LOGGED) await app.actions.queue(() => (runs.length ? app.view.recolour() : undefined));
    this.draw();
  }

  /** The runs that logged numbers of nodes. */
  loggedRuns() {
    const numbers = this.logs.joins.joinedTags.filter(({ tag }) => ["scalar", "histogram"].includes(tag.kind));
    const have = new Set(numbers.flatMap(({ tag }) => tag.runs.map(([run]) => run)));
    return this.logs.runs.runs.filter((run) => have.has(run.id));
  }

  /** The shown run: the requested run, that of the graph, or the first. @param {LogRun[]} runs */
  shownRun(runs) {
    const graph = this.logs.state.graphs.find((candidate) => candidate.id === this.logs.hooks.graphId());
    return runs.find((run) => run.name === this.request.run) ?? runs.find((run) => run.name === graph?.run) ?? runs[0];
  }

  /** Stops of the slider. */
  stops() {
    return this.isServed ? (this.lastColouring?.head.steps ?? []) : (this.app?.state.head.steps ?? []);
  }

  /** The shown stop: the last up to the common step of all cards. */
  shownStop() {
    const steps = this.stops();
    if (!this.isServed) return this.app && this.app.state.stepIndex >= 0 ? this.app.state.stepIndex : steps.length - 1;
    const { step } = this.logs;
    return step === null ? steps.length - 1 : Math.max(0, steps.findLastIndex((value) => Number(value) <= step));
  }

  /** @param {number} at */
  async showStop(at) {
    const app = /** @type {App} */ (this.app);
    const steps = this.stops();
    if (!this.isServed) return app.actions.setStep(at);
    this.logs.setStep(at === steps.length - 1 ? null : Number(steps[at]));
    await app.actions.queue(() => app.view.recolour());
    for (const near of [at + 1, at - 1]) if (near >= 0 && near < steps.length - 1) this.loadColouring(Number(steps[near])).catch(() => undefined);
  }

  /** Colour by something else. @param {Record<string, string>} change */
  askColouring(change) {
    Object.assign(this.request, change);
    const app = /** @type {App} */ (this.app);
    this.logs.writeAddress();
    return app.actions.queue(() => app.view.recolour());
  }

  /** The colouring of a step; null: of the last. @param {number | null} step */
  loadColouring(step) {
    const { logged, measure, against } = this.request;
    const runs = this.loggedRuns();
    const id = (/** @type {string} */ name) => runs.find((run) => run.name === name)?.id;
    const wanted = { pattern: logged, measure, run: this.shownRun(runs)?.id, against: id(against), at: step ?? undefined };
    const app = /** @type {App} */ (this.app);
    const key = JSON.stringify([this.logs.hooks.graphId(), wanted]);
    let colouring = this.colouringCache.get(key);
    if (!colouring) {
      colouring = /** @type {any} */ (this.logs.feed).colours(this.logs.hooks.graphId(), wanted).then((/** @type {any} */ { head, blocks }) => new LoggedColouring(app.state.graph, head, blocks));
      this.colouringCache.set(key, /** @type {Promise<LoggedColouring>} */ (colouring));
      colouring?.catch(() => this.colouringCache.delete(key));
      if (this.colouringCache.size > MAX_KEPT_COLOURINGS) this.colouringCache.delete(/** @type {string} */ (this.colouringCache.keys().next().value));
    }
    return /** @type {Promise<LoggedColouring>} */ (colouring);
  }

  /** The shown colouring; on an error, the last one and the reason. */
  async currentPainter() {
    const app = /** @type {App} */ (this.app);
    try {
      this.lastColouring = await this.loadColouring(this.logs.step);
      this.statusElement.textContent = "";
    } catch (error) {
      this.statusElement.textContent = shortText(/** @type {Error} */ (error).message, 200);
      if (this.lastColouring?.graph !== app.state.graph) return loadStoredColouring(app.state.graph, app.state.head.schemes[0]);
    }
    return /** @type {LoggedColouring} */ (this.lastColouring);
  }

  /** Show the chosen values. */
  draw() {
    const { app } = this;
    const steps = this.stops();
    this.root.hidden = app?.state.scheme !== LOGGED || (!this.isServed && steps.length < 2);
    this.stepper.draw();
    this.choices.hidden = !this.isServed;
    if (this.root.hidden || !this.isServed) return;
    const { logged, against } = this.request;
    const runs = this.loggedRuns();
    const names = runs.map((run) => /** @type {[string, string]} */ ([run.name, shortText(run.name, 60)]));
    const measures = (this.lastColouring?.head.measures ?? []).map((name) => /** @type {[string, string]} */ ([name, t(`log.measure.${name}`)]));
    if (document.activeElement !== this.pattern) this.pattern.value = logged;
    fillSelect(this.lists.measure, measures, this.lastColouring?.head.measure ?? "");
    fillSelect(this.lists.run, names, this.shownRun(runs)?.name ?? "");
    fillSelect(this.lists.against, [["", t("alone")], ...names.filter(([name]) => name !== this.shownRun(runs)?.name)], against);
    this.lists.run.hidden = this.lists.against.hidden = runs.length < 2;
    const groups = [...new Set(this.logs.joins.joinedTags.filter(({ tag }) => tag.kind !== "text").map(({ tag }) => tag.name.split("/")[0]))].slice(0, 50);
    this.groups.replaceChildren(...groups.map((group) => el("option", { value: `${group}/*` })));
  }

  /** Return the entries of the address. */
  addressValues() {
    const { logged, measure, run, against } = this.request;
    return { logged, measure, logrun: run, logagainst: against };
  }

  /** @param {Record<string, any>} state */
  restore({ logged = "", measure = "", logrun = "", logagainst = "" }) {
    this.request = { logged: String(logged), measure: String(measure), run: String(logrun), against: String(logagainst) };
  }
}

/** @param {any} list @param {[string, string][]} pairs @param {string} value */
function fillSelect(list, pairs, value) {
  list.replaceChildren(...pairs.map(([key, word]) => el("option", { value: key, selected: key === value }, word)));
}
