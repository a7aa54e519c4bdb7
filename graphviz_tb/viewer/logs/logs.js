// The pages of a log next to the graph: tabs, the list of runs, and new data while a run continues.

import { escapeValue, unescapeValue } from "../address.js";
import { byId, el, shortText } from "../dom.js";
import { isTyping } from "../page_keys.js";
import { t } from "../strings.js";
import { CustomPage } from "./custom.js";
import { DistributionPage, HistogramPage } from "./histograms.js";
import { HparamsPage } from "./hparams.js";
import { Joined } from "./joined.js";
import { AudioCard, AudioPage, ImageCard } from "./media.js";
import { Notices } from "./notices.js";
import { CurveCard, CurvePage } from "./pr.js";
import { PROFILE_KEYS, ProfilePage } from "./profile.js";
import { ProjectorPage } from "./projector.js";
import { groupingText, noGrouping, parseGrouping } from "./run_groups.js";
import { RunLooks } from "./run_looks.js";
import { RunList } from "./runs.js";
import { AXES, ScalarPage } from "./scalars.js";
import { LoggedScheme } from "./scheme.js";
import { StepPage } from "./steps.js";
import { TagPage } from "./tag_page.js";
import { TensorCard } from "./tensors.js";
import { TextCard } from "./text.js";
import { filtersText, parseFilters } from "./trial_filters.js";

const DEFAULT_SMOOTHING = 0.6;
const ADDRESS_DELAY_MS = 150; // delay after the last move of a slider or key

/** The pages beside the graph in the order of their tabs, and the kind of tags that each shows; `1` … `9` go to them. @type {[string, string, (logs: Logs) => LogSheet][]} */
export const PAGES = [
  ["scalar", "scalar", (logs) => new ScalarPage(logs)],
  ["custom", "layout", (logs) => new CustomPage(logs)],
  ["histogram", "histogram", (logs) => new HistogramPage(logs)],
  ["distribution", "histogram", (logs) => new DistributionPage(logs)],
  ["image", "image", (logs) => new StepPage(logs, "image", ImageCard)],
  ["audio", "audio", (logs) => new AudioPage(logs, "audio", AudioCard)],
  ["text", "text", (logs) => new StepPage(logs, "text", TextCard)],
  ["pr_curve", "pr_curve", (logs) => new CurvePage(logs, "pr_curve", CurveCard)],
  ["hparams", "hparams", (logs) => new HparamsPage(logs)],
  ["tensor", "tensor", (logs) => new StepPage(logs, "tensor", TensorCard)],
  ["projector", "projector", (logs) => new ProjectorPage(logs)],
  ["profile", "profile", (logs) => new ProfilePage(logs)],
];

/** The page of a name in singular or plural: "scalars" is "scalar". @param {string} name */
function normalizePageName(name) {
  const singular = name.toLowerCase().replace(/[- ]/g, "_").replace(/s$/, "");
  return PAGES.map(([page]) => page).find((page) => page === singular || page === `${singular}s`) ?? (singular === "graph" ? singular : name);
}

/**
 * @typedef {{axis: string, smooth: number, logX: boolean, logY: boolean, outliers: boolean, restarts: boolean}} LogLook
 * @typedef {{root: HTMLElement, isDirty: boolean, shown: boolean, scroll: number, tags: LogTag[], load: () => Promise<void>, onFilter: () => void, onRestore: () => void, runsChanged: () => void, onTheme: () => void, onPoints: (series: Set<number>) => void, onKey: (event: KeyboardEvent) => void}} LogSheet
 */

