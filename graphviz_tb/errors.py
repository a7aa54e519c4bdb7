"""Every exception of the package. The first branch says what is at fault.

TbGraphError                 .hint  .exit_code
├── ReadError                the file              exit 3
│   ├── UnknownFormat        no known form of graph
│   ├── MalformedText        invalid text proto: .line .column
│   ├── MalformedProto       bytes that do not decode as a message: .offset
│   ├── MalformedRecord      a broken record of an event file: .offset
│   ├── NoGraph              a valid file without a graph
│   └── TooLarge             over a limit
├── GraphError               the graph             exit 4
│   ├── DuplicateNode        two nodes with one name (only with strict)
│   └── UnknownInput         an input that names no node (only with strict)
├── RequestError             what was asked        exit 2
│   ├── UnknownNode          no such node; a KeyError too
│   ├── UnknownChoice        not one of the legal words
│   ├── WrongType            a value of the wrong type; a TypeError too
│   ├── Ambiguous            several graphs and no choice
│   ├── MalformedAssertion   an assertion that cannot be parsed: .text .column
│   └── MissingFacts         needs facts that the source does not contain
└── ToolError                this machine          exit 5
    ├── ToolMissing          a program or package is not installed
    ├── ToolFailed           a program stopped with an error
    └── CannotWrite          an output cannot be written
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from graphviz_tb.limits import ASSERTION_CONTEXT_LETTERS, MAX_COMPARED_NAME_LETTERS, MAX_ERROR_VALUE_LETTERS


class TbGraphError(Exception):
    """Root of the tree: a message that finishes the sentence, and a hint about what to do next."""

    exit_code = 70  # EX_SOFTWARE of sysexits.h; the branches below have their own codes

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(f"hint: {hint}")  # below the message of a traceback

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields of an error, as the constructors differ."""
        return _rebuild_error, (type(self), self.args, dict(self.__dict__))


def _rebuild_error(kind: type[TbGraphError], args: tuple[Any, ...], values: dict[str, Any]) -> TbGraphError:
    """Rebuild a pickled error without calling its constructor."""
    # Bypass the constructors: their signatures differ, and the message is already complete.
    error = kind.__new__(kind, *args)
    error.__dict__.update(values)
    return error


class ReadError(TbGraphError):
    """The file cannot be read as a graph."""

    exit_code = 3


class UnknownFormat(ReadError):
    """The content is not a known form of graph."""


class MalformedText(ReadError):
    """Invalid text proto. `line` and `column` count from 1; `name` is the file's name, if it has one."""

    def __init__(self, message: str, *, line: int, column: int, name: str = "", hint: str | None = None) -> None:
        where = f"{name}: line" if name else "line"
        super().__init__(f"{where} {line}, column {column}: {message}", hint=hint)
        self.line = line
        self.column = column


class MalformedProto(ReadError):
    """Bytes that do not decode as a message. `offset` is the byte where decoding stopped, if known."""

    def __init__(self, message: str, *, offset: int | None = None, hint: str | None = None) -> None:
        super().__init__(message if offset is None else f"{message} (at byte {offset})", hint=hint)
        self.offset = offset


class MalformedRecord(ReadError):
    """A broken record of an event file. `offset` is the byte where the record starts."""

    def __init__(self, message: str, *, offset: int, hint: str | None = None) -> None:
        super().__init__(f"{message} (at byte {offset})", hint=hint)
        self.offset = offset


class NoGraph(ReadError):
    """A valid file without a graph; the message says what it contains instead."""


class TooLarge(ReadError):
    """The file is over a limit on memory or time."""


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


NOT_STRICT_HINT = "leave out --strict to continue anyway"
LIST_NAMES_HINT = "`tbgraph tree MODEL` lists every group, with --ops every op"


class UnknownNode(RequestError, KeyError):
    """No node has this name. The message lists up to three similar names. A `KeyError` too."""

    __str__ = Exception.__str__  # `KeyError.__str__` adds quotes

    @classmethod
    def among(cls, name: str, names: Iterable[str], what: str = "node") -> UnknownNode:
        """Return the error with the nearest legal names in its message.

        >>> str(UnknownNode.among("encodr", ["encoder", "decoder", "x"]))
        "no node 'encodr'; nearest: 'encoder', 'decoder'"
        """
        names = list(names)
        return cls(f"no {what} {name!r}{suggest_names(nearest_names(name, names), names)}", hint=LIST_NAMES_HINT)


class UnknownChoice(RequestError):
    """Not one of the legal words."""

    @classmethod
    def among(cls, what: str, word: str, legal: Iterable[str]) -> UnknownChoice:
        """Return the error with the legal words in its message.

        >>> str(UnknownChoice.among("colouring", "red", ["none", "device"]))
        "unknown colouring 'red'; choose one of: none, device"
        """
        return cls(f"unknown {what} {word!r}; choose one of: {', '.join(legal)}")


