// What stands around the picture: the words of the page, the lists, the legend, messages; and where the camera goes.

const KEY_ROW = 18; // px of a row of the legend
const MOST_GRAPHS = 500; // functions that the chooser lists

class Framed extends Standing {
  overKey = ""; // the row of the legend under the pointer
  onlyKey = ""; // that whose boxes alone are kept
  lit() {} // Shown does it

  /** Words and colours of the page. */
  dressPage() {
    document.documentElement.lang = language;
    const root = document.documentElement;
    if (root.dataset.theme !== this.theme) root.dataset.theme = this.theme; // all charts are drawn anew with it
    document.title = `${safe(this.title)} · tbgraph`;
    byId("title").textContent = safe(this.title);
    byId("title").title = safe(this.title);
    dressWords();
    chooser("scheme", this.schemes.map((/** @type {string} */ one) => [one, t(`scheme.${one}`)]), this.scheme);
    byId("graph").hidden = !this.head.functions.length;
    chooser("graph", /** @type {any} */ (this.graphs()), byId("graph").value || "0");
    byId("step").hidden = this.head.steps.length < 2;
    chooser("step", [["-1", this.scheme === "logged" ? "" : t("allSteps")], ...this.head.steps.map((/** @type {string} */ one, /** @type {number} */ at) => /** @type {[string, string]} */ ([String(at), brief(one.split("/").pop(), 60)]))], String(this.at));
    chooser("theme", ["system", "light", "dark"].map((one) => [one, t(one)]), this.themeChoice);
    chooser("language", Object.keys(STRINGS).map((one) => [one, STRINGS[one].languageName]), language);
    this.tracing.draw();
    this.svg.setAttribute("aria-label", t("picture", { name: safe(this.title) }));
    if (!this.defs) this.defs = hatchPattern(this.svg, layout.THEMES.get(this.theme));
    this.defs.querySelector("path").setAttribute("stroke", layout.THEMES.get(this.theme).stroke);
  }

  /** Speak a language, or that of the reader's browser. @param {string} word */
  speak(word) {
    this.tongue = word;
    if (language === (word || OWN_LANGUAGE)) return;
    language = word || OWN_LANGUAGE;
    this.changes?.draw();
  }

  /** Functions of the file by themselves, each to be gone to. */
  graphs() {
    const { graph, head } = this;
    const shown = head.functions.slice(0, MOST_GRAPHS);
    return [["0", this.title], ...shown.map((/** @type {number} */ row) => [String(row), brief(graph.name(row), 60)])];
  }