export class Logs {
  /**
   * @param {LogFeed} feed
   * @param {{theme: () => string, remember: (values: Record<string, string>) => void, toast: (text: string) => void, graph: () => boolean, app: () => App | null, graphId: () => string, chooseGraph: (id: string) => Promise<void>}} hooks
   */
  constructor(feed, hooks) {
    this.feed = feed;
    this.hooks = hooks;
    /** @type {LogState} */
    this.state = { title: "", generation: "", runs: [], graphs: [], ready: false, kinds: {}, hues: { light: ["#0969DA"], dark: ["#58A6FF"] } };
    this.page = "";
    this.isRestoring = true; // until the address is read, nothing is written to it
    this.tabs = el("div", { id: "tabs", role: "tablist", "aria-label": t("log.pages") });
    this.lamp = el("span", { id: "lamp", role: "status" });
    byId("heading").after(this.tabs, this.lamp);
    this.notices = new Notices(this.lamp);
    this.root = el("main", { id: "logs", hidden: true });
    this.side = el("aside", { id: "runs", "aria-label": t("log.runs") });
    this.body = el("div", { id: "log-page", role: "tabpanel", tabindex: "-1" });
    this.root.append(this.side, this.body);
    byId("stage").after(this.root);
    this.looks = new RunLooks();
    this.runs = new RunList(this, this.side);
    /** @type {Map<string, LogSheet>} pages that were shown once */
    this.sheets = new Map();
    // The settings that all pages share, stored in the address.
    /** @type {LogLook} */
    this.look = { axis: "step", smooth: DEFAULT_SMOOTHING, logX: false, logY: false, outliers: true, restarts: true };
    this.pattern = "";
    this.tagTest = /(?:)/;
    this.isPatternBad = false; // whether the pattern is invalid
    /** @type {Set<string>} keys of cards */
    this.pins = new Set();
    /** @type {number | null} the step that linked cards show; null: the last */
    this.step = null;
    this.areStepsLinked = true;
    /** names of columns, and which values of them are shown */
    this.trials = { sort: "", by: "", filters: /** @type {Map<string, TrialFilter>} */ (new Map()) };
    /** entries of the address for the page of profiles @type {Record<string, string>} */
    this.profile = {};
    this.joins = new Joined(this, hooks.app);
    this.scheme = new LoggedScheme(this);
    /** @type {Record<string, any>} entries of the address for the page of embeddings */
    this.cloudState = {};
    /** @type {Grouping} */
    this.grouping = noGrouping();
    /** @type {string[]} patterns of tags that one chart shows together */
    this.combinedPatterns = [];
    /** @type {number | null} the step whose values are listed */
    this.typedStep = null;
    this.overlay = false; // whether histograms are overlaid, or each drawn at its step
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** Read the log, and follow it. @param {Record<string, any>} state of the address */
  async start(state) {
    await this.refresh();
    await this.restore(state);
    this.feed.listen((name, data) => this.onEvent(name, data), (live) => this.onServer(live));
  }

  /** Request the runs, and the tags of the shown page, again. */
  async refresh() {
    this.state = await this.feed.state();
    this.looks.addRuns(this.state.runs, this.state.hues.light.length);
    this.runs.setRuns(this.state.runs);
    if (this.state.kinds.hparams > 0) this.feed.trials().then(({ columns, rows }) => this.runs.setTrials(columns, rows), () => undefined);
    for (const sheet of this.sheets.values()) sheet.isDirty = true;
    this.joins.isDirty = true;
    await this.sheet?.load();
    this.loadJoins();
    this.scheme.refreshChoices().catch(() => undefined); // fails while the graph is not loaded
    this.drawTabs();
    this.writeAddress();
  }

  /** The pages that have something to show. */
  pages() {
    const logged = PAGES.filter(([, kind]) => this.state.kinds[kind] > 0).map(([page]) => page);
    return this.hooks.graph() ? ["graph", ...logged] : logged;
  }

  /** The shown page, unless it is the graph. */
  get sheet() {
    return this.sheets.get(this.page);
  }

  /** A page, created when it is first shown. @param {string} name @returns {LogSheet | undefined} */
  sheetNamed(name) {
    const make = PAGES.find(([page]) => page === name)?.[2];
    if (!make || this.sheets.has(name)) return this.sheets.get(name);
    const sheet = make(this);
    this.sheets.set(name, sheet);
    this.body.append(sheet.root);
    sheet.onRestore();
    return sheet;
  }

  /** The page of profiles. @returns {ProfilePage} */
  profilePage() {
    return /** @type {any} */ (this.sheetNamed("profile"));
  }

  drawTabs() {
    const pages = this.pages();
    const tab = (/** @type {string} */ page) => el("button", { role: "tab", id: `tab-${page}`, "aria-selected": String(page === this.page), tabindex: page === this.page ? "0" : "-1", onclick: () => this.show(page) }, t(`log.page.${page}`));
    this.tabs.replaceChildren(...pages.map(tab));
    this.tabs.hidden = pages.length < 2;
    this.notices.setState(this.state, !pages.length && this.state.ready !== false);
    if (!this.isRestoring && !pages.includes(this.page) && pages.length) this.show(pages[0]);
  }

  /** @param {string} name of a page, in singular or plural */
  async show(name) {
    const page = normalizePageName(name);
    const before = this.sheet;
    if (before) before.scroll = this.body.scrollTop;
    this.page = page;
    document.documentElement.dataset.page = page;
    const graph = page === "graph";
    this.root.hidden = graph;
    byId("stage").inert = !graph;
    for (const tab of this.tabs.children) {
      const isSelected = tab.id === `tab-${page}`;
      tab.setAttribute("aria-selected", String(isSelected));
      /** @type {HTMLElement} */ (tab).tabIndex = isSelected ? 0 : -1;
      if (isSelected) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    this.body.setAttribute("aria-labelledby", `tab-${page}`);
    const sheet = this.sheetNamed(page);
    for (const other of this.sheets.values()) other.root.hidden = other !== sheet;
    this.writeAddress();
    if (!sheet) return graph ? this.joins.refresh() : undefined;
    this.loadJoins();
    this.body.scrollTop = sheet.scroll;
    sheet.onFilter();
    try {
      await sheet.load();
    } catch (error) {
      this.toast(t("log.lost", { error: shortText(/** @type {Error} */ (error).message) }));
    }
    sheet.runsChanged();
  }

  /** Load the joins, for the links from cards to nodes. */
  loadJoins() {
    if (this.sheet) this.joins.load().then(() => this.sheet?.onFilter(), () => undefined);
  }

  /** @param {LogRun} run */
  runColour(run) {
    const hues = this.state.hues[this.hooks.theme()] ?? this.state.hues.light;
    const { hue } = this.looks.lookOf(run);
    return typeof hue === "string" ? hue : hues[hue % hues.length];
  }

  runsChanged() {
    this.sheet?.runsChanged();
    this.writeAddress();
  }

  /** Show a step on all linked cards; null: the last of each. @param {number | null} step */
  setStep(step) {
    this.step = step;
    for (const sheet of [this.sheet, ...this.joins.pages.values()]) if (sheet instanceof StepPage) sheet.followStep();
    document.dispatchEvent(new CustomEvent("tbgraph:step", { detail: { step } }));
    this.writeAddress();
  }

  /** Show only the tags that match. @param {string} text */
  setPattern(text) {
    this.pattern = text;
    try {
      this.tagTest = new RegExp(text, "i");
      this.isPatternBad = false;
    } catch {
      this.isPatternBad = true; // keep the last valid pattern
    }
    this.sheet?.onFilter();
    this.writeAddressSoon(); // writing the address takes longer than filtering
  }

  /** Draw all charts in the colours of the new theme. */
  onTheme() {
    this.runs.draw();
    this.sheet?.onTheme();
    for (const page of this.joins.pages.values()) page.onTheme();
  }

  /** @param {string} name @param {any} data */
  onEvent(name, data) {
    if (name === "progress") return;
    if (name === "again") for (const sheet of this.sheets.values()) if (sheet instanceof TagPage) sheet.markStale();
    if (name !== "points") return this.refreshSoon();
    const series = new Set(Object.keys(data.series).map(Number));
    for (const sheet of this.sheets.values()) {
      for (const tag of sheet.tags) for (const entry of tag.runs) if (entry[1] in data.series) entry[2] = data.series[entry[1]];
      sheet.onPoints(series);
    }
    for (const page of this.joins.pages.values()) page.onPoints(series);
    this.refreshSoon();
  }

  refreshSoon() {
    if (this.refreshTimer) return;
    this.refreshTimer = setTimeout(() => {
      this.refreshTimer = undefined;
      this.refresh().then(() => this.sheet?.runsChanged(), () => undefined);
    }, 500);
  }

  /** @param {boolean} live */
  onServer(live) {
    this.lamp.textContent = live ? t("log.live") : t("log.notLive");
    this.lamp.classList.toggle("bad", !live);
  }

  /** The points that a card of scalars draws, for scripts. @param {string} tag */
  async drawnPoints(tag) {
    const sheet = /** @type {ScalarPage} */ (this.sheetNamed("scalar"));
    await sheet.load();
    return sheet.drawnPoints(tag);
  }

  /** @param {string} text */
  toast(text) {
    this.hooks.toast(text);
  }

  /** The page of embeddings, once it was shown. */
  get projector() {
    return /** @type {ProjectorPage | undefined} */ (this.sheets.get("projector"));
  }

  /** Return the entries of the address. */
  addressValues() {
    const runs = this.runs.isChosenByReader ? [...this.runs.chosen].map(escapeValue).join(",") || "-" : "";
    const { axis, smooth, logX, logY } = this.look;
    return {
      page: this.page === this.pages()[0] ? "" : this.page, runs, tags: this.pattern, smooth: smooth === DEFAULT_SMOOTHING ? "" : String(smooth), axis: axis === "step" ? "" : axis,
      log: [logX && "x", logY && "y"].filter(Boolean).join(""), pin: [...this.pins].map(escapeValue).join(","),
      mode: this.overlay ? "overlay" : "", logstep: this.step === null ? "" : String(this.step),
      looks: this.looks.addressValue(), where: this.runs.values.text, group: groupingText(this.grouping), groupby: this.grouping.by === "pattern" ? this.grouping.pattern : "", together: this.combinedPatterns.map(escapeValue).join(","), values: this.typedStep === null ? "" : String(this.typedStep), sort: this.trials.sort, by: this.trials.by, trials: filtersText(this.trials.filters), ...this.scheme.addressValues(), ...(this.projector?.addressValues() ?? {}),
      ...Object.fromEntries(PROFILE_KEYS.map((key) => [`p${key}`, this.profile[key] ?? ""])),
    };
  }

  writeAddress() {
    if (!this.isRestoring && this.page) this.hooks.remember(/** @type {any} */ (this.addressValues()));
  }

  /** Write the address a little later, for changes that come many times a second. */
  writeAddressSoon() {
    clearTimeout(this.writeTimer);
    this.writeTimer = setTimeout(() => this.writeAddress(), ADDRESS_DELAY_MS);
  }

  /** @param {Record<string, any>} state */
  async restore({ page = "", runs, tags = "", smooth = "", axis = "step", log = "", pin = "", mode = "", logstep = "", sort = "", by = "", trials = "", looks = "", where = "", group = "", groupby = "", together = "", values = "", ...rest }) {
    this.isRestoring = true;
    this.scheme.restore(rest);
    this.looks.restore(String(looks));
    this.grouping = parseGrouping(String(group), String(groupby));
    this.combinedPatterns = String(together).split(",").filter(Boolean).map(unescapeValue);
    this.typedStep = values === "" || !Number.isFinite(Number(values)) ? null : Number(values);
    if (where) this.runs.values.restore(String(where));
    this.cloudState = rest;
    this.projector?.restore(rest);
    this.profile = Object.fromEntries(PROFILE_KEYS.map((key) => [key, String(rest[`p${key}`] ?? "")]));
    const pages = this.pages();
    if (runs !== undefined) {
      this.runs.isChosenByReader = true;
      this.runs.chosen = new Set(runs === "-" ? [] : String(runs).split(",").map(unescapeValue));
    }
    this.runs.draw();
    this.pins = new Set(String(pin).split(",").filter(Boolean).map(unescapeValue));
    const weight = smooth === "" ? DEFAULT_SMOOTHING : Number(smooth);
    Object.assign(this.look, { axis: AXES.includes(axis) ? axis : "step", smooth: weight >= 0 && weight < 1 ? weight : DEFAULT_SMOOTHING, logX: log.includes("x"), logY: log.includes("y") });
    this.overlay = mode === "overlay";
    this.trials = { sort: String(sort), by: String(by), filters: parseFilters(String(trials)) };
    this.step = logstep === "" || !Number.isFinite(Number(logstep)) ? null : Number(logstep);
    this.setPattern(String(tags));
    for (const sheet of this.sheets.values()) sheet.onRestore();
    if (pages.length) await this.show(pages.includes(normalizePageName(page)) ? page : pages[0]);
    this.isRestoring = false;
    this.writeAddress();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const inTabs = this.tabs.contains(/** @type {Node} */ (event.target));
    const pages = this.pages();
    const at = pages.indexOf(this.page);
    const to = inTabs && event.key === "ArrowRight" ? at + 1 : inTabs && event.key === "ArrowLeft" ? at - 1 : /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
    if (to < 0 || to >= pages.length) return this.sheet?.onKey(event);
    event.preventDefault();
    event.stopPropagation();
    this.show(pages[to]);
    if (inTabs) byId(`tab-${pages[to]}`).focus();
  }
}
