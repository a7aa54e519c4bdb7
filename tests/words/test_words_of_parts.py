"""What is said of a group whose parts have words: what they share, what repeats, gates, several ends, windows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphviz_tb import load
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.block import Block
from graphviz_tb.words.block_words import block_words
from graphviz_tb.words.paper import PaperWords
from graphviz_tb.words.shared_words import counted_words, shared_words
from graphviz_tb.words.step_words import LayerStep, worded_step
from graphviz_tb.words.view import NodeLabels
from tests.each import each
from tests.words.test_paper_words import IMAGE, numbers, product, weight, words
from tests.words.test_paper_words import convolution as convolution_of


def convolution(word: str, takes: int = 32, gives: int = 32) -> LayerStep:
    return worded_step("convolution", word.split(", "), takes, gives)


def fed(*sources: tuple[int, ...]) -> dict[int, frozenset[int]]:
    """The steps before each step."""
    return {number: frozenset(before) for number, before in enumerate(sources)}


TANH, SIGMOID = LayerStep("activation", "tanh"), LayerStep("activation", "sigmoid")


@each(
    ("lines", "said"),
    [
        (["1×1 96, dw 3×3 /2, SE 4, 1×1 24", "1×1 144, dw 3×3, SE 6, 1×1 24"], "1×1, dw 3×3, SE, 1×1 24"),
        (["3×3, 8", "3×3, 16", "3×3, 16, /2"], ""),  # the step of the last would be hidden
        (["2, 32", "2, 32, d2", "2, 32, d4", "2, 32"], "2 32 d1…4"),
        (["3×3, 8 · ReLU", "3×3, 16 · ReLU"], "3×3"),
        (["gated 2 32 d2, 1 32", "gated 2 32 d4, 1 32", "gated 2 32 d8"], "gated 2 32 d2…8, 1 32"),
        (["→ 96", "→ 48"], ""),
        (["3×3 8, 3×3 8", "3×3 8"], ""),
    ],
)
def test_alike_members_say_what_they_share(lines: list[str], said: str) -> None:
    assert shared_words(lines) == said


@each(
    ("parts", "said"),
    [
        (["3×3 96, 3×3 96"] * 2, "2 × (3×3 96, 3×3 96)"),
        (["1×1 256", *["1×1 128", "3×3 32"] * 12], "12 × (1×1 128, 3×3 32)"),
        (["→ 96", *["12 heads × 8", "w 7", "96 → 384 → 96", "GELU"] * 6], "6 × (12 heads × 8, w 7)"),
        (["3×3 64", "5×5 64"], "3×3 64, 5×5 64"),
        (["4 heads × 24", "3×3 96", "3×3 96"], "4 heads × 24, 3×3 96, 3×3 96"),  # attention is not what comes first
        (["16 heads × 32", "3×3 512 /2", "3×3 512", "+ → 512"], "16 heads × 32, 3×3 512 /2, 3×3 512"),
        (["3×3 64"], ""),
        (["→ 48", "→ 48", "48 → 48", "48 → 48"], "→ 48, → 48, 48 → 48, 48 → 48"),  # four of one size
        ([f"{size}×{size} 1024" for size in range(1, 12)], ""),  # no room
    ],
)
def test_parts_in_turn_that_repeat_are_counted(parts: list[str], said: str) -> None:
    assert counted_words(parts) == said


def test_two_convolutions_that_gate_each_other_are_one_step() -> None:
    steps = convolution("k2, 32, d4"), convolution("k2, 32, d4"), TANH, SIGMOID, convolution("k1, 32")
    pair = frozenset([frozenset([0]), frozenset([1])])
    before = {0: frozenset[int](), 1: frozenset[int](), 4: frozenset([0, 1])}
    assert block_words(Block(steps, before, multiplies=(pair,))) == "gated k2 32 d4, k1 32"
    assert block_words(Block(steps, before)) != "gated k2 32 d4, k1 32"


def test_a_convolution_whose_halves_gate_each_other_says_half_its_channels() -> None:
    steps = convolution("k3, 64", 32, 64), TANH, SIGMOID, convolution("k1, 32")
    before = {0: frozenset[int](), 3: frozenset([0])}
    assert block_words(Block(steps, before, multiplies=(frozenset([frozenset([0])]),))) == "gated k3 32, k1 32"


def test_several_ends_of_one_layer_are_said_beside_each_other() -> None:
    steps = convolution("3×3, 256"), convolution("1×1, 3"), convolution("1×1, 12")
    assert block_words(Block(steps, fed((), (0,), (0,)))) == "3×3 256, 1×1 3 | 1×1 12"


def test_dense_ends_of_one_layer_are_said_beside_each_other() -> None:
    steps = LayerStep("dense", "→ 64", 96, 64), *[LayerStep("dense", f"→ {size}", 64, size) for size in (91, 364)]
    assert block_words(Block(steps, fed((), (0,), (0,)))) == "96 → 64 → 91 | 364"
    assert block_words(Block(steps[1:], fed((), ()))) is None


def test_a_feed_forward_block_beside_attention_is_said_behind_it() -> None:
    """Of what both take its layers come first: there are fewer ops before them."""
    query, key, value, up, down, output = [
        LayerStep("dense", f"→ {size}", 64, size) for size in (64, 64, 64, 256, 64, 64)
    ]
    scores, weighed = LayerStep("product", ""), LayerStep("product", "")
    softmax, bend = LayerStep("activation", "softmax"), LayerStep("activation", "GELU")
    steps = query, key, value, up, bend, replace(down, in_width=256), scores, softmax, weighed, output
    before = fed((), (), (), (), (), (3,), (0, 1), (), (2, 6), (8,))
    assert block_words(Block(steps, before, split=((4, 16),))) == "4 heads × 16, 64 → 256 → 64, GELU"


@each(("tokens", "said"), [(12, "4 heads × 12"), (196, None)])
def test_heads_that_no_layer_makes_are_not_said(tokens: int, said: str | None) -> None:
    """Attention to channels, as in XCiT (El-Nouby et al. 2021): the last axis of its queries is that of positions."""
    joined, output = [LayerStep("dense", f"→ {size}", 48, size) for size in (144, 48)]
    scores, weighed = [LayerStep("product", "", heads=(4, tokens)) for _ in range(2)]
    steps = joined, scores, LayerStep("activation", "softmax"), weighed, output
    assert block_words(Block(steps, fed((), (0,), (), (0, 1), (3,)))) == said


def test_what_a_pyramid_enlarges_and_adds_is_said_behind_its_layers() -> None:
    steps = convolution("1×1, 256"), LayerStep("pool", "↑2 nearest"), convolution("3×3, 256")
    assert block_words(Block(steps, fed((), (), (0, 1)))) == "1×1 256, 3×3 256, + ↑2 nearest"
    assert block_words(Block(steps, fed((), (0,), (1,)))) == "1×1 256, ↑2 nearest, 3×3 256"


def test_layers_that_do_not_feed_each_other_are_said_beside_each_other() -> None:
    steps = convolution("3×3, 256"), convolution("1×1, 256")
    assert block_words(Block(steps, fed((), ()))) == "3×3 256 | 1×1 256"


def test_parallel_tables_say_their_least_and_most_rows() -> None:
    nodes: list[dict[str, object]] = [IMAGE]
    for place, size in enumerate((1000, 30000, 2000, 500, 700, 9000)):
        name = f"table_{place}"
        nodes += [weight(f"{name}/rows", size, 16), numbers(f"{name}/axis", 0)]
        nodes += [{"name": f"{name}/look", "op": "GatherV2", "input": [f"{name}/rows", "image", f"{name}/axis"]}]
        nodes += [{"name": f"{name}/{kind}", "op": kind, "input": [f"{name}/look"]} for kind in ("Tanh", "Elu")]
    assert words(*nodes)["table_[0-5]"] == "500…30\u2009000 × 16"


def test_ops_side_by_side_say_what_each_is() -> None:
    nodes = [node for place in range(6) for node in product(f"dense_{place}", "image", 8, 64)]
    assert words(IMAGE, *nodes)["dense_[0-5]"] == "→ 64"


def test_a_stack_says_the_parts_of_one_member_in_turn() -> None:
    """Its number of members is in its name."""
    nodes: list[dict[str, object]] = [IMAGE]
    source, takes = "image", 64
    for place in range(5):
        block = f"block_{place}"
        for part in "ab":
            nodes += convolution_of(f"{block}/{part}", source, 3, 3, takes, 96)
            source, takes = f"{block}/{part}/Relu", 96
        inner = attention(-1, 49, 3, 12, 8)
        for node in [*reshape("att/windows", source, -1, 96), *inner, *reshape("att/image", "att/mixed", -1, 8, 8, 96)]:
            inputs = [name if name == source else f"{block}/{name}" for name in node.get("input", [])]  # type: ignore[attr-defined]
            nodes.append({**node, "name": f"{block}/{node['name']}", "input": inputs})
        source = f"{block}/att/image"
    assert words(*nodes)["block_[0-4]"] == "3×3 96, 3×3 96, 12 heads × 8"


def test_a_dense_layer_beside_convolutions_is_added_and_no_projection() -> None:
    # 3×3 ─▶ + ─▶ 3×3          and a step of time to +
    steps = convolution("3×3, 32"), LayerStep("dense", "→ 32", 128, 32), convolution("3×3, 32")
    assert block_words(Block(steps, fed((), (), (0, 1)))) == "3×3 32, 3×3 32, + → 32"


def attention_of(*widths: int) -> str | None:
    """The words of attention of 24 heads of 8, with dense layers of some widths before it."""
    layers = [LayerStep("dense", f"→ {width}", 192, width) for width in widths]
    scores = LayerStep("product", "", heads=(24, 8)), LayerStep("activation", "softmax"), LayerStep("product", "")
    steps = (*layers, *scores)
    before = {number: frozenset[int]() for number, step in enumerate(steps) if step.kind in ("dense", "product")}
    return block_words(Block(steps, before))


def test_keys_and_values_have_fewer_heads_only_where_both_are_narrower() -> None:
    assert attention_of(192, 24, 24) == "24 heads, 3 kv × 8"
    assert attention_of(384, 24, 192) == "24 heads × 8"  # 24: of a bias for each position


def reshape(name: str, source: str, *sizes: int) -> list[dict[str, object]]:
    return [numbers(f"{name}_sizes", *sizes), {"name": name, "op": "Reshape", "input": [source, f"{name}_sizes"]}]


def attention(*query_sizes: int) -> list[dict[str, object]]:
    nodes = [*product("att/qkv", "att/windows", 96, 288), *reshape("att/split", "att/qkv", *query_sizes)]
    nodes += [
        {"name": "att/scores", "op": "BatchMatMulV2", "input": ["att/split", "att/split"]},
        {"name": "att/weights", "op": "Softmax", "input": ["att/scores"]},
        {"name": "att/mixed", "op": "BatchMatMulV2", "input": ["att/weights", "att/split"]},
    ]
    return nodes


def test_attention_in_windows_says_their_side() -> None:
    cut = reshape("att/windows", "image", -1, 8, 7, 8, 7, 96)
    back = reshape("att/image", "att/mixed", -1, 8, 8, 7, 7, 96)
    assert words(IMAGE, *cut, *attention(-1, 49, 3, 12, 8), *back)["att"] == "12 heads × 8, w 7"
    other = reshape("att/image", "att/mixed", -1, 8, 8, 14, 14, 96)
    assert words(IMAGE, *cut, *attention(-1, 49, 3, 12, 8), *other)["att"] == "12 heads × 8"


def test_a_size_of_heads_that_a_reshape_leaves_open_comes_from_the_layer_before_it() -> None:
    cut = reshape("att/windows", "image", -1, 96)
    assert words(IMAGE, *cut, *attention(-1, 49, 3, 12, -1))["att"] == "12 heads × 8"


def test_a_kernel_whose_axes_a_reshape_joins_is_one_of_a_dense_layer_with_heads() -> None:
    kernel = [weight("kernel", 192, 3, 64), *reshape("flat", "kernel", 192, 192)]
    multiply: dict[str, object] = {"name": "queries", "op": "BatchMatMulV2", "input": ["image", "flat"]}
    assert words(IMAGE, *kernel, multiply)["queries"] == "→ 3×64"


def variable(name: str, *shape: int) -> list[dict[str, object]]:
    """A variable and the op that reads it."""
    sizes = {"shape": {"shape": {"dim": [{"size": size} for size in shape]}}, "dtype": {"type": 1}}
    read: dict[str, object] = {"name": f"{name}/read", "op": "ReadVariableOp", "input": [name]}
    return [{"name": name, "op": "VarHandleOp", "attr": sizes}, read | {"attr": {"dtype": {"type": 1}}}]


def test_a_variable_whose_axes_a_reshape_joins_is_a_kernel() -> None:
    kernel = [*variable("query/kernel", 64, 4, 16), *reshape("query/flat", "query/kernel/read", 64, -1)]
    multiply: dict[str, object] = {"name": "query/MatMul", "op": "BatchMatMulV2", "input": ["image", "query/flat"]}
    said = words(IMAGE, *kernel, multiply, *reshape("query/heads", "query/MatMul", -1, 6, 4, 16))
    assert said["query"] == "64 → 4×16"


def test_a_variable_whose_reshape_joins_the_summed_axes_is_a_kernel() -> None:
    kernel = [*variable("output/kernel", 4, 16, 32), *reshape("output/flat", "output/kernel/read", -1, 32)]
    multiply: dict[str, object] = {"name": "output/MatMul", "op": "BatchMatMulV2", "input": ["image", "output/flat"]}
    assert words(IMAGE, *kernel, multiply)["output"] == "64 → 32"


@each(
    ("attributes", "said"),
    [
        ({"scales": {"list": {"f": [1, 1, 2, 2]}}}, "↑2 nearest"),
        ({"scales": {"list": {"f": [1, 1, 4, 4]}}, "mode": {"s": b"linear"}}, "↑4 bilinear"),
        ({"scales": {"list": {"f": [1, 1, 0.5, 0.5]}}, "mode": {"s": b"cubic"}}, "bicubic"),
    ],
)
def test_an_exported_program_says_how_images_are_enlarged(attributes: dict[str, object], said: str) -> None:
    x = {"name": "x", "op": "Placeholder"}
    resize = {"name": "net/up", "op": "onnx::Resize", "input": ["x"], "attr": attributes}
    after = {"name": "net/y", "op": "onnx::Relu", "input": ["net/up"]}
    hierarchy = load(GraphDef(node=[x, resize, after])).hierarchy  # type: ignore[list-item]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("net/up")) == said


def test_a_pair_of_low_rank_before_two_ends_is_the_rank() -> None:
    wide, down, up = (LayerStep("dense", f"→ {gives}", takes, gives) for takes, gives in ((64, 32), (64, 8), (8, 32)))
    ends = [LayerStep("dense", f"→ {gives}", 32, gives) for gives in (3, 4)]
    before = {0: frozenset[int](), 1: frozenset[int](), 2: frozenset({1}), 4: frozenset({0, 2}), 5: frozenset({0, 2})}
    block = Block((wide, down, up, LayerStep("activation", "ReLU"), *ends), before)
    assert block_words(block) == "64 → 32 → 3 | 4, ReLU, rank 8"


@each(("again", "said"), [(True, "shared weights"), (False, "")])
def test_a_network_that_is_applied_again_says_that_it_shares_its_weights(again: bool, said: str) -> None:
    """x ─▶ net ─▶ z, y ─▶ net_1 ─▶ z, with the kernels of the first or with others."""
    nodes: list[dict[str, object]] = [{"name": name, "op": "Placeholder"} for name in ("x", "y")]
    for scope, source in (("net", "x"), ("net_1", "y")):
        for layer in range(2):
            kernel = f"{'net' if again else scope}/w{layer}"
            if kernel.startswith(f"{scope}/"):
                nodes.append(weight(kernel, 8, 8))
            taken = [f"{scope}/relu{layer - 1}" if layer else source, kernel]
            nodes.append({"name": f"{scope}/dense{layer}", "op": "MatMul", "input": taken})
            nodes.append({"name": f"{scope}/relu{layer}", "op": "Relu", "input": [f"{scope}/dense{layer}"]})
    nodes.append({"name": "z", "op": "Sub", "input": ["net/relu1", "net_1/relu1"]})
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy  # type: ignore[arg-type]
    labels = NodeLabels(hierarchy, lambda path: None, alone=True)
    found = [labels.node_label((hierarchy.name.index(scope),)) for scope in ("net", "net_1")]
    assert [(label.second, label.first) for label in found] == [("8 → 8 → 8, ReLU", said)] * 2


def test_an_image_whose_rows_and_columns_are_repeated_is_enlarged() -> None:
    """As `UpSampling2D` of Keras writes it; what repeats only rows is said nothing of."""
    nodes: list[dict[str, object]] = [IMAGE]
    source = "image"
    for axis, name in ((2, "rows"), (3, "columns")):
        times = [numbers(f"up/{name}/by_{place}", 2 if place == axis else 1) for place in range(5)]
        nodes += [*times, numbers(f"up/{name}/axis", axis), numbers(f"up/{name}/shape", 1, 8, 8, 3)]
        for kind, op, inputs in (
            ("repeats", "Cast", [f"up/{name}/by_{axis}"]),
            ("times", "Pack", [f"up/{name}/" + ("repeats" if place == axis else f"by_{place}") for place in range(5)]),
            ("expand", "ExpandDims", [source, f"up/{name}/axis"]),
            ("tile", "Tile", [f"up/{name}/expand", f"up/{name}/times"]),
            ("out", "Reshape", [f"up/{name}/tile", f"up/{name}/shape"]),
        ):
            nodes.append({"name": f"up/{name}/{kind}", "op": op, "input": inputs})
        source = f"up/{name}/out"
    said = words(*nodes, {"name": "y", "op": "Relu", "input": [source]})
    assert (said["up"], said["up/rows"]) == ("↑2 nearest", None)


def test_encoder_and_decoder_layers_that_say_their_attentions_together_are_not_one_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 4 heads × 16 three times ─▶ 2 × (4 heads × 16) three times; not 3 × (4 heads × 16)
    nodes: list[dict[str, object]] = [IMAGE]
    source = "image"
    said = {"encoder": "4 heads × 16", "decoder": "2 × (4 heads × 16)"}
    for scope in [f"net/{part}/layer_{place}" for part in said for place in range(3)]:
        nodes += product(f"{scope}/MatMul", source, 8, 8)
        source = f"{scope}/out"
        nodes.append({"name": source, "op": "Tanh", "input": [f"{scope}/MatMul"]})
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[arg-type]
    paper, rows = PaperWords(hierarchy), {name: row for row, name in enumerate(hierarchy.name)}
    known = {rows[name]: said[name.split("/")[1]] for name in rows if "/layer_" in name and name.count("/") == 2}
    monkeypatch.setattr(paper, "_words", known.get)
    assert paper._words_in_order(rows["net/encoder"])[0] == ["4 heads × 16"] * 3
    assert paper._words_in_order(rows["net"])[0] == []


def test_layers_that_attend_twice_are_not_counted_by_their_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder of three layers, with attention to itself and to an encoder, is not `6 × (4 heads × 16)`."""
    nodes: list[dict[str, object]] = [IMAGE]
    source = "image"
    for place in range(3):
        for part in ("self", "cross"):
            scope = f"decoder/layer_{place}/{part}"
            nodes += product(f"{scope}/MatMul", source, 8, 8)
            source = f"{scope}/out"
            nodes.append({"name": source, "op": "Tanh", "input": [f"{scope}/MatMul"]})
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[arg-type]
    paper, rows = PaperWords(hierarchy), {name: row for row, name in enumerate(hierarchy.name)}
    known = {rows[name]: "4 heads × 16" for name in rows if name.endswith(("self", "cross"))}
    monkeypatch.setattr(paper, "_words", known.get)
    assert paper._words_in_order(rows["decoder/layer_0"])[0] == ["4 heads × 16"] * 2
    assert paper._words_in_order(rows["decoder"])[0] == []
