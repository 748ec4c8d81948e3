"""xpulp.h and words.h: every instruction is the word that the manual gives it, and does what its portable form does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from iss_run import CODE, image_of
from xpulp_iss import Machine

from tilewright.operators.c_code.c_source import c_fragment as core_section
from tilewright.runners.toolchain import find_compiler
from tilewright_siracusa.kernels.sources import c_fragment

PRELUDE = f"#include <stdint.h>\n#include <string.h>\n{core_section('prelude.h').text}\n"
XPULP = f"{c_fragment('xpulp.h').text}\n{c_fragment('words.h').text}"
# opcode 0x57: funct7 and funct3 of the vector instructions; 0x33: of the scalar ones; 0x0b, 0x2b: loads and stores
WORDS = {
    "TW_XP_LW(a0, a1, 4)": 0x004 << 20 | 11 << 15 | 2 << 12 | 10 << 7 | 0x0B,
    "TW_XP_LW_BY(a0, a1, a2)": 0b0010000 << 25 | 12 << 20 | 11 << 15 | 7 << 12 | 10 << 7 | 0x0B,
    "TW_XP_LB_BY(a0, a1, a2)": 0b0000000 << 25 | 12 << 20 | 11 << 15 | 7 << 12 | 10 << 7 | 0x0B,
    "TW_XP_LBU_BY(a0, a1, a2)": 0b0100000 << 25 | 12 << 20 | 11 << 15 | 7 << 12 | 10 << 7 | 0x0B,
    "TW_XP_SB_BY(a0, a1, a2)": 10 << 20 | 11 << 15 | 4 << 12 | 12 << 7 | 0x2B,
    "TW_XP_SW_BY(a0, a1, a2)": 10 << 20 | 11 << 15 | 6 << 12 | 12 << 7 | 0x2B,
    "TW_XP_SDOTSP(a0, a1, a2)": 0xB8C59557,
    "TW_XP_SDOTUP(a0, a1, a2)": 0b1010000 << 25 | 12 << 20 | 11 << 15 | 1 << 12 | 10 << 7 | 0x57,
    "TW_XP_SDOTUSP(a0, a1, a2)": 0b1010100 << 25 | 12 << 20 | 11 << 15 | 1 << 12 | 10 << 7 | 0x57,
    "TW_XP_SDOTSP_H(a0, a1, a2)": 0b1011100 << 25 | 12 << 20 | 11 << 15 | 0 << 12 | 10 << 7 | 0x57,
    "TW_XP_SRA_H(a0, a1)": 0b0100100 << 25 | 4 << 20 | 11 << 15 | 6 << 12 | 10 << 7 | 0x57,
    "TW_XP_MAC(a0, a1, a2)": 0x42C58533,
    "TW_XP_MAX(a0, a1, a2)": 0b0000010 << 25 | 12 << 20 | 11 << 15 | 6 << 12 | 10 << 7 | 0x33,
    "TW_XP_MIN(a0, a1, a2)": 0b0000010 << 25 | 12 << 20 | 11 << 15 | 4 << 12 | 10 << 7 | 0x33,
    "TW_XP_CLIP_I8(a0, a1)": 0b0001010 << 25 | 8 << 20 | 11 << 15 | 1 << 12 | 10 << 7 | 0x33,
    "TW_XP_CLIP_U8(a0, a1)": 0b0001010 << 25 | 9 << 20 | 11 << 15 | 2 << 12 | 10 << 7 | 0x33,
    "TW_XP_SHUFFLE2(a0, a1, a2)": 0b1100100 << 25 | 12 << 20 | 11 << 15 | 1 << 12 | 10 << 7 | 0x57,
    "TW_XP_PACK(a0, a1, a2)": 0b1101000 << 25 | 12 << 20 | 11 << 15 | 10 << 7 | 0x57,
    "TW_XP_PACK_LOW(a0, a1, a2)": 0b1110000 << 25 | 12 << 20 | 11 << 15 | 1 << 12 | 10 << 7 | 0x57,
    "TW_XP_PACK_HIGH(a0, a1, a2)": 0b1101100 << 25 | 12 << 20 | 11 << 15 | 1 << 12 | 10 << 7 | 0x57,
    "TW_XP_ADD_BYTES(a0, a1, a2)": 0b0000000 << 25 | 12 << 20 | 11 << 15 | 1 << 12 | 10 << 7 | 0x57,
    "TW_XP_ADD_SRA(a0, a1, a2)": 0b0100000 << 25 | 12 << 20 | 11 << 15 | 2 << 12 | 10 << 7 | 0x5B,
}
FUNCTIONS = {  # of words a, b, c; returns a word
    "sdot_ss": "(uint32_t)tw_xp_sdot_ss((int32_t)a, b, c)",
    "sdot_uu": "(uint32_t)tw_xp_sdot_uu((int32_t)a, b, c)",
    "sdot_us": "(uint32_t)tw_xp_sdot_us((int32_t)a, b, c)",
    "sdot_hh": "(uint32_t)tw_xp_sdot_hh((int32_t)a, b, c)",
    "upper_bytes": "tw_xp_upper_bytes(a)",
    "high": "(uint32_t)tw_xp_high((int32_t)a, (int32_t)b)",
    "sra": "(uint32_t)tw_xp_sra((int32_t)a, (int32_t)(b & 31))",
    "shuffle": "tw_xp_shuffle(a, b, c & 0x07070707)",
    "pack": "tw_xp_pack(a, b)",
    "max_i8": "tw_xp_max_i8(a, b)",
    "max_u8": "tw_xp_max_u8(a, b)",
    "clip_i8": "(uint32_t)tw_xp_clip_i8((int32_t)a >> (b & 31))",
    "clip_u8": "(uint32_t)tw_xp_clip_u8((int32_t)a >> (b & 31))",
    "limited": "(uint32_t)tw_xp_limited((int32_t)a >> 22, -(int32_t)(b & 255), (int32_t)(c & 255))",
    "rounded": "(uint32_t)tw_xp_rounded((float)(int32_t)a * 0x1p-24f, -100, 100)",
}


def assembled(words: list[str], folder: Path, compiler: list[str]) -> list[int]:
    """The instruction words that these macros become, none compressed."""
    source, target = folder / "words.c", folder / "words.o"
    lines = "\n".join(f'    __asm__ volatile({word} ::: "memory");' for word in words)
    text = f"{PRELUDE}{XPULP}\nvoid tw_words(void);\nvoid tw_words(void)\n{{\n{lines}\n}}\n"
    source.write_text(text.replace("#include <string.h>", "void *memcpy(void *, const void *, unsigned long);"))
    subprocess.run([*compiler, "-DTW_XPULP", "-O1", "-ffreestanding", "-c", "-o", target, source], check=True)
    listing = subprocess.run(
        ["riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases", target], check=True, capture_output=True, text=True
    ).stdout
    codes = re.findall(r"^\s+[0-9a-f]+:\s+([0-9a-f]{8}|[0-9a-f]{4})\s", listing, re.M)
    return [int(code, 16) for code in codes if len(code) == 8]


def compilers() -> dict[str, list[str]]:
    target = "riscv32-freestanding-none"
    return {
        "gcc": ["riscv64-unknown-elf-gcc", "-march=rv32imfc", "-mabi=ilp32f"],
        "zig": [sys.executable, "-m", "ziglang", "cc", "-target", target, "-mcpu=generic_rv32+m+f+c", "-mabi=ilp32f"],
    }


@pytest.mark.parametrize("name", compilers())
def test_encodings(name: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-objdump")
    if name == "zig" and find_spec("ziglang") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the wheel ziglang is not installed")
    found = assembled(list(WORDS), tmp_path, compilers()[name])
    assert [f"{word:08x}" for word in found] == [f"{word:08x}" for word in WORDS.values()]


def test_hardware_loops(tmp_path: Path, tool: Callable[[str], str]) -> None:
    """The end of a loop is its last instruction, counted in halves of an instruction from lp.setup."""
    tool("riscv64-unknown-elf-gcc")
    text = f"""{PRELUDE.replace("#include <string.h>", "void *memcpy(void *, const void *, unsigned);")}{XPULP}
