"""Which structure gets which hue and shade, on graphs small enough to count by hand."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from graphviz_tb import load
from graphviz_tb.color.colouring import SHADE_COUNT, category_fill, contrast, hue_shades
from graphviz_tb.color.kinds import KIND_WORDS
from graphviz_tb.color.structure import StructureColouring, structure_colouring
from graphviz_tb.model.paths import sole_stack
from graphviz_tb.model.theme import THEMES
from graphviz_tb.proto import GraphDef
from tests.each import each

REAL = Path(__file__).parents[2] / "fixtures" / "real"

OPS = {"a": ("Relu", "Tanh"), "b": ("Exp", "Log"), "c": ("Sin", "Cos"), "d": ("Abs", "Neg"), "e": ("Tan", "Inv")}


def coloured(*scopes: str) -> StructureColouring:
    """A scope for each name: what it holds follows from the letter that its last segment begins with."""
    nodes = []
    for scope in scopes:
        first, second = OPS[scope.rpartition("/")[2][0]]
        nodes.append(f'node {{ name: "{scope}/x" op: "{first}" }}')
        nodes.append(f'node {{ name: "{scope}/y" op: "{second}" input: "{scope}/x" }}')
    model = load("\n".join(nodes).encode(), folds=False, series_min=100)
    return structure_colouring(model.hierarchy, THEMES["light"], model.facts)


def shade(found: StructureColouring, name: str) -> int:
    """The shade of a group among those of its kind's hue."""
    hierarchy = found.hierarchy
    return found.shade[int(hierarchy.template[hierarchy.name.index(name)])] % SHADE_COUNT


def test_structures_of_one_kind_on_one_level_have_different_shades() -> None:
    found = coloured("a1", "a2", "b1", "b2", "c1", "c2")
    assert [shade(found, name) for name in ("a1", "b1", "c1")] == [0, 1, 2]
    assert shade(found, "a1") == shade(found, "a2")


def test_a_shade_comes_back_on_another_level_when_it_is_used_least() -> None:
    # a and b on top; c only inside of p, where a and b are not: shades go round before any is used twice
    found = coloured("a1", "a2", "b1", "b2", "p/c1", "p/c2", "p/d1", "p/d2")
    assert [shade(found, name) for name in ("a1", "b1", "p/c1", "p/d1")] == [0, 1, 2, 3]


def test_no_structure_has_the_shade_of_one_on_a_level_around_it_while_another_is_free() -> None:
    # All four shades are used once when e has its turn; a's would be seen twice when p is open.
    found = coloured("a1", "a2", "q/b1", "q/b2", "q/c1", "q/c2", "q/d1", "q/d2", "p/e1", "p/e2")
    assert [shade(found, name) for name in ("a1", "q/b1", "q/c1", "q/d1", "p/e1")] == [0, 1, 2, 3, 1]
    assert {found.fill_of((found.hierarchy.name.index(name),)).badge for name in ("a1", "q/b1")} == {""}
    assert found.fill_of((found.hierarchy.name.index("p/e1"),)).badge == "B"


def ops(*lines: str) -> str:
    """Nodes in a scope "K", each given as its name, its type and its inputs."""
    texts = []
    for name, kind, *inputs in (line.split() for line in lines):
        fed = " ".join(f'input: "{each if each == "x" else f"K/{each}"}"' for each in inputs)
        texts.append(f'node {{ name: "K/{name}" op: "{kind}" {fed} }}')
    return "\n".join(texts)


WEIGHT = ("w VarHandleOp", "r ReadVariableOp w")
KINDS = {  # a network of a few ops for each kind
    "convolution": ops(*WEIGHT, "c Conv2D x r", "a Relu c"),
    "dense": ops(*WEIGHT, "m MatMul x r", "a Relu m"),
    "embedding": ops(*WEIGHT, "g GatherV2 r x", "a Abs g"),
    "norm": ops("m Mean x", "r Rsqrt m", "o Mul x r"),
    "attention": ops("s BatchMatMulV2 x x", "p Softmax s", "o BatchMatMulV2 p x"),
    "": ops("e Exp x", "l Log e"),
}


