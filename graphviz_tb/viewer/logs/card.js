// A card of a chart: its title, its buttons, the chart or the table behind it.

const TABLE_ROWS = 500; // that a table shows; the file has all

class ScalarCard {
  /** @param {ScalarPage} page @param {LogTag} tag */
  constructor(page, tag) {
    this.page = page;
    this.tag = tag;
    this.wide = false;
    this.table = false;
    this.near = false; // whether it is in sight, or nearly
    this.stale = true;
    /** @type {Map<number, Points>} by run */
    this.points = new Map();
    /** @type {AbortController | null} */
    this.asking = null;
    this.note = el("span", { class: "note" });
    this.pin = el("button", { class: "icon", "aria-pressed": "false", title: t("log.pin"), "aria-label": t("log.pin"), onclick: () => page.togglePin(tag.name) }, "⚲");
    this.plot = el("div", { class: "plot" });
    this.menu = el("details", { class: "menu" }, el("summary", { class: "icon", "aria-label": t("log.more"), title: t("log.more") }, "⋯"), el("div", { class: "pop" }, ...this.actions()));
    const head = el("div", { class: "card-head" }, el("h3", { title: brief(tag.name) }, brief(tag.title || tag.name, 160)), this.pin, el("button", { class: "icon", title: t("log.wide"), "aria-label": t("log.wide"), onclick: () => this.widen() }, "⤢"), this.menu);
    this.root = el("section", { class: "chart-card", role: "figure", tabindex: "0", "aria-label": brief(tag.name), "data-tag": tag.name }, head, this.plot, this.note);
    this.chart = new LineChart(this.plot, { hover: (x, from) => page.hover(x, from), zoomed: () => this.zoomed(), told: (rows, at) => page.tell(this, rows, at) });
    new ResizeObserver(() => this.fitted()).observe(this.plot);
  }

  actions() {
    const act = (/** @type {string} */ key, /** @type {() => void} */ run) => el("button", { onclick: () => ((this.menu.open = false), run()) }, t(key));
    return [
      act("log.table", () => this.toggleTable()), act("log.copy", () => this.copy()), act("log.csv", () => this.save("csv")),
      act("log.json", () => this.save("json")), act("saveSvg", () => this.save("svg")), act("savePng", () => this.save("png")), act("fit", () => this.chart.fit()),
    ];
  }

  fitted() {
    if (this.table || !this.near) return;
    this.chart.resize(this.plot.clientWidth, this.plot.clientHeight);
  }

  /** Come into sight, or leave it: what cannot be seen keeps neither points nor pixels. @param {boolean} near */
  seen(near) {
    this.near = near;
    if (near) {
      this.fitted();
      if (this.stale) this.load();
    } else {
      this.asking?.abort();
      this.chart.canvas.width = this.chart.canvas.height = 0;
      this.chart.width = 0;
    }
  }

  /** The runs that log this tag and are chosen: run → [series, number of points]. */
  series() {
    const chosen = this.page.logs.runs.ids();
    return this.tag.runs.filter(([run]) => chosen.has(run));
  }

  /** Ask for the points, as many as the chart can show. */
  async load() {
    if (!this.near) return void (this.stale = true);
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    const some = this.series();
    const { axis, smooth } = this.page.look;
    const px = Math.max(100, Math.round(this.chart.inner.width));
    const zoom = this.chart.zoom;
    const ask = (/** @type {number[][]} */ which, /** @type {number | undefined} */ weight) =>
      which.length ? this.page.logs.feed.series(which.map((one) => one[1]), { axis, px, smooth: weight, from: zoom?.low, to: zoom?.high }, asking.signal) : Promise.resolve(new Map());
    // A series that is sent whole is smoothed here, so that the slider asks nobody.
    const [small, large] = [some.filter((one) => one[2] <= POINTS_A_PIXEL * px && !zoom), some.filter((one) => one[2] > POINTS_A_PIXEL * px || zoom)];
    this.stale = false;
    try {
      const answers = await Promise.all([ask(small, undefined), ask(large, smooth || undefined)]);
      if (asking.signal.aborted) return;
      this.points = new Map();
      for (const answer of answers) for (const [run, series] of some) if (answer.has(series)) this.points.set(run, answer.get(series));
      this.show();
    } catch (error) {
      if (asking.signal.aborted) return;
      this.stale = true;
      this.note.textContent = t("log.lost", { error: brief(/** @type {Error} */ (error).message) });
    }
  }

