"""Draw the gallery again: `python docs/gallery/make.py`; `--check` says whether it is current.

Each picture is what the command above it draws, light and dark.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = HERE.parent / "gallery.md"
sys.path.insert(0, str(ROOT))

HEAD = """# Gallery

Pictures of graphs that TensorFlow wrote (`fixtures/real/`), each with its command. The page follows your colour scheme;
the dark pictures use `--theme dark`. `python docs/gallery/make.py` draws them again.
"""


@dataclass(frozen=True)
class Entry:
    """One picture: its file name, what to see in it, the model and the options."""

    name: str
    told: str
    command: str


ENTRIES = [
    Entry(
        "mnist",
        "A convolutional network for digits. `conv1` and `conv2` have the same structure, so they are one stack, "
        "`conv[1-2]`.",
        "fixtures/real/mnist_cnn.pbtxt",
    ),
    Entry(
        "mnist_conv1",
        "The same with one layer open, as one of two. All other boxes keep their order; lines enter the frame at a "
        "port and go on inside. Summaries and links to the optimizer are drawn beside their nodes.",
        "fixtures/real/mnist_cnn.pbtxt --open conv1",
    ),
    Entry(
        "cifar10",
        "CIFAR-10 with its input queue. Edges show the shapes of their tensors and are thicker for larger ones. Hubs "
        "are in the auxiliary area; stubs in their colours replace their edges.",
        "fixtures/real/cifar10_shapes.pb",
    ),
    Entry(
        "rnn",
        "A dynamic RNN with gradients and Adam, drawn from left to right.",
        "fixtures/real/lstm_dynamic_rnn.pb --depth 0 --direction LR",
    ),
    Entry(
        "loop",
        "A loop of control flow. Edges back to its start have a double arrow head half way.",
        "fixtures/real/while_v1.pb --open outer/loop",
    ),
    Entry(
        "functions", "Functions open in place, each on its own path.", "fixtures/real/func_library_nested.pb --depth 1"
    ),
    Entry(
        "control",
        "A graph with many control dependencies: control edges are dashed, and the barriers are one fold.",
        "fixtures/real/control_heavy.pb",
    ),
    Entry(
        "series",
        "Numbered runs are stacks. The members of `dense_[1-20]` feed each other, those of `branch[0-7]` do not.",
        "fixtures/real/numbered_series.pb",
    ),
    Entry("odd_names", "Unusual names are data like any others.", "fixtures/real/odd_names.pbtxt"),
    Entry(
        "devices",
        "Colour by device: a group shows its devices in proportion, and names the largest share.",
        "fixtures/real/multi_device.pb --color-by device",
    ),
    Entry(
        "op_types",
        "Colour by op type.",
        "fixtures/real/gan_scopes.pb --color-by op-type",
    ),
    Entry(
        "compute_time",
        "Colour by compute time, from one traced step. Ops without measurements are hatched.",
        "fixtures/real/mnist_cnn.pbtxt --color-by compute-time "
        "--run-metadata fixtures/run_metadata/mnist_cnn_step099.pb",
    ),
]


def draw(entry: Entry, theme: str, target: Path) -> None:
    """Run the command line."""
    from graphviz_tb.commands import main

    words = ["render", *shlex.split(entry.command), "-o", str(target), "--quiet", "--theme", theme]
    with contextlib.chdir(ROOT), contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            main(words)
        except SystemExit as stopped:
            if stopped.code not in (0, None):
                raise RuntimeError(f"{shlex.join(words)}: {told.getvalue()}") from stopped


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for entry in ENTRIES:
        source = f'<source media="(prefers-color-scheme: dark)" srcset="gallery/{entry.name}_dark.svg">'
        picture = f'<picture>{source}<img alt="{entry.name}" src="gallery/{entry.name}.svg"></picture>'
        parts += [
            f"{entry.told}\n",
            f"```sh\ntbgraph render {entry.command} -o {entry.name}.svg\n```\n",
            f"{picture}\n",
        ]
    return "\n".join(parts)


def files(folder: Path) -> dict[Path, bytes]:
    """Every file of the gallery, drawn into `folder`, by where it belongs."""
    found: dict[Path, bytes] = {PAGE: page().encode()}
    for entry in ENTRIES:
        for theme, ending in (("light", ""), ("dark", "_dark")):
            target = folder / f"{entry.name}{ending}.svg"
            draw(entry, theme, target)
            found[HERE / target.name] = target.read_bytes()
    return found


def main(check: bool) -> int:
    """Write what is not current, or only name it."""
    with TemporaryDirectory() as folder:
        found = files(Path(folder))
    old = [path for path, data in found.items() if not path.exists() or path.read_bytes() != data]
    stray = [path for path in HERE.glob("*.svg") if path not in found]
    for path in (*old, *stray):
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    if check:
        return 1 if old or stray else 0
    for path in old:
        path.write_bytes(found[path])
    for path in stray:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
