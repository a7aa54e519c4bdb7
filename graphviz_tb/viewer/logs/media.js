// The pages of images and of audio.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { tagFile } from "./card.js";
import { durationWord, shortNumber } from "./curves.js";
import { StepCard, StepPage, bytesWord } from "./steps.js";

const LARGE_PIXELS = 64e6; // of an image: from here on the reader is asked first
const LARGE_BYTES = 64e6;
const SMALL_PIXELS = 128; // px wide: pixels of such an image are drawn as squares

/** @typedef {{blob: number, type: string, bytes: number, width: number, height: number, rate: number, frames: number}} Sample */

export class ImageCard extends StepCard {
  /** @returns {[string, () => void][]} */
  actions() {
    return [...super.actions(), ["log.original", () => this.download()]];
  }

  /** Wait for the images, so that nothing flickers as the step changes. @param {any[]} answers */
  async prepare(answers) {
    return Promise.all((answers[0]?.samples ?? []).map((/** @type {Sample} */ sample, /** @type {number} */ at) => this.piece(sample, at)));
  }

  /** @param {Sample} sample @param {number} at @param {boolean} [wanted] whether the reader asked for it, however large */
  async piece(sample, at, wanted = false) {
    if (!this.shows(sample)) return this.asFile(sample);
    const large = sample.type.startsWith("image/") && (sample.width * sample.height > LARGE_PIXELS || sample.bytes > LARGE_BYTES || !sample.width);
    if (large && !wanted) {
      const button = el("button", { onclick: async () => button.replaceWith(await this.piece(sample, at, true)) }, `${t("log.showImage")}: ${sizeWord(sample)}`);
      return button;
    }
    return this.element(sample, await this.page.logs.feed.blob(sample));
  }

  /** Whether the browser shows such a sample. @param {Sample} sample */
  shows(sample) {
    return sample.type.startsWith("image/");
  }

  /** A sample that is of no kind that is shown: a file to keep. @param {Sample} sample */
  async asFile(sample) {
    return el("a", { href: await this.page.logs.feed.blob(sample), download: `${tagFile(this.tag.name)}.bin` }, `${t("log.unknownBlob")} (${bytesWord(sample.bytes)})`);
  }

  /** @param {Sample} sample @param {string} address @returns {Promise<HTMLElement>} */
  async element(sample, address) {
    const image = el("img", { src: address, alt: `${this.name()}, ${sizeWord(sample)}`, class: sample.width <= SMALL_PIXELS ? "pixels" : null, width: sample.width, height: sample.height });
    await image.decode().catch(() => undefined);
    return image;
  }

  content() {
    return [el("div", { class: "samples" }, ...(this.made ?? []))];
  }

  onDrawn() {
    this.plot.style.minHeight = "";
    super.onDrawn();
  }

  /** Pictures out of sight take no memory; their room stays. */
  onHide() {
    if (!this.made || this.table || this.plot.querySelector("audio")) return; // a sound plays on
    this.plot.style.minHeight = `${this.plot.clientHeight}px`;
    this.plot.replaceChildren();
    this.made = undefined;
    this.painted = null;
    this.stale = true;
  }

  remarkWords() {
    const samples = /** @type {Sample[]} */ (this.answer?.samples ?? []);
    const words = samples.length ? sizeWord(samples[0]) : "";
    return samples.length > 1 ? `${t("log.samples", { n: samples.length + (this.answer.left ?? 0) })} · ${words}` : words;
  }

  summaryWords() {
    const remark = this.remarkWords();
    return remark ? `${super.summaryWords()}, ${remark}` : super.summaryWords();
  }

  rows() {
    return /** @type {Sample[]} */ (this.answer?.samples ?? []).map((one, at) => ({ ...this.leadingColumns(), sample: at, ...Object.fromEntries(Object.entries(one).filter(([key]) => key !== "blob")) }));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  columns() {
    const keys = Object.keys(this.rows()[0] ?? {}).filter((key) => !["run", "tag"].includes(key));
    return keys.map((key) => [key === "step" ? t("step") : key, (row) => shortText(String(row[key]))]);
  }

  /** Save the bytes as they were logged. */
  async download() {
    const [sample] = this.answer?.samples ?? [];
    if (!sample) return;
    const ending = sample.type === "application/octet-stream" ? "bin" : sample.type.split("/")[1].replace("mpeg", "mp3");
    el("a", { href: await this.page.logs.feed.blob(sample), download: `${tagFile(this.tag.name)}_${this.steps[this.at]}.${ending}` }).click();
  }
}

export class AudioCard extends ImageCard {
  /** @param {Sample} sample */
  shows(sample) {
    return sample.type.startsWith("audio/");
  }

  /** @param {Sample} sample @param {string} address @returns {Promise<HTMLElement>} */
  async element(sample, address) {
    return el("audio", { src: address, controls: true, preload: "none", "aria-label": `${this.name()}, ${sizeWord(sample)}` });
  }

  /** Play, or stop. */
  play() {
    const audio = this.plot.querySelector("audio");
    if (audio) audio.paused ? audio.play() : audio.pause();
  }
}

export class AudioPage extends StepPage {
  /** @param {TagCard | undefined} card @returns {Record<string, () => void>} */
  pageKeys(card) {
    return { ...super.pageKeys(card), " ": () => /** @type {AudioCard | undefined} */ (card)?.play() };
  }
}

/** How large a sample is. @param {Sample} sample */
function sizeWord({ type, bytes, width, height, rate, frames }) {
  const size = width ? `${width} × ${height}` : rate && frames ? `${durationWord(frames / rate)}, ${shortNumber(rate)} Hz` : "";
  return [type === "application/octet-stream" ? "" : type.split("/")[1].toUpperCase(), size, bytesWord(bytes)].filter(Boolean).join(", ");
}
