"""A group that looks as it did in an earlier picture keeps its frame, and the picture is the one made from nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_geometry_random import graphs

import graphviz_tb
from graphviz_tb.api.layout import _draft_picture
from graphviz_tb.open.groups import open_groups
from graphviz_tb.options import PictureOptions
from graphviz_tb.place import FrameCache, picture
from tests.effort import part

REAL = Path(__file__).parents[2] / "fixtures" / "real"


def pictures(model: graphviz_tb.Model, options: list[PictureOptions]) -> list[tuple[object, object]]:
    """The scene of each choice of open groups, with the frames of those before it and without."""
    frames, made = FrameCache(), []
    for one in options:
        opened, _ = open_groups(model.hierarchy, model.metagraph, one, model.names)
        kept, fresh = (
            replace(_draft_picture(model, one, lambda path: None, opened), frames=cache).lay_out(opened).scene
            for cache in (frames, FrameCache())
        )
        made.append((kept, fresh))
    return made


@pytest.mark.parametrize(
    "name", part(["gan_scopes.pb", "lstm_dynamic_rnn.pb", "func_library_v2.pb", "transformer_block_v2.pb"], 3)
)
def test_earlier_frames_change_no_picture(name: str) -> None:
    model = graphviz_tb.load(REAL / name)
    for kept, fresh in pictures(model, [PictureOptions(depth=depth) for depth in (1, 3, 2, 0, 3)]):
        assert kept == fresh


@given(graphs(), st.lists(st.integers(0, 3), min_size=2, max_size=3), st.sampled_from(["BT", "LR"]))
def test_nor_of_any_graph(data: bytes, depths: list[int], direction: str) -> None:
    model = graphviz_tb.load(data)
    for kept, fresh in pictures(model, [PictureOptions(depth=depth, direction=direction) for depth in depths]):
        assert kept == fresh


def test_only_what_changed_is_laid_out_again() -> None:
    model = graphviz_tb.load(REAL / "gan_scopes.pb")
    all_open = list(open_groups(model.hierarchy, model.metagraph, PictureOptions(depth=9), model.names)[0])
    deepest = max(all_open, key=lambda path: int(model.hierarchy.depth[path[-1]]))
    without = dict.fromkeys(path for path in all_open if path != deepest)
    frames = FrameCache()
    with patch.object(picture, "lay_out_frame", wraps=picture.lay_out_frame) as frame:
        counts = []
        for opened in (dict.fromkeys(all_open), without, without):
            frame.reset_mock()
            draft = _draft_picture(model, PictureOptions(), lambda path: None, opened)
            replace(draft, frames=frames).lay_out(opened)
            counts.append(frame.call_count)
    assert counts[0] > 20
    assert counts[1] <= counts[0] // 4
    assert counts[2] == 0
    assert all(one > two for one, two in pairwise(counts))
