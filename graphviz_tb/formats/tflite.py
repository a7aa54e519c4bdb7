"""Read TensorFlow Lite: the graph of one signature, with the subgraphs that it calls as functions.

Tensors have names, operators do not: an operator is named by its output. The converter fuses ops, and joins their
names: `relu/Relu;bn/add_1;conv/convolution`. The operator is drawn in the scope of its kernel, else of the part of the
name that fits its type; the card has the whole name. Its weights are drawn next to it, as `kernel` and `bias`.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from math import prod

from graphviz_tb.errors import MalformedProto, NoGraph, RequestError, UnknownChoice
from graphviz_tb.formats.contents import GraphContent, SourceContents, SourceItem
from graphviz_tb.formats.exported import MAY_REPEAT, ProgramBuilder, StoredWeight, clean_segment
from graphviz_tb.formats.tflite_file import (
    ABSENT,
    DAMAGED_HINT,
    LiteModel,
    LiteOperator,
    LiteSignature,
    LiteSubgraph,
    LiteTensor,
    decode_tflite,
)
from graphviz_tb.formats.wire_nodes import Value
from graphviz_tb.limits import MAX_PROGRAM_CONSTANT_BYTES
from graphviz_tb.model.graph import KEEPS_MORE_ATTR
from graphviz_tb.model.sources import Signature, SourceEntry, TensorSpec
from graphviz_tb.model.tensors import NON_INTEGER_DTYPES
from graphviz_tb.ops.roles import ASSIGN_OPS, Role, has_role
from graphviz_tb.ops.signatures import weight_input_names
from graphviz_tb.options import ReadOptions
from graphviz_tb.sources.bounds import check_listed_nodes
from graphviz_tb.sources.streams import OpenedSource

PREFIX = "tfl::"
FLEX = "Flex"  # prefix of the type of an op that TensorFlow runs
FORMAT_NAME = "TensorFlow Lite"
DEFAULT_SIGNATURE = "serving_default"
HANDLE_OP, READ_OP, ASSIGN_OP = "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE"
INITIALISER = "init_subgraph_index"  # the subgraph that runs once, before the first call
KERNEL_WORDS = ("kernel", "embeddings")
# The last segments in the names of an op, if these are not its type.
NAMES_OF_OPS = {
    "FULLY_CONNECTED": ("matmul", "einsum", "tensordot", "dense"),
    "BATCH_MATMUL": ("matmul", "einsum", "batchmatmul"),
    "TRANSPOSE_CONV": ("conv",),
    "LOGISTIC": ("sigmoid", "logistic"),
}
NAME_OF_RESULT = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?(?::\d+)?|Identity(?:_\d+)?|tfl\.\w+|arith\.\w+")
MAX_NAME_LETTERS = 20_000  # of the name of a tensor: ten times the longest that converters write
READ_SEGMENT = "ReadVariableOp"  # the last segment of a weight, never of an op
FOLDED_NORM = re.compile(r"/batchnorm/|/FusedBatchNorm")
# Constants that the converter computed from only the statistics of a norm without a scale or without an offset:
# `rsqrt(variance)`, `mean * rsqrt(variance)`. With a scale their name is `mul`, with an offset `sub`.
STATISTICS_OF_NORM = re.compile(r"[^;]*/batchnorm/(?:Rsqrt|mul_\d+)")
BODY_ATTRIBUTES = {  # fields of options ─▶ the attributes of TensorFlow
    "cond_subgraph_index": "cond",
    "body_subgraph_index": "body",
    "then_subgraph_index": "then_branch",
    "else_subgraph_index": "else_branch",
    "subgraph": "f",
    INITIALISER: "f",
    "decomposition_subgraph_index": "f",
}
OperatorInput = tuple[LiteOperator, int]  # an operator and the position of an input


def read_tflite(opened: OpenedSource, options: ReadOptions) -> SourceContents:
    """Return the graph of a file."""
    data = opened.data()
    model = decode_tflite(data, opened.name, opened.bounded)
    if not model.subgraphs:
        raise NoGraph(f"{opened.name}: a TensorFlow Lite model without a subgraph")
    if opened.bounded:
        check_listed_nodes(sum(len(subgraph.operators) for subgraph in model.subgraphs), len(data), opened.name)
    signatures = tuple(_signature(model, each) for each in model.signatures if each.subgraph < len(model.subgraphs))
    entry = SourceEntry("op", bytes=len(data), format=FORMAT_NAME, signatures=signatures)
    item = SourceItem(entry, partial(_content, model, signatures, opened.name, options.signature))
    return SourceContents((item,), what=opened.name)


def _content(model: LiteModel, signatures: tuple[Signature, ...], name: str, asked: str | None) -> GraphContent:
    """Return the graph of the requested signature, else of the default signature, else of the first subgraph."""
    keys = [signature.key for signature in model.signatures]
    if asked is not None and not signatures:
        raise RequestError("no signature can be chosen here: the source has none")
    if asked is not None and asked not in keys:
        raise UnknownChoice.among("signature", asked, keys)
    wanted = asked or (DEFAULT_SIGNATURE if DEFAULT_SIGNATURE in keys else next(iter(keys), None))
    chosen = next((signature for signature in model.signatures if signature.key == wanted), None)
    content = _ProgramReader(model, name, chosen).build_content()
    return replace(content, signatures=signatures, signature=wanted)


def _signature(model: LiteModel, signature: LiteSignature) -> Signature:
    tensors = model.subgraphs[signature.subgraph].tensors
    inputs, outputs = (
        tuple(
            TensorSpec(key, tensors[number].name, tensors[number].dtype, tensors[number].shape)
            for key, number in listed
            if number < len(tensors)
        )
        for listed in (signature.inputs, signature.outputs)
    )
    return Signature(signature.key, "", inputs, outputs)


class _ProgramReader:
    """Describes a subgraph, and the subgraphs that it calls, to the builder."""

    def __init__(self, model: LiteModel, name: str, signature: LiteSignature | None) -> None:
        self.model, self.name, self.signature = model, name, signature
        self.builder = ProgramBuilder()
        self.variables = _variables(model)
        self.changed: frozenset[str] = frozenset()  # variables that the program assigns
        self.bodies: dict[int, str] = {}  # subgraph ─▶ name of its function
        self.waiting: list[int] = []  # these subgraphs, in the order in which they are read
        self.weights: dict[tuple[int, int], StoredWeight] = {}  # range of bytes in the file ─▶ its first weight

    def build_content(self) -> GraphContent:
        first = self.signature.subgraph if self.signature else 0
        if first >= len(self.model.subgraphs):
            raise self._damage_error(f"the signature {self.signature.key!r} has no subgraph" if self.signature else "")
        self.changed = _changed_variables(self.model, first)
        self._add_subgraph(self.model.subgraphs[first])
        for number in self.waiting:  # grows while bodies call others
            self.builder.body = self.bodies[number]
            self._add_subgraph(self.model.subgraphs[number], in_body=True)
        self.builder.body = ""
        return self.builder.build()

    def _damage_error(self, what: str) -> MalformedProto:
        return MalformedProto(f"{self.name}: a damaged TensorFlow Lite file: {what}", hint=DAMAGED_HINT)

    def _add_subgraph(self, graph: LiteSubgraph, in_body: bool = False) -> None:
        for number in (*graph.inputs, *graph.outputs, *_tensors_of_operators(graph)):
            if number >= len(graph.tensors) or number < ABSENT:
                raise self._damage_error(f"tensor {number} of {len(graph.tensors)} in the subgraph {graph.name!r}")
        keys = {} if in_body or not self.signature else {number: key for key, number in self.signature.inputs}
        for number in graph.inputs:
            tensor = graph.tensors[number]
            name = keys.get(number) or tensor.name.partition(":")[0].rpartition("/")[2] or "input"
            self.builder.add_input(str(number), name, _value(tensor))
        subgraph = _SubgraphNames(graph)
        given = {number for operator in graph.operators for number in operator.outputs} | set(graph.inputs)
        for number in sorted(subgraph.uses.keys() | set(graph.outputs)):
            if number not in given and number != ABSENT:
                self._add_stored(subgraph, number)
        for place, operator in enumerate(graph.operators):
            self._add_operator(subgraph, place, operator)
        keys = {number: key for key, number in self.signature.outputs} if self.signature and not in_body else {}
        for place, number in enumerate(graph.outputs):
            self.builder.add_output(keys.get(number, f"output_{place}"), str(number))

    def _add_stored(self, subgraph: _SubgraphNames, number: int) -> None:
        """Add a tensor that is not an output: a weight, a constant or a state."""
        tensor = subgraph.graph.tensors[number]
        scope, own = subgraph.place_of_stored(number)
        if not tensor.variable and not self._is_weight(subgraph, number):
            small = tensor.data is not None and tensor.data[1] - tensor.data[0] <= MAX_PROGRAM_CONSTANT_BYTES
            content = self.model.read_bytes(tensor) if small else None
            self.builder.add_constant(str(number), scope, own, _value(tensor), content)
            return
        named = tensor.name.endswith(f"/{own}")  # by its own name, not by its role at an op, such as `kernel`
        weight = StoredWeight(
            tensor.name or f"tensor {number}",
            _value(tensor),
            buffer=tensor.variable or (named and STATISTICS_OF_NORM.fullmatch(tensor.name) is not None),
            attributes={**_storage_attributes(tensor), **subgraph.uncertainty_attributes(number)},
            place=(scope, own),
        )
        if tensor.data is not None:  # equal numbers are stored once
            weight = self.weights.setdefault(tensor.data, weight)
        self.builder.add_weight(str(number), weight)

    def _is_weight(self, subgraph: _SubgraphNames, number: int) -> bool:
        """Return whether a constant is a weight: floats, several of them or at a weight input, but not the initial
        value of a loop or a variable."""
        tensor = subgraph.graph.tensors[number]
        if tensor.dtype not in NON_INTEGER_DTYPES and tensor.quantization is None:
            return False
        uses = [
            use for use in subgraph.uses.get(number, ()) if use[0].op != ASSIGN_OP and not self._initialises_loop(use)
        ]
        several = tensor.shape is not None and prod(tensor.shape) > 1
        return bool(uses) and (several or any(_weight_word(operator, slot) for operator, slot in uses))

    def _initialises_loop(self, use: OperatorInput) -> bool:
        """Return whether a value is the initial value of a loop variable that the loop changes."""
        operator, slot = use
        number = operator.bodies.get("body_subgraph_index", -1)
        if not has_role(PREFIX + operator.op, Role.LOOP) or not 0 <= number < len(self.model.subgraphs):
            return False
        body = self.model.subgraphs[number]
        return slot < min(len(body.inputs), len(body.outputs)) and body.inputs[slot] != body.outputs[slot]

    def _add_operator(self, subgraph: _SubgraphNames, place: int, operator: LiteOperator) -> None:
        tensors = subgraph.graph.tensors
        if operator.op == HANDLE_OP and operator.outputs:
            name = str(operator.options.get("shared_name") or tensors[operator.outputs[0]].name)
            value = self.variables.get(name, Value())
            # A variable that never changes is a weight, whatever reads it.
            kept = name not in self.changed and value.dtype in NON_INTEGER_DTYPES
            buffer = not kept and not subgraph.is_read_as_weight(operator.outputs[0])
            state = StoredWeight(name, value, buffer=buffer, place=("", name))
            self.builder.add_weight(str(operator.outputs[0]), state)
            return
        scope, op_name = subgraph.place_of_operator(place)
        attributes = {key: value for key, value in operator.options.items() if value != ""}
        output_name = subgraph.output_name(place)
        if ";" in output_name:
            attributes["fused_ops"] = output_name
        quantised = [text for number in operator.outputs if (text := subgraph.storage_text(number))]
        if quantised:
            attributes["quantization"] = quantised if len(quantised) > 1 else quantised[0]
        kind = PREFIX + operator.op
        if operator.custom:
            attributes["custom"] = True
            if operator.op.startswith(FLEX):  # an op of TensorFlow
                kind = operator.op.removeprefix(FLEX) or kind
        self.builder.add_op(
            kind,
            scope,
            [subgraph.values[number] for number in operator.inputs],
            [subgraph.values[number] for number in operator.outputs],
            tuple([_value(tensors[number]) for number in operator.outputs]),
            marshal.dumps(attributes, 2),  # equal for equal settings; takes a third of the time of `repr`
            lambda: attributes,
            name=op_name,
            functions={BODY_ATTRIBUTES.get(key, key): self._body(number) for key, number in operator.bodies.items()},
        )

    def _body(self, number: int) -> str:
        """Return the name of the function of a subgraph."""
        if not 0 <= number < len(self.model.subgraphs):
            raise self._damage_error(f"subgraph {number} of {len(self.model.subgraphs)}")
        if number not in self.bodies:
            around = self.builder.body
            self.waiting.append(number)
            self.bodies[number] = self.builder.begin_body(
                clean_segment(self.model.subgraphs[number].name or "subgraph")
            )
            self.builder.body = around
        return self.bodies[number]


class _SubgraphNames:
    """Names and scopes of the ops and constants of a subgraph."""

    def __init__(self, graph: LiteSubgraph) -> None:
        self.graph, self._inputs = graph, frozenset(graph.inputs)
        self.values = [*map(str, range(len(graph.tensors))), ""]  # the last one is that of `ABSENT`, -1
        self.uses: dict[int, list[OperatorInput]] = {}  # tensor ─▶ the operators that use it
        self._maker: dict[int, int] = {}  # tensor ─▶ position of the operator with this output
        for place, operator in enumerate(graph.operators):
            for slot, number in enumerate(operator.inputs):
                if number != ABSENT:
                    self.uses.setdefault(number, []).append((operator, slot))
            for number in operator.outputs:
                self._maker.setdefault(number, place)
        self._place_by_operator = {id(operator): place for place, operator in enumerate(graph.operators)}
        # Caches: a tensor may belong to many operators.
        self._known: dict[int, tuple[str, str]] = {}
        self._storage_texts: dict[int, str] = {}
        self._scopes_of_kernels: dict[tuple[int, str], str] = {}
        self._used_as_weight: dict[int, bool] = {}

    def place_of_operator(self, place: int) -> tuple[str, str]:
        """Return the scope and the name of an operator."""
        if place not in self._known:
            self._known[place] = self._find_place(place)
        return self._known[place]

    def output_name(self, place: int) -> str:
        """Return the name of an operator's first output; "" if it is the output of an earlier operator."""
        outputs = self.graph.operators[place].outputs
        own = bool(outputs) and outputs[0] != ABSENT and self._maker[outputs[0]] == place
        return self.graph.tensors[outputs[0]].name if own else ""

    def storage_text(self, number: int) -> str:
        """Return how a tensor is quantised; "" if it is not, or is absent."""
        if number not in self._storage_texts:
            self._storage_texts[number] = "" if number == ABSENT else _storage_text(self.graph.tensors[number])
        return self._storage_texts[number]

    def _find_place(self, place: int) -> tuple[str, str]:
        operator = self.graph.operators[place]
        first = operator.outputs[0] if operator.outputs else ABSENT
        parts = _name_parts(self.output_name(place))
        if operator.op in ("DEQUANTIZE", "DENSIFY") and operator.inputs and operator.inputs[0] not in self._maker:
            used = self._final_use(first)
            return (self.place_of_operator(used[0])[0] if used else "", operator.op.lower())
        around = self._scope_of_kernel(operator)
        if around is not None:
            inside = [part for part in parts if part.rpartition("/")[0] == around]
            return (
                _split_name(_best_part(inside, operator.op)) if inside else (_clean_scope(around), operator.op.lower())
            )
        if parts:
            return _split_name(_best_part(parts, operator.op))
        # A result has no name: it is drawn in the scope of its input.
        before = self._maker.get(next(iter(operator.inputs), ABSENT), place)
        return (self._known[before][0] if before in self._known else "", operator.op.lower())

    def _scope_of_kernel(self, operator: LiteOperator) -> str | None:
        """Return the scope in the name of the kernel of an operator; None without one."""
        for slot, word in weight_input_names(PREFIX + operator.op).items():
            if word not in KERNEL_WORDS or slot >= len(operator.inputs):
                continue
            number = operator.inputs[slot]
            maker = self._maker.get(number)
            if maker is not None and self.graph.operators[maker].op in ("DEQUANTIZE", "DENSIFY"):
                number = next(iter(self.graph.operators[maker].inputs), ABSENT)
                maker = self._maker.get(number)
            if number == ABSENT or maker is not None or number in self._inputs:
                continue
            if (number, operator.op) not in self._scopes_of_kernels:
                part = _best_part(_name_parts(self.graph.tensors[number].name), operator.op)
                self._scopes_of_kernels[number, operator.op] = part.rpartition("/")[0]
            if scope := self._scopes_of_kernels[number, operator.op]:
                return scope
        return None

    def place_of_stored(self, number: int) -> tuple[str, str]:
        """Return the scope and the name of a constant: the scope of the op that uses it, and its role there."""
        used = self._final_use(number)
        word = _weight_word(self.graph.operators[used[0]], used[1]) if used is not None else ""
        parts = _name_parts(self.graph.tensors[number].name) if not word else []
        leaf = _best_part(parts, "").rpartition("/")[2] if parts else "constant"
        return self.place_of_operator(used[0])[0] if used is not None else "", word or leaf

    def uncertainty_attributes(self, number: int) -> dict[str, str | bool]:
        """Return attributes for the uncertainty about a weight. The bias of a convolution may contain a norm, or be the
        zeros of an op without a bias; a tensor that the converter named and several ops use may be several equal
        weights, stored once."""
        name, used = self.graph.tensors[number].name, self._final_use(number)
        made = NAME_OF_RESULT.fullmatch(name) is not None
        operator = self.graph.operators[used[0]] if used is not None else None
        if operator is not None and used is not None and _weight_word(operator, used[1]) == "bias":
            is_named_after_op = name.rpartition("/")[2].lower().startswith(_words_of_op(operator.op))
            if made or is_named_after_op or FOLDED_NORM.search(name):
                return {KEEPS_MORE_ATTR: True, MAY_REPEAT: ""}
        return {KEEPS_MORE_ATTR: True} if made and len(self.uses.get(number, ())) > 1 else {}

    def is_read_as_weight(self, handle: int) -> bool:
        """Return whether an op uses the value of a variable as a weight."""
        read = [operator.outputs for operator, _ in self.uses.get(handle, ()) if operator.op == READ_OP]
        return any(self._is_used_as_weight(number) for number in dict.fromkeys(chain.from_iterable(read)))

    def _is_used_as_weight(self, number: int) -> bool:
        if number not in self._used_as_weight:
            uses = self.uses.get(number, ())
            self._used_as_weight[number] = any(_weight_word(operator, slot) for operator, slot in uses)
        return self._used_as_weight[number]

    def _final_use(self, number: int) -> tuple[int, int] | None:
        """Return the first operator that uses a value, past operators that only dequantize it, and the position of the
        input."""
        for _ in range(4):
            if number not in self.uses:
                return None
            operator, slot = self.uses[number][0]
            if operator.op not in ("DEQUANTIZE", "DENSIFY") or not operator.outputs:
                return self._place_by_operator[id(operator)], slot
            number = operator.outputs[0]
        return None


