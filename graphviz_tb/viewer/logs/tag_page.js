// A page of a log: a card for each tag, or for each tag and run, in groups.

import { escapeValue } from "../address.js";
import { el, shortText } from "../dom.js";
import { iconElement } from "../icons.js";
import { isTyping } from "../page_keys.js";
import { countWord, language, t } from "../strings.js";
import { FrameQueue } from "./frame_queue.js";

export const TIP_ROWS = 12;
const INITIAL_CARDS = 60; // cards that are created at once; others when their place comes near the view
const CARDS_PER_BLOCK = 60; // cards that share a placeholder: whole rows, of up to six columns
const CARDS_PER_TURN = 3; // cards that are created before the time is checked
const GROUP_HEAD_PX = 48;
const CARD_PX = { width: 352, height: 288 }; // size of a card with its gap

export class TagPage {
  /** @param {Logs} logs @param {string} kind of the tags that it shows */
  constructor(logs, kind) {
    this.logs = logs;
    this.kind = kind;
    /** @type {Map<string, TagCard>} */
    this.cards = new Map();
    /** @type {LogTag[]} */
    this.tags = [];
    this.isDirty = true; // whether the tags may be outdated
    this.shown = false;
    this.scroll = 0;
    /** @type {Set<string>} folded groups */
    this.closedGroups = new Set();
    /** @type {Set<string>} groups that show all cards */
    this.completeGroups = new Set();
    this.maxGroupCards = 60; // cards of a group until the reader requests all
    this.tagTest = /(?:)/;
    /** @type {Map<Element, CardEntry[]>} the cards that are not created yet, by placeholder */
    this.pendingCards = new Map();
    this.frames = new FrameQueue();
    this.filter = el("input", { type: "search", role: "searchbox", class: "filter", "aria-label": t("log.filterTags"), placeholder: t("log.filterTags"), spellcheck: "false", autocomplete: "off", oninput: () => logs.setPattern(this.filter.value) });
    this.statusElement = el("span", { class: "said", role: "status" });
    this.bar = el("div", { class: "log-bar", role: "toolbar", "aria-label": t("log.charts") }, this.filter, this.statusElement);
    this.groups = el("div", { class: "groups" });
    this.tip = el("div", { class: "chart-tip", role: "tooltip", hidden: true });
    this.root = el("div", { class: "log-sheet", hidden: true }, this.bar, this.groups, this.tip);
    this.observeCards(logs.body);
  }

  /** Observe which cards are in view. @param {HTMLElement} root the scrolling element */
  observeCards(root) {
    this.sizeObserver = new ResizeObserver((entries) => entries.forEach(({ target, contentRect: { width, height } }) => this.cardAround(target)?.fitPlot(width, height)));
    this.sightObserver = new IntersectionObserver((entries) => this.onSight(entries), { root, rootMargin: "200px 0px" });
  }

  /** The link of a card: a word and its action; null for none. @param {TagCard} card @returns {[string, () => void] | null} */
  cardLink(card) {
    const { joins: joined } = this.logs;
    return joined.rowsByTag.has(card.tag.id) ? ["log.inGraph", () => joined.showTags([card.tag])] : null;
  }

  /** The card of an entry. @param {CardEntry} entry @returns {TagCard} */
  createCard(entry) {
    throw new Error(entry.key);
  }

  /** The cards of a tag: one for each chosen run. @param {LogTag} tag @param {LogRun[]} runs those that are chosen, in their order @returns {CardEntry[]} */
  entries(tag, runs) {
    const have = new Set(tag.runs.map(([id]) => id));
    return runs.filter((run) => have.has(run.id)).map((run) => ({ key: `${escapeValue(tag.name)}\n${escapeValue(run.name)}`, tag, run }));
  }

  /** Request the tags if they may be outdated. */
  async load() {
    if (!this.isDirty) return;
    this.isDirty = false;
    try {
      this.setTags(await this.logs.feed.tags(this.kind));
    } catch (error) {
      this.isDirty = true;
      throw error;
    }
  }

  /** @param {LogTag[]} tags */
  setTags(tags) {
    this.tags = tags;
    const named = new Map(tags.map((tag) => [tag.name, tag]));
    for (const card of this.cards.values()) card.tag = named.get(card.tag.name) ?? card.tag;
    this.draw();
    for (const card of this.cards.values()) if (card.isNear && card.isStale) card.load();
  }

