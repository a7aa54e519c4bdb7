// Tags joined to the graph: the charts of a node in its card, and links from a chart back to its node.

import { byId, el } from "../dom.js";
import { countWord, t } from "../strings.js";
import { PAGES } from "./logs.js";

const INITIAL_CHARTS = 3; // charts of a node that are shown at first
const CHARTS_PER_MORE = 30;

/** @typedef {{joins: [number, number, string, string][], runs?: string[], apart: [number, string, number[]][], clouds?: [number, number, string][]}} GraphJoins */
/** @typedef {{tag: LogTag, row: number, rule: string}} JoinedTag */

export class Joined {
  /** @param {Logs} logs @param {() => App | null} app returns the app that shows the graph */
  constructor(logs, app) {
    this.logs = logs;
    this.app = app;
    this.panel = byId("card");
    /** @type {Map<string, TagPage>} pages that make the cards of each kind, without being shown */
    this.pages = new Map();
    /** @type {JoinedTag[]} */
    this.joinedTags = [];
    /** @type {Map<number, number[]>} the rows of each tag */
    this.rowsByTag = new Map();
    /** @type {{id: number, row: number, rule: string}[]} embeddings, by their ids */
    this.clouds = [];
    /** @type {Set<string> | null} the runs that belong to this graph; null: all */
    this.runs = null;
    this.bands = false; // histograms as percentiles
    this.graphId = ""; // the graph whose joins are here
    this.isDirty = true;
    this.loading = Promise.resolve();
  }

  /** Load the joins of the graph unless they are current. @returns {Promise<void>} */
  load() {
    const of = this.logs.hooks.graphId();
    if (this.isDirty || of !== this.graphId) {
      this.isDirty = false;
      this.graphId = of;
      this.loading = this.loadJoinsOf(of);
      this.loading.catch(() => (this.isDirty = true));
    }
    return this.loading;
  }

  /** @param {string} of */
  async loadJoinsOf(of) {
    const [joins, tags] = await Promise.all([this.logs.feed.joins(of), this.logs.feed.tags()]);
    const named = new Map(tags.map((tag) => [tag.id, tag]));
    this.joinedTags = joins.joins.flatMap(([tag, row, rule]) => (named.has(tag) ? [{ tag: /** @type {LogTag} */ (named.get(tag)), row, rule }] : []));
    this.runs = joins.runs ? new Set(joins.runs) : null;
    this.clouds = (joins.clouds ?? []).map(([id, row, rule]) => ({ id, row, rule }));
    this.rowsByTag = new Map();
    for (const { tag, row } of this.joinedTags) this.rowsByTag.set(tag.id, [...(this.rowsByTag.get(tag.id) ?? []), row]);
  }

  /** The tags that belong to a row, then those of its content and its functions. @param {number} row */
  tagsOf(row) {
    const { graph } = (this.app()).state;
    const heldRows = new Set([row]);
    for (const holder of heldRows) for (const [call, bodies] of graph.calls) if (call >= holder && call < graph.end[holder]) for (const [, body] of bodies) heldRows.add(body);
    const order = (/** @type {LogTag} */ tag) => PAGES.findIndex(([name]) => name === tag.kind);
    const inside = (/** @type {number} */ at) => [...heldRows].some((holder) => at >= holder && at < graph.end[holder]);
    const names = new Map(this.logs.runs.listedRuns().map((run) => [run.id, run.name]));
    const ours = (/** @type {LogTag} */ tag) => !this.runs || tag.runs.some(([run]) => this.isOfGraph(names.get(run) ?? ""));
    const tags = this.joinedTags.filter((joined) => inside(joined.row) && ours(joined.tag)).sort((a, b) => Number(b.row === row) - Number(a.row === row) || a.row - b.row || order(a.tag) - order(b.tag));
    const seen = new Set();
    return tags.filter((joined) => !seen.has(joined.tag.id) && seen.add(joined.tag.id));
  }

  /** Whether a run belongs to the shown graph. @param {string} name */
  isOfGraph(name) {
    return !this.runs || this.runs.has(name);
  }

  /** The page that makes the cards of a kind. @param {string} kind */
  joinedPage(kind) {
    const name = kind === "histogram" && this.bands ? "distribution" : kind;
    let page = this.pages.get(name);
    if (!page) {
      page = /** @type {TagPage} */ (PAGES.find(([word]) => word === name)?.[2](this.logs));
      page.draw = () => undefined; // its cards are shown in the card of a node
      page.observeCards(this.panel);
      page.cardLink = (card) => ["log.openPage", () => this.openPage(name, card.tag)];
      this.pages.set(name, page);
    }
    return page;
  }

  /** The part of a node's card that shows what was logged there; null if nothing was logged. @param {Path} path @returns {Promise<HTMLElement | null>} */
  async cardRegion(path) {
    await this.load();
    const { graph, facts } = (this.app()).state;
    const own = path[path.length - 1];
    const row = graph.mark[own] ? await facts.hostRow(own) : own;
    const tags = row < 0 ? [] : this.tagsOf(row);
    const clouds = row < 0 ? [] : this.clouds.filter((cloud) => cloud.row === row || (cloud.row > row && cloud.row < graph.end[row]));
    this.dropCharts();
    if (!tags.length && !clouds.length) return null;
    const ways = el("div", { class: "cloud-ways" }, ...clouds.slice(0, INITIAL_CHARTS).map((cloud) => el("p", {}, el("button", { onclick: () => this.openCloud(cloud.id) }, t("log.cloud.open")), el("span", { class: "quiet" }, ` ${t(`log.rule.${cloud.rule}`)}`))));
    if (!tags.length) return el("section", { class: "logged", role: "region", "aria-label": t("log.logged") }, el("div", { class: "logged-head" }, el("h3", {}, t("log.logged"))), ways);
    const root = el("section", { class: "logged", role: "region", "aria-label": t("log.logged") });
    this.fillRegion(root, tags, row, INITIAL_CHARTS);
    if (!clouds.length) return root;
    return el("div", {}, ways, root);
  }

