"""Each stage makes of small inputs what was accepted; `make goldens` accepts anew, `git diff` shows what."""

from __future__ import annotations

import pytest
from kept import KEPT, accepted, text_of


def both(*stages: str) -> list[tuple[str, str]]:
    """The stages with the names of their inputs."""
    return [(stage, name) for stage in stages for name in KEPT[stage][1]]


def check(stage: str, name: str) -> None:
    new, old = text_of(stage, name).splitlines(), accepted(stage).get(name, "").splitlines()
    first = next((pair for pair in zip(new, old, strict=False) if pair[0] != pair[1]), (len(new), len(old)))
    assert new == old, f"{stage} of {name} differs; now, then accepted:\n{first[0]}\n{first[1]}"


@pytest.mark.parametrize(("stage", "name"), both("flatten", "programs"))
def test_flatten(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(("stage", "name"), both("group", "networks", "models", "sequences", "boxes", "rows"))
def test_group(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(("stage", "name"), both("arrange", "orders", "levels", "broad"))
def test_arrange(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(("stage", "name"), both("place", "places", "scenes", "coordinates", "beside", "tracks"))
def test_place(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(("stage", "name"), both("expand", "bodies", "masks"))
def test_expand(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(
    ("stage", "name"), both("view", "opened", "firsts", "growing", "names", "openings", "patterns")
)
def test_view(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(
    ("stage", "name"), both("color", "measured", "legends", "hues", "paints", "stripes", "costs", "numbers")
)
def test_color(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(
    ("stage", "name"), both("render", "signs", "drawings", "writers", "sheets", "columns", "rasters", "documents")
)
def test_render(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize(("stage", "name"), both("diff", "pairs", "transforms", "edits", "rooms", "ops", "keras"))
def test_diff(stage: str, name: str) -> None:
    check(stage, name)


@pytest.mark.parametrize("stage", KEPT)
def test_nothing_is_kept_of_an_input_that_is_gone(stage: str) -> None:
    assert set(accepted(stage)) == set(KEPT[stage][1])
