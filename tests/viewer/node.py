"""Parts of the page's script, run by Node."""

from __future__ import annotations

import json
import subprocess
import tempfile
from typing import Any


def answered(code: str, given: Any) -> Any:
    """What a script, too long for a word of a command, prints as JSON; `given` is its standard input, as JSON."""
    with tempfile.NamedTemporaryFile("w", suffix=".cjs", encoding="utf-8") as script:
        script.write(code)
        script.flush()
        done = subprocess.run(
            ["node", script.name], input=json.dumps(given), capture_output=True, text=True, check=True
        )
    return json.loads(done.stdout)
