// A slider over the logged steps that changes the colours of the picture.

import { el } from "../dom.js";
import { t } from "../strings.js";

const PLAY_MS = 250; // milliseconds between two steps while it plays
const STEPS_PER_LEAP = 10; // steps of a move with Shift

export class Stepper {
  /** @param {{steps: () => (string | number)[], at: () => number, go: (at: number) => Promise<any>}} source */
  constructor(source) {
    this.source = source;
    this.playing = false;
    this.slider = el("input", { type: "range", min: 0, step: 1, "aria-label": t("log.atStep"), oninput: () => this.goTo(Number(this.slider.value)) });
    this.word = el("output", {});
    const button = (/** @type {string} */ word, /** @type {string} */ sign, /** @type {() => void} */ run) => el("button", { class: "icon", title: t(word), "aria-label": t(word), onclick: run }, sign);
    this.backButton = button("log.stepBack", "‹", () => this.goBy(-1));
    this.forwardButton = button("log.stepOn", "›", () => this.goBy(1));
    this.playButton = button("log.play", "▶", () => this.togglePlay());
    this.root = el("div", { class: "stepper" }, this.backButton, this.slider, this.forwardButton, this.playButton, this.word);
    this.slider.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const run = ["Home", "End"].includes(event.key) ? null : this.keyAction(event); // the slider handles these keys
      if (run) {
        event.preventDefault();
        run();
      }
      event.stopPropagation();
    });
    /** @type {number | null} the next step to show, requested while another is computed */
    this.requestedStop = null;
  }

  /** Show the current step. */
  draw() {
    const [steps, at] = [this.source.steps(), this.source.at()];
    const word = steps.length ? `${t("step")} ${steps[at]}` : "";
    this.root.hidden = steps.length < 2;
    this.slider.max = String(Math.max(0, steps.length - 1));
    if (this.requestedStop === null) this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", word);
    this.word.textContent = word;
    this.backButton.disabled = at <= 0;
    this.forwardButton.disabled = at >= steps.length - 1;
    this.playButton.setAttribute("aria-pressed", String(this.playing));
    this.playButton.textContent = this.playing ? "❚❚" : "▶";
  }

  /** Go to a stop; of several requests while one is computed, the last counts. @param {number} at */
  async goTo(at) {
    const busy = this.requestedStop !== null;
    this.requestedStop = Math.max(0, Math.min(this.source.steps().length - 1, at));
    if (busy) return;
    for (let shownStop = -1; shownStop !== this.requestedStop; ) {
      shownStop = this.requestedStop;
      await this.source.go(shownStop);
    }
    this.requestedStop = null;
    this.draw();
  }

  /** @param {number} steps */
  goBy(steps) {
    return this.goTo((this.requestedStop ?? this.source.at()) + steps);
  }

  /** Play from the current step (from the first, if at the last), or stop playing. */
  async togglePlay() {
    this.playing = !this.playing;
    this.draw();
    const last = () => this.source.steps().length - 1;
    if (this.playing && this.source.at() >= last()) await this.goTo(0);
    while (this.playing && this.source.at() < last() && !this.root.hidden) {
      await new Promise((done) => setTimeout(done, PLAY_MS));
      if (this.playing) await this.goBy(1);
    }
    this.playing = false;
    this.draw();
  }

  /** The action of a key. @param {KeyboardEvent} event @returns {(() => any) | null} */
  keyAction(event) {
    if (this.root.hidden || !this.root.isConnected || (event.target instanceof Element && event.target.closest("#outline, #menu, #card"))) return null;
    const way = { ",": -1, ".": 1, "<": -STEPS_PER_LEAP, ">": STEPS_PER_LEAP }[event.key];
    if (way) return () => this.goBy(way * (event.shiftKey && Math.abs(way) === 1 ? STEPS_PER_LEAP : 1));
    if (event.key === "Home") return () => this.goTo(0);
    if (event.key === "End") return () => this.goTo(this.source.steps().length - 1);
    return event.key === "l" ? () => this.togglePlay() : null;
  }
}
