// The table of a profile: by op, type, layer or group; sortable, filterable, and comparable with another step.

import { el, shortText } from "../dom.js";
import { RowsTable, nameWithLeaf, percentText, shareBar } from "../rows_table.js";
import { countWord, t } from "../strings.js";
import { memoryWord, nanosWord } from "./profile_words.js";

export const TABLES = ["ops", "types", "groups"];
const NOT_IN_GRAPH = "not in this graph"; // the row of executions without a name in graph or trace

/**
 * @typedef {{name: string[], op: string[], self: number[], total: number[], count: number[], bytes: number[], unmatched: number[], left: number, leftSelf: number}} OpColumns
 * @typedef {{name: string, op: string, self: number, total: number, count: number, bytes: number, inGraph: boolean, other: number, difference: number}} OpRow
 */

export class OpTable {
  /** @param {{inGraph: (name: string) => void, inTimeline: (row: OpRow) => void, onChange: () => void}} hooks */
  constructor(hooks) {
    this.hooks = hooks;
    this.by = "ops";
    this.text = "";
    /** @type {any} */
    this.profile = null;
    /** @type {any} */
    this.otherProfile = null;
    this.chooser = el("select", { "aria-label": t("profile.by"), onchange: () => this.changeTable({ by: this.chooser.value, text: "" }) }, ...TABLES.map((name) => el("option", { value: name }, t(`profile.${name}`))));
    this.filter = el("input", { class: "filter", type: "search", placeholder: t("profile.filter"), "aria-label": t("profile.filter"), oninput: () => this.changeTable({ text: this.filter.value }) });
    this.statusElement = el("span", { class: "quiet", role: "status" });
    this.list = new RowsTable({ label: t("profile.by"), name: (row) => row.name, onSorted: () => this.hooks.onChange(), onChosen: (row) => this.openRow(row), choosesOnClick: false });
    this.list.root.classList.add("op-table");
    this.sort = "-self";
    this.omittedNote = el("p", { class: "quiet" });
    this.root = el("section", {}, el("div", { class: "log-bar plain" }, el("label", { class: "check" }, t("profile.by"), this.chooser), this.filter, this.statusElement), this.list.root, this.omittedNote);
  }

  /** The name of the column by which it is sorted, after "-" for the greatest first. */
  get sort() {
    return this.list.sort;
  }

  set sort(value) {
    this.list.sort = value;
  }

  /** @param {Partial<{by: string, text: string}>} change */
  changeTable(change) {
    Object.assign(this, change);
    if (!TABLES.includes(this.by)) this.by = "ops";
    this.draw();
    this.hooks.onChange();
  }

  /** @param {any} profile @param {any} other of the step that it is compared with */
  setProfiles(profile, other) {
    this.profile = profile;
    this.otherProfile = other;
    this.draw();
  }

  /** @returns {OpRow[]} */
  rows() {
    const { name, op, self, total, count, bytes, unmatched } = /** @type {OpColumns} */ (this.profile.tables[this.by]);
    const rows = name.map((opName, at) => ({ name: opName, op: op[at], self: self[at], total: total[at], count: count[at], bytes: bytes[at], inGraph: true, other: 0, difference: self[at] }));
    for (const at of unmatched) rows[at].inGraph = false;
    if (this.otherProfile) {
      const theirs = /** @type {OpColumns} */ (this.otherProfile.tables[this.by]);
      const known = new Map(rows.map((row) => [row.name, row]));
      const apart = new Set(theirs.unmatched);
      theirs.name.forEach((opName, at) => {
        let row = known.get(opName);
        if (!row) rows.push((row = { name: opName, op: theirs.op[at], self: 0, total: 0, count: 0, bytes: 0, inGraph: !apart.has(at), other: 0, difference: 0 }));
        row.other = theirs.self[at];
        row.difference = row.self - row.other;
      });
    }
    const text = this.text.toLowerCase();
    const type = /^op:(.+)$/.exec(text)?.[1];
    return rows.filter((row) => (type ? row.op.toLowerCase() === type : row.name.toLowerCase().includes(text) || row.op.toLowerCase().includes(text)));
  }

