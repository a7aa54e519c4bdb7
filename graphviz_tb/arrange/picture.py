"""Arrange all levels of one picture or page within a budget of work, which is counted, not timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from graphviz_tb.arrange.cache import ColumnBreaks, level_key, rank_counts, skeleton_key
from graphviz_tb.arrange.column_inputs import move_ends_to_columns
from graphviz_tb.arrange.level import (
    ArrangeOptions,
    PortConstraints,
    SkeletonCache,
    arrange,
    arrange_uncached,
    check_engine,
    child_port_constraints,
)
from graphviz_tb.arrange.plain_rows import is_too_large
from graphviz_tb.arrange.rank_neighbours import gather_training
from graphviz_tb.arrange.wrap import carry_breaks
from graphviz_tb.limits import MAX_PASSED_RANKS, MAX_TRIED_BENDS
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import RowPath, child_path
from graphviz_tb.model.skeleton import Skeleton

PROGRAM_START_COST = 25  # in bends: the time to start an external engine


class LevelArranger:
    """Arranges levels one after the other within a budget.

    After `MAX_TRIED_BENDS` bends, as much work of an external program, or one level that hit its time limit, levels are
    arranged quickly and without that program; after `MAX_PASSED_RANKS`, in plain rows. Equal levels have one order.
    `known` caches skeletons across pictures and never changes a result. `columns` breaks levels into columns, by their
    key; such a level is not drawn as a U.
    """

    def __init__(self, options: ArrangeOptions, known: SkeletonCache, columns: ColumnBreaks | None = None) -> None:
        check_engine(options)
        self._columns = columns or {}
        self._broken = {ranks for ranks, _ in self._columns.values()}
        self._options, self._known, self._here = options, known, SkeletonCache()
        self._quick = self._started = self._passed = self._plain = 0
        self._late = False  # whether an external program hit its time limit

    @property
    def distinct_level_count(self) -> int:
        return self._here.made

    def __call__(self, level: Metagraph, outside: PortConstraints | None = None) -> Skeleton:
        """Return the order of one level."""
        outside = outside or PortConstraints()
        if is_too_large(level):
            return arrange(level, self._options, outside, self._known)
        if self._passed > MAX_PASSED_RANKS and len(level.children) > 1:
            self._plain += 1
            return replace(self._known.plain_skeleton(level, outside), notices=())  # `notices` reports them together
        skeleton = self._arrange_in_budget(level, outside)
        self._passed += sum(len(wire.chain) - 2 for wire in skeleton.wires)
        return self._in_columns(level, outside, skeleton) if self._columns else skeleton

    def _in_columns(self, level: Metagraph, outside: PortConstraints, skeleton: Skeleton) -> Skeleton:
        """Return the skeleton of a level, broken into its columns."""
        usual_order = level.mask == level.automatic
        bent = bool(skeleton.falling)
        if usual_order and not bent and rank_counts(skeleton) not in self._broken:  # avoids the slow `level_key`
            return skeleton
        ranks, breaks = self._columns.get(level_key(level), ((), ()))
        if not ranks or outside.falling:
            return skeleton
        if bent:
            skeleton = self._arrange_in_budget(level, outside, bend=False)
        if usual_order:
            broken = rank_counts(skeleton) == ranks
            return (
                gather_training(level, move_ends_to_columns(replace(skeleton, breaks=breaks))) if broken else skeleton
            )
        # The breaks are those of the automatic order: carry them over to the order changed by hand.
        usual = self._arrange_in_budget(replace(level, mask=level.automatic), outside, bend=not bent)
        carried = carry_breaks(replace(usual, breaks=breaks), skeleton)
        return gather_training(level, move_ends_to_columns(replace(skeleton, breaks=carried)))

    def _arrange_in_budget(self, level: Metagraph, outside: PortConstraints, bend: bool = True) -> Skeleton:
        options = self._options if bend else replace(self._options, bend=False)
        key, rows = skeleton_key(level, options, outside)
        skeleton = self._here.recall_skeleton(key, rows)
        if skeleton is None:
            if self._here.bends + self._started > MAX_TRIED_BENDS or self._late:
                self._quick += 1
                # Cache it for this picture only, because another picture may have time for a better order.
                skeleton = arrange_uncached(level, replace(options, quick=True), outside)
            else:
                # Count the work whether cached or not, so that equal pictures have equal orders.
                self._started += PROGRAM_START_COST + len(level.edges) if self._options.engine != "layered" else 0
                skeleton = self._known.recall_skeleton(key, rows)
            if skeleton is None:
                skeleton = arrange_uncached(level, options, outside)
                self._known.store_skeleton(key, rows, skeleton)
            self._late |= any(notice.code == "engine-limit" for notice in skeleton.notices)
            self._here.store_skeleton(key, rows, skeleton)
        return skeleton

    def notices(self) -> tuple[Notice, ...]:
        """Return notices about levels that were ordered quickly or drawn in plain rows."""
        made = []
        if self._quick:
            text = f"{_levels_subject(self._quick)} ordered quickly: more of their lines cross than need to"
            made.append(Notice("quick-levels", text, strict=False))
        if self._plain:
            text = f"{_levels_subject(self._plain)} drawn in plain rows, their lines straight and unnamed"
            made.append(Notice("plain-levels", text, strict=False))
        return tuple(made)


def _levels_subject(count: int) -> str:
    """Return the count of levels as the subject of a sentence, with its verb.

    >>> _levels_subject(1), _levels_subject(2000)
    ('1 deeper level is', '2,000 deeper levels are')
    """
    return f"{format_counted_noun(count, 'deeper level')} {'is' if count == 1 else 'are'}"


# Arrange every open group of a picture.


def arrange_levels(
    hierarchy: Hierarchy,
    metagraph: Callable[[RowPath], Metagraph],
    opened: Iterable[RowPath],
    lay: LevelArranger,
    members: Mapping[RowPath, RowPath],
) -> dict[RowPath, Skeleton]:
    """Return a skeleton for each open group, from the outside in.

    `opened` lists groups, each after the group around it. The order of each level constrains the ports of the groups
    open in it, so that lines continue in the same direction and order. `members` has the member that each open stack
    shows alone, by path of the stack; such a stack has no skeleton, because its member is drawn in its place.
    """
    paths = dict.fromkeys(opened)
    skeletons: dict[RowPath, Skeleton] = {}
    outside: dict[RowPath, PortConstraints] = {}
    for path in paths:
        if path in members:
            continue
        level = metagraph(path)
        skeleton = skeletons[path] = lay(level, outside.get(path))
        inside = {position: child_path(hierarchy, path, row) for position, row in enumerate(level.children)}
        inside = {position: members.get(child, child) for position, child in inside.items() if child in paths}
        for position, found in child_port_constraints(level, skeleton, inside).items():
            outside[inside[position]] = found
    return skeletons
