"""Positions of outputs, from the output names used in function bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphviz_tb.model.wiring import parse_output_number
from graphviz_tb.ops.outputs import OutputDef, op_def

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef


def output_index(definition: NodeDef, key: str) -> int:
    """Return the flat position of an output: "2" is 2; in functions "output:2" is the third of the list `output`.

    >>> from graphviz_tb.proto import NodeDef
    >>> output_index(NodeDef(op="Split"), "output:1"), output_index(NodeDef(op="FusedBatchNormV3"), "batch_mean:0")
    (1, 1)
    """
    name, _, number = key.rpartition(":")
    if not name:
        return parse_output_number(number)
    known = op_def(definition.op)
    outputs = known.outputs if known is not None else ()
    names = [output.name for output in outputs]
    # If the definition lacks the output, the position is the number alone.
    before = outputs[: names.index(name)] if name in names else ()
    return sum(output_list_length(definition, output) for output in before) + parse_output_number(number)


def output_list_length(definition: NodeDef, output: OutputDef) -> int:
    """Return the number of outputs of an entry of the op's definition.

    >>> from graphviz_tb.proto import NodeDef
    >>> split = op_def("Split").outputs[0]
    >>> (
    ...     output_list_length(NodeDef(attr={"num_split": {"i": 3}}), split),
    ...     output_list_length(NodeDef(attr={"num_split": {"i": -3}}), split),
    ... )
    (3, 0)
    """
    attr = output.counted_by or (output.attr if output.several else "")
    if not attr:
        return 1
    if attr in definition.attr:
        # A list of dtypes has one output per entry; a number is the number of outputs.
        value = definition.attr[attr]
        # A negative length would put the next output before the first.
        return len(value.list.type) if value.HasField("list") else max(0, int(value.i))
    known = op_def(definition.op)
    usual = known.defaults.get(attr) if known is not None else None
    return len(usual) if isinstance(usual, list) else int(usual or 0)


def output_count(definition: NodeDef) -> int | None:
    """Return the number of outputs of a node; None for an op that TensorFlow does not know."""
    known = op_def(definition.op)
    return None if known is None else sum(output_list_length(definition, output) for output in known.outputs)
