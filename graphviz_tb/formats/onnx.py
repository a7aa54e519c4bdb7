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

from collections import ChainMap, Counter
from collections.abc import Mapping, MutableMapping, Sequence, Set
from functools import cached_property
from itertools import chain, takewhile
from typing import Any, TypeVar

from graphviz_tb.errors import NoGraph
from graphviz_tb.formats.contents import SourceContents, SourceItem
from graphviz_tb.formats.exported import (
    MAY_REPEAT,
    ModuleCall,
    ProgramBuilder,
    StoredWeight,
)
from graphviz_tb.formats.onnx_messages import (
    DTYPE_BY_NUMBER,
    FunctionValue,
    GraphValue,
    ModelValue,
    NamedValue,
    NodeValue,
    TensorValue,
    decode_model,
)
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
from graphviz_tb.formats.onnx_settings import (
    SIZE_SETTING,
    attribute_value,
    input_as_setting,
    small_tensor_elements,
)
from graphviz_tb.formats.onnx_weights import (
    BlockKey,
    FunctionKey,
    NodeBodies,
    StoredNumbers,
    StoredTensorUses,
    WeightUse,
    function_key,
    is_constant,
    kernel_slot,
    op_type,
    stored_kind_of,
)
from graphviz_tb.formats.torch_metadata import source_lines
from graphviz_tb.formats.wire_nodes import Value, dtype_attribute, shortened_sizes
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
AnyValue = TypeVar("AnyValue")
UNKNOWN = Value()
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


def _standard_opset(model: ModelValue | FunctionValue) -> int:
    """Return the version of ONNX's standard ops in a model or a function; 0 if it states none."""
    return next((opset.version for opset in model.opsets if opset.domain in ("", "ai.onnx")), 0)


class ModelReader:
    """Describes one model."""

    def __init__(self, model: ModelValue, data: bytes) -> None:
        self.model = model
        self.builder = ProgramBuilder(model.graph.name if model.graph is not None else "")
        self.uses = StoredTensorUses(model)
        self.numbers = StoredNumbers(data, self.uses)
        self.lists_modules = model.graph is not None and any(map(lists_modules, model.graph.nodes))
        # For each op with a weight: the parameters in the record of its call, its body, and the weight.
        self.call_parameters: list[tuple[frozenset[str], str, str]] = []
        self.kind_by_type: dict[int, Value] = {}  # equal types are one object
        self._places: dict[NodeValue, NodePlace] = {}
        self.functions: dict[FunctionKey, str] = {}
        self.named_weights: dict[str, int] = {}

    @cached_property
    def names_in_calls(self) -> Mapping[str, str]:
        """Names of stored weights by their form in records of calls."""
        return names_in_calls(name for _, name in self.uses.stored)

    def build_program(self) -> ProgramBuilder:
        """Describe the graph of the model to a builder, and return it."""
        graph = self.model.graph
        assert graph is not None, "read_onnx refuses a model without"
        versions = {"IR version": self.model.ir_version, "opset": _standard_opset(self.model)}
        newer = [f"{what} {number}" for what, number in versions.items() if number > NEWEST_VERSIONS[what]]
        if newer:
            text = f"{' and '.join(newer)} of ONNX is newer than tbgraph knows: some ops may be drawn without shapes"
            self.builder.notices.append(Notice("newer-version", text, strict=False))
        for function in self.model.functions:  # names first, since functions call each other
            name = self.builder.begin_body(function.name or "function")
            self.functions[function.domain, function.name, function.overload] = name
        for function in self.model.functions:
            key = (function.domain, function.name, function.overload)
            self.builder.body = self.functions[key]
            BlockReader(self, key, function, None).read_function(function)
        self.builder.body = ""
        BlockReader(self, None, graph, None).read_main(graph)
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

    def kind_of(self, value: NamedValue) -> Value:
        """Return shape and type of a value that the file describes."""
        kind = self.kind_by_type.get(id(value.type))
        if kind is None:
            kind = self.kind_by_type[id(value.type)] = Value(shortened_sizes(value.dims), value.dtype)
        return kind

    def place_of(self, node: NodeValue) -> NodePlace:
        """Return the place of a node, cached, since it is needed for each of its weights."""
        place = self._places.get(node)
        if place is None:
            place = self._places[node] = place_of_node(node)
        return place

    def weight_name(self, stored: str, use: WeightUse) -> str:
        """Return a unique name for a weight: the second of a name gets a number."""
        name = name_of_weight(stored, self.place_of(use.node), use.slot)
        self.named_weights[name] = self.named_weights.get(name, 0) + 1
        return name if self.named_weights[name] == 1 else f"{name}_{self.named_weights[name]}"


