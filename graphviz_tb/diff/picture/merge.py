"""Merge both graphs: the new graph, removed nodes where they were, and the change of every node and edge."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphviz_tb.diff.columns.ids import exists
from graphviz_tb.diff.picture.brief import brief, brief_setting, brief_wire, was
from graphviz_tb.diff.source import MatchedGraphs
from graphviz_tb.flatten.edges import split_input
from graphviz_tb.limits import MAX_OPENED_PLACES
from graphviz_tb.model.change import Change, NodeEdits
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.sources import as_graph_def

if TYPE_CHECKING:
    from graphviz_tb.diff.comparison import Comparison
    from graphviz_tb.proto import GraphDef, NodeDef

SEEN = ("op", "dtype", "optimizer")  # keys of changes that are seen at ops
Where = tuple[str, str]  # function ("" for the main graph) and name of a node of the merged graph


@dataclass(slots=True)
class Merged:
    """The merged graph.

    `signs` is the sign of each changed node: + − ~ →, `lines` its changes in a few words; `scopes` the former names of
    moved or renamed scopes; `beside` the input that changed at nodes that take it from an added node, or took it from
    a removed one; `lost` are removed inputs, `gained` added ones, of rewired nodes: (node, place of the input).
    `shown` are the places to be seen, of each change the first ones: of each the first that exists, a layer or a node.
    `layers` are scopes that a change is about, with what changed in a few words; of those in `settings` no op in them
    says it.
    """

    graph_def: GraphDef
    signs: dict[Where, str] = field(default_factory=dict)
    lines: dict[Where, list[str]] = field(default_factory=dict)
    scopes: dict[Where, str] = field(default_factory=dict)
    beside: dict[Where, str] = field(default_factory=dict)
    lost: set[tuple[Where, int]] = field(default_factory=set)
    gained: set[tuple[Where, int]] = field(default_factory=set)
    shown: list[list[tuple[Where, ...]]] = field(default_factory=list)
    layers: dict[Where, str] = field(default_factory=dict)
    settings: set[Where] = field(default_factory=set)


def merge_graphs(changes: Comparison) -> Merged:
    """Put both graphs into one. Before: changes with their source. After: removed nodes are in the scope that the
    old one around them became; a name that is taken gets ` (old)` behind it."""
    from graphviz_tb.proto import GraphDef

    source = changes.source
    assert source is not None, "changes of two graphs"
    merged = Merged(GraphDef())
    merged.graph_def.CopyFrom(as_graph_def(source.new.graph_def))
    names = old_names(source)
    for change in changes:
        mark(merged, source, change, names)
    add_removed(merged, source, names)
    add_lost(merged, source, changes, names)
    return merged


def where_new(source: MatchedGraphs, node: int) -> Where:
    """A node of the new graph in the merged one."""
    return source.new_side.where[node]


def old_names(source: MatchedGraphs) -> dict[int, Where]:
    """Where each removed node of the old graph is in the merged one."""
    old, new, functions = source.old_side, source.new_side, source.functions
    # Names of scopes in the new graph: a scope that went must not fall into another one that has its name.
    standing = set(new.scopes.name)
    # By old scope its name in the merged graph; rows are in preorder, so the parent's is known.
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
            paths.append(f"{path} (old)" if path in standing else path)
    # Names of nodes that are given away, by function.
    taken = set(new.where)
    numbers: dict[Where, int] = {}
    places: dict[int, Where] = {}
    for node in range(len(old)):
        if exists(source.to_new[node]):
            places[node] = where_new(source, int(source.to_new[node]))
            continue
        function = int(old.graph.function[node])
        inside = new.graph.functions[functions[function]].name if function in functions else ""
        scope = int(old.scopes.of_node[node])
        around = paths[scope]
        # What is below the scope: of a very long name more than the last segment.
        inner = old.graph.name[node].removeprefix(f"{old.scopes.name[scope]}/")
        name = f"{around}/{inner}" if around else inner
        places[node] = free(inside, name, taken, numbers)
        taken.add(places[node])
    return places


def free(inside: str, name: str, taken: Collection[Where], numbers: dict[Where, int]) -> Where:
    """A name for an old node that no other has: `x`, `x (old)`, `x (old 2)` …; `numbers` are the last ones given."""
    if (inside, name) not in taken:
        return inside, name
    # On from the last number given: of a thousand equal names none is tried twice.
    number = numbers.get((inside, name), 0)
    other = name
    while (inside, other) in taken:
        number += 1
        other = f"{name} (old {number})" if number > 1 else f"{name} (old)"
    numbers[inside, name] = number
    return inside, other


def mark(merged: Merged, source: MatchedGraphs, change: Change, names: dict[int, Where], primary: bool = True) -> None:
    """Say what became of the nodes and scopes of one change; only primary ones are shown, what follows is counted."""
    # Consequences first: the words of a cause for the same op are written last, and count.
    for inner in change.consequences:
        mark(merged, source, inner, names, False)
    # A function's change only counts what is inside: that is what is drawn.
    if change.inside:
        for inner in change.inside:
            mark(merged, source, inner, names, primary)
        return
    edits: NodeEdits = change.edits
    if primary:
        nodes = first_places(source, edits, names)
        changed = change.kind == "changed"
        merged.shown.append(mark_layers(merged, change, nodes) if changed else [(where,) for where in nodes])
    for node in edits.added:
        merged.signs[where_new(source, node)] = "+"
    for node in edits.removed:
        merged.signs[names[node]] = "−"
    if change.kind in ("moved", "renamed"):
        mark_moved(merged, source, edits)
    if change.kind in ("added", "removed"):
        merged.beside.update(beside(change, source))
    if change.kind in ("changed", "rewired"):
        words = brief(change)
        # What was exchanged is signed itself; its users are only connected anew.
        exchanged = bool(edits.added or edits.removed)
        for _, node in edits.inputs if exchanged else ():
            merged.beside.setdefault(where_new(source, node), "reconnected")
        told = [(node, words) for _, node in (*edits.ops, *(() if exchanged else edits.inputs))]
        told += [(node, words_of(change, key, words)) for _, node, key in edits.attributes]
        for node, line in told:
            where = where_new(source, node)
            merged.signs[where] = "~"
            lines = merged.lines.setdefault(where, [])
            lines += [line] if line not in lines else []


def words_of(change: Change, key: str, words: str) -> str:
    """What a change says of one attribute: of several settings of a layer the one that it is, else all `words`."""
    parts = [part for part in change.detail.get("with", ()) if part["key"] == key]
    return brief_setting(parts[0]) if parts and change.detail["key"] != key else words


def mark_layers(merged: Merged, change: Change, nodes: list[Where]) -> list[tuple[Where, ...]]:
    """Say what changed at the scopes that a change names, and give back what is to be seen: these, where no op says it,
    else the `nodes`. A name that is no scope's is not looked for."""
    places: list[Where] = [("", new or "") for _, new in ((change.old, change.new), *change.also)]
    merged.layers.update({place: brief(change) for place in places if place not in merged.layers})
    if change.detail["key"] in SEEN:
        return [(where,) for where in nodes]
    merged.settings.update(places)
    return [(place, *nodes[:1]) for place in places[:MAX_OPENED_PLACES]]


