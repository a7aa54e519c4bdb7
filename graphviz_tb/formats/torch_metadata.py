"""Texts in the metadata of exported programs: the modules around a node, its lines of source, sizes with a name."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from graphviz_tb.formats.exported import ModuleCall
from graphviz_tb.formats.wire_nodes import TensorSize
from graphviz_tb.limits import MAX_SOURCE_LINES

# Modules: `key,path,class;key,path,class;…`, outermost first. Paths may contain the separators; the key ends in the
# path, so the path is the part that occurs twice.

MAX_STACK_LETTERS = 20_000
CLASS_NAME = re.compile(r"[A-Za-z_][\w.<>]*")
KEY_START = "L__self__"
MAX_CALL_DIGITS = 6  # digits of the number of a call after a key: `@12`
OLD_PATH = re.compile(r"L\['self'\]\.?|^L__self__\.?")
CALL_SUFFIX = re.compile(r"@\d+$")
HOOK_END = "_hook"


def module_calls(stack: str) -> tuple[ModuleCall, ...]:
    """Return the modules of a stack, outermost first.

    >>> stack = "L__self__,,m.Net;L__self__act@1,act,torch.nn.modules.activation.ReLU"
    >>> [(call.path, call.class_name, call.key) for call in module_calls(stack)]
    [('', 'Net', 'L__self__'), ('act', 'ReLU', 'L__self__act@1')]
    """
    if not stack or len(stack) > MAX_STACK_LETTERS:
        return ()
    entries = [tuple(entry.split(",")) for entry in stack.split(";")]
    if any(len(entry) != 3 for entry in entries):
        entries = _entries_with_separators(stack.split(";"))
    calls: list[ModuleCall] = []
    for entry in entries:
        call = _module_call(*entry)
        if call is not None and not (calls and calls[-1].path == call.path):
            calls.append(call)
    return tuple(calls)


@lru_cache(maxsize=1024)  # consecutive stacks share modules
def _module_call(key: str, path: str, kind: str) -> ModuleCall | None:
    """Return the call of a module by an entry of a stack; None for a hook."""
    name = kind.rpartition(".")[2]
    if not name or name.endswith(HOOK_END):
        return None
    # Keys of strict exports do not differ from call to call.
    return ModuleCall(OLD_PATH.sub("", path), name, key if key.startswith(KEY_START) else None)


def _entries_with_separators(parts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return key, path and class of entries in whose paths are commas and semicolons; `parts` are between semicolons.

    >>> _entries_with_separators(["L__self__d.x", "y@1,d.x", "y,m.Linear"])
    [('L__self__d.x;y@1', 'd.x;y', 'm.Linear')]
    """
    found: list[tuple[str, ...]] = []
    entry = ""
    for part in parts:
        entry = f"{entry};{part}" if entry and not part.startswith(KEY_START) else part
        both, _, kind = entry.rpartition(",")
        path = _repeated_path(both) if CLASS_NAME.fullmatch(kind) and entry.startswith(KEY_START) else None
        if path is not None:
            found.append((both[: -len(path) - 1], path, kind))
            entry = ""
    return found


def _repeated_path(both: str) -> str | None:
    """Return the path of a key and a path, `L__self__PATH@1,PATH`: the length of both determines the position of the
    comma."""
    for number_letters in range(MAX_CALL_DIGITS + 2):
        letters, odd = divmod(len(both) - len(KEY_START) - 1 - number_letters, 2)
        comma = len(both) - letters - 1
        if odd or letters < 0 or both[comma] != ",":
            continue
        path, number = both[comma + 1 :], both[comma - number_letters : comma]
        if both.startswith(path, len(KEY_START)) and (not number or CALL_SUFFIX.fullmatch(number)):
            return path
    return None


# Source: the stack of calls, outermost first, as Python prints it.

