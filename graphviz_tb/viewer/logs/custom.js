// Charts defined by the training: lines of several tags on one card, and lines with a band.

import { ScalarCard } from "./scalar_card.js";
import { ScalarPage } from "./scalars.js";

/**
 * @typedef {{title: string, tags: string[], margins: [string, string, string][]}} CustomChart
 * @typedef {{categories: {title: string, closed: boolean, charts: CustomChart[]}[]}} CustomLayout
 * @typedef {LogTag & {members: LogTag[], margins: Map<string, [LogTag | undefined, LogTag | undefined]>}} CustomTag `runs` has the series of all members; `margins`: by the name of a member its lower and its upper border
 */

const MAX_PATTERN_LENGTH = 500; // letters

/**
 * Return a test whether a pattern matches at the start of a name. A layout is data: a pattern that may take very long
 * (repeated groups, many wildcards, back references) matches only the tag of that name.
 * @param {string} pattern @returns {(name: string) => boolean}
 */
function layoutPatternTest(pattern) {
  const slow = pattern.length > MAX_PATTERN_LENGTH || /\)[*+?{]|\\\d|\(\?/.test(pattern) || (pattern.match(/[*+{]/g) ?? []).length > 2;
  try {
    const regex = slow ? null : new RegExp(`^(?:${pattern})`);
    return (name) => name === pattern || !!regex?.test(name.slice(0, MAX_PATTERN_LENGTH));
  } catch {
    return (name) => name === pattern;
  }
}

/** Each chart as a tag that has the series of its members. @param {CustomLayout} layout @param {LogTag[]} scalars @returns {CustomTag[]} */
function customChartTags({ categories }, scalars) {
  const named = new Map(scalars.map((tag) => [tag.name, tag]));
  /** @type {Map<string, number>} */
  const taken = new Map();
  return categories.flatMap(({ title: group, charts }) =>
    charts.map(({ title, tags, margins }) => {
      const fits = tags.map(layoutPatternTest);
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

class CustomCard extends ScalarCard {
  /** The tags whose lines are drawn. @returns {LogTag[]} */
  chartTags() {
    return /** @type {CustomTag} */ (this.tag).members;
  }

  /** @param {ChartLine[]} lines */
  drawLines(lines) {
    const chart = /** @type {BandedChart} */ (this.chart);
    chart.setLines(lines, this.scalars.look, [...this.bands, ...lines.flatMap((line) => this.marginBands(line))]);
  }

  /** The band around a line, if its tag has one. @param {ChartLine} line */
  marginBands(line) {
    const margins = /** @type {CustomTag} */ (this.tag).margins.get(line.tag ?? "");
    const points = (/** @type {LogTag | undefined} */ tag) => this.points.get(tag?.runs.find(([run]) => run === line.run.id)?.[1] ?? -1);
    const [lower, upper] = (margins ?? []).map(points);
    if (!lower || !upper) return [];
    const high = new Map(Array.from(upper.step, (step, at) => [step, upper.value[at]]));
    const at = Array.from(lower.step, (_, nth) => nth).filter((nth) => !lower.superseded?.[nth] && Number.isFinite(lower.value[nth]) && Number.isFinite(high.get(lower.step[nth])));
    const x = at.map((nth) => this.axisValue(lower, nth, line.start));
    return [{ colour: line.colour, x, low: at.map((nth) => lower.value[nth]), high: at.map((nth) => /** @type {number} */ (high.get(lower.step[nth]))) }];
  }
}

export class CustomPage extends ScalarPage {
  /** @param {CardEntry} entry */
  createCard(entry) {
    return new CustomCard(this, entry);
  }

  /** Charts of a layout are not joined further. @param {LogTag[]} tags */
  withCombinedTags(tags) {
    return tags;
  }

  /** Ask for the layout, and for the tags that its charts show. */
  async load() {
    if (!this.isDirty) return;
    this.isDirty = false;
    try {
      const [layout, scalars] = await Promise.all([this.logs.feed.custom(), this.logs.feed.tags("scalar")]);
      if (!this.areGroupsKnown) for (const { title, closed } of layout.categories) if (closed) this.closedGroups.add(title);
      this.areGroupsKnown = true;
      this.setTags(customChartTags(layout, scalars));
    } catch (error) {
      this.isDirty = true;
      throw error;
    }
  }
}
