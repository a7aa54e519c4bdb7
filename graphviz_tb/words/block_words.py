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
from graphviz_tb.words.heads import ATTENTION_LAYERS, attention_count, heads_words, is_of_positions, mixing_words
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
    words = _merged_words(block)
    line = f"{words}, rank {rank}"
    return line if words and rank and fits(line) else words


def _merged_words(block: Block) -> str | None:
    """Return the words for a group without the layers that are merged into others."""
    steps = block.steps
    layers = [number for number, step in enumerate(steps) if step.kind in WEIGHTED_KINDS]
    if attention_count(steps):
        return _attention_words(block, layers)
    if UNKNOWN_STEP in steps:
        return None
    if not layers:
        return _plain_words(steps)
    words = _recurrent_words(block, layers) or ", ".join(_expert_parts(block, layers)) or mixing_words(block, layers)
    if words:
        return words
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
    dense = [
        number for number, step in enumerate(steps) if step.kind == "dense" and step.out_width and number in before
    ]
    users = {number: {user for user, sources in before.items() if number in sources} for number in dense}
    ranks: dict[int, int] = {}  # width by layer, for both layers of a pair
    for up in dense:
        for down in before[up].intersection(users) if len(before[up]) == 1 else ():
            is_narrow = steps[down].out_width == steps[up].in_width < min(steps[down].in_width, steps[up].out_width)
            has_activation = any(step.kind in ("activation", "norm") for step in steps[down:up])
            outer = (steps[down].in_width, steps[up].out_width, before[down], users[up])
            has_wide = any((steps[n].in_width, steps[n].out_width, before[n], users[n]) == outer for n in dense)
            if is_narrow and has_wide and not has_activation and users[down] == {up}:
                ranks.update({down: steps[down].out_width, up: steps[down].out_width})
    if len(set(ranks.values())) != 1:
        return block, 0
    merged_steps = tuple([MERGED_STEP if number in ranks else step for number, step in enumerate(steps)])
    links = {number: sources.difference(ranks) for number, sources in before.items() if number not in ranks}
    return replace(block, steps=merged_steps, before=links), next(iter(ranks.values()))


# One layer, or none.


def _plain_words(steps: Sequence[LayerStep]) -> str | None:
    """Return the words of a group without weights in products."""
    words = list(dict.fromkeys(step.word for step in steps if step.kind in ("norm", "activation", "dropout")))
    pool_lines = [
        step.line
        for step in steps
        if step.kind in ("pool", "global", "top") or (step.kind == "shape" and len(steps) == 1)
    ]
    if pool_lines:
        return pool_lines[0] if len(pool_lines) == 1 else None
    if words and all(step.kind == "norm" for step in steps):
        return words[0] if words[0].startswith("g ") else ""
    return words[0] if len(words) == 1 and not any(step.kind == "product" for step in steps) else None


def _layer_words(steps: Sequence[LayerStep], place: int) -> str:
    """Return the words of a group with one layer: the words of the layer, then of its norm and activation."""
    layer = steps[place]
    after = list(dict.fromkeys(step.word for step in steps[place + 1 :] if step.kind in ("norm", "activation")))
    if len({step.word for step in steps if step.kind == "activation"}) > 1:
        after = []  # several activations do not belong to the layer alone
    if layer.kind in ("dense", "heads"):
        word = f"{size_word(layer.in_width)} {layer.line}" if layer.in_width else layer.line
        return ", ".join([word, *after])
    line = f"{layer.line} · {', '.join(after)}"
    return line if after and layer.kind != "embedding" and fits(line) else layer.line


# Attention.


