// Several tags in one chart, combined by a pattern or by dragging one card onto another.

export const TOGETHER_ID = -2; // of a tag that stands for several
const LONGEST_TITLE = 3; // names in a title

/** A tag for each pattern, that has the series of all tags that it fits. @param {string[]} patterns @param {LogTag[]} tags @param {string} group @returns {LogTag[]} */
export function togetherTags(patterns, tags, group) {
  return patterns.flatMap((pattern) => {
    const test = testOfPattern(pattern);
    const members = test ? tags.filter((tag) => test.test(tag.name)) : [];
    if (!members.length) return [];
    const names = members.map((tag) => tag.title || tag.name);
    const title = names.length > LONGEST_TITLE ? `${names.slice(0, LONGEST_TITLE).join(" + ")} + ${names.length - LONGEST_TITLE}` : names.join(" + ");
    return [/** @type {any} */ ({ id: TOGETHER_ID, name: pattern, group, kind: "scalar", title, about: "", runs: members.flatMap((tag) => tag.runs), members })];
  });
}

/** The pattern that fits some tags alone. @param {string[]} names */
export const patternOfNames = (names) => `^(?:${names.map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|")})$`;

/** @param {string} pattern @returns {RegExp | null} */
export function testOfPattern(pattern) {
  try {
    return pattern ? new RegExp(pattern) : null;
  } catch {
    return null;
  }
}
