"""What is known of nodes and tensors beside the structure. Lazy: decoded when something is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from graphviz_tb.model.costs import Costs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.notice import Notice
from graphviz_tb.model.stats import Stats
from graphviz_tb.model.tensors import Tensor

REMEMBERED = 1 << 17  # tensors that are remembered: a line that crosses many borders asks for the same ones at each


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Facts of one graph. `decode(node)` gives the tensors of a node's outputs, remembered in `cache` and `known`.

    `stats` is there when run statistics were joined, `before` when others were given to compare with; `odd` gives what
    inference has found wrong so far, `cost` what the ops cost.
    """

    graph: Graph
    decode: Callable[[int], Callable[[str], Tensor]] = field(repr=False)
    cache: dict[int, Callable[[str], Tensor]] = field(default_factory=dict, repr=False)
    known: dict[tuple[int, int], Tensor] = field(default_factory=dict, repr=False)
    stats: Stats | None = None
    before: Stats | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    odd: Callable[[], tuple[Notice, ...]] = tuple
    cost: Callable[[], Costs] | None = None

    def tensor(self, node: int, key: int) -> Tensor:
        """The tensor that output `key` (an id into `Graph.keys`) of `node` gives."""
        tensor = self.known.get((node, key))
        if tensor is None:
            outputs = self.cache.get(node)
            if outputs is None:
                outputs = self.cache[node] = self.decode(node)
            tensor = outputs(self.graph.keys[key])
            if len(self.known) < REMEMBERED:  # no more memory, however many lines are asked about
                self.known[node, key] = tensor
        return tensor
