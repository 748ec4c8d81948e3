"""Functions of floats and softmax: inside the error model at every magnitude, at ends and beside them; on cores."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.kernel import Kernel
from tilewright.api.testing import SideBySide, layers_taken, refusal, side_by_side, site_of, vocabulary
from tilewright.config.options import Options
from tilewright.ir.graphs.graph import Site
from tilewright_cortexm.kernels.float_functions import KERNELS
from tilewright_cortexm.qemu.runner import QemuRunner
from tilewright_cortexm.qemu.tools import OTHER_COMPILER

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
UNARY = tuple(kernel for kernel in KERNELS if kernel.op != "Softmax")
SOFTMAX = tuple(kernel for kernel in KERNELS if kernel.op == "Softmax")
COMPILERS = {"gcc": "", "clang": "clang"}


def named(kernel: Kernel) -> str:
    return kernel.name


def ends() -> Array:
    """Zeros, infinities, NaN, what is below normal numbers, and both sides of where an algorithm changes."""
    sides = [2.0**-12, 9.0, 60.0, 87.0, 87.5, 88.7, 89.0, 103.0, 104.0, 105.0]
    near = [np.nextafter(np.float32(x), np.float32(to)) for x in sides for to in (0, np.inf)]
    sizes = [0.0, 1e-45, 1e-40, 2.0**-126, 1e-30, 1 / 32, 0.5, 3e38, np.inf, np.nan, *sides, *near]
    return np.array([sign * size for size in sizes for sign in (1, -1)], np.float32)


def every_size(count: int) -> Array:
    """Of both signs: as many of each exponent, from 2^-40 to 2^8, and what ends have."""
    rng = np.random.default_rng(5)
    sizes = np.exp2(rng.uniform(-40, 8, count)) * rng.choice([-1.0, 1.0], count)
    return np.concatenate([ends(), sizes.astype(np.float32)])


def unary(op: str, x: Array) -> Case:
    return site_of(vocabulary()[op], [x]), [x]


def rows(axis: int = -1) -> Case:
    """Rows of thirteen: with infinities, NaN, shares below normal numbers, equal elements, and everything far off."""
    x = np.random.default_rng(0).standard_normal((12, 13)).astype(np.float32) * 4
    x[0, 5], x[1, 3], x[2, 12], x[3] = np.nan, np.inf, -np.inf, -np.inf
    x[4] = np.linspace(0, -110, 13)
    x[5], x[6] = 0.0, 1e-40
    x[7] += 3e38
    x[8] -= 1e4
    x[9, :2] = np.inf, np.nan
    x = x if axis == -1 else np.ascontiguousarray(x.T)
    return site_of(vocabulary()["Softmax"], [x], {"axis": axis % 2}), [x]


def test_layers_that_are_taken(tmp_path: Path) -> None:
    taken = layers_taken(KERNELS, tmp_path)
    assert all(taken[kernel.name] for kernel in KERNELS)


@pytest.mark.parametrize("kernel", UNARY, ids=named)
def test_results_are_inside_the_error_model(
    kernel: Kernel, tmp_path: Path, float_errors: Callable[..., list[str]]
) -> None:
    assert float_errors(kernel, unary(kernel.op, every_size(20_000)), tmp_path) == []


@pytest.mark.parametrize("kernel", UNARY, ids=named)
def test_parts_of_rows_are_no_neighbours(
    kernel: Kernel, tmp_path: Path, float_errors: Callable[..., list[str]]
) -> None:
    site, inputs = unary(kernel.op, np.random.default_rng(1).standard_normal((3, 5, 7)).astype(np.float32))
    assert float_errors(kernel, (site, inputs), tmp_path, {"i1": 2, "i2": 3}) == []


@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("kernel", SOFTMAX, ids=named)
def test_rows(kernel: Kernel, axis: int, tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    with np.errstate(invalid="ignore"):
        assert float_errors(kernel, rows(axis), tmp_path) == []


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_other_types_are_refused(kernel: Kernel) -> None:
    assert "float32" in str(refusal(kernel, site_of(vocabulary()[kernel.op], [np.zeros((2, 3))], {"axis": 1})))


@pytest.mark.parametrize("kernel", KERNELS, ids=named)
def test_it_is_expected_to_be_faster_than_portable_c(kernel: Kernel, speedup: Callable[..., float]) -> None:
    assert speedup(kernel, kernel.op) > (4 if kernel.engine == "mve" else 1.3)


@cache
def on_cores() -> SideBySide:
    """Ends, and lengths that leave one, two and three elements to the last four."""
    cases = [unary(op, ends()[: len(ends()) - cut]) for op in ("Exp", "Sigmoid", "Tanh") for cut in range(4)]
    return side_by_side([*cases, rows(), rows(0)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("core", "compiler"), [("m4", "gcc"), ("m7", "clang"), ("m33", "gcc"), ("m55", "gcc"), ("m55", "clang")]
)
def test_ends_on_cores(core: str, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                       tool: Callable[[str], str]) -> None:  # fmt: skip
    for name in ("arm-none-eabi-gcc", "qemu-system-arm", "clang"):
        tool(name)
    monkeypatch.setenv(OTHER_COMPILER, COMPILERS[compiler])
    many = on_cores()
    plan = many.deployment(f"cortex-{core}", Options())
    with np.errstate(all="ignore"):
        result = many.run(plan, QemuRunner(), tmp_path, trace=True)
        wrong = [verdict for verdict in many.judge(plan, result) if not verdict.exact]
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in wrong] == []
    wanted = {kernel.name for kernel in KERNELS if kernel.engine == ("mve" if core == "m55" else "dsp")}
    assert {binding.kernel.name for binding in plan.bound.bindings.values()} >= wanted
