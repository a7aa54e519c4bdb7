"""Which groups a picture opens, and what the closed boxes show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.api.layout import _is_legible
from graphviz_tb.api.outline import outline_model
from graphviz_tb.api.pipeline import Model, Picture
from graphviz_tb.api.sheet_columns import SheetTarget
from graphviz_tb.errors import UnknownNode
from graphviz_tb.model.paths import path_address
from graphviz_tb.options import PictureOptions
from graphviz_tb.page.build import page_data
from graphviz_tb.proto import GraphDef
from graphviz_tb.render.close_frame import drawn_size
from graphviz_tb.search.names import _with_program_names
from tests.each import each
from tests.effort import part

Rule = Callable[..., Model]
REAL = sorted((Path(__file__).parents[2] / "fixtures/real").iterdir())
FEWEST, MOST = 8, 40


def closed(picture: Picture) -> set[str]:
    """Addresses of the boxes that are not open."""
    return {box.address for box in picture.scene.boxes if not box.open}


def opened(picture: Picture) -> set[str]:
    return {box.address for box in picture.scene.boxes if box.open}


def test_chains_of_single_scopes_are_opened(rule: Rule) -> None:
    # x ─▶ outer/middle/inner/{a ─▶ b} ─▶ y
    picture = rule("single_child_chain").picture()
    assert closed(picture) == {"x", "y", "outer/middle/inner/a", "outer/middle/inner/b"}


def test_scopes_that_hold_nothing_but_one_another_are_one_frame(rule: Rule) -> None:
    # x ─▶ outer/middle/inner/{a ─▶ b} ─▶ y
    model = rule("single_child_chain")
    first = model.picture()
    names = ("outer", "outer/middle", "outer/middle/inner", "outer/middle/inner/b")
    for picture in (first, *(model.picture(open=(name,)) for name in names), model.picture(open_all=True)):
        (frame,) = [box for box in picture.scene.boxes if box.open]
        assert (frame.address, frame.title) == ("outer", "outer/middle/inner · 2 ops")
        assert closed(picture) == closed(first)
    for name in names[:3]:  # each is chosen by its address
        assert model.picture(select=(name,)).caption.select == ("outer",)
    # two levels deep, the last is a box in the frame of the others
    shallow = model.picture(depth=2)
    assert opened(shallow) == {"outer"}
    assert closed(shallow) == {"x", "y", "outer/middle/inner"}
    groups = [(group.label, group.address) for group in outline_model(model)]
    assert groups == [("", ""), ("outer/middle/inner", "outer")]


def test_with_the_preset_of_tensorboard_each_scope_has_its_frame(rule: Rule) -> None:
    # x ─▶ outer/middle/inner/{a ─▶ b} ─▶ y
    model = rule("single_child_chain", preset="tensorboard")
    frames = {"outer", "outer/middle", "outer/middle/inner"}
    for choices in ({"open": ("outer/middle/inner",)}, {"open_all": True}):
        assert opened(model.picture(**choices)) == frames
    assert opened(model.picture(open=("outer",))) == {"outer"}


def test_all_parts_are_drawn(rule: Rule) -> None:
    # a ─▶ b        c ─▶ d ─▶ e        f        g
    assert closed(rule("separate_parts").picture()) == set("abcdefg")


@each("path", part(REAL, 3), ids=lambda path: path.name)
def test_the_first_picture_has_8_to_40_boxes(path: Path) -> None:
    """Fewer only where everything is open, or what repeats is; stubs, marks and the auxiliary area do not count."""
    model = graphviz_tb.load(path)
    picture = model.picture()
    boxes = [box for box in picture.scene.boxes if box.area == "main"]
    assert len(boxes) <= MOST
    around = {box.parent for box in picture.scene.boxes if box.area != "main"}
    shut = [box for box in boxes if not box.open and box.openable]
    if len([box for box in boxes if not box.open]) < FEWEST:
        assert not shut or around or len(boxes) >= FEWEST or any(box.open and box.sheets for box in boxes)


@each("path", part(REAL, 3), ids=lambda path: path.name)
def test_the_names_of_a_first_picture_are_legible_on_a_screen(path: Path) -> None:
    """Names of 11 px are at least 6 where the sheet, with title and legend, is fitted to 1440 × 840."""
    sheet = graphviz_tb.load(path).picture().drawing
    assert 11 * min(1440 / sheet.width, 840 / sheet.height) >= 6


def high(groups: int = 3) -> Model:
    """x ─▶ g0 ─▶ g1 ─▶ g2 …, each with a stack of six layers between three ops before and four after."""
    nodes: list[dict[str, object]] = [{"name": "x", "op": "P"}]
    for group in range(groups):
        single = [(f"s{n}", f"S{group}{n}") for n in range(7)]
        layers = [(f"l_{layer}/n{n}", f"T{group}{n}") for layer in range(6) for n in range(4)]
        for name, op in (*single[:3], *layers, *single[3:]):
            nodes.append({"name": f"g{group}/{name}", "op": op, "input": [str(nodes[-1]["name"])]})
    return graphviz_tb.load(GraphDef(node=nodes), folds=False)


def test_of_a_first_picture_too_high_to_be_read_the_groups_opened_last_stay_closed() -> None:
    model = high(5)
    whole, first = model.picture(depth=1).scene, model.picture().scene
    assert not _is_legible(drawn_size(whole), 8, SheetTarget())
    assert _is_legible(drawn_size(first), 8, SheetTarget())
    assert opened(model.picture()) == {"g0"}
    head, _ = page_data(model, PictureOptions())
    assert len(head["open"]) == 1


def test_the_group_opened_first_stays_open_however_high_the_picture_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphviz_tb.api.layout._is_legible", lambda size, least, target: False)
    assert opened(high().picture()) == {"g0"}


def test_stages_of_a_u_are_closed() -> None:
    def stage(name: str, *inputs: str) -> str:
        nodes, last = [], " ".join(f'input: "{one}"' for one in inputs)
        for number in (1, 2):
            conv = f"{name}/conv{number}"
            nodes.append(f'node {{ name: "{conv}/w" op: "VariableV2" }}')
            nodes.append(f'node {{ name: "{conv}/Conv2D" op: "Conv2D" {last} input: "{conv}/w" }}')
            for step, before in (("BiasAdd", "Conv2D"), ("Relu", "BiasAdd")):
                nodes.append(f'node {{ name: "{conv}/{step}" op: "{step}" input: "{conv}/{before}" }}')
            last = f'input: "{conv}/Relu"'
        return "".join([*nodes, f'node {{ name: "{name}/pool" op: "Pool_{name}" {last} }}'])

    down = [stage(f"down{at}", f"down{at - 1}/pool" if at else "image") for at in range(4)]
    up = [stage(f"up{at}", f"up{at - 1}/pool" if at else "bottom/pool", f"down{3 - at}/conv2/Relu") for at in range(4)]
    text = f'node {{ name: "image" op: "Placeholder" }} {"".join(down)} {stage("bottom", "down3/pool")} {"".join(up)}'
    scene = graphviz_tb.load(text.encode()).picture().scene
    stages = {box.address: box for box in scene.boxes if box.address.startswith(("down", "up"))}
    assert set(stages) == {f"{leg}{at}" for leg in ("down", "up") for at in range(4)}
    for at in range(4):
        left, right = stages[f"down{at}"], stages[f"up{3 - at}"]
        assert left.y == right.y
        assert not left.open
        assert not right.open


@pytest.mark.parametrize(
    ("width", "height", "legible"),
    # names of 11 px are 8 where 1440 × 840 px show 11/8 as much; 48 and 96 px are margins and title
    [(1930, 9, True), (1931, 9, False), (9, 1057, True), (9, 1058, False)],
)
def test_names_of_eight_pixels_are_legible(width: int, height: int, legible: bool) -> None:
    assert _is_legible((width, height), 8, SheetTarget()) is legible


def test_names_in_the_code_reach_through_series() -> None:
    # vision_1: l_0 ─▶ … ─▶ l_3, equal layers of two ops
    nodes = [
        {"name": f"vision_1/l_{layer}/{op}", "op": op, "input": [f"vision_1/l_{layer - 1}/Tanh"] if layer else []}
        for layer in range(4)
        for op in ("Exp", "Tanh")
    ]
    hierarchy = graphviz_tb.load(GraphDef(node=nodes), folds=False).hierarchy
    assert _with_program_names(hierarchy) is None
    called = _with_program_names(replace(hierarchy, labels={hierarchy.name.index("vision_1"): "vision"}))
    assert called is not None
    assert called.name == [name.replace("vision_1", "vision") for name in hierarchy.name]


def test_depth_opens_levels(rule: Rule) -> None:
    # a/b/c/x ─▶ a/b/d/y ─▶ a/e/z ─▶ f/g/w
    model = rule("bridges")
    assert closed(model.picture(depth=0)) == {"a", "f"}
    assert closed(model.picture(depth=1)) == {"a/b", "a/e", "f/g"}
    assert closed(model.picture(depth=2)) == {"a/b/c", "a/b/d", "a/e/z", "f/g/w"}
    assert closed(model.picture(depth=9)) == closed(model.picture(open_all=True)) == {
        "a/b/c/x", "a/b/d/y", "a/e/z", "f/g/w",
    }  # fmt: skip


def test_a_name_opens_what_is_around_it(rule: Rule) -> None:
    model = rule("bridges")
    assert opened(model.picture(open=("a/b/c",))) == {"a", "a/b", "a/b/c"}
    assert opened(model.picture(open=("a/b/c/x",))) == {"a", "a/b", "a/b/c"}  # an op is made visible
    assert opened(model.picture(open=("f", "a/e"))) == {"f", "a", "a/e"}


def test_patterns(rule: Rule) -> None:
    model = rule("bridges")
    assert opened(model.picture(open=("*",))) == {"a", "f"}
    assert opened(model.picture(open=("a/*",))) == {"a", "a/b", "a/e"}
    assert opened(model.picture(open=("a/b/?",))) == {"a", "a/b", "a/b/c", "a/b/d"}
    assert opened(model.picture(open=("**",))) == {"a", "a/b", "a/b/c", "a/b/d", "a/e", "f"}  # f/g in its frame
    with pytest.raises(UnknownNode):
        model.picture(open=("z*",))


def test_brackets_and_stars_in_names_are_literal(rule: Rule) -> None:
    series = rule("series_gap")
    assert opened(series.picture(open=("n_[0-4]",))) == {"n_[0-4]"}
    # a name with a star is itself first
    model = graphviz_tb.load(GraphDef(node=[{"name": "s*/a", "op": "A"}, {"name": "st/b", "op": "B"}]))
    assert opened(model.picture(open=("s*",))) == {"s*"}


def test_calls_open_by_address(rule: Rule) -> None:
    # first and second call  double: in ─▶ twice
    model = rule("function_call")
    assert closed(model.picture(open=("first",))) == {"x", "second", "y", "first::in", "first::twice"}
    # loop has cond: i ─▶ less, and body: i ─▶ add
    model = rule("function_two_bodies")
    picture = model.picture(open=("loop::cond", "loop::body"))
    assert {"loop::cond/less", "loop::body/add", "loop::cond/i", "loop::body/i"} <= closed(picture)


def test_what_is_in_one_of_several_functions_of_a_call_is_found_below_its_word() -> None:
    # loop has cond c: i ─▶ s/less, and body b: i ─▶ s/add ─▶ t/next
    def function(name: str, *nodes: tuple[str, str, str]) -> dict[str, object]:
        return {
            "signature": {"name": name, "input_arg": [{"name": "i"}], "output_arg": [{"name": "o"}]},
            "node_def": [{"name": one, "op": op, "input": [source]} for one, op, source in nodes],
            "ret": {"o": f"{nodes[-1][0]}:z:0"},
        }

    graph = GraphDef(
        node=[
            {"name": "x", "op": "Placeholder"},
            {
                "name": "loop",
                "op": "While",
                "input": ["x"],
                "attr": {"cond": {"func": {"name": "c"}}, "body": {"func": {"name": "b"}}},
            },
            {"name": "cond", "op": "Relu", "input": ["x"]},
        ],
        library={
            "function": [
                function("c", ("s/less", "Less", "i")),
                function("b", ("s/add", "Add", "i"), ("t/next", "Add", "s/add:z:0")),
            ]
        },
    )
    model = graphviz_tb.load(graph, folds=False)
    hierarchy = model.hierarchy

    def found(pattern: str) -> set[str]:
        return {path_address(hierarchy, path) for path in model.names.find_paths(pattern)}

    assert found("loop::cond") == {"loop::cond"}
    assert found("loop::body/s") == {"loop::body/s"}
    assert found("loop::c*") == {"loop::cond"}
    assert found("loop::*/s") == {"loop::cond/s", "loop::body/s"}
    assert found("loop::body/*") == {"loop::body/s", "loop::body/t"}
    assert found("loop::**") >= {"loop::cond", "loop::body", "loop::cond/s", "loop::body/t"}
    assert found("cond") == {"cond"}
    assert found("c") == {"c"}
    for wrong, nearest in (("loop::bodi", "loop::body"), ("loop::cond/t", "loop::cond/s"), ("conds", "cond")):
        with pytest.raises(UnknownNode, match=nearest):
            model.names.find_paths(wrong)


def test_recursion_opens_once_on_its_own_path(rule: Rule) -> None:
    # call: in ─▶ again (calls itself)
    model = rule("function_recursive")
    assert opened(model.picture(open_all=True)) == {"call"}
    assert opened(model.picture(open=("call::again",))) == {"call", "call::again"}
    assert "∞" in " ".join(text.content for text in model.picture(depth=0).scene.texts)


def test_open_all_stops_at_the_limit() -> None:
    model = graphviz_tb.load(REAL[0].parent / "mnist_cnn.pbtxt")
    picture = model.picture(open_all=True, max_open=100)
    assert len(picture.scene.boxes) <= 100
    assert [notice.code for notice in picture.notices] == ["max-open"]
    assert not model.picture(open_all=True, max_open=100_000).notices


def test_no_picture_opens_more_than_ten_thousand_boxes() -> None:
    """With `--max-open 1000000`, 50,000 ops in scopes 12 levels deep took a minute."""
    text = "".join(f'node{{name:"s{n}/{op}" op:"{op}"}}' for n in range(900) for op in "ABCDEFGHIJKL")
    model = graphviz_tb.load(text.encode())
    picture = model.picture(open_all=True, max_open=1_000_000)
    assert 9_000 < len(picture.scene.boxes) <= 10_000
    assert ["the most of any picture" in notice.message for notice in picture.notices if notice.code == "max-open"] == [
        True
    ]


def test_a_literal_double_colon_is_doubled(rule: Rule) -> None:
    picture = rule("names_to_escape").picture(open_all=True)
    assert "a::::b" in closed(picture)
    assert rule("names_to_escape").names.find_paths("a::::b") == rule("names_to_escape").names.find_paths("a::b")


def test_functions_that_nobody_calls_are_listed() -> None:
    # x        f: a
    graph = GraphDef(node=[{"name": "x", "op": "A"}])
    graph.library.function.add().signature.name = "f"
    graph.library.function[0].node_def.add(name="a", op="A")
    picture = graphviz_tb.load(graph).picture()
    assert [(box.address, box.area) for box in picture.scene.boxes] == [("x", "main"), ("f", "functions")]


@pytest.mark.parametrize(("limit", "groups", "codes"), [(5, {"a", "f"}, []), (4, {"a"}, ["max-open"])])
def test_a_pattern_opens_groups_up_to_the_limit(rule: Rule, limit: int, groups: set[str], codes: list[str]) -> None:
    # a/… and f/…: two boxes, two more in a, one more in f
    picture = rule("bridges").picture(open=("*",), max_open=limit)
    assert opened(picture) == groups
    assert [notice.code for notice in picture.notices] == codes


def test_one_group_that_is_named_opens_whatever_the_limit(rule: Rule) -> None:
    assert opened(rule("bridges").picture(open=("a/b/c",), max_open=1)) == {"a", "a/b", "a/b/c"}


def test_what_is_in_a_function_that_nobody_calls_is_found_behind_its_name() -> None:
    # x        f: s/a ─▶ s/b
    graph = GraphDef(node=[{"name": "x", "op": "A"}, {"name": "y", "op": "B", "input": ["x"]}])
    function = graph.library.function.add()
    function.signature.name = "f"
    function.node_def.add(name="s/a", op="A")
    function.node_def.add(name="s/b", op="B", input=["s/a:z:0"])
    model = graphviz_tb.load(graph, folds=False)

    def found(pattern: str) -> list[str]:
        return [path_address(model.hierarchy, path) for path in model.names.find_paths(pattern)]

    assert found("f") == ["f"]
    assert found("f::s") == ["f::s"]
    assert found("f::s/b") == ["f::s/b"]
    assert found("f::*") == ["f::s"]
    with pytest.raises(UnknownNode, match="nearest: 'f::s/"):
        model.names.find_paths("f::s/c")


def test_a_pattern_that_finds_nothing_names_what_is_like_its_last_word() -> None:
    model = graphviz_tb.load(GraphDef(node=[{"name": "net/decoder_0/self_att/MatMul", "op": "MatMul"}]))
    with pytest.raises(UnknownNode, match="nearest: 'net/decoder_0/self_att'"):
        model.picture(open=("**/zelf_att",))
