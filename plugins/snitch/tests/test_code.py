"""What code a step waits for: what the simulated core executes of a kernel; more in several tiles, by operands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import snitch_run

from tilewright.api.graph import Attribute
from tilewright.api.testing import refusal, site_of
from tilewright.config.options import Options
from tilewright.plugins import load_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.side_by_side import side_by_side
from tilewright.tile.measure import step_costs
from tilewright_snitch.code import step_code_cycles
from tilewright_snitch.kernels.elements import KERNELS
from tilewright_snitch.machine import CALL_CYCLES, ONCE_CYCLES, STEP_CYCLES

PORTABLE = {kernel.name: kernel for kernel in load_for(target="snitch").kernels.values() if kernel.target == "*"}
X = np.arange(4 * 6 * 10, dtype=np.int16).reshape(4, 6, 10)
WINDOW: dict[str, Attribute] = {
    "kernel_shape": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "box"),
    [
        ("portable.pad", [X], {"mode": "constant", "pads": (1, 1, 2, 0, 1, 2), "value": 3}, {"a2": (0, 4)}),
        ("portable.max_pool", [X[None].astype(np.int8)], WINDOW, {"c": (0, 2)}),
        ("portable.reduce_max", [X], {"axes": (1,), "keepdims": 0}, {}),
    ],
)
def test_lines_of_portable_kernels(
    name: str,
    inputs: list[Any],
    attributes: dict[str, Attribute],
    box: dict[str, tuple[int, int]],
    tmp_path: Path,
    tool: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a part of a tile, as cores have it; C that is given all extents may leave out some loops, or unroll."""
    tool("riscv64-unknown-elf-gcc")
    kernel, cores = PORTABLE[name], []
    real = snitch_run.called
    monkeypatch.setattr(snitch_run, "called", lambda *args, **more: cores.append(real(*args, **more)) or cores[-1])
    operator = vocabulary()[kernel.op]
    site = site_of(operator, inputs, attributes)
    assert refusal(kernel, site) is None
    snitch_run.run_on_iss(operator, kernel, site, inputs, tmp_path, box, opaque=True)
    lines = len({address // 32 for address in cores[0].decoded})
    assert step_code_cycles(kernel, 2, 1) == pytest.approx(lines * ONCE_CYCLES, rel=0.5)


def test_in_several_tiles_there_is_code_for_every_operand() -> None:
    transpose, own = PORTABLE["portable.transpose"], KERNELS[0]
    for kernel in (transpose, own):
        one, two, three = (step_code_cycles(kernel, operands, 2) for operands in (1, 2, 3))
        assert three - two == two - one > 0
        assert step_code_cycles(kernel, 1, 1) < one
        assert step_code_cycles(kernel, 1, 1) == step_code_cycles(kernel, 3, 1)
    assert step_code_cycles(own, 2, 1) == 0  # what its kernel says


@pytest.mark.parametrize(("rows", "columns", "tiles", "lines"), [(40, 60, 1, 0), (96, 160, 2, 2 + 1 + 2 * 6)])
def test_plans_count_it(rows: int, columns: int, tiles: int, lines: int) -> None:
    """A byte moved takes one of eight cores five cycles; shares may be uneven."""
    x = np.zeros((rows, columns), np.int8)
    many = side_by_side([(site_of(vocabulary()["Transpose"], [x], {"perm": (1, 0)}), [x])])
    plan = many.deployment("snitch", Options(groups=1))
    costs = step_costs(plan.tiled, plan.registry.operators, plan.allocated.decisions)
    (cost,) = costs[plan.tiled.groups[0].steps[0]]
    assert cost.tiles == tiles
    begun = cost.compute_cycles - CALL_CYCLES * tiles - 5 * x.size / 8
    assert begun == pytest.approx(STEP_CYCLES + (8 + lines) * ONCE_CYCLES, abs=0.1 * 5 * x.size / 8)
