"""CRC-32C of event file records: in C if google-crc32c is installed, else table-driven Python."""

from __future__ import annotations

from collections.abc import Callable

CASTAGNOLI_POLYNOMIAL = 0x82F63B78  # the Castagnoli polynomial, bits reversed (RFC 3720)
CRC_MASK_DELTA = 0xA282EAD8  # added by TFRecord: the CRC of data that contains CRCs would be weak


def make_crc_table() -> list[int]:
    made = []
    for byte in range(256):
        # The remainder of this byte, divided by the polynomial bit by bit.
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (CASTAGNOLI_POLYNOMIAL if value & 1 else 0)
        made.append(value)
    return made


CRC_TABLE = make_crc_table()


def crc_in_python(data: bytes) -> int:
    """Compute CRC-32C in plain Python, at about 6 MB/s.

    >>> hex(crc_in_python(b"123456789"))
    '0xe3069283'
    """
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC_TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def fastest_crc() -> tuple[Callable[[bytes], int], bool]:
    try:
        import google_crc32c
    except ImportError:
        return crc_in_python, False
    return google_crc32c.value, google_crc32c.implementation == "c"


crc, IS_CRC_FAST = fastest_crc()


def masked_crc(data: bytes) -> int:
    """Return the checksum as records store it: rotated and offset, so that data may contain checksums."""
    value = crc(data)
    # Rotate right by 15 bits and add the constant: TFRecord's "masked" checksum.
    return ((value >> 15 | value << 17) + CRC_MASK_DELTA) & 0xFFFFFFFF
