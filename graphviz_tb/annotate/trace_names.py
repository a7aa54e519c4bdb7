"""Find the op that a name in a trace means: TensorFlow inlines functions and lowers loops, and renames their ops.

call/inner                       a node of an inlined function
while/body/_5/add                a node of a loop's body (also cond/_4, then/_29, else/_30, branch1/_61)
while/merge/_12, Func/call/…     machinery of the call itself
x/_0__cf__0                      a constant that optimization folded out of x
inner                            a node of a function that runs outside of any call
conv/Conv2D:Conv2D               a kernel of conv/Conv2D
model_1/conv_1/Conv2D            an op of the layer model/conv, where the graph has layers for nodes
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from sys import intern

from graphviz_tb.annotate.devices import strip_kernel_name
from graphviz_tb.graphs.layer_rows import is_possible_layer_path, match_layers_to_scopes
from graphviz_tb.limits import (
    FEW_NAME_READINGS,
    MAX_NAME_READINGS,
    MAX_NAMED_CALLS,
    MAX_READ_NAME_PARTS,
    MAX_SEARCHED_FUNCTIONS,
)
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, function_row_of

# A scope may be read as nested calls in several ways, since names of calls may contain slashes.

LOWERED_SCOPE = re.compile(r"(then|else|cond|body|branch(\d+))/_\d+/")

# A call, its enclosing calls, and their number. A linked list, since tuples would take quadratic memory.
CallChain = tuple[int, "CallChain", int] | None
# A body, the start of the rest of the name in it, and the calls that lead to it, innermost first.
ScopeReading = tuple[int, int, CallChain]
ScopeReadings = tuple[list[ScopeReading], CallChain]  # all readings of a scope, and the longest chain of calls


@dataclass(frozen=True, slots=True)
class NamedCalls:
    """The rows of the calls of one body by name, and the lengths of these names."""

    rows: dict[str, int]
    lengths: frozenset[int]


def _path_of_chain(chain: CallChain) -> RowPath:
    """Return the calls of a chain, outermost first.

    >>> _path_of_chain((8, (3, None, 1), 2))
    (3, 8)
    """
    rows: list[int] = []
    while chain is not None:
        row, chain, _ = chain
        rows.append(row)
    return tuple(rows[::-1])


def _slash_positions(name: str, start: int, lengths: frozenset[int]) -> Iterator[int]:
    """Yield the slashes at which a part of a name that begins at `start` has one of some lengths.

    >>> list(_slash_positions("a/b/cd", 0, frozenset({1, 2, 3, 6})))
    [1, 3]
    """
    longest = max(lengths, default=-1)
    cut = name.find("/", start)
    while 0 <= cut - start <= longest:
        if cut - start in lengths:
            yield cut
        cut = name.find("/", cut + 1)


class BodyCalls:
    """The calls of each body. `index` returns the rows of a body's ops by name."""

    def __init__(self, hierarchy: Hierarchy, index: Callable[[int], dict[str, int]]) -> None:
        self.hierarchy, self.index = hierarchy, index
        self.lookups = 0
        self._named: dict[int, NamedCalls] = {}
        self._bodies: dict[int, dict[str, list[int]]] = {}
        self._readings: dict[tuple[int, str], ScopeReadings] = {}

    @property
    def has_budget(self) -> bool:
        """Return whether there is budget for every reading of a name."""
        return self.lookups < MAX_READ_NAME_PARTS

    def calls_of_body(self, block: int) -> NamedCalls:
        known = self._named.get(block)
        if known is None:
            calls = self.hierarchy.calls
            rows = {name: row for name, row in self.index(block).items() if row in calls}
            known = self._named[block] = NamedCalls(rows, frozenset(map(len, rows)))
        return known

    def readings_of_scope(self, block: int, scope: str) -> ScopeReadings:
        """Return all readings of a scope, the longest call first; shared by all names in the scope."""
        readings = self._readings.get((block, scope))
        if readings is None:
            readings = self._find_readings(block, scope)
            # Cache only readings made within the budget.
            if self.has_budget:
                self._readings[block, intern(scope)] = readings
        return readings

    def _find_readings(self, block: int, scope: str) -> ScopeReadings:
        """Read a scope from the left, depth first: up to each slash, it may be the name of a call."""
        readings: list[ScopeReading] = []
        waiting: list[ScopeReading] = [(block, 0, None)]
        seen: set[tuple[int, int]] = set()
        deepest: CallChain = None
        max_readings = MAX_NAME_READINGS if self.has_budget else FEW_NAME_READINGS
        while waiting and len(readings) < max_readings:
            body, start, chain = reading = waiting.pop()
            if (body, start) in seen:
                continue
            seen.add((body, start))
            readings.append(reading)
            self.lookups += 1
            calls = self.calls_of_body(body)
            for slash in _slash_positions(scope, start, calls.lengths):
                self.lookups += 1
                call = calls.rows.get(scope[start:slash])
                if call is None:
                    continue
                # Longer names are popped first: with calls "a" and "a/b", "a/b/x" means x in "a/b".
                longer_chain = call, chain, 1 if chain is None else chain[2] + 1
                if deepest is None or longer_chain[2] > deepest[2]:
                    deepest = longer_chain
                bodies, start_in_body = self._bodies_entered(call, scope, slash + 1)
                # Only bodies that may be popped: a hostile call has thousands.
                waiting += [(body, start_in_body, longer_chain) for body in bodies[-max_readings:]]
                self.lookups += min(max_readings, len(bodies))
        return readings, deepest

    def _bodies_entered(self, call: int, name: str, start: int) -> tuple[list[int], int]:
        """Return the functions of a call in which a name may continue at `start`, and the position after a marker of a
        lowered branch or body."""
        bodies = self._bodies_of(call)
        lowered = LOWERED_SCOPE.match(name, start)
        if lowered is None:
            return bodies[""], start
        # The attributes are cond, body, then_branch, else_branch and, of Case, branches[0], branches[1], …
        word = f"branches[{lowered[2]}]" if lowered[2] else lowered[1]
        return bodies.get(word) or bodies.get(f"{word}_branch", []), lowered.end()

    def _bodies_of(self, call: int) -> dict[str, list[int]]:
        """Return the functions of a call by attribute; all under ""."""
        known = self._bodies.get(call)
        if known is None:
            known = self._bodies[call] = {}
            bodies = self.hierarchy.calls[call]
            for attr, body in dict.fromkeys(bodies):
                known.setdefault(attr, []).append(body)
            known[""] = [body for _, body in dict.fromkeys(bodies)]
        return known


