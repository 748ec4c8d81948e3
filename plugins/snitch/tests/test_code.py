"""What code a step waits for: what the simulated core executes of a kernel; more in several tiles, by operands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import snitch_run

from tilewright.api.graph import Attribute
from tilewright.api.kernel import Kernel
from tilewright.api.testing import refusal, site_of
from tilewright.config.options import Options
from tilewright.ir.tensors.requant import Requant
from tilewright.plugins import load_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.side_by_side import side_by_side
from tilewright.tile.measure import step_costs
from tilewright_snitch.code import kept_code_cycles, step_code_cycles
from tilewright_snitch.machine import CALL_CYCLES, LINE_CYCLES, ONCE_CYCLES

KERNELS = load_for(target="snitch").kernels
X = np.arange(4 * 6 * 10, dtype=np.int16).reshape(4, 6, 10)
WINDOW: dict[str, Attribute] = {
    "kernel_shape": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0
}  # fmt: skip
SAME: dict[str, Attribute] = {
    "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0
}  # fmt: skip
POINT: dict[str, Attribute] = SAME | {"kernel_shape": (1, 1), "pads": (0, 0, 0, 0)}
SPREAD: dict[str, Attribute] = {
    "kernel_shape": (3, 3), "strides": (2, 2), "dilations": (1, 1), "pads": (1, 1, 1, 1), "output_padding": (0, 0)
}  # fmt: skip
RESIZED: dict[str, Attribute] = {
    "sizes": (13, 21), "slopes": (9, 10), "offsets": (-4, 0), "divisors": (17, 28)
}  # fmt: skip


def h(*shape: int) -> Any:
    return f(*shape).astype(np.float16)


def f(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(2).uniform(0.5, 2, shape).astype(np.float32)


def mean(axis: int, terms: int) -> dict[str, Attribute]:
    scale = Requant(scale=(float(np.float32(0.9 / terms)),), zero_point=3, low=-128, high=127)
    return {"axes": (axis,), "keepdims": 0, "x_zero_point": -4, "requant": scale}


F, TURNED = f(1, 6, 9, 11), [f(1, 6, 9, 11), f(6, 4, 3, 3)]


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "box", "near"),
    [
        ("portable.pad", [X], {"mode": "constant", "pads": (1, 1, 2, 0, 1, 2), "value": 3}, {"a2": (0, 4)}, 0.5),
        ("portable.max_pool", [X[None].astype(np.int8)], WINDOW, {"c": (0, 2)}, 0.5),
        ("portable.reduce_max", [X], {"axes": (1,), "keepdims": 0}, {}, 0.5),
        ("portable.conv_transpose_f32", TURNED, SPREAD | {"group": 1}, {"h": (0, 4)}, 0.25),
        ("portable.conv_transpose_f32", TURNED, SPREAD | {"group": 2}, {"h": (0, 4)}, 0.25),
        ("portable.resize_linear_f32", [F[:, :5]], RESIZED, {"h": (0, 3)}, 0.25),
        ("portable.resize_linear_f32", [F[:, :5]], RESIZED, {"w": (0, 5)}, 0.25),
        ("portable.qreduce_mean", [X.astype(np.int8)], mean(2, 10), {"a1": (0, 2)}, 0.25),
        ("portable.qreduce_mean", [X.astype(np.int8)], mean(1, 6), {"a2": (0, 3)}, 0.25),
        ("portable.qreduce_mean", [F.astype(np.int8)], mean(2, 9) | {"axes": (2, 3)}, {"a1": (0, 2)}, 0.25),
    ],
)
def test_lines_of_portable_kernels(
    name: str,
    inputs: list[Any],
    attributes: dict[str, Attribute],
    box: dict[str, tuple[int, int]],
    near: float,
    tmp_path: Path,
    tool: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a part of a tile, as cores have it; C that is given all extents may leave out some loops, or unroll."""
    tool("riscv64-unknown-elf-gcc")
    lines = executed(KERNELS[name], inputs, attributes, box, tmp_path, monkeypatch)
    assert step_code_cycles(KERNELS[name], 2, 1) == pytest.approx(lines * ONCE_CYCLES, rel=near)


