"""What crosses the border of a group is the same, asked for one by one or filed for all groups at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphviz_tb
from graphviz_tb.expand.bridges import EdgeIndex, _find_body_crossings
from graphviz_tb.model.hierarchy import RowKind

REAL = Path(__file__).parents[2] / "fixtures" / "real"


@pytest.mark.parametrize("name", ["mnist_cnn.pbtxt", "gan_scopes.pb", "func_library_v2.pb", "while_v1.pb"])
def test_borders_are_the_same_one_by_one_and_all_at_once(name: str) -> None:
    hierarchy = graphviz_tb.load(REAL / name).hierarchy
    files = EdgeIndex(hierarchy)
    groups = [
        row for row in range(1, len(hierarchy)) if hierarchy.kind[row] in (RowKind.SCOPE, RowKind.SERIES, RowKind.FOLD)
    ]
    assert groups
    for row in groups:
        files.asked = 0
        alone, filed = _find_body_crossings(hierarchy, files, row), files.borders.crossings_of_group(row)
        for column in ("edge", "inner", "other", "inbound", "slot"):
            assert np.array_equal(getattr(alone, column), getattr(filed, column)), (row, column)
