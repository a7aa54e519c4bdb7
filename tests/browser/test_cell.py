"""What a notebook shows of a model by itself: a packed page that unpacks in a frame without an origin."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import graphviz_tb
from tests.conftest import FIXTURES

SCRIPT = """
const { chromium } = require("playwright-core");
(async () => {
  const args = ["--no-sandbox", "--disable-gpu"];
  const browser = await chromium.launch({ executablePath: process.env.BROWSER_PATH, args, timeout: 120000 });
  const tab = await browser.newPage();
  tab.setDefaultTimeout(120000);
  const faults = [];
  tab.on("pageerror", (error) => faults.push(error.message));
  await tab.goto(`file://${process.argv[2]}`);
  await tab.waitForFunction(() => document.querySelector("iframe"));
  const begun = () => tab.frames()[1]?.evaluate(() => Boolean(window.tbgraph?.ready)).catch(() => false);
  for (let left = 300; left && !(await begun()); left--) await new Promise((done) => setTimeout(done, 200));
  const frame = tab.frames()[1];
  await frame.evaluate(() => window.tbgraph.ready);
  console.log((await frame.evaluate(async () => (await window.tbgraph.scene()).boxes.length)), faults.join());
  await browser.close();
})();
"""


@pytest.mark.machine
def test_a_cell_unpacks_its_page(tmp_path: Path, require: Callable[..., None]) -> None:
    require("chromium", "node", "playwright-core")
    model = graphviz_tb.load(FIXTURES / "real/mnist_cnn.pbtxt")
    (tmp_path / "cell.html").write_text(f"<!doctype html><body>{model._repr_html_()}")
    (tmp_path / "cell.js").write_text(SCRIPT)
    browser = next(path for path in ("/usr/bin/chromium", "/usr/bin/google-chrome") if Path(path).exists())
    modules = os.environ.get("NODE_PATH", str(Path(__file__).parents[2] / "node_modules"))
    done = subprocess.run(
        ["node", tmp_path / "cell.js", tmp_path / "cell.html"],
        env={**os.environ, "NODE_PATH": modules, "BROWSER_PATH": browser},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    count, _, faults = done.stdout.strip().partition(" ")
    assert (int(count or 0) > 5, faults) == (True, ""), done.stderr
