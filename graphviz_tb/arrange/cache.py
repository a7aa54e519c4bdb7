"""Equal metagraphs share one skeleton."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.arrange.lines import Turned, thick
from graphviz_tb.arrange.options import ArrangeOptions
from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.skeleton import Skeleton

Key = tuple[object, ...]
LIMIT = 4096
_known: dict[Key, tuple[Skeleton, tuple[int, ...]]] = {}


def key_of(metagraph: Metagraph, options: ArrangeOptions, turned: Turned) -> tuple[Key, tuple[int, ...]]:
    """All that the order of drawing depends on, rows outside the group numbered as they appear; and these rows."""
    rows = tuple(dict.fromkeys(bridge.other for bridge in metagraph.bridges))
    number = {row: place for place, row in enumerate(rows)}
    edges = tuple((e.source, e.target, e.tensors, e.control, e.reference, thick(e)) for e in metagraph.edges)
    bridges = tuple(
        (b.child, number[b.other], b.inbound, b.tensors, b.control, b.reference, b.drawable, thick(b))
        for b in metagraph.bridges
    )
    against = frozenset((number[row], inbound) for row, inbound in turned if row in number)
    masks = metagraph.mask, metagraph.automatic
    return (options, metagraph.units, edges, bridges, against, masks), rows


def recall(key: Key, rows: tuple[int, ...]) -> Skeleton | None:
    """The skeleton of an equal metagraph, its ports named for this one."""
    if key not in _known:
        return None
    skeleton, old = _known[key]
    if old == rows:
        return skeleton
    name = dict(zip(old, rows, strict=True))
    ports = tuple(
        replace(slot, others=tuple((name[row], inbound) for row, inbound in slot.others)) for slot in skeleton.ports
    )
    return replace(skeleton, ports=ports)


def keep(key: Key, rows: tuple[int, ...], skeleton: Skeleton) -> None:
    """Remember a skeleton; the oldest is forgotten past `LIMIT`."""
    if len(_known) >= LIMIT:
        del _known[next(iter(_known))]
    _known[key] = skeleton, rows


def forget() -> None:
    """Forget all skeletons."""
    _known.clear()
