"""Words of papers for a group of steps: `1×1 64, 3×3 64, 1×1 256`, `768 → 3072 → 768, GELU`, `12 heads × 64`.

A line of words describes a path, in which each layer feeds the next. Parallel branches are listed. A group with a step
without words has no words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from itertools import pairwise, permutations

from graphviz_tb.words.block import Block
from graphviz_tb.words.heads import ATTENTION_LAYERS, attends, heads_words, is_of_positions, mixing_words
from graphviz_tb.words.level import PROJECTION
from graphviz_tb.words.shared_words import equal_once, fits, join_with, join_words, short_word
from graphviz_tb.words.step_words import UNKNOWN_STEP, WEIGHTED_KINDS, LayerStep, size_word

MERGED_STEP = LayerStep("merged", "")  # a layer that is described by the words of another layer
MAX_LISTED_LAYERS = 8  # layers of a group that are listed one by one
MAX_LISTED_OUTPUTS = 3  # outputs of a group that each have a layer


def _chain_block(*steps: LayerStep) -> Block:
    """Return steps that feed one another in order.

    >>> _chain_block(LayerStep("dense", "→ 8"), LayerStep("dense", "→ 4")).before
    {0: frozenset(), 1: frozenset({0})}
    """
    return Block(steps, {place: frozenset([place - 1] if place else []) for place in range(len(steps))})


def block_words(block: Block) -> str | None:
    """Return the words for a group; "" for a norm, None if papers have no words for its parts.

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
    ways = (_recurrent_words, _expert_words, mixing_words)
    if (said := next(filter(None, (way(block, layers) for way in ways)), None)) is not None:
        return said
    if len(layers) == 1:
        compares = steps[layers[0]].kind == "embedding" and any(step.kind == "product" for step in steps)
        return None if compares else _layer_words(steps, layers[0])  # a loss may look up rows of a table, too
    if len(layers) > 3 * MAX_LISTED_LAYERS:
        return None
    several = (_feed_forward_words, _branch_words, _chain_words, _parallel_words)
    return next(filter(None, (way(block, layers) for way in several)), None)


def _merge_low_ranks(block: Block) -> tuple[Block, int]:
    """Return a block without pairs of narrow layers whose result is added to that of a layer beside them, as in LoRA
    (Hu et al. 2021), and their width; 0 if there are none, or several widths.

    >>> w, a, b = LayerStep("dense", "", 64, 32), LayerStep("dense", "", 64, 8), LayerStep("dense", "", 8, 32)
    >>> beside = {0: frozenset(), 1: frozenset(), 2: frozenset({1})}
    >>> _merge_low_ranks(Block((w, a, b), beside))[1], _merge_low_ranks(_chain_block(w, a, b))[1]
    (8, 0)
    """
    steps, before = block.steps, dict(block.before)
    dense = [number for number, step in enumerate(steps) if step.kind == "dense" and step.gives and number in before]
    users = {number: {user for user, sources in before.items() if number in sources} for number in dense}
    ranks: dict[int, int] = {}  # width by layer, for both layers of a pair
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


# One layer, or none.


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
    """Return the words of a group with one layer: the words of the layer, then of its norm and activation."""
    layer = steps[place]
    after = list(dict.fromkeys(step.word for step in steps[place + 1 :] if step.kind in ("norm", "activation")))
    if len({step.word for step in steps if step.kind == "activation"}) > 1:
        after = []  # several activations do not belong to the layer alone
    if layer.kind in ("dense", "heads"):
        word = f"{size_word(layer.takes)} {layer.word}" if layer.takes else layer.word
        return ", ".join([word, *after])
    said = f"{layer.word} · {', '.join(after)}"
    return said if after and layer.kind != "embedding" and fits(said) else layer.word


# Attention.


