"""The order in which each level of a page is drawn, in a time that a page has for all of them."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.arrange import Around, Arrangements, ArrangeOptions, arrange
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.page.held import Held

# Bends of lines, of all levels that differ, up to which several orders are tried: about four seconds. The levels of a
# training graph of 100,000 nodes have 340, those of 20,000 nodes that feed sixty others each 190,000.
BENDS = 10_000
UNLIKE = 3  # times that a level counts that has the order of no other: it takes as long as three that have


class Laying:
    """Arranges levels one after the other; from the one on that comes after `BENDS` bends, quickly.

    Equal levels have one order. It does not depend on pictures drawn before: what a page holds is always the same.
    """

    def __init__(self, options: ArrangeOptions, held: Held) -> None:
        self._options, self._held, self._known = options, held, Arrangements()
        self._quick = 0

    def __call__(self, level: Metagraph, outside: Around) -> Skeleton:
        """The order of one level."""
        known = self._known
        made, quick = known.made, known.bends > BENDS
        skeleton = arrange(level, replace(self._options, quick=quick), outside, known)
        if known.made > made:
            self._quick += quick
            self._held.count(level, UNLIKE - 1)  # once more when it is put in
        return skeleton

    def notices(self) -> list[Notice]:
        """What there is to say of it."""
        if not self._quick:
            return []
        text = f"{self._quick:,} deeper levels of the page are ordered quickly: more of their lines cross than need to"
        return [Notice("quick-levels", text, strict=False)]
