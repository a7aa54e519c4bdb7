"""A small graph before a change and after it."""

from __future__ import annotations

OLD = 'node { name: "x" op: "Placeholder" } node { name: "b" op: "Relu6" input: "x" }'
NEW = OLD.replace("Relu6", "Gelu")