  /** @param {string} text @param {number} [milliseconds] that it stays */
  toast(text, milliseconds = 3500) {
    byId("toast").textContent = text;
    byId("toast").classList.remove("bad");
    byId("toast").classList.add("shown");
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => byId("toast").classList.remove("shown"), milliseconds);
  }

  /** @param {any} error */
  damaged(error) {
    if (error instanceof Lost) this.toast(error.message);
    else this.toast(t("damaged", { names: this.graph.blocks.damaged.join(", ") }));
  }

  legend() {
    const { every } = this.paint;
    const rows = !every ? this.paint.legend : this.legendWhole ? every : this.paint.legend.slice(0, -1);
    const told = Object.assign(Object.create(layout.Paint.prototype), this.paint, { legend: rows });
    const shapes = layout.shapes(layout.legend(this.picture.scene, told).map(translated));
    const found = shapes.filter((/** @type {any} */ one) => one.width <= 340).pop() ?? shapes[0];
    const panel = byId("legend");
    empty(panel);
    if (!found || !this.head.options.legend) return;
    const [wide, tall] = [found.width + 4, found.height + 4];
    const details = el("details", { open: this.legendOpen ?? (!narrow.matches && !this.covered(wide + 40, tall + 60)) }, el("summary", {}, t("legend")));
    details.firstChild.addEventListener("click", () => (this.legendOpen = !details.open));
    const svg = svgEl("svg", { width: wide, height: tall, viewBox: `-2 0 ${wide} ${tall}`, role: "group" });
    hatchPattern(svg, this.paint.theme);
    const colours = every ?? rows;
    if (this.onlyKey && !colours.some((/** @type {any} */ one) => one.label === this.onlyKey)) this.keep(""); // of another colouring
    const groups = [...layout.drawn(found, this.paint.theme)];
    const drawn = groups.map((group) => grouped(group, svg));
    const named = rows.filter((/** @type {any} */ one) => one.shape !== "rest");
    if (rows.length) named.forEach((/** @type {any} */ one, /** @type {number} */ at) => this.keyRow(drawn[at + 1], one.label, [...groups[at + 1].at, found.blocks[0].block.column])); // behind the heading
    details.append(svg);
    const left = every ? every.length - rows.length : 0;
    if (every) details.append(el("button", { class: "link", onclick: () => this.legendAll(!this.legendWhole) }, left ? t("and", { n: left }) : t("fewer")));
    panel.append(details);
  }

  /** Let a row of the legend ring its boxes when the pointer is over it, and keep only them when it is clicked.
   * @param {any} element @param {string} label @param {number[]} place where it begins, and how wide it is */
  keyRow(element, label, [x, y, wide]) {
    const ground = svgEl("rect", { class: "ground", x: x - 4, y: y - 1, width: wide + 8, height: KEY_ROW, rx: 4 });
    element.prepend(ground);
    const name = [...element.querySelectorAll("text")].map((one) => one.textContent).join(" ");
    fill(element, { class: "key-row", role: "button", tabindex: "0", "aria-label": name, "aria-pressed": String(this.onlyKey === label), "data-key": label });
    for (const [event, key] of [["pointerenter", label], ["focus", label], ["pointerleave", ""], ["blur", ""]]) {
      element.addEventListener(event, () => {
        this.overKey = key;
        this.lit();
      });
    }
    element.addEventListener("click", () => this.keep(this.onlyKey === label ? "" : label));
    element.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      this.keep(this.onlyKey === label ? "" : label);
    });
  }

  /** Keep only the boxes of which a row of the legend speaks; "": all. @param {string} label */
  keep(label) {
    this.onlyKey = label;
    for (const one of byId("legend").querySelectorAll(".key-row")) one.setAttribute("aria-pressed", String(/** @type {any} */ (one).dataset.key === label && !!label));
    this.lit();
  }

  /** List every colour, or the first ones. @param {boolean} whole */
  legendAll(whole) {
    this.legendWhole = whole;
    this.legendOpen = true;
    this.legend();
    /** @type {any} */ (byId("legend").querySelector(".link")).focus();
  }

  /** Whether a panel at the lower left would lie on a box. @param {number} wide @param {number} tall */
  covered(wide, tall) {
    const { camera } = this;
    const [left, top] = [camera.free()[0][0], camera.size[1] - tall];
    return this.scene.boxes.some((/** @type {any} */ box) => {
      if (box.open && box.parent < 0 && box.width * camera.k > wide) return false;
      const [x, y] = [box.x * camera.k + camera.x, box.y * camera.k + camera.y];
      return !box.open && x < left + wide && y + box.height * camera.k > top && x + box.width * camera.k > left;
    });
  }

  /** The stage has another size: what was fitted is fitted again. */
  resized() {
    const fitted = this.fitted();
    this.camera.measure();
    if (!this.scene) return;
    this.camera.settle();
    if (fitted) this.fit(false);
  }

  moved() {
    this.minimap.moved();
    this.looked = true;
    this.rememberSoon();
  }

  /** A box as it lies on the stage: left, top, right, bottom. @param {any} box @param {number[]} [place] of the camera */
  onStage(box, [x, y, k] = [this.camera.x, this.camera.y, this.camera.k]) {
    return [box.x * k + x, box.y * k + y, (box.x + box.width) * k + x, (box.y + box.height) * k + y];
  }

  /** What lies on the picture at its lower corners. @returns {number[][]} */
  panels() {
    const home = byId("stage").getBoundingClientRect();
    const found = [byId("corner"), byId("legend")].map((one) => one.getBoundingClientRect()).filter((one) => one.width > 0);
    return found.map((one) => [one.left - home.left, one.top - home.top, one.right - home.left, one.bottom - home.top]);
  }

  /** Bring a box into view where it is not, and out from under what lies on the picture. @param {any} box */
  bring(box) {
    const { camera } = this;
    const [[left, right], [top, bottom]] = camera.free();
    const rect = this.onStage(box);
    const inside = rect[0] >= left + 8 && rect[2] <= right - 8 && rect[1] >= top + 8 && rect[3] <= bottom - 8;
    if (inside && camera.k >= NEAR) return box.open ? Promise.resolve() : this.uncover(box);
    return camera.glide(this.clear(box, Math.max(Math.min(camera.k, 1.5), 0.8), 40));
  }

  /** The camera that shows a box as large as it fits, above the minimap where it would lie under it otherwise.
   * @param {any} box @param {number} most @param {number} room */
  clear(box, most, room) {
    const { camera } = this;
    const rect = [box.x, box.y, box.x + box.width, box.y + box.height];
    const to = camera.fitting(rect, most, room);
    if (!this.panels().some((panel) => meet(panel, this.onStage(box, to)))) return to;
    const higher = camera.fitting(rect, most, room, byId("corner").offsetHeight);
    return higher[2] > 0.7 * to[2] ? higher : to;
  }

  /** Move a closed box out from under the card, the minimap and the legend, no further than it takes. @param {any} box */
  uncover(box) {
    return box.open ? Promise.resolve() : this.unhide(this.onStage(box));
  }

  /** Move the picture so that nothing lies over a rectangle of the stage, as far as it has room. @param {number[]} rect */
  unhide(rect) {
    const { camera } = this;
    const [across, along] = camera.free();
    const by = [into(rect[0], rect[2], across), into(rect[1], rect[3], along)];
    for (const panel of this.panels()) {
      const here = rect.map((value, at) => value + by[at % 2]);
      if (!meet(panel, here)) continue;
      const ways = [[0, panel[1] - here[3] - 12], [panel[0] - here[2] - 12, 0], [panel[2] - here[0] + 12, 0]];
      const stays = (/** @type {number[]} */ [dx, dy]) => here[0] + dx >= across[0] && here[2] + dx <= across[1] && here[1] + dy >= along[0];
      const [dx, dy] = ways.filter(stays).sort((one, other) => Math.abs(one[0] + one[1]) - Math.abs(other[0] + other[1]))[0] ?? [0, 0];
      by[0] += dx;
      by[1] += dy;
    }
    return by[0] || by[1] ? camera.glide([camera.x + by[0], camera.y + by[1], camera.k]) : Promise.resolve();
  }

  fit(moving = true) {
    const { scene, camera } = this;
    if (!scene) return Promise.resolve(); // it could not be drawn
    const room = this.stageRoom();
    const whole = [0, 0, scene.width, scene.height];
    const [wide, tall] = camera.size;
    const most = Math.max(1.25, Math.min(wide / 1200, tall / 700)); // a large screen is looked at from further away
    let to = camera.fitting(whole, most, room);
    if (narrow.matches) to = this.aboveButtons(to, (foot) => camera.fitting(whole, most, room, foot));
    else if (this.underCorner(to)) {
      const corner = byId("corner").getBoundingClientRect();
      const aside = [Math.max(camera.free()[0][0] + room, corner.left - room - scene.width * to[2]), to[1], to[2]];
      const higher = camera.fitting(whole, most, room, corner.height);
      if (!this.underCorner(aside)) to = aside;
      else if (higher[2] > 0.7 * to[2]) to = higher;
    }
    this.fitTo = [...to, scene.width, scene.height];
    if (moving) return camera.glide(to);
    camera.set(to[0], to[1], to[2]);
    camera.settle();
    return Promise.resolve();
  }

  /** The camera of a phone, with the picture above the buttons at the foot that would lie on a box otherwise.
   * @param {number[]} to @param {(foot: number) => number[]} fitting */
  aboveButtons(to, fitting) {
    for (let turn = 0; turn < 2; turn++) {
      const places = this.scene.boxes.map((/** @type {any} */ box) => this.onStage(box, to));
      const met = this.panels().filter((panel) => places.some((/** @type {number[]} */ place) => meet(panel, place)));
      const foot = this.camera.size[1] - Math.min(Infinity, ...met.map((panel) => panel[1]));
      if (foot > 0 && foot < this.camera.size[1] / 3) to = fitting(foot);
    }
    return to;
  }

  /** Whether the minimap would lie on a box. @param {number[]} place of the camera */
  underCorner([x, y, k]) {
    const home = byId("corner").getBoundingClientRect();
    const stage = byId("stage").getBoundingClientRect();
    const [left, top] = [home.left - stage.left, home.top - stage.top];
    return this.scene.boxes.some((/** @type {any} */ box) => (box.x + box.width) * k + x > left && (box.y + box.height) * k + y > top);
  }

  stageRoom() {
    return narrow.matches ? 12 : 32;
  }
}

