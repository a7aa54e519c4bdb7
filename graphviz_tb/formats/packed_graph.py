"""A binary GraphDef as columns; the message of a node is decoded on demand.

Messages take four times the bytes of their file, and a picture needs one node in twenty.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, overload

from graphviz_tb.formats.protobuf import DECODE_ERRORS, check_message_size, decode_checked_message, parse_wire_varint
from graphviz_tb.graphs.node_columns import NODES_PER_BATCH, NodeColumns, append_graph_nodes
from graphviz_tb.limits import MAX_CACHED_DEFINITION_BYTES, MAX_CACHED_OPS
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.proto import GraphDef, NodeDef
from graphviz_tb.sources.bounds import check_empty_messages, has_too_many_nodes
from graphviz_tb.unwrap.artifacts import may_have_artifacts
from graphviz_tb.unwrap.node_order import is_frozen_order

DECODE_ALL_RATIO = 4  # decode the whole message once more than one node in so many was decoded
MAX_MEAN_NODE_BYTES = 4096  # above this average, constants dominate, and columns save nothing
NODE_TAG = 0x0A  # the tag of a node: field 1, bytes
OWN_FIELD_TAGS = (0x0A, 0x1A, 0x22)  # tags of a node's name, inputs and device
OP_TAG = 0x12  # the tag of a node's op type
LEADING_FIELD_TAGS = frozenset({OP_TAG, *OWN_FIELD_TAGS})  # tags of the fields before the attributes
ATTRIBUTE_TAG = 0x2A  # tag of a node's attribute: key (field 1) and value (field 2)
COLOCATION_START = b"\n%c%b\x12" % (len(COLOCATION_ATTR), COLOCATION_ATTR.encode())  # start of a colocation attribute


class LazyNodes(ABC, Sequence[NodeDef]):
    """Nodes of a graph without functions, decoded on demand."""

    def __init__(self) -> None:
        self._kept: dict[int, NodeDef] = {}
        self._decoded_alone = 0
        self._message: GraphDef | None = None

    @abstractmethod
    def encoded_range(self, first: int, stop: int) -> bytes:
        """Return the bytes of nodes as fields of their graph."""

    @abstractmethod
    def definition(self, at: int) -> bytes:
        """Return the bytes of a node without name, inputs, device and colocation; empty for unusual fields."""

    @abstractmethod
    def attributes(self, at: int) -> bytes:
        """Return the bytes of the attributes of a node, in the order of the file."""

    @abstractmethod
    def may_have_attribute(self, key: str, at: int) -> bool:
        """Return whether the bytes of a node have the name of an attribute; nothing is decoded."""

    @property
    def data(self) -> bytes:
        """The bytes of the graph."""
        return self.encoded_range(0, len(self))

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
            node = self._kept[at] = self._decode_range(at, at + 1)[0]
            self._decoded_alone += 1
            if self._decoded_alone * DECODE_ALL_RATIO > len(self):
                self.message()
        return node

    def decode_together(self, positions: Sequence[int]) -> None:
        """Decode nodes in advance, which is faster than one by one."""
        if self._message is None:
            missing = [at for at in positions if at not in self._kept]
            encoded = b"".join([self.encoded_range(at, at + 1) for at in missing])
            self._kept.update(zip(missing, GraphDef.FromString(encoded).node, strict=True))

    def __iter__(self) -> Iterator[NodeDef]:
        if self._message is not None:
            yield from self._message.node
            return
        for first in range(0, len(self), NODES_PER_BATCH):
            yield from self._decode_range(first, min(first + NODES_PER_BATCH, len(self)))

    def _decode_range(self, first: int, stop: int) -> Sequence[NodeDef]:
        return GraphDef.FromString(self.encoded_range(first, stop)).node

    def message(self) -> GraphDef:
        """Return the whole message, decoded once."""
        if self._message is None:
            self._message, self._kept = GraphDef.FromString(self.data), {}
        return self._message


class PackedNodes(LazyNodes):
    """The nodes at the start of a binary GraphDef. Node `at` ends at byte `stops[at]`. The bytes are kept: they
    identify equal definitions."""

    def __init__(self, data: bytes, stops: array[int]) -> None:
        super().__init__()
        self._data, self._stops = data, stops
        self._definitions: dict[bytes, bytes] = {}  # by op type and attributes as they are in the file

    def __len__(self) -> int:
        return len(self._stops)

    @property
    def data(self) -> bytes:
        """The bytes of the graph, including everything after its nodes."""
        return self._data

    def encoded_range(self, first: int, stop: int) -> bytes:
        return self._data[self._stops[first - 1] if first else 0 : self._stops[stop - 1]]

    def may_have_attribute(self, key: str, at: int) -> bool:
        return self._data.find(key.encode(), self._stops[at - 1] if at else 0, self._stops[at]) >= 0

    def definition(self, at: int) -> bytes:
        stop = self._stops[at]
        op, start = _op_and_attributes(self._data, self._stops[at - 1] if at else 0, stop)
        if stop - start > MAX_CACHED_DEFINITION_BYTES:
            return _shared_definition(self._data, self._stops[at - 1] if at else 0, stop)
        written = op + self._data[start:stop]
        known = self._definitions.get(written)
        if known is None:
            known = _shared_definition(self._data, self._stops[at - 1] if at else 0, stop)
            if len(self._definitions) < MAX_CACHED_OPS:
                self._definitions[written] = known
        return known

    def attributes(self, at: int) -> bytes:
        stop = self._stops[at]
        return self._data[_op_and_attributes(self._data, self._stops[at - 1] if at else 0, stop)[1] : stop]


class PackedGraph:
    """A binary GraphDef with its nodes in `columns`; `library` and `versions` are those of the message."""

    def __init__(self, nodes: LazyNodes, rest: GraphDef, columns: NodeColumns | None = None) -> None:
        self._rest = rest
        self.node = nodes
        self.columns = columns or NodeColumns()
        if columns is None:
            append_graph_nodes(self.columns, nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedGraph) and (
            self.node.data == other.node.data or self.whole_message() == other.whole_message()
        )

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

    def whole_message(self) -> GraphDef:
        """Return the whole message, decoded once."""
        return self.node.message()


def decode_graph(data: bytes, name: str, bounded: bool = False) -> GraphDef | PackedGraph:
    """Decode a GraphDef; packed, unless reading changes it (functions, tracing artifacts, sorted nodes).

    Raises `MalformedProto` and `TooLarge` as `decode` does.
    """
    check_message_size(len(data), name)
    if bounded:
        check_empty_messages(data, name)
    try:
        packed = _pack_graph(data)
    except DECODE_ERRORS:
        packed = None
    return packed or decode_checked_message(data, GraphDef, name)


def _pack_graph(data: bytes) -> PackedGraph | None:
    """Return the packed graph; None if it must be decoded as a message.

    That is a graph without nodes, with implausibly many or large nodes, with nodes after other fields, or a graph that
    reading will change.
    """
    stops = _node_end_offsets(data)
    if has_too_many_nodes(len(stops), len(data)) or len(data) > MAX_MEAN_NODE_BYTES * len(stops):
        return None
    rest = GraphDef.FromString(data[stops[-1] :]) if stops else None
    if rest is None or rest.node or rest.library.function:
        return None
    nodes = PackedNodes(data, stops)
    if is_frozen_order(nodes):
        return None
    packed = PackedGraph(nodes, rest)
    return None if may_have_artifacts(packed.columns) else packed


def _op_and_attributes(data: bytes, position: int, stop: int) -> tuple[bytes, int]:
    """Return the field of the op type of a node between two offsets, and where its attributes start: after the fields
    of name, op, inputs and device.

    >>> node = NodeDef(name="x", op="Relu", input=["y"], device="/cpu:0", attr={"T": {"type": 1}})
    >>> data = GraphDef(node=[node]).SerializeToString()
    >>> op, start = _op_and_attributes(data, 0, len(data))
    >>> NodeDef.FromString(op + data[start:]) == NodeDef(op="Relu", attr={"T": {"type": 1}})
    True
    """
    position += 1
    while data[position] > 0x7F:
        position += 1
    position += 1
    op = b""
    while position < stop and (tag := data[position]) in LEADING_FIELD_TAGS:
        start = position
        size, position = parse_wire_varint(data, position + 1, stop)
        position += size
        if tag == OP_TAG:
            op += data[start:position]
    return op, position


def _shared_definition(data: bytes, position: int, stop: int) -> bytes:
    """Return the fields of a node, between two offsets, that equal nodes share.

    >>> node = NodeDef(name="x", op="Relu", input=["y"], device="/cpu:0", attr={"_class": {"i": 1}, "T": {"type": 1}})
    >>> data = GraphDef(node=[node]).SerializeToString()
    >>> NodeDef.FromString(_shared_definition(data, 0, len(data))) == NodeDef(op="Relu", attr={"T": {"type": 1}})
    True
    """
    position += 1
    while data[position] > 0x7F:
        position += 1
    position += 1
    kept: list[bytes] = []
    # `parse_wire_varint` inlined: this loop runs for each input and attribute of thousands of nodes.
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
        if tag not in OWN_FIELD_TAGS and not (tag == ATTRIBUTE_TAG and _is_colocation(data, position, position + size)):
            kept.append(data[start : position + size])
        position += size
    return b"".join(kept)


def _is_colocation(data: bytes, position: int, stop: int) -> bool:
    """Return whether the attribute between two offsets is a colocation and nothing else."""
    if not data.startswith(COLOCATION_START, position, stop):
        return False
    size, position = parse_wire_varint(data, position + len(COLOCATION_START), stop)
    return position + size == stop


def _node_end_offsets(data: bytes) -> array[int]:
    """Return the end offsets of the nodes that a message starts with; none if it is damaged there.

    >>> _node_end_offsets(b"\\n\\x03\\n\\x01x" * 2 + b"\\x22\\0").tolist(), _node_end_offsets(b"\\n\\x03\\n").tolist()
    ([5, 10], [])
    """
    stops, position, end = array("I"), 0, len(data)
    add = stops.append
    try:
        # `parse_wire_varint` inlined: this loop runs for every node of the file.
        while position < end and data[position] == NODE_TAG:
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
