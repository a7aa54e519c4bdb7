// The page of a diff: the state of each line, and the list of changes, which steps through the picture.

import { Colouring } from "./colours.js";
import { byId, el, raisePanel, shortText } from "./dom.js";
import { narrowScreen } from "./input.js";
import { countWord, t } from "./strings.js";

const [UNCHANGED, ADDED, REMOVED] = [1, 2, 4];

/** The colouring of a diff. */
export class ComparedColouring extends Colouring {
  /** @param {Graph} graph @param {any} head @param {Int32Array} columns @param {any} legend @param {Record<string, number>} index @param {Int32Array} bits */
  constructor(graph, head, columns, legend, index, bits) {
    super(graph, "diff", head, columns);
    this.levelStarts = index;
    this.edgeStates = bits;
    this.legendRowsByTheme = [0, 1].map((side) =>
      legend.map((/** @type {any[]} */ [label, pair]) => new layout.LegendRow(label, new layout.Fill(...pair[side]))),
    );
  }

  /** The theme without the colour of reference edges and marks, which would look like removed ones. @param {string} name */
  setTheme(name) {
    super.setTheme(name);
    const theme = layout.THEMES.get(name);
    const quiet = { mark: theme.data, sign: theme.background, reference: theme.secondary };
    this.theme = Object.assign(Object.create(Object.getPrototypeOf(theme)), theme, quiet);
  }

  /** @param {number[]} _ */
  legend(_) {
    return this.legendRowsByTheme[this.themeIndex];
  }

  /** The state of the edges behind one metaedge, bridge or mark of a level. @param {any} identity */
  edgeState({ path, kind, index }) {
    const level = this.graph.level(path);
    const place = level && this.graph.levelPlace(path);
    const start = place ? this.levelStarts[place.written] : undefined;
    if (start === undefined) return UNCHANGED;
    const { edges, bridges } = level.metagraph;
    const from = kind === "edge" ? 0 : kind === "bridge" ? edges.length : edges.length + bridges.length;
    return this.edgeStates[start + from + index];
  }

  /** @param {any} line @returns {any} */
  lineTint(line) {
    const identities = line.identities ?? [line.identity];
    let bits = 0;
    for (const identity of identities) if (identity.index >= 0) bits |= this.edgeState(identity);
    const changed = bits & (ADDED | REMOVED);
    if (!changed) return null;
    const sign = changed === (ADDED | REMOVED) ? "~" : changed === ADDED ? "+" : "−";
    const [colour, faint] = this.graph.head.tints[sign][this.themeIndex];
    const whole = bits === changed && sign !== "~";
    return new layout.Tint(whole ? colour : faint, sign === "−" ? [6, 3] : [], sign, whole);
  }
}

/** The list of changes. */
export class ChangeList {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.current = -1;
    this.panel = byId("changes");
    /** @type {any[]} each change and each of its consequences, in the order in which they are walked through */
    this.changes = app.state.head.changes;
    this.draw();
    this.toggle(!narrowScreen.matches);
  }

  toggle(show = this.panel.hidden) {
    this.panel.hidden = !show;
    if (show) raisePanel(this.panel);
    document.body.classList.toggle("comparing", show);
  }

  draw() {
    const button = (/** @type {string} */ key, /** @type {number} */ step) => el("button", { onclick: () => this.goTo(this.current + step) }, t(key));
    const count = this.changes.length;
    const list = el("ol", { role: "list", "aria-label": t("changes") });
    this.changes.forEach((change, at) => list.append(this.changeItem(change, () => this.goTo(at), at)));
    const { same, remarks, beside } = this.app.state.head;
    this.panel.replaceChildren(
      el("div", { class: "walk" }, el("strong", {}, `${t("changes")} · ${countWord(count)}`), count > 0 && el("span", { class: "steps" }, button("previous", -1), button("next", 1))),
      same ? el("p", { class: "remark", role: "status" }, t("same")) : "",
      list,
      beside.length ? this.foldedChanges("reconnected", beside) : "",
      ...remarks.map((/** @type {string} */ remark) => el("p", { class: "remark" }, shortText(remark, 300))),
    );
    this.markCurrent();
  }

  /** @param {any} change @param {() => void} go @param {number} at @returns {any} */
  changeItem(change, go, at) {
    const sign = el("span", { class: `sign ${CHANGE_CLASSES[change.sign] ?? ""}`, "aria-hidden": "true" }, change.sign);
    const item = el("li", { role: "listitem", "data-change": at }, el("button", { class: "change", title: shortText(change.full, 600), onclick: go }, sign, el("span", {}, shortText(change.text, 400))));
    if (change.facts.length) item.append(el("div", { class: "said" }, ...change.facts.map((/** @type {string} */ fact) => el("div", {}, shortText(fact, 400)))));
    if (change.behind.length) item.append(this.foldedChanges("consequences", change.behind));
    return item;
  }

  /** Changes that are not listed separately, folded. @param {string} key @param {any[]} items */
  foldedChanges(key, items) {
    const inner = items.map((other) =>
      el("div", { class: "behind" }, el("button", { class: "change", title: shortText(other.full, 600), onclick: () => this.revealChange(other) }, el("span", { class: `sign ${CHANGE_CLASSES[other.sign] ?? ""}`, "aria-hidden": "true" }, other.sign), el("span", {}, shortText(other.text, 300)))),
    );
    return el("details", {}, el("summary", {}, `${t(key)} · ${countWord(items.length)}`), ...inner);
  }

  /** Walk to a change. @param {number} at */
  goTo(at) {
    if (!this.changes.length) return Promise.resolve();
    this.current = ((at % this.changes.length) + this.changes.length) % this.changes.length;
    this.markCurrent();
    return this.revealChange(this.changes[this.current]);
  }

  markCurrent() {
    const there = this.changes.length === 1 && this.current === 0; // there is only this change
    for (const button of this.panel.querySelectorAll(".steps button")) button.disabled = there;
    this.panel.querySelectorAll("[data-change]").forEach((/** @type {any} */ item) => {
      const isCurrent = Number(item.dataset.change) === this.current;
      item.classList.toggle("current", isCurrent);
      if (isCurrent) item.setAttribute("aria-current", "true");
      else item.removeAttribute("aria-current");
      if (isCurrent) item.scrollIntoView({ block: "nearest" });
    });
  }

  /** Bring a change into view. @param {any} change */
  async revealChange(change) {
    const { app } = this;
    app.actions.markRows(change.rows);
    if (change.rows.length) await app.actions.reveal(app.state.facts.pathOfRow(change.rows[0]), false);
    else app.frame.toast(shortText(change.text, 200));
  }

  /** The changes and consequences that name a row. @param {number} row @returns {any[]} */
  changesOfRow(row) {
    const all = this.changes.flatMap((change) => [change, ...change.behind]);
    return all.filter((change) => change.rows.includes(row));
  }

  /** The changes around a row that no change names, else the changes inside it. @param {number} row @returns {any[]} */
  changesNear(row) {
    const { end } = this.app.state.graph;
    const around = this.changes.filter((change) => change.rows.some((/** @type {number} */ at) => at < row && row < end[at]));
    return around.length ? around : this.changes.filter((change) => change.rows.some((/** @type {number} */ at) => row < at && at < end[row]));
  }
}

/** @type {Record<string, string>} */
export const CHANGE_CLASSES = { "+": "added", "−": "removed", "~": "changed", "→": "renamed" };
