"""The stages by name, and how long each took: the profiler and the progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

# As they begin: once per file, then once per picture; `expand` whenever a group is opened.
STAGES = (
    *("read", "flatten", "interpret", "group", "annotate"),
    *("color", "open", "expand", "arrange", "view", "place", "paint", "render"),
)


class Report:
    """Remembers how long each stage took, in seconds of wall and CPU time.

    `begin` is called with the stage's name when it begins, `part` with how far reading is: bytes done, and of how many.
    """

    def __init__(
        self,
        begin: Callable[[str], None] = lambda stage: None,
        part: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self.begin = begin
        self.part = part
        self.seconds: dict[str, tuple[float, float]] = {}
        self._running: list[tuple[str, float, float]] = []  # a stage, and what stages within it took so far

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Run a block as the stage `name`; what a stage within it takes counts there alone.

        >>> report = Report()
        >>> with report.stage("open"), report.stage("expand"):
        ...     pass
        >>> sorted(report.seconds)
        ['expand', 'open']
        """
        self.begin(name)
        self._running.append((name, 0.0, 0.0))
        wall, cpu = perf_counter(), process_time()
        try:
            yield
        finally:
            self._ended(perf_counter() - wall, process_time() - cpu)

    def _ended(self, wall: float, cpu: float) -> None:
        name, wall_within, cpu_within = self._running.pop()
        before = self.seconds.get(name, (0.0, 0.0))
        # Less what stages within took: no second counts twice when those of all stages are added up.
        self.seconds[name] = (before[0] + wall - wall_within, before[1] + cpu - cpu_within)
        if self._running:
            outer, outer_wall, outer_cpu = self._running[-1]
            self._running[-1] = (outer, outer_wall + wall, outer_cpu + cpu)
