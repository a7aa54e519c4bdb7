"""Serve a log directory, or one graph, to a browser while it is written.

guard ─ routes ─ session ─ (log, graphs) ─ live

Only `commands/serve.py` and notebooks import this folder: it needs the extra `serve`.
"""

from __future__ import annotations
