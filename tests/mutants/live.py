"""Faults put into a program that runs: tests are collected once, and each fault is tried in a child of that process.

A function takes the place of another by its code object. What runs when a module is imported cannot be exchanged so:
the file has the fault too, for modules that are imported later, and what was imported already wants its own process.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from tests.mutants.covering import Covering
from tests.mutants.faults import Fault

KILLED, SURVIVED, LATE, ANEW = "killed", "survived", "late", "anew"
VERDICTS = (SURVIVED, KILLED, LATE)  # by the exit code of a child
SLOWER = 10  # times what a test needs, and as many seconds more: so long it may take with a fault, which may never end
PATIENCE = 7200  # seconds of waiting: a machine may be busy with something else


class Trying:
    """A plugin of pytest: instead of running the tests that were collected, try faults on those that see them."""

    def __init__(
        self, package: Path, covering: Covering, faults: list[Fault], seconds: float, said: Callable[[Fault, str], None]
    ) -> None:
        self.package, self.covering, self.faults, self.seconds, self.said = package, covering, faults, seconds, said

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try each fault: `said` is told what became of it, or that it wants a process of its own."""
        items = {item.nodeid: item for item in session.items}
        for fault in self.faults:
            target = self.package / "graphviz_tb" / fault.inside
            before = target.read_text()
            wanted = self.covering.tests(target, fault.line, fault.last)  # none where an import executes it
            tests = within(wanted, self.covering.seconds, self.seconds)
            codes = exchanged(target, before, fault.applied()) if is_loaded(target) else {}  # else: read with the fault
            if (tests and codes is None) or self.covering.imports(target, fault.line, fault.last):
                self.said(fault, ANEW)
                continue
            target.write_text(fault.applied())
            try:
                chosen = [(items[test], self.covering.seconds[test]) for test in tests if test in items]
                self.said(fault, in_child(partial(tried, session, codes or {}, chosen)))
            finally:
                target.write_text(before)
        return True


def within(tests: list[str], seconds: dict[str, float], most: float) -> list[str]:
    """The first tests, as many as take `most` seconds together, and at least one."""
    found: list[str] = []
    for test in tests:
        most -= seconds[test]
        if most < 0 and found:
            break
        found.append(test)
    return found


def is_loaded(path: Path) -> bool:
    """Whether a file is a module that was imported."""
    return any(getattr(module, "__file__", None) == str(path) for module in list(sys.modules.values()))


def exchanged(path: Path, before: str, after: str) -> dict[tuple[str, str, int], CodeType] | None:
    """The functions of a file that differ, by file, name and line, with their new code; None where something else does.

    >>> codes = exchanged(Path("f.py"), "def f(x):\\n    return x + 1", "def f(x):\\n    return x - 1")
    >>> list(codes or {})
    [('f.py', 'f', 1)]
    >>> exchanged(Path("f.py"), "LEAST = 1", "LEAST = 2") is None
    True
    """
    old, new = (compile(text, str(path), "exec", dont_inherit=True) for text in (before, after))
    pairs = list(zip(outermost(old), outermost(new), strict=True))
    if any(is_body(mine) and said(mine, deep=False) != said(other, deep=False) for mine, other in pairs):
        return None
    functions = [(mine, other) for mine, other in pairs if not is_body(mine) and said(mine) != said(other)]
    if any(mine.co_name.startswith("<") and mine.co_name != "<lambda>" for mine, _ in functions):
        return None  # a comprehension that ran when the module was imported
    return {(str(path), mine.co_qualname, mine.co_firstlineno): other for mine, other in functions}


def outermost(code: CodeType) -> Iterator[CodeType]:
    """The body of a module, those of its classes, and the functions in these; not what is in functions."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if is_body(inner):
                yield from outermost(inner)
            else:
                yield inner


def is_body(code: CodeType) -> bool:
    """Whether code is the body of a module or a class."""
    return not code.co_flags & 1  # CO_OPTIMIZED: locals by number, as functions have them


def said(code: CodeType, deep: bool = True) -> tuple[object, ...]:
    """What code does, whatever its lines; `deep` with that of the functions in it."""
    consts = [
        (said(const) if deep else "") if isinstance(const, CodeType) else (type(const).__name__, repr(const))
        for const in code.co_consts
    ]
    return (code.co_code, code.co_names, code.co_varnames, *consts)


def tried(session: pytest.Session, codes: dict[tuple[str, str, int], CodeType], tests: list[tuple[Any, float]]) -> int:
    """Put the codes in place of others, run tests until one fails, and give the exit code of the verdict."""
    for function in gc.get_objects() if codes else ():
        if type(function) is FunctionType:
            code = function.__code__
            other = codes.get((code.co_filename, code.co_qualname, code.co_firstlineno))
            if other is not None:
                function.__code__ = other
    for (item, seconds), follower in zip(tests, [*(item for item, _ in tests[1:]), None], strict=True):
        limit = int(time.process_time() + SLOWER + SLOWER * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=follower)
        if session.testsfailed:
            return VERDICTS.index(KILLED)
    return VERDICTS.index(SURVIVED)


def in_child(action: Callable[[], int], limit: float | None = None) -> str:
    """The verdict of an action in a child, of `limit` CPU seconds; one that ends in another way has seen the fault."""
    child = os.fork()
    if not child:
        os.setsid()
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), resource.RLIM_INFINITY))
        code = VERDICTS.index(KILLED)
        try:
            code = action()
        finally:
            os._exit(code)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return LATE if code == -signal.SIGXCPU else VERDICTS[code] if 0 <= code < len(VERDICTS) else KILLED
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return LATE
