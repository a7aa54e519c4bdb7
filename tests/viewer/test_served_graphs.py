"""The list of graphs of a page that lost its server for a while."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from graphviz_tb.render.html import viewer_source

# A chooser without a page: `order` says what comes first, the list of the server or its answer about its state.
SCRIPT = """
const source = require("node:fs").readFileSync(process.argv[2], "utf8");
const GraphChooser = new Function(`${source}\\nreturn GraphChooser;`)();
const chooser = Object.create(GraphChooser.prototype);
Object.assign(chooser, { listingCount: 0, isServerNew: false, graphs: ["old"], id: "", app: null, version: -1 });
Object.assign(chooser, { setGraphs: (graphs) => (chooser.graphs = graphs), shownId: () => "" });
for (const name of ["showFirst", "draw", "graphIdInAddress", "graphById"]) chooser[name] = () => undefined;
const { anew, order, state } = JSON.parse(process.argv[3]);
(async () => {
  let answer;
  const asked = chooser.relistGraphs(anew, new Promise((done) => (answer = done)));
  for (const step of order) {
    if (step === "list") chooser.onEvent("graph", { graphs: ["new"] });
    else answer(state);
    await new Promise((done) => setTimeout(done));
  }
  await asked;
  process.stdout.write(JSON.stringify(chooser.graphs));
})();
"""


def graphs_after(tmp_path: Path, anew: bool, order: list[str], ready: bool) -> list[str]:
    """Return the graphs that a page lists in the end; its server had "state" listed when it was asked, if `ready`."""
    module, script = tmp_path / "graphs.js", tmp_path / "script.js"
    module.write_text(viewer_source("served/graphs.js"), encoding="utf-8")
    script.write_text(SCRIPT, encoding="utf-8")
    state = {"ready": ready, "graphs": ["state"] if ready else []}
    case = json.dumps({"anew": anew, "order": order, "state": state})
    done = subprocess.run(["node", script, module, case], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.machine
@pytest.mark.parametrize("anew", [True, False])
def test_an_answer_older_than_the_list_changes_nothing(
    tmp_path: Path, require: Callable[..., None], anew: bool
) -> None:
    require("node")
    assert graphs_after(tmp_path, anew, ["list", "answer"], ready=False) == ["new"]
    assert graphs_after(tmp_path, anew, ["list", "answer"], ready=True) == ["new"]
    assert graphs_after(tmp_path, anew, ["answer", "list"], ready=False) == ["new"]
    assert graphs_after(tmp_path, anew, ["answer"], ready=True) == ["state"]


# An address without a run, and one of a run only, among graphs of two runs.
FIRST_SCRIPT = """
const source = require("node:fs").readFileSync(process.argv[2], "utf8");
const GraphChooser = new Function(`${source}\\nreturn GraphChooser;`)();
const chooser = Object.create(GraphChooser.prototype);
chooser.graphs = JSON.parse(process.argv[3]);
const shown = [{}, { run: "b" }].map((state) => chooser.graphIdInAddress(state));
process.stdout.write(JSON.stringify(shown));
"""


@pytest.mark.machine
def test_the_graph_that_the_server_prefers_is_shown_first(tmp_path: Path, require: Callable[..., None]) -> None:
    require("node")
    module, script = tmp_path / "graphs.js", tmp_path / "script.js"
    module.write_text(viewer_source("served/graphs.js"), encoding="utf-8")
    script.write_text(FIRST_SCRIPT, encoding="utf-8")
    listed = [
        {"id": str(number), "run": run, "kind": kind, "preferred": preferred}
        for number, (run, kind, preferred) in enumerate(
            [("b", "op", False), ("b", "conceptual", True), ("a", "conceptual", False), ("a", "op", True)]
        )
    ]
    done = subprocess.run(["node", script, module, json.dumps(listed)], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["3", "1"]
    done = subprocess.run(["node", script, module, json.dumps(listed[:2])], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["1", "1"]
