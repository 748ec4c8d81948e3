"""Softmax of 16 bits in TensorFlow Lite Micro's arithmetic: bit for bit, in any layout, on cores; what is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.graph import Attribute, DType
from tilewright.api.kernel import Kernel
from tilewright.api.testing import UBSAN, SideBySide, byte_array, run_kernel, side_by_side, site_of, vocabulary
from tilewright.config.options import Options
from tilewright.ir.graphs.graph import Site
from tilewright.testing.operator_sites import refusal
from tilewright_cortexm.kernels.words_softmax import KERNELS
from tilewright_cortexm.qemu.runner import QemuRunner
from tilewright_cortexm.qemu.tools import OTHER_COMPILER

Case = tuple[Site, list[npt.NDArray[np.generic] | None]]
SCALES = (0.0004, 2.0**-15, 3e-6, 1.0)


def softmax(shape: tuple[int, ...], x_scale: float, axis: int = -1, **changes: Attribute) -> Case:
    """Both ends of the range among the elements, or all of them equal where a row has one."""
    x = byte_array(np.random.default_rng(sum(shape)), DType.I16, shape, saturated=True)
    x.reshape(-1)[:2] = 32767, -32768
    attributes: dict[str, Attribute] = {
        "axis": axis, "x_scale": float(np.float32(x_scale)), "y_scale": 2.0**-15, "zero_point": 0, "low": -32768,
        "high": 32767, "rounding": "tflm", "output_type": "i16", **changes,
    }  # fmt: skip
    return site_of(vocabulary()["QSoftmax"], [x], attributes), [x]


@pytest.mark.parametrize("x_scale", SCALES)
@pytest.mark.parametrize(("shape", "axis"), [((1, 12), -1), ((5, 23), 1), ((6, 4), 0), ((9, 1), -1), ((1, 3000), 1)])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.engine)
def test_rows_are_the_reference(
    kernel: Kernel, shape: tuple[int, ...], axis: int, x_scale: float, tmp_path: Path
) -> None:
    site, inputs = softmax(shape, x_scale, axis)
    assert refusal(kernel, site) is None
    (found,) = run_kernel(vocabulary()["QSoftmax"], kernel, site, inputs, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QSoftmax"].reference(site, inputs)[0])


@pytest.mark.parametrize(
    ("x_scale", "changes", "reason"),
    [(0.0004, {"rounding": "onnx"}, "tflm"), (4.0, {}, "too large"), (0.01, {"y_scale": 0.5}, "2**-15")],
)
def test_what_is_left_to_portable_c(x_scale: float, changes: dict[str, Attribute], reason: str) -> None:
    assert reason in str(refusal(KERNELS[0], softmax((2, 5), x_scale, **changes)[0]))


@cache
def on_cores() -> SideBySide:
    shapes = ((1, 12), (3, 13), (4, 6), (2, 7), (5, 1))
    near = (softmax(shape, x_scale) for shape in shapes for x_scale in SCALES)
    return side_by_side([*near, softmax((6, 4), 1e-4, 0)])


@pytest.mark.slow
@pytest.mark.parametrize(("core", "compiler"), [("m4", "gcc"), ("m33", "clang"), ("m55", "gcc"), ("m55", "clang")])
def test_cores_compute_the_same(core: str, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                tool: Callable[[str], str]) -> None:  # fmt: skip
    for name in ("arm-none-eabi-gcc", "qemu-system-arm", "clang"):
        tool(name)
    monkeypatch.setenv(OTHER_COMPILER, "" if compiler == "gcc" else compiler)
    many = on_cores()
    plan = many.deployment(f"cortex-{core}", Options())
    result = many.run(plan, QemuRunner(), tmp_path, trace=True)
    assert [verdict for verdict in many.judge(plan, result) if not verdict.exact] == []
    names = {binding.kernel.name for binding in plan.bound.bindings.values()}
    assert f"cortex-m.{'mve' if core == 'm55' else 'dsp'}.qsoftmax_words" in names
