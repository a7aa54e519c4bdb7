// Cards that show one step: a slider on each card, and a common step while the cards are linked.

import { el } from "../dom.js";
import { t } from "../strings.js";
import { TagCard } from "./card.js";
import { momentWord, shortNumber } from "./curves.js";
import { TagPage } from "./tag_page.js";

export class StepCard extends TagCard {
  /** @param {StepPage} page @param {CardEntry} entry */
  constructor(page, entry) {
    super(page, entry);
    this.linked = page;
    this.stepsStale = true;
    /** @type {Map<number, StepList>} by series */
    this.lists = new Map();
    /** @type {number[]} the steps that can be shown, rising */
    this.steps = [];
    /** @type {number | null} the step of this card alone; none: the last */
    this.own = null;
    this.at = -1;
    /** @type {Map<number, any>} what is shown, by run */
    this.answers = new Map();
    this.told = ""; // the answers in letters, to see whether others are the same
    /** @type {any} what was prepared of them */
    this.made = undefined;
    /** @type {Map<number, any> | null} the answers of which the content is there */
    this.painted = null;
    this.slider = el("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": t("step"), oninput: () => page.moved(this, this.slider.value === this.slider.max ? null : this.steps[Number(this.slider.value)]) });
    this.stepWord = el("output", {});
    this.foot.append(el("label", { class: "stepper" }, this.slider, this.stepWord));
  }

  noteChange() {
    this.stepsStale = true;
    super.noteChange();
  }

  /** The number of the step to be shown. @param {number[]} steps */
  wantedStep(steps) {
    const step = this.page.logs.linked ? this.page.logs.step : this.own;
    return step === null ? steps.length - 1 : Math.max(0, steps.findLastIndex((one) => one <= step));
  }

  /** The step that all follow is another. */
  followStep() {
    if (this.wantedStep(this.steps) === this.at) return;
    this.load();
  }

  /** @param {AbortSignal} signal */
  async fetchData(signal) {
    const some = this.series();
    const { feed } = this.page.logs;
    let { lists, steps } = this;
    if (this.stepsStale || some.some(([, series]) => !lists.has(series))) {
      lists = await feed.steps(some.map((one) => one[1]), signal);
      steps = uniqueAscending(some.flatMap(([, series]) => Array.from(lists.get(series)?.step ?? [])));
    }
    const at = this.wantedStep(steps);
    const asked = some.filter(([, series]) => at >= 0 && Array.from(lists.get(series)?.step ?? []).some((one) => one <= steps[at]));
    const answers = await Promise.all(asked.map(async ([run, series]) => /** @type {[number, any]} */ ([run, await feed.point(this.tag.kind, series, steps[at], signal)])));
    // Steps that came later change nothing of what is shown.
    const told = JSON.stringify(answers.map(([run, answer]) => [run, { ...answer, steps: null }]));
    const same = told === this.told && this.made !== undefined;
    const made = same ? this.made : ((await this.prepare(answers.map(([, answer]) => answer))) ?? null);
    return () => {
      Object.assign(this, { lists, steps, at, made, told, stepsStale: false });
      if (!same) this.answers = new Map(answers);
    };
  }

  /** What must be there before answers are shown. @param {any[]} answers @returns {Promise<any>} */
  async prepare(answers) {}

  /** What is shown, where the card is of one run. */
  get answer() {
    return [...this.answers.values()][0];
  }

  show() {
    const { steps, at } = this;
    this.slider.max = Math.max(0, steps.length - 1);
    this.slider.value = at;
    this.slider.disabled = steps.length < 2;
    const [list] = this.lists.values();
    const step = steps[at];
    const wall = list && this.run ? list.wall[Array.from(list.step).lastIndexOf(step)] : undefined;
    this.stepWord.textContent = step === undefined ? "" : `${t("step")} ${step}${wall === undefined ? "" : ` · ${momentWord(wall, Infinity)} ${momentWord(wall, 0)}`}`;
    this.slider.setAttribute("aria-valuetext", this.stepWord.textContent);
    const left = [...this.lists.values()].reduce((sum, one) => sum + one.n - one.step.length, 0);
    this.note.textContent = [this.remarkWords(), left > 0 && t("log.olderLeft", { n: left })].filter(Boolean).join(" · ");
    super.show();
  }

  onDrawn() {
    this.plot.classList.add("flow"); // as high as its content
    if (this.painted === this.answers && this.plot.firstChild) return; // it is there
    this.painted = this.answers;
    this.plot.replaceChildren(...this.content());
  }

  /** What the line below says. */
  remarkWords() {
    return "";
  }

  summaryWords() {
    return this.at < 0 ? this.name() : `${this.name()}: ${t("step")} ${this.steps[this.at]}`;
  }

  /** The parts of each row of the table that all kinds have. */
  leadingColumns() {
    return { run: this.run?.name ?? "", tag: this.tag.name, step: this.answer?.step ?? this.steps[this.at] };
  }

  /** Go some steps on. @param {number} by */
  goToStep(by) {
    const to = Math.max(0, Math.min(this.steps.length - 1, this.at + by));
    this.linked.moved(this, to === this.steps.length - 1 ? null : this.steps[to]);
  }
}

export class StepPage extends TagPage {
  /** @param {Logs} logs @param {string} kind @param {new (page: StepPage, entry: CardEntry) => StepCard} Card */
  constructor(logs, kind, Card) {
    super(logs, kind);
    this.Card = Card;
    this.box = el("input", { type: "checkbox", onchange: () => this.link(this.box.checked) });
    this.bar.append(el("label", { class: "check" }, this.box, t("log.linkSteps")));
  }

  /** @param {CardEntry} entry @returns {TagCard} */
  make(entry) {
    return new this.Card(this, entry);
  }

  /** All cards. */
  every() {
    return /** @type {StepCard[]} */ ([...this.cards.values()]);
  }

  onFilter() {
    super.onFilter();
    this.box.checked = this.logs.linked;
    this.follow();
  }

  /** @param {boolean} on */
  link(on) {
    this.logs.linked = on;
    if (!on) for (const card of this.every()) card.own = this.logs.step;
    this.follow();
  }

  /** A reader moved the slider of a card. @param {StepCard} card @param {number | null} step */
  moved(card, step) {
    if (this.logs.linked) return this.logs.setStep(step);
    card.own = step;
    card.followStep();
  }

  /** Show the step that all cards follow. */
  follow() {
    for (const card of this.every()) card.followStep();
  }

  /** @param {TagCard | undefined} card @returns {Record<string, () => void>} */
  pageKeys(card) {
    const one = /** @type {StepCard | undefined} */ (card ?? this.every().find((each) => each.near));
    return { ",": () => one?.goToStep(-1), ".": () => one?.goToStep(1), "<": () => one?.goToStep(-10), ">": () => one?.goToStep(10) };
  }
}

/** Numbers, each once, rising. @param {number[]} values */
const uniqueAscending = (values) => [...new Set(values)].sort((a, b) => a - b);

/** How many bytes, in words. @param {number} bytes */
export const bytesWord = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${shortNumber(bytes / 1000, 3)} kB` : `${shortNumber(bytes / 1e6, 3)} MB`);
