"""Whether somebody sits in front of this machine."""

from __future__ import annotations

import os
import sys


def display() -> bool:
    """Return whether this machine has a screen with a browser: else somebody is most likely at a different one."""
    if sys.platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
