"""Inference of outputs on demand, each node once per set of arguments.

ask       for an output that is shown
apply     the signature or rule of the op, its fold (rules/folds.py), or the function that it calls (calls.py)
wait      for the inputs that a rule reads, recursively: on an explicit stack, since chains may be a million
          nodes long; outputs that no rule reads are never inferred
settle    compare the assumed values of loops with the inferred ones (loops.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock

from graphviz_tb.algorithms.output_dtypes import output_dtypes
from graphviz_tb.annotate.definitions import DefinitionNumbers, layer_nodes
from graphviz_tb.annotate.infer.calls import CallInference
from graphviz_tb.annotate.infer.evaluator import Declared
from graphviz_tb.annotate.infer.frame import CallFrame, NotInferredError, OpInputs, Task
from graphviz_tb.annotate.infer.loops import Loops
from graphviz_tb.annotate.infer.op import Op, Outcomes, RuleResult
from graphviz_tb.annotate.infer.rules.folds import FOLDS
from graphviz_tb.annotate.infer.signatures import rule_for
from graphviz_tb.annotate.infer.symbols import HIDDEN, Symbols, fixed
from graphviz_tb.annotate.infer.values import (
    UNKNOWN,
    Contradiction,
    Dims,
    Elements,
    Out,
    join,
    join_outs,
    merge,
    renamed,
)
from graphviz_tb.annotate.infer.wiring import NodeInputs, OutputRef
from graphviz_tb.annotate.shapes import says_nothing
from graphviz_tb.limits import FOLDED_ELEMENTS, REMEMBERED_OPS, SIZES_OF_OP
from graphviz_tb.model.dtypes import NO_WHOLE
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import MOST_DIMENSIONS, Shape
from graphviz_tb.ops.roles import FRAME_MERGES, HANDLES, INPUTS, NEXT_ELEMENTS, OPTIONAL_VALUES, VARIABLES


class Inference:
    """Infers the outputs of a graph. `declared` returns the shapes that the file declares for the outputs of a node."""

    def __init__(self, graph: Graph, declared: Declared, definitions: DefinitionNumbers) -> None:
        self.graph = graph
        self.declared = declared
        self.lock = RLock()  # threads may draw one model at once: one of them infers, the rest wait
        self.wiring = NodeInputs(graph)
        self.symbols = Symbols()
        self.definitions = definitions
        self.main = CallFrame(-1)
        self.calls = CallInference(self)
        self.loops = Loops(self, self.calls)
        self.contradictions: dict[int, None] = {}
        self._shared: dict[int, tuple[Out, ...]] = {}
        self.outcomes = Outcomes()
        self._layers = frozenset(layer_nodes(graph))  # rules are for ops: a Keras layer "Conv2D" is not the op
        self._argument: list[bool] = (graph.definition < 0).tolist()
        self._ops: list[str] = [graph.op_types[op] for op in graph.op.tolist()]
        # Special nodes, whose inputs are all inferred before them.
        special = graph.of_types((FRAME_MERGES | MAYBE_HANDLES).__contains__) | (graph.definition < 0)
        special[[*self.wiring.calls, *self._layers]] = True
        self._whole: list[bool] = special.tolist()

    @property
    def limited(self) -> bool:
        """Return whether inference stopped somewhere, as the whole file would take minutes or fill memory."""
        return self.calls.limited or self.symbols.full

    def shape(self, node: int, output: int) -> Shape:
        """Return the shape of one output, merged over all calls of its function."""
        with self.lock:
            outs = self.outs(node)
        return told(outs[output].shape) if output < len(outs) else None

    def outs(self, node: int) -> tuple[Out, ...]:
        """Return the outputs of a node; for a node of a function, the common part of all its calls."""
        function = int(self.graph.function[node])
        if function < 0:
            # Only nodes of functions have several frames.
            return self.ask(self.main, node)
        outs = self._shared.get(node)
        if outs is None:
            frames = self.calls.frames_of(function)
            each = [self.ask(frame, node) for frame in frames]
            outs = each[0]
            for other in each[1:]:
                pairs = zip(outs, other, strict=False)
                outs = tuple(join_outs(mine, another, self.symbols) for mine, another in pairs)
            self._shared[node] = outs
        return outs

    def first(self, node: int) -> Out:
        """Return the first output of a node; `UNKNOWN` where none was inferred."""
        return next(iter(self.outs(node)), UNKNOWN)

    def ask(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Return the outputs of a node in a frame, inferring everything that they need."""
        if node not in frame.outs:
            self.loops.settle(frame, node)
        return frame.outs[node]

    def run(self, frame: CallFrame, node: int) -> None:
        """Infer a node and its inputs, under the current assumptions about loops (`Loops`)."""
        stack: list[Task] = [(frame, node)]
        while stack:
            frame, node = stack[-1]
            if node in frame.outs:
                stack.pop()
                continue
            missing = self.infer(frame, node)
            if missing:
                stack += missing
                continue
            frame.waiting.pop(node, None)
            self.loops.note(frame, node)
            stack.pop()

    def infer(self, frame: CallFrame, node: int) -> Sequence[Task]:
        """Infer a single node; or return the tasks to do first: inputs that its rule reads next, results of calls."""
        inputs, whole = frame.waiting.get(node), self._whole[node]
        # Inputs of calls and loop heads are requested once; tasks of a call are requested again in each round.
        if inputs is None:
            inputs = frame.waiting[node] = OpInputs(frame, self.wiring.inputs(node))
            if whole and (missing := self.needs(node, inputs)):
                return inputs.tasks(missing)
        if whole and node in self.wiring.calls and (tasks := self.calls.needs(frame, node)):
            return tasks
        outs: tuple[Out, ...] | list[int] | None = self.special(frame, node, inputs) if whole else None
        if outs is None:
            outs = self.like_others(node, inputs)
        if isinstance(outs, list):
            return inputs.tasks(outs)
        frame.outs[node] = outs
        return ()

    def needs(self, node: int, inputs: OpInputs) -> list[int]:
        """Return the places of the inputs that are not inferred, except back edges into a loop head."""
        missing = [place for place in range(len(inputs)) if inputs.inferred(place) is None]
        # A loop head is inferred from its outside inputs; back edges are compared later (loops.py).
        if missing and self.op(node) in FRAME_MERGES:
            backs = self.loops.backs(node)
            return [place for place in missing if inputs.sources[place] not in backs]
        return missing

    def op(self, node: int) -> str:
        """Return the op type of a node."""
        return self._ops[node]

    def input(self, frame: CallFrame, source: OutputRef | None) -> Out:
        """Return the output that an input takes; `UNKNOWN` where it is on a cycle that is not a loop."""
        if source is None:
            return UNKNOWN
        outs = frame.outs.get(source[0])
        return outs[source[1]] if outs is not None and source[1] < len(outs) else UNKNOWN

    def taken(self, frame: CallFrame, node: int) -> list[Out]:
        """Return the inputs of a node, all inferred as far as possible."""
        sources = self.wiring.inputs(node)
        for source in sources:
            if source is not None:
                self.ask(frame, source[0])
        return [self.input(frame, source) for source in sources]

    def special(self, frame: CallFrame, node: int, inputs: OpInputs) -> tuple[Out, ...] | None:
        """Return the outputs of a node that depend on more than its definition and inputs; None if they do not."""
        if self._argument[node]:
            return (self.calls.argument(frame, node),)
        if self._ops[node] in FRAME_MERGES and (head := self.loops.head(frame, node)) is not None:
            # The value, and the index of the chosen input.
            return (head, Out(()))
        if node in self._layers:
            return self.said(node, ())
        if node in self.wiring.calls:
            results = self.calls.results(frame, node)
            return self.said(node, results if self.kept(results) else ())
        # The shape in a handle comes from other nodes.
        return self.alone(node, inputs) if self._ops[node] in MAYBE_HANDLES else None

    def like_others(self, node: int, inputs: OpInputs) -> tuple[Out, ...] | list[int]:
        """Return the outputs of an op, reusing those of an equal op; or the places of the inputs that its rule reads
        and that are not inferred."""
        definition = self.definitions.of(node)
        known = self.outcomes.find(definition, inputs)
        if isinstance(known, int):
            return [known]
        if known is not None and (names := self.symbols.again(known[1])) is not None:
            return renamed(known[0], names) if names else known[0]
        before, remember = self.symbols.asked, len(self.outcomes) < REMEMBERED_OPS
        try:
            outs = self.alone(node, inputs)
        except NotInferredError as wanted:
            self.symbols.undo(before)
            if remember:
                self.outcomes.keep(definition, inputs, wanted.places[0])
            return wanted.places
        asked = self.symbols.asked_since(before)
        # A contradiction is reported for each op.
        if remember and node not in self.contradictions:
            self.outcomes.keep(definition, inputs, None if asked is None else (outs, asked))
        return outs

    def alone(self, node: int, ins: Sequence[Out]) -> tuple[Out, ...]:
        """Return the outputs of an op that calls nothing, from its definition and its inputs; those of a handle depend
        on the node."""
        definition = self.graph.node_def(node)
        assert definition is not None, "only arguments of functions have none"
        if says_nothing(self.graph, definition):
            return self.said(node, (UNKNOWN,))
        op = Op(definition, ins, self.symbols)
        outs = self.inferred(op)
        if definition.op in GIVEN:
            outs = tuple([self.with_batch(out) for out in outs])
        if is_handle(op) and (not outs or outs[0].held is None):
            outs = (self.handle_of(node),)
        return self.said(node, outs)

    def said(self, node: int, outs: tuple[Out, ...]) -> tuple[Out, ...]:
        """Merge outputs with the shapes that the file declares."""
        return self.with_declared(node, outs, self.declared(node, self.graph.node_def(node)))

    def with_batch(self, out: Out) -> Out:
        """Replace an unknown first size of a value from outside by a batch size."""
        if not out.shape or out.shape[0] > HIDDEN:
            return out
        return Out((self.symbols.batch(), *out.shape[1:]), out.value, out.held)

    def handle_of(self, node: int) -> Out:
        """Return the handle of a variable whose shape other nodes state: its reads and assignments."""
        shape = self.graph.meaning.shapes().get(node)
        return Out(
            (), None, None if shape is None else tuple(self.symbols.fresh() if size is None else size for size in shape)
        )

    def inferred(self, op: Op) -> tuple[Out, ...]:
        """Return the outputs by the rule of the op, with elements if it has a fold; () if it has no rule."""
        rule = rule_for(op.definition.op)
        if rule is None:
            return ()
        try:
            given = rule(op)
            if not self.kept(given):
                return ()
            outs = tuple([sensible(each) for each in given])
            value = self.elements(op, outs[0].shape) if outs else None
        except (Contradiction, *ILL_FORMED):
            return ()  # TensorFlow would refuse this graph
        # If the elements disagree with the shape, drop the elements.
        if value is not None and len(value) == count(outs[0].shape):
            outs = (Out(outs[0].shape, value, outs[0].held), *outs[1:])
        return outs

    def elements(self, op: Op, shape: Dims) -> Elements | None:
        """Return the elements of the first output if it is small and of integers, else None."""
        fold = FOLDS.get(op.definition.op)
        if fold is None or output_dtypes(op.definition)(0) in NO_WHOLE or not self.followed(shape):
            return None
        return fold(op)

    def followed(self, shape: Dims) -> bool:
        """Return whether to track the elements of such a tensor: small ones always, large ones within the memory
        budget."""
        if not fixed(shape):
            return False
        number = count(shape)
        return number <= MOST_DIMENSIONS or (number <= FOLDED_ELEMENTS and self.symbols.room_for(number))

    def kept(self, given: RuleResult) -> bool:
        """Return whether there is room for the sizes of some outputs; a few always fit. A few bytes of a file can claim
        many outputs of the largest rank."""
        number = sum(len((each.shape if isinstance(each, Out) else each) or ()) for each in given)
        return number <= SIZES_OF_OP or self.symbols.room_for(number)

    def with_declared(self, node: int, outs: tuple[Out, ...], declared: list[Shape] | None) -> tuple[Out, ...]:
        """Merge outputs with declared shapes, which win if they say more, or contradict."""
        if declared is None:
            return outs
        # An op without a rule has as many outputs as are declared.
        padded = [*outs, *[UNKNOWN] * (len(declared) - len(outs))]
        for index, shape in enumerate(declared):
            if shape is None:
                continue
            # HIDDEN itself means "any size" during the merge; each remaining one becomes a separate symbol.
            said = tuple(HIDDEN if size is None else size for size in shape)
            try:
                both = merge(padded[index].shape, said)
            except Contradiction:
                self.contradictions[node] = None
                both = said
                padded[index] = UNKNOWN
            # Without a rule, an unknown first size is the batch, as is usual in such files.
            ruled = padded[index].shape is not None
            dims = tuple(
                size if size != HIDDEN else self.symbols.fresh() if ruled or place else self.symbols.batch()
                for place, size in enumerate(both or ())
            )
            padded[index] = Out(dims, padded[index].value, padded[index].held)
        return tuple(padded)

    def join(self, a: Dims, b: Dims) -> Dims:
        """Return the common part of two shapes: a new symbol for each size that differs."""
        return join(a, b, self.symbols)


