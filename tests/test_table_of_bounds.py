"""The table of bounds: each is used, each says what happens beyond it, and a meter counts against one."""

from __future__ import annotations

import re
from pathlib import Path

from graphviz_tb.limits import Meter, _all_limits

PACKAGE = Path(__file__).parents[1] / "graphviz_tb"


def test_every_bound_is_used_and_described() -> None:
    used = {
        name
        for path in PACKAGE.rglob("*.py")
        if path.name != "limits.py" or path.parent != PACKAGE
        for name in re.findall(r"\b[A-Z][A-Z0-9_]+\b", path.read_text(encoding="utf-8"))
    }
    limits = _all_limits()
    assert limits.keys() <= used, sorted(limits.keys() - used)
    assert [name for name, limit in limits.items() if not (limit.stage and limit.bounds and limit.beyond)] == []


def test_a_bound_is_a_number() -> None:
    assert all(limit > 0 and f"{limit:,}".replace(",", "").isdigit() for limit in _all_limits().values())


def test_a_meter_is_spent_when_more_is_taken_than_there_was() -> None:
    meter = Meter(2)
    assert [meter.take(), meter.take(), meter.spent] == [True, True, False]
    assert (meter.take(), meter.spent) == (False, True)
