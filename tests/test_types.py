"""mypy finds what stands in the wrong place between two stages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PIPELINE = ROOT / "graphviz_tb" / "pipeline.py"

# A call of the pipeline, and the same with two arguments swapped or one that belongs to another stage.
SWAPPED = [
    ("flatten(loaded.graph_def, options.flatten", "flatten(options.flatten, loaded.graph_def"),
    ("group(graph, options.group)", "group(graph, options.flatten)"),
    ("open_groups(hierarchy, model.metagraph, options,", "open_groups(model.metagraph, hierarchy, options,"),
    ("place(view, options)", "place(options, view)"),
    ("resolve(colouring, view, scene)", "resolve(colouring, scene, view)"),
    ("compose(self.scene, self.paint, self.caption,", "compose(self.scene, self.caption, self.paint,"),
]


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says of a pipeline with every call swapped."""
    text = PIPELINE.read_text()
    for call, other in SWAPPED:
        assert text.count(call) == 1, f"{call} is no call of the pipeline any more"
        text = text.replace(call, other)
    swapped = tmp_path_factory.mktemp("types") / "swapped.py"
    swapped.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--shadow-file", str(PIPELINE), str(swapped), str(PIPELINE)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("call", [call for call, _ in SWAPPED])
def test_a_swapped_argument_is_found(call: str, complaints: str) -> None:
    stage = call.partition("(")[0]
    assert f'to "{stage}" has incompatible type' in complaints, complaints
