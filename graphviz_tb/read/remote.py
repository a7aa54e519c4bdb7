"""Former place of `graphviz_tb.sources.remote`, kept for programs that import it."""

from graphviz_tb.sources.remote import is_remote

__all__ = ["is_remote"]
