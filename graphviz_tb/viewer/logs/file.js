// The log of a file: its points lie in it, thinned to a screen.

class FileLog {
  /** @param {{state: LogState, tags: LogTag[]}} log @param {Blocks} blocks */
  constructor(log, blocks) {
    this.log = log;
    this.blocks = blocks;
    /** @type {Map<number, LogTag>} */
    this.tagOf = new Map(log.tags.flatMap((tag) => tag.runs.map((one) => /** @type {[number, LogTag]} */ ([one[1], tag]))));
  }

  async state() {
    return this.log.state;
  }

  /** @param {string} kind */
  async tags(kind) {
    return this.log.tags.filter((tag) => tag.kind === kind);
  }

  /** The points of series, whatever is asked for: there are no more. @param {number[]} ids @returns {Promise<Map<number, Points>>} */
  async series(ids) {
    const out = new Map();
    for (const id of ids) {
      const tag = this.tagOf.get(id);
      if (!tag) continue;
      const { head, blocks } = columnsOf(await this.blocks.get(`log/${tag.id}`));
      out.set(id, pointsOf(blocks, id, head));
    }
    return out;
  }

  /** @param {number} series @returns {Promise<HistogramColumns>} */
  async histograms(series) {
    return histogramsOf(await this.blocks.get(`log/${this.tagOf.get(series)?.id}`), series);
  }

  /** No address has all points. */
  exportAddress() {
    return "";
  }

  /** Nothing comes. */
  listen() {}
}
