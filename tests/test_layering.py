"""Nouns in `model/`, one verb a folder: no stage knows another, and each heavy import has one home."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx
import pytest

from tests.each import each

PACKAGE = Path(__file__).parents[1] / "graphviz_tb"
READING = ("sources", "unwrap", "formats", "keras", "events", "read")  # the first stage, bytes to a GraphDef, upwards
STAGES = (
    *("flatten", "interpret", "fold", "annotate", "expand", "arrange"),
    *("color", "open", "words", "place", "render", "chart", "project", "search"),
)
SHARED = {"model", "ops", "graphs", "errors", "options", "limits", "caches", "extras", "progress"}
MAY = {
    **{stage: SHARED | {stage} for stage in STAGES},
    **{folder: SHARED | {"proto", *READING[: at + 1]} for at, folder in enumerate(READING)},
    "ops": {"ops"},
    "model": {"model", "ops", "errors", "limits", "caches"},
    "graphs": {"graphs", "model", "ops", "errors", "limits", "caches"},
    "proto": {"proto"},
}
for stage in ("flatten", "interpret", "annotate"):
    MAY[stage] = MAY[stage] | {"proto"}
COMBINE = ("logs", "output", "api", "diff", "page", "serve", "commands")  # upwards
# A picture and a diff write any format, the page too, which shows them.
CALLS_UP = {("output/renderers.py", "page"), ("diff/result.py", "page")}

# Import → the folders or files that may have it.
HOMES = {
    "click": {"commands"},
    "google": {"proto", "flatten", "annotate", "diff", *READING},
    "pydot": {"arrange/dot.py", "render/dot.py"},
    "graphviz": {"arrange/dot.py", "render/dot.py"},
    "fontTools": {"render/fonts.py"},
    "resvg_py": {"render/png.py"},
    "fontpkg_arimo": {"render/fonts.py"},
    "http": {"serve"},
    "socketserver": {"serve"},
    "starlette": {"serve"},
    "uvicorn": {"serve"},
    "watchfiles": {"serve"},
    "anyio": {"serve"},
    "asyncio": {"serve"},
    "google_crc32c": {"formats/records.py"},
    "h5py": {"keras/hdf5_items.py"},
    "fsspec": {"sources/remote.py"},
    "sklearn": {"project/projections.py"},
    "umap": {"project/projections.py"},
    "pytest": {"pytest_plugin.py"},
}
MODULES = sorted(PACKAGE.rglob("*.py"))
TWO = b'node { name: "x" op: "Placeholder" } node { name: "y" op: "Relu" input: "x" }'


@cache
def import_statements(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """Every import of a file, at its top or put off until it is needed, but for what is only for type checkers."""
    found: list[ast.Import | ast.ImportFrom] = []
    waiting: list[ast.AST] = [ast.parse(path.read_text())]
    for node in waiting:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return found


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, at its top or put off until it is needed."""
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports say the whole name"
            yield f"{node.module}.{node.names[0].name}" if node.module == "graphviz_tb" else str(node.module)


def modules(path: Path) -> Iterator[str]:
    """Every module that a file imports, at its top or put off until it is needed; of a package those that are named."""
    for node in import_statements(path):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                is_module = (PACKAGE.parent / inner.replace(".", "/")).with_suffix(".py").is_file()
                yield inner if is_module else str(node.module)


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@each("path", MODULES, ids=name_of)
def test_no_stage_knows_another(path: Path) -> None:
    folder = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if folder in MAY:
        ours = {name.split(".")[1] for name in imports(path) if name.startswith("graphviz_tb.")}
        assert ours <= MAY[folder], f"{folder} imports {sorted(ours - MAY[folder])}"


@each("path", MODULES, ids=name_of)
def test_what_combines_stages_imports_downwards(path: Path) -> None:
    folder = path.relative_to(PACKAGE).parts[0]
    if folder in COMBINE:
        above = COMBINE[COMBINE.index(folder) + 1 :]
        ours = {name.split(".")[1] for name in imports(path) if name.startswith("graphviz_tb.")}
        assert [name for name in above if name in ours and (name_of(path), name) not in CALLS_UP] == []


@each("path", MODULES, ids=name_of)
def test_heavy_imports_have_one_home(path: Path) -> None:
    place = name_of(path)
    for name in imports(path):
        homes = HOMES.get(name.partition(".")[0])
        assert homes is None or place in homes or place.split("/")[0] in homes, f"{place} imports {name}"


