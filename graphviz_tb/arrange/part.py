"""The input of an engine, one connected piece at a time, and its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graphviz_tb.arrange.options import ArrangeOptions
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice

Row = list[int]  # items of one rank, from left to right


@dataclass(frozen=True, slots=True)
class Component:
    """One connected piece without cycles: nodes 0 … count-1, `edges` run with the flow.

    Nodes in `first` (`last`) are ports: they are alone on the first (last) rank; they bear the highest numbers.
    `spine` are the edges of the main path; where the order of the ports is `held`, they stay in that of their numbers.
    """

    count: int
    edges: tuple[tuple[int, int], ...]
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    spine: tuple[int, ...] = ()
    held: bool = False


@dataclass(slots=True)
class Ranks:
    """For each rank its items from left to right, and for each edge its chain of items, one a rank.

    Items below `count` are the part's nodes, the others waypoints, numbered in the order of `chains`. `notices` say
    what the engine could not do.
    """

    ranks: list[list[int]]
    chains: list[list[int]]
    notices: tuple[Notice, ...] = ()


Engine = Callable[[Sequence[Component], ArrangeOptions], list[Ranks]]
