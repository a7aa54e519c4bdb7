"""A binary GraphDef as columns; the message of a node is decoded on demand.

Messages take four times the bytes of their file, and a picture needs those of one node in twenty.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, overload

from graphviz_tb.algorithms.node_columns import AT_ONCE, Nodes, add_block
from graphviz_tb.model.graph import COLOCATION
from graphviz_tb.proto import GraphDef, NodeDef
from graphviz_tb.read.limits import has_more_nodes
from graphviz_tb.read.ordered import was_sorted
from graphviz_tb.read.pb import BROKEN, check_message, decode_checked
from graphviz_tb.read.tracing_artifacts import may_be_there
from graphviz_tb.read.wire import varint

ONE_IN = 4  # decode the whole message once more than one node in so many was asked for
LARGE_NODES = 4096  # bytes per node on average: above, constants dominate, which are no columns
NODE = 0x0A  # the tag of a node: field 1, bytes
OWN = (0x0A, 0x1A, 0x22)  # tags of a node's name, inputs and device
ATTRIBUTE = 0x2A  # tag of a node's attribute: key (field 1) and value (field 2)
COLOCATED = b"\n%c%b\x12" % (len(COLOCATION), COLOCATION.encode())  # start of a colocation attribute


class PackedNodes(Sequence[NodeDef]):
    """The nodes at the start of a binary GraphDef. Node `at` ends at byte `stops[at]`."""

    def __init__(self, data: bytes, stops: array[int]) -> None:
        self.data, self._stops = data, stops
        self._kept: dict[int, NodeDef] = {}
        self._message: GraphDef | None = None

    def __len__(self) -> int:
        return len(self._stops)

    @overload
    def __getitem__(self, at: int) -> NodeDef: ...
    @overload
    def __getitem__(self, at: slice) -> list[NodeDef]: ...
    def __getitem__(self, at: int | slice) -> NodeDef | list[NodeDef]:
        if self._message is not None:
            return self._message.node[at]
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        node = self._kept.get(at)
        if node is None:
            if not 0 <= at < len(self):
                return self[range(len(self))[at]]  # negative, or out of range
            node = self._kept[at] = self._decoded(at, at + 1)[0]
            if len(self._kept) * ONE_IN > len(self):
                self.message()
        return node

    def __iter__(self) -> Iterator[NodeDef]:
        if self._message is not None:
            yield from self._message.node
            return
        for first in range(0, len(self), AT_ONCE):
            yield from self._decoded(first, min(first + AT_ONCE, len(self)))

    def _decoded(self, first: int, stop: int) -> Sequence[NodeDef]:
        start = self._stops[first - 1] if first else 0
        return GraphDef.FromString(self.data[start : self._stops[stop - 1]]).node

    def definition(self, at: int) -> bytes:
        """Return the bytes of a node without name, inputs, device and colocation; empty for unusual fields."""
        return definition_in(self.data, self._stops[at - 1] if at else 0, self._stops[at])

    def message(self) -> GraphDef:
        """Return the whole message, decoded once. The bytes are kept: they identify equal definitions."""
        if self._message is None:
            self._message, self._kept = GraphDef.FromString(self.data), {}
        return self._message


class PackedGraph:
    """A binary GraphDef with its nodes in `columns`; `library` and `versions` are those of the message."""

    def __init__(self, nodes: PackedNodes, rest: GraphDef) -> None:
        self._rest = rest
        self.node = nodes
        self.columns = Nodes()
        add_block(self.columns, nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedGraph) and (self.node.data == other.node.data or self.whole() == other.whole())

    __hash__ = None  # type: ignore[assignment]  # as messages have it

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes only."""
        return decode_graph, (self.node.data, "a pickled graph")

    @property
    def library(self) -> Any:
        """The function library, always empty."""
        return self._rest.library

    @property
    def versions(self) -> Any:
        """TensorFlow versions that wrote it, or may read it."""
        return self._rest.versions

    def whole(self) -> GraphDef:
        """Return the whole message, decoded once."""
        return self.node.message()