  /** Entries by group, in their order; pinned cards first. @returns {[string, number, CardEntry[]][]} */
  groupedEntries() {
    /** @type {CardEntry[]} */
    const pinned = [];
    /** @type {Map<string, [number, CardEntry[]]>} */
    const groupsByName = new Map();
    const runs = this.logs.runs.listedRuns().filter((run) => this.logs.runs.chosen.has(run.name));
    for (const tag of this.tags) {
      if (!this.tagTest.test(tag.name)) continue;
      const [count, inner] = groupsByName.get(tag.group) ?? [0, []];
      const entries = this.entries(tag, runs);
      for (const entry of entries) (this.logs.pins.has(entry.key) ? pinned : inner).push(entry);
      groupsByName.set(tag.group, [count + Number(entries.length > 0), inner]);
    }
    const groups = [...groupsByName].map(([name, [count, inner]]) => /** @type {[string, number, CardEntry[]]} */ ([name, count, inner])).filter(([, , inner]) => inner.length);
    return pinned.length ? [[t("log.pinned"), pinned.length, pinned], ...groups] : groups;
  }

  draw() {
    const groups = this.groupedEntries();
    // If the cards and their positions are unchanged, no element is moved: sounds play on, and scroll positions stay.
    const joins = groups.map(([, , entries]) => this.logs.joins.jointPlace([...new Set(entries.map((entry) => entry.tag))]));
    const places = JSON.stringify([groups.map(([name, count, entries], at) => [name, count, joins[at]?.row, this.closedGroups.has(name), this.completeGroups.has(name), entries.map((entry) => entry.key)]), this.tags.length, groups.length ? language : this.filterKey(), this.logs.state.left]);
    if (places === this.layoutKey) return groups.forEach(([, , entries]) => entries.forEach((entry) => this.renewCard(entry)));
    this.layoutKey = places;
    const focused = /** @type {any} */ (document.activeElement)?.dataset?.tag;
    /** @type {Set<string>} */
    const kept = new Set();
    for (const place of this.pendingCards.keys()) this.sightObserver.unobserve(place);
    this.pendingCards.clear();
    const { clientWidth, clientHeight, scrollTop } = this.logs.body;
    const columns = Math.max(1, Math.floor(clientWidth / CARD_PX.width));
    const inSight = Math.min(INITIAL_CARDS, columns * Math.ceil((scrollTop + clientHeight) / CARD_PX.height + 1));
    let cardCount = 0;
    for (const section of this.groups.children) this.sightObserver.unobserve(section);
    const parts = groups.map(([name, count, entries], at) => {
      const closed = this.closedGroups.has(name);
      const some = closed ? [] : this.completeGroups.has(name) ? entries : entries.slice(0, this.maxGroupCards);
      const blocks = [];
      for (let from = 0; from < some.length; from += CARDS_PER_BLOCK) blocks.push(this.cardBlock(some.slice(from, from + CARDS_PER_BLOCK), columns, Math.max(0, inSight - cardCount - from), cardCount + from < INITIAL_CARDS));
      for (const entry of some) kept.add(entry.key);
      const more = !closed && entries.length > some.length && el("button", { onclick: () => (this.completeGroups.add(name), this.draw()) }, t("log.showAll", { n: entries.length }));
      const head = el("button", { class: "group-head", "aria-expanded": String(!closed), onclick: () => this.toggleGroup(name) }, el("b", {}, shortText(name, 120)), el("span", { class: "quiet" }, countWord(count)));
      const kinds = ["log-group", !(count > 1 || entries.length > 1) && "single", cardCount >= inSight && "far"];
      const section = el("section", { class: kinds.filter(Boolean).join(" ") }, el("h2", {}, head, joins[at] && entries.length > 1 && this.scopeLink(entries)), ...blocks, more);
      section.style.containIntrinsicBlockSize = `auto ${GROUP_HEAD_PX + Math.ceil(some.length / columns) * CARD_PX.height}px`;
      cardCount += some.length;
      return section;
    });
    this.groups.replaceChildren(...parts);
    for (const section of parts) this.sightObserver.observe(section);
    const words = !this.tags.length ? t("log.noneYet") : this.tags.some((tag) => this.tagTest.test(tag.name)) ? t("log.nothing") : t("log.noTags");
    if (!groups.length) this.groups.append(el("p", { class: "quiet" }, words));
    const { left } = this.logs.state;
    if (left) this.groups.append(el("p", { class: "quiet log-group" }, t("log.leftOut", { n: left })));
    this.dropUnlisted(kept);
    for (const [key, card] of this.cards) card.pin.setAttribute("aria-pressed", String(this.logs.pins.has(key)));
    if (focused) this.cards.get(focused)?.root.focus({ preventScroll: true });
  }

