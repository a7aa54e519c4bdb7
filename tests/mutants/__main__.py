"""Would the tests notice? Small faults, drawn by a seed, are put into a stage, and its own tests run on each.

    python -m tests.mutants --stage color words --count 40 --seed 1

The faults are drawn from all stages together, so a long stage has more of them. One that makes a test of its own stage,
a doctest of its module, or a law fail is killed; each is tried on those tests that execute its lines, the quickest
first. What survives is printed: look at it, and add a test at the boundary, or make the code so that it cannot be
written. A statement with a comment that says "only saves time" is left alone. Not part of the test suite: a fault takes
seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.mutants.covering import Covering, read, record
from tests.mutants.faults import ROOT, Fault, chosen
from tests.mutants.live import ANEW, KILLED, SLOWER, SURVIVED, VERDICTS, Trying, in_child, within

LAWS = ("tests/properties",)
GOLDENS = ("tests/golden/test_golden.py",)
KEPT = "tests/golden/test_stage_goldens.py::test_"  # what a stage makes of small inputs
# Stage → its own tests; the laws run after them.
STAGES = {
    "expand": (f"{KEPT}expand", "tests/expand", "tests/functions"),
    "words": (
        f"{KEPT}view",
        "tests/words",
        "tests/place/test_shared.py",
        "tests/place/test_titles.py",
        "tests/functions/test_functions_open.py",
        "tests/properties/test_addresses.py",
        *GOLDENS,
    ),
    "color": (
        f"{KEPT}color",
        "tests/color",
        "tests/annotate/test_measured_colours.py",
        "tests/annotate/test_against.py",
        "tests/render/test_contrast.py",
    ),
    "render": (f"{KEPT}render", "tests/render", "tests/test_formats.py", *GOLDENS),
    "flatten": (f"{KEPT}flatten", "tests/flatten", "tests/functions"),
    "diff": (
        f"{KEPT}diff",
        "tests/diff",
    ),
    "open": ("tests/open", "tests/search", *GOLDENS),
    "fold": (f"{KEPT}group", "tests/fold"),
    "arrange": (f"{KEPT}arrange", "tests/arrange", *GOLDENS),
    "place": (f"{KEPT}place", "tests/place", *GOLDENS),
}
PASSED, NO_TESTS = 0, 5  # exit codes of pytest
OPTIONS = ("-q", "-n0", "--no-cov", "-p", "no:cacheprovider", "-W", "ignore")


class Copy:
    """A copy of the package, to put faults in: inside the repository, as pytest names tests by their place."""

    def __init__(self, folder: Path, kept: Path | None, seconds: float) -> None:
        self.folder, self.kept, self.seconds = folder, kept or folder, seconds
        self.notes = folder / "verdicts"
        shutil.copytree(ROOT / "graphviz_tb", folder / "graphviz_tb", ignore=shutil.ignore_patterns("*.pyc"))

    def verdicts(self, suite: Sequence[str], stages: Sequence[str], faults: list[Fault]) -> dict[Fault, str]:
        """Try faults of some stages on the tests of a suite that execute them, and print each verdict."""
        covering = self.covering(suite, stages)
        self.notes.write_text("")
        in_child(lambda: tested(self.folder, suite, [Trying(self.folder, covering, faults, self.seconds, self.noted)]))
        found = dict(zip(faults, self.notes.read_text().split(), strict=True))
        for fault in [fault for fault, verdict in found.items() if verdict == ANEW]:
            found[fault] = self.anew(fault, covering)
            print(f"{found[fault]:<9}{fault}", flush=True)
        return found

    def noted(self, fault: Fault, verdict: str) -> None:
        """Write a verdict down."""
        with self.notes.open("a") as lines:
            print(verdict, file=lines)
        if verdict != ANEW:
            os.write(OUT, f"{verdict:<9}{fault}\n".encode())

    def anew(self, fault: Fault, covering: Covering) -> str:
        """The verdict where our modules are imported with the fault."""
        target = self.folder / "graphviz_tb" / fault.inside
        users = [self.folder / user for user in fault.users()]
        tests = within(covering.tests(target, fault.line, fault.last, users), covering.seconds, self.seconds)
        if not tests:
            return SURVIVED
        before = target.read_text()
        target.write_text(fault.applied())
        try:
            limit = SLOWER * (SLOWER + self.seconds)
            return in_child(lambda: code_of(tested(self.folder, tests, [], "-x")), limit)
        finally:
            target.write_text(before)

    def covering(self, suite: Sequence[str], stages: Sequence[str]) -> Covering:
        """What tests execute of stages where nothing is wrong; those that fail all the same are left out."""
        seen = self.kept / f"{digest([*suite, *stages])}.json"
        if not seen.exists():
            in_child(lambda: recorded(self.folder, suite, stages, seen))
        covering = read(seen)
        if not covering.lines:
            raise SystemExit(f"{' '.join(suite)} execute nothing of {self.folder}: nothing can be said")
        for test in covering.failed:
            print(f"left out {test}: it fails without any fault", flush=True)
        return covering


def digest(words: Iterable[str]) -> str:
    """A name for what tests execute: it changes with the tests and with the package."""
    found = hashlib.sha256(" ".join(words).encode())
    for path in sorted([*(ROOT / "graphviz_tb").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def tested(folder: Path, tests: Iterable[str], plugins: list[Any], *more: str) -> int:
    """pytest's exit code for tests of the copy in a folder; nothing is printed."""
    import pytest

    return pytest.main([*prepared(folder), *more, *tests], plugins=plugins)


