"""Former place of `graphviz_tb.annotate.rankings`, kept for programs that import it."""

from graphviz_tb.annotate.rankings import summarize_stats as account

__all__ = ["account"]
