"""Former place of `graphviz_tb.api.summary`, kept for programs that import it."""

from graphviz_tb.api.summary import Summary, summarize

__all__ = ["Summary", "summarize"]