def _name_parts(name: str) -> list[str]:
    """Return the names of the fused ops in the name of a tensor; none for the name of a result. A number at the end
    makes a name unique.

    >>> _name_parts("relu/Relu;conv/convolution;1"), _name_parts("StatefulPartitionedCall:0")
    (['relu/Relu', 'conv/convolution'], [])
    """
    if len(name) > MAX_NAME_LETTERS:
        return []
    parts = [part for part in name.split(";") if part.rpartition("/")[2] not in ("", READ_SEGMENT)]
    return [part for part in parts if "/" in part or not (part.isdecimal() or NAME_OF_RESULT.fullmatch(part))]


def _best_part(parts: Sequence[str], op: str) -> str:
    """Return the part that names an op of this type, else the last: the op into which the others were fused.

    >>> _best_part(["bn/batchnorm/add", "conv/convolution", "bn/batchnorm/sub"], "CONV_2D")
    'conv/convolution'
    """
    fitting = [part for part in parts if op and part.rpartition("/")[2].lower().startswith(_words_of_op(op))]
    return (fitting or list(parts) or [""])[-1]


def _words_of_op(op: str) -> tuple[str, ...]:
    """Return the words with which the names of an op begin."""
    return NAMES_OF_OPS.get(op, (op.partition("_")[0].lower(),))


