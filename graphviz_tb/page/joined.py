"""Joins of log tags to graph rows, for a page or a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphviz_tb.model.joins import TagJoin


def joins_by_tag(names: Mapping[int, str], joins: Mapping[str, TagJoin]) -> dict[str, Any]:
    """Return `joins`, [tag, row, rule, aspect] for each row of each joined tag, and `apart`, [tag, rule, rows] for each
    tag that fits several rows equally. `names` are the names of tags by id."""
    found: list[list[Any]] = []
    apart: list[list[Any]] = []
    for number, name in names.items():
        join = joins.get(name)
        if join is None:  # it was logged after the join
            continue
        if join.is_joined:
            found += ([number, row, join.rule.value, join.aspect.value] for row in join.rows)
        else:
            apart.append([number, join.rule.value, list(join.rows)])
    return {"joins": found, "apart": apart}


def embedding_joins(variables: Mapping[int, str], joins: Mapping[str, TagJoin]) -> list[list[Any]]:
    """Return [embedding, row, rule] for each row of each joined embedding. `variables` are the names of their variables
    by id."""
    return [
        [number, row, join.rule.value]
        for number, name in variables.items()
        if (join := joins.get(name)) is not None and join.is_joined
        for row in join.rows
    ]
