"""Find the heads of attention, in layers, in the shapes of products, or in reshapes that split the last axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from graphviz_tb.model.columns import Ints
from graphviz_tb.words.block import Block
from graphviz_tb.words.layer_steps import TensorFlowSteps
from graphviz_tb.words.step_words import UNKNOWN_STEP, LayerStep, heads_step

MAX_ATTENTIONS = 2  # of a group
ATTENTION_LAYERS = 4  # queries, keys, values, output
MAX_OPS_TO_LAYER = 3  # between a reshape to heads and the layer before it, such as a bias


def attention_count(steps: Sequence[LayerStep]) -> int:
    """Return how often a group attends: with two products without weights and a softmax between them, or with an
    attention layer; 0 if more than twice. (A decoder layer attends to itself and to the encoder.)"""
    fused = sum(step.kind in ("attention", "scores") for step in steps)
    products, softmaxes = _products_and_softmaxes(steps)
    if products and (fused or products != 2 * softmaxes):
        return 0
    count = softmaxes if products else fused
    return count if count <= MAX_ATTENTIONS else 0


def _products_and_softmaxes(steps: Sequence[LayerStep]) -> tuple[int, int]:
    """Count the products without weights, and the softmaxes between them; a softmax behind all products chooses
    experts.

    >>> product, softmax = LayerStep("product", ""), LayerStep("activation", "softmax")
    >>> _products_and_softmaxes([product, softmax, product, softmax])
    (2, 1)
    """
    products = [number for number, step in enumerate(steps) if step.kind == "product"]
    between = steps[products[0] : products[-1]] if products else ()
    return len(products), sum(step.word == "softmax" for step in between)


def mixing_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the heads of attention without a softmax, such as retention and linear attention: two consecutive products
    of tensors that dense layers compute and reshapes split into equally many heads."""
    steps = block.steps
    first, *others = [number for number, step in enumerate(steps) if step.kind == "product"] or [-1]
    if _products_and_softmaxes(steps) != (2, 0) or any(steps[number].kind != "dense" for number in layers) or first < 0:
        return None
    heads, size = steps[first].heads
    wide = any(steps[number].out_width == heads * size for number in layers if number < first)
    in_turn = first in block.before.get(others[0], ()) and steps[others[0]].heads[0] == heads > 1
    return _heads_line(heads, heads, size) if wide and in_turn and size else None


def is_of_positions(step: LayerStep) -> bool:
    """Return whether a layer processes each position independently, as the layers of attention do."""
    return step.kind in ("dense", "heads") or (step.kind == "convolution" and step.is_pointwise)


def _heads_line(heads: int, shared: int, size: int) -> str:
    return heads_step("scores", heads, shared, size).line


