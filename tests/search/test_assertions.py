"""Assertions about a model: what passes, what fails with its reason, and what is not decided by what is known."""

from __future__ import annotations

import gc
import io
import json
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.commands import _run_command_line
from graphviz_tb.commands.check import _read_assertion_lines
from graphviz_tb.errors import MalformedAssertion, MissingFacts, RequestError
from graphviz_tb.proto import GraphDef
from tests.each import each

FIXTURES = Path(__file__).parents[2] / "fixtures"
MNIST = FIXTURES / "real" / "mnist_cnn.pbtxt"


@pytest.fixture(scope="module")
def mnist() -> graphviz_tb.Model:
    return graphviz_tb.load(MNIST)


# Assertion about `mnist` → its state. It has 7,370 parameters; 14 of its ops are not counted in 1,626,701 FLOPs.
STATES = {
    "params < 5M": "passed",
    "params == 7370": "passed",
    "PARAMS = 7.37k": "passed",
    "params != 7370": "failed",
    "params >= 7371": "failed",
    "weights <= 29480": "passed",
    "weights <= 28KiB": "failed",
    "ops <= 271": "passed",
    "count(op:Conv2D) == 2": "passed",
    "count(op:Conv2D)>2": "failed",
    "count(op:Cast or op:Conv2D) < 4": "passed",
    'count("(nowhere) < 3") == 0': "passed",
    "params(conv1 or name:conv1/weights or name:conv2) == 912": "passed",  # no part twice: 104 and 808
    "flops > 1M": "passed",  # whatever is not counted, it is more
    "flops < 1M": "failed",
    "flops < 1G": "unknown",
    "flops == 1626701": "unknown",
    "flops != 1": "passed",
    "flops(conv1) < 1G": "passed",
    "count(flops>100k) >= 20": "passed",
    "count(flops>100k) >= 30": "unknown",
    "count(flops>100k) < 20": "failed",
    "count(op:Sub name:dropout not flops>1k) == 0": "unknown",
}


@each("text", STATES)
def test_an_assertion_passes_only_where_it_holds_for_certain(text: str, mnist: graphviz_tb.Model) -> None:
    checked = mnist.check(text)
    assert checked[0].state == STATES[text], checked
    assert bool(checked) is (STATES[text] == "passed")


def test_what_is_counted_decides_where_that_is_wanted(mnist: graphviz_tb.Model) -> None:
    assert mnist.check("flops < 1G", ignore_unknown=True)
    assert not mnist.check("flops < 1M", ignore_unknown=True)
    assert mnist.check("count(flops>100k) == 20", ignore_unknown=True)


def test_the_reasons_are_named(mnist: graphviz_tb.Model) -> None:
    cast, cheap, unknown = mnist.check("count(op:Cast) == 0", "params < 5k", "flops < 1G")
    assert cast.nodes.names == ["accuracy/accuracy/Cast"]
    assert cheap.nodes[0].parameters == max(node.parameters for node in mnist.nodes)  # the most costly first
    assert (unknown.why, len(unknown.nodes)) == ("14 ops whose operations are not counted", 14)
    assert all(node.cost.is_lower_bound("flops") for node in unknown.nodes)
    assert mnist.check("count(op:Conv2D) > 2")[0].nodes.names == []  # too few: none is to blame


def test_the_bodies_of_functions_are_searched() -> None:
    nested = graphviz_tb.load(FIXTURES / "real" / "func_library_nested.pb")
    assert not nested.find("op:Mul")
    checked = nested.check("count(op:Mul) == 0", "flops(op:Mul) < 1G")
    assert [each.state for each in checked] == ["failed", "unknown"]
    assert "__inference_leaf_16::scope_in_fn/mul" in repr(checked)
    assert "in functions, which run once for each call" in repr(checked)


def test_times_need_statistics(mnist: graphviz_tb.Model) -> None:
    with pytest.raises(MissingFacts, match="no run statistics"):
        mnist.check("time < 5ms")
    traced = graphviz_tb.load(MNIST, run_metadata=[str(FIXTURES / "run_metadata/mnist_cnn_step099.pb")])
    assert traced.check("time < 60s", "time(op:Reshape) > 1us", "memory > 1KB")
    fused = traced.check("time(op:Conv2D) < 1s")[0]  # the trace has them under another name
    assert (fused.state, fused.why) == ("unknown", "nothing of it was measured")
    slow = traced.check("time < 1us")[0]
    assert slow.state == "failed"
    assert slow.nodes[0].time == max(node.time or 0 for node in traced.nodes)


