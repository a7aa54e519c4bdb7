// Elements, made without a word of markup: names from a file are only ever text.

const SVG = "http://www.w3.org/2000/svg";

/** What cannot stand in a document, and what would turn a line round: shown as a sign of its own. */
const HOSTILE =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu;

/** A text fit to be shown. @param {string} text */
const safe = (text) => String(text).replace(HOSTILE, "\ufffd");

/** A text that is not longer than it may be. @param {string} text @param {number} most */
const brief = (text, most = 300) => (text.length <= most ? safe(text) : `${safe(text.slice(0, most / 2))}…${safe(text.slice(-most / 2))}`);

/**
 * An element with attributes, and children or a text.
 * @param {string} name @param {Record<string, any>} [attributes] @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
function el(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  fill(found, attributes);
  for (const child of children) if (child) found.append(typeof child === "string" ? safe(child) : child);
  return found;
}

/** The same in a picture. @param {string} name @param {Record<string, any>} attributes @param {Element} [parent] @returns {any} */
function svgEl(name, attributes, parent) {
  const found = document.createElementNS(SVG, name);
  fill(found, attributes);
  if (parent) parent.append(found);
  return found;
}

/** @param {Element} found @param {Record<string, any>} attributes */
function fill(found, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) found.addEventListener(key.slice(2), value);
    else found.setAttribute(key, value === true ? "" : String(value));
  }
}

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

/** @param {Element} element */
const empty = (element) => element.replaceChildren();

/** Put a panel in front of the others: what was asked for last is what is looked at. @param {HTMLElement} panel */
function raise(panel) {
  for (const one of document.querySelectorAll(".raised")) one.classList.remove("raised");
  panel.classList.add("raised");
}

const TURN = 12; // milliseconds of work after which the page answers what was done meanwhile

/** Long work in short turns: keys and pointers are answered between them. */
class Turns {
  constructor() {
    this.since = performance.now();
  }

  /** Whether this turn has been long enough. */
  get over() {
    return performance.now() - this.since > TURN;
  }

  /** Wait for the next one. */
  async next() {
    await new Promise((done) => setTimeout(done));
    this.since = performance.now();
  }
}

/** Wait for the next frame. */
const frame = () => new Promise((done) => requestAnimationFrame(done));
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
