"""The object graph of a SavedModel: the variables that its functions capture, by the names of the program.

Of a large message only a few fields are read: names of variables, captured objects of each function, and, if several
variables share a name, the attributes that lead from object to object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from graphviz_tb.limits import OBJECT_NAMES, Meter
from graphviz_tb.read.wire import BYTES, CutError, pieces, varint

# Field numbers of TensorFlow's saved_object_graph.proto.
NODES, CONCRETE_FUNCTIONS = 1, 2  # SavedObjectGraph
CHILDREN, VARIABLE = 1, 7  # SavedObject
NODE_ID, LOCAL_NAME = 1, 2  # ObjectReference
VARIABLE_NAME = 6  # SavedVariable
KEY, VALUE = 1, 2  # an entry of a map
BOUND_INPUTS = 2  # SavedConcreteFunction
# Attributes of a path that become part of a name, and letters of each: models are not deep, and thousands of variables
# may share one long attribute.
MOST_PARTS, MOST_LETTERS = 50, 200
LISTS = frozenset(
    (
        *("variables", "trainable_variables", "non_trainable_variables", "_trainable_variables", "_layers", "layers"),
        *("_non_trainable_variables", "_all_variables", "_misc_assets", "keras_api", "signatures", "_tracked"),
    )
)


def captured_names(data: bytes) -> dict[str, tuple[str, ...]]:
    """Return, for each function of a SavedObjectGraph, the names of the variables that it captures, in the order of its
    last arguments; "" for other objects. {} if the bytes are damaged.

    >>> captured_names(bytes.fromhex("0a053a0332017712090a01661204120200000a00"))
    {'f': ('w', 'w')}
    """
    try:
        spans = list(_fields(data, NODES))
        names = disambiguate([_variable_name(data, *span) for span in spans], data, spans)
        functions = [_function(data, *span) for span in _fields(data, CONCRETE_FUNCTIONS)]
    except (CutError, UnicodeDecodeError):
        return {}
    return {
        function: tuple(names[number] if 0 <= number < len(names) else "" for number in captured)
        for function, captured in functions
    }


def disambiguate(names: list[str], data: bytes, spans: list[tuple[int, int]]) -> list[str]:
    """Insert into names that several variables share the attributes that lead to each: `model/kernel` of the layer
    `first` becomes `model/first/kernel`. `names` and `spans` are by object number."""
    several = {name for name, count in Counter(filter(None, names)).items() if count > 1}
    if not several:
        return names
    came_from = ways(data, spans)
    made = []
    letters = Meter(OBJECT_NAMES)
    for number, name in enumerate(names):
        if letters.spent or name not in several or not (way := attributes(came_from, number)):
            made.append(name)
            continue
        around, _, last = name.rpartition("/")
        parts = around.split("/")
        inner = [part for part in way[:-1] if part not in parts and len(part) <= MOST_LETTERS]
        made.append("/".join(filter(None, (around, *inner, last))))
        letters.take(len(made[-1]))
    return made


def ways(data: bytes, spans: list[tuple[int, int]]) -> dict[int, tuple[int, str]]:
    """Return, for each object reachable from the root, its predecessor on the shortest path and the attribute between
    them. Attributes that are lists of objects are skipped, as they mean nothing to a reader."""
    came_from: dict[int, tuple[int, str]] = {0: (0, "")}
    order = [0]
    # Breadth first: the list grows during the loop.
    for parent in order:
        # Of several shortest paths take the first by name, independent of the order in the file.
        for number, name in sorted(_children(data, *spans[parent]), key=lambda child: child[1]):
            if number not in came_from and 0 <= number < len(spans) and name not in LISTS:
                came_from[number] = parent, name.lstrip("_")
                order.append(number)
    return came_from


def attributes(came_from: Mapping[int, tuple[int, str]], number: int) -> list[str]:
    """Return the attributes that lead from the root to an object, the last `MOST_PARTS` of them.

    >>> attributes({0: (0, ""), 4: (0, "first"), 5: (4, "kernel")}, 5)
    ['first', 'kernel']
    """
    found: list[str] = []
    while number and number in came_from and len(found) < MOST_PARTS:
        number, name = came_from[number]
        found.append(name)
    return found[::-1]


def _children(data: bytes, first: int, last: int) -> Iterator[tuple[int, str]]:
    for span in _fields(data, CHILDREN, first, last):
        number, name = 0, ""
        for piece in pieces(data, *span):
            if piece.number == NODE_ID:
                number = varint(data, piece.first, piece.last)[0]
            elif piece.number == LOCAL_NAME:
                name = data[piece.first : piece.last].decode()
        yield number, name


def _fields(data: bytes, number: int, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the first and last byte of each value of one field."""
    for piece in pieces(data, first, last):
        if piece.number == number and piece.wire == BYTES:
            yield piece.first, piece.last


def _variable_name(data: bytes, first: int, last: int) -> str:
    for start, end in _fields(data, VARIABLE, first, last):
        for name in _fields(data, VARIABLE_NAME, start, end):
            return data[slice(*name)].decode()
    return ""


def _function(data: bytes, first: int, last: int) -> tuple[str, list[int]]:
    name, bound = "", []
    for piece in pieces(data, first, last):
        if piece.number == KEY:
            name = data[piece.first : piece.last].decode()
        elif piece.number == VALUE:
            bound = list(_bound_inputs(data, piece.first, piece.last))
    return name, bound


def _bound_inputs(data: bytes, first: int, last: int) -> Iterator[int]:
    """Yield numbers of objects; packed, as TensorFlow writes them, or one by one."""
    for piece in pieces(data, first, last):
        if piece.number != BOUND_INPUTS:
            continue
        position = piece.first
        while position < piece.last:
            number, position = varint(data, position, piece.last)
            yield number