/** A block of the legend in the reader's language; names and numbers stay as they are. @param {any} block */
function translated(block) {
  const said = (/** @type {any} */ one, /** @type {any} */ words) => Object.assign(Object.create(Object.getPrototypeOf(one)), one, words);
  const word = (/** @type {string} */ text) => STRINGS[language][`legend.${text}`] ?? text;
  const entries = block.entries.map((/** @type {any} */ one) => said(one, { label: word(one.label) }));
  return said(block, { heading: word(block.heading), entries });
}

/** Whether two rectangles overlap. @param {number[]} one @param {number[]} other */
const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** How far a run must move to lie within a room, 12 pixels from its ends; never out at the other end.
 * @param {number} from @param {number} to @param {number[]} room */
function into(from, to, [start, end]) {
  const [before, after] = [from - start - 12, end - 12 - to];
  if (after < 0) return -Math.max(0, Math.min(-after, before));
  return before < 0 ? Math.min(-before, after) : 0;
}

/** The words that stand in the page from the beginning, in the reader's language. */
function dressWords() {
  for (const one of document.querySelectorAll("[data-t]")) one.textContent = t(/** @type {any} */ (one).dataset.t);
  for (const one of document.querySelectorAll("[data-t-label]")) {
    const word = t(/** @type {any} */ (one).dataset.tLabel);
    one.setAttribute("aria-label", word);
    if (one.matches(".icon, summary")) one.setAttribute("title", word);
  }
  for (const one of document.querySelectorAll("[data-t-hint]")) one.setAttribute("placeholder", t(/** @type {any} */ (one).dataset.tHint));
}

/** Fill a list. @param {string} id @param {[string, string][]} pairs @param {string} value */
function chooser(id, pairs, value) {
  byId(id).replaceChildren(...pairs.map(([key, word]) => el("option", { value: key }, word)));
  byId(id).value = value;
}
