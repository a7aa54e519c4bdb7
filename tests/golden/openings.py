"""The names of rows in a picture and in a program, and what these find."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphviz_tb.api.pipeline import Model
from graphviz_tb.search.names import _with_program_names
from graphviz_tb.words.view import NodeLabels


def named(model: Model) -> Iterator[Any]:
    """What rows are called that have a label, by a picture and by the program; what these names find."""
    hierarchy = model.hierarchy
    in_program, labels = _with_program_names(hierarchy), NodeLabels(hierarchy, lambda path: None)
    yield [(row, labels.short_label((row,))) for row in sorted(hierarchy.labels)]
    names = in_program.name if in_program else hierarchy.name
    yield [(row, name) for row, name in enumerate(names) if name != hierarchy.name[row]]
    for row in sorted(hierarchy.labels):
        yield names[row], [list(path) for path in model.names.find_paths(names[row])]
