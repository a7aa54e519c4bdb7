"""Profiles in one file: the steps that fit, whole or thinned, with what is left out said."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np

from graphviz_tb import load
from graphviz_tb.annotate.step_profile import build_profile
from graphviz_tb.page.profile import MAX_WHOLE_SLICES, pack_profiles
from tests.annotate.traces import CPU, entry, graph_of, trace_of
from tests.serve.serving import columns

FIXTURES = Path(__file__).parents[2] / "fixtures"
BLOCK = re.compile(rb'data-block="(log/profile[^"]*)"[^>]*>([^<]*)<')


def blocks(page: bytes) -> dict[str, bytes]:
    """The blocks of profiles in a page, unpacked."""
    return {name.decode(): gzip.decompress(b64decode(data)) for name, data in BLOCK.findall(page)}


def test_a_log_has_its_traced_steps_in_its_page() -> None:
    model = load(FIXTURES / "logdirs/mnist_runs", run="train")
    page = model.render("html")
    held = blocks(page)
    listed = json.loads(held["log/profile"])
    assert [one["tag"] for one in listed["profiles"]] == ["step002", "step004"]
    assert listed["left"] == 0
    told = json.loads(held["log/profile/1"])
    assert sum(told["tables"]["ops"]["self"]) == told["whole"] + told["unmatched"]
    _, column = columns(held["log/profile/1/slices"])
    assert int(np.sum(column["count"])) == told["slices"] == len(column["row"])
    assert page == load(FIXTURES / "logdirs/mnist_runs", run="train").render("html")


def test_a_graph_with_a_trace_has_its_profile_and_one_without_has_none() -> None:
    graph = FIXTURES / "real/mnist_cnn.pbtxt"
    trace = str(FIXTURES / "run_metadata/mnist_cnn_step099.pb")
    assert [
        one["tag"]
        for one in json.loads(blocks(load(graph, run_metadata=(trace,)).render("html"))["log/profile"])["profiles"]
    ] == ["mnist_cnn_step099.pb"]
    assert not blocks(load(graph).render("html"))


def test_what_does_not_fit_is_counted_and_what_is_long_is_thinned() -> None:
    hierarchy = graph_of("a")
    short = build_profile(hierarchy, trace_of({CPU: [entry("a", 10 * at, 5) for at in range(50)]}))
    made: dict[str, Any] = {str(number): lambda: short for number in range(3)}
    part = pack_profiles(made, 10**6)
    assert (part.count, part.left) == (3, 0)
    size = sum(len(block.base64_text) for block in part.blocks[1:])
    few = pack_profiles(made, size // 2)
    assert (few.count, few.left) == (1, 2)
    assert json.loads(few.blocks[0].data)["left"] == 2
    long = build_profile(hierarchy, trace_of({CPU: [entry("a", 2 * at, 1) for at in range(MAX_WHOLE_SLICES + 10)]}))
    one = pack_profiles({"x": lambda: long}, 10**8)
    told = json.loads(one.blocks[1].data)
    _, column = columns(bytes(one.blocks[2].data))
    assert told["thinned"] == len(column["row"]) < told["slices"] == int(np.sum(column["count"]))
