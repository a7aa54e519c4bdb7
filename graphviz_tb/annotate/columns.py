"""Turn samples into columns over the rows: first the value of each op, then the sum below each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from graphviz_tb.algorithms.calls import paths_with_children
from graphviz_tb.annotate.around import MeasuredChains
from graphviz_tb.model.columns import Longs, freeze_array
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.paths import RowPath, function_row_of
from graphviz_tb.model.samples import Sample
from graphviz_tb.model.stats import Stats, StepMeasure
from graphviz_tb.model.tensors import Shape

SamplesByPath = Mapping[RowPath, Sample]
NEVER_STARTED = int(np.iinfo(np.int64).max)
SAMPLE_QUANTITIES = ("time", "cpu", "accelerator", "enqueue", "bytes")
ENTRY_FIELDS = ("step", "row", *SAMPLE_QUANTITIES, "start", "end")


def stats_from_samples(hierarchy: Hierarchy, steps: list[SamplesByPath], loose: list[SamplesByPath]) -> Stats:
    """Return the statistics of all steps.

    Before: for each step the samples by path, and the machinery of calls (`loose`). After: in every column the value of
    a group is the sum of the rows below it, that of a call the sum of its function; the means of siblings sum to the
    mean of their group.
    """
    inside: list[SamplesByPath] = []
    entries = [np.zeros((0, len(ENTRY_FIELDS)), np.int64)]
    shapes: dict[int, tuple[Shape, ...]] = {}
    library = int(hierarchy.end[0])  # rows of functions follow those of the main graph
    functions: dict[int, int] = {}
    for number, (samples, machinery) in enumerate(zip(steps, loose, strict=True)):
        merged = merge_call_samples(samples, machinery)
        inside.append({path: sample for path, sample in merged.items() if len(path) > 1 or path[0] >= library})
        found = sorted(sum_samples_by_row(hierarchy, merged, functions).items())
        entries.append(
            np.array([(number, row, *values) for row, values in found], np.int64).reshape(-1, len(ENTRY_FIELDS))
        )
        for path, sample in samples.items():
            shapes.setdefault(path[-1], sample.shapes)
    return build_stats_columns(hierarchy, np.concatenate(entries).T, inside, shapes)


def build_stats_columns(
    hierarchy: Hierarchy, entries: Longs, inside: list[SamplesByPath], shapes: dict[int, tuple[Shape, ...]]
) -> Stats:
    """Build all columns, frozen.

    `entries` are `ENTRY_FIELDS` of every row measured in a step, and of enclosing calls.
    """
    column = dict(zip(ENTRY_FIELDS, entries, strict=True))
    around = MeasuredChains(hierarchy, column["step"], column["row"])

    def measure(name: str) -> StepMeasure:
        # Traces count nanoseconds, users see microseconds.
        return around.measure_rows(around.sums_by_place(column[name]), len(inside), 1 if name == "bytes" else 1000)

    ordinary, counts = hierarchy.is_ordinary_op, around.step_counts_by_row()
    seen = np.zeros(len(hierarchy), bool)
    seen[column["row"]] = True
    return Stats(
        steps=tuple(str(step) for step in range(len(inside))),
        time=measure("time"),
        span=around.measure_rows(around.spans_by_place(column["start"], column["end"]), len(inside), 1000),
        bytes=measure("bytes"),
        cpu=measure("cpu").median,
        accelerator=measure("accelerator").median,
        enqueue=measure("enqueue").median,
        measured=sums_below_rows(hierarchy, (seen & ordinary).astype(np.int64)),
        ops=sums_below_rows(hierarchy, ordinary.astype(np.int64)),
        known=freeze_array(counts > 0),
        end=hierarchy.end,
        shapes={row: step_shapes for row, step_shapes in shapes.items() if step_shapes},
        inside=tuple(inside),
        counts=freeze_array(counts),
    )


def merge_call_samples(samples: SamplesByPath, machinery: SamplesByPath) -> SamplesByPath:
    """Replace the own time of a call by the samples inside it; the machinery of a call counts as time of the call."""
    # Every call in which something was measured.
    around = paths_with_children(sorted({*samples, *machinery})) | set(machinery)
    sample_at: dict[RowPath, Sample] = {}
    for path, sample in samples.items():
        # Start and end stay, as they describe the whole call.
        if path in around:
            sample = replace(sample, time=0, cpu=0, accelerator=0, enqueue=0, bytes=0)
        sample_at[path] = sample
    for path, sample in machinery.items():
        sample_at[path] = add_samples(sample_at[path], sample) if path in sample_at else sample
    return sample_at


def add_samples(sample: Sample, other: Sample) -> Sample:
    """Add two samples of one path."""
    return Sample(
        time=sample.time + other.time,
        cpu=sample.cpu + other.cpu,
        accelerator=sample.accelerator + other.accelerator,
        enqueue=sample.enqueue + other.enqueue,
        start=min(sample.start, other.start),
        end=max(sample.end, other.end),
        bytes=sample.bytes + other.bytes,
        shapes=sample.shapes or other.shapes,
        executions=sample.executions + other.executions,
    )


def sum_samples_by_row(hierarchy: Hierarchy, samples: SamplesByPath, functions: dict[int, int]) -> dict[int, list[int]]:
    """Sum the quantities, and merge start and end, of one step by row: each sample counts for its op and for every
    enclosing call. `functions` caches the function of each row for the next step.

    If a function is on the path twice (recursion), only the innermost place counts, so that nothing counts twice in one
    group.
    """
    by_row: dict[int, list[int]] = {}
    for path, sample in samples.items():
        for row in path:
            if row not in functions:
                functions[row] = function_row_of(hierarchy, row)
            if row not in by_row:
                by_row[row] = [0, 0, 0, 0, 0, NEVER_STARTED, -1]
        # A path leads inwards: the later of two rows in one function replaces the earlier.
        for row in {functions[row]: row for row in path}.values():
            values = by_row[row]
            for place, name in enumerate(SAMPLE_QUANTITIES):
                values[place] += getattr(sample, name)
            if sample.start >= 0:
                values[-2:] = min(values[-2], sample.start), max(values[-1], sample.end)
    return by_row


def sums_below_rows(hierarchy: Hierarchy, own: Longs) -> Longs:
    """Return, for each row, the sum of `own` over the row and everything below it."""
    # Rows are in preorder: a row and everything below it is the slice row … end[row].
    total = np.concatenate(([0], np.cumsum(own)))
    sums: Longs = freeze_array(total[hierarchy.end] - total[np.arange(len(own))])
    return sums
