"""Knows as much of a Snitch cluster as programs take: nine cores, their barrier, memories, copies, the host.
Does not know instructions of cores, nor contention for memory.

Used as `gvsoc --target=snitch --work-dir=W --binary=X.elf run`. A copy arrives when the DMA core asks whether it has,
never earlier. A fault ends with status 70 and a line on stderr.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from float_unit import signed
from snitch_iss import Core
from streams import FaultError

TCDM, TCDM_BYTES = 0x1000_0000, 128 << 10
L3, L3_BYTES = 0x8000_0000, 64 << 20
DMA_CORE, HARTS = 8, 9
EBREAK, EXIT_FINE = 0x0010_0073, 0x20026
FETCH_CYCLES, FETCH_BYTES = 115, 4  # of a copy into TCDM at least, and in a cycle
STORE_CYCLES, STORE_BYTES = 15, 256  # out of it
TURN = 200_000  # instructions of a core before others go on
MOST = 400_000_000


@dataclass
class Transfer:
    """Rows, as the DMA core's registers were when it was started."""

    source: int
    target: int
    bytes: int
    rows: int
    source_stride: int
    target_stride: int
    ends: int = 0


class DmaCore:
    """The copy engine: numbers from 2, as on GVSoC. What leaves TCDM overtakes what comes into it, as it does there."""

    def __init__(self, machine: Cluster) -> None:
        self.machine = machine
        self.registers = Transfer(0, 0, 0, 1, 0, 0)
        self.pending: list[Transfer] = []
        self.started = self.over = 1
        self.free = 0

    def execute(self, core: Core, word: int) -> bool:
        """An instruction of the copy engine; False where it is none."""
        kind, d, a, b = word >> 25, word >> 7 & 31, core.x[word >> 15 & 31], word >> 20 & 31
        if word & 0x7F != 0x2B or word >> 12 & 7 or core.hart != DMA_CORE:
            return False
        one = self.registers
        if kind == 0:
            one.source = a
        elif kind == 1:
            one.target = a
        elif kind == 6:
            one.source_stride, one.target_stride = a, core.x[b]
        elif kind == 7:
            one.rows = a
        elif kind == 2:
            core.x[d] = self._start(core, a, one.rows if b & 2 else 1)
        elif kind == 4 and b == 0:
            core.x[d] = self._look(core)
        else:
            return False
        return True

    def _start(self, core: Core, size: int, rows: int) -> int:
        one = self.registers
        if size == 0 or rows == 0:
            raise FaultError("a copy of nothing never ends")
        stored = STORE_CYCLES + rows + size * rows // STORE_BYTES
        takes = stored if one.target >= L3 else max(FETCH_CYCLES, size * rows // FETCH_BYTES)
        self.free = max(self.free, core.cycles) + takes
        strides = (one.source_stride, one.target_stride)
        self.pending.append(Transfer(one.source, one.target, size, rows, *strides, self.free))
        self.started += 1
        return self.started

    def _look(self, core: Core) -> int:
        if self.pending:
            one = next((one for one in self.pending if one.target >= L3), self.pending[0])
            self.pending.remove(one)
            core.cycles = max(core.cycles, one.ends)
            for row in range(one.rows):
                source = one.source + row * signed(one.source_stride)
                target = one.target + row * signed(one.target_stride)
                self.machine.write(target, self.machine.read(source, one.bytes))
            self.over += 1
        return self.over


class Cluster:
    """Memories and cores."""

    def __init__(self) -> None:
        self.tcdm, self.l3 = bytearray(b"\xcd" * TCDM_BYTES), bytearray(L3_BYTES)
        self.status: int | None = None
        self.dma_core = DmaCore(self)
        self.cores = [Core(hart, self.load, self.store, self.special) for hart in range(HARTS)]
        self.said: list[str] = []

    def _place(self, address: int, size: int) -> tuple[bytearray, int]:
        if L3 <= address <= L3 + L3_BYTES - size:
            return self.l3, address - L3
        if TCDM <= address <= TCDM + TCDM_BYTES - size:
            return self.tcdm, address - TCDM
        raise FaultError(f"nothing is at {address:#x}")

    def load(self, address: int, size: int) -> int:
        memory, at = self._place(address, size)
        if at % size:
            raise FaultError(f"{size} bytes at {address:#x}")
        return int.from_bytes(memory[at : at + size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        memory, at = self._place(address, size)
        if at % size:
            raise FaultError(f"{size} bytes at {address:#x}")
        memory[at : at + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def read(self, address: int, size: int) -> bytes:
        memory, at = self._place(address, size)
        return bytes(memory[at : at + size])

    def write(self, address: int, data: bytes) -> None:
        memory, at = self._place(address, len(data))
        memory[at : at + len(data)] = data

    def special(self, core: Core, word: int, pc: int) -> bool:
        """What cores do not know themselves: copies, and calls of the host."""
        if word == EBREAK:
            self._host(core.x[10], core.x[11])
            core.ended = self.status is not None
            return True
        return self.dma_core.execute(core, word)

    def _host(self, operation: int, argument: int) -> None:
        if operation == 0x04:
            self.said.append(self._text(argument))
        elif operation == 0x18:
            self.status = 0 if argument == EXIT_FINE else 1
        else:
            raise FaultError(f"call {operation} of the host")

    def _text(self, address: int) -> str:
        found = bytearray()
        while byte := self.load(address + len(found), 1):
            found.append(byte)
        return found.decode("ascii")

    def run(self, entry: int) -> int:
        """The status of the program. FaultError where a core does what the machine cannot."""
        for core in self.cores:
            core.pc = entry
        while self.status is None:
            for core in self.cores:
                core.run(TURN)
                if self.status is not None:
                    break
                if core.instructions > MOST:
                    raise FaultError(f"core {core.hart} does not end, at {core.pc:#x}")
            if all(core.waits for core in self.cores):
                latest = max(core.cycles for core in self.cores)
                for core in self.cores:
                    core.waits, core.cycles = False, latest + 3
        if self.dma_core.pending:
            raise FaultError(f"{len(self.dma_core.pending)} copies were never waited for")
        return self.status


def segments(elf: bytes) -> Iterator[tuple[int, bytes]]:
    """Address and bytes of what is loaded; zeros are not."""
    start, size, count = struct.unpack_from("<I", elf, 28)[0], *struct.unpack_from("<HH", elf, 42)
    for index in range(count):
        kind, offset, _, place, stored = struct.unpack_from("<5I", elf, start + index * size)
        if kind == 1 and stored:
            if not L3 <= place < L3 + L3_BYTES:
                raise FaultError(f"a loader cannot fill {place:#x}")
            yield place, elf[offset : offset + stored]


def main(arguments: list[str]) -> int:
    options = dict(one.removeprefix("--").split("=", 1) for one in arguments if "=" in one)
    if options.get("target") != "snitch" or arguments[-1] != "run" or not Path(options["work-dir"]).is_dir():
        sys.stderr.write(f"gvsoc: cannot do {arguments}\n")
        return 64
    os.chdir(options["work-dir"])  # as the simulator does: relative paths of binaries lead nowhere
    elf = Path(options["binary"]).read_bytes()
    machine = Cluster()
    try:
        for address, image in segments(elf):
            machine.write(address, image)
        status = machine.run(struct.unpack_from("<I", elf, 24)[0])
    except FaultError as fault:
        sys.stdout.write("".join(machine.said))
        sys.stderr.write(f"gvsoc: {fault}\n")
        return 70
    sys.stdout.write("".join(machine.said))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
