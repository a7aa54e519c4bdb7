// Save the picture on the screen as a file, with title and legend, as `tbgraph render` writes it.

import { SVG, el, svgEl, visibleText } from "./dom.js";
import { LAYERS } from "./picture.js";
import { groupElement } from "./shapes.js";
import { countWord } from "./strings.js";
import { rectsOverlap } from "./viewport.js";

export const FONTS = "Arimo, Arial, Helvetica, 'Liberation Sans', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif";
const MAX_PNG_SIDE_PX = 8000; // pixels of a PNG
const [FADED_OPACITY, FADED_TEXT_OPACITY] = ["0.22", "0.75"]; // of items outside a trace, as on the screen (style.css)

/**
 * What a saved picture shows.
 * @typedef {{part: string, title: boolean, legend: boolean, marks: boolean}} Shot `part`: "whole", "screen", or "chosen" for only the selected box; `marks`: the + and − of boxes that open
 */
/** @type {Shot} */
const WHOLE_PICTURE = { part: "whole", title: true, legend: true, marks: true };
const SHOT_MARGIN_PX = 12; // margin of a saved part of a picture
const TITLE_HEIGHT_PX = 48; // height of the title of such a part

/** A picture as one SVG document. @param {App} app @param {Shot} [shot] */
export function pictureSvg(app, shot = WHOLE_PICTURE) {
  if (shot.marks) return shot.part === "whole" ? sheetSvg(app, shot) : partSvg(app, shot);
  const opening = app.view.scene.boxes.filter((/** @type {any} */ box) => box.openable);
  for (const box of opening) box.openable = false;
  try {
    return pictureSvg(app, { ...shot, marks: true });
  } finally {
    for (const box of opening) box.openable = true;
  }
}

/** The whole picture, as `tbgraph render` writes it. @param {App} app @param {Shot} shot */
function sheetSvg(app, { title, legend }) {
  const { scene, paint } = app.view;
  const select = app.state.selected ? [app.state.graph.address(app.state.selected)] : [];
  const drawing = layout.compose(scene, paint, new layout.Caption(title ? pictureTitle(app) : "", title ? factsLine(app) : "", select), legend);
  const { width, height } = drawing;
  const svg = svgDocument(app, width, height, drawing.summary);
  for (const part of drawing.parts) {
    const group = svgEl("g", { transform: `translate(${part.at[0]} ${part.at[1]})` }, svg);
    const traced = part.name === "graph" && app.state.traced;
    appendGroups(group, traced ? groupsToSave(app, () => true) : part.groups.map((/** @type {any} */ group) => [group, false]));
  }
  return svg;
}

/** The visible part of the picture, or the selected box alone, with title and legend. @param {App} app @param {Shot} shot */
function partSvg(app, { part, title, legend }) {
  const { paint } = app.view;
  const [[left, top, right, bottom], keep] = part === "chosen" ? chosenBoxPart(app) : screenPart(app);
  const [wide, tall] = [Math.ceil(right - left), Math.ceil(bottom - top)];
  const forms = legend ? layout.shapes(layout.legend(app.view.scene, paint)) : [];
  const form = forms.filter((/** @type {any} */ candidate) => candidate.width <= wide - 2 * SHOT_MARGIN_PX).pop() ?? forms[0];
  const head = title ? TITLE_HEIGHT_PX : 0;
  const width = Math.max(wide, form ? form.width + 2 * SHOT_MARGIN_PX : 0, title ? layout.width(pictureTitle(app), 16, true) + 2 * SHOT_MARGIN_PX : 0);
  const svg = svgDocument(app, width, head + tall + (form ? form.height + SHOT_MARGIN_PX : 0), factsLine(app));
  if (title) {
    svgEl("text", { x: SHOT_MARGIN_PX, y: 24, "font-size": 16, "font-weight": 600, fill: paint.theme.text }, svg).textContent = visibleText(pictureTitle(app));
    svgEl("text", { x: SHOT_MARGIN_PX, y: 40, "font-size": 11, fill: paint.theme.secondary }, svg).textContent = visibleText(factsLine(app));
  }
  const viewport = svgEl("svg", { x: 0, y: head, width: wide, height: tall, viewBox: `${left} ${top} ${wide} ${tall}` }, svg);
  appendGroups(viewport, groupsToSave(app, keep));
  if (form) appendGroups(svgEl("g", { transform: `translate(${SHOT_MARGIN_PX} ${head + tall})` }, svg), layout.drawn(form, paint.theme).map((/** @type {any} */ group) => [group, false]));
  return svg;
}

