// The camera: pan, zoom, pinch, fit. While it moves, the drawn picture is moved and scaled as a whole and elements
// that come into view are added in small steps; when it stops, the picture is redrawn at the new scale.

import { byId, prefersReducedMotion } from "./dom.js";
import { narrowScreen } from "./input.js";
import { DRAWN_MARGIN_PX } from "./picture.js";

const MIN_SCALE = 0.05; // a larger picture may be shown smaller
const MAX_SCALE = 8;
const MIN_POSITIVE_SCALE = 1e-6;
export const MAX_DISTANCE_PX = 1e9; // pixels: beyond the end of any picture and the limits of browsers
export const EASE_MS = 200; // milliseconds
const FRAME_BUDGET_MS = 3; // milliseconds of a frame that drawing may take while the camera moves

export class Camera {
  /** @param {HTMLElement} stage @param {Picture} picture @param {() => void} moved @param {() => void} appeared */
  constructor(stage, picture, moved, appeared) {
    this.stage = stage;
    this.picture = picture;
    /** @type {HTMLElement} the element that a pan moves, without redrawing the picture on it */
    this.paper = byId("paper");
    this.onMove = moved;
    this.onAppear = appeared;
    this.x = 0;
    this.y = 0;
    this.k = 1;
    /** where the camera was when the sheet was drawn */
    this.base = { x: 0, y: 0, k: 0 };
    /** camera at the last check of what is to be drawn */
    this.drawnPlace = [0, 0];
    this.frameRequest = 0;
    /** @type {Map<number, {x: number, y: number}>} */
    this.fingers = new Map();
    this.motionId = 0;
    /** destination of the camera, until another move is requested */
    this.goal = { turn: -1, to: [0, 0, 1] };
    /** @type {any} */
    this.settleTimer = 0;
    this.pressedPoint = { x: 0, y: 0 };
    this.wasDragged = false;
    this.gestureScale = 1;
    this.size = [0, 0];
    this.measure();
    this.listen();
  }

  /** Store the size of the window, which is slow to read for every picture. A frame may have no size until it is shown:
   * then the picture is fitted. */
  measure() {
    this.size = [this.stage.clientWidth, this.stage.clientHeight];
    if (this.picture.scene && this.k <= MIN_POSITIVE_SCALE && this.size.every(Boolean)) this.onAppear();
  }

  /** Clamp a scale. The least scale shows any picture as a whole, with a margin. @param {number} k */
  boundedScale(k) {
    const { width = 1, height = 1 } = this.picture.scene ?? {};
    const whole = Math.min(this.size[0] / Math.max(1, width), this.size[1] / Math.max(1, height));
    return Math.max(Math.min(MIN_SCALE, whole / 3), Math.min(MAX_SCALE, k), MIN_POSITIVE_SCALE);
  }

  /** Set the camera. @param {number} x @param {number} y @param {number} k */
  set(x, y, k) {
    [this.x, this.y, this.k] = [x, y, this.boundedScale(k)];
    const { base } = this;
    const scaled = this.k / base.k;
    if (scaled > 0.6 && scaled < 1.7) {
      const scale = scaled === 1 ? "" : ` scale(${scaled})`;
      this.paper.style.transform = `translate(${this.x - scaled * base.x}px, ${this.y - scaled * base.y}px)${scale}`;
      const away = Math.max(Math.abs(this.x - this.drawnPlace[0]), Math.abs(this.y - this.drawnPlace[1]));
      if (scaled === 1 && away > DRAWN_MARGIN_PX / 3) this.drawView(FRAME_BUDGET_MS);
      clearTimeout(this.settleTimer);
      this.settleTimer = setTimeout(() => this.settle(), 150);
    } else {
      this.settle();
    }
    this.onMove();
  }

