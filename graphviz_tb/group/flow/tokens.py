"""Boxes and the sources of their inputs as numbers: equal runs of numbers are equal structures."""

from __future__ import annotations

from graphviz_tb.group.flow.box import SymbolNumbers
from graphviz_tb.group.flow.dag import Dag, single_entry
from graphviz_tb.group.flow.order import FlowOrder

FAR = 64  # inputs from farther back are all alike
BROADCAST, DISTANT, OUTSIDE = -1, -2, -3  # in the place of a distance


def tokens(dag: Dag, order: FlowOrder, symbols: SymbolNumbers, far: int = FAR) -> list[int]:
    """One number for each box, along the order.

    A token is made of the symbol and the sorted distances to the inputs. Side outputs in between do not count, so that
    what hangs on a block changes nothing for the next. One source outside counts as if right before the first box; of
    several only the count is part of the token.
    """
    single = dag.outside is not None and single_entry(dag.outside)
    steps = main_steps(order)
    numbers = []
    for position, box in enumerate(order.line):
        inputs = [distance(order, steps, box, source, far) for source in dag.before[box]]
        if dag.outside is not None:
            entry = (position + 1 if position + 1 < far else DISTANT) if single else OUTSIDE
            inputs += [entry] * len(dag.outside[box])
        elif position == 0 and not inputs and dag.boxes[box].ops > 1:
            inputs = [1]  # fed from outside the level, as its equals are from right before them
        numbers.append(symbols.of("token", dag.boxes[box].symbol, order.side[box], *sorted(inputs)))
    return numbers


def main_steps(order: FlowOrder) -> list[int]:
    """For each box how many boxes come before it that are no side output."""
    steps, count = [0] * len(order.line), 0
    for box in order.line:
        steps[box] = count
        count += not order.side[box]
    return steps


def distance(order: FlowOrder, steps: list[int], box: int, source: int, far: int) -> int:
    """How far back a source lies: on the main way in steps of it, for side outputs in places of the line."""
    if source in order.broadcast or source in order.memory:
        return BROADCAST
    # Side outputs count for nothing on the main way, so there are no steps between two of them.
    places = order.place if order.side[box] else steps
    back = places[box] - places[source]
    return back if back < far else DISTANT
