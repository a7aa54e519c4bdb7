"""Build the graph of an exported program: shared by the readers of `torch.export`, ONNX and TensorFlow Lite.

A reader describes inputs, weights, constants, ops and outputs by the names of their values, in any order;
`ProgramBuilder.build` makes a GraphDef in which

op type        has its framework before it: `aten::conv2d`, `onnx::Conv`, `tfl::CONV_2D`; its line is in `ops/ops.tsv`.
               An op inside a module is named `Net/Block[blocks.0]/Conv2d[conv]/conv2d`: the class of each module around
               it, and its path in the module before. Later calls of a module have a number: `ReLU[act@2]`
inputs         are at the positions of the op's definition (the column `inputs` of the table); an argument that is not
               a tensor leaves its position empty (`""`) and becomes an attribute of its name
weights        are nodes `Parameter` or `Buffer` in the scope of their module, with `dtype`, `shape`, `_trainable`, the
               name in the program (`_variable`, `shared_name`), and `_aliases`, further names of the weight.
               `_keeps_more` marks that the program may have weights that are missing from the file; `_may_repeat`
               names a weight of which this may be a second copy
constants      are nodes `Const`; `value` has the type, the shape, and the elements of a small one
`_output_shapes`, `_output_types`
               shapes and types of all outputs; a named size ("batch", "s0") is -1, with the name in `dim.name`
`_source`      the lines of the program that made an op, outermost call first: `model.py:41 x = self.attn(x)`
functions      are bodies of control flow, in the library; the attributes `then_branch` and `else_branch`, `cond` and
               `body`, `f` of an op name them. A weight that a body uses is a node in the body, with the
               `shared_name` of the weight outside
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import field
from itertools import chain, takewhile
from operator import eq
from types import MappingProxyType
from typing import Any, NamedTuple

from graphviz_tb.errors import TooLarge
from graphviz_tb.formats.contents import GraphContent
from graphviz_tb.formats.packed_graph import PackedGraph
from graphviz_tb.formats.wire_nodes import (
    DTYPE_NUMBERS,
    NodeLists,
    Sizes,
    Value,
    encode_attribute,
    encode_constant,
    encode_dtype,
    encode_outputs,
    encode_shape,
    encode_source,
    encode_variable,
    pack_nodes,
    set_shape,
)
from graphviz_tb.limits import (
    MAX_CACHED_DEFINITION_BYTES,
    MAX_CACHED_OPS,
    MAX_LAYER_DEPTH,
    MAX_PROGRAM_BODIES,
    MAX_SCOPE_LETTERS_OF_PROGRAM,
    Meter,
)
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import KEEPS_MORE_ATTR, TRAINABLE_ATTR
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import Signature, TensorSpec
from graphviz_tb.model.tensors import MAX_DIMENSIONS
from graphviz_tb.ops.roles import BUFFER_OP, PARAMETER_OP
from graphviz_tb.ops.signatures import attribute_defaults
from graphviz_tb.ops.table import op_name
from graphviz_tb.proto import AttrValue, FunctionDef, GraphDef, NameAttrList

INPUT_OP, OUTPUT_OP, CONSTANT_OP = "Placeholder", "_Retval", "Const"
MAY_REPEAT = "_may_repeat"
# A slash would end the segment, a colon begins the number of an output.
NOT_IN_SEGMENTS = str.maketrans({"/": "∕", ":": "_", "\n": " ", "\0": " "})
SCOPE_BRACKETS = re.compile(r"[\[\]]")


class ModuleCall(NamedTuple):
    """One module around an op: its path in the program ("enc.0.conv"), its class, and a key that differs from call to
    call. Without a key, a new call begins after ops of another module."""

    path: str
    class_name: str
    key: str | None = None


class StoredWeight(NamedTuple):
    """A weight: its name in the program, shape and type, whether training changes it; a buffer is not a parameter.
    `place` is its scope and its name there, if these do not follow from the name in the program."""

    name: str
    value: Value
    trainable: bool | None = None
    buffer: bool = False
    aliases: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = MappingProxyType({})
    place: tuple[str, str] | None = None


@dataclass(slots=True)
class _Block:
    """The main graph or a body: nodes in order, whose inputs are names of values until they are wired. `node_outputs`
    has the node output of each value; `used_weights`, set when the block is complete, the weights that nodes or results
    use."""

    nodes: NodeLists = field(default_factory=NodeLists)
    used_weights: set[str] = field(default_factory=set)
    node_outputs: dict[str, str] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    weights: dict[str, StoredWeight] = field(default_factory=dict)
    arguments: list[tuple[str, str, Value]] = field(default_factory=list)  # value, name of its node, shape and type
    results: list[tuple[str, str]] = field(default_factory=list)  # name, value
    values: dict[str, Value] = field(default_factory=dict)
    may_miss_weights: bool = False  # any module of the program may have weights that are missing from the file
    around: str = ""  # the scope of the call of a body; names in the body begin below it

    def scope_inside(self, scope: str) -> str:
        """Return a scope as it is named in a body."""
        inside = scope == self.around or scope.startswith(f"{self.around}/")
        return scope[len(self.around) :].lstrip("/") if inside else scope

    def unique_name(self, scope: str, name: str) -> str:
        """Return a unique name for a node: the second of a name gets a number."""
        scope = self.scope_inside(scope) if self.around else scope
        own = name if name.isidentifier() else clean_segment(name)
        whole = f"{scope}/{own}" if scope else own
        number = self.names.get(whole)
        if number is None:
            self.names[whole] = 0
            return whole
        unique = whole
        while unique in self.names:
            number += 1
            unique = f"{whole}_{number}"
        self.names[whole], self.names[unique] = number, 0
        return unique


class ProgramBuilder:
    """Collects the parts of a program. `body` is the function to which the next parts are added; "" is the main
    graph."""

    def __init__(self, title: str = "") -> None:
        self.title = title
        self.blocks: dict[str, _Block] = {"": _Block()}
        self.body = ""
        self.notices: list[Notice] = []
        self.left_out = 0
        self._bodies_by_name: Counter[str] = Counter()
        self._calls = ScopeNames()
        self._unused: list[StoredWeight] = []
        self._attributes_by_form: dict[Hashable, bytes] = {}

    @property
    def _block(self) -> _Block:
        return self.blocks[self.body]

    def begin_body(self, name: str, around: str = "") -> str:
        """Begin a function that is called in the scope `around`, and return its unique name; its description ends when
        `body` is set again. Raises TooLarge."""
        if len(self.blocks) > MAX_PROGRAM_BODIES:
            raise TooLarge(f"the program has more than {MAX_PROGRAM_BODIES:,} bodies of control flow and functions")
        unique = name
        while unique in self.blocks or not unique:
            self._bodies_by_name[name] += 1
            unique = f"{name}_{self._bodies_by_name[name] + 1}"
        self.blocks[unique] = _Block(around=around)
        self.body = unique
        return unique

    def add_input(self, value: str, name: str, shape: Value) -> None:
        """Add an input of the program, or an argument of the body."""
        if self.body:
            name = self._block.unique_name("", name)
            if value:
                self._block.node_outputs[value], self._block.values[value] = name, shape
        else:
            attributes = encode_dtype("dtype", shape.dtype) + encode_shape("shape", shape.sizes)
            attributes += encode_outputs((shape,))
            name = self._add_node(INPUT_OP, "", name, [], attributes, [value], [shape])
        self._block.arguments.append((value, name, shape))

    def add_weight(self, value: str, weight: StoredWeight) -> None:
        """Add a weight under the name of its value."""
        self._block.weights[value] = weight

    def weight_names(self) -> set[str]:
        return {weight.name for block in self.blocks.values() for weight in block.weights.values()}

    def note_missing_weight(self, body: str, value: str) -> None:
        """Mark a weight: the program has further weights, which are missing from the file."""
        weights = self.blocks[body].weights
        attributes = {**weights[value].attributes, KEEPS_MORE_ATTR: True}
        weights[value] = weights[value]._replace(attributes=attributes)

    def note_missing_weight_near(self, name: str) -> None:
        """Note that the weight `name` is missing from the file; mark the weight that shares most modules with it."""
        weights, parts = self.blocks[""].weights, name.split(".")

        def shared_parts(value: str) -> int:
            return sum(1 for _ in takewhile(bool, map(eq, weights[value].name.split("."), parts)))

        if weights:
            self.note_missing_weight("", max(weights, key=shared_parts))

    def note_missing_weight_anywhere(self) -> None:
        """Note that weights of any module may be missing from the file; mark the first result, or without results the
        first weight."""
        main = self.blocks[""]
        if main.results or not main.weights:
            main.may_miss_weights = True
        else:
            self.note_missing_weight("", next(iter(main.weights)))

    def add_constant(
        self,
        value: str,
        scope: str,
        name: str,
        shape: Value,
        content: bytes | None = None,
        *,
        may_hold_weights: bool = False,
    ) -> None:
        """Add a constant; `content` are the elements of a small constant, little-endian."""
        attributes = encode_constant(shape.dtype, shape.sizes, content) + encode_outputs((shape,))
        if may_hold_weights:
            attributes += encode_attribute(KEEPS_MORE_ATTR, True)
        self._add_node(CONSTANT_OP, scope, name, [], attributes, [value], [shape])

    def add_op(
        self,
        op: str,
        scope: str,
        inputs: list[str],
        outputs: Sequence[str],
        kinds: tuple[Value, ...],
        form: Hashable = None,
        settings: Callable[[], Mapping[str, Any]] = dict,
        *,
        name: str = "",
        source: tuple[str, ...] = (),
        functions: Mapping[str, str] | None = None,
    ) -> None:
        """Add an op: the values of its inputs by position ("": no tensor), the values of its outputs, and their shapes
        and types. `settings` returns its attributes: numbers, texts, lists of one type, an `AttrValue`; it is called
        once for all ops with an equal `form`. The name is by default that of the type; `functions` are the bodies that
        the op calls, by attribute."""
        key = (op, form, source, kinds)
        attributes = self._attributes_by_form.get(key)
        if attributes is None:
            attributes = _encode_settings(op, settings()) + encode_source(source) + encode_outputs(kinds)
            if len(self._attributes_by_form) < MAX_CACHED_OPS and len(attributes) < MAX_CACHED_DEFINITION_BYTES:
                self._attributes_by_form[key] = attributes
        if functions:
            called = (AttrValue(func=NameAttrList(name=function)) for function in functions.values())
            attributes += b"".join(map(encode_attribute, functions, called))
        self._add_node(op, scope, name or op_name(op), inputs, attributes, outputs, kinds)

    def plain_scope(self, parts: tuple[str, ...]) -> str:
        """Return the scope of an op in parts of a program whose classes are not known, outermost first."""
        return self._calls.plain_scope(parts)

    def add_output(self, name: str, value: str) -> None:
        """Add a result of the program, or of the body."""
        self._block.results.append((name, value))

    def scope_name(self, modules: tuple[ModuleCall, ...]) -> str:
        """Return the scope of an op in modules, outermost first."""
        return self._calls.scope_name(modules)

    # The message

    def build(self) -> GraphContent:
        """Return the graph of everything that was added, with a signature of its inputs and outputs."""
        main = self.blocks[""]
        self._write_results(main)
        used = self._used_weights()
        nodes = self._weight_nodes(main, used)
        nodes.extend(_wire_nodes(main))
        self._append_unused(main, nodes)
        functions = [self._function(name, block, used) for name, block in self.blocks.items() if name]
        graph: GraphDef | PackedGraph
        if functions:
            graph = _message(nodes)
            graph.library.function.extend(functions)
        else:
            graph = pack_nodes(nodes, self.title or "the program")
        return GraphContent(
            graph, (*self.notices, *self._calls.notices()), (self._signature(main),), left_out=self.left_out
        )

    def _add_node(
        self,
        op: str,
        scope: str,
        name: str,
        inputs: list[str],
        attributes: bytes,
        outputs: Sequence[str],
        kinds: Sequence[Value],
    ) -> str:
        """Add a node, and return its name."""
        block = self.blocks[self.body]
        unique = block.unique_name(self._calls.scope_of_node(scope), name)
        for place, value in enumerate(outputs):
            if value:
                block.node_outputs[value] = f"{unique}:{place}" if place else unique
                block.values[value] = kinds[place]
        while inputs and not inputs[-1]:
            inputs.pop()
        block.nodes.append(unique, op, inputs, attributes)
        return unique

    def _weight_nodes(self, block: _Block, used: Set[str]) -> NodeLists:
        """Return a node for each weight that an op of the block uses; aliases of a weight share a node. A weight that
        is not `used` in any block is listed as unused."""
        nodes = NodeLists()
        # Keyed by shape too, because an exporter may transpose a table for a product.
        names: dict[tuple[str, Sizes], str] = {}
        for value, weight in block.weights.items():
            if value not in block.used_weights:
                if weight.name not in used:
                    self._unused.append(weight)
                continue
            key = weight.name, weight.value.sizes
            if key not in names:
                names[key] = self._append_weight(nodes, block, weight)
            block.node_outputs[value] = names[key]
        return nodes

    def _used_weights(self) -> set[str]:
        """Return the names of the weights that any op uses."""
        used: set[str] = set()
        for block in self.blocks.values():
            taken = chain(block.nodes.inputs, [value for _, value in block.results])
            block.used_weights = set(block.weights).intersection(taken)
            used.update(block.weights[value].name for value in block.used_weights)
        return used

    def _append_weight(self, nodes: NodeLists, block: _Block, weight: StoredWeight) -> str:
        """Append the node of a weight, and return its name."""
        scope, own = weight.place or self._calls.scope_of_weight(weight.name)
        name = block.unique_name(self._calls.scope_of_node(scope), own or "weight")
        attributes = encode_variable(weight.value, weight.name)
        if weight.trainable is not None:
            attributes += encode_attribute(TRAINABLE_ATTR, weight.trainable)
        if weight.aliases:
            attributes += encode_attribute("_aliases", weight.aliases)
        if weight.attributes:
            attributes += b"".join(map(encode_attribute, weight.attributes, weight.attributes.values()))
        nodes.append(name, BUFFER_OP if weight.buffer else PARAMETER_OP, (), attributes)
        return name

    def _append_unused(self, main: _Block, nodes: NodeLists) -> None:
        """Append nodes for unused parameters; unused buffers are reported in a notice."""
        unused = list({weight.name: weight for weight in self._unused}.values())
        buffers = [weight for weight in unused if weight.buffer]
        if buffers:
            text = f"the program uses no {buffers[0].name!r}: buffers that nothing uses are not drawn"
            self.notices.append(Notice("unused-buffer", text, buffers[0].name, len(buffers), strict=False))
        for weight in unused:
            if not weight.buffer:
                self._append_weight(nodes, main, weight)

    def _write_results(self, main: _Block) -> None:
        """Add a node for each output of the program."""
        self.body = ""
        for at, (name, value) in enumerate(main.results):
            attributes = encode_dtype("T", main.values.get(value, Value()).dtype)
            if main.may_miss_weights and not at:
                attributes += encode_attribute(KEEPS_MORE_ATTR, True)
            self._add_node(OUTPUT_OP, "", name, [value], attributes, [], [])

    def _function(self, name: str, block: _Block, used: Set[str]) -> FunctionDef:
        function = FunctionDef()
        function.signature.name = name
        for place, (_, argument, shape) in enumerate(block.arguments):
            given = function.signature.input_arg.add(name=argument)
            given.type = DTYPE_NUMBERS.get(shape.dtype, 0)
            set_shape(function.arg_attr[place].attr["_output_shapes"].list.shape.add(), shape.sizes)
        nodes = self._weight_nodes(block, used)
        nodes.extend(_wire_nodes(block, in_body=True))
        function.node_def.extend(_message(nodes).node)
        arguments = {argument for _, argument, _ in block.arguments}
        for place, (_, value) in enumerate(block.results):
            result = function.signature.output_arg.add(name=f"result_{place}")
            source = block.node_outputs.get(value, value)
            function.ret[result.name] = _body_input(source, arguments)
            result.type = DTYPE_NUMBERS.get(block.values.get(value, Value()).dtype, 0)
        return function

    def _signature(self, main: _Block) -> Signature:
        inputs = [_port_spec(name, f"{name}:0", kind) for _, name, kind in main.arguments]
        outputs = [
            _port_spec(name, main.node_outputs.get(value, value), main.values.get(value, Value()))
            for name, value in main.results
        ]
        return Signature("forward", self.title, tuple(inputs), tuple(outputs))


def _wire_nodes(block: _Block, *, in_body: bool = False) -> NodeLists:
    """Replace the values in the inputs of a block's nodes by node outputs; in a body written as in functions,
    `node:out:1`."""
    nodes = block.nodes
    nodes.inputs = list(map(block.node_outputs.get, nodes.inputs, nodes.inputs))
    if in_body:
        arguments = {name for _, name, _ in block.arguments}
        nodes.inputs = [_body_input(name, arguments) if name else name for name in nodes.inputs]
    return nodes


def _message(nodes: NodeLists) -> GraphDef:
    return GraphDef.FromString(nodes.encoded_range(0, len(nodes.names)))


class ScopeNames:
    """Names of scopes: each call of a module is a scope, below the call of the module around it."""

    def __init__(self) -> None:
        self._scope_by_call: dict[tuple[str, str], str] = {}  # scope around, key of the call ─▶ scope
        self._count: Counter[tuple[str, str]] = Counter()  # scope around, path ─▶ calls
        self._last: list[tuple[str, str]] = []  # the calls around the previous op: keys and scopes
        self._last_modules: tuple[ModuleCall, ...] = ()  # these calls as modules
        self._last_scope = ""
        self._first_by_path: dict[str, str] = {}
        self._plain_scopes: dict[tuple[str, ...], str] = {}
        self._letters, self._cut = Meter(MAX_SCOPE_LETTERS_OF_PROGRAM), 0

    def scope_name(self, modules: tuple[ModuleCall, ...]) -> str:
        """Return the scope of an op in modules, outermost first."""
        if modules is self._last_modules:
            return self._last_scope
        around, path, same = "", "", 0  # number of calls that are around the previous op and this one
        for module, (key, scope) in zip(modules, self._last, strict=False):
            if key != (module.path if module.key is None else module.key):
                break
            around, path, same = scope, module.path, same + 1
        now = self._last[:same]
        for module in modules[same:]:
            if module.key is None:  # without keys, a call ends at the first op outside of its module
                now.append((module.path, self._new_call(around, path, module)))
            else:
                if (around, module.key) not in self._scope_by_call:
                    self._scope_by_call[around, module.key] = self._new_call(around, path, module)
                now.append((module.key, self._scope_by_call[around, module.key]))
            around, path = now[-1][1], module.path
        self._last, self._last_modules, self._last_scope = now, modules, around
        return around

    def plain_scope(self, parts: tuple[str, ...]) -> str:
        """Return the scope of an op in parts of a program whose classes are not known, outermost first."""
        scope = self._plain_scopes.get(parts)
        if scope is None:
            scope, path = "/".join(map(clean_segment, parts)), module_path(parts)
            if scope and path not in self._first_by_path:
                if not self._letters.take(len(scope)):
                    self._cut += 1
                    return ""
                self._first_by_path[path] = scope
            self._plain_scopes[parts] = scope
        return scope

    def _new_call(self, around: str, path: str, module: ModuleCall) -> str:
        self._count[around, module.path] += 1
        number = self._count[around, module.path]
        own = module.path.removeprefix(f"{path}.") if path else module.path
        attribute = f"{own}@{number}" if number > 1 else own
        kind = clean_segment(SCOPE_BRACKETS.sub("", module.class_name)) or "module"
        segment = f"{kind}[{clean_segment(attribute)}]" if attribute else kind
        scope = f"{around}/{segment}" if around else segment
        if not self._letters.take(len(scope)):
            self._cut += 1
            return around
        self._first_by_path.setdefault(module.path, scope)
        return scope

    def scope_of_node(self, scope: str) -> str:
        """Return the scope of a new node, whose name repeats all its letters; "" when there are too many letters."""
        if self._letters.take(len(scope)):
            return scope
        self._cut += 1
        return ""

    def scope_of_weight(self, name: str) -> tuple[str, str]:
        """Return the scope of the module that has a weight, and the name of the weight in it."""
        module, _, own = name.rpartition(".")
        if (scope := self._first_by_path.get(module)) is not None:
            return scope, own
        parts = name.split(".", MAX_LAYER_DEPTH)
        for cut in range(len(parts) - 1, 0, -1):
            if (scope := self._first_by_path.get(".".join(parts[:cut]))) is not None:
                return scope, ".".join(parts[cut:])
        return self._first_by_path.get("", ""), name

    def notices(self) -> tuple[Notice, ...]:
        """Return a notice if names were so long that modules have no scope."""
        if not self._cut:
            return ()
        text = "names of modules are so long that the last of them, or of their ops, have no scope"
        return (Notice("deep-names", text, count=self._cut),)


def module_path(parts: Iterable[str]) -> str:
    """Return the path of a module by the parts of a name, in which one exporter repeats the name of a container.

    >>> module_path(["layer1", "layer1.0", "conv1"]), module_path(["encoder", "0"])
    ('layer1.0.conv1', 'encoder.0')
    """
    path = before = ""
    for part in parts:
        own = part[len(before) + 1 :] if before and part.startswith(f"{before}.") else part
        path, before = f"{path}.{own}" if path else own, part
    return path


def _encode_settings(op: str, settings: Mapping[str, Any]) -> bytes:
    """Return the settings of an op as attributes, without defaults, which only some files write."""
    usual = attribute_defaults(op)
    return b"".join(
        encode_attribute(key, content)
        for key, content in sorted(settings.items())
        if key not in usual or not _is_equal_setting(content, usual[key])
    )


def clean_segment(text: str) -> str:
    """Return a text as one segment of a name.

    >>> clean_segment("a/b"), clean_segment("")
    ('a∕b', '_')
    """
    return text if text.isidentifier() else text.translate(NOT_IN_SEGMENTS).lstrip("^") or "_"


def _is_equal_setting(value: Any, usual: Any) -> bool:
    """Return whether a setting is the default; floats compare as float32."""
    if isinstance(value, float) and isinstance(usual, int | float):
        return abs(value - usual) <= 1e-6 * max(abs(value), abs(usual))
    if type(value) is not type(usual):
        return False
    return bool(value == usual)


def _body_input(name: str, arguments: Iterable[str]) -> str:
    """Return an input in the form of functions: an argument by its name, an output as `node:output:0`."""
    node, colon, place = name.rpartition(":")
    if not colon or not place.isdecimal():
        node, place = name, "0"
    return node if node in arguments else f"{node}:output:{place}"


def _port_spec(name: str, tensor: str, kind: Value) -> TensorSpec:
    """Return an input or an output of the program; named sizes are -1."""
    shape = tuple(max(-1, size) if isinstance(size, int) else -1 for size in kind.sizes or ())
    known = kind.sizes is not None and len(shape) <= MAX_DIMENSIONS
    return TensorSpec(name, tensor, kind.dtype if kind.dtype in DTYPE_NUMBERS else "", shape if known else None)