def heads_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the heads into which kernels, products or reshapes split the last axis, if all agree."""
    steps = block.steps
    widths = [steps[number].out_width for number in layers if steps[number].kind == "dense"]
    found = {steps[number].heads for number in layers if steps[number].kind == "heads"}
    if not found and (query_heads := _heads_of_products(steps)):
        heads, size = query_heads
        # A layer may also mix the heads.
        wide_layers = [steps[number].out_width for number in layers if steps[number].out_width > heads]
        if wide_layers and not any(_holds_queries(width, heads, size) for width in wide_layers):
            return None  # the last axis is that of positions, so it attends to channels
        # If all reshapes are to the heads of queries, keys and values have as many.
        has_fewer = {pair for pair in block.split if pair[1] == size} != {query_heads}
        return _heads_line(heads, _shared_heads(query_heads, widths) if has_fewer else heads, size)
    if attention_count(steps) > 1:
        return None  # it is unknown which layers belong together
    if not found:  # reshapes of the results of layers
        unknown = UNKNOWN_STEP in steps
        # An axis of three may hold queries, keys and values, not for heads.
        parts = [(heads, size) for heads, size in block.split if heads != 3 or widths[:2] != [3 * size, size]]
        pairs = _complete_pairs(parts, widths)
        found = {pair for pair in pairs if unknown or _is_split_of(pair, widths, pairs)}
        # A reshape may also separate queries, keys and values, each of which is split again.
        found = {pair for pair in found if all(one == pair or one[0] == 1 or prod(one) != pair[1] for one in found)}
        found = {_part_of_three(pair, widths) for pair in found}
    if not 1 <= len(found) <= 2:
        return None
    (heads, size), (shared, shared_size) = max(found), min(found)  # of queries; of keys and values
    return _heads_line(heads, shared, size) if size == shared_size and heads % max(shared, 1) == 0 else None


def _heads_of_products(steps: Sequence[LayerStep]) -> tuple[int, int] | None:
    """Return the number and the size of heads of queries, from the shapes of products that agree; None if unknown."""
    product_heads = [step.heads for step in steps if step.kind == "product" and all(step.heads)]
    if len({heads for heads, _ in product_heads}) != 1:
        return None
    # Each attention has two products: queries with keys, then their result with values.
    is_ambiguous = attention_count(steps) > 1 and (len(product_heads) < 4 or product_heads[0] != product_heads[2])
    return None if is_ambiguous else product_heads[0]


def _holds_queries(width: int, heads: int, size: int) -> bool:
    """Return whether a layer of a width may compute queries of some heads: alone, with as many keys and values of any
    size, or with fewer keys and values of the same size.

    >>> [_holds_queries(width, 4, 16) for width in (64, 192, 256, 96, 48)]
    [True, True, True, True, False]
    """
    rest = width - heads * size
    holds_all = width % heads == 0 and width >= 3 * heads * size
    return not rest or holds_all or (0 < rest <= 2 * heads * size and rest % (2 * size) == 0)


def _shared_heads(queries: tuple[int, int], widths: Sequence[int]) -> int:
    """Return the number of heads of keys and values, if the widths of their layers show that they are fewer."""
    heads, size = queries
    fewer = [(width - heads * size) // 2 for width in widths[:1] if len(widths) < ATTENTION_LAYERS - 1]
    equal_widths = [width for width in widths if widths.count(width) > 1]  # keys and values are as wide
    fewer += equal_widths if len(widths) >= ATTENTION_LAYERS - 1 and heads * size in widths else []
    counts = {width // size for width in fewer if 0 < width < heads * size and width % size == 0}
    shared = counts.pop() if len(counts) == 1 else heads
    return heads if heads % shared else shared


def _complete_pairs(pairs: Sequence[tuple[int, int]], widths: Sequence[int]) -> list[tuple[int, int]]:
    """Return heads and sizes; a number of heads that a reshape leaves open (-1) is computed from the widths of separate
    layers for queries, keys and values."""
    found = {pair for pair in pairs if pair[0] > 0}
    if len(widths) >= ATTENTION_LAYERS - 1:
        found |= {(width // size, size) for heads, size in pairs if heads < 0 for width in widths if width % size == 0}
    return sorted(found)


def _part_of_three(pair: tuple[int, int], widths: Sequence[int]) -> tuple[int, int]:
    """Return the heads of queries if a pair includes keys and values, so that the next layer has a third of its
    width."""
    heads, size = pair
    return (heads, size // 3) if len(widths) == 2 and widths[0] == heads * size == 3 * widths[1] else pair


def _is_split_of(pair: tuple[int, int], widths: Sequence[int], pairs: Sequence[tuple[int, int]]) -> bool:
    """Return whether heads split the output of a dense layer: alone, or of queries, keys and values together."""
    width = pair[0] * pair[1]
    joint_widths = {width + 2 * heads * size for heads, size in pairs if size == pair[1]}
    joint_widths |= {heads * size + 2 * width for heads, size in pairs if size == pair[1]}
    return not {width, *joint_widths}.isdisjoint(widths)


# Heads from reshapes.


def split_heads(reader: TensorFlowSteps, nodes: Ints) -> tuple[tuple[int, int], ...]:
    """Return the last two axes of reshapes to four axes, or to five with an axis for queries, keys and values;
    distinct, with -1 for an unknown number of heads."""
    found = set()
    for node in nodes[reader.reshapes[nodes]].tolist():
        shape = reader.reshaped_sizes(node)
        if len(shape) in (4, 5) and shape[-2] and (size := _size_of_head(reader, node, shape)) > 0:
            found.add((shape[-2], size))
    return tuple(sorted(found))


def _size_of_head(reader: TensorFlowSteps, node: int, shape: Sequence[int]) -> int:
    """Return the last size of a reshape; if it is left open, computed from the width of the layer before; 0 if
    unknown."""
    heads = prod(shape[2:-1])
    if shape[-1] > 0 or min(shape[2:-1]) < 1 or (len(shape) == 5 and shape[2] != 3):
        return max(0, shape[-1])
    for _ in range(MAX_OPS_TO_LAYER):
        tensors = (source for source, _ in reader.tensors_into(node))
        node = next((source for source in tensors if reader.graph.meaning.origin[source] < 0), -1)
        if node < 0 or (steps := reader.steps_of(node)):
            break
    width = steps[0].out_width if node >= 0 and steps and steps[0].kind == "dense" else 0
    return width // heads if width % heads == 0 else 0


def window_side(reader: TensorFlowSteps, nodes: Ints) -> int:
    """Return the side of the windows of an image, if reshapes split its axes into windows and join them again:
    `(batch, rows, 7, columns, 7, channels)` and `(batch, rows, columns, 7, 7, channels)`."""
    shapes = [reader.stated_sizes(node) for node in nodes[reader.reshapes[nodes]].tolist()]
    images = [shape for shape in shapes if len(shape) == 6]
    sides = {shape[2] for shape in images if shape[2] == shape[4] > 1}
    sides &= {shape[3] for shape in images if shape[3] == shape[4] > 1}
    return sides.pop() if len(sides) == 1 else 0
