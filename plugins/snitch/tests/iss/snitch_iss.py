"""Knows a core of Snitch: RV32IMA, what it hands on to its float unit, streams and repetition, and how long that takes.
Does not know other cores, copies, the host, or contention for memory.

An instruction takes a cycle; `timing` says when a value that was loaded is there, and a product or a quotient.
Instructions of floats are handed on in one, and wait for room in the queue; what they give an integer register is
waited for.
"""

from __future__ import annotations

from collections.abc import Callable

from float_unit import FloatUnit, Operation, decode, is_float, signed
from streams import FaultError
from timing import CLUSTER, Timing

MASK = 0xFFFFFFFF
DIVIDE_CYCLES = 20
PRODUCTS = tuple((1, kind) for kind in range(4))
MHARTID, MCYCLE, STREAMS, BARRIER, HALVES = 0xF14, 0xB00, 0x7C0, 0x7C2, 0x800
Step = Callable[[], int]  # executes, returns the next address


class Core:
    """One core. `load` and `store` are of memory; `special` executes what the machine around it knows."""

    def __init__(
        self,
        hart: int,
        load: Callable[[int, int], int],
        store: Callable[[int, int, int], None],
        special: Callable[[Core, int, int], bool] = lambda core, word, pc: False,
        timing: Timing = CLUSTER,
    ) -> None:
        self.hart, self.load, self.store, self.special = hart, load, store, special
        self.far = range(0)  # addresses of the main memory from which loads take longer
        self.x = [0] * 32
        self.ready = [0] * 32
        self.pc = self.cycles = self.instructions = 0
        self.timing = timing
        self.floats = FloatUnit(load, store, timing)
        self.waits = self.ended = False
        self.decoded: dict[int, Step] = {}

    def run(self, most: int) -> None:
        """Until it waits for others, ends, or has executed `most` instructions. FaultError for what it cannot do."""
        decoded, x = self.decoded, self.x
        for _ in range(most):
            if self.waits or self.ended:
                return
            step = decoded.get(self.pc)
            if step is None:
                step = decoded[self.pc] = self._decode(self.load(self.pc, 4), self.pc)
            self.cycles += 1
            self.instructions += 1
            self.pc = step()
            x[0] = 0

    def finish(self) -> int:
        """When everything that it was asked for is done."""
        return max(self.cycles, self.floats.free, *self.floats.ready)

    def _use(self, *registers: int) -> None:
        for register in registers:
            if self.ready[register] > self.cycles:
                self.cycles = self.ready[register]

    def _decode(self, word: int, pc: int) -> Step:
        if is_float(word):
            return self._float(decode(word), pc)
        found = _DECODERS.get(word & 0x7F)
        step = found(self, word, pc) if found else None
        return step or self._special(word, pc)

    def _special(self, word: int, pc: int) -> Step:
        def step() -> int:
            if not self.special(self, word, pc):
                raise FaultError(f"core {self.hart} has no instruction {word:08x} (at {pc:#x})")
            return pc + 4

        return step

    def _float(self, operation: Operation, pc: int) -> Step:
        x, floats, source, target = self.x, self.floats, operation.from_integer, operation.to_integer
        loads = operation.size > 0 and operation.writes >= 0

        def step() -> int:
            if source > 0:
                self._use(source)
            self.cycles = floats.room_at(self.cycles)
            if loads and (x[source] + operation.offset) & MASK in self.far:
                self.cycles += self.timing.far
            result = floats.give(operation, x[source] if source >= 0 else 0, self.cycles)
            if target >= 0:
                x[target] = result & MASK
                self.cycles = max(self.cycles, floats.free)
                floats.unseen.clear()
            return pc + 4

        return step

    def read(self, address: int, size: int) -> int:
        """A load of the integer core. FaultError where the float unit may not have stored yet."""
        if self.floats.unseen and address & ~3 in self.floats.unseen:
            raise FaultError(f"core {self.hart} reads {address:#x}, where its float unit has yet to write")
        return self.load(address, size)

    def to(
        self,
        rd: int,
        pc: int,
        reads: tuple[int, ...],
        value: Callable[[], int],
        cycles: int = 1,
        *,
        alone: bool = False,
    ) -> Step:
        """An instruction that writes one integer register; `alone`: the next one waits for it."""
        x, ready = self.x, self.ready

        def step() -> int:
            for register in reads:
                if ready[register] > self.cycles:
                    self.cycles = ready[register]
            x[rd] = value() & MASK
            if alone:
                self.cycles += cycles - 1
            ready[rd] = self.cycles + cycles - 1 if rd else 0
            return pc + 4

        return step


