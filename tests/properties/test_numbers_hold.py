"""Laws of numbers, on all fixtures: what passes is true of the bound, parts come to the whole, and so do members."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np

from graphviz_tb import load
from graphviz_tb.api.checking import ASSERTION_PASSED, check_assertions
from graphviz_tb.api.pipeline import Model
from graphviz_tb.errors import NoGraph
from graphviz_tb.keras.weights import INSTALL_H5PY
from graphviz_tb.model.costs import COST_QUANTITIES
from graphviz_tb.model.hierarchy import SERIES_ROW
from graphviz_tb.model.paths import is_stack, repeated_rows, repetition_count, usual_member
from tests.each import each
from tests.effort import part

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
FOLDERS = ("real", "containers", "shapes", "truth", "edits")
PATHS = part(
    (path for folder in FOLDERS for path in sorted((FIXTURES / folder).iterdir()) if path.suffix != ".json"), 12
)


@cache
def load_once(path: Path) -> Model:
    return load(path)


def model_of(path: Path, require: Callable[..., None]) -> Model:
    """Load a model; skip where its layers are only in weights that h5py reads."""
    try:
        return load_once(path)
    except NoGraph as error:
        if INSTALL_H5PY in (error.hint or ""):
            require("h5py")
        raise


def paths() -> Iterator[Path]:
    for path in PATHS:
        if path.is_file() and path.name not in ("README.md",):
            yield path


@each("path", part(paths(), 4))
def test_what_passes_is_true_of_the_bound(path: Path, require: Callable[..., None]) -> None:
    model = model_of(path, require)
    whole = model.cost.under(0)
    for quantity in COST_QUANTITIES:
        value = getattr(whole, quantity)
        below = check_assertions(model, [f"{quantity} <= {value}"])[0]
        above = check_assertions(model, [f"{quantity} >= {value}"])[0]
        # Of several branches the dearest is counted: nothing says that it runs.
        assert (above.state == ASSERTION_PASSED) == (not whole.is_upper_bound(quantity)) or not value, quantity
        # More than is counted may be there: nothing says that it is no more.
        assert (below.state == ASSERTION_PASSED) == (not whole.is_lower_bound(quantity)), quantity
        assert bool(below.why) == bool(whole.bound_word(quantity)) or not value, quantity


@each("path", part(paths(), 4))
def test_the_parts_of_a_group_come_to_the_whole(path: Path, require: Callable[..., None]) -> None:
    model = model_of(path, require)
    hierarchy, cost = model.hierarchy, model.cost
    inside: dict[int, list[int]] = {}
    for row in range(1, int(hierarchy.end[0])):
        inside.setdefault(int(hierarchy.parent[row]), []).append(row)
    for row, held in inside.items():
        # Weights that are drawn as marks are rows too, and no children.
        assert sum((cost.under(child) for child in held), cost.counted[row]) == cost.under(row)
        assert sum(hierarchy.op_count(child) for child in hierarchy.children(row).tolist()) == hierarchy.op_count(row)


@each("path", part(paths(), 4))
def test_as_often_as_it_is_repeated_a_member_is_no_more_than_the_whole(
    path: Path, require: Callable[..., None]
) -> None:
    hierarchy = model_of(path, require).hierarchy
    for row in np.flatnonzero(hierarchy.kind == SERIES_ROW).tolist():
        members = repeated_rows(hierarchy, row)
        assert sum(map(hierarchy.op_count, members)) == hierarchy.op_count(row)
        if is_stack(hierarchy, row):
            # What a picture shows is one of those that are counted, and a whole one.
            assert usual_member(hierarchy, row) in members
            each_holds = {hierarchy.op_count(member) for member in members}
            assert len(each_holds) > 1 or repetition_count(hierarchy, row) * each_holds.pop() == hierarchy.op_count(row)
