"""Data of node cards, besides name and place: the edges of the file, attributes, layers, meanings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from graphviz_tb.limits import CARDS_OF_BLOCK
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.given import word
from graphviz_tb.model.graph import COLOCATION
from graphviz_tb.model.hierarchy import OP, Hierarchy
from graphviz_tb.model.tensors import Tensor
from graphviz_tb.ops.words import attribute_meaning, op_words
from graphviz_tb.page.blocks import INTS, DataBlock, TextTable, ints, json_text, listed_texts, words
from graphviz_tb.page.contents import contents
from graphviz_tb.view.attribute_words import attribute_words, config_words
from graphviz_tb.view.labels import describe


def edges(hierarchy: Hierarchy, facts: Facts, table: TextTable) -> DataBlock:
    """Return every edge of the file between nodes that have a row, by target: source row, target row, output, input,
    flags (control 1, reference 2), tensor."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    kept = listed(hierarchy)
    keys = np.array([table(key) for key in graph.keys], np.int64)
    flags = graph.control[kept].astype(np.int32) | graph.reference[kept].astype(np.int32) << 1
    outputs = graph.source[kept].astype(np.int64) * max(len(keys), 1) + graph.key[kept]  # node and key as one number
    each, place = np.unique(outputs, return_inverse=True)
    known: dict[Tensor, int] = {}
    carried = [facts.tensor(*divmod(output, max(len(keys), 1))) for output in each.tolist()]
    for value in carried:
        if value not in known:
            known[value] = table(describe(value.shape, value.dtype))
    said = np.array([known[value] for value in carried], np.int64)[place.ravel()]
    columns = source[kept], target[kept], keys[graph.key[kept]], graph.slot[kept], flags, said
    return ints("edges", np.concatenate([column.astype(INTS) for column in columns]))


def listed(hierarchy: Hierarchy) -> np.ndarray:
    """Return the edges between nodes that have a row, in the order of `edges`."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    kept = np.flatnonzero((source >= 0) & (target >= 0))
    return kept[np.lexsort((graph.slot[kept], target[kept]))]


def about(hierarchy: Hierarchy, facts: Facts) -> Iterator[DataBlock]:
    """Yield the data that only cards show: layers, meanings, attributes, contents of constants."""
    graph, attributes = hierarchy.graph, AttributeTexts(hierarchy, facts)
    found = []
    for start in range(0, len(graph), CARDS_OF_BLOCK):
        nodes = range(start, min(start + CARDS_OF_BLOCK, len(graph)))
        found.append(listed_texts(f"attributes/{start // CARDS_OF_BLOCK}", map(attributes.of, nodes)))
    if graph.layers:
        attributes.names.update(key for layer in graph.layers.values() for key in layer.config)
        yield layers(hierarchy)
    yield meanings(hierarchy, attributes.names)
    yield from found
    yield from contents(graph, facts.definition)


class AttributeTexts:
    """Node attributes as JSON, worded once for equal definitions. `names` collects all attribute names."""

    def __init__(self, hierarchy: Hierarchy, facts: Facts) -> None:
        self.names: set[str] = set()
        self._hierarchy, self._facts = hierarchy, facts
        self._words: dict[bytes, list[Any]] = {}
        self._colocations: dict[bytes, list[bytes]] = {}
        self._known: dict[int, tuple[list[bytes], list[bytes]]] = {}  # attributes before and after the colocation

    def of(self, node: int) -> bytes:
        """Return the names and values of a node's attributes, followed by the facts that the user gave."""
        number = self._facts.definition(node)
        if number not in self._known:
            listed = attribute_words(self._hierarchy.graph, node, self._words)
            self._known[number] = (
                self._texts(each for each in listed if each[0] < COLOCATION),
                self._texts(each for each in listed if each[0] > COLOCATION),
            )
        before, behind = self._known[number]
        given = self._texts(given_words(self._hierarchy, self._facts, node)) if self._facts.given else []
        return b"[%b]" % b",".join((*before, *self._colocation(node), *behind, *given))

    def _colocation(self, node: int) -> list[bytes]:
        """Return the colocation, encoded once: many nodes are often placed with one."""
        definition = self._hierarchy.graph.node_def(node)
        if definition is None or COLOCATION not in definition.attr:
            return []
        value = definition.attr[COLOCATION].SerializeToString()
        if value not in self._colocations:
            listed = attribute_words(self._hierarchy.graph, node, self._words, (COLOCATION,))
            self._colocations[value] = self._texts(listed)
        return self._colocations[value]

    def _texts(self, listed: Iterable[list[Any]]) -> list[bytes]:
        named = list(listed)
        self.names.update(name for name, *_ in named)
        return list(map(json_text, named))


def given_words(hierarchy: Hierarchy, facts: Facts, node: int) -> list[list[Any]]:
    """Return the facts that a user gave about a node, as attributes."""
    row = int(hierarchy.row_of_node[node])
    if facts.given is None or row < 0:
        return []
    return [[name, word(value)] for name, value in facts.given.at(row).items()]


def layers(hierarchy: Hierarchy) -> DataBlock:
    """Return the Keras layers of a file by row: class, and the whole configuration in words."""
    told = hierarchy.graph.layers
    rows = [row for row in range(1, int(hierarchy.end[0])) if hierarchy.name[row] in told] if told else []
    named = [(row, told[hierarchy.name[row]]) for row in rows]
    return words("layers", {row: [layer.class_name, config_words(layer.config)] for row, layer in named})


def meanings(hierarchy: Hierarchy, attributes: Iterable[str]) -> DataBlock:
    """Return the meanings of the op types, layers and attributes of a file, in each language."""
    graph = hierarchy.graph
    classes = {layer.class_name for layer in graph.layers.values()}
    types = {graph.op_types[graph.op[node]] for node in hierarchy.node[hierarchy.kind == OP].tolist() if node >= 0}
    said = {op: op_words(op) for op in sorted(types | classes)}
    of_attributes = {name: attribute_meaning(name) for name in sorted(set(attributes))}
    parts = {"ops": said, "attributes": of_attributes}
    return words(
        "meanings", {part: {name: line for name, line in lines.items() if line} for part, lines in parts.items()}
    )
