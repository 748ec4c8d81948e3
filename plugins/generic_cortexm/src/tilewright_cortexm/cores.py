"""Knows the Cortex-M cores: what the compiler must be told, what hardware they have, what a typical chip adds.
Does not know kernels, nor how anything is emulated.

Sources: Arm's technical reference manuals of each core for units and the cache line; memory sizes are those of a
common chip of each kind, and only defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """One core. `macs_per_cycle` are estimates for each engine it has, in the order of `engines`."""

    name: str  # as in --set core=NAME
    title: str
    cpu: str  # as in -mcpu=
    fpu: str = ""  # as in -mfpu=; "" is none, "auto" what -mcpu says
    dsp: bool = False  # SMLAD and its family
    mve: bool = False  # Helium: 128-bit vectors, integer and float
    plain: str = ""  # the instruction set of a core without DSP, where kernels are written for it
    unaligned: bool = True  # word and halfword accesses may be unaligned
    cache_line_bytes: int = 0  # of the data cache; 0 is none
    ram_bytes: int
    flash_bytes: int
    macs_per_cycle: tuple[float, ...]

    @property
    def flags(self) -> tuple[str, ...]:
        """For gcc and clang.

        Unaligned words are named because clang, where there is no system, would avoid them. Where convolutions are
        portable C, which is inlined in every step, it must not unroll loops: code would be twice as large. With
        Helium, gcc would keep the four sums of a loop in a vector, through memory.
        """
        unit = () if self.fpu in ("", "auto") else (f"-mfpu={self.fpu}",)
        words = ("-munaligned-access",) if self.unaligned else ()
        loops = ("-fno-tree-slp-vectorize",) if self.mve else () if self.dsp else ("-fno-unroll-loops",)
        return ("-mthumb", f"-mcpu={self.cpu}", *unit, f"-mfloat-abi={'hard' if self.fpu else 'soft'}", *words, *loops)

    @property
    def engines(self) -> tuple[str, ...]:
        """What a kernel can ask to run on: `cpu`, `dsp` and `mve` where they are there, else `v6m` or `v7m`."""
        named = ((self.plain, bool(self.plain)), ("dsp", self.dsp), ("mve", self.mve))
        return ("cpu", *(name for name, there in named if there))


CORES = (
    Core(
        name="m0plus",
        title="Cortex-M0+",
        cpu="cortex-m0plus",
        plain="v6m",
        unaligned=False,
        ram_bytes=264 * KIB,
        flash_bytes=2048 * KIB,
        macs_per_cycle=(0.1, 0.25),
    ),
    Core(
        name="m3",
        title="Cortex-M3",
        cpu="cortex-m3",
        plain="v7m",
        ram_bytes=256 * KIB,
        flash_bytes=1024 * KIB,
        macs_per_cycle=(0.2, 0.3),
    ),
    Core(
        name="m4",
        title="Cortex-M4 with FPU",
        cpu="cortex-m4",
        fpu="fpv4-sp-d16",
        dsp=True,
        ram_bytes=256 * KIB,
        flash_bytes=1024 * KIB,
        macs_per_cycle=(0.2, 0.7),
    ),
    Core(
        name="m7",
        title="Cortex-M7 with FPU",
        cpu="cortex-m7",
        fpu="fpv5-d16",
        dsp=True,
        cache_line_bytes=32,
        ram_bytes=512 * KIB,
        flash_bytes=2048 * KIB,
        macs_per_cycle=(0.3, 1.2),
    ),
    Core(
        name="m33",
        title="Cortex-M33 with FPU and DSP",
        cpu="cortex-m33",
        fpu="fpv5-sp-d16",
        dsp=True,
        ram_bytes=512 * KIB,
        flash_bytes=2048 * KIB,
        macs_per_cycle=(0.2, 0.7),
    ),
    Core(
        name="m55",
        title="Cortex-M55 with Helium",
        cpu="cortex-m55",
        fpu="auto",
        dsp=True,
        mve=True,
        cache_line_bytes=32,
        ram_bytes=2048 * KIB,
        flash_bytes=2048 * KIB,
        macs_per_cycle=(0.25, 0.8, 4.0),
    ),
)


def core_named(name: str) -> Core:
    """The core of that name. KeyError when there is none."""
    return {core.name: core for core in CORES}[name]
