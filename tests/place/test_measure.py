"""Texts are as wide as the font says, and are shortened without losing what tells them apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.model import measure
from graphviz_tb.model.measure import elide_text, has_all_glyphs, replace_unsafe_characters, text_width
from tests.each import each

NAMES = st.text(max_size=320)


@pytest.mark.slow
def test_the_table_is_that_of_the_font() -> None:
    pytest.importorskip("fontTools")
    import make_advances

    assert make_advances.advances(400)[ord("W")] == measure.font_advances(False)["W"]
    assert make_advances.advances(600)[ord("W")] == measure.font_advances(True)["W"]
    font = {chr(code): wide for code, wide in make_advances.advances(400).items()}
    assert font == measure.font_advances(False)


@each(
    ("text", "ems"),
    [
        ("층", 1.0),  # Hangul
        ("層", 1.0),  # CJK
        ("😀", 1.25),  # an emoji draws wider than its em
        ("e\u0301", 1139 / 2048),  # a combining accent takes nothing
        ("👩\u200d💻", 2.5),  # joined: at most the sum of its parts
        ("\ufeff", 0.0),
    ],
)
def test_other_scripts(text: str, ems: float) -> None:
    assert text_width(text, 2048) == round(ems * 2048)


def test_right_to_left_names_have_a_width() -> None:
    assert text_width("שלום", 12) > 12
    assert text_width("مرحبا", 12) > 12
    assert has_all_glyphs("שלום")


@given(NAMES, st.integers(20, 300), st.sampled_from([9, 10, 11, 12, 16]), st.booleans())
def test_a_shortened_text_fits(text: str, limit: int, size: int, semibold: bool) -> None:
    assert text_width(elide_text(replace_unsafe_characters(text), limit, size, semibold), size, semibold) <= limit


@given(NAMES)
def test_clean_text_is_one_line_without_surprises(text: str) -> None:
    told = replace_unsafe_characters(text)
    assert len(told) == len(text)
    assert not set(told) & set("\n\r\t\x00\u202e\u2028")
    assert replace_unsafe_characters(told) == told


@given(st.text("abcdefgh_/", min_size=30, max_size=300), st.integers(0, 9999))
def test_the_number_at_the_end_stays(name: str, number: int) -> None:
    told = elide_text(f"{name}_{number}", 110, 12)
    assert told.endswith(f"_{number}")
    assert "…" in told or told == f"{name}_{number}"


def test_long_names_with_different_numbers_stay_different() -> None:
    told = {elide_text("x" * 300 + f"_{number}", 100, 12) for number in range(100)}
    assert len(told) == 100


def test_no_cut_between_a_letter_and_its_accent() -> None:
    text = "e\u0301" * 60
    told = elide_text(text, 100, 12)
    head, tail = told.split("…")
    assert not tail.startswith("\u0301")
    assert not head or head.endswith("\u0301")
