"""Each stage makes of small inputs what was accepted; `make goldens` accepts anew, `git diff` shows what."""

from __future__ import annotations

from itertools import zip_longest

import pytest
from kept import KEPT, accepted, text_of

from tests.each import each
from tests.effort import part

LONG = {"transforms": 14, "edits": 10, "keras": 8, "ops": 8}  # stage → one input of so many
SHOWN = 5  # inputs whose first differing lines are shown


def check(stage: str, every: int = 5) -> None:
    """Compare some of the inputs of a stage; name all that differ."""
    some = part(KEPT[stage][1], LONG.get(stage, every))
    wrong = {name: line for name in some if (line := difference(stage, name))}
    lines = "\n".join(f"{name}, now, then accepted:\n{line}" for name, line in list(wrong.items())[:SHOWN])
    assert not wrong, f"{stage} of {len(wrong)} inputs differs: {', '.join(wrong)}\n{lines}"


def difference(stage: str, name: str) -> str:
    """The first lines that differ, the new one first; "" where none does."""
    new, old = text_of(stage, name).splitlines(), accepted(stage).get(name, "").splitlines()
    pairs = zip_longest(new, old, fillvalue="(nothing)")
    return next((f"{one}\n{other}" for one, other in pairs if one != other), "")


@pytest.mark.parametrize("stage", ["flatten"])
def test_flatten(stage: str) -> None:
    check(stage)


@pytest.mark.parametrize("stage", ["group"])
def test_group(stage: str) -> None:
    check(stage)


@pytest.mark.parametrize("stage", ["arrange"])
def test_arrange(stage: str) -> None:
    check(stage)


@pytest.mark.parametrize("stage", ["place"])
def test_place(stage: str) -> None:
    check(stage)


@pytest.mark.parametrize("stage", ["expand"])
def test_expand(stage: str) -> None:
    check(stage)


@pytest.mark.parametrize("stage", ["view", "opened", "names"])
def test_view(stage: str) -> None:
    check(stage)


@pytest.mark.parametrize("stage", ["color", "measured", "legends", "numbers"])
def test_color(stage: str) -> None:
    check(stage, every=3)


@pytest.mark.parametrize("stage", ["render", "signs", "writers", "documents"])
def test_render(stage: str) -> None:
    check(stage, every=1)


@pytest.mark.parametrize("stage", ["diff", "pairs", "transforms", "edits", "ops", "keras"])
def test_diff(stage: str) -> None:
    check(stage)


@each("stage", KEPT)
def test_nothing_is_kept_of_an_input_that_is_gone(stage: str) -> None:
    assert set(accepted(stage)) == set(KEPT[stage][1])
