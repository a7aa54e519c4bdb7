"""Fuzz reading and drawing, guided by the lines that an input reaches: `python -m tests.fuzz.guided [--minutes M]`.

Needs atheris, libFuzzer for Python, which has wheels for Linux: https://github.com/google/atheris. An input that ends
in anything but a picture or an error of ours is kept in `--keep`; `python -m tests.fuzz.guided FILE` tries it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from tests.fuzz.seeds import KINDS

LONGEST = 65_536  # bytes of an input: every seed that is a graph fits
SLOW = 30  # seconds for one input
MEMORY = 2_048  # MB of the whole process


def main() -> None:
    """Fuzz until the time is over, or try the files that are named; the exit code is libFuzzer's."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="inputs to try again")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1, help="of libFuzzer, not 0")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where inputs that failed are kept")
    chosen = parser.parse_args()
    chosen.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for kind, data in KINDS.items():
            (Path(corpus) / kind).write_bytes(data)
        limits = [f"-max_len={LONGEST}", f"-timeout={SLOW}", f"-rss_limit_mb={MEMORY}", f"-seed={chosen.seed}"]
        until = [f"-max_total_time={int(60 * chosen.minutes)}", f"-artifact_prefix={chosen.keep}/"]
        run([*limits, *until, *(map(str, chosen.files) if chosen.files else [corpus])])


def run(words: list[str]) -> None:
    """Hand over to libFuzzer, which ends the process."""
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=["graphviz_tb.read.source", "graphviz_tb.flatten"]):
        from graphviz_tb import load
        from graphviz_tb.errors import TbGraphError

    def one(data: bytes) -> None:
        try:
            load(data).render("svg")
        except TbGraphError as error:
            assert str(error)  # noqa: PT017  (every error says something)

    atheris.Setup([sys.argv[0], *words], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
