"""Series that are opened: what was in them is in the group around them."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.errors import UnknownNode
from graphviz_tb.fold.table import NewGroup, Regrouping, _remove_ungrouped_series
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.options import GroupOptions
from graphviz_tb.proto import GraphDef
from tests.each import each

# rows 1 … 6; a series in a series in a fold, and a fold beside the inner series
GROUPS = [
    NewGroup(RowKind.SERIES, 0, "inner", (1, 2)),
    NewGroup(RowKind.FOLD, 0, "fold", (3, 4)),
    NewGroup(RowKind.SERIES, 0, "outer", (-1, -2, 5)),
    NewGroup(RowKind.FOLD, 0, "all", (-3, 6)),
]


def hierarchy() -> Hierarchy:
    """Ops a … f, on rows 1 … 6."""
    return load(GraphDef(node=[{"name": name, "op": "Op"} for name in "abcdef"]), folds=False).hierarchy


@each(
    ("names", "wanted"),
    [
        ([], {"inner": (1, 2), "fold": (3, 4), "outer": (-1, -2, 5), "all": (-3, 6)}),
        (["inner"], {"fold": (3, 4), "outer": (1, 2, -1, 5), "all": (-2, 6)}),
        (["outer"], {"inner": (1, 2), "fold": (3, 4), "all": (-1, -2, 5, 6)}),
        (["inner", "outer"], {"fold": (3, 4), "all": (1, 2, -1, 5, 6)}),
        (["b"], {"fold": (3, 4), "outer": (1, 2, -1, 5), "all": (-2, 6)}),  # a member, row 2
        (["e"], {"inner": (1, 2), "fold": (3, 4), "all": (-1, -2, 5, 6)}),
        (["fold"], {"inner": (1, 2), "fold": (3, 4), "all": (-1, -2, 5, 6)}),  # a group that is a member
    ],
)
def test_members_of_an_opened_series_are_members_of_the_group_around_it(
    names: list[str], wanted: dict[str, tuple[int, ...]]
) -> None:
    found = _remove_ungrouped_series(hierarchy(), GROUPS, names)
    assert [(group.name, group.members) for group in found] == list(wanted.items())


@pytest.mark.parametrize("name", ["all", "f", "c", "g"])
def test_only_series_and_their_members_can_be_opened(name: str) -> None:
    with pytest.raises(UnknownNode):
        _remove_ungrouped_series(hierarchy(), GROUPS, [name])


def test_of_two_series_of_one_name_the_first_is_opened_and_neither_is_meant_alone() -> None:
    twice = [NewGroup(RowKind.SERIES, 0, "twice", (1, 2)), NewGroup(RowKind.SERIES, 0, "twice", (3, 4)), *GROUPS[1:2]]
    assert [group.members for group in _remove_ungrouped_series(hierarchy(), twice, ["twice"])] == [(3, 4), (3, 4)]
    assert Regrouping(hierarchy(), [*twice, GROUPS[0]], GroupOptions()).series_names() == {"inner"}
