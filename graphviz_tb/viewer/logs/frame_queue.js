// Work spread over animation frames: a task that is requested again while it waits runs once.

const FRAME_MS = 5; // of each frame that work may take, unless one piece of it takes longer: what it drew takes as long again to reach the screen

export class FrameQueue {
  constructor() {
    /** @type {Map<any, () => void>} by what it is for */
    this.waiting = new Map();
    this.asked = false;
  }

  /** @param {any} what it is for @param {() => void} run */
  add(what, run) {
    this.waiting.set(what, run); // what waits keeps its turn: a slider that moves draws all cards in turn
    if (!this.asked) this.askFrame();
  }

  askFrame() {
    this.asked = true;
    requestAnimationFrame(() => this.work());
  }

  work() {
    this.asked = false;
    const end = performance.now() + FRAME_MS;
    for (const [what, run] of this.waiting) {
      const begin = performance.now();
      this.waiting.delete(what);
      run();
      const now = performance.now();
      if (now + (now - begin) > end) break; // another like it would not fit
    }
    if (this.waiting.size) this.askFrame();
  }
}