  /** A placeholder for some cards, in their size: the first cards are created now, the others in the next frames, or when it comes near.
   * @param {CardEntry[]} entries @param {number} columns @param {number} now number of cards to create now @param {boolean} soon */
  cardBlock(entries, columns, now, soon) {
    const place = el("div", { class: "cards" }, ...entries.slice(0, now).map((entry) => this.cardOfEntry(entry).root));
    for (const { classList } of place.children) classList.remove("far"); // in view: avoid a second layout
    if (now >= entries.length) return place;
    place.style.minHeight = `${Math.ceil(entries.length / columns) * CARD_PX.height}px`;
    this.pendingCards.set(place, entries.slice(now));
    if (soon) this.fillSoon(place);
    else this.sightObserver.observe(place);
    return place;
  }

  /** Create the cards of a placeholder in the next frames, unless others are shown by then. @param {Element} place */
  fillSoon(place) {
    this.sightObserver.unobserve(place);
    this.frames.add(place, () => {
      const left = this.pendingCards.get(place);
      if (!left) return;
      place.append(...left.splice(0, CARDS_PER_TURN).map((entry) => this.cardOfEntry(entry).root));
      if (left.length) return this.fillSoon(place);
      this.pendingCards.delete(place);
      /** @type {HTMLElement} */ (place).style.minHeight = "";
    });
  }

  /** The link from a group to the scope that contains the nodes of all its tags. @param {CardEntry[]} entries */
  scopeLink(entries) {
    const tags = [...new Set(entries.map((entry) => entry.tag))];
    return el("button", { class: "icon", title: t("log.inGraph"), "aria-label": t("log.inGraph"), onclick: () => this.logs.joins.showTags(tags) }, iconElement("log.inGraph"));
  }

  /** Drop cards of runs that are no longer shown. @param {Set<string>} kept */
  dropUnlisted(kept) {
    for (const [key, card] of this.cards) {
      if (card.run && !kept.has(key)) this.dropCard(key, card);
    }
  }

  /** Drop all cards. */
  dropAll() {
    for (const [key, card] of this.cards) this.dropCard(key, card);
  }

  /** @param {string} key @param {TagCard} card */
  dropCard(key, card) {
    card.setNear(false);
    this.sightObserver.unobserve(card.root);
    this.sizeObserver.unobserve(card.plot);
    this.cards.delete(key);
  }

  /** @param {CardEntry} entry @returns {TagCard} */
  cardOfEntry(entry) {
    let card = this.cards.get(entry.key);
    if (!card) {
      card = this.createCard(entry);
      this.cards.set(entry.key, card);
      this.sightObserver.observe(card.root);
      this.sizeObserver.observe(card.plot);
    }
    this.renewCard(entry);
    return card;
  }

  /** Update the run and the link of a card. @param {CardEntry} entry */
  renewCard(entry) {
    const card = this.cards.get(entry.key);
    if (card && entry.run) card.run = entry.run;
    card?.updateLink();
  }

  /** A key of the filter and the language. */
  filterKey() {
    return `${language} ${this.logs.pattern}`;
  }

  /** @param {IntersectionObserverEntry[]} entries */
  onSight(entries) {
    for (const { target, isIntersecting } of entries) if (isIntersecting && this.pendingCards.has(target)) this.fillSoon(target);
    const seen = entries.map(({ target, isIntersecting }) => /** @type {[TagCard | undefined, boolean]} */ ([this.cardAround(target), isIntersecting])).filter(([card]) => card);
    for (const { target, isIntersecting } of entries) target.classList.toggle("far", !isIntersecting);
    // Measure all cards before drawing any, since drawing in between would force another layout. Cards out of view are not
    // measured, which would lay them out too.
    const rooms = seen.map(([{ plot }, near]) => (near ? [plot.clientWidth, plot.clientHeight] : []));
    seen.forEach(([card, near], at) => this.frames.add(card.root, () => {
      if (this.cards.get(card.key) !== card) return; // it was dropped meanwhile
      card.setNear(near);
      if (near) card.fitPlot(...rooms[at]);
    }));
  }

