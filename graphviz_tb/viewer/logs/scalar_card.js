// A card of scalars: the lines of the chosen runs.

class ScalarCard extends TagCard {
  static charted = true;
  chart = /** @type {LineChart} */ (null);

  /** @param {ScalarPage} page @param {CardEntry} entry */
  constructor(page, entry) {
    super(page, entry);
    this.scalars = page;
    /** @type {Map<number, Points>} by series */
    this.points = new Map();
    /** @type {ChartLine[]} as they were drawn last */
    this.shown = [];
    this.chart = this.chartOf({ hover: (x, from) => page.hover(x, from), zoomed: () => this.zoomed(), told: (rows, at) => page.tellPoints(this, rows, at.x) });
  }

  /** @param {{hover: (x: number | null, from: LineChart) => void, zoomed: (chart: LineChart) => void, told: (rows: any[] | null, at: {x: number, y: number}) => void}} hooks */
  chartOf(hooks) {
    return new LineChart(this.plot, hooks);
  }

  /** The tags whose lines are drawn. @returns {LogTag[]} */
  members() {
    return [this.tag];
  }

  /** @returns {[string, () => void][]} */
  actions() {
    return [...super.actions(), ["fit", () => this.chart.fit()]];
  }

  /** Ask for the points, as many as the chart can show. @param {AbortSignal} signal */
  async ask(signal) {
    const some = this.series();
    const { axis, smooth } = this.scalars.look;
    const px = Math.max(100, Math.round(this.chart.inner.width));
    const zoom = this.chart.zoom;
    const ask = (/** @type {number[][]} */ which, /** @type {number | undefined} */ weight) =>
      which.length ? this.page.logs.feed.series(which.map((one) => one[1]), { axis, px, smooth: weight, from: zoom?.low, to: zoom?.high }, signal) : Promise.resolve(new Map());
    // A series that is sent whole is smoothed here, so that the slider asks nobody.
    const [small, large] = [some.filter((one) => one[2] <= POINTS_A_PIXEL * px && !zoom), some.filter((one) => one[2] > POINTS_A_PIXEL * px || zoom)];
    const answers = await Promise.all([ask(small, undefined), ask(large, smooth || undefined)]);
    return () => {
      this.points = new Map();
      for (const answer of answers) for (const [, series] of some) if (answer.has(series)) this.points.set(series, answer.get(series));
    };
  }

  /** The lines of the runs that are chosen, as they are shown. @returns {ChartLine[]} */
  lines() {
    const { logs } = this.scalars;
    const members = this.members();
    const out = [];
    for (const run of logs.runs.shown()) {
      if (!logs.runs.chosen.has(run.name)) continue;
      members.forEach((tag, nth) => {
        const series = tag.runs.find(([id]) => id === run.id);
        const points = series && this.points.get(series[1]);
        if (!points) return;
        const start = series[5] ?? points.wall[0] ?? 0;
        const named = members.length > 1 ? { ...run, name: `${run.name} · ${tag.name}` } : run;
        const dashes = members.length > 1 ? MEMBER_DASHES[nth % MEMBER_DASHES.length] : run.style[1];
        const x = this.scalars.look.axis === "step" ? points.step : Float64Array.from(points.wall, (_, at) => this.across(points, at, start));
        out.push({ run: named, tag: tag.name, colour: logs.colour(run), dashes, x, y: this.smooth(points), raw: points.value, step: points.step, wall: points.wall, superseded: points.superseded, start, n: points.n });
      });
    }
    return out;
  }

  /** Where a point lies on the axis across. @param {Points} points @param {number} at @param {number} start */
  across(points, at, start) {
    const { axis } = this.scalars.look;
    return axis === "step" ? points.step[at] : points.wall[at] - (axis === "wall" ? 0 : start);
  }

  /** @param {Points} points @returns {ArrayLike<number>} */
  smooth(points) {
    const { smooth } = this.scalars.look;
    if (!smooth) return points.value;
    if (points.smoothed) return points.smoothed;
    if (!points.superseded) return smoothed(points.value, smooth);
    const counts = Array.from(points.value, (_, at) => at).filter((at) => !points.superseded?.[at]);
    const some = smoothed(counts.map((at) => points.value[at]), smooth);
    const out = Float64Array.from(points.value);
    counts.forEach((at, nth) => (out[at] = some[nth]));
    return out;
  }

  drawn() {
    this.fitted();
  }

  show() {
    const lines = (this.shown = this.lines());
    this.draw(lines);
    const odd = lines.reduce((sum, line) => sum + Array.from(line.raw).filter((value) => !Number.isFinite(value)).length, 0);
    const [shown, all] = [lines.reduce((sum, line) => sum + line.x.length, 0), lines.reduce((sum, line) => sum + line.n, 0)];
    const notes = [shown < all && !this.chart.zoom && t("log.thinned", { n: shown, all }), odd && t("log.odd", { n: odd }), this.chart.hidden && t("log.hidden", { n: this.chart.hidden })].filter(Boolean);
    this.note.textContent = lines.length ? notes.join(" · ") : t("log.nothing");
    super.show();
  }

  /** @param {ChartLine[]} lines */
  draw(lines) {
    this.chart.set(lines, this.scalars.look);
  }

  words() {
    const lines = this.shown;
    const last = lines.slice(0, 5).map((line) => `${brief(line.run.name, 60)} ${shortNumber(lastOf(line))}`);
    return `${brief(this.tag.name)}: ${t("log.runCount", { n: lines.length })}${last.length ? `, ${t("log.lastValues")} ${last.join(", ")}` : ""}`;
  }

  zoomed() {
    this.stale = true;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.load(), 120);
  }

  /** The exact values. */
  rows() {
    return this.lines().flatMap((line) => Array.from(line.step, (step, at) => ({ run: line.run.name, tag: line.tag ?? this.tag.name, step, wall_time: line.wall[at], value: line.raw[at], superseded: line.superseded?.[at] ? 1 : 0 })));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  columns() {
    return [[t("run"), (row) => brief(String(row.run), 80)], [t("step"), (row) => String(row.step)], [t("log.value"), (row) => String(row.value)], [t("log.wall"), (row) => isoTime(row.wall_time)]];
  }

  /** Save all points where the server has them, else those that are here. @param {string} format */
  saveRows(format) {
    const address = this.page.logs.feed.exportAddress(format, this.members().map((tag) => tag.id));
    if (address) location.assign(address);
    else super.saveRows(format);
  }
}

/** The last point that counts. @param {ChartLine} line */
function lastOf(line) {
  for (let at = line.raw.length - 1; at >= 0; at--) if (!line.superseded?.[at]) return line.raw[at];
  return NaN;
}
