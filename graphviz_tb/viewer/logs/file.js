// The log in a file: its points, thinned to the width of a screen.

import { decodeColumns, decodeHistograms, decodePoints } from "./feed.js";
import { decodeSlices, markedSlices } from "./slices.js";

export class FileLog {
  /** @param {{state: LogState, tags: LogTag[]}} log @param {Blocks} blocks */
  constructor(log, blocks) {
    this.log = log;
    this.blocks = blocks;
    this.missingStepCount = 0; // traced steps that are not in the file
    /** @type {Map<string, string>} addresses of bytes that were requested */
    this.addresses = new Map();
    /** @type {Map<number, ArrayLike<number> | undefined>} the points of embeddings that were shown */
    this.values = new Map();
    /** @type {Map<number, LogTag>} */
    this.tagOf = new Map(log.tags.flatMap((tag) => tag.runs.map((entry) => /** @type {[number, LogTag]} */ ([entry[1], tag]))));
  }

  async state() {
    return this.log.state;
  }

  /** @param {string} [kind] none: of all kinds */
  async tags(kind) {
    return this.log.tags.filter((tag) => !kind || tag.kind === kind);
  }

  /** The rows of the graph that tags belong to. @returns {Promise<GraphJoins>} */
  async joins() {
    return this.blocks.has("log/joins") ? this.blocks.get("log/joins") : { joins: [], apart: [] };
  }

  /** All points of series that the file has, whatever range is requested. @param {number[]} ids @returns {Promise<Map<number, Points>>} */
  async series(ids) {
    const out = new Map();
    for (const id of ids) {
      const tag = this.tagOf.get(id);
      if (!tag) continue;
      const { head, blocks } = decodeColumns(await this.blocks.get(`log/${tag.id}`));
      out.set(id, decodePoints(blocks, id, head));
    }
    return out;
  }

  /** @param {number} series @returns {Promise<HistogramColumns>} */
  async histograms(series) {
    return decodeHistograms(await this.blocks.get(`log/${this.tagOf.get(series)?.id}`), series);
  }

  /** The last points of a series, as the file stores them. @param {number} series @returns {Promise<{n: number, step: number[], wall: number[], points: any[]}>} */
  async lastPoints(series) {
    return (await this.blocks.get(`log/${this.tagOf.get(series)?.id}`))[series];
  }

  /** @param {number[]} ids @returns {Promise<Map<number, StepList>>} */
  async steps(ids) {
    return new Map(await Promise.all(ids.map(async (id) => /** @type {[number, StepList]} */ ([id, await this.lastPoints(id)]))));
  }

  /** The last point at a step or before it. @param {string} kind @param {number} series @param {number} at */
  async point(kind, series, at) {
    const { step, points } = await this.lastPoints(series);
    return points[step.findLastIndex((candidate) => candidate <= at)];
  }

  /** The address of the bytes of an image or a sound. @param {{blob: number, type: string}} sample */
  blob({ blob, type }) {
    return this.blockAddress(`log/blob/${blob}`, type);
  }

  /** The address of the bytes of a block. @param {string} name @param {string} type */
  async blockAddress(name, type) {
    let address = this.addresses.get(name);
    if (!address) {
      address = URL.createObjectURL(new Blob([await this.blocks.get(name)], { type }));
      this.addresses.set(name, address);
    }
    return address;
  }

  /** Charts that runs laid out. */
  custom() {
    return this.blocks.get("log/custom");
  }

  /** Hyperparameters and metrics of all sessions. */
  trials() {
    return this.blocks.get("log/hparams");
  }

  /** Embeddings, only on their principal components. */
  embeddings() {
    return this.blocks.get("log/projector");
  }

  /** The points of an embedding on axes. @param {number} id */
  async cloud(id) {
    const cloud = decodeColumns(await this.blocks.get(`log/projector/${id}`));
    this.values.set(id, cloud.blocks.get("values"));
    return cloud;
  }

  /** The metadata of its points. @param {number} id */
  cloudColumns(id) {
    return this.blocks.get(`log/projector/${id}/metadata`);
  }

  /** The address of its sprite. @param {number} id */
  cloudSprite(id) {
    return this.blockAddress(`log/projector/${id}/sprite`, "");
  }

  /** Whether its values are in the file. @param {number} id */
  hasNeighbours(id) {
    return Boolean(this.values.get(id));
  }

  /** @param {number} id @param {number} row @param {number} k @param {string} metric */
  async cloudNeighbours(id, row, k, metric) {
    const { tensors } = await this.embeddings();
    const { dims } = tensors.find((/** @type {any} */ embedding) => embedding.id === id);
    return nearestPointsOf(this.values.get(id), dims, row, k, metric);
  }

  async layOut() {}

  async cancelLayout() {}

  /** @returns {Promise<TracedStep[]>} */
  async profiles() {
    const { profiles, left } = await this.blocks.get("log/profile");
    this.missingStepCount = left;
    return profiles;
  }

  /** The count of traced steps that are not in the file. */
  profilesLeft() {
    return this.missingStepCount;
  }

  /** The profile of a traced step. @param {string} id */
  async profileTable(id) {
    return this.blocks.get(`log/profile/${id}`);
  }

  /** All slices of a step that the file has, whatever is in view. @param {string} id @param {SliceRequest} wanted */
  async slices(id, { match, node }) {
    return markedSlices(decodeSlices(await this.blocks.get(`log/profile/${id}/slices`)), match, node);
  }

  /** A file has no address with all points. */
  exportAddress() {
    return "";
  }

  /** Do nothing: a file does not change. */
  listen() {}
}

/** The nearest points of a point, as `project/projections.py` finds them. @param {ArrayLike<number>} values @param {number} dims @param {number} row @param {number} k @param {string} metric */
function nearestPointsOf(values, dims, row, k, metric) {
  const own = row * dims;
  const length = (/** @type {number} */ at) => {
    let sum = 0;
    for (let axis = 0; axis < dims; axis++) sum += values[at + axis] ** 2;
    return Math.sqrt(sum);
  };
  const long = length(own);
  /** @type {[number, number][]} */
  const neighbours = [];
  for (let other = 0; other * dims < values.length; other++) {
    if (other === row) continue;
    const at = other * dims;
    let sum = 0;
    if (metric === "cosine") for (let axis = 0; axis < dims; axis++) sum += values[own + axis] * values[at + axis];
    else for (let axis = 0; axis < dims; axis++) sum += (values[own + axis] - values[at + axis]) ** 2;
    const both = metric === "cosine" ? long * length(at) : 0;
    const far = metric === "cosine" ? Math.max(0, both > 0 ? 1 - sum / both : both === 0 ? 1 : NaN) : Math.sqrt(sum);
    if (Number.isFinite(far)) neighbours.push([far, other]);
  }
  neighbours.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const some = neighbours.slice(0, k);
  return { rows: some.map(([, other]) => other), distances: some.map(([far]) => far) };
}
