"""Colour by device: accelerators take the first hues, then the others, each in order of appearance."""

from __future__ import annotations

import re

import numpy as np

from graphviz_tb.color.shares import CategoryColouring, category_colouring
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.theme import Theme

DEVICE_SUFFIX = re.compile(r"/(?:device:(\w+)|(cpu|gpu|tpu)):(?:\d+|\*)$", re.IGNORECASE)
HOST_DEVICES = {"CPU", "XLA_CPU"}


def device_colouring(hierarchy: Hierarchy, theme: Theme, facts: Facts) -> CategoryColouring:
    """Make the colouring "device"."""
    graph = hierarchy.graph
    names = list(graph.devices)
    used = [index for index in range(len(names)) if names[index]]
    appear = first_positions(graph.device, len(names))
    order = sorted(used, key=lambda index: (not is_accelerator(names[index]), appear[index]))
    place = np.full(len(names) + 1, -1, np.int32)
    place[order] = np.arange(len(order))
    labels = shorten_devices([names[index] for index in order])
    return category_colouring(hierarchy, theme, ("device", "Device"), place[graph.device], labels, "no device")


def first_positions(column: np.ndarray[tuple[int], np.dtype[np.int32]], count: int) -> list[int]:
    """Return where each value below `count` first occurs in a column (its length if never)."""
    seen = np.full(count, len(column))
    values, first = np.unique(column, return_index=True)
    real = values >= 0
    seen[values[real]] = first[real]
    return [int(index) for index in seen]


def is_accelerator(name: str) -> bool:
    """Return whether a device name is that of an accelerator.

    >>> is_accelerator("/job:worker/task:0/device:GPU:0"), is_accelerator("/cpu:0"), is_accelerator("/job:ps/task:0")
    (True, False, False)
    """
    match = DEVICE_SUFFIX.search(name)
    return match is not None and (match[1] or match[2]).upper() not in HOST_DEVICES


def shorten_devices(names: list[str]) -> list[str]:
    """Return names without their common beginning, and without the words in every device name.

    >>> shorten_devices(
    ...     ["/job:localhost/replica:0/task:0/device:GPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"]
    ... )
    ['GPU:0', 'CPU:0']
    >>> shorten_devices(["/job:ps/task:0", "/job:worker/task:1/device:GPU:0"])
    ['ps/task:0', 'worker/task:1/GPU:0']
    """
    parts = [[part for part in name.split("/") if part] for name in names]
    common = 0
    while len(parts) > 1 and all(
        # The last segment always stays, so that no name is empty.
        len(segments) > common + 1 and segments[common] == parts[0][common]
        for segments in parts
    ):
        common += 1
    # A single device has everything in common with itself: keep the last segment of `/job:…/device:GPU:0`.
    if len(parts) == 1 and DEVICE_SUFFIX.search(names[0]):
        common = len(parts[0]) - 1
    labels = ["/".join(re.sub(r"^(device|job):", "", part) for part in segments[common:]) for segments in parts]
    cased = [
        re.sub(r"(^|/)([cgt]pu):", lambda match: match[1] + match[2].upper() + ":", segments) for segments in labels
    ]
    # Shorten only while all names stay distinct.
    return cased if len(set(cased)) == len(cased) else labels if len(set(labels)) == len(labels) else names
