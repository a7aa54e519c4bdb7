// Colour and dash pattern of each run: fixed by name while runs appear or disappear, until the reader changes them.

import { escapeValue, unescapeValue } from "../address.js";

const MAX_LOOKS_IN_ADDRESS = 200; // runs whose looks are in a link

/** @typedef {{hue: number | string, dashes: number[]}} RunLook a number of the palette or a colour as #rrggbb */

export class RunLooks {
  constructor() {
    /** @type {Map<string, RunLook>} by the name of a run; runs that are gone keep theirs */
    this.looks = new Map();
    /** @type {Map<string, string>} the look that the server or the file would assign to each run now, as text of the address */
    this.defaultLooks = new Map();
  }

  /** Assign a look to each new run: its usual one if no other run has it, else one that the fewest runs have.
   * @param {LogRun[]} runs @param {number} hues how many colours there are */
  addRuns(runs, hues) {
    this.defaultLooks = new Map(runs.map((run) => [run.name, lookText({ hue: run.style[0], dashes: run.style[1] })]));
    const fresh = runs.filter((run) => !this.looks.has(run.name));
    if (!fresh.length) return;
    const first = !this.looks.size;
    /** @type {Map<string, number>} how many runs have a look */
    const taken = new Map();
    const count = (/** @type {RunLook} */ look) => taken.set(lookText(look), (taken.get(lookText(look)) ?? 0) + 1);
    for (const look of this.looks.values()) count(look);
    for (const run of fresh) {
      const usual = { hue: run.style[0], dashes: run.style[1] };
      const look = first || !taken.has(lookText(usual)) ? usual : rarestLook(taken, hues);
      this.looks.set(run.name, look);
      count(look);
    }
  }

  /** @param {LogRun} run @returns {RunLook} */
  lookOf(run) {
    return this.looks.get(run.name) ?? { hue: run.style[0], dashes: run.style[1] };
  }

  /** @param {string} name @param {string} colour as #rrggbb */
  setColour(name, colour) {
    this.looks.set(name, { hue: colour, dashes: this.looks.get(name)?.dashes ?? [] });
  }

  /** The looks that a link must contain, because another session would assign others. */
  addressValue() {
    const out = [];
    for (const [name, usual] of this.defaultLooks) {
      const word = lookText(/** @type {RunLook} */ (this.looks.get(name)));
      if (word !== usual && out.length < MAX_LOOKS_IN_ADDRESS) out.push(`${escapeValue(name)}:${word}`);
    }
    return out.join(",");
  }

  /** @param {string} value of the address */
  restore(value) {
    for (const entry of value.split(",")) {
      const [, name, hue, dashes] = /^(.*):(\d{1,3}|[0-9a-f]{6})(?:\.([\d.]*))?$/.exec(entry) ?? [];
      if (name === undefined) continue;
      const some = (dashes ?? "").split(".").filter(Boolean).map(Number);
      this.looks.set(unescapeValue(name), { hue: hue.length === 6 ? `#${hue}` : Number(hue), dashes: some });
    }
  }
}

/** A look as the address writes it: `3`, `3.6.3` with dashes, or `ff8800`. @param {RunLook} look */
const lookText = ({ hue, dashes }) => [String(hue).replace("#", ""), ...dashes].join(".");

/** A look that the fewest runs have: solid lines of every colour first, then dashed ones. @param {Map<string, number>} taken @param {number} hues @returns {RunLook} */
function rarestLook(taken, hues) {
  let best = { hue: 0, dashes: /** @type {number[]} */ ([]) };
  let least = Infinity;
  for (const dashes of RUN_DASHES) {
    for (let hue = 0; hue < hues; hue++) {
      const count = taken.get(lookText({ hue, dashes })) ?? 0;
      if (count < least) [best, least] = [{ hue, dashes }, count];
    }
  }
  return best;
}

const RUN_DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]]; // as in Python
