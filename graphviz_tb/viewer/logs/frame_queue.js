// Work spread over animation frames: a task that is requested again while it waits runs once.

const WORK_PER_FRAME_MS = 5; // of each frame that work may take, unless one piece of it takes longer: what it drew takes as long again to reach the screen

export class FrameQueue {
  constructor() {
    /** @type {Map<any, () => void>} by what it is for */
    this.tasks = new Map();
    this.isRequested = false;
  }

  /** @param {any} what it is for @param {() => void} run */
  add(what, run) {
    this.tasks.set(what, run); // what waits keeps its turn: a slider that moves draws all cards in turn
    if (!this.isRequested) this.requestFrame();
  }

  requestFrame() {
    this.isRequested = true;
    requestAnimationFrame(() => this.runTasks());
  }

  runTasks() {
    this.isRequested = false;
    const end = performance.now() + WORK_PER_FRAME_MS;
    for (const [what, run] of this.tasks) {
      const begin = performance.now();
      this.tasks.delete(what);
      run();
      const now = performance.now();
      if (now + (now - begin) > end) break; // another like it would not fit
    }
    if (this.tasks.size) this.requestFrame();
  }
}
