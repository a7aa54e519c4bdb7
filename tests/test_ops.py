"""The table of op types."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from graphviz_tb import load
from graphviz_tb.annotate.costs import layers
from graphviz_tb.annotate.costs.formulas import _compile_formula as formula_rule
from graphviz_tb.annotate.costs.formulas import cost_rule
from graphviz_tb.annotate.costs.layers import CostStep, StepAsOp
from graphviz_tb.annotate.infer.op import Op
from graphviz_tb.annotate.infer.signatures import _compile_signature as signature_rule
from graphviz_tb.annotate.infer.signatures import shape_rule_for
from graphviz_tb.annotate.infer.symbols import Dims, Out, Symbols
from graphviz_tb.formats.pbtxt import parse
from graphviz_tb.keras import output_shapes, parameters
from graphviz_tb.model.layers import Layer, LayerCall
from graphviz_tb.ops import table
from graphviz_tb.ops.layers import LAYER_CLASSES, LayerRole, class_defaults, layer_row
from graphviz_tb.ops.roles import CONSTANT_OPS, OPS_BY_ROLE, VARIABLE_OPS, Role, has_role, is_elementwise, roles_of_op
from graphviz_tb.ops.signatures import input_names, op_def, weight_input_names
from graphviz_tb.ops.table import OP_LINES, OpRow, op_row, plain_op_name, read_table
from graphviz_tb.proto import AttrValue, NodeDef
from graphviz_tb.words.step_words import ACTIVATION_WORDS
from tests.each import each
from tests.op_types import op_types_with_costs, op_types_with_shape_rules

FORMULAS = [
    ("0", 0, 0),
    ("2*out", 0, 2 * 6),
    ("in0-out", 0, 8 - 6),
    ("out-in1", 0, 0),
    ("macs(out*inner)", 6 * 4, 2 * 6 * 4),
    ("macs(out*in1[:-1])+3*out", 6 * 4, 2 * 6 * 4 + 3 * 6),
    ("in1[1:]*attr(ksize)", 0, 3 * 25),
    ("in0*(inputs-1)+most", 0, 8 + 12),
]
# Each size that is not known is -1.
SIGNATURES = [
    ("same same(1)", [(2, 3), (4,)], [(2, 3), (4,)]),
    ("broadcast", [(2, 1), (3,)], [(2, 3)]),
    ("agree(0,1)", [(2, 3), None], [(2, 3)]),
    ("mk,kn -> mn", [(2, 3), (3, 4)], [(2, 4)]),
    ("mk^turned,kn^other -> mn", [(2, 3), (2, 4)], [(3, 4)]),
    ("mk,kn -> mn", [None, (3, 4)], [(-1, 4)]),
    ("...mk,...kn -> ...mn", [(7, 1, 2, 3), (5, 3, 4)], [(7, 5, 2, 4)]),
    ("...n -> ...nn [... 3]", [(2, 3)], [(2, 3, 3), (2, 3)]),
    ("...n -> ...", [None], [None]),
    ("[] [2 ? r0 @k #0.1] unknown", [(2,)], [(), (2, -1, 1, 7, 6), None]),
    ("target(0) none", [(2,)], [(5, 6)]),
    ("same*2 []*N", [(2,)], [(2,), (2,), (), ()]),
    ("as(Relu) []", [(2,)], [(2,), ()]),
]


def test_every_line_can_be_read() -> None:
    for op in OP_LINES:
        line = op_row(op)
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
    lines = list(read_table(Path(table.__file__).with_name("ops.tsv").read_text("utf-8")))
    patterns = [op for op in lines if "*" in op]
    types = [op for op in lines if "*" not in op]
    assert lines == patterns + sorted(types)


@each("op", ["relu", "add", "silu", "clamp", "dropout"])
def test_an_op_that_works_in_place_is_the_op_that_does_not(op: str) -> None:
    in_place, plain = f"aten::{op}_", f"aten::{op}"
    assert op_row(in_place) == op_row(plain) is not None
    assert is_elementwise(in_place) == is_elementwise(plain)
    assert [role for role in Role if (in_place in OPS_BY_ROLE[role]) != (plain in OPS_BY_ROLE[role])] == []


def test_every_role_is_used() -> None:
    assert [role for role in Role if not OPS_BY_ROLE[role]] == []


def test_random_numbers_cost_nothing_in_every_framework() -> None:
    drawn = OPS_BY_ROLE[Role.RANDOM]
    assert {"RandomStandardNormal", "aten::randn", "aten::randn_like", "onnx::RandomNormalLike"} <= drawn
    assert [op for op in drawn if (row := op_row(op)) is None or row.flops != "0"] == []


def test_types_that_are_not_listed_are_known_by_their_names() -> None:
    assert has_role("MyLibrary>BilateralGrad", Role.GRADIENT)
    assert has_role("ResourceApplyLamb", Role.UPDATE)
    assert not has_role("MyOp", *Role)
    # A line for the op itself counts alone: a transposed convolution is no gradient.
    assert has_role("Conv2DBackpropInput", Role.TRANSPOSED_CONVOLUTION)
    assert not has_role("Conv2DBackpropInput", Role.GRADIENT)


KNOWN = (roles_of_op, op_def, input_names, weight_input_names, shape_rule_for, cost_rule)


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, OpRow], None]]:
    """Adds a line to the table for one test."""

    def add(op: str, row: OpRow) -> None:
        monkeypatch.setitem(OP_LINES, op, "\t".join(row))
        forget()

    def forget() -> None:
        for known in KNOWN:
            known.cache_clear()

    yield add
    monkeypatch.undo()
    forget()


def test_an_op_is_added_by_one_line(line: Callable[[str, OpRow], None]) -> None:
    """Role, dtype, weight, shape and operations of a dense layer in one op, which no code names."""
    graph = parse(
        b"""node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
                   attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
            node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
                   attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } dim { size: 5 } }
                                                        float_val: 1 } } } }
            node { name: "y" op: "MyDense" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
            node { name: "z" op: "Relu" input: "y" attr { key: "T" value { type: DT_FLOAT } } }"""
    )
    before = load(graph)
    assert before.costs()["y"].uncounted == 1
    line("MyDense", OpRow("product", "1:kernel", "y:$T", "mk,kn -> mn", "macs(out*in1[:1])+out", '{"T":"float32"}'))
    model = load(graph)
    assert has_role("MyDense", Role.PRODUCT)
    assert weight_input_names("MyDense") == {1: "kernel"}
    assert model.shapes()["y", 0] == (2, 5)
    cost = model.costs()["y"]
    assert (cost.macs, cost.flops) == (2 * 5 * 3, 2 * 2 * 5 * 3 + 2 * 5)


def test_every_signature_and_formula_can_be_read() -> None:
    assert len(op_types_with_shape_rules()) > 800
    assert len(op_types_with_costs()) > 600


@each(("formula", "macs", "flops"), FORMULAS)
def test_formulas(formula: str, macs: int, flops: int) -> None:
    """Of an op with an output of 2×3 and inputs of 2×4 and 4×3."""
    step = CostStep("MyOp", [(2, 4), (4, 3)], (2, 3), {"ksize": [1, 5, 5, 1]})
    assert formula_rule(formula)(StepAsOp(step)) == (macs, flops)  # type: ignore[arg-type]


@each(("signature", "inputs", "outputs"), SIGNATURES)
def test_signatures(signature: str, inputs: Sequence[Dims], outputs: Sequence[Dims]) -> None:
    symbols = Symbols()
    node = NodeDef(op="MyOp", attr={"turned": AttrValue(b=True), "k": AttrValue(i=7), "N": AttrValue(i=2)})
    op = Op(node, [Out(shape, (5, 6)) for shape in inputs], symbols)
    shapes = [each.shape if isinstance(each, Out) else each for each in signature_rule(signature)(op)]
    assert [None if shape is None else tuple(max(size, -1) for size in shape) for shape in shapes] == outputs


def test_sets_hold_listed_types() -> None:
    assert {"Variable", "VariableV2", "VarHandleOp"} <= VARIABLE_OPS
    assert "Const" in CONSTANT_OPS
    assert VARIABLE_OPS.isdisjoint(CONSTANT_OPS)


def test_words_of_the_table_of_layers_are_rules() -> None:
    for kind in LAYER_CLASSES:
        row = layer_row(kind)
        assert set(row.roles.split()) <= set(LayerRole), kind
        assert row.shape in {"", *output_shapes.SHAPE_RULES}, kind
        assert row.parameters in {"", parameters.NO_PARAMETERS, *parameters.PARAMETER_RULES}, kind
        assert row.flops in {"", layers.MOVES_ONLY} or layers.layer_cost_rule(kind) is not None, kind
        class_defaults(kind)
    assert list(LAYER_CLASSES) == sorted(LAYER_CLASSES)


def test_a_layer_is_added_by_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that is as `Dense`: its shape, what it keeps, what it takes."""
    monkeypatch.setitem(LAYER_CLASSES, "MyDense", "\tdense\tdense\tdense")
    for remembered in (layer_row, layers.layer_cost_rule):
        remembered.cache_clear()
    assert output_shapes.layer_output_shapes("MyDense", {"units": 10}, [(None, 784)]) == [(None, 10)]
    assert parameters.parameter_count("MyDense", {"units": 10}, [(None, 784)]) == 784 * 10 + 10
    called = LayerCall(input_shapes=((None, 784),), output_shapes=((None, 10),))
    work = layers.layer_cost(Layer("MyDense", {"units": 10}, calls=(called,)), batch=1)
    assert work == (784 * 10, 2 * 784 * 10 + 10)
    for remembered in (layer_row, layers.layer_cost_rule):
        remembered.cache_clear()


def test_what_papers_call_an_activation_ends_a_layer() -> None:
    named = {op for op in OP_LINES if plain_op_name(op) in ACTIVATION_WORDS.keys() - {"softmax", "logsoftmax"}}
    assert {"Relu", "tfl::HARD_SWISH", "onnx::PRelu", "aten::gelu"} <= named
    assert not [op for op in named if not has_role(op, Role.ACTIVATION)]