  /** The card that an element is in. @param {Element} element @returns {TagCard | undefined} */
  cardAround(element) {
    const root = /** @type {HTMLElement | null} */ (element.closest(".chart-card"));
    return root ? this.cards.get(root.dataset.tag ?? "") : undefined;
  }

  /** @param {string} name */
  toggleGroup(name) {
    this.closedGroups.has(name) ? this.closedGroups.delete(name) : this.closedGroups.add(name);
    this.draw();
  }

  /** Apply the filter of tags. */
  onFilter() {
    const { pattern, tagTest: good, isPatternBad: bad } = this.logs;
    this.tagTest = good;
    this.statusElement.textContent = bad ? t("log.badPattern") : "";
    if (bad) this.filter.setAttribute("aria-invalid", "true");
    else this.filter.removeAttribute("aria-invalid");
    if (this.filter.value !== pattern) this.filter.value = pattern;
    this.draw();
  }

  /** React to a restored address. */
  onRestore() {
    this.onFilter();
  }

  /** @param {string} key */
  togglePin(key) {
    const { pins } = this.logs;
    pins.has(key) ? pins.delete(key) : pins.add(key);
    this.draw();
    this.logs.writeAddress();
  }

  /** React to a change of the chosen runs, their order or colours. */
  runsChanged() {
    this.draw();
    for (const card of this.cards.values()) if (card.isNear) card.showData();
  }

  /** Draw the visible cards in the new theme. */
  onTheme() {
    for (const card of this.cards.values()) if (card.isNear) card.showData();
  }

  /** Mark all cards as stale after a restart of the server; they are loaded again with the tags. */
  markStale() {
    for (const card of this.cards.values()) Object.assign(card, { isStale: true, stepsStale: true });
  }

  /** New points came for some series. @param {Set<number>} series */
  onPoints(series) {
    for (const card of this.cards.values()) if (card.shownSeries().some((entry) => series.has(entry[1]))) card.noteChange();
  }

  /** A table beside a card, at the pointer; without rows it is hidden. @param {TagCard} card @param {string[]} heads @param {Node[]} rows @param {number} x @param {number} [all] number of all rows */
  showTip(card, heads, rows, x, all = rows.length) {
    this.tip.hidden = !rows.length;
    if (!rows.length) return;
    const more = all > TIP_ROWS ? el("p", { class: "quiet" }, t("and", { n: all - TIP_ROWS })) : null;
    this.tip.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", {}, head)))), el("tbody", {}, ...rows.slice(0, TIP_ROWS))), ...(more ? [more] : []));
    const box = this.tip.getBoundingClientRect();
    const plot = card.plot.getBoundingClientRect();
    this.tip.style.left = `${Math.max(8, Math.min(x - box.width / 2, innerWidth - box.width - 8))}px`;
    this.tip.style.top = `${plot.bottom + box.height + 12 < innerHeight ? plot.bottom + 8 : Math.max(8, plot.top - box.height - 8)}px`;
  }

  /** The actions of keys on this page. @param {TagCard | undefined} card that has the focus @returns {Record<string, () => void>} */
  pageKeys(card) {
    return {};
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    const cards = [...this.groups.querySelectorAll(".chart-card")];
    const here = /** @type {any} */ (document.activeElement)?.closest?.(".chart-card");
    const card = here ? this.cards.get(here.dataset.tag) : undefined;
    const at = cards.indexOf(here);
    const go = (/** @type {number} */ to) => /** @type {HTMLElement | undefined} */ (cards[Math.max(0, Math.min(cards.length - 1, to))])?.focus();
    /** @type {Record<string, () => void>} */
    const keys = {
      "/": () => this.filter.focus(), j: () => go(at + 1), k: () => go(at - 1), Enter: () => card?.toggleWide(),
      r: () => this.logs.runs.filter.focus(), p: () => card && this.togglePin(card.key), ...this.pageKeys(card),
    };
    if (["Enter", " "].includes(event.key) && document.activeElement !== here) return;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }
}
