"""Programs for the bare machine, from both compilers: where everything is, which instructions there are, what fits."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from networks import network_file
from tilewright.api.runner import elf_symbols
from tilewright.comparison.vectors import random_vectors
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import Job
from tilewright_riscv.programs import (
    COMMON,
    ELF,
    SHARED_SOURCES,
    STRICT,
    build,
    runtime_files,
    runtime_sources,
)
from tilewright_riscv.runners.gvsoc import program_sources, write_program
from tilewright_riscv.toolchains import CHOICE, Toolchain, gcc, missing_toolchain, zig
from tilewright_siracusa.machine import L1_BASE, L2_BASE, L2_BYTES
from tilewright_siracusa.metal import MACHINE
from tilewright_siracusa.platform import SIRACUSA

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
OBJDUMP, READELF = "riscv64-unknown-elf-objdump", "riscv64-unknown-elf-readelf"
TOOLCHAINS = {"gcc": gcc, "zig": zig}
LOAD = 1
FLOAT_ABI_SINGLE = 0x2
FLOAT_INSTRUCTION = re.compile(r"\t(f[a-z.]+|c\.f\w+)\t")


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("riscv64-unknown-elf-gcc", OBJDUMP, READELF):
        tool(name)


@pytest.fixture(params=TOOLCHAINS, name="toolchain")
def _toolchain(request: pytest.FixtureRequest) -> Toolchain:
    return TOOLCHAINS[request.param](MACHINE)


Built = Callable[[Toolchain, Deployment], Path]


@dataclass(frozen=True)
class Segment:
    """What a loader puts into memory."""

    address: int
    size: int
    stored: int


def segments(elf: bytes) -> list[Segment]:
    start, size, count = struct.unpack_from("<I", elf, 28)[0], *struct.unpack_from("<HH", elf, 42)
    heads = [struct.unpack_from("<8I", elf, start + index * size) for index in range(count)]
    return [Segment(address=head[2], size=head[5], stored=head[4]) for head in heads if head[0] == LOAD and head[5]]


@cache
def deployment(model: str = "digits_int8", l1: int = 64 << 10, **settings: str) -> Deployment:
    return Deployment(DIGITS / f"{model}.onnx", "siracusa", Options(settings=settings, memory={"l1": l1}))


def job_for(plan: Deployment) -> Job:
    drawn = random_vectors(plan.inputs, 1, seed=3)
    sets = tuple(one.inputs for one in drawn)
    return Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=sets)


@pytest.fixture(scope="session", name="built")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The folder of a program, each made once."""
    folders: dict[tuple[str, int], Path] = {}

    def built(toolchain: Toolchain, plan: Deployment) -> Path:
        key = (toolchain.name, id(plan))
        if key not in folders:
            folder = tmp_path_factory.mktemp("metal")
            job = job_for(plan)
            write_program(job, folder)
            build(MACHINE, toolchain, plan.bound.platform, folder, program_sources(job))
            folders[key] = folder
        return folders[key]

    return built


def said(*command: object) -> str:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"home": "l3"}, {"cores": "2", "stack": "768"}], ids=str)
@pytest.mark.parametrize("model", ["digits_int8", "digits_f32"])
def test_everything_is_where_the_machine_has_memory(
    model: str, settings: Mapping[str, str], toolchain: Toolchain, built: Built
) -> None:
    plan = deployment(model, **settings)
    folder = built(toolchain, plan)
    elf = (folder / ELF).read_bytes()
    names = {symbol.name: symbol.address for symbol in elf_symbols(elf)}
    entry, flags = struct.unpack_from("<I", elf, 24)[0], struct.unpack_from("<I", elf, 36)[0]
    assert entry == names["_start"] == L2_BASE
    assert flags & 0x6 == FLOAT_ABI_SINGLE
    loaded = segments(elf)
    assert loaded
    for one in loaded:
        assert one.stored == one.size, "a loader would have to clear memory"
        assert one.address >= L2_BASE
        assert one.address + one.size <= L2_BASE + L2_BYTES
    assert loaded[0].address <= entry < loaded[0].address + loaded[0].size
    cores, moving = int(settings.get("cores", "8")), plan.bound.platform.engines[0].dma_core
    stack = MACHINE.stacks.one_bytes(plan.bound.platform)
    l1_bytes = plan.platform.memory("l1").size_bytes
    assert names["tw_stacks"] == L1_BASE + l1_bytes - (cores + moving) * stack
    assert f".stacks           NOBITS          {names['tw_stacks']:08x}" in said(READELF, "-SW", folder / ELF)
    assert L2_BASE < names["tw_controller_stack"] <= L2_BASE + L2_BYTES
    assert "There are no relocations" in said(READELF, "-r", folder / ELF)
    assert not re.search(r" U \w", said("riscv64-unknown-elf-nm", folder / ELF))


