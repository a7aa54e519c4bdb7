"""The object graph of a SavedModel: the variables that its functions capture, by the names of the program.

Of a large message only a few fields are read: names of variables, captured objects of each function, and, if several
variables share a name, the attributes that lead from object to object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import repeat
from typing import NamedTuple

from graphviz_tb.formats.protobuf import BYTES_TYPE, CutError, parse_wire_varint, wire_fields
from graphviz_tb.limits import MAX_OBJECT_NAME_LETTERS, Meter
from graphviz_tb.unwrap.signatures import NO_VARIABLE, CapturedVariable, signature_dtype_name

# Field numbers of TensorFlow's saved_object_graph.proto.
OBJECT_NODES_FIELD, CONCRETE_FUNCTIONS_FIELD = 1, 2  # SavedObjectGraph
CHILDREN_FIELD, VARIABLE_FIELD = 1, 7  # SavedObject
NODE_ID_FIELD, LOCAL_NAME_FIELD = 1, 2  # ObjectReference
DTYPE, SHAPE, TRAINABLE, VARIABLE_NAME_FIELD = 1, 2, 3, 6  # SavedVariable; 2 are also the dimensions of a shape
MAP_KEY_FIELD, MAP_VALUE_FIELD = 1, 2  # an entry of a map
BOUND_INPUTS_FIELD = 2  # SavedConcreteFunction
# Attributes of a path that become part of a name, and letters of each, since thousands of variables may share a long
# path.
MAX_ATTRIBUTE_PATH_PARTS, MAX_ATTRIBUTE_LETTERS = 50, 200
TRAINED_LIST, FIXED_LIST = "trainable_variables", "non_trainable_variables"  # attributes of the root of Keras
KERAS_ATTRIBUTES = frozenset({"keras_api", "_operations", "_layers", "_trainable_variables", "_tracked", "_tracker"})
OPTIMIZER_ATTRIBUTES = frozenset({"iterations", "_iterations", "learning_rate", "_learning_rate"})
LIST_ATTRIBUTES = frozenset({
    "variables", "trainable_variables", "non_trainable_variables", "_trainable_variables", "_layers", "layers",
    "_non_trainable_variables", "_all_variables", "_misc_assets", "keras_api", "signatures", "_tracked",
})  # fmt: skip


def captured_variables(data: bytes) -> dict[str, tuple[CapturedVariable, ...]]:
    """Return the variables that each function of a SavedObjectGraph captures, in the order of its last arguments.

    No two objects have the same name. {} where the bytes are damaged.

    >>> captured_variables(bytes.fromhex("0a053a0332017712090a01661204120200000a00"))["f"][0].name
    'w'
    """
    try:
        spans = list(_field_spans(data, OBJECT_NODES_FIELD))
        saved = [_variable(data, *span) for span in spans]
        own_names = [variable.name for variable in saved]
        names = _number_repeated_names(_disambiguate_variable_names(own_names, data, spans))
        trained = _trained_objects([variable.trainable for variable in saved], data, spans)
        functions = [_concrete_function(data, *span) for span in _field_spans(data, CONCRETE_FUNCTIONS_FIELD)]
        captured = {number for _, numbers in functions for number in numbers if 0 <= number < len(saved)}
        keeps_more = _keeps_more(data, spans, saved, captured)
    except (CutError, UnicodeDecodeError):
        return {}
    shapes = (variable.shape for variable in saved)
    variables = list(map(CapturedVariable, names, own_names, shapes, trained, repeat(keeps_more)))
    return {
        function: tuple(variables[number] if 0 <= number < len(variables) else NO_VARIABLE for number in numbers)
        for function, numbers in functions
    }


class SavedVariable(NamedTuple):
    """A variable of the program as the file describes it; name "" for an object of another kind."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    floating: bool


