"""Stage counts are read off networks of fresh seeds, with and without names."""

from __future__ import annotations

import random

import pytest

from graphviz_tb import load
from graphviz_tb.proto import GraphDef
from tests.fold.networks import FORMS, KINDS, NAMED, network
from tests.fold.stage_reader import score

NETWORKS = 6  # of each seed of the run, in each form
LEAST, LEAST_NAMELESS = 0.8, 0.75  # of the counts of so few; of hundreds 93 and 90 in a hundred are read


@pytest.mark.parametrize("form", FORMS)
def test_most_stage_counts_are_read(form: str) -> None:
    seed = random.SystemRandom().randrange(1_000_000)
    read = total = 0
    for number in range(NETWORKS):
        graph, counts = network(seed + number, form, KINDS[(seed + number) % len(KINDS)])
        found, true = score(load(graph), counts)
        read, total = read + found, total + true
    assert read >= (LEAST if form in NAMED else LEAST_NAMELESS) * total - 1, f"seed {seed}, {form}: {read} of {total}"


def test_the_same_seed_is_the_same_network() -> None:
    assert network(5, "flat") == network(5, "flat")


def test_a_projection_in_the_first_block_breaks_no_count() -> None:
    for form in FORMS:
        graph, counts = network(1, form, "bottleneck")
        assert score(load(graph), counts) == (len(counts), len(counts)), form


def test_equal_stages_of_other_widths_stand_side_by_side() -> None:
    for form in ("scopes", "flat"):
        graph, counts = network(1000, form, "same_width")
        hierarchy = load(graph).hierarchy
        stages = [row for row in hierarchy.children(0).tolist() if hierarchy.name[row].startswith("group")]
        assert len(stages) == len(counts) == 3, form


def test_a_stage_of_one_pair_of_blocks_in_turn_has_two() -> None:
    for form in FORMS[1:]:
        graph, counts = network(3, form, "windows")
        assert score(load(graph), counts) == (len(counts), len(counts)), form


def test_a_stem_of_other_kernels_is_no_block() -> None:
    for form in FORMS:
        graph, counts = network(2000, form, "plain")
        assert score(load(graph), counts) == (len(counts), len(counts)), form


def test_equal_heads_whose_ops_are_named_alike_are_one_stack() -> None:
    nodes = [{"name": "net/x", "op": "Placeholder"}, {"name": "net/trunk", "op": "Tanh", "input": ["net/x"]}]
    for head in range(5):
        last = "net/trunk"
        for part, op in (("in_mm", "MatMul"), ("in_act", "Relu"), ("end_mm", "MatMul"), ("end_act", "Softplus")):
            nodes.append({"name": f"net/goal{head}_{part}", "op": op, "input": [last]})
            last = f"net/goal{head}_{part}"
    hierarchy = load(GraphDef(node=nodes)).hierarchy
    assert "net/goal[0-4]" in hierarchy.name
