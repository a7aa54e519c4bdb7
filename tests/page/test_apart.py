"""Series that come apart on the page: their rows there, and in the page as it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.page.apart import same_rows
from graphviz_tb.proto import GraphDef
from tests.effort import examples

SEGMENT = st.sampled_from(["", "a", "b", "a_1", "n[2-8]", "(a)", "::"])


def graph(names: list[str]) -> GraphDef:
    """A series n0 ─▶ n1 … ─▶ n8, and ops of some names."""
    made = GraphDef()
    for number in range(9):
        made.node.add(name=f"n{number}", op="Add", input=[f"n{number - 1}"] if number else [])
    for name in names:
        made.node.add(name=name, op="Neg", input=["n2"])
    return made


@examples(50)
@given(st.lists(st.lists(SEGMENT, min_size=2, max_size=4).map("/".join), unique=True, max_size=8))
def test_each_row_of_a_hierarchy_is_itself_in_the_same_hierarchy(names: list[str]) -> None:
    hierarchy = load(graph(names)).hierarchy
    assert same_rows(hierarchy, hierarchy).tolist() == list(range(len(hierarchy)))


def test_a_scope_without_a_name_is_not_the_graph() -> None:
    page = load(graph(["/", "//x", "/x"])).render("html")
    assert page.endswith(b"</html>\n")
