// Mouse, touch and keyboard: which gesture runs which action.

import { stateOf } from "./address.js";
import { showComparison } from "./compare_nodes.js";
import { byId, el, shortText } from "./dom.js";
import { SERIES } from "./levels.js";
import { nextBox, zoomedPlace } from "./navigation.js";
import { closeMenus, closeMenusOutside, isGraphShown, isTyping, openMenus, showHelp } from "./page_keys.js";
import { saveSvg } from "./save.js";
import { t } from "./strings.js";

/** The item under a pointer. @param {any} target */
const itemAt = (target) => target.closest?.("g.node, g.head, g.stub")?.item ?? null;

/** True in a window so narrow that panels are bottom sheets. */
export const narrowScreen = matchMedia("(max-width: 699px)");

export class InputHandler {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const stage = byId("stage");
    stage.addEventListener("click", (event) => this.onClick(event));
    document.addEventListener("click", (event) => this.stopSecondClick(event), true);
    document.addEventListener("dblclick", () => this.onDoubleClick());
    stage.addEventListener("contextmenu", (event) => this.openMenu(event));
    stage.addEventListener("pointermove", (event) => this.onHover(event));
    stage.addEventListener("pointerleave", () => {
      this.hoveredKey = undefined;
      this.onLeave();
    });
    document.addEventListener("keydown", (event) => this.onKey(event));
    for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, () => this.dismissTip(), true);
    /** @type {string | undefined} the item under the pointer, by its key */
    this.hoveredKey = undefined;
    /** @type {string | undefined} that whose tooltip has been read */
    this.dismissedKey = undefined;
    /** @type {Path | null} the path whose box was clicked last */
    this.clickedPath = null;
    this.connectButtons();
  }

  connectButtons() {
    const { app } = this;
    const listen = (/** @type {string} */ id, /** @type {(event: any) => void} */ run, name = "click") => byId(id).addEventListener(name, run);
    listen("zoom-in", () => app.viewport.camera.glideTo(zoomedPlace(app, 1.4)));
    listen("zoom-out", () => app.viewport.camera.glideTo(zoomedPlace(app, 1 / 1.4)));
    listen("fit", () => app.viewport.fit());
    listen("back-button", () => app.viewport.fit().then(() => app.frame.focusPicture()));
    for (const name of ["pointerdown", "click", "dblclick"]) listen("back-button", (event) => event.stopPropagation(), name);
    listen("scheme", (event) => app.actions.setScheme(event.target.value), "change");
    listen("graph", (event) => app.actions.showFunction(Number(event.target.value)), "change");
    listen("step", (event) => app.actions.setStep(Number(event.target.value)), "change");
    listen("theme", (event) => app.actions.setTheme(event.target.value), "change");
    listen("language", (event) => this.setLanguage(event.target.value), "change");
    listen("changes-button", () => app.changes?.toggle());
    listen("help-button", () => {
      byId("settings").open = false;
      this.showShortcuts();
    });
    narrowScreen.addEventListener("change", () => this.arrangeBar());
    this.arrangeBar();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.state.themeChoice === "system" && app.actions.setTheme("system"));
    addEventListener("hashchange", (event) => {
      const { hash } = new URL(event.newURL); // the address itself may have been written since
      if (hash.slice(1) !== app.history.written) app.actions.queue(() => app.restore(stateOf(hash)));
    });
    document.addEventListener("pointerdown", (event) => {
      closeMenusOutside(event);
      if (!byId("menu").contains(/** @type {Node} */ (event.target))) byId("menu").hidden = true;
    });
  }

  /** On a phone, move the choosers of the graph into the settings, so that the bar is one row. */
  arrangeBar() {
    const graph = ["graph", "scheme", "step"].map((id) => byId(id).closest(".choice"));
    const log = ["run", "tag", "against"].map((id) => byId(id).closest(".choice"));
    if (narrowScreen.matches) byId("more").append(byId("table-button"), ...log, ...graph);
    else {
      byId("outline-button").after(byId("table-button"));
      byId("finding").before(...log, graph[0]);
      byId("share").before(...graph.slice(1));
    }
  }

  /** @param {string} word */
  setLanguage(word) {
    const { app } = this;
    app.actions.queue(async () => {
      app.history.beginEntry();
      app.frame.setLanguage(word);
      app.frame.update();
      await app.view.redraw(null, false);
      if (app.state.selected) app.actions.cardReady = app.card.show(app.state.selected);
      app.history.writeAddress();
    });
  }

  showShortcuts() {
    showHelp(true, !!this.app.changes);
  }

  /** The path of an item of the picture. @param {any} item @returns {Path | null} */
  pathOf(item) {
    const { app } = this;
    if (!item) return null;
    if (item.box >= 0) return app.view.places.get(app.view.scene.boxes[item.box].address) ?? null;
    if (item.stub && item.stub.other >= 0) {
      const host = app.view.places.get(app.view.scene.boxes[item.stub.box].address) ?? [0];
      return app.state.graph.neighbour(app.state.graph.enclosingGroup(host) ?? host, item.stub.other, true);
    }
    return null;
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const { app } = this;
    if (app.viewport.camera.wasDragged) return;
    app.frame.focusPicture();
    const item = itemAt(event.target);
    const path = this.pathOf(item);
    if (!path) return app.actions.select(null);
    if (item.box >= 0 && this.isOnMark(event, item)) return app.actions.toggle(path);
    this.clickedPath = item.box >= 0 ? path : null;
    if (item.stub && !app.state.graph.mark[path[path.length - 1]]) return app.actions.reveal(path);
    if (event.shiftKey && app.state.selected && app.state.graph.key(app.state.selected) !== app.state.graph.key(path)) return showComparison(app, app.state.selected, path);
    return app.actions.selectBox(path);
  }

  /** Whether a pointer is on the +/− mark of a box. @param {MouseEvent} event @param {any} item */
  isOnMark(event, item) {
    const box = this.app.view.scene.boxes[item.box];
    if (!box.openable) return false;
    const [x, y] = this.app.viewport.camera.worldPoint(event.clientX, event.clientY);
    const [mx, my] = layout.mark_place(box);
    return Math.hypot(x - mx, y - my) < Math.max(9, 8 / this.app.viewport.camera.k);
  }

  /** Apply a double click to the box of the first click: since then the picture may have moved, or the card may cover it.
   * @param {MouseEvent} event */
  stopSecondClick(event) {
    if (event.detail < 2) this.clickedPath = null;
    else if (this.clickedPath) {
      event.stopPropagation();
      event.preventDefault();
    }
  }

  async onDoubleClick() {
    const path = this.clickedPath;
    if (!path || !this.app.state.graph.isOpenable(path[path.length - 1])) return;
    await this.app.actions.toggle(path);
    await this.app.viewport.centreOpened(path);
  }

  /** @param {PointerEvent} event */
  onHover(event) {
    const { app } = this;
    if (app.viewport.camera.fingers.size || !byId("menu").hidden) return this.onLeave();
    const item = itemAt(event.target);
    const [x, y] = app.viewport.camera.worldPoint(event.clientX, event.clientY);
    const open = item && item.box >= 0 && app.view.scene?.boxes[item.box].open;
    const line = !item || open ? app.view.picture.lineAt(x, y, 5 / app.viewport.camera.k) : null;
    const name = item && item.box >= 0 ? app.view.scene.boxes[item.box].address : null;
    const over = open && item.layer !== "titles" && !line ? null : (line ?? item);
    const hovered = open ? null : name;
    if (hovered !== app.view.hovered) {
      app.view.hovered = hovered;
      clearTimeout(this.highlightTimer);
      this.highlightTimer = setTimeout(() => app.view.highlightLines(), 40);
    }
    this.hoveredKey = over?.key;
    if (this.dismissedKey !== this.hoveredKey) this.dismissedKey = undefined;
    this.showTip(this.dismissedKey ? "" : (over?.tip ?? ""), event.clientX, event.clientY);
  }

  /** Hide the tooltip until the pointer is over another item. */
  dismissTip() {
    this.dismissedKey = this.hoveredKey;
    this.showTip("", 0, 0);
  }

  onLeave() {
    this.showTip("", 0, 0);
    if (this.app.view.hovered) {
      this.app.view.hovered = null;
      this.app.view.highlightLines();
    }
  }

  /** @param {string} text @param {number} x @param {number} y */
  showTip(text, x, y) {
    const tip = byId("tip");
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = shortText(text, 600);
    const [wide, tall] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - wide - 8))}px`;
    tip.style.top = `${y + 20 + tall > innerHeight ? y - tall - 10 : y + 20}px`;
  }

  /** @param {MouseEvent} event */
  openMenu(event) {
    const path = this.pathOf(itemAt(event.target));
    if (!path) return;
    event.preventDefault();
    this.app.actions.select(path);
    this.showNodeMenu(path, event.clientX, event.clientY);
  }

  /** The menu of a node. @param {Path} path @param {number} x @param {number} y */
  showNodeMenu(path, x, y) {
    const { app } = this;
    const menu = byId("menu");
    const row = path[path.length - 1];
    const open = app.state.open.has(app.state.graph.key(path));
    const opens = app.state.graph.isOpenable(row);
    /** @type {[string, () => any][]} */
    const offers = [];
    if (opens) offers.push([open ? "close" : "open", () => app.actions.toggle(path)], ["openAll", () => app.actions.openAll(path)]);
    if (open) offers.push(["closeAll", () => app.actions.closeAll(path)]);
    const series = app.state.groupableSeries(path);
    if (series) offers.push([app.state.graph.isUngrouped(series) ? "group" : "ungroup", () => app.actions.toggleGrouping(series)]);
    if (app.view.canMove(path)) offers.push([app.view.isAuxiliary(path) ? "toMain" : "toAux", () => app.actions.toggleAuxiliary(path)]);
    offers.push(["traceInputs", () => app.actions.traceFurther(path, "in")], ["traceOutputs", () => app.actions.traceFurther(path, "out")]);
    if (app.view.boxAt(path)) offers.push(["saveBox", () => saveSvg(app, { part: "chosen", title: false, legend: false, marks: false })]);
    menu.replaceChildren(
      ...offers.map(([key, run]) => el("button", { role: "menuitem", onclick: () => { menu.hidden = true; app.frame.focusPicture(); run(); } }, t(key))),
    );
    this.onLeave();
    menu.hidden = false;
    menu.style.left = `${Math.min(x, innerWidth - menu.offsetWidth - 8)}px`;
    menu.style.top = `${Math.min(y, innerHeight - menu.offsetHeight - 8)}px`;
    menu.firstElementChild.focus();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { app } = this;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && isGraphShown()) return this.focusSearch(event);
    if (!byId("menu").hidden) return this.onMenuKey(event);
    if (event.key === "Escape" && openMenus().length && !(event.target instanceof HTMLOptionElement)) return closeMenus(event);
    if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const run = isGraphShown() ? this.keyAction(event) : this.pageAction(event);
    if (!run) return;
    event.preventDefault();
    this.onLeave();
    run();
  }

  /** @param {Event} event */
  focusSearch(event) {
    event.preventDefault();
    this.app.find.field.focus();
    this.app.find.field.select();
  }

  /** @param {KeyboardEvent} event */
  onMenuKey(event) {
    const items = /** @type {HTMLElement[]} */ ([...byId("menu").children]);
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (event.key === "Escape" || event.key === "Tab") {
      byId("menu").hidden = true;
      this.app.frame.focusPicture();
    } else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length].focus();
    else return;
    event.preventDefault();
  }

  /** The action of a key on every page. @param {KeyboardEvent} event @returns {(() => any) | null} */
  pageAction(event) {
    const { app } = this;
    if (event.key === "?") return () => this.showShortcuts();
    return event.key === "t" ? () => app.actions.setTheme(app.state.theme === "dark" ? "light" : "dark") : null;
  }

  /** The action of a key. @param {KeyboardEvent} event @returns {(() => any) | null} */
  keyAction(event) {
    const { app } = this;
    const path = app.state.selected;
    const button = event.target instanceof HTMLElement && event.target.matches("button, summary, a, input");
    const stepped = app.stepper?.keyAction(event);
    if (stepped) return stepped;
    switch (event.key) {
      case "/": return () => this.focusSearch(event);
      case "+": case "=": return () => app.viewport.camera.glideTo(zoomedPlace(app, 1.4));
      case "-": case "−": return () => app.viewport.camera.glideTo(zoomedPlace(app, 1 / 1.4));
      case "0": return () => app.viewport.fit();
      case "f": return () => this.fitSelection();
      case "i": case "I": return path && (() => (event.shiftKey ? app.actions.trace(path, "in", Infinity) : app.actions.traceFurther(path, "in")));
      case "o": case "O": return path && (() => (event.shiftKey ? app.actions.trace(path, "out", Infinity) : app.actions.traceFurther(path, "out")));
      case "c": return () => app.actions.setScheme(app.state.schemes[(app.state.schemes.indexOf(app.state.scheme) + 1) % app.state.schemes.length]);
      case "[": return () => app.history.goBack();
      case "]": return () => app.history.goForward();
      case "r": return () => app.table.toggle();
      case "m": return path && (() => app.actions.toggleAuxiliary(path));
      case "g": return this.seriesAction(path);
      case ",": return app.state.head.steps.length > 1 && (() => app.actions.goStep(-1));
      case ".": return app.state.head.steps.length > 1 && (() => app.actions.goStep(1));
      case "n": return app.changes && (() => app.changes.goTo(app.changes.current + 1));
      case "p": return app.changes && (() => app.changes.goTo(app.changes.current - 1));
      case "Escape": return () => this.cancelLatest();
      case "Enter": return !button && path && app.state.graph.isOpenable(path[path.length - 1]) ? () => app.actions.toggle(path) : null;
      case "ContextMenu": return path && (() => this.showNodeMenu(path, innerWidth / 2, innerHeight / 2));
      case "ArrowUp": case "ArrowDown": case "ArrowLeft": case "ArrowRight":
        if (event.target instanceof Element && event.target.closest("#outline, #menu")) return null;
        return () => this.moveByArrow(event.key.slice(5).toLowerCase(), event.altKey);
      default: return this.pageAction(event);
    }
  }

  /** Group or ungroup the selected series, or the series around the selected node. @param {Path | null} path @returns {(() => any) | null} */
  seriesAction(path) {
    const { app } = this;
    const around = path ? [path, ...app.state.graph.ancestors(path).reverse()] : [];
    const series = around.map((group) => app.state.groupableSeries(group)).find(Boolean);
    if (series) return () => app.actions.toggleGrouping(series);
    const stack = around.find((group) => app.state.graph.kind[group[group.length - 1]] === SERIES);
    return stack ? () => app.actions.toggle(stack) : null;
  }

  /** Undo one thing. */
  cancelLatest() {
    const { app } = this;
    if (app.state.traced) app.actions.endTrace();
    else if (app.view.keptKey) app.view.emphasizeLegendRow("");
    else if (app.state.marked.size) {
      app.find.field.value = "";
      app.find.search("");
    } else if (app.state.selected) app.actions.select(null);
  }

  fitSelection() {
    const { app } = this;
    return app.state.hostPath ? app.viewport.fitBox(app.state.hostPath) : app.viewport.fit();
  }

  /** Go along a line or to a sibling; with `alt` into an open group, or to the group around. @param {string} way @param {boolean} alt */
  moveByArrow(way, alt) {
    const { app } = this;
    const { boxes } = app.view.scene;
    if (!app.state.selected) return boxes.length ? app.actions.reveal(/** @type {Path} */ (app.view.places.get(boxes[0].address))) : null;
    const at = app.view.picture.boxOf.get(app.state.graph.address(app.state.hostPath ?? app.state.selected)) ?? -1;
    const current = boxes[at];
    if (alt && way === "down" && current?.open) {
      const inner = boxes.find((/** @type {any} */ box) => box.parent === at);
      return inner ? app.actions.reveal(/** @type {Path} */ (app.view.places.get(inner.address))) : null;
    }
    if (alt || !current) {
      const around = app.state.graph.enclosingGroup(app.state.selected);
      return around && (around.length > 1 || around[0] !== 0) ? app.actions.reveal(around) : null;
    }
    const next = nextBox(app.view.scene, at, way);
    return next >= 0 ? app.actions.reveal(/** @type {Path} */ (app.view.places.get(boxes[next].address))) : null;
  }
}
