"""Knows how a core of the cluster executes: RV32IMF without compressed instructions, and what kernels use of Xpulp.
Does not know kernels, other cores, or contention for memory.

Written from the specifications' field layouts, apart from the header that emits the instructions. Cycles are those of
an in-order core with four stages: one for an instruction, two more for a taken branch, one more for a jump, for a
value that is used just after it was loaded or left the floating-point unit, and for a word that is not aligned.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Step = Callable[[], int]  # executes, returns the next address
MASK = 0xFFFFFFFF
STOP = 0xFFFFFFF0  # where the program's first return goes
LOADS = frozenset({"lb", "lh", "lw", "lbu", "lhu", "flw", "p.lb", "p.lbu", "p.lw"})
MULH_CYCLES = 5
DIVIDE_CYCLES = 20
FLOAT_DIVIDE_CYCLES = 10  # quotients and square roots


class IllegalInstructionError(Exception):
    """A word that is no instruction of this machine."""


def signed(value: int, bits: int = 32) -> int:
    """Two's complement of the lowest `bits`."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def bytes_of(word: int, is_signed: bool) -> list[int]:
    """The four bytes of a word, lowest first."""
    parts = [(word >> (8 * index)) & 255 for index in range(4)]
    return [signed(part, 8) for part in parts] if is_signed else parts


def halves_of(word: int) -> list[int]:
    """The two halves of a word, signed, lower first."""
    return [signed(word, 16), signed(word >> 16, 16)]


def word_of_halves(parts: list[int]) -> int:
    """A word from two halves, lower first."""
    return parts[0] & 0xFFFF | (parts[1] & 0xFFFF) << 16


def word_of(parts: list[int]) -> int:
    """A word from four bytes, lowest first."""
    return sum((part & 255) << (8 * index) for index, part in enumerate(parts))


@dataclass(frozen=True)
class Fields:
    """An instruction word, cut as the formats R, I, S, B, U and J do."""

    word: int

    def bits(self, high: int, low: int) -> int:
        return (self.word >> low) & ((1 << (high - low + 1)) - 1)

    @property
    def opcode(self) -> int:
        return self.bits(6, 0)

    @property
    def rd(self) -> int:
        return self.bits(11, 7)

    @property
    def funct3(self) -> int:
        return self.bits(14, 12)

    @property
    def rs1(self) -> int:
        return self.bits(19, 15)

    @property
    def rs2(self) -> int:
        return self.bits(24, 20)

    @property
    def funct7(self) -> int:
        return self.bits(31, 25)

    @property
    def imm_i(self) -> int:
        return signed(self.bits(31, 20), 12)

    @property
    def imm_s(self) -> int:
        return signed(self.bits(31, 25) << 5 | self.rd, 12)

    @property
    def imm_b(self) -> int:
        parts = self.bits(31, 31) << 12 | self.bits(7, 7) << 11 | self.bits(30, 25) << 5 | self.bits(11, 8) << 1
        return signed(parts, 13)

    @property
    def imm_u(self) -> int:
        return self.word & 0xFFFFF000

    @property
    def imm_j(self) -> int:
        parts = self.bits(31, 31) << 20 | self.bits(19, 12) << 12 | self.bits(20, 20) << 11 | self.bits(30, 21) << 1
        return signed(parts, 21)


def dot(accumulator: int, one: int, other: int, signs: tuple[bool, bool]) -> int:
    """pv.sdot: four products of bytes and the accumulator."""
    products = zip(bytes_of(one, signs[0]), bytes_of(other, signs[1]), strict=True)
    return (accumulator + sum(a * b for a, b in products)) & MASK


def dot_halves(accumulator: int, one: int, other: int) -> int:
    """pv.sdotsp.h: two products of signed halves and the accumulator."""
    return accumulator + sum(a * b for a, b in zip(halves_of(one), halves_of(other), strict=True))


def shuffle2(rd: int, rs1: int, rs2: int) -> int:
    """pv.shuffle2.b: bits 1..0 of each byte of rs2 choose a byte, bit 2 chooses rs1 over the old rd."""
    choices = bytes_of(rs2, False)
    return word_of([bytes_of(rs1 if choice & 4 else rd, False)[choice & 3] for choice in choices])


