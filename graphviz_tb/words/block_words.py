"""Words of papers for a group of steps: `1×1 64, 3×3 64, 1×1 256`, `768 → 3072 → 768, GELU`, `12 heads × 64`.

A line of words describes a path: each layer feeds the next. Parallel branches are listed; a group with a step that has
no words gets none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby, pairwise, zip_longest
from math import prod

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.words.level import PROJECTION
from graphviz_tb.words.step_words import UNKNOWN_STEP, WEIGHTED_KINDS, LayerStep, heads_word, size_word

MERGED_STEP = LayerStep("merged", "")  # a layer whose words another one has
ROOM_PX = 168  # of a line in the widest box
MOST_LAYERS = 8  # that are said one by one
MOST_ATTENTIONS = 2  # of a group
ATTENTION = re.compile(r"[0-9]+ heads?(?: × [0-9]+)?|[0-9]+ kv × [0-9]+|w [0-9]+")
KERNEL = re.compile(r"(?:dw )?[0-9]+×[0-9]+")
MOST_FIRST = 2  # layers before equal blocks
OF_ONE_LAYER = re.compile(r"[0-9\u2009]+|[/dg↑][0-9].*|valid")  # behind the kernel of a layer
TABLE = re.compile(r"[0-9\u2009]{1,20} × [0-9\u2009]{1,20}")
DILATION = re.compile(r"d[0-9]+")
MOST_ENDS = 3  # of a group: outputs that each have a layer
ATTENTION_LAYERS = 4  # queries, keys, values, and what is made of them


@dataclass(frozen=True, slots=True)
class Block:
    """The steps of a group along the flow, and how they feed one another.

    `before` are for each step the nearest steps before it in the group, activations and norms left out; `joins` the
    ways into the last op that joins tensors along an axis, each as the nearest steps before it; `multiplies` are the
    nearest steps before both inputs of each product of two tensors; `averages` is true where a mean is taken. `split`
    are the heads that reshapes make in attention, with the size of each; `window` is the side of the windows into which
    they cut an image for it, 0 for none.
    """

    steps: tuple[LayerStep, ...]
    before: Mapping[int, frozenset[int]] = field(default_factory=dict)
    joins: tuple[frozenset[int], ...] = ()
    split: tuple[tuple[int, int], ...] = ()
    multiplies: tuple[frozenset[frozenset[int]], ...] = ()
    averages: bool = False
    window: int = 0

    def chain(self, numbers: Sequence[int]) -> bool:
        """Return whether some steps form a chain, each fed only by the one before it."""
        inside = set(numbers)
        first = not inside & self.before[numbers[0]] if numbers else True
        return first and all(self.before[two] & inside == {one} for one, two in pairwise(numbers))


def _chain_block(*steps: LayerStep) -> Block:
    """Return steps that feed one another in order.

    >>> _chain_block(LayerStep("dense", "→ 8"), LayerStep("dense", "→ 4")).before
    {0: frozenset(), 1: frozenset({0})}
    """
    return Block(steps, {place: frozenset([place - 1] if place else []) for place in range(len(steps))})


def block_words(block: Block) -> str | None:
    """Return the words for a group; "" for a norm, None if a paper does not describe its parts.

    >>> conv, norm, relu = LayerStep("convolution", "3×3, 64"), LayerStep("norm", "BN"), LayerStep("activation", "ReLU")
    >>> block_words(_chain_block(conv, norm, relu)), block_words(_chain_block(norm)), block_words(_chain_block(relu))
    ('3×3, 64 · BN, ReLU', '', 'ReLU')
    >>> up, down = LayerStep("dense", "→ 3072", 768, 3072), LayerStep("dense", "→ 768", 3072, 768)
    >>> block_words(Block((up, LayerStep("activation", "GELU"), down), {0: frozenset(), 2: frozenset({0})}))
    '768 → 3072 → 768, GELU'
    """
    block, rank = _merge_low_ranks(block)
    said = _merged_words(block)
    line = f"{said}, rank {rank}"
    return line if said and rank and fits(line) else said


def _merged_words(block: Block) -> str | None:
    """Return the words for a group without the layers that are merged into others."""
    steps = block.steps
    layers = [number for number, step in enumerate(steps) if step.kind in WEIGHTED_KINDS]
    if attends(steps):
        return _attention_words(block, layers)
    if UNKNOWN_STEP in steps:
        return None
    if not layers:
        return _plain_words(steps)
    ways = (_recurrent_words, _expert_words, _mixing_words)
    if (said := next(filter(None, (way(block, layers) for way in ways)), None)) is not None:
        return said
    if len(layers) == 1:
        compares = steps[layers[0]].kind == "embedding" and any(step.kind == "product" for step in steps)
        return None if compares else _layer_words(steps, layers[0])  # a loss looks up rows, too
    if len(layers) > 3 * MOST_LAYERS:
        return None
    several = (_feed_forward_words, _branch_words, _chain_words, _parallel_words)
    return next(filter(None, (way(block, layers) for way in several)), None)


def _merge_low_ranks(block: Block) -> tuple[Block, int]:
    """Return a block without the pairs of narrow layers whose result is added to that of a layer beside them, and their
    width, as of LoRA (Hu et al. 2021); 0 if there is none, or several widths.

    >>> w, a, b = LayerStep("dense", "", 64, 32), LayerStep("dense", "", 64, 8), LayerStep("dense", "", 8, 32)
    >>> beside = {0: frozenset(), 1: frozenset(), 2: frozenset({1})}
    >>> _merge_low_ranks(Block((w, a, b), beside))[1], _merge_low_ranks(_chain_block(w, a, b))[1]
    (8, 0)
    """
    steps, before = block.steps, dict(block.before)
    dense = [number for number, step in enumerate(steps) if step.kind == "dense" and step.gives and number in before]
    users = {number: {user for user, sources in before.items() if number in sources} for number in dense}
    ranks: dict[int, int] = {}  # by both of a pair
    for up in dense:
        for down in before[up].intersection(users) if len(before[up]) == 1 else ():
            narrow = steps[down].gives == steps[up].takes < min(steps[down].takes, steps[up].gives)
            bends = any(step.kind in ("activation", "norm") for step in steps[down:up])
            wide = (steps[down].takes, steps[up].gives, before[down], users[up])
            beside = any((steps[each].takes, steps[each].gives, before[each], users[each]) == wide for each in dense)
            if narrow and beside and not bends and users[down] == {up}:
                ranks.update({down: steps[down].gives, up: steps[down].gives})
    if len(set(ranks.values())) != 1:
        return block, 0
    kept = tuple([MERGED_STEP if number in ranks else step for number, step in enumerate(steps)])
    links = {number: sources.difference(ranks) for number, sources in before.items() if number not in ranks}
    return replace(block, steps=kept, before=links), next(iter(ranks.values()))


# ---- one layer, or none ----


def _plain_words(steps: Sequence[LayerStep]) -> str | None:
    """Return the words of a group without weights in products."""
    others = list(dict.fromkeys(step.word for step in steps if step.kind in ("norm", "activation", "dropout")))
    pools = [
        step.word
        for step in steps
        if step.kind in ("pool", "global", "top") or (step.kind == "shape" and len(steps) == 1)
    ]
    if pools:
        return pools[0] if len(pools) == 1 else None
    if others and all(step.kind == "norm" for step in steps):
        return others[0] if others[0].startswith("g ") else ""
    return others[0] if len(others) == 1 and not any(step.kind == "product" for step in steps) else None


def _layer_words(steps: Sequence[LayerStep], place: int) -> str:
    """Return the words of a group with one layer: its own, then its norm and activation."""
    layer = steps[place]
    after = list(dict.fromkeys(step.word for step in steps[place + 1 :] if step.kind in ("norm", "activation")))
    if len({step.word for step in steps if step.kind == "activation"}) > 1:
        after = []  # several are not a function of the layer alone
    if layer.kind in ("dense", "heads"):
        word = f"{size_word(layer.takes)} {layer.word}" if layer.takes else layer.word
        return ", ".join([word, *(each for each in after if each != "norm")])
    said = f"{layer.word} · {', '.join(after)}"
    return said if after and layer.kind != "embedding" and fits(said) else layer.word


# ---- attention ----


def attends(steps: Sequence[LayerStep]) -> int:
    """Return how often a group attends: with two products without weights and a softmax, or a layer that is all of it;
    0 if more than twice, since a layer of a decoder attends to itself and to an encoder."""
    whole = sum(step.kind in ("attention", "scores") for step in steps)
    products = sum(step.kind == "product" for step in steps)
    softmaxes = sum(step.word == "softmax" for step in steps)
    count = softmaxes if softmaxes and products == 2 * softmaxes and not whole else 0 if products else whole
    return count if count <= MOST_ATTENTIONS else 0


def _attention_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the heads of attention; then the feed-forward block behind it, where the group holds that too."""
    steps, count = block.steps, attends(block.steps)
    whole = [number for number, step in enumerate(steps) if step.kind in ("attention", "scores")]
    products = whole or [number for number, step in enumerate(steps) if step.kind == "product"]
    # Layers of attention: all before its last product, and the one that joins its heads.
    first, last = min(products), max(products)
    behind = [number for number in layers if number > last]
    inner = [number for number in layers if number < last and number not in whole]
    fed = frozenset().union(*(block.before.get(number, ()) for number in inner))
    inner = [number for number in inner if steps[number].kind != "embedding" or number in fed]  # else of positions
    bends = count > 1 and any(step.kind == "activation" and step.word != "softmax" for step in steps[first:last])
    most = ATTENTION_LAYERS * count - 1
    if len(inner) > most or bends or not all(_is_of_positions(steps[number]) for number in inner):
        return None
    joins = behind and _is_of_positions(steps[behind[0]]) and steps[last].kind != "attention"
    rest = behind[1:] if joins else behind
    if whole:
        words = {steps[number].word for number in whole}
        said = words.pop() if len(words) == 1 else None
    else:
        said = _heads(block, [*inner, *behind[: len(behind) - len(rest)]])
    if said and block.window:
        said = f"{said}, w {block.window}"
    said = f"{count} × ({said})" if said and count > 1 else said
    if not said or not rest:
        return said or None
    if (forward := _feed_forward_words(block, rest)) is None:
        return None
    return next(filter(fits, (f"{said}, {words}" for words in _without_activation(forward))), said)


