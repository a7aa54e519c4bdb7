// The page of profiles: how a traced step spent its time, where in the graph, and when.

import { nameWithBreaks } from "../card.js";
import { el, shortText, svgEl } from "../dom.js";
import { isTyping } from "../page_keys.js";
import { percentText } from "../rows_table.js";
import { numberText } from "../shapes.js";
import { countWord, t } from "../strings.js";
import { OpTable, TABLES } from "./op_table.js";
import { memoryWord, nanosWord } from "./profile_words.js";
import { SheetWithoutCards } from "./sheet_without_cards.js";
import { firstAfter } from "./slices.js";
import { Timeline, ZOOM_PER_NOTCH } from "./timeline.js";

const MAX_STEPS_READ = 20; // steps whose times are shown side by side
const MAX_LISTED_SLICES = 200; // in a table
export const PROFILE_KEYS = ["step", "against", "by", "sort", "text", "view"]; // of the address, each with a "p" before it
const STEP_PARTS = ["compute", "input", "launch", "idle"];

/** @typedef {{id: string, run: string | null, tag: string | null, step: number | null, graph: string | null}} TracedStep */

export class ProfilePage extends SheetWithoutCards {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs);
    this.feed = /** @type {LogFeed & ProfileFeed} */ (logs.feed);
    /** @type {TracedStep[]} */
    this.steps = [];
    /** @type {string | null} the step that is shown if the address names none */
    this.defaultStep = null;
    /** @type {Map<string, any>} tables that were read, by id */
    this.profiles = new Map();
    this.id = "";
    this.otherStep = "";
    this.turn = 0;
    this.stepTimesElement = el("div");
    /** @type {string | undefined} a node whose slices are marked once they are loaded */
    this.awaitedNode = undefined;
    this.stepReady = /** @type {Promise<void>} */ (Promise.resolve());
    this.chooser = el("select", { "aria-label": t("profile.step"), onchange: () => this.showStep(this.chooser.value) });
    this.against = el("select", { "aria-label": t("profile.against"), onchange: () => this.compareWith(this.against.value) });
    this.summary = el("div", { class: "step-summary" });
    this.table = new OpTable({ inGraph: (name) => this.showInGraph(name), inTimeline: (row) => (row.inGraph ? this.markNode(row.name) : this.markSlices(row.name, null)), onChange: () => this.writeAddress() });
    this.timeline = new Timeline({ slices: (wanted, signal) => this.feed.slices(this.id, wanted, signal), onChosen: (slice) => this.showSlice(slice), onLook: () => this.onLook(), hues: () => logs.state.hues[logs.hooks.theme()] ?? logs.state.hues.light });
    this.search = el("input", { class: "filter", type: "search", placeholder: t("profile.search"), "aria-label": t("profile.search"), oninput: () => this.markSlices(this.search.value, null) });
    this.search.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.timeline.goToMark(event.shiftKey ? -1 : 1));
    this.marks = el("span", { class: "quiet", role: "status" });
    this.detail = el("div", { class: "slice-detail", role: "region", "aria-label": t("details"), "aria-live": "polite" });
    this.slices = el("details", { class: "slice-table", ontoggle: () => this.listSlices() }, el("summary", {}, t("profile.asTable")), el("div", { class: "trials" }));
    const button = (/** @type {string} */ key, /** @type {string} */ word, /** @type {() => void} */ run) => el("button", { class: "icon", title: t(key), "aria-label": t(key), onclick: run }, word);
    const { timeline } = this;
    const bar = el("div", { class: "log-bar plain" }, this.search, button("profile.previous", "‹", () => timeline.goToMark(-1)), button("profile.next", "›", () => timeline.goToMark(1)), this.marks, el("span", { class: "grow" }), button("zoomIn", "+", () => timeline.zoom(1 / ZOOM_PER_NOTCH)), button("zoomOut", "−", () => timeline.zoom(ZOOM_PER_NOTCH)), el("button", { onclick: () => timeline.fit() }, t("profile.fit")));
    this.note = el("p", { class: "quiet" });
    this.memory = el("div", { class: "step-memory" });
    this.root = el(
      "div",
      { class: "log-sheet profile", hidden: true },
      el("div", { class: "log-bar" }, el("label", { class: "check" }, t("profile.step"), this.chooser), el("label", { class: "check" }, t("profile.against"), this.against)),
      this.summary,
      this.table.root,
      el("section", {}, el("h2", {}, t("profile.timeline")), bar, timeline.root, el("p", { class: "quiet keys-hint" }, t("profile.keys")), this.note, this.detail, this.slices),
      this.memory,
    );
  }

  async load() {
    if (this.isDirty) {
      this.isDirty = false;
      try {
        this.steps = await this.feed.profiles();
      } catch (error) {
        this.isDirty = true;
        throw error;
      }
      this.fillStepLists();
    }
    await this.stepReady;
  }

  /** Fill the lists of steps, and show one. */
  fillStepLists() {
    const word = (/** @type {TracedStep} */ step) => shortText([step.run === "." ? "" : step.run, step.tag].filter(Boolean).join(" · ") || this.logs.state.title, 80);
    const options = this.steps.map((step) => /** @type {[string, string]} */ ([step.id, word(step)]));
    const wanted = this.logs.profile;
    const named = (/** @type {string} */ key) => this.steps.find((step) => stepKey(step) === key)?.id;
    fillOptions(this.chooser, options);
    fillOptions(this.against, [["", t("profile.alone")], ...options]);
    this.against.parentElement.hidden = this.steps.length < 2;
    this.table.by = TABLES.includes(wanted.by) ? wanted.by : this.table.by;
    this.table.sort = wanted.sort || this.table.sort;
    this.table.text = wanted.text || this.table.text;
    this.otherStep = named(wanted.against) ?? "";
    const view = /^(-?\d+),(-?\d+)$/.exec(wanted.view);
    const id = this.steps.some((step) => step.id === this.id) ? this.id : named(wanted.step);
    if (id === undefined) this.stepReady = this.chooseFirst();
    else this.showStep(id, view && Number(view[1]) < Number(view[2]) ? { from: Number(view[1]), to: Number(view[2]) } : null);
  }

  /** Show the first step with any time; the last step if none of the first has. */
  async chooseFirst() {
    const turn = ++this.turn;
    let step = this.steps[this.steps.length - 1];
    for (const candidate of this.steps.slice(0, MAX_STEPS_READ)) {
      const profile = await this.loadProfile(candidate.id).catch(() => null);
      if (turn !== this.turn) return;
      if (!profile?.slices) continue;
      step = candidate;
      break;
    }
    this.defaultStep = step?.id ?? null;
    if (step) await this.showStep(step.id);
  }

  /** Show a step. @param {string} id @param {{from: number, to: number} | null} [view] */
  showStep(id, view = null) {
    this.id = id;
    this.chooser.value = id;
    this.stepReady = this.readStep(id, view);
    return this.stepReady;
  }

  /** @param {string} id @param {{from: number, to: number} | null} view */
  async readStep(id, view) {
    const turn = ++this.turn;
    if (!this.profiles.has(id)) this.summary.replaceChildren(el("p", { class: "quiet", role: "status" }, t("profile.reading")));
    const profile = await this.loadProfile(id);
    const other = this.otherStep && this.otherStep !== id ? await this.loadProfile(this.otherStep) : null;
    if (turn !== this.turn) return;
    this.against.value = other ? this.otherStep : "";
    this.summarize(profile, other);
    this.table.setProfiles(profile, other);
    this.timeline.setProfile(profile, view);
    const left = this.feed.profilesLeft?.() ?? 0;
    const lines = [profile.thinned ? t("profile.thinned", { n: profile.thinned, all: profile.slices }) : t("profile.slices", { n: profile.slices }), left > 0 && t("profile.leftSteps", { n: left })];
    this.note.textContent = lines.filter(Boolean).join(" · ");
    this.memory.replaceChildren(...memoryCharts(profile));
    this.showSlice(null);
    if (this.awaitedNode !== undefined) {
      const wants = this.awaitedNode;
      this.awaitedNode = undefined;
      this.markNode(wants);
    }
    this.writeAddress();
    this.readOtherSteps(turn);
  }

  /** The table of a step. @param {string} id */
  async loadProfile(id) {
    if (!this.profiles.has(id)) this.profiles.set(id, await this.feed.profileTable(id));
    return this.profiles.get(id);
  }

  /** Load the other steps, one after the other, for their times. @param {number} turn */
  async readOtherSteps(turn) {
    for (const step of this.steps.slice(0, MAX_STEPS_READ)) {
      if (turn !== this.turn || this.root.hidden) return;
      await this.loadProfile(step.id).catch(() => null);
      if (turn === this.turn) this.stepTimesElement.replaceChildren(...this.stepTimeBars());
    }
  }

  /** @param {string} id of another step; none: "" */
  compareWith(id) {
    this.otherStep = id;
    return this.showStep(this.id, { ...this.timeline.view });
  }

  /** Show the shares of a step as a table and a bar. @param {any} profile @param {any} other */
  summarize(profile, other) {
    const parts = STEP_PARTS.filter((part) => profile.shares[part] > 0);
    const bar = el("div", { class: "shares", role: "img", "aria-label": parts.map((part) => `${t(`profile.${part}`)} ${percentText(profile.shares[part], profile.length)}`).join(", ") });
    for (const part of parts) {
      const piece = el("span", { class: `part ${part}` });
      piece.style.flexGrow = String(profile.shares[part] / profile.length);
      bar.append(piece);
    }
    const rows = parts.map((part) =>
      el("tr", {}, el("th", { scope: "row" }, el("span", { class: `dot ${part}`, "aria-hidden": "true" }), t(`profile.${part}`)), el("td", { class: "number" }, percentText(profile.shares[part], profile.length)), el("td", { class: "number" }, nanosWord(profile.shares[part])), other && el("td", { class: "number beside" }, `${shortText(this.stepName(this.otherStep), 40)}: ${percentText(other.shares[part], other.length)}, ${nanosWord(other.shares[part])}`), el("td", { class: "quiet" }, t(`profile.${part}.about`))),
    );
    const table = el("table", { class: "part-table" }, el("caption", { class: "away" }, t("profile.shares")), el("tbody", {}, ...rows));
    const partial = profile.missing.length && el("details", { class: "partial" }, el("summary", {}, t("profile.partial")), el("ul", {}, ...profile.missing.map((/** @type {string} */ line) => el("li", {}, shortText(line, 400)))));
    this.stepTimesElement = el("div", { class: "step-times", role: "group", "aria-label": t("profile.steps") }, ...this.stepTimeBars());
    this.summary.replaceChildren(el("p", { class: "took" }, t("profile.took", { step: shortText(this.stepName(), 80), time: nanosWord(profile.length) })), bar, table, this.steps.length > 1 ? this.stepTimesElement : "", ...[partial].filter(Boolean));
  }

  /** The name of a step, by default of the shown one. @param {string} [id] */
  stepName(id = this.id) {
    return this.steps.find((step) => step.id === id)?.tag || this.logs.state.title;
  }

  /** A bar for each step that was read, as long as the step took. */
  stepTimeBars() {
    const read = this.steps.slice(0, MAX_STEPS_READ).filter((step) => this.profiles.has(step.id));
    const most = Math.max(1, ...read.map((step) => this.profiles.get(step.id).length));
    return read.map((step) => {
      const profile = this.profiles.get(step.id);
      const bar = el("span", { class: "shares", "aria-hidden": "true" });
      bar.style.width = `${Math.max(2, (100 * profile.length) / most)}%`;
      for (const part of STEP_PARTS) {
        const piece = el("span", { class: `part ${part}` });
        piece.style.flexGrow = String(profile.shares[part] / Math.max(1, profile.length));
        if (profile.shares[part]) bar.append(piece);
      }
      return el("button", { class: "step-time", "aria-pressed": String(step.id === this.id), onclick: () => this.showStep(step.id) }, el("span", { class: "step-name" }, shortText(step.tag || "", 40)), el("span", { class: "step-bar" }, bar), el("span", { class: "number" }, nanosWord(profile.length)));
    });
  }

  /** @param {string} match @param {string | null} node */
  markSlices(match, node) {
    if (match || node === null) this.search.value = match;
    if (node !== null) this.search.value = "";
    return this.timeline.markSlices(match, node);
  }

  /** Mark the slices of a node, and bring the first of them into view. @param {string} name */
  async markNode(name) {
    await this.markSlices("", name);
    this.timeline.root.scrollIntoView({ block: "center" });
    this.timeline.root.focus({ preventScroll: true });
    this.timeline.selected = null;
    this.timeline.goToMark(1);
  }

  /** Show a node of the graph in the timeline. @param {string} name */
  async showNode(name) {
    this.awaitedNode = name;
    await this.logs.show("profile");
    await this.stepReady;
    if (this.awaitedNode === undefined) return;
    this.awaitedNode = undefined;
    await this.markNode(name);
  }

  onLook() {
    const { slices, node } = this.timeline;
    const marks = slices?.hits;
    const marksText = marks === undefined ? "" : marks ? t("profile.marks", { n: marks, time: nanosWord(slices?.busyHits ?? 0) }) : t("profile.noMarks");
    const clear = node !== null && el("button", { class: "link", onclick: () => this.markSlices("", null) }, t("profile.clear"));
    this.marks.replaceChildren(...[node === null ? "" : `${shortText(node, 60) || t("profile.whole")}: `, marksText, " ", clear].filter(Boolean));
    this.listSlices();
    this.writeAddress();
  }

  /** Show the details of a slice. @param {ChosenSlice | null} slice */
  showSlice(slice) {
    if (!slice) return this.detail.replaceChildren();
    const profile = this.profiles.get(this.id);
    const pair = (/** @type {string} */ key, /** @type {any} */ value) => [el("dt", {}, t(`profile.${key}`)), el("dd", {}, value)];
    const node = slice.node === null ? el("span", { class: "quiet" }, t("profile.noNode")) : el("button", { class: "link", "aria-label": `${t("log.inGraph")}: ${shortText(slice.node, 160)}`, onclick: () => this.showInGraph(/** @type {string} */ (slice.node)) }, ...nameWithBreaks(shortText(slice.node, 200)));
    const list = el("dl", {}, ...pair("duration", `${nanosWord(slice.duration)} (${percentText(slice.duration, profile.length)})`), ...pair("start", nanosWord(slice.start)), ...pair("lane", shortText(slice.lane, 120)), ...(slice.waited ? pair("waited", nanosWord(slice.waited)) : []), ...pair("node", node));
    const merged = slice.count > 1 && el("p", { class: "quiet" }, t("profile.merged", { n: slice.count, time: nanosWord(slice.busy) }));
    const acts = el("div", { class: "actions" }, slice.node !== null && el("button", { onclick: () => this.showInGraph(/** @type {string} */ (slice.node)) }, t("log.inGraph")), slice.node !== null && el("button", { onclick: () => this.markSlices("", slice.node) }, t("profile.inTimeline")), el("button", { onclick: () => this.timeline.zoomTo(slice.start, slice.duration) }, t("profile.zoomTo")));
    this.detail.replaceChildren(...[el("h3", {}, ...nameWithBreaks(shortText(slice.name, 300))), merged, list, acts].filter(Boolean));
  }

  /** The slices in view as a table, for screen readers. */
  listSlices() {
    const { timeline } = this;
    if (!this.slices.open || !timeline.slices) return;
    const slices = [];
    for (const { row } of timeline.visibleRows()) {
      for (let at = firstAfter(timeline.slices, timeline.rowStarts[row], timeline.rowStarts[row + 1], timeline.view.from); at < timeline.rowStarts[row + 1] && timeline.slices.start[at] <= timeline.view.to && slices.length < MAX_LISTED_SLICES; at++) {
        const slice = timeline.sliceAt(row, timeline.slices.start[at] + timeline.slices.duration[at] / 2);
        if (slice) slices.push(slice);
      }
    }
    const rows = slices.map((slice) => el("tr", {}, el("th", { scope: "row" }, el("button", { class: "link", onclick: () => timeline.choose(slice) }, shortText(slice.name, 120))), el("td", {}, shortText(slice.lane, 80)), ...[slice.start, slice.duration].map((time) => el("td", { class: "number" }, nanosWord(time))), el("td", { class: "number" }, countWord(slice.count))));
    const heads = ["name", "lane", "start", "duration", "count"].map((key) => el("th", { scope: "col" }, t(`profile.${key}`)));
    this.slices.lastElementChild.replaceChildren(el("table", {}, el("caption", { class: "away" }, t("profile.asTable")), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows)));
  }

  /** Show a node in the graph, coloured by time. @param {string} name */
  async showInGraph(name) {
    const { logs } = this;
    const graph = this.steps.find((traced) => traced.id === this.id)?.graph ?? null;
    if (graph !== null && logs.hooks.graphId() && logs.hooks.graphId() !== graph) await logs.hooks.chooseGraph(graph);
    const app = logs.hooks.app();
    if (!app) return logs.toast(t("profile.noGraph"));
    const path = name ? app.state.graph.pathOfAddress(name) : [0];
    if (!path) return logs.toast(t("profile.notInGraph", { name: shortText(name, 80) }));
    await logs.show("graph");
    const step = app.state.head.steps.indexOf(this.steps.find((traced) => traced.id === this.id)?.tag);
    if (step >= 0 && app.state.head.steps.length > 1 && app.state.stepIndex !== step) await app.actions.setStep(step); // the colours of the step in the table
    if (app.state.schemes.includes("compute-time") && app.state.scheme !== "compute-time") await app.actions.setScheme("compute-time");
    if (name) await app.actions.reveal(path);
  }

  /** Return the entries of the address. */
  addressValues() {
    const { view, end } = this.timeline;
    const whole = Math.round(view.from) === 0 && Math.round(view.to) === Math.round(end);
    const key = (/** @type {string} */ id) => stepKey(this.steps.find((step) => step.id === id));
    return { step: this.id === this.defaultStep ? "" : key(this.id), against: this.otherStep ? key(this.otherStep) : "", by: this.table.by === "ops" ? "" : this.table.by, sort: this.table.sort === "-self" ? "" : this.table.sort, text: this.table.text, view: whole ? "" : `${Math.round(view.from)},${Math.round(view.to)}` };
  }

  writeAddress() {
    if (!this.steps.length || this.root.hidden) return;
    this.logs.profile = this.addressValues();
    this.logs.writeAddress();
  }

  onTheme() {
    this.timeline.draw();
    const profile = this.profiles.get(this.id);
    if (profile) this.memory.replaceChildren(...memoryCharts(profile));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || event.key !== "/") return;
    event.preventDefault();
    this.search.focus();
  }
}

