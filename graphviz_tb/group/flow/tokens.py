"""Tokens: a number for each box with the distances to its inputs, so that equal runs are equal structures.

a ─▶ b ─▶ b ─▶ b        tokens: (a), (b, 1), (b, 1), (b, 1): three equal boxes, each fed from right before it
"""

from __future__ import annotations

from graphviz_tb.group.flow.box import SymbolTable
from graphviz_tb.group.flow.dag import Dag, has_single_entry
from graphviz_tb.group.flow.order import FlowOrder

MAX_TOKEN_DISTANCE = 64  # longer distances are all equal
BROADCAST_TOKEN, DISTANT_TOKEN, OUTSIDE_TOKEN = -1, -2, -3  # instead of a distance


def box_tokens(dag: Dag, order: FlowOrder, symbols: SymbolTable, far: int = MAX_TOKEN_DISTANCE) -> list[int]:
    """Return one number for each box, along the order.

    A token combines the symbol and the sorted distances to the inputs. Side outputs in between do not count, so that
    they change nothing for the next block. A single source outside counts as right before the first box; of several
    only their number counts.
    """
    single = dag.outside is not None and has_single_entry(dag.outside)
    steps = main_path_steps(order)
    numbers = []
    for position, box in enumerate(order.line):
        inputs = [source_distance(order, steps, box, source, far) for source in dag.before[box]]
        if dag.outside is not None:
            entry = (position + 1 if position + 1 < far else DISTANT_TOKEN) if single else OUTSIDE_TOKEN
            inputs += [entry] * len(dag.outside[box])
        elif position == 0 and not inputs and dag.boxes[box].ops > 1:
            inputs = [1]  # fed from outside the level, as equal boxes are from right before
        numbers.append(symbols.symbol_of("token", dag.boxes[box].symbol, order.side[box], *sorted(inputs)))
    return numbers


def main_path_steps(order: FlowOrder) -> list[int]:
    """Return for each box the number of boxes before it that are no side output."""
    steps, count = [0] * len(order.line), 0
    for box in order.line:
        steps[box] = count
        count += not order.side[box]
    return steps


def source_distance(order: FlowOrder, steps: list[int], box: int, source: int, far: int) -> int:
    """Return the distance to a source: along the main path in its steps, for side outputs in places of the line."""
    if source in order.broadcast or source in order.memory:
        return BROADCAST_TOKEN
    # Side outputs are no steps of the main path, so between two of them count places.
    places = order.place if order.side[box] else steps
    back = places[box] - places[source]
    return back if back < far else DISTANT_TOKEN
