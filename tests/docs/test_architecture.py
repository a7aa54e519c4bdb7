"""The page on the architecture, and the places that CONTRIBUTING.md names, follow the code."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "graphviz_tb"
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
DOTTED = set(re.findall(r"`([a-z]\w*(?:\.\w+)+)`", PAGE)) - {"module.function"}
NAMES = sorted(name for name in DOTTED if not name.endswith((".py", ".js", ".tsv")))
QUESTIONS = (
    *("that an op is a weight", "that a box is a layer", "what is open", "what a line says"),
    *("how a Keras LSTM is counted", "how an event file is decoded", "what a request to the server must pass"),
)


def is_defined(dotted: str) -> bool:
    """Return whether a dotted name is a module of the package, or an attribute of one."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        name = ".".join(("graphviz_tb", *parts[:cut]))
        try:
            found = find_spec(name)
        except ModuleNotFoundError:
            continue
        if found is not None:
            value: object = import_module(name)
            for part in parts[cut:]:
                value = getattr(value, part, None)
            return value is not None
    return False


def test_every_function_that_is_named_exists() -> None:
    assert len(NAMES) > 30
    assert [name for name in NAMES if not is_defined(name)] == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_one_row(question: str) -> None:
    rows = re.findall(rf"^\| {question} \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 1
    assert "`" in rows[0]


def test_every_folder_is_listed() -> None:
    table = PAGE.partition("## Folders")[2]
    named = set(re.findall(r"(\w+)/", "".join(re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE))))
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert named == folders


def test_places_that_contributing_names_exist() -> None:
    text = re.sub(r"```.*?```", "", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    named = {place for code in re.findall(r"`([^`\n]+)`", text) for place in code.split() if is_place(place)}
    roots = (ROOT, PACKAGE, *(ROOT / "tests" / folder for folder in (".", "browser", "fuzz", "golden")))
    assert [place for place in sorted(named) if not any((root / place).exists() for root in roots)] == []


def test_good_names_of_contributing_are_names_of_the_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| bad | good | why |")[2]
    pairs = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", text.partition("\n\n")[0], re.MULTILINE)
    assert len(pairs) == 10
    code = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    defined = set(re.findall(r"^ *(?:def |class )_?(\w+)", code, re.MULTILINE))
    defined |= {name for line in re.findall(r"^([A-Z][A-Z_, ]+) = ", code, re.MULTILINE) for name in line.split(", ")}
    assert [good for _, good in pairs if good not in defined] == []


def is_place(word: str) -> bool:
    """Return whether a word in code is the path of a file or folder; `NAME` and `…` stand for many."""
    is_path = re.fullmatch(r"[\w./]+/|[\w/]+\.(py|tsv|md|js|toml)", word) is not None
    return is_path and "NAME" not in word
