"""Variables, tables, queues and iterators: shapes from their attributes and handles."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import handle_holding
from graphviz_tb.annotate.infer.values import Out, merge_dims


def infer_variable_shape(op: Op) -> RuleResult:
    """`VariableShape`: a vector as long as the rank."""
    shape = op.held_shape(0)
    return [(op.symbols.new_symbol() if shape is None else len(shape),)]


def infer_assign(op: Op) -> RuleResult:
    """`Assign`: the variable, which takes the shape of the value."""
    # Without validation, a variable takes the shape of any value.
    if op.attr("validate_shape") is False:
        return [op.shape(1)]
    return [merge_dims(op.shape(0), op.shape(1))]


def infer_dequeue(op: Op) -> RuleResult:
    """`QueueDequeueV2`: one output per component type; shapes are known for queues of one component."""
    count = op.attr_count("component_types")
    # A handle holds only one shape, not one per component.
    return [op.held_shape(0)] if count == 1 else [None] * count


def infer_dequeue_many(op: Op) -> RuleResult:
    """`QueueDequeueManyV2`: elements stacked along a new first axis."""
    count, shape = op.attr_count("component_types"), op.held_shape(0)
    return [(op.known_size(1), *shape)] if count == 1 and shape is not None else [None] * count


def infer_queue(op: Op) -> RuleResult:
    """`FIFOQueueV2`: a handle that holds the shape of its only component."""
    shapes = op.attr("shapes")
    return [handle_holding(shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def infer_reference_queue(op: Op) -> RuleResult:
    """`FIFOQueue`: as `FIFOQueueV2`, by reference to a pair of strings."""
    shapes = op.attr("shapes")
    return [Out((2,), None, shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None)]


def infer_table_lookup(op: Op) -> RuleResult:
    """`LookupTableFindV2`: one value per key, of the shape of the default."""
    keys, default = op.shape(1), op.shape(2)
    return [keys if default == () else None]


STATE_RULES: dict[str, ShapeRule] = {
    **dict.fromkeys(["FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2"], infer_queue),
    **dict.fromkeys(["FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"], infer_reference_queue),
    **dict.fromkeys(["QueueDequeue", "QueueDequeueV2"], infer_dequeue),
    **dict.fromkeys(["QueueDequeueMany", "QueueDequeueManyV2"], infer_dequeue_many),
    "VariableShape": infer_variable_shape,
    "Assign": infer_assign,
    "LookupTableFindV2": infer_table_lookup,
    "LookupTableFind": infer_table_lookup,
}
