"""The device of each op where the graph names none: the one on which a traced step ran it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from graphviz_tb.model.columns import freeze_array
from graphviz_tb.model.hierarchy import Hierarchy


def with_traced_devices(hierarchy: Hierarchy, placed: Mapping[int, str]) -> Hierarchy:
    """Before: a hierarchy, and the devices on which rows ran. After: the same, whose graph names these where the file
    names none."""
    graph = hierarchy.graph
    numbers = {name: number for number, name in enumerate(graph.devices)}
    device = graph.device.copy()
    for row, name in sorted(placed.items()):
        node = int(hierarchy.node[row])
        if node >= 0 and name and (device[node] < 0 or not graph.devices[device[node]]):
            device[node] = numbers.setdefault(name, len(numbers))
    if np.array_equal(device, graph.device):
        return hierarchy
    return replace(hierarchy, graph=replace(graph, device=freeze_array(device), devices=tuple(numbers)))
