"""What TensorFlow 2's profiler leaves in a log directory: RUN/plugins/profile/PROFILE/HOST.xplane.pb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from graphviz_tb.model.loaded import Entry
from graphviz_tb.options import ReadOptions
from graphviz_tb.proto import GraphDef, RunMetadata, XSpace
from graphviz_tb.read.holding import Content, Found, Holding
from graphviz_tb.read.opened import open_path
from graphviz_tb.read.pb import decode
from graphviz_tb.read.xspace import steps_of

ENDINGS = (".xplane.pb", ".xplane.pb.gz")
Trace = tuple[str, str, Path]  # run, profile, file


def trace_files(folder: Path, options: ReadOptions) -> list[Trace]:
    """Every trace below a folder, in the order of names."""
    found = []
    for path in sorted(folder.rglob("plugins/profile/*/*")):
        if path.is_file() and path.name.endswith(ENDINGS):
            run = path.parents[3].relative_to(folder).as_posix()
            if options.run in (None, run):
                found.append((run, path.parent.name, path))
    return found


def with_traces(holding: Holding, traces: list[Trace], options: ReadOptions) -> Holding:
    """The same with the steps of traces, tagged `PROFILE:STEP`; of several hosts, `PROFILE:HOST:STEP`."""
    entries: list[Found] = []
    held: dict[str | None, dict[str, Callable[[], RunMetadata]]] = {}
    held |= {run: dict(tags) for run, tags in holding.profiles.items()}
    hosts = Counter((run, profile) for run, profile, _ in traces)
    for run, profile, path in traces:
        host = f"{path.name.partition('.xplane')[0]}:" if hosts[run, profile] > 1 else ""
        with open_path(path, options) as opened:
            steps = steps_of(decode(opened.data(), XSpace, opened.name))
        for step, metadata in steps.items():
            tag, number = f"{profile}:{host}{step}", int(step) if step.isdecimal() else None
            held.setdefault(run, {})[tag] = partial(_itself, metadata)
            entries.append(Found(Entry("profile", run, tag, step=number, profile=True, format="XSpace"), _no_graph))
    return replace(holding, found=(*holding.found, *entries), profiles=held)


def _itself(metadata: RunMetadata) -> RunMetadata:
    return metadata


def _no_graph() -> Content:
    return Content(GraphDef())
