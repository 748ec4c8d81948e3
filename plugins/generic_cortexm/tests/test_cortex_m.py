"""The target `cortex-m` and its ready-configured forms, as an installed package offers them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import Platform
from tilewright.plugins import load_for, load_named
from tilewright_cortexm.cores import CORES, core_named
from tilewright_cortexm.cortex_m import TARGETS

CORE_NAMES = tuple(core.name for core in CORES)
WITH_FPU = {"m4", "m7", "m33", "m55"}
ROUNDING = """
#include <stdint.h>
#define TW_KERNEL static inline __attribute__((always_inline))
%s
int32_t round_it(float v, int32_t low, int32_t high);
int32_t round_it(float v, int32_t low, int32_t high) { return TW_ROUND_CLAMPED(v, low, high); }
"""


def configured(name: str, **settings: str) -> Platform:
    return load_named(("platform", name)).platforms[name].configure(settings)


@pytest.mark.parametrize("core", CORE_NAMES)
def test_a_core_is_a_setting_or_a_target_of_its_own(core: str) -> None:
    set_by_flag, by_name = configured("cortex-m", core=core), configured(f"cortex-{core}")
    assert set_by_flag.memories == by_name.memories
    assert set_by_flag.engines == by_name.engines
    assert set_by_flag.compile_flags == by_name.compile_flags
    assert f"-mcpu={core_named(core).cpu}" in by_name.compile_flags
    assert by_name.settings["core"] == core


def test_every_default_memory_is_a_hard_limit() -> None:
    for target in TARGETS:
        assert all(memory.size_bytes for memory in target.configure({}).memories), target.name


@pytest.mark.parametrize(
    ("core", "engines"),
    [
        ("m0plus", ["cpu", "v6m"]),
        ("m3", ["cpu", "v7m"]),
        ("m4", ["cpu", "dsp"]),
        ("m33", ["cpu", "dsp"]),
        ("m55", ["cpu", "dsp", "mve"]),
    ],
)
def test_units_are_engines(core: str, engines: list[str]) -> None:
    assert [engine.name for engine in configured("cortex-m", core=core).engines] == engines


@pytest.mark.parametrize("core", ["m7", "m55"])
def test_pools_are_aligned_to_the_cache_line(core: str) -> None:
    assert configured(f"cortex-{core}").memory("ram").align == 32


def test_a_core_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TilewrightError, match="m0plus, m3, m4") as refused:
        configured("cortex-m", core="m5")
    assert refused.value.exit_code is Exit.USAGE
    with pytest.raises(TilewrightError):
        configured("cortex-m4", core="m7")


def test_a_chip_that_traps_unaligned_words_gets_none() -> None:
    assert "-mno-unaligned-access" in configured("cortex-m4", unaligned="no").compile_flags
    assert "-mno-unaligned-access" not in configured("cortex-m4").compile_flags


def test_kernels_of_the_family_serve_every_member() -> None:
    """What is offered for `cortex-m` is loaded for `cortex-m4`, and what is for `cortex-m4` is not for others."""
    family, member = load_for(target="cortex-m"), load_for(target="cortex-m4")
    assert set(family.kernels) == set(member.kernels)
    platform = configured("cortex-m4")
    assert platform.runs("cortex-m") and platform.runs("cortex-m4") and platform.runs("*")
    assert not platform.runs("cortex-m7") and not platform.runs("generic")


@pytest.mark.parametrize("core", CORE_NAMES)
def test_rounding_takes_vcvtr_where_there_is_an_fpu(core: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    platform = configured(f"cortex-{core}")
    source = ROUNDING % platform.prelude
    if core not in WITH_FPU:
        source += "\n#ifdef TW_ROUND_CLAMPED\n#error\n#endif\n"
        source = source.replace("return TW_ROUND_CLAMPED(v, low, high)", "return (int32_t)v + low + high")
    (tmp_path / "round.c").write_text(source, encoding="ascii")
    command = [tool("arm-none-eabi-gcc"), "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    done = subprocess.run(
        [*command, *platform.compile_flags, "-O2", "-S", "-o", "-", "round.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ("vcvtr" in done.stdout) == (core in WITH_FPU)


@pytest.mark.parametrize(("wanted", "flash", "growth"), [
    ("auto", None, 0), ("none", None, 0), ("all", None, 1048576 - 80000 - 32768),
    ("auto", 200_000, 200_000 - 80000 - 32768), ("none", 200_000, 0), ("auto", 100_000, 0),
])  # fmt: skip
def test_constants_may_grow_by_what_is_left_of_a_limit_or_of_all_flash(
    wanted: str, flash: int | None, growth: int
) -> None:
    platform = configured("cortex-m4", speed_flash=wanted).with_limits({"flash": flash} if flash else {})
    assert platform.constant_growth is not None
    assert platform.constant_growth(platform, 80000) == growth


def test_flash_of_a_board_is_no_limit_of_the_network() -> None:
    platform = configured("cortex-m4")
    memories = tuple(replace(one, size_bytes=524288, machine_bytes=524288) for one in platform.memories)
    board = replace(platform, memories=memories)
    assert board.constant_growth is not None and board.constant_growth(board, 80000) == 0
    for wanted, least in (("auto", 0), ("all", 2**30)):
        unbounded = replace(configured("cortex-m4", speed_flash=wanted), memories=memories).resized({"flash": None})
        assert unbounded.constant_growth is not None and unbounded.constant_growth(unbounded, 80000) >= least
