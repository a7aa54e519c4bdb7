// Choose the graph of the server: run, tag, and the graph it is compared with; show the progress of reading.

import { stateOf } from "../address.js";
import { Blocks, ServerLost } from "../data.js";
import { byId, el, shortText } from "../dom.js";
import { fillChooser } from "../page_frame.js";
import { createApp, initialState, loadGraph, reportFailure } from "../startup.js";
import { STRINGS, language, t } from "../strings.js";
import { ServerRefusal } from "./server.js";

export const RETRY_PAUSE_MS = 300; // milliseconds until a request is repeated, and until a wait is shown
const POLL_PAUSE_MS = 3000; // milliseconds between two polls of a loading graph, if no event arrives
const OWN_GRAPH = "__run_graph__"; // the tag that TensorBoard gives to the graph of a run

/** @typedef {{id: string, run: string | null, tag: string | null, tagSet: string | null, kind: string, preferred: boolean, nodes: number | null, version: number, state: string, stage: string, done: number, total: number | null, error: string, hint: string}} GraphListing */

export class GraphChooser {
  /** @param {Server} server @param {string} title */
  constructor(server, title) {
    this.server = server;
    this.title = title;
    /** @type {GraphListing[]} */
    this.graphs = [];
    /** @type {App | null} */
    this.app = null;
    /** the id of the shown or loading graph; two ids with a hyphen for a comparison */
    this.id = "";
    this.version = -1;
    /** @type {Record<string, any>} the entries of an address that name the shown graph */
    this.shownAddress = {};
    this.turn = 0;
    this.listingCount = 0; // number of lists of graphs that the server sent
    this.isServerNew = false; // whether the server restarted, and has not listed its graphs yet
    this.reading = { id: "", begun: 0 };
    /** called when another graph is shown */
    this.onShown = () => undefined;
    /** @type {(value?: any) => void} */
    this.onProgress = () => undefined;
    this.panel = byId("reading");
    addEventListener("hashchange", (event) => this.onAddress(new URL(event.newURL).hash));
    byId("run").addEventListener("change", () => this.chooseGraph(this.graphsOfRun(byId("run").value)[0]?.id));
    byId("tag").addEventListener("change", () => this.chooseGraph(byId("tag").value));
    byId("against").addEventListener("change", () => this.chooseGraph(byId("against").value ? `${byId("against").value}-${this.shownId()}` : this.shownId()));
  }

  /** Set the graphs to choose from. @param {GraphListing[]} graphs */
  setGraphs(graphs) {
    this.graphs = graphs;
    this.draw();
  }

  /** The shown graph, without the one it is compared with. */
  shownId() {
    return this.id.split("-").pop();
  }

  /** @param {string} id */
  graphById(id) {
    return this.graphs.find((graph) => graph.id === id);
  }

  /** The graphs of a run, the preferred one first. @param {string} run @returns {GraphListing[]} */
  graphsOfRun(run) {
    const graphs = this.graphs.filter((graph) => (graph.run ?? "") === run);
    return graphs.sort((a, b) => Number(b.preferred) - Number(a.preferred) || Number(a.id) - Number(b.id));
  }

  /** Fill the lists. */
  draw() {
    const shown = this.graphById(this.shownId());
    const runs = [...new Set(this.graphs.map((graph) => graph.run ?? ""))];
    const tags = shown ? this.graphsOfRun(shown.run ?? "") : [];
    const others = shown ? this.graphs.filter((graph) => graph.id !== shown.id && graph.kind === shown.kind) : [];
    this.fillOptions("run", runs.map((run) => [run, runTitle(run)]), shown?.run ?? "", runs.length > 1);
    this.fillOptions("tag", tags.map((graph) => [graph.id, tagTitle(graph)]), shown?.id ?? "", tags.length > 1);
    const against = this.id.includes("-") ? this.id.split("-")[0] : "";
    this.fillOptions("against", [["", t("alone")], ...others.map((graph) => /** @type {[string, string]} */ ([graph.id, this.graphTitle(graph)]))], against, others.length > 0);
  }

  /** @param {string} id @param {[string, string][]} pairs @param {string} value @param {boolean} needed */
  fillOptions(id, pairs, value, needed) {
    fillChooser(id, pairs.map(([key, word]) => [key, shortText(word, 80)]), value);
    byId(id).hidden = !needed;
  }

  /** A graph in words. @param {GraphListing | undefined} graph */
  graphTitle(graph) {
    if (!graph) return this.title;
    const tags = this.graphsOfRun(graph.run ?? "");
    const run = graph.run && graph.run !== "." ? graph.run : this.title;
    return tags.length > 1 ? `${run} · ${tagTitle(graph)}` : run;
  }

