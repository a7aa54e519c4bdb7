"""Resolve the names of modules, and give them names in JavaScript."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

RESERVED = frozenset(
    [
        "arguments",
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "eval",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "implements",
        "import",
        "in",
        "instanceof",
        "interface",
        "let",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "static",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "undefined",
        "var",
        "void",
        "while",
        "with",
        "yield",
        "of",
    ]
)
Definition = ast.FunctionDef | ast.ClassDef | ast.expr


@dataclass
class Module:
    """A module: what it defines, and what it imports as which name (a member of a module, or "" for a module)."""

    name: str
    tree: ast.Module
    defined: dict[str, Definition] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Global:
    """A definition: its module and its name there."""

    module: str
    name: str


class World:
    """All modules that may be translated."""

    def __init__(self, root: Path, names: list[str], by_hand: Container[tuple[str, str]] = ()) -> None:
        self.files = {name: str(path_of(root, name)) for name in names}
        self.modules = {name: read(name, Path(path)) for name, path in self.files.items()}
        seen = Counter(name for module in self.modules.values() for name in module.defined)
        self.js = {
            Global(module.name, name): called(module.name, name, seen[name] > 1, by_hand)
            for module in self.modules.values()
            for name in module.defined
        }
        self.taken = frozenset(self.js.values())

    def resolve(self, module: str, name: str) -> Global | str | None:
        """Return the definition or the module that a global name of a module means; None for anything else."""
        found = self.modules[module]
        if name in found.defined:
            return Global(module, name)
        if name in found.imported:
            source, member = found.imported[name]
            if not member:
                return source
            if f"{source}.{member}" in self.modules:
                return f"{source}.{member}"
            if source in self.modules:
                return self.resolve(source, member)
        return None

    def definition(self, one: Global) -> Definition:
        """Return the syntax tree of a definition."""
        return self.modules[one.module].defined[one.name]


def path_of(root: Path, name: str) -> Path:
    """Return the file of a module."""
    path = root.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def called(module: str, name: str, shared: bool, by_hand: Container[tuple[str, str]]) -> str:
    """Return the JavaScript name: the Python name, with the module's if several modules have it; `hand_…` if it is
    written by hand."""
    last = module.rsplit(".", 1)[-1]
    if (last, name) in by_hand:
        return f"hand_{name.lstrip('_')}"
    return f"{name}_of_{last}" if shared or name in RESERVED else name


def read(name: str, path: Path) -> Module:
    """Read the definitions and imports of a module."""
    found = Module(name, ast.parse(path.read_text(encoding="utf-8")))
    for node in found.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.defined[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.defined[node.targets[0].id] = node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            assert isinstance(node.value, ast.Tuple), "constants side by side have values side by side"
            for target, value in zip(node.targets[0].elts, node.value.elts, strict=True):
                assert isinstance(target, ast.Name)
                found.defined[target.id] = value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found.defined[node.target.id] = node.value
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                found.imported[alias.asname or alias.name] = (str(node.module), alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found.imported[alias.asname or alias.name] = (alias.name, "")
    return found


def bound(nodes: list[ast.stmt]) -> list[str]:
    """Return the names that a function's body binds, in order, without those of inner functions and comprehensions."""
    found: dict[str, None] = {}
    outer: set[str] = set()

    def visit(node: ast.AST, inside: bool) -> None:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name)
            return
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, ast.Nonlocal):
            outer.update(node.names)
        if isinstance(node, ast.NamedExpr):
            found.setdefault(node.target.id)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not inside:
            found.setdefault(node.id)
        comprehension = isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
        for child in ast.iter_child_nodes(node):
            visit(child, inside or comprehension)

    for one in nodes:
        visit(one, False)
    return [name for name in found if name not in outer]
