"""How much a report and a picture of a diff show: exactly as many, and one more."""

from __future__ import annotations

import numpy as np
import pytest

from graphviz_tb.api.pipeline import load
from graphviz_tb.diff import diff
from graphviz_tb.diff.match.matching import Reason, node_pairs, scope_pairs
from graphviz_tb.diff.match.numbered import _body_hashes
from graphviz_tb.diff.match.scopes import _ways_between_scopes
from graphviz_tb.diff.picture import merge
from graphviz_tb.diff.picture.merge import Where, _free_name, merge_graphs
from graphviz_tb.diff.picture.overlay import _make_overlay
from graphviz_tb.diff.picture.rows import HOLDS_SIGN, group_signs, row_places, rows_shown
from graphviz_tb.diff.picture.rows import ways_to_changes as groups_to_open
from graphviz_tb.diff.result import Changes
from graphviz_tb.model.change import Change
from graphviz_tb.model.change_content import Unit
from graphviz_tb.model.measure import text_width
from graphviz_tb.model.theme import THEMES
from graphviz_tb.proto import GraphDef
from tests.diff.blocks import SAME, stack
from tests.diff.pairs import copied
from tests.diff.test_causes import graph
from tests.diff.test_limits import library, matching, side
from tests.each import each


def tower(word: str, deep: int, last: str) -> dict[str, list[str]]:
    """Functions that call each other, the last one with an op of its own."""
    inner = {f"{word}{level}": [f"@{word}{level + 1}", "Relu"] for level in range(deep)}
    return {**inner, f"{word}{deep}": [last]}


@pytest.mark.parametrize(("deep", "distinct"), [(7, True), (8, False)])
def test_calls_in_calls_are_distinguished_seven_deep(deep: int, distinct: bool) -> None:
    hashes = _body_hashes(side(library({**tower("a", deep, "Tanh"), **tower("b", deep, "Exp")})))
    assert (hashes[0] != hashes[deep + 1]) == distinct


def test_what_changed_is_marked_through_thirty_two_calls() -> None:
    made = library(tower("f", 40, "Tanh"))
    made.node.add(name="call", op="PartitionedCall").attr["f"].func.name = "f0"
    hierarchy = load(made).hierarchy
    signs, words = ["" for _ in hierarchy.name], dict[int, str]()
    deepest = max(row for row in np.flatnonzero(hierarchy.node >= 0) if hierarchy.name[row].endswith("n0"))
    changed = next(row for row in np.flatnonzero(hierarchy.node >= 0)
                   if hierarchy.graph.op_types[hierarchy.graph.op[hierarchy.node[row]]] == "Tanh")  # fmt: skip
    signs[changed] = "~"
    group_signs(hierarchy, signs, words, {})
    called = [row for row in hierarchy.calls if signs[row] == HOLDS_SIGN]
    assert len(called) == 32
    assert {words[row] for row in called} == {"function changed"}
    assert not signs[0] or deepest


def test_what_is_left_in_a_scope_is_looked_for_at_eight_places() -> None:
    many = 10
    old = graph(*(f"m/op{at} Op{at}" for at in range(many)), "m/free Free")
    new = graph(*(f"s{at}/op{at} Op{at}" for at in range(many)), "m Other")
    m = matching(old, new)
    m.take(scope_pairs([(0, 0)], Reason.NAME))
    m.take(node_pairs([(at, at) for at in range(many)], Reason.NAME))
    assert len(_ways_between_scopes(m)) == 8


@pytest.mark.parametrize(("around", "opened"), [(28, ["a", "b"]), (29, ["a"])])
def test_a_second_place_is_open_where_forty_boxes_are_enough(around: int, opened: list[str]) -> None:
    def made(op: str) -> GraphDef:
        lines = [f"{word * (at + 2)} Op{word}{at}" for at in range(around) for word in "p"]
        lines += [f"{group}/{word} {group}{word}" for group in "ab" for word in ("exp", "log", "sin", "cos")]
        return graph(*lines, f"a/last {op}", f"b/last {op}")

    changes = diff(made("Tanh"), made("Relu"))
    assert [change.place_count for change in changes] == [2]
    assert [box.address for box in changes.picture().scene.boxes if box.open] == opened


@pytest.mark.parametrize(("many", "opened"), [(40, 40), (42, 40)])
def test_one_place_of_forty_changes_is_open(many: int, opened: int) -> None:
    words = [f"{a}{b}{b}" for a in "abcdefg" for b in "hijklm"]
    lines = [f"{word}/{op} {word}{op}" for word in words[:many] for op in ("exp", "log", "sin")]
    old, new = (graph(*lines, *(f"{word}/last {word}{op}" for word in words[:many])) for op in ("Tanh", "Relu"))
    changes = diff(old, new)
    drawn = changes.picture()
    assert len(changes) == many
    assert sum(box.open and box.address in words for box in drawn.scene.boxes) == opened
    left = [notice.message for notice in drawn.notices if notice.code == "closed"]
    assert left == ([] if many == opened else [f"{many - opened} changes in groups that stay closed (--open)"])


def added(many: int) -> Changes:
    """So many ops that came."""
    content = Unit(op_types={"Abs": 1})
    return Changes(tuple(Change("added", "op", None, f"op{at:02}", 1, content) for at in range(many)))


@pytest.mark.parametrize(("many", "folded"), [(20, False), (21, True)])
def test_a_comment_shows_twenty_changes(many: int, folded: bool) -> None:
    comment = added(many).to_markdown()
    assert ("<details>" in comment) == folded
    assert ("\n1 other change\n" in comment) == folded
    assert comment.count("\n- + `op") == many


