"""Memories that the application manages: nothing in them is placed, everything in them is marked."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.testing.cluster import CLUSTER
from tilewright.transform import HOOKS, LIFETIMES, PASSTHROUGH, transform
from tilewright.transform.passthrough import in_dependency_order, managed_by_application, platform_for

MAIN = """
#include "toy.h"
#include <stdlib.h>

int main(void)
{
    static const int8_t in[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static int8_t out[10];
    toy_ctx ctx;
    const toy_inputs inputs = {in};
    const toy_outputs outputs = {out};
    toy_pools pools;
    FILL
    if (toy_init(&ctx, &pools, NULL, NULL, NULL) != TW_OK || toy_run(&ctx, &inputs, &outputs) != TW_OK) {
        return 100;
    }
    return (uint8_t)out[0];
}
"""


def managed(toy: Any) -> Any:
    return managed_by_application(toy.platform, {"memory": "r*"})


def test_every_buffer_is_a_pool_of_its_own(toy: Any) -> None:
    program = toy.program(toy.graph(), platform=managed(toy))
    names = {pool.buffer for pool in program.pools}
    assert names == {"mfcc:0", "biased", "turned", "again", "scores", "/turn.scratch", "/turn2.scratch"}
    assert all(pool.memory == "ram" for pool in program.pools)
    assert {place.offset_bytes for name, place in program.allocated.placements.items() if name in names} == {0}


def test_every_buffer_lives_and_dies_around_its_steps(toy: Any) -> None:
    program = toy.program(toy.graph(), platform=managed(toy))
    settings = {"passthrough": {"memory": "r*"}}
    changed = transform(program, (HOOKS, LIFETIMES, PASSTHROUGH), ("passthrough",), settings)
    text = toy.artifact(changed).files["toy.c"].decode()
    marks = re.findall(r"TW_(LIVE|DEAD)\((\w+), \d+u\);|(toy_\d)_toy\w+\(\w", text.partition("tw_status toy_run")[2])
    order = ["".join(found) for found in marks]
    assert order.index("LIVEbiased") < order.index("toy_0") < order.index("toy_1") < order.index("DEADbiased")
    assert order.index("DEADbiased") < order.index("toy_2")
    assert [name for name in order if name.startswith("LIVE")].count("LIVEbiased") == 1
    assert "/* holds biased */" in text


@pytest.mark.slow
def test_the_application_places_them_as_it_likes(toy: Any, tmp_path: Path) -> None:
    graph = toy.graph()
    program = toy.program(graph, platform=managed(toy))
    folder = toy.write(toy.artifact(program), tmp_path / "toy")
    fill = "\n    ".join(f"pools.{pool.base} = malloc({pool.size_bytes});" for pool in program.pools)
    main = tmp_path / "main.c"
    main.write_text(MAIN.replace("FILL", fill))
    program_file = toy.build([folder], main, ["-g", "-fsanitize=address,undefined", "-fno-sanitize=leak"])
    expected = toy.expected(graph, np.arange(1, 11, dtype=np.int8)[None])
    found = subprocess.run([str(program_file)], check=False, env={"ASAN_OPTIONS": "detect_leaks=0"}).returncode
    assert found == int(expected.reshape(-1)[0]) % 256


def test_values_come_after_what_they_refer_to() -> None:
    refers_to = {"flat": "relu", "relu": "conv", "other": "elsewhere"}
    assert in_dependency_order(("flat", "other", "relu", "conv"), refers_to) == ("other", "conv", "relu", "flat")


def test_a_circle_is_an_error() -> None:
    with pytest.raises(TilewrightError, match=r"a.*b|b.*a") as refused:
        in_dependency_order(("a", "b"), {"a": "b", "b": "a"})
    assert refused.value.code == "TW8032"


@pytest.mark.parametrize("settings", [{}, {"memory": "l9*"}, {"memory": "ram", "colour": "red"}])
def test_what_names_no_memory_is_refused(toy: Any, settings: dict[str, str]) -> None:
    with pytest.raises(TilewrightError) as refused:
        managed_by_application(toy.platform, settings)
    assert refused.value.code == "TW1112"


def test_a_limit_of_such_a_memory_is_not_ours_to_keep(toy: Any) -> None:
    platform = managed(toy)
    small = replace(platform, memories=tuple(replace(one, size_bytes=4096) for one in platform.memories))
    assert len(toy.program(toy.graph(), platform=small).pools) == 7


def test_memories_are_the_applications_where_they_pass_through() -> None:
    assert platform_for(CLUSTER, (HOOKS, PASSTHROUGH), {"hooks": {}}) is CLUSTER
    taken = platform_for(CLUSTER, (HOOKS, PASSTHROUGH), {"passthrough": {"memory": CLUSTER.memories[0].name}})
    assert taken.memories[0].managed_by == "application"


def test_a_pass_that_nobody_has_is_refused() -> None:
    with pytest.raises(TilewrightError, match="TW1111"):
        platform_for(CLUSTER, (HOOKS,), {"hook": {}})
