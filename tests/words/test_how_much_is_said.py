"""Words have an end: so many names in a tooltip, so many pixels beside a line or a box, and not one more."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.model.formatting import format_count
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.model.metagraph import Annotation, Metaedge, bundle_of_tensors
from graphviz_tb.model.tensors import Tensor
from graphviz_tb.model.view import NodeLabel, View
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.level import NOTE_NAME_PX, _box_tooltip, _build_note, _stub_words, model_counts, stack_label
from graphviz_tb.words.line_labels import _line_label, describe_line, drawn_label
from graphviz_tb.words.view import NodeLabels

EXPORTED = Path(__file__).resolve().parents[2] / "fixtures/exported"
NAMES = 40  # of a tooltip
PLACES = [f"{'long' * many}{'x' * more}" for many, more in product(range(1, 9), range(12))]


def view(*nodes: dict[str, Any], aux: tuple[str, ...] = (), **choices: Any) -> View:
    graph = GraphDef(node=nodes)
    return load(graph, aux=aux, folds=False, series_min=1000).picture(**choices).view


def ops(count: int, *more: str) -> list[dict[str, Any]]:
    """Ops behind each other; each reads `more` too."""
    before = [[], *([f"n{number}"] for number in range(count - 1))]
    return [{"name": f"n{at}", "op": f"Op{at % 7}", "input": [*more, *reads]} for at, reads in enumerate(before)]


def test_a_title_says_that_its_number_of_parameters_is_a_bound() -> None:
    for name, sign in (("dlrm.script", "≥ "), ("gpt.dynamo", "≥ "), ("t5.script", "≈ "), ("t5.dynamo", "")):
        model = load(EXPORTED / f"{name}.onnx.gz")
        said = model_counts(model.hierarchy, model.facts.weights())
        assert said.endswith(f"ops · {sign}{format_count(model.parameters)} parameters"), name


@pytest.mark.parametrize(("projected", "said"), [(False, "3 ops each"), (True, "16 ops in all")])
def test_a_stack_counts_the_ops_of_each_member_where_all_hold_equally_many(projected: bool, said: str) -> None:
    nodes: list[dict[str, Any]] = [{"name": "x", "op": "Placeholder"}]
    for at in range(5):
        last = nodes[-1]["name"]
        nodes.append({"name": f"b_{at}/conv", "op": "Conv2D", "input": [last]})
        nodes.append({"name": f"b_{at}/relu", "op": "Relu", "input": [f"b_{at}/conv"]})
        beside = last
        if projected and not at:
            nodes.append({"name": (beside := "b_0/project"), "op": "Conv2D", "input": [last]})
        nodes.append({"name": f"b_{at}/add", "op": "Add", "input": [f"b_{at}/relu", beside]})
    hierarchy = load(GraphDef(node=nodes)).hierarchy
    stack = hierarchy.name.index("b_[0-4]")
    assert NodeLabels(hierarchy, lambda path: None).node_label((stack,)).second == said


@pytest.mark.parametrize(
    ("member", "said"),
    [
        (NodeLabel(2, "", "scope", "a", "", "20 ops"), "20 ops each"),
        (NodeLabel(2, "", "scope", "a", "", "seen in all shards"), "seen in all shards each"),
        (NodeLabel(2, "", "series", "a_[0-2]", "", "5 ops each", "×3"), "5 ops each"),
        (NodeLabel(2, "", "series", "a_[0-2]", "", "3 ops", "×3", member="op"), "3 ops each"),
        (NodeLabel(2, "", "series", "a", "", "Sequential", "×3", about="Sequential · 2 layers"), "Sequential each"),
    ],
)
def test_a_stack_says_each_unless_its_member_counts_the_ops_of_each_of_its_own(member: NodeLabel, said: str) -> None:
    node = NodeLabel(1, "", "series", "b_[0-3]", "", "80 ops", "×4", connected=True)
    assert stack_label(node, None, member, -1, 4).second == said


@pytest.mark.parametrize("count", [NAMES, NAMES + 1])
def test_a_note_names_forty_boxes(count: int) -> None:
    found = view({"name": "hub", "op": "Placeholder"}, *ops(count, "hub"), aux=("hub",))
    (said,) = found.words.notes
    assert said.content == "all boxes ← hub"
    assert said.full == f"hub → {', '.join(f'n{at}' for at in range(NAMES))}"


@pytest.mark.parametrize("count", [NAMES, NAMES + 1])
def test_the_rest_of_the_stubs_names_forty(count: int) -> None:
    constants = [{"name": f"c{at}", "op": "Const"} for at in range(count + 2)]
    pack = {"name": "pack", "op": "Pack", "input": [node["name"] for node in constants]}
    (stubs, *_) = view(
        *constants, pack, {"name": "b", "op": "Relu", "input": ["pack"]}, max_annotations=2
    ).words.incoming
    assert [each.label for each in stubs] == ["c0", "c1", f"+{count}"]
    assert stubs[-1].title == f"{count} more: {', '.join(f'c{at}' for at in range(2, 2 + NAMES))}"


@pytest.mark.parametrize("count", [NAMES, NAMES + 1])
def test_a_port_of_many_names_forty(count: int) -> None:
    sources = [{"name": f"c{at}", "op": "Placeholder"} for at in range(count + 8)]
    pack = {"name": "g/pack", "op": "Pack", "input": [node["name"] for node in sources]}
    found = view(*sources, pack, {"name": "g/b", "op": "Relu", "input": ["g/pack"]}, open=("g",))
    (inner,) = found.opened.values()
    assert max(words.count(", ") for words in inner.words.ports) == NAMES - 1


@pytest.mark.parametrize("count", [NAMES, NAMES + 1])
def test_the_title_of_an_open_group_names_forty_links(count: int) -> None:
    group = NodeLabel(1, "g", "scope", "g", "g", "2 ops", "")
    assert _box_tooltip(group, [f"c{at}" for at in range(count)]).endswith(
        f"linked with {', '.join(f'c{at}' for at in range(NAMES))}"
    )


@pytest.mark.parametrize(("count", "end"), [(6, ")"), (7, "; …)")])
def test_a_line_names_six_tensors(count: int, end: str) -> None:
    shapes = [f"[{at}] int32" for at in range(6)]
    said = describe_line(
        Metaedge(0, 1, count, 0, 0, bundle_of_tensors(*(Tensor((at,), "int32") for at in range(count)))), "a", "b"
    )
    assert said == f"a → b: {count} tensors ({'; '.join(shapes)}{end}"


def test_a_label_beside_a_line_is_at_most_120_px_wide() -> None:
    edges = [
        Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor(dims, "float32"))) for dims in product((1, 28, 1024), repeat=5)
    ]
    types = [f"{name}{'i' * more}" for name in PLACES for more in range(4)]
    edges += [Metaedge(0, 1, 1, 0, 0, bundle_of_tensors(Tensor((9, 111), name))) for name in types]
    whole = [edge for edge in edges if text_width(_line_label(edge), SMALL_FONT_PX) <= 120]
    assert {text_width(_line_label(edge), SMALL_FONT_PX) for edge in edges} >= {119, 120, 121}
    assert all(drawn_label(edge) == _line_label(edge) for edge in whole)
    assert all(text_width(drawn_label(edge), SMALL_FONT_PX) <= 120 for edge in edges)


@pytest.mark.parametrize("kind", ["constant", "weight"])
def test_a_label_beside_a_box_is_at_most_100_px_wide(kind: Any) -> None:
    names = dict(enumerate(PLACES))
    said = {name: _stub_words(0, Annotation(0, "in", row, kind), names, {}).label for row, name in names.items()}
    assert {text_width(name, SMALL_FONT_PX) for name in names.values()} >= {100, 101}
    assert all((text_width(name, SMALL_FONT_PX) <= 100) == (words == name) for name, words in said.items())
    assert all(text_width(words, SMALL_FONT_PX) <= 100 for words in said.values())


def test_a_weight_that_is_used_often_keeps_its_shape_where_there_is_no_room_for_both() -> None:
    for name in PLACES:
        words = f"{name} 3×3 (2 uses)"
        said = _stub_words(0, Annotation(0, "in", 1, "weight"), {1: words}, {1: words})
        assert (said.label == words) == (text_width(words, SMALL_FONT_PX) <= 100)
        assert said.title == (f"{words} (weight)" if said.label == words else f"{words} (weight, 2 uses)")
    words = "w" * 30 + " (2 uses)"
    assert _stub_words(0, Annotation(0, "in", 1, "constant"), {1: words}, {1: words}).title == f"{words} (constant)"


def test_the_name_in_a_note_is_at_most_160_px_wide() -> None:
    found = view({"name": "hub", "op": "Placeholder"}, *ops(9, "hub"), aux=("hub",))
    room = 0
    for many in range(1, 60):
        said = _build_note(replace(found, names={1: "i" * many}, labels={}), "in", 1, [], 0).content.removeprefix(
            "all boxes ← "
        )
        assert (said == "i" * many) == (text_width("i" * many, SMALL_FONT_PX) <= NOTE_NAME_PX)
        room = max(room, text_width(said, SMALL_FONT_PX))
    assert room <= 160


@pytest.mark.parametrize(
    ("edges", "control", "said"), [(1, False, ""), (2, False, ", 2 edges"), (3, True, ", 3 edges, control")]
)
def test_a_stub_counts_its_edges_where_they_are_several(edges: int, control: bool, said: str) -> None:
    found = _stub_words(0, Annotation(0, "in", 1, "shortcut", edges=edges, control=control), {1: "a/b"}, {})
    assert (found.label, found.title) == ("b", f"a/b (linked{said})")


@pytest.mark.parametrize(
    ("stack", "member", "said"),
    [
        ("3×3, 64", "3×3, 64", "3×3, 64 each"),
        ("→ 256, 128, 64", "3×3, 256", "→ 256, 128, 64"),  # not true of each
        ("2 layers · 1.2 M each", "2 layers · 1.2 M", "2 layers · 1.2 M each"),
        ("7 layers · 1.2 M", "3×3, 64", "7 layers · 1.2 M"),
    ],
)
def test_an_open_stack_says_of_each_member_only_what_all_share(stack: str, member: str, said: str) -> None:
    node = NodeLabel(1, "", "series", "b_[0-3]", "", stack, "×4", connected=True)
    assert stack_label(node, None, NodeLabel(2, "", "scope", "b_0", "", member), -1, 4).second == said
