"""The script of the page: its types are right, its parts fit together, and nothing in it asks for anything."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from graphviz_tb.color import SCHEMES
from graphviz_tb.render.html import FILE_LOG_MODULES, LAYOUT_MODULES, SERVED_MODULES, joined_script, viewer_source
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
    for page, modules in (("page.js", FILE_LOG_MODULES), ("served.js", SERVED_MODULES)):
        text = "".join(map(viewer_source, modules))
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


def test_every_module_is_joined() -> None:
    viewer = Path(viewer_source.__code__.co_filename).parents[1] / "viewer"
    there = {path.relative_to(viewer).as_posix() for path in viewer.rglob("*.js")}
    assert {*LAYOUT_MODULES, *FILE_LOG_MODULES, *SERVED_MODULES} == there


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
