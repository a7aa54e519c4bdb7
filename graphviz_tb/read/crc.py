"""CRC-32C, as the records of event files carry it: in C where google-crc32c is installed, else by table."""

from __future__ import annotations

from collections.abc import Callable

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, its bits turned (RFC 3720)
_DELTA = 0xA282EAD8  # what TFRecord adds: a checksum of bytes that hold checksums would be weak


def _table() -> list[int]:
    made = []
    for byte in range(256):
        # The remainder of this byte alone, divided by the polynomial bit by bit.
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        made.append(value)
    return made


_TABLE = _table()


def slow_crc(data: bytes) -> int:
    """CRC-32C in plain Python: about 6 MB/s.

    >>> hex(slow_crc(b"123456789"))
    '0xe3069283'
    """
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def _fastest() -> tuple[Callable[[bytes], int], bool]:
    try:
        import google_crc32c
    except ImportError:
        return slow_crc, False
    return google_crc32c.value, google_crc32c.implementation == "c"


crc, FAST = _fastest()


def masked_crc(data: bytes) -> int:
    """The checksum as it is in a record: turned and shifted, so that data may hold checksums."""
    value = crc(data)
    # 15 bits to the right, round the end, plus the constant: TFRecord's "masked" checksum.
    return ((value >> 15 | value << 17) + _DELTA) & 0xFFFFFFFF