def test_a_unique_group_of_layers_of_one_kind_has_their_hue_and_one_of_mixed_parts_is_neutral() -> None:
    def group(name: str, *kinds: str) -> list[str]:
        return [
            KINDS[kind].replace('"K/', f'"{name}/{kind}{number}/').replace('input: "x"', f'input: "x{number}"')
            for number, kind in enumerate(kinds)
        ]

    texts = [*group("alike", "convolution", "convolution"), *group("mixed", "convolution", "dense", "dense")]
    texts += [f'node {{ name: "x{number}" op: "Placeholder" }}' for number in range(3)]
    model = load("\n".join(texts).encode(), folds=False, series_min=100)
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    rows = {name: model.hierarchy.name.index(name) for name in ("alike", "alike/convolution0", "mixed")}
    fills = {name: found.fill_of((row,)).fill for name, row in rows.items()}
    assert fills["alike"] == fills["alike/convolution0"] != fills["mixed"]
    assert found.tooltip_text((rows["alike"],)) == "convolution"
    assert found.tooltip_text((rows["mixed"],)) == ""


def kinds_coloured(theme: str) -> StructureColouring:
    texts = ['node { name: "x" op: "Placeholder" }']
    texts += [text.replace("K/", f"{kind or 'other'}{turn}/") for kind, text in KINDS.items() for turn in (1, 2)]
    model = load("\n".join(texts).encode(), folds=False, series_min=100)
    return structure_colouring(model.hierarchy, THEMES[theme], model.facts)


@each("theme", THEMES)
def test_each_kind_has_its_own_hue_in_every_picture(theme: str) -> None:
    found = kinds_coloured(theme)
    for place, kind in enumerate(KIND_WORDS):
        if kind in KINDS:
            row = found.hierarchy.name.index(f"{kind or 'other'}1")
            assert found.fill_of((row,)).fill == THEMES[theme].hues[place]
            several = {"attention": "attention, 2 like attention1", "norm": "norm, 2 like norm1", "": "2 like other1"}
            assert found.tooltip_text((row,)) == several.get(kind, kind)


@each("theme", THEMES)
def test_every_shade_can_be_read_on_and_is_of_one_hue_alone(theme: str) -> None:
    shades = hue_shades(THEMES[theme])
    assert len(set(shades)) == len(shades) == SHADE_COUNT * len(KIND_WORDS)
    assert min(contrast(THEMES[theme].text, shade) for shade in shades) >= 4.5


def test_what_only_arranges_and_what_mixes_kinds_is_neutral() -> None:
    plain = ops("a Reshape x", "b Transpose a")
    arranging = "".join(plain.replace("K/", f"p{turn}/") for turn in (1, 2))
    mixed = "".join(
        KINDS[kind].replace("K/", f"m{turn}/{kind}/") for kind in ("convolution", "attention") for turn in (1, 2)
    )
    text = 'node { name: "x" op: "Placeholder" }' + arranging + mixed
    model = load(text.encode(), folds=False, series_min=100)
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    hued = {name: found.fill_of((model.hierarchy.name.index(name),)).hued for name in ("p1", "m1", "m1/convolution")}
    assert hued == {"p1": False, "m1": False, "m1/convolution": True}


def test_what_occurs_once_or_is_one_op_has_no_rank() -> None:
    found = coloured("a1", "b1", "b2")
    hierarchy = found.hierarchy
    assert list(found.rank) == [int(hierarchy.template[hierarchy.name.index("b1")])]
    assert found.fill_of((hierarchy.name.index("a1"),)).hued is False


def test_of_two_structures_the_outer_ranks_first_then_that_which_covers_more() -> None:
    # a covers 2 × 2 ops, b 3 × 2 ops, both outermost; c lies deeper and covers 4 × 2
    found = coloured("a1", "a2", "b1", "b2", "b3", "p/c1", "p/c2", "p/c3", "p/c4")
    row = found.hierarchy.name.index
    order = [int(found.hierarchy.template[row(name)]) for name in ("b1", "a1", "p/c1")]
    assert [found.rank[template] for template in order] == [0, 1, 2]


