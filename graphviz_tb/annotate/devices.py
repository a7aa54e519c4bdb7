"""Decide which executions of a trace count, and for which device, since several devices list the same ones.

/job:…/device:GPU:0              the host enqueues a kernel
/device:GPU:0/stream:all         every kernel once
/device:GPU:0/stream:13          the same kernels by stream, and copies
/device:GPU:0/memcpy             the same copies
/job:…/device:CPU:0              an execution on the host
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from graphviz_tb.model.columns import freeze_array
from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.tensors import Shape

# TensorBoard counts devices of this form only, so that streams are left out (parser of `device:TYPE:N`).
CANONICAL_DEVICE = re.compile(r"device:([^:]+:\d+)$")
STREAM_DEVICE = re.compile(r"^(?P<base>.*?)/(?P<part>stream:(?P<stream>\w+)|memcpy)$")  # e.g. "/device:GPU:0/stream:13"
DEVICE_KIND = re.compile(r"/(?:device:)?([A-Za-z_]+):(\d+)$")  # e.g. "/device:GPU:0", "/gpu:0"
HOST_KINDS = frozenset({"CPU", "XLA_CPU"})


@dataclass(frozen=True, slots=True)
class Execution:
    """One entry of a trace.

    `start`, `time` and `waited` (between scheduling and start) are in nanoseconds, `bytes` were allocated. `shapes` are
    those of its outputs, None without a list of outputs. `compiled` code has no op name. `thread` is 0 if not recorded;
    `label` is that of a kernel; `op` is the type, "" if not recorded.
    """

    name: str
    start: int
    time: int
    bytes: int = 0
    shapes: tuple[Shape, ...] | None = None
    compiled: bool = False
    thread: int = 0
    label: str = ""
    waited: int = 0
    op: str = ""


@dataclass(frozen=True, slots=True)
class CountedExecution:
    """An execution, its device, and the category of its time (`how`): "cpu", "accelerator" or "enqueue"."""

    execution: Execution
    how: str
    device: str


class DeviceFamilies:
    """Maps a stream or copy device to its parent device.

    >>> gpu = "/job:localhost/replica:0/task:0/device:GPU:0"
    >>> DeviceFamilies([gpu]).device_of("/device:GPU:0") == DeviceFamilies([gpu]).device_of("/gpu:0") == gpu
    True
    """

    def __init__(self, devices: Iterable[str]) -> None:
        self.parents = {device for device in devices if not STREAM_DEVICE.match(device)}
        self.by_kind: dict[tuple[str, str], list[str]] = defaultdict(list)
        for device in self.parents:
            self.by_kind[_device_kind_and_number(device)].append(device)

    def device_of(self, base: str) -> str:
        """Return the device that streams call `base`: by full name, else by type and number, if these are unique."""
        same = [base] if base in self.parents else self.by_kind.get(_device_kind_and_number(base), [])
        return same[0] if len(same) == 1 else base


def _device_kind_and_number(device: str) -> tuple[str, str]:
    """Return type and number of a device, in any spelling.

    >>> (
    ...     _device_kind_and_number("/gpu:0"),
    ...     _device_kind_and_number("/job:worker/task:1/device:GPU:0"),
    ...     _device_kind_and_number("odd"),
    ... )
    (('GPU', '0'), ('GPU', '0'), ('odd', ''))
    """
    match = DEVICE_KIND.search("/" + device.lstrip("/"))
    return (match[1].upper(), match[2]) if match else (device, "")


def is_accelerator_device(device: str) -> bool:
    """Return whether a device is not a CPU.

    >>> is_accelerator_device("/device:GPU:0"), is_accelerator_device("/cpu:0")
    (True, False)
    """
    kind, number = _device_kind_and_number(device)
    return bool(number) and kind not in HOST_KINDS


def count_executions_once(trace: dict[str, list[Execution]]) -> list[CountedExecution]:
    """Return the executions of a trace by device with their categories, each once.

    A kernel counts on its accelerator, and the host entry of a node with kernels is "enqueue". Without streams in the
    trace, the accelerator's entries count.
    """
    streams: dict[str, dict[str, list[Execution]]] = defaultdict(dict)  # by accelerator, then by stream
    families = DeviceFamilies(trace)
    for device, executions in trace.items():
        match = STREAM_DEVICE.match(device)
        if match is not None:
            streams[families.device_of(match["base"])][match["part"]] = executions
    counted: list[CountedExecution] = []
    for base, parts in streams.items():
        counted += [CountedExecution(execution, "accelerator", base) for execution in _distinct_executions(parts)]
    for device, executions in trace.items():
        if STREAM_DEVICE.match(device):
            continue
        # Entries of nodes with kernels on the accelerator are enqueues; others are work on the host.
        kernels = {strip_kernel_name(kernel.name) for stream in streams.get(device, {}).values() for kernel in stream}
        without_kernels = "accelerator" if is_accelerator_device(device) and device not in streams else "cpu"
        counted += [
            CountedExecution(
                execution, "enqueue" if strip_kernel_name(execution.name) in kernels else without_kernels, device
            )
            for execution in executions
        ]
    return counted


def _distinct_executions(parts: dict[str, list[Execution]]) -> list[Execution]:
    """Return the executions of one accelerator, each once, although several of its stream devices list them.

    Numbered streams add up; "all" and "memcpy" repeat their executions.
    """
    counts_of_part = {
        part: Counter((strip_kernel_name(execution.name), execution.start, execution.time) for execution in executions)
        for part, executions in parts.items()
    }
    numbered: Counter[tuple[str, int, int]] = Counter()
    for part, counts in counts_of_part.items():
        if part not in ("stream:all", "memcpy"):
            numbered.update(counts)
    # The union of Counters has the larger count of each: executions in both "all" and a numbered stream count once.
    wanted = numbered | counts_of_part.get("stream:all", Counter()) | counts_of_part.get("memcpy", Counter())
    remaining, distinct = dict(wanted), []
    for executions in parts.values():
        for execution in executions:
            key = (strip_kernel_name(execution.name), execution.start, execution.time)
            if remaining.get(key):
                remaining[key] -= 1
                distinct.append(execution)
    return distinct


def strip_kernel_name(name: str) -> str:
    """Remove the suffix that an accelerator's trace adds to a node's name (`conv/Conv2D:Conv2D`, `x:MEMCPYHtoD`).

    >>> strip_kernel_name("conv/Conv2D:Conv2D"), strip_kernel_name("a")
    ('conv/Conv2D', 'a')
    """
    return name.partition(":")[0]


def with_traced_devices(hierarchy: Hierarchy, placed: Mapping[int, str]) -> Hierarchy:
    """Return the hierarchy with the devices of a traced step, by row, for ops without a device in the file."""
    graph = hierarchy.graph
    numbers = {name: number for number, name in enumerate(graph.devices)}
    device = graph.device.copy()
    for row, name in sorted(placed.items()):
        node = int(hierarchy.node[row])
        if node >= 0 and name and (device[node] < 0 or not graph.devices[device[node]]):
            device[node] = numbers.setdefault(name, len(numbers))
    if np.array_equal(device, graph.device):
        return hierarchy
    return replace(hierarchy, graph=replace(graph, device=freeze_array(device), devices=tuple(numbers)))
