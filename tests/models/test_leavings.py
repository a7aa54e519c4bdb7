"""What tracing and lowering leave in a graph is neither in the picture nor in its counts."""

from __future__ import annotations

from graphviz_tb import load
from graphviz_tb.formats.pbtxt import parse
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef
from graphviz_tb.read.source import read_source


def graph(*nodes: str) -> GraphDef:
    """`name op input …` each."""
    made = GraphDef()
    for text in nodes:
        name, op, *inputs = text.split()
        made.node.add(name=name, op=op, input=inputs)
    return made


def drawn(*nodes: str) -> dict[str, list[str]]:
    return {node.name: list(node.input) for node in read_source(graph(*nodes)).graph_def.node}


def test_the_barrier_before_results_is_left_out() -> None:
    # x ─▶ y ─▶ Identity, which waits for all that was read
    source = graph("x Placeholder", "r ReadVariableOp x", "y Add x r", "NoOp NoOp ^r", "Identity Identity y ^NoOp")
    loaded = read_source(source)
    assert [node.name for node in loaded.graph_def.node] == ["x", "r", "y", "Identity"]
    assert list(loaded.graph_def.node[3].input) == ["y"]
    assert loaded.left_out == 1
    assert "1 op left out" in load(source).picture().caption.facts


def test_what_a_traced_function_returns_is_one_node_without_the_identities_of_tracing() -> None:
    found = drawn("x Placeholder", "y Relu x", "NoOp NoOp ^y", "Identity Identity y:0 ^NoOp", "out _Retval Identity")
    assert found == {"x": [], "y": ["x"], "out": ["y:0"]}
    twice = drawn("y Relu", "Identity Identity y", "Identity_1 Identity Identity", "out _Retval Identity_1")
    assert twice == {"y": [], "out": ["y"]}


def test_an_identity_that_a_program_wrote_or_uses_stays_before_a_result() -> None:
    for nodes in (
        ("y Relu", "logits Identity y", "out _Retval logits"),
        ("y Relu", "Identity Identity y", "z Neg Identity", "out _Retval Identity"),
        ("Identity Identity Identity", "out _Retval Identity"),
    ):
        assert list(drawn(*nodes)) == [node.split()[0] for node in nodes]


def test_the_barrier_before_results_of_one_name_is_left_out() -> None:
    results = ("r _Retval Identity", "r _Retval Identity")
    assert "NoOp" not in drawn("x Placeholder", "NoOp NoOp ^x", "Identity Identity x ^NoOp", *results)


def test_the_file_as_it_is_keeps_it() -> None:
    source = graph("x Placeholder", "NoOp NoOp ^x", "Identity Identity x ^NoOp")
    assert read_source(source, ReadOptions(whole_file=True)).graph_def == source


def test_what_only_a_barrier_waits_for_goes_with_it() -> None:
    found = drawn(
        "x Placeholder", "w/LoopExecuted/_4 NoOp ^x", "NoOp NoOp ^w/LoopExecuted/_4", "Identity Identity x ^NoOp"
    )
    assert found == {"x": [], "Identity": ["x"]}


def test_a_barrier_that_orders_something_stays() -> None:
    for rest in (["use Relu x ^NoOp"], ["pass Identity x ^NoOp", "use Relu pass"], []):
        assert "NoOp" in drawn("x Placeholder", "NoOp NoOp ^x", *rest)
    assert "train/NoOp" in drawn("x Placeholder", "train/NoOp NoOp ^x", "loss Identity x ^train/NoOp")
    assert "NoOp" in drawn("NoOp NoOp")


def test_arguments_that_freezing_left_are_no_inputs() -> None:
    found = drawn("x Placeholder", "unused_control_flow_input_3 Placeholder", "y Relu x")
    assert found == {"x": [], "y": ["x"]}
    assert "unused_control_flow_input" in drawn(
        "unused_control_flow_input Placeholder", "y Relu unused_control_flow_input"
    )


def test_borders_of_inlined_calls_hand_on() -> None:
    found = drawn(
        "x Placeholder",
        "Func/f/input_control_node/_1 NoOp ^x",
        "Func/f/input/_2 Identity x:0 ^Func/f/input_control_node/_1",
        "Func/f/input/_3 Identity Func/f/input/_2",
        "f/c Const ^Func/f/input_control_node/_1",
        "f/y Mul Func/f/input/_3 Func/f/input/_3 ^Func/f/input/_2",
        "Func/f/output/_4 Identity f/y:0",
        "z Relu Func/f/output/_4",
    )
    assert found == {"x": [], "f/c": [], "f/y": ["x:0", "x:0", "^x"], "z": ["f/y:0"]}


def test_borders_in_a_circle_lead_nowhere() -> None:
    found = drawn(
        "Func/f/input/_1 Identity Func/f/input/_2", "Func/f/input/_2 Identity Func/f/input/_1", "y Relu Func/f/input/_1"
    )
    assert found == {"y": []}


def test_a_function_that_was_rewritten_is_shown_once() -> None:
    # the gradient of a loop rewrites its body; nobody calls the first form
    source = parse(b"""
      node { name: "x" op: "Placeholder" }
      node { name: "y" op: "PartitionedCall" input: "x" attr { key: "f" value { func { name: "b_1_rewritten" } } } }
      library {
        function { signature { name: "b_1" } node_def { name: "n" op: "NoOp" } }
        function { signature { name: "b_1_rewritten" } node_def { name: "n" op: "NoOp" } }
        function { signature { name: "other" } node_def { name: "n" op: "NoOp" } }
      }
    """)
    kept = [function.signature.name for function in read_source(source).graph_def.library.function]
    assert kept == ["b_1_rewritten", "other"]
