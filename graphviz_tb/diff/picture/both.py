"""Both graphs as one model, which all pictures of a diff are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphviz_tb.api.choices import picture_choices
from graphviz_tb.diff.picture.merge import Merged, Where, merge_graphs
from graphviz_tb.diff.picture.overlay import Overlay, first_picture, overlay, title_of
from graphviz_tb.diff.picture.rows import places
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import PictureOptions

if TYPE_CHECKING:
    from graphviz_tb.api.picture import Picture
    from graphviz_tb.api.pipeline import Model
    from graphviz_tb.diff.comparison import Comparison
    from graphviz_tb.model.facts import SavedView

OF_GROUPS = ("group", "ungroup", "series_min")  # options of a view that a diff takes for its model
OF_PICTURES = ("theme", "direction", "title", "legend", "wrap")  # and for its picture


@dataclass(frozen=True, eq=False)
class Both:
    """The graphs of a diff, merged when that is first asked for, and what is drawn of them, once; `view` says what of
    them is hidden, aside and titled. What is open and how it is coloured is the diff's own."""

    changes: Comparison
    view: SavedView | None = None
    _painters: dict[str, Overlay] = field(default_factory=dict, init=False)
    _drawn: dict[PictureOptions, Picture] = field(default_factory=dict, init=False)

    @cached_property
    def merged(self) -> Merged:
        """The nodes of both, and what became of each."""
        return merge_graphs(self.changes)

    @cached_property
    def model(self) -> Model:
        """The merged graph, folded."""
        import graphviz_tb

        view = self.view
        if view is not None:  # what is open, and colours, are of the changes
            grouping = tuple((name, value) for name, value in view.choices if name in OF_GROUPS)
            view = replace(view, open=(), colors=(), choices=grouping)
        model = graphviz_tb.load(self.merged.graph_def, view=view)
        model.files = self.changes.inputs
        return model

    @cached_property
    def where(self) -> list[Where | None]:
        """The place of each row in the merged graph; None for groups."""
        return places(self.model.hierarchy)

    def overlay(self, theme: str) -> Overlay:
        """Return the overlay that colours every row by its change, in a theme."""
        if theme not in self._painters:
            self._painters[theme] = overlay(self.model.hierarchy, self.where, self.merged, self.changes, THEMES[theme])
        return self._painters[theme]

    def picture(self, options: PictureOptions) -> Picture:
        """The groups on the way to the changes are open, as many as can be read on one screen, unless `options` say
        what is."""
        if options not in self._drawn:
            self._drawn.clear()  # the last one is kept, as a model does
            self._drawn[options] = self._picture(options)
        return self._drawn[options]

    def _picture(self, options: PictureOptions) -> Picture:
        painter = self.overlay(options.theme)
        title = options.title if options.title is not None else title_of(self.changes)
        coloured, options = self.model.with_colouring(painter), replace(options, title=title, all_members=True)
        drawn, left = first_picture(coloured, painter, self.where, self.merged, options)
        if not left:
            return drawn
        note = f"{format_counted_noun(left, 'change')} in groups that stay closed (--open)"
        return replace(drawn, notices=(*drawn.notices, Notice("closed", note, strict=False)))


def picture_options(view: SavedView | None, said: Mapping[str, Any]) -> PictureOptions:
    """The options of the picture of a diff: as `said`, else as the view has them."""
    kept = {name: value for name, value in (view.choices if view else ()) if name in OF_PICTURES}
    return picture_choices(PictureOptions(), {**kept, **said})


def picture(changes: Comparison, options: PictureOptions | None = None) -> Picture:
    """The merged picture, as a `Picture`."""
    return Both(changes).picture(options or PictureOptions())
