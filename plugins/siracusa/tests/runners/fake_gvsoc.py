"""Knows as much of Siracusa as start-up, event unit, copies and semihosting take, on Unicorn's RISC-V cores.
Does not know time, Xpulp, or what GVSoC does elsewhere: `cycles` only say how often the timer was read.

Used as `gvsoc --target=siracusa --work-dir=W --binary=X.elf run`. Copies arrive when their status is asked for the
second time, never earlier. A fault ends with status 70 and a line on stderr. With `--shared-registers` floats that come
from integers lie in the registers of integers, as in some versions of the simulator.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from unicorn import UC_ARCH_RISCV, UC_HOOK_INTR, UC_HOOK_MEM_INVALID, UC_HOOK_MEM_READ, UC_MODE_RISCV32, Uc, UcError
from unicorn import riscv_const as riscv

from tilewright.api.runner import elf_symbols

L1, L1_BYTES = 0x1000_0000, 256 << 10
L2, L2_BYTES = 0x1C00_0000, 0x20_0000
WEIGHTS, WEIGHTS_BYTES = 0x1040_0000, 8 << 20
CLUSTER, CLUSTER_BYTES = 0x1020_0000, 0x6000
UDMA, UDMA_BYTES = 0x1A10_2000, 0x2000
HYPER = 0x280
GAPS_ON_BUS, GAPS_IN_L2 = HYPER + 0x28, HYPER + 0x34
RAM_BYTES = 8 << 20
CONTROLLER = 31 << 5
SHARED, SHARED_BYTES = "tw_team", 20  # what cores poll: a core that reads the same again lets others go on
MHARTID = 0xF14
TIMER_START, TIMER_VALUE = 0x1020_0400, 0x1020_0408
HOST_CALL = 0x0000000B  # stands for the ebreak of a call of the host
FMV_W_X = 0xF0000053
SEMIHOSTING = struct.pack("<3I", 0x01F01013, 0x00100073, 0x40705013)
EXIT_FINE = 0x20026


class FaultError(Exception):
    """Something that the machine would not do, or not like this."""


def demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise FaultError(otherwise)


@dataclass
class Command:
    """Words written to a core's queue of the copy engine, so far."""

    words: list[int] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return len(self.words) == (5 if self.words[0] & 1 << 19 else 3)


