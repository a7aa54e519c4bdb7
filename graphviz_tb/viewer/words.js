// Texts and their widths, for `place.js`: texts are computed by Python, widths are sums of letter widths.

/** @type {{regular: Map<string, number>, semibold: Map<string, number>, joining: Set<string>}} */
let advances = { regular: new Map(), semibold: new Map(), joining: new Set() };
/** @type {Map<string, number>[]} */
const widths = [];
const UNSAFE =
  /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/gu;

/** Set the advances of the letters in this file, in 1/2048 em.
 * @param {{chars: string[], regular: number[], semibold: number[], joining: string[]}} told */
function setAdvances(told) {
  const table = (/** @type {number[]} */ column) => new Map(told.chars.map((char, at) => [char, column[at]]));
  advances = { regular: table(told.regular), semibold: table(told.semibold), joining: new Set(told.joining) };
  widths.length = 0;
}
/** @param {string} char @param {boolean} semibold @returns {number} */
const hand_advance_of = (char, semibold) => (semibold ? advances.semibold : advances.regular).get(char) ?? 1536;

/** The width of a text in pixels. @param {string} text @param {number} size @param {boolean} semibold @returns {number} */
function hand_text_width(text, size, semibold = false) {
  const known = (widths[2 * size + Number(semibold)] ??= new Map());
  let found = known.get(text);
  if (found === undefined) {
    let total = 0;
    for (const char of text) total += hand_advance_of(char, semibold);
    found = Math.ceil((total * size) / 2048);
    known.set(text, found);
  }
  return found;
}
/** @param {string} text @param {number} index */
const hand_joins_previous_character = (text, index) => advances.joining.has(/** @type {string} */ ([...text][index])) || [...text][index - 1] === "\u200d";
/** @param {string} text */
const hand_replace_unsafe_characters = (text) => text.replace(UNSAFE, "\ufffd");
/** @param {number} number */
const hand_group_thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u2009");
const hand_carry_tensors = () => null;

// The texts of a line are stored with it.
/** @param {any} line */
const hand_drawn_label = (line) => line.label;
/** The number of tensors of a line, from its label. @param {any} line */
const hand_tensor_count = (line) => Number(/^([\d\u2009]+) tensors$/.exec(line.label)?.[1].replace(/\u2009/g, "") ?? Math.min(1, line.tensors + line.reference));
/** @param {any} line */
const hand_describe_contents = (line) => line.tooltip;
/** @param {any} line */
const hand_line_thickness = (line) => line.thickness;
/** The thickness, negative for a line with only indices, sizes and masks. @param {any} line */
const hand_main_path_weight = (line) => (line.indexing ? -line.thickness : line.thickness);
/** An error of a query: its kind, which the page translates, and the word with the error. @param {string} kind @param {string} word */
const hand_query_error = (kind, word = "") => Object.assign(new Error(kind), { kind, word });
