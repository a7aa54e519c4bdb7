"""How notebooks reach a server: on this machine, behind proxies, on Colab, or not at all."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import tbgraph
from graphviz_tb.serve import notebook
from graphviz_tb.serve.notebook import _notebook_frontend
from tests.each import each


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A kernel on this machine; the servers that a test starts are ended."""
    for name in (*notebook.PROXY_URLS, *notebook.HUB_PREFIXES, *notebook.REMOTE_EDITORS, "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    yield
    for running in notebook.RUNNING_SERVERS.values():
        running.terminate()
        running.communicate()
    notebook.RUNNING_SERVERS.clear()


# Environment → kind, and how the address in the frame begins.
ENVIRONMENTS: dict[str, tuple[dict[str, str], bool, str, str]] = {
    "this machine": ({}, False, "local", ""),
    "an editor here": ({"VSCODE_PID": "1"}, False, "local", ""),
    "a proxy of TensorBoard": ({"TENSORBOARD_PROXY_URL": "/p/%PORT%/"}, False, "proxied", "/p/"),
    "our own proxy": ({"TBGRAPH_PROXY_URL": "/a/%PORT%", "TENSORBOARD_PROXY_URL": "/b/"}, False, "proxied", "/a/"),
    "a hub with a proxy": (
        {"JUPYTERHUB_SERVICE_PREFIX": "/user/me/"}, True, "proxied", "/user/me/proxy/absolute/",
    ),
    "a hub without one": ({"JUPYTERHUB_SERVICE_PREFIX": "/user/me/"}, False, "unreached", ""),
    "Codespaces": ({"CODESPACES": "true"}, False, "unreached", ""),
    "over ssh": ({"SSH_CONNECTION": "a 1 b 2"}, False, "unreached", ""),
}  # fmt: skip


@each("name", ENVIRONMENTS)
def test_where_a_notebook_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment, proxy, kind, address = ENVIRONMENTS[name]
    monkeypatch.setattr(notebook, "_has_server_proxy", lambda: proxy)
    found = _notebook_frontend(environment)
    assert (found.kind, found.address.startswith(address)) == (kind, True)
    assert bool(found.port) == (kind == "proxied")


def test_colab_asks_its_own_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    found = _notebook_frontend({})
    frame = notebook.ServedFrame("http://localhost:6006/", 500, found)
    assert found.kind == "colab"
    assert "kernel.proxyPort(6006" in frame._repr_html_()


@pytest.mark.slow
def test_a_call_serves_a_log(logs: Path, ended: None) -> None:
    frame = tbgraph.serve(logs, height=500, port=0)
    assert isinstance(frame, notebook.ServedFrame)
    with urllib.request.urlopen(frame.address) as answer:
        assert answer.status == 200
    assert 'height="500"' in frame._repr_html_()
    assert tbgraph.serve(logs, port=0).address == frame.address  # type: ignore[union-attr]
    frame.stop()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(frame.address)


@pytest.mark.slow
@each("keeps", [False, True])
def test_a_proxy_may_call_the_server_anything(
    keeps: bool, logs: Path, ended: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if keeps:
        monkeypatch.setattr(notebook, "_has_server_proxy", lambda: True)
        monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/me/")
    else:
        monkeypatch.setenv("TENSORBOARD_PROXY_URL", "/user/me/proxy/%PORT%/")
    frame = tbgraph.serve(logs, title=f"keeps {keeps}")
    assert isinstance(frame, notebook.ServedFrame)
    headers = {"Host": "hub.example.org", "Origin": "https://hub.example.org", "Sec-Fetch-Site": "same-origin"}
    with urllib.request.urlopen(urllib.request.Request(f"{frame.address}api/state", headers=headers)) as answer:
        assert answer.status == 200
    assert ("/proxy/absolute/" in frame.address) == keeps
    assert 'src="/user/me/proxy/' in frame._repr_html_()
    monkeypatch.undo()


@each("why", ["no packages", "no way"])
def test_else_a_static_page_says_why(why: str, logs: Path, ended: None, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "no packages":
        monkeypatch.setattr(notebook, "NEEDED", ("no_such_package",))
    else:
        monkeypatch.setenv("CODESPACES", "true")
    frame = notebook._show_server(f"--logdir '{logs}' --height 400")
    assert isinstance(frame, notebook.StaticFrame)
    said = frame._repr_html_()
    assert said.startswith("<p>A static page")
    assert "tbgraph[serve]" in said if why == "no packages" else "TBGRAPH_PROXY_URL" in said
    assert 'height="400"' in said
    monkeypatch.undo()


def test_a_height_that_is_none_is_refused() -> None:
    with pytest.raises(tbgraph.RequestError, match="not a number of pixels"):
        notebook._show_server("logs --height tall")
