// Draw a timeline: the axis, the names of the lanes, and the slices in view, at most one per pixel.

import { visibleText } from "../dom.js";
import { t } from "../strings.js";
import { ticksOf } from "./curves.js";
import { nanosWord } from "./profile_words.js";
import { SLICE_KINDS, firstAfter } from "./slices.js";
import { LANE_PX, shortDevice } from "./timeline.js";

const MIN_NAMED_WIDTH_PX = 34; // least width of a slice with its name

/** A hash of a text. @param {string} text */
function textHash(text) {
  let sum = 7;
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) >>> 0;
  return sum;
}

/** @param {CanvasRenderingContext2D} g @param {Timeline} line */
export function paintTimeline(g, line) {
  const look = getComputedStyle(line.root);
  const of = (/** @type {string} */ name) => look.getPropertyValue(`--${name}`).trim();
  const colours = { text: of("text"), secondary: of("secondary"), ground: of("ground"), soft: of("soft"), line: of("line"), accent: of("accent"), bad: of("bad"), hues: line.hooks.hues() };
  g.clearRect(0, 0, line.width, line.height);
  g.font = `11px ${look.fontFamily}`;
  g.textBaseline = "middle";
  paintLanes(g, line, colours);
  g.save();
  g.beginPath();
  g.rect(line.laneNameWidth, LANE_PX.axis, line.innerWidth, line.height - LANE_PX.axis);
  g.clip();
  line.rectangles = 0;
  if (line.slices) for (const row of line.visibleRows()) paintRow(g, line, row, colours);
  g.restore();
  paintAxis(g, line, colours);
}

/** The name of each device above its lanes, and of each thread and stream beside its rows. @param {CanvasRenderingContext2D} g @param {Timeline} line @param {any} colours */
function paintLanes(g, line, colours) {
  let y = LANE_PX.axis - line.scrolledPx;
  g.textAlign = "left";
  line.lanes.forEach(([device, thread, , levels], at) => {
    const head = line.headHeight(at);
    if (head) {
      g.fillStyle = colours.soft;
      g.fillRect(0, y, line.width, LANE_PX.head - 2);
      g.fillStyle = colours.text;
      g.fillText(fittedText(g, visibleText(shortDevice(device) || t("profile.timeline")), line.width - 16), 8, y + LANE_PX.head / 2 - 1);
    }
    y += head;
    g.fillStyle = colours.secondary;
    if (y + LANE_PX.row > LANE_PX.axis && y < line.height) g.fillText(fittedText(g, visibleText(thread), line.laneNameWidth - 16), 8, y + LANE_PX.row / 2);
    y += levels * LANE_PX.row + LANE_PX.gap;
  });
}

/** @param {CanvasRenderingContext2D} g @param {Timeline} line @param {any} colours */
function paintAxis(g, line, colours) {
  g.fillStyle = colours.ground;
  g.fillRect(0, 0, line.width, LANE_PX.axis - 1);
  g.strokeStyle = colours.line;
  g.fillStyle = colours.secondary;
  const range = { low: line.view.from, high: line.view.to, log: false };
  for (const tick of ticksOf(range, Math.max(2, Math.floor(line.innerWidth / 110)))) {
    const x = Math.round(line.xPosition(tick)) + 0.5;
    if (x < line.laneNameWidth || x > line.width - 2) continue;
    g.beginPath();
    g.moveTo(x, LANE_PX.axis - 6);
    g.lineTo(x, line.height);
    g.globalAlpha = 0.5;
    g.stroke();
    g.globalAlpha = 1;
    g.textAlign = x > line.width - 40 ? "right" : "center";
    g.fillText(nanosWord(tick), x, LANE_PX.axis / 2 - 1);
  }
  g.beginPath();
  g.moveTo(0, LANE_PX.axis - 0.5);
  g.lineTo(line.width, LANE_PX.axis - 0.5);
  g.stroke();
}

