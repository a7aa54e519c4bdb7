// The page of scalars: a card for each tag, in groups, with one crosshair for all.

const AXES = ["step", "relative", "wall"];
const USUAL_SMOOTH = 0.6;
const TIP_ROWS = 12;

class ScalarPage {
  /** @param {Logs} logs @param {HTMLElement} place */
  constructor(logs, place) {
    this.logs = logs;
    this.place = place;
    /** @type {Map<string, ScalarCard>} */
    this.cards = new Map();
    /** @type {LogTag[]} */
    this.tags = [];
    this.left = 0; // tags that there was no room for
    /** @type {Set<string>} */
    this.pins = new Set();
    /** @type {Set<string>} */
    this.closed = new Set();
    this.pattern = "";
    this.good = /(?:)/;
    this.look = { axis: "step", smooth: USUAL_SMOOTH, logX: false, logY: false, outliers: true, restarts: true };
    this.controls();
    this.groups = el("div", { class: "groups" });
    this.tip = el("div", { class: "chart-tip", role: "tooltip", hidden: true });
    place.append(this.bar, this.groups, this.tip);
    this.sight = new IntersectionObserver((entries) => this.sighted(entries), { root: place, rootMargin: "200px 0px" });
    place.addEventListener("keydown", (event) => this.key(event));
  }

