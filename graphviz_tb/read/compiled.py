"""Map the instructions of compiled code to ops: a profile contains every program that XLA compiled.

    plane "/host:metadata" ─▶ program ─▶ "Hlo Proto", an HloProto of XLA (xla/service/hlo.proto) ─▶ its instructions

An instruction names its op in `metadata.op_name`; a fused one has the name of the last op.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphviz_tb.proto import XSpace
from graphviz_tb.read.limits import MemoryBudget
from graphviz_tb.read.wire import CutError, WireField, pieces

METADATA, PROGRAM = "/host:metadata", "Hlo Proto"
ENTRY = 200  # bytes of memory per entry besides its texts
BYTES = 2  # wire type of texts and messages
# Field numbers of HloProto, HloModuleProto, HloComputationProto, HloInstructionProto, OpMetadata.
MODULE, COMPUTATIONS, INSTRUCTIONS, OF_INSTRUCTION, OP_NAME = 1, 3, 2, 7, 2
NAME = 1  # of a module and of an instruction

Instruction = tuple[str, str]  # module, instruction


def op_names(space: XSpace, budget: MemoryBudget) -> dict[Instruction, str]:
    """Return the op of each instruction in a trace's programs. Damaged programs are skipped."""
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
    """Yield the serialized programs of a trace."""
    for plane in space.planes:
        if plane.name == METADATA:
            kinds = {key for key, value in plane.stat_metadata.items() if value.name == PROGRAM}
            for event in plane.event_metadata.values():
                yield from (stat.bytes_value for stat in event.stats if stat.metadata_id in kinds)


def instructions(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (module, instruction, op) for instructions with an op. Raises CutError for damaged bytes."""
    for module in parts(data, MODULE):
        name = text(data, module, NAME)
        for computation in parts(data, COMPUTATIONS, module):
            for instruction in parts(data, INSTRUCTIONS, computation):
                op = next((text(data, each, OP_NAME) for each in parts(data, OF_INSTRUCTION, instruction)), "")
                if op:
                    yield name, text(data, instruction, NAME), op


def parts(data: bytes, number: int, around: WireField | None = None) -> Iterator[WireField]:
    """Yield the fields with a number in a message, or in the message inside `around`."""
    first, last = (0, len(data)) if around is None else (around.first, around.last)
    return (piece for piece in pieces(data, first, last) if piece.number == number and piece.wire == BYTES)


def text(data: bytes, around: WireField, number: int) -> str:
    """Return the text field of a message, "" if it has none."""
    found: Any = next(parts(data, number, around), None)
    return "" if found is None else data[found.first : found.last].decode("utf-8", "replace")
