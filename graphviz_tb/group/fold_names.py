"""Names of folds, and folds by names."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

NUMBER = re.compile(r"(.*?)(?<![0-9])([0-9]{1,500})([^0-9]*)", re.DOTALL)  # more digits are no number
DIGITS = re.compile(r"[0-9]+")
TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|.", re.DOTALL)

ENOUGH = 12  # boxes of a level that is split no further


def split_last_number(name: str) -> tuple[str, int, str] | None:
    """What stands before the last number of a name, the number, and what stands after it.

    >>> split_last_number("L2Loss_12_grad"), split_last_number("x")
    (('L2Loss_', 12, '_grad'), None)
    """
    found = NUMBER.fullmatch(name)
    return (found[1], int(found[2]), found[3]) if found else None


def range_of(names: Iterable[str]) -> str | None:
    """`prefix[first-last]suffix` for names that differ only in their last number; one may lack it.

    >>> range_of(["a_2_b", "a_10_b"]), range_of(["mul", "mul_1", "mul_2"]), range_of(["a1", "b2"])
    ('a_[2-10]_b', 'mul_[0-2]', None)
    """
    cuts = {name: split_last_number(name) for name in names}
    frames = Counter((cut[0], cut[2]) for cut in cuts.values() if cut)
    if not frames:
        return None
    before, after = max(frames, key=lambda frame: (frames[frame], frame))
    numbers = [cut[1] for cut in cuts.values() if cut and (cut[0], cut[2]) == (before, after)]
    bare = [name for name, cut in cuts.items() if not cut or (cut[0], cut[2]) != (before, after)]
    if len(bare) > 1 or (bare and bare[0] not in (before + after, before.rstrip("_") + after)):
        return None
    numbers += [0 for _ in bare]
    return f"{before}[{min(numbers)}-{max(numbers)}]{after}"


def common_name(names: list[str]) -> str:
    """What names have in common at their beginning and end, with an ellipsis between.

    >>> common_name(["conv_a_grad", "conv_b_grad"]), common_name(["x", "y"])
    ('conv_…_grad', '…')
    """
    tokens = [TOKEN.findall(name) for name in names]
    head = shared(tokens)
    tail = shared([list(reversed(words[head:])) for words in tokens])
    first = tokens[0]
    end = "".join(first[len(first) - tail :]) if tail else ""
    return "".join(first[:head]) + "…" + end


def shared(tokens: list[list[str]]) -> int:
    """How many tokens all lists begin with."""
    count = 0
    for words in zip(*tokens, strict=False):
        if len(set(words)) > 1:
            break
        count += 1
    return count


def stems(names: Iterable[str]) -> Counter[str]:
    """How many names begin with each stem that ends in a number.

    >>> stems(["b1_conv", "b1_relu", "b2"])["b1"]
    2
    """
    return Counter(name[: found.end()] for name in names for found in DIGITS.finditer(name))


@dataclass(slots=True)
class Node:
    """A node of the trie of names: positions of all names below, and the next tokens."""

    depth: int
    positions: list[int]
    next: dict[str, list[int]] = field(default_factory=dict)


def prefix_groups(names: list[str], most: int, sizes: tuple[int, ...]) -> list[tuple[str, list[int]]] | None:
    """Groups of names that begin alike: `(name of the fold, positions)`; None where more than `most` boxes are left.

    Starting from one group of all, the largest is cut at its next differing token while the level has fewer than a
    dozen boxes, or a cut keeps it within `most` and the group is too large to read. Groups smaller than the
    first of `sizes` that will do stay apart.
    """
    for fewest in sizes:
        done = cut_trie(names, most, fewest)
        if sum(boxes(part, fewest) for part in done) <= most:
            break
    else:
        return None
    groups = [node.positions for node in done if fewest <= len(node.positions) < len(names)]
    found = [(fold_name([names[at] for at in group]), sorted(group)) for group in groups]
    return sorted(found, key=lambda entry: entry[1])


def cut_trie(names: list[str], most: int, fewest: int) -> list[Node]:
    """Where the trie of names is cut."""
    tokens = [TOKEN.findall(name) for name in names]
    cut: list[Node] = [Node(0, list(range(len(names))))]
    done: list[Node] = []
    while cut:
        cut.sort(key=lambda node: (len(node.positions), node.positions[0]))
        node = cut.pop()
        parts = split(node, tokens)
        here = sum(boxes(part, fewest) for part in (*cut, *done)) + 1
        total = here - 1 + sum(boxes(part, fewest) for part in parts)
        wanted = here < ENOUGH or len(node.positions) > most or node.depth == 0
        if len(parts) > 1 and wanted and (total <= most or node.depth == 0):
            cut.extend(parts)
        else:
            done.append(node)
    return done


def boxes(node: Node, fewest: int) -> int:
    """How many boxes a group makes: one, or its members if they are too few to fold."""
    return 1 if len(node.positions) >= fewest else len(node.positions)


def split(node: Node, tokens: list[list[str]]) -> list[Node]:
    """Cut a group where its names first differ."""
    words = [tokens[at][node.depth :] for at in node.positions]
    depth = node.depth + shared(words)
    parts: dict[str, list[int]] = defaultdict(list)
    for at in node.positions:
        parts[tokens[at][depth] if depth < len(tokens[at]) else ""].append(at)
    return [Node(depth + 1, positions) for _, positions in sorted(parts.items())]


def fold_name(names: list[str]) -> str:
    """The name of a fold by prefix."""
    return range_of(names) or f"{''.join(TOKEN.findall(names[0])[: shared([TOKEN.findall(n) for n in names])])}…"


def by_letter(names: list[str], most: int) -> list[tuple[str, list[int]]]:
    """The last resort: by the first letter after what all names share; names that do not differ, by halves."""
    start = len(names[0][: _shared_letters(names)])
    parts: dict[str, list[int]] = defaultdict(list)
    for at, name in enumerate(names):
        letter = name[start : start + 1].lower()
        parts[letter if letter.isascii() and letter.isalpha() else "0" if letter.isdigit() else "#"].append(at)
    if len(parts) == 1:
        size = max(most // 2, -(-len(names) // most))
        chunks = [list(range(at, min(at + size, len(names)))) for at in range(0, len(names), size)]
        return [(f"{names[chunk[0]]}…", chunk) for chunk in chunks if len(chunk) > 1]
    stem = names[0][:start]
    return [(f"{stem}{letter}…", group) for letter, group in sorted(parts.items()) if len(group) > 1]


def _shared_letters(names: list[str]) -> int:
    low, high = min(names), max(names)
    count = 0
    while count < len(low) and low[count] == high[count]:
        count += 1
    return count
