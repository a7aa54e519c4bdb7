"""Reports of changes: text for a terminal, JSON for programs, Markdown for a pull request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from graphviz_tb.caches import garbage_collection_paused
from graphviz_tb.diff.columns.values import count_letters
from graphviz_tb.diff.report.words import (
    KIND_SIGNS,
    behind_words,
    change_facts,
    change_head,
    differing_words,
    following_words,
    program_line_words,
)
from graphviz_tb.errors import RequestError, UnknownChoice
from graphviz_tb.limits import MAX_COMMENT_LETTERS, MAX_REPORT_LETTERS, MAX_UNFOLDED_CHANGES
from graphviz_tb.model.change import CHANGE_KINDS, SEVERITIES, Change, value_pairs_to_json
from graphviz_tb.model.formatting import document_header, format_counted_noun, printable
from graphviz_tb.options import REPORT_STYLES, ReportStyle

if TYPE_CHECKING:
    from graphviz_tb.diff.comparison import Comparison

FOLDING_LETTERS = 400  # letters around the folded changes: summary, tags, blank lines
CUT_WORD = "\n\n…\n"  # the end of a comment that is cut
FEW_CHANGES = 3  # more changes get a table of their kinds
INDENT = "  "  # before a change at the top; inner changes and consequences are indented further
SIGN_COLOURS = {"+": "32", "−": "31", "~": "33", "→": "34"}
HEADINGS = {
    "signature": "Signature",
    "op": "Ops",
    "attribute": "Attributes",
    "wiring": "Wiring",
    "rename": "Names",
    "cosmetic": "Cosmetic",
}


@garbage_collection_paused()
def explain(changes: Comparison, style: ReportStyle, limit: int | None, colour: bool) -> str:
    """Return the report in one of the styles. In text, `limit` changes are listed, None for all."""
    if style not in REPORT_STYLES:
        raise UnknownChoice.among("style", style, REPORT_STYLES)
    if style == "json":
        return json.dumps(_check_length(json_document(changes)), indent=1, default=str) + "\n"
    return markdown(changes) if style == "markdown" else _terminal_text(changes, limit, colour)


def _check_length(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document unchanged. Raises `RequestError` if its names together are too long for a report."""
    count = count_letters(document)
    if count > MAX_REPORT_LETTERS:
        raise RequestError(
            f"the names in this report have {count:,} letters together, and may have {MAX_REPORT_LETTERS:,}",
            hint="ask for text, which lists the first changes, or for a picture",
        )
    return document


def json_document(changes: Comparison) -> dict[str, Any]:
    """Return the changes as plain values (docs/diff.md)."""
    entries, owned = changes.ledger
    return {
        **document_header("tbgraph-diff"),
        "same": changes.same,
        "old": changes.old_name,
        "new": changes.new_name,
        "summary": changes.summary,
        "changes": [
            {
                **change.to_json(),
                "layers": changes.layers_of(change),
                "numbers": value_pairs_to_json(changes.numbers_of(change)),
                **changes.bounds_to_json(change),
                **({"program": {"old": line[0], "new": line[1]}} if any(line) else {}),
                **({"claims": list(owned.claimed[number]), "follows": list(owned.explained[number])} if owned else {}),
            }
            for number, change in enumerate(changes)
            for line in (changes.program_lines(change),)
        ],
        "ledger": entries,
        "notices": [
            {"code": notice.code, "message": notice.message, "count": notice.count} for notice in changes.notices
        ],
    }


def verdict(changes: Comparison) -> str:
    """Return a line with the counts of changes and the totals.

    >>> from graphviz_tb.diff import diff
    >>> verdict(diff(b'node { name: "x" op: "Relu" }', b'node { name: "x" op: "Tanh" }'))
    '1 change: 1 changed; 1 op'
    """
    if changes.same:
        return f"same; {_sum_lines(changes)}"
    return f"{format_counted_noun(len(changes), 'change')}: {_kind_counts(changes)}; {_sum_lines(changes)}"


