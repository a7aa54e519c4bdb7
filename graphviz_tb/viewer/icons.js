// Icons of buttons: strokes in a square of 16 px.

import { el, svgEl } from "./dom.js";
import { t } from "./strings.js";

/** @type {Record<string, string>} */
const ICONS = {
  openAll: "M4 3.5l4 4 4-4M4 8.5l4 4 4-4",
  closeAll: "M4 7.5l4-4 4 4M4 12.5l4-4 4 4",
  traceInputs: "M2 3.5c4 0 4 4.5 7 4.5M2 12.5c4 0 4-4.5 7-4.5M14 8a2.2 2.2 0 1 1-4.4 0A2.2 2.2 0 0 1 14 8",
  traceOutputs: "M14 3.5c-4 0-4 4.5-7 4.5M14 12.5c-4 0-4-4.5-7-4.5M6.4 8A2.2 2.2 0 1 1 2 8a2.2 2.2 0 0 1 4.4 0",
  toAux: "M2.5 3.5h7v9h-7zM11.5 8H15M13 6l2 2-2 2",
  toMain: "M6.5 3.5h7v9h-7zM4.5 8H1M3 6L1 8l2 2",
  group: "M2.5 6h11v7h-11zM4 3.5h8",
  ungroup: "M2.5 3h5v4h-5zM8.5 9h5v4h-5zM9.5 5h4M2.5 11h4",
  allMembers: "M2.5 4h11M2.5 8h11M2.5 12h11",
  copyName: "M6 6h7.5v7.5H6zM10 6V2.5H2.5V10H6",
  fitNode: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10M8 6.5v3M6.5 8h3",
  compare: "M2.5 3h4.5v10H2.5zM9 3h4.5v10H9z",
  "profile.inTimeline": "M2.5 13h11M4 10.5V7M7 10.5V4M10 10.5V8M13 10.5V5",
  "log.pin": "M5.5 2.5h5M6.5 2.5v4L4 9.5h8L9.5 6.5v-4M8 9.5v4",
  "log.wide": "M9.5 2.5h4v4M13.5 2.5L9 7M6.5 13.5h-4v-4M2.5 13.5L7 9",
  "log.more": "M3.5 8h.01M8 8h.01M12.5 8h.01",
  "log.about": "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2M8 7.5v3.5M8 5.2v.01",
  "log.inGraph": "M5 3.5h7.5V11M12.5 3.5l-9 9",
  unfold: "m4.5 6.5 3.5 3.5 3.5-3.5",
};

/** An icon for a button with a name. @param {string} key */
export function iconElement(key) {
  const picture = svgEl("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  svgEl("path", { d: ICONS[key] }, picture);
  return picture;
}

/** A button with an icon; its name is read aloud and shown as a tooltip. @param {string} key @param {() => any} run @param {Record<string, any>} [more] */
export function iconButton(key, run, more = {}) {
  return el("button", { class: "icon", "aria-label": t(key), title: t(key), onclick: run, ...more }, iconElement(key));
}
