"""Arrange the levels of a page, counted towards its limit."""

from __future__ import annotations

from graphviz_tb.arrange import ArrangeOptions, PortConstraints, SkeletonCache
from graphviz_tb.arrange.laying import LevelArranger
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.held import LevelStore

NEW_ORDER_COST = 3  # weight of a level with a new order: it takes as long as three levels with a known one


class PageArranger(LevelArranger):
    """Arranges the levels of a page; a level whose order had to be computed counts extra."""

    def __init__(self, options: ArrangeOptions, known: SkeletonCache, held: LevelStore) -> None:
        super().__init__(options, known)
        self._held = held

    def __call__(self, level: Metagraph, outside: PortConstraints | None = None) -> Skeleton:
        """Return the drawing order of one level."""
        made = self.distinct_level_count
        skeleton = super().__call__(level, outside)
        if self.distinct_level_count > made:
            self._held.count_items(level, NEW_ORDER_COST - 1)  # `Held.put` counts it once
        return skeleton
