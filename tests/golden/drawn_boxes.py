"""Boxes and sequences of them, drawn by a seed, as the steps of `group/flow` are given them."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from graphviz_tb.fold.flow.box import FlowBox, SymbolTable, make_group, make_stack, walk_boxes
from graphviz_tb.fold.flow.invariants import FoldContext, enforce_limits, narrow_to_limit
from graphviz_tb.fold.flow.names import Vocabulary
from graphviz_tb.fold.flow.regions import _reading_cost, _simplify_level, _stack_parallel_parts
from graphviz_tb.fold.flow.repeats import _is_stage, fold_heads, fold_repeats, fold_stages
from graphviz_tb.fold.flow.sequence import SequenceElement, candidate_periods, number_words, periodic_stretches
from graphviz_tb.limits import Meter
from graphviz_tb.model.hierarchy import GroupOrigin

NAMES = ("conv", "conv_1", "conv_2", "dense", "block_1_a", "block_1_b", "block_2_a", "x", "stage2a", "stage2b")
GROUPS = (
    GroupOrigin.NAME,
    GroupOrigin.NAME,
    GroupOrigin.REGION,
    GroupOrigin.STAGE,
    GroupOrigin.REPEAT,
    GroupOrigin.BRANCH,
    GroupOrigin.SEGMENT,
    GroupOrigin.SEGMENT,
)
MANY = 20  # of one name
SHOWN = 60  # characters of a line, before its checksum
DEEP = 3  # groups in groups
MOST = (2, 4, 6, 9, 18)  # boxes side by side


class Drawn:
    """Boxes that were drawn, and what they share."""

    def __init__(self, name: str) -> None:
        self.luck, self.symbols, self.rows = random.Random(name), SymbolTable(), 0
        self.setting = FoldContext(
            Vocabulary(NAMES), self.symbols, Meter(1000), *self.luck.choice(((16, 40), (4, 6), (3, 9)))
        )

    def boxes(self, deep: int = 0) -> list[FlowBox]:
        """Some boxes."""
        return [self.box(deep) for _ in range(self.luck.randrange(1, self.luck.choice(MOST)))]

    def box(self, deep: int) -> FlowBox:
        """An op, with small inputs now and then; a group; a stack."""
        kind = self.luck.random() if deep < DEEP else 0
        if kind < 0.6:
            number, ops = (
                self.luck.randrange(6),
                self.luck.choice((1, 1, 1, 2, 3, 4, 199, 200, 201)[: 6 if deep else 9]),
            )
            feeders = [self.box(DEEP) for _ in range(self.luck.randrange(3))] if kind > 0.5 else []
            self.rows += 1
            return FlowBox(
                self.luck.choice(NAMES), self.symbols.symbol_of("op", number, ops), ops, self.rows, feeders=feeders
            )
        if kind < 0.8:
            members = self.boxes(deep + 1)
            how = self.luck.choice(GROUPS)
            symbol = self.symbols.symbol_of(how, *(member.symbol for member in members))
            return make_group(how, members, symbol, self.luck.choice(NAMES))
        unit = self.box(deep + 1)
        members = [unit, *(self.alike(unit) for _ in range(self.luck.choice((1, 2, 2, 6, 40))))]
        return make_stack(self.symbols, members, unit.symbol, sideways=self.luck.random() < 0.3)

    def alike(self, box: FlowBox) -> FlowBox:
        """Another box of the same structure."""
        self.rows += 1
        members = [self.alike(member) for member in box.members]
        row = self.rows if box.row >= 0 else -1
        return FlowBox(self.luck.choice(NAMES), box.symbol, box.ops, row, box.how, members, [], box.unit, box.sideways)

    def sequence(self) -> list[SequenceElement]:
        """Elements along the flow, some of them in repeated templates, with odd ones between."""
        luck = self.luck
        kinds = [self.box(luck.choice((1, 2, DEEP))) for _ in range(6)]
        found: list[SequenceElement] = []
        for _ in range(luck.randrange(1, 5)):
            template = [luck.choice(kinds) for _ in range(luck.choice((1, 2, 3, 4, 5, 9)))]
            flags = [(luck.randrange(1, 4), luck.random() < 0.3, luck.random() < 0.1) for _ in template]
            for _ in range(luck.choice((1, 2, 2, 3, 4, 7, 24))):
                found += [self.element(box, *flag) for box, flag in zip(template, flags, strict=True)]
                if luck.random() < 0.1:
                    found.append(self.element(luck.choice(kinds), 1, False, False))
        return found

    def element(self, box: FlowBox, cut: int, fork: bool, side: bool) -> SequenceElement:
        """One box of a sequence, of the structure of another."""
        made = self.alike(box)
        held = tuple(member.symbol for member in made.members) or (made.symbol,)
        word: object = ("stack", made.unit) if made.is_repetition else made.symbol
        shortcut, source = fork and len(held) > 2, not fork and self.luck.random() < 0.1
        return SequenceElement(made, made.symbol, word, cut, fork, False, side, held, shortcut, source)


def shape(boxes: Sequence[FlowBox]) -> str:
    """What groups there are, as one line."""
    return " ".join(
        f"{GroupOrigin(box.how).name.lower()}{box.symbol}×{box.ops}({shape([*box.feeders, *box.members])})"
        if box.members
        else f"{box.symbol}{'+' * len(box.feeders)}"
        for box in boxes
    )  # fmt: skip


def folded(name: str) -> list[str]:
    """What the steps that look at boxes alone make of some, as lines."""
    drawn = Drawn(name)
    boxes, total = drawn.boxes(), drawn.luck.choice((10, 20, 30, 100))
    limit = drawn.luck.choice((4, 6, 16))
    lines = [f"{_reading_cost(boxes)} {[_is_stage(box) for box in walk_boxes(boxes) if box.members]}"]
    lines.append(shape(_simplify_level(list(boxes), limit, total)))
    lines.append(shape(_stack_parallel_parts(list(boxes), drawn.setting)))
    lines.append(shape(narrow_to_limit(boxes, drawn.setting, limit)))
    lines.append(shape(enforce_limits(boxes, drawn.setting)))
    return lines


def repeated(name: str) -> list[str]:
    """What the steps that look at a sequence make of one, as lines."""
    lines = []
    for step in (fold_heads, fold_repeats, fold_stages):
        drawn = Drawn(name)
        sequence = drawn.sequence()
        found = step(sequence if step is not fold_stages else fold_repeats(sequence, drawn.setting), drawn.setting)
        lines.append(f"{shape([each.box for each in found])} {[(each.cut, each.fork, each.stage) for each in found]}")
    return lines


def folded_boxes(name: str) -> Iterator[Any]:
    """What steps of folding make of some boxes, and of a sequence, that are drawn by a seed."""
    for number in range(MANY):
        for line in (*folded(f"{name} {number}"), *repeated(f"{name} {number}")):
            yield line[:SHOWN], zlib.crc32(line.encode())


def spaced(name: str) -> Iterator[Any]:
    """After how many words a long sequence, drawn by a seed, may repeat itself, and where it does."""
    luck = random.Random(name)
    sequence: list[int] = []
    for _ in range(luck.randrange(2, 6)):
        template = [luck.randrange(luck.choice((3, 30))) for _ in range(luck.choice((2, 7, 13, 40, 120)))]
        sequence += template * luck.choice((1, 2, 3, 8))
    words = number_words((sequence * 9)[: luck.choice((30, 399, 400, 401, 900, 1500))])
    yield candidate_periods(words)
    yield from (periodic_stretches(words, period) for period in candidate_periods(words)[:MANY])
