"""Tensor lists, tensor arrays and stacks: their handles hold the shape of an element, if it is known."""

from __future__ import annotations

from graphviz_tb.annotate.infer.op import Op, Rule, RuleResult
from graphviz_tb.annotate.infer.rules.common import handle
from graphviz_tb.annotate.infer.symbols import HIDDEN
from graphviz_tb.annotate.infer.values import Contradiction, Dims, Out, merge


def element_shape_input(op: Op, index: int) -> Dims:
    """Return the element shape in an input; a scalar of -1 is an unknown rank."""
    value, shape = op.value(index), op.shape(index)
    if shape == () or (value is None and shape is None):
        return None
    # A size below -1 is invalid, so the input is not a shape.
    if value is not None and any(-1 > size > HIDDEN for size in value):
        return None
    return op.target(index)


def both(a: Dims, b: Dims) -> Dims:
    """Merge the element shapes from two sources; None where they disagree, as the elements of a list may differ."""
    try:
        return merge(a, b)
    except Contradiction:
        return None


def new_list(op: Op) -> RuleResult:
    """`TensorListReserve`, `EmptyTensorList`: the element shape is input 0."""
    return [handle(element_shape_input(op, 0))]


def list_from(op: Op) -> RuleResult:
    """`TensorListFromTensor`: rows of input 0."""
    shape = op.shape(0)
    return [handle(both(shape[1:] if shape else None, element_shape_input(op, 1)))]


def pushed(op: Op) -> RuleResult:
    """`TensorListPushBack`: the list; its element shape may be that of the item, the last input."""
    return [handle(both(op.held(0), op.shape(-1)))]


def set_item(op: Op) -> RuleResult:
    """`TensorListSetItem`: list, position, item."""
    return [handle(both(op.held(0), op.shape(2)))]


def popped(op: Op) -> RuleResult:
    """`TensorListPopBack`: the shorter list, the item."""
    element = both(op.held(0), element_shape_input(op, 1))
    return [handle(op.held(0)), element]


def item(op: Op) -> RuleResult:
    """`TensorListGetItem`: list, position, element shape."""
    return [both(op.held(0), element_shape_input(op, 2))]


def stacked(op: Op) -> RuleResult:
    """`TensorListStack`: all items along a new first axis."""
    element = both(op.held(0), element_shape_input(op, 1))
    count = op.attr("num_elements")
    length = count if isinstance(count, int) and count >= 0 else op.symbols.fresh()
    return [None if element is None else (length, *element)]


def gathered(op: Op) -> RuleResult:
    """`TensorListGather`: list, indices, element shape."""
    element, indices = both(op.held(0), element_shape_input(op, 2)), op.shape(1)
    return [None if element is None or indices is None else (*indices, *element)]


def concatenated(op: Op) -> RuleResult:
    """`TensorListConcat`: rows of all items, and the number of rows of each."""
    element = op.held(0)
    lengths = (op.symbols.fresh(),)
    return [(op.symbols.fresh(), *element[1:]) if element else None, lengths]


def new_array(op: Op) -> RuleResult:
    """`TensorArrayV3`: a handle, which holds the element shape, and a flow, which passes it on."""
    element = op.attr("element_shape")
    return [Out((2,), None, element), Out((), None, element)]


def array_gathered(op: Op) -> RuleResult:
    """`TensorArrayGatherV3`: handle, indices, flow."""
    element, indices = both(op.held(0), op.attr("element_shape")), op.shape(1)
    return [None if element is None or not indices else (indices[0], *element)]


def array_gradient(op: Op) -> RuleResult:
    """`TensorArrayGradV3`: an array like the input."""
    return [Out((2,), None, op.held(0)), Out((), None, op.held(0))]


LIST_RULES: dict[str, Rule] = {
    "TensorListReserve": new_list,
    "EmptyTensorList": new_list,
    "TensorListFromTensor": list_from,
    "TensorListScatter": lambda op: [handle(element_shape_input(op, 2))],
    "TensorListScatterV2": lambda op: [handle(element_shape_input(op, 2))],
    "TensorListPushBack": pushed,
    "TensorListSetItem": set_item,
    "TensorListPopBack": popped,
    "TensorListGetItem": item,
    "TensorListStack": stacked,
    "TensorListGather": gathered,
    "TensorListConcat": concatenated,
    "TensorListConcatV2": concatenated,
    "TensorListResize": lambda op: [handle(op.held(0))],
    "TensorListElementShape": lambda op: [(op.symbols.fresh() if op.held(0) is None else len(op.held(0) or ()),)],
    "TensorArrayV3": new_array,
    "TensorArrayV2": new_array,
    "TensorArray": new_array,
    "TensorArrayGradV3": array_gradient,
    "TensorArrayGatherV3": array_gathered,
    "TensorArrayGatherV2": array_gathered,
}
