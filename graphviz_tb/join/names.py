"""Rule 3: a tag is the name of an op or a scope, in the file or by labels."""

from __future__ import annotations

from collections.abc import Sequence

from graphviz_tb.join.tags import LookedUpTag
from graphviz_tb.model.hierarchy import STACK_KINDS, Hierarchy
from graphviz_tb.model.joins import RuleMatch, nearest_box_row


def join_by_name(hierarchy: Hierarchy, tags: Sequence[LookedUpTag]) -> dict[str, RuleMatch]:
    """Return the rows of tags that are names of rows; of a name in several functions, the row in each."""
    wanted: dict[str, set[int]] = {form: set() for tag in tags for form in tag.forms}
    for row, name in enumerate(hierarchy.name):
        if name in wanted and row:
            wanted[name].add(nearest_box_row(hierarchy, row))
    if not hierarchy.graph.is_pytorch:  # there labels are kinds and values
        for row in hierarchy.labels:
            if row and hierarchy.kind[row] not in STACK_KINDS and (path := labelled_path(hierarchy, row)) in wanted:
                wanted[path].add(row)
    found: dict[str, RuleMatch] = {}
    for tag in tags:
        rows = next((rows for form in tag.forms if (rows := wanted[form] - {0, -1})), None)
        if rows:
            found[tag.name] = RuleMatch(tuple(sorted(rows)))
    return found


def labelled_path(hierarchy: Hierarchy, row: int) -> str:
    """Return the path of a row by labels."""
    around = [above for above in hierarchy.ancestors(row) if above and hierarchy.kind[above] not in STACK_KINDS]
    return "/".join(hierarchy.short_label(each) for each in (*around, row) if hierarchy.parent[each] >= 0)
