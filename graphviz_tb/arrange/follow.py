"""Move nodes between the main and the auxiliary area by hand, with the order of all others frozen."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.arrange.draft import LineKey, SkeletonDraft
from graphviz_tb.arrange.lines import ArrangeLine, Turned, drawn_bridges, drawn_edges, port_side
from graphviz_tb.arrange.lines import level_lines as lines_of
from graphviz_tb.arrange.spine import main_paths
from graphviz_tb.limits import MAX_PORTS_PER_SIDE
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import PortSlot, Skeleton


def follow_mask(metagraph: Metagraph, skeleton: Skeleton, turned: Turned) -> Skeleton:
    """Bring the skeleton of the automatic mask in line with the mask in effect.

    `skeleton` was made for `metagraph.automatic`. The result has a wire for every line that `metagraph.mask` leaves;
    for any two items present before, "left of" and "above" do not change.
    """
    mask = metagraph.mask
    draft = SkeletonDraft(skeleton)
    edges, bridges = drawn_edges(metagraph, mask), drawn_bridges(metagraph, mask)
    order: list[LineKey] = [*((edge, -1) for edge in edges), *((-1, bridge) for bridge in bridges)]
    wanted = set(order)
    draft.drop_lines(lambda key: key not in wanted, set(mask.extracted_children))
    there = draft.item_positions()
    added = [child for child in metagraph.core_children() if child not in there]
    add_missing_ports(draft, metagraph, [index for index in bridges if (-1, index) not in draft.wires], turned)
    new = lines_of(metagraph, edges, bridges, draft_port_items(draft), turned)
    new = [line for line in new if (line.edge, line.bridge) not in draft.wires]
    of: dict[int, list[ArrangeLine]] = {}
    for line in new:
        for end in dict.fromkeys((line.source, line.target)):
            of.setdefault(end, []).append(line)
    # One by one: a new child may be linked to one just inserted.
    for child in added:
        insert_child(draft, child, of.get(child, []))
    for line in new:
        if (line.edge, line.bridge) not in draft.wires:
            insert_line(draft, line)
    draft.reroute_wires([(line.edge, line.bridge) for line in new])
    moved = draft.to_skeleton(order)
    thick = [line.thick for line in lines_of(metagraph, edges, bridges, draft_port_items(draft), turned)]
    return replace(moved, spine=main_paths(moved, thick))


def add_missing_ports(draft: SkeletonDraft, metagraph: Metagraph, bridges: list[int], turned: Turned) -> None:
    """Add a port for each new neighbour; beyond eight on a side it shares the last one."""
    for index in bridges:
        first, other = port_side(metagraph.bridges[index], turned)
        side = {item: slot for item, slot in draft.ports.items() if slot.first is first}
        if any(other in slot.others for slot in side.values()):
            continue
        shared = [item for item, slot in side.items() if len(slot.others) > 1]
        if shared:
            draft.ports[shared[0]] = PortSlot(first, (*draft.ports[shared[0]].others, other))
        elif len(side) <= MAX_PORTS_PER_SIDE:
            draft.add_port(PortSlot(first, (other,)))
        else:
            last = max(side)
            draft.ports[last] = PortSlot(first, (*side[last].others, other))


def draft_port_items(draft: SkeletonDraft) -> dict[tuple[bool, tuple[int, bool]], int]:
    """Return the item of each neighbour's port."""
    return {(slot.first, other): item for item, slot in draft.ports.items() for other in slot.others}


def insert_child(draft: SkeletonDraft, child: int, own: list[ArrangeLine]) -> None:
    """Insert one child and those of its `own` lines whose other end is present."""
    place = draft.item_positions()
    before = [line.source for line in own if line.target == child and line.source in place]
    after = [line.target for line in own if line.source == child and line.target in place]
    parts = {place[item][0] for item in (*before, *after)}
    if not parts:
        draft.parts.append([[child]])
        draft.shelves.append([len(draft.parts) - 1])
        place[child] = len(draft.parts) - 1, 0
        return
    if len(parts) > 1:
        draft.merge_parts()
        place = draft.item_positions()
    part = place[(before + after)[0]][0]
    rows = draft.parts[part]
    near = sorted(draft.horizontal_share(item) for item in (*before, *after))
    rank = rank_for_child(draft, part, [place[item][1] for item in before], [place[item][1] for item in after])
    draft.insert_item(child, (part, rank), int(near[len(near) // 2] * len(rows[rank]) / 2))  # at its neighbours' median
    place = draft.item_positions()
    for line in own:
        if line.source in place and line.target in place:
            insert_line(draft, line)


def rank_for_child(draft: SkeletonDraft, part: int, before: list[int], after: list[int]) -> int:
    """Return the rank for a new child: below its predecessors, else above its successors; a new rank if necessary."""
    rows = draft.parts[part]
    low = 1 if rows[0][0] in draft.ports and draft.ports[rows[0][0]].first else 0
    high = len(rows) - (1 if rows[-1][0] in draft.ports and not draft.ports[rows[-1][0]].first else 0)
    # A predecessor on the rank of the last ports has a turned line.
    bound = [r for r in before if r < high]
    rank = max(bound) + 1 if bound else min((r for r in after if r >= low), default=low) - 1
    if rank < low or rank >= high or rank in after:
        rank = min(max(rank, low), high)
        draft.insert_rank(part, rank)
    return rank


def insert_line(draft: SkeletonDraft, line: ArrangeLine) -> None:
    """Insert one line with waypoints between the places of its ends."""
    key = (line.edge, line.bridge)
    place = draft.item_positions()
    if place[line.source][0] != place[line.target][0]:
        draft.merge_parts()
        place = draft.item_positions()
    part, start_rank = place[line.source]
    end_rank = place[line.target][1]
    # A line needs two ranks: its end moves to a new rank, which keeps all "left of" and "above".
    if start_rank == end_rank:
        lower_child(draft, line.target)
        end_rank = start_rank + 1
    rows = draft.parts[part]
    # Waypoints on the straight line between the ends, as shares of the ranks' lengths.
    step = 1 if end_rank > start_rank else -1
    start, end = draft.horizontal_share(line.source), draft.horizontal_share(line.target)
    chain = [line.source]
    for r in range(start_rank + step, end_rank, step):
        share = start + (end - start) * (r - start_rank) / (end_rank - start_rank)
        item = draft.new_item()
        draft.insert_item(item, (part, r), int(share * len(rows[r]) / 2))
        chain.append(item)
    draft.wires[key] = [*chain, line.target]
    if step < 0:
        draft.turned.add(key)


def lower_child(draft: SkeletonDraft, child: int) -> None:
    """Move a child one rank down onto a new rank; its lines from above get one more waypoint."""
    part, rank = draft.item_positions()[child]
    place = draft.parts[part][rank].index(child)
    draft.insert_rank(part, rank + 1)
    row, fresh = draft.parts[part][rank], draft.parts[part][rank + 1]
    freed = []
    for chain in draft.wires.values():
        if child not in (chain[0], chain[-1]):
            continue
        near = 1 if chain[0] == child else len(chain) - 2
        if chain[near] in fresh:
            freed.append(chain.pop(near))
        else:
            item = draft.new_item()
            row.insert(place, item)
            chain.insert(chain.index(child) + (1 if near == 1 and chain[0] == child else 0), item)
    row.remove(child)
    fresh.insert(min((fresh.index(item) for item in freed), default=len(fresh)), child)
    draft.parts[part][rank + 1] = [item for item in fresh if item not in freed]
    draft.forget_positions()
