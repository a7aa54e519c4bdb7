"""Write the whole folded graph as JSON, independent of open groups. The schema is described in docs/json.md."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from io import BytesIO
from typing import Any

import numpy as np

from graphviz_tb.errors import RequestError
from graphviz_tb.limits import MAX_CACHED_JSON_BYTES, MAX_CACHED_JSON_TEXTS, MAX_JSON_BYTES
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.formatting import DOCUMENT_VERSIONS, document_header, replace_non_finite
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import OP_ROW, STACK_KINDS, GroupOrigin, Hierarchy, RowKind
from graphviz_tb.model.layers import Layer
from graphviz_tb.model.metagraph import LevelForm, Metaedge, Metagraph, Surplus
from graphviz_tb.model.paths import path_address

JsonObject = dict[str, Any]
FormedLevel = tuple[LevelForm, list[int]]
ExpandRow = Callable[[int], Metagraph]
JSON_KINDS = ("scope", "op", "series", "fold", "function")  # by `RowKind`
# A document may have `MAX_JSON_BYTES` and so many bytes for each row; longer documents are refused. Types and devices
# of ops are repeated for each group around them, shapes for each line, which may add up to gigabytes.
MAX_BYTES_PER_ROW = 2_000
NOT_EMBEDDED: JsonObject = {"embedded_in": []}
NOT_EMBEDDED_TEXT = b'"embedded_in":[]'
ROW_HOLES = re.compile(rb"-(\d+)")  # the only negative numbers in a template are placeholders of rows
COMPACT_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True, eq=False)
class JsonDocument:
    """The document, which is encoded piece by piece, because its values would take ten times the memory of its text.

    - `metagraph(row)`: opens a group.
    - `more`: functions from a row to the value of a further field ("stats", "cost").
    - `alike`: for some of these fields, a number by row; rows with equal numbers have equal values.
    - `form(row)`: the form that a level shares with levels that differ only in rows, and its rows; None if unknown.
    - `surplus`: the surplus of stacks that have one.
    """

    hierarchy: Hierarchy
    metagraph: ExpandRow
    more: Mapping[str, Callable[[int], JsonObject]] = field(default_factory=dict)
    alike: Mapping[str, Sequence[int]] = field(default_factory=dict)
    form: Callable[[int], FormedLevel | None] = field(default=lambda row: None)
    surplus: Mapping[int, Surplus] = field(default_factory=dict)

    def node_entries(self) -> Iterator[JsonObject]:
        """Yield an entry for each row, in preorder; its id is the row."""
        rows = RowEntries(self.hierarchy, self.surplus)
        for row in range(len(self.hierarchy)):
            yield {**rows.row_entry(row), **{name: entry(row) for name, entry in self.more.items()}}

    def plain_values(self) -> JsonObject:
        """Return the document as plain values: `nodes` in the order of their ids, `groups` by the id of the group."""
        waiting, groups = _mark_annotations_by_group(self.hierarchy), {}
        for row in group_rows(self.hierarchy):
            level = self.metagraph(row)
            edges = [_metaedge_values(edge, level.children) for edge in level.edges if not edge.writes]
            groups[str(row)] = {"edges": edges, **_level_values(level, waiting.get(row, {}))}
        return {**document_header("tbgraph"), "nodes": list(self.node_entries()), "groups": groups}

    def encode_document(self) -> bytes:
        """Return the document as UTF-8 text, with one node or group on each line.

        Raises RequestError if it is too large.
        """
        # Use one buffer: a document may take hundreds of megabytes, and joining pieces would double that.
        text, known, rows = BytesIO(), TextCache(), RowEntries(self.hierarchy, self.surplus)
        text.write(b'{"format": "tbgraph", "version": %d,\n"nodes": [\n' % DOCUMENT_VERSIONS["tbgraph"])
        for row in range(len(self.hierarchy)):
            text.write(b",\n" * (row > 0) + rows.row_text(row, known))
            for name, entry in self.more.items():
                key = (name, self.alike[name][row]) if name in self.alike else None
                text.write(b",%b:%b" % (_encode_compact(name), known.text_of(key, entry, row)))
            text.write(b"}")
            self._check_size(text.tell())
        text.write(b'\n],\n"groups": {\n')
        marks, templates = _mark_annotations_by_group(self.hierarchy), LevelTemplates(known)
        for number, row in enumerate(group_rows(self.hierarchy)):
            text.write(b",\n" * (number > 0) + b'"%d":' % row)
            # A level with marks is written in full; others may be copies of the first level of their form.
            form, rows_inside = (None if row in marks else self.form(row)) or (None, [])
            if form is None or form.first == row:
                for piece in _level_text(self.metagraph(row), known, marks.get(row, {})):
                    text.write(piece)
                    self._check_size(text.tell())
            else:
                text.write(templates.filled_text(self.metagraph(form.first), form.rows, rows_inside))
                self._check_size(text.tell())
        text.write(b"\n}}\n")
        return text.getvalue()

    def _check_size(self, size: int) -> None:
        """Raise RequestError if the document, still incomplete, is too large."""
        most = MAX_JSON_BYTES + MAX_BYTES_PER_ROW * len(self.hierarchy)
        if size > most:
            raise RequestError(
                f"the JSON of this graph would be larger than {most // 1_000_000:,} MB",
                hint="its types or devices of ops have very long names, or its shapes very many sizes; "
                "write SVG, or HTML",
            )


class TextCache:
    """Encoded values by key; short values are encoded once."""

    def __init__(self) -> None:
        self._known: dict[Hashable, bytes] = {}

    def text_of(self, key: Hashable | None, make: Callable[[Any], JsonObject], which: Any) -> bytes:
        """Return the encoded `make(which)`. Equal keys mean equal values; with the key None nothing is cached."""
        text = None if key is None else self._known.get(key)
        if text is None:
            text = _encode_compact(make(which))
            if key is not None and len(text) <= MAX_CACHED_JSON_BYTES and len(self._known) < MAX_CACHED_JSON_TEXTS:
                self._known[key] = text
        return text


class LevelTemplates:
    """Encoded levels with placeholders for rows, which levels that differ only in rows share."""

    def __init__(self, known: TextCache) -> None:
        self._known = known
        self._made: dict[int, tuple[bytes, list[int]]] = {}

    def filled_text(self, first: Metagraph, old: Sequence[int], new: Sequence[int]) -> bytes:
        """Return the text of the level `first` with `new` rows in place of its `old` rows."""
        made = self._made.get(first.row)
        if made is None:
            made = self._made[first.row] = self._make_template(first, old)
        text, places = made
        return text % tuple([new[place] for place in places])

    def _make_template(self, level: Metagraph, rows: Sequence[int]) -> tuple[bytes, list[int]]:
        hole = {row: -1 - place for place, row in enumerate(rows)}
        notes = [replace(note, other=hole[note.other]) for note in level.annotations]
        empty = replace(level, children=tuple([hole[row] for row in level.children]), annotations=tuple(notes))
        text = b"".join(_level_text(empty, self._known, {})).replace(b"%", b"%%")
        return ROW_HOLES.sub(b"%d", text), [int(place) - 1 for place in ROW_HOLES.findall(text)]


def _encode_compact(value: Any) -> bytes:
    """Return a value in one line of ASCII, with control and bidirectional characters escaped."""
    return COMPACT_ENCODER.encode(value).encode()


def group_rows(hierarchy: Hierarchy) -> list[int]:
    return np.flatnonzero(hierarchy.kind != RowKind.OP).tolist()


class RowEntries:
    """Makes the entries of rows: names, contents, and fields that few rows have."""

    def __init__(self, hierarchy: Hierarchy, surplus: Mapping[int, Surplus]) -> None:
        self.hierarchy, self.graph, self.surplus = hierarchy, hierarchy.graph, surplus
        columns = hierarchy.kind, hierarchy.node, hierarchy.template, hierarchy.parent
        self.kind, self.node, self.template, self.parent = (column.tolist() for column in columns)
        # Groups have node -1, the last entry of each column.
        types = self.graph.op, self.graph.device
        self.op, self.device = (np.append(column, -1)[hierarchy.node].tolist() for column in types)
        # The ops under a group are a slice of all ops, because rows are in preorder.
        ops = hierarchy.node[hierarchy.is_ordinary_op]
        self.ops, self.devices = self.graph.op[ops], self.graph.device[ops]
        self.start, self.stop = hierarchy.op_prefix_sum[:-1].tolist(), hierarchy.op_prefix_sum[hierarchy.end].tolist()
        self.embedded = _hosts_of_marks(hierarchy)
        self.functions = {row: index for index, row in enumerate(hierarchy.function_rows)}
        self.main = int(hierarchy.end[0])

    def row_entry(self, row: int) -> JsonObject:
        """Return the entry of a row; its id is the row."""
        parent = self.parent[row]
        named = {
            "id": row,
            "name": self.hierarchy.name[row],
            "kind": self.kind_word(row),
            "parent": parent if parent >= 0 else None,
        }
        return {**named, **self.row_content(row), **self.other_fields(row)}

    def row_text(self, row: int, known: TextCache) -> bytes:
        """Return the entry as text, without its last brace."""
        name, parent = COMPACT_ENCODER.encode(self.hierarchy.name[row]), self.parent[row]
        around = parent if parent >= 0 else "null"
        named = f'{{"id":{row},"name":{name},"kind":"{self.kind_word(row)}","parent":{around},'
        content, own = known.text_of(self._content_key(row), self.row_content, row), self.other_fields(row)
        return b"%b%b,%b" % (
            named.encode(),
            content[1:-1],
            NOT_EMBEDDED_TEXT if own == NOT_EMBEDDED else _encode_compact(own)[1:-1],
        )

    def kind_word(self, row: int) -> str:
        return "call" if row in self.hierarchy.calls else JSON_KINDS[self.kind[row]]

    def row_content(self, row: int) -> JsonObject:
        """Return the type and device of an op, or their counts under a group; marks are not counted."""
        op_types, devices, template = self.graph.op_types, self.graph.devices, self.template[row]
        is_op, start, stop = self.kind[row] == OP_ROW, self.start[row], self.stop[row]
        return {
            "op": op_types[self.op[row]] if is_op else None,
            "device": devices[self.device[row]] if is_op else "",
            "ops": stop - start,
            "op_types": {} if is_op else _word_counts(self.ops[start:stop], op_types),
            # Ops without a device do not count.
            "devices": {}
            if is_op
            else {word: n for word, n in _word_counts(self.devices[start:stop], devices).items() if word},
            "template": template if template >= 0 else None,
        }

    def _content_key(self, row: int) -> Hashable | None:
        """Return a key that is equal for rows of equal content; None for a unique one."""
        start, stop = self.start[row], self.stop[row]
        if self.kind[row] == OP_ROW:
            return self.op[row], self.device[row], stop - start
        if stop - start > MAX_CACHED_JSON_BYTES:
            return None
        return self.template[row], self.ops[start:stop].tobytes(), self.devices[start:stop].tobytes()

    def other_fields(self, row: int) -> JsonObject:
        """Return the remaining fields; most rows have only an empty `embedded_in`."""
        hierarchy, graph = self.hierarchy, self.graph
        kind, node, name = self.kind[row], self.node[row], hierarchy.name[row]
        entry: JsonObject = {"embedded_in": self.embedded.get(row, [])}
        if (where := path_address(hierarchy, (row,))) != name:
            entry["address"] = where
        if row in hierarchy.calls:
            bodies = hierarchy.calls[row]
            entry["function"] = bodies[0][1]
            # The attribute is "" if the op type is the function's name.
            entry["functions"] = {attr or "body": function for attr, function in bodies}
        if (weight := graph.meaning.weights.get(node)) is not None:
            entry["weight"] = {
                "variable": weight.variable,
                "dtype": weight.dtype,
                "shape": None if weight.shape is None else list(weight.shape),
            }
        if row < self.main and (layer := graph.layers.get(name)) is not None:
            entry["layer"] = _layer_values(layer)
        if row in self.functions:
            entry["function_name"] = graph.functions[self.functions[row]].name
        if kind in STACK_KINDS:
            entry["connected"] = bool(hierarchy.connected[row])
            entry["how"] = GroupOrigin(hierarchy.how[row]).name.lower()
        if (surplus := self.surplus.get(row)) is not None:
            ops = hierarchy.row_of_node[list(surplus.nodes)].tolist()
            entry["surplus"] = {"member": surplus.member, "ops": ops, "shared": surplus.shared}
        return entry


def _word_counts(column: Ints, words: Sequence[str]) -> dict[str, int]:
    """Return how often each word occurs in a column of word numbers, in the order of first appearance."""
    return {words[word]: count for word, count in Counter(column.tolist()).items()}


def _layer_values(layer: Layer) -> JsonObject:
    return {
        "class": layer.class_name,
        "config": replace_non_finite(dict(layer.config)),
        "telling": layer.telling,
        "outputs": [None if shape is None else list(shape) for shape in layer.outputs],
        "parameters": layer.parameters,
    }


def _hosts_of_marks(hierarchy: Hierarchy) -> dict[int, list[int]]:
    """Return for each row of a mark the rows of the ops, or marks, next to which it is drawn."""
    graph, row_of = hierarchy.graph, hierarchy.row_of_node
    hosts_of: dict[int, dict[int, None]] = {}
    for mark, host in zip(row_of[graph.beside.mark].tolist(), row_of[graph.beside.host].tolist(), strict=True):
        hosts_of.setdefault(mark, {})[host] = None
    for node, owners in graph.within.items():
        hosts_of.setdefault(int(row_of[node]), {}).update((int(row_of[owner]), None) for owner in owners)
    return {mark: list(hosts) for mark, hosts in hosts_of.items()}


def _mark_annotations(hierarchy: Hierarchy) -> dict[int, list[list[Any]]]:
    """Return the control inputs of constants, by constant."""
    graph = hierarchy.graph
    edges = np.flatnonzero((graph.mark[graph.target] == Mark.CONSTANT) & (graph.mark[graph.source] == Mark.NONE))
    sources_of: dict[int, dict[int, None]] = {}
    for edge in edges.tolist():
        mark = int(hierarchy.row_of_node[graph.target[edge]])
        if mark >= 0:
            sources_of.setdefault(mark, {})[int(hierarchy.row_of_node[graph.source[edge]])] = None
    return {mark: [[row, "shortcut"] for row in rows] for mark, rows in sources_of.items()}


def _mark_annotations_by_group(hierarchy: Hierarchy) -> dict[int, JsonObject]:
    """Return the annotations of marks by the group around them, because marks are not children of a metagraph."""
    waiting: dict[int, JsonObject] = {}
    for mark, sources in _mark_annotations(hierarchy).items():
        waiting.setdefault(int(hierarchy.parent[mark]), {})[str(mark)] = {"in": sources, "out": []}
    return waiting


def _level_text(level: Metagraph, known: TextCache, more: JsonObject) -> Iterator[bytes]:
    """Yield one group as text, piece by piece; `more` are annotations."""
    yield b'{"edges":['
    rows = level.children
    for count, edge in enumerate(edge for edge in level.edges if not edge.writes):
        same = edge.tensors, edge.control, edge.reference, edge.back, tuple(edge.carried_tensors)
        carried = known.text_of(same, _carried_values, edge)[1:]
        yield b'%b{"from":%d,"to":%d,%b' % (b"," * (count > 0), rows[edge.source], rows[edge.target], carried)
    yield b"]," + _encode_compact(_level_values(level, more))[1:]


def _level_values(metagraph: Metagraph, more: JsonObject) -> JsonObject:
    """Return one group without its metaedges: extracts, functions, and annotations including `more`."""
    rows = metagraph.children
    annotations: dict[str, dict[str, list[list[Any]]]] = {}
    for note in metagraph.annotations:
        sides = annotations.setdefault(str(rows[note.child]), {"in": [], "out": []})
        sides[note.side].append([note.other, note.kind])
    return {
        "loops": [{"node": rows[child], "edges": count} for child, count in metagraph.loops],
        "in_extract": [rows[position] for position in metagraph.mask.in_extract],
        "out_extract": [rows[position] for position in metagraph.mask.out_extract],
        "functions": list(metagraph.functions),
        "annotations": {**annotations, **more},
    }


def _metaedge_values(edge: Metaedge, rows: Sequence[int]) -> JsonObject:
    return {"from": rows[edge.source], "to": rows[edge.target], **_carried_values(edge)}


def _carried_values(edge: Metaedge) -> JsonObject:
    """Return the edges that a metaedge represents, and its tensors."""
    carried = edge.carried_tensors
    tensors = list(carried)
    return {
        "tensors": edge.tensors,
        "control": edge.control,
        "reference": edge.reference,
        "size": carried.element_count(),
        "shapes": [None if tensor.shape is None else list(tensor.shape) for tensor in tensors],
        "dtypes": [tensor.dtype for tensor in tensors],
        "origins": [tensor.origin for tensor in tensors],
        **({"back": True} if edge.back else {}),
    }
