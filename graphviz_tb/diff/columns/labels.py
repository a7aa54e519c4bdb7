"""Nodes as hashes: op type, attributes in classes, device.

attributes ─┬▶ core        always counts: shapes of weights, constants that are settings, Keras configurations too
            ├▶ shapes      _output_shapes
            ├▶ colocation  _class
            └▶ constants   numbers in all other tensors
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.diff.columns.hashing import Hashes, combined, digest, digests
from graphviz_tb.diff.columns.meaning import Configurations, WeightTypes, configurations, hashed, settings, weights
from graphviz_tb.diff.columns.values import canonical
from graphviz_tb.diff.options import DiffOptions
from graphviz_tb.limits import MAX_CACHED_ATTRIBUTE_BYTES
from graphviz_tb.model.columns import Bools, freeze_array
from graphviz_tb.model.graph import COLOCATION_ATTR, Graph
from graphviz_tb.ops.roles import Role, has_role

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

SHAPES = frozenset({"_output_shapes", "_input_shapes"})
LISTED = "dtypes"  # the types of what a saver lists
# How a program was traced or run, not what it computes: `_gradient_op_type` is "PartitionedCall-" and a counter of
# the process, `shared_name` and `debug_name` are names of variables, `config_proto` is the session's.
NOISE = frozenset(
    {"shared_name", "_gradient_op_type", "debug_name", "config_proto", "executor_type", "allowed_devices",
     "_user_specified_name", "frame_name", "_variable", "_trainable", "_has_manual_control_dependencies",
     "_read_only_resource_inputs"}
)  # fmt: skip
COUNTER = "seed2"  # TensorFlow counts ops in it, unless the program gives the op a seed
OWN_SEED = 87654321  # what `seed` holds then (tensorflow.python.framework.random_seed.DEFAULT_GRAPH_SEED)
# By the bytes of a node's attributes: hashes of core, shapes, colocation, constants.
Known = dict[bytes, tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """One column for each class of differences, one value a node. `own` is what counts with the given options,
    names of library functions left out. `settings` are the constants that count."""

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


CLASSES_OF_NODES = ("shapes", "colocation", "constants", "devices")


def label(graph: Graph, options: DiffOptions, known: Known | None = None) -> Labels:
    """Read the attributes of every node once; equal ones are decoded once, also those of the other graph (`known`)."""
    # What `classify` gives depends on the functions of the library, so graphs that have some share nothing.
    known = {} if known is None or graph.functions else known
    library = frozenset(function.name for function in graph.functions)
    # TensorFlow 1 calls a function by an op of its name; which function that is, is in `Side.node_label`.
    op = digests("" if word in library else word for word in graph.op_types)[graph.op]
    devices = digests(graph.devices)[graph.device]
    table = np.array(list(_classes(graph, library, known)), np.uint64).reshape(-1, 4)
    core, shapes, colocation, constants = (np.ascontiguousarray(table[:, number]) for number in range(4))
    counted, learned, layers = settings(graph), weights(graph), configurations(graph)
    core = combined(core, np.where(counted, constants, 0), hashed(len(graph), learned), hashed(len(graph), layers))
    # They are in `core`: counted once, not with the constants that were ignored too.
    constants[counted] = 0
    op, core, shapes, colocation, constants, devices = map(
        freeze_array, (op, core, shapes, colocation, constants, devices)
    )
    classes = {"shapes": shapes, "colocation": colocation, "constants": constants, "devices": devices}
    own = combined(op, core, *(column for word, column in classes.items() if getattr(options, word)))
    return Labels(op, core, **classes, own=own, settings=counted, weights=learned, configurations=layers)


def _classes(graph: Graph, library: Collection[str], memo: Known) -> Iterator[tuple[int, int, int, int]]:
    """The four classes of each node's attributes, in node order."""
    for node in definitions(graph):
        if not hasattr(node, "attr"):  # an argument of a function
            yield digest(b"arg%d %s" % (node.type, node.type_attr.encode())), 0, 0, 0
            continue
        data = attribute_bytes(node)
        key = (
            data if len(data) < MAX_CACHED_ATTRIBUTE_BYTES else blake2b(data, digest_size=16).digest()
        )  # only saves time and room
        classes = memo.get(key)
        if classes is None:
            classes = memo[key] = classify(node.attr, library)
        yield classes


def definitions(graph: Graph) -> Iterator[Any]:
    """The message of each node, in node order; for arguments of functions their ArgDef."""
    yield from graph.graph_def.node
    for function in graph.graph_def.library.function:
        yield from function.signature.input_arg
        yield from function.node_def


def attribute_bytes(node: NodeDef) -> bytes:
    """The attributes as bytes, in the order of their keys: what follows name, op, inputs and device.

    >>> from graphviz_tb.proto import NodeDef
    >>> one = NodeDef(name="a", op="Relu", input=["x"], attr={"b": {"i": 1}, "a": {"i": 2}})
    >>> two = NodeDef(name="other", op="Relu", attr={"a": {"i": 2}, "b": {"i": 1}})
    >>> attribute_bytes(one) == attribute_bytes(two)
    True
    """
    data: bytes = node.SerializeToString(deterministic=True)
    position, size = 0, len(data)
    # Tags of name, op, input, device: fields 1-4, length-delimited. Fields are written in the order of their numbers,
    # and `attr` is field 5.
    while position < size and data[position] in (0x0A, 0x12, 0x1A, 0x22):
        position += 1
        length = shift = 0
        # The length is a varint: seven bits a byte, the lowest first, the top bit set where another byte follows.
        while True:
            byte = data[position]
            position += 1
            length |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        position += length
    return data[position:]


def is_saver(op: str) -> bool:
    """Whether an op saves or restores variables, which it lists by name: another name is another order."""
    return has_role(op, Role.SAVE, Role.RESTORE)


def classify(attrs: Any, library: Collection[str]) -> tuple[int, int, int, int]:
    """Hashes of the attributes, class by class; 0 for a class (other than `core`) that is empty."""
    core: list[bytes] = []
    others: dict[str, list[bytes]] = {"shapes": [], "colocation": [], "constants": []}
    for key in sorted(attrs):
        if key in NOISE or is_counter(key, attrs):
            continue
        value = attrs[key]
        if key in SHAPES or key == COLOCATION_ATTR:
            into = others["shapes" if key in SHAPES else "colocation"]
            into.append(key.encode() + b"=" + value.SerializeToString(deterministic=True))
            continue
        counts, numbers = canonical(value, library)
        core.append(key.encode() + b"=" + counts)
        if numbers:
            others["constants"].append(key.encode() + b"=" + numbers)
    first, *rest = (core, *others.values())
    hashed = [digest(b"\0".join(part)) if part else 0 for part in rest]
    return digest(b"\0".join(first)), hashed[0], hashed[1], hashed[2]


def is_counter(key: str, attrs: Any) -> bool:
    """Whether an attribute is a seed that TensorFlow counted."""
    return key == COUNTER and not ("seed" in attrs and attrs["seed"].i == OWN_SEED)
