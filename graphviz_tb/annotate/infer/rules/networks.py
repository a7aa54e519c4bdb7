"""Losses, embeddings, recurrent cells and the like."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.values import Dims, broadcast_dims


def infer_softmax_loss(op: Op) -> RuleResult:
    """`SoftmaxCrossEntropyWithLogits`: a loss per row, and the gradient."""
    shape = broadcast_dims(op.shape(0), op.shape(1), op.symbols)
    if shape is None or len(shape) != 2:
        return [(op.symbols.new_symbol(),), shape]
    return [shape[:1], shape]


def lstm_cell_shape(op: Op) -> Dims:
    """Return (batch, cell size): the batch of the input x, the cell size of the previous state."""
    x, state = op.shape(0), op.shape(1)
    return (x[0], state[1]) if x is not None and state is not None and len(x) == len(state) == 2 else state


def infer_lstm_cell_gradient(op: Op) -> RuleResult:
    """`LSTMBlockCellGrad`: gradients of the state, of the four gates together, and of three vectors of peepholes."""
    shape = lstm_cell_shape(op)
    if shape is None or len(shape) != 2:
        return [shape, None, None, None, None]
    batch, size = shape
    return [shape, (batch, op.symbols.product([size, 4])), *[(size,)] * 3]


def infer_block_lstm(op: Op) -> RuleResult:
    """`BlockLSTM`: equal shapes for all outputs; x is (time, batch, inputs), the bias covers four gates."""
    shape, bias = op.shape(1), op.shape(8)
    if shape is None or bias is None or len(shape) != 3 or len(bias) != 1:
        return [None] * 7
    # The bias has one number per gate and unit.
    return [(*shape[:2], op.symbols.quotient(bias, [4]))] * 7


def infer_cudnn_rnn(op: Op) -> RuleResult:
    """`CudnnRNNV3`: outputs of (time, batch, directions * units), the last states, reserved space."""
    shape, state = op.shape(0), op.shape(1)
    last = state if op.attr("rnn_mode") == "lstm" else ()
    if shape is None or state is None or len(shape) != 3 or len(state) != 3:
        return [None, state, last, None, None]
    # state is (layers * directions, batch, units)
    ways = 2 if op.attr("direction") == "bidirectional" else 1
    units = op.symbols.product([state[2], ways])
    return [(shape[0], shape[1], units), state, last, None, None]


def infer_candidate_sampler(op: Op) -> RuleResult:
    """`UniformCandidateSampler` and the like: sampled classes, expected counts of true and of sampled classes."""
    shape, count, true = op.shape(0), op.attr("num_sampled"), op.attr("num_true")  # sizes: no outputs are counted
    rows = shape[0] if shape else op.symbols.new_symbol()
    return [(count,), (rows, true), (count,)]


NETWORK_RULES: dict[str, ShapeRule] = {
    "SoftmaxCrossEntropyWithLogits": infer_softmax_loss,
    "LSTMBlockCellGrad": infer_lstm_cell_gradient,
    "BlockLSTM": infer_block_lstm,
    "BlockLSTMV2": infer_block_lstm,
    **dict.fromkeys(["CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"], infer_cudnn_rnn),
    **dict.fromkeys(
        [
            "LogUniformCandidateSampler",
            "UniformCandidateSampler",
            "LearnedUnigramCandidateSampler",
            "FixedUnigramCandidateSampler",
            "AllCandidateSampler",
            "ThreadUnsafeUnigramCandidateSampler",
        ],
        infer_candidate_sampler,
    ),
}
