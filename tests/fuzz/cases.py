"""Bad files with a command line each, made from a seed: damaged, hostile, out of proportion, or something else.

`cases` asks all families in turn. The same seed gives the same files and words.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import PurePath
from random import Random
from typing import NamedTuple

from tests.fuzz.command_lines import mild_words
from tests.fuzz.families import (
    addressed,
    archives,
    calls,
    damage,
    embedded,
    empties,
    folders,
    graphs,
    grown,
    grown_json,
    keras,
    layers,
    logged,
    measured,
    multiplied,
    names,
    patterns,
    places,
    products,
    records,
    related,
    saved,
    traced,
    values,
)
from tests.fuzz.option_values import MILD

READING = [
    "info -q",
    "info --json",
    "tree",
    "render -q -o out/a.svg",
    "render -q -o out/a.json",
    "render -q -o out/a.svg --no-fold",
    "render -q -o out/a.svg --open-all",
    "render -q -o out/a.svg --preset tensorboard",
    "render -q -o out/a.dot -o out/a.pdf",
    "render -q -o out/a.png --depth 2",
    "tree --json",
    "diff same",
    "diff other",
    "diff other -o out/a.svg",
    "diff before -o out/a.svg",
    "diff before -o out/a.html",
    "render -q -o out/a.html",
]


class Case(NamedTuple):
    """Files in a folder of the case's name, and a command line that reads them: its words, and its standard input."""

    name: str
    family: str
    files: dict[str, bytes]
    words: list[str]
    stdin: str = os.devnull

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(map(len, self.files.values()))


FILES: dict[str, Callable[[Random], tuple[str, bytes]]] = {
    **damage.FAMILIES,
    **graphs.FAMILIES,
    **addressed.FAMILIES,
    **keras.FAMILIES,
    **layers.FAMILIES,
    **archives.FAMILIES,
    **records.FAMILIES,
    **places.FAMILIES,
    **calls.FAMILIES,
    **saved.FAMILIES,
    **products.FAMILIES,
    **multiplied.FAMILIES,
    **grown.FAMILIES,
    **grown_json.FAMILIES,
    **empties.FAMILIES,
    **values.FAMILIES,
    **names.FAMILIES,
}
SETS: dict[str, Callable[[Random], tuple[dict[str, bytes], list[str]]]] = {
    **traced.SETS,
    **measured.SETS,
    **logged.SETS,
    **embedded.SETS,
    **folders.SETS,
    **related.SETS,
    **multiplied.SETS,
    **patterns.SETS,
    **addressed.SETS,
    **empties.SETS,
}
FAMILIES = [*FILES, *SETS]


def cases(seed: int, count: int, only: str | None = None) -> Iterator[Case]:
    """`count` cases, the families in turn; or those of one family alone. Each seed begins with others."""
    families = [each for each in FAMILIES if only in (None, each)]
    Random(seed).shuffle(families)
    before = ("before.pbtxt", b'node { name: "a/b" op: "x" }')
    for number in range(count):
        family = families[number % len(families)]
        random = Random(f"{seed} {number} {family}")
        name = f"{seed}_{number:05}_{family}"
        if family in SETS:
            files, words = SETS[family](random)
        else:
            suffix, data = FILES[family](random)
            if random.random() < 0.08:
                suffix, data = f"{suffix}.gz", gzip.compress(data, 6, mtime=0)
            words = reading(f"bad.{suffix}", before[0], random)
            files = {f"bad.{suffix}": data} | (dict([before]) if before[0] in words else {})
            before = (f"before.{suffix}", data)
        there = {str(path) for file in files for path in (PurePath(file), *PurePath(file).parents[:-1])}
        words = [f"{name}/{word}" if word in there else word for word in words]
        stdin = os.devnull
        if family in FILES and words[0] != "diff" and random.random() < 0.08:
            stdin, words[1] = words[1], "-"
        yield Case(name, family, files, words, stdin)


def reading(name: str, before: str, random: Random) -> list[str]:
    """A command line that reads a file, or compares it with the one before it."""
    if random.random() < 0.5:
        command, *rest = random.choice(READING).split()
        others = {"same": name, "other": "good.pbtxt", "before": before}
        return [command, name, *(others.get(word, word) for word in rest)]
    command = random.choice(list(MILD))
    others_too = random.choice(([name, name], [name, "good.pbtxt"], ["mnist.pbtxt", name]))
    return mild_words(random, command, others_too if command == "diff" else [name])
