"""Describe the JSON of one exported program to the builder: inputs, weights, ops, bodies of control flow.

A program has a flat list of nodes; the metadata of each node names its modules. Ops on sizes, which shapes and
attributes show by name, and assertions about sizes are left out. Blocks that only set a mode (`no_grad`, `autocast`)
are replaced by their content.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from graphviz_tb.errors import UnknownFormat
from graphviz_tb.formats.contents import GraphContent
from graphviz_tb.formats.exported import ModuleCall, ProgramBuilder, StoredWeight
from graphviz_tb.formats.torch_metadata import SizeNames, module_calls
from graphviz_tb.formats.torch_nodes import (
    SYMBOL_ARGUMENTS,
    Json,
    PackedJson,
    ProgramNode,
    argument_name,
    json_array,
    json_object,
    json_text,
    pack_tensor,
    read_node,
    tensor_names,
    unpack_json,
    value_names,
)
from graphviz_tb.formats.wire_nodes import Value, dtype_attribute
from graphviz_tb.limits import MAX_PROGRAM_DEPTH
from graphviz_tb.model.tensors import INDEX_DTYPES, MAX_DIMENSIONS, element_size

DTYPES = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    9: "complex32",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
    28: "uint16",
    29: "float8_e4m3fn",
    30: "float8_e5m2",
    31: "float8_e4m3fnuz",
    32: "float8_e5m2fnuz",
    33: "float8_e8m0fnu",
    34: "uint32",
    35: "uint64",
}
MAX_CONSTANT_BYTES = 256  # largest constant whose elements are shown
CHECK_OPS = re.compile(r"aten::(_assert\w*|sym_constrain_range\w*|_check\w*)")
SIZE_OPS = re.compile(r"(aten::sym_\w+|operator::\w+|math::\w+|torch::sym_\w+)")
MODE_OPS = frozenset(
    ("wrap_with_set_grad_enabled", "wrap_with_autocast", "wrap", "strict_mode", "hints_wrapper", "invoke_subgraph")
)
BODY_ATTRIBUTES = {"cond": ("then_branch", "else_branch"), "while_loop": ("cond", "body")}
SILENT_ARGUMENTS = frozenset({"as_none", "as_layout", "as_device", "as_memory_format"})
PLAIN_ARGUMENTS = ("as_int", "as_float", "as_bool", "as_string", "as_operator")
LIST_ARGUMENTS = ("as_ints", "as_floats", "as_bools", "as_strings")


class ProgramReader:
    """Reads one program: `stored` lists its weights and constants by name, `constants` returns the bytes of a
    constant."""

    def __init__(
        self, parsed: Json, title: str, stored: Mapping[str, Any], constants: Callable[[str, int], bytes | None]
    ) -> None:
        self.module = json_object(parsed.get("graph_module"))
        self.stored = {name: json_object(held) for name, held in stored.items()}
        self.constants = constants
        self.builder = ProgramBuilder(title)
        self.sizes = SizeNames()
        self._kinds: dict[PackedJson, Value] = {}
        self.weights: dict[str, StoredWeight] = {}  # by value
        self.root: tuple[ModuleCall, ...] = ()
        self.modules: dict[str, tuple[ModuleCall, ...]] = {}
        self._opened_blocks = 0

    @cached_property
    def _stored_paths(self) -> Mapping[str, str]:
        """Stored files by weight; "" if the program does not state it."""
        held = self.stored.get("weights", {})
        return {name: json_text(json_object(weight).get("path_name")) for name, weight in held.items()}

    @cached_property
    def _weights_by_file(self) -> Counter[str]:
        """Numbers of weights by stored file."""
        return Counter(self._stored_paths.values())

    def content(self) -> GraphContent:
        """Return the graph of the program."""
        graph = json_object(self.module.get("graph"))
        signature = json_object(self.module.get("signature"))
        main = GraphReader(self, graph, 0)
        self._name_sizes(signature, main)
        specs = [json_object(spec) for spec in json_array(signature.get("input_specs"))]
        self._read_weights(specs, main)
        self.weights |= self._tied_by_use(main)
        for value, weight in self.weights.items():
            self.builder.add_weight(value, weight)
        for spec in (spec for spec in specs if "user_input" in spec):
            name = argument_name(json_object(json_object(spec["user_input"]).get("arg")))
            if name:
                self.builder.add_input(name, name, main.value(name))
        main.read_nodes()
        specs = [json_object(spec) for spec in json_array(signature.get("output_specs"))]
        results = [json_object(json_object(spec.get("user_output")).get("arg")) for spec in specs]
        given = [name for argument in results if (name := argument_name(argument))]
        for name, value in zip(self._output_names(len(given)), given, strict=True):
            self.builder.add_output(name, main.local.get(value, value))
        return self.builder.build()

    def _name_sizes(self, signature: Json, main: GraphReader) -> None:
        """Name the unknown sizes in the order of the inputs: the first of the first input is the batch."""
        for spec in map(json_object, json_array(signature.get("input_specs"))):
            if "user_input" not in spec:
                continue
            name = argument_name(json_object(json_object(spec["user_input"]).get("arg")))
            for place, size in enumerate(json_array(main.tensor_meta(name)[1])):
                self.sizes.name_input_size(json_object(size), place)

    def _read_weights(self, specs: Sequence[Json], main: GraphReader) -> None:
        """Add parameters, buffers and constants; names with shared storage are one weight."""
        name_by_storage: dict[Any, str] = {}
        names: dict[str, list[str]] = {}
        found: list[tuple[str, str, bool, Value, bool]] = []
        for spec in specs:
            for kind in ("parameter", "buffer", "tensor_constant"):
                if kind not in spec:
                    continue
                entry = json_object(spec[kind])
                value, name = json_text(json_object(entry.get("arg")).get("name")), json_text(entry.get(f"{kind}_name"))
                if not value:
                    continue
                if kind == "tensor_constant" and self._add_small_constant(value, name, main):
                    continue
                storage = self._storage(name)
                first_name = name_by_storage.setdefault(storage, name) if storage is not None else name
                names.setdefault(first_name, []).append(name)
                _, _, requires_grad = main.tensor_meta(value)
                found.append((value, first_name, kind != "parameter", main.value(value), requires_grad is True))
        aliases = {name: tuple(each for each in same if each != name) for name, same in names.items() if len(same) > 1}
        for value, name, buffer, shape, trainable in found:
            self.weights[value] = StoredWeight(name, shape, trainable and not buffer, buffer, aliases.get(name, ()))

    def _storage(self, name: str) -> Any:
        """Return a key for the storage of a weight, equal for tied weights; None if the file does not state it."""
        path = self._stored_paths.get(name)
        if not path or self._weights_by_file[path] == 1:
            return path or None
        meta = json_object(self.stored["weights"][name].get("tensor_meta"))
        return path, repr([meta.get(key) for key in ("sizes", "strides", "storage_offset", "dtype")])

    def _add_small_constant(self, value: str, name: str, main: GraphReader) -> bool:
        """Add a constant with its elements if it is small and stored as plain bytes."""
        shape = main.value(value)
        sizes = [size for size in shape.sizes or () if isinstance(size, int)]
        held = json_object(self.stored.get("constants", {}).get(name))
        if shape.sizes is None or len(sizes) < len(shape.sizes) or held.get("use_pickle") is not False:
            return False
        count = element_size(shape.dtype)
        for size in sizes:
            count = min(count * max(size, 0), MAX_CONSTANT_BYTES + 1)
        content = self.constants(json_text(held.get("path_name")), MAX_CONSTANT_BYTES) if count else None
        if content is None or len(content) != count:
            return False
        self.builder.add_constant(value, "", name.replace(".", "_"), shape, content)
        return True

    def _tied_by_use(self, main: GraphReader) -> dict[str, StoredWeight]:
        """Return weights whose use shows that they are tied, where the file does not state it: an op in a module uses
        the weight of another module, and its module has an unused weight of equal shape."""
        if all(weight.buffer or self._stored_paths.get(weight.name) for weight in self.weights.values()):
            return {}
        users: dict[str, list[str]] = {}
        for call in main.calls:
            modules = self.module_calls(call.modules)
            for value in filter(None, call.inputs):
                users.setdefault(value, []).append(modules[-1].path if modules else "")
        unused: dict[tuple[str, Value], list[str]] = {}
        for value, weight in self.weights.items():
            if value not in users:
                unused.setdefault((weight.name.rpartition(".")[0], weight.value), []).append(value)
        tied_weights: dict[str, StoredWeight] = {}
        order = {value: place for place, value in enumerate(self.weights)}
        for value, weight in self.weights.items():
            for path in users.get(value, ()):
                for other in unused.pop((path, weight.value), [])[:1]:
                    # The weight has the first of the two names in the order of the program.
                    names = [self.weights[each].name for each in sorted({value, other}, key=order.__getitem__)]
                    tied = StoredWeight(names[0], weight.value, weight.trainable, weight.buffer, tuple(names[1:]))
                    tied_weights[value] = tied_weights[other] = tied
        return tied_weights

    def _output_names(self, count: int) -> list[str]:
        """Return the names of the results: the keys of a dictionary, else numbers."""
        entry = next((item for item in json_array(self.module.get("module_call_graph"))), None)
        text = json_text(json_object(json_object(entry).get("signature")).get("out_spec"))
        keys: list[Any] = []
        try:
            spec = json_array(json.loads(text))[-1] if len(text) < 10_000 else {}
            is_dict = "dict" in json_text(json_object(spec).get("type"))
            keys = json_array(json.loads(json_text(json_object(spec).get("context")))) if is_dict else []
        except (ValueError, IndexError, RecursionError):
            keys = []
        if len(keys) == count and all(isinstance(key, str) and key for key in keys):
            return keys
        return [f"output_{place}" if place else "output" for place in range(count)]

    def kind_of(self, form: PackedJson) -> Value:
        """Return shape and type of a tensor."""
        kind = self._kinds.get(form)
        if kind is None:
            dtype, sizes, _ = unpack_json(form)
            known = type(sizes) is list and len(sizes) <= MAX_DIMENSIONS
            kind = Value(tuple(map(self.sizes.size_of, sizes)) if known else None, _dtype_name(dtype))
            self._kinds[form] = kind
        return kind

    def new_block_name(self) -> str:
        """Return a short name for a block that is opened in place, since all its values repeat the name."""
        self._opened_blocks += 1
        return f"block {self._opened_blocks}"

    def module_calls(self, stack: str) -> tuple[ModuleCall, ...]:
        """Return the modules around a node; those of the program itself if the node states none."""
        calls = self.modules.get(stack)
        if calls is None:
            calls = self.modules[stack] = module_calls(stack)
        self.root = self.root or calls[:1]
        return calls or self.root


class GraphReader:
    """Reads the nodes of one graph of a program: the main graph, a body, or a block that is opened in place, whose
    values have other names outside (`local`)."""

    def __init__(self, program: ProgramReader, graph: Json, depth: int, prefix: str = "") -> None:
        if depth > MAX_PROGRAM_DEPTH:
            raise UnknownFormat(f"the program has more than {MAX_PROGRAM_DEPTH} levels of bodies within bodies")
        self.program, self.graph, self.depth, self.prefix = program, graph, depth, prefix
        self.builder = program.builder
        # Inner graphs are not parsed to `PackedJson`.
        self.tensors: dict[str, PackedJson] = {
            name: held if isinstance(held, bytes) else pack_tensor(held)
            for name, held in json_object(graph.get("tensor_values")).items()
        }
        self.numbers = {
            name: json_object(value)
            for kind in ("sym_int_values", "sym_bool_values", "sym_float_values")
            for name, value in json_object(graph.get(kind)).items()
        }
        self.local: dict[str, str] = {}
        self.weights: dict[str, StoredWeight] = program.weights if not depth else {}
        self.made_numbers: set[str] = set()  # numbers that are outputs of a drawn op
        nodes = json_array(graph.get("nodes"))
        self.calls: list[ProgramNode] = [node if isinstance(node, ProgramNode) else read_node(node) for node in nodes]

    def tensor_meta(self, name: str) -> Sequence[Any]:
        """Return type, sizes and `requires_grad` of a tensor, as in the file."""
        return unpack_json(self.tensors[name]) if name in self.tensors else (None, None, None)

    def value(self, name: str) -> Value:
        """Return shape and type of a value."""
        meta = self.tensors.get(name)
        if meta is None:
            return Value((), "int64") if name in self.numbers else Value()
        return self.program.kind_of(meta)

    def read_nodes(self) -> None:
        """Add all nodes except those with unused indices."""
        unused = self._unused_places()
        self.builder.left_out += len(unused)
        for place, call in enumerate(self.calls):
            if place not in unused:
                self._read_node(call)

    def _unused_places(self) -> set[int]:
        """Return the positions of nodes with only integer or bool outputs that are not used; `vmap` leaves such nodes
        in a program."""
        taken = set(value_names(self.graph.get("outputs")))
        unused: set[int] = set()
        for place in range(len(self.calls) - 1, -1, -1):
            call = self.calls[place]
            in_place = call.op.endswith("_")
            if not in_place and taken.isdisjoint(call.outputs) and self._gives_indices(call) and not call.graphs:
                unused.add(place)
            else:
                taken.update(call.inputs)
        return unused

    def _gives_indices(self, call: ProgramNode) -> bool:
        """Return whether all outputs of a node are integer or bool tensors."""
        return bool(call.outputs) and all(
            _dtype_name(self.tensor_meta(name)[0]) in INDEX_DTYPES for name in call.outputs
        )

    def _read_node(self, call: ProgramNode) -> None:
        op, outputs = call.op, call.outputs
        if _is_check(op) or (_is_size_op(op) and not any(name in self.tensors for name in outputs)):
            self.builder.left_out += 1
            return
        graphs = call.graphs
        if len(graphs) == 1 and op.rpartition("::")[2] in MODE_OPS:
            self._open_in_place(call, graphs[0])
            return
        scope = self.builder.scope_name(self.program.module_calls(call.modules))
        kinds = tuple(map(self.value, outputs))
        if self.numbers:
            self.made_numbers.update(name for name in outputs if name in self.numbers)
        if graphs:
            self._add_call(call, scope, kinds)
            return
        inputs = [self.local.get(name, name) for name in call.inputs] if self.local else call.inputs
        if op.endswith("_") and not op.endswith("__"):
            op = op.rstrip("_")
        stated = self._attributes(op, call, inputs) if call.has_symbols else None
        form: Hashable = (call.op, call.settings) if stated is None else repr(stated)

        def settings() -> dict[str, Any]:
            return self._attributes(op, call, inputs) if stated is None else stated

        self.builder.add_op(op, scope, inputs, self._outer_names(outputs), kinds, form, settings, source=call.source)

    def _outer_names(self, given: Sequence[str]) -> Sequence[str]:
        """Return the builder's names for new values, and remember them."""
        if self.prefix:
            self.local.update({name: f"{self.prefix}{name}" for name in given})
        return [self.local[name] for name in given] if self.prefix else given

    def _attributes(self, op: str, call: ProgramNode, inputs: list[str]) -> dict[str, Any]:
        """Return the arguments that are not tensors as settings; a number that an op computes is added to `inputs`
        instead."""
        attributes: dict[str, Any] = {}
        for place, name, content in unpack_json(call.settings):
            for kind, value in content.items():
                number = json_text(json_object(value).get("as_name")) if kind in SYMBOL_ARGUMENTS else ""
                if number in self.made_numbers:  # the output of an op such as `item`
                    inputs[place] = self.local.get(number, number)
                elif kind not in SILENT_ARGUMENTS and (held := self._attribute(kind, value)) is not None:
                    attributes[name or "argument"] = held
        if op != call.op:
            attributes["in_place"] = True
        return attributes

    def _attribute(self, kind: str, value: Any) -> Any:
        """Return the value of an argument that is not a tensor; None for an argument without information."""
        if kind == "as_scalar_type":
            return dtype_attribute(DTYPES.get(value, "") if isinstance(value, int) else "")
        if kind in PLAIN_ARGUMENTS:
            if kind == "as_float" and isinstance(value, str):
                return value  # "Infinity"
            return value if isinstance(value, int | float | str) else None
        if kind in LIST_ARGUMENTS:
            return [item for item in json_array(value) if isinstance(item, int | float | str)]
        if kind in SYMBOL_ARGUMENTS:
            return self._number(json_object(value))
        if kind in ("as_sym_ints", "as_sym_bools", "as_sym_floats"):
            return [self._number(json_object(item)) for item in json_array(value)]
        if kind in ("as_int_lists", "as_float_lists", "as_complex", "as_custom_obj"):
            return json.dumps(value)[:200]
        return None

    def _number(self, argument: Json) -> Any:
        """Return a number, or the name of an unknown number."""
        for kind in ("as_int", "as_bool", "as_float"):
            if isinstance(argument.get(kind), int | float):
                return argument[kind]
        name = json_text(argument.get("as_name"))
        size = self.program.sizes.size_of(self.numbers.get(name, {}))
        return name if size is None else size

    # Bodies

    def _operands(self, arguments: Sequence[Any], *, after_graph: bool) -> list[str]:
        """Return the names of the tensors and numbers that a call passes; with `after_graph`, only those after its
        graphs."""
        found: list[str] = []
        for argument in (json_object(json_object(each).get("arg")) for each in arguments):
            if "as_graph" in argument:
                found = [] if after_graph else found
                continue
            found += tensor_names(argument)
            for kind, value in argument.items():
                if kind in SYMBOL_ARGUMENTS:
                    found.append(json_text(json_object(value).get("as_name")))
                elif kind in ("as_sym_ints", "as_sym_bools"):
                    found += [json_text(json_object(item).get("as_name")) for item in json_array(value)]
        return found

    def _open_in_place(self, call: ProgramNode, held: Json) -> None:
        """Add the nodes of a block that only sets a mode, as if they were outside of it."""
        graph = json_object(held.get("graph"))
        inner = GraphReader(self.program, graph, self.depth + 1, f"{self.program.new_block_name()}/")
        inner.made_numbers = self.made_numbers
        operands = self._operands(call.arguments, after_graph=True)
        for given, operand in zip(value_names(graph.get("inputs")), operands, strict=False):
            inner.local[given] = self.local.get(operand, operand)
            if operand in self.weights:
                inner.weights[given] = self.weights[operand]
        inner.read_nodes()
        for name, result in zip(call.outputs, value_names(graph.get("outputs")), strict=False):
            self.local[name] = inner.local.get(result, result)

    def _add_call(self, call: ProgramNode, scope: str, kinds: tuple[Value, ...]) -> None:
        """Add an op with bodies. Weights are added to the bodies that use them, and are not passed as inputs."""
        plain = call.op.rpartition("::")[2]
        operands = self._operands(call.arguments, after_graph=plain == "cond")
        chooser = self._operands(call.arguments[:1], after_graph=False) if plain == "cond" else []
        passed = [place for place, name in enumerate(operands) if name and name not in self.weights]
        attributes = BODY_ATTRIBUTES.get(plain, ())
        functions: dict[str, str] = {}
        for place, held in enumerate(call.graphs):
            attribute = attributes[place] if place < len(attributes) else f"f_{place}" if place else "f"
            functions[attribute] = self._add_body(held, scope, operands, frozenset(passed))
        inputs = [self.local.get(name, name) for name in (*chooser, *(operands[place] for place in passed))]
        given = self._outer_names(call.outputs)
        self.builder.add_op(call.op, scope, inputs, given, kinds, source=call.source, functions=functions)

    def _add_body(self, held: Json, scope: str, operands: Sequence[str], passed: frozenset[int]) -> str:
        """Add a body as a function, and return its name."""
        graph = json_object(held.get("graph"))
        around = self.builder.body
        name = self.builder.begin_body(json_text(held.get("name")) or "body", scope)
        body = GraphReader(self.program, graph, self.depth + 1)
        for place, value in enumerate(value_names(graph.get("inputs"))):
            if place in passed or place >= len(operands):
                self.builder.add_input(value, value, body.value(value))
            elif operands[place] in self.weights:
                weight = body.weights[value] = self.weights[operands[place]]
                self.builder.add_weight(value, weight)
        body.read_nodes()
        for place, value in enumerate(value_names(graph.get("outputs"))):
            self.builder.add_output(f"result_{place}", body.local.get(value, value))
        self.builder.body = around
        return name


@lru_cache(maxsize=1024)
def _is_check(op: str) -> bool:
    return CHECK_OPS.fullmatch(op) is not None


@lru_cache(maxsize=1024)
def _is_size_op(op: str) -> bool:
    return SIZE_OPS.fullmatch(op) is not None


def _dtype_name(number: Any) -> str:
    """Return the element type of a tensor; an unknown type is "type 45"."""
    return DTYPES.get(number) or f"type {number}" if type(number) is int and number else ""
