"""Nodes and tensors of an exported program, made while its JSON is parsed.

A tensor takes 2 KB as JSON, a node more, but thousands of tensors have only a few dozen distinct descriptions, and so
have the settings of ops. They are packed to bytes that are equal for equal JSON, so that each is interpreted once.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from graphviz_tb.formats.torch_metadata import source_lines
from graphviz_tb.sources.text import JsonWalk, ParseStep

OP_TARGET = re.compile(r"torch\.ops\.(?P<library>[^.]+)\.(?P<op>[^.]+)(?:\..*)?", re.DOTALL)
SEVERAL_TENSORS = frozenset(("as_optional_tensor", "as_tensors", "as_optional_tensors", "as_nested_tensors"))
SYMBOL_ARGUMENTS = ("as_sym_int", "as_sym_bool", "as_sym_float")
SYMBOL_KINDS = frozenset((*SYMBOL_ARGUMENTS, "as_sym_ints", "as_sym_bools", "as_sym_floats"))
Json = Mapping[str, Any]


def json_object(value: Any) -> Json:
    """Return a JSON object; an empty one in place of anything else."""
    return value if type(value) is dict else {}


def json_array(value: Any) -> list[Any]:
    """Return a JSON array; an empty one in place of anything else."""
    return value if type(value) is list else []


def json_text(value: Any) -> str:
    """Return a JSON string; "" in place of anything else."""
    return value if type(value) is str else ""


PackedJson = bytes  # equal for equal JSON: 1, 1.0 and true differ


def _pack_json(value: Any) -> PackedJson:
    return marshal.dumps(value, 2)  # version 3 and later write an object with one reference differently


@lru_cache(maxsize=1024)
def unpack_json(packed: PackedJson) -> Any:
    """Return packed JSON, as one object that all callers share."""
    return marshal.loads(packed)


class ProgramNode(NamedTuple):
    """A node of a program.

    `inputs` are its tensors by position ("": no tensor), `settings` its other arguments: a list of position, name and
    content; `has_symbols` is true if these name values. `outputs` are the names of its outputs, `modules` the stack of
    modules around it, `source` its lines. A node with bodies has `graphs`, and all its `arguments`.
    """

    op: str
    inputs: list[str]
    settings: PackedJson
    has_symbols: bool
    outputs: Sequence[str]
    modules: str
    source: tuple[str, ...]
    arguments: Sequence[Any]
    graphs: Sequence[Json]


def read_node(node: Any) -> ProgramNode:
    """Return a node by its JSON; malformed parts count as empty."""
    node = json_object(node)
    inputs: list[str] = []
    settings: list[tuple[int, str, Json]] = []
    graphs: list[Json] = []
    arguments = json_array(node.get("inputs"))
    has_symbols = False
    for item in arguments:
        argument = json_object(item)
        content = json_object(argument.get("arg"))
        if "as_tensor" in content:  # most arguments
            inputs.append(json_text(json_object(content["as_tensor"]).get("name")))
            continue
        tensors = [] if SEVERAL_TENSORS.isdisjoint(content) else tensor_names(content)
        if tensors or "as_tensors" in content:
            inputs += tensors
            continue
        settings.append((len(inputs), json_text(argument.get("name")), content))
        has_symbols = has_symbols or not SYMBOL_KINDS.isdisjoint(content)
        inputs.append("")
        if "as_graph" in content:
            graphs.append(json_object(content["as_graph"]))
    metadata = json_object(node.get("metadata"))
    return ProgramNode(
        _op_type(json_text(node.get("target"))),
        inputs,
        _pack_json([] if graphs else settings),
        has_symbols,
        value_names(node.get("outputs")),
        json_text(metadata.get("nn_module_stack")),
        source_lines(json_text(metadata.get("stack_trace"))),
        arguments if graphs else (),
        graphs,
    )


def pack_tensor(meta: Any) -> PackedJson:
    """Return type, sizes and `requires_grad` of a tensor as packed JSON."""
    held = json_object(meta)
    return _pack_json([held.get("dtype"), held.get("sizes"), held.get("requires_grad")])


def parse_program(walk: JsonWalk) -> Any:
    """Parse the JSON of a program: its nodes as `ProgramNode`, its tensors as `PackedJson`."""
    graph: dict[str, ParseStep] = {
        "nodes": lambda walk: walk.parse_array(read_node),
        "tensor_values": lambda walk: walk.parse_members(pack_tensor),
    }
    module: dict[str, ParseStep] = {"graph": lambda walk: walk.parse_object(graph)}
    return walk.parse_object({"graph_module": lambda walk: walk.parse_object(module)})


@lru_cache(maxsize=1024)
def _op_type(target: str) -> str:
    """Return the type of an op with its library before it.

    >>> _op_type("torch.ops.aten.add.Tensor"), _op_type("_operator.mul"), _op_type("torch.ops.higher_order.cond")
    ('aten::add', 'operator::mul', 'higher_order::cond')
    """
    if found := OP_TARGET.fullmatch(target):
        return f"{found['library']}::{found['op']}"
    library, _, op = target.strip("_").rpartition(".")
    return f"{library or 'torch'}::{op or 'op'}"


def argument_name(argument: Json) -> str:
    """Return the name of the value of an argument; "" for a plain argument."""
    for kind in ("as_tensor", "as_custom_obj"):
        if name := json_text(json_object(argument.get(kind)).get("name")):
            return name
    return next(
        (json_text(json_object(argument.get(kind)).get("as_name")) for kind in SYMBOL_ARGUMENTS if kind in argument), ""
    )


def tensor_names(argument: Json) -> list[str]:
    """Return the names of the tensors of an argument; "" for one that is missing."""
    if "as_tensor" in argument:
        return [json_text(json_object(argument["as_tensor"]).get("name"))]
    if "as_optional_tensor" in argument:
        return tensor_names(json_object(argument["as_optional_tensor"]))
    listed = next(
        (json_array(argument[kind]) for kind in ("as_tensors", "as_optional_tensors") if kind in argument), []
    )
    found: list[str] = []
    for each in listed:
        entry = json_object(each)
        found.append(json_text(json_object(entry.get("as_tensor", entry)).get("name")))
    for item in json_array(argument.get("as_nested_tensors")):
        found += [json_text(json_object(inner).get("name")) for inner in json_array(item)]
    return found


def value_names(arguments: Any) -> list[str]:
    """Return the names of the values of arguments; "" for a plain argument."""
    found: list[str] = []
    for argument in map(json_object, json_array(arguments)):
        tensors = tensor_names(argument)
        found += filter(None, tensors) if tensors else [argument_name(argument)]
    return found
