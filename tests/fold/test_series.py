"""Numbered names: which siblings are one stack, and what it is called."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import graphviz_tb
import graphviz_tb.fold.series as series_of
from graphviz_tb.api.pipeline import Model
from graphviz_tb.errors import UnknownNode
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.options import GroupOptions
from graphviz_tb.proto import GraphDef
from tests.each import each

Rule = Callable[..., Model]


def series(model: Model) -> dict[str, list[str]]:
    """The members of every series."""
    hierarchy = model.hierarchy
    return {
        hierarchy.name[row]: [hierarchy.name[child] for child in hierarchy.children(row)]
        for row in range(len(hierarchy))
        if hierarchy.kind[row] == RowKind.SERIES
    }


def relus(*names: str, op: str = "Relu") -> GraphDef:
    """x ─▶ each of `names`"""
    nodes = [{"name": name, "op": op, "input": ["x"]} for name in names]
    return GraphDef(node=[{"name": "x", "op": "Placeholder"}, *nodes])


@each(
    ("name", "wanted"),
    [
        ("series_bare", {"foo[0-4]": 5}),
        ("series_underscore", {"foo_[0-4]": 5}),
        ("series_bare_goes_to_the_longer", {"foo[0-6]": 7, "foo_[1-5]": 5}),
        ("series_bare_on_a_tie", {"foo_[0-5]": 6, "foo[1-5]": 5}),
        ("series_zero_is_taken", {"foo_[0-4]": 5}),
        ("series_connected", {"step_[0-4]": 5}),
        ("series_digits_in_prefix", {"conv2d_[0-4]": 5, "block1_conv[1-5]": 5}),
        ("series_gap", {"n_[0-4]": 5, "n_[6-10]": 5}),
        ("series_too_few", {"b_[0-4]": 5}),
        ("series_two_types", {"m_[0-4]": 5, "m_[5-9]": 5, "m_[10-14]": 5}),
        ("scopes_equal", {"layer_[0-5]": 6}),
        ("scopes_odd_one_out", {"layer_[0-4]": 5, "layer_[6-10]": 5}),
    ],
)
def test_the_rules(rule: Rule, name: str, wanted: dict[str, int]) -> None:
    assert {name: len(members) for name, members in series(rule(name)).items()} == wanted


def test_leading_zeros_are_read_as_the_number(rule: Rule) -> None:
    # n_007 … n_011        m_1, m_01, m_2 … m_6: two members with one number end the run
    found = series(rule("series_leading_zeros"))
    assert found.pop("n_[7-11]") == ["n_007", "n_008", "n_009", "n_010", "n_011"]
    ((name, members),) = found.items()
    assert name.startswith("m_[")
    assert {"m_2", "m_3", "m_4", "m_5", "m_6"} <= set(members)
    assert len({int(member[2:]) for member in members}) == len(members)


def test_the_bare_name_stays_outside_where_zero_is_taken(rule: Rule) -> None:
    model = rule("series_zero_is_taken")
    assert "foo" in [model.hierarchy.name[row] for row in model.metagraph().children]


def test_members_that_feed_each_other_are_connected(rule: Rule) -> None:
    for name, wanted in (("series_connected", 1), ("series_underscore", 0)):
        hierarchy = rule(name).hierarchy
        (row,) = (row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES)
        assert hierarchy.connected[row] == wanted


def test_scopes_that_differ_stand_between_two_stacks(rule: Rule) -> None:
    model = rule("scopes_odd_one_out")
    hierarchy = model.hierarchy
    assert [hierarchy.name[row] for row in model.metagraph().children] == ["layer_[0-4]", "layer_5", "layer_[6-10]"]
    template = {int(hierarchy.template[hierarchy.name.index(f"layer_{at}")]) for at in range(11) if at != 5}
    assert len(template) == 1
    assert int(hierarchy.template[hierarchy.name.index("layer_5")]) not in template


@pytest.mark.parametrize("least", [2, 4, 5, 6])
def test_the_least_number_of_members(rule: Rule, least: int) -> None:
    # a_0 … a_3, b_0 … b_4
    wanted = {name for name, count in (("a_[0-3]", 4), ("b_[0-4]", 5)) if count >= least}
    assert series(rule("series_too_few", series_min=least)).keys() == wanted


def test_ten_thousand_members() -> None:
    model = graphviz_tb.load(relus(*(f"n_{at}" for at in range(10_000))))
    assert list(series(model)) == ["n_[0-9999]"]
    hierarchy = model.hierarchy
    assert max(len(hierarchy.children(row)) for row in range(len(hierarchy))) <= 40


def test_members_may_differ_in_attributes() -> None:
    graph = relus(*(f"n_{at}" for at in range(6)))
    for at, node in enumerate(graph.node):
        node.attr["alpha"].f = at
    assert list(series(graphviz_tb.load(graph))) == ["n_[0-5]"]


def test_one_inner_node_splits_a_run_of_scopes() -> None:
    # layer_0 … layer_11: {a ─▶ b}, but layer_6 has c too
    graph = GraphDef()
    for at in range(12):
        graph.node.add(name=f"layer_{at}/a", op="A")
        graph.node.add(name=f"layer_{at}/b", op="B", input=[f"layer_{at}/a"])
    graph.node.add(name="layer_6/c", op="C")
    found = series(graphviz_tb.load(graph))
    assert {name: len(members) for name, members in found.items()} == {"layer_[0-5]": 6, "layer_[7-11]": 5}


def test_the_order_of_the_file_does_not_matter() -> None:
    names = [f"n_{at}" for at in range(7)]
    assert series(graphviz_tb.load(relus(*names[::-1]))) == {"n_[0-6]": names[::-1]} or series(
        graphviz_tb.load(relus(*names[::-1]))
    ) == {"n_[0-6]": names}


def test_series_inside_scopes_bear_the_name_of_the_scope() -> None:
    assert list(series(graphviz_tb.load(relus(*(f"a/b/n_{at}" for at in range(5)))))) == ["a/b/n_[0-4]"]


def test_ungroup_shows_the_members() -> None:
    # by the name of the series, or of a member
    for name in ("n_[0-4]", "n_3"):
        model = graphviz_tb.load(relus(*(f"n_{at}" for at in range(5))), ungroup=(name,))
        assert not series(model)
    with pytest.raises(UnknownNode, match=r"nearest: 'n_\[0-4\]'"):
        graphviz_tb.load(relus(*(f"n_{at}" for at in range(5))), ungroup=("n_[0-5]",))


def test_group_makes_a_short_series() -> None:
    graph = relus(*(f"s/n_{at}" for at in range(4)))
    assert not series(graphviz_tb.load(graph))
    assert series(graphviz_tb.load(graph, group=("s/n_[1-3]",))) == {"s/n_[1-3]": ["s/n_1", "s/n_2", "s/n_3"]}
    with pytest.raises(UnknownNode, match=r"nearest: 's/n_\[0-3\]'"):
        graphviz_tb.load(graph, group=("s/m_[0-3]",))


def test_tensorboard_folds_neither_scopes_nor_its_own_spelling(rule: Rule) -> None:
    assert not series(rule("scopes_equal", preset="tensorboard"))
    assert not series(rule("series_underscore", preset="tensorboard"))
    assert series(rule("series_too_few", preset="tensorboard")).keys() == {"b_[0-4]"}


def test_numbers_in_brackets_are_numbers_of_modules() -> None:
    """PyTorch: blocks of one structure, called by their class and number."""
    nodes = [{"name": f"net/Block[{at}]/relu", "op": "Relu", "input": ["x"]} for at in range(6)]
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, {"name": "net/y", "op": "Add"}, *nodes])
    wanted = [f"net/Block[{at}]" for at in range(6)]
    assert series(graphviz_tb.load(graph)) == {"net/Block[0-5]": wanted}
    assert series(graphviz_tb.load(graph, series_min=9, group=("net/Block[1-3]",))) == {"net/Block[1-3]": wanted[1:4]}
    assert series(graphviz_tb.load(graph, preset="tensorboard")) == {}


@each(
    ("numbers", "underscored", "found"),
    [
        (range(1, 6), range(2, 10), {"foo[0-5]": 6, "foo_[2-9]": 8}),  # foo_ has no number 1
        (range(2, 7), range(0), {"foo[2-6]": 5}),
        (range(5), range(1, 6), {"foo[0-4]": 5, "foo_[0-5]": 6}),  # the bare name is number 0 of the other
        (range(5), range(0), {"foo[0-4]": 5}),
        (range(1, 7), range(1, 6), {"foo[0-6]": 7, "foo_[1-5]": 5}),
        (range(1, 6), range(1, 6), {"foo_[0-5]": 6, "foo[1-5]": 5}),
    ],
)
def test_a_bare_name_begins_the_longest_run_that_has_a_number_one(
    numbers: range, underscored: range, found: dict[str, int]
) -> None:
    names = ["foo", *(f"foo{at}" for at in numbers), *(f"foo_{at}" for at in underscored)]
    made = series(graphviz_tb.load(relus(*names)))
    assert {name: len(members) for name, members in made.items()} == found


def test_a_run_that_is_asked_for_may_have_two_members_and_no_fewer() -> None:
    graph = relus(*(f"s/n_{at}" for at in range(4)))
    assert series(graphviz_tb.load(graph, group=("s/n_[2-3]",))) == {"s/n_[2-3]": ["s/n_2", "s/n_3"]}
    for name in ("s/n_[3-3]", "s/n_[3-9]", "t/n_[0-3]", "s/n_2"):
        with pytest.raises(UnknownNode):
            graphviz_tb.load(graph, group=(name,))


def test_a_level_is_numbered_once_for_all_runs_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    # x ─▶ y0 … y39, s/z0, s/z1        of 20 runs of one level, and one of another
    graph = relus(*(f"y{number}" for number in range(40)), "s/z0", "s/z1")
    levels: list[int] = []
    by_prefix = series_of._numbered_rows_by_affixes

    def counted(hierarchy: Hierarchy, rows: list[int], options: GroupOptions) -> object:
        levels.append(len(rows))
        return by_prefix(hierarchy, rows, options)

    monkeypatch.setattr(series_of, "_numbered_rows_by_affixes", counted)
    asked = [f"y[{first}-{first + 1}]" for first in range(0, 40, 2)]
    model = graphviz_tb.load(graph, group=[*asked, "s/z[0-1]"], series_min=99, folds=False)
    assert list(series(model)) == [*asked, "s/z[0-1]"]
    assert levels == [1 + 40 + 1, 2]
