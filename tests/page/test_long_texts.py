"""Blocks of words: whatever text they hold, and not twice at a time."""

from __future__ import annotations

import json
import tracemalloc

from graphviz_tb.page.blocks import json_block


def test_words_are_json() -> None:
    for value in ([], ["a", "\ud800", 'x"\n', "한"], {"b": [1, None]}, [["a"], 2.5]):
        assert json.loads(bytes(json_block("w", value).data)) == value


def test_long_words_are_not_there_twice() -> None:
    texts = [f"{number}" * 1_000_000 for number in range(10)]
    tracemalloc.start()
    data = json_block("w", texts).data
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1.6 * len(data)
