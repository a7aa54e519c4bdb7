"""What a traced function was handed without a name of its own: tables and values that its code found around it."""

from __future__ import annotations

import re

import numpy as np

from graphviz_tb.flatten.edges import Edges
from graphviz_tb.flatten.nodes import Nodes
from graphviz_tb.flatten.weights import HANDED_IN, of_types
from graphviz_tb.model.columns import Bytes
from graphviz_tb.model.graph import Mark

UNNAMED = re.compile(r"(.*/)?unknown(_\d+)?", re.DOTALL)  # TensorFlow's word for it
LOOKUP = re.compile(r"LookupTable\w+|InitializeTable\w*")
TABLE, VALUE = "lookup table", "captured value"


def call_handed(nodes: Nodes, edges: Edges, mark: Bytes) -> dict[int, str]:
    """What to call arguments that are drawn: tables by what is done with them, others where they have no name."""
    handed = of_types(nodes, HANDED_IN.__contains__) & (mark == Mark.NONE)
    if not handed.any():
        return {}
    lookups = of_types(nodes, lambda op: bool(LOOKUP.fullmatch(op)))
    tables = edges.source[lookups[edges.target] & handed[edges.source] & (edges.slot == 0) & ~edges.control]
    unnamed = [node for node in np.flatnonzero(handed).tolist() if UNNAMED.fullmatch(nodes.name[node])]
    return dict.fromkeys(unnamed, VALUE) | dict.fromkeys(tables.tolist(), TABLE)
