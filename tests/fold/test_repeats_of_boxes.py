"""Repeats in a sequence of boxes: which are worth a stack, where they begin, and what is left as it is."""

from __future__ import annotations

import random

import pytest

from graphviz_tb import load
from graphviz_tb.fold.flow.box import FlowBox, make_group, make_stack
from graphviz_tb.fold.flow.invariants import FoldContext
from graphviz_tb.fold.flow.repeats import (
    WholeRepeat,
    _fold_repetitions,
    _fold_single_units,
    _has_smaller_period,
    _is_worth_folding,
    _shows_stack,
    fold_repeats,
    holds_stack,
)
from graphviz_tb.fold.flow.sequence import SequenceElement
from graphviz_tb.fold.flow.stages import fold_heads, fold_stages
from graphviz_tb.model.hierarchy import SERIES_ROW, GroupOrigin
from tests.each import each
from tests.fold.boxes import context, rows
from tests.fold.networks import Writer, formed, pre_norm


def element(name: str, symbol: int, ops: int = 1, **more: bool | int) -> SequenceElement:
    """A box of a sequence."""
    return SequenceElement(FlowBox(name, symbol, ops, 1), symbol, symbol, **more)  # type: ignore[arg-type]


def sequence(text: str, ops: int = 1) -> list[SequenceElement]:
    """One box for each letter; equal letters are equal boxes of one name."""
    return [element(letter, ord(letter), ops) for letter in text]


def shown(folded: list[SequenceElement]) -> str:
    """Boxes as letters, groups in brackets, stacks with their height."""

    def of(box: FlowBox) -> str:
        if not box.members:
            return box.name
        inside = "".join(map(of, box.members[:1] if box.is_repetition else box.members))
        return (
            f"{len(box.members)}×({inside})" if box.is_repetition else f"[{inside}]" if len(box.members) > 1 else inside
        )

    return " ".join(of(each.box) for each in folded)


@pytest.mark.parametrize("source", [False, True])
def test_no_last_repetition_holds_another_input_of_the_program(source: bool) -> None:
    # The feed-forward of the last layer of an encoder, then tokens, and the first attention of a decoder.
    line = [*sequence("xabab", 10), *sequence("a", 10), element("i", ord("i"), 1, source=source), *sequence("by", 10)]
    assert shown(fold_repeats(line, context())) == ("x 2×([ab]) a i b y" if source else "x 3×([ab]) y")


def test_a_stack_is_no_part_of_a_first_repetition_that_others_have_once() -> None:
    # A step to a stage, two blocks, then twice a block that attends and one of them: not three of the latter.
    def mixing(name: str, symbol: int, ops: int) -> SequenceElement:
        inside = [FlowBox(f"{number}", 200 + number, 1, 1, op=f"Op{number}") for number in range(ops)]
        return SequenceElement(make_group(GroupOrigin.NAME, inside, symbol, name), symbol, symbol)

    step, attention = mixing("S", 300, 22), mixing("A", 301, 20)
    block = sequence("b", 10)
    line = [*sequence("x"), step, *block * 2, attention, *block, attention, *block, *sequence("y")]
    assert [len(each.box.members) for each in fold_repeats(line, context()) if each.box.is_repetition] == [2, 2]


@each(
    ("text", "folded"),
    [
        ("xaay", "x a a y"),
        ("xaaay", "x 3×(a) y"),
        ("xababy", "x a b a b y"),  # two ops are not worth a stack
        ("xabababy", "x a b a b a b y"),
        ("xabcabcy", "x 2×([abc]) y"),
        ("xabcabcaby", "x 2×([abc]) a b y"),
        ("aaabcaaabc", "[3×(a)bc] [3×(a)bc]"),  # stages: a reader looks for both counts
        ("aaabc" * 4, "4×([3×(a)bc])"),  # alike all of them
        ("abcdabcdabcd", "3×([abcd])"),
    ],
)
def test_repeats_are_stacks(text: str, folded: str) -> None:
    assert shown(fold_repeats(sequence(text), context())) == folded


@each(
    ("text", "folded"),
    [
        ("aaabb" * 4, "4×([3×(a)2×(b)])"),
        ("bb" + "ab" * 6, "2×(b) 6×([ab])"),  # equal turns before those that differ in height
        ("aab" * 4 + "a", "4×([2×(a)b]) a"),
        ("aaba" + "ba" * 2, "2×(a) 3×([ba])"),
        ("aab" * 4 + "aaaab", " ".join([*["[2×(a)b]"] * 4, "[4×(a)b]"])),  # no turns are equal to all others
        ("ab" * 5 + "aab" + "ab" * 4, "5×([ab]) [2×(a)b] 4×([ab])"),  # an odd turn parts equal ones
    ],
)
def test_stages_of_one_height_are_a_stack(text: str, folded: str) -> None:
    assert shown(fold_repeats(sequence(text, ops=3), context())) == folded


def test_two_large_boxes_are_a_stack_and_a_sum_of_ops_counts() -> None:
    assert shown(fold_repeats(sequence("xaay", ops=3), context())) == "x 2×(a) y"
    assert shown(fold_repeats(sequence("xaay", ops=2), context())) == "x a a y"
    assert shown(fold_repeats(sequence("xababy", ops=2), context())) == "x 2×([ab]) y"


