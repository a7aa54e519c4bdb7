// The minimap: the whole picture at a small size, with a rectangle for the window that can be dragged.

import { byId, removeChildren, svgEl } from "./dom.js";
import { numberText } from "./shapes.js";

const MIN_VISIBLE_PX = 16; // px of the picture that must be in the window for a reader to see it

export class Minimap {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {HTMLElement} */
    this.panel = byId("minimap");
    this.ground = svgEl("g", { role: "none" }, /** @type {Element} */ (this.panel.querySelector("svg")));
    /** @type {any} a separate element, so that the map is not redrawn when it moves */
    this.window = this.panel.querySelector(".window");
    this.windowSize = "";
    const drag = (/** @type {PointerEvent} */ event) => {
      if (!(event.buttons & 1)) return;
      event.preventDefault();
      const home = this.panel.getBoundingClientRect();
      const { camera } = app.viewport;
      const [wide, tall] = camera.size;
      const x = (event.clientX - home.left - this.at[0]) / this.scale;
      const y = (event.clientY - home.top - this.at[1]) / this.scale;
      camera.motionId++;
      camera.set(wide / 2 - x * camera.k, tall / 2 - y * camera.k, camera.k);
    };
    this.panel.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      this.panel.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.panel.addEventListener("pointermove", drag);
    this.scale = 1;
    this.at = [0, 0];
  }

  /** Draw a scene. @param {any} scene @param {any} paint */
  draw(scene, paint) {
    const [wide, tall] = [180, 120];
    this.scale = Math.min((wide - 12) / Math.max(1, scene.width), (tall - 12) / Math.max(1, scene.height));
    this.at = [(wide - scene.width * this.scale) / 2, (tall - scene.height * this.scale) / 2];
    removeChildren(this.ground);
    const outlines = new Map();
    for (const [at, box] of scene.boxes.entries()) {
      if (box.width * this.scale < 0.7 && box.height * this.scale < 0.7) continue;
      const fill = box.open ? paint.theme.frame_fill(box.depth + 1) : paint.boxes[at].fill;
      const rect = `M${numberText(this.at[0] + box.x * this.scale)} ${numberText(this.at[1] + box.y * this.scale)}h${numberText(Math.max(0.8, box.width * this.scale))}v${numberText(Math.max(0.8, box.height * this.scale))}h${numberText(-Math.max(0.8, box.width * this.scale))}z`;
      const key = `${box.open ? box.depth : 1e6} ${fill}`;
      outlines.set(key, (outlines.get(key) ?? "") + rect);
    }
    for (const key of [...outlines.keys()].sort((a, b) => parseInt(a) - parseInt(b))) {
      svgEl("path", { d: outlines.get(key), fill: key.split(" ")[1], stroke: paint.theme.stroke, "stroke-width": 0.4 }, this.ground);
    }
    this.onMove();
  }

  /** Follow the camera. */
  onMove() {
    const { camera } = this.app.viewport;
    const { scene } = this.app.view;
    const [wide, tall] = camera.size;
    const [left, top, right, bottom] = [camera.x, camera.y, camera.x + (scene?.width ?? 0) * camera.k, camera.y + (scene?.height ?? 0) * camera.k];
    this.panel.classList.toggle("idle", !!scene && left >= -1 && top >= -1 && right <= wide + 1 && bottom <= tall + 1); // everything is in view
    byId("back-button").hidden = !scene || (left < wide - MIN_VISIBLE_PX && top < tall - MIN_VISIBLE_PX && right > MIN_VISIBLE_PX && bottom > MIN_VISIBLE_PX);
    const { style } = this.window;
    const size = [(wide / camera.k) * this.scale, (tall / camera.k) * this.scale].map(numberText);
    if (this.windowSize !== size.join()) [style.width, style.height] = size.map((length) => `${length}px`);
    this.windowSize = size.join();
    style.transform = `translate(${numberText(this.at[0] - (camera.x / camera.k) * this.scale)}px, ${numberText(this.at[1] - (camera.y / camera.k) * this.scale)}px)`;
  }
}
