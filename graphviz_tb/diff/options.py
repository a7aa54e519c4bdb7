"""Options of a comparison: which differences count; the styles of its report, and the suffixes of their files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal, get_args

from graphviz_tb.errors import UnknownChoice, WrongType, require_type, short_repr

ReportStyle = Literal["text", "json", "markdown"]
REPORT_STYLES: tuple[ReportStyle, ...] = get_args(ReportStyle)
REPORT_SUFFIXES: dict[str, ReportStyle] = {".json": "json", ".md": "markdown", ".txt": "text"}


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
        require_type("include", words, Iterable)
        try:
            words = tuple(words)
        except TypeError:  # an array without dimensions says that it is iterable
            raise WrongType(f"include is {short_repr(words)}; it takes words") from None
        chosen = []
        for word in words:
            require_type("include", word, str)
            parts = [part.strip() for part in word.split(",")]
            chosen += [part for part in parts if part] or [word]  # an empty word is no class either
        for word in chosen:
            if word not in (*DIFFERENCE_CLASSES, "all"):
                raise UnknownChoice.among("class of differences", word, (*DIFFERENCE_CLASSES, "all"))
        return cls(**{word: word in chosen or "all" in chosen for word in DIFFERENCE_CLASSES})


DIFFERENCE_CLASSES = tuple(field.name for field in fields(DiffOptions))
