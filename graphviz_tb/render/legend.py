"""Draw the legend: the colours and the signs that occur in a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace

from graphviz_tb.model.drawing import Group, Label, Primitive
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import OP_FONT_PX, elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.paint import LegendRow, LineTint, Paint, RowFill
from graphviz_tb.model.scene import Anchor, Box, Route, Scene, Stub
from graphviz_tb.model.theme import Theme
from graphviz_tb.render import boxes
from graphviz_tb.render.lines import draw_route


def text_labels(
    content: str,
    x: float,
    y: float,
    size: int,
    width: int,
    colour: str,
    anchor: Anchor = "start",
    semibold: bool = False,
    halo: str | None = None,
) -> list[Primitive]:
    """Return a text in its measured width, independent of the fonts of the viewer; [] for an empty text.

    >>> text_labels("", 0, 12, 12, 0, "#000000")
    []
    """
    return [Label(content, x, y, size, width, colour, anchor, semibold, halo)] if content and width else []


MAX_COLUMN_WIDTH = 260  # px: slightly more than the widest box; longer labels are shortened
MAX_SENTENCE_WIDTH = 480  # px, if the rows are sentences
SAMPLE_WIDTH, SAMPLE_GAP = 28, 8  # px: the width of a sample, and the gap to its label
PAPER_THEME = "paper"  # the theme of figures for print
SCREEN_SIGNS = ("call", "function", "series", "chain", "fold", "shortcut", "summary")  # left out in figures
CHANGE_LABELS = {
    ("+", True): "new wire",
    ("−", True): "removed wire",
    ("~", True): "new and removed",
    ("+", False): "partly new",
    ("−", False): "partly removed",
    ("~", False): "partly new, removed",
}


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One row: a sample drawn in a box of `SAMPLE_WIDTH` × 16 at the origin, and its label; `more` is a second line."""

    sample: tuple[Primitive, ...]
    label: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class LegendBlock:
    """A heading and its rows, each at most `most` pixels wide; `plain`: in a legend of lines it has no heading."""

    heading: str
    entries: tuple[LegendEntry, ...]
    most: int = MAX_COLUMN_WIDTH
    plain: bool = False

    @property
    def column_width(self) -> int:
        longest = max(text_width(text, OP_FONT_PX) for entry in self.entries for text in (entry.label, entry.more))
        sample = (
            SAMPLE_WIDTH + SAMPLE_GAP if any(entry.sample for entry in self.entries) or len(self.entries) > 1 else 0
        )
        return min(self.most, longest + sample)


SAME_STRUCTURE = "same shade: same structure"
SAME_STRUCTURE_AND_LETTER = "same shade and letter: same structure"


def rows_by_kind(rows: Sequence[LegendRow]) -> list[LegendRow]:
    """Return one row for each kind, in its first shade. If a kind has several structures besides single layers, the
    last row explains the shades."""
    alike: dict[str, LegendRow] = {}
    for row in rows:
        known = replace(row, label=row.kind, fill=replace(row.fill, badge="")) if row.kind else row
        alike.setdefault(row.kind or f" {row.label}", known)  # a kind has no space before it
    several = [row for row in rows if row.kind and row.label != row.kind]
    said = SAME_STRUCTURE_AND_LETTER if any(row.fill.badge != "" for row in rows) else SAME_STRUCTURE
    more = [LegendRow(said, rows[0].fill, "rest")] if len(several) > len({row.kind for row in several}) else []
    return [*alike.values(), *more]


def legend_blocks(scene: Scene, paint: Paint) -> tuple[LegendBlock, ...]:
    """Return the legend of one picture; empty if there is nothing to explain."""
    colours = tuple(_colour_entry(row, paint.theme) for row in paint.legend)
    blocks = (
        LegendBlock(
            paint.heading,
            colours,
            MAX_SENTENCE_WIDTH if paint.scheme == "diff" else MAX_COLUMN_WIDTH,
            paint.scheme == "structure",
        ),
        LegendBlock("Signs", (*_sign_entries(scene, paint.theme), *_change_entries(paint)), plain=True),
    )
    return tuple(block for block in blocks if block.entries)


