"""The order of runs and tags, their groups, and the colour of each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.paths import natural_name_key

# Twelve hues with a contrast of at least 3:1 to their background; neighbours differ in lightness too.
RUN_HUES = {
    "light": (
        "#0969DA", "#C4440E", "#1A7F37", "#8250DF", "#A0520B", "#0B7A94",
        "#BF3989", "#4B7001", "#57606A", "#3F4EC4", "#B3261E", "#00755E",
    ),
    "dark": (
        "#58A6FF", "#FB8F44", "#56D364", "#BC8CFF", "#E3B341", "#39C5CF",
        "#F778BA", "#A5C261", "#9DA7B3", "#8C9EFF", "#FF7B72", "#2DD4A7",
    ),
}  # fmt: skip
# From the thirteenth run on lines are dashed, because hues repeat.
RUN_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 2), (8, 3, 2, 3))
MAX_SINGLE_TAGS = 10  # more single tags go into a group "Other"


@dataclass(frozen=True, slots=True)
class LineStyle:
    """The look of a run's lines: an index into `RUN_HUES`, and the dashes."""

    hue: int
    dashes: tuple[float, ...]


def run_styles(first_walls: Mapping[str, float]) -> dict[str, LineStyle]:
    """Return a style for each run, in the order of their first wall times, then names: a new run changes no other's
    colour.

    >>> run_styles({"b": 1.0, "a": 2.0})["a"].hue
    1
    """
    ordered = sorted(first_walls, key=lambda run: (first_walls[run], run))
    count = len(RUN_HUES["light"])
    return {run: LineStyle(at % count, RUN_DASHES[at // count % len(RUN_DASHES)]) for at, run in enumerate(ordered)}


def group_tags(tags: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Group tags by the text before their first `/`, both in natural order; many single tags come last as "Other".

    >>> group_tags(["train/loss", "lr", "train/acc"])
    [('lr', ['lr']), ('train', ['train/acc', 'train/loss'])]
    """
    found: dict[str, list[str]] = {}
    for tag in sorted(set(tags), key=natural_name_key):
        found.setdefault(tag.partition("/")[0], []).append(tag)
    single = [name for name, inner in found.items() if len(inner) == 1]
    others: Sequence[str] = single if len(single) > MAX_SINGLE_TAGS else ()
    out = [(name, found[name]) for name in sorted(found, key=natural_name_key) if name not in set(others)]
    return out + ([("Other", [found[name][0] for name in others])] if others else [])
