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
    this.nextKind = ""; // of the next view, where it is an entry of its own
    this.lastKind = "";
    this.lastOpening = -Infinity; // when the last opening was done
    this.lastBegun = 0; // when the next view was asked for
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


  /** Whether what is done now is a view of its own, to which the browser goes back: choosing one node after the other is
   * one, and so is opening one group soon after the other. */
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

  /** Note a view, to come back to it: what comes next is another one. Choosing one node after the other is one "choice".
   * @param {string} [kind] */
  beginEntry(kind = "view") {
    if (!this.nextKind) this.writeAddress(); // where the reader looked until now
    this.nextKind = kind;
    this.lastBegun = performance.now();
  }
}
