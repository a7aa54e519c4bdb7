// The card: everything known about the selected node. Names in it are links to their nodes.

import { CHANGE_CLASSES } from "./changes.js";
import { ROW_KINDS } from "./colours.js";
import { showComparison } from "./compare_nodes.js";
import { byId, el, raisePanel, removeChildren, shortText, svgEl, visibleText } from "./dom.js";
import { iconButton } from "./icons.js";
import { OP } from "./levels.js";
import { copyText } from "./share.js";
import { STRINGS, countWord, language, opsWord, t } from "./strings.js";

const MAX_CARD_ROWS = 40; // rows of a table that are shown

/** @typedef {{path: Path, edges: number[], states: Int32Array | null, key: string, tensor: string, count: number}} NodeEdge an edge to or from a node */

/** The start of a value, cut between elements. @param {string} value @param {number} most */
function cutValue(value, most) {
  const end = value.lastIndexOf(", ", most);
  const count = / … [\d,\u2009]+ in all$/.exec(value)?.[0] ?? " …";
  return end > 0 ? `${visibleText(value.slice(0, end))},${count}` : shortText(value, most);
}

export class Card {
  /** The section of a card with the logged charts of its node. @type {((path: Path) => Promise<HTMLElement | null>) | null} */
  static loggedSection = null;

