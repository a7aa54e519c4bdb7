"""A diff counts ops, parameters and operations as `info` does, of every input that is here."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb import load
from graphviz_tb.diff import diff
from graphviz_tb.errors import TbGraphError
from tests.each import each
from tests.effort import part

ROOT = Path(__file__).parents[2] / "fixtures"
LARGEST = 1_000_000  # bytes
BAD = ("broken", "crashers")
INPUTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.rglob("*")
    if path.is_file() and path.stat().st_size < LARGEST and path.suffix not in (".md", ".py", ".txt", ".toml")
)


@each("name", part((name for name in INPUTS if not name.startswith(BAD)), 30))
def test_totals_are_those_of_info(name: str) -> None:
    try:
        model = load(ROOT / name)
    except TbGraphError:  # several graphs, statistics, values of a log
        return
    cost, changes = model.cost.under(0), diff(model, model)
    unknown = not cost.parameters and (cost.is_lower_bound("parameters") or model.hierarchy.graph.lacks_weight_shapes)
    parameters = None if unknown else cost.parameters
    counted = {"ops": model.hierarchy.op_count(0), "parameters": parameters, "flops": cost.flops}
    assert changes.numbers == {word: (count, count) for word, count in counted.items()}
    assert changes.at_least == {word for word, count in counted.items() if count is not None} & {*cost.lower_bounds()}
