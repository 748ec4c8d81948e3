"""Knows Snitch's float unit: its queue, registers, streams, repetition, and when what it is given is done.
Does not know the integer core, nor other cores, nor contention for memory.

One instruction leaves the queue each cycle, in order, when what it reads is there. Numbers are those of the default
configuration of the cluster: three registers in the pipeline of multiply-add, so that a dependent instruction follows
four cycles later, and one in that of comparisons and conversions; sixteen instructions in the queue.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from float_numbers import (
    BOX,
    bits32,
    bits64,
    divided,
    double,
    fma32,
    fma64,
    integer,
    lane,
    lane_bits,
    larger,
    product,
    root,
    single,
    smaller,
)
from half_lanes import BOX as HALF_BOX
from half_lanes import FORMATS as HALVES
from half_lanes import from_single, lanes_of, to_single
from streams import FaultError, Stream
from timing import CLUSTER, Port, Timing

QUEUE = 16
FUSED_CYCLES, SIMPLE_CYCLES, LOAD_CYCLES, STREAM_CYCLES = 4, 2, 3, 3
DIVIDE_CYCLES = {32: 11, 64: 21}
WRITE_CYCLES = 4 * 8  # of four elements that wait, at worst behind all other cores at one bank
MOST_REPEATED = 16  # instructions in the buffer of the sequencer
LOADS, STORES, ARITHMETIC, FUSED = 0x07, 0x27, 0x53, (0x43, 0x47, 0x4B, 0x4F)
VECTOR = 0x33  # with the two highest bits 10


@dataclass(frozen=True)
class Operation:
    """A decoded instruction. Registers are numbers; `to_integer` is one of the integer core."""

    name: str
    reads: tuple[int, ...]
    writes: int  # -1: no float register
    compute: Callable[..., int]
    cycles: int
    products: int = 0
    to_integer: int = -1
    from_integer: int = -1
    size: int = 0  # bytes, of loads and stores
    offset: int = 0
    other: Callable[..., int] | None = None  # what it computes where floats of 16 bits have their other format


@dataclass(frozen=True)
class Format:
    """A float in a register, and the operations on it."""

    bits: int
    get: Callable[[int], float]
    put: Callable[[float], int]
    fma: Callable[[float, float, float], float]


FORMATS = {0: Format(32, single, bits32, fma32), 1: Format(64, double, bits64, fma64)}


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def is_float(word: int) -> bool:
    """Whether the integer core hands this on."""
    opcode = word & 0x7F
    return opcode in (LOADS, STORES, ARITHMETIC, *FUSED) or (opcode == VECTOR and word >> 30 == 2)


def decode(word: int) -> Operation:
    """FaultError for a word that this unit does not know."""
    opcode, rd, rs1, rs2 = word & 0x7F, word >> 7 & 31, word >> 15 & 31, word >> 20 & 31
    if opcode == LOADS:
        size, imm = 1 << (word >> 12 & 7), signed(word >> 20, 12)
        return Operation("fl", (), rd, _boxed(size), LOAD_CYCLES, from_integer=rs1, size=size, offset=imm)
    if opcode == STORES:
        size, imm = 1 << (word >> 12 & 7), signed(word >> 25 << 5 | rd, 12)
        return Operation("fs", (rs2,), -1, lambda value: value, 1, from_integer=rs1, size=size, offset=imm)
    found = _vector(word) if opcode == VECTOR else _fused(word) if opcode in FUSED else _plain(word)
    if found is None:
        raise FaultError(f"no instruction of floats: {word:08x}")
    return found


def _boxed(size: int) -> Callable[[int], int]:
    above = {2: HALF_BOX, 4: BOX, 8: 0}[size]
    return lambda value: value | above


def _fused(word: int) -> Operation:
    form, kind = FORMATS[word >> 25 & 3], (word & 0x7F) >> 2 & 3
    first, last = ((1, 1), (1, -1), (-1, 1), (-1, -1))[kind]
    get, put, fma = form.get, form.put, form.fma

    def compute(a: int, b: int, c: int) -> int:
        return put(fma(first * get(a), get(b), last * get(c)))

    reads = (word >> 15 & 31, word >> 20 & 31, word >> 27)
    return Operation("fmadd", reads, word >> 7 & 31, compute, FUSED_CYCLES, products=1)


def _half(word: int) -> Operation | None:
    """Conversions from and to floats of 16 bits."""
    names = {(0x20, 2): ("fcvt.s.h", to_single), (0x22, 0): ("fcvt.h.s", from_single)}
    found = names.get((word >> 25, word >> 20 & 31))
    if found is None:
        return None
    name, convert = found
    compute, other = map(convert, HALVES)
    return Operation(name, (word >> 15 & 31,), word >> 7 & 31, compute, SIMPLE_CYCLES, other=other)


def _plain(word: int) -> Operation | None:
    if word >> 25 == 0x22 or (word >> 25, word >> 20 & 31) == (0x20, 2):
        return _half(word)
    form, group, rs1, rs2 = FORMATS[word >> 25 & 3], word >> 27, word >> 15 & 31, word >> 20 & 31
    kind, rd = word >> 12 & 7, word >> 7 & 31
    get, put = form.get, form.put
    slow = DIVIDE_CYCLES[form.bits]
    two: dict[int, tuple[str, Callable[[float, float], float], int]] = {
        0: ("fadd", lambda a, b: a + b, FUSED_CYCLES),
        1: ("fsub", lambda a, b: a - b, FUSED_CYCLES),
        2: ("fmul", product, FUSED_CYCLES),
        3: ("fdiv", divided, slow),
        5: ("fminmax", larger if kind == 1 else smaller, SIMPLE_CYCLES),
    }
    if group in two:
        name, function, cycles = two[group]
        count = int(name == "fmul")
        return Operation(name, (rs1, rs2), rd, lambda a, b: put(function(get(a), get(b))), cycles, products=count)
    if group == 11:
        return Operation("fsqrt", (rs1,), rd, lambda a: put(root(get(a))), slow)
    if group == 4:
        return Operation("fsgnj", (rs1, rs2), rd, _signs(form, kind), SIMPLE_CYCLES)
    if group == 8:
        source = FORMATS[rs2 & 1]
        return Operation("fcvt", (rs1,), rd, lambda a: put(source.get(a)), SIMPLE_CYCLES)
    return _with_integers(word, form)


def _signs(form: Format, kind: int) -> Callable[[int, int], int]:
    top, all_bits = 1 << (form.bits - 1), (1 << form.bits) - 1
    high = BOX if form.bits == 32 else 0

    def compute(a: int, b: int) -> int:
        sign = (b, ~b, a ^ b)[kind] & top
        return (a & all_bits & ~top) | sign | high

    return compute


def _with_integers(word: int, form: Format) -> Operation | None:
    group, rs1, rs2 = word >> 27, word >> 15 & 31, word >> 20 & 31
    kind, rd, get, put = word >> 12 & 7, word >> 7 & 31, form.get, form.put
    if group == 20:
        compare = (lambda a, b: a <= b, lambda a, b: a < b, lambda a, b: a == b)[kind]
        return Operation(
            "fcompare", (rs1, rs2), -1, lambda a, b: int(compare(get(a), get(b))), SIMPLE_CYCLES, to_integer=rd
        )
    if group == 24:
        convert = lambda a: integer(get(a), kind, is_signed=rs2 == 0)  # noqa: E731
        return Operation("fcvt.w", (rs1,), -1, convert, SIMPLE_CYCLES, to_integer=rd)
    if group == 26:
        number = (lambda x: float(signed(x))) if rs2 == 0 else float
        return Operation("fcvt.f", (), rd, lambda x: put(number(x)), SIMPLE_CYCLES, from_integer=rs1)
    if group == 28 and kind == 0:
        return Operation("fmv.x.w", (rs1,), -1, lambda a: a & 0xFFFFFFFF, SIMPLE_CYCLES, to_integer=rd)
    if group == 30:
        return Operation("fmv.w.x", (), rd, lambda x: BOX | x, SIMPLE_CYCLES, from_integer=rs1)
    return None


_LANES: dict[int, tuple[str, Callable[[float, float], float], int]] = {
    1: ("vfadd.s", lambda a, b: a + b, FUSED_CYCLES),
    2: ("vfsub.s", lambda a, b: a - b, FUSED_CYCLES),
    3: ("vfmul.s", product, FUSED_CYCLES),
    5: ("vfmin.s", smaller, SIMPLE_CYCLES),
    6: ("vfmax.s", larger, SIMPLE_CYCLES),
}


def _vector(word: int) -> Operation | None:
    """Two float32; funct3 0: of both registers, 4: of the second one the lower one twice. 2, 6: four of 16 bits."""
    group, rs1, rs2, rd, kind = word >> 25 & 31, word >> 15 & 31, word >> 20 & 31, word >> 7 & 31, word >> 12 & 7
    if kind in (2, 6):
        return _half_lanes(group, (rs1, rs2), rd, repeated=kind == 6)
    if kind not in (0, 4):
        return None
    other = (lambda b: b) if kind == 0 else (lambda b: (b & 0xFFFFFFFF) * 0x1_00000001)
    if group == 8:

        def fused(a: int, b: int, c: int) -> int:
            b = other(b)
            low = lane_bits(fma32(lane(a), lane(b), lane(c)))
            return low | lane_bits(fma32(lane(a >> 32), lane(b >> 32), lane(c >> 32))) << 32

        return Operation("vfmac.s", (rs1, rs2, rd), rd, fused, FUSED_CYCLES, products=2)
    if group == 24 and kind == 0:
        pack = lambda a, b: lane_bits(single(a)) | lane_bits(single(b)) << 32  # noqa: E731
        return Operation("vfcpka.s.s", (rs1, rs2), rd, pack, SIMPLE_CYCLES)
    if group not in _LANES:
        return None
    name, function, cycles = _LANES[group]

    def both(a: int, b: int) -> int:
        b = other(b)
        return lane_bits(function(lane(a), lane(b))) | lane_bits(function(lane(a >> 32), lane(b >> 32))) << 32

    return Operation(name, (rs1, rs2), rd, both, cycles, products=2 * (name == "vfmul.s"))


def _half_lanes(group: int, reads: tuple[int, ...], rd: int, *, repeated: bool) -> Operation | None:
    found, other = (lanes_of(group, form, repeated=repeated) for form in HALVES)
    if found is None or other is None:
        return None
    cycles = SIMPLE_CYCLES if group in (5, 6) else FUSED_CYCLES
    given = (*reads, rd) if group == 8 else reads
    return Operation(found[0], given, rd, found[1], cycles, products=4 * (group in (3, 8)), other=other[1])


class FloatUnit:
    """Of one core. `load` and `store` reach its memory; times are cycles since reset."""

    def __init__(
        self, load: Callable[[int, int], int], store: Callable[[int, int, int], None], timing: Timing = CLUSTER
    ) -> None:
        self.load, self.store, self.timing = load, store, timing
        self.port = Port() if timing.one_port else None
        self.registers = [0] * 32
        self.ready = [0] * 32
        self.streams = [Stream(number) for number in range(3)]
        self.streaming = False
        self.other_halves = False  # floats of 16 bits are bfloat16
        self.arriving = 0  # when the last element of a stream is in memory
        self.free = 0  # when the next instruction may leave the queue
        self.left: deque[int] = deque([0] * QUEUE, maxlen=QUEUE)  # when the last ones did
        self.repeating: list[tuple[Operation, int]] | None = None
        self.wanted, self.times = 0, 0
        self.counts: Counter[str] = Counter()
        self.stalls = 0  # cycles in which an instruction waits for what it reads
        self.unseen: set[int] = set()  # addresses of words stored since the integer core last waited

    def room_at(self, now: int) -> int:
        """When the integer core may hand on an instruction."""
        return max(now, self.left[0])

    def repeat(self, times: int, count: int) -> None:
        """The next `count` instructions are executed `times` more."""
        if count > MOST_REPEATED or self.repeating is not None:
            raise FaultError(f"a repetition of {count} instructions")
        self.repeating, self.wanted, self.times = [], count, times

    def give(self, operation: Operation, value: int, now: int) -> int:
        """Execute; `value` is what it reads of the integer core. Returns what an integer register gets, else 0."""
        result = self._issue(operation, value, now, queued=True)
        if self.repeating is not None:
            if operation.to_integer >= 0 or operation.from_integer >= 0:
                raise FaultError(f"{operation.name} cannot be repeated")
            self.repeating.append((operation, value))
            if len(self.repeating) == self.wanted:
                body, self.repeating = self.repeating, None
                for _ in range(self.times):
                    for again, given in body:
                        self._issue(again, given, now, queued=False)
        return result

    def demand_idle(self, now: int) -> None:
        """FaultError where it may still be at work: streams are its own then."""
        if self.free > now + 1:
            raise FaultError("streams are changed while the float unit works: wait for it first")

    def done(self, number: int, now: int) -> bool:
        """Whether a stream has no elements left, those included that are on their way to memory."""
        return not self.streams[number].dimensions and now > self.arriving

    def switch(self, on: bool, now: int) -> None:
        """Streams on or off. FaultError where elements are left."""
        if not on and any(stream.dimensions for stream in self.streams):
            raise FaultError("streams end while elements are left")
        if not on and self.arriving > now:
            raise FaultError("streams end while elements are on their way to memory: they are lost")
        self.streaming = on

    def _issue(self, operation: Operation, value: int, now: int, *, queued: bool) -> int:
        start = max(self.free, now + 1)
        wanted = start
        values, emptied = [], []
        for register in operation.reads:
            if self.streaming and register < 3:
                wanted = max(wanted, self._arrival(register))
                values.append(self.load(self.streams[register].next(writes=False), 8))
                if not self.streams[register].given:
                    emptied.append(self.streams[register])
            else:
                values.append(self.registers[register])
                wanted = max(wanted, self.ready[register])
        if operation.size and operation.writes >= 0:
            wanted = self.passed(wanted)
        for stream in emptied:
            stream.used.append(wanted)
        self.stalls += wanted - start
        self.free = wanted + self._taken(operation)
        if queued:
            self.left.append(wanted)
        self.counts[operation.name] += 1
        self.counts["products"] += operation.products
        return self._finish(operation, value, values, wanted)

    def _arrival(self, number: int) -> int:
        """When a stream's next element is there."""
        stream, first = self.streams[number], self.ready[number]
        if self.port is None or stream.given:
            return first
        return self.passed(max(first - STREAM_CYCLES, stream.used[0])) + STREAM_CYCLES - 1

    def passed(self, cycle: int) -> int:
        """When what is asked for in this cycle passes the port."""
        return self.port.pass_at(cycle) if self.port else cycle

    def _taken(self, operation: Operation) -> int:
        """Cycles until the next instruction may leave the queue."""
        if operation.name == "fminmax":
            return self.timing.limits
        return self.timing.packed_limits if operation.name in ("vfmin.s", "vfmax.s", "vfmin.h", "vfmax.h") else 1

    def _finish(self, operation: Operation, value: int, values: list[int], start: int) -> int:
        if operation.size:
            address = (value + operation.offset) & 0xFFFFFFFF
            if operation.writes < 0:
                self.store(address, operation.size, values[0])
                self.unseen.update(range(address & ~3, address + operation.size, 4))
                return 0
            values = [self.load(address, operation.size)]
        elif operation.from_integer >= 0:
            values = [value]
        compute = operation.other if self.other_halves and operation.other else operation.compute
        result = compute(*values)
        if operation.to_integer >= 0:
            self.free = max(self.free, start + operation.cycles)
            return result
        if operation.name in ("fdiv", "fsqrt"):
            self.free = start + operation.cycles
        self._write(operation, result, start)
        return 0

    def _write(self, operation: Operation, result: int, start: int) -> None:
        if self.streaming and operation.writes < 3:
            address = self.streams[operation.writes].next(writes=True)
            self.store(address, 8, result)
            self.arriving = start + operation.cycles + WRITE_CYCLES
            self.unseen.update((address, address + 4))
            return
        self.registers[operation.writes] = result
        self.ready[operation.writes] = start + operation.cycles
