"""The kind of value of each expression, as mypy infers it: it decides how `+`, an index or a condition is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mypy import build
from mypy.modulefinder import BuildSource
from mypy.nodes import Expression, Node, TypeInfo, Var
from mypy.options import Options
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    TupleType,
    Type,
    UnionType,
    get_proper_type,
)

SKIPPED = ("numpy", "networkx", "google", "graphviz_tb.proto", "graphviz_tb.api", "graphviz_tb.diff")
KINDS = {
    "int": ("int", "bool"),
    "bool": ("bool",),
    "float": ("float",),
    "str": ("str",),
    "list": ("list", "Sequence", "MutableSequence", "deque"),
    "tuple": ("tuple",),
    "dict": ("dict", "Mapping", "MutableMapping", "defaultdict", "Counter", "mappingproxy", "OrderedDict"),
    "set": ("set", "frozenset", "AbstractSet", "Set"),
}
BY_NAME = {name: kind for kind, names in KINDS.items() for name in names}


@dataclass(frozen=True)
class Kind:
    """`name` is one of `KINDS`, "none", "iter", "any", "optional" (of `args[0]`) or the name of a class."""

    name: str
    args: tuple[Kind, ...] = ()

    @property
    def array(self) -> bool:
        """Whether it is a JavaScript array."""
        return self.name in ("list", "tuple")


ANY = Kind("any")
MORE = Kind("...")  # the last argument of a tuple of any length


class Kinds:
    """The kinds of all expressions of some modules; mypy runs once."""

    def __init__(self, files: dict[str, str]) -> None:
        options = Options()
        options.export_types = options.preserve_asts = True
        options.incremental = False
        options.ignore_errors = True  # skipped modules leave gaps; the package itself is checked elsewhere
        options.cache_dir = "/dev/null"
        options.follow_imports_for_stubs = True
        skip: dict[str, object] = {"follow_imports": "skip"}
        options.per_module_options = {name: skip for stem in SKIPPED for name in (stem, f"{stem}.*")}
        result = build.build([BuildSource(path, module) for module, path in files.items()], options)
        self.trees = result.files
        self.lines = {module: Path(path).read_bytes().split(b"\n") for module, path in files.items()}
        self.at: dict[tuple[str, int, int, int, int], Kind] = {}
        for module in files:
            self._file(module, result)

    def _file(self, module: str, result: Any) -> None:
        """Record every expression of a module that has a type."""
        for node in below(result.files[module]):
            found = result.types.get(node) if isinstance(node, Expression) else None
            if found is not None and node.end_line is not None:
                key = (module, node.line, node.column, node.end_line, node.end_column)
                if self.at.get(key, ANY) == ANY:
                    self.at[key] = kind_of(found)

    def of(self, module: str, node: ast.expr) -> Kind:
        """Return the kind of an expression; `any` if mypy gave none."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._column(module, node.lineno, node.col_offset)
        end = self._column(module, node.end_lineno, node.end_col_offset)
        return self.at.get((module, node.lineno, start, node.end_lineno, end), ANY)

    def _column(self, module: str, line: int, byte: int) -> int:
        """Convert a column of `ast`, in bytes, to one of mypy, in ASCII characters."""
        return sum(one < 128 for one in self.lines[module][line - 1][:byte])

    def field(self, module: str, owner: str, name: str) -> Kind:
        """Return the kind of a field of a class."""
        info = self.trees[module].names[owner].node
        assert isinstance(info, TypeInfo)
        var = info.names[name].node
        assert isinstance(var, Var)
        return kind_of(var.type)


REFERENCES = {
    "node",
    "info",
    "type",
    "unanalyzed_type",
    "names",
    "imports",
    "partial_fallback",
    "analyzed_type",
    "setter",
}


def below(tree: Node) -> Iterator[Node]:
    """Yield all nodes of a tree, found through attributes: the visitors of a compiled mypy cannot be extended."""
    seen: set[int] = set()
    waiting: list[Any] = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list | tuple):
            waiting += one
        elif isinstance(one, Node) and id(one) not in seen:
            seen.add(id(one))
            yield one
            names = [name for name in dir(one) if name[:1] != "_" and name not in REFERENCES]
            waiting += [held for name in names if isinstance(held := getattr(one, name, None), Node | list | tuple)]


def kind_of(found: Type | None) -> Kind:
    """Return the kind of a mypy type."""
    one = get_proper_type(found) if found is not None else None
    if isinstance(one, LiteralType):
        one = one.fallback
    if isinstance(one, TupleType):
        return Kind("tuple", tuple(kind_of(item) for item in one.items))
    if isinstance(one, NoneType):
        return Kind("none")
    if isinstance(one, UnionType):
        parts = list(dict.fromkeys(kind_of(item) for item in one.items))
        some = [part for part in parts if part.name not in ("none", "any")]  # a group of a match is a text or Any
        inner = some[0] if len({part.name for part in some}) == 1 else ANY
        return Kind("optional", (inner,)) if len(some) < len(parts) else inner
    if isinstance(one, Instance):
        return instance(one)
    return ANY if one is None or isinstance(one, AnyType | CallableType) else Kind(type(one).__name__)


def instance(one: Instance) -> Kind:
    """Return the kind of a class with its type arguments."""
    name = one.type.name
    args = tuple(kind_of(arg) for arg in one.args)
    if name == "tuple":
        return Kind("tuple", (*args, MORE))
    return Kind(BY_NAME.get(name, name), args)
