// The pages of a log beside the graph: tabs, the list of runs, and what comes while a run goes on.

const PAGES = ["graph", "scalar"]; // in the order of their tabs; `1` … `9` go to them

class Logs {
  /**
   * @param {LogFeed} feed
   * @param {{theme: () => string, remember: (values: Record<string, string>) => void, toast: (text: string) => void, graph: () => boolean}} hooks
   */
  constructor(feed, hooks) {
    this.feed = feed;
    this.hooks = hooks;
    /** @type {LogState} */
    this.state = { title: "", generation: "", runs: [], graphs: [], ready: false, kinds: {}, hues: { light: ["#0969DA"], dark: ["#58A6FF"] } };
    this.page = "";
    this.restoring = true; // until the address was read, nothing is written to it
    this.tabs = el("div", { id: "tabs", role: "tablist", "aria-label": t("log.pages") });
    this.lamp = el("span", { id: "lamp", role: "status" });
    byId("heading").after(this.tabs, this.lamp);
    this.root = el("main", { id: "logs", hidden: true });
    this.side = el("aside", { id: "runs", "aria-label": t("log.runs") });
    this.body = el("div", { id: "log-page", role: "tabpanel", tabindex: "-1" });
    this.root.append(this.side, this.body);
    byId("stage").after(this.root);
    this.runs = new RunList(this, this.side);
    this.scalars = new ScalarPage(this, this.body);
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Read what is there, and follow it. @param {Record<string, any>} state of the address */
  async start(state) {
    await this.refresh();
    this.restore(state);
    this.feed.listen((name, data) => this.heard(name, data), (live) => this.standing(live));
  }

  /** Ask for runs and tags anew. */
  async refresh() {
    const [state, tags] = await Promise.all([this.feed.state(), this.feed.tags("scalar")]);
    this.state = state;
    this.runs.set(state.runs);
    this.scalars.left = state.left ?? 0;
    this.scalars.set(tags);
    this.drawTabs();
  }

  /** The pages that have something to show. */
  pages() {
    return PAGES.filter((page) => (page === "graph" ? this.hooks.graph() : this.state.kinds[page] > 0));
  }

  drawTabs() {
    const pages = this.pages();
    const tab = (/** @type {string} */ page) => el("button", { role: "tab", id: `tab-${page}`, "aria-selected": String(page === this.page), tabindex: page === this.page ? "0" : "-1", onclick: () => this.show(page) }, t(`log.page.${page}`));
    this.tabs.replaceChildren(...pages.map(tab));
    this.tabs.hidden = pages.length < 2;
    if (!pages.includes(this.page) && pages.length) this.show(pages[0]);
  }

  /** @param {string} page */
  show(page) {
    this.page = page;
    document.documentElement.dataset.page = page;
    const graph = page === "graph";
    this.root.hidden = graph;
    byId("stage").inert = !graph;
    for (const tab of this.tabs.children) {
      const on = tab.id === `tab-${page}`;
      tab.setAttribute("aria-selected", String(on));
      /** @type {HTMLElement} */ (tab).tabIndex = on ? 0 : -1;
    }
    this.body.setAttribute("aria-labelledby", `tab-${page}`);
    if (!graph) this.scalars.runsChanged();
    this.remember();
  }

  /** @param {LogRun} run */
  colour(run) {
    const hues = this.state.hues[this.hooks.theme()] ?? this.state.hues.light;
    return hues[run.style[0] % hues.length];
  }

  runsChanged() {
    this.scalars.runsChanged();
    this.remember();
  }

  /** The theme is another one: charts are drawn in its colours. */
  dressed() {
    this.runs.draw();
    for (const card of this.scalars.cards.values()) if (card.near) card.show();
  }

  /** @param {string} name @param {any} data */
  heard(name, data) {
    if (name === "points") {
      const series = new Set(Object.keys(data.series).map(Number));
      const known = new Set(this.scalars.tags.flatMap((tag) => tag.runs.map((one) => one[1])));
      if ([...series].some((id) => !known.has(id))) this.refreshSoon();
      this.count(data.series);
      this.scalars.came(series);
    } else if (name !== "progress") this.refreshSoon();
  }

  /** Note how many points the series have now. @param {Record<string, number>} points */
  count(points) {
    for (const tag of this.scalars.tags) for (const one of tag.runs) if (one[1] in points) one[2] = points[one[1]];
    this.refreshSoon();
  }

  refreshSoon() {
    if (this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = undefined;
      this.refresh().then(() => this.scalars.runsChanged(), () => undefined);
    }, 500);
  }

  /** @param {boolean} live */
  standing(live) {
    this.lamp.textContent = live ? t("log.live") : t("log.notLive");
    this.lamp.classList.toggle("bad", !live);
  }

  /** @param {string} text */
  toast(text) {
    this.hooks.toast(text);
  }

  /** What the address holds. */
  address() {
    const runs = this.runs.touched ? [...this.runs.chosen].map(escaped).join(",") || "-" : "";
    return { page: this.page === this.pages()[0] ? "" : this.page, runs, ...this.scalars.state() };
  }

  remember() {
    if (!this.restoring && this.page) this.hooks.remember(/** @type {any} */ (this.address()));
  }

  /** @param {Record<string, any>} state */
  restore(state) {
    this.restoring = true;
    const pages = this.pages();
    if (state.runs !== undefined) {
      this.runs.touched = true;
      this.runs.chosen = new Set(state.runs === "-" ? [] : String(state.runs).split(",").map(unescaped));
    }
    this.runs.draw();
    this.scalars.restore(state);
    if (pages.length) this.show(pages.includes(state.page) ? state.page : pages[0]);
    this.restoring = false;
    this.remember();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const inTabs = this.tabs.contains(/** @type {Node} */ (event.target));
    const pages = this.pages();
    const at = pages.indexOf(this.page);
    const to = inTabs && event.key === "ArrowRight" ? at + 1 : inTabs && event.key === "ArrowLeft" ? at - 1 : /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : -1;
    if (to < 0 || to >= pages.length) return;
    event.preventDefault();
    event.stopPropagation();
    this.show(pages[to]);
    if (inTabs) byId(`tab-${pages[to]}`).focus();
  }
}
