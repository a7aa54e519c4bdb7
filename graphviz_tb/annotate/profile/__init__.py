"""The profile of one traced step, joined with a graph: as `join_statistics`, but execution by execution.

read      entries of the trace, as for run statistics (run_metadata.py): each counts once and has a path
tables    self time and total time by op, by type, by group (tables.py)
timeline  a slice for each execution, on the lane of its thread or stream (timeline.py, lanes.py)
shares    parts of the step with computation, with only the input pipeline, or idle (shares.py)
memory    bytes in use over the step, if the trace has allocations (memory.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphviz_tb.annotate.columns import merge_call_samples
from graphviz_tb.annotate.profile.memory import memory_curves
from graphviz_tb.annotate.profile.shares import step_shares
from graphviz_tb.annotate.profile.tables import op_tables
from graphviz_tb.annotate.profile.timeline import build_timeline
from graphviz_tb.annotate.run_metadata import (
    DEFAULT_STATS_OPTIONS,
    JoinedTrace,
    StatsOptions,
    counted_executions,
    executions_by_device,
    is_joined_device,
    join_executions,
)
from graphviz_tb.annotate.trace_names import TraceNames
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.profile import MemoryCurve, Profile, Timeline
from graphviz_tb.model.units import format_counted_noun, format_micros

if TYPE_CHECKING:
    from graphviz_tb.proto import RunMetadata


def build_profile(
    hierarchy: Hierarchy, trace: RunMetadata, step: str = "", options: StatsOptions = DEFAULT_STATS_OPTIONS
) -> Profile:
    """Return the profile of a step. Its tables sum to the result of `join_statistics` for this trace alone.

    >>> from graphviz_tb.flatten import flatten
    >>> from graphviz_tb.interpret import interpret
    >>> from graphviz_tb.group import fold_graph
    >>> from graphviz_tb.proto import GraphDef, RunMetadata
    >>> hierarchy = fold_graph(interpret(flatten(GraphDef(node=[{"name": "layer/x", "op": "Relu"}]))))
    >>> entry = {"node_name": "layer/x", "all_start_micros": 10, "all_end_rel_micros": 3}
    >>> trace = RunMetadata(step_stats={"dev_stats": [{"device": "/device:CPU:0", "node_stats": [entry]}]})
    >>> made = build_profile(hierarchy, trace)
    >>> made.whole, [(row.name, row.self_time) for row in made.ops], made.shares.compute
    (3000, [('layer/x', 3000)], 3000)
    """
    read = {
        device: found
        for device, found in executions_by_device(trace, options).items()
        if is_joined_device(device, options)
    }
    finder = TraceNames(hierarchy, options.tensorboard)
    places = finder.execution_paths(execution.name for found in read.values() for execution in found)
    counted = counted_executions(read, options)
    joined = join_executions(counted, places)
    samples = merge_call_samples(joined.samples, joined.loose)
    ops, types, groups = op_tables(hierarchy, samples)
    timeline = build_timeline(hierarchy, trace, read, counted, places)
    memory = memory_curves(trace, timeline.origin)
    main = int(hierarchy.end[0])
    whole = sum(sample.time for path, sample in samples.items() if path[0] < main)
    outside = sum(sample.time for sample in samples.values()) - whole
    return Profile(
        step=step,
        whole=whole,
        outside=outside,
        ops=ops,
        types=types,
        groups=groups,
        shares=step_shares(timeline),
        memory=memory,
        timeline=timeline,
        unmatched=sum(each.execution.time for each in counted if each.execution.name not in places),
        missing=tuple(describe_gaps(joined, timeline, memory, outside)),
    )


def describe_gaps(joined: JoinedTrace, timeline: Timeline, memory: Sequence[MemoryCurve], outside: int) -> list[str]:
    """Describe in words what the trace does not record."""
    said = []
    apart = joined.executions - joined.joined
    if apart:
        names = f"{apart:,} of {format_counted_noun(joined.executions, 'execution')}"
        compiled = f" ({joined.compiled:,} of compiled code)" if joined.compiled else ""
        said.append(f"{names} have names that no op of this graph has{compiled}: they are on the timeline alone")
    if outside:
        said.append(f"{format_micros(outside / 1000)} ran in functions whose call the trace does not name")
    if any(not lane.thread and lane.levels > 1 for lane in timeline.lanes):
        said.append("the trace does not say which thread ran an op: what ran at once is drawn on rows of its device")
    if not memory:
        said.append("the trace records no allocations: there is no memory over the step")
    if timeline.left_out:
        said.append(f"{format_counted_noun(timeline.left_out, 'slice')} too deep for a lane are not drawn")
    return said
