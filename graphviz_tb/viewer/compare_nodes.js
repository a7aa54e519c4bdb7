// Compare two boxes: their facts in two columns, the differences first.

import { nameWithBreaks } from "./card.js";
import { ROW_KINDS } from "./colours.js";
import { byId, el, shortText } from "./dom.js";
import { OP } from "./levels.js";
import { opsWord, t } from "./strings.js";

const MAX_DIFFERENCES = 60; // differences that are listed

/** @typedef {{what: string, one: string, other: string}} ComparisonRow */

/** Show two boxes side by side. @param {App} app @param {Path} one @param {Path} other */
export async function showComparison(app, one, other) {
  const { graph } = app.state;
  const rows = [...(await comparedFacts(app, one, other)), ...(await comparedContents(app, one, other))];
  const unlike = rows.filter((row) => row.one !== row.other);
  const same = rows.filter((row) => row.one === row.other);
  const dialog = byId("beside");
  const names = [one, other].map((path) => shortText(graph.address(path), 160));
  const line = (/** @type {ComparisonRow} */ { what, one, other }) => el("tr", {}, el("th", { scope: "row" }, ...nameWithBreaks(shortText(what, 160))), ...[one, other].map((value) => el("td", {}, shortText(value || t("beside.none"), 300))));
  const table = (/** @type {ComparisonRow[]} */ listed) => el("table", {}, el("thead", {}, el("tr", {}, el("td"), ...names.map((name) => el("th", { scope: "col" }, ...nameWithBreaks(name))))), el("tbody", {}, ...listed.slice(0, MAX_DIFFERENCES).map(line), listed.length > MAX_DIFFERENCES && el("tr", {}, el("td", { colspan: 3, class: "more" }, t("and", { n: listed.length - MAX_DIFFERENCES })))));
  dialog.replaceChildren(
    el("div", { class: "panel-head" }, el("h2", { id: "beside-title" }, t("compare")), el("button", { class: "icon", "aria-label": t("close"), onclick: () => dialog.close(), autofocus: true }, "×")),
    unlike.length ? table(unlike) : el("p", {}, t("beside.alike")),
    same.length ? el("details", { open: !unlike.length }, el("summary", {}, same.length === 1 ? t("beside.oneSame") : t("beside.same", { n: same.length })), table(same)) : "",
  );
  if (!dialog.open) dialog.showModal();
}

/** The facts of two boxes side by side. @param {App} app @param {Path} one @param {Path} other @returns {Promise<ComparisonRow[]>} */
async function comparedFacts(app, one, other) {
  const both = [one, other];
  const { graph, facts } = app.state;
  const rowOf = (/** @type {Path} */ path) => path[path.length - 1];
  const kind = (/** @type {Path} */ path) => t(graph.mark[rowOf(path)] ? `mark.${graph.mark[rowOf(path)]}` : graph.calls.has(rowOf(path)) ? "kind.call" : ROW_KINDS[graph.kind[rowOf(path)]]);
  /** @type {ComparisonRow[]} */
  const rows = [];
  const say = (/** @type {string} */ what, /** @type {string[]} */ [first, second]) => (first || second) && rows.push({ what, one: first, other: second });
  say(t("kind"), both.map(kind));
  for (const [key, column] of /** @type {[string, Int32Array][]} */ ([["op", graph.op], ["device", graph.device]])) say(t(key), both.map((path) => graph.words[column[rowOf(path)]] ?? ""));
  say(t("count"), both.map((path) => (graph.isOpenable(rowOf(path)) ? opsWord(graph.ops[rowOf(path)]) : "")));
  for (const scheme of app.state.head.measured ?? []) {
    const measure = await app.view.loadColouring(scheme).catch(() => null);
    if (measure) say(t(`scheme.${scheme}`), both.map((path) => measure.boundedValueText(path) ?? ""));
  }
  const layers = await Promise.all(both.map((path) => facts.layerConfig(rowOf(path)).catch(() => null)));
  comparedPairs(layers.map((layer) => layer?.[1] ?? []), "").forEach((row) => rows.push(row));
  const edges = await facts.edges().catch(() => null);
  if (edges) for (const [key, inward] of /** @type {[string, boolean][]} */ ([["inputs", true], ["outputs", false]])) {
    const shapes = (/** @type {Path} */ path) => [...new Set([...facts.crossingEdges(edges, rowOf(path), inward).values()].map((crossing) => crossing.tensor).filter(Boolean))].sort().join(", ");
    say(t(key), both.map(shapes));
  }
  return rows;
}

/** Attributes of the ops in two boxes: position by position if their structures are equal, else by their names inside.
 * @param {App} app @param {Path} one @param {Path} other @returns {Promise<ComparisonRow[]>} */
async function comparedContents(app, one, other) {
  const { graph, facts } = app.state;
  const [first, second] = [one, other].map((path) => path[path.length - 1]);
  const inner = (/** @type {number} */ top) => Array.from({ length: graph.end[top] - top }, (_, at) => top + at).filter((row) => graph.kind[row] === OP);
  const [here, there] = [inner(first), inner(second)];
  const alike = first !== second && here.length === there.length && (graph.template[first] >= 0 ? graph.template[first] === graph.template[second] : here.length === 1);
  const called = (/** @type {number} */ row, /** @type {number} */ top) => (row === top ? "" : graph.name(row).startsWith(`${graph.name(top)}/`) ? graph.name(row).slice(graph.name(top).length + 1) : graph.name(row));
  /** @type {[number, number][]} */
  let matched = alike ? here.map((row, at) => [row, there[at]]) : [];
  /** @type {ComparisonRow[]} */
  const rows = [];
  if (!alike) {
    const known = new Map(there.map((row) => [called(row, second), row]));
    const names = new Set(here.map((row) => called(row, first)));
    matched = here.flatMap((row) => (known.has(called(row, first)) ? [/** @type {[number, number]} */ ([row, known.get(called(row, first))])] : []));
    const type = (/** @type {number} */ row) => graph.words[graph.op[row]];
    for (const row of here) if (!known.has(called(row, first))) rows.push({ what: called(row, first), one: type(row), other: "" });
    for (const row of there) if (!names.has(called(row, second))) rows.push({ what: called(row, second), one: "", other: type(row) });
  }
  for (const [left, right] of matched) {
    const name = called(left, first);
    if (left !== first && graph.op[left] !== graph.op[right]) rows.push({ what: name, one: graph.words[graph.op[left]], other: graph.words[graph.op[right]] });
    const attributes = await Promise.all([[left, first], [right, second]].map(async ([row, top]) => maskedNames(await facts.attributes(row).catch(() => []), graph.name(top))));
    for (const row of comparedPairs(attributes, name && `${name} `)) if (left === first || row.one !== row.other) rows.push(row);
  }
  return rows;
}

/** Attributes with the name of their node replaced by "…", so that it does not count as a difference. @param {any[][]} pairs @param {string} name */
const maskedNames = (pairs, name) => (name ? pairs.map(([key, value]) => [key, String(value).replaceAll(`${name}/`, "…/")]) : pairs);

/** Names and values of two nodes side by side. @param {any[][][]} both @param {string} before each name @returns {ComparisonRow[]} */
function comparedPairs([first, second], before) {
  const [one, other] = [first, second].map((list) => new Map(list.map(([name, value]) => [name, String(value)])));
  return [...new Set([...one.keys(), ...other.keys()])].map((name) => ({ what: before + name, one: one.get(name) ?? "", other: other.get(name) ?? "" }));
}
