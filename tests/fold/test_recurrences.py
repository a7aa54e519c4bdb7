"""Steps of a recurrence that a program wrote out are one box: a scan without weights, a cell of an LSTM or a GRU."""

from __future__ import annotations

import random

from graphviz_tb import Model, load
from graphviz_tb.model.hierarchy import GroupOrigin
from graphviz_tb.words.paper import PaperWords
from tests.each import each
from tests.fold.networks import Writer
from tests.fold.test_idioms import Net, idioms

STEPS = 4


def scanned(net: Net, decay: str, given: str, layer: bool = False, selected: bool = False, sums: bool = True) -> str:
    """y[t] = h[t] · given[t], with h[t] = decay[t] · h[t − 1] + given[t]; the state may pass a layer."""
    if selected:  # what each step keeps is made of what it takes
        decay = net.op("Softplus", net.op("BiasAdd", net.op("MatMul", given, net.weight(64, 64)), net.weight(64)))
    state, results = net.op("Zeros"), []
    for _ in range(STEPS):
        part, kept = net.op("StridedSlice", given), net.op("StridedSlice", decay)
        state = net.op("AddV2", net.op("Mul", kept, state), part) if sums else net.op("Mul", kept, part)
        state = net.dense(state) if layer else state
        results.append(net.op("Mul", state, net.op("StridedSlice", given)))
    return net.op("Pack", *results)


@each("named", [True, False])
def test_a_recurrence_without_weights_is_one_box(named: bool) -> None:
    net = Net(named)
    x = net.op("Placeholder", name="x")
    for _ in range(3):
        decay, given = net.dense(x), net.dense(x)
        x = net.op("AddV2", net.dense(scanned(net, decay, given)), x)
    found = idioms(net.model(), GroupOrigin.SCAN)
    assert found == [("scan", 2 + 6 * STEPS)] * 3


def test_layers_that_only_say_what_a_scan_keeps_are_part_of_it() -> None:
    net = Net()
    x = net.op("Placeholder", name="x")
    given = net.dense(x)
    net.op("AddV2", net.dense(scanned(net, "", given, selected=True)), given)
    # the product, its bias and its activation
    assert idioms(net.model(), GroupOrigin.SCAN) == [("scan", 2 + 6 * STEPS + 3)]


def test_steps_with_a_layer_or_without_a_state_are_no_scan() -> None:
    for kind in ({"layer": True}, {"sums": False}):
        net = Net()
        x = net.op("Placeholder", name="x")
        net.dense(scanned(net, net.dense(x), net.dense(x), **kind))
        assert idioms(net.model(), GroupOrigin.SCAN) == []


def test_a_scan_says_its_steps() -> None:
    net = Net()
    x = net.op("Placeholder", name="x")
    net.op("AddV2", net.dense(scanned(net, net.dense(x), net.dense(x))), x)
    hierarchy = net.model().hierarchy
    (row,) = (row for row in range(len(hierarchy)) if hierarchy.how[row] == GroupOrigin.SCAN)
    assert PaperWords(hierarchy).words_of_row(row) == f"{STEPS} steps"


def unrolled(gru: bool, residual: bool = False) -> Model:
    """x, h ─▶ two products ─▶ gates ─▶ h, some times; beside each state what is read of it."""
    w = Writer("nameless", random.Random(3))
    x, h = w.op("Placeholder", name="x"), w.op("Placeholder", name="h")
    parts = 3 if gru else 4
    kernels, c, out = [w.weight(f"k{n}", 16, 16 * parts) for n in range(2)], h, []
    for _ in range(STEPS):
        mine, state = (
            w.op("Split", w.constant(name="d", dtype=3), w.op("MatMul", of, k))
            for of, k in zip((x, h), kernels, strict=True)
        )
        gates = [w.op("AddV2", f"{mine}:{n}", f"{state}:{n}") for n in range(parts)]
        one, two = (w.op("Sigmoid", gate) for gate in gates[:2])
        if gru:
            new = w.op("Tanh", w.op("AddV2", f"{mine}:2", w.op("Mul", one, f"{state}:2")))
            h = w.op("AddV2", new, w.op("Mul", two, w.op("Sub", h, new)))
        else:
            c = w.op("AddV2", w.op("Mul", one, c), w.op("Mul", two, w.op("Tanh", gates[2])))
            h = w.op("Mul", w.op("Tanh", c), w.op("Sigmoid", gates[3]))
        h = w.op("AddV2", h, x) if residual else h
        out.append(w.op("MatMul", h, w.weight("out", 16, 8)))
    w.op("Pack", *out)
    return load(w.graph)


@each("gru", [True, False])
def test_the_gates_of_a_step_and_its_layers_are_one_box(gru: bool) -> None:
    model = unrolled(gru)
    found = idioms(model, GroupOrigin.GRU_CELL if gru else GroupOrigin.LSTM_CELL)
    assert [name for name, _ in found] == ["gru cell" if gru else "lstm cell"] * STEPS
    assert not idioms(model, GroupOrigin.LSTM_CELL if gru else GroupOrigin.GRU_CELL)
    said = {PaperWords(model.hierarchy).words_of_row(row) for row in range(len(model.hierarchy))}
    assert ("GRU 16" if gru else "LSTM 16") in said


def test_the_last_state_that_nothing_uses_is_part_of_a_scan() -> None:
    net = Net()
    x = net.op("Placeholder", name="x")
    state, results, given = net.op("Zeros"), [], net.dense(x)
    for _ in range(STEPS):
        results.append(net.op("Mul", net.op("StridedSlice", given), state))
        state = net.op("AddV2", net.op("Tanh", state), net.op("StridedSlice", given))  # after the last result too
    net.op("AddV2", net.dense(net.op("Pack", *results)), x)
    assert idioms(net.model(), GroupOrigin.SCAN) == [("scan", 2 + 5 * STEPS)]


def test_layers_beside_one_another_before_a_scan_are_said_in_line() -> None:
    # queries, keys and a gate ─▶ scan · gate ─▶ a layer: none of them projects a shortcut
    net = Net()
    x = net.op("Placeholder", name="x")
    y = net.op("Tanh", x)
    gate = net.op("Sigmoid", net.dense(y))
    mixed = net.op("Mul", scanned(net, net.dense(y), net.dense(y)), gate)
    net.op("AddV2", net.dense(mixed), x)
    words = PaperWords(net.model().hierarchy)
    assert "3 × (→ 64), scan, → 64" in {words.words_of_row(row) for row in range(len(words.hierarchy))}
