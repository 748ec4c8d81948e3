"""tw_expf against float64 over its whole range, and its coefficients against their derivation."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.code_fragments import ordered
from tilewright.operators.c_code.c_source import c_fragment, c_functions
from tilewright.testing.kernels.kernel_run import STRICT

Vector = npt.NDArray[np.float32]
TOOL = Path(__file__).parents[2] / "tools" / "exp_coefficients.py"


@pytest.fixture(scope="module")
def library(cc: Callable[..., tuple[str, ...]], tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("functions")
    loop = (
        "void run(int32_t n, const float *x, float *y);\n"
        "void run(int32_t n, const float *x, float *y) { for (int32_t i = 0; i < n; ++i) y[i] = tw_expf(x[i]); }\n"
    )
    sections = ordered((c_fragment("prelude.h"), *c_functions("tw_expf()")))
    text = "\n".join(("#include <stdint.h>", "#include <math.h>", *(section.text for section in sections), loop))
    (folder / "f.c").write_text(text, encoding="utf-8")
    subprocess.run(cc(*STRICT, "-shared", "-fPIC", "-o", "f.so", "f.c"), check=True, cwd=folder)
    return ctypes.CDLL(str(folder / "f.so"))


def exp(library: ctypes.CDLL, x: Vector) -> Vector:
    y = np.empty_like(x)
    library.run(len(x), x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p))
    return y


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("exp_coefficients", TOOL)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_within_one_ulp(library: ctypes.CDLL) -> None:
    bits = np.random.default_rng(1).integers(0, 2**32, 2_000_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    dense = np.linspace(-104, 89, 1_000_001, dtype=np.float32)
    x = np.concatenate([bits[np.abs(bits) < 200], dense])
    exact = np.exp(x.astype(np.float64))
    y = exp(library, x)
    finite = exact < float(np.finfo(np.float32).max)
    assert np.all(np.isinf(y[~finite]))
    ulp = np.spacing(np.maximum(exact[finite].astype(np.float32), np.float32(2.0**-126)))
    error = np.abs(y[finite] - exact[finite]) / ulp
    assert error.max() <= 1.0


def test_special_values(library: ctypes.CDLL) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e30, -103.9, 88.7228], np.float32)
    y = exp(library, x)
    assert np.isnan(y[0])
    assert y[1] == np.inf and y[5] == np.inf
    assert np.all(y[[2, 6]] == 0)
    assert np.all(y[[3, 4]] == 1)
    assert np.isfinite(y[8]) and y[8] > 3.4e38


def test_never_decreases(library: ctypes.CDLL) -> None:
    x = np.arange(-(2**18), 2**18, dtype=np.float32) / np.float32(2**12)
    y = exp(library, x)
    assert np.all(np.diff(y) >= 0)


def test_the_c_holds_the_derived_coefficients() -> None:
    source = c_fragment("functions/tw_expf.h").text
    missing = {name: text for name, text in tool().literals().items() if text not in source}
    assert not missing