def _split_name(name: str) -> tuple[str, str]:
    scope, _, own = name.rpartition("/")
    return _clean_scope(scope), own


@lru_cache(maxsize=128)
def _clean_scope(scope: str) -> str:
    return "/".join(clean_segment(segment) for segment in scope.split("/") if segment)


def _weight_word(operator: LiteOperator, slot: int) -> str:
    """Return the name of the weight at an input of an operator; "" if the input is not a weight."""
    return weight_input_names(PREFIX + operator.op).get(slot, "")


def _value(tensor: LiteTensor) -> Value:
    return _kind(tensor.shape, tensor.dtype)


@lru_cache(maxsize=1024)  # thousands of tensors have a few dozen shapes
def _kind(shape: tuple[int, ...] | None, dtype: str) -> Value:
    return Value(None if shape is None else tuple([None if size < 0 else size for size in shape]), dtype)


def _tensors_of_operators(graph: LiteSubgraph) -> Iterator[int]:
    for operator in graph.operators:
        yield from operator.inputs
        yield from operator.outputs


def _storage_text(tensor: LiteTensor) -> str:
    """Return how a tensor is quantised: "int8, scale 0.0039, zero point -128"; "" if it is not."""
    if tensor.quantization is None:
        return ""
    scales, zeros, axis = tensor.quantization
    if len(scales) > 1:
        between = f"{len(scales)} scales from {min(scales):.3g} to {max(scales):.3g}"
        return f"{tensor.dtype}, {between}, one for each of axis {axis}"
    zero = f", zero point {zeros[0]}" if zeros and zeros[0] else ""
    return f"{tensor.dtype}, scale {scales[0]:.3g}{zero}"


