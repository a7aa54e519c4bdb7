"""Which tests execute a line: asked once of a stage's tests, so that a fault is tried only on those that can see it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import coverage
    import pytest

LONGEST = 10_000  # lines of a file
IMPORTED = ""  # the context of what runs when a module is imported


@dataclass(frozen=True)
class Covering:
    """The seconds of each test, and by file and line the indices of the contexts that execute it; `failed` fail as it
    is."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[int]]]
    failed: list[str]
    contexts: list[str]

    def tests(self, path: Path, first: int, last: int, users: Iterable[Path] = ()) -> list[str]:
        """The tests that execute any of some lines, the quickest first; where an import does, those of `users`."""
        found = self._contexts(path, first, last)
        if IMPORTED in found:
            found = {test for user in users for test in self._contexts(user, 1, LONGEST)} - {IMPORTED}
        return sorted(found.difference(self.failed), key=lambda test: (self.seconds[test], test))

    def imports(self, path: Path, first: int, last: int) -> bool:
        """Whether any of some lines is executed when modules are imported."""
        return IMPORTED in self._contexts(path, first, last)

    def _contexts(self, path: Path, first: int, last: int) -> set[str]:
        by_line = self.lines.get(str(path), {})
        numbers = range(first, last + 1) if last - first < len(by_line) else list(map(int, by_line))
        return {self.contexts[index] for line in numbers for index in by_line.get(str(line), ())}


def read(path: Path) -> Covering:
    """What `record` wrote."""
    return Covering(**json.loads(path.read_text()))


def record(arguments: list[str], folders: Sequence[Path], target: Path) -> int:
    """Run pytest and write what each test executes below some folders; give its exit code."""
    import coverage
    import pytest

    measured = coverage.Coverage(data_file=None, config_file=False, include=[f"{folder}/*" for folder in folders])
    clock = Clock(measured)
    measured.start()
    code = pytest.main(arguments, plugins=[clock])
    measured.stop()
    data = measured.get_data()
    contexts = sorted(data.measured_contexts())
    index = {context: number for number, context in enumerate(contexts)}
    lines = {
        file: {str(line): [index[test] for test in tests] for line, tests in data.contexts_by_lineno(file).items()}
        for file in sorted(data.measured_files())
    }
    found = Covering(clock.seconds, lines, sorted(clock.failed), contexts)
    target.write_text(json.dumps(asdict(found)))
    return int(code)


class Clock:
    """A plugin of pytest: one context of coverage for each test, and how long it took."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """A test begins, its fixtures included."""
        self.measured.switch_context(item.nodeid)
        self.seconds[item.nodeid] = -time.process_time()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test has passed or failed."""
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test has ended."""
        self.seconds[nodeid] += time.process_time()
        self.measured.switch_context(IMPORTED)
