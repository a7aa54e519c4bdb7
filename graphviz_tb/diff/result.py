"""The result of a diff: changes that can be counted, filtered, explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import PurePath
from types import NoneType
from typing import TYPE_CHECKING, Any

from graphviz_tb.diff.styles import REPORTS, ReportStyle
from graphviz_tb.errors import demand
from graphviz_tb.model.change import KINDS, QUANTITIES, SEVERITIES, Change, ChangeKind, ValuePair, as_dicts, in_order
from graphviz_tb.model.notice import Notice

if TYPE_CHECKING:
    from graphviz_tb.diff.source import MatchedGraphs
    from graphviz_tb.pipeline import Picture


@dataclass(frozen=True, eq=False)
class Changes:
    """All changes between two graphs: a sequence that filters, counts and explains itself.

    `old_name`, `new_name` say what was compared, `matched` how many nodes have a partner, `ignored` counts differences
    of classes that were not asked for, `renumbered` how many nodes and scopes only have another number because members
    of their series came or went, `left_out` says what the form of both cannot show, `notices` has bounds that were
    hit. `source` knows the two graphs and the matching,
    `found` is how many changes there were before any were filtered out, `inputs` what was given to read.
    """

    items: tuple[Change, ...]
    old_name: str = "old"
    new_name: str = "new"
    matched: int = 0
    ignored: Mapping[str, int] = field(default_factory=dict)
    renumbered: int = 0
    left_out: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    source: MatchedGraphs | None = field(default=None, repr=False)
    found: int = 0
    inputs: tuple[Any, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)

    def __getitem__(self, index: int) -> Change:
        return self.items[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Changes) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)

    @property
    def same(self) -> bool:
        """Whether nothing changed that counts."""
        return not self.items

    @property
    def kinds(self) -> dict[ChangeKind, int]:
        """How many changes of each kind."""
        counts = Counter(change.kind for change in self.items)
        return {kind: counts[kind] for kind in KINDS if kind in counts}

    @property
    def numbers(self) -> dict[str, ValuePair]:
        """Before and after, of the whole: `ops`, `parameters`, `flops`; None where a number is not known."""
        return self.source.numbers.whole if self.source is not None else dict.fromkeys(QUANTITIES, (None, None))

    def numbers_of(self, change: Change) -> dict[str, ValuePair]:
        """The same of the layers that a change is about and what follows from it, where they differ."""
        demand("change", change, Change)
        return self.source.numbers.of(change, self.found == 1) if self.source is not None else {}

    @property
    def summary(self) -> dict[str, Any]:
        """Counts: by kind, by severity, of matched nodes, of what was ignored; the numbers of either side."""
        return {
            "changes": len(self.items),
            "kinds": self.kinds,
            "severities": {
                word: count for word in SEVERITIES if (count := sum(change.severity == word for change in self.items))
            },
            **as_dicts(self.numbers),
            "matched": self.matched,
            "renumbered": self.renumbered,
            "ignored": dict(self.ignored),
            "left_out": list(self.left_out),
        }

    def filter(self, kind: str | None = None, severity: str | None = None, under: str | None = None) -> Changes:
        """Only changes of a kind, of a severity, at or below a name."""
        for what, value in (("kind", kind), ("severity", severity), ("under", under)):
            demand(what, value, str, NoneType)
        kept = [
            change
            for change in self.items
            if (kind is None or change.kind == kind)
            and (severity is None or change.severity == severity)
            and (under is None or any(_below(name, under) for name in (change.old, change.new)))
        ]
        return replace(self, items=tuple(kept))

    def inverted(self) -> Changes:
        """The changes from the new graph to the old one."""
        return replace(
            self,
            items=in_order(change.inverted() for change in self.items),
            old_name=self.new_name,
            new_name=self.old_name,
            source=self.source.inverted() if self.source is not None else None,
        )

    def matches(self) -> Iterator[tuple[str, str, str]]:
        """Every matched node: its old name, its new name, and why."""
        return self.source.matches() if self.source is not None else iter(())

    def to_json(self) -> dict[str, Any]:
        """All changes as plain values (docs/diff.md)."""
        from graphviz_tb.diff.report.explain import document

        return document(self)

    def to_markdown(self) -> str:
        """All changes as a comment for a pull request, the verdict first."""
        return self.explain("markdown")

    def picture(self, **choices: Any) -> Picture:
        """One picture of both graphs, as a `Picture`; `choices` are options of a picture (`theme`, `open`, …)."""
        from graphviz_tb.choices import check_picture, picture_choices
        from graphviz_tb.diff.picture.both import picture
        from graphviz_tb.options import PictureOptions

        wanted = picture_choices(PictureOptions(), choices)
        check_picture(wanted)
        return picture(self, wanted)

    def save(self, target: str | PathLike[str], **choices: Any) -> None:
        """Write a picture (`.svg`, `.png`, …), or the report (`.json`, `.md`, `.txt`)."""
        from graphviz_tb.output import keep_inputs, write

        keep_inputs(self.inputs, [target])
        # Suffixes of reports come first: `.json` of a diff is its changes, not a picture of both graphs.
        style = REPORTS.get(PurePath(target).suffix.lower())
        if style is None:
            self.picture(**choices).save(target)
        else:
            write(target, self.explain(style, None).encode("utf-8", "replace"))

    def explain(self, style: ReportStyle = "text", limit: int | None = 40, colour: bool = False) -> str:
        """The changes in words: "text", "json" or "markdown". `limit` is the number of changes listed in text."""
        from graphviz_tb.diff.report.explain import explain

        demand("style", style, str)
        demand("limit", limit, int, NoneType)
        return explain(self, style, limit, colour)


def _below(name: str | None, scope: str) -> bool:
    return name is not None and (name == scope or name.startswith(scope.rstrip("/") + "/"))