def _sum_lines(changes: Comparison) -> str:
    """Return the totals of both graphs, in one line; for equal graphs also the properties that the file format cannot
    show."""
    numbers = changes.numbers
    ops = numbers["ops"][1]
    total = [format_counted_noun(ops, "op")] if ops is not None and numbers["ops"][0] == ops else []
    unseen = [f"not in this form: {', '.join(changes.left_out)}"] if changes.left_out and changes.same else []
    # Equal graphs with different numbers of operations only declare different shapes.
    shown = {word: pair for word, pair in numbers.items() if not (changes.same and word == "flops")}
    return "; ".join([*total, *differing_words(shown, *changes.bounds()), *unseen])


def _kind_counts(changes: Comparison) -> str:
    """Return the number of changes of each kind: `1 removed, 2 rewired`."""
    return ", ".join(f"{count:,} {kind}" for kind, count in changes.kinds.items()) or "same"


def _terminal_text(changes: Comparison, limit: int | None, colour: bool) -> str:
    """Return the report for a terminal."""
    lines = [verdict(changes)]
    shown = changes.items if limit is None else changes.items[:limit]
    for severity in SEVERITIES:
        listed = [change for change in shown if change.severity == severity]
        if listed:
            heading = HEADINGS[severity]
            lines += ["", f"\x1b[1m{heading}\x1b[0m" if colour else heading]
            for change in listed:
                lines += _lines(changes, change, colour, INDENT, limit is None)
    if len(shown) < len(changes):
        lines += ["", f"and {format_counted_noun(len(changes) - len(shown), 'other change')} (--all)"]
    lines += remarks(changes)
    return "\n".join(lines) + "\n"


def _numbers_text(changes: Comparison, change: Change) -> str:
    """Return the numbers of a change that differ; "" for none."""
    return ", ".join(differing_words(changes.numbers_of(change), *changes.bounds(change)))


def _lines(changes: Comparison, change: Change, colour: bool, indent: str, listed: bool) -> Iterator[str]:
    sign = KIND_SIGNS[change.kind]
    shown = f"\x1b[{SIGN_COLOURS[sign]}m{sign}\x1b[0m" if colour else sign
    yield f"{indent}{shown} {printable(change_head(change))}"
    for fact in (*change_facts(change), program_line_words(*changes.program_lines(change))):
        if fact:
            yield f"{indent}    {printable(fact)}"
    # Only changes at the top have numbers, which include those of inner changes.
    if indent == INDENT and (numbers := _numbers_text(changes, change)):
        yield f"{indent}    {numbers}"
    for inner in change.inside:
        yield from _lines(changes, inner, colour, indent + "    ", listed)
    if following := following_words(change):
        yield f"{indent}    {printable(behind_words(change))}"
        for inner in following if listed else ():
            yield from _lines(changes, inner, colour, indent + "      ", listed)


def remarks(changes: Comparison) -> list[str]:
    """Return lines about differences that are left out, and limits that were reached."""
    lines = []
    if changes.renumbered:
        lines.append(f"{format_counted_noun(changes.renumbered, 'name')} only renumbered")
    if changes.ignored:
        listed = ", ".join(f"{word} {count:,}" for word, count in changes.ignored.items())
        lines.append(f"not counted: {listed} (--include {','.join(changes.ignored)})")
    if changes.left_out and not changes.same:
        lines.append(f"not in this form: {', '.join(changes.left_out)}")
    lines += dict.fromkeys(f"note: {notice.message}" for notice in changes.notices)  # both sides may have one notice
    return ["", *map(printable, lines)] if lines else []


