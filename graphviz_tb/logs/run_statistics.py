"""Select the run statistics to show: from files, or from steps of the source itself."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphviz_tb.errors import MissingFacts, NoGraph, ReadError, UnknownChoice
from graphviz_tb.formats.contents import LazyProfiles
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.sources import LoadedGraph
from graphviz_tb.model.stats import Stats
from graphviz_tb.options import Options, ReadOptions
from graphviz_tb.proto import RunMetadata
from graphviz_tb.read.source import list_profiles

if TYPE_CHECKING:
    from graphviz_tb.model.profile import Profile

# a graph for a profile without a graph; no trace has the name of its node
PLACEHOLDER_GRAPH = b'node { name: "" op: "NoOp" }'


def join_selected_statistics(source: Any, loaded: LoadedGraph, hierarchy: Hierarchy, options: Options) -> Stats | None:
    """Return the selected run statistics joined to the rows: of files, or of steps of the source itself."""
    chosen = _select_traces(source, loaded, options)
    return _join_traces(hierarchy, chosen, options) if chosen else None


def join_baseline_statistics(source: Any, loaded: LoadedGraph, hierarchy: Hierarchy, options: Options) -> Stats | None:
    """Return the run statistics to compare with. Raises `MissingFacts` if there is nothing to compare."""
    if not options.read.against:
        return None
    if not (options.read.run_metadata or options.read.step or options.read.profile):
        raise MissingFacts(
            "--against compares run statistics, and there are none of this graph",
            hint="give those of now with --run-metadata or --step",
        )
    read = replace(options.read, run_metadata=options.read.against, step=None, profile=None)
    return join_selected_statistics(source, loaded, hierarchy, replace(options, read=read))


def statistics_by_step(
    source: Any, loaded: LoadedGraph, hierarchy: Hierarchy, options: Options
) -> dict[str, Callable[[], Stats]]:
    """Return a loader per step. Joining is deferred, since the rows of all steps may fill memory."""
    chosen = _select_traces(source, loaded, options)
    return {name: partial(_join_traces, hierarchy, {name: trace}, options) for name, trace in chosen.items()}


def profiles_by_step(
    source: Any, loaded: LoadedGraph, hierarchy: Hierarchy, options: Options
) -> dict[str, Callable[[], Profile]]:
    """Return a loader per selected step's profile; of all steps in the source if none was selected.

    Raises `MissingFacts` if there are none.
    """
    chosen = _select_traces(source, loaded, options) or dict(
        _steps_of_profile(loaded.run_metadata or _statistics_in_source(source, options), options.read.profile)
    )
    from graphviz_tb.annotate.statistics import StatsOptions
    from graphviz_tb.annotate.step_profile import build_profile

    how = StatsOptions(options.flatten.tensorboard, options.read.keep_warm_up)
    return {name: partial(build_profile, hierarchy, trace, name, how) for name, trace in chosen.items()}


def _select_traces(source: Any, loaded: LoadedGraph, options: Options) -> dict[str, RunMetadata]:
    traces: dict[str, RunMetadata] = {}
    files = options.read.run_metadata
    step = "all" if options.read.step is None else options.read.step
    in_step_file = False
    for file in files:
        steps = _steps_of_profile(_statistics_in_file(file, options.read), options.read.profile)
        # --step selects within a file of several steps; a file with one step is used as a whole.
        several = options.read.step is not None and len(steps) > 1
        in_step_file |= several
        tags = _matching_step_tags(steps, step) if several else list(steps)
        traces.update((f"{file}:{tag}" if tag else file, steps[tag]) for tag in tags)
    # Otherwise select steps of the source itself.
    if (options.read.step is not None and not in_step_file) or (options.read.profile is not None and not files):
        found = _steps_of_profile(loaded.run_metadata or _statistics_in_source(source, options), options.read.profile)
        traces.update((tag, found[tag]) for tag in _matching_step_tags(found, step))
    return traces


def _join_traces(hierarchy: Hierarchy, chosen: Mapping[str, RunMetadata], options: Options) -> Stats:
    from graphviz_tb.annotate.statistics import StatsOptions, join_statistics  # most pictures show no times

    return join_statistics(
        hierarchy,
        list(chosen.values()),
        StatsOptions(options.flatten.tensorboard, options.read.keep_warm_up),
        names=list(chosen),
    )


def _steps_of_profile(steps: Mapping[str, RunMetadata], name: str | None) -> Mapping[str, RunMetadata]:
    """Return the steps of one of several profiles, tagged `NAME:STEP`. Raises `UnknownChoice` if none has the name."""
    if name is None:
        return steps
    tags = [tag for tag in steps if tag == name or tag.startswith(f"{name}:")]
    if not tags:
        raise UnknownChoice.among("profile", name, sorted({tag.rpartition(":")[0] or tag for tag in steps}))
    return LazyProfiles({tag: partial(steps.__getitem__, tag) for tag in tags})


def _statistics_in_file(file: Any, options: ReadOptions) -> Mapping[str, RunMetadata]:
    """Return the statistics in a file of statistics. Raises `ReadError` if it has none."""
    try:
        return list_profiles(file, ReadOptions(max_bytes=options.max_bytes))
    except NoGraph as error:  # the message should name statistics, not a graph
        hint = "give a RunMetadata, an xplane.pb or a log directory"
        raise ReadError(error.message, hint=hint) from None


def _statistics_in_source(source: Any, options: Options) -> Mapping[str, RunMetadata]:
    """Return the statistics in the source itself. Raises `MissingFacts` if it has none."""
    try:
        # A pipe cannot be read twice.
        if _is_read_once(source):
            raise NoGraph(f"no run statistics in {'standard input' if source == '-' else source}")
        return list_profiles(source, ReadOptions(run=options.read.run, max_bytes=options.read.max_bytes))
    except NoGraph as error:
        hint = "give --run-metadata FILE, or a log directory with traced steps"
        raise MissingFacts(error.message, hint=hint) from None


def _is_read_once(source: Any) -> bool:
    """Return whether a source can be read only once: standard input, or neither file nor folder."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = Path(source)
    return source == "-" or (path.exists() and not path.is_file() and not path.is_dir())


def _matching_step_tags(tags: Iterable[str], step: str) -> list[str]:
    """Return the tags that `step` means: the tag itself, the one that ends in this number, or all.

    >>> _matching_step_tags(["step099", "step199"], "99"), _matching_step_tags(["a", "b"], "all")
    (['step099'], ['a', 'b'])
    """
    known = list(tags)
    if step in known or step == "all":
        return known if step not in known else [step]
    # "99" is "step099", but not "step199"
    number = (
        re.compile(rf"(^|.*\D)0*{step.lstrip('0') or '0'}", re.DOTALL) if step.isascii() and step.isdigit() else None
    )
    matches = [tag for tag in known if number and number.fullmatch(tag)]
    if len(matches) != 1:
        raise UnknownChoice.among("step", step, [*known, "all"])
    return matches
