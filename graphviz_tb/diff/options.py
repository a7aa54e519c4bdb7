"""What counts as a difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from graphviz_tb.errors import UnknownChoice, WrongType, demand, spoken


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """Classes of differences that are noise unless asked for.

    `shapes`: the `_output_shapes` that were written beside the nodes; `devices`; `colocation`: `_class`; `versions`
    of producer and consumers; `constants`: what constants hold (their type and shape always count).
    """

    shapes: bool = False
    devices: bool = False
    colocation: bool = False
    versions: bool = False
    constants: bool = False

    @classmethod
    def including(cls, words: Iterable[str]) -> DiffOptions:
        """Options with some classes on; each word may list several, set apart by commas.

        >>> DiffOptions.including(["shapes,devices"])
        DiffOptions(shapes=True, devices=True, colocation=False, versions=False, constants=False)
        """
        words = (words,) if isinstance(words, str) else words
        demand("include", words, Iterable)
        try:
            words = tuple(words)
        except TypeError:  # an array without dimensions says that it is iterable
            raise WrongType(f"include is {spoken(words)}; it takes words") from None
        for word in words:
            demand("include", word, str)
            if not word.strip(" ,"):
                raise UnknownChoice.among("class of differences", word, (*(field.name for field in fields(cls)), "all"))
        legal = tuple(field.name for field in fields(cls))
        chosen = [part.strip() for word in words for part in word.split(",") if part.strip()]
        for word in chosen:
            if word != "all" and word not in legal:
                raise UnknownChoice.among("class of differences", word, (*legal, "all"))
        return cls(**{word: word in chosen or "all" in chosen for word in legal})


CLASSES = tuple(field.name for field in fields(DiffOptions))
