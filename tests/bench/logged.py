"""Reading logs, beside TensorBoard: `python -m tests.bench.logged [--size 1.0] [--tensorboard PYTHON]`.

Makes log directories as PyTorch and `tf.summary` write them, reads each in a process of its own, and prints CPU
seconds, peak memory and ratios of one run on one machine. `--tensorboard` is a Python that can import tensorboard;
without one its columns are left out, and that is said.

a1  runs × 10 tags × 1,000 steps, version 1      a2  the same as `tf.summary` writes them     b  one tag, many steps
c   histograms, 30 buckets                       d   images of 25 kB
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.event_files import event, scalar, strings, tensor, write

NAME = "events.out.tfevents.1600000000.host.1.0"
# Goals: how many times faster than the multiplexer, and the most times the data server's seconds.
GOALS = {"a1": (60, 1.3), "a2": (30, 1.3), "b": (None, 1.3), "c": (8, 2.0), "d": (30, None)}
START = """
import json, resource, sys, time
"""
END = """
seconds = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([seconds, peak]))
"""
OURS = f"""{START}
import graphviz_tb, graphviz_tb.log
start = time.process_time()
log = graphviz_tb.open_log(sys.argv[1])
assert sum(run.points for run in log.logged.runs) == int(sys.argv[2])
{END}"""
FLOOR = f"""{START}
import numpy as np
from pathlib import Path
from graphviz_tb.read.records import frames
start = time.process_time()
for path in sorted(Path(sys.argv[1]).rglob("*tfevents*")):
    frames(np.fromfile(path, np.uint8), {{}})
{END}"""
MULTIPLEXER = f"""{START}
from tensorboard.backend.event_processing import data_ingester, plugin_event_multiplexer
start = time.process_time()
made = plugin_event_multiplexer.EventMultiplexer(
    size_guidance=data_ingester.DEFAULT_SIZE_GUIDANCE, tensor_size_guidance=data_ingester.DEFAULT_TENSOR_SIZE_GUIDANCE
)
made.AddRunsFromDirectory(sys.argv[1])
made.Reload()
{END}"""
KEEP_ALL = "scalars=1000000000,histograms=1000000000,images=1000000000"
SERVER = f"""{START}
import os, subprocess, tensorboard_data_server
command = [tensorboard_data_server.server_binary(), "--logdir", sys.argv[1], "--port", "0", "--reload", "once", "-v",
           "--samples-per-plugin", {KEEP_ALL!r}]
made = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
for line in made.stderr:
    if "Finished load" in line:
        break
stat = open(f"/proc/{{made.pid}}/stat").read().rsplit(")", 1)[1].split()
peak = next(line for line in open(f"/proc/{{made.pid}}/status") if line.startswith("VmHWM"))
print(json.dumps([(int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1024]))
made.terminate()
made.wait()
"""


def runs(folder: Path, count: int, tags: int, steps: int, value: Callable[[str, float], bytes]) -> int:
    """Runs of scalars; how many points they have."""
    names = [f"group{tag // 5}/metric_{tag}" for tag in range(tags)]
    for run in range(count):
        values = np.random.default_rng(run).random((steps, tags)).astype(np.float32)
        events = (
            event(step, value(name, float(values[step, tag])), wall=1.6e9 + step + tag / 100)
            for step in range(steps)
            for tag, name in enumerate(names)
        )
        write(folder / f"run_{run:03}" / NAME, *events)
    return count * tags * steps


def histograms(folder: Path, steps: int) -> int:
    """Fifty histograms a step."""
    rng = np.random.default_rng(0)

    def all_of_them() -> Iterator[bytes]:
        for step in range(steps):
            for tag in range(50):
                counts, edges = np.histogram(rng.normal(step / 1000, 1, 300), 30)
                buckets = np.stack([edges[:-1], edges[1:], counts], axis=1)
                yield event(
                    step, tensor(f"layer_{tag}/kernel_0/histogram", buckets, "histograms", 2), wall=1.6e9 + step
                )

    write(folder / "run" / NAME, *all_of_them())
    return 50 * steps


def images(folder: Path, steps: int) -> int:
    """Ten images a step, of twenty sizes."""
    pictures = [b"\x89PNG\r\n\x1a\n" + bytes(25_000 + size) for size in range(20)]

    def all_of_them() -> Iterator[bytes]:
        for step in range(steps):
            for tag in range(10):
                cells = [b"160", b"160", pictures[(step + tag) % 20]]
                yield event(step, strings(f"img/{tag}", cells, "images", (3,)), wall=1.6e9 + step)

    write(folder / "run" / NAME, *all_of_them())
    return 10 * steps


def version_2(tag: str, value: float) -> bytes:
    """A scalar as `tf.summary` writes it."""
    return tensor(tag, np.array(value, "<f4"), "scalars", 1)


def make(folder: Path, name: str, size: float) -> int:
    """One of the directories; how many points it has."""
    makers: dict[str, Callable[[], int]] = {
        "a1": lambda: runs(folder, max(1, round(100 * size)), 10, 1000, scalar),
        "a2": lambda: runs(folder, max(1, round(100 * size)), 10, 1000, version_2),
        "b": lambda: runs(folder, 1, 1, round(1_000_000 * size), scalar),
        "c": lambda: histograms(folder, round(1000 * size)),
        "d": lambda: images(folder, round(200 * size)),
    }
    return makers[name]()


def measured(python: str, code: str, *arguments: str) -> tuple[float, float]:
    """CPU seconds and peak megabytes."""
    done = subprocess.run([python, "-c", code, *arguments], capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak


def can_import(python: str | None) -> bool:
    """Whether this Python has TensorBoard."""
    if python is None:
        return False
    return subprocess.run([python, "-c", "import tensorboard"], capture_output=True, check=False).returncode == 0


def row(name: str, folder: Path, points: int, python: str | None, multiplexer: bool) -> str:
    """One line of the table."""
    where = str(folder / name)
    ours, memory = min(measured(sys.executable, OURS, where, str(points)) for _ in range(3))
    floor, _ = min(measured(sys.executable, FLOOR, where) for _ in range(3))
    cells = [f"{name:<3}{points:>9,}{ours:>8.2f} s{memory:>7.0f} MB{ours / max(floor, 1e-3):>7.1f} × floor"]
    if python is not None:
        server, held = min(measured(python, SERVER, where) for _ in range(3))
        cells.append(f"server {server:.2f} s {held:.0f} MB: {ours / max(server, 0.01):.2f} × (goal {GOALS[name][1]})")
    if python is not None and multiplexer:
        slow, held = measured(python, MULTIPLEXER, where)
        cells.append(f"multiplexer {slow:.1f} s {held:.0f} MB: {slow / ours:.0f} × as fast (goal {GOALS[name][0]})")
    return "   ".join(cells)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=0.1, help="of a million points [0.1]")
    parser.add_argument("--tensorboard", metavar="PYTHON", help="a Python that can import tensorboard")
    parser.add_argument("--no-multiplexer", action="store_true", help="without TensorBoard's Python loader: minutes")
    parser.add_argument("--only", nargs="*", default=sorted(GOALS), help="some of the directories")
    options = parser.parse_args()
    python = options.tensorboard if can_import(options.tensorboard) else None
    if python is None:
        print("SKIPPED: no TensorBoard to compare with (--tensorboard PYTHON)", file=sys.stderr)
    with TemporaryDirectory() as temporary:
        for name in options.only:
            points = make(Path(temporary) / name, name, options.size)
            print(row(name, Path(temporary), points, python, not options.no_multiplexer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
