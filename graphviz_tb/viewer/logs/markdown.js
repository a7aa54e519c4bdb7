// Convert Markdown to elements, never to markup. Headings, emphasis, code, lists, tables, quotes and links; an image
// becomes a link to it; HTML is text. Each step moves forward, so the time is linear in the length of the text.

import { el, visibleText } from "../dom.js";
import { t } from "../strings.js";

const MAX_DEPTH = 8; // quotes and lists within each other
const MAX_LINK_LENGTH = 2000; // letters of an address
const LINKABLE = /^(?:https?:\/\/|mailto:)/i;
const BULLET = /^( {0,3})([*+-]|\d{1,9}[.)])(\s+|$)/;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const HEADING = /^ {0,3}(#{1,6})(?=\s|$)/;
const DIVIDER = /^:?-+:?$/; // of each cell of the second row of a table
const MAX_OPEN_MARKS = 20; // marks of one kind that wait for their end: no deeper nesting
const QUOTE = /^ {0,3}> ?/;

/** A text as elements. @param {string} text @returns {Node[]} */
export function markdown(text) {
  return parseBlocks(text.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0);
}

/** @param {string[]} lines @param {number} depth @returns {Node[]} */
function parseBlocks(lines, depth) {
  /** @type {Node[]} */
  const out = [];
  /** @type {string[]} */
  let paragraph = [];
  const flush = () => {
    if (paragraph.length) out.push(el("p", {}, ...inlineSpans(paragraph.join("\n").trim())));
    paragraph = [];
  };
  for (let at = 0; at < lines.length; ) {
    const taken = isBlank(lines[at]) ? /** @type {[Node | null, number]} */ ([null, at + 1]) : parseBlock(lines, at, depth, paragraph.length > 0);
    if (!taken) {
      paragraph.push(lines[at++]);
      continue;
    }
    flush();
    if (taken[0]) out.push(taken[0]);
    at = taken[1];
  }
  flush();
  return out;
}

/** @param {string} line */
const isBlank = (line) => !line.trim();

/**
 * The block that begins at a line, and the line where the next one begins; null for a line of a paragraph.
 * @param {string[]} lines @param {number} at @param {number} depth @param {boolean} within a paragraph @returns {[Node, number] | null}
 */
function parseBlock(lines, at, depth, within) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return fencedBlock(lines, at, fence[1]);
  const heading = HEADING.exec(line);
  if (heading) return [el(`h${Math.min(6, heading[1].length + 2)}`, {}, ...inlineSpans(line.slice(heading[0].length).trim().replace(/\s#+$/, ""))), at + 1];
  if (RULE.test(line)) return [el("hr"), at + 1];
  if (!within && /^ {4}/.test(line)) return indentedBlock(lines, at);
  if (depth < MAX_DEPTH && QUOTE.test(line)) return quotedBlock(lines, at, depth);
  if (depth < MAX_DEPTH && BULLET.test(line)) return listBlock(lines, at, depth);
  if (line.includes("|") && at + 1 < lines.length && lines[at + 1].includes("-") && splitCells(lines[at + 1]).every((cell) => DIVIDER.test(cell))) return tableBlock(lines, at);
  return null;
}

/** @param {string[]} lines @param {number} at @param {string} mark @returns {[Node, number]} */
function fencedBlock(lines, at, mark) {
  let end = at + 1;
  const closes = (/** @type {string} */ line) => line.trim().length >= mark.length && [...line.trim()].every((letter) => letter === mark[0]);
  while (end < lines.length && !closes(lines[end])) end++;
  return [el("pre", {}, el("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

/** @param {string[]} lines @param {number} at @returns {[Node, number]} */
function indentedBlock(lines, at) {
  let end = at + 1;
  while (end < lines.length && (/^ {4}/.test(lines[end]) || isBlank(lines[end]))) end++;
  return [el("pre", {}, el("code", {}, lines.slice(at, end).map((line) => line.slice(4)).join("\n").trimEnd())), end];
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {[Node, number]} */
function quotedBlock(lines, at, depth) {
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end++;
  return [el("blockquote", {}, ...parseBlocks(lines.slice(at, end).map((line) => line.replace(QUOTE, "")), depth + 1)), end];
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {[Node, number]} */
function listBlock(lines, at, depth) {
  const numbered = /\d/.test(/** @type {RegExpExecArray} */ (BULLET.exec(lines[at]))[2]);
  const list = el(numbered ? "ol" : "ul", numbered ? { start: parseInt(lines[at].trim(), 10) } : {});
  let end = at;
  while (end < lines.length) {
    const bullet = BULLET.exec(lines[end]);
    if (!bullet || /\d/.test(bullet[2]) !== numbered || RULE.test(lines[end])) break;
    const room = bullet[0].length;
    const inner = [lines[end++].slice(room)];
    // Indented lines belong to the item, and so do further lines of its paragraph.
    while (end < lines.length && (isBlank(lines[end]) ? end + 1 < lines.length && /^ {2,}/.test(lines[end + 1]) : / {2}/.test(lines[end].slice(0, 2)) || (!isBlank(lines[end - 1]) && !parseBlock([lines[end]], 0, depth, true)))) {
      inner.push(lines[end].slice(Math.min(room, lines[end].search(/\S|$/))));
      end++;
    }
    const parts = parseBlocks(inner, depth + 1);
    const [first] = parts;
    // A short item is a line, not a paragraph.
    if (first instanceof HTMLParagraphElement && !inner.some(isBlank)) parts.splice(0, 1, ...first.childNodes);
    list.append(el("li", {}, ...parts));
    if (end < lines.length && isBlank(lines[end]) && BULLET.test(lines[end + 1] ?? "")) end++;
  }
  return [list, end];
}

/** @param {string[]} lines @param {number} at @returns {[Node, number]} */
function tableBlock(lines, at) {
  const sides = splitCells(lines[at + 1]).map((mark) => (mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "end") : "start"));
  const row = (/** @type {string} */ line, /** @type {string} */ name) => {
    const cells = splitCells(line);
    return el("tr", {}, ...sides.map((side, nth) => el(name, { class: `to-${side}` }, ...inlineSpans(cells[nth] ?? ""))));
  };
  let end = at + 2;
  while (end < lines.length && lines[end].includes("|")) end++;
  return [el("table", {}, el("thead", {}, row(lines[at], "th")), el("tbody", {}, ...lines.slice(at + 2, end).map((line) => row(line, "td")))), end];
}

/** The cells of a row, between bars that no backslash precedes. @param {string} line */
function splitCells(line) {
  const cells = line.trim().replace(/^\|/, "").split(/(?<!\\)\|/);
  if (cells.length > 1 && isBlank(cells[cells.length - 1])) cells.pop();
  return cells.map((cell) => cell.replaceAll("\\|", "|").trim());
}

/**
 * Words with emphasis, code, links and line breaks. Opening marks are kept on stacks, one for each mark: a closing mark is
 * compared with the top only.
 * @param {string} text @returns {Node[]}
 */
function inlineSpans(text) {
  return new Inline(text).parse();
}

class Inline {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    /** @type {(Node | string)[]} the parts that were read so far */
    this.parts = [];
    /** @type {Map<string, number[]>} positions of open marks in the parts */
    this.openMarks = new Map();
    /** @type {Map<number, number[]>} the positions of runs of backticks by length, the last first */
    this.backticks = new Map();
    for (const run of text.matchAll(/`+/g)) this.backticks.set(run[0].length, []);
    for (const run of [...text.matchAll(/`+/g)].reverse()) this.backticks.get(run[0].length)?.push(run.index);
  }

  /** @returns {Node[]} */
  parse() {
    const marks = /\\[\\`*_{}[\]()#+.!|~<>-]|`+|\*{1,3}|_{1,3}|~~|!?\[|\]|<(?=https?:\/\/|mailto:)|https?:\/\/|(?: {2}|\\)\n|\n/g;
    let from = 0;
    for (let match = marks.exec(this.text); match; match = marks.exec(this.text)) {
      if (match.index > from) this.parts.push(this.text.slice(from, match.index));
      from = this.handleMark(match[0], match.index);
      marks.lastIndex = from;
    }
    if (from < this.text.length) this.parts.push(this.text.slice(from));
    return this.parts.map((part) => (typeof part === "string" ? document.createTextNode(visibleText(part)) : part));
  }

  /** Handle a mark; return where parsing continues. @param {string} mark @param {number} at */
  handleMark(mark, at) {
    const end = at + mark.length;
    if (mark[0] === "\\" && mark !== "\\\n") this.parts.push(mark[1]);
    else if (mark.endsWith("\n")) this.parts.push(mark.length > 1 ? el("br") : " ");
    else if (mark[0] === "`") return this.handleCode(mark, at);
    else if (mark === "[" || mark === "![") this.openMark("[", mark);
    else if (mark === "]") return this.handleLink(end);
    else if (mark === "<") return this.handleAddress(end, true);
    else if (mark.includes("://")) return this.handleAddress(at, false);
    else this.handleEmphasis(mark, at);
    return end;
  }

  /** @param {string} pile @param {string} mark */
  openMark(pile, mark) {
    const open = this.openMarks.get(pile) ?? [];
    open.push(this.parts.push(mark) - 1);
    if (open.length > MAX_OPEN_MARKS) open.shift();
    this.openMarks.set(pile, open);
  }

  /** Remove and return the parts since a position; marks open within them stay text. @param {number} from */
  takeParts(from) {
    for (const open of this.openMarks.values()) while (open.length && open[open.length - 1] >= from) open.pop();
    return this.parts.splice(from);
  }

  /** @param {string} mark @param {number} at */
  handleCode(mark, at) {
    const places = this.backticks.get(mark.length) ?? [];
    while (places.length && places[places.length - 1] <= at) places.pop();
    const end = places[places.length - 1];
    if (end === undefined) {
      this.parts.push(mark);
      return at + mark.length;
    }
    this.parts.push(el("code", {}, this.text.slice(at + mark.length, end).replace(/^ (.+) $/s, "$1")));
    return end + mark.length;
  }

  /** @param {string} mark @param {number} at */
  handleEmphasis(mark, at) {
    const [before, after] = [this.text[at - 1] ?? " ", this.text[at + mark.length] ?? " "];
    const inWord = mark[0] === "_" && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after);
    const open = this.openMarks.get(mark);
    if (open?.length && /\S/.test(before) && !inWord) {
      const inner = this.takeParts(/** @type {number} */ (open[open.length - 1])).slice(1);
      const name = mark === "~~" ? "del" : mark.length === 1 ? "em" : "strong";
      const emphasized = el(name, {}, ...inner);
      this.parts.push(mark.length === 3 ? el("em", {}, emphasized) : emphasized);
    } else if (/\S/.test(after) && !inWord) this.openMark(mark, mark);
    else this.parts.push(mark);
  }

  /** A link or an image, if an address follows its words. @param {number} at after the bracket */
  handleLink(at) {
    const open = this.openMarks.get("[");
    const from = open?.pop();
    const target = from === undefined ? null : /^\(\s*<?([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500})?)>?(?:\s+"[^"\n]{0,300}")?\s*\)/.exec(this.text.slice(at, at + MAX_LINK_LENGTH));
    if (from === undefined || !target) {
      this.parts.push("]");
      return at;
    }
    const [mark, ...inner] = this.takeParts(from);
    const words = mark === "![" ? [`${t("log.image")}: `, ...(inner.length ? inner : [target[1]])] : inner;
    this.parts.push(LINKABLE.test(target[1]) ? linkTo(target[1], words) : el("span", {}, ...words, ` (${target[1]})`));
    return at + target[0].length;
  }

  /** An address in the text. @param {number} at @param {boolean} angled */
  handleAddress(at, angled) {
    const match = /^[^\s<>"'`]{1,2000}/.exec(this.text.slice(at, at + MAX_LINK_LENGTH));
    if (!match) return this.parts.push("<"), at;
    const closed = angled && this.text[at + match[0].length] === ">";
    if (angled && !closed) return this.parts.push("<"), at;
    let long = match[0].length;
    if (!closed) while (")].,;:!?*_~".includes(match[0][long - 1])) long--;
    const word = match[0].slice(0, long);
    this.parts.push(LINKABLE.test(word) && !this.openMarks.get("[")?.length ? linkTo(word, [word]) : word);
    return at + word.length + Number(closed);
  }
}

/** @param {string} address @param {(Node | string)[]} words */
const linkTo = (address, words) => el("a", { href: address, target: "_blank", rel: "noopener noreferrer", title: visibleText(address) }, ...words);
