"""Devices of a trace: which executions count, and for which device.

/job:…/device:GPU:0              the host enqueues a kernel
/device:GPU:0/stream:all         every kernel once
/device:GPU:0/stream:13          the same kernels by stream, and copies
/device:GPU:0/memcpy             the same copies
/job:…/device:CPU:0              an execution on the host
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.tensors import Shape

# TensorBoard counts devices of this form only, so that streams are left out (parser of `device:TYPE:N`).
CANONICAL = re.compile(r"device:([^:]+:\d+)$")
PART = re.compile(r"^(?P<base>.*?)/(?P<part>stream:(?P<stream>\w+)|memcpy)$")  # e.g. "/device:GPU:0/stream:13"
KIND = re.compile(r"/(?:device:)?([A-Za-z_]+):(\d+)$")  # e.g. "/device:GPU:0", "/gpu:0"
HOST = frozenset({"CPU", "XLA_CPU"})


@dataclass(frozen=True, slots=True)
class Execution:
    """One entry of a trace: the node's `name`, `start` and `time` in nanoseconds, allocated `bytes`, the shapes of its
    outputs (None: the entry has no list of outputs), whether it is `compiled` code without an op name, the `thread`
    that ran it (0: not recorded), the `label` of a kernel, and how long it `waited` between scheduling and start, in
    nanoseconds."""

    name: str
    start: int
    time: int
    bytes: int = 0
    shapes: tuple[Shape, ...] | None = None
    compiled: bool = False
    thread: int = 0
    label: str = ""
    waited: int = 0


@dataclass(frozen=True, slots=True)
class CountedExecution:
    """An execution and its category: time of the "cpu", of an "accelerator", or "enqueue"."""

    execution: Execution
    how: str
    device: str


class Families:
    """Maps a stream or copy device to its parent device.

    >>> gpu = "/job:localhost/replica:0/task:0/device:GPU:0"
    >>> Families([gpu]).of("/device:GPU:0") == Families([gpu]).of("/gpu:0") == gpu
    True
    """

    def __init__(self, devices: Iterable[str]) -> None:
        self.whole = {device for device in devices if not PART.match(device)}
        self.like: dict[tuple[str, str], list[str]] = defaultdict(list)
        for device in self.whole:
            self.like[tail(device)].append(device)

    def of(self, base: str) -> str:
        """Return the device for the name `base` that its streams use."""
        # Match the full name if there is one; else type and number, if only one machine has them.
        same = [base] if base in self.whole else self.like.get(tail(base), [])
        return same[0] if len(same) == 1 else base


def tail(device: str) -> tuple[str, str]:
    """Return type and number of a device, in any spelling.

    >>> tail("/gpu:0"), tail("/job:worker/task:1/device:GPU:0"), tail("odd")
    (('GPU', '0'), ('GPU', '0'), ('odd', ''))
    """
    match = KIND.search("/" + device.lstrip("/"))
    return (match[1].upper(), match[2]) if match else (device, "")


def is_accelerator(device: str) -> bool:
    """Return whether a device is not a CPU.

    >>> is_accelerator("/device:GPU:0"), is_accelerator("/cpu:0")
    (True, False)
    """
    kind, number = tail(device)
    return bool(number) and kind not in HOST


def count_once(trace: dict[str, list[Execution]]) -> list[CountedExecution]:
    """Assign a category to every execution, dropping those that only repeat a counted one.

    Before: executions by device, as the trace has them. After: a kernel counts once, on its accelerator; the host
    entry of a node with kernels is enqueue; without any stream in the trace, the accelerator's entries count.
    """
    streams: dict[str, dict[str, list[Execution]]] = defaultdict(dict)
    families = Families(trace)
    for device, executions in trace.items():
        part = PART.match(device)
        if part is not None:
            streams[families.of(part["base"])][part["part"]] = executions
    counted: list[CountedExecution] = []
    for base, parts in streams.items():
        counted += [CountedExecution(execution, "accelerator", base) for execution in distinct(parts)]
    for device, executions in trace.items():
        if PART.match(device):
            continue
        # Entries of kernels that the accelerator ran are enqueues; the remaining entries are work on the host.
        kernels = {bare(execution.name) for part in streams.get(device, {}).values() for execution in part}
        alone = "accelerator" if is_accelerator(device) and device not in streams else "cpu"
        counted += [
            CountedExecution(execution, "enqueue" if bare(execution.name) in kernels else alone, device)
            for execution in executions
        ]
    return counted


def distinct(parts: dict[str, list[Execution]]) -> list[Execution]:
    """Return the executions of one accelerator, each once, although several of its stream devices list them.

    Numbered streams add up; "all" and "memcpy" repeat their executions.
    """
    key = {
        part: Counter((bare(execution.name), execution.start, execution.time) for execution in listed)
        for part, listed in parts.items()
    }
    numbered: Counter[tuple[str, int, int]] = Counter()
    for part, counts in key.items():
        if part not in ("stream:all", "memcpy"):
            numbered.update(counts)
    # The union of Counters takes the larger count of each: executions in both "all" and a numbered stream count once.
    wanted = numbered | key.get("stream:all", Counter()) | key.get("memcpy", Counter())
    # Remaining number of each kernel to keep, from the first list that has it.
    left, kept = dict(wanted), []
    for listed in parts.values():
        for execution in listed:
            what = (bare(execution.name), execution.start, execution.time)
            if left.get(what):
                left[what] -= 1
                kept.append(execution)
    return kept


def bare(name: str) -> str:
    """Remove the suffix that an accelerator's trace adds to a node's name (`conv/Conv2D:Conv2D`, `x:MEMCPYHtoD`).

    >>> bare("conv/Conv2D:Conv2D"), bare("a")
    ('conv/Conv2D', 'a')
    """
    return name.partition(":")[0]
