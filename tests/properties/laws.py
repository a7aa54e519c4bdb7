"""What must hold for every graph, every folding and every set of open groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from graphviz_tb.api.pipeline import Picture
from graphviz_tb.model.graph import Mark
from graphviz_tb.model.hierarchy import Hierarchy, RowKind
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.paths import RowPath, child_path, scopes_inside_alone, sole_stack
from graphviz_tb.model.scene import Box, Scene
from graphviz_tb.model.skeleton import Skeleton
from graphviz_tb.model.view import View
from graphviz_tb.place.frames import StubIdentities


def well_formed(hierarchy: Hierarchy) -> None:
    """Rows are in preorder; every kept node is one row, below the group its name says, and nothing else is an op."""
    rows = len(hierarchy)
    parent, end, kind = hierarchy.parent.tolist(), hierarchy.end.tolist(), hierarchy.kind.tolist()
    tops = {0, *hierarchy.function_rows}
    inside: list[int] = []
    for row in range(rows):
        while inside and row >= end[inside[-1]]:
            inside.pop()
        assert parent[row] == (inside[-1] if inside else -1)
        assert (row in tops) == (not inside)
        assert row < end[row] <= (end[inside[-1]] if inside else rows)
        assert hierarchy.depth[row] == len(inside)
        assert (hierarchy.node[row] >= 0) == (kind[row] == RowKind.OP)
        if kind[row] != RowKind.OP:
            inside.append(row)
        assert kind[row] == RowKind.OP or row in tops or end[row] > row + 1, "an empty group"
    graph = hierarchy.graph
    nodes = hierarchy.node[hierarchy.node >= 0]
    assert sorted(nodes.tolist()) == np.flatnonzero(graph.kept).tolist()
    assert hierarchy.row_of_node[nodes].tolist() == np.flatnonzero(hierarchy.node >= 0).tolist()
    for row in np.flatnonzero(hierarchy.node >= 0).tolist():
        top = next(top for top in sorted(tops, reverse=True) if top <= row)
        function = int(graph.function[hierarchy.node[row]])
        assert top == (hierarchy.function_rows[function] if function >= 0 else 0)


def narrow(hierarchy: Hierarchy, most: int) -> None:
    """No level has more children than wanted; a series of numbered names is one box, however many members it has."""
    levels = (row for row in range(len(hierarchy)) if hierarchy.kind[row] != RowKind.SERIES)
    assert max((len(hierarchy.children(row)) for row in levels), default=0) <= most


def levels(picture: Picture) -> Iterator[tuple[RowPath, View, int]]:
    """The open groups of a picture with the number of their box (-1 for the root), from the outside in."""
    numbers = {(box.parent, box.row): at for at, box in enumerate(picture.scene.boxes)}
    todo: list[tuple[RowPath, View, int]] = [((0,), picture.view, -1)]
    while todo:
        path, view, frame = todo.pop()
        yield path, view, frame
        for position, inner in view.opened.items():
            rows = (*view.metagraph.children, *(node_label.row for node_label in view.functions))
            own = position < len(view.node_labels)
            child = child_path(picture.model.hierarchy, path, rows[position]) if own else (rows[position],)
            todo.append((child, inner, numbers[frame, rows[position]]))


def stacks_that_show_one(picture: Picture) -> dict[int, tuple[int, int]]:
    """The open stacks that show one member alone, by the number of their frame: the stack and the member."""
    hierarchy = picture.model.hierarchy
    found = {}
    for path, view, frame in levels(picture):
        member = view.metagraph.row
        if member == path[-1]:
            continue
        if (stack := sole_stack(hierarchy, path[-1])) >= 0:
            assert hierarchy.parent[member] == stack
            found[frame] = stack, member
        else:  # scopes that hold nothing but one another, in one frame
            assert (*path[:-1], member) in scopes_inside_alone(hierarchy, path)
    return found


def each_op_shows_once(picture: Picture) -> None:
    """Every ordinary op lies under exactly one closed box, or is an open call; inside each open call again. Of a stack
    that shows one member the ops of the others are not shown."""
    hierarchy, boxes = picture.model.hierarchy, picture.scene.boxes
    place = [-1] * len(boxes)  # the open call around each box
    for at, box in enumerate(boxes):
        above = box.parent
        if above >= 0:
            place[at] = above if boxes[above].row in hierarchy.calls else place[above]
    shown: dict[int, Counter[int]] = {-1: Counter()}
    for at, box in enumerate(boxes):
        seen = shown.setdefault(place[at], Counter())
        if not box.open:
            seen.update(range(box.row, int(hierarchy.end[box.row])))
        elif box.row in hierarchy.calls:
            seen[box.row] += 1
            shown.setdefault(at, Counter())
    behind: dict[int, set[int]] = {}
    for frame, (stack, member) in stacks_that_show_one(picture).items():
        inside = behind.setdefault(place[frame], set())
        inside.update(set(range(stack, int(hierarchy.end[stack]))) - set(range(member, int(hierarchy.end[member]))))
    ordinary = set(np.flatnonzero((hierarchy.kind == RowKind.OP) & (hierarchy.mark == Mark.NONE)).tolist())
    for call, seen in shown.items():
        if call < 0:
            wanted = range(int(hierarchy.end[0]))
            assert all(count == 1 for count in seen.values())
        else:
            bodies = dict.fromkeys(body for _, body in hierarchy.calls[boxes[call].row])
            wanted = [row for body in bodies for row in range(body, int(hierarchy.end[body]))]
        for row in wanted:
            if row in ordinary:
                shows = int(row not in behind.get(call, ()))
                assert seen[row] == shows, f"{hierarchy.name[row]!r} is shown {seen[row]} times"


def edges_are_conserved(picture: Picture) -> None:
    """Lines, what is inside closed boxes, loops, stubs, marks: together they are the edges of the graph."""
    hierarchy = picture.model.hierarchy
    graph = hierarchy.graph
    marked = graph.mark > 0
    plain = set(np.flatnonzero(~marked[graph.source] & ~marked[graph.target]).tolist())
    assert set(hierarchy.edge_order.tolist()) == plain
    # A stack that shows one member has the lines of that; those between its members are behind it.
    opened = {view.metagraph.row: view for path, view, _ in levels(picture) if len(path) == 1}
    told: Counter[int] = Counter()
    for row in range(len(hierarchy)):
        owned = set(hierarchy.owned_edges(row).tolist())
        if row not in opened or row in hierarchy.calls:
            told.update(owned)
            continue
        level = opened[row].metagraph
        lines: Counter[int] = Counter()
        for edge in level.edges:
            assert (edge.flat_edges is None) == edge.writes  # that training writes a weight is no edge of the file
            if edge.flat_edges is None:
                continue
            assert edge.tensors + edge.control == len(edge.flat_edges)
            lines.update(edge.flat_edges.tolist())
        loops = [edge for edge in owned if hierarchy.edge_from[edge] == hierarchy.edge_to[edge]]
        assert sum(count for _, count in level.loops) == len(loops)
        assert lines.keys().isdisjoint(loops)
        assert {*lines, *loops} == owned
        told.update(lines)
        told.update(loops)
    assert told == Counter(plain)
    marks_are_conserved(hierarchy)


def marks_are_conserved(hierarchy: Hierarchy) -> None:
    """Every edge that touches a mark is counted at the mark's place beside an ordinary node, or is between marks, or
    is an input of a constant, or makes an op wait for a weight that others use. (TensorBoard's preset leads the second
    and third on to the users.)"""
    graph = hierarchy.graph
    source, target = graph.mark[graph.source], graph.mark[graph.target]
    used = np.zeros(len(graph), bool)
    used[graph.source[(target == Mark.NONE) & ~graph.control]] = True
    waits = (source == Mark.WEIGHT) & graph.control & used[graph.source]
    beside = ((source > 0) & (target == Mark.NONE) & ~waits) | ((source == Mark.NONE) & (target == Mark.SUMMARY))
    if graph.kept.all() and (source > 0).any() | (target > 0).any():
        assert int(graph.beside.edges.sum()) == int(beside.sum())
    placed = {*graph.beside.mark.tolist(), *graph.within}
    assert placed == set(np.flatnonzero((graph.mark > 0) & graph.kept).tolist())


def every_edge_is_drawn(picture: Picture) -> None:
    """Each metaedge is a line between its two boxes or a stub at both; each bridge a line to a port or a stub."""
    scene = picture.scene
    lines: Counter[tuple[int, int, int]] = Counter()  # frame, source row, target row (-1: a port)
    for route in scene.routes:
        ends = [scene.boxes[end].row if end >= 0 else -1 for end in (route.source, route.target)]
        inner = max(route.source, route.target)
        lines[scene.boxes[inner].parent, ends[0], ends[1]] += 1
    stubs: dict[tuple[int, int, str], set[int]] = {}  # frame, row, side → rows that stand there (-1: more)
    for stub in scene.stubs:
        box = scene.boxes[stub.box]
        stubs.setdefault((box.parent, box.row, stub.side), set()).add(stub.other)
    told = {named for text in scene.texts if text.role == "note" for named in text.identities}
    wanted: Counter[tuple[int, int, int]] = Counter()
    written: Counter[tuple[int, int, int]] = Counter()  # drawn where there is room, else only listed
    for _, view, frame in levels(picture):
        level = view.metagraph
        rows = level.children
        for index in level.core_edges():
            wanted[frame, rows[level.edges[index].source], rows[level.edges[index].target]] += 1
        written.update((frame, rows[edge.source], rows[edge.target]) for edge in level.edges if edge.writes)
        for child in {child for child, _ in level.loops} - view.opened.keys():  # the frame of an open call has no loop
            wanted[frame, rows[child], rows[child]] += 1
        for bridge in level.bridges:
            if bridge.drawable:
                ends = (-1, rows[bridge.child]) if bridge.inbound else (rows[bridge.child], -1)
                wanted[(frame, *ends)] += 1
        stubbed = [level.edges[index] for index in level.mask.stubbed]
        hidden = {(rows[edge.source], "out", rows[edge.target]) for edge in stubbed}
        hidden |= {(rows[edge.target], "in", rows[edge.source]) for edge in stubbed}
        hidden |= {
            (rows[bridge.child], "in" if bridge.inbound else "out", bridge.other)
            for bridge in level.bridges
            if not bridge.drawable
        }
        noted = {(rows[note.child], note.side, note.other) for note in level.annotations}
        assert {note for note in noted if picture.model.hierarchy.mark[note[2]] == Mark.NONE} == hidden
        inside = {rows[at] for at in view.opened if at < len(rows)}  # stubs of an open group stand in it
        undrawn = StubIdentities(view)
        for index, note in enumerate(level.annotations):
            row = rows[note.child]
            # A line between the model and what trains it ends at the frame around both.
            if row in inside or note.training or undrawn.annotation_identity(index) in told:
                continue
            seen = stubs.get((frame, row, note.side), set())
            assert note.other in seen or -1 in seen, f"no stub for {note.other} at {row}"
    assert wanted <= lines
    assert lines - wanted <= written


def bridges_are_conserved(picture: Picture) -> None:
    """The bridges of an open group are the edges that cross its border, each once.

    A stack that shows one member has a bridge to every neighbour of its members, and all bridges in it are its edges.
    """
    hierarchy = picture.model.hierarchy
    graph, row_of = hierarchy.graph, hierarchy.row_of_node
    plain = hierarchy.edge_order
    source, target = row_of[graph.source[plain]], row_of[graph.target[plain]]
    alone = stacks_that_show_one(picture)
    for path, view, frame in levels(picture):
        row = path[-1]
        if len(path) > 1 or row in hierarchy.calls or hierarchy.parent[row] < 0:
            continue
        if around := [at for at in frames_around(picture.scene, frame) if at in alone]:
            stack_bridges_are_its_edges(picture, view.metagraph, alone[around[-1]][0], frame == around[-1])
            continue
        inside = [(row <= ends) & (ends < hierarchy.end[row]) for ends in (source, target)]
        crossing = Counter(plain[inside[0] != inside[1]].tolist())
        told: Counter[int] = Counter()
        for bridge in view.metagraph.bridges:
            assert bridge.flat_edges is not None
            told.update(bridge.flat_edges.tolist())
        assert told == crossing


def frames_around(scene: Scene, frame: int) -> Iterator[int]:
    """The numbers of a frame and of those around it, from the inside out."""
    while frame >= 0:
        yield frame
        frame = scene.boxes[frame].parent


def stack_bridges_are_its_edges(picture: Picture, level: Metagraph, stack: int, outermost: bool) -> None:
    """The edges of bridges in a stack that shows one member touch the stack; its data leads to all its neighbours."""
    hierarchy = picture.model.hierarchy
    graph, row_of = hierarchy.graph, hierarchy.row_of_node
    for bridge in level.bridges:
        assert bridge.flat_edges is not None
        ends = np.stack((row_of[graph.source[bridge.flat_edges]], row_of[graph.target[bridge.flat_edges]]))
        assert ((stack <= ends) & (ends < hierarchy.end[stack])).any(axis=0).all()
    if outermost:
        listed = picture.model.metagraph((stack,))
        met = {(bridge.other, bridge.inbound) for bridge in listed.bridges if bridge.tensors}
        assert met <= {(bridge.other, bridge.inbound) for bridge in level.bridges if bridge.tensors}


def boxes_have_room(scene: Scene) -> None:
    """Children lie in what is open around them; boxes in one drawn frame do not overlap."""
    groups: dict[int, list[Box]] = {}
    for box in scene.boxes:
        frame = box.parent
        while frame >= 0 and scene.boxes[frame].bare:
            frame = scene.boxes[frame].parent
        if not box.bare:
            groups.setdefault(frame, []).append(box)
        left, top, right, bottom = 0, 0, scene.width, scene.height
        if box.parent >= 0:
            around = scene.boxes[box.parent]
            assert around.open
            left, top, right, bottom = around.x, around.y, around.x + around.width, around.y + around.height
        assert left <= box.x, box.address
        assert top <= box.y, box.address
        assert box.x + box.width <= right, box.address
        assert box.y + box.height <= bottom, box.address
    for boxes in groups.values():
        for at, one in enumerate(boxes):
            for two in boxes[at + 1 :]:
                apart = one.x + one.width <= two.x or two.x + two.width <= one.x
                assert apart or one.y + one.height <= two.y or two.y + two.height <= one.y, (one.address, two.address)


def places(skeleton: Skeleton) -> dict[int, tuple[int, int, int]]:
    """For each child: its part, its rank, its place in the rank."""
    return {
        item: (part, rank, place)
        for part, ranks in enumerate(skeleton.parts)
        for rank, row in enumerate(ranks)
        for place, item in enumerate(row)
        if item < skeleton.children
    }


def column(skeleton: Skeleton, part: int, rank: int) -> int:
    """The column of a rank in its part."""
    return sum(at <= rank for at in skeleton.breaks[part]) if skeleton.breaks else 0


def scene_keeps_the_order(picture: Picture) -> None:
    """In coordinates too, a lower rank is nearer to where the flow begins, a rank runs from left to right, as do
    the columns of a part."""
    scene, direction = picture.scene, picture.scene.direction
    box_of = {(box.parent, box.row): box for box in scene.boxes}
    for _, view, frame in levels(picture):
        found = places(view.skeleton)
        items = sorted(found, key=found.__getitem__)
        for at, one in enumerate(items):
            for two in items[at + 1 :]:
                if found[one][0] != found[two][0]:
                    continue
                boxes = [box_of[frame, view.metagraph.children[item]] for item in (one, two)]
                if column(view.skeleton, *found[one][:2]) != column(view.skeleton, *found[two][:2]):
                    assert before(*boxes, along=False, direction=direction), [box.address for box in boxes]
                elif found[one][1] != found[two][1]:
                    assert before(*boxes, along=True, direction=direction), [box.address for box in boxes]
                else:
                    assert before(*boxes, along=False, direction=direction), [box.address for box in boxes]


def before(one: Box, two: Box, along: bool, direction: str) -> bool:
    """Whether `one` lies wholly before `two`: along the flow, or across it (left to right, or top to bottom)."""
    if along == (direction in ("BT", "TB")):
        first, second = (one, two) if direction != "BT" or not along else (two, one)
        return first.y + first.height <= second.y
    first, second = (one, two) if direction != "RL" or not along else (two, one)
    return first.x + first.width <= second.x


def order_of(level: Metagraph, skeleton: Skeleton) -> dict[int, tuple[int, int, int]]:
    """The places of children by row."""
    return {level.children[item]: place for item, place in places(skeleton).items()}


def obeys(picture: Picture) -> None:
    """All laws of one picture."""
    each_op_shows_once(picture)
    edges_are_conserved(picture)
    bridges_are_conserved(picture)
    every_edge_is_drawn(picture)
    boxes_have_room(picture.scene)
    scene_keeps_the_order(picture)
