"""The data of a node's card besides its name and its place: the edges of the file, and all attributes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.limits import CARDS_OF_BLOCK
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.given import word
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.page.blocks import INTS, DataBlock, TextTable, ints, words
from graphviz_tb.view.attribute_words import attribute_words
from graphviz_tb.view.labels import describe

if TYPE_CHECKING:
    pass


def edges(hierarchy: Hierarchy, facts: Facts, table: TextTable) -> DataBlock:
    """Every edge of the file between nodes that have a row, by target: source row, target row, output, input, flags
    (control 1, reference 2), what it carries."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    kept = listed(hierarchy)
    keys = np.array([table(key) for key in graph.keys], np.int64)
    flags = graph.control[kept].astype(np.int32) | graph.reference[kept].astype(np.int32) << 1
    outputs = graph.source[kept].astype(np.int64) * max(len(keys), 1) + graph.key[kept]  # node and key as one number
    each, place = np.unique(outputs, return_inverse=True)
    carried = [table(tensor(facts, *divmod(output, max(len(keys), 1)))) for output in each.tolist()]
    said = np.array(carried, np.int64)[place.ravel()]
    columns = source[kept], target[kept], keys[graph.key[kept]], graph.slot[kept], flags, said
    return ints("edges", np.concatenate([column.astype(INTS) for column in columns]))


def listed(hierarchy: Hierarchy) -> np.ndarray:
    """The numbers of the edges between nodes that have a row, in the order of `edges`."""
    graph = hierarchy.graph
    source, target = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    kept = np.flatnonzero((source >= 0) & (target >= 0))
    return kept[np.lexsort((graph.slot[kept], target[kept]))]


def tensor(facts: Facts, node: int, key: int) -> str:
    """Describe the tensor of an output in words."""
    known = facts.tensor(node, key)
    return describe(known.shape, known.dtype)


def attributes(hierarchy: Hierarchy, facts: Facts) -> Iterator[DataBlock]:
    """The attributes of all nodes, `CARDS_OF_BLOCK` nodes a block, by name."""
    graph = hierarchy.graph
    known: dict[bytes, list[Any]] = {}
    for start in range(0, len(graph), CARDS_OF_BLOCK):
        nodes = range(start, min(start + CARDS_OF_BLOCK, len(graph)))
        yield words(
            f"attributes/{start // CARDS_OF_BLOCK}",
            [attribute_words(graph, node, known) + given_words(hierarchy, facts, node) for node in nodes],
        )


def given_words(hierarchy: Hierarchy, facts: Facts, node: int) -> list[list[Any]]:
    """The facts that a user gave about a node, as attributes."""
    row = int(hierarchy.row_of_node[node])
    if facts.given is None or row < 0:
        return []
    return [[name, word(value)] for name, value in facts.given.at(row).items()]
