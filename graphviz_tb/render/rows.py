"""Lay out the legend in rows and columns, in several shapes, from which the sheet chooses the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from graphviz_tb.model.drawing import Group, Primitive
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_SIZE, clean, elide, width
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.legend import GAP, SAMPLE, LegendBlock, LegendEntry
from graphviz_tb.render.texts import written

ROW, HEADING = 20, 22  # px: a line of the legend, and its heading
MORE = 14  # for the second line of a row
APART = 16  # between two columns, and between two blocks
BlockSize = tuple[LegendBlock, int, int]  # a block, width of its columns, width of its heading
WIDTHS = (150, 200, 260, 340, 440, 560, 720, 1000)  # px: from one column to one line


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block at its place in the legend, in `columns` columns of `lines` lines."""

    block: LegendBlock = field(compare=False)  # equal in every shape of a legend
    x: int
    y: int
    columns: int
    lines: int


@dataclass(frozen=True, slots=True)
class Legend:
    """A legend of a certain shape, not yet drawn."""

    width: int
    height: int
    blocks: tuple[PlacedBlock, ...]


def shapes(blocks: Sequence[LegendBlock]) -> list[Legend]:
    """Return the legend in several distinct shapes, from narrow to wide."""
    measured = [(block, block.column, width(block.heading, OP_SIZE, True)) for block in blocks]
    candidates = dict.fromkeys(shaped(measured, limit) for limit in WIDTHS)
    return [candidate for candidate in candidates if candidate.blocks]


def shaped(blocks: Sequence[BlockSize], limit: int) -> Legend:
    """Place blocks in columns of rows, next to each other up to a total width of `limit`, else one below the other."""
    placed: list[PlacedBlock] = []
    x = y = deep = wide = 0
    for block, column, heading in blocks:
        columns, lines = columns_for(block, column, limit)
        across = max(columns * (column + APART) - APART, heading)
        if x and x + across > limit:  # the next block goes below all others
            x, y, deep = 0, y + deep + APART, 0
        placed.append(PlacedBlock(block, x, y, columns, lines))
        x += across
        wide, x = max(wide, x), x + 2 * APART
        deep = max(deep, HEADING + ROW * lines + sum(MORE for entry in block.entries if entry.more))
    return Legend(wide, y + deep, tuple(placed))


def columns_for(block: LegendBlock, column: int, limit: int) -> tuple[int, int]:
    """Return the number of columns, each `column` px wide, and of lines in each; one column if a row has two lines of
    text."""
    count = len(block.entries)
    if any(entry.more for entry in block.entries):
        return 1, count
    # The lines that the most columns need; then the columns that these lines fill.
    lines = -(-count // max(1, (limit + APART) // (column + APART)))
    return -(-count // lines), lines


def drawn(legend: Legend, theme: Theme) -> Iterator[Group]:
    """Yield a group for each heading and each row."""
    for placed in legend.blocks:
        step = placed.block.column + APART
        yield Group(tuple(_text(placed.block.heading, placed.x, placed.y + 14, theme.text, True)))
        lower = 0
        for index, entry in enumerate(placed.block.entries):
            x = placed.x + step * (index // placed.lines)
            y = placed.y + HEADING + ROW * (index % placed.lines) + lower
            yield _row(entry, (x, y), placed.block.most, theme)
            lower += MORE if entry.more else 0


def _row(entry: LegendEntry, origin: tuple[int, int], most: int, theme: Theme) -> Group:
    """Return a sample with its label."""
    label = elide(clean(entry.label), most - SAMPLE - GAP, OP_SIZE)
    texts = _text(label, SAMPLE + GAP, 12, theme.text, False)
    texts += _text(entry.more, SAMPLE + GAP, 12 + MORE, theme.text, False)
    return Group((*entry.sample, *texts), at=origin)


def _text(content: str, x: int, y: int, colour: str, semibold: bool) -> list[Primitive]:
    return written(content, x, y, OP_SIZE, width(content, OP_SIZE, semibold), colour, semibold=semibold)
