"""Calls of functions that a file lacks, branches of a condition, and control edges into constants."""

from __future__ import annotations

import graphviz_tb
from graphviz_tb.api.pipeline import Model
from graphviz_tb.api.summary import summarize
from graphviz_tb.commands.info_text import _count_rows
from graphviz_tb.words.line_labels import _line_label, describe_contents
from graphviz_tb.words.view import NodeLabels

CALL = 'node { name: "call" op: "PartitionedCall" input: "x" attr { key: "f" value { func { name: "%s" } } } }'
X = 'node { name: "x" op: "Placeholder" }'
LIBRARY = 'library { function { signature { name: "there" } } }'
# p ─▶ Switch ─true─▶ kept      y waits for `kept`
#         └──false─▶ dropped
COND = """
node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } }
       attr { key: "shape" value { shape { } } } }
node { name: "Switch" op: "Switch" input: "p" input: "p" attr { key: "T" value { type: DT_BOOL } } }
node { name: "kept" op: "Identity" input: "Switch:1" }
node { name: "dropped" op: "Identity" input: "Switch" }
node { name: "y" op: "Const" input: "^kept" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "sum" op: "Neg" input: "y" }
"""


def second_lines(model: Model) -> dict[str, str]:
    """The second line of every box of the top level."""
    labels = NodeLabels(model.hierarchy, lambda path: None)
    rows = model.hierarchy.children(0).tolist()
    return {model.hierarchy.name[row]: labels.node_label((row,)).second for row in rows}


def test_a_call_of_a_function_that_the_file_lacks_has_a_mark_and_a_notice() -> None:
    for library in ("", LIBRARY):
        model = graphviz_tb.load((X + CALL % "gone" + library).encode())
        assert second_lines(model) == {"x": "", "call": "function not in the file"}
        (notice,) = model.hierarchy.graph.notices
        assert (notice.code, notice.where, notice.count, notice.strict) == ("missing-function", "call", 1, True)
        assert "'gone'" in notice.message


def test_functions_that_are_there_or_ops_or_nameless_are_not_missing() -> None:
    for name in ("there", "Relu", ""):
        model = graphviz_tb.load((X + CALL % name + LIBRARY).encode())
        assert not model.hierarchy.graph.notices


def test_lines_from_a_switch_say_for_which_value_of_the_condition_they_are() -> None:
    model = graphviz_tb.load(COND.encode())
    level = model.metagraph((0,))
    names = [model.hierarchy.name[row] for row in level.children]
    said = {
        names[edge.target]: (_line_label(edge), describe_contents(edge))
        for edge in level.edges
        if names[edge.source] == "Switch"
    }
    assert said == {
        "kept": ("if true", "1 tensor (scalar bool, inferred, if true)"),
        "dropped": ("if false", "1 tensor (scalar bool, inferred, if false)"),
    }


def test_a_switch_of_a_loop_names_no_branch() -> None:
    model = graphviz_tb.load(COND.replace('"Placeholder"', '"LoopCond"').encode())
    level = model.metagraph((0,))
    assert not any("if" in _line_label(edge) for edge in level.edges)


def test_control_edges_into_constants_are_counted_apart() -> None:
    summary = summarize((model := graphviz_tb.load(COND.encode())).hierarchy, model.facts)
    assert (summary.edges.control, summary.edges.control_into_marks) == (1, 1)
    assert {row[0]: row[2] for row in _count_rows(summary)}["edges"] == "5 data, 1 control (1 into marks, not drawn)"
