"""Weights: the trained numbers that an op uses, drawn as marks next to it."""

from __future__ import annotations

from enum import IntEnum

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Shape, shape_text


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight given by a node marked `Mark.WEIGHT` to its users.

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
        """
        word = self.role or self.variable.removesuffix(":0").rpartition("/")[2] or self.variable
        dims = shape_text(self.shape) if self.shape else ""
        shared = f"({self.uses} uses)" if self.uses > 1 else ""
        return " ".join(part for part in (word, dims, shared) if part)


class VariableUse(IntEnum):
    """The purpose of a variable."""

    PARAMETER = 0  # the model computes with it
    COPY = 1  # an average or copy of parameters, the copy of a replica: counted with the parameters
    STATE = 2  # state of an optimizer, a metric, a counter


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the program, or a constant that freezing made of one.

    `node` makes it: a variable, its handle, an argument bound to one, a constant. `users` are the ops that use its
    value, in file order, excluding ops that write or save it. `trainable` is true if training changes it, None if the
    file does not say.
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
