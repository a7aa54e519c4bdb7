"""Set single options by name in the groups of options they belong to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from graphviz_tb.arrange.level import ENGINES
from graphviz_tb.color import SCHEMES
from graphviz_tb.errors import RequestError, UnknownChoice, check_choice, require_type
from graphviz_tb.model.theme import THEMES
from graphviz_tb.options import LOGGED_COLOR_OPTIONS, Options, PictureOptions


def with_choices(options: Options, choices: Mapping[str, Any]) -> Options:
    """Return options with some fields replaced, in whichever groups they are.

    >>> with_choices(Options(), {"series_min": 3}).group.series_min
    3
    """
    unknown = set(choices)
    require_type("options", options, Options)
    for part in fields(options):
        values = getattr(options, part.name)
        names = [field.name for field in fields(values) if field.name in choices]
        # Stages share some options (`strict`, `tensorboard`): set the field in every group that has it.
        coerced = {name: _coerce_option(getattr(values, name), choices[name]) for name in names}
        if coerced:
            options = replace(options, **{part.name: replace(values, **coerced)})
            unknown -= set(coerced)
    if unknown:
        legal = sorted({field.name for part in fields(options) for field in fields(getattr(options, part.name))})
        raise UnknownChoice.among("option", sorted(unknown)[0], legal)
    return options


def picture_choices(options: PictureOptions, choices: Mapping[str, Any]) -> PictureOptions:
    """Return picture options with some fields replaced. Raises `UnknownChoice` for options of other stages.

    >>> picture_choices(PictureOptions(), {"open": "conv1"}).open
    ('conv1',)
    """
    if not choices:
        return options
    legal = [field.name for field in fields(PictureOptions)]
    if strange := sorted(set(choices) - set(legal)):
        raise UnknownChoice.among("option of a picture", strange[0], legal)
    return replace(options, **{name: _coerce_option(getattr(options, name), choices[name]) for name in choices})


def _coerce_option(usual: Any, value: Any) -> Any:
    """Return a value in the form that its option accepts: a single word becomes a tuple.

    >>> _coerce_option((), "conv1"), _coerce_option((), ["conv1", "conv2"]), _coerce_option("auto", 2)
    (('conv1',), ('conv1', 'conv2'), 2)
    """
    if isinstance(usual, tuple):
        one = isinstance(value, str | os.PathLike) or not isinstance(value, Iterable)
        try:
            return (value,) if one else tuple(value)
        except TypeError:  # an array without dimensions claims to be iterable
            return (value,)
    return value


def validate_picture_options(options: PictureOptions) -> None:
    """Raise for an unknown colouring, theme or engine, or an unreadable font, before any work is done."""
    for what, word, legal in (
        ("colouring", options.color_by, SCHEMES),
        ("theme", options.theme, THEMES),
        ("engine", options.engine, ENGINES),
    ):
        check_choice(what, word, legal)
    unused = next((name for name in LOGGED_COLOR_OPTIONS if getattr(options, name) is not None), "")
    if unused and not SCHEMES[options.color_by].logged:
        raise RequestError(f"{unused} changes nothing in colours by {options.color_by}", hint="color by logged")
    if options.font_files:
        from graphviz_tb.render.fonts import check_fonts

        check_fonts(options.font_files)
