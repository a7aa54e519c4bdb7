"""Room for the names of scopes: each holds the names of all scopes around it, so depth alone could fill memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SCOPE_NAMES = 300 << 20  # letters of all of them: 10,000 levels of six letters, or a million scopes as models have them
DEAR = 6  # JSON writes a letter beyond ASCII, or one that controls a terminal, as `\u0000`; memory may take four bytes


def per_letter(scope: str) -> int:
    """How many letters each letter of a name counts for.

    >>> per_letter("layer_1/conv"), per_letter("couche_é"), per_letter("a\\x07")
    (1, 6, 6)
    """
    return 1 if scope.isascii() and scope.isprintable() else DEAR


@dataclass(slots=True)
class ScopeNameBudget:
    """The budget for names of scopes: `left` of it, and how many names were `cut` for lack of it."""

    left: int = SCOPE_NAMES
    cut: int = 0

    def within(self, scope: str) -> str:
        """As much of a scope's name as there is room for, with all scopes around it; "" where there is none.

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
        """Take the room for a scope and those around it that are new: `around` has the scope itself, too."""
        self.left -= per_letter(scope) * sum(map(len, around))
