"""A trace of a GPU: every kernel and copy counts once, on the accelerator; what the host does to start them does not.

host, CPU:0       [decode 0-40]
host, GPU:0       [conv 50-53][relu 53-55][shape 55-56]         the executor hands kernels over
stream:7                   [conv 60-90 ][conv 90-100][relu 101-111]
stream:9                 [decode 58-70 copy]                    a copy, told by "memcpy" too
stream:all                 the kernels of stream 7 again
"""

from __future__ import annotations

import pytest

from graphviz_tb.annotate.devices import Execution, count_executions_once
from graphviz_tb.annotate.statistics import join_statistics
from graphviz_tb.proto import RunMetadata
from tests.annotate.traces import CPU, GPU, entry, graph_of, row, trace_of
from tests.conftest import cpu_seconds
from tests.each import each
from tests.timing import within

KERNELS = [
    entry("net/conv:Conv2D", 60, 30),
    entry("net/conv:Conv2D", 90, 10),
    entry("net/relu:Relu", 101, 10),
]
COPIES = [entry("decode:MEMCPYHtoD", 58, 12)]
NAMES = ("decode", "net/conv", "net/relu", "net/shape", "net/unused")


def gpu_trace(prefix: str = "/device:GPU:0", streams: bool = True, all_: bool = True) -> RunMetadata:
    """The trace above; `prefix` is how the stream devices call the GPU."""
    devices = {
        CPU: [entry("decode", 0, 40, 1000)],
        GPU: [entry("net/conv", 50, 3, 5000), entry("net/relu", 53, 2, 600), entry("net/shape", 55, 1, 8)],
    }
    if streams:
        devices |= {f"{prefix}/stream:7": KERNELS, f"{prefix}/stream:9": COPIES, f"{prefix}/memcpy": COPIES}
    if all_:
        devices |= {f"{prefix}/stream:all": KERNELS}
    return trace_of(devices)


@each("prefix", ["/device:GPU:0", "/gpu:0", GPU])
@each("all_", [True, False])
def test_each_kernel_counts_once(prefix: str, all_: bool) -> None:
    hierarchy = graph_of(*NAMES)
    stats = join_statistics(hierarchy, [gpu_trace(prefix, all_=all_)])
    conv, net, root = (stats.figures(row(hierarchy, name)) for name in ("net/conv", "net", ""))
    assert (conv.time, conv.accelerator, conv.cpu, conv.enqueue) == (30 + 10, 40, 0, 3)
    assert (net.accelerator, net.cpu, net.enqueue) == (40 + 10, 1, 3 + 2)
    assert root.time == 40 + 12 + 40 + 10 + 1  # decode, its copy, conv, relu, shape
    assert root.time == root.cpu + root.accelerator


def test_spans_are_those_of_what_counts_and_memory_is_the_executors() -> None:
    hierarchy = graph_of(*NAMES)
    stats = join_statistics(hierarchy, [gpu_trace()])
    conv = stats.figures(row(hierarchy, "net/conv"))
    assert (conv.span, conv.bytes) == (100 - 60, 5000)
    assert stats.figures(0).bytes == 1000 + 5000 + 600 + 8
    assert stats.figures(row(hierarchy, "net/unused")).measured == 0


def test_only_the_stream_that_gathers_all() -> None:
    hierarchy = graph_of(*NAMES)
    trace = trace_of({GPU: [entry("net/conv", 50, 3)], "/device:GPU:0/stream:all": KERNELS})
    assert join_statistics(hierarchy, [trace]).figures(row(hierarchy, "net/conv")).time == 40


def test_without_streams_the_executors_time_is_all_that_is_known() -> None:
    hierarchy = graph_of(*NAMES)
    stats = join_statistics(hierarchy, [gpu_trace(streams=False, all_=False)])
    conv = stats.figures(row(hierarchy, "net/conv"))
    assert (conv.time, conv.accelerator, conv.enqueue) == (3, 3, 0)


def test_two_kernels_alike_on_two_streams_are_two() -> None:
    """The same name, start and length on two streams: work that ran side by side; `all` tells both."""
    one = Execution("x", 5, 2)
    counted = count_executions_once(
        {"/gpu:0/stream:1": [one], "/gpu:0/stream:2": [one], "/gpu:0/stream:all": [one, one]}
    )
    assert [each.how for each in counted] == ["accelerator", "accelerator"]


def test_devices_are_listed_and_those_that_repeat_do_not_count() -> None:
    stats = join_statistics(graph_of(*NAMES), [gpu_trace()])
    assert {use.name: use.counted for use in stats.devices} == {
        CPU: True, GPU: True, "/device:GPU:0/stream:7": True, "/device:GPU:0/stream:9": True,
        "/device:GPU:0/memcpy": False, "/device:GPU:0/stream:all": False,
    }  # fmt: skip


@pytest.mark.slow
def test_thousands_of_devices() -> None:
    devices = {f"/d{number}/{part}": [entry("x", 0, 1)] for number in range(3000) for part in ("stream:1", "memcpy")}
    hierarchy, found = graph_of("x"), trace_of(devices)
    assert join_statistics(hierarchy, [found]).figures(1).accelerator == 3000
    assert within(cpu_seconds(lambda: join_statistics(hierarchy, [found])), 6)
