"""Data of node cards: edges of the file, attributes, layers, meanings, contents of constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.graphs.tensors import claimed_element_count, decode_elements, stored_elements
from graphviz_tb.limits import (
    CARDS_PER_BLOCK,
    MAX_HISTOGRAM_ELEMENTS,
    MAX_LISTED_LINES,
    MAX_MEASURED_ELEMENTS,
)
from graphviz_tb.model.facts import Facts, fact_text
from graphviz_tb.model.graph import COLOCATION_ATTR, Graph
from graphviz_tb.model.hierarchy import OP_ROW, Hierarchy
from graphviz_tb.model.tensors import Tensor
from graphviz_tb.ops.roles import CONSTANT_OPS
from graphviz_tb.ops.table import attribute_description, op_description
from graphviz_tb.page.blocks import (
    INT_DTYPE,
    DataBlock,
    TextTable,
    compact_json,
    ints_block,
    json_block,
    json_list_block,
)
from graphviz_tb.words.attributes import attribute_texts, config_texts, source_of_definition
from graphviz_tb.words.line_labels import describe_shape

if TYPE_CHECKING:
    from graphviz_tb.proto import TensorProto


# Contents of constants for their cards: range, mean, zeros and a histogram, mostly of frozen weights.

CONSTANT_BINS = 24
MIN_HISTOGRAM_ELEMENTS = 8  # with fewer elements, the elements say more than a histogram


def _constant_blocks(graph: Graph, number: Callable[[int], int]) -> Iterator[DataBlock]:
    """Yield the contents of constants by their positions in blocks of `CARDS_PER_BLOCK` nodes, without empty blocks.
    Nodes of equal `number` have equal contents."""
    is_constant_type = np.array([op in CONSTANT_OPS for op in graph.op_types], bool)
    room = int(MAX_MEASURED_ELEMENTS)
    by_block: dict[int, dict[int, list[Any]]] = {}
    measured_by_number: dict[int, list[Any] | None] = {}
    for node in np.flatnonzero(is_constant_type[graph.op]).tolist() if len(graph) else ():
        definition = graph.node_def(node)
        if definition is None or not definition.attr["value"].HasField("tensor"):
            continue
        tensor = definition.attr["value"].tensor
        count = claimed_element_count(tensor)
        if not 0 < count <= room:
            continue
        room -= count
        content_number = number(node)
        if content_number not in measured_by_number:
            measured_by_number[content_number] = _measure_constant(tensor, count)
        if (measured := measured_by_number[content_number]) is not None:
            by_block.setdefault(node // CARDS_PER_BLOCK, {})[node % CARDS_PER_BLOCK] = measured
    for block, lines in by_block.items():
        yield json_block(f"contents/{block}", lines)


def _measure_constant(tensor: TensorProto, count: int) -> list[Any] | None:
    """Return the number of elements, least, largest, mean, zeros, elements that are not finite, and the counts of equal
    bins from the least to the largest; None for values without an order.

    >>> from graphviz_tb.proto import TensorProto
    >>> _measure_constant(TensorProto(dtype=1, float_val=[0, 0, 1, 3]), 4)
    [4, 0.0, 3.0, 1.0, 2, 0, []]
    """
    elements = stored_elements(tensor, count)
    if elements is None or elements.dtype.kind == "c" or not len(elements):
        return None
    numbers = decode_elements(elements, tensor.dtype)
    finite = np.isfinite(numbers)
    finite_numbers = numbers if np.all(finite) else numbers[finite]
    if not len(finite_numbers):
        return [count, None, None, None, 0, count, []]
    # TensorFlow may omit trailing equal elements: the last one repeats to the end.
    repeated = count - len(numbers) if finite[-1] else 0
    last = float(finite_numbers[-1])
    least, most = float(np.min(finite_numbers)), float(np.max(finite_numbers))
    mean = (float(np.sum(finite_numbers, dtype=np.float64)) + repeated * last) / (len(finite_numbers) + repeated)
    zeros = len(finite_numbers) - int(np.count_nonzero(finite_numbers)) + (repeated if last == 0 else 0)
    non_finite = count - len(finite_numbers) - repeated
    bins = _count_bins(finite_numbers, repeated, least, most)
    return [count, least, most, mean if np.isfinite(mean) else None, zeros, non_finite, bins]


def _count_bins(numbers: np.ndarray, more: int, least: float, most: float) -> list[int]:
    """Count the numbers in each of `CONSTANT_BINS` equal bins, the last number `more` times again. Very many numbers
    are sampled at equal distances."""
    if len(numbers) < MIN_HISTOGRAM_ELEMENTS or not least < most or not np.isfinite(most - least):
        return []
    some = np.append(numbers[:: -(-len(numbers) // int(MAX_HISTOGRAM_ELEMENTS))], numbers[-1:]).astype(np.float64)
    bins = np.minimum(((some - least) * (CONSTANT_BINS / (most - least))).astype(np.int64), CONSTANT_BINS - 1)
    found = np.bincount(bins[:-1], minlength=CONSTANT_BINS)
    found[bins[-1]] += more
    return [int(number) for number in found]


def edge_block(hierarchy: Hierarchy, facts: Facts, table: TextTable) -> DataBlock:
    """Return every edge of the file between nodes that have a row, by target: source row, target row, output, input,
    flags (control 1, reference 2), tensor."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    kept = listed_edges(hierarchy)
    keys = np.array([table(key) for key in graph.keys], np.int64)
    flags = graph.control[kept].astype(np.int32) | graph.reference[kept].astype(np.int32) << 1
    outputs = graph.source[kept].astype(np.int64) * max(len(keys), 1) + graph.key[kept]  # node and key as one number
    distinct, inverse = np.unique(outputs, return_inverse=True)
    texts: dict[Tensor, int] = {}
    tensors = [facts.tensor(*divmod(output, max(len(keys), 1))) for output in distinct.tolist()]
    for tensor in tensors:
        if tensor not in texts:
            texts[tensor] = table(describe_shape(tensor.sizes, tensor.dtype))
    edge_texts = np.array([texts[tensor] for tensor in tensors], np.int64)[inverse.ravel()]
    columns = source[kept], target[kept], keys[graph.key[kept]], graph.slot[kept], flags, edge_texts
    return ints_block("edges", np.concatenate([column.astype(INT_DTYPE) for column in columns]))


