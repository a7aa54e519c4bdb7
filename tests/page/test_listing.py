"""What the list of changes of a page calls nodes."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.page.listing import Listing
from graphviz_tb.proto import GraphDef


def graph(*names: str) -> GraphDef:
    """Ops of these names, without edges."""
    return GraphDef(node=[{"name": name, "op": "NoOp"} for name in names])


@pytest.mark.parametrize("name", ["//d", "/d", "//", "a//d", "a/", "a//", "a///d", "/", "a/d"])
def test_nodes_of_scopes_without_a_name_keep_their_names(name: str) -> None:
    listing = Listing(load(graph("b/c", name)), ())
    assert listing.as_drawn(f"{name}: op NoOp → Elu") == f"{name}: op NoOp → Elu"


def test_groups_of_series_and_folds_are_not_in_names() -> None:
    names = [f"a//x_{number}" for number in range(6)]
    assert Listing(load(graph(*names)), ()).as_drawn(names[3]) == names[3]
