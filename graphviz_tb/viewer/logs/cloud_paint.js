// Draw points on a canvas: with WebGL in two draw calls for any number of points, else pixel by pixel.

const VERTEX_SHADER = `
attribute vec3 place; attribute vec4 colour; attribute float look; attribute float number;
uniform mat3 turn; uniform vec3 centre; uniform vec2 pan; uniform vec2 side; uniform float unit; uniform float size; uniform float only;
uniform vec2 grid;
varying vec4 shown; varying vec2 corner; varying float ring; varying float back;
void main() {
  vec3 p = turn * (place - centre);
  float k = unit * 3.0 / max(0.3, 3.0 - p.z);
  vec2 at = pan + k * vec2(p.x, -p.y);
  bool hidden = colour.a == 0.0 || (only > 0.5 && look < 1.5);
  gl_Position = hidden ? vec4(9.0, 9.0, 9.0, 1.0) : vec4(2.0 * at.x / side.x, -2.0 * at.y / side.y, clamp(-p.z * 0.4 - (only > 0.5 ? 0.1 : 0.0), -1.0, 1.0), 1.0);
  gl_PointSize = size * (look > 2.5 ? 2.6 : look > 1.5 ? 1.7 : 1.0) * clamp(3.0 / max(0.3, 3.0 - p.z), 0.75, 1.6);
  shown = colour; ring = look > 1.5 ? 1.0 : 0.0; back = look < 0.5 ? 1.0 : 0.0;
  corner = vec2(mod(number, grid.x), floor(number / grid.x));
}`;
const FRAGMENT_SHADER = `
#ifdef GL_FRAGMENT_PRECISION_HIGH
precision highp float;
#else
precision mediump float;
#endif
varying vec4 shown; varying vec2 corner; varying float ring; varying float back;
uniform vec4 edge; uniform vec2 grid; uniform float pictures; uniform sampler2D sprite; uniform vec2 share;
void main() {
  if (pictures > 0.5) {
    vec4 own = texture2D(sprite, (corner + gl_PointCoord) * share);
    vec2 side = abs(gl_PointCoord - 0.5);
    float rim = max(side.x, side.y);
    vec3 inner = back > 0.5 ? mix(own.rgb, shown.rgb, 0.75) : own.rgb;
    gl_FragColor = ring > 0.5 && rim > 0.43 ? edge : vec4(rim > 0.43 ? shown.rgb : inner, 1.0);
    return;
  }
  float far = length(gl_PointCoord - 0.5);
  if (far > 0.5) discard;
  gl_FragColor = ring > 0.5 && far > 0.36 ? edge : vec4(shown.rgb, 1.0);
}`;

const LOOK_SCALES = [1, 1, 1.7, 2.6]; // relative sizes of points by look, as in the shader

/**
 * How points look: a colour of four bytes (alpha 0: not shown); 0 for faded points, 1 and 2 for highlighted ones, 3 for the selected one.
 * @typedef {{colours: Uint8Array, looks: Float32Array, size: number, edge: number[], sprite: CloudSprite | null}} CloudLook
 * @typedef {{image: HTMLImageElement, columns: number, width: number, height: number}} CloudSprite pictures of points, in rows
 */

