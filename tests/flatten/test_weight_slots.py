"""Which inputs of an op are weights, and what they are called; inputs have the names of TensorFlow's op definitions."""

from __future__ import annotations

from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.flat import flatten

# Op, its inputs as TensorFlow's definition of it names them, and what we call those that are weights.
CALLED: list[tuple[str, str, dict[str, str]]] = [
    ("Conv2D", "input filter", {"filter": "kernel"}),
    ("DepthwiseConv2dNative", "input filter", {"filter": "kernel"}),
    ("Conv2DBackpropInput", "input_sizes filter out_backprop", {"filter": "kernel"}),
    ("MatMul", "a b", {"a": "kernel", "b": "kernel"}),
    ("BatchMatMulV2", "x y", {"x": "kernel", "y": "kernel"}),
    ("Einsum", "inputs0 inputs1", {"inputs1": "kernel"}),
    ("BiasAdd", "value bias", {"bias": "bias"}),
    ("BiasAddV1", "value bias", {"bias": "bias"}),
    ("_FusedConv2D", "input filter args", {"filter": "kernel", "args": "bias"}),
    ("_FusedDepthwiseConv2dNative", "input filter args", {"filter": "kernel", "args": "bias"}),
    ("_FusedMatMul", "a b args", {"a": "kernel", "b": "kernel", "args": "bias"}),
    (
        "FusedBatchNormV3",
        "x scale offset mean variance",
        {"scale": "scale", "offset": "offset", "mean": "mean", "variance": "variance"},
    ),
    (
        "BatchNormWithGlobalNormalization",
        "t m v beta gamma",
        {"m": "mean", "v": "variance", "beta": "offset", "gamma": "scale"},
    ),
    ("GatherV2", "params indices", {"params": "embeddings"}),
    ("ResourceGather", "resource indices", {"resource": "embeddings"}),
    ("CudnnRNN", "input input_h input_c params", {"params": "kernel"}),
    ("CudnnRNNV3", "input input_h input_c params sequence_lengths", {"params": "kernel"}),
    ("LSTMBlockCell", "x cs_prev h_prev w wci wcf wco b", {"w": "kernel", "b": "bias"}),
    ("BlockLSTM", "seq_len_max x cs_prev h_prev w wci wcf wco b", {"w": "kernel", "b": "bias"}),
    (
        "GRUBlockCell",
        "x h_prev w_ru w_c b_ru b_c",
        {"w_ru": "kernel", "w_c": "candidate kernel", "b_ru": "bias", "b_c": "candidate bias"},
    ),
    ("Relu", "features", {}),
    ("Add", "x y", {}),
]


def weighed(op: str, inputs: list[str]) -> Graph:
    """One op, each of whose inputs is a constant of many numbers."""
    value = {"tensor": {"dtype": 1, "tensor_shape": {"dim": [{"size": 8}, {"size": 4}]}}}
    constants = [
        {"name": f"Const_{index}", "op": "Const", "attr": {"dtype": {"type": 1}, "value": value}}
        for index in range(len(inputs))
    ]
    names = [constant["name"] for constant in constants]
    return flatten(GraphDef(node=[*constants, {"name": "user", "op": op, "input": names}]))


@each(("op", "inputs", "called"), CALLED, ids=[op for op, *_ in CALLED])
def test_the_weights_of_an_op(op: str, inputs: str, called: dict[str, str]) -> None:
    names = inputs.split()
    graph = weighed(op, names)
    found = {names[node]: weight.label for node, weight in graph.meaning.weights.items()}
    assert found == {name: f"{word} 8×4" for name, word in called.items()}
    assert {names[node] for node in range(len(names)) if graph.mark[node] == Mark.WEIGHT} == set(called)
