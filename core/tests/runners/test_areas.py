"""Areas: every byte that the plan takes and every tensor that the caller brings, pools first."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.ir.programs.runner import Job
from tilewright.lower.operands.addresses import address_book, members_of, ports_of
from tilewright.runners.areas import Area, areas_of


def areas(toy: Any, io: str) -> tuple[Area, ...]:
    program = toy.program(toy.graph(), io=io)
    plan, members = program.allocated, members_of(toy.graph(), "toy")
    book = address_book(plan, members)
    job = Job(artifact=toy.artifact(program), plan=plan, prefix="toy", input_sets=())
    return areas_of(job, book, *(ports_of(plan, book, members, struct) for struct in ("inputs", "outputs")))


@pytest.mark.parametrize("io", ["pool", "user"])
def test_pools_then_inputs_then_outputs(toy: Any, io: str) -> None:
    pool, given, wanted = areas(toy, io)
    assert (pool.role, pool.assign, pool.type) == ("pool", "pools.ram", "void")
    assert pool.size_bytes == toy.program(toy.graph(), io=io).allocated.pools[0].used_bytes
    assert (given.assign, given.type, given.size_bytes) == ("inputs.mfcc_0", "const int8_t", 10)
    assert (wanted.role, wanted.assign, wanted.type) == ("output", "outputs.scores", "int8_t")
    assert not any(area.lasting for area in (pool, given, wanted))
