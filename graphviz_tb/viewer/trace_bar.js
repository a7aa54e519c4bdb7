// The bar of a trace: its node, its length, and a button that ends it.

import { byId, el, removeChildren, shortText } from "./dom.js";
import { OP } from "./levels.js";
import { opsWord, t } from "./strings.js";

const HOP_CHOICES = [1, 2, 3, 5, 10, Infinity]; // hops that the list offers

/** The length of a trace as written in the address. @param {number} hops */
export const hopsText = (hops) => (hops === Infinity ? "-all" : hops === 1 ? "" : `-${hops}`);

/** Parse the trace of an address. @param {string} text @returns {{way: string, hops: number, name: string} | null} */
export function parseTrace(text) {
  const match = /^(in|out)(?:-(all|[1-9]\d{0,3}))?:(.*)$/s.exec(text);
  return match && { way: match[1], hops: match[2] === "all" ? Infinity : Number(match[2] ?? 1), name: match[3] };
}

export class TraceBar {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.panel = byId("tracing");
  }

  draw() {
    const { app, panel } = this;
    const { traced } = app.state;
    panel.hidden = !traced;
    if (!traced) return removeChildren(panel);
    const { path, way, hops, rows } = traced;
    const [row] = path.slice(-1);
    const reached = [...rows].filter((reachedRow) => (reachedRow < row || reachedRow >= app.state.graph.end[row]) && app.state.graph.kind[reachedRow] === OP).length; // without its own content
    const word = t(way === "in" ? "inputsOf" : "outputsOf", { name: shortText(app.state.leafName(path), 40) });
    const reaches = HOP_CHOICES.includes(hops) ? HOP_CHOICES : [...HOP_CHOICES, hops].sort((a, b) => a - b);
    const hopsLabel = (/** @type {number} */ count) => (count === Infinity ? t("allTheWay") : count === 1 ? t("oneHop") : t("hops", { n: count }));
    const choice = el(
      "select",
      { "aria-label": t("reach"), onchange: (/** @type {any} */ event) => app.actions.trace(path, way, Number(event.target.value)) },
      ...reaches.map((count) => el("option", { value: String(count), selected: count === hops }, hopsLabel(count))),
    );
    panel.replaceChildren(
      el("span", { role: "status" }, `${word} · ${opsWord(reached)}`),
      choice,
      el("button", { onclick: () => app.actions.endTrace() }, t("traceOff")),
    );
  }
}
