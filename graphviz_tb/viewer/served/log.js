// The log of the server that sent the page.

import { decodeColumns, decodeHistograms, decodePoints } from "../logs/feed.js";
import { decodeSlices } from "../logs/slices.js";
import { Server, ServerRefusal } from "./server.js";

const MAX_SERIES_PER_REQUEST = 200; // series in one request
const MAX_HISTOGRAM_STEPS = { ridges: 51, bands: 501 }; // of a chart of histograms, as TensorBoard shows them
const POINT_ROUTES = { image: "media", audio: "media", text: "text", pr_curve: "pr", tensor: "tensors" };

export class ServerLog extends Server {
  /** @returns {Promise<LogState>} */
  state() {
    return this.requestJson("api/state");
  }

  /** @param {string} [kind] none: of all kinds @returns {Promise<LogTag[]>} */
  async tags(kind) {
    return (await this.requestJson(kind ? `api/tags?kind=${kind}` : "api/tags")).tags;
  }

  /** The rows of a graph that tags belong to; empty while no graph is loaded or two are compared. @param {string} graph @returns {Promise<GraphJoins>} */
  async joins(graph) {
    return graph && !graph.includes("-") ? this.requestJson(`api/graphs/${graph}/joins`) : { joins: [], apart: [] };
  }

  /** The colours of a graph by the values logged at a step. @param {string} graph @param {Record<string, any>} wanted @returns {Promise<{head: any, blocks: Map<string, ArrayLike<number>>}>} */
  async colours(graph, wanted) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(wanted)) if (value !== undefined && value !== "") query.set(key, String(value));
    return decodeColumns(await (await this.request(`api/graphs/${graph}/logged?${query}`)).arrayBuffer());
  }

  /** The points of series, by their ids. @param {number[]} ids @param {SeriesRequest} wanted @param {AbortSignal} [signal] @returns {Promise<Map<number, Points>>} */
  async series(ids, wanted, signal) {
    const query = new URLSearchParams({ restarts: "all" }); // superseded points are drawn faint
    for (const [key, value] of Object.entries(wanted)) if (value !== undefined) query.set(key, String(value));
    const out = new Map();
    for (let at = 0; at < ids.length; at += MAX_SERIES_PER_REQUEST) {
      const some = ids.slice(at, at + MAX_SERIES_PER_REQUEST);
      const answer = await this.request(`api/series/${some.join(",")}?${query}`, { signal });
      const { head, blocks } = decodeColumns(await answer.arrayBuffer());
      for (const id of some) out.set(id, decodePoints(blocks, id, head));
    }
    return out;
  }

  /** @param {number} series @param {"ridges" | "bands"} view @param {AbortSignal} [signal] @returns {Promise<HistogramColumns>} */
  async histograms(series, view, signal) {
    return decodeHistograms(await (await this.request(`api/histograms/${series}?view=${view}&steps=${MAX_HISTOGRAM_STEPS[view]}`, { signal })).arrayBuffer(), series);
  }

  /** @param {number[]} ids @param {AbortSignal} [signal] @returns {Promise<Map<number, StepList>>} */
  async steps(ids, signal) {
    const out = new Map();
    for (let at = 0; at < ids.length; at += MAX_SERIES_PER_REQUEST) {
      const some = ids.slice(at, at + MAX_SERIES_PER_REQUEST);
      const { blocks } = decodeColumns(await (await this.request(`api/steps/${some.join(",")}`, { signal })).arrayBuffer());
      for (const id of some) out.set(id, { step: blocks.get(`${id}.step`) ?? [], wall: blocks.get(`${id}.wall`) ?? [], n: blocks.get(`${id}.step`)?.length ?? 0 });
    }
    return out;
  }

  /** The last point at a step or before it. @param {string} kind @param {number} series @param {number} at @param {AbortSignal} [signal] */
  async point(kind, series, at, signal) {
    return (await this.request(`api/${POINT_ROUTES[/** @type {keyof typeof POINT_ROUTES} */ (kind)]}/${series}?at=${at}`, { signal })).json();
  }

  /** The address of the bytes of an image or a sound. @param {{blob: number}} sample */
  async blob(sample) {
    return `api/blob/${sample.blob}`;
  }

  /** Charts that runs laid out. */
  custom() {
    return this.requestJson("api/custom");
  }

  /** Hyperparameters and metrics of all sessions. */
  trials() {
    return this.requestJson("api/hparams");
  }

  /** Embeddings, and the methods that lay them out. */
  embeddings() {
    return this.requestJson("api/projector");
  }

  /** The points of an embedding on axes. @param {number} id @param {LayoutRequest} wanted */
  async cloud(id, wanted) {
    const query = new URLSearchParams(Object.entries(wanted).map(([key, value]) => [key, String(value)]));
    return decodeColumns(await (await this.request(`api/projector/${id}/points?${query}`)).arrayBuffer());
  }

  /** The metadata of its points. @param {number} id */
  cloudColumns(id) {
    return this.requestJson(`api/projector/${id}/metadata`);
  }

  /** The address of its sprite. @param {number} id */
  async cloudSprite(id) {
    return `api/projector/${id}/sprite`;
  }

  /** Whether the neighbours of a point can be requested. @param {number} id */
  hasNeighbours(id) {
    return id >= 0;
  }

  /** @param {number} id @param {number} row @param {number} k @param {string} metric */
  cloudNeighbours(id, row, k, metric) {
    return this.requestJson(`api/projector/${id}/neighbours?row=${row}&k=${k}&metric=${metric}`);
  }

  /** Start the layout of an embedding. @param {number} id @param {LayoutRequest} wanted */
  layOut(id, wanted) {
    return this.post(`api/projector/${id}/layout?${new URLSearchParams(Object.entries(wanted).map(([key, value]) => [key, String(value)]))}`);
  }

  /** @param {number} id */
  cancelLayout(id) {
    return this.post(`api/projector/${id}/cancel`);
  }

  /** @returns {Promise<TracedStep[]>} */
  async profiles() {
    return (await this.requestJson("api/profile")).profiles;
  }

  /** The profile of a traced step; reading a long trace takes a while. @param {string} id @returns {Promise<any>} */
  async profileTable(id) {
    for (;;) {
      try {
        return await this.requestJson(`api/profile/${id}/table`);
      } catch (error) {
        if (!(error instanceof ServerRefusal) || error.status !== 409) throw error;
      }
    }
  }

  /** @param {string} id @param {SliceRequest} wanted @param {AbortSignal} [signal] */
  async slices(id, { from, to, px, match, node }, signal) {
    const query = new URLSearchParams({ from: String(Math.floor(from)), to: String(Math.ceil(to)), px: String(px) });
    if (match) query.set("match", match);
    if (node !== null) query.set("node", node);
    return decodeSlices(await (await this.request(`api/profile/${id}/slices?${query}`, { signal })).arrayBuffer());
  }

  /** The address of a file with all points. @param {string} format @param {number[]} tags their ids */
  exportAddress(format, tags) {
    return `api/export?${new URLSearchParams({ format, kind: "scalar", tags: tags.join(",") })}`;
  }
}
