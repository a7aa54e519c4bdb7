// The page of a file: its data, and the unmodified page, which is saved again with another view.

import { stateOf } from "./address.js";
import { Blocks } from "./data.js";
import { byId } from "./dom.js";
import { Share, scriptJson } from "./share.js";
import { createApp, initialState, loadGraph, setInitialView } from "./startup.js";

const ORIGINAL_PAGE = document.documentElement.cloneNode(true);
const EMPTY_ELEMENTS = new Set(["meta", "link", "input", "hr"]);
const RAW_ELEMENTS = new Set(["script", "style", "noscript"]);
const ENTITIES = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" });

/** The data in the page. @returns {{head: Head, blocks: Blocks}} */
export function readPageData() {
  const head = JSON.parse(byId("head").textContent);
  if (head.view && location.hash.length < 2) setInitialView(head.view);
  const scripts = /** @type {any[]} */ ([...document.querySelectorAll("script[data-block]")]);
  return { head, blocks: new Blocks(scripts.map((script) => ({ name: script.dataset.block, kind: script.dataset.kind, digest: script.dataset.digest, read: () => script.textContent }))) };
}

/** Show the graph in the page. @param {Head} head @param {Blocks} blocks */
export async function showGraphInPage(head, blocks) {
  const app = createApp(await loadGraph(head, blocks), head);
  await app.actions.queue(() => app.restore({ ...initialState(head), ...stateOf(location.hash) }));
  app.history.past = [];
  return app;
}

/** The page with an initial view. @param {string} view the part of an address after `#` */
async function pageWithView(view) {
  const head = /** @type {Element} */ (/** @type {Element} */ (ORIGINAL_PAGE).querySelector("#head"));
  head.textContent = scriptJson({ ...JSON.parse(head.textContent ?? ""), view });
  return new Blob(["<!doctype html>\n", ...serializeNode(ORIGINAL_PAGE), "\n"], { type: "text/html" });
}

/** A node serialised for a file. @param {Node} node @returns {string[]} */
function serializeNode(node) {
  const escape = (/** @type {string} */ text) => text.replace(/[&<>"]/g, (char) => ENTITIES[char]);
  if (node instanceof Text) return [RAW_ELEMENTS.has(node.parentElement?.localName ?? "") ? node.data : escape(node.data)];
  if (!(node instanceof Element)) return [];
  const attributes = [...node.attributes].map((attribute) => ` ${attribute.name}="${escape(attribute.value)}"`).join("");
  if (EMPTY_ELEMENTS.has(node.localName)) return [`<${node.localName}${attributes}>`];
  return [`<${node.localName}${attributes}>`, ...[...node.childNodes].flatMap(serializeNode), `</${node.localName}>`];
}

Share.makePage = pageWithView;
