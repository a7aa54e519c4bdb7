"""Facts about nodes and tensors, facts and views of a user, and the folded graph that has them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from graphviz_tb.limits import MAX_CACHED_TENSORS, MAX_INDEX_OPS
from graphviz_tb.model.columns import Ints, sorted_value_range
from graphviz_tb.model.costs import Cost, Costs
from graphviz_tb.model.formatting import format_counted_noun, format_number
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import WEIGHT_MARK, Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.sources import URL_SEPARATOR, LoadedGraph, absolute_sources, regular_file_stats
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.tensors import INDEX_DTYPES, Tensor
from graphviz_tb.ops.roles import CONSTANT_OPS

if TYPE_CHECKING:
    from graphviz_tb.model.joins import LoggedValues
    from graphviz_tb.options import Options

# Facts that a user supplies about nodes: numbers and texts by name.

FactValue = float | str


@dataclass(frozen=True, slots=True, eq=False)
class UserFacts:
    """Columns by name, each with the values of some rows; `shown` is the column that colours the graph."""

    columns: Mapping[str, Mapping[int, FactValue]]
    shown: str

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in file order."""
        return tuple(self.columns)

    def values_of_row(self, row: int) -> dict[str, FactValue]:
        return {name: values[row] for name, values in self.columns.items() if row in values}

    def is_numeric(self, name: str) -> bool:
        """Return whether a column holds only numbers."""
        return all(not isinstance(value, str) for value in self.columns[name].values())

    def text_of_row(self, row: int) -> str:
        return " · ".join(f"{name}: {fact_text(value)}" for name, value in self.values_of_row(row).items())


def fact_text(value: FactValue) -> str:
    """Format a value for people.

    >>> fact_text("gpu"), fact_text(2.0), fact_text(0.123456)
    ('gpu', '2', '0.123')
    """
    return value if isinstance(value, str) else format_number(value, 3)


# A view file: patterns that decide how nodes are shown, options of folding and of pictures; and its colours by row.

