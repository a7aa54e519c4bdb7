// Create a graph from the data of the page, and the interface for other scripts.

import { stateOf } from "./address.js";
import { App } from "./app.js";
import { DamagedBlock } from "./data.js";
import { byId, el, shortText } from "./dom.js";
import { InputHandler } from "./input.js";
import { Graph } from "./levels.js";
import { t } from "./strings.js";

/** The graph of a head and its blocks. @param {Head} head @param {Blocks} blocks */
export async function loadGraph(head, blocks) {
  layout.setAdvances(head.advances);
  const first = ["words", "rows", "levels", "copies"];
  const [words, columns, levels, copies] = await Promise.all(first.map((name) => blocks.get(name)));
  head.levels = levels;
  return new Graph(head, blocks, words, columns, copies);
}

/** The page of a graph. @param {Graph} graph @param {Head} head */
export function createApp(graph, head) {
  const app = new App(graph, head);
  new InputHandler(app);
  exposeApi(app);
  return app;
}

/** The state that a file begins with if its address has none. @param {any} head */
export function initialState(head) {
  /** @type {Record<string, any>} */
  const out = {};
  if (head.options.theme === "dark") out.theme = "dark"; // light is the default, for which the reader's system decides
  if (head.select) out.select = head.select;
  return out;
}

/** Fill `window.tbgraph` with its functions. @param {App} app */
function exposeApi(app) {
  const pathNamed = (/** @type {string} */ name) => {
    const path = app.state.graph.pathOfAddress(name);
    if (!path) throw new Error(`no node ${JSON.stringify(name)}`);
    return path;
  };
  Object.assign(scriptApi, {
    open: (/** @type {string} */ name) => app.actions.queue(async () => app.actions.openNow(pathNamed(name), false)),
    close: (/** @type {string} */ name) => app.actions.queue(async () => app.actions.closeNow(pathNamed(name), false)),
    select: async (/** @type {string | null} */ name) => (name === null ? app.actions.select(null) : app.actions.reveal(pathNamed(name), false, false)),
    find: async (/** @type {string} */ text) => {
      app.find.field.value = text;
      const hits = await app.find.search(text);
      return hits.map((row) => app.state.graph.address(app.state.facts.pathOfRow(row)));
    },
    state: async (/** @type {any} */ value) => {
      if (value !== undefined) await app.actions.queue(() => app.restore(typeof value === "string" ? stateOf(value) : value));
      return app.addressValues();
    },
    scene: async () => app.actions.queue(async () => sceneValues(app.view.scene)),
  });
}

/** A scene as plain values. @param {any} scene */
function sceneValues(scene) {
  const name = (/** @type {number} */ at) => (at >= 0 ? scene.boxes[at].address : null);
  return {
    width: scene.width,
    height: scene.height,
    boxes: scene.boxes.map((/** @type {any} */ box) => ({ name: box.address, kind: box.kind, x: box.x, y: box.y, width: box.width, height: box.height, open: box.open, parent: name(box.parent) })),
    lines: scene.routes.map((/** @type {any} */ route) => ({ from: route.identity.source, to: route.identity.target, kind: route.kind, points: route.points })),
  };
}

/** Report a failure until the message is closed: the file is damaged, or this program failed. @param {any} error */
export function reportFailure(error) {
  const toast = byId("toast");
  const text = error instanceof DamagedBlock ? t("unreadable") : t("failed", { error: shortText(error?.message ?? String(error)) });
  const close = () => toast.classList.remove("shown", "bad");
  toast.replaceChildren(el("span", {}, text), el("button", { class: "icon", "aria-label": t("close"), onclick: close }, "×"));
  toast.classList.add("shown", "bad");
}

/** Start with a saved view. @param {string} view */
export function setInitialView(view) {
  try {
    history.replaceState(null, "", `#${view}`);
  } catch {
    // a frame without an address of its own
  }
}

/** @type {any} */
export const scriptApi = {};
addEventListener("unhandledrejection", (event) => reportFailure(event.reason));
/** @type {any} */ (window).tbgraph = scriptApi;

/** Run a start function; `scriptApi.ready` resolves at its end, and a failure is reported. @param {() => Promise<any>} start */
export function startPage(start) {
  scriptApi.ready = start().then(
    () => undefined,
    (error) => {
      console.error(error);
      reportFailure(error);
    },
  );
}
