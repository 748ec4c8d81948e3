"""Products of two activations of both instruction sets, in their C forms: equal to the reference, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import UBSAN, byte_array, make_requant, refusal, run_kernel, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qgemm import QMATMUL
from tilewright_cortexm.kernels import dsp_matmul, mve_matmul

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)
KERNELS = (dsp_matmul.KERNELS[0], mve_matmul.KERNELS[0])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    rows, columns = draw(st.integers(1, 8)), draw(st.integers(1, 11))
    depth = draw(st.sampled_from([1, 2, 5, 8, 16, 19, 33, 120, 300]))
    batches = draw(st.sampled_from([((), ()), ((2,), (2,)), ((2, 3), (3,)), ((1, 3), (2, 1)), ((2,), ())]))
    saturated = draw(st.booleans())
    a = byte_array(rng, a_type, (*batches[0], rows, depth), saturated)
    b = byte_array(rng, b_type, (*batches[1], depth, columns), saturated)
    requant = make_requant(rng, 1, y_type, 255 * 128 * np.sqrt(depth), draw(st.sampled_from(["random", "ties"])))
    if draw(st.booleans()):
        requant = replace(requant, low=min(requant.low + 20, requant.high))
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits, 3])), "requant": requant,
        "b_zero_point": (draw(st.sampled_from([0, *b_type.limits, 3])),), "output_type": y_type.value,
    }  # fmt: skip
    return site_of(QMATMUL, [a, b], attributes), [a, b]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@compiled
@given(data=st.data())
def test_equal_to_the_reference(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, data: st.DataObject) -> None:
    site, inputs = data.draw(cases())
    assume(refusal(kernel, site) is None)
    ranks = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    layouts = {name: tuple(data.draw(st.permutations(range(len(shape))))) for name, shape in ranks.items()}
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_kernel(QMATMUL, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QMATMUL.reference(site, inputs)[0])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_scratch_has_a_limit(kernel: Kernel) -> None:
    def refused(depth: int) -> str | None:
        inputs: list[Array | None] = [np.zeros((4, depth), np.int8), np.zeros((depth, 6), np.int8)]
        requant = make_requant(np.random.default_rng(0), 1, DType.I8, 1e5, "random")
        return refusal(kernel, site_of(QMATMUL, inputs, {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant}))

    assert refused(256) is None
    assert "do not fit in scratch" in str(refused(2000))
