"""Read an ONNX model (`.onnx`): describe its graph, bodies and functions to the builder of exported programs.

ops            keep their types, `onnx::Conv`; constant settings that newer versions of ONNX pass as inputs are
               attributes again, and settings without an effect are left out, so that a network written in two
               versions is the same graph
stored tensors weights and constants (onnx_weights.py), small ones with their elements
QDQ pairs      are left out: an op that uses a quantised and dequantised activation uses the activation itself, and has
               the attribute `quantized`; a dequantised weight is the weight, with its stored type
If, Loop, Scan call functions; values that a body takes from outside are further arguments
functions      of the file are functions of the library, called by type
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, takewhile
from typing import Any

from graphviz_tb.errors import NoGraph
from graphviz_tb.formats.contents import SourceContents, SourceItem
from graphviz_tb.formats.exported import MAY_REPEAT, ModuleCall, ProgramBuilder, StoredWeight
from graphviz_tb.formats.onnx_messages import DTYPE_BY_NUMBER, ModelValue, NodeValue, TensorValue, decode_model
from graphviz_tb.formats.onnx_scopes import (
    WEIGHT_ATTRIBUTES,
    NodePlace,
    has_call_record,
    is_generated_name,
    lists_modules,
    name_form_in_calls,
    name_in_call,
    name_of_weight,
    names_in_calls,
    other_name_in_call,
    parameters_of_call,
    place_of_node,
    stack_trace,
    with_module_of_kernel,
)
from graphviz_tb.formats.onnx_values import (
    SIZE_SETTING,
    UNKNOWN,
    FunctionKey,
    ModelValues,
    OnnxBlock,
    OnnxNode,
    attribute_value,
    input_as_setting,
    small_tensor_elements,
)
from graphviz_tb.formats.onnx_weights import StoredNumbers, StoredTensorUses, WeightUse, kernel_slot, stored_kind_of
from graphviz_tb.formats.torch_metadata import source_lines
from graphviz_tb.formats.wire_nodes import Value, dtype_attribute
from graphviz_tb.limits import MAX_FOLLOWED_CARRIERS
from graphviz_tb.model.graph import KEEPS_MORE_ATTR
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import SourceEntry
from graphviz_tb.ops.roles import Role, has_role
from graphviz_tb.ops.signatures import NEUTRAL_SETTINGS, op_def, setting_slots, weight_input_names
from graphviz_tb.options import ReadOptions
from graphviz_tb.sources.bounds import MemoryBudget, check_empty_messages
from graphviz_tb.sources.streams import OpenedSource

NEWEST_VERSIONS = {"IR version": 14, "opset": 28}
AXIS_WAS_FIRST = frozenset(("Softmax", "LogSoftmax", "Hardmax"))  # axis 1 by default before version 13
TYPE_SETTINGS = frozenset(("to", "dtype", "output_dtype"))
# The input that decides the type of the output, if not the first.
TYPING_INPUT = {
    "Where": 1,
    "OneHot": 2,
    "DequantizeLinear": 1,
    "CastLike": 1,
    "QuantizeLinear": 2,
    "QLinearConv": 7,
    "QLinearMatMul": 7,
    "MatMulIntegerToFloat": 2,
    "DynamicQuantizeMatMul": 0,
}
COUNTED_OUTPUTS = "num_outputs"
PASSING_OPS = frozenset(("Identity", "QuantizeLinear", "DequantizeLinear"))
BUFFER_SLOTS = frozenset(("mean", "variance", "buffer"))


def read_onnx(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Read the graph of an ONNX model. Raises `ReadError`."""
    data = opened.data()
    if opened.bounded:
        check_empty_messages(data, opened.name)
    model = decode_model(data, opened.name, MemoryBudget(opened.size_on_disk(data), opened.name))
    if model.graph is None:
        raise NoGraph(f"{opened.name}: the ONNX model has no graph")
    builder = ModelReader(model, data).build_program()
    del model  # frees memory before the graph takes as much
    content = builder.build()
    entry = SourceEntry("op", bytes=len(data), format="ONNX")
    return SourceContents((SourceItem(entry, lambda: content),), what=opened.name)


