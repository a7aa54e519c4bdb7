// The history of views: the address of each, and the targets of Back and Forward.

import { hashOf, stateOf } from "./address.js";

const BURST_MS = 2000; // milliseconds between two openings that are one step of the browser's history
const MAX_VIEWS = 200;

export class ViewHistory {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {string[]} addresses of earlier views */
    this.past = [];
    /** @type {string[]} */
    this.future = [];
    this.nextKind = ""; // kind of the next view, if it is a separate entry
    this.lastKind = "";
    this.lastOpening = -Infinity; // when the last opening was done
    this.lastBegun = 0; // when the next view was requested
    this.written = "";
    /** @type {any} */
    this.writeTimer = 0;
  }

  goBack() {
    return this.restoreLast(this.past, this.future);
  }

  goForward() {
    return this.restoreLast(this.future, this.past);
  }

  /** Restore the last view of one list; the present one goes to the other. @param {string[]} from @param {string[]} to */
  restoreLast(from, to) {
    return this.app.actions.queue(async () => {
      const hash = from.pop();
      if (hash === undefined) return;
      to.push(hashOf(this.app.addressValues()));
      await this.app.restore(stateOf(hash));
    });
  }


  /** Whether the current action starts a new entry of the browser's history: selecting several nodes in a row is one
   * entry, and so is opening several groups soon after each other. */
  isOwnEntry() {
    if (!this.nextKind) return false;
    const soon = this.lastBegun - this.lastOpening < BURST_MS; // however long the opening itself takes
    if (this.nextKind === "opening") this.lastOpening = performance.now();
    return this.nextKind === "choice" ? this.lastKind !== "choice" && !(this.lastKind === "opening" && soon) : !(this.nextKind === "opening" && this.lastKind === "opening" && soon);
  }

  /** Put the state into the address. */
  writeAddress() {
    clearTimeout(this.writeTimer);
    const state = this.app.addressValues();
    const hash = hashOf(state);
    if (hash === this.written) return;
    const apart = this.isOwnEntry();
    if (apart) this.past = [...this.past.slice(1 - MAX_VIEWS), this.written];
    if (apart) this.future = [];
    else if (this.nextKind === "choice" && this.lastKind === "opening") this.nextKind = "opening"; // one burst
    this.lastKind = this.nextKind || this.lastKind;
    this.nextKind = "";
    this.written = hash;
    try {
      const address = hash ? `#${hash}` : location.pathname + location.search;
      if (apart && parent === window) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    } catch {
      // a frame without an address of its own
    }
    this.app.emit("state", state);
  }

  /** Write the address a little later, for changes that come many times a second. */
  writeAddressSoon() {
    clearTimeout(this.writeTimer);
    this.writeTimer = setTimeout(() => this.writeAddress(), 250);
  }

  /** Record a view to return to. Selecting several nodes in a row is one "choice".
   * @param {string} [kind] */
  beginEntry(kind = "view") {
    if (!this.nextKind) this.writeAddress(); // store the current view
    this.nextKind = kind;
    this.lastBegun = performance.now();
  }
}