def _change_entries(paint: Paint) -> list[LegendEntry]:
    """Return samples of the lines that were added or removed between two graphs, if there are any."""
    tints: dict[tuple[str, bool], LineTint] = {}
    for tint in (*paint.tints.routes, *paint.tints.stubs):
        if tint is not None and tint.sign:
            tints.setdefault((tint.sign, tint.whole), tint)  # one sample for each kind
    return [
        LegendEntry(draw_route(SAMPLE_EDGE, paint.theme, False, tints[key]).shapes, label)
        for key, label in CHANGE_LABELS.items()
        if key in tints
    ]


def _colour_entry(row: LegendRow, theme: Theme) -> LegendEntry:
    if row.shape == "rest":
        return LegendEntry((), row.label)
    sample = boxes.draw_closed_box(SAMPLE_BOX, row.fill, theme)
    if row.fill.badge:
        sample += text_labels(
            row.fill.badge, SAMPLE_WIDTH / 2, 12, 10, text_width(row.fill.badge, 10), row.fill.text, "middle"
        )
    return LegendEntry(tuple(sample), row.label, row.more)


DrawSample = Callable[[RowFill, Theme], Sequence[Primitive]]
NO_ROW = -1  # samples represent no row and no box
SAMPLE_BOX = Box("", NO_ROW, "scope", NO_ROW, 0, 0, 0, SAMPLE_WIDTH, 16, open=False, openable=False)
SAMPLE_EDGE = Route(((0, 8), (SAMPLE_WIDTH, 8)), "data", NO_ROW, NO_ROW, 10)


def _box_sample(box: Box) -> DrawSample:
    return lambda fill, theme: boxes.draw_closed_box(box, fill, theme)


def _sign_sample(sign: str) -> DrawSample:
    box = replace(SAMPLE_BOX, kind="op", x=6, width=16, sign=sign)
    return lambda fill, theme: [  # measured when drawn: the page knows no widths before
        *boxes.draw_closed_box(box, fill, theme),
        *text_labels(sign, SAMPLE_WIDTH / 2, 12, OP_FONT_PX, text_width(sign, OP_FONT_PX), fill.text, "middle"),
    ]


def _frame_sample(box: Box) -> DrawSample:
    return lambda fill, theme: boxes.draw_frame(box, fill, theme)


def _edge_sample(edge: Route) -> DrawSample:
    return lambda fill, theme: draw_route(edge, theme, chosen=False).shapes


def _stub_sample(stub: Stub) -> DrawSample:
    return lambda fill, theme: boxes.draw_stub(stub, fill, theme)


