"""Try the package on every Python of 3.11 to 3.14 that is here, and with the oldest dependencies it allows.

    python3 .ci/interpreters.py [FOLDER]

Each gets a virtual environment of its own in FOLDER (build/interpreters), installs the package as a user would, and
draws and compares the same graphs. All of them must write the same bytes. Ends with 1 if one does not.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MINORS = range(11, 15)
# What each of them runs; all that it writes is compared.
LINES = (
    "render fixtures/real/mnist_cnn.pbtxt -o {}/mnist.svg -o {}/mnist.pdf -o {}/mnist.json -o {}/mnist.dot",
    "render fixtures/real/func_library_nested.pb -o {}/calls.svg --open ** --theme dark",
    "render fixtures/containers/saved_model -o {}/saved_model.svg",
    "render fixtures/real/odd_names.pbtxt -o {}/odd.svg -o {}/odd.png --direction LR",
    "diff fixtures/real/keras2_mnist.pb fixtures/real/mnist_cnn.pbtxt -o {}/diff.svg -o {}/diff.json --fail-on none",
    "diff fixtures/real/odd_names.pbtxt fixtures/real/odd_names_mild.pbtxt -o {}/odd_diff.html --fail-on none",
)
# Then every shipped graph as page and picture, in one process: numpy's rules change with its releases.
EVERY = """
import sys
from pathlib import Path
from graphviz_tb import load
for path in sorted(Path("fixtures/real").glob("*.pb*")):
    picture = load(path).picture()
    for suffix in (".html", ".svg"):
        picture.save(Path(sys.argv[1], path.name + suffix))
"""


def main() -> int:
    """Try each, print what it was and what it wrote; 1 if one differs from the first or fails."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/interpreters").absolute()
    found = [(f"3.{minor}", python, "newest") for minor in MINORS for python in interpreters(minor)[:1]]
    if not found:
        print("no Python from 3.11 to 3.14 is here")
        return 1
    found.append((found[0][0], found[0][1], "lowest"))
    results = {}
    for version, python, which in found:
        name = f"Python {version}, {which} dependencies"
        results[name] = tried(python, which, folder / f"{version}_{which}")
        print(f"{name}: {results[name] or 'FAILED'}", flush=True)
    return int(None in results.values() or len(set(results.values())) > 1)


def interpreters(minor: int) -> list[str]:
    """Every Python 3.`minor` that runs and can make a virtual environment."""
    names = [shutil.which(f"python3.{minor}"), shutil.which("python3"), f"/usr/bin/python3.{minor}"]
    names += map(str, sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")))
    code = f"import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, {minor}))"
    return [name for name in names if name and runs(name, "-c", code)]


def runs(*words: str) -> bool:
    """Whether a command can be run and ends well."""
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def tried(python: str, which: str, folder: Path) -> str | None:
    """One digest of everything that was written; None where something failed."""
    shutil.rmtree(folder, ignore_errors=True)
    out = folder / "out"
    out.mkdir(parents=True)
    own = str(folder / "venv/bin/python")
    packages = [str(ROOT), *(lowest() if which == "lowest" else [])]
    steps = [[python, "-m", "venv", str(folder / "venv")], [own, "-m", "pip", "install", "-q", *packages]]
    steps += [[own, "-P", "-m", "graphviz_tb", *line.format(*[out] * 4).split(), "-q"] for line in LINES]
    steps.append([own, "-P", "-c", EVERY, str(out)])
    for words in steps:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{' '.join(words)}\n{done.stderr[-2000:]}")
            return None
    # The rasteriser has versions, and so has pydot, which writes DOT.
    written = sorted(path for path in out.iterdir() if path.suffix not in (".png", ".dot"))
    return sha256(b"".join(path.read_bytes() for path in written)).hexdigest()[:16]


def lowest() -> list[str]:
    """Every dependency at its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [line.replace(">=", "==") for line in project["dependencies"]]


if __name__ == "__main__":
    sys.exit(main())