def _storage_attributes(tensor: LiteTensor) -> dict[str, str | bool]:
    text = _storage_text(tensor)
    return {**({"quantization": text} if text else {}), **({"sparse": True} if tensor.sparse else {})}


def _variables(model: LiteModel) -> dict[str, Value]:
    """Return shape and type of each variable, from a value that is read from it or written to it."""
    found: dict[str, Value] = {}
    for graph, handles in zip(model.subgraphs, _handles_by_subgraph(model), strict=True):
        for operator in graph.operators:
            taken = operator.inputs if operator.op == ASSIGN_OP else (*operator.inputs, *operator.outputs)
            if operator.op in (READ_OP, ASSIGN_OP) and len(taken) == 2 and 0 <= taken[1] < len(graph.tensors):
                found.setdefault(handles.get(taken[0], ""), _value(graph.tensors[taken[1]]))
    return found


def _handles_by_subgraph(model: LiteModel) -> list[dict[int, str]]:
    """Return the names of the variables of each subgraph, by the tensors of their handles; calls, loops and branches
    hand them on."""
    found = [_own_handles(graph) for graph in model.subgraphs]
    calls = [[operator for operator in graph.operators if operator.bodies] for graph in model.subgraphs]
    waiting = [number for number, held in enumerate(found) if held]
    while waiting:
        number = waiting.pop()
        for operator in calls[number]:
            for body in {*operator.bodies.values()}:
                inputs = model.subgraphs[body].inputs if 0 <= body < len(found) else ()
                passed = operator.inputs[-len(inputs) :] if inputs else ()  # the condition of a branch comes first
                handed = {
                    inner: found[number][outer]
                    for inner, outer in zip(inputs, passed, strict=False)
                    if outer in found[number] and inner not in found[body]
                }
                if handed:
                    found[body].update(handed)
                    waiting.append(body)
    return found


