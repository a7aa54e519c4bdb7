"""The meaning of the nodes of a graph: computed once, by `interpret`, and read by all later stages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

import numpy as np

from graphviz_tb.caches import Lazy, lazy_constant
from graphviz_tb.model.columns import Bools, Bytes, Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Shape, shape_text

# Weights: the trained numbers that an op uses, drawn as marks next to it.

# A key of a state dict: modules, then the name of the parameter, possibly with its index in a list.
PARAMETER_OF_MODULE = re.compile(r"(?:\w+\.)+?([^\W\d]\w*(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight, passed to its users by a node marked `Mark.WEIGHT`.

    `variable` is the name of the variable (of the constant, in a frozen graph) in the program; `dtype` the dtype of its
    value ("" if unknown), `shape` None if unknown. `role` is the input name of the op that uses it ("kernel", "bias",
    …), if the variable's name is unhelpful. `uses` is the number of ops that use the variable.
    """

    variable: str
    dtype: str = ""
    shape: Shape = None
    role: str = ""
    uses: int = 1

    @property
    def label(self) -> str:
        """Return the label that is drawn next to the op.

        >>> Weight("dense/kernel", "float32", (784, 128), "kernel").label, Weight("w", shape=None).label
        ('kernel 784×128', 'w')
        >>> Weight("features.1.0.layer_scale", "float32", (16, 1, 1)).label, Weight("heads.tables.0").label
        ('layer_scale 16×1×1', 'tables.0')
        """
        word = self.role or self.variable.removesuffix(":0").rpartition("/")[2] or self.variable
        if own := PARAMETER_OF_MODULE.fullmatch(word):
            word = own[1]
        dims = shape_text(self.shape) if self.shape else ""
        shared = f"({self.uses} uses)" if self.uses > 1 else ""
        return " ".join(part for part in (word, dims, shared) if part)


class VariableUse(IntEnum):
    """The purpose of a variable."""

    PARAMETER = 0  # the model computes with it
    COPY = 1  # an average or copy of parameters, the copy of a replica: counted with the parameters
    STATE = 2  # state of an optimizer, a metric, a counter
    BUFFER = 3  # values of a module that are not parameters: statistics of a norm, a table of positions


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the program, or a constant that replaces it in a frozen graph.

    `node` represents it: a variable, its handle, an argument bound to it, or a constant. `users` are the ops that use
    its value, in file order, excluding ops that write or save it. `trainable` is true if training changes it, None if
    the file does not say.
    """

    node: int
    name: str
    dtype: str
    shape: Shape
    use: VariableUse
    users: tuple[int, ...]
    trainable: bool | None = None

    def with_use(self, use: VariableUse) -> Variable:
        """Return a copy with another use."""
        return Variable(self.node, self.name, self.dtype, self.shape, use, self.users, self.trainable)


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
    """Node masks of a training graph; all false in a graph without training.

    `gradient`: computes gradients, by its type, scope or function. `behind`: gradient ops and all ops downstream of
    them. `forward`: ops that have gradients and are not in `behind`. `between`: gradient ops and ops on a path between
    two of them. `named`: nodes in a scope of gradients, marks included.
    """

    gradient: Bools
    forward: Bools
    behind: Bools
    between: Bools
    named: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Interpretation:
    """Columns over the nodes of a graph.

    `origin`: the variable, handle or constant whose value a node passes on as a weight (the node itself for the origin,
    -1 for any other node). `weights`: the weight of every mark `WEIGHT` that is drawn next to an op. Masks of ops:
    `variable` represents a variable, `writes` changes one, `stores` writes, saves, restores or checks variables,
    `sizes` computes sizes or is filled by sizes.

    These are lazy: `flow` (ops before and after gradients), `indexes` (ops that compute masks, positions and shapes),
    `from_inputs` (ops that depend on the values of an input), `model` (nodes that lead to a result or feed a gradient
    or a summary; all nodes if none does), `copies` (nodes of `Part.COPY`), `part` (the `Part` of each node),
    `variables` (all variables), and `shapes` (only their shapes, by node). `doubtful` are constants that may be weights
    and do not count as such.
    """

    origin: Ints
    weights: Mapping[int, Weight]
    variable: Bools
    writes: Bools
    stores: Bools
    sizes: Bools
    flow: Lazy[GradientFlow]
    indexes: Lazy[Bools]
    from_inputs: Lazy[Bools]
    model: Lazy[Bools]
    copies: Lazy[Bools]
    part: Lazy[Bytes]
    variables: Lazy[tuple[Variable, ...]]
    shapes: Lazy[Mapping[int, Shape]]
    doubtful: tuple[int, ...] = ()


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
    lazy_constant(NO_NODES),
    lazy_constant(np.zeros(0, np.uint8)),
    lazy_constant(()),
    lazy_constant(MappingProxyType({})),
)
