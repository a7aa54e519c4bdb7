"""The ops that instructions of compiled code come from: a profile keeps each program that XLA compiled.

    plane "/host:metadata" ─▶ program ─▶ "Hlo Proto", an HloProto of XLA (xla/service/hlo.proto) ─▶ its instructions

An instruction has the name of its op in `metadata.op_name`; one that fuses several has that of the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphviz_tb.proto import XSpace
from graphviz_tb.read.limits import MemoryBudget
from graphviz_tb.read.wire import CutError, WireField, pieces

METADATA, PROGRAM = "/host:metadata", "Hlo Proto"
ENTRY = 200  # bytes that an entry takes beside its texts
BYTES = 2  # the wire type of texts and messages
# Numbers of fields: HloProto, HloModuleProto, HloComputationProto, HloInstructionProto, OpMetadata.
MODULE, COMPUTATIONS, INSTRUCTIONS, OF_INSTRUCTION, OP_NAME = 1, 3, 2, 7, 2
NAME = 1  # of a module, and of an instruction

Instruction = tuple[str, str]  # a module and the name of an instruction in it


def op_names(space: XSpace, budget: MemoryBudget) -> dict[Instruction, str]:
    """The op of each instruction of the programs that a trace keeps; what is damaged in a program is left out."""
    named: dict[Instruction, str] = {}
    for data in programs(space):
        try:
            for module, instruction, op in instructions(data):
                budget.take(ENTRY + len(instruction) + len(op))
                named[module, instruction] = op
        except CutError:
            continue
    return named


def programs(space: XSpace) -> Iterator[bytes]:
    """The programs of a trace."""
    for plane in space.planes:
        if plane.name == METADATA:
            kinds = {key for key, value in plane.stat_metadata.items() if value.name == PROGRAM}
            for event in plane.event_metadata.values():
                yield from (stat.bytes_value for stat in event.stats if stat.metadata_id in kinds)


def instructions(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Module, instruction and op, where the instruction has one. Raises CutError where the bytes are no program."""
    for module in parts(data, MODULE):
        name = text(data, module, NAME)
        for computation in parts(data, COMPUTATIONS, module):
            for instruction in parts(data, INSTRUCTIONS, computation):
                op = next((text(data, each, OP_NAME) for each in parts(data, OF_INSTRUCTION, instruction)), "")
                if op:
                    yield name, text(data, instruction, NAME), op


def parts(data: bytes, number: int, around: WireField | None = None) -> Iterator[WireField]:
    """The fields of a number in a message, or in the one that is the value of another field."""
    first, last = (0, len(data)) if around is None else (around.first, around.last)
    return (piece for piece in pieces(data, first, last) if piece.number == number and piece.wire == BYTES)


def text(data: bytes, around: WireField, number: int) -> str:
    """The text of a field in a message, "" where there is none."""
    found: Any = next(parts(data, number, around), None)
    return "" if found is None else data[found.first : found.last].decode("utf-8", "replace")
