"""Differences of two matched nodes: op type, attributes, device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isclose
from typing import TYPE_CHECKING, Any

from graphviz_tb.diff.columns.labels import (
    NOISE_ATTRIBUTES,
    SAVED_DTYPES,
    SHAPE_ATTRIBUTES,
    is_default,
    is_saver,
    is_seed_counter,
    setting_differences,
)
from graphviz_tb.diff.columns.side import GraphColumns
from graphviz_tb.diff.columns.values import (
    canonical_bytes,
    plain_value,
    tensor_kind,
    tensor_numbers,
    tensor_payload,
    tensor_text,
)
from graphviz_tb.diff.match.matching import Matching
from graphviz_tb.diff.traced import OWN_PARAMETER, RECORDED_WIDTH_KEYS
from graphviz_tb.model.change import Change
from graphviz_tb.model.columns import exists
from graphviz_tb.model.graph import COLOCATION_ATTR
from graphviz_tb.model.layers import enclosing_module_class
from graphviz_tb.model.tensors import dtype_label, shape_proto_text
from graphviz_tb.ops.roles import CONSTANT_OPS, INDEX_OPS, SIZE_ARITHMETIC_OPS, SIZE_OPS, VARIABLE_OPS
from graphviz_tb.ops.signatures import default_setting, is_size_input
from graphviz_tb.options import DiffOptions

if TYPE_CHECKING:
    from graphviz_tb.model.graph import Graph
    from graphviz_tb.proto import AttrValue, TensorProto

Called = dict[str, dict[str, int]]  # the functions that a node calls, by attribute and place in it
FLOAT_PRECISION = {1: 1e-6, 2: 1e-6, 14: 2**-8, 19: 2**-10}  # relative, by TensorFlow's number of the dtype
SMALLEST_HALF = 6e-8  # the smallest positive number of half precision
SHAPE = "_output_shapes"  # the attribute for the shape of a weight at its read
KERAS_CLASS = "keras_class"  # the attribute for the class of a layer, which is compared as its op


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of two matched nodes, with plain values: `key` is its name ("dtype" for any attribute with a dtype),
    `attribute` the attribute of the message, "" for op type and device."""

    key: str
    attribute: str
    old: Any
    new: Any


def differences_once(m: Matching, old: int, new: int, options: DiffOptions) -> list[Difference]:
    """Return the differences of two matched nodes, cached; pairs with equal labels share one list."""
    pair = _labels_of_pair(m, old, new, options) or (old, new)
    found: list[Difference] | None = m.values.get(pair)
    if found is None:
        found = m.values[pair] = list(differences(m, old, new, options))
    return found


def _labels_of_pair(m: Matching, old: int, new: int, options: DiffOptions) -> tuple[int, int, bool] | None:
    """Return the labels of two nodes if they decide the differences; None if names matter too: of called functions,
    missing inputs, modules, Keras layers."""
    settings = m.a.labels.settings.item(old)
    if options.colocation or m.a.has_module_scopes or settings != m.b.labels.settings.item(new):
        return None
    if m.a.is_known_by_name[old] or m.b.is_known_by_name[new]:
        return None
    return m.a.node_label.item(old), m.b.node_label.item(new), settings


