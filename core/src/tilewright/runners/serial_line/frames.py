"""Knows how messages become frames on a serial line, and how whole ones are found among bytes that got lost.
Does not know what messages mean.

A frame stands between two `FLAG`s; where a byte of it is FLAG or ESCAPE, ESCAPE stands before it and it is FLIPped, so
that a FLAG is always the end of a frame, whatever was lost. Its last two bytes are a CRC-16 (polynomial 0x1021, from
0xFFFF) of the others, low byte first.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator

FLAG, ESCAPE, FLIP = 0x7E, 0x7D, 0x20
DATA_BYTES = 128  # of a message, at most
_LONGEST = 5 + DATA_BYTES + 2
_START = 0xFFFF


def encoded(message: bytes) -> bytes:
    """The frame of a message."""
    content = message + binascii.crc_hqx(message, _START).to_bytes(2, "little")
    escaped = b"".join(bytes([ESCAPE, byte ^ FLIP]) if byte in (FLAG, ESCAPE) else bytes([byte]) for byte in content)
    return bytes([FLAG]) + escaped + bytes([FLAG])


class FrameReader:
    """Finds messages among the bytes that arrive; what is no whole frame is left out."""

    def __init__(self) -> None:
        self._content: bytearray | None = None  # since the last FLAG; None: in no frame
        self._escaped = False

    def feed(self, content: bytes) -> Iterator[bytes]:
        """The messages that end in `content`."""
        for byte in content:
            if byte == FLAG:
                result = bytes(self._content or b"")
                whole = len(result) > 2 and binascii.crc_hqx(result[:-2], _START) == int.from_bytes(
                    result[-2:], "little"
                )
                self._content, self._escaped = (None if whole else bytearray()), False
                if whole:
                    yield result[:-2]
            elif self._content is not None:
                self._take(byte, self._content)

    def _take(self, byte: int, content: bytearray) -> None:
        if byte == ESCAPE:
            self._escaped = True
        elif len(content) == _LONGEST:
            self._content = None
        else:
            content.append(byte ^ FLIP if self._escaped else byte)
            self._escaped = False
