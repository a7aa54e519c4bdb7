"""One run of the command line in a process of its own: what it gave, took, and left behind.

The process is forked from one in which everything is imported, so that a trial takes as long as its work does.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

SECONDS = 30.0  # CPU
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
    from graphviz_tb.formats import RENDERERS

    data = b'node { name: "a/b" op: "x" } node { name: "c" op: "y" input: "a/b" }'
    picture = load(data).picture()
    for format in RENDERERS:
        picture.render(format)
    diff(data, data).explain("text")


def attempt(words: list[str], folder: Path, size: int = 0) -> Trial:
    """Before: a furnished folder. After: the trial; `size` is the bytes of what is read. Outputs go to `folder/out`."""
    before = state(folder)
    code, seconds, megabytes = forked(words, folder)
    messages = (folder.parent / "stderr").read_text(errors="replace")
    said = (folder.parent / "stdout").read_bytes()
    found = [*judged(code, seconds, megabytes, messages, size), *outputs_wrong(folder / "out", code)]
    # Folders are compared one pair after the other: why one is not stands in its place in the report.
    if code in (2, 3, 4, 5) and not (messages or (words[0] == "diff" and (said or "-q" in words))):
        found.append("no word why")
    found += said_wrong(words, said, code)
    after = state(folder)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if changed - asked_for(words, folder):
        found.append(f"changed: {sorted(changed)}")
    return Trial(tuple(words), code, seconds, megabytes, messages, tuple(found))


def judged(code: int, seconds: float, megabytes: float, messages: str, size: int) -> list[str]:
    """What is wrong with how it ended, and with what it took."""
    allowed = MEGABYTES + 10 * size / 1e6
    checks = {
        f"exit code {code}": code not in CODES,
        "a traceback": "Traceback" in messages,
        f"{seconds:.0f} s": seconds > SECONDS,
        f"{megabytes:.0f} MB": megabytes > allowed,
    }
    return [fault for fault, holds in checks.items() if holds]


def forked(words: list[str], folder: Path) -> tuple[int, float, float]:
    """Exit code, CPU seconds and megabytes of a run in `folder`; its streams go to files beside it."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, str(resident()).encode())
        os.close(writer)
        _run(words, folder)
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


def _run(words: list[str], folder: Path) -> None:
    """In the child: the command line, as a fresh process would run it."""
    code = 70
    try:
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        used = int(time.process_time() + SECONDS) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (used, used))
        for number, name in ((0, os.devnull), (1, "stdout"), (2, "stderr")):
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


def asked_for(words: list[str], folder: Path) -> set[str]:
    """The files that may be written over: outputs that lie in nothing that is read."""
    outputs = {str(folder / word) for before, word in pairwise(words) if before == "-o" and "\0" not in word}
    paths = [word for before, word in pairwise(words) if before != "-o" and word and "\0" not in word]
    read = [os.path.realpath(folder / word) for word in paths]
    apart = {path for path in outputs if not any(os.path.realpath(path).startswith(each) for each in read)}
    return {str(path) for each in apart for path in same_files(Path(each))}


def same_files(path: Path) -> list[Path]:
    """A file, and what links lead to it."""
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    return [path, *(each for each in beside if os.path.realpath(each) == os.path.realpath(path))]


def outputs_wrong(folder: Path, code: int) -> list[str]:
    """What is wrong with the outputs, which are taken away: whole and of their format after success, else none."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            continue
        if code not in (0, 1):
            found.append(f"output {path.name!r} in spite of exit code {code}")
        elif not is_whole(path):
            found.append(f"output {path.name!r} is not whole")
        path.unlink()
    return found


def strict(data: bytes) -> None:
    """Refuse what Python takes for JSON and nobody else does: NaN and infinities."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    json.loads(data, parse_constant=refuse)
    data.decode()


def said_wrong(words: list[str], said: bytes, code: int) -> list[str]:
    """What is wrong with what was printed: after success, where JSON was asked for, it is JSON."""
    report = words[0] == "diff" and ("--format", "json") in pairwise(words) and not {"-o", "--git"} & set(words)
    asked = (report or "--json" in words) and not {"--help", "--version"} & set(words)
    if not asked or code not in (0, 1) or not said:
        return []
    try:
        strict(said)
    except ValueError as error:
        return [f"no JSON on stdout: {error}"]
    return []


def is_whole(path: Path) -> bool:
    """Whether a file is all of what its suffix says."""
    data, kind = path.read_bytes(), path.suffix.lower()
    try:
        if data.startswith(b"<svg"):  # whatever it is called: `--format` says what is written
            ElementTree.fromstring(data)
        if kind == ".json" and data.startswith((b"{", b"[")):
            strict(data)
    except (ValueError, ElementTree.ParseError):
        return False
    ends = {b"\x89PNG": b"IEND\xaeB`\x82", b"%PDF": b"%%EOF", b"digr": b"}", b"<!do": b"</html>"}
    return data.rstrip(b"\n").endswith(ends.get(data[:4], b""))
