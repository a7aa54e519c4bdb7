"""The list of changes of a page: each with its rows, and with the names in the picture."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from graphviz_tb.diff.picture.overlay import line
from graphviz_tb.diff.picture.rows import HOLDS
from graphviz_tb.diff.report.words import SIGNS, facts
from graphviz_tb.limits import MAX_LISTED_INPUTS, MAX_LISTED_PLACES
from graphviz_tb.model.change import Change
from graphviz_tb.model.hierarchy import FUNCTION_ROW, OP_ROW, SCOPE_ROW
from graphviz_tb.model.paths import last_segment

if TYPE_CHECKING:
    from graphviz_tb.openable import BaseModel

NAME_WORDS = re.compile(r"[^\s:,;→()]+")  # possible names in the text of a change


class ChangeListing:
    """Makes the entries of the list; `sign` is the sign (added, removed, changed) of each row of the merged graph."""

    def __init__(self, model: BaseModel, sign: Sequence[str]) -> None:
        self.model = model
        self.sign = sign

    def change_entry(self, change: Change) -> dict[str, Any]:
        """Return one change, with its consequences and inner changes; `full` has the names of the file."""
        behind = (*change.inside, *change.consequences)
        detail = {key: change.detail[key] for key in ("key", "old", "new") if key in change.detail}
        text = line(change)
        return {
            "sign": SIGNS[change.kind],
            "kind": change.kind,
            "severity": change.severity,
            "text": self.with_drawn_names(text),
            "full": text,
            "facts": [self.with_drawn_names(each) for each in facts(change)],
            "detail": {key: text_of_value(value) for key, value in detail.items()},
            "old": change.old,
            "new": change.new,
            "rows": self.rows_of_change(change),
            "behind": [self.change_entry(each) for each in behind],
        }

    def rewired_entries(self, words: Mapping[int, str], entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the ops that are drawn as changed only because one of their inputs has a new source."""
        known = {row for entry in entries for each in (entry, *entry["behind"]) for row in each["rows"]}
        hierarchy = self.model.hierarchy
        rows = [
            row
            for row, sign in enumerate(self.sign)
            if sign == HOLDS and hierarchy.node[row] >= 0 and row in words and row not in known
        ]
        return [
            {"sign": "~", "text": f"{self.drawn_name(row)}: {words[row]}", "full": hierarchy.name[row], "rows": [row]}
            for row in rows[:MAX_LISTED_INPUTS]
        ]

    def with_drawn_names(self, text: str) -> str:
        """Replace the names of the file in a text by those of the boxes."""
        names = self.model.names.index(0)
        return NAME_WORDS.sub(
            lambda match: self.drawn_name(row) if (row := names.get(match[0])) is not None else match[0], text
        )

    def drawn_name(self, row: int) -> str:
        """Return the labels of the boxes around a row and its own, as a path."""
        hierarchy = self.model.hierarchy
        parts = []
        while row > 0 and hierarchy.kind[row] != FUNCTION_ROW:
            if hierarchy.kind[row] == OP_ROW and hierarchy.graph.mark[hierarchy.node[row]]:
                parts.append(last_segment(hierarchy.name[row]))  # its label is not a name: "kernel 3×3×1×8"
            elif hierarchy.kind[row] in (OP_ROW, SCOPE_ROW):
                parts.append(hierarchy.short_label(row))
            row = int(hierarchy.parent[row])
        return "/".join(reversed(parts))

    def rows_of_change(self, change: Change) -> list[int]:
        """Return the rows of a change, its other places and its parts in the merged graph, if added or removed."""
        listed: dict[int, None] = {}
        parts = change.detail.get("parts", ())[:MAX_LISTED_PLACES]
        within = [(part, None) if change.new is None else (None, part) for part in parts]
        for old, new in ((change.old, change.new), *change.also[:MAX_LISTED_PLACES], *within):
            # If old and new share a name, the merged graph calls the old one "NAME (old)".
            names = [name for name in (new, old, f"{old} (old)" if old else None) if name]
            rows = [row for row in map(self.row_of_name, names) if row > 0]
            listed.update((row, None) for row in (*rows[:1], *(row for row in rows[1:] if self.sign[row] == "−")))
        function = change.detail.get("function")
        if not listed and isinstance(function, str):
            listed.update((row, None) for row in self.functions_with_prefix(function))
        return list(listed)

    def functions_with_prefix(self, name: str) -> Collection[int]:
        """Return the rows of functions whose names begin with `name`."""
        first = bisect_left(self._functions, (name, -1))
        behind = (self._functions[place] for place in range(first, len(self._functions)))
        return sorted(row for _, row in takewhile(lambda function: function[0].startswith(name), behind))

    def row_of_name(self, name: str) -> int:
        """Return the row of a name in the main graph, else in a function; -1 for none."""
        return self._rows.get(name, -1)

    @cached_property
    def _functions(self) -> list[tuple[str, int]]:
        """Functions sorted by name: as many changes may ask as there are functions."""
        hierarchy = self.model.hierarchy
        return sorted((hierarchy.name[row], row) for row in hierarchy.function_rows)

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The first row of each name, the main graph before the functions."""
        found: dict[str, int] = {}
        for root in (0, *self.model.hierarchy.function_rows):
            for name, row in self.model.names.index(root).items():
                found.setdefault(name, row)
        return found


def text_of_value(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
