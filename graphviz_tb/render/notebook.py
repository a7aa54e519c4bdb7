"""A page in a notebook cell: a frame isolated from the notebook around it."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from gzip import compress
from html import escape

from graphviz_tb.errors import RequestError, require_type, short_repr
from graphviz_tb.limits import MAX_NOTEBOOK_HEIGHT_PX

# no allow-same-origin: the page cannot reach the notebook or its server
FRAME_PERMISSIONS = "allow-scripts allow-downloads"

UNPACK = (
    '<!doctype html><meta charset="utf-8"><script>(async () => {{'
    'const bytes = Uint8Array.from(atob("{packed}"), (one) => one.charCodeAt(0));'
    'const text = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();'
    "const page = await text; document.open(); document.write(page); document.close();}})();</script>"
)


def _packed_page(page: bytes) -> str:
    """Return a page that unpacks `page` and puts it in its own place."""
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
        content = escape(_packed_page(self.page) if self.packed else self.page.decode(), quote=True)
        size = f'width="100%" height="{self.height}" style="border:0"'
        return f'<iframe sandbox="{FRAME_PERMISSIONS}" srcdoc="{content}" {size}></iframe>'
