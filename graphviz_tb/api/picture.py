"""One picture: open groups, words, coordinates and colours, and the ways to write it."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphviz_tb.api.rendered import DrawnPicture, NotebookFrame
from graphviz_tb.color import Colouring, shows_statistics
from graphviz_tb.model.drawing import Drawing
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.formatting import format_counted_noun
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paint import Caption, Paint
from graphviz_tb.model.paths import box_of_path, frame_of_path, joined_frames, path_address
from graphviz_tb.model.scene import Scene
from graphviz_tb.model.view import View
from graphviz_tb.open.groups import OpenSet, lone_members
from graphviz_tb.options import PictureOptions
from graphviz_tb.output.files import check_inputs_kept, write_output
from graphviz_tb.output.renderers import output_format
from graphviz_tb.render.compose import compose, compose_figure
from graphviz_tb.words.level import facts_line

if TYPE_CHECKING:
    import graphviz
    import pydot

    from graphviz_tb.api.base_model import BaseModel


@dataclass(frozen=True, slots=True, eq=False)
class Picture(DrawnPicture):
    """A picture of a model: which groups are open, its words, its coordinates, its colours."""

    model: BaseModel
    opened: OpenSet
    view: View
    scene: Scene
    paint: Paint
    caption: Caption
    options: PictureOptions
    notices: tuple[Notice, ...]

    def __repr__(self) -> str:
        shown = sum(not box.open for box in self.scene.boxes)
        return f"<Picture: {format_counted_noun(shown, 'node')}, {self.scene.width} × {self.scene.height}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the model and options; unpickling draws the picture again, to the same bytes."""
        return self.model.picture, (self.options,)

    @cached_property
    def drawing(self) -> Drawing:
        """The whole sheet as primitives, title and legend included."""
        if not self.options.paper:
            return compose(self.scene, self.paint, self.caption, self.options.legend)
        return compose_figure(self.scene, self.paint, self.caption, self.options)

    def render(self, format: str = "svg") -> bytes:
        """Return the whole file as bytes."""
        return self.model.render(format, self.options)

    def shortfalls(self, format: str) -> tuple[Notice, ...]:
        """Return notices of requests that a format cannot meet fully."""
        return self.model.shortfalls(format, self.options)

    def to_graphviz(self) -> graphviz.Source:
        """Return the picture as a `graphviz.Source`, to be laid out by the user's own Graphviz."""
        from graphviz_tb.render.dot import graphviz_source

        return graphviz_source(self.render("dot"))

    def to_pydot(self) -> pydot.Dot:
        """Return the picture as a `pydot.Dot` to edit, without the thin lines of levels too large to route."""
        from graphviz_tb.render.dot import to_pydot

        return to_pydot(self.scene, self.paint, self.caption)

    def save(self, target: str | os.PathLike[str], format: str | None = None) -> None:
        """Write the picture to a file; the format follows from the suffix."""
        check_inputs_kept((*self.model.files, *self.options.font_files), [target])
        write_output(target, self.render(output_format(target, format)))

    def show(self, height: int = 640) -> NotebookFrame:
        """Return the interactive page for a notebook cell; groups open here are open at first."""
        return NotebookFrame(self.render("html"), height)

    def _repr_svg_(self) -> str:
        return self.render("svg").decode()


def picture_caption(
    model: BaseModel, colouring: Colouring, scene: Scene, opened: OpenSet, options: PictureOptions
) -> Caption:
    """Return the words of the title row."""
    if options.paper:  # the words are below the figure
        return Caption(options.title or "", "", _selected_addresses(model, opened, options))
    title = (
        options.title if options.title is not None else " · ".join((model.name, *_title_of_steps(model.facts, options)))
    )
    shown = sum(not box.open for box in scene.boxes)
    left_out = model.loaded.left_out if model.loaded else 0
    facts = facts_line(model.hierarchy, colouring.title_text(shown), colouring.scheme, left_out, model.facts.weights())
    return Caption(title, facts, _selected_addresses(model, opened, options))


def _selected_addresses(model: BaseModel, opened: OpenSet, options: PictureOptions) -> tuple[str, ...]:
    hierarchy, members = model.hierarchy, lone_members(model.hierarchy, opened, options)
    joined = joined_frames(hierarchy, opened)
    chosen = (path for paths in model.names.find_each(options.select) for path in paths)
    boxes = (box_of_path(hierarchy, path, members) if members is not None else path for path in chosen)
    return tuple(path_address(hierarchy, frame_of_path(hierarchy, path, joined)) for path in boxes)


def _title_of_steps(facts: Facts, options: PictureOptions) -> tuple[str, ...]:
    """Return the title words for the steps shown and those compared with."""
    if facts.stats is None or not shows_statistics(options):
        return ()
    return (f"{facts.stats.title}, against {facts.before.title}" if facts.before is not None else facts.stats.title,)
