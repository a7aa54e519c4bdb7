"""The goldens are as they were accepted; `python tests/golden/goldens.py` shows old beside new."""

from __future__ import annotations

from goldens import CASES, HERE, Case, changed

from tests.each import each

STAGE = {"metagraph.json": "expand", "scene.json": "arrange or place", "svg": "color or render"}


@each("case", CASES, ids=lambda case: case.name)
def test_the_picture_is_the_one_that_was_accepted(case: Case) -> None:
    found = changed(case)
    first = next(iter(found), "")
    stage = next((stage for end, stage in STAGE.items() if first.endswith(end)), "")
    assert not found, f"{first} differs first: look at {stage}; see python tests/golden/goldens.py"


def test_no_golden_without_a_case() -> None:
    names = {case.name for case in CASES}
    kept = {path.name.split(".")[0] for path in HERE.glob("*.*") if path.suffix in (".json", ".svg")}
    assert kept <= names
