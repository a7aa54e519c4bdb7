"""Explore a model in Python: nodes by name, sequences of layers and functions, search, tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphviz_tb.api.nodes import Node, NodeList, function_nodes, nodes_of_main_graph
from graphviz_tb.model.costs import Costs
from graphviz_tb.model.folded import FoldedGraph

if TYPE_CHECKING:
    import pandas

    import graphviz_tb
    from graphviz_tb.api.checked import CheckedModel
    from graphviz_tb.view import RowFinder


class ModelQueries(FoldedGraph):
    """Sequences of nodes, totals, search and conversions of a folded graph."""

    @property
    @abstractmethod
    def names(self) -> RowFinder:
        """The finder of rows by name."""

    @property
    @abstractmethod
    def cost(self) -> Costs:
        """Costs of all rows."""

    @abstractmethod
    def render(self, format: str = "svg", options: Any = None, **choices: Any) -> bytes:
        """Return the whole file as bytes."""

    @property
    def nodes(self) -> NodeList:
        """All ops of the main graph, in the order of the file."""
        return nodes_of_main_graph(self)

    @property
    def layers(self) -> NodeList:
        """Layers as listed in a Keras file, else the innermost scopes whose ops use weights."""
        from graphviz_tb.api.table import list_layers

        return list_layers(self)

    @property
    def functions(self) -> NodeList:
        """The functions of the library."""
        return function_nodes(self)

    @property
    def inputs(self) -> NodeList:
        """Nodes fed from outside: placeholders and arguments of the main graph."""
        from graphviz_tb.api.table import list_inputs

        return list_inputs(self)

    @property
    def outputs(self) -> NodeList:
        """Ops of the model itself whose tensors no other op in the main graph takes."""
        from graphviz_tb.api.table import list_outputs

        return list_outputs(self)

    @property
    def parameters(self) -> int:
        """Number of weights in the main graph, each variable once."""
        return self.cost.under(0).parameters

    @property
    def flops(self) -> int:
        """Floating point operations of one step; a lower bound if `cost.under(0)` has uncounted ops."""
        return self.cost.under(0).flops

    @property
    def size_bytes(self) -> int:
        """Size of all weights in bytes."""
        return self.cost.under(0).weight_bytes

    def __getitem__(self, name: str) -> Node:
        """Return the first op or group of a name or pattern. Raises `UnknownNode`, a `KeyError`."""
        return Node(self, self.names.find_paths(name)[0][-1])

    def __contains__(self, what: object) -> bool:
        """Return whether this is a node of the model, or the name of an op or group in the main graph."""
        if isinstance(what, Node):
            return what._model is self
        return isinstance(what, str) and self.names.find_main_row(what) >= 0

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        """Return the number of ops in the main graph, constants and weights included."""
        return len(self.nodes)

    def __bool__(self) -> bool:
        return True

    def find(self, *queries: str) -> NodeList:
        """Return the ops and groups that match every query: `find("**attn*", "op:MatMul")`, `find("params>1M")`.

        Queries are described in docs/find.md. Raises `RequestError` for an invalid one, `MissingFacts` if it asks for a
        quantity that is not known.
        """
        from graphviz_tb.api.finding import find_nodes

        return find_nodes(self, *queries)

    def check(self, *assertions: str, ignore_unknown: bool = False) -> CheckedModel:
        """Check assertions: `model.check("count(op:Cast) == 0", "params < 5M")` is true if every one passes.

        A partly unknown value passes only if the assertion holds whatever the unknown part is; with `ignore_unknown`
        the counted part decides (docs/ci.md). Raises `MalformedAssertion` for an invalid one, `MissingFacts` if nothing
        is known of a quantity.
        """
        from graphviz_tb.api.checking import check_assertions

        return check_assertions(self, assertions, ignore_unknown)

    def summary(self) -> None:
        """Print the layers with their shapes and parameters, as Keras' `model.summary()` does."""
        from graphviz_tb.api.table import layer_table

        print(layer_table(self))

    def diff(self, other: Any, **choices: Any) -> graphviz_tb.Changes:
        """Return the changes from this model to another: `graphviz_tb.diff(self, other)`."""
        import graphviz_tb

        return graphviz_tb.diff(self, other, **choices)

    def to_pandas(self) -> pandas.DataFrame:
        """Return all ops of the main graph as a `pandas.DataFrame`: name, kind, op, device, shape, parameters,
        flops."""
        return self.nodes.to_pandas()

    def to_html(self, **choices: Any) -> str:
        """Return the interactive page."""
        return self.render("html", **choices).decode()

    def to_dot(self, **choices: Any) -> str:
        """Return the picture in Graphviz' language."""
        return self.render("dot", **choices).decode()