class BlockReader:
    """Describes a graph, a body or a function; `around` is the reader of the graph that a body is in."""

    def __init__(
        self, model: ModelReader, key: BlockKey, graph: GraphValue | FunctionValue, around: BlockReader | None
    ) -> None:
        self.model, self.builder, self.key, self.around = model, model.builder, key, around
        self.nodes = graph.nodes
        # A body sees all values around it, which may be many more than its own: do not copy them.
        self.stored: MutableMapping[str, TensorValue] = dict(model.uses.stored_in_graph(graph))
        self.alias: MutableMapping[str, str] = {}  # value → the value that it equals
        self.kinds: MutableMapping[str, Value] = {}  # of every known value, once types are inferred
        if around is not None:
            self.stored = ChainMap(self.stored, *_maps_of(around.stored))
            self.alias = ChainMap(self.alias, *_maps_of(around.alias))
            self.kinds = ChainMap(self.kinds, *_maps_of(around.kinds))
        self.weights: dict[str, StoredWeight] = around.weights if around else {}
        self.used: dict[str, WeightUse | None] = around.used if around else {}
        self.quantized: dict[str, str] = {}  # type by value that was quantised and dequantised
        self.added: set[str] = set()
        named: Sequence[NamedValue] = graph.values
        if isinstance(graph, GraphValue):
            named = [*graph.values, *graph.inputs, *graph.outputs]
        else:
            self.kinds.update(dict.fromkeys(graph.inputs, Value()))
        self.kinds.update({value.name: model.kind_of(value) for value in named})
        self.inferred_modules: dict[int, tuple[ModuleCall, ...]] = {}  # modules of nodes without a recorded place
        self.version = _standard_opset(graph if isinstance(graph, FunctionValue) else model.model)

    @cached_property
    def producers(self) -> Mapping[str, NodeValue]:
        """Node by output value."""
        return {value: node for node in self.nodes for value in node.outputs if value}

    @cached_property
    def consumers(self) -> Mapping[str, Sequence[NodeValue]]:
        """Nodes by input value."""
        consumers: dict[str, list[NodeValue]] = {}
        for node in self.nodes:
            for value in node.inputs:
                consumers.setdefault(value, []).append(node)
        return consumers

    @cached_property
    def only_dequantized(self) -> Set[str]:
        """Values that only dequantisations use: no other op, body or result."""
        restored = Counter(node.inputs[0] for node in self.nodes if node.op_type == "DequantizeLinear" and node.inputs)
        return {
            value
            for value, count in restored.items()
            if len(self.consumers[value]) == count and not any(map(self._has_missing_input, self.consumers[value]))
        }

    # The three kinds of blocks

    def read_main(self, graph: GraphValue) -> None:
        for value in graph.inputs:
            if value.name not in self.stored:
                self.builder.add_input(value.name, value.name, self.kinds[value.name])
        self._read_nodes()
        for output in graph.outputs:
            self.builder.add_output(output.name, self._input_of_value(output.name, NodePlace()))

    def read_body(self, graph: GraphValue, captured: Sequence[str], last: int) -> None:
        """Add a body: its inputs, then the values from outside; its first `last` results are moved to the end."""
        for value in graph.inputs:
            self.builder.add_input(value.name, value.name, self.kinds[value.name])
        for name in captured:
            self.builder.add_input(name, name, self.kinds.get(name, Value()))
        self._read_nodes()
        outputs = [*graph.outputs[last:], *graph.outputs[:last]]
        for output in outputs:
            self.builder.add_output(output.name, self._input_of_value(output.name, NodePlace()))

    def read_function(self, function: FunctionValue) -> None:
        """Add a function of the file."""
        for name in function.inputs:
            self.builder.add_input(name, name, self.kinds.get(name, Value()))
        self._read_nodes()
        for name in function.outputs:
            self.builder.add_output(name, self._input_of_value(name, NodePlace()))

    # Nodes

    def _read_nodes(self) -> None:
        typed = {"", *_maps_of(self.stored)[0]}
        typed.update([value for value, kind in _maps_of(self.kinds)[0].items() if kind.dtype])
        for node in self.nodes:
            if not typed.issuperset(node.outputs):
                self._infer_types(node)
        for node in self.nodes:
            if not is_constant(node) and not (node.op_type in PASSING_OPS and self._replaced_by_alias(node)):
                self._read_node(node)

    def _read_node(self, node: NodeValue) -> None:
        type_name = op_type(node)
        place = self._place_of(node, type_name)
        scope = self.builder.scope_name(place.modules) if place.modules else self.builder.plain_scope(place.parts)
        inputs: list[str] = []
        function = self.model.functions.get(function_key(node)) if self.model.functions else None
        op = function or type_name
        stated: dict[str, Any] = {}  # settings that are not attributes of the node
        weight = ""  # the first input that is a weight
        slots = () if function else setting_slots(op)
        kinds, stored = self.kinds, self.stored
        for slot, value in enumerate(map(self.alias.get, node.inputs, node.inputs) if self.alias else node.inputs):
            if not value or value not in stored:
                inputs.append(value if value in kinds else "")
            elif slot in slots and (setting := self._setting(op, slot, value)) is not None:
                stated[setting[0]] = setting[1]
                inputs.append("")
            else:
                inputs.append(self._input_of_stored(value, place, scope, (node, type_name, slot)))
                weight = weight or (inputs[-1] if inputs[-1] in self.weights else "")
        if self.quantized and (types := {self.quantized[value] for value in node.inputs if value in self.quantized}):
            stated["quantized"] = ", ".join(sorted(types))
        # Equal attributes are one object, so their ids identify them.
        form = self.version, len(node.outputs), repr(stated) if stated else "", *map(id, node.attributes)
        functions: Mapping[str, str] | None = None
        if (bodies := self.model.uses.bodies.get(node)) is not None:
            functions, captured = self._add_bodies(node, bodies)
            inputs += [self._input_of_value(value, place, scope) for value in captured]
        if weight and not has_role(type_name, Role.RECURRENT) and (named := parameters_of_call(node)):
            self.model.call_parameters.append((named, self.builder.body, weight))
        self.builder.add_op(
            op,
            scope,
            inputs,
            node.outputs,
            tuple([kinds.get(value, UNKNOWN) for value in node.outputs]),
            form,
            lambda: self._settings(node, stated),
            name=place.name or node.op_type or "op",
            source=source_lines(stack_trace(node)),
            functions=functions,
        )

    def _place_of(self, node: NodeValue, op: str) -> NodePlace:
        """Return the place of a node: for a folded convolution the module of its kernel, for a node that the exporter's
        optimizer added the modules that all its neighbours share."""
        place = self.model.place_of(node)
        if self.model.lists_modules and not (place.modules or place.parts):
            place = NodePlace(self._shared_modules(node), name=place.name)
            self.inferred_modules[id(node)] = place.modules
        slot = kernel_slot(op)
        value = self._resolve(node.inputs[slot]) if 0 <= slot < len(node.inputs) else ""
        if value not in self.stored:
            return place
        return with_module_of_kernel(place, node.op_type, value, len(self.stored[value].dims))

    def _shared_modules(self, node: NodeValue) -> tuple[ModuleCall, ...]:
        """Return the modules that the ops before and after a node have in common."""
        around = [self.producers[value] for value in node.inputs if value in self.producers]
        around += chain.from_iterable(self.consumers.get(value, ()) for value in node.outputs)
        lists = [self.model.place_of(each).modules or self.inferred_modules.get(id(each), ()) for each in around]
        known = [modules for modules in lists if modules]
        shared = zip(*known, strict=False) if known else ()
        return tuple(alike[0] for alike in takewhile(lambda alike: len(set(alike)) == 1, shared))

    def _resolve(self, value: str) -> str:
        """Return the original of an alias; any other value itself."""
        return self.alias.get(value, value)

    def _replaced_by_alias(self, node: NodeValue) -> bool:
        """Return whether a node is left out because its output is its input: copies of stored tensors, QDQ pairs.
        Record the alias."""
        if not node.inputs or not node.outputs or not node.outputs[0]:
            return False
        output, value = node.outputs[0], node.inputs[0]
        source = self._resolve(value)
        if node.op_type == "Identity":
            if source in self.stored:
                self._alias_stored(output, source)
            return source in self.stored
        if self._has_missing_input(node):
            return False
        if node.op_type == "QuantizeLinear":
            return output in self.only_dequantized
        maker = self.producers.get(value)
        if maker is not None and maker.op_type == "QuantizeLinear" and maker.inputs and value in self.only_dequantized:
            self.alias[output] = self._resolve(maker.inputs[0])
            self.quantized[output] = self.kinds.get(value, Value()).dtype or "uint8"
            self.builder.left_out += 2
            return True
        if source in self.stored and self._use(source) is not None:
            self.alias[output] = source
            self.builder.left_out += 1
            return True
        return False

    def _alias_stored(self, output: str, source: str) -> None:
        """Make a value an alias of a stored tensor. If it has a name in the program it is a separate weight, whose
        equal values are stored once."""
        if (
            not is_generated_name(output)
            and self.model.uses.weight_use(self.key, output, self.stored[source]) is not None
        ):
            self.stored[output] = self.stored[source]
        else:
            self.alias[output] = source
        self.builder.left_out += 1

    # Values

    def _input_of_value(self, value: str, place: NodePlace, scope: str = "") -> str:
        """Return the builder's name for a value that a body or a result uses; "" for a value without a producer."""
        value = self._resolve(value)
        if value and value in self.stored:
            return self._input_of_stored(value, place, scope)
        return value if value in self.kinds else ""

    def _input_of_stored(
        self, value: str, place: NodePlace, scope: str = "", user: tuple[NodeValue, str, int] | None = None
    ) -> str:
        """Return the builder's name for a stored tensor, which is added on its first use. `user` is the node that uses
        it, its type, and the number of the input."""
        use = self._use(value)
        name = self._name_for_user(value, use.slot, place, *user) if user is not None and use is not None else ""
        key = f"{value} {name}" if name else value
        if key not in self.added:
            self.added.add(key)
            self._add_stored(value, use, scope, key, name)
        return key

    def _use(self, value: str) -> WeightUse | None:
        """Return how a stored tensor is used as a weight."""
        if value not in self.used:
            self.used[value] = self.model.uses.weight_use(self.key, value, self.stored[value])
        return self.used[value]

    def _name_for_user(self, value: str, usual: str, place: NodePlace, node: NodeValue, op: str, slot: int) -> str:
        """Return the name of a user's weight in the program, if the file stores it under another name; else ""."""
        if slot >= MAX_FOLLOWED_CARRIERS or not has_call_record(node) or has_role(op, Role.RECURRENT):
            return ""
        known = weight_input_names(op).get(slot, usual)
        name = name_in_call(node, place, known, value)
        if not name and is_generated_name(value):
            name = other_name_in_call(node, known, self.model.names_in_calls)
        return name

    def _add_stored(self, value: str, use: WeightUse | None, scope: str, key: str, name: str) -> None:
        tensor = self.stored[value]
        kind = stored_kind_of(tensor, use)
        numbers = self.model.numbers
        if use is None:
            may_be_weights = numbers.may_hold_weights(self.key, value, tensor)
            self.builder.add_constant(
                value, scope, _place_name(value), kind, tensor.content(), may_hold_weights=may_be_weights
            )
            return
        if key not in self.weights:
            attributes: dict[str, Any] = {"external_data": True} if tensor.is_external else {}
            if numbers.is_folded(value, use):
                attributes[KEEPS_MORE_ATTR] = True
            place, shared = None, None if name else numbers.shared_table(value, tensor, use)
            if shared is not None:
                table, is_proven = shared
                if is_proven:
                    name, place, attributes["tied"] = table, (scope, WEIGHT_ATTRIBUTES["kernel"]), True
                else:
                    attributes[MAY_REPEAT] = table
            elif numbers.may_count_too_much(value, use):
                attributes[MAY_REPEAT] = ""
            name = name or self.model.weight_name(value, use)
            buffer = use.slot in BUFFER_SLOTS or numbers.is_norm_bias(value, use)
            self.weights[key] = StoredWeight(name, kind, None, buffer, (), attributes, place)
        self.builder.add_weight(key, self.weights[key])

    def _infer_types(self, node: NodeValue) -> None:
        """State the types of the outputs of a node that the file leaves open."""
        bodies = self.model.uses.bodies.get(node)
        for value, kind in zip(node.outputs, _results_of_bodies(node, bodies) if bodies else (), strict=False):
            self.kinds.setdefault(value, kind)
        definition = op_def(op_type(node))
        slot = TYPING_INPUT.get(node.op_type, 0)
        default = self._type_of(node.inputs[slot]) if slot < len(node.inputs) else ""
        if node.op_type == "QuantizeLinear":
            default = default or "uint8"
        if node.op_type == "ConstantOfShape":
            default = next((attribute.t.dtype for attribute in node.attributes if attribute.t is not None), "float32")
        for number, value in enumerate(node.outputs):
            outputs = definition.outputs if definition is not None else ()
            output = outputs[min(number, len(outputs) - 1)] if outputs else None
            dtype = output.dtype if output is not None and output.dtype else default
            if output is not None and output.attr:
                dtype = next(
                    (DTYPE_BY_NUMBER.get(each.i or 0, "") for each in node.attributes if each.name == output.attr),
                    default,
                )
            stated = self.kinds.get(value)
            self.kinds[value] = Value(None, dtype) if stated is None else Value(stated.sizes, stated.dtype or dtype)

    def _type_of(self, value: str) -> str:
        if value in self.stored:
            return self.stored[value].dtype
        return self.kinds.get(value, Value()).dtype

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
        if node.op_type in AXIS_WAS_FIRST and 0 < self.version < 13:
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

    def _setting(self, op: str, slot: int, value: str) -> tuple[str, Any] | None:
        """Return name and value of the setting that a stored tensor represents; None if it is an ordinary input."""
        numbers = small_tensor_elements(self.stored[value])
        return None if numbers is None else input_as_setting(op, slot, numbers)

    # NodeBodies

    def _add_bodies(self, node: NodeValue, bodies: NodeBodies) -> tuple[dict[str, str], list[str]]:
        """Add the graphs of a node as functions; return them by attribute, and the values that they capture."""
        captured: dict[str, None] = {}
        for _, graph in bodies:
            names = self.model.uses.captured_values(graph, self.stored)
            captured.update(dict.fromkeys(self._resolve(name) for name in names if self._is_known(name)))
        outer = self.builder.body
        functions: dict[str, str] = {}
        for attribute, graph in bodies:
            functions[attribute] = self.builder.begin_body(graph.name or f"{node.name or node.op_type}_{attribute}")
            # The first result of a loop's body is the condition, which is not an output of the node.
            last = 1 if node.op_type == "Loop" else 0
            BlockReader(self.model, self.key, graph, self).read_body(graph, list(captured), last)
            self.builder.body = outer
        return functions, list(captured)

    def _has_missing_input(self, node: NodeValue) -> bool:
        """Return whether an input of a node has no producer, as in a damaged model."""
        return not all(value in self.stored or value in self.kinds for value in node.inputs if value)

    def _is_known(self, value: str) -> bool:
        """Return whether a value exists here and is not a stored tensor."""
        resolved = self._resolve(value)
        return resolved not in self.stored and resolved in self.kinds


