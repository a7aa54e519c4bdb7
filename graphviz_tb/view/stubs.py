"""Texts of the stubs next to a box: constants, weights, summaries, extracted neighbours, the "+N" rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphviz_tb.model.measure import SMALL_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.metagraph import Annotation, Side, StubKind
from graphviz_tb.model.paths import last_segment
from graphviz_tb.model.view import StubWords
from graphviz_tb.view.labels import TOOLTIP_NAMES, tooltip_name

STUB_LABEL_PX = 100  # two of them and a box are narrower than the widest box
STUB_KIND_WORDS: dict[StubKind, str] = {
    "shortcut": "linked",
    "constant": "constant",
    "summary": "summary",
    "weight": "weight",
}


def stubs_at_side(
    annotations: Sequence[tuple[int, Annotation]],
    side: Side,
    names: Mapping[int, str],
    labels: Mapping[int, str],
    limit: int,
) -> tuple[StubWords, ...]:
    """Return the stubs at one side of a box: at most `limit`, then one that counts the rest and names them in its
    tooltip.

    Each is labelled with the last segment of its name, or its entry in `labels`.

    >>> stubs = [(row, Annotation(0, "in", row, "constant")) for row in range(4)]
    >>> [stub_words.label for stub_words in stubs_at_side(stubs, "in", {row: f"a/c{row}" for row in range(4)}, {}, 2)]
    ['c0', 'c1', '+2']
    """
    here = [(index, annotation) for index, annotation in annotations if annotation.side == side]
    stubs = [stub_words(index, annotation, names, labels) for index, annotation in here[:limit]]
    rest = here[limit:]
    if rest:
        listed = ", ".join(tooltip_name(names.get(annotation.other, "")) for _, annotation in rest[:TOOLTIP_NAMES])
        title = f"{len(rest)} more: {listed}"
        stubs.append(StubWords("more", f"+{len(rest)}", title, -1, False, tuple(index for index, _ in rest)))
    return tuple(stubs)


def stub_words(index: int, annotation: Annotation, names: Mapping[int, str], labels: Mapping[int, str]) -> StubWords:
    """Return the texts of one annotation."""
    full = replace_unsafe_characters(names.get(annotation.other, ""))
    label, more = neighbour_name(annotation.other, names, labels), ""
    parts = label.split(" (")  # e.g. "kernel 3×3×1×8 (2 uses)"
    if annotation.kind == "weight" and len(parts) > 1 and text_width(label, SMALL_FONT_PX) > STUB_LABEL_PX:
        # its shape is more important than its number of uses
        label, more = " (".join(parts[:-1]), ", " + parts[-1].replace(")", "")
    count = f", {annotation.edges} edges" if annotation.edges > 1 else ""
    control = ", control" if annotation.control else ""
    title = f"{tooltip_name(full)} ({STUB_KIND_WORDS[annotation.kind]}{count}{control}{more})"
    label = elide_text(label, STUB_LABEL_PX, SMALL_FONT_PX)
    return StubWords(annotation.kind, label, title, annotation.other, annotation.control, (index,))


def neighbour_name(row: int, names: Mapping[int, str], labels: Mapping[int, str]) -> str:
    """Return the label of a neighbour, else the last segment of its name."""
    full = replace_unsafe_characters(names.get(row, ""))
    return replace_unsafe_characters(labels.get(row, "")) or last_segment(full) or full
