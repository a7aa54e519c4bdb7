"""Colourings by a category of each op: device, op type, XLA cluster, or none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from graphviz_tb.color.colouring import (
    Colouring,
    category_fill,
    category_tone,
    hue_fill,
    hue_shades,
    is_drawn_as_op,
    legend_limit,
    plain_fill,
)
from graphviz_tb.limits import MAX_BOX_BANDS, MAX_CATEGORY_LETTERS, MAX_COUNTED_SHARES
from graphviz_tb.model.columns import Ints
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import OP_ROW, Hierarchy
from graphviz_tb.model.measure import group_thousands, truncate_middle
from graphviz_tb.model.paint import LegendRow, RowFill
from graphviz_tb.model.paths import RowPath
from graphviz_tb.model.theme import Theme

NOUNS = {
    "device": "devices",
    "op-type": "op types",
    "xla-cluster": "clusters",
    "facts": "values",
    "patterns": "patterns",
}
MAX_OPS_COUNTED_SINGLY = 64  # for few ops a Counter is faster than a column of all categories


@dataclass(frozen=True)
class CategoryColouring(Colouring):
    """Colours rows by category. `category` is by row (-1 if it has none), `names` by category in the order of their
    hues, `nothing` the name of category -1."""

    category: Ints
    names: tuple[str, ...]
    nothing: str
    ordinary: np.ndarray[tuple[int], np.dtype[np.bool_]] = field(repr=False)
    _counts: dict[int, list[tuple[int, int]]] = field(default_factory=dict, repr=False)

    def in_theme(self, theme: Theme) -> Self:
        return replace(self, theme=theme)

    def category_counts(self, row: int) -> list[tuple[int, int]]:
        """Return the number of ops of each category under a row, sorted by category; ops without a category come last,
        as -1."""
        counts = self._counts.get(row)
        if counts is None and self.hierarchy.kind[row] == OP_ROW:
            counts = self._counts[row] = [(int(self.category[row]), 1)] if self.ordinary[row] else []
        if counts is None:
            stop = int(self.hierarchy.end[row])
            ops = self.category[row:stop][self.ordinary[row:stop]]
            counts = self._counts[row] = sorted(_count_categories(ops), key=lambda entry: entry[0] < 0)
        return counts

    def fill_of(self, path: RowPath) -> RowFill:
        """Return one colour, or bands in proportion."""
        counts = self.category_counts(path[-1])
        # Ops without a category are first only if there are no others.
        if not counts or counts[0][0] < 0:
            return super().fill_of(path)
        if len(counts) == 1:
            return self.category_colour(counts[0][0])
        top = max(counts, key=lambda entry: entry[1])
        return hue_fill(self._tone(top[0]), self.theme, bands=self._bands(counts))

    def hue_order(self) -> tuple[str, ...]:
        """Return all hues in the order in which categories use them."""
        return tuple(category_tone(rank, self.theme) for rank in range(len(hue_shades(self.theme))))

    def look_key(self, row: int) -> Hashable:
        """Return a key that is equal for ops of one category, and for groups with equal counts."""
        return is_drawn_as_op(self.hierarchy, row), tuple(self.category_counts(row))

    def look_keys(self, rows: Sequence[int]) -> Iterable[Hashable]:
        """Return the key of each row; count all rows at once, unless the table would be too large."""
        hierarchy, ops = self.hierarchy, self.category[self.ordinary]
        wide, asked = len(self.names) + 1, np.asarray(rows, np.int64)
        if (len(ops) + len(asked)) * wide > MAX_COUNTED_SHARES:
            return super().look_keys(rows)
        # The number of ops of each category before each op; column 0 counts ops without a category.
        before = np.zeros((len(ops) + 1, wide), np.int32)
        before[np.arange(1, len(ops) + 1), ops + 1] = 1
        np.cumsum(before, axis=0, out=before)
        counts = before[hierarchy.op_prefix_sum[hierarchy.end[asked]]] - before[hierarchy.op_prefix_sum[asked]]
        ops_like = hierarchy.kind[asked] == OP_ROW
        for place in np.flatnonzero(hierarchy.is_stack_row[asked]).tolist():
            ops_like[place] = is_drawn_as_op(hierarchy, rows[place])
        return zip(ops_like.tolist(), map(np.ndarray.tobytes, counts), strict=True)

    def _bands(self, counts: list[tuple[int, int]]) -> tuple[tuple[str, int], ...]:
        """Return shares in thousandths, the largest first; the smallest shares are one band at the end."""
        # Sort by count, then ops without a category last, then by the order of the hues.
        large = sorted(counts, key=lambda entry: (-entry[1], entry[0] < 0, entry[0]))[:MAX_BOX_BANDS]
        rest = sum(count for _, count in counts) - sum(count for _, count in large)
        bands = [(self._tone(category), count) for category, count in large] + (
            [(self.theme.neutral, rest)] if rest else []
        )
        total = sum(count for _, count in bands)
        return tuple((colour, count * 1000 // total) for colour, count in bands)

    def _tone(self, category: int) -> str:
        return category_tone(category, self.theme) if category >= 0 else self.theme.neutral

    def category_colour(self, category: int) -> RowFill:
        return category_fill(category, self.theme)

    def second_line(self, path: RowPath) -> str | None:
        """Return the largest category, with its share if there are several; for a stack with several, their number."""
        row = path[-1]
        counts = self.category_counts(row)
        if not counts:
            return None
        category, count = max(counts, key=lambda entry: entry[1])
        name = self.names[category] if category >= 0 else self.nothing
        if len(counts) == 1:
            return name
        total = sum(count for _, count in counts)
        known = sum(category >= 0 for category, _ in counts)
        if known > 2 and 2 * count < total and self.hierarchy.is_stack_row[row]:  # members that differ
            return f"{known} {NOUNS.get(self.scheme, 'values')}"
        # Round half up, with integers; never 100 % if there are other categories.
        return f"{name} {min(99, (count * 200 + total) // (2 * total))}\N{THIN SPACE}%"

    def tooltip_text(self, path: RowPath) -> str:
        """Return all categories of a group with their counts, the largest first."""
        counts = sorted(self.category_counts(path[-1]), key=lambda entry: (-entry[1], entry[0]))
        if len(counts) < 2:
            return ""
        named = ((self.names[category] if category >= 0 else self.nothing, count) for category, count in counts)
        return ", ".join(f"{name} {group_thousands(count)}" for name, count in named)

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the categories of the nodes shown."""
        categories = {category for path in shown for category, _ in self.category_counts(path[-1])}
        known = sorted(category for category in categories if category >= 0)
        kept, rest = legend_limit(len(known))
        rows = [self._category_legend(category) for category in known[:kept]]
        if rest:
            rows.append(LegendRow(f"+{rest} more", plain_fill(self.theme, op=False), "rest"))
        return [*rows, self._category_legend(-1)] if -1 in categories else rows

    def whole_row_legend(self, row: int) -> list[LegendRow]:
        return [self._category_legend(category) for category, _ in self.category_counts(row)]

    def _category_legend(self, category: int) -> LegendRow:
        if category < 0:
            return LegendRow(self.nothing, plain_fill(self.theme, op=False))
        return LegendRow(self.names[category], self.category_colour(category))


