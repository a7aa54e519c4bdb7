// @ts-nocheck
// Made from graphviz_tb/view/, place/ and render/ by `make viewer`; do not edit.
// The same steps on the same integers give the same numbers.

// model.bundles
class SingleBundle {
  constructor(tensors_ = hand_carry(), flat = null) {
    this.tensors = tensors_;
    this.flat = flat;
  }
  carried(number) {
    return this.tensors;
  }
  edges(number) {
    return this.flat;
  }
}
const NOTHING_of_bundles = new SingleBundle();

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
  constructor(x, y, width, height_, radius = 0, fill = null, pen = null) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height_;
    this.radius = radius;
    this.fill = fill;
    this.pen = pen;
  }
}
class Hatch {
  constructor(x, y, width, height_, radius, colour) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height_;
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
  constructor(shapes_, address_ = null, tooltip_ = "", data = [], at = [0, 0]) {
    this.shapes = shapes_;
    this.address = address_;
    this.tooltip = tooltip_;
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
  constructor(width, height_, title_, summary, ground, parts) {
    this.width = width;
    this.height = height_;
    this.title = title_;
    this.summary = summary;
    this.ground = ground;
    this.parts = parts;
  }
  shapes() {
    return [...(() => { const out = []; for (const part of this.parts) for (const group of part.groups) for (const shape_ of group.shapes) { out.push(shape_); } return out; })()];
  }
  mapped(change_) {
    let parts, part, groups, group, kept_;
    parts = [];
    for (part of this.parts) {
      groups = [];
      for (group of part.groups) {
        kept_ = [...(() => { const out = []; for (const shape_ of group.shapes) for (const after of change_(shape_)) { out.push(after); } return out; })()];
        groups.push(py_replace(group, {shapes: kept_}));
      }
      parts.push(py_replace(part, {groups: [...groups]}));
    }
    return py_replace(this, {parts: [...parts]});
  }
}

// model.units
function plural(count, noun, nouns = "") {
  return ((count === 1) ? noun : (nouns || (String(noun) + "s")));
}

// model.measure
const EM = 2048;
const ELLIPSIS = "…";
const NODE_SIZE = 12;
const OP_SIZE = 11;
const SMALL_SIZE = 10;
const LAST_NUMBER = new RegExp("(\\[\\d+-\\d+\\]|[_-]?\\d{1,8}|_\\(\\d+\\))$", 'u');
function cut_middle(text, most_) {
  return ((py_len(text) <= most_) ? text : (String(py_slice(text, 0, Math.floor(most_ / 2))) + String(ELLIPSIS) + String(py_slice(text, (py_len(text) - Math.floor((most_ - 1) / 2))))));
}
function elide(text, limit, size, semibold = false) {
  let room, number, last, kept_, middle, tail, used, head_;
  if ((hand_width(text, size, semibold) <= limit)) {
    return text;
  }
  room = (Math.floor((limit * EM) / size) - hand_advance(ELLIPSIS, semibold));
  number = py_search(LAST_NUMBER, text);
  last = (number ? py_group(number) : "");
  kept_ = py_sum((() => { const out = []; for (const char of last) { out.push(hand_advance(char, semibold)); } return out; })());
  if (((kept_ * 2) > room)) {
    [last, kept_] = ["", 0];
  }
  middle = py_slice(text, 0, (py_len(text) - py_len(last)));
  tail = _tail(middle, Math.floor((room - kept_) / 4), semibold);
  used = (kept_ + py_sum((() => { const out = []; for (const char of tail) { out.push(hand_advance(char, semibold)); } return out; })()));
  head_ = _head(py_slice(middle, 0, (py_len(middle) - py_len(tail))), (room - used), semibold);
  return (String(head_) + String(ELLIPSIS) + String(tail) + String(last));
}
function elide_around(text, head_, tail, limit, size) {
  let kept_, room, end, begin;
  kept_ = py_slice(text, head_, (py_len(text) - tail));
  room = (Math.floor((limit * EM) / size) - py_sum((() => { const out = []; for (const char of kept_) { out.push(hand_advance(char, false)); } return out; })()));
  room -= (hand_advance(ELLIPSIS, false) * ((head_ > 0) + (tail > 0)));
  if ((room < 0)) {
    return elide((head_ ? (String(ELLIPSIS) + String(kept_)) : kept_), limit, size);
  }
  end = _tail(py_slice(text, (py_len(text) - tail)), Math.floor(room / 4), false);
  begin = _head(py_slice(text, 0, head_), (room - py_sum((() => { const out = []; for (const char of end) { out.push(hand_advance(char, false)); } return out; })())), false);
  return ((((begin + ((head_ > py_len(begin)) ? ELLIPSIS : "")) + kept_) + ((tail > py_len(end)) ? ELLIPSIS : "")) + end);
}
function _head(text, room, semibold) {
  let stop, char;
  stop = 0;
  for (char of text) {
    room -= hand_advance(char, semibold);
    if ((room < 0)) {
      break;
    }
    stop += 1;
  }
  while ((((0 < stop) && (stop < py_len(text))) && hand_joins(text, stop))) {
    stop -= 1;
  }
  return py_slice(text, 0, stop);
}
function _tail(text, room, semibold) {
  let start;
  start = py_len(text);
  while ((start && ((room = (room - hand_advance(py_char(text, (start - 1)), semibold))) >= 0))) {
    start -= 1;
  }
  while (((start < py_len(text)) && hand_joins(text, start))) {
    start += 1;
  }
  return py_slice(text, start);
}

// model.paths
function last_segment(name) {
  return py_rsplit(name, "/", 1).at(-1);
}

// model.metagraph
class Bundle {
  get carried() {
    return this.bundles.carried(this.number);
  }
  get edges() {
    return this.bundles.edges(this.number);
  }
}
class Metaedge extends Bundle {
  constructor(source, target, tensors_, control, reference, bundles = NOTHING_of_bundles, number = 0, back = false) {
    super();
    this.source = source;
    this.target = target;
    this.tensors = tensors_;
    this.control = control;
    this.reference = reference;
    this.bundles = bundles;
    this.number = number;
    this.back = back;
  }
  get kind() {
    return (this.reference ? "reference" : ((this.tensors || this.back) ? "data" : "control"));
  }
}
class Bridge extends Bundle {
  constructor(child, other, inbound, tensors_, control, reference, drawable = true, bundles = NOTHING_of_bundles, number = 0, members = [0, 0]) {
    super();
    this.child = child;
    this.other = other;
    this.inbound = inbound;
    this.tensors = tensors_;
    this.control = control;
    this.reference = reference;
    this.drawable = drawable;
    this.bundles = bundles;
    this.number = number;
    this.members = members;
  }
  beside(other) {
    let counts_, bundle;
    [counts_, bundle] = [[this.tensors, this.control, this.reference], [this.bundles, this.number]];
    return new Bridge(this.child, other, this.inbound, ...counts_, this.drawable, ...bundle, this.members);
  }
  undrawn() {
    let counts_, bundle;
    [counts_, bundle] = [[this.tensors, this.control, this.reference], [this.bundles, this.number]];
    return new Bridge(this.child, this.other, this.inbound, ...counts_, false, ...bundle, this.members);
  }
  of_members(share) {
    let counts_, bundle;
    [counts_, bundle] = [[this.tensors, this.control, this.reference], [this.bundles, this.number]];
    return new Bridge(this.child, this.other, this.inbound, ...counts_, this.drawable, ...bundle, share);
  }
  get kind() {
    return (this.reference ? "reference" : (this.tensors ? "data" : "control"));
  }
}
class Annotation {
  constructor(child, side_, other, kind, edges = 1, control = false) {
    this.child = child;
    this.side = side_;
    this.other = other;
    this.kind = kind;
    this.edges = edges;
    this.control = control;
  }
  beside(other) {
    return new Annotation(this.child, this.side, other, this.kind, this.edges, this.control);
  }
}
class Mask {
  constructor(in_extract = [], out_extract = [], stubbed = new Set()) {
    this.in_extract = in_extract;
    this.out_extract = out_extract;
    this.stubbed = stubbed;
  }
  get extracted() {
    return py_union(new Set(this.in_extract), new Set(this.out_extract));
  }
}
class Metagraph {
  constructor(row, children_, units, edges, bridges, mask = new Mask(), automatic = new Mask(), annotations = [], functions = [], loops = []) {
    this.row = row;
    this.children = children_;
    this.units = units;
    this.edges = edges;
    this.bridges = bridges;
    this.mask = mask;
    this.automatic = automatic;
    this.annotations = annotations;
    this.functions = functions;
    this.loops = loops;
  }
  core_edges() {
    return (() => { const out = []; for (const index of py_range(this.edges.length)) if (!this.mask.stubbed.has(index)) { out.push(index); } return out; })();
  }
  core() {
    let away;
    away = this.mask.extracted;
    return (() => { const out = []; for (const position of py_range(this.children.length)) if (!away.has(position)) { out.push(position); } return out; })();
  }
  core_bridges() {
    let away;
    away = this.mask.extracted;
    return (() => { const out = []; for (const [index, bridge] of py_enumerate(this.bridges)) if ((bridge.drawable && !away.has(bridge.child))) { out.push(index); } return out; })();
  }
}

// model.scene
class Identity {
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
  constructor(address_, row, kind, parent, depth_, x, y, width, height_, open, openable, sheets_ = 0, connected = false, area = "main", member = "scope", title_ = "") {
    this.address = address_;
    this.row = row;
    this.kind = kind;
    this.parent = parent;
    this.depth = depth_;
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height_;
    this.open = open;
    this.openable = openable;
    this.sheets = sheets_;
    this.connected = connected;
    this.area = area;
    this.member = member;
    this.title = title_;
  }
}
class Route {
  constructor(points, kind, source, target, thickness, back = false, arrow = true, frame = -1, title_ = "", identity = new Identity(), source_port = -1, target_port = -1, main = false) {
    this.points = points;
    this.kind = kind;
    this.source = source;
    this.target = target;
    this.thickness = thickness;
    this.back = back;
    this.arrow = arrow;
    this.frame = frame;
    this.title = title_;
    this.identity = identity;
    this.source_port = source_port;
    this.target_port = target_port;
    this.main = main;
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
  constructor(x, y, box, kind, count = 1, title_ = "", group = "", slot = -1, first_ = true, others = []) {
    this.x = x;
    this.y = y;
    this.box = box;
    this.kind = kind;
    this.count = count;
    this.title = title_;
    this.group = group;
    this.slot = slot;
    this.first = first_;
    this.others = others;
  }
}
class Stub {
  constructor(x, y, width, height_, kind, side_, box, other, points, control = false, title_ = "", identities = []) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height_;
    this.kind = kind;
    this.side = side_;
    this.box = box;
    this.other = other;
    this.points = points;
    this.control = control;
    this.title = title_;
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
  constructor(width, height_, direction, boxes, routes_, ports, stubs, texts, rules = [], webs_ = []) {
    this.width = width;
    this.height = height_;
    this.direction = direction;
    this.boxes = boxes;
    this.routes = routes_;
    this.ports = ports;
    this.stubs = stubs;
    this.texts = texts;
    this.rules = rules;
    this.webs = webs_;
  }
}

// model.level
class Gaps {
  constructor(siblings = 16, ranks_ = 26, most_ = 36, labelled = 28, box = 9, edge = 5, parts = 32, spread = 12, start = 11, straight_ = 10, beyond = 12, bar = [0, 0], upward = false) {
    this.siblings = siblings;
    this.ranks = ranks_;
    this.most = most_;
    this.labelled = labelled;
    this.box = box;
    this.edge = edge;
    this.parts = parts;
    this.spread = spread;
    this.start = start;
    this.straight = straight_;
    this.beyond = beyond;
    this.bar = bar;
    this.upward = upward;
  }
}
class Stroke {
  constructor(thick = 10, tip_ = 1, label_ = [0, 0], room = [0, 0, 0, 0]) {
    this.thick = thick;
    this.tip = tip_;
    this.label = label_;
    this.room = room;
  }
}
class LevelLayout {
  constructor(positions_, ports, routes_, width, height_) {
    this.positions = positions_;
    this.ports = ports;
    this.routes = routes_;
    this.width = width;
    this.height = height_;
  }
}

// model.theme
class Theme {
  constructor(name, text, secondary, quiet, background, neutral, op, stroke, frames, main, data, reference, selected, mark_, sign, rule, hues) {
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
    this.mark = mark_;
    this.sign = sign;
    this.rule = rule;
    this.hues = hues;
  }
  frame(depth_) {
    let first_, rest;
    [first_, ...rest] = this.frames;
    return ((depth_ === 0) ? first_ : rest.at(py_mod((depth_ - 1), rest.length)));
  }
}
const LIGHT = new Theme("light", "#1F2328", "#57606A", "#57606A", "#FFFFFF", "#EAEEF2", "#FFFFFF", "#989B9D", ["#FFFFFF", "#F6F8FA", "#EFF2F5"], "#57606A", "#8C959F", "#C2410C", "#0969DA", "#6A737D", "#FFFFFF", "#D0D7DE", ["#77AADD", "#EE8866", "#44BB99", "#FFAABB", "#EEDD88", "#99DDFF", "#BBCC33"]);
const DARK = new Theme("dark", "#F0F3F6", "#8B949E", "#9DA7B3", "#0D1117", "#30363D", "#161B22", "#787C81", ["#0D1117", "#151B23", "#1C232C"], "#9DA7B3", "#6E7681", "#FB923C", "#58A6FF", "#8B949E", "#0D1117", "#30363D", ["#0B2DC2", "#9C5E4E", "#143F31", "#A92E65", "#7B6708", "#316EA0", "#434912"]);
const THEMES = new Map([["light", LIGHT], ["dark", DARK]]);

// model.paint
class Fill {
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
class LegendRow {
  constructor(label_, fill, shape_ = "box", more = "") {
    this.label = label_;
    this.fill = fill;
    this.shape = shape_;
    this.more = more;
  }
}
class Tint {
  constructor(colour, dashes = [], sign = "", whole_ = true) {
    this.colour = colour;
    this.dashes = dashes;
    this.sign = sign;
    this.whole = whole_;
  }
}
class Paint {
  constructor(theme, scheme, heading_, boxes, accounts, stubs, tints, legend_) {
    this.theme = theme;
    this.scheme = scheme;
    this.heading = heading_;
    this.boxes = boxes;
    this.accounts = accounts;
    this.stubs = stubs;
    this.tints = tints;
    this.legend = legend_;
  }
}
class Caption {
  constructor(title_, facts, select = []) {
    this.title = title_;
    this.facts = facts;
    this.select = select;
  }
}

// model.skeleton
class PortSlot {
  constructor(first_, others) {
    this.first = first_;
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
  constructor(children_, ports, wires, waypoint, parts, shelves, main = -1, spine_ = [], notices = [], breaks_ = [], plain = false) {
    this.children = children_;
    this.ports = ports;
    this.wires = wires;
    this.waypoint = waypoint;
    this.parts = parts;
    this.shelves = shelves;
    this.main = main;
    this.spine = spine_;
    this.notices = notices;
    this.breaks = breaks_;
    this.plain = plain;
  }
  get first_waypoint() {
    return (this.children + this.ports.length);
  }
}

// model.skyline
const STRIP = 8;
const PIECES = 32;
const MANY_of_skyline = 2000;
const COARSE = 4;
const FAR_of_skyline = (1 * 2 ** 20);
class Skyline {
  constructor(lines = 0, width = 0) {
    let pieces;
    pieces = ((lines < MANY_of_skyline) ? PIECES : COARSE);
    this.width = width;
    this.rights = new Heights(pieces);
    this.lefts = new Heights(pieces);
    this.bottoms = new Heights(pieces);
  }
  add_rect(rect) {
    let left, top, right, bottom;
    [left, top, right, bottom] = rect;
    this.rights.raise_to(top, bottom, right);
    this.lefts.raise_to(top, bottom, (this.width - left));
    this.bottoms.raise_to(left, right, bottom);
  }
  add_line(points) {
    let across_, along;
    [across_, along] = [(() => { const out = []; for (const [x, _] of points) { out.push(x); } return out; })(), (() => { const out = []; for (const [_, y] of points) { out.push(y); } return out; })()];
    this.rights.add_line(along, across_);
    this.lefts.add_line(along, (() => { const out = []; for (const x of across_) { out.push((this.width - x)); } return out; })());
    this.bottoms.add_line(across_, along);
  }
  add_ray(point, down) {
    let x, y;
    [x, y] = point;
    if (down) {
      this.bottoms.raise_to(x, x, FAR_of_skyline);
    }
    else {
      this.rights.raise_to(y, y, FAR_of_skyline);
    }
  }
  right(top, bottom) {
    return this.rights.greatest(top, bottom);
  }
  left(top, bottom) {
    return this.lefts.greatest(top, bottom);
  }
  bottom(left, right) {
    return this.bottoms.greatest(left, right);
  }
}
class Heights {
  constructor(pieces = PIECES) {
    this.pieces = pieces;
    this.notes = [];
    this.sorted = 0;
  }
  raise_to(low, high, height_) {
    this.notes.push([height_, strip_of(low), strip_of(high), [], []]);
  }
  add_line(places, heights) {
    let low, high;
    [low, high] = [(py_min(places) - STRIP), (py_max(places) + STRIP)];
    this.notes.push([(py_max(heights) + 1), strip_of(low), strip_of(high), places, heights]);
  }
  greatest(low, high) {
    let start, stop, found, height_, first_, last, places, heights;
    if ((this.sorted < this.notes.length)) {
      py_sort(this.notes, {key: (note_) => -note_[0]});
      this.sorted = this.notes.length;
    }
    [start, stop, found] = [strip_of(low), strip_of(high), 0];
    for ([height_, first_, last, places, heights] of this.notes) {
      if ((height_ <= found)) {
        break;
      }
      if (((first_ <= stop) && (start <= last))) {
        found = (places.length ? this.highest(places, heights, start, stop, found) : height_);
      }
    }
    return found;
  }
  highest(places, heights, start, stop, found) {
    let number, begin, end, low, high, first_, last, step, place_;
    for (number of py_range(1, places.length)) {
      [begin, end] = [places.at((number - 1)), places.at(number)];
      [low, high] = [heights.at((number - 1)), heights.at(number)];
      [first_, last] = ((begin < end) ? [begin, end] : [end, begin]);
      if (((Math.max(low, high) < found) || (strip_of((last + STRIP)) < start) || (strip_of((first_ - STRIP)) > stop))) {
        continue;
      }
      if (((begin === end) || (low === high))) {
        found = Math.max(found, (low + 1), (high + 1));
        continue;
      }
      if (((strip_of(first_) > stop) || (strip_of(last) < start))) {
        continue;
      }
      step = py_max([STRIP, Math.floor((last - first_) / this.pieces)]);
      if (((low < high) === (begin < end))) {
        place_ = Math.min((first_ + ((Math.floor(((((stop + 1) * STRIP) - 1) - first_) / step) + 1) * step)), last);
      }
      else {
        place_ = (start ? Math.max((first_ + (Math.floor((((start * STRIP) - 1) - first_) / step) * step)), first_) : first_);
      }
      found = py_max([found, ((1 + low) + Math.floor(((high - low) * (place_ - begin)) / (end - begin)))]);
    }
    return found;
  }
}
function strip_of(place_) {
  return ((place_ > 0) ? Math.floor(place_ / STRIP) : 0);
}

// model.thickness
const THIN_of_thickness = 10;
const THICK = 60;

// model.view
class NodeLabel {
  constructor(row, address_, kind, label_, full, second = "", badge = "", openable = false, connected = false, member = "scope", about = "", stacked = false) {
    this.row = row;
    this.address = address_;
    this.kind = kind;
    this.label = label_;
    this.full = full;
    this.second = second;
    this.badge = badge;
    this.openable = openable;
    this.connected = connected;
    this.member = member;
    this.about = about;
    this.stacked = stacked;
  }
}
class LineWords {
  constructor(label_, title_) {
    this.label = label_;
    this.title = title_;
  }
}
class StubWords {
  constructor(kind, label_, title_, other, control, notes = []) {
    this.kind = kind;
    this.label = label_;
    this.title = title_;
    this.other = other;
    this.control = control;
    this.notes = notes;
  }
}
class Note {
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
class View {
  constructor(address_, path, metagraph, skeleton, node_labels, opened = new Map(), names = new Map(), labels = new Map(), addresses = new Map(), functions = [], words = new LevelWords()) {
    this.address = address_;
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
  }
  drawn() {
    return (this.skeleton.plain ? new Map() : (() => { const out = new Map(); for (const wire of this.wires()) { out.set(wire, this.line(wire)); } return out; })());
  }
  line(wire) {
    let edge, bridge;
    [edge, bridge] = [this.skeleton.wires.at(wire).edge, this.skeleton.wires.at(wire).bridge];
    return ((edge >= 0) ? this.metagraph.edges.at(edge) : this.metagraph.bridges.at(bridge));
  }
  wires() {
    let metagraph, away, stubbed, drawn, index, wire;
    metagraph = this.metagraph;
    [away, stubbed] = [metagraph.mask.extracted, metagraph.mask.stubbed];
    drawn = [];
    for ([index, wire] of py_enumerate(this.skeleton.wires)) {
      if (py_intersection(new Set([wire.chain[0], wire.chain.at(-1)]), away).size) {
        continue;
      }
      if (((wire.edge >= 0) ? !stubbed.has(wire.edge) : metagraph.bridges.at(wire.bridge).drawable)) {
        drawn.push(index);
      }
    }
    return drawn;
  }
}

// algorithms.topological
function topological(after) {
  return kahn(after, []);
}
function kahn(after, otherwise) {
  let missing, targets, target, order, position, node;
  missing = py_repeat([0], after.length);
  for (targets of after) {
    for (target of targets) {
      missing[target] += 1;
    }
  }
  order = (() => { const out = []; for (const [node, count] of py_enumerate(missing)) if (!count) { out.push(node); } return out; })();
  position = 0;
  for (node of [null, ...otherwise]) {
    if (((node != null) && missing.at(node))) {
      missing[node] = 0;
      order.push(node);
    }
    while ((position < order.length)) {
      for (target of after.at(order.at(position))) {
        if (missing.at(target)) {
          missing[target] -= 1;
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

// algorithms.polylines
function straightened(points) {
  let kept_, point;
  kept_ = [];
  for (point of points) {
    if ((kept_.length && py_equal(kept_.at(-1), point))) {
      continue;
    }
    if (((kept_.length > 1) && is_between(kept_.at(-2), kept_.at(-1), point))) {
      py_pop(kept_);
    }
    kept_.push(point);
  }
  return kept_;
}
function is_between(a, b, c) {
  let across_, onward;
  across_ = (((b[0] - a[0]) * (c[1] - b[1])) - ((b[1] - a[1]) * (c[0] - b[0])));
  onward = (((b[0] - a[0]) * (c[0] - b[0])) + ((b[1] - a[1]) * (c[1] - b[1])));
  return ((across_ === 0) && (onward > 0));
}

// place.attach
const MARGIN_of_attach = 8;
const MANY_of_attach = 4;
const LEAST = 8;
function downward(skeleton) {
  return (() => { const out = []; for (const wire of skeleton.wires) { out.push((wire.turned ? py_reversed(wire.chain) : wire.chain)); } return out; })();
}
function attach(skeleton, chains, sizes, gaps, buses_ = []) {
  let place_, main, sides, wire, chain, end, item, other, trunk, offsets, wires, keys, middle, kinds, slots, places, key, slot;
  place_ = (() => { const out = new Map(); for (const part of skeleton.parts) for (const row of part) for (const [number, item] of py_enumerate(row)) { out.set(item, number); } return out; })();
  main = new Set(skeleton.spine);
  sides = new TupleMap();
  for ([wire, chain] of py_enumerate(chains)) {
    for ([end, item, other] of [[0, chain[0], chain[1]], [1, chain.at(-1), chain.at(-2)]]) {
      if ((item < skeleton.children)) {
        trunk = ((other >= skeleton.first_waypoint) ? -1 : wire);
        py_setdefault(py_setdefault(sides, [item, end], new TupleMap()), [place_.get(other), trunk], []).push(wire);
      }
    }
  }
  offsets = (() => { const out = []; for (const _ of chains) { out.push([0, 0]); } return out; })();
  for ([[item, end], wires] of sides.entries()) {
    keys = py_sorted(wires.keys());
    middle = py_next(py_iter((() => { const out = []; for (const [number, key] of py_enumerate(keys)) if (py_intersection(main, wires.get(key)).size) { out.push(number); } return out; })()), -1);
    kinds = (() => { const out = []; for (const key of keys) { out.push(((buses_.length && end) ? buses_.at(wires.get(key)[0]) : -1)); } return out; })();
    slots = slots_of(kinds, middle);
    middle = ((middle >= 0) ? slots.at(middle) : -1);
    places = places_at_side(sizes.at(item)[0], (slots.at(-1) + 1), gaps.spread, middle);
    for ([key, slot] of py_zip(keys, slots)) {
      for (wire of wires.get(key)) {
        offsets.at(wire)[end] = places.at(slot);
      }
    }
  }
  return (() => { const out = []; for (const [upper, lower] of offsets) { out.push([upper, lower]); } return out; })();
}
function slots_of(kinds, middle) {
  let join, slots, number, kind, same;
  join = ((middle >= 0) || (kinds.length >= MANY_of_attach));
  slots = [];
  for ([number, kind] of py_enumerate(kinds)) {
    same = (join && (number && ((kind >= 0) && ((kind === kinds.at((number - 1))) && ((middle !== number) && (middle !== (number - 1)))))));
    slots.push((number ? (slots.at(-1) + (py_truth(same) ? 0 : 1)) : 0));
  }
  return slots;
}
function places_at_side(width, count, step, middle = -1) {
  let most_, room, start;
  most_ = Math.max(middle, ((count - 1) - middle));
  if (((middle >= 0) && ((most_ * LEAST) <= (Math.floor(width / 2) - MARGIN_of_attach)))) {
    step = (most_ ? py_min([step, Math.floor((Math.floor(width / 2) - MARGIN_of_attach) / most_)]) : 0);
    return (() => { const out = []; for (const place_ of py_range(count)) { out.push((Math.floor(width / 2) + ((place_ - middle) * step))); } return out; })();
  }
  if ((count > 1)) {
    room = Math.max((width - (2 * MARGIN_of_attach)), Math.floor(width / 2), 0);
    step = py_min([step, Math.floor(room / (count - 1))]);
  }
  start = (Math.floor(width / 2) - Math.floor(((count - 1) * step) / 2));
  return (() => { const out = []; for (const place_ of py_range(count)) { out.push((start + (place_ * step))); } return out; })();
}

// place.turn
class Turn {
  constructor(direction, width, height_) {
    this.direction = direction;
    this.width = width;
    this.height = height_;
  }
  get vertical() {
    return ["BT", "TB"].includes(this.direction);
  }
  get size() {
    return (this.vertical ? [this.width, this.height] : [this.height, this.width]);
  }
  point(point) {
    let across_, along;
    [across_, along] = point;
    if (["BT", "RL"].includes(this.direction)) {
      along = (this.height - along);
    }
    return (this.vertical ? [across_, along] : [along, across_]);
  }
  corner(point, size) {
    let along;
    along = (this.vertical ? size[1] : size[0]);
    if (["BT", "RL"].includes(this.direction)) {
      return this.point([point[0], (point[1] + along)]);
    }
    return this.point(point);
  }
}
function vertical(direction) {
  return ["BT", "TB"].includes(direction);
}
function across_along(direction, size) {
  return (vertical(direction) ? size : py_reversed(size));
}
function top_side(direction) {
  return py_get(new Map([["TB", true], ["BT", false]]), direction);
}

// place.names
const OP_MOST = 180;
const SCOPE_MOST = 200;
const PADDING = 12;
const MARK_ROOM = new Map([["op", 24], ["scope", 20]]);
const RANGE = " … ";
const BETWEEN_WORDS = "_./-[]";
class Name {
  constructor(label_, size, side_) {
    this.label = label_;
    this.size = size;
    this.side = side_;
  }
}
function names_of(nodes) {
  let names, alike, number, node, name, group, texts, head_, tail, text, label_;
  names = (() => { const out = []; for (const node of nodes) { out.push(name_of(node)); } return out; })();
  alike = new Map();
  for ([number, [node, name]] of py_enumerate(py_zip(nodes, names))) {
    if ((name.label !== full_name(node))) {
      py_setdefault(alike, name.label, []).push(number);
    }
  }
  for (group of alike.values()) {
    texts = (() => { const out = []; for (const number of group) { out.push(full_name(nodes.at(number))); } return out; })();
    if ((new Set(texts).size > 1)) {
      [head_, tail] = agreed(texts);
      for ([number, text] of py_zip(group, texts)) {
        name = names.at(number);
        label_ = elide_around(text, head_, tail, (most(nodes.at(number)) - (2 * name.side)), name.size);
        names[number] = new Name(label_, name.size, name.side);
      }
    }
  }
  return names;
}
function name_of(node) {
  let op, size, side_, name, room;
  op = (drawn_as_of_names(node) === "op");
  size = (op ? OP_SIZE : NODE_SIZE);
  side_ = (node.openable ? MARK_ROOM.get((op ? "op" : "scope")) : PADDING);
  [name, room] = [full_name(node), (most(node) - (2 * side_))];
  return new Name(elide(((hand_width(name, size) <= room) ? name : briefly(name)), room, size), size, side_);
}
function full_name(node) {
  let name;
  name = hand_clean(node.label);
  return (name.trim() ? name : ("“" + String(name) + "”"));
}
function most(node) {
  return ((drawn_as_of_names(node) === "op") ? OP_MOST : SCOPE_MOST);
}
function drawn_as_of_names(node) {
  let kind;
  kind = (["series", "fold"].includes(node.kind) ? node.member : node.kind);
  return (["op", "call"].includes(kind) ? "op" : "scope");
}
function agreed(names) {
  let first_, shortest_, head_, tail;
  [first_, shortest_] = [names[0], py_min((() => { const out = []; for (const name of names) { out.push(py_len(name)); } return out; })())];
  head_ = 0;
  tail = head_;
  while (((head_ < shortest_) && (() => { for (const name of names) { if (!(py_char(name, head_) === py_char(first_, head_))) return false; } return true; })())) {
    head_ += 1;
  }
  while ((head_ && !BETWEEN_WORDS.includes(py_char(first_, (head_ - 1))))) {
    head_ -= 1;
  }
  while (((tail < (shortest_ - head_)) && (() => { for (const name of names) { if (!(py_char(name, ((py_len(name) - 1) - tail)) === py_char(first_, ((py_len(first_) - 1) - tail)))) return false; } return true; })())) {
    tail += 1;
  }
  while ((tail && !BETWEEN_WORDS.includes(py_char(first_, (py_len(first_) - tail))))) {
    tail -= 1;
  }
  return [head_, tail];
}
function briefly(name) {
  let ends, first_, last, same, length_;
  ends = name.split(RANGE);
  if ((ends.length !== 2)) {
    return name;
  }
  [first_, last] = ends;
  same = 0;
  length_ = same;
  while (((length_ < Math.min(py_len(first_), py_len(last))) && (py_char(first_, length_) === py_char(last, length_)))) {
    length_ += 1;
    if ((BETWEEN_WORDS.includes(py_char(last, (length_ - 1))) || BETWEEN_WORDS.includes(py_slice(last, length_, (length_ + 1))))) {
      same = length_;
    }
  }
  return (((0 < same) && (same < py_len(last))) ? (String(first_) + String(RANGE) + String(py_slice(last, same))) : name);
}

// place.sizes
const SCOPE_HEIGHT = 32;
const SCOPE_LEAST = 72;
const OP_HEIGHT = 24;
const OP_LEAST = 48;
const SHEET_of_sizes = 4;
const BADGE_ROOM = 16;
const BASELINE = new Map([[12, 4], [11, 4], [10, 3]]);
class ClosedBox {
  constructor(width, height_, sheets_, texts, top = 0) {
    this.width = width;
    this.height = height_;
    this.sheets = sheets_;
    this.texts = texts;
    this.top = top;
  }
  get middle() {
    return Math.floor((this.height + this.top) / 2);
  }
}
function closed(node, name, second) {
  let kind, stack, two_lines, inner, height_, texts;
  kind = drawn_as_of_names(node);
  stack = ["series", "fold"].includes(node.kind);
  two_lines = (!!second || (kind !== "op"));
  [inner, height_, texts] = _front(node, name, kind, hand_clean(second), two_lines);
  if (!stack) {
    return new ClosedBox(inner, height_, 0, texts);
  }
  if (!node.connected) {
    return new ClosedBox((inner + (2 * SHEET_of_sizes)), height_, 2, texts);
  }
  return new ClosedBox(inner, (height_ + (2 * SHEET_of_sizes)), 2, [...(() => { const out = []; for (const text of texts) { out.push(moved(text, 0, (2 * SHEET_of_sizes))); } return out; })()], (2 * SHEET_of_sizes));
}
function _front(node, name, kind, second, two_lines) {
  let least_, most_, label_, size, side_, wanted, total, height_, first_;
  [least_, most_] = ((kind === "op") ? [OP_LEAST, OP_MOST] : [SCOPE_LEAST, SCOPE_MOST]);
  [label_, size, side_] = [name.label, name.size, name.side];
  second = elide(second, (most_ - (2 * BADGE_ROOM)), SMALL_SIZE);
  wanted = Math.max((hand_width(label_, size) + (2 * side_)), (second ? (hand_width(second, SMALL_SIZE) + (2 * BADGE_ROOM)) : 0));
  total = Math.max(least_, wanted);
  height_ = (two_lines ? SCOPE_HEIGHT : OP_HEIGHT);
  if (!second) {
    return [total, height_, [_line(Math.floor(total / 2), Math.floor(height_ / 2), label_, node.full, size, "label")]];
  }
  first_ = _line(Math.floor(total / 2), 10, label_, node.full, size, "label");
  return [total, height_, [first_, _line(Math.floor(total / 2), 23, second, second, SMALL_SIZE, "second")]];
}
function _line(middle, centre, content, full, size, role) {
  let baseline;
  baseline = (centre + BASELINE.get(size));
  return new Text(middle, baseline, content, full, size, hand_width(content, size), role, "middle", undefined, undefined, true);
}
function moved(text, x, y, box = null) {
  return new Text((text.x + x), (text.y + y), text.content, text.full, text.size, text.width, text.role, text.anchor, text.semibold, ((box == null) ? text.box : box), text.inside, text.identities);
}

// place.beside
const ROW_of_beside = 14;
const LABEL_GAP = 4;
const LEAD = 18;
const RAIL = 10;
const EXTENT = new Map([["shortcut", [18, 10]], ["constant", [10, 10]], ["summary", [12, 12]], ["weight", [10, 10]], ["more", [0, 10]]]);
const GAP_of_beside = 4;
class StubColumn {
  constructor(stubs = [], texts = []) {
    this.stubs = stubs;
    this.texts = texts;
  }
}
function stub_width(stub) {
  return ((EXTENT.get(stub.kind)[0] + ((stub.kind !== "more") ? LABEL_GAP : 0)) + hand_width(stub.label, SMALL_SIZE));
}
function column_width(column) {
  return (py_max((() => { const out = []; for (const stub of column) { out.push(stub_width(stub)); } return out; })(), {default: -LEAD}) + LEAD);
}
function column_of_beside(words, side_, middle, edge, reach_, off) {
  let top, sign, stubs, texts, index, stub, y, meet_, near_, far;
  top = (middle - Math.floor((ROW_of_beside * (words.length - 1)) / 2));
  sign = ((side_ === "in") ? -1 : 1);
  [stubs, texts] = [[], []];
  for ([index, stub] of py_enumerate(words)) {
    y = (top + (ROW_of_beside * index));
    meet_ = _spread(index, words.length, middle, Math.min(reach_, Math.floor((ROW_of_beside * (words.length - 1)) / 2)));
    near_ = (edge + (sign * (LEAD + off)));
    stubs.push(_stub_of_beside(stub, side_, ((sign > 0) ? near_ : (near_ - EXTENT.get(stub.kind)[0])), y, [[near_, y], [edge, meet_]]));
    far = (near_ + (sign * (EXTENT.get(stub.kind)[0] + ((stub.kind !== "more") ? LABEL_GAP : 0))));
    texts.push(_label_of_beside(stub, far, y, ((sign > 0) ? "start" : "end")));
  }
  return new StubColumn([...stubs], [...texts]);
}
function rows_height(words) {
  return (words.length ? ((ROW_of_beside * words.length) + LABEL_GAP) : 0);
}
function rail(words, side_, box, x) {
  let stubs, texts, border_, index, stub, away, y, left;
  [stubs, texts] = [[], []];
  border_ = ((side_ === "in") ? 0 : box[1]);
  for ([index, stub] of py_enumerate(words)) {
    away = ((LABEL_GAP + (ROW_of_beside * ((side_ === "in") ? ((words.length - 1) - index) : index))) + Math.floor(ROW_of_beside / 2));
    y = ((side_ === "in") ? (border_ - away) : (border_ + away));
    left = (x + RAIL);
    stubs.push(_stub_of_beside(stub, side_, left, y, [[left, y], [x, y], [x, border_]]));
    texts.push(_label_of_beside(stub, ((left + EXTENT.get(stub.kind)[0]) + ((stub.kind !== "more") ? LABEL_GAP : 0)), y, "start"));
  }
  return new StubColumn([...stubs], [...texts]);
}
function _stub_of_beside(stub, side_, left, middle, line) {
  let across_, along, points, top, notes;
  [across_, along] = EXTENT.get(stub.kind);
  points = ((side_ === "in") ? line : py_reversed(line));
  top = (middle - Math.floor(along / 2));
  notes = [...(() => { const out = []; for (const index of stub.notes) { out.push(new Identity(undefined, "annotation", index)); } return out; })()];
  return new Stub(left, top, across_, along, stub.kind, side_, -1, stub.other, points, stub.control, stub.title, notes);
}
function _label_of_beside(stub, x, middle, anchor) {
  let wide, y;
  wide = hand_width(stub.label, SMALL_SIZE);
  y = (middle + BASELINE.get(SMALL_SIZE));
  return new Text(x, y, stub.label, stub.title, SMALL_SIZE, wide, "stub", anchor);
}
function _spread(index, count, middle, reach_) {
  if ((count < 2)) {
    return middle;
  }
  return ((middle - reach_) + Math.floor(((2 * reach_) * index) / (count - 1)));
}

// place.pieces
const LOOP = 16;
class Piece {
  constructor(width, height_, x, y, box, sheets_ = 0, pill = false, texts = [], stubs = [], loop = [], behind_ = [0, 0]) {
    this.width = width;
    this.height = height_;
    this.x = x;
    this.y = y;
    this.box = box;
    this.sheets = sheets_;
    this.pill = pill;
    this.texts = texts;
    this.stubs = stubs;
    this.loop = loop;
    this.behind = behind_;
  }
}
function framed(size, node) {
  return new Piece(...size, 0, 0, size, (node.stacked ? 2 : 0), undefined, undefined, undefined, undefined, behind(node));
}
function behind(node) {
  if (!node.stacked) {
    return [0, 0];
  }
  return (node.connected ? [0, (2 * SHEET_of_sizes)] : [(2 * SHEET_of_sizes), 0]);
}
function piece(node, name, words, position, upright) {
  let shape_, pill, make;
  shape_ = closed(node, name, words.seconds.at(position));
  pill = (drawn_as_of_names(node) === "op");
  make = (upright ? _upright : _lying);
  return make(shape_, words.incoming.at(position), words.outgoing.at(position), words.loops.has(position), pill);
}
function _upright(shape_, incoming, outgoing, loop, pill) {
  let wide, tall, box, lead, tail, room, stack, height_, middle, reach_, left, right, y;
  [wide, tall] = [shape_.width, shape_.height];
  box = [wide, tall];
  lead = (incoming.length ? (column_width(incoming) + GAP_of_beside) : 0);
  tail = (outgoing.length ? (column_width(outgoing) + GAP_of_beside) : 0);
  room = (loop ? LOOP : 0);
  stack = (Math.max(incoming.length, outgoing.length) * ROW_of_beside);
  height_ = Math.max(tall, stack);
  middle = shape_.middle;
  reach_ = py_max([0, (Math.floor((tall - shape_.top) / 2) - 10)]);
  left = column_of_beside(incoming, "in", middle, 0, reach_, 0);
  right = column_of_beside(outgoing, "out", middle, wide, reach_, room);
  y = Math.max(0, (Math.floor(height_ / 2) - middle));
  return new Piece(((lead + wide) + Math.max((tail + room), room)), Math.max(height_, (y + tall)), lead, y, box, shape_.sheets, pill, [...[...shape_.texts, ...left.texts], ...right.texts], [...left.stubs, ...right.stubs], (loop ? _loop(box, middle) : []));
}
function _lying(shape_, incoming, outgoing, loop, pill) {
  let wide, tall, box, above, below_, room, start, over, under_, reach_;
  [wide, tall] = [shape_.width, shape_.height];
  box = [wide, tall];
  [above, below_] = [rows_height(incoming), rows_height(outgoing)];
  room = (loop ? LOOP : 0);
  start = 14;
  over = rail(incoming, "in", box, start);
  under_ = rail(outgoing, "out", box, start);
  reach_ = py_max((() => { const out = []; for (const stub of [...incoming, ...outgoing]) { out.push(((start + RAIL) + stub_width(stub))); } return out; })(), {default: 0});
  return new Piece(Math.max((wide + room), reach_), ((above + tall) + below_), 0, above, box, shape_.sheets, pill, [...[...shape_.texts, ...over.texts], ...under_.texts], [...over.stubs, ...under_.stubs], (loop ? _loop(box, shape_.middle) : []));
}
function _loop(box, middle) {
  let x, up;
  [x, up] = [box[0], Math.floor(box[1] / 4)];
  return [[x, (middle - up)], [((x + LOOP) - 4), (middle - up)], [((x + LOOP) - 4), (middle + up)], [x, (middle + up)]];
}

// place.attachment
const INSET = 8;
function anchors(view, pieces, gates, ports, direction, gaps) {
  let skeleton, upright, boxes, spread, fixed, sides, index, wire, touch, end, child, piece_, _, ends, met, across_, order, width, number, x;
  [skeleton, upright] = [view.skeleton, vertical(direction)];
  boxes = (() => { const out = []; for (const piece_ of pieces.slice(0, skeleton.children)) { out.push(across_along(direction, piece_.box)); } return out; })();
  spread = attach(skeleton, downward(skeleton), boxes, gaps, (() => { const out = []; for (const wire of skeleton.wires) { out.push(bus(view, wire)); } return out; })());
  fixed = new TupleMap();
  sides = new TupleMap();
  for ([index, wire] of py_enumerate(skeleton.wires)) {
    touch = (wire.turned ? py_reversed(spread.at(index)) : spread.at(index));
    for ([end, child] of py_enumerate([wire.chain[0], wire.chain.at(-1)])) {
      if ((child < skeleton.children)) {
        piece_ = pieces.at(child);
        fixed.set([index, end], (touch.at(end) + (upright ? piece_.x : piece_.y)));
        if (gates.has(child)) {
          py_setdefault(sides, [child, (!!end !== wire.turned)], []).push([index, end]);
        }
      }
    }
  }
  for ([[child, _], ends] of sides.entries()) {
    met = (() => { const out = []; for (const [index, end] of ends) { out.push(gate_of(view, index, end, gates)); } return out; })();
    across_ = (() => { const out = []; for (const gate of met) { out.push(((gate == null) ? null : ports.get(child).at(gate).at((upright ? 0 : 1)))); } return out; })();
    order = py_sorted(py_range(ends.length), {key: (number) => [fixed.get(ends.at(number)), ends.at(number)]});
    width = boxes.at(child)[0];
    for ([number, x] of py_zip(order, between_of_attachment((() => { const out = []; for (const number of order) { out.push(across_.at(number)); } return out; })(), width, gaps.spread))) {
      fixed.set(ends.at(number), x);
    }
  }
  return fixed;
}
function bus(view, wire) {
  let line;
  line = ((wire.bridge >= 0) ? view.metagraph.bridges.at(wire.bridge) : view.metagraph.edges.at(wire.edge));
  if ((wire.turned || (line.kind === "reference"))) {
    return -1;
  }
  return ((line.kind === "control") ? 1 : 0);
}
function between_of_attachment(ports, width, step) {
  let start, placed, following, after, number, before, gap;
  if ((() => { for (const port of ports) { if (!(port == null)) return false; } return true; })()) {
    start = (Math.floor(width / 2) - Math.floor(((ports.length - 1) * step) / 2));
    return (() => { const out = []; for (const number of py_range(ports.length)) { out.push(clamp((start + (number * step)), width)); } return out; })();
  }
  placed = (() => { const out = []; for (const port of ports) { out.push(((port == null) ? 0 : port)); } return out; })();
  [following, after] = [py_repeat([-1], ports.length), -1];
  for (number of py_range((ports.length - 1), -1, -1)) {
    following[number] = after;
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
        placed[number] = clamp((placed.at(after) - ((after - number) * step)), width);
      }
      else {
        if ((after < 0)) {
          placed[number] = clamp((placed.at(before) + ((number - before) * step)), width);
        }
        else {
          gap = (placed.at(after) - placed.at(before));
          placed[number] = (placed.at(before) + Math.floor((gap * (number - before)) / (after - before)));
        }
      }
    }
  }
  return placed;
}
function clamp(x, width) {
  return Math.max(Math.min(x, (width - INSET)), Math.min(INSET, Math.floor(width / 2)));
}
function gate_of(view, index, end, gates) {
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
  return py_get(inner, [other, !!end, (!!end !== wire.turned)]);
}
function gates_of(view) {
  return (() => { const out = new TupleMap(); for (const [port, slot] of py_enumerate(view.skeleton.ports)) for (const other of slot.others) { out.set([...other, slot.first], port); } return out; })();
}
function border(piece_, corner, point, upright) {
  let left, top, right, bottom, high, dent, near_;
  [left, top] = [(corner[0] + piece_.x), (corner[1] + piece_.y)];
  [right, bottom] = [((left + piece_.box[0]) - piece_.behind[0]), (top + piece_.box[1])];
  top += piece_.behind[1];
  if (upright) {
    high = (Math.abs((point[1] - corner[1])) <= Math.abs(((point[1] - corner[1]) - piece_.height)));
    dent = round_end(piece_, Math.min((point[0] - left), (right - point[0])));
    return [point[0], (high ? (top + dent) : (bottom - dent))];
  }
  near_ = (Math.abs((point[0] - corner[0])) <= Math.abs(((point[0] - corner[0]) - piece_.width)));
  dent = round_end(piece_, Math.min((point[1] - top), (bottom - point[1])));
  return [(near_ ? (left + dent) : (right - dent)), point[1]];
}
function round_end(piece_, inset) {
  let radius;
  radius = Math.min(12, Math.floor(piece_.box[1] / 2));
  if ((!piece_.pill || (inset >= radius))) {
    return 0;
  }
  return (radius - py_isqrt(((radius * radius) - ((radius - Math.max(inset, 0)) ** 2))));
}

// place.auxiliary
const AWAY = 32;
const HEADING_SIZE = 11;
const HEADING_ROOM = 24;
const GAP_of_auxiliary = 16;
const LENGTHS = [96, 160, 240, 320, 480, 0];
const SCREEN_of_auxiliary = 900;
class Area {
  constructor(places, texts, rules, width, height_) {
    this.places = places;
    this.texts = texts;
    this.rules = rules;
    this.width = width;
    this.height = height_;
  }
}
class Placement {
  constructor(corner, size, whole_, beside_, places) {
    this.corner = corner;
    this.size = size;
    this.whole = whole_;
    this.beside = beside_;
    this.places = places;
  }
  get cost() {
    let wide, tall, screen;
    [wide, tall] = this.whole;
    screen = Math.max(Math.floor((5 * wide) / 8), tall, SCREEN_of_auxiliary);
    return ((wide * tall) + Math.floor(((8 * screen) * screen) / 5));
  }
}
function beside_core(core, sky, blocks_, notes = []) {
  let places, texts, rules, whole_, heading_, columns_, room, placement, left, top, wide, tall, half, beside_, size;
  places = [];
  texts = [];
  rules = [];
  whole_ = core;
  for ([heading_, columns_] of blocks_) {
    if (!py_any(columns_)) {
      continue;
    }
    room = (heading_ ? HEADING_ROOM : 0);
    placement = best(whole_, sky, columns_, hand_width(heading_, HEADING_SIZE, true), room);
    [[left, top], [wide, tall]] = [placement.corner, placement.size];
    py_extend(places, (() => { const out = []; for (const [x, y] of placement.places) { out.push([(left + x), ((top + room) + y)]); } return out; })());
    half = Math.floor(AWAY / 2);
    if (heading_) {
      texts.push(_heading(heading_, placement.corner));
      beside_ = new Separator((left - half), top, (left - half), (top + tall));
      rules.push((placement.beside ? beside_ : new Separator(left, (top - half), (left + wide), (top - half))));
    }
    sky.add_rect([(left - half), (top - half), (left + wide), (top + tall)]);
    whole_ = placement.whole;
  }
  if (notes.length) {
    size = [py_max((() => { const out = []; for (const note_ of notes) { out.push(note_.width); } return out; })()), (notes.at(-1).y + 4)];
    placement = py_min(placements(whole_, sky, size, []), {key: (placement) => placement.cost});
    py_extend(texts, (() => { const out = []; for (const note_ of notes) { out.push(moved(note_, ...placement.corner)); } return out; })());
    whole_ = placement.whole;
  }
  return new Area([...places], [...texts], [...rules], ...whole_);
}
function best(core, sky, columns_, least_, room) {
  let possible, limit, places, wide, tall;
  possible = [];
  for (limit of [core[1], ...LENGTHS, Math.floor(core[1] / 2), Math.floor(core[1] / 3)]) {
    [places, [wide, tall]] = block(columns_, limit);
    [wide, tall] = [Math.max(wide, least_), (tall + room)];
    py_extend(possible, placements(core, sky, [wide, tall], [...places]));
  }
  return py_min(possible, {key: (placement) => placement.cost});
}
function placements(core, sky, size, places) {
  let wide, tall, across_, along, possible, top, reach_, left;
  [[wide, tall], [across_, along]] = [core, size];
  possible = [];
  for (top of [0, Math.max(0, (tall - along))]) {
    reach_ = sky.right((top - AWAY), ((top + along) + AWAY));
    left = (reach_ ? (reach_ + AWAY) : 0);
    possible.push(new Placement([left, top], size, [Math.max(wide, (left + across_)), Math.max(tall, along)], true, places));
  }
  for (left of [0, Math.max(0, (wide - across_))]) {
    reach_ = sky.bottom((left - AWAY), ((left + across_) + AWAY));
    top = (reach_ ? (reach_ + AWAY) : 0);
    possible.push(new Placement([left, top], size, [Math.max(wide, across_), Math.max(tall, (top + along))], false, places));
  }
  return possible;
}
function _heading(content, origin) {
  let wide, y;
  wide = hand_width(content, HEADING_SIZE, true);
  y = (((origin[1] + Math.floor(HEADING_ROOM / 2)) + BASELINE.get(HEADING_SIZE)) - 6);
  return new Text(origin[0], y, content, content, HEADING_SIZE, wide, "heading", "start", true);
}
function block(columns_, limit) {
  let places, start, longest_, column, part, axis, along, _, tall, own_axis;
  places = [];
  start = 0;
  longest_ = start;
  for (column of columns_) {
    for (part of broken(column, limit)) {
      axis = py_max((() => { const out = []; for (const thing of part) { out.push(thing[2]); } return out; })());
      along = 0;
      for ([_, tall, own_axis] of part) {
        places.push([((start + axis) - own_axis), along]);
        along += (tall + GAP_of_auxiliary);
      }
      longest_ = Math.max(longest_, (along - GAP_of_auxiliary));
      start += ((axis + py_max((() => { const out = []; for (const thing of part) { out.push((thing[0] - thing[2])); } return out; })())) + GAP_of_auxiliary);
    }
  }
  return [places, [(start - GAP_of_auxiliary), longest_]];
}
function broken(column, limit) {
  let parts, along, thing;
  parts = [];
  along = 0;
  for (thing of column) {
    if ((!parts.length || ((along + thing[1]) > limit))) {
      parts.push([]);
      along = 0;
    }
    parts.at(-1).push(thing);
    along += (thing[1] + GAP_of_auxiliary);
  }
  return parts;
}

// place.funnel
const FAR_of_funnel = (1 * 2 ** 40);
class Band {
  constructor(top, bottom, before = 0, after = 0) {
    this.top = top;
    this.bottom = bottom;
    this.before = before;
    this.after = after;
  }
  get middle() {
    return Math.floor((this.top + this.bottom) / 2);
  }
  move(down) {
    this.top += down;
    this.bottom += down;
  }
}
class Corridors {
  constructor(skeleton, lefts, widths, thick, gaps) {
    let part, row, left, right, users;
    [this.first, this.widths, this.thick, this.gaps] = [skeleton.first_waypoint, widths, thick, gaps];
    this.at = [[...lefts], [...lefts]];
    [this.left, this.right] = [py_repeat([-1], lefts.length), py_repeat([-1], lefts.length)];
    for (part of skeleton.parts) {
      for (row of part) {
        for ([left, right] of py_pairwise(row)) {
          [this.right[left], this.left[right]] = [right, left];
        }
      }
    }
    users = new Counter((() => { const out = []; for (const wire of skeleton.wires) for (const item of wire.chain.slice(1, -1)) { out.push(item); } return out; })());
    this.shared = (() => { const out = new Set(); for (const [item, count] of users.entries()) if ((count > 1)) { out.add(item); } return out; })();
  }
  window(item, side_, y) {
    let x, here, left, right, low, high;
    x = this.at.at(side_);
    [here, left, right] = [x.at(item), this.left.at(item), this.right.at(item)];
    if (this.shared.has(item)) {
      return [y, here, here];
    }
    [low, high] = [-FAR_of_funnel, FAR_of_funnel];
    if ((left >= 0)) {
      low = Math.min(here, ((x.at(left) + this.widths.at(left)) + this.apart(left, item)));
    }
    if ((right >= 0)) {
      high = Math.max(here, (x.at(right) - this.apart(right, item)));
    }
    return [y, low, high];
  }
  apart(other, item) {
    return beside((1 + (other >= this.first)), (this.thick.at(other) + this.thick.at(item)), this.gaps);
  }
  keep(waypoints, windows, bends_) {
    let number, index, y, _, start, top, end, bottom;
    number = 1;
    for ([index, [y, _, _]] of py_enumerate(windows)) {
      while ((bends_.at(number)[1] < y)) {
        number += 1;
      }
      [[start, top], [end, bottom]] = [bends_.at((number - 1)), bends_.at(number)];
      this.at.at(py_mod(index, 2))[waypoints.at(Math.floor(index / 2))] = (start + Math.floor(((end - start) * (y - top)) / (bottom - top)));
    }
  }
}
function beside(lines, thick, gaps) {
  return (((lines === 1) ? gaps.box : gaps.edge) + Math.floor((thick + 19) / 20));
}
function exits(chains, ends, widths) {
  let starts, chain, start, _, room, item, leaving, places, middles, lows, highs;
  starts = new Map();
  for ([chain, [start, _]] of py_zip(chains, ends)) {
    py_setdefault(starts, chain[0], new Set()).add(start);
  }
  room = new TupleMap();
  for ([item, leaving] of starts.entries()) {
    places = py_sorted(leaving);
    middles = (() => { const out = []; for (const [before, after] of py_pairwise(places)) { out.push(Math.floor((before + after) / 2)); } return out; })();
    [lows, highs] = [[Math.min(0, places[0]), ...middles], [...middles, Math.max(widths.at(item), places.at(-1))]];
    py_update(room, (() => { const out = []; for (const [x, low, high] of py_zip(places, lows, highs)) { out.push([[item, x], [low, high]]); } return out; })());
  }
  return (() => { const out = []; for (const [chain, [start, _]] of py_zip(chains, ends)) { out.push(room.get([chain[0], start])); } return out; })();
}
function funnel(windows) {
  let top, x, _, bends_, left, right, number, fresh, y, low, high, down, aside_;
  [top, x, _] = windows[0];
  bends_ = [[x, top]];
  left = [0, 0, 0];
  right = left;
  [number, fresh] = [1, true];
  while ((number < windows.length)) {
    [y, low, high] = windows.at(number);
    [down, low, high] = [(y - top), (low - x), (high - x)];
    if (fresh) {
      [left, right, fresh] = [[low, down, number], [high, down, number], false];
    }
    else {
      if ((((high * left[1]) < (left[0] * down)) || ((low * right[1]) > (right[0] * down)))) {
        [aside_, down, number] = (((high * left[1]) < (left[0] * down)) ? left : right);
        [x, top, fresh] = [(x + aside_), (top + down), true];
        bends_.push([x, top]);
      }
      else {
        left = (((low * left[1]) >= (left[0] * down)) ? [low, down, number] : left);
        right = (((high * right[1]) <= (right[0] * down)) ? [high, down, number] : right);
      }
    }
    number += 1;
  }
  bends_.push([windows.at(-1)[1], windows.at(-1)[0]]);
  return bends_;
}

// place.breaks
const STEP = 12;
const BESIDE_of_breaks = 20;
const TURN = 26;
function joints(skeleton, chains) {
  let passing, place_, wire, chain, part, rank_, number, break_;
  passing = (() => { const out = []; for (const broken_ of skeleton.breaks) { out.push((() => { const out = []; for (const _ of broken_) { out.push([]); } return out; })()); } return out; })();
  if (!passing.length) {
    return [];
  }
  place_ = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
  for ([wire, chain] of py_enumerate(chains)) {
    [part, rank_] = place_.get(chain[0]);
    for ([number, break_] of py_enumerate(skeleton.breaks.at(part))) {
      if (((rank_ < break_) && (break_ < (rank_ + chain.length)))) {
        passing.at(part).at(number).push([wire, ((break_ - rank_) - 1)]);
      }
    }
  }
  return passing;
}
function side_by_side(skeleton, layers, lefts, widths, between) {
  let p, passing, ends, left, head_, number, first_, last, rows, low, high, top, row, item, r, lines;
  for ([p, passing] of py_enumerate(between)) {
    ends = [0, ...skeleton.breaks.at(p), skeleton.parts.at(p).length];
    left = 0;
    head_ = left;
    for ([number, [first_, last]] of py_enumerate(py_pairwise(ends))) {
      rows = skeleton.parts.at(p).slice(first_, last);
      low = py_min((() => { const out = []; for (const row of rows) { out.push(lefts.at(row[0])); } return out; })());
      high = py_max((() => { const out = []; for (const row of rows) { out.push((lefts.at(row.at(-1)) + widths.at(row.at(-1)))); } return out; })());
      top = layers.at(p).at(first_).top;
      for (row of rows) {
        for (item of row) {
          lefts[item] += (left - low);
        }
      }
      for (r of py_range(first_, last)) {
        layers.at(p).at(r).move((head_ - top));
      }
      if ((number < passing.length)) {
        lines = passing.at(number).length;
        left += (((high - low) + (2 * BESIDE_of_breaks)) + ((lines - 1) * STEP));
        head_ = (TURN + (lines * STEP));
      }
    }
  }
  return (() => { const out = []; for (const [p, bands] of py_enumerate(layers)) { out.push(height(bands, p, skeleton, between)); } return out; })();
}
function height(bands, part, skeleton, between) {
  let tall, number, break_;
  tall = (bands.length ? bands.at(-1).bottom : 0);
  if (between.length) {
    for ([number, break_] of py_enumerate(skeleton.breaks.at(part))) {
      tall = Math.max(tall, ((bands.at((break_ - 1)).bottom + TURN) + (between.at(part).at(number).length * STEP)));
    }
  }
  return tall;
}
function detours(skeleton, chains, ends, layers, lefts, widths, between) {
  let around, p, passing, starts, number, lines, break_, rows, right, leave, turn, x, joint_, foot, head_, lane_, goal;
  around = new TupleMap();
  for ([p, passing] of py_enumerate(between)) {
    starts = [0, ...skeleton.breaks.at(p)];
    for ([number, lines] of py_enumerate(passing)) {
      break_ = skeleton.breaks.at(p).at(number);
      rows = skeleton.parts.at(p).slice(starts.at(number), break_);
      right = py_max((() => { const out = []; for (const row of rows) { out.push((lefts.at(row.at(-1)) + widths.at(row.at(-1)))); } return out; })());
      leave = (() => { const out = []; for (const joint_ of lines) { out.push([across(joint_, 0, chains, ends, lefts), joint_]); } return out; })();
      py_sort(leave);
      for ([turn, [x, joint_]] of py_enumerate(py_reversed(leave))) {
        foot = ((layers.at(p).at((break_ - 1)).bottom + TURN) + (turn * STEP));
        head_ = ((layers.at(p).at(break_).top - TURN) - (((lines.length - 1) - turn) * STEP));
        [lane_, goal] = [((right + BESIDE_of_breaks) + (turn * STEP)), across(joint_, 1, chains, ends, lefts)];
        around.set(joint_, [[x, foot], [lane_, foot], [lane_, head_], [goal, head_]]);
      }
    }
  }
  return around;
}
function across(joint_, end, chains, ends, lefts) {
  let wire, step, chain, item;
  [wire, step] = joint_;
  chain = chains.at(wire);
  item = chain.at((step + end));
  if ((!step && !end)) {
    return (lefts.at(item) + ends.at(wire)[0]);
  }
  if (((step === (chain.length - 2)) && end)) {
    return (lefts.at(item) + ends.at(wire)[1]);
  }
  return lefts.at(item);
}

// place.columns
const ROUNDS_of_columns = 1;
const LARGE_of_columns = 150000;
const POOL = 64;
const FAR_of_columns = (1 * 2 ** 40);
function columns(parts, widths, between, above, below_, lane_ = []) {
  let x, room, both, ranks_, distances_, starts, down, up, large, _, r, paths, path;
  x = py_repeat([0], widths.length);
  room = new RankNeighbours(widths.length);
  both = (() => { const out = []; for (const [up, down] of py_zip(above, below_)) { out.push([...up, ...down]); } return out; })();
  for ([ranks_, distances_] of py_zip(parts, between)) {
    starts = pack(ranks_, widths, distances_, x);
    if ((ranks_.length < 2)) {
      continue;
    }
    room.enter(ranks_, distances_);
    [down, up] = [py_range(ranks_.length), py_range((ranks_.length - 2), -1, -1)];
    large = (py_sum(py_map(py_len, ranks_)) > LARGE_of_columns);
    for (_ of py_range((large ? 1 : ROUNDS_of_columns))) {
      for (r of down.slice(1)) {
        settle(ranks_.at(r), starts.at(r), x, above);
      }
      for (r of up) {
        settle(ranks_.at(r), starts.at(r), x, below_);
      }
    }
    paths = (() => { const out = []; for (const path of straight_paths(ranks_, above, below_)) if (!(() => { for (const item of path) { if (py_in(item, lane_)) return true; } return false; })()) { out.push(path); } return out; })();
    for (path of paths) {
      straighten(path, x, above, below_, room);
    }
    if (large) {
      continue;
    }
    for (r of [...down, ...up]) {
      settle(ranks_.at(r), starts.at(r), x, both);
    }
    for (path of paths) {
      straighten(path, x, above, below_, room);
    }
  }
  return x;
}
function pack(ranks_, widths, between, x) {
  let starts, row, steps, start, step, middle, item, left;
  starts = [];
  for ([row, steps] of py_zip(ranks_, between)) {
    start = [0];
    for (step of steps) {
      start.push((start.at(-1) + step));
    }
    starts.push(start);
    middle = Math.floor((start.at(-1) + widths.at(row.at(-1))) / 2);
    for ([item, left] of py_zip(row, start)) {
      x[item] = (left - middle);
    }
  }
  return starts;
}
class RankNeighbours {
  constructor(count) {
    [this.left, this.right] = [py_repeat([-1], count), py_repeat([-1], count)];
    [this.before, this.after] = [py_repeat([0], count), py_repeat([0], count)];
  }
  enter(ranks_, between) {
    let row, steps, last, item, step;
    for ([row, steps] of py_zip(ranks_, between)) {
      last = row[0];
      for ([item, step] of py_zip(row.slice(1), steps)) {
        [this.left[item], this.before[item]] = [last, step];
        [this.right[last], this.after[last]] = [item, step];
        last = item;
      }
    }
  }
}
function straight_paths(ranks_, above, below_) {
  let paths, row, item, up, path;
  paths = [];
  for (row of ranks_) {
    for (item of row) {
      up = above.at(item);
      if (((up.length > 1) || (below_.at(item).length > 1) || (up.length && thin(up[0][0], above, below_)))) {
        continue;
      }
      path = [item];
      while ((below_.at(path.at(-1)).length && thin(below_.at(path.at(-1))[0][0], above, below_))) {
        path.push(below_.at(path.at(-1))[0][0]);
      }
      if ((up.length || below_.at(item).length)) {
        paths.push(path);
      }
    }
  }
  return paths;
}
function thin(item, above, below_) {
  return ((above.at(item).length < 2) && (below_.at(item).length < 2));
}
function straighten(path, x, above, below_, room) {
  let low, high, offset, run, up, down, goal, item, left, right, least_, most_, end;
  [low, high, offset] = [-FAR_of_columns, FAR_of_columns, 0];
  run = [];
  [up, down] = [above.at(path[0]), below_.at(path.at(-1))];
  goal = (up.length ? (x.at(up[0][0]) + up[0][1]) : null);
  for (item of path) {
    if (run.length) {
      offset += above.at(item)[0][1];
    }
    [left, right] = [room.left.at(item), room.right.at(item)];
    least_ = ((left >= 0) ? ((x.at(left) + room.before.at(item)) - offset) : -FAR_of_columns);
    most_ = ((right >= 0) ? ((x.at(right) - room.after.at(item)) - offset) : FAR_of_columns);
    if (((least_ > high) || (most_ < low))) {
      goal = put(run, ((goal != null) ? goal : (x.at(run.at(-1)[0]) - run.at(-1)[1])), low, high, x);
      [run, low, high] = [[], -FAR_of_columns, FAR_of_columns];
    }
    if ((least_ > low)) {
      low = least_;
    }
    if ((most_ < high)) {
      high = most_;
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
  put(run, goal, low, high, x);
}
function put(run, goal, low, high, x) {
  let item, offset;
  goal = Math.min(Math.max(goal, low), high);
  for ([item, offset] of run) {
    x[item] = (goal + offset);
  }
  return goal;
}
function settle(row, start, x, links_) {
  let first_, wishes, places, number, item, shift, place_, wish, begin, pool;
  first_ = [];
  wishes = [];
  places = [];
  for ([number, item] of py_enumerate(row)) {
    shift = start.at(number);
    if (links_.at(item).length) {
      [place_, wish] = wished(links_.at(item), x, shift);
    }
    else {
      place_ = (x.at(item) - shift);
      wish = [[place_, 1]];
    }
    begin = number;
    while ((places.length && (places.at(-1) > place_))) {
      begin = py_pop(first_);
      py_pop(places);
      py_extend(wish, py_pop(wishes));
      py_sort(wish);
      place_ = median_of_columns(wish);
      if ((wish.length > POOL)) {
        wish = [[place_, py_sum((() => { const out = []; for (const [_, weight] of wish) { out.push(weight); } return out; })())]];
      }
    }
    first_.push(begin);
    wishes.push(wish);
    places.push(place_);
  }
  first_.push(row.length);
  for ([pool, place_] of py_enumerate(places)) {
    for (number of py_range(first_.at(pool), first_.at((pool + 1)))) {
      x[row.at(number)] = (place_ + start.at(number));
    }
  }
}
function wished(near_, x, shift) {
  let other, offset, weight, place_, first_, second, aside_, heavy, end, wish;
  if ((near_.length === 1)) {
    [other, offset, weight] = near_[0];
    place_ = ((x.at(other) + offset) - shift);
    return [place_, [[place_, weight]]];
  }
  if ((near_.length === 2)) {
    [[first_, offset, weight], [second, aside_, heavy]] = near_;
    [place_, end] = [((x.at(first_) + offset) - shift), ((x.at(second) + aside_) - shift)];
    wish = ((place_ < end) ? [[place_, weight], [end, heavy]] : [[end, heavy], [place_, weight]]);
    return [((weight === heavy) ? Math.floor((place_ + end) / 2) : ((heavy > weight) ? end : place_)), wish];
  }
  wish = (() => { const out = []; for (const [other, offset, weight] of near_) { out.push([((x.at(other) + offset) - shift), weight]); } return out; })();
  py_sort(wish);
  return [median_of_columns(wish), wish];
}
function median_of_columns(wishes) {
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

// place.tracks
const FLAT = 48;
const MOST_of_tracks = 96;
const WHITE = 4;
const CLIMB = 6;
const JOG = 11;
const SHORT = 36;
const BESIDE_of_tracks = 10;
const FAR_of_tracks = (1 * 2 ** 40);
class Hop {
  constructor(wire, step, start, end, thick, late = 0, early = 0) {
    this.wire = wire;
    this.step = step;
    this.start = start;
    this.end = end;
    this.thick = thick;
    this.late = late;
    this.early = early;
  }
  get aside() {
    return Math.abs((this.end - this.start));
  }
  get climb() {
    return (!this.aside ? 1 : ((this.aside < SHORT) ? JOG : CLIMB));
  }
}
function give_tracks(hops) {
  let way, running, reach_, track, last, hop;
  for (way of [1, -1]) {
    running = (() => { const out = []; for (const hop of hops) if ((((hop.end - hop.start) * way) > 0)) { out.push(hop); } return out; })();
    py_sort(running, {key: (hop) => [(hop.start * way), (hop.end * way), hop.wire]});
    [reach_, track, last] = [-FAR_of_tracks, 0, 0];
    for (hop of running) {
      track = (((hop.start * way) < reach_) ? Math.min(MOST_of_tracks, (track + apart(last, hop))) : 0);
      [reach_, last] = [Math.max(reach_, (hop.end * way)), ((hop.aside > FLAT) ? hop.thick : 0)];
      hop.early = track;
    }
    py_sort(running, {key: (hop) => [(-hop.end * way), (-hop.start * way), hop.wire]});
    [reach_, track, last] = [FAR_of_tracks, 0, 0];
    for (hop of running) {
      track = (((hop.end * way) > reach_) ? Math.min(MOST_of_tracks, (track + apart(last, hop))) : 0);
      [reach_, last] = [Math.min(reach_, (hop.start * way)), ((hop.aside > FLAT) ? hop.thick : 0)];
      hop.late = track;
    }
  }
}
function apart(last, hop) {
  return ((last && (hop.aside > FLAT)) ? (WHITE + Math.floor(((last + hop.thick) + 19) / 20)) : 0);
}
function is_shut_in(wire, hops, wide) {
  let own, reach_, starts, ends;
  own = (() => { const out = []; for (const hop of hops) if ((hop.wire === wire)) { out.push(hop.end); } return out; })();
  reach_ = (wide + BESIDE_of_tracks);
  if (!own.length) {
    return false;
  }
  starts = (() => { const out = []; for (const hop of hops) if ((hop.wire !== wire)) { out.push((hop.start - own[0])); } return out; })();
  ends = (() => { const out = []; for (const hop of hops) if ((hop.wire !== wire)) { out.push((hop.end - own[0])); } return out; })();
  return (() => { for (const off of [starts, ends]) { if (((() => { for (const x of off) { if (((-reach_ < x) && (x < 0))) return true; } return false; })() && (() => { for (const x of off) { if (((0 < x) && (x < reach_))) return true; } return false; })())) return true; } return false; })();
}
function is_crossed(wire, hops) {
  let own;
  own = (() => { const out = []; for (const hop of hops) if ((hop.wire === wire)) { out.push(hop.end); } return out; })();
  return (!!own.length && (() => { for (const hop of hops) { if ((((hop.start - own[0]) * (hop.end - own[0])) < 0)) return true; } return false; })());
}
function gap_height(hops, after, before, spare, gaps) {
  let far, usual;
  far = py_max((() => { const out = []; for (const hop of hops) { out.push(hop.aside); } return out; })(), {default: 0});
  usual = (Math.max(gaps.ranks, Math.min(gaps.most, (12 + Math.floor(far / 6)))) - spare);
  return Math.max(usual, ((after + before) + py_max((() => { const out = []; for (const hop of hops) { out.push(((hop.late + hop.early) + hop.climb)); } return out; })(), {default: 1})));
}

// place.steep
const MANY_of_steep = 40;
const RUN = 30;
const CORNER_of_steep = 12;
function cross_steeply(hops, height_) {
  let flat, hop, outer, others, best_, away, top, bottom, side_, shift, run, _;
  flat = py_sorted((() => { const out = []; for (const hop of hops) if ((hop.aside > FLAT)) { out.push(hop); } return out; })(), {key: (hop) => [-hop.aside, hop.wire]});
  if ((flat.length > MANY_of_steep)) {
    return;
  }
  for (hop of flat) {
    outer = parallel_around(hop, flat);
    if ((outer == null)) {
      continue;
    }
    others = (() => { const out = []; for (const other of flat) if ((other !== hop)) { out.push(other); } return out; })();
    best_ = [near(hop, [hop.late, (height_ - hop.early)], others, height_), 0, hop.late, hop.early];
    away = apart(outer.thick, hop);
    [top, bottom] = [below(outer, hop.start, height_), below(outer, hop.end, height_)];
    for ([side_, shift] of [[1, -away], [2, away]]) {
      run = [(top + shift), (bottom + shift)];
      if (((0 <= run[0]) && (run[0] < run[1]) && (run[1] <= height_))) {
        best_ = py_min([best_, [near(hop, run, others, height_), side_, run[0], (height_ - run[1])]]);
      }
    }
    [_, _, hop.late, hop.early] = best_;
  }
}
function parallel_around(hop, flat) {
  let way, crossing;
  way = ((hop.end > hop.start) ? 1 : -1);
  crossing = (() => { const out = []; for (const other of flat) if (((((other.start - hop.start) * way) < 0) && (0 < ((other.end - hop.end) * way)))) { out.push(other); } return out; })();
  return py_min(crossing, {key: (other) => [other.aside, other.wire], default: null});
}
function below(hop, x, height_) {
  return (hop.late + Math.floor((((height_ - hop.late) - hop.early) * Math.abs((x - hop.start))) / hop.aside));
}
function near(hop, run, others, height_) {
  let moved_;
  moved_ = new Hop(hop.wire, hop.step, hop.start, hop.end, hop.thick, run[0], (height_ - run[1]));
  return py_sum((() => { const out = []; for (const other of others) { out.push(nearness(moved_, other, height_)); } return out; })());
}
function nearness(first_hop, second_hop, height_) {
  let low, high, first_, last, same;
  low = (Math.max(Math.min(first_hop.start, first_hop.end), Math.min(second_hop.start, second_hop.end)) + CORNER_of_steep);
  high = (Math.min(Math.max(first_hop.start, first_hop.end), Math.max(second_hop.start, second_hop.end)) - CORNER_of_steep);
  if (((high - low) < RUN)) {
    return 0;
  }
  first_ = (below(first_hop, low, height_) - below(second_hop, low, height_));
  last = (below(first_hop, high, height_) - below(second_hop, high, height_));
  same = ((first_hop.end > first_hop.start) === (second_hop.end > second_hop.start));
  if (((first_ * last) <= 0)) {
    return (same ? 1 : 0);
  }
  return ((Math.min(Math.abs(first_), Math.abs(last)) < apart(second_hop.thick, first_hop)) ? 2 : 0);
}

// place.corners
const CUT = 12;
const CLOSE = 10;
const TANGENT = 1233;
const UNIT = 1000;
function blunt(points, first_, last) {
  let result_, fresh, number, before, corner, after, reach_, run, enter, leave, previous;
  result_ = [points[0]];
  fresh = false;
  for (number of py_range(1, (points.length - 1))) {
    [before, corner, after] = [points.at((number - 1)), points.at(number), points.at((number + 1))];
    if (!sharp(before, corner, after)) {
      result_.push(corner);
      fresh = false;
      continue;
    }
    reach_ = (16 * CUT);
    run = sixteenths_apart(before, corner);
    reach_ = Math.min(reach_, ((number === 1) ? (run - (16 * first_)) : Math.floor(run / 2)));
    run = sixteenths_apart(corner, after);
    reach_ = Math.min(reach_, ((number === (points.length - 2)) ? (run - (16 * last)) : Math.floor(run / 2)));
    if ((reach_ <= 0)) {
      result_.push(corner);
      fresh = false;
      continue;
    }
    [enter, leave] = [towards(corner, before, reach_), towards(corner, after, reach_)];
    if ((fresh && (sixteenths_apart(result_.at(-1), enter) < (16 * CLOSE)))) {
      previous = py_pop(result_);
      enter = [Math.floor((previous[0] + enter[0]) / 2), Math.floor((previous[1] + enter[1]) / 2)];
    }
    py_extend(result_, [enter, leave]);
    fresh = true;
  }
  result_.push(points.at(-1));
  return result_;
}
function sharp(a, b, c) {
  let along, across_;
  along = (((b[0] - a[0]) * (c[0] - b[0])) + ((b[1] - a[1]) * (c[1] - b[1])));
  across_ = (((b[0] - a[0]) * (c[1] - b[1])) - ((b[1] - a[1]) * (c[0] - b[0])));
  return ((along <= 0) || (((UNIT * across_) * across_) > ((TANGENT * along) * along)));
}
function sixteenths_apart(a, b) {
  let dx, dy;
  [dx, dy] = [(b[0] - a[0]), (b[1] - a[1])];
  return py_isqrt((256 * ((dx * dx) + (dy * dy))));
}
function towards(start, goal, distance) {
  let whole_, dx, dy;
  whole_ = sixteenths_apart(start, goal);
  if (!whole_) {
    return start;
  }
  [dx, dy] = [(goal[0] - start[0]), (goal[1] - start[1])];
  return [(start[0] + Math.floor((((2 * dx) * distance) + whole_) / (2 * whole_))), (start[1] + Math.floor((((2 * dy) * distance) + whole_) / (2 * whole_)))];
}

// place.routes
const SLANT = 14;
const HEAD = 80;
const GROWN = 128;
function head_length(thick) {
  return Math.floor((Math.min(GROWN, (HEAD + Math.floor((16 * (thick - 10)) / 10))) + 9) / 10);
}
function bands_of_routes(part, heights, ends, hops, labelled, gaps) {
  let result_, top, r, row, before, after, ports, height_, room, bottom;
  result_ = [];
  top = 0;
  for ([r, row] of py_enumerate(part)) {
    [before, after] = ends.at(r);
    if (r) {
      ports = !(result_.at(-1).after && before);
      height_ = gap_height(hops.at((r - 1)), result_.at(-1).after, before, (ports ? gaps.beyond : 0), gaps);
      room = py_get(labelled, (r - 1), -1);
      top += Math.max((height_ + Math.max(room, 0)), (((room >= 0) && !ports) ? gaps.labelled : 0));
    }
    bottom = (top + py_max((() => { const out = []; for (const item of row) { out.push((heights.at(item) + py_mod(heights.at(item), 2))); } return out; })()));
    result_.push(new Band(top, bottom, before, after));
    top = bottom;
  }
  return result_;
}
function routes(skeleton, chains, ends, hops, strokes, corridors, tops, heights, band_, around) {
  let result_, lefts, gaps, rooms, wire, chain, bends_, passed, upper, lower, out, on, begin, stop, windows, below_, slants, number, turns, x, foot, goal, head_, item, near_, above, thick;
  result_ = [];
  [lefts, gaps] = [corridors.at[0], corridors.gaps];
  rooms = exits(chains, ends, corridors.widths);
  for ([wire, chain] of py_enumerate(chains)) {
    bends_ = [];
    passed = [];
    [upper, lower] = [chain[0], chain.at(-1)];
    [out, on] = [free_run(0, upper, skeleton, gaps), free_run(1, lower, skeleton, gaps)];
    begin = [(lefts.at(upper) + ends.at(wire)[0]), ((tops.at(upper) + heights.at(upper)) - out)];
    stop = [(lefts.at(lower) + ends.at(wire)[1]), (tops.at(lower) + on)];
    windows = [[begin[1], begin[0], begin[0]]];
    below_ = (((band_.get(upper).bottom + band_.get(upper).after) + hops.at(wire)[0].late) - out);
    if (((below_ > begin[1]) && !around.has([wire, 0]))) {
      slants = ((Number(strokes.at(wire).tip) !== Number(skeleton.wires.at(wire).turned)) && (hops.at(wire)[0].aside <= FLAT));
      windows.push(first_window(begin, below_, lefts.at(upper), (slants ? rooms.at(wire) : null)));
    }
    for (number of py_range(1, chain.length)) {
      turns = py_get(around, [wire, (number - 1)]);
      if (py_truth(turns)) {
        [[x, foot], [goal, head_]] = [turns[0], turns[3]];
        py_extend(bends_, [...shortest(corridors, [...windows, [foot, x, x]], passed), turns[1], turns[2]]);
        [windows, passed] = [[[head_, goal, goal]], []];
      }
      if ((number === (chain.length - 1))) {
        break;
      }
      item = chain.at(number);
      passed.push(item);
      near_ = [hops.at(wire).at((number - 1)).early, hops.at(wire).at(number).late];
      py_extend(windows, beside_rank(corridors, item, band_.get(item), near_, turns, py_get(around, [wire, number])));
    }
    above = (((band_.get(lower).top - band_.get(lower).before) - hops.at(wire).at(-1).early) + on);
    windows.push([Math.max(above, (windows.at(-1)[0] + 1)), stop[0], stop[0]]);
    py_extend(bends_, shortest(corridors, windows, passed));
    thick = py_max([strokes.at(wire).thick, ...(() => { const out = []; for (const item of chain.slice(1, -1)) { out.push(corridors.thick.at(item)); } return out; })(), 0]);
    result_.push(finished([...bends_, stop], wire, skeleton, thick, strokes.at(wire).tip, gaps));
  }
  return result_;
}
function first_window(begin, below_, left, room) {
  let slant;
  if ((room == null)) {
    return [below_, begin[0], begin[0]];
  }
  slant = Math.floor((SLANT * (below_ - begin[1])) / 10);
  return [below_, Math.max((left + room[0]), (begin[0] - slant)), Math.min((left + room[1]), (begin[0] + slant))];
}
function beside_rank(corridors, item, here, near_, before, after) {
  let top, bottom;
  top = ((here.top - here.before) - near_[0]);
  bottom = ((here.bottom + here.after) + near_[1]);
  if (py_truth(before)) {
    top = Math.max(top, (before[3][1] + 1));
  }
  if (py_truth(after)) {
    bottom = Math.min(bottom, (after[0][1] - 1));
  }
  return [corridors.window(item, 0, top), corridors.window(item, 1, bottom)];
}
function shortest(corridors, windows, passed) {
  let bends_;
  bends_ = funnel(windows);
  corridors.keep(passed, windows.slice(((windows.length - 1) - (2 * passed.length)), -1), bends_);
  return bends_;
}
function finished(points, wire, skeleton, thick, tip_, gaps) {
  let drawn, ends, far, head_, first_, last, line;
  drawn = skeleton.wires.at(wire);
  ends = (drawn.turned ? py_reversed(drawn.chain) : drawn.chain);
  if ((ends[0] >= skeleton.children)) {
    far = ((gaps.beyond + gaps.bar[0]) - free_run(0, ends[0], skeleton, gaps));
    py_insert(points, 0, [points[0][0], (points[0][1] - far)]);
  }
  if ((ends.at(-1) >= skeleton.children)) {
    far = ((gaps.beyond + gaps.bar[1]) - free_run(1, ends.at(-1), skeleton, gaps));
    points.push([points.at(-1)[0], (points.at(-1)[1] + far)]);
  }
  head_ = (head_length(thick) + 1);
  [first_, last] = (() => { const out = []; for (const end of (drawn.turned ? [1, 0] : [0, 1])) { out.push(((tip_ === end) ? head_ : 1)); } return out; })();
  line = blunt(straightened(points), first_, last);
  return [...(drawn.turned ? py_reversed(line) : line)];
}
function free_run(end, item, skeleton, gaps) {
  return (((item >= skeleton.children) && gaps.bar.at(end)) ? gaps.beyond : 0);
}

// place.strips
const ASLANT = 24;
function strips(skeleton, chains, heights, passing, strokes, gaps) {
  let place_, labelled, straight_, made_, p, part_rows, ends, strip, hops, band_, following;
  place_ = ranks_of(skeleton);
  labelled = rooms_for_labels(skeleton, chains, place_, passing, strokes);
  straight_ = straight_ends(skeleton, chains, place_, passing, strokes, gaps);
  made_ = [];
  for ([p, part_rows] of py_enumerate(skeleton.parts)) {
    ends = (() => { const out = []; for (const [r, row] of py_enumerate(part_rows)) { out.push((((skeleton.children <= row[0]) && (row[0] < skeleton.first_waypoint)) ? [0, 0] : straight_.at(p).at(r))); } return out; })();
    strip = bands_of_routes(part_rows, heights, ends, passing.at(p), labelled.at(p), gaps);
    for ([hops, [band_, following]] of py_zip(passing.at(p), py_pairwise(strip))) {
      cross_steeply(hops, (((following.top - following.before) - band_.bottom) - band_.after));
    }
    made_.push(strip);
  }
  return made_;
}
function rooms_for_labels(skeleton, chains, place_, passing, strokes) {
  let labelled, main, wire, chain, stroke, part, rank_, more, slants;
  labelled = (() => { const out = []; for (const _ of skeleton.parts) { out.push(new Map()); } return out; })();
  main = new Set(skeleton.spine);
  for ([wire, chain] of py_enumerate(chains)) {
    stroke = strokes.at(wire);
    [part, rank_] = place_.get(chain[0]);
    if (((chain.length === 2) && stroke.label[1])) {
      more = (main.has(wire) ? beside_main(wire, stroke.label, passing.at(part).at(rank_)) : 0);
      labelled.at(part).set(rank_, Math.max(py_get(labelled.at(part), rank_, 0), more));
    }
    slants = stroke.room[1];
    if (slants) {
      labelled.at(part).set(rank_, Math.max(py_get(labelled.at(part), rank_, 0), slants));
    }
  }
  return labelled;
}
function straight_ends(skeleton, chains, place_, passing, strokes, gaps) {
  let heads, straight_, wire, chain, stroke, part, rank_, top, _, bottom, late, final, upper, room, p, part_gaps, r, hops;
  heads = (() => { const out = []; for (const part of skeleton.parts) { out.push((() => { const out = []; for (const _ of part) { out.push([gaps.box, gaps.box]); } return out; })()); } return out; })();
  straight_ = (() => { const out = []; for (const part of skeleton.parts) { out.push((() => { const out = []; for (const _ of part) { out.push([0, 0]); } return out; })()); } return out; })();
  for ([wire, chain] of py_enumerate(chains)) {
    stroke = strokes.at(wire);
    [part, rank_] = place_.get(chain[0]);
    [top, _, bottom, late] = stroke.room;
    straight_.at(part).at(rank_)[1] = Math.max(straight_.at(part).at(rank_)[1], top);
    straight_.at(part).at((rank_ + 1))[0] = Math.max(straight_.at(part).at((rank_ + 1))[0], bottom);
    final = ((rank_ + chain.length) - 2);
    straight_.at(part).at(final)[1] = Math.max(straight_.at(part).at(final)[1], late);
    if ((stroke.tip >= 0)) {
      upper = (Number(stroke.tip) === Number(skeleton.wires.at(wire).turned));
      room = heads.at(part).at((upper ? rank_ : ((rank_ + chain.length) - 1)));
      room[Number(upper)] = Math.max(room.at(Number(upper)), (head_length(stroke.thick) + gaps.straight));
    }
  }
  for ([p, part_gaps] of py_enumerate(passing)) {
    for ([r, hops] of py_enumerate(part_gaps)) {
      if ((() => { for (const hop of hops) { if ((hop.aside > FLAT)) return true; } return false; })()) {
        heads.at(p).at(r)[1] = Math.max(heads.at(p).at(r)[1], gaps.start);
      }
    }
  }
  return (() => { const out = []; for (const [part_heads, runs] of py_zip(heads, straight_)) { out.push((() => { const out = []; for (const [head_, run] of py_zip(part_heads, runs)) { out.push([(head_[0] + run[0]), (head_[1] + run[1])]); } return out; })()); } return out; })();
}
function beside_main(wire, label_, hops) {
  let across_, along, lies;
  [across_, along] = label_;
  lies = (along > across_);
  if ((is_shut_in(wire, hops, across_) || (lies && is_crossed(wire, hops)))) {
    return (along + (lies ? ASLANT : 0));
  }
  return 0;
}
function ranks_of(skeleton) {
  return (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
}

// place.coordinates
const PLAIN = new Stroke();
const LANE = 11;
function coordinates(skeleton, sizes, gaps = null, anchors_ = null, strokes = null) {
  let drawn, chains, ends, widths, heights, thick, above, below_, steps, lefts, wires, passing, layers, between, tall, width, height_, around, band_, tops, corridors, lines;
  gaps = (gaps || new Gaps());
  drawn = (() => { const out = []; for (const wire of py_range(skeleton.wires.length)) { out.push(py_get(py_or(strokes, () => new Map()), wire, PLAIN)); } return out; })();
  chains = downward(skeleton);
  ends = ((anchors_ == null) ? attach(skeleton, chains, sizes, gaps) : anchored(skeleton, anchors_));
  [widths, heights] = extents(skeleton, sizes);
  thick = thicknesses(skeleton, drawn);
  [above, below_] = links(skeleton, chains, ends, widths.length);
  steps = (() => { const out = []; for (const part of skeleton.parts) { out.push((() => { const out = []; for (const row of part) { out.push(distances(row, skeleton, widths, thick, gaps)); } return out; })()); } return out; })();
  lefts = columns(skeleton.parts, widths, steps, above, below_, lane(skeleton));
  flush_left(skeleton, lefts);
  [wires, passing] = hops_of(skeleton, chains, ends, lefts, drawn);
  layers = strips(skeleton, chains, heights, passing, drawn, gaps);
  between = joints(skeleton, chains);
  tall = side_by_side(skeleton, layers, lefts, widths, between);
  [width, height_] = shelve(skeleton, layers, lefts, widths, tall, gaps);
  around = detours(skeleton, chains, ends, layers, lefts, widths, between);
  band_ = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, layers.at(p).at(r)); } return out; })();
  tops = centred_of_coordinates(band_, heights);
  corridors = new Corridors(skeleton, lefts, widths, thick, gaps);
  lines = routes(skeleton, chains, ends, wires, drawn, corridors, tops, heights, band_, around);
  return new LevelLayout([...(() => { const out = []; for (const child of py_range(skeleton.children)) { out.push([lefts.at(child), tops.at(child)]); } return out; })()], [...lefts.slice(skeleton.children, skeleton.first_waypoint)], [...lines], width, height_);
}
function centred_of_coordinates(band_, heights) {
  return (() => { const out = []; for (const [item, height_] of py_enumerate(heights)) { out.push((band_.has(item) ? (band_.get(item).middle - Math.floor(height_ / 2)) : 0)); } return out; })();
}
function anchored(skeleton, anchors_) {
  let ends;
  ends = (() => { const out = []; for (const wire of py_range(skeleton.wires.length)) { out.push([py_get(anchors_, [wire, 0], 0), py_get(anchors_, [wire, 1], 0)]); } return out; })();
  return (() => { const out = []; for (const [wire, end] of py_zip(skeleton.wires, ends)) { out.push((wire.turned ? py_reversed(end) : end)); } return out; })();
}
function thicknesses(skeleton, strokes) {
  let thick, wire, stroke, item;
  thick = py_repeat([0], (skeleton.first_waypoint + skeleton.waypoint.length));
  for ([wire, stroke] of py_zip(skeleton.wires, strokes)) {
    for (item of wire.chain) {
      if ((item >= skeleton.children)) {
        thick[item] = Math.max(thick.at(item), stroke.thick);
      }
    }
  }
  return thick;
}
function lane(skeleton) {
  return (() => { const out = new Set(); for (const wire of skeleton.spine) for (const item of skeleton.wires.at(wire).chain) { out.add(item); } return out; })();
}
function flush_left(skeleton, lefts) {
  let part, least_, row, item;
  for (part of skeleton.parts) {
    least_ = py_min((() => { const out = []; for (const row of part) { out.push(lefts.at(row[0])); } return out; })(), {default: 0});
    for (row of part) {
      for (item of row) {
        lefts[item] -= least_;
      }
    }
  }
}
function hops_of(skeleton, chains, ends, lefts, strokes) {
  let place_, known_, wires, passing, wire, chain, part, rank_, step, upper, lower, start, end, key, part_gaps, hops;
  place_ = ranks_of(skeleton);
  known_ = new TupleMap();
  wires = [];
  passing = (() => { const out = []; for (const part of skeleton.parts) { out.push((() => { const out = []; for (const _ of part.slice(1)) { out.push([]); } return out; })()); } return out; })();
  for ([wire, chain] of py_enumerate(chains)) {
    wires.push([]);
    [part, rank_] = place_.get(chain[0]);
    for (step of py_range((chain.length - 1))) {
      [upper, lower] = [chain.at(step), chain.at((step + 1))];
      start = (lefts.at(upper) + (!step ? ends.at(wire)[0] : 0));
      end = (lefts.at(lower) + ((step === (chain.length - 2)) ? ends.at(wire)[1] : 0));
      key = [upper, lower, start, end];
      if (!known_.has(key)) {
        known_.set(key, new Hop(wire, step, start, end, strokes.at(wire).thick));
        passing.at(part).at((rank_ + step)).push(known_.get(key));
      }
      known_.get(key).thick = Math.max(known_.get(key).thick, strokes.at(wire).thick);
      wires.at(wire).push(known_.get(key));
    }
  }
  for (part_gaps of passing) {
    for (hops of part_gaps) {
      give_tracks(hops);
    }
  }
  return [wires, passing];
}
function extents(skeleton, sizes) {
  let none;
  none = py_repeat([0], (skeleton.ports.length + skeleton.waypoint.length));
  return [[...(() => { const out = []; for (const [width, _] of sizes) { out.push(width); } return out; })(), ...none], [...(() => { const out = []; for (const [_, height_] of sizes) { out.push(height_); } return out; })(), ...none]];
}
function distances(row, skeleton, widths, thick, gaps) {
  let first_, result_, left, right, lines;
  first_ = skeleton.first_waypoint;
  result_ = [];
  for ([left, right] of py_pairwise(row)) {
    lines = ((left >= first_) + (right >= first_));
    result_.push((widths.at(left) + (lines ? beside(lines, (thick.at(left) + thick.at(right)), gaps) : gaps.siblings)));
  }
  return result_;
}
function links(skeleton, chains, ends, count) {
  let above, below_, first_, trunks, main, order, wire, chain, start, end, final, number, upper, lower, shift, weight;
  above = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  below_ = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  first_ = skeleton.first_waypoint;
  trunks = new TupleSet();
  main = new Set(skeleton.spine);
  order = [...skeleton.spine, ...(() => { const out = []; for (const wire of py_range(chains.length)) if (!main.has(wire)) { out.push(wire); } return out; })()];
  for (wire of order) {
    [chain, [start, end]] = [chains.at(wire), ends.at(wire)];
    final = (chain.length - 2);
    for (number of py_range((final + 1))) {
      [upper, lower] = [chain.at(number), chain.at((number + 1))];
      if (((upper >= first_) || (lower >= first_))) {
        if (trunks.has([upper, lower])) {
          continue;
        }
        trunks.add([upper, lower]);
      }
      shift = ((!number ? start : 0) - ((number === final) ? end : 0));
      weight = (main.has(wire) ? LANE : [1, 2, 8].at(((upper >= first_) + (lower >= first_))));
      above.at(lower).push([upper, shift, weight]);
      below_.at(upper).push([lower, -shift, weight]);
    }
  }
  return [above, below_];
}
function shelve(skeleton, layers, lefts, widths, tall, gaps) {
  let spans, origin, width, height_, top, shelf, left, deep, part, row, item, band_;
  spans = (() => { const out = []; for (const [part, high] of py_zip(skeleton.parts, tall)) { out.push([py_max((() => { const out = []; for (const row of part) { out.push((lefts.at(row.at(-1)) + widths.at(row.at(-1)))); } return out; })(), {default: 0}), high]); } return out; })();
  origin = 0;
  width = origin;
  height_ = origin;
  if ((skeleton.main >= 0)) {
    [width, height_] = spans.at(skeleton.main);
    origin = (width + gaps.parts);
  }
  top = 0;
  for (shelf of (gaps.upward ? py_reversed(skeleton.shelves) : skeleton.shelves)) {
    [left, deep] = [origin, 0];
    for (part of shelf) {
      for (row of skeleton.parts.at(part)) {
        for (item of row) {
          lefts[item] += left;
        }
      }
      for (band_ of layers.at(part)) {
        band_.move(top);
      }
      left += (spans.at(part)[0] + gaps.parts);
      deep = Math.max(deep, spans.at(part)[1]);
    }
    width = Math.max(width, (left - gaps.parts));
    height_ = Math.max(height_, (top + deep));
    top += (deep + gaps.parts);
  }
  if (((skeleton.main >= 0) && skeleton.ports.length && !skeleton.ports.at(-1).first)) {
    layers.at(skeleton.main).at(-1).move((height_ - layers.at(skeleton.main).at(-1).top));
  }
  return [width, height_];
}

// place.titles
const BAR = 24;
const LEFT = 12;
const RIGHT = 24;
const CLEAR = 8;
const BETWEEN = 8;
const MOST_of_titles = 240;
const BASE = 16;
class Title {
  constructor(texts, shift, width) {
    this.texts = texts;
    this.shift = shift;
    this.width = width;
  }
}
const NO_TITLE = new Title([], 0, 0);
function title(node, count, crossing, wide) {
  let name, end, shift, moved_, need, start, stop;
  name = elide(hand_clean(node.label), Math.max(MOST_of_titles, ((wide - LEFT) - RIGHT)), NODE_SIZE, true);
  end = (LEFT + hand_width(name, NODE_SIZE, true));
  shift = Math.max(0, ((end + CLEAR) - py_min(crossing, {default: (end + CLEAR)})));
  moved_ = py_sorted((() => { const out = []; for (const x of crossing) { out.push((x + shift)); } return out; })());
  wide = py_max([(wide + shift), (end + RIGHT), ...(() => { const out = []; for (const x of moved_) { out.push((x + RIGHT)); } return out; })()]);
  if (!count) {
    return new Title([_name(node, name)], shift, wide);
  }
  need = hand_width(count, SMALL_SIZE);
  if (!moved_.length) {
    wide = Math.max(wide, (((end + BETWEEN) + need) + RIGHT));
  }
  for ([start, stop] of _gaps((end + BETWEEN), moved_, wide)) {
    if (((stop - start) >= need)) {
      return new Title([_name(node, name), _count(count, start)], shift, wide);
    }
  }
  if (node.stacked) {
    start = (moved_.at(-1) + CLEAR);
    return new Title([_name(node, name), _count(count, start)], shift, Math.max(wide, ((start + need) + RIGHT)));
  }
  return new Title([_name(node, name)], shift, wide);
}
function _gaps(begin, crossing, wide) {
  let starts, stops;
  starts = [begin, ...(() => { const out = []; for (const x of crossing) { out.push((x + CLEAR)); } return out; })()];
  stops = [...(() => { const out = []; for (const x of crossing) { out.push((x - CLEAR)); } return out; })(), (wide - RIGHT)];
  return [...py_zip(starts, stops)];
}
function _name(node, name) {
  let wide;
  wide = hand_width(name, NODE_SIZE, true);
  return new Text(LEFT, BASE, name, node.full, NODE_SIZE, wide, "title", "start", true, undefined, true);
}
function _count(count, x) {
  return new Text(x, BASE, count, count, SMALL_SIZE, hand_width(count, SMALL_SIZE), "count", "start", undefined, undefined, true);
}

// place.rows
function in_rows(skeleton, sizes, gaps) {
  let count, rows, spans, width, top, positions_, row, span_, left, deep, box;
  count = skeleton.children;
  rows = (() => { const out = []; for (const part of skeleton.parts) for (const row of part) if ((row[0] < count)) { out.push(row); } return out; })();
  spans = (() => { const out = []; for (const row of rows) { out.push((py_sum((() => { const out = []; for (const box of row) { out.push(sizes.at(box)[0]); } return out; })()) + (gaps.siblings * (row.length - 1)))); } return out; })();
  [width, top] = [py_max(spans, {default: 0}), 0];
  positions_ = py_repeat([[0, 0]], count);
  for ([row, span_] of py_zip(rows, spans)) {
    left = Math.floor((width - span_) / 2);
    deep = py_max((() => { const out = []; for (const box of row) { out.push(sizes.at(box)[1]); } return out; })());
    for (box of row) {
      positions_[box] = [left, (top + Math.floor((deep - sizes.at(box)[1]) / 2))];
      left += (sizes.at(box)[0] + gaps.siblings);
    }
    top += (deep + gaps.ranks);
  }
  return new LevelLayout([...positions_], [...port_places(skeleton, width)], [], width, Math.max(0, (top - gaps.ranks)));
}
function port_places(skeleton, width) {
  let first_, places, index, slot, number, many;
  first_ = py_sum((() => { const out = []; for (const slot of skeleton.ports) { out.push(slot.first); } return out; })());
  places = [];
  for ([index, slot] of py_enumerate(skeleton.ports)) {
    [number, many] = (slot.first ? [index, first_] : [(index - first_), (skeleton.ports.length - first_)]);
    places.push(Math.floor((width * ((2 * number) + 1)) / (2 * many)));
  }
  return places;
}
function webs(view, frame, boxes, ports) {
  let count, ends_of, wire, chain, ends, item;
  count = view.skeleton.children;
  ends_of = new Map();
  for (wire of view.wires()) {
    chain = view.skeleton.wires.at(wire).chain;
    for ([ends, item] of py_zip(py_setdefault(ends_of, view.line(wire).kind, [[], []]), [chain[0], chain.at(-1)])) {
      ends.push(((item < count) ? boxes.get(item) : (-1 - ports.get((item - count)))));
    }
  }
  return (() => { const out = []; for (const [kind, ends] of ends_of.entries()) { out.push(new Web(kind, frame, [...ends[0]], [...ends[1]])); } return out; })();
}

// place.parting
function parted(view, gates, ports, axis) {
  let skeleton, chains, waypoint, beside_, item, wires, ways, place_, fresh, wire, first_, chain, parts;
  skeleton = view.skeleton;
  chains = (() => { const out = []; for (const wire of skeleton.wires) { out.push([...wire.chain]); } return out; })();
  waypoint = [...skeleton.waypoint];
  beside_ = new Map();
  for ([item, wires] of (gates.size ? sharers(skeleton).entries() : [])) {
    ways = by_port(view, wires, gates, ports, axis);
    beside_.set(item, []);
    for (place_ of py_sorted(ways.keys()).slice(1)) {
      fresh = (skeleton.first_waypoint + waypoint.length);
      waypoint.push(ways.get(place_)[0]);
      beside_.get(item).push(fresh);
      for (wire of ways.get(place_)) {
        chains.at(wire)[py_index(chains.at(wire), item)] = fresh;
      }
    }
  }
  if ((waypoint.length === skeleton.waypoint.length)) {
    return skeleton;
  }
  first_ = new Map();
  for ([wire, chain] of py_enumerate(chains)) {
    for (item of chain.slice(1, -1)) {
      py_setdefault(first_, item, wire);
    }
  }
  parts = [...(() => { const out = []; for (const part of skeleton.parts) { out.push([...(() => { const out = []; for (const row of part) { out.push([...(() => { const out = []; for (const item of row) for (const one of [item, ...py_get(beside_, item, [])]) { out.push(one); } return out; })()]); } return out; })()]); } return out; })()];
  return py_replace(skeleton, {wires: [...(() => { const out = []; for (const [wire, chain] of py_zip(skeleton.wires, chains)) { out.push(new Wire(wire.edge, wire.bridge, [...chain], wire.turned)); } return out; })()], waypoint: [...(() => { const out = []; for (const [at, wire] of py_enumerate(waypoint)) { out.push(py_get(first_, (skeleton.first_waypoint + at), wire)); } return out; })()], parts: parts});
}
function sharers(skeleton) {
  let users, number, wire, item;
  users = new Map();
  for ([number, wire] of py_enumerate(skeleton.wires)) {
    for (item of wire.chain.slice(1, -1)) {
      py_setdefault(users, item, []).push(number);
    }
  }
  return (() => { const out = new Map(); for (const [item, wires] of users.entries()) if ((wires.length > 1)) { out.set(item, wires); } return out; })();
}
function by_port(view, wires, gates, ports, axis) {
  let chains, box, found, wire, chain, gate;
  chains = (() => { const out = []; for (const wire of wires) { out.push(view.skeleton.wires.at(wire).chain); } return out; })();
  for (box of [chains[0].at(-1), chains[0][0]]) {
    if ((() => { for (const chain of chains) { if (![chain[0], chain.at(-1)].includes(box)) return false; } return true; })()) {
      found = new Map();
      for ([wire, chain] of py_zip(wires, chains)) {
        gate = gate_of(view, wire, ((chain.at(-1) === box) ? 1 : 0), gates);
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

// place.own
function own_parts(skeleton, routes_, wanted) {
  let own, wires, shared, wire;
  own = (() => { const out = new Map(); for (const wire of wanted) { out.set(wire, routes_.get(wire)); } return out; })();
  if (!own.size) {
    return own;
  }
  for (wires of buses(skeleton, routes_)) {
    shared = together((() => { const out = []; for (const wire of wires) { out.push(routes_.get(wire)); } return out; })());
    for (wire of wires) {
      if (own.has(wire)) {
        own.set(wire, until(routes_.get(wire), shared));
      }
    }
  }
  return own;
}
function buses(skeleton, routes_) {
  let users, wire, chain, item, sharing, _, box, wires;
  users = new TupleMap();
  for (wire of routes_.keys()) {
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
function together(lines) {
  let changes, points, start, stop, track, ending, ends, running, end, change_;
  changes = new TupleMap();
  for (points of lines) {
    for ([start, stop] of py_pairwise(points)) {
      if (!py_equal(start, stop)) {
        track = track_of(start, stop);
        py_extend(py_setdefault(changes, track, []), [[distance_along(track, start), 1], [distance_along(track, stop), -1]]);
      }
    }
  }
  ending = new TupleMap();
  for ([track, ends] of changes.entries()) {
    running = 0;
    for ([end, change_] of py_sorted(ends)) {
      running += change_;
      if ((running === ((change_ > 0) ? 2 : 1))) {
        py_setdefault(ending, track, []).push(end);
      }
    }
  }
  return ending;
}
function until(points, shared) {
  let kept_, start, stop, track, bounds, here, following, begins_, dx, dy, _, steps, met;
  kept_ = [points[0]];
  for ([start, stop] of py_pairwise(points)) {
    if (!py_equal(start, stop)) {
      track = track_of(start, stop);
      [bounds, here] = [py_get(shared, track, []), distance_along(track, start)];
      following = py_bisect_right(bounds, here);
      begins_ = (py_mod(following, 2) ? here : ((following < bounds.length) ? bounds.at(following) : distance_along(track, stop)));
      if ((begins_ < distance_along(track, stop))) {
        [dx, dy, _] = track;
        steps = Math.floor((begins_ - here) / ((dx * dx) + (dy * dy)));
        met = [(start[0] + (steps * dx)), (start[1] + (steps * dy))];
        return (py_equal(met, points[0]) ? points : (!py_equal(met, start) ? [...kept_, met] : kept_));
      }
    }
    kept_.push(stop);
  }
  return kept_;
}
function track_of(start, stop) {
  let dx, dy, common;
  [dx, dy] = [(stop[0] - start[0]), (stop[1] - start[1])];
  common = py_gcd(dx, dy);
  [dx, dy] = [Math.floor(dx / common), Math.floor(dy / common)];
  return [dx, dy, ((dx * start[1]) - (dy * start[0]))];
}
function distance_along(track, point) {
  return ((track[0] * point[0]) + (track[1] * point[1]));
}

// place.loose
const FEW = 6;
function loose(skeleton) {
  let lonely, boxes;
  lonely = (() => { const out = []; for (const part of single_parts(skeleton)) { out.push(skeleton.parts.at(part)[0][0]); } return out; })();
  boxes = py_sum((() => { const out = []; for (const part of skeleton.parts) for (const row of part) for (const item of row) { out.push((item < skeleton.children)); } return out; })());
  return (((lonely.length <= FEW) && ((2 * lonely.length) < boxes)) ? lonely : []);
}
function single_parts(skeleton) {
  return (() => { const out = []; for (const [number, part] of py_enumerate(skeleton.parts)) if (((number !== skeleton.main) && (part.length === 1) && (part[0].length === 1))) { out.push(number); } return out; })();
}
function without_loose(skeleton) {
  let gone, shelves;
  if (!loose(skeleton).length) {
    return skeleton;
  }
  gone = new Set(single_parts(skeleton));
  shelves = (() => { const out = []; for (const shelf of skeleton.shelves) { out.push([...(() => { const out = []; for (const part of shelf) if (!gone.has(part)) { out.push(part); } return out; })()]); } return out; })();
  return py_replace(skeleton, {shelves: [...(() => { const out = []; for (const shelf of shelves) if (shelf.length) { out.push(shelf); } return out; })()]});
}

// place.label_places
const CELL = 64;
const LARGE_of_label_places = (8 * CELL);
const PARTS = [8, 6, 10, 4, 12, 2, 14];
const FINE = 6;
const RUNS = 4;
const BESIDE_of_label_places = 5;
const NEAR = 3;
const BOX_ROOM = 1;
const LINE_ROOM = 3;
const LABEL_ROOM_of_label_places = 4;
const MOST_WORK = 2000000;
const THICKEST = Math.floor(THICK / 20);
class Obstacles {
  constructor() {
    this.rects = new TupleMap();
    this.large = [];
    this.runs = new TupleMap();
    this.work = 0;
  }
  add_rect(rect) {
    let cell;
    if ((Math.max((rect[2] - rect[0]), (rect[3] - rect[1])) > LARGE_of_label_places)) {
      this.large.push(rect);
      return;
    }
    for (cell of cells(rect)) {
      py_setdefault(this.rects, cell, []).push(rect);
    }
  }
  add_line(owner, points, thick) {
    let run, noted_, cell;
    for (run of runs_of_label_places(points)) {
      noted_ = [owner, Math.floor(thick / 20), run, bounds_of_run(run)];
      for (cell of squares_passed(run)) {
        this.work += 1;
        py_setdefault(this.runs, cell, []).push(noted_);
      }
    }
  }
  is_free(owner, rect) {
    let boxed, lined, cell, other, half, run, extent, near_;
    [boxed, lined] = [grown(rect, BOX_ROOM), grown(rect, (LINE_ROOM + THICKEST))];
    if ((() => { for (const other of this.large) { if (overlap(boxed, other)) return true; } return false; })()) {
      return false;
    }
    for (cell of cells(lined)) {
      if ((() => { for (const other of py_get(this.rects, cell, [])) { if (overlap(boxed, other)) return true; } return false; })()) {
        return false;
      }
      this.work += py_len(py_get(this.runs, cell, []));
      for ([other, half, run, extent] of py_get(this.runs, cell, [])) {
        near_ = ((other !== owner) ? grown(rect, (LINE_ROOM + half)) : boxed);
        if ((meet(extent, near_) && crosses(run, near_))) {
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
function place_labels(lines, labels, taken, bounds, own = null, thick = null) {
  let obstacles, rect, wire, points, placed, label_, middle;
  if (!labels.size) {
    return new Map();
  }
  obstacles = new Obstacles();
  for (rect of taken) {
    obstacles.add_rect(rect);
  }
  for ([wire, points] of lines.entries()) {
    obstacles.add_line(wire, points, (py_truth(thick) ? py_get(thick, wire, 0) : 0));
    if ((obstacles.work > MOST_WORK)) {
      return new Map();
    }
  }
  placed = new Map();
  for ([wire, label_] of py_sorted(labels.entries(), {key: (item) => [!item[1].main, item[0]]})) {
    if ((obstacles.work > MOST_WORK)) {
      break;
    }
    for (middle of candidates((py_truth(own) ? own.get(wire) : lines.get(wire)), label_)) {
      rect = centred_of_label_places(middle, label_.size);
      if ((within_of_label_places(rect, bounds) && obstacles.is_free(wire, rect))) {
        placed.set(wire, middle);
        obstacles.add_rect(grown(rect, LABEL_ROOM_of_label_places));
        break;
      }
    }
  }
  return placed;
}
function overhang(lines, labels, extent, axis) {
  let before, after, wire, label_, middle, half;
  before = 0;
  after = before;
  for ([wire, label_] of labels.entries()) {
    middle = (label_.main ? py_next(py_iter(candidates(lines.get(wire), label_)), null) : null);
    if ((middle != null)) {
      half = Math.floor(label_.size.at(axis) / 2);
      before = Math.max(before, ((half + 1) - middle.at(axis)));
      after = Math.max(after, ((((middle.at(axis) + label_.size.at(axis)) - half) + 1) - extent));
    }
  }
  return [before, after];
}
function *candidates(points, label_) {
  let straight_, parts, beside_, start, stop, dx, dy, steep, need, along, off, lean, part, whole_, x, y, side_;
  straight_ = py_sorted(runs_of_label_places(points), {key: (run) => -length(run)});
  for ([parts, beside_] of [[coarse, BESIDE_of_label_places], [fine, NEAR]].slice(0, (label_.main ? 2 : 1))) {
    for ([start, stop] of straight_.slice(0, RUNS)) {
      [dx, dy] = [(stop[0] - start[0]), (stop[1] - start[1])];
      steep = (Math.abs(dy) >= Math.abs(dx));
      [need, along] = [label_.size.at((steep ? 1 : 0)), Math.max(Math.abs(dx), Math.abs(dy))];
      if ((along < need)) {
        continue;
      }
      off = ((beside_ + Math.floor(label_.thick / 20)) + Math.floor(label_.size.at((steep ? 0 : 1)) / 2));
      lean = Math.floor((need * Math.min(Math.abs(dx), Math.abs(dy))) / (2 * along));
      for ([part, whole_] of parts(along, need)) {
        [x, y] = [(start[0] + Math.floor((dx * part) / whole_)), (start[1] + Math.floor((dy * part) / whole_))];
        for (side_ of (steep ? [1, -1] : [-1, 1])) {
          yield (steep ? [(x + (side_ * (off + lean))), y] : [x, (y + (side_ * (off + lean)))]);
        }
      }
    }
  }
}
function coarse(along, need) {
  return (() => { const out = []; for (const part of PARTS) if ((((2 * Math.min(part, (16 - part))) * along) >= (16 * need))) { out.push([part, 16]); } return out; })();
}
function fine(along, need) {
  let reach_, steps;
  reach_ = Math.floor((along - need) / 2);
  steps = (() => { const out = []; for (const off of py_range(0, (reach_ + 1), FINE)) for (const step of (off ? [off, -off] : [0])) { out.push(step); } return out; })();
  return (() => { const out = []; for (const step of steps) { out.push([(Math.floor(along / 2) - step), along]); } return out; })();
}
function runs_of_label_places(points) {
  return [...py_pairwise(straightened(points))];
}
function length(run) {
  return (((run[1][0] - run[0][0]) ** 2) + ((run[1][1] - run[0][1]) ** 2));
}
function bounds_of_run(run) {
  let ax, ay, bx, by;
  [[ax, ay], [bx, by]] = run;
  return [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)];
}
function centred_of_label_places(middle, size) {
  let left, top;
  [left, top] = [(middle[0] - Math.floor(size[0] / 2)), (middle[1] - Math.floor(size[1] / 2))];
  return [left, top, (left + size[0]), (top + size[1])];
}
function grown(rect, by) {
  return [(rect[0] - by), (rect[1] - by), (rect[2] + by), (rect[3] + by)];
}
function cells(rect) {
  return (() => { const out = []; for (const column of py_range(Math.floor(rect[0] / CELL), (Math.floor(rect[2] / CELL) + 1))) for (const row of py_range(Math.floor(rect[1] / CELL), (Math.floor(rect[3] / CELL) + 1))) { out.push([column, row]); } return out; })();
}
function squares_passed(run) {
  let ax, ay, bx, by, wide, tall, found, column, first_, last, enter, leave;
  [[ax, ay], [bx, by]] = ((run[0][0] <= run[1][0]) ? run : [run[1], run[0]]);
  [wide, tall] = [(bx - ax), (by - ay)];
  found = [];
  for (column of py_range(Math.floor(ax / CELL), (Math.floor(bx / CELL) + 1))) {
    [first_, last] = [Math.floor(ay / CELL), Math.floor(by / CELL)];
    if (wide) {
      [enter, leave] = [Math.max(ax, (column * CELL)), py_min([bx, ((column + 1) * CELL)])];
      first_ = Math.floor(((ay * wide) + (tall * (enter - ax))) / (wide * CELL));
      last = Math.floor(((ay * wide) + (tall * (leave - ax))) / (wide * CELL));
    }
    py_extend(found, (() => { const out = []; for (const row of py_range(Math.min(first_, last), (Math.max(first_, last) + 1))) { out.push([column, row]); } return out; })());
  }
  return found;
}
function within_of_label_places(inner, outer) {
  return ((outer[0] <= inner[0]) && (outer[1] <= inner[1]) && (inner[2] <= outer[2]) && (inner[3] <= outer[3]));
}
function overlap(first_, second) {
  return ((first_[0] < second[2]) && (second[0] < first_[2]) && (first_[1] < second[3]) && (second[1] < first_[3]));
}
function meet(first_, second) {
  return ((first_[0] <= second[2]) && (second[0] <= first_[2]) && (first_[1] <= second[3]) && (second[1] <= first_[3]));
}
function crosses(run, rect) {
  let ax, ay, bx, by, corners_, sides;
  [[ax, ay], [bx, by]] = run;
  corners_ = [[rect[0], rect[1]], [rect[0], rect[3]], [rect[2], rect[1]], [rect[2], rect[3]]];
  sides = (() => { const out = []; for (const [x, y] of corners_) { out.push((((bx - ax) * (y - ay)) - ((by - ay) * (x - ax)))); } return out; })();
  return ((py_min(sides) <= 0) && (0 <= py_max(sides)));
}

// place.core
const GAPS = new Gaps();
const LABEL_HEIGHT = 12;
const LABEL_ROOM_of_core = 8;
const WIDENED = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
const EVERYWHERE = [1, 1, 1, 1];
const MANY_of_core = 300;
const NO_ROOM = [0, 0, 0, 0];
const OUTSIDE = 9;
class Inner {
  constructor(gates, ports) {
    this.gates = gates;
    this.ports = ports;
  }
}
class Core {
  constructor(width, height_, slots, ports, routes_, labels) {
    this.width = width;
    this.height = height_;
    this.slots = slots;
    this.ports = ports;
    this.routes = routes_;
    this.labels = labels;
  }
  skyline(sizes, upright) {
    let sky, child, left, top, points, wire, x, y, wide, tall;
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
    return sky;
  }
}
function core_of(view, pieces, lines, said, inner, direction) {
  let rooms, core, silent, shares, more, other, left;
  function with_rooms(rooms) {
    return drawn_of_core(view, pieces, lines, said, direction, laid_out(view, pieces, lines, said, inner, direction, rooms));
  }
  function wider(silent, shares) {
    return (() => { const out = new Map(); for (const wire of silent) { out.set(wire, room_for(across_along(direction, said.get(wire).size), shares)); } return out; })();
  }
  rooms = new Map();
  core = with_rooms(rooms);
  silent = unlabelled(said, core);
  if ((!silent.length || view.skeleton.plain || (lines.size > MANY_of_core))) {
    return core;
  }
  if ((unlabelled(said, with_rooms(wider(silent, EVERYWHERE))).length === silent.length)) {
    return core;
  }
  for (shares of WIDENED) {
    more = py_union(rooms, wider(silent, shares));
    other = with_rooms(more);
    left = unlabelled(said, other);
    if ((left.length < silent.length)) {
      [core, rooms, silent] = [other, more, left];
    }
    if (!silent.length) {
      break;
    }
  }
  return core;
}
function unlabelled(said, core) {
  return (() => { const out = []; for (const [wire, label_] of said.entries()) if ((label_.main && !core.labels.has(wire))) { out.push(wire); } return out; })();
}
function room_for(label_, shares) {
  let more;
  more = (label_[1] + ((label_[1] > label_[0]) ? ASLANT : LABEL_ROOM_of_core));
  return [(shares[0] * more), (shares[1] * more), (shares[2] * more), (shares[3] * more)];
}
function drawn_of_core(view, pieces, lines, said, direction, level) {
  let aside_, turn, slots, routes_, axis, before, after, left, top, wide, tall, size, ports, taken, out, own, thick, bounds, labels;
  aside_ = new Set(loose(view.skeleton));
  turn = new Turn(direction, level.width, level.height);
  slots = (() => { const out = new Map(); for (const position of view.metagraph.core()) if (!aside_.has(position)) { out.set(position, [pieces.at(position), turn.corner(level.positions.at(position), _size(pieces.at(position)))]); } return out; })();
  routes_ = (() => { const out = new Map(); for (const wire of lines.keys()) { out.set(wire, reach(view, wire, (() => { const out = []; for (const point of level.routes.at(wire)) { out.push(turn.point(point)); } return out; })(), slots, turn)); } return out; })();
  axis = (turn.vertical ? 0 : 1);
  [before, after] = overhang(routes_, said, turn.size.at(axis), axis);
  [left, top] = (axis ? [0, before] : [before, 0]);
  [wide, tall] = turn.size;
  size = (axis ? [wide, ((tall + before) + after)] : [((wide + before) + after), tall]);
  slots = (() => { const out = new Map(); for (const [position, [child, [x, y]]] of slots.entries()) { out.set(position, [child, [(x + left), (y + top)]]); } return out; })();
  routes_ = (() => { const out = new Map(); for (const [wire, points] of routes_.entries()) { out.set(wire, [...(() => { const out = []; for (const [x, y] of points) { out.push([(x + left), (y + top)]); } return out; })()]); } return out; })();
  ports = (() => { const out = []; for (const [slot, x] of py_zip(view.skeleton.ports, level.ports)) { out.push(turn.point([x, (slot.first ? 0 : level.height)])); } return out; })();
  taken = (() => { const out = []; for (const [child, [x, y]] of slots.values()) { out.push([x, y, (x + child.width), (y + child.height)]); } return out; })();
  out = (!py_equal(view.path, [0]) ? OUTSIDE : -1);
  own = own_parts(view.skeleton, routes_, [...said.keys()]);
  thick = (() => { const out = new Map(); for (const [wire, line] of lines.entries()) { out.set(wire, hand_thickness(line)); } return out; })();
  bounds = [-out, 1, (size[0] + out), (size[1] - 1)];
  labels = place_labels(routes_, said, taken, bounds, own, thick);
  return new Core(...size, slots, [...(() => { const out = []; for (const [x, y] of ports) { out.push([(x + left), (y + top)]); } return out; })()], routes_, labels);
}
function _size(child) {
  return [child.width, child.height];
}
function children(view, below_, direction) {
  let upright, nodes, names, words;
  upright = vertical(direction);
  nodes = [...view.node_labels, ...view.functions];
  [names, words] = [names_of(nodes), view.words];
  return (() => { const out = []; for (const [position, node] of py_enumerate(nodes)) { out.push((below_.has(position) ? framed(below_.get(position), node) : piece(node, names.at(position), words, position, upright))); } return out; })();
}
function label_sizes(view, lines, outside) {
  let main, labels, wire, line, text, bridge, telling, crossing;
  main = new Set(view.skeleton.spine);
  labels = new Map();
  for ([wire, line] of lines.entries()) {
    text = view.words.lines.get(wire).label;
    [bridge, telling] = [view.skeleton.wires.at(wire).bridge, main.has(wire)];
    if ((bridge >= 0)) {
      crossing = view.metagraph.bridges.at(bridge);
      telling = (telling || (crossing.members[1] > 0));
      if ((py_get(outside, [crossing.other, crossing.inbound]) === text)) {
        continue;
      }
    }
    if (text) {
      labels.set(wire, new LineLabel([hand_width(text, SMALL_SIZE), LABEL_HEIGHT], hand_thickness(line), telling));
    }
  }
  return labels;
}
function laid_out(view, pieces, lines, said, inner, direction, rooms) {
  let main, count, sizes, fixed, strokes, wire, line, size, head_, longest_, labelled, upward, gaps, ways;
  main = new Set(view.metagraph.core());
  count = view.metagraph.children.length;
  sizes = (() => { const out = []; for (const i of py_range(count)) { out.push((main.has(i) ? across_along(direction, _size(pieces.at(i))) : [0, 0])); } return out; })();
  if (view.skeleton.plain) {
    return in_rows(view.skeleton, sizes, GAPS);
  }
  fixed = anchors(view, pieces, inner.gates, inner.ports, direction, GAPS);
  strokes = new Map();
  for ([wire, line] of lines.entries()) {
    size = (said.has(wire) ? said.get(wire).size : [0, 0]);
    head_ = tip(view, wire, line, inner.gates);
    strokes.set(wire, new Stroke(hand_thickness(line), head_, across_along(direction, size), py_get(rooms, wire, NO_ROOM)));
  }
  longest_ = py_max((() => { const out = []; for (const stroke of strokes.values()) { out.push(stroke.label[1]); } return out; })(), {default: 0});
  [labelled, upward] = [Math.max(GAPS.labelled, (longest_ + (2 * LABEL_ROOM_of_core))), ["BT", "RL"].includes(direction)];
  gaps = py_replace(GAPS, {labelled: labelled, bar: bars_of_core(direction), upward: upward});
  ways = parted(view, inner.gates, inner.ports, (vertical(direction) ? 0 : 1));
  return coordinates(without_loose(ways), sizes, gaps, fixed, strokes);
}
function bars_of_core(direction) {
  let first_;
  first_ = top_side(direction);
  return [(first_ ? BAR : 0), ((first_ === false) ? BAR : 0)];
}
function tip(view, wire, line, inner) {
  let end, item;
  end = ((line.kind === "reference") ? 0 : 1);
  item = view.skeleton.wires.at(wire).chain.at((end ? -1 : 0));
  return (((item >= view.skeleton.children) || (gate_of(view, wire, end, inner) != null)) ? -1 : end);
}
function reach(view, wire, points, slots, turn) {
  let chain, goal;
  chain = view.skeleton.wires.at(wire).chain;
  if (slots.has(chain[0])) {
    goal = border(...slots.get(chain[0]), points[0], turn.vertical);
    points = (py_equal(goal, points[0]) ? points : [goal, ...points]);
  }
  if (slots.has(chain.at(-1))) {
    goal = border(...slots.get(chain.at(-1)), points.at(-1), turn.vertical);
    points = (py_equal(goal, points.at(-1)) ? points : [...points, goal]);
  }
  return [...points];
}

// place.identity
function of_wire(view, index) {
  let wire, edge, bridge, ends;
  wire = view.skeleton.wires.at(index);
  if ((wire.edge >= 0)) {
    edge = view.metagraph.edges.at(wire.edge);
    return new Identity(view.address, "edge", wire.edge, view.node_labels.at(edge.source).address, view.node_labels.at(edge.target).address, view.path);
  }
  bridge = view.metagraph.bridges.at(wire.bridge);
  ends = [view.node_labels.at(bridge.child).address, py_get(view.addresses, bridge.other, "")];
  return new Identity(view.address, "bridge", wire.bridge, ...(bridge.inbound ? py_reversed(ends) : ends), view.path);
}
function loop_numbers(view) {
  return (() => { const out = new Map(); for (const [index, [child, _]] of py_enumerate(view.metagraph.loops)) { out.set(child, index); } return out; })();
}
function of_loop(view, position, index) {
  let address_;
  address_ = view.node_labels.at(position).address;
  return new Identity(view.address, "loop", index, address_, address_, view.path);
}
class Undrawn {
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
      py_setdefault(this.edges, edge.source, []).push(index);
      py_setdefault(this.edges, edge.target, []).push(index);
    }
    this.child = -1;
    this.entries = new TupleMap();
  }
  of_annotation(index) {
    let note_, entry, number, ends;
    note_ = this.view.metagraph.annotations.at(index);
    if ((note_.child !== this.child)) {
      [this.child, this.entries] = [note_.child, this.beside(note_.child)];
    }
    [entry, number] = py_get(this.entries, [note_.side, note_.other], ["annotation", index]);
    ends = [py_get(this.view.addresses, note_.other, ""), this.view.node_labels.at(note_.child).address];
    return new Identity(this.view.address, entry, number, ...((note_.side === "in") ? ends : py_reversed(ends)), this.view.path);
  }
  beside(child) {
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

// place.groups
class OpenGroup {
  constructor(view, heading_, below_, outside) {
    this.view = view;
    this.heading = heading_;
    this.below = below_;
    this.outside = outside;
  }
  get node_labels() {
    return [...this.view.node_labels, ...this.view.functions];
  }
}
function groups_in_order(view) {
  let groups, todo, current, heading_, outside, above, position, below_, node_labels, shown, labels, child, inner;
  groups = [];
  todo = [[view, null, new TupleMap(), new Map(), -1]];
  while (todo.length) {
    [current, heading_, outside, above, position] = py_pop(todo);
    above.set(position, groups.length);
    below_ = new Map();
    groups.push(new OpenGroup(current, heading_, below_, outside));
    node_labels = [...current.node_labels, ...current.functions];
    shown = new Set([...current.metagraph.core(), ...current.metagraph.mask.extracted, ...py_range(current.node_labels.length, node_labels.length)]);
    labels = (current.opened.size ? line_labels(current) : new Map());
    for ([child, inner] of py_sorted(current.opened.entries(), {reverse: true})) {
      if (shown.has(child)) {
        todo.push([inner, [node_labels.at(child), current.words.seconds.at(child)], py_get(labels, child, new TupleMap()), below_, child]);
      }
    }
  }
  return groups;
}
function line_labels(view) {
  let texts, wire, line, text, rows;
  texts = new Map();
  for ([wire, line] of view.drawn().entries()) {
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

// place.frames
const AROUND = 12;
const NOTE_LINE = 14;
class GroupLayout {
  constructor(width, height_, slots, ports = [], gates = new TupleMap(), routes_ = new Map(), labels = new Map(), lines = new Map(), texts = [], rules = []) {
    this.width = width;
    this.height = height_;
    this.slots = slots;
    this.ports = ports;
    this.gates = gates;
    this.routes = routes_;
    this.labels = labels;
    this.lines = lines;
    this.texts = texts;
    this.rules = rules;
  }
}
function frame_of_frames(view, heading_, below_, outside, direction) {
  let sizes, pieces, lines, said, inner, core, area, bar, shift, size, right, top, ports;
  sizes = (() => { const out = new Map(); for (const [position, made_] of below_.entries()) { out.set(position, [made_.width, made_.height]); } return out; })();
  pieces = children(view, sizes, direction);
  lines = view.drawn();
  said = label_sizes(view, lines, outside);
  inner = new Inner((() => { const out = new Map(); for (const [position, made_] of below_.entries()) { out.set(position, made_.gates); } return out; })(), (() => { const out = new Map(); for (const [position, made_] of below_.entries()) { out.set(position, made_.ports); } return out; })());
  core = core_of(view, pieces, lines, said, inner, direction);
  area = area_of(view, core, said, pieces, direction);
  bar = title_bar(view, heading_, core, area, direction);
  shift = (py_truth(heading_) ? [(AROUND + bar.shift), (BAR + AROUND)] : [0, 0]);
  size = (py_truth(heading_) ? [bar.width, ((area.height + BAR) + (2 * AROUND))] : [area.width, area.height]);
  [right, top] = (py_truth(heading_) ? behind(heading_[0]) : [0, 0]);
  shift = [shift[0], (shift[1] + top)];
  size = [(size[0] + right), (size[1] + top)];
  ports = [...(() => { const out = []; for (const [slot, corner] of py_zip(view.skeleton.ports, core.ports)) { out.push(_port_of_frames(slot.first, _add_of_frames(corner, shift), [(size[0] - right), size[1]], top, direction)); } return out; })()];
  return new GroupLayout(...size, all_slots(view, pieces, core, area, shift), ports, gates_of(view), (() => { const out = new Map(); for (const [wire, points] of core.routes.entries()) { out.set(wire, to_border(view, wire, points, ports, shift)); } return out; })(), (() => { const out = new Map(); for (const [wire, middle] of core.labels.entries()) { out.set(wire, _add_of_frames(middle, shift)); } return out; })(), lines, [...(() => { const out = []; for (const text of bar.texts) { out.push(moved(text, 0, top)); } return out; })(), ...(() => { const out = []; for (const text of area.texts) { out.push(moved(text, ...shift)); } return out; })()], [...(() => { const out = []; for (const r of area.rules) { out.push(new Separator(..._add_of_frames([r.x1, r.y1], shift), ..._add_of_frames([r.x2, r.y2], shift))); } return out; })()]);
}
function area_of(view, core, said, pieces, direction) {
  let size, things, notes;
  [size, things, notes] = [[core.width, core.height], blocks(view, pieces), lines_of(view)];
  if ((!things.length && !notes.length)) {
    return new Area([], [], [], ...size);
  }
  return beside_core(size, core.skyline(said, vertical(direction)), things, notes);
}
function _add_of_frames(point, shift) {
  return [(point[0] + shift[0]), (point[1] + shift[1])];
}
function aside(view) {
  let mask, count, blocks_;
  [mask, count] = [view.metagraph.mask, view.metagraph.children.length];
  blocks_ = [["", [loose(view.skeleton)]], ["Auxiliary", [[...mask.in_extract], [...mask.out_extract]]], ["Functions", [[...py_range(count, (count + view.functions.length))]]]];
  return (() => { const out = []; for (const [heading_, columns_] of blocks_) if (py_any(columns_)) { out.push([heading_, columns_]); } return out; })();
}
function blocks(view, pieces) {
  return (() => { const out = []; for (const [heading_, columns_] of aside(view)) { out.push([heading_, (() => { const out = []; for (const column of columns_) { out.push((() => { const out = []; for (const child of column) { out.push(_thing(pieces.at(child))); } return out; })()); } return out; })()]); } return out; })();
}
function _thing(piece_) {
  return [piece_.width, piece_.height, (piece_.x + Math.floor(piece_.box[0] / 2))];
}
function lines_of(view) {
  let identities;
  identities = noted(view);
  return (() => { const out = []; for (const [number, note_] of py_enumerate(view.words.notes)) { out.push(new Text(0, ((NOTE_LINE * number) + 10), note_.content, note_.full, SMALL_SIZE, hand_width(note_.content, SMALL_SIZE), "note", "start", undefined, undefined, undefined, [...(() => { const out = []; for (const index of note_.annotations) { out.push(identities.get(index)); } return out; })()])); } return out; })();
}
function noted(view) {
  let undrawn, annotations, indices;
  [undrawn, annotations] = [new Undrawn(view), view.metagraph.annotations];
  indices = (() => { const out = []; for (const note_ of view.words.notes) for (const index of note_.annotations) { out.push(index); } return out; })();
  return (() => { const out = new Map(); for (const index of py_sorted(indices, {key: (index) => [annotations.at(index).child, index]})) { out.set(index, undrawn.of_annotation(index)); } return out; })();
}
function title_bar(view, heading_, core, area, direction) {
  let side_, ports;
  if ((heading_ == null)) {
    return NO_TITLE;
  }
  side_ = top_side(direction);
  ports = py_zip(view.skeleton.ports, core.ports);
  return title(...heading_, (() => { const out = []; for (const [slot, [x, _]] of ports) if ((slot.first === side_)) { out.push((AROUND + x)); } return out; })(), (area.width + (2 * AROUND)));
}
function all_slots(view, pieces, core, area, shift) {
  let slots, position, piece_, corner, listed;
  slots = py_repeat([null], pieces.length);
  for ([position, [piece_, corner]] of core.slots.entries()) {
    slots[position] = [piece_, _add_of_frames(corner, shift)];
  }
  listed = (() => { const out = []; for (const [_, columns_] of aside(view)) for (const column of columns_) for (const position of column) { out.push(position); } return out; })();
  for ([position, corner] of py_zip(listed, area.places)) {
    slots[position] = [pieces.at(position), _add_of_frames(corner, shift)];
  }
  return [...slots];
}
function _port_of_frames(first_, point, size, top, direction) {
  if (vertical(direction)) {
    return [point[0], ((first_ === (direction === "BT")) ? size[1] : top)];
  }
  return [((first_ === (direction === "RL")) ? size[0] : 0), point[1]];
}
function to_border(view, wire, points, ports, shift) {
  let line, chain, count;
  line = (() => { const out = []; for (const point of points) { out.push(_add_of_frames(point, shift)); } return out; })();
  [chain, count] = [view.skeleton.wires.at(wire).chain, view.skeleton.children];
  if (((chain[0] >= count) && !py_equal(ports.at((chain[0] - count)), line[0]))) {
    py_insert(line, 0, ports.at((chain[0] - count)));
  }
  if (((chain.at(-1) >= count) && !py_equal(ports.at((chain.at(-1) - count)), line.at(-1)))) {
    line.push(ports.at((chain.at(-1) - count)));
  }
  return line;
}

// place.spine
class Paths {
  constructor(numbers_ = new TupleMap(), boxes = [], steps = [], below_ = []) {
    this.numbers = numbers_;
    this.boxes = boxes;
    this.steps = steps;
    this.below = below_;
  }
  node(node, box) {
    if (!this.numbers.has(node)) {
      this.numbers.set(node, this.boxes.length);
      this.boxes.push(box);
      this.steps.push([]);
      this.below.push([]);
    }
    return this.numbers.get(node);
  }
}
function lead_through(groups) {
  let wires, number, wire;
  if ((groups.length === 1)) {
    return [...groups];
  }
  wires = new Map();
  for ([number, wire] of longest(paths_of(groups), groups)) {
    py_setdefault(wires, number, []).push(wire);
  }
  return (() => { const out = []; for (const [number, group] of py_enumerate(groups)) { out.push(led(group, py_get(wires, number, []))); } return out; })();
}
function led(group, wires) {
  let skeleton;
  if (!wires.length) {
    return group;
  }
  skeleton = group.view.skeleton;
  return py_replace(group, {view: py_replace(group.view, {skeleton: py_replace(skeleton, {spine: spine_with(skeleton, wires)})})});
}
function spine_with(skeleton, wires) {
  let part_of, chains, path, before, after, part;
  part_of = (() => { const out = new Map(); for (const [p, part] of py_enumerate(skeleton.parts)) for (const row of part) for (const item of row) { out.set(item, p); } return out; })();
  chains = (() => { const out = []; for (const wire of skeleton.wires) { out.push(wire.chain); } return out; })();
  path = [...wires];
  before = (() => { const out = new Map(); for (const wire of skeleton.spine) { out.set(chains.at(wire).at(-1), wire); } return out; })();
  after = (() => { const out = new Map(); for (const wire of skeleton.spine) { out.set(chains.at(wire)[0], wire); } return out; })();
  while (before.has(chains.at(path[0])[0])) {
    py_insert(path, 0, before.get(chains.at(path[0])[0]));
  }
  while (after.has(chains.at(path.at(-1)).at(-1))) {
    path.push(after.get(chains.at(path.at(-1)).at(-1)));
  }
  part = part_of.get(chains.at(path[0])[0]);
  return [...path, ...(() => { const out = []; for (const wire of skeleton.spine) if ((part_of.get(chains.at(wire)[0]) !== part)) { out.push(wire); } return out; })()];
}
function paths_of(groups) {
  let paths, gates, number, group, inner, index, line, source, target;
  paths = new Paths();
  gates = (() => { const out = []; for (const group of groups) { out.push(gates_of(group.view)); } return out; })();
  for ([number, group] of py_enumerate(groups)) {
    inner = (() => { const out = new Map(); for (const [position, child] of group.below.entries()) { out.set(position, gates.at(child)); } return out; })();
    for ([index, line] of group.view.drawn().entries()) {
      if (((line.kind === "data") && !group.view.skeleton.wires.at(index).turned)) {
        [source, target] = (() => { const out = []; for (const end of [0, 1]) { out.push(end_of_of_spine(paths, groups, number, index, end, inner)); } return out; })();
        paths.steps.at(source).push([[number, index], target, hand_load(line)]);
        paths.below.at(source).push(target);
      }
    }
  }
  return paths;
}
function end_of_of_spine(paths, groups, number, index, end, inner) {
  let group, view, item, port, child;
  group = groups.at(number);
  view = group.view;
  item = view.skeleton.wires.at(index).chain.at((end ? -1 : 0));
  if (group.below.has(item)) {
    port = gate_of(view, index, end, inner);
    if ((port != null)) {
      child = group.below.get(item);
      return paths.node([child, (groups.at(child).view.skeleton.children + port)], 0);
    }
  }
  return paths.node([number, item], (((item < view.skeleton.children) && !group.below.has(item)) ? 1 : 0));
}
function longest(paths, groups) {
  let own, count, fed, best_, onward, node, box, number, wire, target, carries, data, boxes, carried, kept_, gives, reached_, current, steps, ahead;
  own = (() => { const out = []; for (const group of groups) { out.push(new Set(group.view.skeleton.spine)); } return out; })();
  count = paths.boxes.length;
  fed = (() => { const out = new Set(); for (const steps of paths.steps) for (const [_, target, carries] of steps) if ((carries > 0)) { out.add(target); } return out; })();
  best_ = (() => { const out = []; for (const box of paths.boxes) { out.push([0, box, 0, 0]); } return out; })();
  onward = py_repeat([null], count);
  for (node of py_reversed(topological(paths.below))) {
    box = paths.boxes.at(node);
    for ([[number, wire], target, carries] of paths.steps.at(node)) {
      [data, boxes, carried, kept_] = best_.at(target);
      gives = ((carries > 0) ? box : (fed.has(node) ? -box : 0));
      reached_ = [(data + gives), (boxes + box), (carried + Math.abs(carries)), (kept_ + own.at(number).has(wire))];
      if (((onward.at(node) == null) || (py_compare(reached_, best_.at(node)) > 0))) {
        [best_[node], onward[node]] = [reached_, [[number, wire], target]];
      }
    }
  }
  current = py_max(py_range(count), {key: (node) => best_.at(node), default: -1});
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

// place.sketch
class Sketch {
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
    touched = (() => { const out = []; for (const number of py_range(groups.length)) for (const port of py_sorted(this.touched(number).keys())) { out.push([number, port]); } return out; })();
    this.port_number = (() => { const out = new TupleMap(); for (const [index, key] of py_enumerate(touched)) { out.set(key, index); } return out; })();
  }
  group(number, box, depth_, origin) {
    let made_, numbers_, gates, main, index, port, wires;
    made_ = this.frames.get(number);
    py_extend(this.texts, (() => { const out = []; for (const text of made_.texts) { out.push(moved(text, ...origin, box)); } return out; })());
    py_extend(this.rules, (() => { const out = []; for (const r of made_.rules) { out.push(new Separator(..._add_of_sketch([r.x1, r.y1], origin), ..._add_of_sketch([r.x2, r.y2], origin))); } return out; })());
    numbers_ = this._boxes(number, box, depth_, origin);
    if (this.groups.at(number).view.skeleton.plain) {
      this._webs(number, numbers_, box);
    }
    gates = (() => { const out = new Map(); for (const [position, child] of this.groups.at(number).below.entries()) { out.set(position, this.frames.get(child).gates); } return out; })();
    main = new Set(this.groups.at(number).view.skeleton.spine);
    for (index of made_.lines.keys()) {
      this._line(number, index, numbers_, box, origin, gates, main.has(index));
    }
    for ([port, wires] of py_sorted(this.touched(number).entries())) {
      this._port(number, port, wires, box, origin);
    }
    return numbers_;
  }
  scene(direction) {
    return new Scene(this.frames.get(0).width, this.frames.get(0).height, direction, [...this.boxes], [...this.routes], [...this.ports], [...this.stubs], [...this.texts], [...this.rules], [...this.webs]);
  }
  touched(number) {
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
  _boxes(number, parent, depth_, origin) {
    let group, made_, numbers_, areas, undrawn, loops, node_labels, words, position, slot, node, box, corner, opened, area, title_, points, identity, loop;
    [group, made_] = [this.groups.at(number), this.frames.get(number)];
    numbers_ = new Map();
    [areas, undrawn, loops] = [areas_of(group.view), new Undrawn(group.view), loop_numbers(group.view)];
    [node_labels, words] = [group.node_labels, group.view.words];
    for ([position, slot] of py_enumerate(made_.slots)) {
      if ((slot == null)) {
        continue;
      }
      node = node_labels.at(position);
      box = this.boxes.length;
      numbers_.set(position, box);
      corner = _add_of_sketch(_add_of_sketch(slot[1], [slot[0].x, slot[0].y]), origin);
      opened = group.below.has(position);
      [area, title_] = [py_get(areas, position, "main"), words.titles.at(position)];
      this.boxes.push(_box(node, slot, corner, parent, depth_, opened, area, title_));
      py_extend(this.texts, (() => { const out = []; for (const text of slot[0].texts) { out.push(moved(text, ...corner, box)); } return out; })());
      py_extend(this.stubs, (() => { const out = []; for (const stub of slot[0].stubs) { out.push(_stub_of_sketch(stub, corner, box, undrawn)); } return out; })());
      if (slot[0].loop.length) {
        points = [...(() => { const out = []; for (const point of slot[0].loop) { out.push(_add_of_sketch(point, corner)); } return out; })()];
        identity = of_loop(group.view, position, loops.get(position));
        loop = new Route(points, "data", box, box, THIN_of_thickness, undefined, undefined, undefined, words.loops.get(position), identity);
        this.routes.push(loop);
      }
    }
    return numbers_;
  }
  _webs(number, numbers_, box) {
    let view, ports;
    view = this.groups.at(number).view;
    ports = (() => { const out = new Map(); for (const port of py_range(view.skeleton.ports.length)) { out.set(port, this.port_number.get([number, port])); } return out; })();
    py_extend(this.webs, webs(view, box, numbers_, ports));
  }
  _line(number, index, numbers_, box, origin, gates, main) {
    let made_, view, wire, line, ends, count, source, target, goes_on, route_;
    [made_, view] = [this.frames.get(number), this.groups.at(number).view];
    [wire, line] = [view.skeleton.wires.at(index), made_.lines.get(index)];
    [ends, count] = [[wire.chain[0], wire.chain.at(-1)], view.skeleton.children];
    [source, target] = (() => { const out = []; for (const end of ends) { out.push(((end < count) ? numbers_.get(end) : -1)); } return out; })();
    goes_on = (() => { const out = []; for (const [end_number, end] of py_enumerate(ends)) { out.push(((end >= count) || (gate_of(view, index, end_number, gates) != null))); } return out; })();
    route_ = new Route([...(() => { const out = []; for (const point of made_.routes.get(index)) { out.push(_add_of_sketch(point, origin)); } return out; })()], line.kind, source, target, hand_thickness(line), wire.turned, !goes_on.at(((line.kind === "reference") ? 0 : 1)), (((source < 0) || (target < 0)) ? box : -1), view.words.lines.get(index).title, of_wire(view, index), this.port_at(number, index, 0), this.port_at(number, index, 1), main);
    this.routes.push(route_);
    if (made_.labels.has(index)) {
      this.texts.push(_label_of_sketch(view.words.lines.get(index), _add_of_sketch(made_.labels.get(index), origin), box));
    }
  }
  port_at(number, index, end) {
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
    port = gate_of(group.view, index, end, new Map([[item, this.frames.get(child).gates]]));
    return ((port == null) ? -1 : py_get(this.port_number, [child, port], -1));
  }
  _port(number, port, wires, box, origin) {
    let made_, view, kinds, kind, slot, point, others, title_;
    [made_, view] = [this.frames.get(number), this.groups.at(number).view];
    kinds = (() => { const out = new Set(); for (const index of wires) { out.add(made_.lines.get(index).kind); } return out; })();
    kind = (kinds.has("reference") ? "reference" : ((kinds.has("data") || !kinds.size) ? "data" : "control"));
    slot = view.skeleton.ports.at(port);
    point = _add_of_sketch(made_.ports.at(port), origin);
    others = [...(() => { const out = []; for (const [row, _] of slot.others) { out.push(py_get(view.addresses, row, "")); } return out; })()];
    title_ = view.words.ports.at(port);
    this.ports.push(new Port(...point, box, kind, slot.others.length, title_, view.address, port, slot.first, others));
  }
}
function _add_of_sketch(point, shift) {
  return [(point[0] + shift[0]), (point[1] + shift[1])];
}
function areas_of(view) {
  let mask, count, areas;
  [mask, count] = [view.metagraph.mask, view.node_labels.length];
  areas = py_fromkeys(Map, mask.in_extract, "in_extract");
  py_update(areas, py_fromkeys(Map, mask.out_extract, "out_extract"));
  py_update(areas, py_fromkeys(Map, py_range(count, (count + view.functions.length)), "functions"));
  return areas;
}
function _box(node, slot, corner, parent, depth_, opened, area, title_) {
  return new Box(node.address, node.row, node.kind, parent, depth_, ...corner, ...slot[0].box, opened, !!node.openable, slot[0].sheets, node.connected, area, node.member, title_);
}
function _stub_of_sketch(stub, corner, number, undrawn) {
  let points, identities;
  points = [...(() => { const out = []; for (const point of stub.points) { out.push(_add_of_sketch(point, corner)); } return out; })()];
  identities = [...(() => { const out = []; for (const identity of stub.identities) { out.push(undrawn.of_annotation(identity.index)); } return out; })()];
  return py_replace(stub, {x: (stub.x + corner[0]), y: (stub.y + corner[1]), box: number, points: points, identities: identities});
}
function _label_of_sketch(words, middle, box) {
  let y;
  y = (middle[1] + BASELINE.get(SMALL_SIZE));
  return new Text(middle[0], y, words.label, words.title, SMALL_SIZE, hand_width(words.label, SMALL_SIZE), "edge", undefined, undefined, box);
}

// place.nested
class KnownFrame {
  constructor(group, level, below_, frame) {
    this.group = group;
    this.level = level;
    this.below = below_;
    this.frame = frame;
  }
}
class FrameCache {
  constructor() {
    this.known = new TupleMap();
  }
}
function place(view, options, cache = null) {
  let known_, levels, groups, frames, number, group, below_, last, sketch, where, box, depth_, x, y, numbers_, position, child, slot;
  known_ = (cache || new FrameCache()).known;
  levels = groups_in_order(view);
  groups = lead_through(levels);
  frames = new Map();
  for (number of py_range((groups.length - 1), -1, -1)) {
    group = groups.at(number);
    below_ = (() => { const out = new Map(); for (const [position, child] of group.below.entries()) { out.set(position, frames.get(child)); } return out; })();
    last = py_get(known_, group.view.path);
    if (((last != null) && is_as_before(last, group, levels.at(number).view, below_))) {
      frames.set(number, last.frame);
      continue;
    }
    frames.set(number, frame_of_frames(group.view, group.heading, below_, group.outside, options.direction));
    known_.set(group.view.path, new KnownFrame(group, levels.at(number).view, below_, frames.get(number)));
  }
  sketch = new Sketch(groups, frames);
  where = new Map([[0, [-1, 0, [0, 0]]]]);
  for ([number, group] of py_enumerate(groups)) {
    [box, depth_, [x, y]] = where.get(number);
    numbers_ = sketch.group(number, box, depth_, [x, y]);
    for ([position, child] of group.below.entries()) {
      slot = frames.get(number).slots.at(position);
      where.set(child, [numbers_.get(position), (depth_ + 1), [(slot[1][0] + x), (slot[1][1] + y)]]);
    }
  }
  return sketch.scene(options.direction);
}
function is_as_before(last, group, level, below_) {
  let was;
  was = last.level;
  return ((was.metagraph === level.metagraph) && py_equal(was.skeleton, level.skeleton) && (was.address === level.address) && py_equal(last.group.view.skeleton.spine, group.view.skeleton.spine) && (last.below.size === below_.size) && (() => { for (const [position, made_] of below_.entries()) { if (!(py_get(last.below, position) === made_)) return false; } return true; })() && py_equal(last.group.heading, group.heading) && py_equal(last.group.outside, group.outside) && py_equal(was.node_labels, level.node_labels) && py_equal(was.functions, level.functions) && py_equal(was.words, level.words));
}

// view.labels
const NAMES_LISTED = 40;
const LONGEST_NAME_of_labels = 300;
function account(edge, source, target) {
  return (String(brief(source)) + " → " + String(brief(target)) + ": " + String(hand_contents(edge)));
}
function brief(name, most_ = LONGEST_NAME_of_labels) {
  return hand_clean(cut_middle(name, most_));
}
function counted_of_labels(count, noun) {
  return (String(hand_thousands(count)) + " " + String(plural(count, noun)));
}

// view.stubs
const LONGEST_LABEL_of_stubs = 100;
const KIND_WORDS = new Map([["shortcut", "linked"], ["constant", "constant"], ["summary", "summary"], ["weight", "weight"]]);
function stubs_at(annotations, side_, names, labels, limit) {
  let here, stubs, rest, listed, title_;
  here = (() => { const out = []; for (const [index, annotation] of annotations) if ((annotation.side === side_)) { out.push([index, annotation]); } return out; })();
  stubs = (() => { const out = []; for (const [index, annotation] of here.slice(0, limit)) { out.push(stub_of_stubs(index, annotation, names, labels)); } return out; })();
  rest = here.slice(limit);
  if (rest.length) {
    listed = py_join(", ", (() => { const out = []; for (const [_, annotation] of rest.slice(0, NAMES_LISTED)) { out.push(brief(py_get(names, annotation.other, ""))); } return out; })());
    title_ = (String(rest.length) + " more: " + String(listed));
    stubs.push(new StubWords("more", ("+" + String(rest.length)), title_, -1, false, [...(() => { const out = []; for (const [index, _] of rest) { out.push(index); } return out; })()]));
  }
  return [...stubs];
}
function stub_of_stubs(index, annotation, names, labels) {
  let full, label_, more, parts, count, control, title_;
  full = hand_clean(py_get(names, annotation.other, ""));
  [label_, more] = [neighbour_name(annotation.other, names, labels), ""];
  parts = label_.split(" (");
  if (((annotation.kind === "weight") && (parts.length > 1) && (hand_width(label_, SMALL_SIZE) > LONGEST_LABEL_of_stubs))) {
    [label_, more] = [py_join(" (", parts.slice(0, -1)), (", " + parts.at(-1).replaceAll(")", ""))];
  }
  count = ((annotation.edges > 1) ? (", " + String(annotation.edges) + " edges") : "");
  control = (annotation.control ? ", control" : "");
  title_ = (String(brief(full)) + " (" + String(KIND_WORDS.get(annotation.kind)) + String(count) + String(control) + String(more) + ")");
  label_ = elide(label_, LONGEST_LABEL_of_stubs, SMALL_SIZE);
  return new StubWords(annotation.kind, label_, title_, annotation.other, annotation.control, [index]);
}
function neighbour_name(row, names, labels) {
  let full;
  full = hand_clean(py_get(names, row, ""));
  return (hand_clean(py_get(labels, row, "")) || (last_segment(full) || full));
}

// view.shared
const MANY_of_shared = 5;
const LISTED = 3;
const LONGEST_NAME_of_shared = 160;
function notes_of(view) {
  let core, shared, inside, index, stub, away;
  core = (() => { const out = []; for (const position of view.metagraph.core()) if (!view.opened.has(position)) { out.push(position); } return out; })();
  shared = new TupleMap();
  inside = new Set(core);
  for ([index, stub] of py_enumerate(view.metagraph.annotations)) {
    if (((stub.kind === "shortcut") && inside.has(stub.child))) {
      py_setdefault(shared, [stub.side, stub.other], []).push(index);
    }
  }
  away = (() => { const out = new Set(); for (const position of view.metagraph.mask.extracted) { out.add(view.metagraph.children.at(position)); } return out; })();
  return [...(() => { const out = []; for (const [[side_, other], indices] of shared.entries()) if ((indices.length >= ((away.has(other) || ((2 * indices.length) >= core.length)) ? LISTED : MANY_of_shared))) { out.push(note(view, side_, other, indices, core.length)); } return out; })()];
}
function note(view, side_, other, indices, count) {
  let who, arrow, name, boxes, full, account_;
  who = ((indices.length === count) ? "all boxes" : (String(indices.length) + " boxes"));
  arrow = (py_truth((side_ === "out")) ? "→" : "←");
  name = elide(neighbour_name(other, view.names, view.labels), LONGEST_NAME_of_shared, SMALL_SIZE);
  boxes = (() => { const out = []; for (const index of indices) { out.push(view.node_labels.at(view.metagraph.annotations.at(index).child).label); } return out; })();
  full = hand_clean(py_get(view.names, other, ""));
  account_ = (String(brief(full)) + " " + String((py_truth((side_ === "out")) ? "←" : "→")) + " " + String(py_join(", ", py_map(brief, boxes.slice(0, NAMES_LISTED)))));
  return new Note((String(who) + " " + String(arrow) + " " + String(name)), account_, [...indices]);
}

// view.words
const NAMELESS = "…";
function words_of(view, limit) {
  let node_labels, notes, beside_, links_;
  node_labels = [...view.node_labels, ...view.functions];
  notes = notes_of(view);
  beside_ = stubs_by_child(view, (() => { const out = new Set(); for (const note_ of notes) for (const index of note_.annotations) { out.add(index); } return out; })());
  links_ = linked_names(view);
  return new LevelWords([...(() => { const out = []; for (const [position, node] of py_enumerate(node_labels)) { out.push(second_line(node, links_.at(position).length)); } return out; })()], [...(() => { const out = []; for (const [position, node] of py_enumerate(node_labels)) { out.push(tooltip(node, links_.at(position))); } return out; })()], [...(() => { const out = []; for (const stubs of beside_) { out.push(stubs_at(stubs, "in", view.names, view.labels, limit)); } return out; })()], [...(() => { const out = []; for (const stubs of beside_) { out.push(stubs_at(stubs, "out", view.names, view.labels, limit)); } return out; })()], notes, (() => { const out = new Map(); for (const [wire, line] of view.drawn().entries()) { out.set(wire, new LineWords(hand_shown(line), account(line, ...end_names(view, line)))); } return out; })(), (() => { const out = new Map(); for (const [position, _] of view.metagraph.loops) { out.set(position, (String(brief(node_labels.at(position).full)) + " → itself")); } return out; })(), [...(() => { const out = []; for (const port of view.skeleton.ports) { out.push(py_join(", ", (() => { const out = []; for (const [row, _] of port.others.slice(0, NAMES_LISTED)) { out.push(brief(py_get(view.names, row, NAMELESS))); } return out; })())); } return out; })()]);
}
function stubs_by_child(view, noted_) {
  let by_child, index, annotation;
  by_child = (() => { const out = []; for (const _ of [...view.node_labels, ...view.functions]) { out.push([]); } return out; })();
  for ([index, annotation] of py_enumerate(view.metagraph.annotations)) {
    if ((!noted_.has(index) && !view.opened.has(annotation.child))) {
      by_child.at(annotation.child).push([index, annotation]);
    }
  }
  return by_child;
}
function linked_names(view) {
  let by_child, annotation;
  by_child = (() => { const out = []; for (const _ of [...view.node_labels, ...view.functions]) { out.push([]); } return out; })();
  for (annotation of view.metagraph.annotations) {
    if (view.opened.has(annotation.child)) {
      by_child.at(annotation.child).push(py_get(view.names, annotation.other, NAMELESS));
    }
  }
  return by_child;
}
function second_line(node, links_ = 0) {
  let second, number;
  second = node.second;
  if (links_) {
    second = py_join(" · ", (() => { const out = []; for (const part of [second, counted_of_labels(links_, "link")]) if (part) { out.push(part); } return out; })());
  }
  number = py_removeprefix(node.badge, "×").replaceAll(" parts", "");
  if ((node.badge && second.startsWith((String(number) + " op")))) {
    return ((node.kind === "series") ? node.badge : second);
  }
  return py_join(" · ", (() => { const out = []; for (const part of [node.badge, second]) if (part) { out.push(part); } return out; })());
}
function as_stack(node, said, member, shown, members) {
  let counted_each, inside, aside_, other;
  counted_each = ((member.kind === "series") && !["op", "call"].includes(member.member) && !member.about);
  inside = ((member.second && !counted_each) ? (String(member.second) + " each") : member.second);
  aside_ = (node.connected ? "" : "side by side");
  other = (shown ? ("as " + String(member.label)) : "");
  return py_replace(node, {label: (String(node.label) + " " + String(node.badge)), second: py_join(" · ", (() => { const out = []; for (const part of [aside_, other, ((said == null) ? inside : said)]) if (part) { out.push(part); } return out; })()), badge: "", about: ("shown: " + String(member.label) + ", one of " + String(members)), stacked: true});
}
function tooltip(node, links_) {
  let linked;
  linked = (links_.length ? ("linked with " + String(py_join(", ", py_map(brief, links_.slice(0, NAMES_LISTED))))) : "");
  return py_join(" · ", (() => { const out = []; for (const part of [brief(node.full), second_line(node), node.about, linked]) if (part) { out.push(part); } return out; })());
}
function end_names(view, line) {
  let inside, outside;
  if (!(line instanceof Bridge)) {
    return [view.node_labels.at(line.source).full, view.node_labels.at(line.target).full];
  }
  [inside, outside] = [view.node_labels.at(line.child).full, py_get(view.names, line.other, NAMELESS)];
  return (line.inbound ? [outside, inside] : [inside, outside]);
}

// render.texts
function written(content, x, y, size, width, colour, anchor = "start", semibold = false, halo = null) {
  return ((content && width) ? [new Label(content, x, y, size, width, colour, anchor, semibold, halo)] : []);
}

// render.signs
const DASHES_of_signs = new Map([["−", [6, 3]], ["→", [1, 3]]]);
const WIDTHS_of_signs = new Map([["+", 2.5], ["−", 2], ["~", 1], ["→", 2]]);
const DISC = 6;
const BEAD = 4.5;
const STROKES = new Map([["+", [["M", [-3, 0]], ["H", [3]], ["M", [0, -3]], ["V", [3]]]], ["−", [["M", [-3, 0]], ["H", [3]]]], ["~", [["M", [-3.5, 1]], ["C", [-2.5, -2.5, -1, -1.5, 0, 0]], ["C", [1, 1.5, 2.5, 2.5, 3.5, -1]]]], ["→", [["M", [-3.5, 0]], ["H", [3]], ["M", [0.5, -2.5]], ["L", [3, 0]], ["L", [0.5, 2.5]]]]]);
function outline(x, y, width, height_, radius, fill) {
  let thick, insets;
  if (!fill.sign) {
    return [];
  }
  thick = WIDTHS_of_signs.get(fill.sign);
  insets = ((fill.sign === "~") ? [(thick / 2), 3] : [(thick / 2)]);
  return (() => { const out = []; for (const inset of insets) { out.push(_ring(x, y, width, height_, radius, fill, inset)); } return out; })();
}
function _ring(x, y, width, height_, radius, fill, inset) {
  let dotted, pen, rounded;
  dotted = (fill.sign === "→");
  pen = new Pen(fill.stroke, WIDTHS_of_signs.get(fill.sign), py_get(DASHES_of_signs, fill.sign, []), (dotted ? "round" : "butt"));
  rounded = py_max([0, (radius - inset)]);
  return new Rectangle((x + inset), (y + inset), (width - (2 * inset)), (height_ - (2 * inset)), rounded, undefined, pen);
}
function disc(x, y, fill, theme) {
  return (fill.sign ? _disc(x, y, DISC, fill.stroke, fill.sign, theme) : []);
}
function bead(x, y, tint, theme) {
  return _disc(x, y, BEAD, tint.colour, tint.sign, theme);
}
function _disc(x, y, radius, colour, sign, theme) {
  let pen, ground;
  pen = new Pen(theme.background, 1.5, undefined, "round");
  ground = new Disc(x, y, radius, colour, new Pen(theme.background));
  return [ground, new Curve(STROKES.get(sign), undefined, pen, [x, y], (radius / DISC))];
}

// render.lines
const RADIUS = 10;
const CUT_LONG = 20;
const LEAST_TURN = 0.1;
const MUCH = 40;
const HEAD_LONG = 8.0;
const HEAD_WIDE = 6.0;
const HEAD_MOST = 1.6;
const DASHES_of_lines = [4, 3];
const SELECTED_MORE = 15;
const TINTED = 1.8;
const BAND = 2.5;
const THREAD = 0.6;
const BUNDLE = 100;
const BEAD_AWAY = 20;
function route(line, theme, chosen, tint = null) {
  let whole_, colour, thickness, points, backwards, marks, tip_, before, grow, room, dashes, shapes_;
  whole_ = (((tint != null) && tint.whole) ? tint : null);
  colour = ((whole_ == null) ? edge_colour(line, theme, chosen) : whole_.colour);
  thickness = ((line.thickness + (chosen ? SELECTED_MORE : 0)) / 10);
  thickness = ((whole_ && whole_.sign) ? py_max([thickness, TINTED]) : thickness);
  points = [...straightened(line.points)];
  if ((points.length < 2)) {
    return new Group([], undefined, line.title);
  }
  backwards = (line.kind === "reference");
  marks = [];
  if (line.arrow) {
    [tip_, before] = (backwards ? [points[0], points[1]] : [points.at(-1), points.at(-2)]);
    grow = py_min([HEAD_MOST, (1 + ((thickness - 1) / 5))]);
    marks.push(head(tip_, before, grow));
    room = py_sqrt((((tip_[0] - before[0]) ** 2) + ((tip_[1] - before[1]) ** 2)));
    points = shortened(points, py_min([((HEAD_LONG * grow) - 2), (room - 1)]), backwards);
  }
  if (line.back) {
    marks.push(chevron(points, thickness));
  }
  dashes = py_or((whole_ ? whole_.dashes : []), () => ((line.kind === "control") ? DASHES_of_lines : []));
  shapes_ = ((tint && !whole_) ? [band(points, thickness, tint)] : []);
  shapes_.push(new Curve(rounded_of_lines(points), undefined, new Pen(colour, thickness, dashes)));
  py_extend(shapes_, (() => { const out = []; for (const mark_ of marks) { out.push(new Curve(mark_, colour)); } return out; })());
  if ((whole_ && whole_.sign && line.arrow)) {
    py_extend(shapes_, bead_of(line, whole_, theme));
  }
  return new Group([...shapes_], undefined, line.title);
}
function web(bundle, scene, theme) {
  let dashes, pen, starts, ends, groups, start, steps, stop, source, target;
  dashes = ((bundle.kind === "control") ? DASHES_of_lines : []);
  pen = new Pen(edge_colour(bundle, theme), THREAD, dashes);
  starts = (() => { const out = new Map(); for (const source of new Set(bundle.sources)) { out.set(source, ["M", end_of_of_lines(scene, source)]); } return out; })();
  ends = (() => { const out = new Map(); for (const target of new Set(bundle.targets)) { out.set(target, ["L", end_of_of_lines(scene, target)]); } return out; })();
  groups = [];
  for (start of py_range(0, bundle.sources.length, BUNDLE)) {
    steps = [];
    stop = (start + BUNDLE);
    for ([source, target] of py_zip(bundle.sources.slice(start, stop), bundle.targets.slice(start, stop))) {
      py_extend(steps, [starts.get(source), ends.get(target)]);
    }
    groups.push(new Group([new Curve([...steps], undefined, pen)]));
  }
  return groups;
}
function end_of_of_lines(scene, end) {
  let port, box;
  if ((end < 0)) {
    port = scene.ports.at((-1 - end));
    return [port.x, port.y];
  }
  box = scene.boxes.at(end);
  return [(box.x + Math.floor(box.width / 2)), (box.y + Math.floor(box.height / 2))];
}
function straight(start, end, pen) {
  return new Curve([["M", start], ["L", end]], undefined, pen);
}
function band(points, thickness, tint) {
  return new Curve(rounded_of_lines(points), undefined, new Pen(tint.colour, (thickness + (2 * BAND)), tint.dashes));
}
function bead_of(line, tint, theme) {
  let points, tip_, before, away;
  points = [...straightened(line.points)];
  [tip_, before] = ((line.kind === "reference") ? [points[0], points[1]] : [points.at(-1), points.at(-2)]);
  away = py_min([BEAD_AWAY, (_length(tip_, before) * 0.6)]);
  return bead(..._towards(tip_, before, away), tint, theme);
}
function edge_colour(line, theme, chosen = false) {
  if (chosen) {
    return theme.selected;
  }
  if (((line instanceof Route) && (line.kind === "data") && (line.main || (line.thickness >= MUCH)))) {
    return theme.main;
  }
  return ((line.kind === "reference") ? theme.reference : theme.data);
}
function shortened(points, by, at_start) {
  let turned, return_to;
  if ((by <= 0)) {
    return points;
  }
  turned = (at_start ? py_reversed(points) : points);
  return_to = _towards(turned.at(-1), turned.at(-2), by);
  turned = [...turned.slice(0, -1), return_to];
  return (at_start ? py_reversed(turned) : turned);
}
function _towards(start, goal, distance) {
  let dx, dy, length_;
  [dx, dy] = [(goal[0] - start[0]), (goal[1] - start[1])];
  length_ = py_sqrt(((dx * dx) + (dy * dy)));
  return (length_ ? [(start[0] + ((dx * distance) / length_)), (start[1] + ((dy * distance) / length_))] : start);
}
function rounded_of_lines(points) {
  let start, stop, line, steps, index, before, corner, after, whole_, room, radius, enter, leave;
  start = whole_corner(points);
  stop = ((points.length > (py_truth(start) ? 5 : 3)) ? whole_corner(py_reversed(points)) : null);
  line = [points[0], ...(py_truth(start) ? [start] : points.slice(1, 3)), ...points.slice(3)];
  if (py_truth(stop)) {
    line = [...line.slice(0, -3), stop, line.at(-1)];
  }
  steps = [["M", line[0]]];
  for (index of py_range(1, (line.length - 1))) {
    [before, corner, after] = line.slice((index - 1), (index + 2));
    whole_ = (py_and(start, () => (index === 1)) || py_and(stop, () => (index === (line.length - 2))));
    room = [(_length(before, corner) / ((index === 1) ? 1 : 2)), (_length(corner, after) / ((index === (line.length - 2)) ? 1 : 2))];
    radius = (whole_ ? py_min(room) : py_min([RADIUS, ...room]));
    [enter, leave] = [_towards(corner, before, radius), _towards(corner, after, radius)];
    py_extend(steps, [["L", enter], (whole_ ? arc(enter, corner, leave) : ["Q", [...corner, ...leave]])]);
  }
  return [...steps, ["L", line.at(-1)]];
}
function whole_corner(points) {
  let a, b, c, d, first_, second, third, turn, size, one_way, ahead;
  if ((points.length < 4)) {
    return null;
  }
  [a, b, c, d] = points.slice(0, 4);
  if (((_length(a, b) >= RADIUS) || (_length(b, c) > CUT_LONG))) {
    return null;
  }
  [first_, second, third] = [[(b[0] - a[0]), (b[1] - a[1])], [(c[0] - b[0]), (c[1] - b[1])], [(d[0] - c[0]), (d[1] - c[1])]];
  [turn, size] = [_cross(first_, third), (_length(a, b) * _length(c, d))];
  one_way = ((_cross(first_, second) * _cross(second, third)) > 0);
  if ((!one_way || (Math.abs(turn) < (LEAST_TURN * size)) || (((first_[0] * third[0]) + (first_[1] * third[1])) < (-LEAST_TURN * size)))) {
    return null;
  }
  ahead = (_cross([(c[0] - a[0]), (c[1] - a[1])], third) / turn);
  return [(a[0] + (first_[0] * ahead)), (a[1] + (first_[1] * ahead))];
}
function arc(enter, corner, leave) {
  let ahead, aside_, cosine, part;
  [ahead, aside_] = [[(corner[0] - enter[0]), (corner[1] - enter[1])], [(leave[0] - corner[0]), (leave[1] - corner[1])]];
  cosine = (((ahead[0] * aside_[0]) + (ahead[1] * aside_[1])) / (_length(enter, corner) * _length(corner, leave)));
  part = ((((4 / 3) * (py_sqrt((2 / (1 + cosine))) - 1)) * (1 + cosine)) / (1 - cosine));
  return ["C", [(enter[0] + (ahead[0] * part)), (enter[1] + (ahead[1] * part)), (leave[0] - (aside_[0] * part)), (leave[1] - (aside_[1] * part)), ...leave]];
}
function _cross(first_, other) {
  return ((first_[0] * other[1]) - (first_[1] * other[0]));
}
function _length(a, b) {
  return py_sqrt((((a[0] - b[0]) ** 2) + ((a[1] - b[1]) ** 2)));
}
function head(tip_, before, grow = 1.0) {
  let length_, ux, uy, long, wide, foot, left, right;
  length_ = (_length(tip_, before) || 1.0);
  [ux, uy] = [((tip_[0] - before[0]) / length_), ((tip_[1] - before[1]) / length_)];
  [long, wide] = [(HEAD_LONG * grow), ((HEAD_WIDE * grow) / 2)];
  foot = [(tip_[0] - (ux * long)), (tip_[1] - (uy * long))];
  left = [(foot[0] - (uy * wide)), (foot[1] + (ux * wide))];
  right = [(foot[0] + (uy * wide)), (foot[1] - (ux * wide))];
  return [["M", tip_], ["L", left], ["L", right], ["Z", []]];
}
function chevron(points, thickness) {
  let start, stop, half, grow, first_, second;
  [start, stop] = py_max(py_pairwise(points), {key: (run) => _length(...run)});
  half = (_length(start, stop) / 2);
  grow = py_min([HEAD_MOST, (1 + ((thickness - 1) / 5))]);
  first_ = _towards(start, stop, (half + 1));
  second = _towards(start, stop, ((half + 1) + ((HEAD_LONG * grow) * 0.75)));
  return [...head(first_, start, grow), ...head(second, start, grow)];
}

// render.boxes
const CORNER_of_boxes = 6;
const SHEET_of_boxes = 4;
const EAR = 8;
const BAND_WIDTH = 8;
const BAND_LEAST = 4;
const FRAME_DASHES = [4, 3];
const STUB_DASHES = [2, 2];
const CONTROL_DASHES = [2, 2];
const STUB_LINE = 0.8;
const STUB_TINTED = 1.5;
function is_pill(box) {
  let kind;
  kind = (["series", "fold"].includes(box.kind) ? box.member : box.kind);
  return ["op", "call"].includes(kind);
}
function front(box) {
  let away;
  if (!box.sheets) {
    return [box.x, box.y, box.width, box.height];
  }
  away = (SHEET_of_boxes * box.sheets);
  if (box.connected) {
    return [box.x, (box.y + away), box.width, (box.height - away)];
  }
  return [box.x, box.y, (box.width - away), box.height];
}
function closed_box(box, fill, theme) {
  let x, y, width, height_, radius, border_, ground, shapes_, ear;
  [x, y, width, height_] = front(box);
  radius = (is_pill(box) ? Math.min(12, Math.floor(height_ / 2)) : ((box.kind === "function") ? 2 : CORNER_of_boxes));
  border_ = (fill.sign ? null : new Pen(fill.stroke));
  ground = (fill.bands.length ? theme.neutral : fill.fill);
  shapes_ = [...sheets(box, radius, ground, new Pen(fill.stroke))];
  if ((box.kind === "fold")) {
    py_extend(shapes_, _eared(x, y, width, height_, ground, fill.stroke));
  }
  else {
    shapes_.push(_rect(x, y, width, height_, radius, ground, border_));
  }
  if (fill.bands.length) {
    ear = ((box.kind === "fold") ? EAR : 0);
    py_extend(shapes_, bands_of_boxes(x, (y + ear), (height_ - ear), (ear ? 0 : radius), (ear ? 0 : radius), fill));
  }
  if (fill.hatch) {
    shapes_.push(new Hatch((x + 0.5), (y + 0.5), (width - 1), (height_ - 1), (radius - 0.5), theme.stroke));
  }
  if ((box.kind === "call")) {
    shapes_.push(_inner_ring(x, y, width, height_, radius, fill));
  }
  py_extend(shapes_, outline(x, y, width, height_, radius, fill));
  if (box.openable) {
    py_extend(shapes_, mark(...mark_place(box), theme, false));
  }
  return [...shapes_, ...disc((x + 4), (y + 3), fill, theme)];
}
function sheets(box, radius, ground, pen) {
  let x, y, width, height_, away, shifts;
  [x, y, width, height_] = front(box);
  away = (() => { const out = []; for (const sheet_ of py_range(box.sheets, 0, -1)) { out.push((SHEET_of_boxes * sheet_)); } return out; })();
  shifts = (() => { const out = []; for (const by of away) { out.push((box.connected ? [0, -by] : [by, 0])); } return out; })();
  return (() => { const out = []; for (const [dx, dy] of shifts) { out.push(_rect((x + dx), (y + dy), width, height_, radius, ground, pen)); } return out; })();
}
function _rect(x, y, width, height_, radius, fill, pen) {
  return new Rectangle((x + 0.5), (y + 0.5), (width - 1), (height_ - 1), (radius - 0.5), fill, pen);
}
function _inner_ring(x, y, width, height_, radius, fill) {
  return new Rectangle((x + 2.5), (y + 2.5), (width - 5), (height_ - 5), (radius - 2.5), undefined, new Pen(fill.stroke));
}
function _eared(x, y, width, height_, ground, stroke) {
  let left, top, right, bottom, pen, corners_, lines, ear;
  [left, top, right, bottom] = [(x + 0.5), (y + 0.5), ((x + width) - 0.5), ((y + height_) - 0.5)];
  pen = new Pen(stroke, undefined, undefined, undefined, "round");
  corners_ = [[right, top], [right, bottom], [left, bottom], [left, (top + EAR)]];
  lines = (() => { const out = []; for (const corner of corners_) { out.push(["L", corner]); } return out; })();
  ear = [["M", [(left + EAR), top]], ["L", [(left + EAR), (top + EAR)]], ["L", [left, (top + EAR)]]];
  return [new Curve([["M", [(left + EAR), top]], ...lines, ["Z", []]], ground, pen), new Curve(ear, undefined, pen)];
}
function bands_of_boxes(x, y, height_, top, foot, fill) {
  let shapes_, heights, below_, index, colour, _, tall, corners_;
  shapes_ = [];
  heights = band_heights((height_ - 2), (() => { const out = []; for (const [_, share] of fill.bands) { out.push(share); } return out; })());
  below_ = (y + 1);
  for ([index, [[colour, _], tall]] of py_enumerate(py_zip(fill.bands, heights))) {
    corners_ = [((index === 0) ? top : 0), ((index === (heights.length - 1)) ? foot : 0)];
    shapes_.push(new Curve(_band((x + 1), below_, Math.max(BAND_WIDTH, top, foot), tall, ...corners_), colour));
    below_ += tall;
  }
  return shapes_;
}
function band_heights(height_, shares) {
  let least_, total, tall, tallest;
  [least_, total] = [Math.min(BAND_LEAST, Math.floor(height_ / shares.length)), py_sum(shares)];
  tall = (() => { const out = []; for (const share of shares) { out.push(Math.max(least_, Math.floor((height_ * share) / total))); } return out; })();
  tallest = py_max(py_range(tall.length), {key: (index) => [tall.at(index), -index]});
  tall[tallest] += (height_ - py_sum(tall));
  return tall;
}
function _band(x, y, width, height_, top, foot) {
  let right, bottom, steps;
  [top, foot] = (() => { const out = []; for (const radius of [top, foot]) { out.push(Math.max(0, Math.min((radius - 1), height_))); } return out; })();
  [right, bottom] = [(x + width), (y + height_)];
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
function mark_place(box) {
  let x, y, width, height_;
  [x, y, width, height_] = front(box);
  if ((is_pill(box) && !box.open)) {
    return [((x + width) - 12), (y + Math.min(Math.floor(height_ / 2), 12))];
  }
  return [((x + width) - 10), (y + (box.open ? 12 : 10))];
}
function mark(x, y, theme, opened) {
  let across_, down, disc_;
  across_ = [["M", [(x - 3), y]], ["H", [(x + 3)]]];
  down = (opened ? [] : [["M", [x, (y - 3)]], ["V", [(y + 3)]]]);
  disc_ = new Disc(x, y, 6, theme.mark, new Pen(theme.sign, 0.5));
  return [disc_, new Curve([...across_, ...down], undefined, new Pen(theme.sign, 1.5))];
}
function frame_of_boxes(box, fill, theme) {
  let x, y, width, height_, stack, stroke, pen, shapes_;
  [x, y, width, height_] = front(box);
  stack = (["series", "fold"].includes(box.kind) && !box.sheets);
  stroke = (fill.hued ? fill.stroke : theme.stroke);
  pen = new Pen(stroke, undefined, (stack ? FRAME_DASHES : []));
  shapes_ = [...sheets(box, CORNER_of_boxes, (fill.hued ? fill.fill : theme.frame((box.depth + 1))), new Pen(stroke)), _rect(x, y, width, height_, CORNER_of_boxes, theme.frame((box.depth + 1)), (fill.sign ? null : pen))];
  if (fill.hued) {
    shapes_.push(_bar(x, y, ((y + height_) - 1), fill.fill));
  }
  py_extend(shapes_, outline(x, y, width, height_, CORNER_of_boxes, fill));
  if (box.openable) {
    py_extend(shapes_, mark(...mark_place(box), theme, true));
  }
  return [...shapes_, ...disc((x + 2), (y + 2), fill, theme)];
}
function _bar(x, y, foot, colour) {
  let steps;
  steps = [["M", [(x + 3), (y + 1)]], ["V", [foot]], ["A", [5, x, ((foot - CORNER_of_boxes) + 1)]], ["V", [(y + CORNER_of_boxes)]], ["A", [5, (x + 3), (y + 1)]], ["Z", []]];
  return new Curve(steps, colour);
}
function stub_of_boxes(mark_, fill, theme, tint = null) {
  let shapes_, middle, pen;
  shapes_ = ((mark_.kind === "more") ? [] : _stub_line(mark_, theme, tint));
  middle = [(mark_.x + (mark_.width / 2)), (mark_.y + (mark_.height / 2))];
  if ((mark_.kind === "constant")) {
    shapes_.push(new Disc(...middle, ((mark_.width / 2) - 0.5), theme.background, new Pen(theme.stroke)));
  }
  else {
    if ((mark_.kind === "weight")) {
      shapes_.push(new Curve(diamond(mark_), theme.secondary, new Pen(theme.stroke)));
    }
    else {
      if ((mark_.kind === "summary")) {
        py_extend(shapes_, bars_of_boxes(mark_.x, mark_.y, theme));
      }
      else {
        if (((mark_.kind === "shortcut") && (fill != null))) {
          pen = new Pen(fill.stroke, undefined, STUB_DASHES);
          shapes_.push(_rect(mark_.x, mark_.y, mark_.width, mark_.height, 5, fill.fill, pen));
        }
      }
    }
  }
  if (((tint != null) && tint.whole)) {
    py_extend(shapes_, bead(...middle, tint, theme));
  }
  else {
    if ((fill != null)) {
      py_extend(shapes_, disc(...middle, fill, theme));
    }
  }
  return shapes_;
}
function diamond(mark_) {
  let across_, along, right, foot;
  [across_, along] = [(mark_.x + (mark_.width / 2)), (mark_.y + (mark_.height / 2))];
  [right, foot] = [(mark_.x + mark_.width), (mark_.y + mark_.height)];
  return [["M", [across_, mark_.y]], ["L", [right, along]], ["L", [across_, foot]], ["L", [mark_.x, along]], ["Z", []]];
}
function bars_of_boxes(x, y, theme) {
  let chart, right, top, ground;
  chart = [];
  for ([right, top] of [[3.5, 6], [6, 3], [8.5, 5]]) {
    py_extend(chart, [["M", [(x + right), (y + 10)]], ["V", [(y + top)]]]);
  }
  ground = new Rectangle((x + 0.5), (y + 0.5), 11, 11, 1.5, theme.background, new Pen(theme.stroke));
  return [ground, new Curve([...chart], undefined, new Pen(theme.secondary, 1.5))];
}
function _stub_line(mark_, theme, tint) {
  let points, arrow, colour, dashes, pen;
  points = [...mark_.points];
  arrow = head(points.at(-1), points.at(-2), 0.7);
  colour = (tint ? tint.colour : theme.data);
  dashes = py_or((tint ? tint.dashes : []), () => (mark_.control ? CONTROL_DASHES : []));
  pen = new Pen(colour, (tint ? STUB_TINTED : STUB_LINE), dashes);
  return [new Curve(rounded_of_lines(shortened(points, 4, false)), undefined, pen), new Curve(arrow, colour)];
}

// render.legend
const WIDEST_COLUMN = 260;
const WIDEST = 480;
const SAMPLE = 28;
const GAP_of_legend = 8;
const BECAME = new TupleMap([[["+", true], "new wire"], [["−", true], "removed wire"], [["~", true], "new and removed"], [["+", false], "partly new"], [["−", false], "partly removed"], [["~", false], "partly new, removed"]]);
class LegendEntry {
  constructor(sample, label_, more = "") {
    this.sample = sample;
    this.label = label_;
    this.more = more;
  }
}
class LegendBlock {
  constructor(heading_, entries, most_ = WIDEST_COLUMN) {
    this.heading = heading_;
    this.entries = entries;
    this.most = most_;
  }
  get column() {
    let longest_;
    longest_ = py_max((() => { const out = []; for (const entry of this.entries) for (const text of [entry.label, entry.more]) { out.push(hand_width(text, OP_SIZE)); } return out; })());
    return Math.min(this.most, ((longest_ + SAMPLE) + GAP_of_legend));
  }
}
function legend(scene, paint) {
  let colours, blocks_;
  colours = [...(() => { const out = []; for (const row of paint.legend) { out.push(_colour_of_legend(row, paint.theme)); } return out; })()];
  blocks_ = [new LegendBlock(paint.heading, colours, ((paint.scheme === "diff") ? WIDEST : WIDEST_COLUMN)), new LegendBlock("Signs", [...signs(scene, paint.theme), ...became(paint)])];
  return [...(() => { const out = []; for (const block_ of blocks_) if (block_.entries.length) { out.push(block_); } return out; })()];
}
function became(paint) {
  let tints, tint;
  tints = new TupleMap();
  for (tint of [...paint.tints.routes, ...paint.tints.stubs]) {
    if (((tint != null) && tint.sign)) {
      py_setdefault(tints, [tint.sign, tint.whole], tint);
    }
  }
  return (() => { const out = []; for (const [key, label_] of BECAME.entries()) if (tints.has(key)) { out.push(new LegendEntry(route(SAMPLE_EDGE, paint.theme, false, tints.get(key)).shapes, label_)); } return out; })();
}
function _colour_of_legend(row, theme) {
  let sample;
  if ((row.shape === "rest")) {
    return new LegendEntry([], row.label);
  }
  sample = closed_box(SAMPLE_BOX, row.fill, theme);
  if (row.fill.badge) {
    py_extend(sample, written(row.fill.badge, (SAMPLE / 2), 12, 10, hand_width(row.fill.badge, 10), row.fill.text, "middle"));
  }
  return new LegendEntry([...sample], row.label, row.more);
}
const NONE = -1;
const SAMPLE_BOX = new Box("", NONE, "scope", NONE, 0, 0, 0, SAMPLE, 16, false, false);
const SAMPLE_EDGE = new Route([[0, 8], [SAMPLE, 8]], "data", NONE, NONE, 10);
function _box_sign(box) {
  return (fill, theme) => closed_box(box, fill, theme);
}
function _frame_sign(box) {
  return (fill, theme) => frame_of_boxes(box, fill, theme);
}
function _edge_sign(edge) {
  return (fill, theme) => route(edge, theme, false).shapes;
}
function _stub_sign(stub) {
  return (fill, theme) => stub_of_boxes(stub, fill, theme);
}
function _mark_sign(fill, theme) {
  return [...mark(7, 8, theme, false), ...mark(21, 8, theme, true)];
}
const LINE = [[16, 8], [28, 8]];
const SIGNS = [["opens", "opens, is open", _mark_sign], ["op", "operation", _box_sign(py_replace(SAMPLE_BOX, {kind: "op"}))], ["call", "function call", _box_sign(py_replace(SAMPLE_BOX, {kind: "call"}))], ["function", "function", _box_sign(py_replace(SAMPLE_BOX, {kind: "function"}))], ["series", "repeated, side by side", _box_sign(py_replace(SAMPLE_BOX, {kind: "series", sheets: 2}))], ["chain", "repeated, one after another", _box_sign(py_replace(SAMPLE_BOX, {kind: "series", sheets: 2, connected: true, height: 18, y: -1}))], ["shown", "repeated, one is shown", _frame_sign(py_replace(SAMPLE_BOX, {kind: "series", sheets: 2, connected: true, open: true, height: 20, y: -2}))], ["fold", "many in one box", _box_sign(py_replace(SAMPLE_BOX, {kind: "fold", sheets: 2}))], ["constant", "constant", _stub_sign(new Stub(4, 3, 10, 10, "constant", "in", NONE, NONE, LINE))], ["weight", "weight", _stub_sign(new Stub(4, 3, 10, 10, "weight", "in", NONE, NONE, LINE))], ["summary", "summary", _stub_sign(new Stub(3, 2, 12, 12, "summary", "in", NONE, NONE, LINE))], ["shortcut", "leads elsewhere", _stub_sign(new Stub(0, 3, 18, 10, "shortcut", "in", NONE, NONE, [[18, 8], [28, 8]]))], ["data", "data", _edge_sign(SAMPLE_EDGE)], ["control", "control", _edge_sign(py_replace(SAMPLE_EDGE, {kind: "control"}))], ["reference", "reference", _edge_sign(py_replace(SAMPLE_EDGE, {kind: "reference"}))], ["back", "against the flow", _edge_sign(py_replace(SAMPLE_EDGE, {back: true}))]];
function occurring(scene) {
  let names, box;
  names = (() => { const out = new Set(); for (const stub of scene.stubs) { out.add(stub.kind); } return out; })();
  names = py_union(names, py_union((() => { const out = new Set(); for (const edge of scene.routes) { out.add(edge.kind); } return out; })(), (() => { const out = new Set(); for (const web_ of scene.webs) { out.add(web_.kind); } return out; })()));
  for (box of scene.boxes) {
    if (box.openable) {
      names.add("opens");
    }
    if ((box.open && box.sheets)) {
      names.add("shown");
    }
    if ((!box.open && (box.kind !== "scope"))) {
      names.add((((box.kind === "series") && box.connected) ? "chain" : box.kind));
    }
  }
  if ((() => { for (const edge of scene.routes) { if (edge.back) return true; } return false; })()) {
    names.add("back");
  }
  return names;
}
function signs(scene, theme) {
  let names, plain;
  names = occurring(scene);
  plain = new Fill(theme.op, theme.stroke, theme.text, theme.secondary);
  return (() => { const out = []; for (const [name, label_, draw] of SIGNS) if (names.has(name)) { out.push(new LegendEntry([...draw(plain, theme)], label_)); } return out; })();
}

// render.rows
const ROW_of_rows = 20;
const HEADING = 22;
const MORE = 14;
const APART = 16;
const WIDTHS_of_rows = [150, 200, 260, 340, 440, 560, 720, 1000];
class PlacedBlock {
  constructor(block_, x, y, columns_, lines) {
    this.block = block_;
    this.x = x;
    this.y = y;
    this.columns = columns_;
    this.lines = lines;
  }
}
class Legend {
  constructor(width, height_, blocks_) {
    this.width = width;
    this.height = height_;
    this.blocks = blocks_;
  }
}
function shapes(blocks_) {
  let measured, candidates_;
  measured = (() => { const out = []; for (const block_ of blocks_) { out.push([block_, block_.column, hand_width(block_.heading, OP_SIZE, true)]); } return out; })();
  candidates_ = py_fromkeys(Map, (() => { const out = []; for (const limit of WIDTHS_of_rows) { out.push(shaped(measured, limit)); } return out; })());
  return (() => { const out = []; for (const candidate of candidates_.keys()) if (candidate.blocks.length) { out.push(candidate); } return out; })();
}
function shaped(blocks_, limit) {
  let placed, x, y, deep, wide, block_, column, heading_, columns_, lines, across_;
  placed = [];
  x = 0;
  y = x;
  deep = x;
  wide = x;
  for ([block_, column, heading_] of blocks_) {
    [columns_, lines] = columns_for(block_, column, limit);
    across_ = Math.max(((columns_ * (column + APART)) - APART), heading_);
    if ((x && ((x + across_) > limit))) {
      [x, y, deep] = [0, ((y + deep) + APART), 0];
    }
    placed.push(new PlacedBlock(block_, x, y, columns_, lines));
    x += across_;
    [wide, x] = [Math.max(wide, x), (x + (2 * APART))];
    deep = Math.max(deep, ((HEADING + (ROW_of_rows * lines)) + py_sum((() => { const out = []; for (const entry of block_.entries) if (entry.more) { out.push(MORE); } return out; })())));
  }
  return new Legend(wide, (y + deep), [...placed]);
}
function columns_for(block_, column, limit) {
  let count, lines;
  count = block_.entries.length;
  if ((() => { for (const entry of block_.entries) { if (entry.more) return true; } return false; })()) {
    return [1, count];
  }
  lines = -Math.floor(-count / py_max([1, Math.floor((limit + APART) / (column + APART))]));
  return [-Math.floor(-count / lines), lines];
}
function *drawn_of_rows(legend_, theme) {
  let placed, step, lower, index, entry, x, y;
  for (placed of legend_.blocks) {
    step = (placed.block.column + APART);
    yield new Group([..._text_of_rows(placed.block.heading, placed.x, (placed.y + 14), theme.text, true)]);
    lower = 0;
    for ([index, entry] of py_enumerate(placed.block.entries)) {
      x = (placed.x + (step * Math.floor(index / placed.lines)));
      y = (((placed.y + HEADING) + (ROW_of_rows * py_mod(index, placed.lines))) + lower);
      yield _row(entry, [x, y], placed.block.most, theme);
      lower += (entry.more ? MORE : 0);
    }
  }
}
function _row(entry, origin, most_, theme) {
  let label_, texts;
  label_ = elide(hand_clean(entry.label), ((most_ - SAMPLE) - GAP_of_legend), OP_SIZE);
  texts = _text_of_rows(label_, (SAMPLE + GAP_of_legend), 12, theme.text, false);
  py_extend(texts, _text_of_rows(entry.more, (SAMPLE + GAP_of_legend), (12 + MORE), theme.text, false));
  return new Group([...entry.sample, ...texts], undefined, undefined, undefined, origin);
}
function _text_of_rows(content, x, y, colour, semibold) {
  return written(content, x, y, OP_SIZE, hand_width(content, OP_SIZE, semibold), colour, undefined, semibold);
}

// render.sheet
const MARGIN_of_sheet = 24;
const TITLE_SIZE = 16;
const FACTS_SIZE = 11;
const TITLE_ROW = 48;
const LEGEND_GAP = 24;
const LEAST_WIDTH = 240;
const MOST_TITLE = 480;
const SCREEN_of_sheet = 1155;
class Sheet {
  constructor(width, height_, scene, legend_ = null, at = [0, 0]) {
    this.width = width;
    this.height = height_;
    this.scene = scene;
    this.legend = legend_;
    this.at = at;
  }
  get cost() {
    let screen;
    screen = Math.max(Math.floor((7 * this.width) / 12), this.height, SCREEN_of_sheet);
    return ((this.width * this.height) + Math.floor(((12 * screen) * screen) / 7));
  }
}
function sheet(scene, blocks_, caption) {
  let title_, sky, pages;
  title_ = [_title_width(caption), (caption.title ? TITLE_ROW : 0)];
  if (!blocks_.length) {
    return _page(scene, title_, null, [0, 0]);
  }
  sky = reaches(scene);
  pages = (() => { const out = []; for (const form of shapes(blocks_)) for (const corner of corners(scene, sky, form)) { out.push(_page(scene, title_, form, corner)); } return out; })();
  return py_min(pages, {key: (page) => page.cost});
}
function *corners(scene, sky, form) {
  let high, out, left, reach_, top;
  [high, out] = [Math.max(0, (scene.height - form.height)), (scene.width - form.width)];
  for (left of [0, Math.max(0, out)]) {
    reach_ = sky.bottom((left - LEGEND_GAP), ((left + form.width) + LEGEND_GAP));
    yield [left, Math.max((reach_ ? (reach_ + LEGEND_GAP) : 0), high)];
  }
  for (top of [0, high]) {
    reach_ = sky.left((top - LEGEND_GAP), ((top + form.height) + LEGEND_GAP));
    yield [Math.min((reach_ ? ((out - reach_) - LEGEND_GAP) : out), 0), top];
    reach_ = sky.right((top - LEGEND_GAP), ((top + form.height) + LEGEND_GAP));
    yield [Math.max((reach_ ? (reach_ + LEGEND_GAP) : 0), out), top];
  }
}
function _page(scene, title_, form, corner) {
  let across_, deep, left, top, wide, size;
  [across_, deep] = (form ? [form.width, form.height] : [0, 0]);
  [left, top] = [Math.min(0, corner[0]), (MARGIN_of_sheet + title_[1])];
  wide = Math.max((Math.max(scene.width, (corner[0] + across_)) - left), title_[0]);
  size = [(wide + (2 * MARGIN_of_sheet)), ((top + Math.max(scene.height, (corner[1] + deep))) + MARGIN_of_sheet)];
  return new Sheet(...size, [(MARGIN_of_sheet - left), top], form, [((MARGIN_of_sheet - left) + corner[0]), (top + corner[1])]);
}
function reaches(scene) {
  let sky, outer, box, lines, points, text, left, rule;
  sky = new Skyline(scene.routes.length, scene.width);
  outer = py_union((() => { const out = new Set(); for (const [index, box] of py_enumerate(scene.boxes)) if ((box.parent < 0)) { out.add(index); } return out; })(), new Set([-1]));
  for (box of scene.boxes) {
    if ((box.parent < 0)) {
      sky.add_rect([box.x, box.y, (box.x + box.width), (box.y + box.height)]);
    }
  }
  if (scene.webs.length) {
    sky.add_rect([0, 0, scene.width, scene.height]);
  }
  lines = (() => { const out = []; for (const route_ of scene.routes) if ((route_.frame < 0)) { out.push(route_.points); } return out; })();
  for (points of [...lines, ...(() => { const out = []; for (const stub of scene.stubs) if (outer.has(stub.box)) { out.push(stub.points); } return out; })()]) {
    sky.add_line(points);
  }
  for (text of scene.texts) {
    if (!outer.has(text.box)) {
      continue;
    }
    left = (text.x - new Map([["start", 0], ["middle", Math.floor(text.width / 2)], ["end", text.width]]).get(text.anchor));
    sky.add_rect([left, (text.y - text.size), (left + text.width), (text.y + 3)]);
  }
  for (rule of scene.rules) {
    sky.add_rect([rule.x1, rule.y1, rule.x2, rule.y2]);
  }
  return sky;
}
function _title_width(caption) {
  let wanted;
  if (!caption.title) {
    return 0;
  }
  wanted = Math.max(hand_width(caption.title, TITLE_SIZE, true), hand_width(caption.facts, FACTS_SIZE));
  return Math.max(LEAST_WIDTH, Math.min(MOST_TITLE, wanted));
}
function title_row(caption, theme, page_width) {
  let room, name, facts, size, first_, second;
  if (!caption.title) {
    return [];
  }
  room = (page_width - (2 * MARGIN_of_sheet));
  name = elide(hand_clean(caption.title), room, TITLE_SIZE, true);
  facts = elide(caption.facts, room, FACTS_SIZE);
  size = [TITLE_SIZE, hand_width(name, TITLE_SIZE, true)];
  first_ = written(name, MARGIN_of_sheet, (MARGIN_of_sheet + 14), ...size, theme.text, undefined, true);
  second = written(facts, MARGIN_of_sheet, (MARGIN_of_sheet + 32), FACTS_SIZE, hand_width(facts, FACTS_SIZE), theme.secondary);
  return [new Group([...first_, ...second])];
}

// render.compose
const PORT = 2.5;
const BADGE_SIZE = 9;
function compose(scene, paint, caption, with_legend = true) {
  let page, parts;
  page = sheet(scene, (with_legend ? legend(scene, paint) : []), caption);
  parts = [new Section("title", [0, 0], title_row(caption, paint.theme, page.width)), new Section("graph", page.scene, graph(scene, paint, new Set(caption.select)))];
  if (page.legend) {
    parts.push(new Section("legend", page.at, [...drawn_of_rows(page.legend, paint.theme)]));
  }
  return new Drawing(page.width, page.height, (caption.title || "graph"), caption.facts, paint.theme.background, [...parts]);
}
function graph(scene, paint, select) {
  let theme, chosen, inside, text, opened, closed_;
  theme = paint.theme;
  chosen = (() => { const out = new Set(); for (const [index, box] of py_enumerate(scene.boxes)) if (select.has(box.address)) { out.add(index); } return out; })();
  inside = new Map();
  for (text of scene.texts) {
    py_setdefault(inside, (text.inside ? text.box : -1), []).push(text);
  }
  opened = (() => { const out = []; for (const [index, box] of py_enumerate(scene.boxes)) if (box.open) { out.push(index); } return out; })();
  closed_ = (() => { const out = []; for (const [index, box] of py_enumerate(scene.boxes)) if (!box.open) { out.push(index); } return out; })();
  return [...(() => { const out = []; for (const index of opened) { out.push(_node(scene, index, paint, [], chosen)); } return out; })(), ...(() => { const out = []; for (const rule of scene.rules) { out.push(_rule(rule, theme)); } return out; })(), ...(() => { const out = []; for (const bundle of scene.webs) for (const group of web(bundle, scene, theme)) { out.push(group); } return out; })(), ...edge_groups(scene, paint, chosen), ...py_map(((...rest) => _stub_of_compose(theme, ...rest)), scene.stubs, paint.stubs, paint.tints.stubs), ...(() => { const out = []; for (const index of closed_) { out.push(_node(scene, index, paint, py_get(inside, index, []), chosen)); } return out; })(), ...(() => { const out = []; for (const index of opened) { out.push(_titles(scene.boxes.at(index), py_get(inside, index, []), theme)); } return out; })(), ...(() => { const out = []; for (const port of scene.ports) { out.push(_port_of_compose(port, theme)); } return out; })(), ...(() => { const out = []; for (const text of py_get(inside, -1, [])) { out.push(_free(text, scene, theme)); } return out; })()];
}
function edge_groups(scene, paint, chosen) {
  let drawn_lines, group;
  drawn_lines = (() => { const out = []; for (const at of in_front_last(scene, paint)) { out.push([scene.routes.at(at), paint.tints.routes.at(at)]); } return out; })();
  return (() => { const out = []; for (const [line, tint] of drawn_lines) if ((group = route(line, paint.theme, (chosen.has(line.source) || chosen.has(line.target)), tint)).shapes.length) { out.push(group); } return out; })();
}
function in_front_last(scene, paint) {
  let tints;
  tints = paint.tints.routes;
  return py_sorted(py_range(scene.routes.length), {key: (at) => [change(tints.at(at)), scene.routes.at(at).thickness]});
}
function change(tint) {
  return (((tint == null) || !tint.sign) ? 0 : (1 + tint.whole));
}
function _rule(rule, theme) {
  let points;
  points = [[(rule.x1 + 0.5), (rule.y1 + 0.5)], [(rule.x2 + 0.5), (rule.y2 + 0.5)]];
  return new Group([straight(...points, new Pen(theme.rule))]);
}
function _stub_of_compose(theme, mark_, fill, tint) {
  return new Group([...stub_of_boxes(mark_, fill, theme, tint)], undefined, mark_.title);
}
function _node(scene, index, paint, texts, chosen) {
  let box, fill, theme, shapes_, halo, text, title_;
  [box, fill, theme] = [scene.boxes.at(index), paint.boxes.at(index), paint.theme];
  shapes_ = (box.open ? frame_of_boxes(box, fill, theme) : closed_box(box, fill, theme));
  if (chosen.has(index)) {
    shapes_.push(_outline(box, theme));
  }
  if ((!box.open && fill.badge)) {
    py_extend(shapes_, _badge(box, fill.badge, fill.text));
  }
  halo = (fill.hatch ? fill.fill : null);
  for (text of texts) {
    py_extend(shapes_, _text_of_compose(text, _colour_of_compose(text, fill.text, fill.second, theme), halo));
  }
  title_ = py_join(" · ", (() => { const out = []; for (const part of [box.title, paint.accounts.at(index)]) if (part) { out.push(part); } return out; })());
  return new Group([...shapes_], box.address, title_);
}
function _outline(box, theme) {
  let radius;
  radius = (is_pill(box) ? 13 : 7);
  return new Rectangle((box.x - 1.5), (box.y - 1.5), (box.width + 3), (box.height + 3), radius, undefined, new Pen(theme.selected, 2.5));
}
function _badge(box, badge, colour) {
  let x, y, wide, tall;
  [x, y, wide, tall] = front(box);
  return written(badge, ((x + wide) - 5), ((y + tall) - 5), BADGE_SIZE, hand_width(badge, BADGE_SIZE), colour, "end");
}
function _titles(box, texts, theme) {
  let shapes_;
  shapes_ = (() => { const out = []; for (const text of texts) for (const shape_ of _text_of_compose(text, _colour_of_compose(text, "", "", theme))) { out.push(shape_); } return out; })();
  return new Group([...shapes_], undefined, box.title);
}
function _colour_of_compose(text, first_, second, theme) {
  if ((text.role === "label")) {
    return first_;
  }
  if ((text.role === "second")) {
    return second;
  }
  return (["title", "heading"].includes(text.role) ? theme.text : theme.secondary);
}
function _text_of_compose(text, colour, halo = null) {
  return written(text.content, text.x, text.y, text.size, text.width, colour, text.anchor, text.semibold, halo);
}
function _free(text, scene, theme) {
  let colour, ground;
  colour = ((text.role === "heading") ? theme.text : theme.secondary);
  ground = null;
  if ((text.role === "edge")) {
    ground = ((text.box >= 0) ? theme.frame((scene.boxes.at(text.box).depth + 1)) : theme.background);
  }
  return new Group([..._text_of_compose(text, colour, ground)], undefined, ((text.full !== text.content) ? text.full : ""));
}
function _port_of_compose(port, theme) {
  return new Group([new Disc(port.x, port.y, PORT, edge_colour(port, theme))], undefined, port.title);
}

// arrange.breaks
function kept(old, new_) {
  let was;
  if (!py_any(old.breaks)) {
    return [];
  }
  was = (() => { const out = new Map(); for (const [p, part] of py_enumerate(old.parts)) for (const [r, row] of py_enumerate(part)) for (const item of row) { out.set(item, [p, r]); } return out; })();
  return [...(() => { const out = []; for (const part of new_.parts) { out.push(kept_in(part, old, was)); } return out; })()];
}
function kept_in(part, old, was) {
  let ranks_, whole_, came_from, starts, break_, before, after;
  ranks_ = (() => { const out = []; for (const row of part) { out.push((() => { const out = []; for (const item of row) if (((item < old.children) && was.has(item))) { out.push(was.get(item)); } return out; })()); } return out; })();
  whole_ = (() => { const out = new Set(); for (const row of ranks_) for (const [p, _] of row) { out.add(p); } return out; })();
  if ((whole_.size !== 1)) {
    return [];
  }
  [came_from] = whole_;
  starts = [];
  for (break_ of old.breaks.at(came_from)) {
    before = py_max((() => { const out = []; for (const [r, row] of py_enumerate(ranks_)) if ((() => { for (const [_, rank_] of row) { if ((rank_ < break_)) return true; } return false; })()) { out.push(r); } return out; })(), {default: -1});
    after = py_min((() => { const out = []; for (const [r, row] of py_enumerate(ranks_)) if ((() => { for (const [_, rank_] of row) { if ((rank_ >= break_)) return true; } return false; })()) { out.push(r); } return out; })(), {default: -1});
    if (((0 <= before) && (before < after))) {
      starts.push(after);
    }
  }
  return [...starts];
}

// arrange.spine
function spine(count, edges, weights, boxes) {
  let below_, out, edge, source, target, fed, onward, best_, item, step, after, weight, data, through, load, gives, path_on, current, path;
  below_ = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  out = (() => { const out = []; for (const _ of py_range(count)) { out.push([]); } return out; })();
  for ([edge, [source, target]] of py_enumerate(edges)) {
    if (weights.at(edge)) {
      below_.at(source).push(target);
      out.at(source).push(edge);
    }
  }
  fed = (() => { const out = new Set(); for (const [[_, target], weight] of py_zip(edges, weights)) if ((weight > 0)) { out.add(target); } return out; })();
  onward = py_repeat([-1], count);
  best_ = py_repeat([[0, 0, 0]], count);
  for (item of py_reversed(topological(below_))) {
    step = ((item < boxes) ? 1 : 0);
    best_[item] = [0, step, 0];
    for (edge of out.at(item)) {
      [after, weight] = [edges.at(edge)[1], weights.at(edge)];
      [data, through, load] = best_.at(after);
      gives = ((weight > 0) ? step : (fed.has(item) ? -step : 0));
      path_on = [(data + gives), (through + step), (load + Math.abs(weight))];
      if (((onward.at(item) < 0) || (py_compare([...path_on, -after], [...best_.at(item), -edges.at(onward.at(item))[1]]) > 0))) {
        [best_[item], onward[item]] = [path_on, edge];
      }
    }
  }
  current = py_max(py_range(count), {key: (item) => [...best_.at(item), -item], default: 0});
  path = [];
  while ((count && (onward.at(current) >= 0))) {
    path.push(onward.at(current));
    current = edges.at(onward.at(current))[1];
  }
  return [...path];
}
function spines(skeleton, thick) {
  let part_of, wires, number, wire, main_edges, inside, ends, local, weights, edges, boxes;
  part_of = (() => { const out = new Map(); for (const [number, part] of py_enumerate(skeleton.parts)) for (const row of part) for (const item of row) { out.set(item, number); } return out; })();
  wires = (() => { const out = []; for (const _ of skeleton.parts) { out.push([]); } return out; })();
  for ([number, wire] of py_enumerate(skeleton.wires)) {
    wires.at(part_of.get(wire.chain[0])).push(number);
  }
  main_edges = [];
  for (inside of wires) {
    ends = (() => { const out = []; for (const number of inside) { out.push([skeleton.wires.at(number).chain[0], skeleton.wires.at(number).chain.at(-1)]); } return out; })();
    local = (() => { const out = new Map(); for (const [index, item] of py_enumerate(py_sorted((() => { const out = new Set(); for (const pair of ends) for (const item of pair) { out.add(item); } return out; })()))) { out.set(item, index); } return out; })();
    weights = (() => { const out = []; for (const number of inside) { out.push((skeleton.wires.at(number).turned ? 0 : thick.at(number))); } return out; })();
    edges = (() => { const out = []; for (const [source, target] of ends) { out.push([local.get(source), local.get(target)]); } return out; })();
    boxes = py_sum((() => { const out = []; for (const item of local.keys()) { out.push((item < skeleton.children)); } return out; })());
    py_extend(main_edges, (() => { const out = []; for (const edge of spine(local.size, edges, weights, boxes)) { out.push(inside.at(edge)); } return out; })());
  }
  return [...main_edges];
}

const exported = {
  place: place,
  FrameCache: FrameCache,
  words_of: words_of,
  as_stack: as_stack,
  Metaedge: Metaedge,
  Bridge: Bridge,
  Annotation: Annotation,
  Mask: Mask,
  Metagraph: Metagraph,
  PortSlot: PortSlot,
  Wire: Wire,
  Skeleton: Skeleton,
  NodeLabel: NodeLabel,
  View: View,
  Fill: Fill,
  LegendRow: LegendRow,
  Tint: Tint,
  Caption: Caption,
  Paint: Paint,
  THEMES: THEMES,
  elide: elide,
  Rectangle: Rectangle,
  Hatch: Hatch,
  Disc: Disc,
  Curve: Curve,
  Label: Label,
  Group: Group,
  kept: kept,
  spines: spines,
  compose: compose,
  in_front_last: in_front_last,
  node: _node,
  rule: _rule,
  stub: _stub_of_compose,
  titles: _titles,
  port: _port_of_compose,
  free: _free,
  route: route,
  web: web,
  legend: legend,
  shapes: shapes,
  drawn: drawn_of_rows,
  mark_place: mark_place,
  front: front,
  is_pill: is_pill,
};
