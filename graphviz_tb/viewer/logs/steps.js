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
    this.stepPage = page;
    this.stepsStale = true;
    /** @type {Map<number, StepList>} by series */
    this.lists = new Map();
    /** @type {number[]} the steps that can be shown, ascending */
    this.steps = [];
    /** @type {number | null} the step of this card only; null: the last */
    this.ownStep = null;
    this.stepIndex = -1;
    /** @type {Map<number, any>} what is shown, by run */
    this.answers = new Map();
    this.answersKey = ""; // the answers as text, to recognise equal ones
    /** @type {any} the prepared content of the answers */
    this.prepared = undefined;
    /** @type {Map<number, any> | null} the answers whose content is shown */
    this.paintedAnswers = null;
    this.slider = el("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": t("step"), oninput: () => page.onSlide(this, this.slider.value === this.slider.max ? null : this.steps[Number(this.slider.value)]) });
    this.stepWord = el("output", {});
    this.foot.append(el("label", { class: "stepper" }, this.slider, this.stepWord));
  }

  noteChange() {
    this.stepsStale = true;
    super.noteChange();
  }

  /** The number of the step to be shown. @param {number[]} steps */
  wantedStep(steps) {
    const step = this.page.logs.areStepsLinked ? this.page.logs.step : this.ownStep;
    return step === null ? steps.length - 1 : Math.max(0, steps.findLastIndex((candidate) => candidate <= step));
  }

  /** Load the common step if it differs. */
  followStep() {
    if (this.wantedStep(this.steps) === this.stepIndex) return;
    this.load();
  }

  /** @param {AbortSignal} signal */
  async fetchData(signal) {
    const some = this.shownSeries();
    const { feed } = this.page.logs;
    let { lists, steps } = this;
    if (this.stepsStale || some.some(([, series]) => !lists.has(series))) {
      lists = await feed.steps(some.map((entry) => entry[1]), signal);
      steps = uniqueAscending(some.flatMap(([, series]) => Array.from(lists.get(series)?.step ?? [])));
    }
    const at = this.wantedStep(steps);
    const asked = some.filter(([, series]) => at >= 0 && Array.from(lists.get(series)?.step ?? []).some((step) => step <= steps[at]));
    const answers = await Promise.all(asked.map(async ([run, series]) => /** @type {[number, any]} */ ([run, await feed.point(this.tag.kind, series, steps[at], signal)])));
    // New steps do not change the shown content.
    const answersKey = JSON.stringify(answers.map(([run, answer]) => [run, { ...answer, steps: null }]));
    const same = answersKey === this.answersKey && this.prepared !== undefined;
    const prepared = same ? this.prepared : ((await this.prepareContent(answers.map(([, answer]) => answer))) ?? null);
    return () => {
      Object.assign(this, { lists, steps, stepIndex: at, prepared: prepared, answersKey: answersKey, stepsStale: false });
      if (!same) this.answers = new Map(answers);
    };
  }

  /** Load what the answers need before they are shown. @param {any[]} answers @returns {Promise<any>} */
  async prepareContent(answers) {}

  /** The shown answer of a card of one run. */
  get answer() {
    return [...this.answers.values()][0];
  }

  showData() {
    const { steps, stepIndex: at } = this;
    this.slider.max = Math.max(0, steps.length - 1);
    this.slider.value = at;
    this.slider.disabled = steps.length < 2;
    const [list] = this.lists.values();
    const step = steps[at];
    const wall = list && this.run ? list.wall[Array.from(list.step).lastIndexOf(step)] : undefined;
    this.stepWord.textContent = step === undefined ? "" : `${t("step")} ${step}${wall === undefined ? "" : ` · ${momentWord(wall, Infinity)} ${momentWord(wall, 0)}`}`;
    this.slider.setAttribute("aria-valuetext", this.stepWord.textContent);
    const left = [...this.lists.values()].reduce((sum, stepList) => sum + stepList.n - stepList.step.length, 0);
    this.note.textContent = [this.remark(), left > 0 && t("log.olderLeft", { n: left })].filter(Boolean).join(" · ");
    super.showData();
  }

  onDrawn() {
    this.plot.classList.add("flow"); // as high as its content
    if (this.paintedAnswers === this.answers && this.plot.firstChild) return; // already shown
    this.paintedAnswers = this.answers;
    this.plot.replaceChildren(...this.makeContent());
  }

  /** The text of the line below the content. */
  remark() {
    return "";
  }

  summary() {
    return this.stepIndex < 0 ? this.accessibleName() : `${this.accessibleName()}: ${t("step")} ${this.steps[this.stepIndex]}`;
  }

  /** The columns of the table that all kinds have. */
  leadingColumns() {
    return { run: this.run?.name ?? "", tag: this.tag.name, step: this.answer?.step ?? this.steps[this.stepIndex] };
  }

  /** Go some steps on. @param {number} by */
  goToStep(by) {
    const to = Math.max(0, Math.min(this.steps.length - 1, this.stepIndex + by));
    this.stepPage.onSlide(this, to === this.steps.length - 1 ? null : this.steps[to]);
  }
}

export class StepPage extends TagPage {
  /** @param {Logs} logs @param {string} kind @param {new (page: StepPage, entry: CardEntry) => StepCard} Card */
  constructor(logs, kind, Card) {
    super(logs, kind);
    this.Card = Card;
    this.box = el("input", { type: "checkbox", onchange: () => this.linkSteps(this.box.checked) });
    this.bar.append(el("label", { class: "check" }, this.box, t("log.linkSteps")));
  }

  /** @param {CardEntry} entry @returns {TagCard} */
  createCard(entry) {
    return new this.Card(this, entry);
  }

  /** All cards. */
  allCards() {
    return /** @type {StepCard[]} */ ([...this.cards.values()]);
  }

  onFilter() {
    super.onFilter();
    this.box.checked = this.logs.areStepsLinked;
    this.followStep();
  }

  /** @param {boolean} areLinked */
  linkSteps(areLinked) {
    this.logs.areStepsLinked = areLinked;
    if (!areLinked) for (const card of this.allCards()) card.ownStep = this.logs.step;
    this.followStep();
  }

  /** A reader moved the slider of a card. @param {StepCard} card @param {number | null} step */
  onSlide(card, step) {
    if (this.logs.areStepsLinked) return this.logs.setStep(step);
    card.ownStep = step;
    card.followStep();
  }

  /** Show the step that all cards follow. */
  followStep() {
    for (const card of this.allCards()) card.followStep();
  }

  /** @param {TagCard | undefined} card @returns {Record<string, () => void>} */
  pageKeys(card) {
    const target = /** @type {StepCard | undefined} */ (card ?? this.allCards().find((each) => each.isNear));
    return { ",": () => target?.goToStep(-1), ".": () => target?.goToStep(1), "<": () => target?.goToStep(-10), ">": () => target?.goToStep(10) };
  }
}

/** Distinct numbers, ascending. @param {number[]} values */
const uniqueAscending = (values) => [...new Set(values)].sort((a, b) => a - b);

/** A count of bytes in words. @param {number} bytes */
export const bytesText = (bytes) => (bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${shortNumber(bytes / 1000, 3)} kB` : `${shortNumber(bytes / 1e6, 3)} MB`);