SAMPLE_STUB_LINE = ((16, 8), (28, 8))  # from the end of the sample stub to the end of the sample
SIGN_SAMPLES: tuple[tuple[str, str, DrawSample], ...] = (
    ("call", "function call", _box_sample(replace(SAMPLE_BOX, kind="call"))),
    ("function", "function", _box_sample(replace(SAMPLE_BOX, kind="function"))),
    ("series", "repeated, side by side", _box_sample(replace(SAMPLE_BOX, kind="series", sheets=2))),
    (
        "chain",
        "repeated, one after another",
        _box_sample(replace(SAMPLE_BOX, kind="series", sheets=2, connected=True, height=18, y=-1)),
    ),
    (
        "shown",
        "repeated; open: one is shown",
        _frame_sample(replace(SAMPLE_BOX, kind="series", sheets=2, connected=True, open=True, height=20, y=-2)),
    ),
    ("surplus", "only in one of them", _box_sample(replace(SAMPLE_BOX, surplus=True))),
    ("fold", "many in one box", _box_sample(replace(SAMPLE_BOX, kind="fold", sheets=2))),
    ("constant", "constant", _stub_sample(Stub(4, 3, 10, 10, "constant", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))),
    ("weight", "weight", _stub_sample(Stub(4, 3, 10, 10, "weight", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))),
    ("summary", "summary", _stub_sample(Stub(3, 2, 12, 12, "summary", "in", NO_ROW, NO_ROW, SAMPLE_STUB_LINE))),
    (
        "shortcut",
        "leads elsewhere",
        _stub_sample(Stub(0, 3, 18, 10, "shortcut", "in", NO_ROW, NO_ROW, ((18, 8), (28, 8)))),
    ),
    ("+", "sum", _sign_sample("+")),
    ("×", "product", _sign_sample("×")),
    ("data", "data", _edge_sample(SAMPLE_EDGE)),
    ("control", "control", _edge_sample(replace(SAMPLE_EDGE, kind="control"))),
    ("reference", "writes weights", _edge_sample(replace(SAMPLE_EDGE, kind="reference"))),
    ("back", "against the flow", _edge_sample(replace(SAMPLE_EDGE, back=True))),
)


def _occurring_signs(scene: Scene) -> set[str]:
    names: set[str] = {stub.kind for stub in scene.stubs}
    names |= {edge.kind for edge in scene.routes} | {web.kind for web in scene.webs}
    for box in scene.boxes:
        if box.open and box.sheets:
            names.add("shown")
        if box.surplus:
            names.add("surplus")
        if box.sign:
            names.add(box.sign)
        elif not box.open and box.kind != "scope":
            names.add("chain" if box.kind == "series" and box.connected else box.kind)
    if any(edge.back for edge in scene.routes):
        names.add("back")
    if "shown" in names:  # its sign explains closed stacks, too
        names.discard("chain")
    # A kind that all lines have needs no sign.
    return names if "control" in names or "reference" in names else {name for name in names if name != "data"}


def _sign_entries(scene: Scene, theme: Theme) -> list[LegendEntry]:
    """Return the signs of this picture, in the order of the table."""
    names = _occurring_signs(scene)
    if theme.name == PAPER_THEME:
        names = {name for name in names if name not in SCREEN_SIGNS}
    plain = RowFill(theme.op, theme.stroke, theme.text, theme.secondary)
    return [LegendEntry(tuple(draw(plain, theme)), label) for name, label, draw in SIGN_SAMPLES if name in names]


# Lay out the legend in lines, or in columns in several shapes, of which the page chooses the best.

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


def _legend_shapes(blocks: Sequence[LegendBlock]) -> list[LegendShape]:
    """Return the legend in several distinct shapes, from narrow to wide."""
    measured = [(block, block.column_width, text_width(block.heading, OP_FONT_PX, True)) for block in blocks]
    candidates = dict.fromkeys(_shape_legend(measured, limit) for limit in LEGEND_WIDTHS)
    return [candidate for candidate in candidates if candidate.blocks]


def legend_in_lines(blocks: Sequence[LegendBlock], limit: int) -> LegendShape:
    """Return all rows in lines of at most `limit` px; blocks whose rows have two lines of text are below, in
    columns."""
    placed: list[PlacedBlock] = []
    x = y = longest = 0
    for block in blocks:
        if any(entry.more for entry in block.entries):
            continue
        entries = [LegendEntry((), block.heading)] if block.heading and not block.plain else []
        for entry in (*entries, *block.entries):
            single = LegendBlock("", (entry,), block.most if entry.sample else MAX_SENTENCE_WIDTH)
            width = single.column_width
            if x and x + width > limit:
                x, y = 0, y + LEGEND_ROW_PX
            placed.append(PlacedBlock(single, x, y, 1, 1))
            longest, x = max(longest, x + width), x + width + LEGEND_BLOCK_GAP
    y = y + LEGEND_ROW_PX if placed else 0
    tall = [block for block in blocks if any(entry.more for entry in block.entries)]
    if tall:
        below = _shape_legend(
            [(block, block.column_width, text_width(block.heading, OP_FONT_PX, True)) for block in tall], limit
        )
        y += LEGEND_BLOCK_GAP if placed else 0
        placed += [replace(one, y=one.y + y) for one in below.blocks]
        longest, y = max(longest, below.width), y + below.height
    return LegendShape(longest, y, tuple(placed))


