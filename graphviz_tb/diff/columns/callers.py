"""Find the nodes of the main graph whose calls lead to a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest

from graphviz_tb.graphs.traversal import strong_components
from graphviz_tb.limits import MAX_COMPARED_CALLERS


def callers_in_main(callers: Mapping[int, Sequence[int]], block: Sequence[int], functions: int) -> list[frozenset[int]]:
    """For each of so many functions the nodes of the main graph whose calls lead to it, directly or not; of very many
    the first.

    Before: `callers` are the nodes that call each function, `block` is by node the function it is in, counted from 1;
    0 is the main graph. After: functions that only one other calls share its set.

    >>> callers_in_main({0: [7], 1: [8]}, [0, 0, 0, 0, 0, 0, 0, 0, 1], 2)
    [frozenset({7}), frozenset({7})]
    """
    outward = [
        sorted({block[node] - 1 for node in callers.get(function, ()) if block[node]}) for function in range(functions)
    ]
    component = strong_components(outward)
    members: dict[int, list[int]] = {}
    for function, number in enumerate(component):
        members.setdefault(number, []).append(function)
    found: dict[int, frozenset[int]] = {}
    # A component has its number when all that it leads to have theirs: callers come first.
    for number, inside in sorted(members.items()):
        own = {node for function in inside for node in callers.get(function, ()) if not block[node]}
        above = dict.fromkeys(component[other] for function in inside for other in outward[function])
        each = [found[other] for other in above if other != number]
        found[number] = (
            each[0] if len(each) == 1 and not own else frozenset(nsmallest(MAX_COMPARED_CALLERS, own.union(*each)))
        )
    return [found[number] for number in component]
