"""What is in the blocks of a page, for those who ask the server rather than the viewer."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.page.blocks import INTS
from graphviz_tb.serve.loading import Packed, ServedPage

KEPT = 32  # unpacked blocks


@lru_cache(KEPT)
def unpacked(block: Packed) -> Any:
    """What a block holds: numbers, or a value of JSON."""
    data = gzip.decompress(block.data)
    return np.frombuffer(data, INTS) if block.kind == "ints" else json.loads(data)


def group(page: ServedPage, key: str) -> NDArray[np.int32] | None:
    """What one group holds, as numbers; None where it is not in the page."""
    place = unpacked(page.blocks["levels"]).get(key)
    if place is None:
        return None
    block, start, length = place
    numbers: NDArray[np.int32] = unpacked(page.blocks[f"levels/{block}"])[start : start + length]
    return numbers
