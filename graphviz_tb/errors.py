"""Every exception of the package. The first branch says which comes next.

TbGraphError                 .hint  .exit_code
├── ReadError                the file              exit 3
│   ├── UnknownFormat        no form of graph that we know
│   ├── MalformedText        text that is no text proto: .line .column
│   ├── MalformedProto       bytes that are no message: .offset
│   ├── MalformedRecord      a broken record of an event file: .offset
│   ├── NoGraph              a good file that holds something else
│   └── TooLarge             a limit was passed
├── GraphError               the graph             exit 4
│   ├── DuplicateNode        two nodes of one name (only with strict)
│   └── UnknownInput         an input that names no node (only with strict)
├── RequestError             what was asked        exit 2
│   ├── UnknownNode          a name that is not in the graph; a KeyError too
│   ├── UnknownChoice        a word that is not on the list
│   ├── WrongType            a value of another type; a TypeError too
│   ├── Ambiguous            several graphs and no choice
│   ├── MalformedAssertion   an assertion that cannot be read: .text .column
│   └── MissingFacts         needs facts that the source does not hold
└── ToolError                this machine          exit 5
    ├── ToolMissing          a program or package that is not installed
    ├── ToolFailed           a program that stopped with an error
    └── CannotWrite          an output that cannot be written
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from heapq import nsmallest
from typing import Any

from graphviz_tb.limits import ASSERTION_SHOWN, NAME_COMPARED, VALUE_IN_ERROR


class TbGraphError(Exception):
    """The root of the tree: a message that finishes the sentence, and a hint that says what to do next."""

    exit_code = 70  # EX_SOFTWARE of sysexits.h: the branches below have codes of their own

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields of an error, as the constructors differ."""
        return _restored, (type(self), self.args, dict(self.__dict__))


def _restored(kind: type[TbGraphError], args: tuple[Any, ...], values: dict[str, Any]) -> TbGraphError:
    """An error as it was pickled."""
    # Past the constructor: each class has its own, and the message is finished already.
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error


class ReadError(TbGraphError):
    """The file cannot be read as a graph."""

    exit_code = 3


class UnknownFormat(ReadError):
    """The content is no form of graph that we know."""


class MalformedText(ReadError):
    """Text that is no text proto; `line` and `column` count from 1, `name` is that of its file, where it has one."""

    def __init__(self, message: str, *, line: int, column: int, name: str = "", hint: str | None = None) -> None:
        where = f"{name}: line" if name else "line"
        super().__init__(f"{where} {line}, column {column}: {message}", hint=hint)
        self.line = line
        self.column = column


class MalformedProto(ReadError):
    """Bytes that are no message; `offset` is the byte where reading stopped, if known."""

    def __init__(self, message: str, *, offset: int | None = None, hint: str | None = None) -> None:
        super().__init__(message if offset is None else f"{message} (at byte {offset})", hint=hint)
        self.offset = offset


class MalformedRecord(ReadError):
    """A broken record of an event file; `offset` is the byte where it starts."""

    def __init__(self, message: str, *, offset: int, hint: str | None = None) -> None:
        super().__init__(f"{message} (at byte {offset})", hint=hint)
        self.offset = offset


class NoGraph(ReadError):
    """A good file that holds something else; the message says what."""


class TooLarge(ReadError):
    """The file passes a limit that keeps memory and time bounded."""


class GraphError(TbGraphError):
    """The file can be read, but the graph in it is not sound."""

    exit_code = 4


class DuplicateNode(GraphError):
    """Two nodes have one name (an error only with strict reading)."""


class UnknownInput(GraphError):
    """An input names no node (an error only with strict reading)."""


class RequestError(TbGraphError):
    """The request cannot be met for this graph."""

    exit_code = 2


LENIENT = "leave out --strict to go on all the same"
ALL_NAMES = "`tbgraph tree MODEL` lists every group, with --ops every op"


class UnknownNode(RequestError, KeyError):
    """A name that is in no node, a `KeyError` too; the message lists up to three that are near."""

    __str__ = Exception.__str__  # that of a KeyError is in quotes

    @classmethod
    def among(cls, name: str, names: Iterable[str], what: str = "node") -> UnknownNode:
        """Name the nearest legal names.

        >>> str(UnknownNode.among('encodr', ['encoder', 'decoder', 'x']))
        "no node 'encodr'; nearest: 'encoder', 'decoder'"
        """
        names = list(names)
        return cls(f"no {what} {name!r}{suggestions(nearest(name, names), names)}", hint=ALL_NAMES)


