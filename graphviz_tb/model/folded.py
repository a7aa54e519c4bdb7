"""A folded graph: the result of the stages that run once per file."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.loaded import LoadedGraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import URL_SEPARATOR, absolute_sources, regular_file_stats
from graphviz_tb.model.units import format_counted_noun

if TYPE_CHECKING:
    from graphviz_tb.options import Options


class FoldedGraph:
    """The tree of groups over a flat graph, its facts, and the source of both."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        facts: Facts,
        options: Options,
        loaded: LoadedGraph | None = None,
        source: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.facts = facts
        self.options = options
        self.loaded = loaded
        self.source = source
        given = source, *options.read.run_metadata, *options.read.against
        # Absolute: files that are read later, and that no output may overwrite, under any of their names.
        self.files: tuple[Any, ...] = (*absolute_sources(given), *regular_file_stats(given))

    def __repr__(self) -> str:
        ops, edges = self.hierarchy.op_count(0), self.hierarchy.graph.edge_count
        return f"<{type(self).__name__}: {format_counted_noun(ops, 'op')}, {format_counted_noun(edges, 'edge')}>"

    @property
    def name(self) -> str:
        """The name of the source without its folders, so that it does not depend on where the file is."""
        label = self.loaded.label if self.loaded else ""
        source = PurePath(self.source) if isinstance(self.source, str | os.PathLike) else PurePath()
        if URL_SEPARATOR in label:  # a remote source
            whole, dot, part = label.partition(" · ")
            return PurePath(whole).name + dot + part
        inside = source.name and label.startswith(str(source))
        return source.name + label.removeprefix(str(source)) if inside else label

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices of reading and folding."""
        return (*(self.loaded.notices if self.loaded else ()), *self.hierarchy.notices)
