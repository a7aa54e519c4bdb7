"""Routes of the server, one file a family."""

from __future__ import annotations
