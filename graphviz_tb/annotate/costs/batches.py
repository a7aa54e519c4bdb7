"""The batch of a graph, where its inputs leave it open: sums are of one batch.

images [?, 32, 32, 3] ─▶ … [?, 16, 16, 8] ─▶ transposed convolution, sizes [8, 32, 32, 3]        the batch is 8
"""

from __future__ import annotations

from math import prod

from graphviz_tb.annotate.costs.formulas import follows_batch_only
from graphviz_tb.annotate.infer.engine import Inference
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Out, all_sizes_known
from graphviz_tb.ops.roles import RESHAPE_OPS, Role, has_role


def stated_batch(inference: Inference) -> int | None:
    """The batch for which ops of the main graph state the size of what they give, where what they take leaves it open;
    None where nothing does, or where two differ."""
    graph = inference.graph
    stating = {op for op in set(graph.op_types) if op in RESHAPE_OPS or has_role(op, Role.TRANSPOSED_CONVOLUTION)}
    found: set[int] = set()
    for node in graph.nodes_of_types(stating.__contains__).nonzero()[0].tolist() if stating else ():
        if graph.function[node] < 0:
            outs = inference.infer_outputs(inference.main, node)
            # The data of a transposed convolution is its last input, that of a reshape its first.
            takes = inference.infer_inputs(inference.main, node)
            data = takes[0 if inference.op_type(node) in RESHAPE_OPS else -1] if takes else None
            if data is not None and outs and (batch := _batch_between(inference, data, outs[0])):
                found.add(batch)
    return found.pop() if len(found) == 1 else None


def _batch_between(inference: Inference, data: Out, out: Out) -> int | None:
    """The batch at which what an op takes fits what it gives; None where the first leaves no batch open."""
    taken, given = data.shape, out.shape
    if (
        not taken
        or not given
        or not all_sizes_known(given)
        or taken[0] > SYMBOL_LIMIT
        or not all_sizes_known(taken[1:])
    ):
        return None
    if not follows_batch_only(taken, inference.symbols):
        return None
    if len(taken) == len(given) and prod(taken[1:]) != prod(given[1:]):
        return given[0]  # a convolution changes all sizes but the batch
    sample = prod(taken[1:])
    return prod(given) // sample if sample and not prod(given) % sample else None
