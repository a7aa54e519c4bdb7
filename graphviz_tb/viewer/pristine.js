// The page of a file as it was before anything was drawn into it: what is saved again with another view.

const PRISTINE = document.documentElement.cloneNode(true);
const EMPTY_ELEMENTS = new Set(["meta", "link", "input", "hr"]);
const RAW_ELEMENTS = new Set(["script", "style", "noscript"]);
const ENTITIES = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" });

/** The page, opening with a view. @param {string} view the part of an address behind `#` */
async function pageOf(view) {
  const head = /** @type {Element} */ (/** @type {Element} */ (PRISTINE).querySelector("#head"));
  head.textContent = scriptJson({ ...JSON.parse(head.textContent ?? ""), view });
  return new Blob(["<!doctype html>\n", ...markupOf(PRISTINE), "\n"], { type: "text/html" });
}

/** A node as it is written in a file. @param {Node} node @returns {string[]} */
function markupOf(node) {
  const escape = (/** @type {string} */ text) => text.replace(/[&<>"]/g, (char) => ENTITIES[char]);
  if (node instanceof Text) return [RAW_ELEMENTS.has(node.parentElement?.localName ?? "") ? node.data : escape(node.data)];
  if (!(node instanceof Element)) return [];
  const attributes = [...node.attributes].map((one) => ` ${one.name}="${escape(one.value)}"`).join("");
  if (EMPTY_ELEMENTS.has(node.localName)) return [`<${node.localName}${attributes}>`];
  return [`<${node.localName}${attributes}>`, ...[...node.childNodes].flatMap(markupOf), `</${node.localName}>`];
}

Share.page = pageOf;
