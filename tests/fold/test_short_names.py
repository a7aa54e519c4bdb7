"""Labels of flat graphs: what all of a level says is left out of each; names and addresses stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb import load
from graphviz_tb.commands import _run_command_line
from graphviz_tb.fold.labels import LABEL_SEPARATOR, LABEL_WORD, _cut_label
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.proto import GraphDef
from graphviz_tb.search.names import RowFinder

BLOCK = ("depthwise_Relu6", "batch_normalization_Square", "batch_normalization_Rsqrt", "swish_Sigmoid", "swish_Neg")


def chain(*names: str) -> GraphDef:
    """Ops of one input that follow one another; each is of the type that its name ends in."""
    graph = GraphDef()
    for name in names:
        node = graph.node.add(name=name, op=name.rpartition("_")[2])
        node.input.extend(before.name for before in graph.node[-2:-1])
    return graph


def labels_under(hierarchy: Hierarchy, row: int) -> list[str]:
    return [hierarchy.display_label(child) for child in hierarchy.children(row).tolist()]


def flat() -> GraphDef:
    """A model of four blocks whose names have no scopes."""
    blocks = [f"my_network_1_features_block_{block}_{op}" for block in range(4) for op in BLOCK]
    return chain("input", *blocks, "my_network_1_head_dense_Exp", "my_network_1_head_dense_Log")


def test_the_root_leaves_out_the_model_and_a_block_leaves_out_itself() -> None:
    hierarchy = load(flat()).hierarchy
    assert not any(label.startswith("my_network") for label in map(hierarchy.display_label, range(1, len(hierarchy))))
    (last,) = (row for row, name in enumerate(hierarchy.name) if name.endswith("block_3_swish_Neg"))
    assert hierarchy.display_label(last) == "swish_Neg"


def test_names_are_those_of_the_file_and_both_find() -> None:
    hierarchy = load(flat()).hierarchy
    assert "my_network_1_features_block_2_depthwise_Relu6" in hierarchy.name
    finder = RowFinder(hierarchy)
    assert finder.find_paths("features_block_[0-3]") == finder.find_paths("my_network_1_features_block_[0-3]")
    assert finder.find_paths("block_2") == finder.find_paths("my_network_1_features_block_2")


def test_a_tree_lists_what_options_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "flat.pb"
    path.write_bytes(flat().SerializeToString())
    assert _run_command_line(["tree", str(path)]) == 0
    assert "my_network_1_features_block_[0-3]" in capsys.readouterr().out


def test_what_all_in_a_fold_repeat_of_its_name_is_left_out_of_names_that_fit() -> None:
    parts = ("1_conv", "2_conv", "add")
    hierarchy = load(chain(*(f"net_block_{block}_{part}" for block in range(4) for part in parts))).hierarchy
    blocks = [row for row in range(len(hierarchy)) if hierarchy.display_label(row) == "net_block_2"]
    assert [labels_under(hierarchy, row) for row in blocks] == [[*parts]]
    assert labels_under(hierarchy, int(hierarchy.parent[blocks[0]])) == [f"net_block_{block}" for block in range(4)]
    assert len(hierarchy.short) == 4 * len(parts)
    assert RowFinder(hierarchy).find_paths("net_block_2_add")


def test_names_in_a_fold_stay_as_they_are_where_one_is_its_name() -> None:
    names = [f"net_block_{block}{part}" for block in range(4) for part in ("_conv", "_norm", "")]
    assert not load(chain(*names)).hierarchy.short


def test_short_names_stay_beside_a_long_one_that_begins_otherwise() -> None:
    names = ["conv_dw_Relu", "conv_pw_Exp", "conv_pad_Log", "conv_preds_Neg", "global_average_pooling2d_of_it_Abs"]
    assert labels_under(load(chain(*names), folds=False).hierarchy, 0) == names


def test_what_one_name_alone_says_stays_in_it() -> None:
    names = [f"layer0_w_Initializer_random_uniform_{op}" for op in ("Relu", "Exp", "Log", "Neg", "Abs", "Sqrt")]
    hierarchy = load(chain("input", *names, "layer0_w_Sign")).hierarchy
    labels = set(map(hierarchy.display_label, range(len(hierarchy))))
    assert not labels & {"random_uniform", "uniform"}


def test_a_group_that_is_called_by_its_members_is_short_in_each_of_them() -> None:
    begin = ["a_network_of_a_long_name"]
    words = [f"{begin[0]}_conv_{at}" for at in (1, 2)]
    assert (
        "".join(
            _cut_label(part, tuple(LABEL_WORD.findall(begin[0]))) for part in LABEL_SEPARATOR.split(" · ".join(words))
        )
        == "conv_1 · conv_2"
    )


def test_no_label_begins_with_a_number() -> None:
    hierarchy = load(
        chain(*(f"a_name_that_is_too_long_for_a_box_conv_{number}_Relu" for number in (1, 2, 11)))
    ).hierarchy
    assert labels_under(hierarchy, 0)[0].startswith("conv_")


WORDS = st.sampled_from(["net", "block", "conv", "Relu", "1", "2", "b0", "network_of_a_long_name", "-", "a"])
NAMES = st.lists(st.lists(WORDS, min_size=1, max_size=6).map("_".join), min_size=2, max_size=12, unique=True)


@given(NAMES)
def test_labels_end_names_and_stay_apart(names: list[str]) -> None:
    hierarchy = load(chain(*(f"x{name}" for name in names))).hierarchy
    for row in range(len(hierarchy)):
        children = [child for child in hierarchy.children(row).tolist() if hierarchy.node[child] >= 0]
        labels = [hierarchy.display_label(child) for child in children]
        assert len(set(labels)) == len(labels)
        assert all(
            label and hierarchy.name[child].endswith(label) for child, label in zip(children, labels, strict=True)
        )
