"""Shape rules of variables, queues, tensor lists, merges of control flow and parsed records."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule, handle_holding
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT, Contradiction, Dims, Out, join_outputs, merge_dims


def _infer_assign(op: Op) -> RuleResult:
    """`Assign`: the variable, which has the shape of the value, of any value without validation."""
    if op.attr("validate_shape") is False:
        return [op.shape(1)]
    return [merge_dims(op.shape(0), op.shape(1))]


def _infer_shape_of_held(op: Op) -> RuleResult:
    """`VariableShape`: a vector with a size for each axis of the tensor in a handle."""
    shape = op.held_shape(0)
    return [(op.symbols.new_symbol() if shape is None else len(shape),)]


def _queued_shape(op: Op) -> Dims:
    """Return the shape of the only component of a queue."""
    shapes = op.attr("shapes")
    return shapes[0] if isinstance(shapes, list) and len(shapes) == 1 else None


def _infer_dequeue(op: Op) -> RuleResult:
    """`QueueDequeueV2`: one output per component; a handle has the shape of a single component only."""
    count = op.attr_count("component_types")
    return [op.held_shape(0)] if count == 1 else [None] * count


def _infer_dequeue_many(op: Op) -> RuleResult:
    """`QueueDequeueManyV2`: elements stacked along a new first axis."""
    count, shape = op.attr_count("component_types"), op.held_shape(0)
    return [(op.known_size(1), *shape)] if count == 1 and shape is not None else [None] * count


STATE_RULES: dict[str, ShapeRule] = {
    **dict.fromkeys(
        ["FIFOQueueV2", "RandomShuffleQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2"],
        lambda op: [handle_holding(_queued_shape(op))],
    ),
    # The handles of the first version are vectors of two strings.
    **dict.fromkeys(
        ["FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"],
        lambda op: [Out((2,), None, _queued_shape(op))],
    ),
    **dict.fromkeys(["QueueDequeue", "QueueDequeueV2"], _infer_dequeue),
    **dict.fromkeys(["QueueDequeueMany", "QueueDequeueManyV2"], _infer_dequeue_many),
    "VariableShape": _infer_shape_of_held,
    "Assign": _infer_assign,
    # A scalar default: one value per key.
    **dict.fromkeys(["LookupTableFindV2", "LookupTableFind"], lambda op: [op.shape(1) if op.shape(2) == () else None]),
}


# Tensor lists, tensor arrays and stacks: their handles hold the shape of an element, if it is known.


def _element_shape_input(op: Op, index: int) -> Dims:
    """Return the element shape in an input; None if the rank is unknown, which a scalar of -1 states."""
    value, shape = op.value(index), op.shape(index)
    if shape == () or (value is None and shape is None):
        return None
    # A size below -1 is invalid, so the input is not a shape.
    if value is not None and any(-1 > size > SYMBOL_LIMIT for size in value):
        return None
    return op.stated_dims(index)


def _merge_element_shapes(a: Dims, b: Dims) -> Dims:
    """Merge the element shapes from two sources; None where they disagree, as the elements of a list may differ."""
    try:
        return merge_dims(a, b)
    except Contradiction:
        return None


def _listed_shape(op: Op, index: int) -> Dims:
    """Return the element shape of a list, from its handle and from an input."""
    return _merge_element_shapes(op.held_shape(0), _element_shape_input(op, index))


def _array_of(element: Dims) -> RuleResult:
    """Return a handle, which holds the element shape, and a flow, which passes it on."""
    return [Out((2,), None, element), Out((), None, element)]


def _infer_list_from_tensor(op: Op) -> RuleResult:
    """`TensorListFromTensor`: a list of the rows of input 0."""
    shape = op.shape(0)
    return [handle_holding(_merge_element_shapes(shape[1:] if shape else None, _element_shape_input(op, 1)))]


def _infer_list_stack(op: Op) -> RuleResult:
    """`TensorListStack`: all items along a new first axis."""
    element = _listed_shape(op, 1)
    count = op.attr("num_elements")
    length = count if isinstance(count, int) and count >= 0 else op.symbols.new_symbol()
    return [None if element is None else (length, *element)]


def _infer_list_gather(op: Op) -> RuleResult:
    """`TensorListGather`: list, indices, element shape."""
    element, indices = _listed_shape(op, 2), op.shape(1)
    return [None if element is None or indices is None else (*indices, *element)]


def _infer_list_concat(op: Op) -> RuleResult:
    """`TensorListConcat`: rows of all items, and the number of rows of each."""
    element = op.held_shape(0)
    lengths = (op.symbols.new_symbol(),)
    return [(op.symbols.new_symbol(), *element[1:]) if element else None, lengths]


def _infer_array_gather(op: Op) -> RuleResult:
    """`TensorArrayGatherV3`: handle, indices, flow."""
    element, indices = _merge_element_shapes(op.held_shape(0), op.attr("element_shape")), op.shape(1)
    return [None if element is None or not indices else (indices[0], *element)]


LIST_RULES: dict[str, ShapeRule] = {
    "TensorListReserve": lambda op: [handle_holding(_element_shape_input(op, 0))],
    "EmptyTensorList": lambda op: [handle_holding(_element_shape_input(op, 0))],
    "TensorListFromTensor": _infer_list_from_tensor,
    "TensorListScatter": lambda op: [handle_holding(_element_shape_input(op, 2))],
    "TensorListScatterV2": lambda op: [handle_holding(_element_shape_input(op, 2))],
    "TensorListPushBack": lambda op: [handle_holding(_merge_element_shapes(op.held_shape(0), op.shape(-1)))],
    "TensorListSetItem": lambda op: [handle_holding(_merge_element_shapes(op.held_shape(0), op.shape(2)))],
    "TensorListPopBack": lambda op: [handle_holding(op.held_shape(0)), _listed_shape(op, 1)],
    "TensorListGetItem": lambda op: [_listed_shape(op, 2)],
    "TensorListStack": _infer_list_stack,
    "TensorListGather": _infer_list_gather,
    "TensorListConcat": _infer_list_concat,
    "TensorListConcatV2": _infer_list_concat,
    "TensorListResize": lambda op: [handle_holding(op.held_shape(0))],
    "TensorListElementShape": _infer_shape_of_held,
    **dict.fromkeys(["TensorArrayV3", "TensorArrayV2", "TensorArray"], lambda op: _array_of(op.attr("element_shape"))),
    "TensorArrayGradV3": lambda op: _array_of(op.held_shape(0)),
    "TensorArrayGatherV3": _infer_array_gather,
    "TensorArrayGatherV2": _infer_array_gather,
}


# Merges of control flow; for calls of functions see annotate/infer/calls.py.


def _infer_merge(op: Op) -> RuleResult:
    """`Merge`: the sizes that all inputs share, and the index of the chosen input."""
    if not op.ins:
        return []
    merged = op.ins[0]
    for other in op.ins[1:]:
        merged = join_outputs(merged, other, op.symbols)
    return [Out(merged.shape, None, merged.held), ()]


MERGE_RULES: dict[str, ShapeRule] = {"Merge": _infer_merge, "RefMerge": _infer_merge}


# Strings, parsed records, summaries and datasets.


def _infer_string_join(op: Op) -> RuleResult:
    """`StringJoin`: scalars are broadcast to the shape of the other inputs."""
    shapes = [operand.shape for operand in op.ins]
    return [next((shape for shape in shapes if shape != ()), ())]


def _infer_parse_example(op: Op) -> RuleResult:
    """`ParseExampleV2`: sparse, dense and ragged features of a batch of records (or of one)."""
    batch: Dims = op.shape(0)
    if op.definition.op == "ParseSingleExample":
        batch = ()
    # The first version has a different attribute for the count.
    sparse = op.attr_count("Nsparse" if op.definition.op == "ParseExample" else "num_sparse")
    shapes: list[Dims | Out] = []
    # Indices of a sparse feature are (count, rank), with the batch as first dimension.
    rank = None if batch is None else len(batch) + 1
    shapes += [(op.symbols.new_symbol(), op.symbols.new_symbol() if rank is None else rank) for _ in range(sparse)]
    shapes += [(op.symbols.new_symbol(),) for _ in range(sparse)]
    shapes += [(op.symbols.new_symbol() if rank is None else rank,) for _ in range(sparse)]
    for shape in op.attr("dense_shapes") or []:
        shapes.append(None if batch is None or shape is None else batch + shape)
    return shapes


RECORD_RULES: dict[str, ShapeRule] = {
    "StringJoin": _infer_string_join,
    **dict.fromkeys(["ParseExample", "ParseExampleV2", "ParseSingleExample"], _infer_parse_example),
}
RULES = {**STATE_RULES, **LIST_RULES, **MERGE_RULES, **RECORD_RULES}
