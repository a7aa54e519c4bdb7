// What is on the screen as a file: the whole picture with title and legend, as `tbgraph render` writes it.

const FONTS = "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif";
const LONGEST_SIDE = 8000; // pixels of a PNG
const [FADED, FADED_TEXT] = ["0.22", "0.75"]; // what a trace leaves aside, as on the screen (style.css)

/** The picture as one SVG document. @param {App} app */
function wholePicture(app) {
  const { scene, paint } = app;
  const select = app.selected ? [app.graph.address(app.selected)] : [];
  const drawing = layout.compose(scene, paint, new layout.Caption(wholeTitle(app), factsLine(app), select), true);
  const { width, height } = drawing;
  const svg = svgEl("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "font-family": FONTS });
  svgEl("title", {}, svg).textContent = safe(drawing.title);
  svgEl("desc", {}, svg).textContent = safe(drawing.summary);
  hatchPattern(svg, paint.theme);
  svgEl("rect", { width, height, fill: drawing.ground }, svg);
  for (const part of drawing.parts) {
    const held = svgEl("g", { transform: `translate(${part.at[0]} ${part.at[1]})` }, svg);
    const traced = part.name === "graph" && app.traced;
    for (const [group, faded] of traced ? tracedGroups(app) : part.groups.map((/** @type {any} */ group) => [group, false])) {
      const one = grouped(group, held);
      if (faded) for (const shape of one.children) shape.setAttribute("opacity", shape.localName === "text" ? FADED_TEXT : FADED);
      if (group.address !== null && group.address !== undefined) one.setAttribute("data-name", safe(group.address));
      if (group.tooltip) {
        const title = document.createElementNS(SVG, "title");
        title.textContent = safe(group.tooltip);
        one.prepend(title);
      }
    }
  }
  return svg;
}

/** The graph while a trace is on: each group, and whether the trace leaves it aside. @param {App} app @returns {Array<[any, boolean]>} */
function tracedGroups(app) {
  const { picture, scene, paint } = app;
  const chosen = app.selected ? picture.boxOf.get(app.graph.address(app.selected)) ?? -1 : -1;
  const lineAt = new Map(scene.routes.map((/** @type {any} */ route, /** @type {number} */ at) => [route, at]));
  const drawn = (/** @type {any} */ item) => {
    const { box, layer, route } = item;
    if (box >= 0 && box === chosen && layer !== "titles") return layout.node(scene, box, paint, scene.boxes[box].open ? [] : picture.inside.get(box) ?? [], new Set([box]));
    if (route && (route.source === chosen || route.target === chosen) && app.onTrace(route.identity)) return layout.route(route, paint.theme, true, paint.tints.routes[lineAt.get(route)]);
    return item.make(0);
  };
  const probe = svgEl("g", {});
  const faded = (/** @type {any} */ item) => {
    app.shed(item, probe);
    return probe.classList.contains("faded");
  };
  const items = LAYERS.flatMap((layer) => picture.items.filter((/** @type {any} */ item) => item.layer === layer && !item.bundle));
  return items.map((/** @type {any} */ item) => [drawn(item), faded(item)]);
}

/** The title, and which step is shown where colours tell what was measured. @param {App} app */
function wholeTitle({ title, head, scheme, at }) {
  const step = at >= 0 ? head.steps[at].split("/").pop() : head.trace;
  return step && head.traced.includes(scheme) ? `${title} · ${step}` : title;
}

/** What stands below the title. @param {App} app */
function factsLine(app) {
  const shown = app.scene.boxes.filter((/** @type {any} */ box) => !box.open).length;
  const { opsThrough: ops, leftOut, verdict } = app.head;
  if (verdict) return `${verdict} · ${counted(shown)} shown`;
  const facts = `${opsCount(ops)} op${ops === 1 ? "" : "s"} · ${counted(shown)} shown · colour: ${app.scheme}`;
  return leftOut ? `${facts} · ${counted(leftOut)} op${leftOut === 1 ? "" : "s"} left out` : facts;
}

/** The hatch of boxes that nothing is known about. @param {Element} svg @param {any} theme */
function hatchPattern(svg, theme) {
  const defs = svgEl("defs", {}, svg);
  const pattern = svgEl("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, defs);
  svgEl("path", { d: "M0 0V6", stroke: theme.stroke, "stroke-width": 1, "stroke-opacity": 0.4 }, pattern);
  return defs;
}

/** @param {App} app */
const svgText = (app) => `${new XMLSerializer().serializeToString(wholePicture(app))}\n`;

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {App} app */
const fileName = (app) => (app.title.replace(/\.[a-z]+$/i, "").replace(/[^\p{L}\p{N}._-]+/gu, "_") || "graph").slice(0, 80);

/** @param {App} app */
function saveSvg(app) {
  download(new Blob([svgText(app)], { type: "image/svg+xml" }), `${fileName(app)}.svg`);
}

/** @param {App} app */
async function savePng(app) {
  const url = URL.createObjectURL(new Blob([svgText(app)], { type: "image/svg+xml" }));
  const image = new Image();
  await new Promise((done, failed) => {
    image.onload = done;
    image.onerror = failed;
    image.src = url;
  });
  let blob = null;
  for (let scale = Math.min(2, LONGEST_SIDE / image.width, LONGEST_SIDE / image.height); !blob && scale > 0.05; scale /= 2) {
    blob = await drawnAt(image, scale); // a phone has less room for a picture: none is given where it does not do
  }
  URL.revokeObjectURL(url);
  if (blob) download(blob, `${fileName(app)}.png`);
}

/** An image as a PNG; null where it is too large for this browser. @param {HTMLImageElement} image @param {number} scale @returns {Promise<Blob | null>} */
function drawnAt(image, scale) {
  const canvas = el("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Put the address of what is shown on the clipboard. @param {App} app */
async function copyLink(app) {
  app.remember();
  byId("share").open = false;
  try {
    if (parent !== window) throw new Error("a frame may not write to the clipboard by itself");
    await navigator.clipboard.writeText(location.href);
  } catch {
    const area = el("textarea", {});
    area.value = location.href;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  app.toast(t("copied"));
}
