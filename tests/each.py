"""One test for all cases of a list, which names every case that failed: a thousand small cases take no longer than
their work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

SHOWN = 5  # failures that are reported with their tracebacks

Cases = Iterable[Any] | Callable[[], Iterable[Any]]
Labels = Iterable[object] | Callable[[Any], object]


def each(
    names: str | tuple[str, ...], cases: Cases, ids: Labels | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test on every case, as `pytest.mark.parametrize` does, but as one test.

    A `tmp_path` is a new folder for every case; before each case, patches are undone and captured output is dropped.
    Cases that are expensive to make are given as a function, which is called when the test runs. A case that is skipped
    keeps no other from running; the test is then reported as skipped.
    """
    words = (names,) if isinstance(names, str) else names
    made = cases if callable(cases) else [*cases].copy

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**fixtures: Any) -> None:
            listed = list(made())
            labels = list(map(str, map(ids, listed) if callable(ids) else listed if ids is None else ids))
            failed: dict[str, BaseException] = {}
            skipped: list[str] = []
            for number, (label, case) in enumerate(zip(labels, listed, strict=True)):
                values = (case,) if isinstance(names, str) else case
                try:
                    test(**anew(fixtures, number), **dict(zip(words, values, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(str(reason))
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the case {label}")
                    failed[label] = error
            if failed:
                title = f"{len(failed)} of {len(labels)} cases failed: {', '.join(failed)}"
                raise BaseExceptionGroup(title, list(failed.values())[:SHOWN])
            if skipped:
                pytest.skip(f"{len(skipped)} of {len(labels)} cases, the others passed: {skipped[0]}")

        whole = signature(test)
        others = [parameter for name, parameter in whole.parameters.items() if name not in words]
        vars(run)["__signature__"] = whole.replace(parameters=others)
        return run

    return decorate


def anew(fixtures: dict[str, Any], number: int) -> dict[str, Any]:
    """The fixtures of a test as they are at its start."""
    if "monkeypatch" in fixtures:
        fixtures["monkeypatch"].undo()
    if "capsys" in fixtures:
        fixtures["capsys"].readouterr()
    if "tmp_path" not in fixtures:
        return fixtures
    folder: Path = fixtures["tmp_path"] / str(number)
    folder.mkdir()
    return {**fixtures, "tmp_path": folder}
