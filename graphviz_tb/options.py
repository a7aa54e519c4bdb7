"""Frozen groups of options, each with TensorBoard's default and the name of its constant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, fields, replace
from math import inf
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Literal, get_args

from graphviz_tb.errors import (
    RequestError,
    UnknownChoice,
    WrongType,
    check_choice,
    reject_bytes_path,
    require_type,
    short_repr,
)
from graphviz_tb.model.frozen import dataclass

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from graphviz_tb.model.scene import Direction

# Smallest value of each number; `max_children` and `series_min` below 2 could never be met.
MIN_VALUES = {
    "series_min": 2,
    "max_children": 2,
    "min_nodes": 1,
    "min_degree": 0,
    "depth": 0,
    "max_open": 1,
    "max_annotations": 0,
    "scale": 0.05,
    "width": 16,
    "width_mm": 20,
    "max_bytes": 1,
    "batch": 1,
    "page_max": 0.1,
}
# A larger number is a typing error: a square picture of that width would take 40 GB.
MAX_VALUES = {"scale": 20, "width": 100_000, "width_mm": 2000}
MAX_OPTION_INT = 2**63 - 1  # upper limit of any other number: int64
PATH_OPTIONS = ("run_metadata", "against", "font_files")  # options that hold paths
# Types that the words of an annotation allow; any other word is one of a list of strings.
ANNOTATION_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (Integral,),
    "float": (Real,),
    "None": (type(None),),
    "tuple[str, ...]": (tuple,),
}


def _check_options(options: DataclassInstance) -> None:
    """Raise for values of the wrong type, numbers out of range, and NaN.

    >>> PictureOptions(depth=-1)
    Traceback (most recent call last):
    graphviz_tb.errors.RequestError: depth is -1; the least is 0
    >>> PictureOptions(scale="2")
    Traceback (most recent call last):
    graphviz_tb.errors.WrongType: scale is '2', of type str; it takes float or None
    """
    for option in fields(options):
        value = getattr(options, option.name)
        _check_option_type(option.name, str(option.type), value)
        if isinstance(value, bool) or not isinstance(value, Real):
            # In Python, True is a number.
            continue
        # Not converted to float: whole numbers above 2**53 would change.
        number: float = value if isinstance(value, int | float) else _as_comparable_float(value)
        said, most = short_repr(number), MAX_VALUES.get(option.name, MAX_OPTION_INT)
        # Not `<`: every comparison with NaN is false, so NaN is refused too.
        if option.name in MIN_VALUES and not number >= MIN_VALUES[option.name]:
            raise RequestError(f"{option.name} is {said}; the least is {MIN_VALUES[option.name]}")
        if not number <= most:
            raise RequestError(f"{option.name} is {said}; the most is {most}")


def _as_comparable_float(number: Real) -> float:
    """Return a float for comparison; numbers too large for a float become infinite."""
    try:
        return float(number)
    except OverflowError:
        return -inf if number < 0 else inf


def _check_option_type(name: str, annotation: str, value: object) -> None:
    """Raise for a value that the field's annotation does not allow. A tuple holds text, or paths for file options."""
    words = annotation.split(" | ")
    legal = tuple(kind for word in words for kind in ANNOTATION_TYPES.get(word, (str,)))
    # `isinstance` accepts True as an int; here only switches accept it.
    wrong = not isinstance(value, legal) or (isinstance(value, bool) and bool not in legal)
    texts = (str, PathLike) if name in PATH_OPTIONS else (str,)
    strange = [text for text in value if not isinstance(text, texts)] if isinstance(value, tuple) else []
    for path in value if isinstance(value, tuple) else ():
        reject_bytes_path(name, path)
    value = strange[0] if strange and not wrong else value
    if wrong or strange:
        raise WrongType(f"{name} is {short_repr(value)}, of type {type(value).__name__}; it takes {' or '.join(words)}")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Choice of one graph in a source of several, and settings of reading."""

    run: str | None = None
    tag: str | None = None
    kind: str | None = None  # "op" or "conceptual"
    tag_set: str | None = None
    signature: str | None = None
    whole_file: bool = False  # TensorBoard: true
    strict: bool = False
    max_bytes: int | None = None
    run_metadata: tuple[str, ...] = ()  # files with run statistics
    against: tuple[str, ...] = ()  # files of an earlier or later run, to compare with
    step: str | None = None  # a profile in the source itself: its tag, its number, or "all"
    profile: str | None = None  # one of several profiles, by name
    keep_warm_up: bool = False  # include a first step that is much slower than the rest

    def __post_init__(self) -> None:
        _check_options(self)

    @property
    def limits_memory(self) -> bool:
        """Return whether memory is limited to a multiple of the source's bytes on disk."""
        return self.max_bytes is None

    @property
    def selects_statistics(self) -> bool:
        """Return whether run statistics are to be joined."""
        return bool(self.run_metadata or self.against) or self.step is not None or self.profile is not None


