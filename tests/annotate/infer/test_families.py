"""The table of ops says of each rule in which module it is."""

from importlib import import_module
from pathlib import Path

from graphviz_tb.annotate.infer import rules
from graphviz_tb.ops.table import LINES, row

NO_FAMILIES = {"__init__", "common", "folds"}


def test_the_table_lists_the_rules_of_all_modules_and_no_others() -> None:
    listed = {(each.shape, op) for op in LINES if (each := row(op)) and each.shape.startswith("rule(")}
    families = {path.stem for path in Path(rules.__file__).parent.glob("*.py")} - NO_FAMILIES
    modules = {family: import_module(f"{rules.__name__}.{family}") for family in families}
    assert listed == {(f"rule({family})", op) for family, module in modules.items() for op in module.RULES}
