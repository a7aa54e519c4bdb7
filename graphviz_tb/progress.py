"""Progress of long work, reported to a listener: the command line draws a bar, the library has no listener.

Work that may take seconds calls `advance` at its steps. Without a listener that costs one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter, process_time

ProgressListener = Callable[[str, int, int], None]  # name of the work, finished steps, all steps
_LISTENER: ContextVar[ProgressListener | None] = ContextVar("listener", default=None)


def advance(what: str, done: int, total: int) -> None:
    """Report that `done` of `total` steps of some work are finished."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(what, done, total)


@contextmanager
def listening(listener: ProgressListener) -> Iterator[None]:
    """Hand every `advance` within the block to `listener`.

    >>> with listening(lambda what, done, total: print(what, done, total)):
    ...     advance("read", 1, 3)
    read 1 3
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


# Stage names and timings: the profiler and the progress bar.

# In starting order: once per file, then once per picture; `expand` whenever a group is opened.
STAGE_NAMES = (
    *("read", "flatten", "interpret", "group", "annotate"),
    *("color", "open", "expand", "arrange", "view", "place", "paint", "render"),
)


class StageReport:
    """Records the wall and CPU seconds of each stage.

    `begin` is called with the name of each stage that starts, `part` with the progress of reading: bytes read, all
    bytes.
    """

    def __init__(
        self,
        begin: Callable[[str], None] = lambda stage: None,
        part: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self.begin = begin
        self.part = part
        self.seconds: dict[str, tuple[float, float]] = {}
        self._running: list[tuple[str, float, float]] = []  # (stage, wall and CPU seconds of nested stages so far)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a block as the stage `name`, without the time of nested stages.

        >>> report = StageReport()
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
            self._end_stage(perf_counter() - wall, process_time() - cpu)

    def _end_stage(self, wall: float, cpu: float) -> None:
        name, wall_within, cpu_within = self._running.pop()
        before = self.seconds.get(name, (0.0, 0.0))
        # Minus nested stages: the sum over all stages counts no second twice.
        self.seconds[name] = (before[0] + wall - wall_within, before[1] + cpu - cpu_within)
        if self._running:
            outer, outer_wall, outer_cpu = self._running[-1]
            self._running[-1] = (outer, outer_wall + wall, outer_cpu + cpu)
