// Keys and menus of every page, with or without a graph.

import { byId, el } from "./dom.js";
import { t } from "./strings.js";

const GRAPH_SHORTCUTS = [
  ["help.find", "/  Ctrl K"], ["help.enter", "Enter"], ["help.arrows", "↑ ↓ ← →"], ["help.parent", "Alt ↑"], ["help.inside", "Alt ↓"],
  ["help.zoom", "+  −  0"], ["help.fit", "f"], ["help.compare", "Shift Click"], ["help.trace", "i  o"], ["help.move", "m"], ["help.fold", "g"], ["help.colour", "c"],
  ["help.views", "[  ]"], ["help.table", "r"],
];
const CHANGE_SHORTCUT = ["help.changes", "n  p"]; // in the help of a diff
const LOG_SHORTCUTS = [["help.pages", "1 … 9"], ["help.tags", "/"], ["help.cards", "j  k"], ["help.steps", ",  ."], ["help.logged", ",  .  Home  End  l"], ["help.cloud", "v  l  b  d  ,  ."], ["help.profile", "w  s  a  d  0  .  ,"]]; // in the help of the pages of a log
const COMMON_SHORTCUTS = [["help.theme", "t"], ["help.escape", "Esc"], ["help.help", "?"]];
const RANGE_KEY = /^(?:Arrow|Home|End|Page)/;

/** Whether a key is input for the focused element: a text, a list, or a slider that it moves. @param {KeyboardEvent} event */
export function isTyping({ target, key }) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("input:is([type=checkbox], [type=radio], [type=button], [type=color])")) return false;
  if (target.matches("input[type=range]")) return RANGE_KEY.test(key);
  return target.matches("input, select, option, textarea, [contenteditable]");
}

/** Whether the graph is shown: keys of hidden parts do nothing. */
export const isGraphShown = () => (document.documentElement.dataset.page ?? "graph") === "graph";

/** The menus of the page that are open. @returns {HTMLDetailsElement[]} */
export const openMenus = () => [...document.querySelectorAll("details.menu[open]")].filter((menu) => menu instanceof HTMLDetailsElement);

/** Close the menus that an event is outside of. @param {Event} event */
export function closeMenusOutside(event) {
  const target = /** @type {Node} */ (event.target);
  for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false;
}

/** Close the menus of the page, and give the focus back. @param {Event} event */
export function closeMenus(event) {
  event.preventDefault();
  for (const menu of openMenus()) {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  }
}

/** List the keys. @param {boolean} graph whether there is a graph @param {boolean} changes whether the page shows a diff */
export function showHelp(graph, changes) {
  const dialog = byId("help");
  const all = [...(graph ? GRAPH_SHORTCUTS : []), ...(changes ? [CHANGE_SHORTCUT] : []), ...(byId("logs") ? LOG_SHORTCUTS : []), ...COMMON_SHORTCUTS];
  const rows = all.map(([key, keys]) => el("tr", {}, el("td", {}, ...keys.split("  ").flatMap((key) => [el("kbd", {}, key), " "])), el("td", {}, t(key))));
  dialog.replaceChildren(el("h2", {}, t("help")), el("table", {}, el("tbody", {}, ...rows)), el("button", { onclick: () => dialog.close(), autofocus: true }, t("close")));
  if (!dialog.open) dialog.showModal();
}
