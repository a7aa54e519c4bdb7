"""Translate calls: of functions and classes of the package, of builtins, of methods of lists, dicts, sets and texts."""

from __future__ import annotations

import ast
import importlib
import json
import re
from typing import TYPE_CHECKING

from twin.names import Global

if TYPE_CHECKING:
    from twin.expressions import Expressions

REGEX_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE}
KEYWORDS = "**"  # the parameter that takes all other keywords, as one object
# Methods by the kind of the value: as they are, as another name, or as a function of `python.js`.
METHODS: dict[str, dict[str, str]] = {
    "list": {
        "append": ".push", "pop": "py_pop", "extend": "py_extend", "insert": "py_insert", "sort": "py_sort",
        "index": "py_index", "count": "py_count", "reverse": ".reverse", "copy": ".slice", "popleft": ".shift",
        "clear": "py_clear", "appendleft": ".unshift",
    },
    "tuple": {"index": "py_index", "count": "py_count"},
    "dict": {
        "get": "py_get", "setdefault": "py_setdefault", "pop": "py_dict_pop", "items": ".entries", "keys": ".keys",
        "values": ".values", "update": "py_update", "copy": "py_copy", "clear": ".clear",
    },
    "set": {
        "add": ".add", "update": "py_add_all", "discard": ".delete", "remove": ".delete", "union": "py_union",
        "intersection": "py_intersection", "difference": "py_difference", "isdisjoint": "py_disjoint",
        "issubset": "py_subset",
    },
    "str": {
        "join": "py_join", "split": ".split", "rsplit": "py_rsplit", "strip": "py_strip", "startswith": ".startsWith",
        "endswith": ".endsWith", "replace": ".replaceAll", "removeprefix": "py_removeprefix", "lower": ".toLowerCase",
        "upper": ".toUpperCase", "rstrip": "py_rstrip", "partition": "py_partition", "count": "py_count_text",
        "index": ".indexOf",
    },
    "Pattern": {
        "search": "py_search", "fullmatch": "py_fullmatch", "finditer": "py_finditer", "sub": "py_sub",
    },
    "Match": {"group": "py_group", "groups": "py_groups"},
}  # fmt: skip
WITHOUT_DEFAULTS = ("rstrip", "split", "rsplit")  # must say what they cut: JavaScript has no default of white space


def call(of: Expressions, node: ast.Call) -> str:
    """Translate one call."""
    found = of.meaning(node.func)
    if isinstance(found, Global):
        return known(of, node, found)
    if isinstance(found, str) and found.startswith("builtin "):
        return builtin(of, node, found.removeprefix("builtin "))
    if isinstance(node.func, ast.Attribute) and not imported(of, node.func):
        return method(of, node, node.func)
    if imported(of, node.func):
        return builtin(of, node, ast.unparse(node.func).rpartition(".")[2])
    return f"{of.expr(node.func)}({arguments(of, node)})"


