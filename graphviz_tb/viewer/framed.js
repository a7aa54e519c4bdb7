// What stands around the picture: the words of the page, the lists, the legend, messages; and where the camera goes.

const MOST_GRAPHS = 500; // functions that the chooser lists

class Framed extends Standing {
  /** Words and colours of the page. */
  dressPage() {
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = this.theme;
    document.title = `${safe(this.title)} · tbgraph`;
    byId("title").textContent = safe(this.title);
    byId("title").title = safe(this.title);
    for (const one of document.querySelectorAll("[data-t]")) one.textContent = t(/** @type {any} */ (one).dataset.t);
    for (const one of document.querySelectorAll("[data-t-label]")) {
      one.setAttribute("aria-label", t(/** @type {any} */ (one).dataset.tLabel));
      if (one.matches(".icon, summary")) one.setAttribute("title", t(/** @type {any} */ (one).dataset.tLabel));
    }
    for (const one of document.querySelectorAll("[data-t-hint]")) one.setAttribute("placeholder", t(/** @type {any} */ (one).dataset.tHint));
    const options = (/** @type {string} */ id, /** @type {[string, string][]} */ pairs, /** @type {string} */ value) => {
      byId(id).replaceChildren(...pairs.map(([key, word]) => el("option", { value: key }, word)));
      byId(id).value = value;
    };
    options("scheme", this.head.schemes.map((/** @type {string} */ one) => [one, t(`scheme.${one}`)]), this.scheme);
    byId("graph").hidden = !this.head.functions.length;
    options("graph", /** @type {any} */ (this.graphs()), byId("graph").value || "0");
    byId("step").hidden = this.head.steps.length < 2;
    options("step", [["-1", t("allSteps")], ...this.head.steps.map((/** @type {string} */ one, /** @type {number} */ at) => /** @type {[string, string]} */ ([String(at), brief(one.split("/").pop(), 60)]))], String(this.at));
    options("theme", ["system", "light", "dark"].map((one) => [one, t(one)]), this.themeChoice);
    options("language", Object.keys(STRINGS).map((one) => [one, STRINGS[one].languageName]), language);
    this.tracing.draw();
    this.svg.setAttribute("aria-label", t("picture", { name: safe(this.title) }));
    if (!this.defs) this.defs = hatchPattern(this.svg, layout.THEMES.get(this.theme));
    this.defs.querySelector("path").setAttribute("stroke", layout.THEMES.get(this.theme).stroke);
  }

  /** Functions of the file by themselves, each to be gone to. */
  graphs() {
    const { graph, head } = this;
    const shown = head.functions.slice(0, MOST_GRAPHS);
    return [["0", this.title], ...shown.map((/** @type {number} */ row) => [String(row), brief(graph.name(row), 60)])];
  }

  /** @param {string} text */
  toast(text) {
    byId("toast").textContent = text;
    byId("toast").classList.add("shown");
    clearTimeout(this.toasting);
    this.toasting = setTimeout(() => byId("toast").classList.remove("shown"), 3500);
  }

  damaged() {
    this.toast(t("damaged", { names: this.graph.blocks.damaged.join(", ") }));
  }

  legend() {
    const shapes = layout.shapes(layout.legend(this.picture.scene, this.paint));
    const found = shapes.filter((/** @type {any} */ one) => one.width <= 340).pop() ?? shapes[0];
    const panel = byId("legend");
    empty(panel);
    if (!found || !this.head.options.legend) return;
    const [wide, tall] = [found.width + 4, found.height + 4];
    const details = el("details", { open: this.legendOpen ?? (innerWidth >= 700 && !this.covered(wide + 40, tall + 60)) }, el("summary", {}, t("legend")));
    details.firstChild.addEventListener("click", () => (this.legendOpen = !details.open));
    const svg = svgEl("svg", { width: wide, height: tall, viewBox: `-2 0 ${wide} ${tall}`, role: "group" });
    hatchPattern(svg, this.paint.theme);
    for (const group of layout.drawn(found, this.paint.theme)) grouped(group, svg);
    details.append(svg);
    panel.append(details);
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

  moved() {
    this.minimap.moved();
    this.looked = true;
    this.rememberSoon();
  }

  /** @param {any} box */
  bring(box) {
    const { camera } = this;
    const [across, along] = camera.free();
    const rect = [box.x, box.y, box.x + box.width, box.y + box.height];
    const [left, top, right, bottom] = rect.map((value, at) => value * camera.k + (at % 2 ? camera.y : camera.x));
    const inside = left >= across[0] + 8 && right <= across[1] - 8 && top >= along[0] + 8 && bottom <= along[1] - 8;
    if (inside && camera.k >= NEAR) return Promise.resolve();
    const k = Math.max(Math.min(camera.k, 1.5), 0.8);
    const whole = camera.fitting(rect, k, 40);
    return camera.glide(whole);
  }

  /** Move a closed box out from under the card, no further than it takes. @param {any} box */
  uncover(box) {
    const { camera } = this;
    const [across, along] = camera.free();
    const past = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number[]} */ room) => Math.max(0, Math.min(to - room[1] + 12, from - room[0] - 12));
    const [left, top] = [box.x * camera.k + camera.x, box.y * camera.k + camera.y];
    const away = [past(left, left + box.width * camera.k, across), past(top, top + box.height * camera.k, along)];
    if (box.open || !(away[0] || away[1])) return Promise.resolve();
    return camera.glide([camera.x - away[0], camera.y - away[1], camera.k]);
  }

  fit(moving = true) {
    const { scene, camera } = this;
    const room = this.stageRoom();
    const whole = [0, 0, scene.width, scene.height];
    const [wide, tall] = camera.size;
    const most = Math.max(1.25, Math.min(wide / 1200, tall / 700)); // a large screen is looked at from further away
    let to = camera.fitting(whole, most, room);
    if (this.underCorner(to)) {
      const corner = byId("corner").getBoundingClientRect();
      const aside = [Math.max(camera.free()[0][0] + room, corner.left - room - scene.width * to[2]), to[1], to[2]];
      const higher = camera.fitting(whole, most, room, corner.height);
      if (!this.underCorner(aside)) to = aside;
      else if (higher[2] > 0.7 * to[2]) to = higher;
    }
    if (moving) return camera.glide(to);
    camera.set(to[0], to[1], to[2]);
    camera.settle();
    return Promise.resolve();
  }

  /** Whether the minimap would lie on a box. @param {number[]} place of the camera */
  underCorner([x, y, k]) {
    const home = byId("corner").getBoundingClientRect();
    const stage = byId("stage").getBoundingClientRect();
    const [left, top] = [home.left - stage.left, home.top - stage.top];
    return this.scene.boxes.some((/** @type {any} */ box) => (box.x + box.width) * k + x > left && (box.y + box.height) * k + y > top);
  }

  stageRoom() {
    return innerWidth < 700 ? 12 : 32;
  }
}
