// A page without a graph, or before it is loaded: texts, theme and language.

import { hashOf, stateOf } from "./address.js";
import { byId, visibleText } from "./dom.js";
import { fillChooser, translateElements } from "./page_frame.js";
import { closeMenus, closeMenusOutside, isTyping, openMenus, showHelp } from "./page_keys.js";
import { download } from "./save.js";
import { Share, copyText } from "./share.js";
import { BROWSER_LANGUAGE, STRINGS, language, t, useLanguage } from "./strings.js";

export class PageWithoutGraph {
  /** @param {string} title */
  constructor(title) {
    this.title = title;
    const state = stateOf(location.hash);
    this.choice = ["light", "dark"].includes(state.theme) ? state.theme : "system";
    useLanguage(Object.hasOwn(STRINGS, state.language ?? "") ? state.language : BROWSER_LANGUAGE);
    this.listenerAbort = new AbortController();
    const listenerOptions = { signal: this.listenerAbort.signal };
    byId("theme").addEventListener("change", () => this.changeSettings({ theme: byId("theme").value }), listenerOptions);
    byId("language").addEventListener("change", () => this.changeSettings({ language: byId("language").value }), listenerOptions);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.update(), listenerOptions);
    document.addEventListener("pointerdown", closeMenusOutside, listenerOptions);
    document.addEventListener("keydown", (event) => this.onKey(event), listenerOptions);
    byId("help-button").addEventListener("click", () => ((byId("settings").open = false), showHelp(false, false)), listenerOptions);
    byId("copy-link").addEventListener("click", () => this.copyLink(), listenerOptions);
    byId("save-html").addEventListener("click", () => this.savePage(), listenerOptions);
    byId("share").addEventListener("toggle", () => (byId("save-html").hidden = !Share.makePage || document.body.classList.contains("served")), listenerOptions);
    document.body.classList.add("without-graph");
    this.update();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key === "Escape" && openMenus().length) return closeMenus(event);
    if (event.defaultPrevented || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "?") showHelp(false, false);
    else if (event.key === "t") this.changeSettings({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" });
    else return;
    event.preventDefault();
  }

  async copyLink() {
    byId("share").open = false;
    await copyText(location.href);
  }

  /** Save the page as it looks now. */
  async savePage() {
    byId("share").open = false;
    download(await /** @type {(view: string) => Promise<Blob>} */ (Share.makePage)(location.hash.slice(1)), "tbgraph.html");
  }

  /** @param {{theme?: string, language?: string}} chosen */
  changeSettings(chosen) {
    if (chosen.theme) this.choice = chosen.theme;
    if (chosen.language) useLanguage(chosen.language);
    const theme = this.choice === "system" ? undefined : this.choice;
    history.replaceState(null, "", `#${hashOf({ ...stateOf(location.hash), theme, language: language === BROWSER_LANGUAGE ? undefined : language })}`);
    this.update();
  }

  update() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = this.choice === "system" ? (dark ? "dark" : "light") : this.choice;
    byId("title").textContent = visibleText(this.title);
    translateElements();
    fillChooser("theme", ["system", "light", "dark"].map((theme) => [theme, t(theme)]), this.choice);
    fillChooser("language", Object.keys(STRINGS).map((word) => [word, STRINGS[word].languageName]), language);
  }

  /** Remove the listeners when the page of a graph takes over. */
  release() {
    document.body.classList.remove("without-graph");
    this.listenerAbort.abort();
  }
}
