"""Facts about nodes and tensors beyond the structure. Lazy: decoded when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from graphviz_tb.limits import MAX_CACHED_TENSORS
from graphviz_tb.model.costs import Costs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.tensors import Tensor

if TYPE_CHECKING:
    from graphviz_tb.model.given import UserFacts
    from graphviz_tb.model.measured_tags import LoggedValues
    from graphviz_tb.model.saved_view import PatternColours


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Facts of one graph. `decode(node)` returns a lookup of the tensors of a node's outputs. `definition(node)`
    returns a number shared by nodes with equal definitions, apart from name, inputs, device and colocation (`_class`);
    -1 for an argument.

    `known` caches tensors by node and key as one number; `alike` stores equal tensors once.

    `stats` are joined run statistics, `before` statistics to compare with, `logged` the logged values that a picture
    shows, `painted` the colours of a view by pattern, `given` facts of a user; `odd` reports contradictions found by
    inference so far, `cost` the costs of ops.
    """

    graph: Graph
    decode: Callable[[int], Callable[[str], Tensor]] = field(repr=False)
    definition: Callable[[int], int] = field(repr=False)
    known: dict[int, Tensor] = field(default_factory=dict, repr=False)
    alike: dict[Tensor, Tensor] = field(default_factory=dict, repr=False)
    stats: Stats | None = None
    before: Stats | None = None
    logged: LoggedValues | None = None
    painted: PatternColours | None = None
    given: UserFacts | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    odd: Callable[[], tuple[Notice, ...]] = tuple
    cost: Callable[[], Costs] | None = None

    def tensor(self, node: int, key: int) -> Tensor:
        """Return the tensor of output `key` (an id into `Graph.keys`) of `node`."""
        number = node * len(self.graph.keys) + key
        tensor = self.known.get(number)
        if tensor is None:
            tensor = self.decode(node)(self.graph.keys[key])
            if len(self.known) < MAX_CACHED_TENSORS:  # bounded memory, however many lines are shown
                # Most tensors are equal to many other tensors.
                tensor = self.known[number] = self.alike.setdefault(tensor, tensor)
        return tensor
