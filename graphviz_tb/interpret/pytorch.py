"""Graphs of PyTorch: `SummaryWriter.add_graph` traces a module into a GraphDef with other conventions.

Every number, list and parameter is a node there, sizes are computed by whole chains of nodes, and nodes are named after
values ("530", "input.33"). To make a module read like its parts:

- parameters, sizes, and whatever is computed or listed from these and constants alone are constants, drawn as marks;
- an op is labelled by its kind, a constant by its value, a parameter by its name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.limits import INPUTS_LOOKED_AT, LABEL_PUT_TOGETHER
from graphviz_tb.model.columns import Bools, Bytes
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.measure import ELLIPSIS, cut
from graphviz_tb.model.paths import last_segment

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

CONSTANT, PARAMETER, PORT = "prim::Constant", "prim::GetAttr", "IO Node"
VALUE = re.compile(r"\{ *+(?:value|name) *+:(.*)\}", re.DOTALL)  # possessive: no backtracking in blanks
MODULE = re.compile(r"([^\[\]/]+)\[([^/]*)\]")  # a module in a name: class and attribute
WRAPS = {"prim::ListConstruct": "[]", "prim::TupleConstruct": "()", "prim::DictConstruct": "{}"}
WORDS = {str(2**63 - 1): "end"}  # end of an open slice
SAME = frozenset({"prim::NumToTensor", "prim::ImplicitTensorToNum", "aten::Int", "aten::ScalarImplicit"})


class MarkRole(IntEnum):
    """Role of an op type; from `CARRIER` on, the inputs of an op decide whether it is a mark."""

    WORK = 0
    NUMBER = 1
    PARAMETER = 2
    CARRIER = 3
    ARITHMETIC = 4


NUMBERS = ("prim::Constant", "aten::size", "aten::dim", "aten::len", "aten::numel", "prim::device", "prim::dtype")
CARRIERS = (*WRAPS, *SAME, "aten::Float", "aten::Bool", "prim::ListUnpack", "prim::TupleUnpack")
ARITHMETIC = (
    *("aten::add", "aten::sub", "aten::rsub", "aten::mul", "aten::div", "aten::neg", "aten::ceil", "aten::floor"),
    *("aten::floor_divide", "aten::floordiv", "aten::remainder", "aten::pow", "aten::sqrt"),
)
ROLES = {
    **dict.fromkeys(NUMBERS, MarkRole.NUMBER),
    PARAMETER: MarkRole.PARAMETER,
    **dict.fromkeys(CARRIERS, MarkRole.CARRIER),
    **dict.fromkeys(ARITHMETIC, MarkRole.ARITHMETIC),
}


def is_module(segment: str) -> bool:
    """Return whether a segment of a name is a module of PyTorch.

    >>> is_module("Linear[fc1]"), is_module("input.3")
    (True, False)
    """
    return MODULE.fullmatch(segment) is not None


def class_around(name: str) -> str:
    """Return the class of the module that an op is, or is directly in; "" for none.

    >>> class_around("Net/GELU[act]"), class_around("Net/RMS[norm]/mul"), class_around("Net/mul")
    ('GELU', 'RMS', '')
    """
    for segment in reversed(name.split("/")[-2:]):
        if module := MODULE.fullmatch(segment):
            return module[1]
    return ""


def attribute_of(segment: str) -> str:
    """Return the attribute that holds a module; any other segment unchanged.

    >>> attribute_of("Linear[fc1]"), attribute_of("input.3")
    ('fc1', 'input.3')
    """
    module = MODULE.fullmatch(segment)
    return module[2] if module else segment


def mark_plumbing(graph: Graph, mark: Bytes) -> Bytes:
    """Mark parameters, sizes, and lists and sums of these as constants.

    A list is a constant if all its inputs are; a sum only if none of them is a parameter, since adding weights is work.
    """
    role: Bytes = np.array([ROLES.get(op, MarkRole.WORK) for op in graph.op_types], np.uint8)[graph.op]
    plumbing: Bools = (role == MarkRole.NUMBER) | (role == MarkRole.PARAMETER)
    if plumbing.any():
        plumbing[follow(graph, role, plumbing)] = True
    return np.where(plumbing, np.uint8(Mark.CONSTANT), mark)


def follow(graph: Graph, role: Bytes, plumbing: Bools) -> list[int]:
    """Return the lists and sums whose inputs are all plumbing, in the order of flow."""
    users: dict[int, list[int]] = defaultdict(list)
    into = np.flatnonzero(role[graph.target] >= MarkRole.CARRIER)
    for source, target in zip(graph.source[into].tolist(), graph.target[into].tolist(), strict=True):
        users[source].append(target)
    # Inputs not known to be plumbing; at 0 a list is plumbing itself.
    missing = {node: fan_in(graph, node) for node in np.flatnonzero(role >= MarkRole.CARRIER).tolist()}
    # Computed from a parameter: listing or reshaping weights is plumbing, adding to them is work.
    heavy = {node for node in users if role[node] == MarkRole.PARAMETER}
    made = [node for node, count in missing.items() if not count]
    # Kahn's order, from nodes that are plumbing by type.
    ready = [*(node for node in users if plumbing[node]), *made]
    while ready:
        node = ready.pop()
        for user in users.get(node, ()):
            missing[user] -= 1
            if node in heavy:
                heavy.add(user)
            if not missing[user] and not (role[user] == MarkRole.ARITHMETIC and user in heavy):
                made.append(user)
                ready.append(user)
    return made


def fan_in(graph: Graph, node: int) -> int:
    """Return the number of inputs in the file, including unknown ones."""
    definition = graph.node_def(node)
    return 0 if definition is None else len(definition.input)


def call_by_kind(graph: Graph) -> dict[int, str]:
    """Return the label of each node whose name says less: kinds for ops, values for constants, names for parameters."""
    labels: dict[int, str] = {}
    for node in range(len(graph.graph_def.node)):
        op = graph.op_types[graph.op[node]]
        if op == PORT:
            labels[node] = graph.name[node].removeprefix("output/")
        elif "::" in op and not is_module(last_segment(graph.name[node])):
            # Only marks are labelled by their inputs; "…" for one without a label yet.
            inputs = (
                [graph.index[0].get(name, -1) for name in graph.graph_def.node[node].input[:INPUTS_LOOKED_AT]]
                if graph.mark[node]
                else []
            )
            label = label_of(graph.graph_def.node[node], [labels.get(source, ELLIPSIS) for source in inputs])
            labels[node] = cut(label, LABEL_PUT_TOGETHER)
    return labels


def label_of(node: NodeDef, inputs: list[str]) -> str:
    """Return the label of one node, given the labels of a mark's inputs.

    >>> from graphviz_tb.proto import NodeDef
    >>> label_of(NodeDef(op="aten::_convolution"), []), label_of(NodeDef(op="prim::ListConstruct"), ["3", "size"])
    ('convolution', '[3, size]')
    """
    if node.op in (CONSTANT, PARAMETER):
        value = VALUE.fullmatch(node.attr["attr"].s.decode("utf-8", "replace"))
        word = value[1].strip(" ") if value else ""
        return WORDS.get(word, word) or ("None" if node.op == CONSTANT else "parameter")
    if node.op in SAME and inputs:
        return inputs[0]
    if node.op in WRAPS and (inputs or not node.input):
        return f"{WRAPS[node.op][0]}{', '.join(inputs)}{WRAPS[node.op][1]}"
    return node.op.rpartition("::")[2].strip("_") or node.op
