// The pages of images and of audio.

import { el, shortText } from "../dom.js";
import { t } from "../strings.js";
import { safeFileName } from "./card.js";
import { durationWord, shortNumber } from "./curves.js";
import { StepCard, StepPage, bytesText } from "./steps.js";

const MAX_AUTOMATIC_PIXELS = 64e6; // larger images are shown only on request
const MAX_AUTOMATIC_BYTES = 64e6;
const MAX_PIXELATED_WIDTH_PX = 128; // pixels of narrower images are drawn as squares

/** @typedef {{blob: number, type: string, bytes: number, width: number, height: number, rate: number, frames: number}} Sample */

export class ImageCard extends StepCard {
  /** @returns {[string, () => void][]} */
  menuActions() {
    return [...super.menuActions(), ["log.original", () => this.download()]];
  }

  /** Wait for the images, so that nothing flickers as the step changes. @param {any[]} answers */
  async prepareContent(answers) {
    return Promise.all((answers[0]?.samples ?? []).map((/** @type {Sample} */ sample, /** @type {number} */ at) => this.sampleElement(sample, at)));
  }

  /** @param {Sample} sample @param {number} at @param {boolean} [wanted] whether the reader requested it, however large */
  async sampleElement(sample, at, wanted = false) {
    if (!this.canShow(sample)) return this.fileLink(sample);
    const large = sample.type.startsWith("image/") && (sample.width * sample.height > MAX_AUTOMATIC_PIXELS || sample.bytes > MAX_AUTOMATIC_BYTES || !sample.width);
    if (large && !wanted) {
      const button = el("button", { onclick: async () => button.replaceWith(await this.sampleElement(sample, at, true)) }, `${t("log.showImage")}: ${sampleSizeText(sample)}`);
      return button;
    }
    return this.createElement(sample, await this.page.logs.feed.blob(sample));
  }

  /** Whether the browser shows such a sample. @param {Sample} sample */
  canShow(sample) {
    return sample.type.startsWith("image/");
  }

  /** A sample that cannot be shown: a file to download. @param {Sample} sample */
  async fileLink(sample) {
    return el("a", { href: await this.page.logs.feed.blob(sample), download: `${safeFileName(this.tag.name)}.bin` }, `${t("log.unknownBlob")} (${bytesText(sample.bytes)})`);
  }

  /** @param {Sample} sample @param {string} address @returns {Promise<HTMLElement>} */
  async createElement(sample, address) {
    const image = el("img", { src: address, alt: `${this.accessibleName()}, ${sampleSizeText(sample)}`, class: sample.width <= MAX_PIXELATED_WIDTH_PX ? "pixels" : null, width: sample.width, height: sample.height });
    await image.decode().catch(() => undefined);
    return image;
  }

  makeContent() {
    return [el("div", { class: "samples" }, ...(this.prepared ?? []))];
  }

  onDrawn() {
    this.plot.style.minHeight = "";
    super.onDrawn();
  }

  /** Free the pictures of a card out of view; their space stays. */
  onHide() {
    if (!this.prepared || this.isTable || this.plot.querySelector("audio")) return; // a sound plays on
    this.plot.style.minHeight = `${this.plot.clientHeight}px`;
    this.plot.replaceChildren();
    this.prepared = undefined;
    this.paintedAnswers = null;
    this.isStale = true;
  }

  remark() {
    const samples = /** @type {Sample[]} */ (this.answer?.samples ?? []);
    const words = samples.length ? sampleSizeText(samples[0]) : "";
    return samples.length > 1 ? `${t("log.samples", { n: samples.length + (this.answer.left ?? 0) })} · ${words}` : words;
  }

  summary() {
    const remark = this.remark();
    return remark ? `${super.summary()}, ${remark}` : super.summary();
  }

  tableRows() {
    return /** @type {Sample[]} */ (this.answer?.samples ?? []).map((sample, at) => ({ ...this.leadingColumns(), sample: at, ...Object.fromEntries(Object.entries(sample).filter(([key]) => key !== "blob")) }));
  }

  /** @returns {[string, (row: CardRow) => string][]} */
  tableColumns() {
    const keys = Object.keys(this.tableRows()[0] ?? {}).filter((key) => !["run", "tag"].includes(key));
    return keys.map((key) => [key === "step" ? t("step") : key, (row) => shortText(String(row[key]))]);
  }

  /** Save the bytes as they were logged. */
  async download() {
    const [sample] = this.answer?.samples ?? [];
    if (!sample) return;
    const ending = sample.type === "application/octet-stream" ? "bin" : sample.type.split("/")[1].replace("mpeg", "mp3");
    el("a", { href: await this.page.logs.feed.blob(sample), download: `${safeFileName(this.tag.name)}_${this.steps[this.stepIndex]}.${ending}` }).click();
  }
}

export class AudioCard extends ImageCard {
  /** @param {Sample} sample */
  canShow(sample) {
    return sample.type.startsWith("audio/");
  }

  /** @param {Sample} sample @param {string} address @returns {Promise<HTMLElement>} */
  async createElement(sample, address) {
    return el("audio", { src: address, controls: true, preload: "none", "aria-label": `${this.accessibleName()}, ${sampleSizeText(sample)}` });
  }

  /** Play, or stop. */
  togglePlay() {
    const audio = this.plot.querySelector("audio");
    if (audio) audio.paused ? audio.play() : audio.pause();
  }
}

export class AudioPage extends StepPage {
  /** @param {TagCard | undefined} card @returns {Record<string, () => void>} */
  pageKeys(card) {
    return { ...super.pageKeys(card), " ": () => /** @type {AudioCard | undefined} */ (card)?.togglePlay() };
  }
}

/** The size of a sample in words. @param {Sample} sample */
function sampleSizeText({ type, bytes, width, height, rate, frames }) {
  const size = width ? `${width} × ${height}` : rate && frames ? `${durationWord(frames / rate)}, ${shortNumber(rate)} Hz` : "";
  return [type === "application/octet-stream" ? "" : type.split("/")[1].toUpperCase(), size, bytesText(bytes)].filter(Boolean).join(", ");
}