/** The slices of one row that are in view. @param {CanvasRenderingContext2D} g @param {Timeline} line @param {{row: number, level: number, y: number}} place @param {any} colours */
function paintRow(g, line, { row, y }, colours) {
  const slices = /** @type {SliceColumns} */ (line.slices);
  const stop = line.rowStarts[row + 1];
  const marking = slices.hits !== undefined;
  const { selected, view } = line;
  let drawn = -1; // right end of the last drawn slice in px
  for (let at = firstAfter(slices, line.rowStarts[row], stop, view.from); at < stop && slices.start[at] <= view.to; at++) {
    const x = line.xPosition(slices.start[at]);
    const right = Math.max(x + 1, line.xPosition(slices.start[at] + slices.duration[at]));
    const hit = marking && slices.hit[at] > 0;
    if (right < drawn + 0.75 && !hit) continue; // hidden by the previous slice
    drawn = right;
    line.rectangles++;
    const left = Math.max(line.laneNameWidth - 2, x);
    const width = Math.max(1, Math.min(right, line.width + 2) - left - (right - x > 3 ? 1 : 0));
    const kind = SLICE_KINDS[slices.kind[at]];
    const name = slices.names[slices.name[at]];
    const [fill, text] = sliceColours(kind, name, slices.nodes[slices.node[at]], colours);
    g.globalAlpha = marking && !hit ? 0.22 : slices.count[at] > 1 ? 0.45 + 0.55 * Math.min(1, slices.busy[at] / Math.max(1, slices.duration[at])) : 1;
    g.fillStyle = fill;
    g.fillRect(left, y + 1, width, LANE_PX.row - 3);
    g.globalAlpha = marking && !hit ? 0.45 : 1;
    if (kind === "input") hatchRow(g, left, y + 1, width, LANE_PX.row - 3, text);
    if (width > MIN_NAMED_WIDTH_PX && slices.count[at] === 1) {
      g.fillStyle = text;
      g.textAlign = "left";
      g.fillText(fittedText(g, visibleText(sliceLabel(name)), width - 8), left + 4, y + LANE_PX.row / 2);
    }
    g.globalAlpha = 1;
    const chosen = selected && selected.row === row && slices.start[at] <= selected.start && slices.start[at] + slices.duration[at] >= selected.start + selected.duration;
    if (hit || chosen) {
      g.strokeStyle = chosen ? colours.text : colours.accent;
      g.lineWidth = chosen ? 2 : 1.5;
      g.strokeRect(left + 0.5, y + 1.5, Math.max(1, width - 1), LANE_PX.row - 4);
      g.lineWidth = 1;
    }
  }
}

/** The colours of a slice: of its box and of its text. @param {string} kind @param {string} name @param {string | null} node @param {any} colours @returns {[string, string]} */
function sliceColours(kind, name, node, colours) {
  if (kind === "launch" || kind === "call") return [colours.line, colours.text];
  if (kind === "input") return [colours.bad, colours.ground];
  if (node === null) return [colours.secondary, colours.ground];
  return [colours.hues[textHash(sliceLabel(name).replace(/_\d+$/, "")) % colours.hues.length], colours.ground];
}

/** The last part of a name: what an op does. @param {string} name */
const sliceLabel = (name) => name.slice(name.lastIndexOf("/", name.length - 2) + 1);

/** Hatching of a waiting slice, so that colour is not the only sign. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} width @param {number} height @param {string} colour */
function hatchRow(g, x, y, width, height, colour) {
  if (width < 4) return;
  g.save();
  g.beginPath();
  g.rect(x, y, width, height);
  g.clip();
  g.globalAlpha *= 0.35;
  g.strokeStyle = colour;
  g.beginPath();
  for (let at = Math.floor((x - height) / 6) * 6; at < x + width; at += 6) {
    g.moveTo(at, y + height);
    g.lineTo(at + height, y);
  }
  g.stroke();
  g.restore();
}

/** A text cut at its end so that it fits. @param {CanvasRenderingContext2D} g @param {string} text @param {number} room */
function fittedText(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  let [low, high] = [0, Math.min(text.length, Math.ceil(room / 3))];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (g.measureText(`${text.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low ? `${text.slice(0, low)}…` : "";
}
