"""The merged picture: what stands in it, what its legend says."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from graphviz_tb.api.pipeline import load
from graphviz_tb.diff import diff
from graphviz_tb.diff.picture.merge import merge_graphs
from graphviz_tb.diff.picture.overlay import DARK, LIGHT, _make_overlay
from graphviz_tb.diff.picture.rows import row_places
from graphviz_tb.model.theme import THEMES
from graphviz_tb.proto import GraphDef
from tests.diff.blocks import ODD, SAME, stack
from tests.diff.pairs import FIXTURES, REAL, chain, copied, graph_def, renamed
from tests.diff.test_causes import graph as ops
from tests.diff.test_promised import dense
from tests.each import each
from tests.effort import part
from tests.flat import flatten

OLD, NEW = stack(*[SAME] * 6), stack(*[SAME] * 3, ODD, *[SAME] * 2)


def test_both_graphs_are_in_the_merged_one() -> None:
    changes = diff(OLD, NEW)
    merged = merge_graphs(changes)
    names = [node.name for node in merged.graph_def.node]
    assert set(names) >= {node.name for node in NEW.node}
    assert len(names) == len(set(names))
    gone = [name for (_, name), sign in merged.signs.items() if sign == "−"]
    assert len(names) == len(NEW.node) + len(gone)
    assert {notice.code for notice in flatten(merged.graph_def).notices} <= {"input-count"}  # of the small graphs


def test_colours_do_not_fold_the_graph_again() -> None:
    changes = diff(OLD, NEW)
    model = load(merge_graphs(changes).graph_def)
    painter = _make_overlay(
        model.hierarchy, row_places(model.hierarchy), merge_graphs(changes), changes, THEMES["light"]
    )
    assert model.with_colouring(painter).hierarchy is model.hierarchy


@each("path", part([path for path in REAL if not path.stem.startswith("odd")][::5], 3), ids=lambda path: path.stem)
def test_any_pair_is_drawn_and_well_formed(path: object) -> None:
    changes = diff(graph_def(REAL[3]), graph_def(path))  # type: ignore[arg-type]
    ElementTree.fromstring(changes.picture().render("svg"))
    ElementTree.fromstring(changes.inverse().picture().render("svg"))


@pytest.mark.parametrize(("theme", "colours"), [("light", LIGHT), ("dark", DARK)])
def test_signs_and_colours(theme: str, colours: dict[str, str]) -> None:
    told = diff(OLD, NEW).picture(theme=theme).render("svg").decode()  # type: ignore[arg-type]
    assert colours["+"] in told
    assert "What changed" in told
    assert "encoder/layer_3" in told


def test_the_way_to_a_change_is_open_and_the_rest_closed() -> None:
    graph = graph_def(next(path for path in REAL if path.stem == "mnist_cnn"))
    new = graph_def(next(path for path in REAL if path.stem == "mnist_cnn"))
    node = next(node for node in new.node if node.op == "Conv2D")
    node.attr["strides"].list.i[1] = 3
    scene = diff(graph, new).picture().scene
    assert [box.address for box in scene.boxes if box.open] == ["conv[1-2]", "conv1", "conv1/Wx_plus_b"]
    assert node.name in [box.address for box in scene.boxes]


def test_what_is_gone_is_dashed_and_what_moved_is_dotted() -> None:
    told = diff(chain("A", "B", "C"), chain("A", "B")).picture().render("svg").decode()
    assert 'stroke-dasharray="6 3"' in told
    assert LIGHT["−"] in told
    told = diff(OLD, renamed(OLD, lambda name: name.replace("layer_2", "special"))).picture().render("svg").decode()
    assert 'stroke-dasharray="1 3"' in told


def test_no_change_is_a_plain_picture() -> None:
    told = diff(OLD, OLD).picture().render("svg").decode()
    assert LIGHT["+"] not in told
    assert "unchanged" in told


def test_a_rewired_input_is_drawn_as_gone_and_as_new() -> None:
    old, new = chain("A", "B", "C", "D"), chain("A", "B", "C", "D")
    new.node[3].input[0] = "n1"
    told = diff(old, new).picture()
    states = {route.title: tint for route, tint in zip(told.scene.routes, told.paint.tints.routes, strict=True)}
    signs = {title.partition(":")[0]: tint.sign for title, tint in states.items() if tint}
    assert signs == {"n2 → n3": "−", "n1 → n3": "+"}


def test_a_constant_that_replaces_a_wire_is_new_at_its_stub() -> None:
    old, new = chain("A", "B", "C"), chain("A", "B", "C")
    for graph in (old, new):
        graph.node.add(name="k", op="Const")
        graph.node[1].input.append("k")
    new.node[2].input[0] = "k"
    told = diff(old, new).picture()
    stubs = zip(told.scene.stubs, told.paint.tints.stubs, strict=True)
    tints = {told.scene.boxes[one.box].address: tint for one, tint in stubs}
    assert tints["n1"] is None
    assert tints["n2"].sign == "+"


def test_a_bundle_of_which_a_part_changed_has_a_band() -> None:
    old = GraphDef(
        node=[{"name": "a", "op": "A"}, *({"name": f"g/{at}x", "op": "B", "input": ["a"]} for at in range(3))]
    )
    new = copied(old)
    new.node[3].input[0] = "g/0x"
    told = diff(old, new).picture(open=("",))
    (tint,) = filter(None, told.paint.tints.routes)
    assert (tint.sign, tint.whole) == ("−", False)


def second_lines(told: object) -> dict[str, str]:
    """The second lines of closed boxes, by address."""
    scene = told.scene  # type: ignore[attr-defined]
    return {scene.boxes[text.box].address: text.content for text in scene.texts if text.role == "second"}


def test_a_renamed_node_says_what_it_was() -> None:
    old = chain("A", "B", "C", names=("x", "s/kernel", "s/add"))
    told = diff(old, renamed(old, lambda name: name.replace("kernel", "other"))).picture()
    assert second_lines(told)["s/other"] == "was kernel"


def test_what_moved_is_seen_and_says_where_from() -> None:
    old = chain(*"ABCDE", names=("x", "a/in/p", "a/in/q", "a/in/r", "a/y"))
    told = diff(old, renamed(old, lambda name: name.replace("a/in/", "elsewhere/in/"))).picture()
    assert [box.address for box in told.scene.boxes if box.open] == ["elsewhere"]
    assert second_lines(told)["elsewhere/in"] == "from a"
    assert any("3 moved of 3 ops" in box.title for box in told.scene.boxes if box.open)


def test_a_group_that_holds_a_change_bears_no_sign() -> None:
    old, new = stack(SAME, SAME), stack(SAME, SAME)
    next(node for node in new.node if node.op == "Relu").op = "Tanh"
    told = diff(old, new).picture()
    assert not any(fill.sign for box, fill in zip(told.scene.boxes, told.paint.boxes, strict=True) if box.open)
    assert "something in it changed" in told.render("svg").decode()


def test_title_and_verdict() -> None:
    told = diff(chain("A", "B"), chain("A", "C")).picture().render("svg").decode()
    assert ">old → new<" in told
    assert "n1: B → C · 2 ops" in told


def many_layers(*ops: str) -> GraphDef:
    """Twelve equal layers of some ops, one after the other."""
    made = GraphDef(node=[{"name": "x", "op": "Placeholder"}])
    for number in range(12):
        for op in ops:
            made.node.add(name=f"net/layer_{number}/{op}", op=op, input=[made.node[-1].name])
    return made


def test_many_layers_with_one_change_are_one_box_that_says_it() -> None:
    told = diff(many_layers("MatMul", "BiasAdd", "Relu"), many_layers("MatMul", "BiasAdd", "Tanh", "Relu")).picture()
    assert "+ Tanh" in [text.full for text in told.scene.texts]
    assert sum("layer" in box.title for box in told.scene.boxes) == 1


def test_another_optimizer_is_said_at_its_group() -> None:
    edits = FIXTURES / "edits"
    told = diff(edits / "base.train.pb", edits / "sgd.train.pb").picture()
    signed = [box for box, fill in zip(told.scene.boxes, told.paint.boxes, strict=True) if fill.sign == "~"]
    assert len(signed) == 1
    assert told.render("svg").decode().count("optimizer adam → sgd") >= 2  # at its box, and in the legend


def test_names_can_be_read_on_a_screen() -> None:
    # twelve blocks of ops, of half of them the activation is another: all of them open would be a very long sheet
    ops = ("MatMul", "BiasAdd", "Mul", "Exp")
    words = ["Tanh", "Elu", "Selu", "Sigmoid", "Softsign", "Relu6"]
    old = stack(*[(*ops, "Relu")] * 12)
    new = stack(*[block for word in words for block in ((*ops, "Relu"), (*ops, word))])
    scene = diff(old, new).picture().scene
    assert 7 * max(scene.width / 1600, scene.height / 1000) <= 12


def test_what_no_op_says_is_said_at_the_layer() -> None:
    drawn = diff(dense(16, 10), dense(24, 10)).picture()
    told = drawn.render("svg").decode()
    assert "units 16 → 24" in told
    (box,) = [box for box in drawn.scene.boxes if box.address == "m/dense_0"]
    assert not box.open


def test_an_op_is_marked_whose_constant_changed() -> None:
    def made(axis: int) -> GraphDef:
        whole = ops("x Placeholder", "m/axis Const", "m/Sum Sum x m/axis", "m/Relu Relu m/Sum")
        tensor = whole.node[1].attr["value"].tensor
        tensor.Clear()
        tensor.dtype = whole.node[1].attr["dtype"].type = 3
        tensor.int_val.append(axis)
        return whole

    drawn = diff(made(0), made(1)).picture()
    assert second_lines(drawn)["m/Sum"] == "axis 0 → 1"
    assert [box.address for box in drawn.scene.boxes if box.open] == ["m"]


def test_a_way_too_long_for_a_screen_is_open_all_the_same() -> None:
    # x ─▶ m/a/long/op_0 ─▶ … ─▶ m/a/long/op_39: the last one goes, and 40 ops in a row are too many for a screen
    names = [f"m/a/long/{'xyz'[at % 3]}{'abcd'[at % 4]}{'efghi'[at % 5]}" for at in range(40)]
    types = [f"Op{at}" for at in range(40)]
    old, new = chain(*types, names=tuple(names)), chain(*types[:-1], names=tuple(names[:-1]))
    drawn = diff(old, new).picture()
    assert names[-1] in [box.address for box in drawn.scene.boxes]


def test_shapes_are_those_of_the_new_graph_and_count_no_input_that_is_gone() -> None:
    drawn = diff(joined_and_packed("Relu"), joined_and_packed("Elu")).picture()
    shapes = drawn.model.shapes()
    assert (shapes["packed", 0], shapes["joined", 0]) == ((3, 4), (12,))
    assert "3×4" in drawn.render("svg").decode()


def joined_and_packed(op: str) -> bytes:
    """Three ops between a vector of 4 and an op that packs them, and one that joins them."""
    parts = " ".join(f'input: "each/{op}_{at}"' for at in range(3))
    count = 'attr { key: "N" value { i: 3 } }'
    return "\n".join(
        [
            'node { name: "x" op: "Placeholder" attr { key: "shape" value { shape { dim { size: 4 } } } } }',
            *(f'node {{ name: "each/{op}_{at}" op: "{op}" input: "x" }}' for at in range(3)),
            f'node {{ name: "packed" op: "Pack" {parts} {count} }}',
            'node { name: "axis" op: "Const" attr { key: "value" value { tensor { dtype: 3 int_val: 0 } } } }',
            f'node {{ name: "joined" op: "ConcatV2" {parts} input: "axis" {count} }}',
            'node { name: "y" op: "Neg" input: "packed" }',
            'node { name: "z" op: "Neg" input: "joined" }',
        ]
    ).encode()


def test_two_calls_of_one_name_that_are_both_open() -> None:
    """What comes into one of them has a number that nothing in the other has."""
    new = GraphDef()
    function = new.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a")
    function.node_def.add(name="y", op="Relu", input=["a"])
    old = copied(new)
    old.node.add(name="c", op="Case", input=["x"])
    for _ in range(2):
        call = new.node.add(name="c", op="Case", input=["between"])
        for _ in range(2):
            call.attr["branches"].list.func.add(name="f")
    drawn = diff(old, new).picture()
    assert drawn.render("svg")
    assert all(route.identity.path for route in drawn.scene.routes)


@pytest.mark.parametrize("suffix", ["svg", "html"])
def test_a_scope_without_a_name_is_not_the_whole_graph(suffix: str) -> None:
    nodes = {"//a": [], "//b": ["//a"], "//c": ["//b"], "x": ["//c"], "y": ["x"]}
    old = GraphDef(node=[{"name": name, "op": "Neg", "input": inputs} for name, inputs in nodes.items()])
    new = copied(old)
    new.node.add(name="//d", op="Exp", input=["//c"])
    drawn = diff(old, new).picture(open=("\\",))
    assert drawn.render(suffix)
    around = {(route.identity.group, route.identity.path) for route in drawn.scene.routes}
    assert {("", (0,)), ("\\", (1,))} <= around