def differences(m: Matching, old: int, new: int, options: DiffOptions) -> Iterator[Difference]:
    """Yield the differences of two matched nodes that count; names and inputs are compared elsewhere."""
    a, b = m.a.graph, m.b.graph
    old_def, new_def = a.node_def(old), b.node_def(new)
    # Arguments of functions have no NodeDef, only a type.
    if old_def is None or new_def is None:
        types = [argument_type(graph, node) for graph, node in ((a, old), (b, new))]
        if types[0] != types[1]:
            yield Difference("dtype", "", *types)
        return
    ops = _op_name(m, a.op_types[a.op[old]], True), _op_name(m, b.op_types[b.op[new]], False)
    if ops[0] != ops[1]:
        nodes = (m.a, old), (m.b, new)
        classes = [enclosing_module_class(side.graph.name[node]) * side.has_module_scopes for side, node in nodes]
        op_names = classes if all(classes) and classes[0] != classes[1] else (old_def.op, new_def.op)
        yield Difference("op", "", *op_names)
    if options.devices and old_def.device != new_def.device:
        yield Difference("device", "", old_def.device, new_def.device)
    unknown_inputs = m.a.dangling.get(old, []), m.b.dangling.get(new, [])
    if unknown_inputs[0] != unknown_inputs[1]:
        yield Difference("unknown inputs", "", *unknown_inputs)
    called = _called_functions(m, old, True), _called_functions(m, new, False)
    # The dtype of a Keras layer is one of its settings.
    has_settings = old in m.a.labels.configurations and new in m.b.labels.configurations
    block = int(m.a.block[old]), int(m.b.block[new])
    for key in sorted({*old_def.attr, *new_def.attr}):
        # Attributes without a hash in `labels.classify` make no difference.
        if key in NOISE_ATTRIBUTES or is_seed_counter(key, (old_def if key in old_def.attr else new_def).attr):
            continue
        if (key == KERAS_CLASS and ops[0] != ops[1]) or (key == "dtype" and has_settings):
            continue
        if (key in SHAPE_ATTRIBUTES and not options.shapes) or (key == COLOCATION_ATTR and not options.colocation):
            continue
        # `get`, because indexing a message adds a missing attribute.
        values = old_def.attr.get(key), new_def.attr.get(key)
        present = [(op, value) for op, value in zip((old_def.op, new_def.op), values, strict=True) if value is not None]
        if len(present) == 1 and is_default(present[0][0], key, present[0][1]):
            continue
        if key in RECORDED_WIDTH_KEYS and None in values and m.a.graph.has_module_scopes:
            continue  # only one trace has recorded shapes
        if key == SAVED_DTYPES and is_saver(old_def.op) and _listed_types(values[0]) == _listed_types(values[1]):
            continue
        found = _of_attribute(m, key, *values, called, options, block, bool(m.a.labels.settings[old]))
        for each in (_with_defaults(each, old_def.op, new_def.op) for each in found):
            both = each.old, each.new
            # An added or removed parameter of a PyTorch module is a boolean in the program: `bias=False`.
            is_parameter = m.a.has_module_scopes and OWN_PARAMETER in both and None in both
            yield replace(each, old=each.old is not None, new=each.new is not None) if is_parameter else each
    yield from _of_meaning(m, old, new)


def _with_defaults(difference: Difference, *ops: str) -> Difference:
    """Return a difference of a setting with the default of the op on a side where it is missing."""
    sides = difference.old, difference.new
    old, new = (
        default_setting(op, difference.attribute, other) if value is None else value
        for op, value, other in zip(ops, sides, sides[::-1], strict=True)
    )
    return replace(difference, old=old, new=new)


def _of_meaning(m: Matching, old: int, new: int) -> Iterator[Difference]:
    """Yield the differences of a weight's shape and dtype, and of the settings of a Keras layer."""
    old_weight, new_weight = m.a.labels.weights.get(old), m.b.labels.weights.get(new)
    if m.a.op_type(old) != m.b.op_type(new):
        # A variable has its shape in an attribute; a constant in its place has not.
        old_weight, new_weight = _stated_weight(m.a, old) or old_weight, _stated_weight(m.b, new) or new_weight
    if old_weight is not None and new_weight is not None:
        (old_type, old_shape), (new_type, new_shape) = old_weight, new_weight
        # "" if the dtype is an attribute, which is compared elsewhere.
        if old_type and new_type and old_type != new_type:
            yield Difference("dtype", "", old_type, new_type)
        if old_shape != new_shape:
            yield Difference("weight", SHAPE, old_shape, new_shape)
    old_settings, new_settings = m.a.labels.configurations.get(old, {}), m.b.labels.configurations.get(new, {})
    other_class = old_settings.get("class") != new_settings.get("class")
    for key, *values in setting_differences(old_settings, new_settings) if old_settings != new_settings else ():
        # For another class, only settings count that both classes have, as values of one type.
        if not other_class or (key != "class" and type(values[0]) is type(values[1])):
            yield Difference("dtype" if key.endswith(".dtype") else key, "", *values)


def _stated_weight(side: GraphColumns, node: int) -> tuple[str, str] | None:
    """Return "" for the dtype, and the shape in the attributes of a variable; None for any other node."""
    definition = side.graph.node_def(node)
    if definition is None or definition.op not in VARIABLE_OPS or "shape" not in definition.attr:
        return None
    return "", shape_proto_text(definition.attr["shape"].shape)


