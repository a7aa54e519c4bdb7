"""Ids of nodes, edges, scopes and functions: they count from 0, and -1 is none."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.columns import Bools


@overload
def exists(ids: int) -> bool: ...
@overload
def exists(ids: NDArray[np.signedinteger[Any]]) -> Bools: ...
def exists(ids: Any) -> Any:
    """Whether an id, or each of a column, is one.

    >>> exists(0), exists(-1), exists(np.array([-1, 0, 1])).tolist()
    (True, False, [False, True, True])
    """
    return ids >= 0
