"""Keep the most recently used series in memory, and drop the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import count

from graphviz_tb.model.logged import RunTag, Series
from graphviz_tb.read.logged.run import NumberedTag, RunReader

FILL_AFTER_DROPPING = 0.9  # fill level after dropping, so that not every new point drops a series


class ColumnMemory:
    """A limit on the bytes of all columns (None: no limit), and when each series was last used."""

    def __init__(self, size: int | None) -> None:
        self.size = size
        self.taken = 0
        self._each: dict[str, int] = {}  # bytes per run
        self._asked: dict[RunTag, int] = {}
        self._clock = count(1)

    def touch_series(self, series: Iterable[Series]) -> None:
        """Mark series as used now."""
        now = next(self._clock)
        for each in series:
            self._asked[each.run, each.tag] = now

    def set_run_bytes(self, run: str, size: int) -> None:
        """Record the bytes of a run's columns."""
        self.taken += size - self._each.get(run, 0)
        self._each[run] = size

    def forget_runs(self, runs: Collection[str]) -> None:
        """Forget vanished runs."""
        for run in runs:
            self.taken -= self._each.pop(run, 0)
        if runs:
            self._asked = {key: asked for key, asked in self._asked.items() if key[0] not in runs}

    def drop_oldest(self, runs: Mapping[str, RunReader], spared: Collection[RunTag] = ()) -> bool:
        """Drop the least recently used columns if memory is over the limit; return whether any were."""
        if self.size is None or self.taken <= self.size:
            return False
        left = self.taken - int(FILL_AFTER_DROPPING * self.size)
        chosen: dict[str, set[NumberedTag]] = {}
        for run, key in self._series_by_age(runs, spared):
            if left <= 0:
                break
            chosen.setdefault(run, set()).add(key)
            left -= runs[run].held[key].droppable_bytes
        for run, keys in chosen.items():
            runs[run].drop_columns(keys)
            self.set_run_bytes(run, runs[run].memory_bytes)
        return bool(chosen)

    def _series_by_age(
        self, runs: Mapping[str, RunReader], spared: Collection[RunTag]
    ) -> list[tuple[str, NumberedTag]]:
        """Return the series that have columns, least recently used first."""
        ages = [
            (self._asked.get((name, series.tag), 0), name, key)
            for name, reader in runs.items()
            for key, series in reader.series.items()
            if series.dropped is None and (name, series.tag) not in spared
        ]
        return [(name, key) for _, name, key in sorted(ages)]
