// Mouse, touch and keyboard: which gesture does what.

const SHORTCUTS = [
  ["help.find", "/  Ctrl K"], ["help.enter", "Enter"], ["help.arrows", "↑ ↓ ← →"], ["help.parent", "Alt ↑"], ["help.inside", "Alt ↓"],
  ["help.zoom", "+  −  0"], ["help.fit", "f"], ["help.compare", "Shift Click"], ["help.trace", "i  o"], ["help.move", "m"], ["help.fold", "g"], ["help.colour", "c"], ["help.theme", "t"],
  ["help.views", "[  ]"], ["help.table", "r"], ["help.escape", "Esc"], ["help.help", "?"],
];
const OF_CHANGES = ["help.changes", "n  p"]; // where there are any
const OF_LOGS = [["help.pages", "1 … 9"], ["help.tags", "/"], ["help.cards", "j  k"], ["help.steps", ",  ."], ["help.logged", ",  .  Home  End  l"], ["help.cloud", "v  l  b  d  ,  ."], ["help.profile", "w  s  a  d  0  .  ,"]]; // beside the pages of a log

/** Whether a key is meant for what has the focus. @param {EventTarget | null} target */
const typing = (target) => target instanceof HTMLElement && target.matches("input, select, option, textarea, [contenteditable]");

/** The item under a pointer. @param {any} target */
const itemAt = (target) => target.closest?.("g.node, g.head, g.stub")?.item ?? null;

/** A window so narrow that panels are sheets from below. */
const narrow = matchMedia("(max-width: 699px)");

/** The menus of the page that are open. @returns {HTMLDetailsElement[]} */
const openMenus = () => [...document.querySelectorAll("details.menu[open]")].filter((one) => one instanceof HTMLDetailsElement);

class Hands {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const stage = byId("stage");
    stage.addEventListener("click", (event) => this.click(event));
    document.addEventListener("click", (event) => this.again(event), true);
    document.addEventListener("dblclick", () => this.twice());
    stage.addEventListener("contextmenu", (event) => this.menu(event));
    stage.addEventListener("pointermove", (event) => this.hover(event));
    stage.addEventListener("pointerleave", () => {
      this.over = undefined;
      this.leave();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, () => this.hush(), true);
    /** @type {string | undefined} the item under the pointer, by its key */
    this.over = undefined;
    /** @type {string | undefined} that whose tooltip has been read */
    this.hushed = undefined;
    /** @type {Path | null} whose box was clicked last */
    this.clicked = null;
    this.buttons();
  }

