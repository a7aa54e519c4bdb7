// Charts that a training laid out itself: lines of several tags on one card, and lines with a band around them.

/**
 * @typedef {{title: string, tags: string[], margins: [string, string, string][]}} CustomChart
 * @typedef {{categories: {title: string, closed: boolean, charts: CustomChart[]}[]}} CustomLayout
 * @typedef {LogTag & {members: LogTag[], margins: Map<string, [LogTag | undefined, LogTag | undefined]>}} CustomTag `runs` has the series of all members; `margins`: by the name of a member its lower and its upper border
 */

const LONGEST_PATTERN = 500; // letters
const MEMBER_DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]]; // tell the tags of one run
const BAND = 0.2; // how much of its colour a band has

/**
 * Whether a pattern fits from the start of a name. A layout is data: a pattern that may take for ever on some name
 * (a group that repeats, many wild cards, what refers back) fits the tag alone that it names.
 * @param {string} pattern @returns {(name: string) => boolean}
 */
function patternTest(pattern) {
  const slow = pattern.length > LONGEST_PATTERN || /\)[*+?{]|\\\d|\(\?/.test(pattern) || (pattern.match(/[*+{]/g) ?? []).length > 2;
  try {
    const found = slow ? null : new RegExp(`^(?:${pattern})`);
    return (name) => name === pattern || !!found?.test(name.slice(0, LONGEST_PATTERN));
  } catch {
    return (name) => name === pattern;
  }
}

/** Each chart as a tag that has the series of its members. @param {CustomLayout} layout @param {LogTag[]} scalars @returns {CustomTag[]} */
function customTags({ categories }, scalars) {
  const named = new Map(scalars.map((tag) => [tag.name, tag]));
  /** @type {Map<string, number>} */
  const taken = new Map();
  return categories.flatMap(({ title: group, charts }) =>
    charts.map(({ title, tags, margins }) => {
      const fits = tags.map(patternTest);
      const lines = margins.map(([value]) => named.get(value));
      const members = /** @type {LogTag[]} */ ([...new Set([...scalars.filter((tag) => fits.some((fit) => fit(tag.name))), ...lines])].filter(Boolean));
      const borders = margins.map(([value, lower, upper]) => /** @type {[string, [LogTag | undefined, LogTag | undefined]]} */ ([value, [named.get(lower), named.get(upper)]]));
      const all = new Set([...members, ...borders.flatMap(([, two]) => two)].filter(Boolean));
      const name = `${group}/${title}`;
      const nth = (taken.get(name) ?? 0) + 1;
      taken.set(name, nth);
      const runs = [...all].flatMap((tag) => /** @type {LogTag} */ (tag).runs);
      return { id: -1, name: nth > 1 ? `${name} (${nth})` : name, group, kind: "scalar", title, about: "", runs, members, margins: new Map(borders) };
    }),
  );
}

class CustomChartView extends LineChart {
  /** @param {ChartLine[]} lines @param {ChartLook} look @param {{colour: string, x: number[], low: number[], high: number[]}[]} [bands] */
  set(lines, look, bands = this.bands) {
    this.bands = bands;
    super.set(lines, look);
  }

  /** @type {{colour: string, x: number[], low: number[], high: number[]}[]} */
  bands = [];

  /** @returns {number[]} */
  more() {
    return (this.bands ?? []).flatMap(({ low, high }) => [...low, ...high]);
  }

  /** @param {CanvasRenderingContext2D} g @param {Record<string, string>} colours */
  inside(g, colours) {
    g.globalAlpha = BAND;
    for (const { colour, x, low, high } of this.bands) {
      g.fillStyle = colour;
      g.beginPath();
      x.forEach((one, at) => (at ? g.lineTo(this.left(one), this.top(high[at])) : g.moveTo(this.left(one), this.top(high[at]))));
      for (let at = x.length - 1; at >= 0; at--) g.lineTo(this.left(x[at]), this.top(low[at]));
      g.fill();
    }
    g.globalAlpha = 1;
    super.inside(g, colours);
  }
}

class CustomCard extends ScalarCard {
  /** @param {{hover: (x: number | null, from: LineChart) => void, zoomed: (chart: LineChart) => void, told: (rows: any[] | null, at: {x: number, y: number}) => void}} hooks */
  chartOf(hooks) {
    return new CustomChartView(this.plot, hooks);
  }

  /** The tags whose lines are drawn. @returns {LogTag[]} */
  members() {
    return /** @type {CustomTag} */ (this.tag).members;
  }

  /** @param {ChartLine[]} lines */
  draw(lines) {
    const chart = /** @type {CustomChartView} */ (this.chart);
    chart.set(lines, this.scalars.look, lines.flatMap((line) => this.band(line)));
  }

  /** The band around a line, where its tag has one. @param {ChartLine} line */
  band(line) {
    const margins = /** @type {CustomTag} */ (this.tag).margins.get(line.tag ?? "");
    const points = (/** @type {LogTag | undefined} */ tag) => this.points.get(tag?.runs.find(([run]) => run === line.run.id)?.[1] ?? -1);
    const [lower, upper] = (margins ?? []).map(points);
    if (!lower || !upper) return [];
    const high = new Map(Array.from(upper.step, (step, at) => [step, upper.value[at]]));
    const at = Array.from(lower.step, (_, nth) => nth).filter((nth) => !lower.superseded?.[nth] && Number.isFinite(lower.value[nth]) && Number.isFinite(high.get(lower.step[nth])));
    const x = at.map((nth) => this.across(lower, nth, line.start));
    return [{ colour: line.colour, x, low: at.map((nth) => lower.value[nth]), high: at.map((nth) => /** @type {number} */ (high.get(lower.step[nth]))) }];
  }
}

class CustomPage extends ScalarPage {
  /** @param {CardEntry} entry */
  make(entry) {
    return new CustomCard(this, entry);
  }

  /** Ask for the layout, and for the tags that its charts show. */
  async load() {
    if (!this.dirty) return;
    this.dirty = false;
    try {
      const [layout, scalars] = await Promise.all([this.logs.feed.custom(), this.logs.feed.tags("scalar")]);
      if (!this.known) for (const { title, closed } of layout.categories) if (closed) this.closed.add(title);
      this.known = true;
      this.set(customTags(layout, scalars));
    } catch (error) {
      this.dirty = true;
      throw error;
    }
  }
}
