"""The table of ops says of each rule in which family it is."""

from graphviz_tb.annotate.infer.rules import FAMILY_LOADERS
from graphviz_tb.ops.table import OP_LINES, op_row


def test_the_table_lists_the_rules_of_all_families_and_no_others() -> None:
    listed = {(each.shape, op) for op in OP_LINES if (each := op_row(op)) and each.shape.startswith("rule(")}
    families = {family: load()[family] for family, load in FAMILY_LOADERS.items()}
    assert listed == {(f"rule({family})", op) for family, rules in families.items() for op in rules}