class GlPainter {
  /** @param {HTMLCanvasElement} canvas @param {WebGLRenderingContext} gl */
  constructor(canvas, gl) {
    this.canvas = canvas;
    this.gl = gl;
    const program = gl.createProgram();
    for (const [kind, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, VERTEX_SHADER], [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]])) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(String(gl.getProgramInfoLog(program)));
    gl.useProgram(program);
    this.uniform = Object.fromEntries(["turn", "centre", "pan", "side", "unit", "size", "only", "grid", "edge", "pictures", "sprite", "share"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.attribute = Object.fromEntries(["place", "colour", "look", "number"].map((name) => [name, gl.getAttribLocation(program, name)]));
    this.buffers = Object.fromEntries(["place", "colour", "look", "number"].map((name) => [name, gl.createBuffer()]));
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    this.n = 0;
    this.hasHighlights = false; // whether some points are highlighted
    this.maxPointSize = gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE)[1];
    this.maxTextureSize = gl.getParameter(gl.MAX_TEXTURE_SIZE);
    this.texture = gl.createTexture();
    /** @type {CloudSprite | null} */
    this.sprite = null;
  }

  /** @param {string} name @param {ArrayBufferView} data @param {number} size @param {number} type @param {boolean} share */
  sendAttribute(name, data, size, type, share) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(this.attribute[name]);
    gl.vertexAttribPointer(this.attribute[name], size, type, share, 0, 0);
  }

  /** @param {CloudPlaces} places */
  setPlaces({ x, y, z, n }) {
    const all = new Float32Array(3 * n);
    const numbers = new Float32Array(n);
    for (let row = 0; row < n; row++) {
      const bad = x[row] !== x[row];
      all[3 * row] = bad ? 9 : x[row];
      all[3 * row + 1] = bad ? 9 : y[row];
      all[3 * row + 2] = bad ? -9 : z[row];
      numbers[row] = row;
    }
    this.n = n;
    this.sendAttribute("place", all, 3, this.gl.FLOAT, false);
    this.sendAttribute("number", numbers, 1, this.gl.FLOAT, false);
  }

  /** @param {CloudLook} look */
  setLook(look) {
    const { gl } = this;
    this.look = look;
    this.hasHighlights = look.looks.some((rank) => rank > 1);
    this.sendAttribute("colour", look.colours, 4, gl.UNSIGNED_BYTE, true);
    this.sendAttribute("look", look.looks, 1, gl.FLOAT, false);
    if (look.sprite === this.sprite) return;
    this.sprite = look.sprite;
    if (!this.sprite) return;
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, this.sprite.image);
    for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.NEAREST], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, key, value);
  }

  /** Whether the pictures of points can be drawn. @param {CloudSprite} sprite */
  canDrawSprite(sprite) {
    return Math.max(sprite.image.naturalWidth, sprite.image.naturalHeight) <= this.maxTextureSize;
  }

  /** @param {CloudView} view @param {number} ratio pixels of the canvas to one of the page */
  paint(view, ratio) {
    const { gl, uniform, look } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!this.n || !look) return;
    gl.uniformMatrix3fv(uniform.turn, false, [0, 3, 6, 1, 4, 7, 2, 5, 8].map((at) => view.rotation[at]));
    gl.uniform3fv(uniform.centre, view.centre);
    gl.uniform2fv(uniform.pan, view.pan);
    gl.uniform2f(uniform.side, view.width, view.height);
    gl.uniform1f(uniform.unit, view.radiusPx);
    gl.uniform1f(uniform.size, Math.min(this.maxPointSize, look.size * ratio));
    gl.uniform4fv(uniform.edge, look.edge);
    gl.uniform1f(uniform.pictures, look.sprite ? 1 : 0);
    const { image, columns = 1, width = 1, height = 1 } = look.sprite ?? {};
    gl.uniform2f(uniform.grid, columns, 1);
    gl.uniform2f(uniform.share, width / (image?.naturalWidth || 1), height / (image?.naturalHeight || 1));
    for (const only of this.hasHighlights ? [0, 1] : [0]) {
      gl.uniform1f(uniform.only, only);
      gl.drawArrays(gl.POINTS, 0, this.n);
    }
  }

  releaseContext() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

