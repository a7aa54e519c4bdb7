"""The engine as seen by the inference of calls and loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from graphviz_tb.annotate.infer.frame import CallFrame
from graphviz_tb.annotate.infer.symbols import Symbols
from graphviz_tb.annotate.infer.values import Out
from graphviz_tb.annotate.infer.wiring import NodeInputs, OutputRef
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.tensors import Shape
from graphviz_tb.proto import NodeDef

# The shapes that the file declares for the outputs of a node; None where it declares none.
DeclaredShapes = Callable[[int, NodeDef | None], list[Shape] | None]


class OutputEvaluator(Protocol):
    """Infers the outputs of nodes in frames."""

    graph: Graph
    declared: DeclaredShapes
    wiring: NodeInputs
    symbols: Symbols
    main: CallFrame

    def op_type(self, node: int) -> str:
        """Return the op type of a node."""

    def infer_outputs(self, frame: CallFrame, node: int) -> tuple[Out, ...]:
        """Infer the outputs of a node and all that they need."""

    def infer_with_inputs(self, frame: CallFrame, node: int) -> None:
        """Infer a node under the current assumptions about loops."""

    def input_output(self, frame: CallFrame, source: OutputRef | None) -> Out:
        """Return the output that an input takes, as far as it is inferred."""

    def merge_declared_shapes(self, node: int, outs: tuple[Out, ...], declared: list[Shape] | None) -> tuple[Out, ...]:
        """Merge inferred outputs with declared shapes."""
