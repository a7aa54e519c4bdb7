"""From Python: errors that can be told apart, sent and kept; values that are refused as on the command line."""

from __future__ import annotations

import pickle
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphviz_tb import Model, diff, errors, load
from graphviz_tb.diff.result import Changes
from graphviz_tb.errors import (
    MalformedProto,
    MalformedRecord,
    MalformedText,
    ReadError,
    RequestError,
    TbGraphError,
    UnknownChoice,
    UnknownNode,
    WrongType,
)
from graphviz_tb.options import Options, PictureOptions
from graphviz_tb.proto import GraphDef
from tests.each import each

FIXTURES = Path(__file__).parents[1] / "fixtures"
GOOD = b'node { name: "layer/a" op: "Relu" } node { name: "layer/b" op: "Add" input: "layer/a" }'


class Mute:
    """What cannot say what it is."""

    def __repr__(self) -> str:
        raise OSError


@each(
    "choices",
    [
        {"series_min": "3"},
        {"series_min": True},
        {"strict": "yes"},
        {"run": 3},
        {"open": 3},
        {"open": (1, 2)},
        {"open": None},
        {"depth": 1.5},
        {"scale": "2"},
        {"title": b"x"},
        {"theme": ["dark"]},
        {"direction": {}},
        {"main": [None]},
        {"max_bytes": []},
        {"batch": "2"},
        {"infer": 1},
        {"preset": 5},
        {"open": Path("layer")},
        {"main": [Path("layer")]},
        {"group": Path("layer")},
    ],
    ids=str,
)
def test_a_wrong_type_is_a_request_error_and_a_type_error(choices: dict[str, Any]) -> None:
    with pytest.raises(WrongType) as caught:
        load(GOOD, **choices)
    assert isinstance(caught.value, RequestError)
    assert isinstance(caught.value, TypeError)
    assert next(iter(choices)) in str(caught.value)


@each(
    "choices",
    [{"series_min": 1}, {"scale": 0.01}, {"scale": 21}, {"scale": float("nan")}, {"width": 15}, {"width": 100_001},
     {"max_bytes": 0}, {"max_open": 0}, {"depth": -1}, {"scale": float("inf")}, {"depth": 10**500},
     {"max_open": 10**400}, {"max_bytes": -(10**400)}, {"batch": 0}, {"depth": "all"}],
    ids=str,
)  # fmt: skip
def test_what_the_command_line_refuses_is_refused(choices: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="is"):
        load(GOOD, **choices)
    if next(iter(choices)) in PictureOptions.__slots__:
        with pytest.raises(RequestError, match="is"):
            load(GOOD).picture(**choices)


def test_paths_and_lists_are_taken() -> None:
    model = load(GOOD, open=["layer"], scale=1, main=("layer/a",))
    assert model.options.picture.open == ("layer",)


@each("source", [3, None, 1.5, [b"x"], {"node": []}, len, dict])
def test_what_is_no_source(source: Any) -> None:
    for read in (load, lambda source: diff(source, GOOD)):
        with pytest.raises(WrongType):
            read(source)


@each("value", [5, True, 2.5, b"x", [], {}, object(), ("x",)])
def test_a_wrong_type_anywhere(value: Any) -> None:
    model, changes = load(GOOD), diff(GOOD, GOOD)
    picture = model.picture()
    calls: list[Callable[[Any], object]] = [
        *(model.picture, model.save, model.render, picture.save, picture.render, model.shortfalls),
        *(model.names.find_paths, changes.save, changes.filter, changes.explain),
        *(lambda value: model.save("x.svg", value), lambda value: model.render("svg", value)),
        *(lambda value: load(GOOD, value), lambda value: load(GOOD, None, value)),
        *(lambda value: diff(GOOD, GOOD, options=value), lambda value: diff(GOOD, GOOD, run=value and {})),
        *(lambda value: changes.filter(under=value), lambda value: changes.picture(theme=value)),
        *(lambda value: model.skeleton((0,), value), lambda value: model.shortfalls("svg", value)),
        *(lambda value: model.show(repr(value)), lambda value: changes.explain("text", repr(value))),
        *(model.with_colouring, lambda value: diff(GOOD, GOOD, [[value]])),
    ]
    for call in calls:
        with pytest.raises(WrongType):
            call(value)


