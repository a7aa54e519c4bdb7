"""How much the tests do: what one waits for after a change, or everything there is (`TBGRAPH_TESTS=all`)."""

from __future__ import annotations

import os

from hypothesis import settings

EVERYTHING = os.environ.get("TBGRAPH_TESTS") == "all"
ORDINARY = 40  # examples of a law in the profile `ci`


def examples(count: int) -> settings:
    """Decorate a law that needs more examples than others: `count` of them in the profile `ci`, in another profile as
    many times fewer or more as of any law."""
    return settings(max_examples=max(1, count * settings().max_examples // ORDINARY))
