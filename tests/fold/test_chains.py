"""Networks written here and folded: chains of scopes with skips, ways between two ops, dense chains, equal stages."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.hierarchy import RowKind


class Network:
    """Ops of a graph while it is written."""

    def __init__(self) -> None:
        self.ops: list[tuple[str, str, tuple[str, ...]]] = []

    def op(self, kind: str, name: str, *inputs: str) -> str:
        """Add an op and give back its name."""
        self.ops.append((name, kind, inputs))
        return name

    def dense(self, x: str, scope: str, kind: str = "Relu") -> str:
        """A layer with weights of its own."""
        weights = self.op("Placeholder", f"{scope}/w")
        bias = self.op("Placeholder", f"{scope}/b")
        return self.op(
            kind, f"{scope}/act", self.op("Add", f"{scope}/add", self.op("MatMul", f"{scope}/mul", x, weights), bias)
        )

    def model(self, names: str = "scopes") -> Model:
        """The graph, with its scopes, with scopes as words of names, or with numbers for names."""
        numbers = list(range(len(self.ops)))
        random.Random(1).shuffle(numbers)
        said = {name: name for name, _, _ in self.ops}
        if names == "words":
            said = {name: name.replace("/", "_") for name in said}
        if names == "numbers":
            said = {name: f"op_{number}" for name, number in zip(said, numbers, strict=True)}
        lines = (
            f'node {{ name: "{said[name]}" op: "{kind}" {" ".join(f"""input: "{said[each]}" """ for each in inputs)}}}'
            for name, kind, inputs in self.ops
        )
        return load("\n".join(lines).encode())


def heights(model: Model) -> list[int]:
    """The members of each stack that is in no other, by its rows."""
    hierarchy = model.hierarchy
    series = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]
    return [len(hierarchy.children(row)) for row in series if not within_series(model, row)]


def legs(model: Model) -> list[int]:
    """The equal members of each leg of a U."""
    return list(Counter(model.hierarchy.template[row] for row in sorted(model.hierarchy.legs)).values())


def within_series(model: Model, row: int) -> bool:
    """Whether a row lies in a stack."""
    hierarchy = model.hierarchy
    above = int(hierarchy.parent[row])
    while above > 0 and hierarchy.kind[above] != RowKind.SERIES:
        above = int(hierarchy.parent[above])
    return above > 0


def u_net(levels: int) -> Network:
    """A U-Net of equal levels, each with a skip to its counterpart."""
    net = Network()
    x, skips = net.op("Placeholder", "x"), []
    for level in range(levels):
        skips.append(net.dense(net.dense(x, f"down{level}/c1"), f"down{level}/c2"))
        x = net.op("MaxPool", f"down{level}/pool", skips[-1])
    for level in range(levels):
        x = net.op("ConcatV2", f"up{level}/concat", net.op("Resize", f"up{level}/resize", x), skips.pop())
        x = net.dense(net.dense(x, f"up{level}/c1"), f"up{level}/c2")
    net.op("Identity", "out", x)
    return net


@pytest.mark.parametrize("levels", [3, 4, 6])
def test_equal_scopes_in_a_chain_are_alike_whatever_skips_from_them(levels: int) -> None:
    """They are two stacks; the legs of a U of more than three levels are shown one by one."""
    model = u_net(levels).model()
    assert legs(model) == [levels, levels] if levels > 3 else heights(model) == [levels, levels]


def test_two_equal_scopes_and_those_that_do_not_feed_each_other_stay_apart() -> None:
    assert heights(u_net(2).model()) == [2] * 4  # two layers in each level
    net = Network()
    x = net.op("Placeholder", "x")
    for number in range(3):  # a ladder: each head reads another step
        x = net.dense(x, f"step{number}", ("Relu", "Tanh", "Elu")[number])
        net.op("Identity", f"out{number}", net.dense(net.dense(x, f"head{number}/c1"), f"head{number}/c2"))
    assert 3 not in heights(net.model())


@pytest.mark.parametrize("names", ["scopes", "words", "numbers"])
@pytest.mark.parametrize("ways", [8, 12, 26])
def test_equal_ways_from_one_input_into_one_op_are_one_stack(ways: int, names: str) -> None:
    net = Network()
    x, ends = net.op("Placeholder", "x"), []
    for way in range(ways):
        ids = net.op("Maximum", f"table{way}/max", net.op("Slice", f"table{way}/slice", x))
        found = net.op("GatherV2", f"table{way}/lookup", net.op("Placeholder", f"table{way}/w"), ids)
        ends.append(net.op("Sum", f"table{way}/sum", found))
    net.op("Pack", "pack", *ends)
    assert heights(net.model(names)) == [ways]


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_dense_chain_is_one_stack_from_its_first_layer_on(blocks: int) -> None:
    # All layers and the input of the block are concatenated: the first layer reads it, too.
    net = Network()
    x = net.dense(net.op("Placeholder", "x"), "stem", "Tanh")
    for block in range(blocks):
        outputs = [x]
        for layer in range(6):
            outputs.append(net.dense(outputs[-1], f"block{block}/layer{layer}"))
        x = net.dense(net.op("ConcatV2", f"block{block}/concat", *outputs), f"block{block}/mix", "Tanh")
    net.op("Identity", "out", x)
    assert 6 in heights(net.model("words"))
    assert 5 not in heights(net.model("words"))


def encoder(layers: int, first: str = "bias") -> Network:
    """Layers of which the first computes a bias that all read, or is a block of another kind."""
    net = Network()
    x, bias = net.op("Placeholder", "x"), ""
    for number in range(layers):
        scope = f"layer_{number}"
        inner = net.dense(
            net.dense(x, f"{scope}/query"), f"{scope}/key", "Tanh" if number or first == "bias" else "Erf"
        )
        if not number:
            bias = net.op(
                "Transpose", f"{scope}/bias", net.op("Range", f"{scope}/range", net.op("Shape", f"{scope}/shape", x))
            )
        x = net.op("Add", f"{scope}/sum", x, net.op("Mul", f"{scope}/scale", inner, bias))
    net.op("Identity", "out", x)
    return net


@pytest.mark.parametrize("names", ["scopes", "words"])
def test_the_first_layer_belongs_to_its_series_where_it_computes_what_all_others_read(names: str) -> None:
    model = encoder(8).model(names)
    assert heights(model) == [8]
    hierarchy = model.hierarchy
    assert [hierarchy.name[row] for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES] == [
        "layer_[0-7]"
    ]


def test_the_first_layer_is_one_of_those_that_read_its_bias_without_names_too() -> None:
    net = Network()
    x, bias = net.op("GatherV2", "embed", net.op("Placeholder", "ids")), ""
    for at in range(6):
        norm = net.op("Rsqrt", f"{at}/norm", x)
        query, key = net.dense(norm, f"{at}/query", "Neg"), net.dense(norm, f"{at}/key", "Neg")
        inner = net.op("BatchMatMulV2", f"{at}/product", query, key)
        if not at:
            table = net.op("GatherV2", "table", net.op("Range", "range", net.op("Shape", "shape", x)))
            bias = net.op("Transpose", "bias", table)
        scores = net.op("Softmax", f"{at}/softmax", net.op("AddV2", f"{at}/plus", inner, bias))
        x = net.op("AddV2", f"{at}/sum", x, net.dense(scores, f"{at}/out", "Neg"))
        x = net.op("AddV2", f"{at}/sum2", x, net.dense(net.op("Rsqrt", f"{at}/norm2", x), f"{at}/inner"))
    net.op("Identity", "last", x)
    assert heights(net.model("numbers")) == [6]


def test_a_first_layer_of_another_kind_stays_apart() -> None:
    assert heights(encoder(8, "other").model()) == [7]


def test_stages_of_two_blocks_begin_where_the_shape_changes() -> None:
    # block block, then three times a block with a projection and a plain one: a small residual network
    net = Network()
    x = net.dense(net.op("Placeholder", "x"), "stem", "Tanh")
    for number, projects in enumerate([False, False, *[True, False] * 3]):
        inner = net.dense(net.dense(x, f"b{number}/c1"), f"b{number}/c2", "Elu")
        x = net.op("Add", f"b{number}/sum", net.dense(x, f"b{number}/project", "Elu") if projects else x, inner)
    net.op("Identity", "out", x)
    model = net.model("numbers")
    assert heights(model) == [2, 2, 2, 2]
    hierarchy = model.hierarchy
    stages = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]
    inside = [[hierarchy.op_count(row) for row in hierarchy.children(stage).tolist()] for stage in stages]
    assert sorted(inside) == [[11, 11], [16, 11], [16, 11], [16, 11]]  # the projection comes first


def test_stages_of_one_height_are_a_stack_with_a_stack_in_it() -> None:
    net = Network()
    x = net.op("Placeholder", "x")
    for number, kind in enumerate("AAAB" * 4):
        inner = net.dense(x, f"layer_{number}", "Relu")
        inner = net.op("Sigmoid", f"layer_{number}/gate", inner) if kind == "B" else inner
        x = net.op("Add", f"layer_{number}/sum", x, inner)
    net.op("Softmax", "out", x)
    assert heights(net.model()) == heights(net.model("numbers")) == [4]


@pytest.mark.parametrize("counts", [(6, 6, 5), (5, 5, 4)])
def test_the_first_layer_of_each_cycle_is_of_its_stack(counts: tuple[int, ...]) -> None:
    # A convolution that does not dilate needs no rearranging around it.
    net = Network()
    x = net.op("Placeholder", "x")
    for place in range(sum(counts)):
        dilates = place not in (0, counts[0], 2 * counts[0])
        ends = []
        for part, kind in (("filter", "Tanh"), ("gate", "Sigmoid")):
            scope = f"{part}_{place}"
            given = net.op("SpaceToBatchND", f"{scope}/to_batch", x) if dilates else x
            inner = net.op("MatMul", f"{scope}/mul", given, net.op("Const", f"{scope}/w"))
            inner = net.op("BatchToSpaceND", f"{scope}/to_space", inner) if dilates else inner
            ends.append(net.op(kind, f"{scope}/{kind.lower()}", inner))
        x = net.op("Add", f"sum_{place}", x, net.dense(net.op("Mul", f"gated_{place}", *ends), f"mix_{place}"))
    net.op("Softmax", "out", x)
    assert heights(net.model()) == [*counts]


@pytest.mark.parametrize("count", [4, 6, 12])
def test_equal_scopes_with_equal_small_inputs_are_a_stack_whatever_leaves_them(count: int) -> None:
    # Each layer of a decoder takes its slices of the cache, and gives what is stored again.
    net = Network()
    ids, keys, values = (net.op("Placeholder", name) for name in ("ids", "keys", "values"))
    x = net.op("GatherV2", "llama/Gather", ids)
    given: list[str] = []
    for at in range(count):
        key = net.op("StridedSlice", f"llama/strided_slice_{2 * at}", keys)
        value = net.op("StridedSlice", f"llama/strided_slice_{2 * at + 1}", values)
        scope = f"llama/layer_{at}"
        scores = net.op("Softmax", f"{scope}/Softmax", net.op("Mul", f"{scope}/scores", net.dense(x, scope), key))
        given.append(net.op("Relu", f"{scope}/stored", value))
        x = net.op("AddV2", f"{scope}/sum", x, net.op("Mul", f"{scope}/mixed", scores, value))
    net.op("Pack", "llama/stack", *given)
    net.op("Identity", "out", net.op("MatMul", "llama/matmul", net.op("Rsqrt", "llama/norm", x)))
    assert heights(net.model()) == [count]


def keras(base: str, number: int) -> str:
    """The scope of a layer when Keras runs a model: `block_1, block_1_2, block_2_1, block_3_1 …`."""
    return f"{base}_1_2" if number == 1 else f"{base}_{number}_1" if number else f"{base}_1"


@pytest.mark.parametrize("shared", [0, 1, 2])
@pytest.mark.parametrize("blocks", [6, 12])
def test_blocks_with_the_counters_of_keras_are_one_stack(blocks: int, shared: int) -> None:
    net = Network()
    x = net.op("Placeholder", "x")
    given = [net.op("Cos", f"net/given{at}", net.op("Placeholder", f"y{at}")) for at in range(shared)]
    for at in range(blocks):
        scope = f"net/{keras('block', at)}"
        inner = net.op("Rsqrt", f"{scope}/norm", x)
        for number, value in enumerate(given):
            inner = net.op("Mul", f"{scope}/scale{number}", inner, net.dense(value, f"{scope}/mod{number}"))
        x = net.op("AddV2", f"{scope}/sum", x, net.dense(inner, f"{scope}/out"))
    net.op("Identity", "out", x)
    model = net.model("words")
    assert heights(model) == [blocks]
    if shared:  # with no other input all are one flow, without groups of names
        assert "net_block" in model.hierarchy.name


@pytest.mark.parametrize("names", ["words", "numbers"])
@pytest.mark.parametrize("levels", [4, 5])
def test_the_first_level_of_a_decoder_is_one_of_its_levels_though_its_skip_is_short(levels: int, names: str) -> None:
    assert legs(u_net(levels).model(names)) == [levels, levels]


@pytest.mark.parametrize("names", ["scopes", "words"])
def test_a_first_step_that_begins_with_a_state_of_its_own_is_one_of_the_steps(names: str) -> None:
    # Each step takes the state and the flow of the step before it; the first is given others, made in its midst.
    net = Network()
    x = net.dense(net.op("Placeholder", "x"), "context")
    state, flow = net.op("Tanh", "state", x), net.dense(x, "flow")
    for at in range(8):
        moved = net.dense(net.op("ConcatV2", f"joined_{at}", x, flow), f"motion_{at}")
        both = net.op("ConcatV2", f"both_{at}", state, moved)
        gate = net.dense(both, f"gate_{at}", "Sigmoid")
        state = net.op("Mul", f"mixed_{at}", gate, net.dense(both, f"new_{at}", "Tanh"))
        flow = net.op("AddV2", f"added_{at}", flow, net.dense(state, f"head_{at}"))
    net.op("Identity", "out", flow)
    assert heights(net.model(names)) == [8]


def test_a_second_cell_is_no_step_of_the_first() -> None:
    # Steps of the second cell are given what the first gives at each step, and nothing at the end of it.
    net = Network()
    inputs, outputs = [net.op("Placeholder", f"x{at}") for at in range(8)], []
    for cell in range(2):
        state = net.op("Placeholder", f"zero{cell}")
        for at in range(8):
            state = net.dense(net.op("ConcatV2", f"c{cell}/{at}/concat", inputs[at], state), f"c{cell}/{at}", "Tanh")
            outputs.append(state)
        inputs = outputs[-8:]
    net.op("Pack", "pack", *inputs)
    assert set(heights(net.model("numbers"))) <= {7, 8}


@pytest.mark.parametrize("names", ["scopes", "numbers"])
def test_a_skip_of_each_block_into_one_sum_is_part_of_its_block(names: str) -> None:
    # Each block gives something to its successor, and something else to a sum of all, as in WaveNet.
    net = Network()
    x, skips = net.dense(net.op("Placeholder", "x"), "stem", "Elu"), []
    for at in range(12):
        gated = net.op("Mul", f"{at}/gated", net.dense(x, f"{at}/a", "Tanh"), net.dense(x, f"{at}/b", "Sigmoid"))
        skips.append(net.dense(gated, f"{at}/skip", "Neg"))
        x = net.op("AddV2", f"{at}/sum", x, net.dense(gated, f"{at}/on", "Neg")) if at < 11 else x
    net.op("Identity", "end", net.dense(net.op("AddN", "skips", *skips), "head"))
    model = net.model(names)
    hierarchy = model.hierarchy
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == RowKind.SERIES]
    inside = [int(hierarchy.op_prefix_sum[hierarchy.end[row]] - hierarchy.op_prefix_sum[row]) for row in stacks]
    assert max(inside) >= 11 * 22  # four layers of five ops, a product and a sum, in eleven or more