  /** Draw for this position of the camera; the sheet is not moved while its scale is unchanged. */
  settle() {
    clearTimeout(this.settleTimer);
    const offsets = [this.x - this.base.x, this.y - this.base.y];
    const sharp = offsets.every((offset) => Number.isInteger(offset) && Math.abs(offset) < 4096); // within a layer's size
    if (this.k !== this.base.k || !sharp) {
      this.base = { x: this.x, y: this.y, k: this.k };
      this.paper.style.transform = "";
      this.picture.world.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.k})`);
    }
    this.drawView();
  }

  /** Draw what is in view now. @param {number} patience milliseconds; the rest is drawn in the next frame */
  drawView(patience = Infinity) {
    this.drawnPlace = [this.x, this.y];
    const [wide, tall] = this.size;
    const corner = [(-DRAWN_MARGIN_PX - this.x) / this.k, (-DRAWN_MARGIN_PX - this.y) / this.k];
    const view = [...corner, corner[0] + (wide + 2 * DRAWN_MARGIN_PX) / this.k, corner[1] + (tall + 2 * DRAWN_MARGIN_PX) / this.k];
    cancelAnimationFrame(this.frameRequest);
    if (!this.picture.drawView(view, this.k, patience)) this.frameRequest = requestAnimationFrame(() => this.drawView(patience));
  }

  /** A point of the window in the world. @param {number} x @param {number} y */
  worldPoint(x, y) {
    const home = this.stage.getBoundingClientRect();
    return [(x - home.left - this.x) / this.k, (y - home.top - this.y) / this.k];
  }

  /** Zoom about a point of the stage. @param {number} factor @param {number} x @param {number} y */
  zoom(factor, x = this.size[0] / 2, y = this.size[1] / 2) {
    const k = this.boundedScale(this.k * factor);
    const share = k / this.k;
    this.set(x - (x - this.x) * share, y - (y - this.y) * share, k);
  }

  /** The camera that shows a rectangle. @param {number[]} rect @param {number} most @param {number} room @param {number} foot */
  placeFitting([left, top, right, bottom], most = 1, room = 32, foot = 0) {
    const [wide, [head, end]] = this.freeRoom();
    const tall = [head, end - foot];
    const k = this.boundedScale(Math.min(most, (wide[1] - wide[0] - 2 * room) / Math.max(1, right - left), (tall[1] - tall[0] - 2 * room) / Math.max(1, bottom - top)));
    return [(wide[0] + wide[1]) / 2 - ((left + right) / 2) * k, (tall[0] + tall[1]) / 2 - ((top + bottom) / 2) * k, k];
  }

  /** The part of the stage that no panel covers: across and along. @returns {number[][]} */
  freeRoom() {
    const [wide, tall] = this.size;
    const lower = (/** @type {string} */ id, /** @type {number} */ down) => (byId(id).hidden ? 0 : Math.min(tall / 2, down + byId(id).offsetHeight));
    const top = Math.max(lower("found", 0), lower("tracing", 14)); // the lists of search results and of a trace
    if (narrowScreen.matches) return [[0, wide], [top, tall - Math.max(...["card", "outline", "changes"].map((id) => byId(id).offsetHeight))]]; // sheets from below
    const listed = !byId("changes").hidden ? byId("changes") : document.body.classList.contains("outlined") ? byId("outline") : null;
    const right = byId("card").hidden ? 0 : byId("card").offsetWidth;
    return [[listed?.offsetWidth ?? 0, wide - right], [top, tall]];
  }

  /** The visible place in units of the picture, the same in every window: the point in the middle of what nothing
   * lies over, and how much is seen along the shorter side of that. */
  currentPlace() {
    const [across, along] = this.freeRoom();
    const [x, y] = [(across[0] + across[1]) / 2, (along[0] + along[1]) / 2];
    const short = Math.max(1, Math.min(across[1] - across[0], along[1] - along[0]));
    return [(x - this.x) / this.k, (y - this.y) / this.k, short / this.k];
  }

  /** Show such a place. @param {number[]} place */
  lookAtPlace([x, y, extent]) {
    const [across, along] = this.freeRoom();
    const short = Math.max(1, Math.min(across[1] - across[0], along[1] - along[0]));
    const k = this.boundedScale(short / extent);
    this.set((across[0] + across[1]) / 2 - x * k, (along[0] + along[1]) / 2 - y * k, k);
    this.settle();
  }

  /** Move the camera smoothly. @param {number[]} to @returns {Promise<void>} */
  glideTo(to) {
    const from = [this.x, this.y, this.k];
    const turn = ++this.motionId;
    this.goal = { turn, to };
    if (prefersReducedMotion() || from.every((value, at) => Math.abs(value - to[at]) < 0.01)) {
      this.motionId++;
      this.set(to[0], to[1], to[2]);
      this.settle();
      return Promise.resolve();
    }
    const start = performance.now();
    return new Promise((done) => {
      const step = (/** @type {number} */ now) => {
        if (turn !== this.motionId) return done();
        const share = Math.min(1, Math.max(0, (now - start) / EASE_MS));
        const eased = 1 - (1 - share) ** 3;
        const k = from[2] * (to[2] / from[2]) ** eased;
        const mix = from[2] === to[2] ? eased : (k - from[2]) / (to[2] - from[2]);
        this.set(from[0] + (to[0] - from[0]) * mix, from[1] + (to[1] - from[1]) * mix, share === 1 ? to[2] : k);
        if (share < 1) return requestAnimationFrame(step);
        this.motionId++;
        this.settle();
        done();
      };
      requestAnimationFrame(step);
    });
  }

  /** The position of the camera after its current move. */
  get destination() {
    return this.goal.turn === this.motionId ? this.goal.to : [this.x, this.y, this.k];
  }

  listen() {
    const { stage } = this;
    stage.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.motionId++;
        const home = stage.getBoundingClientRect();
        const lines = event.deltaMode === 1 ? 16 : 1;
        if (event.ctrlKey || event.metaKey || (event.deltaX === 0 && Math.abs(event.deltaY * lines) >= 40)) {
          const speed = event.ctrlKey && Math.abs(event.deltaY) < 40 ? 0.01 : 0.002;
          this.zoom(Math.exp(-event.deltaY * lines * speed), event.clientX - home.left, event.clientY - home.top);
        } else {
          this.set(this.x - event.deltaX * lines, this.y - event.deltaY * lines, this.k);
        }
      },
      { passive: false },
    );
    for (const name of ["gesturestart", "gesturechange"]) stage.addEventListener(name, (event) => this.handleGesture(event));
    stage.addEventListener("pointerdown", (event) => this.pressFinger(event));
    stage.addEventListener("pointermove", (event) => this.moveFinger(event));
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => this.liftFinger(/** @type {PointerEvent} */ (event)));
  }

  /** Two fingers on a Mac's trackpad: Safari sends gesture events, with the scale since their start.
   * @param {any} event */
  handleGesture(event) {
    event.preventDefault();
    if (this.fingers.size) return; // on a touch screen the fingers send the events
    if (event.type === "gesturestart") this.gestureScale = 1;
    const home = this.stage.getBoundingClientRect();
    this.motionId++;
    this.zoom(event.scale / this.gestureScale, event.clientX - home.left, event.clientY - home.top);
    this.gestureScale = event.scale;
  }

  /** @param {PointerEvent} event */
  pressFinger(event) {
    if (event.button > 1) return;
    this.motionId++;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.pressedPoint = { x: event.clientX, y: event.clientY };
    this.wasDragged = false;
  }

  /** @param {PointerEvent} event */
  moveFinger(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    if (!this.wasDragged && Math.hypot(event.clientX - this.pressedPoint.x, event.clientY - this.pressedPoint.y) < 4) return;
    if (!this.wasDragged) {
      byId("shield").hidden = false; // an element for the cursor, since every box would inherit the cursor of the stage
      byId("shield").setPointerCapture(event.pointerId);
    }
    this.wasDragged = true;
    if (this.fingers.size === 1) {
      this.set(this.x + event.clientX - before.x, this.y + event.clientY - before.y, this.k);
    } else {
      const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1] ?? before;
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      const home = this.stage.getBoundingClientRect();
      this.set(this.x + (event.clientX - before.x) / 2, this.y + (event.clientY - before.y) / 2, this.k);
      if (was > 0) this.zoom(is / was, (event.clientX + other.x) / 2 - home.left, (event.clientY + other.y) / 2 - home.top);
    }
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** @param {PointerEvent} event */
  liftFinger(event) {
    this.fingers.delete(event.pointerId);
    if (!this.fingers.size) byId("shield").hidden = true;
  }
}
