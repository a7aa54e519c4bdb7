"""Every op that has a rule, in random small graphs that TensorFlow accepts: prints where what is inferred is other.

A program of its own: `python -m tests.annotate.infer.every_op`. TensorFlow ends the whole process on some inputs that
it should refuse, so each op is tried in a child. Prints one JSON object: ops by what became of them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")

import numpy as np
import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]
from tensorflow.core.framework import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    attr_value_pb2,
    graph_pb2,
    node_def_pb2,
    types_pb2,
)
from tensorflow.python.framework import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    op_def_registry,
)

from graphviz_tb import load
from tests.op_types import op_types_with_shape_rules

TRIES, ENOUGH = 50, 12  # graphs made for an op; those accepted that are enough
COMMON = (types_pb2.DT_FLOAT, types_pb2.DT_INT32, types_pb2.DT_INT64, types_pb2.DT_BOOL, types_pb2.DT_STRING)
WHOLE = {types_pb2.DT_INT32: np.int32, types_pb2.DT_INT64: np.int64}
Sizes = list[int]


def main() -> None:
    """Try all ops, or those that the command line names."""
    found: dict[str, dict[str, Any]] = {"wrong": {}, "same": {}, "never accepted": {}, "ended TensorFlow": {}}
    for name in sys.argv[1:] or op_types_with_shape_rules():
        became, what = in_a_child(name)
        if became:
            found[became][name] = what
    json.dump(found, sys.stdout)


def in_a_child(name: str) -> tuple[str, Any]:
    """What became of one op."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writing, json.dumps(tried(name))[:60_000].encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    if not told:
        return "ended TensorFlow", None
    became, what = json.loads(told)
    return became, what


def tried(name: str) -> tuple[str, Any]:
    """What becomes of an op in random graphs; nothing where TensorFlow has no such op."""
    definition = op_def_registry.get(name)
    if definition is None:
        return "", None
    luck, accepted = Random(name), 0
    for _ in range(TRIES):
        graph = graph_with(luck, definition)
        try:
            with tf.Graph().as_default() as theirs:
                tf.import_graph_def(graph, name="")
        except Exception:  # sizes or types that the op refuses, told in many ways
            continue
        accepted += 1
        wrong = list(differences(theirs.get_operation_by_name("x"), load(graph.SerializeToString()).shapes()))
        if wrong:
            return "wrong", wrong
        if accepted == ENOUGH:
            break
    return ("same", accepted) if accepted else ("never accepted", None)


def differences(op: Any, ours: dict[tuple[str, int], Any]) -> Iterator[str]:
    """Outputs whose shape is inferred otherwise than by TensorFlow; what only one of the two knows is no difference."""
    ins = [str(each.shape) for each in op.inputs]
    for at, output in enumerate(op.outputs):
        theirs, mine = output.shape, ours.get(("x", at))
        if theirs.rank is None or mine is None:
            continue
        pairs = zip(mine, theirs.as_list(), strict=False)
        if len(mine) != theirs.rank or any(None not in pair and pair[0] != pair[1] for pair in pairs):
            yield f"output {at} of {ins} is {theirs}, inferred {mine}"


def graph_with(luck: Random, definition: Any) -> Any:
    """A graph with one op of a type, its attributes and inputs by chance."""
    graph = graph_pb2.GraphDef()
    graph.versions.producer = 2000
    node = node_def_pb2.NodeDef(name="x", op=definition.name)
    base = [luck.randint(1, 4) for _ in range(luck.choice([0, 1, 2, 2, 3, 4, 4, 5]))]
    for attr in definition.attr:
        node.attr[attr.name].CopyFrom(attribute(luck, attr))
    for arg in definition.input_arg:
        for kind in kinds(arg, node):
            node.input.append(add_input(luck, graph, kind, base))
    graph.node.add().CopyFrom(node)
    return graph


def kinds(arg: Any, node: Any) -> list[int]:
    """The types of the tensors of one argument."""
    if arg.type_list_attr:
        return list(node.attr[arg.type_list_attr].list.type)
    kind = arg.type or node.attr[arg.type_attr].type
    return [kind] * (node.attr[arg.number_attr].i if arg.number_attr else 1)


def add_input(luck: Random, graph: Any, kind: int, base: Sizes) -> str:
    """A placeholder, or small numbers where an op may want to know them."""
    node = graph.node.add(name=f"i{len(graph.node)}")
    node.attr["dtype"].type = kind
    if kind in WHOLE and luck.random() < 0.5:
        node.op = "Const"
        values: Any = [luck.randint(0, 3) for _ in range(luck.choice([1, 2, 2, 3, 4, len(base)]))]
        if luck.random() < 0.3:
            values = luck.sample(range(len(base)), len(base))
        if luck.random() < 0.4:
            values = luck.randint(-1, 3)
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.array(values, WHOLE[kind])))
    else:
        node.op = "Placeholder"
        put(node.attr["shape"].shape, veiled(luck, sizes(luck, base)))
    return str(node.name)


def sizes(luck: Random, base: Sizes) -> Sizes:
    """The same sizes as others of the graph, some that stretch to them, or any."""
    which = luck.random()
    if which < 0.45:
        return list(base)
    if which < 0.65:
        return [size if luck.random() < 0.6 else 1 for size in base[luck.randint(0, len(base)) :]]
    return [luck.randint(1, 4) for _ in range(luck.choice([0, 1, 1, 2, 3, 4, 4]))]


def veiled(luck: Random, sizes: Sizes) -> Sizes | None:
    """Some sizes unknown, or the rank."""
    which = luck.random()
    if which < 0.08:
        return None
    return [size if luck.random() < 0.6 else -1 for size in sizes] if which < 0.4 else sizes


def put(shape: Any, sizes: Sizes | None) -> None:
    """Write sizes into a message."""
    if sizes is None:
        shape.unknown_rank = True
    for size in sizes or ():
        shape.dim.add().size = size


def attribute(luck: Random, attr: Any) -> Any:
    """An attribute's default, or any value of its type."""
    value = attr_value_pb2.AttrValue()
    if attr.HasField("default_value") and luck.random() < 0.6:
        value.CopyFrom(attr.default_value)
        return value
    any_sizes = [luck.randint(1, 4) for _ in range(luck.randint(0, 4))]
    match attr.type:
        case "type":
            allowed = list(attr.allowed_values.list.type)
            value.type = luck.choice([kind for kind in COMMON if kind in allowed] or allowed or COMMON)
        case "int":
            value.i = max(luck.randint(0, 3), attr.minimum if attr.has_minimum else 0)
        case "float":
            value.f = luck.choice([0.0, 0.5, 1.0])
        case "bool":
            value.b = luck.random() < 0.5
        case "string":
            value.s = luck.choice(list(attr.allowed_values.list.s) or [b""])
        case "shape":
            put(value.shape, veiled(luck, any_sizes))
        case "list(int)":
            inner = [luck.randint(1, 2) for _ in range(luck.choice([2, 2, 3]))]
            value.list.i.extend(luck.choice([[1, *inner, 1], [], [luck.randint(0, 2)], inner]))
        case "list(type)":
            count = max(attr.minimum, luck.randint(1, 3))
            value.list.type.extend(luck.choice(COMMON[:2]) for _ in range(count))
        case "list(shape)":
            for _ in range(luck.randint(1, 3)):
                put(value.list.shape.add(), veiled(luck, any_sizes))
        case "tensor":
            value.tensor.CopyFrom(tf.make_tensor_proto([1.0]))
        case _:
            value.list.SetInParent()
    return value


if __name__ == "__main__":
    main()
