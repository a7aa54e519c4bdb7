// The page as a whole: its parts, and the way from an address to what it stands for.

class App extends Acting {
  /** @param {Graph} graph @param {Head} head */
  constructor(graph, head) {
    super(graph, head);
    this.picture = new Picture(byId("stage"), this.svg);
    this.camera = new Camera(byId("stage"), this.picture, () => this.moved());
    this.picture.dress = (item, element) => {
      this.dress(item, element);
      this.shed(item, element);
    };
    this.card = new Card(this);
    this.find = new Find(this);
    this.outline = new Outline(this);
    this.minimap = new Minimap(this);
    this.tracing = new Tracing(this);
    this.changes = head.changes ? new ChangeList(this) : null;
    byId("changes-button").hidden = !this.changes;
  }

  /** Take a state over: what it names and is not here is told. @param {Record<string, any>} state */
  async restore(state) {
    const { open, select, colour, theme, trace, at, aux, main, step, ungroup, ...rest } = state;
    this.extra = rest;
    const lost = [];
    const wanted = new Map();
    if (open === undefined) for (const path of this.head.open) wanted.set(this.graph.key(path), path);
    for (const name of open ?? []) {
      const path = this.graph.find(name);
      if (!path || (name && !this.graph.opens(path[path.length - 1]))) lost.push(name);
      else if (name) for (const one of [...this.graph.ancestors(path), path]) if (one.length > 1 || one[0] !== 0) wanted.set(this.graph.key(one), one);
    }
    this.graph.apart = new Map();
    for (const name of ungroup ?? []) {
      const path = this.graph.find(name);
      const level = path && this.graph.comesApart(path);
      if (!level) lost.push(name);
      else this.graph.apart.set(this.graph.key(level), level);
      if (level && !open) for (const one of [...this.graph.ancestors(level), level]) if (one[0] !== 0) wanted.set(this.graph.key(one), one);
    }
    this.open = wanted;
    this.touched = open !== undefined;
    if (theme === undefined || theme === "light" || theme === "dark") this.themeChoice = theme ?? "system";
    else lost.push(theme);
    this.at = step === undefined ? -1 : this.head.steps.indexOf(step);
    if (step !== undefined && this.at < 0) lost.push(step);
    const scheme = colour ?? this.head.options.color_by;
    if (this.head.schemes.includes(scheme)) this.scheme = scheme;
    else lost.push(scheme);
    const path = select ? this.graph.find(select) : null;
    if (select && !path) lost.push(select);
    this.selected = path;
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
    await this.redraw(null, false);
    const asked = trace ? traceOf(trace) : null;
    const from = asked && this.graph.find(asked.name);
    if (from) await this.traceNow(from, asked.way, asked.hops);
    else if (trace) lost.push(trace);
    const place = at?.split(",").map(Number);
    if (place?.length === 3 && place.every(Number.isFinite)) {
      this.looked = true;
      this.camera.set(place[0], place[1], place[2]);
      this.camera.settle();
    } else this.fit(false);
    this.legend();
    if (path) await this.selectNow(path);
    if (lost.length) this.toast(t("missing", { names: lost.slice(0, 5).map((one) => brief(one, 60)).join(", ") }));
    this.remember();
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
