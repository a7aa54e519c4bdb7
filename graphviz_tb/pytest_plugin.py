"""The pytest plugin: the fixture `assert_graph_matches` compares a model with a graph stored next to its test.

Every pytest run loads this module where the package is installed, so it imports the rest only for a test that uses the
fixture. To compare two graphs in memory, use `graphviz_tb.diff.assert_same`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

UPDATE_OPTION = "--update-graphs"
WRITTEN_PROPERTY = "tbgraph_written"
BASELINE_WRITERS = pytest.StashKey[dict[Path, str]]()  # file → the test that wrote it


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes baselines."""
    group = parser.getgroup("tbgraph")
    text = "write the graphs of assert_graph_matches that are missing or differ, instead of failing"
    group.addoption(UPDATE_OPTION, action="store_true", default=False, help=text)


class GraphMatcher:
    """Asserts that a model has the graph of a baseline, for one test."""

    def __init__(self, node: pytest.Item, update: bool) -> None:
        self.node = node
        self.update = update

    def __call__(self, model: Any, baseline: str | Path, *, include: Iterable[str] = (), **choices: Any) -> None:
        """Assert that `model` has the graph in the file `baseline`, next to the test's file.

        `model` is anything that `load` takes, or a `Model`; `choices` are options of reading (`run`, `signature`).
        `include` lists further differences that count: shapes, devices, colocation, versions. The values of weights
        never count. The file is written with --update-graphs only. Raises `AssertionError` with the changes,
        `UnknownChoice` for an unknown word in `include`.
        """
        __tracebackhide__ = True
        from graphviz_tb.diff.baseline import baseline as made
        from graphviz_tb.options import DiffOptions

        words = (include,) if isinstance(include, str) else tuple(include)
        DiffOptions.including(words)  # raise for an unknown word before the file is written
        path = self.node.path.parent / baseline
        if path.is_dir():
            raise AssertionError(
                f"{str(path)!r} is a folder: name a file, such as {str(Path(baseline) / 'model.json')!r}"
            )
        now, label = made(model, **choices)
        if not path.exists():
            said = f"there is no graph {str(path)!r} to compare with"
        else:
            said = _baseline_difference(path, now, label or "the model", words)
        if said and self.update:
            self._write_baseline(path, now)
        elif said:
            raise AssertionError(f"{said}\n\nTo write the file: pytest {UPDATE_OPTION} '{self.node.nodeid}'")

    def _write_baseline(self, path: Path, data: bytes) -> None:
        from graphviz_tb.output.files import convert_file_errors, write_output

        writers = self.node.config.stash.setdefault(BASELINE_WRITERS, {})
        other = writers.setdefault(path.resolve(), self.node.nodeid)
        if other != self.node.nodeid:
            raise AssertionError(f"{other} has written {str(path)!r} too: each test needs a file of its own")
        with convert_file_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_output(path, data)
        # Stored in the test's result, so that xdist workers pass it on.
        self.node.user_properties.append((WRITTEN_PROPERTY, str(path)))


def _baseline_difference(path: Path, now: bytes, label: str, include: tuple[str, ...]) -> str:
    """Return what changed since a baseline, in words; "" if nothing did."""
    from graphviz_tb.diff.baseline import since
    from graphviz_tb.errors import TbGraphError

    kept = path.read_bytes()
    if kept == now:
        return ""
    try:
        changes = since(kept, path.name, now, label, include)
    except TbGraphError as error:  # a damaged file, or one of a different form
        return f"{path.name} cannot be compared with: {error}"
    return "" if changes.same else f"the graph of {label} is not that of {path.name}\n\n{changes.explain().rstrip()}"


@pytest.fixture
def assert_graph_matches(request: pytest.FixtureRequest) -> GraphMatcher:
    """Assert that a model has the graph of a file: `assert_graph_matches(model, "model.json")`."""
    return GraphMatcher(request.node, bool(request.config.getoption(UPDATE_OPTION)))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report which graphs were written."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    properties = [
        pair for report in reports if getattr(report, "when", "") == "call" for pair in report.user_properties
    ]
    written = sorted({path for name, path in properties if name == WRITTEN_PROPERTY})
    for path in written:
        terminalreporter.write_line(f"graph written: {path}")