class UnknownChoice(RequestError):
    """A word that is not on the list of legal ones."""

    @classmethod
    def among(cls, what: str, word: str, legal: Iterable[str]) -> UnknownChoice:
        """List the legal words.

        >>> str(UnknownChoice.among('colouring', 'red', ['none', 'device']))
        "unknown colouring 'red'; choose one of: none, device"
        """
        return cls(f"unknown {what} {word!r}; choose one of: {', '.join(legal)}")


class WrongType(RequestError, TypeError):
    """A value of another type than its option takes."""


def spoken(value: object) -> str:
    """A value in a message, where it says itself in a few letters.

    >>> spoken("tall"), spoken("tall" * 20), spoken(10**5000)
    ("'tall'", 'a long value', 'a long value')
    """
    try:
        said = repr(value)
    except Exception:  # a number of more digits than Python writes, or whatever an object of the user raises
        return "a long value"
    return said if len(said) <= VALUE_IN_ERROR else "a long value"


def refuse_bytes(name: str, value: object) -> None:
    """Refuse a path object of bytes: no message, and no other path, could be made with it."""
    if isinstance(value, os.PathLike) and isinstance(os.fspath(value), bytes):
        raise WrongType(f"{name} is a path of bytes", hint="os.fsdecode makes text of it")


def demand(name: str, value: object, *kinds: type) -> None:
    """Refuse a value that is of none of these types. To Python, True is an int; here it is not.

    >>> demand("height", "tall", int)
    Traceback (most recent call last):
    graphviz_tb.errors.WrongType: height is 'tall', of type str; it takes int
    """
    refuse_bytes(name, value)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        words = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise WrongType(f"{name} is {spoken(value)}, of type {type(value).__name__}; it takes {words}")


class Ambiguous(RequestError):
    """A source holds several graphs and none was chosen; the message lists them."""


class MalformedAssertion(RequestError):
    """An assertion that cannot be read; `column` counts the letters before the place, which the message marks."""

    def __init__(self, message: str, text: str, column: int, *, hint: str | None = None) -> None:
        # A separate line, as wide as the text.
        start = max(0, column - ASSERTION_SHOWN)
        shown = "".join(letter if letter.isprintable() else "�" for letter in text[start : column + ASSERTION_SHOWN])
        super().__init__(f"{message}:\n  {shown}\n  {' ' * (column - start)}^", hint=hint)
        self.text = text
        self.column = column


class MissingFacts(RequestError):
    """The request needs facts (run statistics, devices) that the source does not hold."""


class ToolError(TbGraphError):
    """This machine lacks something, or a program on it failed."""

    exit_code = 5


class ToolMissing(ToolError):
    """A program or package is not installed; the hint says how to get it."""


class ToolFailed(ToolError):
    """A program stopped with an error; the message ends with the tail of its output."""


class CannotWrite(ToolError):
    """An output file cannot be written."""


def suggestions(near: list[str], names: Iterable[str]) -> str:
    """The end of a sentence that tells the nearest names, or where none is near some that are there, outermost first.

    >>> suggestions([], ["conv1", "conv1/kernel", "dense"]), suggestions(["conv1"], ["conv1"]), suggestions([], [""])
    ("; there are 'conv1', 'dense', 'conv1/kernel'", "; nearest: 'conv1'", '')
    """
    if near:
        return f"; nearest: {', '.join(map(repr, near))}"
    short = (name for name in dict.fromkeys(names) if 0 < len(name) <= NAME_COMPARED)
    some = nsmallest(3, short, key=lambda name: name.count("/"))
    verb = "is" if len(some) == 1 else "are"
    return f"; there {verb} {', '.join(map(repr, some))}" if some else ""


def nearest(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The `count` names most like `name`, best first. Bounded: only names of like length are compared.

    >>> nearest('conv', ['conv1', 'conv2', 'dense', 'conv3', 'conv4'])
    ['conv1', 'conv2', 'conv3']
    """
    from difflib import get_close_matches  # only an error needs it

    limit = 20_000
    like = sorted(set(names) - {""}, key=lambda other: (abs(len(other) - len(name)), other))[:limit]
    short = name.rpartition("/")[2].lower()
    found = [other for other in like if short and short in other.rpartition("/")[2].lower()][:count]
    # difflib compares letter by letter, some 0.1 s for 2,000 names: of long ones, their ends.
    ends = {other[-NAME_COMPARED:]: other for other in reversed(like[:2000])}
    for end in get_close_matches(name[-NAME_COMPARED:], ends, n=count, cutoff=0.5):
        if ends[end] not in found:
            found.append(ends[end])
    return found[:count]
