// The outline: the groups as a tree of words, for screen readers and for finding a box by its name.

import { byId, el, raisePanel, removeChildren, shortText } from "./dom.js";
import { QueryError, findRows } from "./query.js";
import { opsCount, t } from "./strings.js";

const MAX_LINES = 300; // lines of one group

export class Outline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.panel = byId("outline");
    this.tree = byId("tree");
    this.field = byId("outline-filter");
    /** @type {Set<number> | null} the rows that pass the filter, and all groups around them */
    this.kept = null;
    this.turn = 0;
    byId("outline-button").addEventListener("click", () => this.toggle());
    byId("outline-close").addEventListener("click", () => {
      this.toggle(false);
      byId("outline-button").focus();
    });
    this.field.addEventListener("input", () => this.filter());
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "ArrowDown") /** @type {any} */ (this.tree.querySelector("[role=treeitem]"))?.focus();
      else if (event.key === "Escape" && this.field.value) {
        this.field.value = "";
        this.filter();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.tree.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event));
    /** @type {number[]} */
    this.hits = [];
  }

  toggle(show = this.panel.hidden) {
    this.panel.hidden = !show;
    if (show) raisePanel(this.panel);
    document.body.classList.toggle("outlined", show);
    byId("outline-button").setAttribute("aria-pressed", String(show));
    if (this.app.view.scene) this.app.legend.draw();
    this.draw();
  }

  /** Keep only the results of a query, and the groups around them. */
  async filter() {
    const { graph, facts } = this.app.state;
    const turn = ++this.turn;
    const text = this.field.value.trim();
    try {
      this.field.removeAttribute("aria-invalid");
      const rows = text && (await findRows(this.app, text, () => turn === this.turn));
      if (turn !== this.turn) return;
      this.hits = rows || [];
      this.kept = text ? new Set(this.hits.slice(0, MAX_LINES).flatMap((row) => [facts.pathOfRow(row), ...graph.ancestors(facts.pathOfRow(row))].map((path) => path[path.length - 1]))) : null;
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.field.setAttribute("aria-invalid", "true");
    }
    this.draw();
  }

  /** Show the rows that match the filter, in the order of the file. @param {Set<number>} kept */
  drawFiltered(kept) {
    const { graph, facts } = this.app.state;
    const hits = new Set(this.hits);
    for (const row of [...kept].sort((a, b) => a - b)) {
      if (!row) continue;
      const path = facts.pathOfRow(row);
      const line = this.lineElement(path, graph.ancestors(path).length);
      line.classList.toggle("beside", !hits.has(row));
      this.tree.append(line);
    }
    const more = this.hits.length - MAX_LINES;
    if (more > 0 || !this.hits.length) this.tree.append(el("div", { class: "note", role: "none" }, more > 0 ? t("outline.more", { n: more }) : t("noHits")));
  }

  draw() {
    if (this.panel.hidden) return;
    const { graph, open } = this.app.state;
    const focused = document.activeElement?.id;
    removeChildren(this.tree);
    if (this.kept) this.drawFiltered(this.kept);
    else this.drawOpenGroups(graph, open);
    if (focused?.startsWith("o-")) byId(focused)?.focus();
  }

  /** The lines of the open groups. @param {Graph} graph @param {Map<string, Path>} open */
  drawOpenGroups(graph, open) {
    /** @type {[Path, number][]} */
    const todo = [[[0], 0]];
    while (todo.length) {
      const [path, level] = /** @type {[Path, number]} */ (todo.pop());
      if (level) this.tree.append(this.lineElement(path, level));
      if (level && !open.has(graph.key(path))) continue;
      const content = /** @type {Path} */ (graph.joinedScopes(path, open).pop());
      const stored = graph.level(content);
      if (!stored) continue;
      const children = stored.metagraph.children.slice(0, MAX_LINES).map((/** @type {number} */ row) => graph.child(content, row));
      for (const child of children.reverse()) todo.push([child, level + 1]);
    }
  }

  /** @param {Path} path @param {number} level */
  lineElement(path, level) {
    const { graph, open, selected } = this.app.state;
    const row = path[path.length - 1];
    const key = graph.key(path);
    const opens = graph.isOpenable(row);
    const isSelected = selected !== null && graph.key(selected) === key;
    const name = graph.address(path);
    const leaf = (this.kept ? [path] : graph.joinedScopes(path, open)).map((scope) => this.app.state.boxLabel(scope)).join("/");
    const { painter: brush } = this.app.view;
    const tint = el("span", { class: "tint", "aria-hidden": "true" });
    tint.style.background = brush?.fillOfPath(path)?.fill ?? "";
    const figure = (brush?.measured && brush.boundedValueText(path)) || (opens ? opsCount(graph.ops[row]) : "");
    const element = el(
      "div",
      { id: `o-${key}`, role: "treeitem", "aria-level": level, "aria-label": shortText(name), "aria-selected": String(isSelected), "aria-expanded": opens ? String(open.has(key)) : null, tabindex: "-1", title: shortText(name) },
      el("span", { class: "twist", "aria-hidden": "true", onclick: (/** @type {Event} */ event) => { event.stopPropagation(); this.app.actions.toggle(path); } }, opens ? (open.has(key) ? "▾" : "▸") : ""),
      tint,
      el("span", { class: "leaf" }, leaf),
      el("span", { class: "count" }, figure),
    );
    element.style.paddingInlineStart = `${level * 14 - 8}px`;
    element.path = path;
    element.addEventListener("click", () => this.app.actions.reveal(path, false));
    element.addEventListener("dblclick", () => opens && this.app.actions.toggle(path));
    if (isSelected || (!selected && this.tree.childElementCount === 0)) element.tabIndex = 0;
    return element;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const lines = /** @type {any[]} */ ([...this.tree.children]);
    const at = lines.indexOf(document.activeElement);
    if (at < 0) return;
    const { path } = lines[at];
    const { graph, open } = this.app.state;
    const isOpen = open.has(graph.key(path));
    const opens = graph.isOpenable(path[path.length - 1]);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 };
    if (event.key in moves) lines[Math.max(0, Math.min(lines.length - 1, moves[/** @type {"Home"} */ (event.key)]))].focus();
    else if (event.key === "ArrowRight" && opens && !isOpen) this.app.actions.toggle(path);
    else if (event.key === "ArrowRight") lines[at + 1]?.focus();
    else if (event.key === "ArrowLeft" && isOpen) this.app.actions.toggle(path);
    else if (event.key === "ArrowLeft") byId(`o-${graph.key(graph.framePath(graph.enclosingGroup(path) ?? path))}`)?.focus();
    else if (event.key === "Enter") opens ? this.app.actions.toggle(path) : this.app.actions.reveal(path, false);
    else if (event.key === " ") this.app.actions.reveal(path, false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
