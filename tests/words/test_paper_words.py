"""What a paper writes for the parts of a network."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb import load
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.proto import GraphDef
from graphviz_tb.words.paper import PaperWords


def weight(name: str, *shape: int) -> dict[str, object]:
    dims = [{"size": size} for size in shape]
    return {"name": name, "op": "Const", "attr": {"value": {"tensor": {"dtype": 1, "tensor_shape": {"dim": dims}}}}}


def numbers(name: str, *values: int) -> dict[str, object]:
    tensor = {"dtype": 3, "int_val": list(values), "tensor_shape": {"dim": [{"size": len(values)}]}}
    return {"name": name, "op": "Const", "attr": {"value": {"tensor": tensor}}}


def words(*nodes: dict[str, object]) -> dict[str, str | None]:
    """The words for every row, by name."""
    hierarchy: Hierarchy = load(GraphDef(node=list(nodes))).hierarchy  # type: ignore[arg-type]
    paper = PaperWords(hierarchy)
    return {hierarchy.name[row]: paper.words_of_row(row) for row in range(1, len(hierarchy))}


def convolution(scope: str, source: str, *kernel: int, stride: int = 1) -> list[dict[str, object]]:
    strides = {"list": {"i": [1, stride, stride, 1]}}
    return [
        weight(f"{scope}/kernel", *kernel),
        {"name": f"{scope}/Conv2D", "op": "Conv2D", "input": [source, f"{scope}/kernel"], "attr": {"strides": strides}},
        {"name": f"{scope}/Relu", "op": "Relu", "input": [f"{scope}/Conv2D"]},
    ]


def product(name: str, source: str, *kernel: int) -> list[dict[str, object]]:
    return [weight(f"{name}_kernel", *kernel), {"name": name, "op": "MatMul", "input": [source, f"{name}_kernel"]}]


IMAGE: dict[str, object] = {"name": "image", "op": "Placeholder"}


def test_a_convolution_says_kernel_channels_and_stride() -> None:
    assert words(IMAGE, *convolution("stem", "image", 7, 7, 3, 64, stride=2))["stem"] == "7×7, 64, /2 · ReLU"


def test_several_convolutions_are_said_in_the_order_of_the_flow() -> None:
    # block/a (1×1) ─▶ block/b (3×3); in the file b comes first
    one, two = convolution("block/a", "image", 1, 1, 64, 16), convolution("block/b", "block/a/Relu", 3, 3, 16, 16)
    assert words(IMAGE, *two, *one)["block"] == "1×1 16, 3×3 16"


def test_a_feed_forward_block_says_its_widths() -> None:
    nodes = [*product("ffn/up", "image", 768, 3072), {"name": "ffn/act", "op": "Relu", "input": ["ffn/up"]}]
    said = words(IMAGE, *nodes, *product("ffn/down", "ffn/act", 3072, 768))
    assert said["ffn"] == "768 → 3072 → 768, ReLU"
    assert said["ffn/up"] == "→ 3072"


def test_an_embedding_says_its_table() -> None:
    nodes = [weight("embed/table", 30522, 768)]
    lookup: dict[str, object] = {"name": "embed/rows", "op": "GatherV2", "input": ["embed/table", "image"]}
    assert words(IMAGE, *nodes, lookup)["embed"] == "30\u2009522 × 768"


def test_rows_of_a_table_that_are_added_to_those_of_another_are_an_embedding_too() -> None:
    # words ─▶ look up ─▶ + ─▶       positions ─▶ slice ─▶ expand ─▶ +
    nodes = [weight("embed/words", 1000, 64), weight("embed/positions", 512, 64), numbers("embed/size", 32, 64)]
    ops = [
        ("rows", "GatherV2", ["embed/words", "image"]),
        ("slice", "Slice", ["embed/positions", "embed/size", "embed/size"]),
        ("expand", "ExpandDims", ["embed/slice", "embed/size"]),
        ("sum", "AddV2", ["embed/rows", "embed/expand"]),
        ("product", "MatMul", ["image", "embed/slice"]),
    ]
    made = [{"name": f"embed/{name}", "op": op, "input": inputs} for name, op, inputs in ops]
    assert words(IMAGE, *nodes, *made[:-1])["embed"] == "1000 × 64, position 512 × 64"
    assert words(IMAGE, *nodes, *made)["embed"] != "1000 × 64, position 512 × 64"  # a kernel in parts, as of an LSTM


def test_nothing_is_guessed_where_a_kernel_is_unknown() -> None:
    handle: dict[str, object] = {"name": "net/w", "op": "VarHandleOp"}
    read: dict[str, object] = {"name": "net/read", "op": "ReadVariableOp", "input": ["net/w"]}
    conv: dict[str, object] = {"name": "net/Conv2D", "op": "Conv2D", "input": ["image", "net/read"]}
    pool: dict[str, object] = {"name": "net/pool", "op": "MaxPool", "input": ["net/Conv2D"]}
    assert words(IMAGE, handle, read, conv, pool)["net"] is None


def tensordot(name: str, source: str, width: int) -> list[dict[str, object]]:
    """A product with a weight of unknown size, brought back to the axes of what it is made of."""
    return [
        {"name": f"{name}/w", "op": "VarHandleOp"},
        {"name": f"{name}/read", "op": "ReadVariableOp", "input": [f"{name}/w"]},
        {"name": f"{name}/MatMul", "op": "MatMul", "input": [source, f"{name}/read"]},
        {"name": f"{name}/Shape", "op": "Shape", "input": [source]},
        numbers(f"{name}/width", width),
        numbers(f"{name}/axis", 0),
        {
            "name": f"{name}/concat",
            "op": "ConcatV2",
            "input": [f"{name}/{part}" for part in ("Shape", "width", "axis")],
        },
        {"name": f"{name}/Reshape", "op": "Reshape", "input": [f"{name}/MatMul", f"{name}/concat"]},
    ]


def test_a_product_with_an_unknown_kernel_has_the_width_that_its_shape_is_restored_to() -> None:
    # net: ─┬─▶ up ─▶ Relu ─▶ × ─▶ down
    #       └─▶ gate ─────────┘
    nodes = [*tensordot("net/up", "image", 64), *tensordot("net/gate", "image", 64)]
    nodes.append({"name": "net/act", "op": "Relu", "input": ["net/up/Reshape"]})
    nodes.append({"name": "net/mul", "op": "Mul", "input": ["net/act", "net/gate/Reshape"]})
    said = words(IMAGE, *nodes, *tensordot("net/down", "net/mul", 32))
    assert (said["net"], said["net/down"]) == ("gated 64, ReLU", "→ 32")


def test_a_norm_says_nothing_and_a_large_group_its_parameters() -> None:
    layers = [
        node
        for place, kernel in enumerate((3, 1, 5, 2, 4, 7, 6, 9, 8))  # nothing repeats
        for node in convolution(f"net/c{place}", f"net/c{place - 1}/Relu" if place else "image", kernel, kernel, 8, 8)
    ]
    said = words(IMAGE, *layers)
    assert said["net"] is not None
    assert "layers" in said["net"]


def test_of_attention_the_heads() -> None:
    shape: dict[str, object] = {
        "name": "att/shape",
        "op": "Const",
        "attr": {
            "value": {"tensor": {"dtype": 3, "tensor_shape": {"dim": [{"size": 4}]}, "int_val": [-1, 32, 12, 64]}}
        },
    }
    nodes: list[dict[str, object]] = [shape]
    for name in ("query", "key", "value"):
        nodes += product(f"att/{name}", "image", 768, 768)
        nodes.append({"name": f"att/{name}_heads", "op": "Reshape", "input": [f"att/{name}", "att/shape"]})
    nodes += [
        {"name": "att/scores", "op": "BatchMatMulV2", "input": ["att/query_heads", "att/key_heads"]},
        {"name": "att/weights", "op": "Softmax", "input": ["att/scores"]},
        {"name": "att/mixed", "op": "BatchMatMulV2", "input": ["att/weights", "att/value_heads"]},
    ]
    assert words(IMAGE, *nodes)["att"] == "12 heads × 64"


def test_a_stack_of_two_says_nothing_that_is_true_of_one_alone() -> None:
    """MobileNetV3: the blocks 1 and 2 expand to 72 and to 88 channels, and the first has a stride."""
    hierarchy = load(Path(__file__).parents[2] / "fixtures" / "shapes" / "MobileNetV3Small.pb.gz").hierarchy
    paper = PaperWords(hierarchy)
    said = {hierarchy.name[row].rpartition("/")[2]: paper.words_of_row(row) for row in range(1, len(hierarchy))}
    row = next(row for row in range(len(hierarchy)) if hierarchy.name[row].endswith("expanded_conv_[3-5]"))
    assert "88" not in (said["expanded_conv_[1-2]"] or "")
    assert said["expanded_conv_[3-5]"] == "1×1 240, dw 5×5, SE 64, 1×1 40"
    assert (paper.first_of(row) or "").startswith("1×1 96, dw 5×5 /2")


def test_one_member_with_another_stride_takes_the_words_of_a_stack() -> None:
    layers = [
        node
        for place in range(12)
        for node in convolution(
            f"net/c{place}", f"net/c{place - 1}/Relu" if place else "image", 3, 3, 8, 8, stride=1 + (place == 7)
        )
    ]
    said = words(IMAGE, *layers)
    assert said["net/c7"] == "3×3, 8, /2 · ReLU"
    assert said["net/c[0-11]"] == "576 parameters each"


def test_words_add_no_attribute_to_the_graph() -> None:
    """Indexing the attributes of a message adds a key; a picture must leave the message as it was read."""
    path = Path(__file__).parents[2] / "fixtures" / "real" / "mnist_cnn.pbtxt"
    model = load(path)
    before = model.hierarchy.graph.graph_def.SerializeToString(deterministic=True)
    model.picture(open_all=True).render("svg")
    assert model.hierarchy.graph.graph_def.SerializeToString(deterministic=True) == before


def test_equal_stages_say_how_many_blocks_each_has() -> None:
    # s0/b0 ─▶ s0/b1 ─▶ s0/b2 ─▶ s1/b0 …: three stages of three blocks
    nodes, source = [IMAGE], "image"
    for stage in range(3):
        for block in range(3):
            scope = f"net/s{stage}/b{block}"
            nodes += [
                *convolution(f"{scope}/one", source, 3, 3, 8, 8),
                *convolution(f"{scope}/two", f"{scope}/one/Relu", 3, 3, 8, 8),
            ]
            source = f"{scope}/two/Relu"
    said = words(*nodes)
    assert said["net/s[0-2]"] == "3 stages × 3 · 3×3 8, 3×3 8"
    assert said["net/s0"] == "3×3 8, 3×3 8"


def test_a_stage_of_two_unlike_blocks_says_its_way() -> None:
    # image ─▶ a ─▶ b ─▶ sum ─▶ c ─▶ d      (the stage)
    #      └─▶ shortcut ─▶ sum
    nodes = [
        *convolution("stage/a", "image", 3, 3, 64, 128, stride=2),
        *convolution("stage/b", "stage/a/Relu", 3, 3, 128, 128),
        *convolution("stage/shortcut", "image", 1, 1, 64, 128, stride=2),
        {"name": "stage/sum", "op": "AddV2", "input": ["stage/b/Relu", "stage/shortcut/Relu"]},
        *convolution("stage/c", "stage/sum", 3, 3, 128, 128),
        *convolution("stage/d", "stage/c/Relu", 3, 3, 128, 128),
    ]
    assert words(IMAGE, *nodes)["stage"] == "3×3 128 /2, 3 × (3×3 128), projection"


def test_a_group_of_a_stack_says_how_many_blocks_it_has() -> None:
    hierarchy = load(Path(__file__).parents[2] / "fixtures/exported/vit.pt2").hierarchy
    encoder = next(row for row, name in enumerate(hierarchy.name) if name.endswith("Encoder[encoder]"))
    assert PaperWords(hierarchy).words_of_row(encoder) == "6 × (4 heads × 8)"


def test_the_dilations_of_the_blocks_of_a_group_begin_with_the_first() -> None:
    # net/b0 (d1) ─▶ net/b1 (d3) ─▶ net/b2 (d9) ─▶ net/down
    nodes, source = [IMAGE], "image"
    for block, far in enumerate((1, 3, 9)):
        wide = convolution(f"net/b{block}/wide", source, 3, 3, 16, 16)
        wide[1]["attr"]["dilations"] = {"list": {"i": [1, far, far, 1]}}  # type: ignore[index]
        nodes += [*wide, *convolution(f"net/b{block}/one", f"net/b{block}/wide/Relu", 1, 1, 16, 16)]
        source = f"net/b{block}/one/Relu"
    said = words(*nodes, *convolution("net/down", source, 4, 4, 16, 32, stride=4))
    assert said["net"] == "3 × (3×3 16 d1…9, 1×1 16)"


def test_a_convolution_over_a_row_says_its_kernel_and_its_dilation() -> None:
    nodes = [
        numbers("net/four", 4),
        {"name": "net/blocks", "op": "SpaceToBatchND", "input": ["image", "net/four", "net/none"]},
        {"name": "net/image", "op": "ExpandDims", "input": ["net/blocks", "net/axis"]},
        weight("net/kernel", 2, 8, 16),
        {"name": "net/wide", "op": "ExpandDims", "input": ["net/kernel", "net/axis"]},
        {"name": "net/conv", "op": "Conv2D", "input": ["net/image", "net/wide"], "attr": {"padding": {"s": b"VALID"}}},
    ]
    assert words(IMAGE, *nodes)["net"] == "k2, 16, d4"


def test_a_mean_before_a_norm_is_a_pool_and_no_part_of_it() -> None:
    pool = {"name": "head/pool", "op": "Mean", "input": ["image", "axes"]}
    mean = {"name": "head/mean", "op": "Mean", "input": ["head/pool", "last"]}
    less = {"name": "head/sub", "op": "Sub", "input": ["head/pool", "head/mean"]}
    assert words(IMAGE, numbers("axes", 1, 2), pool, mean, less)["head/pool"] == "global avg"


def test_a_series_of_ops_says_nothing_that_is_true_of_one_alone() -> None:
    # Columns of a table of numbers are taken in turn; only the last op looks up rows of weights.
    axis = numbers("axis", 0)
    nodes: list[dict[str, object]] = [IMAGE, axis, weight("table", 1000, 16)]
    for place, table in enumerate(("image", "gather_0", "table")):
        taken = [table, "axis" if place < 2 else "gather_1", "axis"]
        nodes.append({"name": f"gather_{place}", "op": "GatherV2", "input": taken})
    nodes.append({"name": "out", "op": "Relu", "input": ["gather_2"]})
    said = words(*nodes)
    assert not any(text and "1000 × 16" in text for name, text in said.items() if name != "gather_2"), said


def test_equal_blocks_that_a_layer_chooses_from_are_experts() -> None:
    def network(routed: int) -> dict[str, str | None]:
        nodes = [IMAGE, numbers("moe/two", 2), *product("moe/router", "image", 64, routed)]
        nodes.append({"name": "moe/TopK", "op": "TopKV2", "input": ["moe/router", "moe/two"]})
        for expert in range(4):
            scope = f"moe/expert_{expert}"
            nodes += product(f"{scope}/up", "image", 64, 256)
            nodes.append({"name": f"{scope}/Relu", "op": "Relu", "input": [f"{scope}/up"]})
            nodes += product(f"{scope}/down", f"{scope}/Relu", 256, 64)
            nodes.append({"name": f"{scope}/mul", "op": "Mul", "input": [f"{scope}/down", f"moe/TopK:{expert % 2}"]})
        nodes.append({"name": "moe/sum", "op": "AddN", "input": [f"moe/expert_{expert}/mul" for expert in range(4)]})
        return words(*nodes)

    assert network(4)["moe"] == "4 experts, top 2, 64 → 256 → 64"
    assert network(6)["moe"] == "4 × (64 → 256 → 64, ReLU)"  # chosen from others


def gru(scope: str, source: str, units: int) -> list[dict[str, object]]:
    """A GRU that control flow v1 calls again and again."""
    nodes: list[dict[str, object]] = [
        {"name": f"{scope}/{name}", "op": op, "input": [each.replace("~", f"{scope}/") for each in inputs]}
        for name, op, inputs in (
            ("data", "Enter", [source]), ("start", "Enter", [source]), ("merge", "Merge", ["~start", "~next"]),
            ("more", "Less", ["~merge", "~data"]), ("cond", "LoopCond", ["~more"]),
            ("switch", "Switch", ["~merge", "~cond"]), ("x", "Split", ["~in"]), ("h", "Split", ["~state"]),
            ("r", "Sigmoid", ["~add_r"]), ("add_r", "AddV2", ["~x", "~h"]), ("z", "Sigmoid", ["~add_z"]),
            ("add_z", "AddV2", ["~x:1", "~h:1"]), ("rh", "Mul", ["~r", "~h:2"]), ("add_n", "AddV2", ["~x:2", "~rh"]),
            ("n", "Tanh", ["~add_n"]), ("zn", "Mul", ["~z", "~n"]), ("new", "AddV2", ["~zn", "~switch:1"]),
            ("next", "NextIteration", ["~new"]), ("exit", "Exit", ["~switch"]),
        )
    ]  # fmt: skip
    kernels = [*product(f"{scope}/in", f"{scope}/data", 24, 3 * units)]
    return [*nodes, *kernels, *product(f"{scope}/state", f"{scope}/switch:1", units, 3 * units)]


def read_twice(second: str, reverse: str) -> dict[str, str | None]:
    """Two GRUs in one scope; the second reads `second` through an op."""
    turned: dict[str, object] = {"name": "rnn/b/turn", "op": reverse, "input": [second]}
    ends: dict[str, object] = {"name": "rnn/join", "op": "ConcatV2", "input": ["rnn/a/exit", "rnn/b/exit"]}
    return words(IMAGE, *gru("rnn/a", "image", 16), turned, *gru("rnn/b", "rnn/b/turn", 16), ends)


def test_cells_side_by_side_are_one_layer_if_one_reads_backwards() -> None:
    assert read_twice("image", "ReverseV2")["rnn/a"] == "GRU 16"
    assert read_twice("image", "ReverseV2")["rnn"] == "bi GRU 2 × 16"
    assert "bi" not in (read_twice("image", "Identity")["rnn"] or "")
    assert "bi" not in (read_twice("rnn/a/exit", "ReverseV2")["rnn"] or "")
