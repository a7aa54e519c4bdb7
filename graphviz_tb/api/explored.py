"""A model as one explores it in Python: its nodes by name, by what they are, as tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphviz_tb.api.nodes import Node, NodeList, functions, main_nodes
from graphviz_tb.model.costs import Costs
from graphviz_tb.model.folded import Folded

if TYPE_CHECKING:
    import pandas

    import graphviz_tb
    from graphviz_tb.api.checked import CheckedModel
    from graphviz_tb.view import RowFinder


class ExploredModel(Folded):
    """Sequences of nodes, totals, search and conversions of a folded graph."""

    @property
    @abstractmethod
    def names(self) -> RowFinder:
        """Finds rows by name."""

    @property
    @abstractmethod
    def cost(self) -> Costs:
        """The costs of all rows."""

    @abstractmethod
    def render(self, format: str = "svg", options: Any = None, **choices: Any) -> bytes:
        """The whole file as bytes."""

    @property
    def nodes(self) -> NodeList:
        """All ops of the main graph, in the order of the file."""
        return main_nodes(self)

    @property
    def layers(self) -> NodeList:
        """The layers: those that a Keras file lists, else the innermost scopes whose ops use weights."""
        from graphviz_tb.api.table import layers

        return layers(self)

    @property
    def functions(self) -> NodeList:
        """The functions of the library."""
        return functions(self)

    @property
    def inputs(self) -> NodeList:
        """What is fed from outside: placeholders and arguments of the main graph."""
        from graphviz_tb.api.table import inputs

        return inputs(self)

    @property
    def outputs(self) -> NodeList:
        """The ops of the model itself whose tensors nothing in the main graph takes."""
        from graphviz_tb.api.table import outputs

        return outputs(self)

    @property
    def parameters(self) -> int:
        """How many numbers the weights of the main graph hold, each variable once."""
        return self.cost.under(0).parameters

    @property
    def flops(self) -> int:
        """Floating point operations of one step; at least, where `cost.under(0)` has ops that are not counted."""
        return self.cost.under(0).flops

    @property
    def size_bytes(self) -> int:
        """What the weights take, in bytes."""
        return self.cost.under(0).weight_bytes

    def __getitem__(self, name: str) -> Node:
        """The op or group of a name or pattern, the first of several. Raises `UnknownNode`, a `KeyError`."""
        return Node(self, self.names.find(name)[0][-1])

    def __contains__(self, what: object) -> bool:
        """Whether an op or group of the main graph has this name, or is this node."""
        if isinstance(what, Node):
            return what._model is self
        return isinstance(what, str) and self.names.in_main(what) >= 0

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        """How many ops the main graph has, constants and weights among them."""
        return len(self.nodes)

    def __bool__(self) -> bool:
        return True

    def find(self, *queries: str) -> NodeList:
        """The ops and groups for which every query holds: `find("**attn*", "op:MatMul")`, `find("params>1M")`.

        A query is of the language of search (docs/find.md). Raises `RequestError` for one that is not understood,
        `MissingFacts` where it asks for a quantity that is not known.
        """
        from graphviz_tb.api.finding import find

        return find(self, *queries)

    def check(self, *assertions: str, ignore_unknown: bool = False) -> CheckedModel:
        """Check assertions: `model.check("count(op:Cast) == 0", "params < 5M")` is true where every one passes.

        What is not fully known passes only if it holds whatever the unknown part is; with `ignore_unknown` what is
        counted decides (docs/ci.md). Raises `MalformedAssertion` for one that is not understood, `MissingFacts`
        where it asks for a quantity that is not known at all.
        """
        from graphviz_tb.api.checking import check

        return check(self, assertions, ignore_unknown)

    def summary(self) -> None:
        """Print the layers with their shapes and parameters, as Keras' `model.summary()` does."""
        from graphviz_tb.api.table import summary_text

        print(summary_text(self))

    def diff(self, other: Any, **choices: Any) -> graphviz_tb.Changes:
        """What changes from this model to another: `graphviz_tb.diff(self, other)`."""
        import graphviz_tb

        return graphviz_tb.diff(self, other, **choices)

    def to_pandas(self) -> pandas.DataFrame:
        """All ops of the main graph as a `pandas.DataFrame`: name, kind, op, device, shape, parameters, flops."""
        return self.nodes.to_pandas()

    def to_html(self, **choices: Any) -> str:
        """The interactive page."""
        return self.render("html", **choices).decode()

    def to_dot(self, **choices: Any) -> str:
        """The picture in Graphviz' language."""
        return self.render("dot", **choices).decode()
