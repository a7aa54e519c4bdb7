"""The extras of the distribution, and the line that installs an extra, for the shell and the Python in use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DISTRIBUTION = "tbgraph"
# Extra → what it is for; pyproject.toml says which packages it brings.
EXTRAS: dict[str, str] = {
    "serve": "`tbgraph serve`, `tbgraph open` with a server, `%tbgraph` in notebooks",
    "keras": "Keras models in HDF5 files, weights of `.keras` archives",
    "remote": "addresses: gs:// s3:// hf:// https://",
    "projector": "t-SNE and UMAP of embeddings",
    "cjk": "Chinese, Japanese and Korean letters in PNG and PDF",
    "fast": "checksums of event files in C",
}
DOUBLE_QUOTE_SHELLS = ("cmd",)  # shells where ' does not quote


def how_to_install(extra: str) -> str:
    """Return the line to type that installs an extra, for the shell and the kind of Python in use."""
    return install_line(f"{DISTRIBUTION}[{extra}]")


def install_line(*packages: str) -> str:
    """Return the line that installs packages into the environment of this Python.

    Names that the shell would expand as a pattern are quoted. Where the system manages the packages of this Python (PEP
    668), pip refuses, so the line creates an environment.
    """
    words, tool = " ".join(map(_quoted_word, packages)), _environment_tool()
    ours = all(package.startswith(DISTRIBUTION) for package in packages)
    if tool == "uv tool":
        return f"uv tool install --force {words}" if ours else f"uv tool install --with {words} {DISTRIBUTION}"
    if tool == "pipx":
        return f"pipx install --force {words}" if ours else f"pipx inject {DISTRIBUTION} {words}"
    if tool == "managed":
        venv = f"python3 -m venv .venv && .venv/bin/pip install {words}"
        return f"{venv} (the system manages this Python, and pip refuses)"
    return f"{'uv pip' if tool == 'uv' else 'pip'} install {words}"


def _quoted_word(word: str) -> str:
    """Return a word, quoted for the shell in use if necessary.

    >>> _quoted_word("pandas")
    'pandas'
    """
    if not any(letter in word for letter in "[]<>=*?;& '\""):
        return word
    return f'"{word}"' if _shell_name() in DOUBLE_QUOTE_SHELLS else f"'{word}'"


def _shell_name() -> str:
    """Return the name of the shell in use, as far as its environment shows: cmd, powershell, zsh …"""
    if os.name == "nt":
        return "cmd" if "PROMPT" in os.environ else "powershell"
    return Path(os.environ.get("SHELL", "sh")).name


def _environment_tool() -> str:
    """Return what manages this Python: "pipx", "uv tool", "uv", "managed" by the system (PEP 668), or "pip"."""
    prefix = Path(sys.prefix)
    if "pipx" in prefix.parts and "venvs" in prefix.parts:
        return "pipx"
    if prefix.parts[-3:-1] == ("uv", "tools"):
        return "uv tool"
    if sys.prefix != sys.base_prefix:
        return "uv" if _made_by_uv(prefix) else "pip"
    import sysconfig  # rarely needed

    return "managed" if (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").is_file() else "pip"


def _made_by_uv(prefix: Path) -> bool:
    """Return whether uv made an environment, which then has no pip."""
    try:
        made = "\nuv = " in "\n" + (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return made and not any((prefix / "lib").glob("python*/site-packages/pip"))
