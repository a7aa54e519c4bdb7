"""Words of titles: ranges of names, what a group holds, names that are longer than one word."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graphviz_tb import load
from graphviz_tb.fold.flow.box import FlowBox, make_group, make_stack
from graphviz_tb.fold.flow.invariants import rows_inside
from graphviz_tb.fold.flow.names import Vocabulary, is_generated_name
from graphviz_tb.fold.flow.titles import (
    _end_repetitions,
    _extend_family_name,
    _heaviest_part,
    _join_title_parts,
    _name_range,
    _range_words,
    _row_type,
    _title_from_contents,
    title_groups,
)
from graphviz_tb.fold.flow.widths import ChannelWidths
from graphviz_tb.model.hierarchy import GroupOrigin, Hierarchy
from graphviz_tb.proto import GraphDef
from tests.each import each
from tests.fold.boxes import context, rows


@each(
    ("names", "wanted"),
    [
        (["conv", "conv"], "conv"),
        (["conv_1", "conv_2"], "conv_[1-2]"),
        (["conv_9", "conv_10", "conv_8"], "conv_[8-10]"),
        (["block_1_a", "block_2_a"], "block_[1-2]_a"),
        (["block_1_a", "block_2_b"], "block_1_a … block_2_b"),
        (["block_1", "block_1_x"], "block_1 … block_1_x"),
        (["1", "2", "3"], "[1-3]"),
        (["query", "key"], "query … key"),
        (["Block[1]", "Block[2]"], "Block[1-2]"),
        (["Block[1", "Block[2"], "Block[[1-2]"),
        (["Block1]", "Block2]"], "Block[1-2]]"),
        (["x_a", "x_c", "x_b"], "x_[a-b]"),
    ],
)
def test_the_one_number_or_word_that_differs_is_a_range(names: list[str], wanted: str) -> None:
    assert _name_range(names) == wanted


def test_numbers_too_long_to_be_read_are_words() -> None:
    long = ["9" * 499, "1" + "0" * 499]
    assert _range_words(long, whole=True) == f"{long[0]}-{long[1]}"
    assert _range_words(long[::-1], whole=True) == f"{long[1]}-{long[0]}"
    assert _range_words(["10", "9", "09"], whole=True) == "09-10"


def test_numbers_with_gaps_are_a_list_while_it_is_short() -> None:
    assert _name_range(["merge_2", "merge_4"]) == "merge_[2,4]"
    assert _name_range(["merge_2", "merge_4"], whole=False) == "merge_[2-4]"  # the ends of a stack
    assert _name_range([f"conv_{number}" for number in range(1, 40, 3)]) == "conv_[1-37]"


def test_a_title_has_room_for_thirty_letters() -> None:
    assert _join_title_parts(["a" * 20, "b" * 7]) == "a" * 20 + " · " + "b" * 7
    assert _join_title_parts(["a" * 20, "b" * 8, "c"]) == "a" * 20 + " · c"
    assert _join_title_parts(["a" * 40]) == "a" * 40


def test_norms_make_room_for_activations_and_what_tells_parts_apart() -> None:
    assert title_of_types("Conv2D", "FusedBatchNormV3", "Relu") == "Conv2D · norm · Relu"
    types = ["max_pooling2d/3", *["conv2d/3", "batch_normalization/3"] * 2]
    assert title_of_types(*types) == "2 conv2d · max_pooling2d"


def test_a_group_of_one_layer_keeps_its_number() -> None:
    assert title_of_types("dense/3", "Reshape") == "dense_0"
    assert title_of_types("dense/3", "dense/3") == "2 dense"
    assert title_of_types("dense/3", "Relu") == "dense · Relu"


def title_of_types(*types: str) -> str:
    boxes, hierarchy = of_types(*types)
    return _title_from_contents(make_group(GroupOrigin.REGION, boxes, 0), hierarchy)


def of_types(*types: str) -> tuple[list[FlowBox], Hierarchy]:
    """Ops of such types; "scope/3" is a scope of three ops."""
    graph = GraphDef()
    for number, op in enumerate(types):
        scope, _, count = op.partition("/")
        for inner in range(int(count or 1)):
            graph.node.add(name=f"{scope}_{number}/n{inner}" if count else f"n{number}", op="Tanh" if count else op)
    hierarchy = load(graph, folds=False, series_min=100).hierarchy
    children = hierarchy.children(0).tolist()
    boxes = []
    for row in children:
        node = hierarchy.node[row]
        op = hierarchy.graph.op_types[hierarchy.graph.op[node]] if node >= 0 else ""
        boxes.append(FlowBox(hierarchy.display_label(row), row, hierarchy.op_count(row), row, scope=node < 0, op=op))
    return boxes, hierarchy


@each(
    ("types", "wanted"),
    [
        (["Conv2D", "Conv2D", "Relu", "BiasAdd"], "2 Conv2D · Relu"),
        (["Relu", "Conv2D", "Softmax"], "Conv2D · Softmax · Relu"),
        (["Tanh", "Sigmoid", "Tanh", "Exp"], "2 Tanh · Sigmoid · Exp"),
        (["Exp", "Log", "Log", "Neg", "Floor"], "2 Log · Exp · Floor"),
        (["MatMul", "Conv2D", "Einsum", "Tanh", "Exp"], "Conv2D · Einsum · Tanh"),  # two products where others tell too
        (["MatMul", "Conv2D", "Einsum", "Tanh"], "Conv2D · Einsum · Tanh"),
        (["MatMul", "Conv2D", "Einsum", "LSTM"], "Conv2D · Einsum · LSTM"),
        (["Mul", "Add", "Mul"], "2 Mul · Add"),
        (["Rsqrt", "Mean", "Neg", "Mul"], "norm"),
        (["Rsqrt", "Mul"], "Rsqrt"),
        (["Mean", "Neg", "Mul"], "Mean · Neg"),
    ],
)
def test_a_group_is_known_by_its_products_and_by_what_weighs_them(types: list[str], wanted: str) -> None:
    assert title_of_types(*types) == wanted


@pytest.mark.parametrize(
    ("types", "wanted"),
    [
        (["pupil/4", "Softmax", "Exp", "Log"], "pupil · Softmax · Exp"),
        (["pupil/3", "Softmax", "Exp", "Log"], "Softmax · Exp · Log"),  # half of it is not most
        (["pupil/4", "Conv2D"], "Conv2D · pupil"),  # products are said first
        (["pupil/4", "other/1"], "other · pupil"),
    ],
)
def test_the_one_scope_that_is_most_of_a_group_is_named_first(types: list[str], wanted: str) -> None:
    assert title_of_types(*types) == wanted


def test_a_scope_is_called_without_its_number() -> None:
    boxes, hierarchy = of_types("dense_1/2", "Relu")
    assert [_row_type(box, hierarchy) for box in boxes] == ["dense", "Relu"]


def tall(*names: str, how: GroupOrigin = GroupOrigin.NONE) -> FlowBox:
    """A stack of rows, or of ranges of two."""
    kit = context()
    members: Sequence[FlowBox] = rows(*names)
    if how != GroupOrigin.NONE:
        members = [make_group(how, members[at : at + 2], 7) for at in range(0, len(members), 2)]
    return make_stack(kit.symbols, members, 7)


def test_a_stack_in_ranges_is_called_by_its_ends() -> None:
    made = tall("a_1", "a_2", "a_3", "a_4", how=GroupOrigin.SEGMENT)
    ranges = {id(part) for part in made.members}
    assert [box.name for box in _end_repetitions(made.members[0], ranges)] == ["a_1", "a_2"]
    assert [box.name for box in _end_repetitions(rows("x")[0], ranges)] == ["x"]
    _, hierarchy = of_types("Exp", "Exp", "Exp", "Exp", "Exp")
    title_groups([made], context(*"abcd"), hierarchy)
    assert (made.name, [part.name for part in made.members]) == ("a_[1-4]", ["a_[1-2]", "a_[3-4]"])


def test_a_group_by_name_has_all_words_that_its_members_share() -> None:
    names = ["cross_entropy_a", "cross_entropy_b"]
    made = make_group(GroupOrigin.NAME, rows(*names), 7, "cross")
    assert _extend_family_name(made, context(*names)) == "cross_entropy"
    made.name = "other"
    assert _extend_family_name(made, context(*names)) == "other"
    single = make_group(GroupOrigin.NAME, rows("cross_a", "cross_b"), 7, "cross")
    assert _extend_family_name(single, context("cross_a", "cross_b")) == "cross"


@pytest.mark.parametrize(
    ("names", "is_given"),
    [
        (["net_relu", "net_a", "net_b", "net_c", "d"], True),  # four of five begin with the model's name
        (["net_relu", "net_a", "net_b", "d"], False),
        (["net_mine", "net_a", "net_b", "net_c", "d"], False),
        (["net_inner_relu", "net_inner_a", "net_inner_b", "net_inner_c", "d"], True),
        (["net", "net_a", "net_b", "net_c", "d"], True),
    ],
)
def test_words_that_nearly_all_names_begin_with_say_nothing(names: list[str], is_given: bool) -> None:
    assert is_generated_name(names[0], "Relu", Vocabulary(names)) is is_given


def test_names_that_differ_in_numbers_say_the_same_and_others_do_not() -> None:
    names = ["relu_1", "relu_22", "relu1", "relu#", "relu_#", "x", "y"]
    level = Vocabulary(names)
    assert [is_generated_name(name, "Relu", level) for name in names] == [True, True, True, False, False, False, False]
    assert [is_generated_name(name, "X", level) for name in names] == [True, True, True, False, False, True, False]


def title_of(made: FlowBox, *names: str) -> str:
    """What a group is called on a level of such names."""
    _, hierarchy = of_types(*["Exp"] * 9)
    for row in rows_inside(made):
        row.op = "Exp"
    title_groups([made], context(*names), hierarchy)
    return made.name


@pytest.mark.parametrize(
    ("last", "title"),
    [
        ("mine_layer_norm", "position_embeddings"),
        ("mixed_stem_with_a_name_of_its_own", "mixed_stem_with_a_name_of_its_own_2"),
    ],
)
def test_a_group_is_called_after_the_layer_it_ends_in_if_that_is_more_than_a_type(last: str, title: str) -> None:
    boxes, hierarchy = of_types("word_embeddings_of_it/3", "position_embeddings_of_it/3", f"{last}/3")
    made = make_group(GroupOrigin.REGION, boxes, 7)
    title_groups([made], context(*(box.name for box in boxes), "a", "b"), hierarchy)
    assert made.name.startswith(title)


def test_groups_with_a_name_keep_it_but_for_words_that_all_members_share() -> None:
    names = ["cross_entropy_a", "cross_entropy_b"]
    assert title_of(make_group(GroupOrigin.NAME, rows(*names), 7, "cross"), *names) == "cross_entropy"
    assert title_of(make_group(GroupOrigin.BRANCH, rows(*names), 7, "cross"), *names) == "cross"
    made = make_group(GroupOrigin.NAME, rows(*names), 7, "cross")
    made.unit = 3
    assert title_of(made, *names) == "cross"


@pytest.mark.parametrize(("others", "name"), [(0, "a"), (2, "a"), (3, "2 Exp")])
def test_words_that_few_others_begin_with_are_a_name(others: int, name: str) -> None:
    names = ["a_x", "a_y", *(f"a_mine{number}" for number in range(others)), "b", "c", "mine"]
    assert title_of(make_group(GroupOrigin.REGION, rows("a_x", "a_y"), 7), *names) == name


def test_a_segment_is_called_by_its_ends() -> None:
    assert (
        title_of(make_group(GroupOrigin.SEGMENT, rows("mine", "yours", "theirs"), 7), "mine", "yours")
        == "mine → theirs"
    )


def test_a_group_is_not_called_by_some_of_its_rows_where_others_are_of_a_type_of_their_own() -> None:
    # regions ─▶ mask_conv ─▶ mask_out; no table has a type `Regions`.
    for first, wanted in (("Regions", "2 Conv2D · Regions"), ("Relu", "mask")):
        boxes, hierarchy = of_types(first, "Conv2D", "Conv2D")
        names = [first.lower(), "mask_conv", "mask_out"]
        for box, name in zip(boxes, names, strict=True):
            box.name = name
        region = make_group(GroupOrigin.REGION, boxes, 1)
        title_groups([region, *rows("other", "box")], context(*names, "other", "box"), hierarchy)
        assert region.name == wanted


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["stem", "down_0", "down_1", "down_2"], "down_[0-2]"),  # not the last level alone, for all of them
        (["stem", "down_0", "middle"], "middle"),
        (["stem", "middle", "head"], "head"),
    ],
)
def test_a_group_is_called_by_its_heaviest_part_and_those_numbered_with_it(
    names: list[str], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = rows(*names, ops=5)
    for box in boxes:
        box.scope = True
    monkeypatch.setattr(ChannelWidths, "parameter_count", lambda self, box: 10 * boxes.index(box) + 1)
    group = make_group(GroupOrigin.REGION, boxes, 1)
    assert _heaviest_part(group, context(*names), {id(box) for box in boxes}) == wanted
