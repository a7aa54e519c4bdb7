"""Exported programs that were made to take long or to fail: sizes, names and lists that only hostile files have."""

from __future__ import annotations

from graphviz_tb.formats.exported import ModuleCall, ProgramBuilder, ScopeNames
from graphviz_tb.formats.onnx_messages import Entry, NodeValue, TensorValue
from graphviz_tb.formats.onnx_scopes import place_of_node
from graphviz_tb.formats.torch_metadata import SizeNames, module_calls


def test_a_size_with_two_signs_is_an_expression() -> None:
    assert SizeNames().size_of({"as_expr": {"expr_str": "--5"}}) == "--5"


def test_a_stack_of_repeated_keys_is_no_module() -> None:
    assert module_calls("L__self__," * 1990, frozenset()) == ()


def test_bodies_of_one_name_have_numbers() -> None:
    builder = ProgramBuilder()
    assert [builder.begin_body("f") for _ in range(20_000)][-1] == "f_20000"


def test_a_weight_of_many_parts_keeps_its_name() -> None:
    names = ScopeNames()
    names.scope_name([ModuleCall("a", "Net")])
    assert names.scope_of_weight("a." * 100_000 + "w")[0] == "Net[a]"


def test_a_tensor_of_too_many_dimensions_has_no_content() -> None:
    assert TensorValue(dims=(2**62,) * 100_000, data_type=1, raw_data=b"abc").content() is None


def test_texts_without_an_end_are_read_once() -> None:
    entry = Entry("pkg.torch.onnx.name_scopes", "'" + "\\'" * 9_900)
    assert not place_of_node(NodeValue(op_type="Relu", metadata=(entry,))).modules
