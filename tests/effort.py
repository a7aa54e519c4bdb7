"""How much the tests do: what one waits for after a change, or everything there is.

Everything runs where `TBGRAPH_TESTS=all` says so, and where files or folders are named to pytest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

Case = TypeVar("Case")
SWITCH = "TBGRAPH_TESTS"
ORDINARY = 40  # examples of a law in the profile `ci`


def everything() -> bool:
    """Whether nothing is left out."""
    return os.environ.get(SWITCH) == "all"


def examples(count: int) -> settings:
    """Decorate a law that needs more examples than others: `count` of them in the profile `ci`, in another profile as
    many times fewer or more as of any law."""
    return settings(max_examples=max(1, count * settings().max_examples // ORDINARY))


def part(cases: Iterable[Case], every: int) -> list[Case]:
    """Every so manieth of many cases that show the same; all of them where everything runs."""
    return list(cases)[:: 1 if everything() else every]
