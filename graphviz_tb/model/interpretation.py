"""The meaning of the nodes of a graph: computed once, by `interpret`, and read by all later stages."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

import numpy as np

from graphviz_tb.model.columns import Bools, Bytes, Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.later import Lazy, lazy_constant
from graphviz_tb.model.tensors import Shape
from graphviz_tb.model.weights import Variable, Weight


class Part(IntEnum):
    """The part of the program to which a node belongs."""

    MODEL = 0  # contributes to a result, or feeds gradients
    COPY = 1  # a second forward pass with the model's weights, without gradients: for evaluation, or a target network
    LOSS = 2  # after the last weights that gradients reach
    GRADIENT = 3
    UPDATE = 4  # ops that apply gradients, with ops that serve only these
    INPUT = 5  # datasets, iterators, queues and readers, with ops that serve only these
    BOOKKEEPING = 6  # savers, initialisers, counters


COMPUTING_PARTS = (Part.MODEL, Part.COPY, Part.LOSS)  # forward computation


@dataclass(frozen=True, slots=True, eq=False)
class GradientFlow:
    """Node masks of a graph that trains; all false if nothing does.

    `gradient`: computes gradients, by its type, scope or function. `behind`: such an op, or downstream of one:
    gradients and their uses. `forward`: has gradients, and is not in `behind`. `between`: a gradient op, or on a path
    between two of them. `named`: is in a scope of gradients, marks included.
    """

    gradient: Bools
    forward: Bools
    behind: Bools
    between: Bools
    named: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Interpretation:
    """Columns over the nodes of a graph.

    `origin`: the variable, handle or constant whose value a node passes on as a weight; itself for the origin, -1 for
    any other node. `weights`: the weight of every mark `WEIGHT` that is drawn next to an op. `variable`, `writes`,
    `stores`, `sizes`: masks of ops that hold a variable, that change one, that store variables (write, save, restore,
    check for initialisation), that give sizes or are filled by sizes.

    Lazy values: `flow`, the flow of gradients; `indexes`, ops that compute masks, positions and shapes; `model`, nodes
    upstream of a result, a gradient or a summary (all, if there is none); `copies`, nodes of `Part.COPY`; `part`, the
    `Part` of each node; `variables`, all variables; `shapes`, their shapes by the node that makes each.
    """

    origin: Ints
    weights: Mapping[int, Weight]
    variable: Bools
    writes: Bools
    stores: Bools
    sizes: Bools
    flow: Lazy[GradientFlow]
    indexes: Lazy[Bools]
    model: Lazy[Bools]
    copies: Lazy[Bools]
    part: Lazy[Bytes]
    variables: Lazy[tuple[Variable, ...]]
    shapes: Lazy[Mapping[int, Shape]]


NO_NODES = np.zeros(0, bool)
NO_INTERPRETATION = Interpretation(  # of a graph that is not interpreted yet
    np.zeros(0, np.int32),
    MappingProxyType({}),
    NO_NODES,
    NO_NODES,
    NO_NODES,
    NO_NODES,
    lazy_constant(GradientFlow(NO_NODES, NO_NODES, NO_NODES, NO_NODES, NO_NODES)),
    lazy_constant(NO_NODES),
    lazy_constant(NO_NODES),
    lazy_constant(NO_NODES),
    lazy_constant(np.zeros(0, np.uint8)),
    lazy_constant(()),
    lazy_constant(MappingProxyType({})),
)
