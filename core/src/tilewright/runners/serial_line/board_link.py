"""Knows how a board is asked until it answers: numbers, waiting, asking again, and noticing that it was reset.
Does not know what a network is.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass

from tilewright.errors import toolchain_error
from tilewright.runners.serial_line.frames import DATA_BYTES, FrameReader, encoded
from tilewright.runners.serial_line.serial_wire import Wire

VERSION = 1
ASK_SECONDS = 1.0  # for an answer, before it is asked again
PATIENCE = 10  # times that the same is asked
_ANSWER = 0x80
_DONE, _NO_SESSION, _WRONG, _FAILED = range(4)
_HELLO = struct.Struct("<B8s4I")


class BoardReset(Exception):
    """The board does not know of the session any more: the work begins again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFacts:
    """What firmware says of itself."""

    digest: bytes
    input_bytes: int
    output_bytes: int
    steps: int
    hertz: int
    unit: str  # of what it counts: "cycles" of the core, or "ticks" of a timer


class BoardLink:
    """Asks one question after the other. TilewrightError (exit 7): TW7132 nobody answers, TW7135 the board refuses."""

    def __init__(self, wire: Wire, *, ask_seconds: float = ASK_SECONDS) -> None:
        self._wire = wire
        self._reader = FrameReader()
        self._number = 0
        self._session = 0
        self._ask_seconds = ask_seconds
        self.asked_again = 0  # answers or questions that got lost

    def hello(self) -> BoardFacts:
        """Who is there. Outside of every session: a board that was reset answers, too."""
        self._session = 0
        said = self._ask(b"H")
        if len(said) < _HELLO.size or said[0] != VERSION:
            raise toolchain_error("TW7133", f"the firmware speaks another protocol than version {VERSION}")
        _, digest, inputs, outputs, steps, hertz = _HELLO.unpack_from(said)
        unit = said[_HELLO.size :].decode("ascii", "replace")
        return BoardFacts(digest=digest, input_bytes=inputs, output_bytes=outputs, steps=steps, hertz=hertz, unit=unit)

    def begin(self, session: int) -> None:
        """The network at its beginning; from here on a board that was reset raises BoardReset."""
        self._session = 0
        self._ask(b"B", session.to_bytes(2, "little"))
        self._session = session

    def write(self, content: bytes) -> None:
        """All inputs, one after the other."""
        step = DATA_BYTES - 4
        for offset in range(0, len(content), step):
            self._ask(b"W", offset.to_bytes(4, "little") + content[offset : offset + step])

    def run(self, *, by_steps: bool, seconds: float) -> int:
        """One inference, and what it took, counted by the board."""
        said = self._ask(b"R", bytes([by_steps]), patience=max(PATIENCE, round(seconds / self._ask_seconds)))
        return int.from_bytes(said[:4], "little")

    def step_counts(self, steps: int) -> tuple[int, ...]:
        """What every step took of the last run that was `by_steps`."""
        counts: list[int] = []
        while len(counts) < steps:
            said = self._ask(b"C", len(counts).to_bytes(4, "little"))
            counts += struct.unpack(f"<{len(said) // 4}I", said)
        return tuple(counts)

    def outputs(self, size_bytes: int) -> bytes:
        """All outputs, one after the other."""
        content = b""
        while len(content) < size_bytes:
            content += self._ask(b"G", len(content).to_bytes(4, "little"))
        return content

    def _ask(self, operation: bytes, data: bytes = b"", *, patience: int = PATIENCE) -> bytes:
        self._number = (self._number + 1) % 256
        frame = encoded(operation + bytes([self._number]) + data)
        for attempt in range(patience):
            self.asked_again += attempt > 0
            self._wire.write(frame)
            answer = self._answer(bytes([operation[0] | _ANSWER, self._number]))
            if answer is not None:
                return self._checked(operation, answer)
        said = (f"asked {patience} times, {self._ask_seconds:g} s each",)
        fix = ("is the firmware of `tilewright compile --emit bench` on the board, and is the rate the same?",)
        raise toolchain_error("TW7132", "the board does not answer", details=said, fix=fix)

    def _answer(self, head: bytes) -> bytes | None:
        """What came for this question: status, session, data. None: nothing in time."""
        end = time.monotonic() + self._ask_seconds
        while (left := end - time.monotonic()) > 0:
            for message in self._reader.feed(self._wire.read(left)):
                if message[:2] == head and len(message) >= 5:
                    return message[2:]
        return None

    def _checked(self, operation: bytes, answer: bytes) -> bytes:
        status, session, data = answer[0], int.from_bytes(answer[1:3], "little"), answer[3:]
        if status == _NO_SESSION or (self._session and session != self._session):
            raise BoardReset
        if status != _DONE:
            code = data[-1] - 256 if status == _FAILED and data else 0
            reason = (
                f"a function of the network returned {code}" if code else f"it does not take '{operation.decode()}'"
            )
            raise toolchain_error("TW7135", f"the board refuses: {reason}")
        return data
