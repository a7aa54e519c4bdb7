// The page of scalars: a card for each tag, with the lines of all chosen runs, and one crosshair for all.

const AXES = ["step", "relative", "wall"];

class ScalarPage extends TagPage {
  /** @param {Logs} logs */
  constructor(logs) {
    super(logs, "scalar");
    this.most = Infinity; // a tag is one card, however many runs have it
    this.look = logs.look;
    this.controls();
  }

  controls() {
    const look = this.look;
    this.smooth = el("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: look.smooth, "aria-label": t("log.smoothing"), oninput: () => this.setLook({ smooth: Number(this.smooth.value) }, true) });
    this.smoothWord = el("output", {}, String(look.smooth));
    this.axis = axisChooser((axis) => this.setLook({ axis }));
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
    this.bar.append(el("label", { class: "check" }, t("log.smoothing"), this.smooth, this.smoothWord), this.axis, labelX, labelY, labelOut, labelRe);
  }

  /** All cards. */
  every() {
    return /** @type {ScalarCard[]} */ ([...this.cards.values()]);
  }

  /** @param {LogTag} tag @returns {CardEntry[]} */
  entries(tag) {
    return [{ key: tag.name, tag, run: null }];
  }

  /** @param {CardEntry} entry */
  make(entry) {
    return new ScalarCard(this, entry);
  }

  restored() {
    super.restored();
    this.setLook({ ...this.look });
  }

  /** Change how all charts look. @param {Partial<LogLook>} change @param {boolean} [light] whether points that are here may do */
  setLook(change, light = false) {
    Object.assign(this.look, change);
    this.axis.value = this.look.axis;
    this.smooth.value = String(this.look.smooth);
    this.smoothWord.textContent = this.look.smooth.toFixed(2);
    for (const [key, box] of Object.entries(this.checks)) box.checked = this.look[/** @type {"logX"} */ (key)];
    const asks = "axis" in change || "smooth" in change;
    for (const card of this.every()) {
      const sampled = [...card.points.values()].some((one) => one.smoothed || one.step.length < one.n);
      if (asks && (!light || sampled)) card.zoomed();
      if (card.near) card.show();
    }
    this.logs.remember();
  }

  runsChanged() {
    for (const card of this.every()) {
      if (card.series().some(([, series]) => !card.points.has(series))) card.load();
      else if (card.near) card.show();
      else card.stale = true;
    }
  }

  /** @param {number | null} x @param {LineChart} from */
  hover(x, from) {
    for (const card of this.every()) {
      if (!card.near || card.table || (card.chart.cross === null && x === null)) continue;
      card.chart.cross = x;
      card.chart.draw();
    }
  }

  /** The points at the crosshair. @param {ScalarCard} card @param {any[] | null} rows @param {number} x */
  tellPoints(card, rows, x) {
    const cell = (/** @type {string} */ text) => el("td", {}, text);
    const body = (rows ?? []).map(({ line, at: nth }, order) => {
      const when = [String(line.step[nth]), new Date(line.wall[nth] * 1000).toLocaleTimeString(), durationWord(line.wall[nth] - line.start)];
      const smooth = line.raw === line.y ? [] : [cell(shortNumber(line.y[nth], 5))];
      return el("tr", { class: order ? null : "nearest" }, runCell(line.run, line.colour), ...smooth, cell(String(line.raw[nth])), ...when.map(cell));
    });
    this.tell(card, ["run", ...(this.look.smooth ? ["log.smoothed"] : []), "log.value", "step", "log.wall", "log.axis.relative"].map((key) => t(key)), body, x);
  }

  /** @returns {Record<string, () => void>} */
  keys() {
    return {
      s: () => this.smooth.focus(), x: () => this.setLook({ axis: AXES[(AXES.indexOf(this.look.axis) + 1) % AXES.length] }),
      y: () => this.setLook({ logY: !this.look.logY }),
    };
  }

  /** The points that a card draws, for scripts. @param {string} tag */
  async drawn(tag) {
    const card = /** @type {ScalarCard | undefined} */ (this.cards.get(tag));
    if (!card) throw new Error(`no tag ${JSON.stringify(tag)}`);
    if (card.stale || !card.points.size) {
      card.near = true;
      await card.load();
    }
    return card.lines().map((line) => ({ run: line.run.name, steps: Array.from(line.step), values: Array.from(line.raw) }));
  }
}

/** A list of the axes that a chart may have across. @param {(axis: string) => void} choose */
function axisChooser(choose) {
  const list = el("select", { "aria-label": t("log.axis"), onchange: () => choose(list.value) }, ...AXES.map((one) => el("option", { value: one }, t(`log.axis.${one}`))));
  return list;
}

/** A run in its colour, as a cell of a table. @param {LogRun} run @param {string} colour */
function runCell(run, colour) {
  const swatch = el("span", { class: "swatch" });
  swatch.style.background = colour;
  return el("td", {}, swatch, brief(run.name, 60));
}
