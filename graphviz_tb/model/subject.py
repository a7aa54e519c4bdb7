"""The interface of a folded graph for renderers: between the stages that draw and those that write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from graphviz_tb.model.drawing import Drawing
    from graphviz_tb.model.facts import Facts
    from graphviz_tb.model.hierarchy import Hierarchy
    from graphviz_tb.model.metagraph import Metagraph
    from graphviz_tb.model.paint import Caption, Paint
    from graphviz_tb.model.paths import Path
    from graphviz_tb.model.scene import Scene
    from graphviz_tb.model.skeleton import Skeleton
    from graphviz_tb.model.view import View
    from graphviz_tb.options import PictureOptions


class PictureStages(Protocol):
    """One picture, at every height at which it may be written."""

    @property
    def opened(self) -> dict[Path, None]:
        """The open groups, each after the group around it."""

    @property
    def view(self) -> View:
        """The open groups, and every word."""

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


class Encoded(Protocol):
    """A document that can be written."""

    def encode(self) -> bytes:
        """Its text as UTF-8."""


class Subject(Protocol):
    """A folded graph, opened and drawn when asked."""

    @property
    def hierarchy(self) -> Hierarchy:
        """The tree of groups over the flat graph."""

    @property
    def facts(self) -> Facts:
        """The facts of nodes and tensors."""

    def metagraph(self, path: Path = (0,)) -> Metagraph:
        """The metagraph of the group at `path`."""

    def skeleton(self, path: Path = (0,), engine: str = "layered") -> Skeleton:
        """The order in which the group at `path` is drawn."""

    def picture(self, options: PictureOptions | None = None) -> PictureStages:
        """A picture; the same options give the same one."""

    def document(self) -> Encoded:
        """The whole folded graph, ready to be written as JSON."""