def _attention_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the heads of attention, then the feed-forward block behind it, if the group contains one."""
    steps, count = block.steps, attends(block.steps)
    whole = [number for number, step in enumerate(steps) if step.kind in ("attention", "scores")]
    products = whole or [number for number, step in enumerate(steps) if step.kind == "product"]
    # Layers of attention are all layers before its last product, and the layer that joins its heads.
    first, last = min(products), max(products)
    behind = [number for number in layers if number > last]
    inner = [number for number in layers if number < last and number not in whole]
    fed = frozenset().union(*(block.before.get(number, ()) for number in inner))
    inner = [number for number in inner if steps[number].kind != "embedding" or number in fed]  # no table of positions
    inner = [number for number in inner if not _filters_positions(block, number, {*inner, *products})]
    bends = count > 1 and any(step.kind == "activation" and step.word != "softmax" for step in steps[first:last])
    most = ATTENTION_LAYERS * count - 1
    if behind and len(inner) > most:  # the feed-forward block is beside attention, as in GPT-J
        leading = _steps_before(block, products)
        behind += [number for number in inner if number not in leading]
        inner = [number for number in inner if number in leading]
    if len(inner) > most or bends or not all(is_of_positions(steps[number]) for number in inner):
        return None
    joins = behind and is_of_positions(steps[behind[0]]) and steps[last].kind != "attention"
    rest = behind[1:] if joins else behind
    if whole:
        words = {steps[number].word for number in whole}
        said = words.pop() if len(words) == 1 else None
    else:
        said = heads_words(block, [*inner, *behind[: len(behind) - len(rest)]])
    if said and block.window:
        said = f"{said}, w {block.window}"
    said = f"{count} × ({said})" if said and count > 1 else said
    if not said or not rest:
        return said or None
    if experts := _expert_words(block, rest):
        return next(filter(fits, (f"{said}, {words}" for words in _without_forward_block(experts))), said)
    if (forward := _feed_forward_words(block, rest)) is None:
        return None
    return next(filter(fits, (f"{said}, {words}" for words in _without_activation(forward))), said)


def _steps_before(block: Block, ends: Sequence[int]) -> set[int]:
    """Return all steps that lead to some steps."""
    found, todo = set[int](), list(ends)
    while todo:
        new = block.before.get(todo.pop(), frozenset()) - found
        found |= new
        todo += new
    return found


def _filters_positions(block: Block, layer: int, attention: Set[int]) -> bool:
    """Return whether a layer only filters or subsamples positions for attention, as in CvT (Wu et al. 2021), PVT (Wang
    et al. 2021) and MViT (Fan et al. 2021)."""
    step, users = block.steps[layer], [number for number, before in block.before.items() if layer in before]
    fed = [is_of_positions(block.steps[user]) or step.kind == "depthwise" for user in users]
    return _is_image_layer(step) and not is_of_positions(step) and bool(fed) and all(fed) and attention >= {*users}


# Recurrent cells, and experts.


def _recurrent_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the words of an LSTM or a GRU that is written as products, found by the number of its gates."""
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
    # An unrolled cell has its gates once for each step.
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
    """Return the number of experts, the number that a router chooses, and the feed-forward block of an expert."""
    experts = {block.steps[number].word for number in layers if block.steps[number].kind == "experts"}
    if not experts:
        return None
    chosen = {step.word for step in block.steps if step.kind == "top"}
    if len(experts) > 1:
        return None
    line = ", ".join([*experts, *(chosen if len(chosen) == 1 else ())])
    count = int(next(iter(experts)).split()[0])
    # A product of all experts with one tensor looks like a product that makes as many heads.
    each = [n for n in layers if block.steps[n].kind == "experts" or block.steps[n].heads[0] == count]
    alike = [replace(step, kind="dense", gives=step.heads[1] or step.gives) for step in block.steps]
    routed = [MERGED_STEP if step.word == "softmax" else step for step in block.steps]
    steps = tuple([alike[n] if n in each else step for n, step in enumerate(routed)])
    before = {n: block.before[n].intersection(each) for n in each if n in block.before}
    known = len(before) == len(each) and all(steps[n].takes and steps[n].gives for n in each)
    forward = _feed_forward_words(replace(block, steps=steps, before=before), each) if known else None
    return next(filter(fits, (f"{line}, {words}" for words in _without_activation(forward))), line)


