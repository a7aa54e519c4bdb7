"""Would the tests notice? Small faults, drawn by a seed, are put into a stage, and its own tests run on each.

    python -m tests.mutants --stage color view --count 40 --seed 1

The faults are drawn from all stages together, so a long stage has more of them. One that makes a test of its own stage,
a doctest of its module, or a law fail is killed; each is tried on those tests that execute its lines, the quickest
first. What survives is printed: look at it, and add a test at the boundary, or make the code so that it cannot be
written. A statement that ends in a comment with the words "only saves time" is left alone. Not part of the test suite:
a fault takes seconds.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import resource
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.covering import Covering, read, record

ROOT = Path(__file__).parents[1]
LAWS = ("tests/properties",)
GOLDENS = ("tests/golden/test_golden.py",)
KEPT = "tests/golden/test_stage_goldens.py::test_"  # what a stage makes of small inputs
# Stage → its own tests; the laws run after them.
STAGES = {
    "expand": (f"{KEPT}expand", "tests/expand", "tests/functions"),
    "view": (
        f"{KEPT}view",
        "tests/view",
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
    "group": ("tests/group",),
    "arrange": ("tests/arrange", *GOLDENS),
    "place": ("tests/place", *GOLDENS),
}
NO_TESTS = 5  # pytest's exit code where it finds none
KILLED, SURVIVED, LATE = "killed", "survived", "late"
LIMIT = 150  # CPU seconds for the tests of one fault, thrice what a stage needs: a fault that never ends is noticed
PATIENCE = 1200  # seconds of waiting: a machine may be busy with something else
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}
# Keyword arguments that change nothing in a program without mistakes: what a dataclass forbids, what `zip` checks, how
# much is kept, whether an array is copied or sorted once more, what a hash is for.
CHECKS = frozenset({"frozen", "slots", "repr", "strict", "maxsize", "copy", "assume_unique", "usedforsecurity"})
SAVES_TIME = re.compile(r"#.*\bonly saves time\b")
NAMES = {"min": "max", "max": "min", "first": "last", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Fault:
    """One change of one expression: its file, the lines of its statement up to it, its bytes, what replaces them."""

    path: Path
    line: int
    last: int
    start: int
    end: int
    text: str

    def applied(self) -> str:
        """The source with the fault in it."""
        source = self.path.read_bytes()
        return (source[: self.start] + self.text.encode() + source[self.end :]).decode()

    def __str__(self) -> str:
        source = self.path.read_bytes()
        old = source[self.start : self.end].decode()
        column = self.start - source.rfind(b"\n", 0, self.start)
        return f"{self.path.relative_to(ROOT)}:{self.last}:{column}: {old}  →  {self.text}"


def faults(path: Path) -> Iterator[Fault]:
    """Every fault of a file: comparisons at their boundary, and ↔ or, numbers by one, + ↔ −, conditions turned."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    quiet, begins = unexecuted(tree), statements(tree)
    marked = {number for number, line in enumerate(source.decode().splitlines(), 1) if SAVES_TIME.search(line)}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and id(node) not in quiet and begins[id(node)] not in marked:
            for changed in changes(node):
                start = starts[node.lineno - 1] + node.col_offset
                end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
                text = ast.unparse(changed)
                text = text if isinstance(node, ast.Constant) else f"({text})"
                yield Fault(path, begins[id(node)], node.end_lineno or node.lineno, start, end, text)


def statements(tree: ast.Module) -> dict[int, int]:
    """The line where the innermost statement around each node begins."""
    found: dict[int, int] = {}
    for node in ast.walk(tree):  # outer statements come first
        if isinstance(node, ast.stmt):
            found.update((id(inner), node.lineno) for inner in ast.walk(node))
    return found


def unexecuted(tree: ast.Module) -> set[int]:
    """Expressions that change nothing when the program runs: annotations, what is said in an error, checks."""
    found: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) or (isinstance(node, ast.arg) and node.annotation):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef):
            found += [node.returns] if node.returns else []
            found += node.decorator_list
        elif isinstance(node, ast.JoinedStr | ast.Assert | ast.Raise) or (
            isinstance(node, ast.keyword) and node.arg in CHECKS
        ):
            found.append(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            found.append(node.operand)  # the number is changed with its sign
    return {id(inner) for node in found for inner in ast.walk(node)}


def changes(node: ast.expr) -> Iterator[ast.expr]:
    """What may stand in the place of an expression."""
    match node:
        case ast.Compare(left, [operator], comparators) if type(operator) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(operator)]()], comparators)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.UnaryOp(ast.USub(), ast.Constant(int() as value)):  # -1 to 0: a place that is none becomes the first
            yield ast.Constant(1 - value)
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC and not textual(left, right):
            yield ast.BinOp(left, ARITHMETIC[type(operator)](), right)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Call(ast.Name(name), args, keywords) if name in NAMES:
            yield ast.Call(ast.Name(NAMES[name]), args, keywords)