def _keeps_more(data: bytes, spans: list[tuple[int, int]], saved: list[SavedVariable], captured: set[int]) -> bool:
    """Return whether the model has float variables that no function captures, in its list of all variables or in a
    layer with captured variables. Variables of optimizers and metrics do not count."""
    children = [list(_child_objects(data, *span)) for span in spans]
    listed = next((number for number, name in children[0] if name == "variables"), -1) if children else -1
    if 0 <= listed < len(children):
        # An archive that Keras exports captures copies of the variables in its list.
        floats = Counter(saved[number].name for number, _ in children[listed] if _is_floating(saved, number))
        return bool(floats - Counter(saved[number].name for number in captured))
    for layer in range(1, len(children)):
        attributes = [(number, name) for number, name in children[layer] if 0 <= number < len(saved)]
        if not any(_is_floating(saved, number) and number not in captured for number, _ in attributes):
            continue
        if any(name in OPTIMIZER_ATTRIBUTES for _, name in attributes):
            continue
        below = [number for number, name in attributes if name not in LIST_ATTRIBUTES]
        below += [number for each in below for number, name in children[each] if name not in LIST_ATTRIBUTES]
        if not captured.isdisjoint(below):
            return True
    return False


def _is_floating(saved: list[SavedVariable], number: int) -> bool:
    """Return whether an object is a variable of floats."""
    return 0 <= number < len(saved) and saved[number].name != "" and saved[number].floating


def _trained_objects(flags: list[bool], data: bytes, spans: list[tuple[int, int]]) -> list[bool | None]:
    """Return whether each object is trained.

    The lists of the root decide, since they include layers that were frozen later. The flag of a Keras variable, set
    when it was made, only proves that it is not trained.
    """
    lists = {name: number for number, name in _child_objects(data, *spans[0])} if spans else {}
    said: dict[int, bool] = {}
    for name, trained in ((TRAINED_LIST, True), (FIXED_LIST, False)):
        if name in lists and 0 <= lists[name] < len(spans):
            said |= dict.fromkeys((number for number, _ in _child_objects(data, *spans[lists[name]])), trained)
    of_keras = any(name in KERAS_ATTRIBUTES for span in spans for _, name in _child_objects(data, *span))
    return [said.get(number, None if of_keras and flag else flag) for number, flag in enumerate(flags)]


def _number_repeated_names(names: list[str]) -> list[str]:
    """Return the names of objects, with a number after a name that an earlier object has, as TensorFlow numbers them.

    >>> _number_repeated_names(["m/w", "", "m/w", "m/w_1", ""])
    ['m/w', '', 'm/w_2', 'm/w_1', '']
    """
    used, counts = set(names), Counter[str]()
    result = []
    for name in names:
        counts[name] += bool(name)
        if counts[name] < 2:
            result.append(name)
            continue
        number = counts[name] - 1
        while (numbered := f"{name}_{number}") in used:
            number += 1
        # The next object of this name continues with this number.
        counts[name] = number + 1
        used.add(numbered)
        result.append(numbered)
    return result


def _disambiguate_variable_names(names: list[str], data: bytes, spans: list[tuple[int, int]]) -> list[str]:
    """Insert into names that several variables share the attributes on the path to each: `model/kernel` of the layer
    `first` becomes `model/first/kernel`. `names` and `spans` are by object number."""
    shared_names = {name for name, count in Counter(filter(None, names)).items() if count > 1}
    if not shared_names:
        return names
    parents = _shortest_paths_from_root(data, spans)
    result = []
    letters = Meter(MAX_OBJECT_NAME_LETTERS)
    for number, name in enumerate(names):
        if letters.spent or name not in shared_names or not (path := _attribute_path(parents, number)):
            result.append(name)
            continue
        around, _, last = name.rpartition("/")
        parts = around.split("/")
        inner = [part for part in path[:-1] if part not in parts and len(part) <= MAX_ATTRIBUTE_LETTERS]
        result.append("/".join(filter(None, (around, *inner, last))))
        letters.take(len(result[-1]))
    return result


