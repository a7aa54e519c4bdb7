"""Colour by structure: groups of one template share a hue and a letter; a structure that occurs once is
neutral."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphviz_tb.color.colouring import OP, STACKS, Colouring
from graphviz_tb.color.hues import legend_limit, plain, ranked
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy, Kind
from graphviz_tb.model.measure import thousands
from graphviz_tb.model.paint import Fill, LegendRow
from graphviz_tb.model.paths import Path
from graphviz_tb.model.theme import Theme


@dataclass(frozen=True)
class Structure(Colouring):
    """`rank` and `groups` are by template: its place among those that occur twice or more, and how often it
    occurs."""

    rank: dict[int, int]
    groups: dict[int, int]
    first: dict[int, int]

    def fill(self, path: Path) -> Fill:
        """The hue of the row's template."""
        rank = self.rank.get(self.template(path[-1]), -1)
        return ranked(rank, self.theme, lettered=True) if rank >= 0 else super().fill(path)

    def template(self, row: int) -> int:
        """The template that a row is coloured by: its own; a stack's where all its members share one. -1:
        none."""
        hierarchy = self.hierarchy
        while hierarchy.kind[row] in STACKS:
            below = hierarchy.children(row)
            templates = hierarchy.template[below]
            if not len(below) or np.any(templates != templates[0]):
                return -1
            row = int(below[0])
        return int(hierarchy.template[row]) if hierarchy.kind[row] != OP else -1

    def legend(self, shown: Sequence[Path]) -> list[LegendRow]:
        """The structures shown, in order of rank, each called by its first group."""
        found = {self.template(path[-1]) for path in shown}
        known = sorted((self.rank[template], template) for template in found if template in self.rank)
        kept, rest = legend_limit(len(known))
        told = [
            LegendRow(
                f"{thousands(self.groups[template])} like {self.hierarchy.leaf(self.first[template])}",
                ranked(rank, self.theme, lettered=True),
            )
            for rank, template in known[:kept]
        ]
        if rest:
            told.append(LegendRow(f"+{rest} more", plain(self.theme, op=False), "rest"))
        return told


def structure(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Structure:
    """Rank templates by how many ops of the whole file they cover, then by where they first occur.

    Before: equal integers in `template` mean equal structure. After: the same file has the same colours,
    whatever is open.
    """
    groups = np.flatnonzero((hierarchy.template >= 0) & np.isin(hierarchy.kind, (Kind.SCOPE, Kind.FUNCTION)))
    groups = groups[groups > 0]
    templates, first, inverse, counts = np.unique(
        hierarchy.template[groups], return_index=True, return_inverse=True, return_counts=True
    )
    ops = hierarchy.op_total[hierarchy.end[groups]] - hierarchy.op_total[groups]
    cover = np.bincount(inverse, weights=ops, minlength=len(templates)) if len(groups) else np.zeros(0)
    often = np.flatnonzero(counts > 1)
    order = often[np.lexsort((first[often], -cover[often]))]
    rank = {int(templates[at]): place for place, at in enumerate(order.tolist())}
    return Structure(
        hierarchy,
        theme,
        "structure",
        "Same colour and letter: same structure",
        rank,
        dict(zip(templates.tolist(), counts.tolist(), strict=True)),
        dict(zip(templates.tolist(), groups[first].tolist(), strict=True)),
    )
