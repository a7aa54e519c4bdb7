"""Traces of TensorFlow 2's profiler in a log directory: RUN/plugins/profile/PROFILE/HOST.xplane.pb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path, PurePath

from graphviz_tb.model.loaded import Entry
from graphviz_tb.model.sources import lasting
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, RunMetadata, XSpace
from graphviz_tb.read.holding import Content, Holding, SourceItem
from graphviz_tb.read.opened import open_path
from graphviz_tb.read.pb import decode
from graphviz_tb.read.walk import Below
from graphviz_tb.read.xspace import steps_of

ENDINGS = (".xplane.pb", ".xplane.pb.gz")
FOLDERS = ("plugins", "profile")
EVERY = ReadOptions()
Trace = tuple[str, str, Path]  # run, profile, file


def trace_files(below: Below, options: ReadOptions = EVERY) -> list[Trace]:
    """Return every trace below a folder, in the order of names."""
    traces = []
    for place, path in below.files:
        # RUN/plugins/profile/PROFILE/HOST.xplane.pb
        *run, plugins, profile, name = ("", "", "", *PurePath(place).parts)
        if (plugins, profile) == FOLDERS and path.name.endswith(ENDINGS) and path.is_file():
            named = PurePath(*run).as_posix()
            if options.run in (None, named):
                traces.append((named, name, path))
    return traces


def with_traces(holding: Holding, traces: list[Trace], options: ReadOptions) -> Holding:
    """Return the contents with the steps of traces added, tagged `PROFILE:STEP` or `PROFILE:HOST:STEP`.

    A trace is decoded when its steps are listed: the graph of a log may be drawn without.
    """
    hosts = Counter((run, profile) for run, profile, _ in traces)
    files: dict[str | None, list[TraceFile]] = {}
    for run, profile, path in traces:
        host = f":{path.name.partition('.xplane')[0]}" if hosts[run, profile] > 1 else ""
        files.setdefault(run, []).append(TraceFile(run, f"{profile}{host}", path, options))
    entries = [SourceItem(file.entry, _no_graph, file.found) for each in files.values() for file in each]
    held: dict[str | None, Mapping[str, Callable[[], RunMetadata]]] = dict(holding.profiles)
    held |= {run: RunSteps(held.get(run, {}), each) for run, each in files.items()}
    return replace(holding, found=(*holding.found, *entries), profiles=held)


class TraceFile:
    """One trace of a log; decoded once, on first use."""

    def __init__(self, run: str, tag: str, path: Path, options: ReadOptions) -> None:
        self.path = Path(lasting(path))  # it is read later, from any current folder
        self.options = options
        self.entry = Entry("profile", run, tag, bytes=path.stat().st_size, profile=True, format="XSpace")

    @cached_property
    def steps(self) -> dict[str, RunMetadata]:
        """The steps by tag."""
        with open_path(self.path, self.options) as opened:
            space = decode(opened.data(), XSpace, opened.name, opened.bounded)
            metadata_of = steps_of(space, opened.name, opened.bounded)
        return {f"{self.entry.tag}:{step}": metadata for step, metadata in metadata_of.items()}

    def found(self) -> Iterator[SourceItem]:
        """Yield an item per step."""
        for tag in self.steps:
            step = tag.rpartition(":")[2]
            number = int(step) if step.isdecimal() else None
            yield SourceItem(replace(self.entry, tag=tag, step=number, bytes=0), _no_graph)


class RunSteps(Mapping[str, Callable[[], RunMetadata]]):
    """Loaders of a run's steps by tag: the `known` ones, then those in trace files."""

    def __init__(self, known: Mapping[str, Callable[[], RunMetadata]], files: list[TraceFile]) -> None:
        self.known = known
        self.files = files

    @cached_property
    def loaders(self) -> dict[str, Callable[[], RunMetadata]]:
        """All loaders by tag."""
        steps = {tag: partial(_itself, step) for file in self.files for tag, step in file.steps.items()}
        return {**self.known, **steps}

    def __getitem__(self, tag: str) -> Callable[[], RunMetadata]:
        return self.loaders[tag]

    def __iter__(self) -> Iterator[str]:
        return iter(self.loaders)

    def __len__(self) -> int:
        return len(self.loaders)


def _itself(metadata: RunMetadata) -> RunMetadata:
    return metadata


def _no_graph() -> Content:
    return Content(GraphDef())
