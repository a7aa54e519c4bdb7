// Move the camera: fit the whole picture, and bring a box into view, clear of the panels.

import { Camera } from "./camera.js";
import { byId } from "./dom.js";
import { narrowScreen } from "./input.js";
import { READABLE_SCALE } from "./picture.js";

export class Viewport {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const stage = byId("stage");
    this.camera = new Camera(stage, app.view.picture, () => this.onCameraMove(), () => this.fit(false).then(() => app.legend.draw()));
    new ResizeObserver(() => this.resize()).observe(stage);
    this.reset();
  }

  /** Forget the camera of another graph. */
  reset() {
    /** @type {number[] | null} the camera of the last fit of the whole picture, and the size of the scene */
    this.fittedPlace = null;
  }

  /** Bring the node selected by a link into view, if this window does not show it. @param {Path} path */
  async bringSelected(path) {
    const box = this.app.view.boxAt(await this.app.actions.hostOf(path));
    const [across, along] = this.camera.freeRoom();
    if (box && !rectsOverlap(this.stageRect(box), [across[0], along[0], across[1], along[1]])) await this.bringIntoView(box);
  }

  /** @param {Path} path */
  async uncoverPath(path) {
    await this.app.actions.cardReady;
    const box = this.app.view.boxAt(await this.app.actions.hostOf(path));
    if (box) await this.uncoverBox(box);
  }

  /** Fit a box into the window; the whole picture if the box is not shown. @param {Path} path */
  async fitBox(path) {
    const box = this.app.view.boxAt(await this.app.actions.hostOf(path));
    return box ? this.camera.glideTo(this.placeShowing(box, 2, 60)) : this.fit();
  }

  /** Centre an open box in the free area, at the present scale or smaller to fit. @param {Path} path */
  async centreOpened(path) {
    const box = this.app.view.boxAt(path) ?? this.app.view.boxAt(this.app.state.graph.framePath(path));
    if (box?.open) await this.camera.glideTo(this.placeShowing(box, Math.max(this.camera.k, READABLE_SCALE), 40));
  }

  /** Move the traced boxes that are in view out from under the trace bar and the card. */
  async uncoverTrace() {
    await this.app.actions.cardReady;
    const { camera } = this;
    const { traced, graph } = this.app.state;
    if (!traced) return; // the trace was ended meanwhile
    const sums = this.app.state.rowPrefixSums(traced.rows);
    const [wide, tall] = camera.size;
    const lit = this.app.view.scene.boxes.filter((/** @type {any} */ box) => !box.open && sums[graph.end[box.row]] > sums[box.row]);
    const seen = lit.map((/** @type {any} */ box) => this.stageRect(box)).filter((/** @type {number[]} */ rect) => rectsOverlap(rect, [0, 0, wide, tall]));
    if (!seen.length) return;
    const rect = [Math.min, Math.min, Math.max, Math.max].map((most, side) => most(...seen.map((/** @type {number[]} */ one) => one[side])));
    const [across, along] = camera.freeRoom();
    const [top, bottom] = [camera.y, camera.y + this.app.view.scene.height * camera.k];
    if (top >= 0 && bottom <= tall) [rect[1], rect[3]] = [Math.min(rect[1], top), Math.max(rect[3], bottom)]; // if all was in view, keep it so
    if (rect[2] - rect[0] < across[1] - across[0] - 24 && rect[3] - rect[1] < along[1] - along[0] - 24) return this.uncoverRect(rect);
    const world = rect.map((value, side) => (value - (side % 2 ? camera.y : camera.x)) / camera.k);
    const whole = camera.placeFitting(world, camera.k, 16);
    if (whole[2] > 0.6 * camera.k) return camera.glideTo(whole);
    return this.uncoverPath(traced.path);
  }

  /** Whether a panel at the lower left would lie on a box. @param {number} wide @param {number} tall */
  wouldCoverDrawing(wide, tall) {
    const { camera } = this;
    const [left, top] = [camera.freeRoom()[0][0], camera.size[1] - tall];
    const { boxes, stubs, texts } = this.app.view.scene;
    const isCorner = (/** @type {number} */ x, /** @type {number} */ right, /** @type {number} */ bottom) =>
      x * camera.k + camera.x < left + wide && bottom * camera.k + camera.y > top && right * camera.k + camera.x > left;
    // Headings and notes of the auxiliary area start at their left end.
    const free = texts.filter((/** @type {any} */ one) => !one.inside && one.anchor === "start");
    return (
      boxes.some((/** @type {any} */ one) => !one.open && isCorner(one.x, one.x + one.width, one.y + one.height)) ||
      stubs.some((/** @type {any} */ one) => isCorner(one.x, one.x + one.width, one.y + one.height)) ||
      free.some((/** @type {any} */ one) => isCorner(one.x, one.x + one.width, one.y))
    );
  }

  /** React to another size of the stage: a fitted picture is fitted again. */
  resize() {
    const fitted = this.isFitted();
    this.camera.measure();
    if (!this.app.view.scene) return;
    this.camera.settle();
    if (fitted) this.fit(false);
  }

  onCameraMove() {
    this.app.minimap.onMove();
    this.app.state.isCameraMoved = true;
    this.app.history.writeAddressSoon();
  }

  /** A box in coordinates of the stage: left, top, right, bottom. @param {any} box @param {number[]} [place] of the camera */
  stageRect(box, [x, y, k] = [this.camera.x, this.camera.y, this.camera.k]) {
    return [box.x * k + x, box.y * k + y, (box.x + box.width) * k + x, (box.y + box.height) * k + y];
  }

  /** The panels over the lower corners of the picture. @returns {number[][]} */
  panelRects() {
    const home = byId("stage").getBoundingClientRect();
    const rects = [byId("corner"), byId("legend")].map((panel) => panel.getBoundingClientRect()).filter((rect) => rect.width > 0);
    return rects.map((rect) => [rect.left - home.left, rect.top - home.top, rect.right - home.left, rect.bottom - home.top]);
  }

  /** Scroll until a box is in view and no panel covers it. @param {any} box */
  bringIntoView(box) {
    const { camera } = this;
    const [[left, right], [top, bottom]] = camera.freeRoom();
    const rect = this.stageRect(box);
    const inside = rect[0] >= left + 8 && rect[2] <= right - 8 && rect[1] >= top + 8 && rect[3] <= bottom - 8;
    if (inside && camera.k >= READABLE_SCALE) return box.open ? Promise.resolve() : this.uncoverBox(box);
    return camera.glideTo(this.placeShowing(box, Math.max(Math.min(camera.k, 1.5), 0.8), 40));
  }

  /** The camera that shows a box as large as it fits, above the minimap if that would cover it.
   * @param {any} box @param {number} most @param {number} room */
  placeShowing(box, most, room) {
    const { camera } = this;
    const rect = [box.x, box.y, box.x + box.width, box.y + box.height];
    const to = camera.placeFitting(rect, most, room);
    if (!this.panelRects().some((panel) => rectsOverlap(panel, this.stageRect(box, to)))) return to;
    const higher = camera.placeFitting(rect, most, room, byId("corner").offsetHeight);
    return higher[2] > 0.7 * to[2] ? higher : to;
  }

  /** Move a closed box out from under the card, the minimap and the legend, by the smallest shift. @param {any} box */
  uncoverBox(box) {
    return box.open ? Promise.resolve() : this.uncoverRect(this.stageRect(box));
  }

  /** Move the picture so that no panel covers a rectangle of the stage, as far as there is room. @param {number[]} rect */
  uncoverRect(rect) {
    const { camera } = this;
    const [across, along] = camera.freeRoom();
    const by = [shiftInto(rect[0], rect[2], across), shiftInto(rect[1], rect[3], along)];
    for (const panel of this.panelRects()) {
      const here = rect.map((value, at) => value + by[at % 2]);
      if (!rectsOverlap(panel, here)) continue;
      const ways = [[0, panel[1] - here[3] - 12], [panel[0] - here[2] - 12, 0], [panel[2] - here[0] + 12, 0]];
      const stays = (/** @type {number[]} */ [dx, dy]) => here[0] + dx >= across[0] && here[2] + dx <= across[1] && here[1] + dy >= along[0];
      const [dx, dy] = ways.filter(stays).sort((one, other) => Math.abs(one[0] + one[1]) - Math.abs(other[0] + other[1]))[0] ?? [0, 0];
      by[0] += dx;
      by[1] += dy;
    }
    return by[0] || by[1] ? camera.glideTo([camera.x + by[0], camera.y + by[1], camera.k]) : Promise.resolve();
  }

  fit(moving = true) {
    const { scene } = this.app.view;
    const { camera } = this;
    if (!scene) return Promise.resolve(); // the scene could not be drawn
    const room = this.stageRoom();
    const whole = [0, 0, scene.width, scene.height];
    const [wide, tall] = camera.size;
    const most = Math.max(1.25, Math.min(wide / 1200, tall / 700)); // larger on a large screen, which is viewed from further away
    let to = camera.placeFitting(whole, most, room);
    if (narrowScreen.matches) to = this.placeAboveButtons(to, (foot) => camera.placeFitting(whole, most, room, foot));
    else if (this.isUnderCorner(to)) {
      const corner = byId("corner").getBoundingClientRect();
      const aside = [Math.max(camera.freeRoom()[0][0] + room, corner.left - room - scene.width * to[2]), to[1], to[2]];
      const higher = camera.placeFitting(whole, most, room, corner.height);
      if (!this.isUnderCorner(aside)) to = aside;
      else if (higher[2] > 0.7 * to[2]) to = higher;
    }
    this.fittedPlace = [...to, scene.width, scene.height];
    if (moving) return camera.glideTo(to);
    camera.set(to[0], to[1], to[2]);
    camera.settle();
    return Promise.resolve();
  }

  /** The camera on a phone: the picture is above the buttons at the bottom if these would cover a box.
   * @param {number[]} to @param {(foot: number) => number[]} fitting */
  placeAboveButtons(to, fitting) {
    for (let turn = 0; turn < 2; turn++) {
      const places = this.app.view.scene.boxes.map((/** @type {any} */ box) => this.stageRect(box, to));
      const covering = this.panelRects().filter((panel) => places.some((/** @type {number[]} */ place) => rectsOverlap(panel, place)));
      const foot = this.camera.size[1] - Math.min(Infinity, ...covering.map((panel) => panel[1]));
      if (foot > 0 && foot < this.camera.size[1] / 3) to = fitting(foot);
    }
    return to;
  }

  /** Whether the minimap would cover a box. @param {number[]} place of the camera */
  isUnderCorner([x, y, k]) {
    const home = byId("corner").getBoundingClientRect();
    const stage = byId("stage").getBoundingClientRect();
    const [left, top] = [home.left - stage.left, home.top - stage.top];
    return this.app.view.scene.boxes.some((/** @type {any} */ box) => (box.x + box.width) * k + x > left && (box.y + box.height) * k + y > top);
  }

  stageRoom() {
    return narrowScreen.matches ? 12 : 32;
  }

  /** Whether the whole picture is fitted and has not been moved since. */
  isFitted() {
    const { camera, fittedPlace: fitTo } = this;
    return !!fitTo && !!this.app.view.scene && this.app.view.scene.width === fitTo[3] && this.app.view.scene.height === fitTo[4] && Math.abs(camera.k / fitTo[2] - 1) < 1e-3 && Math.abs(camera.x - fitTo[0]) < 1 && Math.abs(camera.y - fitTo[1]) < 1;
  }
}

/** Whether two rectangles overlap. @param {number[]} one @param {number[]} other */
export const rectsOverlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** The shift that moves a segment into a range, 12 px from its ends, without leaving it at the other end.
 * @param {number} from @param {number} to @param {number[]} room */
function shiftInto(from, to, [start, end]) {
  const [before, after] = [from - start - 12, end - 12 - to];
  if (after < 0) return -Math.max(0, Math.min(-after, before));
  return before < 0 ? Math.min(-before, after) : 0;
}
