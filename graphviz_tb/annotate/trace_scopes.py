"""The scope of a traced name as nested calls: every way to read it, and the body where each ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from sys import intern

from graphviz_tb.limits import FEW_NAME_READINGS, MAX_NAME_READINGS, MAX_READ_NAME_PARTS
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath

LOWERED_SCOPE = re.compile(r"(then|else|cond|body|branch(\d+))/_\d+/")

# A call, its enclosing calls, and their number: linked, since tuples would take quadratic memory.
CallChain = tuple[int, "CallChain", int] | None
# A body, the start of its part of the name, and the calls that lead to it, innermost first.
ScopeReading = tuple[int, int, CallChain]
ScopeReadings = tuple[list[ScopeReading], CallChain]  # all readings of a scope, and the longest chain of calls in it


@dataclass(frozen=True, slots=True)
class NamedCalls:
    """The rows of the calls of one body by name, and the lengths of these names."""

    rows: dict[str, int]
    lengths: frozenset[int]


def path_of_chain(chain: CallChain) -> RowPath:
    """Return the calls of a chain, outermost first.

    >>> path_of_chain((8, (3, None, 1), 2))
    (3, 8)
    """
    rows: list[int] = []
    while chain is not None:
        row, chain, _ = chain
        rows.append(row)
    return tuple(rows[::-1])


def slash_positions(name: str, start: int, lengths: frozenset[int]) -> Iterator[int]:
    """Yield the slashes at which a name, read from `start`, may be cut so that the part has one of some lengths.

    >>> list(slash_positions("a/b/cd", 0, frozenset({1, 2, 3, 6})))
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
        self.looked = 0  # number of lookups so far
        self._named: dict[int, NamedCalls] = {}
        self._bodies: dict[int, dict[str, list[int]]] = {}
        self._ways: dict[tuple[int, str], ScopeReadings] = {}

    @property
    def has_time(self) -> bool:
        """Return whether there is budget for every way of reading a name."""
        return self.looked < MAX_READ_NAME_PARTS

    def calls_of_body(self, block: int) -> NamedCalls:
        """Return the calls of a body."""
        known = self._named.get(block)
        if known is None:
            calls = self.hierarchy.calls
            rows = {name: row for name, row in self.index(block).items() if row in calls}
            known = self._named[block] = NamedCalls(rows, frozenset(map(len, rows)))
        return known

    def readings_of_scope(self, block: int, scope: str) -> ScopeReadings:
        """Return every way of reading a scope, the longest call first; shared by all names in the scope."""
        ways = self._ways.get((block, scope))
        if ways is None:
            ways = self._find_readings(block, scope)
            # Cache only readings made within the budget.
            if self.has_time:
                self._ways[block, intern(scope)] = ways
        return ways

    def _find_readings(self, block: int, scope: str) -> ScopeReadings:
        ways: list[ScopeReading] = []
        waiting: list[ScopeReading] = [(block, 0, None)]
        seen: set[tuple[int, int]] = set()
        deepest: CallChain = None
        most = MAX_NAME_READINGS if self.has_time else FEW_NAME_READINGS
        while waiting and len(ways) < most:
            inside, start, chain = way = waiting.pop()
            if (inside, start) in seen:
                continue
            seen.add((inside, start))
            ways.append(way)
            self.looked += 1
            calls = self.calls_of_body(inside)
            for cut in slash_positions(scope, start, calls.lengths):
                self.looked += 1
                call = calls.rows.get(scope[start:cut])
                if call is None:
                    continue
                # The longest is popped first: of calls "a" and "a/b", "a/b/x" is x in "a/b".
                longer = call, chain, 1 if chain is None else chain[2] + 1
                if deepest is None or longer[2] > deepest[2]:
                    deepest = longer
                bodies, at = self._bodies_entered(call, scope, cut + 1)
                # The ones popped first: a hostile call has thousands.
                waiting += [(body, at, longer) for body in bodies[-most:]]
                self.looked += min(most, len(bodies))
        return ways, deepest

    def _bodies_entered(self, call: int, name: str, start: int) -> tuple[list[int], int]:
        """Return the functions of a call into which a name may continue at `start`, and the position after their
        marker."""
        bodies = self._bodies_of(call)
        lowered = LOWERED_SCOPE.match(name, start)
        if lowered is None:
            return bodies[""], start
        # The attributes are cond, body, then_branch, else_branch and, of Case, branches[0], branches[1], …
        word = f"branches[{lowered[2]}]" if lowered[2] else lowered[1]
        return bodies.get(word) or bodies.get(f"{word}_branch", []), lowered.end()

    def _bodies_of(self, call: int) -> dict[str, list[int]]:
        """Return the functions of a call by the attribute that names them; "" has all."""
        known = self._bodies.get(call)
        if known is None:
            known = self._bodies[call] = {}
            bodies = self.hierarchy.calls[call]
            for attr, body in dict.fromkeys(bodies):
                known.setdefault(attr, []).append(body)
            known[""] = [body for _, body in dict.fromkeys(bodies)]
        return known
