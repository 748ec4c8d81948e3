"""Knows which of QEMU's boards has which core, and where its memory is. Does not know how it is started.

Addresses are those of Arm's FPGA images (application notes 385, 386, 500, 505, 547) as QEMU 7.2 maps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class QemuMachine:
    """A board. The vector table takes the first 1 KiB at `vectors`; code and data are where they do not collide."""

    board: str  # as in -M
    vectors: int
    code: int
    code_bytes: int
    data: int
    data_bytes: int
    note: str = ""  # how far it is from the real core

    @property
    def link_flags(self) -> tuple[str, ...]:
        """The symbols that sections.ld asks for."""
        symbols = {
            "VECTORS": self.vectors,
            "CODE": self.code,
            "CODE_SIZE": self.code_bytes,
            "DATA": self.data,
            "DATA_SIZE": self.data_bytes,
        }
        return tuple(f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items())


def _mps2(board: str, note: str = "") -> QemuMachine:
    return QemuMachine(
        board=board,
        vectors=0,
        code=KIB,
        code_bytes=4 * MIB - KIB,
        data=0x20000000,
        data_bytes=4 * MIB,
        note=note,
    )


MACHINES: Mapping[str, QemuMachine] = MappingProxyType(
    {
        "m0plus": _mps2("mps2-an385", "a Cortex-M3 that executes Armv6-M code and traps unaligned accesses"),
        "m3": _mps2("mps2-an385"),
        "m4": _mps2("mps2-an386"),
        "m7": _mps2("mps2-an500"),
        "m33": QemuMachine(
            board="mps2-an505",
            vectors=0x10000000,
            code=0x10000400,
            code_bytes=4 * MIB - KIB,
            data=0x38000000,
            data_bytes=4 * MIB,
        ),
        "m55": QemuMachine(
            board="mps3-an547",
            vectors=0,
            code=0x11000000,
            code_bytes=2 * MIB,
            data=0x31000000,
            data_bytes=4 * MIB,
        ),
    }
)
