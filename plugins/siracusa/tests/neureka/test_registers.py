"""Registers of jobs are those with which GVSoC's model of the engine gave exact results."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tilewright.runners.toolchain import find_compiler
from tilewright_siracusa.kernels.sources import c_fragment

X, Y = 0x10010000, 0x10020000
JOBS: list[tuple[str, int, list[int]]] = [  # fields of a job, its conf, and registers from 5 on, behind addresses
    (
        "13, 10, 30, 40, 1, 1, 1, 1, 30, 300, 40, 400", 0x6948017,
        [0x1E, 0x12C, 0, 0x20, 0x28, 0x190, 0x20, 0x200, 0, 0x80002, 0x10004, 0x20005, 0x20002, 0x30002, 0x11110000],
    ),
    (
        "8, 8, 32, 32, 0, 0, 0, 0, 32, 256, 128, 1024", 0xD08047,
        [0x20, 0x100, 0, 0x20, 0x80, 0x400, 0x20, 0x20, 0, 0x200020, 0x20002, 0x20002, 0x10001, 0x20002, 0],
    ),
    (
        "16, 16, 64, 64, 1, 1, 1, 1, 64, 1024, 64, 1024", 0x2108037,
        [0x40, 0x400, 0, 0x20, 0x40, 0x400, 0x20, 0, 0, 0x80008, 0x40004, 0x50005, 0x30003, 0x30003, 0x11110000],
    ),
    (
        "1, 1, 640, 128, 0, 0, 0, 0, 640, 640, 128, 128", 0x2108057,
        [0x280, 0x280, 0, 0x20, 0x80, 0x80, 0x20, 0x280, 0, 0x200020, 0x10001, 0x10001, 0x40014, 0x10001, 0],
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("fields", "conf", "expected"), JOBS)
def test_they_are_those_of_jobs_that_were_run(tmp_path: Path, fields: str, conf: int, expected: list[int]) -> None:
    """3x3, 1x1 with sums of 32 bits, depthwise, fully connected."""
    job = c_fragment("neureka.c")
    text = "\n".join([*(need.text for need in (*job.needs[0].needs, *job.needs)), job.text])
    text = text.replace("    tw_neureka_run(registers);", "    show(registers);")
    main = f"""
int main(void)
{{
    const tw_neureka_job job = {{{fields}, {conf}u, -128}};
    (void)&tw_neureka_run;
    tw_neureka_start(job, (const void *){X}, (const void *)4096, (void *){Y}, (const void *)8192, (const void *)12288);
    return 0;
}}
"""
    head = """
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#define TW_KERNEL __attribute__((unused)) static
static void show(const uintptr_t *registers)
{
    for (int i = 0; i < 24; ++i) {
        printf("%lu\\n", (unsigned long)(registers[i] & 0xffffffffu));
    }
}
"""
    (tmp_path / "job.c").write_text(head + text + main, encoding="ascii")
    subprocess.run([*find_compiler().command, "-w", "-o", "job", "job.c", "-lm"], cwd=tmp_path, check=True)
    said = subprocess.run([str(tmp_path / "job")], capture_output=True, check=True, text=True).stdout
    registers = list(map(int, said.split()))
    top, left, x_column, x_row = (int(fields.split(", ")[at]) for at in (4, 5, 8, 9))
    assert registers[:6] == [4096, X - top * x_row - left * x_column, Y, 8192, 0, 12288]
    assert registers[6:21] == expected
    assert registers[21:] == [0xFFFFFF80, 0, conf]