FRAME = re.compile(r'File "([^"\n]*)", line (\d+), in [^\n]*(?:\n(?!\s*File ")\s*([^\n]*))?')
FOLDER_END = re.compile(r"[/\\]")
LIBRARY_FRAME = re.compile(
    r"[/\\]torch[/\\](?:nn[/\\](?:modules|functional|utils)|_\w+|fx|export|utils|autograd|functional)|<eval_with_key>"
)


@lru_cache(maxsize=1024)  # blocks of one class have the same lines
def source_lines(trace: str) -> tuple[str, ...]:
    r"""Return the lines of the program in a stack trace, outermost first, without folders: `model.py:41 x =
    self.attn(x)`. Lines of PyTorch itself are left out.

    >>> source_lines('File "/home/me/model.py", line 41, in forward\n    x = self.attn(x)')
    ('model.py:41 x = self.attn(x)',)
    """
    frames = [(match[1], match[2], match[3] or "") for match in FRAME.finditer(trace)]
    own = [frame for frame in frames if not LIBRARY_FRAME.search(frame[0])] or frames[-1:]
    lines = [f"{FOLDER_END.split(path)[-1]}:{line} {code.strip()}".strip() for path, line, code in own]
    return tuple(lines[-MAX_SOURCE_LINES:])


# Sizes: a number, or an expression of sympy in which each unknown number has a name.

SYMBOL = re.compile(r"Symbol\('([^'\\]*)'[^()]*\)")
INTEGER = re.compile(r"Integer\((-?\d+)\)")
WHOLE_NUMBER = re.compile(r"-?[0-9]+")
MAX_EXPRESSION_LETTERS = 400
SIGNS = {"Mul": "·", "Add": "+", "FloorDiv": "//", "Mod": "%", "CleanDiv": "//", "PythonMod": "%", "Pow": "^"}
BATCH = "batch"


class SizeNames:
    """Names of unknown sizes, in the order of their appearance: `batch`, `s0`, `s1`, …; the names in a program have
    other numbers in each export."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._known: dict[str, TensorSize] = {}

    def name_input_size(self, size: Mapping[str, Any], place: int) -> None:
        """Name an unknown size of an input: the first at place 0 is the batch."""
        expression = self._expression(size)
        found = SYMBOL.fullmatch(expression)
        if found and found[1] not in self._names:
            self._name(found[1], BATCH if not place and BATCH not in self._names.values() else "")

    def size_of(self, size: Any) -> TensorSize:
        """Return a size: a number, a name or an expression of names; None for anything else."""
        if not isinstance(size, dict):
            return None
        number = size.get("as_int")
        if isinstance(number, int):
            return number
        expression = self._expression(size)
        if not expression:
            return None
        if expression not in self._known:
            self._known[expression] = self._size_in_words(expression)
        return self._known[expression]

    @staticmethod
    def _expression(size: Mapping[str, Any]) -> str:
        held = size.get("as_expr")
        text = held.get("expr_str") if isinstance(held, dict) else ""
        return text if isinstance(text, str) and len(text) < MAX_EXPRESSION_LETTERS else ""

    def _name(self, symbol: str, name: str = "") -> str:
        if symbol not in self._names:
            numbered = len(self._names) - (BATCH in self._names.values())
            self._names[symbol] = name or f"s{numbered}"
        return self._names[symbol]

    def _size_in_words(self, expression: str) -> TensorSize:
        plain = INTEGER.sub(r"\1", SYMBOL.sub(lambda found: self._name(found[1]), expression))
        try:
            words = _in_words(ast.parse(plain, mode="eval").body)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None
        return int(words) if WHOLE_NUMBER.fullmatch(words) else words


def _in_words(node: ast.expr) -> str:
    """Return an expression of sympy in the notation of Python."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        words = [_in_words(argument) for argument in node.args]
        sign = SIGNS.get(node.func.id)
        if sign is None:
            return f"{node.func.id}({', '.join(words)})"
        if sign == "+":
            return "+".join(words).replace("+-", "-")
        return sign.join(f"({word})" if (re.search(r".[+\-%/·]", word) and sign != "·") or "+" in word else word
                         for word in words)  # fmt: skip
    return ast.unparse(node)