def textual(*sides: ast.expr) -> bool:
    """Whether an operand is a text or a display: + joins it."""
    return any(isinstance(side, ast.List | ast.Tuple | ast.JoinedStr | ast.ListComp) for side in sides) or any(
        isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides
    )


def judged(fault: Fault, package: Path, rounds: list[tuple[str, ...]]) -> str:
    """Run the tests that execute the fault, round by round, on a copy of the package with the fault in it."""
    target = package / fault.path.relative_to(ROOT)
    before = target.read_text()
    for suite in rounds:
        tests = covered(package, suite).tests(target, fault.line, fault.last)
        target.write_text(fault.applied())
        try:
            verdict = run(package, tests) if tests else SURVIVED
        finally:
            target.write_text(before)
        if verdict != SURVIVED:
            return verdict
    return SURVIVED


def run(package: Path, tests: Iterable[str], seen: Path | None = None) -> str:
    """Run tests in a child that has pytest loaded already, and none of our modules; `seen` gets what they execute."""
    child = os.fork()
    if not child:
        os.setsid()
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        if seen is None:
            resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
        os._exit(tested(package, tests, seen))
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return LATE if code == -signal.SIGXCPU else SURVIVED if code in (0, NO_TESTS) else KILLED
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return LATE


def tested(package: Path, tests: Iterable[str], seen: Path | None) -> int:
    """pytest's exit code."""
    import pytest

    os.chdir(ROOT)
    sys.path.insert(0, str(package))
    sys.dont_write_bytecode = True
    arguments = [
        "-c",
        str(ROOT / "pyproject.toml"),
        "-q",
        "-n0",
        "--no-cov",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        *tests,
    ]
    return int(pytest.main(["-x", *arguments])) if seen is None else record(arguments, package / "graphviz_tb", seen)


@cache
def covered(package: Path, tests: tuple[str, ...]) -> Covering:
    """What tests execute where nothing is wrong, asked once; those that fail all the same are left out."""
    seen = package / "seen.json"
    run(package, tests, seen)
    covering = read(seen)
    if not covering.lines:
        raise SystemExit(f"{' '.join(tests)} execute nothing of {package}: nothing can be said")
    for test in covering.failed:
        print(f"left out {test}: it fails without any fault", flush=True)
    return covering


def chosen(stages: Iterable[str], count: int, seed: int) -> dict[str, list[Fault]]:
    """Some faults of some stages together, by stage; the same for the same seed."""
    every = [
        (stage, fault)
        for stage in stages
        for path in sorted((ROOT / "graphviz_tb" / stage).rglob("*.py"))
        for fault in faults(path)
    ]
    found: dict[str, list[Fault]] = {}
    for stage, fault in random.Random(seed).sample(every, min(count, len(every))):
        found.setdefault(stage, []).append(fault)
    return found


def main() -> int:
    """Print what survives, and how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", choices=STAGES, nargs="+", required=True)
    parser.add_argument("--count", type=int, default=40, help="how many faults, of all the stages together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--own", action="store_true", help="run the stage's own tests alone, without the laws")
    parser.add_argument("--verbose", action="store_true", help="tell every fault, not only those that survive")
    asked = parser.parse_args()
    import google.protobuf.descriptor_pool  # noqa: F401 - loaded once, before any child
    import hypothesis  # noqa: F401
    import networkx  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401

    with TemporaryDirectory(prefix=".mutants-", dir=ROOT) as folder:  # inside: pytest names tests by their place
        package = Path(folder)
        shutil.copytree(ROOT / "graphviz_tb", package / "graphviz_tb", ignore=shutil.ignore_patterns("*.pyc"))
        for stage, drawn in chosen(asked.stage, asked.count, asked.seed).items():
            own = (*STAGES[stage], f"{package}/graphviz_tb/{stage}")
            counts = Counter(
                reported(fault, judged(fault, package, [own] if asked.own else [own, LAWS]), asked.verbose)
                for fault in drawn
            )
            done, survived = counts.total(), counts[SURVIVED]
            print(f"{stage}: {done - survived} of {done} killed, {survived} survived", flush=True)
    return 0


def reported(fault: Fault, verdict: str, verbose: bool) -> str:
    """Print a verdict that is worth a look, and give it back."""
    if verbose or verdict == SURVIVED:
        print(f"{verdict:<9}{fault}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
