"""Graphs of PyTorch: `SummaryWriter.add_graph` traces a module into a GraphDef with other conventions.

Every number, list and parameter is a node, sizes are computed by chains of nodes, and nodes are named after values
("530", "input.33"). So:

- parameters, sizes, and values and lists computed from these and constants alone are constants, drawn as marks;
- an op is labelled by its kind, a constant by its value, a parameter by its name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from graphviz_tb.limits import MAX_BUILT_LABEL_LETTERS, MAX_LABEL_INPUTS
from graphviz_tb.model.columns import Bools, Bytes
from graphviz_tb.model.graph import Graph, Mark
from graphviz_tb.model.layers import is_module
from graphviz_tb.model.measure import ELLIPSIS, truncate_text
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.table import has_framework, op_name

if TYPE_CHECKING:
    from graphviz_tb.proto import NodeDef

CONSTANT_OP, PARAMETER_OP, PORT_OP = "prim::Constant", "prim::GetAttr", "IO Node"
ATTRIBUTE_VALUE = re.compile(r"\{ *+(?:value|name) *+:(.*)\}", re.DOTALL)  # possessive: no backtracking in blanks
BRACKETS_BY_LIST_OP = {"prim::ListConstruct": "[]", "prim::TupleConstruct": "()", "prim::DictConstruct": "{}"}
WORD_BY_NUMBER = {str(2**63 - 1): "end"}  # end of an open slice
CONVERSION_OPS = frozenset({"prim::NumToTensor", "prim::ImplicitTensorToNum", "aten::Int", "aten::ScalarImplicit"})


class PlumbingRole(IntEnum):
    """Role of an op type; from `CARRIER` on, the inputs of an op decide whether it is a mark."""

    WORK = 0
    NUMBER = 1
    PARAMETER = 2
    CARRIER = 3
    ARITHMETIC = 4


NUMBER_OPS = ("prim::Constant", "aten::size", "aten::dim", "aten::len", "aten::numel", "prim::device", "prim::dtype")
LIST_AND_CAST_OPS = (
    *BRACKETS_BY_LIST_OP,
    *CONVERSION_OPS,
    "aten::Float",
    "aten::Bool",
    "prim::ListUnpack",
    "prim::TupleUnpack",
)
ARITHMETIC_OPS = (
    "aten::add", "aten::sub", "aten::rsub", "aten::mul", "aten::div", "aten::neg", "aten::ceil", "aten::floor",
    "aten::floor_divide", "aten::floordiv", "aten::remainder", "aten::pow", "aten::sqrt",
)  # fmt: skip
PLUMBING_ROLE_BY_OP = {
    **dict.fromkeys(NUMBER_OPS, PlumbingRole.NUMBER),
    PARAMETER_OP: PlumbingRole.PARAMETER,
    **dict.fromkeys(LIST_AND_CAST_OPS, PlumbingRole.CARRIER),
    **dict.fromkeys(ARITHMETIC_OPS, PlumbingRole.ARITHMETIC),
}


def mark_pytorch_plumbing(graph: Graph, mark: Bytes) -> Bytes:
    """Mark parameters, sizes, and lists and sums of these as constants.

    A list is a constant if all its inputs are; a sum only if none of them is a parameter, since adding weights is work.
    """
    role: Bytes = np.array([PLUMBING_ROLE_BY_OP.get(op, PlumbingRole.WORK) for op in graph.op_types], np.uint8)[
        graph.op
    ]
    plumbing: Bools = (role == PlumbingRole.NUMBER) | (role == PlumbingRole.PARAMETER)
    if plumbing.any():
        plumbing[_find_plumbing_lists(graph, role, plumbing)] = True
    return np.where(plumbing, np.uint8(Mark.CONSTANT), mark)


def _find_plumbing_lists(graph: Graph, role: Bytes, plumbing: Bools) -> list[int]:
    """Return the lists and sums whose inputs are all plumbing, in the order of flow."""
    users: dict[int, list[int]] = defaultdict(list)
    edges = np.flatnonzero(role[graph.target] >= PlumbingRole.CARRIER)
    for source, target in zip(graph.source[edges].tolist(), graph.target[edges].tolist(), strict=True):
        users[source].append(target)
    # Number of inputs not known to be plumbing; at 0 a list is plumbing.
    missing = {
        node: _count_written_inputs(graph, node) for node in np.flatnonzero(role >= PlumbingRole.CARRIER).tolist()
    }
    # Nodes computed from a parameter: listing or reshaping weights is plumbing, adding to them is work.
    from_parameter = {node for node in users if role[node] == PlumbingRole.PARAMETER}
    lists = [node for node, count in missing.items() if not count]
    # Kahn's order, from nodes that are plumbing by type.
    ready = [*(node for node in users if plumbing[node]), *lists]
    while ready:
        node = ready.pop()
        for user in users.get(node, ()):
            missing[user] -= 1
            if node in from_parameter:
                from_parameter.add(user)
            if not missing[user] and not (role[user] == PlumbingRole.ARITHMETIC and user in from_parameter):
                lists.append(user)
                ready.append(user)
    return lists


def _count_written_inputs(graph: Graph, node: int) -> int:
    """Return the number of inputs in the file, including unknown ones."""
    definition = graph.node_def(node)
    return 0 if definition is None else len(definition.input)


def label_pytorch_nodes(graph: Graph) -> dict[int, str]:
    """Return labels: kinds for ops, values for constants, names for parameters."""
    labels: dict[int, str] = {}
    for node in range(len(graph.graph_def.node)):
        op = graph.op_types[graph.op[node]]
        if op == PORT_OP:
            labels[node] = graph.name[node].removeprefix("output/")
        elif has_framework(op) and not is_module(last_segment(graph.name[node])):
            # Only marks are labelled by their inputs; "…" for one without a label yet.
            definition = graph.graph_def.node[node]
            names = definition.input[:MAX_LABEL_INPUTS] if graph.mark[node] else ()
            inputs = [labels.get(graph.index[0].get(name, -1), ELLIPSIS) for name in names]
            label = pytorch_label(definition, inputs)
            labels[node] = truncate_text(label, MAX_BUILT_LABEL_LETTERS)
    return labels


def pytorch_label(node: NodeDef, inputs: list[str]) -> str:
    """Return the label of one node, given the labels of a mark's inputs.

    >>> from graphviz_tb.proto import NodeDef
    >>> (
    ...     pytorch_label(NodeDef(op="aten::_convolution"), []),
    ...     pytorch_label(NodeDef(op="prim::ListConstruct"), ["3", "size"]),
    ... )
    ('convolution', '[3, size]')
    """
    if node.op in (CONSTANT_OP, PARAMETER_OP):
        value = ATTRIBUTE_VALUE.fullmatch(node.attr["attr"].s.decode("utf-8", "replace"))
        word = value[1].strip(" ") if value else ""
        return WORD_BY_NUMBER.get(word, word) or ("None" if node.op == CONSTANT_OP else "parameter")
    if node.op in CONVERSION_OPS and inputs:
        return inputs[0]
    if node.op in BRACKETS_BY_LIST_OP and (inputs or not node.input):
        return f"{BRACKETS_BY_LIST_OP[node.op][0]}{', '.join(inputs)}{BRACKETS_BY_LIST_OP[node.op][1]}"
    return op_name(node.op)
