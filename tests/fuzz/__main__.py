"""Fuzz the command line: `python -m tests.fuzz [--seed N] [--count N] [--minutes M]`, which is `make fuzz`.

Bad files go through a command each, command lines meet good files. What fails is kept in `--keep` with the line that
shows it; a table says what was tried.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.fuzz.bad_files import BadFile, bad_files
from tests.fuzz.command_lines import MILD, command_lines, furnish, mild_words
from tests.fuzz.trial import Trial, attempt, warm_up

READING = [
    "info -q",
    "info --json",
    "tree",
    "render -q -o out/a.svg",
    "render -q -o out/a.json",
    "render -q -o out/a.svg --no-fold",
    "render -q -o out/a.svg --open-all",
    "render -q -o out/a.svg --preset tensorboard",
    "render -q -o out/a.dot -o out/a.pdf",
    "render -q -o out/a.png --depth 2",
    "tree --json",
    "diff same",
    "diff other",
    "diff other -o out/a.svg",
    "diff before -o out/a.svg",
    "diff before -o out/a.html",
    "render -q -o out/a.html",
]


def main() -> int:
    """Try, print the table, and give back the number of faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=600, help="of bad files, and of command lines")
    parser.add_argument("--only", help="one family of files alone")
    parser.add_argument("--minutes", type=float, help="go on with the next seeds for so long")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where files that failed are kept")
    chosen = parser.parse_args()
    warm_up()
    table: dict[str, list[Trial]] = defaultdict(list)
    end = time.monotonic() + 60 * (chosen.minutes or 0)
    seed = chosen.seed
    while True:
        for family, trial in tries(seed, chosen.count, chosen.keep, chosen.only):
            table[family].append(trial)
            if trial.faults:
                print(
                    f"{'; '.join(trial.faults)}: {shlex.join(trial.words)[:300]}\n  {trial.messages[-300:].strip()}",
                    flush=True,
                )
            if chosen.minutes and time.monotonic() > end:
                return told(table)
        seed += 1
        if not chosen.minutes:
            return told(table)


def tries(seed: int, count: int, keep: Path, only: str | None) -> Iterator[tuple[str, Trial]]:
    """A command on each bad file, then every command line, in a furnished folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "work"
        folder.mkdir()
        furnish(folder)
        before = BadFile("before.pbtxt", "", (folder / "good.pbtxt").read_bytes())
        for bad in bad_files(seed, count, only):
            yield bad.family, try_file(bad, before, folder, Random(f"{seed} {bad.name}"), keep)
            before = bad
        for line in command_lines(seed, count if only is None else 0):
            yield line.family, attempt(line.words, folder, 1_000_000)
            furnish(folder)  # an output may have taken the place of what is an input to others


def try_file(bad: BadFile, before: BadFile, folder: Path, random: Random, keep: Path) -> Trial:
    """Run one command on one bad file, or on it and the one before it."""
    files = (bad, before)
    for each in files:
        (folder / each.name).write_bytes(each.data)
    words = reading(bad.name, before.name, random)
    read = [each for each in files if each.name in words]
    trial = attempt(words, folder, sum(len(each.data) for each in read))
    if trial.faults:
        keep.mkdir(parents=True, exist_ok=True)
        for each in read:
            (keep / each.name).write_bytes(each.data)
    for each in files:
        (folder / each.name).unlink()
    return trial


def reading(name: str, before: str, random: Random) -> list[str]:
    """A command line that reads a file, or compares it with the one before it."""
    if random.random() < 0.5:
        command, *rest = random.choice(READING).split()
        others = {"same": name, "other": "good.pbtxt", "before": before}
        return [command, name, *(others.get(word, word) for word in rest)]
    command = random.choice(list(MILD))
    others_too = random.choice(([name, name], [name, "good.pbtxt"], ["mnist.pbtxt", name]))
    return mild_words(random, command, others_too if command == "diff" else [name])


def told(table: dict[str, list[Trial]]) -> int:
    """Print what was tried, by family; the number of trials with faults."""
    print(f"{'family':<16}{'tried':>7}{'faults':>8}{'most s':>8}{'most MB':>9}  exit codes")
    for family, trials in table.items():
        codes = Counter(trial.code for trial in trials)
        said = ", ".join(f"{code}: {times}" for code, times in sorted(codes.items()))
        faults = sum(bool(trial.faults) for trial in trials)
        most = max(trial.seconds for trial in trials), max(trial.megabytes for trial in trials)
        print(f"{family:<16}{len(trials):>7}{faults:>8}{most[0]:>8.1f}{most[1]:>9.0f}  {said}")
    every = [trial for trials in table.values() for trial in trials]
    faults = sum(bool(trial.faults) for trial in every)
    print(f"{len(every)} trials, {faults} with faults, {sum(trial.seconds for trial in every):.0f} s of CPU")
    return faults


if __name__ == "__main__":
    sys.exit(min(1, main()))
