"""mypy finds what stands in the wrong place between two stages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.each import each

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "graphviz_tb"

# Where stages are joined; a call there, and the same with two arguments swapped or one that belongs to another stage.
SWAPPED = [
    ("api/pipeline.py", "flatten(loaded.graph, options.flatten", "flatten(options.flatten, loaded.graph_def"),
    ("api/pipeline.py", "fold_graph(graph, options.group)", "fold_graph(graph, options.flatten)"),
    (
        "api/pipeline.py",
        "resolve_paint(painter, layout.view, layout.scene)",
        "resolve_paint(painter, layout.scene, layout.view)",
    ),
    (
        "api/layout.py",
        "= open_groups(model.hierarchy, _metagraph_function(model, options),",
        "= open_groups(_metagraph_function(model, options), model.hierarchy,",
    ),
    ("api/layout.py", "place(view, options, self.frames)", "place(options, view, self.frames)"),
    (
        "api/picture.py",
        "compose(self.scene, self.paint, self.caption,",
        "compose(self.scene, self.caption, self.paint,",
    ),
]


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says of these files with every call swapped."""
    folder = tmp_path_factory.mktemp("types")
    shadows: list[str] = []
    for name in dict.fromkeys(name for name, _, _ in SWAPPED):
        text = (PACKAGE / name).read_text()
        for _, call, other in (row for row in SWAPPED if row[0] == name):
            assert call in text, f"{call} is no call of {name} any more"
            text = text.replace(call, other)
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        shadows += ["--shadow-file", str(PACKAGE / name), str(folder / name)]
    command = [sys.executable, "-m", "mypy", "--strict", *shadows, *shadows[1::3]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.machine
@each("call", [call for _, call, _ in SWAPPED])
def test_a_swapped_argument_is_found(call: str, complaints: str) -> None:
    stage = call.partition("(")[0].removeprefix("= ")
    assert f'to "{stage}" has incompatible type' in complaints, complaints


def test_extremes_are_asked_of_numpy() -> None:
    """`np.max(array)`, not `array.max()`: the types of numpy 2.5, which Python 3.12 and later get, refuse that."""
    calls = re.compile(r"(?<!np)\.(?:max|min|argmax|argmin)\((?:initial=|\))")
    assert [path.name for path in sorted(PACKAGE.rglob("*.py")) if calls.search(path.read_text())] == []