class Engine:
    """MCHAN: sixteen counters, commands that belong to the counter taken last."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.taken: list[int] = []
        self.current = -1
        self.command = Command()
        self.pending: dict[int, list[Command]] = {}
        self.asked: dict[int, int] = {}

    def take(self) -> int:
        free = [number for number in range(16) if number not in self.taken]
        demand(bool(free), "a seventeenth copy in flight: the core would wait for ever")
        self.current = free[0]
        self.taken.append(self.current)
        self.pending[self.current], self.asked[self.current] = [], 0
        return self.current

    def write(self, word: int) -> None:
        demand(self.current >= 0, "a command without a counter")
        self.command.words.append(word)
        if self.command.complete:
            self.pending[self.current].append(self.command)
            self.command = Command()

    def status(self) -> int:
        for number in self.taken:
            self.asked[number] += 1
            if self.asked[number] > 1 and self.pending[number]:
                self._move(self.pending[number].pop(0))
        return sum(1 << number for number in self.taken if self.pending[number])

    def free(self, mask: int) -> None:
        for number in range(16):
            if mask >> number & 1:
                demand(number in self.taken and not self.pending[number], f"counter {number} is freed while in use")
                self.taken.remove(number)

    def _move(self, command: Command) -> None:
        head, near, far = command.words[:3]
        size, inward = head & 0x1FFFF, bool(head & 1 << 17)
        row, stride = command.words[3:] if head & 1 << 19 else (size, size)
        demand(size > 0 and row > 0 and size % row == 0, f"a copy of {size} bytes in rows of {row}")
        demand(bool(head & 1 << 18), "a copy to one address")
        demand(L1 <= near <= near + size <= L1 + L1_BYTES, f"{near:#x} is not in L1")
        for index in range(size // row):
            here, there = near + index * row, far + index * stride
            demand(L2 <= there <= there + row <= L2 + L2_BYTES, f"{there:#x} is not in L2")
            source, target = (there, here) if inward else (here, there)
            self.machine.write(target, self.machine.read(source, row))


@dataclass(frozen=True)
class Transaction:
    """Of the HyperBus: `row` bytes here and there, then as many again where the strides lead, `size` in all."""

    here: int
    there: int
    size: int
    store: bool
    row: int
    here_stride: int
    there_stride: int

    def demand_sound(self) -> None:
        """Whole words inside both memories."""
        addresses = (self.here, self.there, self.row, self.here_stride, self.there_stride)
        demand(not any(one % 4 for one in addresses), f"{self.row} bytes from {self.here:#x}")
        demand(0 < self.row <= self.size < 1 << 20 and self.size % self.row == 0, f"{self.size} in rows of {self.row}")
        last = self.size // self.row - 1
        here, there = self.here + last * self.here_stride, self.there + last * self.there_stride
        demand(L2 <= self.here <= here + self.row <= L2 + L2_BYTES, f"{self.here:#x} is not in L2")
        demand(there + self.row <= RAM_BYTES, f"{self.there:#x} is not in the RAM")


class External:
    """The HyperBus part of the peripherals' engine: transactions one after the other, in words."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.ram = machine, bytearray(RAM_BYTES)
        self.registers: dict[int, int] = {}
        self.pending: deque[Transaction] = deque()
        self.clocked = False

    def write(self, offset: int, value: int) -> None:
        demand(offset == 0 or self.clocked, "the HyperBus controller has no clock")
        self.registers[offset] = value
        if offset == 0:
            self.clocked = bool(value & 1 << 4)
        if offset in (HYPER + 0x08, HYPER + 0x14) and value & 1 << 4:
            store = offset == HYPER + 0x14
            demand(len(self.pending) < 8, "a ninth transaction is dropped")
            demand(self.registers[HYPER + 0x18] == (1 if store else 5), "the bus is told something else")
            started = self._started(HYPER + 0x0C if store else HYPER, store)
            started.demand_sound()
            self.pending.append(started)

    def _started(self, base: int, store: bool) -> Transaction:
        on_bus, in_l2 = (self.registers.get(gaps, 0) for gaps in (GAPS_ON_BUS, GAPS_IN_L2))
        demand(not (on_bus and in_l2), "gaps on both sides")
        gaps = GAPS_ON_BUS if on_bus else GAPS_IN_L2
        size = self.registers[base + 4]
        row = self.registers[gaps + 4] if on_bus or in_l2 else size
        stride = self.registers.get(gaps + 8, 0)
        return Transaction(
            here=self.registers[base],
            there=self.registers[HYPER + 0x1C],
            size=size,
            store=store,
            row=row,
            here_stride=stride if in_l2 else row,
            there_stride=stride if on_bus else row,
        )

    def read(self, offset: int) -> int:
        if offset != HYPER + 0x24:
            return self.registers.get(offset, 0)
        before = len(self.pending)
        if before:
            self._move(self.pending.popleft())
        return before << 1 | (before > 0)

    def _move(self, one: Transaction) -> None:
        for index in range(one.size // one.row):
            here, there = one.here + index * one.here_stride, one.there + index * one.there_stride
            if one.store:
                self.ram[there : there + one.row] = self.machine.read(here, one.row)
            else:
                self.machine.write(here, bytes(self.ram[there : there + one.row]))


class Core:
    """One core, from its entry on."""

    def __init__(self, machine: Machine, hart: int) -> None:
        self.machine, self.hart, self.pc, self.waits, self.polled = machine, hart, 0, False, 0
        self.uc = Uc(UC_ARCH_RISCV, UC_MODE_RISCV32)
        for base, memory in machine.memories.items():
            self.uc.mem_map_ptr(base, ctypes.sizeof(memory), 7, ctypes.addressof(memory))
        self.uc.mmio_map(CLUSTER, CLUSTER_BYTES, self._load, CLUSTER, self._store, CLUSTER)
        self.uc.mmio_map(UDMA, UDMA_BYTES, self._load, UDMA, self._store, UDMA)
        self.uc.hook_add(UC_HOOK_INTR, self._trap)
        self.uc.hook_add(UC_HOOK_MEM_INVALID, self._lost)
        shared = machine.shared
        self.uc.hook_add(UC_HOOK_MEM_READ, self._poll, begin=shared, end=shared + SHARED_BYTES - 1)

    def run(self) -> None:
        """Until it waits for the event unit, or reads again what it has just read of what cores share."""
        self.polled = 0
        try:
            self.uc.emu_start(self.pc, 0xFFFFFFFE)
        except UcError as error:
            pc = self.uc.reg_read(riscv.UC_RISCV_REG_PC)
            raise self.machine.fault or FaultError(f"core {self.hart} stops at {pc:#x}: {error}") from error
        if self.machine.fault:
            raise self.machine.fault
        self.pc = self.uc.reg_read(riscv.UC_RISCV_REG_PC)

    def _poll(self, uc: Uc, access: int, address: int, size: int, value: int, data: object) -> None:
        if address == self.polled:
            uc.emu_stop()
        self.polled = address

    def _guarded(self, fault: FaultError) -> None:
        self.machine.fault = self.machine.fault or fault
        self.uc.emu_stop()

    def _lost(self, uc: Uc, access: int, address: int, size: int, value: int, data: object) -> bool:
        pc = uc.reg_read(riscv.UC_RISCV_REG_PC)
        self._guarded(FaultError(f"core {self.hart} reaches for {address:#x} at {pc:#x}: nothing is there"))
        return False

    def _load(self, uc: Uc, offset: int, size: int, base: int) -> int:
        try:
            return self.machine.device_load(self, base + offset)
        except FaultError as fault:
            self._guarded(fault)
            return 0

    def _store(self, uc: Uc, offset: int, size: int, value: int, base: int) -> None:
        try:
            self.machine.device_store(self, base + offset, value)
        except FaultError as fault:
            self._guarded(fault)

    def _trap(self, uc: Uc, number: int, data: object) -> None:
        pc = uc.reg_read(riscv.UC_RISCV_REG_PC) - 4
        word = struct.unpack("<I", self.machine.read(pc, 4))[0]
        try:
            self._execute(word, pc)
        except FaultError as fault:
            self._guarded(fault)

    def _execute(self, word: int, pc: int) -> None:
        opcode, rd, funct3, rs1 = word & 0x7F, word >> 7 & 31, word >> 12 & 7, word >> 15 & 31
        if word == HOST_CALL:
            self.machine.host(self._register(10), self._register(11))
            if self.machine.status is not None:
                self.uc.emu_stop()
        elif opcode == 0x03 and funct3 == 6:
            demand(self.hart != CONTROLLER, "the core outside the cluster waits for the event unit")
            self.machine.wait(self, self._register(rs1) + (word >> 20))
            self._register(rd, 0)
            self.waits = True
            self.uc.emu_stop()
        elif opcode == 0x73 and funct3 in (1, 2):
            self._control(word >> 20, rd, writes=funct3 == 1)
        else:
            raise FaultError(f"core {self.hart} has no instruction {word:#010x} (at {pc:#x})")

    def _control(self, number: int, rd: int, *, writes: bool) -> None:
        demand(number == MHARTID & 0x7FF and not writes, f"control register {number:#x}")  # as `loaded` puts it
        self._register(rd, self.hart)

    def _register(self, number: int, value: int | None = None) -> int:
        name = riscv.UC_RISCV_REG_X0 + number
        if value is None:
            return int(self.uc.reg_read(name))
        if number:
            self.uc.reg_write(name, value)
        return value


class Machine:
    """Memories, the controller, and the cores that it starts."""

    def __init__(self, shared: int) -> None:
        self.shared = shared
        self.memories = {
            L1: (ctypes.c_uint8 * L1_BYTES)(),
            WEIGHTS: (ctypes.c_uint8 * WEIGHTS_BYTES)(),
            L2: (ctypes.c_uint8 * L2_BYTES)(),
        }
        for memory in self.memories.values():
            ctypes.memset(memory, 0xCD, ctypes.sizeof(memory))
        self.status: int | None = None
        self.fault: FaultError | None = None
        self.entries: dict[int, int] = {}
        self.barrier: dict[int, int] = {}
        self.unmasked: set[int] = set()
        self.cached = self.timed = False
        self.time = 0  # of the cluster's timer: how often it was read, times 100
        self.cores: list[Core] = []
        self.engine, self.external = Engine(self), External(self)

    def read(self, address: int, size: int) -> bytes:
        base = max(start for start in self.memories if start <= address)
        return ctypes.string_at(ctypes.addressof(self.memories[base]) + address - base, size)

    def write(self, address: int, data: bytes) -> None:
        base = max(start for start in self.memories if start <= address)
        ctypes.memmove(ctypes.addressof(self.memories[base]) + address - base, data, len(data))

    def device_load(self, core: Core, address: int) -> int:
        if address == 0x1020_4400:
            return self.engine.take()
        if address == 0x1020_4404:
            return self.engine.status()
        if address == TIMER_VALUE:
            demand(self.timed, "the cluster's timer does not run")
            self.time += 100
            return self.time
        if UDMA <= address < UDMA + UDMA_BYTES:
            return self.external.read(address - UDMA)
        raise FaultError(f"core {core.hart} reads {address:#x}")

    def device_store(self, core: Core, address: int, value: int) -> None:
        if address == 0x1020_4400:
            self.engine.write(value)
        elif address == 0x1020_4404:
            self.engine.free(value)
        elif UDMA <= address < UDMA + UDMA_BYTES:
            self.external.write(address - UDMA, value)
        elif address == 0x1020_4008:
            demand(value == 1 << 16, "another event than the barrier's is unmasked")
            self.unmasked.add(core.hart)
        elif address in (0x1020_4200, 0x1020_420C):
            self.barrier[address & 0xF] = value
        elif 0x1020_0040 <= address < 0x1020_0080:
            self.entries[(address - 0x1020_0040) // 4] = value
        elif address == TIMER_START:
            self.timed = value == 1
        elif address == 0x1020_1400:
            self.cached = value == 0xFFFFFFFF
        elif address == 0x1020_0008:
            self._start(value)
        else:
            raise FaultError(f"core {core.hart} writes {value:#x} to {address:#x}")

    def _start(self, mask: int) -> None:
        demand(self.cached, "the cluster's instruction cache is off")
        for number in range(9):
            if mask >> number & 1:
                core = Core(self, number)
                core.pc = self.entries[number]
                self.cores.append(core)

    def wait(self, core: Core, address: int) -> None:
        demand(address == 0x1020_421C, f"core {core.hart} waits for {address:#x}")
        demand(core.hart in self.unmasked, f"core {core.hart} waits for a masked event")
        demand(self.barrier.get(0) == self.barrier.get(0xC), "those who wait are not those who are woken")

    def host(self, operation: int, argument: int) -> None:
        if operation == 0x04:
            text = self.read(argument, 4096).split(b"\0")[0]
            sys.stdout.write(text.decode("ascii"))
        elif operation == 0x18:
            self.status = 0 if argument == EXIT_FINE else 1
        else:
            raise FaultError(f"call {operation} of the host")

    def run(self, entry: int) -> int:
        controller = Core(self, CONTROLLER)
        controller.pc = entry
        while self.status is None:
            controller.run()
            for core in self.cores:
                if not core.waits and self.status is None:
                    core.run()
            waiting = sum(1 << core.hart for core in self.cores if core.waits)
            if waiting and waiting == self.barrier.get(0):
                for core in self.cores:
                    core.waits = False
        demand(not self.engine.taken, f"{len(self.engine.taken)} copies were never waited for")
        return self.status


def segments(elf: bytes) -> Iterator[tuple[int, bytes]]:
    """Address and bytes of what is loaded; zeros are not."""
    start, size, count = struct.unpack_from("<I", elf, 28)[0], *struct.unpack_from("<HH", elf, 42)
    for index in range(count):
        kind, offset, _, place, stored = struct.unpack_from("<5I", elf, start + index * size)
        if kind == 1 and stored:
            yield place, elf[offset : offset + stored]


def loaded(image: bytes, *, shared_registers: bool) -> bytes:
    """With what Unicorn does not trap on replaced by what it does: calls of the host, and the number of the core."""
    changed = bytearray(image.replace(SEMIHOSTING, SEMIHOSTING[:4] + struct.pack("<I", HOST_CALL) + SEMIHOSTING[8:]))
    for at in range(0, len(changed) - 3, 2):
        word = struct.unpack_from("<I", changed, at)[0]
        if word & 0xFFFFF07F == MHARTID << 20 | 2 << 12 | 0x73:
            struct.pack_into("<I", changed, at, word & ~(1 << 31))  # 0x714: a register that there is not
        elif shared_registers and word & 0xFFF0707F == FMV_W_X:
            struct.pack_into("<I", changed, at, word & 0xF8F80 | 0x13)  # addi rd, rs1, 0
    return bytes(changed)


def main(arguments: list[str]) -> int:
    options = dict(one.removeprefix("--").split("=", 1) for one in arguments if "=" in one)
    if options.get("target") != "siracusa" or arguments[-1] != "run" or not Path(options["work-dir"]).is_dir():
        sys.stderr.write(f"gvsoc: cannot do {arguments}\n")
        return 64
    os.chdir(options["work-dir"])  # as the simulator does: relative paths of binaries lead nowhere
    elf = Path(options["binary"]).read_bytes()
    machine = Machine(next(symbol.address for symbol in elf_symbols(elf) if symbol.name == SHARED))
    for address, image in segments(elf):
        machine.write(address, loaded(image, shared_registers="--shared-registers" in arguments))
    try:
        return machine.run(struct.unpack_from("<I", elf, 24)[0])
    except FaultError as fault:
        sys.stdout.flush()
        sys.stderr.write(f"gvsoc: {fault}\n")
        return 70


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
