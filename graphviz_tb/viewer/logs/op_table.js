// The table of a profile: by op, by type, by layer or group; sorted, filtered, and beside another step.

const ROWS_SHOWN = 200; // until the reader asks for all
const TABLES = ["ops", "types", "groups"];

/**
 * @typedef {{name: string[], op: string[], self: number[], total: number[], count: number[], bytes: number[], left: number, leftSelf: number}} OpColumns
 * @typedef {{name: string, op: string, self: number, total: number, count: number, bytes: number, other: number, difference: number}} OpRow
 */

class OpTable {
  /** @param {{inGraph: (name: string) => void, inTimeline: (name: string) => void, changed: () => void}} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.by = "ops";
    this.sort = "-self"; // the name of a column, behind "-" for the greatest first
    this.text = "";
    this.whole = false;
    /** @type {any} */
    this.told = null;
    /** @type {any} */
    this.other = null;
    this.chooser = el("select", { "aria-label": t("profile.by"), onchange: () => this.set({ by: this.chooser.value, text: "" }) }, ...TABLES.map((name) => el("option", { value: name }, t(`profile.${name}`))));
    this.filter = el("input", { class: "filter", type: "search", placeholder: t("profile.filter"), "aria-label": t("profile.filter"), oninput: () => this.set({ text: this.filter.value }) });
    this.said = el("span", { class: "quiet", role: "status" });
    this.list = el("div", { class: "trials op-table", tabindex: "0", role: "region", "aria-label": t("profile.by") });
    this.root = el("section", {}, el("div", { class: "log-bar plain" }, el("label", { class: "check" }, t("profile.by"), this.chooser), this.filter, this.said), this.list);
  }

  /** @param {Partial<{by: string, sort: string, text: string}>} change */
  set(change) {
    Object.assign(this, change, { whole: false });
    if (!TABLES.includes(this.by)) this.by = "ops";
    this.draw();
    this.hooks.changed();
  }

  /** @param {any} told @param {any} other of the step that it is compared with */
  take(told, other) {
    this.told = told;
    this.other = other;
    this.draw();
  }

  /** @returns {OpRow[]} */
  rows() {
    const { name, op, self, total, count, bytes } = /** @type {OpColumns} */ (this.told.tables[this.by]);
    const rows = name.map((one, at) => ({ name: one, op: op[at], self: self[at], total: total[at], count: count[at], bytes: bytes[at], other: 0, difference: self[at] }));
    if (this.other) {
      const theirs = /** @type {OpColumns} */ (this.other.tables[this.by]);
      const known = new Map(rows.map((row) => [row.name, row]));
      theirs.name.forEach((one, at) => {
        let row = known.get(one);
        if (!row) rows.push((row = { name: one, op: theirs.op[at], self: 0, total: 0, count: 0, bytes: 0, other: 0, difference: 0 }));
        row.other = theirs.self[at];
        row.difference = row.self - row.other;
      });
    }
    const text = this.text.toLowerCase();
    const type = /^op:(.+)$/.exec(text)?.[1];
    const found = rows.filter((row) => (type ? row.op.toLowerCase() === type : row.name.toLowerCase().includes(text) || row.op.toLowerCase().includes(text)));
    const down = this.sort.startsWith("-");
    const key = /** @type {keyof OpRow} */ (this.sort.slice(Number(down)));
    const order = (/** @type {OpRow} */ a, /** @type {OpRow} */ b) => (typeof a[key] === "number" ? /** @type {number} */ (a[key]) - /** @type {number} */ (b[key]) : naturalOrder(String(a[key]), String(b[key])));
    return found.sort((a, b) => (down ? -1 : 1) * order(a, b));
  }

  draw() {
    if (!this.told) return;
    this.chooser.value = this.by;
    if (this.filter.value !== this.text) this.filter.value = this.text;
    const rows = this.rows();
    const all = this.told.whole + this.told.outside;
    const sum = rows.reduce((total, row) => total + row.self, 0);
    this.said.textContent = t("profile.sum", { rows: rows.length, time: nanosWord(sum), all: nanosWord(all), share: shareWord(sum, all) });
    const compared = this.other ? ["other", "difference"] : [];
    const columns = ["name", ...(this.by === "ops" ? ["op"] : []), "self", "share", ...compared, "total", "count", "bytes"];
    const some = this.whole ? rows : rows.slice(0, ROWS_SHOWN);
    const most = Math.max(1, ...rows.slice(0, 5000).map((row) => row.self));
    const body = some.map((row) => this.row(row, columns, all, most));
    const table = el("table", {}, el("caption", { class: "away" }, `${t("profile.by")} ${t(`profile.${this.by}`)}`), el("thead", {}, el("tr", {}, ...columns.map((name) => this.head(name)))), el("tbody", {}, ...body));
    const more = some.length < rows.length && el("button", { onclick: () => ((this.whole = true), this.draw()) }, t("log.showAll", { n: rows.length }));
    const { left, leftSelf } = this.told.tables[this.by];
    const cut = left > 0 && el("p", { class: "quiet" }, t("profile.leftRows", { n: left, time: nanosWord(leftSelf) }));
    this.list.replaceChildren(table, ...[more, cut].filter(Boolean));
  }

  /** @param {string} name */
  head(name) {
    const sort = name === "share" ? "self" : name;
    const [up, down] = name === "share" ? [false, false] : [this.sort === sort, this.sort === `-${sort}`];
    const next = () => this.set({ sort: down || (!up && (name === "name" || name === "op")) ? sort : `-${sort}` });
    return el("th", { scope: "col", class: name === "name" || name === "op" ? null : "number", "aria-sort": up ? "ascending" : down ? "descending" : "none" }, el("button", { class: "sort", onclick: next }, t(`profile.${name}`), el("span", { "aria-hidden": "true" }, up ? " ▲" : down ? " ▼" : "")));
  }

  /** @param {OpRow} row @param {string[]} columns @param {number} all @param {number} most */
  row(row, columns, all, most) {
    const bar = el("span", { class: "share", "aria-hidden": "true" });
    bar.style.width = `${Math.max(1, (56 * row.self) / most)}px`;
    const signed = `${row.difference > 0 ? "+" : row.difference < 0 ? "−" : "±"}${nanosWord(Math.abs(row.difference))}`;
    const cells = /** @type {Record<string, any>} */ ({
      op: brief(row.op, 60), self: nanosWord(row.self), share: el("span", {}, bar, ` ${shareWord(row.self, all)}`), total: nanosWord(row.total), count: counted(row.count), bytes: row.bytes ? memoryWord(row.bytes) : "",
      other: nanosWord(row.other), difference: el("span", { class: row.difference > 0 ? "worse" : row.difference < 0 ? "better" : null }, signed),
    });
    return el("tr", { "data-name": row.name }, el("th", { scope: "row" }, ...this.name(row)), ...columns.slice(1).map((name) => el("td", { class: name === "op" ? null : "number" }, cells[name])));
  }

  /** A name that leads to its node, and to its slices; of a type to its ops. @param {OpRow} row */
  name(row) {
    const word = brief(row.name, 120) || t("profile.whole");
    if (this.by === "types") return [el("button", { class: "link", title: brief(row.name, 600), onclick: () => this.set({ by: "ops", text: `op:${row.name}` }) }, word)];
    return [
      el("button", { class: "icon small", title: t("profile.inTimeline"), "aria-label": `${t("profile.inTimeline")}: ${word}`, onclick: () => this.hooks.inTimeline(row.name) }, "▤"),
      el("button", { class: "link", title: `${t("log.inGraph")}: ${brief(row.name, 600)}`, "aria-label": `${t("log.inGraph")}: ${word}`, onclick: () => this.hooks.inGraph(row.name) }, ...broken(word)),
    ];
  }
}