  /** The lines of the runs that are chosen, as they are shown. @returns {ChartLine[]} */
  lines() {
    const { logs, look } = this.page;
    const out = [];
    for (const run of logs.runs.shown()) {
      const points = this.points.get(run.id);
      if (!points || !logs.runs.chosen.has(run.name)) continue;
      const start = this.tag.runs.find(([id]) => id === run.id)?.[5] ?? points.wall[0] ?? 0;
      const x = look.axis === "step" ? points.step : look.axis === "wall" ? points.wall : Float64Array.from(points.wall, (wall) => wall - start);
      out.push({ run, colour: logs.colour(run), dashes: run.style[1], x, y: this.smooth(points), raw: points.value, step: points.step, wall: points.wall, superseded: points.superseded, start, n: points.n });
    }
    return out;
  }

  /** @param {Points} points @returns {ArrayLike<number>} */
  smooth(points) {
    const { smooth } = this.page.look;
    if (!smooth) return points.value;
    if (points.smoothed) return points.smoothed;
    if (!points.superseded) return smoothed(points.value, smooth);
    const counts = Array.from(points.value, (_, at) => at).filter((at) => !points.superseded?.[at]);
    const some = smoothed(counts.map((at) => points.value[at]), smooth);
    const out = Float64Array.from(points.value);
    counts.forEach((at, nth) => (out[at] = some[nth]));
    return out;
  }

  show() {
    const lines = this.lines();
    this.chart.set(lines, this.page.look);
    this.root.setAttribute("aria-label", this.words(lines));
    const odd = lines.reduce((sum, line) => sum + Array.from(line.raw).filter((value) => !Number.isFinite(value)).length, 0);
    const [shown, all] = [lines.reduce((sum, line) => sum + line.x.length, 0), lines.reduce((sum, line) => sum + line.n, 0)];
    const notes = [shown < all && !this.chart.zoom && t("log.thinned", { n: shown, all }), odd && t("log.odd", { n: odd }), this.chart.hidden && t("log.hidden", { n: this.chart.hidden })].filter(Boolean);
    this.note.textContent = lines.length ? notes.join(" · ") : t("log.nothing");
    if (this.table) this.drawTable();
    else this.fitted();
  }

  /** What a reader who does not see the chart is told. @param {ChartLine[]} lines */
  words(lines) {
    const last = lines.slice(0, 5).map((line) => `${brief(line.run.name, 60)} ${shortNumber(lastOf(line))}`);
    return `${brief(this.tag.name)}: ${t("log.runCount", { n: lines.length })}${last.length ? `, ${t("log.lastValues")} ${last.join(", ")}` : ""}`;
  }

