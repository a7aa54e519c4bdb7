"""The gallery is what the tool draws now; `python docs/gallery/make.py` draws it again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MAKE = Path(__file__).parents[2] / "docs" / "gallery" / "make.py"


@pytest.mark.slow
def test_the_gallery_is_current() -> None:
    done = subprocess.run([sys.executable, str(MAKE), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