def test_stacks_are_in_l2_where_l1_is_small(toolchain: Toolchain, built: Built) -> None:
    plan = deployment(l1=8 << 10)
    names = {symbol.name: symbol.address for symbol in elf_symbols((built(toolchain, plan) / ELF).read_bytes())}
    assert plan.platform.runtime_bytes == {"l1": 0}
    assert L2_BASE < names["tw_stacks"] <= names["tw_controller_stack"] - 8 * 1280
    assert names["tw_controller_stack"] <= L2_BASE + L2_BYTES


@pytest.mark.slow
def test_pools_are_in_the_memories_that_the_plan_says(toolchain: Toolchain, built: Built) -> None:
    plan = deployment(home="l3")
    folder = built(toolchain, plan)
    sections = {
        found[1]: (int(found[2], 16), int(found[3], 16))
        for found in re.finditer(r"\] (\.\w+) +NOBITS +(\w+) \w+ (\w+)", said(READELF, "-SW", folder / ELF))
    }
    used = {use.memory: use.used_bytes for use in plan.allocated.pools}
    assert sections[".l1"][0] == L1_BASE
    assert used["l1"] <= sections[".l1"][1] < used["l1"] + 64
    assert sections[".l3"][0] == plan.platform.memory("l3").base
    assert sections[".l3"][1] >= used["l3"] + used["weights"]


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["mram", "sram"])
def test_weights_of_the_engine_are_in_its_memory(memory: str, toolchain: Toolchain, built: Built) -> None:
    """Loaded, or left to NETWORK_init, which copies them from L2."""
    plan = deployment(engine="neureka", weight_memory=memory)
    folder = built(toolchain, plan)
    base = plan.platform.memory(memory).base
    assert f" {base:08x} " in next(
        line for line in said(READELF, "-SW", folder / ELF).splitlines() if f".{memory} " in line
    )
    used = {use.memory: use.used_bytes for use in plan.allocated.pools}
    beside = [one for one in segments((folder / ELF).read_bytes()) if one.address < L2_BASE]
    assert [(one.address, one.stored) for one in beside] == ([(base, used["mram"])] if memory == "mram" else [])
    readers = [use.kernel.name for use in plan.scheduled.bound.bindings.values() if use.kernel.name.endswith("_wmem")]
    copies = plan.artifact.files["digits_int8.c"].count(b"memcpy((uint8_t *)ctx->pools.sram_copies + ")
    assert copies == (len(readers) if memory == "sram" else 0)
    assert readers


@pytest.mark.slow
def test_a_pool_that_exceeds_its_memory_does_not_link(toolchain: Toolchain, tmp_path: Path) -> None:
    plan = deployment()
    job = job_for(plan)
    write_program(job, tmp_path)
    tight = plan.platform.with_limits({"l1": 256})
    with pytest.raises(TilewrightError) as refused:
        build(MACHINE, toolchain, tight, tmp_path, program_sources(job))
    assert refused.value.code == "TW7002"
    assert "L1" in str(refused.value)


