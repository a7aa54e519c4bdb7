"""A budget for scope names: each contains the names of its enclosing scopes, so depth alone could fill memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SCOPE_NAMES = 300 << 20  # letters in total: 10,000 levels of six letters, or a million typical scopes
DEAR = 6  # JSON writes a non-ASCII or control letter as `\u0000`; in memory it may take four bytes


def per_letter(scope: str) -> int:
    """Return the cost of each letter of a name.

    >>> per_letter("layer_1/conv"), per_letter("couche_é"), per_letter("a\\x07")
    (1, 6, 6)
    """
    return 1 if scope.isascii() and scope.isprintable() else DEAR


@dataclass(slots=True)
class ScopeNameBudget:
    """The budget for names of scopes: `left` letters; `cut` counts names that were truncated."""

    left: int = SCOPE_NAMES
    cut: int = 0

    def within(self, scope: str) -> str:
        """Truncate a scope's name to the prefix for which there is room, enclosing scopes included; "" if there is
        none.

        >>> ScopeNameBudget().within("a/b/c"), ScopeNameBudget(5).within("a/b/c"), ScopeNameBudget(0).within("a")
        ('a/b/c', 'a/b', '')
        """
        if (scope.count("/") + 1) * len(scope) * DEAR <= self.left:
            return scope
        left, start, fits = self.left // per_letter(scope), 0, 0
        while start < len(scope):
            end = scope.find("/", start)
            end = len(scope) if end < 0 else end
            left -= end
            if left < 0:
                break
            start, fits = end + 1, end
        self.cut += fits < len(scope)
        return scope[:fits]

    def take(self, scope: str, around: Sequence[str]) -> None:
        """Spend the cost of a scope and its new enclosing scopes; `around` includes the scope itself."""
        self.left -= per_letter(scope) * sum(map(len, around))
