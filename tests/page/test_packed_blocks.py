"""Blocks of a page are the same bytes whatever system or Python packed them."""

from __future__ import annotations

import gzip
from base64 import b64decode

from graphviz_tb.page.blocks import ints_block


def test_a_packed_block_says_no_time_and_no_system() -> None:
    block = ints_block("numbers", range(100))
    packed = b64decode(block.base64_text)
    assert gzip.decompress(packed) == block.data
    assert packed[4:10] == bytes(4) + packed[8:9] + b"\xff"  # RFC 1952: the time is 0, the system unknown
