// The log of the server that sent the page.

import { columnsOf, histogramsOf, pointsOf } from "../logs/feed.js";
import { slicesOf } from "../logs/slices.js";
import { Server, ServerRefusal } from "./server.js";

const MOST_SERIES = 200; // that one request may ask for
const MOST_STEPS = { ridges: 51, bands: 501 }; // of a chart of histograms, as TensorBoard shows them
const POINTS = { image: "media", audio: "media", text: "text", pr_curve: "pr", tensor: "tensors" };

export class ServerLog extends Server {
  /** @returns {Promise<LogState>} */
  state() {
    return this.json("api/state");
  }

  /** @param {string} [kind] none: of all kinds @returns {Promise<LogTag[]>} */
  async tags(kind) {
    return (await this.json(kind ? `api/tags?kind=${kind}` : "api/tags")).tags;
  }

  /** Where tags belong in a graph: nowhere while none is read, or where two are compared. @param {string} graph @returns {Promise<JoinsTold>} */
  async joins(graph) {
    return graph && !graph.includes("-") ? this.json(`api/graphs/${graph}/joins`) : { joins: [], apart: [] };
  }

  /** A graph in the colours of what was logged at a step. @param {string} graph @param {Record<string, any>} wanted @returns {Promise<{head: any, blocks: Map<string, ArrayLike<number>>}>} */
  async colours(graph, wanted) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(wanted)) if (value !== undefined && value !== "") query.set(key, String(value));
    return columnsOf(await (await this.ask(`api/graphs/${graph}/logged?${query}`)).arrayBuffer());
  }

  /** The points of series, by their ids. @param {number[]} ids @param {Wanted} wanted @param {AbortSignal} [signal] @returns {Promise<Map<number, Points>>} */
  async series(ids, wanted, signal) {
    const query = new URLSearchParams({ restarts: "all" }); // superseded points are drawn faint
    for (const [key, value] of Object.entries(wanted)) if (value !== undefined) query.set(key, String(value));
    const out = new Map();
    for (let at = 0; at < ids.length; at += MOST_SERIES) {
      const some = ids.slice(at, at + MOST_SERIES);
      const answer = await this.ask(`api/series/${some.join(",")}?${query}`, { signal });
      const { head, blocks } = columnsOf(await answer.arrayBuffer());
      for (const id of some) out.set(id, pointsOf(blocks, id, head));
    }
    return out;
  }

  /** @param {number} series @param {"ridges" | "bands"} view @param {AbortSignal} [signal] @returns {Promise<HistogramColumns>} */
  async histograms(series, view, signal) {
    return histogramsOf(await (await this.ask(`api/histograms/${series}?view=${view}&steps=${MOST_STEPS[view]}`, { signal })).arrayBuffer(), series);
  }

  /** @param {number[]} ids @param {AbortSignal} [signal] @returns {Promise<Map<number, StepList>>} */
  async steps(ids, signal) {
    const out = new Map();
    for (let at = 0; at < ids.length; at += MOST_SERIES) {
      const some = ids.slice(at, at + MOST_SERIES);
      const { blocks } = columnsOf(await (await this.ask(`api/steps/${some.join(",")}`, { signal })).arrayBuffer());
      for (const id of some) out.set(id, { step: blocks.get(`${id}.step`) ?? [], wall: blocks.get(`${id}.wall`) ?? [], n: blocks.get(`${id}.step`)?.length ?? 0 });
    }
    return out;
  }

  /** The last point at a step or before it. @param {string} kind @param {number} series @param {number} at @param {AbortSignal} [signal] */
  async point(kind, series, at, signal) {
    return (await this.ask(`api/${POINTS[/** @type {keyof typeof POINTS} */ (kind)]}/${series}?at=${at}`, { signal })).json();
  }

  /** The address of the bytes of an image or a sound. @param {{blob: number}} sample */
  async blob(sample) {
    return `api/blob/${sample.blob}`;
  }

  /** Charts that runs laid out. */
  custom() {
    return this.json("api/custom");
  }

  /** Hyperparameters and metrics of all sessions. */
  trials() {
    return this.json("api/hparams");
  }

  /** Embeddings, and the methods that lay them out. */
  embeddings() {
    return this.json("api/projector");
  }

  /** The points of an embedding on axes. @param {number} id @param {LayoutWanted} wanted */
  async cloud(id, wanted) {
    const query = new URLSearchParams(Object.entries(wanted).map(([key, value]) => [key, String(value)]));
    return columnsOf(await (await this.ask(`api/projector/${id}/points?${query}`)).arrayBuffer());
  }

  /** What is known of its points. @param {number} id */
  cloudColumns(id) {
    return this.json(`api/projector/${id}/metadata`);
  }

  /** The address of its sprite. @param {number} id */
  async cloudSprite(id) {
    return `api/projector/${id}/sprite`;
  }

  /** Whether the neighbours of a point can be asked for. @param {number} id */
  hasNeighbours(id) {
    return id >= 0;
  }

  /** @param {number} id @param {number} row @param {number} k @param {string} metric */
  cloudNeighbours(id, row, k, metric) {
    return this.json(`api/projector/${id}/neighbours?row=${row}&k=${k}&metric=${metric}`);
  }

  /** Begin to lay an embedding out. @param {number} id @param {LayoutWanted} wanted */
  layOut(id, wanted) {
    return this.post(`api/projector/${id}/layout?${new URLSearchParams(Object.entries(wanted).map(([key, value]) => [key, String(value)]))}`);
  }

  /** @param {number} id */
  cancelLayout(id) {
    return this.post(`api/projector/${id}/cancel`);
  }

  /** @returns {Promise<TracedStep[]>} */
  async profiles() {
    return (await this.json("api/profile")).profiles;
  }

  /** Where the time of a traced step goes; a long trace takes a while to be read. @param {string} id @returns {Promise<any>} */
  async profileTable(id) {
    for (;;) {
      try {
        return await this.json(`api/profile/${id}/table`);
      } catch (error) {
        if (!(error instanceof ServerRefusal) || error.status !== 409) throw error;
      }
    }
  }

  /** @param {string} id @param {SliceWanted} wanted @param {AbortSignal} [signal] */
  async slices(id, { from, to, px, match, node }, signal) {
    const query = new URLSearchParams({ from: String(Math.floor(from)), to: String(Math.ceil(to)), px: String(px) });
    if (match) query.set("match", match);
    if (node !== null) query.set("node", node);
    return slicesOf(await (await this.ask(`api/profile/${id}/slices?${query}`, { signal })).arrayBuffer());
  }

  /** Where all points are written to a file. @param {string} format @param {number[]} tags their ids */
  exportAddress(format, tags) {
    return `api/export?${new URLSearchParams({ format, kind: "scalar", tags: tags.join(",") })}`;
  }
}
