// Create elements without markup: names from a file only ever become text.

export const SVG = "http://www.w3.org/2000/svg";

/** Characters that a document cannot contain, or that reverse a line: shown as signs. */
const CONTROL_CHARACTERS =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu;

/** A text without characters that cannot be shown. @param {string} text */
export const visibleText = (text) => String(text).replace(CONTROL_CHARACTERS, "\ufffd");

/** A text shortened in the middle to at most `most` letters. @param {string} text @param {number} most */
export const shortText = (text, most = 300) => (text.length <= most ? visibleText(text) : `${visibleText(text.slice(0, most / 2))}…${visibleText(text.slice(-most / 2))}`);

/**
 * An element with attributes, and children or a text.
 * @param {string} name @param {Record<string, any>} [attributes] @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  for (const child of children) if (child) element.append(typeof child === "string" ? visibleText(child) : child);
  return element;
}

/** An SVG element with attributes. @param {string} name @param {Record<string, any>} attributes @param {Element} [parent] @returns {any} */
export function svgEl(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  setAttributes(element, attributes);
  if (parent) parent.append(element);
  return element;
}

/** @param {Element} element @param {Record<string, any>} attributes */
export function setAttributes(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
}

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** @param {Element} element */
export const removeChildren = (element) => element.replaceChildren();

/** Put a panel in front of the others. @param {HTMLElement} panel */
export function raisePanel(panel) {
  for (const raised of document.querySelectorAll(".raised")) raised.classList.remove("raised");
  panel.classList.add("raised");
}

const SLICE_MS = 12; // milliseconds of work before the page handles events

/** Long work in short turns, between which the page handles keys and pointers. */
export class TimeSlices {
  constructor() {
    this.since = performance.now();
  }

  /** Whether this turn has been long enough. */
  get isOver() {
    return performance.now() - this.since > SLICE_MS;
  }

  /** Wait for the next turn. */
  async nextSlice() {
    await new Promise((done) => setTimeout(done));
    this.since = performance.now();
  }
}

export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
