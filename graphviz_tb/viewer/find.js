// Find: names, op types and devices at once, attributes as their blocks are unpacked; Enter walks through what was found.

const MOST_HITS = 200; // listed; all are counted
const REGEX = /^\/(.+)\/([a-z]*)$/;
const FIELD = /^(name|op|device|attr|key):\s*(.*)$/is; // looks in one field alone

class Find {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.box = byId("find");
    this.panel = byId("found");
    /** @type {number[]} */
    this.hits = [];
    this.at = -1;
    this.turn = 0;
    this.box.addEventListener("input", () => this.run(this.box.value));
    for (const name of ["focus", "click"]) this.box.addEventListener(name, () => this.box.value && (this.panel.hidden = false));
    /** @type {Set<string> | null} the op types of the graph, in small letters */
    this.types = null;
    this.box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    document.addEventListener("pointerdown", (event) => {
      if (!byId("finding").contains(/** @type {Node} */ (event.target))) this.panel.hidden = true;
    });
  }

  /** Look for nothing: another graph is shown. */
  forget() {
    this.turn++;
    this.hits = [];
    this.at = -1;
    this.types = null;
    this.box.value = "";
    this.panel.hidden = true;
  }

  /** What a text asks for; null where it is no regular expression. An op type that there is means itself alone.
   * @param {string} text @param {string} field */
  test(text, field) {
    const regex = REGEX.exec(text);
    if (!regex) {
      const wanted = text.toLowerCase();
      this.types ??= new Set(Array.from(new Set(this.app.graph.op), (at) => (this.app.graph.words[at] ?? "").toLowerCase()));
      if (field === "op" && this.types.has(wanted)) return (/** @type {string} */ value) => value.toLowerCase() === wanted;
      if (field === "op" && wanted.includes("*")) return starred(wanted);
      return (/** @type {string} */ value) => value.toLowerCase().includes(wanted);
    }
    try {
      const found = new RegExp(regex[1], regex[2].includes("i") ? "iu" : "u");
      return (/** @type {string} */ value) => found.test(value);
    } catch {
      return null;
    }
  }

  /** Look for a text. @param {string} text @returns {Promise<number[]>} */
  async run(text) {
    const turn = ++this.turn;
    this.at = -1;
    this.hits = [];
    this.panel.classList.remove("walking");
    if (!text) {
      this.panel.hidden = true;
      this.app.mark([]);
      return [];
    }
    const whole = this.term(text);
    if (!whole.text) {
      this.app.mark([]);
      this.show(t("fields"));
      return [];
    }
    const words = whole.regex ? [] : this.words(text);
    const asked = words.length > 1 ? [[whole], words] : [[whole]]; // all of it as it stands, or each of its words
    if (asked.flat().some((one) => !one.test)) {
      this.app.mark([]);
      this.show(t("regexError"));
      return [];
    }
    const found = asked.map((terms) => terms.map((one) => new Set(this.byName(one))));
    const hits = () => [...new Set(found.flatMap(common))];
    this.hits = hits();
    const open = asked.map((terms) => terms.map(({ field }) => !field || field === "attr"));
    if (asked.every((terms) => terms.every((one) => one.field === "attr"))) this.show(t("fields"));
    else this.list();
    if (!open.flat().some(Boolean)) return this.hits;
    for (const [at, terms] of asked.entries()) {
      for (const [number, one] of terms.entries()) {
        if (!open[at][number]) continue;
        for (const row of await this.byAttribute(one.test, turn)) found[at][number].add(row);
        if (turn !== this.turn) return this.hits;
      }
    }
    const known = new Set(this.hits);
    const more = hits().filter((row) => !known.has(row));
    this.hits.push(...more);
    if (more.length || whole.field) this.list(this.panel.hidden); // it may have been put away meanwhile
    return this.hits;
  }

  /** One thing that is looked for. @param {string} text */
  term(text) {
    const [, word, rest] = FIELD.exec(text) ?? [text, "", text];
    const field = word.toLowerCase().replace("key", "attr");
    return { field, text: rest, regex: REGEX.test(rest), test: this.test(rest, field) };
  }

  /** The words of a text, each with the field that it names. @param {string} text */
  words(text) {
    const joined = text.replace(/(^|\s)(name|op|device|attr|key):\s+/gi, "$1$2:");
    return joined.split(/\s+/).filter(Boolean).map((one) => this.term(one)).filter((one) => one.text);
  }

  /** Rows by name, op type and device, or by one of these. @param {{test: (text: string) => boolean, field: string}} term */
  byName({ test, field }) {
    const { graph } = this.app;
    const [name, op, device] = ["name", "op", "device"].map((one) => !field || field === one);
    const words = new Map();
    const word = (/** @type {number} */ at) => {
      if (!words.has(at)) words.set(at, at > 0 && test(graph.words[at]));
      return words.get(at);
    };
    const found = [];
    for (let row = 1; row < graph.count; row++) if ((name && (test(graph.name(row)) || (graph.labels.has(row) && test(graph.labels.get(row) ?? "")))) || (op && word(graph.op[row])) || (device && word(graph.device[row]))) found.push(row);
    return found;
  }

  /** @param {(text: string) => boolean} test @param {number} turn */
  async byAttribute(test, turn) {
    const { graph } = this.app;
    const rows = new Map();
    for (let row = 0; row < graph.count; row++) if (graph.node[row] >= 0) rows.set(graph.node[row], row);
    const found = [];
    for (let at = 0; graph.blocks.has(`attributes/${at}`); at++) {
      const block = await graph.blocks.get(`attributes/${at}`).catch(() => []);
      if (turn !== this.turn) return [];
      block.forEach((/** @type {any[][]} */ one, /** @type {number} */ index) => {
        const row = rows.get(at * NODES_A_BLOCK + index);
        if (row !== undefined && one.some(([name, value]) => test(`${name}=${value}`))) found.push(row);
      });
    }
    return found;
  }

  /** @param {string} status */
  show(status) {
    this.panel.hidden = false;
    byId("hit-count").textContent = status;
    empty(byId("hits"));
  }

  /** @param {boolean} [away] whether it is not shown */
  list(away = false) {
    const { graph, facts } = this.app;
    const count = this.hits.length;
    const more = count > MOST_HITS ? ` · ${t("moreHits", { n: MOST_HITS })}` : "";
    this.show((count === 0 ? `${t("noHits")} · ${t("fields")}` : count === 1 ? t("oneHit") : t("hits", { n: count })) + more);
    const list = byId("hits");
    this.hits.slice(0, MOST_HITS).forEach((row, at) => {
      const name = graph.address(facts.path(row));
      const op = (graph.mark[row] && graph.labels.get(row)) || graph.words[graph.op[row]]; // "kernel 3×3×1×8"
      const kind = graph.kind[row] === OP ? brief(op, 40) : t(ROW_KINDS[graph.kind[row]]);
      const option = el("div", { role: "option", id: `hit-${at}`, "aria-selected": String(at === this.at), title: brief(name), onclick: () => this.take(at) }, el("span", { class: "hit" }, ...broken(brief(name, 160))), el("span", { class: "kind" }, kind));
      list.append(option);
    });
    this.panel.hidden = away;
    this.app.mark(this.hits);
  }

  /** Go to a hit, and put the list away: the picture is looked at now. @param {number} at */
  take(at) {
    if (this.hits.length) this.panel.hidden = true;
    return this.go(at);
  }

  /** @param {number} at */
  go(at) {
    if (!this.hits.length) return;
    const count = Math.min(this.hits.length, MOST_HITS);
    this.at = ((at % count) + count) % count;
    const list = byId("hits");
    this.panel.classList.add("walking");
    [...list.children].forEach((one, number) => one.setAttribute("aria-selected", String(number === this.at)));
    list.children[this.at].scrollIntoView({ block: "nearest" });
    this.box.setAttribute("aria-activedescendant", `hit-${this.at}`);
    return this.app.reveal(this.app.facts.path(this.hits[this.at]), false);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Enter") this.take(this.at + (event.shiftKey ? -1 : 1));
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      this.panel.hidden = !this.box.value;
      this.go(this.at + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Escape") {
      if (this.box.value) {
        this.box.value = "";
        this.run("");
      } else this.app.focus();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  }
}

/** What is in each of some sets, in the order of the first. @param {Set<number>[]} sets @returns {number[]} */
const common = ([first, ...others]) => [...first].filter((row) => others.every((one) => one.has(row)));

/** Whether a text is as one in which each star stands for anything. @param {string} pattern in small letters */
function starred(pattern) {
  const parts = pattern.split("*");
  const [first, last] = [parts[0], /** @type {string} */ (parts.at(-1))];
  return (/** @type {string} */ value) => {
    const text = value.toLowerCase();
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of parts.slice(1, -1)) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= text.length - last.length;
  };
}
