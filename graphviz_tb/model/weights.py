"""Weights: the trained numbers that an op uses, as marks next to it."""

from __future__ import annotations

from enum import IntEnum

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Shape, shape_word


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight that a node marked `Mark.WEIGHT` gives its users.

    `variable` is the name of the variable (of the constant, in a frozen graph) as the program called it; `dtype` that
    of its value ("" where unknown), `shape` None where unknown. `role` is what the op that uses it calls the input
    ("kernel", "bias", …), where the name says nothing. `uses` is how many ops use the variable.
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
        """
        word = self.role or self.variable.removesuffix(":0").rpartition("/")[2] or self.variable
        dims = shape_word(self.shape) if self.shape else ""
        shared = f"({self.uses} uses)" if self.uses > 1 else ""
        return " ".join(part for part in (word, dims, shared) if part)


class VariableUse(IntEnum):
    """The purpose of a variable."""

    PARAMETER = 0  # the model computes with it
    COPY = 1  # an average of parameters, a copy of them, what another replica holds: counted with these
    STATE = 2  # of an optimizer, a metric, a counter


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the program, or the constant that freezing made of one.

    `node` makes it: a variable, its handle, an argument that is given one, a constant. `users` are the ops that take
    its value, in the order of the file; what writes or saves it is none. `trainable` is whether training changes it,
    None where nothing says so.
    """

    node: int
    name: str
    dtype: str
    shape: Shape
    use: VariableUse
    users: tuple[int, ...]
    trainable: bool | None = None

    def used_as(self, use: VariableUse) -> Variable:
        """Return a copy with another use."""
        return Variable(self.node, self.name, self.dtype, self.shape, use, self.users, self.trainable)
