"""Names of runs next to the ends of their lines: short, so that what differs stays, and apart from one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphviz_tb.model.logs import HParamSetting, Trials
from graphviz_tb.model.measure import elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.paths import natural_name_key

SEPARATORS = "/_- ,;"  # not those within `lr=0.1`
MAX_COLOURED_VALUES = 12  # of a hyperparameter, each with its own hue


def short_run_names(names: Sequence[str], room: int, size: int) -> list[str]:
    """Return names of at most `room` pixels: what they begin or end with alike is cut first, in whole words.

    >>> short_run_names(["exp/resnet50_batch_norm_lr0.1_seed1", "exp/resnet50_batch_norm_lr0.2_seed1"], 70, 10)
    ['…lr0.1…', '…lr0.2…']
    >>> short_run_names(["train", "test"], 70, 10), short_run_names([""], 70, 10)
    (['train', 'test'], ['.'])
    """
    texts = [replace_unsafe_characters(name) or "." for name in names]
    if len(set(texts)) < 2:
        return [elide_text(text, room, size) for text in texts]
    head = _common_start(texts)
    tail = _common_start([text[head:][::-1] for text in texts])
    if max(text_width(text, size) for text in texts) <= room:
        return texts
    kept = [f"{'…' if head else ''}{text[head : len(text) - tail]}{'…' if tail else ''}" for text in texts]
    return [elide_text(text, room, size) for text in kept]


def _common_start(texts: Sequence[str]) -> int:
    """Return how many letters all texts begin with alike, back to the end of a word; each text keeps something."""
    alike, shortest = 0, min(map(len, texts))
    while alike < shortest - 1 and all(text[alike] == texts[0][alike] for text in texts):
        alike += 1
    while alike and texts[0][alike - 1] not in SEPARATORS:
        alike -= 1
    return alike


def spread_labels(wanted: Sequence[float], low: float, high: float, apart: float) -> list[float]:
    """Return places near the wanted ones, in their order, at least `apart` from one another and within the ends.

    >>> spread_labels([10, 12, 50], 0, 100, 12)
    [5.0, 17.0, 50.0]
    """
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    blocks: list[list[float]] = []  # middle, count: labels that touch move together
    for place in order:
        blocks.append([min(max(wanted[place], low), high), 1])
        while len(blocks) > 1:
            (one, many), (two, more) = blocks[-2:]
            if two - one >= apart * (many + more) / 2:
                break
            blocks[-2:] = [[(one * many + two * more) / (many + more), many + more]]
    places: list[float] = []
    for middle, count in blocks:
        first = middle - apart * (count - 1) / 2
        first = min(max(first, low), max(low, high - apart * (count - 1)))
        places += [first + apart * number for number in range(int(count))]
    for number, (one, two) in enumerate(pairwise(places)):  # blocks that the ends have moved
        places[number + 1] = max(two, one + apart)
    found = [0.0] * len(wanted)
    for place, at in zip(order, places, strict=True):
        found[place] = float(at)
    return found


def colour_values(trials: Trials, runs: Sequence[str]) -> Mapping[str, str]:
    """Return for each run `lr = 0.1`: the first hyperparameter that tells some runs apart and has few values; nothing
    where there is none. A run below that of a session has its values."""
    settings: dict[str, Mapping[str, HParamSetting]] = {each.run: each.hparams for each in trials.sessions}
    names = list(dict.fromkeys(name for each in settings.values() for name in each))
    found = {run: next((settings[each] for each in _run_and_above(run) if each in settings), {}) for run in runs}
    for name in names:
        values = {run: _setting_text(own[name]) for run, own in found.items() if own.get(name) is not None}
        if len(values) == len(runs) and 1 < len(set(values.values())) <= MAX_COLOURED_VALUES:
            order = sorted(values, key=lambda run: (natural_name_key(values[run]), run))
            return {run: f"{name} = {values[run]}" for run in order}
    return {}


def _run_and_above(run: str) -> list[str]:
    parts = run.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _setting_text(value: HParamSetting) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
