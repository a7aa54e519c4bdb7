"""What a real browser makes of our pictures: the box of every text, as Chromium measures it."""

from __future__ import annotations

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# Reports, for every text, its box on the page, and for every named node the box of its outline.
SCRIPT = """
const boxes = [...document.querySelectorAll('svg')].map(svg => {
  const home = svg.getBoundingClientRect();
  const at = r => [r.left - home.left, r.top - home.top, r.right - home.left, r.bottom - home.top];
  return [...svg.querySelectorAll('text')].map(text => {
    const node = text.closest('[data-name]');
    const sheets = node ? [...node.querySelectorAll('rect, path')].map(s => at(s.getBoundingClientRect())) : [];
    const box = sheets.length ? [0, 1, 2, 3].map(i => (i < 2 ? Math.min : Math.max)(...sheets.map(s => s[i]))) : null;
    return {content: text.textContent, at: at(text.getBoundingClientRect()), box};
  });
});
const told = document.createElement('pre');
told.id = 'told';
told.textContent = JSON.stringify(boxes);
document.body.replaceChildren(told);
"""


def measured(program: str, pictures: list[bytes], font: str | None = None) -> list[list[dict[str, Any]]]:
    """The texts of each picture, as the browser shows them; with `font` in place of our fonts, as if they
    were absent."""
    bodies = [picture.decode() for picture in pictures]
    if font is not None:
        bodies = [re.sub(r'font-family="[^"]*"', f'font-family="{font}"', body) for body in bodies]
    page = "<!doctype html><meta charset=utf-8><style>svg{display:block}</style>" + "".join(bodies)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(f"{page}<script>{SCRIPT}</script>", encoding="utf-8")
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        command += ["--virtual-time-budget=10000", "--dump-dom", path.as_uri()]
        dom = subprocess.run(command, capture_output=True, check=True, timeout=900).stdout.decode()
    found = re.search(r'<pre id="told">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[:2000]
    told: list[list[dict[str, Any]]] = json.loads(unescape(found[1]))
    return told
