"""A group with ops of several devices: the largest share leads, whatever its place in the order of the hues."""

from __future__ import annotations

import pytest

from graphviz_tb import load
from graphviz_tb.api.pipeline import Model
from graphviz_tb.color import Colouring, make_colouring
from graphviz_tb.color.category import _shorten_devices
from graphviz_tb.color.colouring import contrast
from graphviz_tb.model.theme import THEMES

CPU, GPU = "/device:CPU:0", "/device:GPU:0"


def devices(**counts: dict[str, int]) -> Model:
    """One scope for each keyword, with so many ops on each device."""
    ops = [
        f'node {{ name: "{scope}/{number}x{index}" op: "A" device: "{device}" }}'
        for scope, by_device in counts.items()
        for number, (device, count) in enumerate(by_device.items())
        for index in range(count)
    ]
    return load("\n".join(ops).encode(), folds=False, series_min=100)


def painted(model: Model, theme: str = "light") -> Colouring:
    return make_colouring(model.hierarchy, model.facts, "device", theme)


def scope(model: Model, name: str) -> tuple[int, int]:
    return (0, model.hierarchy.name.index(name))


def test_the_largest_share_gives_the_colour_and_the_second_line() -> None:
    # GPU has the first hue; of "s" it holds one op of four
    model = devices(s={GPU: 1, CPU: 3}, gpu={GPU: 1}, cpu={CPU: 1})
    found = painted(model)
    cpu, gpu = (found.fill_of(scope(model, name)).fill for name in ("cpu", "gpu"))
    fill = found.fill_of(scope(model, "s"))
    assert fill.fill == cpu != gpu
    assert fill.bands == ((cpu, 750), (gpu, 250))
    assert found.second_line(scope(model, "s")) == "CPU:0 75\N{THIN SPACE}%"
    assert found.tooltip_text(scope(model, "s")) == "CPU:0 3, GPU:0 1"


def test_of_equal_shares_a_device_comes_before_none() -> None:
    model = devices(s={"": 2, CPU: 2}, cpu={CPU: 1})
    found = painted(model)
    assert found.fill_of(scope(model, "s")).bands == (
        (found.fill_of(scope(model, "cpu")).fill, 500),
        (THEMES["light"].neutral, 500),
    )
    assert found.second_line(scope(model, "s")) == "CPU:0 50\N{THIN SPACE}%"


def test_the_legend_names_what_has_no_device_where_it_is_shown() -> None:
    model = devices(s={CPU: 1}, t={"": 1})
    found = painted(model)
    one, two = scope(model, "s"), scope(model, "t")
    assert [row.label for row in found.legend_rows([one])] == ["CPU:0"]
    assert [row.label for row in found.legend_rows([one, two])] == ["CPU:0", "no device"]


@pytest.mark.parametrize("theme", THEMES)
def test_a_border_has_more_contrast_with_the_ground_than_its_fill(theme: str) -> None:
    model = devices(s={CPU: 1})
    fill, ground = painted(model, theme).fill_of(scope(model, "s")), THEMES[theme].background
    assert contrast(fill.stroke, ground) > contrast(fill.fill, ground)


def test_a_name_that_all_devices_begin_with_is_left_out() -> None:
    assert _shorten_devices(["/job:a/task:0/cpu:0", "/job:a/task:1/cpu:0"]) == ["task:0/CPU:0", "task:1/CPU:0"]
    assert _shorten_devices(["/job:a", "/job:a/cpu:0"]) == ["a", "a/CPU:0"]


def test_a_device_that_others_lie_on_keeps_its_last_word() -> None:
    # all begin with the words of the first, which is not left without a name
    assert _shorten_devices(["/job:a/task:0", "/job:a/task:0/cpu:0"]) == ["task:0", "task:0/CPU:0"]


def test_one_device_is_called_by_its_last_word() -> None:
    assert _shorten_devices(["/job:localhost/replica:0/task:0/device:GPU:0"]) == ["GPU:0"]
    assert _shorten_devices(["/job:ps/task:0"]) == ["ps/task:0"]


def test_devices_that_would_be_called_alike_keep_what_tells_them_apart() -> None:
    assert _shorten_devices(["/gpu:0", "/GPU:0"]) == ["gpu:0", "GPU:0"]
    assert _shorten_devices(["/device:GPU:0", "/GPU:0"]) == ["/device:GPU:0", "/GPU:0"]


def test_very_long_names_of_types_are_cut_where_groups_tell_them() -> None:
    long = "R" * 100_000
    model = load(f'node {{ name: "s/x" op: "{long}" }} node {{ name: "s/y" op: "Relu" }}'.encode())
    found = make_colouring(model.hierarchy, model.facts, "op-type", "light").tooltip_text(scope(model, "s"))
    assert found.endswith("R 1, Relu 1") or found.startswith("Relu 1, RRR")
    assert len(found) < 400