int32_t tw_test(int32_t outer, int32_t inner);
int32_t tw_test(int32_t outer, int32_t inner)
{{
    int32_t sum = 0;
    __asm__ volatile(TW_XP_LOOPS(2, 2) "addi %[sum], %[sum], 1\\n\\tnop\\n\\t" "addi %[sum], %[sum], 100\\n\\tnop\\n\\t"
        TW_XP_LOOP_END : [sum] "+r"(sum) : [outer] "r"(outer), [inner] "r"(inner));
    __asm__ volatile(TW_XP_LOOP(2) "addi %[sum], %[sum], 1000\\n\\tnop\\n\\t" TW_XP_LOOP_END
        : [sum] "+r"(sum) : [trips] "r"(inner));
    return sum;
}}
"""
    image, entry = image_of(text, tmp_path)
    for outer, inner in ((1, 1), (3, 1), (1, 5), (4, 7)):
        machine = Machine(bytearray(1 << 20))
        machine.memory[CODE : CODE + len(image)] = image
        assert machine.run(entry, (outer, inner)) == outer * (inner + 100) + 1000 * inner


def test_portable_and_xpulp_forms_agree(tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Each function on random words: compiled for this machine, and executed on the simulated core."""
    tool("riscv64-unknown-elf-gcc")
    tool("cc")
    cases = "\n".join(f"    out[{index}] = {call};" for index, call in enumerate(FUNCTIONS.values()))
    body = f"""{XPULP}
void tw_test(uint32_t a, uint32_t b, uint32_t c, uint32_t *out);
void tw_test(uint32_t a, uint32_t b, uint32_t c, uint32_t *out)
{{
{cases}
}}
"""
    rng = np.random.default_rng(3)
    words = np.concatenate(
        [rng.integers(0, 2**32, (60, 3)), rng.choice([0, 0x80808080, 0x7F7F7F7F, 2**32 - 1], (40, 3))]
    )
    loop = "\n".join(
        f'    tw_test({a}u, {b}u, {c}u, out); for (int i = 0; i < {len(FUNCTIONS)}; ++i) printf("%u ", out[i]);'
        for a, b, c in words.tolist()
    )
    host = f"{PRELUDE}#include <stdio.h>\n{body}int main(void)\n{{\n    uint32_t out[{len(FUNCTIONS)}];\n{loop}\n}}\n"
    (tmp_path / "host.c").write_text(host)
    subprocess.run(
        [*find_compiler().command, "-std=c11", "-O1", "-o", tmp_path / "host", tmp_path / "host.c"], check=True
    )
    expected = subprocess.run([tmp_path / "host"], check=True, capture_output=True, text=True).stdout.split()
    freestanding = PRELUDE.replace("#include <string.h>", "void *memcpy(void *, const void *, unsigned);")
    image, entry = image_of(freestanding + body, tmp_path)
    found = []
    for a, b, c in words.tolist():
        machine = Machine(bytearray(1 << 20))
        machine.memory[CODE : CODE + len(image)] = image
        machine.run(entry, (a, b, c, 0x8000))
        out = np.frombuffer(machine.memory, np.uint32, len(FUNCTIONS), 0x8000)
        found += [str(word) for word in out]
    names = [name for _ in words for name in FUNCTIONS]
    wrong = {name for name, one, other in zip(names, found, expected, strict=True) if one != other}
    assert wrong == set()
