"""Bad files, made from a seed: damaged, hostile, out of proportion, or something else altogether.

Each family is a function of a random generator that gives the suffix and the bytes of one file; `bad_files` asks all
of them in turn. The same seed gives the same files.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

from tests.fuzz import damage, graphs, keras, places, records

Family = Callable[[Random], tuple[str, bytes]]


class BadFile(NamedTuple):
    """A file by its name, which says how it was made."""

    name: str
    family: str
    data: bytes


def bad_files(seed: int, count: int, only: str | None = None) -> Iterator[BadFile]:
    """`count` files, the families in turn; or those of one family alone."""
    families = [each for each in FAMILIES.items() if only in (None, each[0])]
    for number in range(count):
        word, family = families[number % len(families)]
        random = Random(f"{seed} {number} {word}")
        suffix, data = family(random)
        if random.random() < 0.08:
            suffix, data = f"{suffix}.gz", gzip.compress(data, 6, mtime=0)
        yield BadFile(f"{number:05}_{word}.{suffix}", word, data)


FAMILIES: dict[str, Family] = {
    **damage.FAMILIES,
    **graphs.FAMILIES,
    **keras.FAMILIES,
    **records.FAMILIES,
    **places.FAMILIES,
}
