"""The main graph or a function's body with certain arguments, as far as it was inferred."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphviz_tb.annotate.infer.values import Out


@dataclass(slots=True, eq=False)
class Frame:
    """One place where nodes are inferred: `function` is -1 for the main graph, `caller` the frame of the first call."""

    function: int
    args: tuple[Out, ...] = ()
    caller: Frame | None = None
    outs: dict[int, tuple[Out, ...]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    heads: dict[int, Out] = field(default_factory=dict)  # what merges of loops are assumed to carry

    def within(self, function: int) -> bool:
        """Whether the frame lies in one of `function`."""
        frame: Frame | None = self
        while frame is not None:
            if frame.function == function:
                return True
            frame = frame.caller
        return False


Task = tuple[Frame, int]  # a node to infer, and where