def beside(change: Change, source: MatchedGraphs) -> Iterator[tuple[Where, str]]:
    """Yield the nodes that take an input from an added node, or no longer from a removed one, with the new input."""
    wires = {wire["node"]["new"]: wire for wire in change.detail.get("links", ())}
    for _, node in change.edits.inputs:
        where = where_new(source, node)
        if where[1] in wires:
            yield where, brief_wire(wires[where[1]])


def mark_moved(merged: Merged, source: MatchedGraphs, edits: NodeEdits) -> None:
    """Say that nodes, and scopes with all in them, have another name, and what it was."""
    for old, node in edits.nodes:
        where = where_new(source, node)
        merged.signs.setdefault(where, "→")
        merged.lines.setdefault(where, []).append(was(source.old.name[old], where[1]))
    before, scopes = source.old_side.scopes, source.new_side.scopes
    for old, row in edits.scopes:
        block = int(scopes.block[row])
        inside = source.new.functions[block - 1].name if block else ""
        merged.scopes[inside, scopes.name[row]] = was(before.name[old], scopes.name[row])
        for node in scopes.nodes(row).tolist():
            merged.signs.setdefault(where_new(source, node), "→")


def first_places(source: MatchedGraphs, edits: NodeEdits, names: dict[int, Where]) -> list[Where]:
    """Nodes that represent a change in the picture."""
    if edits.removed:
        return [names[edits.removed[0]]]
    if edits.added:
        return [where_new(source, edits.added[0])]
    if edits.scopes:
        inside = source.new_side.scopes.nodes(edits.scopes[0][1])
        return [where_new(source, int(inside[0]))] if len(inside) else []
    pairs = [*edits.ops, *((old, new) for old, new, _ in edits.attributes), *edits.nodes, *edits.inputs]
    return [where_new(source, new) for _, new in pairs[:MAX_OPENED_PLACES]]


def add_removed(merged: Merged, source: MatchedGraphs, names: dict[int, Where]) -> None:
    """Put the removed nodes of compared blocks back, wired as they were."""
    graph = source.old
    index = {where_in(graph, node): node for node in range(len(graph))}
    # The lists of nodes to add to, of the merged graph's functions by name.
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
        made.input.extend(moved_input(graph, index, names, node, text) for text in definition.input)


def where_in(graph: Any, node: int) -> tuple[int, str]:
    """The function and the name of a node."""
    return int(graph.function[node]), graph.name[node]


def moved_input(graph: Any, index: dict[tuple[int, str], int], names: dict[int, Where], node: int, text: str) -> str:
    """An input of an old node under the merged names."""
    name, _, _ = split_input(text)
    origin = index.get((int(graph.function[node]), name))
    # 1 for a control input (`^name`), else 0; behind the name stays the output (`:1`).
    start = len(text) - len(text.removeprefix("^"))
    return text if origin is None else f"{text[:start]}{names[origin][1]}{text[start + len(name) :]}"


def add_lost(merged: Merged, source: MatchedGraphs, changes: Comparison, names: dict[int, Where]) -> None:
    """Give nodes that are wired anew their old inputs back, to be drawn as gone, and note the new ones."""
    bodies: dict[str, Any] = {f.signature.name: f.node_def for f in merged.graph_def.library.function}
    nodes: dict[Where, NodeDef] = {("", node.name): node for node in merged.graph_def.node}
    for function, body in bodies.items():
        nodes.update({(function, node.name): node for node in body})
    for old, new in sorted({pair for change in changes for pair in change.all_edits().inputs}):
        where = where_new(source, new)
        for wire in source.rewires(old, new):
            before, after = wire.before, wire.after
            # The same sources: nothing came or went.
            if wire.reordered:
                continue
            if exists(after):
                merged.gained.add((where, int(source.new.slot[after])))
            if exists(before):
                origin = names[int(source.old.source[before])]
                key = source.old.keys[source.old.key[before]]
                # The place that the input is about to get: behind those of the new node.
                merged.lost.add((where, len(nodes[where].input)))
                nodes[where].input.append(
                    f"^{origin[1]}" if wire.control else f"{origin[1]}:{key}" if key != "0" else origin[1]
                )
