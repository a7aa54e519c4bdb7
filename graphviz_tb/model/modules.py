"""Segments of names that are modules of a program: a class, and the attribute that holds the module: `Linear[fc1]`."""

from __future__ import annotations

import re

MODULE_SEGMENT = re.compile(r"([^\[\]/]+)\[([^/]*)\]")  # a module in a name: class and attribute


def is_module(segment: str) -> bool:
    """Return whether a segment of a name is a module.

    >>> is_module("Linear[fc1]"), is_module("input.3")
    (True, False)
    """
    return segment.endswith("]") and MODULE_SEGMENT.fullmatch(segment) is not None


def enclosing_module_class(name: str) -> str:
    """Return the class of the module that an op is, or is directly in; "" for none.

    >>> (
    ...     enclosing_module_class("Net/GELU[act]"),
    ...     enclosing_module_class("Net/RMS[norm]/mul"),
    ...     enclosing_module_class("Net/mul"),
    ... )
    ('GELU', 'RMS', '')
    """
    for segment in reversed(name.split("/")[-2:]):
        if module := MODULE_SEGMENT.fullmatch(segment):
            return module[1]
    return ""


def module_attribute(segment: str) -> str:
    """Return the attribute that holds a module; any other segment unchanged.

    >>> module_attribute("Linear[fc1]"), module_attribute("input.3")
    ('fc1', 'input.3')
    """
    module = MODULE_SEGMENT.fullmatch(segment)
    return module[2] if module else segment
