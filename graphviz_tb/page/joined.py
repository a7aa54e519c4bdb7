"""Where tags of a log belong in a graph, as a page or a server describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphviz_tb.model.joins import Join


def joins_told(names: Mapping[int, str], joins: Mapping[str, Join]) -> dict[str, Any]:
    """`joins` has [tag, row, rule, aspect] for each row of each tag that is joined; `apart` has [tag, rule, rows] for
    each tag that is not: the rows that fit equally. `names` are those of tags by their ids."""
    found: list[list[Any]] = []
    apart: list[list[Any]] = []
    for number, name in names.items():
        join = joins.get(name)
        if join is None:  # it was logged after the others were joined
            continue
        if join.joined:
            found += ([number, row, join.rule.value, join.aspect.value] for row in join.rows)
        else:
            apart.append([number, join.rule.value, list(join.rows)])
    return {"joins": found, "apart": apart}


def clouds_joined(variables: Mapping[int, str], joins: Mapping[str, Join]) -> list[list[Any]]:
    """[embedding, row, rule] for each row of each embedding that is joined. `variables` are the names of their
    variables, by the ids of the embeddings."""
    return [
        [number, row, join.rule.value]
        for number, name in variables.items()
        if (join := joins.get(name)) is not None and join.joined
        for row in join.rows
    ]