Patterns = tuple[str, ...]
ByPattern = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view of any graph. A pattern is the name of a node or group, or a search query.

    `source` is the name of its file, "" for none; `open`, `aside`, `main` and `hide` are patterns of nodes to open, to
    move to the auxiliary area, to keep in the main area, and not to draw; `colors` assigns a colour (`#RRGGBB`) to the
    ops of a pattern, the last match winning; `titles` assigns labels to boxes. `choices` are options by name.
    """

    source: str = ""
    open: Patterns = ()
    aside: Patterns = ()
    main: Patterns = ()
    hide: Patterns = ()
    colors: ByPattern = ()
    titles: ByPattern = ()
    choices: tuple[tuple[str, Any], ...] = field(default=())


@dataclass(frozen=True, slots=True, eq=False)
class PatternColours:
    """`category` by row, -1 for none; the patterns `names` and their colours `tones` (`#RRGGBB`) by category."""

    category: Ints
    names: tuple[str, ...]
    tones: tuple[str, ...]


# Facts about nodes and tensors beyond the structure. Lazy: decoded when they are shown.


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Facts of one graph. `decode(node)` returns a lookup of the tensors of a node's outputs. `definition(node)`
    returns a number shared by nodes with equal definitions, apart from name, inputs, device and colocation (`_class`);
    -1 for an argument.

    `known` caches tensors by node and key as one number; `alike` stores equal tensors once.

    `stats` are joined run statistics, `before` statistics to compare with, `logged` the logged values that a picture
    shows, `painted` the colours of a view by pattern, `given` facts of a user; `odd` reports contradictions found by
    inference so far, `cost` the costs of ops, `costs_of` those of the ops in another hierarchy,
    `weights` the cost of all weights of the model.
    """

    graph: Graph
    decode: Callable[[int], Callable[[str], Tensor]] = field(repr=False)
    definition: Callable[[int], int] = field(repr=False)
    known: dict[int, Tensor] = field(default_factory=dict, repr=False)
    alike: dict[Tensor, Tensor] = field(default_factory=dict, repr=False)
    stats: Stats | None = None
    before: Stats | None = None
    logged: LoggedValues | None = None
    painted: PatternColours | None = None
    given: UserFacts | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    odd: Callable[[], tuple[Notice, ...]] = tuple
    cost: Callable[[], Costs] | None = None
    costs_of: Callable[[Hierarchy], Costs] | None = None
    weights: Callable[[], Cost] = Cost
    _makers: list[frozenset[int]] = field(default_factory=list, init=False, repr=False)  # cache of `_data_makers`
    _computed: set[int] = field(default_factory=set, init=False, repr=False)  # nodes that are known to compute data

    def of_rows(self, hierarchy: Hierarchy) -> Facts:
        """Return the facts for another hierarchy of the graph: keep what was inferred, drop facts by row."""
        cost = None if self.costs_of is None else partial(self.costs_of, hierarchy)
        kept = (self.graph, self.decode, self.definition, self.known, self.alike)
        return Facts(*kept, odd=self.odd, cost=cost, weights=self.weights)

    def tensor(self, node: int, key: int) -> Tensor:
        """Return the tensor of output `key` (an id into `Graph.keys`) of `node`."""
        number = node * len(self.graph.keys) + key
        tensor = self.known.get(number)
        if tensor is None:
            tensor = self.decode(node)(self.graph.keys[key])
            if len(self.known) < MAX_CACHED_TENSORS:  # bounded memory, however many lines are shown
                # Most tensors are equal to many other tensors.
                tensor = self.known[number] = self.alike.setdefault(tensor, tensor)
        return tensor

    def is_index(self, node: int, key: int) -> bool:
        """Return whether an output has indices, sizes or masks, or is computed from these and constants only (a mask of
        floats). An output that uses weights is data. An output that no input of the program reaches is an index."""
        if self.tensor(node, key).dtype in INDEX_DTYPES or not self.graph.meaning.from_inputs()[node]:
            return True
        graph, data_makers, uses_index, seen = self.graph, self._data_makers, False, {node: None}
        for current in (queue := [node]):
            if current in data_makers or current in self._computed or len(queue) > MAX_INDEX_OPS:
                self._computed.add(node)  # spares the search for outputs computed from it
                return False
            edges = slice(*sorted_value_range(graph.target, current, current + 1))
            columns = (column[edges].tolist() for column in (graph.control, graph.source, graph.key))
            data = [(source, output) for control, source, output in zip(*columns, strict=True) if not control]
            given = not data and graph.op_types[graph.op[current]] not in CONSTANT_OPS
            if given or any(source in data_makers for source, _ in data):  # needs no decoding
                self._computed.add(node)
                return False
            for source, output in data:
                if self.tensor(source, output).dtype in INDEX_DTYPES:
                    uses_index = uses_index or graph.op_types[graph.op[source]] not in CONSTANT_OPS
                elif source not in seen:
                    seen[source] = None
                    queue.append(source)
        return uses_index

    @property
    def _data_makers(self) -> frozenset[int]:
        """Nodes that use weights, or may: calls."""
        if not self._makers:
            graph, beside = self.graph, self.graph.beside
            users = beside.host[beside.inward & (graph.mark[beside.mark] == WEIGHT_MARK)].tolist()
            self._makers.append(frozenset((*users, *(call.node for call in graph.calls))))
        return self._makers[0]


# A folded graph: the result of the stages that run once per file.


class FoldedGraph:
    """The tree of groups over a flat graph, its facts, and the source of both."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        facts: Facts,
        options: Options,
        loaded: LoadedGraph | None = None,
        source: Any = None,
    ) -> None:
        self.hierarchy = hierarchy
        self.facts = facts
        self.options = options
        self.loaded = loaded
        self.source = source
        given = source, *options.read.run_metadata, *options.read.against
        # Input files, which are read later and which no output may overwrite: absolute paths, and stats to recognise
        # other names.
        self.files: tuple[Any, ...] = (*absolute_sources(given), *regular_file_stats(given))

    def __repr__(self) -> str:
        ops, edges = self.hierarchy.op_count(0), self.hierarchy.graph.edge_count
        return f"<{type(self).__name__}: {format_counted_noun(ops, 'op')}, {format_counted_noun(edges, 'edge')}>"

    @property
    def label(self) -> str:
        """The source and the choice of a graph in it, in words; "" for a graph that was not read."""
        return self.loaded.label if self.loaded else ""

    @property
    def name(self) -> str:
        """The name of the source without its folders, so that it does not depend on where the file is."""
        label = self.label
        source = PurePath(self.source) if isinstance(self.source, str | os.PathLike) else PurePath()
        if URL_SEPARATOR in label:  # a remote source
            whole, dot, part = label.partition(" · ")
            return PurePath(whole).name + dot + part
        inside = source.name and label.startswith(str(source))
        return source.name + label.removeprefix(str(source)) if inside else label

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices of reading and folding."""
        return (*(self.loaded.notices if self.loaded else ()), *self.hierarchy.notices)
