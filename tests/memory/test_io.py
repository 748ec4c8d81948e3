"""Inputs and outputs in the plan or with the caller, one by one: no copies where there need be none."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions

MIXED = """
#include "digits_int8.h"
#include <stdio.h>
static TW_ALIGNED(16) uint8_t ram[DIGITS_INT8_POOL_RAM_SIZE];
static float image[DIGITS_INT8_IN_IMAGE_ELEMENTS];
static float scores[DIGITS_INT8_OUT_SCORES_ELEMENTS];
int main(void)
{
    const digits_int8_pools pools = {ram};
    digits_int8_inputs in = {image};
    digits_int8_outputs out = {scores};
    digits_int8_ctx ctx;
    if (digits_int8_init(&ctx, &pools, NULL, NULL, NULL) != TW_OK) {
        return 1;
    }
    for (int i = 0; i < 64; ++i) {
        image[i] = (float)(i % 17);
    }
    if (digits_int8_run(&ctx, &in, &out) != TW_OK) {
        return 2;
    }
    for (int i = 0; i < 10; ++i) {
        printf("%.9g\\n", (double)(FROM)[i]);
    }
    for (int i = 0; i < 64; ++i) {
        if (KEPT && image[i] != (float)(i % 17)) {
            return 3;
        }
    }
    return 0;
}
"""


@pytest.mark.parametrize("image", ["pool", "user"])
@pytest.mark.parametrize("scores", ["pool", "user"])
def test_every_mixture_is_exact(bench: Any, image: str, scores: str) -> None:
    deployment = bench.deployment(io_of={"image": image, "scores": scores})
    bench.demand_exact(deployment, 2)
    theirs = {name for name, whose in (("image", image), ("scores", scores)) if whose == "user"}
    assert theirs == {"image", "scores"} - set(deployment.allocated.placements)
    said = set()
    for text in (f"-DFROM=scores -DKEPT={int(image == 'user')}",):
        program = bench.linked(deployment, MIXED, *text.split())
        said.add(subprocess.run([str(program)], check=True, capture_output=True).stdout)
    plain = subprocess.run(
        [str(bench.linked(bench.deployment(), MIXED, "-DFROM=scores", "-DKEPT=0"))], check=True, capture_output=True
    ).stdout
    assert said == {plain}


def test_nothing_of_the_callers_is_copied(bench: Any) -> None:
    """The kernels read and write the caller's tensors themselves."""

    def run_function(**options: Any) -> str:
        text = bench.deployment(**options).artifact.files["digits_int8.c"].decode()
        return str(text[text.index("tw_status digits_int8_run(") :])

    both = run_function(io_inputs="user", io_outputs="user")
    assert "tw_copy_tensor" not in both
    assert "inputs->image" in both
    assert "outputs->scores" in both
    only = run_function(io_of={"scores": "user"})
    assert only.count("tw_copy_tensor(") == 1
    assert "tw_copy_tensor(outputs" not in only


def test_tensors_inside_the_plan_are_mapped_without_copies(bench: Any) -> None:
    """NULL structs: written and read where map_inputs and map_outputs say."""
    main = (
        MIXED.replace("if (digits_int8_run(&ctx, &in, &out) != TW_OK)", "if (run(&ctx, &pools) != TW_OK)")
        .replace(
            "int main(void)",
            """static float *result;
static tw_status run(digits_int8_ctx *ctx, const digits_int8_pools *pools)
{
    float *const place = digits_int8_map_inputs(pools).image;
    for (int i = 0; i < 64; ++i) {
        place[i] = image[i];
    }
    result = digits_int8_map_outputs(pools).scores;
    return digits_int8_run(ctx, NULL, NULL);
}
int main(void)""",
        )
        .replace(
            "    digits_int8_inputs in = {image};\n    digits_int8_outputs out = {scores};\n", "    (void)scores;\n"
        )
    )

    def said(text: str, result: str) -> bytes:
        program = bench.linked(bench.deployment(), text, f"-DFROM={result}", "-DKEPT=0")
        return subprocess.run([str(program)], check=True, capture_output=True).stdout

    assert said(main, "result") == said(MIXED, "scores")


def test_what_stays_with_the_caller_takes_no_memory(bench: Any) -> None:
    used = [bench.deployment(io_of=io).worst_case_buffer_size["ram"] for io in ({}, {"image": "user"})]
    assert used[1] <= used[0]
    alive = bench.deployment(io_of={"image": "user"}).allocated
    assert all("image" not in buffer.values for buffer in alive.tiled.buffers if buffer.name in alive.placements)


def test_names_that_are_no_inputs_or_outputs(bench: Any, tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match="TW1113") as caught:
        _ = bench.deployment(io_of={"imgae": "user"}).allocated
    assert "did you mean 'image'?" in str(caught.value)


def test_a_pinned_decision_overrules_the_flag(bench: Any) -> None:
    pinned = bench.deployment(io_inputs="user", io_outputs="user", pins=Decisions(io={"scores": "pool"}))
    assert set(pinned.allocated.placements) & {"image", "scores"} == {"scores"}
