"""Makes the simulator of tests/iss importable, puts it in GVSoC's place, and adds layers for
`pytest --tilewright-target snitch`.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import Sample, every_layer

Array = npt.NDArray[np.generic]
ISS = Path(__file__).parent / "iss"
sys.path.insert(0, str(ISS))


@pytest.fixture(name="simulator")
def _simulator(tool: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `gvsoc` that is the simulated cluster; its path."""
    tool("riscv64-unknown-elf-gcc")
    file = tmp_path / "install" / "bin" / "gvsoc"
    file.parent.mkdir(parents=True)
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ISS / "cluster.py"}" "$@"\n', encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("GVSOC_INSTALL_DIR", str(tmp_path / "install"))
    return file


def pytest_tilewright_layers() -> list[Sample]:
    """Even extents, which streams need, constant weights, and floats of 16 and of 64 bits."""
    rng = np.random.default_rng(1)

    def floats(*shape: int) -> Array:
        return rng.standard_normal(shape).astype(np.float32)

    halves = np.dtype(np.float16)
    product, image = (floats(24, 62), floats(62, 36)), floats(5, 22, 24)
    layers = [
        Sample(
            op=layer.op,
            kind=f"{layer.kind} halves",
            inputs=cast(layer.inputs, halves),
            attributes=layer.attributes,
            constants=layer.constants,
        )
        for layer in every_layer()
        if layer.op == "Conv"
    ]
    for dtype in (np.dtype(np.float32), halves, np.dtype(np.float64)):
        inputs = cast(product, dtype)
        layers += [
            Sample(op="MatMul", kind=f"weights {dtype}", inputs=inputs, constants=(1,)),
            Sample(op="MatMul", kind=f"computed {dtype}", inputs=inputs),
            Sample(op="Gemm", kind=f"weights {dtype}", inputs=inputs, attributes={"transB": 0}, constants=(1,)),
        ]
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"):
        for kind, axes in (("rows", (2,)), ("columns", (1,))):
            layers.append(Sample(op=op, kind=kind, inputs=(image,), attributes={"axes": axes, "keepdims": 1}))
    return layers


def cast(arrays: tuple[Array | None, ...], dtype: np.dtype[np.generic]) -> tuple[Array | None, ...]:
    return tuple(None if array is None else array.astype(dtype) for array in arrays)
