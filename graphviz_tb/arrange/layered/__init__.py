"""The engine `layered`: ranks of small total edge length, then an order with few crossings.

The steps are those of Sugiyama, Tagawa & Toda 1981 and of Gansner, Koutsofios, North & Vo 1993, "A technique for
drawing directed graphs".
"""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.arrange.layered.normalize import normalize
from graphviz_tb.arrange.layered.order import order
from graphviz_tb.arrange.layered.rank import rank
from graphviz_tb.arrange.options import ArrangeOptions
from graphviz_tb.arrange.part import Layers, Part
from graphviz_tb.errors import RequestError

MOST = 4_000_000  # bends of all lines of a piece: more take more than 2 GB


def layered(parts: Sequence[Part], options: ArrangeOptions) -> list[Layers]:
    """The layers of each part."""
    return [lay(part) for part in parts]


def lay(part: Part) -> Layers:
    """The steps, one after the other.

    >>> lay(Part(3, ((0, 1), (1, 2), (0, 2)))).ranks
    [[0], [1, 3], [2]]
    """
    ranks = rank(part)
    check(part, ranks)
    layers = normalize(part, ranks)
    return order(part, layers)


def check(part: Part, ranks: Sequence[int]) -> None:
    """Refuse what no memory holds: lines that pass too many ranks."""
    bends = sum([ranks[target] - ranks[source] - 1 for source, target in part.edges])
    if bends > MOST:
        raise RequestError(
            f"a level of {part.count:,} boxes and {len(part.edges):,} lines, which bend {bends:,} times, is too large",
            hint="let it be folded (without --no-fold), or open fewer groups",
        )