@pytest.mark.parametrize(("many", "table"), [(3, False), (4, True)])
def test_a_table_of_more_than_three_changes(many: int, table: bool) -> None:
    assert ("| + added | 4 |" in added(many).to_markdown()) == table


@pytest.mark.parametrize(("many", "more"), [(14, 0), (15, 1)])
def test_a_legend_lists_fourteen_changes(many: int, more: int) -> None:
    old = graph("x Placeholder")
    new = graph("x Placeholder", *(f"{chr(97 + at) * 3} Op{at} x" for at in range(many)))
    changes = diff(old, new)
    words = [row.label for row in changes.picture().paint.legend]
    assert len(changes) == many
    assert sum(": op Op" in word for word in words) == 14
    assert [word for word in words if "more changes" in word] == [f"+{more} more changes"] * more


@pytest.mark.parametrize("empty", ["old", "new", "both"])
def test_a_graph_without_nodes(empty: str) -> None:
    # an empty function: a file without anything is refused
    full = graph("a/x Relu", "a/y Tanh a/x")
    old, new = (library({"f": []}) if empty in (word, "both") else full for word in ("old", "new"))
    changes = diff(old, new)
    assert [change.kind for change in changes if change.name == "a"] == {"old": ["added"], "new": ["removed"]}.get(
        empty, []
    )
    assert changes.numbers["ops"] == {"old": (0, 2), "new": (2, 0), "both": (0, 0)}[empty]
    assert changes.same == (empty == "both")


@pytest.mark.parametrize(("deep", "opened"), [(99, 99), (100, 100), (101, 100)])
def test_a_hundred_groups_in_each_other_open(deep: int, opened: int) -> None:
    name = "/".join(["s"] * deep + ["x"])
    changes = diff(graph(f"{name} Relu", "y Abs"), graph(f"{name} Tanh", "y Abs"))
    merged = merge_graphs(changes)
    model = load(merged.graph_def)
    where = row_places(model.hierarchy)
    shown = rows_shown(model.hierarchy, where, merged.shown)
    signs = ["" for _ in model.hierarchy.name]
    assert len(groups_to_open(model.hierarchy, signs, shown, 1000)[0]) == opened


def test_a_name_of_thousands_of_segments_is_measured_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(text: str, size: int) -> float:
        asked.append(len(text))
        return text_width(text, size)

    monkeypatch.setattr(merge, "text_width", counted)
    text = "s/" * 20_000 + "kernel: op Relu → Tanh"
    first, second = merge.wrap_text(text, 300, 11)
    assert first.startswith("…/s/s/")
    assert first.endswith("/s/kernel:")
    assert second == "op Relu → Tanh"
    assert sum(asked) < 20 * len(text)  # without a bound: 10,000 times
    assert all(text_width(line, 11) <= 300 for line in merge.wrap_text("a " * 20_000, 300, 11))


def test_an_old_node_gets_a_name_that_no_other_has() -> None:
    taken, numbers = {("", "x")}, dict[Where, int]()
    for name in ("x (old)", "x (old 2)", "x (old 3)"):
        place = _free_name("", "x", taken, numbers)
        assert place == ("", name)
        taken.add(place)
    assert _free_name("f", "x", taken, numbers) == ("f", "x")
    assert _free_name("", "y", taken, numbers) == ("", "y")


@pytest.mark.parametrize("many", [3, 4])
def test_three_places_of_one_change_are_opened(many: int) -> None:
    def made(alpha: float, inside: str) -> GraphDef:
        lines = [f"{name * 2}{inside} MatMul" for name in "abcd"[:many]]
        whole = graph(*lines)
        for node in whole.node:
            node.attr["alpha"].f = alpha
        return whole

    for inside in ("/op", ""):
        merged = merge_graphs(diff(made(0.5, inside), made(0.25, inside)))
        assert [len(places) for places in merged.shown] == [3]
        assert len(merged.signs) == many


@each(
    ("states", "sign", "whole"),
    [({0}, "", True), ({1}, "+", True), ({2}, "−", True), ({0, 1}, "+", False), ({0, 2}, "−", False),
     ({1, 2}, "~", False), ({0, 1, 2}, "~", False), (set(), "", True)],
)  # fmt: skip
def test_a_line_has_the_sign_of_its_edges(states: set[int], sign: str, whole: bool) -> None:
    changes = diff(graph("x Relu"), graph("x Tanh"))
    hierarchy = load(merge_graphs(changes).graph_def).hierarchy
    tint = _make_overlay(hierarchy, row_places(hierarchy), merge_graphs(changes), changes, THEMES["light"]).line_tint(
        states
    )
    assert (tint is None) == (not sign)
    assert tint is None or (tint.sign, tint.whole, bool(tint.dashes)) == (sign, whole, sign == "−")


def test_a_stack_says_what_changed_as_each_of_its_members_does() -> None:
    old = stack(*[SAME] * 6)
    new = copied(old)
    for node in new.node:
        if node.op == "Relu":
            node.attr["alpha"].f = 0.5
    changes = diff(old, new)
    merged = merge_graphs(changes)
    hierarchy = load(merged.graph_def).hierarchy
    painted = _make_overlay(hierarchy, row_places(hierarchy), merged, changes, THEMES["light"])
    words = {hierarchy.name[row]: said for row, said in painted.words.items() if painted.sign[row]}
    assert [words[name] for name in ("encoder/layer_[0-5]", "encoder/layer_3", "encoder")] == [
        "alpha nothing → 0.5",
        "alpha nothing → 0.5",  # each of the equal blocks says what changed
        "6 changed of 18 ops",
    ]