def recorded(folder: Path, tests: Iterable[str], stages: Iterable[str], seen: Path) -> int:
    """The same, and what the tests execute of some stages is written down."""
    return record([*prepared(folder), *tests], [folder / "graphviz_tb" / stage for stage in stages], seen)


def prepared(folder: Path) -> list[str]:
    """Make this process one that tests the copy in a folder; pytest's first arguments."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.chdir(ROOT)
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    return ["-c", str(ROOT / "pyproject.toml"), *OPTIONS]


def code_of(code: int) -> int:
    """The exit code of a verdict from that of pytest."""
    return VERDICTS.index(SURVIVED if code in (PASSED, NO_TESTS) else KILLED)


def main() -> int:
    """Print what became of each fault, and how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=STAGES, nargs="+", required=True)
    parser.add_argument("--count", type=int, default=40, help="how many faults, of all the stages together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--own", action="store_true", help="run the stage's own tests alone, without the laws")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for one fault; more are not tried")
    parser.add_argument("--kept", type=Path, help="a folder that keeps which tests execute what, for the next run")
    asked = parser.parse_args()
    import google.protobuf.descriptor_pool  # noqa: F401 - loaded once, before any child
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401

    folder = ROOT / ".mutants"  # always the same: what is kept names files in it
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        report(Copy(folder, asked.kept, asked.seconds), chosen(asked.stage, asked.count, asked.seed), asked.own)
    finally:
        shutil.rmtree(folder)
    return 0


def report(copy: Copy, drawn: dict[str, list[Fault]], own: bool) -> None:
    """Try faults of several stages and print the figures of each."""
    verdicts: dict[Fault, str] = {}
    for stage, faults in drawn.items():
        verdicts |= copy.verdicts((*STAGES[stage], f"{copy.folder}/graphviz_tb/{stage}"), [stage], faults)
    left = [fault for fault, verdict in verdicts.items() if verdict == SURVIVED]
    if left and not own:
        print("the laws on what survived:", flush=True)
        verdicts |= copy.verdicts(LAWS, sorted(STAGES), left)
    for stage, faults in [*drawn.items(), ("together", list(verdicts))]:
        counts = Counter(verdicts[fault] for fault in faults)
        print(f"{stage}: {len(faults) - counts[SURVIVED]} of {len(faults)} killed, {counts[SURVIVED]} survived")


OUT = os.dup(1)  # where verdicts are printed, also from a child that is silent
if __name__ == "__main__":
    sys.exit(main())