def test_layers_have_one_hue_though_the_initialisers_in_their_scopes_differ() -> None:
    # TensorFlow 1 fills a large slot of an optimizer by an op of its own, a small one by a constant.
    layers = []
    for layer, given, fills in (("fc1", "x", False), ("fc2", "fc1/act", True)):
        slot = f"{layer}/W/Adam"
        zeros = 'op: "Fill" input: "dims" input: "zero"' if fills else 'op: "Const"'
        layers.append(
            f'''node {{ name: "{layer}/W" op: "VarHandleOp" }}
            node {{ name: "{layer}/MatMul/ReadVariableOp" op: "ReadVariableOp" input: "{layer}/W" }}
            node {{ name: "{layer}/MatMul" op: "MatMul" input: "{given}" input: "{layer}/MatMul/ReadVariableOp" }}
            node {{ name: "{layer}/act" op: "Relu" input: "{layer}/MatMul" }}
            node {{ name: "{slot}" op: "VarHandleOp" }}
            node {{ name: "{slot}/zeros" {zeros} }}
            node {{ name: "{slot}/Assign" op: "AssignVariableOp" input: "{slot}" input: "{slot}/zeros" }}'''
        )
    start = 'node { name: "x" op: "Placeholder" } node { name: "dims" op: "Const" } node { name: "zero" op: "Const" }'
    model = load("\n".join([start, *layers]).encode(), folds=False, series_min=100)
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    rows = [model.hierarchy.name.index(name) for name in ("fc1", "fc2")]
    assert len({int(model.hierarchy.template[row]) for row in rows}) == 2
    assert len({found.fill_of((row,)) for row in rows}) == 1
    assert found.fill_of((rows[0],)).hued


def test_a_layer_is_coloured_although_it_is_one_op_or_occurs_once() -> None:
    nodes = [
        'node { name: "x" op: "Placeholder" }',
        'node { name: "fc/w" op: "VariableV2" }',
        'node { name: "fc/MatMul" op: "MatMul" input: "x" input: "fc/w" }',
        'node { name: "relu/Relu" op: "Relu" input: "fc/MatMul" }',
        'node { name: "relu_1/Relu" op: "Relu" input: "relu/Relu" }',
    ]
    model = load("\n".join(nodes).encode())
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    hued = {name: found.fill_of((found.hierarchy.name.index(name),)).hued for name in ("fc", "relu")}
    assert hued == {"fc": True, "relu": False}
    assert [row.label for row in found.legend_rows([(found.hierarchy.name.index("fc"),)])] == ["dense"]


def test_an_op_that_is_a_whole_layer_has_the_hue_of_its_kind() -> None:
    nodes = [
        'node { name: "x" op: "Placeholder" }',
        'node { name: "v1" op: "VariableV2" }',
        'node { name: "v2" op: "VariableV2" }',
        'node { name: "n1" op: "Conv2D" input: "x" input: "v1" }',
        'node { name: "n2" op: "Relu" input: "n1" }',
        'node { name: "n3" op: "MatMul" input: "n2" input: "v2" }',
        'node { name: "n4" op: "MatMul" input: "n3" input: "n3" }',  # without a weight it is no layer
    ]
    model = load("\n".join(nodes).encode(), folds=False)
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    rows = {name: found.hierarchy.name.index(name) for name in ("n1", "n2", "n3", "n4")}
    assert {name: found.fill_of((row,)).hued for name, row in rows.items()} == {
        "n1": True, "n2": False, "n3": True, "n4": False,
    }  # fmt: skip
    assert [row.label for row in found.legend_rows([(row,) for row in rows.values()])] == ["convolution", "dense"]


