"""Words of papers for a group of steps: `1×1 64, 3×3 64, 1×1 256`, `768 → 3072 → 768, GELU`, `12 heads × 64`.

A line of words describes a path, in which each layer feeds the next. Parallel branches are listed. A group with a step
without words has no words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from itertools import pairwise, permutations
from operator import attrgetter

from graphviz_tb.words.block import Block
from graphviz_tb.words.heads import ATTENTION_LAYERS, attends, heads_words, is_of_positions, mixing_words
from graphviz_tb.words.level import PROJECTION
from graphviz_tb.words.shared_words import equal_once, fits, join_with, join_words
from graphviz_tb.words.step_words import UNKNOWN_STEP, WEIGHTED_KINDS, LayerStep, size_word

MERGED_STEP = LayerStep("merged", "")  # a layer that is described by the words of another layer
MAX_LISTED_LAYERS = 8  # layers of a group that are listed one by one
MAX_LISTED_OUTPUTS = 3  # outputs of a group that each have a layer

Kernel = tuple[str, ...]  # the words of a layer in a branch: its kernel, then its stride and its dilation


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
    said = _recurrent_words(block, layers) or ", ".join(_expert_parts(block, layers)) or mixing_words(block, layers)
    if said:
        return said
    if len(layers) == 1:
        compares = steps[layers[0]].kind == "embedding" and any(step.kind == "product" for step in steps)
        return None if compares else _layer_words(steps, layers[0])  # a loss may look up rows of a table, too
    if len(layers) > 3 * MAX_LISTED_LAYERS:
        return None
    if forward := _feed_forward_parts(block, layers):
        return ", ".join(forward)
    return _branch_words(block, layers) or _chain_words(block, layers) or _parallel_words(block, layers)


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
        step.line
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
        word = f"{size_word(layer.takes)} {layer.line}" if layer.takes else layer.line
        return ", ".join([word, *after])
    said = f"{layer.line} · {', '.join(after)}"
    return said if after and layer.kind != "embedding" and fits(said) else layer.line


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
        words = {steps[number].line for number in whole}
        said = words.pop() if len(words) == 1 else None
    else:
        said = heads_words(block, [*inner, *behind[: len(behind) - len(rest)]])
    if said and block.window:
        said = f"{said}, w {block.window}"
    said = f"{count} × ({said})" if said and count > 1 else said
    if not said or not rest:
        return said or None
    behind_words = _expert_parts(block, rest) or _feed_forward_parts(block, rest)
    return ", ".join(_fitting_parts([said], behind_words)) if behind_words else None


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
    cells = [steps[number] for number in layers if steps[number].kind == "recurrent"]
    in_turn = all(block.before.get(after) == frozenset((first,)) for first, after in pairwise(layers))
    if len(cells) == len(layers) and len({cell.line for cell in cells}) == 1 and in_turn:
        line, count = cells[0].line, len(cells)
        several = f"{count} × ({line})" if cells[0].sizes else f"{line}, {count} layers"
        return line if count == 1 else several
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


def _expert_parts(block: Block, layers: Sequence[int]) -> Sequence[str]:
    """Return the number of experts, the number that a router chooses, and the feed-forward block of an expert; () if
    there are no experts."""
    experts = {block.steps[number] for number in layers if block.steps[number].kind == "experts"}
    counts = {(step.heads[0], step.word) for step in experts}
    if len(counts) != 1:
        return ()
    [(count, word)] = counts
    chosen = {step.word for step in block.steps if step.kind == "top"}
    parts = [word, *(chosen if len(chosen) == 1 else ())]
    # A product of all experts with one tensor looks like a product that makes as many heads.
    each = [n for n in layers if block.steps[n].heads[0] == count]
    alike = [replace(step, kind="dense", gives=step.heads[1] or step.gives) for step in block.steps]
    routed = [MERGED_STEP if step.word == "softmax" else step for step in block.steps]
    steps = tuple([alike[n] if n in each else step for n, step in enumerate(routed)])
    before = {n: block.before[n].intersection(each) for n in each if n in block.before}
    known = len(before) == len(each) and all(steps[n].takes and steps[n].gives for n in each)
    return _fitting_parts(parts, _feed_forward_parts(replace(block, steps=steps, before=before), each) if known else ())


def _fitting_parts(parts: Sequence[str], more: Sequence[str]) -> Sequence[str]:
    """Return the parts of a line, and as many more as it has room for.

    >>> _fitting_parts(["12 heads × 64", "w 7"], ["8 experts", "top 2", "768 → 3072 → 768", "GELU"])
    ['12 heads × 64', 'w 7', '8 experts', 'top 2']
    """
    ways = ([*parts, *more[:count]] for count in range(len(more), 0, -1))
    return next((way for way in ways if fits(", ".join(way))), parts)


# Several layers.


def _feed_forward_parts(block: Block, layers: Sequence[int]) -> Sequence[str]:
    """Return the widths of consecutive dense layers, or of a gated block, and their activation; () for other layers."""
    steps = [block.steps[number] for number in layers]
    if any(step.kind != "dense" or not step.gives for step in steps) or len(steps) < 2:
        return ()
    between = block.steps[layers[0] + 1 : layers[-1]]
    acts = list(dict.fromkeys(step.word for step in between if step.kind == "activation"))
    gated = len(acts) == 1
    if len(steps) == 3 and gated and steps[0].gives == steps[1].gives == (steps[2].takes or steps[0].gives):
        one, two, three = layers
        apart = block.before[three] == {one, two} and not {one, two} & (block.before[one] | block.before[two])
        if apart and frozenset([frozenset([one]), frozenset([two])]) in block.multiplies:
            return f"gated {size_word(steps[0].gives)}", acts[0]
    block, kept = _merge_ends(block, layers)
    ends = " | ".join(size_word(step.gives) for step in steps[len(kept) - 1 :])
    steps = steps[: len(kept)]
    if not block.chain(kept) or len(kept) < 2:
        return ()
    if len(steps) == 2 and gated and steps[0].gives == 2 * steps[1].takes and block.multiplies:
        return f"gated {size_word(steps[1].takes)}", acts[0]
    if any(one.gives != (two.takes or one.gives) for one, two in pairwise(steps)):
        return ()
    sizes = [*(size_word(step.gives) for step in steps[:-1]), ends]
    line = " → ".join([size_word(steps[0].takes) if steps[0].takes else "", *sizes]).strip()
    parts = [line, *(acts if len(acts) == 1 else ())]
    ways = (parts, [line]) if len(kept) < len(layers) else (parts,)
    return next((way for way in ways if fits(", ".join(way))), ())


def _chain_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the chain of layers of a group; for a residual block its path without the projection."""
    steps = block.steps
    if all(steps[number].kind == "embedding" for number in layers):
        tables = [steps[number] for number in layers]
        return join_words([f"position {table.line}" if table.positional else table.line for table in tables])
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
        and (steps[number].word.startswith(("1×1", "→")) or steps[number].is_pointwise)
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
    if len(way) == 2 and steps[way[0]].kind == "depthwise" and steps[way[1]].is_pointwise:
        return ([" → ".join(steps[number].line for number in way)],)
    more = [PROJECTION] if len(beside) > len(given) else []
    more += [f"+ {steps[number].item}" for number in (*given, *enlarged)]
    # Where there is no room, leave out the projection first, then padding, pools and channels.
    pooled = [steps[number].item for number in whole]
    plain = [_without_padding(steps[number]).item for number in whole]
    layered = [_without_padding(steps[number]).item for number in way]
    kernels = [_kernel_word(steps[number]) for number in way]
    ways = ([*pooled, *more], pooled, plain, layered, kernels)
    return [list(equal_once(iter(words))) for words in ways]


