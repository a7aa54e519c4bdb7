"""Colour by structure: the kind of a group decides its hue; structures of one kind differ by shade, then by a letter.

Groups of one structure have the same shade and letter. All single layers of a kind count as one structure, because
their words tell more than a shade. A group of several layers that occurs once, mixes kinds or only rearranges data is
neutral; if all its parts are layers of one kind, it looks like one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from graphviz_tb.color.colouring import (
    PRINTED_HUES,
    SHADE_COUNT,
    Colouring,
    hue_fill,
    hue_shades,
    is_drawn_as_op,
    legend_limit,
    outlined_fill,
    plain_fill,
    rank_letters,
)
from graphviz_tb.color.kinds import KIND_WORDS, NEUTRAL, OTHER, group_kinds, has_one_layer, op_kinds
from graphviz_tb.graphs.layer_rows import layer_rows, scopes_of_shared_weights
from graphviz_tb.graphs.rows import training_rows
from graphviz_tb.model.columns import Bools, Bytes, Ints, Longs, distinct_values, freeze_array
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.formatting import plural_noun
from graphviz_tb.model.hierarchy import FOLD_ROW, OP_ROW, SEGMENT_ORIGIN, SERIES_ROW, TRAINING_ORIGIN, Hierarchy
from graphviz_tb.model.measure import group_thousands
from graphviz_tb.model.paint import LegendRow, RowFill
from graphviz_tb.model.paths import RowPath, sole_stack
from graphviz_tb.model.theme import Theme
from graphviz_tb.ops.roles import KERNEL_OPS, Role, has_role

FOLD_RANGE = re.compile(r" \([^()]*\)$")  # first and last part in the name of a fold


@dataclass(frozen=True)
class StructureColouring(Colouring):
    """Colours groups by template.

    - `looks`: template by row. The other dictionaries are by template:
    - `rank` among templates that have a colour; `shade`: its number among the shades of all hues.
    - `letter`: distinguishes templates of the same shade; `groups`: how often the template occurs.
    - `words`: describe its groups, "" for single layers.
    - `training`: marks the rows of gradients, updates and bookkeeping.
    """

    looks: Ints
    rank: dict[int, int]
    shade: dict[int, int]
    letter: dict[int, str]
    groups: dict[int, int]
    words: dict[int, str]
    training: Bools

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the colour of the row's template; a group without one that trains the model or does bookkeeping is
        only outlined."""
        template = self.template_of(path[-1])
        if template in self.rank:
            return self.template_fill(template)
        return outlined_fill(self.theme) if self.training[path[-1]] else super().fill_of(path)

    def look_key(self, row: int) -> Hashable:
        """Return a key equal for groups of one structure."""
        template = self.template_of(row)
        plain = template not in self.rank
        return (template, plain and is_drawn_as_op(self.hierarchy, row), plain and bool(self.training[row]))

    def template_fill(self, template: int) -> RowFill:
        """Return the shade and the letter of a template."""
        return hue_fill(hue_shades(self.theme)[self.shade[template]], self.theme, self.letter[template])

    def template_words(self, template: int) -> str:
        count = self.groups[template]
        words = self.words[template]
        many = f"{group_thousands(count)} like {words}" if count > 1 and words else words
        return ", ".join(filter(None, (self.template_kind(template), many)))

    def template_kind(self, template: int) -> str:
        """Return the word for the kind of a template; "" if it has none."""
        return KIND_WORDS[self.shade[template] // SHADE_COUNT]

    def tooltip_text(self, path: RowPath) -> str:
        """Return the meaning of the colour in words."""
        template = self.template_of(path[-1])
        return self.template_words(template) if template in self.rank else ""

    def template_of(self, row: int) -> int:
        """Return the template that decides the colour of a row; for a stack the template that its members share, and
        for a group that occurs once and consists of layers of one kind that of these layers."""
        template = _unit_template(self.hierarchy, self.looks, row)
        if template in self.rank or self.hierarchy.node[row] >= 0:
            return template
        parts = set(self.looks[self.hierarchy.children(row)].tolist())
        is_of_one_kind = len(parts) == 1 and self.words.get(min(parts)) == ""
        return min(parts) if is_of_one_kind else template

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the structures shown in order of rank, each named after its first outermost group."""
        templates = {self.template_of(path[-1]) for path in shown}
        known = sorted(
            (len(self.letter[template]), self.letter[template], self.shade[template], template)
            for template in templates
            if template in self.rank
        )
        kept, rest = legend_limit(len(known))
        rows = [
            LegendRow(self.template_words(each), self.template_fill(each), kind=self.template_kind(each))
            for *_, each in known[:kept]
        ]
        if rest:
            rows.append(LegendRow(f"+{rest} more", plain_fill(self.theme, op=False), "rest"))
        return rows

    def for_print(self) -> Colouring:
        """Return the colouring by kind only, because figures do not compare structures."""
        known = (self.looks, self.rank, self.shade, self.letter, self.groups, self.words, self.training)
        return KindColouring(self.hierarchy, self.theme, self.scheme, self.heading, *known, op_kinds(self.hierarchy))


@dataclass(frozen=True)
class KindColouring(StructureColouring):
    """Colours groups by their kind, in pale hues, with a legend of the kinds; other groups are neutral.

    A stack has the kind that all its members share, even if they differ in structure. `of_op` is the result of
    `op_kinds`.
    """

    of_op: Bytes

    def kind_of(self, row: int) -> int:
        """Return the kind of a row, `NEUTRAL` if it has no hue."""
        template = self.template_of(row)
        if template in self.rank:
            kind = self.shade[template] // SHADE_COUNT
        else:
            unlike = template < 0 and sole_stack(self.hierarchy, row) >= 0 and not self.training[row]
            kind = group_kinds(self.hierarchy, self.of_op, [row])[0] if unlike else NEUTRAL
        return kind if kind != OTHER else NEUTRAL

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the hue of the kind of a row."""
        if (kind := self.kind_of(path[-1])) != NEUTRAL:
            return hue_fill(PRINTED_HUES[kind], self.theme)
        template = self.template_of(path[-1])
        if template in self.rank:
            return plain_fill(self.theme, is_drawn_as_op(self.hierarchy, path[-1]))
        return super().fill_of(path)

    def look_key(self, row: int) -> Hashable:
        """Return a key equal for groups of one kind and structure."""
        return self.kind_of(row), super().look_key(row)

    def tooltip_text(self, path: RowPath) -> str:
        """Return the word for the kind of a row."""
        kind = self.kind_of(path[-1])
        return KIND_WORDS[kind] if kind != NEUTRAL else ""

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the kinds shown, in the order of their hues."""
        kinds = {self.kind_of(path[-1]) for path in shown} - {NEUTRAL}
        return [LegendRow(KIND_WORDS[kind], hue_fill(PRINTED_HUES[kind], self.theme)) for kind in sorted(kinds)]


def _describe_templates(hierarchy: Hierarchy, first: dict[int, int]) -> dict[int, str]:
    """Describe the groups of each template; distinguish equal descriptions by the size or the place of the groups.

    `first` is one group of each template.
    """

    def size(row: int) -> str:
        count = hierarchy.op_count(row)
        return f", {group_thousands(count)} {plural_noun(count, 'op')}"

    def place(row: int) -> str:
        fold_range = FOLD_RANGE.search(hierarchy.name[row])
        around = hierarchy.display_label(int(hierarchy.parent[row]))
        return fold_range[0] if fold_range else f" in {around}" if around else ""

    by_label: dict[str, list[int]] = {}
    for template, row in first.items():
        by_label.setdefault(hierarchy.display_label(row), []).append(template)
    words: dict[int, str] = {}
    for word, templates in by_label.items():
        # Try the size, then the place; if descriptions are still equal, number them.
        variants = ([suffix(first[member]) for member in templates] for suffix in (size, place))
        numbers = [f" #{index}" for index in range(1, len(templates) + 1)]
        suffixes = (
            [""] if len(templates) == 1 else next((each for each in variants if len(set(each)) == len(each)), numbers)
        )
        words |= {member: word + suffix for member, suffix in zip(templates, suffixes, strict=True)}
    return words


def _unit_template(hierarchy: Hierarchy, looks: Ints, row: int) -> int:
    """Return the template of a group; for a stack, and for a group that contains only a stack, the template that its
    members share, except the first of three or more; -1 if there is none."""
    stack = sole_stack(hierarchy, row)
    row = stack if stack >= 0 else row
    while (kind := hierarchy.kind[row]) == SERIES_ROW or (kind == FOLD_ROW and _is_series_range(hierarchy, row)):
        below = np.sort(hierarchy.children(row))
        usual = below[1:] if len(below) > 2 else below
        if len(set(looks[usual].tolist())) != 1:
            return -1
        row = int(usual[0])
    return int(looks[row])


def _is_series_range(hierarchy: Hierarchy, row: int) -> bool:
    return bool(hierarchy.kind[hierarchy.parent[row]] == SERIES_ROW and hierarchy.how[row] == SEGMENT_ORIGIN)


def structure_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> StructureColouring:
    """Make the colouring "structure". Templates that occur twice come first, the outermost and the largest before
    others; then single layers.

    Single layers of a kind count as equal (`_join_single_layers`). Colours do not depend on the open groups.
    """
    training = training_rows(hierarchy)[0]
    kind_of_op = op_kinds(hierarchy)
    templates_of = _with_templates_of_ops(hierarchy, kind_of_op)
    groups = np.flatnonzero((templates_of >= 0) & (hierarchy.kind != SERIES_ROW))
    ops = hierarchy.op_prefix_sum[hierarchy.end[groups]] - hierarchy.op_prefix_sum[groups]
    groups, ops = groups[ops > 0], ops[ops > 0]
    templates_of, layers = _join_single_layers(hierarchy, kind_of_op, training, templates_of, groups)
    templates, first, inverse, counts = np.unique(
        templates_of[groups], return_index=True, return_inverse=True, return_counts=True
    )
    ops_covered = np.bincount(inverse, weights=ops)
    # The least depth of each template, and the number of ops in its groups.
    outermost = np.full(len(templates), np.iinfo(np.int64).max)
    np.minimum.at(outermost, inverse, hierarchy.depth[groups])
    keys = first, -ops_covered, outermost
    once = counts == 1
    once[np.searchsorted(templates, sorted(layers))] = False
    coloured = _coloured_templates(hierarchy, kind_of_op, groups[first], once, ops[first], keys)
    order = np.array([index for index, _ in coloured], np.int64)
    # The legend names the first of the outermost groups, which a picture shows soon.
    outward = np.lexsort((groups, hierarchy.depth[groups], inverse))
    outer = groups[outward[np.searchsorted(inverse[outward], np.arange(len(templates)))]]
    rank = {int(templates[index]): place for place, index in enumerate(order.tolist())}
    shade = _assign_shades(hierarchy, templates_of, groups, rank, [kind for _, kind in coloured])
    row_of = dict(zip(templates[order].tolist(), outer[order].tolist(), strict=True))
    described = {template: row for template, row in row_of.items() if template not in layers}
    return StructureColouring(
        hierarchy,
        theme,
        "structure",
        "Hue: kind of layer · same shade and letter: same structure",
        templates_of,
        rank,
        shade,
        _letters_of_shades(shade),
        dict(zip(templates.tolist(), counts.tolist(), strict=True)),
        dict.fromkeys(layers, "") | _describe_templates(hierarchy, described),
        training | (hierarchy.how == TRAINING_ORIGIN),
    )


def _with_templates_of_ops(hierarchy: Hierarchy, of_op: Bytes) -> Ints:
    """Return the templates by row; ops that are whole layers have a template for each kind."""
    looks = hierarchy.template.copy()
    rows = np.array([row for row in _layers(hierarchy) if hierarchy.kind[row] == OP_ROW], np.int64)
    kinds = of_op[hierarchy.op_prefix_sum[rows]].astype(np.int64)  # a template may be any number
    looks[rows[kinds < OTHER]] = int(np.max(looks)) + 1 + kinds[kinds < OTHER]
    return freeze_array(looks)


def _layers(hierarchy: Hierarchy) -> Sequence[int]:
    """Return the rows of layers; if the file states no parameters, the ops that usually use one."""
    if (layers := layer_rows(hierarchy)) or not hierarchy.graph.lacks_weight_shapes:
        return layers
    usual = hierarchy.graph.nodes_of_types(lambda op: op in KERNEL_OPS or has_role(op, Role.NORMALIZATION))
    rows = hierarchy.row_of_node[usual]
    found: list[int] = np.sort(rows[rows >= 0]).tolist()
    return found


def _join_single_layers(
    hierarchy: Hierarchy, of_op: Bytes, training: Bools, looks: Ints, groups: Longs
) -> tuple[Ints, set[int]]:
    """Return the templates by row, with one template for all single layers of a kind, and these templates. Only layers
    of the model count, not its training or inputs."""
    templates, first = np.unique(looks[groups], return_index=True)
    rows = groups[first]
    single = has_one_layer(hierarchy, of_op, rows) & _holds_layer_of_model(hierarchy, training, rows)
    templates, rows = templates[single], rows[single]
    kinds = group_kinds(hierarchy, of_op, rows.tolist())
    one_of_kind: dict[int, int] = {}
    to = np.arange(int(np.max(looks)) + 2, dtype=looks.dtype)
    to[-1] = -1  # of rows without a template
    for template, kind in zip(templates.tolist(), kinds, strict=True):
        if 0 <= kind < OTHER:
            to[template] = one_of_kind.setdefault(kind, template)
    return freeze_array(to[looks]), {*one_of_kind.values()}


def _coloured_templates(
    hierarchy: Hierarchy, of_op: Bytes, rows: Longs, once: Bools, ops: Longs, keys: Sequence[Longs]
) -> list[tuple[int, int]]:
    """Return the templates that have a colour, in order of rank, each with its kind: single layers, and templates that
    occur twice, unless they are groups of one op.

    By template: `rows` is its first group, `once` whether it occurs once and is no layer, `ops` how many ops a group
    has, `keys` the sort keys of its rank, the last one first.
    """
    ranked = np.flatnonzero(~once)
    order = ranked[np.lexsort(tuple(key[ranked] for key in keys))]
    kinds = group_kinds(hierarchy, of_op, rows[order].tolist())
    return [
        (index, kind)
        for index, kind in zip(order.tolist(), kinds, strict=True)
        if kind != NEUTRAL and not (kind == OTHER and ops[index] == 1) and sole_stack(hierarchy, int(rows[index])) < 0
    ]


def _holds_layer_of_model(hierarchy: Hierarchy, training: Bools, rows: Longs) -> Bools:
    """Return whether each group contains a layer of the model and no training. (An input queue may have the ops of a
    norm.) Functions always pass, because layers are known only for the main graph."""
    layers = np.array(sorted({*_layers(hierarchy), *scopes_of_shared_weights(hierarchy)}), np.int64)
    inside = np.searchsorted(layers, hierarchy.end[rows]) > np.searchsorted(layers, rows)
    found: Bools = (inside | (rows >= hierarchy.end[0])) & ~training[rows]
    return found


def _assign_shades(
    hierarchy: Hierarchy, looks: Ints, groups: Longs, rank: dict[int, int], kinds: Sequence[int]
) -> dict[int, int]:
    """Return a shade of its kind's hue for each template, by greedy colouring in the order of rank.

    If possible, no other structure on the same levels, or on the levels around them, has the shade; then it is the
    least used of the file. Members of a series count on the level of the series, too.
    """
    levels, numbers, starts = _template_levels(hierarchy, looks, groups, rank)
    number_of = {row: number for number, row in enumerate(levels.tolist())}
    # (levels, shades): number of structures of each shade on a level.
    used = np.zeros((len(levels), len(KIND_WORDS) * SHADE_COUNT), np.int32)
    everywhere: Counter[int] = Counter()
    shade_of: dict[int, int] = {}
    for (template, place), kind in zip(rank.items(), kinds, strict=True):
        here = numbers[starts[place] : starts[place + 1]]
        level = int(levels[here[0]])
        # Functions are on no level: -1.
        around = [number_of[row] for row in hierarchy.ancestors(level) if row in number_of] if level >= 0 else []
        first = kind * SHADE_COUNT
        shades = slice(first, first + SHADE_COUNT)
        beside, above = used[here, shades].sum(0).tolist(), used[around, shades].sum(0).tolist()
        # The shade least used on its levels, then on the levels around the first, then in the whole file.
        step = min(range(SHADE_COUNT), key=lambda step: (beside[step], above[step], everywhere[first + step], step))
        shade_of[template] = first + step
        everywhere[first + step] += 1
        used[here, first + step] += 1
    return shade_of


def _letters_of_shades(shade: dict[int, int]) -> dict[int, str]:
    """Return a letter for each template whose shade an earlier template has; "" for the first of a shade.

    >>> _letters_of_shades({7: 0, 8: 4, 9: 0})
    {7: '', 8: '', 9: 'B'}
    """
    given: Counter[int] = Counter()
    letters: dict[int, str] = {}
    for template, number in shade.items():
        letters[template] = rank_letters(given[number]) if given[number] else ""
        given[number] += 1
    return letters


def _template_levels(
    hierarchy: Hierarchy, looks: Ints, groups: Longs, rank: dict[int, int]
) -> tuple[Longs, Longs, Longs]:
    """Return the levels on which templates occur, as rows; the places among them of the levels of each template, one
    rank after the other; and where each rank starts."""
    place = np.array([rank.get(template, -1) for template in looks[groups].tolist()], np.int64)
    groups, place = groups[place >= 0], place[place >= 0]
    parent = hierarchy.parent[groups].astype(np.int64)
    within = (hierarchy.kind == SERIES_ROW) | (
        (hierarchy.kind == FOLD_ROW)
        & (hierarchy.how == SEGMENT_ORIGIN)
        & (hierarchy.kind[hierarchy.parent] == SERIES_ROW)
    )
    # Climb out of series, to the level on which the whole series is drawn.
    around = parent.copy()
    # The loop ends, because neither the root nor the last row (index -1) is a series.
    while len(inner := np.flatnonzero(within[around])):
        around[inner] = hierarchy.parent[around[inner]]
    # One number for each (rank, level); + 1 as the parent of a function is -1.
    pairs = distinct_values(
        np.concatenate((place, place)) * (len(hierarchy) + 1) + np.concatenate((parent, around)) + 1
    )
    place, level = np.divmod(pairs, len(hierarchy) + 1)
    levels, numbers = np.unique(level, return_inverse=True)
    return levels - 1, numbers, np.searchsorted(place, np.arange(len(rank) + 1))
