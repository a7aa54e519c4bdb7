"""Merge both graphs into one: the new graph with the removed nodes of the old, and the change of each node and edge."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphviz_tb.diff.changes.training import OPTIMIZER_KEYS
from graphviz_tb.diff.comparison import MatchedGraphs
from graphviz_tb.diff.report.words import counts_of_types, place_words, value_texts
from graphviz_tb.flatten.build import split_input
from graphviz_tb.limits import MAX_OPENED_CHANGES, MAX_OPENED_PLACES
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.change_content import InputWire, Rewiring, Setting, SettingPart
from graphviz_tb.model.columns import exists
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.measure import SMALL_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.sources import as_graph_def
from graphviz_tb.place.boxes import BADGE_ROOM, MAX_OP_WIDTH

if TYPE_CHECKING:
    from graphviz_tb.diff.comparison import Comparison
    from graphviz_tb.model.graph import Graph
    from graphviz_tb.proto import GraphDef, NodeDef

LINE_BREAKS = (r"; ", r": ", r" (?=→ )", r" (?=between )", r" ")  # where a line may end, the best first
MAX_LINES = 2
MAX_TEXT_RATIO = 10  # names are shortened one by one in texts up to so many times as long as the lines


def wrap_text(text: str, most: int, size: int) -> list[str]:
    """Wrap `text` on one or two lines of at most `most` pixels. If it does not fit, names lose their first segments,
    the longest name first.

    >>> wrap_text("a/b/c: rewired; input 1 (second): y → gradients/mean/Size", 200, 11)
    ['a/b/c: rewired; input 1 (second):', 'y → gradients/mean/Size']
    >>> wrap_text("scope/inner/kernel → scope/inner/special_kernel: renamed", 150, 11)
    ['scope/inner/kernel', '→ …/special_kernel: renamed']
    >>> wrap_text("x: op Relu → Tanh", 200, 11)
    ['x: op Relu → Tanh']
    """
    text = replace_unsafe_characters(text)
    if text_width(text, size) <= most:
        return [text]
    room = MAX_LINES * most  # in letters of at least a pixel
    text = " ".join(_last_segments(word, room) for word in text.split(" "))
    while len(text) <= MAX_TEXT_RATIO * room:  # a longer text has too many words
        if lines := _broken_lines(text, most, size):
            return lines
        shorter = _shorten_longest_name(text)
        if shorter == text:
            break
        text = shorter
    # Nothing fits: break at the blank nearest to the middle, and cut both lines.
    middle = len(text) // 2
    cut = min((lines.start() for lines in re.finditer(" ", text)), key=lambda cut: abs(cut - middle), default=len(text))
    return [elide_text(part, most, size) for part in (text[:cut], text[cut:].strip()) if part]


def _last_segments(name: str, letters: int) -> str:
    """Shorten a name to some letters by leaving out its first segments; the last segment stays.

    >>> _last_segments("scope/inner/deep", 16), _last_segments("scope/inner/deep", 15), _last_segments("a/kernel", 3)
    ('scope/inner/deep', '…/inner/deep', '…/kernel')
    """
    if len(name) <= letters or "/" not in name:
        return name
    return "…/" + (name[1 - letters :].partition("/")[2] or name.rpartition("/")[2])


def _broken_lines(text: str, most: int, size: int) -> list[str]:
    """Break `text` at the best place into two lines that fit; [] if there is none."""
    if text_width(text, size) <= most:
        return [text]
    if len(text) > MAX_LINES * most:
        return []
    for break_ in LINE_BREAKS:
        for match in reversed(list(re.finditer(break_, text))):
            lines = [text[: match.end()].rstrip(), text[match.end() :]]
            if " " in lines[1] and all(text_width(line, size) <= most for line in lines):
                return lines
    return []


def _shorten_longest_name(text: str) -> str:
    """Return `text` without the first segment of its longest name; the last segment stays.

    >>> (
    ...     _shorten_longest_name("a → scope/inner/deep/kernel"),
    ...     _shorten_longest_name("…/deep/kernel"),
    ...     _shorten_longest_name("…/kernel"),
    ... )
    ('a → …/inner/deep/kernel', '…/kernel', '…/kernel')
    """
    names = [word for word in text.split(" ") if "/" in word.removeprefix("…/")]
    if not names:
        return text
    longest = max(names, key=len)
    return text.replace(longest, "…/" + longest.removeprefix("…/").partition("/")[2], 1)


SECOND_LINE_PX = MAX_OP_WIDTH - 2 * BADGE_ROOM  # for the second line of a box


def _brief_change(change: Change) -> str:
    """Describe a change at a node, in a text that fits into its box."""
    if change.setting:
        return _brief_setting(change.setting)
    rewiring = change.rewiring or Rewiring(())
    if rewiring.reordered:
        return "inputs reordered"
    if order := rewiring.order:
        return first_fitting(f"{', '.join(order.old)} → {', '.join(order.new)}", "in another order")
    inputs = rewiring.inputs
    if len(inputs) > 1:
        return f"{len(inputs)} inputs rewired"
    return _brief_wire(inputs[0])


def brief_unit(change: Change) -> str:
    """Describe a change at the block that contains it: `Relu → Gelu`, `+ Dropout(0.1)`; "" for renames and rewiring."""
    if change.kind == "changed" or (change.rewiring and change.rewiring.order):
        return _brief_change(change)
    unit = change.unit
    if unit is None:
        return ""
    sign = "+" if change.kind == "added" else "−"
    if unit.training:
        return first_fitting(f"{sign} {unit.training}", f"{sign} {unit.training.partition(' by ')[0]}")
    parts = list(map(str, unit.layers or counts_of_types(unit)))
    count = format_counted_noun(len(unit.layers), "layer") if unit.layers else format_counted_noun(change.ops, "op")
    return first_fitting(f"{sign} {', '.join(parts)}", f"{sign} {count}") if parts else ""


def _edited_places(source: MatchedGraphs, change: Change, names: Mapping[int, Where]) -> list[Where]:
    """Return the nodes of the merged graph that a change edits, without the users of a replacement."""
    edits = change.edits
    new = {*edits.nodes_of(True), *(node for _, node in edits.inputs if change.kind == "rewired")}
    return [*(_new_place(source, node) for node in sorted(new)), *(names[node] for node in edits.removed)]


def _brief_setting(setting: Setting | SettingPart) -> str:
    """Describe a changed setting."""
    old, new = value_texts(setting.old, setting.new)
    ends = f"{old} → {new}"
    if setting.key == "op":
        return first_fitting(ends, f"→ {new}")
    return first_fitting(f"{setting.key} {ends}", ends, f"{setting.key} → {new}")


def _brief_wire(wire: InputWire) -> str:
    """Describe the change of one input."""
    ends = f"{_leaf(wire.old)} → {_leaf(wire.new)}"
    return first_fitting(f"{place_words(wire)}: {ends}", f"{place_words(wire).partition(' (')[0]}: {ends}", ends)


def _leaf(name: str | None) -> str:
    """Return the last segment of a name."""
    return last_segment(name) if name else "nothing"


def first_fitting(*words: str, room: int = SECOND_LINE_PX) -> str:
    """Return the first of `words` that fits into `room` pixels in the second line of a box, else the last.

    >>> first_fitting("input 1 (second): a_rather_long_name → other", "a_rather_long_name → other")
    'a_rather_long_name → other'
    """
    return next((line for line in words if text_width(line, SMALL_FONT_PX) <= room), words[-1])


def _brief_pair(old: str, new: str) -> str:
    """Describe the old name or scope of a node or scope.

    >>> _brief_pair("a/kernel", "a/other"), _brief_pair("a/b/c", "d/c"), _brief_pair("a/b", "c")
    ('was kernel', 'from a/b', 'was a/b')
    """
    around = old.rpartition("/")[0], new.rpartition("/")[0]
    if around[0] == around[1]:
        return f"was {_leaf(old)}"
    if _leaf(old) != _leaf(new):
        return _shortest_name("was ", old)
    return _shortest_name("from ", around[0]) if around[0] else "from the root"


def _shortest_name(before: str, name: str) -> str:
    """Return the most of a name that fits: all of it, its first and last segment, or the last.

    >>> _shortest_name("from ", "optimizer/gradients/loss/nce_loss")
    'from optimizer/…/nce_loss'
    """
    first, _, rest = name.partition("/")
    short = f"{before}{first}/…/{_leaf(name)}" if "/" in rest else f"{before}{name}"
    return first_fitting(f"{before}{name}", short, f"{before}…/{_leaf(name)}")


KEYS_SEEN_AT_OPS = OPTIMIZER_KEYS | {"op", "dtype"}  # keys of changes that ops show
Where = tuple[str, str]  # the function ("" for the main graph) and the name of a node of the merged graph


@dataclass(slots=True)
class Merged:
    """The merged graph.

    signs, lines   the sign (+ − ~ →) of each changed node, and its changes in a few words
    scopes         the old names of moved or renamed scopes
    beside         the changed inputs from added nodes, or formerly from removed nodes, by their node
    lost, gained   removed and added inputs of rewired nodes: node and slot
    shown          for each change the places to show, each as alternatives of which the first that exists counts
    layers         changed scopes, in a few words; in those of `settings`, no op shows the change
    places         changes at several places, in a few words, with their nodes
    edited         the nodes that any change edits
    """

    graph_def: GraphDef
    signs: dict[Where, str] = field(default_factory=dict)
    lines: dict[Where, list[str]] = field(default_factory=dict)
    scopes: dict[Where, str] = field(default_factory=dict)
    beside: dict[Where, str] = field(default_factory=dict)
    lost: set[tuple[Where, int]] = field(default_factory=set)
    gained: set[tuple[Where, int]] = field(default_factory=set)
    shown: list[list[tuple[Where, ...]]] = field(default_factory=list)
    layers: dict[Where, list[str]] = field(default_factory=dict)
    places: list[tuple[str, list[Where]]] = field(default_factory=list)
    settings: set[Where] = field(default_factory=set)
    edited: set[Where] = field(default_factory=set)


def merge_graphs(changes: Comparison) -> Merged:
    """Return both graphs as one. Removed nodes are in the partner of their scope; ` (old)` is appended to names that
    the new graph has too. Requires changes with their source."""
    from graphviz_tb.proto import GraphDef

    source = changes.source
    assert source is not None, "changes of two graphs"
    merged = Merged(GraphDef())
    merged.graph_def.CopyFrom(as_graph_def(source.new.graph_def))
    names = _old_places(source)
    for change in changes:
        _mark(merged, source, change, names)
        edited = _edited_places(source, change, names)
        merged.edited.update(edited)
        several = change.also or (change.unit and len(change.unit.parts) > 1)
        if several and len(merged.places) < MAX_OPENED_CHANGES and (words := brief_unit(change)):
            merged.places.append((words, edited))
    _add_removed(merged, source, names)
    _add_lost_edges(merged, source, changes, names)
    return merged


def _new_place(source: MatchedGraphs, node: int) -> Where:
    """Return the place of a new node in the merged graph."""
    return source.new_side.node_places[node]


def _old_places(source: MatchedGraphs) -> dict[int, Where]:
    """Return the place of each old node in the merged graph."""
    old, new, functions = source.old_side, source.new_side, source.functions
    # A removed scope must not merge with an unrelated scope of its name.
    new_scope_names = set(new.scopes.name)
    # The names of old scopes in the merged graph; rows are in preorder, so the parent's is known.
    paths: list[str] = []
    for row, parent in enumerate(old.scopes.parent.tolist()):
        partner = int(source.scope_to_new[row])
        if not exists(parent):
            paths.append("")
        elif exists(partner):
            paths.append(new.scopes.name[partner])
        else:
            leaf = last_segment(old.scopes.name[row])
            path = f"{paths[parent]}/{leaf}" if paths[parent] else leaf
            paths.append(f"{path} (old)" if path in new_scope_names else path)
    taken = set(new.node_places)
    numbers: dict[Where, int] = {}
    places: dict[int, Where] = {}
    for node in range(len(old)):
        if exists(source.to_new[node]):
            places[node] = _new_place(source, int(source.to_new[node]))
            continue
        function = int(old.graph.function[node])
        inside = new.graph.functions[functions[function]].name if function in functions else ""
        scope = int(old.scopes.of_node[node])
        around = paths[scope]
        # The relative name, which may have several segments if the whole name is very long.
        inner = old.graph.name[node].removeprefix(f"{old.scopes.name[scope]}/")
        name = f"{around}/{inner}" if around else inner
        places[node] = _free_name(inside, name, taken, numbers)
        taken.add(places[node])
    return places


def _free_name(inside: str, name: str, taken: Collection[Where], numbers: dict[Where, int]) -> Where:
    """Return an unused name for an old node: `x`, `x (old)`, `x (old 2)`, …; `numbers` has the last number of each
    name, so that no name is tried twice."""
    if (inside, name) not in taken:
        return inside, name
    number = numbers.get((inside, name), 0)
    other = name
    while (inside, other) in taken:
        number += 1
        other = f"{name} (old {number})" if number > 1 else f"{name} (old)"
    numbers[inside, name] = number
    return inside, other


def _mark(merged: Merged, source: MatchedGraphs, change: Change, names: dict[int, Where], primary: bool = True) -> None:
    """Mark the nodes and scopes of a change. Consequences are not `primary`: they are marked, but groups are not opened
    for them."""
    # Consequences first: the marks of their cause overwrite them.
    for inner in change.consequences:
        _mark(merged, source, inner, names, False)
    # For a changed function, its inner changes are drawn.
    if change.inside:
        for inner in change.inside:
            _mark(merged, source, inner, names, primary)
        return
    edits: NodeEdits = change.edits
    if primary:
        nodes = _first_places(source, change, names)
        changed = change.kind == "changed"
        merged.shown.append(_mark_layers(merged, change, nodes) if changed else [(where,) for where in nodes])
    for node in edits.added:
        merged.signs[_new_place(source, node)] = "+"
    for node in edits.removed:
        merged.signs[names[node]] = "−"
    if change.kind in ("moved", "renamed"):
        _mark_moved(merged, source, edits)
    if change.kind in ("added", "removed"):
        merged.beside.update(_new_input_takers(change, source))
    if change.kind in ("changed", "rewired"):
        words = _brief_change(change)
        # The nodes of a replacement are marked; its users are only reconnected.
        is_replacement = bool(edits.added or edits.removed)
        for _, node in edits.inputs if is_replacement else ():
            merged.beside.setdefault(_new_place(source, node), "reconnected")
        node_lines = [(node, words) for _, node in (*edits.ops, *(() if is_replacement else edits.inputs))]
        # Each further setting is at the nodes with that attribute.
        parts = {part.key: part for part in reversed(change.further_settings) if part.key != change.key}
        words_by_key = {key: _brief_setting(part) for key, part in parts.items()}
        node_lines += [(node, words_by_key.get(key, words)) for _, node, key in edits.attributes]
        for node, line in node_lines:
            where = _new_place(source, node)
            merged.signs[where] = "~"
            lines = merged.lines.setdefault(where, [])
            lines += [line] if line not in lines else []


def _mark_layers(merged: Merged, change: Change, nodes: list[Where]) -> list[tuple[Where, ...]]:
    """Mark the scopes that a change names. Return the places to show: these scopes if no op shows the change, else
    `nodes`."""
    places: list[Where] = [("", new or "") for _, new in change.places]
    words_by_name = {part.name: _brief_setting(part) for part in change.further_settings if part.name != change.name}
    for place in dict.fromkeys(places):
        merged.layers.setdefault(place, []).append(words_by_name.get(place[1], _brief_change(change)))
    if change.key in KEYS_SEEN_AT_OPS:
        return [(where,) for where in nodes]
    merged.settings.update(places)
    return [(place, *nodes[:1]) for place in places[:MAX_OPENED_PLACES]]


def _new_input_takers(change: Change, source: MatchedGraphs) -> Iterator[tuple[Where, str]]:
    """Yield the users of added nodes, and former users of removed nodes, with the change of their input."""
    wires = {wire.node.new: wire for wire in change.links if wire.node}
    for _, node in change.edits.inputs:
        where = _new_place(source, node)
        if where[1] in wires:
            yield where, _brief_wire(wires[where[1]])


def _mark_moved(merged: Merged, source: MatchedGraphs, edits: NodeEdits) -> None:
    """Mark nodes, and scopes with their contents, as renamed, with their old name."""
    for old, node in edits.nodes:
        where = _new_place(source, node)
        merged.signs.setdefault(where, "→")
        merged.lines.setdefault(where, []).append(_brief_pair(source.old.name[old], where[1]))
    before, scopes = source.old_side.scopes, source.new_side.scopes
    for old, row in edits.scopes:
        block = int(scopes.block[row])
        inside = source.new.functions[block - 1].name if block else ""
        merged.scopes[inside, scopes.name[row]] = _brief_pair(before.name[old], scopes.name[row])
        for node in scopes.nodes(row).tolist():
            merged.signs.setdefault(_new_place(source, node), "→")


def _first_places(source: MatchedGraphs, change: Change, names: dict[int, Where]) -> list[Where]:
    """Return the nodes that represent a change in the picture: one that the text names, if nodes were added or
    removed."""
    edits = change.edits
    if edits.removed:
        return [names[_named_node(source.old, edits.removed, change.old)]]
    if edits.added:
        return [_new_place(source, _named_node(source.new, edits.added, change.new))]
    if edits.scopes:
        inside = source.new_side.scopes.nodes(edits.scopes[0][1])
        return [_new_place(source, int(inside[0]))] if len(inside) else []
    pairs = [*edits.ops, *((old, new) for old, new, _ in edits.attributes), *edits.nodes, *edits.inputs]
    return [_new_place(source, new) for _, new in pairs[:MAX_OPENED_PLACES]]


def _named_node(graph: Graph, nodes: Sequence[int], name: str | None) -> int:
    """Return the first node of that name, or in a scope of that name; else the first node."""
    within = f"{name}/"
    return next((node for node in nodes if f"{graph.name[node]}/".startswith(within)), nodes[0])


def _add_removed(merged: Merged, source: MatchedGraphs, names: dict[int, Where]) -> None:
    """Add the removed nodes of compared blocks, with their old inputs."""
    graph = source.old
    index = {place: node for node, place in enumerate(zip(graph.function.tolist(), graph.name, strict=True))}
    bodies = {function.signature.name: function.node_def for function in merged.graph_def.library.function}
    for node in range(len(graph)):
        where = names[node]
        definition = graph.node_def(node)
        if definition is None or merged.signs.get(where) != "−":
            continue
        made: NodeDef = (bodies[where[0]] if where[0] else merged.graph_def.node).add()
        made.CopyFrom(definition)
        made.name = where[1]
        del made.input[:]
        made.input.extend(_moved_input(graph, index, names, node, text) for text in definition.input)


def _moved_input(graph: Any, index: dict[tuple[int, str], int], names: dict[int, Where], node: int, text: str) -> str:
    """Return an input of an old node with the merged name of its source."""
    name, _, _ = split_input(text)
    origin = index.get((int(graph.function[node]), name))
    # The `^` of a control input and the output (`:1`) stay.
    start = len(text) - len(text.removeprefix("^"))
    return text if origin is None else f"{text[:start]}{names[origin][1]}{text[start + len(name) :]}"


def _add_lost_edges(merged: Merged, source: MatchedGraphs, changes: Comparison, names: dict[int, Where]) -> None:
    """Append the old inputs of rewired nodes, which are drawn as removed, and record the new ones."""
    bodies: dict[str, Any] = {f.signature.name: f.node_def for f in merged.graph_def.library.function}
    nodes: dict[Where, NodeDef] = {("", node.name): node for node in merged.graph_def.node}
    for function, body in bodies.items():
        nodes.update({(function, node.name): node for node in body})
    for old, new in sorted({pair for change in changes for pair in change.all_edits().inputs}):
        where = _new_place(source, new)
        for wire in source.rewires(old, new):
            before, after = wire.before, wire.after
            if wire.reordered:
                continue
            if exists(after):
                merged.gained.add((where, int(source.new.slot[after])))
            if exists(before):
                _, origin = names[int(source.old.source[before])]
                key = source.old.keys[source.old.key[before]]
                merged.lost.add((where, len(nodes[where].input)))
                nodes[where].input.append(f"^{origin}" if wire.control else f"{origin}:{key}" if key != "0" else origin)
