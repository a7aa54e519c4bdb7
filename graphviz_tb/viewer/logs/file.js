// The log of a file: its points lie in it, thinned to a screen.

class FileLog {
  /** @param {{state: LogState, tags: LogTag[]}} log @param {Blocks} blocks */
  constructor(log, blocks) {
    this.log = log;
    this.blocks = blocks;
    /** @type {Map<number, string>} of bytes that were asked for */
    this.addresses = new Map();
    /** @type {Map<number, LogTag>} */
    this.tagOf = new Map(log.tags.flatMap((tag) => tag.runs.map((one) => /** @type {[number, LogTag]} */ ([one[1], tag]))));
  }

  async state() {
    return this.log.state;
  }

  /** @param {string} [kind] none: of all kinds */
  async tags(kind) {
    return this.log.tags.filter((tag) => !kind || tag.kind === kind);
  }

  /** Where tags belong in the graph of the file. @returns {Promise<JoinsTold>} */
  async joins() {
    return this.blocks.has("log/joins") ? this.blocks.get("log/joins") : { joins: [], apart: [] };
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

  /** What the file has of a series: its last points. @param {number} series @returns {Promise<{n: number, step: number[], wall: number[], points: any[]}>} */
  async last(series) {
    return (await this.blocks.get(`log/${this.tagOf.get(series)?.id}`))[series];
  }

  /** @param {number[]} ids @returns {Promise<Map<number, StepList>>} */
  async steps(ids) {
    return new Map(await Promise.all(ids.map(async (id) => /** @type {[number, StepList]} */ ([id, await this.last(id)]))));
  }

  /** The last point at a step or before it. @param {string} kind @param {number} series @param {number} at */
  async point(kind, series, at) {
    const { step, points } = await this.last(series);
    return points[step.findLastIndex((one) => one <= at)];
  }

  /** The address of the bytes of an image or a sound. @param {{blob: number, type: string}} sample */
  async blob({ blob, type }) {
    let address = this.addresses.get(blob);
    if (!address) {
      address = URL.createObjectURL(new Blob([await this.blocks.get(`log/blob/${blob}`)], { type }));
      this.addresses.set(blob, address);
    }
    return address;
  }

  /** Hyperparameters and metrics of all sessions. */
  trials() {
    return this.blocks.get("log/hparams");
  }

  /** No address has all points. */
  exportAddress() {
    return "";
  }

  /** Nothing comes. */
  listen() {}
}
