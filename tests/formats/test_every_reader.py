"""What holds for every reader of the table: a fixture is read by it, and a torn one ends in no foreign error."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

import graphviz_tb.read.source as reading
from graphviz_tb.errors import TbGraphError
from graphviz_tb.read.source import READERS, read_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDERS = ("containers", "edits", "lite", "logdirs", "models", "onnx", "read", "real", "run_metadata")


@pytest.mark.slow
def test_every_reader_has_a_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """As text or as bytes. What is torn in the middle is read in part or refused."""
    used: dict[str, Path] = {}
    now: list[Path] = []

    def watched(kind: str) -> reading.Reader:
        reader = READERS[kind]

        def note(opened: reading.OpenedSource, options: reading.ReadOptions) -> reading.SourceContents:
            if now:
                used.setdefault(kind, now[0])
            return reader(opened, options)

        return note

    watching = {kind: watched(kind) for kind in READERS}
    monkeypatch.setattr(reading, "READERS", watching)
    for path in sorted(path for folder in FOLDERS for path in (FIXTURES / folder).rglob("*") if path.is_file()):
        if path.stat().st_size < 300_000 and set(READERS) - used.keys():
            now[:] = [path]
            with suppress(TbGraphError):
                read_source(path)
    now.clear()
    assert {kind.removesuffix("_text") for kind in used} == {kind.removesuffix("_text") for kind in READERS}
    for path in used.values():
        data = path.read_bytes()
        with suppress(TbGraphError):
            read_source(data[: len(data) // 2])
