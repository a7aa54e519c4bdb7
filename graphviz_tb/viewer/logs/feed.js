// The data source of the pages of a log: runs, tags, and points in columns, from a server or from the file.

/**
 * @typedef {{code: string, text: string, count: number}} LogNotice
 * @typedef {{id: number, name: string, first: number | null, last: number | null, lastStep: number | string | null, state: string, points: number, style: [number, number[]], notices: LogNotice[]}} LogRun
 * @typedef {{title: string, generation: string, runs: LogRun[], graphs: any[], ready?: boolean, kinds: Record<string, number>, hues: Record<string, string[]>, left?: number, notices?: LogNotice[]}} LogState
 * @typedef {{id: number, name: string, group: string, kind: string, title: string, about: string, runs: number[][]}} LogTag
 * @typedef {{step: ArrayLike<number>, wall: ArrayLike<number>, value: ArrayLike<number>, superseded?: ArrayLike<number>, smoothed?: ArrayLike<number>, n: number}} Points
 * @typedef {{state: () => Promise<LogState>, tags: (kind?: string) => Promise<LogTag[]>, joins: (graph: string) => Promise<GraphJoins>, colours?: (graph: string, wanted: Record<string, any>) => Promise<{head: any, blocks: Map<string, ArrayLike<number>>}>, series: (ids: number[], wanted: SeriesRequest, signal?: AbortSignal) => Promise<Map<number, Points>>, histograms: (series: number, view: "ridges" | "bands", signal?: AbortSignal) => Promise<HistogramColumns>, steps: (ids: number[], signal?: AbortSignal) => Promise<Map<number, StepList>>, point: (kind: string, series: number, at: number, signal?: AbortSignal) => Promise<any>, blob: (sample: {blob: number, type: string}) => Promise<string>, trials: () => Promise<{columns: TrialColumn[], rows: Trial[]}>, custom: () => Promise<CustomLayout>, embeddings: () => Promise<any>, cloud: (id: number, wanted: LayoutRequest) => Promise<{head: any, blocks: Map<string, ArrayLike<number>>}>, cloudColumns: (id: number) => Promise<{columns: CloudColumn[], notices: any[]}>, cloudSprite: (id: number) => Promise<string>, hasNeighbours: (id: number) => boolean, cloudNeighbours: (id: number, row: number, k: number, metric: string) => Promise<{rows: number[], distances: number[]}>, layOut: (id: number, wanted: LayoutRequest) => Promise<any>, cancelLayout: (id: number) => Promise<any>, exportAddress: (format: string, tags: number[]) => string, listen: (heard: (name: string, data: any) => void, standing: (live: boolean) => void) => void}} LogFeed
 * @typedef {{n: number, step: ArrayLike<number>, wall: ArrayLike<number>, borders: ArrayLike<number>, count: ArrayLike<number>, bands: ArrayLike<number>}} HistogramColumns for each of `n` shown steps the counts between common borders, or nine percentiles
 * @typedef {{step: ArrayLike<number>, wall: ArrayLike<number>, n: number}} StepList the steps of a series that can be requested, and their number
 * @typedef {{from?: number, to?: number, axis: string, px: number, smooth?: number}} SeriesRequest
 */

const COLUMN_TYPES = { i4: Int32Array, f4: Float32Array, f8: Float64Array, u1: Uint8Array };

/** The blocks of an answer in columns, by name. @param {ArrayBuffer} data @returns {{head: any, blocks: Map<string, ArrayLike<number>>}} */
export function decodeColumns(data) {
  const long = new DataView(data).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, long)).trimEnd());
  const start = Math.ceil((4 + long) / 8) * 8;
  const blocks = new Map();
  for (const { name, type, count, at } of head.blocks) {
    blocks.set(name, new COLUMN_TYPES[/** @type {keyof typeof COLUMN_TYPES} */ (type)](data, start + at, count));
    if (head.exact?.[name]) blocks.get(name).exact = head.exact[name];
  }
  return { head, blocks };
}

/** @param {Map<string, ArrayLike<number>>} blocks @param {number} id @param {any} head @returns {Points} */
export function decodePoints(blocks, id, head) {
  const of = (/** @type {string} */ name) => blocks.get(`${id}.${name}`);
  const step = of("step") ?? [];
  const superseded = /** @type {Uint8Array | undefined} */ (of("superseded"));
  return { step, wall: of("wall") ?? [], value: of("value") ?? [], superseded: superseded?.includes(1) ? superseded : undefined, smoothed: of("smoothed"), n: head.series?.[id]?.points ?? step.length };
}

/** @param {ArrayBuffer} data @param {number} id @returns {HistogramColumns} */
export function decodeHistograms(data, id) {
  const { head, blocks } = decodeColumns(data);
  const of = (/** @type {string} */ name) => blocks.get(`${id}.${name}`) ?? [];
  return { n: head.series?.[id]?.points ?? of("step").length, step: of("step"), wall: of("wall"), borders: of("borders"), count: of("count"), bands: of("bands") };
}

/** An integer of a column; a text if a JavaScript number cannot represent it. @param {ArrayLike<number>} column @param {number} at @returns {number | string} */
export const exactNumber = (column, at) => (Number.isSafeInteger(column[at]) ? column[at] : (/** @type {any} */ (column).exact?.[at] ?? column[at]));
