"""What is shipped: the wheel holds the package and nothing else, and works where the repository is not."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    hatchling = pytest.importorskip(
        "hatchling.builders.wheel", reason="hatchling is not installed (pip install hatchling)"
    )
    if not (ROOT / PROJECT["readme"]).exists():
        pytest.skip("there is no README yet")
    folder = tmp_path_factory.mktemp("wheel")
    (path,) = hatchling.WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return zipfile.ZipFile(path)


@pytest.mark.machine
def test_the_wheel_holds_the_package_only(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"graphviz_tb", "tbgraph"}
    assert "graphviz_tb/proto/messages.bin" in wheel.namelist()
    assert "graphviz_tb/py.typed" in wheel.namelist()  # "Typing :: Typed" is promised
    assert not [name for name in wheel.namelist() if "__pycache__" in name]


@pytest.mark.machine
def test_the_wheel_draws_without_the_repository(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "site")
    (tmp_path / "a.pbtxt").write_text('node { name: "a" op: "A" } node { name: "b" op: "B" input: "a" }')
    code = (
        f"import sys; sys.path = [{str(tmp_path / 'site')!r}] + [p for p in sys.path if {str(ROOT)!r} != p]\n"
        "import graphviz_tb; graphviz_tb.load('a.pbtxt').save('a.svg'); graphviz_tb.load('a.pbtxt').save('a.json')\n"
        "print(graphviz_tb.__file__)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<")


def test_what_is_imported_is_required() -> None:
    """Every package that the code imports is a dependency, with a lower bound and no upper one."""
    names = {line.split(">=")[0].lower().replace("-", "_") for line in PROJECT["dependencies"]}
    assert {"click", "numpy", "protobuf", "networkx"} <= names
    assert all(">=" in line and "<" not in line for line in PROJECT["dependencies"])
    assert "tensorflow" not in names


def test_ctrl_c_is_understood_from_the_start() -> None:
    """What is imported before `main` runs is so little that no Ctrl-C comes meanwhile."""
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
known = set(sys.modules)
import graphviz_tb.__main__
print(*sorted(set(sys.modules) - known))
"""
    # -S, -I: what `site` and the environment import is not ours.
    done = subprocess.run([sys.executable, "-IS", "-c", code], capture_output=True, text=True, check=True)
    allowed = {"__future__", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings", "gc"}
    ours = {"graphviz_tb", "graphviz_tb.diff", "graphviz_tb.serve", "graphviz_tb.__main__"}
    assert set(done.stdout.split()) - allowed == ours


def test_the_plugin_of_pytest_is_light() -> None:
    """Every run of pytest loads it where the package is installed."""
    code = "import sys, pytest\nimport graphviz_tb.pytest_plugin\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not {"numpy", "google.protobuf", "click", "networkx"} & set(done.stdout.split())


def test_the_command_is_declared() -> None:
    assert PROJECT["scripts"] == {"tbgraph": "graphviz_tb.__main__:main"}
    assert PROJECT["entry-points"] == {"pytest11": {"tbgraph": "graphviz_tb.pytest_plugin"}}
    try:
        installed = metadata.entry_points(group="console_scripts", name="tbgraph")
    except metadata.PackageNotFoundError:
        return
    assert all(script.value.endswith(":main") for script in installed)


def test_the_help_imports_little_beside_click() -> None:
    """`tbgraph --help` takes at most a fifth longer than a program of click with as many commands."""
    code = """
import sys
import click, shutil, gettext, textwrap
known = set(sys.modules)
from graphviz_tb.__main__ import main
sys.argv = ["tbgraph", "--help"]
try:
    main()
except SystemExit:
    print("\\0", *sorted(set(sys.modules) - known))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    more = set(done.stdout.partition("\0")[2].split())
    ours = {name for name in more if name.startswith("graphviz_tb")}
    assert ours <= {
        *("graphviz_tb", "graphviz_tb.__main__", "graphviz_tb.diff", "graphviz_tb.serve"),
        *("graphviz_tb.commands", "graphviz_tb.commands.terminal"),
    }
    assert not more & {"pathlib", "dataclasses", "numpy", "google.protobuf", "importlib.metadata", "urllib.parse"}


@pytest.mark.machine
def test_the_wheel_is_small(wheel: zipfile.ZipFile) -> None:
    assert wheel.filename is not None
    assert Path(wheel.filename).stat().st_size < 3_000_000
    assert Path(wheel.filename).name.startswith("tbgraph-")
