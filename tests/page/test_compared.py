"""The page of a diff: its list, and which lines changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphviz_tb import load
from graphviz_tb.diff import diff
from graphviz_tb.diff.picture.overlay import Both
from graphviz_tb.diff.picture.rows import EdgesBetween
from graphviz_tb.page import changes as compared
from graphviz_tb.proto import GraphDef

REAL = Path(__file__).parents[2] / "fixtures" / "real"


def chain(op: str, count: int = 12) -> GraphDef:
    """Ops in a row, all of one type."""
    graph = GraphDef()
    for at in range(count):
        graph.node.add(name=f"n{'abcdefghijklmnopqrstuvwxyz'[at] * 3}", op=f"{op}{at}")
    return graph


def test_edges_between_two_rows_are_those_of_all_that_lies_in_them() -> None:
    hierarchy = load(REAL / "lstm_dynamic_rnn.pb").hierarchy
    between, graph = EdgesBetween(hierarchy), hierarchy.graph
    out, into = hierarchy.row_of_node[graph.source], hierarchy.row_of_node[graph.target]
    rows = np.random.default_rng(7).integers(0, len(hierarchy), (400, 2)).tolist()
    found = 0
    for source, target in (*rows, *zip(out.tolist(), into.tolist(), strict=True)):
        inside = (out >= source) & (out < hierarchy.end[source]) & (into >= target) & (into < hierarchy.end[target])
        assert sorted(between(source, target).tolist()) == np.flatnonzero(inside).tolist()
        found += bool(inside.any())
    assert found > 400


@pytest.mark.parametrize(("most", "listed", "remarks"), [(12, 12, 0), (11, 11, 1), (3, 3, 1)])
def test_a_list_of_changes_ends_somewhere(
    monkeypatch: pytest.MonkeyPatch, most: int, listed: int, remarks: int
) -> None:
    monkeypatch.setattr(compared, "MAX_LISTED_CHANGES", most)
    changes = diff(chain("A"), chain("B"))
    heads: list[dict[str, object]] = []
    monkeypatch.setattr(compared, "page_bytes", lambda head, blocks, title: heads.append(head))
    compared.changes_html(Both(changes))
    assert len(changes) == 12
    assert len(heads[0]["changes"]) == listed  # type: ignore[arg-type]
    more = [text for text in heads[0]["remarks"] if "of 12 changes" in text]  # type: ignore[attr-defined]
    assert len(more) == remarks
