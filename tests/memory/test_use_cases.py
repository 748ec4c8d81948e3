"""The three uses of a unified memory planner, end to end: compiled, linked, looked at, run."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.comparison.reference import run
from tilewright.config.memory_pools import parse_pool, with_pools

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
LOOP = """
static float image[DIGITS_INT8_IN_IMAGE_ELEMENTS];
static float scores[DIGITS_INT8_OUT_SCORES_ELEMENTS];

#include <stdio.h>

int main(void)
{
    while (fread(image, sizeof image, 1, stdin) == 1) {
        if (infer(image, scores) != TW_OK || fwrite(scores, sizeof scores, 1, stdout) != 1) {
            return 1;
        }
    }
    return 0;
}
"""


POOLS = (
    "dtcm:300,section=.dtcm_bss",
    "sram:4K,section=.sram_bss",
    "itcm:400,ro,section=.itcm_rodata",
    "qspi:1M,ro,section=.qspi_rodata",
)
CONTEXT = """
#include "digits_int8.h"
static __attribute__((section(".dtcm_bss"))) TW_ALIGNED(16) uint8_t dtcm[DIGITS_INT8_POOL_DTCM_SIZE];
static __attribute__((section(".sram_bss"))) TW_ALIGNED(16) uint8_t sram[DIGITS_INT8_POOL_SRAM_SIZE];
static tw_status infer(const float *from, float *to)
{
    const digits_int8_pools pools = {dtcm, sram};
    const digits_int8_inputs in = {from};
    const digits_int8_outputs out = {to};
    digits_int8_ctx ctx;
    const tw_status status = digits_int8_init(&ctx, &pools, NULL, NULL, NULL);
    return status == TW_OK ? digits_int8_run(&ctx, &in, &out) : status;
}
"""


def demand_right(program: Path, deployment: Any) -> None:
    images = np.load(DIGITS / "digits_test.npz")["images"][:20].astype(np.float32)
    said = subprocess.run([str(program)], input=images.tobytes(), check=True, capture_output=True).stdout
    got = np.frombuffer(said, np.float32).reshape(20, 10)
    for image, row in zip(images, got, strict=True):
        known = run(deployment.graph, {"image": image[None]}, deployment.registry.operators)
        np.testing.assert_array_equal(row, known["scores"].ravel())


def test_internal_workspace(bench: Any, sections: Callable[[Path], dict[str, int]]) -> None:
    """U1: one call, memory inside; what the program takes of RAM is the plan, to the byte."""
    deployment = bench.deployment()
    program = bench.linked(deployment, '#include "digits_int8.h"\n#define infer digits_int8' + LOOP)
    demand_right(program, deployment)
    used = {pool.memory: pool.used_bytes for pool in deployment.allocated.pools}
    objects = {path.name: sections(path) for path in (bench.folder / "c").glob("*.o")}
    assert objects["digits_int8_simple.o"][".bss.tw.ram"] == used["ram"]
    assert objects["digits_int8_weights.o"][".rodata.tw.digits_int8.flash"] == used["flash"]


def test_no_operator_has_memory_outside_the_plan(bench: Any) -> None:
    """G1: no heap, no writable bytes of the library's own beside the simple API's pool."""
    for path in bench.object_files(bench.deployment()):
        text = subprocess.run(["nm", str(path)], check=True, capture_output=True, text=True).stdout
        assert not any(name in text for name in ("malloc", "calloc", "free", "alloca"))
        if path.name == "digits_int8.o":
            assert not [line for line in text.splitlines() if line.split()[-2] in "bBdD"]


def test_buffers_and_constants_in_different_memories(
    bench: Any, sections: Callable[[Path], dict[str, int]], symbols: Callable[[Path], dict[str, str]]
) -> None:
    """U3: small pools preferred, larger ones behind them, pins, and a section for each."""
    pins = (("conv1", "sram"), ("conv2.weight_quantized", "qspi"), ("image", "sram"))
    deployment = bench.deployment(pools=tuple(map(parse_pool, POOLS)), memory_pins=pins)
    plan = deployment.allocated
    used = {pool.memory: pool.used_bytes for pool in plan.pools}
    assert all(used.values())
    assert used["dtcm"] <= 300
    assert used["itcm"] <= 400
    storage = plan.tiled.scheduled.storage
    assert plan.placements[storage["r1_QuantizeLinear_Output"].buffer].memory == "sram"
    assert plan.placements[storage["image"].buffer].memory == "sram"
    assert plan.placements["conv2.W"].memory == "qspi"

    for head in ('#include "digits_int8.h"\n#define infer digits_int8', CONTEXT):
        program = bench.linked(deployment, head + LOOP)
        demand_right(program, deployment)
        found, where = sections(program), symbols(program)
        assert found[".itcm_rodata"] == used["itcm"]
        assert found[".qspi_rodata"] == used["qspi"]
        assert where["digits_int8_const_itcm"] == ".itcm_rodata"
        assert where["digits_int8_const_qspi"] == ".qspi_rodata"
        assert found[".dtcm_bss"] >= used["dtcm"]
        assert found[".sram_bss"] >= used["sram"]


def test_the_pools_of_the_rfc(bench: Any) -> None:
    """`--usmp-workspace-pools=dtcm,sram --usmp-workspace-pool-dtcm="target=c;size=300"` and so on, as pools."""
    pools = tuple(map(parse_pool, ("dtcm:300", "sram", "itcm:400,ro", "flash,ro")))
    deployment = bench.deployment(pools=pools)
    assert [memory.name for memory in deployment.platform.memories] == ["dtcm", "sram", "itcm", "flash"]
    assert deployment.worst_case_buffer_size["dtcm"] <= 300
    assert deployment.worst_case_buffer_size["sram"] > 0
    assert with_pools(deployment.platform, ()) is deployment.platform
    bench.demand_exact(deployment, 2)


def test_the_next_memory_is_used_exactly_when_the_first_is_full(bench: Any) -> None:
    """One byte less in the preferred pool, and something moves; with enough of it nothing is elsewhere."""
    whole = bench.deployment().allocated.pools[0].used_bytes

    def used(size: int) -> dict[str, int]:
        pools = (parse_pool(f"dtcm:{size}"), parse_pool("sram"))
        return dict(bench.deployment(pools=pools).worst_case_buffer_size)

    assert (used(whole)["dtcm"], used(whole)["sram"]) == (whole, 0)
    less = used(whole - 1)
    assert 0 < less["sram"] < whole
    assert less["dtcm"] <= whole - 1


def test_what_has_moved_comes_back_where_it_has_room(bench: Any) -> None:
    """No buffer is away from the preferred pool that fits into it beside what is there: tried one by one."""
    from tilewright.errors import TilewrightError
    from tilewright.ir.plans.decisions import Decisions

    for size in (100, 200, 300, 500, 600):
        pools = (parse_pool(f"dtcm:{size}"), parse_pool("sram"))
        plan = bench.deployment(pools=pools).allocated
        away = [name for name, place in plan.placements.items() if place.memory == "sram"]
        home = {name: "dtcm" for name, place in plan.placements.items() if place.memory == "dtcm"}
        for name in away:
            wanted = Decisions(memories={**home, name: "dtcm"}, order=plan.decisions.order)
            try:
                _ = bench.deployment(pools=pools, pins=wanted).allocated
            except TilewrightError as error:
                assert error.code == "TW5001"
            else:
                raise AssertionError(f"'{name}' fits into dtcm of {size} B beside everything that is there")
