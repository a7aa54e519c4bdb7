"""Numbers in names: what is numbered alike is a series, wherever it stands; a number alone is no scope."""

from __future__ import annotations

from typing import Any

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.model.hierarchy import SERIES_ROW
from graphviz_tb.proto import GraphDef


def op(name: str, kind: str, *inputs: str) -> dict[str, Any]:
    return {"name": name, "op": kind, "input": list(inputs)}


def series(model: Model) -> dict[str, int]:
    """The series of a model, and how many members each has."""
    hierarchy = model.hierarchy
    rows = [row for row in range(len(hierarchy)) if hierarchy.kind[row] == SERIES_ROW]
    return {hierarchy.name[row]: len(hierarchy.children(row)) for row in rows}


# x ─▶ reader_0 … reader_7 ─▶ join, all in one scope or none
@pytest.mark.parametrize("scope", ["", "readers/"])
def test_numbered_inputs_of_one_op_are_a_series(scope: str) -> None:
    readers = [op(f"{scope}reader_{number}", "Identity", "x") for number in range(8)]
    join = op(f"{scope}join", "ConcatV2", *(reader["name"] for reader in readers))
    model = load(GraphDef(node=[op("x", "Placeholder"), *readers, join]))
    assert series(model) == {f"{scope}reader_[0-7]": 8}


# x ─▶ deep: relu_0 ─▶ … ─▶ relu_9 ─▶ y: the first is given something else than the others
@pytest.mark.parametrize("bare", [False, True])
def test_the_ends_of_a_numbered_chain_are_in_its_series(bare: bool) -> None:
    names = [f"deep/relu_{number}" for number in range(10)]
    chain = [op(name, "Relu", before) for before, name in zip(["x", *names], names, strict=False)]
    more = [] if bare else [op("deep/before", "Abs", "x"), op("deep/y", "Tanh", names[-1])]
    chain[0]["input"] = ["deep/before" if more else "x"]
    model = load(GraphDef(node=[op("x", "Placeholder"), *chain, *more]))
    assert series(model) == {"deep/relu_[0-9]": 10}


def head(number: int) -> list[dict[str, Any]]:
    """image ─▶ head_N: conv, bias ─▶ box, class; head_N ─▶ prior_N ─▶ priors"""
    conv, bias = f"head_{number}/conv", f"head_{number}/bias"
    return [op(conv, "Conv2D", "net/c"), op(bias, "BiasAdd", conv), op(f"prior_{number}", "PriorBox", bias, "image")]


# image ─▶ net ─▶ head_0 … head_5 ─▶ box, class; each head ─▶ its own prior ─▶ priors; box, class, priors ─▶ out
def test_numbered_heads_with_numbered_users_stay_whole() -> None:
    biases, priors = [f"head_{number}/bias" for number in range(6)], [f"prior_{number}" for number in range(6)]
    net = [op("net/a", "Conv2D", "image"), op("net/b", "Relu", "net/a"), op("net/c", "MaxPool", "net/b")]
    ends = [op("box", "ConcatV2", *biases), op("class", "ConcatV2", *biases), op("priors", "ConcatV2", *priors)]
    nodes = [node for number in range(6) for node in head(number)]
    last = op("out", "DetectionOutput", "box", "class", "priors")
    model = load(GraphDef(node=[op("image", "Placeholder"), *net, *nodes, *ends, last]))
    assert series(model) == {"head_[0-5]": 6, "prior_[0-5]": 6}


# source ─▶ map ─▶ cache ─▶ map ─▶ batch, as TensorFlow names the ops of a data pipeline
PIPELINE = ("RangeDataset", "ParallelMapDatasetV2", "CacheDataset", "ParallelMapDatasetV2", "BatchDatasetV2")


def pipeline() -> GraphDef:
    names = [f"{kind}/_{number}" for number, kind in enumerate(PIPELINE)]
    before = [[], *([name] for name in names)]
    return GraphDef(node=[op(*of, *ins) for *of, ins in zip(names, PIPELINE, before, strict=False)])


def test_ops_of_a_pipeline_are_a_chain_and_make_no_scope() -> None:
    model = load(pipeline())
    hierarchy = model.hierarchy
    assert [hierarchy.name[row] for row in hierarchy.children(0).tolist()] == [node.name for node in pipeline().node]
    assert not series(model)
    assert [hierarchy.labels[row] for row in hierarchy.children(0).tolist()] == list(PIPELINE)


def test_tensorboard_makes_scopes_of_them() -> None:
    hierarchy = load(pipeline(), preset="tensorboard").hierarchy
    assert len(hierarchy.children(0)) == len(set(PIPELINE))


def test_a_number_below_another_name_is_in_its_scope() -> None:
    nodes = [op("net/dense/_3", "MatMul"), op("net/dense/_4", "MatMul", "net/dense/_3")]
    assert "net/dense" in load(GraphDef(node=nodes)).hierarchy.name
