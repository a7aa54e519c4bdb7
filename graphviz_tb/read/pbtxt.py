"""Former place of `graphviz_tb.formats.pbtxt`, kept for programs that import it."""

from graphviz_tb.formats.pbtxt import parse

__all__ = ["parse"]