def listed_edges(hierarchy: Hierarchy) -> np.ndarray:
    """Return the edges between nodes that have a row, in the order of `edge_block`."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    kept = np.flatnonzero((source >= 0) & (target >= 0))
    return kept[np.lexsort((graph.slot[kept], target[kept]))]


def card_blocks(hierarchy: Hierarchy, facts: Facts) -> Iterator[DataBlock]:
    """Yield the data that only cards show: layers, meanings, attributes, contents of constants."""
    graph, attributes = hierarchy.graph, AttributeTexts(hierarchy, facts)
    found = []
    for start in range(0, len(graph), CARDS_PER_BLOCK):
        nodes = range(start, min(start + CARDS_PER_BLOCK, len(graph)))
        found.append(json_list_block(f"attributes/{start // CARDS_PER_BLOCK}", map(attributes.card_attributes, nodes)))
    if graph.layers:
        attributes.names.update(key for layer in graph.layers.values() for key in layer.config)
        yield _layer_block(hierarchy)
    yield _meaning_block(hierarchy, attributes.names)
    if graph.is_exported:
        yield _program_block(hierarchy)
    yield from found
    yield from _constant_blocks(graph, facts.definition)


class AttributeTexts:
    """Node attributes as JSON, encoded once for equal definitions. `names` collects all attribute names."""

    def __init__(self, hierarchy: Hierarchy, facts: Facts) -> None:
        self.names: set[str] = set()
        self._hierarchy, self._facts = hierarchy, facts
        self._words: dict[bytes, list[Any]] = {}
        self._colocations: dict[bytes, list[bytes]] = {}
        self._known: dict[int, tuple[list[bytes], list[bytes]]] = {}  # attributes before and after the colocation

    def card_attributes(self, node: int) -> bytes:
        """Return the names and values of a node's attributes, followed by the facts that the user gave."""
        number = self._facts.definition(node)
        if number not in self._known:
            listed = attribute_texts(self._hierarchy.graph, node, self._words)
            self._known[number] = (
                self.encode_attributes(attribute for attribute in listed if attribute[0] < COLOCATION_ATTR),
                self.encode_attributes(attribute for attribute in listed if attribute[0] > COLOCATION_ATTR),
            )
        before, behind = self._known[number]
        given = (
            self.encode_attributes(_user_fact_words(self._hierarchy, self._facts, node)) if self._facts.given else []
        )
        return b"[%b]" % b",".join((*before, *self.colocation_texts(node), *behind, *given))

    def colocation_texts(self, node: int) -> list[bytes]:
        """Return the colocation, encoded once: many nodes are often colocated with one node."""
        definition = self._hierarchy.graph.node_def(node)
        if definition is None or COLOCATION_ATTR not in definition.attr:
            return []
        value = definition.attr[COLOCATION_ATTR].SerializeToString()
        if value not in self._colocations:
            listed = attribute_texts(self._hierarchy.graph, node, self._words, (COLOCATION_ATTR,))
            self._colocations[value] = self.encode_attributes(listed)
        return self._colocations[value]

    def encode_attributes(self, listed: Iterable[list[Any]]) -> list[bytes]:
        named = list(listed)
        self.names.update(name for name, *_ in named)
        return list(map(compact_json, named))


