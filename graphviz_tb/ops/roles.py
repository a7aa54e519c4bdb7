"""Roles of op types, and the set of types with each role."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from graphviz_tb.ops.table import LINES, line_of


class Role(StrEnum):
    """The role of an op. An op may have several roles, or none."""

    # State
    VARIABLE = "variable"
    TEMPORARY = "temporary"
    HANDLE = "handle"
    TABLE = "table"
    TABLE_USE = "table-use"
    READ = "read"
    READ_ROWS = "read-rows"
    ASSIGN = "assign"
    SCATTER = "scatter"
    UPDATE = "update"
    VARIABLE_CHECK = "variable-check"
    DESTROY = "destroy"
    REFERENCE = "reference"
    SAVE = "save"
    RESTORE = "restore"
    LIST = "list"
    # Inputs and outputs
    CONSTANT = "constant"
    INPUT = "input"
    ARGUMENT = "argument"
    RESULT = "result"
    OPTIONAL_VALUE = "optional-value"
    HAS_ELEMENT = "has-element"
    DATASET_SOURCE = "dataset-source"
    NEXT_ELEMENT = "next-element"
    INPUT_PIPELINE = "input-pipeline"
    SUMMARY = "summary"
    SUMMARY_MERGE = "summary-merge"
    # Values passed on
    PASS = "pass"
    PASS_EACH = "pass-each"
    TRACED_RESULT = "traced-result"
    CHECK = "check"
    GRADIENT_STOP = "gradient-stop"
    WRAP = "wrap"
    FILL = "fill"
    CAST = "cast"
    UNIT_AXES = "unit-axes"
    REARRANGE = "rearrange"
    ALIAS = "alias"
    GROUP = "group"
    # Control flow
    CALL = "call"
    LAUNCH = "launch"
    MAP = "map"
    REMOTE_CALL = "remote-call"
    BRANCH = "branch"
    COUNTED_LOOP = "counted-loop"
    LOOP = "loop"
    FRAME_ENTER = "frame-enter"
    FRAME_EXIT = "frame-exit"
    FRAME_MERGE = "frame-merge"
    FRAME_SWITCH = "frame-switch"
    FRAME_NEXT = "frame-next"
    FRAME_CONDITION = "frame-condition"
    # Computation
    CONVOLUTION = "convolution"
    DEPTHWISE = "depthwise"
    TRANSPOSED_CONVOLUTION = "transposed-convolution"
    PRODUCT = "product"
    BATCH_PRODUCT = "batch-product"
    NORMALIZATION = "normalization"
    LOOKUP = "lookup"
    GRADIENT = "gradient"
    SIZE = "size"
    COUNT = "count"
    ADD = "add"
    RANGE = "range"
    SELECT = "select"
    INDEX = "index"
    LOOP_COUNT = "loop-count"
    COMMON = "common"


@lru_cache(maxsize=4096)  # a hostile file has a million types
def roles(op: str) -> frozenset[str]:
    """Return the roles of an op type; of an unlisted type, those of the name pattern that it matches.

    >>> sorted(roles("AssignAdd")), sorted(roles("MyOpGrad")), sorted(roles("MyOp"))
    (['alias', 'assign', 'reference'], ['gradient'], [])
    """
    return frozenset(line_of(op).partition("\t")[0].split())


def has_role(op: str, *wanted: Role) -> bool:
    """Return whether an op type has any of some roles.

    >>> has_role("ScalarSummary", Role.SUMMARY), has_role("Relu", Role.SUMMARY, Role.SAVE)
    (True, False)
    """
    return not roles(op).isdisjoint(wanted)


def _types() -> dict[str, frozenset[str]]:
    # One pass over the lines for all roles.
    types: dict[str, set[str]] = {role: set() for role in Role}
    for op, line in LINES.items():
        for role in line.partition("\t")[0].split() if line[:1] != "\t" else ():
            types[role].add(op)
    return {role: frozenset(ops) for role, ops in types.items()}


TYPES = _types()

VARIABLES = TYPES[Role.VARIABLE]
"""Store a value between runs, by reference or by handle; not `TemporaryVariable`, which lives for one step."""
HANDLES = TYPES[Role.HANDLE]
"""Return the handle of a variable, table, queue, iterator, reader or generator."""
TABLES = TYPES[Role.TABLE]
"""Return the handle of a lookup table."""
READS = TYPES[Role.READ]
"""Return the value of the variable whose handle is input 0."""
ROW_READS = TYPES[Role.READ_ROWS]
"""Return rows of the variable whose handle is input 0."""
ASSIGNS = TYPES[Role.ASSIGN]
"""Set a whole variable; only ops that TensorFlow registers."""
RESOURCE_ASSIGNS = frozenset(op for op in ASSIGNS if op.endswith("VariableOp"))
"""The assignments that take the handle of a variable."""
CONSTANTS = TYPES[Role.CONSTANT]
"""Return a tensor stored in the file, constant over all runs."""
FILLED = TYPES[Role.FILL] | {"ZerosLike", "OnesLike", "Const"}
"""Return a stated tensor, or one filled with one number, for which sizes are needed."""
UNSTATED = frozenset({"Placeholder"})
"""State the shape of a scalar for an unknown shape in graphs of old producers."""
INPUTS = TYPES[Role.INPUT]
"""Return a value that is fed from outside or passed to a function."""
ARGUMENTS = TYPES[Role.ARGUMENT]
"""The inputs of functions."""
RESULTS = TYPES[Role.RESULT]
"""Take a result of a function."""
OPTIONAL_VALUES = TYPES[Role.OPTIONAL_VALUE]
"""Unwrap the optional element of an iterator in a loop over a dataset."""
NEXT_ELEMENTS = TYPES[Role.NEXT_ELEMENT]
"""Return the next element of a dataset."""
INPUT_PIPELINE = TYPES[Role.INPUT_PIPELINE]
"""Fetch, read, decode or wait for the data of a step: iterators, datasets, queues, infeeds, readers, decoders."""
PASS_THROUGH = TYPES[Role.PASS]
"""Output 0 is input 0: identities and copies."""
TRACED_RESULTS = TYPES[Role.TRACED_RESULT]
"""Tracing ends each result of a function in one of these, named by type and number."""
PASS_EACH = TYPES[Role.PASS_EACH]
"""The outputs are the inputs."""
CASTS = TYPES[Role.CAST]
"""The elements of input 0 in another dtype."""
UNIT_AXES = TYPES[Role.UNIT_AXES]
"""Add or drop dimensions of size 1."""
REARRANGES = TYPES[Role.REARRANGE]
"""The elements of input 0 in another shape or order of dimensions."""
ALIASES = TYPES[Role.ALIAS]
"""Take no memory for their output: it is an input, or is stored elsewhere."""
GROUPS = TYPES[Role.GROUP]
"""Compute nothing; control edges wait for them."""
CALLS = TYPES[Role.CALL]
"""Run the function of attribute `f` with all inputs."""
LAUNCHES = TYPES[Role.LAUNCH]
"""Run the function of attribute `function` with all inputs, compiled."""
BRANCHES = TYPES[Role.BRANCH]
"""Run one of several functions, chosen by input 0."""
LOOPS = TYPES[Role.LOOP]
"""Run a function repeatedly."""
FRAME_ENTERS = TYPES[Role.FRAME_ENTER]
"""Pass a value into a loop of control flow v1."""
FRAME_EXITS = TYPES[Role.FRAME_EXIT]
"""Pass a value out of such a loop."""
FRAME_MERGES = TYPES[Role.FRAME_MERGE]
"""Return the one available input: first from outside of the loop, then from the last iteration."""
FRAME_SWITCHES = TYPES[Role.FRAME_SWITCH]
"""Pass input 0 to one of two outputs."""
FRAME_NEXTS = TYPES[Role.FRAME_NEXT]
"""Pass a value to the next iteration of a loop."""
FRAME_CONDITIONS = TYPES[Role.FRAME_CONDITION]
"""Decide whether a loop continues."""
CONVOLUTIONS = TYPES[Role.CONVOLUTION]
"""Convolutions and similar ops that slide a filter."""
DEPTHWISE = TYPES[Role.DEPTHWISE]
"""The convolutions that keep channels separate."""
PRODUCTS = TYPES[Role.PRODUCT]
"""Products of matrices."""
BATCH_PRODUCTS = TYPES[Role.BATCH_PRODUCT]
"""Products along dimensions of two tensors, as of the queries and keys of an attention."""
LOOKUPS = TYPES[Role.LOOKUP]
"""Select rows of an embedding table by number."""
EMBEDDING = LOOKUPS | ROW_READS
"""Embeddings: select rows of a table, of a variable or of its value."""
SIZES = TYPES[Role.SIZE]
"""Return the shape, rank or number of elements of an input."""
COUNTS = TYPES[Role.COUNT]
"""Arithmetic by which programs compute sizes: a whole number among their inputs is one."""
ADDS = TYPES[Role.ADD]
"""Add two tensors."""
INDEXES = TYPES[Role.INDEX]
"""Further ops that compute sizes if their values are whole numbers."""
RANGES = TYPES[Role.RANGE]
"""Count from one number to another."""
SELECTS = TYPES[Role.SELECT]
"""Select elements of one of two inputs by truth values."""
COMMON = TYPES[Role.COMMON]
"""Occur in every part of a network, so no group is named after them."""
LISTS = TYPES[Role.LIST]
"""Make a list or a stack that loops fill."""
REFERENCES = TYPES[Role.REFERENCE]
"""Modify the variable that is their first input."""