@each(
    ("words", "is_periodic"),
    [("ab", False), ("aa", True), ("abab", True), ("aba", False), ("aaa", True), ("abcab", False), ("abcabc", True)],
)
def test_a_template_that_repeats_itself_is_none(words: str, is_periodic: bool) -> None:
    assert _has_smaller_period(list(words)) is is_periodic


def named_input(name: str, source: bool) -> SequenceElement:
    """An input of a level, or another op."""
    return element(name, 1, source=source)


@pytest.mark.parametrize(
    ("names", "source", "is_worth"),
    [
        (["query", "memory", "mask"], True, False),
        (["query", "memory", "mask", "ids"], True, False),
        (["query", "memory", "mask", "ids", "rate"], True, True),
        (["query", "memory", "mask"], False, True),
        (["in_1", "in_2", "in_3"], True, True),
    ],
)
def test_a_few_inputs_with_names_of_their_own_are_distinguished(names: list[str], source: bool, is_worth: bool) -> None:
    assert _is_worth_folding([named_input(name, source) for name in names], 0, len(names), 1, context()) is is_worth


def test_groups_by_name_are_repeats_only_where_names_are_alike() -> None:
    def block(name: str) -> SequenceElement:
        made = make_group(GroupOrigin.NAME, rows(*"abc"), 9, name)
        return SequenceElement(made, 9, 9)

    assert _is_worth_folding([block("conv_1"), block("conv_2")], 0, 2, 1, context())
    assert not _is_worth_folding([block("query"), block("value")], 0, 2, 1, context())


def stage_of(height: int, ops: int, beside: int = 0, sideways: bool = False) -> FlowBox:
    """A group with a stack of so many boxes, each of some ops, and boxes beside it."""
    kit = context()
    tall = make_stack(kit.symbols, rows(*(f"s{number}" for number in range(height)), ops=ops, symbol=5), 5, sideways)
    return make_group(GroupOrigin.STAGE, [tall, *rows(*(f"r{number}" for number in range(beside)), ops=1)], 9)


def test_a_stack_of_more_than_two_or_a_group_that_holds_one_shows_how_many() -> None:
    two, three = stage_of(2, 3).members[0], stage_of(3, 1).members[0]
    assert (_shows_stack(two), _shows_stack(three)) == (False, True)
    assert _shows_stack(stage_of(2, 3))
    assert holds_stack(stage_of(2, 3))
    assert not holds_stack(stage_of(2, 2))  # of what is too small to be counted
    assert not holds_stack(three)


def test_two_groups_that_count_themselves_stay_apart_and_longer_repeats_are_found() -> None:
    def line(text: str) -> list[SequenceElement]:
        found = []
        for letter in text:
            box = stage_of(2, 3) if letter == "S" else FlowBox(letter, ord(letter), 1, 1)
            box.name = letter
            found.append(SequenceElement(box, box.symbol, box.symbol))
        return found

    kit = context()
    assert _fold_repetitions(WholeRepeat(line("SS"), 1), kit) is None
    assert _fold_repetitions(WholeRepeat(line("SSS"), 1), kit) is not None
    assert len(fold_repeats(line("xSSy"), context())) == 4
    assert len(fold_repeats(line("SStSSt"), context())) == 6  # two that count stay apart, whatever is beside them
    assert len(fold_repeats(line("SSt" * 3), context())) == 1


@each(("ops", "folded"), [(5, "x 5×(a) y"), (3, "x 5×(a) y"), (2, "x a a 3×(a) y")])
def test_blocks_that_differ_only_in_their_inputs_are_of_the_stack_behind_them(ops: int, folded: str) -> None:
    # Two ops are accidents.
    blocks = [SequenceElement(FlowBox("a", 97, ops, 1), word, word) for word in (1, 2, 3, 3, 3)]
    assert shown(fold_repeats([*sequence("x"), *blocks, *sequence("y")], context())) == folded


def test_a_single_block_beside_a_stack_of_its_equals_is_a_block_too() -> None:
    kit = context()
    found = _fold_single_units(sequence("xabcyab"), {tuple(map(ord, "abc")): 0}, kit)
    assert shown(found) == "x [abc] y a b"
    halved = _fold_single_units(sequence("xabcd"), {tuple(map(ord, "abcd")): 2}, kit)
    assert [len(each.box.members) for each in halved] == [0, 2]
    assert shown(_fold_single_units(sequence("xabc"), {}, kit)) == "x a b c"
    cut = [element(letter, ord(letter), cut=number, fork=letter == "a") for number, letter in enumerate("xabcy")]
    [_, made, _] = _fold_single_units(cut, {tuple(map(ord, "abc")): 0}, kit)
    assert (made.cut, made.fork) == (3, True)


