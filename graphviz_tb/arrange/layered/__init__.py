"""The engine `layered_ranks`: choose ranks of small total edge length, then an order with few crossings.

The steps are those of Sugiyama, Tagawa & Toda 1981 and of Gansner, Koutsofios, North & Vo 1993, "A technique for
drawing directed graphs".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from graphviz_tb.arrange.component import ArrangeOptions, Component, Ranks
from graphviz_tb.arrange.layered.order import order_ranks
from graphviz_tb.arrange.layered.rank import rank_nodes, split_long_edges
from graphviz_tb.arrange.plain_rows import TooManyBends
from graphviz_tb.limits import MAX_CACHED_PART_BOXES, MAX_CACHED_PARTS, MAX_LEVEL_ITEMS


def layered_ranks(parts: Sequence[Component], options: ArrangeOptions) -> list[Ranks]:
    return [
        (lay_out_part_cached if part.count <= MAX_CACHED_PART_BOXES else _lay_out_part)(part, options.quick)
        for part in parts
    ]


def _lay_out_part(part: Component, quick: bool = False) -> Ranks:
    """Choose the ranks of one piece and the order within them.

    >>> _lay_out_part(Component(3, ((0, 1), (1, 2), (0, 2)))).ranks
    [[0], [1, 3], [2]]
    """
    ranks = rank_nodes(part)
    _check_bend_count(part, ranks)
    layers = split_long_edges(part, ranks)
    return order_ranks(part, layers, quick)


# Small equal pieces occur in many levels. Callers share the results and must not change them.
lay_out_part_cached = lru_cache(maxsize=MAX_CACHED_PARTS)(_lay_out_part)


def _check_bend_count(part: Component, ranks: Sequence[int]) -> None:
    """Raise TooManyBends if lines pass so many ranks that ordering would take minutes."""
    # This runs before `split_long_edges` creates an item for each bend.
    bends = sum([ranks[target] - ranks[source] - 1 for source, target in part.edges])
    if bends > MAX_LEVEL_ITEMS:
        raise TooManyBends
