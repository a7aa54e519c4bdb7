"""Frozen graphs as people hand them on: without names, and without the reads of their variables."""

from __future__ import annotations

from collections.abc import Mapping

from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef

KEPT = "_output_shapes"  # of the attributes that begin with an underscore: the others name something


def without_names(graph: GraphDef) -> GraphDef:
    """A copy in which each node and each argument is called by a number."""
    made = GraphDef()
    made.CopyFrom(graph)
    rename(list(made.node), {node.name: f"n{number}" for number, node in enumerate(made.node)})
    for function in made.library.function:
        rename_function(function)
    return made


def rename_function(function: FunctionDef) -> None:
    """Call what is in a body by numbers."""
    arguments = function.signature.input_arg
    called = {argument.name: f"a{number}" for number, argument in enumerate(arguments)}
    called |= {node.name: f"m{number}" for number, node in enumerate(function.node_def)}
    for argument in arguments:
        argument.name = called[argument.name]
    for key in list(function.ret):
        function.ret[key] = renamed(function.ret[key], called)
    for key in list(function.control_ret):
        function.control_ret[key] = called[function.control_ret[key]]
    rename(list(function.node_def), called)


def rename(nodes: list[NodeDef], called: Mapping[str, str]) -> None:
    """Give nodes and what they take their new names."""
    for node in nodes:
        node.name = called[node.name]
        node.input[:] = [renamed(each, called) for each in node.input]
        for key in [key for key in node.attr if key.startswith("_") and key != KEPT]:
            del node.attr[key]


def renamed(given: str, called: Mapping[str, str]) -> str:
    """An input with a new name."""
    waits = given.startswith("^")
    name, colon, rest = given.removeprefix("^").partition(":")
    return f"{'^' * waits}{called[name]}{colon}{rest}"


def without_reads(graph: GraphDef) -> GraphDef:
    """A copy without the identities behind constants, as tools leave them out that tidy graphs."""
    ops = {node.name: node.op for node in graph.node}
    gone = {
        node.name: node.input[0]
        for node in graph.node
        if node.op == "Identity" and node.input and ops.get(node.input[0]) == "Const"
    }
    made = GraphDef(versions=graph.versions, library=graph.library)
    for node in graph.node:
        if node.name not in gone:
            kept = made.node.add()
            kept.CopyFrom(node)
            kept.input[:] = [handed(each, gone) for each in node.input]
    return made


def handed(given: str, gone: Mapping[str, str]) -> str:
    """An input, past an identity that is gone."""
    name = given.removeprefix("^")
    return given.replace(name, gone[name]) if name in gone else given
