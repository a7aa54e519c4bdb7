"""Serve a log directory, or one graph, to a browser while it is written.

guard ─ routes ─ session ─ (log, graphs) ─ live

Only `commands/serve.py` and notebooks import this folder: it needs the extra `serve`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `import graphviz_tb` imports this: nothing else may be imported here
if TYPE_CHECKING:
    from typing import Any

    from graphviz_tb.serve.notebook import ServedFrame, StaticFrame

__all__ = ["serve"]


def serve(source: Any, height: int = 800, **options: Any) -> ServedFrame | StaticFrame:
    """Show a log directory, or a graph, live: in a notebook's cell, and at its `address` in any browser.

    `options` are those of `tbgraph serve` by their Python names (`port=7007`, `title="runs"`). The server is a separate
    process, which ends with this one, or with `stop()`; the same source is served once. If no server can run or be
    reached, the result is a static page with the reason. Raises `ToolFailed` if the server does not start.
    """
    from graphviz_tb.errors import require_type
    from graphviz_tb.serve.notebook import serve_source

    require_type("height", height, int)
    return serve_source(source, height, options)
