"""Detect the format of a file by its first bytes, not its name.

In this order: containers with a magic number, then text, then bare messages, which have no magic number and are
recognised by how well their fields match.
"""

from __future__ import annotations

import re
import struct
from codecs import BOM_UTF8
from collections.abc import Collection
from itertools import islice

from google.protobuf.message import Message

from graphviz_tb.caches import compile_on_use
from graphviz_tb.errors import UnknownFormat
from graphviz_tb.formats.protobuf import (
    BYTES_TYPE,
    FIELDS_PER_MESSAGE,
    VARINT_TYPE,
    CutError,
    MessageFit,
    judge_fit,
    wire_fields,
)
from graphviz_tb.limits import HEAD_BYTES
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata, SavedModel, XSpace
from graphviz_tb.sources.streams import OpenedSource

MESSAGE_TYPES: dict[str, type[Message]] = {
    "graph": GraphDef,
    "saved_model": SavedModel,
    "meta_graph": MetaGraphDef,
    "run_metadata": RunMetadata,
    "xspace": XSpace,
}
TFLITE_MAGIC = b"TFL3"  # after the offset of the root table
OTHER_TFLITE = re.compile(rb"TFL[0-9]")
OTHER_TFLITE_HINT = "pip install --upgrade tbgraph, or convert the model again with TensorFlow 2"
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
RECORD_START_BYTES = 12  # bytes of a length and its checksum, at the start of every record
CERTAIN_MATCH_RATIO = 16  # matching fields per mismatch that identify a truncated message
SUPPORTED_INPUTS = (
    "this program draws GraphDefs, SavedModels, .meta files, event files, Keras models, and models of torch.export "
    "(.pt2), ONNX and TensorFlow Lite"
)
CHECKPOINT_HINT = (
    "a checkpoint holds values only: give the .meta file beside it, the SavedModel folder, or the log folder; "
    "'tbgraph info' lists its tensors"
)
SAVED_MODEL_HINT = "give the folder that it lies in: the SavedModel"
# a shard of a checkpoint has no header: only its name identifies it
CHECKPOINT_SHARD_NAME = re.compile(r"\.data-\d{5}-of-\d{5}$")
INDEX_MAGIC = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"  # the last bytes of an index, which is a LevelDB table
# A record of keras_metadata.pb: length, object number, path, identifier.
KERAS_METADATA_START = re.compile(
    rb"\n[\x80-\xff]*+[\0-\x7f](?:\x10[\x80-\xff]*+[\0-\x7f])?\x1a\x04root\".{1,2}_tf_keras_", re.DOTALL
)
OP_TYPE_NAME = re.compile(rb"[A-Za-z_][\w.>/-]*+")
FieldKey = tuple[int, int]  # number and wire type
# Start of JSON; gaps between text fields; a first field or extension; fields at line starts.
JSON_START = re.compile(rb"\s*+(?:\{\s*+[\"}]|\[\s*+[\[{\"\]\d-])")
TEXT_GAP = re.compile(rb"(?:[\s;,]++|#[^\n]*+)*+")
TEXT_START = re.compile(TEXT_GAP.pattern + rb"(?:(\w++)[ \t\r\n]*+[:{<]|\[[\w./-]++\])")
TOP_LEVEL_FIELD = compile_on_use(rb"^[ \t]*+([a-z_]\w*+)[ \t]*+[:{<]", re.MULTILINE)

