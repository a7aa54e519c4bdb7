"""Find start orders: sort each rank by the medians of its neighbours, down and up."""

from __future__ import annotations

from graphviz_tb.arrange.layered.state import RankState


def median_sweep(state: RankState, down: bool) -> None:
    """Sort each rank by the medians of its neighbours' places in the rank before it (Eades & Wormald 1994).

    Equal medians keep their order; items without a neighbour on that side keep their place, held ranks their order.
    """
    ranks = state.ranks
    if down:
        for rank in range(1, len(ranks)):
            if rank not in state.held:
                sort_by_medians(ranks[rank], state.above, state.place)
    else:
        for rank in range(len(ranks) - 2, -1, -1):
            if rank not in state.held:
                sort_by_medians(ranks[rank], state.below, state.place)


def sort_by_medians(row: list[int], links: list[list[int]], place: list[int]) -> None:
    """Sort one rank by the mean of lower and upper median."""
    keyed = []
    for number, item in enumerate(row):
        near = links[item]
        count = len(near)
        if count == 1:
            key = 2 * place[near[0]]  # keys are twice the median, so that they are whole
        elif count == 2:
            key = place[near[0]] + place[near[1]]
        elif count:
            places = sorted([place[other] for other in near])
            key = places[(count - 1) // 2] + places[count // 2]
        else:
            continue
        keyed.append((key, number, item))
    # Sort into the places they had: items without neighbours keep theirs in between.
    slots = [number for _, number, _ in keyed]
    keyed.sort()
    for number, (_, _, item) in zip(slots, keyed, strict=True):
        row[number] = item
        place[item] = number


def depth_first_order(state: RankState, down: bool) -> list[list[int]]:
    """Return each rank in the order in which a depth-first walk from the outer ranks meets its items."""
    ahead, behind = (state.below, state.above) if down else (state.above, state.below)
    order: list[list[int]] = [[] for _ in state.ranks]
    seen = [False] * len(state.rank)
    for row in state.ranks if down else state.ranks[::-1]:
        for root in row:
            stack = [root]
            while stack:
                item = stack.pop()
                if not seen[item]:
                    seen[item] = True
                    order[state.rank[item]].append(item)
                    stack += behind[item][::-1]  # below `ahead` on the stack: visited after it
                    stack += ahead[item][::-1]
    for rank in state.held:
        order[rank] = state.ranks[rank]
    return order