class ModelReader:
    """Describes one model."""

    def __init__(self, model: ModelValue, data: bytes) -> None:
        self.model = model
        self.builder = ProgramBuilder(model.graph.name if model.graph is not None else "")
        self.values = ModelValues(model)
        self.uses = StoredTensorUses(model, self.values)
        self.numbers = StoredNumbers(data, self.uses)
        self.lists_modules = model.graph is not None and any(map(lists_modules, model.graph.nodes))
        # For each op with a weight: the parameters in the record of its call, its body, and the weight.
        self.call_parameters: list[tuple[frozenset[str], str, str]] = []
        self.functions: dict[FunctionKey, str] = {}
        self.weights: dict[tuple[int, str], StoredWeight] = {}  # by value, and name at its user
        self.named_weights: dict[str, int] = {}

    @cached_property
    def names_in_calls(self) -> Mapping[str, str]:
        """Names of stored weights by their form in records of calls."""
        return names_in_calls(self.values.names[value] for value in self.values.stored)

    def build_program(self) -> ProgramBuilder:
        """Describe the graph of the model to a builder, and return it."""
        main = self.values.main
        assert main is not None, "read_onnx refuses a model without"
        versions = {"IR version": self.model.ir_version, "opset": main.opset}
        newer = [f"{what} {number}" for what, number in versions.items() if number > NEWEST_VERSIONS[what]]
        if newer:
            text = f"{' and '.join(newer)} of ONNX is newer than tbgraph knows: some ops may be drawn without shapes"
            self.builder.notices.append(Notice("newer-version", text, strict=False))
        for key, function in self.values.functions.items():  # names first, since functions call each other
            self.functions[key] = self.builder.begin_body(function.name or "function")
        for key, function in self.values.functions.items():
            self.builder.body = self.functions[key]
            BlockReader(self, function).add_block(function.inputs, function.outputs)
        self.builder.body = ""
        given = [value for value in main.inputs if self.values.tensors[value] is None]
        BlockReader(self, main).add_block(given, main.outputs)
        self._note_missing_parameters()
        return self.builder

    def _note_missing_parameters(self) -> None:
        """Mark weights of ops whose recorded calls have parameters that are missing from the file."""
        graph = self.model.graph
        listed = self.uses.listed
        known = (
            {name_form_in_calls(name) for name in self.builder.weight_names()}
            if self.call_parameters or listed
            else set()
        )
        for parameters, body, value in self.call_parameters:
            if not parameters <= known:
                self.builder.note_missing_weight(body, value)
        # The record of a call names tied weights too, but no record names a weight that no output needs.
        if self.numbers.may_lack_unused(listed):
            self.builder.note_missing_weight_anywhere()
        dropped = listed.keys() - known
        if dropped and graph is not None:
            dropped -= set(chain.from_iterable(map(parameters_of_call, graph.nodes)))
        if dropped:
            self.builder.note_missing_weight_near(listed[min(dropped)])

    def weight_name(self, stored: str, use: WeightUse) -> str:
        """Return a unique name for a weight: the second of a name gets a number."""
        name = name_of_weight(stored, use.node.message, use.slot)
        self.named_weights[name] = self.named_weights.get(name, 0) + 1
        return name if self.named_weights[name] == 1 else f"{name}_{self.named_weights[name]}"