def _count_categories(categories: Ints) -> list[tuple[int, int]]:
    """Return how often each category occurs, in order, including -1.

    >>> _count_categories(np.array([2, -1, 2]))
    [(-1, 1), (2, 2)]
    """
    if len(categories) <= MAX_OPS_COUNTED_SINGLY:
        return sorted(Counter(categories.tolist()).items())
    # Shift by one, so that place 0 counts ops without a category.
    counts = np.bincount(categories + 1)
    seen = np.flatnonzero(counts)
    return list(zip((seen - 1).tolist(), counts[seen].tolist(), strict=True))


def category_colouring(
    hierarchy: Hierarchy, theme: Theme, words: tuple[str, str], by_node: Ints, names: Sequence[str], nothing: str
) -> CategoryColouring:
    """Make a colouring of rows by the category of their node.

    `words` are the scheme and its heading; `by_node` is the category of each node of the graph, or -1; `names` are by
    category, in the order of the hues.
    """
    category = np.full(len(hierarchy), -1, np.int32)
    # Groups have no category, but show those of the ops under them.
    ops = hierarchy.node >= 0
    category[ops] = by_node[hierarchy.node[ops]]
    category.setflags(write=False)
    named = tuple(truncate_middle(name, MAX_CATEGORY_LETTERS) for name in names)
    return CategoryColouring(hierarchy, theme, *words, category, named, nothing, hierarchy.is_ordinary_op)


# Colour by device: accelerators have the first hues, then other devices, each in order of appearance.

DEVICE_SUFFIX = re.compile(r"/(?:device:(\w+)|(cpu|gpu|tpu)):(?:\d+|\*)$", re.IGNORECASE)
HOST_DEVICES = {"CPU", "XLA_CPU"}


def device_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CategoryColouring:
    graph = hierarchy.graph
    names = list(graph.devices)
    used = [index for index in range(len(names)) if names[index]]
    appear = _first_positions(graph.device, len(names))
    order = sorted(used, key=lambda index: (not _is_accelerator(names[index]), appear[index]))
    place = np.full(len(names) + 1, -1, np.int32)
    place[order] = np.arange(len(order))
    labels = _shorten_devices([names[index] for index in order])
    return category_colouring(hierarchy, theme, ("device", "Device"), place[graph.device], labels, "no device")


def _first_positions(column: np.ndarray[tuple[int], np.dtype[np.int32]], count: int) -> list[int]:
    """Return the position where each value below `count` first occurs in a column, or its length."""
    seen = np.full(count, len(column))
    values, first = np.unique(column, return_index=True)
    real = values >= 0
    seen[values[real]] = first[real]
    return [int(index) for index in seen]


