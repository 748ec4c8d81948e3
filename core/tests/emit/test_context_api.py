"""The context API: documented errors, zero copy, hooks that abort."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tilewright.emit import EmitOptions

PREAMBLE = """
#include "toy.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static int wrong(int line)
{
    printf("line %d\\n", line);
    return 1;
}
#define EXPECT(condition) do { if (!(condition)) return wrong(__LINE__); } while (0)
static TW_ALIGNED(16) uint8_t ram[TOY_POOL_RAM_SIZE + 16];
static TW_ALIGNED(16) uint8_t blob[TOY_CONST_FLASH_SIZE + 16];
static TW_ALIGNED(16) const int8_t x[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static TW_ALIGNED(16) int8_t y[10];
static unsigned calls;
static int count(void *user, uint32_t step, tw_phase phase)
{
    calls += 1u;
    return user != NULL && step == *(const uint32_t *)user && phase == TW_STEP_END;
}
"""
COMMON = """
int main(void)
{
    toy_ctx ctx;
    toy_pools pools = {ram};
    toy_pools none = {NULL};
    toy_pools odd = {ram + 1};
    toy_constants other = {blob};
    toy_inputs in = {x};
    toy_outputs out = {y};
    int8_t expected[10];
    uint32_t stop = 1u;
    tw_hooks hooks = {NULL, count};
    memset(&ctx, 0, sizeof ctx);
    EXPECT(toy_run(&ctx, &in, &out) == TW_ERR_STATE);
    EXPECT(toy_reset_state(&ctx) == TW_ERR_STATE);
    EXPECT(toy_init(NULL, &pools, NULL, NULL, NULL) == TW_ERR_ARG);
    EXPECT(toy_init(&ctx, NULL, NULL, NULL, NULL) == TW_ERR_ARG);
    EXPECT(toy_init(&ctx, &none, NULL, NULL, NULL) == TW_ERR_ARG);
    EXPECT(toy_init(&ctx, &odd, NULL, NULL, NULL) == TW_ERR_ALIGN);
    EXPECT(toy_run(&ctx, &in, &out) == TW_ERR_STATE);
    EXPECT(toy_init(&ctx, &pools, NULL, &other, NULL) == TW_ERR_PLAN); /* all zero */
    memcpy(blob, toy_const_flash, TOY_CONST_FLASH_SIZE);
    blob[4] ^= 1u;
    EXPECT(toy_init(&ctx, &pools, NULL, &other, NULL) == TW_ERR_PLAN); /* another length */
    blob[4] ^= 1u;
    memcpy(blob + 1, toy_const_flash, TOY_CONST_FLASH_SIZE);
    other.flash = blob + 1;
    EXPECT(toy_init(&ctx, &pools, NULL, &other, NULL) == TW_ERR_ALIGN);
    memcpy(blob, toy_const_flash, TOY_CONST_FLASH_SIZE);
    other.flash = blob;
    EXPECT(toy_init(&ctx, &pools, NULL, &other, NULL) == TW_OK);
    EXPECT(toy_init(&ctx, &pools, NULL, NULL, &hooks) == TW_OK);
    EXPECT(toy_run(NULL, &in, &out) == TW_ERR_ARG);
    EXPECT(toy_run(&ctx, &in, &out) == TW_OK);
    EXPECT(calls == 2u * TOY_STEP_COUNT);
    memcpy(expected, y, sizeof expected);
    hooks.user = &stop;
    calls = 0u;
    EXPECT(toy_run(&ctx, &in, &out) == TW_ERR_ABORTED);
    EXPECT(calls == 4u);
    hooks.user = NULL;
"""
POOL = """
    {   /* every way to hand over tensors gives the same bytes */
        toy_mapped_inputs mapped = toy_map_inputs(&pools);
        toy_outputs there = toy_map_outputs(&pools);
        toy_inputs same = {mapped.mfcc_0};
        EXPECT(toy_map_inputs(NULL).mfcc_0 == NULL && toy_map_inputs(&none).mfcc_0 == NULL);
        EXPECT(toy_map_outputs(NULL).scores == NULL && toy_map_outputs(&none).scores == NULL);
        EXPECT((uint8_t *)mapped.mfcc_0 >= ram && (uint8_t *)mapped.mfcc_0 + 10 <= ram + TOY_POOL_RAM_SIZE);
        memcpy(mapped.mfcc_0, x, 10);
        EXPECT(toy_run(&ctx, NULL, NULL) == TW_OK);
        EXPECT(memcmp(there.scores, expected, 10) == 0);
        memcpy(mapped.mfcc_0, x, 10);
        memset(y, 0, 10);
        EXPECT(toy_run(&ctx, &same, &out) == TW_OK);
        EXPECT(memcmp(y, expected, 10) == 0);
        EXPECT(toy_run(&ctx, &in, &there) == TW_OK);
        EXPECT(memcmp(there.scores, expected, 10) == 0);
    }
    return 0;
}
"""
USER = """
    {
        toy_inputs no_in = {NULL};
        toy_outputs no_out = {NULL};
        EXPECT(toy_run(&ctx, NULL, &out) == TW_ERR_ARG);
        EXPECT(toy_run(&ctx, &in, NULL) == TW_ERR_ARG);
        EXPECT(toy_run(&ctx, &no_in, &out) == TW_ERR_ARG);
        EXPECT(toy_run(&ctx, &in, &no_out) == TW_ERR_ARG);
        EXPECT(x[0] == 1 && x[9] == 10);
    }
    return memcmp(y, expected, 10) != 0;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("io", ["pool", "user"])
@pytest.mark.parametrize("form", ["c", "incbin"])
def test_documented_answers(toy: Any, tmp_path: Path, io: str, form: Any) -> None:
    files = toy.write(toy.artifact(toy.program(toy.graph(), io=io), EmitOptions(const_format=form)), tmp_path / "toy")
    (tmp_path / "main.c").write_text(PREAMBLE + COMMON + (POOL if io == "pool" else USER))
    program = toy.build([files], tmp_path / "main.c", ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_constants_that_are_not_linked(toy: Any, tmp_path: Path) -> None:
    files = toy.write(toy.artifact(toy.program(toy.graph())), tmp_path / "toy")
    (files / "toy_weights.c").unlink()
    (tmp_path / "main.c").write_text(
        PREAMBLE + "int main(void)\n{\n    toy_ctx ctx;\n    toy_pools pools = {ram};\n"
        "    (void)x;\n    (void)y;\n    (void)blob;\n    (void)count;\n"
        "    EXPECT(toy_init(&ctx, &pools, NULL, NULL, NULL) == TW_ERR_ARG);\n    return 0;\n}\n"
    )
    program = toy.build([files], tmp_path / "main.c", ("-DTOY_NO_LINKED_CONSTANTS",))
    assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.parametrize("io", ["user", "pool"])
@pytest.mark.parametrize("odd", ["in.x", "out.y"])
def test_a_misaligned_tensor_of_the_caller(toy: Any, io: str, odd: str, tmp_path: Path) -> None:
    """In the plan, too, where it would only be copied; NULL is no address."""
    files = toy.write(toy.artifact(toy.program(toy.float_graph(), "floats", io=io)), tmp_path / "floats")
    kept = "    in.x = NULL;\n    out.y = NULL;\n    if (floats_run(&ctx, &in, &out) != TW_OK) return 2;\n"
    (tmp_path / "main.c").write_text(
        '#include "floats.h"\n#include <stddef.h>\n'
        "static TW_ALIGNED(16) uint8_t ram[FLOATS_POOL_RAM_SIZE];\n"
        "static TW_ALIGNED(16) uint8_t bytes[64];\n"
        "int main(void)\n{\n    floats_ctx ctx;\n    floats_pools pools = {ram};\n    floats_inputs in;\n"
        "    floats_outputs out;\n    static float x[16];\n    static float y[16];\n    void *odd = bytes + 1;\n"
        "    if (floats_init(&ctx, &pools, NULL, NULL, NULL) != TW_OK) {\n        return 1;\n    }\n"
        f"{kept if io == 'pool' else ''}"
        f"    in.x = x;\n    out.y = y;\n    {odd} = (float *)odd;\n"
        "    return floats_run(&ctx, &in, &out) != TW_ERR_ALIGN;\n}\n"
    )
    program = toy.build([files], tmp_path / "main.c")
    assert subprocess.run([program], check=False).returncode == 0