@pytest.mark.parametrize("height", [0, -1, 100_001, 10**5000], ids=["none", "negative", "more", "number"])
def test_a_frame_that_no_notebook_can_draw(height: int) -> None:
    with pytest.raises(RequestError, match=r"height is .*; it takes 1 to 100,000 pixels"):
        load(GOOD).show(height)


@each("path", [(), (-1,), (10**9,), ("layer",), (1, 2), (None,)])
def test_a_place_that_is_not_there(path: Any) -> None:
    model = load(GOOD)
    for look in (model.metagraph, model.skeleton, model.to_networkx):
        with pytest.raises(UnknownNode, match="no place"):
            look(path)


@pytest.mark.parametrize("value", [10**5000, Mute()], ids=["number", "object"])
def test_what_cannot_be_written_in_a_message(value: Any) -> None:
    for refused in (
        lambda: load(GOOD, title=value),
        lambda: load(GOOD, open=(value,)),
        lambda: load(GOOD, series_min=value),
        lambda: load(GOOD).picture().render(value),
        lambda: load(GOOD).picture().save(value),
        lambda: load(GOOD).cost.under(value),
        lambda: load(GOOD).cost.under(0, value),
    ):
        with pytest.raises(RequestError):
            refused()


@each(("row", "role"), [(None, None), (2.5, None), (-1, None), (99, None), (0, "backward"), (0, [])])
def test_rows_and_roles_that_do_not_exist(row: Any, role: Any) -> None:
    with pytest.raises(RequestError):
        load(GOOD).cost.under(row, role)


def test_a_font_that_cannot_be_read() -> None:
    with pytest.raises(TbGraphError, match="as a font: File name too long"):
        load(GOOD).picture(font_files="x" * 5000)


def test_an_object_whose_graph_is_none() -> None:
    class Odd:
        def as_graph_def(self) -> int:
            return 5

    with pytest.raises(WrongType, match="an int is not a graph"):
        load(Odd())


@pytest.mark.parametrize("pair", [(), ("a",), ("a", "b", "c")])
def test_a_choice_of_a_diff_that_is_no_pair(pair: tuple[str, ...]) -> None:
    with pytest.raises(RequestError, match=f"run has {len(pair)} values"):
        diff(GOOD, GOOD, run=pair)


def test_choices_of_a_diff_that_do_not_exist() -> None:
    for ask in (lambda: diff(GOOD, GOOD, nope=1), lambda: diff(GOOD, GOOD).picture(nope=1),
                lambda: diff(GOOD, GOOD).picture(theme="x"), lambda: diff(GOOD, GOOD, "nope")):  # fmt: skip
        with pytest.raises(UnknownChoice):
            ask()
    assert diff(GOOD, GOOD, "shapes").same


@pytest.mark.parametrize("source", ["", "a\0b", "x" * 300, "y/" * 3000])
def test_names_that_no_file_can_have(source: str) -> None:
    with pytest.raises(TbGraphError):
        load(source)


def every_error() -> list[TbGraphError]:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TbGraphError)]
    special: dict[type, dict[str, Any]] = {
        MalformedText: {"line": 3, "column": 4},
        MalformedRecord: {"offset": 5},
        MalformedProto: {"offset": 6},
        errors.MalformedAssertion: {"text": "params", "column": 6},
    }
    return [kind("what is wrong", hint="what to do", **special.get(kind, {})) for kind in kinds]


