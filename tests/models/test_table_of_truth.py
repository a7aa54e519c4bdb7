"""Parameters of some seventy networks in all their forms, against what the framework says of them: each number is
right, or a bound that holds and that says so."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphviz_tb import Model, load
from graphviz_tb.errors import NoGraph
from graphviz_tb.keras.weights import INSTALL_H5PY
from graphviz_tb.proto import GraphDef
from tests.effort import everything, part
from tests.models.nameless import without_names, without_reads

TRUTH = Path(__file__).resolve().parents[2] / "fixtures/truth"
TABLE: dict[str, dict[str, Any]] = json.loads((TRUTH / "truth.json").read_text())
NAMED = ("keras.zip", "saved.pb", "export.pb", "frozen.pb", "train.pb")
# What a graph does not use, freezing leaves out: the vector of a spectral normalisation is for training alone.
UNUSED = {"unit_spectral": 12}
# Keras counts what an input is standardised with, which is a constant in every graph.
STANDARDISED = {"normalised_input": 13}


def graphs(name: str, form: str) -> Iterator[tuple[str, Any]]:
    """A form of a model; of a frozen graph also without names, and without its reads."""
    path = TRUTH / f"{name}.{form}"
    if form != "frozen.pb":
        yield form, path if form == "keras.zip" else gzip.decompress(path.read_bytes())
        return
    graph = GraphDef.FromString(gzip.decompress(path.read_bytes()))
    yield form, graph
    yield "nameless", without_names(graph)
    yield "without reads", without_reads(graph)
    yield "nameless, without reads", without_names(without_reads(graph))


def judged(name: str, form: str) -> bool:
    """Whether what is trained can be told: Keras calls the scales of float8 trained, which no gradient changes."""
    return form != "frozen.pb" and name not in STANDARDISED and not (form == "train.pb" and "float8" in name)


def load_stored(source: Any) -> tuple[Model | None, bool]:
    """Load a form (None: no layer of it is known), and return whether a number is only in weights that h5py reads."""
    try:
        model = load(source)
    except NoGraph as error:
        if INSTALL_H5PY not in (error.hint or ""):
            raise
        return None, True
    return model, any(INSTALL_H5PY in notice.message for notice in model.notices)


def test_the_table_is_large_enough() -> None:
    assert len(TABLE) >= 60
    assert sum(len(told["forms"]) for told in TABLE.values()) >= 300


@pytest.mark.parametrize("form", NAMED)
def test_parameters_are_right_or_a_bound_that_is_said(form: str, require: Callable[..., None]) -> None:
    wrong, exact = [], Counter[str]()
    total, unread = Counter[str](), Counter[str]()
    names = [name for name in part(sorted(TABLE), 10) if form in TABLE[name]["forms"]]
    for name in names:
        for word, source in graphs(name, form):
            told = TABLE[name]
            unused = UNUSED.get(name, 0) if form == "frozen.pb" else 0
            true = told["parameters"] - unused
            model, is_unread = load_stored(source)
            unread[word] += is_unread
            total[word] += not is_unread
            if model is None:
                continue
            cost = model.cost.under(0)
            exact[word] += not is_unread and cost.parameters == true and not cost.is_lower_bound("parameters")
            if cost.parameters > true or (cost.parameters < true and not cost.is_lower_bound("parameters")):
                wrong.append(f"{name}, {word}: {cost.parameters}, but {true}")
            fixed = told["parameters"] - told["trainable"] - unused
            if judged(name, form) and cost.non_trainable != fixed and not cost.is_lower_bound("non_trainable"):
                wrong.append(f"{name}, {word}: {cost.non_trainable} not trainable, but {fixed}")
    assert not wrong
    for word, count in total.items():
        least = 0.92 if word in NAMED else 0.8 if word == "nameless" else 0.55
        # Graphs without reads are bounds where they are hard: their bar is one of the whole table, not of a part of it.
        if least > 0.55 or everything():
            assert exact[word] >= least * count, (word, exact[word], count)
    if unread.total():  # the rest is right; what is left is not checked here, and that is said
        require("h5py")
        pytest.fail(f"h5py is there, but was not used: {unread}")


def test_multiply_adds_of_plain_layers_are_right() -> None:
    names = [name for name in part(sorted(TABLE), 10) if TABLE[name]["macs"] is not None]
    for name in names:
        for form in ("keras.zip", "frozen.pb"):
            if form in TABLE[name]["forms"]:
                for word, source in graphs(name, form):
                    cost = load(source).cost.under(0)
                    true = TABLE[name]["macs"]
                    assert cost.macs == true or (cost.macs < true and cost.is_lower_bound("macs")), (name, word)
