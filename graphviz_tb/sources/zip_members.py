"""Unpack members of zip files block by block.

`zipfile` unpacks bzip2 and LZMA members at once, and two kilobytes of these can contain gigabytes. Here no block
exceeds the requested size.
"""

from __future__ import annotations

import bz2
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from errno import EINVAL
from typing import Protocol

from graphviz_tb.errors import TooLarge, UnknownFormat
from graphviz_tb.limits import FREE_MEMORY_BYTES, MAX_LZMA_DICTIONARY_BYTES, MEMORY_PER_BYTE
from graphviz_tb.sources.bounds import MAX_BYTES_HINT, check_unpacked_size
from graphviz_tb.sources.streams import COPY_AGAIN_HINT, GZIP_PIECE_BYTES, READ_BLOCK_BYTES, OpenedSource

LOCAL_HEADER_BYTES = 30  # bytes of a local header, before name and extra field
LZMA_HEADER_BYTES = 9  # bytes before the compressed data: LZMA version, size of the properties, the properties
# Errors of damaged archives; bzip2 raises OSError, LZMA LZMAError.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, NotImplementedError, RuntimeError,
    ValueError, struct.error, IndexError,
)  # fmt: skip
ENCRYPTED_FLAG = 1  # bit in a member's flags


def archive_error(name: str, error: Exception) -> UnknownFormat:
    """Return the error of an archive that cannot be read: broken, encrypted, or packed by an unknown method."""
    if isinstance(error, NotImplementedError):
        return UnknownFormat(f"{name}: {error}", hint="unpack it, and pack it again without a password, as plain zip")
    what = str(error)
    if isinstance(error, OSError) and error.errno:
        what = "a member is not in the file" if error.errno == EINVAL else os.strerror(error.errno)
    return UnknownFormat(f"{name}: a broken zip archive: {what}", hint=COPY_AGAIN_HINT)


class Decompressor(Protocol):
    """The common interface of bzip2 and LZMA decompressors."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def member_blocks(archive: zipfile.ZipFile, member: str, opened: OpenedSource, most: int) -> Iterator[bytes]:
    """Yield the bytes of a member, whatever size the archive claims.

    Raises TooLarge above `most` bytes, and for a zip bomb if the source is bounded by its size.
    """
    info, given = archive.getinfo(member), 0
    name = f"{opened.name}: {member}"
    most = min(most, opened.limit)
    if opened.bounded:
        most = min(most, FREE_MEMORY_BYTES + MEMORY_PER_BYTE * info.compress_size)
    for block in _unpack_member(archive, info):
        given += len(block)
        if given > most:
            raise TooLarge(f"{name} unpacks to more than {most:,} bytes", hint=MAX_BYTES_HINT)
        if opened.bounded:
            check_unpacked_size(given, info.compress_size, name)
        yield block


def member_data_offset(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> int:
    """Return the file offset of a member's compressed bytes."""
    assert archive.fp is not None
    archive.fp.seek(info.header_offset)
    header = archive.fp.read(LOCAL_HEADER_BYTES)
    # The local header may be longer than the directory says: its own lengths count.
    lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    return info.header_offset + LOCAL_HEADER_BYTES + lengths


def _unpack_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the bytes of a member, at most a block at once."""
    if info.flag_bits & ENCRYPTED_FLAG:
        raise NotImplementedError(f"{info.filename!r} is encrypted")
    with archive.open(info) as member:  # checks the header
        if info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            while block := member.read(READ_BLOCK_BYTES):
                yield block
            return
    if info.compress_type not in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        raise NotImplementedError(f"{info.filename!r} is packed by an unknown method: {info.compress_type}")
    check = 0
    for block in _unpack_bzip2_or_lzma(archive, info):
        check = zlib.crc32(block, check)
        yield block
    if check != info.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {info.filename!r}")


def _unpack_bzip2_or_lzma(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    assert archive.fp is not None
    position = member_data_offset(archive, info)
    end = position + info.compress_size
    decompressor: Decompressor = bz2.BZ2Decompressor()
    packed = b""
    if info.compress_type == zipfile.ZIP_LZMA:
        archive.fp.seek(position)
        header = archive.fp.read(LZMA_HEADER_BYTES)
        position += LZMA_HEADER_BYTES
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=MAX_LZMA_DICTIONARY_BYTES)
        # An LZMA file header: the properties, and the size, -1 if an end mark ends the data.
        size = -1 if info.flag_bits & 2 else info.file_size
        packed = header[4:] + size.to_bytes(8, "little", signed=True)
    while not decompressor.eof:
        if decompressor.needs_input and not packed:
            archive.fp.seek(position)
            packed = archive.fp.read(min(GZIP_PIECE_BYTES, end - position))
            position += len(packed)
            if not packed:
                raise EOFError(f"{info.filename!r} ends in the middle")
        block = decompressor.decompress(packed, READ_BLOCK_BYTES)
        packed = b""
        if block:
            yield block