def _user_fact_words(hierarchy: Hierarchy, facts: Facts, node: int) -> list[list[Any]]:
    """Return the facts that a user gave about a node, as attributes."""
    row = int(hierarchy.row_of_node[node])
    if facts.given is None or row < 0:
        return []
    return [[name, fact_text(value)] for name, value in facts.given.values_of_row(row).items()]


def _layer_block(hierarchy: Hierarchy) -> DataBlock:
    """Return the Keras layers of a file by row: class, and the whole configuration in words."""
    named = ((row, hierarchy.keras_layer(row)) for row in range(1, int(hierarchy.end[0])))
    values = {row: [layer.class_name, config_texts(layer.config)] for row, layer in named if layer is not None}
    return json_block("layers", values)


def _program_block(hierarchy: Hierarchy) -> DataBlock:
    """Return the lines of source behind each group: the line of the call that made the whole group, and the inner lines
    with their numbers of ops. Lines are indices into a list of all lines.

    `{"lines": ["m.py:9 x = self.attn(x)", "m.py:4 q @ k"], "rows": {"3": [0, [[1, 2]]]}}`: -1 means no common call.
    """
    stacks, stack_of_row = _source_stacks(hierarchy)
    lines: dict[str, int] = {}
    rows: dict[int, list[Any]] = {}
    for row in range(1, len(hierarchy)) if stacks else ():
        if hierarchy.kind[row] == OP_ROW:
            continue
        inside = stack_of_row[row + 1 : int(hierarchy.end[row])]
        numbers, first, counts = np.unique(inside[inside >= 0], return_index=True, return_counts=True)
        if not len(numbers):
            continue
        stack_counts = [(stacks[numbers[place]], int(counts[place])) for place in np.argsort(first).tolist()]
        common = len(commonprefix([stack for stack, _ in stack_counts]))  # noqa: RUF071 (whole lines are compared)
        counts_by_line: Counter[str] = Counter()
        for stack, count in stack_counts:
            counts_by_line.update(dict.fromkeys(stack[common : common + 1], count))
        first_stack, _ = stack_counts[0]
        call = lines.setdefault(first_stack[common - 1], len(lines)) if common else -1
        shown = list(counts_by_line.items())[:MAX_LISTED_LINES]
        rows[row] = [call, [[lines.setdefault(line, len(lines)), count] for line, count in shown]]
    return json_block("program", {"lines": list(lines), "rows": rows})


def _source_stacks(hierarchy: Hierarchy) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Return the distinct lists of lines that made an op, outermost call first, and the index of the list of each row,
    -1 for none."""
    known: dict[tuple[str, ...], int] = {}
    numbers = np.full(len(hierarchy), -1, np.int64)
    for row in np.flatnonzero((hierarchy.kind == OP_ROW) & (hierarchy.node >= 0)).tolist():
        definition = hierarchy.graph.node_def(int(hierarchy.node[row]))
        if definition is not None and (stack := tuple(source_of_definition(definition))):
            numbers[row] = known.setdefault(stack, len(known))
    return list(known), numbers


def _meaning_block(hierarchy: Hierarchy, attributes: Iterable[str]) -> DataBlock:
    """Return the meanings of the op types, layers and attributes of a file, in each language."""
    graph = hierarchy.graph
    classes = {layer.class_name for layer in graph.layers.values()}
    types = {graph.op_types[graph.op[node]] for node in hierarchy.node[hierarchy.kind == OP_ROW].tolist() if node >= 0}
    said = {op: op_description(op) for op in sorted(types | classes)}
    of_attributes = {name: attribute_description(name) for name in sorted(set(attributes))}
    parts = {"ops": said, "attributes": of_attributes}
    return json_block(
        "meanings", {part: {name: line for name, line in lines.items() if line} for part, lines in parts.items()}
    )
