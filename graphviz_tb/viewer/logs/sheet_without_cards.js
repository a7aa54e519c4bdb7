// A page of a log that is loaded as a whole, without a card per tag.

export class SheetWithoutCards {
  /** @param {Logs} logs */
  constructor(logs) {
    this.logs = logs;
    this.isDirty = true; // whether the content may be outdated
    this.shown = false;
    this.scroll = 0;
    /** @type {LogTag[]} none */
    this.tags = [];
  }

  /** React to another filter of tags, or to loaded joins. */
  onFilter() {}

  /** React to a restored address. */
  onRestore() {}

  /** React to another choice of runs. */
  runsChanged() {}

  /** Ignore new points: the page is loaded again with the runs. */
  onPoints() {}
}