SMALL, WIDE = SAME | {"group": 16}, SAME | {"group": 24}
OWN: list[tuple[str, list[Any], dict[str, Attribute], tuple[int, ...], dict[str, tuple[int, int]]]] = [
    ("snitch.conv", [f(1, 16, 10, 10), f(32, 16, 3, 3), f(32)], SAME | {"group": 1}, (1, 2), {"h": (0, 2)}),
    ("snitch.conv", [f(1, 12, 9, 9), f(19, 12, 3, 3), f(19)], SAME | {"group": 1}, (1, 2), {"h": (0, 2)}),
    ("snitch.conv_grouped", [f(1, 16, 8, 8), f(16, 8, 3, 3), f(16)], SAME | {"group": 2}, (1, 2), {"h": (0, 2)}),
    ("snitch.conv_grouped", [f(1, 12, 7, 9), f(18, 4, 3, 3), f(18)], SAME | {"group": 3}, (1, 2), {"h": (0, 2)}),
    ("snitch.conv_columns", [f(1, 3, 9, 9), f(16, 3, 3, 3), f(16)], SAME | {"group": 1}, (1, 2), {"h": (0, 2)}),
    ("snitch.conv_columns", [f(1, 5, 9, 7), f(14, 5, 3, 3), f(14)], SAME | {"group": 1}, (1, 2), {"h": (0, 2)}),
    ("snitch.conv_depthwise", [f(1, 24, 9, 9), f(24, 1, 3, 3), f(24)], WIDE, (1, 2), {"h": (0, 2)}),
    ("snitch.conv_depthwise", [f(1, 16, 8, 8), f(16, 1, 3, 3), f(16)], SMALL, (1, 2), {"h": (0, 2)}),
    (
        "snitch.conv_depthwise_halves",
        [h(1, 24, 9, 9), h(24, 1, 3, 3), h(24)],
        SAME | {"group": 24},
        (1, 2),
        {"h": (0, 2)},
    ),
    (
        "snitch.conv_depthwise_halves",
        [h(1, 16, 8, 8), h(16, 1, 3, 3), h(16)],
        SAME | {"group": 16},
        (1, 2),
        {"h": (0, 2)},
    ),
    ("snitch.conv_grouped_halves", [h(1, 16, 8, 8), h(16, 8, 3, 3), h(16)], SAME | {"group": 2}, (1, 2), {"h": (0, 2)}),
    ("snitch.conv_grouped_halves", [h(1, 12, 7, 9), h(18, 4, 3, 3), h(18)], SAME | {"group": 3}, (1, 2), {"h": (0, 2)}),
    ("snitch.sum_of_columns", [f(32, 16)], {"axes": (0,), "keepdims": 0}, (), {}),
    ("snitch.max_of_columns", [f(4, 12, 22)], {"axes": (1,), "keepdims": 0}, (), {}),
    ("snitch.max_pool", [f(1, 20, 8, 8)], WINDOW, (), {"h": (0, 1)}),
    ("snitch.average_pool", [f(1, 16, 8, 8)], WINDOW | {"count_include_pad": 0}, (), {"h": (0, 1)}),
    ("snitch.gemm", [f(3, 40), f(40, 20), f(20)], {}, (1, 2), {}),
    ("snitch.gemm", [f(1, 64), f(64, 64), f(64)], {}, (1, 2), {"n": (0, 8)}),
    ("snitch.matmul_f32", [f(6, 20), f(20, 20)], {}, (), {}),
    ("snitch.matmul_f32", [f(8, 16), f(16, 32)], {}, (), {}),
    ("snitch.exp_f32", [f(8, 64)], {}, (), {}),
    ("snitch.exp_f32", [f(5, 11, 23)], {}, (), {"_lead1": (0, 2)}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "inputs", "attributes", "constants", "box"), OWN, ids=range(len(OWN)))
def test_lines_of_own_kernels(
    name: str,
    inputs: list[Any],
    attributes: dict[str, Attribute],
    constants: tuple[int, ...],
    box: dict[str, tuple[int, int]],
    tmp_path: Path,
    tool: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Which say themselves what a step waits for; in layers with one width of blocks, and with several."""
    tool("riscv64-unknown-elf-gcc")
    lines = executed(KERNELS[name], inputs, attributes, box, tmp_path, monkeypatch, constants)
    assert KERNELS[name].step_cycles == pytest.approx(lines * LINE_CYCLES, rel=0.35)


def executed(
    kernel: Kernel,
    inputs: list[Any],
    attributes: dict[str, Attribute],
    box: dict[str, tuple[int, int]],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    constants: tuple[int, ...] = (),
) -> int:
    """Lines of 32 bytes of which a call executes instructions."""
    cores: list[Any] = []
    real = snitch_run.called
    monkeypatch.setattr(snitch_run, "called", lambda *args, **more: cores.append(real(*args, **more)) or cores[-1])
    operator = vocabulary()[kernel.op]
    site = site_of(operator, inputs, attributes, constants)
    assert refusal(kernel, site) is None
    snitch_run.run_on_iss(operator, kernel, site, inputs, folder, box, opaque=True)
    return len({address // 32 for address in cores[0].decoded})


def test_in_several_tiles_there_is_code_for_every_operand() -> None:
    transpose, own = KERNELS["portable.transpose"], KERNELS["snitch.add"]
    for kernel in (transpose, own):
        one, two, three = (step_code_cycles(kernel, operands, 2) for operands in (1, 2, 3))
        assert three - two == two - one > 0
        assert step_code_cycles(kernel, 1, 1) < one
        assert step_code_cycles(kernel, 1, 1) == step_code_cycles(kernel, 3, 1)
    assert step_code_cycles(own, 2, 1) == 0  # what its kernel says


@pytest.mark.parametrize(("rows", "columns", "tiles", "lines"), [(40, 60, 1, 0), (160, 160, 3, 2 + 1 + 2 * 6)])
def test_plans_count_it(rows: int, columns: int, tiles: int, lines: int) -> None:
    """A byte moved takes one of eight cores five cycles; shares may be uneven."""
    x = np.zeros((rows, columns), np.int8)
    many = side_by_side([(site_of(vocabulary()["Transpose"], [x], {"perm": (1, 0)}), [x])])
    plan = many.deployment("snitch", Options(groups=1))
    costs = step_costs(plan.tiled, plan.registry.operators, plan.allocated.decisions)
    (cost,) = costs[plan.tiled.groups[0].steps[0]]
    assert cost.tiles == tiles
    begun = cost.compute_cycles - CALL_CYCLES * tiles - 5 * x.size / 8
    assert begun == pytest.approx((8 + lines) * ONCE_CYCLES, abs=0.1 * 5 * x.size / 8)


def test_a_kernel_that_ran_before_is_in_the_cache() -> None:
    """Whoever says it, the kernel or its target; what copies tiles is code of each step."""
    for kernel in (KERNELS["portable.qconv"], KERNELS["snitch.conv"]):
        code = kernel.step_cycles + step_code_cycles(kernel, 2, 1)
        assert 0.5 * code < kept_code_cycles(kernel) < code