@dataclass(frozen=True, slots=True)
class FlattenOptions:
    """Options of the flat graph. `tensorboard`: marks, strict names and inputs as TensorBoard has them.

    `show_variables`: show variables and their reads as ops, not as weights next to the ops that use them.
    """

    strict: bool = False
    show_variables: bool = False  # TensorBoard: true
    tensorboard: bool = False

    def __post_init__(self) -> None:
        _check_options(self)


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Options of folding nodes into groups."""

    series_min: int = 5  # seriesNodeMinSize
    scope_series: bool = True  # TensorBoard: ops only
    lenient_numbers: bool = True  # TensorBoard: false (conv2d_1 is not numbered, add and add_1 are not a run)
    folds: bool = True  # TensorBoard: none
    max_children: int = 40
    group: tuple[str, ...] = ()
    ungroup: tuple[str, ...] = ()
    tensorboard: bool = False

    def __post_init__(self) -> None:
        _check_options(self)


@dataclass(frozen=True, slots=True)
class ExpandOptions:
    """Limits of the main area of a group (TensorBoard's render PARAMS)."""

    extract: bool = True
    auto_extract: bool = True
    min_nodes: int = 15  # minNodeCountForExtraction
    min_degree: int = 5  # minDegreeForExtraction
    max_control_degree: int = 4  # maxControlDegree
    max_bridge_degree: int = 4  # maxBridgePathDegree
    sink_types: tuple[str, ...] = ("NoOp",)  # outExtractTypes
    main: tuple[str, ...] = ()
    aux: tuple[str, ...] = ()
    tensorboard: bool = False

    def __post_init__(self) -> None:
        _check_options(self)


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """Open groups and looks of a picture."""

    open: tuple[str, ...] = ()
    depth: int | Literal["auto"] = "auto"
    open_all: bool = False
    all_members: bool = False  # list the members of an open stack; default: show the content of one
    max_open: int = 5000
    engine: str = "layered"
    wrap: bool = True  # let long chains continue in further columns
    color_by: str = "structure"
    direction: Direction = "BT"  # rankDirection
    theme: Literal["light", "dark"] = "light"
    title: str | None = None
    legend: bool = True
    paper: bool = False  # a figure to be printed: no buttons, in its true size
    width_mm: int | None = None  # millimetres that it may be wide; None: 178, both columns of a page
    select: tuple[str, ...] = ()
    stats: bool = False
    max_annotations: int = 5  # maxAnnotations
    scale: float | None = None  # pixels of a PNG per unit; None: 2, or less if that would be too many
    width: int | None = None
    font_files: tuple[str, ...] = ()
    logged: str | None = None  # pattern of the tags that colour the graph; None: gradients, if there are any
    measure: str | None = None  # the measure taken of them; None: "rms" of histograms, the value of scalars
    at: int | None = None  # the step; None: the last
    logged_run: str | None = None  # the run; None: that of the graph
    against_run: str | None = None  # a run to compare with
    page_max: float = 25.0  # megabytes of a page; groups that do not fit are left out, deepest first

    def __post_init__(self) -> None:
        _check_options(self)
        from graphviz_tb.model.scene import DIRECTIONS

        check_choice("direction", self.direction, DIRECTIONS)
        if isinstance(self.depth, str) and self.depth != "auto":
            raise UnknownChoice(f"depth is {self.depth!r}; it takes a whole number, or 'auto'")


COLOR_BY_LOGGED = "logged"  # colouring by what a run logged
COLOR_BY_FACTS = "facts"  # colouring by the user's facts
COLOR_BY_PATTERNS = "patterns"  # colouring by the patterns of a view file
# picture options that only colouring by a log uses
LOGGED_COLOR_OPTIONS = ("logged", "measure", "at", "logged_run", "against_run")


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """Options of inference and costs.

    `infer`: infer shapes that the file does not declare (TensorBoard: never). `batch`: the number used for an unknown
    size in costs.
    """

    infer: bool = True
    batch: int = 1

    def __post_init__(self) -> None:
        _check_options(self)


@dataclass(frozen=True, slots=True)
class Options:
    """All groups of options. `Options.preset("tensorboard")` folds as TensorBoard does."""

    read: ReadOptions = field(default_factory=ReadOptions)
    flatten: FlattenOptions = field(default_factory=FlattenOptions)
    group: GroupOptions = field(default_factory=GroupOptions)
    expand: ExpandOptions = field(default_factory=ExpandOptions)
    annotate: AnnotateOptions = field(default_factory=AnnotateOptions)
    picture: PictureOptions = field(default_factory=PictureOptions)

    def __post_init__(self) -> None:
        """Raise for a field that is not a group of the right class."""
        for part in fields(self):
            kind = part.default_factory
            if isinstance(kind, type):
                require_type(part.name, getattr(self, part.name), kind)

    @classmethod
    def preset(cls, name: str) -> Options:
        """Return the options of a preset: "default" or "tensorboard".

        >>> Options.preset("tensorboard").group.folds
        False
        """
        base = cls()
        require_type("preset", name, str)
        if name == "default":
            return base
        if name != "tensorboard":
            raise UnknownChoice.among("preset", name, PRESETS)
        return replace(
            base,
            read=replace(base.read, whole_file=True),
            flatten=replace(base.flatten, tensorboard=True),
            group=replace(base.group, scope_series=False, lenient_numbers=False, folds=False, tensorboard=True),
            expand=replace(base.expand, tensorboard=True),
            annotate=replace(base.annotate, infer=False),
        )


PRESETS = ("default", "tensorboard")


# Options of a comparison: which differences count; the styles of its report, and the suffixes of their files.

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
            chosen += [part for part in parts if part] or [word]  # an empty word is not a class either
        for word in chosen:
            if word not in (*DIFFERENCE_CLASSES, "all"):
                raise UnknownChoice.among("class of differences", word, (*DIFFERENCE_CLASSES, "all"))
        return cls(**{word: word in chosen or "all" in chosen for word in DIFFERENCE_CLASSES})


DIFFERENCE_CLASSES = tuple(field.name for field in fields(DiffOptions))
