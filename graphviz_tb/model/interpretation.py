"""What the nodes of a graph are: found out once, by `interpret`; whatever comes behind it asks here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from graphviz_tb.model.columns import Ints
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.weights import Weight


@dataclass(frozen=True, slots=True, eq=False)
class Interpretation:
    """Columns over the nodes of a graph.

    `origin`: the variable, handle or constant whose value a node hands on as a weight, itself for what makes one, -1
    for any other node. `weights`: for every mark `WEIGHT` that is drawn beside an op what it brings.
    """

    origin: Ints
    weights: Mapping[int, Weight]


UNKNOWN = Interpretation(np.zeros(0, np.int32), MappingProxyType({}))  # of a graph that nothing has interpreted