/** The part of the picture on the screen, and a test for its items. @param {App} app @returns {[number[], (item: any) => boolean]} */
function screenPart(app) {
  const { camera } = app.viewport;
  const { scene } = app.view;
  const { x, y, k, size } = camera;
  const rect = [Math.max(-SHOT_MARGIN_PX, -x / k), Math.max(-SHOT_MARGIN_PX, -y / k), Math.min(scene.width + SHOT_MARGIN_PX, (size[0] - x) / k), Math.min(scene.height + SHOT_MARGIN_PX, (size[1] - y) / k)];
  if (rect[0] >= rect[2] || rect[1] >= rect[3]) [rect[2], rect[3]] = [rect[0] + 1, rect[1] + 1]; // nothing is in view
  return [rect, (item) => rectsOverlap(item.rect, rect)];
}

/** The selected box, and a test for the items inside. @param {App} app @returns {[number[], (item: any) => boolean]} */
function chosenBoxPart(app) {
  const { boxes } = app.view.scene;
  const at = app.view.picture.boxOf.get(app.state.graph.address(/** @type {Path} */ (app.state.hostPath))) ?? 0;
  const inside = new Set([at]); // boxes follow the boxes around them
  boxes.forEach((/** @type {any} */ box, /** @type {number} */ index) => inside.has(box.parent) && inside.add(index));
  const { x, y, width, height } = boxes[at];
  const rect = [x - SHOT_MARGIN_PX, y - SHOT_MARGIN_PX, x + width + SHOT_MARGIN_PX, y + height + SHOT_MARGIN_PX];
  const within = (/** @type {number[]} */ inner) => inner[0] >= rect[0] && inner[1] >= rect[1] && inner[2] <= rect[2] && inner[3] <= rect[3];
  return [rect, (item) => (item.box >= 0 ? inside.has(item.box) : item.stub ? inside.has(item.stub.box) && within(item.rect) : boxes[at].open && within(item.rect))];
}

