"""Fold one level: same neighbours, names, flow; the flow alone if names do not help."""

from __future__ import annotations

from dataclasses import replace

from graphviz_tb.group.flow.box import FlowBox, make_group
from graphviz_tb.group.flow.dag import Dag, contract_groups, sub_dag
from graphviz_tb.group.flow.likeness import stack_same_neighbours
from graphviz_tb.group.flow.names import find_name_families
from graphviz_tb.group.flow.readable import reading_cost, simplify_level
from graphviz_tb.group.flow.regions import SMALL_REGION_BOXES, fold_flow
from graphviz_tb.group.flow.setting import MAX_FLOW_DEPTH, FoldContext
from graphviz_tb.group.flow.tokens import box_tokens
from graphviz_tb.model.hierarchy import GroupOrigin

NAMELESS_COST_RATIO = 0.75  # cost without names, to that with names, below which names are dropped
MAX_UNNAMED_LEVEL = 3  # boxes; levels up to this size need no groups by name


def fold_dag(dag: Dag, setting: FoldContext, limit: int, deep: int = 0) -> list[FlowBox]:
    """Return the boxes of a level, along its flow."""
    alike = stack_same_neighbours(dag, setting.symbols)
    total = dag.total_ops()
    named = fold_name_families(alike, setting, deep) if deep <= MAX_FLOW_DEPTH else alike
    boxes = simplify_level(fold_flow(named, setting, limit, deep), limit, total)
    # Try without names, at the top of a level only: doing so at every depth would double the work each time.
    if deep == 0 and named is not alike:
        bare = simplify_level(fold_flow(alike, setting, limit), limit, total)
        if reading_cost(bare) < NAMELESS_COST_RATIO * reading_cost(boxes):
            return bare
    return boxes


def fold_name_families(dag: Dag, setting: FoldContext, deep: int) -> Dag:
    """Fold the groups by name of a level, each with its content folded."""
    if len(dag) <= MAX_UNNAMED_LEVEL:
        return dag
    groups = []
    for named in find_name_families(dag, setting.order(dag), setting.vocabulary):
        inner = sub_dag(dag, named.members)
        symbol = setting.symbols.symbol_of("shape", *box_tokens(inner, setting.order(inner), setting.symbols))
        # Inner wiring, whatever its inputs.
        alone = box_tokens(replace(inner, outside=None), setting.order(inner), setting.symbols)
        fold = fold_dag if len(inner) > SMALL_REGION_BOXES else fold_flow
        members = fold(inner, setting, setting.soft, deep + 1)
        box = make_group(GroupOrigin.NAME, members, symbol, "_".join(named.words))
        box.inside = setting.symbols.symbol_of("inside", *alone)
        groups.append((named.members, box))
    return contract_groups(dag, groups)
