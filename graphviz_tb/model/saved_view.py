"""A view file: patterns that decide how nodes are shown, options of folding and of pictures; and its colours by row."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from graphviz_tb.model.columns import Ints
from graphviz_tb.model.frozen import dataclass

Patterns = tuple[str, ...]
ByPattern = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view of any graph. A pattern is the name of a node or group, or a search query.

    `source` is the name of its file, "" for none; `open`, `aside`, `main` and `hide` are patterns of nodes to open, to
    move to the auxiliary area, to keep in the main area, and not to draw; `colors` assigns a colour (`#RRGGBB`) to the
    ops of a pattern, the last match winning; `titles` assigns labels to boxes. `choices` are options by name.
    """

    source: str = ""
    open: Patterns = ()
    aside: Patterns = ()
    main: Patterns = ()
    hide: Patterns = ()
    colors: ByPattern = ()
    titles: ByPattern = ()
    choices: tuple[tuple[str, Any], ...] = field(default=())


@dataclass(frozen=True, slots=True, eq=False)
class PatternColours:
    """`category` by row, -1 for none; the patterns `names` and their colours `tones` (`#RRGGBB`) by category."""

    category: Ints
    names: tuple[str, ...]
    tones: tuple[str, ...]
