"""The table of op types."""

from __future__ import annotations

import json

import pytest

from graphviz_tb.ops.inputs import input_names, weight_names
from graphviz_tb.ops.outputs import op_def
from graphviz_tb.ops.roles import CONSTANTS, TYPES, VARIABLES, Role, has_role, roles
from graphviz_tb.ops.table import LINES, TableRow, row


def test_every_line_can_be_read() -> None:
    for op in LINES:
        line = row(op)
        assert line is not None
        assert set(line.roles.split()) <= set(Role), op
        assert all(name for name in input_names(op).values()), op
        if line.defaults:
            json.loads(line.defaults)
        if line.outputs == "?":
            assert op_def(op) is None
        else:
            assert op_def(op) is not None


def test_lines_are_in_order() -> None:
    """Patterns first: the first that matches counts; then types by name, each once."""
    patterns = [op for op in LINES if "*" in op]
    types = [op for op in LINES if "*" not in op]
    assert list(LINES) == patterns + sorted(types)


def test_every_role_is_used() -> None:
    assert [role for role in Role if not TYPES[role]] == []


def test_types_that_are_not_listed_are_known_by_their_names() -> None:
    assert has_role("MyLibrary>BilateralGrad", Role.GRADIENT)
    assert has_role("ResourceApplyLamb", Role.UPDATE)
    assert not has_role("MyOp", *Role)
    # A line for the op itself counts alone: a transposed convolution is no gradient.
    assert has_role("Conv2DBackpropInput", Role.TRANSPOSED_CONVOLUTION)
    assert not has_role("Conv2DBackpropInput", Role.GRADIENT)


def test_a_line_makes_a_type_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        LINES, "MyDense", "\t".join(TableRow("product", "1:kernel", "y:$T", defaults='{"T":"float32"}'))
    )
    roles.cache_clear()
    definition = op_def("MyDense")
    assert has_role("MyDense", Role.PRODUCT)
    assert weight_names("MyDense") == {1: "kernel"}
    assert definition is not None
    assert definition.outputs[0].attr == "T"
    for known in (roles, op_def, weight_names, input_names):
        known.cache_clear()


def test_sets_hold_listed_types() -> None:
    assert {"Variable", "VariableV2", "VarHandleOp"} <= VARIABLES
    assert "Const" in CONSTANTS
    assert VARIABLES.isdisjoint(CONSTANTS)