  /** The action that shows a node in the timeline; null without a traced step. @type {((path: Path) => (() => void) | null) | null} */
  static timelineLink = null;

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.panel = byId("card");
    this.turn = 0;
  }

  hide() {
    this.turn++;
    this.panel.hidden = true;
    removeChildren(this.panel);
  }

  /** @param {Path} path */
  async show(path) {
    const { graph, facts } = this.app.state;
    const turn = ++this.turn;
    const row = path[path.length - 1];
    const body = el("div", { class: "body" });
    const group = graph.kind[row] !== OP;
    const name = graph.address(path);
    const close = el("button", { class: "icon close", "aria-label": t("closeDetails"), title: t("closeDetails"), onclick: () => this.app.actions.select(null) }, "×");
    const heading = el("h2", { tabindex: "-1", title: shortText(name, 600) }, ...nameWithBreaks(name || this.app.state.title));
    body.append(this.actionButtons(path), this.factList(path, row), ...this.changeSection(row));
    this.panel.hidden = false;
    raisePanel(this.panel);
    this.panel.replaceChildren(heading, close, body);
    this.panel.scrollTop = 0;
    const asked = [facts.edges(), this.figureTable(path), facts.attributes(row), facts.layerConfig(row), facts.constantContent(row), facts.programLines(row)];
    const [edges, figures, attributes, layer, content, program] = await Promise.all(asked.map((request) => request.catch(() => null)));
    const meanings = await facts.meanings().catch(() => null);
    if (turn !== this.turn) return;
    const whole = group || graph.calls.has(row);
    const parts = [
      this.meaningSection(meanings, layer?.[0] ?? graph.words[graph.op[row]]),
      content && this.contentSection(content, attributes ?? []),
      figures,
      program && this.programSection(program),
      layer?.[1].length && this.namedTable("configuration", layer[1], meanings),
      attributes?.length && this.namedTable("attributes", content ? attributes.filter((/** @type {any[]} */ [key]) => key !== "value") : attributes, meanings),
      ...(edges ? (whole ? this.groupEdgeTables(edges, row, path) : this.opEdgeTables(edges, row, path)) : []),
      ...(group ? [this.typeTable(row), this.twinTable(row, path)] : []),
    ];
    body.append(...parts.filter(Boolean));
    this.showLogged(path, turn, body); // not awaited: it may wait for the log
  }

  /** Append the logged charts once they are loaded. @param {Path} path @param {number} turn @param {any} body */
  async showLogged(path, turn, body) {
    const section = await Card.loggedSection?.(path).catch(() => null);
    if (turn === this.turn && section) body.querySelector("dl").after(section);
  }

  /** Update the buttons of the actions. @param {Path} path */
  refreshActions(path) {
    this.panel.querySelector(".actions")?.replaceWith(this.actionButtons(path));
  }

  /** The actions: the main one as a word, the others as icons. @param {Path} path */
  actionButtons(path) {
    const { app } = this;
    const row = path[path.length - 1];
    const opens = app.state.graph.isOpenable(row) && row !== 0 && app.state.graph.hasLevel(path) && !app.state.graph.isUngrouped(path);
    const open = app.state.open.has(app.state.graph.key(path));
    const series = app.state.groupableSeries(path);
    const sign = (/** @type {string} */ key, /** @type {() => any} */ run) => iconButton(key, run);
    const trace = (/** @type {string} */ key, /** @type {string} */ way) => [key, () => app.actions.traceFurther(path, way)];
    const [main, ...others] = /** @type {[string, () => any][]} */ ([
      ...(opens ? [[open ? "close" : "open", () => app.actions.toggle(path)]] : []),
      trace("traceInputs", "in"),
      trace("traceOutputs", "out"),
    ]);
    return el(
      "div",
      { class: "actions" },
      el("button", { class: "main", onclick: main[1] }, t(main[0])),
      ...others.map(([key, run]) => sign(key, run)),
      opens && sign("openAll", () => app.actions.openAll(path)),
      opens && open && sign("closeAll", () => app.actions.closeAll(path)),
      series && sign(app.state.graph.isUngrouped(series) ? "group" : "ungroup", () => app.actions.toggleGrouping(series)),
      app.view.canMove(path) && sign(app.view.isAuxiliary(path) ? "toMain" : "toAux", () => app.actions.toggleAuxiliary(path)),
      Card.timelineLink?.(path) && sign("profile.inTimeline", Card.timelineLink(path)),
      sign("fitNode", () => app.viewport.fitBox(path)),
      sign("copyName", () => copyText(app.state.graph.address(path)).then(() => app.frame.toast(t("nameCopied")))),
      ...this.memberButtons(path),
    );
  }

  /** Buttons that step through the members of a stack. @param {Path} path */
  memberButtons(path) {
    const { app } = this;
    const stack = app.state.stackMembers(path);
    if (!stack) return [];
    const { members, at } = stack;
    const arrow = (/** @type {string} */ key, /** @type {string} */ sign, /** @type {number} */ to) =>
      el("button", { class: "icon", "aria-label": t(key), title: t(key), disabled: !members[to], onclick: () => app.actions.showMember(path, members[to]) }, sign);
    const position = el("span", { class: "count" }, t("memberOf", { at: at + 1, n: members.length }));
    return [
      el("span", { class: "members" }, arrow("lastMember", "‹", at - 1), position, arrow("nextMember", "›", at + 1)),
      iconButton("allMembers", () => app.actions.listMembers(path)),
    ];
  }

  /** The facts of one line each: kind, op, device, count. @param {Path} path @param {number} row */
  factList(path, row) {
    const { app } = this;
    const { graph } = app.state;
    const list = el("dl");
    const say = (/** @type {string} */ key, /** @type {any} */ value) => value && list.append(el("dt", {}, t(key)), el("dd", {}, value));
    const kind = graph.mark[row] ? `mark.${graph.mark[row]}` : graph.calls.has(row) ? "kind.call" : ROW_KINDS[graph.kind[row]];
    say("kind", t(kind));
    say("op", graph.words[graph.op[row]]);
    say("device", graph.words[graph.device[row]]);
    if (graph.isOpenable(row)) say("count", opsWord(graph.ops[row]));
    if (graph.isOpenable(row) && !graph.hasLevel(path)) list.append(el("dd", { class: "wide" }, t("notHeld", { name: shortText(graph.address(path), 80) })));
    return list;
  }

  /** The measured numbers of a node as a table. @param {Path} path */
  async figureTable(path) {
    const { app } = this;
    const rows = [];
    for (const scheme of app.state.head.measured ?? []) {
      const colouring = await app.view.loadColouring(scheme).catch(() => null); // the colouring of the shown step
      const [text, lacks] = [colouring?.valueText(path), colouring?.missingCounts(path) ?? []];
      const words = lacks.map(([kind, count]) => el("div", { class: "lacks" }, t(`lacks.${kind}${count === 1 ? "1" : ""}`, { n: count, batch: colouring?.head.batch })));
      const value = text ? colouring?.boundedValueText(path) :  (lacks.some(([kind]) => kind !== "guessed") && t("unknown"));
      if (value) rows.push([t(`scheme.${scheme}`), el("span", { class: "count" }, value, ...words)]);
    }
    return rows.length ? this.makeTable("statistics", rows) : null;
  }

  /** The changes of a node in a diff, with the values before and after. @param {number} row */
  changeSection(row) {
    const { changes } = this.app;
    const ownChanges = changes?.changesOfRow(row) ?? [];
    if (changes && !ownChanges.length && row > 0) {
      const near = changes.changesNear(row).map((/** @type {any} */ change) => [el("button", { class: "link", title: shortText(change.full, 600), onclick: () => changes.revealChange(change) }, shortText(change.text, 300))]);
      return near.length ? [this.makeTable("changes", near.slice(0, MAX_CARD_ROWS), near.length - MAX_CARD_ROWS)] : [];
    }
    return ownChanges.map((/** @type {any} */ change) => {
      const rows = [];
      const pair = (/** @type {string} */ key, /** @type {string} */ value) => value && rows.push([el("span", { class: "key" }, t(key)), el("span", {}, ...nameWithBreaks(shortText(value, 300)))]);
      pair("before", change.detail.old ?? (change.sign === "→" ? change.old : ""));
      pair("after", change.detail.new ?? (change.sign === "→" ? change.new : ""));
      for (const fact of change.facts) rows.push(["", shortText(fact, 300)]);
      const table = this.makeTable("changes", rows);
      table.caption.replaceChildren(el("span", { class: `sign ${CHANGE_CLASSES[change.sign] ?? ""}` }, change.sign), ` ${shortText(change.text, 300)}`);
      return table;
    });
  }

  /** One line about the purpose of an op or a layer. @param {any} meanings @param {string} type */
  meaningSection(meanings, type) {
    const line = meanings?.ops[type];
    return line ? el("p", { class: "meaning" }, line[language === "ko" ? 1 : 0]) : null;
  }

  /** Lines of the program: the call of a group, then those inside it. @param {[string | null, [string, number][]]} program */
  programSection([call, inside]) {
    const cells = (/** @type {string} */ line, /** @type {number} */ ops) => {
      const cut = line.indexOf(" ");
      const [place, code] = cut < 0 ? [line, ""] : [line.slice(0, cut), line.slice(cut + 1)];
      return [el("div", {}, el("div", { class: "key" }, visibleText(place), ops > 1 ? el("em", {}, ` · ${t("ops", { n: ops })}`) : null), el("span", { class: "value" }, visibleText(code)))];
    };
    return this.makeTable("program", [...(call ? [cells(call, 0)] : []), ...inside.map(([line, ops]) => cells(line, ops))]);
  }

  /** Names and values. @param {string} caption @param {any[][]} pairs @param {any} meanings */
  namedTable(caption, pairs, meanings) {
    const rows = pairs.map(([name, value, length]) => {
      const text = value.length > 120 ? el("details", {}, el("summary", {}, cutValue(value, 100)), el("pre", {}, visibleText(value))) : visibleText(value);
      const about = meanings?.attributes[name]?.[language === "ko" ? 1 : 0];
      return [el("span", { class: `key${about ? " about" : ""}`, title: about }, name), el("span", { class: "value" }, text, length ? el("em", {}, t("longer", { n: length })) : null)];
    });
    return this.makeTable(caption, rows);
  }

  /** The values of a constant: statistics and a histogram. @param {any[]} content @param {any[][]} attributes */
  contentSection([count, least, most, mean, zeros, odd, bins], attributes) {
    const valueText = attributes.find(([name]) => name === "value")?.[1] ?? "";
    const cut = valueText.indexOf(": ");
    const number = (/** @type {number | null} */ value) => value !== null && String(Number(value.toPrecision(6)));
    const share = (/** @type {number} */ part) => part > 0 && `${countWord(part)} (${Number(((100 * part) / count).toPrecision(2))} %)`;
    const rows = [["content.type", cut < 0 ? valueText : valueText.slice(0, cut)], ["content.least", number(least)], ["content.most", number(most)], ["content.mean", number(mean)], ["content.zeros", share(zeros)], ["content.odd", share(odd)], ["content.first", cut >= 0 && cutValue(valueText.slice(cut + 2), 160)]];
    const table = this.makeTable("content", rows.filter(([, value]) => value).map(([key, value]) => [el("span", { class: "key" }, t(/** @type {string} */ (key))), el("span", { class: "value count" }, String(value))]));
    return bins.length ? el("div", {}, table, histogramOf(bins, number(least), number(most))) : table;
  }

  /** @param {string} caption @param {any[][]} rows @param {number} [more] */
  makeTable(caption, rows, more = 0) {
    const body = el("tbody");
    for (const cells of rows) body.append(el("tr", {}, ...cells.map((cell) => el("td", {}, cell))));
    if (more > 0) body.append(el("tr", {}, el("td", { colspan: 9, class: "more" }, t("and", { n: more }))));
    return el("table", {}, el("caption", {}, t(caption)), body);
  }

  /** A name that leads to its node. @param {Path} path */
  nodeLink(path) {
    const name = this.app.state.graph.address(path);
    return el("button", { class: "link", title: shortText(name), onclick: () => this.app.actions.reveal(path) }, ...nameWithBreaks(shortText(name, 160)));
  }

  /** The path of another row, as a neighbour of this path. @param {Path} path @param {number} row */
  neighbourPath(path, row) {
    return this.app.state.graph.neighbour(path, row, false).length > 1 ? this.app.state.graph.neighbour(path, row, false) : this.app.state.facts.pathOfRow(row);
  }

  /** The box that shows a path now: the outermost closed box around it, or its own. @param {Path} path @returns {Path} */
  visibleBoxPath(path) {
    const { app } = this;
    for (const group of [...app.state.graph.ancestors(path), path]) {
      const framed = app.state.graph.framePath(group);
      const box = app.view.boxAt(framed);
      if (box && !box.open) return framed;
    }
    return path;
  }

  /** Edges grouped by the visible box at their other end; each group unfolds to its tensors. @param {string} caption @param {NodeEdge[]} wired */
  edgeTables(caption, wired) {
    /** @type {Map<string, {seen: Path, all: NodeEdge[]}>} */
    const groups = new Map();
    for (const edge of wired) {
      const seen = this.visibleBoxPath(edge.path);
      const key = this.app.state.graph.key(seen);
      const group = groups.get(key) ?? { seen, all: [] };
      group.all.push(edge);
      groups.set(key, group);
    }
    const listed = [...groups.values()];
    if (!listed.length) return [];
    const table = this.makeTable(caption, [], listed.length - MAX_CARD_ROWS);
    table.tBodies[0].prepend(...listed.slice(0, MAX_CARD_ROWS).flatMap(({ seen, all }) => this.edgeRows(seen, all)));
    return [table];
  }

  /** The row of a box, and those of its tensors below. @param {Path} seen @param {NodeEdge[]} all @returns {HTMLElement[]} */
  edgeRows(seen, all) {
    const { graph } = this.app.state;
    const row = (/** @type {any[]} */ first, /** @type {string} */ tensor) => el("tr", {}, el("td", {}, el("span", { class: "wire" }, ...first)), el("td", {}, tensor && el("span", { class: "tensor" }, tensor)));
    const own = (/** @type {NodeEdge} */ edge) => row([changeSign(edge.states, edge.edges), this.nodeLink(edge.path), edge.key], edge.tensor);
    if (all.length === 1 && graph.key(all[0].path) === graph.key(seen)) return [own(all[0])];
    const count = all.reduce((sum, edge) => sum + edge.count, 0);
    const tensors = all.length === 1 ? all[0].tensor : count ? t("crossing", { n: count }) : "";
    const inner = all.slice(0, MAX_CARD_ROWS).map(own);
    if (all.length > MAX_CARD_ROWS) inner.push(row([t("and", { n: all.length - MAX_CARD_ROWS })], ""));
    for (const innerRow of inner) Object.assign(innerRow, { hidden: true, className: "inner" });
    const opener = iconButton("unfold", () => {
      const open = opener.getAttribute("aria-expanded") !== "true";
      opener.setAttribute("aria-expanded", String(open));
      for (const innerRow of inner) innerRow.hidden = !open;
    }, { class: "icon unfold", "aria-expanded": "false" });
    const edges = all.flatMap((edge) => edge.edges);
    return [row([changeSign(all[0].states, edges), this.nodeLink(seen), all.length > 1 && el("span", { class: "times" }, `×${countWord(all.length)}`), opener], tensors), ...inner];
  }

  /** Inputs and outputs of an op. @param {any} edges @param {number} row @param {Path} path */
  opEdgeTables(edges, row, path) {
    const { words } = this.app.state.graph;
    const into = this.app.state.facts.inputsOf(edges, row).sort((a, b) => edges.slot[a] - edges.slot[b]);
    const out = this.app.state.facts.outputsOf(edges, row);
    const key = (/** @type {number} */ edge) => (words[edges.key[edge]] === "0" ? "" : `:${words[edges.key[edge]]}`);
    const wire = (/** @type {Int32Array} */ other, /** @type {number} */ edge) => ({ path: this.neighbourPath(path, other[edge]), edges: [edge], states: edges.states, key: key(edge), tensor: words[edges.tensor[edge]] || "?", count: 1 });
    const data = (/** @type {number[]} */ list) => list.filter((edge) => !(edges.flags[edge] & 1));
    const control = into.filter((edge) => edges.flags[edge] & 1).map((edge) => ({ ...wire(edges.source, edge), key: "", tensor: "", count: 0 }));
    return [
      ...this.edgeTables("inputs", data(into).map((edge) => wire(edges.source, edge))),
      ...this.edgeTables("controlInputs", control),
      ...this.edgeTables("outputs", data(out).map((edge) => wire(edges.target, edge))),
    ];
  }

  /** Inputs and outputs of a group. @param {any} edges @param {number} row @param {Path} path */
  groupEdgeTables(edges, row, path) {
    const crossing = (/** @type {boolean} */ inward) => [...this.app.state.facts.crossingEdges(edges, row, inward)];
    const wire = (/** @type {[number, any]} */ [other, crossing]) => ({ path: this.neighbourPath(path, other), edges: crossing.edges, states: edges.states, key: "", tensor: !crossing.tensors ? "" : crossing.tensors === 1 ? crossing.tensor || "?" : t("crossing", { n: crossing.tensors }), count: crossing.tensors });
    const [into, out] = [crossing(true).map(wire), crossing(false).map(wire)];
    const data = (/** @type {NodeEdge[]} */ all) => all.filter((edge) => edge.count);
    return [...this.edgeTables("inputs", data(into)), ...this.edgeTables("controlInputs", into.filter((edge) => !edge.count)), ...this.edgeTables("outputs", data(out))];
  }

  /** @param {number} row */
  typeTable(row) {
    const counts = this.app.state.facts.typeCounts(row);
    const most = counts.length ? counts[0][1] : 1;
    const rows = counts.slice(0, 12).map(([name, count]) => {
      const bar = el("span", { class: "share" });
      bar.style.width = `${Math.max(2, (100 * count) / most)}%`;
      return [name, el("span", { class: "count" }, countWord(count)), bar];
    });
    return rows.length ? this.makeTable("opTypes", rows, counts.length - 12) : "";
  }

  /** @param {number} row @param {Path} path */
  twinTable(row, path) {
    const twins = this.app.state.facts.twinRows(row);
    if (!twins.length) return "";
    const rows = twins.slice(0, 12).map((twin) => {
      const other = this.app.state.facts.pathOfRow(twin);
      return [this.nodeLink(other), iconButton("compare", () => showComparison(this.app, path, other))];
    });
    const table = this.makeTable("twins", rows, twins.length - 12);
    table.caption.append(el("em", {}, ` ${t("moreLike", { n: twins.length })}`));
    return table;
  }
}

