"""Detect the format of a file by its first bytes, not its name.

In this order: containers with a magic number, then text, then bare messages, which have none and are recognised by how
well their fields match.
"""

from __future__ import annotations

import re
import struct
from codecs import BOM_UTF8
from collections.abc import Callable
from itertools import islice

from google.protobuf.message import Message

from graphviz_tb.errors import UnknownFormat
from graphviz_tb.proto import GraphDef, MetaGraphDef, RunMetadata, SavedModel, XSpace
from graphviz_tb.read.wire import BYTES, EACH, VARINT, CutError, Fit, fit, pieces

MESSAGES: dict[str, type[Message]] = {
    "graph": GraphDef,
    "saved_model": SavedModel,
    "meta_graph": MetaGraphDef,
    "run_metadata": RunMetadata,
    "xspace": XSpace,
}
HDF5 = b"\x89HDF\r\n\x1a\n"
RECORD = 12  # bytes of a length and its checksum, at the start of every record
PLAIN = 16  # matching fields per mismatch that identify a truncated message
FREEZE = "this program draws GraphDefs, SavedModels, .meta files, event files and Keras models"
CHECKPOINT = (
    "a checkpoint holds values only: give the .meta file beside it, the SavedModel folder, or the log folder; "
    "'tbgraph info' lists its tensors"
)
FOLDER = "give the folder that it lies in: the SavedModel"
VALUES = re.compile(r"\.data-\d{5}-of-\d{5}$")  # a shard of a checkpoint has no header: only its name identifies it
TABLE_END = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"  # the last bytes of an index, which is a LevelDB table
# A record of keras_metadata.pb: length, object number, path, identifier.
KERAS_METADATA = re.compile(
    rb"\n[\x80-\xff]*+[\0-\x7f](?:\x10[\x80-\xff]*+[\0-\x7f])?\x1a\x04root\".{1,2}_tf_keras_", re.DOTALL
)
OP_TYPE = re.compile(rb"[A-Za-z_][\w.>/-]*+")
ReadTail = Callable[[int], bytes]
# Start of JSON; gaps between text fields; a first field or extension; fields at line starts.
_JSON = re.compile(rb"\s*+(?:\{\s*+[\"}]|\[\s*+[\[{\"\]\d-])")
_GAP = re.compile(rb"(?:[\s;,]++|#[^\n]*+)*+")
_START = re.compile(_GAP.pattern + rb"(?:(\w++)[ \t\r\n]*+[:{<]|\[[\w./-]++\])")
_TOP_LEVEL = re.compile(rb"^[ \t]*+([a-z_]\w*+)[ \t]*+[:{<]", re.MULTILINE)

