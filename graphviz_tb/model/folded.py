"""A folded graph: the result of the stages that run once per file."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.loaded import Loaded
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import ADDRESS, lasting, plain_files
from graphviz_tb.model.units import counted

if TYPE_CHECKING:
    from graphviz_tb.options import Options


class Folded:
    """The tree of groups over a flat graph, its facts, and the source of both."""

    def __init__(
        self, hierarchy: Hierarchy, facts: Facts, options: Options, loaded: Loaded | None = None, source: Any = None
    ) -> None:
        self.hierarchy = hierarchy
        self.facts = facts
        self.options = options
        self.loaded = loaded
        self.source = source
        given = source, *options.read.run_metadata, *options.read.against
        # Absolute: files that are read later, and that no output may overwrite, under any of their names.
        self.files: tuple[Any, ...] = (*lasting(given), *plain_files(given))

    def __repr__(self) -> str:
        ops, edges = self.hierarchy.ops(0), self.hierarchy.graph.edge_count
        return f"<{type(self).__name__}: {counted(ops, 'op')}, {counted(edges, 'edge')}>"

    @property
    def name(self) -> str:
        """The name of the source without its folders, so that it does not depend on where the file is."""
        label = self.loaded.label if self.loaded else ""
        source = PurePath(self.source) if isinstance(self.source, str | os.PathLike) else PurePath()
        if ADDRESS in label:  # a remote source
            whole, dot, part = label.partition(" · ")
            return PurePath(whole).name + dot + part
        inside = source.name and label.startswith(str(source))
        return source.name + label.removeprefix(str(source)) if inside else label

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices of reading and folding."""
        return (*(self.loaded.notices if self.loaded else ()), *self.hierarchy.notices)
