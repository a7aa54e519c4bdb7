"""Formats of other tools: Cytoscape.js, GraphML, Model Explorer, Mermaid, networkx; profiles for Perfetto."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_MERMAID_LINES
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.formatting import replace_non_finite
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.measure import replace_unsafe_characters, truncate_text
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paint import Paint
from graphviz_tb.model.profile import Profile, SliceKind, Timeline
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.tensors import shape_text
from graphviz_tb.render.boxes import is_pill
from graphviz_tb.render.json import JSON_KINDS
from graphviz_tb.render.svg import escape_text

if TYPE_CHECKING:
    import networkx

# Fields of nodes in the formats. `value` repeats the id, and `key` an edge's number: networkx reads them.
RESERVED_FIELDS = frozenset(("id", "value", "name", "label", "op", "device", "scope", "parent"))


@dataclass(frozen=True, slots=True)
class FlatNode:
    """An op, or a group if `op` is "": its row, the row of the group around it (0 if there is none), and its fields.

    `label` is the name on its box; `given` are the user's facts by column. A column that has the name of a field begins
    with `fact_`.
    """

    row: int
    parent: int
    name: str
    label: str
    op: str
    device: str
    given: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FlatEdge:
    """An edge from output `output` of the op at row `source` to input `slot` (-1 if control) of the op at row `target`;
    `tensor` is its shape and dtype, "" if unknown."""

    source: int
    target: int
    output: str
    slot: int
    control: bool
    tensor: str


def _flat_nodes(hierarchy: Hierarchy, facts: Facts, groups: bool) -> Iterator[FlatNode]:
    """Yield the ops of the main graph in the order of its tree, with all `groups` or only those with facts."""
    graph = hierarchy.graph
    given = facts.given
    for row in range(1, int(hierarchy.end[0])):
        node = int(hierarchy.node[row])
        values = (
            {_fact_field(name): value for name, value in given.values_of_row(row).items()} if given is not None else {}
        )
        if node < 0 and not groups and not values:
            continue
        op = graph.op_types[graph.op[node]] if node >= 0 else ""
        device = graph.devices[graph.device[node]] if node >= 0 and graph.device[node] >= 0 else ""
        parent = max(0, int(hierarchy.parent[row]))
        yield FlatNode(
            row,
            parent,
            replace_unsafe_characters(hierarchy.name[row]),
            replace_unsafe_characters(hierarchy.display_label(row)),
            op,
            device,
            values,
        )


def _fact_field(column: str) -> str:
    """Rename a column of facts that has the name of a field of the format.

    >>> _fact_field("latency"), _fact_field("op")
    ('latency', 'fact_op')
    """
    return f"fact_{column}" if column in RESERVED_FIELDS else column


def _encode_document(document: Any) -> bytes:
    """Return a JSON document as a file; non-finite numbers become texts."""
    return (json.dumps(replace_non_finite(document), ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def _flat_edges(hierarchy: Hierarchy, facts: Facts) -> Iterator[FlatEdge]:
    """Yield the edges between ops of the main graph, by target and input."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    end = int(hierarchy.end[0])
    kept = np.flatnonzero((source > 0) & (target > 0) & (source < end) & (target < end))
    for edge in kept[np.lexsort((graph.slot[kept], target[kept]))].tolist():
        control = bool(graph.control[edge])
        output = graph.keys[graph.key[edge]]
        yield FlatEdge(
            int(source[edge]),
            int(target[edge]),
            "" if control else replace_unsafe_characters(output),
            -1 if control else int(graph.slot[edge]),
            control,
            "" if control else _tensor_text(facts, int(graph.source[edge]), int(graph.key[edge])),
        )


def _tensor_text(facts: Facts, node: int, key: int) -> str:
    """Return the shape and dtype of an output, "" if both are unknown."""
    tensor = facts.tensor(node, key)
    shape = "" if tensor.shape is None else shape_text(tensor.shape) or "scalar"
    return " ".join(filter(None, (shape, tensor.dtype or "")))


# Cytoscape.js JSON: ops inside the groups around them, and their edges.


