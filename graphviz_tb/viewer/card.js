// The card: all that is known of the chosen node. Every name in it leads there.

const LISTED = 40; // rows of a table that are shown

/** The beginning of a value, cut between its elements. @param {string} value @param {number} most */
function begun(value, most) {
  const end = value.lastIndexOf(", ", most);
  const count = / … [\d,\u2009]+ in all$/.exec(value)?.[0] ?? " …";
  return end > 0 ? `${safe(value.slice(0, end))},${count}` : brief(value, most);
}

class Card {
  /** What a run logged at a node, as a part of its card. @type {((path: Path) => Promise<HTMLElement | null>) | null} */
  static logged = null;

  /** What shows when a node ran; null where no step was traced. @type {((path: Path) => (() => void) | null) | null} */
  static timeline = null;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.panel = byId("card");
    this.turn = 0;
  }

  hide() {
    this.turn++;
    this.panel.hidden = true;
    empty(this.panel);
  }

  /** @param {Path} path */
  async show(path) {
    const { graph, facts } = this.app;
    const turn = ++this.turn;
    const row = path[path.length - 1];
    const body = el("div", { class: "body" });
    const group = graph.kind[row] !== OP;
    const name = graph.address(path);
    const close = el("button", { class: "icon close", "aria-label": t("closeDetails"), onclick: () => this.app.select(null) }, "×");
    const heading = el("h2", { tabindex: "-1" }, ...broken(name || this.app.title));
    body.append(this.actions(path), this.list(path, row), ...this.became(row));
    const parts = [heading, close, body];
    this.panel.hidden = false;
    raise(this.panel);
    this.panel.replaceChildren(...parts);
    this.panel.scrollTop = 0;
    const edges = await facts.edges().catch(() => null);
    if (turn !== this.turn) return;
    if (edges) body.append(...(group || graph.calls.has(row) ? this.border(edges, row, path) : this.ends(edges, row, path)));
    if (group) body.append(this.types(row), this.twins(row));
    const figures = await this.figures(path);
    if (turn === this.turn && figures) body.querySelector("dl").after(figures);
    const attributes = await facts.attributes(row).catch(() => []);
    if (turn === this.turn && attributes.length) body.querySelector("dl").after(this.attributes(attributes));
    if (turn === this.turn) this.logged(path, turn, body); // it may wait for the log: nothing here waits for it
  }

  /** What a run logged, when it is here. @param {Path} path @param {number} turn @param {any} body */
  async logged(path, turn, body) {
    const found = await Card.logged?.(path).catch(() => null);
    if (turn === this.turn && found) body.querySelector("dl").after(found);
  }

  /** Offer what can be done now. @param {Path} path */
  refresh(path) {
    this.panel.querySelector(".actions")?.replaceWith(this.actions(path));
  }

  /** @param {Path} path */
  actions(path) {
    const { app } = this;
    const row = path[path.length - 1];
    const button = (/** @type {string} */ key, /** @type {() => void} */ run) => el("button", { onclick: run }, t(key));
    const opens = app.graph.opens(row) && row !== 0 && app.graph.holds(path) && !app.graph.isApart(path);
    const open = app.open.has(app.graph.key(path));
    const series = app.series(path);
    return el(
      "div",
      { class: "actions" },
      opens && button(open ? "close" : "open", () => app.toggle(path)),
      opens && button("openAll", () => app.openAll(path)),
      opens && open && button("closeAll", () => app.closeAll(path)),
      ...this.members(path),
      series && button(app.graph.isApart(series) ? "group" : "ungroup", () => app.regroup(series)),
      app.moves_(path) && button(app.away(path) ? "toMain" : "toAux", () => app.move(path)),
      button("traceInputs", () => app.traceOn(path, "in")),
      button("traceOutputs", () => app.traceOn(path, "out")),
      Card.timeline?.(path) && button("profile.inTimeline", Card.timeline(path)),
    );
  }

  /** The way from one member of a stack to the next. @param {Path} path */
  members(path) {
    const { app } = this;
    const found = app.walkable(path);
    if (!found) return [];
    const { members, at } = found;
    const arrow = (/** @type {string} */ key, /** @type {string} */ sign, /** @type {number} */ to) =>
      el("button", { class: "icon", "aria-label": t(key), title: t(key), disabled: !members[to], onclick: () => app.showMember(path, members[to]) }, sign);
    const told = el("span", { class: "count" }, t("memberOf", { at: at + 1, n: members.length }));
    return [
      el("span", { class: "members" }, arrow("lastMember", "‹", at - 1), told, arrow("nextMember", "›", at + 1)),
      el("button", { onclick: () => app.listMembers(path) }, t("allMembers")),
    ];
  }

  /** What is known in one line each. @param {Path} path @param {number} row */
  list(path, row) {
    const { app } = this;
    const { graph } = app;
    const list = el("dl");
    const say = (/** @type {string} */ key, /** @type {any} */ value) => value && list.append(el("dt", {}, t(key)), el("dd", {}, value));
    const kind = graph.mark[row] ? `mark.${graph.mark[row]}` : graph.calls.has(row) ? "kind.call" : ROW_KINDS[graph.kind[row]];
    say("kind", t(kind));
    say("op", graph.words[graph.op[row]]);
    say("device", graph.words[graph.device[row]]);
    if (graph.opens(row)) say("count", opsWord(graph.ops[row]));
    if (graph.opens(row) && !graph.holds(path)) list.append(el("dd", { class: "wide" }, t("notHeld", { name: brief(graph.address(path), 80) })));
    return list;
  }

  /** What was measured of a node. @param {Path} path */
  async figures(path) {
    const { app } = this;
    const rows = [];
    for (const scheme of app.head.measured ?? []) {
      const one = await colouring(app.graph, scheme).catch(() => null);
      const [told, lacks] = [one?.figure(path), one?.lacking(path) ?? []];
      const words = lacks.map(([kind, count]) => el("div", { class: "lacks" }, t(`lacks.${kind}${count === 1 ? "1" : ""}`, { n: count, batch: one?.told.batch })));
      const value = told && lacks.length ? t("atLeast", { n: told }) : told || (lacks.some(([kind]) => kind !== "guessed") && t("unknown"));
      if (value) rows.push([t(`scheme.${scheme}`), el("span", { class: "count" }, value, ...words)]);
    }
    return rows.length ? this.table("statistics", rows) : null;
  }

  /** What a diff says of a node: before and after. @param {number} row */
  became(row) {
    const { changes } = this.app;
    const found = changes?.of(row) ?? [];
    if (changes && !found.length && row > 0) {
      const near = changes.near(row).map((/** @type {any} */ one) => [el("button", { class: "link", title: brief(one.full, 600), onclick: () => changes.bring(one) }, brief(one.text, 300))]);
      return near.length ? [this.table("changes", near.slice(0, LISTED), near.length - LISTED)] : [];
    }
    return found.map((/** @type {any} */ one) => {
      const rows = [];
      const pair = (/** @type {string} */ key, /** @type {string} */ value) => value && rows.push([el("span", { class: "key" }, t(key)), el("span", {}, ...broken(brief(value, 300)))]);
      pair("before", one.detail.old ?? (one.sign === "→" ? one.old : ""));
      pair("after", one.detail.new ?? (one.sign === "→" ? one.new : ""));
      for (const fact of one.facts) rows.push(["", brief(fact, 300)]);
      const table = this.table("changes", rows);
      table.caption.replaceChildren(el("span", { class: `sign ${WORDS_OF[one.sign] ?? ""}` }, one.sign), ` ${brief(one.text, 300)}`);
      return table;
    });
  }

  /** @param {any[][]} attributes */
  attributes(attributes) {
    const rows = attributes.map(([name, value, length]) => {
      const text = value.length > 120 ? el("details", {}, el("summary", {}, begun(value, 100)), el("pre", {}, safe(value))) : safe(value);
      return [el("span", { class: "key" }, name), el("span", { class: "value" }, text, length ? el("em", {}, t("longer", { n: length })) : null)];
    });
    return this.table("attributes", rows);
  }

  /** @param {string} caption @param {any[][]} rows @param {number} [more] */
  table(caption, rows, more = 0) {
    const body = el("tbody");
    for (const cells of rows) body.append(el("tr", {}, ...cells.map((cell) => el("td", {}, cell))));
    if (more > 0) body.append(el("tr", {}, el("td", { colspan: 9, class: "more" }, t("and", { n: more }))));
    return el("table", {}, el("caption", {}, t(caption)), body);
  }

  /** A name that leads to its node. @param {Path} path */
  link(path) {
    const name = this.app.graph.address(path);
    return el("button", { class: "link", title: brief(name), onclick: () => this.app.reveal(path) }, ...broken(brief(name, 160)));
  }

  /** The path of another row as this path sees it. @param {Path} path @param {number} row */
  beside(path, row) {
    return this.app.graph.neighbour(path, row, false).length > 1 ? this.app.graph.neighbour(path, row, false) : this.app.facts.path(row);
  }

  /** Inputs and outputs of an op. @param {any} edges @param {number} row @param {Path} path */
  ends(edges, row, path) {
    const { words } = this.app.graph;
    const tables = [];
    const into = this.app.facts.into(edges, row).sort((a, b) => edges.slot[a] - edges.slot[b]);
    const out = this.app.facts.out(edges, row);
    const data = (/** @type {number[]} */ list) => list.filter((one) => !(edges.flags[one] & 1));
    const control = (/** @type {number[]} */ list) => list.filter((one) => edges.flags[one] & 1);
    const told = (/** @type {number} */ one) => el("span", { class: "tensor" }, words[edges.tensor[one]] || "?");
    const key = (/** @type {number} */ one) => (words[edges.key[one]] === "0" ? "" : `:${words[edges.key[one]]}`);
    const sign = (/** @type {number} */ one) => wireSign(edges, [one]);
    const incoming = data(into).map((one) => [el("span", { class: "wire" }, sign(one), this.link(this.beside(path, edges.source[one])), key(one)), told(one)]);
    const outgoing = data(out).map((one) => [el("span", { class: "wire" }, sign(one), this.link(this.beside(path, edges.target[one])), ` ${key(one)}`), told(one)]);
    const held = control(into).map((one) => [el("span", { class: "wire" }, sign(one), this.link(this.beside(path, edges.source[one])))]);
    if (incoming.length) tables.push(this.table("inputs", incoming.slice(0, LISTED), incoming.length - LISTED));
    if (held.length) tables.push(this.table("controlInputs", held.slice(0, LISTED), held.length - LISTED));
    if (outgoing.length) tables.push(this.table("outputs", outgoing.slice(0, LISTED), outgoing.length - LISTED));
    return tables;
  }

  /** What crosses the border of a group. @param {any} edges @param {number} row @param {Path} path */
  border(edges, row, path) {
    const tables = [];
    for (const [caption, inward] of /** @type {[string, boolean][]} */ ([["inputs", true], ["outputs", false]])) {
      const found = [...this.app.facts.crossing(edges, row, inward)];
      const data = found.filter(([, one]) => one.tensors);
      const rows = data.map(([other, one]) => [
        el("span", { class: "wire" }, wireSign(edges, one.edges), this.link(this.beside(path, other))),
        el("span", { class: "tensor" }, one.tensors === 1 ? one.told || "?" : t("crossing", { n: one.tensors })),
      ]);
      if (rows.length) tables.push(this.table(caption, rows.slice(0, LISTED), rows.length - LISTED));
      const control = found.filter(([, one]) => !one.tensors);
      if (inward && control.length) {
        tables.push(this.table("controlInputs", control.slice(0, LISTED).map(([other, one]) => [el("span", { class: "wire" }, wireSign(edges, one.edges), this.link(this.beside(path, other)))]), control.length - LISTED));
      }
    }
    return tables;
  }

  /** @param {number} row */
  types(row) {
    const found = this.app.facts.types(row);
    const most = found.length ? found[0][1] : 1;
    const rows = found.slice(0, 12).map(([name, count]) => {
      const bar = el("span", { class: "share" });
      bar.style.width = `${Math.max(2, (100 * count) / most)}%`;
      return [name, el("span", { class: "count" }, counted(count)), bar];
    });
    return rows.length ? this.table("opTypes", rows, found.length - 12) : "";
  }

  /** @param {number} row */
  twins(row) {
    const found = this.app.facts.twins(row);
    if (!found.length) return "";
    const rows = found.slice(0, 12).map((one) => [this.link(this.app.facts.path(one))]);
    const table = this.table("twins", rows, found.length - 12);
    table.caption.append(el("em", {}, ` ${t("moreLike", { n: found.length })}`));
    return table;
  }
}

/** What a diff says of edges: the sign that their line bears, and its words. */
const WIRES = ["", "", "+ new wire", "+ partly new", "− removed wire", "− partly removed", "~ new and removed", "~ partly new, removed"];

/** The sign of what became of some edges, null where nothing did. @param {any} edges @param {number[]} numbers */
function wireSign({ states }, numbers) {
  let bits = 0;
  if (states) for (const at of numbers) bits |= 1 << states[at];
  const [sign, ...words] = (WIRES[bits] ?? "").split(" ");
  if (!sign) return null;
  const said = words.join(" ");
  const told = STRINGS[language][`legend.${said}`] ?? said;
  return el("span", { class: `sign ${WORDS_OF[sign]}`, role: "img", "aria-label": told, title: told }, sign);
}

/** A name that may break at its slashes. @param {string} name @returns {any[]} */
const broken = (name) => name.split(/(?<=\/|::)/).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));
