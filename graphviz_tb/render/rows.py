"""Lay out the legend in rows and columns, in several shapes, from which the sheet chooses the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from graphviz_tb.model.drawing import Group, Primitive
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.theme import Theme
from graphviz_tb.render.legend import SAMPLE_GAP, SAMPLE_WIDTH, LegendBlock, LegendEntry
from graphviz_tb.render.texts import text_labels

LEGEND_ROW_PX, LEGEND_HEADING_PX = 20, 22  # px: a line of the legend, and its heading
SECOND_LINE_PX = 14  # for the second line of a row
LEGEND_BLOCK_GAP = 16  # between two columns, and between two blocks
BlockSize = tuple[LegendBlock, int, int]  # a block, width of its columns, width of its heading
LEGEND_WIDTHS = (150, 200, 260, 340, 440, 560, 720, 1000)  # px: from one column to one line


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block at its place in the legend, in `columns` columns of `lines` lines."""

    block: LegendBlock = field(compare=False)  # equal in every shape of a legend
    x: int
    y: int
    columns: int
    lines: int


@dataclass(frozen=True, slots=True)
class LegendShape:
    """A legend of a certain shape, not yet drawn."""

    width: int
    height: int
    blocks: tuple[PlacedBlock, ...]


def legend_shapes(blocks: Sequence[LegendBlock]) -> list[LegendShape]:
    """Return the legend in several distinct shapes, from narrow to wide."""
    measured = [(block, block.column_width, text_width(block.heading, OP_FONT_PX, True)) for block in blocks]
    candidates = dict.fromkeys(shape_legend(measured, limit) for limit in LEGEND_WIDTHS)
    return [candidate for candidate in candidates if candidate.blocks]


def shape_legend(blocks: Sequence[BlockSize], limit: int) -> LegendShape:
    """Place blocks in columns of rows, next to each other up to a total width of `limit`, else one below the other."""
    placed: list[PlacedBlock] = []
    x = y = deep = wide = 0
    for block, column, heading in blocks:
        columns, lines = column_layout(block, column, limit)
        across = max(columns * (column + LEGEND_BLOCK_GAP) - LEGEND_BLOCK_GAP, heading)
        if x and x + across > limit:  # the next block goes below all others
            x, y, deep = 0, y + deep + LEGEND_BLOCK_GAP, 0
        placed.append(PlacedBlock(block, x, y, columns, lines))
        x += across
        wide, x = max(wide, x), x + 2 * LEGEND_BLOCK_GAP
        deep = max(
            deep,
            LEGEND_HEADING_PX + LEGEND_ROW_PX * lines + sum(SECOND_LINE_PX for entry in block.entries if entry.more),
        )
    return LegendShape(wide, y + deep, tuple(placed))


def column_layout(block: LegendBlock, column: int, limit: int) -> tuple[int, int]:
    """Return the number of columns, each `column` px wide, and of lines in each; one column if a row has two lines of
    text."""
    count = len(block.entries)
    if any(entry.more for entry in block.entries):
        return 1, count
    # The lines that the most columns need; then the columns that these lines fill.
    lines = -(-count // max(1, (limit + LEGEND_BLOCK_GAP) // (column + LEGEND_BLOCK_GAP)))
    return -(-count // lines), lines


def draw_legend(legend: LegendShape, theme: Theme) -> Iterator[Group]:
    """Yield a group for each heading and each row."""
    for placed in legend.blocks:
        step = placed.block.column_width + LEGEND_BLOCK_GAP
        yield Group(tuple(legend_text(placed.block.heading, placed.x, placed.y + 14, theme.text, True)))
        lower = 0
        for index, entry in enumerate(placed.block.entries):
            x = placed.x + step * (index // placed.lines)
            y = placed.y + LEGEND_HEADING_PX + LEGEND_ROW_PX * (index % placed.lines) + lower
            yield legend_row(entry, (x, y), placed.block.most, theme)
            lower += SECOND_LINE_PX if entry.more else 0


def legend_row(entry: LegendEntry, origin: tuple[int, int], most: int, theme: Theme) -> Group:
    """Return a sample with its label."""
    label = elide_text(replace_unsafe_characters(entry.label), most - SAMPLE_WIDTH - SAMPLE_GAP, OP_FONT_PX)
    texts = legend_text(label, SAMPLE_WIDTH + SAMPLE_GAP, 12, theme.text, False)
    texts += legend_text(entry.more, SAMPLE_WIDTH + SAMPLE_GAP, 12 + SECOND_LINE_PX, theme.text, False)
    return Group((*entry.sample, *texts), at=origin)


def legend_text(content: str, x: int, y: int, colour: str, semibold: bool) -> list[Primitive]:
    return text_labels(content, x, y, OP_FONT_PX, text_width(content, OP_FONT_PX, semibold), colour, semibold=semibold)
