"""Compare two graphs.

    run        load both graphs, flat; all steps in their order
    traced, exporters, known_values
               normalise both graphs: traces, calls, names of exporters, constants, chains of ops
    columns/   labels, neighbourhoods and name scopes of the nodes
    match/     pair the nodes of both graphs, with a reason for each pair
    changes/   turn differences of matched nodes and unmatched nodes into as few changes as possible
    ledger     give each difference one owner, else make it a change; docs/architecture.md has the five laws
    report/    text, JSON, markdown
    picture/   one picture of both graphs
    comparison, result, baseline
               all changes as a value; the result of the public API; a stored graph to compare with

>>> from graphviz_tb.diff import diff
>>> old, new = b'node { name: "x" op: "Relu" }', b'node { name: "x" op: "Tanh" }'
>>> [(change.kind, change.name, change.detail["new"]) for change in diff(old, new)]
[('changed', 'x', 'Tanh')]
"""

from __future__ import annotations

TYPE_CHECKING = False  # `import graphviz_tb` imports this: nothing else may be imported here
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from graphviz_tb.diff.result import Changes
    from graphviz_tb.model.change import Change
    from graphviz_tb.options import DiffOptions

__all__ = ["Change", "assert_same", "diff"]


def diff(old: Any, new: Any, include: Iterable[str] = (), options: DiffOptions | None = None, **read: Any) -> Changes:
    """Return the changes that lead from `old` to `new`.

    Each is a source of `load` (a path, bytes, an object that holds a GraphDef) or a Model. `include` lists classes of
    differences that are ignored by default: shapes, devices, colocation, versions, constants. `read` are options
    of reading (`run`, `tag`, `tag_set`); the value of an option may be a pair, one for each side.

    The result does not depend on the order of nodes and attributes; `diff(new, old)` is the inverse.
    """
    from graphviz_tb.diff.run import compare_sources
    from graphviz_tb.errors import require_type
    from graphviz_tb.options import DiffOptions

    require_type("options", options, DiffOptions, type(None))
    return compare_sources(old, new, options or DiffOptions.including(include), read)


def assert_same(old: Any, new: Any, include: Iterable[str] = (), **read: Any) -> None:
    """Raise `AssertionError`, with the changes as its message, if two graphs differ. For tests of models."""
    changes = diff(old, new, include, **read)
    if changes:
        raise AssertionError(changes.explain())


def __getattr__(name: str) -> Any:
    if name == "Change":
        from graphviz_tb.model.change import Change

        return Change
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
