// Work spread over animation frames: a task that is requested again while it waits runs once.

const WORK_PER_FRAME_MS = 5; // of each frame, unless a single task takes longer; the browser needs as long again to show the result

export class FrameQueue {
  constructor() {
    /** @type {Map<any, () => void>} by key */
    this.tasks = new Map();
    this.isRequested = false;
  }

  /** @param {any} what it is for @param {() => void} run */
  add(what, run) {
    this.tasks.set(what, run); // a waiting task keeps its position, so that a moving slider updates all cards in turn
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
      if (now + (now - begin) > end) break; // another task of this length would not fit
    }
    if (this.tasks.size) this.requestFrame();
  }
}
