"""The files of a picture as values: `svg()`, `png()`, `pdf()`, and what a notebook shows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from graphviz_tb.errors import HelpfulAttributes

CELL_PAGE_MB = 2.0  # of a page that a notebook shows without being asked: each cell keeps a copy
CELL_PAGE_OPS = 20_000  # of larger graphs a notebook shows the picture


class DrawnPicture:
    """The formats of one picture, each as text or bytes."""

    @abstractmethod
    def render(self, format: str = "svg") -> bytes:
        """Return the whole file as bytes."""

    def svg(self) -> str:
        """Return the picture as SVG, a text."""
        return self.render("svg").decode()

    def png(self) -> bytes:
        """Return the picture as PNG, bytes."""
        return self.render("png")

    def pdf(self) -> bytes:
        """Return the picture as PDF, bytes."""
        return self.render("pdf")

    def html(self) -> str:
        """Return the interactive page, a text."""
        return self.render("html").decode()

    def dot(self) -> str:
        """Return the picture in Graphviz' language, a text."""
        return self.render("dot").decode()

    def mermaid(self) -> str:
        """Return the picture as a flowchart of Mermaid, a text."""
        return self.render("mermaid").decode()


class Drawable(HelpfulAttributes):
    """Something that has a picture: its formats with the options of pictures, and how a notebook shows it."""

    @abstractmethod
    def picture(self, *args: Any, **choices: Any) -> Any:
        """Return a picture with these options."""

    @abstractmethod
    def _small_page(self) -> bytes | None:
        """Return a page that a cell may keep; None where there is none."""

    def svg(self, **choices: Any) -> str:
        """Return the picture as SVG, a text; `choices` are fields of `PictureOptions` (`depth=1`, `theme="dark"`)."""
        return self._draw_picture(choices).svg()

    def png(self, **choices: Any) -> bytes:
        """Return the picture as PNG, bytes; `choices` as for `svg`, with `scale` or `width`."""
        return self._draw_picture(choices).png()

    def pdf(self, **choices: Any) -> bytes:
        """Return the picture as PDF, bytes; `choices` as for `svg`."""
        return self._draw_picture(choices).pdf()

    def _draw_picture(self, choices: dict[str, Any]) -> DrawnPicture:
        picture: DrawnPicture = self.picture(**choices)
        return picture

    def _repr_html_(self) -> str | None:
        """Return the interactive page in a frame, for a notebook that shows it; None where the page is large."""
        from graphviz_tb.render.notebook import NotebookFrame

        page = self._small_page()
        return None if page is None else NotebookFrame(page, packed=True)._repr_html_()
