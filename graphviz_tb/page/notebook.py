"""A page in a notebook cell: a frame isolated from the notebook around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

from graphviz_tb.errors import RequestError, demand, spoken
from graphviz_tb.limits import NOTEBOOK_HEIGHT

MAY = "allow-scripts allow-downloads"  # no allow-same-origin: the page cannot reach the notebook or its server


@dataclass(frozen=True, slots=True)
class NotebookFrame:
    """The result of `show()`: a notebook draws it as a frame `height` pixels high.

    >>> NotebookFrame(b"<p>&", 200)._repr_html_()[:72]
    '<iframe sandbox="allow-scripts allow-downloads" srcdoc="&lt;p&gt;&amp;" '
    """

    page: bytes = field(repr=False)
    height: int = 640

    def __post_init__(self) -> None:
        demand("height", self.height, int)
        if not 1 <= self.height <= NOTEBOOK_HEIGHT:
            raise RequestError(f"height is {spoken(self.height)}; it takes 1 to {NOTEBOOK_HEIGHT:,} pixels")

    def _repr_html_(self) -> str:
        held = escape(self.page.decode(), quote=True)
        size = f'width="100%" height="{self.height}" style="border:0"'
        return f'<iframe sandbox="{MAY}" srcdoc="{held}" {size}></iframe>'
