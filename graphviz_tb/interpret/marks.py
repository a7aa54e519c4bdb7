"""Marks: constants, weights, summaries and outside values, drawn small next to the nodes that use them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from graphviz_tb.caches import compile_on_use
from graphviz_tb.graphs.traversal import reachable_from
from graphviz_tb.interpret.weights import ARGUMENT_OPS
from graphviz_tb.limits import MAX_CHAINED_MARKS
from graphviz_tb.model.columns import Bools, Bytes, Ints, sorted_value_range
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph, Mark, MarkPairs, count_mark_pairs
from graphviz_tb.model.paths import last_segment
from graphviz_tb.ops.roles import CONSTANT_OPS, LOOKUP_TABLE_OPS, LOOP_OPS, Role, has_role

SUMMARY_OP_TYPE = re.compile(r".*Summary(V2)?", re.DOTALL)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Mark of each node, pairs of mark and host node, and for marks without a host the marks that own them."""

    mark: Bytes
    beside: MarkPairs
    within: dict[int, tuple[int, ...]]


def _mark_of_op_type(op: str) -> Mark:
    """Return the mark that an op type is drawn as.

    >>> _mark_of_op_type("Const").name, _mark_of_op_type("ScalarSummary").name, _mark_of_op_type("MergeSummary").name
    ('CONSTANT', 'SUMMARY', 'NONE')
    """
    if op in CONSTANT_OPS:
        return Mark.CONSTANT
    return Mark.SUMMARY if not has_role(op, Role.SUMMARY_MERGE) and SUMMARY_OP_TYPE.fullmatch(op) else Mark.NONE


def decide_marks(graph: Graph, weights: Bools | None, handed: Bools | None) -> Marks:
    """Decide which constants, weights and summaries are drawn as marks, and next to which nodes.

    `weights` have the value of a weight; `handed` are values from outside, drawn like constants. After: each mark is
    drawn next to an ordinary node, or belongs to marks that are; a mark that nothing uses is an ordinary node.
    """
    kinds = np.array([_mark_of_op_type(op) for op in graph.op_types], np.uint8)
    mark: Bytes = kinds[graph.op]
    if graph.is_value_trace:
        from graphviz_tb.interpret.pytorch import mark_pytorch_plumbing

        mark = mark_pytorch_plumbing(graph, mark)
    if handed is not None:
        mark = np.where(handed, np.uint8(Mark.CONSTANT), mark)
    if weights is not None:
        mark = np.where(weights, np.uint8(Mark.WEIGHT), mark)
    mark = _unmark_isolated_nodes(mark, graph)
    return Marks(mark, _mark_host_pairs(mark, graph), _owner_marks(mark, graph))


def _unmark_isolated_nodes(mark: Bytes, graph: Graph) -> Bytes:
    """Unmark nodes that are not connected to an ordinary node through marks."""
    mark = mark.copy()
    has_user = np.zeros(len(mark), bool)
    has_user[graph.source[graph.source != graph.target]] = True
    stray = ~_anchored_nodes(mark, graph)
    mark[stray & ((mark == Mark.SUMMARY) | ~has_user)] = Mark.NONE
    # All users of a remaining node remain too: they lead into cycles, and one node of each becomes ordinary.
    mark[_one_node_per_cycle(np.flatnonzero(stray & ~_anchored_nodes(mark, graph)).tolist(), graph)] = Mark.NONE
    return mark


def _one_node_per_cycle(stray: list[int], graph: Graph) -> list[int]:
    """Return the first of `stray`, then the first that does not lead to it, and so on, in linear time."""
    inputs: dict[int, list[int]] = {node: [] for node in stray}
    for source, target in zip(graph.source.tolist(), graph.target.tolist(), strict=True) if inputs else ():
        if source in inputs and target in inputs:
            inputs[target].append(source)
    chosen: list[int] = []
    done: set[int] = set()
    for first in inputs:
        if first in done:
            continue
        chosen.append(first)
        done |= reachable_from([first], inputs.get, done)
    return chosen


