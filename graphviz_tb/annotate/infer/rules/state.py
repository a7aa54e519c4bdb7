"""Variables, tables, queues and iterators: shapes from their attributes and handles."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import handle
from graphviz_tb.annotate.infer.values import Out, merge


def variable_shape(op: Op) -> RuleResult:
    """`VariableShape`: a vector as long as the rank."""
    shape = op.held(0)
    return [(op.symbols.fresh() if shape is None else len(shape),)]


def assigned(op: Op) -> RuleResult:
    """`Assign`: the variable, which takes the shape of the value."""
    # Without validation, a variable takes the shape of any value.
    if op.attr("validate_shape") is False:
        return [op.shape(1)]
    return [merge(op.shape(0), op.shape(1))]


def dequeued(op: Op) -> RuleResult:
    """`QueueDequeueV2`: one output per component type; shapes are known for queues of one component."""
    count = op.count("component_types")
    # A handle holds only one shape, not one per component.
    return [op.held(0)] if count == 1 else [None] * count


def dequeued_many(op: Op) -> RuleResult:
    """`QueueDequeueManyV2`: elements stacked along a new first axis."""
    count, shape = op.count("component_types"), op.held(0)
    return [(op.size(1), *shape)] if count == 1 and shape is not None else [None] * count


def queue(op: Op) -> RuleResult:
    """`FIFOQueueV2`: a handle that holds the shape of its only component."""
    shapes = op.attr("shapes")
    return [handle(shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def old_queue(op: Op) -> RuleResult:
    """`FIFOQueue`: as `FIFOQueueV2`, by reference to a pair of strings."""
    shapes = op.attr("shapes")
    return [Out((2,), None, shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def looked_up(op: Op) -> RuleResult:
    """`LookupTableFindV2`: one value per key, of the shape of the default."""
    keys, default = op.shape(1), op.shape(2)
    return [keys if default == () else None]


STATE_RULES: dict[str, Rule] = {
    **dict.fromkeys(["FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2"], queue),
    **dict.fromkeys(["FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"], old_queue),
    **dict.fromkeys(["QueueDequeue", "QueueDequeueV2"], dequeued),
    **dict.fromkeys(["QueueDequeueMany", "QueueDequeueManyV2"], dequeued_many),
    "VariableShape": variable_shape,
    "Assign": assigned,
    "LookupTableFindV2": looked_up,
    "LookupTableFind": looked_up,
}
