"""Translate expressions of a subset of Python to JavaScript.

Tuples and lists are arrays, dicts and sets those of JavaScript (`TupleMap`, `TupleSet` where a key is a tuple), None is
null. Operations that JavaScript lacks are functions `py_…` in `viewer/python.js`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from twin.kinds import ANY, Kind, Kinds
from twin.names import RESERVED, Global, World

BINARY = {ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.BitXor: "^"}
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
PLAIN = ("int", "bool", "float", "str")


class NotInSubset(Exception):
    """Raised for code outside of the subset."""


class Expressions:
    """Translates expressions of one module; `scopes` are the local names of the functions around."""

    def __init__(self, world: World, kinds: Kinds, module: str) -> None:
        self.world, self.kinds, self.module = world, kinds, module
        self.scopes: list[set[str]] = []
        self.used: dict[Global, None] = {}
        self.self_name = ""

    def kind(self, node: ast.expr) -> Kind:
        if isinstance(node, ast.Constant) and isinstance(
            node.value, str
        ):  # mypy records no position for text inside an f-string
            return Kind("str")
        return self.kinds.of(self.module, node)

    def fail(self, node: ast.AST, what: str) -> NotInSubset:
        line = getattr(node, "lineno", "?")
        return NotInSubset(f"{self.module}:{line}: {what}: {ast.unparse(node)[:80]}")

    def expr(self, node: ast.expr) -> str:
        """Translate one expression, in parentheses if needed."""
        run = getattr(self, f"_{type(node).__name__}", None)
        if run is None:
            raise self.fail(node, f"no {type(node).__name__} in the subset")
        return str(run(node))

    # names

    def local(self, name: str) -> str:
        """Return a local name that hides no global name and is no keyword of JavaScript."""
        return f"{name}_" if name in RESERVED or name in self.world.taken or name == "self" else name

    def is_local(self, name: str) -> bool:
        return any(name in scope for scope in self.scopes)

    def meaning(self, node: ast.expr) -> Global | str | None:
        """Resolve a name or `module.name` that is not local; else return the name of a builtin."""
        if isinstance(node, ast.Name):
            if self.is_local(node.id):
                return None
            return self.world.resolve(self.module, node.id) or f"builtin {node.id}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            around = self.meaning(node.value)
            if isinstance(around, str) and around in self.world.modules:
                return self.world.resolve(around, node.attr)
        return None

    def use(self, one: Global) -> str:
        self.used[one] = None
        return self.world.js[one]

    def _Name(self, node: ast.Name) -> str:
        if self.self_name and node.id == self.self_name:
            return "this"
        found = self.meaning(node)
        if found is None:
            return self.local(node.id)
        if isinstance(found, Global):
            return self.use(found)
        return {"builtin len": "py_len", "builtin max": "Math.max", "builtin min": "Math.min"}.get(found) or (
            f"py_{node.id}"
        )

    def _Attribute(self, node: ast.Attribute) -> str:
        found = self.meaning(node)
        if isinstance(found, Global):
            return self.use(found)
        return f"{self.expr(node.value)}.{node.attr}"

    # values

    def _Constant(self, node: ast.Constant) -> str:
        value = node.value
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, int | float):
            return repr(value)
        raise self.fail(node, "constant")

    def _JoinedStr(self, node: ast.JoinedStr) -> str:
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(json.dumps(part.value, ensure_ascii=False))
            elif isinstance(part, ast.FormattedValue) and part.conversion == -1:
                parts.append(self.formatted(part))
            else:
                raise self.fail(node, "format")
        return f"({' + '.join(parts) or json.dumps('')})"

    def formatted(self, part: ast.FormattedValue) -> str:
        """Translate one value of an f-string: plain, or with a number of digits (`.3g`, `.{digits}g`, `.12f`)."""
        value = self.expr(part.value)
        if part.format_spec is None:
            return f"String({value})"
        spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
        words = [one.value if isinstance(one, ast.Constant) else f"{{{self.expr(one.value)}}}" for one in spec]  # type: ignore[attr-defined]
        found = re.fullmatch(r"\.\{?([^}]+?)\}?([gf])", "".join(map(str, words)))
        if found is None:
            raise self.fail(part, "format")
        return f"py_format_{found[2]}({value}, {found[1]})"

    def items(self, nodes: list[ast.expr]) -> str:
        return ", ".join(
            f"...{self.iterable(node.value)}" if isinstance(node, ast.Starred) else self.expr(node) for node in nodes
        )

    def _Tuple(self, node: ast.Tuple) -> str:
        return f"[{self.items(node.elts)}]"

    def _List(self, node: ast.List) -> str:
        return f"[{self.items(node.elts)}]"

    def _Set(self, node: ast.Set) -> str:
        return f"new {self.set_class(self.kind(node))}([{self.items(node.elts)}])"

    def _Dict(self, node: ast.Dict) -> str:
        if not node.keys:
            return f"new {self.map_class(self.kind(node))}()"
        written = []
        for key, value in zip(node.keys, node.values, strict=True):
            written.append(f"...{self.expr(value)}" if key is None else f"[{self.expr(key)}, {self.expr(value)}]")
        return f"new {self.map_class(self.kind(node))}([{', '.join(written)}])"

    def map_class(self, kind: Kind) -> str:
        return "TupleMap" if kind.args and kind.args[0].array else "Map"

    def set_class(self, kind: Kind) -> str:
        return "TupleSet" if kind.args and kind.args[0].array else "Set"

    # truth and comparison

    def truth(self, node: ast.expr) -> str:
        """Translate an expression that is a condition."""
        if isinstance(node, ast.BoolOp):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            return f"({sign.join(self.truth(one) for one in node.values)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!{self.truth(node.operand)}"
        kind, written = self.kind(node), self.expr(node)
        if kind.array:
            return f"{written}.length"
        if kind.name in ("dict", "set"):
            return f"{written}.size"
        if self.natural(kind):
            return written
        return f"py_truth({written})"

    def natural(self, kind: Kind) -> bool:
        """Return whether JavaScript treats such a value as true exactly when Python does."""
        if kind.name == "optional":
            return self.natural(kind.args[0])
        return kind.name in PLAIN or kind.name == "none" or kind.name[:1].isupper()

    def _BoolOp(self, node: ast.BoolOp) -> str:
        conjunction = isinstance(node.op, ast.And)
        if all(self.kind(one).name == "bool" for one in node.values):
            return self.truth(node)
        written = self.expr(node.values[-1])
        for one in reversed(node.values[:-1]):
            first = self.expr(one)
            if self.natural(self.kind(one)):
                written = f"({first} {'&&' if conjunction else '||'} {written})"
            else:
                written = f"py_{'and' if conjunction else 'or'}({first}, () => {written})"
        return written

    def _UnaryOp(self, node: ast.UnaryOp) -> str:
        if isinstance(node.op, ast.Not):
            return self.truth(node)
        if isinstance(node.op, ast.USub):
            return f"-{self.expr(node.operand)}"
        raise self.fail(node, "operator")

    def _IfExp(self, node: ast.IfExp) -> str:
        return f"({self.truth(node.test)} ? {self.expr(node.body)} : {self.expr(node.orelse)})"

    def _Compare(self, node: ast.Compare) -> str:
        written, left = [], node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            written.append(self.compared(left, operator, right))
            left = right
        if len(written) > 1 and any(isinstance(one, ast.Call) for one in node.comparators[:-1]):
            raise self.fail(node, "a call in the middle of a chain is made twice")
        return written[0] if len(written) == 1 else f"({' && '.join(written)})"

    def compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str:
        one, other = self.expr(left), self.expr(right)
        plain = self.kind(left).name in PLAIN or self.kind(right).name in PLAIN
        if isinstance(operator, ast.Is | ast.IsNot):
            none = isinstance(right, ast.Constant) and right.value is None
            sign = ("==" if none else "===") if isinstance(operator, ast.Is) else ("!=" if none else "!==")
            return f"({one} {sign} {other})"
        if isinstance(operator, ast.Eq | ast.NotEq):
            if {self.kind(left).name, self.kind(right).name} == {"bool", "int"}:
                one, other = f"Number({one})", f"Number({other})"
            if plain:
                return f"({one} {'===' if isinstance(operator, ast.Eq) else '!=='} {other})"
            return f"{'' if isinstance(operator, ast.Eq) else '!'}py_equal({one}, {other})"
        if isinstance(operator, ast.In | ast.NotIn):
            return ("" if isinstance(operator, ast.In) else "!") + self.contained(one, other, left, right)
        if plain:
            return f"({one} {COMPARE[type(operator)]} {other})"
        return f"(py_compare({one}, {other}) {COMPARE[type(operator)]} 0)"

    def contained(self, one: str, other: str, left: ast.expr, right: ast.expr) -> str:
        kind = self.kind(right)
        if kind.name in ("dict", "set"):
            return f"{other}.has({one})"
        if kind.name == "str" or (kind.array and self.kind(left).name in PLAIN):
            return f"{other}.includes({one})"
        return f"py_in({one}, {other})"

    # arithmetic

    def _BinOp(self, node: ast.BinOp) -> str:
        one, other = self.expr(node.left), self.expr(node.right)
        left, right = self.kind(node.left), self.kind(node.right)
        operator = node.op
        if isinstance(operator, ast.Add):
            return f"[...{one}, ...{other}]" if left.array or right.array else f"({one} + {other})"
        if left.name in ("set", "dict") or right.name in ("set", "dict"):
            return f"{self.merge(node)}({one}, {other})"
        if isinstance(operator, ast.Mult) and left.array:
            return f"py_repeat({one}, {other})"
        if isinstance(operator, ast.Mult) and left.name == "str":
            return f"{one}.repeat({other})"
        if isinstance(operator, ast.FloorDiv):
            return f"Math.floor({one} / {other})"
        if isinstance(operator, ast.Mod) and left.name != "str":
            return f"py_mod({one}, {other})"
        if isinstance(operator, ast.LShift):
            return f"({one} * 2 ** {other})"
        if isinstance(operator, ast.RShift):
            return f"Math.floor({one} / 2 ** {other})"
        if type(operator) in BINARY:
            return f"({one} {BINARY[type(operator)]} {other})"
        raise self.fail(node, "operator")

    def merge(self, node: ast.BinOp) -> str:
        name = {ast.BitOr: "union", ast.BitAnd: "intersection", ast.Sub: "difference"}.get(type(node.op))
        if name is None:
            raise self.fail(node, "operator")
        return f"py_{name}"

    def _NamedExpr(self, node: ast.NamedExpr) -> str:
        return f"({self.local(node.target.id)} = {self.expr(node.value)})"

    # parts

    def _Subscript(self, node: ast.Subscript) -> str:
        kind, value = self.kind(node.value), self.expr(node.value)
        if isinstance(node.slice, ast.Slice):
            return self.sliced(kind, value, node.slice)
        if kind.name == "dict":
            return f"{value}.get({self.expr(node.slice)})"
        if kind.name == "str":
            return f"py_char({value}, {self.expr(node.slice)})"
        return f"{value}{self.index(node.slice)}"

    def index(self, node: ast.expr) -> str:
        """Translate an index of an array; a negative one counts from the end."""
        if isinstance(node, ast.Constant):
            return f"[{node.value}]"
        written = self.expr(node)
        return f".at({f'Number({written})' if self.kind(node).name == 'bool' else written})"

    def sliced(self, kind: Kind, value: str, one: ast.Slice) -> str:
        start = self.expr(one.lower) if one.lower else "0"
        stop = f", {self.expr(one.upper)}" if one.upper else ""
        if one.step is not None:
            if ast.unparse(one.step) != "-1" or one.lower or one.upper:
                raise self.fail(one, "step")
            return f"py_reversed({value})"
        return f"py_slice({value}, {start}{stop})" if kind.name == "str" else f"{value}.slice({start}{stop})"

    # comprehensions

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> str:
        return self.comprehension(node.generators, lambda: f"out.push({self.expr(node.elt)})", "[]")

    _GeneratorExp = _ListComp

    def _SetComp(self, node: ast.SetComp) -> str:
        return self.comprehension(
            node.generators, lambda: f"out.add({self.expr(node.elt)})", f"new {self.set_class(self.kind(node))}()"
        )

    def _DictComp(self, node: ast.DictComp) -> str:
        empty = f"new {self.map_class(self.kind(node))}()"
        return self.comprehension(
            node.generators, lambda: f"out.set({self.expr(node.key)}, {self.expr(node.value)})", empty
        )

    def comprehension(self, parts: list[ast.comprehension], inner: Callable[[], str], start: str) -> str:
        """Translate a comprehension to a function with loops, called at once."""
        loops = self.loops(parts, inner)
        return f"(() => {{ const out = {start}; {loops} return out; }})()"

    def loops(self, parts: list[ast.comprehension], inner: Callable[[], str]) -> str:
        heads = [self.iterable(parts[0].iter)]  # evaluated outside
        with self.scope({name.id for part in parts for name in ast.walk(part.target) if isinstance(name, ast.Name)}):
            heads += [self.iterable(part.iter) for part in parts[1:]]
            written = ""
            for part, head in zip(parts, heads, strict=True):
                written += f"for (const {self.target(part.target)} of {head}) "
                written += "".join(f"if ({self.truth(one)}) " for one in part.ifs)
            return f"{written}{{ {inner()}; }}"

    def early(self, node: ast.GeneratorExp, wanted: bool) -> str:
        """Translate `any` (`wanted` is true) or `all` of a generator; the loop stops at the first decisive item."""
        test = "" if wanted else "!"
        loops = self.loops(
            node.generators,
            lambda: f"if ({test}{self.truth(node.elt)}) return {str(wanted).lower()}",
        )
        return f"(() => {{ {loops} return {str(not wanted).lower()}; }})()"

    @contextmanager
    def scope(self, names: set[str]) -> Any:
        self.scopes.append(names)
        yield
        self.scopes.pop()

    def target(self, node: ast.expr) -> str:
        """Translate a target of an assignment or loop that has names only."""
        if isinstance(node, ast.Name):
            return self.local(node.id)
        if isinstance(node, ast.Tuple | ast.List):
            return f"[{', '.join(self.target(one) for one in node.elts)}]"
        if isinstance(node, ast.Starred):
            return f"...{self.target(node.value)}"
        raise self.fail(node, "target")

    def iterable(self, node: ast.expr) -> str:
        """Translate the iterable of a loop; a dict gives its keys."""
        written = self.expr(node)
        kind = self.kind(node)
        if kind.name == "dict":
            return f"{written}.keys()"
        return written

    def _Lambda(self, node: ast.Lambda) -> str:
        names = [one.arg for one in node.args.args]
        with self.scope(set(names)):
            return f"({', '.join(map(self.local, names))}) => {self.expr(node.body)}"

    def _Starred(self, node: ast.Starred) -> str:
        return f"...{self.iterable(node.value)}"

    def _Call(self, node: ast.Call) -> str:
        from twin.calls import call

        return call(self, node)


__all__ = ["ANY", "Expressions", "NotInSubset"]
