// The legend of the colours: one row per colour, which emphasises its boxes.

import { byId, el, removeChildren, setAttributes, svgEl } from "./dom.js";
import { narrowScreen } from "./input.js";
import { hatchPattern } from "./save.js";
import { groupElement } from "./shapes.js";
import { STRINGS, language, t } from "./strings.js";

const KEY_ROW_PX = 18; // px of a row of the legend

export class Legend {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {boolean | null} whether the reader opened or closed it */
    this.isOpen = null;
    this.isComplete = false; // whether every colour is listed
  }

  draw() {
    const { every } = this.app.view.paint;
    const rows = !every ? this.app.view.paint.legend : this.isComplete ? every : this.app.view.paint.legend.filter((/** @type {any} */ row) => row.shape !== "rest");
    const paint = Object.assign(Object.create(layout.Paint.prototype), this.app.view.paint, { legend: rows });
    const shapes = layout.shapes(layout.legend(this.app.view.picture.scene, paint).map(translatedLegend));
    const shape = shapes.filter((/** @type {any} */ candidate) => candidate.width <= 340).pop() ?? shapes[0];
    const panel = byId("legend");
    removeChildren(panel);
    if (!shape || !this.app.state.head.options.legend) return;
    const [wide, tall] = [shape.width + 4, shape.height + 4];
    const details = el("details", { open: this.isOpen ?? (!narrowScreen.matches && !this.app.viewport.wouldCoverDrawing(wide + 40, tall + 60)) }, el("summary", {}, t("legend")));
    details.firstChild.addEventListener("click", () => (this.isOpen = !details.open));
    const svg = svgEl("svg", { width: wide, height: tall, viewBox: `-2 0 ${wide} ${tall}`, role: "group" });
    hatchPattern(svg, this.app.view.paint.theme);
    const colours = every ?? rows;
    if (this.app.view.keptKey && !colours.some((/** @type {any} */ row) => row.label === this.app.view.keptKey)) this.app.view.emphasizeLegendRow(""); // the row was that of another colouring
    const groups = [...layout.drawn(shape, this.app.view.paint.theme)];
    const drawn = groups.map((group) => groupElement(group, svg));
    const named = rows.filter((/** @type {any} */ row) => row.shape !== "rest");
    if (rows.length) named.forEach((/** @type {any} */ row, /** @type {number} */ at) => this.addKeyRow(drawn[at + 1], row.label, [...groups[at + 1].at, shape.blocks[0].block.column_width])); // after the heading
    details.append(svg);
    const left = every ? every.length - rows.length : 0;
    if (every) details.append(el("button", { class: "link", onclick: () => this.setComplete(!this.isComplete) }, left ? t("and", { n: left }) : t("fewer")));
    panel.append(details);
  }

  /** Make a row of the legend ring its boxes under the pointer, and fade all others when clicked.
   * @param {any} element @param {string} label @param {number[]} place where it begins, and how wide it is */
  addKeyRow(element, label, [x, y, wide]) {
    const ground = svgEl("rect", { class: "ground", x: x - 4, y: y - 1, width: wide + 8, height: KEY_ROW_PX, rx: 4 });
    element.prepend(ground);
    const name = [...element.querySelectorAll("text")].map((text) => text.textContent).join(" ");
    setAttributes(element, { class: "key-row", role: "button", tabindex: "0", "aria-label": name, "aria-pressed": String(this.app.view.keptKey === label), "data-key": label });
    for (const [event, key] of [["pointerenter", label], ["focus", label], ["pointerleave", ""], ["blur", ""]]) {
      element.addEventListener(event, () => {
        this.app.view.hoveredKey = key;
        this.app.view.updateEmphasis();
      });
    }
    element.addEventListener("click", () => this.app.view.emphasizeLegendRow(this.app.view.keptKey === label ? "" : label));
    element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      this.app.view.emphasizeLegendRow(this.app.view.keptKey === label ? "" : label);
    });
  }

  /** List every colour, or the first ones. @param {boolean} whole */
  setComplete(whole) {
    this.isComplete = whole;
    this.isOpen = true;
    this.draw();
    /** @type {any} */ (byId("legend").querySelector(".link")).focus();
  }
}

/** A block of the legend in the reader's language; names and numbers stay as they are. @param {any} block */
function translatedLegend(block) {
  const withWords = (/** @type {any} */ original, /** @type {any} */ words) => Object.assign(Object.create(Object.getPrototypeOf(original)), original, words);
  const word = (/** @type {string} */ text) => STRINGS[language][`legend.${text}`] ?? text;
  const entries = block.entries.map((/** @type {any} */ entry) => withWords(entry, { label: word(entry.label) }));
  return withWords(block, { heading: word(block.heading), entries });
}