def _is_accelerator(name: str) -> bool:
    """Return whether a device name is that of an accelerator.

    >>> _is_accelerator("/job:worker/task:0/device:GPU:0"), _is_accelerator("/cpu:0"), _is_accelerator("/job:ps/task:0")
    (True, False, False)
    """
    match = DEVICE_SUFFIX.search(name)
    return match is not None and (match[1] or match[2]).upper() not in HOST_DEVICES


def _shorten_devices(names: list[str]) -> list[str]:
    """Return names without their common beginning, and without the words in every device name.

    >>> _shorten_devices(
    ...     ["/job:localhost/replica:0/task:0/device:GPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"]
    ... )
    ['GPU:0', 'CPU:0']
    >>> _shorten_devices(["/job:ps/task:0", "/job:worker/task:1/device:GPU:0"])
    ['ps/task:0', 'worker/task:1/GPU:0']
    >>> _shorten_devices(["/job:w/replica:0/task:0/device:GPU:0", "/job:ps/device:CPU:0"])
    ['w/GPU:0', 'ps/CPU:0']
    """
    parts = [[part for part in name.split("/") if part] or [name] for name in names]
    common = 0
    while len(parts) > 1 and all(
        # Keep the last segment, so that no name is empty.
        len(segments) > common + 1 and segments[common] == parts[0][common]
        for segments in parts
    ):
        common += 1
    # For a single device, keep the last segment of `/job:…/device:GPU:0`.
    if len(parts) == 1 and DEVICE_SUFFIX.search(names[0]):
        common = len(parts[0]) - 1
    parts = _without_constant_parts([segments[common:] for segments in parts])
    labels = ["/".join(re.sub(r"^(device|job):", "", part) for part in segments) for segments in parts]
    cased = [re.sub(r"(^|/)([cgt]pu):", lambda match: match[1] + match[2].upper() + ":", label) for label in labels]
    # Shorten only if all names stay distinct.
    return next((short for short in (cased, labels) if len(set(short)) == len(short)), names)


def _without_constant_parts(names: list[list[str]]) -> list[list[str]]:
    """Return names without the parts that are equal wherever they occur, such as `replica:0`. The last part stays, and
    so do all parts if names would become equal."""
    values: dict[str, set[str]] = {}
    for segments in names:
        for part in segments:
            values.setdefault(part.partition(":")[0], set()).add(part)
    ends = {segments[-1] for segments in names}

    def tells(part: str) -> bool:
        return len(values[part.partition(":")[0]]) > 1 or part.startswith("job:") or part in ends

    kept = [[part for part in segments[:-1] if tells(part)] + segments[-1:] for segments in names]
    return kept if len(set(map(tuple, kept))) == len(kept) else names


# Colour by op type: the most frequent types have the first hues.


def op_type_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CategoryColouring:
    graph = hierarchy.graph
    nodes = hierarchy.node[hierarchy.is_ordinary_op]
    counts = np.bincount(graph.op[nodes], minlength=len(graph.op_types))
    # Sort equal counts by name, so that colours do not depend on the order of nodes.
    order = sorted(range(len(counts)), key=lambda index: (-int(counts[index]), graph.op_types[index]))
    place = np.zeros(len(counts), np.int32)
    place[order] = np.arange(len(order))
    names = [graph.op_types[index] or "(no type)" for index in order]
    return category_colouring(hierarchy, theme, ("op-type", "Op type"), place[graph.op], names, "(no type)")


# Colour by XLA cluster: the attribute `_XlaCluster` of each node, clusters in order of appearance.

CLUSTER_ATTRIBUTE = "_XlaCluster"


def xla_cluster_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CategoryColouring:
    """Make the colouring "xla-cluster". It reads one attribute of every definition, once."""
    graph = hierarchy.graph
    clusters: dict[str, int] = {}
    known = {-1: -1}  # by definition; arguments of functions have no definition
    by_node = np.full(len(graph), -1, np.int32)
    for node in range(len(graph)):
        number = facts.definition(node)
        if number not in known:
            name = _cluster_name(graph, node)
            known[number] = clusters.setdefault(name, len(clusters)) if name else -1
        by_node[node] = known[number]
    return category_colouring(hierarchy, theme, ("xla-cluster", "XLA cluster"), by_node, list(clusters), "no cluster")


def _cluster_name(graph: Graph, node: int) -> str:
    definition = graph.node_def(node)
    if definition is None or CLUSTER_ATTRIBUTE not in definition.attr:
        return ""
    return definition.attr[CLUSTER_ATTRIBUTE].s.decode("utf-8", "replace")


# No colouring: groups neutral, ops white.


class NoColouring(Colouring):
    """No colours: every row has the defaults of `Colouring`."""

    def look_key(self, row: int) -> Hashable:
        """Return whether the row is drawn as an op; ops are white, groups neutral."""
        return is_drawn_as_op(self.hierarchy, row)


def no_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> Colouring:
    """Make the colouring "none", in which no box has a value."""
    return NoColouring(hierarchy, theme, "none", "")
