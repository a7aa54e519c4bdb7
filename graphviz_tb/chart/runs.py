"""Group the runs of a chart, compute the spread of scalars, colour runs by hyperparameters, shorten their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphviz_tb.model.frozen import dataclass
from graphviz_tb.model.logs import HParamSetting, Series, Trials
from graphviz_tb.model.measure import elide_text, replace_unsafe_characters, text_width
from graphviz_tb.model.paths import natural_name_key

DIFFERS = "differs"  # group by the parts of names that differ
_NAME_PART = re.compile(r"[^/_\-. ,;]+(?:\.\d+)*|[/_\-. ,;]+")
_NUMBER_AT_END = re.compile(r"(?<![\d.])[\d.]+$")


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """The values of the runs of a group at common steps; `count` is the number of runs with a value at each step."""

    steps: NDArray[np.int64]
    count: NDArray[np.int64]
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    least: NDArray[np.float64]
    lower_quartile: NDArray[np.float64]
    median: NDArray[np.float64]
    upper_quartile: NDArray[np.float64]
    greatest: NDArray[np.float64]


def group_runs(
    names: Sequence[str], by: str, hparams: Mapping[str, Mapping[str, HParamSetting]] | None = None
) -> dict[str, str]:
    """Return the group of each run.

    `by` is `differs`, a part of names with `*` in place of what varies, or the name of a hyperparameter.

    >>> group_runs(["a/seed=1", "a/seed=2", "b/seed=1"], "seed=*")
    {'a/seed=1': 'a/seed=*', 'a/seed=2': 'a/seed=*', 'b/seed=1': 'b/seed=*'}
    """
    if by == DIFFERS:
        return _groups_by_difference(names)
    if "*" in by:
        part = re.compile(".+?".join(map(re.escape, by.split("*"))) + r"(?=$|[/_\-. ,;])")
        return {name: part.sub(lambda _: by, name) for name in names}
    values = {name: (hparams or {}).get(name, {}).get(by) for name in names}
    return {name: name if value is None else f"{by}={_setting_text(value)}" for name, value in values.items()}


def _groups_by_difference(names: Sequence[str]) -> dict[str, str]:
    """Return names without the part that has the most values, or the last of such parts.

    >>> _groups_by_difference(["m_A/seed0", "m_A/seed1", "m_B/seed0", "m_B/seed1", "m_B/seed2"])["m_A/seed1"]
    'm_A/seed*'
    """
    parts = {name: _NAME_PART.findall(name) for name in names}
    values: dict[tuple[int, int], set[str]] = {}
    for words in parts.values():
        for place, part in enumerate(words):
            values.setdefault((len(words), place), set()).add(part)
    most_varied: dict[int, tuple[int, int]] = {}  # by the number of parts: number of values, place of the part
    for (length, place), part_values in sorted(values.items()):
        if len(part_values) > 1 and len(part_values) >= most_varied.get(length, (0, 0))[0]:
            most_varied[length] = len(part_values), place
    return {name: _without_part(words, most_varied.get(len(words))) or name for name, words in parts.items()}


def _without_part(parts: Sequence[str], repeated: tuple[int, int] | None) -> str:
    """Join the parts of a name, with `*` in place of the repeated part; "" if all names are equal."""
    if repeated is None:
        return ""
    _, place = repeated
    head = _NUMBER_AT_END.sub("", parts[place])
    star = f"{head}*" if head != parts[place] else "*"
    return "".join(star if at == place else part for at, part in enumerate(parts))


def members_by_group(series: Sequence[Series], groups: Mapping[str, str]) -> dict[tuple[str, str], list[Series]]:
    """Return the series by group and tag, in their order."""
    found: dict[tuple[str, str], list[Series]] = {}
    for one in series:
        found.setdefault((groups[one.run], one.tag), []).append(one)
    return found


def spread_of_group(members: Sequence[Series]) -> GroupSpread:
    """Return the spread of the finite values of the members at each step."""
    points = [(member, member.point_order()) for member in members]
    step = np.concatenate([member.step[order] for member, order in points])
    value = np.concatenate([member.value[order].astype(np.float64) for member, order in points])
    finite = np.isfinite(value)
    step, value = step[finite], value[finite]
    order = np.lexsort((value, step))
    step, value = step[order], value[order]
    steps, first, count = np.unique(step, return_index=True, return_counts=True)
    last = first + count - 1
    mean = np.add.reduceat(value, first) / count if len(steps) else value
    squares = np.add.reduceat((value - np.repeat(mean, count)) ** 2, first) if len(steps) else value
    quarter, half, three = (_quantiles(value, first, count, share) for share in (0.25, 0.5, 0.75))
    deviation = np.sqrt(squares / np.maximum(count - 1, 1))
    return GroupSpread(steps, count, mean, deviation, value[first], quarter, half, three, value[last])


def _quantiles(
    value: NDArray[np.float64], first: NDArray[np.int64], count: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Return a quantile of each run of ascending values, interpolated between two values where needed."""
    if not len(first):
        return value
    at = share * (count - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, count - 1)
    found: NDArray[np.float64] = value[first + low] + (value[first + high] - value[first + low]) * (at - low)
    return found


