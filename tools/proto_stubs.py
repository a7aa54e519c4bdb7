"""Write ``messages.bin`` and ``__init__.pyi`` from the ``*.proto`` files of ``graphviz_tb/proto/``.

Needs a protoc: ``pip install grpcio-tools ruff``, then ``python tools/proto_stubs.py``.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from google.protobuf import descriptor_pb2 as pb

FOLDER = Path(__file__).parents[1] / "graphviz_tb/proto"
HEADER = '''"""Types of the messages, written by tools/proto_stubs.py: change the .proto files instead."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper
from google.protobuf.message import Message

PACKAGE: str

def message_classes(files: Iterable[FileDescriptorProto], pool: Any = None) -> dict[str, Any]: ...
'''
SCALARS = {1: "float", 2: "float", 8: "bool", 9: "str", 12: "bytes"}  # every other scalar is an int


def main() -> None:
    """Write messages.bin and __init__.pyi from *.proto."""
    target = FOLDER / "messages.bin"
    sources = sorted(path.name for path in FOLDER.glob("*.proto"))
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"-I{FOLDER}",
        f"--descriptor_set_out={target}",
        *sources,
    ]
    subprocess.run(command, check=True)
    file_set = pb.FileDescriptorSet.FromString(target.read_bytes())
    stub = FOLDER / "__init__.pyi"
    stub.write_text("".join(_stub(file_set)), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--quiet", "--isolated", "--line-length", "120", str(stub)], check=True
    )


def _stub(file_set: pb.FileDescriptorSet) -> Iterator[str]:
    yield HEADER
    for file in file_set.file:
        for enum in file.enum_type:
            yield f"\nclass _{enum.name}(_EnumTypeWrapper[int]):\n"
            yield from (f"    {value.name}: int\n" for value in enum.value)
            yield f"\n{enum.name}: _{enum.name}\n"
        for message in file.message_type:
            yield "\n"
            yield from _message(message, "")


def _message(message: pb.DescriptorProto, indent: str) -> Iterator[str]:
    inner = indent + "    "
    yield f"{indent}class {message.name}(Message):\n"
    entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
    for nested in message.nested_type:
        if nested.name not in entries:
            yield from _message(nested, inner)
    for field in message.field:
        yield f"{inner}{field.name}: {_field(field, entries)[0]}\n"
    arguments = [f"{field.name}: {_field(field, entries)[1]} | None = ..." for field in message.field]
    keywords = ", ".join(["self", "*", *arguments] if arguments else ["self"])
    yield f"{inner}def __init__({keywords}) -> None: ...\n"


def _field(field: pb.FieldDescriptorProto, entries: dict[str, pb.DescriptorProto]) -> tuple[str, str]:
    """The type read from the field, and the type its constructor takes."""
    one = _one(field)
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None:
        key, value = _one(entry.field[0]), _one(entry.field[1])
        container = "MessageMap" if entry.field[1].type == field.TYPE_MESSAGE else "ScalarMap"
        return f"{container}[{key}, {value}]", f"Mapping[{key}, {value}]"
    if field.label == field.LABEL_REPEATED:
        kind = "Composite" if field.type == field.TYPE_MESSAGE else "Scalar"
        return f"Repeated{kind}FieldContainer[{one}]", f"Iterable[{one}]"
    return one, one


def _one(field: pb.FieldDescriptorProto) -> str:
    if field.type == field.TYPE_MESSAGE:
        return field.type_name.removeprefix(".graphviz_tb.tensorflow.")
    return SCALARS.get(field.type, "int")


if __name__ == "__main__":
    main()
