// Find: names, op types and devices at once, attributes when their blocks are unpacked; Enter steps through the
// matches.

import { nameWithBreaks } from "./card.js";
import { ROW_KINDS } from "./colours.js";
import { byId, el, removeChildren, shortText } from "./dom.js";
import { OP } from "./levels.js";
import { QueryError, RowSearch, isNegated, parseQuery, rankedRows } from "./query.js";
import { t } from "./strings.js";

const MAX_LISTED_HITS = 200; // more results are only counted

export class Find {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.field = byId("find");
    this.panel = byId("found");
    /** @type {number[]} */
    this.hits = [];
    this.at = -1;
    this.turn = 0;
    this.isSearching = false; // true until the first results are listed
    this.pendingStep = 0; // direction of Enter pressed before the first results
    this.field.addEventListener("input", () => this.search(this.field.value));
    for (const name of ["focus", "click"]) this.field.addEventListener(name, () => this.field.value && this.open());
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event));
    for (const [id, way] of /** @type {[string, number][]} */ ([["hit-before", -1], ["hit-next", 1]])) byId(id).addEventListener("click", () => this.chooseHit(this.at < 0 && way < 0 ? -1 : this.at + way));
    document.addEventListener("pointerdown", (event) => {
      if (!byId("finding").contains(/** @type {Node} */ (event.target))) this.panel.hidden = true;
    });
  }

  /** Show the list again. */
  open() {
    this.panel.hidden = false;
    this.panel.classList.remove("counting");
  }

  /** Clear the search, since another graph is shown. */
  clear() {
    this.turn++;
    this.hits = [];
    this.at = -1;
    this.field.value = "";
    this.panel.hidden = true;
  }

  /** Search for a text. @param {string} text @returns {Promise<number[]>} */
  async search(text) {
    const turn = ++this.turn;
    const still = () => turn === this.turn;
    this.at = -1;
    this.hits = [];
    this.pendingStep = 0;
    this.isSearching = !!text.trim();
    this.panel.classList.remove("walking");
    if (!text.trim()) {
      this.panel.hidden = true;
      this.app.actions.markRows([]);
      return [];
    }
    try {
      const query = parseQuery(text);
      const rows = new RowSearch(this.app, still);
      const take = async () => {
        const hits = await rankedRows(this.app.state.graph, rows.matchingRows(query), query, rows);
        if (still()) this.hits = hits;
        return still();
      };
      await rows.searchNames(query);
      if (still() && !isNegated(query) && (await take()) && this.hits.length) this.listHits();
      const before = this.hits.length;
      await rows.searchBlocks(query);
      if (!still() || !(await take())) return this.hits;
      if (this.hits.length !== before || !before) this.listHits(before > 0 && this.isListHidden); // the list may have been hidden meanwhile
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      if (!still()) return this.hits;
      this.hits = [];
      this.app.actions.markRows([]);
      this.showStatus(error.message);
    }
    return this.hits;
  }

  /** @param {string} status */
  showStatus(status) {
    this.open();
    byId("hit-count").textContent = status;
    byId("hit-ways").hidden = !this.hits.length;
    removeChildren(byId("hits"));
  }

  /** @param {boolean} [away] whether it is not shown */
  listHits(away = false) {
    const { graph, facts } = this.app.state;
    const count = this.hits.length;
    const more = count > MAX_LISTED_HITS ? ` · ${t("moreHits", { n: MAX_LISTED_HITS })}` : "";
    this.showStatus((count === 0 ? `${t("noHits")} · ${t("fields")}` : count === 1 ? t("oneHit") : t("hits", { n: count })) + more);
    const list = byId("hits");
    this.hits.slice(0, MAX_LISTED_HITS).forEach((row, at) => {
      const name = graph.address(facts.pathOfRow(row));
      const op = (graph.mark[row] && graph.labels.get(row)) || graph.words[graph.op[row]]; // "kernel 3×3×1×8"
      const kind = graph.kind[row] === OP ? shortText(op, 40) : t(ROW_KINDS[graph.kind[row]]);
      const option = el("div", { role: "option", id: `hit-${at}`, "aria-selected": String(at === this.at), title: shortText(name), onclick: () => this.chooseHit(at) }, el("span", { class: "hit" }, ...nameWithBreaks(shortText(name, 160))), el("span", { class: "kind" }, kind));
      list.append(option);
    });
    if (away) this.hide();
    this.app.actions.markRows(this.hits);
    const { pendingStep: asked } = this;
    this.isSearching = false;
    this.pendingStep = 0;
    if (asked && count) this.chooseHit(asked > 0 ? 0 : -1);
  }

  /** Whether the list is hidden. */
  get isListHidden() {
    return this.panel.hidden || this.panel.classList.contains("counting");
  }

  /** Hide the list except its count. */
  hide() {
    this.panel.classList.add("counting");
    if (this.at >= 0) byId("hit-count").textContent = t("hitOf", { at: this.at + 1, n: this.hits.length });
  }

  /** Go to a hit, and hide the list. @param {number} at */
  chooseHit(at) {
    const gone = this.goToHit(at);
    if (this.hits.length) this.hide();
    return gone;
  }

  /** @param {number} at */
  goToHit(at) {
    if (!this.hits.length) return;
    const count = Math.min(this.hits.length, MAX_LISTED_HITS);
    this.at = ((at % count) + count) % count;
    const list = byId("hits");
    byId("hit-count").textContent = t("hitOf", { at: this.at + 1, n: this.hits.length });
    this.panel.classList.add("walking");
    [...list.children].forEach((option, number) => option.setAttribute("aria-selected", String(number === this.at)));
    list.children[this.at].scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", `hit-${this.at}`);
    return this.app.actions.reveal(this.app.state.facts.pathOfRow(this.hits[this.at]), false);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const way = event.shiftKey ? -1 : 1;
    if (event.key === "Enter" && this.isSearching) this.pendingStep = way; // Enter came before the results: go to the first when it arrives
    else if (event.key === "Enter") this.chooseHit(this.at + way);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.field.value) this.open();
      this.goToHit(this.at + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Escape") {
      if (this.field.value) {
        this.field.value = "";
        this.search("");
      } else this.app.frame.focusPicture();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  }
}
