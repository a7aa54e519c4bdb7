// Problems found while a log was read: an icon in the bar that lists them, and a full page if nothing is logged.

import { byId, el, setAttributes, shortText } from "../dom.js";
import { t } from "../strings.js";

const MAX_LISTED_NOTICES = 100; // notices that are listed
const MAX_NOTICE_LENGTH = 500; // letters
const EXPECTED_NOTICE = "torn-record"; // an incomplete record at the end, which is normal while a run writes

export class Notices {
  /** @param {HTMLElement} before the element that the sign follows */
  constructor(before) {
    this.summaryElement = el("summary", { class: "icon" });
    this.list = el("div", { class: "pop notices" });
    this.root = el("details", { class: "menu", hidden: true }, this.summaryElement, this.list);
    before.after(this.root);
    this.isPageEmpty = false; // whether the page says that nothing is logged
  }

  /** @param {LogState} state @param {boolean} nothing whether there is no page to show */
  setState(state, nothing) {
    const of = (/** @type {string} */ run, /** @type {LogNotice[]} */ notices) => notices.filter(({ code }) => code !== EXPECTED_NOTICE).map((notice) => (run ? `${shortText(run, 80)}: ` : "") + this.noticeWord(notice));
    const { mesh = 0 } = state.kinds; // no page shows them
    const all = [...new Set([...(mesh ? [t("log.meshes", { n: mesh })] : []), ...of("", state.notices ?? []), ...state.runs.flatMap((run) => of(run.name, run.notices))])];
    this.root.hidden = nothing || !all.length;
    const label = t("log.notices", { n: all.length });
    setAttributes(this.summaryElement, { "aria-label": label, title: label });
    this.summaryElement.textContent = `⚠ ${all.length}`;
    this.list.replaceChildren(...this.noticeLines(all));
    if (nothing || this.isPageEmpty) this.showLines(nothing, all);
  }

  /** @param {LogNotice} notice */
  noticeWord({ text, count }) {
    return shortText(text, MAX_NOTICE_LENGTH) + (count > 1 ? ` (×${count})` : "");
  }

  /** @param {string[]} all */
  noticeLines(all) {
    const more = all.length - MAX_LISTED_NOTICES;
    return [...all.slice(0, MAX_LISTED_NOTICES), ...(more > 0 ? [t("and", { n: more })] : [])].map((line) => el("p", {}, line));
  }

  /** Show or hide the page that says that nothing is logged, and why. @param {boolean} nothing @param {string[]} all */
  showLines(nothing, all) {
    const panel = byId("reading");
    this.isPageEmpty = nothing;
    panel.hidden = !nothing;
    if (nothing) panel.replaceChildren(el("p", {}, t("log.noneYet")), ...this.noticeLines(all), el("small", {}, t("log.followed")));
  }
}
