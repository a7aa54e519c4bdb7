// A page of a log that is loaded as a whole, without a card per tag.

export class SheetWithoutCards {
  /** @param {Logs} logs */
  constructor(logs) {
    this.logs = logs;
    this.isDirty = true; // whether there may be other content
    this.shown = false;
    this.scroll = 0;
    /** @type {LogTag[]} none */
    this.tags = [];
  }

  /** Other tags are looked for, or joined to the graph. */
  onFilter() {}

  /** The state of the address is back. */
  onRestore() {}

  /** Other runs are chosen. */
  runsChanged() {}

  /** New points: what is asked for as a whole is asked for again with the runs. */
  onPoints() {}
}