  zoomed() {
    this.stale = true;
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.load(), 120);
  }

  widen() {
    this.wide = !this.wide;
    this.root.classList.toggle("wide", this.wide);
  }

  toggleTable() {
    this.table = !this.table;
    this.root.classList.toggle("as-table", this.table);
    if (this.table) this.drawTable();
    else {
      this.plot.replaceChildren(this.chart.canvas);
      this.fitted();
    }
  }

  /** The exact values. */
  rows() {
    return this.lines().flatMap((line) => Array.from(line.step, (step, at) => ({ run: line.run.name, step, wall: line.wall[at], value: line.raw[at], superseded: line.superseded?.[at] ? 1 : 0 })));
  }

  drawTable() {
    const rows = this.rows();
    const cell = (/** @type {any} */ text) => el("td", {}, String(text));
    const body = rows.slice(-TABLE_ROWS).map((row) => el("tr", {}, cell(brief(row.run, 80)), cell(row.step), cell(row.value), cell(new Date(row.wall * 1000).toISOString())));
    const heads = ["run", "step", "log.value", "log.wall"].map((key) => el("th", { scope: "col" }, t(key)));
    const more = rows.length > TABLE_ROWS ? el("p", { class: "quiet" }, t("log.lastRows", { n: TABLE_ROWS, all: rows.length })) : null;
    this.plot.replaceChildren(el("div", { class: "table", tabindex: "0" }, more, el("table", {}, el("caption", { class: "away" }, brief(this.tag.name)), el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body))));
  }

  async copy() {
    const rows = this.rows().map((row) => [row.run, row.step, row.wall, row.value].join("\t"));
    await navigator.clipboard?.writeText(["run\tstep\twall_time\tvalue", ...rows].join("\n"));
    this.page.logs.toast(t("log.copied"));
  }

  /** Save all points where the server has them, else those that are here. @param {string} format */
  saveRows(format) {
    const address = this.page.logs.feed.exportAddress(format, [this.tag.id]);
    if (address) return location.assign(address);
    download(new Blob([rowsAs(this.rows(), this.tag.name, format)]), `${tagFile(this.tag.name)}.${format}`);
  }

  /** @param {string} format */
  save(format) {
    if (format === "csv" || format === "json") return this.saveRows(format);
    if (format === "png") return this.chart.canvas.toBlob((/** @type {Blob} */ blob) => download(blob, `${tagFile(this.tag.name)}.png`));
    download(new Blob([chartSvg(this.chart, this.tag.name)], { type: "image/svg+xml" }), `${tagFile(this.tag.name)}.svg`);
  }
}

/** Rows as a file of a format. @param {Record<string, any>[]} rows @param {string} tag @param {string} format */
function rowsAs(rows, tag, format) {
  const word = (/** @type {number} */ value) => (Number.isNaN(value) ? "NaN" : String(value));
  const whole = rows.map((row) => ({ run: row.run, tag, step: row.step, wall_time: row.wall, value: Number.isFinite(row.value) ? row.value : word(row.value), superseded: row.superseded }));
  if (format === "json") return JSON.stringify(whole);
  const quoted = (/** @type {any} */ text) => (/[",\r\n]/.test(String(text)) ? `"${String(text).replaceAll('"', '""')}"` : String(text));
  return ["run,tag,step,wall_time,value,superseded", ...whole.map((row) => Object.values(row).map(quoted).join(","))].join("\r\n") + "\r\n";
}

/** The last point that counts. @param {ChartLine} line */
function lastOf(line) {
  for (let at = line.raw.length - 1; at >= 0; at--) if (!line.superseded?.[at]) return line.raw[at];
  return NaN;
}

/** A name that is safe for a file. @param {string} tag */
const tagFile = (tag) => tag.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 100) || "chart";

/** A chart as a document of its own. @param {LineChart} chart @param {string} title */
function chartSvg(chart, title) {
  const { width, height } = chart;
  const look = getComputedStyle(chart.canvas);
  const root = svgEl("svg", { xmlns: SVG, width, height: height + 24, viewBox: `0 -24 ${width} ${height + 24}`, "font-family": FONTS, "font-size": 10 });
  svgEl("title", {}, root).textContent = safe(title);
  svgEl("rect", { y: -24, width, height: height + 24, fill: getComputedStyle(document.documentElement).getPropertyValue("--ground") }, root);
  svgEl("text", { x: 8, y: -8, "font-size": 13, "font-weight": 600, fill: look.getPropertyValue("--text") }, root).textContent = safe(title);
  chart.paint(/** @type {any} */ (new SvgPen(root)));
  return new XMLSerializer().serializeToString(root);
}