def is_handle(op: Op) -> bool:
    """Return whether an op gives the handle of a variable: it makes one, or receives one from outside.

    >>> from graphviz_tb.proto import NodeDef
    >>> given = NodeDef(op="_Arg", attr={"T": {"type": 20}})
    >>> is_handle(Op(given, [], Symbols())), is_handle(Op(NodeDef(op="_Arg", attr={"T": {"type": 1}}), [], Symbols()))
    (True, False)
    """
    kind = op.definition.op
    if kind in INPUTS:
        return "resource" in (op.attr("T"), op.attr("dtype"))
    return kind in HANDLES and kind in VARIABLES


MAYBE_HANDLES = INPUTS | (HANDLES & VARIABLES)  # the ops of `is_handle`
GIVEN = INPUTS | NEXT_ELEMENTS | OPTIONAL_VALUES  # values from outside

# Raised by rules if an attribute has the wrong kind, for example a list of shapes in place of a shape.
ILL_FORMED = (TypeError, ValueError, LookupError, ArithmeticError, AttributeError)


def sensible(given: Dims | Out) -> Out:
    """Convert the result of a rule to an output; an impossible shape (a negative size, too many dimensions) becomes
    unknown."""
    out = given if isinstance(given, Out) else Out(given)
    if not (is_shape(out.shape) and is_shape(out.held)):
        return UNKNOWN
    # Gathers of gathers can double the number of dimensions with each op.
    if max(len(out.shape or ()), len(out.held or ())) > MOST_DIMENSIONS:
        return UNKNOWN
    if out.shape:
        for size in out.shape:
            # Negative, but not a symbol.
            if HIDDEN < size < 0:
                return Out(None, None, out.held)
    return out


def is_shape(dims: object) -> bool:
    """Return whether the result of a rule is a shape: a wrong attribute may be a text, a number, or a list of them.

    >>> is_shape((1, 2)), is_shape(None), is_shape("ab"), is_shape([1, 2]), is_shape(((1,),))
    (True, True, False, False, False)
    """
    return dims is None or (isinstance(dims, tuple) and all(isinstance(size, int) for size in dims))


def count(shape: Dims) -> int:
    """Return the number of elements of a known shape."""
    number = 1
    for size in shape or ():
        number *= size
    return number


def told(dims: Dims) -> Shape:
    """Return a shape without symbols: unknown sizes are None."""
    return None if dims is None else tuple(None if size <= HIDDEN else size for size in dims)
