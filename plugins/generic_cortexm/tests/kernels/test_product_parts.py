"""Products of one row in parts of their reduction, in the C forms of both instruction sets: equal, bit for bit."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import UBSAN, byte_array, make_requant, run_tiled, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright_cortexm.kernels import dsp_products, mve_products
from tilewright_cortexm.kernels.product_parts import LOOP, share

Array = npt.NDArray[np.generic]
GEMM = {
    name: next(kernel for kernel in module.KERNELS if kernel.op == "QGemm")
    for name, module in (("dsp", dsp_products), ("mve", mve_products))
}
GRAINS = {"dsp": 4, "mve": 16}
LEADS: tuple[tuple[int, ...], ...] = ((1,), (), (1, 1))  # of A, before its values
CASES = list(product((16, 48), (1, 4, 7), LEADS, (DType.I8, DType.U8), ("random", "ties")))  # values in a part, columns


def gemm(
    columns: int, lead: tuple[int, ...], a_type: DType, kind: str, depth: int = 112
) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(columns)
    b = byte_array(rng, DType.I8, (depth, columns), False)
    if columns > 4:
        b = np.maximum(b, -127)  # then words can hold weights of two channels
    else:
        b[0, :2] = -128
    inputs: list[Array | None] = [
        byte_array(rng, a_type, (*lead, depth), False),
        b,
        rng.integers(-5000, 5000, columns).astype(np.int32),
    ]
    requant = make_requant(rng, columns, DType.I8, 255 * 128 * np.sqrt(depth), kind)
    attributes: dict[str, Attribute] = {
        "a_zero_point": 3, "b_zero_point": (0,), "requant": requant, "output_type": "i8",
    }  # fmt: skip
    return site_of(QGEMM, inputs, attributes, (1, 2)), inputs


def layer(kernel: Kernel, depth: int = 112, lead: tuple[int, ...] = (1,)) -> Layer:
    return layer_of(QGEMM, kernel, gemm(4, lead, DType.I8, "random", depth)[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", GEMM)
@pytest.mark.parametrize("case", CASES[::5], ids=str)
def test_sums_of_parts_are_the_product(
    name: str, case: tuple[int, int, tuple[int, ...], DType, str], tmp_path: Path
) -> None:
    values, *of_site = case
    site, inputs = gemm(*of_site)
    (found,) = run_tiled(QGEMM, GEMM[name], site, inputs, cuts={LOOP: values}, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, QGEMM.reference(site, inputs)[0])


@pytest.mark.parametrize("name", GEMM)
def test_parts_need_one_row_of_even_parts(name: str) -> None:
    kernel, grain = GEMM[name], GRAINS[name]
    assert kernel.multiples == {LOOP: grain}
    assert layer(kernel, 2 * grain).sums is not None
    assert layer(kernel, 2 * grain + 1).sums is None and layer(kernel, 2 * grain, (2,)).sums is None


@pytest.mark.parametrize("name", GEMM)
def test_a_part_needs_no_scratch_and_less_time(name: str) -> None:
    whole = layer_of(QGEMM, GEMM[name], gemm(4, (1,), DType.U8, "random")[0])
    part = whole.tile({**whole.whole.box, LOOP: (0, 16)})
    assert share(part) == 1 / 7 and share(whole.whole) == 1
    assert GEMM[name].scratch_bytes(whole.whole) > 0 == GEMM[name].scratch_bytes(part)
    assert GEMM[name].instructions is not None and GEMM[name].instructions(part) < GEMM[name].instructions(whole.whole)


def test_words_of_one_channel_and_of_two_are_among_them() -> None:
    layers = [layer_of(QGEMM, GEMM["dsp"], gemm(columns, (1,), DType.I8, "random")[0]) for columns in (4, 7)]
    assert [one.whole.site.analysis.paired for one in layers] == [False, True]