FOLDED_CONSTANT_SUFFIX = re.compile(r"/_\d+__cf__\d+$")
MACHINERY_PREFIX = "Func/"


@dataclass(frozen=True, slots=True)
class ExecutionPath:
    """The path of an execution; `within` means the machinery of the call at its end, instead of the call itself.

    `whole` is false if the path begins in a function whose call is unknown.
    """

    path: RowPath
    within: bool = False
    whole: bool = True


class TraceNames:
    """The ops of a hierarchy by their names in a trace."""

    def __init__(self, hierarchy: Hierarchy, tensorboard: bool = False) -> None:
        self.hierarchy = hierarchy
        self.tensorboard = tensorboard
        self._index: dict[int, dict[str, int]] = {}
        self._calls = BodyCalls(hierarchy, self.rows_by_name)

    def rows_by_name(self, block: int) -> dict[str, int]:
        """Return rows of ops by their name in the file, in the main graph (row 0) or in a function."""
        rows_by_name = self._index.get(block)
        if rows_by_name is None:
            hierarchy = self.hierarchy
            rows = [row for row in range(block, int(hierarchy.end[block])) if hierarchy.node[row] >= 0]
            names = hierarchy.graph.name
            # A row may have a strict name ("x/(x)"); names in the file take precedence.
            rows_by_name = {names[hierarchy.node[row]]: row for row in rows if self._takes_part(row)}
            strict = {hierarchy.name[row]: row for row in rows if self._takes_part(row)}
            self._index[block] = rows_by_name = {**strict, **rows_by_name}
        return rows_by_name

    def _takes_part(self, row: int) -> bool:
        """Return whether a row has statistics: constants and summaries embedded by TensorBoard have none."""
        return not self.tensorboard or self.hierarchy.mark[row] == Mark.NONE

    def execution_paths(self, names: Iterable[str]) -> dict[str, ExecutionPath]:
        """Return the path of each name that has one. `names` should be all names of the trace.

        Names that are not found in the main graph or through its calls are looked up in functions; ambiguous names
        belong to the function with most names.
        """
        place_of: dict[str, ExecutionPath] = {}
        unmatched: list[str] = []
        for name in dict.fromkeys(names):
            place = self._find_in_main(name)
            if place is not None:
                place_of[name] = place
            else:
                unmatched.append(name)
        if unmatched and not self.tensorboard and self.hierarchy.function_rows:
            place_of.update(self._find_in_functions(unmatched))
        if unmatched and not self.tensorboard and self.hierarchy.graph.layers:
            place_of.update(self._find_in_layers([name for name in unmatched if name not in place_of]))
        return place_of

    def _find_in_layers(self, names: list[str]) -> dict[str, ExecutionPath]:
        """Find ops of a run in the nodes of a graph of layers, by the scope of each layer in the run."""
        index = self.rows_by_name(0)
        scopes = match_layers_to_scopes(names, self.hierarchy.graph.layers)
        nodes = {scope: index[path] for scope, path in scopes.items() if path in index}
        place_of: dict[str, ExecutionPath] = {}
        # The nearest scope around the op that is a layer.
        for name in filter(is_possible_layer_path, names):
            scope = name.rpartition("/")[0]
            while scope and scope not in nodes:
                scope = scope.rpartition("/")[0]
            if scope:
                place_of[name] = ExecutionPath((nodes[scope],))
        return place_of

    def _find_in_main(self, name: str) -> ExecutionPath | None:
        index = self.rows_by_name(0)
        if name in index:
            return ExecutionPath((index[name],))
        if self.tensorboard:
            return None
        if (row := index.get(strip_kernel_name(name))) is not None:
            return ExecutionPath((row,))
        return self.follow_calls(0, name)

    def _find_in_functions(self, names: list[str]) -> dict[str, ExecutionPath]:
        places_of: dict[str, list[tuple[int, ExecutionPath]]] = {}
        votes: Counter[int] = Counter()
        left: int = MAX_SEARCHED_FUNCTIONS
        for name in names:
            # Once the budget is spent, only a few functions are tried for each name.
            functions = self._functions_with(name, None if left > 0 and self._calls.has_budget else FEW_NAME_READINGS)
            left -= len(functions)
            for function in functions:
                row = self.rows_by_name(function).get(strip_kernel_name(name))
                place = ExecutionPath((row,)) if row is not None else self.follow_calls(function, name)
                if place is not None:
                    places_of.setdefault(name, []).append((function, place))
                    votes[function] += 1
        return {
            name: self._from_main_graph(*max(places, key=lambda pair: votes[pair[0]]))
            for name, places in places_of.items()
        }

    def _functions_with(self, name: str, most: int | None) -> list[int]:
        """Return the first `most` functions with an op of that name, or with a call whose name is a prefix of it."""
        inner = FOLDED_CONSTANT_SUFFIX.sub("", name.removeprefix(MACHINERY_PREFIX))
        # Prefixes are generated lazily: for a name of thousands of segments, a list would take quadratic memory.
        parts = (inner[:cut] for cut in _slash_positions(inner, 0, self._call_name_lengths))
        heads = dict.fromkeys((strip_kernel_name(name), inner, *(part for part in parts if part in self._owners)))
        owners = dict.fromkeys(function for head in heads for function in self._owners.get(head, [])[:most])
        return sorted(islice(owners, most))

    @cached_property
    def _owners(self) -> dict[str, list[int]]:
        """Return the functions with an op of each name."""
        owners: dict[str, list[int]] = {}
        for function in self.hierarchy.function_rows:
            for known in self.rows_by_name(function):
                owners.setdefault(known, []).append(function)
        return owners

    @cached_property
    def _call_name_lengths(self) -> frozenset[int]:
        return frozenset().union(
            *(self._calls.calls_of_body(function).lengths for function in self.hierarchy.function_rows)
        )

    def _from_main_graph(self, function: int, place: ExecutionPath) -> ExecutionPath:
        """Return a place as seen from the main graph, if only one chain of calls leads to the function."""
        chain = self.only_call_chain(function)
        if chain is None:
            return ExecutionPath(place.path, place.within, whole=False)
        return ExecutionPath((*chain, *place.path), place.within)

    def follow_calls(self, block: int, name: str) -> ExecutionPath | None:
        """Read `name` as nested calls, then an op. If the rest is not an op, it is machinery of the call."""
        name = FOLDED_CONSTANT_SUFFIX.sub("", name.removeprefix(MACHINERY_PREFIX))
        readings, deepest = self._calls.readings_of_scope(block, name[: name.rfind("/") + 1])
        for inside, start, chain in readings if self._calls.has_budget else readings[:FEW_NAME_READINGS]:
            self._calls.lookups += 1
            row = self.rows_by_name(inside).get(name[start:])
            if row is not None:
                return ExecutionPath((*_path_of_chain(chain), row))
        return ExecutionPath(_path_of_chain(deepest), within=True) if deepest else None

    def only_call_chain(self, function: int) -> RowPath | None:
        """Return the chain of calls from the main graph to a function if there is exactly one; None if it is longer
        than TensorFlow writes."""
        chain: list[int] = []
        # Functions that only call each other are not reachable from the main graph.
        while function and len(chain) < MAX_NAMED_CALLS and len(self._callers.get(function, ())) == 1:
            chain.append(self._callers[function][0])
            function = function_row_of(self.hierarchy, chain[-1])
        return None if function else tuple(reversed(chain))

    @cached_property
    def _callers(self) -> dict[int, list[int]]:
        callers: dict[int, list[int]] = {}
        for call, bodies in self.hierarchy.calls.items():
            for body in {body for _, body in bodies}:
                callers.setdefault(body, []).append(call)
        return callers
