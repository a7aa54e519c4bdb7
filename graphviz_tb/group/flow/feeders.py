"""Feeders: small inputs that only one box uses are drawn next to it and count as part of it."""

from __future__ import annotations

from collections.abc import Set

from graphviz_tb.group.flow.box import FlowBox, SymbolTable
from graphviz_tb.group.flow.dag import Dag, contract_groups
from graphviz_tb.group.flow.order import box_depths
from graphviz_tb.ops.roles import CONSTANT_OPS, INPUT_OPS, NEXT_ELEMENT_OPS, VARIABLE_OPS, VARIABLE_READ_OPS

VALUE_OPS = VARIABLE_OPS | VARIABLE_READ_OPS | CONSTANT_OPS
RUN_INPUT_OPS = INPUT_OPS | NEXT_ELEMENT_OPS  # program inputs
MAX_FEEDER_OPS = 4  # a constant, a shape or a cast, with all that feeds it
MAX_FEEDERS = 16  # per box; with more (a saver, a concatenation) it is a place where paths meet


def join_feeders(dag: Dag, symbols: SymbolTable) -> Dag:
    """Join feeders to their consumers.

    After: a box fed by feeders only, of at most four ops together with them, is part of its only consumer. If all
    inputs of a box are feeders, one stays in the flow, the first that is not a mere value. If no other input brings
    program inputs, the first feeder that does stays too (a mask made of constants is no beginning).
    """
    depth = box_depths(dag)
    along = sorted(range(len(dag)), key=depth.__getitem__)  # inputs before users
    small = find_small_trees(dag, along)
    consumer: dict[int, int] = {}
    value, brings = fed_by_types(dag, VALUE_OPS, along), fed_by_types(dag, RUN_INPUT_OPS, along, VALUE_OPS)
    # A feeder takes its whole tree along; one that stays may have feeders itself.
    todo = [box for box in range(len(dag)) if box not in small]
    for box in todo:
        feeders = [source for source in dag.before[box] if source in small]
        kept = -1
        if not feeders:
            continue
        if len(feeders) == len(dag.before[box]):
            kept = next((source for source in feeders if not value[source]), feeders[0])
        elif not any(brings[source] for source in dag.before[box] if source not in small):
            kept = next((source for source in feeders if brings[source]), -1)
        todo += [kept] if kept >= 0 else []
        feeding = [member for feeder in feeders if feeder != kept for member in feeder_tree(dag, feeder)]
        if len(feeding) <= MAX_FEEDERS:
            consumer.update(dict.fromkeys(feeding, box))
    by_consumer: dict[int, list[int]] = {}
    for feeder, box in consumer.items():
        by_consumer.setdefault(box, []).append(feeder)
    return contract_groups(
        dag, [([box, *feeding], attach_feeders(dag, box, feeding, symbols)) for box, feeding in by_consumer.items()]
    )


def find_small_trees(dag: Dag, along: list[int]) -> set[int]:
    """Return boxes that are small enough, with all that feeds them, to be feeders."""
    ops = [box.ops for box in dag.boxes]
    small: set[int] = set()
    for number in along:
        if len(dag.after[number]) == 1 and small.issuperset(dag.before[number]):
            # Each has one user, so no op is counted twice.
            ops[number] += sum(ops[source] for source in dag.before[number])
            if ops[number] <= MAX_FEEDER_OPS:
                small.add(number)
    return small


def fed_by_types(dag: Dag, types: Set[str], along: list[int], stop: Set[str] = frozenset()) -> list[bool]:
    """Return which boxes are of these types, or fed by one that is. Types in `stop` pass nothing on.

    A variable that is read is no program input, though its handle may be passed in.
    """
    found = [box.op in types for box in dag.boxes]
    for number in along if any(found) else ():
        if not found[number] and dag.before[number] and dag.boxes[number].op not in stop:
            found[number] = any(map(found.__getitem__, dag.before[number]))
    return found


def feeder_tree(dag: Dag, feeder: int) -> list[int]:
    """Return a feeder and all that feeds it."""
    members = [feeder]
    for box in members:  # grows while it is walked through
        members += dag.before[box]
    return members


def attach_feeders(dag: Dag, number: int, feeders: list[int], symbols: SymbolTable) -> FlowBox:
    """Return the consumer with its feeders. They change the symbol of an op, but not that of a scope."""
    box, held = dag.boxes[number], [dag.boxes[feeder] for feeder in feeders]
    made = FlowBox(
        box.name,
        box.symbol,
        box.ops,
        box.row,
        box.how,
        box.members,
        [*box.feeders, *held],
        box.unit,
        box.sideways,
        box.scope,
        op=box.op,
    )
    if not box.scope:
        made.symbol = symbols.symbol_of("fed", box.symbol, *sorted(feeder.symbol for feeder in held))
        made.ops += sum(feeder.ops for feeder in held)
    return made
