// A drawing context with the methods of a canvas that writes SVG, so that charts have one drawing code for screen and
// file.

import { svgEl, visibleText } from "../dom.js";
import { numberText } from "../shapes.js";

export class SvgPen {
  /** @param {Element} root */
  constructor(root) {
    this.root = root;
    this.fillStyle = this.strokeStyle = "#000";
    this.lineWidth = this.globalAlpha = 1;
    this.font = this.lineJoin = "";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    /** @type {number[]} */
    this.dashes = [];
    this.path = "";
    this.ruler = document.createElement("canvas").getContext("2d");
  }
  save() {}
  restore() {}
  clip() {
    this.path = "";
  }
  beginPath() {
    this.path = "";
  }
  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.path += `M${numberText(x)} ${numberText(y)}`;
  }
  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.path += `L${numberText(x)} ${numberText(y)}`;
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  rect(x, y, width, height) {
    this.path += `M${numberText(x)} ${numberText(y)}h${numberText(width)}v${numberText(height)}h${numberText(-width)}z`;
  }
  /** A whole circle. @param {number} x @param {number} y @param {number} radius */
  arc(x, y, radius) {
    this.path += `M${numberText(x - radius)} ${numberText(y)}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0`;
  }
  /** @param {number[]} dashes */
  setLineDash(dashes) {
    this.dashes = dashes;
  }
  stroke() {
    this.appendPath({ fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-linejoin": this.lineJoin || null, "stroke-dasharray": this.dashes.join(" ") || null, "stroke-opacity": this.globalAlpha < 1 ? this.globalAlpha : null });
  }
  fill() {
    this.appendPath({ fill: this.fillStyle, "fill-opacity": this.globalAlpha < 1 ? this.globalAlpha : null });
  }
  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    this.beginPath();
    this.rect(x, y, width, height);
    this.fill();
  }
  /** @param {string} text */
  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }
  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    const anchor = { left: null, right: "end", center: "middle" }[this.textAlign];
    const drop = { alphabetic: 0, middle: 3.5, top: 8 }[this.textBaseline] ?? 0;
    svgEl("text", { x: numberText(x), y: numberText(y + drop), fill: this.fillStyle, "text-anchor": anchor }, this.root).textContent = visibleText(text);
  }
  /** @param {Record<string, any>} look */
  appendPath(look) {
    if (this.path) svgEl("path", { d: this.path, ...look }, this.root);
  }
}