def test_a_stack_ends_where_its_last_repetition_does() -> None:
    kit = context()
    line = [element(letter, ord(letter), 3, cut=number, fork=not number) for number, letter in enumerate("aaabcbc")]
    [made] = _fold_repetitions(WholeRepeat(line[:3], 1), kit) or []
    assert (made.cut, made.fork, made.word, made.box.unit) == (2, True, ("stack", ord("a")), ord("a"))
    [made] = _fold_repetitions(WholeRepeat(line[3:], 2), kit) or []
    assert (made.cut, made.fork) == (6, False)
    assert made.box.unit == made.box.members[0].symbol != ord("b")
    assert made.word == ("stack", made.box.unit)


def test_repetitions_that_differ_in_height_are_stages() -> None:
    kit = context()
    line = []
    for number, height in enumerate((0, 2, 0, 3)):
        tall = make_stack(kit.symbols, rows(*["u"] * height, ops=3, symbol=5), 5) if height else FlowBox("d", 1, 1, 1)
        line.append(SequenceElement(tall, tall.symbol, ("stack", 5) if height else 1, number))
    found = _fold_repetitions(WholeRepeat(line, 2), kit) or []
    assert [(each.cut, each.stage, each.box.how) for each in found] == [
        (1, True, GroupOrigin.STAGE),
        (3, True, GroupOrigin.STAGE),
    ]
    assert found[0].word == found[1].word == ("stage", 1, ("stack", 5))


def test_heads_of_repeated_blocks_are_blocks() -> None:
    # c b r  [c b r +]  [c b r +]: the elements of the head, then two blocks with a shortcut
    def blocks(text: str, kit: FoldContext) -> list[SequenceElement]:
        found: list[SequenceElement] = []
        for number, letter in enumerate(text):
            each = element(letter, ord(letter), 4, cut=number)
            symbols = (1, 2, 3, 4, 9) if letter == "B" else {"c": (1, 2), "b": (3, 4), "p": (7,), "+": (9,)}[letter]
            each.boxes = [FlowBox("", symbol, 1, 1) for symbol in symbols]
            each.shortcut = letter == "B"
            found.append(each)
        return fold_heads(found, kit)

    made = blocks("pcbBB", context())
    assert shown(made) == "[pcb] B B" or shown(made) == "p [cb] B B"
    headed = next(each for each in made if each.box.members)
    assert headed.cut == 2  # what crosses behind its last element
    assert shown(blocks("cbB", context())) == "c b B"  # a block that occurs once is no pattern
    assert shown(blocks("cbBBpcbBB", context())).count("[") == 2
    assert shown(blocks("cbBBpppBBpppBB", context())).count("[") == 0  # one run of three has such a head
    assert shown(blocks("c+bBB", context())).count("[") == 0


def test_what_is_between_two_stacks_heads_the_second() -> None:
    kit = context()

    def line(text: str) -> list[SequenceElement]:
        found = []
        for number, letter in enumerate(text):
            if letter.isdigit():
                tall = make_stack(kit.symbols, rows(*["u"] * int(letter), ops=3, symbol=5), 5)
                found.append(SequenceElement(tall, tall.symbol, ("stack", 5), number))
            else:
                found.append(element(letter, ord(letter), cut=number))
        return found

    assert len(fold_stages(line("xyd2d3ef"), kit)) == 8  # eight boxes are readable
    found = fold_stages(line("xyd2d3d4ef"), kit)
    assert [(len(each.box.members), each.stage) for each in found] == [
        (0, False), (0, False), (2, True), (2, True), (2, True), (0, False), (0, False)
    ]  # fmt: skip
    assert [each.cut for each in found if each.stage] == [3, 5, 7]


@pytest.mark.parametrize(("hidden", "blocks"), [((24, 48), 5), ((24, 24), 10)])
def test_equal_parts_with_two_widths_in_turn_are_the_halves_of_a_block(hidden: tuple[int, int], blocks: int) -> None:
    # As in a mixer, one multiplies over tokens, the other over channels, and both are so many ops.
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 16
    x = w.conv(w.op("Placeholder", name="x"), 16, 4, 4)
    for _ in range(5):
        for size in hidden:
            y = w.op("Relu", w.dense(w.layer_norm(x), size))
            x, w.width = w.add(x, w.op("Mul", y, w.weight("scale", size))), 16
    hierarchy = load(formed(w.graph, "nameless", random.Random(4))).hierarchy
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]
    assert [len(hierarchy.children(row)) for row in stacks] == [blocks]


def test_stacks_of_one_block_in_a_row_are_one_stack_where_no_stage_ends() -> None:
    # As in an encoder in which every third layer attends to all, and has an op less than the rest.
    w = Writer("nameless", random.Random(3))
    w.style, w.width = "const", 16
    x = w.op("GatherV2", w.weight("table", 64, 16), w.op("Placeholder", name="ids"), w.constant(name="axis", dtype=3))
    for number in range(6):
        w.kept["mask"] = w.op("Square", w.constant(4, name="near")) if number % 3 else ""
        x = pre_norm(w, x, 16, 1, not number)
    hierarchy = load(formed(w.graph, "nameless", random.Random(4))).hierarchy
    stacks = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]
    assert [len(hierarchy.children(row)) for row in stacks] == [6]