def check_choice(what: str, word: str, legal: Collection[str]) -> None:
    """Raise `UnknownChoice` for a word that is not one of the legal ones."""
    if word not in legal:
        raise UnknownChoice.among(what, word, legal)


class WrongType(RequestError, TypeError):
    """A value of a type that its option does not accept."""


def short_repr(value: object) -> str:
    """Return the repr of a value for a message, or "a long value" if it is too long.

    >>> short_repr("tall"), short_repr("tall" * 20), short_repr(10**5000)
    ("'tall'", 'a long value', 'a long value')
    """
    try:
        said = repr(value)
    except Exception:  # an int with more digits than Python converts, or an object whose repr raises
        return "a long value"
    return said if len(said) <= MAX_ERROR_VALUE_LETTERS else "a long value"


def reject_bytes_path(name: str, value: object) -> None:
    """Raise for a path object of bytes: it cannot be joined with text paths or shown in a message."""
    if isinstance(value, os.PathLike) and isinstance(os.fspath(value), bytes):
        raise WrongType(f"{name} is a path of bytes", hint="convert it with os.fsdecode")


def require_type(name: str, value: object, *kinds: type) -> None:
    """Raise `WrongType` unless the value is of one of these types. Unlike in Python, True is not an int here.

    >>> require_type("height", "tall", int)
    Traceback (most recent call last):
    graphviz_tb.errors.WrongType: height is 'tall', of type str; it takes int
    """
    reject_bytes_path(name, value)
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        words = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise WrongType(f"{name} is {short_repr(value)}, of type {type(value).__name__}; it takes {words}")


class Ambiguous(RequestError):
    """A source holds several graphs and none was chosen; the message lists them."""


class MalformedAssertion(RequestError):
    """An assertion that cannot be parsed. `column` is the offset of the error in `text`."""

    def __init__(self, message: str, text: str, column: int, *, hint: str | None = None) -> None:
        # Show the text around the error, with a caret below the position.
        start = max(0, column - ASSERTION_CONTEXT_LETTERS)
        shown = "".join(
            letter if letter.isprintable() else "�" for letter in text[start : column + ASSERTION_CONTEXT_LETTERS]
        )
        super().__init__(f"{message}:\n  {shown}\n  {' ' * (column - start)}^", hint=hint)
        self.text = text
        self.column = column


class MissingFacts(RequestError):
    """The request needs facts (run statistics, devices) that the source does not contain."""


class ToolError(TbGraphError):
    """This machine lacks something, or a program on it failed."""

    exit_code = 5


class ToolMissing(ToolError):
    """A program or package is not installed; the hint says how to get it."""


class ToolFailed(ToolError):
    """A program stopped with an error; the message ends with the tail of its output."""


class CannotWrite(ToolError):
    """An output file cannot be written."""


def suggest_names(near: list[str], names: Iterable[str]) -> str:
    """Return the end of a "no such name" message: the nearest names, else up to three existing ones, outermost first.

    >>> (
    ...     suggest_names([], ["conv1", "conv1/kernel", "dense"]),
    ...     suggest_names(["conv1"], ["conv1"]),
    ...     suggest_names([], [""]),
    ... )
    ("; there are 'conv1', 'dense', 'conv1/kernel'", "; nearest: 'conv1'", '')
    """
    if near:
        return f"; nearest: {', '.join(map(repr, near))}"
    short = (name for name in dict.fromkeys(names) if 0 < len(name) <= MAX_COMPARED_NAME_LETTERS)
    some = nsmallest(3, short, key=lambda name: name.count("/"))
    verb = "is" if len(some) == 1 else "are"
    return f"; there {verb} {', '.join(map(repr, some))}" if some else ""


def nearest_names(name: str, names: Iterable[str]) -> list[str]:
    """Return the three names most similar to `name`, best first. Only names of similar length are compared.

    >>> nearest_names("conv", ["conv1", "conv2", "dense", "conv3", "conv4"])
    ['conv1', 'conv2', 'conv3']
    """
    from difflib import get_close_matches  # only errors need it

    limit = 20_000
    similar = sorted(set(names) - {""}, key=lambda other: (abs(len(other) - len(name)), other))[:limit]
    short = name.rpartition("/")[2].lower()
    found = [other for other in similar if short and short in other.rpartition("/")[2].lower()][:3]
    # difflib is slow, some 0.1 s for 2,000 names: compare long names by their ends.
    ends = {other[-MAX_COMPARED_NAME_LETTERS:]: other for other in reversed(similar[:2000])}
    for end in get_close_matches(name[-MAX_COMPARED_NAME_LETTERS:], ends, n=3, cutoff=0.5):
        if ends[end] not in found:
            found.append(ends[end])
    return found[:3]


