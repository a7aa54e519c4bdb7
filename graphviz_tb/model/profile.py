"""The profile of one traced step: slices on lanes, shares of its time, and memory in use.

slice    one execution on a thread or stream: start, duration, and its node
lane     a thread of the host, a stream of an accelerator, or a device of which no threads are recorded
level    concurrent or nested slices of one lane are on separate levels: slices of one level never overlap
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import IntEnum

import numpy as np

from graphviz_tb.model.columns import Bytes, Ints, Longs
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.paths import RowPath


class SliceKind(IntEnum):
    """The kind of a slice, which decides how its time counts."""

    COMPUTE = 0
    """Work of an op, or of a kernel."""
    INPUT = 1
    """Work of the input pipeline, or waiting for it."""
    LAUNCH = 2
    """The host hands kernels to an accelerator; not part of the time of the op."""
    CALL = 3
    """A call whose contents were measured: the contents count."""
    KERNELS = 4
    """An op on a stream, from its first kernel to its last: the kernels count."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane: its device, the name of its thread or stream ("" if the device has none), and its number of levels."""

    device: str
    thread: str
    accelerator: bool
    levels: int


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Slices in columns, in the order of lane, level, start; times in nanoseconds, starts since `origin`.

    `name` is a number in `names`, `node` one in `nodes` (paths in the graph) and `addresses`, -1 if no op of the graph
    has the name; `kind` is a `SliceKind`; `parent` is the enclosing slice, -1 for none; `waited` is the time between
    scheduling and start. `left_out` is the number of slices without a free level.
    """

    lanes: tuple[Lane, ...]
    names: tuple[str, ...] = field(repr=False)
    nodes: tuple[RowPath, ...] = field(repr=False)
    addresses: tuple[str, ...] = field(repr=False)
    lane: Ints = field(repr=False)
    level: Ints = field(repr=False)
    start: Longs = field(repr=False)
    duration: Longs = field(repr=False)
    name: Ints = field(repr=False)
    node: Ints = field(repr=False)
    kind: Bytes = field(repr=False)
    parent: Ints = field(repr=False)
    waited: Longs = field(repr=False)
    origin: int = 0
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end_time(self) -> int:
        """The end of the last slice, in nanoseconds since `origin`."""
        return int(np.max(self.start + self.duration)) if len(self) else 0


@dataclass(frozen=True, slots=True)
class OpTime:
    """One row of a table of ops: `self_time` excludes and `total` includes nested executions, both in nanoseconds;
    `count` executions allocated `bytes`. `path` is empty for an op type, and for executions that are not `in_graph`: no
    op has their name."""

    name: str
    op: str
    path: RowPath
    self_time: int
    total: int
    count: int
    bytes: int = 0
    in_graph: bool = True


@dataclass(frozen=True, slots=True)
class StepShares:
    """The shares of a step of `length` nanoseconds, from its first start to its last end; the parts sum to it.

    `compute`: an op outside of the input pipeline runs; `input`: only ops of the input pipeline run; `launch`: the host
    only launches kernels; `idle`: nothing recorded runs.
    """

    length: int
    compute: int
    input: int
    launch: int
    idle: int


@dataclass(frozen=True, slots=True, eq=False)
class MemoryCurve:
    """Bytes of one allocator that the ops of a step have in use, relative to the start of the step: `bytes[i]` from
    `time[i]` on (nanoseconds since the origin of the timeline)."""

    allocator: str
    time: Longs = field(repr=False)
    bytes: Longs = field(repr=False)

    @property
    def peak(self) -> int:
        """The largest number of bytes in use."""
        return max(0, int(np.max(self.bytes))) if len(self.bytes) else 0


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The profile of one step: its `ops`, `types` and `groups` (self times of each sum to `time`), its slices, shares
    and memory; `missing` describes in words what the trace does not record.

    `whole` is the time of all ops of the main graph and their calls, in nanoseconds; `outside` the time of functions
    whose call is unknown; `unmatched` the time of names that no op of the graph has.
    """

    step: str
    whole: int
    ops: Sequence[OpTime] = field(repr=False)
    types: Sequence[OpTime] = field(repr=False)
    groups: Sequence[OpTime] = field(repr=False)
    shares: StepShares
    memory: tuple[MemoryCurve, ...]
    timeline: Timeline
    outside: int = 0
    unmatched: int = 0
    missing: tuple[str, ...] = ()

    @property
    def time(self) -> int:
        """The time of all executions of the step, in nanoseconds."""
        return self.whole + self.outside + self.unmatched
