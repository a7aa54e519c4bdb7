"""The scope of a traced name as calls one in the other: every way of reading it, and where each leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from sys import intern

from graphviz_tb.limits import FEW_WAYS, PARTS_READ, WAYS_TO_READ
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import Path

LOWERED = re.compile(r"(then|else|cond|body|branch(\d+))/_\d+/")

# A call, the calls around it, how many they are together: tuples of them would take their depth squared.
Chain = tuple[int, "Chain", int] | None
Way = tuple[int, int, Chain]  # a body, where in the name its part begins, and the calls that lead to it, the last first
Ways = tuple[list[Way], Chain]  # of reading what begins with one scope, and the longest chain of calls in it


@dataclass(frozen=True, slots=True)
class NamedCalls:
    """The rows of the calls of one body by name, and how long their names are."""

    rows: dict[str, int]
    lengths: frozenset[int]


def path_of(chain: Chain) -> Path:
    """The calls of a chain, the outermost first.

    >>> path_of((8, (3, None, 1), 2))
    (3, 8)
    """
    rows: list[int] = []
    while chain is not None:
        row, chain, _ = chain
        rows.append(row)
    return tuple(rows[::-1])


def cuts(name: str, start: int, lengths: frozenset[int]) -> Iterator[int]:
    """Before which slashes a name may be cut that is read from `start` on, so that the part has one of some lengths.

    >>> list(cuts("a/b/cd", 0, frozenset({1, 2, 3, 6})))
    [1, 3]
    """
    longest = max(lengths, default=-1)
    cut = name.find("/", start)
    while 0 <= cut - start <= longest:
        if cut - start in lengths:
            yield cut
        cut = name.find("/", cut + 1)


class BodyCalls:
    """The calls of each body. `index` gives the rows of a body's ops by their name."""

    def __init__(self, hierarchy: Hierarchy, index: Callable[[int], dict[str, int]]) -> None:
        self.hierarchy, self.index = hierarchy, index
        self.looked = 0  # parts of names that were looked up so far
        self._named: dict[int, NamedCalls] = {}
        self._bodies: dict[int, dict[str, list[int]]] = {}
        self._ways: dict[tuple[int, str], Ways] = {}

    @property
    def at_leisure(self) -> bool:
        """Whether there is time for every way of reading a name."""
        return self.looked < PARTS_READ

    def inside(self, block: int) -> NamedCalls:
        """The calls of a body."""
        known = self._named.get(block)
        if known is None:
            calls = self.hierarchy.calls
            rows = {name: row for name, row in self.index(block).items() if row in calls}
            known = self._named[block] = NamedCalls(rows, frozenset(map(len, rows)))
        return known

    def ways(self, block: int, scope: str) -> Ways:
        """Every way of reading a scope, the longest call first: all names in one scope are read alike."""
        ways = self._ways.get((block, scope))
        if ways is None:
            ways = self._read(block, scope)
            # No more are kept than were read at leisure.
            if self.at_leisure:
                self._ways[block, intern(scope)] = ways
        return ways

    def _read(self, block: int, scope: str) -> Ways:
        ways: list[Way] = []
        waiting: list[Way] = [(block, 0, None)]
        seen: set[tuple[int, int]] = set()
        deepest: Chain = None
        most = WAYS_TO_READ if self.at_leisure else FEW_WAYS
        while waiting and len(ways) < most:
            inside, start, chain = way = waiting.pop()
            if (inside, start) in seen:
                continue
            seen.add((inside, start))
            ways.append(way)
            self.looked += 1
            calls = self.inside(inside)
            for cut in cuts(scope, start, calls.lengths):
                self.looked += 1
                call = calls.rows.get(scope[start:cut])
                if call is None:
                    continue
                # The longest is popped first: of calls "a" and "a/b", "a/b/x" is x in "a/b".
                longer = call, chain, 1 if chain is None else chain[2] + 1
                if deepest is None or longer[2] > deepest[2]:
                    deepest = longer
                bodies, at = self._entered(call, scope, cut + 1)
                # Those that are popped first: a hostile call has thousands.
                waiting += [(body, at, longer) for body in bodies[-most:]]
                self.looked += min(most, len(bodies))
        return ways, deepest

    def _entered(self, call: int, name: str, start: int) -> tuple[list[int], int]:
        """The functions of a call that a name may go on in from `start`, and where it does."""
        bodies = self._bodies_of(call)
        lowered = LOWERED.match(name, start)
        if lowered is None:
            return bodies[""], start
        # The attributes are cond, body, then_branch, else_branch and, of Case, branches[0], branches[1], …
        word = f"branches[{lowered[2]}]" if lowered[2] else lowered[1]
        return bodies.get(word) or bodies.get(f"{word}_branch", []), lowered.end()

    def _bodies_of(self, call: int) -> dict[str, list[int]]:
        """The functions of a call by the attribute that names them; "" has all."""
        known = self._bodies.get(call)
        if known is None:
            known = self._bodies[call] = {}
            bodies = self.hierarchy.calls[call]
            for attr, body in dict.fromkeys(bodies):
                known.setdefault(attr, []).append(body)
            known[""] = [body for _, body in dict.fromkeys(bodies)]
        return known
