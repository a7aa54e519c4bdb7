"""render: turn a scene in its colours into a `Drawing`, and a drawing into the bytes of a file.

    scene + paint + caption ─compose▶ Drawing ─svg, pdf, png▶ bytes

The formats are in one table, `RENDERERS` in `output/renderers.py`.
"""

from __future__ import annotations

from graphviz_tb.render.compose import compose

__all__ = ["compose"]