def imported(of: Expressions, node: ast.expr) -> bool:
    """Return whether a function is of another library: `bisect_right`, `re.compile`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not of.is_local(node.value.id):
        return node.value.id in of.world.modules[of.module].imported
    return False


def arguments(of: Expressions, node: ast.Call) -> str:
    """Translate arguments, all of which must be positional."""
    if node.keywords:
        raise of.fail(node, "a keyword for what is not known")
    return of.items(node.args)


def known(of: Expressions, node: ast.Call, found: Global) -> str:
    """Translate a call of a function or class of the package; keyword arguments become positional."""
    if found.name == "Limit":  # its number
        return of.expr(node.args[0])
    name = of.use(found)
    definition = of.world.definition(found)
    new = "new " if isinstance(definition, ast.ClassDef) else ""
    if not node.keywords:
        return f"{new}{name}({of.items(node.args)})"
    return f"{new}{name}({of.items(node.args)}{placed(of, node, parameters(definition))})"


def placed(of: Expressions, node: ast.Call, names: list[str]) -> str:
    """Return the keyword arguments of a call at their positions."""
    said = {keyword.arg: of.expr(keyword.value) for keyword in node.keywords}
    if None in said:
        raise of.fail(node, "a dict of keywords")
    if KEYWORDS in names:
        return f"{{{', '.join(f'{name}: {value}' for name, value in said.items())}}}"
    first = sum(length(of, arg) for arg in node.args)
    last = max(names.index(str(name)) for name in said)
    written = [said.get(name, "undefined") for name in names[first : last + 1]]
    return (", " if node.args else "") + ", ".join(written)


def length(of: Expressions, arg: ast.expr) -> int:
    """Return the number of positions that an argument takes."""
    if not isinstance(arg, ast.Starred):
        return 1
    kind = of.kind(arg.value)
    if kind.name != "tuple" or not kind.args or kind.args[-1].name == "...":
        raise of.fail(arg, "a star before a keyword wants a tuple of known length")
    return len(kind.args)


def parameters(definition: ast.AST) -> list[str]:
    """Return the parameters of a function or of a class's constructor, in order."""
    if isinstance(definition, ast.FunctionDef):
        args = definition.args
        names = [one.arg for one in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        return [*names, KEYWORDS] if args.kwarg else names
    assert isinstance(definition, ast.ClassDef)
    for item in definition.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return parameters(item)[1:]
    return [
        item.target.id
        for item in definition.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    ]


def method(of: Expressions, node: ast.Call, func: ast.Attribute) -> str:
    """Translate a call of a method."""
    kind = of.kind(func.value)
    if kind.name == "optional":
        kind = kind.args[0]
    if func.attr == "fromkeys":
        return f"py_fromkeys({of.map_class(of.kind(node))}, {arguments(of, node)})"
    found = METHODS.get(kind.name, {}).get(func.attr)
    if found is None and kind.name in METHODS:
        raise of.fail(node, f"method of {kind.name}")
    if func.attr in WITHOUT_DEFAULTS and not node.args:
        raise of.fail(node, "white space by default")
    if func.attr in ("startswith", "endswith") and of.kind(node.args[0]).array:
        found = f"py_{func.attr}_any"
    value = of.expr(func.value)
    if found is None:
        return f"{value}.{func.attr}({arguments(of, node)})"
    if found.startswith("."):
        return f"{value}{found}({arguments(of, node)})"
    written = [value, of.items(node.args), *options(of, node)]
    return f"{found}({', '.join(one for one in written if one)})"


def options(of: Expressions, node: ast.Call) -> list[str]:
    """Return the keyword arguments of a builtin as one object."""
    if not node.keywords:
        return []
    pairs = [f"{word.arg}: {of.expr(word.value)}" for word in node.keywords if word.arg != "strict"]
    return [f"{{{', '.join(pairs)}}}"] if pairs else []


def builtin(of: Expressions, node: ast.Call, name: str) -> str:
    """Translate a call of a builtin or of the standard library."""
    args = node.args
    if name == "slice":
        raise of.fail(node, "a slice as a value: python.js has none")
    special = SPECIAL.get(name)
    if special is not None:
        return special(of, node)
    if name in ("any", "all") and isinstance(args[0], ast.GeneratorExp):
        return of.early(args[0], name == "any")
    if (
        name in ("max", "min")
        and len(args) > 1
        and not node.keywords
        and all(of.kind(one).name in ("int", "bool") for one in args)
    ):
        return f"Math.{name}({of.items(args)})"
    if name in ("max", "min") and len(args) > 1:
        return f"py_{name}([{of.items(args)}]{''.join(', ' + one for one in options(of, node))})"
    if name == "next" and isinstance(args[0], ast.GeneratorExp):
        return f"py_next({', '.join([f'py_iter({of.expr(args[0])})', *map(of.expr, args[1:])])})"
    written = [of.iterable(one) if not isinstance(one, ast.Starred) else of.expr(one) for one in args]
    return f"py_{name}({', '.join([*written, *options(of, node)])})"


def len_(of: Expressions, node: ast.Call) -> str:
    kind, written = of.kind(node.args[0]), of.expr(node.args[0])
    if kind.array:
        return f"{written}.length"
    return f"{written}.size" if kind.name in ("dict", "set") else f"py_len({written})"


def isinstance_(of: Expressions, node: ast.Call) -> str:
    found = of.meaning(node.args[1])
    if not isinstance(found, Global):
        raise of.fail(node, "isinstance")
    return f"({of.expr(node.args[0])} instanceof {of.use(found)})"


def set_(of: Expressions, node: ast.Call) -> str:
    inner = of.iterable(node.args[0]) if node.args else ""
    return f"new {of.set_class(of.kind(node))}({inner})"


def dict_(of: Expressions, node: ast.Call) -> str:
    inner = of.expr(node.args[0]) if node.args else ""
    return f"new {of.map_class(of.kind(node))}({inner})"


def counter(of: Expressions, node: ast.Call) -> str:
    kind = "TupleCounter" if of.map_class(of.kind(node)) == "TupleMap" else "Counter"
    return f"new {kind}({''.join(map(of.iterable, node.args))})"


def replace(of: Expressions, node: ast.Call) -> str:
    pairs = ", ".join(
        f"{word.arg}: {of.expr(word.value)}" if word.arg else f"...{of.expr(word.value)}" for word in node.keywords
    )
    return f"py_replace({of.expr(node.args[0])}, {{{pairs}}})"


def compile_(of: Expressions, node: ast.Call) -> str:
    """Translate a regular expression. One with flags or a computed pattern is evaluated in its module."""
    pattern = node.args[0]
    if isinstance(pattern, ast.Constant) and len(node.args) == 1:
        return f"new RegExp({json.dumps(pattern.value)}, 'u')"
    module = importlib.import_module(of.module)
    made: re.Pattern[str] = eval(ast.unparse(node), vars(module))
    flags = "".join(letter for letter, flag in REGEX_FLAGS.items() if made.flags & flag)
    return f"new RegExp({json.dumps(made.pattern, ensure_ascii=False)}, {json.dumps(flags + 'u')})"


def bool_(of: Expressions, node: ast.Call) -> str:
    return f"!!{of.truth(node.args[0])}"


def number(of: Expressions, node: ast.Call) -> str:
    if of.kind(node.args[0]).name not in ("int", "bool", "str"):
        raise of.fail(node, "int of what is no number")
    return f"Number({of.expr(node.args[0])})"


def text(of: Expressions, node: ast.Call) -> str:
    return f"String({of.expr(node.args[0])})"


def list_(of: Expressions, node: ast.Call) -> str:
    return f"[...{of.iterable(node.args[0])}]" if node.args else "[]"


def enumerate_(of: Expressions, node: ast.Call) -> str:
    start = [of.expr(one) for one in (*node.args[1:], *(word.value for word in node.keywords))]
    return f"py_enumerate({', '.join([of.iterable(node.args[0]), *start])})"


def abs_(of: Expressions, node: ast.Call) -> str:
    return f"Math.abs({of.expr(node.args[0])})"


def partial(of: Expressions, node: ast.Call) -> str:
    return f"((...rest) => {of.expr(node.args[0])}({', '.join([*map(of.expr, node.args[1:]), '...rest'])}))"


SPECIAL = {
    "len": len_, "isinstance": isinstance_, "set": set_, "frozenset": set_, "dict": dict_, "Counter": counter,
    "replace": replace, "compile": compile_, "bool": bool_, "int": number, "str": text, "list": list_, "tuple": list_,
    "abs": abs_, "enumerate": enumerate_, "partial": partial, "MappingProxyType": dict_, "deque": list_,
}  # fmt: skip
