"""TensorFlow's messages, compiled into a private pool.

One class per message and enum of ``*.proto`` in this folder, under its own name.

    >>> from graphviz_tb.proto import GraphDef
    >>> GraphDef.FromString(b"\\n\\x03\\n\\x01x").node[0].name
    'x'

The pool is private and the package is ``graphviz_tb.tensorflow``, so a TensorFlow in the same process
never collides with it. ``messages.bin`` is a serialized ``FileDescriptorSet``, not generated code, so any
``protobuf>=4.21`` can load it. ``python tools/proto_stubs.py`` writes it and the type stub again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import get_data
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import enum_type_wrapper

PACKAGE = "graphviz_tb.tensorflow"


def _load() -> dict[str, Any]:
    """Return the message classes and enums of ``messages.bin`` by name."""
    data = get_data(__name__, "messages.bin") or b""
    file_set = descriptor_pb2.FileDescriptorSet.FromString(data)
    pool = descriptor_pool.DescriptorPool()
    made = message_classes(file_set.file, pool)
    for file in file_set.file:
        for enum in file.enum_type:
            wrapped = pool.FindEnumTypeByName(f"{PACKAGE}.{enum.name}")
            made[enum.name] = enum_type_wrapper.EnumTypeWrapper(wrapped)
    return made


def message_classes(files: Iterable[descriptor_pb2.FileDescriptorProto], pool: Any = None) -> dict[str, Any]:
    """Return the message classes of files by name, in a pool of their own."""
    pool = pool or descriptor_pool.DescriptorPool()
    made: dict[str, Any] = {}
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
        for message in file.message_type:
            made[message.name] = _message_class(pool.FindMessageTypeByName(f"{file.package}.{message.name}"), pool)
    return made


def _message_class(descriptor: Any, pool: Any) -> Any:
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)  # protobuf 4.21


_MESSAGES = _load()
globals().update(_MESSAGES)
__all__ = sorted(_MESSAGES)
