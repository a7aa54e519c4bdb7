// The bar above the picture: texts, menus and messages.

import { ServerLost } from "./data.js";
import { byId, el, shortText, visibleText } from "./dom.js";
import { hatchPattern } from "./save.js";
import { BROWSER_LANGUAGE, STRINGS, language, t, useLanguage } from "./strings.js";

const MAX_LISTED_FUNCTION_GRAPHS = 500; // functions in the chooser

export class PageFrame {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {any} */
    this.toastTimer = 0;
  }

  /** Words and colours of the page. */
  update() {
    document.documentElement.lang = language;
    const root = document.documentElement;
    if (root.dataset.theme !== this.app.state.theme) root.dataset.theme = this.app.state.theme; // redraws all charts
    document.title = `${visibleText(this.app.state.title)} · tbgraph`;
    byId("title").textContent = visibleText(this.app.state.title);
    byId("title").title = visibleText(this.app.state.title);
    translateElements();
    fillChooser("scheme", this.app.state.schemes.map((/** @type {string} */ scheme) => [scheme, t(`scheme.${scheme}`)]), this.app.state.scheme);
    byId("graph").hidden = !this.app.state.head.functions.length;
    fillChooser("graph", /** @type {any} */ (this.graphChoices()), byId("graph").value || "0");
    byId("step").hidden = this.app.state.head.steps.length < 2;
    fillChooser("step", [["-1", this.app.state.scheme === "logged" ? "" : t("allSteps")], ...this.app.state.head.steps.map((/** @type {string} */ step, /** @type {number} */ at) => /** @type {[string, string]} */ ([String(at), shortText(step.split("/").pop(), 60)]))], String(this.app.state.stepIndex));
    fillChooser("theme", ["system", "light", "dark"].map((theme) => [theme, t(theme)]), this.app.state.themeChoice);
    fillChooser("language", Object.keys(STRINGS).map((word) => [word, STRINGS[word].languageName]), language);
    this.app.tracing.draw();
    this.app.view.svg.setAttribute("aria-label", t("picture", { name: visibleText(this.app.state.title) }));
    if (!this.app.view.pattern) this.app.view.pattern = hatchPattern(this.app.view.svg, layout.THEMES.get(this.app.state.theme));
    this.app.view.pattern.querySelector("path").setAttribute("stroke", layout.THEMES.get(this.app.state.theme).stroke);
  }

  /** Set the language; "": that of the browser. @param {string} word */
  setLanguage(word) {
    this.app.state.chosenLanguage = word;
    if (language === (word || BROWSER_LANGUAGE)) return;
    useLanguage(word || BROWSER_LANGUAGE);
    this.app.changes?.draw();
  }

  /** The choices of the chooser: the whole graph, and each function of the file. */
  graphChoices() {
    const { graph, head } = this.app.state;
    const shown = head.functions.slice(0, MAX_LISTED_FUNCTION_GRAPHS);
    return [["0", this.app.state.title], ...shown.map((/** @type {number} */ row) => [String(row), shortText(graph.name(row), 60)])];
  }

  /** @param {string} text @param {number} [milliseconds] of its display */
  toast(text, milliseconds = 3500) {
    byId("toast").textContent = text;
    byId("toast").classList.remove("bad");
    byId("toast").classList.add("shown");
    clearTimeout(this.toastTimer);
    this.toastTimer = setTimeout(() => byId("toast").classList.remove("shown"), milliseconds);
  }

  /** @param {any} error */
  reportDamage(error) {
    if (error instanceof ServerLost) this.toast(error.message);
    else this.toast(t("damaged", { names: this.app.state.graph.blocks.damaged.join(", ") }));
  }

  focusPicture() {
    this.app.view.svg.focus({ preventScroll: true });
  }
}

/** Translate the words of the page's shell to the reader's language. */
export function translateElements() {
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(/** @type {any} */ (element).dataset.t);
  for (const element of document.querySelectorAll("[data-t-label]")) {
    const word = t(/** @type {any} */ (element).dataset.tLabel);
    element.setAttribute("aria-label", word);
    if (element.matches(".icon, summary")) element.setAttribute("title", word);
  }
  for (const element of document.querySelectorAll("[data-t-hint]")) element.setAttribute("placeholder", t(/** @type {any} */ (element).dataset.tHint));
}

/** Fill a list. @param {string} id @param {[string, string][]} pairs @param {string} value */
export function fillChooser(id, pairs, value) {
  byId(id).replaceChildren(...pairs.map(([key, word]) => el("option", { value: key }, word)));
  byId(id).value = value;
}
