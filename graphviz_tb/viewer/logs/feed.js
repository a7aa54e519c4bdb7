// Where the pages of a log get their data: a server.

/**
 * @typedef {{id: number, name: string, first: number | null, last: number | null, lastStep: number | string | null, state: string, points: number, style: [number, number[]], notices: any[]}} LogRun
 * @typedef {{title: string, generation: string, runs: LogRun[], graphs: GraphTold[], kinds: Record<string, number>, hues: Record<string, string[]>}} LogState
 * @typedef {{id: number, name: string, group: string, kind: string, title: string, about: string, runs: number[][]}} LogTag
 * @typedef {{step: ArrayLike<number>, wall: ArrayLike<number>, value: ArrayLike<number>, superseded?: ArrayLike<number>, smoothed?: ArrayLike<number>, n: number}} Points
 * @typedef {{from?: number, to?: number, axis: string, px: number, smooth?: number}} Wanted
 */

const COLUMN_TYPES = { i4: Int32Array, f4: Float32Array, f8: Float64Array, u1: Uint8Array };
const MOST_SERIES = 200; // that one request may ask for

class ServerLog extends Server {
  /** @returns {Promise<LogState>} */
  state() {
    return this.json("api/state");
  }

  /** @param {string} kind @returns {Promise<LogTag[]>} */
  async tags(kind) {
    return (await this.json(`api/tags?kind=${kind}`)).tags;
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

  /** Where all points are written to a file. @param {string} format @param {number[]} tags their ids */
  exportAddress(format, tags) {
    return `api/export?${new URLSearchParams({ format, kind: "scalar", tags: tags.join(",") })}`;
  }
}

/** The blocks of an answer in columns, by name. @param {ArrayBuffer} data @returns {{head: any, blocks: Map<string, ArrayLike<number>>}} */
function columnsOf(data) {
  const long = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, long)).trimEnd());
  const start = Math.ceil((4 + long) / 8) * 8;
  const blocks = new Map();
  for (const { name, type, count, at } of head.blocks) {
    blocks.set(name, new COLUMN_TYPES[/** @type {keyof typeof COLUMN_TYPES} */ (type)](data, start + at, count));
  }
  return { head, blocks };
}

/** @param {Map<string, ArrayLike<number>>} blocks @param {number} id @param {any} head @returns {Points} */
function pointsOf(blocks, id, head) {
  const of = (/** @type {string} */ name) => blocks.get(`${id}.${name}`);
  const step = of("step") ?? [];
  return { step, wall: of("wall") ?? [], value: of("value") ?? [], superseded: of("superseded"), smoothed: of("smoothed"), n: head.series?.[id]?.points ?? step.length };
}