def _maps_of(names: MutableMapping[str, AnyValue]) -> Sequence[MutableMapping[str, AnyValue]]:
    """Return the mappings of a block and of those around it, the innermost first."""
    return names.maps if isinstance(names, ChainMap) else [names]


def _results_of_bodies(node: NodeValue, bodies: NodeBodies) -> list[Value]:
    """Return shapes and types of an op's outputs by its bodies; an output that a loop collects has one more axis."""
    body = bodies[0][1]
    kinds = [Value(shortened_sizes(value.dims), value.dtype) for value in body.outputs]
    if node.op_type == "If":
        return kinds
    condition = 1 if node.op_type == "Loop" else 0
    carried = max(0, len(body.inputs) - 2 if condition else len(node.inputs) - _scanned_inputs(node))
    collected = [Value(None if kind.sizes is None else (None, *kind.sizes), kind.dtype) for kind in kinds]
    return [*kinds[condition : condition + carried], *collected[condition + carried :]]


def _scanned_inputs(node: NodeValue) -> int:
    """Return the number of inputs over which a `Scan` iterates."""
    return next((each.i or 0 for each in node.attributes if each.name == "num_scan_inputs"), len(node.inputs))


def _place_name(value: str) -> str:
    """Return the name of a constant, or a general name if its name was generated."""
    return "Const" if is_generated_name(value) else value.rpartition("/")[2] or "Const"
