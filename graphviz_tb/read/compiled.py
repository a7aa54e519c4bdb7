"""Map the instructions of compiled code to ops: a profile contains every program that XLA compiled.

    plane "/host:metadata" ─▶ program ─▶ "Hlo Proto", an HloProto of XLA (xla/service/hlo.proto) ─▶ its instructions

An instruction names its op in `metadata.op_name`; a fused one has the name of the last op.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphviz_tb.proto import XSpace
from graphviz_tb.read.limits import MemoryBudget
from graphviz_tb.read.wire import CutError, WireField, wire_fields

METADATA_PLANE, PROGRAM_STATISTIC = "/host:metadata", "Hlo Proto"
INSTRUCTION_ENTRY_BYTES = 200  # bytes of memory per entry besides its texts
BYTES_WIRE_TYPE = 2  # wire type of texts and messages
# Field numbers of HloProto, HloModuleProto, HloComputationProto, HloInstructionProto, OpMetadata.
HLO_MODULE, HLO_COMPUTATIONS, HLO_INSTRUCTIONS, HLO_OP_METADATA, HLO_OP_NAME = 1, 3, 2, 7, 2
HLO_NAME = 1  # of a module and of an instruction

InstructionKey = tuple[str, str]  # module, instruction


def ops_of_instructions(space: XSpace, budget: MemoryBudget) -> dict[InstructionKey, str]:
    """Return the op of each instruction in a trace's programs. Damaged programs are skipped."""
    named: dict[InstructionKey, str] = {}
    for data in compiled_programs(space):
        try:
            for module, instruction, op in program_instructions(data):
                budget.take(INSTRUCTION_ENTRY_BYTES + len(instruction) + len(op))
                named[module, instruction] = op
        except CutError:
            continue
    return named


def compiled_programs(space: XSpace) -> Iterator[bytes]:
    """Yield the serialized programs of a trace."""
    for plane in space.planes:
        if plane.name == METADATA_PLANE:
            kinds = {key for key, value in plane.stat_metadata.items() if value.name == PROGRAM_STATISTIC}
            for event in plane.event_metadata.values():
                yield from (stat.bytes_value for stat in event.stats if stat.metadata_id in kinds)


def program_instructions(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield (module, instruction, op) for instructions with an op. Raises CutError for damaged bytes."""
    for module in fields_numbered(data, HLO_MODULE):
        name = text_field(data, module, HLO_NAME)
        for computation in fields_numbered(data, HLO_COMPUTATIONS, module):
            for instruction in fields_numbered(data, HLO_INSTRUCTIONS, computation):
                op = next(
                    (
                        text_field(data, each, HLO_OP_NAME)
                        for each in fields_numbered(data, HLO_OP_METADATA, instruction)
                    ),
                    "",
                )
                if op:
                    yield name, text_field(data, instruction, HLO_NAME), op


def fields_numbered(data: bytes, number: int, around: WireField | None = None) -> Iterator[WireField]:
    """Yield the fields with a number in a message, or in the message inside `around`."""
    first, last = (0, len(data)) if around is None else (around.first, around.last)
    return (
        piece for piece in wire_fields(data, first, last) if piece.number == number and piece.wire == BYTES_WIRE_TYPE
    )


def text_field(data: bytes, around: WireField, number: int) -> str:
    """Return the text field of a message, "" if it has none."""
    found: Any = next(fields_numbered(data, number, around), None)
    return "" if found is None else data[found.first : found.last].decode("utf-8", "replace")
