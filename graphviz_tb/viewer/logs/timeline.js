// The timeline of a step: a lane per thread or stream on a canvas; only slices in view are requested.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { nanosWord } from "./profile_words.js";
import { SLICE_KINDS, firstAfter, rowStarts } from "./slices.js";
import { paintTimeline } from "./timeline_paint.js";

export const LANE_PX = { row: 18, head: 20, gap: 6, axis: 24, left: 168, narrow: 84 };
const MAX_CANVAS_PX = 460; // px of the canvas; more lanes scroll
const MAX_RECTANGLES = 5000; // rectangles that are requested for all rows in view
export const ZOOM_PER_NOTCH = 1.25; // zoom factor of one notch of the wheel, or one key
const MIN_SPAN_NS = 20; // nanoseconds across the whole canvas
const REQUEST_DELAY_MS = 80; // milliseconds that a view rests before its slices are requested

export class Timeline {
  /**
   * @param {{slices: (wanted: SliceRequest, signal: AbortSignal) => Promise<SliceColumns>, onChosen: (slice: ChosenSlice | null) => void, onLook: () => void, hues: () => string[]}} hooks
   */
  constructor(hooks) {
    this.hooks = hooks;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.tip = el("div", { class: "chart-tip", role: "tooltip", hidden: true });
    this.root = el("div", { class: "timeline", tabindex: "0", role: "group", "aria-label": t("profile.timeline") }, this.canvas, this.tip);
    /** @type {[string, string, boolean, number][]} device, thread, whether it is an accelerator, levels */
    this.lanes = [];
    this.end = 1;
    this.view = { from: 0, to: 1 };
    this.scrolledPx = 0; // scroll position in px
    /** @type {SliceColumns | null} */
    this.slices = null;
    this.shownRequest = { from: 0, to: 0, px: 0 }; // the view of the loaded slices
    this.rowStarts = new Int32Array(1);
    this.match = "";
    /** @type {string | null} */
    this.node = null;
    /** @type {ChosenSlice | null} */
    this.selected = null;
    this.rectangles = 0; // number of rectangles drawn last
    this.turn = 0;
    this.requestTimer = /** @type {any} */ (undefined);
    this.requestAbort = new AbortController();
    this.width = 0;
    new ResizeObserver(() => this.resize()).observe(this.root);
    this.connectGestures();
  }

