"""The roles of op types, and the types of each role."""

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
    # What comes in and goes out
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
    # Values handed on
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
    """The roles of an op type; of one that the table does not list, those of its name.

    >>> sorted(roles("AssignAdd")), sorted(roles("MyOpGrad")), sorted(roles("MyOp"))
    (['alias', 'assign', 'reference'], ['gradient'], [])
    """
    return frozenset(line_of(op).partition("\t")[0].split())


def has_role(op: str, *wanted: Role) -> bool:
    """Whether an op type has one of some roles.

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
"""Hold a value between runs, by reference or by handle. A `TemporaryVariable` lives for one step and is none."""
HANDLES = TYPES[Role.HANDLE]
"""Give the handle of something that is no tensor: a variable, table, queue, iterator, reader, generator."""
TABLES = TYPES[Role.TABLE]
"""Give the handle of a lookup table."""
READS = TYPES[Role.READ]
"""Give the value of the variable whose handle is input 0."""
ROW_READS = TYPES[Role.READ_ROWS]
"""Give rows of the variable whose handle is input 0."""
ASSIGNS = TYPES[Role.ASSIGN]
"""Set a variable, whole: those that TensorFlow registers."""
RESOURCE_ASSIGNS = frozenset(op for op in ASSIGNS if op.endswith("VariableOp"))
"""Of these, those that take the handle of a variable."""
CONSTANTS = TYPES[Role.CONSTANT]
"""Give a tensor that is in the file, the same in each run."""
FILLED = TYPES[Role.FILL] | {"ZerosLike", "OnesLike", "Const"}
"""Give a tensor that is stated, or all of one number: sizes are asked for to make one."""
UNSTATED = frozenset({"Placeholder"})
"""Have the shape of a scalar for an unknown one in graphs of old producers."""
INPUTS = TYPES[Role.INPUT]
"""Give what is fed from outside or handed to a function."""
ARGUMENTS = TYPES[Role.ARGUMENT]
"""Of the inputs, those of functions."""
RESULTS = TYPES[Role.RESULT]
"""Take what a function gives."""
OPTIONAL_VALUES = TYPES[Role.OPTIONAL_VALUE]
"""Take the element out of what an iterator gives in a loop over a dataset."""
NEXT_ELEMENTS = TYPES[Role.NEXT_ELEMENT]
"""Give the next element of a dataset."""
INPUT_PIPELINE = TYPES[Role.INPUT_PIPELINE]
"""Fetch, read, decode or wait for the data of a step: iterators, datasets, queues, infeeds, readers, decoders."""
PASS_THROUGH = TYPES[Role.PASS]
"""Output 0 is input 0: identities and copies."""
TRACED_RESULTS = TYPES[Role.TRACED_RESULT]
"""Tracing ends each result of a function in one, called by the type and a number."""
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
"""Run a function over and over."""
FRAME_ENTERS = TYPES[Role.FRAME_ENTER]
"""Hand a value into a loop of control flow v1."""
FRAME_EXITS = TYPES[Role.FRAME_EXIT]
"""Hand a value out of such a loop."""
FRAME_MERGES = TYPES[Role.FRAME_MERGE]
"""Give the one input that comes: the first time from outside of a loop, then from its last turn."""
FRAME_SWITCHES = TYPES[Role.FRAME_SWITCH]
"""Hand input 0 to one of two outputs."""
FRAME_NEXTS = TYPES[Role.FRAME_NEXT]
"""Hand a value to the next turn of a loop."""
FRAME_CONDITIONS = TYPES[Role.FRAME_CONDITION]
"""Say whether a loop goes on."""
CONVOLUTIONS = TYPES[Role.CONVOLUTION]
"""Convolutions and what slides a filter as they do."""
DEPTHWISE = TYPES[Role.DEPTHWISE]
"""Of the convolutions those that keep channels apart."""
PRODUCTS = TYPES[Role.PRODUCT]
"""Products of matrices."""
BATCH_PRODUCTS = TYPES[Role.BATCH_PRODUCT]
"""Products along dimensions of two tensors, as of the queries and keys of an attention."""
LOOKUPS = TYPES[Role.LOOKUP]
"""Rows of a table of embeddings by their numbers."""
EMBEDDING = LOOKUPS | ROW_READS
"""What an embedding does: rows of a table, of a variable or of its value."""
SIZES = TYPES[Role.SIZE]
"""Give the shape, rank or number of elements of an input."""
COUNTS = TYPES[Role.COUNT]
"""Arithmetic by which programs compute sizes: a whole number among their inputs is one."""
ADDS = TYPES[Role.ADD]
"""Add two tensors."""
INDEXES = TYPES[Role.INDEX]
"""What else takes part in computing sizes, where it is done with whole numbers."""
RANGES = TYPES[Role.RANGE]
"""Count from one number to another."""
SELECTS = TYPES[Role.SELECT]
"""Take the elements of one input or another, as truth values say."""
COMMON = TYPES[Role.COMMON]
"""Occur in every part of a network, so that no group is named by them."""
LISTS = TYPES[Role.LIST]
"""Make a list or a stack that loops fill."""
REFERENCES = TYPES[Role.REFERENCE]
"""Modify the variable that is their first input."""
