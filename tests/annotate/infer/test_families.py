"""The table of ops says of each rule in which module it is."""

from graphviz_tb.annotate.infer.rules import rules_of_module
from graphviz_tb.ops.table import OP_LINES, op_row


def test_the_table_lists_the_rules_of_all_modules_and_no_others() -> None:
    listed = {(each.shape, op) for op in OP_LINES if (each := op_row(op)) and each.shape.startswith("rule(")}
    modules = {name.removeprefix("rule(").removesuffix(")") for name, _ in listed}
    assert listed == {(f"rule({name})", op) for name in modules for op in rules_of_module(name)}