  /** Show an embedding on its page. @param {number} id */
  async openCloud(id) {
    await this.logs.show("projector");
    await this.logs.projector?.showEmbeddingById(id);
  }

  /** Show the nodes of an embedding. @param {number} id */
  async showCloud(id) {
    const app = this.app();
    const rows = this.clouds.filter((cloud) => cloud.id === id).map((cloud) => cloud.row);
    if (!app || !rows.length) return;
    await this.logs.show("graph");
    await app.actions.reveal(app.state.facts.pathOfRow(rows[0]));
    if (rows.length > 1) await app.actions.markRows(rows);
  }

  /** @param {HTMLElement} root @param {JoinedTag[]} tags @param {number} row @param {number} most */
  fillRegion(root, tags, row, most) {
    const runs = this.logs.runs.listedRuns().filter((run) => this.logs.runs.chosen.has(run.name) && this.isOfGraph(run.name));
    const parts = [];
    const tips = new Set();
    let left = 0;
    for (const joined of tags) {
      const page = this.joinedPage(joined.tag.kind);
      const entries = page ? page.entries(joined.tag, runs) : [];
      for (const entry of entries) {
        if (parts.length >= most) left++;
        else parts.push(this.chartElement(page, entry, joined, row));
      }
      if (entries.length) tips.add(page.tip);
    }
    const histograms = tags.some((joined) => joined.tag.kind === "histogram");
    const toggle = histograms && el("button", { class: "quiet", "aria-pressed": String(this.bands), onclick: () => ((this.bands = !this.bands), this.refreshRegion(root, tags, row, most)) }, t("log.page.distribution"));
    const more = left > 0 && el("button", { onclick: () => this.refreshRegion(root, tags, row, most + CHARTS_PER_MORE) }, t("and", { n: left }));
    const none = !parts.length && el("p", { class: "quiet" }, t("log.nothing"));
    root.replaceChildren(el("div", { class: "logged-head" }, el("h3", {}, t("log.logged"), el("span", { class: "quiet" }, ` ${countWord(tags.length)}`)), toggle || null), ...[...parts, more, none].filter(Boolean), ...tips);
  }

  /** @param {HTMLElement} root @param {JoinedTag[]} tags @param {number} row @param {number} most */
  refreshRegion(root, tags, row, most) {
    this.dropCharts();
    this.fillRegion(root, tags, row, most);
  }

  /** A chart, and the rule that joined its tag. @param {TagPage} page @param {CardEntry} entry @param {JoinedTag} joined @param {number} row */
  chartElement(page, entry, joined, row) {
    const app = /** @type {App} */ (this.app());
    const why = el("p", { class: "quiet" }, t(`log.rule.${joined.rule}`));
    if (joined.row !== row) why.append(" · ", app.card.nodeLink(app.state.facts.pathOfRow(joined.row)));
    return el("div", { class: "logged-chart" }, page.cardOfEntry(entry).root, why);
  }

  /** Release the shown cards. */
  dropCharts() {
    for (const page of this.pages.values()) {
      page.tip.hidden = true;
      page.dropAll();
    }
  }

  /** The nodes of a tag, and the node to select: the only one, or the group that contains all of them.
   * @param {LogTag[]} tags @returns {{row: number, rows: number[]} | null} */
  jointPlace(tags) {
    const app = this.app();
    const rows = tags.flatMap((tag) => this.rowsByTag.get(tag.id) ?? []);
    if (!app || !rows.length) return null;
    const { graph } = app.state;
    let row = rows[0];
    while (row > 0 && !rows.every((tagRow) => tagRow >= row && tagRow < graph.end[row])) row = graph.parent[row];
    return row > 0 ? { row, rows } : null;
  }

  /** Show the nodes of some tags; all calls of a layer are ringed. @param {LogTag[]} tags */
  async showTags(tags) {
    const app = this.app();
    const rows = tags.flatMap((tag) => this.rowsByTag.get(tag.id) ?? []);
    if (!app || !rows.length) return;
    await this.logs.show("graph");
    await app.actions.reveal(app.state.facts.pathOfRow(this.jointPlace(tags)?.row ?? rows[0]));
    if (tags.length === 1 && rows.length > 1) await app.actions.markRows(rows);
  }

  /** Show a tag alone on the page of its kind. @param {string} name of the page @param {LogTag} tag */
  openPage(name, tag) {
    this.logs.setPattern(`^${tag.name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`);
    return this.logs.show(name);
  }

  /** Show the card of the selected node again after a change of runs, tags or graph. */
  refresh() {
    const app = this.app();
    if (app?.state.selected) app.actions.queue(async () => app.state.selected && (app.actions.cardReady = app.card.show(app.state.selected)));
  }
}
