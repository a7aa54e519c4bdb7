"""Fuzz the command line: `python -m tests.fuzz [--seed N] [--count N] [--minutes M]`, which is `make fuzz`.

Bad files go through a command each, command lines meet good files. What fails is kept in `--keep`, where the line that
is printed shows it again; a table says what was tried.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from tests.fuzz.cases import Case, cases
from tests.fuzz.command_lines import command_lines, furnish
from tests.fuzz.trial import Trial, attempt, warm_up


def main() -> int:
    """Try, print the table, and give back the number of faults."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=600, help="of cases with bad files, and of command lines")
    parser.add_argument("--only", help="one family of cases alone")
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
    """Cases and command lines in turn, in a furnished folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "work"
        folder.mkdir()
        furnish(folder)
        lines = command_lines(seed, count if only is None else 0)
        for case, line in zip_longest(cases(seed, count, only), lines):
            if case is not None:
                yield case.family, try_case(case, folder, keep)
            if line is not None:
                yield line.family, attempt(line.words, folder, 1_000_000)
                furnish(folder)  # an output may have taken the place of what is an input to others


def try_case(case: Case, folder: Path, keep: Path) -> Trial:
    """Run one command on its files; they are kept where something is wrong."""
    _write(case, folder)
    trial = attempt(case.words, folder, case.size, case.stdin)
    if trial.faults:
        _write(case, keep)
    shutil.rmtree(folder / case.name)
    return trial


def _write(case: Case, folder: Path) -> None:
    for name, data in case.files.items():
        path = folder / case.name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def told(table: dict[str, list[Trial]]) -> int:
    """Print what was tried, by family; the number of trials with faults."""
    print(f"{'family':<24}{'tried':>7}{'faults':>8}{'most s':>8}{'most MB':>9}  exit codes")
    for family, trials in table.items():
        codes = Counter(trial.code for trial in trials)
        said = ", ".join(f"{code}: {times}" for code, times in sorted(codes.items()))
        faults = sum(bool(trial.faults) for trial in trials)
        most = max(trial.seconds for trial in trials), max(trial.megabytes for trial in trials)
        print(f"{family:<24}{len(trials):>7}{faults:>8}{most[0]:>8.1f}{most[1]:>9.0f}  {said}")
    every = [trial for trials in table.values() for trial in trials]
    faults = sum(bool(trial.faults) for trial in every)
    print(f"{len(every)} trials, {faults} with faults, {sum(trial.seconds for trial in every):.0f} s of CPU")
    return faults


if __name__ == "__main__":
    sys.exit(min(1, main()))
