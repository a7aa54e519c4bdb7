// What a page knows: what is open, chosen, moved and coloured; and the address that holds all of it.

const BURST = 2000; // milliseconds between two openings that the browser goes back over at once

class Standing {
  /** Colourings that a page may come to have: an address may ask for one before it is there. @type {Set<string>} */
  static later = new Set();

  /** @param {Graph} graph @param {Head} head */
  constructor(graph, head) {
    this.take(graph, head);
    this.themeChoice = "system";
    /** the language that the reader chose, or else "" */
    this.tongue = "";
    /** @type {Record<string, any>} what the address holds beside */
    this.extra = {};
    /** @type {string[]} */
    this.past = [];
    /** @type {string[]} */
    this.future = [];
    /** @type {any} the ring around what is chosen */
    this.circle = null;
    /** @type {any} */
    this.defs = null;
    /** what comes next, where it is a view of its own to which the browser goes back; what came last */
    this.stepped = "";
    this.came = "";
    this.opened = -Infinity; // when the last opening was done
    this.asked = 0; // when what comes next was asked for
    /** @type {boolean | null} whether the reader opened or closed the legend */
    this.legendOpen = null;
    this.legendWhole = false;
    this.written = "";
    /** @type {any} */
    this.writing = 0;
    /** @type {any} */
    this.toasting = 0;
    /** @type {any} */
    this.mapping = 0;
    this.busy = Promise.resolve();
    this.svg = byId("picture");
    /** @type {number[][]} of each box which one it is in its group, and of how many */
    this.siblings = [];
    /** @type {any} what is chosen, traced and found, as the picture shows it */
    this.light = { chosen: null, row: -1, trace: null, marks: null, over: null, only: null };
    /** @type {Colouring | null} what gave the boxes their colours */
    this.brush = null;
    /** @type {Picture} */
    this.picture = null;
    /** @type {Camera} */
    this.camera = null;
    /** @type {Card} */
    this.card = null;
    /** @type {Find} */
    this.find = null;
    /** @type {Outline} */
    this.outline = null;
    /** @type {Minimap} */
    this.minimap = null;
    /** @type {Tracing} */
    this.tracing = null;
    /** @type {GraphTable} */
    this.table = null;
    /** @type {ChangeList | null} */
    this.changes = null;
    /** @type {Map<string, () => Promise<Colouring>>} colourings that are not in the data of a graph */
    this.others = new Map();
    /** @type {Set<() => void>} who shows what the picture shows, too */
    this.dressers = new Set();
    /** @type {Stepper | null} */
    this.stepper = null;
    this.wanted = ""; // a colouring that an address asks for, and that may come later
  }

  /** The words of all colourings. @returns {string[]} */
  get schemes() {
    return [...new Set([...this.head.schemes, ...this.others.keys()])];
  }

  /** Show another graph from now on: nothing of it is open or chosen. @param {Graph} graph @param {Head} head */
  take(graph, head) {
    this.graph = graph;
    this.head = head;
    this.title = head.title || "graph";
    this.facts = new Facts(graph);
    this.views = new Views(graph);
    this.frames = new layout.FrameCache();
    /** @type {Map<string, Path>} the open groups, without the root */
    this.open = new Map();
    /** @type {Path | null} */
    this.selected = null;
    /** @type {Path | null} whose box shows what is chosen: its own, or that of the op beside which it stands */
    this.shownAs = null;
    this.told = Promise.resolve(); // when the card has said what it has to say
    /** @type {Map<string, Colouring>} */
    this.colourings = new Map();
    this.scheme = head.options.color_by;
    /** the step whose measurements are shown, all together at -1 */
    this.at = -1;
    /** @type {{path: Path, way: string, hops: number, rows: Set<number>, edges: Passed} | null} */
    this.traced = null;
    /** @type {Set<number>} */
    this.marked = new Set();
    /** @type {any} */
    this.scene = null;
    /** @type {Map<string, Path>} */
    this.places = new Map([["", [0]]]);
    this.moves = new Moves();
    /** @type {number[] | null} where the camera was when the whole was fitted last */
    this.fitTo = null;
    /** @type {string | null | undefined} the address of the box under the pointer */
    this.hovered = null;
    /** @type {any} */
    this.paint = null;
    this.touched = false;
    this.looked = false;
  }

  /** Do one thing after another. What fails does not hold up the next; who asked is told, the reader where nobody did.
   * @param {() => Promise<any>} run @returns {Promise<any>} */
  async queue(run) {
    const next = this.busy.then(run).finally(() => (this.stepped = ""));
    this.busy = next.catch(() => undefined);
    return next;
  }

