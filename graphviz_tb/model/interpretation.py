"""The meaning of the nodes of a graph: found once, by `interpret`; all later stages read it here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

import numpy as np

from graphviz_tb.model.columns import Bools, Bytes, Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.later import Later, made
from graphviz_tb.model.tensors import Shape
from graphviz_tb.model.weights import Variable, Weight


class Part(IntEnum):
    """The part of its program that a node belongs to."""

    MODEL = 0  # leads to a result, or feeds gradients
    COPY = 1  # another forward pass with the model's weights that no gradient reaches: it evaluates, or is a target
    LOSS = 2  # behind the last weights that gradients reach
    GRADIENT = 3
    UPDATE = 4  # what becomes of gradients, with what only that uses
    INPUT = 5  # datasets, iterators, queues and readers, with what only they use
    BOOKKEEPING = 6  # savers, initialisers, counters


OF_MODEL = (Part.MODEL, Part.COPY, Part.LOSS)  # what computes, and no gradient, update, input or bookkeeping


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """Columns over the nodes of a graph that trains; all false where nothing does.

    `gradient`: works out gradients, by its type, its scope or its function. `behind`: is such an op or comes from one:
    gradients and what becomes of them. `forward`: gradients are worked out from it, and it is not behind them.
    `between`: is a gradient op, or leads from one to another. `named`: is in a scope of gradients, marks too.
    """

    gradient: Bools
    forward: Bools
    behind: Bools
    between: Bools
    named: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Interpretation:
    """Columns over the nodes of a graph.

    `origin`: the variable, handle or constant whose value a node hands on as a weight, itself for what makes one, -1
    for any other node. `weights`: for every mark `WEIGHT` that is drawn beside an op what it brings. `variable`,
    `writes`, `stores`, `sizes`: whether an op holds a variable, changes one, is about storing variables (writes, saves,
    restores them, or asks whether they are set), or gives sizes and what is filled by them.

    `flow` is called for what feeds gradients and what comes from them, `indexes` for the ops that work out masks,
    positions and shapes, `model` for the nodes that lead to a result or feed a gradient or a summary (all, where none
    does), `copies` for those that are `Part.COPY`, `part` for the `Part` of each node, `variables` for all variables,
    `shapes` for their shapes alone, by the node that makes each.
    """

    origin: Ints
    weights: Mapping[int, Weight]
    variable: Bools
    writes: Bools
    stores: Bools
    sizes: Bools
    flow: Later[Flow]
    indexes: Later[Bools]
    model: Later[Bools]
    copies: Later[Bools]
    part: Later[Bytes]
    variables: Later[tuple[Variable, ...]]
    shapes: Later[Mapping[int, Shape]]


NO = np.zeros(0, bool)
UNKNOWN = Interpretation(  # of a graph that nothing has interpreted
    np.zeros(0, np.int32),
    MappingProxyType({}),
    NO,
    NO,
    NO,
    NO,
    made(Flow(NO, NO, NO, NO, NO)),
    made(NO),
    made(NO),
    made(NO),
    made(np.zeros(0, np.uint8)),
    made(()),
    made(MappingProxyType({})),
)
