// Several tags in one chart, combined by a pattern or by dragging one card onto another.

export const COMBINED_ID = -2; // id of a tag that combines several
const MAX_TITLE_NAMES = 3; // names in a title

/** A tag for each pattern, with the series of all tags that match. @param {string[]} patterns @param {LogTag[]} tags @param {string} group @returns {LogTag[]} */
export function combinedTags(patterns, tags, group) {
  return patterns.flatMap((pattern) => {
    const test = compileTagPattern(pattern);
    const members = test ? tags.filter((tag) => test.test(tag.name)) : [];
    if (!members.length) return [];
    const names = members.map((tag) => tag.title || tag.name);
    const title = names.length > MAX_TITLE_NAMES ? `${names.slice(0, MAX_TITLE_NAMES).join(" + ")} + ${names.length - MAX_TITLE_NAMES}` : names.join(" + ");
    return [/** @type {any} */ ({ id: COMBINED_ID, name: pattern, group, kind: "scalar", title, about: "", runs: members.flatMap((tag) => tag.runs), members })];
  });
}

/** The pattern that matches exactly some tags. @param {string[]} names */
export const patternMatching = (names) => `^(?:${names.map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|")})$`;

/** @param {string} pattern @returns {RegExp | null} */
export function compileTagPattern(pattern) {
  try {
    return pattern ? new RegExp(pattern) : null;
  } catch {
    return null;
  }
}