  get theme() {
    if (this.themeChoice !== "system") return this.themeChoice;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }

  /** The state as plain values: what the hash holds. */
  state() {
    /** @type {Record<string, any>} */
    const out = { ...this.extra };
    if (this.touched) out.open = this.innermost().map((path) => this.graph.address(path));
    if (out.open && !out.open.length) out.open = [""];
    if (this.selected) out.select = this.graph.address(this.selected);
    if (this.wanted || this.scheme !== this.head.options.color_by) out.colour = this.wanted || this.scheme;
    if (this.at >= 0) out.step = this.head.steps[this.at];
    if (this.themeChoice !== "system") out.theme = this.themeChoice;
    if (this.tongue) out.language = this.tongue;
    for (const side of /** @type {("aux" | "main")[]} */ (["aux", "main"])) {
      if (this.moves[side].size) out[side] = [...this.moves[side].values()].map((path) => this.graph.address(path));
    }
    const apart = this.apartSeries();
    if (apart.length) out.ungroup = apart.map((path) => this.graph.address(path));
    if (this.traced) out.trace = `${this.traced.way}${reachWord(this.traced.hops)}:${this.graph.address(this.traced.path)}`;
    Object.assign(out, this.table.state());
    if (this.looked && !this.fitted()) out.at = this.camera.place().map(fine).join();
    return out;
  }

  /** The open groups that hold no open group. @returns {Path[]} */
  innermost() {
    const { graph, open } = this;
    const around = new Set();
    for (const path of open.values()) {
      for (let at = graph.around(path); at && !around.has(graph.key(at)); at = graph.around(at)) around.add(graph.key(at));
    }
    return [...open].filter(([key]) => !around.has(key)).map(([, path]) => path);
  }

  /** The series whose members are on their level. @returns {Path[]} */
  apartSeries() {
    return [...this.graph.apart.values()].flatMap((level) => this.graph.seriesOf(level));
  }

  /** Whether the whole picture is fitted, and was not moved since. */
  fitted() {
    const { camera, fitTo } = this;
    return !!fitTo && !!this.scene && this.scene.width === fitTo[3] && this.scene.height === fitTo[4] && Math.abs(camera.k / fitTo[2] - 1) < 1e-3 && Math.abs(camera.x - fitTo[0]) < 1 && Math.abs(camera.y - fitTo[1]) < 1;
  }

  /** Whether what is done now is a view of its own, to which the browser goes back: choosing one node after the other is
   * one, and so is opening one group soon after the other. */
  isApart() {
    if (!this.stepped) return false;
    const soon = this.asked - this.opened < BURST; // however long the opening itself takes
    if (this.stepped === "opening") this.opened = performance.now();
    return this.stepped === "choice" ? this.came !== "choice" && !(this.came === "opening" && soon) : !(this.stepped === "opening" && this.came === "opening" && soon);
  }

  /** Put the state into the address. */
  remember() {
    clearTimeout(this.writing);
    const state = this.state();
    const hash = hashOf(state);
    if (hash === this.written) return;
    const apart = this.isApart();
    if (apart) this.past = [...this.past.slice(-199), this.written];
    if (apart) this.future = [];
    else if (this.stepped === "choice" && this.came === "opening") this.stepped = "opening"; // one burst
    this.came = this.stepped || this.came;
    this.stepped = "";
    this.written = hash;
    try {
      const address = hash ? `#${hash}` : location.pathname + location.search;
      if (apart && parent === window) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    } catch {
      // a frame without an address of its own
    }
    this.emit("state", state);
  }

  /** The same soon, for what goes on many times a second. */
  rememberSoon() {
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.remember(), 250);
  }

  /** @param {string} name @param {any} detail */
  emit(name, detail) {
    this.svg.dispatchEvent(new CustomEvent(`tbgraph:${name}`, { bubbles: true, detail }));
  }

  /** Note a view, to come back to it: what comes next is another one. Choosing one node after the other is one "choice".
   * @param {string} [kind] */
  step(kind = "view") {
    if (!this.stepped) this.remember(); // where the reader looked until now
    this.stepped = kind;
    this.asked = performance.now();
  }

  focus() {
    this.svg.focus({ preventScroll: true });
  }

  /** The last word of a path's name. @param {Path} path */
  leaf(path) {
    const around = this.graph.around(path);
    const held = around && this.graph.level(around);
    const at = held ? held.metagraph.children.indexOf(path[path.length - 1]) : -1;
    return at >= 0 ? safe(held.node_labels[at].label) : brief(this.graph.name(path[path.length - 1]), 80);
  }
}
