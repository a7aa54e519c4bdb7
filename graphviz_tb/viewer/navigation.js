// Targets of the arrow keys and of the zoom keys.

/** The target of an arrow key: along a line in this direction if there is one, else the nearest sibling.
 * @param {any} scene @param {number} at @param {string} way */
export function nextBox(scene, at, way) {
  const { boxes, routes } = scene;
  const middle = (/** @type {any} */ box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = middle(boxes[at]);
  const [dx, dy] = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] }[/** @type {"up"} */ (way)];
  const flow = scene.direction === "BT" || scene.direction === "TB" ? way === "up" || way === "down" : way === "left" || way === "right";
  const linked = new Set();
  if (flow) for (const route of routes) {
    if (route.source === at && route.target >= 0) linked.add(route.target);
    if (route.target === at && route.source >= 0) linked.add(route.source);
  }
  const cost = (/** @type {number} */ other) => {
    const [ox, oy] = middle(boxes[other]);
    const [along, aside] = [(ox - x) * dx + (oy - y) * dy, Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx)];
    return along > 0 ? along + 2 * aside : Infinity;
  };
  const best = (/** @type {number[]} */ list) => list.reduce((one, other) => (cost(other) < (one < 0 ? Infinity : cost(one)) ? other : one), -1);
  const nearest = best([...linked].filter((candidate) => candidate !== at));
  if (nearest >= 0) return nearest;
  return best(boxes.map((/** @type {any} */ box, /** @type {number} */ number) => [box, number]).filter((/** @type {any[]} */ [box, number]) => number !== at && box.parent === boxes[at].parent).map((/** @type {any[]} */ pair) => pair[1]));
}

/** The camera after a zoom about the middle. @param {App} app @param {number} factor */
export function zoomedPlace(app, factor) {
  const { camera } = app.viewport;
  const [wide, tall] = camera.size;
  const [x, y, from] = camera.destination; // the destination, so that a key pressed twice counts twice
  const k = camera.boundedScale(from * factor);
  const share = k / from;
  return [wide / 2 - (wide / 2 - x) * share, tall / 2 - (tall / 2 - y) * share, k];
}
