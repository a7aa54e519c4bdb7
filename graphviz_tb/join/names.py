"""Rule 3: a tag is the name of an op or a scope, in the file or by labels."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.join.tags import LookedUpTag
from graphviz_tb.model.hierarchy import STACKS, Hierarchy
from graphviz_tb.model.joins import FoundRows, drawn_row


def by_name(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, FoundRows]:
    """Return the rows of tags that are names of rows; of a name in several functions, the row in each."""
    wanted: dict[str, set[int]] = {form: set() for tag in tags for form in tag.forms}
    for row, name in enumerate(hierarchy.name):
        if name in wanted and row:
            wanted[name].add(drawn_row(hierarchy, row))
    if not hierarchy.graph.of_pytorch:  # there labels are kinds and values
        for row in hierarchy.labels:
            if row and hierarchy.kind[row] not in STACKS and (path := label_path(hierarchy, row)) in wanted:
                wanted[path].add(row)
    found: dict[str, FoundRows] = {}
    for tag in tags:
        rows = next((rows for form in tag.forms if (rows := wanted[form] - {0, -1})), None)
        if rows:
            found[tag.name] = FoundRows(tuple(sorted(rows)))
    return found


def label_path(hierarchy: Hierarchy, row: int) -> str:
    """Return the path of a row by labels."""
    around = [above for above in hierarchy.ancestors(row) if above and hierarchy.kind[above] not in STACKS]
    return "/".join(hierarchy.segment(each) for each in (*around, row) if hierarchy.parent[each] >= 0)
