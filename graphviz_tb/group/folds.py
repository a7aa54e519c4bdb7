from __future__ import annotations

from graphviz_tb.group.insert import NewGroup
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.options import GroupOptions


def find_folds(hierarchy: Hierarchy, options: GroupOptions) -> list[NewGroup]:
    return []
