"""Find the main path of a picture through the open groups.

Each level has a main path, which does not depend on open groups (`Skeleton.main_path`). If groups are open, the longest
path of the whole picture may run elsewhere; it replaces the main paths of the levels that it passes. The order of items
does not change; the new path only becomes straight.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import field, replace

from graphviz_tb.graphs.main_path import tributaries
from graphviz_tb.graphs.traversal import topological_order
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.metagraph import main_path_weight
from graphviz_tb.model.skeleton import Skeleton, backward_wires
from graphviz_tb.model.view import View
from graphviz_tb.place.attachment import Gate, port_at_end, port_gates
from graphviz_tb.place.frames import OpenGroup

SpineNode = tuple[int, int]  # group, and an item of its skeleton: a child, or a port on the frame
SpineWire = tuple[int, int]  # group, and a wire of its skeleton


@dataclass(slots=True)
class DataPaths:
    """The data lines of a picture as a graph: nodes are closed boxes and ports, steps lead from node to node."""

    numbers: dict[SpineNode, int] = field(default_factory=dict)
    boxes: list[int] = field(default_factory=list)  # 1 for a closed box, 0 for a port
    steps: list[list[tuple[SpineWire, int, int]]] = field(default_factory=list)  # wire, target, load
    below: list[list[int]] = field(default_factory=list)

    def node_number(self, node: SpineNode, box: int) -> int:
        """Return the number of a node; add it if it is new."""
        if node not in self.numbers:
            self.numbers[node] = len(self.boxes)
            self.boxes.append(box)
            self.steps.append([])
            self.below.append([])
        return self.numbers[node]


def lead_main_path(groups: Sequence[OpenGroup]) -> list[OpenGroup]:
    """Make the longest path of the picture the main path of the levels it passes. Parents come before children."""
    if len(groups) == 1:
        return [*groups]
    wires: dict[int, list[int]] = {}
    for number, wire in _longest_path(_data_paths(groups), groups):
        wires.setdefault(number, []).append(wire)
    led = [_with_main_path(group, wires.get(number, [])) for number, group in enumerate(groups)]
    for number in range(len(led) - 1, -1, -1):
        led[number] = _with_tributaries_of_children(led[number], led, wires)
    return led


def _with_tributaries_of_children(
    group: OpenGroup, groups: Sequence[OpenGroup], passed: Mapping[int, Sequence[int]]
) -> OpenGroup:
    """Return a group whose main paths also contain the lines that continue the tributaries of its open children.

    `passed` are the wires of the picture's path by group.
    """
    skeleton = group.view.skeleton
    gates: dict[int, dict[Gate, int]] = {}
    met: dict[tuple[int, int], list[int]] = {}  # by child and port
    for position, child in group.below.items():
        inside = groups[child].view.skeleton
        aside = [
            inside.wires[wire].chain for wire in inside.main_path if wire not in passed.get(child, inside.main_path)
        ]
        for end in [end for chain in aside for end in (chain[0], chain[-1]) if end >= inside.children]:
            met[position, end - inside.children] = []
            gates[position] = port_gates(groups[child].view)
    for wire in _data_weights(group.view) if met else {}:
        chain = skeleton.wires[wire].chain
        for end, item in ((0, chain[0]), (1, chain[-1])):
            port = port_at_end(group.view, wire, end, gates)
            if port is not None and (item, port) in met:
                met[item, port].append(wire)
    main = set(skeleton.main_path)
    more = [wires[0] for wires in met.values() if len(wires) == 1 and wires[0] not in main]
    if not more:
        return group
    main_path = (*skeleton.main_path, *more)
    return replace(group, view=replace(group.view, skeleton=replace(skeleton, main_path=main_path)))


def _with_main_path(group: OpenGroup, wires: Sequence[int]) -> OpenGroup:
    """Return a group whose main path leads along `wires`."""
    if not wires:
        return group
    skeleton = group.view.skeleton
    part_of = {item: p for p, part in enumerate(skeleton.parts) for row in part for item in row}
    chains = [wire.chain for wire in skeleton.wires]
    path = _extended_path(skeleton, wires)
    part = part_of[chains[path[0]][0]]
    data_wires = [
        (wire, weight) for wire, weight in _data_weights(group.view).items() if part_of[chains[wire][0]] == part
    ]
    ends = [(chains[wire][0], chains[wire][-1]) for wire, _ in data_wires]
    taken = [number for number, (wire, _) in enumerate(data_wires) if wire in path]
    joining = tributaries(ends, [weight for _, weight in data_wires], skeleton.children, taken)
    others = [wire for wire in skeleton.main_path if part_of[chains[wire][0]] != part]
    main_path = (*path, *(data_wires[number][0] for number in joining), *others)
    return replace(group, view=replace(group.view, skeleton=replace(skeleton, main_path=main_path)))


def _extended_path(skeleton: Skeleton, wires: Sequence[int]) -> list[int]:
    """Return the main path of a part that leads along `wires`, extended by the old main path at both ends."""
    chains = [wire.chain for wire in skeleton.wires]
    path = [*wires]
    # A main path passes each item once: its wires by the item where they end, and by that where they begin.
    before = {chains[wire][-1]: wire for wire in skeleton.main_path}
    after = {chains[wire][0]: wire for wire in skeleton.main_path}
    while chains[path[0]][0] in before:
        path.insert(0, before[chains[path[0]][0]])
    while chains[path[-1]][-1] in after:
        path.append(after[chains[path[-1]][-1]])
    return path


def _data_weights(view: View) -> dict[int, int]:
    """Return the `main_path_weight` of the data lines of a level that run with the flow, by wire."""
    backward = backward_wires(view.skeleton)
    return {
        index: main_path_weight(line)
        for index, line in view.drawn_lines().items()
        if line.kind == "data" and not line.training and index not in backward and not _is_beside(view, index)
    }


def _data_paths(groups: Sequence[OpenGroup]) -> DataPaths:
    """Return all data lines that run with the flow."""
    paths = DataPaths()
    gates = [port_gates(group.view) for group in groups]
    for number, group in enumerate(groups):
        inner = {position: gates[child] for position, child in group.below.items()}
        for index, weight in _data_weights(group.view).items():
            source, target = (_end_node(paths, groups, number, index, end, inner) for end in (0, 1))
            paths.steps[source].append(((number, index), target, weight))
            paths.below[source].append(target)
    return paths


def _is_beside(view: View, wire: int) -> bool:
    """Return whether a wire touches the box of a surplus."""
    chain = view.skeleton.wires[wire].chain
    return any(end < len(view.node_labels) and view.node_labels[end].surplus for end in (chain[0], chain[-1]))


def _end_node(
    paths: DataPaths,
    groups: Sequence[OpenGroup],
    number: int,
    index: int,
    end: int,
    inner: Mapping[int, Mapping[Gate, int]],
) -> int:
    """Return the node at which a line begins (`end` 0) or ends (1): a box, or a port of its group or of an open
    child."""
    group = groups[number]
    view = group.view
    item = view.skeleton.wires[index].chain[-1 if end else 0]
    if item in group.below:
        port = port_at_end(view, index, end, inner)
        if port is not None:
            child = group.below[item]
            return paths.node_number((child, groups[child].view.skeleton.children + port), 0)
    return paths.node_number((number, item), 1 if item < view.skeleton.children and item not in group.below else 0)


Reached = tuple[int, int, int, int]  # boxes with data results, load of data, lines, lines on main paths of levels


def _longest_path(paths: DataPaths, groups: Sequence[OpenGroup]) -> list[SpineWire]:
    """Return the path through the most boxes whose results are data, not indices of data; of equal paths that with the
    greatest load of data, then the most lines, then the most lines on main paths of levels, then the first.

    It enters a group where the most boxes follow. So the path leads through the embedding of a decoder's tokens, and
    the output of the encoder joins it from the side.
    """
    order = list(reversed(topological_order(paths.below)))
    best, onward = _best_onward(paths, groups, order, set())
    late: set[int] = set()
    for entered in _ports_by_group(paths):
        follow = {port: (best[port][0], best[port][2] if carries else 0) for port, carries in entered.items()}
        most = max(follow.values())
        late.update([port for port, carries in entered.items() if carries and follow[port] < most])
    if late:
        best, onward = _best_onward(paths, groups, order, late)
    count = len(paths.boxes)
    current = max(range(count), key=lambda node: best[node], default=-1)
    steps: list[SpineWire] = []
    while current >= 0:
        ahead = onward[current]
        if ahead is None:
            break
        steps.append(ahead[0])
        current = ahead[1]
    return steps


def _ports_by_group(paths: DataPaths) -> list[dict[int, bool]]:
    """Return for each open group the nodes of the ports at which lines enter it, and whether these lines carry data, or
    only indices, sizes and masks."""
    nodes = list(paths.numbers)
    ports: dict[int, dict[int, bool]] = {}
    for steps in paths.steps:
        for (number, _), target, carries in steps:
            group = nodes[target][0]
            if group > number and paths.steps[target]:  # parents come before children
                entered = ports.setdefault(group, {})
                entered[target] = entered.get(target, False) or carries > 0
    return list(ports.values())


def _best_onward(
    paths: DataPaths, groups: Sequence[OpenGroup], order: Sequence[int], late: Container[int]
) -> tuple[list[Reached], list[tuple[SpineWire, int] | None]]:
    """Return for each node the best of all paths from it that reach no node in `late`, and its first wire with the node
    to which that leads. `order` has targets before sources."""
    main_paths = [set(group.view.skeleton.main_path) for group in groups]
    fed = {target for steps in paths.steps for _, target, carries in steps if carries > 0}
    best = [(0, 0, 0, 0)] * len(paths.boxes)
    onward: list[tuple[SpineWire, int] | None] = [None] * len(paths.boxes)
    for node in order:
        box = paths.boxes[node]
        for (number, wire), target, carries in paths.steps[node]:
            if target in late:
                continue
            data, load, lines, kept = best[target]
            box_gain = box if carries > 0 else -box if node in fed else 0
            reached = data + box_gain, load + max(carries, 0), lines + 1, kept + (wire in main_paths[number])
            if onward[node] is None or reached > best[node]:
                best[node], onward[node] = reached, ((number, wire), target)
        if paths.steps[node] and onward[node] is None:  # it only leads to late ports
            best[node] = (-len(paths.boxes), 0, 0, 0)
    return best, onward