/** The name of a step in an address. @param {TracedStep | undefined} step */
const stepKey = (step) => (step ? `${step.run ?? ""}#${step.tag ?? ""}` : "");

/** @param {any} list @param {[string, string][]} options */
function fillOptions(list, options) {
  list.replaceChildren(...options.map(([value, word]) => el("option", { value }, word)));
}

/** A curve for each allocator, as wide as the step. @param {any} profile */
function memoryCharts(profile) {
  if (!profile.memory.length) return [];
  const [width, height] = [1000, 110];
  const most = Math.max(1, ...profile.memory.map((/** @type {any} */ allocator) => allocator.peak));
  const charts = profile.memory.map((/** @type {any} */ allocator) => {
    const x = (/** @type {number} */ time) => numberText((width * Math.min(time, profile.length)) / Math.max(1, profile.length));
    const y = (/** @type {number} */ bytes) => numberText(height - (height * Math.max(0, bytes)) / most);
    const line = allocator.time.map((/** @type {number} */ time, /** @type {number} */ at) => `H${x(time)}V${y(allocator.bytes[at])}`).join("");
    const words = t("profile.peak", { allocator: shortText(allocator.allocator, 80), bytes: memoryWord(allocator.peak) });
    const chart = svgEl("svg", { role: "img", "aria-label": words, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" });
    svgEl("path", { d: `M0 ${height}${line}H${width}V${height}Z` }, chart);
    return el("figure", {}, el("figcaption", {}, words), chart);
  });
  return [el("h2", {}, t("profile.memory")), ...charts];
}
