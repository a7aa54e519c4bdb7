"""Compute the label of each node, as hashes of its op type, its device, and its attributes in four classes.

attributes ─┬▶ core        always compared; with shapes of weights, constants that are settings, Keras configurations
            ├▶ shapes      _output_shapes
            ├▶ colocation  _class
            └▶ constants   numbers in all other tensors
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np

from graphviz_tb.diff.columns.values import (
    Hashes,
    canonical_bytes,
    combine_hashes,
    plain_value,
    tidy_number,
    word_hash,
    word_hashes,
)
from graphviz_tb.limits import MAX_CACHED_ATTRIBUTE_BYTES, MAX_SETTING_FLOATS, MAX_SETTING_NUMBERS
from graphviz_tb.model.columns import Bools, exists, freeze_array
from graphviz_tb.model.graph import COLOCATION_ATTR, Graph
from graphviz_tb.model.layers import TENSOR_ARGUMENTS, Layer
from graphviz_tb.model.tensors import STRING_DTYPE_NUMBER, shape_text
from graphviz_tb.ops.roles import (
    ASSIGN_OPS,
    CAST_OPS,
    CONSTANT_OPS,
    FRAME_ENTER_OPS,
    FRAME_SWITCH_OPS,
    IDENTITY_OPS,
    VARIABLE_OPS,
    VARIABLE_READ_OPS,
    Role,
    has_role,
)
from graphviz_tb.ops.signatures import NEUTRAL_SETTINGS, attribute_defaults, default_setting, is_seed_input
from graphviz_tb.options import DiffOptions
from graphviz_tb.proto import AttrValue, NodeDef

# Ops between a frozen weight and its user: TensorFlow freezes a variable `w` to a `Const` w and the `Identity` w/read.
# PyTorch marks its weights.
CARRIER_OPS = IDENTITY_OPS | VARIABLE_READ_OPS | FRAME_ENTER_OPS | FRAME_SWITCH_OPS | ASSIGN_OPS
CARRIER_OPS = frozenset(op for op in CARRIER_OPS if not op.startswith("aten::"))
FLOAT_NUMBERS = frozenset({1, 2, 14, 19})  # of dtypes
# Keys that Keras writes to rebuild an object.
NOT_SETTINGS = frozenset(
    {"name", "build_config", "build_input_shape", "build_shapes_dict", "shared_object_id", "registered_name", "module",
     "seed"}
)  # fmt: skip

CALLS_KEY = "calls of the layer"  # no name of a setting has blanks
KEYS_OF_ALL_LAYERS = frozenset({"trainable", "dtype"})
WeightTypes = dict[int, tuple[str, str]]  # dtype and shape of weights, by node
Configurations = dict[int, dict[str, Any]]


def _setting_constants(graph: Graph) -> Bools:
    """Return which nodes are constants that configure an op (a rate, an axis, an epsilon), and no learned values.

    Settings are small and no strings. A float constant is a weight if its user is a read, an identity or (for more than
    one number) a cast, or if it has two dimensions. In a graph with variables, a setting may have as many floats as
    integers.
    """
    has_variables = not (VARIABLE_OPS | VARIABLE_READ_OPS).isdisjoint(graph.op_types)
    weights = () if has_variables else graph.meaning.weights
    most_floats = MAX_SETTING_NUMBERS if has_variables else MAX_SETTING_FLOATS
    is_setting = np.zeros(len(graph), bool)
    nodes = np.flatnonzero(graph.nodes_of_types(CONSTANT_OPS.__contains__))
    learned, cast, seeds = _learned_cast_and_seed_nodes(graph)
    for node in nodes.tolist():
        definition = graph.node_def(node)
        if definition is None or "value" not in definition.attr or node in weights or seeds[node]:
            continue  # indexing a message would add a missing attribute
        tensor = definition.attr["value"].tensor
        dims = [dim.size for dim in tensor.tensor_shape.dim]
        count = int(np.prod(dims, dtype=np.int64)) if dims else 1
        is_float = tensor.dtype in FLOAT_NUMBERS
        if tensor.dtype != STRING_DTYPE_NUMBER and count <= (most_floats if is_float else MAX_SETTING_NUMBERS):
            is_setting[node] = not (is_float and (learned[node] or len(dims) > 1 or (cast[node] and dims)))
    return is_setting


def _learned_cast_and_seed_nodes(graph: Graph) -> tuple[Bools, Bools, Bools]:
    """Return which nodes have a read or an identity as user; a cast; a stateless random op that they are the seed
    of."""
    # StatelessRandomUniform(shape, seed), and StatelessRandomUniformV2(shape, key, counter, alg).
    at_seed = graph.nodes_of_types(lambda op: is_seed_input(op, 1))[graph.target] & (graph.slot == 1)
    into = (graph.nodes_of_types(ops.__contains__)[graph.target] for ops in (CARRIER_OPS, CAST_OPS))
    learned, cast, seeds = (np.zeros(len(graph), bool) for _ in range(3))
    for found, edges in zip((learned, cast, seeds), (*into, at_seed), strict=True):
        found[graph.source[edges & ~graph.control]] = True
    return learned, cast, seeds


def _weight_types(graph: Graph) -> WeightTypes:
    """Return the known dtypes and shapes of weights."""
    known = {
        node: (weight.dtype, shape_text(weight.shape))
        for node, weight in graph.meaning.weights.items()
        if weight.shape is not None
    }
    for node in np.flatnonzero(graph.nodes_of_types(VARIABLE_READ_OPS.__contains__)).tolist():
        definition = graph.node_def(node)
        if definition is None or node in known:
            continue
        shapes = list(definition.attr["_output_shapes"].list.shape) if "_output_shapes" in definition.attr else []
        # The recorded shape of a read variable; its dtype is an attribute.
        if len(shapes) == 1 and not shapes[0].unknown_rank:
            known[node] = "", shape_text([dim.size for dim in shapes[0].dim])
    return known


LOSS_SCALING = "loss scaling"  # for half precision, in which small gradients would be 0


def _layer_configurations(graph: Graph) -> Configurations:
    """Return class and settings of the nodes that are Keras layers."""
    by_node = {}
    for name, layer in graph.layers.items():
        node = graph.index[0].get(name, -1)
        if exists(node):
            by_node[node] = plain_configuration(layer)
    return by_node


def plain_configuration(layer: Layer) -> dict[str, Any]:
    """Return class and settings of a layer, with the arguments of each call."""
    return {
        "class": layer.class_name,
        **layer.config,
        **({CALLS_KEY: list(layer.arguments)} if layer.arguments else {}),
    }


def setting_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each setting that differs, with its name, old and new value.

    Objects of equal classes are compared by their settings; for objects of different classes, the classes and common
    settings are compared. Names and details of building are ignored.

    >>> old = {"units": 4, "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}}}
    >>> new = {"units": 8, "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.2}}}
    >>> sorted(setting_differences(old, new))
    [('optimizer.learning_rate', 0.1, 0.2), ('units', 4, 8)]
    >>> scaled = {"class_name": "LossScaleOptimizer", "config": {"inner_optimizer": new["optimizer"]}}
    >>> sorted(setting_differences(old, {"units": 4, "optimizer": scaled}))
    [('loss scaling', False, True), ('optimizer.learning_rate', 0.1, 0.2)]
    """
    # Objects to compare: the dotted prefix of their settings, and the settings of both sides.
    waiting = [("", before, after)]
    while waiting:
        prefix, before, after = waiting.pop()
        for key in sorted(_setting_keys(before, prefix) | _setting_keys(after, prefix)):
            old, new = _unpack_tuple(before.get(key)), _unpack_tuple(after.get(key))
            inner = _scaled_optimizer(old), _scaled_optimizer(new)
            if (inner[0] is None) != (inner[1] is None):
                yield LOSS_SCALING, inner[0] is not None, inner[1] is not None
                old, new = inner[0] or old, inner[1] or new
            if old == new or plain_setting(old) == plain_setting(new):
                continue
            if key == CALLS_KEY and not prefix:
                yield from _call_differences(old or (), new or ())
            elif (parts := _parts(old, new)) is not None:
                waiting.append((f"{prefix}{key}.", *parts))
            else:
                yield f"{prefix}{key}", _value_or_class(old, new), _value_or_class(new, old)
                waiting.append((f"{prefix}{key}.", *_common_settings(old, new)))


