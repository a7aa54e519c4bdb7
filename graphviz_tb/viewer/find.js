// Find: names, op types and devices at once, attributes as their blocks are unpacked; Enter walks through what was found.

const MOST_HITS = 200; // listed; all are counted
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
    this.box.addEventListener("focus", () => this.box.value && (this.panel.hidden = false));
    this.box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    document.addEventListener("pointerdown", (event) => {
      if (!byId("finding").contains(/** @type {Node} */ (event.target))) this.panel.hidden = true;
    });
  }

  /** What a text asks for; null where it is no regular expression. @param {string} text */
  test(text) {
    const regex = /^\/(.+)\/([a-z]*)$/.exec(text);
    if (!regex) {
      const wanted = text.toLowerCase();
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
    const [, word, rest] = FIELD.exec(text) ?? [text, "", text];
    const field = word.toLowerCase().replace("key", "attr");
    const test = this.test(rest);
    if (!test) {
      this.show(t("regexError"));
      return [];
    }
    this.hits = rest ? this.byName(test, field) : [];
    if (field === "attr" || !rest) this.show(t("fields"));
    else this.list();
    if ((field && field !== "attr") || !rest) return this.hits;
    const more = await this.byAttribute(test, turn);
    if (turn === this.turn && (more.length || field)) {
      const known = new Set(this.hits);
      this.hits.push(...more.filter((row) => !known.has(row)));
      this.list();
    }
    return this.hits;
  }

  /** Rows by name, op type and device, or by one of these. @param {(text: string) => boolean} test @param {string} field */
  byName(test, field) {
    const { graph } = this.app;
    const [name, op, device] = ["name", "op", "device"].map((one) => !field || field === one);
    const words = new Map();
    const word = (/** @type {number} */ at) => {
      if (!words.has(at)) words.set(at, at > 0 && test(graph.words[at]));
      return words.get(at);
    };
    const found = [];
    for (let row = 1; row < graph.count; row++) if ((name && (test(graph.name(row)) || test(graph.labels.get(row) ?? ""))) || (op && word(graph.op[row])) || (device && word(graph.device[row]))) found.push(row);
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

  list() {
    const { graph, facts } = this.app;
    const count = this.hits.length;
    const more = count > MOST_HITS ? ` · ${t("moreHits", { n: MOST_HITS })}` : "";
    this.show((count === 0 ? `${t("noHits")} · ${t("fields")}` : count === 1 ? t("oneHit") : t("hits", { n: count })) + more);
    const list = byId("hits");
    this.hits.slice(0, MOST_HITS).forEach((row, at) => {
      const name = graph.address(facts.path(row));
      const op = (graph.mark[row] && graph.labels.get(row)) || graph.words[graph.op[row]]; // "kernel 3×3×1×8"
      const kind = graph.kind[row] === OP ? brief(op, 40) : t(ROW_KINDS[graph.kind[row]]);
      const option = el("div", { role: "option", id: `hit-${at}`, "aria-selected": "false", title: brief(name), onclick: () => this.go(at) }, el("span", { class: "hit" }, ...broken(brief(name, 160))), el("span", { class: "kind" }, kind));
      list.append(option);
    });
    this.app.mark(this.hits);
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
    if (event.key === "Enter") this.go(this.at + (event.shiftKey ? -1 : 1));
    else if (event.key === "ArrowDown") this.go(this.at + 1);
    else if (event.key === "ArrowUp") this.go(this.at - 1);
    else if (event.key === "Escape") {
      if (this.box.value) {
        this.box.value = "";
        this.run("");
      } else this.app.focus();
      event.stopPropagation();
    } else return;
    event.preventDefault();
  }
}