/** Without WebGL: discs of pixels, the nearest in front. */
export class PixelPainter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  setPlaces() {}

  /** @param {CloudLook} look */
  setLook(look) {
    this.look = look;
  }

  canDrawSprite() {
    return true;
  }

  /** @param {CloudView} view @param {number} ratio */
  paint(view, ratio) {
    const { canvas, pen, look } = this;
    if (!look || !canvas.width || !canvas.height) return;
    view.sortIntoCells();
    if (look.sprite && view.places.n <= 3000) return this.drawSprites(view, ratio, look, look.sprite);
    if (this.image?.width !== canvas.width || this.image?.height !== canvas.height) {
      this.image = pen.createImageData(canvas.width, canvas.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.depths = new Float32Array(this.pixels.length);
    }
    this.pixels.fill(0);
    this.depths.fill(-Infinity);
    const colours = new Uint32Array(look.colours.buffer, look.colours.byteOffset, view.places.n);
    const edge = new Uint32Array(new Uint8Array(look.edge.map((channel) => 255 * channel)).buffer)[0];
    const discs = LOOK_SCALES.map((swell) => discPixels(Math.max(1, (look.size * ratio * swell) / 2), canvas.width));
    const { looks } = look;
    for (let row = 0; row < view.places.n; row++) {
      if (view.cellOf[row] < 0 || !look.colours[4 * row + 3]) continue;
      const strong = looks[row] > 1;
      this.drawDisc(discs[looks[row]], view.screen[2 * row] * ratio, view.screen[2 * row + 1] * ratio, colours[row], strong ? edge : colours[row], view.depth[row] + (strong ? 9 : 0));
    }
    pen.putImageData(this.image, 0, 0);
  }

  /** @param {Disc} disc @param {number} x @param {number} y of its middle @param {number} colour @param {number} edge @param {number} depth */
  drawDisc({ half, inner, rim }, x, y, colour, edge, depth) {
    const { width, height } = this.canvas;
    const [a, b] = [Math.round(x), Math.round(y)];
    if (a < half || b < half || a >= width - half || b >= height - half) return; // at the border, where half of the disc would wrap around
    const { depths: near, pixels } = this;
    const middle = b * width + a;
    for (let index = 0; index < inner.length; index++) {
      const at = middle + inner[index];
      if (near[at] <= depth) (near[at] = depth), (pixels[at] = colour);
    }
    for (let index = 0; index < rim.length; index++) {
      const at = middle + rim[index];
      if (near[at] <= depth) (near[at] = depth), (pixels[at] = edge);
    }
  }

  /** @param {CloudView} view @param {number} ratio @param {CloudLook} look @param {CloudSprite} sprite */
  drawSprites(view, ratio, look, { image, columns, width, height }) {
    const { canvas, pen } = this;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const order = [...view.depth.keys()].filter((row) => view.cellOf[row] >= 0 && look.colours[4 * row + 3]).sort((a, b) => Number(look.looks[a] > 1) - Number(look.looks[b] > 1) || view.depth[a] - view.depth[b]);
    for (const row of order) {
      const side = look.size * ratio * LOOK_SCALES[look.looks[row]];
      const [x, y] = [view.screen[2 * row] * ratio - side / 2, view.screen[2 * row + 1] * ratio - side / 2];
      pen.globalAlpha = look.looks[row] ? 1 : 0.3;
      pen.drawImage(image, (row % columns) * width, Math.floor(row / columns) * height, width, height, x, y, side, side);
      const own = [...look.colours.subarray(4 * row, 4 * row + 3)];
      pen.strokeStyle = `rgb(${look.looks[row] > 1 ? look.edge.slice(0, 3).map((channel) => 255 * channel) : own})`;
      pen.lineWidth = (look.looks[row] > 1 ? 2.5 : 1.5) * ratio;
      pen.strokeRect(x, y, side, side);
    }
    pen.globalAlpha = 1;
  }

  releaseContext() {}
}

/** @typedef {{half: number, inner: number[], rim: number[]}} Disc the pixels of a round point, as offsets from its centre */

/** @param {number} radius @param {number} width of the canvas @returns {Disc} */
function discPixels(radius, width) {
  const half = Math.ceil(radius);
  /** @type {Disc} */
  const out = { half, inner: [], rim: [] };
  for (let b = -half; b <= half; b++) {
    for (let a = -half; a <= half; a++) {
      const far = Math.hypot(a, b);
      if (far <= radius) (far > radius * 0.72 ? out.rim : out.inner).push(b * width + a);
    }
  }
  return out;
}

/** Whether a graphics card draws, not a software renderer, which is slower than our own pixels. */
function hasGraphicsCard() {
  const gl = document.createElement("canvas").getContext("webgl");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl ? String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return gl !== null && !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** Create a painter for a canvas. @param {HTMLCanvasElement} canvas @returns {GlPainter | PixelPainter} */
export function createCloudPainter(canvas) {
  const gl = hasGraphicsCard() ? canvas.getContext("webgl", { antialias: false, preserveDrawingBuffer: true }) : null;
  return gl ? new GlPainter(canvas, gl) : new PixelPainter(canvas);
}
