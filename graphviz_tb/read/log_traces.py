"""Traces of TensorFlow 2's profiler in a log directory: RUN/plugins/profile/PROFILE/HOST.xplane.pb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path, PurePath

from graphviz_tb.model.loaded import SourceEntry
from graphviz_tb.model.sources import absolute_sources
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, RunMetadata, XSpace
from graphviz_tb.read.holding import GraphContent, SourceContents, SourceItem
from graphviz_tb.read.opened import open_path
from graphviz_tb.read.pb import decode_message
from graphviz_tb.read.walk import FolderListing
from graphviz_tb.read.xspace import run_metadata_by_step

TRACE_FILE_SUFFIXES = (".xplane.pb", ".xplane.pb.gz")
TRACE_FOLDERS = ("plugins", "profile")
ALL_RUNS_OPTIONS = ReadOptions()
TracePlace = tuple[str, str, Path]  # run, profile, file


def find_trace_files(below: FolderListing, options: ReadOptions = ALL_RUNS_OPTIONS) -> list[TracePlace]:
    """Return every trace below a folder, in the order of names."""
    traces = []
    for place, path in below.files:
        # RUN/plugins/profile/PROFILE/HOST.xplane.pb
        *run, plugins, profile, name = ("", "", "", *PurePath(place).parts)
        if (plugins, profile) == TRACE_FOLDERS and path.name.endswith(TRACE_FILE_SUFFIXES) and path.is_file():
            named = PurePath(*run).as_posix()
            if options.run in (None, named):
                traces.append((named, name, path))
    return traces


def add_trace_steps(holding: SourceContents, traces: list[TracePlace], options: ReadOptions) -> SourceContents:
    """Return the contents with the steps of traces added, tagged `PROFILE:STEP` or `PROFILE:HOST:STEP`.

    A trace is decoded when its steps are listed: the graph of a log may be drawn without.
    """
    hosts = Counter((run, profile) for run, profile, _ in traces)
    files: dict[str | None, list[TraceFile]] = {}
    for run, profile, path in traces:
        host = f":{path.name.partition('.xplane')[0]}" if hosts[run, profile] > 1 else ""
        files.setdefault(run, []).append(TraceFile(run, f"{profile}{host}", path, options))
    entries = [
        SourceItem(file.entry, graphless_trace_content, file.step_items) for each in files.values() for file in each
    ]
    held: dict[str | None, Mapping[str, Callable[[], RunMetadata]]] = dict(holding.profiles)
    held |= {run: RunSteps(held.get(run, {}), each) for run, each in files.items()}
    return replace(holding, found=(*holding.found, *entries), profiles=held)


class TraceFile:
    """One trace of a log; decoded once, on first use."""

    def __init__(self, run: str, tag: str, path: Path, options: ReadOptions) -> None:
        self.path = Path(absolute_sources(path))  # it is read later, from any current folder
        self.options = options
        self.entry = SourceEntry("profile", run, tag, bytes=path.stat().st_size, profile=True, format="XSpace")

    @cached_property
    def steps(self) -> dict[str, RunMetadata]:
        """The steps by tag."""
        with open_path(self.path, self.options) as opened:
            space = decode_message(opened.data(), XSpace, opened.name, opened.bounded)
            metadata_of = run_metadata_by_step(space, opened.name, opened.bounded)
        return {f"{self.entry.tag}:{step}": metadata for step, metadata in metadata_of.items()}

    def step_items(self) -> Iterator[SourceItem]:
        """Yield an item per step."""
        for tag in self.steps:
            step = tag.rpartition(":")[2]
            number = int(step) if step.isdecimal() else None
            yield SourceItem(replace(self.entry, tag=tag, step=number, bytes=0), graphless_trace_content)


class RunSteps(Mapping[str, Callable[[], RunMetadata]]):
    """Loaders of a run's steps by tag: the `known` ones, then those in trace files."""

    def __init__(self, known: Mapping[str, Callable[[], RunMetadata]], files: list[TraceFile]) -> None:
        self.known = known
        self.files = files

    @cached_property
    def loaders(self) -> dict[str, Callable[[], RunMetadata]]:
        """All loaders by tag."""
        steps = {tag: partial(return_metadata, step) for file in self.files for tag, step in file.steps.items()}
        return {**self.known, **steps}

    def __getitem__(self, tag: str) -> Callable[[], RunMetadata]:
        return self.loaders[tag]

    def __iter__(self) -> Iterator[str]:
        return iter(self.loaders)

    def __len__(self) -> int:
        return len(self.loaders)


def return_metadata(metadata: RunMetadata) -> RunMetadata:
    return metadata


def graphless_trace_content() -> GraphContent:
    return GraphContent(GraphDef())
