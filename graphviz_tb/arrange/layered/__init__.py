"""The engine `layered`: ranks of small total edge length, then an order with few crossings.

The steps are those of Sugiyama, Tagawa & Toda 1981 and of Gansner, Koutsofios, North & Vo 1993, "A technique for
drawing directed graphs".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from graphviz_tb.arrange.large import TooManyBends
from graphviz_tb.arrange.layered.normalize import normalize
from graphviz_tb.arrange.layered.order import order
from graphviz_tb.arrange.layered.rank import rank
from graphviz_tb.arrange.options import ArrangeOptions
from graphviz_tb.arrange.part import Component, Ranks
from graphviz_tb.limits import LEVEL_ITEMS, REMEMBERED_PART, REMEMBERED_PARTS


def layered(parts: Sequence[Component], options: ArrangeOptions) -> list[Ranks]:
    """Return the ranks of each part."""
    return [(lay_once if part.count <= REMEMBERED_PART else lay)(part, options.quick) for part in parts]


def lay(part: Component, quick: bool = False) -> Ranks:
    """Rank, normalize and order one part.

    >>> lay(Component(3, ((0, 1), (1, 2), (0, 2)))).ranks
    [[0], [1, 3], [2]]
    """
    ranks = rank(part)
    check(part, ranks)
    layers = normalize(part, ranks)
    return order(part, layers, quick)


# Small equal parts occur in many levels. Results are shared and never changed.
lay_once = lru_cache(maxsize=REMEMBERED_PARTS)(lay)


def check(part: Component, ranks: Sequence[int]) -> None:
    """Raise TooManyBends if lines pass so many ranks that ordering would take minutes."""
    # Checked before `normalize` makes an item for each bend.
    bends = sum([ranks[target] - ranks[source] - 1 for source, target in part.edges])
    if bends > LEVEL_ITEMS:
        raise TooManyBends
