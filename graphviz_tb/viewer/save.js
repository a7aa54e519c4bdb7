// What is on the screen as a file: the whole picture with title and legend, as `tbgraph render` writes it.

const FONTS = "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif";
const LONGEST_SIDE = 8000; // pixels of a PNG
const [FADED, FADED_TEXT] = ["0.22", "0.75"]; // what a trace leaves aside, as on the screen (style.css)

/**
 * What a saved picture shows.
 * @typedef {{part: string, title: boolean, legend: boolean, marks: boolean}} Shot `part`: "whole", "screen", or "chosen" for the chosen box alone; `marks`: the + and − of boxes that open
 */
/** @type {Shot} */
const WHOLE = { part: "whole", title: true, legend: true, marks: true };
const SHOT_ROOM = 12; // px around the part of a picture that is saved alone
const TITLE_ROOM = 48; // px that the title of such a part takes

/** A picture as one SVG document. @param {App} app @param {Shot} [shot] */
function wholePicture(app, shot = WHOLE) {
  if (shot.marks) return shot.part === "whole" ? wholeSheet(app, shot) : partSheet(app, shot);
  const opening = app.scene.boxes.filter((/** @type {any} */ box) => box.openable);
  for (const box of opening) box.openable = false;
  try {
    return wholePicture(app, { ...shot, marks: true });
  } finally {
    for (const box of opening) box.openable = true;
  }
}

/** The whole picture, as `tbgraph render` writes it. @param {App} app @param {Shot} shot */
function wholeSheet(app, { title, legend }) {
  const { scene, paint } = app;
  const select = app.selected ? [app.graph.address(app.selected)] : [];
  const drawing = layout.compose(scene, paint, new layout.Caption(title ? wholeTitle(app) : "", title ? factsLine(app) : "", select), legend);
  const { width, height } = drawing;
  const svg = svgDocument(app, width, height, drawing.summary);
  for (const part of drawing.parts) {
    const held = svgEl("g", { transform: `translate(${part.at[0]} ${part.at[1]})` }, svg);
    const traced = part.name === "graph" && app.traced;
    put(held, traced ? drawnItems(app, () => true) : part.groups.map((/** @type {any} */ group) => [group, false]));
  }
  return svg;
}

/** What is on the screen, or the chosen box alone, below the title and above the legend. @param {App} app @param {Shot} shot */
function partSheet(app, { part, title, legend }) {
  const { paint } = app;
  const [[left, top, right, bottom], keep] = part === "chosen" ? chosenPart(app) : screenPart(app);
  const [wide, tall] = [Math.ceil(right - left), Math.ceil(bottom - top)];
  const forms = legend ? layout.shapes(layout.legend(app.scene, paint)) : [];
  const form = forms.filter((/** @type {any} */ one) => one.width <= wide - 2 * SHOT_ROOM).pop() ?? forms[0];
  const head = title ? TITLE_ROOM : 0;
  const width = Math.max(wide, form ? form.width + 2 * SHOT_ROOM : 0, title ? layout.width(wholeTitle(app), 16, true) + 2 * SHOT_ROOM : 0);
  const svg = svgDocument(app, width, head + tall + (form ? form.height + SHOT_ROOM : 0), factsLine(app));
  if (title) {
    svgEl("text", { x: SHOT_ROOM, y: 24, "font-size": 16, "font-weight": 600, fill: paint.theme.text }, svg).textContent = safe(wholeTitle(app));
    svgEl("text", { x: SHOT_ROOM, y: 40, "font-size": 11, fill: paint.theme.secondary }, svg).textContent = safe(factsLine(app));
  }
  const held = svgEl("svg", { x: 0, y: head, width: wide, height: tall, viewBox: `${left} ${top} ${wide} ${tall}` }, svg);
  put(held, drawnItems(app, keep));
  if (form) put(svgEl("g", { transform: `translate(${SHOT_ROOM} ${head + tall})` }, svg), layout.drawn(form, paint.theme).map((/** @type {any} */ group) => [group, false]));
  return svg;
}

