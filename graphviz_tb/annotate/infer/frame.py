"""The main graph or a function's body with certain arguments, as far as it was inferred."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphviz_tb.annotate.infer.values import Out


@dataclass(slots=True, eq=False)
class CallFrame:
    """One place where nodes are inferred: `function` is -1 for the main graph, `caller` the frame of the first call."""

    function: int
    args: tuple[Out, ...] = ()
    caller: CallFrame | None = None
    outs: dict[int, tuple[Out, ...]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    heads: dict[int, Out] = field(default_factory=dict)  # what merges of loops are assumed to carry

    depth: int = field(init=False)
    far: CallFrame = field(init=False)  # one further out, twice as far as the one before where that is possible

    def __post_init__(self) -> None:
        caller = self.caller
        if caller is None:
            self.depth, self.far = 0, self
            return
        self.depth = caller.depth + 1
        # Pointers of a skew-binary list: every frame around is reached in a number of steps that grows like the
        # logarithm of the depth (E. W. Myers, "An applicative random-access stack", 1983).
        step, next_step = caller.depth - caller.far.depth, caller.far.depth - caller.far.far.depth
        self.far = caller.far.far if step == next_step else caller

    def holds(self, other: CallFrame) -> bool:
        """Return whether another frame is this one or inside it."""
        while other.depth > self.depth:
            caller = other.caller
            assert caller is not None, "only the outermost frame has none"
            other = other.far if other.far.depth >= self.depth else caller
        return other is self


Task = tuple[CallFrame, int]  # a node to infer, and where