ENCODINGS = {  # as a core decodes them: opcode, funct3, funct7 and immediate by hand
    "p.elw a0, 0(a1)": 0x0005E503,
    "p.lw a0, 4(a1!)": 0x0045A50B,
    "pv.sdotsp.b a0, a1, a2": 0xB8C59557,
    "p.mac a0, a1, a2": 0x42C58533,
    "lp.setup 0, a1, 6 instructions": 0x00C5C07B,
}
WRITTEN = """
__asm__(".section .words, \\"ax\\"\\n"
        ".insn i 0x03, 6, a0, a1, 0\\n"
        ".insn i 0x0b, 2, a0, a1, 4\\n"
        ".insn r 0x57, 1, 0x5c, a0, a1, a2\\n"
        ".insn r 0x33, 0, 0x21, a0, a1, a2\\n"
        ".insn i 0x7b, 4, x0, a1, 2 * (6)\\n");
"""


def test_instructions_of_the_cores_are_assembled_to_their_encodings(toolchain: Toolchain, tmp_path: Path) -> None:
    (tmp_path / "insn.c").write_text(WRITTEN, encoding="ascii")
    flags = [*toolchain.command, *toolchain.machine, *COMMON]
    subprocess.run([*flags, "-c", "-o", "insn.o", "insn.c"], cwd=tmp_path, check=True)
    subprocess.run(
        ["riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".words", "insn.o", "insn.bin"], cwd=tmp_path, check=True
    )
    words = struct.unpack("<5I", (tmp_path / "insn.bin").read_bytes())
    assert dict(zip(ENCODINGS, words, strict=True)) == ENCODINGS


def test_the_barrier_is_one_event_load(toolchain: Toolchain, built: Built) -> None:
    folder = built(toolchain, deployment())
    text = said(OBJDUMP, "-d", "--disassemble=tw_rt_barrier", "-M", "no-aliases", folder / ELF)
    words = [int(word, 16) for word in re.findall(r"\t\.(?:4byte|word)\t(0x\w+)", text)]
    assert [word & 0x707F for word in words] == [0x6003]


@pytest.mark.parametrize("name", [*SHARED_SOURCES, "boot.c", "copy.c", "external.c"])
def test_the_core_outside_the_cluster_meets_no_float(name: str, toolchain: Toolchain, built: Built) -> None:
    folder = built(toolchain, deployment())
    assert not FLOAT_INSTRUCTION.search(said(OBJDUMP, "-d", folder / f"runtime_{name}.o"))


def test_the_search_for_floats_finds_them(toolchain: Toolchain, built: Built) -> None:
    folder = built(toolchain, deployment("digits_f32"))
    assert FLOAT_INSTRUCTION.search(said(OBJDUMP, "-d", folder / "digits_f32.c.o"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["ad_int8", "kws_int8", "resnet8_int8", pytest.param("vww_int8", marks=pytest.mark.long), "resnet8_f32"]
)
def test_networks_build_and_fit(model: str, built: Built) -> None:
    plan = Deployment(network_file(model), "siracusa", Options(memory={"l1": 64 << 10}))
    folder = built((gcc if model != "resnet8_int8" else zig)(MACHINE), plan)
    for one in segments((folder / ELF).read_bytes()):
        assert one.address + one.size <= L2_BASE + L2_BYTES


def test_the_runtime_is_clean_for_its_own_tests_flags() -> None:
    assert {"-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"} <= set(STRICT)
    assert set(runtime_files(MACHINE)) >= {*runtime_sources(MACHINE), "metal.h", "machine.h"}
    assert runtime_sources(MACHINE)[0] == "start.S"
    told = ("-DTW_CORES=8", "-DTW_TEAM=9", "-DTW_STACK_BYTES=1280", "-DTW_FARTHER=0")
    assert MACHINE.stacks.macros(SIRACUSA) == told
    assert "LENGTH = 0x40000\n" in MACHINE.linker_script(SIRACUSA)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CHOICE, "gcc")
    assert missing_toolchain() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "gcc-riscv64-unknown-elf" in (missing_toolchain() or "")
    monkeypatch.setenv(CHOICE, "tcc")
    assert "'tcc'" in (missing_toolchain() or "")
