"""The line of the program that a change is about, in text, Markdown and JSON."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb.diff import diff
from graphviz_tb.diff.picture.overlay import Both
from graphviz_tb.diff.report.explain import json_document
from graphviz_tb.page.changes import changes_data
from tests.diff.test_causes import graph

DECODERS = Path(__file__).resolve().parents[2] / "fixtures/exported_edits/decoder.tar.xz"


@cache
def model(name: str) -> bytes:
    with tarfile.open(DECODERS) as archive:
        return archive.extractfile(f"{name}.pt2").read()  # type: ignore[union-attr]


@cache
def changes_to(name: str, old: str = "base") -> Any:
    return diff(model(old), model(name))


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        ("no_positions", "was at network.py:87 x = x + self.positions(torch.arange(ids.shape[1]))"),
        ("no_residual", "was at network.py:64 x = x + y if self.residual else y"),
        ("third_block", "at network.py:89 x = block(x)"),  # many ops: the call that all have in common
        ("kv_heads", "at network.py:63 y = self.attn(self.norm1(x))"),  # a weight: where it is read
    ],
)
def test_a_change_says_the_line_of_the_program(edit: str, line: str) -> None:
    assert f"    {line}\n" in changes_to(edit).explain()
    assert f"  - `{line}`\n" in changes_to(edit).explain("markdown")


def test_json_and_page_have_the_line_too() -> None:
    changes = changes_to("no_residual")
    line = {"old": "network.py:64 x = x + y if self.residual else y", "new": None}
    assert json_document(changes)["changes"][0]["program"] == line
    assert changes.inverse().program_lines(changes.inverse()[0]) == (None, line["old"])
    head, _ = changes_data(Both(changes))
    assert f"was at {line['old']}" in head["changes"][0]["facts"]


def test_a_graph_without_lines_says_none() -> None:
    changes = diff(b'node { name: "x" op: "Relu" }', b'node { name: "x" op: "Tanh" }')
    assert changes.program_lines(changes[0]) == (None, None)
    assert "program" not in json_document(changes)["changes"][0]


def program(*ops: str) -> Any:
    """Return an exported program from its ops, each after the line of the program that made it."""
    lines, nodes = zip(*(op.split(" | ") for op in ops), strict=True)
    made = graph(*nodes)
    for node, line in zip(made.node, lines, strict=True):
        if line:
            node.attr["_source"].list.s.append(f"network.py:1 {line}".encode())
    return made


START = (" | x Placeholder", "y = act(x) | relu aten::relu x")
TURNED = ("y = rope(y) | arange aten::arange", "y = rope(y) | pow aten::pow arange", "y = rope(y) | cos aten::cos pow",
          "y = rope(y) | unsqueeze aten::unsqueeze cos", "y = rope(y) | mul aten::mul relu unsqueeze",
          "y = end(y) | unsqueeze_1 aten::unsqueeze mul", "y = end(y) | softmax aten::softmax unsqueeze_1")  # fmt: skip
BIASED = ("y = bias(y) | arange aten::arange", "y = bias(y) | pow aten::pow arange",
          "y = bias(y) | unsqueeze aten::unsqueeze pow", "y = bias(y) | unsqueeze_1 aten::unsqueeze unsqueeze",
          "y = bias(y) | neg aten::neg unsqueeze_1", "y = bias(y) | add aten::add relu neg",
          "y = end(y) | unsqueeze_2 aten::unsqueeze add", "y = end(y) | softmax aten::softmax unsqueeze_2")  # fmt: skip


TURNED_PROGRAM, BIASED_PROGRAM = program(*START, *TURNED), program(*START, *BIASED)


@pytest.mark.parametrize("turned", [False, True])
def test_a_line_in_place_of_another_is_an_exchange(turned: bool) -> None:
    """How positions are told to the model is exchanged, from the first op of its line to the last."""
    pair = program(*START, *TURNED), program(*START, *BIASED)
    for side, end in zip(pair, (8, 3), strict=True):
        next(node for node in side.node if node.name == "arange").attr["end"].i = end
    changes = diff(*(pair[::-1] if turned else pair))
    assert len(changes) <= 2
    assert "end" not in changes.explain().replace("y = end(y)", "")
    assert changes.source is not None
    kept = {old: new for old, new, _ in changes.source.matches()}
    assert {"relu", "softmax"} <= kept.keys()
    assert kept["unsqueeze_2" if turned else "unsqueeze_1"] == ("unsqueeze_1" if turned else "unsqueeze_2")


def test_an_edited_line_keeps_its_other_ops() -> None:
    old, new = (
        program(" | x Placeholder", *(f"{line} | {op}" for op in ("conv aten::tanh x", f"act aten::{act} conv")),
                "y = end(y) | softmax aten::softmax act")
        for act, line in (("relu", "y = relu(tanh(x))"), ("gelu", "y = gelu(tanh(x))"))
    )  # fmt: skip
    (change,) = diff(old, new)
    assert change.setting is not None
    assert (change.setting.old, change.setting.new) == ("aten::relu", "aten::gelu")
