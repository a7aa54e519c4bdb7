// The application: the parts of the page of a graph, and the conversion of an address to a view.
//
//   state ──▶ view ──▶ viewport        what is open and selected, how it is drawn, where the camera is
//     ▲         legend, frame, panels  the parts around it
//   actions ──▶ history                actions of the reader, and the address of each view

import { Actions } from "./actions.js";
import { MAX_DISTANCE_PX } from "./camera.js";
import { Card } from "./card.js";
import { ChangeList } from "./changes.js";
import { byId, shortText } from "./dom.js";
import { Find } from "./find.js";
import { GraphView } from "./graph_view.js";
import { ViewHistory } from "./history.js";
import { narrowScreen } from "./input.js";
import { Legend } from "./legend.js";
import { Minimap } from "./minimap.js";
import { Moves } from "./moves.js";
import { Outline } from "./outline.js";
import { PageFrame } from "./page_frame.js";
import { WILDCARDS, matchingGroups } from "./patterns.js";
import { coordinateText } from "./shapes.js";
import { Share } from "./share.js";
import { STRINGS, t } from "./strings.js";
import { GraphTable } from "./table.js";
import { TraceBar, hopsText, parseTrace } from "./trace_bar.js";
import { ViewState } from "./view_state.js";
import { Viewport } from "./viewport.js";

export class App {
  /** @param {Graph} graph @param {Head} head */
  constructor(graph, head) {
    this.state = new ViewState();
    this.state.showGraph(graph, head);
    this.history = new ViewHistory(this);
    this.actions = new Actions(this);
    this.frame = new PageFrame(this);
    this.legend = new Legend(this);
    this.view = new GraphView(this);
    this.view.reset();
    this.viewport = new Viewport(this);
    this.card = new Card(this);
    this.find = new Find(this);
    this.outline = new Outline(this);
    this.minimap = new Minimap(this);
    this.tracing = new TraceBar(this);
    this.table = new GraphTable(this);
    this.share = new Share(this);
    /** @type {Stepper | null} */
    this.stepper = null;
    this.updateChanges();
  }

  /** The list of changes, where the graph is that of a diff. */
  updateChanges() {
    this.changes = this.state.head.changes ? new ChangeList(this) : null;
    byId("changes-button").hidden = !this.changes;
    if (this.changes) return;
    byId("changes").hidden = true;
    document.body.classList.remove("comparing");
  }

  /** Show another graph. @param {Graph} graph @param {Head} head @param {Record<string, any>} state of its view */
  async adoptGraph(graph, head, state) {
    this.takeGraph(graph, head);
    this.find.clear();
    this.updateChanges();
    this.history.past = this.history.future = [];
    await this.restore(state);
  }

  /** @param {Graph} graph @param {Head} head */
  takeGraph(graph, head) {
    this.state.showGraph(graph, head);
    this.view.reset();
    this.viewport.reset();
    this.actions.forgetCard();
  }