  buttons() {
    const { app } = this;
    const on = (/** @type {string} */ id, /** @type {(event: any) => void} */ run, name = "click") => byId(id).addEventListener(name, run);
    on("zoom-in", () => app.camera.glide(zoomed(app, 1.4)));
    on("zoom-out", () => app.camera.glide(zoomed(app, 1 / 1.4)));
    on("fit", () => app.fit());
    on("back-button", () => app.fit().then(() => app.focus()));
    for (const name of ["pointerdown", "click", "dblclick"]) on("back-button", (event) => event.stopPropagation(), name);
    on("scheme", (event) => app.colour(event.target.value), "change");
    on("graph", (event) => app.show(Number(event.target.value)), "change");
    on("step", (event) => app.setStep(Number(event.target.value)), "change");
    on("theme", (event) => app.setTheme(event.target.value), "change");
    on("language", (event) => this.speak(event.target.value), "change");
    on("changes-button", () => app.changes?.toggle());
    on("help-button", () => {
      byId("settings").open = false;
      this.help();
    });
    narrow.addEventListener("change", () => this.gather());
    this.gather();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app.themeChoice === "system" && app.setTheme("system"));
    addEventListener("hashchange", (event) => {
      const { hash } = new URL(event.newURL); // the address itself may have been written since
      if (hash.slice(1) !== app.written) app.queue(() => app.restore(stateOf(hash)));
    });
    document.addEventListener("pointerdown", (event) => {
      const target = /** @type {Node} */ (event.target);
      for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false;
      if (!byId("menu").contains(target)) byId("menu").hidden = true;
    });
  }

  /** On a phone the choosers of the graph are among the settings: the bar is one row. */
  gather() {
    const graph = ["graph", "scheme", "step"].map((id) => byId(id).closest(".choice"));
    const log = ["run", "tag", "against"].map((id) => byId(id).closest(".choice"));
    if (narrow.matches) byId("more").append(byId("table-button"), ...log, ...graph);
    else {
      byId("outline-button").after(byId("table-button"));
      byId("finding").before(...log, graph[0]);
      byId("share").before(...graph.slice(1));
    }
  }

  /** @param {string} word */
  speak(word) {
    const { app } = this;
    app.queue(async () => {
      app.step();
      app.speak(word);
      app.dressPage();
      await app.redraw(null, false);
      if (app.selected) app.told = app.card.show(app.selected);
      app.remember();
    });
  }

  help() {
    const dialog = byId("help");
    const rows = [...SHORTCUTS, ...(this.app.changes ? [OF_CHANGES] : []), ...(byId("logs") ? OF_LOGS : [])].map(([key, keys]) => el("tr", {}, el("td", {}, ...keys.split("  ").flatMap((one) => [el("kbd", {}, one), " "])), el("td", {}, t(key))));
    dialog.replaceChildren(el("h2", {}, t("help")), el("table", {}, el("tbody", {}, ...rows)), el("button", { onclick: () => dialog.close(), autofocus: true }, t("close")));
    if (!dialog.open) dialog.showModal();
  }

  /** The path of an item of the picture. @param {any} item @returns {Path | null} */
  path(item) {
    const { app } = this;
    if (!item) return null;
    if (item.box >= 0) return app.places.get(app.scene.boxes[item.box].address) ?? null;
    if (item.stub && item.stub.other >= 0) {
      const host = app.places.get(app.scene.boxes[item.stub.box].address) ?? [0];
      return app.graph.neighbour(app.graph.around(host) ?? host, item.stub.other, true);
    }
    return null;
  }

  /** @param {MouseEvent} event */
  click(event) {
    const { app } = this;
    if (app.camera.dragged) return;
    app.focus();
    const item = itemAt(event.target);
    const path = this.path(item);
    if (!path) return app.select(null);
    if (item.box >= 0 && this.onMark(event, item)) return app.toggle(path);
    this.clicked = item.box >= 0 ? path : null;
    if (item.stub && !app.graph.mark[path[path.length - 1]]) return app.reveal(path);
    if (event.shiftKey && app.selected && app.graph.key(app.selected) !== app.graph.key(path)) return sideBySide(app, app.selected, path);
    return app.pick(path);
  }

  /** Whether a pointer is on the +/− mark of a box. @param {MouseEvent} event @param {any} item */
  onMark(event, item) {
    const box = this.app.scene.boxes[item.box];
    if (!box.openable) return false;
    const [x, y] = this.app.camera.world(event.clientX, event.clientY);
    const [mx, my] = layout.mark_place(box);
    return Math.hypot(x - mx, y - my) < Math.max(9, 8 / this.app.camera.k);
  }

  /** The second click of two is for the box of the first: since then the picture may have moved, or the card come to lie there.
   * @param {MouseEvent} event */
  again(event) {
    if (event.detail < 2) this.clicked = null;
    else if (this.clicked) {
      event.stopPropagation();
      event.preventDefault();
    }
  }

  twice() {
    const path = this.clicked;
    if (path && this.app.graph.opens(path[path.length - 1])) this.app.toggle(path);
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const { app } = this;
    if (app.camera.fingers.size || !byId("menu").hidden) return this.leave();
    const item = itemAt(event.target);
    const [x, y] = app.camera.world(event.clientX, event.clientY);
    const open = item && item.box >= 0 && app.scene?.boxes[item.box].open;
    const line = !item || open ? app.picture.lineAt(x, y, 5 / app.camera.k) : null;
    const name = item && item.box >= 0 ? app.scene.boxes[item.box].address : null;
    const over = open && item.layer !== "titles" && !line ? null : (line ?? item);
    const hovered = open ? null : name;
    if (hovered !== app.hovered) {
      app.hovered = hovered;
      clearTimeout(this.lighting);
      this.lighting = setTimeout(() => app.glow(), 40);
    }
    this.over = over?.key;
    if (this.hushed !== this.over) this.hushed = undefined;
    this.tip(this.hushed ? "" : (over?.tip ?? ""), event.clientX, event.clientY);
  }

  /** Take the tooltip away until the pointer is over something else. */
  hush() {
    this.hushed = this.over;
    this.tip("", 0, 0);
  }

  leave() {
    this.tip("", 0, 0);
    if (this.app.hovered) {
      this.app.hovered = null;
      this.app.glow();
    }
  }

  /** @param {string} text @param {number} x @param {number} y */
  tip(text, x, y) {
    const tip = byId("tip");
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = brief(text, 600);
    const [wide, tall] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - wide - 8))}px`;
    tip.style.top = `${y + 20 + tall > innerHeight ? y - tall - 10 : y + 20}px`;
  }

  /** @param {MouseEvent} event */
  menu(event) {
    const path = this.path(itemAt(event.target));
    if (!path) return;
    event.preventDefault();
    this.app.select(path);
    this.offer(path, event.clientX, event.clientY);
  }

  /** The menu of a node. @param {Path} path @param {number} x @param {number} y */
  offer(path, x, y) {
    const { app } = this;
    const menu = byId("menu");
    const row = path[path.length - 1];
    const open = app.open.has(app.graph.key(path));
    const opens = app.graph.opens(row);
    /** @type {[string, () => any][]} */
    const offers = [];
    if (opens) offers.push([open ? "close" : "open", () => app.toggle(path)], ["openAll", () => app.openAll(path)]);
    if (open) offers.push(["closeAll", () => app.closeAll(path)]);
    const series = app.series(path);
    if (series) offers.push([app.graph.isApart(series) ? "group" : "ungroup", () => app.regroup(series)]);
    if (app.moves_(path)) offers.push([app.away(path) ? "toMain" : "toAux", () => app.move(path)]);
    offers.push(["traceInputs", () => app.traceOn(path, "in")], ["traceOutputs", () => app.traceOn(path, "out")]);
    if (app.boxAt(path)) offers.push(["saveBox", () => saveSvg(app, { part: "chosen", title: false, legend: false, marks: false })]);
    menu.replaceChildren(
      ...offers.map(([key, run]) => el("button", { role: "menuitem", onclick: () => { menu.hidden = true; app.focus(); run(); } }, t(key))),
    );
    this.leave();
    menu.hidden = false;
    menu.style.left = `${Math.min(x, innerWidth - menu.offsetWidth - 8)}px`;
    menu.style.top = `${Math.min(y, innerHeight - menu.offsetHeight - 8)}px`;
    menu.firstElementChild.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { app } = this;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") return this.seek(event);
    if (!byId("menu").hidden) return this.menuKey(event);
    if (event.key === "Escape" && openMenus().length && !(event.target instanceof HTMLOptionElement)) return this.put(event);
    if (typing(event.target) || event.ctrlKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const run = this.meaning(event);
    if (!run) return;
    event.preventDefault();
    this.leave();
    run();
  }

  /** @param {Event} event */
  seek(event) {
    event.preventDefault();
    this.app.find.box.focus();
    this.app.find.box.select();
  }

  /** Close the menus of the page. @param {Event} event */
  put(event) {
    event.preventDefault();
    for (const menu of openMenus()) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  }

  /** @param {KeyboardEvent} event */
  menuKey(event) {
    const items = /** @type {HTMLElement[]} */ ([...byId("menu").children]);
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (event.key === "Escape" || event.key === "Tab") {
      byId("menu").hidden = true;
      this.app.focus();
    } else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
    else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length].focus();
    else return;
    event.preventDefault();
  }

  /** What a key does. @param {KeyboardEvent} event @returns {(() => any) | null} */
  meaning(event) {
    const { app } = this;
    const path = app.selected;
    const button = event.target instanceof HTMLElement && event.target.matches("button, summary, a");
    const stepped = app.stepper?.meaning(event);
    if (stepped) return stepped;
    switch (event.key) {
      case "/": return () => this.seek(event);
      case "?": return () => this.help();
      case "+": case "=": return () => app.camera.glide(zoomed(app, 1.4));
      case "-": case "−": return () => app.camera.glide(zoomed(app, 1 / 1.4));
      case "0": return () => app.fit();
      case "f": return () => this.fitSelection();
      case "i": case "I": return path && (() => (event.shiftKey ? app.trace(path, "in", Infinity) : app.traceOn(path, "in")));
      case "o": case "O": return path && (() => (event.shiftKey ? app.trace(path, "out", Infinity) : app.traceOn(path, "out")));
      case "c": return () => app.colour(app.schemes[(app.schemes.indexOf(app.scheme) + 1) % app.schemes.length]);
      case "t": return () => app.setTheme(app.theme === "dark" ? "light" : "dark");
      case "[": return () => app.walk(app.past, app.future);
      case "]": return () => app.walk(app.future, app.past);
      case "r": return () => app.table.toggle();
      case "m": return path && (() => app.move(path));
      case "g": return this.series(path);
      case ",": return app.head.steps.length > 1 && (() => app.goStep(-1));
      case ".": return app.head.steps.length > 1 && (() => app.goStep(1));
      case "n": return app.changes && (() => app.changes.go(app.changes.at + 1));
      case "p": return app.changes && (() => app.changes.go(app.changes.at - 1));
      case "Escape": return () => this.undo();
      case "Enter": return !button && path && app.graph.opens(path[path.length - 1]) ? () => app.toggle(path) : null;
      case "ContextMenu": return path && (() => this.offer(path, innerWidth / 2, innerHeight / 2));
      case "ArrowUp": case "ArrowDown": case "ArrowLeft": case "ArrowRight":
        if (event.target instanceof Element && event.target.closest("#outline, #menu")) return null;
        return () => this.arrow(event.key.slice(5).toLowerCase(), event.altKey);
      default: return null;
    }
  }

  /** Group or ungroup the series that is chosen or lies around what is. @param {Path | null} path @returns {(() => any) | null} */
  series(path) {
    const { app } = this;
    const around = path ? [path, ...app.graph.ancestors(path).reverse()] : [];
    const found = around.map((one) => app.series(one)).find(Boolean);
    if (found) return () => app.regroup(found);
    const stack = around.find((one) => app.graph.kind[one[one.length - 1]] === SERIES);
    return stack ? () => app.toggle(stack) : null;
  }

  /** Undo one thing. */
  undo() {
    const { app } = this;
    if (app.traced) app.endTrace();
    else if (app.onlyKey) app.keep("");
    else if (app.marked.size) {
      app.find.box.value = "";
      app.find.run("");
    } else if (app.selected) app.select(null);
  }

  fitSelection() {
    const { app } = this;
    return app.shownAs ? app.fitBox(app.shownAs) : app.fit();
  }

  /** Go along a line, or to a sibling; with `alt` down into an open group, else to the group around. @param {string} way @param {boolean} alt */
  arrow(way, alt) {
    const { app } = this;
    const { boxes } = app.scene;
    if (!app.selected) return boxes.length ? app.reveal(/** @type {Path} */ (app.places.get(boxes[0].address))) : null;
    const at = app.picture.boxOf.get(app.graph.address(app.shownAs ?? app.selected)) ?? -1;
    const mine = boxes[at];
    if (alt && way === "down" && mine?.open) {
      const inner = boxes.find((/** @type {any} */ box) => box.parent === at);
      return inner ? app.reveal(/** @type {Path} */ (app.places.get(inner.address))) : null;
    }
    if (alt || !mine) {
      const around = app.graph.around(app.selected);
      return around && (around.length > 1 || around[0] !== 0) ? app.reveal(around) : null;
    }
    const next = nextBox(app.scene, at, way);
    return next >= 0 ? app.reveal(/** @type {Path} */ (app.places.get(boxes[next].address))) : null;
  }
}