def _mixing_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the heads of attention without a softmax, as retention and linear attention: two products in turn of
    tensors that dense layers make and that are split to as many heads."""
    steps = block.steps
    first, *others = [number for number, step in enumerate(steps) if step.kind == "product"] or [-1]
    if len(others) != 1 or any(steps[number].kind != "dense" for number in layers) or first < 0:
        return None
    heads, size = steps[first].heads
    wide = any(steps[number].gives == heads * size for number in layers if number < first)
    in_turn = first in block.before.get(others[0], ()) and steps[others[0]].heads[0] == heads > 1
    return heads_word(heads, heads, size) if wide and in_turn and size else None


def _is_of_positions(step: LayerStep) -> bool:
    """Return whether a layer takes each position alone, as those of attention do."""
    return step.kind in ("dense", "heads") or (step.kind == "convolution" and step.word.startswith(("1×1, ", "1, ")))


def _heads(block: Block, layers: Sequence[int]) -> str | None:
    """Return the heads, as kernels, products or reshapes split the last axis: only where all agree."""
    steps = block.steps
    widths = [steps[number].gives for number in layers if steps[number].kind == "dense"]
    made = {steps[number].heads for number in layers if steps[number].kind == "heads"}
    if not made and (queries := _heads_of_products(steps)):
        return heads_word(queries[0], _shared_heads(queries, widths), queries[1])
    if attends(steps) > 1:
        return None  # which layer belongs to which is unknown
    if not made:  # a reshape of what a layer makes
        unknown = UNKNOWN_STEP in steps
        # Three of the width of what they become are queries, keys and values, not heads.
        parts = [pair for pair in block.split if pair[0] != 3 or widths[:2] != [3 * pair[1], pair[1]]]
        pairs = _complete_pairs(parts, widths)
        made = {pair for pair in pairs if unknown or _is_split_of(pair, widths, pairs)}
        # Queries, keys and values together are taken apart by a reshape too: each of them is split again.
        made = {pair for pair in made if all(one == pair or one[0] == 1 or prod(one) != pair[1] for one in made)}
        made = {_part_of_three(pair, widths) for pair in made}
    counts = sorted(made, reverse=True)
    if len(counts) == 1:
        return heads_word(counts[0][0], *counts[0])
    if len(counts) == 2 and counts[0][1] == counts[1][1] and counts[0][0] % counts[1][0] == 0:
        return heads_word(counts[0][0], counts[1][0], counts[0][1])
    return None


def _heads_of_products(steps: Sequence[LayerStep]) -> tuple[int, int] | None:
    """Return the heads of queries and the size of each, from the shapes of products that agree; None if unknown."""
    made = [step.heads for step in steps if step.kind == "product" and all(step.heads)]
    apart = attends(steps) > 1 and (len(made) < 4 or made[0] != made[2])  # queries and keys, then what they weigh
    return made[0] if len({heads for heads, _ in made}) == 1 and not apart else None


def _shared_heads(queries: tuple[int, int], widths: Sequence[int]) -> int:
    """Return the heads of keys and values, where the widths of the layers that make them say that they are fewer."""
    heads, size = queries
    fewer = [(width - heads * size) // 2 for width in widths[:1] if len(widths) < ATTENTION_LAYERS - 1]
    both = [width for width in widths if widths.count(width) > 1]  # keys and values are as wide
    fewer += both if len(widths) >= ATTENTION_LAYERS - 1 and heads * size in widths else []
    counts = {width // size for width in fewer if 0 < width < heads * size and width % size == 0}
    shared = counts.pop() if len(counts) == 1 else heads
    return heads if heads % shared else shared


def _complete_pairs(pairs: Sequence[tuple[int, int]], widths: Sequence[int]) -> list[tuple[int, int]]:
    """Return heads and sizes, with heads that a reshape leaves open (-1) from the widths of separate layers for
    queries, keys and values."""
    found = {pair for pair in pairs if pair[0] > 0}
    if len(widths) >= ATTENTION_LAYERS - 1:
        found |= {(width // size, size) for heads, size in pairs if heads < 0 for width in widths if width % size == 0}
    return sorted(found)


def _part_of_three(pair: tuple[int, int], widths: Sequence[int]) -> tuple[int, int]:
    """Return the heads of queries where a pair holds those of keys and values too: the layer behind takes a third."""
    heads, size = pair
    return (heads, size // 3) if len(widths) == 2 and widths[0] == heads * size == 3 * widths[1] else pair


def _is_split_of(pair: tuple[int, int], widths: Sequence[int], pairs: Sequence[tuple[int, int]]) -> bool:
    """Return whether heads split the output of a dense layer: alone, or of queries, keys and values together."""
    width = pair[0] * pair[1]
    together = {width + 2 * heads * size for heads, size in pairs if size == pair[1]}
    together |= {heads * size + 2 * width for heads, size in pairs if size == pair[1]}
    return not {width, *together}.isdisjoint(widths)


# ---- cells, experts ----


def _recurrent_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return an LSTM or a GRU that is written as products, by its gates."""
    steps = block.steps
    cells = [steps[number].word for number in layers if steps[number].kind == "recurrent"]
    in_turn = all(block.before.get(after) == frozenset((first,)) for first, after in pairwise(layers))
    if len(cells) == len(layers) and len(set(cells)) == 1 and in_turn:
        several = f"{len(cells)} × ({cells[0]})" if "layers" in cells[0] else f"{cells[0]}, {len(cells)} layers"
        return cells[0] if len(cells) == 1 else several
    words = [step.word for step in steps if step.kind == "activation"]
    gates, made = (words.count("sigmoid"), words.count("tanh")), sorted(words)
    if any(steps[number].kind != "dense" for number in layers) or len(made) != sum(gates) or len(layers) > 2:
        return None
    gives = {steps[number].gives for number in layers}
    # A cell that is called again and again has its gates as often.
    if gates[0] * 2 == gates[1] * 3 > 0 and len(gives) == 1 and (width := next(iter(gives))) % 4 == 0:
        units = width // 4
        fed = any(steps[number].takes == units or len(layers) == 1 for number in layers)
        return f"LSTM {size_word(units)}" if fed else None
    if gates[0] == 2 * gates[1] > 0 and len(layers) == 2:
        small, large = min(gives), max(gives)
        if large == small and small % 3 == 0 and any(steps[number].takes == small // 3 for number in layers):
            return f"GRU {size_word(small // 3)}"
        return f"GRU {size_word(small)}" if large == 2 * small else None
    return None


def _expert_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the number of experts, how many of them a router chooses, and the feed-forward block that each is."""
    experts = {block.steps[number].word for number in layers if block.steps[number].kind == "experts"}
    if not experts:
        return None
    chosen = {step.word for step in block.steps if step.kind == "top"}
    if len(experts) > 1:
        return None
    line = ", ".join([*experts, *(chosen if len(chosen) == 1 else ())])
    count = int(next(iter(experts)).split()[0])
    # A product that all experts make of one tensor looks like one that makes as many heads.
    each = [n for n in layers if block.steps[n].kind == "experts" or block.steps[n].heads[0] == count]
    alike = [replace(step, kind="dense", gives=step.heads[1] or step.gives) for step in block.steps]
    routed = [MERGED_STEP if step.word == "softmax" else step for step in block.steps]
    steps = tuple([alike[n] if n in each else step for n, step in enumerate(routed)])
    before = {n: block.before[n].intersection(each) for n in each if n in block.before}
    known = len(before) == len(each) and all(steps[n].takes and steps[n].gives for n in each)
    forward = _feed_forward_words(replace(block, steps=steps, before=before), each) if known else None
    return next(filter(fits, (f"{line}, {words}" for words in _without_activation(forward))), line)


def _without_activation(words: str | None) -> tuple[str, ...]:
    """Return words of a feed-forward block, with and without the activation at their end; () for none."""
    return (words, words.partition(", ")[0]) if words else ()


# ---- several layers ----


def _feed_forward_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the widths of dense layers one behind the other, or of a gated block."""
    steps = [block.steps[number] for number in layers]
    if any(step.kind != "dense" or not step.gives for step in steps) or len(steps) < 2:
        return None
    between = block.steps[layers[0] + 1 : layers[-1]]
    acts = list(dict.fromkeys(step.word for step in between if step.kind == "activation"))
    gated = len(acts) == 1
    if len(steps) == 3 and gated and steps[0].gives == steps[1].gives == steps[2].takes:
        one, two, three = layers
        apart = block.before[three] == {one, two} and not {one, two} & (block.before[one] | block.before[two])
        if apart and frozenset([frozenset([one]), frozenset([two])]) in block.multiplies:
            return f"gated {size_word(steps[0].gives)}, {acts[0]}"
    block, kept = _merge_ends(block, layers)
    ends = " | ".join(size_word(step.gives) for step in steps[len(kept) - 1 :])
    steps = steps[: len(kept)]
    if not block.chain(kept) or len(kept) < 2:
        return None
    if len(steps) == 2 and gated and steps[0].gives == 2 * steps[1].takes and block.multiplies:
        return f"gated {size_word(steps[1].takes)}, {acts[0]}"
    if any(one.gives != (two.takes or one.gives) for one, two in pairwise(steps)):
        return None
    sizes = [*(size_word(step.gives) for step in steps[:-1]), ends]
    line = " → ".join([size_word(steps[0].takes) if steps[0].takes else "", *sizes]).strip()
    said = ", ".join([line, *(acts if len(acts) == 1 else ())])
    ways = (said, line) if len(kept) < len(layers) else (said,)
    return next(filter(fits, ways), None)


def _chain_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the chain of layers of a group; of a residual block the path without the projection."""
    steps = block.steps
    if all(steps[number].kind == "embedding" for number in layers):
        return _join_words([steps[number].word for number in layers])
    return next((line for words in _chain_ways(block, layers) if (line := _join_words(words))), None)


def whole_chain(block: Block) -> str:
    """Return all words for the chain of layers of a group, also without room; "" for no chain."""
    layers = [number for number, step in enumerate(block.steps) if step.kind in WEIGHTED_KINDS]
    described = UNKNOWN_STEP not in block.steps and 1 < len(layers) <= 3 * MOST_LAYERS
    ways = _chain_ways(block, layers) if described and not attends(block.steps) else ()
    return ", ".join(ways[0]) if ways else ""


def _chain_ways(block: Block, layers: Sequence[int]) -> Sequence[list[str]]:
    """Return the words for a chain of layers, from all to the fewest; () for no chain."""
    block, layers = _merge_ends(*_merge_squeeze_layers(*_merge_gates(block, layers)))
    steps = block.steps
    inside = set(layers)
    # A projection is fed as the group is, and nothing takes its result alone.
    alone = [
        number
        for number in layers
        if not block.before[number] & inside
        and all(number not in block.before[other] or len(block.before[other] & inside) > 1 for other in layers)
        and steps[number].word.startswith(("1×1", "→", "1,"))
    ]
    # So is a dense layer beside convolutions, of what is added to them: a step of time, a condition.
    given = [number for number in alone if steps[number].kind == "dense" and any(map(_is_image_layer, steps))]
    beside = [*given, *[number for number in alone if number not in given][:1]] if len(layers) > 2 else []
    way = [number for number in layers if number not in beside]
    whole = sorted([*way, *(number for number, step in enumerate(steps) if step.kind == "pool")])
    if len(way) > MOST_LAYERS or not block.chain(whole) or all(steps[number].kind == "dense" for number in way):
        return ()
    words = [steps[number].word for number in way]
    if len(words) == 2 and steps[way[0]].kind == "depthwise" and words[1].startswith("1×1, "):
        return ([f"{words[0]} → {words[1]}"],)
    more = [PROJECTION] if len(beside) > len(given) else []
    more += [f"+ {short_word(steps[number].word)}" for number in given]
    # Words without room are left out in this order: projection, padding, pools, channels.
    pooled = [short_word(steps[number].word) for number in whole]
    plain = [word.removesuffix(" valid") for word in pooled]
    layered = [short_word(steps[number].word).removesuffix(" valid") for number in way]
    kernels = [_kernel_word(steps[number].word) for number in way]
    ways = ([*pooled, *more], pooled, plain, layered, kernels)
    return [list(_equal_once(iter(words))) for words in ways]


def _is_image_layer(step: LayerStep) -> bool:
    return step.kind in ("convolution", "depthwise")


def _merge_ends(block: Block, layers: Sequence[int]) -> tuple[Block, list[int]]:
    """Return a block in which layers that each make an output from the result of one are one step `1×1 3 | 1×1 12`."""
    kept, inside = list(layers), set(layers)
    ends = [number for number in layers if not any(number in block.before[other] for other in layers)]
    sources = {block.before[number] & inside for number in ends}
    multiplied = any(frozenset(ends) <= frozenset().union(*pair) for pair in block.multiplies)
    if not 1 < len(ends) <= MOST_ENDS or len(sources) != 1 or not sources.pop() or multiplied:
        return block, kept
    steps = list(block.steps)
    word = " | ".join(short_word(steps[number].word) for number in ends)
    steps[ends[0]] = replace(steps[ends[0]], word=word)
    return replace(block, steps=tuple(steps)), [number for number in kept if number not in ends[1:]]


def _merge_gates(block: Block, layers: Sequence[int]) -> tuple[Block, list[int]]:
    """Return a block in which two equal convolutions whose results are multiplied, tanh with sigmoid, are one step
    `gated 2, 32`; as is one whose result is taken apart for this."""
    words = {step.word for step in block.steps if step.kind == "activation"}
    kept = list(layers)
    if not words.issuperset(("tanh", "sigmoid")):
        return block, kept
    steps, before = list(block.steps), dict(block.before)
    for layer in layers:
        users = [number for number in kept if layer in before[number]]
        if steps[layer].kind != "convolution" or layer not in kept:
            continue
        twins = [
            two
            for two in kept
            if two > layer and (steps[two].word, before[two]) == (steps[layer].word, before[layer])
            if frozenset([frozenset([layer]), frozenset([two])]) in block.multiplies
        ]
        takes = {steps[number].takes for number in users}
        if len(twins) == 1 and all(twins[0] in before[number] for number in users):
            kept.remove(twins[0])
            gives = steps[layer].gives
        elif frozenset([frozenset([layer])]) in block.multiplies and takes == {steps[layer].gives // 2}:
            gives = steps[layer].gives // 2
        else:
            continue
        sizes = [
            size_word(gives) if word == size_word(steps[layer].gives) else word
            for word in steps[layer].word.split(", ")[1:]
        ]
        steps[layer] = replace(
            steps[layer], word=", ".join([f"gated {steps[layer].word.split(', ')[0]}", *sizes]), gives=gives
        )
        for number in users:
            before[number] = before[number] - frozenset(twins)
    return replace(block, steps=tuple(steps), before=before), kept


def _merge_squeeze_layers(block: Block, layers: Sequence[int]) -> tuple[Block, list[int]]:
    """Return a block in which two layers that weight the channels of a third are one step `SE 8`."""
    steps, before = list(block.steps), dict(block.before)
    kept = list(layers)
    for one, two in pairwise(layers):
        narrow, wide = steps[one], steps[two]
        fed = before[two] & set(kept) == {one} and narrow.gives and wide.gives == narrow.takes > narrow.gives
        if not (fed and block.averages):
            continue
        sources = before[one] & set(kept)
        if not any(frozenset([two]) in pair for pair in block.multiplies):
            continue
        users = [number for number in kept if number != two and two in before[number]]
        if len(sources) > 1 or any(before[number] & set(kept) != sources | {two} for number in users):
            continue
        # The step at `one` has the place of both: what `two` fed, it feeds.
        steps[one] = LayerStep("convolution", f"SE {narrow.gives}", narrow.takes, wide.gives)
        kept.remove(two)
        for number in users:
            before[number] = frozenset([one])
    return replace(block, steps=tuple(steps), before=before), kept


def _branch_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the words of each branch of a module in the order of their join; a 1×1 before another layer is left
    out."""
    ways = [sorted(_upstream(block, way)) for way in block.joins]
    ways = [way for way in ways if way]
    if len(ways) < 2:
        return None
    shared = set.intersection(*map(set, ways))
    ways = [[number for number in way if number not in shared] for way in ways]
    covered = set().union(*ways)
    if shared or not covered.issuperset(layers) or any(not way for way in ways):
        return None
    if sum(len(way) for way in ways) > len(covered):  # branches that share a layer
        return None
    words = []
    for way in ways:
        said = [block.steps[number].word for number in way]
        kernels = [_kernel_word(word) for word in said]
        more = [word for word in kernels if not word.startswith("1×1")] or kernels[:1]
        if not block.chain(way):
            return None
        words.append(", ".join(more))
    line = " | ".join(words)
    return line if fits(line) else None


def _parallel_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the words of a few layers that are no path: none feeds another, as of a pyramid (Lin et al. 2017)."""
    if len(layers) > MOST_ENDS or any(block.before.get(number) != frozenset() for number in layers):
        return None
    if any(not _is_image_layer(block.steps[number]) for number in layers):
        return None
    return _join_with(" | ", [short_word(block.steps[number].word) for number in layers])


def _kernel_word(word: str) -> str:
    """Return the kernel and the stride of a layer.

    >>> _kernel_word("3×3, 64, /2"), _kernel_word("avg 3×3")
    ('3×3 /2', 'avg 3×3')
    """
    kernel, *more = word.split(", ")
    return " ".join([kernel, *(part for part in more if part.startswith("/"))])


def _upstream(block: Block, way: frozenset[int]) -> set[int]:
    """Return the layers and pools that lead into a branch."""
    seen, todo = set(way), list(way)
    while todo:
        for number in block.before.get(todo.pop(), ()):
            if number not in seen:
                seen.add(number)
                todo.append(number)
    return seen


def short_word(word: str) -> str:
    """Return the words of a layer as one of several.

    >>> short_word("3×3, 64, /2")
    '3×3 64 /2'
    """
    return word.replace(", ", " ")


def _equal_once(words: Iterator[str]) -> Iterator[str]:
    """Yield consecutive equal words once, from three on with their number."""
    for word, equal in groupby(words):
        count = len(list(equal))
        yield f"{count} × ({word})" if count > 2 else ", ".join([word] * count)


def shared_words(lines: Sequence[str]) -> str:
    """Return what chains of layers of equal length have in common, with the range of their dilations; "" if layers in
    the same place have nothing in common, or take other steps. The first may take larger steps; the last of three or
    more may lack layers, which nothing takes.

    >>> shared_words(["1×1 96, 3×3 96 /2, SE 4", "1×1 144, 3×3 96, SE 6"]), shared_words(["3 32", "3 32 d2", "3 32 d4"])
    ('1×1, 3×3 96, SE', '3 32 d1…4')
    """
    chains = [_said_layers(line.partition(" · ")[0].split(", ")) for line in lines]
    lengths = {len(chain) for chain in (chains[:-1] if len(chains) > 2 else chains)}
    if len(lengths) != 1 or len(chains[-1]) > len(chains[0]):
        return ""
    said = []
    for place in range(len(chains[0])):
        parts = [chain[place] for chain in chains if place < len(chain)]
        common = [word for word in parts[0] if all(word in part for part in parts)]
        steps = [{word for word in part if not word[0].isalnum() and word != "→"} for part in parts]
        named = common[:1] == parts[0][:1] and any(word[-1].isalnum() for word in common)  # not the channels alone
        if not named or any(step != steps[-1] for step in steps[1:]):
            return ""
        dilations = [next((int(word[1:]) for word in part if DILATION.fullmatch(word)), 1) for part in parts]
        least, most = min(dilations), max(dilations)
        said.append(" ".join([*common, *([f"d{least}…{most}"] if least < most else [])]))
    line = ", ".join(_equal_once(iter(said)))
    return line if fits(line) else ""


def more_words(words: str, known: str) -> str:
    """Return what some words have more than known ones, each once; "" if they lack any of those.

    >>> more_words("1×1 64 /2, 3×3 64 /2, projection", "1×1 64, 3×3 64"), more_words("3×3 64", "3×3 32")
    ('/2, projection', '')
    """
    more: dict[str, None] = {}
    for part, expected in zip_longest(words.split(", "), known.split(", "), fillvalue=""):
        every, usual = part.split(), expected.split()
        added = " ".join([word for word in every if word not in usual])
        if [word for word in every if word in usual] != usual or any(word.isdigit() for word in added.split()):
            return ""
        more.update({added: None} if added else {})
    return ", ".join(more)


def _said_layers(parts: Sequence[str]) -> list[list[str]]:
    """Return the words of each layer of a line; the parts of one layer alone follow commas, too.

    >>> _said_layers(["3×3", "64", "/2"]), _said_layers(["1×1 64", "3×3 64"])
    ([['3×3', '64', '/2']], [['1×1', '64'], ['3×3', '64']])
    """
    alone = len(parts) > 1 and OF_ONE_LAYER.fullmatch(parts[1]) is not None
    return [" ".join(parts).split()] if alone else [part.split() for part in parts]


def counted_words(words: Sequence[str]) -> str:
    """Return the words of parts in turn; those that repeat once with their number, of blocks of attention the heads. A
    layer or two may come first, but no attention. "" where they have no room.

    >>> (
    ...     counted_words(["→ 96", *["12 heads × 8", "96 → 384 → 96", "GELU"] * 6]),
    ...     counted_words(["4 heads × 24", "3×3 96", "3×3 96"]),
    ... )
    ('6 × (12 heads × 8)', '4 heads × 24, 3×3 96, 3×3 96')
    """
    attends = any(map(ATTENTION.fullmatch, words))
    said = [word for word in words if ATTENTION.fullmatch(word) or KERNEL.match(word) or not attends]
    for first in range(MOST_FIRST + 1):
        rest = said[first:]
        for period in range(1, len(rest) // 2 + 1):
            blocks = rest[:period] if not attends else [word for word in rest[:period] if ATTENTION.fullmatch(word)]
            if blocks and len(rest) % period == 0 and rest[period:] == rest[:-period]:
                line = f"{len(rest) // period} × ({', '.join(rest[:period])})"
                return line if fits(line) else ""
    ways = (words, said) if len(said) > 1 else ()
    return next(filter(None, (_join_words(list(_equal_once(iter(way)))) for way in ways)), "")


def table_words(lines: Sequence[str]) -> str:
    """Return the range of the rows of tables of one width; "" for other words.

    >>> table_words(["1000 × 16", "3000 × 16", "2000 × 16"]), table_words(["1000 × 16", "1000 × 8"])
    ('1000…3000 × 16', '')
    """
    sizes = [line.partition(" × ") for line in lines]
    rows = [
        int(rows.replace("\u2009", "")) if TABLE.fullmatch(line) else 0
        for line, (rows, _, _) in zip(lines, sizes, strict=True)
    ]
    if not rows or not all(rows) or len({width for _, _, width in sizes}) > 1:
        return ""
    line = f"{size_word(min(rows))}…{size_word(max(rows))} × {sizes[0][2]}"
    return line if fits(line) else ""


def _join_words(words: Sequence[str]) -> str | None:
    """Return words that have room on a line; None where they have none."""
    return _join_with(", ", words)


def _join_with(separator: str, words: Sequence[str]) -> str | None:
    """Return words with a separator between them; None where they have no room."""
    line = separator.join(words)
    return line if fits(line) else None


def fits(line: str) -> bool:
    """Return whether a line has room in the widest box."""
    return text_width(line, SMALL_FONT_PX) <= ROOM_PX