def larger(rs1: int, rs2: int, is_signed: bool) -> int:
    """pv.max.b and pv.maxu.b."""
    pairs = zip(bytes_of(rs1, is_signed), bytes_of(rs2, is_signed), strict=True)
    return word_of([max(pair) for pair in pairs])


def sum_of_bytes(rs1: int, rs2: int) -> int:
    """pv.add.b: each byte wraps around."""
    return word_of([one + other for one, other in zip(bytes_of(rs1, False), bytes_of(rs2, False), strict=True)])


def divided(a: int, b: int, is_signed: bool, remainder: bool) -> int:
    """div, divu, rem, remu, division by zero included."""
    x, y = (signed(a), signed(b)) if is_signed else (a, b)
    if y == 0:
        return a if remainder else MASK
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return (x - quotient * y if remainder else quotient) & MASK


def float_of(bits: int) -> np.float32:
    return np.float32(struct.unpack("<f", struct.pack("<I", bits & MASK))[0])


def bits_of(value: np.float32) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def computed(value: np.float32) -> int:
    """The bits of a result of arithmetic, whose NaN is always the same one, without a sign."""
    return 0x7FC00000 if value != value else bits_of(value)


def smaller_or_larger(one: int, other: int, larger_one: bool) -> int:
    """fmin.s, fmax.s: a number rather than NaN, -0 below +0."""
    a, b = float_of(one), float_of(other)
    if a != a or b != b:
        return (0x7FC00000 if b != b else other) if a != a else one
    above = a > b or (a == b and not one >> 31)
    return one if above == larger_one else other


def integer_of(bits: int, rounding: int) -> int:
    """fcvt.w.s: to the nearest, ties to even, or towards zero; saturating."""
    value = float(float_of(bits))
    if value != value:
        return 0x7FFFFFFF
    rounded = float(np.rint(value)) if rounding != 1 else float(np.trunc(value))
    return int(min(max(rounded, -(2.0**31)), 2.0**31 - 1)) & MASK


