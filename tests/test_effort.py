"""The tools of the tests: many cases in one test, and how much of them runs."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest

from tests.each import each
from tests.effort import SWITCH, everything, examples, part


@each(("number", "square"), [(1, 1), (2, 5), (3, 9), (4, 1)], ids=lambda case: f"case {case[0]}")
def squared(number: int, square: int) -> None:
    assert number**2 == square


def test_all_cases_that_fail_are_named() -> None:
    with pytest.raises(ExceptionGroup, match="2 of 4 cases failed: case 2, case 4") as failed:
        squared()
    assert [error.__notes__ for error in failed.value.exceptions] == [["in the case case 2"], ["in the case case 4"]]


@each("text", ["1", "x"])
def refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        int(text)


def test_what_is_not_raised_is_a_failure_too() -> None:
    with pytest.raises(BaseExceptionGroup, match="1 of 2 cases failed: 1"):
        refused()


def test_fixtures_are_asked_for_and_cases_are_not() -> None:
    @each("name", ["a", "b"])
    def test(name: str, tmp_path: Path) -> None:
        (tmp_path / "file").write_text(name)

    assert list(signature(test).parameters) == ["tmp_path"]


@each("name", lambda: ["a", "b"])
def test_each_case_has_a_folder_of_its_own(name: str, tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []
    (tmp_path / name).touch()


def test_a_part_is_all_where_nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "")
    assert part(range(7), 3) == [0, 3, 6]
    monkeypatch.setenv(SWITCH, "all")
    assert part(range(7), 3) == [0, 1, 2, 3, 4, 5, 6]


def test_laws_that_need_more_examples_have_as_many_times_more() -> None:
    assert examples(400).max_examples == 2 * examples(200).max_examples > 0


@pytest.mark.slow
def test_what_is_slow_runs_where_everything_does() -> None:
    assert everything()
