"""Devices of a trace: which time counts, and to whom.

/job:…/device:GPU:0              the host handed the kernel over: enqueue
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
    """One entry of a trace: the node's `name`, `start` and `time` in nanoseconds, the `bytes` it allocated, the
    shapes of its outputs (None: the entry has no list of outputs), whether it is of `compiled` code whose op nobody
    knows, the `thread` that ran it (0: not recorded), the `label` of a kernel, and how long it `waited` between being
    scheduled and its start, in nanoseconds."""

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
    """An execution and how it counts: as time of the "cpu", of an "accelerator", or as "enqueue"."""

    execution: Execution
    how: str
    device: str


class Families:
    """Finds the device that a stream or copy device belongs to.

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
        """The device that streams are named after by `base`."""
        # The full name if there is one; else type and number, as long as they are those of one machine only.
        same = [base] if base in self.whole else self.like.get(tail(base), [])
        return same[0] if len(same) == 1 else base


def tail(device: str) -> tuple[str, str]:
    """Type and number of a device, whatever its spelling.

    >>> tail("/gpu:0"), tail("/job:worker/task:1/device:GPU:0"), tail("odd")
    (('GPU', '0'), ('GPU', '0'), ('odd', ''))
    """
    match = KIND.search("/" + device.lstrip("/"))
    return (match[1].upper(), match[2]) if match else (device, "")


def is_accelerator(device: str) -> bool:
    """Whether a device is no CPU.

    >>> is_accelerator("/device:GPU:0"), is_accelerator("/cpu:0")
    (True, False)
    """
    kind, number = tail(device)
    return bool(number) and kind not in HOST


def count_once(trace: dict[str, list[Execution]]) -> list[CountedExecution]:
    """Say of every execution how it counts; those that only repeat another are left out.

    Before: executions by device, as the trace has them. After: a kernel counts once, on its accelerator; the host
    entry of a node with kernels is enqueue; without any stream in the trace the accelerator's own entries count.
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
        # What the accelerator ran is handed over here; other entries of this device are work on the host.
        kernels = {bare(execution.name) for part in streams.get(device, {}).values() for execution in part}
        alone = "accelerator" if is_accelerator(device) and device not in streams else "cpu"
        counted += [
            CountedExecution(execution, "enqueue" if bare(execution.name) in kernels else alone, device)
            for execution in executions
        ]
    return counted


def distinct(parts: dict[str, list[Execution]]) -> list[Execution]:
    """The executions of one accelerator, each once, though several of its stream devices list them.

    Numbered streams add up; "all" and "memcpy" repeat what those list.
    """
    key = {
        part: Counter((bare(execution.name), execution.start, execution.time) for execution in listed)
        for part, listed in parts.items()
    }
    numbered: Counter[tuple[str, int, int]] = Counter()
    for part, counts in key.items():
        if part not in ("stream:all", "memcpy"):
            numbered.update(counts)
    # The union of Counters is the larger count of each: what "all" lists of the numbered streams counts once.
    wanted = numbered | key.get("stream:all", Counter()) | key.get("memcpy", Counter())
    # How many of each kernel are still to be kept, from whichever list has them first.
    left, kept = dict(wanted), []
    for listed in parts.values():
        for execution in listed:
            what = (bare(execution.name), execution.start, execution.time)
            if left.get(what):
                left[what] -= 1
                kept.append(execution)
    return kept


def bare(name: str) -> str:
    """A node's name without what an accelerator's trace adds (`conv/Conv2D:Conv2D`, `x:MEMCPYHtoD`).

    >>> bare("conv/Conv2D:Conv2D"), bare("a")
    ('conv/Conv2D', 'a')
    """
    return name.partition(":")[0]
