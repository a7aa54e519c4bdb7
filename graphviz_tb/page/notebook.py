"""A page in a notebook cell: a frame isolated from the notebook around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from graphviz_tb.errors import RequestError, require_type, short_repr
from graphviz_tb.limits import MAX_NOTEBOOK_HEIGHT_PX

# no allow-same-origin: the page cannot reach the notebook or its server
FRAME_PERMISSIONS = "allow-scripts allow-downloads"


@dataclass(frozen=True, slots=True)
class NotebookFrame:
    """The result of `show()`: a notebook draws it as a frame `height` pixels high.

    >>> NotebookFrame(b"<p>&", 200)._repr_html_()[:72]
    '<iframe sandbox="allow-scripts allow-downloads" srcdoc="&lt;p&gt;&amp;" '
    """

    page: bytes = field(repr=False)
    height: int = 640

    def __post_init__(self) -> None:
        require_type("height", self.height, int)
        if not 1 <= self.height <= MAX_NOTEBOOK_HEIGHT_PX:
            raise RequestError(f"height is {short_repr(self.height)}; it takes 1 to {MAX_NOTEBOOK_HEIGHT_PX:,} pixels")

    def _repr_html_(self) -> str:
        held = escape(self.page.decode(), quote=True)
        size = f'width="100%" height="{self.height}" style="border:0"'
        return f'<iframe sandbox="{FRAME_PERMISSIONS}" srcdoc="{held}" {size}></iframe>'