def _op_name(m: Matching, op: str, old: bool) -> Any:
    """Return the op type; if it is the name of a function of the library, the function's class."""
    side = m.a if old else m.b
    called = side.functions_called.get(op)
    return int(side.function_class[called[0]]) if called else op


def _called_functions(m: Matching, node: int, old: bool) -> Called:
    """Return the classes of the functions that each attribute names; matched functions have equal classes."""
    side = m.a if old else m.b
    called: Called = {}
    for attr, function in side.functions_called_by_node.get(node, ()):
        if attr:
            # "branches[2]" belongs to the attribute `branches`, a list of functions.
            called.setdefault(attr.split("[")[0], {})[attr] = int(side.function_class[function])
    return called


def _of_attribute(
    m: Matching,
    key: str,
    old: AttrValue | None,
    new: AttrValue | None,
    called: tuple[Called, Called],
    options: DiffOptions,
    blocks: tuple[int, int],
    is_setting: bool,
) -> Iterator[Difference]:
    if old is None or new is None:
        present = old if old is not None else new
        word = "dtype" if present is not None and present.WhichOneof("value") == "type" else key
        yield Difference(word, key, *(None if value is None else plain_value(value) for value in (old, new)))
        return
    if old.WhichOneof("value") == new.WhichOneof("value") == "tensor":
        yield from _of_tensors(key, old, new, options.constants or is_setting, is_setting)
        return
    if key == COLOCATION_ATTR and _same_colocation(m, blocks, old, new):
        return
    old_classes, new_classes = (functions.get(key, {}) for functions in called)
    old_bytes, old_numbers = canonical_bytes(old, m.a.functions_called)
    new_bytes, new_numbers = canonical_bytes(new, m.b.functions_called)
    if old_classes.keys() == new_classes.keys() and old_classes != new_classes:
        yield Difference(key, key, plain_value(old), plain_value(new))
    elif types := _type_in_list(old, new):
        yield Difference("dtype", key, *types)
    elif old_bytes != new_bytes or (options.constants and old_numbers != new_numbers):
        are_types = old.WhichOneof("value") == new.WhichOneof("value") == "type"
        yield Difference("dtype" if are_types else key, key, plain_value(old), plain_value(new))


def _listed_types(value: AttrValue | None) -> list[int]:
    """Return the types of a list, sorted."""
    return [] if value is None else sorted(value.list.type)


def _type_in_list(mine: AttrValue, other: AttrValue) -> tuple[str, str] | None:
    """Return the old and the new type if two lists of types differ in one type only; else None."""
    lists = list(mine.list.type), list(other.list.type)
    pairs = {(old, new) for old, new in zip(*lists, strict=False) if old != new}
    if len(lists[0]) != len(lists[1]) or len(pairs) != 1:
        return None
    old, new = pairs.pop()
    return dtype_label(old), dtype_label(new)


def _of_tensors(key: str, mine: AttrValue, other: AttrValue, counted: bool, setting: bool) -> Iterator[Difference]:
    """Yield the differences of two constants: the dtype, then the shape, or else (if `counted`) the numbers; for a
    `setting` the dtype and the numbers."""
    old, new = mine.tensor, other.tensor
    if old.dtype != new.dtype:
        yield Difference("dtype", key, dtype_label(old.dtype), dtype_label(new.dtype))
    # The shape of a setting follows from its numbers (an axis, a list of axes): one difference, not two.
    if setting and tensor_numbers(old) != (tensor_numbers(new) if old.dtype == new.dtype else _written_value(new, old)):
        yield Difference("value", key, tensor_numbers(old), tensor_numbers(new))
    elif not setting and tensor_kind(old).partition(b":")[2] != tensor_kind(new).partition(b":")[2]:
        yield Difference("value shape", key, shape_proto_text(old.tensor_shape), shape_proto_text(new.tensor_shape))
    elif old.dtype == new.dtype and counted and tensor_payload(old) != tensor_payload(new):
        yield Difference("value", key, tensor_text(old), tensor_text(new))