def _shape_legend(blocks: Sequence[BlockSize], limit: int) -> LegendShape:
    """Place blocks next to each other, up to a total width of `limit`, or below each other; each in columns of rows."""
    placed: list[PlacedBlock] = []
    x = y = line_height = longest = 0
    for block, column, heading in blocks:
        columns, lines = _column_layout(block, column, limit)
        width = max(columns * (column + LEGEND_BLOCK_GAP) - LEGEND_BLOCK_GAP, heading)
        if x and x + width > limit:  # the next block goes below all others
            x, y, line_height = 0, y + line_height + LEGEND_BLOCK_GAP, 0
        placed.append(PlacedBlock(block, x, y, columns, lines))
        x += width
        longest, x = max(longest, x), x + 2 * LEGEND_BLOCK_GAP
        line_height = max(
            line_height,
            LEGEND_HEADING_PX + LEGEND_ROW_PX * lines + sum(SECOND_LINE_PX for entry in block.entries if entry.more),
        )
    return LegendShape(longest, y + line_height, tuple(placed))


def _column_layout(block: LegendBlock, column: int, limit: int) -> tuple[int, int]:
    """Return the number of columns, each `column` px wide, and the number of rows in each; one column if a row has two
    lines of text."""
    count = len(block.entries)
    if any(entry.more for entry in block.entries):
        return 1, count
    # First the number of rows with as many columns as possible, then the number of columns that these rows fill.
    lines = -(-count // max(1, (limit + LEGEND_BLOCK_GAP) // (column + LEGEND_BLOCK_GAP)))
    return -(-count // lines), lines


def draw_legend(legend: LegendShape, theme: Theme) -> Iterator[Group]:
    """Yield a group for each heading and each row."""
    for placed in legend.blocks:
        step = placed.block.column_width + LEGEND_BLOCK_GAP
        heading = LEGEND_HEADING_PX if placed.block.heading else 0
        if heading:
            yield Group(tuple(_legend_text(placed.block.heading, placed.x, placed.y + 14, theme.text, True)))
        lower = 0
        for index, entry in enumerate(placed.block.entries):
            x = placed.x + step * (index // placed.lines)
            y = placed.y + heading + LEGEND_ROW_PX * (index % placed.lines) + lower
            yield _legend_row(entry, (x, y), placed.block.most, theme)
            lower += SECOND_LINE_PX if entry.more else 0


def _legend_row(entry: LegendEntry, origin: tuple[int, int], most: int, theme: Theme) -> Group:
    """Return a sample with its label; the label alone if there is no sample."""
    room = most - SAMPLE_WIDTH - SAMPLE_GAP if entry.sample else most
    # Shorten in the middle, because labels that begin alike differ at their ends (see `color.structure`).
    label = elide_text(replace_unsafe_characters(entry.label), room, OP_FONT_PX, whole_words=False)
    texts = _legend_text(label, SAMPLE_WIDTH + SAMPLE_GAP if entry.sample else 0, 12, theme.text, False)
    texts += _legend_text(entry.more, SAMPLE_WIDTH + SAMPLE_GAP, 12 + SECOND_LINE_PX, theme.text, False)
    return Group((*entry.sample, *texts), at=origin)


def _legend_text(content: str, x: int, y: int, colour: str, semibold: bool) -> list[Primitive]:
    return text_labels(content, x, y, OP_FONT_PX, text_width(content, OP_FONT_PX, semibold), colour, semibold=semibold)
