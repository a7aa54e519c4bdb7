"""Norms, rotary embeddings and attention are one box each, in all spellings and without names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphviz_tb import Model, load
from graphviz_tb.model.hierarchy import IDIOM_ORIGINS, GroupOrigin
from graphviz_tb.ops.roles import is_elementwise
from graphviz_tb.proto import GraphDef
from tests.each import each

EXPORTED = Path(__file__).parents[2] / "fixtures/exported"


class Net:
    """A graph of ops that is written in order."""

    def __init__(self, named: bool = True) -> None:
        self.graph, self.named = GraphDef(), named

    def op(self, kind: str, *inputs: str, name: str = "") -> str:
        made = name if name and self.named else f"n{len(self.graph.node)}"
        node = self.graph.node.add(name=made, op=kind, input=inputs)
        node.attr["T"].type = node.attr["dtype"].type = 1
        return made

    def number(self) -> str:
        made = self.op("Const")
        node = self.graph.node[-1]
        node.attr["value"].tensor.dtype = 1
        node.attr["value"].tensor.float_val.append(2.0)
        node.attr["value"].tensor.tensor_shape.SetInParent()
        return made

    def weight(self, *shape: int) -> str:
        made = self.op("VariableV2")
        for size in shape:
            self.graph.node[-1].attr["shape"].shape.dim.add(size=size)
        return self.op("Identity", made)

    def dense(self, x: str) -> str:
        return self.op("BatchMatMulV2", x, self.weight(64, 64))

    def tables(self) -> tuple[str, str]:
        """Cosine and sine of positions, as an input."""
        angles = self.op("Placeholder")
        return self.op("Cos", angles), self.op("Sin", angles)

    def model(self) -> Model:
        return load(self.graph)


def idioms(model: Model, how: GroupOrigin) -> list[tuple[str, int]]:
    """The label and the number of ops of each box of an idiom."""
    hierarchy = model.hierarchy
    found = [row for row in range(len(hierarchy)) if hierarchy.how[row] == how]
    return [(hierarchy.display_label(row), len(hierarchy.children(row))) for row in found]


def turn_halves(net: Net, x: str, cos: str, sin: str) -> str:
    """x · cos + (−x₂, x₁) · sin"""
    one, two = net.op("StridedSlice", x), net.op("StridedSlice", x)
    turned = net.op("ConcatV2", net.op("Neg", two), one, net.number())
    return net.op("AddV2", net.op("Mul", x, cos), net.op("Mul", turned, sin))


def turn_parts(net: Net, x: str, cos: str, sin: str) -> str:
    """(x₁ · cos − x₂ · sin, x₂ · cos + x₁ · sin)"""
    split = net.op("Split", net.number(), x)
    one, two = split, f"{split}:1"
    left = net.op("Sub", net.op("Mul", one, cos), net.op("Mul", two, sin))
    right = net.op("AddV2", net.op("Mul", two, cos), net.op("Mul", one, sin))
    return net.op("ConcatV2", left, right, net.number())


def turn_pairs(net: Net, x: str, cos: str, sin: str) -> str:
    """As `turn_parts`, of every second element; a reshape puts the pairs in turn."""
    one, two = net.op("StridedSlice", x), net.op("StridedSlice", x)
    left = net.op("Sub", net.op("Mul", one, cos), net.op("Mul", two, sin))
    right = net.op("AddV2", net.op("Mul", two, cos), net.op("Mul", one, sin))
    return net.op("Reshape", net.op("Pack", left, right), net.op("Shape", x))


def turn_part_of_it(net: Net, x: str, cos: str, sin: str) -> str:
    """The first elements are turned, the others stay."""
    return net.op("ConcatV2", turn_halves(net, net.op("StridedSlice", x), cos, sin), net.op("StridedSlice", x))


def turn_numbers(net: Net, x: str, cos: str, sin: str) -> str:
    """Complex numbers times numbers of length one."""
    number = net.op("Complex", net.op("StridedSlice", x), net.op("StridedSlice", x))
    turned = net.op("Mul", number, net.op("Complex", cos, sin))
    return net.op("Reshape", net.op("Pack", net.op("Real", turned), net.op("Imag", turned)), net.op("Shape", x))


def attend(net: Net, q: str, k: str, v: str) -> str:
    """softmax(q kᵀ · number + mask) v"""
    scores = net.op("Mul", net.op("BatchMatMulV2", q, k), net.number())
    weights = net.op("Softmax", net.op("AddV2", scores, net.op("Placeholder")))
    return net.op("BatchMatMulV2", weights, v)


Turn = Callable[[Net, str, str, str], str]


@each(("turn", "ops"), [(turn_halves, 7), (turn_parts, 8), (turn_pairs, 11), (turn_part_of_it, 10), (turn_numbers, 10)])
def test_a_rotary_embedding_is_one_box_for_queries_and_for_keys(turn: Turn, ops: int) -> None:
    net = Net(named=False)
    cos, sin = net.tables()
    x = net.op("Placeholder")
    q, k = (turn(net, net.dense(x), cos, sin) for _ in range(2))
    net.dense(attend(net, q, k, net.dense(x)))
    assert idioms(net.model(), GroupOrigin.ROTARY) == [("rotary", ops)] * 2


def test_tables_of_positions_that_only_one_rotation_uses_are_part_of_it() -> None:
    net = Net(named=False)
    x = net.op("Placeholder")
    ends = []
    for _ in range(2):
        angles = net.op("Mul", net.op("Placeholder"), net.number())
        ends.append(turn_halves(net, net.dense(x), net.op("Cos", angles), net.op("Sin", angles)))
    net.dense(attend(net, *ends, net.dense(x)))
    assert idioms(net.model(), GroupOrigin.ROTARY) == [("rotary", 7 + 3)] * 2  # with Cos, Sin and their Mul


def test_gates_and_products_of_parts_of_one_tensor_are_no_rotation() -> None:
    # A gated unit multiplies parts of one tensor with each other, a mixture adds two tensors.
    net = Net(named=False)
    x = net.dense(net.op("Placeholder"))
    one, two = net.op("StridedSlice", x), net.op("StridedSlice", x)
    gated = net.op("Mul", one, net.op("Neg", two))
    joined = net.op("ConcatV2", net.op("AddV2", gated, one), net.op("Mul", two, gated), net.number())
    net.dense(net.op("Relu", net.dense(joined)))
    assert idioms(net.model(), GroupOrigin.ROTARY) == []


def norm_of_squares(net: Net, x: str) -> str:
    """An RMS norm with a scale."""
    root = net.op("Rsqrt", net.op("AddV2", net.op("Mean", net.op("Square", x), net.number()), net.number()))
    return net.op("Mul", net.op("Mul", x, root), net.weight(64))


def norm_of_centred(net: Net, x: str) -> str:
    """A layer norm with a scale and a shift."""
    centred = net.op("Sub", x, net.op("Mean", x, net.number()))
    mean = net.op("Mean", net.op("Square", centred), net.number())
    scaled = net.op("Mul", centred, net.op("Rsqrt", net.op("AddV2", mean, net.number())))
    return net.op("AddV2", net.op("Mul", scaled, net.weight(64)), net.weight(64))


@each(("norm", "ops"), [(norm_of_squares, 6), (norm_of_centred, 9)])
def test_a_norm_is_one_box_with_its_scale_and_shift(norm: Callable[[Net, str], str], ops: int) -> None:
    net = Net(named=False)
    x = net.op("Placeholder")
    for _ in range(2):
        x = net.op("AddV2", x, net.dense(net.op("Relu", net.dense(norm(net, x)))))
    assert idioms(net.model(), GroupOrigin.NORM) == [("norm", ops)] * 2


def test_a_residual_around_a_norm_is_no_part_of_it() -> None:
    net = Net(named=False)
    x = net.dense(net.op("Placeholder"))
    x = net.op("AddV2", x, norm_of_squares(net, x))
    net.dense(net.op("Relu", net.dense(x)))
    assert idioms(net.model(), GroupOrigin.NORM) == [("norm", 6)]


def test_products_around_a_softmax_are_one_attention() -> None:
    net = Net(named=False)
    x = net.op("Placeholder")
    net.dense(attend(net, net.dense(x), net.dense(x), net.dense(x)))
    assert idioms(net.model(), GroupOrigin.ATTENTION) == [("attention", 5)]


def test_a_mask_of_the_size_of_the_scores_is_part_of_their_attention() -> None:
    #  q kᵀ ─┬───────────────────────────▶ select ─▶ softmax ─▶ · v
    #        └─▶ shape ─▶ range ─▶ greater ─▲
    net = Net(named=False)
    x = net.op("Placeholder")
    scores = net.op("Mul", net.op("BatchMatMulV2", net.dense(x), net.dense(x)), net.number())
    size = net.op("StridedSlice", net.op("Shape", scores), net.number(), net.number(), net.number())
    steps = net.op("Range", net.number(), size, net.number())
    causal = net.op("GreaterEqual", net.op("ExpandDims", steps, net.number()), steps)
    masked = net.op("SelectV2", causal, scores, net.number())
    net.dense(net.op("BatchMatMulV2", net.op("Softmax", masked), net.dense(x)))
    assert idioms(net.model(), GroupOrigin.ATTENTION) == [("attention", 6)]  # two products, ×, mask, select, softmax


@each("name", ["llama.dynamo.onnx.gz", "llama.script.onnx.gz"])
def test_each_layer_of_an_exported_program_has_one_attention(name: str) -> None:
    model = load(EXPORTED / name)
    layers = sum(label.endswith(("[self_attn]", "/self_attn")) for label in model.hierarchy.name)
    assert [label for label, _ in idioms(model, GroupOrigin.ATTENTION)] == ["attention"] * layers
    assert layers


def test_an_idiom_with_a_name_of_the_program_keeps_it() -> None:
    net = Net()
    x = net.op("Placeholder", name="x")
    mean = net.op("Mean", net.op("Square", x, name="final_norm_sq"), net.number(), name="final_norm_mean")
    root = net.op("Rsqrt", net.op("AddV2", mean, net.number(), name="final_norm_add"), name="final_norm_rsqrt")
    y = net.op("Mul", x, root, name="final_norm_mul")
    for number in range(4):
        y = net.op("Relu", net.op("BatchMatMulV2", y, net.weight(64, 64), name=f"up_{number}"), name=f"act_{number}")
    assert [name for name, _ in idioms(net.model(), GroupOrigin.NORM)] == ["final_norm"]


def test_a_group_that_is_nothing_but_an_idiom_has_no_box_in_it() -> None:
    net = Net()
    x = net.op("Placeholder", name="x")
    root = net.op("Rsqrt", net.op("Mean", net.op("Square", x, name="n/sq"), net.number(), name="n/mean"), name="n/root")
    net.op("Relu", net.op("Mul", x, root, name="n/mul"), name="y")
    hierarchy = net.model().hierarchy
    assert not set(hierarchy.how.tolist()) & {int(how) for how in IDIOM_ORIGINS}


def test_ops_that_mix_elements_are_not_elementwise() -> None:
    mixing = (
        "FFT",
        "Cholesky",
        "MatrixInverse",
        "Cumsum",
        "aten::cumsum",
        "onnx::CumSum",
        "tfl::CUMSUM",
        "aten::outer",
    )
    assert not any(map(is_elementwise, mixing))
    assert all(map(is_elementwise, ("Mul", "aten::neg", "onnx::Erf", "tfl::LOGISTIC", "Sqrt")))


def test_sine_and_cosine_of_positions_are_one_box() -> None:
    # Both are used by all layers; what leads to them, and the axis that is added, is part of the box.
    net = Net(named=False)
    x = net.op("Placeholder")
    angles = net.op("Mul", net.op("Cast", net.op("Range", net.number(), net.number(), net.number())), net.number())
    cos, sin = (net.op("ExpandDims", net.op(kind, angles), net.number()) for kind in ("Cos", "Sin"))
    for _ in range(3):
        x = net.op("AddV2", net.op("Mul", net.dense(x), cos), net.op("Mul", net.dense(x), sin))
    assert idioms(net.model(), GroupOrigin.SINUSOIDS) == [("sinusoids", 7)]


def test_a_mask_may_take_the_positions_of_sinusoids() -> None:
    # The scale of attention is part of the box, too.
    net = Net(named=False)
    x = net.op("Placeholder")
    steps = net.op("Range", net.number(), net.number(), net.number())
    causal = net.op("GreaterEqual", net.op("ExpandDims", steps, net.number()), steps)
    padded = net.op("LogicalAnd", causal, net.op("LogicalNot", causal))
    angles = net.op("Mul", net.op("Cast", steps), net.number())
    cos, sin = (net.op("Mul", net.op(kind, angles), net.number()) for kind in ("Cos", "Sin"))
    for _ in range(4):
        turned = net.op("AddV2", net.op("Mul", net.dense(x), cos), net.op("Mul", net.dense(x), sin))
        x = net.op("SelectV2", padded, net.dense(turned), turned)
    assert idioms(net.model(), GroupOrigin.SINUSOIDS) == [("sinusoids", 7)]


def test_products_in_scopes_of_their_own_are_attention_too() -> None:
    net = Net()
    x = net.op("Placeholder", name="x")
    q, k, v = (net.op("BatchMatMulV2", x, net.weight(64, 64), name=name) for name in ("q", "k", "v"))
    scores = net.op("Einsum", q, k, name="einsum/Einsum")
    weights = net.op("Softmax", net.op("RealDiv", scores, net.number(), name="scaled"), name="weights")
    mixed = net.op("Einsum", weights, v, name="einsum_1/Einsum")
    net.op("BatchMatMulV2", mixed, net.weight(64, 64), name="out")
    assert [name for name, _ in idioms(net.model(), GroupOrigin.ATTENTION)] == ["attention"]


@each(
    ("way", "ops"),
    [
        ("erf", 5),  # x · (1 + erf(x / √2)) · ½
        ("tanh", 8),  # x / 2 · (1 + tanh(√(2/π) · (x + 0.0447 x³)))
        ("scaled sigmoid", 3),
        ("sigmoid of another tensor", 0),
        ("parts of a tensor", 0),  # as in a cell: one part times a function of another
        ("by a weight", 0),
    ],
)
def test_an_activation_of_several_ops_is_one_box(way: str, ops: int) -> None:
    net = Net(named=False)
    x = net.op("Placeholder")
    for _ in range(3):
        x = y = net.dense(x)
        if way == "erf":
            gate = net.op("AddV2", net.op("Erf", net.op("RealDiv", x, net.number())), net.number())
            y = net.op("Mul", net.op("Mul", x, gate), net.number())
        elif way == "tanh":
            cube = net.op("Mul", net.op("Pow", x, net.number()), net.number())
            gate = net.op("Tanh", net.op("Mul", net.op("AddV2", x, cube), net.number()))
            y = net.op("Mul", net.op("Mul", x, net.number()), net.op("AddV2", gate, net.number()))
        elif way == "scaled sigmoid":
            y = net.op("Mul", x, net.op("Sigmoid", net.op("Mul", x, net.number())))
        elif way == "sigmoid of another tensor":
            y = net.op("Mul", x, net.op("Sigmoid", net.op("Neg", net.dense(x))))
        elif way == "parts of a tensor":
            parts = net.op("Split", net.number(), x)
            y = net.op("Mul", f"{parts}:1", net.op("Sigmoid", net.op("Neg", parts)))
        elif way == "by a weight":
            y = net.op("Mul", x, net.op("Sigmoid", net.op("Mul", x, net.weight(64))))
        x = net.op("Relu", net.dense(y))
    assert idioms(net.model(), GroupOrigin.ACTIVATION) == ([("activation", ops)] * 3 if ops else [])


def test_one_op_of_attention_is_a_box_with_what_splits_and_joins_heads() -> None:
    # x ─▶ dense ─▶ chunk ─▶ view ─▶ transpose ─▶ attention ─▶ transpose ─▶ view ─▶ dense
    net = Net(named=False)
    x = net.op("Placeholder")
    for _ in range(3):
        made = net.op("aten::chunk", net.dense(x))
        parts = [f"{made}:{part}" if part else made for part in range(3)]
        heads = [net.op("aten::transpose", net.op("aten::view", part)) for part in parts]
        mixed = net.op("aten::scaled_dot_product_attention", *heads)
        joined = net.op("aten::view", net.op("aten::contiguous", net.op("aten::transpose", mixed)))
        x = net.op("AddV2", x, net.op("Relu", net.dense(joined)))
    assert idioms(net.model(), GroupOrigin.ATTENTION) == [("attention", 1 + 6 + 1 + 3)] * 3


def divided_by_root(net: Net, x: str) -> str:
    """As `tf.math.l2_normalize`."""
    total = net.op("Maximum", net.op("Sum", net.op("Square", x), net.number()), net.number())
    return net.op("Mul", x, net.op("Rsqrt", total))


def divided_by_power(net: Net, x: str) -> str:
    total = net.op("Sum", net.op("Pow", x, net.number()), net.number())
    return net.op("RealDiv", x, net.op("Pow", total, net.number()))


def divided_by_measure(net: Net, x: str) -> str:
    """As `torch.nn.functional.normalize`."""
    return net.op("RealDiv", x, net.op("Maximum", net.op("onnx::ReduceL2", x), net.number()))


@each("divide", [divided_by_root, divided_by_power, divided_by_measure])
def test_a_vector_divided_by_its_length_is_one_box(divide: Callable[[Net, str], str]) -> None:
    # image ─▶ dense ─▶ l2 norm ─┐
    # text ──▶ dense ─▶ l2 norm ─┴▶ product
    net = Net(named=False)
    one, two = (divide(net, net.dense(net.op("Relu", net.dense(net.op("Placeholder"))))) for _ in range(2))
    net.op("BatchMatMulV2", one, two)
    found = idioms(net.model(), GroupOrigin.L2_NORM)
    assert [name for name, _ in found] == ["l2 norm", "l2 norm"]
    assert not idioms(net.model(), GroupOrigin.NORM)


def test_a_share_of_a_sum_is_no_length() -> None:
    net = Net(named=False)
    x = net.dense(net.op("Relu", net.dense(net.op("Placeholder"))))
    share = net.op("RealDiv", x, net.op("Maximum", net.op("Sum", net.op("Exp", x), net.number()), net.number()))
    net.dense(net.op("Relu", net.dense(share)))
    assert not idioms(net.model(), GroupOrigin.L2_NORM)


@each(
    ("way", "ops"),
    [
        ("one of two layers is active", 5),
        ("neither is active", 0),
        ("the product feeds others", 0),
        ("of two tensors", 0),
        ("by a number", 0),
    ],
)
def test_a_gated_block_is_one_box(way: str, ops: int) -> None:
    # x ─┬─▶ dense ─▶ Relu ─▶ Mul ─▶ dense ─▶ Add ─▶ …
    #    └─▶ dense ────────────▲
    net = Net(named=False)
    x = net.op("Placeholder")
    for _ in range(3):
        norm = net.op("Abs", x)
        gate, line = net.dense(norm), net.dense(x if way == "of two tensors" else norm)
        gate = gate if way == "neither is active" else net.op("Relu", gate)
        product = net.op("Mul", gate, net.number() if way == "by a number" else line)
        y = net.dense(product)
        y = net.op("AddV2", y, line if way == "by a number" else product) if "feeds" in way or "number" in way else y
        x = net.op("AddV2", x, y)
    net.op("Exp", x)
    model = net.model()
    found = idioms(model, GroupOrigin.FEED_FORWARD)
    assert found == ([("feed forward", ops - 1)] * 3 if ops else [])  # a layer and its activation are one of its boxes


def test_a_level_that_is_nothing_but_a_gated_block_has_no_box_in_it() -> None:
    net = Net()
    x = net.op("Placeholder", name="x")
    for layer in range(3):
        weights = [net.weight(64, 64) for _ in range(3)]
        gate = net.op("BatchMatMulV2", x, weights[0], name=f"mlp{layer}/gate")
        line = net.op("BatchMatMulV2", x, weights[1], name=f"mlp{layer}/line")
        product = net.op("Mul", net.op("Relu", gate, name=f"mlp{layer}/act"), line, name=f"mlp{layer}/mul")
        x = net.op("BatchMatMulV2", product, weights[2], name=f"mlp{layer}/out")
    assert idioms(net.model(), GroupOrigin.FEED_FORWARD) == []


def test_a_table_that_is_looked_up_by_distances_is_one_box() -> None:
    # range ─▶ … ─▶ lookup ─▶ transpose, which all layers add; a table of tokens is a layer
    net = Net(named=False)
    tokens = net.op("Placeholder")
    at = net.op("Range", net.number(), net.number(), net.number())
    far = net.op("Sub", net.op("ExpandDims", at, net.number()), net.op("ExpandDims", at, net.number()))
    bias = net.op("Transpose", net.op("GatherV2", net.weight(32, 8), net.op("Abs", far), net.number()), net.number())
    x = net.op("GatherV2", net.weight(100, 64), tokens, net.number())
    for _ in range(3):
        x = net.op("AddV2", net.dense(net.op("Tanh", net.dense(x))), bias)
    found = idioms(net.model(), GroupOrigin.POSITIONS)
    assert [name for name, _ in found] == ["positions"]
