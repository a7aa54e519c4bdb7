// @ts-nocheck
// Made from the modules named below by `make viewer`; do not edit.
// The same steps on the same integers give the same numbers.

// model.formatting
const BYTE_UNITS = [["B", 1], ["KB", 1024], ["MB", (1024 ** 2)], ["GB", (1024 ** 3)], ["TB", (1024 ** 4)], ["PB", (1024 ** 5)]];
const MICROSECOND_UNITS = [["µs", 1], ["ms", 1000], ["s", 1000000], ["min", 60000000], ["hr", 3600000000], ["days", 86400000000]];
const COUNT_UNITS = [["", 1], ["k", (10 ** 3)], ["M", (10 ** 6)], ["G", (10 ** 9)], ["T", (10 ** 12)], ["P", (10 ** 15)], ["E", (10 ** 18)]];
const MAX_DIVIDED = 1e+308;
function format_count(count) {
  return py_strip(_format_scaled(count, COUNT_UNITS));
}
function format_bytes(count) {
  return _format_scaled(count, BYTE_UNITS);
}
function format_micros(micros) {
  return _format_scaled(micros, MICROSECOND_UNITS);
}
function _format_scaled(value, units) {
  let unit, factor;
  if ((Math.abs(value) > MAX_DIVIDED)) {
    return ("over 1e308 " + String(units[0][0]));
  }
  [unit, factor] = py_next(py_iter((() => { const out = []; for (const pair of py_reversed(units)) if ((Math.abs(value) >= pair[1])) { out.push(pair); } return out; })()), units[0]);
  return (String(_format_significant((value / factor))) + " " + String(unit));
}
function _format_significant(value) {
  let rounded;
  if (!value) {
    return "0";
  }
  rounded = py_float((py_format_g(value, 3)));
  return py_rstrip(py_rstrip((py_format_f(rounded, 12)), "0"), ".");
}
function format_number(value, digits = 4) {
  let size, power, letter, text, mantissa, _, power_text;
  if (!py_isfinite(value)) {
    return ((value !== value) ? "NaN" : (py_truth((py_compare(value, 0) > 0)) ? "∞" : "−∞"));
  }
  size = Math.abs(value);
  if (((10000.0 <= size) && (size < 1000000000000.0))) {
    [power, letter] = py_next(py_iter((() => { const out = []; for (const [p, letter] of [[9, "G"], [6, "M"], [3, "k"]]) if ((size >= (10.0 ** p))) { out.push([p, letter]); } return out; })()));
    text = (py_format_g((value / (10.0 ** power)), digits));
    return (!text.includes("e") ? (String(text) + String(letter)) : text);
  }
  text = (py_format_g(value, digits));
  if (text.includes("e")) {
    [mantissa, _, power_text] = py_partition(text, "e");
    return (String(mantissa) + "e" + String(Number(power_text)));
  }
  return text;
}
function plural_noun(count, noun, nouns = "") {
  return ((count === 1) ? noun : (nouns || (String(noun) + "s")));
}

// limits
const MAX_QUERY_TERMS = 100;

// model.drawing
class Pen {
  constructor(colour, width = 1, dashes = [], cap = "butt", join = "miter") {
    this.colour = colour;
    this.width = width;
    this.dashes = dashes;
    this.cap = cap;
    this.join = join;
  }
}
class Rectangle {
  constructor(x, y, width, height, radius = 0, fill = null, pen = null) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height;
    this.radius = radius;
    this.fill = fill;
    this.pen = pen;
  }
}
class Hatch {
  constructor(x, y, width, height, radius, colour) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height;
    this.radius = radius;
    this.colour = colour;
  }
}
class Disc {
  constructor(x, y, radius, fill, pen = null) {
    this.x = x;
    this.y = y;
    this.radius = radius;
    this.fill = fill;
    this.pen = pen;
  }
}
class Curve {
  constructor(steps, fill = null, pen = null, at = [0, 0], scale = 1) {
    this.steps = steps;
    this.fill = fill;
    this.pen = pen;
    this.at = at;
    this.scale = scale;
  }
}
class Label {
  constructor(content, x, y, size, width, colour, anchor = "start", semibold = false, halo = null) {
    this.content = content;
    this.x = x;
    this.y = y;
    this.size = size;
    this.width = width;
    this.colour = colour;
    this.anchor = anchor;
    this.semibold = semibold;
    this.halo = halo;
  }
}
class Group {
  constructor(shapes, address = null, tooltip = "", data = [], at = [0, 0]) {
    this.shapes = shapes;
    this.address = address;
    this.tooltip = tooltip;
    this.data = data;
    this.at = at;
  }
}
class Section {
  constructor(name, at, groups) {
    this.name = name;
    this.at = at;
    this.groups = groups;
  }
}
class Drawing {
  constructor(width, height, title, summary, ground, parts, points = 0) {
    this.width = width;
    this.height = height;
    this.title = title;
    this.summary = summary;
    this.ground = ground;
    this.parts = parts;
    this.points = points;
  }
  shapes() {
    return [...(() => { const out = []; for (const part of this.parts) for (const group of part.groups) for (const shape of group.shapes) { out.push(shape); } return out; })()];
  }
  replace_shapes(change) {
    let parts, part, groups, group, kept;
    parts = [];
    for (part of this.parts) {
      groups = [];
      for (group of part.groups) {
        kept = [...(() => { const out = []; for (const shape of group.shapes) for (const after of change(shape)) { out.push(after); } return out; })()];
        groups.push(py_replace(group, {shapes: kept}));
      }
      parts.push(py_replace(part, {groups: [...groups]}));
    }
    return py_replace(this, {parts: [...parts]});
  }
}

// model.measure
const UNITS_PER_EM = 2048;
const ELLIPSIS = "…";
const WORDS_DOT = " · ";
const NODE_FONT_PX = 12;
const OP_FONT_PX = 11;
const SMALL_FONT_PX = 10;
const TRAILING_NUMBER = new RegExp("( \u00d7[\\d,]{1,9}|\\[\\d+-\\d+\\]|[_-]?\\d{1,8}|_\\(\\d+\\))$", 'u');
function truncate_middle(text, most) {
  return ((py_len(text) <= most) ? text : (String(py_slice(text, 0, Math.floor(most / 2))) + String(ELLIPSIS) + String(py_slice(text, (py_len(text) - Math.floor((most - 1) / 2))))));
}
function elide_text(text, limit, size, semibold = false, whole_words = true) {
  let room, number, trailing_number, words, shorter, number_width, middle, tail, used, head;
  if ((hand_text_width(text, size, semibold) <= limit)) {
    return text;
  }
  room = (Math.floor((limit * UNITS_PER_EM) / size) - hand_advance_of(ELLIPSIS, semibold));
  number = py_search(TRAILING_NUMBER, text);
  trailing_number = (number ? py_group(number) : "");
  words = (whole_words ? text.split(WORDS_DOT) : []);
  while ((words.length > 1)) {
    py_pop(words);
    shorter = (String(py_join(WORDS_DOT, words)) + String(WORDS_DOT) + String(ELLIPSIS) + String(trailing_number));
    if ((hand_text_width(shorter, size, semibold) <= limit)) {
      return shorter;
    }
  }
  number_width = py_sum((() => { const out = []; for (const char of trailing_number) { out.push(hand_advance_of(char, semibold)); } return out; })());
  if (((number_width * 2) > room)) {
    [trailing_number, number_width] = ["", 0];
  }
  middle = py_slice(text, 0, (py_len(text) - py_len(trailing_number)));
  tail = _tail(middle, Math.floor((room - number_width) / 4), semibold);
  used = (number_width + py_sum((() => { const out = []; for (const char of tail) { out.push(hand_advance_of(char, semibold)); } return out; })()));
  head = _head(py_slice(middle, 0, (py_len(middle) - py_len(tail))), (room - used), semibold);
  return (String(head) + String(ELLIPSIS) + String(tail) + String(trailing_number));
}
function elide_ends(text, head, tail, limit, size) {
  let kept, room, end, begin;
  kept = py_slice(text, head, (py_len(text) - tail));
  room = (Math.floor((limit * UNITS_PER_EM) / size) - py_sum((() => { const out = []; for (const char of kept) { out.push(hand_advance_of(char, false)); } return out; })()));
  room -= (hand_advance_of(ELLIPSIS, false) * ((head > 0) + (tail > 0)));
  if ((room < 0)) {
    return elide_text((head ? (String(ELLIPSIS) + String(kept)) : kept), limit, size);
  }
  end = _tail(py_slice(text, (py_len(text) - tail)), Math.floor(room / 4), false);
  begin = _head(py_slice(text, 0, head), (room - py_sum((() => { const out = []; for (const char of end) { out.push(hand_advance_of(char, false)); } return out; })())), false);
  return ((((begin + ((head > py_len(begin)) ? ELLIPSIS : "")) + kept) + ((tail > py_len(end)) ? ELLIPSIS : "")) + end);
}
function _head(text, room, semibold) {
  let stop, char;
  stop = 0;
  for (char of text) {
    room -= hand_advance_of(char, semibold);
    if ((room < 0)) {
      break;
    }
    stop += 1;
  }
  while ((((0 < stop) && (stop < py_len(text))) && hand_joins_previous_character(text, stop))) {
    stop -= 1;
  }
  return py_slice(text, 0, stop);
}
function _tail(text, room, semibold) {
  let start;
  start = py_len(text);
  while ((start && ((room = (room - hand_advance_of(py_char(text, (start - 1)), semibold))) >= 0))) {
    start -= 1;
  }
  while (((start < py_len(text)) && hand_joins_previous_character(text, start))) {
    start += 1;
  }
  return py_slice(text, start);
}

// model.metagraph
class SingleBundle {
  constructor(tensors = hand_carry_tensors(), flat = null) {
    this.tensors = tensors;
    this.flat = flat;
  }
  carried_tensors(number) {
    return this.tensors;
  }
  flat_edges(number) {
    return this.flat;
  }
}
const EMPTY_BUNDLE = new SingleBundle();
const IMPLIED_LINE = 4;
const WRITTEN_WEIGHTS = 8;
class BundledLine {
  get carried_tensors() {
    return this.bundles.carried_tensors(this.number);
  }
  get flat_edges() {
    return this.bundles.flat_edges(this.number);
  }
}
class Metaedge extends BundledLine {
  constructor(source, target, tensors, control, reference, bundles = EMPTY_BUNDLE, number = 0, back = false, training = 0) {
    super();
    this.source = source;
    this.target = target;
    this.tensors = tensors;
    this.control = control;
    this.reference = reference;
    this.bundles = bundles;
    this.number = number;
    this.back = back;
    this.training = training;
  }
  get kind() {
    return (this.reference ? "reference" : ((this.tensors || this.back) ? "data" : "control"));
  }
  get writes() {
    return (this.training >= WRITTEN_WEIGHTS);
  }
}
class Bridge extends BundledLine {
  constructor(child, other, inbound, tensors, control, reference, drawable = true, bundles = EMPTY_BUNDLE, number = 0, members = [0, 0], training = false) {
    super();
    this.child = child;
    this.other = other;
    this.inbound = inbound;
    this.tensors = tensors;
    this.control = control;
    this.reference = reference;
    this.drawable = drawable;
    this.bundles = bundles;
    this.number = number;
    this.members = members;
    this.training = training;
  }
  with_neighbour_row(other) {
    let counts, bundle;
    [counts, bundle] = [[this.tensors, this.control, this.reference], [this.bundles, this.number]];
    return new Bridge(this.child, other, this.inbound, ...counts, this.drawable, ...bundle, this.members, this.training);
  }
  as_stub(training = false) {
    let counts, bundle;
    [counts, bundle] = [[this.tensors, this.control, this.reference], [this.bundles, this.number]];
    return new Bridge(this.child, this.other, this.inbound, ...counts, false, ...bundle, this.members, training);
  }
  with_member_share(share) {
    let counts, bundle;
    [counts, bundle] = [[this.tensors, this.control, this.reference], [this.bundles, this.number]];
    return new Bridge(this.child, this.other, this.inbound, ...counts, this.drawable, ...bundle, share, this.training);
  }
  get kind() {
    return (this.reference ? "reference" : (this.tensors ? "data" : "control"));
  }
}
class Annotation {
  constructor(child, side, other, kind, edges = 1, control = false, training = false) {
    this.child = child;
    this.side = side;
    this.other = other;
    this.kind = kind;
    this.edges = edges;
    this.control = control;
    this.training = training;
  }
  with_represented_row(other) {
    return new Annotation(this.child, this.side, other, this.kind, this.edges, this.control, this.training);
  }
}
class DrawingMask {
  constructor(in_extract = [], out_extract = [], stubbed = new Set()) {
    this.in_extract = in_extract;
    this.out_extract = out_extract;
    this.stubbed = stubbed;
  }
  get extracted_children() {
    return py_union(new Set(this.in_extract), new Set(this.out_extract));
  }
}
class Metagraph {
  constructor(row, children, units, edges, bridges, mask = new DrawingMask(), automatic = new DrawingMask(), annotations = [], functions = [], loops = [], training = [], surplus = null) {
    this.row = row;
    this.children = children;
    this.units = units;
    this.edges = edges;
    this.bridges = bridges;
    this.mask = mask;
    this.automatic = automatic;
    this.annotations = annotations;
    this.functions = functions;
    this.loops = loops;
    this.training = training;
    this.surplus = surplus;
  }
  own_children() {
    return (() => { const out = []; for (const row of this.children) if (((this.surplus == null) || (row !== this.surplus.member))) { out.push(row); } return out; })();
  }
  get surplus_position() {
    return ((this.surplus == null) ? -1 : py_index(this.children, this.surplus.member));
  }
  core_edges() {
    return (() => { const out = []; for (const index of py_range(this.edges.length)) if (!this.mask.stubbed.has(index)) { out.push(index); } return out; })();
  }
  core_children() {
    let away;
    away = this.mask.extracted_children;
    return (() => { const out = []; for (const position of py_range(this.children.length)) if (!away.has(position)) { out.push(position); } return out; })();
  }
  core_bridges() {
    let away;
    away = this.mask.extracted_children;
    return (() => { const out = []; for (const [index, bridge] of py_enumerate(this.bridges)) if ((bridge.drawable && !away.has(bridge.child))) { out.push(index); } return out; })();
  }
}
const THINNEST_TENTHS = 10;
const THICKEST_TENTHS = 35;

// model.theme
class Theme {
  constructor(name, text, secondary, quiet, background, neutral, op, stroke, frames, main, data, reference, selected, mark, sign, rule, hues) {
    this.name = name;
    this.text = text;
    this.secondary = secondary;
    this.quiet = quiet;
    this.background = background;
    this.neutral = neutral;
    this.op = op;
    this.stroke = stroke;
    this.frames = frames;
    this.main = main;
    this.data = data;
    this.reference = reference;
    this.selected = selected;
    this.mark = mark;
    this.sign = sign;
    this.rule = rule;
    this.hues = hues;
  }
  frame_fill(depth) {
    let first, rest;
    [first, ...rest] = this.frames;
    return ((depth === 0) ? first : rest.at(py_mod((depth - 1), rest.length)));
  }
}
const LIGHT_THEME = new Theme("light", "#1F2328", "#57606A", "#57606A", "#FFFFFF", "#EAEEF2", "#FFFFFF", "#989B9D", ["#FFFFFF", "#F6F8FA", "#EFF2F5"], "#57606A", "#8C959F", "#C2410C", "#0969DA", "#6A737D", "#FFFFFF", "#D0D7DE", ["#77AADD", "#EE8866", "#44BB99", "#FFAABB", "#EEDD88", "#99DDFF", "#BBCC33"]);
const DARK_THEME = new Theme("dark", "#F0F3F6", "#8B949E", "#9DA7B3", "#0D1117", "#30363D", "#161B22", "#787C81", ["#0D1117", "#151B23", "#1C232C"], "#9DA7B3", "#6E7681", "#FB923C", "#58A6FF", "#8B949E", "#0D1117", "#30363D", ["#3B6CAD", "#6D2905", "#277C6A", "#761933", "#7C700A", "#067285", "#5D7640"]);
const THEMES = new Map([["light", LIGHT_THEME], ["dark", DARK_THEME]]);

// model.paths
const CALL_BORDER = "::";
const NAME_ESCAPE = "\\";
const ESCAPED_CHARACTERS = [":", NAME_ESCAPE];
function last_segment(name) {
  return py_rsplit(name, "/", 1).at(-1);
}
function join_address(names) {
  if (((names.length === 1) && py_strip(names[0], NAME_ESCAPE))) {
    return names[0].replaceAll("::", "::::");
  }
  return py_join(CALL_BORDER, py_map(_escape_address_part, names));
}
function _escape_address_part(name) {
  let text, before;
  text = name.replaceAll("::", "::::");
  before = ((text && !ESCAPED_CHARACTERS.includes(py_char(text, 0))) ? "" : NAME_ESCAPE);
  return ((before + text) + ((text && ESCAPED_CHARACTERS.includes(py_char(text, -1))) ? NAME_ESCAPE : ""));
}

// model.scene
class LineIdentity {
  constructor(group = "", kind = "edge", index = -1, source = "", target = "", path = [0]) {
    this.group = group;
    this.kind = kind;
    this.index = index;
    this.source = source;
    this.target = target;
    this.path = path;
  }
}
class Text {
  constructor(x, y, content, full, size, width, role, anchor = "middle", semibold = false, box = -1, inside = false, identities = []) {
    this.x = x;
    this.y = y;
    this.content = content;
    this.full = full;
    this.size = size;
    this.width = width;
    this.role = role;
    this.anchor = anchor;
    this.semibold = semibold;
    this.box = box;
    this.inside = inside;
    this.identities = identities;
  }
}
class Box {
  constructor(address, row, kind, parent, depth, x, y, width, height, open, openable, sheets = 0, connected = false, area = "main", member = "scope", title = "", sign = "", surplus = false, bare = false) {
    this.address = address;
    this.row = row;
    this.kind = kind;
    this.parent = parent;
    this.depth = depth;
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height;
    this.open = open;
    this.openable = openable;
    this.sheets = sheets;
    this.connected = connected;
    this.area = area;
    this.member = member;
    this.title = title;
    this.sign = sign;
    this.surplus = surplus;
    this.bare = bare;
  }
}
class Route {
  constructor(points, kind, source, target, thickness, back = false, arrow = true, frame = -1, title = "", identity = new LineIdentity(), source_port = -1, target_port = -1, main = false, parting = null) {
    this.points = points;
    this.kind = kind;
    this.source = source;
    this.target = target;
    this.thickness = thickness;
    this.back = back;
    this.arrow = arrow;
    this.frame = frame;
    this.title = title;
    this.identity = identity;
    this.source_port = source_port;
    this.target_port = target_port;
    this.main = main;
    this.parting = parting;
  }
}
class Web {
  constructor(kind, frame, sources, targets) {
    this.kind = kind;
    this.frame = frame;
    this.sources = sources;
    this.targets = targets;
  }
}
class Port {
  constructor(x, y, box, kind, count = 1, title = "", group = "", slot = -1, first = true, others = [], bare = false) {
    this.x = x;
    this.y = y;
    this.box = box;
    this.kind = kind;
    this.count = count;
    this.title = title;
    this.group = group;
    this.slot = slot;
    this.first = first;
    this.others = others;
    this.bare = bare;
  }
}
class Stub {
  constructor(x, y, width, height, kind, side, box, other, points, control = false, title = "", identities = []) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height;
    this.kind = kind;
    this.side = side;
    this.box = box;
    this.other = other;
    this.points = points;
    this.control = control;
    this.title = title;
    this.identities = identities;
  }
}
class Separator {
  constructor(x1, y1, x2, y2) {
    this.x1 = x1;
    this.y1 = y1;
    this.x2 = x2;
    this.y2 = y2;
  }
}
class Scene {
  constructor(width, height, direction, boxes, routes, ports, stubs, texts, rules = [], webs = []) {
    this.width = width;
    this.height = height;
    this.direction = direction;
    this.boxes = boxes;
    this.routes = routes;
    this.ports = ports;
    this.stubs = stubs;
    this.texts = texts;
    this.rules = rules;
    this.webs = webs;
  }
}

// model.paint
class RowFill {
  constructor(fill, stroke, text, second, bands = [], badge = "", hatch = false, hued = false, sign = "") {
    this.fill = fill;
    this.stroke = stroke;
    this.text = text;
    this.second = second;
    this.bands = bands;
    this.badge = badge;
    this.hatch = hatch;
    this.hued = hued;
    this.sign = sign;
  }
}
function surplus_fill(theme) {
  return new RowFill(theme.neutral, theme.stroke, theme.text, theme.quiet);
}
class LegendRow {
  constructor(label, fill, shape = "box", more = "", kind = "") {
    this.label = label;
    this.fill = fill;
    this.shape = shape;
    this.more = more;
    this.kind = kind;
  }
}
class LineTint {
  constructor(colour, dashes = [], sign = "", whole = true) {
    this.colour = colour;
    this.dashes = dashes;
    this.sign = sign;
    this.whole = whole;
  }
}
class Paint {
  constructor(theme, scheme, heading, boxes, accounts, stubs, tints, legend) {
    this.theme = theme;
    this.scheme = scheme;
    this.heading = heading;
    this.boxes = boxes;
    this.accounts = accounts;
    this.stubs = stubs;
    this.tints = tints;
    this.legend = legend;
  }
}
class Caption {
  constructor(title, facts, select = []) {
    this.title = title;
    this.facts = facts;
    this.select = select;
  }
}

// model.skeleton
class PortSlot {
  constructor(first, others) {
    this.first = first;
    this.others = others;
  }
}
class Wire {
  constructor(edge, bridge, chain, turned = false) {
    this.edge = edge;
    this.bridge = bridge;
    this.chain = chain;
    this.turned = turned;
  }
}
class Skeleton {
  constructor(children, ports, wires, waypoint, parts, shelves, port_part = -1, main_path_ = [], notices = [], breaks = [], plain = false, falling = []) {
    this.children = children;
    this.ports = ports;
    this.wires = wires;
    this.waypoint = waypoint;
    this.parts = parts;
    this.shelves = shelves;
    this.port_part = port_part;
    this.main_path = main_path_;
    this.notices = notices;
    this.breaks = breaks;
    this.plain = plain;
    this.falling = falling;
  }
  get first_waypoint() {
    return (this.children + this.ports.length);
  }
}
function first_tie(skeleton) {
  let count, start, end, rank;
  count = skeleton.wires.length;
  if (!count) {
    return 0;
  }
  [start, end] = [skeleton.wires.at(-1).chain[0], skeleton.wires.at(-1).chain.at(-1)];
  if ((() => { for (const part of skeleton.parts) for (const row of part) { if ((row.includes(start) && row.includes(end))) return true; } return false; })()) {
    rank = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
    while ((count && py_equal(rank.get(skeleton.wires.at((count - 1)).chain[0]), rank.get(skeleton.wires.at((count - 1)).chain.at(-1))))) {
      count -= 1;
    }
  }
  return count;
}
function capped_wires(skeleton) {
  let rank;
  if (!skeleton.falling.length) {
    return new Set();
  }
  rank = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
  return (() => { const out = new Set(); for (const [number, wire] of py_enumerate(skeleton.wires)) if (((wire.chain.length > 2) && py_equal(rank.get(wire.chain.at(-1)), rank.get(wire.chain.at(-2))))) { out.add(number); } return out; })();
}
function backward_wires(skeleton) {
  let falling, capped;
  falling = new Set(skeleton.falling);
  capped = capped_wires(skeleton);
  return (() => { const out = new Set(); for (const [number, wire] of py_enumerate(skeleton.wires.slice(0, first_tie(skeleton)))) if ((!capped.has(number) && (wire.turned !== falling.has(_flow_child(wire, skeleton))))) { out.add(number); } return out; })();
}
function _flow_child(wire, skeleton) {
  return ((wire.chain[0] < skeleton.children) ? wire.chain[0] : wire.chain.at(-1));
}
const SOURCE_TRAINS = 1;
const TARGET_TRAINS = 2;
const BOTH_ENDS_TRAIN = 3;
function training_items(chains, training) {
  let found, chain, trained, shared;
  found = new Set();
  for ([chain, trained] of py_zip(chains, training)) {
    if (trained) {
      py_add_all(found, chain.slice(1, -1));
      if ((trained !== TARGET_TRAINS)) {
        found.add(chain[0]);
      }
      if ((trained !== SOURCE_TRAINS)) {
        found.add(chain.at(-1));
      }
    }
  }
  shared = (() => { const out = new Set(); for (const [chain, trained] of py_zip(chains, training)) if (!trained) for (const item of chain.slice(1, -1)) { out.add(item); } return out; })();
  return (() => { const out = new Set(); for (const item of found) if (!shared.has(item)) { out.add(item); } return out; })();
}
class LevelGaps {
  constructor(siblings = 16, ranks = 26, labelled = 28, box = 9, edge = 7, parts = 32, spread = 12, start = 11, straight = 10, beyond = 12, column = 20, bar = [0, 0], upward = false, heading = [64, 24]) {
    this.siblings = siblings;
    this.ranks = ranks;
    this.labelled = labelled;
    this.box = box;
    this.edge = edge;
    this.parts = parts;
    this.spread = spread;
    this.start = start;
    this.straight = straight;
    this.beyond = beyond;
    this.column = column;
    this.bar = bar;
    this.upward = upward;
    this.heading = heading;
  }
}
class WireStroke {
  constructor(thick = 10, tip = 1, label = [0, 0], is_main = false) {
    this.thick = thick;
    this.tip = tip;
    this.label = label;
    this.is_main = is_main;
  }
}
class TrainingRule {
  constructor(x, top, bottom, heading) {
    this.x = x;
    this.top = top;
    this.bottom = bottom;
    this.heading = heading;
  }
}
class LevelLayout {
  constructor(positions, ports, routes, width, height, rules = []) {
    this.positions = positions;
    this.ports = ports;
    this.routes = routes;
    this.width = width;
    this.height = height;
    this.rules = rules;
  }
}

// model.view
class NodeLabel {
  constructor(row, address, kind, label, full, second = "", badge = "", openable = false, connected = false, member = "scope", about = "", stacked = false, sign = "", first = "", semibold = false, layers = false, surplus = false, shared = false, printed = false) {
    this.row = row;
    this.address = address;
    this.kind = kind;
    this.label = label;
    this.full = full;
    this.second = second;
    this.badge = badge;
    this.openable = openable;
    this.connected = connected;
    this.member = member;
    this.about = about;
    this.stacked = stacked;
    this.sign = sign;
    this.first = first;
    this.semibold = semibold;
    this.layers = layers;
    this.surplus = surplus;
    this.shared = shared;
    this.printed = printed;
  }
}
class LineWords {
  constructor(label, title) {
    this.label = label;
    this.title = title;
  }
}
class StubWords {
  constructor(kind, label, title, other, control, notes = []) {
    this.kind = kind;
    this.label = label;
    this.title = title;
    this.other = other;
    this.control = control;
    this.notes = notes;
  }
}
class LevelNote {
  constructor(content, full, annotations) {
    this.content = content;
    this.full = full;
    this.annotations = annotations;
  }
}
class LevelWords {
  constructor(seconds = [], titles = [], incoming = [], outgoing = [], notes = [], lines = new Map(), loops = new Map(), ports = []) {
    this.seconds = seconds;
    this.titles = titles;
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.notes = notes;
    this.lines = lines;
    this.loops = loops;
    this.ports = ports;
  }
}
const SMALL_GAPS = 1;
const MIXED_TRAINING = 3;
class View {
  constructor(address, path, metagraph, skeleton, node_labels, opened = new Map(), names = new Map(), labels = new Map(), addresses = new Map(), functions = [], words = new LevelWords(), narrow = 0) {
    this.address = address;
    this.path = path;
    this.metagraph = metagraph;
    this.skeleton = skeleton;
    this.node_labels = node_labels;
    this.opened = opened;
    this.names = names;
    this.labels = labels;
    this.addresses = addresses;
    this.functions = functions;
    this.words = words;
    this.narrow = narrow;
  }
  drawn_lines() {
    return (this.skeleton.plain ? new Map() : (() => { const out = new Map(); for (const wire of this.drawn_wires()) { out.set(wire, this.line_of_wire(wire)); } return out; })());
  }
  line_of_wire(wire) {
    let edge, bridge;
    [edge, bridge] = [this.skeleton.wires.at(wire).edge, this.skeleton.wires.at(wire).bridge];
    return ((edge >= 0) ? this.metagraph.edges.at(edge) : this.metagraph.bridges.at(bridge));
  }
  drawn_wires() {
    let metagraph, away, stubbed, drawn, index, wire, drawable;
    metagraph = this.metagraph;
    [away, stubbed] = [metagraph.mask.extracted_children, metagraph.mask.stubbed];
    drawn = [];
    for ([index, wire] of py_enumerate(this.skeleton.wires)) {
      if (py_intersection(new Set([wire.chain[0], wire.chain.at(-1)]), away).size) {
        continue;
      }
      if ((wire.bridge >= 0)) {
        drawable = metagraph.bridges.at(wire.bridge).drawable;
      }
      else {
        drawable = (!stubbed.has(wire.edge) || metagraph.edges.at(wire.edge).writes);
      }
      if (drawable) {
        drawn.push(index);
      }
    }
    return drawn;
  }
}

// graphs.traversal
function topological_order(after) {
  return _kahn_order(after, []);
}
function _kahn_order(after, otherwise) {
  let missing, targets, target, order, position, node;
  missing = py_repeat([0], after.length);
  for (targets of after) {
    for (target of targets) {
      missing[py_position(missing, target)] += 1;
    }
  }
  order = (() => { const out = []; for (const [node, count] of py_enumerate(missing)) if (!count) { out.push(node); } return out; })();
  position = 0;
  for (node of [null, ...otherwise]) {
    if (((node != null) && missing.at(node))) {
      missing[py_position(missing, node)] = 0;
      order.push(node);
    }
    while ((position < order.length)) {
      for (target of after.at(order.at(position))) {
        if (missing.at(target)) {
          missing[py_position(missing, target)] -= 1;
          if (!missing.at(target)) {
            order.push(target);
          }
        }
      }
      position += 1;
    }
  }
  return order;
}

// graphs.drawing_math
function straighten_polyline(points) {
  let kept, point;
  kept = [];
  for (point of points) {
    if ((kept.length && py_equal(kept.at(-1), point))) {
      continue;
    }
    if (((kept.length > 1) && _is_on_segment(kept.at(-2), kept.at(-1), point))) {
      py_pop(kept);
    }
    kept.push(point);
  }
  return kept;
}
function _is_on_segment(a, b, c) {
  let across, onward;
  across = (((b[0] - a[0]) * (c[1] - b[1])) - ((b[1] - a[1]) * (c[0] - b[0])));
  onward = (((b[0] - a[0]) * (c[0] - b[0])) + ((b[1] - a[1]) * (c[1] - b[1])));
  return ((across === 0) && (onward > 0));
}

// graphs.main_path
const MIN_TRIBUTARY_BOXES = 3;
function main_path(count, edges, weights, boxes) {
  let successors, outgoing, edge, source, target, fed_items, next_edge, best, item, step, after, weight, data, load, length, gain, candidate, current, path;
  successors = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  outgoing = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  for ([edge, [source, target]] of py_enumerate(edges)) {
    if (weights.at(edge)) {
      successors.at(source).push(target);
      outgoing.at(source).push(edge);
    }
  }
  fed_items = (() => { const out = new Set(); for (const [[_, target], weight] of py_zip(edges, weights)) if ((weight > 0)) { out.add(target); } return out; })();
  next_edge = py_repeat([-1], count);
  best = py_repeat([[0, 0, 0]], count);
  for (item of py_reversed(topological_order(successors))) {
    step = ((item < boxes) ? 1 : 0);
    for (edge of outgoing.at(item)) {
      [after, weight] = [edges.at(edge)[1], weights.at(edge)];
      [data, load, length] = best.at(after);
      gain = ((weight > 0) ? step : (fed_items.has(item) ? -step : 0));
      candidate = [(data + gain), (load + Math.max(weight, 0)), (length + 1)];
      if (((next_edge.at(item) < 0) || (py_compare([...candidate, -after], [...best.at(item), -edges.at(next_edge.at(item))[1]]) > 0))) {
        [best[py_position(best, item)], next_edge[py_position(next_edge, item)]] = [candidate, edge];
      }
    }
  }
  current = py_max(py_range(count), {key: (item) => [...best.at(item), -item], default: 0});
  path = [];
  while ((count && (next_edge.at(current) >= 0))) {
    path.push(next_edge.at(current));
    current = edges.at(next_edge.at(current))[1];
  }
  return [...path];
}
function tributaries(edges, weights, boxes, path) {
  let on_path, off_path, local, inner, box_count, found, fed, source_boxes;
  on_path = (() => { const out = new Set(); for (const edge of path) for (const end of edges.at(edge)) { out.add(end); } return out; })();
  off_path = (() => { const out = []; for (const [edge, [source, target]] of py_enumerate(edges)) if ((weights.at(edge) && !(on_path.has(source) || on_path.has(target)))) { out.push(edge); } return out; })();
  if ((py_sum((() => { const out = []; for (const edge of off_path) { out.push((weights.at(edge) > 0)); } return out; })()) < (MIN_TRIBUTARY_BOXES - 1))) {
    return [];
  }
  local = (() => { const out = new Map(); for (const [number, item] of py_enumerate(py_sorted((() => { const out = new Set(); for (const edge of off_path) for (const end of edges.at(edge)) { out.add(end); } return out; })()))) { out.set(item, number); } return out; })();
  inner = (() => { const out = []; for (const edge of off_path) { out.push([local.get(edges.at(edge)[0]), local.get(edges.at(edge)[1])]); } return out; })();
  box_count = py_sum((() => { const out = []; for (const item of local.keys()) { out.push((item < boxes)); } return out; })());
  found = (() => { const out = []; for (const edge of main_path(local.size, inner, (() => { const out = []; for (const edge of off_path) { out.push(weights.at(edge)); } return out; })(), box_count)) { out.push(off_path.at(edge)); } return out; })();
  fed = (() => { const out = new Set(); for (const edge of py_range(edges.length)) if (weights.at(edge)) { out.add(edges.at(edge)[1]); } return out; })();
  source_boxes = (() => { const out = new Set(); for (const edge of found) if (((weights.at(edge) > 0) && (edges.at(edge)[0] < boxes))) { out.add(edges.at(edge)[0]); } return out; })();
  return (((source_boxes.size >= MIN_TRIBUTARY_BOXES) && !fed.has(edges.at(found[0])[0])) ? [...found] : []);
}
function main_paths(skeleton, thick) {
  let part_of, wires, backward, number, wire, main_edges, part_wires, ends, local_of, weights, edges, boxes, main;
  part_of = (() => { const out = new Map(); for (const [number, part] of py_enumerate(skeleton.parts)) for (const row of part) for (const item of row) { out.set(item, number); } return out; })();
  wires = (() => { const out = []; for (const _ of skeleton.parts) { out.push([]); } return out; })();
  backward = backward_wires(skeleton);
  for ([number, wire] of py_enumerate(skeleton.wires)) {
    wires.at(part_of.get(wire.chain[0])).push(number);
  }
  main_edges = [];
  for (part_wires of wires) {
    ends = (() => { const out = []; for (const number of part_wires) { out.push([skeleton.wires.at(number).chain[0], skeleton.wires.at(number).chain.at(-1)]); } return out; })();
    local_of = (() => { const out = new Map(); for (const [index, item] of py_enumerate(py_sorted((() => { const out = new Set(); for (const pair of ends) for (const item of pair) { out.add(item); } return out; })()))) { out.set(item, index); } return out; })();
    weights = (() => { const out = []; for (const number of part_wires) { out.push((backward.has(number) ? 0 : thick.at(number))); } return out; })();
    edges = (() => { const out = []; for (const [source, target] of ends) { out.push([local_of.get(source), local_of.get(target)]); } return out; })();
    boxes = py_sum((() => { const out = []; for (const item of local_of.keys()) { out.push((item < skeleton.children)); } return out; })());
    main = main_path(local_of.size, edges, weights, boxes);
    py_extend(main_edges, (() => { const out = []; for (const edge of [...main, ...tributaries(edges, weights, boxes, main)]) { out.push(part_wires.at(edge)); } return out; })());
  }
  return [...main_edges];
}

// graphs.skyline
const STRIP_PX = 8;
const MAX_LINE_PIECES = 32;
const MANY_LINES = 2000;
const COARSE_LINE_PIECES = 4;
const UNBOUNDED_PX = (1 * 2 ** 20);
class Skyline {
  constructor(lines = 0) {
    let pieces;
    pieces = ((lines < MANY_LINES) ? MAX_LINE_PIECES : COARSE_LINE_PIECES);
    this.rights = new StripHeights(pieces);
    this.bottoms = new StripHeights(pieces);
  }
  add_rect(rect) {
    let left, top, right, bottom;
    [left, top, right, bottom] = rect;
    this.rights.raise_to(top, bottom, right);
    this.bottoms.raise_to(left, right, bottom);
  }
  add_line(points) {
    let across, along;
    [across, along] = [(() => { const out = []; for (const [x, _] of points) { out.push(x); } return out; })(), (() => { const out = []; for (const [_, y] of points) { out.push(y); } return out; })()];
    this.rights.add_line(along, across);
    this.bottoms.add_line(across, along);
  }
  add_ray(point, down) {
    let x, y;
    [x, y] = point;
    if (down) {
      this.bottoms.raise_to(x, x, UNBOUNDED_PX);
    }
    else {
      this.rights.raise_to(y, y, UNBOUNDED_PX);
    }
  }
  right_extent(top, bottom) {
    return this.rights.greatest_height(top, bottom);
  }
  bottom_extent(left, right) {
    return this.bottoms.greatest_height(left, right);
  }
}
class StripHeights {
  constructor(pieces = MAX_LINE_PIECES) {
    this.pieces = pieces;
    this.notes = [];
    this.sorted = 0;
  }
  raise_to(low, high, height) {
    this.notes.push([height, _strip_index(low), _strip_index(high), [], []]);
  }
  add_line(places, heights) {
    let low, high;
    [low, high] = [(py_min(places) - STRIP_PX), (py_max(places) + STRIP_PX)];
    this.notes.push([(py_max(heights) + 1), _strip_index(low), _strip_index(high), places, heights]);
  }
  greatest_height(low, high) {
    let start, stop, found, height, first, last, places, heights;
    if ((this.sorted < this.notes.length)) {
      py_sort(this.notes, {key: (note) => -note[0]});
      this.sorted = this.notes.length;
    }
    [start, stop, found] = [_strip_index(low), _strip_index(high), 0];
    for ([height, first, last, places, heights] of this.notes) {
      if ((height <= found)) {
        break;
      }
      if (((first <= stop) && (start <= last))) {
        found = (places.length ? this.greatest_on_line(places, heights, start, stop, found) : height);
      }
    }
    return found;
  }
  greatest_on_line(places, heights, start, stop, found) {
    let number, begin, end, low, high, first, last, step, place_;
    for (number of py_range(1, places.length)) {
      [begin, end] = [places.at((number - 1)), places.at(number)];
      [low, high] = [heights.at((number - 1)), heights.at(number)];
      [first, last] = ((begin < end) ? [begin, end] : [end, begin]);
      if (((Math.max(low, high) < found) || (_strip_index((last + STRIP_PX)) < start) || (_strip_index((first - STRIP_PX)) > stop))) {
        continue;
      }
      if (((begin === end) || (low === high))) {
        found = Math.max(found, (low + 1), (high + 1));
        continue;
      }
      if (((_strip_index(first) > stop) || (_strip_index(last) < start))) {
        continue;
      }
      step = py_max([STRIP_PX, Math.floor((last - first) / this.pieces)]);
      if (((low < high) === (begin < end))) {
        place_ = Math.min((first + ((Math.floor(((((stop + 1) * STRIP_PX) - 1) - first) / step) + 1) * step)), last);
      }
      else {
        place_ = (start ? Math.max((first + (Math.floor((((start * STRIP_PX) - 1) - first) / step) * step)), first) : first);
      }
      found = py_max([found, ((1 + low) + Math.floor(((high - low) * (place_ - begin)) / (end - begin)))]);
    }
    return found;
  }
}
function _strip_index(place_) {
  return ((place_ > 0) ? Math.floor(place_ / STRIP_PX) : 0);
}

// place.orientation
class FlowTurn {
  constructor(direction, width, height) {
    this.direction = direction;
    this.width = width;
    this.height = height;
  }
  get runs_vertically() {
    return ["BT", "TB"].includes(this.direction);
  }
  get screen_size() {
    return (this.runs_vertically ? [this.width, this.height] : [this.height, this.width]);
  }
  to_screen(point) {
    let across, along;
    [across, along] = point;
    if (["BT", "RL"].includes(this.direction)) {
      along = (this.height - along);
    }
    return (this.runs_vertically ? [across, along] : [along, across]);
  }
  corner_on_screen(point, size) {
    let along;
    along = (this.runs_vertically ? size[1] : size[0]);
    if (["BT", "RL"].includes(this.direction)) {
      return this.to_screen([point[0], (point[1] + along)]);
    }
    return this.to_screen(point);
  }
}
function is_vertical(direction) {
  return ["BT", "TB"].includes(direction);
}
function flow_size(direction, size) {
  return (is_vertical(direction) ? size : py_reversed(size));
}
function upper_flow_side(direction) {
  return py_get(new Map([["TB", true], ["BT", false]]), direction);
}

// place.boxes
const MAX_OP_WIDTH = 180;
const MAX_SCOPE_WIDTH = 200;
const MAX_PRINTED_WIDTH = 248;
const LABEL_PADDING = 12;
const MARK_ROOM = new Map([["op", 24], ["scope", 20]]);
const RANGE_SEPARATOR = " … ";
const WORD_SEPARATORS = "_./-[]";
class BoxName {
  constructor(label, size, side, semibold = false) {
    this.label = label;
    this.size = size;
    this.side = side;
    this.semibold = semibold;
  }
}
function box_names(nodes) {
  let names, alike, number, node, name, group, texts, head, tail, text, label;
  names = (() => { const out = []; for (const node of nodes) { out.push(_box_name(node)); } return out; })();
  alike = new Map();
  for ([number, [node, name]] of py_enumerate(py_zip(nodes, names))) {
    if ((name.label !== _full_box_name(node))) {
      py_setdefault(alike, name.label, []).push(number);
    }
  }
  for (group of alike.values()) {
    texts = (() => { const out = []; for (const number of group) { out.push(_full_box_name(nodes.at(number))); } return out; })();
    if ((new Set(texts).size > 1)) {
      [head, tail] = _common_ends(texts);
      for ([number, text] of py_zip(group, texts)) {
        name = names.at(number);
        label = elide_ends(text, head, tail, (_max_box_width(nodes.at(number)) - (2 * name.side)), name.size);
        names[py_position(names, number)] = new BoxName(label, name.size, name.side, name.semibold);
      }
    }
  }
  return names;
}
function _box_name(node) {
  let op, size, side, name, room;
  op = (_outline_kind(node) === "op");
  size = (op ? OP_FONT_PX : NODE_FONT_PX);
  side = (node.openable ? MARK_ROOM.get((op ? "op" : "scope")) : LABEL_PADDING);
  [name, room] = [_full_box_name(node), (_max_box_width(node) - (2 * side))];
  name = ((hand_text_width(name, size, node.semibold) <= room) ? name : _shorten_range(name));
  return new BoxName(elide_text(name, room, size, node.semibold), size, side, node.semibold);
}
function _full_box_name(node) {
  let name;
  name = hand_replace_unsafe_characters(node.label);
  name = (py_strip(name) ? name : ("“" + String(name) + "”"));
  return (((node.kind === "series") && node.badge) ? (String(name) + " " + String(node.badge)) : name);
}
function _max_box_width(node) {
  if ((_outline_kind(node) === "op")) {
    return MAX_OP_WIDTH;
  }
  return ((node.printed && node.semibold) ? MAX_PRINTED_WIDTH : MAX_SCOPE_WIDTH);
}
function _outline_kind(node) {
  let kind;
  kind = (["series", "fold"].includes(node.kind) ? node.member : node.kind);
  return (["op", "call"].includes(kind) ? "op" : "scope");
}
function _common_ends(names) {
  let first, shortest, head, tail;
  [first, shortest] = [names[0], py_min((() => { const out = []; for (const name of names) { out.push(py_len(name)); } return out; })())];
  head = 0;
  tail = head;
  while (((head < shortest) && (() => { for (const name of names) { if (!(py_char(name, head) === py_char(first, head))) return false; } return true; })())) {
    head += 1;
  }
  while ((head && !WORD_SEPARATORS.includes(py_char(first, (head - 1))))) {
    head -= 1;
  }
  while (((tail < (shortest - head)) && (() => { for (const name of names) { if (!(py_char(name, ((py_len(name) - 1) - tail)) === py_char(first, ((py_len(first) - 1) - tail)))) return false; } return true; })())) {
    tail += 1;
  }
  while ((tail && !WORD_SEPARATORS.includes(py_char(first, (py_len(first) - tail))))) {
    tail -= 1;
  }
  return [head, tail];
}
function _shorten_range(name) {
  let ends, first, last, same, length;
  ends = name.split(RANGE_SEPARATOR);
  if ((ends.length !== 2)) {
    return name;
  }
  [first, last] = ends;
  same = 0;
  length = same;
  while (((length < Math.min(py_len(first), py_len(last))) && (py_char(first, length) === py_char(last, length)))) {
    length += 1;
    if ((WORD_SEPARATORS.includes(py_char(last, (length - 1))) || WORD_SEPARATORS.includes(py_slice(last, length, (length + 1))))) {
      same = length;
    }
  }
  return (((0 < same) && (same < py_len(last))) ? (String(first) + String(RANGE_SEPARATOR) + String(py_slice(last, same))) : name);
}
const SCOPE_HEIGHT = 32;
const MIN_SCOPE_WIDTH = 72;
const OP_HEIGHT = 24;
const MIN_OP_WIDTH = 48;
const THIRD_LINE_PX = 13;
const SIGN_DIAMETER = 18;
const SHEET_OFFSET = 4;
const BADGE_ROOM = 16;
const BASELINE_OFFSET = new Map([[12, 4], [11, 4], [10, 3]]);
class ClosedBox {
  constructor(width, height, sheets, texts, top = 0, sign = "") {
    this.width = width;
    this.height = height;
    this.sheets = sheets;
    this.texts = texts;
    this.top = top;
    this.sign = sign;
  }
  get middle() {
    return Math.floor((this.height + this.top) / 2);
  }
}
function _closed_box(node, name, second) {
  let middle, drawn, kind, stack, two_lines, inner, height, texts;
  if ((node.sign && !second)) {
    middle = Math.floor(SIGN_DIAMETER / 2);
    drawn = _centred_line(middle, middle, node.sign, node.full, NODE_FONT_PX, "label");
    return new ClosedBox(SIGN_DIAMETER, SIGN_DIAMETER, 0, [drawn], undefined, node.sign);
  }
  kind = _outline_kind(node);
  stack = ["series", "fold"].includes(node.kind);
  two_lines = (!!second || ((kind !== "op") && !node.printed));
  [inner, height, texts] = _front_sheet(node, name, kind, hand_replace_unsafe_characters(second), two_lines);
  if (!stack) {
    return new ClosedBox(inner, height, 0, texts);
  }
  if (!node.connected) {
    return new ClosedBox((inner + (2 * SHEET_OFFSET)), height, 2, texts);
  }
  return new ClosedBox(inner, (height + (2 * SHEET_OFFSET)), 2, [...(() => { const out = []; for (const text of texts) { out.push(move_text(text, 0, (2 * SHEET_OFFSET))); } return out; })()], (2 * SHEET_OFFSET));
}
function _front_sheet(node, name, kind, second, two_lines) {
  let least, most, label, size, side, words, wanted, total, height, middle, first, below;
  [least, most] = ((kind === "op") ? [MIN_OP_WIDTH, MAX_OP_WIDTH] : [MIN_SCOPE_WIDTH, MAX_SCOPE_WIDTH]);
  [label, size, side] = [name.label, name.size, name.side];
  words = (second ? (() => { const out = []; for (const word of [second, hand_replace_unsafe_characters(node.first)]) if (word) { out.push(word); } return out; })() : []);
  words = (() => { const out = []; for (const word of words) { out.push(elide_text(word, (most - (2 * BADGE_ROOM)), SMALL_FONT_PX)); } return out; })();
  wanted = [(hand_text_width(label, size, name.semibold) + (2 * side))];
  py_extend(wanted, (() => { const out = []; for (const word of words) { out.push((hand_text_width(word, SMALL_FONT_PX) + (2 * BADGE_ROOM))); } return out; })());
  total = py_max([least, ...wanted]);
  height = (two_lines ? SCOPE_HEIGHT : OP_HEIGHT);
  middle = Math.floor(total / 2);
  if (!words.length) {
    return [total, height, [_centred_line(middle, Math.floor(height / 2), label, node.full, size, "label", name.semibold)]];
  }
  first = _centred_line(middle, 10, label, node.full, size, "label", name.semibold);
  below = (() => { const out = []; for (const [at, word] of py_enumerate(words)) { out.push(_centred_line(middle, (23 + (THIRD_LINE_PX * at)), word, word, SMALL_FONT_PX, "second")); } return out; })();
  return [total, (height + (THIRD_LINE_PX * (words.length - 1))), [first, ...below]];
}
function _centred_line(middle, centre, content, full, size, role, semibold = false) {
  let baseline, wide;
  [baseline, wide] = [(centre + BASELINE_OFFSET.get(size)), hand_text_width(content, size, semibold)];
  return new Text(middle, baseline, content, full, size, wide, role, "middle", semibold, undefined, true);
}
function move_text(text, x, y, box = null) {
  return new Text((text.x + x), (text.y + y), text.content, text.full, text.size, text.width, text.role, text.anchor, text.semibold, ((box == null) ? text.box : box), text.inside, text.identities);
}
const STUB_ROW = 14;
const STUB_LABEL_GAP = 4;
const STUB_LEAD = 18;
const STUB_JOINT = 10;
const RAIL_GAP = 10;
const STUB_SIZES = new Map([["shortcut", [18, 10]], ["constant", [10, 10]], ["summary", [12, 12]], ["weight", [10, 10]], ["more", [0, 10]]]);
const STUB_GAP = 4;
class StubColumn {
  constructor(stubs = [], texts = []) {
    this.stubs = stubs;
    this.texts = texts;
  }
}
function _stub_width(stub) {
  return ((STUB_SIZES.get(stub.kind)[0] + ((stub.kind !== "more") ? STUB_LABEL_GAP : 0)) + hand_text_width(stub.label, SMALL_FONT_PX));
}
function _stub_column_width(column) {
  return (py_max((() => { const out = []; for (const stub of column) { out.push(_stub_width(stub)); } return out; })(), {default: -STUB_LEAD}) + STUB_LEAD);
}
function _stub_column(words, side, middle, edge, reach, off) {
  let top, sign, stubs, texts, index, stub, y, near, rail, line, far;
  top = (middle - Math.floor((STUB_ROW * (words.length - 1)) / 2));
  sign = ((side === "in") ? -1 : 1);
  [stubs, texts] = [[], []];
  for ([index, stub] of py_enumerate(words)) {
    y = (top + (STUB_ROW * index));
    [near, rail] = [(edge + (sign * (STUB_LEAD + off))), (edge + (sign * (STUB_JOINT + off)))];
    line = [[near, y], [edge, y]];
    if (((Math.abs((top - middle)) > reach) && (y !== middle))) {
      line = [[near, y], [rail, y], [rail, middle], [edge, middle]];
    }
    stubs.push(_stub_shape(stub, side, ((sign > 0) ? near : (near - STUB_SIZES.get(stub.kind)[0])), y, line));
    far = (near + (sign * (STUB_SIZES.get(stub.kind)[0] + ((stub.kind !== "more") ? STUB_LABEL_GAP : 0))));
    texts.push(_stub_text(stub, far, y, ((sign > 0) ? "start" : "end")));
  }
  return new StubColumn([...stubs], [...texts]);
}
function _stub_rows_height(words) {
  return (words.length ? ((STUB_ROW * words.length) + STUB_LABEL_GAP) : 0);
}
function _stub_rail(words, side, box, x) {
  let stubs, texts, border, index, stub, away, y, left;
  [stubs, texts] = [[], []];
  border = ((side === "in") ? 0 : box[1]);
  for ([index, stub] of py_enumerate(words)) {
    away = ((STUB_LABEL_GAP + (STUB_ROW * ((side === "in") ? ((words.length - 1) - index) : index))) + Math.floor(STUB_ROW / 2));
    y = ((side === "in") ? (border - away) : (border + away));
    left = (x + RAIL_GAP);
    stubs.push(_stub_shape(stub, side, left, y, [[left, y], [x, y], [x, border]]));
    texts.push(_stub_text(stub, ((left + STUB_SIZES.get(stub.kind)[0]) + ((stub.kind !== "more") ? STUB_LABEL_GAP : 0)), y, "start"));
  }
  return new StubColumn([...stubs], [...texts]);
}
function _stub_shape(stub, side, left, middle, line) {
  let across, along, points, top, notes;
  [across, along] = STUB_SIZES.get(stub.kind);
  points = ((side === "in") ? line : py_reversed(line));
  top = (middle - Math.floor(along / 2));
  notes = [...(() => { const out = []; for (const index of stub.notes) { out.push(new LineIdentity(undefined, "annotation", index)); } return out; })()];
  return new Stub(left, top, across, along, stub.kind, side, -1, stub.other, points, stub.control, stub.title, notes);
}
function _stub_text(stub, x, middle, anchor) {
  let wide, y;
  wide = hand_text_width(stub.label, SMALL_FONT_PX);
  y = (middle + BASELINE_OFFSET.get(SMALL_FONT_PX));
  return new Text(x, y, stub.label, stub.title, SMALL_FONT_PX, wide, "stub", anchor);
}
const HEADING_SIZE = 11;
const HEADING_ROOM = 24;
function heading_text(content, corner) {
  let wide, y;
  wide = hand_text_width(content, HEADING_SIZE, true);
  y = (((corner[1] + Math.floor(HEADING_ROOM / 2)) + BASELINE_OFFSET.get(HEADING_SIZE)) - 6);
  return new Text(corner[0], y, content, content, HEADING_SIZE, wide, "heading", "start", true);
}
const LOOP_ROOM = 16;
class Piece {
  constructor(width, height, x, y, box, sheets = 0, pill = false, texts = [], stubs = [], loop = [], behind = [0, 0], sign = "") {
    this.width = width;
    this.height = height;
    this.x = x;
    this.y = y;
    this.box = box;
    this.sheets = sheets;
    this.pill = pill;
    this.texts = texts;
    this.stubs = stubs;
    this.loop = loop;
    this.behind = behind;
    this.sign = sign;
  }
}
function open_piece(size, node) {
  return new Piece(...size, 0, 0, size, (node.stacked ? 2 : 0), undefined, undefined, undefined, undefined, sheet_margins(node));
}
function sheet_margins(node) {
  if (!node.stacked) {
    return [0, 0];
  }
  return (node.connected ? [0, (2 * SHEET_OFFSET)] : [(2 * SHEET_OFFSET), 0]);
}
function closed_piece(node, name, words, position, upright, least = 0) {
  let shape, texts, pill, make;
  shape = _closed_box(node, name, words.seconds.at(position));
  if ((shape.width < least)) {
    texts = [...(() => { const out = []; for (const text of shape.texts) { out.push(move_text(text, Math.floor((least - shape.width) / 2), 0)); } return out; })()];
    shape = py_replace(shape, {width: least, texts: texts});
  }
  pill = (_outline_kind(node) === "op");
  make = (upright ? _vertical_piece : _horizontal_piece);
  return make(shape, words.incoming.at(position), words.outgoing.at(position), words.loops.has(position), pill);
}
function _vertical_piece(shape, incoming, outgoing, loop, pill) {
  let wide, tall, box, lead, tail, room, stack, height, middle, reach, left, right, y;
  [wide, tall] = [shape.width, shape.height];
  box = [wide, tall];
  lead = (incoming.length ? (_stub_column_width(incoming) + STUB_GAP) : 0);
  tail = (outgoing.length ? (_stub_column_width(outgoing) + STUB_GAP) : 0);
  room = (loop ? LOOP_ROOM : 0);
  stack = (Math.max(incoming.length, outgoing.length) * STUB_ROW);
  height = Math.max(tall, stack);
  middle = shape.middle;
  reach = py_max([0, (Math.floor((tall - shape.top) / 2) - 10)]);
  left = _stub_column(incoming, "in", middle, 0, reach, 0);
  right = _stub_column(outgoing, "out", middle, wide, reach, room);
  y = Math.max(0, (Math.floor(height / 2) - middle));
  return new Piece(((lead + wide) + Math.max((tail + room), room)), Math.max(height, (y + tall)), lead, y, box, shape.sheets, pill, [...[...shape.texts, ...left.texts], ...right.texts], [...left.stubs, ...right.stubs], (loop ? _loop_points(box, middle) : []), undefined, shape.sign);
}
function _horizontal_piece(shape, incoming, outgoing, loop, pill) {
  let wide, tall, box, above, below, room, start, over, under, reach;
  [wide, tall] = [shape.width, shape.height];
  box = [wide, tall];
  [above, below] = [_stub_rows_height(incoming), _stub_rows_height(outgoing)];
  room = (loop ? LOOP_ROOM : 0);
  start = 14;
  over = _stub_rail(incoming, "in", box, start);
  under = _stub_rail(outgoing, "out", box, start);
  reach = py_max((() => { const out = []; for (const stub of [...incoming, ...outgoing]) { out.push(((start + RAIL_GAP) + _stub_width(stub))); } return out; })(), {default: 0});
  return new Piece(Math.max((wide + room), reach), ((above + tall) + below), 0, above, box, shape.sheets, pill, [...[...shape.texts, ...over.texts], ...under.texts], [...over.stubs, ...under.stubs], (loop ? _loop_points(box, shape.middle) : []), undefined, shape.sign);
}
function _loop_points(box, middle) {
  let x, up;
  [x, up] = [box[0], Math.floor(box[1] / 4)];
  return [[x, (middle - up)], [((x + LOOP_ROOM) - 4), (middle - up)], [((x + LOOP_ROOM) - 4), (middle + up)], [x, (middle + up)]];
}
const TITLE_BAR_HEIGHT = 24;
const TITLE_LEFT = 12;
const TITLE_RIGHT = 24;
const TITLE_CLEARANCE = 8;
const NAME_COUNT_GAP = 8;
const MAX_TITLE_WIDTH = 240;
const TITLE_BASELINE = 16;
class TitleBar {
  constructor(texts, shift, width) {
    this.texts = texts;
    this.shift = shift;
    this.width = width;
  }
}
const NO_TITLE_BAR = new TitleBar([], 0, 0);
function lay_out_title(node, count, crossing, wide) {
  let title, name, end, shift, moved, need, start, stop;
  [title, count] = _title_words(node, count);
  name = elide_text(hand_replace_unsafe_characters(title), Math.max(MAX_TITLE_WIDTH, ((wide - TITLE_LEFT) - TITLE_RIGHT)), NODE_FONT_PX, true);
  end = (TITLE_LEFT + hand_text_width(name, NODE_FONT_PX, true));
  shift = Math.max(0, ((end + TITLE_CLEARANCE) - py_min(crossing, {default: (end + TITLE_CLEARANCE)})));
  moved = py_sorted((() => { const out = []; for (const x of crossing) { out.push((x + shift)); } return out; })());
  wide = py_max([(wide + shift), (end + TITLE_RIGHT), ...(() => { const out = []; for (const x of moved) { out.push((x + TITLE_RIGHT)); } return out; })()]);
  if (!count) {
    return new TitleBar([_title_name(node, name)], shift, wide);
  }
  need = hand_text_width(count, SMALL_FONT_PX);
  if (!moved.length) {
    wide = Math.max(wide, (((end + NAME_COUNT_GAP) + need) + TITLE_RIGHT));
  }
  for ([start, stop] of _title_gaps((end + NAME_COUNT_GAP), moved, wide)) {
    if (((stop - start) >= need)) {
      return new TitleBar([_title_name(node, name), _title_count(count, start)], shift, wide);
    }
  }
  if (node.stacked) {
    start = (moved.at(-1) + TITLE_CLEARANCE);
    return new TitleBar([_title_name(node, name), _title_count(count, start)], shift, Math.max(wide, ((start + need) + TITLE_RIGHT)));
  }
  return new TitleBar([_title_name(node, name)], shift, wide);
}
function _title_words(node, count) {
  let name, named;
  name = py_partition(node.second, " · ")[0];
  named = (node.semibold && !node.stacked && (py_len(name) > 0));
  if (!(named && node.full.endsWith(name) && count.startsWith(name))) {
    return [node.label, count];
  }
  return [name, (node.label + py_slice(count, py_len(name)))];
}
function _title_gaps(begin, crossing, wide) {
  let starts, stops;
  starts = [begin, ...(() => { const out = []; for (const x of crossing) { out.push((x + TITLE_CLEARANCE)); } return out; })()];
  stops = [...(() => { const out = []; for (const x of crossing) { out.push((x - TITLE_CLEARANCE)); } return out; })(), (wide - TITLE_RIGHT)];
  return [...py_zip(starts, stops)];
}
function _title_name(node, name) {
  let wide;
  wide = hand_text_width(name, NODE_FONT_PX, true);
  return new Text(TITLE_LEFT, TITLE_BASELINE, name, node.full, NODE_FONT_PX, wide, "title", "start", true, undefined, true);
}
function _title_count(count, x) {
  return new Text(x, TITLE_BASELINE, count, count, SMALL_FONT_PX, hand_text_width(count, SMALL_FONT_PX), "count", "start", undefined, undefined, true);
}

// place.attachment
const CORNER_MARGIN_of_attachment = 8;
const MIN_LINES_TO_JOIN = 4;
const NO_ENDS = new Set();
const MIN_LINE_DISTANCE = 8;
class LineEnds {
  constructor(anchors, sides, entries) {
    this.anchors = anchors;
    this.sides = sides;
    this.entries = entries;
  }
}
function downward_chains(skeleton) {
  return (() => { const out = []; for (const wire of skeleton.wires) { out.push((wire.turned ? py_reversed(wire.chain) : wire.chain)); } return out; })();
}
function attach_lines(skeleton, chains, sizes, gaps, buses = [], absent = NO_ENDS) {
  let place_, main, sides, capped, wire, chain, end, item, other, trunk, side, offsets, wires, keys, middle, kinds, slots, places, key, slot;
  place_ = (() => { const out = new Map(); for (const part of skeleton.parts) for (const row of part) for (const [number, item] of py_enumerate(row)) { out.set(item, number); } return out; })();
  main = new Set(skeleton.main_path);
  sides = new TupleMap();
  capped = capped_wires(skeleton);
  for ([wire, chain] of py_enumerate(chains)) {
    for ([end, item, other] of [[0, chain[0], chain[1]], [1, chain.at(-1), chain.at(-2)]]) {
      if (((item < skeleton.children) && !absent.has(((2 * wire) + end)))) {
        trunk = ((other >= skeleton.children) ? -1 : wire);
        side = (capped.has(wire) ? 0 : end);
        py_setdefault(py_setdefault(sides, [item, side], new TupleMap()), [place_.get(other), trunk], []).push(wire);
      }
    }
  }
  offsets = (() => { const out = []; for (const _ of chains) { out.push([0, 0]); } return out; })();
  for ([[item, end], wires] of sides.entries()) {
    keys = py_sorted(wires.keys());
    middle = py_next(py_iter((() => { const out = []; for (const [number, key] of py_enumerate(keys)) if (py_intersection(main, wires.get(key)).size) { out.push(number); } return out; })()), -1);
    kinds = (() => { const out = []; for (const key of keys) { out.push(((buses.length && end) ? buses.at(wires.get(key)[0]) : -1)); } return out; })();
    slots = _shared_slots(kinds, middle);
    middle = ((middle >= 0) ? slots.at(middle) : -1);
    places = _side_places(sizes.at(item)[0], (slots.at(-1) + 1), gaps.spread, middle);
    for ([key, slot] of py_zip(keys, slots)) {
      for (wire of wires.get(key)) {
        offsets.at(wire)[py_position(offsets.at(wire), ((chains.at(wire).at(-1) === item) ? 1 : 0))] = places.at(slot);
      }
    }
  }
  return (() => { const out = []; for (const [upper, lower] of offsets) { out.push([upper, lower]); } return out; })();
}
function _shared_slots(kinds, middle) {
  let join, slots, number, kind, same;
  join = ((middle >= 0) || (kinds.length >= MIN_LINES_TO_JOIN));
  slots = [];
  for ([number, kind] of py_enumerate(kinds)) {
    same = (join && (number && ((kind >= 0) && ((kind === kinds.at((number - 1))) && ((middle !== number) && (middle !== (number - 1)))))));
    slots.push((number ? (slots.at(-1) + (py_truth(same) ? 0 : 1)) : 0));
  }
  return slots;
}
function _side_places(width, count, step, middle = -1) {
  let most, room, start;
  most = Math.max(middle, ((count - 1) - middle));
  if (((middle >= 0) && ((most * MIN_LINE_DISTANCE) <= (Math.floor(width / 2) - CORNER_MARGIN_of_attachment)))) {
    step = (most ? py_min([step, Math.floor((Math.floor(width / 2) - CORNER_MARGIN_of_attachment) / most)]) : 0);
    return (() => { const out = []; for (const place_ of py_range(count)) { out.push((Math.floor(width / 2) + ((place_ - middle) * step))); } return out; })();
  }
  if ((count > 1)) {
    room = Math.max((width - (2 * CORNER_MARGIN_of_attachment)), Math.floor(width / 2), 0);
    step = py_min([step, Math.floor(room / (count - 1))]);
  }
  start = (Math.floor(width / 2) - Math.floor(((count - 1) * step) / 2));
  return (() => { const out = []; for (const place_ of py_range(count)) { out.push((start + (place_ * step))); } return out; })();
}
const FRAME_CORNER_INSET = 8;
function line_anchors(view, pieces, gates, ports, direction, gaps, absent = NO_ENDS) {
  let skeleton, upright, boxes, touches, anchors, sides, index, wire, touch, end, child, piece, _, ends, end_ports, port_places, order, width, number, x;
  [skeleton, upright] = [view.skeleton, is_vertical(direction)];
  boxes = (() => { const out = []; for (const piece of pieces.slice(0, skeleton.children)) { out.push(flow_size(direction, piece.box)); } return out; })();
  touches = attach_lines(skeleton, downward_chains(skeleton), boxes, gaps, (() => { const out = []; for (const wire of skeleton.wires) { out.push(_bus_number(view, wire)); } return out; })(), absent);
  anchors = new TupleMap();
  sides = new TupleMap();
  for ([index, wire] of py_enumerate(skeleton.wires)) {
    touch = (wire.turned ? py_reversed(touches.at(index)) : touches.at(index));
    for ([end, child] of py_enumerate([wire.chain[0], wire.chain.at(-1)])) {
      if ((child < skeleton.children)) {
        piece = pieces.at(child);
        anchors.set([index, end], (touch.at(end) + (upright ? piece.x : piece.y)));
        if (gates.has(child)) {
          py_setdefault(sides, [child, _is_at_first_side(skeleton, wire, end)], []).push([index, end]);
        }
      }
    }
  }
  for ([[child, _], ends] of sides.entries()) {
    end_ports = (() => { const out = []; for (const [index, end] of ends) { out.push(port_at_end(view, index, end, gates)); } return out; })();
    port_places = (() => { const out = []; for (const gate of end_ports) { out.push(((gate == null) ? null : ports.get(child).at(gate).at((upright ? 0 : 1)))); } return out; })();
    order = py_sorted(py_range(ends.length), {key: (number) => [anchors.get(ends.at(number)), ends.at(number)]});
    width = boxes.at(child)[0];
    for ([number, x] of py_zip(order, _fill_places((() => { const out = []; for (const number of order) { out.push(port_places.at(number)); } return out; })(), width, gaps.spread))) {
      anchors.set(ends.at(number), x);
    }
  }
  return anchors;
}
function _bus_number(view, wire) {
  let line;
  line = ((wire.bridge >= 0) ? view.metagraph.bridges.at(wire.bridge) : view.metagraph.edges.at(wire.edge));
  if ((wire.turned || (line.kind === "reference"))) {
    return -1;
  }
  return ((line.kind === "control") ? 1 : 0);
}
function _fill_places(ports, width, step) {
  let start, placed, following, after, number, before, gap;
  if ((() => { for (const port of ports) { if (!(port == null)) return false; } return true; })()) {
    start = (Math.floor(width / 2) - Math.floor(((ports.length - 1) * step) / 2));
    return (() => { const out = []; for (const number of py_range(ports.length)) { out.push(_clear_of_corners((start + (number * step)), width)); } return out; })();
  }
  placed = (() => { const out = []; for (const port of ports) { out.push(((port == null) ? 0 : port)); } return out; })();
  [following, after] = [py_repeat([-1], ports.length), -1];
  for (number of py_range((ports.length - 1), -1, -1)) {
    following[py_position(following, number)] = after;
    after = ((ports.at(number) == null) ? after : number);
  }
  before = -1;
  for (number of py_range(ports.length)) {
    after = following.at(number);
    if ((ports.at(number) != null)) {
      before = number;
    }
    else {
      if ((before < 0)) {
        placed[py_position(placed, number)] = _clear_of_corners((placed.at(after) - ((after - number) * step)), width);
      }
      else {
        if ((after < 0)) {
          placed[py_position(placed, number)] = _clear_of_corners((placed.at(before) + ((number - before) * step)), width);
        }
        else {
          gap = (placed.at(after) - placed.at(before));
          placed[py_position(placed, number)] = (placed.at(before) + Math.floor((gap * (number - before)) / (after - before)));
        }
      }
    }
  }
  return placed;
}
function _clear_of_corners(x, width) {
  return Math.max(Math.min(x, (width - FRAME_CORNER_INSET)), Math.min(FRAME_CORNER_INSET, Math.floor(width / 2)));
}
function _is_at_first_side(skeleton, wire, end) {
  let falls;
  falls = ((skeleton.falling.length > 0) && skeleton.falling.includes(wire.chain.at((end ? -1 : 0))));
  return (!!end !== (wire.turned || falls));
}
function port_at_end(view, index, end, gates) {
  let wire, inner, other, edge;
  wire = view.skeleton.wires.at(index);
  inner = py_get(gates, wire.chain.at((end ? -1 : 0)));
  if ((inner == null)) {
    return null;
  }
  if ((wire.bridge >= 0)) {
    other = view.metagraph.bridges.at(wire.bridge).other;
  }
  else {
    edge = view.metagraph.edges.at(wire.edge);
    other = view.metagraph.children.at((end ? edge.source : edge.target));
  }
  return py_get(inner, [other, !!end, _is_at_first_side(view.skeleton, wire, end)]);
}
function port_gates(view) {
  return (() => { const out = new TupleMap(); for (const [port, slot] of py_enumerate(view.skeleton.ports)) for (const other of slot.others) { out.set([...other, slot.first], port); } return out; })();
}
function border_point(piece, corner, point, upright) {
  let left, top, right, bottom, high, dent, near;
  [left, top] = [(corner[0] + piece.x), (corner[1] + piece.y)];
  [right, bottom] = [((left + piece.box[0]) - piece.behind[0]), (top + piece.box[1])];
  top += piece.behind[1];
  if (upright) {
    high = (Math.abs((point[1] - corner[1])) <= Math.abs(((point[1] - corner[1]) - piece.height)));
    dent = _pill_inset(piece, Math.min((point[0] - left), (right - point[0])));
    return [point[0], (high ? (top + dent) : (bottom - dent))];
  }
  near = (Math.abs((point[0] - corner[0])) <= Math.abs(((point[0] - corner[0]) - piece.width)));
  dent = _pill_inset(piece, Math.min((point[1] - top), (bottom - point[1])));
  return [(near ? (left + dent) : (right - dent)), point[1]];
}
function _pill_inset(piece, inset) {
  let radius;
  radius = Math.min(12, Math.floor(piece.box[1] / 2));
  if ((!piece.pill || (inset >= radius))) {
    return 0;
  }
  return (radius - py_isqrt(((radius * radius) - ((radius - Math.max(inset, 0)) ** 2))));
}

// place.tracks
const TRACK_PITCH = 16;
const MAX_SPACED_TRACKS = 4;
const DENSE_TRACK_GAP = 8;
const MIN_VERTICAL_GAP = 8;
const MIN_END_GAP = 12;
const MAX_ORDERED_NETS = 40;
const OVERLAP_COST = 1000;
class RankHop {
  constructor(wire, step, start, end, thick, upper = -1, lower = -1, track = -1, middle = 0, last = -1) {
    this.wire = wire;
    this.step = step;
    this.start = start;
    this.end = end;
    this.thick = thick;
    this.upper = upper;
    this.lower = lower;
    this.track = track;
    this.middle = middle;
    this.last = last;
  }
}
class Net {
  constructor(hops, starts, ends, low, high, second = false, track = 0) {
    this.hops = hops;
    this.starts = starts;
    this.ends = ends;
    this.low = low;
    this.high = high;
    this.second = second;
    this.track = track;
  }
}
class NetOrder {
  constructor(below = [], above = [], balance = []) {
    this.below = below;
    this.above = above;
    this.balance = balance;
  }
}
function assign_tracks(hops) {
  let nets, net, hop;
  nets = _hop_nets(hops);
  if (!nets.length) {
    return 0;
  }
  if ((nets.length > MAX_ORDERED_NETS)) {
    nets = (() => { const out = []; for (const net of nets) for (const half of _split_net_by_direction(net)) { out.push(half); } return out; })();
    _assign_tracks_in_one_pass(nets);
  }
  else {
    nets = _split_swapping_nets(nets, hops);
    _assign_tracks_in_order(_order_nets(nets));
  }
  for (net of nets) {
    for (hop of net.hops) {
      if (net.second) {
        hop.last = net.track;
      }
      else {
        hop.track = net.track;
      }
    }
  }
  return (1 + py_max((() => { const out = []; for (const hop of hops) { out.push(Math.max(hop.track, hop.last)); } return out; })()));
}
function _hop_nets(hops) {
  let leaving, arriving, hop, nets, number, out, into, key, low, high, net;
  leaving = new TupleMap();
  arriving = new TupleMap();
  for (hop of hops) {
    if ((hop.upper >= 0)) {
      leaving.set([hop.upper, hop.start], (py_get(leaving, [hop.upper, hop.start], 0) + 1));
      arriving.set([hop.lower, hop.end], (py_get(arriving, [hop.lower, hop.end], 0) + 1));
    }
  }
  nets = new TupleMap();
  for ([number, hop] of py_enumerate(hops)) {
    if ((hop.start === hop.end)) {
      continue;
    }
    [out, into] = [py_get(leaving, [hop.upper, hop.start], 1), py_get(arriving, [hop.lower, hop.end], 1)];
    key = [0, number, 0];
    if (((out > 1) && (out >= into))) {
      key = [1, hop.upper, hop.start];
    }
    else {
      if ((into > 1)) {
        key = [2, hop.lower, hop.end];
      }
    }
    [low, high] = [Math.min(hop.start, hop.end), Math.max(hop.start, hop.end)];
    net = py_get(nets, key);
    if ((net == null)) {
      nets.set(key, new Net([hop], [hop.start], [hop.end], low, high));
      continue;
    }
    net.hops.push(hop);
    [net.low, net.high] = [Math.min(net.low, low), Math.max(net.high, high)];
    if (!net.starts.slice(-1).includes(hop.start)) {
      net.starts.push(hop.start);
    }
    if (!net.ends.slice(-1).includes(hop.end)) {
      net.ends.push(hop.end);
    }
  }
  return [...nets.values()];
}
function _split_net_by_direction(net) {
  let parts, sign, hops, starts, ends;
  parts = [];
  for (sign of [1, -1]) {
    hops = (() => { const out = []; for (const hop of net.hops) if ((((hop.end - hop.start) * sign) > 0)) { out.push(hop); } return out; })();
    if (hops.length) {
      [starts, ends] = [(() => { const out = []; for (const hop of hops) { out.push(hop.start); } return out; })(), (() => { const out = []; for (const hop of hops) { out.push(hop.end); } return out; })()];
      parts.push(new Net(hops, starts, ends, py_min([...starts, ...ends]), py_max([...starts, ...ends])));
    }
  }
  return parts;
}
function _assign_tracks_in_one_pass(nets) {
  let base, sign, spans, starts, tracks, most, low, high, net, first_met;
  base = 0;
  for (sign of [1, -1]) {
    spans = (() => { const out = []; for (const net of nets) if ((((net.ends[0] - net.starts[0]) * sign) > 0)) { out.push([((sign > 0) ? [net.low, net.high] : [-net.high, -net.low]), net]); } return out; })();
    py_sort(spans, {key: (span) => [-span[0][0], -span[0][1], span[1].hops[0].wire]});
    starts = [];
    tracks = [];
    most = base;
    for ([[low, high], net] of spans) {
      first_met = py_bisect_right(starts, (-(high + MIN_END_GAP) - 1));
      net.track = ((first_met < tracks.length) ? (tracks.at(first_met) + 1) : base);
      most = Math.max(most, (net.track + 1));
      while ((tracks.length && (tracks.at(-1) <= net.track))) {
        py_pop(starts);
        py_pop(tracks);
      }
      starts.push(-low);
      tracks.push(net.track);
    }
    base = most;
  }
}
function _split_swapping_nets(nets, hops) {
  let parts, first, second, one, other, cut, middle, hop, halfway;
  parts = new Map();
  for ([first, second] of _index_pairs(nets.length)) {
    [one, other] = [nets.at(first), nets.at(second)];
    if ((parts.has(first) || parts.has(second) || !(_do_verticals_collide(one, other) && _do_verticals_collide(other, one)))) {
      continue;
    }
    cut = ((one.hops.length === 1) ? first : second);
    middle = _free_middle(one, other, hops);
    if (((nets.at(cut).hops.length > 1) || !(((nets.at(cut).low + MIN_VERTICAL_GAP) < middle) && (middle < (nets.at(cut).high - MIN_VERTICAL_GAP))))) {
      continue;
    }
    [hop] = nets.at(cut).hops;
    hop.middle = middle;
    halfway = [new Net([hop], [hop.start], [middle], Math.min(hop.start, middle), Math.max(hop.start, middle))];
    halfway.push(new Net([hop], [middle], [hop.end], Math.min(hop.end, middle), Math.max(hop.end, middle), true));
    parts.set(cut, halfway);
  }
  return (() => { const out = []; for (const [number, net] of py_enumerate(nets)) for (const part of py_get(parts, number, [net])) { out.push(part); } return out; })();
}
function _index_pairs(count) {
  return (() => { const out = []; for (const first of py_range(count)) for (const second of py_range((first + 1), count)) { out.push([first, second]); } return out; })();
}
function _free_middle(one, other, hops) {
  let low, high, middle, taken, away, place_;
  [low, high] = [Math.max(one.low, other.low), Math.min(one.high, other.high)];
  middle = Math.floor((low + high) / 2);
  taken = (() => { const out = []; for (const hop of hops) for (const x of [hop.start, hop.end]) { out.push(x); } return out; })();
  for (away of py_range(0, Math.floor((high - low) / 2), MIN_VERTICAL_GAP)) {
    for (place_ of [(middle + away), (middle - away)]) {
      if ((() => { for (const x of taken) { if (!(Math.abs((place_ - x)) >= MIN_VERTICAL_GAP)) return false; } return true; })()) {
        return place_;
      }
    }
  }
  return middle;
}
function _do_verticals_collide(upper, lower) {
  return (() => { for (const end of upper.ends) for (const start of lower.starts) { if ((Math.abs((end - start)) < MIN_VERTICAL_GAP)) return true; } return false; })();
}
function _crossing_cost(upper, lower) {
  let crossed;
  crossed = py_sum((() => { const out = []; for (const end of upper.ends) { out.push(((lower.low < end) && (end < lower.high))); } return out; })());
  crossed += py_sum((() => { const out = []; for (const start of lower.starts) { out.push(((upper.low < start) && (start < upper.high))); } return out; })());
  return (crossed + (_do_verticals_collide(upper, lower) ? OVERLAP_COST : 0));
}
function _order_nets(nets) {
  let known, remaining, order, chosen, other, saved;
  if ((nets.length === 1)) {
    return [...nets];
  }
  known = _net_relations(nets);
  remaining = py_sorted(py_range(nets.length), {key: (number) => [nets.at(number).low, nets.at(number).high, number]});
  order = [];
  while (remaining.length) {
    chosen = py_min(remaining, {key: (number) => [(known.above.at(number) > 0), -known.balance.at(number)]});
    remaining = (() => { const out = []; for (const number of remaining) if ((number !== chosen)) { out.push(number); } return out; })();
    order.push(nets.at(chosen));
    for ([other, saved] of known.below.at(chosen)) {
      if ((saved > 0)) {
        known.above[py_position(known.above, other)] -= 1;
      }
      known.balance[py_position(known.balance, other)] += saved;
    }
  }
  return order;
}
function _net_relations(nets) {
  let count, known, one, other, first, second, saved;
  count = nets.length;
  known = new NetOrder((() => { const out = []; for (const _ of nets) { out.push([]); } return out; })(), py_repeat([0], count), py_repeat([0], count));
  for ([one, other] of _index_pairs(count)) {
    [first, second] = [nets.at(one), nets.at(other)];
    if (((first.low > (second.high + MIN_END_GAP)) || (second.low > (first.high + MIN_END_GAP)))) {
      continue;
    }
    saved = (_crossing_cost(second, first) - _crossing_cost(first, second));
    if ((first.hops[0] === second.hops[0])) {
      saved = (second.second ? OVERLAP_COST : -OVERLAP_COST);
    }
    known.below.at(one).push([other, saved]);
    known.below.at(other).push([one, -saved]);
    if (saved) {
      known.above[py_position(known.above, ((saved > 0) ? other : one))] += 1;
    }
    known.balance[py_position(known.balance, one)] += saved;
    known.balance[py_position(known.balance, other)] -= saved;
  }
  return known;
}
function _assign_tracks_in_order(nets) {
  let number, net, other;
  for ([number, net] of py_enumerate(nets)) {
    net.track = 0;
    for (other of nets.slice(0, number)) {
      if (((other.track >= net.track) && (other.low <= (net.high + MIN_END_GAP)) && (net.low <= (other.high + MIN_END_GAP)))) {
        net.track = (other.track + 1);
      }
    }
  }
}
function track_pitch(count, thick) {
  return ((count <= MAX_SPACED_TRACKS) ? TRACK_PITCH : (DENSE_TRACK_GAP + Math.floor((thick + 9) / 10)));
}

// place.bands
const MIN_HEAD_LENGTH = 80;
const MAX_HEAD_LENGTH = 100;
const LABEL_LINE_GAP = 10;
const PORT_LABEL_ROOM = 6;
const LABEL_MARGIN = 12;
class Band {
  constructor(top, bottom, before = 0, after = 0, first = 0, pitch = 0) {
    this.top = top;
    this.bottom = bottom;
    this.before = before;
    this.after = after;
    this.first = first;
    this.pitch = pitch;
  }
  get middle() {
    return Math.floor((this.top + this.bottom) / 2);
  }
  track_y(number) {
    return ((this.bottom + this.first) + (number * this.pitch));
  }
  move(down) {
    this.top += down;
    this.bottom += down;
  }
}
function _arrow_head_length(thick) {
  return Math.floor((Math.min(MAX_HEAD_LENGTH, ((MIN_HEAD_LENGTH + thick) - 10)) + 9) / 10);
}
function rank_bands(skeleton, chains, heights, passing, strokes, gaps) {
  let place_, labelled, heads, made, p, part_rows, strip, top, r, row, ports, before, after, bottom;
  place_ = item_ranks(skeleton);
  labelled = _labelled_short_wires(skeleton, chains, place_, strokes);
  heads = _line_end_rooms(skeleton, chains, place_, strokes, gaps);
  made = [];
  for ([p, part_rows] of py_enumerate(skeleton.parts)) {
    strip = [];
    top = 0;
    for ([r, row] of py_enumerate(part_rows)) {
      ports = ((skeleton.children <= row[0]) && (row[0] < skeleton.first_waypoint));
      [before, after] = (ports ? [0, 0] : heads.at(p).at(r));
      if (r) {
        top = _next_rank_top(strip.at(-1), before, passing.at(p).at((r - 1)), py_get(labelled.at(p), (r - 1), []), strokes, gaps);
      }
      bottom = (top + py_max((() => { const out = []; for (const item of row) { out.push((heights.at(item) + py_mod(heights.at(item), 2))); } return out; })()));
      strip.push(new Band(top, bottom, before, after));
    }
    made.push(strip);
  }
  return made;
}
function _next_rank_top(band, before, hops, labelled, strokes, gaps) {
  let is_at_ports, after, count, step, least, wire, label_room, above, under, room, tracks_height, height;
  is_at_ports = !(band.after && before);
  after = (band.after ? Math.max(band.after, gaps.start) : 0);
  count = assign_tracks(hops);
  step = track_pitch(count, py_max((() => { const out = []; for (const hop of hops) { out.push(hop.thick); } return out; })(), {default: 0}));
  least = (gaps.ranks - (is_at_ports ? gaps.beyond : 0));
  for (wire of labelled) {
    label_room = (strokes.at(wire).is_main ? (strokes.at(wire).label[1] + PORT_LABEL_ROOM) : 0);
    least = Math.max(least, (is_at_ports ? label_room : gaps.labelled));
  }
  if (!count) {
    band.first = Math.floor(Math.max(least, (band.after + before)) / 2);
    return (band.bottom + Math.max(least, (band.after + before)));
  }
  [above, under] = [after, before];
  for (wire of labelled) {
    if (strokes.at(wire).is_main) {
      room = _main_label_room(wire, hops, strokes.at(wire).label);
      [above, under] = [Math.max(above, room[0]), Math.max(under, room[1])];
    }
  }
  tracks_height = ((count - 1) * step);
  height = Math.max(least, ((above + tracks_height) + under));
  [band.first, band.pitch] = [(above + Math.floor((((height - above) - tracks_height) - under) / 2)), step];
  return (band.bottom + height);
}
function _main_label_room(wire, hops, label) {
  let own_hop, across, along, reach;
  own_hop = py_next(py_iter((() => { const out = []; for (const hop of hops) if ((hop.wire === wire)) { out.push(hop); } return out; })()), null);
  if ((own_hop == null)) {
    return [0, 0];
  }
  [across, along] = label;
  reach = (across + LABEL_LINE_GAP);
  if (((own_hop.track < 0) && (() => { for (const [low, high] of [[own_hop.start, (own_hop.start + reach)], [(own_hop.start - reach), own_hop.start]]) { if (!(() => { for (const hop of hops) if ((hop !== own_hop)) { if (((Math.min(hop.start, hop.end) < high) && (Math.max(hop.start, hop.end) > low))) return true; } return false; })()) return true; } return false; })())) {
    return [0, 0];
  }
  if ((() => { for (const [low, high] of [[own_hop.end, (own_hop.end + reach)], [(own_hop.end - reach), own_hop.end]]) { if (!(() => { for (const hop of hops) if ((hop !== own_hop)) { if (((low < hop.end) && (hop.end < high))) return true; } return false; })()) return true; } return false; })()) {
    return [0, (along + LABEL_MARGIN)];
  }
  return [(along + LABEL_MARGIN), 0];
}
function _labelled_short_wires(skeleton, chains, place_, strokes) {
  let labelled, wire, chain, part, rank;
  labelled = (() => { const out = []; for (const _ of skeleton.parts) { out.push(new Map()); } return out; })();
  for ([wire, chain] of py_enumerate(chains)) {
    if (((chain.length === 2) && strokes.at(wire).label[1])) {
      [part, rank] = place_.get(chain[0]);
      py_setdefault(labelled.at(part), rank, []).push(wire);
    }
  }
  return labelled;
}
function _line_end_rooms(skeleton, chains, place_, strokes, gaps) {
  let heads, capped, wire, chain, stroke, part, rank, upper, room;
  heads = (() => { const out = []; for (const part of skeleton.parts) { out.push((() => { const out = []; for (const _ of part) { out.push([gaps.box, gaps.box]); } return out; })()); } return out; })();
  capped = capped_wires(skeleton);
  for ([wire, chain] of py_enumerate(chains)) {
    stroke = strokes.at(wire);
    if (((stroke.tip === 1) && capped.has(wire))) {
      [part, rank] = place_.get(chain.at(-1));
      heads.at(part).at(rank)[1] = Math.max(heads.at(part).at(rank)[1], (_arrow_head_length(stroke.thick) + gaps.straight));
    }
    else {
      if ((stroke.tip >= 0)) {
        [part, rank] = place_.get(chain[0]);
        upper = (Number(stroke.tip) === Number(skeleton.wires.at(wire).turned));
        room = heads.at(part).at((upper ? rank : ((rank + chain.length) - 1)));
        room[Number(upper)] = Math.max(room.at(Number(upper)), (_arrow_head_length(stroke.thick) + gaps.straight));
      }
    }
  }
  return (() => { const out = []; for (const part of heads) { out.push((() => { const out = []; for (const head of part) { out.push([head[0], head[1]]); } return out; })()); } return out; })();
}
function item_ranks(skeleton) {
  return (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
}

// place.bars
const MIN_BRANCHES = 3;
const MAX_BAR_PX = 900;
const BRANCH_GAP_PX = 16;
const BAR_MARGIN_PX = 24;
class BranchBar {
  constructor(width, entries) {
    this.width = width;
    this.entries = entries;
  }
}
class BoxLines {
  constructor(into, out) {
    this.into = into;
    this.out = out;
  }
}
function branch_bars(view, widths) {
  let skeleton, place_, lines, bars, box, wires, starts, branches, order, wides, entries, left, wire, width;
  skeleton = view.skeleton;
  if (skeleton.plain) {
    return new Map();
  }
  place_ = item_places(skeleton);
  lines = _box_lines(view);
  bars = new Map();
  for ([box, wires] of lines.into.entries()) {
    if (((wires.length < MIN_BRANCHES) || (box >= skeleton.children) || view.opened.has(box) || view.node_labels.at(box).sign)) {
      continue;
    }
    starts = (() => { const out = new Map(); for (const wire of wires) { out.set(wire, _branch_start(view, wire, lines, widths)); } return out; })();
    branches = (() => { const out = []; for (const wire of wires) if (starts.get(wire)[1]) { out.push(wire); } return out; })();
    if (((branches.length < MIN_BRANCHES) || ((() => { const out = new Set(); for (const wire of branches) { out.add(starts.get(wire)[0]); } return out; })().size > 1))) {
      continue;
    }
    order = (() => { const out = []; for (const [_, wire] of py_sorted((() => { const out = []; for (const wire of wires) { out.push([places_before_end(skeleton.wires.at(wire).chain, place_), wire]); } return out; })())) { out.push(wire); } return out; })();
    wides = (() => { const out = new Map(); for (const wire of order) { out.set(wire, (starts.get(wire)[1] || _start_width(skeleton, wire, widths))); } return out; })();
    entries = new Map();
    left = (BAR_MARGIN_PX - Math.floor(wides.get(order[0]) / 2));
    for (wire of order) {
      entries.set(wire, (left + Math.floor(wides.get(wire) / 2)));
      left += (wides.get(wire) + BRANCH_GAP_PX);
    }
    width = (entries.get(order.at(-1)) + BAR_MARGIN_PX);
    if ((width <= MAX_BAR_PX)) {
      bars.set(box, new BranchBar(width, entries));
    }
  }
  return bars;
}
function item_places(skeleton) {
  return (() => { const out = new Map(); for (const part of skeleton.parts) for (const row of part) for (const [number, item] of py_enumerate(row)) { out.set(item, number); } return out; })();
}
function places_before_end(chain, place_) {
  return (() => { const out = []; for (const item of py_reversed(chain.slice(0, -1))) { out.push(place_.get(item)); } return out; })();
}
function _box_lines(view) {
  let into, out, ties, wire, line, chain;
  into = new Map();
  out = new Map();
  ties = first_tie(view.skeleton);
  for ([wire, line] of view.drawn_lines().entries()) {
    if (((wire < ties) && !view.skeleton.wires.at(wire).turned && !line.training)) {
      chain = view.skeleton.wires.at(wire).chain;
      py_setdefault(out, chain[0], []).push(wire);
      py_setdefault(into, chain.at(-1), []).push(wire);
    }
  }
  return new BoxLines(into, out);
}
function _start_width(skeleton, wire, widths) {
  let item;
  item = skeleton.wires.at(wire).chain.at(-2);
  return ((item < skeleton.children) ? widths.at(item) : 0);
}
function _branch_start(view, wire, lines, widths) {
  let starts;
  starts = (() => { const out = []; for (const one of _branch_wires(view, wire, lines)) { out.push(view.skeleton.wires.at(one).chain[0]); } return out; })();
  return [starts.at(-1), py_max((() => { const out = []; for (const item of starts.slice(0, -1)) { out.push(widths.at(item)); } return out; })(), {default: 0})];
}
function _branch_wires(view, wire, lines) {
  let skeleton, wires, item;
  skeleton = view.skeleton;
  wires = [wire];
  item = skeleton.wires.at(wire).chain[0];
  while (((item < skeleton.children) && (py_get(lines.into, item, []).length === 1) && (lines.out.get(item).length === 1))) {
    wires.push(lines.into.get(item)[0]);
    item = skeleton.wires.at(wires.at(-1)).chain[0];
  }
  return wires;
}
function wires_beside_main_path(view) {
  let lines, main, beside, wires, branches, wire, branch, alike;
  lines = _box_lines(view);
  main = new Set(view.skeleton.main_path);
  beside = new Set();
  for (wires of lines.into.values()) {
    branches = new Map();
    for (wire of ((wires.length >= MIN_BRANCHES) ? wires : [])) {
      branch = _branch_wires(view, wire, lines);
      if ((branch.length > 1)) {
        py_setdefault(branches, view.skeleton.wires.at(branch.at(-1)).chain[0], []).push(branch);
      }
    }
    for (alike of branches.values()) {
      if (((alike.length >= MIN_BRANCHES) && (() => { for (const branch of alike) { if ((() => { for (const wire of branch) { if (!main.has(wire)) return false; } return true; })()) return true; } return false; })())) {
        py_add_all(beside, (() => { const out = []; for (const branch of alike) for (const wire of branch) { out.push(wire); } return out; })());
      }
    }
  }
  return beside;
}

// place.columns
const SETTLE_ROUNDS = 1;
const LARGE_PART_ITEMS = 150000;
const MAX_POOL_WISHES = 64;
const UNBOUNDED_X = (1 * 2 ** 40);
function align_columns(parts, widths, between, above, below, lane = []) {
  let x, room, both, ranks, distances, starts, down, up, large, _, r, paths, path;
  x = py_repeat([0], widths.length);
  room = new RankNeighbours(widths.length);
  both = (() => { const out = []; for (const [up, down] of py_zip(above, below)) { out.push([...up, ...down]); } return out; })();
  for ([ranks, distances] of py_zip(parts, between)) {
    starts = _pack_ranks(ranks, widths, distances, x);
    if ((ranks.length < 2)) {
      continue;
    }
    room.add_part(ranks, distances);
    [down, up] = [py_range(ranks.length), py_range((ranks.length - 2), -1, -1)];
    large = (py_sum(py_map(py_len, ranks)) > LARGE_PART_ITEMS);
    for (_ of py_range((large ? 1 : SETTLE_ROUNDS))) {
      for (r of down.slice(1)) {
        _settle_rank(ranks.at(r), starts.at(r), x, above);
      }
      for (r of up) {
        _settle_rank(ranks.at(r), starts.at(r), x, below);
      }
    }
    paths = (() => { const out = []; for (const path of _straight_paths(ranks, above, below)) if (!(() => { for (const item of path) { if (py_in(item, lane)) return true; } return false; })()) { out.push(path); } return out; })();
    for (path of paths) {
      _straighten_path(path, x, above, below, room);
    }
    if (large) {
      continue;
    }
    for (r of [...down, ...up]) {
      _settle_rank(ranks.at(r), starts.at(r), x, both);
    }
    for (path of paths) {
      _straighten_path(path, x, above, below, room);
    }
  }
  return x;
}
function _pack_ranks(ranks, widths, between, x) {
  let starts, row, steps, start, step, middle, item, left;
  starts = [];
  for ([row, steps] of py_zip(ranks, between)) {
    start = [0];
    for (step of steps) {
      start.push((start.at(-1) + step));
    }
    starts.push(start);
    middle = Math.floor((start.at(-1) + widths.at(row.at(-1))) / 2);
    for ([item, left] of py_zip(row, start)) {
      x[py_position(x, item)] = (left - middle);
    }
  }
  return starts;
}
class RankNeighbours {
  constructor(count) {
    [this.left, this.right] = [py_repeat([-1], count), py_repeat([-1], count)];
    [this.before, this.after] = [py_repeat([0], count), py_repeat([0], count)];
  }
  add_part(ranks, between) {
    let row, steps, last, item, step;
    for ([row, steps] of py_zip(ranks, between)) {
      last = row[0];
      for ([item, step] of py_zip(row.slice(1), steps)) {
        [this.left[py_position(this.left, item)], this.before[py_position(this.before, item)]] = [last, step];
        [this.right[py_position(this.right, last)], this.after[py_position(this.after, last)]] = [item, step];
        last = item;
      }
    }
  }
}
function _straight_paths(ranks, above, below) {
  let paths, row, item, up, path;
  paths = [];
  for (row of ranks) {
    for (item of row) {
      up = above.at(item);
      if (((up.length > 1) || (below.at(item).length > 1) || (up.length && _is_thin(up[0][0], above, below)))) {
        continue;
      }
      path = [item];
      while ((below.at(path.at(-1)).length && _is_thin(below.at(path.at(-1))[0][0], above, below))) {
        path.push(below.at(path.at(-1))[0][0]);
      }
      if ((up.length || below.at(item).length)) {
        paths.push(path);
      }
    }
  }
  return paths;
}
function _is_thin(item, above, below) {
  return ((above.at(item).length < 2) && (below.at(item).length < 2));
}
function _straighten_path(path, x, above, below, room) {
  let low, high, offset, run, up, down, goal, item, left, right, least, most, end;
  [low, high, offset] = [-UNBOUNDED_X, UNBOUNDED_X, 0];
  run = [];
  [up, down] = [above.at(path[0]), below.at(path.at(-1))];
  goal = (up.length ? (x.at(up[0][0]) + up[0][1]) : null);
  for (item of path) {
    if (run.length) {
      offset += above.at(item)[0][1];
    }
    [left, right] = [room.left.at(item), room.right.at(item)];
    least = ((left >= 0) ? ((x.at(left) + room.before.at(item)) - offset) : -UNBOUNDED_X);
    most = ((right >= 0) ? ((x.at(right) - room.after.at(item)) - offset) : UNBOUNDED_X);
    if (((least > high) || (most < low))) {
      goal = _place_run(run, ((goal != null) ? goal : (x.at(run.at(-1)[0]) - run.at(-1)[1])), low, high, x);
      [run, low, high] = [[], -UNBOUNDED_X, UNBOUNDED_X];
    }
    if ((least > low)) {
      low = least;
    }
    if ((most < high)) {
      high = most;
    }
    run.push([item, offset]);
  }
  if (down.length) {
    end = ((x.at(down[0][0]) + down[0][1]) - offset);
    if (((goal == null) || !((low <= goal) && (goal <= high)))) {
      goal = end;
    }
  }
  else {
    if ((goal == null)) {
      goal = (x.at(run.at(-1)[0]) - offset);
    }
  }
  _place_run(run, goal, low, high, x);
}
function _place_run(run, goal, low, high, x) {
  let item, offset;
  goal = Math.min(Math.max(goal, low), high);
  for ([item, offset] of run) {
    x[py_position(x, item)] = (goal + offset);
  }
  return goal;
}
function _settle_rank(row, start, x, links) {
  let first, wishes, places, number, item, shift, place_, wish, begin, pool;
  first = [];
  wishes = [];
  places = [];
  for ([number, item] of py_enumerate(row)) {
    shift = start.at(number);
    if (links.at(item).length) {
      [place_, wish] = _own_wishes(links.at(item), x, shift);
    }
    else {
      place_ = (x.at(item) - shift);
      wish = [[place_, 1]];
    }
    begin = number;
    while ((places.length && (places.at(-1) > place_))) {
      begin = py_pop(first);
      py_pop(places);
      py_extend(wish, py_pop(wishes));
      py_sort(wish);
      place_ = _weighted_median(wish);
      if ((wish.length > MAX_POOL_WISHES)) {
        wish = [[place_, py_sum((() => { const out = []; for (const [_, weight] of wish) { out.push(weight); } return out; })())]];
      }
    }
    first.push(begin);
    wishes.push(wish);
    places.push(place_);
  }
  first.push(row.length);
  for ([pool, place_] of py_enumerate(places)) {
    for (number of py_range(first.at(pool), first.at((pool + 1)))) {
      x[py_position(x, row.at(number))] = (place_ + start.at(number));
    }
  }
}
function _own_wishes(near, x, shift) {
  let other, offset, weight, place_, first, second, aside, heavy, end, wish;
  if ((near.length === 1)) {
    [other, offset, weight] = near[0];
    place_ = ((x.at(other) + offset) - shift);
    return [place_, [[place_, weight]]];
  }
  if ((near.length === 2)) {
    [[first, offset, weight], [second, aside, heavy]] = near;
    [place_, end] = [((x.at(first) + offset) - shift), ((x.at(second) + aside) - shift)];
    wish = ((place_ < end) ? [[place_, weight], [end, heavy]] : [[end, heavy], [place_, weight]]);
    return [((weight === heavy) ? Math.floor((place_ + end) / 2) : ((heavy > weight) ? end : place_)), wish];
  }
  wish = (() => { const out = []; for (const [other, offset, weight] of near) { out.push([((x.at(other) + offset) - shift), weight]); } return out; })();
  py_sort(wish);
  return [_weighted_median(wish), wish];
}
function _weighted_median(wishes) {
  let half, seen, number, place_, weight;
  half = py_sum((() => { const out = []; for (const [_, weight] of wishes) { out.push(weight); } return out; })());
  seen = 0;
  for ([number, [place_, weight]] of py_enumerate(wishes)) {
    seen += (2 * weight);
    if ((seen > half)) {
      return place_;
    }
    if ((seen === half)) {
      return Math.floor((place_ + wishes.at((number + 1))[0]) / 2);
    }
  }
  return 0;
}

// place.lanes
const COLUMN_LINE_STEP = 12;
const COLUMN_TURN = 26;
function wires_at_joints(skeleton, chains) {
  let passing, seen, place_, wire, chain, part, rank, number, break_, step;
  passing = (() => { const out = []; for (const broken of skeleton.breaks) { out.push((() => { const out = []; for (const _ of broken) { out.push([]); } return out; })()); } return out; })();
  if (!passing.length) {
    return [];
  }
  seen = new TupleSet();
  place_ = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
  for ([wire, chain] of py_enumerate(chains)) {
    [part, rank] = place_.get(chain[0]);
    for ([number, break_] of py_enumerate(skeleton.breaks.at(part))) {
      if (((rank < break_) && (break_ < (rank + chain.length)))) {
        step = ((break_ - rank) - 1);
        if ((seen.has([chain.at(step), chain.at((step + 1))]) && ((0 < step) && (step < (chain.length - 2))))) {
          continue;
        }
        seen.add([chain.at(step), chain.at((step + 1))]);
        passing.at(part).at(number).push([wire, step]);
      }
    }
  }
  return passing;
}
function wires_across_to_gutter(skeleton, chains) {
  let place_, found, wire, chain, part, rank, rows, end, passed, leaves;
  if (!py_any(skeleton.breaks)) {
    return new Set();
  }
  place_ = item_ranks(skeleton);
  found = new Set();
  for ([wire, chain] of py_enumerate(chains)) {
    [part, rank] = place_.get(chain[0]);
    rows = skeleton.parts.at(part);
    end = py_min((() => { const out = []; for (const start of skeleton.breaks.at(part)) if ((start > rank)) { out.push(start); } return out; })(), {default: -1});
    passed = py_range((rank + 1), end);
    leaves = ((((rank + 1) < end) && (end < (rank + chain.length))) && (rows.at(rank).at(-1) !== chain[0]));
    if ((leaves && (() => { for (const r of passed) { if (!(rows.at(r).at(-1) === chain.at((r - rank)))) return false; } return true; })())) {
      found.add(wire);
    }
  }
  return found;
}
function place_columns(skeleton, layers, lefts, widths, between, margin) {
  let p, passing, ends, left, head, number, first, last, rows, low, high, top, row, item, r, lines, entry;
  for ([p, passing] of py_enumerate(between)) {
    ends = [0, ...skeleton.breaks.at(p), skeleton.parts.at(p).length];
    left = 0;
    head = left;
    for ([number, [first, last]] of py_enumerate(py_pairwise(ends))) {
      rows = skeleton.parts.at(p).slice(first, last);
      low = py_min((() => { const out = []; for (const row of rows) { out.push(lefts.at(row[0])); } return out; })());
      high = py_max((() => { const out = []; for (const row of rows) { out.push((lefts.at(row.at(-1)) + widths.at(row.at(-1)))); } return out; })());
      top = layers.at(p).at(first).top;
      for (row of rows) {
        for (item of row) {
          lefts[py_position(lefts, item)] += (left - low);
        }
      }
      for (r of py_range(first, last)) {
        layers.at(p).at(r).move((head - top));
      }
      if ((number < passing.length)) {
        lines = passing.at(number).length;
        left += (((high - low) + (2 * margin)) + ((lines - 1) * COLUMN_LINE_STEP));
        entry = (last + _port_rank_count(skeleton, p, last));
        head = Math.max(0, (((COLUMN_TURN + (lines * COLUMN_LINE_STEP)) + layers.at(p).at(last).top) - layers.at(p).at(entry).top));
      }
    }
    _align_column_starts(skeleton, p, layers.at(p), passing);
  }
  return (() => { const out = []; for (const [p, bands] of py_enumerate(layers)) { out.push(_part_height(bands, p, skeleton, between)); } return out; })();
}
function _align_column_starts(skeleton, part, bands, passing) {
  let ends, feet, starts, number, first, last, down, band;
  ends = [0, ...skeleton.breaks.at(part), bands.length];
  feet = (() => { const out = []; for (const [number, last] of py_enumerate(ends.slice(1))) { out.push((bands.at((last - 1)).bottom + ((number < passing.length) ? (COLUMN_TURN + (passing.at(number).length * COLUMN_LINE_STEP)) : 0))); } return out; })();
  starts = (() => { const out = []; for (const first of ends.slice(0, -1)) { out.push(bands.at((first + _port_rank_count(skeleton, part, first))).top); } return out; })();
  for ([number, [first, last]] of py_enumerate(py_pairwise(ends))) {
    down = Math.min((py_max(starts) - starts.at(number)), (py_max(feet) - feet.at(number)));
    for (band of bands.slice(first, last)) {
      band.move(down);
    }
  }
}
function _port_rank_count(skeleton, part, rank) {
  return Number((() => { for (const item of skeleton.parts.at(part).at(rank)) { if (((skeleton.children <= item) && (item < skeleton.first_waypoint))) return true; } return false; })());
}
function _part_height(bands, part, skeleton, between) {
  let tall, number, break_;
  tall = (bands.length ? bands.at(-1).bottom : 0);
  if (between.length) {
    for ([number, break_] of py_enumerate(skeleton.breaks.at(part))) {
      tall = Math.max(tall, ((bands.at((break_ - 1)).bottom + COLUMN_TURN) + (between.at(part).at(number).length * COLUMN_LINE_STEP)));
    }
  }
  return tall;
}
function column_detours(skeleton, chains, ends, layers, lefts, widths, between, margin) {
  let detours, p, passing, starts, number, lines, break_, rows, right, lines_by_x, skipped, turn, x, joint, foot, top, head, lane, goal, bends, wire, chain, step, turns;
  detours = new TupleMap();
  for ([p, passing] of py_enumerate(between)) {
    starts = [0, ...skeleton.breaks.at(p)];
    for ([number, lines] of py_enumerate(passing)) {
      break_ = skeleton.breaks.at(p).at(number);
      rows = skeleton.parts.at(p).slice(starts.at(number), break_);
      right = py_max((() => { const out = []; for (const row of rows) { out.push((lefts.at(row.at(-1)) + widths.at(row.at(-1)))); } return out; })());
      lines_by_x = (() => { const out = []; for (const joint of lines) { out.push([_joint_x(joint, 0, chains, ends, lefts), joint]); } return out; })();
      py_sort(lines_by_x);
      skipped = _port_rank_count(skeleton, p, break_);
      for ([turn, [x, joint]] of py_enumerate(py_reversed(lines_by_x))) {
        foot = ((layers.at(p).at((break_ - 1)).bottom + COLUMN_TURN) + (turn * COLUMN_LINE_STEP));
        top = layers.at(p).at((break_ + skipped)).top;
        head = ((top - COLUMN_TURN) - (((lines.length - 1) - turn) * COLUMN_LINE_STEP));
        [lane, goal] = [((right + margin) + (turn * COLUMN_LINE_STEP)), _joint_x(joint, (1 + skipped), chains, ends, lefts)];
        detours.set(joint, [[x, foot], [lane, foot], [lane, head], [goal, head]]);
        if (skipped) {
          detours.set([joint[0], (joint[1] + 1)], []);
        }
      }
    }
  }
  bends = (() => { const out = new TupleMap(); for (const [[wire, step], turns] of detours.entries()) { out.set([chains.at(wire).at(step), chains.at(wire).at((step + 1))], turns); } return out; })();
  for ([wire, chain] of py_enumerate(chains)) {
    for (step of py_range(1, (chain.length - 2))) {
      turns = py_get(bends, [chain.at(step), chain.at((step + 1))]);
      if ((turns != null)) {
        detours.set([wire, step], turns);
      }
    }
  }
  return detours;
}
function shorten_detours(skeleton, chains, wires, lefts, band, around) {
  let row_of, place_, users, chain, item, farthest, wire, step, turns, last, first, straight, hop, strip, y, number;
  row_of = (() => { const out = new Map(); for (const part of skeleton.parts) for (const row of part) for (const item of row) { out.set(item, row); } return out; })();
  [place_, users] = [item_ranks(skeleton), py_repeat([0], lefts.length)];
  for (chain of chains) {
    for (item of chain.slice(0, -1)) {
      users[py_position(users, item)] += 1;
    }
  }
  farthest = _farthest_hops(chains, wires, place_);
  for ([[wire, step], turns] of [...around.entries()]) {
    if (!turns.length) {
      continue;
    }
    chain = chains.at(wire);
    last = step;
    while (((last >= 1) && (row_of.get(chain.at(last)).at(-1) === chain.at(last)) && (users.at(chain.at(last)) === 1))) {
      last -= 1;
    }
    first = (step - 1);
    while (((first >= last) && (wires.at(wire).at(first).track < 0))) {
      first -= 1;
    }
    straight = (first < last);
    if (straight) {
      first = 0;
    }
    [hop, strip] = [wires.at(wire).at(first), band.get(chain.at(first))];
    if ((straight && ((last > 0) || (step === 0) || (strip.first === 0)))) {
      continue;
    }
    if ((!straight && (hop.start >= hop.end))) {
      continue;
    }
    if (((hop.last >= 0) || (farthest.get(place_.get(chain.at(first))) > hop.end))) {
      continue;
    }
    y = strip.track_y(Math.max(hop.track, 0));
    around.set([wire, first], [[hop.start, y], [turns[1][0], y], ...turns.slice(2)]);
    for (number of py_range((first + 1), (step + 1))) {
      around.set([wire, number], []);
    }
  }
}
function _farthest_hops(chains, wires, place_) {
  let farthest, wire, chain, step, hop, rank;
  farthest = new TupleMap();
  for ([wire, chain] of py_enumerate(chains)) {
    for ([step, hop] of py_enumerate(wires.at(wire))) {
      rank = place_.get(chain.at(step));
      farthest.set(rank, Math.max(py_get(farthest, rank, 0), hop.start, hop.end));
    }
  }
  return farthest;
}
function _joint_x(joint, end, chains, ends, lefts) {
  let wire, step, chain, item;
  [wire, step] = joint;
  chain = chains.at(wire);
  item = chain.at((step + end));
  if ((!step && !end)) {
    return (lefts.at(item) + ends.at(wire)[0]);
  }
  if ((end && ((step + end) === (chain.length - 1)))) {
    return (lefts.at(item) + ends.at(wire)[1]);
  }
  return lefts.at(item);
}
function column_heads(skeleton) {
  return (() => { const out = new Set(); for (const [part, breaks] of py_zip(skeleton.parts, skeleton.breaks)) for (const r of breaks) for (const item of part.at(r)) { out.add(item); } return out; })();
}
const RULE_MARGIN = 20;
const MIN_LEVEL_HEADINGS = 25;
const RAIL_MARGIN = 12;
function split_off_training(parts, steps, trained) {
  let rows_apart, steps_apart, part, distances, cuts;
  rows_apart = [];
  steps_apart = [];
  for ([part, distances] of py_zip(parts, steps)) {
    cuts = (() => { const out = []; for (const row of part) { out.push(_first_trained(row, trained)); } return out; })();
    if ((py_min(cuts) < 0)) {
      cuts = (() => { const out = []; for (const row of part) { out.push(row.length); } return out; })();
    }
    rows_apart.push((() => { const out = []; for (const [row, cut] of py_zip(part, cuts)) if (cut) { out.push(row.slice(0, cut)); } return out; })());
    steps_apart.push((() => { const out = []; for (const [near, cut] of py_zip(distances, cuts)) if (cut) { out.push(near.slice(0, (cut - 1))); } return out; })());
    if ((() => { for (const [row, cut] of py_zip(part, cuts)) { if ((cut < row.length)) return true; } return false; })()) {
      rows_apart.push((() => { const out = []; for (const [row, cut] of py_zip(part, cuts)) if ((cut < row.length)) { out.push(row.slice(cut)); } return out; })());
      steps_apart.push((() => { const out = []; for (const [row, near, cut] of py_zip(part, distances, cuts)) if ((cut < row.length)) { out.push(near.slice(cut)); } return out; })());
    }
  }
  return [rows_apart, steps_apart];
}
function _first_trained(row, trained) {
  let cut;
  cut = row.length;
  while ((cut && trained.has(row.at((cut - 1))))) {
    cut -= 1;
  }
  return ((() => { for (const item of row.slice(0, cut)) { if (trained.has(item)) return true; } return false; })() ? -1 : cut);
}
function set_training_apart(skeleton, lefts, widths, trained, room) {
  let rows, inside, margin, others, move, item;
  for ([rows, inside] of _training_columns(skeleton, trained)) {
    margin = ((() => { for (const item of inside) { if ((item < skeleton.children)) return true; } return false; })() ? (2 * RULE_MARGIN) : RAIL_MARGIN);
    others = (() => { const out = []; for (const row of rows) for (const item of row) if (!trained.has(item)) { out.push(((lefts.at(item) + widths.at(item)) + Math.max(margin, (py_get(room, item, 0) + RULE_MARGIN)))); } return out; })();
    move = (py_max(others, {default: 0}) - py_min((() => { const out = []; for (const item of inside) { out.push(lefts.at(item)); } return out; })()));
    for (item of inside) {
      lefts[py_position(lefts, item)] += move;
    }
  }
}
function training_rules(skeleton, boxes, layers, lines, trained, heading, height = -1) {
  let place_, rules, rows, inside, children, part, first, bands, left, right, taken, points, ax, ay, bx, by, top, bottom, heading_start, limit;
  place_ = item_ranks(skeleton);
  rules = [];
  for ([rows, inside] of _training_columns(skeleton, trained)) {
    children = (() => { const out = []; for (const item of inside) if ((item < skeleton.children)) { out.push(item); } return out; })();
    if (children.length) {
      [part, first] = place_.get(rows[0][0]);
      bands = layers.at(part).slice(first, (first + rows.length));
      left = (py_min((() => { const out = []; for (const item of inside) { out.push(boxes.at(item)[0]); } return out; })()) - RULE_MARGIN);
      right = (left + heading[0]);
      taken = (() => { const out = []; for (const item of children) if ((boxes.at(item)[0] < right)) { out.push([boxes.at(item)[1], (boxes.at(item)[1] + boxes.at(item)[3])]); } return out; })();
      for (points of lines) {
        for ([[ax, ay], [bx, by]] of py_pairwise(points)) {
          if (((Math.min(ax, bx) < right) && (Math.max(ax, bx) > left))) {
            taken.push([Math.min(ay, by), Math.max(ay, by)]);
          }
        }
      }
      [top, bottom] = [bands[0].top, bands.at(-1).bottom];
      heading_start = py_max([(bottom - heading[1]), ...(() => { const out = []; for (const [_, last] of taken) { out.push(last); } return out; })()]);
      limit = ((bottom >= height) ? (height + Math.floor(height / MIN_LEVEL_HEADINGS)) : bottom);
      if (((heading_start + heading[1]) > limit)) {
        heading_start = _first_free_place(taken, top, bottom, heading[1]);
      }
      rules.push(new TrainingRule(left, top, Math.max(bottom, (heading_start + heading[1])), heading_start));
    }
  }
  return [...rules];
}
function _first_free_place(taken, start, end, room) {
  let first, last;
  for ([first, last] of py_sorted(taken)) {
    if (((first - start) >= room)) {
      break;
    }
    start = Math.max(start, last);
  }
  return (((end - start) >= room) ? start : -1);
}
function _training_columns(skeleton, trained) {
  let columns, p, part, ends, first, last, inside;
  columns = [];
  for ([p, part] of py_enumerate((trained.size ? skeleton.parts : []))) {
    if ((py_min((() => { const out = []; for (const row of part) { out.push(_first_trained(row, trained)); } return out; })()) < 0)) {
      continue;
    }
    ends = [0, ...(skeleton.breaks.length ? skeleton.breaks.at(p) : []), part.length];
    for ([first, last] of py_pairwise(ends)) {
      inside = (() => { const out = []; for (const row of part.slice(first, last)) for (const item of row) if (trained.has(item)) { out.push(item); } return out; })();
      if (inside.length) {
        columns.push([part.slice(first, last), inside]);
      }
    }
  }
  return columns;
}

// place.upright
const CORNER_MARGIN_of_upright = 8;
const MAX_JOG_MOVE = 14;
const MIN_LINE_GAP = 8;
function straighten_ends(skeleton, chains, ends, lefts, sides, gaps, entries) {
  let main, touch, groups, capped, wire, chain, end, item, wires_by_place, places, wishes, is_main, settled, place_, x;
  main = new Set(skeleton.main_path);
  touch = (() => { const out = []; for (const [upper, lower] of ends) { out.push([upper, lower]); } return out; })();
  groups = new TupleMap();
  capped = capped_wires(skeleton);
  for ([wire, chain] of py_enumerate(chains)) {
    for ([end, item] of (!capped.has(wire) ? [[1, chain.at(-1)], [0, chain[0]]] : [[0, chain[0]]])) {
      if (((item < skeleton.children) && (sides.at(item)[0] < sides.at(item)[1]) && !entries.has(((2 * wire) + end)))) {
        py_setdefault(py_setdefault(groups, [item, end], new Map()), ends.at(wire).at(end), []).push(wire);
      }
    }
  }
  for ([[item, end], wires_by_place] of groups.entries()) {
    places = py_sorted(wires_by_place.keys());
    wishes = (() => { const out = []; for (const place_ of places) { out.push((_wanted_x(_leading_wire(wires_by_place.get(place_), main), end, chains, touch, lefts) - lefts.at(item))); } return out; })();
    is_main = (() => { const out = []; for (const place_ of places) { out.push(!!py_intersection(main, wires_by_place.get(place_)).size); } return out; })();
    settled = _move_to_wishes(places, wishes, is_main, sides.at(item), gaps);
    for ([place_, x] of py_zip(places, settled)) {
      for (wire of wires_by_place.get(place_)) {
        touch.at(wire)[py_position(touch.at(wire), end)] = x;
      }
    }
  }
  return (() => { const out = []; for (const [upper, lower] of touch) { out.push([upper, lower]); } return out; })();
}
function reach_tracks(skeleton, chains, ends, lefts, widths, steps, entries) {
  let touch, heads, room, part, part_steps, number, side, wire, end, chain, box, other, track, beyond, most, reached, least;
  touch = [...ends];
  heads = column_heads(skeleton);
  room = new RankNeighbours(lefts.length);
  for ([part, part_steps] of py_zip((entries.size ? skeleton.parts : []), steps)) {
    room.add_part(part, part_steps);
  }
  for ([number, side] of entries.entries()) {
    [wire, end] = [Math.floor(number / 2), py_mod(number, 2)];
    chain = chains.at(wire);
    [box, other] = (end ? [chain.at(-1), chain.at(-2)] : [chain[0], chain[1]]);
    if (heads.has(box)) {
      continue;
    }
    track = (lefts.at(other) + ((chain.length === 2) ? ends.at(wire).at((1 - end)) : 0));
    if ((side > 0)) {
      beyond = room.right.at(box);
      most = ((beyond >= 0) ? ((lefts.at(beyond) - room.after.at(box)) + widths.at(box)) : UNBOUNDED_X);
      reached = (((lefts.at(box) + ends.at(wire).at(end)) < track) && (track <= most));
    }
    else {
      beyond = room.left.at(box);
      least = ((beyond >= 0) ? (lefts.at(beyond) + room.before.at(box)) : -UNBOUNDED_X);
      reached = ((least <= track) && (track < (lefts.at(box) + ends.at(wire).at(end))));
    }
    if (reached) {
      touch[py_position(touch, wire)] = (end ? [touch.at(wire)[0], (track - lefts.at(box))] : [(track - lefts.at(box)), touch.at(wire)[1]]);
    }
  }
  return touch;
}
function _leading_wire(wires, main) {
  return py_next(py_iter((() => { const out = []; for (const wire of wires) if (main.has(wire)) { out.push(wire); } return out; })()), wires[0]);
}
function _wanted_x(wire, end, chains, touch, lefts) {
  let chain, other;
  chain = chains.at(wire);
  other = (end ? chain.at(-2) : chain[1]);
  return (lefts.at(other) + ((chain.length === 2) ? touch.at(wire).at((1 - end)) : 0));
}
function _move_to_wishes(places, wishes, is_main_line, side, gaps) {
  let x, middle, number, low, high, near;
  x = [...places];
  middle = py_next(py_iter((() => { const out = []; for (const [number, is_main] of py_enumerate(is_main_line)) if (is_main) { out.push(number); } return out; })()), Math.floor(x.length / 2));
  for (number of [...py_range(middle), ...py_range((x.length - 1), middle, -1), ((middle < x.length) ? middle : 0)]) {
    low = (py_truth(number) ? (x.at((number - 1)) + MIN_LINE_GAP) : Math.min(x[0], (side[0] + CORNER_MARGIN_of_upright)));
    high = (py_truth((number < (x.length - 1))) ? (x.at((number + 1)) - MIN_LINE_GAP) : Math.max(x.at(-1), (side[1] - CORNER_MARGIN_of_upright)));
    near = (Math.abs((wishes.at(number) - x.at(number))) <= MAX_JOG_MOVE);
    if ((py_truth(((py_compare(low, wishes.at(number)) <= 0) && (py_compare(wishes.at(number), high) <= 0))) && (py_truth(near) || !py_truth(is_main_line.at(number))))) {
      x[py_position(x, number)] = wishes.at(number);
    }
  }
  return x;
}
function straighten_passing_lines(skeleton, chains, ends, lefts, steps) {
  let room, part, part_steps, users, chain, item, wire, first, last, here, before, after, low, high, goal, wish;
  room = new RankNeighbours(lefts.length);
  for ([part, part_steps] of py_zip(skeleton.parts, steps)) {
    room.add_part(part, part_steps);
  }
  users = py_repeat([0], lefts.length);
  for (chain of chains) {
    for (item of chain.slice(1, -1)) {
      users[py_position(users, item)] += 1;
    }
  }
  for ([wire, chain] of py_enumerate(chains)) {
    first = 1;
    while ((first < (chain.length - 1))) {
      last = first;
      while (((last < (chain.length - 2)) && (lefts.at(chain.at((last + 1))) === lefts.at(chain.at(first))))) {
        last += 1;
      }
      if ((() => { for (const item of chain.slice(first, (last + 1))) { if (!(users.at(item) === 1)) return false; } return true; })()) {
        here = lefts.at(chain.at(first));
        before = (lefts.at(chain.at((first - 1))) + ((first === 1) ? ends.at(wire)[0] : 0));
        after = (lefts.at(chain.at((last + 1))) + ((last === (chain.length - 2)) ? ends.at(wire)[1] : 0));
        low = py_max((() => { const out = []; for (const item of chain.slice(first, (last + 1))) { out.push(((room.left.at(item) >= 0) ? (lefts.at(room.left.at(item)) + room.before.at(item)) : -UNBOUNDED_X)); } return out; })());
        high = py_min((() => { const out = []; for (const item of chain.slice(first, (last + 1))) { out.push(((room.right.at(item) >= 0) ? (lefts.at(room.right.at(item)) - room.after.at(item)) : UNBOUNDED_X)); } return out; })());
        goal = here;
        for (wish of [before, after]) {
          if (((goal === here) && (wish !== here) && (Math.abs((wish - here)) < MAX_JOG_MOVE) && ((low <= wish) && (wish <= high)))) {
            goal = wish;
          }
        }
        if ((![before, after].includes(here) || (before === after))) {
          for (item of chain.slice(first, (last + 1))) {
            lefts[py_position(lefts, item)] = goal;
          }
        }
      }
      first = (last + 1);
    }
  }
}

// place.coordinates
const PLAIN_STROKE = new WireStroke();
const MAIN_PATH_WEIGHT = 11;
const MIN_TALL_RATIO = 4;
function place_level(skeleton, sizes, gaps = null, line_ends = null, strokes = null, trained = null, room = null) {
  let drawn, chains, ends, widths, heights, thick, trained_items, rooms, steps, lefts;
  gaps = (gaps || new LevelGaps());
  drawn = (() => { const out = []; for (const wire of py_range(skeleton.wires.length)) { out.push(py_get(py_or(strokes, () => new Map()), wire, PLAIN_STROKE)); } return out; })();
  chains = downward_chains(skeleton);
  if ((line_ends == null)) {
    ends = attach_lines(skeleton, chains, sizes, gaps);
  }
  else {
    ends = _anchored_ends(skeleton, line_ends.anchors);
  }
  [widths, heights] = _item_sizes(skeleton, sizes);
  thick = _item_thicknesses(skeleton, drawn);
  [trained_items, rooms] = [py_or(trained, () => new Set()), py_or(room, () => new Map())];
  steps = (() => { const out = []; for (const part of skeleton.parts) { out.push((() => { const out = []; for (const row of part) { out.push(_rank_distances(row, skeleton, widths, thick, gaps, rooms)); } return out; })()); } return out; })();
  lefts = _place_across(skeleton, chains, ends, widths, steps, trained_items, rooms);
  if ((line_ends != null)) {
    ends = straighten_ends(skeleton, chains, ends, lefts, line_ends.sides, gaps, line_ends.entries);
    ends = reach_tracks(skeleton, chains, ends, lefts, widths, steps, line_ends.entries);
  }
  return _place_along(skeleton, chains, ends, lefts, [widths, heights], drawn, gaps, trained_items);
}
function _place_across(skeleton, chains, ends, widths, steps, trained, room) {
  let above, below, parts, between, lefts;
  [above, below] = _item_alignments(skeleton, chains, ends, widths.length, trained);
  [parts, between] = split_off_training(skeleton.parts, steps, trained);
  lefts = align_columns(parts, widths, between, above, below, _main_path_items(skeleton));
  _draw_near(skeleton, chains, lefts, steps);
  set_training_apart(skeleton, lefts, widths, trained, room);
  _flush_parts_left(skeleton, lefts);
  straighten_passing_lines(skeleton, chains, ends, lefts, steps);
  return lefts;
}
function _draw_near(skeleton, chains, lefts, steps) {
  let linked, part, distances, row, apart;
  linked = (() => { const out = new Set(); for (const chain of chains) for (const item of [chain[0], chain.at(-1)]) { out.add(item); } return out; })();
  for ([part, distances] of py_zip(skeleton.parts, steps)) {
    for ([row, apart] of py_zip(part, distances)) {
      if (((row.length > 1) && (row[0] < skeleton.children) && !linked.has(row[0]))) {
        lefts[py_position(lefts, row[0])] = Math.max(lefts.at(row[0]), (lefts.at(row[1]) - apart[0]));
      }
    }
  }
}
function _place_along(skeleton, chains, ends, lefts, extents, strokes, gaps, trained) {
  let widths, heights, wires, passing, layers, joint_wires, part_heights, width, height, detours, band, tops, lines, boxes, open_end, rules;
  [widths, heights] = extents;
  [wires, passing] = _find_hops(skeleton, chains, ends, lefts, strokes);
  layers = rank_bands(skeleton, chains, heights, passing, strokes, gaps);
  joint_wires = wires_at_joints(skeleton, chains);
  part_heights = place_columns(skeleton, layers, lefts, widths, joint_wires, gaps.column);
  [width, height] = _shelve_parts(skeleton, layers, lefts, widths, part_heights, gaps);
  detours = column_detours(skeleton, chains, ends, layers, lefts, widths, joint_wires, gaps.column);
  band = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, layers.at(p).at(r)); } return out; })();
  tops = _item_tops(chains, band, heights, trained);
  _shift_hops(chains, wires, ends, lefts);
  shorten_detours(skeleton, chains, wires, lefts, band, detours);
  lines = _wire_routes(skeleton, chains, wires, gaps, tops, heights, band, detours, height);
  boxes = [...py_zip(lefts, tops, widths, heights)];
  open_end = ((gaps.upward && !skeleton.ports.length) ? height : -1);
  rules = training_rules(skeleton, boxes, layers, lines, trained, gaps.heading, open_end);
  return new LevelLayout([...(() => { const out = []; for (const child of py_range(skeleton.children)) { out.push([lefts.at(child), tops.at(child)]); } return out; })()], [...lefts.slice(skeleton.children, skeleton.first_waypoint)], [...lines], width, py_max([height, ...(() => { const out = []; for (const rule of rules) { out.push(rule.bottom); } return out; })()]), rules);
}
function _item_tops(chains, band, heights, trained) {
  let feeding, fed, steps, on_level_line, tops, item, height, strip, is_tall_rank;
  [feeding, fed] = [(() => { const out = new Set(); for (const chain of chains) { out.add(chain[0]); } return out; })(), (() => { const out = new Set(); for (const chain of chains) { out.add(chain.at(-1)); } return out; })()];
  steps = (() => { const out = []; for (const chain of chains) for (const [one, other] of py_pairwise(chain)) if ((band.has(one) && band.has(other))) { out.push([one, other]); } return out; })();
  on_level_line = (() => { const out = new Set(); for (const [one, other] of steps) if ((band.get(one).top === band.get(other).top)) for (const item of [one, other]) { out.add(item); } return out; })();
  tops = [];
  for ([item, height] of py_enumerate(heights)) {
    strip = py_get(band, item);
    if ((strip == null)) {
      tops.push(0);
      continue;
    }
    is_tall_rank = ((strip.bottom - strip.top) > (MIN_TALL_RATIO * height));
    if ((!is_tall_rank || trained.has(item) || on_level_line.has(item) || (feeding.has(item) === fed.has(item)))) {
      tops.push((strip.middle - Math.floor(height / 2)));
    }
    else {
      tops.push((feeding.has(item) ? (strip.bottom - height) : strip.top));
    }
  }
  return tops;
}
function _anchored_ends(skeleton, anchors) {
  let ends;
  ends = (() => { const out = []; for (const wire of py_range(skeleton.wires.length)) { out.push([py_get(anchors, [wire, 0], 0), py_get(anchors, [wire, 1], 0)]); } return out; })();
  return (() => { const out = []; for (const [wire, end] of py_zip(skeleton.wires, ends)) { out.push((wire.turned ? py_reversed(end) : end)); } return out; })();
}
function _item_thicknesses(skeleton, strokes) {
  let thick, wire, stroke, item;
  thick = py_repeat([0], (skeleton.first_waypoint + skeleton.waypoint.length));
  for ([wire, stroke] of py_zip(skeleton.wires, strokes)) {
    for (item of wire.chain) {
      if ((item >= skeleton.children)) {
        thick[py_position(thick, item)] = Math.max(thick.at(item), stroke.thick);
      }
    }
  }
  return thick;
}
function _main_path_items(skeleton) {
  return (() => { const out = new Set(); for (const wire of skeleton.main_path) for (const item of skeleton.wires.at(wire).chain) { out.add(item); } return out; })();
}
function _flush_parts_left(skeleton, lefts) {
  let part, least, row, item;
  for (part of skeleton.parts) {
    least = py_min((() => { const out = []; for (const row of part) { out.push(lefts.at(row[0])); } return out; })(), {default: 0});
    for (row of part) {
      for (item of row) {
        lefts[py_position(lefts, item)] -= least;
      }
    }
  }
}
function _find_hops(skeleton, chains, ends, lefts, strokes) {
  let place_, known, wires, passing, wire, chain, part, rank, step, upper, lower, start, end, key;
  place_ = item_ranks(skeleton);
  known = new TupleMap();
  wires = [];
  passing = (() => { const out = []; for (const part of skeleton.parts) { out.push((() => { const out = []; for (const _ of part.slice(1)) { out.push([]); } return out; })()); } return out; })();
  for ([wire, chain] of py_enumerate(chains)) {
    wires.push([]);
    [part, rank] = place_.get(chain[0]);
    for (step of py_range((chain.length - 1))) {
      [upper, lower] = [chain.at(step), chain.at((step + 1))];
      start = (lefts.at(upper) + (!step ? ends.at(wire)[0] : 0));
      end = (lefts.at(lower) + ((step === (chain.length - 2)) ? ends.at(wire)[1] : 0));
      key = [upper, lower, start, end];
      if (!known.has(key)) {
        known.set(key, new RankHop(wire, step, start, end, strokes.at(wire).thick, upper, lower));
        passing.at(part).at((rank + step)).push(known.get(key));
      }
      known.get(key).thick = Math.max(known.get(key).thick, strokes.at(wire).thick);
      wires.at(wire).push(known.get(key));
    }
  }
  return [wires, passing];
}
function _shift_hops(chains, wires, ends, lefts) {
  let moved, wire, chain, step, hop, start, end;
  moved = new TupleSet();
  for ([wire, chain] of py_enumerate(chains)) {
    for ([step, hop] of py_enumerate(wires.at(wire))) {
      if ((moved.has([hop.wire, hop.step]) || (hop.wire !== wire))) {
        continue;
      }
      moved.add([hop.wire, hop.step]);
      start = (lefts.at(chain.at(step)) + (!step ? ends.at(wire)[0] : 0));
      end = (lefts.at(chain.at((step + 1))) + ((step === (chain.length - 2)) ? ends.at(wire)[1] : 0));
      hop.middle += (start - hop.start);
      [hop.start, hop.end] = [start, end];
    }
  }
}
function _item_sizes(skeleton, sizes) {
  let none;
  none = py_repeat([0], (skeleton.ports.length + skeleton.waypoint.length));
  return [[...(() => { const out = []; for (const [width, _] of sizes) { out.push(width); } return out; })(), ...none], [...(() => { const out = []; for (const [_, height] of sizes) { out.push(height); } return out; })(), ...none]];
}
function _rank_distances(row, skeleton, widths, thick, gaps, room) {
  let first, result, left, right, lines, clearance;
  first = skeleton.first_waypoint;
  result = [];
  for ([left, right] of py_pairwise(row)) {
    lines = ((left >= first) + (right >= first));
    clearance = (lines ? _line_clearance(lines, (thick.at(left) + thick.at(right)), gaps) : gaps.siblings);
    result.push((widths.at(left) + Math.max(clearance, py_get(room, left, 0))));
  }
  return result;
}
function _item_alignments(skeleton, chains, ends, count, trained) {
  let above, below, first, heads, trunks, main, capped, turning, order, wire, chain, start, end, final, number, upper, lower, shift, weight;
  above = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  below = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  first = skeleton.first_waypoint;
  heads = column_heads(skeleton);
  trunks = new TupleSet();
  [main, capped] = [new Set(skeleton.main_path), capped_wires(skeleton)];
  turning = wires_across_to_gutter(skeleton, chains);
  order = [...skeleton.main_path, ...(() => { const out = []; for (const wire of py_range(chains.length)) if (!main.has(wire)) { out.push(wire); } return out; })()];
  for (wire of order) {
    [chain, [start, end]] = [chains.at(wire), ends.at(wire)];
    final = (chain.length - 2);
    for (number of py_range((final + 1))) {
      [upper, lower] = [chain.at(number), chain.at((number + 1))];
      if ((heads.has(lower) || (trained.has(upper) !== trained.has(lower)) || ((number === final) && capped.has(wire)))) {
        continue;
      }
      if ((!number && turning.has(wire) && (upper < skeleton.children))) {
        continue;
      }
      if (((upper >= first) || (lower >= first))) {
        if (trunks.has([upper, lower])) {
          continue;
        }
        trunks.add([upper, lower]);
      }
      shift = ((!number ? start : 0) - ((number === final) ? end : 0));
      weight = (main.has(wire) ? MAIN_PATH_WEIGHT : [1, 2, 8].at(((upper >= first) + (lower >= first))));
      above.at(lower).push([upper, shift, weight]);
      below.at(upper).push([lower, -shift, weight]);
    }
  }
  return [above, below];
}
function _shelve_parts(skeleton, layers, lefts, widths, tall, gaps) {
  let spans, origin, width, height, top, shelf, left, shelf_height, part, row, item, band;
  spans = (() => { const out = []; for (const [part, high] of py_zip(skeleton.parts, tall)) { out.push([py_max((() => { const out = []; for (const row of part) { out.push((lefts.at(row.at(-1)) + widths.at(row.at(-1)))); } return out; })(), {default: 0}), high]); } return out; })();
  origin = 0;
  width = origin;
  height = origin;
  if ((skeleton.port_part >= 0)) {
    [width, height] = spans.at(skeleton.port_part);
    origin = (width + gaps.parts);
  }
  top = 0;
  for (shelf of (gaps.upward ? py_reversed(skeleton.shelves) : skeleton.shelves)) {
    [left, shelf_height] = [origin, 0];
    for (part of shelf) {
      for (row of skeleton.parts.at(part)) {
        for (item of row) {
          lefts[py_position(lefts, item)] += left;
        }
      }
      for (band of layers.at(part)) {
        band.move(top);
      }
      left += (spans.at(part)[0] + gaps.parts);
      shelf_height = Math.max(shelf_height, spans.at(part)[1]);
    }
    width = Math.max(width, (left - gaps.parts));
    height = Math.max(height, (top + shelf_height));
    top += (shelf_height + gaps.parts);
  }
  if (((skeleton.port_part >= 0) && skeleton.ports.length && !skeleton.ports.at(-1).first)) {
    layers.at(skeleton.port_part).at(-1).move((height - layers.at(skeleton.port_part).at(-1).top));
  }
  return [width, height];
}
function _line_clearance(lines, thick, gaps) {
  return (((lines === 1) ? gaps.box : gaps.edge) + Math.floor((thick + 19) / 20));
}
function _wire_routes(skeleton, chains, hops, gaps, tops, heights, band, around, height) {
  let result, capped, wire, chain, upper, lower, points, number, turns, line;
  result = [];
  capped = capped_wires(skeleton);
  for ([wire, chain] of py_enumerate(chains)) {
    [upper, lower] = [chain[0], chain.at(-1)];
    points = [[hops.at(wire)[0].start, (tops.at(upper) + heights.at(upper))]];
    for (number of py_range((chain.length - 1))) {
      turns = py_get(around, [wire, number]);
      py_extend(points, ((turns == null) ? _hop_bends(hops.at(wire).at(number), band.get(chain.at(number))) : turns));
    }
    points.push([hops.at(wire).at(-1).end, (tops.at(lower) + (capped.has(wire) ? heights.at(lower) : 0))]);
    if ((upper >= skeleton.children)) {
      py_insert(points, 0, [points[0][0], (-gaps.beyond - gaps.bar[0])]);
    }
    if ((lower >= skeleton.children)) {
      points.push([points.at(-1)[0], ((height + gaps.beyond) + gaps.bar[1])]);
    }
    line = straighten_polyline(points);
    result.push([...(skeleton.wires.at(wire).turned ? py_reversed(line) : line)]);
  }
  return result;
}
function _hop_bends(hop, above) {
  let upper, lower;
  if ((hop.track < 0)) {
    return [];
  }
  upper = above.track_y(hop.track);
  if ((hop.last < 0)) {
    return [[hop.start, upper], [hop.end, upper]];
  }
  lower = above.track_y(hop.last);
  return [[hop.start, upper], [hop.middle, upper], [hop.middle, lower], [hop.end, lower]];
}

// place.feet
const FOOT_MARGIN_PX = 16;
const STACK_DISTANCE_PX = new LevelGaps().labelled;
class Foot {
  constructor(boxes, top, bottom, stack, port) {
    this.boxes = boxes;
    this.top = top;
    this.bottom = bottom;
    this.stack = stack;
    this.port = port;
  }
}
class RaisedEnd {
  constructor(item, port, depth) {
    this.item = item;
    this.port = port;
    this.depth = depth;
  }
}
function _foot_items(skeleton) {
  let starts, rows, way, boxes, alone;
  starts = (() => { const out = []; for (const wire of skeleton.main_path) if (_is_from_port(skeleton, wire)) { out.push(skeleton.wires.at(wire)); } return out; })();
  rows = ((skeleton.port_part >= 0) ? skeleton.parts.at(skeleton.port_part) : []);
  if (((starts.length !== 1) || (starts[0].chain.length !== 3) || starts[0].turned || (rows.length < 3) || py_any(skeleton.breaks))) {
    return [-1, []];
  }
  way = starts[0].chain[1];
  boxes = [...(() => { const out = []; for (const item of rows[1]) if ((item < skeleton.children)) { out.push(item); } return out; })()];
  alone = py_equal((() => { const out = []; for (const item of rows[2]) if ((item < skeleton.children)) { out.push(item); } return out; })(), [starts[0].chain.at(-1)]);
  return ((boxes.length && alone && rows[1].includes(way)) ? [way, boxes] : [-1, []]);
}
function _is_from_port(skeleton, wire) {
  return (skeleton.wires.at(wire).chain[0] >= skeleton.children);
}
function room_in_foot(skeleton, around, frame) {
  let outer, chains, before, names, piece;
  outer = around.skeleton;
  chains = (() => { const out = []; for (const wire of outer.main_path) if (!outer.wires.at(wire).turned) { out.push(outer.wires.at(wire).chain); } return out; })();
  before = (() => { const out = []; for (const chain of chains) if (((chain.length === 2) && (chain[1] === frame) && (chain[0] < outer.children))) { out.push(chain[0]); } return out; })();
  if (((before.length !== 1) || around.opened.has(before[0]) || !_foot_items(skeleton)[1].length)) {
    return 0;
  }
  names = box_names([...around.node_labels, ...around.functions]);
  piece = closed_piece(around.node_labels.at(before[0]), names.at(before[0]), around.words, before[0], true);
  return (Math.max((piece.x + Math.floor(piece.box[0] / 2)), ((piece.width - piece.x) - Math.floor(piece.box[0] / 2))) + FOOT_MARGIN_PX);
}
function rooms_in_foot(skeleton, room) {
  let way, boxes;
  [way, boxes] = (room ? _foot_items(skeleton) : [-1, []]);
  return (boxes.length ? py_fromkeys(Map, [way, ...boxes], room) : new Map());
}
function find_foot(skeleton, level, sizes) {
  let way, boxes, wire, tops, bottoms, sides, stack;
  [way, boxes] = _foot_items(skeleton);
  wire = py_next(py_iter((() => { const out = []; for (const wire of skeleton.main_path) if (skeleton.wires.at(wire).chain.includes(way)) { out.push(wire); } return out; })()), -1);
  if (((wire < 0) || (level.routes.at(wire).length !== 2))) {
    return null;
  }
  tops = (() => { const out = []; for (const item of boxes) { out.push(level.positions.at(item)[1]); } return out; })();
  bottoms = (() => { const out = []; for (const item of boxes) { out.push((level.positions.at(item)[1] + sizes.at(item)[1])); } return out; })();
  sides = (() => { const out = []; for (const item of boxes) { out.push([level.positions.at(item)[0], (level.positions.at(item)[0] + sizes.at(item)[0])]); } return out; })();
  stack = level.positions.at(skeleton.wires.at(wire).chain.at(-1))[1];
  return new Foot([...sides], py_min(tops), py_max(bottoms), stack, (skeleton.wires.at(wire).chain[0] - skeleton.children));
}
function stand_in_feet(skeleton, level, sizes, feet, gates) {
  let raised, wire, chain, source, item, plain, foot, border, top, high, centred_up, up, moved, depth, routes, turns_kept;
  raised = new Map();
  for (wire of skeleton.main_path) {
    chain = skeleton.wires.at(wire).chain;
    [source, item] = [chain[0], chain.at(-1)];
    plain = ((chain.length === 2) && !skeleton.wires.at(wire).turned && (source < skeleton.children));
    if ((!feet.has(item) || !plain || gates.has(source) || level.rules.length || skeleton.falling.length)) {
      continue;
    }
    [foot, border] = [feet.get(item), level.positions.at(item)[1]];
    [top, high] = [level.positions.at(source)[1], sizes.at(source)[1]];
    centred_up = (((border + Math.floor((foot.top + foot.bottom) / 2)) - top) - Math.floor(high / 2));
    up = Math.min(centred_up, ((((border + foot.stack) - top) - high) - STACK_DISTANCE_PX));
    moved = ((up > FOOT_MARGIN_PX) ? _moved_up(level, border, up) : null);
    if (((moved == null) || !_fits(level, sizes, foot, item, up))) {
      continue;
    }
    depth = (foot.stack - 1);
    routes = [...moved.routes];
    routes[py_position(routes, wire)] = [...routes.at(wire).slice(0, -1), [routes.at(wire).at(-1)[0], ((border - up) + depth)]];
    turns_kept = (() => { const out = []; for (const [one, two] of py_zip(level.routes, routes)) { out.push(py_equal(_directions(one), _directions(two))); } return out; })();
    if ((py_all(turns_kept) && (level.routes.at(wire).length === 2))) {
      level = py_replace(moved, {routes: [...routes]});
      raised.set(wire, new RaisedEnd(item, foot.port, depth));
    }
  }
  return [level, raised];
}
function _moved_up(level, border, up) {
  return py_replace(level, {positions: [...(() => { const out = []; for (const [x, y] of level.positions) { out.push([x, ((y >= border) ? (y - up) : y)]); } return out; })()], routes: [...(() => { const out = []; for (const line of level.routes) { out.push([...(() => { const out = []; for (const [x, y] of line) { out.push([x, ((y >= border) ? (y - up) : y)]); } return out; })()]); } return out; })()], height: (level.height - up)});
}
function _directions(line) {
  return (() => { const out = []; for (const [a, b] of py_pairwise(line)) { out.push([(a[0] < b[0]), (a[0] > b[0]), (a[1] < b[1]), (a[1] > b[1])]); } return out; })();
}
function _fits(level, sizes, foot, item, up) {
  let left, border, width, height, near, last, beside, child, x, y, wide, high, passes, line, end, goal, inside, run;
  [[left, border], [width, height]] = [level.positions.at(item), sizes.at(item)];
  [near, last] = [((border - up) - FOOT_MARGIN_PX), (((border - up) + foot.bottom) + FOOT_MARGIN_PX)];
  beside = (() => { const out = []; for (const [start, end] of foot.boxes) { out.push([(left + start), (left + end)]); } return out; })();
  for ([child, [x, y]] of py_enumerate(level.positions)) {
    [wide, high] = sizes.at(child);
    passes = (((y + high) <= near) || (y >= (border + height)) || !_is_near(x, (x + wide), [[left, (left + width)]], 0));
    if (((child === item) || !wide || (passes && !((border <= y) && (y < (border + height)))))) {
      continue;
    }
    if (((y >= border) || ((y + high) > last) || _is_near(x, (x + wide), beside, FOOT_MARGIN_PX))) {
      return false;
    }
  }
  for (line of level.routes) {
    for ([[x, y], [end, goal]] of py_pairwise(line)) {
      inside = (((near + FOOT_MARGIN_PX) < Math.max(y, goal)) && (Math.min(y, goal) < border));
      run = [Math.min(x, end), Math.max(x, end)];
      if ((inside && (Math.max(y, goal) < border) && _is_near(...run, beside, Math.floor(FOOT_MARGIN_PX / 2)))) {
        return false;
      }
    }
  }
  return true;
}
function _is_near(start, end, spans, margin) {
  return (() => { for (const [left, right] of spans) { if (((start < (right + margin)) && (end > (left - margin)))) return true; } return false; })();
}

// place.labels
const LABEL_CELL_PX = 64;
const LARGE_BOX_PX = (8 * LABEL_CELL_PX);
const RUN_SIXTEENTHS = [8, 6, 10, 4, 12, 2, 14];
const FINE_STEP_PX = 3;
const MAX_RUNS_TRIED = 4;
const LABEL_DISTANCE = 5;
const NEAR_LABEL_DISTANCE = 3;
const BOX_CLEARANCE = 1;
const LINE_CLEARANCE = 3;
const LABEL_CLEARANCE = 4;
const MAX_LABEL_WORK = 2000000;
const HALF_MAX_THICKNESS = Math.floor(THICKEST_TENTHS / 20);
class LabelObstacles {
  constructor() {
    this.rects = new TupleMap();
    this.large = [];
    this.runs = new TupleMap();
    this.work = 0;
  }
  add_rect(rect) {
    let cell;
    if ((Math.max((rect[2] - rect[0]), (rect[3] - rect[1])) > LARGE_BOX_PX)) {
      this.large.push(rect);
      return;
    }
    for (cell of _cells_of_rect(rect)) {
      py_setdefault(this.rects, cell, []).push(rect);
    }
  }
  add_line(owner, points, thick) {
    let run, noted, cell;
    for (run of _straight_runs(points)) {
      noted = [owner, Math.floor(thick / 20), run, _segment_bounds(run)];
      for (cell of cells_of_run(run)) {
        this.work += 1;
        py_setdefault(this.runs, cell, []).push(noted);
      }
    }
  }
  is_free(owner, rect) {
    let boxed, lined, cell, other, half, run, extent, near;
    [boxed, lined] = [_grow_rect(rect, BOX_CLEARANCE), _grow_rect(rect, (LINE_CLEARANCE + HALF_MAX_THICKNESS))];
    if ((() => { for (const other of this.large) { if (_rects_overlap(boxed, other)) return true; } return false; })()) {
      return false;
    }
    for (cell of _cells_of_rect(lined)) {
      if ((() => { for (const other of py_get(this.rects, cell, [])) { if (_rects_overlap(boxed, other)) return true; } return false; })()) {
        return false;
      }
      this.work += py_len(py_get(this.runs, cell, []));
      for ([other, half, run, extent] of py_get(this.runs, cell, [])) {
        near = ((other !== owner) ? _grow_rect(rect, (LINE_CLEARANCE + half)) : boxed);
        if ((_rects_meet(extent, near) && _line_crosses_rect(run, near))) {
          return false;
        }
      }
    }
    return true;
  }
}
class LineLabel {
  constructor(size, thick = 10, main = false) {
    this.size = size;
    this.thick = thick;
    this.main = main;
  }
}
function labels_said_once(view, line_labels, gates) {
  let skeleton, words, heard, kept, wire, chain, label, sides, ends_with_ports, ends, end;
  [skeleton, words] = [view.skeleton, view.words.lines];
  heard = new TupleMap();
  kept = new Map();
  for (wire of py_sorted(line_labels.keys(), {key: (wire) => [!line_labels.get(wire).main, wire]})) {
    [chain, label] = [skeleton.wires.at(wire).chain, words.get(wire).label];
    sides = (!label.includes(" ") ? [[0, chain[0]], [1, chain.at(-1)]] : []);
    ends_with_ports = (() => { const out = []; for (const [end, item] of sides) { out.push([end, item, port_at_end(view, wire, end, gates)]); } return out; })();
    ends = (() => { const out = []; for (const [end, item, port] of ends_with_ports) if ((!gates.has(item) || (port != null))) { out.push([end, item, port]); } return out; })();
    if (!(() => { for (const end of ends) { if (py_in(label, py_get(heard, end, []))) return true; } return false; })()) {
      kept.set(wire, line_labels.get(wire));
      for (end of ends) {
        py_setdefault(heard, end, []).push(label);
      }
    }
  }
  return (() => { const out = new Map(); for (const [wire, label] of line_labels.entries()) if (kept.has(wire)) { out.set(wire, label); } return out; })();
}
function place_labels(lines, labels, taken, bounds, own = null, thick = null) {
  let obstacles, rect, wire, points, placed, label, middle;
  if (!labels.size) {
    return new Map();
  }
  obstacles = new LabelObstacles();
  for (rect of taken) {
    obstacles.add_rect(rect);
  }
  for ([wire, points] of lines.entries()) {
    obstacles.add_line(wire, points, (py_truth(thick) ? py_get(thick, wire, 0) : 0));
    if ((obstacles.work > MAX_LABEL_WORK)) {
      return new Map();
    }
  }
  placed = new Map();
  for ([wire, label] of py_sorted(labels.entries(), {key: (item) => [!item[1].main, item[0]]})) {
    if ((obstacles.work > MAX_LABEL_WORK)) {
      break;
    }
    for (middle of _label_candidates((py_truth(own) ? own.get(wire) : lines.get(wire)), label)) {
      rect = _label_rect(middle, label.size);
      if ((_is_within(rect, bounds) && obstacles.is_free(wire, rect))) {
        placed.set(wire, middle);
        obstacles.add_rect(_grow_rect(rect, LABEL_CLEARANCE));
        break;
      }
    }
  }
  return placed;
}
function label_overhang(lines, labels, extent, axis) {
  let before, after, wire, label, middle, half;
  before = 0;
  after = before;
  for ([wire, label] of labels.entries()) {
    middle = (label.main ? py_next(py_iter(_label_candidates(lines.get(wire), label)), null) : null);
    if ((middle != null)) {
      half = Math.floor(label.size.at(axis) / 2);
      before = Math.max(before, ((half + 1) - middle.at(axis)));
      after = Math.max(after, ((((middle.at(axis) + label.size.at(axis)) - half) + 1) - extent));
    }
  }
  return [before, after];
}
function *_label_candidates(points, label) {
  let runs, straight, parts, beside, start, stop, dx, dy, steep, need, along, off, lean, part, whole, x, y, side;
  runs = _straight_runs(points);
  straight = py_sorted(runs, {key: (run) => -_squared_length(run)});
  if ((() => { for (const run of runs) { if (_are_opposite(run, runs.at(-1))) return true; } return false; })()) {
    py_insert(straight, 0, runs.at(-1));
  }
  for ([parts, beside] of [[_coarse_parts, LABEL_DISTANCE], [_fine_parts, NEAR_LABEL_DISTANCE]].slice(0, (label.main ? 2 : 1))) {
    for ([start, stop] of straight.slice(0, MAX_RUNS_TRIED)) {
      [dx, dy] = [(stop[0] - start[0]), (stop[1] - start[1])];
      steep = (Math.abs(dy) >= Math.abs(dx));
      [need, along] = [label.size.at((steep ? 1 : 0)), Math.max(Math.abs(dx), Math.abs(dy))];
      if ((along < need)) {
        continue;
      }
      off = ((beside + Math.floor(label.thick / 20)) + Math.floor(label.size.at((steep ? 0 : 1)) / 2));
      lean = Math.floor((need * Math.min(Math.abs(dx), Math.abs(dy))) / (2 * along));
      for ([part, whole] of parts(along, need)) {
        [x, y] = [(start[0] + Math.floor((dx * part) / whole)), (start[1] + Math.floor((dy * part) / whole))];
        for (side of (steep ? [1, -1] : [-1, 1])) {
          yield (steep ? [(x + (side * (off + lean))), y] : [x, (y + (side * (off + lean)))]);
        }
      }
    }
  }
}
function _coarse_parts(along, need) {
  return (() => { const out = []; for (const part of RUN_SIXTEENTHS) if ((((2 * Math.min(part, (16 - part))) * along) >= (16 * need))) { out.push([part, 16]); } return out; })();
}
function _fine_parts(along, need) {
  let reach, steps;
  reach = Math.floor((along - need) / 2);
  steps = (() => { const out = []; for (const off of py_range(0, (reach + 1), FINE_STEP_PX)) for (const step of (off ? [off, -off] : [0])) { out.push(step); } return out; })();
  return (() => { const out = []; for (const step of steps) { out.push([(Math.floor(along / 2) - step), along]); } return out; })();
}
function _straight_runs(points) {
  return [...py_pairwise(straighten_polyline(points))];
}
function _are_opposite(run, other) {
  let dx, dy, ex, ey;
  [[dx, dy], [ex, ey]] = (() => { const out = []; for (const [start, end] of [run, other]) { out.push([(end[0] - start[0]), (end[1] - start[1])]); } return out; })();
  return (((dx * ey) === (dy * ex)) && (((dx * ex) + (dy * ey)) < 0));
}
function _squared_length(run) {
  return (((run[1][0] - run[0][0]) ** 2) + ((run[1][1] - run[0][1]) ** 2));
}
function _segment_bounds(run) {
  let ax, ay, bx, by;
  [[ax, ay], [bx, by]] = run;
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
}
function _label_rect(middle, size) {
  let left, top;
  [left, top] = [(middle[0] - Math.floor(size[0] / 2)), (middle[1] - Math.floor(size[1] / 2))];
  return [left, top, (left + size[0]), (top + size[1])];
}
function _grow_rect(rect, by) {
  return [(rect[0] - by), (rect[1] - by), (rect[2] + by), (rect[3] + by)];
}
function _cells_of_rect(rect) {
  return (() => { const out = []; for (const column of py_range(Math.floor(rect[0] / LABEL_CELL_PX), (Math.floor(rect[2] / LABEL_CELL_PX) + 1))) for (const row of py_range(Math.floor(rect[1] / LABEL_CELL_PX), (Math.floor(rect[3] / LABEL_CELL_PX) + 1))) { out.push([column, row]); } return out; })();
}
function cells_of_run(run) {
  let ax, ay, bx, by, wide, tall, found, column, first, last, enter, leave;
  [[ax, ay], [bx, by]] = ((run[0][0] <= run[1][0]) ? run : [run[1], run[0]]);
  [wide, tall] = [(bx - ax), (by - ay)];
  found = [];
  for (column of py_range(Math.floor(ax / LABEL_CELL_PX), (Math.floor(bx / LABEL_CELL_PX) + 1))) {
    [first, last] = [Math.floor(ay / LABEL_CELL_PX), Math.floor(by / LABEL_CELL_PX)];
    if (wide) {
      [enter, leave] = [Math.max(ax, (column * LABEL_CELL_PX)), py_min([bx, ((column + 1) * LABEL_CELL_PX)])];
      first = Math.floor(((ay * wide) + (tall * (enter - ax))) / (wide * LABEL_CELL_PX));
      last = Math.floor(((ay * wide) + (tall * (leave - ax))) / (wide * LABEL_CELL_PX));
    }
    py_extend(found, (() => { const out = []; for (const row of py_range(Math.min(first, last), (Math.max(first, last) + 1))) { out.push([column, row]); } return out; })());
  }
  return found;
}
function _is_within(inner, outer) {
  return ((outer[0] <= inner[0]) && (outer[1] <= inner[1]) && (inner[2] <= outer[2]) && (inner[3] <= outer[3]));
}
function _rects_overlap(first, second) {
  return ((first[0] < second[2]) && (second[0] < first[2]) && (first[1] < second[3]) && (second[1] < first[3]));
}
function _rects_meet(first, second) {
  return ((first[0] <= second[2]) && (second[0] <= first[2]) && (first[1] <= second[3]) && (second[1] <= first[3]));
}
function _line_crosses_rect(run, rect) {
  let ax, ay, bx, by, corners, sides;
  [[ax, ay], [bx, by]] = run;
  corners = [[rect[0], rect[1]], [rect[0], rect[3]], [rect[2], rect[1]], [rect[2], rect[3]]];
  sides = (() => { const out = []; for (const [x, y] of corners) { out.push((((bx - ax) * (y - ay)) - ((by - ay) * (x - ax)))); } return out; })();
  return ((py_min(sides) <= 0) && (0 <= py_max(sides)));
}
function unshared_parts(skeleton, routes, wanted) {
  let own, wires, shared, wire;
  own = (() => { const out = new Map(); for (const wire of wanted) { out.set(wire, routes.get(wire)); } return out; })();
  if (!own.size) {
    return own;
  }
  for (wires of _lines_sharing_waypoints(skeleton, routes)) {
    shared = _shared_stretches((() => { const out = []; for (const wire of wires) { out.push(routes.get(wire)); } return out; })());
    for (wire of wires) {
      if (own.has(wire)) {
        own.set(wire, _up_to_shared(routes.get(wire), shared));
      }
    }
  }
  return own;
}
function _lines_sharing_waypoints(skeleton, routes) {
  let users, wire, chain, item, sharing, _, box, wires;
  users = new TupleMap();
  for (wire of routes.keys()) {
    chain = skeleton.wires.at(wire).chain;
    for (item of chain.slice(1, -1)) {
      py_setdefault(users, [item, chain.at(-1)], []).push(wire);
    }
  }
  sharing = new Map();
  for ([[_, box], wires] of users.entries()) {
    if ((wires.length > 1)) {
      py_add_all(py_setdefault(sharing, box, new Set()), wires);
    }
  }
  return (() => { const out = []; for (const wires of sharing.values()) { out.push(py_sorted(wires)); } return out; })();
}
function _shared_stretches(lines) {
  let changes, points, start, stop, track, ending, ends, running, end, change;
  changes = new TupleMap();
  for (points of lines) {
    for ([start, stop] of py_pairwise(points)) {
      if (!py_equal(start, stop)) {
        track = _run_track(start, stop);
        py_extend(py_setdefault(changes, track, []), [[_distance_along(track, start), 1], [_distance_along(track, stop), -1]]);
      }
    }
  }
  ending = new TupleMap();
  for ([track, ends] of changes.entries()) {
    running = 0;
    for ([end, change] of py_sorted(ends)) {
      running += change;
      if ((running === ((change > 0) ? 2 : 1))) {
        py_setdefault(ending, track, []).push(end);
      }
    }
  }
  return ending;
}
function _up_to_shared(points, shared) {
  let kept, start, stop, track, bounds, here, following, shared_from, dx, dy, _, steps, shared_start;
  kept = [points[0]];
  for ([start, stop] of py_pairwise(points)) {
    if (!py_equal(start, stop)) {
      track = _run_track(start, stop);
      [bounds, here] = [py_get(shared, track, []), _distance_along(track, start)];
      following = py_bisect_right(bounds, here);
      shared_from = (py_mod(following, 2) ? here : ((following < bounds.length) ? bounds.at(following) : _distance_along(track, stop)));
      if ((shared_from < _distance_along(track, stop))) {
        [dx, dy, _] = track;
        steps = Math.floor((shared_from - here) / ((dx * dx) + (dy * dy)));
        shared_start = [(start[0] + (steps * dx)), (start[1] + (steps * dy))];
        return (py_equal(shared_start, points[0]) ? points : (!py_equal(shared_start, start) ? [...kept, shared_start] : kept));
      }
    }
    kept.push(stop);
  }
  return kept;
}
function _run_track(start, stop) {
  let dx, dy, common;
  [dx, dy] = [(stop[0] - start[0]), (stop[1] - start[1])];
  common = py_gcd(dx, dy);
  [dx, dy] = [Math.floor(dx / common), Math.floor(dy / common)];
  return [dx, dy, ((dx * start[1]) - (dy * start[0]))];
}
function _distance_along(track, point) {
  return ((track[0] * point[0]) + (track[1] * point[1]));
}

// place.ties
const MIN_TIE_PX = 40;
const TIE_LABEL_MARGIN_PX = 24;
const SHORT_TIE_LABEL_MARGIN_PX = 8;
const UNDERPASS_PX = 20;
class SidePort {
  constructor(wire, side, place_, end, room, saved_length, saved_bends) {
    this.wire = wire;
    this.side = side;
    this.place = place_;
    this.end = end;
    this.room = room;
    this.saved_length = saved_length;
    this.saved_bends = saved_bends;
  }
}
class InnerPorts {
  constructor(gates, ports, side_ports, slides, feet) {
    this.gates = gates;
    this.ports = ports;
    this.side_ports = side_ports;
    this.slides = slides;
    this.feet = feet;
  }
}
class Tie {
  constructor(left, right, room, depth, start, end) {
    this.left = left;
    this.right = right;
    this.room = room;
    this.depth = depth;
    this.start = start;
    this.end = end;
  }
}
function find_ties(view, pieces, line_labels, inner, direction) {
  let skeleton, upright, ties, widths, rooms, wire, legs, margin, room, left, right, start, end, straight;
  [skeleton, upright] = [view.skeleton, is_vertical(direction)];
  ties = new Map();
  widths = (() => { const out = []; for (const piece of pieces) { out.push(flow_size(direction, piece.box)[0]); } return out; })();
  rooms = new Map();
  for (wire of py_range(first_tie(skeleton), skeleton.wires.length)) {
    legs = _joins_legs(view, wire);
    rooms.set(wire, (legs ? py_max((() => { const out = []; for (const end of skeleton.wires.at(wire).chain) { out.push(widths.at(end)); } return out; })()) : MIN_TIE_PX));
    if ((line_labels.has(wire) && (legs || line_labels.get(wire).main))) {
      margin = (legs ? TIE_LABEL_MARGIN_PX : SHORT_TIE_LABEL_MARGIN_PX);
      rooms.set(wire, Math.max(rooms.get(wire), (flow_size(direction, line_labels.get(wire).size)[0] + (2 * margin))));
    }
  }
  for ([wire, room] of _aligned_rooms(view, rooms, widths).entries()) {
    [left, right] = skeleton.wires.at(wire).chain;
    [start, end] = [_touch(view, wire, 0, pieces.at(left), inner, upright), _touch(view, wire, 1, pieces.at(right), inner, upright)];
    straight = ((start < 0) && (end < 0));
    if ((start < 0)) {
      start = (_flow_start(pieces.at(left), upright) + Math.floor((3 * flow_size(direction, pieces.at(left).box)[0]) / 4));
    }
    if ((end < 0)) {
      end = (_flow_start(pieces.at(right), upright) + Math.floor(flow_size(direction, pieces.at(right).box)[0] / 4));
    }
    ties.set(wire, new Tie(left, right, room, (straight ? 0 : UNDERPASS_PX), start, end));
  }
  return ties;
}
function _joins_legs(view, wire) {
  return ((view.skeleton.falling.length > 0) && !view.line_of_wire(wire).training);
}
function _aligned_rooms(view, rooms, widths) {
  let halves, legs, apart;
  halves = (() => { const out = new Map(); for (const wire of rooms.keys()) { out.set(wire, Math.floor(py_sum((() => { const out = []; for (const end of view.skeleton.wires.at(wire).chain) { out.push(widths.at(end)); } return out; })()) / 2)); } return out; })();
  legs = (() => { const out = []; for (const wire of rooms.keys()) if (_joins_legs(view, wire)) { out.push(wire); } return out; })();
  apart = py_max((() => { const out = []; for (const wire of legs) { out.push((rooms.get(wire) + halves.get(wire))); } return out; })(), {default: 0});
  return (() => { const out = new Map(); for (const [wire, room] of rooms.entries()) { out.set(wire, (legs.includes(wire) ? (apart - halves.get(wire)) : room)); } return out; })();
}
function _touch(view, wire, end, piece, inner, upright) {
  let box, port, start, wide, whole, free;
  box = view.skeleton.wires.at(wire).chain.at(end);
  if (inner.gates.has(box)) {
    port = port_at_end(view, wire, end, inner.gates);
    if ((port != null)) {
      return inner.ports.get(box).at(port).at((upright ? 0 : 1));
    }
  }
  [start, wide, whole] = (upright ? [piece.x, piece.box[0], piece.width] : [piece.y, piece.box[1], piece.height]);
  free = (end ? (start === 0) : ((start + wide) === whole));
  return (free ? -1 : (start + (end ? Math.floor(wide / 4) : Math.floor((3 * wide) / 4))));
}
function _flow_start(piece, upright) {
  return (upright ? piece.x : piece.y);
}
function tied_sides(ties) {
  return py_union((() => { const out = new Set(); for (const tie of ties.values()) { out.add(((2 * tie.left) + 1)); } return out; })(), (() => { const out = new Set(); for (const tie of ties.values()) { out.add((2 * tie.right)); } return out; })());
}
function tie_points(tie, slots, level, turn) {
  let start_x, start_y, end_x, end_y, piece, corner, other, goal, upright, middle, right, foot, across, ends, bends;
  [[start_x, start_y], [end_x, end_y]] = [level.positions.at(tie.left), level.positions.at(tie.right)];
  [[piece, corner], [other, goal]] = [slots.get(tie.left), slots.get(tie.right)];
  upright = turn.runs_vertically;
  if (!tie.depth) {
    middle = turn.to_screen([0, (start_y + Math.floor((upright ? piece.height : piece.width) / 2))]);
    if (upright) {
      right = (((corner[0] + piece.x) + piece.box[0]) - piece.behind[0]);
      return [[right, middle[1]], [(goal[0] + other.x), middle[1]]];
    }
    foot = ((corner[1] + piece.y) + piece.box[1]);
    return [[middle[0], foot], [middle[0], ((goal[1] + other.y) + other.behind[1])]];
  }
  across = (Math.min(start_y, end_y) - tie.depth);
  ends = [[(start_x + tie.start), start_y], [(end_x + tie.end), end_y]];
  bends = (() => { const out = []; for (const [x, _] of ends) { out.push(turn.to_screen([x, across])); } return out; })();
  return [border_point(piece, corner, turn.to_screen(ends[0]), upright), ...bends, border_point(other, goal, turn.to_screen(ends[1]), upright)];
}

// place.side_ports
const CLEARANCE_PX = 8;
const START_PX = 11;
const STEP_PX = 10;
const TRACK_PX = 30;
const SIDE_SHARES = [4, 2, 1];
const MAX_COMPARED_ROUTES = 120;
class SideEntry {
  constructor(wire, item, port, before, place_) {
    this.wire = wire;
    this.item = item;
    this.port = port;
    this.before = before;
    this.place = place_;
  }
}
function find_side_ports(view, routes, slots, opened, borders, labelled) {
  let skeleton, lines, wire, chain, item, found, port, wires, points, may_move, before, end, side, run, others, boxes, piece, _, room;
  if ((routes.size > MAX_COMPARED_ROUTES)) {
    return new Map();
  }
  skeleton = view.skeleton;
  lines = new Map();
  for (wire of routes.keys()) {
    chain = skeleton.wires.at(wire).chain;
    for (item of [chain[0], chain.at(-1)]) {
      if ((item >= skeleton.children)) {
        py_setdefault(lines, (item - skeleton.children), []).push(wire);
      }
    }
  }
  found = new Map();
  for ([port, wires] of lines.entries()) {
    wire = wires[0];
    [points, chain] = [routes.get(wire), skeleton.wires.at(wire).chain];
    may_move = ((wires.length === 1) && skeleton.ports.at(port).first && slots.has(chain.at(-1)) && !opened.has(chain.at(-1)));
    if ((!may_move || (points.length < 3) || labelled.has(wire) || skeleton.main_path.includes(wire) || (view.line_of_wire(wire).kind === "reference"))) {
      continue;
    }
    [before, end] = [points.at(-2), points.at(-1)];
    if (((before[1] !== end[1]) || (points[0][1] === end[1]))) {
      continue;
    }
    side = ((before[0] < end[0]) ? -1 : 1);
    run = [[borders.at(((side < 0) ? 0 : 1)), end[1]], end];
    others = (() => { const out = new Map(); for (const [other, line] of routes.entries()) if (!py_equal(line.at(-1), end)) { out.set(other, line); } return out; })();
    boxes = (() => { const out = []; for (const [item, slot] of slots.entries()) if ((item !== chain.at(-1))) { out.push(_slot_box(slot)); } return out; })();
    if ((!_is_clear(run, boxes, others) || (count_crossings(run, others) > count_crossings(points, others)))) {
      continue;
    }
    [piece, _] = slots.get(chain.at(-1));
    room = (Math.floor(piece.box[1] / 2) - CLEARANCE_PX);
    found.set(port, new SidePort(wire, side, run[0], end, room, (_length_of_side_ports(points) - _length_of_side_ports(run)), (points.length - 2)));
  }
  return found;
}
function find_slides(view, routes, slots, ports, width, labelled) {
  let counts, found, wire, points, start, port, x, y, _, turn, onward, others, rectangles, low, high, left, top, right, bottom;
  if ((routes.size > MAX_COMPARED_ROUTES)) {
    return new Map();
  }
  counts = new Counter((() => { const out = []; for (const wire of routes.keys()) { out.push(view.skeleton.wires.at(wire).chain[0]); } return out; })());
  found = new Map();
  for ([wire, points] of routes.entries()) {
    start = view.skeleton.wires.at(wire).chain[0];
    port = (start - view.skeleton.children);
    if (((port < 0) || (counts.get(start) > 1) || (points.length < 3) || labelled.has(wire) || view.skeleton.main_path.includes(wire))) {
      continue;
    }
    [[x, y], [_, turn], [onward, _]] = points.slice(0, 3);
    if ((!view.skeleton.ports.at(port).first || !py_equal(points[0], ports.at(port)) || (points[1][0] !== x) || (onward === x))) {
      continue;
    }
    others = (() => { const out = []; for (const [other, line] of routes.entries()) if ((other !== wire)) { out.push(line); } return out; })();
    rectangles = (() => { const out = []; for (const slot of slots.values()) { out.push(_slot_box(slot)); } return out; })();
    py_extend(rectangles, (() => { const out = []; for (const line of others) for (const [a, b] of py_pairwise(line)) { out.push([Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]), Math.max(a[1], b[1])]); } return out; })());
    [low, high] = [Math.floor(TRACK_PX / 2), (width - Math.floor(TRACK_PX / 2))];
    for ([left, top, right, bottom] of rectangles) {
      if (((top < (Math.max(y, turn) + CLEARANCE_PX)) && (bottom > (Math.min(y, turn) - CLEARANCE_PX)))) {
        low = ((right <= x) ? Math.max(low, (right + Math.floor(TRACK_PX / 2))) : low);
        high = ((left >= x) ? Math.min(high, (left - Math.floor(TRACK_PX / 2))) : high);
      }
    }
    [low, high] = ((onward > x) ? [low, x] : [x, high]);
    if ((low < high)) {
      found.set(port, [low, high]);
    }
  }
  return found;
}
function slide_ports(view, routes, slots, inner) {
  let slid, wire, points, item, offered, port, x, left, line, others, boxes, free;
  slid = new Map();
  for ([wire, points] of new Map([...routes]).entries()) {
    item = view.skeleton.wires.at(wire).chain.at(-1);
    offered = (slots.has(item) ? py_get(inner.slides, item, new Map()) : new Map());
    port = (offered.size ? port_at_end(view, wire, 1, inner.gates) : null);
    if (((port == null) || !offered.has(port) || (points.length !== 4) || (points[0][0] !== points[1][0]))) {
      continue;
    }
    [x, left] = [points[0][0], slots.get(item)[1][0]];
    line = [points[0], [x, points.at(-1)[1]]];
    others = (() => { const out = new Map(); for (const [other, run] of routes.entries()) if ((other !== wire)) { out.set(other, run); } return out; })();
    boxes = (() => { const out = []; for (const [other, slot] of slots.entries()) if (![item, view.skeleton.wires.at(wire).chain[0]].includes(other)) { out.push(_slot_box(slot)); } return out; })();
    free = (((offered.get(port)[0] <= (x - left)) && ((x - left) <= offered.get(port)[1])) && _is_clear(line, boxes, others));
    if ((free && (count_crossings(line, others) <= count_crossings(points, others)))) {
      routes.set(wire, line);
      py_setdefault(slid, item, new Map()).set(port, (x - left));
    }
  }
  return slid;
}
function enter_at_sides(view, routes, slots, inner) {
  let found, entry, port, entered, item, side, _, entries, room, number, y;
  if ((routes.size > MAX_COMPARED_ROUTES)) {
    return new Map();
  }
  found = new TupleMap();
  for ([entry, port] of _possible_entries(view, routes, slots, inner)) {
    py_setdefault(found, [entry.item, port.side, port.end], []).push(entry);
  }
  entered = new Map();
  for ([[item, side, _], entries] of found.entries()) {
    room = py_min((() => { const out = []; for (const entry of entries) { out.push(inner.side_ports.get(item).get(entry.port).room); } return out; })());
    if ((((entries.length - 1) * STEP_PX) > (2 * room))) {
      continue;
    }
    py_sort(entries, {key: (entry) => _turn_order(entry, side)});
    for ([number, entry] of py_enumerate(entries)) {
      y = ((entry.place[1] + (number * STEP_PX)) - Math.floor(((entries.length - 1) * STEP_PX) / 2));
      if (_improves(entry, y, view.skeleton, routes, slots)) {
        routes.set(entry.wire, _line_to_side(entry, y));
        py_setdefault(entered, item, new Map()).set(entry.port, (y - slots.get(item)[1][1]));
      }
    }
  }
  return entered;
}
function *move_beside(view, routes, slots, inner, width, labels) {
  let skeleton, lines, starts, counts, wire, start, item, points, offers, port, side, piece, corner, x, place_, line, others, outermost, boxes, free;
  skeleton = view.skeleton;
  if (((routes.size > MAX_COMPARED_ROUTES) || !inner.side_ports.size)) {
    return;
  }
  lines = new Map([...routes]);
  starts = (() => { const out = new Map(); for (const wire of routes.keys()) { out.set(wire, (skeleton.wires.at(wire).chain[0] - skeleton.children)); } return out; })();
  starts = (() => { const out = new Map(); for (const [wire, port] of starts.entries()) if (((port >= 0) && skeleton.ports.at(port).first)) { out.set(wire, port); } return out; })();
  counts = new Counter(starts.values());
  for ([wire, start] of starts.entries()) {
    [item, points] = [skeleton.wires.at(wire).chain.at(-1), routes.get(wire)];
    offers = (slots.has(item) ? py_get(inner.side_ports, item, new Map()) : new Map());
    port = (offers.size ? port_at_end(view, wire, 1, inner.gates) : null);
    if (((counts.get(start) > 1) || (port == null) || !offers.has(port) || (points.length > 2) || skeleton.main_path.includes(wire))) {
      continue;
    }
    [side, [piece, corner]] = [offers.get(port).side, slots.get(item)];
    x = ((side < 0) ? (corner[0] - TRACK_PX) : ((corner[0] + piece.width) + TRACK_PX));
    if (!((Math.floor(TRACK_PX / 2) <= x) && (x <= (width - Math.floor(TRACK_PX / 2))))) {
      continue;
    }
    place_ = [(corner[0] + offers.get(port).place[0]), (corner[1] + offers.get(port).place[1])];
    line = [[x, points[0][1]], [x, place_[1]], place_];
    others = (() => { const out = new Map(); for (const [other, run] of lines.entries()) if ((other !== wire)) { out.set(other, run); } return out; })();
    outermost = (() => { for (const other of starts.keys()) if ((other !== wire)) { if (!(((x - lines.get(other)[0][0]) * side) > 0)) return false; } return true; })();
    boxes = [...labels, ...(() => { const out = []; for (const [other, slot] of slots.entries()) if ((other !== item)) { out.push(_slot_box(slot)); } return out; })()];
    free = (outermost && _is_clear(line, boxes, others));
    if ((free && (count_crossings(line, others) <= count_crossings(points, others)))) {
      lines.set(wire, line);
      yield [new SideEntry(wire, item, port, line.slice(0, 1), place_), line];
    }
  }
}
function leave_at_sides(view, routes, slots, headings) {
  let wire, points, source, target, training, piece, left, top, right, high, others, boxes, share, y, line;
  if ((routes.size > MAX_COMPARED_ROUTES)) {
    return;
  }
  for ([wire, points] of new Map([...routes]).entries()) {
    [source, target] = [view.skeleton.wires.at(wire).chain[0], view.skeleton.wires.at(wire).chain.at(-1)];
    training = (view.line_of_wire(wire).training === TARGET_TRAINS);
    if ((!training || (points.length !== 4) || !slots.has(source) || (points[0][0] !== points[1][0]))) {
      continue;
    }
    [piece, [left, top]] = slots.get(source);
    [right, high] = [(((left + piece.x) + piece.box[0]) - piece.behind[0]), (piece.box[1] - piece.behind[1])];
    if ((points.at(-1)[0] < (right + (2 * CLEARANCE_PX)))) {
      continue;
    }
    others = (() => { const out = new Map(); for (const [other, line] of routes.entries()) if ((other !== wire)) { out.set(other, line); } return out; })();
    boxes = [...headings, ...(() => { const out = []; for (const [item, slot] of slots.entries()) if (![source, target].includes(item)) { out.push(_slot_box(slot)); } return out; })()];
    for (share of SIDE_SHARES) {
      y = (((top + piece.y) + piece.behind[1]) + Math.floor((high * share) / 8));
      line = [[right, y], [points.at(-1)[0], y], points.at(-1)];
      if ((_is_clear(line, boxes, others) && (count_crossings(line, others) <= count_crossings(points, others)))) {
        routes.set(wire, line);
        break;
      }
    }
  }
}
function *_possible_entries(view, routes, slots, inner) {
  let skeleton, taken, wire, item, port, wires, side, corner, place_, before, line, points;
  skeleton = view.skeleton;
  taken = new TupleMap();
  for (wire of routes.keys()) {
    item = skeleton.wires.at(wire).chain.at(-1);
    port = ((inner.side_ports.has(item) && slots.has(item)) ? port_at_end(view, wire, 1, inner.gates) : null);
    if (((port != null) && inner.side_ports.get(item).has(port))) {
      py_setdefault(taken, [item, port], []).push(wire);
    }
  }
  for ([[item, port], wires] of taken.entries()) {
    wire = wires[0];
    if (((wires.length > 1) || skeleton.wires.at(wire).turned || skeleton.main_path.includes(wire))) {
      continue;
    }
    [side, corner] = [inner.side_ports.get(item).get(port), slots.get(item)[1]];
    place_ = [(corner[0] + side.place[0]), (corner[1] + side.place[1])];
    before = _points_beside(routes.get(wire), place_, side.side);
    if ((before == null)) {
      continue;
    }
    [line, points] = [[...before, [before.at(-1)[0], place_[1]], place_], routes.get(wire)];
    if (((_length_of_side_ports(line) <= (_length_of_side_ports(points) + side.saved_length)) && (line.length < (points.length + side.saved_bends)))) {
      yield [new SideEntry(wire, item, port, before, place_), side];
    }
  }
}
function _points_beside(points, place_, side) {
  let number, x, y, other, end, onward;
  for (number of py_range((points.length - 2), -1, -1)) {
    [[x, y], [other, end]] = [points.at(number), points.at((number + 1))];
    if (((x === other) && (y !== end) && (((x - place_[0]) * side) >= CLEARANCE_PX))) {
      onward = ((place_[1] - y) * ((end > y) ? 1 : -1));
      return ((number || (onward >= START_PX)) ? points.slice(0, (number + 1)) : null);
    }
  }
  return null;
}
function _turn_order(entry, side) {
  let x, y, below;
  [x, y] = entry.before.at(-1);
  below = (y > entry.place[1]);
  return [below, (below ? (-side * x) : (side * x))];
}
function _line_to_side(entry, y) {
  return [...entry.before, [entry.before.at(-1)[0], y], [entry.place[0], y]];
}
function _improves(entry, y, skeleton, routes, slots) {
  let line, was, others, ends, boxes, apart, fresh;
  [line, was] = [_line_to_side(entry, y), routes.get(entry.wire)];
  others = (() => { const out = new Map(); for (const [wire, points] of routes.entries()) if ((wire !== entry.wire)) { out.set(wire, points); } return out; })();
  ends = [skeleton.wires.at(entry.wire).chain[0], entry.item];
  boxes = (() => { const out = []; for (const [item, slot] of slots.entries()) if (!ends.includes(item)) { out.push(_slot_box(slot)); } return out; })();
  apart = (() => { const out = new Map(); for (const [wire, points] of others.entries()) if (!py_equal(points[0], line[0])) { out.set(wire, points); } return out; })();
  fresh = (_is_between(line.at(-2), ...was.slice((entry.before.length - 1), (entry.before.length + 1))) ? line.slice(-2) : line.slice(-3));
  return (_is_clear(fresh, boxes, apart) && (count_crossings(line, others) <= count_crossings(was, others)));
}
function _is_between(point, start, end) {
  return ((Math.min(start[1], end[1]) <= point[1]) && (point[1] <= Math.max(start[1], end[1])));
}
function _slot_box(slot) {
  let piece, x, y;
  [piece, [x, y]] = slot;
  return [x, y, (x + piece.width), (y + piece.height)];
}
function _is_clear(points, boxes, routes) {
  let start, end, left, right, top, bottom, along, line, one, two, parallel, near, first, last;
  for ([start, end] of py_pairwise(points)) {
    [left, right] = [(Math.min(start[0], end[0]) - CLEARANCE_PX), (Math.max(start[0], end[0]) + CLEARANCE_PX)];
    [top, bottom] = [(Math.min(start[1], end[1]) - CLEARANCE_PX), (Math.max(start[1], end[1]) + CLEARANCE_PX)];
    if ((() => { for (const [x, y, other_x, other_y] of boxes) { if (((x < right) && (other_x > left) && (y < bottom) && (other_y > top))) return true; } return false; })()) {
      return false;
    }
    along = ((start[1] === end[1]) ? 0 : 1);
    for (line of routes.values()) {
      for ([one, two] of py_pairwise(line)) {
        parallel = (one.at((1 - along)) === two.at((1 - along)));
        near = (Math.abs((one.at((1 - along)) - start.at((1 - along)))) < CLEARANCE_PX);
        [first, last] = py_sorted([one.at(along), two.at(along)]);
        if ((parallel && near && (first < Math.max(start.at(along), end.at(along))) && (last > Math.min(start.at(along), end.at(along))))) {
          return false;
        }
      }
    }
  }
  return true;
}
function count_crossings(points, routes) {
  let count, ax, ay, bx, by, line, cx, cy, dx, dy, crossed;
  count = 0;
  for ([[ax, ay], [bx, by]] of py_pairwise(points)) {
    for (line of routes.values()) {
      for ([[cx, cy], [dx, dy]] of py_pairwise(line)) {
        if ((ay === by)) {
          crossed = ((cx === dx) && ((Math.min(ax, bx) < cx) && (cx < Math.max(ax, bx))) && ((Math.min(cy, dy) < ay) && (ay < Math.max(cy, dy))));
        }
        else {
          crossed = ((cy === dy) && ((Math.min(cx, dx) < ax) && (ax < Math.max(cx, dx))) && ((Math.min(ay, by) < cy) && (cy < Math.max(ay, by))));
        }
        if (crossed) {
          count += 1;
        }
      }
    }
  }
  return count;
}
function _length_of_side_ports(points) {
  return py_sum((() => { const out = []; for (const [a, b] of py_pairwise(points)) { out.push((Math.abs((a[0] - b[0])) + Math.abs((a[1] - b[1])))); } return out; })());
}

// place.side_entries
const SIBLINGS_PX = new LevelGaps().siblings;
const SIDE_ROOM_PX = 24;
class SideEntries {
  constructor(entries, partings, rooms) {
    this.entries = entries;
    this.partings = partings;
    this.rooms = rooms;
  }
  absent_ends() {
    return new Set([...this.entries.keys(), ...(() => { const out = []; for (const wire of this.partings.keys()) { out.push((2 * wire)); } return out; })()]);
  }
  has_entry(wire, line, end) {
    return this.entries.has(((2 * wire) + (Number(end) !== Number(line.turned))));
  }
  move_anchors(skeleton, anchors, widths) {
    let wire, line, end, box, side, other;
    for ([wire, line] of py_enumerate(skeleton.wires)) {
      for ([end, box] of py_enumerate([line.chain[0], line.chain.at(-1)])) {
        if ((box < skeleton.children)) {
          anchors.set([wire, end], anchors.get([wire, end]) + this.shift(box));
        }
      }
    }
    for ([wire, line] of py_enumerate(skeleton.wires)) {
      for ([end, box] of py_enumerate([line.chain[0], line.chain.at(-1)])) {
        side = py_get(this.entries, ((2 * wire) + (Number(end) !== Number(line.turned))), 0);
        if (side) {
          anchors.set([wire, end], ((side < 0) ? 0 : this.widen(box, widths.at(box))));
        }
      }
    }
    for ([wire, other] of this.partings.entries()) {
      anchors.set([wire, 0], anchors.get([other, 0]));
    }
  }
  widen(box, width) {
    let left, right;
    [left, right] = py_get(this.rooms, box, [0, 0]);
    return ((left + width) + right);
  }
  shift(box) {
    return (this.rooms.has(box) ? this.rooms.get(box)[0] : 0);
  }
}
function find_side_entries(view, pieces, inner, upright, upright_wires, taken) {
  let skeleton, gates, chains, main, place_, entries, partings, rooms, neighbours, end, item, wire_groups, middle, main_wire, side, outermost, wires, may_turn, room, left, right, wire;
  [skeleton, gates] = [view.skeleton, inner.gates];
  chains = downward_chains(skeleton);
  main = new Set(skeleton.main_path);
  place_ = (() => { const out = new Map(); for (const part of skeleton.parts) for (const row of part) for (const [number, item] of py_enumerate(row)) { out.set(item, number); } return out; })();
  entries = _foot_entries(skeleton, chains, pieces, gates, upright);
  partings = new Map();
  rooms = (() => { const out = new Map(); for (const end of entries.keys()) { out.set(chains.at(Math.floor(end / 2))[0], [SIDE_ROOM_PX, SIDE_ROOM_PX]); } return out; })();
  neighbours = new _PathNeighbours(view, chains, pieces, inner, place_, upright);
  for ([end, item, wire_groups] of _lines_by_end(skeleton, chains, place_, gates)) {
    middle = py_next(py_iter((() => { const out = []; for (const [number, wires] of py_enumerate(wire_groups)) if (py_intersection(main, wires).size) { out.push(number); } return out; })()), -1);
    if ((middle < 0)) {
      continue;
    }
    main_wire = py_next(py_iter((() => { const out = []; for (const wire of wire_groups.at(middle)) if (main.has(wire)) { out.push(wire); } return out; })()));
    for ([side, outermost] of [[-1, 0], [1, (wire_groups.length - 1)]]) {
      wires = wire_groups.at(outermost);
      if (((outermost === middle) || (end && py_intersection(upright_wires, wires).size))) {
        continue;
      }
      may_turn = (() => { for (const wire of wires) { if (!_may_turn(view, wire, chains.at(wire), end)) return false; } return true; })();
      room = (may_turn ? SIDE_ROOM_PX : 0);
      if ((!may_turn && end && (wires.length === 1))) {
        room = neighbours.room_to_neighbour(wires[0], main_wire, side);
      }
      if (!room) {
        continue;
      }
      if (end) {
        if ((_is_side_free(pieces.at(item), side, upright) && !taken.has(((2 * item) + (side > 0))))) {
          [left, right] = py_get(rooms, item, [0, 0]);
          rooms.set(item, ((side < 0) ? [room, right] : [left, room]));
          for (wire of wires) {
            entries.set(((2 * wire) + 1), side);
          }
        }
      }
      else {
        if ((!skeleton.wires.at(main_wire).turned && (Math.abs((outermost - middle)) === 1) && (() => { for (const wire of wires) { if (!_says_the_same(view, wire, main_wire)) return false; } return true; })())) {
          for (wire of wires) {
            partings.set(wire, main_wire);
          }
        }
      }
    }
  }
  return new SideEntries(entries, partings, rooms);
}
class _PathNeighbours {
  constructor(view, chains, pieces, inner, place_, upright) {
    [this.view, this.chains, this.inner, this.place] = [view, chains, inner, place_];
    this.axis = (upright ? 0 : 1);
    this.widths = (() => { const out = []; for (const piece of pieces) { out.push([piece.width, piece.height].at(this.axis)); } return out; })();
    this.uses = new Counter((() => { const out = []; for (const chain of chains) { out.push(chain[0]); } return out; })());
  }
  room_to_neighbour(wire, main_wire, side) {
    let skeleton, chain, main, line, plain, source, before, alone, reach, room;
    [skeleton, chain, main] = [this.view.skeleton, this.chains.at(wire), this.chains.at(main_wire)];
    line = this.view.line_of_wire(wire);
    plain = (!skeleton.wires.at(wire).turned && (line.kind !== "reference") && !line.training);
    [source, before] = [chain[0], main.at(-2)];
    alone = ((source < skeleton.children) && (this.uses.get(source) === 1) && !this.inner.gates.has(source));
    if ((!(plain && alone) || (chain.length > 2) || skeleton.falling.length)) {
      return 0;
    }
    if (((this.place.get(source) - this.place.get(before)) !== side)) {
      return 0;
    }
    reach = ((this.half_width(main_wire, before, side) + SIBLINGS_PX) + Math.floor(this.widths.at(source) / 2));
    room = (reach - Math.floor(this.widths.at(chain.at(-1)) / 2));
    return ((room >= SIDE_ROOM_PX) ? room : 0);
  }
  half_width(wire, item, side) {
    let end, port, across;
    if ((item >= this.view.skeleton.children)) {
      return 0;
    }
    end = (this.view.skeleton.wires.at(wire).turned ? 1 : 0);
    port = port_at_end(this.view, wire, end, this.inner.gates);
    if ((port == null)) {
      return Math.floor(this.widths.at(item) / 2);
    }
    across = this.inner.ports.get(item).at(port).at(this.axis);
    return ((side < 0) ? across : (this.widths.at(item) - across));
  }
}
function _foot_entries(skeleton, chains, pieces, gates, upright) {
  let falling, leaving, wire, chain, entries, row, boxes, wires, down;
  falling = new Set(skeleton.falling);
  leaving = new Map();
  for ([wire, chain] of (falling.size ? py_enumerate(chains) : [])) {
    py_setdefault(leaving, chain[0], []).push(wire);
  }
  entries = new Map();
  for (row of (falling.size ? (() => { const out = []; for (const part of skeleton.parts) for (const row of part) { out.push(row); } return out; })() : [])) {
    boxes = (() => { const out = []; for (const item of row) if ((item < skeleton.children)) { out.push(item); } return out; })();
    if (((boxes.length !== 1) || falling.has(boxes[0]) || gates.has(boxes[0]))) {
      continue;
    }
    wires = py_get(leaving, boxes[0], []);
    down = (() => { const out = []; for (const wire of wires) if (falling.has(chains.at(wire).at(-1))) { out.push(wire); } return out; })();
    if (((wires.length === 2) && (down.length === 1) && (() => { for (const s of [-1, 1]) { if (!_is_side_free(pieces.at(boxes[0]), s, upright)) return false; } return true; })())) {
      for (wire of wires) {
        entries.set((2 * wire), (down.includes(wire) ? -1 : 1));
      }
    }
  }
  return entries;
}
function _lines_by_end(skeleton, chains, place_, gates) {
  let ends, capped, wire, chain, end, item, other, trunk;
  ends = new TupleMap();
  capped = capped_wires(skeleton);
  for ([wire, chain] of py_enumerate(chains)) {
    if (capped.has(wire)) {
      continue;
    }
    for ([end, item, other] of [[0, chain[0], chain[1]], [1, chain.at(-1), chain.at(-2)]]) {
      if (((item < skeleton.children) && !gates.has(item))) {
        trunk = ((other >= skeleton.children) ? -1 : wire);
        py_setdefault(py_setdefault(ends, [end, item], new TupleMap()), [place_.get(other), trunk], []).push(wire);
      }
    }
  }
  return (() => { const out = []; for (const [[end, item], found] of ends.entries()) if ((found.size > 1)) { out.push([end, item, (() => { const out = []; for (const key of py_sorted(found.keys())) { out.push(found.get(key)); } return out; })()]); } return out; })();
}
function _may_turn(view, wire, chain, end) {
  let skeleton;
  skeleton = view.skeleton;
  if ((skeleton.wires.at(wire).turned || (view.line_of_wire(wire).kind === "reference"))) {
    return false;
  }
  return (end ? (chain.at(-2) >= skeleton.children) : (chain.length > 2));
}
function _is_side_free(piece, side, upright) {
  let start, wide, whole;
  [start, wide, whole] = (upright ? [piece.x, piece.box[0], piece.width] : [piece.y, piece.box[1], piece.height]);
  return ((side < 0) ? (start === 0) : ((start + wide) === whole));
}
function _says_the_same(view, wire, other) {
  let lines;
  lines = view.words.lines;
  return ((view.line_of_wire(wire).kind === view.line_of_wire(other).kind) && (lines.get(wire).label === lines.get(other).label));
}
function shift_to_boxes(level, turns) {
  return new LevelLayout([...(() => { const out = []; for (const [box, [x, y]] of py_enumerate(level.positions)) { out.push([(x + turns.shift(box)), y]); } return out; })()], level.ports, level.routes, level.width, level.height, level.rules);
}
function side_point(piece, corner, point, upright) {
  let left, top, right, bottom, middle;
  [left, top] = [(corner[0] + piece.x), ((corner[1] + piece.y) + piece.behind[1])];
  [right, bottom] = [((left + piece.box[0]) - piece.behind[0]), ((corner[1] + piece.y) + piece.box[1])];
  if (upright) {
    middle = Math.floor((top + bottom) / 2);
    return [[point[0], middle], [((point[0] < left) ? left : right), middle]];
  }
  middle = Math.floor((left + right) / 2);
  return [[middle, point[1]], [middle, ((point[1] < top) ? top : bottom)]];
}
function part_late(skeleton, routes) {
  let late, leaders, wire, points, main, start, step, aside, turn, after, way, same, corner, others;
  late = new Map();
  if ((routes.size > MAX_COMPARED_ROUTES)) {
    return late;
  }
  leaders = (() => { const out = new Map(); for (const wire of skeleton.main_path) if (routes.has(wire)) { out.set(skeleton.wires.at(wire).chain[0], routes.get(wire)); } return out; })();
  for ([wire, points] of routes.entries()) {
    main = py_get(leaders, skeleton.wires.at(wire).chain[0], points);
    if (((main === points) || (points.length < 5) || !py_equal(points[0], main[0]) || skeleton.wires.at(wire).turned)) {
      continue;
    }
    [start, step, aside, turn, after] = points.slice(0, 5);
    way = _direction(main[0], main[1]);
    same = (py_equal(_direction(start, step), way) && py_equal(_direction(aside, turn), way));
    corner = ((start[0] === step[0]) ? [start[0], turn[1]] : [turn[0], start[1]]);
    if ((!same || !py_equal(_direction(step, aside), _direction(turn, after)) || (_length_of_side_entries(start, corner) >= _length_of_side_entries(main[0], main[1])))) {
      continue;
    }
    others = (() => { const out = new Map(); for (const [other, line] of routes.entries()) if ((other !== wire)) { out.set(other, line); } return out; })();
    if (!count_crossings([corner, turn], others)) {
      late.set(wire, [start, corner, ...points.slice(4)]);
    }
  }
  return late;
}
function find_partings(skeleton, routes) {
  let main, starts, wire, points, partings, wires, leader, point;
  main = new Set(skeleton.main_path);
  starts = new TupleMap();
  for ([wire, points] of routes.entries()) {
    if ((!skeleton.wires.at(wire).turned && (points.length > 1))) {
      py_setdefault(starts, [skeleton.wires.at(wire).chain[0], points[0]], []).push(wire);
    }
  }
  partings = new Map();
  for (wires of starts.values()) {
    leader = py_next(py_iter((() => { const out = []; for (const wire of wires) if (main.has(wire)) { out.push(wire); } return out; })()), wires[0]);
    for (wire of wires) {
      point = ((wire !== leader) ? _parting_point(routes.get(wire), routes.get(leader)) : null);
      if ((point != null)) {
        partings.set(wire, point);
      }
    }
  }
  return partings;
}
function _parting_point(line, main) {
  let start, end, other, goal, first, second;
  if (!py_equal(line[0], main[0])) {
    return null;
  }
  for ([[start, end], [other, goal]] of py_zip(py_pairwise(line), py_pairwise(main))) {
    if (!py_equal(start, other)) {
      return null;
    }
    if (py_equal(end, goal)) {
      continue;
    }
    if (!py_equal(_direction(start, end), _direction(start, goal))) {
      return (py_equal(start, line[0]) ? null : start);
    }
    [first, second] = [_length_of_side_entries(start, end), _length_of_side_entries(start, goal)];
    return ((first < second) ? end : goal);
  }
  return null;
}
function _direction(start, end) {
  let across, along;
  [across, along] = [(end[0] - start[0]), (end[1] - start[1])];
  return [((across > 0) - (across < 0)), ((along > 0) - (along < 0))];
}
function _length_of_side_entries(start, end) {
  return (Math.abs((end[0] - start[0])) + Math.abs((end[1] - start[1])));
}

// place.level
const MAX_LOOSE_BOXES = 6;
function loose_boxes(skeleton) {
  let lonely, boxes;
  lonely = (() => { const out = []; for (const part of _single_box_parts(skeleton)) { out.push(skeleton.parts.at(part)[0][0]); } return out; })();
  boxes = py_sum((() => { const out = []; for (const part of skeleton.parts) for (const row of part) for (const item of row) { out.push((item < skeleton.children)); } return out; })());
  return (((lonely.length <= MAX_LOOSE_BOXES) && ((2 * lonely.length) < boxes)) ? lonely : []);
}
function _single_box_parts(skeleton) {
  return (() => { const out = []; for (const [number, part] of py_enumerate(skeleton.parts)) if (((number !== skeleton.port_part) && (part.length === 1) && (part[0].length === 1))) { out.push(number); } return out; })();
}
function _drop_loose_parts(skeleton) {
  let loose_parts, shelves;
  if (!loose_boxes(skeleton).length) {
    return skeleton;
  }
  loose_parts = new Set(_single_box_parts(skeleton));
  shelves = (() => { const out = []; for (const shelf of skeleton.shelves) { out.push([...(() => { const out = []; for (const part of shelf) if (!loose_parts.has(part)) { out.push(part); } return out; })()]); } return out; })();
  return py_replace(skeleton, {shelves: [...(() => { const out = []; for (const shelf of shelves) if (shelf.length) { out.push(shelf); } return out; })()]});
}
function _separate_at_ports(view, gates, ports, axis, entering) {
  let skeleton, chains, waypoint, beside, places, item, wires, steps, wires_by_place, place_, new_waypoint, wire, first_wire, chain, parts;
  skeleton = view.skeleton;
  chains = (() => { const out = []; for (const wire of skeleton.wires) { out.push([...wire.chain]); } return out; })();
  waypoint = [...skeleton.waypoint];
  beside = new Map();
  places = item_places(skeleton);
  for ([item, wires] of ((gates.size || entering.size) ? _wires_by_waypoint(skeleton).entries() : [])) {
    if ((() => { for (const wire of wires) { if (entering.has(wire)) return true; } return false; })()) {
      steps = py_sorted((() => { const out = []; for (const wire of wires) { out.push([places_before_end(skeleton.wires.at(wire).chain, places), wire]); } return out; })());
      wires_by_place = (() => { const out = new Map(); for (const [number, [_, wire]] of py_enumerate(steps)) { out.set(number, [wire]); } return out; })();
    }
    else {
      wires_by_place = _wires_by_port(view, wires, gates, ports, axis);
    }
    beside.set(item, []);
    for (place_ of py_sorted(wires_by_place.keys()).slice(1)) {
      new_waypoint = (skeleton.first_waypoint + waypoint.length);
      waypoint.push(wires_by_place.get(place_)[0]);
      beside.get(item).push(new_waypoint);
      for (wire of wires_by_place.get(place_)) {
        chains.at(wire)[py_position(chains.at(wire), py_index(chains.at(wire), item))] = new_waypoint;
      }
    }
  }
  if ((waypoint.length === skeleton.waypoint.length)) {
    return skeleton;
  }
  first_wire = new Map();
  for ([wire, chain] of py_enumerate(chains)) {
    for (item of chain.slice(1, -1)) {
      py_setdefault(first_wire, item, wire);
    }
  }
  parts = [...(() => { const out = []; for (const part of skeleton.parts) { out.push([...(() => { const out = []; for (const row of part) { out.push([...(() => { const out = []; for (const item of row) for (const one of [item, ...py_get(beside, item, [])]) { out.push(one); } return out; })()]); } return out; })()]); } return out; })()];
  return py_replace(skeleton, {wires: [...(() => { const out = []; for (const [wire, chain] of py_zip(skeleton.wires, chains)) { out.push(new Wire(wire.edge, wire.bridge, [...chain], wire.turned)); } return out; })()], waypoint: [...(() => { const out = []; for (const [at, wire] of py_enumerate(waypoint)) { out.push(py_get(first_wire, (skeleton.first_waypoint + at), wire)); } return out; })()], parts: parts});
}
function _wires_by_waypoint(skeleton) {
  let users, number, wire, item;
  users = new Map();
  for ([number, wire] of py_enumerate(skeleton.wires)) {
    for (item of wire.chain.slice(1, -1)) {
      py_setdefault(users, item, []).push(number);
    }
  }
  return (() => { const out = new Map(); for (const [item, wires] of users.entries()) if ((wires.length > 1)) { out.set(item, wires); } return out; })();
}
function _wires_by_port(view, wires, gates, ports, axis) {
  let chains, box, found, wire, chain, gate;
  chains = (() => { const out = []; for (const wire of wires) { out.push(view.skeleton.wires.at(wire).chain); } return out; })();
  for (box of [chains[0].at(-1), chains[0][0]]) {
    if ((() => { for (const chain of chains) { if (![chain[0], chain.at(-1)].includes(box)) return false; } return true; })()) {
      found = new Map();
      for ([wire, chain] of py_zip(wires, chains)) {
        gate = port_at_end(view, wire, ((chain.at(-1) === box) ? 1 : 0), gates);
        if ((gate != null)) {
          py_setdefault(found, ports.get(box).at(gate).at(axis), []).push(wire);
        }
      }
      if (found.size) {
        return found;
      }
    }
  }
  return new Map();
}
function _place_plain_rows(skeleton, sizes, gaps) {
  let count, rows, spans, width, top, positions, row, span, left, deep, box;
  count = skeleton.children;
  rows = (() => { const out = []; for (const part of skeleton.parts) for (const row of part) if ((row[0] < count)) { out.push(row); } return out; })();
  spans = (() => { const out = []; for (const row of rows) { out.push((py_sum((() => { const out = []; for (const box of row) { out.push(sizes.at(box)[0]); } return out; })()) + (gaps.siblings * (row.length - 1)))); } return out; })();
  [width, top] = [py_max(spans, {default: 0}), 0];
  positions = py_repeat([[0, 0]], count);
  for ([row, span] of py_zip(rows, spans)) {
    left = Math.floor((width - span) / 2);
    deep = py_max((() => { const out = []; for (const box of row) { out.push(sizes.at(box)[1]); } return out; })());
    for (box of row) {
      positions[py_position(positions, box)] = [left, (top + Math.floor((deep - sizes.at(box)[1]) / 2))];
      left += (sizes.at(box)[0] + gaps.siblings);
    }
    top += (deep + gaps.ranks);
  }
  return new LevelLayout([...positions], [..._spread_ports(skeleton, width)], [], width, Math.max(0, (top - gaps.ranks)));
}
function _spread_ports(skeleton, width) {
  let first, places, index, slot, number, count;
  first = py_sum((() => { const out = []; for (const slot of skeleton.ports) { out.push(slot.first); } return out; })());
  places = [];
  for ([index, slot] of py_enumerate(skeleton.ports)) {
    [number, count] = (slot.first ? [index, first] : [(index - first), (skeleton.ports.length - first)]);
    places.push(Math.floor((width * ((2 * number) + 1)) / (2 * count)));
  }
  return places;
}
function level_webs(view, frame, boxes, ports) {
  let count, ends_of, wire, chain, ends, item;
  count = view.skeleton.children;
  ends_of = new Map();
  for (wire of view.drawn_wires()) {
    chain = view.skeleton.wires.at(wire).chain;
    for ([ends, item] of py_zip(py_setdefault(ends_of, view.line_of_wire(wire).kind, [[], []]), [chain[0], chain.at(-1)])) {
      ends.push(((item < count) ? boxes.get(item) : (-1 - ports.get((item - count)))));
    }
  }
  return (() => { const out = []; for (const [kind, ends] of ends_of.entries()) { out.push(new Web(kind, frame, [...ends[0]], [...ends[1]])); } return out; })();
}
const LEVEL_GAPS = new LevelGaps();
const NARROW_GAPS = new LevelGaps(12, 20, 20, undefined, undefined, undefined, undefined, 7, 5, undefined, 12);
const LINE_LABEL_HEIGHT = 12;
const GAP_LABEL_ROOM = 8;
const NARROW_LABEL_ROOM = 4;
const TRAINING_HEADING = "Training";
const HEADING_DISTANCE = 10;
const HEADING_REACH = 72;
const RULE_CLEARANCE = 4;
const FRAME_OVERLAP = 9;
class CoreDrawing {
  constructor(width, height, slots, ports, routes, labels, rules = [], headings = [], entered = new Map(), slid = new Map(), foot = null, raised = []) {
    this.width = width;
    this.height = height;
    this.slots = slots;
    this.ports = ports;
    this.routes = routes;
    this.labels = labels;
    this.rules = rules;
    this.headings = headings;
    this.entered = entered;
    this.slid = slid;
    this.foot = foot;
    this.raised = raised;
  }
  skyline(sizes, upright) {
    let sky, child, left, top, points, wire, x, y, wide, tall, rule, text;
    sky = new Skyline(this.routes.size);
    for ([child, [left, top]] of this.slots.values()) {
      sky.add_rect([left, top, (left + child.width), (top + child.height)]);
    }
    for (points of this.routes.values()) {
      sky.add_line(points);
    }
    for ([wire, [x, y]] of this.labels.entries()) {
      [wide, tall] = sizes.get(wire).size;
      sky.add_rect([(x - Math.floor(wide / 2)), (y - Math.floor(tall / 2)), (x + Math.floor(wide / 2)), (y + Math.floor(tall / 2))]);
    }
    for ([x, y] of this.ports) {
      if ((upright ? y : x)) {
        sky.add_ray([x, y], upright);
      }
    }
    for (rule of this.rules) {
      sky.add_line([[rule.x1, rule.y1], [rule.x2, rule.y2]]);
    }
    for (text of this.headings) {
      sky.add_rect(_text_box(text));
    }
    return sky;
  }
}
function _text_box(text) {
  return [text.x, (text.y - text.size), (text.x + text.width), text.y];
}
function draw_core(view, pieces, lines, line_labels, inner, direction, framed, room = 0) {
  let ties, ranked, upright, entering, side_entries, level, raised, sizes, drawing, foot;
  ties = find_ties(view, pieces, line_labels, inner, direction);
  ranked = (ties.size ? _without_ties(view, py_min(ties.keys())) : view);
  upright = is_vertical(direction);
  entering = (upright ? _bar_entries(ranked, pieces) : new Map());
  side_entries = find_side_entries(ranked, pieces, inner, upright, new Set(entering.keys()), tied_sides(ties));
  line_labels = labels_said_once(view, line_labels, inner.gates);
  level = _lay_out_level(ranked, pieces, lines, line_labels, inner, direction, side_entries, entering, ties, framed, room);
  level = shift_to_boxes(level, side_entries);
  raised = new Map();
  sizes = (() => { const out = []; for (const piece of pieces) { out.push(flow_size(direction, _piece_size(piece))); } return out; })();
  if ((inner.feet.size && upright)) {
    [level, raised] = stand_in_feet(ranked.skeleton, level, sizes, inner.feet, inner.gates);
  }
  drawing = _draw_level(view, pieces, lines, line_labels, direction, level, side_entries, ties, inner, raised);
  foot = (room ? find_foot(ranked.skeleton, level, sizes) : null);
  return py_replace(drawing, {foot: foot, raised: [...raised.values()]});
}
function _without_ties(view, first) {
  let skeleton, main_path_;
  skeleton = view.skeleton;
  main_path_ = [...(() => { const out = []; for (const wire of skeleton.main_path) if ((wire < first)) { out.push(wire); } return out; })()];
  return py_replace(view, {skeleton: py_replace(skeleton, {wires: skeleton.wires.slice(0, first), main_path: main_path_})});
}
function _draw_level(view, pieces, lines, line_labels, direction, level, side_entries, ties, inner, raised) {
  let loose, turn, slots, routes, entered, axis, slid, before, after, left, top, wide, tall, size, ports, drawn_ports, rules, headings, foot_depths, obstacles, reach, label_parts, thicknesses, bounds, labels;
  loose = new Set(loose_boxes(view.skeleton));
  turn = new FlowTurn(direction, level.width, level.height);
  slots = (() => { const out = new Map(); for (const position of view.metagraph.core_children()) if (!loose.has(position)) { out.set(position, [pieces.at(position), turn.corner_on_screen(level.positions.at(position), _piece_size(pieces.at(position)))]); } return out; })();
  routes = _level_routes(view, lines, slots, level, turn, side_entries, ties, raised);
  entered = (turn.runs_vertically ? enter_at_sides(view, routes, slots, inner) : new Map());
  if ((turn.runs_vertically && level.rules.length)) {
    leave_at_sides(view, routes, slots, (() => { const out = []; for (const text of _draw_training_rules(level, turn, [0, 0])[1]) { out.push(_text_box(text)); } return out; })());
  }
  axis = (turn.runs_vertically ? 0 : 1);
  slid = ((turn.runs_vertically && inner.slides.size) ? slide_ports(view, routes, slots, inner) : new Map());
  [before, after] = label_overhang(routes, line_labels, turn.screen_size.at(axis), axis);
  [left, top] = (axis ? [0, before] : [before, 0]);
  [wide, tall] = turn.screen_size;
  size = (axis ? [wide, ((tall + before) + after)] : [((wide + before) + after), tall]);
  slots = (() => { const out = new Map(); for (const [position, [child, [x, y]]] of slots.entries()) { out.set(position, [child, [(x + left), (y + top)]]); } return out; })();
  routes = (() => { const out = new Map(); for (const [wire, points] of routes.entries()) { out.set(wire, [...(() => { const out = []; for (const [x, y] of points) { out.push([(x + left), (y + top)]); } return out; })()]); } return out; })();
  ports = (() => { const out = []; for (const [slot, x] of py_zip(view.skeleton.ports, level.ports)) { out.push(turn.to_screen([x, (slot.first ? 0 : level.height)])); } return out; })();
  drawn_ports = [...(() => { const out = []; for (const [x, y] of ports) { out.push([(x + left), (y + top)]); } return out; })()];
  [rules, headings] = _draw_training_rules(level, turn, [left, top]);
  foot_depths = (() => { const out = new Map(); for (const end of raised.values()) { out.set(end.item, end.depth); } return out; })();
  obstacles = (() => { const out = []; for (const [position, slot] of slots.entries()) { out.push(_closed_room(slot, py_get(foot_depths, position, 0), direction)); } return out; })();
  py_extend(obstacles, (() => { const out = []; for (const rule of rules) { out.push(_around_rule(rule)); } return out; })());
  reach = (!py_equal(view.path, [0]) ? FRAME_OVERLAP : -1);
  label_parts = _label_parts(view, lines, routes, [...line_labels.keys()]);
  thicknesses = (() => { const out = new Map(); for (const [wire, line] of lines.entries()) { out.set(wire, hand_line_thickness(line)); } return out; })();
  bounds = (axis ? [1, -reach, (size[0] - 1), (size[1] + reach)] : [-reach, 1, (size[0] + reach), (size[1] - 1)]);
  labels = place_labels(routes, line_labels, obstacles, bounds, label_parts, thicknesses);
  return new CoreDrawing(...size, slots, drawn_ports, routes, labels, rules, headings, entered, slid);
}
function _level_routes(view, lines, slots, level, turn, side_entries, ties, raised) {
  let routes, wire, points, inside;
  routes = new Map();
  for (wire of lines.keys()) {
    if (ties.has(wire)) {
      routes.set(wire, tie_points(ties.get(wire), slots, level, turn));
    }
    else {
      points = (() => { const out = []; for (const point of level.routes.at(wire)) { out.push(turn.to_screen(point)); } return out; })();
      inside = (raised.has(wire) ? raised.get(wire).item : -1);
      routes.set(wire, _extend_to_boxes(view, wire, points, slots, turn, side_entries, inside));
    }
  }
  py_update(routes, part_late(view.skeleton, routes));
  return routes;
}
function _closed_room(slot, depth, direction) {
  let child, x, y, upwards;
  [child, [x, y]] = slot;
  upwards = (direction === "BT");
  return [x, (y + (upwards ? 0 : depth)), (x + child.width), ((y + child.height) - (upwards ? depth : 0))];
}
function _around_rule(rule) {
  let left, right, top, bottom;
  [left, right, top, bottom] = [Math.min(rule.x1, rule.x2), Math.max(rule.x1, rule.x2), Math.min(rule.y1, rule.y2), Math.max(rule.y1, rule.y2)];
  return [(left - RULE_CLEARANCE), (top - RULE_CLEARANCE), (right + RULE_CLEARANCE), (bottom + RULE_CLEARANCE)];
}
function _draw_training_rules(level, turn, shift) {
  let rules, headings, size, rule, x1, y1, x2, y2, x, y;
  [rules, headings] = [[], []];
  size = [hand_text_width(TRAINING_HEADING, HEADING_SIZE, true), HEADING_ROOM];
  for (rule of level.rules) {
    [[x1, y1], [x2, y2]] = [turn.to_screen([rule.x, rule.top]), turn.to_screen([rule.x, rule.bottom])];
    rules.push(new Separator((x1 + shift[0]), (y1 + shift[1]), (x2 + shift[0]), (y2 + shift[1])));
    if ((rule.heading >= 0)) {
      [x, y] = turn.corner_on_screen([(rule.x + HEADING_DISTANCE), rule.heading], size);
      headings.push(heading_text(TRAINING_HEADING, [(x + shift[0]), (y + shift[1])]));
    }
  }
  return [[...rules], [...headings]];
}
function _piece_size(child) {
  return [child.width, child.height];
}
function child_pieces(view, below, direction) {
  let upright, nodes, names, words, pieces, position, bar;
  upright = is_vertical(direction);
  nodes = [...view.node_labels, ...view.functions];
  [names, words] = [box_names(nodes), view.words];
  pieces = (() => { const out = []; for (const [position, node] of py_enumerate(nodes)) { out.push((below.has(position) ? open_piece(below.get(position), node) : closed_piece(node, names.at(position), words, position, upright))); } return out; })();
  for ([position, bar] of (upright ? branch_bars(view, (() => { const out = []; for (const piece of pieces) { out.push(piece.width); } return out; })()) : new Map()).entries()) {
    pieces[py_position(pieces, position)] = closed_piece(nodes.at(position), names.at(position), words, position, upright, bar.width);
  }
  return pieces;
}
function line_label_sizes(view, lines, outside) {
  let main, labels, wire, line, text, written, made_for_all, bridge, telling, crossing;
  main = new Set(view.skeleton.main_path);
  labels = new Map();
  for ([wire, line] of lines.entries()) {
    text = view.words.lines.get(wire).label;
    written = ((line.kind === "reference") && (line.training > 0));
    made_for_all = ((line instanceof Metaedge) && view.node_labels.at(line.source).shared);
    [bridge, telling] = [view.skeleton.wires.at(wire).bridge, (main.has(wire) || written || made_for_all)];
    if ((bridge >= 0)) {
      crossing = view.metagraph.bridges.at(bridge);
      telling = (telling || (crossing.members[1] > 0));
      if ((py_get(outside, [crossing.other, crossing.inbound]) === text)) {
        continue;
      }
    }
    if (text) {
      labels.set(wire, new LineLabel([hand_text_width(text, SMALL_FONT_PX), LINE_LABEL_HEIGHT], hand_line_thickness(line), telling));
    }
  }
  return labels;
}
function _bar_entries(view, pieces) {
  let entries, position, bar, wire, entry;
  entries = new Map();
  for ([position, bar] of branch_bars(view, (() => { const out = []; for (const piece of pieces) { out.push(piece.width); } return out; })()).entries()) {
    if ((pieces.at(position).box[0] === bar.width)) {
      for ([wire, entry] of bar.entries.entries()) {
        entries.set(wire, (pieces.at(position).x + entry));
      }
    }
  }
  return entries;
}
function _label_parts(view, lines, routes, labelled) {
  let parts, wire, joined;
  parts = unshared_parts(view.skeleton, routes, labelled);
  for (wire of labelled) {
    joined = ((parts.get(wire).length !== routes.get(wire).length) || !py_equal(parts.get(wire).at(-1), routes.get(wire).at(-1)));
    if ((joined && (view.skeleton.wires.at(wire).edge >= 0) && lines.get(wire).training)) {
      parts.set(wire, [parts.get(wire).at(-1), ...routes.get(wire).slice((parts.get(wire).length - 1))]);
    }
  }
  return parts;
}
function _lay_out_level(view, pieces, lines, line_labels, inner, direction, side_entries, entering, ties, framed, room) {
  let core, count, sizes, anchors, wire, entry, strokes, line, size, head, is_main, gaps, skeleton, sides;
  core = new Set(view.metagraph.core_children());
  count = view.metagraph.children.length;
  sizes = (() => { const out = []; for (const i of py_range(count)) { out.push((core.has(i) ? flow_size(direction, _piece_size(pieces.at(i))) : [0, 0])); } return out; })();
  if (view.skeleton.plain) {
    return _place_plain_rows(view.skeleton, sizes, LEVEL_GAPS);
  }
  anchors = line_anchors(view, pieces, inner.gates, inner.ports, direction, LEVEL_GAPS, side_entries.absent_ends());
  for ([wire, entry] of entering.entries()) {
    anchors.set([wire, 1], entry);
  }
  side_entries.move_anchors(view.skeleton, anchors, (() => { const out = []; for (const [across, _] of sizes) { out.push(across); } return out; })());
  sizes = (() => { const out = []; for (const [box, [across, along]] of py_enumerate(sizes)) { out.push([side_entries.widen(box, across), along]); } return out; })();
  strokes = new Map();
  for ([wire, line] of lines.entries()) {
    if (ties.has(wire)) {
      continue;
    }
    size = (line_labels.has(wire) ? line_labels.get(wire).size : [0, 0]);
    head = _arrow_end(view, wire, line, inner.gates);
    is_main = (line_labels.has(wire) && line_labels.get(wire).main);
    strokes.set(wire, new WireStroke(hand_line_thickness(line), head, flow_size(direction, size), is_main));
  }
  gaps = _level_gaps(strokes, ties, direction, (view.narrow >= SMALL_GAPS));
  gaps = (framed ? gaps : py_replace(gaps, {beyond: 0, bar: [0, 0]}));
  skeleton = _drop_loose_parts(_separate_at_ports(view, inner.gates, inner.ports, (is_vertical(direction) ? 0 : 1), entering));
  sides = (() => { const out = []; for (const i of py_range(count)) { out.push((inner.gates.has(i) ? [0, 0] : _flow_side(pieces.at(i), direction, side_entries.shift(i)))); } return out; })();
  return place_level(skeleton, sizes, gaps, new LineEnds(anchors, sides, side_entries.entries), strokes, _trained_items(view, skeleton), new Map([...(() => { const out = new Map(); for (const tie of ties.values()) { out.set(tie.left, tie.room); } return out; })(), ...rooms_in_foot(skeleton, room)]));
}
function _level_gaps(strokes, ties, direction, narrow) {
  let longest, usual;
  longest = py_max((() => { const out = []; for (const stroke of strokes.values()) { out.push(stroke.label[1]); } return out; })(), {default: 0});
  usual = (narrow ? NARROW_GAPS : LEVEL_GAPS);
  return py_replace(usual, {labelled: py_max([usual.labelled, (longest + (2 * (narrow ? NARROW_LABEL_ROOM : GAP_LABEL_ROOM)))]), bar: _bar_heights(direction), upward: ["BT", "RL"].includes(direction), ranks: (usual.ranks + py_max((() => { const out = []; for (const tie of ties.values()) { out.push(tie.depth); } return out; })(), {default: 0})), heading: flow_size(direction, [HEADING_REACH, HEADING_ROOM])});
}
function _trained_items(view, skeleton) {
  let edges, ends;
  edges = view.metagraph.edges;
  ends = (() => { const out = []; for (const wire of skeleton.wires) { out.push(((wire.edge >= 0) ? edges.at(wire.edge).training : 0)); } return out; })();
  if (((view.narrow >= MIXED_TRAINING) || !py_any(ends))) {
    return new Set();
  }
  return py_union(training_items((() => { const out = []; for (const wire of skeleton.wires) { out.push(wire.chain); } return out; })(), ends), view.metagraph.training);
}
function _flow_side(child, direction, shift) {
  let upright, start, wide;
  upright = is_vertical(direction);
  [start, wide] = (upright ? [child.x, child.box[0]] : [child.y, child.box[1]]);
  return [(shift + start), ((shift + start) + wide)];
}
function _bar_heights(direction) {
  let first;
  first = upper_flow_side(direction);
  return [(first ? TITLE_BAR_HEIGHT : 0), ((first === false) ? TITLE_BAR_HEIGHT : 0)];
}
function _arrow_end(view, wire, line, inner) {
  let end, item;
  end = ((line.kind === "reference") ? 0 : 1);
  item = view.skeleton.wires.at(wire).chain.at((end ? -1 : 0));
  return (((item >= view.skeleton.children) || (port_at_end(view, wire, end, inner) != null)) ? -1 : end);
}
function _extend_to_boxes(view, wire, points, slots, turn, side_entries, inside) {
  let line, upright, end, item, goal;
  [line, upright] = [view.skeleton.wires.at(wire), turn.runs_vertically];
  for ([end, item] of py_enumerate([line.chain[0], line.chain.at(-1)])) {
    points = (!end ? py_reversed(points) : points);
    if ((slots.has(item) && side_entries.has_entry(wire, line, end))) {
      points = [...points.slice(0, -1), ...side_point(...slots.get(item), points.at(-1), upright)];
    }
    else {
      if ((slots.has(item) && (item !== inside))) {
        goal = border_point(...slots.get(item), points.at(-1), upright);
        points = (py_equal(goal, points.at(-1)) ? points : [...points, goal]);
      }
    }
    points = (!end ? py_reversed(points) : points);
  }
  return [...points];
}

// place.frames
const MAX_BARE_BOXES = 3;
class OpenGroup {
  constructor(view, heading, below, outside, bare = false, room = 0) {
    this.view = view;
    this.heading = heading;
    this.below = below;
    this.outside = outside;
    this.bare = bare;
    this.room = room;
  }
  get node_labels() {
    return [...this.view.node_labels, ...this.view.functions];
  }
}
function list_open_groups(view) {
  let groups, todo, current, heading, outside, parent_below, position, around, below, bare, room, prefix, node_labels, shown, labels, child, inner, node, second;
  groups = [];
  todo = [[view, null, new TupleMap(), new Map(), -1, view]];
  while (todo.length) {
    [current, heading, outside, parent_below, position, around] = py_pop(todo);
    parent_below.set(position, groups.length);
    below = new Map();
    bare = ((heading != null) && (!heading[0].label || _is_around_one_stack(current)));
    room = (bare ? room_in_foot(current.skeleton, around, position) : 0);
    groups.push(new OpenGroup(current, (bare ? null : heading), below, outside, bare, room));
    prefix = ((bare && (heading != null) && heading[0].label) ? (String(heading[0].label) + " / ") : "");
    node_labels = [...current.node_labels, ...current.functions];
    shown = new Set([...current.metagraph.core_children(), ...current.metagraph.mask.extracted_children, ...py_range(current.node_labels.length, node_labels.length)]);
    labels = (current.opened.size ? _outside_line_labels(current) : new Map());
    for ([child, inner] of py_sorted(current.opened.entries(), {reverse: true})) {
      if (shown.has(child)) {
        [node, second] = [node_labels.at(child), current.words.seconds.at(child)];
        if (prefix) {
          node = py_replace(node, {label: (prefix + node.label)});
        }
        todo.push([inner, [node, second], py_get(labels, child, new TupleMap()), below, child, current]);
      }
    }
  }
  return groups;
}
function _is_around_one_stack(view) {
  let skeleton, boxes, stacks, chains, main, alone;
  [skeleton, boxes] = [view.skeleton, view.metagraph.core_children().length];
  if (((view.opened.size !== 1) || (boxes < 2) || (boxes > MAX_BARE_BOXES) || skeleton.plain || view.functions.length)) {
    return false;
  }
  stacks = (() => { const out = new Set(); for (const child of view.opened.keys()) if (view.node_labels.at(child).stacked) { out.add(child); } return out; })();
  chains = (() => { const out = []; for (const wire of skeleton.main_path) { out.push(skeleton.wires.at(wire).chain); } return out; })();
  main = (() => { const out = new Set(); for (const chain of chains) for (const end of [chain[0], chain.at(-1)]) if ((end < skeleton.children)) { out.add(end); } return out; })();
  alone = (!view.metagraph.mask.extracted_children.size && !view.words.notes.length && !loose_boxes(skeleton).length);
  return ((stacks.size === 1) && py_equal(main, stacks) && alone);
}
function _outside_line_labels(view) {
  let texts, wire, line, text, rows;
  texts = new Map();
  for ([wire, line] of view.drawn_lines().entries()) {
    text = view.words.lines.get(wire).label;
    if ((line instanceof Bridge)) {
      py_setdefault(texts, line.child, new TupleMap()).set([line.other, line.inbound], text);
    }
    else {
      rows = view.metagraph.children;
      py_setdefault(texts, line.source, new TupleMap()).set([rows.at(line.target), false], text);
      py_setdefault(texts, line.target, new TupleMap()).set([rows.at(line.source), true], text);
    }
  }
  return texts;
}
function wire_identity(view, index) {
  let wire, edge, bridge, ends;
  wire = view.skeleton.wires.at(index);
  if ((wire.edge >= 0)) {
    edge = view.metagraph.edges.at(wire.edge);
    return new LineIdentity(view.address, "edge", wire.edge, view.node_labels.at(edge.source).address, view.node_labels.at(edge.target).address, view.path);
  }
  bridge = view.metagraph.bridges.at(wire.bridge);
  ends = [view.node_labels.at(bridge.child).address, py_get(view.addresses, bridge.other, "")];
  return new LineIdentity(view.address, "bridge", wire.bridge, ...(bridge.inbound ? py_reversed(ends) : ends), view.path);
}
function loop_index_by_child(view) {
  return (() => { const out = new Map(); for (const [index, [child, _]] of py_enumerate(view.metagraph.loops)) { out.set(child, index); } return out; })();
}
function loop_identity(view, position, index) {
  let address;
  address = view.node_labels.at(position).address;
  return new LineIdentity(view.address, "loop", index, address, address, view.path);
}
class StubIdentities {
  constructor(view) {
    let level, drawn, index, bridge, edge;
    this.view = view;
    this.edges = new Map();
    this.bridges = new Map();
    level = view.metagraph;
    drawn = new Set(level.core_bridges());
    for ([index, bridge] of py_enumerate(level.bridges)) {
      if (!drawn.has(index)) {
        py_setdefault(this.bridges, bridge.child, []).push(index);
      }
    }
    for (index of level.mask.stubbed) {
      edge = level.edges.at(index);
      if (!edge.writes) {
        py_setdefault(this.edges, edge.source, []).push(index);
        py_setdefault(this.edges, edge.target, []).push(index);
      }
    }
    this.child = -1;
    this.entries = new TupleMap();
  }
  annotation_identity(index) {
    let note, entry, number, ends;
    note = this.view.metagraph.annotations.at(index);
    if ((note.child !== this.child)) {
      [this.child, this.entries] = [note.child, this.stub_entries(note.child)];
    }
    [entry, number] = py_get(this.entries, [note.side, note.other], ["annotation", index]);
    ends = [py_get(this.view.addresses, note.other, ""), this.view.node_labels.at(note.child).address];
    return new LineIdentity(this.view.address, entry, number, ...((note.side === "in") ? ends : py_reversed(ends)), this.view.path);
  }
  stub_entries(child) {
    let level, entries, index, bridge, edge;
    level = this.view.metagraph;
    entries = new TupleMap();
    for (index of py_get(this.bridges, child, [])) {
      bridge = level.bridges.at(index);
      entries.set([(bridge.inbound ? "in" : "out"), bridge.other], ["bridge", index]);
    }
    for (index of py_get(this.edges, child, [])) {
      edge = level.edges.at(index);
      if ((edge.source === child)) {
        entries.set(["out", level.children.at(edge.target)], ["edge", index]);
      }
      if ((edge.target === child)) {
        entries.set(["in", level.children.at(edge.source)], ["edge", index]);
      }
    }
    return entries;
  }
}
const AREA_DISTANCE = 32;
const AREA_GAP = 16;
const COLUMN_LENGTHS = [96, 160, 240, 320, 480, 0];
const SCREEN_HEIGHT_PX = 900;
class AuxiliaryArea {
  constructor(places, texts, rules, width, height) {
    this.places = places;
    this.texts = texts;
    this.rules = rules;
    this.width = width;
    this.height = height;
  }
}
class BlockPlacement {
  constructor(corner, size, whole, beside, places) {
    this.corner = corner;
    this.size = size;
    this.whole = whole;
    this.beside = beside;
    this.places = places;
  }
  get placement_cost() {
    let wide, tall, screen, area;
    [wide, tall] = this.whole;
    screen = Math.max(Math.floor((5 * wide) / 8), tall, SCREEN_HEIGHT_PX);
    area = py_max([(wide * tall), (tall * Math.floor((tall * tall) / Math.max(1, (4 * wide))))]);
    return (area + Math.floor(((8 * screen) * screen) / 5));
  }
}
function _place_blocks(core, sky, blocks, notes = []) {
  let places, texts, rules, whole, heading, columns, room, placement, left, top, wide, tall, half, beside, size;
  places = [];
  texts = [];
  rules = [];
  whole = core;
  for ([heading, columns] of blocks) {
    if (!py_any(columns)) {
      continue;
    }
    room = (heading ? HEADING_ROOM : 0);
    placement = _cheapest_placement(whole, sky, columns, hand_text_width(heading, HEADING_SIZE, true), room);
    [[left, top], [wide, tall]] = [placement.corner, placement.size];
    py_extend(places, (() => { const out = []; for (const [x, y] of placement.places) { out.push([(left + x), ((top + room) + y)]); } return out; })());
    half = Math.floor(AREA_DISTANCE / 2);
    if (heading) {
      texts.push(heading_text(heading, placement.corner));
      beside = new Separator((left - half), top, (left - half), (top + tall));
      rules.push((placement.beside ? beside : new Separator(left, (top - half), (left + wide), (top - half))));
    }
    sky.add_rect([(left - half), (top - half), (left + wide), (top + tall)]);
    whole = placement.whole;
  }
  if (notes.length) {
    size = [py_max((() => { const out = []; for (const note of notes) { out.push(note.width); } return out; })()), (notes.at(-1).y + 4)];
    placement = py_min(_corner_placements(whole, sky, size, []), {key: (placement) => placement.placement_cost});
    py_extend(texts, (() => { const out = []; for (const note of notes) { out.push(move_text(note, ...placement.corner)); } return out; })());
    whole = placement.whole;
  }
  return new AuxiliaryArea([...places], [...texts], [...rules], ...whole);
}
function _cheapest_placement(core, sky, columns, least, room) {
  let possible, limit, places, wide, tall;
  possible = [];
  for (limit of [core[1], ...COLUMN_LENGTHS, Math.floor(core[1] / 2), Math.floor(core[1] / 3)]) {
    [places, [wide, tall]] = _block_places(columns, limit);
    [wide, tall] = [Math.max(wide, least), (tall + room)];
    py_extend(possible, _corner_placements(core, sky, [wide, tall], [...places]));
  }
  return py_min(possible, {key: (placement) => placement.placement_cost});
}
function _corner_placements(core, sky, size, places) {
  let wide, tall, across, along, possible, top, reach, left;
  [[wide, tall], [across, along]] = [core, size];
  possible = [];
  for (top of [0, Math.max(0, (tall - along))]) {
    reach = sky.right_extent((top - AREA_DISTANCE), ((top + along) + AREA_DISTANCE));
    left = (reach ? (reach + AREA_DISTANCE) : 0);
    possible.push(new BlockPlacement([left, top], size, [Math.max(wide, (left + across)), Math.max(tall, along)], true, places));
  }
  for (left of [0, Math.max(0, (wide - across))]) {
    reach = sky.bottom_extent((left - AREA_DISTANCE), ((left + across) + AREA_DISTANCE));
    top = (reach ? (reach + AREA_DISTANCE) : 0);
    possible.push(new BlockPlacement([left, top], size, [Math.max(wide, across), Math.max(tall, (top + along))], false, places));
  }
  return possible;
}
function _block_places(columns, limit) {
  let places, start, longest, column, part, axis, along, _, tall, own_axis;
  places = [];
  start = 0;
  longest = start;
  for (column of columns) {
    for (part of _break_column(column, limit)) {
      axis = py_max((() => { const out = []; for (const thing of part) { out.push(thing[2]); } return out; })());
      along = 0;
      for ([_, tall, own_axis] of part) {
        places.push([((start + axis) - own_axis), along]);
        along += (tall + AREA_GAP);
      }
      longest = Math.max(longest, (along - AREA_GAP));
      start += ((axis + py_max((() => { const out = []; for (const thing of part) { out.push((thing[0] - thing[2])); } return out; })())) + AREA_GAP);
    }
  }
  return [places, [(start - AREA_GAP), longest]];
}
function _break_column(column, limit) {
  let parts, along, thing;
  parts = [];
  along = 0;
  for (thing of column) {
    if ((!parts.length || ((along + thing[1]) > limit))) {
      parts.push([]);
      along = 0;
    }
    parts.at(-1).push(thing);
    along += (thing[1] + AREA_GAP);
  }
  return parts;
}
const FRAME_PADDING = 12;
const NOTE_LINE_HEIGHT = 14;
class GroupLayout {
  constructor(width, height, slots, ports = [], gates = new TupleMap(), routes = new Map(), labels = new Map(), lines = new Map(), texts = [], rules = [], partings = new Map(), side_ports = new Map(), entered = new Map(), slides = new Map(), slid = new Map(), foot = null, raised = []) {
    this.width = width;
    this.height = height;
    this.slots = slots;
    this.ports = ports;
    this.gates = gates;
    this.routes = routes;
    this.labels = labels;
    this.lines = lines;
    this.texts = texts;
    this.rules = rules;
    this.partings = partings;
    this.side_ports = side_ports;
    this.entered = entered;
    this.slides = slides;
    this.slid = slid;
    this.foot = foot;
    this.raised = raised;
  }
}
function _ports_of_open_children(below) {
  return new InnerPorts((() => { const out = new Map(); for (const [position, made] of below.entries()) { out.set(position, made.gates); } return out; })(), (() => { const out = new Map(); for (const [position, made] of below.entries()) { out.set(position, made.ports); } return out; })(), (() => { const out = new Map(); for (const [position, made] of below.entries()) { out.set(position, made.side_ports); } return out; })(), (() => { const out = new Map(); for (const [position, made] of below.entries()) if (made.slides.size) { out.set(position, made.slides); } return out; })(), (() => { const out = new Map(); for (const [position, made] of below.entries()) if ((made.foot != null)) { out.set(position, made.foot); } return out; })());
}
function lay_out_frame(view, heading, below, outside, direction, room = 0) {
  let sizes, pieces, lines, line_labels, inner, core, area, bar, padding, title_height, right, top, shift, border_x, size, ports, texts, layout;
  sizes = (() => { const out = new Map(); for (const [position, made] of below.entries()) { out.set(position, [made.width, made.height]); } return out; })();
  pieces = child_pieces(view, sizes, direction);
  lines = view.drawn_lines();
  line_labels = line_label_sizes(view, lines, outside);
  inner = _ports_of_open_children(below);
  core = draw_core(view, pieces, lines, line_labels, inner, direction, (heading != null), room);
  area = _auxiliary_area(view, core, line_labels, pieces, direction);
  bar = _frame_title(view, heading, core, area, direction);
  [padding, title_height] = (py_truth(heading) ? [FRAME_PADDING, TITLE_BAR_HEIGHT] : [0, 0]);
  [right, top] = (py_truth(heading) ? sheet_margins(heading[0]) : [0, 0]);
  shift = [(padding + bar.shift), ((title_height + padding) + top)];
  border_x = (py_truth(heading) ? bar.width : area.width);
  size = [(border_x + right), (((area.height + title_height) + (2 * padding)) + top)];
  ports = [...(() => { const out = []; for (const [slot, corner] of py_zip(view.skeleton.ports, core.ports)) { out.push(_border_port(slot.first, _shifted_point(corner, shift), [border_x, size[1]], top, direction)); } return out; })()];
  texts = (() => { const out = []; for (const text of bar.texts) { out.push(move_text(text, 0, top)); } return out; })();
  py_extend(texts, (() => { const out = []; for (const text of [...core.headings, ...area.texts]) { out.push(move_text(text, ...shift)); } return out; })());
  layout = new GroupLayout(...size, _child_slots(view, pieces, core, area, shift), ports, port_gates(view), (() => { const out = new Map(); for (const [wire, points] of core.routes.entries()) { out.set(wire, _extend_to_ports(view, wire, points, ports, shift)); } return out; })(), (() => { const out = new Map(); for (const [wire, middle] of core.labels.entries()) { out.set(wire, _shifted_point(middle, shift)); } return out; })(), lines, [...texts], [...(() => { const out = []; for (const rule of [...core.rules, ...area.rules]) { out.push(_shifted_separator(rule, shift)); } return out; })()], undefined, undefined, core.entered, undefined, core.slid, core.foot, core.raised);
  if (((heading != null) && is_vertical(direction))) {
    layout = _with_side_ports_of_frames(view, layout, line_labels, inner, new Set(below.keys()), border_x);
  }
  return py_replace(layout, {partings: find_partings(view.skeleton, layout.routes)});
}
function _with_side_ports_of_frames(view, layout, line_labels, inner, opened, border_x) {
  let routes, ports, labels, slots, entered, label_boxes, entry, line;
  [routes, ports, labels] = [new Map([...layout.routes]), [...layout.ports], layout.labels];
  slots = (() => { const out = new Map(); for (const [item, slot] of py_enumerate(layout.slots)) if ((slot != null)) { out.set(item, slot); } return out; })();
  entered = (() => { const out = new Map(); for (const [item, side_y] of layout.entered.entries()) { out.set(item, new Map([...side_y])); } return out; })();
  label_boxes = (() => { const out = []; for (const wire of labels.keys()) { out.push(_label_box(labels.get(wire), line_labels.get(wire))); } return out; })();
  for ([entry, line] of [...move_beside(view, routes, slots, inner, border_x, label_boxes)]) {
    routes.set(entry.wire, line);
    ports[py_position(ports, (view.skeleton.wires.at(entry.wire).chain[0] - view.skeleton.children))] = line[0];
    py_setdefault(entered, entry.item, new Map()).set(entry.port, (entry.place[1] - slots.get(entry.item)[1][1]));
  }
  return py_replace(layout, {ports: [...ports], routes: routes, side_ports: find_side_ports(view, routes, slots, opened, [0, border_x], labels), entered: entered, slides: find_slides(view, routes, slots, ports, border_x, labels)});
}
function _label_box(middle, label) {
  let x, y, wide, high;
  [[x, y], [wide, high]] = [middle, label.size];
  return [(x - Math.floor(wide / 2)), (y - Math.floor(high / 2)), (x + Math.floor((wide + 1) / 2)), (y + Math.floor((high + 1) / 2))];
}
function _shifted_separator(rule, shift) {
  return new Separator(..._shifted_point([rule.x1, rule.y1], shift), ..._shifted_point([rule.x2, rule.y2], shift));
}
function _auxiliary_area(view, core, line_labels, pieces, direction) {
  let size, things, notes;
  [size, things, notes] = [[core.width, core.height], _block_extents(view, pieces), _note_lines(view)];
  if ((!things.length && !notes.length)) {
    return new AuxiliaryArea([], [], [], ...size);
  }
  return _place_blocks(size, core.skyline(line_labels, is_vertical(direction)), things, notes);
}
function _shifted_point(point, shift) {
  return [(point[0] + shift[0]), (point[1] + shift[1])];
}
function _side_blocks(view) {
  let mask, count, blocks;
  [mask, count] = [view.metagraph.mask, view.metagraph.children.length];
  blocks = [["", [loose_boxes(view.skeleton)]], ["Auxiliary", [[...mask.in_extract], [...mask.out_extract]]], ["Functions", [[...py_range(count, (count + view.functions.length))]]]];
  return (() => { const out = []; for (const [heading, columns] of blocks) if (py_any(columns)) { out.push([heading, columns]); } return out; })();
}
function _block_extents(view, pieces) {
  return (() => { const out = []; for (const [heading, columns] of _side_blocks(view)) { out.push([heading, (() => { const out = []; for (const column of columns) { out.push((() => { const out = []; for (const child of column) { out.push(_axis_extent(pieces.at(child))); } return out; })()); } return out; })()]); } return out; })();
}
function _axis_extent(piece) {
  return [piece.width, piece.height, (piece.x + Math.floor(piece.box[0] / 2))];
}
function _note_lines(view) {
  let identities;
  identities = _note_identities(view);
  return (() => { const out = []; for (const [number, note] of py_enumerate(view.words.notes)) { out.push(new Text(0, ((NOTE_LINE_HEIGHT * number) + 10), note.content, note.full, SMALL_FONT_PX, hand_text_width(note.content, SMALL_FONT_PX), "note", "start", undefined, undefined, undefined, [...(() => { const out = []; for (const index of note.annotations) { out.push(identities.get(index)); } return out; })()])); } return out; })();
}
function _note_identities(view) {
  let undrawn, annotations, indices;
  [undrawn, annotations] = [new StubIdentities(view), view.metagraph.annotations];
  indices = (() => { const out = []; for (const note of view.words.notes) for (const index of note.annotations) { out.push(index); } return out; })();
  return (() => { const out = new Map(); for (const index of py_sorted(indices, {key: (index) => [annotations.at(index).child, index]})) { out.set(index, undrawn.annotation_identity(index)); } return out; })();
}
function _frame_title(view, heading, core, area, direction) {
  let side, ports;
  if ((heading == null)) {
    return NO_TITLE_BAR;
  }
  side = upper_flow_side(direction);
  ports = py_zip(view.skeleton.ports, core.ports);
  return lay_out_title(...heading, (() => { const out = []; for (const [slot, [x, _]] of ports) if ((slot.first === side)) { out.push((FRAME_PADDING + x)); } return out; })(), (area.width + (2 * FRAME_PADDING)));
}
function _child_slots(view, pieces, core, area, shift) {
  let slots, position, piece, corner, listed;
  slots = py_repeat([null], pieces.length);
  for ([position, [piece, corner]] of core.slots.entries()) {
    slots[py_position(slots, position)] = [piece, _shifted_point(corner, shift)];
  }
  listed = (() => { const out = []; for (const [_, columns] of _side_blocks(view)) for (const column of columns) for (const position of column) { out.push(position); } return out; })();
  for ([position, corner] of py_zip(listed, area.places)) {
    slots[py_position(slots, position)] = [pieces.at(position), _shifted_point(corner, shift)];
  }
  return [...slots];
}
function _border_port(first, point, size, top, direction) {
  if (is_vertical(direction)) {
    return [point[0], ((first === (direction === "BT")) ? size[1] : top)];
  }
  return [((first === (direction === "RL")) ? size[0] : 0), point[1]];
}
function _extend_to_ports(view, wire, points, ports, shift) {
  let line, chain, count;
  line = (() => { const out = []; for (const point of points) { out.push(_shifted_point(point, shift)); } return out; })();
  [chain, count] = [view.skeleton.wires.at(wire).chain, view.skeleton.children];
  if (((chain[0] >= count) && !py_equal(ports.at((chain[0] - count)), line[0]))) {
    py_insert(line, 0, ports.at((chain[0] - count)));
  }
  if (((chain.at(-1) >= count) && !py_equal(ports.at((chain.at(-1) - count)), line.at(-1)))) {
    line.push(ports.at((chain.at(-1) - count)));
  }
  return line;
}

// place.moved_ports
function move_ports(groups, frames, direction) {
  let number, group, made, position, entered, child, slid, end;
  for ([number, group] of py_enumerate(groups)) {
    made = frames.get(number);
    for ([position, entered] of made.entered.entries()) {
      child = group.below.get(position);
      frames.set(child, _with_side_ports_of_moved_ports(frames.get(child), groups.at(child).view, entered));
    }
    for ([position, slid] of made.slid.entries()) {
      child = group.below.get(position);
      frames.set(child, _with_slid_ports(frames.get(child), groups.at(child).view, slid));
    }
    for (end of made.raised) {
      child = group.below.get(end.item);
      frames.set(child, _with_raised_port(frames.get(child), groups.at(child).view, end, direction));
    }
  }
}
function _with_side_ports_of_moved_ports(made, view, entered) {
  let ports, routes, port, y, side;
  [ports, routes] = [[...made.ports], new Map([...made.routes])];
  for ([port, y] of entered.entries()) {
    side = made.side_ports.get(port);
    ports[py_position(ports, port)] = [side.place[0], y];
    routes.set(side.wire, [ports.at(port), [side.end[0], y]]);
  }
  return py_replace(made, {ports: [...ports], routes: routes, partings: find_partings(view.skeleton, routes)});
}
function _with_slid_ports(made, view, slid) {
  let ports, routes, port, x, wire;
  [ports, routes] = [[...made.ports], new Map([...made.routes])];
  for ([port, x] of slid.entries()) {
    ports[py_position(ports, port)] = [x, ports.at(port)[1]];
    for (wire of _wires_from_port(made, view, port)) {
      routes.set(wire, [ports.at(port), [x, routes.get(wire)[1][1]], ...routes.get(wire).slice(2)]);
    }
  }
  return py_replace(made, {ports: [...ports], routes: routes, partings: find_partings(view.skeleton, routes)});
}
function _with_raised_port(made, view, end, direction) {
  let ports, routes, wire;
  [ports, routes] = [[...made.ports], new Map([...made.routes])];
  ports[py_position(ports, end.port)] = new FlowTurn(direction, made.width, made.height).to_screen([ports.at(end.port)[0], end.depth]);
  for (wire of _wires_from_port(made, view, end.port)) {
    routes.set(wire, [ports.at(end.port), ...routes.get(wire).slice(1)]);
  }
  return py_replace(made, {ports: [...ports], routes: routes});
}
function _wires_from_port(made, view, port) {
  let wires, item;
  [wires, item] = [view.skeleton.wires, (view.skeleton.children + port)];
  return (() => { const out = []; for (const wire of made.routes.keys()) if ((wires.at(wire).chain[0] === item)) { out.push(wire); } return out; })();
}

// place.picture_path
class DataPaths {
  constructor(numbers = new TupleMap(), boxes = [], steps = [], below = []) {
    this.numbers = numbers;
    this.boxes = boxes;
    this.steps = steps;
    this.below = below;
  }
  node_number(node, box) {
    if (!this.numbers.has(node)) {
      this.numbers.set(node, this.boxes.length);
      this.boxes.push(box);
      this.steps.push([]);
      this.below.push([]);
    }
    return this.numbers.get(node);
  }
}
function lead_main_path(groups) {
  let wires, number, wire, led;
  if ((groups.length === 1)) {
    return [...groups];
  }
  wires = new Map();
  for ([number, wire] of _longest_path(_data_paths(groups), groups)) {
    py_setdefault(wires, number, []).push(wire);
  }
  led = (() => { const out = []; for (const [number, group] of py_enumerate(groups)) { out.push(_with_main_path(group, py_get(wires, number, []))); } return out; })();
  for (number of py_range((led.length - 1), -1, -1)) {
    led[py_position(led, number)] = _with_tributaries_of_children(led.at(number), led, wires);
  }
  return led;
}
function _with_tributaries_of_children(group, groups, passed) {
  let skeleton, gates, met, position, child, inside, aside, end, wire, chain, item, port, main, more, main_path_;
  skeleton = group.view.skeleton;
  gates = new Map();
  met = new TupleMap();
  for ([position, child] of group.below.entries()) {
    inside = groups.at(child).view.skeleton;
    aside = (() => { const out = []; for (const wire of inside.main_path) if (!py_get(passed, child, inside.main_path).includes(wire)) { out.push(inside.wires.at(wire).chain); } return out; })();
    for (end of (() => { const out = []; for (const chain of aside) for (const end of [chain[0], chain.at(-1)]) if ((end >= inside.children)) { out.push(end); } return out; })()) {
      met.set([position, (end - inside.children)], []);
      gates.set(position, port_gates(groups.at(child).view));
    }
  }
  for (wire of (met.size ? _data_weights(group.view) : new Map()).keys()) {
    chain = skeleton.wires.at(wire).chain;
    for ([end, item] of [[0, chain[0]], [1, chain.at(-1)]]) {
      port = port_at_end(group.view, wire, end, gates);
      if (((port != null) && met.has([item, port]))) {
        met.get([item, port]).push(wire);
      }
    }
  }
  main = new Set(skeleton.main_path);
  more = (() => { const out = []; for (const wires of met.values()) if (((wires.length === 1) && !main.has(wires[0]))) { out.push(wires[0]); } return out; })();
  if (!more.length) {
    return group;
  }
  main_path_ = [...skeleton.main_path, ...more];
  return py_replace(group, {view: py_replace(group.view, {skeleton: py_replace(skeleton, {main_path: main_path_})})});
}
function _with_main_path(group, wires) {
  let skeleton, part_of, chains, path, part, data_wires, ends, taken, joining, others, main_path_;
  if (!wires.length) {
    return group;
  }
  skeleton = group.view.skeleton;
  part_of = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const row of part) for (const item of row) { out.set(item, p); } return out; })();
  chains = (() => { const out = []; for (const wire of skeleton.wires) { out.push(wire.chain); } return out; })();
  path = _extended_path(skeleton, wires);
  part = part_of.get(chains.at(path[0])[0]);
  data_wires = (() => { const out = []; for (const [wire, weight] of _data_weights(group.view).entries()) if ((part_of.get(chains.at(wire)[0]) === part)) { out.push([wire, weight]); } return out; })();
  ends = (() => { const out = []; for (const [wire, _] of data_wires) { out.push([chains.at(wire)[0], chains.at(wire).at(-1)]); } return out; })();
  taken = (() => { const out = []; for (const [number, [wire, _]] of py_enumerate(data_wires)) if (path.includes(wire)) { out.push(number); } return out; })();
  joining = tributaries(ends, (() => { const out = []; for (const [_, weight] of data_wires) { out.push(weight); } return out; })(), skeleton.children, taken);
  others = (() => { const out = []; for (const wire of skeleton.main_path) if ((part_of.get(chains.at(wire)[0]) !== part)) { out.push(wire); } return out; })();
  main_path_ = [...path, ...(() => { const out = []; for (const number of joining) { out.push(data_wires.at(number)[0]); } return out; })(), ...others];
  return py_replace(group, {view: py_replace(group.view, {skeleton: py_replace(skeleton, {main_path: main_path_})})});
}
function _extended_path(skeleton, wires) {
  let chains, path, before, after;
  chains = (() => { const out = []; for (const wire of skeleton.wires) { out.push(wire.chain); } return out; })();
  path = [...wires];
  before = (() => { const out = new Map(); for (const wire of skeleton.main_path) { out.set(chains.at(wire).at(-1), wire); } return out; })();
  after = (() => { const out = new Map(); for (const wire of skeleton.main_path) { out.set(chains.at(wire)[0], wire); } return out; })();
  while (before.has(chains.at(path[0])[0])) {
    py_insert(path, 0, before.get(chains.at(path[0])[0]));
  }
  while (after.has(chains.at(path.at(-1)).at(-1))) {
    path.push(after.get(chains.at(path.at(-1)).at(-1)));
  }
  return path;
}
function _data_weights(view) {
  let backward;
  backward = backward_wires(view.skeleton);
  return (() => { const out = new Map(); for (const [index, line] of view.drawn_lines().entries()) if (((line.kind === "data") && !line.training && !backward.has(index) && !_is_beside(view, index))) { out.set(index, hand_main_path_weight(line)); } return out; })();
}
function _data_paths(groups) {
  let paths, gates, number, group, inner, index, weight, source, target;
  paths = new DataPaths();
  gates = (() => { const out = []; for (const group of groups) { out.push(port_gates(group.view)); } return out; })();
  for ([number, group] of py_enumerate(groups)) {
    inner = (() => { const out = new Map(); for (const [position, child] of group.below.entries()) { out.set(position, gates.at(child)); } return out; })();
    for ([index, weight] of _data_weights(group.view).entries()) {
      [source, target] = (() => { const out = []; for (const end of [0, 1]) { out.push(_end_node(paths, groups, number, index, end, inner)); } return out; })();
      paths.steps.at(source).push([[number, index], target, weight]);
      paths.below.at(source).push(target);
    }
  }
  return paths;
}
function _is_beside(view, wire) {
  let chain;
  chain = view.skeleton.wires.at(wire).chain;
  return (() => { for (const end of [chain[0], chain.at(-1)]) { if (((end < view.node_labels.length) && view.node_labels.at(end).surplus)) return true; } return false; })();
}
function _end_node(paths, groups, number, index, end, inner) {
  let group, view, item, port, child;
  group = groups.at(number);
  view = group.view;
  item = view.skeleton.wires.at(index).chain.at((end ? -1 : 0));
  if (group.below.has(item)) {
    port = port_at_end(view, index, end, inner);
    if ((port != null)) {
      child = group.below.get(item);
      return paths.node_number([child, (groups.at(child).view.skeleton.children + port)], 0);
    }
  }
  return paths.node_number([number, item], (((item < view.skeleton.children) && !group.below.has(item)) ? 1 : 0));
}
function _longest_path(paths, groups) {
  let order, best, onward, late, entered, follow, most, count, current, steps, ahead;
  order = [...py_reversed(topological_order(paths.below))];
  [best, onward] = _best_onward(paths, groups, order, new Set());
  late = new Set();
  for (entered of _ports_by_group(paths)) {
    follow = (() => { const out = new Map(); for (const [port, carries] of entered.entries()) { out.set(port, [best.at(port)[0], (carries ? best.at(port)[2] : 0)]); } return out; })();
    most = py_max(follow.values());
    py_add_all(late, (() => { const out = []; for (const [port, carries] of entered.entries()) if ((carries && (py_compare(follow.get(port), most) < 0))) { out.push(port); } return out; })());
  }
  if (late.size) {
    [best, onward] = _best_onward(paths, groups, order, late);
  }
  count = paths.boxes.length;
  current = py_max(py_range(count), {key: (node) => best.at(node), default: -1});
  steps = [];
  while ((current >= 0)) {
    ahead = onward.at(current);
    if ((ahead == null)) {
      break;
    }
    steps.push(ahead[0]);
    current = ahead[1];
  }
  return steps;
}
function _ports_by_group(paths) {
  let nodes, ports, steps, number, _, target, carries, group, entered;
  nodes = [...paths.numbers.keys()];
  ports = new Map();
  for (steps of paths.steps) {
    for ([[number, _], target, carries] of steps) {
      group = nodes.at(target)[0];
      if (((group > number) && paths.steps.at(target).length)) {
        entered = py_setdefault(ports, group, new Map());
        entered.set(target, (py_get(entered, target, false) || (carries > 0)));
      }
    }
  }
  return [...ports.values()];
}
function _best_onward(paths, groups, order, late) {
  let main_paths_, fed, best, onward, node, box, number, wire, target, carries, data, load, lines, kept, box_gain, reached;
  main_paths_ = (() => { const out = []; for (const group of groups) { out.push(new Set(group.view.skeleton.main_path)); } return out; })();
  fed = (() => { const out = new Set(); for (const steps of paths.steps) for (const [_, target, carries] of steps) if ((carries > 0)) { out.add(target); } return out; })();
  best = py_repeat([[0, 0, 0, 0]], paths.boxes.length);
  onward = py_repeat([null], paths.boxes.length);
  for (node of order) {
    box = paths.boxes.at(node);
    for ([[number, wire], target, carries] of paths.steps.at(node)) {
      if (py_in(target, late)) {
        continue;
      }
      [data, load, lines, kept] = best.at(target);
      box_gain = ((carries > 0) ? box : (fed.has(node) ? -box : 0));
      reached = [(data + box_gain), (load + Math.max(carries, 0)), (lines + 1), (kept + main_paths_.at(number).has(wire))];
      if (((onward.at(node) == null) || (py_compare(reached, best.at(node)) > 0))) {
        [best[py_position(best, node)], onward[py_position(onward, node)]] = [reached, [[number, wire], target]];
      }
    }
    if ((paths.steps.at(node).length && (onward.at(node) == null))) {
      best[py_position(best, node)] = [-paths.boxes.length, 0, 0, 0];
    }
  }
  return [best, onward];
}

// place.picture
class SceneSketch {
  constructor(groups, frames) {
    let touched;
    [this.groups, this.frames] = [groups, frames];
    this.boxes = [];
    this.routes = [];
    this.ports = [];
    this.stubs = [];
    this.texts = [];
    this.rules = [];
    this.webs = [];
    touched = (() => { const out = []; for (const number of py_range(groups.length)) for (const port of py_sorted(this.touched_ports(number).keys())) { out.push([number, port]); } return out; })();
    this.port_number = (() => { const out = new TupleMap(); for (const [index, key] of py_enumerate(touched)) { out.set(key, index); } return out; })();
  }
  draw_group(number, box, depth, origin) {
    let made, numbers, gates, skeleton, main, backward, index, port, wires;
    made = this.frames.get(number);
    py_extend(this.texts, (() => { const out = []; for (const text of made.texts) { out.push(move_text(text, ...origin, box)); } return out; })());
    py_extend(this.rules, (() => { const out = []; for (const r of made.rules) { out.push(new Separator(..._point_sum([r.x1, r.y1], origin), ..._point_sum([r.x2, r.y2], origin))); } return out; })());
    numbers = this._draw_boxes(number, box, depth, origin);
    if (this.groups.at(number).view.skeleton.plain) {
      this._draw_webs(number, numbers, box);
    }
    gates = (() => { const out = new Map(); for (const [position, child] of this.groups.at(number).below.entries()) { out.set(position, this.frames.get(child).gates); } return out; })();
    skeleton = this.groups.at(number).view.skeleton;
    [main, backward] = [new Set(skeleton.main_path), backward_wires(skeleton)];
    main = py_union(main, wires_beside_main_path(this.groups.at(number).view));
    for (index of made.lines.keys()) {
      this._draw_line(number, index, numbers, box, origin, gates, main.has(index), backward.has(index));
    }
    for ([port, wires] of py_sorted(this.touched_ports(number).entries())) {
      this._draw_port(number, port, wires, box, origin);
    }
    return numbers;
  }
  to_scene(direction) {
    return new Scene(this.frames.get(0).width, this.frames.get(0).height, direction, [...this.boxes], [...this.routes], [...this.ports], [...this.stubs], [...this.texts], [...this.rules], [...this.webs]);
  }
  touched_ports(number) {
    let skeleton, lines, index, chain, end;
    skeleton = this.groups.at(number).view.skeleton;
    lines = (() => { const out = new Map(); for (const port of py_range(skeleton.ports.length)) if (skeleton.plain) { out.set(port, []); } return out; })();
    for (index of this.frames.get(number).lines.keys()) {
      chain = skeleton.wires.at(index).chain;
      for (end of [chain[0], chain.at(-1)]) {
        if ((end >= skeleton.children)) {
          py_setdefault(lines, (end - skeleton.children), []).push(index);
        }
      }
    }
    return lines;
  }
  _draw_boxes(number, parent, depth, origin) {
    let group, made, numbers, areas, undrawn, loops, node_labels, words, position, slot, node, box, corner, opened, area, title, bare, points, identity, loop;
    [group, made] = [this.groups.at(number), this.frames.get(number)];
    numbers = new Map();
    [areas, undrawn, loops] = [_child_areas(group.view), new StubIdentities(group.view), loop_index_by_child(group.view)];
    [node_labels, words] = [group.node_labels, group.view.words];
    for ([position, slot] of py_enumerate(made.slots)) {
      if ((slot == null)) {
        continue;
      }
      node = node_labels.at(position);
      box = this.boxes.length;
      numbers.set(position, box);
      corner = _point_sum(_point_sum(slot[1], [slot[0].x, slot[0].y]), origin);
      opened = group.below.has(position);
      [area, title] = [py_get(areas, position, "main"), words.titles.at(position)];
      bare = (opened && this.groups.at(group.below.get(position)).bare);
      this.boxes.push(_scene_box(node, slot, corner, parent, depth, opened, area, title, bare));
      py_extend(this.texts, (() => { const out = []; for (const text of slot[0].texts) { out.push(move_text(text, ...corner, box)); } return out; })());
      py_extend(this.stubs, (() => { const out = []; for (const stub of slot[0].stubs) { out.push(_scene_stub(stub, corner, box, undrawn)); } return out; })());
      if (slot[0].loop.length) {
        points = [...(() => { const out = []; for (const point of slot[0].loop) { out.push(_point_sum(point, corner)); } return out; })()];
        identity = loop_identity(group.view, position, loops.get(position));
        loop = new Route(points, "data", box, box, THINNEST_TENTHS, undefined, undefined, undefined, words.loops.get(position), identity);
        this.routes.push(loop);
      }
    }
    return numbers;
  }
  _draw_webs(number, numbers, box) {
    let view, ports;
    view = this.groups.at(number).view;
    ports = (() => { const out = new Map(); for (const port of py_range(view.skeleton.ports.length)) { out.set(port, this.port_number.get([number, port])); } return out; })();
    py_extend(this.webs, level_webs(view, box, numbers, ports));
  }
  _draw_line(number, index, numbers, box, origin, gates, main, back) {
    let layout, view, wire, line, ends, count, source, target, goes_on, route;
    [layout, view] = [this.frames.get(number), this.groups.at(number).view];
    [wire, line] = [view.skeleton.wires.at(index), layout.lines.get(index)];
    [ends, count] = [[wire.chain[0], wire.chain.at(-1)], view.skeleton.children];
    [source, target] = (() => { const out = []; for (const end of ends) { out.push(((end < count) ? numbers.get(end) : -1)); } return out; })();
    goes_on = (() => { const out = []; for (const [end_number, end] of py_enumerate(ends)) { out.push(((end >= count) || (port_at_end(view, index, end_number, gates) != null))); } return out; })();
    route = new Route([...(() => { const out = []; for (const point of layout.routes.get(index)) { out.push(_point_sum(point, origin)); } return out; })()], line.kind, source, target, hand_line_thickness(line), (back !== (line.training === BOTH_ENDS_TRAIN)), !goes_on.at(((line.kind === "reference") ? 0 : 1)), (((source < 0) || (target < 0)) ? box : -1), view.words.lines.get(index).title, wire_identity(view, index), this.port_of_end(number, index, 0), this.port_of_end(number, index, 1), main, (layout.partings.has(index) ? _point_sum(layout.partings.get(index), origin) : null));
    this.routes.push(route);
    if (layout.labels.has(index)) {
      this.texts.push(_edge_label(view.words.lines.get(index), _point_sum(layout.labels.get(index), origin), box));
    }
  }
  port_of_end(number, index, end) {
    let group, item, child, port;
    group = this.groups.at(number);
    item = group.view.skeleton.wires.at(index).chain.at((end ? -1 : 0));
    if ((item >= group.view.skeleton.children)) {
      return this.port_number.get([number, (item - group.view.skeleton.children)]);
    }
    if (!group.below.has(item)) {
      return -1;
    }
    child = group.below.get(item);
    port = port_at_end(group.view, index, end, new Map([[item, this.frames.get(child).gates]]));
    return ((port == null) ? -1 : py_get(this.port_number, [child, port], -1));
  }
  _draw_port(number, port, wires, box, origin) {
    let made, view, kinds, kind, slot, point, others, title, bare;
    [made, view] = [this.frames.get(number), this.groups.at(number).view];
    kinds = (() => { const out = new Set(); for (const index of wires) { out.add(made.lines.get(index).kind); } return out; })();
    kind = (kinds.has("reference") ? "reference" : ((kinds.has("data") || !kinds.size) ? "data" : "control"));
    slot = view.skeleton.ports.at(port);
    point = _point_sum(made.ports.at(port), origin);
    others = [...(() => { const out = []; for (const [row, _] of slot.others) { out.push(py_get(view.addresses, row, "")); } return out; })()];
    title = view.words.ports.at(port);
    bare = this.groups.at(number).bare;
    this.ports.push(new Port(...point, box, kind, slot.others.length, title, view.address, port, slot.first, others, bare));
  }
}
function _point_sum(point, shift) {
  return [(point[0] + shift[0]), (point[1] + shift[1])];
}
function _child_areas(view) {
  let mask, count, areas;
  [mask, count] = [view.metagraph.mask, view.node_labels.length];
  areas = py_fromkeys(Map, mask.in_extract, "in_extract");
  py_update(areas, py_fromkeys(Map, mask.out_extract, "out_extract"));
  py_update(areas, py_fromkeys(Map, py_range(count, (count + view.functions.length)), "functions"));
  return areas;
}
function _scene_box(node, slot, corner, parent, depth, opened, area, title, bare) {
  return new Box(node.address, node.row, node.kind, parent, (bare ? (depth - 1) : depth), ...corner, ...slot[0].box, opened, ((opened || !!node.openable) && !bare), slot[0].sheets, node.connected, area, node.member, title, slot[0].sign, node.surplus, bare);
}
function _scene_stub(stub, corner, number, undrawn) {
  let points, identities;
  points = [...(() => { const out = []; for (const point of stub.points) { out.push(_point_sum(point, corner)); } return out; })()];
  identities = [...(() => { const out = []; for (const identity of stub.identities) { out.push(undrawn.annotation_identity(identity.index)); } return out; })()];
  return py_replace(stub, {x: (stub.x + corner[0]), y: (stub.y + corner[1]), box: number, points: points, identities: identities});
}
function _edge_label(words, middle, box) {
  let y;
  y = (middle[1] + BASELINE_OFFSET.get(SMALL_FONT_PX));
  return new Text(middle[0], y, words.label, words.title, SMALL_FONT_PX, hand_text_width(words.label, SMALL_FONT_PX), "edge", undefined, undefined, box);
}
class CachedFrame {
  constructor(group, level, below, frame) {
    this.group = group;
    this.level = level;
    this.below = below;
    this.frame = frame;
  }
}
class FrameCache {
  constructor() {
    this.known = new TupleMap();
  }
}
function place(view, options, cache = null) {
  let known, levels, groups, frames, number, group, below, last, sketch, where, box, depth, x, y, numbers, position, child, slot, inside;
  known = (cache || new FrameCache()).known;
  levels = list_open_groups(view);
  groups = lead_main_path(levels);
  frames = new Map();
  for (number of py_range((groups.length - 1), -1, -1)) {
    group = groups.at(number);
    below = (() => { const out = new Map(); for (const [position, child] of group.below.entries()) { out.set(position, frames.get(child)); } return out; })();
    last = py_get(known, group.view.path);
    if (((last != null) && _is_frame_unchanged(last, group, levels.at(number).view, below))) {
      frames.set(number, last.frame);
      continue;
    }
    frames.set(number, lay_out_frame(group.view, group.heading, below, group.outside, options.direction, group.room));
    known.set(group.view.path, new CachedFrame(group, levels.at(number).view, below, frames.get(number)));
  }
  move_ports(groups, frames, options.direction);
  sketch = new SceneSketch(groups, frames);
  where = new Map([[0, [-1, 0, [0, 0]]]]);
  for ([number, group] of py_enumerate(groups)) {
    [box, depth, [x, y]] = where.get(number);
    numbers = sketch.draw_group(number, box, depth, [x, y]);
    for ([position, child] of group.below.entries()) {
      slot = frames.get(number).slots.at(position);
      inside = (groups.at(child).bare ? depth : (depth + 1));
      where.set(child, [numbers.get(position), inside, [(slot[1][0] + x), (slot[1][1] + y)]]);
    }
  }
  return sketch.to_scene(options.direction);
}
function _is_frame_unchanged(last, group, level, below) {
  let was;
  was = last.level;
  return ((was.metagraph === level.metagraph) && py_equal(was.skeleton, level.skeleton) && (was.address === level.address) && py_equal(last.group.view.skeleton.main_path, group.view.skeleton.main_path) && (last.below.size === below.size) && (() => { for (const [position, made] of below.entries()) { if (!(py_get(last.below, position) === made)) return false; } return true; })() && py_equal(last.group.heading, group.heading) && (last.group.bare === group.bare) && (last.group.room === group.room) && py_equal(last.group.outside, group.outside) && py_equal(was.node_labels, level.node_labels) && py_equal(was.functions, level.functions) && py_equal(was.words, level.words));
}

// words.line_labels
const TOOLTIP_NAMES = 40;
const TOOLTIP_NAME_LETTERS = 300;
function describe_line(edge, source, target) {
  return (String(tooltip_name(source)) + " → " + String(tooltip_name(target)) + ": " + String(hand_describe_contents(edge)));
}
function tooltip_name(name, most = TOOLTIP_NAME_LETTERS) {
  return hand_replace_unsafe_characters(truncate_middle(name, most));
}
function count_of(count, noun) {
  return (String(hand_group_thousands(count)) + " " + String(plural_noun(count, noun)));
}

// words.level
const STUB_LABEL_PX = 100;
const MIN_STUB_NAME_PX = 24;
const STUB_KIND_WORDS = new Map([["shortcut", "linked"], ["constant", "constant"], ["summary", "summary"], ["weight", "weight"]]);
function _stubs_at_side(annotations, side, names, labels, limit) {
  let at_side, stubs, hidden, listed, title;
  at_side = (() => { const out = []; for (const [index, annotation] of annotations) if ((annotation.side === side)) { out.push([index, annotation]); } return out; })();
  stubs = (() => { const out = []; for (const [index, annotation] of at_side.slice(0, limit)) { out.push(_stub_words(index, annotation, names, labels)); } return out; })();
  hidden = at_side.slice(limit);
  if (hidden.length) {
    listed = py_join(", ", (() => { const out = []; for (const [_, annotation] of hidden.slice(0, TOOLTIP_NAMES)) { out.push(tooltip_name(py_get(names, annotation.other, ""))); } return out; })());
    title = (String(hidden.length) + " more: " + String(listed));
    stubs.push(new StubWords("more", ("+" + String(hidden.length)), title, -1, false, [...(() => { const out = []; for (const [index, _] of hidden) { out.push(index); } return out; })()]));
  }
  return [...stubs];
}
function _stub_words(index, annotation, names, labels) {
  let full, label, uses, parts, count, control, title;
  full = hand_replace_unsafe_characters(py_get(names, annotation.other, ""));
  [label, uses] = [_neighbour_name(annotation.other, names, labels), ""];
  parts = label.split(" (");
  if (((annotation.kind === "weight") && (parts.length > 1) && (hand_text_width(label, SMALL_FONT_PX) > STUB_LABEL_PX))) {
    [label, uses] = [py_join(" (", parts.slice(0, -1)), (", " + parts.at(-1).replaceAll(")", ""))];
  }
  count = ((annotation.edges > 1) ? (", " + String(annotation.edges) + " edges") : "");
  control = (annotation.control ? ", control" : "");
  title = (String(tooltip_name(full)) + " (" + String(STUB_KIND_WORDS.get(annotation.kind)) + String(count) + String(control) + String(uses) + ")");
  return new StubWords(annotation.kind, _fitted_stub_label(label, annotation.kind), title, annotation.other, annotation.control, [index]);
}
function _fitted_stub_label(label, kind) {
  let parts, shape, room;
  parts = label.split(" ");
  shape = (" " + parts.at(-1));
  room = (STUB_LABEL_PX - hand_text_width(shape, SMALL_FONT_PX));
  if (((kind !== "weight") || (parts.length !== 2) || (room < MIN_STUB_NAME_PX))) {
    return elide_text(label, STUB_LABEL_PX, SMALL_FONT_PX);
  }
  return (elide_text(parts[0], room, SMALL_FONT_PX) + shape);
}
function _neighbour_name(row, names, labels) {
  let full;
  full = hand_replace_unsafe_characters(py_get(names, row, ""));
  return (hand_replace_unsafe_characters(py_get(labels, row, "")) || (last_segment(full) || full));
}
const MIN_NOTE_BOXES = 5;
const MIN_LISTED_BOXES = 3;
const NOTE_NAME_PX = 160;
function _shared_notes(view) {
  let core, shared, inside, index, stub, away;
  core = (() => { const out = []; for (const position of view.metagraph.core_children()) if (!view.opened.has(position)) { out.push(position); } return out; })();
  shared = new TupleMap();
  inside = new Set(core);
  for ([index, stub] of py_enumerate(view.metagraph.annotations)) {
    if (((stub.kind === "shortcut") && inside.has(stub.child) && !stub.training)) {
      py_setdefault(shared, [stub.side, stub.other], []).push(index);
    }
  }
  away = (() => { const out = new Set(); for (const position of view.metagraph.mask.extracted_children) { out.add(view.metagraph.children.at(position)); } return out; })();
  return [...(() => { const out = []; for (const [[side, other], indices] of shared.entries()) if ((indices.length >= ((away.has(other) || ((2 * indices.length) >= core.length)) ? MIN_LISTED_BOXES : MIN_NOTE_BOXES))) { out.push(_build_note(view, side, other, indices, core.length)); } return out; })()];
}
function _build_note(view, side, other, indices, count) {
  let readers, arrow, name, boxes, full, account;
  readers = ((indices.length === count) ? "all boxes" : (String(indices.length) + " boxes"));
  arrow = (py_truth((side === "out")) ? "→" : "←");
  name = elide_text(_neighbour_name(other, view.names, view.labels), NOTE_NAME_PX, SMALL_FONT_PX);
  boxes = (() => { const out = []; for (const index of indices) { out.push(view.node_labels.at(view.metagraph.annotations.at(index).child).label); } return out; })();
  full = hand_replace_unsafe_characters(py_get(view.names, other, ""));
  account = (String(tooltip_name(full)) + " " + String((py_truth((side === "out")) ? "←" : "→")) + " " + String(py_join(", ", py_map(tooltip_name, boxes.slice(0, TOOLTIP_NAMES)))));
  return new LevelNote((String(readers) + " " + String(arrow) + " " + String(name)), account, [...indices]);
}
const NO_NAME = "…";
function _training_labels(view) {
  let wires_by_box, wire, line, chain, labels, box, wires, wires_at, tensors_at, nearest, main, last_wire;
  if ((view.narrow >= MIXED_TRAINING)) {
    return (() => { const out = new Map(); for (const [wire, line] of view.drawn_lines().entries()) if (line.training) { out.set(wire, ""); } return out; })();
  }
  wires_by_box = new Map();
  for ([wire, line] of view.drawn_lines().entries()) {
    chain = view.skeleton.wires.at(wire).chain;
    if (((view.skeleton.wires.at(wire).edge >= 0) && [SOURCE_TRAINS, TARGET_TRAINS].includes(line.training))) {
      py_setdefault(wires_by_box, ((line.training === SOURCE_TRAINS) ? chain[0] : chain.at(-1)), []).push(wire);
    }
  }
  labels = new Map();
  for ([box, wires] of wires_by_box.entries()) {
    if ((wires.length < 2)) {
      continue;
    }
    wires_at = new Map();
    tensors_at = new Map();
    for (wire of wires) {
      labels.set(wire, "");
      chain = view.skeleton.wires.at(wire).chain;
      nearest = ((chain[0] === box) ? chain[1] : chain.at(-2));
      py_setdefault(wires_at, nearest, []).push(wire);
      tensors_at.set(nearest, (py_get(tensors_at, nearest, 0) + hand_tensor_count(view.line_of_wire(wire))));
    }
    main = py_max(wires_at.keys(), {key: (nearest) => [(wires_at.get(nearest).length > 1), tensors_at.get(nearest)]});
    last_wire = py_min(wires_at.get(main), {key: (wire) => view.skeleton.wires.at(wire).chain.length});
    labels.set(last_wire, ((tensors_at.get(main) > 1) ? (String(hand_group_thousands(tensors_at.get(main))) + " tensors") : ""));
  }
  return labels;
}
const SHARED_RESULT = "the same for all";
function _shared_labels(view) {
  return (() => { const out = new Map(); for (const [wire, line] of view.drawn_lines().entries()) if (((line instanceof Metaedge) && view.node_labels.at(line.source).shared)) { out.set(wire, SHARED_RESULT); } return out; })();
}
function _written_accounts(view) {
  let edges_by_writer, edge, accounts, writer, edges, count, owners;
  edges_by_writer = new Map();
  for (edge of view.metagraph.edges) {
    if (edge.writes) {
      py_setdefault(edges_by_writer, edge.target, []).push(edge);
    }
  }
  accounts = new Map();
  for ([writer, edges] of edges_by_writer.entries()) {
    count = count_of(py_sum((() => { const out = []; for (const edge of edges) { out.push(edge.reference); } return out; })()), "weight");
    owners = py_join(", ", (() => { const out = []; for (const edge of edges.slice(0, TOOLTIP_NAMES)) { out.push(tooltip_name(view.node_labels.at(edge.source).full)); } return out; })());
    accounts.set(writer, (" · writes " + String(count) + " of " + String(owners)));
  }
  return accounts;
}
function level_words(view, limit, printed = false) {
  let node_labels, notes, stubs_by_child, links, written, labels;
  node_labels = [...view.node_labels, ...view.functions];
  notes = _shared_notes(view);
  stubs_by_child = _stubs_by_child(view, (() => { const out = new Set(); for (const note of notes) for (const index of note.annotations) { out.add(index); } return out; })());
  if (printed) {
    stubs_by_child = (() => { const out = []; for (const each of py_zip(stubs_by_child, node_labels)) { out.push(_printed_stubs(...each, limit)); } return out; })();
  }
  [links, written] = [(printed ? (() => { const out = []; for (const _ of node_labels) { out.push([]); } return out; })() : _links_of_open(view)), _written_accounts(view)];
  labels = py_union(_training_labels(view), _shared_labels(view));
  return new LevelWords([...(() => { const out = []; for (const [position, node] of py_enumerate(node_labels)) { out.push(_box_second_line(node, links.at(position).length)); } return out; })()], [...(() => { const out = []; for (const [position, node] of py_enumerate(node_labels)) { out.push((_box_tooltip(node, links.at(position)) + py_get(written, position, ""))); } return out; })()], [...(() => { const out = []; for (const stubs of stubs_by_child) { out.push(_stubs_at_side(stubs, "in", view.names, view.labels, limit)); } return out; })()], [...(() => { const out = []; for (const stubs of stubs_by_child) { out.push(_stubs_at_side(stubs, "out", view.names, view.labels, limit)); } return out; })()], notes, (() => { const out = new Map(); for (const [wire, line] of view.drawn_lines().entries()) { out.set(wire, new LineWords(py_get(labels, wire, hand_drawn_label(line)), describe_line(line, ..._line_end_names(view, line)))); } return out; })(), (() => { const out = new Map(); for (const [position, _] of view.metagraph.loops) { out.set(position, (String(tooltip_name(node_labels.at(position).full)) + " → itself")); } return out; })(), [...(() => { const out = []; for (const port of view.skeleton.ports) { out.push(py_join(", ", (() => { const out = []; for (const [row, _] of port.others.slice(0, TOOLTIP_NAMES)) { out.push(tooltip_name(py_get(view.names, row, NO_NAME))); } return out; })())); } return out; })()]);
}
function _stubs_by_child(view, in_notes) {
  let by_child, index, annotation;
  by_child = (() => { const out = []; for (const _ of [...view.node_labels, ...view.functions]) { out.push([]); } return out; })();
  for ([index, annotation] of py_enumerate(view.metagraph.annotations)) {
    if ((!in_notes.has(index) && !view.opened.has(annotation.child) && !annotation.training)) {
      by_child.at(annotation.child).push([index, annotation]);
    }
  }
  return by_child;
}
function _printed_stubs(stubs, node, limit) {
  let weights;
  weights = (() => { const out = []; for (const [index, stub] of stubs) if ((stub.kind === "weight")) { out.push([index, stub]); } return out; })();
  return ((limit && (weights.length === 1) && !node.second) ? weights : []);
}
function _links_of_open(view) {
  let by_child, annotation;
  by_child = (() => { const out = []; for (const _ of [...view.node_labels, ...view.functions]) { out.push([]); } return out; })();
  for (annotation of view.metagraph.annotations) {
    if ((view.opened.has(annotation.child) && !annotation.training)) {
      by_child.at(annotation.child).push(py_get(view.names, annotation.other, NO_NAME));
    }
  }
  return by_child;
}
function _box_second_line(node, links = 0) {
  let second, number, counts;
  second = node.second;
  number = py_removeprefix(node.badge, "×").replaceAll(" parts", "");
  counts = (node.badge && second.startsWith((String(number) + " op")));
  if ((node.kind === "series")) {
    second = (py_truth(counts) ? "" : second);
  }
  else {
    if (!py_truth(counts)) {
      second = py_join(" · ", (() => { const out = []; for (const part of [node.badge, second]) if (part) { out.push(part); } return out; })());
    }
  }
  return py_join(" · ", (() => { const out = []; for (const part of [second, (links ? count_of(links, "link") : "")]) if (part) { out.push(part); } return out; })());
}
const PROJECTION = "projection";
const NAME_JOINTS = ["_", ".", "/", "-"];
function name_in_stack(stack, member) {
  let rest;
  rest = py_removeprefix(member, stack);
  return ((NAME_JOINTS.includes(py_slice(rest, 0, 1)) && !"0123456789".includes(py_slice(rest, 1, 2)) && (rest !== member)) ? py_slice(rest, 1) : member);
}
function stack_label(node, picture_line, member, shown, members, boxed = false, grows = "") {
  let counted_each, content, are_alike, is_list, is_unlike, order, name, is_named, shown_name, first, shown_words, parts;
  counted_each = ((member.kind === "series") && !["op", "call"].includes(member.member) && !member.about);
  content = ((member.second && !counted_each) ? (String(member.second) + " each") : member.second);
  are_alike = ([node.second, node.label].includes(member.second) || (node.second === (String(member.second) + " each")));
  content = ((are_alike || node.second.includes(" op")) ? content : node.second);
  is_list = node.label.includes(WORDS_DOT);
  is_unlike = (member.layers && !node.semibold && ![member.second, member.label].includes(node.second));
  content = (grows || (node.layers ? ((is_list || is_unlike) ? node.second : "") : content));
  order = (node.connected ? "" : "side by side");
  name = _name_on_box(member);
  is_named = ((shown >= 0) && !name.includes(WORDS_DOT) && !is_list);
  shown_name = (is_named ? (String(name_in_stack(node.label, name)) + " shown") : "");
  first = (boxed ? _without_projection(node.first) : node.first);
  shown_words = py_join("; ", (() => { const out = []; for (const part of [shown_name, first]) if (part) { out.push(part); } return out; })());
  if ((picture_line != null)) {
    parts = [order, shown_words, picture_line];
  }
  else {
    parts = (is_list ? [order, content, shown_words] : [order, shown_words, content]);
  }
  return py_replace(node, {label: py_rstrip((String(node.label) + " " + String(node.badge)), " "), second: py_join(" · ", (() => { const out = []; for (const part of parts) if (part) { out.push(part); } return out; })()), badge: "", first: "", about: ("shown: " + String(name) + ", one of " + String(members)), stacked: true});
}
function _without_projection(first) {
  return (first.endsWith((": " + String(PROJECTION))) ? "" : py_join(", ", (() => { const out = []; for (const word of first.split(", ")) if ((word !== PROJECTION)) { out.push(word); } return out; })()));
}
function joined_label(nodes) {
  let inner, names, second;
  inner = nodes.at(-1);
  names = (() => { const out = []; for (const node of nodes) { out.push(((node.second === last_segment(node.full)) ? node.second : node.label)); } return out; })();
  second = ((names.at(-1) === inner.label) ? inner.second : inner.label);
  return py_replace(nodes[0], {label: py_join("/", names), second: second, full: inner.full, about: inner.about});
}
function _name_on_box(node) {
  return (node.semibold ? py_partition(node.second, WORDS_DOT)[0] : node.label);
}
function _box_tooltip(node, links) {
  let linked, times, words;
  linked = (links.length ? ("linked with " + String(py_join(", ", py_map(tooltip_name, links.slice(0, TOOLTIP_NAMES))))) : "");
  times = ((node.kind === "series") ? node.badge : "");
  words = "";
  if (node.semibold) {
    [words, node] = [node.label, py_replace(node, {second: py_partition(node.second, WORDS_DOT)[2]})];
  }
  return py_join(" · ", (() => { const out = []; for (const part of [tooltip_name(node.full), times, words, _box_second_line(node), node.about, linked]) if (part) { out.push(part); } return out; })());
}
function _line_end_names(view, line) {
  let inside, outside;
  if (!(line instanceof Bridge)) {
    return [view.node_labels.at(line.source).full, view.node_labels.at(line.target).full];
  }
  [inside, outside] = [view.node_labels.at(line.child).full, py_get(view.names, line.other, NO_NAME)];
  return (line.inbound ? [outside, inside] : [inside, outside]);
}

// render.close_frame
const PORT_GAP_PX = 4;
const BOX_GAP_PX = 28;
const TEXT_GAP_PX = 6;
const ASIDE_PX = 6;
const LABEL_REACH_PX = 16;
const INPUT_LINE_PX = 44;
class Extent {
  constructor(left, right, start, end) {
    this.left = left;
    this.right = right;
    this.start = start;
    this.end = end;
  }
}
function sole_frame(scene) {
  let outer, frames, sources, targets, index, between;
  outer = (() => { const out = []; for (const [index, box] of py_enumerate(scene.boxes)) if ((box.parent < 0)) { out.push(index); } return out; })();
  frames = (() => { const out = []; for (const index of outer) if (scene.boxes.at(index).open) { out.push(index); } return out; })();
  if (((frames.length !== 1) || scene.rules.length || (scene.boxes.at(frames[0]).kind === "series"))) {
    return -1;
  }
  [sources, targets] = [(() => { const out = new Set(); for (const line of scene.routes) { out.add(line.source); } return out; })(), (() => { const out = new Set(); for (const line of scene.routes) { out.add(line.target); } return out; })()];
  for (index of outer) {
    between = (sources.has(index) && targets.has(index));
    if (((index !== frames[0]) && (scene.boxes.at(index).openable || (scene.boxes.at(index).area !== "main") || between))) {
      return -1;
    }
  }
  return frames[0];
}
function close_frame(scene, frame) {
  let bare, closing, moved;
  bare = py_replace(scene.boxes.at(frame), {bare: true});
  scene = py_replace(scene, {boxes: [...scene.boxes.slice(0, frame), bare, ...scene.boxes.slice((frame + 1))], ports: [...(() => { const out = []; for (const port of scene.ports) { out.push(((port.box === frame) ? py_replace(port, {bare: true}) : port)); } return out; })()]});
  closing = _closing_of(scene, frame);
  moved = ((closing == null) ? null : closing.closed_scene());
  return (((closing == null) || (moved == null)) ? scene : closing.cropped_scene(moved));
}
function _closing_of(scene, frame) {
  let closing;
  if ((scene.webs.length || scene.rules.length || (() => { for (const box of scene.boxes) { if ((box.area !== "main")) return true; } return false; })())) {
    return null;
  }
  closing = new _FrameClosing(scene, frame);
  return (closing.is_simple() ? closing : null);
}
function _free_room(moving, others, most) {
  let room, near_pairs, has_changed, extent, other, gap;
  room = most;
  near_pairs = (() => { const out = []; for (const extent of moving) for (const other of others) if ((((other.left - ASIDE_PX) < extent.right) && ((other.right + ASIDE_PX) > extent.left))) { out.push([extent, other]); } return out; })();
  has_changed = true;
  while (has_changed) {
    has_changed = false;
    for ([extent, other] of near_pairs) {
      gap = ((extent === moving[0]) ? BOX_GAP_PX : TEXT_GAP_PX);
      if ((((extent.start - room) < (other.end + gap)) && ((extent.end - room) > (other.start - TEXT_GAP_PX)))) {
        [room, has_changed] = [((extent.start - other.end) - gap), true];
      }
    }
  }
  return room;
}
class _FrameClosing {
  constructor(scene, frame) {
    let box;
    [this.scene, this.frame] = [scene, frame];
    this.axis = (["BT", "TB"].includes(scene.direction) ? 1 : 0);
    this.sign = (["BT", "RL"].includes(scene.direction) ? -1 : 1);
    box = scene.boxes.at(frame);
    this.whole = this.extent([box.x, box.y], [(box.x + box.width), (box.y + box.height)]);
    this.outer = (() => { const out = new Set(); for (const [number, other] of py_enumerate(scene.boxes)) if (((other.parent < 0) && (number !== frame))) { out.add(number); } return out; })();
    this.moves = new Map();
    this.cuts = new Map();
    this.asides = new Map();
    this.redrawn = new Map();
    this.labels = new Map();
    this.joints = new Map();
  }
  along_flow(point) {
    return (this.sign * point.at(this.axis));
  }
  extent(...points) {
    let across, along;
    [across, along] = [(() => { const out = []; for (const point of points) { out.push(point.at((1 - this.axis))); } return out; })(), (() => { const out = []; for (const point of points) { out.push(this.along_flow(point)); } return out; })()];
    return new Extent(py_min(across), py_max(across), py_min(along), py_max(along));
  }
  box_extent(box) {
    return this.extent([box.x, box.y], [(box.x + box.width), (box.y + box.height)]);
  }
  text_extent(text) {
    let left;
    left = (text.x - new Map([["start", 0], ["middle", Math.floor(text.width / 2)], ["end", text.width]]).get(text.anchor));
    return this.extent([left, (text.y - text.size)], [(left + text.width), (text.y + 2)]);
  }
  is_outer_route(route) {
    return ((route.frame < 0) && (() => { for (const end of [route.source, route.target]) { if (!((end === this.frame) || this.outer.has(end))) return false; } return true; })());
  }
  outer_extents() {
    let found;
    found = (() => { const out = []; for (const number of this.outer) { out.push(this.box_extent(this.scene.boxes.at(number))); } return out; })();
    py_extend(found, (() => { const out = []; for (const route of this.scene.routes) if (this.is_outer_route(route)) { out.push(this.extent(...route.points)); } return out; })());
    return [...found, ...(() => { const out = []; for (const text of this.scene.texts) if ((text.box < 0)) { out.push(this.text_extent(text)); } return out; })()];
  }
  is_simple() {
    let joined;
    joined = (() => { for (const route of this.scene.routes) if (this.is_outer_route(route)) { if (![route.source, route.target].includes(this.frame)) return false; } return true; })();
    return (joined && (() => { for (const extent of this.outer_extents()) { if (!((extent.end <= this.whole.start) || (extent.start >= this.whole.end))) return false; } return true; })());
  }
  inner_extents() {
    let scene, skipped, found, text, route, first, last, inside;
    [scene, skipped] = [this.scene, new Set([...this.outer, this.frame])];
    found = (() => { const out = []; for (const [number, box] of py_enumerate(scene.boxes)) if (!skipped.has(number)) { out.push(this.box_extent(box)); } return out; })();
    py_extend(found, (() => { const out = []; for (const stub of scene.stubs) if (!skipped.has(stub.box)) { out.push(this.box_extent(stub)); } return out; })());
    for (text of scene.texts) {
      if (((text.box >= 0) && !this.outer.has(text.box) && !(text.inside && (text.box === this.frame)))) {
        found.push(this.text_extent(text));
      }
    }
    for (route of scene.routes) {
      if (!this.is_outer_route(route)) {
        [first, last] = this.port_ends(route);
        inside = route.points.slice(first, (route.points.length - last));
        py_extend(found, (() => { const out = []; for (const pair of py_zip(inside, py_or(inside.slice(1), () => inside))) { out.push(this.extent(...pair)); } return out; })());
      }
    }
    return found;
  }
  port_ends(route) {
    return [((route.frame === this.frame) && (route.source < 0)), ((route.frame === this.frame) && (route.target < 0))];
  }
  closed_scene() {
    let inner, start, end, forward, backward, number, behind, port, place_;
    inner = this.inner_extents();
    if (!inner.length) {
      return null;
    }
    [start, end] = [py_min((() => { const out = []; for (const extent of inner) { out.push(extent.start); } return out; })()), py_max((() => { const out = []; for (const extent of inner) { out.push(extent.end); } return out; })())];
    forward = Math.max(0, ((start - PORT_GAP_PX) - this.whole.start));
    backward = Math.max(0, ((this.whole.end - end) - PORT_GAP_PX));
    for (number of this.outer) {
      behind = (this.box_extent(this.scene.boxes.at(number)).start >= this.whole.end);
      this.moves.set(number, (behind ? -backward : forward));
    }
    for ([number, port] of py_enumerate(this.scene.ports)) {
      if ((port.box === this.frame)) {
        place_ = this.along_flow([port.x, port.y]);
        this.cuts.set(number, (place_ + (((2 * place_) < (this.whole.start + this.whole.end)) ? forward : -backward)));
      }
    }
    for (number of py_sorted(this.outer)) {
      if ((this.moves.get(number) <= 0)) {
        this.move_output(number, inner);
      }
      else {
        this.move_input(number, inner);
      }
    }
    return this.moved_scene();
  }
  move_input(number, inner) {
    let scene, lines, line, port, port_lines, inner_lines, turn, head, box, shift, start, moved_box, freed, others, extent, is_apart, is_freed, new_start, new_port, index, text, is_near, middle, x, y;
    scene = this.scene;
    lines = (() => { const out = []; for (const [index, route] of py_enumerate(scene.routes)) if ([route.source, route.target].includes(number)) { out.push(index); } return out; })();
    if (((lines.length !== 1) || (scene.routes.at(lines[0]).target_port < 0) || (() => { for (const stub of scene.stubs) { if ((stub.box === number)) return true; } return false; })())) {
      return;
    }
    [line, port] = [scene.routes.at(lines[0]), scene.routes.at(lines[0]).target_port];
    port_lines = (() => { const out = []; for (const [at, route] of py_enumerate(scene.routes)) if ([route.source_port, route.target_port].includes(port)) { out.push(at); } return out; })();
    inner_lines = (() => { const out = []; for (const index of port_lines) if (this.port_ends(scene.routes.at(index))[0]) { out.push(index); } return out; })();
    if (((port_lines.length !== 2) || (inner_lines.length !== 1) || ((() => { const out = new Set(); for (const point of line.points) { out.add(point.at((1 - this.axis))); } return out; })().size > 1))) {
      return;
    }
    [turn, head] = scene.routes.at(inner_lines[0]).points.slice(-2);
    if (((this.along_flow(turn) <= this.along_flow(head)) || (turn.at((1 - this.axis)) !== head.at((1 - this.axis))))) {
      return;
    }
    box = this.box_extent(scene.boxes.at(number));
    shift = (head.at((1 - this.axis)) - line.points[0].at((1 - this.axis)));
    start = (this.along_flow(head) + INPUT_LINE_PX);
    moved_box = new Extent((box.left + shift), (box.right + shift), start, ((start + box.end) - box.start));
    freed = this.extent(...scene.routes.at(inner_lines[0]).points.slice(-3));
    others = (() => { const out = []; for (const other of this.outer) if ((other !== number)) { out.push(this.box_extent(scene.boxes.at(other))); } return out; })();
    for (extent of [...inner, ...others]) {
      is_apart = (((extent.left - ASIDE_PX) >= moved_box.right) || ((extent.right + ASIDE_PX) <= moved_box.left));
      is_freed = ((extent.left >= freed.left) && (extent.right <= freed.right) && (extent.start >= freed.start));
      if ((!is_apart && (extent.end > (start - Math.floor(INPUT_LINE_PX / 2))) && !is_freed)) {
        return;
      }
    }
    this.moves.set(number, (start - box.start));
    this.asides.set(number, shift);
    [new_start, new_port] = [this.point_at(head, start), this.point_at(head, (start - Math.floor(INPUT_LINE_PX / 2)))];
    this.redrawn.set(lines[0], [new_start, new_port]);
    this.redrawn.set(inner_lines[0], [new_port, head]);
    this.joints.set(port, new_port);
    for ([index, text] of py_enumerate(scene.texts)) {
      extent = this.text_extent(text);
      is_near = (((extent.left - LABEL_REACH_PX) <= line.points[0].at((1 - this.axis))) && (line.points[0].at((1 - this.axis)) <= (extent.right + LABEL_REACH_PX)));
      if (((text.box < 0) && (text.role === "edge") && is_near && (extent.end <= this.whole.start))) {
        middle = Math.floor((extent.start + extent.end) / 2);
        [x, y] = this.moved_point([text.x, text.y], ((start - Math.floor(INPUT_LINE_PX / 2)) - middle), shift);
        this.labels.set(index, [x, y]);
      }
    }
  }
  move_output(number, inner) {
    let scene, lines, line, port, port_lines, inner_lines, path, across, box, moving, others, room;
    scene = this.scene;
    lines = (() => { const out = []; for (const route of scene.routes) if ([route.source, route.target].includes(number)) { out.push(route); } return out; })();
    if (((lines.length !== 1) || (lines[0].target !== number) || (lines[0].source_port < 0))) {
      return;
    }
    [line, port] = [lines[0], lines[0].source_port];
    port_lines = (() => { const out = []; for (const route of scene.routes) if ([route.source_port, route.target_port].includes(port)) { out.push(route); } return out; })();
    inner_lines = (() => { const out = []; for (const route of port_lines) if (this.port_ends(route)[1]) { out.push(route); } return out; })();
    if (((port_lines.length !== 2) || (inner_lines.length !== 1))) {
      return;
    }
    path = [...inner_lines[0].points.slice(-2), ...line.points];
    if (((line.points.length !== 2) || ((() => { const out = new Set(); for (const point of path) { out.add(point.at((1 - this.axis))); } return out; })().size > 1))) {
      return;
    }
    across = path[0].at((1 - this.axis));
    box = this.box_extent(scene.boxes.at(number));
    moving = [box, ...(() => { const out = []; for (const stub of scene.stubs) if ((stub.box === number)) { out.push(this.box_extent(stub)); } return out; })()];
    py_extend(moving, (() => { const out = []; for (const text of scene.texts) if (((text.box < 0) && (text.role === "edge"))) for (const extent of [this.text_extent(text)]) if (((((extent.left - LABEL_REACH_PX) <= across) && (across <= (extent.right + LABEL_REACH_PX))) && (extent.end <= box.start))) { out.push(extent); } return out; })());
    others = (() => { const out = []; for (const other of this.outer) if ((other !== number)) { out.push(this.box_extent(scene.boxes.at(other))); } return out; })();
    room = _free_room(moving, [...inner, ...others], ((box.start - this.along_flow(path[0])) - BOX_GAP_PX));
    if ((room > -this.moves.get(number))) {
      this.moves.set(number, -room);
      this.cuts.set(port, Math.max((this.along_flow(path[0]) + PORT_GAP_PX), (this.along_flow(line.points[0]) - room)));
    }
  }
  moved_point(point, move, aside = 0) {
    let along;
    along = (this.sign * move);
    return (this.axis ? [(point[0] + aside), (point[1] + along)] : [(point[0] + along), (point[1] + aside)]);
  }
  point_at(point, place_) {
    return this.moved_point(point, (place_ - this.along_flow(point)));
  }
  moved_scene() {
    let scene, texts, at, text, move, x, y, boxes, number, box, stubs, stub, ports, port;
    scene = this.scene;
    texts = [];
    for ([at, text] of py_enumerate(scene.texts)) {
      move = ((text.box >= 0) ? py_get(this.moves, text.box, 0) : this.label_move(text));
      [x, y] = this.moved_point([text.x, text.y], move, py_get(this.asides, text.box, 0));
      [x, y] = py_get(this.labels, at, [x, y]);
      texts.push((py_equal([x, y], [text.x, text.y]) ? text : py_replace(text, {x: x, y: y})));
    }
    boxes = [];
    for ([number, box] of py_enumerate(scene.boxes)) {
      [x, y] = this.moved_point([box.x, box.y], py_get(this.moves, number, 0), py_get(this.asides, number, 0));
      boxes.push((py_equal([x, y], [box.x, box.y]) ? box : py_replace(box, {x: x, y: y})));
    }
    stubs = [];
    for (stub of scene.stubs) {
      move = py_get(this.moves, stub.box, 0);
      [x, y] = this.moved_point([stub.x, stub.y], move);
      stubs.push(py_replace(stub, {x: x, y: y, points: [...(() => { const out = []; for (const point of stub.points) { out.push(this.moved_point(point, move)); } return out; })()]}));
    }
    ports = [];
    for ([number, port] of py_enumerate(scene.ports)) {
      [x, y] = (this.cuts.has(number) ? this.point_at([port.x, port.y], this.cuts.get(number)) : [port.x, port.y]);
      [x, y] = py_get(this.joints, number, [x, y]);
      ports.push((py_equal([x, y], [port.x, port.y]) ? port : py_replace(port, {x: x, y: y})));
    }
    return py_replace(scene, {boxes: [...boxes], routes: [...(() => { const out = []; for (const [at, route] of py_enumerate(scene.routes)) { out.push((this.redrawn.has(at) ? py_replace(route, {points: this.redrawn.get(at), parting: null}) : this.moved_route(route))); } return out; })()], ports: [...ports], stubs: [...stubs], texts: [...texts]});
  }
  label_move(text) {
    let extent, middle, behind, near;
    extent = this.text_extent(text);
    middle = Math.floor((extent.left + extent.right) / 2);
    behind = (extent.start >= this.whole.end);
    near = (() => { const out = []; for (const number of py_sorted(this.outer)) for (const box of [this.box_extent(this.scene.boxes.at(number))]) if (((box.start >= this.whole.end) === behind)) { out.push([Math.max(0, (box.left - middle), (middle - box.right)), number]); } return out; })();
    return (near.length ? this.moves.get(py_min(near)[1]) : 0);
  }
  moved_route(route) {
    let points, move, at, port, parting, first, last, ends;
    points = [...route.points];
    if (this.is_outer_route(route)) {
      move = this.moves.get(((route.source === this.frame) ? route.target : route.source));
      points = (() => { const out = []; for (const point of points) { out.push(this.moved_point(point, move)); } return out; })();
      [at, port] = ((route.source === this.frame) ? [0, route.source_port] : [-1, route.target_port]);
      if (this.cuts.has(port)) {
        points[py_position(points, at)] = this.point_at(points.at(at), this.cuts.get(port));
      }
      parting = py_and(route.parting, () => this.moved_point(route.parting, move));
      return py_replace(route, {points: [...points], parting: parting});
    }
    [first, last] = this.port_ends(route);
    for ([at, port, ends] of [[0, route.source_port, first], [-1, route.target_port, last]]) {
      if ((ends && this.cuts.has(port))) {
        points[py_position(points, at)] = this.point_at(points.at(at), this.cuts.get(port));
      }
    }
    return py_replace(route, {points: [...points]});
  }
  drawn_area(scene) {
    let corners, number, box, stub, route, half, text, left, across, down, x, y;
    corners = [];
    for ([number, box] of py_enumerate(scene.boxes)) {
      if ((number !== this.frame)) {
        py_extend(corners, [[box.x, box.y], [(box.x + box.width), (box.y + box.height)]]);
      }
    }
    for (stub of scene.stubs) {
      py_extend(corners, [[stub.x, stub.y], [(stub.x + stub.width), (stub.y + stub.height)], ...stub.points]);
    }
    for (route of scene.routes) {
      half = (1 + Math.floor(route.thickness / 20));
      py_extend(corners, (() => { const out = []; for (const [x, y] of route.points) for (const point of [[(x - half), (y - half)], [(x + half), (y + half)]]) { out.push(point); } return out; })());
    }
    for (text of scene.texts) {
      if (!(text.inside && (text.box === this.frame))) {
        left = (text.x - new Map([["start", 0], ["middle", Math.floor(text.width / 2)], ["end", text.width]]).get(text.anchor));
        py_extend(corners, [[left, (text.y - text.size)], [(left + text.width), (text.y + 2)]]);
      }
    }
    [across, down] = py_zip(...corners);
    [x, y] = [py_min(across), py_min(down)];
    return [x, y, (py_max(across) - x), (py_max(down) - y)];
  }
  cropped_scene(scene) {
    let x, y, wide, tall;
    [x, y, wide, tall] = this.drawn_area(scene);
    return py_replace(scene, {width: wide, height: tall, boxes: [...(() => { const out = []; for (const box of scene.boxes) { out.push(py_replace(box, {x: (box.x - x), y: (box.y - y)})); } return out; })()], routes: [...(() => { const out = []; for (const route of scene.routes) { out.push(py_replace(route, {points: [...(() => { const out = []; for (const [left, top] of route.points) { out.push([(left - x), (top - y)]); } return out; })()], parting: py_and(route.parting, () => [(route.parting[0] - x), (route.parting[1] - y)])})); } return out; })()], ports: [...(() => { const out = []; for (const port of scene.ports) { out.push(py_replace(port, {x: (port.x - x), y: (port.y - y)})); } return out; })()], stubs: [...(() => { const out = []; for (const stub of scene.stubs) { out.push(py_replace(stub, {x: (stub.x - x), y: (stub.y - y), points: [...(() => { const out = []; for (const [left, top] of stub.points) { out.push([(left - x), (top - y)]); } return out; })()]})); } return out; })()], texts: [...(() => { const out = []; for (const text of scene.texts) { out.push(py_replace(text, {x: (text.x - x), y: (text.y - y)})); } return out; })()]});
  }
}

// render.lines
const SIGN_DASHES = new Map([["−", [6, 3]], ["→", [1, 3]]]);
const SIGN_WIDTHS = new Map([["+", 2.5], ["−", 2], ["~", 1], ["→", 2]]);
const SIGN_DISC_RADIUS = 6;
const BEAD_RADIUS = 4.5;
const SIGN_STROKES = new Map([["+", [["M", [-3, 0]], ["H", [3]], ["M", [0, -3]], ["V", [3]]]], ["−", [["M", [-3, 0]], ["H", [3]]]], ["~", [["M", [-3.5, 1]], ["C", [-2.5, -2.5, -1, -1.5, 0, 0]], ["C", [1, 1.5, 2.5, 2.5, 3.5, -1]]]], ["→", [["M", [-3.5, 0]], ["H", [3]], ["M", [0.5, -2.5]], ["L", [3, 0]], ["L", [0.5, 2.5]]]]]);
function sign_outline(x, y, width, height, radius, fill) {
  let thick, insets;
  if (!fill.sign) {
    return [];
  }
  thick = SIGN_WIDTHS.get(fill.sign);
  insets = ((fill.sign === "~") ? [(thick / 2), 3] : [(thick / 2)]);
  return (() => { const out = []; for (const inset of insets) { out.push(_sign_ring(x, y, width, height, radius, fill, inset)); } return out; })();
}
function _sign_ring(x, y, width, height, radius, fill, inset) {
  let dotted, pen, rounded;
  dotted = (fill.sign === "→");
  pen = new Pen(fill.stroke, SIGN_WIDTHS.get(fill.sign), py_get(SIGN_DASHES, fill.sign, []), (dotted ? "round" : "butt"));
  rounded = py_max([0, (radius - inset)]);
  return new Rectangle((x + inset), (y + inset), (width - (2 * inset)), (height - (2 * inset)), rounded, undefined, pen);
}
function sign_disc(x, y, fill, theme) {
  return (fill.sign ? _draw_sign(x, y, SIGN_DISC_RADIUS, fill.stroke, fill.sign, theme) : []);
}
function sign_bead(x, y, tint, theme) {
  return _draw_sign(x, y, BEAD_RADIUS, tint.colour, tint.sign, theme);
}
function _draw_sign(x, y, radius, colour, sign, theme) {
  let pen, ground;
  pen = new Pen(theme.background, 1.5, undefined, "round");
  ground = new Disc(x, y, radius, colour, new Pen(theme.background));
  return [ground, new Curve(SIGN_STROKES.get(sign), undefined, pen, [x, y], (radius / SIGN_DISC_RADIUS))];
}
const BEND_RADIUS = 8;
const ARROW_LENGTH = 8.0;
const ARROW_WIDTH = 6.4;
const MAX_ARROW_GROWTH = 1.25;
const ARROW_GROWTH_STEP = 8.0;
const PAPER_REFERENCE_DASHES = [8, 3, 2, 3];
const CONTROL_LINE_DASHES = [4, 3];
const SELECTED_THICKENING = 15;
const MIN_CHANGED_THICKNESS = 1.8;
const TINT_BAND = 2.5;
const WEB_THICKNESS = 0.6;
const WEB_BUNDLE = 100;
const PARTING_RADIUS = 2.6;
const BEAD_DISTANCE = 20;
function draw_route(line, theme, chosen, tint = null) {
  let whole, colour, thickness, points, parting, backwards, marks, tip, before, growth, run_length, dashes, shapes, outline, dot;
  whole = (((tint != null) && tint.whole) ? tint : null);
  colour = ((whole == null) ? edge_colour(line, theme, chosen) : whole.colour);
  thickness = ((line.thickness + (chosen ? SELECTED_THICKENING : 0)) / 10);
  thickness = ((whole && whole.sign) ? py_max([thickness, MIN_CHANGED_THICKNESS]) : thickness);
  points = [...straighten_polyline(line.points)];
  parting = line.parting;
  if (((parting != null) && py_in(parting, points) && !chosen)) {
    points = points.slice(py_index(points, parting));
  }
  if ((points.length < 2)) {
    return new Group([], undefined, line.title);
  }
  backwards = (line.kind === "reference");
  marks = [];
  if (line.arrow) {
    [tip, before] = (backwards ? [points[0], points[1]] : [points.at(-1), points.at(-2)]);
    growth = py_min([MAX_ARROW_GROWTH, (1 + ((thickness - 1) / ARROW_GROWTH_STEP))]);
    marks.push(arrow_head(tip, before, growth));
    run_length = py_sqrt((((tip[0] - before[0]) ** 2) + ((tip[1] - before[1]) ** 2)));
    points = shorten_line(points, py_min([((ARROW_LENGTH * growth) - 2), (run_length - 1)]), backwards);
  }
  if (line.back) {
    marks.push(_chevron_outline(points, thickness));
  }
  dashes = py_or((whole ? whole.dashes : []), () => ((line.kind === "control") ? CONTROL_LINE_DASHES : []));
  if (((line.kind === "reference") && (theme.reference === theme.main) && !whole)) {
    dashes = PAPER_REFERENCE_DASHES;
  }
  shapes = ((tint && !whole) ? [_tint_band(points, thickness, tint)] : []);
  outline = rounded_outline(((line.kind === "control") ? py_reversed(points) : points));
  shapes.push(new Curve(outline, undefined, new Pen(colour, thickness, dashes)));
  py_extend(shapes, (() => { const out = []; for (const mark of marks) { out.push(new Curve(mark, colour)); } return out; })());
  if (py_truth(line.parting)) {
    dot = (((line.kind === "data") && !whole && !chosen) ? theme.main : colour);
    shapes.push(new Disc(...line.parting, PARTING_RADIUS, dot));
  }
  if ((whole && whole.sign && line.arrow)) {
    py_extend(shapes, _draw_line_bead(line, whole, theme));
  }
  return new Group([...shapes], undefined, line.title);
}
function draw_web(bundle, scene, theme) {
  let dashes, pen, starts, ends, groups, start, steps, stop, source, target;
  dashes = ((bundle.kind === "control") ? CONTROL_LINE_DASHES : []);
  pen = new Pen(edge_colour(bundle, theme), WEB_THICKNESS, dashes);
  starts = (() => { const out = new Map(); for (const source of new Set(bundle.sources)) { out.set(source, ["M", _web_end_point(scene, source)]); } return out; })();
  ends = (() => { const out = new Map(); for (const target of new Set(bundle.targets)) { out.set(target, ["L", _web_end_point(scene, target)]); } return out; })();
  groups = [];
  for (start of py_range(0, bundle.sources.length, WEB_BUNDLE)) {
    steps = [];
    stop = (start + WEB_BUNDLE);
    for ([source, target] of py_zip(bundle.sources.slice(start, stop), bundle.targets.slice(start, stop))) {
      py_extend(steps, [starts.get(source), ends.get(target)]);
    }
    groups.push(new Group([new Curve([...steps], undefined, pen)]));
  }
  return groups;
}
function _web_end_point(scene, end) {
  let port, box;
  if ((end < 0)) {
    port = scene.ports.at((-1 - end));
    return [port.x, port.y];
  }
  box = scene.boxes.at(end);
  return [(box.x + Math.floor(box.width / 2)), (box.y + Math.floor(box.height / 2))];
}
function straight_line(start, end, pen) {
  return new Curve([["M", start], ["L", end]], undefined, pen);
}
function _tint_band(points, thickness, tint) {
  return new Curve(rounded_outline(points), undefined, new Pen(tint.colour, (thickness + (2 * TINT_BAND)), tint.dashes));
}
function _draw_line_bead(line, tint, theme) {
  let points, tip, before, away;
  points = [...straighten_polyline(line.points)];
  [tip, before] = ((line.kind === "reference") ? [points[0], points[1]] : [points.at(-1), points.at(-2)]);
  away = py_min([BEAD_DISTANCE, (_distance_between(tip, before) * 0.6)]);
  return sign_bead(..._step_towards(tip, before, away), tint, theme);
}
function edge_colour(line, theme, chosen = false) {
  if (chosen) {
    return theme.selected;
  }
  if (((line instanceof Route) && (line.kind === "data") && line.main)) {
    return theme.main;
  }
  return ((line.kind === "reference") ? theme.reference : theme.data);
}
function shorten_line(points, by, at_start) {
  let turned;
  if ((by <= 0)) {
    return points;
  }
  turned = (at_start ? py_reversed(points) : points);
  turned = [...turned.slice(0, -1), _step_towards(turned.at(-1), turned.at(-2), by)];
  return (at_start ? py_reversed(turned) : turned);
}
function _step_towards(start, goal, distance) {
  let dx, dy, length;
  [dx, dy] = [(goal[0] - start[0]), (goal[1] - start[1])];
  length = py_sqrt(((dx * dx) + (dy * dy)));
  return (length ? [(start[0] + ((dx * distance) / length)), (start[1] + ((dy * distance) / length))] : start);
}
function rounded_outline(points) {
  let steps, index, before, corner, after, radius;
  steps = [["M", points[0]]];
  for (index of py_range(1, (points.length - 1))) {
    [before, corner, after] = points.slice((index - 1), (index + 2));
    radius = py_min([BEND_RADIUS, (_distance_between(before, corner) / ((index === 1) ? 1 : 2)), (_distance_between(corner, after) / ((index === (points.length - 2)) ? 1 : 2))]);
    py_extend(steps, [["L", _step_towards(corner, before, radius)], ["Q", [...corner, ..._step_towards(corner, after, radius)]]]);
  }
  return [...steps, ["L", points.at(-1)]];
}
function _distance_between(a, b) {
  return py_sqrt((((a[0] - b[0]) ** 2) + ((a[1] - b[1]) ** 2)));
}
function arrow_head(tip, before, grow = 1.0) {
  let length, ux, uy, long, wide, foot, left, right;
  length = (_distance_between(tip, before) || 1.0);
  [ux, uy] = [((tip[0] - before[0]) / length), ((tip[1] - before[1]) / length)];
  [long, wide] = [(ARROW_LENGTH * grow), ((ARROW_WIDTH * grow) / 2)];
  foot = [(tip[0] - (ux * long)), (tip[1] - (uy * long))];
  left = [(foot[0] - (uy * wide)), (foot[1] + (ux * wide))];
  right = [(foot[0] + (uy * wide)), (foot[1] - (ux * wide))];
  return [["M", tip], ["L", left], ["L", right], ["Z", []]];
}
function _chevron_outline(points, thickness) {
  let start, stop, half, grow, first, second;
  [start, stop] = py_max(py_pairwise(points), {key: (run) => _distance_between(...run)});
  half = (_distance_between(start, stop) / 2);
  grow = py_min([MAX_ARROW_GROWTH, (1 + ((thickness - 1) / ARROW_GROWTH_STEP))]);
  first = _step_towards(start, stop, (half + 1));
  second = _step_towards(start, stop, ((half + 1) + ((ARROW_LENGTH * grow) * 0.75)));
  return [...arrow_head(first, start, grow), ...arrow_head(second, start, grow)];
}

// render.boxes
const BOX_CORNER = 6;
const STACK_SHEET_OFFSET = 4;
const FOLDED_CORNER = 8;
const COLOUR_BAR_WIDTH = 8;
const MIN_COLOUR_HEIGHT = 4;
const FRAME_DASHES = [4, 3];
const STUB_DASHES = [2, 2];
const CONTROL_DASHES = [2, 2];
const SURPLUS_DASHES = [5, 3];
const STUB_LINE_WIDTH = 0.8;
const TINTED_STUB_WIDTH = 1.5;
function is_pill(box) {
  let kind;
  kind = (["series", "fold"].includes(box.kind) ? box.member : box.kind);
  return ["op", "call"].includes(kind);
}
function front_bounds(box) {
  let away;
  if (!box.sheets) {
    return [box.x, box.y, box.width, box.height];
  }
  away = (STACK_SHEET_OFFSET * box.sheets);
  if (box.connected) {
    return [box.x, (box.y + away), box.width, (box.height - away)];
  }
  return [box.x, box.y, (box.width - away), box.height];
}
function draw_closed_box(box, fill, theme) {
  let x, y, width, height, radius, dashes, border, ground, shapes, ear;
  [x, y, width, height] = front_bounds(box);
  radius = (is_pill(box) ? Math.min(12, Math.floor(height / 2)) : ((box.kind === "function") ? 2 : BOX_CORNER));
  dashes = (box.surplus ? SURPLUS_DASHES : []);
  border = (fill.sign ? null : new Pen(fill.stroke, undefined, dashes));
  ground = (fill.bands.length ? theme.neutral : ((box.sign && !(fill.hued || fill.sign)) ? theme.op : fill.fill));
  shapes = [..._draw_back_sheets(box, radius, ground, new Pen(fill.stroke))];
  if ((box.kind === "fold")) {
    py_extend(shapes, _folded_sheet(x, y, width, height, ground, fill.stroke));
  }
  else {
    shapes.push(_inset_rect(x, y, width, height, radius, ground, border));
  }
  if (fill.bands.length) {
    ear = ((box.kind === "fold") ? FOLDED_CORNER : 0);
    py_extend(shapes, _colour_bar(x, (y + ear), (height - ear), (ear ? 0 : radius), (ear ? 0 : radius), fill));
  }
  if (fill.hatch) {
    shapes.push(new Hatch((x + 0.5), (y + 0.5), (width - 1), (height - 1), (radius - 0.5), theme.stroke));
  }
  if ((box.kind === "call")) {
    shapes.push(new Rectangle((x + 2.5), (y + 2.5), (width - 5), (height - 5), (radius - 2.5), undefined, new Pen(fill.stroke)));
  }
  py_extend(shapes, sign_outline(x, y, width, height, radius, fill));
  if (box.openable) {
    py_extend(shapes, _draw_open_mark(..._open_mark_place(box), theme, false));
  }
  return [...shapes, ...sign_disc((x + 4), (y + 3), fill, theme)];
}
function _draw_back_sheets(box, radius, ground, pen) {
  let x, y, width, height, away, shifts;
  [x, y, width, height] = front_bounds(box);
  away = (() => { const out = []; for (const sheet of py_range(box.sheets, 0, -1)) { out.push((STACK_SHEET_OFFSET * sheet)); } return out; })();
  shifts = (() => { const out = []; for (const by of away) { out.push((box.connected ? [0, -by] : [by, 0])); } return out; })();
  return (() => { const out = []; for (const [dx, dy] of shifts) { out.push(_inset_rect((x + dx), (y + dy), width, height, radius, ground, pen)); } return out; })();
}
function _inset_rect(x, y, width, height, radius, fill, pen) {
  return new Rectangle((x + 0.5), (y + 0.5), (width - 1), (height - 1), (radius - 0.5), fill, pen);
}
function _folded_sheet(x, y, width, height, ground, stroke) {
  let left, top, right, bottom, pen, corners, lines, ear;
  [left, top, right, bottom] = [(x + 0.5), (y + 0.5), ((x + width) - 0.5), ((y + height) - 0.5)];
  pen = new Pen(stroke, undefined, undefined, undefined, "round");
  corners = [[right, top], [right, bottom], [left, bottom], [left, (top + FOLDED_CORNER)]];
  lines = (() => { const out = []; for (const corner of corners) { out.push(["L", corner]); } return out; })();
  ear = [["M", [(left + FOLDED_CORNER), top]], ["L", [(left + FOLDED_CORNER), (top + FOLDED_CORNER)]], ["L", [left, (top + FOLDED_CORNER)]]];
  return [new Curve([["M", [(left + FOLDED_CORNER), top]], ...lines, ["Z", []]], ground, pen), new Curve(ear, undefined, pen)];
}
function _colour_bar(x, y, height, top, foot, fill) {
  let shapes, heights, below, index, colour, _, tall, corners;
  shapes = [];
  heights = _colour_heights((height - 2), (() => { const out = []; for (const [_, share] of fill.bands) { out.push(share); } return out; })());
  below = (y + 1);
  for ([index, [[colour, _], tall]] of py_enumerate(py_zip(fill.bands, heights))) {
    corners = [((index === 0) ? top : 0), ((index === (heights.length - 1)) ? foot : 0)];
    shapes.push(new Curve(_colour_outline((x + 1), below, Math.max(COLOUR_BAR_WIDTH, top, foot), tall, ...corners), colour));
    below += tall;
  }
  return shapes;
}
function _colour_heights(height, shares) {
  let least, total, tall, tallest;
  [least, total] = [Math.min(MIN_COLOUR_HEIGHT, Math.floor(height / shares.length)), py_sum(shares)];
  tall = (() => { const out = []; for (const share of shares) { out.push(Math.max(least, Math.floor((height * share) / total))); } return out; })();
  tallest = py_max(py_range(tall.length), {key: (index) => [tall.at(index), -index]});
  tall[py_position(tall, tallest)] += (height - py_sum(tall));
  return tall;
}
function _colour_outline(x, y, width, height, top, foot) {
  let right, bottom, steps;
  [top, foot] = (() => { const out = []; for (const radius of [top, foot]) { out.push(Math.max(0, Math.min((radius - 1), height))); } return out; })();
  [right, bottom] = [(x + width), (y + height)];
  steps = [["M", [(x + top), y]], ["L", [right, y]], ["L", [right, bottom]], ["L", [(x + foot), bottom]]];
  if (foot) {
    steps.push(["A", [foot, x, (bottom - foot)]]);
  }
  steps.push(["L", [x, (y + top)]]);
  if (top) {
    steps.push(["A", [top, (x + top), y]]);
  }
  return [...steps, ["Z", []]];
}
function _open_mark_place(box) {
  let x, y, width, height;
  [x, y, width, height] = front_bounds(box);
  if ((is_pill(box) && !box.open)) {
    return [((x + width) - 12), (y + Math.min(Math.floor(height / 2), 12))];
  }
  return [((x + width) - 10), (y + (box.open ? 12 : 10))];
}
function _draw_open_mark(x, y, theme, opened) {
  let across, down, disc;
  across = [["M", [(x - 3), y]], ["H", [(x + 3)]]];
  down = (opened ? [] : [["M", [x, (y - 3)]], ["V", [(y + 3)]]]);
  disc = new Disc(x, y, 6, theme.mark, new Pen(theme.sign, 0.5));
  return [disc, new Curve([...across, ...down], undefined, new Pen(theme.sign, 1.5))];
}
function draw_frame(box, fill, theme) {
  let x, y, width, height, is_stack_, stroke, pen, shapes;
  [x, y, width, height] = front_bounds(box);
  is_stack_ = (["series", "fold"].includes(box.kind) && !box.sheets);
  stroke = (fill.hued ? fill.stroke : theme.stroke);
  pen = new Pen(stroke, undefined, (is_stack_ ? FRAME_DASHES : []));
  shapes = [..._draw_back_sheets(box, BOX_CORNER, (fill.hued ? fill.fill : theme.frame_fill((box.depth + 1))), new Pen(stroke)), _inset_rect(x, y, width, height, BOX_CORNER, theme.frame_fill((box.depth + 1)), (fill.sign ? null : pen))];
  if (fill.hued) {
    shapes.push(_frame_bar(x, y, ((y + height) - 1), fill.fill));
    py_extend(shapes, _bar_bands(x, (y + BOX_CORNER), (height - (2 * BOX_CORNER)), fill));
  }
  py_extend(shapes, sign_outline(x, y, width, height, BOX_CORNER, fill));
  if (box.openable) {
    py_extend(shapes, _draw_open_mark(..._open_mark_place(box), theme, true));
  }
  return [...shapes, ...sign_disc((x + 2), (y + 2), fill, theme)];
}
function _frame_bar(x, y, foot, colour) {
  let steps;
  steps = [["M", [(x + 3), (y + 1)]], ["V", [foot]], ["A", [5, x, ((foot - BOX_CORNER) + 1)]], ["V", [(y + BOX_CORNER)]], ["A", [5, (x + 3), (y + 1)]], ["Z", []]];
  return new Curve(steps, colour);
}
function _bar_bands(x, y, height, fill) {
  let shapes, total, above, colour, share, top, foot;
  shapes = [];
  total = py_sum((() => { const out = []; for (const [_, share] of fill.bands) { out.push(share); } return out; })());
  above = 0;
  for ([colour, share] of fill.bands) {
    [top, foot] = [(y + Math.floor((height * above) / total)), (y + Math.floor((height * (above + share)) / total))];
    shapes.push(new Curve([["M", [(x + 0.5), top]], ["H", [(x + 3)]], ["V", [foot]], ["H", [(x + 0.5)]], ["Z", []]], colour));
    above += share;
  }
  return shapes;
}
function draw_stub(mark, fill, theme, tint = null) {
  let shapes, middle, pen;
  shapes = ((mark.kind === "more") ? [] : _draw_stub_line(mark, theme, tint));
  middle = [(mark.x + (mark.width / 2)), (mark.y + (mark.height / 2))];
  if ((mark.kind === "constant")) {
    shapes.push(new Disc(...middle, ((mark.width / 2) - 0.5), theme.background, new Pen(theme.stroke)));
  }
  else {
    if ((mark.kind === "weight")) {
      shapes.push(new Curve(_diamond_outline(mark), theme.secondary, new Pen(theme.stroke)));
    }
    else {
      if ((mark.kind === "summary")) {
        py_extend(shapes, _summary_icon(mark.x, mark.y, theme));
      }
      else {
        if (((mark.kind === "shortcut") && (fill != null))) {
          pen = new Pen(fill.stroke, undefined, STUB_DASHES);
          shapes.push(_inset_rect(mark.x, mark.y, mark.width, mark.height, 5, fill.fill, pen));
        }
      }
    }
  }
  if (((tint != null) && tint.whole)) {
    py_extend(shapes, sign_bead(...middle, tint, theme));
  }
  else {
    if ((fill != null)) {
      py_extend(shapes, sign_disc(...middle, fill, theme));
    }
  }
  return shapes;
}
function _diamond_outline(mark) {
  let across, along, right, foot;
  [across, along] = [(mark.x + (mark.width / 2)), (mark.y + (mark.height / 2))];
  [right, foot] = [(mark.x + mark.width), (mark.y + mark.height)];
  return [["M", [across, mark.y]], ["L", [right, along]], ["L", [across, foot]], ["L", [mark.x, along]], ["Z", []]];
}
function _summary_icon(x, y, theme) {
  let chart, right, top, ground;
  chart = [];
  for ([right, top] of [[3.5, 6], [6, 3], [8.5, 5]]) {
    py_extend(chart, [["M", [(x + right), (y + 10)]], ["V", [(y + top)]]]);
  }
  ground = new Rectangle((x + 0.5), (y + 0.5), 11, 11, 1.5, theme.background, new Pen(theme.stroke));
  return [ground, new Curve([...chart], undefined, new Pen(theme.secondary, 1.5))];
}
function _draw_stub_line(mark, theme, tint) {
  let points, arrow, colour, dashes, pen;
  points = [...mark.points];
  arrow = arrow_head(points.at(-1), points.at(-2), 0.7);
  colour = (tint ? tint.colour : theme.data);
  dashes = py_or((tint ? tint.dashes : []), () => (mark.control ? CONTROL_DASHES : []));
  pen = new Pen(colour, (tint ? TINTED_STUB_WIDTH : STUB_LINE_WIDTH), dashes);
  return [new Curve(rounded_outline(shorten_line(points, 4, false)), undefined, pen), new Curve(arrow, colour)];
}

// render.legend
function text_labels(content, x, y, size, width, colour, anchor = "start", semibold = false, halo = null) {
  return ((content && width) ? [new Label(content, x, y, size, width, colour, anchor, semibold, halo)] : []);
}
const MAX_COLUMN_WIDTH = 260;
const MAX_SENTENCE_WIDTH = 480;
const SAMPLE_WIDTH = 28;
const SAMPLE_GAP = 8;
const PAPER_THEME = "paper";
const SCREEN_SIGNS = ["call", "function", "series", "chain", "fold", "shortcut", "summary"];
const CHANGE_LABELS = new TupleMap([[["+", true], "new wire"], [["−", true], "removed wire"], [["~", true], "new and removed"], [["+", false], "partly new"], [["−", false], "partly removed"], [["~", false], "partly new, removed"]]);
class LegendEntry {
  constructor(sample, label, more = "") {
    this.sample = sample;
    this.label = label;
    this.more = more;
  }
}
class LegendBlock {
  constructor(heading, entries, most = MAX_COLUMN_WIDTH, plain = false) {
    this.heading = heading;
    this.entries = entries;
    this.most = most;
    this.plain = plain;
  }
  get column_width() {
    let longest, sample;
    longest = py_max((() => { const out = []; for (const entry of this.entries) for (const text of [entry.label, entry.more]) { out.push(hand_text_width(text, OP_FONT_PX)); } return out; })());
    sample = (((() => { for (const entry of this.entries) { if (entry.sample.length) return true; } return false; })() || (this.entries.length > 1)) ? (SAMPLE_WIDTH + SAMPLE_GAP) : 0);
    return Math.min(this.most, (longest + sample));
  }
}
const SAME_STRUCTURE = "same shade: same structure";
const SAME_STRUCTURE_AND_LETTER = "same shade and letter: same structure";
function rows_by_kind(rows) {
  let alike, row, known, several, said, more;
  alike = new Map();
  for (row of rows) {
    known = (row.kind ? py_replace(row, {label: row.kind, fill: py_replace(row.fill, {badge: ""})}) : row);
    py_setdefault(alike, (row.kind || (" " + String(row.label))), known);
  }
  several = (() => { const out = []; for (const row of rows) if ((row.kind && (row.label !== row.kind))) { out.push(row); } return out; })();
  said = ((() => { for (const row of rows) { if ((row.fill.badge !== "")) return true; } return false; })() ? SAME_STRUCTURE_AND_LETTER : SAME_STRUCTURE);
  more = ((several.length > (() => { const out = new Set(); for (const row of several) { out.add(row.kind); } return out; })().size) ? [new LegendRow(said, rows[0].fill, "rest")] : []);
  return [...alike.values(), ...more];
}
function legend_blocks(scene, paint) {
  let colours, blocks;
  colours = [...(() => { const out = []; for (const row of paint.legend) { out.push(_colour_entry(row, paint.theme)); } return out; })()];
  blocks = [new LegendBlock(paint.heading, colours, ((paint.scheme === "diff") ? MAX_SENTENCE_WIDTH : MAX_COLUMN_WIDTH), (paint.scheme === "structure")), new LegendBlock("Signs", [..._sign_entries(scene, paint.theme), ..._change_entries(paint)], undefined, true)];
  return [...(() => { const out = []; for (const block of blocks) if (block.entries.length) { out.push(block); } return out; })()];
}
function _change_entries(paint) {
  let tints, tint;
  tints = new TupleMap();
  for (tint of [...paint.tints.routes, ...paint.tints.stubs]) {
    if (((tint != null) && tint.sign)) {
      py_setdefault(tints, [tint.sign, tint.whole], tint);
    }
  }
  return (() => { const out = []; for (const [key, label] of CHANGE_LABELS.entries()) if (tints.has(key)) { out.push(new LegendEntry(draw_route(SAMPLE_EDGE, paint.theme, false, tints.get(key)).shapes, label)); } return out; })();
}
function _colour_entry(row, theme) {
  let sample;
  if ((row.shape === "rest")) {
    return new LegendEntry([], row.label);
  }
  sample = draw_closed_box(SAMPLE_BOX, row.fill, theme);
  if (row.fill.badge) {
    py_extend(sample, text_labels(row.fill.badge, (SAMPLE_WIDTH / 2), 12, 10, hand_text_width(row.fill.badge, 10), row.fill.text, "middle"));
  }
  return new LegendEntry([...sample], row.label, row.more);
}
const NO_ROW = -1;
const SAMPLE_BOX = new Box("", NO_ROW, "scope", NO_ROW, 0, 0, 0, SAMPLE_WIDTH, 16, false, false);
const SAMPLE_EDGE = new Route([[0, 8], [SAMPLE_WIDTH, 8]], "data", NO_ROW, NO_ROW, 10);
function _box_sample(box) {
  return (fill, theme) => draw_closed_box(box, fill, theme);
}
function _sign_sample(sign) {
  let box;
  box = py_replace(SAMPLE_BOX, {kind: "op", x: 6, width: 16, sign: sign});
  return (fill, theme) => [...draw_closed_box(box, fill, theme), ...text_labels(sign, (SAMPLE_WIDTH / 2), 12, OP_FONT_PX, hand_text_width(sign, OP_FONT_PX), fill.text, "middle")];
}
function _frame_sample(box) {
  return (fill, theme) => draw_frame(box, fill, theme);
}
function _edge_sample(edge) {
  return (fill, theme) => draw_route(edge, theme, false).shapes;
}
function _stub_sample(stub) {
  return (fill, theme) => draw_stub(stub, fill, theme);
}
const SAMPLE_STUB_LINE = [[16, 8], [28, 8]];
const SIGN_SAMPLES = [["call", "function call", _box_sample(py_replace(SAMPLE_BOX, {kind: "call"}))], ["function", "function", _box_sample(py_replace(SAMPLE_BOX, {kind: "function"}))], ["series", "repeated, side by side", _box_sample(py_replace(SAMPLE_BOX, {kind: "series", sheets: 2}))], ["chain", "repeated, one after another", _box_sample(py_replace(SAMPLE_BOX, {kind: "series", sheets: 2, connected: true, height: 18, y: -1}))], ["shown", "repeated; open: one is shown", _frame_sample(py_replace(SAMPLE_BOX, {kind: "series", sheets: 2, connected: true, open: true, height: 20, y: -2}))], ["surplus", "only in one of them", _box_sample(py_replace(SAMPLE_BOX, {surplus: true}))], ["fold", "many in one box", _box_sample(py_replace(SAMPLE_BOX, {kind: "fold", sheets: 2}))], ["constant", "constant", _stub_sample(new Stub(4, 3, 10, 10, "constant", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))], ["weight", "weight", _stub_sample(new Stub(4, 3, 10, 10, "weight", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))], ["summary", "summary", _stub_sample(new Stub(3, 2, 12, 12, "summary", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))], ["shortcut", "leads elsewhere", _stub_sample(new Stub(0, 3, 18, 10, "shortcut", "in", NO_ROW, NO_ROW, [[18, 8], [28, 8]]))], ["+", "sum", _sign_sample("+")], ["×", "product", _sign_sample("×")], ["data", "data", _edge_sample(SAMPLE_EDGE)], ["control", "control", _edge_sample(py_replace(SAMPLE_EDGE, {kind: "control"}))], ["reference", "writes weights", _edge_sample(py_replace(SAMPLE_EDGE, {kind: "reference"}))], ["back", "against the flow", _edge_sample(py_replace(SAMPLE_EDGE, {back: true}))]];
function _occurring_signs(scene) {
  let names, box;
  names = (() => { const out = new Set(); for (const stub of scene.stubs) { out.add(stub.kind); } return out; })();
  names = py_union(names, py_union((() => { const out = new Set(); for (const edge of scene.routes) { out.add(edge.kind); } return out; })(), (() => { const out = new Set(); for (const web of scene.webs) { out.add(web.kind); } return out; })()));
  for (box of scene.boxes) {
    if ((box.open && box.sheets)) {
      names.add("shown");
    }
    if (box.surplus) {
      names.add("surplus");
    }
    if (box.sign) {
      names.add(box.sign);
    }
    else {
      if ((!box.open && (box.kind !== "scope"))) {
        names.add((((box.kind === "series") && box.connected) ? "chain" : box.kind));
      }
    }
  }
  if ((() => { for (const edge of scene.routes) { if (edge.back) return true; } return false; })()) {
    names.add("back");
  }
  if (names.has("shown")) {
    names.delete("chain");
  }
  return ((names.has("control") || names.has("reference")) ? names : (() => { const out = new Set(); for (const name of names) if ((name !== "data")) { out.add(name); } return out; })());
}
function _sign_entries(scene, theme) {
  let names, plain;
  names = _occurring_signs(scene);
  if ((theme.name === PAPER_THEME)) {
    names = (() => { const out = new Set(); for (const name of names) if (!SCREEN_SIGNS.includes(name)) { out.add(name); } return out; })();
  }
  plain = new RowFill(theme.op, theme.stroke, theme.text, theme.secondary);
  return (() => { const out = []; for (const [name, label, draw] of SIGN_SAMPLES) if (names.has(name)) { out.push(new LegendEntry([...draw(plain, theme)], label)); } return out; })();
}
const LEGEND_ROW_PX = 20;
const LEGEND_HEADING_PX = 22;
const SECOND_LINE_PX = 14;
const LEGEND_BLOCK_GAP = 16;
const LEGEND_WIDTHS = [150, 200, 260, 340, 440, 560, 720, 1000];
class PlacedBlock {
  constructor(block, x, y, columns, lines) {
    this.block = block;
    this.x = x;
    this.y = y;
    this.columns = columns;
    this.lines = lines;
  }
}
class LegendShape {
  constructor(width, height, blocks) {
    this.width = width;
    this.height = height;
    this.blocks = blocks;
  }
}
function _legend_shapes(blocks) {
  let measured, candidates;
  measured = (() => { const out = []; for (const block of blocks) { out.push([block, block.column_width, hand_text_width(block.heading, OP_FONT_PX, true)]); } return out; })();
  candidates = py_fromkeys(Map, (() => { const out = []; for (const limit of LEGEND_WIDTHS) { out.push(_shape_legend(measured, limit)); } return out; })());
  return (() => { const out = []; for (const candidate of candidates.keys()) if (candidate.blocks.length) { out.push(candidate); } return out; })();
}
function legend_in_lines(blocks, limit) {
  let placed, x, y, longest, block, entries, entry, single, width, tall, below;
  placed = [];
  x = 0;
  y = x;
  longest = x;
  for (block of blocks) {
    if ((() => { for (const entry of block.entries) { if (entry.more) return true; } return false; })()) {
      continue;
    }
    entries = ((block.heading && !block.plain) ? [new LegendEntry([], block.heading)] : []);
    for (entry of [...entries, ...block.entries]) {
      single = new LegendBlock("", [entry], (entry.sample.length ? block.most : MAX_SENTENCE_WIDTH));
      width = single.column_width;
      if ((x && ((x + width) > limit))) {
        [x, y] = [0, (y + LEGEND_ROW_PX)];
      }
      placed.push(new PlacedBlock(single, x, y, 1, 1));
      [longest, x] = [Math.max(longest, (x + width)), ((x + width) + LEGEND_BLOCK_GAP)];
    }
  }
  y = (placed.length ? (y + LEGEND_ROW_PX) : 0);
  tall = (() => { const out = []; for (const block of blocks) if ((() => { for (const entry of block.entries) { if (entry.more) return true; } return false; })()) { out.push(block); } return out; })();
  if (tall.length) {
    below = _shape_legend((() => { const out = []; for (const block of tall) { out.push([block, block.column_width, hand_text_width(block.heading, OP_FONT_PX, true)]); } return out; })(), limit);
    y += (placed.length ? LEGEND_BLOCK_GAP : 0);
    py_extend(placed, (() => { const out = []; for (const one of below.blocks) { out.push(py_replace(one, {y: (one.y + y)})); } return out; })());
    [longest, y] = [Math.max(longest, below.width), (y + below.height)];
  }
  return new LegendShape(longest, y, [...placed]);
}
function _shape_legend(blocks, limit) {
  let placed, x, y, line_height, longest, block, column, heading, columns, lines, width;
  placed = [];
  x = 0;
  y = x;
  line_height = x;
  longest = x;
  for ([block, column, heading] of blocks) {
    [columns, lines] = _column_layout(block, column, limit);
    width = Math.max(((columns * (column + LEGEND_BLOCK_GAP)) - LEGEND_BLOCK_GAP), heading);
    if ((x && ((x + width) > limit))) {
      [x, y, line_height] = [0, ((y + line_height) + LEGEND_BLOCK_GAP), 0];
    }
    placed.push(new PlacedBlock(block, x, y, columns, lines));
    x += width;
    [longest, x] = [Math.max(longest, x), (x + (2 * LEGEND_BLOCK_GAP))];
    line_height = Math.max(line_height, ((LEGEND_HEADING_PX + (LEGEND_ROW_PX * lines)) + py_sum((() => { const out = []; for (const entry of block.entries) if (entry.more) { out.push(SECOND_LINE_PX); } return out; })())));
  }
  return new LegendShape(longest, (y + line_height), [...placed]);
}
function _column_layout(block, column, limit) {
  let count, lines;
  count = block.entries.length;
  if ((() => { for (const entry of block.entries) { if (entry.more) return true; } return false; })()) {
    return [1, count];
  }
  lines = -Math.floor(-count / py_max([1, Math.floor((limit + LEGEND_BLOCK_GAP) / (column + LEGEND_BLOCK_GAP))]));
  return [-Math.floor(-count / lines), lines];
}
function *draw_legend(legend, theme) {
  let placed, step, heading, lower, index, entry, x, y;
  for (placed of legend.blocks) {
    step = (placed.block.column_width + LEGEND_BLOCK_GAP);
    heading = (placed.block.heading ? LEGEND_HEADING_PX : 0);
    if (heading) {
      yield new Group([..._legend_text(placed.block.heading, placed.x, (placed.y + 14), theme.text, true)]);
    }
    lower = 0;
    for ([index, entry] of py_enumerate(placed.block.entries)) {
      x = (placed.x + (step * Math.floor(index / placed.lines)));
      y = (((placed.y + heading) + (LEGEND_ROW_PX * py_mod(index, placed.lines))) + lower);
      yield _legend_row(entry, [x, y], placed.block.most, theme);
      lower += (entry.more ? SECOND_LINE_PX : 0);
    }
  }
}
function _legend_row(entry, origin, most, theme) {
  let room, label, texts;
  room = (entry.sample.length ? ((most - SAMPLE_WIDTH) - SAMPLE_GAP) : most);
  label = elide_text(hand_replace_unsafe_characters(entry.label), room, OP_FONT_PX, undefined, false);
  texts = _legend_text(label, (entry.sample.length ? (SAMPLE_WIDTH + SAMPLE_GAP) : 0), 12, theme.text, false);
  py_extend(texts, _legend_text(entry.more, (SAMPLE_WIDTH + SAMPLE_GAP), (12 + SECOND_LINE_PX), theme.text, false));
  return new Group([...entry.sample, ...texts], undefined, undefined, undefined, origin);
}
function _legend_text(content, x, y, colour, semibold) {
  return text_labels(content, x, y, OP_FONT_PX, hand_text_width(content, OP_FONT_PX, semibold), colour, undefined, semibold);
}

// render.compose
const PAGE_MARGIN = 24;
const TITLE_SIZE = 16;
const FACTS_SIZE = 11;
const TITLE_ROW = 48;
const LEGEND_GAP = 24;
const MIN_TITLE_WIDTH = 240;
const MAX_TITLE_GROWTH = 480;
const TITLE_LINE_PX = 32;
const TITLE_GAP_PX = 14;
const MAX_TITLE_LINE_PX = 560;
const SCREEN_RATIO = [12, 7];
const MAX_LEGEND_PERCENT = 115;
const MIN_LEGEND_LINE_PX = 320;
class SheetLayout {
  constructor(width, height, scene, legend = null, at = [0, 0]) {
    this.width = width;
    this.height = height;
    this.scene = scene;
    this.legend = legend;
    this.at = at;
  }
}
function _lay_out_sheet(scene, blocks, caption, margin = PAGE_MARGIN, line = 0) {
  let title_width, title_height, screen, longest, limit, legend, top, bottom, width, corner, at;
  [title_width, title_height] = _title_size(caption);
  if (line) {
    title_width = Math.min(title_width, line);
  }
  screen = Math.floor((SCREEN_RATIO[0] * scene.height) / SCREEN_RATIO[1]);
  longest = Math.max(scene.height, Math.min(Math.floor((MAX_LEGEND_PERCENT * scene.width) / 100), screen));
  limit = (line || Math.max(scene.width, title_width, MIN_LEGEND_LINE_PX, longest));
  legend = (blocks.length ? legend_in_lines(blocks, limit) : null);
  top = (margin + title_height);
  bottom = (top + scene.height);
  width = Math.max(scene.width, title_width, (legend ? legend.width : 0));
  corner = [(margin + Math.floor((width - scene.width) / 2)), top];
  if ((legend == null)) {
    return new SheetLayout((width + (2 * margin)), (bottom + margin), corner);
  }
  at = [margin, (bottom + LEGEND_GAP)];
  return new SheetLayout((width + (2 * margin)), (((bottom + LEGEND_GAP) + legend.height) + margin), corner, legend, at);
}
function _title_size(caption) {
  let name, facts;
  if (!caption.title) {
    return [0, 0];
  }
  [name, facts] = [hand_text_width(caption.title, TITLE_SIZE, true), hand_text_width(caption.facts, FACTS_SIZE)];
  if ((((name + TITLE_GAP_PX) + facts) <= MAX_TITLE_LINE_PX)) {
    return [Math.max(MIN_TITLE_WIDTH, ((name + TITLE_GAP_PX) + facts)), TITLE_LINE_PX];
  }
  return [Math.max(MIN_TITLE_WIDTH, Math.min(MAX_TITLE_GROWTH, Math.max(name, facts))), TITLE_ROW];
}
function _title_row(caption, theme, page_width) {
  let room, title_width, title_height, size, title, left, name, facts, facts_line_;
  if (!caption.title) {
    return [];
  }
  room = (page_width - (2 * PAGE_MARGIN));
  [title_width, title_height] = _title_size(caption);
  if (((title_height === TITLE_LINE_PX) && (title_width <= room))) {
    size = [TITLE_SIZE, hand_text_width(caption.title, TITLE_SIZE, true)];
    title = text_labels(hand_replace_unsafe_characters(caption.title), PAGE_MARGIN, (PAGE_MARGIN + 14), ...size, theme.text, undefined, true);
    left = ((PAGE_MARGIN + size[1]) + TITLE_GAP_PX);
    size = [FACTS_SIZE, hand_text_width(caption.facts, FACTS_SIZE)];
    return [new Group([...title, ...text_labels(caption.facts, left, (PAGE_MARGIN + 14), ...size, theme.secondary)])];
  }
  name = elide_text(hand_replace_unsafe_characters(caption.title), room, TITLE_SIZE, true);
  facts = elide_text(caption.facts, room, FACTS_SIZE);
  size = [TITLE_SIZE, hand_text_width(name, TITLE_SIZE, true)];
  title = text_labels(name, PAGE_MARGIN, (PAGE_MARGIN + 14), ...size, theme.text, undefined, true);
  facts_line_ = text_labels(facts, PAGE_MARGIN, (PAGE_MARGIN + 32), FACTS_SIZE, hand_text_width(facts, FACTS_SIZE), theme.secondary);
  return [new Group([...title, ...facts_line_])];
}
const PORT_RADIUS = 2.5;
const COUNT_ENDINGS = ["ops", "new", "gone", "changed", "reconnected"];
const BADGE_SIZE = 9;
function compose(scene, paint, caption, with_legend = true, margin = PAGE_MARGIN, line = 0) {
  let chosen, frame, texts, labels, phrases, words, kinds, page, parts;
  chosen = (() => { const out = new Set(); for (const [index, box] of py_enumerate(scene.boxes)) if (caption.select.includes(box.address)) { out.add(index); } return out; })();
  frame = _whole_frame(scene, paint, chosen);
  if (((frame >= 0) && caption.title)) {
    texts = (() => { const out = []; for (const text of scene.texts) if ((text.inside && (text.box === frame))) { out.push(text); } return out; })();
    labels = (() => { const out = []; for (const text of texts) if (((text.role === "title") || !py_endswith_any(text.full, COUNT_ENDINGS))) { out.push(text.full); } return out; })();
    phrases = (() => { const out = []; for (const label of labels) for (const phrase of label.split(WORDS_DOT)) { out.push(phrase); } return out; })();
    words = (() => { const out = []; for (const phrase of phrases) if (!caption.facts.split(WORDS_DOT).includes((String(phrase) + " parameters"))) { out.push(phrase); } return out; })();
    caption = new Caption(caption.title, py_join(" · ", [...words, caption.facts]), caption.select);
  }
  if ((frame >= 0)) {
    scene = close_frame(scene, frame);
  }
  kinds = py_replace(paint, {legend: [...rows_by_kind(paint.legend)]});
  page = _lay_out_sheet(scene, (with_legend ? legend_blocks(scene, kinds) : []), caption, margin, line);
  parts = [new Section("title", [0, 0], _title_row(caption, paint.theme, page.width)), new Section("graph", page.scene, _graph_groups(scene, paint, chosen))];
  if (page.legend) {
    parts.push(new Section("legend", page.at, [...draw_legend(page.legend, paint.theme)]));
  }
  return new Drawing(page.width, page.height, (caption.title || "graph"), caption.facts, paint.theme.background, [...parts]);
}
function _whole_frame(scene, paint, chosen) {
  let frame;
  frame = sole_frame(scene);
  if (((frame < 0) || paint.boxes.at(frame).hued || paint.boxes.at(frame).sign || chosen.has(frame))) {
    return -1;
  }
  return frame;
}
function _graph_groups(scene, paint, chosen) {
  let theme, inside, text, opened, closed, framed;
  theme = paint.theme;
  inside = new Map();
  for (text of scene.texts) {
    py_setdefault(inside, (text.inside ? text.box : -1), []).push(text);
  }
  opened = (() => { const out = []; for (const [index, box] of py_enumerate(scene.boxes)) if (box.open) { out.push(index); } return out; })();
  closed = (() => { const out = []; for (const [index, box] of py_enumerate(scene.boxes)) if (!box.open) { out.push(index); } return out; })();
  framed = (() => { const out = []; for (const index of opened) if (!scene.boxes.at(index).bare) { out.push(index); } return out; })();
  return [...(() => { const out = []; for (const index of opened) { out.push(_node_group(scene, index, paint, [], chosen)); } return out; })(), ...(() => { const out = []; for (const rule of scene.rules) { out.push(_rule_group(rule, theme)); } return out; })(), ...(() => { const out = []; for (const bundle of scene.webs) for (const group of draw_web(bundle, scene, theme)) { out.push(group); } return out; })(), ..._draw_edges(scene, paint, chosen), ...py_map(((...rest) => _stub_group(theme, ...rest)), scene.stubs, paint.stubs, paint.tints.stubs), ...(() => { const out = []; for (const index of closed) { out.push(_node_group(scene, index, paint, py_get(inside, index, []), chosen)); } return out; })(), ...(() => { const out = []; for (const index of framed) { out.push(_titles_group(scene.boxes.at(index), py_get(inside, index, []), theme)); } return out; })(), ...(() => { const out = []; for (const port of scene.ports) if (!port.bare) { out.push(_port_group(port, theme)); } return out; })(), ...(() => { const out = []; for (const text of py_get(inside, -1, [])) { out.push(_free_text_group(text, scene, theme)); } return out; })()];
}
function _draw_edges(scene, paint, chosen) {
  let drawn_lines, group;
  drawn_lines = (() => { const out = []; for (const at of edge_order(scene, paint)) { out.push([scene.routes.at(at), paint.tints.routes.at(at)]); } return out; })();
  return (() => { const out = []; for (const [line, tint] of drawn_lines) if ((group = draw_route(line, paint.theme, (chosen.has(line.source) || chosen.has(line.target)), tint)).shapes.length) { out.push(group); } return out; })();
}
function edge_order(scene, paint) {
  let tints;
  tints = paint.tints.routes;
  return py_sorted(py_range(scene.routes.length), {key: (at) => [_change_rank(tints.at(at)), scene.routes.at(at).main, scene.routes.at(at).thickness]});
}
function _change_rank(tint) {
  return (((tint == null) || !tint.sign) ? 0 : (1 + tint.whole));
}
function _rule_group(rule, theme) {
  let points;
  points = [[(rule.x1 + 0.5), (rule.y1 + 0.5)], [(rule.x2 + 0.5), (rule.y2 + 0.5)]];
  return new Group([straight_line(...points, new Pen(theme.rule))]);
}
function _stub_group(theme, mark, fill, tint) {
  return new Group([...draw_stub(mark, fill, theme, tint)], undefined, mark.title);
}
function _node_group(scene, index, paint, texts, chosen) {
  let box, fill, theme, shapes, halo, text, title;
  [box, fill, theme] = [scene.boxes.at(index), paint.boxes.at(index), paint.theme];
  if (box.bare) {
    return new Group([], box.address, box.title);
  }
  shapes = (box.open ? draw_frame(box, fill, theme) : draw_closed_box(box, fill, theme));
  if (chosen.has(index)) {
    shapes.push(_selection_outline(box, theme));
  }
  if ((!box.open && fill.badge)) {
    py_extend(shapes, _badge_text(box, fill.badge, fill.text));
  }
  halo = (fill.hatch ? fill.fill : null);
  for (text of texts) {
    py_extend(shapes, _scene_text(text, _text_colour(text, fill.text, fill.second, theme), halo));
  }
  title = py_join(" · ", (() => { const out = []; for (const part of [box.title, paint.accounts.at(index)]) if (part) { out.push(part); } return out; })());
  return new Group([...shapes], box.address, title);
}
function _selection_outline(box, theme) {
  let radius;
  radius = (is_pill(box) ? 13 : 7);
  return new Rectangle((box.x - 1.5), (box.y - 1.5), (box.width + 3), (box.height + 3), radius, undefined, new Pen(theme.selected, 2.5));
}
function _badge_text(box, badge, colour) {
  let x, y, wide, tall;
  [x, y, wide, tall] = front_bounds(box);
  return text_labels(badge, ((x + wide) - 5), ((y + tall) - 5), BADGE_SIZE, hand_text_width(badge, BADGE_SIZE), colour, "end");
}
function _titles_group(box, texts, theme) {
  let shapes;
  shapes = (() => { const out = []; for (const text of texts) for (const shape of _scene_text(text, _text_colour(text, "", "", theme))) { out.push(shape); } return out; })();
  return new Group([...shapes], undefined, box.title);
}
function _text_colour(text, first, second, theme) {
  if ((text.role === "label")) {
    return first;
  }
  if ((text.role === "second")) {
    return second;
  }
  return (["title", "heading"].includes(text.role) ? theme.text : theme.secondary);
}
function _scene_text(text, colour, halo = null) {
  return text_labels(text.content, text.x, text.y, text.size, text.width, colour, text.anchor, text.semibold, halo);
}
function _free_text_group(text, scene, theme) {
  let colour, ground, around;
  colour = ((text.role === "heading") ? theme.text : theme.secondary);
  ground = null;
  if ((text.role === "edge")) {
    around = text.box;
    while (((around >= 0) && scene.boxes.at(around).bare)) {
      around = scene.boxes.at(around).parent;
    }
    ground = ((around >= 0) ? theme.frame_fill((scene.boxes.at(around).depth + 1)) : theme.background);
  }
  return new Group([..._scene_text(text, colour, ground)], undefined, ((text.full !== text.content) ? text.full : ""));
}
function _port_group(port, theme) {
  let dots;
  dots = (port.bare ? [] : [new Disc(port.x, port.y, PORT_RADIUS, edge_colour(port, theme))]);
  return new Group(dots, undefined, port.title);
}

// arrange.wrap
function carry_breaks(old, new_) {
  let was;
  if (!py_any(old.breaks)) {
    return [];
  }
  was = (() => { const out = new Map(); for (const [p, part] of py_enumerate(old.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
  return [...(() => { const out = []; for (const part of new_.parts) { out.push(_carry_part_breaks(part, old, was)); } return out; })()];
}
function _carry_part_breaks(part, old, old_places) {
  let ranks, old_parts, old_part, starts, break_, before, after;
  ranks = (() => { const out = []; for (const row of part) { out.push((() => { const out = []; for (const item of row) if (((item < old.children) && old_places.has(item))) { out.push(old_places.get(item)); } return out; })()); } return out; })();
  old_parts = (() => { const out = new Set(); for (const row of ranks) for (const [p, _] of row) { out.add(p); } return out; })();
  if ((old_parts.size !== 1)) {
    return [];
  }
  [old_part] = old_parts;
  starts = [];
  for (break_ of old.breaks.at(old_part)) {
    before = py_max((() => { const out = []; for (const [r, row] of py_enumerate(ranks)) if ((() => { for (const [_, rank] of row) { if ((rank < break_)) return true; } return false; })()) { out.push(r); } return out; })(), {default: -1});
    after = py_min((() => { const out = []; for (const [r, row] of py_enumerate(ranks)) if ((() => { for (const [_, rank] of row) { if ((rank >= break_)) return true; } return false; })()) { out.push(r); } return out; })(), {default: -1});
    if ((((starts.length ? starts.at(-1) : 0) <= before) && (before < after))) {
      starts.push(after);
    }
  }
  return [...starts];
}

// chart.axes
const PADDING_SHARE = 0.05;
const TICK_STEPS = [1, 2, 5, 10];
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
class Axis {
  constructor(low, high, log = false) {
    this.low = low;
    this.high = high;
    this.log = log;
  }
}
function _axis_between(low, high, log) {
  if ((low > high)) {
    return (log ? new Axis(0.1, 1.0, true) : new Axis(0.0, 1.0));
  }
  if ((low < high)) {
    return new Axis(low, high, log);
  }
  return (log ? new Axis((low / 2), (high * 2), true) : new Axis((low - ((Math.abs(low) / 2) || 0.5)), (high + ((Math.abs(high) / 2) || 0.5))));
}
function pad_axis(of_) {
  let more;
  if (of_.log) {
    more = ((of_.high / of_.low) ** PADDING_SHARE);
    return new Axis((of_.low / more), (of_.high * more), true);
  }
  more = ((of_.high - of_.low) * PADDING_SHARE);
  return new Axis((of_.low - more), (of_.high + more));
}
function axis_ticks(of_, most = 5) {
  let first, last, every;
  if ((of_.log && ((of_.high / of_.low) >= 10))) {
    [first, last] = [py_ceil((py_log10(of_.low) - 1e-09)), py_floor((py_log10(of_.high) + 1e-09))];
    every = Math.max(1, py_round((((last - first) + 1) / (most + 1))));
    return (() => { const out = []; for (const power of py_range(first, (last + 1), every)) { out.push(py_float(("1e" + String(power)))); } return out; })();
  }
  return _multiples_on_axis(of_, _round_step_above(((of_.high - of_.low) / most)));
}
function _round_step_above(least) {
  let power, step;
  power = py_floor(py_log10(least));
  step = py_next(py_iter((() => { const out = []; for (const step of TICK_STEPS) if (((step * (10.0 ** power)) >= (least * (1 - 1e-09)))) { out.push(step); } return out; })()));
  return py_float((String(step) + "e" + String(power)));
}
function _multiples_on_axis(of_, step) {
  let digits, first, last;
  digits = Math.max(0, (1 - py_floor(py_log10(step))));
  [first, last] = [py_ceil(((of_.low / step) - 1e-09)), py_floor(((of_.high / step) + 1e-09))];
  return (() => { const out = []; for (const at of py_range(first, (last + 1))) { out.push((py_round((at * step), digits) + 0.0)); } return out; })();
}
function axis_time_ticks(of_, most = 5) {
  let least, step;
  least = ((of_.high - of_.low) / most);
  step = py_next(py_iter((() => { const out = []; for (const step of TIME_STEPS) if ((step >= least)) { out.push(py_float(step)); } return out; })()), 0.0);
  return _multiples_on_axis(of_, (step || (86400 * _round_step_above((least / 86400)))));
}
function format_duration(seconds) {
  let unit, size;
  for ([unit, size] of [["d", 86400], ["h", 3600], ["min", 60]]) {
    if ((Math.abs(seconds) >= size)) {
      return (py_format_g((seconds / size), 3) + " " + String(unit));
    }
  }
  return (seconds ? (py_format_g(seconds, 3) + " s") : "0");
}

// color.measured
const DECIMAL_TICKS = new Map([[1, [0, 0.05, 0.2, 0.5, 1]], [2, [0, 0.05, 0.25, 0.5, 1]], [5, [0, 0.04, 0.2, 0.4, 1]]]);
const BINARY_TICKS = [0, (1 / 64), (1 / 16), (1 / 4), 1];
function round_ticks(top, binary = false) {
  let power, lead;
  if (!(top > 0)) {
    return [0.0];
  }
  if (binary) {
    return (() => { const out = []; for (const part of BINARY_TICKS) { out.push(((2.0 ** py_floor(py_log2(top))) * part)); } return out; })();
  }
  power = py_floor(py_log10(top));
  lead = py_next(py_iter((() => { const out = []; for (const digit of [5, 2, 1]) if (((digit === 1) || (top >= (digit * (10.0 ** power))))) { out.push(digit); } return out; })()));
  return (() => { const out = []; for (const part of DECIMAL_TICKS.get(lead)) { out.push(py_float((py_format_g((lead * part), 4) + "e" + String(power)))); } return out; })();
}

// color.cost
function _format_flops(count) {
  let number, _, unit;
  [number, _, unit] = py_partition(format_count(count), " ");
  return (String(number) + " " + String(unit) + "FLOPs");
}
function _format_parameters(count) {
  return (String(format_count(count)) + " parameter" + String(((count === 1) ? "" : "s")));
}

// search.language
const QUERY_QUANTITIES = new Map([["parameters", "parameters"], ["params", "parameters"], ["param", "parameters"], ["flops", "flops"], ["macs", "macs"], ["activations", "activation_bytes"], ["activation_bytes", "activation_bytes"], ["weights", "weight_bytes"], ["weight_bytes", "weight_bytes"], ["size", "weight_bytes"], ["memory", "memory"], ["time", "time"]]);
const TIME_UNITS = new Map([["ns", 0.001], ["us", 1.0], ["µs", 1.0], ["ms", 1000.0], ["s", 1000000.0]]);
const FIELD_TERM = new RegExp("(name|op|device|attr|shape|dtype|source|key):(.*)", "isu");
const UNKNOWN_FIELD_TERM = new RegExp("([a-z_]+):(?!:|[0-9]+$).*", "isu");
const COMPARISON_TERM = new RegExp("([a-z_]+)(>=|<=|==|!=|>|<|=)([0-9]+(?:\\.[0-9]+)?)([a-zµ]*)", "iu");
const SI_UNIT = new RegExp("([kmgt]?)(i?)b?", "iu");
const REGEX_TERM = new RegExp("/(.+)/([a-z]*)", "su");
const SPACED_FIELD = new RegExp("(^|[\\s(])(name|op|device|attr|shape|dtype|source|key):[ \\t]+(?=[^\\s])", "iu");
const SPACED_SIGN = new RegExp("\\b(parameters|params|param|flops|macs|activations|activation_bytes|weights|weight_bytes|size|memory|time)\\s*(>=|<=|==|!=|>|<|=)\\s*(?=[0-9]|$)", "iu");
const COMPARED_QUANTITY = new RegExp("(parameters|params|param|flops|macs|activations|activation_bytes|weights|weight_bytes|size|memory|time)(>=|<=|==|!=|>|<)(.*)", "isu");
const QUERY_WORD = new RegExp("\\(|(?:[^\\s\"]|\"[^\"]*\"?)+", 'u');
const QUERY_KEYWORDS = new Set(["and", "or", "not", "(", ")"]);
class TextTerm {
  constructor(field, text, regex = false) {
    this.field = field;
    this.text = text;
    this.regex = regex;
  }
}
class NumberTerm {
  constructor(quantity, sign, limit) {
    this.quantity = quantity;
    this.sign = sign;
    this.limit = limit;
  }
}
class Joined {
  constructor(every, queries) {
    this.every = every;
    this.queries = queries;
  }
}
class Negated {
  constructor(query) {
    this.query = query;
  }
}
function parse_query(text) {
  let words, reader, query, plain;
  words = [..._split_query(text)];
  if (!words.length) {
    throw hand_query_error("nothing");
  }
  if ((words.length > MAX_QUERY_TERMS)) {
    throw hand_query_error("long", String(MAX_QUERY_TERMS));
  }
  reader = new QueryParser(words);
  query = reader.parse_or();
  if (reader.words.length) {
    throw hand_query_error("closes");
  }
  plain = ((words.length > 1) && py_all(py_map(_is_plain_word, words)));
  return (plain ? new Joined(false, [query, new TextTerm("", py_strip(text))]) : query);
}
function _is_plain_word(word) {
  return (!QUERY_KEYWORDS.has(word) && !word.includes("\"") && py_equal(_parse_term(word), new TextTerm("", word)));
}
function *_split_query(text) {
  let found, word, closing, joining;
  if (py_fullmatch(REGEX_TERM, py_strip(text))) {
    yield py_strip(text);
    return;
  }
  text = py_sub(SPACED_SIGN, "\\1\\2", py_sub(SPACED_FIELD, "\\1\\2:", text));
  for (found of py_finditer(QUERY_WORD, text)) {
    word = found[0];
    closing = 0;
    while ((word.endsWith(")") && (py_count_text(word, ")") > py_count_text(word, "(")) && (word !== "("))) {
      [word, closing] = [py_slice(word, 0, -1), (closing + 1)];
    }
    joining = (QUERY_KEYWORDS.has(word.toLowerCase()) ? word.toLowerCase() : word);
    yield* (word ? [joining] : []);
    yield* ")".repeat(closing);
  }
}
class QueryParser {
  constructor(words) {
    this.words = py_reversed(words);
  }
  parse_or() {
    let queries;
    queries = [this.parse_and()];
    while (this.next_is("or")) {
      py_pop(this.words);
      queries.push(this.parse_and());
    }
    return ((queries.length === 1) ? queries[0] : new Joined(false, [...queries]));
  }
  parse_and() {
    let queries;
    queries = [this.parse_factor()];
    while ((this.words.length && !this.next_is("or", ")"))) {
      if (this.next_is("and")) {
        py_pop(this.words);
      }
      queries.push(this.parse_factor());
    }
    return ((queries.length === 1) ? queries[0] : new Joined(true, [...queries]));
  }
  parse_factor() {
    let negated, word, query;
    negated = false;
    while (this.next_is("not")) {
      py_pop(this.words);
      negated = !negated;
    }
    if ((!this.words.length || this.next_is("and", "or", ")"))) {
      throw hand_query_error("missing");
    }
    word = py_pop(this.words);
    query = ((word === "(") ? this.parse_parentheses() : _parse_term(word));
    return (negated ? new Negated(query) : query);
  }
  parse_parentheses() {
    let query;
    query = this.parse_or();
    if (!this.next_is(")")) {
      throw hand_query_error("open");
    }
    py_pop(this.words);
    return query;
  }
  next_is(...words) {
    return (!!this.words.length && words.includes(this.words.at(-1)));
  }
}
function _parse_term(word) {
  let comparison, quantity, number, without_number, field_match, misspelt, field, text, regex;
  comparison = py_fullmatch(COMPARISON_TERM, word);
  if (comparison) {
    quantity = py_get(QUERY_QUANTITIES, comparison[1].toLowerCase());
    if (((quantity == null) && "==".includes(comparison[2]))) {
      return new TextTerm("", word);
    }
    if ((quantity == null)) {
      throw hand_query_error("quantity", comparison[1]);
    }
    number = py_float((py_format_g((py_float(comparison[3]) * _unit_factor(quantity, comparison[4])), 15)));
    return new NumberTerm(quantity, ((comparison[2] === "=") ? "==" : comparison[2]), number);
  }
  if ((without_number = py_fullmatch(COMPARED_QUANTITY, word))) {
    throw hand_query_error("number", (without_number[1] + without_number[2]), without_number[3]);
  }
  field_match = py_fullmatch(FIELD_TERM, word);
  if (((field_match == null) && (misspelt = py_fullmatch(UNKNOWN_FIELD_TERM, word)))) {
    throw hand_query_error("field", misspelt[1], word);
  }
  if ((field_match && !field_match[2].replaceAll("\"", ""))) {
    throw hand_query_error("empty", field_match[1]);
  }
  [field, text] = (field_match ? [field_match[1].toLowerCase().replaceAll("key", "attr"), field_match[2]] : ["", word]);
  regex = py_fullmatch(REGEX_TERM, text);
  if (regex) {
    return new TextTerm(field, ((py_in("i", regex[2]) ? "(?i)" : "") + regex[1]), true);
  }
  return new TextTerm(field, text.replaceAll("\"", ""));
}
function _unit_factor(quantity, unit) {
  let found, power;
  if (((quantity === "time") && TIME_UNITS.has(unit.toLowerCase()))) {
    return TIME_UNITS.get(unit.toLowerCase());
  }
  found = py_fullmatch(SI_UNIT, unit);
  if (((found == null) || ((quantity === "time") && unit))) {
    throw hand_query_error("unit", unit, quantity);
  }
  power = (found[1] ? ("kmgt".indexOf(found[1].toLowerCase()) + 1) : 0);
  return py_float(((found[2] ? 1024 : 1000) ** power));
}

const exported = {
  place: place,
  FrameCache: FrameCache,
  words_of: level_words,
  as_stack: stack_label,
  name_on_box: _name_on_box,
  as_one_frame: joined_label,
  Metaedge: Metaedge,
  Bridge: Bridge,
  Annotation: Annotation,
  Mask: DrawingMask,
  IMPLIED_LINE: IMPLIED_LINE,
  Metagraph: Metagraph,
  PortSlot: PortSlot,
  Wire: Wire,
  Skeleton: Skeleton,
  NodeLabel: NodeLabel,
  View: View,
  surplus_fill: surplus_fill,
  Fill: RowFill,
  LegendRow: LegendRow,
  Tint: LineTint,
  Caption: Caption,
  Paint: Paint,
  THEMES: THEMES,
  elide: elide_text,
  format_bytes: format_bytes,
  format_count: format_count,
  format_micros: format_micros,
  format_number: format_number,
  join_address: join_address,
  escape_address_part: _escape_address_part,
  pad_axis: pad_axis,
  axis_between: _axis_between,
  axis_ticks: axis_ticks,
  axis_time_ticks: axis_time_ticks,
  format_duration: format_duration,
  format_flops: _format_flops,
  format_parameters: _format_parameters,
  round_ticks: round_ticks,
  parse_query: parse_query,
  Joined: Joined,
  Negated: Negated,
  NumberTerm: NumberTerm,
  TextTerm: TextTerm,
  Rectangle: Rectangle,
  Hatch: Hatch,
  Disc: Disc,
  Curve: Curve,
  Label: Label,
  Group: Group,
  kept: carry_breaks,
  main_paths: main_paths,
  compose: compose,
  in_front_last: edge_order,
  node: _node_group,
  rule: _rule_group,
  stub: _stub_group,
  titles: _titles_group,
  port: _port_group,
  free: _free_text_group,
  route: draw_route,
  web: draw_web,
  legend: legend_blocks,
  shapes: _legend_shapes,
  drawn: draw_legend,
  mark_place: _open_mark_place,
  front: front_bounds,
  is_pill: is_pill,
};