def quotient_cycles(a: int, b: int, *, is_signed: bool, timing: Timing) -> int:
    """Until a / b or its rest is there: so many as the quotient has digits, where `timing` says so, and some."""
    if not timing.short_quotients:
        return DIVIDE_CYCLES
    if b == 0:
        return 1
    x, y = (signed(a), signed(b)) if is_signed else (a, b)
    digits = (~x << 1 if x < 0 else x).bit_length() - (~y if y < 0 else y).bit_length()
    return 4 if digits < 0 else digits + 5


def _divided(a: int, b: int, *, is_signed: bool, remainder: bool) -> int:
    x, y = (signed(a), signed(b)) if is_signed else (a, b)
    if y == 0:
        return a if remainder else MASK
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return (x - quotient * y if remainder else quotient) & MASK


def _register(core: Core, word: int, pc: int) -> Step | None:
    x, a, b, d = core.x, word >> 15 & 31, word >> 20 & 31, word >> 7 & 31
    table: dict[tuple[int, int], tuple[Callable[[], int], int]] = {
        (0, 0): (lambda: x[a] + x[b], 1),
        (0x20, 0): (lambda: x[a] - x[b], 1),
        (0, 1): (lambda: x[a] << (x[b] & 31), 1),
        (0, 2): (lambda: int(signed(x[a]) < signed(x[b])), 1),
        (0, 3): (lambda: int(x[a] < x[b]), 1),
        (0, 4): (lambda: x[a] ^ x[b], 1),
        (0, 5): (lambda: x[a] >> (x[b] & 31), 1),
        (0x20, 5): (lambda: signed(x[a]) >> (x[b] & 31), 1),
        (0, 6): (lambda: x[a] | x[b], 1),
        (0, 7): (lambda: x[a] & x[b], 1),
        (1, 0): (lambda: x[a] * x[b], core.timing.multiply),
        (1, 1): (lambda: (signed(x[a]) * signed(x[b])) >> 32, core.timing.multiply),
        (1, 2): (lambda: (signed(x[a]) * x[b]) >> 32, core.timing.multiply),
        (1, 3): (lambda: (x[a] * x[b]) >> 32, core.timing.multiply),
    }
    kind = (word >> 25, word >> 12 & 7)
    if kind[0] == 1 and kind[1] >= 4:
        return _quotient(core, word, pc)
    found, alone = table.get(kind), core.timing.multiply_alone and kind in PRODUCTS
    return core.to(d, pc, (a, b), *found, alone=alone) if found else None


def _quotient(core: Core, word: int, pc: int) -> Step:
    """div, divu, rem, remu."""
    x, a, b, d, kind = core.x, word >> 15 & 31, word >> 20 & 31, word >> 7 & 31, word >> 12 & 3
    is_signed, remainder = kind % 2 == 0, kind >= 2

    def step() -> int:
        core._use(a, b)
        cycles = quotient_cycles(x[a], x[b], is_signed=is_signed, timing=core.timing)
        x[d] = _divided(x[a], x[b], is_signed=is_signed, remainder=remainder)
        core.ready[d] = core.cycles + cycles - 1 if d else 0
        return pc + 4

    return step


def _immediate(core: Core, word: int, pc: int) -> Step | None:
    x, a, imm, by, kind = core.x, word >> 15 & 31, signed(word >> 20, 12), word >> 20 & 31, word >> 12 & 7
    table: dict[int, Callable[[], int]] = {
        0: lambda: x[a] + imm,
        1: lambda: x[a] << by,
        2: lambda: int(signed(x[a]) < imm),
        3: lambda: int(x[a] < (imm & MASK)),
        4: lambda: x[a] ^ imm,
        5: (lambda: signed(x[a]) >> by) if word >> 30 else (lambda: x[a] >> by),
        6: lambda: x[a] | imm,
        7: lambda: x[a] & imm,
    }
    return core.to(word >> 7 & 31, pc, (a,), table[kind])


_SIZES = {0: (1, True), 1: (2, True), 2: (4, False), 4: (1, False), 5: (2, False)}


def _load(core: Core, word: int, pc: int) -> Step | None:
    x, a, imm = core.x, word >> 15 & 31, signed(word >> 20, 12)
    if (word >> 12 & 7) not in _SIZES:
        return None
    size, is_signed = _SIZES[word >> 12 & 7]

    def value() -> int:
        core.cycles = core.floats.passed(core.cycles)
        address = (x[a] + imm) & MASK
        found = core.read(address, size)
        core.cycles += core.timing.far if address in core.far else 0
        return signed(found, 8 * size) if is_signed else found

    return core.to(word >> 7 & 31, pc, (a,), value, core.timing.load)


