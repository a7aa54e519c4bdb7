"""Small faults: comparisons at their boundary, `and` for `or`, numbers one more, conditions turned.

A statement with a comment that says "only saves time" has none: nobody can notice them.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
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

    @property
    def inside(self) -> Path:
        """The file, below the package."""
        return self.path.relative_to(ROOT / "graphviz_tb")

    def users(self) -> list[Path]:
        """The files below the package that use a name which the statement gives, or one that the module makes of it;
        its own is one."""
        tree, names = ast.parse(self.path.read_text()), set[str]()
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.stmt)):
            inside = [name for name in ast.walk(node) if isinstance(name, ast.Name)]
            follows = node in tree.body and any(name.id in names for name in inside)
            if node.lineno == self.line or (follows and isinstance(node, ast.Assign | ast.AnnAssign)):
                names.update(name.id for name in inside if isinstance(name.ctx, ast.Store))
        word = re.compile(rf"\b(?:{'|'.join(sorted(names)) or '(?!)'})\b")
        every = (ROOT / "graphviz_tb").rglob("*.py")
        return [path.relative_to(ROOT) for path in every if path == self.path or word.search(path.read_text())]

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
