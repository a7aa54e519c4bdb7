"""Join the words of several layers or parts into one line, and find the words that several lines share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from graphviz_tb.caches import compile_on_use
from graphviz_tb.model.measure import SMALL_FONT_PX, text_width
from graphviz_tb.words.step_words import size_word

SHARED = "shared weights"  # for a layer whose kernel is used by another layer, too
ROOM_PX = 168  # for a line in the widest box
BOTH_WAYS = "bi "  # before the cell of a recurrent layer
ATTENTION = re.compile(r"[0-9]+ heads?(?: × [0-9]+)?|[0-9]+ kv × [0-9]+|w [0-9]+")
KERNEL = compile_on_use(r"(?:dw )?(?:[0-9]+×[0-9]+|k[0-9]+)")
RANGE = "…"  # between the least and the most
COUNTED = " × ("  # follows the number of equal parts
MAX_FIRST_LAYERS = 2  # before equal blocks
OF_ONE_LAYER = compile_on_use(r"[0-9\u2009]+|[/dg↑][0-9].*|valid")  # behind the kernel of a layer
TABLE = re.compile(r"[0-9\u2009]{1,20} × [0-9\u2009]{1,20}")
DILATION = re.compile(r"d[0-9]+")


def short_word(word: str) -> str:
    """Return the words of a layer as one of several.

    >>> short_word("3×3, 64, /2")
    '3×3 64 /2'
    """
    return word.replace(", ", " ")


def says_heads(words: str) -> bool:
    """Return whether words are those of an attention, or of several.

    >>> says_heads("12 heads × 8"), says_heads("2 × (12 heads × 8)"), says_heads("dw 3×3")
    (True, True, False)
    """
    return ATTENTION.match(words.rpartition(COUNTED)[2]) is not None


def equal_once(words: Iterator[str]) -> Iterator[str]:
    """Yield consecutive equal words once, with their number if there are three or more."""
    for word, equal in groupby(words):
        count = len(list(equal))
        yield f"{count}{COUNTED}{word})" if count > 2 else ", ".join([word] * count)


def shared_words(lines: Sequence[str]) -> str:
    """Return the words that chains of layers of equal length share, with the range of their dilations.

    "" if layers at the same place share no words, or differ in their stride. The first chain may have larger strides;
    in the last of three or more, layers may be missing.

    >>> (
    ...     shared_words(["1×1 96, 3×3 96 /2, SE 4", "1×1 144, 3×3 96, SE 6"]),
    ...     shared_words(["k3 32", "k3 32 d2", "k3 32 d4"]),
    ... )
    ('1×1, 3×3 96, SE', 'k3 32 d1…4')
    >>> shared_words(["k3 32, k1 32 | k1 64", "k3 32, k1 32 | k1 64", "k3 32, k1 64"])
    'k3 32, k1 32 | k1 64'
    >>> shared_words(["4 × (3×3 256), max 2×2 /2", "4 × (3×3 512), max 2×2 /2"])
    '4 × (3×3), max 2×2 /2'
    """
    chains = [_said_layers(line.partition(" · ")[0].split(", ")) for line in lines]
    lengths = {len(chain) for chain in (chains[:-1] if len(chains) > 2 else chains)}
    if len(lengths) != 1 or len(chains[-1]) > len(chains[0]):
        return ""
    if len(chains) > 2:
        chains[-1] = [
            whole if " ".join(part) in " ".join(whole).split(" | ") else part  # one of several parallel layers
            for part, whole in zip(chains[-1], chains[0], strict=False)
        ]
    shared = []
    for position in range(len(chains[0])):
        layers = [chain[position] for chain in chains if position < len(chain)]
        common = [word for word in layers[0] if all(word in layer for layer in layers)]
        strides = [{word for word in layer if not word[0].isalnum() and word != "→"} for layer in layers]
        has_kernel = common[:1] == layers[0][:1] and any(word[-1].isalnum() for word in common)  # not only channels
        if not has_kernel or any(step != strides[-1] for step in strides[1:]):
            return ""
        dilations = [next((int(word[1:]) for word in layer if DILATION.fullmatch(word)), 1) for layer in layers]
        least, most = min(dilations), max(dilations)
        shared.append(" ".join([*common, *([f"d{least}{RANGE}{most}"] if least < most else [])]).replace(" )", ")"))
    line = ", ".join(equal_once(iter(shared)))
    return line if fits(line) else ""


def more_words(words: str, known: str) -> str:
    """Return the words that are not in `known`, each once; "" if `known` has words that are missing.

    >>> more_words("1×1 64 /2, 3×3 64 /2, projection", "1×1 64, 3×3 64"), more_words("3×3 64", "3×3 32")
    ('/2, projection', '')
    >>> more_words("Conv2D · BN, ReLU", "Conv2D")
    'BN, ReLU'
    """
    more: dict[str, None] = {}
    for part, expected in zip_longest(words.split(", "), known.split(", "), fillvalue=""):
        every, usual = part.split(), expected.split()
        added = " ".join([word for word in every if word not in usual]).removeprefix("· ")
        if [word for word in every if word in usual] != usual or any(word.isdigit() for word in added.split()):
            return ""
        more.update({added: None} if added else {})
    return ", ".join(more)


def _said_layers(parts: Sequence[str]) -> list[list[str]]:
    """Return the words of each layer of a line. Commas separate layers, or, on a line of one layer, its words.

    >>> _said_layers(["3×3", "64", "/2"]), _said_layers(["1×1 64", "3×3 64"])
    ([['3×3', '64', '/2']], [['1×1', '64'], ['3×3', '64']])
    """
    is_one_layer = len(parts) > 1 and OF_ONE_LAYER.fullmatch(parts[1]) is not None
    return [" ".join(parts).split()] if is_one_layer else [_split_layer(part) for part in parts]


def _split_layer(part: str) -> list[str]:
    """Return the words of a layer. The count of equal layers belongs to the first word; the closing bracket is a word.

    >>> _split_layer("3×3 64 /2"), _split_layer("4 × (3×3 64)")
    (['3×3', '64', '/2'], ['4 × (3×3', '64', ')'])
    """
    before, bracket, rest = part.rpartition(COUNTED)
    words = rest.replace(")", " )").split()
    return [f"{before}{bracket}{word}" for word in words[:1]] + words[1:]


def counted_words(words: Sequence[str], before: int = -1) -> str:
    """Return the words of parts in order, with repetitions counted; "" if they have no room.

    Repeated blocks of attention are described by their heads. One or two layers, but no attention, may come before the
    repetition, which begins after the first `before` words (-1 if unknown); some of its layers may follow it.

    >>> (
    ...     counted_words(["→ 96", *["12 heads × 8", "96 → 384 → 96", "GELU"] * 6]),
    ...     counted_words(["4 heads × 24", "3×3 96", "3×3 96"]),
    ... )
    ('6 × (12 heads × 8)', '4 heads × 24, 3×3 96, 3×3 96')
    >>> [counted_words(["1×1 8", *["3×3 8", "1×1 8"] * 2], before) for before in (0, 1, -1)]
    ['2 × (1×1 8, 3×3 8)', '2 × (3×3 8, 1×1 8)', '1×1 8, 3×3 8, 1×1 8, 3×3 8, 1×1 8']
    """
    if len(words) > 1 and {*words} == {SHARED}:
        return SHARED
    attends = any(map(ATTENTION.fullmatch, words))
    is_kept_word = [not attends or ATTENTION.fullmatch(word) or KERNEL.match(word) for word in words]
    kept_words = [word for word, is_kept in zip(words, is_kept_word, strict=True) if is_kept]
    start = sum(map(bool, is_kept_word[: max(before, 0)]))
    for first in range(MAX_FIRST_LAYERS + 1):
        rest = kept_words[first:]
        for period in range(1, len(rest) // 2 + 1):
            blocks = rest[:period] if not attends else [word for word in rest[:period] if ATTENTION.fullmatch(word)]
            # If the layer before is also the last of a repetition (`→ 48` of `48 → 48`), one may begin with it.
            is_whole = len(rest) % period == 0 and not (first and rest[period - 1].endswith(kept_words[first - 1]))
            is_aligned = is_whole if before < 0 else (start - first) % period == 0
            if blocks and is_aligned and rest[period:] == rest[:-period]:
                line = f"{len(rest) // period}{COUNTED}{', '.join(rest[:period])})"
                return line if fits(line) else ""
    # The words of a bidirectional layer belong together.
    lines = (words, kept_words) if len(kept_words) > 1 or "".join(words[:1]).startswith(BOTH_WAYS) else ()
    return next(filter(None, (join_words(list(equal_once(iter(each)))) for each in lines)), "")


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


def join_words(words: Sequence[str]) -> str | None:
    """Join words by commas; None if the line has no room for them."""
    return join_with(", ", words)


def join_with(separator: str, words: Sequence[str]) -> str | None:
    """Join words by a separator; None if the line has no room for them."""
    line = separator.join(words)
    return line if fits(line) else None


def fits(line: str) -> bool:
    """Return whether a line fits the widest box."""
    return text_width(line, SMALL_FONT_PX) <= ROOM_PX