@dataclass
class Machine:
    """One core and its memory."""

    memory: bytearray
    x: list[int] = field(default_factory=lambda: [0] * 32)
    f: list[int] = field(default_factory=lambda: [0] * 32)
    loops: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0), (0, 0)])  # first and last instruction
    trips: list[int] = field(default_factory=lambda: [0, 0])  # of the hardware loops, that are left
    instructions: int = 0
    cycles: int = 0
    executed: Counter[str] = field(default_factory=Counter)

    def run(self, entry: int, arguments: tuple[int, ...], most: int = 50_000_000) -> int:
        """Call the function at `entry`; what it returns in a0."""
        self.x[1], self.x[2] = STOP, len(self.memory) - 64
        for index, argument in enumerate(arguments):
            self.x[10 + index] = argument
        decoded: dict[int, tuple[Step, str, int, tuple[int, ...]]] = {}
        counts: Counter[int] = Counter()
        pc, waiting = entry, -1
        while pc != STOP:
            if pc not in decoded:
                word = int.from_bytes(self.memory[pc : pc + 4], "little")
                decoded[pc] = (*_decode(self, Fields(word), pc), _reads(Fields(word)))
            step, name, written, reads = decoded[pc]
            self.cycles += 1 + (waiting in reads)
            waiting = written if name in LOADS or name.startswith("f") else -1
            counts[pc] += 1
            after = step()
            self.x[0] = 0
            if after != pc + 4:
                self.cycles += 1 if name in ("jal", "jalr") else 2
            else:
                after = self._loop_back(pc, after)
            pc = after
            self.instructions += 1
            if self.instructions > most:
                raise TimeoutError(f"more than {most} instructions, at {pc:#x}")
        for address, count in counts.items():
            self.executed[decoded[address][1]] += count
        return self.x[10]

    def _loop_back(self, pc: int, after: int) -> int:
        """Where a hardware loop goes from its last instruction; the inner one is number 0."""
        for number, (first, last) in enumerate(self.loops):
            if pc == last and self.trips[number]:
                self.trips[number] -= 1
                if self.trips[number]:
                    return first
        return after

    def load(self, address: int, size: int, is_signed: bool) -> int:
        if not 0 < address <= len(self.memory) - size:
            raise IndexError(f"load from {address:#x}")
        self.cycles += address % size != 0
        value = int.from_bytes(self.memory[address : address + size], "little")
        return signed(value, 8 * size) & MASK if is_signed else value

    def store(self, address: int, size: int, value: int) -> None:
        if not 0 < address <= len(self.memory) - size:
            raise IndexError(f"store to {address:#x}")
        self.cycles += address % size != 0
        self.memory[address : address + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _reads(i: Fields) -> tuple[int, ...]:
    """Registers that are read: 0..31 integer, 32..63 float."""
    if i.opcode in (0x37, 0x17, 0x6F):
        return ()
    if i.opcode == 0x53:
        if i.funct7 in (0x68, 0x78):  # from an integer register
            return (i.rs1,)
        return (32 + i.rs1, 32 + i.rs2)
    if i.opcode in (0x43, 0x47, 0x4B, 0x4F):
        return (32 + i.rs1, 32 + i.rs2, 32 + i.bits(31, 27))
    if i.opcode == 0x27:
        return (i.rs1, 32 + i.rs2)
    if i.opcode in (0x13, 0x03, 0x67, 0x07, 0x7B) or (i.opcode == 0x0B and i.funct3 != 7):
        return (i.rs1,)
    if i.opcode == 0x2B:
        return (i.rs1, i.rs2, i.rd)
    kept = {0x57: (0x5C, 0x50, 0x54, 0x64, 0x6C, 0x70), 0x33: (0x21,), 0x5B: (0x20,)}
    accumulates = i.funct7 in kept.get(i.opcode, ())
    return (i.rs1, i.rs2, i.rd) if accumulates else (i.rs1, i.rs2)


def _decode(m: Machine, i: Fields, pc: int) -> tuple[Step, str, int]:
    """What executes the word, its name, and the register it writes (32 and up: float), -1 for none."""
    found = _DECODERS.get(i.opcode)
    if found is None:
        raise IllegalInstructionError(f"{i.word:08x} at {pc:#x}")
    name, step, writes = found(m, i, pc)
    if name == "":
        raise IllegalInstructionError(f"{i.word:08x} at {pc:#x}")
    return step, name, writes


Decoded = tuple[str, Step, int]


def _to(m: Machine, i: Fields, pc: int, name: str, value: Callable[[], int]) -> Decoded:
    """An instruction that writes one integer register."""
    x, rd = m.x, i.rd

    def step() -> int:
        x[rd] = value() & MASK
        return pc + 4

    return name, step, rd


def _register(m: Machine, i: Fields, pc: int) -> Decoded:
    x, a, b, d = m.x, i.rs1, i.rs2, i.rd
    bound = 1 << max(b - 1, 0)  # p.clip: the second register's field is a number
    table: dict[tuple[int, int], tuple[str, Callable[[], int]]] = {
        (0, 0): ("add", lambda: x[a] + x[b]),
        (0x20, 0): ("sub", lambda: x[a] - x[b]),
        (0, 1): ("sll", lambda: x[a] << (x[b] & 31)),
        (0, 2): ("slt", lambda: int(signed(x[a]) < signed(x[b]))),
        (0, 3): ("sltu", lambda: int(x[a] < x[b])),
        (0, 4): ("xor", lambda: x[a] ^ x[b]),
        (0, 5): ("srl", lambda: x[a] >> (x[b] & 31)),
        (0x20, 5): ("sra", lambda: signed(x[a]) >> (x[b] & 31)),
        (0, 6): ("or", lambda: x[a] | x[b]),
        (0, 7): ("and", lambda: x[a] & x[b]),
        (1, 0): ("mul", lambda: x[a] * x[b]),
        (1, 1): ("mulh", lambda: _slow(m, MULH_CYCLES, (signed(x[a]) * signed(x[b])) >> 32)),
        (1, 3): ("mulhu", lambda: _slow(m, MULH_CYCLES, (x[a] * x[b]) >> 32)),
        (1, 4): ("div", lambda: _slow(m, DIVIDE_CYCLES, divided(x[a], x[b], True, False))),
        (1, 5): ("divu", lambda: _slow(m, DIVIDE_CYCLES, divided(x[a], x[b], False, False))),
        (1, 6): ("rem", lambda: _slow(m, DIVIDE_CYCLES, divided(x[a], x[b], True, True))),
        (1, 7): ("remu", lambda: _slow(m, DIVIDE_CYCLES, divided(x[a], x[b], False, True))),
        (0b0000010, 0b100): ("p.min", lambda: min(signed(x[a]), signed(x[b]))),
        (0b0000010, 0b110): ("p.max", lambda: max(signed(x[a]), signed(x[b]))),
        (0b0001010, 0b001): ("p.clip", lambda: min(max(signed(x[a]), -bound), bound - 1)),
        (0b0001010, 0b010): ("p.clipu", lambda: min(max(signed(x[a]), 0), bound - 1)),
        (0b0100001, 0b000): ("p.mac", lambda: x[d] + x[a] * x[b]),
    }
    return _to(m, i, pc, *table.get((i.funct7, i.funct3), ("", int)))


def _slow(m: Machine, cycles: int, value: int) -> int:
    m.cycles += cycles - 1
    return value


def _immediate(m: Machine, i: Fields, pc: int) -> Decoded:
    x, a, imm, by = m.x, i.rs1, i.imm_i, i.rs2
    table: dict[int, tuple[str, Callable[[], int]]] = {
        0: ("addi", lambda: x[a] + imm),
        2: ("slti", lambda: int(signed(x[a]) < imm)),
        3: ("sltiu", lambda: int(x[a] < (imm & MASK))),
        4: ("xori", lambda: x[a] ^ imm),
        6: ("ori", lambda: x[a] | imm),
        7: ("andi", lambda: x[a] & imm),
        1: ("slli", lambda: x[a] << by),
        5: ("srai", lambda: signed(x[a]) >> by) if i.funct7 else ("srli", lambda: x[a] >> by),
    }
    return _to(m, i, pc, *table[i.funct3])


_SIZES = {0: ("b", 1, True), 1: ("h", 2, True), 2: ("w", 4, False), 4: ("bu", 1, False), 5: ("hu", 2, False)}


def _load(m: Machine, i: Fields, pc: int) -> Decoded:
    x, a, imm = m.x, i.rs1, i.imm_i
    if i.funct3 not in _SIZES:
        return "", lambda: 0, -1
    name, size, is_signed = _SIZES[i.funct3]
    return _to(m, i, pc, f"l{name}", lambda: m.load((x[a] + imm) & MASK, size, is_signed))


_BY_REGISTER = {0b0000000: 0, 0b0010000: 2, 0b0100000: 4}  # funct7 -> funct3 of the form with an immediate


def _post_load(m: Machine, i: Fields, pc: int) -> Decoded:
    x, a, b, imm = m.x, i.rs1, i.rs2, i.imm_i
    by_register = i.funct3 == 0b111
    kind = _BY_REGISTER.get(i.funct7, -1) if by_register else i.funct3
    if kind not in _SIZES:
        return "", lambda: 0, -1
    name, size, is_signed = _SIZES[kind]

    def value() -> int:
        read = m.load(x[a], size, is_signed)
        x[a] = (x[a] + (x[b] if by_register else imm)) & MASK
        return read

    return _to(m, i, pc, f"p.l{name}", value)


def _store(m: Machine, i: Fields, pc: int) -> Decoded:
    x, a, b, imm, size = m.x, i.rs1, i.rs2, i.imm_s, 1 << i.funct3

    def step() -> int:
        m.store((x[a] + imm) & MASK, size, x[b])
        return pc + 4

    return f"s{'bhw'[i.funct3]}", step, -1


def _post_store(m: Machine, i: Fields, pc: int) -> Decoded:
    """p.sb and p.sw, moving by a register."""
    x, a, b, by = m.x, i.rs1, i.rs2, i.rd
    size = {0b100: 1, 0b110: 4}.get(i.funct3, 0)
    if not size or i.funct7:
        return "", lambda: 0, -1

    def step() -> int:
        m.store(x[a], size, x[b])
        x[a] = (x[a] + x[by]) & MASK
        return pc + 4

    return "p.sb" if size == 1 else "p.sw", step, -1


def _sum_and_shift(m: Machine, i: Fields, pc: int) -> Decoded:
    """p.addNr: rd plus rs1, shifted to the right by a register."""
    x, a, b, d = m.x, i.rs1, i.rs2, i.rd
    if (i.funct7, i.funct3) != (0b0100000, 0b010):
        return "", lambda: 0, -1
    return _to(m, i, pc, "p.addNr", lambda: signed(x[d] + x[a]) >> (x[b] & 31))


def _branch(m: Machine, i: Fields, pc: int) -> Decoded:
    x, a, b, target = m.x, i.rs1, i.rs2, pc + i.imm_b
    table: dict[int, tuple[str, Callable[[], bool]]] = {
        0: ("beq", lambda: x[a] == x[b]),
        1: ("bne", lambda: x[a] != x[b]),
        4: ("blt", lambda: signed(x[a]) < signed(x[b])),
        5: ("bge", lambda: signed(x[a]) >= signed(x[b])),
        6: ("bltu", lambda: x[a] < x[b]),
        7: ("bgeu", lambda: x[a] >= x[b]),
    }
    name, taken = table[i.funct3]
    return name, lambda: target if taken() else pc + 4, -1


def _jal(m: Machine, i: Fields, pc: int) -> Decoded:
    x, rd, target = m.x, i.rd, pc + i.imm_j

    def step() -> int:
        x[rd] = pc + 4
        return target

    return "jal", step, -1


def _jalr(m: Machine, i: Fields, pc: int) -> Decoded:
    x, rd, a, imm = m.x, i.rd, i.rs1, i.imm_i

    def step() -> int:
        target = (x[a] + imm) & MASK & ~1
        x[rd] = pc + 4
        return target

    return "jalr", step, -1


def _loop(m: Machine, i: Fields, pc: int) -> Decoded:
    """lp.setup: the body begins at the next instruction; its last one is twice the immediate from here."""
    x, a, last = m.x, i.rs1, pc + 2 * i.bits(31, 20)
    if i.funct3 != 0b100:
        return "", lambda: 0, -1
    number = i.rd & 1

    def step() -> int:
        if x[a] == 0:
            raise IllegalInstructionError(f"a hardware loop of no trips at {pc:#x}")
        m.loops[number], m.trips[number] = (pc + 4, last), x[a]
        return pc + 4

    return "lp.setup", step, -1


def _vector(m: Machine, i: Fields, pc: int) -> Decoded:
    x, a, b, d = m.x, i.rs1, i.rs2, i.rd
    table: dict[tuple[int, int], tuple[str, Callable[[], int]]] = {
        (0b1011100, 1): ("pv.sdotsp.b", lambda: dot(x[d], x[a], x[b], (True, True))),
        (0b1010000, 1): ("pv.sdotup.b", lambda: dot(x[d], x[a], x[b], (False, False))),
        (0b1010100, 1): ("pv.sdotusp.b", lambda: dot(x[d], x[a], x[b], (False, True))),
        (0b1100100, 1): ("pv.shuffle2.b", lambda: shuffle2(x[d], x[a], x[b])),
        (0b1011100, 0): ("pv.sdotsp.h", lambda: dot_halves(x[d], x[a], x[b])),
        (0b0100100, 6): ("pv.sra.sci.h", lambda: word_of_halves([half >> (2 * b) for half in halves_of(x[a])])),
        (0b1101000, 0): ("pv.pack.h", lambda: (x[a] & 0xFFFF) << 16 | x[b] & 0xFFFF),
        (0b1110000, 1): ("pv.packlo.b", lambda: x[d] & 0xFFFF0000 | (x[a] & 0xFF) << 8 | x[b] & 0xFF),
        (0b1101100, 1): ("pv.packhi.b", lambda: (x[a] & 0xFF) << 24 | (x[b] & 0xFF) << 16 | x[d] & 0xFFFF),
        (0b0000000, 1): ("pv.add.b", lambda: sum_of_bytes(x[a], x[b])),
        (0b0011000, 1): ("pv.max.b", lambda: larger(x[a], x[b], True)),
        (0b0011100, 1): ("pv.maxu.b", lambda: larger(x[a], x[b], False)),
    }
    return _to(m, i, pc, *table.get((i.funct7, i.funct3), ("", int)))


def _float_load(m: Machine, i: Fields, pc: int) -> Decoded:
    x, f, d, a, imm = m.x, m.f, i.rd, i.rs1, i.imm_i

    def step() -> int:
        f[d] = m.load((x[a] + imm) & MASK, 4, False)
        return pc + 4

    return "flw", step, 32 + d


def _float_store(m: Machine, i: Fields, pc: int) -> Decoded:
    x, f, b, a, imm = m.x, m.f, i.rs2, i.rs1, i.imm_s

    def step() -> int:
        m.store((x[a] + imm) & MASK, 4, f[b])
        return pc + 4

    return "fsw", step, -1


def _float(m: Machine, i: Fields, pc: int) -> Decoded:
    x, f, a, b, d = m.x, m.f, i.rs1, i.rs2, i.rd
    to_float: dict[int, tuple[str, Callable[[], int]]] = {
        0x00: ("fadd.s", lambda: computed(float_of(f[a]) + float_of(f[b]))),
        0x04: ("fsub.s", lambda: computed(float_of(f[a]) - float_of(f[b]))),
        0x08: ("fmul.s", lambda: computed(float_of(f[a]) * float_of(f[b]))),
        0x0C: ("fdiv.s", lambda: _slow(m, FLOAT_DIVIDE_CYCLES, computed(float_of(f[a]) / float_of(f[b])))),
        0x2C: ("fsqrt.s", lambda: _slow(m, FLOAT_DIVIDE_CYCLES, computed(np.sqrt(float_of(f[a]))))),
        0x68: ("fcvt.s.w", lambda: bits_of(np.float32(signed(x[a])))),
        0x78: ("fmv.w.x", lambda: x[a]),
        0x10: ("fsgnj.s", lambda: (f[a] & 0x7FFFFFFF) | ((f[b], ~f[b], f[a] ^ f[b])[i.funct3] & 0x80000000)),
        0x14: ("fminmax.s", lambda: smaller_or_larger(f[a], f[b], i.funct3 == 1)),
    }
    to_integer: dict[int, tuple[str, Callable[[], int]]] = {
        0x60: ("fcvt.w.s", lambda: integer_of(f[a], i.funct3)),
        0x70: ("fmv.x.w", lambda: f[a]),
        0x50: ("fcompare", lambda: int((np.less_equal, np.less, np.equal)[i.funct3](float_of(f[a]), float_of(f[b])))),
    }
    if i.funct7 in to_float:
        name, value = to_float[i.funct7]

        def step() -> int:
            f[d] = value() & MASK
            return pc + 4

        return name, step, 32 + d
    return _to(m, i, pc, *to_integer.get(i.funct7, ("", int)))


def _fused(m: Machine, i: Fields, pc: int) -> Decoded:
    """fmadd.s, fmsub.s, fnmsub.s, fnmadd.s: rounded once, by way of float64 (twice there in rare cases)."""
    f, a, b, c, d = m.f, i.rs1, i.rs2, i.bits(31, 27), i.rd
    product, addend = ((1, 1), (1, -1), (-1, 1), (-1, -1))[(i.opcode >> 2) & 3]

    def step() -> int:
        exact = product * np.float64(float_of(f[a])) * np.float64(float_of(f[b]))
        f[d] = computed(np.float32(exact + addend * np.float64(float_of(f[c]))))
        return pc + 4

    return "fmadd.s", step, 32 + d


_DECODERS: dict[int, Callable[[Machine, Fields, int], Decoded]] = {
    0x33: _register,
    0x13: _immediate,
    0x03: _load,
    0x0B: _post_load,
    0x23: _store,
    0x2B: _post_store,
    0x63: _branch,
    0x6F: _jal,
    0x67: _jalr,
    0x37: lambda m, i, pc: _to(m, i, pc, "lui", lambda: i.imm_u),
    0x17: lambda m, i, pc: _to(m, i, pc, "auipc", lambda: pc + i.imm_u),
    0x7B: _loop,
    0x5B: _sum_and_shift,
    0x57: _vector,
    0x07: _float_load,
    0x27: _float_store,
    0x53: _float,
    **dict.fromkeys((0x43, 0x47, 0x4B, 0x4F), _fused),
}