def _written_value(tensor: TensorProto, other: TensorProto) -> Any:
    """Return the numbers of a tensor, or those of `other` if they are equal after conversion to this dtype.

    >>> from graphviz_tb.proto import TensorProto
    >>> _written_value(TensorProto(dtype=19, half_val=[0x2E66]), TensorProto(dtype=1, float_val=[0.1]))
    0.1
    >>> _written_value(TensorProto(dtype=19, half_val=[0x3266]), TensorProto(dtype=1, float_val=[0.1]))
    0.1999512
    """
    value, other_value = tensor_numbers(tensor), tensor_numbers(other)
    lists = [numbers if isinstance(numbers, list) else [numbers] for numbers in (value, other_value)]
    is_numeric = all(isinstance(number, int | float) for numbers in lists for number in numbers)
    if not is_numeric or isinstance(value, list) != isinstance(other_value, list) or len(lists[0]) != len(lists[1]):
        return value
    precision = max(FLOAT_PRECISION.get(message.dtype, 0.0) for message in (tensor, other))
    pairs = zip(*lists, strict=True)
    equal = all(isclose(number, partner, rel_tol=precision, abs_tol=SMALLEST_HALF) for number, partner in pairs)
    return other_value if equal else value


def _same_colocation(m: Matching, block: tuple[int, int], mine: AttrValue, other: AttrValue) -> bool:
    """Return whether two lists of colocated nodes name matched nodes."""
    if len(mine.list.s) != len(other.list.s):
        return False
    nodes = [m.a.index.get((block[0], _colocation_node(text)), -1) for text in mine.list.s]
    partners = [m.b.index.get((block[1], _colocation_node(text)), -1) for text in other.list.s]
    # In any order; unknown names have no match.
    return all(map(exists, (*nodes, *partners))) and sorted(m.to_b[nodes].tolist()) == sorted(partners)


def _colocation_node(text: bytes) -> str:
    """Return the node that a colocation names.

    >>> _colocation_node(b"loc:@layer/kernel")
    'layer/kernel'
    """
    return text.decode("utf-8", "replace").removeprefix("loc:@")


def argument_type(graph: Graph, node: int) -> str:
    function = graph.functions[int(graph.function[node])]
    argument = graph.graph_def.library.function[function.index].signature.input_arg[function.argument_position(node)]
    return dtype_label(argument.type) if argument.type else argument.type_attr


# Ops that compute with sizes. TensorFlow writes constants in their place if a size is known before the program runs.

TYPE_KEYS = ("T", "Tparams", "Tidx", "SrcT")  # attributes for the dtype that an op computes with
INTEGER_TYPES = (3, 9)  # TensorFlow's numbers of int32, int64
TYPE_LIST_KEYS = frozenset({"T", "Tin", "Tout", "output_types"})  # the dtypes of the arguments of a loop or a call
# Numbers of inputs, and sizes of the elements of lists.
COUNT_ATTRIBUTES = frozenset({"output_shapes", "element_shape", "num_elements", "_num_original_outputs", "N"})
SIZE_ARGUMENTS = frozenset({"size", "shape"})  # of PyTorch's ops; lists as text


def computes_only_sizes(m: Matching, change: Change) -> bool:
    """Return whether a change only concerns ops that read sizes or compute with them, or inputs that are sizes."""
    edits = change.edits
    old = [*edits.removed, *(node for node, _ in edits.ops)]
    new = [*edits.added, *(node for _, node in edits.ops)]
    if change.kind == "rewired":
        op = m.b.op_type(edits.inputs[0][1])
        takes_sizes = all(wire.slot is not None and is_size_input(op, wire.slot) for wire in change.links)
        return takes_sizes or all(_sizing_nodes(m.b, node) for _, node in edits.inputs)
    is_op_change = change.kind in ("added", "removed") or change.key == "op"
    return (
        is_op_change
        and bool(old or new)
        and all(_sizing_nodes(m.a, node) for node in old)
        and all(_sizing_nodes(m.b, node) for node in new)
    )


def _sizing_nodes(side: GraphColumns, node: int) -> bool:
    """Return whether an op reads a size or computes with integers only."""
    op = side.op_type(node)
    if op in SIZE_OPS or op in CONSTANT_OPS:
        return True
    definition = side.graph.node_def(node)
    if op not in SIZE_ARITHMETIC_OPS | INDEX_OPS or definition is None:
        return False
    types = [definition.attr[key].type for key in TYPE_KEYS if key in definition.attr]
    return bool(types) and types[0] in INTEGER_TYPES


def is_entailed(key: str, old: object) -> bool:
    """Return whether an attribute follows from the inputs of an op: the list of their dtypes at a loop or a call, or
    the shape of a reshape in PyTorch."""
    return (key in TYPE_LIST_KEYS and isinstance(old, list)) or (key in SIZE_ARGUMENTS and str(old).startswith("["))