def _anchored_nodes(mark: Bytes, graph: Graph) -> Bools:
    """Mark the nodes that are ordinary, or connected to an ordinary node through marks."""
    tied = np.flatnonzero((mark[graph.source] > 0) | (mark[graph.target] > 0))  # only saves time
    source, target = graph.source[tied], graph.target[tied]
    done: Bools = mark == Mark.NONE
    hangs = (mark[target] == Mark.SUMMARY) | (_unused_weights(mark, graph)[target] & (mark[source] == Mark.WEIGHT))
    for _ in range(MAX_CHAINED_MARKS):
        count = int(done.sum())
        done[source[done[target]]] = True
        done[target[done[source] & hangs]] = True
        if int(done.sum()) == count:
            return done
    return _anchor_along_chains(hangs, source, target, done)


def _unused_weights(mark: Bytes, graph: Graph) -> Bools:
    """Mark the weights that nothing uses: an unused read belongs to its variable, like a summary to its input."""
    used = np.zeros(len(mark), bool)
    used[graph.source] = True
    idle: Bools = (mark == Mark.WEIGHT) & ~used
    return idle


def _anchor_along_chains(hangs: Bools, source: Ints, target: Ints, done: Bools) -> Bools:
    """Continue `_anchored_nodes` along long chains of marks, each edge once."""
    beyond: dict[int, list[int]] = defaultdict(list)
    for here, there, hanging in zip(source.tolist(), target.tolist(), hangs.tolist(), strict=True):
        beyond[there].append(here)
        if hanging:
            beyond[here].append(there)
    done[list(reachable_from([node for node in beyond if done[node]], beyond.get))] = True
    return done


def _mark_host_pairs(mark: Bytes, graph: Graph) -> MarkPairs:
    """Return each mark with the ordinary nodes it is drawn next to.

    A constant has its users; a weight the users of its value, not those that only wait for it; a summary its input.
    """
    # "into": edges from marks to users; "out": edges from ops to summaries.
    into = (mark[graph.source] > 0) & (mark[graph.target] == 0)
    taken = np.zeros(len(mark), bool)
    taken[graph.source[into & ~graph.control]] = True
    # Drop edges of ops that only wait for a weight whose value others use.
    waits = graph.control & (mark[graph.source] == Mark.WEIGHT) & taken[graph.source]
    into = np.flatnonzero(into & ~waits)
    out = np.flatnonzero((mark[graph.source] == 0) & (mark[graph.target] == Mark.SUMMARY))
    return count_mark_pairs(graph.source, graph.target, into, out)


def _owner_marks(mark: Bytes, graph: Graph) -> dict[int, tuple[int, ...]]:
    """Return, for each mark that touches no ordinary node, the marks that it touches."""
    marks = mark > 0
    anchored = np.zeros(len(mark), bool)
    # Marks with an ordinary user (summaries: an ordinary input) are drawn next to it, not next to other marks.
    anchored[graph.source[marks[graph.source] & ~marks[graph.target]]] = True
    anchored[graph.target[(mark[graph.target] == Mark.SUMMARY) & ~marks[graph.source]]] = True
    owners: dict[int, dict[int, None]] = defaultdict(dict)
    is_unused = _unused_weights(mark, graph)
    edges = np.flatnonzero(marks[graph.source] & marks[graph.target] & (graph.source != graph.target))
    sources, targets = graph.source[edges], graph.target[edges]
    # A weight with only unused reads belongs to these.
    has_used_read = np.zeros(len(mark), bool)
    has_used_read[sources[~is_unused[targets]]] = True
    to_target = ~anchored[sources] & ~(is_unused[targets] & has_used_read[sources])
    to_source = ~anchored[targets] & ((mark[targets] == Mark.SUMMARY) | is_unused[targets])
    pairs = zip(sources.tolist(), targets.tolist(), to_target.tolist(), to_source.tolist(), strict=True)
    for source, target, is_owned_by_target, is_owned_by_source in pairs:
        if is_owned_by_target:
            owners[source][target] = None
        if is_owned_by_source:
            owners[target][source] = None
    return {node: tuple(users) for node, users in sorted(owners.items())}