def test_no_import_cycles() -> None:
    """A package and what is in it count apart; an import that is put off until it is needed counts as any other."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in MODULES}
    graph: networkx.DiGraph[str] = networkx.DiGraph()
    for name, path in names.items():
        for module in modules(path):
            target = module if module in names else f"{module}.__init__"
            if target in names and target != name:
                graph.add_edge(name, target)
    assert [sorted(cycle) for cycle in networkx.strongly_connected_components(graph) if len(cycle) > 1] == []


def test_a_class_name_is_defined_once() -> None:
    """A class or a type alias has one home; another module imports it, or has another name for another concept."""
    homes: dict[str, list[str]] = {}
    for path in MODULES:
        if not path.name.endswith("_pb2.py"):
            for name in types_of(path):
                homes.setdefault(name, []).append(name_of(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def types_of(path: Path) -> Iterator[str]:
    """The classes and the type aliases that a module defines: a constant is all capitals, an alias is not."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if isinstance(node, ast.ClassDef):
            yield node.name
        yield from (one.id for one in targets if isinstance(one, ast.Name) and re.fullmatch(r"[A-Z][a-z]\w*", one.id))


def test_names_of_the_glossary_exist() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| `([\w/]+\.py)` \|$", text, re.MULTILINE)
    assert rows
    assert [name for name, home in rows if name not in types_of(PACKAGE / home)] == []


# What puts stages together, and the stages of a picture.
JOINTS = [
    path
    for path in MODULES
    if re.match(
        r"(api/(pipeline|layout|picture)|output/renderers|logs/run_statistics|color/|open/|words/|render/|page/(colours|levels|walk))",
        name_of(path),
    )
]


@each("path", JOINTS, ids=name_of)
def test_stages_are_joined_by_types(path: Path) -> None:
    """No attribute is found by its name in a string, and no call takes whatever it is given."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("getattr", "setattr", "hasattr"), f"line {node.lineno}"
        if isinstance(node, ast.Subscript):
            assert not ast.unparse(node).startswith("Callable[...,"), f"line {node.lineno}"


def test_every_folder_has_a_rule() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= MAY.keys() | set(COMBINE)


@pytest.mark.parametrize(
    "what", ["import graphviz_tb", "from graphviz_tb.commands import _run_command_line as run; run(['--help'])"]
)
def test_the_front_door_is_light(what: str) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(what)}
    assert not loaded & {
        "numpy",
        "google",
        "networkx",
        "pydot",
        "graphviz",
        "resvg_py",
        "http",
        "asyncio",
        "starlette",
        "uvicorn",
        "anyio",
    }


# What a plain picture has no use for: each is imported when a picture, or another command, needs it.
UNUSED = re.compile(
    r"graphviz_tb\.(page|serve\.|diff\.|logs\.(?!run_statistics)|chart|annotate\.(costs|step_profile|statistics|rankings)"
    r"|arrange\.hand_moves|color\.(cost|logged|measured)|model\.(logs|joins)|place\.quality"
    r"|events\.|keras\.|formats\.(records|run_metadata|profiler_traces)|render\.(fonts|html|json|pdf|png))"
    r"|numpy\.ma$|logging$|fractions$|difflib$|google_crc32c$"
)


def test_a_picture_imports_what_it_draws_with(tmp_path: Path) -> None:
    target = tmp_path / "two.svg"
    code = f"from graphviz_tb import load\nload({TWO!r}).picture().save({str(target)!r})"
    loaded = loaded_by(f"{code}\nimport graphviz_tb.commands.session")
    assert target.exists()
    assert sorted(filter(UNUSED.match, loaded)) == []
    assert len([name for name in loaded if name.startswith("graphviz_tb.")]) < 225


@each("path", MODULES, ids=name_of)
def test_no_distinct_values_cost_an_import(path: Path) -> None:
    """Asked for values alone, `np.unique` imports masked arrays: 20 ms, a tenth of a picture."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        assert called not in ("np.union1d", "np.setdiff1d", "np.setxor1d"), f"line {node.lineno}"
        if called == "np.unique":
            asked = {keyword.arg for keyword in node.keywords}
            assert asked & {"return_index", "return_inverse", "return_counts"}, f"line {node.lineno}"


def test_a_page_without_a_log_imports_nothing_that_reads_logs() -> None:
    loaded = loaded_by(f"from graphviz_tb import load\nload({TWO!r}).render('html')")
    assert "graphviz_tb.page.build" in loaded
    assert (
        sorted(filter(re.compile(r"graphviz_tb\.(logs\.(log|training|embeddings)|events\.log_reader)").match, loaded))
        == []
    )


def loaded_by(code: str) -> list[str]:
    """The modules that a fresh Python has after running `code`."""
    code = f"import sys\n{code}\nprint(*sys.modules, sep='\\n', file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.split()


def test_names_of_test_files_are_unique() -> None:
    """Test folders are no packages: pytest refuses to run two files of one name together."""
    files = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert not [name for name, count in files.items() if count > 1]
