"""Messages of TensorBoard's plugins: `hparams` as trials, `custom_scalars` as a layout of charts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from graphviz_tb.errors import ReadError
from graphviz_tb.events.structure import decode_log_text
from graphviz_tb.formats.protobuf import DECODE_ERRORS, VARINT_TYPE, CutError, parse_wire_varint, wire_fields
from graphviz_tb.limits import MAX_CUSTOM_CHARTS
from graphviz_tb.model.logs import (
    BlobPoints,
    CustomCategory,
    CustomChart,
    FileRange,
    HParam,
    HParamInterval,
    HParamSetting,
    HParamWord,
    LogContents,
    MarginLine,
    Metric,
    StatusWord,
    Trials,
    TrialSession,
)
from graphviz_tb.proto import CustomLayout, HParamInfo, HParamsPluginData, HParamValue, MetricInfo

# Hyperparameters: the messages of the plugin `hparams` → trials.
#
# decoded    the messages in the metadata of tags
# declared   hyperparameters and metrics that an experiment declares
# from_runs  those of the sessions, if no experiment declares them

HPARAM_TYPES: tuple[HParamWord, ...] = ("", "string", "bool", "float64")
TRIAL_STATUSES: tuple[StatusWord, ...] = ("unknown", "success", "failure", "running")
MAX_DISCRETE_DOMAIN = 10  # largest inferred domain of texts; `max_domain_discrete_len` of TensorBoard

Word = TypeVar("Word", bound=str)
RunMessage = tuple[str, HParamsPluginData]  # run, message


def read_trials(logged: LogContents) -> Trials:
    """Return the trials of a log, empty if the plugin logged nothing.

    Torch writes an experiment into the run of each trial; each adds columns that are missing from earlier experiments.
    """
    messages = list(_decode_hparams_messages(logged))
    sessions = tuple(_trial_sessions(messages))
    experiments = [data.experiment for _, data in messages if data.WhichOneof("data") == "experiment"]
    used = {hparam.name: hparam for hparam in _hparams_of_sessions(sessions)}
    if not experiments:
        return Trials(tuple(used.values()), tuple(_metrics_of_sessions(logged, sessions)), sessions)
    declared: dict[str, HParam] = {}
    metrics: dict[tuple[str, str], Metric] = {}
    for experiment in experiments:
        for info in experiment.hparam_infos:
            declared.setdefault(decode_log_text(info.name), _declared_hparam(info))
        for metric in map(_declared_metric, experiment.metric_infos):
            metrics.setdefault((metric.group, metric.tag), metric)
    # Undeclared hyperparameters of sessions come after the declared ones.
    return Trials(tuple((used | declared)[name] for name in (declared | used)), tuple(metrics.values()), sessions)


def _decode_hparams_messages(logged: LogContents) -> Iterator[RunMessage]:
    """Yield the plugin's messages, run by run, without damaged ones."""
    for series in logged.series:
        if series.kind == "hparams":
            try:
                yield series.run, HParamsPluginData.FromString(series.about.content)
            except DECODE_ERRORS:
                continue


def _trial_sessions(messages: Iterable[RunMessage]) -> Iterator[TrialSession]:
    by_kind: dict[str, dict[str, HParamsPluginData]] = {}
    for run, data in messages:
        by_kind.setdefault(data.WhichOneof("data") or "", {}).setdefault(run, data)
    ends = by_kind.get("session_end_info", {})
    for run, data in by_kind.get("session_start_info", {}).items():
        start, end = data.session_start_info, ends[run].session_end_info if run in ends else None
        yield TrialSession(
            run=run,
            group=decode_log_text(start.group_name) or run,
            hparams={decode_log_text(pair.key): _hparam_value(pair.value) for pair in start.hparams},
            status=_enum_word(TRIAL_STATUSES, end.status) if end is not None else "unknown",
            start=start.start_time_secs or None,
            end=end.end_time_secs or None if end is not None else None,
        )


def _hparam_value(value: HParamValue) -> HParamSetting:
    """Return a value as Python's number, text or bool; None for anything else."""
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return decode_log_text(value.string_value)
    if kind == "bool_value":
        return bool(value.bool_value)
    return float(value.number_value) if kind == "number_value" else None


def _enum_word(words: tuple[Word, ...], number: int) -> Word:
    """Return the word for the number of an enum; the first for an unknown one."""
    return words[number] if 0 <= number < len(words) else words[0]


def _declared_hparam(info: HParamInfo) -> HParam:
    domain: tuple[HParamSetting, ...] | HParamInterval | None = None
    if info.WhichOneof("domain") == "domain_discrete":
        domain = tuple(map(_hparam_value, info.domain_discrete.values))
    elif info.WhichOneof("domain") == "domain_interval":
        domain = HParamInterval(info.domain_interval.min_value, info.domain_interval.max_value)
    words = decode_log_text(info.name), decode_log_text(info.display_name), decode_log_text(info.description)
    return HParam(*words, _enum_word(HPARAM_TYPES, info.type), domain)


def _declared_metric(info: MetricInfo) -> Metric:
    return Metric(
        decode_log_text(info.name.tag),
        decode_log_text(info.name.group),
        decode_log_text(info.display_name),
        decode_log_text(info.description),
    )


