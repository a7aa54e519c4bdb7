"""Inference of outputs on demand, each node once per set of arguments.

ask       for an output that is shown
apply     the signature or rule of the op, its fold (constant_folding.py), or the function that it calls (calls.py)
wait      for the inputs that a rule reads, recursively: on an explicit stack, since chains may be a million
          nodes long; outputs that no rule reads are never inferred
settle    compare the assumed values of loops with the inferred ones (calls.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock

from graphviz_tb.annotate.infer.calls import CallInference, LoopAssumptions
from graphviz_tb.annotate.infer.constant_folding import ELEMENT_FOLDS
from graphviz_tb.annotate.infer.frame import (
    CallFrame,
    DeclaredShapes,
    InferenceTask,
    NodeInputs,
    NotInferredError,
    OpInputs,
    OutputRef,
)
from graphviz_tb.annotate.infer.op import Op, RuleCache, RuleResult
from graphviz_tb.annotate.infer.signatures import shape_rule_for
from graphviz_tb.annotate.infer.symbols import (
    SYMBOL_LIMIT,
    UNKNOWN_OUTPUT,
    Contradiction,
    Dims,
    Elements,
    Out,
    Symbols,
    all_sizes_known,
    join_outputs,
    merge_dims,
    rename_output_symbols,
)
from graphviz_tb.annotate.shapes import DefinitionNumbers, has_ambiguous_shape, keras_layer_nodes
from graphviz_tb.graphs.tensors import output_dtype_lookup
from graphviz_tb.limits import MAX_CACHED_OPS, MAX_FOLDED_ELEMENTS, MAX_SIZES_PER_OP
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import MAX_DIMENSIONS, NON_INTEGER_DTYPES, Shape
from graphviz_tb.ops.roles import (
    FRAME_MERGE_OPS,
    HANDLE_OPS,
    INPUT_OPS,
    NEXT_ELEMENT_OPS,
    OPTIONAL_VALUE_OPS,
    VARIABLE_OPS,
)
from graphviz_tb.ops.table import equal_op


class Inference:
    """The inferred outputs of a graph. `declared` returns the shapes that the file declares for a node's outputs."""

    def __init__(self, graph: Graph, declared: DeclaredShapes, definitions: DefinitionNumbers) -> None:
        self.graph = graph
        self.declared = declared
        self.lock = RLock()  # threads may draw one model at once: one of them infers, the rest wait
        self.wiring = NodeInputs(graph)
        self.symbols = Symbols()
        self.definitions = definitions
        self.main = CallFrame(-1)
        self.calls = CallInference(self)
        self.loops = LoopAssumptions(self, self.calls)
        self.contradictions: dict[int, None] = {}
        self._shared: dict[int, tuple[Out, ...]] = {}
        self.outcomes = RuleCache()
        self._layers = frozenset(keras_layer_nodes(graph))  # rules are for ops: a Keras layer "Conv2D" is not the op
        self._argument: list[bool] = (graph.definition < 0).tolist()
        self._ops: list[str] = [graph.op_types[op] for op in graph.op.tolist()]
        # Special nodes, whose inputs are all inferred before them.
        special = graph.nodes_of_types((FRAME_MERGE_OPS | POSSIBLE_HANDLE_OPS).__contains__) | (graph.definition < 0)
        special[[*self.wiring.calls_by_node, *self._layers]] = True
        self._whole: list[bool] = special.tolist()

    @property
    def hit_limit(self) -> bool:
        """Return whether inference stopped somewhere at a limit of time or memory."""
        return self.calls.limited or self.symbols.is_full

    def output_shape(self, node: int, output: int) -> Shape:
        """Return the shape of one output, merged over all calls of its function."""
        with self.lock:
            outs = self.outputs_of_node(node)
        return _public_shape(outs[output].shape) if output < len(outs) else None

    def outputs_of_node(self, node: int) -> tuple[Out, ...]:
        """Return the outputs of a node; for a node of a function, the common part of all its calls."""
        function = int(self.graph.function[node])
        if function < 0:
            return self.infer_outputs(self.main, node)
        outs = self._shared.get(node)
        if outs is None:
            frames = self.calls.frames_of(function)
            each = [self.infer_outputs(frame, node) for frame in frames]
            outs = each[0]
            for other in each[1:]:
                pairs = zip(outs, other, strict=False)
                outs = tuple(join_outputs(mine, another, self.symbols) for mine, another in pairs)
            self._shared[node] = outs
        return outs

    def first_output(self, node: int) -> Out:
        """Return the first output of a node; `UNKNOWN_OUTPUT` if none was inferred."""
        return next(iter(self.outputs_of_node(node)), UNKNOWN_OUTPUT)

    def infer_outputs(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Return the outputs of a node in a frame, inferring everything that they need."""
        if node not in frame.outs:
            self.loops.infer_until_settled(frame, node)
        return frame.outs[node]

    def infer_with_inputs(self, frame: CallFrame, node: int) -> None:
        """Infer a node and its inputs, under the current assumptions about loops (`LoopAssumptions`)."""
        stack: list[InferenceTask] = [(frame, node)]
        while stack:
            frame, node = stack[-1]
            if node in frame.outs:
                stack.pop()
                continue
            missing = self.infer_once(frame, node)
            if missing:
                stack += missing
                continue
            frame.waiting.pop(node, None)
            self.loops.record_dependent(frame, node)
            stack.pop()

    def infer_once(self, frame: CallFrame, node: int) -> Sequence[InferenceTask]:
        """Infer a single node; or return the tasks to do first: inputs that its rule reads next, results of calls."""
        inputs, special = frame.waiting.get(node), self._whole[node]
        # Inputs of calls and loop heads are requested once; tasks of a call are requested again in each round.
        if inputs is None:
            inputs = frame.waiting[node] = OpInputs(frame, self.wiring.input_sources(node))
            if special and (missing := self.missing_places(node, inputs)):
                return inputs.tasks_for_places(missing)
        if special and node in self.wiring.calls_by_node and (tasks := self.calls.pending_tasks(frame, node)):
            return tasks
        outs: tuple[Out, ...] | list[int] | None = self.special_outputs(frame, node, inputs) if special else None
        if outs is None:
            outs = self.shared_outputs(node, inputs)
        if isinstance(outs, list):
            return inputs.tasks_for_places(outs)
        frame.outs[node] = outs
        return ()

    def missing_places(self, node: int, inputs: OpInputs) -> list[int]:
        """Return the places of the inputs that are not inferred, except back edges into a loop head."""
        missing = [place for place in range(len(inputs)) if inputs.output_at_place(place) is None]
        # A loop head is inferred from its outside inputs; back edges are compared later (calls.py).
        if missing and self.op_type(node) in FRAME_MERGE_OPS:
            backs = self.loops.back_inputs(node)
            return [place for place in missing if inputs.sources[place] not in backs]
        return missing

    def op_type(self, node: int) -> str:
        return self._ops[node]

    def input_output(self, frame: CallFrame, source: OutputRef | None) -> Out:
        """Return the output at an input; `UNKNOWN_OUTPUT` if it is in a cycle that is not a loop."""
        if source is None:
            return UNKNOWN_OUTPUT
        outs = frame.outs.get(source[0])
        return outs[source[1]] if outs is not None and source[1] < len(outs) else UNKNOWN_OUTPUT

    def infer_inputs(self, frame: CallFrame, node: int) -> list[Out]:
        """Return the inputs of a node, all inferred as far as possible."""
        sources = self.wiring.input_sources(node)
        for source in sources:
            if source is not None and source[0] not in frame.outs:
                self.infer_outputs(frame, source[0])
        return [self.input_output(frame, source) for source in sources]

    def special_outputs(self, frame: CallFrame, node: int, inputs: OpInputs) -> tuple[Out, ...] | None:
        """Return the outputs of a node that depend on more than its definition and inputs; None if they do not."""
        if self._argument[node]:
            return (self.calls.argument_output(frame, node),)
        if self._ops[node] in FRAME_MERGE_OPS and (head := self.loops.assumed_head(frame, node)) is not None:
            # The value, and the index of the chosen input.
            return (head, Out(()))
        if node in self._layers:
            return self.with_file_shapes(node, ())
        if node in self.wiring.calls_by_node:
            results = self.calls.call_results(frame, node)
            return self.with_file_shapes(node, results if self.has_room_for_outputs(results) else ())
        # The shape in a handle comes from other nodes.
        return self.outputs_by_rule(node, inputs) if self._ops[node] in POSSIBLE_HANDLE_OPS else None

    def shared_outputs(self, node: int, inputs: OpInputs) -> tuple[Out, ...] | list[int]:
        """Return the outputs of an op, reusing those of an equal op; or the places of the inputs that its rule reads
        and that are not inferred."""
        definition = self.definitions.number_of(node)
        known = self.outcomes.find(definition, inputs)
        if isinstance(known, list):
            return known
        if known is not None:
            equal_outs, requests = known
            if (names := self.symbols.repeat_request(requests)) is not None:
                return rename_output_symbols(equal_outs, names) if names else equal_outs
        state, has_room = self.symbols.request_state, len(self.outcomes) < MAX_CACHED_OPS
        try:
            outs = self.outputs_by_rule(node, inputs)
        except NotInferredError as wanted:
            self.symbols.undo_requests(state)
            if has_room:
                self.outcomes.store(definition, inputs, wanted.places)
            return wanted.places
        made = self.symbols.requests_since(state)
        # A contradiction is reported for each op.
        if has_room and node not in self.contradictions:
            self.outcomes.store(definition, inputs, None if made is None else (outs, made))
        return outs

    def outputs_by_rule(self, node: int, ins: Sequence[Out]) -> tuple[Out, ...]:
        """Return the outputs of an op that calls nothing, from its definition and its inputs; those of a handle depend
        on the node."""
        definition = self.graph.node_def(node)
        assert definition is not None, "only arguments of functions have none"
        if has_ambiguous_shape(self.graph, definition):
            return self.with_file_shapes(node, (UNKNOWN_OUTPUT,))
        op = Op(definition, ins, self.symbols)
        outs = self.apply_rule(op)
        if definition.op in OUTSIDE_VALUE_OPS:
            outs = tuple([self.with_batch_size(out) for out in outs])
        if _returns_variable_handle(op) and (not outs or outs[0].held is None):
            outs = (self.variable_handle(node),)
        return self.with_file_shapes(node, outs)

    def with_file_shapes(self, node: int, outs: tuple[Out, ...]) -> tuple[Out, ...]:
        """Merge outputs with the shapes that the file declares."""
        return self.merge_declared_shapes(node, outs, self.declared(node, self.graph.node_def(node)))

    def with_batch_size(self, out: Out) -> Out:
        """Replace an unknown first size of a value from outside by a batch size."""
        if not out.shape or out.shape[0] > SYMBOL_LIMIT:
            return out
        return Out((self.symbols.new_batch(), *out.shape[1:]), out.value, out.held)

    def variable_handle(self, node: int) -> Out:
        """Return the handle of a variable whose shape other nodes state: its reads and assignments."""
        shape = self.graph.meaning.shapes().get(node)
        return Out(
            (),
            None,
            None if shape is None else tuple(self.symbols.new_symbol() if size is None else size for size in shape),
        )

    def apply_rule(self, op: Op) -> tuple[Out, ...]:
        """Return the outputs by the rule of the op, with elements if it has a fold; () if it has no rule."""
        rule = shape_rule_for(op.definition.op)
        if rule is None:
            return ()
        try:
            given = rule(op)
            if not self.has_room_for_outputs(given):
                return ()
            outs = tuple([_sanitize_output(out) for out in given])
            value = self.folded_elements(op, outs[0].shape) if outs else None
        except (Contradiction, *ILL_FORMED_OP_ERRORS):
            return ()  # TensorFlow would refuse this graph
        # If the elements disagree with the shape, drop the elements.
        if value is not None and len(value) == _element_count_of_shape(outs[0].shape):
            outs = (Out(outs[0].shape, value, outs[0].held), *outs[1:])
        return outs

    def folded_elements(self, op: Op, shape: Dims) -> Elements | None:
        """Return the elements of the first output if it is small and of integers, else None."""
        fold = ELEMENT_FOLDS.get(equal_op(op.definition.op))
        if (
            fold is None
            or output_dtype_lookup(op.definition)(0) in NON_INTEGER_DTYPES
            or not self.follows_elements_of(shape)
        ):
            return None
        return fold(op)

    def follows_elements_of(self, shape: Dims) -> bool:
        """Return whether to track the elements of a tensor of this shape: always for small ones, within the memory
        budget for large ones."""
        if not all_sizes_known(shape):
            return False
        number = _element_count_of_shape(shape)
        return number <= MAX_DIMENSIONS or (number <= MAX_FOLDED_ELEMENTS and self.symbols.claim_if_room(number))

    def has_room_for_outputs(self, given: RuleResult) -> bool:
        """Return whether the memory budget allows the sizes of some outputs; a few always fit."""
        number = sum(len((out.shape if isinstance(out, Out) else out) or ()) for out in given)
        return number <= MAX_SIZES_PER_OP or self.symbols.claim_if_room(number)

    def merge_declared_shapes(self, node: int, outs: tuple[Out, ...], declared: list[Shape] | None) -> tuple[Out, ...]:
        """Merge outputs with declared shapes, which win if they say more, or contradict."""
        if declared is None:
            return outs
        # An op without a rule has as many outputs as are declared.
        padded = [*outs, *[UNKNOWN_OUTPUT] * (len(declared) - len(outs))]
        for index, shape in enumerate(declared):
            if shape is None:
                continue
            # `SYMBOL_LIMIT` means "any size" during the merge; then each that remains becomes a symbol.
            stated = tuple(SYMBOL_LIMIT if size is None else size for size in shape)
            try:
                merged = merge_dims(padded[index].shape, stated)
            except Contradiction:
                self.contradictions[node] = None
                merged = stated
                padded[index] = UNKNOWN_OUTPUT
            sizes = list(merged or ())
            for axis, size in enumerate(sizes):
                if size == SYMBOL_LIMIT:
                    # Without a rule, an unknown first size is the batch, as is usual in such files.
                    is_batch = axis == 0 and padded[index].shape is None
                    sizes[axis] = self.symbols.new_batch() if is_batch else self.symbols.new_symbol()
            padded[index] = Out(tuple(sizes), padded[index].value, padded[index].held)
        return tuple(padded)


def _returns_variable_handle(op: Op) -> bool:
    """Return whether the output of an op is the handle of a variable that it creates, or receives from outside.

    >>> from graphviz_tb.proto import NodeDef
    >>> given = NodeDef(op="_Arg", attr={"T": {"type": 20}})
    >>> (
    ...     _returns_variable_handle(Op(given, [], Symbols())),
    ...     _returns_variable_handle(Op(NodeDef(op="_Arg", attr={"T": {"type": 1}}), [], Symbols())),
    ... )
    (True, False)
    """
    kind = op.definition.op
    if kind in INPUT_OPS:
        return "resource" in (op.attr("T"), op.attr("dtype"))
    return kind in HANDLE_OPS and kind in VARIABLE_OPS


POSSIBLE_HANDLE_OPS = INPUT_OPS | (HANDLE_OPS & VARIABLE_OPS)  # the ops of `_returns_variable_handle`
OUTSIDE_VALUE_OPS = INPUT_OPS | NEXT_ELEMENT_OPS | OPTIONAL_VALUE_OPS  # values from outside

# Raised by rules for an attribute of the wrong kind, such as a list of shapes instead of a shape.
ILL_FORMED_OP_ERRORS = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)


def _sanitize_output(given: Dims | Out) -> Out:
    """Convert the result of a rule to an output; an impossible shape (a negative size, too many dimensions) becomes
    unknown."""
    out = given if isinstance(given, Out) else Out(given)
    if not (_are_dims(out.shape) and _are_dims(out.held)):
        return UNKNOWN_OUTPUT
    # Gathers of gathers can double the number of dimensions with each op.
    if max(len(out.shape or ()), len(out.held or ())) > MAX_DIMENSIONS:
        return UNKNOWN_OUTPUT
    if out.shape:
        for size in out.shape:
            # Negative, but not a symbol.
            if SYMBOL_LIMIT < size < 0:
                return Out(None, None, out.held)
    return out


def _are_dims(dims: object) -> bool:
    """Return whether the result of a rule is a shape: a wrong attribute may be a text, a number, or a list of them.

    >>> _are_dims((1, 2)), _are_dims(None), _are_dims("ab"), _are_dims([1, 2]), _are_dims(((1,),))
    (True, True, False, False, False)
    """
    return dims is None or (isinstance(dims, tuple) and all(isinstance(size, int) for size in dims))


def _element_count_of_shape(shape: Dims) -> int:
    number = 1
    for size in shape or ():
        number *= size
    return number


def _public_shape(dims: Dims) -> Shape:
    """Return a shape without symbols: unknown sizes are None."""
    return None if dims is None else tuple(None if size <= SYMBOL_LIMIT else size for size in dims)