  controls() {
    const look = this.look;
    this.filter = el("input", { type: "search", role: "searchbox", class: "filter", "aria-label": t("log.filterTags"), placeholder: t("log.filterTags"), spellcheck: "false", autocomplete: "off", oninput: () => this.setPattern(this.filter.value) });
    this.said = el("span", { class: "said", role: "status" });
    this.smooth = el("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: look.smooth, "aria-label": t("log.smoothing"), oninput: () => this.setLook({ smooth: Number(this.smooth.value) }, true) });
    this.smoothWord = el("output", {}, String(look.smooth));
    this.axis = el("select", { "aria-label": t("log.axis"), onchange: () => this.setLook({ axis: this.axis.value }) }, ...AXES.map((one) => el("option", { value: one }, t(`log.axis.${one}`))));
    const check = (/** @type {"logX" | "logY" | "outliers" | "restarts"} */ key) => {
      const box = el("input", { type: "checkbox", onchange: () => this.setLook({ [key]: box.checked }) });
      box.checked = look[key];
      return [box, el("label", { class: "check" }, box, t(`log.${key}`))];
    };
    const [logX, labelX] = check("logX");
    const [logY, labelY] = check("logY");
    const [outliers, labelOut] = check("outliers");
    const [restarts, labelRe] = check("restarts");
    this.checks = { logX, logY, outliers, restarts };
    this.bar = el("div", { class: "log-bar", role: "toolbar", "aria-label": t("log.charts") }, this.filter, this.said, el("label", { class: "check" }, t("log.smoothing"), this.smooth, this.smoothWord), this.axis, labelX, labelY, labelOut, labelRe);
  }

  /** @param {LogTag[]} tags */
  set(tags) {
    this.tags = tags;
    for (const tag of tags) {
      const card = this.cards.get(tag.name);
      if (card) card.tag = tag;
    }
    this.draw();
  }

  /** Tags in their groups, in the order in which they were given; what is pinned comes first. @returns {[string, LogTag[]][]} */
  grouped() {
    const shown = this.tags.filter((tag) => this.good.test(tag.name));
    const pinned = shown.filter((tag) => this.pins.has(tag.name));
    /** @type {Map<string, LogTag[]>} */
    const found = new Map();
    for (const tag of shown) found.set(tag.group, [...(found.get(tag.group) ?? []), tag]);
    return pinned.length ? [[t("log.pinned"), pinned], ...found] : [...found];
  }

  draw() {
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.tag;
    const groups = this.grouped();
    /** @type {Set<string>} */
    const placed = new Set();
    const parts = groups.map(([name, tags]) => {
      const held = el("div", { class: "cards" });
      const closed = this.closed.has(name);
      const inner = closed ? [] : tags.filter((tag) => !placed.has(tag.name));
      for (const tag of inner) {
        placed.add(tag.name);
        held.append(this.card(tag).root);
      }
      const head = el("button", { class: "group-head", "aria-expanded": String(!closed), onclick: () => this.fold(name) }, el("b", {}, brief(name, 120)), el("span", { class: "quiet" }, counted(tags.length)));
      return el("section", { class: tags.length > 1 ? "log-group" : "log-group single" }, el("h2", {}, head), held);
    });
    this.groups.replaceChildren(...parts);
    if (!groups.length) this.groups.append(el("p", { class: "quiet" }, this.tags.length ? t("log.noTags") : t("log.noScalars")));
    if (this.left) this.groups.append(el("p", { class: "quiet log-group" }, t("log.leftOut", { n: this.left })));
    for (const [name, card] of this.cards) card.pin.setAttribute("aria-pressed", String(this.pins.has(name)));
    if (focused) this.cards.get(focused)?.root.focus({ preventScroll: true });
  }

  /** @param {LogTag} tag @returns {ScalarCard} */
  card(tag) {
    let card = this.cards.get(tag.name);
    if (!card) {
      card = new ScalarCard(this, tag);
      this.cards.set(tag.name, card);
      this.sight.observe(card.root);
    }
    return card;
  }

  /** @param {IntersectionObserverEntry[]} entries */
  sighted(entries) {
    for (const entry of entries) {
      const name = /** @type {HTMLElement} */ (entry.target).dataset.tag ?? "";
      this.cards.get(name)?.seen(entry.isIntersecting);
    }
  }

  /** @param {string} name */
  fold(name) {
    this.closed.has(name) ? this.closed.delete(name) : this.closed.add(name);
    this.draw();
  }

  /** @param {string} text */
  setPattern(text) {
    this.pattern = text;
    try {
      this.good = new RegExp(text, "i");
      this.said.textContent = "";
      this.filter.removeAttribute("aria-invalid");
    } catch {
      this.said.textContent = t("log.badPattern");
      this.filter.setAttribute("aria-invalid", "true");
    }
    if (this.filter.value !== text) this.filter.value = text;
    this.draw();
    this.logs.remember();
  }

  /** Change how all charts look. @param {Partial<ScalarPage["look"]>} change @param {boolean} [light] whether points that are here may do */
  setLook(change, light = false) {
    Object.assign(this.look, change);
    this.axis.value = this.look.axis;
    this.smooth.value = String(this.look.smooth);
    this.smoothWord.textContent = this.look.smooth.toFixed(2);
    for (const [key, box] of Object.entries(this.checks)) box.checked = this.look[/** @type {"logX"} */ (key)];
    const asks = "axis" in change || "smooth" in change;
    for (const card of this.cards.values()) {
      const sampled = [...card.points.values()].some((one) => one.smoothed || one.step.length < one.n);
      if (asks && (!light || sampled)) card.zoomed();
      if (card.near) card.show();
    }
    this.logs.remember();
  }

  /** @param {string} name */
  togglePin(name) {
    this.pins.has(name) ? this.pins.delete(name) : this.pins.add(name);
    this.draw();
    this.logs.remember();
  }

  /** The chosen runs, their order or their colours are others. */
  runsChanged() {
    for (const card of this.cards.values()) {
      const lacks = card.series().some(([run]) => !card.points.has(run));
      if (lacks) card.load();
      else if (card.near) card.show();
      else card.stale = true;
    }
  }

  /** New points came for some series. @param {Set<number>} series */
  came(series) {
    for (const card of this.cards.values()) {
      if (card.series().some((one) => series.has(one[1]))) card.load();
    }
  }

  /** @param {number | null} x @param {LineChart} from */
  hover(x, from) {
    for (const card of this.cards.values()) {
      if (!card.near || card.table || (card.chart.cross === null && x === null)) continue;
      card.chart.cross = x;
      card.chart.draw();
    }
  }

  /** @param {ScalarCard} card @param {any[] | null} rows @param {{x: number, y: number}} at */
  tell(card, rows, at) {
    this.tip.hidden = !rows?.length;
    if (!rows?.length) return;
    const cell = (/** @type {string} */ text) => el("td", {}, text);
    const body = rows.slice(0, TIP_ROWS).map(({ line, at: nth }, order) => {
      const swatch = el("span", { class: "swatch" });
      swatch.style.background = line.colour;
      const when = [String(line.step[nth]), new Date(line.wall[nth] * 1000).toLocaleTimeString(), durationWord(line.wall[nth] - line.start)];
      const smooth = line.raw === line.y ? [] : [cell(shortNumber(line.y[nth], 5))];
      return el("tr", { class: order ? null : "nearest" }, el("td", {}, swatch, brief(line.run.name, 60)), ...smooth, cell(String(line.raw[nth])), ...when.map(cell));
    });
    const heads = ["run", ...(this.look.smooth ? ["log.smoothed"] : []), "log.value", "step", "log.wall", "log.axis.relative"].map((key) => el("th", {}, t(key)));
    const more = rows.length > TIP_ROWS ? el("p", { class: "quiet" }, t("and", { n: rows.length - TIP_ROWS })) : null;
    this.tip.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body)), ...(more ? [more] : []));
    const box = this.tip.getBoundingClientRect();
    const plot = card.plot.getBoundingClientRect();
    this.tip.style.left = `${Math.max(8, Math.min(at.x - box.width / 2, innerWidth - box.width - 8))}px`;
    this.tip.style.top = `${plot.bottom + box.height + 12 < innerHeight ? plot.bottom + 8 : Math.max(8, plot.top - box.height - 8)}px`;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    const cards = [...this.groups.querySelectorAll(".chart-card")];
    const here = /** @type {any} */ (document.activeElement)?.closest?.(".chart-card");
    const card = here ? this.cards.get(here.dataset.tag) : undefined;
    const at = cards.indexOf(here);
    const go = (/** @type {number} */ to) => /** @type {HTMLElement | undefined} */ (cards[Math.max(0, Math.min(cards.length - 1, to))])?.focus();
    /** @type {Record<string, () => void>} */
    const keys = {
      "/": () => this.filter.focus(), j: () => go(at + 1), k: () => go(at - 1), Enter: () => card?.widen(),
      s: () => this.smooth.focus(), x: () => this.setLook({ axis: AXES[(AXES.indexOf(this.look.axis) + 1) % AXES.length] }),
      y: () => this.setLook({ logY: !this.look.logY }), r: () => this.logs.runs.filter.focus(), p: () => card && this.togglePin(card.tag.name),
    };
    if (event.key === "Enter" && document.activeElement !== here) return;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** What the address holds of this page. */
  state() {
    const { axis, smooth, logX, logY } = this.look;
    return {
      tags: this.pattern, smooth: smooth === USUAL_SMOOTH ? "" : String(smooth), axis: axis === "step" ? "" : axis,
      log: [logX && "x", logY && "y"].filter(Boolean).join(""), pin: [...this.pins].map(escaped).join(","),
    };
  }

  /** @param {Record<string, any>} state */
  restore({ tags = "", smooth = "", axis = "step", log = "", pin = "" }) {
    this.pins = new Set(String(pin).split(",").filter(Boolean).map(unescaped));
    const weight = smooth === "" ? USUAL_SMOOTH : Number(smooth);
    this.setLook({ axis: AXES.includes(axis) ? axis : "step", smooth: weight >= 0 && weight < 1 ? weight : USUAL_SMOOTH, logX: log.includes("x"), logY: log.includes("y") });
    this.setPattern(tags);
  }

  /** The points that a card draws, for scripts. @param {string} tag */
  async drawn(tag) {
    const card = this.cards.get(tag);
    if (!card) throw new Error(`no tag ${JSON.stringify(tag)}`);
    if (card.stale || !card.points.size) {
      card.near = true;
      await card.load();
    }
    return card.lines().map((line) => ({ run: line.run.name, steps: Array.from(line.step), values: Array.from(line.raw) }));
  }
}