def _attention_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the heads of attention, then the feed-forward block behind it, if the group contains one."""
    steps, count = block.steps, attention_count(block.steps)
    fused = [number for number, step in enumerate(steps) if step.kind in ("attention", "scores")]
    products = fused or [number for number, step in enumerate(steps) if step.kind == "product"]
    # Layers of attention are all layers before its last product, and the layer that joins its heads.
    first, last = min(products), max(products)
    later = [number for number in layers if number > last]
    inner = [number for number in layers if number < last and number not in fused]
    feeding = frozenset().union(*(block.before.get(number, ()) for number in inner))
    # A table that feeds no other layer is one of positions.
    inner = [number for number in inner if steps[number].kind != "embedding" or number in feeding]
    inner = [number for number in inner if not _filters_positions(block, number, {*inner, *products})]
    activations = {step.word for step in steps[first:last] if step.kind == "activation"}
    max_inner = ATTENTION_LAYERS * count - 1
    if later and len(inner) > max_inner:  # the feed-forward block is beside attention, as in GPT-J
        upstream = _upstream(block, frozenset(products))
        later += [number for number in inner if number not in upstream]
        inner = [number for number in inner if number in upstream]
    if len(inner) > max_inner or (count > 1 and activations - {"softmax"}):
        return None
    if not all(is_of_positions(steps[number]) for number in inner):
        return None
    joins_heads = later and is_of_positions(steps[later[0]]) and steps[last].kind != "attention"
    forward = later[1:] if joins_heads else later
    if fused:
        lines = {steps[number].line for number in fused}
        words = lines.pop() if len(lines) == 1 else None
    else:
        words = heads_words(block, [*inner, *later[: len(later) - len(forward)]])
    if words and block.window:
        words = f"{words}, w {block.window}"
    words = f"{count} × ({words})" if words and count > 1 else words
    if not words or not forward:
        return words or None
    forward_words = _expert_parts(block, forward) or _feed_forward_parts(block, forward)
    return ", ".join(_fitting_parts([words], forward_words)) if forward_words else None


def _filters_positions(block: Block, layer: int, attention: Set[int]) -> bool:
    """Return whether a layer only filters or subsamples positions for attention, as in CvT (Wu et al. 2021), PVT (Wang
    et al. 2021) and MViT (Fan et al. 2021)."""
    step, users = block.steps[layer], {number for number, before in block.before.items() if layer in before}
    if not users or not attention >= users or not _is_image_layer(step) or is_of_positions(step):
        return False
    return step.kind == "depthwise" or all(is_of_positions(block.steps[user]) for user in users)


# Recurrent cells, and experts.


def _recurrent_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the words of an LSTM or a GRU that is written as products, found by the number of its gates."""
    steps = block.steps
    cells = [steps[number] for number in layers if steps[number].kind == "recurrent"]
    is_chain = all(block.before.get(after) == frozenset((first,)) for first, after in pairwise(layers))
    if len(cells) == len(layers) and len({cell.line for cell in cells}) == 1 and is_chain:
        line, count = cells[0].line, len(cells)
        stacked = f"{count} × ({line})" if cells[0].sizes else f"{line}, {count} layers"
        return line if count == 1 else stacked
    activations = [step.word for step in steps if step.kind == "activation"]
    sigmoids, tanhs = activations.count("sigmoid"), activations.count("tanh")
    has_others = len(activations) > sigmoids + tanhs
    if has_others or len(layers) > 2 or any(steps[number].kind != "dense" for number in layers):
        return None
    widths = {steps[number].out_width for number in layers}
    # An unrolled cell has its gates once for each step.
    if sigmoids * 2 == tanhs * 3 > 0 and len(widths) == 1 and (width := next(iter(widths))) % 4 == 0:
        units = width // 4
        has_state_input = any(steps[number].in_width == units or len(layers) == 1 for number in layers)
        return f"LSTM {size_word(units)}" if has_state_input else None
    if sigmoids == 2 * tanhs > 0 and len(layers) == 2:
        small, large = min(widths), max(widths)
        if large == small and small % 3 == 0 and any(steps[number].in_width == small // 3 for number in layers):
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
    router_words = {step.word for step in block.steps if step.kind == "top"}
    parts = [word, *(router_words if len(router_words) == 1 else ())]
    # A product of all experts with one tensor looks like a product that makes as many heads.
    inner = [n for n in layers if block.steps[n].heads[0] == count]
    dense_steps = [replace(step, kind="dense", out_width=step.heads[1] or step.out_width) for step in block.steps]
    unrouted_steps = [MERGED_STEP if step.word == "softmax" else step for step in block.steps]
    steps = tuple([dense_steps[n] if n in inner else step for n, step in enumerate(unrouted_steps)])
    before = {n: block.before[n].intersection(inner) for n in inner if n in block.before}
    has_sizes = len(before) == len(inner) and all(steps[n].in_width and steps[n].out_width for n in inner)
    expert = replace(block, steps=steps, before=before)
    return _fitting_parts(parts, _feed_forward_parts(expert, inner) if has_sizes else ())


def _fitting_parts(parts: Sequence[str], more: Sequence[str]) -> Sequence[str]:
    """Return the parts of a line, and as many more as it has room for.

    >>> _fitting_parts(["12 heads × 64", "w 7"], ["8 experts", "top 2", "768 → 3072 → 768", "GELU"])
    ['12 heads × 64', 'w 7', '8 experts', 'top 2']
    """
    lines = ([*parts, *more[:count]] for count in range(len(more), 0, -1))
    return next((line for line in lines if fits(", ".join(line))), parts)


# Several layers.


def _feed_forward_parts(block: Block, layers: Sequence[int]) -> Sequence[str]:
    """Return the widths of consecutive dense layers, or of a gated block, and their activation; () for other layers."""
    steps = [block.steps[number] for number in layers]
    if any(step.kind != "dense" or not step.out_width for step in steps) or len(steps) < 2:
        return ()
    between = block.steps[layers[0] + 1 : layers[-1]]
    activations = list(dict.fromkeys(step.word for step in between if step.kind == "activation"))
    is_gated = len(activations) == 1
    if (
        len(steps) == 3
        and is_gated
        and steps[0].out_width == steps[1].out_width == (steps[2].in_width or steps[0].out_width)
    ):
        first, second, joining = layers
        pair, inputs = {first, second}, block.before[first] | block.before[second]
        is_parallel = block.before[joining] == pair and inputs.isdisjoint(pair)
        if is_parallel and frozenset([frozenset([first]), frozenset([second])]) in block.multiplies:
            return f"gated {size_word(steps[0].out_width)}", activations[0]
    block, chain = _merge_ends(block, layers)
    last_widths = " | ".join(size_word(step.out_width) for step in steps[len(chain) - 1 :])
    steps = steps[: len(chain)]
    if not block.is_chain(chain) or len(chain) < 2:
        return ()
    if len(steps) == 2 and is_gated and steps[0].out_width == 2 * steps[1].in_width and block.multiplies:
        return f"gated {size_word(steps[1].in_width)}", activations[0]
    if any(first.out_width != (second.in_width or first.out_width) for first, second in pairwise(steps)):
        return ()
    sizes = [*(size_word(step.out_width) for step in steps[:-1]), last_widths]
    line = " → ".join([size_word(steps[0].in_width) if steps[0].in_width else "", *sizes]).strip()
    parts = [line, *(activations if len(activations) == 1 else ())]
    variants = (parts, [line]) if len(chain) < len(layers) else (parts,)
    return next((variant for variant in variants if fits(", ".join(variant))), ())


def _chain_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the chain of layers of a group; for a residual block its path without the projection."""
    steps = block.steps
    if all(steps[number].kind == "embedding" for number in layers):
        tables = [steps[number] for number in layers]
        return join_words([f"position {table.line}" if table.positional else table.line for table in tables])
    return next((line for words in _chain_variants(block, layers) if (line := join_words(words))), None)


def whole_chain(block: Block) -> str:
    """Return the full words for the chain of layers of a group, whatever their length; "" if there is no chain."""
    layers = [number for number, step in enumerate(block.steps) if step.kind in WEIGHTED_KINDS]
    has_words = UNKNOWN_STEP not in block.steps and 1 < len(layers) <= 3 * MAX_LISTED_LAYERS
    variants = _chain_variants(block, layers) if has_words and not attention_count(block.steps) else ()
    return ", ".join(variants[0]) if variants else ""


def _chain_variants(block: Block, layers: Sequence[int]) -> Sequence[list[str]]:
    """Return alternative words for a chain of layers, from the longest to the shortest; () if there is no chain."""
    block, layers = _merge_ends(*_merge_squeeze_layers(*_merge_gates(block, layers)))
    block = _without_side_links(block)
    steps = block.steps
    inside = set(layers)
    # A projection has the same input as the group, and its result is only used together with others.
    projections = [
        number
        for number in layers
        if not block.before[number] & inside
        and all(number not in block.before[other] or len(block.before[other] & inside) > 1 for other in layers)
        and (steps[number].word.startswith(("1×1", "→")) or steps[number].is_pointwise)
    ]
    # Dense layers beside convolutions add a time step or a condition.
    has_image = any(map(_is_image_layer, steps))
    conditions = [number for number in projections if has_image and steps[number].kind == "dense"]
    others = [number for number in projections if number not in conditions]
    side_layers = [*conditions, *others[:1]] if len(layers) > 2 else []
    main_layers = [number for number in layers if number not in side_layers]
    pools = [number for number, step in enumerate(steps) if step.kind == "pool"]
    enlarging = [number for number in pools if _is_enlarged_and_added(block, number)]
    main_path = sorted([*main_layers, *(number for number in pools if number not in enlarging)])
    if len(main_layers) > MAX_LISTED_LAYERS or all(steps[number].kind == "dense" for number in main_layers):
        return ()
    if not block.is_chain(main_path):
        return ()
    if len(main_layers) == 2 and steps[main_layers[0]].kind == "depthwise" and steps[main_layers[1]].is_pointwise:
        return ([" → ".join(steps[number].line for number in main_layers)],)
    additions = [PROJECTION] if len(side_layers) > len(conditions) else []
    additions += [f"+ {steps[number].item}" for number in (*conditions, *enlarging)]
    # Where there is no room, leave out the projection first, then padding, pools and channels.
    main_items = [steps[number].item for number in main_path]
    unpadded = [_without_padding(steps[number]).item for number in main_path]
    without_pools = [_without_padding(steps[number]).item for number in main_layers]
    kernels = [_kernel_word(steps[number]) for number in main_layers]
    variants = ([*main_items, *additions], main_items, unpadded, without_pools, kernels)
    return [list(equal_once(iter(words))) for words in variants]


def _without_padding(step: LayerStep) -> LayerStep:
    return replace(step, sizes=tuple([size for size in step.sizes if size != "valid"]))


def _is_enlarged_and_added(block: Block, pool: int) -> bool:
    """Return whether a pool enlarges another input of a group, and a layer reads the sum, as in a pyramid (Lin et al.
    2017)."""
    is_added = any(pool in before and len(before) > 1 for before in block.before.values())
    return is_added and block.steps[pool].word.startswith("↑") and not block.before.get(pool) and not block.joins


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
    are_multiplied = any(frozenset(ends) <= frozenset().union(*pair) for pair in block.multiplies)
    if not 1 < len(ends) <= MAX_LISTED_OUTPUTS or len(sources) != 1 or not sources.pop() or are_multiplied:
        return block, kept
    steps = list(block.steps)
    word = separator.join(word_of(steps[number]) for number in ends)
    steps[ends[0]] = replace(steps[ends[0]], word=word, sizes=())
    return replace(block, steps=tuple(steps)), [number for number in kept if number not in ends[1:]]


def _merge_gates(block: Block, layers: Sequence[int]) -> tuple[Block, list[int]]:
    """Return a block in which two equal convolutions whose results are multiplied, tanh with sigmoid, or one whose
    result is split for this, are merged into one step, `gated 2, 32`."""
    activations = {step.word for step in block.steps if step.kind == "activation"}
    kept_layers = list(layers)
    if not activations.issuperset(("tanh", "sigmoid")):
        return block, kept_layers
    steps, before = list(block.steps), dict(block.before)
    for layer in layers:
        users = [number for number in kept_layers if layer in before[number]]
        if steps[layer].kind != "convolution" or layer not in kept_layers:
            continue
        twins = [
            twin
            for twin in kept_layers
            if twin > layer and (steps[twin].line, before[twin]) == (steps[layer].line, before[layer])
            if frozenset([frozenset([layer]), frozenset([twin])]) in block.multiplies
        ]
        read_widths = {steps[number].in_width for number in users}
        if len(twins) == 1 and all(twins[0] in before[number] for number in users):
            kept_layers.remove(twins[0])
            width = steps[layer].out_width
        elif frozenset([frozenset([layer])]) in block.multiplies and read_widths == {steps[layer].out_width // 2}:
            width = steps[layer].out_width // 2
        else:
            continue
        step, channels = steps[layer], size_word(steps[layer].out_width)
        sizes = tuple([size_word(width) if word == channels else word for word in step.sizes])
        steps[layer] = replace(step, word=f"gated {step.word}", sizes=sizes, out_width=width)
        for number in users:
            before[number] = before[number] - frozenset(twins)
    return replace(block, steps=tuple(steps), before=before), kept_layers


def _without_side_links(block: Block) -> Block:
    """Return a block without links from layers that only gate a later result, such as the first of Mamba, or that a
    scan passes on besides its result; parallel layers that feed a scan form one line."""
    # Pairs of a layer and the steps whose result it multiplies.
    gates = {
        (min(gate), gated)
        for factors in block.multiplies
        if len(factors) == 2
        for gate, gated in permutations(factors)
        if len(gate) == 1
    }
    before = dict(block.before)
    for number, sources in block.before.items():
        scans = {source for source in sources if block.steps[source].kind == "scan"}
        branches = [scans, *(gated for gate, gated in gates if gate in sources and gated <= sources)]
        before[number] = sources.difference(*[_upstream(block, frozenset(branch)) - branch for branch in branches])
    for number, sources in block.before.items():
        if block.steps[number].kind != "scan" or any(block.steps[source].kind != "dense" for source in sources):
            continue
        # Such as queries, keys and values, and the gate of the result.
        gating = {gate for gate, gated in gates if gated == {number} and block.steps[gate].kind == "dense"}
        parallel = sorted(sources | gating)
        if len({before[layer] for layer in parallel}) == 1 < len(parallel):
            before = {user: links - gating for user, links in before.items()}
            before.update({later: frozenset([layer]) for layer, later in pairwise([*parallel, number])})
    return replace(block, before=before)


def _merge_squeeze_layers(block: Block, layers: Sequence[int]) -> tuple[Block, list[int]]:
    """Return a block in which two layers that weight the channels of a third are merged into one step, `SE 8`."""
    steps, before = list(block.steps), dict(block.before)
    kept = list(layers)
    for squeeze, excite in pairwise(layers):
        narrow, wide = steps[squeeze], steps[excite]
        is_bottleneck = narrow.out_width and wide.out_width == narrow.in_width > narrow.out_width
        if not (is_bottleneck and block.averages and before[excite] & set(kept) == {squeeze}):
            continue
        sources = before[squeeze] & set(kept)
        if not any(frozenset([excite]) in pair for pair in block.multiplies):
            continue
        users = [number for number in kept if number != excite and excite in before[number]]
        if len(sources) > 1 or any(before[number] & set(kept) != sources | {excite} for number in users):
            continue
        # The step at `squeeze` replaces both: it feeds the steps that `excite` fed.
        steps[squeeze] = LayerStep("convolution", f"SE {narrow.out_width}", narrow.in_width, wide.out_width)
        kept.remove(excite)
        for number in users:
            before[number] = frozenset([squeeze])
    return replace(block, steps=tuple(steps), before=before), kept


def _branch_words(block: Block, layers: Sequence[int]) -> str | None:
    """Return the words of each branch of a module in the order of their join; a 1×1 before another layer is left
    out."""
    paths = [sorted(_upstream(block, path)) for path in block.joins]
    paths = [path for path in paths if path]
    if len(paths) < 2:
        return None
    shared = set.intersection(*map(set, paths))
    paths = [[number for number in path if number not in shared] for path in paths]
    covered = set().union(*paths)
    if shared or not covered.issuperset(layers) or any(not path for path in paths):
        return None
    if sum(len(path) for path in paths) > len(covered):  # branches that share a layer
        return None
    for number, path in enumerate(paths):
        block, paths[number] = _merge_ends(block, path, "+", _kernel_word)
    if not all(map(block.is_chain, paths)):
        return None
    branches = [[block.steps[number] for number in path] for path in paths]
    # Where there is no room, leave out the kernels of pools and resizes, then count alternating layers, then leave out
    # pools.
    without_windows = [[_without_window(step) for step in branch] for branch in branches]
    without_pools = [[step for step in branch if step.kind != "pool"] for branch in branches]
    shortened = (steps for steps in (branches, without_windows, without_pools) if all(steps))
    kernels = (list(map(_main_kernels, steps)) for steps in shortened)
    lines = (_join_branches(words) for whole in kernels for words in (whole, list(map(_count_turns, whole))))
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


def _upstream(block: Block, branch: frozenset[int]) -> set[int]:
    """Return the layers and pools that lead into a branch."""
    upstream, open_steps = set(branch), list(branch)
    while open_steps:
        for number in block.before.get(open_steps.pop(), ()):
            if number not in upstream:
                upstream.add(number)
                open_steps.append(number)
    return upstream
