// The page before there is a graph, or without one: its words, theme and language.

class Bare {
  /** @param {string} title */
  constructor(title) {
    this.title = title;
    const state = stateOf(location.hash);
    this.choice = ["light", "dark"].includes(state.theme) ? state.theme : "system";
    language = Object.hasOwn(STRINGS, state.language ?? "") ? state.language : OWN_LANGUAGE;
    this.ending = new AbortController();
    const on = { signal: this.ending.signal };
    byId("theme").addEventListener("change", () => this.set({ theme: byId("theme").value }), on);
    byId("language").addEventListener("change", () => this.set({ language: byId("language").value }), on);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.dress(), on);
    this.dress();
  }

  /** @param {{theme?: string, language?: string}} chosen */
  set(chosen) {
    if (chosen.theme) this.choice = chosen.theme;
    if (chosen.language) language = chosen.language;
    const theme = this.choice === "system" ? undefined : this.choice;
    history.replaceState(null, "", `#${hashOf({ ...stateOf(location.hash), theme, language: language === OWN_LANGUAGE ? undefined : language })}`);
    this.dress();
  }

  dress() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = this.choice === "system" ? (dark ? "dark" : "light") : this.choice;
    byId("title").textContent = safe(this.title);
    dressWords();
    chooser("theme", ["system", "light", "dark"].map((one) => [one, t(one)]), this.choice);
    chooser("language", Object.keys(STRINGS).map((one) => [one, STRINGS[one].languageName]), language);
  }

  /** Another one takes over. */
  end() {
    this.ending.abort();
  }
}
