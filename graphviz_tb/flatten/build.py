"""The last step of flatten: plain lists become frozen columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.flatten.marks import Marks
from graphviz_tb.flatten.nodes import Nodes
from graphviz_tb.model.columns import Ints, freeze
from graphviz_tb.model.graph import Call, Function, Graph

if TYPE_CHECKING:
    from graphviz_tb.proto import GraphDef


def table(words: list[str]) -> tuple[Ints, tuple[str, ...]]:
    """Ids in the order of first appearance, and the words.

    >>> ids, words = table(["b", "a", "b"])
    >>> ids.tolist(), words
    ([0, 1, 0], ('b', 'a'))
    """
    distinct = tuple(dict.fromkeys(words))
    number = {word: at for at, word in enumerate(distinct)}
    ids = np.fromiter(map(number.__getitem__, words), np.int32, len(words))
    return freeze(ids), distinct


def assemble(
    graph_def: GraphDef,
    nodes: Nodes,
    marks: Marks,
    functions: tuple[Function, ...],
    calls: tuple[Call, ...],
) -> Graph:
    """Freeze everything into a `Graph`."""
    op, op_types = table(nodes.op)
    device, devices = table(nodes.device)
    edges = marks.edges
    for column in (edges.source, edges.target, edges.key, edges.slot, edges.control, edges.reference):
        freeze(column)
    return Graph(
        name=nodes.name,
        op=op,
        op_types=op_types,
        device=device,
        devices=devices,
        function=nodes.function_column(),
        mark=freeze(marks.mark),
        definition=freeze(np.concatenate(nodes.definition)),
        kept=freeze(marks.kept),
        source=edges.source,
        target=edges.target,
        key=edges.key,
        keys=edges.keys,
        slot=edges.slot,
        control=edges.control,
        reference=edges.reference,
        functions=functions,
        calls=calls,
        beside=marks.beside,
        within=marks.within,
        graph_def=graph_def,
        notices=(*nodes.notices, *edges.notices),
    )
