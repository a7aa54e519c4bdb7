"""Protocols of a folded graph for renderers, between the drawing stages and the writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from graphviz_tb.model.drawing import Drawing
    from graphviz_tb.model.facts import Facts
    from graphviz_tb.model.hierarchy import Hierarchy
    from graphviz_tb.model.metagraph import Metagraph
    from graphviz_tb.model.paint import Caption, Paint
    from graphviz_tb.model.paths import RowPath
    from graphviz_tb.model.scene import Scene
    from graphviz_tb.model.skeleton import Skeleton
    from graphviz_tb.model.view import View
    from graphviz_tb.options import PictureOptions


class PictureStages(Protocol):
    """One picture, at every stage at which it may be written."""

    @property
    def opened(self) -> dict[RowPath, None]:
        """The open groups, each after its enclosing group."""

    @property
    def view(self) -> View:
        """The open groups, and every text."""

    @property
    def scene(self) -> Scene:
        """The position of everything."""

    @property
    def paint(self) -> Paint:
        """Every colour."""

    @property
    def caption(self) -> Caption:
        """The title row."""

    @property
    def drawing(self) -> Drawing:
        """The whole sheet as primitives."""


class EncodableDocument(Protocol):
    """A document that can be written."""

    def encode_document(self) -> bytes:
        """Return its text as UTF-8."""


class DrawableGraph(Protocol):
    """A folded graph that is opened and drawn on request."""

    @property
    def hierarchy(self) -> Hierarchy:
        """The tree of groups over the flat graph."""

    @property
    def facts(self) -> Facts:
        """The facts of nodes and tensors."""

    def metagraph(self, path: RowPath = (0,)) -> Metagraph:
        """Return the metagraph of the group at `path`."""

    def skeleton(self, path: RowPath = (0,), engine: str = "layered") -> Skeleton:
        """Return the drawing order of the group at `path`."""

    def picture(self, options: PictureOptions | None = None) -> PictureStages:
        """Return a picture; equal options give the same picture."""

    def document(self) -> EncodableDocument:
        """Return the whole folded graph, ready to be written as JSON."""