# Assertion → the letters before the place where it cannot be read, and what is wrong there.
WRONG = {
    "": (0, "a quantity is missing"),
    "   ": (0, "a quantity is missing"),
    "op:Cast == 0": (0, "unknown quantity 'op'"),
    "not op:Cast": (0, "unknown quantity 'not'"),
    "parms < 5M": (0, "unknown quantity 'parms'"),
    "params": (6, "a comparison is missing"),
    "params 5M": (7, "a comparison is missing"),
    "params <": (8, "a number is missing"),
    "params < -1": (9, "a number is missing"),
    "params < 5Q": (10, "'Q' is not a unit"),
    "params < 5 and flops < 1": (11, "the assertion should end here"),
    "params < 1e6": (10, "'e' is not a unit"),
    "count < 3": (6, "count takes a query"),
    "count(op:a": (5, "a ( is not closed"),
    "count(op:a or) == 3": (6, "a word is missing"),
    "count() == 3": (6, "nothing to look for"),
    "count(op:a) = = 0": (14, "a number is missing"),
    "count(sizes>3) == 0": (6, "nothing to compare is called 'sizes'"),
}


@each("text", WRONG)
def test_what_cannot_be_read_is_marked(text: str, mnist: graphviz_tb.Model) -> None:
    place, what = WRONG[text]
    with pytest.raises(MalformedAssertion, match=r"missing|nothing|unknown|unit|closed|takes|end") as caught:
        mnist.check(text)
    message = caught.value.message.splitlines()
    assert (caught.value.column, message[0].startswith(what)) == (place, True), caught.value.message
    assert message[2].index("^") == place + 2
    assert caught.value.hint


def check(*words: object) -> int:
    return _run_command_line(["check", *map(str, words)])


def test_the_command_says_what_was_asked_and_found(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "--assert", "count(op:Conv2D) == 0", "--assert", "params < 5M", "--assert", "flops < 1G"
    assert check(MNIST, *asked, "--top", 1) == 1
    assert capsys.readouterr().out.splitlines() == [
        "✗ count(op:Conv2D) == 0: 2 found",
        "    conv1/Wx_plus_b/Conv2D, … 1 more",
        "✓ params < 5M: 7,370",
        "? flops < 1G: at least 1,626,701",
        "    not known: 14 ops whose operations are not counted",
        "    dropout/sub, … 13 more",
        "1 of 3 assertions passed; 1 failed; 1 unknown",
    ]
    assert check(MNIST, "--assert", "params<5M", "-q") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("models_are_kept")
def test_several_models_a_file_of_assertions_and_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    listed = tmp_path / "model.assertions"
    listed.write_text("# a budget\n\nparams < 5M\ncount(op:Conv2D) < 3  \n")
    assert check(MNIST, FIXTURES / "real/xor.pbtxt", "--assert-file", listed) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(":")] == [f"{MNIST}:", f"{FIXTURES / 'real/xor.pbtxt'}:"]
    assert check(MNIST, "--assert-file", listed, "--assert", "flops<1G", "--json", "-q") == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["format"], document["version"], document["passed"]) == ("tbgraph-check", 1, False)
    first = document["models"][0]["assertions"][0]
    assert (first["assertion"], first["state"], first["value"], first["most"]) == ("flops<1G", "unknown", 1626701, None)
    assert (first["count"], len(first["nodes"])) == (14, 5)


def kept_objects() -> int:
    """How many objects there are that refer to others."""
    gc.collect()
    return gc.get_freeze_count() + len(gc.get_objects())


@pytest.mark.slow
def test_models_that_were_checked_are_let_go() -> None:
    several = [*[MNIST] * 4, "--assert", "ops > 1", "-q"]
    check(*several)
    before = kept_objects()
    check(*several)
    assert kept_objects() - before < 100