def markdown(changes: Comparison) -> str:
    """Return a comment for a pull request: verdict, table, the most severe changes, the rest folded; its length is
    limited."""
    names = f"`{in_code(changes.old_name or 'old')}` → `{in_code(changes.new_name or 'new')}`"
    lines = [f"### Graph diff: {escape_markdown(headline(changes))}", "", _sum_lines(changes), "", names, ""]
    if not changes.same:
        lines += [*_table(changes), ""] if len(changes) > FEW_CHANGES else []
        lines += _rows(changes, changes.items[:MAX_UNFOLDED_CHANGES])
    rest = changes.items[MAX_UNFOLDED_CHANGES:]
    tail = [f"> {line}" for line in remarks(changes) if line]
    if rest:
        room = MAX_COMMENT_LETTERS - sum(len(line) + 1 for line in [*lines, *tail]) - FOLDING_LETTERS
        lines += ["", "<details><summary>", format_counted_noun(len(rest), "other change"), "</summary>", ""]
        lines += [*_fitting(changes, rest, room), "", "</details>"]
    comment = "\n".join([*lines, "", *tail]).rstrip() + "\n"
    # Names may be of any length: a comment that is still too long is cut at a line.
    return (
        comment
        if len(comment) < MAX_COMMENT_LETTERS
        else comment[: MAX_COMMENT_LETTERS - len(CUT_WORD)].rsplit("\n", 1)[0] + CUT_WORD
    )


def headline(changes: Comparison) -> str:
    """Return the headline: a single change, or the number of changes of each kind."""
    if len(changes) == 1:
        change = changes[0]
        kind = f"{change.kind} " if change.kind in ("added", "removed") else ""
        return f"1 change: {kind}{' '.join(change_head(change, 1).split())}"
    return f"{format_counted_noun(len(changes), 'change')}: {_kind_counts(changes)}" if changes else "same"


def _table(changes: Comparison) -> list[str]:
    """Return a table that counts the changes by kind (rows) and severity (columns)."""
    severities = [word for word in SEVERITIES if word in changes.summary["severities"]]
    lines = ["| | " + " | ".join(severities) + " |", "|---|" + "---:|" * len(severities)]
    for kind in CHANGE_KINDS:
        counts = [sum(change.kind == kind and change.severity == word for change in changes) for word in severities]
        if any(counts):
            lines.append(f"| {KIND_SIGNS[kind]} {kind} | " + " | ".join(str(count or "") for count in counts) + " |")
    return lines


def _rows(changes: Comparison, listed: Iterable[Change], indent: str = "") -> Iterator[str]:
    for change in listed:
        yield f"{indent}- {KIND_SIGNS[change.kind]} `{in_code(change_head(change))}`"
        for fact in change_facts(change):
            yield f"{indent}  - {escape_markdown(fact)}"
        if line := program_line_words(*changes.program_lines(change)):
            yield f"{indent}  - `{in_code(line)}`"
        if not indent and (numbers := _numbers_text(changes, change)):
            yield f"  - {numbers}"
        yield from _rows(changes, change.inside, indent + "  ")
        if words := behind_words(change):
            yield f"{indent}  - {escape_markdown(words)}"


def _fitting(changes: Comparison, listed: tuple[Change, ...], room: int) -> Iterator[str]:
    """Yield the lines of the changes that fit into `room` letters, then a line with the number of the others."""
    for number, change in enumerate(listed):
        lines = list(_rows(changes, [change]))
        room -= sum(len(line) + 1 for line in lines)
        if room < 0:
            yield f"- … and {format_counted_noun(len(listed) - number, 'more change')}"
            return
        yield from lines


def in_code(words: str) -> str:
    """Return a name for use between back quotes."""
    return printable(words).replace("`", "'")


def escape_markdown(words: str) -> str:
    """Escape a text so that Markdown shows it unchanged and mentions no user.

    >>> escape_markdown("a_b"), escape_markdown("@everyone") == "@\u200beveryone"
    ('a\\\\_b', True)
    """
    marked = "".join(f"\\{letter}" if letter in "\\`*_<>[]#|~" else letter for letter in printable(words))
    # A zero-width character after an @ keeps it from mentioning a user.
    return marked.replace("@", "@\u200b")