# Values from outside a program: lookup tables, and values captured by a traced function.
#
# Neither is a step of the program, so they are drawn as marks next to their users, like constants.

UNNAMED_ARGUMENT = re.compile(r"(.*/)?unknown(_\d+)?", re.DOTALL)  # TensorFlow's default name
NON_ARGUMENT_LETTER = compile_on_use(r"[^a-z0-9]")  # not used in argument names
TABLE_LABEL, CAPTURE_LABEL = "lookup table", "captured value"


def find_outside_values(graph: Graph) -> tuple[Bools, dict[int, str]]:
    """Return which nodes are tables or captured values of the main graph, and labels for arguments without a name.

    Labels include arguments of functions.
    """
    argument = graph.nodes_of_types(ARGUMENT_OPS.__contains__)
    is_outside = graph.nodes_of_types(LOOKUP_TABLE_OPS.__contains__)
    if not argument.any():
        return is_outside, {}
    lookups = graph.nodes_of_types(lambda op: has_role(op, Role.TABLE_USE))
    tables = graph.source[lookups[graph.target] & argument[graph.source] & (graph.slot == 0) & ~graph.control].tolist()
    unnamed = [node for node in np.flatnonzero(argument).tolist() if UNNAMED_ARGUMENT.fullmatch(graph.name[node])]
    # The last label wins: an argument used by a lookup is a table, whatever its name.
    labels = (
        dict.fromkeys(_captured_arguments(graph), CAPTURE_LABEL)
        | dict.fromkeys(unnamed, CAPTURE_LABEL)
        | dict.fromkeys(tables, TABLE_LABEL)
    )
    # An argument of a function stays a box, since calls lead to it.
    is_outside[[node for node in labels if graph.function[node] < 0]] = True
    return is_outside, labels


def _captured_arguments(graph: Graph) -> list[int]:
    """Return the arguments of the main graph named after an input of their user: "dense_sub_y" for "dense/Sub"."""
    argument = graph.nodes_of_types("_Arg".__eq__)
    argument &= graph.function < 0
    given = np.flatnonzero(argument[graph.source] & ~graph.control)
    pairs = zip(graph.source[given].tolist(), graph.target[given].tolist(), strict=True)
    spoken = {
        node: NON_ARGUMENT_LETTER.sub("_", graph.name[node].lower())
        for node in {*graph.source[given].tolist(), *graph.target[given].tolist()}
    }
    return [node for node, user in pairs if _extends_name(spoken[node], spoken[user])]


def _extends_name(name: str, first: str) -> bool:
    return name.startswith(first) and name.startswith("_", len(first))


# Labels of loop arguments: a loop variable is named after its initial value, since TensorFlow only names its position.
#
# first_token ─▶ While     in the body: while_placeholder_1   drawn as: first_token

# python/ops/while_v2.py of TensorFlow
LOOP_PLACEHOLDER = compile_on_use(r"(.*_)?(placeholder|loop_counter|maximum_iterations)(_\d+)?", re.DOTALL)


def label_loop_arguments(graph: Graph) -> dict[int, str]:
    """Return labels for arguments of loop conditions and bodies whose names only state their position."""
    labels: dict[int, str] = {}
    for call in graph.calls:
        if graph.op_types[graph.op[call.node]] in LOOP_OPS:
            arguments = graph.functions[call.function].args
            given = ((slot, source) for slot, source in _data_inputs_by_slot(graph, call.node) if slot < len(arguments))
            # A function may serve several loops: the first call decides.
            for slot, source in given:
                if LOOP_PLACEHOLDER.fullmatch(graph.name[arguments[slot]]) and last_segment(graph.name[source]):
                    labels.setdefault(arguments[slot], last_segment(graph.name[source]))
    return labels


def _data_inputs_by_slot(graph: Graph, node: int) -> Iterator[tuple[int, int]]:
    first, stop = sorted_value_range(graph.target, node, node + 1)
    edges = np.arange(first, stop)[~graph.control[first:stop]]
    return zip(graph.slot[edges].tolist(), graph.source[edges].tolist(), strict=True)
