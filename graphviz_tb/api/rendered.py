"""The files of a picture as values: `svg()`, `png()`, `pdf()`, and what a notebook shows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import field
from typing import Any

from graphviz_tb.errors import HelpfulAttributes, RequestError, require_type, short_repr
from graphviz_tb.limits import MAX_NOTEBOOK_HEIGHT_PX
from graphviz_tb.model.frozen import dataclass

CELL_PAGE_MB = 2.0  # largest page that a notebook shows by default: each cell keeps a copy
CELL_PAGE_OPS = 20_000  # for larger graphs a notebook shows the picture
# no allow-same-origin: the page cannot reach the notebook or its server
FRAME_PERMISSIONS = "allow-scripts allow-downloads"

UNPACK = (
    '<!doctype html><meta charset="utf-8"><script>(async () => {{'
    'const bytes = Uint8Array.from(atob("{packed}"), (one) => one.charCodeAt(0));'
    'const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();'
    "const page = await text; document.open(); document.write(page); document.close();}})();</script>"
)


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
    """An object with a picture: methods for each format, and the representation in a notebook."""

    @abstractmethod
    def picture(self, *args: Any, **choices: Any) -> Any:
        """Return a picture with these options."""

    @abstractmethod
    def _small_page(self) -> bytes | None:
        """Return a page small enough for a notebook cell, or None."""

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
        """Return the interactive page in a frame for a notebook; None if the page is large."""
        page = self._small_page()
        return None if page is None else NotebookFrame(page, packed=True)._repr_html_()


# A frame in a notebook cell, isolated from the notebook around it.


def _packed_page(page: bytes) -> str:
    """Return a page that replaces itself by `page`, which it contains compressed."""
    from base64 import b64encode
    from gzip import compress

    return UNPACK.format(packed=b64encode(compress(page, 9, mtime=0)).decode("ascii"))


@dataclass(frozen=True, slots=True)
class NotebookFrame:
    """The result of `show()`: a notebook draws it as a frame `height` pixels high.

    >>> NotebookFrame(b"<p>&", 200)._repr_html_()[:72]
    '<iframe sandbox="allow-scripts allow-downloads" srcdoc="&lt;p&gt;&amp;" '
    """

    page: bytes = field(repr=False)
    height: int = 640
    packed: bool = False  # a third as large in the notebook; a browser unpacks it

    def __post_init__(self) -> None:
        require_type("height", self.height, int)
        if not 1 <= self.height <= MAX_NOTEBOOK_HEIGHT_PX:
            raise RequestError(f"height is {short_repr(self.height)}; it takes 1 to {MAX_NOTEBOOK_HEIGHT_PX:,} pixels")

    def _repr_html_(self) -> str:
        from html import escape

        content = escape(_packed_page(self.page) if self.packed else self.page.decode(), quote=True)
        size = f'width="100%" height="{self.height}" style="border:0"'
        return f'<iframe sandbox="{FRAME_PERMISSIONS}" srcdoc="{content}" {size}></iframe>'
