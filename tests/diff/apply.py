"""Changes applied to the old graph: proof that they tell all.

names      every node under the name it has now (also what an insertion renumbered)
nodes      removed ones go, added ones come, op types and attributes as they are now
inputs     as they were, under the new names; as they are now where a change says so
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphviz_tb.diff.changes.names import _all_name_changes, _is_shift, are_counted_anew, other_names
from graphviz_tb.diff.comparison import MatchedGraphs
from graphviz_tb.diff.result import Changes
from graphviz_tb.flatten.build import split_input
from graphviz_tb.model.change import NodeEdits

if TYPE_CHECKING:
    from graphviz_tb.model.graph import Graph
    from graphviz_tb.proto import GraphDef, NodeDef


SHAPES = "_output_shapes"


@dataclass(slots=True)
class Plan:
    """All edits of all changes, looked up by node or scope of the old graph."""

    source: MatchedGraphs
    edits: NodeEdits
    scopes: dict[int, int] = field(default_factory=dict)
    nodes: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)


def apply(changes: Changes) -> GraphDef:
    """The old graph with the changes made to it.

    After: equal to the new graph up to what `diff` takes no notice of. Only `changes` say what is different: the
    new graph is asked for values, never for what else it holds.
    """
    from graphviz_tb.proto import GraphDef

    edits = NodeEdits()
    for change in changes:
        edits = edits + change.all_edits()
    plan = Plan(changes.source, edits, dict(edits.scopes), dict(edits.nodes))
    renumbered(plan)
    rename(plan)
    rename_library(plan)
    told = GraphDef()
    told.versions.CopyFrom((plan.source.new if edits.versions else plan.source.old).graph_def.versions)
    told.node.extend(block(plan, -1, -1))
    for function in range(len(plan.source.old.functions)):
        if function not in edits.removed_functions:
            told.library.function.append(one_function(plan, function))
    library = plan.source.new.graph_def.library.function
    told.library.function.extend(library[index] for index in edits.added_functions)
    return told


def renumbered(plan: Plan) -> None:
    """Numbers that shifted because members of a series came or went are no changes, but names all the same."""
    m = plan.source.matching
    shifted = [name for name in _all_name_changes(m) if not name.moved and _is_shift(m, name)]
    for name in (*shifted, *are_counted_anew(m, other_names(m))):
        old, new = (name.new, name.old) if plan.source.turned else (name.old, name.new)
        (plan.scopes if name.scope else plan.nodes).setdefault(old, new)


def rename(plan: Plan) -> None:
    """Find the new name of every old node: that of the scope around it, and its own."""
    old, new = plan.source.old_side, plan.source.new_side
    names: list[str] = []
    for row, parent in enumerate(old.scopes.parent.tolist()):
        if parent < 0:
            names.append("")
        elif row in plan.scopes:
            names.append(new.scopes.name[plan.scopes[row]])
        elif old.scopes.parent[parent] < 0:
            names.append(old.scopes.leaf[row])
        else:
            names.append(f"{names[parent]}/{old.scopes.leaf[row]}")
    roots = set(old.scopes.roots)
    for node, row in enumerate(old.scopes.of_node.tolist()):
        leaf = old.scopes.node_leaf[node]
        plain = leaf if row in roots else f"{names[row]}/{leaf}"
        plan.names[node] = new.graph.name[plan.nodes[node]] if node in plan.nodes else plain


def rename_library(plan: Plan) -> None:
    """The name that each function that stays has now."""
    for old, new in plan.source.functions.items():
        plan.functions[plan.source.old.functions[old].name] = plan.source.new.functions[new].name


def block(plan: Plan, old_function: int, new_function: int) -> list[NodeDef]:
    """The nodes of the main graph (-1) or of one function."""
    old, new, edits = plan.source.old, plan.source.new, plan.edits
    gone = set(edits.removed)
    wired = dict(edits.inputs)
    ops = dict(edits.ops)
    keys: dict[int, list[tuple[int, str]]] = {}
    for mine, other, key in edits.attributes:
        keys.setdefault(mine, []).append((other, key))
    index: dict[str, int] = {}
    rows = [node for node in range(len(old)) if int(old.function[node]) == old_function]
    for node in rows:
        index[old.name[node]] = node
    told = []
    for node in rows:
        definition = old.node_def(node)
        if node in gone or definition is None:
            continue
        made = type(definition)()
        made.CopyFrom(definition)
        made.name = plan.names[node]
        inputs = [renamed_input(plan, index, text) for text in definition.input]
        if node in wired:
            inputs = list(_definition(new, wired[node]).input)
        del made.input[:]
        made.input.extend(inputs)
        rename_functions(plan, made)
        change_values(made, new, ops.get(node), keys.get(node, []))
        take_shapes(made, new, _partner(plan, node))
        told.append(made)
    added = [node for node in edits.added if int(new.function[node]) == new_function and new.definition[node] >= 0]
    told.extend(_definition(new, node) for node in added)
    return told


def _definition(graph: Graph, node: int) -> NodeDef:
    found = graph.node_def(node)
    assert found is not None
    return found


def renamed_input(plan: Plan, index: dict[str, int], text: str) -> str:
    """An input string under the new names."""
    name, _, _ = split_input(text)
    node = index.get(name)
    if node is None:
        return text
    start = len(text) - len(text.removeprefix("^"))
    return f"{text[:start]}{plan.names[node]}{text[start + len(name) :]}"


def rename_functions(plan: Plan, made: NodeDef) -> None:
    """Calls under the names that the functions have now."""
    made.op = plan.functions.get(made.op, made.op)
    for key in made.attr:
        value = made.attr[key]
        for function in [value.func] if value.HasField("func") else value.list.func:
            function.name = plan.functions.get(function.name, function.name)


def change_values(made: NodeDef, new: Graph, op: int | None, keys: list[tuple[int, str]]) -> None:
    """The op type and the attributes that changed."""
    if op is not None:
        definition = _definition(new, op)
        made.op = definition.op
        made.device = definition.device
        made.ClearField("attr")
        for key in definition.attr:
            made.attr[key].CopyFrom(definition.attr[key])
    for node, key in keys:
        if new.definition[node] < 0:
            continue
        definition = _definition(new, node)
        if key == "device":
            made.device = definition.device
        elif key in definition.attr:
            made.attr[key].CopyFrom(definition.attr[key])
        elif key in made.attr:
            del made.attr[key]


def take_shapes(made: NodeDef, new: Graph, partner: int) -> None:
    """Shapes that TensorFlow inferred, as in the new graph: no change tells them, but weights have theirs from them."""
    if partner < 0 or new.definition[partner] < 0 or SHAPES not in made.attr:
        return
    made.attr.pop(SHAPES)
    inferred = _definition(new, partner).attr
    if SHAPES in inferred:
        made.attr[SHAPES].CopyFrom(inferred[SHAPES])


def one_function(plan: Plan, function: int) -> Any:
    """A function with the changes made to it. Where its signature changed it is taken from the new one."""
    old, new = plan.source.old, plan.source.new
    other = plan.source.functions[function]
    before = old.graph_def.library.function[old.functions[function].index]
    after = new.graph_def.library.function[new.functions[other].index]
    made = type(before)()
    made.CopyFrom(before)
    made.signature.name = after.signature.name
    del made.node_def[:]
    made.node_def.extend(block(plan, function, other))
    changed = (function, other) in plan.edits.functions or any(
        new.definition[node] < 0 for node in plan.edits.added if int(new.function[node]) == other
    )
    if changed:
        made.signature.CopyFrom(after.signature)
        made.ret.clear()
        made.ret.update(after.ret)
        return made
    index = {old.name[node]: node for node in range(len(old)) if int(old.function[node]) == function}
    for key, text in before.ret.items():
        made.ret[key] = renamed_input(plan, index, text)
    for argument, node in zip(made.signature.input_arg, old.functions[function].args, strict=True):
        argument.name = plan.names[node]
        argument.type = after.signature.input_arg[list(new.functions[other].args).index(_partner(plan, node))].type
    return made


def _partner(plan: Plan, node: int) -> int:
    return int(plan.source.to_new[node])