/** The part of the picture that is on the screen, and what is drawn of it. @param {App} app @returns {[number[], (item: any) => boolean]} */
function screenPart({ camera, scene }) {
  const { x, y, k, size } = camera;
  const rect = [Math.max(-SHOT_ROOM, -x / k), Math.max(-SHOT_ROOM, -y / k), Math.min(scene.width + SHOT_ROOM, (size[0] - x) / k), Math.min(scene.height + SHOT_ROOM, (size[1] - y) / k)];
  if (rect[0] >= rect[2] || rect[1] >= rect[3]) [rect[2], rect[3]] = [rect[0] + 1, rect[1] + 1]; // nothing of it
  return [rect, (item) => meet(item.rect, rect)];
}

/** The chosen box, and what lies in it. @param {App} app @returns {[number[], (item: any) => boolean]} */
function chosenPart(app) {
  const { boxes } = app.scene;
  const at = app.picture.boxOf.get(app.graph.address(/** @type {Path} */ (app.shownAs))) ?? 0;
  const inside = new Set([at]); // boxes come behind those around them
  boxes.forEach((/** @type {any} */ box, /** @type {number} */ one) => inside.has(box.parent) && inside.add(one));
  const { x, y, width, height } = boxes[at];
  const rect = [x - SHOT_ROOM, y - SHOT_ROOM, x + width + SHOT_ROOM, y + height + SHOT_ROOM];
  const within = (/** @type {number[]} */ one) => one[0] >= rect[0] && one[1] >= rect[1] && one[2] <= rect[2] && one[3] <= rect[3];
  return [rect, (item) => (item.box >= 0 ? inside.has(item.box) : item.stub ? inside.has(item.stub.box) && within(item.rect) : boxes[at].open && within(item.rect))];
}

/** An empty document in the colours of the page. @param {App} app @param {number} width @param {number} height @param {string} summary */
function svgDocument(app, width, height, summary) {
  const svg = svgEl("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "font-family": FONTS });
  svgEl("title", {}, svg).textContent = safe(wholeTitle(app));
  svgEl("desc", {}, svg).textContent = safe(summary);
  hatchPattern(svg, app.paint.theme);
  svgEl("rect", { width, height, fill: app.paint.theme.background }, svg);
  return svg;
}

/** Put groups into a document. @param {any} held @param {Array<[any, boolean]>} groups each, and whether a trace leaves it aside */
function put(held, groups) {
  for (const [group, faded] of groups) {
    const one = grouped(group, held);
    if (faded) for (const shape of one.children) shape.setAttribute("opacity", shape.localName === "text" ? FADED_TEXT : FADED);
    if (group.address !== null && group.address !== undefined) one.setAttribute("data-name", safe(group.address));
    if (!group.tooltip) continue;
    const title = document.createElementNS(SVG, "title");
    title.textContent = safe(group.tooltip);
    one.prepend(title);
  }
}

/** Some of the graph as it is on the screen, from near: each group, and whether a trace leaves it aside. @param {App} app @param {(item: any) => boolean} keep @returns {Array<[any, boolean]>} */
function drawnItems(app, keep) {
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
  const items = LAYERS.flatMap((layer) => picture.items.filter((/** @type {any} */ item) => item.layer === layer && !item.bundle && keep(item)));
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

/** @param {App} app @param {Shot} shot */
const svgText = (app, shot) => `${new XMLSerializer().serializeToString(wholePicture(app, shot))}\n`;

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

/** @param {App} app @param {Shot} shot */
function saveSvg(app, shot) {
  download(new Blob([svgText(app, shot)], { type: "image/svg+xml" }), `${fileName(app)}.svg`);
}

/** @param {App} app @param {Shot} shot */
async function savePng(app, shot) {
  const url = URL.createObjectURL(new Blob([svgText(app, shot)], { type: "image/svg+xml" }));
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