def _hparams_of_sessions(sessions: Iterable[TrialSession]) -> Iterator[HParam]:
    """Yield the hyperparameters of sessions, with the type and range of their values."""
    values: dict[str, list[HParamSetting]] = {}
    for session in sessions:
        for name, value in session.hparams.items():
            values.setdefault(name, []).append(value)
    for name in sorted(values):
        yield _hparam_of_values(name, [value for value in values[name] if value is not None])


def _hparam_of_values(name: str, values: list[str | bool | float]) -> HParam:
    """Return a hyperparameter by its values; mixed types become text.

    >>> _hparam_of_values("lr", [0.1, 0.01])
    HParam(name='lr', title='', about='', type='float64', domain=HParamInterval(least=0.01, greatest=0.1))
    """
    kinds = {type(value) for value in values}
    if not kinds:
        return HParam(name)
    if kinds == {bool}:
        return HParam(name, type="bool", domain=(False, True))
    if kinds == {float}:
        numbers = [float(value) for value in values if value == value]
        return HParam(name, type="float64", domain=HParamInterval(min(numbers), max(numbers)) if numbers else None)
    words = sorted(map(str, set(values)))
    return HParam(name, type="string", domain=tuple(words) if len(words) <= MAX_DISCRETE_DOMAIN else None)


def _metrics_of_sessions(logged: LogContents, sessions: Iterable[TrialSession]) -> Iterator[Metric]:
    """Yield the scalars in the runs of sessions and below, without duplicates, sorted by tag."""
    runs = {session.run for session in sessions}
    found = set()
    for series in logged.series:
        if series.kind == "scalar":
            above = _nearest_session(series.run, runs)
            if above is not None:
                found.add((series.tag, _metric_group(series.run, above)))
    for tag, group in sorted(found):
        yield Metric(tag, group)


def _nearest_session(run: str, sessions: set[str]) -> str | None:
    """Return the session of a run: itself, or the nearest folder above."""
    parts = run.split("/")
    for count in range(len(parts), 0, -1):
        above = "/".join(parts[:count])
        if above in sessions:
            return above
    return "." if "." in sessions else None


def _metric_group(run: str, session: str) -> str:
    """Return the path from a session to a run below it.

    >>> _metric_group("a/validation", "a"), _metric_group("a", "a"), _metric_group("a", ".")
    ('validation', '', 'a')
    """
    if run == session:
        return ""
    return run if session == "." else run[len(session) + 1 :]


# Charts laid out by the training program (TensorBoard's plugin `custom_scalars`).

ReadPlace = Callable[[str, FileRange], bytes]  # (run, place) → bytes


def read_custom_charts(logged: LogContents, read: ReadPlace) -> tuple[CustomCategory, ...]:
    """Return the categories of all layouts, run by run.

    A category in several runs is merged, without duplicate charts, as in TensorBoard. The last layout of a run counts.
    Damaged layouts and charts over the limit are left out.
    """
    found: dict[str, CustomCategory] = {}
    room: int = MAX_CUSTOM_CHARTS
    for layout in _last_layouts(logged, read):
        for category in layout.category:
            charts = tuple(map(_convert_chart, category.chart[:room]))
            title = decode_log_text(category.title)
            before = found.get(title, CustomCategory(title, category.closed, ()))
            found[title] = replace(before, charts=tuple(dict.fromkeys((*before.charts, *charts))))
            room -= len(charts)
    return tuple(found.values())


def _last_layouts(logged: LogContents, read: ReadPlace) -> Iterator[CustomLayout]:
    for series in sorted(logged.series, key=lambda series: series.run):
        if series.kind != "layout" or not isinstance(series.data, BlobPoints) or not len(series):
            continue
        try:
            for place in series.data.sample_ranges(int(series.point_order()[-1]))[:1]:
                yield CustomLayout.FromString(read(series.run, place))
        except (ReadError, *DECODE_ERRORS):
            continue


def _convert_chart(chart: CustomLayout.Chart) -> CustomChart:
    margins = (
        MarginLine(decode_log_text(series.value), decode_log_text(series.lower), decode_log_text(series.upper))
        for series in chart.margin.series
    )
    return CustomChart(decode_log_text(chart.title), tuple(map(decode_log_text, chart.multiline.tag)), tuple(margins))


# Precision-recall curves: the message of the plugin `pr_curves`.

THRESHOLD_COUNT_FIELD = 2  # of PrCurvePluginData
MAX_THRESHOLDS = 1 << 20


def curve_threshold_count(content: bytes) -> int:
    """Return the number of thresholds that the metadata of a curve states; 0 if it states none.

    >>> curve_threshold_count(bytes([0x10, 127])), curve_threshold_count(b"{}")
    (127, 0)
    """
    try:
        fields = list(wire_fields(content, 0, len(content)))
    except CutError:
        return 0
    counts = [field for field in fields if (field.number, field.wire) == (THRESHOLD_COUNT_FIELD, VARINT_TYPE)]
    count = parse_wire_varint(content, counts[-1].first, counts[-1].last)[0] if counts else 0
    return count if count <= MAX_THRESHOLDS else 0