  /** Restore a state; names that are missing from this graph are reported. @param {Record<string, any>} state */
  async restore(state) {
    const { open, members, select, colour, theme, language: tongue, trace, at, aux, main, step, ungroup, table, rows, ...rest } = state;
    this.state.otherValues = rest;
    this.history.lastKind = "";
    const lost = [];
    const wanted = new Map();
    const want = (/** @type {Path} */ path) => [...this.state.graph.ancestors(path), path].forEach((group) => (group.length > 1 || group[0] !== 0) && wanted.set(this.state.graph.key(group), group));
    for (const name of open ?? []) {
      const { paths, more } = name.search(WILDCARDS) < 0 || this.state.graph.pathOfAddress(name) ? { paths: [], more: false } : matchingGroups(this.state.graph, name);
      paths.forEach(want);
      if (more) this.frame.toast(t("notAll"));
      if (paths.length) continue;
      const path = this.state.nearestGroup(name);
      if (name && (!path || this.state.graph.address(path) !== name)) lost.push(name);
      if (path) want(path);
    }
    for (const [key, path] of [...wanted]) if (wanted.has(key)) this.state.graph.closeOtherMembers([path], wanted);
    if (open) this.state.openUsualMembers(wanted, new Set(members ?? []));
    const foreign = open !== undefined && !wanted.size && lost.length > 0; // the address is that of another graph
    if (open === undefined || foreign) for (const path of this.state.head.open) wanted.set(this.state.graph.key(path), path);
    const path = select ? this.state.graph.pathOfAddress(select) : null;
    if (select && !path) lost.push(select);
    if (path && open === undefined) this.state.openAround(path, wanted);
    this.state.graph.ungroupedLevels = new Map();
    for (const name of ungroup ?? []) {
      const path = this.state.graph.pathOfAddress(name);
      const level = path && this.state.graph.ungroupableLevel(path);
      if (!level) lost.push(name);
      else this.state.graph.ungroupedLevels.set(this.state.graph.key(level), level);
      if (level && !open) want(level);
    }
    this.state.open = wanted;
    this.state.isOpenChosen = open !== undefined && !foreign;
    if (theme === undefined || theme === "light" || theme === "dark") this.state.themeChoice = theme ?? "system";
    else lost.push(theme);
    const spoken = tongue !== undefined && Object.hasOwn(STRINGS, tongue);
    if (tongue !== undefined && !spoken) lost.push(tongue);
    this.frame.setLanguage(spoken ? tongue : "");
    this.state.stepIndex = step === undefined ? -1 : this.state.head.steps.indexOf(step);
    if (step !== undefined && this.state.stepIndex < 0) lost.push(step);
    const usual = this.state.head.options.color_by;
    this.state.awaitedScheme = ViewState.laterSchemes.has(colour) && !this.state.schemes.includes(colour) ? colour : "";
    if (colour && !this.state.awaitedScheme && !this.state.schemes.includes(colour)) lost.push(colour);
    this.state.scheme = this.state.schemes.includes(colour) ? colour : usual;
    this.state.selected = path;
    if (!path) {
      this.state.hostPath = null;
      this.card.hide();
    }
    this.state.traced = null;
    this.tracing.draw();
    this.state.moves = new Moves();
    for (const [side, names] of [[this.state.moves.aux, aux ?? []], [this.state.moves.main, main ?? []]]) {
      for (const name of names) {
        const moved = this.state.graph.pathOfAddress(name);
        if (moved) side.set(this.state.graph.key(moved), moved);
        else lost.push(name);
      }
    }
    this.frame.update();
    this.table.restore(table, rows ?? "");
    await this.view.redraw(null, false);
    const asked = trace ? parseTrace(trace) : null;
    const from = asked && this.state.graph.pathOfAddress(asked.name);
    if (from) await this.actions.traceNow(from, asked.way, asked.hops);
    else if (trace) lost.push(trace);
    const place = at?.split(",").map(Number);
    if (place?.length === 3 && place.every((value) => Math.abs(value) <= MAX_DISTANCE_PX) && place[2] > 0 && !foreign) {
      this.state.isCameraMoved = true;
      if (path) await this.actions.selectNow(path); // before the fit, since its card covers part of the window
      if (path && narrowScreen.matches) await this.actions.cardReady; // the height of a sheet depends on its content
      this.viewport.camera.lookAtPlace(place);
      if (path) await this.viewport.bringSelected(path);
    } else {
      this.viewport.fit(false);
      if (path) await this.actions.selectNow(path);
    }
    this.legend.draw();
    if (lost.length) this.frame.toast(t("missing", { names: [...lost.slice(0, 5).map((name) => shortText(name, 60)), ...(lost.length > 5 ? ["…"] : [])].join(", ") }), 9000);
    this.history.writeAddress();
  }

  /** The state as plain values: what the hash holds. */
  addressValues() {
    /** @type {Record<string, any>} */
    const out = { ...this.state.otherValues };
    if (this.state.isOpenChosen) out.open = this.state.innermostOpen().map((path) => this.state.graph.address(path));
    if (out.open && !out.open.length) out.open = [""];
    const listed = out.open ? this.state.listedStacks() : [];
    if (listed.length) out.members = listed.map((path) => this.state.graph.address(path));
    if (this.state.selected) out.select = this.state.graph.address(this.state.selected);
    if (this.state.awaitedScheme || this.state.scheme !== this.state.head.options.color_by) out.colour = this.state.awaitedScheme || this.state.scheme;
    if (this.state.stepIndex >= 0) out.step = this.state.head.steps[this.state.stepIndex];
    if (this.state.themeChoice !== "system") out.theme = this.state.themeChoice;
    if (this.state.chosenLanguage) out.language = this.state.chosenLanguage;
    for (const side of /** @type {("aux" | "main")[]} */ (["aux", "main"])) {
      if (this.state.moves[side].size) out[side] = [...this.state.moves[side].values()].map((path) => this.state.graph.address(path));
    }
    const apart = this.state.ungroupedSeries();
    if (apart.length) out.ungroup = apart.map((path) => this.state.graph.address(path));
    if (this.state.traced) out.trace = `${this.state.traced.way}${hopsText(this.state.traced.hops)}:${this.state.graph.address(this.state.traced.path)}`;
    Object.assign(out, this.table.addressValues());
    if (this.state.isCameraMoved && !this.viewport.isFitted()) out.at = this.viewport.camera.currentPlace().map(coordinateText).join();
    return out;
  }

  /** @param {string} name @param {any} detail */
  emit(name, detail) {
    this.view.svg.dispatchEvent(new CustomEvent(`tbgraph:${name}`, { bubbles: true, detail }));
  }
}