def cytoscape_json(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Write the whole main graph for `cytoscape({elements: …})`; `parent` makes compound nodes."""
    listed = [{"data": _cytoscape_data(node)} for node in _flat_nodes(hierarchy, facts, groups=True)]
    lines = [
        {
            "data": {
                "id": f"w{number}",
                "key": number,
                "source": f"n{edge.source}",
                "target": f"n{edge.target}",
                "output": edge.output,
                "input": edge.slot,
                "control": edge.control,
                "tensor": edge.tensor,
            }
        }
        for number, edge in enumerate(_flat_edges(hierarchy, facts))
    ]
    document = {
        "data": {"name": "tbgraph"},
        "directed": True,
        "multigraph": True,
        "elements": {"nodes": listed, "edges": lines},
    }
    return _encode_document(document)


def _cytoscape_data(node: FlatNode) -> dict[str, Any]:
    own = {"id": f"n{node.row}", "value": f"n{node.row}", "name": node.name, "label": node.label, "op": node.op}
    data: dict[str, Any] = {**node.given, **own}
    if node.device:
        data["device"] = node.device
    if node.parent:
        data["parent"] = f"n{node.parent}"
    return data


# GraphML: the ops of the main graph and their edges, as networkx, Gephi and yEd read them.

GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
NODE_FIELDS = ("name", "label", "op", "device", "scope")
EDGE_FIELDS = {"output": "string", "input": "int", "control": "boolean", "tensor": "string"}


def graphml_text(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Write the whole main graph.

    A node has its name, label, op, device, scope and the user's facts; an edge the output and input that it joins, and
    its tensor. A group with facts is a node without an op.
    """
    numeric_fields = (
        {_fact_field(name): facts.given.is_numeric(name) for name in facts.given.column_names}
        if facts.given is not None
        else {}
    )
    text = BytesIO()
    text.write(GRAPHML_HEAD.encode())
    for number, name in enumerate(NODE_FIELDS):
        text.write(_key_element(f"d{number}", "node", name, "string"))
    for number, (name, numeric) in enumerate(numeric_fields.items()):
        text.write(_key_element(f"f{number}", "node", name, "double" if numeric else "string"))
    for number, (name, kind) in enumerate(EDGE_FIELDS.items()):
        text.write(_key_element(f"e{number}", "edge", name, kind))
    text.write(b'<graph edgedefault="directed">\n')
    for line in (*_node_elements(hierarchy, facts, list(numeric_fields)), *_edge_elements(hierarchy, facts)):
        text.write(line.encode("utf-8", "replace"))
    text.write(b"</graph>\n</graphml>\n")
    return text.getvalue()


def _key_element(name: str, of: str, called: str, kind: str) -> bytes:
    return f'<key id="{name}" for="{of}" attr.name="{escape_text(called)}" attr.type="{kind}"/>\n'.encode(
        "utf-8", "replace"
    )


def _node_elements(hierarchy: Hierarchy, facts: Facts, given: list[str]) -> Iterator[str]:
    """Yield one element for each op, and each group with facts."""
    for node in _flat_nodes(hierarchy, facts, groups=False):
        scope = hierarchy.name[node.parent]
        values = zip(("d0", "d1", "d2", "d3", "d4"), (node.name, node.label, node.op, node.device, scope), strict=True)
        own = ((f"f{number}", node.given[name]) for number, name in enumerate(given) if name in node.given)
        yield f'<node id="n{node.row}">{_data_elements((*values, *own))}</node>\n'


def _edge_elements(hierarchy: Hierarchy, facts: Facts) -> Iterator[str]:
    for number, edge in enumerate(_flat_edges(hierarchy, facts)):
        data = _data_elements(
            (("e0", edge.output), ("e1", edge.slot), ("e2", str(edge.control).lower()), ("e3", edge.tensor)),
        )
        yield f'<edge id="w{number}" source="n{edge.source}" target="n{edge.target}">{data}</edge>\n'


def _data_elements(pairs: tuple[tuple[str, Any], ...]) -> str:
    """Return the values of an element, without empty ones."""
    return "".join(f'<data key="{name}">{escape_text(str(value))}</data>' for name, value in pairs if value != "")


# Model Explorer's JSON: a graph that it opens, and its node data, the user's facts.

GRAPH_ID = "main"  # the id of the graph, which node data refer to


def model_explorer_json(hierarchy: Hierarchy, facts: Facts, label: str) -> bytes:
    """Return the main graph as a graph collection; a namespace is the scope of a name, an id the name of an op."""
    nodes: dict[int, dict[str, Any]] = {}
    groups: dict[str, dict[str, str]] = {}
    for node in _flat_nodes(hierarchy, facts, groups=False):
        scope = "/".join(hierarchy.display_label(row) for row in hierarchy.ancestors(node.row)[1:])
        if hierarchy.node[node.row] < 0:
            namespace = f"{scope}/{hierarchy.display_label(node.row)}".removeprefix("/")
            groups[namespace] = {key: str(value) for key, value in node.given.items()}
            continue
        attrs = {"op": node.op, **({"device": node.device} if node.device else {}), **node.given}
        nodes[node.row] = {
            "id": node.name,
            "label": node.op or node.label,
            "namespace": scope,
            "attrs": [{"key": key, "value": str(value)} for key, value in attrs.items()],
            "incomingEdges": [],
            "outputsMetadata": [],
        }
    outputs: dict[int, dict[str, str]] = {}
    for edge in _flat_edges(hierarchy, facts):
        output = "control" if edge.control else edge.output or "0"
        nodes[edge.target]["incomingEdges"].append(_incoming_edge(edge, output, nodes[edge.source]["id"]))
        if edge.tensor:
            outputs.setdefault(edge.source, {})[output] = edge.tensor
    for row, tensors in outputs.items():
        nodes[row]["outputsMetadata"] = [
            {"id": output, "attrs": [{"key": "tensor_shape", "value": tensor}]} for output, tensor in tensors.items()
        ]
    graph: dict[str, Any] = {"id": GRAPH_ID, "nodes": list(nodes.values())}
    if groups:
        graph["groupNodeAttributes"] = groups
    return _encode_document({"label": label or "graph", "graphs": [graph]})


def _incoming_edge(edge: FlatEdge, output: str, source: str) -> dict[str, str]:
    """Return one edge as an entry of its target node."""
    slot = "control" if edge.control else str(edge.slot)
    return {"sourceNodeId": source, "sourceNodeOutputId": output, "targetNodeInputId": slot}


def node_data_json(hierarchy: Hierarchy, facts: Facts) -> bytes:
    """Return the user's facts, or FLOPs if there are none, as node data for the graph of `model_explorer_json`."""
    given, costs = facts.given, facts.cost() if facts.cost is not None and facts.given is None else None
    name = "FLOPs" if given is None else given.shown
    results: dict[str, dict[str, Any]] = {}
    for node in _flat_nodes(hierarchy, facts, groups=False):
        value = costs.under(node.row).flops if costs is not None else node.given.get(_fact_field(name))
        if value is not None:
            results[node.name] = {"value": value}
    return _encode_document({GRAPH_ID: {"name": name, "results": results}})


# Mermaid: a small picture as text, for Markdown that renders it.

MAX_LABEL_LETTERS = 60  # of a label
MERMAID_ENTITIES = str.maketrans({letter: f"#{ord(letter)};" for letter in '"#<>&`\\%'})


def mermaid_text(scene: Scene, paint: Paint) -> bytes:
    """Return the picture as a flowchart: open groups are subgraphs, dashed lines are control edges.

    Raises RequestError if it has more lines than Mermaid draws.
    """
    lines = list(
        islice(dict.fromkeys(_mermaid_line(scene, *ends) for ends in _connected_boxes(scene)), MAX_MERMAID_LINES + 1)
    )
    if len(lines) > MAX_MERMAID_LINES:
        raise RequestError(
            f"Mermaid draws {MAX_MERMAID_LINES} lines, and this picture has more",
            hint="open less: --depth 0, or --open of one group",
        )
    text = [f"flowchart {scene.direction}", *_mermaid_boxes(scene), *lines, *_mermaid_classes(scene, paint)]
    return ("\n".join(text) + "\n").encode()


def _mermaid_label(text: str) -> str:
    """Return a text in quotes, with entities for Mermaid's special characters.

    >>> _mermaid_label('a "b" [1]')
    '"a #34;b#34; [1]"'
    """
    return '"' + replace_unsafe_characters(truncate_text(text, MAX_LABEL_LETTERS)).translate(MERMAID_ENTITIES) + '"'


def _mermaid_boxes(scene: Scene) -> Iterator[str]:
    """Yield the boxes; groups enclose the boxes in them."""
    inside: dict[int, list[int]] = {}
    for index, box in enumerate(scene.boxes):
        inside.setdefault(box.parent, []).append(index)
    texts: dict[int, list[str]] = {}
    for text in scene.texts:
        if text.inside:
            texts.setdefault(text.box, []).append(text.content)
    waiting = [(index, 1) for index in reversed(inside.get(-1, []))]
    while waiting:
        index, depth = waiting.pop()
        if index < 0:  # behind the last box of a group
            yield f"{'  ' * depth}end"
            continue
        label = _mermaid_label(" · ".join(texts.get(index, [scene.boxes[index].address])))
        if scene.boxes[index].open:
            yield f"{'  ' * depth}subgraph b{index}[{label}]"
            waiting.append((-1, depth))
            waiting += [(child, depth + 1) for child in reversed(inside.get(index, []))]
        else:
            opening, closing = "()" if is_pill(scene.boxes[index]) else "[]"
            yield f"{'  ' * depth}b{index}{opening}{label}{closing}"


def _connected_boxes(scene: Scene) -> Iterator[tuple[int, int, bool]]:
    """Yield pairs of boxes that lines join through the borders of open groups, and whether only control edges join
    them."""
    # By port: the port (or -1) and the box at the end of each line from it, and whether it is a control edge.
    lines_from_port: dict[int, list[tuple[int, int, bool]]] = {}
    starts: list[tuple[int, int, int, bool]] = []
    for route in scene.routes:
        control, end = route.kind == "control", (route.target_port, route.target)
        if route.source_port >= 0:
            lines_from_port.setdefault(route.source_port, []).append((*end, control))
        else:
            starts.append((route.source, *end, control))
    for source, first, box, control in starts:
        waiting, seen = [(first, box, control)], {first}
        while waiting:
            port, target, dashed = waiting.pop()
            if port < 0:
                yield source, target, dashed
                continue
            lines = [line for line in lines_from_port.get(port, ()) if line[0] < 0 or line[0] not in seen]
            seen.update(end for end, _, _ in lines)
            waiting += [(end, box, dashed or control) for end, box, control in reversed(lines)]


def _mermaid_line(scene: Scene, source: int, target: int, control: bool) -> str:
    """Return one line; a comment if it would join a group with its own content."""
    if _is_in_group(scene, source, target) or _is_in_group(scene, target, source):
        return "  %% a line from a group to itself"
    return f"  b{source} {'-.->' if control else '-->'} b{target}"


def _is_in_group(scene: Scene, group: int, box: int) -> bool:
    while box >= 0:
        if box == group:
            return True
        box = scene.boxes[box].parent
    return False


def _mermaid_classes(scene: Scene, paint: Paint) -> Iterator[str]:
    """Yield the colours of closed boxes that have one, a class for each."""
    classes: dict[tuple[str, str, str], list[int]] = {}
    for index, (box, fill) in enumerate(zip(scene.boxes, paint.boxes, strict=True)):
        if not box.open and fill.hued:
            classes.setdefault((fill.fill, fill.stroke, fill.text), []).append(index)
    for number, ((ground, stroke, ink), members) in enumerate(classes.items()):
        yield f"  classDef c{number} fill:{ground},stroke:{stroke},color:{ink}"
        yield f"  class {','.join(f'b{index}' for index in members)} c{number}"


# One open group as a `networkx.DiGraph`.


def to_networkx(hierarchy: Hierarchy, metagraph: Metagraph) -> networkx.DiGraph[int]:
    """Return the children of a group as nodes (by row), its metaedges as edges.

    Nodes have `name`, `kind`, `op` (None for groups) and `ops` (the number inside); edges have `tensors`, `control`,
    `reference` and `size`. Nothing is left out: children in the auxiliary area are nodes with their edges.

    >>> from graphviz_tb import load
    >>> model = load(b'node { name: "a" op: "Relu" } node { name: "b" op: "Add" input: "a" }')
    >>> graph = to_networkx(model.hierarchy, model.metagraph())
    >>> [graph.nodes[node]["name"] for node in graph], list(graph.edges.values())[0]["tensors"]
    (['a', 'b'], 1)
    """
    import networkx  # only this format needs it

    graph: networkx.DiGraph[int] = networkx.DiGraph(name=hierarchy.name[metagraph.row])
    for row in metagraph.children:
        graph.add_node(row, **_networkx_attributes(hierarchy, row))
    for edge in metagraph.edges:
        if edge.writes:  # no edge of the file
            continue
        graph.add_edge(
            metagraph.children[edge.source],
            metagraph.children[edge.target],
            tensors=edge.tensors,
            control=edge.control,
            reference=edge.reference,
            size=edge.carried_tensors.element_count(),
        )
    return graph


def _networkx_attributes(hierarchy: Hierarchy, row: int) -> dict[str, Any]:
    node = int(hierarchy.node[row])
    return {
        "name": hierarchy.name[row],
        "kind": "call" if row in hierarchy.calls else JSON_KINDS[RowKind(hierarchy.kind[row])],
        "op": hierarchy.graph.op_types[hierarchy.graph.op[node]] if node >= 0 else None,
        "ops": hierarchy.op_count(row),
    }


# Profiles as a trace in JSON for Perfetto and chrome://tracing (the "Trace Event Format").
#
# A process for each device, a thread for each lane; slices that overlap without nesting are on separate rows, which
# viewers show as further threads. A counter for the memory of each allocator.

TraceEvent = dict[str, Any]


def trace_json_bytes(profiles: Sequence[Profile]) -> bytes:
    """Return the steps of one run, one after the other on the clock of the trace; equal profiles yield equal bytes."""
    origin = min((profile.timeline.origin for profile in profiles), default=0)
    processes: dict[str, int] = {}
    threads: dict[tuple[int, str, int], int] = {}
    events: list[TraceEvent] = []
    for profile in profiles:
        shift = profile.timeline.origin - origin
        events += _slice_events(profile, shift, processes, threads)
        events += _memory_events(profile, shift, processes)
    events = [*_name_events(processes, threads), *events]
    lines = b",\n".join(json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode() for event in events)
    return b'{"displayTimeUnit":"ns","traceEvents":[\n' + lines + b"\n]}\n"


def _slice_events(
    profile: Profile, shift: int, processes: dict[str, int], threads: dict[tuple[int, str, int], int]
) -> Iterator[TraceEvent]:
    timeline = profile.timeline
    names = [_valid_unicode(name) for name in timeline.names]
    nodes = [_valid_unicode(name) for name in timeline.addresses]
    columns = (
        timeline.lane,
        _slice_event_rows(timeline),
        timeline.start,
        timeline.duration,
        timeline.name,
        timeline.node,
        timeline.kind,
        timeline.waited,
    )
    slices = zip(*(column.tolist() for column in columns), strict=True)
    for lane, row, start, duration, name, node, kind, waited in slices:
        device = timeline.lanes[lane].device
        process = processes.setdefault(device, len(processes) + 1)
        thread = threads.setdefault((process, timeline.lanes[lane].thread, row), len(threads) + 1)
        args: dict[str, Any] = {"node": nodes[node]} if node >= 0 else {}
        args |= {"step": _valid_unicode(profile.step)} if profile.step else {}
        args |= {"waited_us": waited / 1000} if waited else {}
        times = {"ts": (shift + start) / 1000, "dur": duration / 1000}
        kind_name = SliceKind(kind).name.lower()
        yield {"ph": "X", "name": names[name], "cat": kind_name, "pid": process, "tid": thread, **times, "args": args}


def _slice_event_rows(timeline: Timeline) -> Any:
    """Return the row of each slice: a nested slice is on the row of the outer slice, others are on the row of their
    level."""
    row = timeline.level.astype(np.int64)
    for level in range(1, int(np.max(row, initial=0)) + 1):  # the enclosing slice is on a level above
        inside = np.flatnonzero((timeline.level == level) & (timeline.parent >= 0))
        row[inside] = row[timeline.parent[inside]]
    return row


def _memory_events(profile: Profile, shift: int, processes: dict[str, int]) -> Iterator[TraceEvent]:
    """Yield a counter for each allocator."""
    for curve in profile.memory:
        process = processes.setdefault("memory", len(processes) + 1)
        for time, held in zip(curve.time.tolist(), curve.bytes.tolist(), strict=True):
            name = f"memory: {_valid_unicode(curve.allocator)}"
            yield {"ph": "C", "name": name, "pid": process, "ts": (shift + time) / 1000, "args": {"bytes": held}}


def _name_events(processes: dict[str, int], threads: dict[tuple[int, str, int], int]) -> Iterator[TraceEvent]:
    for device, process in processes.items():
        yield {"ph": "M", "name": "process_name", "pid": process, "args": {"name": _valid_unicode(device)}}
        yield {"ph": "M", "name": "process_sort_index", "pid": process, "args": {"sort_index": process}}
    for (process, name, row), thread in threads.items():
        shown = _valid_unicode(name) + (f" ({row + 1})" if row else "")
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": shown or "ops"}}


def _valid_unicode(text: str) -> str:
    """Return a text without lone surrogates, which readers refuse."""
    return text.encode("utf-8", "replace").decode()
