"""Tables, softmax and quantisation, in their C forms: equal to the references, bit for bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import UBSAN, byte_array, refusal, run_kernel, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qlookup import QLOOKUP
from tilewright.operators.quantised.qsoftmax import QSOFTMAX
from tilewright.operators.quantised.quantize import QUANTIZE
from tilewright_cortexm.kernels import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Operator, Site, list[Array | None]]
compiled = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)


@st.composite
def lookups(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = tuple(draw(st.integers(1, 9)) for _ in range(draw(st.integers(1, 4))))
    x = byte_array(rng, draw(st.sampled_from(BYTES)), shape, draw(st.booleans()))
    inputs: list[Array | None] = [x, byte_array(rng, draw(st.sampled_from(BYTES)), (256,), False)]
    return QLOOKUP, site_of(QLOOKUP, inputs, {}, (1,)), inputs


@st.composite
def softmaxes(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = tuple(draw(st.sampled_from([1, 2, 5, 16, 19])) for _ in range(draw(st.integers(1, 3))))
    x = byte_array(rng, draw(st.sampled_from(BYTES)), shape, draw(st.booleans()))
    low, high = draw(st.sampled_from([(-128, 127), (0, 255), (3, 90)]))
    attributes: dict[str, Attribute] = {
        "axis": draw(st.integers(-len(shape), len(shape) - 1)), "low": low, "high": high,
        "x_scale": float(np.float32(draw(st.sampled_from([0.003, 0.1, 0.9, 40.0])))),
        "y_scale": float(np.float32(draw(st.sampled_from([1 / 256, 1 / 255, 0.11, 2.0**-16, 1.7])))),
        "zero_point": draw(st.sampled_from([low, 0, high])), "output_type": "i8" if low < 0 else "u8",
    }  # fmt: skip
    return QSOFTMAX, site_of(QSOFTMAX, [x], attributes), [x]


@st.composite
def quantisations(draw: st.DrawFn) -> Case:
    shape = tuple(draw(st.integers(1, 9)) for _ in range(draw(st.integers(1, 3))))
    y_type, scale = draw(st.sampled_from(BYTES)), draw(st.sampled_from([0.25, 0.1, 3e-5, 1e30]))
    halves = st.integers(-600, 600).map(lambda n: n * scale / 2)
    number = st.one_of(halves, st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 3e38, -3e38]))
    drawn = draw(st.lists(number, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    inputs: list[Array | None] = [np.array(drawn, np.float32).reshape(shape), np.array(scale, np.float32)]
    if draw(st.booleans()):
        inputs.append(np.array(draw(st.integers(*y_type.limits)), y_type.numpy))
    site = site_of(QUANTIZE, inputs, {"to": y_type.value}, range(1, len(inputs)))
    return QUANTIZE, site, inputs


CASES = {"QLookup": lookups, "QSoftmax": softmaxes, "QuantizeLinear": quantisations}
OF_BYTES = [kernel for kernel in KERNELS if kernel.op in CASES and "onnx" in kernel.roundings]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", OF_BYTES, ids=lambda kernel: kernel.name)
@compiled
@given(data=st.data())
def test_equal_to_the_reference(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, data: st.DataObject) -> None:
    operator, site, inputs = data.draw(CASES[kernel.op]())
    assume(refusal(kernel, site) is None)
    shapes = {"X": site.input(0).shape, "Y": site.output.shape}
    layouts = {name: tuple(data.draw(st.permutations(range(len(shape))))) for name, shape in shapes.items()}
    folder = tmp_path_factory.mktemp("c")
    (found,) = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, operator.reference(site, inputs)[0])