def _without_padding(step: LayerStep) -> LayerStep:
    return replace(step, sizes=tuple([size for size in step.sizes if size != "valid"]))


def _is_enlarged_and_added(block: Block, pool: int) -> bool:
    """Return whether a pool enlarges another input of a group, and a layer reads the sum, as in a pyramid (Lin et al.
    2017)."""
    fed = any(pool in before and len(before) > 1 for before in block.before.values())
    return fed and block.steps[pool].word.startswith("↑") and not block.before.get(pool) and not block.joins


def _is_image_layer(step: LayerStep) -> bool:
    return step.kind in ("convolution", "depthwise")


def _merge_ends(
    block: Block,
    layers: Sequence[int],
    separator: str = " | ",
    word_of: Callable[[LayerStep], str] = attrgetter("item"),
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
    word = separator.join(word_of(steps[number]) for number in ends)
    steps[ends[0]] = replace(steps[ends[0]], word=word, sizes=())
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
            if two > layer and (steps[two].line, before[two]) == (steps[layer].line, before[layer])
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
        step, channels = steps[layer], size_word(steps[layer].gives)
        sizes = tuple([size_word(gives) if word == channels else word for word in step.sizes])
        steps[layer] = replace(step, word=f"gated {step.word}", sizes=sizes, gives=gives)
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
    branches = [[block.steps[number] for number in way] for way in ways]
    # Where there is no room, leave out the kernels of pools and resizes, then count alternating layers, then leave out
    # pools.
    brief = [[_without_window(step) for step in branch] for branch in branches]
    layered = [[step for step in branch if step.kind != "pool"] for branch in branches]
    kernels = (list(map(_main_kernels, each)) for each in (branches, brief, layered) if all(each))
    lines = (_join_branches(each) for said in kernels for each in (said, list(map(_count_turns, said))))
    return next(filter(fits, lines), None)


def _count_turns(branch: list[Kernel]) -> list[Kernel]:
    """Merge two layers that alternate.

    >>> tall, wide = ("7×1",), ("1×7",)
    >>> _count_turns([tall, wide, tall, wide]), _count_turns([tall, wide]), _count_turns([tall, tall])
    ([('2 × (7×1, 1×7)',)], [('7×1',), ('1×7',)], [('7×1',), ('7×1',)])
    """
    turns = len(branch) // 2
    if turns < 2 or branch != branch[:2] * turns:
        return branch
    return [(f"{turns} × ({', '.join(map(' '.join, branch[:2]))})",)]


def _without_window(step: LayerStep) -> LayerStep:
    """Return a pool or resize without its window or its size, `max, /2` for `max 3×3, /2`; other steps as they are."""
    return replace(step, word=step.word.partition(" ")[0]) if step.kind == "pool" and "×" in step.word else step


def _main_kernels(branch: Sequence[LayerStep]) -> list[Kernel]:
    """Return the kernels of the layers of a branch, without 1×1 unless there is no other.

    >>> narrow, wide = LayerStep("convolution", "1×1", sizes=("64",)), LayerStep("convolution", "3×3", sizes=("96",))
    >>> _main_kernels([narrow, wide]), _main_kernels([narrow])
    ([('3×3',)], [('1×1',)])
    """
    kernels = list(map(_kernel_of, branch))
    return [kernel for kernel in kernels if kernel[0] not in ("1×1", "k1")] or kernels[:1]


def _join_branches(branches: Sequence[Sequence[Kernel]]) -> str:
    """Join the words of branches; after an equal kernel only the dilation is repeated.

    >>> _join_branches([[("1×1",)], [("3×3", "d6")], [("3×3", "d12")], [("3×3",), ("3×3",)]])
    '1×1 | 3×3 d6 | d12 | 3×3, 3×3'
    """
    said = []
    before: Kernel = ()
    for branch in branches:
        *kernel, last = branch[0] if len(branch) == 1 else ("",)
        undilated = tuple(kernel) if last.startswith("d") else ()
        said.append(last if undilated and undilated == before else ", ".join(map(" ".join, branch)))
        before = undilated
    return " | ".join(said)


def _parallel_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the words of a few parallel layers, none of which feeds another, as in a pyramid (Lin et al. 2017)."""
    if len(layers) > MAX_LISTED_OUTPUTS or any(block.before.get(number) != frozenset() for number in layers):
        return None
    if any(not _is_image_layer(block.steps[number]) for number in layers):
        return None
    return join_with(" | ", [block.steps[number].item for number in layers])


def _kernel_of(step: LayerStep) -> Kernel:
    """Return the kernel, the stride and the dilation of a layer.

    >>> _kernel_of(LayerStep("convolution", "3×3", sizes=("64", "/2"))), _kernel_of(LayerStep("pool", "avg 3×3"))
    (('3×3', '/2'), ('avg 3×3',))
    """
    return step.word, *[size for size in step.sizes if size.startswith(("/", "d"))]


def _kernel_word(step: LayerStep) -> str:
    return " ".join(_kernel_of(step))


def _upstream(block: Block, way: frozenset[int]) -> set[int]:
    """Return the layers and pools that lead into a branch."""
    seen, todo = set(way), list(way)
    while todo:
        for number in block.before.get(todo.pop(), ()):
            if number not in seen:
                seen.add(number)
                todo.append(number)
    return seen
