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