LFS_POINTER = b"version https://git-lfs.github.com/spec/"
EMPTY_FILE_HINT = "write it again, or give another file"
EXPORT_HINT = "save the program itself: torch.export.save(torch.export.export(model, inputs), 'model.pt2')"
WEB_PAGE_HINT = "download the file itself, not the page that shows it"
REFUSED_FORMATS = (
    (0, b"\x80\x02", "a pickle (a PyTorch checkpoint?)", EXPORT_HINT),
    (0, b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (0, b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
    (0, b"GGUF", "a GGUF model", EXPORT_HINT),
    (4, b"\0\0\0\0{\"", "a safetensors file, which holds weights alone", EXPORT_HINT),
    (4, b"ET1", "a program of ExecuTorch", EXPORT_HINT),
    (4, b"ORTM", "a model converted for ONNX Runtime", "give the .onnx file that it was made from"),
    (0, b"\x93NUMPY", "a NumPy array", SUPPORTED_INPUTS),
    (0, b"%PDF", "a PDF document", SUPPORTED_INPUTS),
    (0, b"\x89PNG", "a PNG picture", SUPPORTED_INPUTS),
    (0, b"BZh", "a bzip2 file", "unpack it first, or compress with gzip"),
    (0, b"\xfd7zXZ", "an xz file", "unpack it first, or compress with gzip"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file", "unpack it first, or compress with gzip"),
    (0, LFS_POINTER, "a pointer of Git LFS", "fetch the file that it stands for: git lfs pull"),
    (0, b"<!DOCTYPE html", "a web page", WEB_PAGE_HINT),
    (0, b"<!doctype html", "a web page", WEB_PAGE_HINT),
    (0, b"<html", "a web page", WEB_PAGE_HINT),
    (0, b"\x1f\x8b\x08", "gzip inside gzip", "unpack it once"),
)  # fmt: skip


def detect_format(opened: OpenedSource) -> str:
    """Return the key of the reader for a source. Raises UnknownFormat.

    >>> from graphviz_tb.options import ReadOptions
    >>> from graphviz_tb.sources.streams import open_bytes
    >>> detect_format(open_bytes(b'node { name: "x" }', ReadOptions()))
    'graph_text'
    """
    head, name = opened.head, opened.name
    whole = len(head) < HEAD_BYTES
    if CHECKPOINT_SHARD_NAME.search(name):
        raise UnknownFormat(f"{name} holds the values of a checkpoint, no graph", hint=CHECKPOINT_HINT)
    if not head.strip(b"\0"):
        raise UnknownFormat(f"{name} is empty" if not head else f"{name} holds only zero bytes", hint=EMPTY_FILE_HINT)
    _raise_for_known_magic(head, name)
    if head.startswith(b"PK\x03\x04"):
        return "archive"
    if head.startswith(HDF5_MAGIC):
        return "keras_hdf5"
    if head.startswith(TFLITE_MAGIC, 4):
        return "tflite"
    if OTHER_TFLITE.match(head, 4):
        raise UnknownFormat(f"{name} is TensorFlow Lite of another version than 3", hint=OTHER_TFLITE_HINT)
    if starts_with_event(head):
        return "events"
    if KERAS_METADATA_START.match(head):
        return "keras_metadata"
    text = _detect_text(head, name)
    # A message may start like text: text with control characters must not fit any message.
    if text and (_has_no_control_characters(head) or not _best_fitting_message(head, whole=whole)):
        return text
    if opened.tail(len(INDEX_MAGIC)) == INDEX_MAGIC:
        raise UnknownFormat(f"{name} is a checkpoint index, not a graph", hint=CHECKPOINT_HINT)
    return _detect_message(head, name, whole=whole)


def starts_with_event(head: bytes) -> bool:
    """Return whether the first record's length has the right checksum."""
    # Every length below 2⁵⁶ contains a zero byte; text does not.
    if len(head) < RECORD_START_BYTES or 0 not in head[:8]:
        return False
    from graphviz_tb.formats.records import masked_crc

    return bool(struct.unpack_from("<I", head, 8)[0] == masked_crc(head[:8]))


def _raise_for_known_magic(head: bytes, name: str) -> None:
    for offset, mark, what, hint in REFUSED_FORMATS:
        if head.startswith(mark, offset):
            raise UnknownFormat(f"{name} is {what}, not a graph", hint=hint)


def _detect_text(head: bytes, name: str) -> str | None:
    """Return the key for JSON or text proto; None if the bytes are not text."""
    body = head.removeprefix(BOM_UTF8)
    if JSON_START.match(body) and _has_no_control_characters(body):
        return "keras_json"
    if TEXT_GAP.fullmatch(body):  # only comments so far
        return "graph_text"
    start = TEXT_START.match(body)
    if start is None:
        return None
    names = [match[1] for match in TOP_LEVEL_FIELD.finditer(body)] or [start[1]]
    if b"model_checkpoint_path" in names:
        raise UnknownFormat(f"{name} only says where checkpoints are", hint=CHECKPOINT_HINT)
    for each in names:
        kind = MESSAGE_BY_FIELD_NAME.get(each or b"")
        if kind:
            return kind + "_text"
    return "graph_text" if _has_no_control_characters(body) else None


def _message_by_field_name() -> dict[bytes, str]:
    """Return the message of each top-level field name; the first in the table wins shared names."""
    kinds: dict[bytes, str] = {}
    for kind, message in MESSAGE_TYPES.items():
        for field in message.DESCRIPTOR.fields:
            kinds.setdefault(field.name.encode(), kind)
    return kinds


MESSAGE_BY_FIELD_NAME = _message_by_field_name()


def _has_no_control_characters(body: bytes) -> bool:
    return not re.search(rb"[\0-\x08\x0e-\x1f]", body)


def _detect_message(head: bytes, name: str, *, whole: bool) -> str:
    keys, cut = _top_level_keys(head)
    if _is_onnx(keys):
        return "onnx"
    if whole and not cut and _is_fingerprint(keys):
        raise UnknownFormat(f"{name} is the fingerprint of a SavedModel, not a graph", hint=SAVED_MODEL_HINT)
    kind = _best_fitting_message(head, whole=whole) or (_detect_cut_message(head) if whole else None)
    if kind is None:
        raise _unknown_format_error(head, name)
    return kind


def _best_fitting_message(head: bytes, *, whole: bool) -> str | None:
    """Return the message that fits the bytes best, if any does."""
    fits = {kind: judge_fit(head, message.DESCRIPTOR, cut=not whole) for kind, message in MESSAGE_TYPES.items()}
    # The letters of a long name may look like nested messages that fit even better.
    if not fits["graph"].bad and _starts_with_node(head):
        return "graph"
    fitting = [kind for kind, fitted in fits.items() if fitted.good and fitted.bad <= fitted.good]
    return max(fitting, key=lambda kind: _fit_score(fits[kind]), default=None)


def _starts_with_node(head: bytes) -> bool:
    """Return whether the first field is a node with one name and one op type, which only a GraphDef has."""
    try:
        first = next(wire_fields(head))
        if (first.number, first.wire) != (1, BYTES_TYPE):
            return False
        fields = list(islice(wire_fields(head, first.first, first.last), FIELDS_PER_MESSAGE))
    except CutError:
        return False
    ops = [head[piece.first : piece.last] for piece in fields if (piece.number, piece.wire) == (2, BYTES_TYPE)]
    names = sum((piece.number, piece.wire) == (1, BYTES_TYPE) for piece in fields)
    return names == 1 and len(ops) == 1 and OP_TYPE_NAME.fullmatch(ops[0]) is not None


def _detect_cut_message(head: bytes) -> str | None:
    """Return the message that truncated bytes clearly belong to: reading it reports where it ends."""
    kind = _best_fitting_message(head, whole=False)
    fitted = judge_fit(head, MESSAGE_TYPES[kind].DESCRIPTOR, cut=True) if kind else None
    return (
        kind
        if fitted and fitted.good >= CERTAIN_MATCH_RATIO and fitted.good >= CERTAIN_MATCH_RATIO * fitted.bad
        else None
    )


# A mismatch outweighs several matches, which may be chance.
def _fit_score(fitted: MessageFit) -> float:
    return fitted.good - 4 * fitted.bad


def _top_level_keys(head: bytes) -> tuple[list[FieldKey], bool]:
    """Return the keys of the fields of a message, and whether the value of the last field is cut off."""
    keys: list[FieldKey] = []
    try:
        for piece in wire_fields(head):
            keys.append((piece.number, piece.wire))
    except CutError as where:
        last = [head[where.offset]] if where.offset < len(head) else []
        return keys + [(key >> 3, key & 7) for key in last], True
    return keys, False


def _is_onnx(keys: Collection[FieldKey]) -> bool:
    """Return whether this is a model of ONNX: version (1) is a number, then producer strings; the graph is field 7,
    operator sets field 8."""
    return (1, VARINT_TYPE) in keys and (7, BYTES_TYPE) in keys and (3, VARINT_TYPE) not in keys


def _is_fingerprint(keys: Collection[FieldKey]) -> bool:
    """Return whether this is a FingerprintDef: five numeric hashes, then a version and the id of the file."""
    hashes = [number for number, wire in keys if wire == VARINT_TYPE]
    return len(hashes) >= 4 and set(hashes) <= {1, 2, 3, 4, 5} and {number for number, _ in keys} <= set(range(1, 8))


def _unknown_format_error(head: bytes, name: str) -> UnknownFormat:
    line = head.strip().partition(b"\n")[0][:60].decode("utf-8", "replace").strip()
    if line and _has_no_control_characters(head):
        return UnknownFormat(f"{name} is not a text proto: it starts with {line!r}", hint=SUPPORTED_INPUTS)
    return UnknownFormat(f"{name} has an unknown format", hint=SUPPORTED_INPUTS)
