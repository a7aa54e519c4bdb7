"""Regular expressions take time in proportion to the text that they are held against, whatever a file says."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import graphviz_tb
from graphviz_tb.caches import PatternOnUse
from tests.each import each

METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
SIGNS = [
    *'_./:-[]{}(), "\\#@^$ab1Z0',
    "1a",
    "a1",
    "_1",
    "a_",
    "1.",
    "/a",
    "a/",
    "[1",
    "(1",
    "a:",
    "::",
    "{value:",
    "{name:",
]
TAILS = ("", "\0", "!x", "a", "1")
SHORT, TIMES = 3_000, 4  # letters, and how many times as many
QUICK = 0.003  # seconds: what takes less is not looked at twice
PATIENCE = 20.0  # CPU seconds of one call: an exponential one never ends


def patterns() -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """Every pattern that a module of the package has a name for, with the methods that modules call on it."""
    found: dict[re.Pattern[Any], str] = {}
    used: dict[re.Pattern[Any], set[str]] = defaultdict(set)
    for info in pkgutil.walk_packages(graphviz_tb.__path__, "graphviz_tb."):
        if info.name.endswith("__main__") or ".proto" in info.name:
            continue
        module = importlib.import_module(info.name)
        compiled: dict[str, re.Pattern[Any]] = {
            name: getattr(value, "compiled", value)
            for name, value in vars(module).items()
            if isinstance(value, (re.Pattern, PatternOnUse))
        }
        for name, pattern in compiled.items():
            found.setdefault(pattern, f"{info.name}.{name}")
        for part in ast.walk(ast.parse(Path(module.__file__ or "").read_text("utf-8"))):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.attr in METHODS:
                used[compiled[part.value.id]].add(part.attr) if part.value.id in compiled else None
    for pattern, name in sorted(found.items(), key=lambda entry: entry[1]):
        for method in sorted(used[pattern]):
            yield f"{name}.{method}", pattern, method


@pytest.mark.slow
def test_there_are_patterns() -> None:
    assert len(list(patterns())) > 80


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer on this system")
@each(("name", "pattern", "method"), patterns, ids=lambda case: case[0])
def test_a_long_text_takes_no_longer_than_its_length(name: str, pattern: re.Pattern[Any], method: str) -> None:
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin1")
    for word in {*re.findall(r"[A-Za-z_]{2,}", source), *SIGNS}:
        for tail in TAILS:
            if seconds(pattern, method, word, tail, SHORT) > QUICK:
                # Twice the proportion leaves room for noise; a square is four times it. The least of three pairs: what
                # a busy machine adds to one says nothing of the others.
                pairs = ([seconds(pattern, method, word, tail, SHORT * many) for many in (1, TIMES)] for _ in range(3))
                assert any(long < 2 * TIMES * short for short, long in pairs), (
                    f"{word!r} again and again, then {tail!r}"
                )


def seconds(pattern: re.Pattern[Any], method: str, word: str, tail: str, letters: int) -> float:
    """How long a call takes, the least of two; text of one word again and again."""
    text: Any = word * (letters // len(word)) + tail
    text = text if isinstance(pattern.pattern, str) else text.encode("latin1")
    return min(once(pattern, method, text) for _ in range(2))


def once(pattern: re.Pattern[Any], method: str, text: Any) -> float:
    started = time.process_time()
    former = signal.signal(signal.SIGPROF, endless)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        made = getattr(pattern, method)(*((text[:0],) if method in ("sub", "subn") else ()), text)
        list(made) if method == "finditer" else None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)
    return time.process_time() - started


def endless(number: int, frame: FrameType | None) -> None:
    raise AssertionError("the pattern does not end")