def _without_forward_block(words: str) -> tuple[str, ...]:
    """Return words of experts from long to short: with the block of an expert, and with less and less of it.

    >>> _without_forward_block("8 experts, top 2, gated 128, SiLU")
    ('8 experts, top 2, gated 128, SiLU', '8 experts, top 2, gated 128', '8 experts, top 2', '8 experts')
    """
    parts = words.split(", ")
    return tuple([", ".join(parts[:count]) for count in range(len(parts), 0, -1)])


def _without_activation(words: str | None) -> tuple[str, ...]:
    """Return words of a feed-forward block with and without the activation at their end; () for None."""
    return (words, words.partition(", ")[0]) if words else ()


# Several layers.


def _feed_forward_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the widths of consecutive dense layers, or of a gated block."""
    steps = [block.steps[number] for number in layers]
    if any(step.kind != "dense" or not step.gives for step in steps) or len(steps) < 2:
        return None
    between = block.steps[layers[0] + 1 : layers[-1]]
    acts = list(dict.fromkeys(step.word for step in between if step.kind == "activation"))
    gated = len(acts) == 1
    if len(steps) == 3 and gated and steps[0].gives == steps[1].gives == (steps[2].takes or steps[0].gives):
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
    """Return the chain of layers of a group; for a residual block its path without the projection."""
    steps = block.steps
    if all(steps[number].kind == "embedding" for number in layers):
        tables = [steps[number] for number in layers]
        return join_words([f"position {table.word}" if table.positional else table.word for table in tables])
    return next((line for words in _chain_ways(block, layers) if (line := join_words(words))), None)


def whole_chain(block: Block) -> str:
    """Return the full words for the chain of layers of a group, whatever their length; "" if there is no chain."""
    layers = [number for number, step in enumerate(block.steps) if step.kind in WEIGHTED_KINDS]
    described = UNKNOWN_STEP not in block.steps and 1 < len(layers) <= 3 * MAX_LISTED_LAYERS
    ways = _chain_ways(block, layers) if described and not attends(block.steps) else ()
    return ", ".join(ways[0]) if ways else ""


def _chain_ways(block: Block, layers: Sequence[int]) -> Sequence[list[str]]:
    """Return alternative words for a chain of layers, from the longest to the shortest; () if there is no chain."""
    block, layers = _merge_ends(*_merge_squeeze_layers(*_merge_gates(block, layers)))
    block = _without_side_links(block)
    steps = block.steps
    inside = set(layers)
    # A projection has the same input as the group, and its result is only used together with others.
    alone = [
        number
        for number in layers
        if not block.before[number] & inside
        and all(number not in block.before[other] or len(block.before[other] & inside) > 1 for other in layers)
        and steps[number].word.startswith(("1×1", "→", "k1,"))
    ]
    # So is a dense layer whose result is added to convolutions: a time step, a condition.
    given = [number for number in alone if steps[number].kind == "dense" and any(map(_is_image_layer, steps))]
    beside = [*given, *[number for number in alone if number not in given][:1]] if len(layers) > 2 else []
    way = [number for number in layers if number not in beside]
    pools = [number for number, step in enumerate(steps) if step.kind == "pool"]
    enlarged = [number for number in pools if _is_enlarged_and_added(block, number)]
    whole = sorted([*way, *(number for number in pools if number not in enlarged)])
    if len(way) > MAX_LISTED_LAYERS or not block.chain(whole) or all(steps[number].kind == "dense" for number in way):
        return ()
    words = [steps[number].word for number in way]
    if len(words) == 2 and steps[way[0]].kind == "depthwise" and words[1].startswith(("1×1, ", "k1, ")):
        return ([f"{words[0]} → {words[1]}"],)
    more = [PROJECTION] if len(beside) > len(given) else []
    more += [f"+ {short_word(steps[number].word)}" for number in (*given, *enlarged)]
    # Where there is no room, leave out the projection first, then padding, pools and channels.
    pooled = [short_word(steps[number].word) for number in whole]
    plain = [word.removesuffix(" valid") for word in pooled]
    layered = [short_word(steps[number].word).removesuffix(" valid") for number in way]
    kernels = [_kernel_word(steps[number].word) for number in way]
    ways = ([*pooled, *more], pooled, plain, layered, kernels)
    return [list(equal_once(iter(words))) for words in ways]


def _is_enlarged_and_added(block: Block, pool: int) -> bool:
    """Return whether a pool enlarges another input of a group, and a layer reads the sum, as in a pyramid (Lin et al.
    2017)."""
    fed = any(pool in before and len(before) > 1 for before in block.before.values())
    return fed and block.steps[pool].word.startswith("↑") and not block.before.get(pool) and not block.joins


def _is_image_layer(step: LayerStep) -> bool:
    return step.kind in ("convolution", "depthwise")


def _merge_ends(
    block: Block, layers: Sequence[int], separator: str = " | ", said: Callable[[str], str] = short_word
) -> tuple[Block, list[int]]:
    """Return a block in which the layers that compute several outputs from one result are merged into one step,
    `1×1 3 | 1×1 12`."""
    kept, inside = list(layers), set(layers)
    ends = [number for number in layers if not any(number in block.before[other] for other in layers)]
    sources = {block.before[number] & inside for number in ends}
    multiplied = any(frozenset(ends) <= frozenset().union(*pair) for pair in block.multiplies)
    if not 1 < len(ends) <= MAX_LISTED_OUTPUTS or len(sources) != 1 or not sources.pop() or multiplied:
        return block, kept
    steps = list(block.steps)
    word = separator.join(said(steps[number].word) for number in ends)
    steps[ends[0]] = replace(steps[ends[0]], word=word)
    return replace(block, steps=tuple(steps)), [number for number in kept if number not in ends[1:]]


def _merge_gates(block: Block, layers: Sequence[int]) -> tuple[Block, list[int]]:
    """Return a block in which two equal convolutions whose results are multiplied, tanh with sigmoid, or one whose
    result is split for this, are merged into one step, `gated 2, 32`."""
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


def _without_side_links(block: Block) -> Block:
    """Return a block without links from layers that only gate a later result, such as the first of Mamba, or that a
    scan passes on besides its result; parallel layers that feed a scan form one line."""
    gates = {
        (min(one), two)
        for ways in block.multiplies
        if len(ways) == 2
        for one, two in permutations(ways)
        if len(one) == 1
    }
    before = dict(block.before)
    for number, links in block.before.items():
        scans = {each for each in links if block.steps[each].kind == "scan"}
        later = [scans, *(way for gate, way in gates if gate in links and way <= links)]
        passed = [_upstream(block, frozenset(way)) - way for way in later]
        before[number] = links.difference(*passed)
    for number, links in block.before.items():
        if block.steps[number].kind != "scan" or any(block.steps[each].kind != "dense" for each in links):
            continue
        # Such as queries, keys and values, and the gate of the result.
        gating = {gate for gate, way in gates if way == {number} and block.steps[gate].kind == "dense"}
        line = sorted(links | gating)
        if len({before[each] for each in line}) == 1 < len(line):
            before = {each: held - gating for each, held in before.items()}
            before.update({later: frozenset([one]) for one, later in pairwise([*line, number])})
    return replace(block, before=before)


def _merge_squeeze_layers(block: Block, layers: Sequence[int]) -> tuple[Block, list[int]]:
    """Return a block in which two layers that weight the channels of a third are merged into one step, `SE 8`."""
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
        # The step at `one` replaces both: it feeds the steps that `two` fed.
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
    for number, way in enumerate(ways):
        block, ways[number] = _merge_ends(block, way, "+", _kernel_word)
    if not all(map(block.chain, ways)):
        return None
    steps = block.steps
    words = [[(steps[number].word, steps[number].kind == "pool") for number in way] for way in ways]
    # Where there is no room, leave out the kernels of pools and resizes, then count alternating layers, then leave out
    # pools.
    brief = [[(_pool_kind(word) if pool else word, pool) for word, pool in way] for way in words]
    layered = [[(word, pool) for word, pool in way if not pool] for way in words]
    kernels = (
        [_main_kernels([word for word, _ in way]) for way in each] for each in (words, brief, layered) if all(each)
    )
    lines = (_join_branches(each) for said in kernels for each in (said, [_count_turns(way) for way in said]))
    return next(filter(fits, lines), None)


def _count_turns(words: list[str]) -> list[str]:
    """Merge two layers that alternate.

    >>> _count_turns(["7×1", "1×7", "7×1", "1×7"]), _count_turns(["7×1", "1×7"]), _count_turns(["3×3", "3×3"])
    (['2 × (7×1, 1×7)'], ['7×1', '1×7'], ['3×3', '3×3'])
    """
    turns = len(words) // 2
    return [f"{turns} × ({', '.join(words[:2])})"] if turns > 1 and words == words[:2] * turns else words


def _pool_kind(word: str) -> str:
    """Return the words of a pool without its kernel.

    >>> _pool_kind("max 3×3, /2"), _pool_kind("↑2 nearest")
    ('max, /2', '↑2 nearest')
    """
    kind, *more = word.split(", ")
    return ", ".join([kind.partition(" ")[0] if "×" in kind else kind, *more])


def _main_kernels(words: Sequence[str]) -> list[str]:
    """Return the kernels of the layers of a branch, without 1×1 unless there is no other.

    >>> _main_kernels(["1×1, 64", "3×3, 96"]), _main_kernels(["1×1, 64"])
    (['3×3'], ['1×1'])
    """
    kernels = list(map(_kernel_word, words))
    return [word for word in kernels if word.split()[0] not in ("1×1", "k1")] or kernels[:1]


def _join_branches(branches: Sequence[Sequence[str]]) -> str:
    """Join the words of branches; after an equal kernel only the dilation is repeated.

    >>> _join_branches([["1×1"], ["3×3 d6"], ["3×3 d12"], ["3×3", "3×3"]])
    '1×1 | 3×3 d6 | d12 | 3×3, 3×3'
    """
    words = [", ".join(branch) for branch in branches]
    kernels = [word.partition(" d")[0] if " d" in word and "," not in word else "" for word in words]
    again = [bool(kernel) and kernel == before for before, kernel in pairwise(["", *kernels])]
    said = [
        word.removeprefix(f"{kernel} ") if same else word
        for word, kernel, same in zip(words, kernels, again, strict=True)
    ]
    return " | ".join(said)


def _parallel_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the words of a few parallel layers, none of which feeds another, as in a pyramid (Lin et al. 2017)."""
    if len(layers) > MAX_LISTED_OUTPUTS or any(block.before.get(number) != frozenset() for number in layers):
        return None
    if any(not _is_image_layer(block.steps[number]) for number in layers):
        return None
    return join_with(" | ", [short_word(block.steps[number].word) for number in layers])


def _kernel_word(word: str) -> str:
    """Return the kernel, the stride and the dilation from the words of a layer.

    >>> _kernel_word("3×3, 64, /2"), _kernel_word("3×3, 64, d6"), _kernel_word("avg 3×3")
    ('3×3 /2', '3×3 d6', 'avg 3×3')
    """
    kernel, *more = word.split(", ")
    return " ".join([kernel, *(part for part in more if part.startswith(("/", "d")))])


def _upstream(block: Block, way: frozenset[int]) -> set[int]:
    """Return the layers and pools that lead into a branch."""
    seen, todo = set(way), list(way)
    while todo:
        for number in block.before.get(todo.pop(), ()):
            if number not in seen:
                seen.add(number)
                todo.append(number)
    return seen
