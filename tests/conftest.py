"""What all tests share: where the fixtures are, which parts of the machine a test needs, how hard hypothesis tries."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.effort import ORDINARY, SWITCH, everything

FIXTURES = Path(__file__).parents[1] / "fixtures"
collect_ignore = ["annotate/infer/every_op.py"]  # a program that imports TensorFlow

# Part of the machine → how to get it.
PARTS = {
    "dot": "apt-get install graphviz",
    "chromium": "apt-get install chromium",
    "node": "apt-get install nodejs",
    "rsvg-convert": "apt-get install librsvg2-bin",
    "playwright-core": "npm install playwright-core, and NODE_PATH where it is not beside the repository",
    "noto-cjk-sans-otc": "pip install -e '.[cjk]'",
    "h5py": "pip install -e '.[keras]'",
    "starlette": "pip install -e '.[serve]'",
    "uvicorn": "pip install -e '.[serve]'",
    "watchfiles": "pip install -e '.[serve]'",
    "typescript": "npm install typescript, and NODE_PATH where it is not beside the repository",
    "firefox-esr": "apt-get install firefox-esr",
    "tensorflow": "pip install 'tensorflow==2.21.*'",
    "atheris": "pip install atheris, where it has a wheel",
    "pre-commit": "pip install pre-commit",
    "jq": "apt-get install jq",
}
MODULES = {
    **{name: name for name in ("tensorflow", "h5py", "atheris", "starlette", "uvicorn", "watchfiles")},
    "noto-cjk-sans-otc": "noto_cjk_sans_otc",
    "pre-commit": "pre_commit",
}
LONG_RUN = 0.5  # CPU seconds
NOT_IN_ALL = {"tensorflow", "atheris"}  # half a gigabyte; no wheel for every machine: wanted only where named

# The same examples on every run, and no search for a smaller one: that takes minutes where an example is a picture.
# `pytest --hypothesis-profile=explore` looks for new ones, and shrinks them.
quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
for profile, count in {"default": 6, "ci": ORDINARY}.items():
    settings.register_profile(
        profile,
        deadline=None,
        derandomize=True,
        max_examples=count,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=quiet,
    )
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=quiet)

# A program that a test starts would compile the package anew each time where nothing may be written beside it.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(FIXTURES.parent / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    del os.environ["PYTHONDONTWRITEBYTECODE"]

LEFT = pytest.StashKey[int]()  # how many tests were left out
LEFT_OUT = {"slow", "machine"}  # markers of tests that run only where everything does, or where their file is named


# A shell that starts the tests in the background has them ignore Control-C, and so would every program they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Decide how much runs; workers of xdist find the decision in their environment."""
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS or bool(config.option.markexpr)
    if named and not hasattr(config, "workerinput"):
        os.environ[SWITCH] = "all"
    settings.load_profile("ci" if everything() else "default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked, unless everything runs."""
    marked = {item for item in items if LEFT_OUT & {mark.name for mark in item.iter_markers()}}
    left = [] if everything() else [item for item in items if item in marked]
    if left:
        items[:] = [item for item in items if item not in marked]
        config.hook.pytest_deselected(items=left)
    config.stash[LEFT] = len(left)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left"] = len(left)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Hear from a worker of xdist how many tests it left out; each leaves out the same."""
    node.config.stash[LEFT] = getattr(node, "workeroutput", {}).get("left", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests were left out, and how to run them."""
    if left := config.stash.get(LEFT, 0):
        terminalreporter.write_line(
            f"LEFT OUT: {left} tests marked slow or machine, and some of the examples of others;"
            " `make test-all` (TBGRAPH_TESTS=all) runs everything",
            yellow=True,
        )


def cpu_seconds(run: Callable[[], object]) -> float:
    """The least CPU seconds of three runs: what a busy machine adds to one of them is left out. Of a long one it is
    little, so that it runs once."""
    spent: list[float] = []
    gc.collect()
    gc.freeze()  # what other tests have left is not walked over again and again
    while len(spent) < 3 and sum(spent) < LONG_RUN:
        start = process_time()
        run()
        spent.append(process_time() - start)
    gc.unfreeze()
    return min(spent)


@pytest.fixture(scope="session")
def rule() -> Callable[..., Any]:
    """`rule("self_loop", series_min=3)`: the model of one of `fixtures/rules`, where the graph is drawn."""
    from graphviz_tb import load

    return lambda name, **choices: load(FIXTURES / "rules" / f"{name}.pbtxt", **choices)


@cache
def present(part: str) -> bool:
    """Whether a part is on this machine."""
    if part in MODULES:
        return find_spec(MODULES[part]) is not None
    if part in ("playwright-core", "typescript"):
        found = shutil.which("node") and subprocess.run(
            ["node", "-e", f"require.resolve('{part}')"], cwd=FIXTURES.parent, capture_output=True, check=False
        )
        return bool(found) and found.returncode == 0
    return shutil.which(part) is not None


def demanded(part: str) -> bool:
    """Whether TBGRAPH_REQUIRE (a list with commas, or `all`) forbids to go on without a part."""
    words = {word.strip() for word in os.environ.get("TBGRAPH_REQUIRE", "").split(",")}
    return part in words or ("all" in words and part not in NOT_IN_ALL)


@pytest.fixture(scope="session")
def require() -> Callable[..., None]:
    """`require("dot", "node")`: skip where a part is absent, fail where TBGRAPH_REQUIRE demands it."""

    def check(*parts: str) -> None:
        for part in parts:
            if present(part):
                continue
            absent = f"{part} is not installed ({PARTS[part]})"
            if demanded(part):
                pytest.fail(f"TBGRAPH_REQUIRE demands it, but {absent}", pytrace=False)
            pytest.skip(absent)

    return check


@pytest.fixture
def models_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command frees no model after each of several: that walks over the objects of all tests, which takes seconds."""
    monkeypatch.setattr("graphviz_tb.commands.session.release_models", lambda: None)


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """The folder of fixtures."""
    return FIXTURES
