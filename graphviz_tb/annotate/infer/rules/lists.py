"""Tensor lists, tensor arrays and stacks: their handles hold the shape of an element, if it is known."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, RuleResult, ShapeRule
from graphviz_tb.annotate.infer.rules.common import handle_holding
from graphviz_tb.annotate.infer.symbols import SYMBOL_LIMIT
from graphviz_tb.annotate.infer.values import Contradiction, Dims, Out, merge_dims


def element_shape_input(op: Op, index: int) -> Dims:
    """Return the element shape in an input; a scalar of -1 is an unknown rank."""
    value, shape = op.value(index), op.shape(index)
    if shape == () or (value is None and shape is None):
        return None
    # A size below -1 is invalid, so the input is not a shape.
    if value is not None and any(-1 > size > SYMBOL_LIMIT for size in value):
        return None
    return op.stated_dims(index)


def merge_element_shapes(a: Dims, b: Dims) -> Dims:
    """Merge the element shapes from two sources; None where they disagree, as the elements of a list may differ."""
    try:
        return merge_dims(a, b)
    except Contradiction:
        return None


def infer_new_list(op: Op) -> RuleResult:
    """`TensorListReserve`, `EmptyTensorList`: the element shape is input 0."""
    return [handle_holding(element_shape_input(op, 0))]


def infer_list_from_tensor(op: Op) -> RuleResult:
    """`TensorListFromTensor`: rows of input 0."""
    shape = op.shape(0)
    return [handle_holding(merge_element_shapes(shape[1:] if shape else None, element_shape_input(op, 1)))]


def infer_list_push(op: Op) -> RuleResult:
    """`TensorListPushBack`: the list; its element shape may be that of the item, the last input."""
    return [handle_holding(merge_element_shapes(op.held_shape(0), op.shape(-1)))]


def infer_list_set_item(op: Op) -> RuleResult:
    """`TensorListSetItem`: list, position, item."""
    return [handle_holding(merge_element_shapes(op.held_shape(0), op.shape(2)))]


def infer_list_pop(op: Op) -> RuleResult:
    """`TensorListPopBack`: the shorter list, the item."""
    element = merge_element_shapes(op.held_shape(0), element_shape_input(op, 1))
    return [handle_holding(op.held_shape(0)), element]


def infer_list_get_item(op: Op) -> RuleResult:
    """`TensorListGetItem`: list, position, element shape."""
    return [merge_element_shapes(op.held_shape(0), element_shape_input(op, 2))]


def infer_list_stack(op: Op) -> RuleResult:
    """`TensorListStack`: all items along a new first axis."""
    element = merge_element_shapes(op.held_shape(0), element_shape_input(op, 1))
    count = op.attr("num_elements")
    length = count if isinstance(count, int) and count >= 0 else op.symbols.new_symbol()
    return [None if element is None else (length, *element)]


def infer_list_gather(op: Op) -> RuleResult:
    """`TensorListGather`: list, indices, element shape."""
    element, indices = merge_element_shapes(op.held_shape(0), element_shape_input(op, 2)), op.shape(1)
    return [None if element is None or indices is None else (*indices, *element)]


def infer_list_concat(op: Op) -> RuleResult:
    """`TensorListConcat`: rows of all items, and the number of rows of each."""
    element = op.held_shape(0)
    lengths = (op.symbols.new_symbol(),)
    return [(op.symbols.new_symbol(), *element[1:]) if element else None, lengths]


def infer_new_array(op: Op) -> RuleResult:
    """`TensorArrayV3`: a handle, which holds the element shape, and a flow, which passes it on."""
    element = op.attr("element_shape")
    return [Out((2,), None, element), Out((), None, element)]


def infer_array_gather(op: Op) -> RuleResult:
    """`TensorArrayGatherV3`: handle, indices, flow."""
    element, indices = merge_element_shapes(op.held_shape(0), op.attr("element_shape")), op.shape(1)
    return [None if element is None or not indices else (indices[0], *element)]


def infer_array_gradient(op: Op) -> RuleResult:
    """`TensorArrayGradV3`: an array like the input."""
    return [Out((2,), None, op.held_shape(0)), Out((), None, op.held_shape(0))]


LIST_RULES: dict[str, ShapeRule] = {
    "TensorListReserve": infer_new_list,
    "EmptyTensorList": infer_new_list,
    "TensorListFromTensor": infer_list_from_tensor,
    "TensorListScatter": lambda op: [handle_holding(element_shape_input(op, 2))],
    "TensorListScatterV2": lambda op: [handle_holding(element_shape_input(op, 2))],
    "TensorListPushBack": infer_list_push,
    "TensorListSetItem": infer_list_set_item,
    "TensorListPopBack": infer_list_pop,
    "TensorListGetItem": infer_list_get_item,
    "TensorListStack": infer_list_stack,
    "TensorListGather": infer_list_gather,
    "TensorListConcat": infer_list_concat,
    "TensorListConcatV2": infer_list_concat,
    "TensorListResize": lambda op: [handle_holding(op.held_shape(0))],
    "TensorListElementShape": lambda op: [
        (op.symbols.new_symbol() if op.held_shape(0) is None else len(op.held_shape(0) or ()),)
    ],
    "TensorArrayV3": infer_new_array,
    "TensorArrayV2": infer_new_array,
    "TensorArray": infer_new_array,
    "TensorArrayGradV3": infer_array_gradient,
    "TensorArrayGatherV3": infer_array_gather,
    "TensorArrayGatherV2": infer_array_gather,
}
