"""Which groups are open, and what each box shows: the input of `place`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphviz_tb.model.metagraph import Metagraph
from graphviz_tb.model.scene import BoxKind
from graphviz_tb.model.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class Face:
    """What one child of an open group shows.

    `label` is the last segment of its name, `full` the whole name, `second` the second line ("12 ops", "3.2 ms";
    empty for none), `badge` the number of a stack ("×12" equal members, "3 parts" of a fold; empty for none).
    `member` is the kind of the members of a series or fold, which its front sheet is drawn as; `about` what only the
    tooltip says.
    """

    row: int
    address: str
    kind: BoxKind
    label: str
    full: str
    second: str = ""
    badge: str = ""
    openable: bool = False
    connected: bool = False
    member: BoxKind = "scope"
    about: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """One open group: its metagraph, its order of drawing, a face for each child, and the children that are open.

    `opened` maps positions of children to their own view. `names` gives the full name of every row that annotations
    and bridges of this metagraph speak of (rows may lie anywhere in the graph), `labels` what they are
    called where that is not the last segment of the name, `addresses` where they are. `functions` is a face for each
    of `metagraph.functions`; an open one is in `opened` at position `len(metagraph.children) + i`.
    """

    address: str
    row: int
    metagraph: Metagraph
    skeleton: Skeleton
    faces: tuple[Face, ...]
    opened: Mapping[int, View] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    labels: Mapping[int, str] = field(default_factory=dict)
    addresses: Mapping[int, str] = field(default_factory=dict)
    functions: tuple[Face, ...] = ()
