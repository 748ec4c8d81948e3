"""Steps computed row by row, on this machine under sanitizers: every output is what the reference says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.emit import EmitOptions, emit
from tilewright.ir.program import Program
from tilewright.ir.regions import Region, Repeated
from tilewright.ir.runner import Job
from tilewright.ir.stages import Allocated
from tilewright.lower import lower
from tilewright.lower.row_programs import order_table
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.planner import Optimize, Planner, ram_bytes
from tilewright.runners.host import HostRunner
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.row_networks import ONE_MEMORY, RowNetwork, row_network
from tilewright.tile.strategies import StepTiler
from tilewright.transform import LIFETIMES, transform
from tilewright.validate.reference import run

SEEDS = range(12)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A network, its plan, and the program."""

    network: RowNetwork
    plan: Allocated
    program: Program

    @property
    def regions(self) -> list[Region]:
        """By rows."""
        return [region for region in self.plan.tiled.regions if region.rows is not None]


def planned(network: RowNetwork, optimize: Optimize) -> Allocated:
    """The plan on one memory."""
    planner = Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=StepTiler(name="auto", summary=""),
        allocator=BestFit(),
        optimize=optimize,
    )
    return Fitting(planner=planner).plan(planner.bind(network.graph, ONE_MEMORY))


def compiled(seed: int) -> Compiled:
    """A network in the least memory."""
    network = row_network(seed, vocabulary())
    plan = planned(network, "ram")
    program = transform(lower(plan, vocabulary(), "net"), (LIFETIMES,), ("lifetimes",), {})
    return Compiled(network, plan, program)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    made = compiled(seed)
    job = Job(
        artifact=emit(made.program, EmitOptions(const_format="c")),
        plan=made.plan,
        prefix="net",
        input_sets=(made.network.feeds, made.network.feeds),
        sanitize=True,
    )
    result = HostRunner().run(job, tmp_path)
    expected = run(made.network.graph, made.network.feeds, vocabulary())
    for outputs in result.outputs:
        for name, array in outputs.items():
            np.testing.assert_array_equal(array, expected[name])


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_never_take_more_than_layers(seed: int) -> None:
    network = row_network(seed, vocabulary())
    assert ram_bytes(planned(network, "ram")) <= ram_bytes(planned(network, "speed"))


def test_most_of_these_networks_have_rows() -> None:
    assert sum(bool(compiled(seed).regions) for seed in SEEDS) >= len(SEEDS) // 2


def test_all_code_is_in_the_function_of_the_last_step() -> None:
    made = next(one for one in map(compiled, SEEDS) if one.regions)
    code = {step.step: step for step in made.program.steps}
    region = made.regions[0]
    assert all(not code[name].body and not code[name].parts for name in region.steps[:-1])
    assert len(code[region.name].parts) == len(region.steps)


def test_table_has_parts_with_their_turns_and_lengths() -> None:
    assert list(order_table((Repeated((0, 1), 3), Repeated((2,))))) == [3, 2, 0, 1, 1, 1, 2]


def test_table_cuts_what_is_too_long_for_a_byte() -> None:
    assert list(order_table((Repeated((7,), 300),))) == [255, 1, 7, 45, 1, 7]
    long = list(order_table((Repeated((1,) * 300, 1),)))
    assert (long[:2], long[257:259], len(long)) == ([1, 255], [1, 45], 304)