/** The sign and the label of each set of edge states (a bit each) in a diff. */
const WIRE_SIGNS = ["", "", "+ new wire", "+ partly new", "− removed wire", "− partly removed", "~ new and removed", "~ partly new, removed"];

/** The sign of the states of some edges; null if none changed. @param {Int32Array | null} states of all edges @param {number[]} numbers */
function changeSign(states, numbers) {
  let bits = 0;
  if (states) for (const at of numbers) bits |= 1 << states[at];
  const [sign, ...words] = (WIRE_SIGNS[bits] ?? "").split(" ");
  if (!sign) return null;
  const label = words.join(" ");
  const title = STRINGS[language][`legend.${label}`] ?? label;
  return el("span", { class: `sign ${CHANGE_CLASSES[sign]}`, role: "img", "aria-label": title, title: title }, sign);
}

/** A name that may break at its slashes. @param {string} name @returns {any[]} */
export const nameWithBreaks = (name) => name.split(/(?<=\/|::)/).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));

/** Bars of a histogram, from the least to the largest. @param {number[]} bins @param {any} least @param {any} most */
function histogramOf(bins, least, most) {
  const top = Math.max(...bins);
  const [wide, tall] = [300, 48];
  const step = wide / bins.length;
  const name = t("content.histogram", { least, most });
  const picture = svgEl("svg", { class: "histogram", viewBox: `0 0 ${wide} ${tall}`, preserveAspectRatio: "none", role: "img", "aria-label": name });
  bins.forEach((count, at) => {
    const high = count ? Math.max(1, (tall * count) / top) : 0;
    svgEl("rect", { x: at * step + 0.5, y: tall - high, width: step - 1, height: high }, picture);
  });
  return el("div", { class: "spread" }, picture, el("span", {}, least), el("span", {}, most));
}