class BlockReader:
    """Describes a graph, a body or a function."""

    def __init__(self, model: ModelReader, block: OnnxBlock) -> None:
        self.model, self.builder, self.block, self.values = model, model.builder, block, model.values
        self.quantized: dict[int, str] = {}  # type by value that was quantised and dequantised
        self.added: dict[str, bool] = {}  # the builder's name of a stored tensor → whether it is a weight
        self.inferred_modules: dict[OnnxNode, tuple[ModuleCall, ...]] = {}  # modules of nodes without a recorded place

    @cached_property
    def only_dequantized(self) -> Set[int]:
        """Values that only dequantisations use: no other op, body or result."""
        users = self.values.users
        nodes = [node for node in self.block.nodes if node.op == "onnx::DequantizeLinear" and node.inputs]
        return {
            value
            for value, count in Counter(node.inputs[0] for node in nodes).items()
            if len(users[value]) == count and not any(self._has_missing_input(node) for node, _ in users[value])
        }

    def add_block(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Add the inputs, the nodes and the results of the block."""
        for value in inputs:
            name = self.values.names[value]
            self.builder.add_input(name, name, self.values.kinds[value] or UNKNOWN)
        self._read_nodes()
        for value in outputs:
            self.builder.add_output(self.values.names[value], self._input_of_value(value, NodePlace()))

    # Nodes

    def _read_nodes(self) -> None:
        kinds, tensors = self.values.kinds, self.values.tensors
        for node in self.block.nodes:
            for value in node.outputs:
                kind = kinds[value]
                if (kind is None or not kind.dtype) and value and tensors[value] is None:
                    self._infer_types(node)
                    break
        for node in self.block.nodes:
            if not (node.message.op_type in PASSING_OPS and self._replaced_by_alias(node)):
                self._read_node(node)

    def _read_node(self, node: OnnxNode) -> None:
        model, message = self.model, node.message
        place = self._place_of(node)
        scope = self.builder.scope_name(place.modules) if place.modules else self.builder.plain_scope(place.parts)
        inputs: list[str] = []
        function = model.functions.get(node.function_key) if model.functions else None
        op = function or node.op
        stated: dict[str, Any] = {}  # settings that are not attributes of the node
        weight = ""  # the first input that is a weight
        slots = () if function else setting_slots(op)
        names, kinds, tensors, alias = self.values.names, self.values.kinds, self.values.tensors, self.values.alias
        for slot, value in enumerate(map(alias.get, node.inputs, node.inputs) if alias else node.inputs):
            if tensors[value] is None:
                inputs.append(names[value] if kinds[value] else "")
            elif slot in slots and (setting := self._setting(op, slot, value)) is not None:
                stated[setting[0]] = setting[1]
                inputs.append("")
            else:
                inputs.append(self._input_of_stored(value, place, scope, (node, slot)))
                weight = weight or (inputs[-1] if self.added[inputs[-1]] else "")
        if self.quantized and (types := {self.quantized[value] for value in node.inputs if value in self.quantized}):
            stated["quantized"] = ", ".join(sorted(types))
        # Equal attributes are one object, so their ids identify them.
        form = self.block.opset, len(node.outputs), repr(stated) if stated else "", *map(id, message.attributes)
        functions: Mapping[str, str] | None = None
        if self.values.bodies and node in self.values.bodies:
            functions, captured = self._add_bodies(node)
            inputs += [self._input_of_value(value, place, scope) for value in captured]
        if weight and not has_role(node.op, Role.RECURRENT) and (named := parameters_of_call(message)):
            model.call_parameters.append((named, self.builder.body, weight))
        self.builder.add_op(
            op,
            scope,
            inputs,
            message.outputs,
            tuple([kinds[value] or UNKNOWN for value in node.outputs]),
            form,
            lambda: self._settings(message, stated),
            name=place.name or message.op_type or "op",
            source=source_lines(stack_trace(message)),
            functions=functions,
        )

    def _place_of(self, node: OnnxNode) -> NodePlace:
        """Return the place of a node: for a folded convolution the module of its kernel, for a node that the exporter's
        optimizer added the modules that all its neighbours share."""
        place = place_of_node(node.message)
        if self.model.lists_modules and not (place.modules or place.parts):
            place = NodePlace(self._shared_modules(node), name=place.name)
            self.inferred_modules[node] = place.modules
        slot = kernel_slot(node.op)
        if not 0 <= slot < len(node.inputs):
            return place
        value = self._resolve(node.inputs[slot])
        kernel = self.values.tensors[value]
        if kernel is None:
            return place
        return with_module_of_kernel(place, node.message.op_type, self.values.names[value], len(kernel.dims))

    def _shared_modules(self, node: OnnxNode) -> tuple[ModuleCall, ...]:
        """Return the modules that the ops before and after a node have in common."""
        around = [maker for value in node.inputs if (maker := self.values.makers[value]) is not None]
        around += [user for value in node.outputs for user, _ in self.values.users[value]]
        lists = [place_of_node(each.message).modules or self.inferred_modules.get(each, ()) for each in around]
        known = [modules for modules in lists if modules]
        shared = zip(*known, strict=False) if known else ()
        return tuple(alike[0] for alike in takewhile(lambda alike: len(set(alike)) == 1, shared))

    def _resolve(self, value: int) -> int:
        """Return the original of an alias; any other value itself."""
        return self.values.alias.get(value, value)

    def _replaced_by_alias(self, node: OnnxNode) -> bool:
        """Return whether a node is left out because its output is its input: copies of stored tensors, QDQ pairs.
        Record the alias."""
        if not node.inputs or not node.outputs or not node.outputs[0]:
            return False
        output, value = node.outputs[0], node.inputs[0]
        source = self._resolve(value)
        stored = self.values.tensors[source]
        if node.message.op_type == "Identity":
            if stored is not None:
                self._alias_stored(output, source, stored)
            return stored is not None
        if self._has_missing_input(node):
            return False
        if node.message.op_type == "QuantizeLinear":
            return output in self.only_dequantized
        maker = self.values.makers[value]
        is_quantized = maker is not None and maker.message.op_type == "QuantizeLinear" and bool(maker.inputs)
        if maker is not None and is_quantized and value in self.only_dequantized:
            self.values.alias[output] = self._resolve(maker.inputs[0])
            self.quantized[output] = (self.values.kinds[value] or UNKNOWN).dtype or "uint8"
            self.builder.left_out += 2
            return True
        if stored is not None and self.model.uses.weight_use(source, stored) is not None:
            self.values.alias[output] = source
            self.builder.left_out += 1
            return True
        return False

    def _alias_stored(self, output: int, source: int, tensor: TensorValue) -> None:
        """Make a value an alias of a stored tensor. If it has a name in the program it is a separate weight, whose
        equal values are stored once."""
        if not is_generated_name(self.values.names[output]) and self.model.uses.weight_use(output, tensor) is not None:
            self.values.tensors[output] = tensor
        else:
            self.values.alias[output] = source
        self.builder.left_out += 1

    # Values

    def _input_of_value(self, value: int, place: NodePlace, scope: str = "") -> str:
        """Return the builder's name for a value that a body or a result uses; "" for a value without a producer."""
        value = self._resolve(value)
        if self.values.tensors[value] is not None:
            return self._input_of_stored(value, place, scope)
        return self.values.names[value] if self.values.kinds[value] else ""

    def _input_of_stored(
        self, value: int, place: NodePlace, scope: str = "", user: tuple[OnnxNode, int] | None = None
    ) -> str:
        """Return the builder's name for a stored tensor, which is added on its first use. `user` is the node that uses
        it, and the number of the input."""
        tensor, stored = self.values.tensors[value], self.values.names[value]
        assert tensor is not None
        use = self.model.uses.weight_use(value, tensor)
        name = self._name_for_user(stored, use.slot, place, *user) if user is not None and use is not None else ""
        key = f"{stored} {name}" if name else stored
        if key not in self.added:
            self.added[key] = use is not None
            if use is None:
                may_be_weights = self.model.numbers.may_hold_weights(value, tensor)
                kind, content = stored_kind_of(tensor, None), tensor.content()
                own = _place_name(stored)
                self.builder.add_constant(stored, scope, own, kind, content, may_hold_weights=may_be_weights)
            else:
                weights = self.model.weights  # a body has those of the graph around it
                if (value, name) not in weights:
                    weights[value, name] = self._weight(stored, tensor, use, scope, name)
                self.builder.add_weight(key, weights[value, name])
        return key

    def _name_for_user(self, stored: str, usual: str, place: NodePlace, node: OnnxNode, slot: int) -> str:
        """Return the name of a user's weight in the program, if the file stores it under another name; else ""."""
        message = node.message
        if slot >= MAX_FOLLOWED_CARRIERS or not has_call_record(message) or has_role(node.op, Role.RECURRENT):
            return ""
        known = weight_input_names(node.op).get(slot, usual)
        name = name_in_call(message, place, known, stored)
        if not name and is_generated_name(stored):
            name = other_name_in_call(message, known, self.model.names_in_calls)
        return name

    def _weight(self, stored: str, tensor: TensorValue, use: WeightUse, scope: str, name: str) -> StoredWeight:
        """Return the weight that a stored tensor is, with a name of its own or under the `name` of its user."""
        numbers = self.model.numbers
        attributes: dict[str, Any] = {"external_data": True} if tensor.is_external else {}
        if numbers.is_folded(stored, use):
            attributes[KEEPS_MORE_ATTR] = True
        place, shared = None, None if name else numbers.shared_table(stored, tensor, use)
        if shared is not None:
            table, is_proven = shared
            if is_proven:
                name, place, attributes["tied"] = table, (scope, WEIGHT_ATTRIBUTES["kernel"]), True
            else:
                attributes[MAY_REPEAT] = table
        elif numbers.may_count_too_much(stored, use):
            attributes[MAY_REPEAT] = ""
        name = name or self.model.weight_name(stored, use)
        buffer = use.slot in BUFFER_SLOTS or numbers.is_norm_bias(stored, use)
        return StoredWeight(name, stored_kind_of(tensor, use), None, buffer, (), attributes, place)

    def _infer_types(self, node: OnnxNode) -> None:
        """State the types of the outputs of a node that the file leaves open."""
        kinds, attributes = self.values.kinds, node.message.attributes
        if (bodies := self.values.bodies.get(node)) is not None:
            for value, kind in zip(node.outputs, self._results_of_body(node, bodies[0][1]), strict=False):
                kinds[value] = kinds[value] or kind
        definition = op_def(node.op)
        slot = TYPING_INPUT.get(node.message.op_type, 0)
        default = self._type_of(node.inputs[slot]) if slot < len(node.inputs) else ""
        if node.message.op_type == "QuantizeLinear":
            default = default or "uint8"
        if node.message.op_type == "ConstantOfShape":
            default = next((attribute.t.dtype for attribute in attributes if attribute.t is not None), "float32")
        for number, value in enumerate(node.outputs):
            outputs = definition.outputs if definition is not None else ()
            output = outputs[min(number, len(outputs) - 1)] if outputs else None
            dtype = output.dtype if output is not None and output.dtype else default
            if output is not None and output.attr:
                dtype = next(
                    (DTYPE_BY_NUMBER.get(each.i or 0, "") for each in attributes if each.name == output.attr), default
                )
            stated = kinds[value]
            kinds[value] = Value(None, dtype) if stated is None else Value(stated.sizes, stated.dtype or dtype)

    def _type_of(self, value: int) -> str:
        stored = self.values.tensors[value]
        return stored.dtype if stored is not None else (self.values.kinds[value] or UNKNOWN).dtype

    def _results_of_body(self, node: OnnxNode, body: OnnxBlock) -> list[Value]:
        """Return shapes and types of an op's outputs by its first body; an output that a loop collects has one more
        axis."""
        kinds = [self.values.kinds[value] or UNKNOWN for value in body.outputs]
        if node.message.op_type == "If":
            return kinds
        condition = 1 if node.message.op_type == "Loop" else 0
        carried = max(0, len(body.inputs) - 2 if condition else len(node.inputs) - _scanned_inputs(node.message))
        collected = [Value(None if kind.sizes is None else (None, *kind.sizes), kind.dtype) for kind in kinds]
        return [*kinds[condition : condition + carried], *collected[condition + carried :]]

    # Settings

    def _attributes(self, node: NodeValue) -> dict[str, Any]:
        """Return the attributes of a node as plain values, without graphs."""
        found: dict[str, Any] = {}
        for attribute in node.attributes:
            name = attribute.name
            if not name or name.startswith("_"):
                continue
            value = attribute_value(attribute)
            if name in TYPE_SETTINGS and isinstance(value, int):
                value = dtype_attribute(DTYPE_BY_NUMBER.get(value, ""))
            if value is not None:
                found[name] = value
        return found

    def _settings(self, node: NodeValue, stated: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes of a node and the `stated` settings, without settings that have no effect, and with
        settings whose default differs between versions of ONNX."""
        attributes = {**self._attributes(node), **stated}
        if node.op_type in AXIS_WAS_FIRST and 0 < self.block.opset < 13:
            attributes.setdefault("axis", 1)
        if node.op_type == "Split" and "split" not in attributes:
            attributes.setdefault(COUNTED_OUTPUTS, len(node.outputs))
        if 0 not in (attributes.get(SIZE_SETTING) or (0,)):
            attributes.pop("allowzero", None)
        for name, neutral in NEUTRAL_SETTINGS.items():
            value = attributes.get(name)
            if isinstance(value, tuple | list) and value and all(number == neutral for number in value):
                del attributes[name]
        return attributes

    def _setting(self, op: str, slot: int, value: int) -> tuple[str, Any] | None:
        """Return name and value of the setting that a stored tensor represents; None if it is an ordinary input."""
        tensor = self.values.tensors[value]
        numbers = small_tensor_elements(tensor) if tensor is not None else None
        return None if numbers is None else input_as_setting(op, slot, numbers)

    # Bodies

    def _add_bodies(self, node: OnnxNode) -> tuple[dict[str, str], list[int]]:
        """Add the graphs of a node as functions; return them by attribute, and the values that they capture."""
        bodies, kinds, tensors = self.values.bodies[node], self.values.kinds, self.values.tensors
        captured: dict[int, None] = {}
        for _, body in bodies:
            resolved = map(self._resolve, self.values.captured_values(body))
            captured |= dict.fromkeys([value for value in resolved if kinds[value] and tensors[value] is None])
        outer = self.builder.body
        functions: dict[str, str] = {}
        for attribute, body in bodies:
            name = body.name or f"{node.message.name or node.message.op_type}_{attribute}"
            functions[attribute] = self.builder.begin_body(name)
            # The first result of a loop's body is the condition, which is not an output of the node.
            last = 1 if node.message.op_type == "Loop" else 0
            results = [*body.outputs[last:], *body.outputs[:last]]
            BlockReader(self.model, body).add_block([*body.inputs, *captured], results)
            self.builder.body = outer
        return functions, list(captured)

    def _has_missing_input(self, node: OnnxNode) -> bool:
        """Return whether an input of a node has no producer, as in a damaged model."""
        tensors, kinds = self.values.tensors, self.values.kinds
        return not all(tensors[value] is not None or kinds[value] for value in node.inputs if value)


def _scanned_inputs(node: NodeValue) -> int:
    """Return the number of inputs over which a `Scan` iterates."""
    return next((each.i or 0 for each in node.attributes if each.name == "num_scan_inputs"), len(node.inputs))


def _place_name(value: str) -> str:
    """Return the name of a constant, or a general name if its name was generated."""
    return "Const" if is_generated_name(value) else value.rpartition("/")[2] or "Const"
