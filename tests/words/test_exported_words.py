"""Idioms that are several ops are said and coloured as such; what only resembles one is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from graphviz_tb import load
from graphviz_tb.color.kinds import ATTENTION, DENSE, KIND_WORDS, NORM, group_kinds, op_kinds
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.block import Block, link_steps
from graphviz_tb.words.block_words import block_words
from graphviz_tb.words.layer_steps import TensorFlowSteps
from graphviz_tb.words.paper import PaperWords
from graphviz_tb.words.step_words import LayerStep, experts_step, worded_step
from tests.each import each

EXPORTED = Path(__file__).parents[2] / "fixtures/exported"


@cache
def hierarchy_of(name: str) -> Hierarchy:
    return load(EXPORTED / name).hierarchy


@each(
    ("name", "row", "said", "kind"),
    [
        ("llama.script.onnx.gz", "layers.0/mlp", "gated 176, SiLU", DENSE),  # x · sigmoid(x)
        ("llama.script.onnx.gz", "layers.0/input_layernorm", "", NORM),  # x / sqrt(mean(x²) + ε)
        ("llama.script.onnx.gz", "layers.0/self_attn", "8 heads, 2 kv × 8", ATTENTION),
        ("vit.script.onnx.gz", "encoder/layers/encoder_layer_0/mlp", "32 → 128 → 32, GELU", DENSE),  # of erf
        # Queries, keys and values are one product, which a reshape takes apart.
        ("vit.script.onnx.gz", "encoder/layers/encoder_layer_0/self_attention", "4 heads × 8", ATTENTION),
    ],
)
def test_idioms_of_exported_programs(name: str, row: str, said: str, kind: int) -> None:
    hierarchy = hierarchy_of(name)
    number = hierarchy.name.index(row)
    assert PaperWords(hierarchy).words_of_row(number) == said
    assert KIND_WORDS[group_kinds(hierarchy, op_kinds(hierarchy), [number])[0]] == KIND_WORDS[kind]


def test_a_mean_over_an_image_is_a_pooling_in_onnx_too() -> None:
    hierarchy = hierarchy_of("resnet.dynamo.onnx.gz")
    row = hierarchy.name.index("ResNet/AdaptiveAvgPool2d[avgpool]")
    assert PaperWords(hierarchy).words_of_row(row) == "global avg"


@each(
    ("op", "bounds", "said"),
    [
        ("onnx::Clip", {"min": 0.0, "max": 6.0}, "3×3, 8 · ReLU6"),
        ("aten::hardtanh", {"min_val": 0.0, "max_val": 6.0}, "3×3, 8 · ReLU6"),
        ("aten::clamp", {"min": 0.0}, "3×3, 8 · ReLU"),
        ("onnx::Clip", {"min": -1.0, "max": 1.0}, "3×3, 8"),
    ],
)
def test_a_clip_is_called_by_its_bounds(op: str, bounds: dict[str, float], said: str) -> None:
    shape = {"dim": [{"size": size} for size in (8, 4, 3, 3)]}
    kernel = {"name": "net/kernel", "op": "VariableV2", "attr": {"shape": {"shape": shape}, "dtype": {"type": 1}}}
    conv = {"name": "net/conv", "op": "onnx::Conv", "input": ["x", "net/kernel"]}
    clip = {"name": "net/clip", "op": op, "input": ["net/conv"], "attr": {key: {"f": v} for key, v in bounds.items()}}
    graph = GraphDef(node=[{"name": "x", "op": "Placeholder"}, kernel, conv, clip])  # type: ignore[list-item]
    hierarchy = load(graph).hierarchy
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("net")) == said


def test_a_standard_deviation_that_is_logged_is_no_norm() -> None:
    hierarchy = load(EXPORTED.parent / "real/mnist_cnn.pbtxt", folds=False).hierarchy
    conv, weights = (hierarchy.name.index(name) for name in ("conv1", "conv1/weights"))
    assert PaperWords(hierarchy).words_of_row(conv) == "5×5, 4 · ReLU"
    kinds = group_kinds(hierarchy, op_kinds(hierarchy), [conv, weights])
    assert KIND_WORDS[kinds[0]] == "convolution"
    assert kinds[1] != NORM


def test_kernels_that_are_selected_are_those_of_experts() -> None:
    shape = {"dim": [{"size": size} for size in (8, 32, 16)]}
    table = {"name": "mlp/kernels", "op": "VariableV2", "attr": {"shape": {"shape": shape}, "dtype": {"type": 1}}}
    some = {"name": "mlp/some", "op": "aten::index", "input": ["mlp/kernels", "chosen"]}
    product = {"name": "mlp/bmm", "op": "aten::bmm", "input": ["mlp/some", "x"]}
    inputs = [{"name": name, "op": "Placeholder"} for name in ("x", "chosen")]
    hierarchy = load(GraphDef(node=[*inputs, table, some, product])).hierarchy  # type: ignore[list-item]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("mlp")) == "8 experts"


@each(
    ("equation", "said"),
    [
        ("abc,bcd->abd", "8 experts"),
        ("abc,acd->abd", "8 experts"),
        ("abc,cde->abde", "8 → 8×64"),  # a layer that makes heads
    ],
)
def test_a_kernel_of_named_axes_is_read_by_its_equation(equation: str, said: str) -> None:
    sizes = {"shape": {"dim": [{"size": 8}, {"size": 8}, {"size": 64}]}}
    kernel = {"name": "moe/w", "op": "VariableV2", "attr": {"shape": sizes, "dtype": {"type": 1}}}
    product = {
        "name": "moe/y",
        "op": "onnx::Einsum",
        "input": ["x", "moe/w"],
        "attr": {"equation": {"s": equation.encode()}},
    }
    nodes = [{"name": "x", "op": "Placeholder"}, kernel, product]
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy  # type: ignore[arg-type]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("moe")) == said


def experts_block(count: int, gives: int) -> Block:
    """A router, its softmax and the top 2; and gated blocks: the first product of each looks like one for heads."""
    up = LayerStep("heads", f"→ {count}×128", 64, count * 128, (count, 128))
    steps = (
        *(LayerStep("dense", "→ 8", 64, 8), LayerStep("activation", "softmax"), LayerStep("top", "top 2")),
        *(up, up, LayerStep("activation", "SiLU"), experts_step(8, 128, gives)),
    )
    nothing, both = frozenset[int](), frozenset([0, 3, 4])
    multiplies = (frozenset([frozenset([3]), frozenset([4])]),)
    return Block(steps, {0: nothing, 3: nothing, 4: nothing, 6: both}, multiplies=multiplies)


@each(
    ("block", "said"),
    [
        (experts_block(8, 64), "8 experts, top 2, gated 128, SiLU"),
        (experts_block(4, 64), "8 experts, top 2"),  # heads, of something else
        (experts_block(8, 0), "8 experts, top 2"),  # a size is not known
    ],
)
def test_experts_say_the_block_that_each_of_them_is(block: Block, said: str) -> None:
    assert block_words(block) == said


def test_a_layer_that_attends_and_chooses_experts_says_both() -> None:
    # queries, keys, values ─▶ product ─▶ softmax ─▶ product ─▶ joined ─▶ router ─▶ softmax, and experts of both
    dense = [LayerStep("dense", f"→ {width}", 64, width) for width in (64, 16, 16)]
    product, softmax = LayerStep("product", "", heads=(8, 8)), LayerStep("activation", "softmax")
    behind = (LayerStep("dense", "→ 64", 64, 64), LayerStep("dense", "→ 4", 64, 4), softmax, LayerStep("top", "top 2"))
    steps = (*dense, product, softmax, product, *behind, experts_step(4, 64, 64))
    before = {0: (), 1: (), 2: (), 3: (0, 1), 5: (2, 3), 6: (5,), 7: (6,), 10: (6,)}
    links = {number: frozenset(sources) for number, sources in before.items()}
    assert block_words(Block(steps, links)) == "8 heads, 2 kv × 8, 4 experts, top 2"
    # Without experts of one weight, a softmax behind the attention is no part of it.
    kept = {number: links[number] for number in (0, 1, 2, 3, 5, 6)}
    assert block_words(Block((*steps[:7], softmax), kept)) == "8 heads, 2 kv × 8"


@each(
    ("heads", "in_turn", "said"),
    [
        (((8, 16), (8, 24)), True, "8 heads × 16"),  # retention (Sun et al. 2023), linear attention
        (((8, 16), (4, 24)), True, None),
        (((8, 16), (8, 24)), False, None),
        (((3, 16), (3, 24)), True, None),  # no layer makes as many
    ],
)
def test_two_products_in_turn_say_the_heads_of_what_they_multiply(
    heads: tuple[tuple[int, int], tuple[int, int]], in_turn: bool, said: str | None
) -> None:
    dense = [LayerStep("dense", "→ 128", 128, 128)] * 3
    steps = (*dense, *(LayerStep("product", "", heads=pair) for pair in heads), LayerStep("norm", "g 8"), dense[0])
    before = {number: frozenset[int]() for number in range(3)} | {3: frozenset([0, 1]), 6: frozenset([4])}
    before[4] = frozenset([2, 3] if in_turn else [0, 2])
    assert block_words(Block(steps, before)) == said


def test_a_kernel_of_pairs_is_none_of_experts() -> None:
    shape = {"dim": [{"size": size} for size in (5, 16, 16)]}
    kernel = {"name": "bi/weight", "op": "VariableV2", "attr": {"shape": {"shape": shape}, "dtype": {"type": 1}}}
    form = {"name": "bi/bilinear", "op": "aten::bilinear", "input": ["x", "y", "bi/weight"]}
    inputs = [{"name": name, "op": "Placeholder"} for name in ("x", "y")]
    hierarchy = load(GraphDef(node=[*inputs, kernel, form])).hierarchy  # type: ignore[list-item]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("bi")) == "256 → 5"


@each(
    ("kind", "word", "behind", "said"),
    [
        ("depthwise", "dw 3×3", False, "8 heads × 16"),  # of CvT
        ("depthwise", "dw 3×3", True, "8 heads × 16"),  # of MViT: behind the projection
        ("convolution", "2×2, 128, /2", False, "8 heads × 16"),  # of PVT: fewer keys and values
        ("convolution", "3×3, 128", True, None),
    ],
)
def test_attention_that_filters_positions_says_its_heads(kind: str, word: str, behind: bool, said: str | None) -> None:
    convolution, dense = worded_step(kind, word.split(", "), 128, 128), LayerStep("dense", "→ 128", 128, 128)
    first = [dense, convolution] if behind else [convolution, dense]
    scores, mixed = (LayerStep("product", "", heads=(8, size)) for size in (16, 24))
    steps = (*first, dense, dense, scores, LayerStep("activation", "softmax"), mixed, dense)
    before = {0: set(), 1: {0}, 2: set(), 3: set(), 4: {1, 2}, 6: {3, 4}, 7: {6}}
    assert block_words(Block(steps, {number: frozenset(each) for number, each in before.items()})) == said


def test_branches_that_dilate_say_their_dilations_and_leave_pools_out_where_there_is_no_room() -> None:
    """As the pyramid of DeepLab v3 (Chen et al. 2017)."""
    words = ["avg 8×8, /8", "1×1, 256", "bilinear", "1×1, 256", *(f"3×3, 256, d{rate}" for rate in (6, 12, 18))]
    steps = tuple(
        worded_step("convolution" if word[0].isdigit() else "pool", word.split(", "), 256, 256) for word in words
    )
    before = {number: frozenset({number - 1} if number in (1, 2) else ()) for number in range(len(words))}
    block = Block(steps, before, joins=tuple(frozenset({end}) for end in range(2, len(words))))
    assert block_words(block) == "1×1 | 1×1 | 3×3 d6 | d12 | d18"


def test_a_branch_whose_end_is_split_says_both_kernels() -> None:
    """The last modules of Inception v3 (Szegedy et al. 2015); for its pool the kernel has no room."""
    words = ["1×1, 320", "1×1, 384", "1×3, 384", "3×1, 384", "1×1, 448", "3×3, 384", "1×3, 384", "3×1, 384"]
    words += ["avg 3×3", "1×1, 192"]
    kinds = ["pool" if word.startswith("avg") else "convolution" for word in words]
    steps = tuple([worded_step(kind, word.split(", ")) for kind, word in zip(kinds, words, strict=True)])
    fed = {2: 1, 3: 1, 5: 4, 6: 5, 7: 5, 9: 8}
    before = {number: frozenset([fed[number]] if number in fed else []) for number in range(len(steps))}
    block = Block(steps, before, joins=tuple(map(frozenset, ([0], [2, 3], [6, 7], [9]))))
    assert block_words(block) == "1×1 | 1×3+3×1 | 3×3, 1×3+3×1 | avg"


@each(("op", "said"), [("onnx::MaxPool", "max 3×3"), ("aten::max_pool2d", "max 3×3, /3")])
def test_a_pool_without_strides_takes_the_steps_that_its_framework_means(op: str, said: str) -> None:
    size = {"kernel_shape" if op.startswith("onnx") else "kernel_size": {"list": {"i": [3, 3]}}}
    pool = {"name": "net/pool", "op": op, "input": ["x"], "attr": size}
    hierarchy = load(GraphDef(node=[{"name": "x", "op": "Placeholder"}, pool])).hierarchy  # type: ignore[list-item]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("net/pool")) == said


@each(("in_turn", "said"), [(True, "bi GRU 2 × 40, 2 layers"), (False, "57.6 k parameters")])
def test_recurrent_layers_in_turn_are_counted(in_turn: bool, said: str) -> None:
    """x ─▶ GRU ─▶ GRU, or x ─▶ GRU, x ─▶ GRU; each with a kernel and a kernel of its state."""
    nodes: list[dict[str, object]] = [{"name": "x", "op": "Placeholder"}]
    for number, source in enumerate(("x", "rnn/gru_0" if in_turn else "x")):
        for name, columns in (("kernel", 80), ("state", 40)):
            dims = {"dim": [{"size": size} for size in (2, 120, columns)]}
            attributes = {"shape": {"shape": dims}, "dtype": {"type": 1}}
            nodes.append({"name": f"rnn/{name}_{number}", "op": "VariableV2", "attr": attributes})
        taken = [source, f"rnn/kernel_{number}", f"rnn/state_{number}"]
        ways = {"direction": {"s": b"bidirectional"}}
        nodes.append({"name": f"rnn/gru_{number}", "op": "onnx::GRU", "input": taken, "attr": ways})
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy  # type: ignore[arg-type]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("rnn")) == said


def attention_block(
    widths: Sequence[int], heads: Sequence[tuple[int, int]] = ((0, 0), (0, 0)), split: Sequence[tuple[int, int]] = ()
) -> Block:
    """Dense layers, a product, a softmax, a product, and the layer that joins heads."""
    layers = [LayerStep("dense", f"→ {width}", 128, width) for width in widths]
    scores, mixed = (LayerStep("product", "", heads=pair) for pair in heads)
    steps = [*layers, scores, LayerStep("activation", "softmax"), mixed, LayerStep("dense", "→ 128", 128, 128)]
    return Block(tuple(steps), {number: frozenset() for number in range(len(steps))}, split=tuple(split))


@each(
    ("block", "said"),
    [
        # 24 steps of 16 numbers are as many as queries, keys and values together: chance.
        (attention_block([384], [(8, 16), (8, 24)], [(16, 24)]), "8 heads × 16"),
        (attention_block([128, 32, 32], [(8, 16), (8, 24)]), "8 heads, 2 kv × 16"),
        (attention_block([192], [(8, 16), (8, 24)]), "8 heads, 2 kv × 16"),
        # One layer makes keys and values, queries come from elsewhere; or queries, and half as many of both.
        (attention_block([256], [(8, 16), (8, 24)], [(8, 16)]), "8 heads × 16"),
        (attention_block([256], [(8, 16), (8, 24)], [(8, 16), (4, 16)]), "8 heads, 4 kv × 16"),
        # A reshape to [batch, steps, -1, 16] leaves the number of heads open.
        (attention_block([128, 32, 32], split=[(-1, 16)]), "8 heads, 2 kv × 16"),
        (attention_block([128, 128, 128], split=[(-1, 16)]), "8 heads × 16"),
        (attention_block([128, 16, 16], split=[(1, 16), (8, 16)]), "8 heads, 1 kv × 16"),
        (attention_block([384], split=[(8, 48)]), "8 heads × 16"),  # each of 48 is a query, a key and a value
        (attention_block([384], split=[(-1, 48)]), None),
        # Queries, keys and values as three of a width are no heads.
        (attention_block([384], split=[(3, 128)]), None),
        (attention_block([384], split=[(3, 128), (8, 16)]), "8 heads × 16"),
    ],
)
def test_heads_are_read_from_products_before_reshapes(block: Block, said: str | None) -> None:
    assert block_words(block) == said


def attention_twice(*between: LayerStep) -> Block:
    """Attention to itself, then attention that takes its queries from it, and a feed-forward block."""
    one, two = (attention_block(widths, [(8, 16), (8, 24)]).steps for widths in ([384], [128, 256]))
    forward = LayerStep("dense", "", 64, 256), LayerStep("activation", "ReLU"), LayerStep("dense", "", 256, 64)
    steps = *one, *between, *two, *forward
    dense = len(steps) - 3
    before = {number: frozenset[int]() for number in range(len(steps))} | {dense + 2: frozenset([dense])}
    return Block(steps, before)


@each(
    ("block", "said"),
    [
        (attention_twice(), "2 × (8 heads × 16), 64 → 256 → 64"),
        # A feed-forward block between them: two layers of a network, not one.
        (attention_twice(LayerStep("activation", "ReLU")), None),
        (Block((*attention_block([32, 32, 32]).steps, LayerStep("dense", "", 32, 256))), None),
    ],
)
def test_a_layer_that_attends_twice_says_its_heads_once(block: Block, said: str | None) -> None:
    assert block_words(block) == said


@each(
    ("widths", "bends", "said"),
    [
        (((128, 8), (8, 128), (128, 128), (128, 128), (128, 128)), False, "8 heads × 16, rank 8"),
        (((128, 8), (8, 128), (128, 128), (128, 128), (128, 128)), True, None),  # an adapter is not linear
        (((128, 128), (128, 128), (128, 128)), False, "8 heads × 16"),
    ],
)
def test_low_rank_pairs_beside_the_layers_of_attention_are_its_rank(
    widths: Sequence[tuple[int, int]], bends: bool, said: str | None
) -> None:
    layers = [LayerStep("dense", "", *width) for width in widths]
    between = [LayerStep("activation", "ReLU")] if bends else []
    steps = [layers[0], *between, *layers[1:], *attention_block([], [(8, 16), (8, 24)]).steps]
    scores = len(steps) - 4
    before = {number: frozenset[int]() for number in range(scores)}
    if len(widths) > 3:
        before[1 + bends] = frozenset([0])
    before[scores] = frozenset(number for number in before if number or len(widths) == 3)
    before |= {scores + 2: frozenset([scores]), scores + 3: frozenset([scores + 2])}
    assert block_words(Block(tuple(steps), before)) == said


def test_heads_are_those_of_the_layers_of_attention_alone() -> None:
    # The feed-forward block behind it is as wide as 32 heads.
    attention = attention_block([128, 128, 128], split=[(-1, 16)])
    wide = (*attention.steps, LayerStep("dense", "", 128, 512), LayerStep("dense", "", 512, 128))
    number = len(wide) - 1
    before = {**attention.before, number - 1: frozenset([number - 2]), number: frozenset([number - 1])}
    assert block_words(Block(wide, before, split=attention.split)) == "8 heads × 16, 128 → 512 → 128"


def _transformer_of_reshapes(turns: Sequence[int], sizes: Sequence[int]) -> GraphDef:
    """Attention of ONNX in which nothing but the sizes of reshapes, and transposes, tells the heads."""
    nodes: list[dict[str, object]] = [{"name": "x", "op": "Placeholder"}]
    stated = {"shape": {"list": {"i": list(sizes)}}}
    for name in "qkv":
        size = {"shape": {"dim": [{"size": 64}, {"size": 64}]}}
        nodes.append({"name": f"att/{name}w", "op": "VariableV2", "attr": {"shape": size, "dtype": {"type": 1}}})
        nodes.append({"name": f"att/{name}p", "op": "onnx::MatMul", "input": ["x", f"att/{name}w"]})
        nodes.append({"name": f"att/{name}s", "op": "onnx::Reshape", "input": [f"att/{name}p"], "attr": stated})
        last = turns[:1:-1] if name == "k" else turns[2:]
        order = {"perm": {"list": {"i": [*turns[:2], *last]}}}
        nodes.append({"name": f"att/{name}t", "op": "onnx::Transpose", "input": [f"att/{name}s"], "attr": order})
    nodes += [
        {"name": "att/scores", "op": "onnx::MatMul", "input": ["att/qt", "att/kt"]},
        {"name": "att/soft", "op": "onnx::Softmax", "input": ["att/scores"]},
        {"name": "att/mixed", "op": "onnx::MatMul", "input": ["att/soft", "att/vt"]},
    ]
    return GraphDef(node=nodes)  # type: ignore[arg-type]


@each(
    ("turns", "sizes", "said"),
    [
        ((0, 2, 1, 3), (2, 24, 4, 16), "4 heads × 16"),
        ((0, 1, 2, 3), (2, 4, 24, 16), "4 heads × 16"),
        ((1, 2, 0, 3), (24, 2, 4, 16), "4 heads × 16"),  # steps first, as in a transformer of PyTorch
        ((0, 2, 1, 3), (2, 24, -1, 12), "3 layers · 12.3 k"),  # 12 does not divide 64
    ],
)
def test_heads_are_read_from_reshapes_through_transposes(turns: Sequence[int], sizes: Sequence[int], said: str) -> None:
    hierarchy = load(_transformer_of_reshapes(turns, sizes)).hierarchy
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("att")) == said


def test_a_table_of_relative_positions_is_part_of_attention() -> None:
    table, known = LayerStep("embedding", "32 × 8"), attention_block([128, 128, 128], [(8, 16), (8, 24)])
    before = {number: frozenset([3]) if number == 4 else frozenset[int]() for number in range(8)}
    block = replace(known, steps=(*known.steps[:3], table, *known.steps[3:]), before=before)
    assert block_words(block) == "8 heads × 16"
    # What is looked up for queries, keys and values is no position.
    tokens = replace(block, before={**before, 0: frozenset([3])}, steps=(*known.steps[:3], table, *known.steps[3:]))
    assert block_words(tokens) is None


def test_a_loss_that_compares_rows_of_a_table_is_no_table() -> None:
    table, compared = LayerStep("embedding", "500 × 16"), LayerStep("product", "")
    assert block_words(Block((table,), {0: frozenset()})) == "500 × 16"
    assert block_words(Block((table, compared), {0: frozenset(), 1: frozenset([0])})) is None


@each(("equation", "said"), [("i,j->ij", None), ("bqd,bkd->bqk", ""), ("ij,jk", "")])
def test_an_einsum_that_sums_nothing_is_no_product(equation: str, said: str | None) -> None:
    inputs = [{"name": name, "op": "Placeholder"} for name in ("x", "y")]
    product = {"name": "z", "op": "Einsum", "input": ["x", "y"], "attr": {"equation": {"s": equation.encode()}}}
    hierarchy = load(GraphDef(node=[*inputs, product])).hierarchy  # type: ignore[list-item]
    found = TensorFlowSteps(hierarchy).steps_of(hierarchy.graph.name.index("z"))
    assert [step.word for step in found] == ([] if said is None else [said])


def test_recurrent_layers_that_are_several_each_are_counted_apart() -> None:
    cell = worded_step("recurrent", ["LSTM 64", "2 layers"], out_width=64)
    assert block_words(Block((cell, cell), {0: frozenset(), 1: frozenset([0])})) == "2 × (LSTM 64, 2 layers)"


@each(("lists", "said"), [([[0, 1]], "1×1 | 3×3"), ([[0], [1]], "1×1 64 | 3×3 32")])
def test_branches_that_a_list_joins_are_said_as_those_that_an_op_joins(lists: list[list[int]], said: str) -> None:
    """Traces of PyTorch make a list of what `cat` takes."""
    made = [[worded_step("convolution", [kernel, size])] for kernel, size in (("1×1", "64"), ("3×3", "32"))]
    ops = ["aten::conv2d"] * 2 + ["prim::ListConstruct"] * len(lists)
    assert block_words(link_steps(ops, [[], [], *lists], [], [*made, *[[] for _ in lists]])) == said


def stated_shape(*sizes: int) -> dict[str, object]:
    return {"dim": [{"size": size} for size in sizes]}


def exported_node(name: str, op: str, *inputs: str, shapes: Sequence[Sequence[int]] = ()) -> dict[str, object]:
    attr = {"_output_shapes": {"list": {"shape": [stated_shape(*sizes) for sizes in shapes]}}} if shapes else {}
    return {"name": name, "op": op, "input": list(inputs), "attr": attr}


def exported_weight(name: str, *sizes: int) -> dict[str, object]:
    return {"name": name, "op": "Parameter", "attr": {"shape": {"shape": stated_shape(*sizes)}, "dtype": {"type": 1}}}


@each(("parts", "said"), [(True, "4 heads × 8"), (False, "32 → 32")])
def test_layers_with_a_part_of_a_kernel_are_no_products_of_two_tensors(parts: bool, said: str) -> None:
    """Attention to an encoder: one kernel of queries, keys and values, in two parts.

    kernel ─▶ split ─┬▶ queries ─▶ scores ─▶ output
                     └▶ keys, values ─┘
    """
    of_weights, node = exported_weight("net/kernel", 96, 32), exported_node
    heads = ((1, 4, 9, 8),)
    nodes = [
        *(node(name, "Placeholder", shapes=((9, 32),)) for name in ("x", "y")),
        of_weights if parts else node("net/kernel", "aten::mul", "x", "y"),
        exported_weight("net/out/kernel", 32, 32),
        node("net/split", "aten::split_with_sizes", "net/kernel", shapes=((32, 32), (64, 32))),
        node("net/q_in", "aten::linear", "x", "net/split:0", shapes=((9, 32),)),
        node("net/k_in", "aten::linear", "y", "net/split:1", shapes=((9, 64),)),
        *(node(f"net/{name}", "aten::view", f"net/{name}_in", shapes=heads) for name in ("q", "k")),
        node("net/scores", "aten::scaled_dot_product_attention", "net/q", "net/k", "net/k", shapes=heads),
        node("net/merge", "aten::reshape", "net/scores", shapes=((9, 32),)),
        node("net/out/linear", "aten::linear", "net/merge", "net/out/kernel", shapes=((9, 32),)),
    ]
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[list-item]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("net")) == said


def test_blocks_of_two_stacks_are_not_counted_as_one() -> None:
    # x ─▶ encoder: 3 × (4 heads × 8) ─▶ decoder: 3 × (4 heads × 8); not 6 × (4 heads × 8)
    nodes, source = [exported_node("x", "Placeholder", shapes=((9, 32),))], "x"
    for name in [f"net/{part}/layer_{number}" for part in ("encoder", "decoder") for number in range(3)]:
        heads = ((1, 4, 9, 8),)
        nodes += [
            *(exported_weight(f"{name}/{each}/kernel", 32, 32) for each in ("in", "out")),
            exported_node(f"{name}/in/linear", "aten::linear", source, f"{name}/in/kernel", shapes=((9, 32),)),
            exported_node(f"{name}/view", "aten::view", f"{name}/in/linear", shapes=heads),
            exported_node(f"{name}/scores", "aten::scaled_dot_product_attention", *[f"{name}/view"] * 3, shapes=heads),
            exported_node(f"{name}/merge", "aten::reshape", f"{name}/scores", shapes=((9, 32),)),
            exported_node(
                f"{name}/out/linear", "aten::linear", f"{name}/merge", f"{name}/out/kernel", shapes=((9, 32),)
            ),
        ]
        source = f"{name}/out/linear"
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[list-item]
    words = PaperWords(hierarchy)
    assert words.words_of_row(hierarchy.name.index("net/encoder")) == "4 heads × 8"  # of each of three
    assert words.words_of_row(hierarchy.name.index("net")) == "12 layers · 12.3 k"


@each(
    ("op", "attr"),
    [("onnx::Gemm", {"transB": {"i": 1}}), ("onnx::MatMul", {}), ("MatMul", {"transpose_b": {"b": True}})],
)
def test_a_product_of_a_stored_state_and_a_kernel_says_the_kernel(op: str, attr: dict[str, object]) -> None:
    # A first state of zeros, or learned queries, are stored as the kernel is.
    turned = [4, 8] if attr else [8, 4]
    nodes = [
        {"name": name, "op": "VariableV2", "attr": {"shape": {"shape": sizes}, "dtype": {"type": 1}}}
        for name, numbers in (("net/zeros", [2, 8]), ("net/kernel", turned))
        for sizes in [{"dim": [{"size": size} for size in numbers]}]
    ]
    nodes.append({"name": "net/y", "op": op, "input": ["net/zeros", "net/kernel"], "attr": attr})
    hierarchy = load(GraphDef(node=nodes), folds=False).hierarchy  # type: ignore[arg-type]
    assert PaperWords(hierarchy).words_of_row(hierarchy.name.index("net/y")) == "→ 4"


def standardized_convolution(*norm_inputs: str) -> str | None:
    """Return the words of a convolution whose kernel is a norm of these, in another shape."""
    nodes = [
        exported_node("x", "Placeholder", shapes=((1, 4, 32, 32),)),
        exported_weight("net/kernel", 8, 4, 3, 3),
        exported_weight("net/gain", 8),
        exported_node("net/rows", "aten::reshape", "net/kernel", shapes=((1, 8, 36),)),
        exported_node("net/norm", "aten::batch_norm", *norm_inputs, shapes=((1, 8, 36),)),
        exported_node("net/whole", "aten::reshape_as", "net/norm", "net/kernel", shapes=((8, 4, 3, 3),)),
        exported_node("net/conv", "aten::conv2d", "x", "net/whole", shapes=((1, 8, 30, 30),)),
    ]
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[list-item]
    return PaperWords(hierarchy).words_of_row(hierarchy.name.index("net"))


def test_a_kernel_that_is_standardised_is_that_of_its_convolution() -> None:
    # kernel ─▶ reshape ─▶ batch_norm ─▶ reshape_as ─▶ conv2d ◀─ x
    assert standardized_convolution("net/rows", "net/gain") == "3×3, 8"
    assert standardized_convolution("x", "net/gain") != "3×3, 8"  # a filter that the data makes


def test_a_kernel_that_is_taken_as_a_matrix_is_none_of_experts() -> None:
    # kernel ─▶ reshape ─▶ mv ◀─ vector: the spectral norm of the kernel
    nodes = [
        exported_weight("net/kernel", 8, 4, 3),
        exported_node("x", "Placeholder", shapes=((12,),)),
        exported_node("net/matrix", "aten::reshape", "net/kernel", shapes=((8, 12),)),
        exported_node("net/mv", "aten::mv", "net/matrix", "x", shapes=((8,),)),
    ]
    hierarchy = load(GraphDef(node=nodes)).hierarchy  # type: ignore[list-item]
    assert "experts" not in (PaperWords(hierarchy).words_of_row(hierarchy.name.index("net")) or "")
