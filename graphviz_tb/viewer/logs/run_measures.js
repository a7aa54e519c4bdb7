// Summaries of a tag in each run: its last, least and greatest value.

/** @typedef {{last: number, least: number, greatest: number}} TagMeasure */

/** The measures of a tag by the id of the run. @param {LogFeed} feed @param {LogTag} tag @returns {Promise<Map<number, TagMeasure>>} */
export async function tagMeasures(feed, tag) {
  const points = await feed.series(tag.runs.map(([, series]) => series), { axis: "step", px: 1 }); // one pixel contains just these
  return new Map(tag.runs.flatMap(([run, series]) => {
    const line = points.get(series);
    const values = line ? Array.from(line.value).filter((value, at) => Number.isFinite(value) && !line.superseded?.[at]) : [];
    return values.length ? [[run, { last: values[values.length - 1], least: Math.min(...values), greatest: Math.max(...values) }]] : [];
  }));
}