# Attributes known from similar libraries, and their names here.

DRAWING_METHODS = "show() in a notebook, save(FILE), svg(), png(), pdf() or to_html()"
# Owner → guessed name → the expression to use instead (`m` is a model, `d` a diff, `log` a log).
GUESSES: dict[str, dict[str, str]] = {
    "graphviz_tb": {
        **dict.fromkeys(("show", "view", "display", "open"), "tbgraph.load(MODEL).show()"),
        **dict.fromkeys(("draw", "plot", "plot_model", "picture", "render"), "tbgraph.load(MODEL).save(FILE)"),
        **dict.fromkeys(("info", "inspect", "describe"), "tbgraph.load(MODEL).summary()"),
        **dict.fromkeys(("compare", "cmp"), "tbgraph.diff(OLD, NEW)"),
        **dict.fromkeys(("read", "load_model", "from_file", "parse"), "tbgraph.load(MODEL)"),
        **dict.fromkeys(("scalars", "log", "runs", "read_log"), "tbgraph.open_log(LOGDIR)"),
        **dict.fromkeys(("html", "to_html", "export", "page"), "tbgraph.load(MODEL).to_html()"),
        **dict.fromkeys(("tensorboard", "launch", "notebook"), "tbgraph.serve(LOGDIR)"),
    },
    "Model": {
        **dict.fromkeys(("plot", "draw", "display", "open", "visualize"), DRAWING_METHODS),
        **dict.fromkeys(("ops", "operations", "get_operations"), "nodes"),
        **dict.fromkeys(("params", "count_params", "num_parameters"), "parameters"),
        **dict.fromkeys(("groups", "scopes", "modules", "children", "tree"), "root.children"),
        **dict.fromkeys(("info", "describe", "stats"), "summary()"),
        **dict.fromkeys(("node", "get_node", "get_layer", "get"), "a name in brackets: m['conv1']"),
        **dict.fromkeys(("search", "query", "filter", "select"), "find(QUERY)"),
        **dict.fromkeys(("weights", "variables", "trainable_variables"), "layers, each with its parameters"),
        **dict.fromkeys(("graph_def", "as_graph_def", "graph"), "hierarchy.graph.graph_def"),
        **dict.fromkeys(("json", "to_dict", "dict"), "to_json()"),
        "compare": "diff(OTHER)",
        "html": "to_html()",
        "edges": "to_networkx().edges",
        "macs": "flops",
    },
    "Node": {
        **dict.fromkeys(("params", "count_params"), "parameters"),
        **dict.fromkeys(("type", "op_type"), "op"),
        **dict.fromkeys(("ops", "layers"), "children"),
        **dict.fromkeys(("picture", "svg", "show", "save", "plot"), "model.picture(open=NAME) of its model"),
    },
    "Changes": {
        **dict.fromkeys(("changes", "entries"), "the diff itself: for change in d"),
        **dict.fromkeys(("plot", "draw", "view", "display"), DRAWING_METHODS.replace("to_html", "html")),
        "markdown": "to_markdown()",
        **dict.fromkeys(("text", "report", "describe"), "explain()"),
        **dict.fromkeys(("json", "to_dict", "dict"), "to_json()"),
        **dict.fromkeys(("equal", "is_same", "identical"), "same"),
    },
    "Log": {
        **dict.fromkeys(("scalars", "metrics", "losses"), 'tags("scalar"), and series(RUN, TAG) for the points'),
        **dict.fromkeys(("scalar", "get", "history", "scan_history", "Scalars"), "series(RUN, TAG)"),
        **dict.fromkeys(("histograms", "images", "Tags"), 'tags("histogram"), tags("image"), tags("text")'),
        **dict.fromkeys(("to_pandas", "df", "dataframe", "to_csv"), "`tbgraph scalars LOGDIR -o points.csv`"),
        **dict.fromkeys(("plot", "show", "draw"), "`tbgraph scalars LOGDIR -o curves.svg`, or tbgraph.serve(LOGDIR)"),
    },
}  # fmt: skip


def missing_attribute(owner: str, name: str) -> AttributeError:
    """Return the error for an unknown attribute, with our name for an attribute of a similar library.

    >>> print(missing_attribute("Model", "params"))
    'Model' has no attribute 'params'; what there is: parameters
    """
    there = GUESSES.get(owner, {}).get(name)
    return AttributeError(f"{owner!r} has no attribute {name!r}" + (f"; what there is: {there}" if there else ""))


class HelpfulAttributes:
    """An object whose error for an unknown attribute suggests an existing one. Type checkers do not see
    `__getattr__`."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            raise missing_attribute(type(self).__name__, name)
