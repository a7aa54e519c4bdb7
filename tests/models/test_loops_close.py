"""The body of a While: what it gives is what it is called with the next time."""

from __future__ import annotations

from graphviz_tb import load
from graphviz_tb.proto import GraphDef

ARGS = [{"name": name, "type": 1} for name in ("i", "x", "limit")]


def loop() -> GraphDef:
    # body:  i ─▶ next ─▶ result 0,  x ─▶ grown ─▶ result 1,  limit ─▶ result 2
    results = [{"name": f"o{at}", "type": 1} for at in range(3)]
    body = {
        "signature": {"name": "body", "input_arg": ARGS, "output_arg": results},
        "node_def": [
            {"name": "next", "op": "AddV2", "input": ["i"]},
            {"name": "grown", "op": "Mul", "input": ["x", "i"]},
        ],
        "ret": {"o0": "next:z:0", "o1": "grown:z:0", "o2": "limit"},
    }
    cond = {
        "signature": {"name": "cond", "input_arg": ARGS, "output_arg": [{"name": "go", "type": 10}]},
        "node_def": [{"name": "less", "op": "Less", "input": ["i", "limit"]}],
        "ret": {"go": "less:z:0"},
    }
    attr = {key: {"func": {"name": key}} for key in ("body", "cond")}
    start = [{"name": name, "op": "Placeholder"} for name in ("a", "b", "c")]
    made = {"name": "loop", "op": "While", "input": ["a", "b", "c"], "attr": attr}
    return GraphDef(
        node=[*start, made, {"name": "y", "op": "Abs", "input": ["loop:1"]}], library={"function": [body, cond]}
    )


def test_results_lead_back_to_their_arguments() -> None:
    model = load(loop())
    (path,) = model.names.find_paths("loop::body")
    level, name = model.metagraph(path), model.hierarchy.name
    back = {(name[level.children[edge.source]], name[level.children[edge.target]]) for edge in level.edges if edge.back}
    assert back == {("next", "i"), ("grown", "x")}  # the limit is handed on as it came


def test_the_document_marks_them_and_nothing_counts_them() -> None:
    plain, document = load(loop(), preset="tensorboard").to_json(), load(loop()).to_json()
    back = [edge for group in document["groups"].values() for edge in group["edges"] if edge.get("back")]
    assert len(back) == 2
    assert not [edge for group in plain["groups"].values() for edge in group["edges"] if "back" in edge]
    assert len(load(loop()).hierarchy.edge_order) == len(load(loop(), preset="tensorboard").hierarchy.edge_order)


def test_they_are_drawn_against_the_flow() -> None:
    scene = load(loop()).picture(open=("loop::body",)).scene
    assert sum(route.back for route in scene.routes) == 2
