"""The order of each level of a page, which are counted towards those that it may have."""

from __future__ import annotations

from graphviz_tb.arrange import Arrangements, ArrangeOptions, PortConstraints
from graphviz_tb.arrange.laying import Laying
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.held import Held

UNLIKE = 3  # times that a level counts that has the order of no other: it takes as long as three that have


class LayingPage(Laying):
    """Arranges the levels of a page, and counts those twice more whose order had to be found."""

    def __init__(self, options: ArrangeOptions, known: Arrangements, held: Held) -> None:
        super().__init__(options, known)
        self._held = held

    def __call__(self, level: Metagraph, outside: PortConstraints | None = None) -> Skeleton:
        """The order of one level."""
        made = self.made
        skeleton = super().__call__(level, outside)
        if self.made > made:
            self._held.count(level, UNLIKE - 1)  # once more when it is put in
        return skeleton