def _store(core: Core, word: int, pc: int) -> Step | None:
    x, a, b, size = core.x, word >> 15 & 31, word >> 20 & 31, 1 << (word >> 12 & 7)
    imm = signed(word >> 25 << 5 | word >> 7 & 31, 12)

    def step() -> int:
        core._use(a, b)
        core.store((x[a] + imm) & MASK, size, x[b])
        return pc + 4

    return step


def _branch(core: Core, word: int, pc: int) -> Step | None:
    x, a, b = core.x, word >> 15 & 31, word >> 20 & 31
    parts = (word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1
    target = pc + signed(parts, 13)
    table: dict[int, Callable[[], bool]] = {
        0: lambda: x[a] == x[b],
        1: lambda: x[a] != x[b],
        4: lambda: signed(x[a]) < signed(x[b]),
        5: lambda: signed(x[a]) >= signed(x[b]),
        6: lambda: x[a] < x[b],
        7: lambda: x[a] >= x[b],
    }
    taken = table.get(word >> 12 & 7)
    if taken is None:
        return None

    def step() -> int:
        core._use(a, b)
        return target if taken() else pc + 4

    return step


def _jump(core: Core, word: int, pc: int) -> Step | None:
    parts = (word >> 31) << 20 | (word >> 12 & 255) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1
    target, d = pc + signed(parts, 21), word >> 7 & 31

    def step() -> int:
        core.x[d] = pc + 4
        return target

    return step


def _jump_to(core: Core, word: int, pc: int) -> Step | None:
    a, d, imm = word >> 15 & 31, word >> 7 & 31, signed(word >> 20, 12)

    def step() -> int:
        core._use(a)
        target = (core.x[a] + imm) & MASK & ~1
        core.x[d] = pc + 4
        return target

    return step


def _upper(core: Core, word: int, pc: int) -> Step | None:
    value = (word & 0xFFFFF000) + (pc if word & 0x7F == 0x17 else 0)
    return core.to(word >> 7 & 31, pc, (), lambda: value)


def _repeat(core: Core, word: int, pc: int) -> Step | None:
    """frep.o: the next instructions of floats, so many, that many times more."""
    a, count = word >> 15 & 31, (word >> 20) + 1
    if word >> 7 & 0xFF != 1:
        return None

    def step() -> int:
        core._use(a)
        core.floats.repeat(core.x[a], count)
        return pc + 4

    return step


def _configure(core: Core, word: int, pc: int) -> Step | None:
    """scfgwi: streams. scfgri: whether one is done."""
    a, number, register = word >> 15 & 31, word >> 20 & 31, word >> 25
    if word >> 12 & 7 == 1 and number <= 2 and register == 0:
        return core.to(word >> 7 & 31, pc, (), lambda: core.floats.done(number, core.cycles) << 31)
    if word >> 12 & 7 != 2 or number > 2:
        return None

    def step() -> int:
        core._use(a)
        core.floats.demand_idle(core.cycles)
        stream = core.floats.streams[number]
        stream.configure(register, core.x[a])
        if stream.dimensions and not stream.writes:
            core.floats.ready[number] = core.cycles + 3  # its first element
        return pc + 4

    return step


def _control(core: Core, word: int, pc: int) -> Step | None:
    register, kind, d, a = word >> 20, word >> 12 & 7, word >> 7 & 31, word >> 15 & 31
    if kind == 0:
        return None

    def step() -> int:
        if register == STREAMS and kind in (6, 7) and a == 1:
            core.floats.demand_idle(core.cycles)
            core.floats.switch(kind == 6, core.cycles)
        elif register == HALVES and kind in (1, 5):
            core.floats.demand_idle(core.cycles)
            core.floats.other_halves = (core.x[a] if kind == 1 else a) == 3
        elif register == BARRIER:
            core.cycles = core.finish()
            core.waits = True
        elif register == MHARTID:
            core.x[d] = core.hart
        elif register == MCYCLE:
            core.x[d] = core.cycles & MASK
        else:
            raise FaultError(f"core {core.hart} has no control register {register:#x}")
        return pc + 4

    return step


_DECODERS: dict[int, Callable[[Core, int, int], Step | None]] = {
    0x33: _register,
    0x13: _immediate,
    0x03: _load,
    0x23: _store,
    0x63: _branch,
    0x6F: _jump,
    0x67: _jump_to,
    0x37: _upper,
    0x17: _upper,
    0x0B: _repeat,
    0x2B: _configure,
    0x73: _control,
    0x0F: lambda core, word, pc: lambda: pc + 4,
}