def decode_graph(data: bytes, name: str, bounded: bool = False) -> GraphDef | PackedGraph:
    """Decode a GraphDef; packed, unless reading changes it (functions, tracing artifacts, sorted nodes).

    Raises `MalformedProto` and `TooLarge` as `decode` does.
    """
    check_message(data, name, bounded)
    try:
        packed = pack(data)
    except BROKEN:
        packed = None
    return packed or decode_checked(data, GraphDef, name)


def pack(data: bytes) -> PackedGraph | None:
    """Return the packed graph; None if it must be decoded as a message.

    That is a graph without nodes, with implausibly many or large ones, with nodes after other fields, or one that
    reading will change.
    """
    stops = node_stops(data)
    if has_more_nodes(len(stops), len(data)) or len(data) > LARGE_NODES * len(stops):
        return None
    rest = GraphDef.FromString(data[stops[-1] :]) if stops else None
    if rest is None or rest.node or rest.library.function:
        return None
    nodes = PackedNodes(data, stops)
    if was_sorted(nodes):
        return None
    packed = PackedGraph(nodes, rest)
    return None if may_be_there(packed.columns) else packed


def definition_in(data: bytes, position: int, stop: int) -> bytes:
    """Return the fields of a node, between two offsets, that equal nodes share.

    >>> node = NodeDef(name="x", op="Relu", input=["y"], device="/cpu:0", attr={"_class": {"i": 1}, "T": {"type": 1}})
    >>> data = GraphDef(node=[node]).SerializeToString()
    >>> NodeDef.FromString(definition_in(data, 0, len(data))) == NodeDef(op="Relu", attr={"T": {"type": 1}})
    True
    """
    position += 1
    while data[position] > 0x7F:
        position += 1
    position += 1
    kept: list[bytes] = []
    # `varint` inlined: this loop runs for each input and attribute of thousands of nodes.
    while position < stop:
        start, tag = position, data[position]
        if tag > 0x7F or tag & 7 != 2:
            return b""
        size, position = data[position + 1], position + 2
        if size > 0x7F:
            size, shift = size & 0x7F, 7
            while (byte := data[position]) > 0x7F:
                size |= (byte & 0x7F) << shift
                position, shift = position + 1, shift + 7
            size |= byte << shift
            position += 1
        if tag not in OWN and not (tag == ATTRIBUTE and colocates(data, position, position + size)):
            kept.append(data[start : position + size])
        position += size
    return b"".join(kept)


def colocates(data: bytes, position: int, stop: int) -> bool:
    """Return whether the attribute between two offsets is a colocation and nothing else."""
    if not data.startswith(COLOCATED, position, stop):
        return False
    size, position = varint(data, position + len(COLOCATED), stop)
    return position + size == stop


def node_stops(data: bytes) -> array[int]:
    """Return the end offsets of the nodes that a message starts with; none if it is damaged there.

    >>> node_stops(b"\\n\\x03\\n\\x01x" * 2 + b"\\x22\\0").tolist(), node_stops(b"\\n\\x03\\n").tolist()
    ([5, 10], [])
    """
    stops, position, end = array("I"), 0, len(data)
    add = stops.append
    try:
        # `varint` inlined: this loop runs for every node of the file.
        while position < end and data[position] == NODE:
            size, position, shift = data[position + 1], position + 2, 7
            if size > 0x7F:
                size &= 0x7F
                while (byte := data[position]) > 0x7F:
                    if shift > 63:  # longer than any number
                        return array("I")
                    size |= (byte & 0x7F) << shift
                    position, shift = position + 1, shift + 7
                size |= byte << shift
                position += 1
            position += size
            add(position)
    except (IndexError, OverflowError):
        return array("I")
    return stops if position <= end else array("I")
