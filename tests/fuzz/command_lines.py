"""Command lines, made from a seed: every command with options that are good, bad or hostile, in any order."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from graphviz_tb.color import SCHEMES
from graphviz_tb.formats import RENDERERS
from tests.fuzz.damage import FIXTURES
from tests.fuzz.graphs import ODD


class Line(NamedTuple):
    """A command line by its number, the kind of its inputs, and its words."""

    name: str
    family: str
    words: list[str]


MODELS = [
    "good.pbtxt",
    "mnist.pbtxt",
    "k.json",
    "k.keras",
    "sm",
    "sm2",
    "logs",
    "runs",
    "torch",
    "loop",
    "calls.pb",
    "self.pbtxt",
    "odd.pbtxt",
    "series.pb",
    "step.pb",
    "hard.json",
    "soft.json",
    "packed.pb.gz",
    "while.pb",
]
BAD = [
    "",
    "nowhere",
    "empty",
    "no_model",
    "weights.h5",
    "garbage.pb.gz",
    "x" * 300,
    "y/" * 2100,
    "/dev/null",
    "/dev/zero",
    "nothing",
    "to_itself",
    "~",
    "--",
    "-",
    "good.pbtxt/x",
    "sm/variables",
    "/proc/self/mem",
    "\udc80",
    "a\nb",
]
NAMES = [
    "conv1",
    "conv1/*",
    "**",
    "*",
    "?",
    "nowhere",
    "layer_[0-5]",
    "[",
    "conv[1-2]",
    "Add_[0-9]",
    "tower_[0-11]",
    *ODD,
]
WORDS = [
    "train",
    "eval",
    "one",
    "two",
    "keras",
    ".",
    "op",
    "conceptual",
    "serve",
    "serving_default",
    "all",
    "0",
    "-1",
    "99",
    *ODD,
]
NUMBERS = ["0", "1", "2", "5", "17", "5000", "-1", "1e3", "", "nan", "inf", "9" * 30, "x", "٣", "0.05", "20", "1.5"]
OUTPUTS = [
    "out/a.svg",
    "out/b.png",
    "out/c.pdf",
    "out/d.dot",
    "out/e.json",
    "out/f.SVG",
    "out/g",
    "out/h.md",
    "out/i.txt",
    "-",
    "nowhere/a.svg",
    "out",
    "out/" + "x" * 300 + ".svg",
    "/dev/null",
    "out/link.svg",
    "k.json",
    "hard.json",
    "soft.json",
    "sm/saved_model.pb",
    "logs/e.tfevents.svg",
    "out/\udc80.svg",
    "",
    "out/a\nb.svg",
    "mnist.pbtxt",
    "/dev/full",
    "good.pbtxt",
]
READING = {"--run": WORDS, "--tag": WORDS, "--kind": WORDS, "--tag-set": WORDS, "--strict": None}
INPUT = {
    **READING,
    "--signature": WORDS,
    "--run-metadata": ["step.pb", "mnist.pbtxt", *BAD],
    "--step": WORDS,
    "--max-bytes": NUMBERS,
    "--batch": NUMBERS,
    "--profile": WORDS,
    "--keep-warm-up": None,
    "--against": ["step.pb", "mnist.pbtxt", *BAD],
    "--no-infer": None,
    "--show-variables": None,
    "--whole-file": None,
}
FOLD = {
    "--preset": ["default", "tensorboard", "x"],
    "--series-min": NUMBERS,
    "--group": NAMES,
    "--ungroup": NAMES,
    "--no-fold": None,
    "--main": NAMES,
    "--aux": NAMES,
    "--no-extract": None,
    "--no-auto-extract": None,
}
COLORS = [*SCHEMES, "x"]
PICTURE = {
    "--open": NAMES,
    "--depth": [*NUMBERS, "auto"],
    "--open-all": None,
    "--max-open": NUMBERS,
    "--engine": ["layered", "dot", "x"],
    "--color-by": COLORS,
    "--stats": None,
    "--direction": ["BT", "TB", "LR", "RL", "x"],
    "--theme": ["light", "dark", "x"],
    "--title": ODD,
    "--select": NAMES,
    "--no-legend": None,
    "--no-wrap": None,
    "--page-max": NUMBERS,
    "--max-annotations": NUMBERS,
    "--scale": NUMBERS,
    "--width": NUMBERS,
    "--font-file": BAD,
    "--timing": None,
    "-q": None,
    "--format": [*RENDERERS, "x"],
}
COMMANDS = {
    "render": INPUT | FOLD | PICTURE,
    "info": INPUT
    | FOLD
    | {"--json": None, "--sort": ["ops", "flops", "parameters", "x"], "--top": NUMBERS, "-q": None},
    "tree": INPUT
    | FOLD
    | {"--json": None, "--depth": NUMBERS, "--under": NAMES, "--ops": None, "--by": ["name", "flow", "x"], "-q": None},
    "diff": READING
    | {
        "--all": None,
        "--include": ["shapes", "all", "x"],
        "--fail-on": ["any", "none", "signature", "x"],
        "-q": None,
        "--open": NAMES,
        "--title": ODD,
        "--theme": ["dark", "x"],
        "--format": ["json", "markdown", "text", "svg"],
        "--width": NUMBERS,
        "--scale": NUMBERS,
        "--direction": ["LR", "x"],
        "--git": None,
    },
}
# What every graph can be asked for, to come farther than the first refusal.
MILD_FOLD = {
    "--preset": ["default", "tensorboard"],
    "--series-min": ["2", "5"],
    "--no-fold": None,
    "--no-extract": None,
    "--no-auto-extract": None,
    "--no-infer": None,
    "--show-variables": None,
    "--whole-file": None,
}
MILD = {
    "render": MILD_FOLD
    | {
        "--depth": ["0", "1", "3", "auto"],
        "--open": ["*", "**", "?*/**", "*/*"],
        "--open-all": None,
        "--max-open": ["1", "60", "100000"],
        "--engine": ["layered", "dot"],
        "--color-by": ["structure", "device", "op-type", "flops", "parameters", "activations", "none"],
        "--direction": ["BT", "TB", "LR", "RL"],
        "--theme": ["light", "dark"],
        "--title": ["", "x", "\u202e<b>&"],
        "--no-legend": None,
        "--no-wrap": None,
        "--batch": ["1", "4096"],
    },
    "info": MILD_FOLD | {"--json": None, "--sort": ["ops", "flops", "parameters"], "--top": ["1", "100000"]},
    "tree": MILD_FOLD | {"--json": None, "--depth": ["0", "9", "100000"], "--ops": None, "--by": ["name", "flow"]},
    "diff": {
        "--all": None,
        "--include": ["shapes", "all"],
        "--format": ["json", "markdown", "text"],
        "--theme": ["dark"],
        "--open": ["**"],
        "--direction": ["LR"],
    },
}


def command_lines(seed: int, count: int) -> Iterator[Line]:
    """`count` lines, the commands in turn."""
    for number in range(count):
        command = list(COMMANDS)[number % len(COMMANDS)]
        random = Random(f"{seed} {number} {command}")
        if random.random() < 0.5:
            models = [random.choice(MODELS) for _ in range(2 if command == "diff" else 1)]
            yield Line(f"{number:05}_{command}", command, mild_words(random, command, models))
        else:
            yield Line(f"{number:05}_{command}", command, words(random, command))


def mild_words(random: Random, command: str, models: list[str]) -> list[str]:
    """One command line in which every option is legal, though not all of them go together."""
    chosen = random.sample(list(MILD[command].items()), random.choice((0, 1, 2, 4)))
    options = [[name] if values is None else [name, random.choice(values)] for name, values in chosen]
    outputs = random.sample([*OUTPUTS[:5], "out/p.html"], random.choice((1, 1, 2, 3)))
    if command == "render" or (command == "diff" and random.random() < 0.5):
        options += [["-o", output] for output in outputs]
    return [command, *models, *(word for option in options for word in option)]


def words(random: Random, command: str) -> list[str]:
    """One command line."""
    models = [random.choice(MODELS if random.random() < 0.85 else BAD) for _ in range(2 if command == "diff" else 1)]
    options: list[list[str]] = []
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        name, values = random.choice(list(COMMANDS[command].items()))
        options.append([name] if values is None else [name, random.choice(values)])
    for _ in range(random.choice((1, 1, 2)) if command == "render" else random.choice((0, 0, 1)) * (command == "diff")):
        options.append(["-o", random.choice(OUTPUTS[:5] if random.random() < 0.6 else OUTPUTS)])
    if random.random() < 0.05:
        options.append([random.choice(["--help", "--version", "--nonsense", "-", "--", "-oo", "--depth"])])
    random.shuffle(options)
    return [command, *models, *(word for option in options for word in option)]


def furnish(folder: Path) -> None:
    """Before: a folder. After: it holds the inputs that the lines name, and a folder for outputs, and nothing else."""
    shutil.rmtree(folder)
    folder.mkdir()
    for name, source in {
        "good.pbtxt": "real/hidden_scope.pbtxt",
        "mnist.pbtxt": "real/mnist_cnn.pbtxt",
        "k.json": "containers/keras3_functional.json",
        "k.keras": "containers/keras3_mnist.keras",
        "calls.pb": "real/func_library_nested.pb",
        "odd.pbtxt": "real/odd_names.pbtxt",
        "self.pbtxt": "real/func_library_recursive.pbtxt",
        "series.pb": "real/numbered_series.pb",
        "while.pb": "real/while_v1.pb",
        "step.pb": "run_metadata/mnist_cnn_step099.pb",
        "weights.h5": "broken/weights.h5",
        "garbage.pb.gz": "broken/garbage.pb.gz",
    }.items():
        shutil.copy(FIXTURES / source, folder / name)
    for name, source in {
        "sm": "containers/saved_model",
        "logs": "logdirs/trace_export",
        "runs": "logdirs/mnist_runs",
        "torch": "logdirs/torch_pair",
        "no_model": "broken/no_model",
    }.items():
        shutil.copytree(FIXTURES / source, folder / name)
    shutil.copytree(folder / "logs", folder / "loop/one")
    for name in ("again", "once_more"):
        (folder / "loop" / name).symlink_to(".")
    next(path for path in (folder / "logs").rglob("*") if path.is_file()).rename(folder / "logs/e.tfevents.svg")
    (folder / "packed.pb.gz").write_bytes(gzip.compress((folder / "calls.pb").read_bytes()))
    (folder / "soft.json").symlink_to("k.json")
    (folder / "hard.json").hardlink_to(folder / "k.json")
    (folder / "sm2").symlink_to("sm")
    (folder / "to_itself").symlink_to("to_itself")
    (folder / "empty").mkdir()
    (folder / "out").mkdir()
    (folder / "out/link.svg").symlink_to("a.svg")
    (folder / "nothing").write_bytes(b"")