LFS = b"version https://git-lfs.github.com/spec/"
EMPTY = "write it once more, or give another file"
PAGE = "download the file itself, not the page that shows it"
REFUSED = (
    (4, b"TFL3", "a TensorFlow Lite model",
     "its graph is no GraphDef: give the SavedModel it was converted from"),
    (0, b"\x80\x02", "a pickle (a PyTorch checkpoint?)",
     "write the graph with SummaryWriter.add_graph and give the log folder"),
    (0, b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (0, b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
    (0, b"GGUF", "a GGUF model", FREEZE),
    (0, b"\x93NUMPY", "a NumPy array", FREEZE),
    (0, b"%PDF", "a PDF document", FREEZE),
    (0, b"\x89PNG", "a PNG picture", FREEZE),
    (0, b"BZh", "a bzip2 file", "unpack it first, or compress with gzip"),
    (0, b"\xfd7zXZ", "an xz file", "unpack it first, or compress with gzip"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file", "unpack it first, or compress with gzip"),
    (0, LFS, "a pointer of Git LFS", "fetch the file that it stands for: git lfs pull"),
    (0, b"<!DOCTYPE html", "a web page", PAGE),
    (0, b"<!doctype html", "a web page", PAGE),
    (0, b"<html", "a web page", PAGE),
    (0, GZIP_AGAIN := b"\x1f\x8b\x08", "gzip inside gzip", "unpack it once"),
)  # fmt: skip


def sniff(head: bytes, name: str, *, whole: bool, tail: ReadTail | None = None) -> str:
    """Return the key of the reader for a file. Raises UnknownFormat.

    `head` are the first bytes (`whole`: all of them); `tail(n)` returns the last n.

    >>> sniff(b'node { name: "x" }', "x.bin", whole=True)
    'graph_text'
    """
    if VALUES.search(name):
        raise UnknownFormat(f"{name} holds the values of a checkpoint, no graph", hint=CHECKPOINT)
    if not head.strip(b"\0"):
        raise UnknownFormat(f"{name} is empty" if not head else f"{name} holds only zero bytes", hint=EMPTY)
    _refuse_marked(head, name)
    if head.startswith(b"PK\x03\x04"):
        return "archive"
    if head.startswith(HDF5):
        return "keras_hdf5"
    if is_events(head):
        return "events"
    if KERAS_METADATA.match(head):
        return "keras_metadata"
    text = _as_text(head, name)
    # A message may start like text: text with control characters must not fit any message.
    if text and (_printable(head) or not _fits(head, whole=whole)):
        return text
    if tail is not None and tail(len(TABLE_END)) == TABLE_END:
        raise UnknownFormat(f"{name} is a checkpoint index, not a graph", hint=CHECKPOINT)
    return _as_message(head, name, whole=whole)


def is_events(head: bytes) -> bool:
    """Return whether the first record's length has the right checksum."""
    # Every length below 2⁵⁶ contains a zero byte; text does not.
    if len(head) < RECORD or 0 not in head[:8]:
        return False
    from graphviz_tb.read.crc import masked_crc

    return bool(struct.unpack_from("<I", head, 8)[0] == masked_crc(head[:8]))


def _refuse_marked(head: bytes, name: str) -> None:
    for offset, mark, what, hint in REFUSED:
        if head.startswith(mark, offset):
            raise UnknownFormat(f"{name} is {what}, not a graph", hint=hint)


def _as_text(head: bytes, name: str) -> str | None:
    """Return the key for JSON or text proto; None if the bytes are no text."""
    body = head.removeprefix(BOM_UTF8)
    if _JSON.match(body) and _printable(body):
        return "keras_json"
    if _GAP.fullmatch(body):  # only comments so far
        return "graph_text"
    start = _START.match(body)
    if start is None:
        return None
    names = [match[1] for match in _TOP_LEVEL.finditer(body)] or [start[1]]
    if b"model_checkpoint_path" in names:
        raise UnknownFormat(f"{name} only says where checkpoints are", hint=CHECKPOINT)
    for each in names:
        kind = _TEXT_KINDS.get(each or b"")
        if kind:
            return kind + "_text"
    return "graph_text" if _printable(body) else None


def _text_kinds() -> dict[bytes, str]:
    """Return the message of each top-level field name; the first in the table wins shared names."""
    kinds: dict[bytes, str] = {}
    for kind, message in MESSAGES.items():
        for field in message.DESCRIPTOR.fields:
            kinds.setdefault(field.name.encode(), kind)
    return kinds


_TEXT_KINDS = _text_kinds()


def _printable(body: bytes) -> bool:
    return not re.search(rb"[\0-\x08\x0e-\x1f]", body)


def _as_message(head: bytes, name: str, *, whole: bool) -> str:
    _refuse_onnx(head, name)
    if whole and _is_fingerprint(head):
        raise UnknownFormat(f"{name} is the fingerprint of a SavedModel, not a graph", hint=FOLDER)
    kind = _fits(head, whole=whole) or (_cut(head) if whole else None)
    if kind is None:
        raise _unknown(head, name)
    return kind


def _fits(head: bytes, *, whole: bool) -> str | None:
    """Return the message that fits the bytes best, if any does."""
    fits = {kind: fit(head, message.DESCRIPTOR, cut=not whole) for kind, message in MESSAGES.items()}
    # The letters of a long name may look like nested messages that fit even better.
    if not fits["graph"].bad and _begins_with_op(head):
        return "graph"
    fitting = [kind for kind, fitted in fits.items() if fitted.good and fitted.bad <= fitted.good]
    return max(fitting, key=lambda each: _rank(fits[each]), default=None)


def _begins_with_op(head: bytes) -> bool:
    """Return whether the first field is a node with one name and one op type, which only a GraphDef has."""
    try:
        first = next(pieces(head))
        if (first.number, first.wire) != (1, BYTES):
            return False
        fields = list(islice(pieces(head, first.first, first.last), EACH))
    except CutError:
        return False
    ops = [head[piece.first : piece.last] for piece in fields if (piece.number, piece.wire) == (2, BYTES)]
    names = sum((piece.number, piece.wire) == (1, BYTES) for piece in fields)
    return names == 1 and len(ops) == 1 and OP_TYPE.fullmatch(ops[0]) is not None


def _cut(head: bytes) -> str | None:
    """Return the message that truncated bytes clearly belong to: reading it reports where it ends."""
    kind = _fits(head, whole=False)
    fitted = fit(head, MESSAGES[kind].DESCRIPTOR, cut=True) if kind else None
    return kind if fitted and fitted.good >= PLAIN and fitted.good >= PLAIN * fitted.bad else None


# A mismatch outweighs several matches, which may be chance.
def _rank(fitted: Fit) -> float:
    return fitted.good - 4 * fitted.bad


def _refuse_onnx(head: bytes, name: str) -> None:
    """Raise for ONNX: version (1) is a number, then producer strings; the graph is field 7, operator sets field 8."""
    seen = set()
    try:
        for piece in pieces(head):
            seen.add((piece.number, piece.wire))
    # The head may be cut within the graph: its key was read, its bytes were not.
    except CutError as where:
        if where.offset < len(head):
            seen.add((head[where.offset] >> 3, head[where.offset] & 7))
    if (1, VARINT) in seen and (7, 2) in seen and (3, VARINT) not in seen:
        raise UnknownFormat(
            f"{name} is an ONNX model, not a TensorFlow graph",
            hint="convert it with onnx-tf, or open it in Netron",
        )


def _is_fingerprint(head: bytes) -> bool:
    """Return whether this is a FingerprintDef: five numeric hashes, then a version and the id of the file."""
    try:
        fields = [(piece.number, piece.wire) for piece in pieces(head)]
    except CutError:
        return False
    hashes = [number for number, wire in fields if wire == VARINT]
    return len(hashes) >= 4 and set(hashes) <= {1, 2, 3, 4, 5} and {number for number, _ in fields} <= set(range(1, 8))


def _unknown(head: bytes, name: str) -> UnknownFormat:
    line = head.strip().partition(b"\n")[0][:60].decode("utf-8", "replace").strip()
    if line and _printable(head):
        return UnknownFormat(f"{name} is no text proto: it starts with {line!r}", hint=FREEZE)
    return UnknownFormat(f"{name} is no form of graph that is known here", hint=FREEZE)