def test_an_op_that_is_a_layer_has_its_hue_beside_many_structures() -> None:
    nodes = ['node { name: "x" op: "Placeholder" }', 'node { name: "v" op: "VariableV2" }']
    nodes += [f'node {{ name: "s{at}/x" op: "Op{at}" input: "x" }}' for at in range(300)]
    nodes.append('node { name: "n" op: "MatMul" input: "x" input: "v" }')
    model = load("\n".join(nodes).encode(), folds=False, series_min=1000)
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    assert found.fill_of((model.hierarchy.name.index("n"),)).hued


def stage(projected: Collection[int]) -> bytes:
    """x ─▶ stage/b0 ─▶ … ─▶ stage/b3, of which some have a projection; stage holds nothing else."""
    nodes, source = ['node { name: "x" op: "Placeholder" }'], "x"
    for block in range(4):
        scope = f"stage/b{block}"
        skip = f"{scope}/shortcut" if block in projected else source
        shortcut = f'node {{ name: "{skip}" op: "Conv2D" input: "{source}" input: "x" }}'
        nodes += [
            f'node {{ name: "{scope}/conv" op: "Conv2D" input: "{source}" input: "x" }}',
            f'node {{ name: "{scope}/relu" op: "Relu" input: "{scope}/conv" }}',
            *([shortcut] if block in projected else []),
            f'node {{ name: "{scope}/add" op: "AddV2" input: "{scope}/relu" input: "{skip}" }}',
        ]
        source = f"{scope}/add"
    return "\n".join(nodes).encode()


def test_a_stack_has_the_hue_of_its_members_although_the_first_is_unlike() -> None:
    model = load(stage({0}))
    found, names = structure_colouring(model.hierarchy, THEMES["light"], model.facts), model.hierarchy.name
    fills = [found.fill_of((names.index(name),)) for name in ("stage", "stage/b1", "stage/b3")]
    assert fills[0].hued
    assert len(set(fills)) == 1


def test_a_printed_stack_of_unlike_members_has_the_hue_of_their_kind() -> None:
    model = load(stage({0, 2}))
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    stack = (model.hierarchy.name.index("stage"),)
    assert sole_stack(model.hierarchy, stack[0]) > 0
    assert not found.fill_of(stack).hued  # they are not one structure
    printed = found.for_print()
    assert printed.fill_of(stack).hued
    assert [row.label for row in printed.legend_rows([stack])] == [printed.tooltip_text(stack)] == ["convolution"]


def test_layers_have_their_hues_where_the_file_has_no_parameters() -> None:
    def node(name: str, op: str, *inputs: str) -> dict[str, object]:
        return {"name": name, "op": op, "input": list(inputs), "attr": {"_output_shapes": {"list": {"shape": [{}]}}}}

    nodes = [
        node("ids", "IO Node"),
        node("n1", "aten::embedding", "ids"),
        node("n2", "aten::linear", "n1"),
        node("n3", "aten::relu", "n2"),
        node("n4", "aten::layer_norm", "n3"),
        node("y", "IO Node", "n4"),
    ]
    model = load(GraphDef(node=nodes), folds=False)
    assert model.hierarchy.graph.lacks_weight_shapes
    found, names = structure_colouring(model.hierarchy, THEMES["light"], model.facts), model.hierarchy.name
    rows = [(names.index(name),) for name in ("n1", "n2", "n3", "n4")]
    assert [found.tooltip_text(row) for row in rows] == ["embedding", "dense", "", "norm"]


def block(name: str, source: str) -> list[dict[str, object]]:
    """Two dense layers, one behind the other, in a scope; its last op is `name`/b/act."""
    nodes: list[dict[str, object]] = []
    for layer in ("a", "b"):
        scope = f"{name}/{layer}"
        nodes.append({"name": f"{scope}/w", "op": "VariableV2"})
        nodes.append({"name": f"{scope}/MatMul", "op": "MatMul", "input": [source, f"{scope}/w"]})
        nodes.append({"name": f"{scope}/act", "op": "Relu", "input": [f"{scope}/MatMul"]})
        source = f"{scope}/act"
    return nodes


