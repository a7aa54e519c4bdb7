"""Command lines, made from a seed: every command with options that are good, bad or hostile, in any order."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz.families.damage import FIXTURES
from tests.fuzz.option_values import BAD, COMMANDS, MILD, MODELS, OUTPUTS, QUERIES


class Line(NamedTuple):
    """A command line by its number, the kind of its inputs, and its words."""

    name: str
    family: str
    words: list[str]


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
    return [command, *models, *queries(random, command), *(word for option in options for word in option)]


def queries(random: Random, command: str) -> list[str]:
    """What `find` looks for."""
    return [random.choice(QUERIES) for _ in range(random.choice((1, 1, 2)))] if command == "find" else []


def words(random: Random, command: str) -> list[str]:
    """One command line."""
    models = [random.choice(MODELS if random.random() < 0.85 else BAD) for _ in range(2 if command == "diff" else 1)]
    options: list[list[str]] = []
    for _ in range(random.choice((0, 1, 1, 2, 3, 6))):
        name, values = random.choice(list(COMMANDS[command].items()))
        value = [] if values is None else [random.choice(values)]
        options.append([f"{name}={value[0]}"] if value and random.random() < 0.5 else [name, *value])
    for _ in range(random.choice((1, 1, 2)) if command == "render" else random.choice((0, 0, 1)) * (command == "diff")):
        options.append(["-o", random.choice(OUTPUTS[:5] if random.random() < 0.6 else OUTPUTS)])
    if random.random() < 0.05:
        options.append([random.choice(["--help", "--version", "--nonsense", "-", "--", "-oo", "--depth"])])
    random.shuffle(options)
    return [command, *models, *queries(random, command), *(word for option in options for word in option)]


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
    os.mkfifo(folder / "loop/events.out.tfevents.fifo")
    (folder / "loop/events.out.tfevents.gone").symlink_to("nowhere")
    (folder / "loop/events.out.tfevents.folder").mkdir()
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
