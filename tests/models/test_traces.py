"""A trace shows the function that was traced, not what ran it."""

from __future__ import annotations

from itertools import pairwise

from graphviz_tb import load
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import FunctionDef, GraphDef, NodeDef, RunMetadata
from graphviz_tb.read.source import read_source


def node(name: str, op: str, *inputs: str, **functions: str) -> NodeDef:
    made = NodeDef(name=name, op=op, input=inputs)
    for key, function in functions.items():
        made.attr[key].func.name = function
    return made


def function(name: str, arguments: str, returns: str, *nodes: NodeDef) -> FunctionDef:
    made = FunctionDef(node_def=nodes)
    made.signature.name = name
    for argument in arguments.split():
        made.signature.input_arg.add(name=argument, type=1)
    made.signature.output_arg.add(name="result", type=1)
    made.ret["result"] = returns
    return made


def layers(count: int = 3) -> list[NodeDef]:
    """data ─▶ net/layer_0 ─▶ net/layer_1 ─▶ …"""
    names = ["data", *(f"net/layer_{number}" for number in range(count))]
    return [node(name, "Relu", before) for before, name in pairwise(names)]


def fit() -> GraphDef:
    """iterator ─▶ next ─▶ a call of the step ─▶ result"""
    graph = GraphDef(
        node=[
            node("iterator", "_Arg"),
            node("next", "IteratorGetNext", "iterator"),
            node("StatefulPartitionedCall", "StatefulPartitionedCall", "next", f="step"),
            node("result", "_Retval", "StatefulPartitionedCall"),
        ]
    )
    graph.library.function.append(function("step", "data", "net/layer_2:activations:0", *layers()))
    return graph


def names(graph: GraphDef, **options: bool) -> list[str]:
    return [each.name for each in read_source(graph, ReadOptions(**options)).graph_def.node]


def test_a_call_between_an_iterator_and_results_is_its_body() -> None:
    assert names(fit()) == ["iterator", "next", "result", "net/layer_0", "net/layer_1", "net/layer_2"]
    drawn = {each.name: list(each.input) for each in read_source(fit()).graph_def.node}
    assert drawn["net/layer_0"] == ["next"]
    assert drawn["result"] == ["net/layer_2:activations:0"]
    assert not read_source(fit()).graph_def.library.function


def test_the_file_as_it_is_has_the_call() -> None:
    assert read_source(fit(), ReadOptions(whole_file=True)).graph_def == fit()
    assert load(fit(), preset="tensorboard").hierarchy.calls


def test_two_calls_are_content() -> None:
    graph = fit()
    graph.node.append(node("again", "StatefulPartitionedCall", "next", f="step"))
    assert "again" in names(graph)


def test_a_function_that_calls_itself_is_not_opened() -> None:
    graph = fit()
    graph.library.function[0].node_def[1].op = "StatefulPartitionedCall"
    graph.library.function[0].node_def[1].attr["f"].func.name = "step"
    assert "StatefulPartitionedCall" in names(graph)


def test_functions_that_nobody_calls_stay() -> None:
    graph = fit()
    graph.library.function.append(function("other", "data", "data", *layers(1)))
    assert [each.signature.name for each in read_source(graph).graph_def.library.function] == ["other"]


def several_steps(**beside: str) -> GraphDef:
    """A loop over an iterator, in which a branch runs the step on what comes next."""
    graph = GraphDef(node=[node("iterator", "_Arg"), node("while", "While", "iterator", cond="more", body="body")])
    extra = [node(name, op, "iterator") for name, op in beside.items()]
    branch = [
        node("value", "OptionalGetValue", "optional"),
        node("call", "PartitionedCall", "value:components:0", f="step"),
    ]
    graph.library.function.extend(
        [
            function("more", "iterator", "less:z:0", node("less", "Less", "iterator", "iterator")),
            function("body", "iterator", "if:output:0", node("if", "If", "iterator", then_branch="then"), *extra),
            function("then", "optional", "call:output:0", *branch),
            *fit().library.function,
        ]
    )
    return graph


def test_a_loop_over_data_shows_a_step() -> None:
    assert names(several_steps()) == ["data", "net/layer_0", "net/layer_1", "net/layer_2"]


def test_a_loop_that_works_stays_a_loop() -> None:
    assert names(several_steps(square="Square")) == ["iterator", "while"]


def trace(*graphs: GraphDef) -> RunMetadata:
    made = RunMetadata()
    for graph in graphs:
        made.function_graphs.add(pre_optimization_graph=graph)
    return made


def test_what_runs_by_itself_beside_the_model_is_left_out() -> None:
    alone = GraphDef(node=[node("handle", "VarHandleOp"), node("made", "_Retval", "handle")])
    stored = GraphDef(
        node=[node("handle", "_Arg"), *(node(f"set_{at}", "AssignVariableOp", "handle") for at in range(9))]
    )
    model = GraphDef(node=[node("data", "Placeholder"), *layers(30)])
    loaded = read_source(trace(alone, stored, model))
    assert [each.name for each in loaded.graph_def.node] == [each.name for each in model.node]
    assert loaded.left_out == len(alone.node) + len(stored.node)
    whole = read_source(trace(alone, stored, model), ReadOptions(whole_file=True)).graph_def
    assert len(whole.node) == len(alone.node) + len(stored.node) + len(model.node)


def test_graphs_of_one_size_keep_their_numbers() -> None:
    one, two = (GraphDef(node=[node("data", "Placeholder"), *layers(count)]) for count in (30, 40))
    small = GraphDef(node=[node("x", "Placeholder"), node("y", "Square", "x")])
    found = {each.name.partition("/")[0] for each in read_source(trace(one, small, two)).graph_def.node}
    assert found == {"graph_1", "graph_3"}


def test_shapes_of_variables_stand_on_the_arguments_of_the_optimized_graph() -> None:
    # x, read of the argument "unknown" ─▶ MatMul
    def argument(**told: object) -> NodeDef:
        return NodeDef(name="unknown", op="_Arg", attr={"T": {"type": 20}, **told})

    shape = {"list": {"shape": [{"dim": [{"size": 3}, {"size": 4}]}]}}
    given = GraphDef(node=[argument(), *dense()])
    optimized = GraphDef(node=[*dense(), argument(_handle_shapes=shape, _handle_dtypes={"list": {"type": [1]}})])
    traced = RunMetadata(function_graphs=[{"pre_optimization_graph": given, "post_optimization_graph": optimized}])
    [weight] = {(each.shape, each.dtype) for each in load(traced).hierarchy.graph.meaning.weights.values()}
    assert weight == ((3, 4), "float32")
    assert not given.node[0].attr["_handle_shapes"].list.shape


def dense() -> list[NodeDef]:
    """x and what is read of an argument, multiplied."""
    read_value = NodeDef(name="d/read", op="ReadVariableOp", input=["unknown"], attr={"dtype": {"type": 1}})
    return [node("x", "_Arg"), read_value, node("d/MatMul", "MatMul", "x", "d/read")]