# Names of runs next to the ends of their lines: shortened to the words that differ, and spread apart.

SEPARATORS = "/_- ,;"  # not `=` and `.`, as in `lr=0.1`
_WORD = re.compile(rf"[^{re.escape(SEPARATORS)}]*[{re.escape(SEPARATORS)}]?")  # of a run's name, and its separator
MAX_COLOURED_VALUES = 12  # of a hyperparameter, each with its own hue


def short_run_names(names: Sequence[str], room: int, size: int) -> list[str]:
    """Shorten names to `room` pixels; words that all names have in common are cut first.

    >>> short_run_names(["exp/resnet50_batch_norm_lr0.1_seed1", "exp/resnet50_batch_norm_lr0.2_seed1"], 70, 10)
    ['…lr0.1…', '…lr0.2…']
    >>> short_run_names(["net_seed0_b256_lr0.1_final", "net_seed1_b256_lr0.003_final"], 80, 10)
    ['seed0…lr0.1', 'seed1…lr0.003']
    >>> short_run_names(["train", "test"], 70, 10), short_run_names([""], 70, 10)
    (['train', 'test'], ['.'])
    """
    texts = [replace_unsafe_characters(name) or "." for name in names]
    if len(set(texts)) < 2:
        return [elide_text(text, room, size) for text in texts]
    forms = [form for form in _shortened_names(texts) if len(set(form)) == len(set(texts))]
    chosen = next((form for form in forms if max(text_width(text, size) for text in form) <= room), forms[-1])
    return [elide_text(text, room, size) for text in chosen]


def _shortened_names(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the full names, then names without the words that all have in common, then also without the ellipsis at
    their ends."""
    yield list(texts)
    words = [_WORD.findall(text)[:-1] for text in texts]
    if len({len(some) for some in words}) > 1:  # no word has its place in all
        head = _common_start(texts)
        tail = _common_start([text[head:][::-1] for text in texts])
        words = [[text[:head], text[head : len(text) - tail], text[len(text) - tail :]] for text in texts]
    differs = [len(set(column)) > 1 for column in zip(*words, strict=True)]
    cut = [re.sub("…+", "…", "".join(_kept_words(some, differs))) for some in words]
    yield cut
    yield [text.strip("…") for text in cut]


def _kept_words(words: Sequence[str], differs: Sequence[bool]) -> Iterator[str]:
    """Yield the words that differ, without the separator before words that are left out."""
    for place, (word, kept) in enumerate(zip(words, differs, strict=True)):
        last = kept and not any(differs[place + 1 : place + 2])
        yield (word.rstrip(SEPARATORS) if last else word) if kept else "…" if word else ""


def _common_start(texts: Sequence[str]) -> int:
    """Return the length of the prefix that all texts share, cut at the end of a word so that no text is only the
    prefix."""
    alike, shortest = 0, min(map(len, texts))
    while alike < shortest - 1 and all(text[alike] == texts[0][alike] for text in texts):
        alike += 1
    while alike and texts[0][alike - 1] not in SEPARATORS:
        alike -= 1
    return alike


def spread_labels(wanted: Sequence[float], low: float, high: float, apart: float) -> list[float]:
    """Return places near the wanted places, in the same order, at least `apart` from one another, from `low` to `high`.

    >>> spread_labels([10, 12, 50], 0, 100, 12)
    [5.0, 17.0, 50.0]
    """
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    blocks: list[tuple[float, int]] = []  # middle, count: labels that touch move together
    for place in order:
        blocks.append((min(max(wanted[place], low), high), 1))
        while len(blocks) > 1:
            (upper, upper_count), (lower, lower_count) = blocks[-2:]
            count = upper_count + lower_count
            if lower - upper >= apart * count / 2:
                break
            blocks[-2:] = [((upper * upper_count + lower * lower_count) / count, count)]
    places: list[float] = []
    for middle, count in blocks:
        first = middle - apart * (count - 1) / 2
        first = min(max(first, low), max(low, high - apart * (count - 1)))
        places += [first + apart * number for number in range(count)]
    for number, (upper, lower) in enumerate(pairwise(places)):  # blocks that the ends have moved
        places[number + 1] = max(lower, upper + apart)
    spread = [0.0] * len(wanted)
    for place, position in zip(order, places, strict=True):
        spread[place] = float(position)
    return spread


def colour_values(trials: Trials, runs: Sequence[str]) -> Mapping[str, str]:
    """Return for each run a text such as `lr = 0.1`, with the first hyperparameter that differs between runs and has
    few values; {} if there is none. A run below the run of a session has its values."""
    settings: dict[str, Mapping[str, HParamSetting]] = {session.run: session.hparams for session in trials.sessions}
    names = list(dict.fromkeys(name for setting in settings.values() for name in setting))
    found = {run: next((settings[name] for name in _run_and_above(run) if name in settings), {}) for run in runs}
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
