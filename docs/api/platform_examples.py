# %% before all examples
from collections.abc import Mapping
from dataclasses import replace

from tilewright.api.kernel import ShiftUnit
from tilewright.api.platform import (
    Arithmetic,
    Board,
    CopyPath,
    Engine,
    FlashWaits,
    InstructionCosts,
    Memory,
    MemoryHierarchy,
    Option,
    Platform,
    read_board_family,
    shift_arithmetic,
)

# %% Memory
# The sizes are what a program may use at most. `kind="const"` holds weights.
dram = Memory(name="dram", size_bytes=4 << 20, bytes_per_cycle=2.0, latency_cycles=60.0)
pad = Memory(name="pad", size_bytes=32 << 10, bytes_per_cycle=16.0)
rom = Memory(name="rom", size_bytes=2 << 20, kind="const")
assert rom.lets("vectors", "ro")
assert not rom.lets("vectors", "rw")

# %% Engine
vectors = Engine(name="vectors", cores=4, operations_per_cycle=16.0, call_cycles=120.0)

# %% InstructionCosts
# A core whose instructions were counted: a call that executes 1,000 takes 1,400 cycles. Reports show both.
counted = InstructionCosts(
    executed=lambda kernel, tile: 1000.0,
    cycles_each=lambda kernel: 1.4,
    row_call=90.0,
    row_call_of_portable=120.0,
    moved_byte=0.5,
    overhead_cycles_each=1.6,
    stack_bytes=lambda kernel: 256,
    row_stack_bytes=88,
)
core = Engine(name="cpu", instructions=counted)
assert counted.counted().overhead_cycles_each == 1.0

# %% CopyPath
# What moves tiles. `cycles` is what a copy of so many bytes, in so many rows, is estimated to take.
ways = (("dram", "pad"), ("pad", "dram"), ("rom", "pad"))
copies = tuple(
    CopyPath(source=source, target=target, max_bytes=4080, cycles=lambda size_bytes, rows: 30.0 * rows + size_bytes / 8)
    for source, target in ways
)
assert copies[0].cycles(64, 2) == 68.0


# %% Option
# A setting of the target: `--set speed=fast`. What follows from it, `Platform.configure_with` works out.
speed = Option(name="speed", help="of the DRAM", default="slow", choices=("slow", "fast"))


def with_speed(platform: Platform, settings: Mapping[str, str]) -> Platform:
    faster = replace(dram, bytes_per_cycle=8.0)
    return replace(platform, memories=(faster, pad, rom)) if settings["speed"] == "fast" else platform


# %% Arithmetic, shift_arithmetic
# What the vector unit computes behind a sum: `--arithmetic acme` lets every integer layer compute that.
acme_shift: Arithmetic = shift_arithmetic(
    "acme", "multiplies with 8 bits, adds, shifts, and rounds down", ShiftUnit(multiplier_bits=8, rounding="floor")
)
assert ("QConv", 8) in acme_shift.functions

# %% Platform
# Values live in `home` and are computed in `near`: a machine with both is one whose networks are tiled.
acme = Platform(
    name="acme-tile",
    summary="Acme Tile: four vector cores, 32 KiB of scratchpad",
    memories=(dram, pad, rom),
    engines=(vectors,),
    copies=copies,
    backing="dram",
    inner="pad",
    runtime_bytes={"pad": 1024},  # four stacks
    runners=("twin",),
    arithmetics=(acme_shift,),
    options=(speed,),
    configure_with=with_speed,
)
assert acme.plan_bytes("pad") == 31 << 10
assert acme.with_limits({"pad": 16 << 10}).plan_bytes("pad") == 15 << 10
assert acme.configure({"speed": "fast"}).backing_memory().bytes_per_cycle == 8.0

# What nobody chose may be a question of time: each of these is planned with, and the fastest plan is taken.
asking = replace(acme, rivals=lambda platform: ({"speed": "slow"}, {"speed": "fast"}))
assert asking.rivals is not None
assert len(asking.rivals(asking)) == 2

# %% MemoryHierarchy
# Other memories for a target that somebody else has: a board with more DRAM.
board = MemoryHierarchy(
    name="acme-board",
    summary="Acme Tile on a board with 16 MiB",
    platform="acme-tile",
    memories=(replace(dram, size_bytes=16 << 20), pad, rom),
    copies=copies,
)
assert board.on(acme).memory("dram").size_bytes == 16 << 20

# %% Board, read_board_family
# Parts and boards that `--board` finds by name: a family in TOML, read and checked.
FAMILY = b"""
[source.acme]
repository = "https://acme.example/sdk"
licence = "Apache-2.0"

[[part]]
name = "acme1f4"
target = "cortex-m4"
memory = [{ name = "ram", size = "64K" }]
sources = { memory = "acme:linker/acme1f4.ld" }
"""
(acme1f4,) = read_board_family(FAMILY, "acme.toml")
assert isinstance(acme1f4, Board)
assert (acme1f4.name, acme1f4.target, acme1f4.memories[0].size_bytes) == ("acme1f4", "cortex-m4", 65536)

# %% FlashWaits
# How many wait states the flash of a part needs at a clock, and none where that is higher than is allowed.
waits = FlashWaits(up_to_hz=(30_000_000, 60_000_000, 90_000_000), condition="supply 2.7 V to 3.6 V")
assert (waits.at(48_000_000), waits.at(90_000_000), waits.at(100_000_000)) == (1, 2, None)
