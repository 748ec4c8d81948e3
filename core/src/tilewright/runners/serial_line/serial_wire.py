"""Knows what a serial line is to whoever asks a board, and opens one with pyserial. Does not know what is asked."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tilewright.errors import toolchain_error, usage_error

if TYPE_CHECKING:
    import serial

DEFAULT_BAUD = 115200
INSTALL = 'pip install "tilewright[serial]"'
PORT_HINT = "name the port: --on {0}:/dev/ttyACM0, {0}:/dev/ttyUSB0@921600 or {0}:socket://localhost:5555"


class Wire(Protocol):
    """Bytes to and from a board."""

    def read(self, seconds: float) -> bytes:
        """What has arrived; b"" when nothing came for `seconds`."""
        ...

    def write(self, content: bytes) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SerialWire:
    """A line that pyserial has opened."""

    line: serial.SerialBase

    def read(self, seconds: float) -> bytes:
        """At least one byte, and what came with it."""
        self.line.timeout = seconds
        first: bytes = self.line.read(1)
        return first + self.line.read(self.line.in_waiting) if first else b""

    def write(self, content: bytes) -> None:
        """All of it."""
        self.line.write(content)

    def close(self) -> None:
        """The line is free again."""
        self.line.close()


def missing_pyserial() -> str | None:
    """None, or what to install."""
    return None if importlib.util.find_spec("serial") else f"pyserial opens serial lines: {INSTALL}"


def split_port(text: str) -> tuple[str, int]:
    """`PORT[@BAUD]`. TilewrightError TW7131 (exit 2) when the rate is no number."""
    port, at, baud = text.rpartition("@")
    if not at:
        return text, DEFAULT_BAUD
    if not baud.isdecimal() or not int(baud):
        raise usage_error("TW7131", f"'{baud}' is no rate of a serial line", fix=(f"{port}@{DEFAULT_BAUD}",))
    return port, int(baud)


def open_wire(text: str) -> Wire:
    """The line at `PORT[@BAUD]`: a device, or an address that pyserial knows, such as socket://HOST:PORT.

    TilewrightError TW7130 (exit 7): pyserial is missing; TW7131 (exit 2 or 7): there is no such line.
    """
    port, baud = split_port(text)
    if said := missing_pyserial():
        raise toolchain_error("TW7130", "a serial line needs pyserial", details=(said,))
    import serial

    try:
        line = serial.serial_for_url(port, baudrate=baud, exclusive=True if port.startswith("/") else None)
    except (OSError, ValueError) as error:
        fix = ("python -m serial.tools.list_ports lists the lines of this machine",)
        raise toolchain_error("TW7131", f"'{port}' cannot be opened", details=(str(error),), fix=fix) from error
    return SerialWire(line)