  /** The graph that an address means: of a run, of a tag, compared with another one. @param {Record<string, any>} state */
  graphIdInAddress(state) {
    const named = (/** @type {string} */ run, /** @type {string | undefined} */ tag) => this.graphsOfRun(run).find((graph) => tag === undefined || tagKey(graph) === tag);
    const preferred = this.graphs.filter((graph) => graph.preferred);
    const run = state.run ?? (preferred.find((graph) => graph.kind === "op") ?? preferred[0])?.run ?? "";
    const own = named(run, state.tag) ?? this.graphsOfRun(run)[0] ?? this.graphs[0];
    const [otherRun, otherTag] = (state.against ?? "").split("#");
    const other = state.against !== undefined && named(otherRun, otherTag);
    return own && other && other !== own ? `${other.id}-${own.id}` : own?.id;
  }

  /** The entries of the address that name the shown graph. */
  addressValues() {
    const own = this.graphById(this.shownId());
    if (!own) return {};
    const other = this.id.includes("-") ? this.graphById(this.id.split("-")[0]) : undefined;
    // Name the only run too, unless it is the whole source: another run may appear and come first.
    /** @type {Record<string, any>} */
    const out = { run: own.run ?? undefined, tag: this.graphsOfRun(own.run ?? "")[0] === own ? undefined : tagKey(own) };
    out.against = other ? `${other.run ?? ""}#${tagKey(other)}` : undefined;
    return out;
  }

  /** The address changed, by hand or by the browser's Back: it may mean another graph. @param {string} hash */
  onAddress(hash) {
    const state = stateOf(hash);
    const id = this.graphIdInAddress(state);
    if (this.app && id !== undefined && id !== this.id && hash.slice(1) !== this.app.history.written) this.showGraph(id, state).catch(reportFailure);
  }

  /** Show a graph that the reader chose. @param {string | undefined} id */
  chooseGraph(id) {
    if (id === undefined || id === this.id) return Promise.resolve();
    const { themeChoice = "system", chosenLanguage: tongue = "" } = this.app?.state ?? {};
    return this.showGraph(id, { ...this.app?.state.otherValues, ...(themeChoice !== "system" && { theme: themeChoice }), ...(tongue && { language: tongue }) });
  }

  /** Show a graph once it is loaded. @param {string} id @param {Record<string, any>} state */
  async showGraph(id, state) {
    const turn = ++this.turn;
    this.id = id;
    this.draw();
    const version = this.graphById(this.shownId())?.version ?? 0;
    const loaded = await this.readGraph(id, turn);
    if (!loaded || turn !== this.turn) return;
    const { head, graph } = loaded;
    this.version = version;
    this.panel.hidden = true;
    const { run, tag, against, ...rest } = state;
    const whole = { ...initialState(head), ...rest, ...this.addressValues() };
    if (!this.app) Object.assign(whole, stateOf(location.hash)); // actions of the reader meanwhile
    this.shownAddress = this.addressValues();
    if (this.app) await this.app.actions.queue(() => /** @type {App} */ (this.app).adoptGraph(graph, head, whole));
    else {
      this.app = createApp(graph, head);
      await this.app.actions.queue(() => /** @type {App} */ (this.app).restore(whole));
      this.app.history.past = [];
    }
    this.onShown();
  }

  /** Load a graph, and show the progress. @param {string} id @param {number} turn */
  async readGraph(id, turn) {
    const begun = performance.now();
    this.reading = { id, begun };
    while (turn === this.turn) {
      try {
        // This starts loading unless the graph is loaded.
        const { state } = await (await this.server.post(`api/load/${id}`)).json();
        if (state !== "ready") await this.nextChange();
        const { head, blocks } = await this.server.requestJson(`api/graphs/${id}`);
        return { head, graph: await loadGraph(head, this.remoteBlocks(id, blocks)) };
      } catch (error) {
        if (error instanceof ServerLost) this.showPanel(t("lost"));
        else if (!(error instanceof ServerRefusal)) throw error;
        else if (error.status !== 409) return void this.showFailure(id, error);
        await new Promise((done) => setTimeout(done, RETRY_PAUSE_MS));
      }
    }
  }

  /** Wait for an event about the loading graph, with a timeout, since an event may be lost. */
  nextChange() {
    return new Promise((done) => {
      this.onProgress = done;
      setTimeout(done, POLL_PAUSE_MS);
    });
  }