@each("error", every_error(), ids=lambda error: type(error).__name__)
def test_errors_can_be_pickled(error: TbGraphError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again), again.exit_code) == (str(error), vars(error), error.exit_code)


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("real/mnist_cnn.pbtxt", {"run_metadata": str(FIXTURES / "run_metadata/mnist_cnn_step099.pb"), "stats": True}),
        ("containers/saved_model", {}),
        ("logdirs/trace_export", {"depth": 1}),
        ("containers/keras3_mnist.keras", {"series_min": 3}),
    ],
)
def test_models_and_pictures_can_be_pickled(name: str, choices: dict[str, Any]) -> None:
    model = load(FIXTURES / name, **choices)
    again: Model = pickle.loads(pickle.dumps(model))
    assert again.render("svg") == model.render("svg")
    assert again.render("json") == model.render("json")
    picture = model.picture(theme="dark")
    assert pickle.loads(pickle.dumps(picture)).render("svg") == picture.render("svg")


def test_diffs_and_their_pictures_can_be_pickled() -> None:
    changes = diff(FIXTURES / "edits/base.json", FIXTURES / "edits/units.json")
    again: Changes = pickle.loads(pickle.dumps(changes))
    assert again.explain() == changes.explain()
    assert pickle.loads(pickle.dumps(changes.picture())).render("svg") == changes.picture().render("svg")


def test_pictures_and_models_are_one_line() -> None:
    assert "\n" not in repr(load(GOOD).picture())
    assert repr(load(GOOD).picture()).startswith("<Picture: ")


def test_a_message_that_changes_afterwards_changes_nothing() -> None:
    message = GraphDef.FromString(load(GOOD).loaded.graph_def.SerializeToString())  # type: ignore[union-attr]
    model = load(message)
    before = model.render("json")
    message.node[0].op = "Neg"
    del message.node[:]
    assert load(GOOD).render("json") == before
    assert model.render("json") == before


class Bytes:
    """A path as `os.scandir(b".")` gives them."""

    def __fspath__(self) -> bytes:
        return b"graph.svg"


@each(
    "ask",
    [
        lambda: load(GraphDef),
        lambda: load(Bytes()),
        lambda: load(GOOD, run_metadata=Bytes()),
        lambda: load(GOOD, font_files=[Bytes()]),
        lambda: load(GOOD).save(Bytes()),
        lambda: diff(Bytes(), GOOD),
        lambda: load(GOOD, open=np.array(3)),
        lambda: diff(GOOD, GOOD, include=np.array(3)),
        lambda: load(GOOD, Options(read=None)),  # type: ignore[arg-type]
        lambda: load(GOOD, object()),  # type: ignore[arg-type]
        lambda: load(GOOD).cost.under(0, np.array([1, 2])),  # type: ignore[arg-type]
        lambda: diff(GOOD, GOOD).numbers_of(None),  # type: ignore[arg-type]
    ],
)
def test_odd_values_are_requests_of_a_wrong_type(ask: Callable[[], Any]) -> None:
    with pytest.raises(WrongType):
        ask()


def test_rows_that_are_none() -> None:
    with pytest.raises(UnknownNode):
        load(GOOD).metagraph(([0],))  # type: ignore[arg-type]


@each("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickle(protocol: int) -> None:
    model, changes = load(GOOD), diff(GOOD, GOOD.replace(b"Relu", b"Selu"))
    for whole in (model, model.picture(), changes, changes.picture()):
        copy = pickle.loads(pickle.dumps(whole, protocol))
        assert repr(copy) == repr(whole)


@pytest.mark.slow
def test_threads_draw_one_model_as_each_alone() -> None:
    source = FIXTURES / "shapes/MobileNetV3Small.pb.gz"
    jobs: list[tuple[str, dict[str, Any]]] = [("svg", {}), ("json", {}), ("svg", {"depth": 2}), ("html", {})]
    alone = [load(source).render(format, **choices) for format, choices in jobs]
    model, former = load(source), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            drawn = list(pool.map(lambda job: model.render(job[0], **job[1]), jobs * 2))
    finally:
        sys.setswitchinterval(former)
    assert drawn == alone * 2


def test_a_log_that_went_before_its_steps_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(FIXTURES / "logdirs/mnist_runs", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    model = load("runs", run="train", step="all")
    monkeypatch.chdir("/")
    assert model.render("html")
    again = load(tmp_path / "runs", run="train", step="all")
    shutil.rmtree(tmp_path / "runs")
    with pytest.raises(ReadError):
        again.render("html")
