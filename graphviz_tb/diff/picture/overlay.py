"""Draw one picture of both graphs: groups around changes are open, unchanged groups are closed and pale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.api.choices import picture_choices
from graphviz_tb.color.colouring import Colouring, is_drawn_as_op, plain_fill
from graphviz_tb.diff.picture.merge import (
    SECOND_LINE_PX,
    Merged,
    Where,
    brief_unit,
    first_fitting,
    merge_graphs,
    wrap_text,
)
from graphviz_tb.diff.picture.rows import (
    ADDED_STATE,
    HOLDS_SIGN,
    KEPT_STATE,
    STACK_WORDS_PX,
    DrawnNames,
    FlatEdgeIndex,
    alike_stacks,
    blocks_with_one_change,
    edge_states,
    function_at,
    group_signs,
    row_places,
    rows_shown,
    sign_takers,
    sign_training,
    ways_to_changes,
)
from graphviz_tb.diff.report.explain import verdict
from graphviz_tb.diff.report.words import (
    KIND_SIGNS,
    change_facts,
    change_head,
    consequence_words,
    setting_words,
    wire_words,
)
from graphviz_tb.graphs.drawing_math import mix_colours
from graphviz_tb.limits import MAX_BOXES_TO_CHANGES, MAX_LEGEND_CHANGES
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import exists
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.hierarchy import FOLD_ROW, Hierarchy
from graphviz_tb.model.measure import OP_FONT_PX
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import LegendRow, LineTint, LineTints, RowFill
from graphviz_tb.model.paths import RowPath, last_segment, path_address
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.theme import THEMES, Theme
from graphviz_tb.model.view import View
from graphviz_tb.options import PictureOptions
from graphviz_tb.render.legend import MAX_SENTENCE_WIDTH, SAMPLE_GAP, SAMPLE_WIDTH
from graphviz_tb.search.names import RowFinder

if TYPE_CHECKING:
    from graphviz_tb.api.picture import Picture
    from graphviz_tb.api.pipeline import Model
    from graphviz_tb.diff.comparison import Comparison
    from graphviz_tb.model.facts import SavedView

LIGHT = {"+": "#00875F", "−": "#C2410C", "~": "#9A6700", "→": "#0969DA"}
DARK = {"+": "#3FB68B", "−": "#FF7B54", "~": "#E3B341", "→": "#58A6FF"}
SIGN_WORDS = {"+": "added", "−": "removed", "~": "changed", "→": "renamed or moved"}
MAX_TITLED_CHANGES = 4  # more changes are counted below the title
TINT_PERCENT, PALE_PERCENT = 12, 45  # of the sign's colour in a fill; of the background in unchanged boxes
BAND_PERCENT = 45  # of the sign's colour in the band under a line that changed in part
BOX_LIMITS = (MAX_BOXES_TO_CHANGES, 28, 12, 0)  # numbers of boxes, tried in this order until names are legible
SCREEN_PX = (1600, 1000)
MIN_LEGIBLE_PX, NAME_PX = 7, 12  # font sizes: the smallest legible one, and that of names at full size
HOLDING_WORDS = "the same, but something in it changed, or an input is reconnected"
LOST_DASHES = (6, 3)  # longer than those of control edges (4, 3)


@dataclass(frozen=True, eq=False)
class Overlay(Colouring):
    """The colouring of a diff: `sign` by row, `words` for second lines by row, and the state of each edge (0 unchanged,
    1 added, 2 removed)."""

    changes: Comparison
    sign: list[str]
    words: dict[int, str]
    edges: np.ndarray

    @cached_property
    def drawn_names(self) -> DrawnNames:
        """Return the names of nodes as the boxes show them."""
        return DrawnNames(self.hierarchy, RowFinder(self.hierarchy).index(0))

    @property
    def colours(self) -> dict[str, str]:
        return LIGHT if self.theme.name == "light" else DARK

    def fill_of(self, path: RowPath) -> RowFill:
        """Return the fill of a row: pale if unchanged, tinted if changed, plain if something inside changed."""
        sign = self.sign[path[-1]]
        usual = plain_fill(self.theme, is_drawn_as_op(self.hierarchy, path[-1]))
        if sign == HOLDS_SIGN:
            return replace(usual, stroke=self.theme.secondary, second=usual.text)
        if not sign:
            return replace(self.fill_unchanged(usual), text=self.theme.secondary, second=self.theme.secondary)
        return self.sign_fill(sign)

    def look_key(self, row: int) -> Hashable:
        """Return a key that is equal for rows with equal fill and texts."""
        return self.sign[row], self.words.get(row), is_drawn_as_op(self.hierarchy, row)

    def sign_fill(self, sign: str) -> RowFill:
        colour, theme = self.colours[sign], self.theme
        return RowFill(
            mix_colours(theme.background, colour, TINT_PERCENT), colour, theme.text, theme.text, hued=False, sign=sign
        )

    def second_line(self, path: RowPath) -> str | None:
        """Return the change at an op, or the number of changes in a group."""
        return self.words.get(path[-1])

    def title_text(self, shown: int) -> str:
        """Return the changes, or their number by kind if they are many, the totals, and the number of shown boxes."""
        counts, *sums = verdict(self.changes).split("; ")
        few = 0 < len(self.changes) <= MAX_TITLED_CHANGES
        words = (
            [_title_words(change, self.drawn_names.in_text(change.name)) for change in self.changes]
            if few
            else [counts]
        )
        return " · ".join([*words, *sums, f"{shown:,} shown"])

    def legend_rows(self, shown: Sequence[RowPath]) -> list[LegendRow]:
        """Return the legend: totals by sign, then the changes, the most severe first."""
        rows = [path[-1] for path in shown]
        totals: Counter[str] = Counter(KIND_SIGNS[change.kind] for change in self.changes)
        legend_rows = [
            LegendRow(f"{SIGN_WORDS[sign]}: {format_counted_noun(totals[sign], 'change')}", self.sign_fill(sign))
            for sign in SIGN_WORDS
            if totals[sign]
        ]
        neutral = plain_fill(self.theme, False)
        if any(self.sign[row] == HOLDS_SIGN for row in rows):
            legend_rows.append(LegendRow(HOLDING_WORDS, replace(neutral, stroke=self.theme.secondary)))
        if any(not self.sign[row] for row in rows):
            legend_rows.append(LegendRow("unchanged", self.fill_unchanged(neutral)))
        # Only listed rows are made, since measuring a hundred thousand texts takes seconds.
        legend_rows += islice((row for change in self.changes for row in self.rows(change)), MAX_LEGEND_CHANGES)
        rest = sum(len(change.inside) or 1 for change in self.changes) - MAX_LEGEND_CHANGES
        if rest > 0:
            legend_rows.append(LegendRow(f"+{rest} more changes", neutral, "rest"))
        return legend_rows

    def rows(self, change: Change) -> Iterator[LegendRow]:
        """Yield the legend rows of a change; for a function, those of its inner changes."""
        if not change.inside:
            yield self.row(change)
        for inner in change.inside:
            yield self.row(inner, f"function {change.function}: ")

    def row(self, change: Change, before: str = "") -> LegendRow:
        """Return a change as a legend row of one or two lines."""
        first, *more = wrap_text(
            self.drawn_names.in_text(f"{before}{change_line(change)}"),
            MAX_SENTENCE_WIDTH - SAMPLE_WIDTH - SAMPLE_GAP,
            OP_FONT_PX,
        )
        return LegendRow(first, self.sign_fill(KIND_SIGNS[change.kind]), more=more[0] if more else "")

    def fill_unchanged(self, usual: RowFill) -> RowFill:
        """Return the pale fill of an unchanged row."""
        ground = self.theme.background
        return replace(
            usual,
            fill=mix_colours(usual.fill, ground, PALE_PERCENT),
            stroke=mix_colours(usual.stroke, ground, PALE_PERCENT),
        )

    def line_tints(self, scene: Scene, view: View, paths: Sequence[RowPath]) -> LineTints:
        """Return the tints of all lines and stubs, by the states of their edges."""
        lines = FlatEdgeIndex(self.hierarchy, view, self.edges)
        return LineTints(
            tuple(self.line_tint(lines.states_of(line.identity)) for line in scene.routes),
            tuple(self.line_tint(lines.stub(scene, line)) for line in scene.stubs),
        )

    def line_tint(self, states: set[int]) -> LineTint | None:
        """Return the tint of a line by the states of its edges; None if all are unchanged."""
        changed = states - {KEPT_STATE}
        if not changed:
            return None
        # A line with added and removed edges is changed.
        sign = "~" if len(changed) > 1 else "+" if changed == {ADDED_STATE} else "−"
        dashes = LOST_DASHES if sign == "−" else ()
        if len(states) == 1:
            return LineTint(self.colours[sign], dashes, sign)
        return LineTint(mix_colours(self.theme.background, self.colours[sign], BAND_PERCENT), dashes, sign, whole=False)


def _title_words(change: Change, name: str) -> str:
    """Return a change and its place, which is called `name` in the picture, in a few words.

    >>> from graphviz_tb.diff import diff
    >>> old, new = b'node { name: "a/x" op: "Relu" }', b'node { name: "a/x" op: "Tanh" }'
    >>> _title_words(diff(old, new)[0], "a/x")
    'x: Relu → Tanh'
    """
    leaf, places = last_segment(name), f"at {change.place_count} places"
    if change.setting:
        words = setting_words(change.setting).removeprefix("op ")
        return f"{words} {places}" if change.also else f"{leaf}: {words}" if leaf else words
    if change.unit and change.function is None and (words := brief_unit(change)):
        return f"{words} {places}" if change.also else words if change.unit.training else f"{words} ({leaf})"
    return " ".join(change_head(change, 1).split())


def change_line(change: Change) -> str:
    """Return a change in one line of the legend.

    >>> from graphviz_tb.diff import diff
    >>> old, new = b'node { name: "x" op: "Relu" }', b'node { name: "x" op: "Tanh" }'
    >>> change_line(diff(old, new)[0])
    'x: op Relu → Tanh'
    """
    text = change_head(change, 2).replace("  ", ": ", 1) + wire_words(change)
    at_place = [part for part in change.further_settings if part.name == change.name]
    text += "".join(f"; {setting_words(part)}" for part in at_place[:2])
    if change.kind in ("rewired", "signature-changed"):
        text = "; ".join([text, *list(change_facts(replace(change, also=())))[:2]])
    if consequence_words(change):
        text += f" and {format_counted_noun(len(change.also), 'other place')}"
    return text


def first_picture(
    coloured: Model, painter: Overlay, where: list[Where | None], merged: Merged, options: PictureOptions
) -> tuple[Picture, int]:
    """Return a picture that shows each change, and further places of changes as long as it stays legible; and the
    number of changes not shown. If `options` name groups, these are opened instead."""
    if options.open:
        return coloured.picture(options), 0
    hierarchy = coloured.hierarchy
    shown = rows_shown(hierarchy, where, merged.shown)
    stacks = alike_stacks(hierarchy, painter.sign, painter.words)
    settings, layers = (stacks.union(_scope_rows(hierarchy, scopes)) for scopes in (merged.settings, merged.layers))
    tried: list[RowPath] | None = None
    for max_boxes, closed in ((MAX_BOXES_TO_CHANGES, settings), *((limit, layers) for limit in BOX_LIMITS)):
        opened, hidden = ways_to_changes(hierarchy, painter.sign, shown, max_boxes, closed)
        if opened == tried:
            continue
        paths = tuple(path_address(hierarchy, path) for path in opened)
        tried, drawn = opened, coloured.picture(replace(options, open=paths))
        # Names are legible if the whole sheet is fitted to a screen.
        scale = max(drawn.scene.width / SCREEN_PX[0], drawn.scene.height / SCREEN_PX[1])
        if MIN_LEGIBLE_PX * scale <= NAME_PX:
            break
    return drawn, hidden


def _diff_title(changes: Comparison) -> str:
    """Return the names of the two graphs, with as many parent folders of their files as distinguish them.

    >>> from graphviz_tb.diff.comparison import Comparison
    >>> _diff_title(Comparison((), "runs/a.pb", "runs/b.pb"))
    'a.pb → b.pb'
    >>> _diff_title(Comparison((), "runs/1/model.pb", "runs/2/model.pb"))
    '1/model.pb → 2/model.pb'
    >>> _diff_title(Comparison((), "my/logs · run a/train", "my/logs · run b/train"))
    'logs · run a/train → logs · run b/train'
    >>> _diff_title(Comparison((), "this graph", "this graph"))
    'old → new'
    """
    old, new = changes.old_name, changes.new_name
    if old == new:
        return "old → new"
    files = [label.partition(" · ") for label in (old, new)]  # run and tag are no folders
    folders = [PurePath(file).parts or (file,) for file, _, _ in files]
    parts = [(*path[:-1], path[-1] + dot + graph) for path, (_, dot, graph) in zip(folders, files, strict=True)]
    # From the file name outwards, one folder more each time, until the two differ.
    for count in range(1, max(map(len, parts)) + 1):
        ends = ["/".join(part[-count:]) for part in parts]
        if ends[0] != ends[1]:
            return " → ".join(ends)
    return f"{old} → {new}"


def _make_overlay(
    hierarchy: Hierarchy, where: list[Where | None], merged: Merged, changes: Comparison, theme: Theme
) -> Overlay:
    """Return the overlay, with sign and words of every row."""
    signs = [merged.signs.get(place, HOLDS_SIGN if place in merged.beside else "") if place else "" for place in where]
    texts = merged.beside | {place: _joined_lines(lines) for place, lines in merged.lines.items() if lines}
    words = {row: text for row, place in enumerate(where) if place and (text := texts.get(place))}
    scopes = {
        row: before
        for row, name in enumerate(hierarchy.name)
        if not exists(hierarchy.node[row]) and (before := merged.scopes.get((function_at(hierarchy, row), name)))
    }
    words |= scopes
    sign_takers(hierarchy, signs, words)
    kinds = {change.kind for change in changes} & {"moved", "renamed"}
    edges = edge_states(hierarchy, signs, where, merged)
    group_signs(hierarchy, signs, words, dict.fromkeys(scopes, "→"), " or ".join(sorted(kinds)) or "renamed")
    sign_training(hierarchy, changes, signs, words)
    # A group with one change shows it instead of the number of changes inside.
    for row, lines in blocks_with_one_change(hierarchy, where, merged).items():
        if signs[row] == HOLDS_SIGN:
            # In a stack, the number of parts needs room too.
            room = STACK_WORDS_PX if hierarchy.kind[row] == FOLD_ROW else SECOND_LINE_PX
            signs[row], words[row] = "~", _joined_lines(lines, room)
    for row in _scope_rows(hierarchy, merged.layers):
        signs[row], words[row] = "~", _joined_lines(merged.layers["", hierarchy.name[row]])
    return Overlay(hierarchy, _pale_theme(theme), "diff", "What changed", changes, signs, words, edges)


def _scope_rows(hierarchy: Hierarchy, scopes: Collection[Where]) -> list[int]:
    """Return the groups of the main graph for some scopes."""
    groups = [
        row for row, name in enumerate(hierarchy.name) if not exists(hierarchy.node[row]) and ("", name) in scopes
    ]
    return [row for row in groups if row and not function_at(hierarchy, row)]


def _joined_lines(lines: Sequence[str], room: int = SECOND_LINE_PX) -> str:
    """Return several changes in one line of `room` pixels: all, the first and the number of the others, or the
    number."""
    more = [f"{lines[0]} and {len(lines) - 1} more"] if len(lines) > 1 else []
    return first_fitting("; ".join(lines), *more, format_counted_noun(len(lines), "change"), room=room)


def _pale_theme(theme: Theme) -> Theme:
    """Return the theme without the colours of reference edges and marks, which would look like removals."""
    return replace(theme, mark=theme.data, sign=theme.background, reference=theme.secondary)


GROUP_OPTIONS = ("group", "ungroup", "series_min")  # options of a view for the model of a diff
PICTURE_OPTIONS = ("theme", "direction", "title", "legend", "wrap")  # options of a view for its picture


@dataclass(frozen=True, eq=False)
class Both:
    """The two graphs of a diff, merged on first use, with cached drawings. Of the `view`, open groups and colours do
    not apply."""

    changes: Comparison
    view: SavedView | None = None
    _painters: dict[str, Overlay] = field(default_factory=dict, init=False)
    _drawn: dict[PictureOptions, Picture] = field(default_factory=dict, init=False)

    @cached_property
    def merged_graphs(self) -> Merged:
        """Return the nodes of both graphs, with the state of each."""
        return merge_graphs(self.changes)

    @cached_property
    def model(self) -> Model:
        """Return the merged graph, folded."""
        import graphviz_tb

        view = self.view
        if view is not None:
            grouping = tuple((name, value) for name, value in view.choices if name in GROUP_OPTIONS)
            view = replace(view, open=(), colors=(), choices=grouping)
        model = graphviz_tb.load(self.merged_graphs.graph_def, view=view)
        model.files = self.changes.inputs
        return model

    @cached_property
    def row_places(self) -> list[Where | None]:
        """Return the place of each row in the merged graph; None for groups."""
        return row_places(self.model.hierarchy)

    def overlay(self, theme: str) -> Overlay:
        """Return the colouring of the changes in a theme."""
        if not self._painters:
            self._painters[theme] = _make_overlay(
                self.model.hierarchy, self.row_places, self.merged_graphs, self.changes, THEMES[theme]
            )
        if theme not in self._painters:  # signs are the same in all themes
            known = next(iter(self._painters.values()))
            self._painters[theme] = replace(known, theme=_pale_theme(THEMES[theme]))
        return self._painters[theme]

    def picture(self, options: PictureOptions) -> Picture:
        """Return the picture with the groups around changes open, as many as stay legible on one screen, unless
        `options` name groups."""
        if options not in self._drawn:
            self._drawn.clear()  # only the last picture is cached
            self._drawn[options] = self._picture(options)
        return self._drawn[options]

    def _picture(self, options: PictureOptions) -> Picture:
        painter = self.overlay(options.theme)
        title = options.title if options.title is not None else _diff_title(self.changes)
        coloured, options = self.model.with_colouring(painter), replace(options, title=title, all_members=True)
        drawn, left = first_picture(coloured, painter, self.row_places, self.merged_graphs, options)
        if not left:
            return drawn
        note = f"{format_counted_noun(left, 'change')} in groups that stay closed (--open)"
        return replace(drawn, notices=(*drawn.notices, Notice("closed", note, strict=False)))


def picture_options(view: SavedView | None, given: Mapping[str, Any]) -> PictureOptions:
    """Return the options of the picture of a diff: those `given`, then those of the view."""
    kept = {name: value for name, value in (view.choices if view else ()) if name in PICTURE_OPTIONS}
    return picture_choices(PictureOptions(), {**kept, **given})
