"""A budget for scope names: each contains the names of its enclosing scopes, so depth alone could fill memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_SCOPE_NAME_LETTERS = 300 << 20  # letters in total: 10,000 levels of six letters, or a million typical scopes
ESCAPED_LETTER_COST = 6  # JSON writes a non-ASCII or control letter as `\u0000`; in memory it may take four bytes


def letter_cost(scope: str) -> int:
    """Return the cost of each letter of a name.

    >>> letter_cost("layer_1/conv"), letter_cost("couche_é"), letter_cost("a\\x07")
    (1, 6, 6)
    """
    return 1 if scope.isascii() and scope.isprintable() else ESCAPED_LETTER_COST


@dataclass(slots=True)
class ScopeNameBudget:
    """The budget for names of scopes: `left` letters; `cut` counts names that were truncated."""

    left: int = MAX_SCOPE_NAME_LETTERS
    cut: int = 0

    def truncate(self, scope: str) -> str:
        """Truncate a scope's name to the prefix for which there is room, enclosing scopes included; "" if there is
        none.

        >>> ScopeNameBudget().truncate("a/b/c"), ScopeNameBudget(5).truncate("a/b/c"), ScopeNameBudget(0).truncate("a")
        ('a/b/c', 'a/b', '')
        """
        if (scope.count("/") + 1) * len(scope) * ESCAPED_LETTER_COST <= self.left:
            return scope
        left, start, fits = self.left // letter_cost(scope), 0, 0
        while start < len(scope):
            end = scope.find("/", start)
            end = len(scope) if end < 0 else end
            left -= end
            if left < 0:
                break
            start, fits = end + 1, end
        self.cut += fits < len(scope)
        return scope[:fits]

    def spend(self, scope: str, around: Sequence[str]) -> None:
        """Spend the cost of a scope and its new enclosing scopes; `around` includes the scope itself."""
        self.left -= letter_cost(scope) * sum(map(len, around))
