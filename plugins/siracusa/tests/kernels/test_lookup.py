"""Tables of bytes equal their reference: every value, layout and tile; on the simulated core as fast as estimated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iss_run import run_on_iss

from tilewright.api.testing import refusal, site_of
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.quantised.qlookup import QLOOKUP, QLOOKUP_PORTABLE
from tilewright_siracusa.kernels import lookup

Array = npt.NDArray[np.generic]
BYTES = [np.int8, np.uint8]
compiled: Any = settings.get_profile("programs")


def drawn(rng: np.random.Generator, dtype: Any, *shape: int) -> Array:
    limits = np.iinfo(dtype)
    return np.asarray(rng.integers(limits.min, limits.max + 1, shape), dtype)


@compiled
@given(
    types=st.tuples(st.sampled_from(BYTES), st.sampled_from(BYTES)),
    shape=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_tables(check: Callable[..., None], types: tuple[Any, Any], shape: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs: list[Array | None] = [drawn(rng, types[0], *shape), drawn(rng, types[1], 256)]
    site = site_of(QLOOKUP, inputs)
    assert refusal(lookup.QLOOKUP, site) is None
    check(QLOOKUP, lookup.QLOOKUP, site, inputs, rng)


@pytest.mark.parametrize("dtype", BYTES)
@pytest.mark.parametrize("shape", [(16, 64), (5, 7)])
def test_every_value_on_the_core(
    dtype: Any, shape: tuple[int, int], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(4)
    x = drawn(rng, dtype, *shape)
    x.flat[:256] = np.arange(256, dtype=np.uint8).view(dtype)[: x.size]
    inputs: list[Array | None] = [x, drawn(rng, np.int8, 256)]
    site = site_of(QLOOKUP, inputs)
    found = run_on_iss(QLOOKUP, lookup.QLOOKUP, site, inputs, tmp_path)
    assert np.array_equal(found.outputs[0], QLOOKUP.reference(site, inputs)[0])
    assert lookup.QLOOKUP.cycles is not None
    assert lookup.QLOOKUP.cycles(layer_of(QLOOKUP, lookup.QLOOKUP, site).whole) == pytest.approx(found.cycles, rel=0.15)
    other = run_on_iss(QLOOKUP, QLOOKUP_PORTABLE, site, inputs, tmp_path)
    assert other.cycles >= 2 * found.cycles


def test_words_are_refused() -> None:
    site = site_of(QLOOKUP, [np.zeros(3, np.int8), np.zeros(256, np.int32)])
    assert "i8 or u8" in str(refusal(lookup.QLOOKUP, site))
