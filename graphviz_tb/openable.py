"""A folded graph whose levels are expanded on demand: each level, order and number is computed on first use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphviz_tb.annotate import main_output_shapes
from graphviz_tb.api.explored import ModelQueries
from graphviz_tb.arrange import ArrangeOptions, SkeletonCache, arrange
from graphviz_tb.color import SCHEMES, Colouring
from graphviz_tb.errors import MissingFacts, UnknownNode, require_type
from graphviz_tb.expand import Expander
from graphviz_tb.expand.members import MemberExpander
from graphviz_tb.model.columns import Bools
from graphviz_tb.model.costs import Cost, Costs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.loaded import LoadedGraph
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.paths import RowPath, is_valid_path, join_address
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.subject import EncodableDocument, PictureStages
from graphviz_tb.model.tensors import Shape
from graphviz_tb.options import ExpandOptions, Options, PictureOptions
from graphviz_tb.report import StageReport
from graphviz_tb.view import RowFinder

if TYPE_CHECKING:
    from graphviz_tb.model.joins import TagJoin
    from graphviz_tb.model.saved_view import SavedView
    from graphviz_tb.training import TrainingLog


class BaseModel(ModelQueries):
    """Levels, shapes, costs and logged values of a folded graph. `view` is the applied view file, if any."""

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

        A call costs what its functions do; an unknown size counts as the option `batch`.
        """
        from graphviz_tb.annotate.costs import main_costs_by_name  # the rules of all ops: pictures seldom need them

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
        >>> [(each.rule.value, each.rows) for each in model.joins(["layer/weight", "epoch_loss"])]
        [('path', (1,)), ('run', ())]
        """
        from graphviz_tb.join import join_tags  # here and below: most pictures show no logged values

        return join_tags(self.hierarchy, tags)

    @cached_property
    def training(self) -> TrainingLog:
        """The source's log joined to the graph; read once. Raises `MissingFacts` if there is no log."""
        from graphviz_tb.training import read_training_log

        source = self.files[0] if self.files else self.source
        return read_training_log(source, self.hierarchy)

    def facts_for_picture(self, options: PictureOptions) -> Facts:
        """Return the facts for one picture, with logged values if it is coloured by them."""
        if not SCHEMES[options.color_by].logged or self.colouring is not None:
            return self.facts
        from graphviz_tb.training import logged_values_at_step

        return replace(self.facts, logged=logged_values_at_step(self.training, options, self.options.read.run))

    def facts_by_step(self, options: PictureOptions, most: int) -> Iterator[tuple[str, Facts]]:
        """Yield the facts for up to `most` logged steps; nothing for other colourings."""
        if SCHEMES[options.color_by].logged and self.colouring is None:
            from graphviz_tb.training import logged_values_by_step

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
        # In an open call only the last step is new: do not walk paths through thousands of calls each time.
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