  connectGestures() {
    const { root } = this;
    root.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this.onKey(event));
    root.addEventListener("pointermove", (event) => this.onMove(event));
    root.addEventListener("pointerleave", () => (this.tip.hidden = true));
    root.addEventListener("dblclick", () => this.selected && this.zoomTo(this.selected.start, this.selected.duration));
    root.addEventListener("pointerdown", (event) => this.onPress(event));
  }

  /** Show another step. @param {any} profile its table @param {{from: number, to: number} | null} view */
  setProfile(profile, view) {
    this.lanes = profile.lanes;
    this.end = Math.max(1, profile.length);
    this.view = view ?? { from: 0, to: this.end };
    this.scrolledPx = 0;
    this.slices = this.selected = null;
    this.resize();
    this.requestSlices();
  }

  get laneNameWidth() {
    return this.width < 600 ? LANE_PX.narrow : LANE_PX.left;
  }

  get innerWidth() {
    return Math.max(1, this.width - this.laneNameWidth);
  }

  get fullHeight() {
    return this.lanes.reduce((sum, lane, at) => sum + this.headHeight(at) + lane[3] * LANE_PX.row + LANE_PX.gap, LANE_PX.axis);
  }

  /** The height of the device name above a lane: shown once for all lanes of a device. @param {number} at */
  headHeight(at) {
    return at && shortDevice(this.lanes[at][0]) === shortDevice(this.lanes[at - 1][0]) ? 0 : LANE_PX.head;
  }

  resize() {
    const width = this.root.clientWidth;
    if (!width) return;
    this.width = width;
    this.height = Math.min(MAX_CANVAS_PX, Math.max(90, this.fullHeight));
    this.draw();
    if (!this.shownRequest.px) this.requestSlices();
  }

  /** @param {number} time */
  xPosition(time) {
    return this.laneNameWidth + ((time - this.view.from) / (this.view.to - this.view.from)) * this.innerWidth;
  }

  /** @param {number} x */
  timeAt(x) {
    return this.view.from + ((x - this.laneNameWidth) / this.innerWidth) * (this.view.to - this.view.from);
  }

  /** The rows in view, each with its lane and its position. @returns {{row: number, lane: number, level: number, y: number}[]} */
  visibleRows() {
    const out = [];
    let [y, row] = [LANE_PX.axis - this.scrolledPx, 0];
    this.lanes.forEach(([, , , levels], lane) => {
      y += this.headHeight(lane);
      for (let level = 0; level < levels; level++, row++, y += LANE_PX.row) if (y > LANE_PX.axis - LANE_PX.row && y < this.height) out.push({ row, lane, level, y });
      y += LANE_PX.gap;
    });
    return out;
  }

  /** Show a stretch of time. @param {number} from @param {number} to */
  lookAt(from, to) {
    const wide = Math.min(this.end * 1.2, Math.max(MIN_SPAN_NS, to - from));
    const middle = Math.min(this.end, Math.max(0, (from + to) / 2)); // stay near the step
    this.view = { from: middle - wide / 2, to: middle + wide / 2 };
    this.draw();
    this.requestSlicesSoon();
    this.hooks.onLook();
  }

  /** @param {number} factor @param {number} [at] a time that stays where it is */
  zoom(factor, at = (this.view.from + this.view.to) / 2) {
    const { from, to } = this.view;
    this.lookAt(at - (at - from) * factor, at + (to - at) * factor);
  }

  /** @param {number} share of the view */
  pan(share) {
    const { from, to } = this.view;
    this.lookAt(from + share * (to - from), to + share * (to - from));
  }

  /** @param {number} start @param {number} duration */
  zoomTo(start, duration) {
    const room = Math.max(duration, MIN_SPAN_NS) * 0.6;
    this.lookAt(start - room, start + duration + room);
  }

  fit() {
    this.lookAt(0, this.end);
  }

  requestSlicesSoon() {
    clearTimeout(this.requestTimer);
    this.requestTimer = setTimeout(() => this.requestSlices(), REQUEST_DELAY_MS);
  }

  /** Request the slices around the view, unless the loaded ones suffice. */
  async requestSlices() {
    if (!this.width || !this.lanes.length) return;
    const turn = ++this.turn;
    this.requestAbort.abort();
    this.requestAbort = new AbortController();
    const { from, to } = this.view;
    const wide = to - from;
    const rows = Math.max(1, this.visibleRows().length);
    const px = Math.max(20, Math.round(3 * Math.min(this.innerWidth, MAX_RECTANGLES / rows)));
    const wanted = { from: from - wide, to: to + wide, px, match: this.match, node: this.node };
    try {
      const slices = await this.hooks.slices(wanted, this.requestAbort.signal);
      if (turn !== this.turn) return;
      this.slices = slices;
      this.shownRequest = wanted;
      this.rowStarts = rowStarts(slices, this.lanes.reduce((sum, lane) => sum + lane[3], 0));
      this.draw();
      this.hooks.onLook();
    } catch (error) {
      if (/** @type {Error} */ (error).name !== "AbortError") throw error;
    }
  }

  /** Mark slices by a text in their name, or those of a node. @param {string} match @param {string | null} node */
  markSlices(match, node) {
    this.match = match;
    this.node = node;
    return this.requestSlices();
  }

  /** Go to a marked slice. @param {number} way 1 next, −1 previous */
  goToMark(way) {
    const marks = this.slices?.marks ?? [];
    if (!marks.length) return;
    const now = this.selected ? this.selected.start : way > 0 ? -Infinity : Infinity;
    const after = way > 0 ? marks.find((mark) => mark[1] > now) ?? marks[0] : marks.findLast((mark) => mark[1] < now) ?? marks[marks.length - 1];
    this.showSlice(after[0], after[1], after[2]);
  }

  /** Bring a slice into view and choose it. @param {number} row @param {number} start @param {number} duration */
  async showSlice(row, start, duration) {
    const { from, to } = this.view;
    if (start < from || start + duration > to || duration < (to - from) / 200) {
      const half = Math.max((to - from) / 2, duration * 0.75);
      const wide = duration < half / 50 ? Math.max(duration * 10, MIN_SPAN_NS) : half;
      this.lookAt(start + duration / 2 - wide, start + duration / 2 + wide);
    }
    const place = this.rowTop(row);
    if (place - this.scrolledPx < LANE_PX.axis || place - this.scrolledPx > this.height - LANE_PX.row) this.scrolledPx = Math.max(0, Math.min(this.fullHeight - this.height, place - this.height / 2));
    await this.requestSlices();
    this.choose(this.sliceAt(row, start + duration / 2));
  }

  /** The top of a row before scrolling, in px. @param {number} row */
  rowTop(row) {
    let y = LANE_PX.axis;
    for (const [at, [, , , levels]] of this.lanes.entries()) {
      y += this.headHeight(at);
      if (row < levels) return y + row * LANE_PX.row;
      row -= levels;
      y += levels * LANE_PX.row + LANE_PX.gap;
    }
    return y;
  }

  /** The slice of a row at a time, or near it. @param {number} row @param {number} time @param {number} [near] nanoseconds @returns {ChosenSlice | null} */
  sliceAt(row, time, near = 0) {
    const { slices, rowStarts: starts } = this;
    if (!slices) return null;
    const index = firstAfter(slices, starts[row], starts[row + 1], time - near);
    if (index >= starts[row + 1] || slices.start[index] > time + near) return null;
    return {
      row, start: slices.start[index], duration: slices.duration[index], count: slices.count[index], busy: slices.busy[index], waited: slices.waited[index],
      name: slices.names[slices.name[index]], node: slices.nodes[slices.node[index]], kind: SLICE_KINDS[slices.kind[index]], lane: this.laneText(row),
    };
  }

  /** The words of the lane of a row. @param {number} row */
  laneText(row) {
    for (const [device, thread, , levels] of this.lanes) {
      if (row < levels) return [shortDevice(device), thread].filter(Boolean).join(" · ");
      row -= levels;
    }
    return "";
  }

  /** @param {ChosenSlice | null} slice */
  choose(slice) {
    this.selected = slice;
    this.draw();
    this.hooks.onChosen(slice);
  }

  /** @param {{offsetX: number, offsetY: number}} event @returns {ChosenSlice | null} */
  sliceUnder({ offsetX, offsetY }) {
    const row = this.visibleRows().find((candidate) => offsetY >= candidate.y && offsetY < candidate.y + LANE_PX.row);
    if (!row || offsetX < this.laneNameWidth) return null;
    return this.sliceAt(row.row, this.timeAt(offsetX), (2 * (this.view.to - this.view.from)) / this.innerWidth);
  }

  /** @param {WheelEvent} event */
  onWheel(event) {
    // The page scrolls until the timeline is clicked, so that it does not trap the wheel.
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.root) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return this.pan((event.deltaX || event.deltaY) / this.innerWidth);
    this.zoom(ZOOM_PER_NOTCH ** Math.sign(event.deltaY), this.timeAt(Math.max(this.laneNameWidth, event.offsetX)));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.root) return;
    const run = {
      w: () => this.zoom(1 / ZOOM_PER_NOTCH), s: () => this.zoom(ZOOM_PER_NOTCH), a: () => this.pan(-0.15), d: () => this.pan(0.15), ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15),
      ArrowUp: () => this.scroll(-LANE_PX.row * 2), ArrowDown: () => this.scroll(LANE_PX.row * 2), "+": () => this.zoom(1 / ZOOM_PER_NOTCH), "-": () => this.zoom(ZOOM_PER_NOTCH), 0: () => this.fit(), ".": () => this.goToMark(1), ",": () => this.goToMark(-1),
      f: () => this.selected && this.zoomTo(this.selected.start, this.selected.duration), Escape: () => this.choose(null),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!run) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  }

  /** @param {number} by px */
  scroll(by) {
    this.scrolledPx = Math.max(0, Math.min(this.fullHeight - this.height, this.scrolledPx + by));
    this.draw();
    this.requestSlicesSoon();
  }

  /** Drag the timeline; a press without a move selects. @param {PointerEvent} event */
  onPress(event) {
    if (event.button || event.target !== this.canvas) return;
    this.root.focus({ preventScroll: true });
    this.root.setPointerCapture(event.pointerId);
    const from = { x: event.clientX, y: event.clientY, view: this.view, top: this.scrolledPx, moved: false };
    const slice = this.sliceUnder(event);
    const drag = (/** @type {PointerEvent} */ now) => {
      const [dx, dy] = [now.clientX - from.x, now.clientY - from.y];
      from.moved ||= Math.hypot(dx, dy) > 4;
      if (!from.moved) return;
      this.tip.hidden = true;
      const time = (dx / this.innerWidth) * (from.view.to - from.view.from);
      this.scrolledPx = Math.max(0, Math.min(this.fullHeight - this.height, from.top - dy));
      this.lookAt(from.view.from - time, from.view.to - time);
    };
    const end = () => {
      this.root.removeEventListener("pointermove", drag);
      if (!from.moved) this.choose(slice);
    };
    this.root.addEventListener("pointermove", drag);
    for (const name of ["pointerup", "pointercancel"]) this.root.addEventListener(name, end, { once: true });
  }

  /** @param {PointerEvent} event */
  onMove(event) {
    const slice = event.target === this.canvas && !event.buttons ? this.sliceUnder(event) : null;
    this.canvas.style.cursor = slice ? "pointer" : "";
    this.tip.hidden = !slice;
    if (!slice) return;
    const rows = [el("strong", {}, shortText(slice.name, 160)), el("div", {}, slice.count > 1 ? t("profile.merged", { n: slice.count, time: nanosWord(slice.busy) }) : nanosWord(slice.duration)), el("div", { class: "quiet" }, t(`profile.${slice.kind === "input" || slice.kind === "launch" ? slice.kind : "compute"}`))];
    this.tip.replaceChildren(...rows);
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, event.clientX + 12))}px`;
    this.tip.style.top = `${event.clientY + this.tip.offsetHeight + 24 > innerHeight ? event.clientY - this.tip.offsetHeight - 12 : event.clientY + 16}px`;
  }

  draw() {
    if (!this.width) return;
    const ratio = Math.min(3, devicePixelRatio || 1);
    const { canvas } = this;
    if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(this.height * ratio)) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${this.height}px`;
    }
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintTimeline(g, this);
  }
}

/** @typedef {{row: number, start: number, duration: number, count: number, busy: number, waited: number, name: string, node: string | null, kind: string, lane: string}} ChosenSlice */

/** A device name without the common job. @param {string} device */
export const shortDevice = (device) => device.replace(/^\/job:[^/]*\/replica:\d+\/task:\d+/, "").replace(/\/stream:\w+$/, "");
