"""Families of graphs whose attributes hold anything that the message allows, whatever the op expects there."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field

from graphviz_tb.ops.signatures import OpDef, op_def
from graphviz_tb.proto import GraphDef
from tests.fuzz.families.graphs import binary
from tests.fuzz.families.grown import is_map, is_repeated, lie
from tests.op_types import op_types_with_shape_rules

DEEPEST = 5  # messages in messages
COUNTS = (0, 1, 2, 3, 5, 300)
SIZES = (-(2**63), -(2**31), -1, 0, 1, 3, 2**31, 2**63 - 1)
DATA = ("Placeholder", "Const", "VarHandleOp", "TensorArrayV3", "TensorListReserve", "Variable", "_Arg")
NAMES = ("T", "N", "dtype", "shape", "value", "element_shape", "_output_shapes", "f", "body", "branches", "Tout", "Tin")


@cache
def ops() -> tuple[str, ...]:
    """The ops that have a rule, those of data first and often."""
    return (*DATA * 10, *op_types_with_shape_rules())


@cache
def known(op: str) -> OpDef:
    """What is known of an op; of another, nothing."""
    return op_def(op) or OpDef((), {})


def filled(message: Any, random: Random, deepest: int = DEEPEST) -> None:
    """Before: a message, which is written to. After: a few of its fields hold anything, however they are meant."""
    fields = list(message.DESCRIPTOR.fields)
    for field in random.sample(fields, min(len(fields), random.choice((1, 1, 2, 4)))):
        values = getattr(message, field.name)
        if field.type != Field.TYPE_MESSAGE:
            made = [lie(field, random) for _ in range(random.choice(COUNTS))]
            if is_repeated(field):
                values.extend(made)
            elif made:
                setattr(message, field.name, made[0])
        elif deepest:
            for inner in _inner(field, values, random):
                filled(inner, random, deepest - 1)


def _inner(field: Field, values: Any, random: Random) -> list[Any]:
    if is_map(field):
        return [values[name] for name in random.sample(NAMES, 2)]
    return [values.add() for _ in range(random.choice(COUNTS[:4]))] if is_repeated(field) else [values]


def attributes_of(node: Any, random: Random) -> None:
    """Some of the attributes of its op, and others: a number where one counts, or anything."""
    definition = known(node.op)
    counts = [output.counted_by for output in definition.outputs if output.counted_by]
    for name in counts:
        node.attr[name].i = random.choice(SIZES)
    typed = [output.attr for output in definition.outputs if output.attr]
    names = sorted({*NAMES, *definition.defaults, *counts, *typed})
    for name in random.sample(names, random.choice((0, 1, 2, 5))):
        filled(node.attr[name], random)


def any_values(random: Random) -> GraphDef:
    """Ops of every kind, in the graph and in a function that is called with their outputs."""
    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = "f"
    for name in ("a", "b"):
        filled(function.signature.input_arg.add(), random, 2)
        function.signature.input_arg[-1].name = name
    body = _nodes(function.node_def, random, ["a", "b"], inside=True)
    for number in range(random.choice((1, 3))):
        function.signature.output_arg.add(name=f"o{number}", type=1)
        function.ret[f"o{number}"] = random.choice(body)
    outputs = _nodes(graph.node, random, [], inside=False)
    for number in range(random.choice((1, 3))):
        call = graph.node.add(name=f"call{number}", op="PartitionedCall", input=random.choices(outputs, k=2))
        call.attr["f"].func.name = "f"
        graph.node.add(name=f"after{number}", op="Relu", input=[f"call{number}:{random.choice((0, 1, 9))}"])
    return graph


def _nodes(nodes: Any, random: Random, outputs: list[str], *, inside: bool) -> list[str]:
    """Add some nodes, each fed by what is before it; the names of all outputs."""
    outputs = list(outputs)
    for number in range(random.choice((2, 12, 60))):
        node = nodes.add(name=f"n{number}", op=random.choice(ops()))
        node.input.extend(random.choices(outputs[-20:], k=random.choice((0, 1, 1, 2, 3, 6))) if outputs else ())
        attributes_of(node, random)
        outputs += _outputs(node, random, inside=inside)
    return outputs


def _outputs(node: Any, random: Random, *, inside: bool) -> list[str]:
    """Names of a node's outputs: of some that it may not have, too."""
    if not inside:
        return [node.name, f"{node.name}:{random.choice((0, 1, 2**31 - 1))}"]
    named = [output.name for output in known(node.op).outputs] or ["y"]
    return [f"{node.name}:{name}:{random.choice((0, 0, 1, 5, 2**31 - 1))}" for name in named]


FAMILIES = {"any_values": binary(any_values)}
