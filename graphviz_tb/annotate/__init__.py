"""Facts about nodes and tensors: shapes, dtypes, devices, run statistics. Decoded when they are shown."""

from __future__ import annotations

from functools import cache

from graphviz_tb.annotate.tensors import TensorDecoder, shapes_of
from graphviz_tb.model.costs import Cost, Costs
from graphviz_tb.model.facts import Facts
from graphviz_tb.model.graph import Graph
from graphviz_tb.model.hierarchy import Hierarchy
from graphviz_tb.model.stats import Stats
from graphviz_tb.options import AnnotateOptions

DEFAULT = AnnotateOptions()

__all__ = ["Stats", "annotate", "costs_by_node", "shapes_of", "weights_by_node"]


def annotate(
    hierarchy: Hierarchy,
    stats: Stats | None = None,
    options: AnnotateOptions = DEFAULT,
    before: Stats | None = None,
) -> Facts:
    """Return the facts of a hierarchy's graph, with joined run statistics and those of `before` to compare with.
    Nothing else is decoded yet."""
    tensors = TensorDecoder(hierarchy.graph, options.infer)

    @cache
    def cost() -> Costs:
        from graphviz_tb.annotate.costs import costs_of  # imports the rules of all ops, which pictures seldom need

        with tensors.inference.lock:
            return costs_of(hierarchy, tensors.inference, options.batch)

    return Facts(
        hierarchy.graph,
        tensors.decode,
        tensors.definitions.of,
        stats=stats,
        before=before,
        odd=tensors.odd,
        cost=cost,
    )


def costs_by_node(graph: Graph, options: AnnotateOptions = DEFAULT) -> list[Cost]:
    """Return the cost of the operations of each node of a flat graph, in node order."""
    from graphviz_tb.annotate.costs import costs_by_node as operations_of

    return operations_of(TensorDecoder(graph, options.infer).inference, options.batch)


def weights_by_node(graph: Graph, options: AnnotateOptions = DEFAULT) -> dict[int, Cost]:
    """Return the cost of the weights of a flat graph, at the nodes where sums count them."""
    from graphviz_tb.annotate.costs import weights_by_node as kept_by

    return kept_by(TensorDecoder(graph, options.infer).inference)