/** An empty document in the colours of the page. @param {App} app @param {number} width @param {number} height @param {string} summary */
function svgDocument(app, width, height, summary) {
  const svg = svgEl("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "font-family": FONTS });
  svgEl("title", {}, svg).textContent = visibleText(pictureTitle(app));
  svgEl("desc", {}, svg).textContent = visibleText(summary);
  hatchPattern(svg, app.view.paint.theme);
  svgEl("rect", { width, height, fill: app.view.paint.theme.background }, svg);
  return svg;
}

/** Put groups into a document. @param {any} parent @param {Array<[any, boolean]>} groups each, and whether it is outside a trace */
function appendGroups(parent, groups) {
  for (const [group, faded] of groups) {
    const element = groupElement(group, parent);
    if (faded) for (const shape of element.children) shape.setAttribute("opacity", shape.localName === "text" ? FADED_TEXT_OPACITY : FADED_OPACITY);
    if (group.address !== null && group.address !== undefined) element.setAttribute("data-name", visibleText(group.address));
    if (!group.tooltip) continue;
    const title = document.createElementNS(SVG, "title");
    title.textContent = visibleText(group.tooltip);
    element.prepend(title);
  }
}

/** Items of the graph at full detail: each group, and whether it is outside a trace. @param {App} app @param {(item: any) => boolean} keep @returns {Array<[any, boolean]>} */
function groupsToSave(app, keep) {
  const { picture, scene, paint } = app.view;
  const chosen = app.state.selected ? picture.boxOf.get(app.state.graph.address(app.state.selected)) ?? -1 : -1;
  const lineAt = new Map(scene.routes.map((/** @type {any} */ route, /** @type {number} */ at) => [route, at]));
  const drawn = (/** @type {any} */ item) => {
    const { box, layer, route } = item;
    if (box >= 0 && box === chosen && layer !== "titles") return layout.node(scene, box, paint, scene.boxes[box].open ? [] : picture.textsByBox.get(box) ?? [], new Set([box]));
    if (route && (route.source === chosen || route.target === chosen) && app.view.isOnTrace(route.identity)) return layout.route(route, paint.theme, true, paint.tints.routes[lineAt.get(route)]);
    return item.make(0);
  };
  const probe = svgEl("g", {});
  const faded = (/** @type {any} */ item) => {
    app.view.emphasizeElement(item, probe);
    return probe.classList.contains("faded");
  };
  const items = LAYERS.flatMap((layer) => picture.items.filter((/** @type {any} */ item) => item.layer === layer && !item.bundle && keep(item)));
  return items.map((/** @type {any} */ item) => [drawn(item), faded(item)]);
}

/** The title, and the step if the colours are those of measurements. @param {App} app */
function pictureTitle(app) {
  const { title, head, scheme, stepIndex } = app.state;
  const step = stepIndex >= 0 ? head.steps[stepIndex].split("/").pop() : head.trace;
  return step && head.traced.includes(scheme) ? `${title} · ${step}` : title;
}

/** The line below the title. @param {App} app */
function factsLine(app) {
  const shown = app.view.scene.boxes.filter((/** @type {any} */ box) => !box.open).length;
  const { counts, leftOut, verdict } = app.state.head;
  if (verdict) return `${verdict} · ${countWord(shown)} shown`;
  const coloured = app.state.scheme === "structure" ? "" : ` · colour: ${app.state.scheme}`;
  const facts = `${counts}${coloured}`;
  return leftOut ? `${facts} · ${countWord(leftOut)} op${leftOut === 1 ? "" : "s"} left out` : facts;
}

/** The hatching of boxes without a known value. @param {Element} svg @param {any} theme */
export function hatchPattern(svg, theme) {
  const defs = svgEl("defs", {}, svg);
  const pattern = svgEl("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, defs);
  svgEl("path", { d: "M0 0V6", stroke: theme.stroke, "stroke-width": 1, "stroke-opacity": 0.4 }, pattern);
  return defs;
}

/** @param {App} app @param {Shot} shot */
const svgText = (app, shot) => `${new XMLSerializer().serializeToString(pictureSvg(app, shot))}\n`;

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {App} app */
export const fileName = (app) => (app.state.title.replace(/\.[a-z]+$/i, "").replace(/[^\p{L}\p{N}._-]+/gu, "_") || "graph").slice(0, 80);

/** @param {App} app @param {Shot} shot */
export function saveSvg(app, shot) {
  download(new Blob([svgText(app, shot)], { type: "image/svg+xml" }), `${fileName(app)}.svg`);
}

/** @param {App} app @param {Shot} shot */
export async function savePng(app, shot) {
  const url = URL.createObjectURL(new Blob([svgText(app, shot)], { type: "image/svg+xml" }));
  const image = new Image();
  await new Promise((done, failed) => {
    image.onload = done;
    image.onerror = failed;
    image.src = url;
  });
  let blob = null;
  for (let scale = Math.min(2, MAX_PNG_SIDE_PX / image.width, MAX_PNG_SIDE_PX / image.height); !blob && scale > 0.05; scale /= 2) {
    blob = await rasterize(image, scale); // a phone has less memory for a picture: the result is null on failure
  }
  URL.revokeObjectURL(url);
  if (blob) download(blob, `${fileName(app)}.png`);
}

/** An image as a PNG; null where it is too large for this browser. @param {HTMLImageElement} image @param {number} scale @returns {Promise<Blob | null>} */
function rasterize(image, scale) {
  const canvas = el("canvas", { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

