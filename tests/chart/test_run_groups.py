"""Groups of runs by their names and hyperparameters, and the spread of their values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphviz_tb.chart.runs import group_runs, spread_of_group
from graphviz_tb.logs.log import open_log
from graphviz_tb.proto import Event
from tests.serve.writing import Writer, record

SEEDS = [f"model_{model}/seed{seed}" for model in "AB" for seed in range(3)]


def test_names_that_differ_by_a_seed_are_one_group_each_model() -> None:
    assert set(group_runs(SEEDS, "differs").values()) == {"model_A/seed*", "model_B/seed*"}
    assert set(group_runs(SEEDS, "seed*").values()) == {"model_A/seed*", "model_B/seed*"}


def test_names_without_numbers_and_of_other_lengths_are_groups_of_their_own() -> None:
    found = group_runs(["a/x", "a/y", "long/name/here"], "differs")
    assert found == {"a/x": "a/*", "a/y": "a/*", "long/name/here": "long/name/here"}


def test_a_hyperparameter_groups_runs_that_share_its_value() -> None:
    hparams = {"one": {"lr": 0.1}, "two": {"lr": 0.1}, "three": {"lr": 0.01}}
    assert group_runs([*hparams, "four"], "lr", hparams) == {
        "one": "lr=0.1", "two": "lr=0.1", "three": "lr=0.01", "four": "four",
    }  # fmt: skip


def write_seeds(folder: Path, seeds: int, steps: int) -> None:
    """Write runs whose value at each step is ten times the step and the seed; the last seed ends halfway."""
    for seed in range(seeds):
        writer = Writer(folder / f"seed{seed}")
        for step in range(steps // (2 if seed == seeds - 1 else 1)):
            event = Event(wall_time=1e9 + step, step=step)
            event.summary.value.add(tag="loss", simple_value=10 * step + seed)
            writer.raw(record(event.SerializeToString()))


def test_the_spread_is_that_of_numpy_at_each_step(tmp_path: Path) -> None:
    write_seeds(tmp_path, 5, 8)
    members = open_log(tmp_path).logged.series
    spread = spread_of_group(members)
    assert spread.steps.tolist() == list(range(8))
    assert spread.count.tolist() == [5] * 4 + [4] * 4
    for at, count in enumerate(spread.count):
        values = np.array([10.0 * at + seed for seed in range(count)])
        found = (spread.mean[at], spread.deviation[at], spread.least[at], spread.median[at], spread.greatest[at])
        expected = (values.mean(), values.std(ddof=1), values.min(), np.median(values), values.max())
        assert found == pytest.approx(expected)
        assert spread.lower_quartile[at] == pytest.approx(np.quantile(values, 0.25))
        assert spread.upper_quartile[at] == pytest.approx(np.quantile(values, 0.75))
