"""A short run of the fuzzer over HTTP; `python -m tests.fuzz.served` goes on for as long as you like."""

from __future__ import annotations

from collections.abc import Callable

from tests.fuzz.served import trial


def test_every_request_is_answered_or_refused_with_a_reason(require: Callable[..., None]) -> None:
    require("starlette", "watchfiles")
    assert [fault for seed in range(2) for fault in trial(seed, 60)] == []