  /** The blocks of a graph, each fetched on first use. @param {string} id @param {any[][]} listing @returns {Blocks} */
  remoteBlocks(id, listing) {
    const read = (/** @type {string} */ name, /** @type {string} */ digest) => async () => {
      for (;;) {
        try {
          const answer = await this.server.request(`api/graphs/${id}/blocks/${name.split("/").map(encodeURIComponent).join("/")}?digest=${digest}`);
          return answer.arrayBuffer();
        } catch (error) {
          if (!(error instanceof ServerRefusal)) throw error;
          if (error.status !== 409) throw new ServerLost(error.message); // on 409 the server has dropped the graph, and loads it again
        }
        await new Promise((done) => setTimeout(done, RETRY_PAUSE_MS));
      }
    };
    return new Blocks(listing.map(([name, kind, digest]) => ({ name, kind, digest, read: read(name, digest) })));
  }

  /** @param {any} progress */
  showProgress(progress) {
    if (performance.now() - this.reading.begun < RETRY_PAUSE_MS) return; // do not flash the progress of a short wait
    const share = progress.total ? { max: progress.total, value: progress.done } : {};
    const stage = STRINGS[language][`stage.${progress.stage}`] ?? STRINGS.en[`stage.${progress.stage}`] ?? t("loading");
    this.showPanel(t("reading", { name: this.graphTitle(this.graphById(this.shownId())) }), el("progress", { ...share, "aria-label": t("loading") }), el("small", {}, stage), el("button", { onclick: () => this.cancelReading() }, t("cancel")));
  }

  cancelReading() {
    this.server.post(`api/cancel/${this.id}`).then(() => this.onProgress(), () => undefined);
  }

  /** @param {string} id @param {ServerRefusal} error */
  showFailure(id, error) {
    const name = this.graphTitle(this.graphById(this.shownId()));
    const again = el("button", { onclick: () => this.server.post(`api/load/${id}`).then(() => this.showGraph(id, this.app?.state.otherValues ?? stateOf(location.hash)), reportFailure) }, t("again"));
    if (error.answer.cancelled) this.showPanel(t("cancelled", { name }), again);
    else this.showPanel(t("unread", { name, error: shortText(error.message) }), el("small", {}, shortText(error.answer.hint ?? "")), again);
  }

  /** @param {string} text @param {...Node} more */
  showPanel(text, ...more) {
    const focused = this.panel.contains(document.activeElement);
    this.panel.replaceChildren(el("p", {}, text), ...more);
    this.panel.hidden = false;
    if (focused) this.panel.querySelector("button")?.focus();
  }

  /** Handle an event of the server. @param {string} name @param {any} data */
  onEvent(name, data) {
    if (name === "progress" && data.graph === this.reading.id) {
      if (data.state === "reading") this.showProgress(data);
      else this.onProgress();
    }
    if (name !== "graph") return;
    this.listingCount++;
    if (this.isServerNew) return void this.showAfterRestart(data.graphs);
    this.setGraphs(data.graphs);
    const own = this.graphById(this.shownId());
    if (!this.id && this.graphs.length) this.showFirst();
    else if (own && this.app && this.version >= 0 && own.version > this.version) {
      this.app.frame.toast(t("newGraph"));
      this.showGraph(this.id, this.app.addressValues()).catch(reportFailure);
    }
  }

  /** List the graphs after a lost connection, unless the server has not listed them yet, or has sent a newer list since the
   * request. @param {boolean} anew @param {Promise<any>} asked */
  async relistGraphs(anew, asked) {
    this.isServerNew ||= anew;
    const before = this.listingCount;
    const state = await asked;
    if (!state.ready || this.listingCount !== before) return;
    if (this.isServerNew) await this.showAfterRestart(state.graphs);
    else this.setGraphs(state.graphs);
  }

  /** Show the same graph again after a restart of the server, whose ids differ, once it has listed its graphs.
   * @param {GraphListing[]} graphs */
  showAfterRestart(graphs) {
    this.isServerNew = false;
    this.graphs = graphs;
    const id = this.graphIdInAddress(this.shownAddress);
    if (this.app && id !== undefined) return this.showGraph(id, this.app.addressValues()).catch(reportFailure);
    this.draw();
    return this.app ? Promise.resolve() : this.showFirst();
  }

  /** Show the graph that the address means, or the first one. */
  showFirst() {
    const state = stateOf(location.hash);
    const id = this.graphIdInAddress(state);
    return id === undefined ? Promise.resolve() : this.showGraph(id, state).catch(reportFailure);
  }
}

/** @param {string} run */
const runTitle = (run) => (run === "" || run === "." ? t("wholeRun") : run);

/** @param {GraphListing} graph */
const tagTitle = (graph) => {
  const name = graph.tag === null || graph.tag === OWN_GRAPH ? (graph.tagSet ?? t("wholeGraph")) : graph.tag;
  return graph.kind === "conceptual" ? `${name} · ${t("layers")}` : name;
};

/** The key of a graph within its run, for an address. @param {GraphListing} graph */
const tagKey = (graph) => [graph.tag ?? graph.tagSet ?? "", ...(graph.kind === "op" ? [] : [graph.kind])].join(":");
