"""Frames in frames: which lies in which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphviz_tb.annotate.infer.frame import CallFrame


@given(st.lists(st.integers(0, 1000), max_size=60))
def test_a_frame_holds_what_is_called_in_it(callers: list[int]) -> None:
    frames, around = [CallFrame(-1)], [{0}]
    for number, caller in enumerate(callers, 1):
        caller %= len(frames)
        frames.append(CallFrame(number, (), frames[caller]))
        around.append({number, *around[caller]})
    for number, frame in enumerate(frames):
        assert {other for other, held in enumerate(frames) if held.encloses(frame)} == around[number]


@pytest.mark.slow
def test_a_deep_frame_is_found_in_few_steps() -> None:
    steps = 0
    outermost = frame = CallFrame(-1)
    for depth in range(1, 100_000):
        frame = CallFrame(depth, (), frame)
    while frame is not outermost:
        assert frame.caller is not None
        frame, steps = frame.far, steps + 1
    assert steps < 40
