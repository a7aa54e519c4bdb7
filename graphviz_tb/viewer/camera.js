// Where the reader looks: pan, zoom, pinch, fit. A pan moves what is drawn already; the rest is drawn when it stands still.

const LEAST = 0.004;
const MOST = 8;
const EASE = 200; // milliseconds

class Camera {
  /** @param {HTMLElement} stage @param {Picture} picture @param {() => void} moved */
  constructor(stage, picture, moved) {
    this.stage = stage;
    this.picture = picture;
    this.moved = moved;
    this.x = 0;
    this.y = 0;
    this.k = 1;
    this.base = { x: 0, y: 0, k: 0 };
    /** @type {Map<number, {x: number, y: number}>} */
    this.fingers = new Map();
    this.run = 0;
    /** @type {any} */
    this.timer = 0;
    this.start = { x: 0, y: 0 };
    this.dragged = false;
    this.listen();
  }

  get size() {
    return [this.stage.clientWidth, this.stage.clientHeight];
  }

  /** Put the camera somewhere. @param {number} x @param {number} y @param {number} k */
  set(x, y, k) {
    [this.x, this.y, this.k] = [x, y, Math.max(LEAST, Math.min(MOST, k))];
    const { base } = this;
    const near = Math.abs(this.x - base.x) < MARGIN && Math.abs(this.y - base.y) < MARGIN;
    if (this.k === base.k && near) {
      this.picture.svg.style.transform = `translate(${this.x - base.x}px, ${this.y - base.y}px)`;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.settle(), 150);
    } else {
      this.settle();
    }
    this.moved();
  }

  /** Draw for this place of the camera. */
  settle() {
    clearTimeout(this.timer);
    const { picture } = this;
    const [wide, tall] = this.size;
    this.base = { x: this.x, y: this.y, k: this.k };
    picture.svg.style.transform = "";
    picture.world.setAttribute("transform", `translate(${this.x + MARGIN} ${this.y + MARGIN}) scale(${this.k})`);
    const corner = [(-MARGIN - this.x) / this.k, (-MARGIN - this.y) / this.k];
    picture.look([...corner, corner[0] + (wide + 2 * MARGIN) / this.k, corner[1] + (tall + 2 * MARGIN) / this.k], this.k);
  }

  /** A point of the window in the world. @param {number} x @param {number} y */
  world(x, y) {
    const home = this.stage.getBoundingClientRect();
    return [(x - home.left - this.x) / this.k, (y - home.top - this.y) / this.k];
  }

  /** Zoom about a point of the stage. @param {number} factor @param {number} x @param {number} y */
  zoom(factor, x = this.size[0] / 2, y = this.size[1] / 2) {
    const k = Math.max(LEAST, Math.min(MOST, this.k * factor));
    const share = k / this.k;
    this.set(x - (x - this.x) * share, y - (y - this.y) * share, k);
  }

  /** The camera that shows a rectangle. @param {number[]} rect @param {number} most @param {number} room @param {number} foot */
  fitting([left, top, right, bottom], most = 1, room = 32, foot = 0) {
    const [wide, [head, end]] = this.free();
    const tall = [head, end - foot];
    const k = Math.max(LEAST, Math.min(most, (wide[1] - wide[0] - 2 * room) / Math.max(1, right - left), (tall[1] - tall[0] - 2 * room) / Math.max(1, bottom - top)));
    return [(wide[0] + wide[1]) / 2 - ((left + right) / 2) * k, (tall[0] + tall[1]) / 2 - ((top + bottom) / 2) * k, k];
  }

  /** The part of the stage that nothing lies over: across and along. @returns {number[][]} */
  free() {
    const [wide, tall] = this.size;
    if (innerWidth < 700) return [[0, wide], [0, tall - (byId("card").hidden ? 0 : byId("card").offsetHeight)]];
    if (!byId("changes").hidden) return [[byId("changes").offsetWidth, wide - (byId("card").hidden ? 0 : byId("card").offsetWidth)], [0, tall]];
    const left = document.body.classList.contains("outlined") ? byId("outline").offsetWidth : 0;
    const right = byId("card").hidden ? 0 : byId("card").offsetWidth;
    return [[left, wide - right], [0, tall]];
  }

  /** Go somewhere smoothly. @param {number[]} to @returns {Promise<void>} */
  glide(to) {
    const from = [this.x, this.y, this.k];
    const turn = ++this.run;
    if (calm() || from.every((value, at) => Math.abs(value - to[at]) < 0.01)) {
      this.set(to[0], to[1], to[2]);
      return Promise.resolve();
    }
    const start = performance.now();
    return new Promise((done) => {
      const step = (/** @type {number} */ now) => {
        if (turn !== this.run) return done();
        const share = Math.min(1, Math.max(0, (now - start) / EASE));
        const eased = 1 - (1 - share) ** 3;
        const k = from[2] * (to[2] / from[2]) ** eased;
        const mix = from[2] === to[2] ? eased : (k - from[2]) / (to[2] - from[2]);
        this.set(from[0] + (to[0] - from[0]) * mix, from[1] + (to[1] - from[1]) * mix, share === 1 ? to[2] : k);
        if (share < 1) requestAnimationFrame(step);
        else done();
      };
      requestAnimationFrame(step);
    });
  }

  listen() {
    const { stage } = this;
    stage.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.run++;
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
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => this.up(/** @type {PointerEvent} */ (event)));
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button > 1) return;
    this.run++;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.start = { x: event.clientX, y: event.clientY };
    this.dragged = false;
  }

  /** @param {PointerEvent} event */
  move(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    if (!this.dragged && Math.hypot(event.clientX - this.start.x, event.clientY - this.start.y) < 4) return;
    if (!this.dragged) this.stage.setPointerCapture(event.pointerId);
    this.dragged = true;
    document.body.classList.add("dragging");
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
  up(event) {
    this.fingers.delete(event.pointerId);
    if (!this.fingers.size) document.body.classList.remove("dragging");
  }
}
