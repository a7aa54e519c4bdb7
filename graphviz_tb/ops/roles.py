"""Roles of op types, and the set of types with each role."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from graphviz_tb.ops.table import EQUAL_OPS, MAX_CACHED_OP_TYPES, OP_LINES, op_line, op_row


class Role(StrEnum):
    """The role of an op. An op may have several roles, or none."""

    # State
    VARIABLE = "variable"
    BUFFER = "buffer"
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
    REFERENCE = "reference"
    SAVE = "save"
    RESTORE = "restore"
    LIST = "list"
    # Inputs and outputs
    CONSTANT = "constant"
    TRACE_VALUE = "trace-value"
    TRACE_WEIGHT = "trace-weight"
    TRACE_LIST = "trace-list"
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
    MIXING = "mixing"
    NORMALIZATION = "normalization"
    ROOT = "root"
    ACTIVATION = "activation"
    ATTENTION = "attention"
    RECURRENT = "recurrent"
    LOOKUP = "lookup"
    GRADIENT = "gradient"
    SIZE = "size"
    COUNT = "count"
    HOLDS_NUMBERS = "holds-numbers"
    ADD = "add"
    BIAS = "bias"
    MULTIPLY = "multiply"
    RANGE = "range"
    RANDOM = "random"
    SELECT = "select"
    INDEX = "index"
    LOOP_COUNT = "loop-count"
    COMMON = "common"


@lru_cache(maxsize=MAX_CACHED_OP_TYPES)
def roles_of_op(op: str) -> frozenset[str]:
    """Return the roles of an op type; of an unlisted type, those of the name pattern that it matches.

    >>> sorted(roles_of_op("AssignAdd")), sorted(roles_of_op("MyOpGrad")), sorted(roles_of_op("MyOp"))
    (['alias', 'assign', 'reference'], ['gradient'], [])
    """
    return frozenset(op_line(op).partition("\t")[0].split())


def has_role(op: str, *wanted: Role) -> bool:
    """Return whether an op type has any of some roles.

    >>> has_role("ScalarSummary", Role.SUMMARY), has_role("Relu", Role.SUMMARY, Role.SAVE)
    (True, False)
    """
    return not roles_of_op(op).isdisjoint(wanted)


def is_elementwise(op: str) -> bool:
    """Return whether each element of the result depends on one element of each input.

    >>> is_elementwise("Mul"), is_elementwise("onnx::Erf"), is_elementwise("MatMul"), is_elementwise("FFT")
    (True, True, False, False)
    """
    row = op_row(op)
    return row is not None and row.flops == "out" and not has_role(op, Role.MIXING)


def is_reduction(op: str) -> bool:
    """Return whether each element of the result combines several elements of one input: a mean, a pooling.

    >>> is_reduction("Mean"), is_reduction("onnx::MaxPool"), is_reduction("BiasAdd"), is_reduction("MatMul")
    (True, True, False, False)
    """
    row = op_row(op)
    return row is not None and row.flops.startswith(("in0", "out*attr(k")) and not has_role(op, Role.BIAS)


APPLY_PREFIX = re.compile(r"(?:Resource)?(?:Sparse)?Apply(\w+)")


def optimizer_of_op(op: str) -> str:
    """Return the optimizer whose step an op computes; "" for none.

    >>> optimizer_of_op("ResourceSparseApplyMomentum"), optimizer_of_op("ApplyAdam"), optimizer_of_op("Add")
    ('Momentum', 'Adam', '')
    """
    found = APPLY_PREFIX.fullmatch(op)
    return found[1] if found else ""


def _group_ops_by_role() -> dict[str, frozenset[str]]:
    # One pass over the lines for all roles.
    types: dict[str, set[str]] = {role: set() for role in Role}
    for op, line in OP_LINES.items():
        for role in line.partition("\t")[0].split() if line[:1] != "\t" else ():
            types[role].add(op)
    return {role: frozenset(ops) for role, ops in types.items()}


OPS_BY_ROLE = _group_ops_by_role()

VARIABLE_OPS = OPS_BY_ROLE[Role.VARIABLE]
"""Store a value between runs, by reference or by handle; not `TemporaryVariable`, which lives for one step."""
PARAMETER_OP, BUFFER_OP = "Parameter", "Buffer"
"""The weights of exported programs: what training changes, and what it does not."""
HANDLE_OPS = OPS_BY_ROLE[Role.HANDLE]
"""Return the handle of a variable, table, queue, iterator, reader or generator."""
LOOKUP_TABLE_OPS = OPS_BY_ROLE[Role.TABLE]
"""Return the handle of a lookup table."""
VARIABLE_READ_OPS = OPS_BY_ROLE[Role.READ]
"""Return the value of the variable whose handle is input 0."""
ROW_READ_OPS = OPS_BY_ROLE[Role.READ_ROWS]
"""Return rows of the variable whose handle is input 0."""
ASSIGN_OPS = OPS_BY_ROLE[Role.ASSIGN]
"""Set a whole variable; only ops that TensorFlow registers."""
RESOURCE_ASSIGN_OPS = frozenset(op for op in ASSIGN_OPS if op.endswith("VariableOp"))
"""The assignments that take the handle of a variable."""
OWN_BIAS_OPS = OPS_BY_ROLE[Role.BIAS]
"""Add a bias and nothing else."""
BIAS_OPS = OWN_BIAS_OPS | OPS_BY_ROLE[Role.ADD]
"""Add one number per channel, or may do so."""
FROZEN_READ_OPS = frozenset({"Identity", "Snapshot", "ReadVariableOp"})
"""The reads of a variable that stay in a frozen graph, behind the constant."""
CONSTANT_OPS = OPS_BY_ROLE[Role.CONSTANT]
"""Return a tensor stored in the file, constant over all runs."""
FILL_OPS = OPS_BY_ROLE[Role.FILL] | {"ZerosLike", "OnesLike", "Const"}
"""Return a stated tensor, or one filled with one number, for which sizes are needed."""
UNKNOWN_AS_SCALAR_OPS = frozenset({"Placeholder"})
"""State the shape of a scalar for an unknown shape in graphs of old producers."""
INPUT_OPS = OPS_BY_ROLE[Role.INPUT]
"""Return a value that is fed from outside or passed to a function."""
FUNCTION_ARGUMENT_OPS = OPS_BY_ROLE[Role.ARGUMENT]
"""The inputs of functions."""
RESULT_OPS = OPS_BY_ROLE[Role.RESULT]
"""Take a result of a function."""
OPTIONAL_VALUE_OPS = OPS_BY_ROLE[Role.OPTIONAL_VALUE]
"""Unwrap the optional element of an iterator in a loop over a dataset."""
NEXT_ELEMENT_OPS = OPS_BY_ROLE[Role.NEXT_ELEMENT]
"""Return the next element of a dataset."""
INPUT_PIPELINE_OPS = OPS_BY_ROLE[Role.INPUT_PIPELINE]
"""Fetch, read, decode or wait for the data of a step: iterators, datasets, queues, infeeds, readers, decoders."""
IDENTITY_OPS = OPS_BY_ROLE[Role.PASS]
"""Output 0 is input 0: identities and copies."""
TRACED_RESULT_OPS = OPS_BY_ROLE[Role.TRACED_RESULT]
"""Tracing ends each result of a function in one of these, named by type and number."""
PASS_EACH_OPS = OPS_BY_ROLE[Role.PASS_EACH]
"""The outputs are the inputs."""
VARIANCE_ROOT_OPS = OPS_BY_ROLE[Role.ROOT]
"""Take the root in a norm that is several ops; ONNX and others have no op for its inverse."""
CAST_OPS = OPS_BY_ROLE[Role.CAST]
"""The elements of input 0 in another dtype."""
UNIT_AXES_OPS = OPS_BY_ROLE[Role.UNIT_AXES]
"""Add or drop dimensions of size 1."""
REARRANGE_OPS = OPS_BY_ROLE[Role.REARRANGE]
"""The elements of input 0 in another shape or order of dimensions."""
KERNEL_GRADIENT_OPS = frozenset(op for op in OPS_BY_ROLE[Role.GRADIENT] if "BackpropFilter" in op)
"""The gradient of a convolution with respect to its kernel."""
RESHAPE_OPS = frozenset({"Reshape"})
"""Give input 0 the shape that input 1 states."""
EQUAL_NUMBER_OPS = RESHAPE_OPS | {"Cast"}
"""The numbers of input 0, in another shape or dtype."""
DILATION_BLOCK_OPS = frozenset({"SpaceToBatchND", *(op for op, same in EQUAL_OPS.items() if same == "SpaceToBatchND")})
"""Cut an image into blocks before a convolution, to dilate it. Input 1 is the dilation, input 2 a padding."""
ALIAS_OPS = OPS_BY_ROLE[Role.ALIAS]
"""Take no memory for their output: it is an input, or is stored elsewhere."""
GROUP_OPS = OPS_BY_ROLE[Role.GROUP]
"""Compute nothing; control edges wait for them."""
CALL_OPS = OPS_BY_ROLE[Role.CALL]
"""Run the function of attribute `f` with all inputs."""
LAUNCH_OPS = OPS_BY_ROLE[Role.LAUNCH]
"""Run the function of attribute `function` with all inputs, compiled."""
BRANCH_OPS = OPS_BY_ROLE[Role.BRANCH]
"""Run one of several functions, chosen by input 0."""
LOOP_OPS = OPS_BY_ROLE[Role.LOOP]
"""Run a function repeatedly."""
FRAME_ENTER_OPS = OPS_BY_ROLE[Role.FRAME_ENTER]
"""Pass a value into a loop of control flow v1."""
FRAME_EXIT_OPS = OPS_BY_ROLE[Role.FRAME_EXIT]
"""Pass a value out of such a loop."""
FRAME_MERGE_OPS = OPS_BY_ROLE[Role.FRAME_MERGE]
"""Return the one available input: first from outside of the loop, then from the last iteration."""
FRAME_SWITCH_OPS = OPS_BY_ROLE[Role.FRAME_SWITCH]
"""Pass input 0 to one of two outputs."""
FRAME_NEXT_OPS = OPS_BY_ROLE[Role.FRAME_NEXT]
"""Pass a value to the next iteration of a loop."""
FRAME_CONDITION_OPS = OPS_BY_ROLE[Role.FRAME_CONDITION]
"""Decide whether a loop continues."""
CONVOLUTION_OPS = OPS_BY_ROLE[Role.CONVOLUTION]
"""Convolutions and similar ops that slide a filter."""
DEPTHWISE_OPS = OPS_BY_ROLE[Role.DEPTHWISE]
"""The convolutions that keep channels separate."""
MATRIX_PRODUCT_OPS = OPS_BY_ROLE[Role.PRODUCT]
"""Products of matrices."""
BATCH_PRODUCT_OPS = OPS_BY_ROLE[Role.BATCH_PRODUCT]
"""Products along dimensions of two tensors, as of the queries and keys of an attention."""
EMBEDDING_LOOKUP_OPS = OPS_BY_ROLE[Role.LOOKUP]
"""Select rows of an embedding table by number."""
EMBEDDING_OPS = EMBEDDING_LOOKUP_OPS | ROW_READ_OPS
"""Embeddings: select rows of a table, of a variable or of its value."""
KERNEL_OPS = MATRIX_PRODUCT_OPS | BATCH_PRODUCT_OPS | CONVOLUTION_OPS | DEPTHWISE_OPS | EMBEDDING_OPS
"""Ops that layers are made of: they usually take a kernel or a table."""
SIZE_OPS = OPS_BY_ROLE[Role.SIZE]
"""Return the shape, rank or number of elements of an input."""
SIZE_ARITHMETIC_OPS = OPS_BY_ROLE[Role.COUNT]
"""Arithmetic by which programs compute sizes: a whole number among their inputs is one."""
ADD_OPS = OPS_BY_ROLE[Role.ADD]
"""Add two tensors."""
MULTIPLY_OPS = OPS_BY_ROLE[Role.MULTIPLY] | {"Multiply"}
"""Multiply two tensors element by element; a class of Keras too."""
INDEX_OPS = OPS_BY_ROLE[Role.INDEX]
"""Further ops that compute sizes if their values are whole numbers."""
RANGE_OPS = OPS_BY_ROLE[Role.RANGE]
"""Count from one number to another."""
SELECT_OPS = OPS_BY_ROLE[Role.SELECT]
"""Select elements of one of two inputs by truth values."""
COMMON_OPS = OPS_BY_ROLE[Role.COMMON]
"""Occur in every part of a network, so no group is named after them."""
LIST_OPS = OPS_BY_ROLE[Role.LIST]
"""Make a list or a stack that loops fill."""
TRACE_LIST_OPS = OPS_BY_ROLE[Role.TRACE_LIST]
"""Make a list of tensors in a trace of PyTorch."""
REFERENCE_OPS = OPS_BY_ROLE[Role.REFERENCE]
"""Modify the variable that is their first input."""