def _scaled_optimizer(value: Any) -> Any:
    """Return the inner optimizer of one that scales its loss; None for any other value."""
    return _nested_settings(value).get("inner_optimizer") if _class_name(value) else None


def _common_settings(old: Any, new: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings that objects of two classes have in common, without names. Settings that are None on
    one side are left out, except those of optimizers.

    >>> old = {"class_name": "Dice", "config": {"name": "dice", "axis": None, "reduction": "sum"}}
    >>> new = {"class_name": "Other", "config": {"name": "other", "axis": -1, "reduction": None}}
    >>> _common_settings(old, new)
    ({}, {})
    """
    sides = [_nested_settings(value) if _class_name(value) else {} for value in (old, new)]
    common = (sides[0].keys() & sides[1].keys()) - {"name", "config"}
    if "learning_rate" not in common:
        common = {key for key in common if sides[0][key] is not None and sides[1][key] is not None}
    return {key: sides[0][key] for key in common}, {key: sides[1][key] for key in common}


def _call_differences(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield each argument of a layer's calls that differs, without a number if it differs in all calls. Tensor
    arguments are compared as edges, added and removed calls elsewhere.

    >>> list(_call_differences([{"y": 2.0, "tensors": [0]}], [{"y": 3.0, "tensors": [0]}]))
    [('argument y', 2.0, 3.0)]
    >>> list(_call_differences([{"tensors": [0, "mask"]}], [{"tensors": [0, "key"]}]))
    [('tensor arguments', [0, 'mask'], [0, 'key'])]
    """
    if len(old) != len(new):
        return
    found: dict[str, list[tuple[str, Any, Any]]] = defaultdict(list)
    for number, (old_call, new_call) in enumerate(zip(old, new, strict=True), 1):
        tensors = old_call.get(TENSOR_ARGUMENTS, ()), new_call.get(TENSOR_ARGUMENTS, ())
        if len(tensors[0]) == len(tensors[1]) and tensors[0] != tensors[1]:
            found[repr(tensors)].append((f"call {number}: tensor arguments", *tensors))
        for key, *pair in setting_differences(
            {"argument": argument_values(old_call)}, {"argument": argument_values(new_call)}
        ):
            word = key.replace("argument.", "argument ", 1)
            found[repr((word, *pair))].append((f"call {number}: {word}", *pair))
    for alike in found.values():
        in_all = len(alike) == len(old)
        for word, before, after in alike[:1] if in_all else alike:
            yield word.partition(": ")[2] if in_all else word, before, after


def argument_values(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call that are not tensors."""
    return {key: value for key, value in arguments.items() if key != TENSOR_ARGUMENTS}


def _setting_keys(value: Mapping[str, Any], before: str) -> set[str]:
    """Return the settings of an object that count. Its name counts in a plain dictionary inside a configuration."""
    plain = before and value.keys().isdisjoint(KEYS_OF_ALL_LAYERS)
    return value.keys() - (NOT_SETTINGS - {"name"} if plain else NOT_SETTINGS)


def _parts(old: Any, new: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """Return the parts of two values to compare: of objects of one class, dictionaries, lists of equal length; None for
    other values."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        # A dtype policy is compared as one word ("mixed_float16").
        if _class_name(old) != _class_name(new) or str(_class_name(old)).endswith("Policy"):
            return None
        if None not in (_function_name(old), _function_name(new)):
            return None
        if _class_name(old) is None:
            return old, new
        # The name of an object is no setting: Keras numbers the optimizers of a process (`adam_1`).
        return {**_nested_settings(old), "name": None}, {**_nested_settings(new), "name": None}
    lists = isinstance(old, list) and isinstance(new, list) and len(old) == len(new)
    if lists and any(isinstance(_unpack_tuple(part), Mapping) for part in (*old, *new)):
        keys = [str(place) for place in range(len(old))]
        return dict(zip(keys, old, strict=True)), dict(zip(keys, new, strict=True))
    return None


def _unpack_tuple(value: Any) -> Any:
    """Return a tuple of Keras 3 as a list.

    >>> _unpack_tuple({"class_name": "__tuple__", "items": [1, 2]})
    [1, 2]
    """
    items = value.get("items") if _class_name(value) == "__tuple__" else None
    return items if isinstance(items, list) else value


def _class_name(value: Any) -> Any:
    return value["class_name"] if isinstance(value, Mapping) and isinstance(value.get("class_name"), str) else None


def _nested_settings(value: Any) -> Mapping[str, Any]:
    inner = value.get("config")
    return inner if isinstance(inner, Mapping) else {"config": inner}


def _value_or_class(value: Any, other: Any) -> Any:
    """Return a value; for an object that replaces one of another class, only its class."""
    exchanged = _class_name(value) and _class_name(other) and _class_name(value) != _class_name(other)
    return _class_name(value) if exchanged and _function_name(value) is None else plain_setting(value)


def _function_name(value: Any) -> str | None:
    """Return the name of a Python function, {"class_name": "function", "config": "relu"} in Keras; None for others."""
    name = value.get("config") if _class_name(value) == "function" else None
    return name if isinstance(name, str) else None


def plain_setting(value: Any) -> Any:
    """Return a setting as a short plain value.

    >>> plain_setting({"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"}})
    'float32'
    >>> plain_setting({"class_name": "L2", "config": {"l2": 0.01}})
    'L2(l2=0.01)'
    >>> plain_setting({"class_name": "function", "config": "focal_loss"})
    'focal_loss'
    """
    value = _unpack_tuple(value)
    if isinstance(value, Mapping):
        if _class_name(value) is None:
            return {key: plain_setting(value[key]) for key in sorted(_setting_keys(value, "in"))}
        inner = _nested_settings(value)
        if name := _function_name(value):
            return name
        if _class_name(value).endswith("Policy"):
            return inner.get("name", _class_name(value))
        words = ", ".join(
            f"{key}={plain_setting(part)}"
            for key, part in inner.items()
            if part is not None and key not in NOT_SETTINGS
        )
        return f"{_class_name(value)}({words})" if words else _class_name(value)
    if isinstance(value, (list, tuple)):
        return [plain_setting(part) for part in value]
    return tidy_number(value)


def own_settings(configuration: Any) -> Any:
    """Return the settings of a configuration that count, as plain values."""
    if not isinstance(configuration, Mapping):
        return plain_setting(configuration)
    return {key: plain_setting(configuration[key]) for key in _setting_keys(configuration, "")}


def _hash_by_node(count: int, values: Mapping[int, Any]) -> Hashes:
    """Return a hash for each node; 0 for unknown nodes."""
    column = np.zeros(count, np.uint64)
    known: dict[Any, int] = {}  # thousands of weights may have one type and shape
    for node, value in values.items():
        key = value if isinstance(value, tuple) else id(value)
        if key not in known:
            known[key] = word_hash(json.dumps(own_settings(value), sort_keys=True, default=str))
        column[node] = known[key]
    return column


SHAPE_ATTRIBUTES = frozenset({"_output_shapes", "_input_shapes"})
SAVED_DTYPES = "dtypes"  # the attribute of a saver for the dtypes of its variables
# Attributes that depend on tracing or on the run, not on the computation: `_gradient_op_type` has a counter of the
# process, `shared_name` and `debug_name` are names of variables, `config_proto` is the session's, `fused_ops` are names
# that a converter joined, `external_data` is the file of a weight's numbers.
NOISE_ATTRIBUTES = frozenset(
    {"shared_name", "_gradient_op_type", "debug_name", "config_proto", "executor_type", "allowed_devices",
     "_user_specified_name", "frame_name", "_variable", "_trainable", "_keeps_more", "_has_manual_control_dependencies",
     "_read_only_resource_inputs", "_source", "_aliases", "_output_types", "fused_ops", "external_data", "_may_repeat"}
)  # fmt: skip
SEED_COUNTER = "seed2"  # a counter of ops, unless the program sets a seed for the op
DEFAULT_SEED = 87654321  # `seed` of such an op (tensorflow.python.framework.random_seed.DEFAULT_GRAPH_SEED)
# By op and bytes of attributes: hashes of core, shapes, colocation, constants.
Known = dict[bytes, tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Columns of hashes by node, one for each class of differences.

    `own` is the hash of everything that counts with the given options, without names of library functions; `settings`
    marks constants that are settings.
    """

    op: Hashes
    core: Hashes
    shapes: Hashes
    colocation: Hashes
    constants: Hashes
    devices: Hashes
    own: Hashes
    settings: Bools
    weights: WeightTypes
    configurations: Configurations


NODE_CLASSES = ("shapes", "colocation", "constants", "devices")


def label_nodes(graph: Graph, options: DiffOptions, known: Known | None = None) -> Labels:
    """Return the labels of all nodes. Equal attributes are decoded once, also those of the other graph (`known`)."""
    # Hashes depend on the functions of the library: only graphs without functions share them.
    known = {} if known is None or graph.functions else known
    library = frozenset(function.name for function in graph.functions)
    # In TensorFlow 1, a call has the function's name as op type; `GraphColumns.node_label` includes the function.
    op = word_hashes("" if word in library else word for word in graph.op_types)[graph.op]
    devices = word_hashes(graph.devices)[graph.device]
    table = np.array(list(_node_class_hashes(graph, library, known)), np.uint64).reshape(-1, 4)
    core, shapes, colocation, constants = (np.ascontiguousarray(table[:, number]) for number in range(4))
    is_setting, weights, layers = _setting_constants(graph), _weight_types(graph), _layer_configurations(graph)
    core = combine_hashes(
        core, np.where(is_setting, constants, 0), _hash_by_node(len(graph), weights), _hash_by_node(len(graph), layers)
    )
    # Settings are in `core`, and no ignored constants.
    constants[is_setting] = 0
    op, core, shapes, colocation, constants, devices = map(
        freeze_array, (op, core, shapes, colocation, constants, devices)
    )
    classes = {"shapes": shapes, "colocation": colocation, "constants": constants, "devices": devices}
    own = combine_hashes(op, core, *(column for word, column in classes.items() if getattr(options, word)))
    return Labels(op, core, **classes, own=own, settings=is_setting, weights=weights, configurations=layers)


def _node_class_hashes(graph: Graph, library: Collection[str], memo: Known) -> Iterator[tuple[int, int, int, int]]:
    """Yield the four classes of each node's attributes, in node order."""
    packed = getattr(graph.graph_def.node, "attributes", None)
    nodes: Iterable[Any] = graph.graph_def.node if packed is None else map(packed, range(len(graph)))
    bodies = ((*each.signature.input_arg, *each.node_def) for each in graph.graph_def.library.function)
    for node, number in zip(chain(nodes, *bodies), graph.op.tolist(), strict=True):
        op, is_packed = graph.op_types[number], isinstance(node, bytes)
        if not is_packed and not hasattr(node, "attr"):  # an argument of a function
            yield word_hash(b"arg%d %s" % (node.type, node.type_attr.encode())), 0, 0, 0
            continue
        data = node if is_packed else _attributes_alone(node).SerializeToString(deterministic=True)
        short = data if len(data) < MAX_CACHED_ATTRIBUTE_BYTES else blake2b(data, digest_size=16).digest()
        key = op.encode() + short
        if key not in memo:
            memo[key] = _hash_classes(op, (NodeDef.FromString(data) if is_packed else node).attr, library)
        yield memo[key]


def _attributes_alone(node: NodeDef) -> NodeDef:
    """Return a node without name, op, inputs and device."""
    made = NodeDef()
    made.attr.MergeFrom(node.attr)
    return made


def is_saver(op: str) -> bool:
    """Return whether an op saves or restores variables. It lists them by name, so a rename changes their order."""
    return has_role(op, Role.SAVE, Role.RESTORE)


def _hash_classes(op: str, attrs: Any, library: Collection[str]) -> tuple[int, int, int, int]:
    """Return the hashes of the attributes by class; 0 for an empty class other than `core`. Attributes with their
    default value count as missing."""
    core: list[bytes] = []
    others: dict[str, list[bytes]] = {"shapes": [], "colocation": [], "constants": []}
    for key in sorted(attrs):
        if key in NOISE_ATTRIBUTES or is_seed_counter(key, attrs):
            continue
        value = attrs[key]
        if key in SHAPE_ATTRIBUTES or key == COLOCATION_ATTR:
            attributes = others["shapes" if key in SHAPE_ATTRIBUTES else "colocation"]
            attributes.append(key.encode() + b"=" + value.SerializeToString(deterministic=True))
            continue
        if is_default(op, key, value):
            continue
        counts, numbers = canonical_bytes(value, library)
        core.append(key.encode() + b"=" + counts)
        if numbers:
            others["constants"].append(key.encode() + b"=" + numbers)
    first, *rest = (core, *others.values())
    hashed = [word_hash(b"\0".join(part)) if part else 0 for part in rest]
    return word_hash(b"\0".join(first)), hashed[0], hashed[1], hashed[2]


def is_default(op: str, key: str, value: AttrValue) -> bool:
    """Return whether an attribute has the default value of its op."""
    may_have = key in NEUTRAL_SETTINGS or key in attribute_defaults(op)
    return may_have and (plain := plain_value(value)) == default_setting(op, key, plain)


def is_seed_counter(key: str, attrs: Any) -> bool:
    """Return whether an attribute is a seed that comes from a counter."""
    return key == SEED_COUNTER and not ("seed" in attrs and attrs["seed"].i == DEFAULT_SEED)
