"""A folded graph whose levels are expanded on demand: each level, order and number is computed on first use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from graphviz_tb.annotate import main_output_shapes
from graphviz_tb.api.nodes import (
    Node,
    NodeList,
    layer_table,
    list_inputs,
    list_layers,
    list_outputs,
)
from graphviz_tb.api.rendered import CELL_PAGE_MB, CELL_PAGE_OPS, Drawable
from graphviz_tb.arrange.cache import ColumnBreaks
from graphviz_tb.arrange.level import ArrangeOptions, SkeletonCache, arrange
from graphviz_tb.color import SCHEMES, Colouring
from graphviz_tb.errors import MissingFacts, UnknownNode, require_type
from graphviz_tb.expand import Expander
from graphviz_tb.expand.members import MemberExpander
from graphviz_tb.model.columns import Bools, count_words
from graphviz_tb.model.costs import Cost, Costs
from graphviz_tb.model.facts import Facts, FoldedGraph, SavedView
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import FUNCTION_ROW, Hierarchy
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import RowPath, is_valid_path, join_address
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.sources import LoadedGraph
from graphviz_tb.model.subject import EncodableDocument, PictureStages
from graphviz_tb.model.tensors import Shape
from graphviz_tb.options import ExpandOptions, Options, PictureOptions
from graphviz_tb.progress import StageReport
from graphviz_tb.search.names import RowFinder

if TYPE_CHECKING:
    import pandas
    import polars

    import graphviz_tb
    from graphviz_tb.api.checking import CheckedModel
    from graphviz_tb.logs.training import TrainingLog
    from graphviz_tb.model.joins import TagJoin


class BaseModel(Drawable, FoldedGraph):
    """Nodes, totals, search, levels, shapes, costs and logged values of a folded graph; `view` is the applied view
    file, if any."""

    view: SavedView | None = None

    def __init__(
        self,
        hierarchy: Hierarchy,
        facts: Facts,
        options: Options,
        loaded: LoadedGraph | None = None,
        report: StageReport | None = None,
        source: Any = None,
        hidden: Bools | None = None,
    ) -> None:
        super().__init__(hierarchy, facts, options, loaded, source)
        self.report = report or StageReport()
        self.colouring: Colouring | None = None
        self.expander = Expander(hierarchy, facts, self._resolve_area_names(options.expand), hidden)
        self.members = MemberExpander(self.expander)
        self.arrangements = SkeletonCache()
        self.columns: dict[PictureOptions, ColumnBreaks] = {}  # columns of each first picture that was drawn

    @abstractmethod
    def render(self, format: str = "svg", options: Any = None, **choices: Any) -> bytes:
        """Return the whole file as bytes."""

    @property
    def nodes(self) -> NodeList:
        """All ops of the main graph, in the order of the file."""
        graph, rows = self.hierarchy.graph, self.hierarchy.row_of_node
        main = rows[np.flatnonzero(graph.function < 0)]
        return NodeList(self, main[main >= 0].tolist())

    @property
    def layers(self) -> NodeList:
        """Layers as listed in a Keras file, else the innermost scopes whose ops use weights."""
        return list_layers(self)

    @property
    def functions(self) -> NodeList:
        """The functions of the library."""
        return NodeList(self, np.flatnonzero(self.hierarchy.kind == FUNCTION_ROW).tolist())

    @property
    def inputs(self) -> NodeList:
        """Nodes fed from outside: placeholders and arguments of the main graph."""
        return list_inputs(self)

    @property
    def outputs(self) -> NodeList:
        """Ops of the model itself whose outputs no other op of the main graph uses."""
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

        Queries are described in docs/find.md. Raises `RequestError` for an invalid one, `MissingFacts` for a quantity
        that is not known.
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

    def _small_page(self) -> bytes | None:
        return self.render("html", page_max=CELL_PAGE_MB) if self.hierarchy.op_count(0) <= CELL_PAGE_OPS else None

    def summary(self) -> None:
        """Print the layers with their shapes and parameters, as Keras' `model.summary()` does."""
        print(layer_table(self))

    def diff(self, other: Any, **choices: Any) -> graphviz_tb.Changes:
        """Return the changes from this model to another: `graphviz_tb.diff(self, other)`."""
        import graphviz_tb

        return graphviz_tb.diff(self, other, **choices)

    @property
    def op_types(self) -> dict[str, int]:
        """Count the op types of the main graph, the most frequent first; without constants and weights."""
        graph = self.hierarchy.graph
        return count_words(graph.op[self._main_ops], graph.op_types)

    @property
    def devices(self) -> dict[str, int]:
        """Count the ops of the main graph by device, the most frequent first; "" is an op without a device."""
        graph = self.hierarchy.graph
        return count_words(graph.device[self._main_ops], graph.devices)

    @property
    def root(self) -> Node:
        """The whole graph as a node: its `children` are the outermost groups and ops."""
        return Node(self, 0)

    @property
    def _main_ops(self) -> Bools:
        graph = self.hierarchy.graph
        return np.asarray(graph.kept & (graph.mark == Mark.NONE) & (graph.function < 0))

    def to_polars(self) -> polars.DataFrame:
        """Return all ops of the main graph as a `polars.DataFrame`, with the columns of `to_pandas`."""
        return self.nodes.to_polars()

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

    @abstractmethod
    def picture(self, options: PictureOptions | None = None, **choices: Any) -> PictureStages:
        """Return a picture; equal options return the same object."""

    @abstractmethod
    def document(self) -> EncodableDocument:
        """Return the whole folded graph, ready to be written as JSON."""

    @abstractmethod
    def shortfalls(self, format: str, options: PictureOptions | None = None) -> tuple[Notice, ...]:
        """Return notices of requests that a format cannot meet fully."""

    @cached_property
    def names(self) -> RowFinder:
        """The finder of rows by name."""
        return RowFinder(self.hierarchy)

    def shapes(self) -> dict[tuple[str, int], Shape]:
        """Return the shape of every output of the main graph, by node name and output position.

        Unknown dimensions are None; a shape of unknown rank is None.

        >>> from graphviz_tb import load
        >>> load(b'node { name: "x" op: "NoOp" } node { name: "y" op: "Rank" }').shapes()
        {('y', 0): ()}
        """
        return main_output_shapes(self.hierarchy.graph, self.facts)

    def costs(self) -> dict[str, Cost]:
        """Return the cost of each node of the main graph by name: parameters, multiply-adds, FLOPs, bytes.

        The cost of a call is that of its functions; an unknown size counts as the option `batch`.
        """
        from graphviz_tb.annotate.costs import main_costs_by_name  # imports the rules of all ops

        return main_costs_by_name(self.hierarchy, self.cost)

    @property
    def cost(self) -> Costs:
        """Costs of all rows; `cost.under(0)` is the whole graph."""
        if self.facts.cost is None:
            raise MissingFacts("no costs: the shapes of this graph were not looked at")
        return self.facts.cost()

    def joins(self, tags: Iterable[str]) -> tuple[TagJoin, ...]:
        """Return the rows where tags of a log belong, and the rule that matched, in the order of the tags.

        >>> from graphviz_tb import load
        >>> model = load(b'node { name: "layer/x" op: "NoOp" }')
        >>> [(join.rule.value, join.rows) for join in model.joins(["layer/weight", "epoch_loss"])]
        [('path', (1,)), ('run', ())]
        """
        from graphviz_tb.logs.joins import join_tags  # imported late, as below: most pictures show no logged values

        return join_tags(self.hierarchy, tags)

    @cached_property
    def training(self) -> TrainingLog:
        """The source's log joined to the graph; read once. Raises `MissingFacts` if there is no log."""
        from graphviz_tb.logs.training import read_training_log

        source = self.files[0] if self.files else self.source
        return read_training_log(source, self.hierarchy)

    def facts_for_picture(self, options: PictureOptions) -> Facts:
        """Return the facts for one picture, with logged values if it is coloured by them."""
        if not SCHEMES[options.color_by].logged or self.colouring is not None:
            return self.facts
        from graphviz_tb.logs.training import logged_values_at_step

        return replace(self.facts, logged=logged_values_at_step(self.training, options, self.options.read.run))

    def facts_by_step(self, options: PictureOptions, most: int) -> Iterator[tuple[str, Facts]]:
        """Yield the facts for up to `most` logged steps; nothing for other colourings."""
        if SCHEMES[options.color_by].logged and self.colouring is None:
            from graphviz_tb.logs.training import logged_values_by_step

            for step, logged in logged_values_by_step(self.training, options, self.options.read.run, most):
                yield step, replace(self.facts, logged=logged)

    def metagraph(self, path: RowPath = (0,)) -> Metagraph:
        """Return the metagraph of the group at `path`: its children and the edges between them.

        Raises UnknownNode for a path that is not in the graph.
        """
        return self._expand_group(self.expander, path)

    def member_metagraph(self, path: RowPath) -> Metagraph:
        """Return the metagraph with a single member for each open stack."""
        return self._expand_group(self.members, path)

    def _expand_group(self, expander: Expander, path: RowPath) -> Metagraph:
        # Only work counts as a stage: cache hits would fill the progress bar with "expand".
        require_type("path", path, tuple)
        try:
            known = expander.cached_metagraph(path)
        except TypeError:  # values that are not rows are not hashable
            known = None
        if known is not None:
            return known
        # If the path around is known, only its last row can be wrong: paths may pass through thousands of calls.
        opened = path[:-1] and expander.cached_metagraph(path[:-1]) is not None
        if not is_valid_path(self.hierarchy, path[-2:] if opened else path):
            raise UnknownNode(f"no place {path!r} in this graph", hint="model.names.find('NAME') gives places")
        with self.report.stage("expand"):
            return expander.metagraph(path)

    def skeleton(self, path: RowPath = (0,), engine: str = "layered") -> Skeleton:
        """Return the drawing order of the group at `path`, in the default direction."""
        require_type("engine", engine, str)
        return arrange(self.metagraph(path), ArrangeOptions(engine), known=self.arrangements)

    def _resolve_area_names(self, options: ExpandOptions) -> ExpandOptions:
        """Replace patterns in `main` and `aux` by node names. Raises UnknownNode where one matches nothing."""

        def name(text: str) -> str:
            row = self.names.find_main_row(text)
            if row < 0:
                raise UnknownNode.among(text, (join_address([name]) for name in self.names.index(0)))
            return self.hierarchy.name[row]

        return replace(options, main=tuple(map(name, options.main)), aux=tuple(map(name, options.aux)))
