"""Variables, tables, queues and iterators: what their attributes or their handles say."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import handle
from graphviz_tb.annotate.infer.values import Out, merge


def variable_shape(op: Op) -> RuleResult:
    """`VariableShape`: as long as the rank."""
    shape = op.held(0)
    return [(op.symbols.fresh() if shape is None else len(shape),)]


def assigned(op: Op) -> RuleResult:
    """`Assign`: the variable, which has the value's shape from then on."""
    # Unchecked, a variable takes the shape of any value.
    if op.attr("validate_shape") is False:
        return [op.shape(1)]
    return [merge(op.shape(0), op.shape(1))]


def dequeued(op: Op) -> RuleResult:
    """`QueueDequeueV2`: as many as `component_types`; shapes are those of a queue of one component."""
    count = op.count("component_types")
    # A handle holds one shape: it cannot be that of each of several components.
    return [op.held(0)] if count == 1 else [None] * count


def dequeued_many(op: Op) -> RuleResult:
    """`QueueDequeueManyV2`: so many of them in one."""
    count, shape = op.count("component_types"), op.held(0)
    return [(op.size(1), *shape)] if count == 1 and shape is not None else [None] * count


def queue(op: Op) -> RuleResult:
    """`FIFOQueueV2`: a handle that holds what one component is."""
    shapes = op.attr("shapes")
    return [handle(shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def old_queue(op: Op) -> RuleResult:
    """`FIFOQueue`: the same by reference to a pair of strings."""
    shapes = op.attr("shapes")
    return [Out((2,), None, shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def looked_up(op: Op) -> RuleResult:
    """`LookupTableFindV2`: a value for each key, of the shape of the default."""
    keys, default = op.shape(1), op.shape(2)
    return [keys if default == () else None]


RULES: dict[str, Rule] = {
    **dict.fromkeys(["FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2"], queue),
    **dict.fromkeys(["FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"], old_queue),
    **dict.fromkeys(["QueueDequeue", "QueueDequeueV2"], dequeued),
    **dict.fromkeys(["QueueDequeueMany", "QueueDequeueManyV2"], dequeued_many),
    "VariableShape": variable_shape,
    "Assign": assigned,
    "LookupTableFindV2": looked_up,
    "LookupTableFind": looked_up,
}
