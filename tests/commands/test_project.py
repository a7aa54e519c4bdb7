"""`tbgraph project`: the list of embeddings, a cloud as a picture, and what is wrong in words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from graphviz_tb.chart.cloud import CloudPlot, cloud_sheet
from graphviz_tb.commands import _run_command_line
from graphviz_tb.logs.embeddings import Projector
from graphviz_tb.model.logs import PointColumn
from graphviz_tb.model.theme import THEMES
from graphviz_tb.project import project_by_pca
from graphviz_tb.render import svg
from tests.project.digits import write_digits

TORCH = Path(__file__).parents[2] / "fixtures" / "logged" / "torch_writer"


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    """What torch wrote, as a table and as JSON."""
    assert _run_command_line(["project", str(TORCH)]) == 0
    assert re.search(r"^\. +words:00003 +10 +4 +tsv +yes", capsys.readouterr().out, re.MULTILINE)
    assert _run_command_line(["project", str(TORCH), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["version"]) == ("tbgraph-embeddings", 1)
    assert told["embeddings"] == [
        {
            "run": ".", "name": "words:00003", "from": "tsv", "points": 10, "dimensions": 4,
            "step": None, "metadata": True, "sprite": None,
        }
    ]  # fmt: skip


def test_a_cloud_has_every_point_at_its_place(tmp_path: Path) -> None:
    """The same bytes each time; the circles are the first two components, both to one scale, y upwards."""
    write_digits(tmp_path / "log", 20)
    outputs = [tmp_path / name for name in ("a.svg", "b.svg", "c.png", "d.pdf")]
    for output in outputs:
        assert _run_command_line(["project", str(tmp_path / "log"), "-q", "-o", str(output)]) == 0
    text = outputs[0].read_text()
    assert text == outputs[1].read_text()
    assert outputs[2].read_bytes().startswith(b"\x89PNG")
    assert outputs[3].read_bytes().startswith(b"%PDF")
    groups = re.findall(r'<g data-points="(\d)"><title>\d: (\d+) points</title>(.*?)</g>', text, re.DOTALL)
    drawn = np.array(
        [pair for _, _, dots in groups for pair in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', dots)], float
    )
    projector = Projector(tmp_path / "log")
    [one] = projector.refresh().found
    axes = project_by_pca(projector.values(one)).axes[:, :2]
    digits = np.array([int(text) for text in projector.columns(one)[0][0].texts])
    rows = np.concatenate([np.flatnonzero(digits == digit) for digit in range(10)])
    assert [int(count) for _, count, _ in groups] == np.bincount(digits).tolist()
    (across, _), (up, _) = np.polyfit(axes[rows, 0], drawn[:, 0], 1), np.polyfit(axes[rows, 1], drawn[:, 1], 1)
    assert (round(across / up, 2), across > 0) == (-1.0, True)
    assert "both axes explain" in text


def test_what_is_wrong_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_digits(tmp_path / "log", 2)
    log, picture = str(tmp_path / "log"), str(tmp_path / "cloud.svg")
    (tmp_path / "empty").mkdir()
    for words, code, said in (
        (["nowhere"], 3, "no file or folder 'nowhere'"),
        ([str(tmp_path / "empty")], 3, "no embedding in"),
        ([log, "--run", "train"], 3, "in 'train'; there are '.'"),
        ([log, "--tensor", "defualt"], 2, "no embedding 'defualt'; nearest: 'default:00000'"),
        ([log, "--tensor", "defualt", "-o", picture], 2, "no embedding 'defualt'; nearest: 'default:00000'"),
        ([log, "--color-by", "digits", "-o", picture], 2, "no column 'digits'; nearest: 'digit'"),
        ([log, "-o", str(tmp_path / "cloud.html")], 2, "has no suffix of a chart"),
        ([log, "--json", "-o", picture], 2, "--json and -o exclude each other"),
        ([log, "--method", "lle", "-o", picture], 2, "lle"),
        ([log, "--theme", "pink", "-o", picture], 2, "pink"),
    ):
        assert _run_command_line(["project", *words]) == code, words
        assert said in capsys.readouterr().err, words
    assert not Path(picture).exists()


def test_hostile_words_are_text() -> None:
    texts = ("</svg><script>", "\x1b[31m", "\u202eabc", "")
    column = PointColumn('"><b>', texts, False)
    axes = np.array([[0, 0], [1, 0], [0, 1], [np.nan, 1]], np.float32)
    drawing = cloud_sheet(CloudPlot("<img>", "&", axes, ("<x>", "y"), column), THEMES["light"])
    text = svg.svg_bytes(drawing).decode()
    assert "<script>" not in text
    assert "\x1b" not in text
    assert text.count("<circle") == 3 + 3  # points that are finite, and categories in the legend


def test_the_name_of_a_single_point_is_beside_it() -> None:
    """Also at the right edge, where there is no room to the right of the point."""
    axes = np.array([[0, 0], [1, 0], [2, 1]], np.float32)
    words = PointColumn("w", ("left", "in the middle", "right"), False)
    text = svg.svg_bytes(cloud_sheet(CloudPlot("t", "", axes, ("", ""), words), THEMES["light"])).decode()
    points = [float(x) for x in re.findall(r'<circle cx="([\d.]+)" cy="[\d.]+" r="3', text)]
    names = re.findall(r'<text x="([\d.]+)"(?=[^>]*stroke)([^>]*)>', text)
    assert len(points) == len(names) == 3
    for point, (x, look) in zip(points, names, strict=True):
        assert abs(float(x) - point) > 3
        assert ('"end"' in look) == (float(x) < point)


def test_many_categories_and_numbers() -> None:
    """The most common categories have colours, the rest one; numbers are a ramp from low to high."""
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(400, 2)).astype(np.float32)
    words = PointColumn("w", tuple(f"w{at % 40}" for at in range(400)), False)
    text = svg.svg_bytes(cloud_sheet(CloudPlot("t", "", axes, ("", ""), words), THEMES["dark"])).decode()
    assert "17 others" in text
    assert len(set(re.findall(r'data-points="([^"]*)"', text))) == 24
    numbers = PointColumn("n", (*(str(at / 8) for at in range(399)), ""), True)
    text = svg.svg_bytes(cloud_sheet(CloudPlot("t", "", axes, ("", ""), numbers), THEMES["light"])).decode()
    assert {"#E07B00", "#1B1B7F"} <= set(re.findall(r'fill="(#\w+)"', text))
    assert ">49.75<" in text
