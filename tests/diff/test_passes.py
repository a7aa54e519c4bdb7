"""Each rule of the table is there, and its example fails without it."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

import pytest

from graphviz_tb.model.change_content import LayerExpression
from tests.diff.rules import RULES, Rule

NOTHING = {"bool": False, "frozenset": frozenset(), "list": [], "set": set(), "tuple[str, str]": ("", ""),
           "tuple[list": ([], []), "tuple[frozenset": (frozenset(), frozenset()),
           "tuple[LayerExpression": (LayerExpression("?"), False),
           "Bools": slice(None)}  # a mask that keeps all  # fmt: skip


def without_effect(function: Any) -> Any:
    """A function of the same kind that finds nothing."""
    kind = str(inspect.signature(function).return_annotation)
    if inspect.isgeneratorfunction(function):
        return lambda *_: iter(())
    return lambda *_, **__: next((value for word, value in NOTHING.items() if kind.startswith(word)), None)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_rule_is_needed_by_its_example(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    holder: Any = importlib.import_module(f"graphviz_tb.diff.{rule.function[0]}")
    *around, name = rule.function[1].split(".")
    for part in around:
        holder = getattr(holder, part)
    own = getattr(holder, name)
    module, test, arguments = rule.example
    example = getattr(importlib.import_module(f"tests.diff.{module}"), test)
    example(*arguments)
    users = [each for word, each in sys.modules.items() if word.startswith("graphviz_tb.diff.")]
    for each in (holder, *users):
        if getattr(each, name, None) is own:
            monkeypatch.setattr(each, name, without_effect(own))
    with pytest.raises((AssertionError, ValueError, KeyError)):
        example(*arguments)
