"""One run of the command line in a process of its own: what it gave, took, and left behind.

The process is forked from one in which everything is imported, so that a trial takes as long as its work does.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from tests.fuzz.outputs import outputs_wrong, printed_wrong, said_wrong
from tests.timing import within

SECONDS = 30.0  # CPU, more on a slower machine
SLOWER = 4  # times as many end a run that does not end by itself
MEGABYTES = 1024  # beyond ten times the input
PATIENCE = 300  # seconds of wall time, on a machine with other work
CODES = {0, 1, 2, 3, 4, 5}


@dataclass(frozen=True, slots=True)
class Trial:
    """What a run gave: its exit code, CPU seconds, megabytes beyond those of the start, its messages, what is wrong."""

    words: tuple[str, ...]
    code: int
    seconds: float
    megabytes: float
    messages: str
    faults: tuple[str, ...]


def warm_up() -> None:
    """Import what a command imports when it runs, once for all trials."""
    from graphviz_tb import load
    from graphviz_tb.diff import diff
    from graphviz_tb.output.renderers import RENDERERS

    data = b'node { name: "a/b" op: "x" } node { name: "c" op: "y" input: "a/b" }'
    picture = load(data).picture()
    for format in RENDERERS:
        picture.render(format)
    diff(data, data).explain("text")


def attempt(words: list[str], folder: Path, size: int = 0, stdin: str = os.devnull) -> Trial:
    """Before: a furnished folder. After: the trial; `size` is the bytes of what is read. Outputs go to `folder/out`."""
    before = state(folder)
    code, seconds, megabytes = forked(words, folder, stdin)
    messages = (folder.parent / "stderr").read_text(errors="replace")
    said = (folder.parent / "stdout").read_bytes()
    found = [*judged(code, seconds, megabytes, messages, size), *outputs_wrong(folder / "out", code)]
    # Folders are compared one pair after the other: why one is not stands in its place in the report.
    if code in (2, 3, 4, 5) and not (messages or (words[0] == "diff" and (said or "-q" in words))):
        found.append("no word why")
    found += [*said_wrong(words, said, code), *printed_wrong(words, said.decode(errors="replace"), messages)]
    if code == 1 and words[0] not in ("diff", "find", "check", "review"):
        found.append("exit code 1, which is that of a difference, of nothing found or of what does not hold")
    if left := [path.name for path in temporary(folder).iterdir()]:
        found.append(f"left behind: {left}")
    after = state(folder)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if {os.path.realpath(path) for path in changed} - asked_for(words, folder, before):
        found.append(f"changed: {sorted(changed)}")
    return Trial(tuple(words), code, seconds, megabytes, messages, tuple(found))


def judged(code: int, seconds: float, megabytes: float, messages: str, size: int) -> list[str]:
    """What is wrong with how it ended, and with what it took."""
    allowed = MEGABYTES + 10 * size / 1e6
    checks = {
        f"exit code {code}": code not in CODES,
        "a traceback": "Traceback" in messages,
        f"{seconds:.0f} s": not within(seconds, SECONDS),
        f"{megabytes:.0f} MB": megabytes > allowed,
    }
    return [fault for fault, holds in checks.items() if holds]


def temporary(folder: Path) -> Path:
    """Where a trial may keep what it takes away again."""
    path = folder.parent / "temporary"
    path.mkdir(exist_ok=True)
    return path


def forked(words: list[str], folder: Path, stdin: str) -> tuple[int, float, float]:
    """Exit code, CPU seconds and megabytes of a run in `folder`; its streams go to files beside it."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, str(resident()).encode())
        os.close(writer)
        _run(words, folder, stdin)
    base = float(os.read(reader, 100))
    os.close(reader)
    os.close(writer)
    end = time.monotonic() + PATIENCE
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024 - base


def resident() -> float:
    """The megabytes that this process holds now: it may have held more before, and a fork of it starts with less."""
    path = Path("/proc/self/statm")
    if not path.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(path.read_text().split()[1]) * resource.getpagesize() / 2**20


def _run(words: list[str], folder: Path, stdin: str) -> None:
    """In the child: the command line, as a fresh process would run it."""
    code = 70
    try:
        os.chdir(folder)
        tempfile.tempdir = os.environ["TMPDIR"] = str(temporary(folder))
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        used = int(time.process_time() + SLOWER * SECONDS) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (used, used))
        for number, name in ((0, stdin), (1, "stdout"), (2, "stderr")):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(name if number == 0 else folder.parent / name, flags, 0o644), number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        from graphviz_tb.commands import main

        main(words)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def state(folder: Path) -> dict[str, str]:
    """Everything in a folder but its outputs."""
    files = (path for path in folder.rglob("*") if "out" not in path.parts and path.is_file())
    return {str(path): sha256(path.read_bytes()).hexdigest() for path in files}


def asked_for(words: list[str], folder: Path, before: Iterable[str]) -> set[str]:
    """The files that may be written, links followed: outputs that lie in nothing that is read, or where nothing was
    `before`, as a picture beside the logs it shows."""
    option = ("-o", "--output")
    named = [word for flag, word in pairwise(words) if flag in option]
    named += [word.removeprefix("-o") for word in words if word.startswith("-o")]  # in one word
    named += [word.removeprefix("--output=") for word in words if word.startswith("--output=")]
    outputs = {os.path.realpath(folder / word) for word in named if word and "\0" not in word}
    paths = [word for flag, word in pairwise(words) if flag not in option and word and "\0" not in word]
    read = [os.path.realpath(folder / word) for word in paths]
    there = {os.path.realpath(path) for path in before}
    return {path for path in outputs if path not in there or not any(path.startswith(each) for each in read)}