def _own_handles(graph: LiteSubgraph) -> dict[int, str]:
    """Return the names of the variables whose handles a subgraph makes, by the tensors of these handles."""
    return {
        operator.outputs[0]: str(operator.options.get("shared_name") or graph.tensors[operator.outputs[0]].name)
        for operator in graph.operators
        if operator.op == HANDLE_OP and operator.outputs and 0 <= operator.outputs[0] < len(graph.tensors)
    }


def _changed_variables(model: LiteModel, first: int) -> frozenset[str]:
    """Return the names of the variables that a subgraph, or one that it calls, assigns, but not only to begin with."""
    changed: set[str] = set()
    reached, waiting = {first}, [first]
    handles_by_subgraph = _handles_by_subgraph(model)
    while waiting:
        number = waiting.pop()
        graph, handles = model.subgraphs[number], handles_by_subgraph[number]
        for operator in graph.operators:
            if operator.op == ASSIGN_OP or operator.op.removeprefix(FLEX) in ASSIGN_OPS:
                changed.update(handles[number] for number in operator.inputs[:1] if number in handles)
            called = {body for field, body in operator.bodies.items() if field != INITIALISER} - reached
            waiting += sorted(body for body in called if 0 <= body < len(model.subgraphs))
            reached |= called
    return frozenset(changed)
