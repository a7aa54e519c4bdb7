"""Weights: the trained numbers that an op uses, as marks beside it."""

from __future__ import annotations

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Shape, shape_word


@dataclass(frozen=True, slots=True)
class Weight:
    """What a node marked `Mark.WEIGHT` brings to its users.

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
        """What is drawn beside the op.

        >>> Weight("dense/kernel", "float32", (784, 128), "kernel").label, Weight("w", shape=None).label
        ('kernel 784×128', 'w')
        """
        word = self.role or self.variable.removesuffix(":0").rpartition("/")[2] or self.variable
        dims = shape_word(self.shape) if self.shape else ""
        shared = f"({self.uses} uses)" if self.uses > 1 else ""
        return " ".join(part for part in (word, dims, shared) if part)