def _shortest_paths_from_root(data: bytes, spans: list[tuple[int, int]]) -> dict[int, tuple[int, str]]:
    """Return, for each object reachable from the root, its predecessor on the shortest path and the attribute between
    them. Attributes that are lists of objects are skipped, as they mean nothing to a reader."""
    came_from: dict[int, tuple[int, str]] = {0: (0, "")}
    order = [0]
    # Breadth first: the list grows during the loop.
    for parent in order:
        # Of several shortest paths take the first by name, independent of the order in the file.
        for number, name in sorted(_child_objects(data, *spans[parent]), key=lambda child: child[1]):
            if number not in came_from and 0 <= number < len(spans) and name not in LIST_ATTRIBUTES:
                came_from[number] = parent, name.lstrip("_")
                order.append(number)
    return came_from


def _attribute_path(came_from: Mapping[int, tuple[int, str]], number: int) -> list[str]:
    """Return the attributes that lead from the root to an object, the last `MAX_ATTRIBUTE_PATH_PARTS` of them.

    >>> _attribute_path({0: (0, ""), 4: (0, "first"), 5: (4, "kernel")}, 5)
    ['first', 'kernel']
    """
    found: list[str] = []
    while number and number in came_from and len(found) < MAX_ATTRIBUTE_PATH_PARTS:
        number, name = came_from[number]
        found.append(name)
    return found[::-1]


def _child_objects(data: bytes, first: int, last: int) -> Iterator[tuple[int, str]]:
    for span in _field_spans(data, CHILDREN_FIELD, first, last):
        number, name = 0, ""
        for piece in wire_fields(data, *span):
            if piece.number == NODE_ID_FIELD:
                number = parse_wire_varint(data, piece.first, piece.last)[0]
            elif piece.number == LOCAL_NAME_FIELD:
                name = data[piece.first : piece.last].decode()
        yield number, name


def _field_spans(data: bytes, number: int, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield the first and last byte of each value of one field."""
    for piece in wire_fields(data, first, last):
        if piece.number == number and piece.wire == BYTES_TYPE:
            yield piece.first, piece.last


def _variable(data: bytes, first: int, last: int) -> SavedVariable:
    """Read an object as a variable."""
    for start, end in _field_spans(data, VARIABLE_FIELD, first, last):
        name, trainable, dtype = "", False, 0
        shape: tuple[int, ...] = ()
        for piece in wire_fields(data, start, end):
            if piece.number == VARIABLE_NAME_FIELD and piece.wire == BYTES_TYPE:
                name = name or data[piece.first : piece.last].decode()
            elif piece.number == TRAINABLE and piece.wire != BYTES_TYPE:
                trainable = bool(parse_wire_varint(data, piece.first, piece.last)[0])
            elif piece.number == DTYPE and piece.wire != BYTES_TYPE:
                dtype = parse_wire_varint(data, piece.first, piece.last)[0]
            elif piece.number == SHAPE and piece.wire == BYTES_TYPE:
                shape = tuple(_size(data, *span) for span in _field_spans(data, SHAPE, piece.first, piece.last))
        return SavedVariable(name, shape, trainable, "float" in signature_dtype_name(dtype))
    return SavedVariable("", (), False, False)


def _size(data: bytes, first: int, last: int) -> int:
    """The size of a dimension; 0 where it is not written."""
    sizes = (
        parse_wire_varint(data, piece.first, piece.last)[0]
        for piece in wire_fields(data, first, last)
        if piece.number == 1
    )
    return next(sizes, 0)


def _concrete_function(data: bytes, first: int, last: int) -> tuple[str, list[int]]:
    name, bound = "", []
    for piece in wire_fields(data, first, last):
        if piece.number == MAP_KEY_FIELD:
            name = data[piece.first : piece.last].decode()
        elif piece.number == MAP_VALUE_FIELD:
            bound = list(_bound_inputs(data, piece.first, piece.last))
    return name, bound


def _bound_inputs(data: bytes, first: int, last: int) -> Iterator[int]:
    """Yield numbers of objects; packed, as TensorFlow writes them, or one by one."""
    for piece in wire_fields(data, first, last):
        if piece.number != BOUND_INPUTS_FIELD:
            continue
        position = piece.first
        while position < piece.last:
            number, position = parse_wire_varint(data, position, piece.last)
            yield number