def test_a_legend_names_the_outermost_group_of_a_structure() -> None:
    nodes: list[dict[str, object]] = [{"name": "x", "op": "Placeholder"}]
    last = "x"
    for name in ("deep/inner/fc_1", "deep/inner/fc_2", "head"):
        nodes += block(name, last)
        last = f"{name}/b/act"
    model = load(GraphDef(node=nodes))
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    assert [row.label for row in found.legend_rows([(model.hierarchy.name.index("head"),)])] == ["dense, 3 like head"]


def test_single_layers_of_a_kind_have_one_shade_and_no_letter_and_blocks_of_them_another() -> None:
    # x ─▶ three dense layers, each with another activation or none ─▶ two blocks of two dense layers
    nodes: list[dict[str, object]] = [{"name": "x", "op": "Placeholder"}]
    last = "x"
    for name, act in (("one", "Relu"), ("two", "Tanh"), ("three", "")):
        nodes.append({"name": f"{name}/w", "op": "VariableV2"})
        nodes.append({"name": f"{name}/MatMul", "op": "MatMul", "input": [last, f"{name}/w"]})
        last = f"{name}/MatMul"
        if act:
            nodes.append({"name": f"{name}/act", "op": act, "input": [last]})
            last = f"{name}/act"
    for name in ("first", "second"):
        nodes += block(name, last)
        last = f"{name}/b/act"
    model = load(GraphDef(node=nodes), folds=False)
    found, names = structure_colouring(model.hierarchy, THEMES["light"], model.facts), model.hierarchy.name
    fills = {
        name: found.fill_of((names.index(name),)) for name in ("one", "two", "three", "first/a", "first", "second")
    }
    assert {fills[name] for name in ("two", "three", "first/a")} == {fills["one"]}
    assert fills["one"].fill == THEMES["light"].hues[KIND_WORDS.index("dense")]
    assert fills["first"] == fills["second"] != fills["one"]
    assert not any(fill.badge for fill in fills.values())
    assert found.tooltip_text((names.index("two"),)) == "dense"


def test_no_two_of_28_categories_share_a_colour() -> None:
    for theme in THEMES.values():
        fills = [category_fill(rank, theme) for rank in range(29)]
        assert len({fill.fill for fill in fills[:28]}) == 28
        assert {fill.badge for fill in fills[:28]} == {""}
        assert (fills[28].fill, bool(fills[28].badge)) == (fills[0].fill, True)


def test_tables_of_one_group_have_the_hue_of_tables_though_the_group_occurs_once() -> None:
    tables = "".join(KINDS["embedding"].replace("K/", f"once/{name}/") for name in ("tokens", "places"))
    text = 'node { name: "x" op: "Placeholder" }' + tables
    model = load(text.encode(), folds=False, series_min=100)
    found = structure_colouring(model.hierarchy, THEMES["light"], model.facts)
    template = found.template_of(model.hierarchy.name.index("once"))
    assert KIND_WORDS[found.shade[template] // SHADE_COUNT] == "embedding"


def test_a_product_with_vectors_of_a_single_one_is_a_table() -> None:
    nodes = [
        {"name": "ids", "op": "Placeholder"},
        {"name": "kind/one_hot", "op": "OneHot", "input": ["ids"]},
        {"name": "kind/table", "op": "VariableV2"},
        {"name": "kind/MatMul", "op": "MatMul", "input": ["kind/one_hot", "kind/table"]},
        {"name": "fc/w", "op": "VariableV2"},
        {"name": "fc/MatMul", "op": "MatMul", "input": ["kind/MatMul", "fc/w"]},
        {"name": "fc/act", "op": "Relu", "input": ["fc/MatMul"]},
    ]
    model = load(GraphDef(node=nodes), folds=False)
    found, names = structure_colouring(model.hierarchy, THEMES["light"], model.facts), model.hierarchy.name
    assert found.tooltip_text((names.index("kind"),)) == "embedding"
    assert found.tooltip_text((names.index("fc"),)) == "dense"
