// Slices of a timeline in columns, by row and start: those in view, the one at a position, the marked ones.

import { decodeColumns } from "./feed.js";

/**
 * @typedef {{row: ArrayLike<number>, start: ArrayLike<number>, duration: ArrayLike<number>, count: ArrayLike<number>, busy: ArrayLike<number>, hit: ArrayLike<number>, name: ArrayLike<number>, node: ArrayLike<number>, kind: ArrayLike<number>, waited: ArrayLike<number>, names: string[], nodes: (string | null)[], hits?: number, busyHits?: number, marks?: [number, number, number][]}} SliceColumns
 * @typedef {{profiles: () => Promise<TracedStep[]>, profilesLeft?: () => number, profileTable: (id: string) => Promise<any>, slices: (id: string, wanted: SliceRequest, signal?: AbortSignal) => Promise<SliceColumns>}} ProfileFeed
 * @typedef {{from: number, to: number, px: number, match: string, node: string | null}} SliceRequest
 */

export const SLICE_KINDS = ["compute", "input", "launch", "call", "kernels"];
const MAX_MARKED_SLICES = 1000; // marked slices that can be stepped through

/** @param {ArrayBuffer} data @returns {SliceColumns} */
export function decodeSlices(data) {
  const { head, blocks } = decodeColumns(data);
  const out = /** @type {any} */ ({ names: head.names, nodes: head.nodes, hits: head.hits, busyHits: head.busyHits, marks: head.marks });
  for (const name of ["row", "start", "duration", "count", "busy", "hit", "name", "node", "kind", "waited"]) out[name] = blocks.get(name) ?? [];
  return out;
}

/** Mark the slices of a file: by a text in a name, or by a node and its content. @param {SliceColumns} slices @param {string} match @param {string | null} node @returns {SliceColumns} */
export function markedSlices(slices, match, node) {
  if (!match && node === null) return { ...slices, hit: new Uint8Array(slices.row.length), hits: undefined, marks: undefined };
  const text = match.toLowerCase();
  const byName = slices.names.map((name) => text !== "" && name.toLowerCase().includes(text));
  const inside = (/** @type {string} */ name) => node !== null && (node === "" || name === node || name.startsWith(`${node}/`) || name.startsWith(`${node}::`));
  const byNode = slices.nodes.map((name) => name !== null && ((text !== "" && name.toLowerCase().includes(text)) || inside(name)));
  const hit = Uint8Array.from(slices.name, (name, at) => Number(byName[name] || byNode[slices.node[at]]));
  let [hits, busyHits] = [0, 0];
  /** @type {[number, number, number][]} */
  const marks = [];
  hit.forEach((isHit, at) => {
    if (!isHit) return;
    hits += slices.count[at];
    busyHits += slices.busy[at];
    marks.push([slices.row[at], slices.start[at], slices.duration[at]]);
  });
  return { ...slices, hit, hits, busyHits, marks: marks.sort((a, b) => a[1] - b[1]).slice(0, MAX_MARKED_SLICES) };
}

/** The index of the first slice of each row, and the count of slices at the end. @param {SliceColumns} slices @param {number} rows */
export function rowStarts(slices, rows) {
  const out = new Int32Array(rows + 1).fill(slices.row.length);
  for (let at = slices.row.length - 1; at >= 0; at--) out[slices.row[at]] = at;
  for (let row = rows - 1; row >= 0; row--) out[row] = Math.min(out[row], out[row + 1]);
  return out;
}

/** The first slice of a run that ends after a time. @param {SliceColumns} slices @param {number} low @param {number} high @param {number} time */
export function firstAfter({ start, duration }, low, high, time) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] + duration[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
