"""JSON that is parsed step by step, and the check of how deep it nests, which goes piece by piece."""

from __future__ import annotations

import json
import random
import tracemalloc
from typing import Any

import pytest

from graphviz_tb.errors import MalformedText
from graphviz_tb.limits import MAX_JSON_DEPTH
from graphviz_tb.sources import bounds
from graphviz_tb.sources.text import LETTERS_OF_KNOWN_START, JsonWalk, parse_json

TEXT = (
    '{"a": 1, "g": {"nodes": [1, {"x": [2, "s]"]}, null, -1.5e3], "t": {"p": {"q": []}, "r": "\\u00e9\\""}, "u": []}}'
)


def unchanged(value: Any) -> Any:
    return value


def parse_in_steps(walk: JsonWalk) -> Any:
    inner = {"nodes": lambda walk: walk.parse_array(unchanged), "t": lambda walk: walk.parse_members(unchanged)}
    return walk.parse_object({"g": lambda walk: walk.parse_object(inner)})


def parsed(text: str, *step: Any) -> Any:
    try:
        return parse_json(text.encode(), "x", *step)
    except MalformedText:
        return MalformedText


def test_what_is_parsed_in_steps_is_what_is_parsed_at_once() -> None:
    assert parsed(TEXT, parse_in_steps) == json.loads(TEXT)


def test_what_is_damaged_is_refused_in_steps_too() -> None:
    luck = random.Random(0)
    for _ in range(3000):
        letters = list(TEXT)
        for _ in range(luck.randrange(1, 4)):
            place = luck.randrange(len(letters))
            letters[place : place + luck.randrange(2)] = luck.choice(["", *'{}[]",:0 1a\ntf.'])
        damaged = "".join(letters)
        assert parsed(damaged, parse_in_steps) == parsed(damaged), damaged


def test_members_of_equal_text_are_made_once() -> None:
    long = {"sizes": [1] * LETTERS_OF_KNOWN_START, "last": 0}
    members = {"a": long, "b": {**long, "last": 1}, "c": long, "d": long, "e": 1, "f": 12}
    made: list[Any] = []
    text = json.dumps(members)
    assert parsed(text, lambda walk: walk.parse_members(lambda value: made.append(value) or value)) == members
    # "b" begins as "a" does, and takes its place; numbers have no end of their own.
    assert made == [long, members["b"], long, 1, 12]


def test_what_was_made_into_something_small_takes_no_memory() -> None:
    text = json.dumps([{str(number): [number] * 10} for number in range(20_000)]).encode()
    peaks = []
    for step in (JsonWalk.parse_value, lambda walk: walk.parse_array(len)):
        tracemalloc.start()
        parse_json(text, "x", step)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 3 * len(text) < peaks[0]


@pytest.mark.parametrize("letters", [1, 7, 1 << 16])
def test_the_depth_of_json_is_counted_across_pieces(letters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "NESTING_PIECE_LETTERS", letters)
    brackets = "[" * MAX_JSON_DEPTH
    strings = json.dumps(['"', "\\", '\\"', brackets]) + ","
    assert not bounds.is_nested_too_deep(strings * 3 + brackets)
    assert bounds.is_nested_too_deep(strings * 3 + brackets + strings)
