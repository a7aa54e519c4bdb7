"""Programs of `torch.export`: what is read of their JSON, and that nothing else is opened."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tbgraph
from graphviz_tb.errors import Ambiguous, ReadError, TbGraphError, TooLarge, UnknownFormat
from graphviz_tb.formats.torch_metadata import SizeNames, module_calls, source_lines
from graphviz_tb.model.interpretation import VariableUse
from graphviz_tb.proto import Event
from graphviz_tb.words.paper import PaperWords
from tests.each import each
from tests.serve.writing import Writer, record

EXPORTS = Path(__file__).parents[2] / "fixtures/exports"
TRUTH = json.loads((EXPORTS / "truth.json").read_text())


def load(name: str, **options: Any) -> Any:
    return tbgraph.load(EXPORTS / f"{name}.pt2", **options)


def total(model: Any) -> Any:
    costs = model.facts.cost()
    distinct, which = costs.distinct_totals(len(model.hierarchy))
    return distinct[which[0]]


def program(name: str) -> dict[str, Any]:
    with zipfile.ZipFile(EXPORTS / f"{name}.pt2") as archive:
        member = next(each for each in archive.namelist() if "models/" in each)
        return dict(json.loads(archive.read(member)))


def archive_of(parsed: Any, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as archive:
        archive.writestr("m/archive_format", "pt2")
        archive.writestr("m/models/model.json", parsed if isinstance(parsed, str) else json.dumps(parsed))
    return made.getvalue()


@each("name", sorted(TRUTH))
def test_parameters_are_those_that_pytorch_counts(name: str) -> None:
    assert total(load(name)).parameters == TRUTH[name]["parameters"]


def test_multiply_adds() -> None:
    # Of a transformer PyTorch counts no fused attention: 2 sequences, 6 × 6 scores of 32 numbers, twice, 3 blocks.
    assert total(load("transformer")).macs == TRUTH["transformer"]["counted_macs"] + 2 * 6 * 6 * 32 * 2 * 3
    assert total(load("convnet")).macs == TRUTH["convnet"]["counted_macs"]
    # An LSTM is 12 steps of four gates of 12 units, both ways, fed by 8, then by 24 numbers.
    assert total(load("reader")).macs == 2 * 6 * 4 * 12 * 2 * ((8 + 12) + (24 + 12))


def test_scopes_are_modules_and_calls() -> None:
    names = load("convnet").hierarchy.graph.name
    assert {"ConvNet/ReLU[act]/relu", "ConvNet/ReLU[act@2]/relu", "ConvNet/ReLU[act@3]/relu"} <= set(names)
    assert "Transformer/Block[blocks.0]/Attention[attn]/Linear[q]/linear" in load("transformer").hierarchy.graph.name


def test_names_with_separators() -> None:
    names = load("odd_names").hierarchy.graph.name
    assert {"MD/Linear[d.a∕b]/linear", "MD/Linear[d.x;y]/linear", "MD/Linear[d.p,q]/linear"} <= set(names)


@each("name", ["transformer", "old_layout"])
def test_tied_weights_are_one(name: str) -> None:
    graph = load(name).hierarchy.graph
    tied = [node for node in graph.graph_def.node if "_aliases" in node.attr]
    assert len(tied) == 1
    assert tied[0].attr["_variable"].s == b"embed.weight"
    assert tied[0].attr["_aliases"].list.s[0].endswith(b"head.weight")


@each("device", ["meta", "cpu"])
def test_weights_without_numbers_are_not_taken_for_one(device: str) -> None:
    """On the device `meta`, and of fake tensors, all weights are in one empty file: their use says what is tied."""
    made = io.BytesIO()
    with zipfile.ZipFile(EXPORTS / "transformer.pt2") as archive, zipfile.ZipFile(made, "w") as written:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("weights_config.json"):
                listed = json.loads(data)
                for held in listed["config"].values():
                    held["path_name"], held["tensor_meta"]["device"]["type"] = "weight_0", device
                data = json.dumps(listed).encode()
                written.writestr(f"{name.rpartition('/')[0]}/weight_0", b"")
            written.writestr(name, data)
    assert total(tbgraph.load(made.getvalue())).parameters == TRUTH["transformer"]["parameters"]


def test_buffers_are_no_parameters() -> None:
    uses = {each.name: each.use for each in load("convnet").hierarchy.graph.meaning.variables()}
    assert uses["bn.running_mean"] == uses["bn.running_var"] == VariableUse.BUFFER
    assert uses["bn.weight"] == VariableUse.PARAMETER
    assert [notice.code for notice in load("convnet").notices] == ["unused-buffer"]


def test_sizes_have_names() -> None:
    model = load("dynamic")
    outline = model.picture().svg()
    assert "batch×s0×32" in outline
    assert total(load("transformer")).parameters == total(model).parameters


def test_second_lines() -> None:
    said = {}
    for name in ("transformer", "convnet", "reader"):
        hierarchy = load(name).hierarchy
        words = PaperWords(hierarchy)
        said |= {hierarchy.name[row]: words.words_of_row(row) for row in range(len(hierarchy))}
    assert said["Transformer/Block[blocks.0]/Attention[attn]"] == "4 heads, 2 kv × 8"
    assert said["Transformer/Block[blocks.0]/Sequential[mlp]"] == "32 → 64 → 32, GELU"
    assert said["Transformer/Embedding[embed]"] == "96 × 32 · shared weights"
    assert said["ConvNet/Conv2d[stem]"] == "7×7, 8, /2"
    assert said["ConvNet/Conv2d[depth]"] == "dw 3×3"
    assert said["ConvNet/ConvTranspose2d[up]"] == "2×2, 8, ↑2"
    assert said["ConvNet/MaxPool2d[pool]"] == "max 2×2, /2"
    assert said["Reader/LSTM[lstm]"] == "bi LSTM 2 × 12, 2 layers"


def test_control_flow_opens() -> None:
    graph = load("branches").hierarchy.graph
    calls = {(graph.op_types[graph.op[call.node]], call.attr) for call in graph.calls}
    assert {attr for op, attr in calls if op == "higher_order::cond"} == {"then_branch", "else_branch"}
    assert {attr for op, attr in calls if op == "higher_order::while_loop"} == {"cond", "body"}
    # The block without gradients is opened in place, the weights of a branch are in it.
    assert "Branches/Linear[a]/linear" in graph.name
    assert not any("set_grad" in op for op in graph.op_types)
    inside = {name for node, name in enumerate(graph.name) if graph.function[node] >= 0}
    assert {"b.weight", "linear"} <= inside


def test_outputs_and_small_constants() -> None:
    graph = load("branches").hierarchy.graph
    assert [graph.name[node] for node in range(len(graph)) if graph.op_types[graph.op[node]] == "_Retval"] == [
        "result",
        "other",
    ]
    constant = next(node for node in graph.graph_def.node if node.op == "Const")
    assert len(constant.attr["value"].tensor.tensor_content) in (0, 16)


def test_lines_of_source_are_found() -> None:
    model = load("transformer")
    place = model.hierarchy.graph.graph_def.node[-2].attr["_source"].list.s[-1].decode().partition(" ")[0]
    assert place.startswith("torch_exports.py:")
    assert model.find(f"source:{place}").names
    assert not model.find(f"source:{place}0").names
    assert not any(b"/" in line.partition(b" ")[0] for node in model.hierarchy.graph.graph_def.node
                   for line in (node.attr["_source"].list.s if "_source" in node.attr else ()))  # fmt: skip


@each("name", ["strict", "transformer"])
def test_another_export_of_one_model_is_the_same(name: str) -> None:
    found = tbgraph.diff(EXPORTS / "transformer.pt2", EXPORTS / f"{name}.pt2")
    assert not list(found)


def test_an_edit_is_said_in_the_words_of_the_program() -> None:
    found = tbgraph.diff(EXPORTS / "transformer.pt2", EXPORTS / "wider.pt2")
    said = {(change.detail.get("key"), change.detail.get("old"), change.detail.get("new")) for change in found}
    assert said == {("units", "64", "80")}


def test_several_programs_are_chosen_by_tag() -> None:
    with pytest.raises(Ambiguous, match="enc"):
        load("two_programs")
    assert "LSTMNet" in load("two_programs", tag="dec").hierarchy.name[2]


def test_a_program_in_a_log_directory(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/model.pt2").write_bytes((EXPORTS / "transformer.pt2").read_bytes())
    assert total(tbgraph.load(tmp_path)).parameters == TRUTH["transformer"]["parameters"]
    # A run of events alone has no program of another run.
    (tmp_path / "train").mkdir()
    Writer(tmp_path / "train").raw(record(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString()))
    with pytest.raises(ReadError):
        tbgraph.load(tmp_path, run="train")
    assert total(tbgraph.load(tmp_path, run="run")).parameters == TRUTH["transformer"]["parameters"]


# Texts of metadata.


def test_stacks_of_modules() -> None:
    stack = "L__self__,,m.Net;L__self__d.a;b,d.a;b,torch.nn.Linear;L__self__x,x,torch.hooks.my_hook"
    assert [(call.path, call.class_name) for call in module_calls(stack)] == [
        ("", "Net"),
        ("d.a;b", "Linear"),
    ]
    # Strict exports: keys are numbers, equal in each call.
    assert [call.key for call in module_calls("1,,m.Net;23,fc,torch.nn.Linear")] == [None, None]


def test_lines_of_libraries_are_left_out() -> None:
    trace = 'File "/home/me/m.py", line 4, in forward\n    x = self.a(x)\n  File "/lib/torch/nn/modules/linear.py", line 9, in forward\n    return F'  # noqa: E501
    assert source_lines(trace) == ("m.py:4 x = self.a(x)",)


def test_expressions_of_sizes() -> None:
    names = SizeNames()
    names.name_input_size({"as_expr": {"expr_str": "Symbol('s77', integer=True)"}}, 0)

    def size(text: str) -> object:
        return names.size_of({"as_expr": {"expr_str": text}})

    assert size("Symbol('s77', integer=True)") == "batch"
    assert size("Mul(Integer(4), Symbol('s12'))") == "4·s0"
    assert size("Add(Symbol('s12'), Integer(-1))") == "s0-1"
    assert size("FloorDiv(Add(Symbol('s12'), Integer(1)), Integer(2))") == "(s0+1)//2"
    assert size("Integer(7)") == 7
    assert size("(" * 300) is None


# Damaged, hostile, too new.


def test_a_newer_layout_is_refused() -> None:
    parsed = program("reader")
    parsed["schema_version"] = {"major": 99, "minor": 0}
    with pytest.raises(UnknownFormat, match=r"newer torch\.export"):
        tbgraph.load(archive_of(parsed))


def test_a_compiled_program_is_refused() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("m/archive_format", "pt2")
        archive.writestr("m/data/aotinductor/model/x.so", b"")
    with pytest.raises(UnknownFormat, match="compiled"):
        tbgraph.load(made.getvalue())


@each("parsed", ["[]", "{}", '{"graph_module": 3}', '{"graph_module": {"graph": []}}', "{", "[" * 700 + "]" * 700])
def test_other_json_is_refused(parsed: str) -> None:
    with pytest.raises(ReadError):
        tbgraph.load(archive_of(parsed))


def test_a_bomb_is_refused() -> None:
    with pytest.raises(TooLarge):
        tbgraph.load(archive_of("[" + "0," * 30_000_000 + "0]"))


def _mangled(value: Any, change: Any) -> Any:
    if isinstance(value, dict):
        return {key: change(_mangled(held, change)) for key, held in value.items()}
    return [change(_mangled(held, change)) for held in value] if isinstance(value, list) else value


@each("wrong", [None, 7, "x", [], {}, [None], {"as_tensor": 3}, -(2**70)])
def test_wrong_kinds_of_values_are_no_traceback(wrong: Any) -> None:
    # Every seventh value of the JSON, beginning at each of seven, is something else.
    for start in range(7):
        count = iter(range(start, 10**9))
        parsed = _mangled(program("branches"), lambda held: wrong if next(count) % 7 == 0 else held)  # noqa: B023
        with suppress(TbGraphError):
            tbgraph.load(archive_of(parsed)).picture()


def test_nested_bodies_have_a_limit() -> None:
    parsed = program("branches")
    graph: dict[str, Any] = {"nodes": [], "inputs": [], "outputs": [], "tensor_values": {}}
    for _ in range(60):
        call = {"target": "torch.ops.higher_order.cond", "outputs": [],
                "inputs": [{"name": "", "arg": {"as_graph": {"name": "g", "graph": graph}}}]}  # fmt: skip
        graph = {"nodes": [call], "inputs": [], "outputs": [], "tensor_values": {}}
    parsed["graph_module"]["graph"] = graph
    with pytest.raises(ReadError):
        tbgraph.load(archive_of(parsed))


def test_a_cycle_and_names_of_a_megabyte() -> None:
    parsed = program("reader")
    nodes = parsed["graph_module"]["graph"]["nodes"]
    last = program("reader")["graph_module"]["signature"]["output_specs"][0]["user_output"]["arg"]
    nodes[0]["inputs"].append({"name": "more", "arg": last})
    nodes[0]["metadata"]["nn_module_stack"] = "L__self__,," + "N" * 1_000_000
    nodes[1]["target"] = "torch.ops.aten." + "x" * 1_000_000
    assert tbgraph.load(archive_of(parsed, zipfile.ZIP_STORED)).hierarchy


def test_indices_that_nothing_takes_are_left_out() -> None:
    parsed = program("convnet")
    graph = parsed["graph_module"]["graph"]
    meta = {"dtype": 5, "sizes": [{"as_int": 4}], "requires_grad": False}
    for name, before in (("steps", None), ("row", "steps")):
        graph["tensor_values"][name] = meta
        given = [{"name": "self", "arg": {"as_tensor": {"name": before}}}] if before else []
        target = "torch.ops.aten.unsqueeze.default" if before else "torch.ops.aten.arange.default"
        node = {"target": target, "inputs": given, "outputs": [{"as_tensor": {"name": name}}], "metadata": {}}
        graph["nodes"].append(node)
    plain, more = (tbgraph.load(archive_of(each)) for each in (program("convnet"), parsed))
    assert sorted(more.hierarchy.name) == sorted(plain.hierarchy.name)
    assert more.loaded.left_out == plain.loaded.left_out + 2