@pytest.mark.usefixtures("models_are_kept")
def test_of_several_models_one_that_cannot_be_read_stops_no_other(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pb"
    broken.write_bytes(b"\x0a\xff")
    assert check(broken, MNIST, "--assert", "params<5M", "--json") == 3
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert not document["passed"]
    assert [one["passed"] for one in document["models"]] == [False, True]
    assert document["models"][0]["error"]
    assert document["models"][0]["label"] == str(broken)
    assert "broken.pb" in err
    assert check(broken, MNIST, "--assert", "params<5", "-q") == 3
    assert check(broken, "--assert", "params<5M") == 3


def test_bad_requests_end_with_two(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert check(MNIST) == 2
    assert "no assertion given" in capsys.readouterr().err
    assert check(tmp_path / "not read", "--assert", "params < 5X") == 2  # before any file is read
    assert capsys.readouterr().err.splitlines() == [
        "error: 'X' is not a unit of parameters:",
        "  params < 5X",
        "            ^",
        "hint: one of: K, M, G, T, KB, MiB …",
    ]
    assert check(MNIST, "--assert-file", tmp_path / "nowhere") == 3
    assert check(MNIST, "--assert-file", "/dev/zero") == 3  # which never ends
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert check(MNIST, "--assert-file", tmp_path / "binary") == 3


def test_a_quantity_of_nothing_fails_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(MNIST, "--assert", "params(name:encodr) < 5M", "--assert", "count(name:encodr) == 0") == 1
    assert capsys.readouterr().out.splitlines()[:3] == [
        "✗ params(name:encodr) < 5M: 0",
        "    the query finds nothing; count(…) == 0 asserts that",
        "✓ count(name:encodr) == 0: 0 found",
    ]


def test_comments_and_lines_of_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "model.assertions"
    text = 'params < 5M  # a budget\n\ncount(name:"a #b") == 0 # x\ncount(name:c#d) == 0\n'
    listed.write_text(text)
    assert [line for _, line in _read_assertion_lines(str(listed))] == [
        "params < 5M", 'count(name:"a #b") == 0', "count(name:c#d) == 0"
    ]  # fmt: skip
    listed.write_text(f"{text}params < 5X # y\n")
    assert check(MNIST, "--assert-file", listed) == 2
    assert f"{listed}, line 5: 'X' is not a unit of parameters" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert check(MNIST, "--assert-file", "-") == 0
    assert check("-", "--assert-file", "-") == 2


def test_nothing_asserted_in_python_is_an_error() -> None:
    with pytest.raises(RequestError, match="no assertion given"):
        graphviz_tb.load(MNIST).check()


def test_hostile_names_and_assertions_reach_no_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "hostile.pb"
    path.write_bytes(GraphDef(node=[{"name": "a\x1b[31m\u202eb", "op": "Cast"}]).SerializeToString())
    assert check(path, "--assert", "count(op:Cast) == 0", "--assert", "count(\x1b) == 1") == 1
    assert check(path, "--assert", "count(\x1b[2J\u202e) x") == 2
    out, err = capsys.readouterr()
    assert not {"\x1b", "\u202e"} & {*out, *err}
    assert "a\\x1b[31m\\u202eb" in out


@each("quantity", ["params < 5M", "weights < 1MB", "params(name:Linear) < 5M"])
def test_weights_of_a_trace_without_their_shapes_are_not_zero(quantity: str) -> None:
    model = graphviz_tb.load(FIXTURES / "logged" / "torch_layers")
    with pytest.raises(MissingFacts, match="a trace of PyTorch has no shapes of weights"):
        model.check(quantity)


def test_of_unequal_branches_the_dearest_is_at_most_what_runs() -> None:
    text = """
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: 1 } }
      attr { key: "shape" value { shape { dim { size: 4 } dim { size: 4 } } } } }
    node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: 10 } }
      attr { key: "shape" value { shape { } } } }
    node { name: "if" op: "StatelessIf" input: "p" input: "x"
      attr { key: "Tin" value { list { type: 1 } } } attr { key: "Tout" value { list { type: 1 } } }
      attr { key: "then_branch" value { func { name: "then" } } }
      attr { key: "else_branch" value { func { name: "else" } } } }
    library {
      function { signature { name: "then" input_arg { name: "a" type: 1 } output_arg { name: "r" type: 1 } }
        node_def { name: "m" op: "MatMul" input: "a" input: "a" attr { key: "T" value { type: 1 } } }
        ret { key: "r" value: "m:product:0" } }
      function { signature { name: "else" input_arg { name: "a" type: 1 } output_arg { name: "r" type: 1 } }
        node_def { name: "m" op: "Neg" input: "a" attr { key: "T" value { type: 1 } } }
        ret { key: "r" value: "m:y:0" } } }
    """
    model = graphviz_tb.load(text.encode())
    low, high = model.check("flops <= 128", "flops >= 100")
    assert (low.state, high.state, high.least, high.most) == ("passed", "unknown", 0, 128)
    assert "dearest branch" in high.why
    assert model.cost.json_entry(0)["at_most"] == ["macs", "flops", "activation_bytes"]
