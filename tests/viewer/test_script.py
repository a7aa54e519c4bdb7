"""The script of the page: its types are right, its parts fit together, and nothing in it asks for anything."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import graphviz_tb
from graphviz_tb.color import SCHEMES
from graphviz_tb.render.html import (
    GRAPH_ENTRY,
    LAYOUT_MODULES,
    LOG_ENTRY,
    SERVER_ENTRY,
    joined_script,
    modules_of,
    viewer_source,
)
from graphviz_tb.render.legend import CHANGE_LABELS, SIGN_SAMPLES

# Numbers that may be missing are told apart by hand; everything else is checked.
STRICT = [
    "--strict",
    "--strictNullChecks",
    "false",
    "--noImplicitAny",
    "false",
    "--useUnknownInCatchVariables",
    "false",
]
OPTIONS = ["--noEmit", "--checkJs", "--allowJs", "--target", "es2023", "--lib", "es2023,dom,dom.iterable", *STRICT]
COMPILER = "console.log(require('path').join(require.resolve('typescript'), '..', 'tsc.js'))"


@pytest.mark.machine
def test_the_types_are_right(require: Callable[..., None], tmp_path: Path) -> None:
    require("node", "typescript")
    for page, entry in (("page.js", LOG_ENTRY), ("served.js", SERVER_ENTRY)):
        text = "".join(map(viewer_source, modules_of(entry)))
        (tmp_path / page).write_text(f"// @ts-check\n{text}", encoding="utf-8")
    (tmp_path / "layout.d.ts").write_text("declare const layout: any;\n", encoding="utf-8")
    (tmp_path / "python.js").write_text(
        "// @ts-check\n" + "".join(viewer_source(name) for name in LAYOUT_MODULES if name != "place.js"),
        encoding="utf-8",
    )
    root = Path(__file__).parents[2]
    found = subprocess.run(["node", "-e", COMPILER], cwd=root, capture_output=True, text=True, check=True)
    for files in (["page.js", "layout.d.ts"], ["served.js", "layout.d.ts"], ["python.js"]):
        command = ["node", found.stdout.strip(), *OPTIONS, *files]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stdout == "", done.stdout[:3000]


VIEWER = Path(graphviz_tb.__file__).parent / "viewer"
ENTRIES = (GRAPH_ENTRY, LOG_ENTRY, SERVER_ENTRY)


def test_every_module_is_joined() -> None:
    there = {path.relative_to(VIEWER).as_posix() for path in VIEWER.rglob("*.js")}
    assert {*LAYOUT_MODULES, *(module for entry in ENTRIES for module in modules_of(entry))} == there


def test_a_graph_without_a_log_is_given_no_module_of_logs() -> None:
    assert [module for module in modules_of(GRAPH_ENTRY) if "/" in module] == []
    assert "served/server.js" not in modules_of(LOG_ENTRY)


@pytest.mark.parametrize("entry", ENTRIES)
def test_modules_are_joined_without_import_and_export(entry: str) -> None:
    assert modules_of(entry)[-1] == entry
    assert not re.findall(r"^(?:import|export)\b.*", joined_script(entry), re.MULTILINE)


@pytest.mark.machine
def test_imports_name_what_modules_export(require: Callable[..., None]) -> None:
    """Every module stands by itself: what it uses it declares or imports, and what it imports is there."""
    require("node", "typescript")
    modules = sorted({module for entry in ENTRIES for module in modules_of(entry)})
    command = ["node", str(Path(__file__).with_name("imports.js")), str(VIEWER), *modules]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr[-2000:]) == ("", "")


def test_calls_of_the_translated_code_pass_what_it_needs() -> None:
    """The type checker does not know the translated functions: a parameter that one gains must reach the page too."""
    place = viewer_source("place.js")
    exports = dict(re.findall(r"^  (\w+): (\w+),$", place, re.MULTILINE))
    made = {
        name: _top_level_parts(text, at)
        for text in (place, *(viewer_source(name) for name in LAYOUT_MODULES if name != "place.js"))
        for name, at in ((found[1], found.end()) for found in re.finditer(r"^function (\w+)\(", text, re.MULTILINE))
    }
    wrong, calls = [], 0
    for path in sorted(VIEWER.rglob("*.js")):
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(r"\blayout\.(\w+)\(", text):
            parameters = made.get(exports.get(found[1], found[1]))
            if parameters is None:
                continue  # a class
            calls += 1
            passed = _top_level_parts(text, found.end())
            needed = sum("=" not in parameter and not parameter.startswith("...") for parameter in parameters)
            if not needed <= len(passed) <= len(parameters) and not any(part.startswith("...") for part in passed):
                wrong.append(f"{path.name}: layout.{found[1]}({', '.join(passed)}) of ({', '.join(parameters)})")
    assert calls > 30
    assert wrong == []


def _top_level_parts(text: str, start: int) -> list[str]:
    """Return what stands between the commas of a list in parentheses that begins at `start`.

    >>> _top_level_parts("f(a, g(b, c), [d, e])", 2)
    ['a', 'g(b, c)', '[d, e]']
    """
    parts, depth, begin = [], 0, start
    for at in range(start, len(text)):
        closing = text[at] in ")]}"
        if (closing or text[at] == ",") and not depth:
            parts.append(text[begin:at].strip())
            begin = at + 1
            if closing:
                break
        depth += (text[at] in "([{") - closing
    return [part for part in parts if part]


def test_every_colouring_has_a_name_in_each_language() -> None:
    languages = viewer_source("strings.js").count("languageName:")
    assert languages == 2
    for word in SCHEMES:
        assert viewer_source("strings.js").count(f'"scheme.{word}":') == languages, word


def test_the_pages_of_a_log_have_the_same_words_in_each_language() -> None:
    for words in ("logs/words.js", "logs/profile_words.js"):
        english, korean = viewer_source(words).split("Object.assign(STRINGS.ko")
        assert set(re.findall(r'"([\w.]+)":', english)) == set(re.findall(r'"([\w.]+)":', korean)), words


def test_every_sign_of_the_legend_has_a_name_in_korean() -> None:
    for word in (*(label for _, label, _ in SIGN_SAMPLES), *CHANGE_LABELS.values()):
        assert viewer_source("strings.js").count(f'"legend.{word}":') == 1, word


def test_it_asks_for_nothing() -> None:
    """No address, no way to load, nothing that makes code or markup from text."""
    told = joined_script()
    assert re.findall(r"https?://[\w./]+", told) == ["http://www.w3.org/2000/svg"]
    for word in (
        "fetch(",
        "XMLHttpRequest",
        "WebSocket",
        "import(",
        "eval(",
        "innerHTML",
        "outerHTML",
        "document.write",
    ):
        assert word not in told, word
