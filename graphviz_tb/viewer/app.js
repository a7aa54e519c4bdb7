// The page as a whole: its parts, and the way from an address to what it stands for.

class App extends Acting {
  /** @param {Graph} graph @param {Head} head */
  constructor(graph, head) {
    super(graph, head);
    this.picture = new Picture(byId("stage"), this.svg);
    this.camera = new Camera(byId("stage"), this.picture, () => this.moved(), () => this.fit(false).then(() => this.legend()));
    new ResizeObserver(() => this.resized()).observe(byId("stage"));
    this.picture.dress = (item, element) => {
      this.dress(item, element);
      this.shed(item, element);
    };
    this.card = new Card(this);
    this.find = new Find(this);
    this.outline = new Outline(this);
    this.minimap = new Minimap(this);
    this.tracing = new Tracing(this);
    this.table = new GraphTable(this);
    this.share = new Share(this);
    this.compare();
  }

  /** The list of changes, where the graph is that of a diff. */
  compare() {
    this.changes = this.head.changes ? new ChangeList(this) : null;
    byId("changes-button").hidden = !this.changes;
    if (this.changes) return;
    byId("changes").hidden = true;
    document.body.classList.remove("comparing");
  }

  /** Show another graph. @param {Graph} graph @param {Head} head @param {Record<string, any>} state of its view */
  async adopt(graph, head, state) {
    this.take(graph, head);
    this.find.forget();
    this.compare();
    this.past = this.future = [];
    await this.restore(state);
  }

  /** Take a state over: what it names and is not here is told. @param {Record<string, any>} state */
  async restore(state) {
    const { open, select, colour, theme, language: tongue, trace, at, aux, main, step, ungroup, table, rows, ...rest } = state;
    this.extra = rest;
    this.came = "";
    const lost = [];
    const wanted = new Map();
    const want = (/** @type {Path} */ path) => [...this.graph.ancestors(path), path].forEach((one) => (one.length > 1 || one[0] !== 0) && wanted.set(this.graph.key(one), one));
    for (const name of open ?? []) {
      const path = this.group(name);
      if (name && (!path || this.graph.address(path) !== name)) lost.push(name);
      if (path) want(path);
    }
    for (const [key, path] of [...wanted]) if (wanted.has(key)) this.graph.showAlone([path], wanted);
    const foreign = open !== undefined && !wanted.size && lost.length > 0; // of another graph: it says nothing of this one
    if (open === undefined || foreign) for (const path of this.head.open) wanted.set(this.graph.key(path), path);
    const path = select ? this.graph.find(select) : null;
    if (select && !path) lost.push(select);
    if (path && open === undefined) this.around(path, wanted);
    this.graph.apart = new Map();
    for (const name of ungroup ?? []) {
      const path = this.graph.find(name);
      const level = path && this.graph.comesApart(path);
      if (!level) lost.push(name);
      else this.graph.apart.set(this.graph.key(level), level);
      if (level && !open) want(level);
    }
    this.open = wanted;
    this.touched = open !== undefined && !foreign;
    if (theme === undefined || theme === "light" || theme === "dark") this.themeChoice = theme ?? "system";
    else lost.push(theme);
    const spoken = tongue !== undefined && Object.hasOwn(STRINGS, tongue);
    if (tongue !== undefined && !spoken) lost.push(tongue);
    this.speak(spoken ? tongue : "");
    this.at = step === undefined ? -1 : this.head.steps.indexOf(step);
    if (step !== undefined && this.at < 0) lost.push(step);
    const usual = this.head.options.color_by;
    this.wanted = Standing.later.has(colour) && !this.schemes.includes(colour) ? colour : "";
    if (colour && !this.wanted && !this.schemes.includes(colour)) lost.push(colour);
    this.scheme = this.schemes.includes(colour) ? colour : usual;
    this.selected = path;
    if (!path) {
      this.shownAs = null;
      this.card.hide();
    }
    this.traced = null;
    this.tracing.draw();
    this.moves = new Moves();
    for (const [side, names] of [[this.moves.aux, aux ?? []], [this.moves.main, main ?? []]]) {
      for (const name of names) {
        const moved = this.graph.find(name);
        if (moved) side.set(this.graph.key(moved), moved);
        else lost.push(name);
      }
    }
    this.dressPage();
    this.table.restore(table, rows ?? "");
    await this.redraw(null, false);
    const asked = trace ? traceOf(trace) : null;
    const from = asked && this.graph.find(asked.name);
    if (from) await this.traceNow(from, asked.way, asked.hops);
    else if (trace) lost.push(trace);
    const place = at?.split(",").map(Number);
    if (place?.length === 3 && place.every((one) => Math.abs(one) <= FARTHEST) && place[2] > 0 && !foreign) {
      this.looked = true;
      if (path) await this.selectNow(path); // its card lies over a part of the window
      if (path && narrow.matches) await this.told; // a sheet is as high as what it says
      this.camera.lookAt(place);
      if (path) await this.bringChosen(path);
    } else {
      this.fit(false);
      if (path) await this.selectNow(path);
    }
    this.legend();
    if (lost.length) this.toast(t("missing", { names: [...lost.slice(0, 5).map((one) => brief(one, 60)), ...(lost.length > 5 ? ["…"] : [])].join(", ") }), 9000);
    this.remember();
  }

  /** Open what is around a node that a link names alone. @param {Path} path @param {Map<string, Path>} wanted */
  around(path, wanted) {
    const inner = this.graph.stackOf(path) ? [path] : []; // its stack shows it
    const around = [...this.graph.ancestors(path), ...inner].filter((one) => one.length > 1 || one[0] !== 0);
    this.graph.showAlone(around, wanted);
    for (const one of around) wanted.set(this.graph.key(one), one);
  }

  /** Bring what a link has chosen into view, where another window does not show it at all. @param {Path} path */
  async bringChosen(path) {
    const box = this.boxAt(await this.host(path));
    const [across, along] = this.camera.free();
    if (box && !meet(this.onStage(box), [across[0], along[0], across[1], along[1]])) await this.bring(box);
  }

  /** The group of a name, or the nearest one around it that is here. @param {string} name @returns {Path | null} */
  group(name) {
    for (let at = name; at; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      const path = this.graph.find(at);
      if (path && this.graph.opens(path[path.length - 1])) return path;
    }
    return null;
  }

  /** @param {string[]} from @param {string[]} to */
  walk(from, to) {
    return this.queue(async () => {
      const hash = from.pop();
      if (hash === undefined) return;
      to.push(hashOf(this.state()));
      await this.restore(stateOf(hash));
    });
  }
}