  draw() {
    if (!this.profile) return;
    this.chooser.value = this.by;
    if (this.filter.value !== this.text) this.filter.value = this.text;
    const rows = this.rows();
    const all = this.profile.whole + this.profile.outside + this.profile.unmatched;
    const sum = rows.reduce((total, row) => total + row.self, 0);
    this.statusElement.textContent = t("profile.sum", { rows: rows.length, time: nanosWord(sum), all: nanosWord(all), share: percentText(sum, all) });
    const most = rows.reduce((longest, row) => Math.max(longest, row.self), 1);
    this.list.setRows(rows, this.columns(all, most));
    const { left, leftSelf } = this.profile.tables[this.by];
    this.omittedNote.textContent = left > 0 ? t("profile.leftRows", { n: left, time: nanosWord(leftSelf) }) : "";
  }

  /** @param {number} all @param {number} most the longest bar @returns {TableColumn[]} */
  columns(all, most) {
    const time = (/** @type {"self" | "total" | "other"} */ key) => ({ key, word: t(`profile.${key}`), width: 92, value: (/** @type {OpRow} */ row) => row[key], cell: (/** @type {OpRow} */ row) => nanosWord(row[key]) });
    const signed = (/** @type {OpRow} */ row) => `${row.difference > 0 ? "+" : row.difference < 0 ? "−" : "±"}${nanosWord(Math.abs(row.difference))}`;
    const difference = (/** @type {OpRow} */ row) => el("span", { class: row.difference > 0 ? "worse" : row.difference < 0 ? "better" : null }, signed(row));
    return [
      { key: "name", word: t("profile.name"), width: 280, text: true, value: (row) => row.name, cell: (row) => this.nameCell(row) },
      ...(this.by === "ops" ? [{ key: "op", word: t("profile.op"), width: 160, text: true, value: (/** @type {OpRow} */ row) => row.op, cell: (/** @type {OpRow} */ row) => shortText(row.op, 60) }] : []),
      time("self"),
      { key: "share", word: t("profile.share"), width: 130, fixed: true, sort: "self", value: (row) => row.self, cell: (row) => shareBar(row.self, most, percentText(row.self, all)) },
      ...(this.otherProfile ? [time("other"), { key: "difference", word: t("profile.difference"), width: 100, value: (/** @type {OpRow} */ row) => row.difference, cell: difference }] : []),
      time("total"),
      { key: "count", word: t("profile.count"), width: 76, value: (row) => row.count, cell: (row) => countWord(row.count) },
      { key: "bytes", word: t("profile.bytes"), width: 92, value: (row) => row.bytes, cell: (row) => (row.bytes ? memoryWord(row.bytes) : "") },
    ];
  }

  /** Follow the link of a row's name. @param {OpRow} row */
  openRow(row) {
    if (this.by === "types" && row.op) this.changeTable({ by: "ops", text: `op:${row.name}` });
    else if (row.inGraph) this.hooks.inGraph(row.name);
  }

  /** A name with links to its node and its slices, or of a type to its ops; a name without an op in the graph is marked. @param {OpRow} row */
  nameCell(row) {
    if (!row.inGraph && row.name === NOT_IN_GRAPH) return el("span", { class: "quiet" }, t("profile.noNode"));
    const word = shortText(row.name, 300) || t("profile.whole");
    if (this.by === "types") return el("div", { class: "named" }, el("button", { class: "link", title: shortText(row.name, 600), onclick: () => this.openRow(row) }, word));
    return el(
      "div",
      { class: "named" },
      el("button", { class: "icon small", title: t("profile.inTimeline"), "aria-label": `${t("profile.inTimeline")}: ${word}`, onclick: () => this.hooks.inTimeline(row) }, "▤"),
      !row.inGraph ? el("span", { class: "quiet", title: `${shortText(row.name, 600)}: ${t("profile.noNode")}` }, ...nameWithLeaf(word)) : el("button", { class: "link", title: `${t("log.inGraph")}: ${shortText(row.name, 600)}`, "aria-label": `${t("log.inGraph")}: ${word}`, onclick: () => this.openRow(row) }, ...nameWithLeaf(word)),
    );
  }
}
